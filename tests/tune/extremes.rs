//! What becomes of a recommendation where no failure sticks to its request, and where all do.

use windtunnel::experiment::{ExperimentError, Identified, NoObserver, Observer, Setting};
use windtunnel::measures::Catalogue;
use windtunnel::tune::{AtExtreme, Direction, Goal, Holds, Task, TuneReport, Tuning, tune};

use super::optimum::ends_after;
use super::{base, coin, found, lab, options, service};

fn extremes(tuning: &Tuning) -> [&AtExtreme; 2] {
    let finalist = tuning.recommended().expect("one is recommended");
    let [independent, stuck] = &finalist.extremes[..] else { panic!("two extremes: {finalist:?}") };
    assert_eq!([independent.setting, stuck.setting], Setting::EXTREMES);
    [independent, stuck]
}

/// Seven tries at a target that fails half of the time, each by its own luck, answer 99.2 %. Where
/// all failures stick, nobody whose first try failed is ever answered: half are, after seven tries
/// or after ten.
#[test]
fn a_condition_that_sticking_failures_break_is_said_beside_the_recommendation() {
    let space = base("").varying(&["attempts.max=1..9"]);
    let goal = (Direction::Minimize, "attempts_per_request");
    let scenario = service("10s", "[coin]", &coin());
    let (tuning, text) = found(scenario, &space, goal, &["success >= 99%"], options(1, 9));
    let [independent, stuck] = extremes(&tuning);
    assert_eq!(independent.holds, Holds::Yes, "{text}");
    assert_eq!(stuck.holds, Holds::No, "{text}");
    assert_eq!(tuning.recommended().unwrap().identified(), Some(Identified::No));
    // Half of the forty held-out worlds, of 1,200 requests each: 24,000, of which the first try of
    // half fails. The standard error is 0.32 %.
    assert_eq!(stuck.score.worlds, 20);
    let success = stuck.score.checks[0].result.measured.unwrap();
    assert!((success - 0.5).abs() < 5.0 * 0.0033, "{success}");
    // Three tries less for half of all: 1.5, with half the standard error of that in tries: 0.01.
    let gain = stuck.gain.unwrap().value;
    assert!((gain - 1.5).abs() < 5.0 * 0.01, "{gain}");
    let second = text.lines().nth(1).expect("it stands next to the answer");
    assert!(second.starts_with("Not identified: it turns with how far failures stick"), "{text}");
    assert!(second.contains("where all stick (1), attempts_per_request -1."), "{text}");
    // The base is no better off.
    assert!(second.contains("`success >= 99%` missed, as by `base` (success "), "{text}");
}

/// Another target has luck of its own, however far failures stick: failover answers three quarters
/// at both extremes.
#[test]
fn failover_holds_at_both() {
    let targets = coin() + &lab::target("other", "constant: 100ms", "constant: 10ms", "50%");
    let one_each = "max: 2, max_same_target: 1";
    let base = base("").0.replace("max: 10, max_same_target: 10", one_each);
    let space = super::PolicySpaceOf(base)
        .varying(&["attempts.allow_failover=true,false", "backoff.after_last=true,false"]);
    let scenario = service("10s", "[coin, other]", &targets);
    let goal = (Direction::Maximize, "success");
    let (tuning, text) = found(scenario, &space, goal, &[], options(1, 4));
    for there in extremes(&tuning) {
        assert_eq!(there.holds, Holds::Yes, "{text}");
        // A quarter of 24,000 requests: a standard error of 0.28 %.
        let gain = there.gain.unwrap().value;
        assert!((gain - 0.25).abs() < 5.0 * 0.0028, "{gain}\n{text}");
    }
    assert_eq!(tuning.recommended().unwrap().identified(), Some(Identified::Yes));
    let lines: Vec<&str> = text.lines().take(3).collect();
    assert!(lines[1].starts_with("Optimism"), "{text}");
    assert!(lines[2].starts_with("At both extremes of stickiness (20 held-out worlds) it holds"));
}

/// More tries at one target answer more; where all failures stick, none of them does anything.
#[test]
fn what_is_level_at_one_extreme_is_not_clear() {
    let tries = super::PolicySpaceOf(base("").0.replace("max: 10", "max: 1"));
    let space = tries.varying(&["attempts.max=1..4"]);
    let scenario = service("10s", "[coin]", &coin());
    let goal = (Direction::Maximize, "success");
    let (tuning, text) = found(scenario, &space, goal, &[], options(1, 8));
    let [independent, stuck] = extremes(&tuning);
    assert_eq!((independent.holds, stuck.holds), (Holds::Yes, Holds::Unclear), "{text}");
    let gain = stuck.gain.unwrap();
    assert_eq!((gain.value, gain.half_width), (0.0, 0.0), "{text}");
    assert_eq!(tuning.recommended().unwrap().identified(), Some(Identified::InPart));
    let second = text.lines().nth(1).unwrap();
    assert!(second.starts_with("Not clear at every stickiness of failures"), "{text}");
    assert!(second.ends_with("where all stick (1), success identical."), "{text}");
}

#[test]
fn an_interrupt_before_that_leaves_it_unknown() {
    let space = base("").varying(&["attempts.max=1..9"]);
    let scenarios = [service("10s", "[coin]", &coin())];
    let catalogues = [Catalogue::of(&scenarios[0])];
    let conditions = ["success >= 99%".to_owned()];
    let goal =
        Goal::parse(Direction::Minimize, "attempts_per_request", &conditions, &catalogues).unwrap();
    let options = options(1, 9);
    let task = Task { scenarios: &scenarios, hold_out: &[], space: &space, goal: &goal, options };
    let whole = tune(&task, &NoObserver).unwrap();
    let before = whole.stages.iter().take_while(|stage| !stage.name.contains("stickiness"));
    let runs: u64 = before.map(|stage| stage.spent.runs).sum();
    let tuning = tune(&task, &ends_after(runs as usize)).unwrap();
    assert!(tuning.interrupted && tuning.policy() == whole.policy());
    assert_eq!(tuning.recommended().unwrap().identified(), None);
    let text = TuneReport { task: &task, tuning: &tuning, command: "windtunnel tune …" }.text();
    let second = text.lines().nth(1).unwrap();
    assert!(second.starts_with("Not known: whether it holds where failures stick"), "{text}");
    // A chart of fewer worlds would pass for one of all.
    let report = TuneReport { task: &task, tuning: &whole, command: "windtunnel tune …" };
    let over_time = |observer: &dyn Observer| report.over_time(observer).err();
    assert_eq!(over_time(&ends_after(3)), Some(ExperimentError::Interrupted));
    assert_eq!(over_time(&NoObserver), None);
}
