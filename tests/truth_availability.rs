//! The shipped traffic and ordinary months, and outages that come again and again, through the whole
//! simulator.

#[path = "common/lab.rs"]
mod lab;
#[path = "common/theory.rs"]
mod theory;

use lab::{FAST, Run, agrees, in_worlds, scenario, service, single, target};
use windtunnel::library::{Kind, find};
use windtunnel::record::AttemptRow;
use windtunnel::scenario::Scenario;
use windtunnel::world::WorldOptions;

#[test]
fn the_azure_conversation_uses_453_thousand_tokens_a_minute() {
    let length = 3_502;
    let scenario = scenario(&format!(
        "
name: azure
shows: the shipped profile
expect: its tokens
horizon: {length}s
classes:
  chat:
    deadline: {{total: 1m}}
    groups: {{primary: [primary]}}
    traffic: {{arrivals: {{profile: {{file: azure-2023-conversation}}}}}}
targets:
{}
",
        target("primary", FAST, FAST, "0%")
    ));
    let tokens = in_worlds(&scenario, &single(), 2, WorldOptions::default(), |run| {
        let used = |row: &AttemptRow| u64::from(row.usage.input) + u64::from(row.usage.output);
        run.rows.attempts.iter().map(used).sum::<u64>()
    });
    // Lengths are dealt within minutes: the total is the trace's to the token, in every world.
    assert_eq!(tokens, [26_450_535; 2]);
    let a_minute = tokens[0] as f64 / f64::from(length) * 60.0;
    assert!((a_minute - 453e3).abs() < 500.0, "{a_minute}");
}

/// A shipped scenario with a part of its text replaced.
fn changed(name: &str, from: &str, to: &str) -> Scenario {
    let mut source = find(Kind::Scenario, name).expect("a shipped scenario");
    assert!(source.text.contains(from), "{name} has no `{from}`");
    source.text = source.text.replace(from, to);
    Scenario::read(source).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn an_ordinary_month_without_retry_answers_998_of_a_thousand() {
    // At a thirtieth of its rate, to see more months.
    let month = changed("ordinary-month", "120/h", "4/h");
    let options = WorldOptions { resample: true, ..WorldOptions::default() };
    let success = in_worlds(&month, &single(), 60, options, Run::success);
    // Γ(1 + 1/0.653) = 1.3598 for the mean gap; exp(1.17²/2) for the mean of the repair times.
    let gap = 3.94 * 24.0 * libm::tgamma(1.0 + 1.0 / 0.653);
    let lasts = 1.242 * libm::exp(1.17 * 1.17 / 2.0);
    let want = 1.0 - 0.095 * lasts / gap;
    assert!((want - 0.9982).abs() < 0.0001, "{want}");
    // Incidents that overlap are merged: they fail a little less, far below what shows.
    agrees("success", &success, want, 0.002);
}

#[test]
fn renewal_outages_take_their_share() {
    for (gap, lasts, want) in [
        // Gaps longer than any outage: up and down in turn.
        ("uniform: {from: 100s, to: 300s}", "constant: 50s", theory::availability(150.0, 50.0)),
        // Outages that overlap are one: down while any is open, as customers of M/G/∞.
        ("exponential: {mean: 200s}", "exponential: {mean: 50s}", libm::exp(-50.0 / 200.0)),
    ] {
        let weather = format!(
            "
  - name: outages
    hits: {{target: primary}}
    when: {{renewal: {{gap: {{{gap}}}, lasts: {{{lasts}}}}}}}
    effects: {{failures: {{share: 100%, mix: [{{class: server_error, status: 500, weight: 1}}]}}}}
"
        );
        let targets = target("primary", FAST, FAST, "0%");
        let scenario = service(0.5, "20000s", "{primary: [primary]}", &targets, &weather);
        let up = in_worlds(&scenario, &single(), 20, WorldOptions::default(), Run::success);
        agrees(gap, &up, want, 0.04);
    }
}
