//! A request's life as it is told: the same as in the ledger, beside another policy, as a trace.

#[path = "common/outputs.rs"]
mod outputs;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;
use windtunnel::explain::{Explanation, Pick, Unexplained, Worst, explain};
use windtunnel::input::SourceFile;
use windtunnel::library::load_policy;
use windtunnel::record::{AttemptRow, RequestRow, Rows, Sink};
use windtunnel::scenario::Scenario;
use windtunnel::simulation::Simulation;
use windtunnel::world::{Stickiness, World, WorldOptions};
use windtunnel_policy::Instant;
use windtunnel_policy::config::Policy;
use windtunnel_policy::event::{Action, Event, RequestRef};

const SEED: u64 = 3;

fn scenario(edit: impl Fn(&str) -> String) -> Scenario {
    let text = edit(include_str!("files/cli/small.yaml"));
    let source = SourceFile::from_bytes("small.yaml".into(), text.into()).expect("UTF-8");
    Scenario::read(source).unwrap_or_else(|error| panic!("{error}"))
}

fn small() -> Scenario {
    scenario(str::to_owned)
}

fn policy(name: &str) -> Policy {
    load_policy(name).expect("a shipped policy")
}

fn rows(scenario: &Scenario, policy: &Policy) -> Rows {
    let stickiness = Stickiness::Declared;
    let options = WorldOptions { seed: SEED, world: 0, resample: false, stickiness };
    let world = World::build(scenario, options).expect("a world");
    let mut rows = Rows::default();
    Simulation::new(scenario, policy).expect("a policy that fits").run(&world, &mut rows);
    rows
}

fn told(scenario: &Scenario, policies: &[Policy], pick: Pick) -> Explanation {
    explain(scenario, policies, pick, SEED, 0).unwrap_or_else(|error| panic!("{error:?}"))
}

#[test]
fn the_life_is_the_one_in_the_rows() {
    let (scenario, policy) = (small(), policy("conservative"));
    let rows = rows(&scenario, &policy);
    let worst = rows.requests.iter().max_by_key(|row| row.result.attempts).expect("requests");
    for request in [0, 700, worst.request] {
        let told = told(&scenario, std::slice::from_ref(&policy), Pick::Request(request));
        let life = &told.lives[0];
        let attempts: Vec<_> =
            rows.attempts.iter().filter(|row| row.request == request).copied().collect();
        assert!(!attempts.is_empty());
        assert_eq!(life.attempts, attempts);
        assert!(rows.requests.contains(&life.row));
        let text = told.text();
        for row in &life.attempts {
            let sends =
                format!("sends attempt {} to {}", row.number, life.names.target(row.target));
            assert!(text.contains(&sends), "{sends}\n{text}");
        }
        let end = format!("ends it: {}", life.row.result.outcome.name());
        assert!(text.contains(&end), "{text}");
    }
}

#[test]
fn the_worst_and_the_failed_are_found() {
    let (scenario, policy) = (small(), policy("sdk-default"));
    let rows = rows(&scenario, &policy);
    let measured: Vec<&RequestRow> = rows.requests.iter().filter(|row| row.measured).collect();
    let policies = std::slice::from_ref(&policy);
    let row = |pick: Pick| told(&scenario, policies, pick).lives[0].row;
    let took = |row: &RequestRow| row.closed.since(row.arrived);

    let slowest = row(Pick::Worst(Worst::Latency));
    assert!(measured.iter().all(|other| took(other) <= took(&slowest)));
    let dearest = row(Pick::Worst(Worst::Cost));
    assert!(measured.iter().all(|other| other.cost <= dearest.cost));
    let busiest = row(Pick::Worst(Worst::Attempts));
    assert!(measured.iter().all(|other| other.result.attempts <= busiest.result.attempts));
    let failed = row(Pick::Failed);
    let first = measured.iter().filter(|row| !row.answered).map(|row| row.request).min();
    assert_eq!((Some(failed.request), failed.answered), (first, false));
}

#[test]
fn what_is_not_there_is_said() {
    let quiet = scenario(|text| {
        let (before, _) = text.split_once("weather:").expect("its incident");
        let calm = "near: {card: plain-server}\n  far: {card: plain-server}\n";
        let (before, _) = before.split_once("near: {").expect("its targets");
        format!("{before}{calm}")
    });
    let policies = [policy("conservative")];
    let none = explain(&quiet, &policies, Pick::Failed, SEED, 0);
    assert!(matches!(none, Err(Unexplained::NoneOfThatKind)));
    let beyond = explain(&quiet, &policies, Pick::Request(1 << 40), SEED, 0);
    let Err(Unexplained::NoSuchRequest { of, .. }) = beyond else { panic!("{beyond:?}") };
    assert_eq!(of, rows(&quiet, &policies[0]).requests.len() as u64);
}

#[test]
fn users_who_wait_ask_another_question_under_another_policy() {
    let loops = scenario(|text| {
        text.replace(
            "{poisson: 3/s}",
            "{closed_loop: {users: 5, think: {exponential: {mean: 1s}}}}",
        )
    });
    let policies = [policy("single"), policy("conservative")];
    let far = explain(&loops, &policies, Pick::Worst(Worst::Latency), SEED, 0);
    assert!(matches!(far, Err(Unexplained::AnotherRequest)), "{far:?}");
    let open = told(&small(), &policies, Pick::Worst(Worst::Latency));
    assert_eq!(open.lives[0].row.arrived, open.lives[1].row.arrived);
}

/// What every gateway said, in order: the request it was about, and the changes of its breakers.
#[derive(Default)]
struct Said(Vec<(RequestRef, Event, Vec<Action>)>);

impl Sink for Said {
    fn attempt(&mut self, _: &AttemptRow) {}
    fn request(&mut self, _: &RequestRow) {}
    fn routed(&mut self, _: Instant, event: &Event, actions: &[Action]) {
        let about = match event {
            Event::Ended { attempt, .. } | Event::Failed { attempt, .. } => Some(attempt.request),
            Event::FirstOutput(attempt) => Some(attempt.request),
            _ => actions.iter().find_map(Action::request),
        };
        self.0.extend(about.map(|request| (request, *event, actions.to_vec())));
    }
}

#[test]
fn breakers_of_other_gateways_are_theirs() {
    const GATEWAYS: u32 = 2;
    let hurt = scenario(|text| text.replace("share: 33%", "share: 100%"));
    let mut policy = policy("fast-failover");
    policy.replicas.count = GATEWAYS;
    let stickiness = Stickiness::Declared;
    let options = WorldOptions { seed: SEED, world: 0, resample: false, stickiness };
    let world = World::build(&hurt, options).expect("a world");
    let mut said = Said::default();
    Simulation::new(&hurt, &policy).expect("a policy that fits").run(&world, &mut said);

    let is_change = |action: &&Action| matches!(action, Action::Breaker { .. });
    let (mut own, mut others) = (0, 0);
    for request in (600..1_200).step_by(20) {
        let comes = |event: &Event| matches!(event, Event::Arrived(r) if r.id == request);
        let from = said.0.iter().position(|(_, event, _)| comes(event)).expect("it came");
        let handle = said.0[from].0;
        let ends = |(about, _, actions): &(RequestRef, Event, Vec<Action>)| {
            *about == handle && actions.iter().any(|a| matches!(a, Action::Finish { .. }))
        };
        let length = said.0[from..].iter().position(ends).expect("it ended");
        let (mut expected, mut elsewhere) = (Vec::new(), 0);
        for (about, _, actions) in &said.0[from..=from + length] {
            let changes = actions.iter().filter(is_change).copied();
            match about.slot % GATEWAYS == handle.slot % GATEWAYS {
                true => expected.extend(changes),
                false => elsewhere += changes.count(),
            }
        }
        let told = told(&hurt, std::slice::from_ref(&policy), Pick::Request(request));
        let course = told.lives[0].course.iter().flat_map(|happening| &happening.moment.actions);
        let course: Vec<Action> = course.filter(is_change).copied().collect();
        assert_eq!(course, expected, "request {request}");
        own += expected.len();
        others += elsewhere;
    }
    assert!(own > 0 && others > 0, "{own} {others}");
}

/// The attributes of a span, by key.
fn attributes(span: &Value) -> BTreeMap<&str, &Value> {
    let list = span["attributes"].as_array().expect("attributes");
    list.iter().map(|pair| (pair["key"].as_str().expect("a key"), &pair["value"])).collect()
}

#[test]
fn a_trace_has_a_span_for_each_attempt() {
    let policies = [policy("conservative"), policy("sdk-default")];
    let told = told(&small(), &policies, Pick::Worst(Worst::Attempts));
    let trace: Value = serde_json::from_str(&told.otlp()).expect("JSON");
    let resources = trace["resourceSpans"].as_array().expect("resources");
    assert_eq!(resources.len(), 2);
    let mut traces = BTreeSet::new();
    for (resource, life) in resources.iter().zip(&told.lives) {
        let spans = resource["scopeSpans"][0]["spans"].as_array().expect("spans");
        assert_eq!(spans.len(), 1 + life.attempts.len());
        let id = |span: &Value, key: &str| span[key].as_str().unwrap_or_default().to_owned();
        let time = |span: &Value, key: &str| id(span, key).parse::<u64>().expect("nanoseconds");
        let root = &spans[0];
        assert_eq!((id(root, "traceId").len(), id(root, "spanId").len()), (32, 16));
        traces.insert(id(root, "traceId"));
        let ids: BTreeSet<String> = spans.iter().map(|span| id(span, "spanId")).collect();
        assert_eq!(ids.len(), spans.len());
        for (span, row) in spans[1..].iter().zip(&life.attempts) {
            assert_eq!(id(span, "traceId"), id(root, "traceId"));
            assert_eq!(id(span, "parentSpanId"), id(root, "spanId"));
            let (start, end) = (time(span, "startTimeUnixNano"), time(span, "endTimeUnixNano"));
            assert!(time(root, "startTimeUnixNano") <= start && start <= end);
            assert!(end <= time(root, "endTimeUnixNano"));
            assert_eq!(end - start, row.ended.since(row.sent).as_micros() * 1_000);
            let has = attributes(span);
            assert_eq!(has["gen_ai.operation.name"]["stringValue"], "chat");
            assert_eq!(has["gen_ai.request.model"]["stringValue"], "gpt-4o");
            let tokens = &has["gen_ai.usage.output_tokens"]["intValue"];
            assert_eq!(*tokens, row.usage.output.to_string());
            let error = has.get("error.type").and_then(|value| value["stringValue"].as_str());
            assert_eq!(error, row.failure.map(|class| class.name()));
            assert_eq!(span["status"]["code"], if row.failure.is_some() { 2 } else { 1 });
        }
        let decisions = root["events"].as_array().expect("events");
        assert!(decisions.iter().any(|event| event["name"] == "windtunnel.decision"));
    }
    assert_eq!(traces.len(), 2);
}

#[test]
fn json_tells_the_same() {
    let policies = [policy("conservative"), policy("sdk-default")];
    let told = told(&small(), &policies, Pick::Worst(Worst::Attempts));
    let json: Value = serde_json::from_str(&told.json()).expect("JSON");
    for (i, life) in told.lives.iter().enumerate() {
        let one = &json["policies"][i];
        assert_eq!(one["attempts"].as_array().map(Vec::len), Some(life.attempts.len()));
        assert_eq!(one["course"].as_array().map(Vec::len), Some(life.course.len()));
        assert_eq!(one["outcome"], life.row.result.outcome.name());
        assert_eq!(one["course"][0]["t_s"], 0.0);
    }
}

#[test]
fn examples_are_what_is_printed() {
    let printed = |what: &str| outputs::of_program(what).expect("an example of the program");
    assert_eq!(outputs::check("docs/explain.md", printed), 1);
    let text = fs::read_to_string("docs/explain.md").expect("the document");
    for name in ["gen_ai.provider.name", "gen_ai.usage.input_tokens", "error.type"] {
        let told = told(&small(), &[policy("single")], Pick::Failed);
        assert!(text.contains(name) && told.otlp().contains(name), "{name}");
    }
}

#[test]
fn calls_of_tools_are_told_with_what_they_wrote() {
    let scenario = Scenario::load("tools-once").expect("a drill's scenario");
    let policy = policy("naive-retry");
    let rows = rows(&scenario, &policy);
    let twice = rows.effects.iter().find(|effect| effect.writes == 2).expect("it repeats writes");
    let told = told(&scenario, std::slice::from_ref(&policy), Pick::Request(twice.action));
    let of_action = rows.effects.iter().filter(|effect| effect.action == twice.action);
    let wrote: Vec<Instant> = of_action.map(|effect| effect.called).collect();
    let calls = told.lives[0].calls.iter().filter(|call| call.writes);
    assert_eq!(calls.map(|call| call.at).collect::<Vec<_>>(), wrote);
    let text = told.text();
    let said = format!("its tool wrote {} times for one action", wrote.len());
    assert!(text.contains(&said) && text.contains("it writes again, 2 times by now"), "{text}");
    let json: Value = serde_json::from_str(&told.json()).expect("JSON");
    let calls = json["policies"][0]["tool_calls"].as_array().expect("a list");
    assert_eq!(calls.iter().filter(|call| call["writes"] == true).count(), wrote.len());
}

#[test]
fn all_times_of_a_timeline_have_the_same_digits() {
    let (scenario, policy) = (small(), policy("conservative"));
    let text = told(&scenario, &[policy], Pick::Request(700)).text();
    let times = text.lines().filter_map(|line| line.trim_start().split_once(" s  "));
    let digits: BTreeSet<usize> =
        times.filter_map(|(time, _)| Some(time.split_once('.')?.1.len())).collect();
    assert_eq!(digits, BTreeSet::from([6]), "{text}");
}
