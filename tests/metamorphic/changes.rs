//! Small changes of a scenario with known consequences: prices, targets, their order.

use serde_json::{Value, json};
use windtunnel::record::{AttemptRow, Rows};
use windtunnel_policy::Money;
use windtunnel_policy::event::Decision;
use windtunnel_policy::target::TargetId;

use super::{random, run};

#[test]
fn money_is_usage_times_price_and_nothing_else() {
    let (mut billed, mut price) = (0, json!({"source": "made up"}));
    for seed in 4_000..4_060 {
        let mut case = random::case(seed);
        for class in fields(&mut case.scenario["classes"]) {
            class.as_object_mut().expect("a class").remove("max_cost");
        }
        for target in fields(&mut case.scenario["targets"]) {
            price = target["price"].take();
            (price["input_per_million"], price["output_per_million"]) = (json!("$0"), json!("$0"));
            target["price"] = price.clone();
        }
        price["input_per_million"] = json!("$2");
        price["output_per_million"] = json!("$6");
        case.scenario["targets"]["a"]["price"] = price.clone();
        let (scenario, policy) = case.load();
        let (totals, once) = run(&scenario, &policy, seed);

        // Only `a` costs anything: $2 and $6 per million are 2 and 6 millions of picodollars.
        let bill = |row: &AttemptRow| match row.target {
            TargetId(0) => {
                2_000_000 * u64::from(row.usage.input) + 6_000_000 * u64::from(row.usage.output)
            }
            _ => 0,
        };
        let bill: u64 = once.attempts.iter().map(bill).sum();
        assert_eq!(bill, cost(&once), "seed {seed}");
        let measured: u64 =
            once.requests.iter().filter(|row| row.measured).map(|row| row.cost.as_pico()).sum();
        assert_eq!(totals.overall().cost, u128::from(measured), "seed {seed}");
        let by_target: u128 = totals.targets.iter().map(|target| target.cost).sum();
        assert_eq!(by_target, u128::from(measured), "seed {seed}");

        price["input_per_million"] = json!("$4");
        price["output_per_million"] = json!("$12");
        case.scenario["targets"]["a"]["price"] = price.clone();
        let (scenario, policy) = case.load();
        let (_, twice) = run(&scenario, &policy, seed);
        assert_eq!(cost(&twice), 2 * bill, "seed {seed}");
        billed += bill;
    }
    assert!(billed > 0);
}

fn cost(rows: &Rows) -> u64 {
    rows.requests.iter().fold(Money::ZERO, |all, row| all + row.cost).as_pico()
}

#[test]
fn a_target_that_serves_nobody_changes_nothing() {
    for seed in 5_000..5_060 {
        let mut case = random::case(seed);
        let (scenario, policy) = case.load();
        let (_, without) = run(&scenario, &policy, seed);
        // Its name comes before all others, so that every target has another position.
        let mut idle = case.scenario["targets"]["a"].clone();
        (idle["account"], idle["context_tokens"]) = (json!("nobody"), json!(1));
        case.scenario["targets"]["Z"] = idle;
        let (scenario, policy) = case.load();
        assert_eq!(scenario.targets[0].name, "Z");
        let (_, with) = run(&scenario, &policy, seed);
        let after = |target: TargetId| TargetId(target.0 + 1);
        let moved = |row: &AttemptRow| {
            let mut row = AttemptRow { target: after(row.target), ..*row };
            if let Some(Decision::Recover { target, .. }) = &mut row.decision {
                *target = after(*target);
            }
            row
        };
        let want: Vec<_> = without.attempts.iter().map(moved).collect();
        assert!(want == with.attempts, "seed {seed}");
        assert!(without.requests == with.requests, "seed {seed}");

        // In a group of its own it is too small for every request. A reserve would be kept for
        // it all the same: what fits is known request by request.
        case.policy["envelope"]["reserve_for_failover"] = json!("0s");
        let (_, policy) = case.load();
        let (_, without) = run(&scenario, &policy, seed);
        for class in fields(&mut case.scenario["classes"]) {
            let groups = &mut class["groups"];
            groups["fallbacks"].as_array_mut().expect("a list").push(json!(["Z"]));
        }
        let (scenario, policy) = case.load();
        let (_, with) = run(&scenario, &policy, seed);
        let what = |row: &AttemptRow| AttemptRow { group: 0, decision: None, ..*row };
        let want: Vec<_> = without.attempts.iter().map(what).collect();
        let got: Vec<_> = with.attempts.iter().map(what).collect();
        assert!(want == got, "seed {seed}: a group of its own");
    }
}

#[test]
fn the_order_of_the_file_changes_nothing() {
    for seed in 6_000..6_020 {
        let case = random::case(seed);
        let mut turned = random::case(seed);
        for list in ["targets", "classes"] {
            let entries = turned.scenario[list].as_object().expect("a mapping").clone();
            turned.scenario[list] = Value::Object(entries.into_iter().rev().collect());
        }
        let (scenario, policy) = case.load();
        let (other, _) = turned.load();
        assert!(run(&scenario, &policy, seed) == run(&other, &policy, seed), "seed {seed}");
        assert_eq!(scenario.hash, other.hash, "seed {seed}");
    }
}

fn fields(of: &mut Value) -> impl Iterator<Item = &mut Value> {
    of.as_object_mut().expect("a mapping").values_mut()
}
