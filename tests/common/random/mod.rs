//! Small scenarios and policies at random, as the text of files: what fails can be run by hand.
//!
//! Times are round and often equal, so that much happens at the same microsecond.

mod dice;
mod policies;

use serde_json::{Value, json};
use windtunnel::input::SourceFile;
use windtunnel::library::read_policy;
use windtunnel::scenario::Scenario;
use windtunnel_policy::config::Policy;

use dice::{Dice, without_nulls};
use policies::policy;

/// A scenario and a policy.
pub(crate) struct Case {
    pub(crate) scenario: Value,
    pub(crate) policy: Value,
}

impl Case {
    /// Both as loaded.
    ///
    /// # Panics
    /// The files hold a mistake.
    pub(crate) fn load(&self) -> (Scenario, Policy) {
        let file = |text: &Value| SourceFile {
            name: "random.yaml".into(),
            text: format!("{text:#}"),
            folder: None,
        };
        let scenario = Scenario::read(file(&self.scenario));
        let policy = read_policy(&file(&self.policy));
        (
            scenario.unwrap_or_else(|error| panic!("{error}\n{:#}", self.scenario)),
            policy.unwrap_or_else(|error| panic!("{error}\n{:#}", self.policy)),
        )
    }
}

/// Shipped cards: what they run, and as what model. All figures that matter are replaced.
const CARDS: [(&str, &str); 4] = [
    ("openai-gpt-4o", "gpt-4o"),
    ("azure-gpt-4o-eastus", "gpt-4o"),
    ("openai-gpt-4-1", "gpt-4.1"),
    ("plain-server", "plain"),
];

pub(crate) fn case(seed: u64) -> Case {
    let dice = &mut Dice(seed);
    let names = &["a", "b", "c", "d"][..2 + dice.below(3) as usize];
    let limits: Vec<Value> = (0..3).map(|i| limit(dice, i)).collect();
    let mut targets = serde_json::Map::new();
    let mut models: Vec<&str> = Vec::new();
    let shared_card = dice.pick(&CARDS);
    for name in names {
        let (card, model) = if dice.one_in(2) { shared_card } else { dice.pick(&CARDS) };
        models.push(model);
        targets.insert((*name).into(), target(dice, card, &limits));
    }
    // Weather over the main account hits somebody.
    targets["a"]["account"] = "main".into();
    let mut classes = serde_json::Map::new();
    let deadline = dice.pick(&["1s", "2s", "4s", "8s"]);
    for class in &["chat", "batch"][..1 + dice.below(2) as usize] {
        classes.insert((*class).into(), self::class(dice, names, &models, deadline));
    }
    let entries = dice.below(4);
    let weather: Vec<Value> = (0..entries).map(|i| weather(dice, i, names)).collect();
    let scenario = json!({
        "name": "random",
        "shows": "whatever comes",
        "expect": "two simulators agree",
        "warm_up": dice.pick(&["0s", "1s", "3s"]),
        "horizon": "8s",
        "interval": "1s",
        "classes": classes,
        "targets": targets,
        "gateway": without_nulls(json!({
            "connections": if dice.one_in(3) { json!(2 + dice.below(8)) } else { Value::Null },
            "connections_per_target": if dice.one_in(4) { json!(1 + dice.below(4)) } else { Value::Null },
        })),
        "weather": weather,
        "stick": stick(dice),
        "background": without_nulls(json!({
            "surge": if dice.one_in(2) { json!(1.5) } else { Value::Null }, "from_share": "10%",
        })),
    });
    Case { scenario, policy: policy(dice) }
}

fn class(dice: &mut Dice, names: &[&str], models: &[&str], deadline: &str) -> Value {
    let mut left: Vec<&str> = names.to_vec();
    if dice.one_in(2) {
        left.reverse();
    }
    let first = 1 + dice.below(left.len() as u64) as usize;
    let rest = left.split_off(first);
    let (mut fallbacks, mut cheaper, mut larger) = (Vec::new(), Vec::new(), Vec::new());
    for name in rest {
        match dice.below(4) {
            0 => cheaper.push(name),
            1 => larger.push(name),
            _ => fallbacks.push(json!([name])),
        }
    }
    without_nulls(json!({
        "deadline": without_nulls(json!({
            "total": deadline, "first_output": dice.maybe(&["500ms", "1s"]),
        })),
        "side_effects": dice.pick(&["none", "none", "read_only", "write_possible"]),
        "substitutes": if dice.one_in(3) { json!([]) } else { json!([dice.pick(models)]) },
        "max_cost": dice.maybe(&["$0.001", "$0.01"]),
        "groups": {"primary": left, "fallbacks": fallbacks, "cheaper": cheaper, "larger_window": larger},
        "traffic": without_nulls(json!({
            "arrivals": arrivals(dice),
            "tokens": {
                "input": tokens(dice, &[10, 100, 400]),
                "output": tokens(dice, &[1, 5, 30]),
                "max_output": 20 + dice.below(40),
            },
            "streamed": dice.percent(&[0, 50, 100, 100]),
            "patience": match dice.below(3) {
                0 => time(dice, &[300, 1_000, 3_000]),
                _ => Value::Null,
            },
            "invalid": dice.percent(&[0, 0, 10]),
            "refusals": dice.percent(&[0, 0, 15]),
            "content_policy": dice.percent(&[0, 0, 10]),
            "caller_cancels": dice.percent(&[0, 0, 15]),
            "cancels_after": time(dice, &[200, 700]),
        })),
    }))
}

fn arrivals(dice: &mut Dice) -> Value {
    match dice.below(6) {
        0 | 1 => json!({"poisson": dice.pick(&["3/s", "5/s", "8/s"])}),
        2 => json!({"gamma": {"rate": "4/s", "cv": 2.5}}),
        3 => json!({"on_off": {"rate": "12/s", "on": "1s", "off": "1s"}}),
        // Users that think equally long ask at the same microsecond.
        _ => json!({"closed_loop": {
            "users": 2 + dice.below(5), "think": time(dice, &[200, 500, 1_000]),
        }}),
    }
}

fn target(dice: &mut Dice, card: &str, limits: &[Value]) -> Value {
    let first = dice.pick(&[50, 100, 300]);
    let chosen: Vec<Value> = limits.iter().filter(|_| dice.one_in(3)).cloned().collect();
    let kinds: Vec<Value> = (0..dice.below(4)).map(|_| failure(dice, "share")).collect();
    without_nulls(json!({
        "card": card,
        "region": dice.pick(&["east", "west"]),
        "account": dice.pick(&["main", "main", "other"]),
        "weight": 1 + dice.below(3),
        "failover_in_flight": if dice.one_in(4) { json!(1 + dice.below(3)) } else { Value::Null },
        "price": {
            "source": "made up",
            "input_per_million": dice.pick(&["$1", "$2.5"]),
            "output_per_million": dice.pick(&["$4", "$10"]),
            "failed": dice.pick(&["nothing", "consumed", "full"]),
            "cancelled": dice.pick(&["nothing", "consumed", "full"]),
        },
        "latency": without_nulls(json!({
            "source": "made up",
            "headers": time(dice, &[first / 2, first]),
            "chunk_after_headers": match dice.one_in(2) {
                true => time(dice, &[0, 10, 40]),
                false => Value::Null,
            },
            "first_token": {"constant": format!("{first}ms")},
            "prompt_tokens": 100,
            "per_prompt_token": dice.pick(&["0us", "0us", "200us"]),
            "per_output_token": time(dice, &[0, 10, 50]),
            "failure": time(dice, &[0, 20, 100]),
        })),
        "capacity": {
            "source": "made up",
            "slots": 1 + dice.below(6),
            "queue": dice.pick(&[0, 1, 3, 10]),
            "shed_status": dice.pick(&[503, 529]),
            "speed_by_load": match dice.below(3) {
                0 => json!("flat"),
                1 => json!({"half_at": 1 + dice.below(6)}),
                _ => json!({"table": [[0, "100%"], [2, "60%"], [4, "33%"]]}),
            },
            "background_slots": dice.below(2),
            "drops_late": dice.one_in(3),
        },
        "limits": chosen,
        "failures": without_nulls(json!({
            "source": "made up",
            "mix": kinds,
            "broken_streams": dice.percent(&[0, 0, 20]),
            "stalled_streams": dice.percent(&[0, 0, 20]),
            "stick": if dice.one_in(3) { stick(dice) } else { Value::Null },
        })),
        "quality": {
            "source": "made up",
            "contract_failures": dice.percent(&[0, 0, 20]),
            "silent": dice.percent(&[0, 50]),
            "task_failures": dice.percent(&[0, 10]),
            "truncated": dice.percent(&[0, 0, 15]),
        },
        "abort": {
            "source": "made up",
            "streamed": dice.pick(&["stops", "runs_on"]),
            "whole": dice.pick(&["stops", "runs_on"]),
        },
        "context_tokens": dice.pick(&[300, 100_000, 100_000]),
    }))
}

/// A kind of failure with a share or a weight of its own.
fn failure(dice: &mut Dice, measure: &str) -> Value {
    let mut kind = dice.pick(&[
        json!({"class": "server_error", "status": 500}),
        json!({"class": "server_error", "status": 200, "phase": "before_output"}),
        json!({"class": "server_error", "status": 200, "phase": "after_output"}),
        json!({"class": "overloaded", "status": 529}),
        json!({"class": "overloaded", "status": 503, "retry_after": "300ms"}),
        json!({"class": "rate_limited", "status": 429, "retry_after": "500ms"}),
        json!({"class": "rate_limited", "status": 429}),
        json!({"class": "transport", "status": 0}),
        json!({"class": "timeout", "status": 408}),
        json!({"class": "partial_stream", "status": 0, "phase": "after_output"}),
        json!({"class": "upstream_auth", "status": 401}),
        json!({"class": "target_missing", "status": 404}),
        json!({"class": "quota_exhausted", "status": 429}),
        json!({"class": "unknown", "status": 418}),
        json!({"class": "timeout", "status": 0, "hang": true}),
    ]);
    kind[measure] = match measure {
        "share" => dice.percent(&[4, 10, 25]),
        _ => json!(1 + dice.below(3)),
    };
    kind
}

/// The `i`th limit; units differ, because one unit and scope is one limit.
fn limit(dice: &mut Dice, i: u64) -> Value {
    let tokens = ["input_tokens", "output_tokens", "total_tokens"];
    let (unit, most, settlement) = match i {
        0 => (dice.pick(&["requests", "day_quota"]), 3 + dice.below(10), json!("none")),
        1 => ("concurrency", 1 + dice.below(4), json!("none")),
        _ => {
            let settlement = [json!("none"), json!("actual"), json!({"output_times": 5})];
            (dice.pick(&tokens), 100 + 100 * dice.below(20), dice.pick(&settlement))
        }
    };
    json!({
        "scope": dice.pick(&["account", "model", "region", "deployment"]),
        "unit": unit,
        "limit": most,
        "window": dice.pick(&["1s", "3s", "10s"]),
        "refill": dice.pick(&["continuous", "window"]),
        "charge": dice.pick(&["prompt", "prompt_and_max"]),
        "settlement": settlement,
        "retry_after": dice.pick(&[
            json!("exact"), json!("exact"), json!("whole_seconds"), json!("none"),
            json!({"fixed": "300ms"}),
        ]),
        "charge_refused": dice.one_in(2),
        "background": dice.percent(&[0, 0, 30]),
    })
}

fn weather(dice: &mut Dice, i: u64, names: &[&str]) -> Value {
    let hits = match dice.below(3) {
        0 => json!({"account": "main"}),
        _ => json!({"target": dice.pick(names)}),
    };
    let (from, lasts) = (dice.pick(&["500ms", "1s", "2s"]), dice.pick(&["1s", "2s", "30s"]));
    let when = match dice.below(4) {
        0 => json!("always"),
        1 => json!({"flapping": {"from": from, "lasts": lasts, "bad": "500ms", "good": "500ms"}}),
        _ => json!({"window": {"from": from, "lasts": lasts}}),
    };
    let mut effects = serde_json::Map::new();
    for _ in 0..1 + dice.below(3) {
        let (name, effect) = match dice.below(10) {
            0 | 1 => (
                "failures",
                without_nulls(json!({
                    "share": dice.percent(&[20, 60, 100]),
                    "mix": [failure(dice, "weight"), failure(dice, "weight")],
                    "stick": if dice.one_in(2) { stick(dice) } else { Value::Null },
                })),
            ),
            2 => ("speed", dice.pick(&[json!(0.3), json!(0.9), json!(2.0)])),
            3 => ("slow_share", json!({"share": "40%", "factor": 3.3})),
            4 => ("capacity", dice.percent(&[0, 30, 60])),
            5 => ("limits", dice.percent(&[10, 50])),
            6 => ("contract_failures", json!("30%")),
            7 => ("broken_streams", json!("30%")),
            8 => ("background", json!(2.0)),
            _ => ("cut", json!({"share": dice.percent(&[50, 100])})),
        };
        effects.insert(name.into(), effect);
    }
    json!({"name": format!("bad-{i}"), "hits": hits, "when": when, "effects": effects})
}

fn stick(dice: &mut Dice) -> Value {
    dice.pick(&[
        json!({"request": "50%", "window": "25%", "free": "25%", "window_length": "1s"}),
        json!({"request": "0%", "window": "0%", "free": "100%"}),
        json!({"request": "0%", "window": "100%", "free": "0%", "window_length": "2s"}),
    ])
}

/// A time in milliseconds, constant or not.
fn time(dice: &mut Dice, of: &[u64]) -> Value {
    let ms = dice.pick(of);
    match dice.below(4) {
        0 if ms > 0 => json!({"uniform": {"from": "0ms", "to": format!("{ms}ms")}}),
        1 if ms > 0 && of.contains(&300) => json!({"exponential": {"mean": format!("{ms}ms")}}),
        _ => json!({"constant": format!("{ms}ms")}),
    }
}

fn tokens(dice: &mut Dice, of: &[u64]) -> Value {
    let n = dice.pick(of);
    match dice.one_in(2) {
        true => json!({"uniform": {"from": 1, "to": n + 1}}),
        false => json!({"constant": n}),
    }
}
