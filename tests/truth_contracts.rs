//! Contracts, disclosed substitutes and what the application says of answers, against what can be
//! worked out by hand.

#[path = "common/lab.rs"]
mod lab;

use lab::{Run, agrees, in_worlds, policy, scenario, share, shipped};
use windtunnel::scenario::Scenario;
use windtunnel::world::WorldOptions;

/// A class whose own model fails always, and two substitutes that take a second: the answers of the
/// first, which is the cheaper, do the job every other time, those of the second always. What is said of an answer is heard
/// `after` seconds later.
fn two_substitutes(rate: f64, after: u32, more: &str) -> Scenario {
    let takes = "
    capacity: {source: assumed, slots: 1000000}
    limits: []
    prompt_cache: null
    latency:
      source: assumed
      headers: {constant: 1s}
      first_token: {constant: 1s}
      prompt_tokens: 1
      per_prompt_token: 0us
      per_output_token: {constant: 0us}
      failure: {constant: 0us}
    abort: {}";
    let fine = "{source: assumed, mix: [], stick: {request: 0%, window: 0%, free: 100%}}";
    scenario(&format!(
        "
name: substitutes
shows: two substitutes
expect: what can be worked out by hand
horizon: 10m
classes:
  chat:
    deadline: {{total: 10m}}
    substitutes: [gemini-2.5-flash, gpt-oss-120b]
    judged: {{after: {{constant: {after}s}}}}
    {more}
    groups: {{primary: [own], fallbacks: [[worse], [better]]}}
    traffic:
      arrivals: {{poisson: {rate}/s}}
      streamed: 0%
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
targets:
  own:
    card: plain-server
    failures: {{source: textbook, mix: [{{class: server_error, status: 500, share: 100%}}]}}
  worse:
    card: gemini-2-5-flash
    failures: {fine}
    quality: {{task_failures: 50%}}
    price: {{source: assumed, input_per_million: $1, output_per_million: $1}}{takes}
  better:
    card: groq-gpt-oss-120b
    failures: {fine}
    quality: {{task_failures: 0%}}
    price: {{source: assumed, input_per_million: $2, output_per_million: $2}}{takes}
"
    ))
}

fn answered_by(scenario: &Scenario, run: &Run, name: &str) -> f64 {
    let position = scenario.targets.iter().position(|target| target.name == name);
    let position = position.expect("it is there");
    run.rows.attempts.iter().filter(|row| usize::from(row.target.0) == position).count() as f64
}

#[test]
fn a_substitute_is_left_once_an_answer_of_it_was_found_wanting() {
    let (rate, after) = (2.0, 20);
    let scenario = two_substitutes(rate, after, "");
    let ranked = policy(
        "
name: ranked
attempts: {max: 3, max_same_target: 1}
envelope: {estimate: {enabled: false, prior: 1s, min_samples: 1000000}}
selection: {substitutes: ranked, health_window: 10h}
",
    );
    let worse = in_worlds(&scenario, &ranked, 200, WorldOptions::default(), |run| {
        let (worse, better) =
            (answered_by(&scenario, run, "worse"), answered_by(&scenario, run, "better"));
        assert!((worse + better - run.rows.requests.len() as f64).abs() < 0.5);
        worse
    });
    // Every other answer is bad: the first bad one is the second on average. Until it is known, a
    // second and the application's time later, all that come go the same way.
    agrees("answers of the worse", &worse, 2.0 + rate * f64::from(1 + after), 4.0);
}

#[test]
fn without_judgements_a_list_is_a_list() {
    let scenario = two_substitutes(2.0, 20, "");
    let proven = policy("{name: proven, attempts: {max: 3, max_same_target: 1}}");
    in_worlds(&scenario, &proven, 1, WorldOptions::default(), |run| {
        assert!(answered_by(&scenario, run, "better") < 0.5);
    });
}

#[test]
fn every_substitute_is_disclosed_where_the_product_wants_it() {
    let all = policy("{name: all, attempts: {max: 3, max_same_target: 1}}");
    let told = |more: &str| {
        let scenario = two_substitutes(2.0, 20, more);
        let counted = in_worlds(&scenario, &all, 1, WorldOptions::default(), |run| {
            let all = run.totals.overall();
            [all.requests, all.substituted, all.disclosed, all.silent_substitutions]
        });
        counted[0]
    };
    let [requests, substituted, disclosed, silent] = told("needs: {disclose_substitutes: true}");
    assert_eq!([substituted, disclosed, silent], [requests, requests, 0]);
    let [requests, substituted, disclosed, silent] = told("");
    assert_eq!([substituted, disclosed, silent], [requests, 0, 0]);
}

#[test]
fn the_shipped_contracts() {
    let scenario = Scenario::load("contracts").expect("a shipped scenario");
    let of = |name: &str| {
        in_worlds(&scenario, &shipped(name), 10, WorldOptions::default(), |run| {
            for barred in ["gemini", "mini"] {
                assert!(answered_by(&scenario, run, barred) < 0.5, "{barred}");
            }
            let all = run.totals.overall();
            assert_eq!((all.disclosed, all.silent_substitutions), (all.substituted, 0));
            let undone = all.contract_success - all.task_success - all.refused;
            (share(all.substituted, all.requests), share(undone, all.requests))
        })
    };
    let (listed, ranked) = (of("conservative"), of("task-ranked"));
    let mean = |runs: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| {
        runs.iter().map(of).sum::<f64>() / runs.len() as f64
    };
    // Twenty of sixty minutes, and what fails of itself in the others.
    for runs in [&listed, &ranked] {
        let substituted = mean(runs, |run| run.0);
        assert!((0.333..0.37).contains(&substituted), "{substituted}");
    }
    let (listed, ranked) = (mean(&listed, |run| run.1), mean(&ranked, |run| run.1));
    assert!(listed - ranked > 0.07, "{listed} against {ranked}");
}
