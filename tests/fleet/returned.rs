//! Whatever is sent, given up, slowed, cut or refused: everything taken comes back, every attempt
//! ends once, and every bill is the price of its usage.

use std::sync::Arc;

use proptest::prelude::*;
use windtunnel::dist::Shape;
use windtunnel::draw::NameHash;
use windtunnel::fleet::{Fleet, NoticeKind};
use windtunnel::scenario::{
    AbortRule, Billing, Charge, FailureShare, LimitModel, LimitScope, LimitSpec, LimitUnit, Refill,
    RetryAfterForm, Settlement, SpeedByLoad, Stick, TargetModel,
};
use windtunnel::weather::{ActiveFailure, Mix};
use windtunnel::world::{Marks, World};
use windtunnel_policy::outcome::{FailureClass, Phase, Usage};
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Duration, Instant, Money, Price, Share};

use crate::driver::{Run, Seen, constant, edge, scenario, share, streamer, target, world};

/// One request: gap before it, prompt, output, patience, marks, target.
type Row = (u64, u32, u32, Option<u64>, u8, u16);
/// One change of weather: gap before it, speed, capacity, share that fails, share cut.
type Change = (u64, u64, f64, f64, f64);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let patience = proptest::option::weighted(0.5, 0_u64..3_000_000);
    let row = (0_u64..300_000, 0_u32..300, 0_u32..150, patience, 0_u8..12, 0_u16..2);
    proptest::collection::vec(row, 1..80)
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let factor = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64];
    let change = (0_u64..2_000_000, 0_u64..3_000_000, factor.clone(), factor.clone(), factor);
    proptest::collection::vec(change, 0..8)
}

fn targets(runs_on: bool, full: bool, load: bool) -> Vec<TargetModel> {
    let rule = if runs_on { AbortRule::RunsOn } else { AbortRule::Stops };
    let mut busy = streamer("a");
    (busy.capacity.slots, busy.capacity.queue) = (4, 3);
    (busy.abort.streamed, busy.abort.whole) = (rule, rule);
    busy.bill_cancelled = if full { Billing::Full } else { Billing::Consumed };
    busy.bill_failed = Billing::Consumed;
    if load {
        busy.capacity.speed_by_load = SpeedByLoad::HalfAt(2);
    }
    busy.failures.broken_streams = share(0.1);
    busy.failures.stalled_streams = share(0.1);
    busy.quality.truncated = share(0.1);
    let phases = [Phase::BeforeHeaders, Phase::BeforeOutput, Phase::AfterOutput];
    let mix = phases.map(|phase| FailureShare {
        class: FailureClass::ServerError,
        status: 500,
        phase,
        share: share(0.06),
        retry_after: None,
        hang: false,
    });
    busy.failures.mix = mix.to_vec();
    let mut plain = target("b", 2, &Shape::Exponential { mean: 400_000.0 });
    (plain.capacity.queue, plain.capacity.drops_late) = (5, true);
    (plain.abort.streamed, plain.abort.whole) = (rule, rule);
    let mut both = vec![busy, plain];
    both.iter_mut().for_each(|t| t.limits = vec![0, 1]);
    both
}

fn limits() -> Vec<LimitModel> {
    let spec = |unit, limit| LimitSpec {
        scope: LimitScope::Account,
        unit,
        limit,
        window: Duration::from_secs(1),
        refill: Refill::Continuous,
        charge: Charge::PromptAndMax,
        settlement: Settlement::Actual,
        retry_after: RetryAfterForm::Exact,
        charge_refused: true,
        background: share(0.1),
    };
    let both = [spec(LimitUnit::Concurrency, 9), spec(LimitUnit::TotalTokens, 9_000)];
    let model =
        |spec| LimitModel { name: String::new(), spec, targets: vec![TargetId(0), TargetId(1)] };
    both.map(model).to_vec()
}

fn made(rows: &[Row], changes: &[Change]) -> World {
    let mut at = 0;
    let mut world = world(
        9,
        rows.iter().map(|row| {
            at += row.0;
            Instant::from_micros(at)
        }),
    );
    for (request, row) in world.requests.iter_mut().zip(rows) {
        (request.input, request.output) = (row.1, row.2);
        request.patience = row.3.map_or(Duration::MAX, Duration::from_micros);
        let all = [Marks::NONE, Marks::INVALID, Marks::BLOCKED, Marks::REFUSED];
        // Most are in order; half are streamed.
        let mark = all.get(usize::from(row.4)).copied().unwrap_or(Marks::NONE);
        request.marks = if row.4 % 2 == 0 { mark.with(Marks::STREAMED) } else { mark };
    }
    let mut at = 0;
    for &(gap, speed, capacity, fails, cut) in changes {
        at += gap;
        edge(&mut world, Instant::from_micros(at), |c| {
            (c.speed_ppm, c.capacity, c.limits) = (speed, share(capacity), share(capacity));
            c.slow = (share(fails), 3_000_000);
            let mix = Mix {
                up_to: Share::ONE,
                class: FailureClass::Timeout,
                status: 0,
                phase: Phase::BeforeHeaders,
                retry_after: None,
                takes: Some(constant(90_000)),
                hang: cut > 0.5,
            };
            c.failures.push(ActiveFailure {
                effect: NameHash::of("storm"),
                share: share(fails / 2.0),
                classes: None,
                stick: Stick::default(),
                mix: Arc::new(vec![mix]),
            });
        });
        world.weather.edges.last_mut().expect("just made").cut = share(cut / 2.0);
    }
    // Good weather again, so that what waits is served.
    edge(&mut world, Instant::from_micros(at + 30_000_000), |_| {});
    world
}

fn usage_and_bill(seen: &Seen) -> (Usage, Money) {
    match (seen.last, seen.aborted) {
        (Some((_, NoticeKind::Ended { usage, bill, .. })), None) => (usage, bill),
        (Some((_, NoticeKind::Failed { failure, bill })), None) => (failure.usage, bill),
        (None, Some((_, bill))) => (bill.usage, bill.money),
        other => panic!("an attempt ends once: {other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_comes_back(
        rows in rows(),
        changes in changes(),
        runs_on: bool,
        full: bool,
        load: bool,
    ) {
        let targets = targets(runs_on, full, load);
        let price: Price = targets[0].price;
        let mut fleet = Fleet::new(&scenario(targets, limits()));
        let world = made(&rows, &changes);
        let route = |i: usize| rows[i].5;
        let mut run = Run::new(&mut fleet, &world);
        run.until(Instant::FAR_FUTURE, route);
        // Who hangs and has all the patience of the world is given up at last.
        let end = Instant::from_micros(1 << 50);
        for i in 0..run.seen.len() {
            if run.seen[i].last.is_none() && run.seen[i].aborted.is_none() {
                run.abort(end, i);
            }
        }
        run.until(Instant::FAR_FUTURE, route);
        let first = run.seen.clone();
        fleet.assert_idle();
        for seen in &first {
            let (usage, bill) = usage_and_bill(seen);
            prop_assert_eq!(bill, price.bill(usage.input, usage.cached, usage.output));
        }
        // Used again, the fleet does the same again.
        let mut run = Run::new(&mut fleet, &world);
        run.until(end, route);
        for (again, once) in run.seen.iter().zip(&first) {
            prop_assert_eq!(again.last, once.last);
        }
    }
}
