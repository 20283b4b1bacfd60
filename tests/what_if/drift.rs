//! Answers that break their contract more often for a while are found, to the minute.

use windtunnel::report::RowFormat;
use windtunnel::scenario::When;

use crate::limits::SCENARIO;
use crate::worlds::{CARD, fitted, known, ledger, policy, written};

#[test]
fn a_drift_of_the_contract_is_recovered() {
    let drift = "[{name: drift, hits: {target: first}, when: {window: {from: 12m, lasts: 10m}}, \
                 effects: {contract_failures: 20%}}]";
    let scenario = SCENARIO.replace("LIMITS", "[]").replace("WEATHER", drift);
    let card = format!("{CARD}quality: {{source: made, contract_failures: 2%}}\n");
    let hidden = known(&[("hidden.yaml", &scenario), ("card.yaml", &card)]);
    let log = ledger(&hidden.scenario, &policy("sdk-default"), 7, 1, RowFormat::Csv);
    let (read, evidence, fit) = fitted(&log, false);
    let world = written(&fit, &evidence, hidden.folder.path());
    let text = fit.text(&read);

    // Ten minutes of six requests a second, and thirty of three to six: errors of a share of n are
    // √(p (1 − p) / n).
    let near = |found: f64, truth: f64, n: f64| {
        (found - truth).abs() <= 4.0 * (truth * (1.0 - truth) / n).sqrt()
    };
    let first = world.targets.iter().find(|t| t.name == "first").expect("the log names it");
    let ordinary = first.quality.contract_failures.as_f64();
    assert!(near(ordinary, 0.02, 6_000.0), "{ordinary}: {text}");
    let drifts =
        world.file.weather.iter().filter(|entry| entry.effects.contract_failures.is_some());
    let [drift] = &drifts.collect::<Vec<_>>()[..] else { panic!("one drift: {text}") };
    let share = drift.effects.contract_failures.expect("it is told").as_f64();
    assert!(near(share, 0.2, 3_600.0), "{share}: {text}");
    let When::Window { from, lasts } = &drift.when else { panic!("{drift:?}") };
    let minutes = [from.from, lasts.from].map(|span| span.as_micros() as f64 / 60e6);
    assert!((minutes[0] - 12.0).abs() <= 1.0 && (minutes[1] - 10.0).abs() <= 2.0, "{text}");
    assert!(text.contains("answers broke it"), "{text}");
}
