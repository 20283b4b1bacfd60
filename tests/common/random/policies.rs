//! Policies at random, as the text of files.

use serde_json::{Value, json};

use super::dice::{Dice, without_nulls};

pub(crate) fn policy(dice: &mut Dice) -> Value {
    let attempts = 1 + dice.below(5);
    let breakers: Vec<Value> = (0..dice.below(3)).map(|_| breaker(dice)).collect();
    let budgets: Vec<Value> = (0..dice.below(3)).map(|_| budget(dice)).collect();
    without_nulls(json!({
        "name": "random",
        "attempts": {
            "max": attempts,
            "max_same_target": 1 + dice.below(3),
            "scope": dice.pick(&["request", "group", "target"]),
            "order": dice.pick(&[
                "retry_then_failover", "failover_then_retry", "walk_then_retry", "free_pick",
            ]),
            "repick_failed": dice.one_in(3),
            "allow_retry": !dice.one_in(5),
            "allow_failover": !dice.one_in(5),
        },
        "envelope": without_nulls(json!({
            "deadline_total": dice.maybe(&["3s", "5s"]),
            "deadline_first_output": dice.maybe(&["2s"]),
            "max_added_latency": dice.maybe(&["1s"]),
            "reserve_for_failover": dice.pick(&["0s", "500ms"]),
            "min_useful": dice.pick(&["0s", "100ms"]),
            "safety_margin": dice.pick(&["0s", "50ms"]),
            "estimate": {"enabled": dice.one_in(3), "min_samples": 3, "prior": "200ms"},
        })),
        "timeouts": without_nulls(json!({
            "attempt": dice.maybe(&["800ms", "1500ms"]),
            "first_token": dice.maybe(&["150ms", "400ms"]),
            "idle_stream": dice.maybe(&["40ms", "120ms", "500ms"]),
            "first_token_means": dice.pick(&["output", "headers", "chunk"]),
            "total_covers": dice.pick(&["everything", "attempts_only"]),
        })),
        "classes": if dice.one_in(3) { json!({"batch": class_rule(dice)}) } else { json!({}) },
        "backoff": {
            "base": dice.pick(&["0ms", "50ms", "100ms", "300ms"]),
            "max": "2s",
            "jitter": dice.pick(&[
                json!("fixed"), json!("exponential"), json!("full"), json!("equal"),
                json!("decorrelated"), json!("linear"), json!({"proportional": "30%"}),
                json!({"added": "40ms"}),
            ]),
            "factor_percent": dice.pick(&[200, 200, 150]),
            "before_failover": dice.one_in(3),
            "after_last": dice.one_in(4),
        },
        "retry_after": without_nulls(json!({
            "mode": dice.pick(&[
                json!("ignore"), json!("honour"), json!("at_least"), json!({"cap_at": "200ms"}),
            ]),
            "longest_wait": dice.maybe(&["400ms", "2s"]),
            "too_long": dice.pick(&["fail_over", "stop", "backoff"]),
            "source": dice.pick(&["latest", "first"]),
            "jitter": dice.percent(&[0, 0, 50]),
        })),
        "breakers": breakers,
        "cooldown": {
            "rule": dice.pick(&[
                json!("none"), json!("retry_after"), json!({"retry_after_or": "500ms"}),
                json!({"fixed": "1s"}),
            ]),
            "max": "2s",
            "recooling": dice.pick(&["keep_first", "extend", "maximum"]),
            "exempt_single": dice.one_in(4),
        },
        "matrix": {"server_error": {"retry": dice.pick(&[json!("bounded"), json!({"up_to": 1})])}},
        "isolation": {"target_for": "2s", "account_for": "3s"},
        "all_unavailable": dice.pick(&["fail", "wait_for_earliest", "fail_open"]),
        "retry_budgets": budgets,
        "selection": {
            "strategy": dice.pick(&[
                "ordered", "weighted", "round_robin", "least_in_flight", "lowest_latency",
                "cheapest", "two_choices", "health_score",
            ]),
            "substitutes": dice.pick(&["listed", "proven", "ranked"]),
            "sticky": dice.pick(&["no", "session"]),
            "panic_threshold": dice.percent(&[100, 100, 50]),
        },
        "streaming": dice.pick(&[
            "pass_through", "pass_through", "at_headers", "at_first_chunk", "buffer_then_release",
        ]),
        "outlier": if dice.one_in(3) {
            json!({"interval": "1s", "min_calls": 3, "eject_for": "2s"})
        } else {
            Value::Null
        },
        "hedge": if attempts > 1 && dice.one_in(2) { hedge(dice) } else { Value::Null },
    }))
}

fn class_rule(dice: &mut Dice) -> Value {
    without_nulls(json!({
        "max": dice.pick(&[Value::Null, json!(1), json!(4)]),
        "max_same_target": dice.pick(&[Value::Null, json!(1), json!(3)]),
        "allow_failover": dice.pick(&[Value::Null, json!(true), json!(false)]),
        "deadline_total": dice.maybe(&["3s", "6s"]),
        "max_added_latency": dice.maybe(&["500ms", "2s"]),
        "min_useful": dice.maybe(&["200ms"]),
    }))
}

fn hedge(dice: &mut Dice) -> Value {
    json!({
        "after_quantile": dice.percent(&[50, 90]),
        "at_least": dice.pick(&["0s", "50ms", "200ms"]),
        "prior": dice.pick(&["100ms", "400ms"]),
    })
}

fn breaker(dice: &mut Dice) -> Value {
    without_nulls(json!({
        "key": dice.pick(&[json!(["deployment"]), json!(["provider", "model"]), json!(["account"])]),
        "trip": [dice.pick(&[
            json!({"consecutive": 2}),
            json!({"rate_over_count": {"failures": "50%", "last": 6, "min_calls": 3}}),
            json!({"rate_over_time": {"failures": "40%", "window": "2s", "min_calls": 3}}),
            json!({"rate_over_tumbling": {"failures": "40%", "window": "2s", "min_calls": 3}}),
            json!({"count_over_tumbling": {"failures": 2, "window": "2s"}}),
            json!({"slow_calls": {
                "share": "50%", "slower_than": "300ms", "window": "2s", "min_calls": 3,
            }}),
        ])],
        "open_for": dice.pick(&["300ms", "1s"]),
        "growth": {"percent": dice.pick(&[100, 200]), "max": "4s"},
        "open_jitter": dice.percent(&[0, 20]),
        "after_open": dice.pick(&["half_open", "half_open", "close"]),
        "probes": {"concurrent": 1 + dice.below(2), "successes": 1 + dice.below(3)},
        "ramp": if dice.one_in(2) { json!({"over": "2s", "from": "10%"}) } else { Value::Null },
        "leaves_over": dice.maybe(&["200ms"]),
        "recooling": dice.pick(&["keep_first", "extend", "maximum"]),
        "count_recovery": dice.one_in(2),
        "exempt_single": dice.one_in(4),
    }))
}

fn budget(dice: &mut Dice) -> Value {
    json!({
        "governs": dice.pick(&[
            json!(["retry"]), json!(["failover", "substitution"]),
            json!(["retry", "failover", "substitution"]), json!(["hedge"]),
        ]),
        "charged_to": dice.pick(&["failing_target", "destination", "overall"]),
        "kind": dice.pick(&[
            json!({"token_bucket": {"capacity": 3, "per_request": "10%", "per_second": 0}}),
            json!({"ratio": {"share": "20%", "window": "2s", "min_per_second": 1}}),
            json!({"in_flight": {"max": 2}}),
            json!({"rate": {"per_second": 2}}),
        ]),
    })
}
