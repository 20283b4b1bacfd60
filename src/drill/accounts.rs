//! Drill 8: every bill is price times usage, and every sum is the sum of its parts.

use windtunnel_policy::Money;

use super::advice::{CORE, core};
use super::evidence::{Case, Evidence};
use super::finding::{Breach, Finding, Sight, each, together};
use super::rules;
use crate::record::AttemptRow;

pub(super) fn reconcile(evidence: &Evidence<'_>) -> Vec<Finding> {
    let all = || evidence.cases.iter();
    let bills = |case: &Case<'_>| {
        let wrong = case.attempts.iter().find(|row| bill(evidence, row) != pico(row.cost));
        Sight::of(wrong.map(|row| {
            let (is, should) = (pico(row.cost), bill(evidence, row));
            format!("attempt {} is billed {is} picodollars, not {should}", row.number)
        }))
    };
    let sums = |case: &Case<'_>| {
        let sum: u128 = case.attempts.iter().map(|row| pico(row.cost)).sum();
        let of_answer =
            if case.request.answered { case.answer().map(|row| row.cost) } else { None };
        let wasted = sum - of_answer.map_or(0, pico);
        let request = case.request;
        Sight::of(match (pico(request.cost) == sum, pico(request.wasted) == wasted) {
            (true, true) => None,
            (false, _) => Some(format!("costs {}, its attempts {sum}", pico(request.cost))),
            (true, false) => Some(format!("wasted {}, not {wasted}", pico(request.wasted))),
        })
    };
    vec![
        each(rules::BILLS, all(), bills, core, "no request came"),
        each(rules::SUMS, all(), sums, core, "no request came"),
        totals(evidence),
    ]
}

/// The bill, computed anew: fresh, cached and output tokens, each at its price.
fn bill(evidence: &Evidence<'_>, row: &AttemptRow) -> u128 {
    let (price, usage) = (&evidence.target(row.target).price, &row.usage);
    let fresh = u128::from(usage.input) - u128::from(usage.cached);
    u128::from(price.input) * fresh
        + u128::from(price.cached) * u128::from(usage.cached)
        + u128::from(price.output) * u128::from(usage.output)
}

fn pico(money: Money) -> u128 {
    u128::from(money.as_pico())
}

fn totals(evidence: &Evidence<'_>) -> Finding {
    let rule = rules::TOTALS;
    let mut wrong = None;
    for (id, totals) in evidence.totals.classes.iter().enumerate() {
        let measured =
            |case: &&Case<'_>| case.request.measured && usize::from(case.request.class) == id;
        let sum: u128 = evidence.cases.iter().filter(measured).map(|c| pico(c.request.cost)).sum();
        if totals.cost != sum {
            let class = &evidence.scenario.classes[id].name;
            wrong.get_or_insert(format!(
                "class `{class}`: {} in the totals, {sum} in the rows",
                totals.cost
            ));
        }
    }
    let seen = evidence.totals.classes.len() as u64;
    let breach = |what| Breach {
        broken: 1,
        seen,
        what,
        change: CORE.into(),
        attempts: Vec::new(),
        left_out: 0,
        request: None,
    };
    together(rule, seen, wrong.map(breach))
}
