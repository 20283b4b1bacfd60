use alloc::vec;

use proptest::prelude::*;

use super::*;
use crate::config::{AfterOpen, Growth, KeyPart, Probes, Ramp, Recooling, Trip};
use crate::target::testing::{target, topology};
use crate::target::{Capabilities, RouteClass, Target};
use crate::{Duration, Share};

const T: TargetId = TargetId(0);
const NO_JITTER: u64 = 0;

fn secs(s: u64) -> Duration {
    Duration::from_secs(s)
}

fn at(s: u64) -> Instant {
    Instant::ZERO + secs(s)
}

/// Two failures in a row open it for ten seconds; one probe at a time, two close it.
fn rule() -> Breaker {
    Breaker {
        key: vec![KeyPart::Model],
        trip: vec![Trip::Consecutive(2)],
        open_for: secs(10),
        probes: Probes { concurrent: 1, successes: 2 },
        ..Breaker::default()
    }
}

/// One target, and the breakers of these rules; changes are kept as they are reported.
struct Rig {
    breakers: Breakers,
    changes: Vec<(BreakerState, Instant)>,
}

/// An attempt goes to a target in a lane.
fn send(
    breakers: &mut Breakers,
    (target, lane): (TargetId, Lane),
    recovery: bool,
    now: u64,
    out: &mut impl FnMut(Change),
) -> Permit {
    let probes = breakers.on_sent(target, lane, at(now), out);
    breakers.permit(target, lane, recovery, probes)
}

impl Rig {
    fn new(rules: &[Breaker]) -> Rig {
        let topology = topology(vec![target("a", "p", "m", "r")], &[&[0]]);
        Rig { breakers: Breakers::new(rules, &topology), changes: Vec::new() }
    }

    fn admits(&self, now: u64) -> Admission {
        self.breakers.admits(T, Lane::FIRST, at(now), NO_JITTER)
    }

    fn send(&mut self, now: u64) -> Permit {
        let changes = &mut self.changes;
        let out = &mut |c: Change| changes.push((c.state, c.until));
        send(&mut self.breakers, (T, Lane::FIRST), false, now, out)
    }

    fn succeed(&mut self, permit: Permit, now: u64) {
        let changes = &mut self.changes;
        let out = &mut |c: Change| changes.push((c.state, c.until));
        self.breakers.on_success(&permit, secs(0), at(now), || NO_JITTER, out);
        self.breakers.on_end(&permit, at(now));
    }

    fn fail(&mut self, permit: Permit, now: u64) {
        let changes = &mut self.changes;
        let out = &mut |c: Change| changes.push((c.state, c.until));
        self.breakers.on_failure(&permit, at(now), || NO_JITTER, out);
        self.breakers.on_end(&permit, at(now));
    }

    /// Sends `n` attempts that fail at once.
    fn fail_now(&mut self, n: usize, now: u64) {
        for _ in 0..n {
            let permit = self.send(now);
            self.fail(permit, now);
        }
    }
}

#[test]
fn opens_probes_and_closes() {
    let mut rig = Rig::new(&[rule()]);
    rig.fail_now(2, 1);
    assert_eq!(rig.admits(1), Admission::No { until: at(11) });
    assert_eq!(rig.admits(10), Admission::No { until: at(11) });
    assert_eq!(rig.admits(11), Admission::Probe);
    let first = rig.send(12);
    assert_eq!(rig.admits(12), Admission::No { until: Instant::FAR_FUTURE });
    rig.succeed(first, 13);
    assert_eq!(rig.admits(13), Admission::Probe);
    let second = rig.send(13);
    rig.succeed(second, 14);
    assert_eq!(rig.admits(14), Admission::Yes);
    let expected = [
        (BreakerState::Open, at(11)),
        (BreakerState::HalfOpen, at(12)),
        (BreakerState::Closed, at(14)),
    ];
    assert_eq!(rig.changes, expected);
}

#[test]
fn a_failed_probe_reopens_and_openings_in_a_row_grow() {
    let growth = Growth { percent: 200, max: secs(35) };
    let mut rig = Rig::new(&[Breaker { growth, ..rule() }]);
    rig.fail_now(2, 0);
    for (now, until) in [(10, 30), (30, 65), (65, 100)] {
        rig.fail_now(1, now);
        assert_eq!(rig.admits(now), Admission::No { until: at(until) });
    }
    // Closed at 100 after 35 s; tripped again before it was closed as long, then long after.
    for now in [100, 100] {
        let probe = rig.send(now);
        rig.succeed(probe, now);
    }
    rig.fail_now(2, 134);
    assert_eq!(rig.admits(134), Admission::No { until: at(169) });
    for now in [169, 169] {
        let probe = rig.send(now);
        rig.succeed(probe, now);
    }
    rig.fail_now(2, 204);
    assert_eq!(rig.admits(204), Admission::No { until: at(214) });
}

#[test]
fn open_jitter_comes_on_top() {
    let open_jitter = Share::ratio(1, 2);
    let mut rig = Rig::new(&[Breaker { trip: vec![Trip::Consecutive(1)], open_jitter, ..rule() }]);
    let permit = rig.send(0);
    rig.breakers.on_failure(&permit, at(0), || u64::MAX, &mut |_| {});
    assert_eq!(rig.admits(0), Admission::No { until: at(15) });
}

#[test]
fn a_timed_cooldown_closes_without_a_probe() {
    let mut rig = Rig::new(&[Breaker { after_open: AfterOpen::Close, ..rule() }]);
    rig.fail_now(2, 0);
    assert_eq!(rig.admits(9), Admission::No { until: at(10) });
    assert_eq!(rig.admits(10), Admission::Yes);
    rig.fail_now(1, 10);
    assert_eq!(rig.admits(10), Admission::Yes);
    rig.fail_now(1, 10);
    assert_eq!(rig.admits(10), Admission::No { until: at(20) });
}

#[test]
fn cooldowns_in_a_row_grow_as_well() {
    let growth = Growth { percent: 150, max: secs(100) };
    let mut rig = Rig::new(&[Breaker { after_open: AfterOpen::Close, growth, ..rule() }]);
    rig.fail_now(2, 0);
    // Closed at 10, tripped after five seconds; closed at 30, tripped after fifteen.
    rig.fail_now(2, 15);
    assert_eq!(rig.admits(15), Admission::No { until: at(30) });
    rig.fail_now(2, 45);
    assert_eq!(rig.admits(45), Admission::No { until: at(55) });
}

#[test]
fn late_outcomes_change_nothing() {
    let mut rig = Rig::new(&[rule()]);
    let early: [Permit; 4] = core::array::from_fn(|_| rig.send(0));
    rig.fail_now(2, 1);
    // While open: the first end stays, and a success closes nothing.
    rig.succeed(early[0], 2);
    rig.fail(early[1], 3);
    assert_eq!(rig.admits(3), Admission::No { until: at(11) });
    // Half-open: neither a success nor a failure of an attempt that is no probe counts.
    let probe = rig.send(11);
    rig.fail(early[2], 12);
    rig.succeed(early[3], 12);
    assert_eq!(rig.admits(12), Admission::No { until: Instant::FAR_FUTURE });
    rig.succeed(probe, 12);
    assert_eq!(rig.admits(12), Admission::Probe);
}

#[test]
fn failures_from_before_an_opening_do_not_reopen_what_has_closed() {
    let mut rig = Rig::new(&[rule()]);
    let early = [rig.send(0), rig.send(0)];
    rig.fail_now(2, 1);
    for now in [11, 12] {
        let probe = rig.send(now);
        rig.succeed(probe, now);
    }
    for permit in early {
        rig.fail(permit, 13);
    }
    assert_eq!(rig.admits(13), Admission::Yes);
}

#[test]
fn a_probe_of_an_earlier_half_open_phase_means_nothing_to_a_later_one() {
    let probes = Probes { concurrent: 2, successes: 2 };
    let mut rig = Rig::new(&[Breaker { probes, ..rule() }]);
    rig.fail_now(2, 0);
    let (lost, failing) = (rig.send(10), rig.send(10));
    rig.fail(failing, 11);
    let (probe, _) = (rig.send(21), rig.send(21));
    // Neither its success nor its permit counts: one place is free again, and not closed.
    rig.succeed(lost, 22);
    assert_eq!(rig.admits(22), Admission::No { until: Instant::FAR_FUTURE });
    rig.succeed(probe, 22);
    assert_eq!(rig.admits(22), Admission::Probe);
}

#[test]
fn a_late_failure_does_not_prolong_an_open_time_that_is_over() {
    let mut rig = Rig::new(&[Breaker { recooling: Recooling::Extend, ..rule() }]);
    let late = rig.send(0);
    rig.fail_now(2, 0);
    rig.fail(late, 10);
    assert_eq!(rig.admits(10), Admission::Probe);
}

#[test]
fn a_cancelled_probe_returns_its_permit() {
    let mut rig = Rig::new(&[rule()]);
    rig.fail_now(2, 0);
    let probe = rig.send(10);
    rig.breakers.on_end(&probe, at(11));
    assert_eq!(rig.admits(11), Admission::Probe);
}

#[test]
fn recooling() {
    for (recooling, moves, until) in [
        (Recooling::KeepFirst, false, 10),
        (Recooling::Extend, true, 15),
        (Recooling::Maximum, true, 15),
    ] {
        let mut rig = Rig::new(&[Breaker { recooling, ..rule() }]);
        let late = rig.send(0);
        rig.fail_now(2, 0);
        rig.fail(late, 5);
        assert_eq!(rig.admits(5), Admission::No { until: at(until) }, "{recooling:?}");
        let reported = rig.changes.len() - 1;
        assert_eq!(reported, usize::from(moves), "{recooling:?}");
    }
}

#[test]
fn recovery_counts_only_where_it_should() {
    for (count_recovery, admission) in
        [(true, Admission::No { until: at(10) }), (false, Admission::Yes)]
    {
        let mut rig = Rig::new(&[Breaker { count_recovery, ..rule() }]);
        for _ in 0..2 {
            let permit = send(&mut rig.breakers, (T, Lane::FIRST), true, 0, &mut |_| {});
            rig.fail(permit, 0);
        }
        assert_eq!(rig.admits(0), admission);
    }
}

#[test]
fn a_slow_probe_is_no_success() {
    let slow = Trip::SlowCalls {
        share: Share::ONE,
        slower_than: secs(2),
        window: secs(60),
        min_calls: 100,
    };
    let mut rig = Rig::new(&[Breaker { trip: vec![Trip::Consecutive(2), slow], ..rule() }]);
    rig.fail_now(2, 0);
    let probe = rig.send(10);
    rig.breakers.on_success(&probe, secs(3), at(13), || NO_JITTER, &mut |_| {});
    assert_eq!(rig.admits(13), Admission::No { until: at(23) });
}

#[test]
fn a_ramp_admits_a_growing_share() {
    let ramp = Some(Ramp { over: secs(100), from: Share::ratio(1, 10) });
    let probes = Probes { concurrent: 1, successes: 1 };
    let mut rig = Rig::new(&[Breaker { ramp, probes, ..rule() }]);
    rig.fail_now(2, 0);
    let probe = rig.send(10);
    rig.succeed(probe, 10);
    // From 10 % at 10 s in a straight line to all at 110 s: 55 % after half of it.
    let percent = |p: u64| u64::MAX / 100 * p;
    for (now, admitted, refused) in [(10, 9, 11), (60, 54, 56), (109, 98, 99)] {
        let says = |draw| rig.breakers.admits(T, Lane::FIRST, at(now), draw);
        assert_eq!(says(percent(admitted)), Admission::Ramp, "{now}");
        let refusal = says(percent(refused) + percent(1) / 2);
        let Admission::No { until } = refusal else { panic!("{refusal:?} at {now}") };
        let then = rig.breakers.admits(T, Lane::FIRST, until, percent(refused) + percent(1) / 2);
        assert!(matches!(then, Admission::Ramp | Admission::Yes), "{then:?} at {until:?}");
    }
    assert_eq!(rig.breakers.admits(T, Lane::FIRST, at(110), u64::MAX), Admission::Yes);
    assert_eq!(rig.breakers.state(T, Lane::FIRST, at(60)), BreakerState::Ramping);
    let permit = rig.send(110);
    rig.succeed(permit, 110);
    assert_eq!(rig.changes.last(), Some(&(BreakerState::Closed, at(110))));
}

#[test]
fn traffic_leaves_in_a_straight_line() {
    let mut rig = Rig::new(&[Breaker { leaves_over: Some(secs(8)), ..rule() }]);
    rig.fail_now(2, 100);
    // All at 100 s, none from 108 s: three quarters after a quarter of it.
    let percent = |p: u64| u64::MAX / 100 * p;
    for (now, admitted, refused) in [(100, 99, 101), (102, 74, 76), (106, 24, 26), (108, 0, 0)] {
        let says = |draw| rig.breakers.admits(T, Lane::FIRST, at(now), draw);
        if admitted > 0 {
            assert_eq!(says(percent(admitted)), Admission::Ramp, "{now}");
        }
        if refused < 100 {
            assert_eq!(says(percent(refused)), Admission::No { until: at(110) }, "{now}");
        }
        assert_eq!(rig.breakers.state(T, Lane::FIRST, at(now)), BreakerState::Open);
    }
    // What fails meanwhile changes nothing, and a probe that fails finds nobody leaving.
    let permit = rig.send(104);
    rig.fail(permit, 105);
    assert_eq!(rig.breakers.admits(T, Lane::FIRST, at(109), 0), Admission::No { until: at(110) });
    let probe = rig.send(110);
    rig.fail(probe, 111);
    assert_eq!(rig.breakers.admits(T, Lane::FIRST, at(112), 0), Admission::No { until: at(121) });
}

#[test]
fn a_ramp_from_nothing_after_a_cooldown_starts_by_itself() {
    let ramp = Some(Ramp { over: secs(10), from: Share::ZERO });
    let mut rig = Rig::new(&[Breaker { ramp, after_open: AfterOpen::Close, ..rule() }]);
    rig.fail_now(2, 0);
    assert!(matches!(rig.admits(10), Admission::No { .. }));
    assert_eq!(rig.admits(11), Admission::Ramp);
    assert_eq!(rig.admits(20), Admission::Yes);
}

#[test]
fn outcomes_of_attempts_sent_within_a_ramp_count_after_it() {
    let ramp = Some(Ramp { over: secs(10), from: Share::ONE });
    let mut rig = Rig::new(&[Breaker { ramp, after_open: AfterOpen::Close, ..rule() }]);
    rig.fail_now(2, 0);
    let within = rig.send(15);
    let after = rig.send(25);
    rig.fail(within, 26);
    rig.fail(after, 26);
    assert!(matches!(rig.admits(26), Admission::No { .. }));
}

#[test]
fn several_breakers_of_a_target_all_have_to_admit() {
    let longer = Breaker { trip: vec![Trip::Consecutive(3)], open_for: secs(50), ..rule() };
    let mut rig = Rig::new(&[rule(), longer]);
    rig.fail_now(3, 0);
    assert_eq!(rig.admits(0), Admission::No { until: at(50) });
    assert_eq!(rig.admits(50), Admission::Probe);
    assert_eq!(rig.breakers.state(T, Lane::FIRST, at(20)), BreakerState::Open);
}

#[test]
fn one_breaker_per_value_of_the_key() {
    let targets = vec![
        target("a", "openai", "gpt-4o", ""),
        target("b", "azure", "gpt-4o", "eastus"),
        target("c", "azure", "gpt-4o", "westus"),
        target("d", "azure", "gpt-4o-mini", "eastus"),
    ];
    let topology = topology(targets, &[&[0, 1], &[2], &[3, 1]]);
    let by = |key: &[KeyPart]| Breaker { key: key.to_vec(), ..rule() };
    let rules =
        [by(&[KeyPart::Provider, KeyPart::Model, KeyPart::Region]), by(&[KeyPart::Provider])];
    let breakers = Breakers::new(&rules, &topology);
    let all: Vec<_> = (0..breakers.len() as u16)
        .map(|b| {
            let BreakerScope { name, targets, required } = breakers.scope(b);
            assert_eq!(required, None, "{name}");
            (name, targets.into_iter().map(|t| t.0).collect::<Vec<_>>())
        })
        .collect();
    let expected = [
        ("openai/gpt-4o", vec![0]),
        ("openai", vec![0]),
        ("azure/gpt-4o eastus", vec![1]),
        ("azure", vec![1, 2, 3]),
        ("azure/gpt-4o westus", vec![2]),
        ("azure/gpt-4o-mini eastus", vec![3]),
    ];
    assert_eq!(all, expected.map(|(name, targets)| (String::from(name), targets)));
    // Alone in its only group: exempt.
    let exempt = Breakers::new(&[Breaker { exempt_single: true, ..rules[1].clone() }], &topology);
    assert_eq!(exempt.scope(1).targets, [TargetId(1), TargetId(3)]);
}

#[test]
fn a_key_with_capability_has_one_breaker_for_each_set_that_classes_require() {
    let tools = Capabilities::named("tools").expect("a capability");
    let both = tools.with(Capabilities::named("vision").expect("a capability"));
    let able = |name, model, capabilities| Target { capabilities, ..target(name, "p", model, "") };
    let targets = vec![
        able("a", "m", both),
        able("b", "m", tools),
        able("c", "n", both),
        able("d", "m", Capabilities::NONE),
    ];
    let mut topology = topology(targets, &[&[0, 1], &[2, 3]]);
    let class = |name: &str, required| RouteClass {
        name: name.into(),
        required,
        ..topology.classes[0].clone()
    };
    let classes = vec![
        class("agent", tools),
        class("chat", Capabilities::NONE),
        class("seer", both),
        class("coder", tools),
    ];
    topology.classes = classes;
    let by = |key: &[KeyPart]| Breaker { key: key.to_vec(), ..rule() };
    let rules = [by(&[KeyPart::Model, KeyPart::Capability]), by(&[KeyPart::Model])];
    let mut breakers = Breakers::new(&rules, &topology);
    let all: Vec<_> = (0..breakers.len() as u16)
        .map(|b| {
            let BreakerScope { name, targets, .. } = breakers.scope(b);
            (name, targets.into_iter().map(|t| t.0).collect::<Vec<_>>())
        })
        .collect();
    let expected = [
        ("m plain", vec![0, 1, 3]),
        ("m", vec![0, 1, 3]),
        ("n plain", vec![2]),
        ("n", vec![2]),
        // Of those that can: nothing else is ever sent for these classes.
        ("m tools", vec![0, 1]),
        ("n tools", vec![2]),
        ("m tools+vision", vec![0]),
        ("n tools+vision", vec![2]),
    ];
    assert_eq!(all, expected.map(|(name, targets)| (String::from(name), targets)));

    // Two failures of those who require tools open theirs, on both targets; the breaker for all stays
    // closed, for it has seen a success between them.
    let lanes = Lanes::new(&rules, &topology);
    assert_eq!(lanes.len(), 3);
    let lane = |i: usize| lanes.of(&topology.classes[i]);
    let (agent, chat, seer, coder) = (lane(0), lane(1), lane(2), lane(3));
    assert_eq!(agent, coder);
    let b = TargetId(1);
    let outcome = |breakers: &mut Breakers, lane, failed| {
        let mut changes = Vec::new();
        let out = &mut |c: Change| changes.push(c.breaker);
        let permit = send(breakers, (b, lane), false, 0, out);
        match failed {
            true => breakers.on_failure(&permit, at(0), || NO_JITTER, out),
            false => breakers.on_success(&permit, secs(0), at(0), || NO_JITTER, out),
        }
        breakers.on_end(&permit, at(0));
        changes
    };
    assert_eq!(outcome(&mut breakers, agent, true), [0; 0]);
    assert_eq!(outcome(&mut breakers, chat, false), [0; 0]);
    assert_eq!(outcome(&mut breakers, coder, true), [4]);
    for target in [T, b] {
        assert_eq!(breakers.admits(target, agent, at(1), 0), Admission::No { until: at(10) });
        assert_eq!(breakers.state(target, coder, at(1)), BreakerState::Open);
        for other in [chat, seer] {
            assert_eq!(breakers.admits(target, other, at(1), 0), Admission::Yes);
            assert_eq!(breakers.state(target, other, at(1)), BreakerState::Closed);
        }
        assert!(!breakers.all_closed(target), "somebody has to look");
    }
    assert!(breakers.all_closed(TargetId(2)));
    // Whoever needs no tools is no probe of theirs.
    assert!(!send(&mut breakers, (b, chat), false, 11, &mut |_| {}).probes());
    assert!(send(&mut breakers, (b, agent), false, 11, &mut |_| {}).probes());
    // One more failure of chat is the second in a row for the model, whoever asks.
    assert_eq!(outcome(&mut breakers, chat, true), [1]);
    assert_eq!(breakers.state(b, seer, at(1)), BreakerState::Open);
}

#[test]
fn reset_forgets_everything() {
    let mut rig = Rig::new(&[rule()]);
    rig.fail_now(2, 0);
    rig.breakers.reset();
    assert_eq!(rig.admits(0), Admission::Yes);
    rig.fail_now(1, 0);
    assert_eq!(rig.admits(0), Admission::Yes);
}

/// A step of a random history: `pick` chooses among the attempts in flight.
#[derive(Clone, Copy, Debug)]
enum Step {
    Wait(u64),
    /// Sends where admitted.
    Send,
    /// Sends all the same, as a policy that fails open does.
    SendAnyway,
    Succeed(usize),
    Fail(usize),
    /// Ends without having taught anything.
    Lose(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0_u64..8).prop_map(Step::Wait),
        4 => Just(Step::Send),
        1 => Just(Step::SendAnyway),
        2 => (0_usize..8).prop_map(Step::Succeed),
        3 => (0_usize..8).prop_map(Step::Fail),
        1 => (0_usize..8).prop_map(Step::Lose),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Against a recount of the probes in flight: none leaks, none too many are admitted, and
    /// nothing is admitted before the end of an open phase.
    #[test]
    fn safe_under_any_history(
        steps in prop::collection::vec(step(), 1..120),
        concurrent in 1_u32..4,
        successes in 1_u32..4,
        ramp in any::<bool>(),
        close in any::<bool>(),
    ) {
        let mut rig = Rig::new(&[Breaker {
            probes: Probes { concurrent, successes },
            ramp: ramp.then(|| Ramp { over: secs(5), from: Share::ratio(1, 2) }),
            after_open: if close { AfterOpen::Close } else { AfterOpen::HalfOpen },
            ..rule()
        }]);
        let mut now = 0;
        let mut flying: Vec<(Permit, usize)> = Vec::new();
        for step in steps {
            let admission = rig.admits(now);
            if let Some((BreakerState::Open, until)) = rig.changes.last()
                && at(now) < *until
            {
                prop_assert_eq!(admission, Admission::No { until: *until });
            }
            // Probes of the running half-open phase: those sent since it was reported.
            let phase = rig.changes.len();
            let half_open = matches!(rig.changes.last(), Some((BreakerState::HalfOpen, _)));
            let probing = |flying: &[(Permit, usize)]| {
                flying.iter().filter(|(p, sent)| p.probes != 0 && *sent == phase).count() as u32
            };
            prop_assert!(!half_open || probing(&flying) <= concurrent);
            let full = Admission::No { until: Instant::FAR_FUTURE };
            prop_assert_eq!(admission == full, half_open && probing(&flying) == concurrent);
            match step {
                Step::Wait(s) => now += s,
                Step::Send if matches!(admission, Admission::No { .. }) => {}
                Step::Send | Step::SendAnyway => {
                    let permit = rig.send(now);
                    flying.push((permit, rig.changes.len()));
                }
                Step::Succeed(i) | Step::Fail(i) | Step::Lose(i) if i < flying.len() => {
                    let (permit, _) = flying.swap_remove(i);
                    match step {
                        Step::Succeed(_) => rig.succeed(permit, now),
                        Step::Fail(_) => rig.fail(permit, now),
                        _ => rig.breakers.on_end(&permit, at(now)),
                    }
                }
                Step::Succeed(_) | Step::Fail(_) | Step::Lose(_) => {}
            }
        }
        // Everything lands, and a while later the breaker can close again.
        for (permit, _) in flying.drain(..) {
            rig.breakers.on_end(&permit, at(now));
        }
        now += 100;
        for _ in 0..successes {
            let refused = matches!(rig.admits(now), Admission::No { .. });
            prop_assert!(!refused);
            let permit = rig.send(now);
            rig.succeed(permit, now);
        }
        prop_assert_eq!(rig.admits(now + 5), Admission::Yes);
    }
}
