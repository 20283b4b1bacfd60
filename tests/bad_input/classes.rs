//! What stands around route classes: layers, tools, caches, operators, tenants.

use super::{C, P, Row, S, table};

#[test]
#[rustfmt::skip]
fn layers_that_cannot_be() {
    const CLASS: &str = "    deadline:";
    let outer = |with: &str| format!("    sdk: {with}\n{CLASS}");
    const TARGET: &str = "    region: south";
    let proxy = |with: &str| format!("    upstream_proxy: {with}\n{TARGET}");
    let rows = [
        (CLASS, outer("{attempts: 0}"), "classes.chat.sdk.attempts: 0 is below the least, 1"),
        (CLASS, outer("{attempts: 17}"), "classes.chat.sdk.attempts: 17 is above the most, 16"),
        (CLASS, outer("{attempst: 2}"), "classes.chat.sdk.attempst: unknown field; did you mean `attempts`?"),
        (CLASS, outer("{repeats: [503, 200]}"), "classes.chat.sdk.repeats[1]: expected a failure's status, found 200"),
        (CLASS, outer("{repeats: [0]}"), "classes.chat.sdk.repeats[0]: expected a failure's status, found 0"),
        (CLASS, outer("{timeout: 0s}"), "classes.chat.sdk.timeout: is zero; leave it out"),
        (CLASS, outer("{backoff: {base: 9s}}"), "classes.chat.sdk.backoff.base: is longer than backoff.max"),
        (CLASS, outer("{backoff: {after_last: true}}"), "classes.chat.sdk.backoff.after_last: is a gateway's alone"),
        (CLASS, outer("{retry_after: {source: first}}"), "classes.chat.sdk.retry_after.source: is a gateway's alone"),
        (CLASS, outer("{retry_after: {mode: {cap_at: 0s}}}"), "classes.chat.sdk.retry_after.mode: cuts every hint to nothing"),
        (CLASS, format!("    retries: {{}}\n{CLASS}"), "classes.chat.retries: says nothing; add `owner` or `attempts`"),
        (CLASS, format!("    retries: {{owner: sdk}}\n{CLASS}"), "classes.chat.retries.owner: `sdk` is not there; add `sdk: {}` to the class"),
        (CLASS, format!("    retries: {{owner: upstream_proxy}}\n{CLASS}"), "classes.chat.retries.owner: `upstream_proxy` is not there; add `upstream_proxy: {}` to a target"),
        (CLASS, format!("    retries: {{owner: gatway}}\n{CLASS}"), "classes.chat.retries.owner: unknown value `gatway`; did you mean `gateway`?"),
        (CLASS, format!("    retries: {{attempts: 0}}\n{CLASS}"), "classes.chat.retries.attempts: must be at least 1"),
        (TARGET, proxy("{attempts: 40}"), "targets.south.upstream_proxy.attempts: 40 is above the most, 16"),
        (TARGET, proxy("{repeats: [302]}"), "targets.south.upstream_proxy.repeats[0]: expected a failure's status, found 302"),
        (TARGET, proxy("{backoff: {before_failover: true}}"), "upstream_proxy.backoff.before_failover: is a gateway's alone"),
    ];
    let mut rows: Vec<Row> = rows.iter().map(|(old, new, holds)| (S, *old, new.as_str(), *holds)).collect();
    rows.push((C, "capacity:", "upstream_proxy: {attempts: 0}\ncapacity:", "upstream_proxy.attempts: 0 is below the least, 1"));
    table(&rows);
}

#[test]
#[rustfmt::skip]
fn tools_that_cannot_be() {
    const CLASS: &str = "    deadline:";
    const LOOK: &str = "reconciliation: {takes: {constant: 1s}}";
    let tool = |mode: &str, with: &str| {
        format!("    side_effects: {mode}\n    tools: {{takes: {{constant: 1s}}, {with}}}\n{CLASS}")
    };
    let rows = [
        (tool("read_only", LOOK), "classes.chat.tools: are tools that write, in a class that does not; add `side_effects: write_possible`"),
        (tool("write_possible", ""), "classes.chat.tools.reconciliation: is missing; add"),
        (tool("write_possible", &format!("calls: 0%, {LOOK}")), "classes.chat.tools.calls: is zero; leave the tool out"),
        (tool("write_possible", &format!("at: 120%, {LOOK}")), "classes.chat.tools.at: "),
        (tool("write_possible", &format!("deduplicate: 50%, {LOOK}")), "classes.chat.tools.deduplicate: unknown field; did you mean `deduplicates`?"),
        (tool("write_possible", "reconciliation: {takes: {constant: 0s}}"), "classes.chat.tools.reconciliation.takes: the mean is below 1ms"),
        (tool("write_possible", "reconciliation: {takes: {uniform: {from: 2s, to: 1s}}}"), "classes.chat.tools.reconciliation.takes"),
    ];
    let rows: Vec<Row> = rows.iter().map(|(new, holds)| (S, CLASS, new.as_str(), *holds)).collect();
    table(&rows);
    table(&[(P, "name: plain-policy\n", "name: plain-policy\nside_effects: {reconcile: true, longest: 0s}\n", "side_effects.longest: is no time at all")]);
}

#[test]
#[rustfmt::skip]
fn caches_that_cannot_be() {
    table(&[
        (S, "      tokens:", "      shared_prefix: 50%\n      tokens:", "classes.chat.traffic.shared_prefix: these arrivals belong to no sessions"),
        (S, "    region: south", "    region: south\n    prompt_cache: {source: x, time_to_live: 0s, min_tokens: 1}", "targets.south.prompt_cache.time_to_live: is zero"),
        (S, "    region: south", "    region: south\n    prompt_cache: {source: x, time_to_live: 5m}", "targets.south.prompt_cache.min_tokens: is missing"),
        (C, "capacity:", "prompt_cache: {source: nowhere, time_to_live: 5m, min_tokens: 1}\ncapacity:", "prompt_cache.source: no source is called `nowhere`"),
    ]);
}

#[test]
#[rustfmt::skip]
fn operators_that_cannot_be() {
    let operators = |when: &str| format!("operators: [{{name: a, switch: recovery, when: {when}}}]\nweather:");
    let switch = |switch: &str| format!("operators: [{{name: a, switch: {switch}, when: {{window: {{from: 1m, lasts: 1m}}}}}}]\nweather:");
    let twice = format!("operators: [{0}, {0}]\nweather:", "{name: a, switch: recovery, when: {window: {from: 1m, lasts: 1m}}}");
    let rows = [
        (operators("{window: {from: 1h, lasts: 1m}}"), "operators[0].when.window.from: 3600s is not before the horizon"),
        (operators("{window: {from: 1m, lasts: 0s}}"), "operators[0].when.window.lasts"),
        (operators("{incident: {weather: nothing, after: 1m, back_after: 1m}}"), "operators[0].when.incident.weather: no weather is called `nothing`"),
        (operators("{incident: {weather: nothing, after: 1m}}"), "operators[0].when.incident.back_after: is missing"),
        (switch("all"), "operators[0].switch: unknown value `all`"),
        (switch("{targets: {target: nroth}}"), "operators[0].switch.targets.target: no target has the target `nroth`; did you mean `north`?"),
        (switch("{targets: {}}"), "operators[0].switch.targets: says nothing about where"),
        (twice, "operators[1].name: another operator is called `a`; names key the luck"),
    ];
    let rows: Vec<Row> = rows.iter().map(|(new, holds)| (S, "weather:", new.as_str(), *holds)).collect();
    table(&rows);
}

#[test]
#[rustfmt::skip]
fn tenants_that_cannot_be() {
    let tenants = |with: &str| format!("tenants: {with}\nweather:");
    let rows = [
        (tenants("{a: {share: 50%}, b: {share: 40%}}"), "tenants: the shares add up to 90%, not 100%; correct one of them"),
        (tenants("{a: {share: 60%}, b: {share: 60%}}"), "tenants: the shares add up to 120%, not 100%"),
        (tenants("{a: {}, b: {}}"), "tenants: the shares add up to 0%, not 100%; give each tenant its `share`, or every class its `tenant`"),
        (tenants("{a: {share: 100%, budget_share: 70%}, b: {budget_share: 40%}}"), "tenants: the budget shares add up to 110%, more than 100%"),
        (tenants("{a: {share: 100%, budget: 70%}}"), "tenants.a.budget: unknown field; known here: `share`, `budget_share`"),
        (tenants("{a b: {share: 100%}}"), "tenants.a b"),
        (tenants("{a: {share: 100%, priority: 300}}"), "tenants.a.priority: "),
        ("gateway: {in_flight: {max: 0}}\nweather:".into(), "gateway.in_flight.max: must be at least 1; leave `in_flight` out"),
        ("gateway: {in_flight: {queue: 3}}\nweather:".into(), "gateway.in_flight.max: is missing"),
        ("gateway: {in_flight: {max: 5, status: 200}}\nweather:".into(), "gateway.in_flight.status: expected a status from 400 to 599, found 200; 429 or 503 are usual"),
    ];
    let rows: Vec<Row> = rows.iter().map(|(new, holds)| (S, "weather:", new.as_str(), *holds)).collect();
    table(&rows);
    table(&[(S, "    deadline:", "    tenant: nobody\n    deadline:", "classes.chat.tenant: no tenant is called `nobody`")]);
}
