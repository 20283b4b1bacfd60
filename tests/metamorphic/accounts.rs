//! Totals against the ledger of the same run, added up here.

use std::collections::BTreeMap;

use windtunnel::record::{AttemptRow, ClassTotals, NoSink, RunTotals};
use windtunnel::simulation::Simulation;
use windtunnel_policy::event::Outcome;

use super::{random, run, world};

/// What a measured request's attempts cost, and how much of it gave no answer.
fn money(attempts: &[&AttemptRow], answered_by: Option<u16>) -> (u128, u128) {
    let cost = |row: &&&AttemptRow| u128::from(row.cost.as_pico());
    let all = attempts.iter().map(|row| cost(&row)).sum();
    let waste = attempts.iter().filter(|row| Some(row.number) != answered_by);
    (all, waste.map(|row| cost(&row)).sum())
}

#[test]
fn measured_requests_and_wasted_money_are_those_of_the_ledger() {
    let (mut outside, mut recovered_at_a_cost) = (0, 0);
    for seed in 4_800..5_300 {
        let (scenario, policy) = random::case(seed).load();
        let (totals, rows) = run(&scenario, &policy, seed);
        let world = world(&scenario, seed);
        let mut attempts: BTreeMap<u64, Vec<&AttemptRow>> = BTreeMap::new();
        for row in &rows.attempts {
            attempts.entry(row.request).or_default().push(row);
        }

        let (mut requests, mut cost, mut wasted) = (0, 0, 0);
        for row in &rows.requests {
            let inside = world.measured_from <= row.arrived && row.arrived < world.measured_to;
            outside += u64::from(!inside);
            assert!(inside || !row.measured, "seed {seed}: {row:?} is outside the window");
            if !row.measured {
                continue;
            }
            let answered_by = match row.result.outcome {
                Outcome::Answered(n) | Outcome::Refused(n) if row.answered => Some(n),
                _ => None,
            };
            let own = attempts.get(&row.request).map_or(&[][..], Vec::as_slice);
            let (all, waste) = money(own, answered_by);
            recovered_at_a_cost += u64::from(row.answered && waste > 0);
            (requests, cost, wasted) = (requests + 1, cost + all, wasted + waste);
        }
        let sum = |of: fn(&ClassTotals) -> u128| totals.classes.iter().map(of).sum::<u128>();
        let found = [sum(|c| c.requests.into()), sum(|c| c.cost), sum(|c| c.wasted)];
        assert_eq!(found, [requests, cost, wasted], "seed {seed}: requests, cost, waste");
    }
    let seen = (outside, recovered_at_a_cost);
    assert!(outside > 100 && recovered_at_a_cost > 100, "too little happened: {seen:?}");
}

#[test]
fn totals_are_the_same_where_nobody_looks_at_rows() {
    let mut less_happened = 0;
    for seed in 5_300..5_600 {
        let (scenario, policy) = random::case(seed).load();
        let (seen, _) = run(&scenario, &policy, seed);
        let mut simulation = Simulation::new(&scenario, &policy).unwrap();
        let unseen = simulation.run(&world(&scenario, seed), &mut NoSink);
        less_happened += u64::from(unseen.events < seen.events);
        // Headers, and chunks without content, that decide nothing are events only where they become rows.
        let unseen = RunTotals { events: seen.events, ..unseen };
        assert!(unseen == seen, "seed {seed}: {unseen:?}\n{seen:?}");
    }
    assert!(less_happened > 30, "headers were left out in {less_happened} runs only");
}
