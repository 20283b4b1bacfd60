//! The example in `docs/tune.md` is what is printed, and so is the table of what pairing saves. After
//! a change, `UPDATE_DOCS=1 cargo test --test tune documents` writes them anew.

use windtunnel::experiment::{Extremes, NoObserver, NoRecorder, Options, run};
use windtunnel::library::load_policy;
use windtunnel::measures::{Catalogue, Runs};
use windtunnel::scenario::Scenario;
use windtunnel::stats::{Jackknife, jackknife};

use crate::outputs;

/// Asked for in place of a command.
const PAIRING: &str = "what pairing saves";

#[test]
fn examples_are_what_is_printed() {
    let printed = |what: &str| {
        outputs::of_program(what).unwrap_or_else(|| {
            assert_eq!(what, PAIRING);
            pairing()
        })
    };
    assert_eq!(outputs::check("docs/tune.md", printed), 2);
}

/// How much less the difference of two policies varies in the same worlds than in worlds of their
/// own: the ratio of variances, which is that of the worlds one needs.
fn pairing() -> String {
    let worlds = 40;
    let mut text = format!(
        "{:<46} {:>7} {:>13} {:>20}\n",
        format!("{worlds} worlds"),
        "success",
        "cost_per_1k",
        "added_latency_mean"
    );
    for (name, a, b) in [
        ("steady", "conservative", "fast-failover"),
        ("steady", "conservative", "hedged"),
        ("steady", "conservative", "sdk-default"),
    ] {
        let scenario = Scenario::load(name).expect("a shipped scenario");
        let policies = [a, b].map(|name| load_policy(name).expect("a shipped policy"));
        let options =
            Options { seed: 1, worlds, resample: false, extremes: Extremes::Off, threads: None };
        let found = run(&scenario, &policies, None, &options, &NoRecorder, &NoObserver);
        let found = found.expect("it runs");
        let catalogue = Catalogue::of(&scenario);
        let ratio = |measure: &str| {
            let measure = catalogue.find(measure).expect("a measure");
            let jack = |at: usize| -> Jackknife {
                let runs = Runs::overall(&found.policies[at].worlds, None);
                let sample = measure.read(&runs).sample.expect("it is modelled");
                jackknife(sample.worlds(), |world| sample.pooled(world)).expect("it has a value")
            };
            let (a, b) = (jack(0), jack(1));
            let apart = a.standard_error().powi(2) + b.standard_error().powi(2);
            let paired = b.combine(&a, |b, a| b - a).standard_error().powi(2);
            // Pairing must help at all, or the method stands on nothing.
            assert!(apart > paired, "{name}: {apart} {paired}");
            format!("{:.1}", apart / paired)
        };
        let [success, cost, latency] = ["success", "cost_per_1k", "added_latency_mean"].map(ratio);
        let pair = format!("{name}: {b} less {a}");
        text += &format!("{pair:<46} {success:>7} {cost:>13} {latency:>20}\n");
    }
    text
}
