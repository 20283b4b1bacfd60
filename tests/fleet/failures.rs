//! What goes wrong, how it looks, and what it costs.

use std::sync::Arc;

use windtunnel::draw::NameHash;
use windtunnel::fleet::{Fleet, NoticeKind};
use windtunnel::scenario::{AbortRule, Billing, FailureShare, Stick, TargetModel};
use windtunnel::weather::{ActiveFailure, Mix};
use windtunnel::world::{Marks, World};
use windtunnel_policy::outcome::{Answer, FailureClass, Phase, Usage};
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Duration, Instant, Share};

use crate::driver::{
    FAILURE, Run, Seen, assert_share, drive, edge, poisson, scenario, secs, share, streamer, world,
};

const N: usize = 10_000;
const TOKENS: u32 = 101;

fn one(model: TargetModel) -> Fleet {
    Fleet::new(&scenario(vec![model], Vec::new()))
}

/// Streams of 101 tokens: 1.5 s from the first to the last.
fn streams(n: usize) -> World {
    let mut world = poisson(11, 100.0, n);
    for request in &mut world.requests {
        (request.marks, request.output) = (Marks::STREAMED, TOKENS);
    }
    world
}

fn kind(class: FailureClass, status: u16, phase: Phase, p: f64) -> FailureShare {
    FailureShare { class, status, phase, share: share(p), retry_after: None, hang: false }
}

fn failing(kinds: Vec<FailureShare>) -> TargetModel {
    let mut model = streamer("t");
    model.failures.mix = kinds;
    model
}

#[test]
fn requests_that_are_wrong_fail_everywhere_and_fast() {
    let mut known = scenario(vec![streamer("t")], Vec::new());
    known.topology.targets[0].context_tokens = 1_100;
    let mut world = world(1, [0.0, 0.1, 0.2, 0.3].map(secs));
    world.requests[0].marks = Marks::INVALID;
    world.requests[1].marks = Marks::BLOCKED.with(Marks::STREAMED);
    world.requests[2].input = 101;
    let seen = drive(&mut Fleet::new(&known), &world, |_| 0);
    let classes = [0, 1, 2].map(|i: usize| {
        let (failure, bill) = seen[i].failure().expect("it failed");
        assert_eq!((failure.status, seen[i].took(), bill.as_pico()), (400, FAILURE, 0));
        failure.class
    });
    use FailureClass::{ClientInvalid, ContentPolicy, ContextOverflow};
    assert_eq!(classes, [ClientInvalid, ContentPolicy, ContextOverflow]);
    assert!(seen[3].answered(), "what just fits is served");
}

#[test]
fn the_cards_mix_strikes_its_share_of_each_kind() {
    let mut limited = kind(FailureClass::RateLimited, 429, Phase::BeforeHeaders, 0.1);
    limited.retry_after = Some(Duration::from_secs(3));
    let error = kind(FailureClass::ServerError, 500, Phase::BeforeHeaders, 0.2);
    let mut model = failing(vec![error, limited]);
    // Windows strike everybody at once: without them, requests are independent.
    model.failures.stick =
        Stick { request: share(0.5), window: Share::ZERO, free: share(0.5), ..Stick::default() };
    let seen = drive(&mut one(model), &streams(N), |_| 0);
    let of =
        |class| seen.iter().filter(|s| s.failure().is_some_and(|f| f.0.class == class)).count();
    assert_share("errors", of(FailureClass::ServerError), N, 0.2);
    assert_share("limited", of(FailureClass::RateLimited), N, 0.1);
    let limited = seen.iter().filter_map(Seen::failure).find(|f| f.0.status == 429);
    assert_eq!(limited.expect("one").0.retry_after, Some(Duration::from_secs(3)));
    assert!(seen.iter().filter(|s| !s.answered()).all(|s| s.took() == FAILURE));
}

#[test]
fn a_second_try_fails_as_far_as_failures_stick() {
    let mut world = streams(N);
    for i in (1..N).step_by(2) {
        world.requests[i].key = world.requests[i - 1].key;
    }
    let half =
        Stick { request: share(0.5), window: Share::ZERO, free: share(0.5), ..Stick::default() };
    let free = Stick { request: Share::ZERO, free: Share::ONE, ..half };
    // s·p + (1 − s·p)·[(1 − s)·p / (1 − s·p)]² with p = 25 %: a seventh where half of it sticks.
    for (stick, both_fail) in [(half, 1.0 / 7.0), (free, 0.0625)] {
        let mut model =
            failing(vec![kind(FailureClass::ServerError, 500, Phase::BeforeHeaders, 0.25)]);
        model.failures.stick = stick;
        let seen = drive(&mut one(model), &world, |_| 0);
        let both = seen.chunks(2).filter(|two| two.iter().all(|s| !s.answered())).count();
        assert_share("both fail", both, N / 2, both_fail);
    }
}

#[test]
fn weather_strikes_on_top_with_its_own_luck_and_time() {
    let mut model = failing(vec![kind(FailureClass::ServerError, 500, Phase::BeforeHeaders, 0.2)]);
    let free =
        Stick { request: Share::ZERO, window: Share::ZERO, free: Share::ONE, ..Stick::default() };
    model.failures.stick = free;
    let mut world = streams(N);
    let mix = Mix {
        up_to: Share::ONE,
        class: FailureClass::Overloaded,
        status: 503,
        phase: Phase::BeforeHeaders,
        retry_after: None,
        takes: Some(crate::driver::constant(7_000)),
        hang: false,
    };
    edge(&mut world, Instant::ZERO, |c| {
        c.failures.push(ActiveFailure {
            effect: NameHash::of("storm"),
            share: share(0.5),
            classes: None,
            stick: free,
            mix: Arc::new(vec![mix]),
        });
    });
    let seen = drive(&mut one(model), &world, |_| 0);
    let of =
        |class| seen.iter().filter(|s| s.failure().is_some_and(|f| f.0.class == class)).count();
    assert_share("weather", of(FailureClass::Overloaded), N, 0.5);
    assert_share("card, of what the weather leaves", of(FailureClass::ServerError), N, 0.1);
    let stormy = seen.iter().filter(|s| s.failure().is_some_and(|f| f.0.status == 503));
    assert!(stormy.into_iter().all(|s| s.took() == 7_000));
}

#[test]
fn phases_of_a_failure_as_streams_and_whole_answers_show_them() {
    for (phase, billed_before, whole_class) in [
        (Phase::BeforeOutput, true, FailureClass::ServerError),
        (Phase::AfterOutput, false, FailureClass::ServerError),
    ] {
        let mut model = failing(vec![kind(FailureClass::ServerError, 200, phase, 1.0)]);
        model.bill_failed = Billing::Consumed;
        let mut fleet = one(model);
        let mut world = streams(2);
        world.requests[1].marks = Marks::NONE;
        let seen = drive(&mut fleet, &world, |_| 0);
        fleet.assert_idle();
        let (failure, bill) = seen[0].failure().expect("it failed");
        assert_eq!((failure.phase, failure.status), (phase, 200));
        assert_eq!(seen[0].headers, Some(seen[0].sent + Duration::from_millis(100)));
        assert_eq!(seen[0].first_output.is_some(), phase == Phase::AfterOutput);
        if billed_before {
            assert_eq!(seen[0].took(), 500_000, "fails where its output would begin");
        } else {
            assert!((500_000..1_500_000).contains(&seen[0].took()));
            assert_eq!(u64::from(failure.usage.output), (seen[0].took() - 500_000) / 10_000 + 1);
        }
        let usage = failure.usage;
        assert_eq!(
            bill.as_pico(),
            u64::from(usage.input) * 1_000 + u64::from(usage.output) * 5_000
        );
        let whole = seen[1].failure().expect("it failed").0;
        assert_eq!((whole.phase, whole.class), (Phase::BeforeHeaders, whole_class));
        assert!(seen[1].took() >= 500_000, "it was worked on");
    }
}

#[test]
fn broken_streams_break_evenly_over_their_output() {
    let mut model = streamer("t");
    model.failures.broken_streams = share(0.5);
    let mut world = streams(N);
    world.requests[0].marks = Marks::NONE;
    let seen = drive(&mut one(model), &world, |_| 0);
    assert!(seen[0].answered(), "what is not streamed cannot break");
    let broken: Vec<_> = seen[1..].iter().filter_map(Seen::failure).map(|f| f.0).collect();
    assert_share("broken", broken.len(), N - 1, 0.5);
    let right = |f: &windtunnel_policy::outcome::Failure| {
        f.class == FailureClass::PartialStream && f.status == 0 && f.phase == Phase::AfterOutput
    };
    assert!(broken.iter().all(right));
    let early = broken.iter().filter(|f| f.usage.output <= (TOKENS - 1) / 4).count();
    assert_share("in the first quarter", early, broken.len(), 0.25);
}

#[test]
fn a_stalled_stream_falls_silent_and_is_billed_when_given_up() {
    let mut model = streamer("t");
    model.failures.stalled_streams = Share::ONE;
    let mut fleet = one(model);
    let mut world = streams(1);
    world.requests[0].patience = Duration::from_secs(60);
    let sent = world.requests[0].at;
    let mut run = Run::new(&mut fleet, &world);
    let end = sent + Duration::from_millis(1_500);
    run.until(end + Duration::from_millis(1), |_| 0);
    let handle = run.seen[0].handle;
    let silent = run.fleet.last_output(end, handle).expect("output began");
    assert!(silent >= sent + Duration::from_millis(500) && silent < end);
    assert_eq!(run.fleet.last_output(end + Duration::from_secs(9), handle), Some(silent));
    assert_eq!(run.fleet.in_work(TargetId(0)), 0, "the provider works on to the natural end");
    run.until(Instant::FAR_FUTURE, |_| 0);
    let bill = run.seen[0].aborted.expect("given up").1;
    assert_eq!(bill.usage, Usage { input: 100, cached: 0, output: TOKENS });
    fleet.assert_idle();
}

#[test]
fn output_is_seen_at_the_streams_pace() {
    let mut fleet = one(streamer("t"));
    let world = streams(1);
    let sent = world.requests[0].at;
    let mut run = Run::new(&mut fleet, &world);
    let after = |ms: u64| sent + Duration::from_millis(ms);
    for (now, want) in [(499, None), (500, Some(500)), (514, Some(510)), (1_499, Some(1_490))] {
        run.until(after(now) + Duration::from_micros(1), |_| 0);
        let seen = run.fleet.last_output(after(now), run.seen[0].handle);
        assert_eq!(seen, want.map(after), "at {now} ms");
    }
}

#[test]
fn a_black_hole_holds_no_slot_and_bills_nothing() {
    let mut hole = kind(FailureClass::Timeout, 0, Phase::BeforeHeaders, 1.0);
    hole.hang = true;
    let mut model = failing(vec![hole]);
    model.bill_cancelled = Billing::Full;
    let mut fleet = one(model);
    let mut world = streams(50);
    world.requests.iter_mut().for_each(|r| r.patience = Duration::from_secs(600));
    let mut run = Run::new(&mut fleet, &world);
    run.until(secs(599.0), |_| 0);
    assert_eq!((run.fleet.in_work(TargetId(0)), run.fleet.in_flight()), (0, 50));
    run.until(Instant::FAR_FUTURE, |_| 0);
    let free = |s: &Seen| s.aborted.expect("given up").1.usage == Usage::default();
    assert!(run.seen.iter().all(|s| s.last.is_none() && free(s)));
    fleet.assert_idle();
}

#[test]
fn answers_of_every_worth() {
    let mut model = streamer("t");
    model.quality.contract_failures = share(0.2);
    model.quality.silent = share(0.25);
    model.quality.task_failures = share(0.3);
    model.quality.truncated = share(0.1);
    let mut world = streams(N);
    world.requests[0].marks = Marks::STREAMED.with(Marks::REFUSED);
    let seen = drive(&mut one(model), &world, |_| 0);
    let ended: Vec<_> = seen
        .iter()
        .map(|s| match s.last {
            Some((_, NoticeKind::Ended { usage, answer, contract_ok, task_done, bill })) => {
                let pico = u64::from(usage.input) * 1_000 + u64::from(usage.output) * 5_000;
                assert_eq!(bill.as_pico(), pico);
                (answer, contract_ok, task_done, usage.output)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ended[0], (Answer::Refusal, true, false, TOKENS));
    let count = |f: &dyn Fn(Answer, bool, bool, u32) -> bool| {
        ended[1..].iter().filter(|&&(a, c, t, o)| f(a, c, t, o)).count()
    };
    let n = N - 1;
    assert_share("noticed", count(&|a, _, _, _| a == Answer::Invalid), n, 0.15);
    let silent = |a: Answer, c: bool, _: bool, o: u32| a == Answer::Valid && !c && o == TOKENS;
    // Truncated ones are shorter, but for one in a hundred that lost nothing but its last pace.
    assert_share("silent", count(&silent), n, 0.2 * 0.25 * 0.9);
    assert_share("short", count(&|_, _, _, o| o < TOKENS), n, 0.1);
    assert_share("job done", count(&|_, _, t, _| t), n, 0.8 * 0.7 * 0.9);
}

#[test]
fn an_edge_cuts_its_share_of_what_is_in_flight() {
    let mut model = streamer("t");
    model.bill_failed = Billing::Nothing;
    let mut fleet = one(model);
    let mut world = streams(N);
    // All in flight at once; half before and half after their first output.
    for (i, request) in world.requests.iter_mut().enumerate() {
        request.at = if i < N / 2 { secs(10.0) } else { secs(10.5) };
    }
    edge(&mut world, secs(10.7), |_| {});
    world.weather.edges[0].cut = share(0.4);
    let seen = drive(&mut fleet, &world, |_| 0);
    fleet.assert_idle();
    for (part, class, output) in [
        (&seen[..N / 2], FailureClass::PartialStream, 21),
        (&seen[N / 2..], FailureClass::Transport, 0),
    ] {
        let cut: Vec<_> = part.iter().filter_map(Seen::failure).map(|f| f.0).collect();
        assert_share("cut", cut.len(), N / 2, 0.4);
        assert!(cut.iter().all(|f| f.class == class && f.usage.output == output));
    }
}

#[test]
fn what_giving_up_costs() {
    let full = Usage { input: 100, cached: 0, output: TOKENS };
    let made = Usage { output: 51, ..full };
    for (rule, billing, want, runs_on) in [
        (AbortRule::Stops, Billing::Nothing, Usage::default(), false),
        (AbortRule::Stops, Billing::Consumed, made, false),
        (AbortRule::Stops, Billing::Full, full, false),
        (AbortRule::RunsOn, Billing::Nothing, Usage::default(), true),
        (AbortRule::RunsOn, Billing::Consumed, full, true),
        (AbortRule::RunsOn, Billing::Full, full, true),
    ] {
        let mut model = streamer("t");
        (model.abort.streamed, model.bill_cancelled) = (rule, billing);
        let mut fleet = one(model);
        let mut world = streams(1);
        world.requests[0].patience = Duration::from_secs(1);
        let sent = world.requests[0].at;
        let mut run = Run::new(&mut fleet, &world);
        run.until(sent + Duration::from_millis(1_001), |_| 0);
        let bill = run.seen[0].aborted.expect("given up").1;
        assert_eq!(bill.usage, want, "{rule:?} {billing:?}");
        let pico = u64::from(want.input) * 1_000 + u64::from(want.output) * 5_000;
        assert_eq!(bill.money.as_pico(), pico);
        assert_eq!(run.fleet.in_work(TargetId(0)), u32::from(runs_on));
        run.until(Instant::FAR_FUTURE, |_| 0);
        fleet.assert_idle();
    }
}
