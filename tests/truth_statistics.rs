//! The statistics of whole runs: a policy held against itself, in the same worlds and in others.

#[path = "common/lab.rs"]
mod lab;

use lab::{in_worlds, policy, scenario, target};
use windtunnel::measures::{Catalogue, Runs};
use windtunnel::record::RunTotals;
use windtunnel::scenario::Scenario;
use windtunnel::stats::{Paired, Verdict, paired};
use windtunnel::world::WorldOptions;

/// Worlds of one side of a comparison.
const WORLDS: u32 = 10;

/// A fourth of all attempts fail, and one retry meets them; some forty requests a world.
fn flaky() -> Scenario {
    let flaky = target("flaky", "constant: 100ms", "constant: 10ms", "25%");
    scenario(&format!(
        "
name: flaky
shows: a target that fails
expect: nothing in particular
horizon: 2s
classes:
  chat:
    # Short, since traffic goes on unmeasured for as long as a request may take.
    deadline: {{total: 2s}}
    groups: {{primary: [flaky]}}
    traffic:
      arrivals: {{poisson: 20/s}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
targets:
{flaky}
"
    ))
}

/// The totals of the policy with one retry in these worlds of this seed.
fn runs(scenario: &Scenario, seed: u64) -> Vec<RunTotals> {
    let once_more = policy(
        "
name: once-more
attempts: {max: 2, max_same_target: 2, allow_failover: false, allow_substitution: false}
envelope: {estimate: {enabled: false}}
backoff: {base: 0s, max: 0s, jitter: fixed}
",
    );
    let options = WorldOptions { seed, ..WorldOptions::default() };
    in_worlds(scenario, &once_more, WORLDS, options, |run| run.totals.clone())
}

/// Figures that need no histogram.
const MEASURES: [&str; 3] = ["success", "attempts_per_request", "raw_success"];

/// What they truly are where a fourth of all attempts fail and one retry meets them.
const TRUTH: [f64; 3] = [1.0 - 0.25 * 0.25, 1.25, 0.75];

/// Whether the 95 % interval of each measure holds the truth.
fn covered(runs: &Runs<'_>) -> [bool; 3] {
    let catalogue = Catalogue::new(["flaky"]);
    let mut truth = TRUTH.into_iter();
    MEASURES.map(|name| {
        let measure = catalogue.find(name).expect("a measure of this name");
        let (low, high) = measure.read(runs).estimate.ci95.expect("ten worlds give an interval");
        let truth = truth.next().expect("a truth for each");
        low <= truth && truth <= high
    })
}

/// The difference of each measure between two sets of runs.
fn differences(a: &Runs<'_>, b: &Runs<'_>) -> [Paired; 3] {
    let catalogue = Catalogue::new(["flaky"]);
    MEASURES.map(|name| {
        let measure = catalogue.find(name).expect("a measure of this name");
        let sample = |runs| measure.read(runs).sample.expect("it is modelled");
        paired(&sample(a), &sample(b))
    })
}

#[test]
fn a_policy_against_itself() {
    let scenario = flaky();
    let trials = 2_000;
    let first = runs(&scenario, 0);
    let of_first = Runs::overall(&first, None);
    for same in differences(&of_first, &of_first) {
        assert_eq!((same.difference, same.verdict), (Some(0.0), Some(Verdict::Identical)));
    }
    let (mut rejected, mut held) = ([0; 3], [0; 3]);
    for seed in (1..=trials).map(|trial| 2 * trial) {
        let (a, b) = (runs(&scenario, seed), runs(&scenario, seed + 1));
        let found = differences(&Runs::overall(&a, None), &Runs::overall(&b, None));
        for (held, covered) in held.iter_mut().zip(covered(&Runs::overall(&a, None))) {
            *held += u64::from(covered);
        }
        for (rejected, difference) in rejected.iter_mut().zip(found) {
            *rejected += u64::from(difference.verdict == Some(Verdict::Clear));
        }
    }
    // Intervals of 95 % hold the truth between 93 % and 97 % of the time: of 2,000 trials two per cent
    // are four standard errors.
    for (measure, held) in MEASURES.iter().zip(held) {
        let share = lab::share(held, trials);
        assert!((0.93..=0.97).contains(&share), "{measure}: {share}");
    }
    // In other worlds one comparison in twenty looks clear, as an interval of 95 % promises. Of
    // 2,000 trials three standard errors are 1.5 %.
    for (measure, rejected) in MEASURES.iter().zip(rejected) {
        let share = lab::share(rejected, trials);
        assert!((share - 0.05).abs() <= 0.015, "{measure}: {share}");
    }
}
