//! Slots, the waiting line, and what stays the same when a target is added.

use windtunnel::dist::Shape;
use windtunnel::fleet::{Fleet, NoticeKind};
use windtunnel_policy::outcome::FailureClass;
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Duration, Instant, Share};

use crate::driver::{
    FAILURE, Run, SECOND, drive, edge, poisson, scenario, secs, share, target, world,
};

#[test]
fn the_line_is_first_come_first_served_and_bounded() {
    let mut model = target("t", 1, &Shape::Constant(1e6));
    model.capacity.queue = 2;
    let mut fleet = Fleet::new(&scenario(vec![model], Vec::new()));
    let world = world(1, [0.0, 0.1, 0.2, 0.3, 1.05].map(secs));
    let ends: Vec<_> = drive(&mut fleet, &world, |_| 0)
        .iter()
        .map(|s| (s.answered(), s.last.expect("ended").0))
        .collect();
    let shed = secs(0.3) + Duration::from_micros(FAILURE);
    let want = [1.0, 2.0, 3.0].map(|s| (true, secs(s)));
    assert_eq!(ends, [want[0], want[1], want[2], (false, shed), (true, secs(4.0))]);
}

#[test]
fn lost_capacity_lets_work_finish_and_starts_none_until_it_is_below() {
    let mut model = target("t", 4, &Shape::Constant(2e6));
    model.capacity.queue = 10;
    let mut fleet = Fleet::new(&scenario(vec![model], Vec::new()));
    let mut world = world(1, [0.0, 0.5, 1.0, 1.5, 1.6, 1.7].map(secs));
    edge(&mut world, secs(1.8), |c| c.capacity = share(0.5));
    edge(&mut world, secs(3.2), |_| {});
    let mut run = Run::new(&mut fleet, &world);
    run.until(secs(2.6), |_| 0);
    assert_eq!((run.fleet.in_work(TargetId(0)), run.fleet.queued(TargetId(0))), (2, 2));
    assert_eq!(run.fleet.free_slots(TargetId(0)), 0);
    run.until(Instant::FAR_FUTURE, |_| 0);
    let ends: Vec<_> = run.seen.iter().map(|s| s.last.expect("ended").0).collect();
    // The fifth starts as the third ends, the sixth when the capacity is back.
    assert_eq!(ends, [2.0, 2.5, 3.0, 3.5, 5.0, 5.2].map(secs));
}

#[test]
fn a_late_attempt_is_dropped_when_its_turn_comes() {
    let mut model = target("t", 1, &Shape::Constant(1e6));
    model.capacity.queue = 10;
    model.capacity.drops_late = true;
    let mut fleet = Fleet::new(&scenario(vec![model], Vec::new()));
    let mut world = world(1, [0.0, 0.1, 0.2].map(secs));
    world.requests[1].patience = Duration::from_micros(1_500_000);
    let seen = drive(&mut fleet, &world, |_| 0);
    let Some((at, NoticeKind::Failed { failure, .. })) = seen[1].last else { panic!("{seen:?}") };
    assert_eq!((failure.class, at), (FailureClass::Overloaded, secs(1.001)));
    assert_eq!(seen[2].last.expect("ended").0, secs(2.0), "the next takes its turn");
}

#[test]
fn nothing_moves_when_a_target_is_added() {
    let named = |name| {
        let mut model = target(name, 5, &Shape::Exponential { mean: SECOND as f64 });
        model.failures.broken_streams = Share::ratio(1, 10);
        model.quality.task_failures = Share::ratio(1, 10);
        model
    };
    let world = poisson(5, 8.0, 2_000);
    let mut two = Fleet::new(&scenario(vec![named("b"), named("d")], Vec::new()));
    let four = ["a", "b", "c", "d"].map(named).to_vec();
    let mut four = Fleet::new(&scenario(four, Vec::new()));
    let in_two = drive(&mut two, &world, |i| (i % 2) as u16);
    let in_four = drive(&mut four, &world, |i| [1, 3][i % 2]);
    assert_eq!(in_two, in_four);
    // And a fleet that is used again is as good as new.
    assert_eq!(drive(&mut four, &world, |i| [1, 3][i % 2]), in_four);
}
