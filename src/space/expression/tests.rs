use serde_json::Value;
use windtunnel_policy::config::Policy;

use super::super::document::{document, variant};
use super::super::path::FieldPath;
use super::super::schema_walk;
use super::Expression;
use crate::library::{Kind, list, load_policy};

fn conservative() -> Policy {
    load_policy("conservative").unwrap()
}

fn holds(text: &str) -> Result<bool, String> {
    Expression::parse(text)?.holds(&document(&conservative()))
}

/// conservative: attempts.max 3, first_token 8 s, backoff 250 ms to 8 s, ordered, no hedge, no
/// deadline of its own, budget share 20 %.
#[test]
fn conditions_hold_or_do_not() {
    for (text, wanted) in [
        ("attempts.max == 3", true),
        ("attempts.max - 1 >= attempts.max_same_target", true),
        ("timeouts.first_token * attempts.max <= 24s", true),
        ("timeouts.first_token * attempts.max < 24s", false),
        ("2 + 3 * 4 == 14", true),
        ("(2 + 3) * 4 == 20", true),
        ("10 - 3 - 2 == 5", true),
        ("backoff.max / backoff.base == 32", true),
        ("1m == 60s and 1s == 1000ms", true),
        ("selection.strategy == 'ordered'", true),
        ("selection.strategy == 'weighted' or attempts.allow_retry", true),
        ("not attempts.allow_retry", false),
        ("not attempts.max == 2", true),
        ("hedge == none", true),
        ("backoff != none and retry_budgets != none", true),
        ("hedge != none and attempts.max == 3", false),
        ("retry_budgets[0].kind.ratio.share <= 20%", true),
        ("retry_budgets[0].kind.ratio.share > 0.2", false),
        ("retry_budgets[0].kind == 'ratio'", true),
        ("breakers[0].trip[0] == \"rate_over_time\"", true),
        // No limit limits nothing.
        ("timeouts.first_token * 100 <= envelope.deadline_total", true),
        ("envelope.deadline_total == none", true),
        ("hedge.at_least >= 1s", true),
    ] {
        assert_eq!(holds(text), Ok(wanted), "{text}");
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    for (text, wanted) in [
        ("attempts.max", "expected a comparison, found a number"),
        ("attempts.max <= 3s", "`<=` does not go between a number and a duration"),
        ("backoff.base * backoff.max <= 3s", "`*` does not go between a duration and a duration"),
        ("attempts.max / 0 == 1", "divides by zero"),
        (
            "backoff == attempts",
            "`==` does not go between a part of the policy and a part of the policy",
        ),
        ("attempts.max and true", "`and` takes a comparison, found a number"),
        ("attempts.max == ", "the condition ends too early"),
        ("(attempts.max == 3", "the condition ends too early"),
        ("attempts.max == 3 3", "`3` is not expected here"),
        ("attempts.max = 3", "`=` has no meaning in a condition"),
        ("'x", "a quotation mark is not closed"),
        ("== 3", "expected a field or a figure, found `==`"),
    ] {
        assert_eq!(holds(text), Err(wanted.into()), "{text}");
    }
    let unknown = holds("attempts.maxx == 3").unwrap_err();
    assert!(unknown.contains("did you mean `attempts.max`?"), "{unknown}");
    let deep = format!("{}1{}", "(".repeat(100), ")".repeat(100));
    assert!(holds(&deep).unwrap_err().contains("nested deeper"));
}

/// So many terms that a walk of their tree would need more stack than there is.
#[test]
fn long_conditions_are_refused() {
    let terms = |count: usize| vec!["attempts.max < 9"; count].join(" and ");
    let chain = |count: usize| format!("1{} < 2", " - 1".repeat(count));
    // 100 comparisons joined by 99 `and`, and 199 minuses with one comparison.
    assert_eq!(holds(&terms(100)), Ok(true));
    assert_eq!(holds(&chain(199)), Ok(true));
    for (text, wanted) in [
        (terms(101), "has more than 200 operators; write a shorter one"),
        (chain(200), "has more than 200 operators; write a shorter one"),
        (terms(5_000), "has more than 4000 characters; write a shorter one"),
        (chain(90_000), "has more than 4000 characters; write a shorter one"),
    ] {
        let told = holds(&text).unwrap_err();
        assert!(told.starts_with(wanted), "{told}");
    }
}

#[test]
fn names_that_a_field_never_has_are_refused() {
    for (text, wanted) in [
        (
            "selection.strategy == 'orderd'",
            "`selection.strategy` is never `orderd`; did you mean `ordered`?",
        ),
        (
            "'retry_then_failver' != attempts.order",
            "`attempts.order` is never `retry_then_failver`; did you mean `retry_then_failover`?",
        ),
        (
            "retry_budgets[0].kind == 'ratioo'",
            "`retry_budgets[0].kind` is never `ratioo`; did you mean `ratio`?",
        ),
    ] {
        assert_eq!(holds(text), Err(wanted.into()), "{text}");
    }
}

/// What shipped policies hold is what conditions may ask for.
#[test]
fn every_name_in_a_shipped_policy_is_one_its_field_can_have() {
    let mut choices = 0;
    for shipped in list(Kind::Policy) {
        let policy = load_policy(&shipped.name).unwrap();
        check("", &document(&policy), &mut choices);
    }
    assert!(choices > 50, "{choices} choices among names were seen");
}

fn check(path: &str, value: &Value, choices: &mut usize) {
    if let (Ok(field), Some(name)) = (FieldPath::parse(path), variant(value))
        && let Some(names) = schema_walk::names(&field)
    {
        *choices += 1;
        assert!(names.contains(&name), "{path} is {name}, not one of {names:?}");
    }
    match value {
        Value::Array(all) => {
            for (index, below) in all.iter().enumerate() {
                check(&format!("{path}[{index}]"), below, choices);
            }
        }
        Value::Object(all) => {
            for (key, below) in all {
                let dot = if path.is_empty() { "" } else { "." };
                check(&format!("{path}{dot}{key}"), below, choices);
            }
        }
        _ => {}
    }
}
