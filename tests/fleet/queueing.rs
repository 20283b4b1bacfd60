//! Steady states against Erlang's formulas, in units of a mean service of one second.

use windtunnel::dist::Shape;
use windtunnel::draw::{NameHash, Purpose};
use windtunnel::fleet::{Fleet, NoticeKind};
use windtunnel_policy::Duration;
use windtunnel_policy::outcome::FailureClass;
use windtunnel_policy::target::TargetId;

use crate::driver::{FAILURE, SECOND, assert_mean, drive, exponential, poisson, scenario, target};
use crate::theory;

const SERVICE: Shape = Shape::Exponential { mean: SECOND as f64 };

/// Mean wait, share that waits, and share that waits longer than a service, per world.
fn waits(servers: u32, load: f64, requests: usize) -> [Vec<f64>; 3] {
    let mut model = target("t", servers, &SERVICE);
    model.capacity.queue = u32::MAX;
    let (service, hash) = (model.latency.first_token.clone(), model.hash);
    let mut fleet = Fleet::new(&scenario(vec![model], Vec::new()));
    let mut all = [Vec::new(), Vec::new(), Vec::new()];
    for seed in 0..20 {
        let world = poisson(seed, load, requests);
        let seen = drive(&mut fleet, &world, |_| 0);
        fleet.assert_idle();
        // The first fifth starts from an empty system.
        let measured = requests / 5..;
        let wait = |i: usize| {
            let draw = world.requests[i].key.draw(Purpose::FirstToken, hash, 0);
            seen[i].took() - service.sample(draw)
        };
        let waits: Vec<u64> = (measured.start..requests).map(wait).collect();
        let share =
            |beyond: u64| waits.iter().filter(|&&w| w > beyond).count() as f64 / waits.len() as f64;
        all[0].push(waits.iter().sum::<u64>() as f64 / waits.len() as f64 / SECOND as f64);
        all[1].push(share(0));
        all[2].push(share(SECOND));
    }
    all
}

#[test]
fn waits_are_erlangs() {
    for (servers, load, requests) in [(1, 0.8, 6_000), (2, 1.5, 6_000), (10, 8.0, 6_000)] {
        let [mean, waited, long] = waits(servers, load, requests);
        let name = format!("M/M/{servers}");
        assert_mean(&format!("{name} mean wait"), &mean, theory::mmc_wait(servers, load));
        assert_mean(&format!("{name} P(wait)"), &waited, theory::erlang_c(servers, load));
        let beyond = theory::mmc_wait_beyond(servers, load, 1.0);
        assert_mean(&format!("{name} P(W > 1)"), &long, beyond);
    }
}

/// Share of attempts that a target without a queue sheds, per world.
fn blocking(service: &Shape, rate: f64, giving_up: Option<f64>) -> Vec<f64> {
    let slots = 10;
    let mut fleet = Fleet::new(&scenario(vec![target("t", slots, service)], Vec::new()));
    let shed = |seed| {
        let mut world = poisson(seed, rate, 6_000);
        for request in &mut world.requests {
            if let Some(mean) = giving_up {
                let draw = request.key.draw(Purpose::Patience, NameHash::NONE, 0);
                let micros = exponential(draw) * mean * SECOND as f64;
                request.patience = Duration::from_micros(micros as u64);
            }
        }
        let seen = drive(&mut fleet, &world, |_| 0);
        fleet.assert_idle();
        assert_eq!(fleet.free_slots(TargetId(0)), slots, "as many slots as before");
        // With patience shorter than the refusal takes, an attempt was refused or given up
        // before anyone knew: that is one in a thousand, and counts as neither.
        let known = seen[1_000..].iter().filter(|s| s.last.is_some() || s.took_work());
        let (mut all, mut refused) = (0, 0);
        for s in known {
            all += 1;
            if let Some((_, NoticeKind::Failed { failure, .. })) = s.last {
                assert_eq!((failure.class, failure.status), (FailureClass::Overloaded, 529));
                assert_eq!(s.took(), FAILURE, "refusals are fast");
                refused += 1;
            }
        }
        f64::from(refused) / f64::from(all)
    };
    (0..20).map(shed).collect()
}

impl crate::driver::Seen {
    /// Given up while it was worked on.
    fn took_work(&self) -> bool {
        self.aborted.is_some_and(|(_, bill)| bill.usage.input > 0)
    }
}

#[test]
fn blocking_is_erlang_b_whatever_the_service() {
    let want = theory::erlang_b(10, 8.0);
    // A lognormal of mean one second: its median is that times exp(−σ²/2).
    let sigma = 1.0;
    let median = SECOND as f64 * libm::exp(-sigma * sigma / 2.0);
    for service in
        [SERVICE, Shape::Lognormal { shift: 0.0, median, sigma }, Shape::Constant(SECOND as f64)]
    {
        assert_mean(&format!("{service:?}"), &blocking(&service, 8.0, None), want);
    }
}

#[test]
fn those_who_give_up_free_their_slots() {
    // Service ends or the caller gives up, whichever is first: rate μ + θ = 2.
    let blocked = blocking(&SERVICE, 16.0, Some(1.0));
    assert_mean("with giving up", &blocked, theory::erlang_b(10, 16.0 / 2.0));
}
