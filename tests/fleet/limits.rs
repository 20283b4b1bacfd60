//! Rate limits: the providers' own wait hints, refills, charges, settlements and sharing.

use windtunnel::dist::Shape;
use windtunnel::fleet::Fleet;
use windtunnel::scenario::{
    Charge, Factor, LimitModel, LimitScope, LimitSpec, LimitUnit, Refill, RetryAfterForm,
    Settlement, TargetModel,
};
use windtunnel::world::{Marks, World};
use windtunnel_policy::outcome::FailureClass;
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Duration, Instant, Share};

use crate::driver::{FAILURE, Seen, drive, edge, scenario, secs, share, streamer, target, world};

fn limit(unit: LimitUnit, limit: u64) -> LimitSpec {
    LimitSpec {
        scope: LimitScope::Account,
        unit,
        limit,
        window: Duration::from_secs(60),
        refill: Refill::Continuous,
        charge: Charge::Prompt,
        settlement: Settlement::None,
        retry_after: RetryAfterForm::Exact,
        charge_refused: false,
        background: Share::ZERO,
    }
}

/// A fleet of `targets` that share `specs`.
fn fleet(mut targets: Vec<TargetModel>, specs: &[LimitSpec]) -> Fleet {
    let ids: Vec<TargetId> = (0..targets.len() as u16).map(TargetId).collect();
    for target in &mut targets {
        target.limits = (0..specs.len() as u16).collect();
    }
    let model = |spec: &LimitSpec| LimitModel {
        name: "limit".into(),
        spec: spec.clone(),
        targets: ids.clone(),
    };
    Fleet::new(&scenario(targets, specs.iter().map(model).collect()))
}

fn quick() -> TargetModel {
    target("t", 1_000_000, &Shape::Constant(1_000.0))
}

/// Arrivals at these seconds with these prompts.
fn prompts(rows: &[(f64, u32)]) -> World {
    let mut world = world(1, rows.iter().map(|&(at, _)| secs(at)));
    for (request, &(_, input)) in world.requests.iter_mut().zip(rows) {
        request.input = input;
    }
    world
}

/// Of each: `None` for an answer, the hint of a refusal otherwise.
fn hints(seen: &[Seen]) -> Vec<Option<Option<Duration>>> {
    let hint = |s: &Seen| {
        s.failure().map(|(failure, bill)| {
            assert_eq!((failure.class, failure.status), (FailureClass::RateLimited, 429));
            assert_eq!((bill.as_pico(), s.took()), (0, FAILURE), "refusals are free and fast");
            failure.retry_after
        })
    };
    seen.iter().map(hint).collect()
}

const ANSWER: Option<Option<Duration>> = None;

fn wait(seconds: f64) -> Option<Option<Duration>> {
    Some(Some(secs(seconds).since(Instant::ZERO)))
}

#[test]
fn openais_published_wait_hints() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/retry_after_samples.csv");
    let Ok(mut rows) = csv::Reader::from_path(path) else {
        return eprintln!("skipped: {path} is not there");
    };
    let (mut known, mut exact) = (0, 0);
    for row in rows.records() {
        let row = row.expect("a row");
        if &row[0] != "openai" {
            continue;
        }
        let number = |i: usize| row[i].parse::<f64>().expect("a number");
        let (limited, used, requested) = (number(2) as u64, number(3) as u32, number(4) as u32);
        let window = if &row[1] == "RPD" { 86_400 } else { 60 };
        let unit = if &row[1] == "TPM" { LimitUnit::InputTokens } else { LimitUnit::Requests };
        let mut spec = limit(unit, limited);
        spec.window = Duration::from_secs(window);
        let earlier = if unit == LimitUnit::Requests { vec![0; used as usize] } else { vec![used] };
        let rows: Vec<_> = earlier.into_iter().chain([requested]).map(|n| (0.0, n)).collect();
        let seen = drive(&mut fleet(vec![quick()], &[spec]), &prompts(&rows), |_| 0);
        let hints = hints(&seen);
        let (last, before) = hints.split_last().expect("there is a last");
        assert!(before.iter().all(|hint| *hint == ANSWER));
        let hint = last.expect("refused").expect("with a hint").as_micros() as f64 / 1e6;
        known += 1;
        // The messages print milliseconds, some rounded and some cut off.
        exact += usize::from((hint - number(5)).abs() < 0.001);
    }
    assert_eq!((known, exact), (22, 21));
}

#[test]
fn a_hint_is_the_first_microsecond_that_works() {
    let spec = limit(LimitUnit::InputTokens, 7_000);
    // 6,900 used and 350 asked: 250 over, which take 250 · 60 s / 7000 = 2.142857142… s.
    let world =
        prompts(&[(0.0, 6_900), (0.0, 350), (2.142857, 350), (2.142858, 350), (2.142858, 1)]);
    let hints = hints(&drive(&mut fleet(vec![quick()], &[spec]), &world, |_| 0));
    assert_eq!(hints[..4], [ANSWER, wait(2.142858), wait(0.000_001), ANSWER]);
    assert!(hints[4].is_some());
}

#[test]
fn what_is_larger_than_the_limit_gets_no_hint() {
    let spec = limit(LimitUnit::InputTokens, 7_000);
    let hints = hints(&drive(&mut fleet(vec![quick()], &[spec]), &prompts(&[(0.0, 7_001)]), |_| 0));
    assert_eq!(hints, [Some(None)]);
}

#[test]
fn a_window_refills_all_at_once() {
    let mut spec = limit(LimitUnit::Requests, 3);
    spec.refill = Refill::Window;
    let at = [10.0, 20.0, 30.0, 40.5, 60.0, 60.0, 60.0, 61.0].map(|at| (at, 1));
    let hints = hints(&drive(&mut fleet(vec![quick()], &[spec]), &prompts(&at), |_| 0));
    let want = [ANSWER, ANSWER, ANSWER, wait(19.5), ANSWER, ANSWER, ANSWER, wait(59.0)];
    assert_eq!(hints, want);
}

#[test]
fn forms_of_the_hint() {
    for (form, want) in [
        (RetryAfterForm::Exact, wait(1.5)),
        (RetryAfterForm::WholeSeconds, wait(2.0)),
        (RetryAfterForm::None, Some(None)),
        (RetryAfterForm::Fixed(Duration::from_secs(9)), wait(9.0)),
    ] {
        let mut spec = limit(LimitUnit::InputTokens, 6_000);
        spec.retry_after = form;
        let world = prompts(&[(0.0, 6_000), (0.0, 150)]);
        assert_eq!(hints(&drive(&mut fleet(vec![quick()], &[spec]), &world, |_| 0))[1], want);
    }
}

#[test]
fn refused_attempts_are_charged_where_they_count() {
    let mut spec = limit(LimitUnit::Requests, 60);
    let rows: Vec<_> = (0..61).map(|_| (0.0, 1)).chain([(0.5, 1), (1.0, 1)]).collect();
    let last = |spec: &LimitSpec| {
        hints(&drive(&mut fleet(vec![quick()], std::slice::from_ref(spec)), &prompts(&rows), |_| 0))
            [60..]
            .to_vec()
    };
    assert_eq!(last(&spec), [wait(1.0), wait(0.5), ANSWER]);
    // Each refusal fills the limit again: who comes back too early comes back in vain.
    spec.charge_refused = true;
    assert_eq!(last(&spec), [wait(1.0); 3]);
}

#[test]
fn charges_and_settlements() {
    // Used: 100 in, 1 out of at most 1,000. After the answer, how much of 10,000 is left?
    for (unit, charge, settlement, left_before, left_after) in [
        (LimitUnit::TotalTokens, Charge::Prompt, Settlement::None, 9_900, 9_899),
        (LimitUnit::TotalTokens, Charge::PromptAndMax, Settlement::None, 8_900, 8_900),
        (LimitUnit::TotalTokens, Charge::PromptAndMax, Settlement::Actual, 8_900, 9_899),
        (LimitUnit::TotalTokens, Charge::PromptAndMax, times(5.0), 8_900, 9_895),
        (LimitUnit::OutputTokens, Charge::PromptAndMax, times(5.0), 9_000, 9_995),
        (LimitUnit::InputTokens, Charge::PromptAndMax, Settlement::Actual, 9_900, 9_900),
    ] {
        let mut spec = limit(unit, 10_000);
        // A refill of a day, all at once: nothing flows back while we look.
        (spec.refill, spec.window) = (Refill::Window, Duration::from_secs(86_400));
        (spec.charge, spec.settlement) = (charge, settlement);
        for (at, left) in [(0.0005, left_before), (0.002, left_after)] {
            let probes = [left, left + 1].map(|ask| {
                let mut world = prompts(&[(0.0, 100), (at, 0)]);
                let probe = &mut world.requests[1];
                match unit {
                    LimitUnit::OutputTokens => probe.max_output = ask,
                    _ => (probe.input, probe.max_output) = (ask, 0),
                }
                let mut fleet = fleet(vec![quick()], std::slice::from_ref(&spec));
                drive(&mut fleet, &world, |_| 0)[1].answered()
            });
            assert_eq!(probes, [true, false], "{unit:?} {charge:?} {settlement:?} at {at}");
        }
    }
}

#[test]
fn output_that_is_not_charged_on_the_way_in_is_charged_on_the_way_out() {
    let mut spec = limit(LimitUnit::OutputTokens, 1);
    spec.refill = Refill::Window;
    let at = [0.0, 0.0, 1.0, 60.0].map(|at| (at, 1));
    let seen = drive(&mut fleet(vec![quick()], &[spec]), &prompts(&at), |_| 0);
    // Both of the first come in before either is charged its token; the window is then overdrawn.
    assert_eq!(hints(&seen), [ANSWER, ANSWER, wait(59.0), ANSWER]);
}

fn times(factor: f64) -> Settlement {
    Settlement::OutputTimes(Factor::new(factor).expect("a factor"))
}

#[test]
fn a_given_up_attempt_settles_to_what_it_used() {
    let mut spec = limit(LimitUnit::TotalTokens, 10_000);
    (spec.refill, spec.window) = (Refill::Window, Duration::from_secs(86_400));
    (spec.charge, spec.settlement) = (Charge::PromptAndMax, Settlement::Actual);
    // Given up after 1 s: first token at 0.5 s, one each 10 ms, so 51 tokens and 100 of prompt.
    let mut world = prompts(&[(0.0, 100), (2.0, 9_849), (3.0, 1)]);
    let request = &mut world.requests[0];
    (request.marks, request.output) = (Marks::STREAMED, 500);
    request.patience = Duration::from_secs(1);
    world.requests[1..].iter_mut().for_each(|r| r.max_output = 0);
    let seen = drive(&mut fleet(vec![streamer("t")], &[spec]), &world, |_| 0);
    assert_eq!(seen[0].aborted.expect("given up").1.usage.output, 51);
    assert!(seen[1].answered() && !seen[2].answered());
}

#[test]
fn concurrency_comes_back_at_the_end_and_quotas_do_not() {
    let slow = target("t", 1_000_000, &Shape::Constant(1e6));
    let at = [0.0, 0.0, 0.5, 1.0, 1.2].map(|at| (at, 1));
    let spec = limit(LimitUnit::Concurrency, 2);
    let seen = drive(&mut fleet(vec![slow.clone()], &[spec]), &prompts(&at), |_| 0);
    assert_eq!(hints(&seen), [ANSWER, ANSWER, Some(None), ANSWER, ANSWER]);

    let mut spec = limit(LimitUnit::DayQuota, 2);
    spec.refill = Refill::Window;
    let seen = drive(&mut fleet(vec![slow], &[spec]), &prompts(&at), |_| 0);
    let failure = seen[4].failure().expect("refused").0;
    assert_eq!(failure.class, FailureClass::QuotaExhausted);
    assert_eq!(failure.retry_after, Some(secs(86_400.0).since(secs(1.2))));
}

#[test]
fn targets_share_a_limit_and_its_weather() {
    let spec = limit(LimitUnit::Requests, 10);
    let two =
        || vec![target("a", 99, &Shape::Constant(1e3)), target("b", 99, &Shape::Constant(1e3))];
    let world = prompts(&[(0.0, 1); 24]);
    let alternating = |i: usize| (i % 2) as u16;
    let answered = |fleet: &mut Fleet, world: &World| {
        drive(fleet, world, alternating).iter().filter(|s| s.answered()).count()
    };
    assert_eq!(answered(&mut fleet(two(), std::slice::from_ref(&spec)), &world), 10);
    // Half of it lost at one of them is lost to both; so are the other users' 20 %.
    let mut stormy = world.clone();
    edge(&mut stormy, Instant::ZERO, |c| c.limits = share(0.5));
    assert_eq!(answered(&mut fleet(two(), std::slice::from_ref(&spec)), &stormy), 5);
    let background = LimitSpec { background: share(0.2), ..spec };
    let mut busy = fleet(two(), &[background]);
    assert_eq!(answered(&mut busy, &world), 8);
    let mut surge = world.clone();
    edge(&mut surge, Instant::ZERO, |c| c.background_ppm = 3_000_000);
    assert_eq!(answered(&mut busy, &surge), 4);
    assert_eq!(answered(&mut busy, &world), 8, "a new run starts in clear weather");
}
