//! How targets are chosen and taken out, against a Markov chain and Poisson's distribution.

#[path = "common/lab.rs"]
mod lab;

use lab::{FAST, RATE, agrees, in_worlds, policy, seconds, service, share, target};
use statrs::distribution::{DiscreteCDF, Poisson};
use windtunnel::world::WorldOptions;
use windtunnel_policy::config::{Policy, Replicas, Sharing};

/// Share of arrivals that meet the broken target as the one with the fewest in flight, by the
/// stationary distribution of the Markov chain: the broken target holds an attempt for `fails_after`
/// seconds on average, each of `healthy` for `takes`. Ties go to the first of `order`, in which 0 is
/// the broken one.
fn drawn_to_the_broken(rate: f64, fails_after: f64, takes: f64, order: &[usize]) -> f64 {
    /// More than this many are never in flight at one target but for once in a million.
    const MOST: usize = 6;
    let of = |state: usize, target: usize| state / (MOST + 1).pow(target as u32) % (MOST + 1);
    let step = |target: usize| (MOST + 1).pow(target as u32);
    let states = (MOST + 1).pow(order.len() as u32);
    let chosen = |state: usize| *order.iter().min_by_key(|t| of(state, **t)).expect("a target");
    let ends = |target: usize| 1.0 / if target == 0 { fails_after } else { takes };
    // Uniformised at a rate no state exceeds.
    let most: f64 = rate + order.iter().map(|t| MOST as f64 * ends(*t)).sum::<f64>();
    let mut now = vec![0.0; states];
    now[0] = 1.0;
    // Many relaxation times of the slowest: `takes` seconds.
    for _ in 0..(20.0 * takes * most) as usize {
        let mut next = vec![0.0; states];
        for (state, p) in now.iter().enumerate() {
            let mut stays = *p;
            let mut goes = |to: usize, rate: f64| {
                next[to] += p * rate / most;
                stays -= p * rate / most;
            };
            if of(state, chosen(state)) < MOST {
                goes(state + step(chosen(state)), rate);
            }
            for target in order {
                let busy = of(state, *target);
                if busy > 0 {
                    goes(state - step(*target), busy as f64 * ends(*target));
                }
            }
            next[state] += stays;
        }
        now = next;
    }
    now.iter().enumerate().filter(|(state, _)| chosen(*state) == 0).map(|(_, p)| p).sum()
}

#[test]
fn least_in_flight_is_drawn_to_who_fails_fastest() {
    let least = policy(
        "
name: least
attempts: {max: 1, max_same_target: 1}
envelope: {estimate: {enabled: false}}
selection: {strategy: least_in_flight}
",
    );
    let slow = |name| target(name, "exponential: {mean: 5s}", FAST, "0%");
    let broken = target("broken", FAST, "exponential: {mean: 50ms}", "100%");
    for (order, indices) in [("[broken, a, b]", &[0, 1, 2][..]), ("[a, broken]", &[1, 0][..])] {
        let mut targets = broken.clone() + &slow("a");
        if indices.len() == 3 {
            targets += &slow("b");
        }
        let scenario = service(RATE, "30m", &format!("{{primary: {order}}}"), &targets, "  []");
        let position = scenario.targets.iter().position(|target| target.name == "broken");
        let position = position.expect("it is there");
        let drawn = in_worlds(&scenario, &least, 10, WorldOptions::default(), |run| {
            share(run.totals.targets[position].attempts, run.totals.overall().requests)
        });
        let want = drawn_to_the_broken(RATE, 0.05, 5.0, indices);
        assert!((want - 0.94).abs() < 0.015, "about 94 %, not {want}");
        agrees(order, &drawn, want, 0.01);
    }
}

#[test]
fn a_breaker_that_wants_twenty_calls_in_ten_seconds() {
    // One replica sees 55 calls in ten seconds; one of ten replicas sees 5.5.
    let reaches_twenty = |rate: f64| Poisson::new(10.0 * rate).expect("a rate").sf(19);
    assert!(reaches_twenty(RATE) > 0.999_999);
    assert!(reaches_twenty(RATE / 10.0) < 1e-5);
    let breaker = policy(
        "
name: breaker
attempts: {max: 1, max_same_target: 1}
envelope: {estimate: {enabled: false}}
breakers: [{trip: [{rate_over_time: {failures: 50%, window: 10s, min_calls: 20}}]}]
",
    );
    let targets = target("primary", FAST, FAST, "100%");
    let scenario = service(RATE, "10m", "{primary: [primary]}", &targets, "  []");
    let out = |replicas: u32| {
        let sharing = Sharing::Private;
        let breaker = Policy { replicas: Replicas { count: replicas, sharing }, ..breaker.clone() };
        in_worlds(&scenario, &breaker, 3, WorldOptions::default(), |run| {
            seconds(run.totals.targets[0].open)
        })
    };
    // One replica's breaker is open nearly all of the time, and those of ten together hardly ever:
    // at 0.55 a second, twenty calls in some window of ten seconds within ten minutes are as rare
    // as above times the sixty windows that do not overlap, and a few more.
    assert!(out(1).iter().all(|&open| open > 300.0), "{:?}", out(1));
    assert_eq!(out(10), [0.0; 3]);
}
