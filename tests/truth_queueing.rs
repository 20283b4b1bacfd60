//! Queues through the whole simulator, against Erlang's formulas: waits, what is turned away, and
//! that the latter does not depend on how service times are distributed.
//!
//! A mean service takes one second, and headers come as soon as work begins: the wait is the
//! ledger's time from send to headers.

#[path = "common/lab.rs"]
mod lab;
#[path = "common/theory.rs"]
mod theory;

use lab::{Run, agrees, in_worlds, scenario, seconds, single};
use windtunnel::record::AttemptRow;
use windtunnel::world::WorldOptions;

const EXPONENTIAL: &str = "exponential: {mean: 1s}";
const NO_LIMIT: u32 = 10_000_000;

/// What happens to the attempts that come to `slots` servers with `queue` places to wait, at
/// `load` mean services per second, by world.
struct Server<'a> {
    slots: u32,
    queue: u32,
    load: f64,
    service: &'a str,
    warm_up: u32,
    horizon: u32,
    worlds: u32,
}

impl Server<'_> {
    fn runs<T>(&self, look: impl Fn(&Run) -> T) -> Vec<T> {
        let Server { slots, queue, load, service, warm_up, horizon, worlds } = self;
        let scenario = scenario(&format!(
            "
name: queue
shows: a queue
expect: what Erlang says
warm_up: {warm_up}s
horizon: {horizon}s
classes:
  query:
    deadline: {{total: 300s}}
    groups: {{primary: [server]}}
    traffic:
      arrivals: {{poisson: {load}/s}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
targets:
  server:
    card: plain-server
    capacity: {{source: textbook, slots: {slots}, queue: {queue}}}
    latency:
      source: textbook
      headers: {{constant: 0us}}
      first_token: {{{service}}}
      prompt_tokens: 1
      per_prompt_token: 0us
      per_output_token: {{constant: 0us}}
      failure: {{constant: 0us}}
"
        ));
        in_worlds(&scenario, &single(), *worlds, WorldOptions::default(), look)
    }
}

/// Waits of the measured attempts that were worked on, in seconds.
fn waits(run: &Run) -> Vec<f64> {
    let worked_on = |row: &&AttemptRow| row.arrived >= run.world.measured_from;
    let rows = run.rows.attempts.iter().filter(worked_on);
    rows.filter_map(|row| Some(seconds(row.headers? - row.sent))).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn share_beyond(values: &[f64], limit: f64) -> f64 {
    lab::share(values.iter().filter(|value| **value > limit).count() as u64, values.len() as u64)
}

/// Mean wait, share that waits at all and share that waits longer than `long` services, each with
/// the difference that must show.
fn assert_waits(server: &Server<'_>, long: f64, notices: [f64; 3]) {
    let seen = server.runs(|run| {
        let waits = waits(run);
        [mean(&waits), share_beyond(&waits, 0.0), share_beyond(&waits, long)]
    });
    let of = |which: usize| seen.iter().map(|values| values[which]).collect::<Vec<f64>>();
    let (c, a) = (server.slots, server.load);
    agrees(&format!("M/M/{c} mean wait"), &of(0), theory::mmc_wait(c, a), notices[0]);
    agrees(&format!("M/M/{c} P(wait)"), &of(1), theory::erlang_c(c, a), notices[1]);
    let beyond = theory::mmc_wait_beyond(c, a, long);
    agrees(&format!("M/M/{c} P(wait > {long})"), &of(2), beyond, notices[2]);
}

#[test]
fn one_server_at_eighty_per_cent() {
    let server = Server {
        slots: 1,
        queue: NO_LIMIT,
        load: 0.8,
        service: EXPONENTIAL,
        warm_up: 500,
        horizon: 5_500,
        worlds: 30,
    };
    assert_waits(&server, 1.0, [0.8, 0.03, 0.05]);
}

#[test]
fn two_servers() {
    let server = Server {
        slots: 2,
        queue: NO_LIMIT,
        load: 1.5,
        service: EXPONENTIAL,
        warm_up: 300,
        horizon: 3_300,
        worlds: 20,
    };
    assert_waits(&server, 1.0, [0.25, 0.03, 0.04]);
}

#[test]
fn ten_servers() {
    let server = Server {
        slots: 10,
        queue: NO_LIMIT,
        load: 8.0,
        service: EXPONENTIAL,
        warm_up: 100,
        horizon: 1_100,
        worlds: 30,
    };
    assert_waits(&server, 1.0, [0.05, 0.05, 0.03]);
}

#[test]
fn sixty_four_servers() {
    let server = Server {
        slots: 64,
        queue: NO_LIMIT,
        load: 50.0,
        service: EXPONENTIAL,
        warm_up: 30,
        horizon: 330,
        worlds: 20,
    };
    // A wait of a whole service happens to one attempt in thirty million here.
    assert_waits(&server, 0.05, [0.0025, 0.03, 0.02]);
}

/// Share of the measured requests that were turned away.
fn blocked(run: &Run) -> f64 {
    1.0 - run.success()
}

#[test]
fn a_bounded_queue() {
    // Load, how long, and the differences in blocking and in mean wait that must show.
    for (load, horizon, notices) in [
        (60.0, 530, [0.0015, 0.1]),
        (64.0, 180, [0.012, 0.2]),
        (80.0, 110, [0.03, 0.05]),
        (128.0, 80, [0.03, 0.03]),
    ] {
        let server = Server {
            slots: 64,
            queue: 64,
            load,
            service: EXPONENTIAL,
            warm_up: 30,
            horizon,
            worlds: 20,
        };
        let seen = server.runs(|run| (blocked(run), mean(&waits(run))));
        let (blocked, wait): (Vec<f64>, Vec<f64>) = seen.into_iter().unzip();
        let want = theory::mmck(64, 128, load);
        agrees(&format!("M/M/64/128 blocking at {load}"), &blocked, want.blocked, notices[0]);
        agrees(&format!("M/M/64/128 wait at {load}"), &wait, want.wait, notices[1]);
    }
}

#[test]
fn blocking_does_not_depend_on_the_service_distribution() {
    // A lognormal of mean one second and sigma 1 has the median exp(−1/2).
    let services = [EXPONENTIAL, "lognormal: {median: 606531us, sigma: 1}", "constant: 1s"];
    // Servers, load, how long, and the difference that must show.
    for (slots, load, horizon, notice) in
        [(10, 8.0, 550, 0.02), (64, 50.0, 250, 0.006), (64, 64.0, 150, 0.02)]
    {
        for service in services {
            let server =
                Server { slots, queue: 0, load, service, warm_up: 50, horizon, worlds: 10 };
            let blocked = server.runs(blocked);
            let what = format!("M/G/{slots}/{slots} at {load}, {service}");
            agrees(&what, &blocked, theory::erlang_b(slots, load), notice);
        }
    }
}
