//! The experiment of AWS's "Exponential Backoff and Jitter", with the policy core's waits: clients
//! that update one row by optimistic concurrency, and wait after a lost race as the policy says.
//!
//! Every message takes |N(10, 2)| ms. A client reads the row, then writes it with the version it
//! read; a write whose version has moved on fails. After a failure the client waits, and reads
//! again. All start at once. Figures: the means of three times 100 runs of the published program.

#[path = "common/lab.rs"]
mod lab;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use lab::{agrees_with_measured, mean_and_error, policy, scenario};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use windtunnel_policy::config::Policy;
use windtunnel_policy::event::{Action, AttemptRef, Event, Left, Request, RequestRef, Tries};
use windtunnel_policy::outcome::{Answer, Failure, FailureClass, Phase, Usage};
use windtunnel_policy::target::{ClassId, TenantId, Topology};
use windtunnel_policy::{Duration, Instant, Router};

const RUNS: u64 = 100;
const PUBLISHED_RUNS: f64 = 300.0;

/// The five algorithms by the policy's names. After failure number n the published cap is
/// 5 ms · 2ⁿ, so the first is 10 ms; decorrelated waits start from 5 ms.
const ALGORITHMS: [(&str, &str); 5] = [
    ("none", "{base: 0s, max: 0s, jitter: fixed}"),
    ("exponential", "{base: 10ms, max: 2s, jitter: exponential}"),
    ("equal", "{base: 10ms, max: 2s, jitter: equal}"),
    ("full", "{base: 10ms, max: 2s, jitter: full}"),
    ("decorrelated", "{base: 5ms, max: 2s, jitter: decorrelated}"),
];

#[test]
fn ten_clients() {
    let calls = [50.0, 50.0, 42.0, 38.0, 37.0];
    assert_as_published(10, calls, [382.0, 3_436.0, 728.0, 463.0, 432.0]);
}

#[test]
fn fifty_clients() {
    let calls = [689.0, 623.0, 347.0, 332.0, 374.0];
    assert_as_published(50, calls, [1_135.0, 36_176.0, 4_263.0, 2_927.0, 2_198.0]);
}

#[test]
fn a_hundred_clients() {
    let calls = [2_421.0, 1_855.0, 812.0, 796.0, 1_001.0];
    let times = [2_029.0, 63_086.0, 6_624.0, 4_891.0, 4_540.0];
    let [calls, times] = assert_as_published(100, calls, times);
    let [none, exponential, equal, full, decorrelated] = calls;
    assert!(full < equal && equal < decorrelated && decorrelated < exponential);
    assert!(exponential < none);
    let [_, exponential, equal, full, decorrelated] = times;
    assert!(decorrelated < full && full < equal && 5.0 * equal < exponential);
}

/// Mean calls and times to completion (ms) of each algorithm, which agree with these.
fn assert_as_published(clients: usize, calls: [f64; 5], times: [f64; 5]) -> [[f64; 5]; 2] {
    let topology = topology();
    let mut means = [[0.0; 5]; 2];
    for (i, (name, backoff)) in ALGORITHMS.into_iter().enumerate() {
        let policy = with_backoff(backoff);
        let runs = (0..RUNS).map(|seed| Race::run(&policy, &topology, clients, seed));
        let (called, took): (Vec<f64>, Vec<f64>) = runs.unzip();
        let name = format!("{name}, {clients} clients");
        for (which, (what, seen, want)) in
            [("calls", called, calls[i]), ("ms", took, times[i])].into_iter().enumerate()
        {
            agrees_with_measured(
                &format!("{name}: {what}"),
                &seen,
                want,
                PUBLISHED_RUNS,
                0.25 * want,
            );
            means[which][i] = mean_and_error(&seen).0;
        }
    }
    means
}

fn with_backoff(backoff: &str) -> Policy {
    policy(&format!(
        "
name: occ
attempts: {{max: 1000, max_same_target: 1000}}
envelope: {{estimate: {{enabled: false}}}}
backoff: {backoff}
"
    ))
}

/// One target, and a class that waits for a day.
fn topology() -> Topology {
    scenario(
        "
name: row
shows: a row
expect: races
horizon: 1s
classes:
  update:
    deadline: {total: 1d}
    groups: {primary: [row]}
    traffic:
      arrivals: {poisson: 1/s}
      tokens: {input: {constant: 1}, output: {constant: 1}, max_output: 1}
targets:
  row: {card: plain-server}
",
    )
    .topology
}

/// Something that happens to a client.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// Its read reaches the row.
    Read,
    /// The version it read comes back.
    Version(u64),
    /// Its write reaches the row.
    Write(u64),
    /// It hears whether the write was taken.
    Reply(bool),
    /// Its wait is over.
    Timer(u32),
}

/// Clients, the row and the messages between them.
struct Race {
    router: Router,
    draws: ChaCha8Rng,
    version: u64,
    /// Time in µs, client, what happens.
    ahead: BinaryHeap<Reverse<(u64, usize, Step)>>,
    /// By client, which is the router's slot.
    attempts: Vec<Option<AttemptRef>>,
    requests: Vec<Option<RequestRef>>,
    actions: Vec<Action>,
    calls: u64,
    open: usize,
}

impl Race {
    /// Calls, and milliseconds until the last client has its answer.
    fn run(policy: &Policy, topology: &Topology, clients: usize, seed: u64) -> (f64, f64) {
        let mut race = Race {
            router: Router::new(policy.clone(), topology.clone()).expect("a valid policy"),
            draws: ChaCha8Rng::seed_from_u64(seed),
            version: 0,
            ahead: BinaryHeap::new(),
            attempts: vec![None; clients],
            requests: vec![None; clients],
            actions: Vec::new(),
            calls: 0,
            open: clients,
        };
        for id in 0..clients as u64 {
            let salt = race.draws.next_u64();
            race.tell(
                0,
                Event::Arrived(Request {
                    id,
                    salt,
                    class: ClassId(0),
                    input_tokens: 1,
                    max_output_tokens: 1,
                    streamed: false,
                    session: id,
                    tenant: TenantId::FIRST,
                    action: id,
                    tries: Tries::FIRST,
                    left: Left::ALL,
                }),
            );
        }
        loop {
            let Reverse((now, client, step)) = race.ahead.pop().expect("clients are open");
            race.happens(now, client, step);
            if race.open == 0 {
                return (race.calls as f64, now as f64 / 1e3);
            }
        }
    }

    fn happens(&mut self, now: u64, client: usize, step: Step) {
        match step {
            Step::Read => self.message(now, client, Step::Version(self.version)),
            Step::Version(version) => {
                self.calls += 1;
                self.message(now, client, Step::Write(version));
            }
            Step::Write(version) => {
                let taken = version == self.version;
                self.version += u64::from(taken);
                self.message(now, client, Step::Reply(taken));
            }
            Step::Reply(taken) => {
                let attempt = self.attempts[client].take().expect("it waits for the reply");
                let usage = Usage::default();
                self.open -= usize::from(taken);
                self.tell(
                    now,
                    match taken {
                        true => Event::Ended { attempt, usage, answer: Answer::Valid },
                        false => Event::Failed {
                            attempt,
                            failure: Failure {
                                class: FailureClass::ServerError,
                                status: 500,
                                phase: Phase::BeforeHeaders,
                                retry_after: None,
                                usage,
                            },
                        },
                    },
                );
            }
            Step::Timer(epoch) => {
                if let Some(request) = self.requests[client] {
                    self.tell(now, Event::Timer { request, epoch });
                }
            }
        }
    }

    /// Sends a message that takes |N(10, 2)| ms.
    fn message(&mut self, now: u64, client: usize, arrives: Step) {
        let mut uniform = || ((self.draws.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        let radius = libm::sqrt(-2.0 * libm::log(uniform()));
        let normal = radius * libm::cos(2.0 * std::f64::consts::PI * uniform());
        let micros = libm::fabs(10_000.0 + 2_000.0 * normal) as u64;
        self.ahead.push(Reverse((now + micros, client, arrives)));
    }

    fn tell(&mut self, now: u64, event: Event) {
        let at = Instant::ZERO + Duration::from_micros(now);
        let mut actions = std::mem::take(&mut self.actions);
        self.router.handle(at, event, &mut actions);
        for action in actions.drain(..) {
            match action {
                Action::Send(send) => {
                    let client = send.attempt.request.slot as usize;
                    self.attempts[client] = Some(send.attempt);
                    self.requests[client] = Some(send.attempt.request);
                    self.message(now, client, Step::Read);
                }
                Action::SetTimer { request, at, epoch } => {
                    let at = (at - Instant::ZERO).as_micros();
                    let client = request.slot as usize;
                    self.ahead.push(Reverse((at, client, Step::Timer(epoch))));
                }
                Action::Finish { request, .. } => self.requests[request.slot as usize] = None,
                Action::Cancel { .. } => panic!("no client gives up"),
                Action::Release(_)
                | Action::Reconcile(_)
                | Action::LookUp { .. }
                | Action::Decided { .. }
                | Action::Breaker { .. } => {}
            }
        }
        self.actions = actions;
    }
}
