//! Bad input gets one clear message at its place, and never a panic.
//!
//! Each row changes one thing in a good file and says what the message must hold. The good files
//! are `tests/files/plain.yaml` and the card and trace beside it.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use windtunnel::check::check_file;

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files");

/// File, what is replaced in it, by what, and what the message holds.
type Row<'a> = (&'static str, &'static str, &'a str, &'static str);

const S: &str = "plain.yaml";
const C: &str = "plain-card.yaml";
const P: &str = "plain-policy.yaml";
const T: &str = "plain-trace.csv";
const TRACED: &str = "traced.yaml";

#[test]
fn the_good_files_are_good() {
    for name in [S, C, P, TRACED] {
        let checked = check_file(&Path::new(FILES).join(name)).map(drop);
        assert_eq!(checked.map_err(|e| e.to_string()), Ok(()));
    }
}

#[test]
#[rustfmt::skip]
fn text_that_is_no_file_of_ours() {
    table(&[
        (S, ALL, "", "plain.yaml: is empty"),
        (S, ALL, "# a comment\n", "plain.yaml: is empty"),
        (S, ALL, "- a\n- b\n", "is neither a scenario, nor a policy, a model card, a profile or a space"),
        (S, ALL, "just words\n", "is neither a scenario"),
        (S, ALL, "colour: red\n", "is neither a scenario"),
        (S, "name: plain\n", "name: \"plain\n", "plain.yaml:"),
        (S, "name: plain\n", "name: [plain\n", "plain.yaml:"),
        (S, "horizon: 10m\n", "horizon: 10m\n\tinterval: 5s\n", "tab"),
        (S, "horizon: 10m\n", "horizon: 10m\nhorizon: 5m\n", ":7:1: horizon: is given twice; remove one"),
        (S, "name: plain\n", "name: plain\n---\nname: other\n", "several YAML documents"),
        (S, "horizon: 10m", "horizon: &h 10m\ninterval: *h", "anchors and aliases are not used here"),
        (S, "horizon: 10m", "horizon: !seconds 10", "unsupported tag"),
        (S, "horizon: 10m", "horizon: 10m\n<<: {interval: 5s}", "plain.yaml:"),
    ]);
}

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

#[test]
#[rustfmt::skip]
fn fields_unknown_missing_or_of_another_type() {
    table(&[
        (S, "horizon:", "horizn:", ":6:1: horizn: unknown field; did you mean `horizon`?"),
        (S, "    deadline:", "    dedline:", "classes.chat.dedline: unknown field; did you mean `deadline`?"),
        (S, "    region: south", "    regoin: south", "targets.south.regoin: unknown field; did you mean `region`?"),
        (S, "    effects:", "    effect:", "weather[0].effect: unknown field; did you mean `effects`?"),
        (C, "slots: 100", "slot: 100", "plain-card.yaml:21:29: capacity.slot: unknown field; did you mean `slots`?"),
        (P, "max_same_target", "max_same_taget", "attempts.max_same_taget: unknown field; did you mean `max_same_target`?"),
        (S, "horizon: 10m\n", "", ":2:1: horizon: is missing; add `horizon: …`"),
        (S, "    card: plain-card.yaml\n  south", "    weight: 1\n  south", "targets.north.card: is missing"),
        (C, "model: acme-1\n", "", "model: is missing"),
        (S, "horizon: 10m", "horizon:", "horizon: expected a value, found nothing"),
        (S, "horizon: 10m", "horizon: [10m]", "horizon: expected one value"),
        (S, "primary: [north]", "primary: north", "classes.chat.groups.primary: expected a list, found `north`"),
        (S, "  north:\n", "  north: 5\n  x:\n", "targets.north: expected fields (`name: value`), found `5`"),
        (S, "{poisson: 5/s}", "{poison: 5/s}", "unknown value `poison`; did you mean `poisson`?"),
        (S, "class: overloaded", "class: overlaoded", "weather[0].effects.failures.mix[0].class: unknown value `overlaoded`; did you mean `overloaded`?"),
        (C, "slots: 100", "slots: many", "capacity.slots: expected a whole number up to 4294967295, found `many`"),
        (C, "slots: 100", "slots: 1e3", "capacity.slots: expected a whole number"),
        (C, "queue: 50", "queue: 99999999999", "capacity.queue: expected a whole number up to 4294967295"),
        (C, "status: 500", "status: 70000", "failures.mix[0].status: expected a whole number up to 65535"),
        (C, "status: 500", "status: 500, hang: yes", "failures.mix[0].hang: expected true or false, found `yes`"),
    ]);
}

#[test]
#[rustfmt::skip]
fn quantities_without_sense() {
    table(&[
        (S, "horizon: 10m", "horizon: 600", "horizon: expected a duration such as 250ms"),
        (S, "horizon: 10m", "horizon: -10m", "horizon: expected a duration"),
        (S, "horizon: 10m", "horizon: 99999999999999999d", "horizon: `99999999999999999d` is too long"),
        (S, "horizon: 10m", "horizon: 0s", "horizon: is zero"),
        (S, "horizon: 10m", "horizon: 401d", "horizon: is longer than 400d"),
        (S, "poisson: 5/s", "poisson: -5/s", "poisson: expected a rate such as 20/s"),
        (S, "poisson: 5/s", "poisson: 5", "poisson: expected a rate"),
        (S, "poisson: 5/s", "poisson: NaN/s", "poisson: expected a rate"),
        (S, "poisson: 5/s", "poisson: 2000000/s", "above the largest rate"),
        (S, "poisson: 5/s", "poisson: 0/s", "the rate is zero"),
        (S, "share: 25%", "share: 125%", "share: expected a share such as 25% or 0.25 (0 to 1), found `125%`"),
        (S, "share: 25%", "share: -1%", "share: expected a share"),
        (S, "share: 25%", "share: .nan", "share: expected a finite number, found `.nan`"),
        (S, "share: 25%", "share: .inf", "share: expected a finite number, found `.inf`"),
        (S, "share: 25%", "share: [50%, 25%]", "from at most to"),
        (S, "share: 25%", "share: [1%, 2%, 3%]", "expected two values"),
        (S, "share: 25%", "share: 0%", "share: is zero"),
        (S, "arrivals: {poisson: 5/s}", "arrivals: {gamma: {rate: 5/s, cv: .nan}}", "cv: expected a finite number, found `.nan`"),
        (S, "arrivals: {poisson: 5/s}", "arrivals: {gamma: {rate: 5/s, cv: -2}}", "cv: expected a number above 0"),
        (S, "arrivals: {poisson: 5/s}", "arrivals: {gamma: {rate: 5/s, cv: 1000}}", "cv: expected a number from 0.01 to 30"),
        (S, "input: {constant: 500}", "input: {constant: -500}", "input.constant: expected"),
        (S, "input: {constant: 500}", "input: {constant: 200000000}", "expected a token count up to 100000000"),
        (C, "input_per_million: $1", "input_per_million: 1", "price.input_per_million: expected an amount of dollars such as $2.50, found `1`"),
        (C, "input_per_million: $1", "input_per_million: $-1", "expected an amount of dollars"),
        (C, "input_per_million: $1", "input_per_million: $99999999999", "is too much"),
        (C, "input_per_million: $1", "input_per_million: $0.1234567", "has more than six decimals"),
    ]);
}

#[test]
#[rustfmt::skip]
fn scenarios_that_do_not_hold_together() {
    table(&[
        (S, "warm_up: 60s", "warm_up: 10m", "warm_up: 600s is not before the horizon"),
        (S, "horizon: 10m", "horizon: 10m\ninterval: 0s", "interval: is zero"),
        (S, "horizon: 10m", "horizon: 10m\ninterval: 1us", "more than 1000000 parts"),
        (S, "name: plain\n", "name: ''\n", "name: the name is empty"),
        (S, "name: plain\n", "name: my plain one\n", "the name `my plain one` holds ` `"),
        (S, CLASSES, "classes: {}\n", "classes: there is no route class; add at least one"),
        (S, TARGETS, "targets: {}\n", "targets: there is no target; add at least one"),
        (S, "primary: [north]", "primary: [nroth]", ":12:17: classes.chat.groups.primary[0]: no target is called `nroth`; did you mean `north`?"),
        (S, "fallbacks: [[south]]", "fallbacks: [[]]", "fallbacks[0]: names no target"),
        (S, "fallbacks: [[south]]", "fallbacks: [[north]]", "`north` already stands in an earlier group"),
        (S, "primary: [north]", "primary: [north, north]", "stands in the group twice"),
        (S, "primary: [north]", "primary: []", "primary: names no target"),
        (S, "horizon: 10m", "horizon: 10m\nreference_target: nrth", "reference_target: no target is called `nrth`"),
        (S, "horizon: 10m", "horizon: 10m\npolicies: [conservativ]", "policies[0]: conservativ: no file and no shipped policy of this name; did you mean `conservative`?"),
        (S, "card: plain-card.yaml\n  south", "card: openai-gpt4o\n  south", "targets.north.card: openai-gpt4o: no file and no shipped model card of this name; did you mean `openai-gpt-4o`?"),
        (S, "card: plain-card.yaml\n  south", "card: ./nowhere.yaml\n  south", "no such file"),
        (S, "card: plain-card.yaml\n  south", "card: ''\n  south", "has an empty name"),
        (S, "    required: [streaming]", "    required: [streeming]", "no capability is called `streeming`; did you mean `streaming`?"),
        (S, "    required: [streaming]", "    required: [vision]", "required: no target of the class can do vision"),
        (S, "    required: [streaming]", "    substitutes: [acme-2]", "substitutes[0]: no target runs the model `acme-2`"),
        (S, "{total: 30s}", "{total: 30s, first_output: 40s}", "first_output: 40s is after the deadline of the whole answer, 30s"),
        (S, "{total: 30s}", "{total: 0s}", "deadline.total: is zero"),
        (S, "{total: 30s}", "{total: 8d}", "deadline.total: is longer than 7d"),
        (S, "    required: [streaming]", "    max_cost: $0", "max_cost: is zero"),
        (S, "    region: south", "    weight: 0", "targets.south.weight: is zero"),
        (S, "    region: south", "    weight: -1", "targets.south.weight: expected a whole number"),
        (S, "    region: south", "    account: ''", "targets.south.account: the name is empty"),
        (S, "horizon: 10m", "horizon: 10m\ngateway: {connections: 0}", "gateway.connections: must be at least 1"),
        (S, "horizon: 10m", "horizon: 10m\nstick: {request: 50%, window: 50%, free: 50%}", "stick: request, window and free add up to 150"),
        (S, "horizon: 10m", "horizon: 10m\nstick: {request: 1, window: 0, free: 0, window_length: 0s}", "window_length: is zero"),
    ]);
}

#[test]
#[rustfmt::skip]
fn traffic_that_cannot_be() {
    table(&[
        (S, "tokens: {input: {constant: 500}, output: {constant: 100}}", "streamed: 100%", "tokens.input: these arrivals bring no token counts"),
        (S, "{poisson: 5/s}", "{poisson: 900000/s}", "at most 50000000 fit"),
        (S, "{poisson: 5/s}", "{on_off: {rate: 5/s, on: 0s, off: 1s}}", "on_off.on: expected from 1ms"),
        (S, "{poisson: 5/s}", "{steps: {steps: []}}", "steps: does not start at 0s"),
        (S, "{poisson: 5/s}", "{steps: {steps: [{from: 5s, rate: 1/s}]}}", "does not start at 0s"),
        (S, "{poisson: 5/s}", "{steps: {steps: [{from: 0s, rate: 1/s}, {from: 0s, rate: 2/s}]}}", "steps.steps[1]: does not come after the one before; sort the list"),
        (S, "{poisson: 5/s}", "{steps: {steps: [{from: 0s, rate: 0/s}]}}", "every rate is zero"),
        (S, "{poisson: 5/s}", "{steps: {steps: [{from: 0s, rate: 1/s}, {from: 5m, rate: 2/s}], every: 5m}}", "every: is not after the last step"),
        (S, "{poisson: 5/s}", "{closed_loop: {users: 0, think: {constant: 1s}}}", "users: 0 is below the least, 1"),
        (S, "{poisson: 5/s}", "{closed_loop: {users: 5, think: {constant: 0s}}}", "think: the mean is below 1ms"),
        (S, "{poisson: 5/s}", "{profile: {file: nowhere}}", "no file and no shipped traffic profile of this name"),
        (S, "      tokens:", "      caller_cancels: 5%\n      tokens:", "`cancels_after` does not say when"),
        (S, "      tokens:", "      invalid: 60%\n      refusals: 60%\n      tokens:", "add up to more than 100%"),
        (S, "output: {constant: 100}", "output: {quantiles: {p50: 5}}", "output: quantiles must have two pairs"),
        (S, "output: {constant: 100}", "output: {quantiles: {p50: 50, p90: 5}}", "output: quantiles must ascend"),
        (S, "output: {constant: 100}", "output: {quantiles: {median: 5, p90: 50}}", "found `median`"),
        (S, "output: {constant: 100}", "output: {uniform: {from: 9, to: 5}}", "output: high must not be below low"),
        (S, "output: {constant: 100}", "output: {lognormal: {median: 0, sigma: 1}}", "output: median must be finite and positive"),
        (S, "output: {constant: 100}", "output: {lognormal: {median: 100, sigma: 50}}", "output: distribution must stay below"),
    ]);
}

#[test]
#[rustfmt::skip]
fn weather_that_cannot_be() {
    table(&[
        (S, "{region: north}", "{}", "weather[0].hits: says nothing about where"),
        (S, "{region: north}", "{region: norht}", "weather[0].hits.region: no target has the region `norht`; did you mean `north`?"),
        (S, "{region: north}", "{region: north, target: south}", "weather[0].hits: no target agrees in all of this"),
        (S, "from: 4m", "from: 11m", "from: 660s is not before the horizon"),
        (S, "lasts: 2m", "lasts: 0s", "lasts: is zero"),
        (S, "lasts: 2m", "lasts: [5m, 2m]", "from at most to"),
        (S, "{window: {from: 4m, lasts: 2m}}", "{flapping: {from: 0s, lasts: 5m, bad: 0s, good: 1s}}", "bad: is zero"),
        (S, "{window: {from: 4m, lasts: 2m}}", "{flapping: {from: 0s, lasts: 5m, bad: 1us, good: 1us}}", "turns more than 100000 times"),
        (S, "{window: {from: 4m, lasts: 2m}}", "{renewal: {gap: {constant: 1ms}, lasts: {constant: 1ms}}}", "makes more than 100000 incidents"),
        (S, "    effects:", "    shape: {ramp: {up: 5m, down: 0s}}\n    effects:", "longer than the incident"),
        (S, "    effects:", "    shape: {course: {points: []}}\n    effects:", "points: is empty"),
        (S, "    effects:", "    shape: {course: {points: [[1s, 5%]]}}\n    effects:", "points[0]: does not start at 0s"),
        (S, "    effects:", "    shape: {course: {points: [[0s, 5%], [0s, 6%]]}}\n    effects:", "points[1]: does not come after"),
        (S, "    effects:", "    shape: {course: {points: [[0s, 0%]]}}\n    effects:", "every severity is zero"),
        (S, EFFECTS, "    effects: {}\n", "weather[0].effects: has no effect"),
        (S, EFFECTS, "    effects: {speed: 0}\n", "speed: expected a number above 0"),
        (S, EFFECTS, "    effects: {failures: {share: 5%, mix: []}}\n", "mix: no entry has a weight"),
        (S, "weight: 1}", "weight: 0}", "mix: no entry has a weight"),
        (S, "status: 503", "status: 302", "status: expected a failure's status, found 302"),
        (S, "status: 503", "status: 200", "200 is an error inside a response whose headers came"),
        (S, "weight: 1}", "weight: 1, hang: true, retry_after: 5s}", "what is never answered carries no wait hint"),
        (S, "weather:\n", "weather:\n  - {name: outage, hits: {region: north}, when: always, effects: {speed: 0.5}}\n", "weather[1].name: another entry is called `outage`"),
    ]);
}

#[test]
#[rustfmt::skip]
fn cards_that_do_not_hold_together() {
    table(&[
        (C, "price: {source: made_up", "price: {source: made_down", "price.source: no source is called `made_down`; did you mean `made_up`?"),
        (C, "date: 2025-01-01", "date: last year", "sources.made_up.date: expected a date such as 2025-06-10, found `last year`"),
        (C, "limits_source: made_up\n", "", "the limits have no source"),
        (C, "first_token: {constant: 300ms}", "first_token: {constant: 50ms}", "latency.first_token: its median is below that of the headers"),
        (C, "per_prompt_token: 0s", "per_prompt_token: 2s", "per_prompt_token: is longer than 1s"),
        (C, "slots: 100", "slots: 0", "capacity.slots: 0 is below the least, 1"),
        (C, "slots: 100", "slots: 1000001", "capacity.slots: 1000001 is above the most"),
        (C, "queue: 50", "queue: 10000001", "capacity.queue: 10000001 is above the most"),
        (C, "queue: 50", "queue: 50, background_slots: 200", "background_slots: 200 are more than all 100"),
        (C, "queue: 50", "queue: 50, shed_status: 200", "shed_status: expected a status from 400 to 599"),
        (C, "queue: 50", "queue: 50, speed_by_load: {table: [[5, 100%]]}", "does not start at 0"),
        (C, "queue: 50", "queue: 50, speed_by_load: {table: [[0, 100%], [5, 0%]]}", "table[1]: a speed of zero never ends"),
        (C, "limit: 600", "limit: 0", "limits[0].limit: 0 is below the least, 1"),
        (C, "window: 60s", "window: 0s", "limits[0].window: is zero"),
        (C, "limit: 600", "limit: 600, settlement: actual", "a limit of requests is not settled"),
        (C, "share: 1%", "share: 99%}\n    - {class: timeout, status: 0, share: 2%", "failures.mix: the shares add up to more than 100%"),
        (C, "context_tokens: 128000", "context_tokens: 0", "context_tokens: must be at least 1"),
        (C, "capabilities: [streaming, tools]", "capabilities: [stream]", "capabilities[0]: no capability is called `stream`"),
        (S, "    region: south", "    limits: [{scope: model, unit: requests, limit: 5}]", "targets.south.limits[0]: differs from another target's for acme / main / acme-1 requests"),
        (S, "    region: south", "    capacity: {source: x, slots: 0}", "plain.yaml:22:27: targets.south.capacity.slots: 0 is below"),
    ]);
}

#[test]
#[rustfmt::skip]
fn policies_that_do_not_hold_together() {
    table(&[
        (P, "max: 3", "max: three", "attempts.max: expected a whole number up to 65535, found `three`"),
        (P, "base: 500ms", "base: 500", "backoff.base: expected a duration"),
        (P, "attempts:", "attempts: 3\nx:", "attempts: expected fields"),
        (P, "breakers:", "breakers:\n  - {key: [provder], trip: [{consecutive: 5}]}\nx:", "unknown value `provder`; did you mean `provider`?"),
        (P, "key: [provider]", "key: []", "breakers[0].key"),
        (P, "consecutive: 5", "consecutive: 0", "breakers[0].trip"),
        (P, "attempts:", "replicas: {count: 0}\nattempts:", "replicas.count: is 0 or above 1000; use 1 to 1000"),
        (P, "attempts:", "replicas: {count: 5000}\nattempts:", "replicas.count: is 0 or above 1000"),
        (P, "attempts:", "replicas: {sharing: {after: soon}}
attempts:", "replicas.sharing.after: "),
        (P, "attempts:", "envelope: {max_cost: $0}\nattempts:", "envelope.max_cost: leaves no money at all; use an amount above $0"),
        (P, "name: plain-policy", "name: my policy", "plain-policy.yaml:2:1: name: the name `my policy` holds ` `; use letters"),
        (P, "name: plain-policy", "name: \"a\\e[31mb\"", "name: the name `a\\u{1b}[31mb` holds `\\u{1b}`"),
        (P, "name: plain-policy", "name: \"a\\u202Eb\"", "name: the name `a\\u{202e}b` holds `\\u{202e}`"),
        (P, "base: 500ms", "base: \"5\\u202E0\"", "backoff.base: expected a duration such as 250ms, 1.5s, 10m, 2h or 1d, found `5\\u{202e}0`"),
    ]);
}

#[test]
#[rustfmt::skip]
fn traces_with_malformed_rows() {
    table(&[
        (TRACED, "file: plain-trace.csv", "file: nowhere.csv", "traced.yaml:14:11: classes.chat.traffic.arrivals.trace.file: "),
        (TRACED, "file: plain-trace.csv", "file: traced.yaml", "expected a trace that ends in .csv or .jsonl"),
        (TRACED, "horizon: 60s", "horizon: 10m", "covers 135s of the horizon, 600s"),
        (TRACED, "time_unit: ms", "time_unit: minutes", "no unit of time is called `minutes`"),
        (TRACED, "input_tokens: input_tokens", "input_tokens: inptokens", "no column `inptokens`; did you mean `input_tokens`?"),
        (T, ALL, "", "plain-trace.csv: is empty"),
        (T, ALL, "timestamp_ms,input_tokens,output_tokens\n", "holds no rows"),
        (T, "90000,", "9000,", "plain-trace.csv:4: timestamp_ms: `9000` is earlier than the row before; sort the trace by time"),
        (T, "90000,", "-1,", "plain-trace.csv:4: timestamp_ms: expected a time, a number not negative, found `-1`"),
        (T, "90000,", "NaN,", "found `NaN`"),
        (T, "90000,", "99999999999999999999,", "is too large"),
        (T, "90000,", "9999999999999,", "more than 400 days after the first row"),
        (T, "90000,300,", "90000,-3,", "plain-trace.csv:4: input_tokens: expected a token count"),
        (T, "90000,300,", "90000,3.5,", "found `3.5`"),
        (T, "90000,300,", "90000,,", "found nothing"),
        (T, "90000,300,30", "90000,300", "plain-trace.csv:4: expected 3 columns, found 2"),
        (T, "input_tokens,output_tokens", "input_tokens,input_tokens", "plain-trace.csv:1: columns 2 and 3 are both called `input_tokens`; rename or remove one"),
        (TRACED, "file: plain-trace.csv", "file: plain-trace.csv\n          scale: 1e9", "trace.scale: times divided by 1000000000 leave the trace no time; lower it"),
        (T, "input_tokens", "inputtokens", "no column `input_tokens`; did you mean `inputtokens`?"),
    ]);
}

#[test]
fn files_that_cannot_be_read() {
    let folder = TempDir::new().expect("a folder");
    let fault = |path: &Path| check_file(path).expect_err("must be refused").to_string();
    assert!(fault(&folder.path().join("none.yaml")).contains("none.yaml: no such file"));
    assert!(fault(folder.path()).ends_with("is a directory; name one file in it"));
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("writes");
        path
    };
    let binary = write("binary.yaml", b"name: x\nshows: \xff\xfe\n");
    assert!(fault(&binary).contains("binary.yaml:2:8: is not UTF-8 text"));
    assert!(fault(&write("nul.yaml", b"name: a\0b\n")).contains("nul.yaml"));
    assert!(fault(&write("large.yaml", &vec![b'#'; 17 << 20])).contains("is larger than 16 MiB"));
    let holds = |name: &str, text: &str, wanted: &str| {
        let error = fault(&write(name, text.as_bytes()));
        assert!(error.contains(wanted), "expected {wanted:?}, got\n{error}");
    };
    let deep = format!("name: {}x{}\n", "[".repeat(5_000), "]".repeat(5_000));
    holds("deep.yaml", &deep, "is nested deeper than 32 levels");
    holds("wide.yaml", &format!("name: [{}1]\n", "1, ".repeat(300_000)), "is too large");
    let bomb = (1..12).fold(String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n"), |text, i| {
        let last = i - 1;
        text + &format!("a{i}: &a{i} [{}*a{last}]\n", format!("*a{last}, ").repeat(8))
    });
    holds("bomb.yaml", &bomb, "anchors and aliases are not used here");
}

/// Stands for the whole file.
const ALL: &str = "\0";
/// Stand for blocks of the scenario.
const CLASSES: &str = "\0classes";
const TARGETS: &str = "\0targets";
const EFFECTS: &str = "\0effects";

#[test]
fn command_lines_that_cannot_be_done() {
    let plain = format!("{FILES}/{S}");
    let folder = TempDir::new().expect("a folder");
    let inside = folder.path().join("report.txt").display().to_string();
    let nowhere = folder.path().join("none/report.txt").display().to_string();
    for (args, wanted) in [
        (vec!["run", "nowhere.yaml"], "nowhere.yaml: no file and no shipped scenario"),
        (vec!["run", "./nowhere.yaml"], "./nowhere.yaml: no such file"),
        (vec!["run", "stedy"], "did you mean `steady`?"),
        (vec!["run", ""], "a scenario: has an empty name"),
        (vec!["run", FILES], "is a directory"),
        (vec!["run", &plain, "--policy", "conservativ"], "did you mean `conservative`?"),
        (vec!["run", &plain, "--policy", &plain], "unknown field"),
        (vec!["run", &plain, "--worlds", "0"], "--worlds"),
        (vec!["run", &plain, "--worlds", "99999999999"], "--worlds"),
        (vec!["run", &plain, "--threads", "0"], "--threads"),
        (vec!["run", &plain, "--seed", "-1"], "'-1'"),
        (
            vec!["run", &plain, "--seed=-1"],
            "expected a whole number from 0 to 18446744073709551615",
        ),
        (vec!["run", &plain, "--format", "xml"], "--format"),
        (vec!["run", &plain, "--out", &nowhere], "cannot be written: there is no such directory"),
        (vec!["run", &plain, "--out", FILES], "is a directory"),
        (vec!["run", &plain, "--gate", "sucess >= 99%"], "the nearest is `success`"),
        (vec!["run", &plain, "--gate", "success >= 99"], "is a `%` missing?"),
        (vec!["run", &plain, "--gate", ""], "--gate"),
        (vec!["run", &plain, "--gate", "success >= base"], "there is no base"),
        (vec!["run", "./nowhere.yaml", "--out", &inside], "no such file"),
        (vec!["compare", &plain], "names no policies to compare"),
        (vec!["compare", &plain, "--policy", "single", "--policy", "single"], "is given twice"),
        (vec!["drill"], "required"),
        (vec!["drill", "conservativ"], "did you mean `conservative`?"),
        (vec!["drill", "nowhere.yaml"], "nowhere.yaml: no file and no shipped policy"),
        (vec!["drill", &plain], "unknown field"),
        (vec!["drill", FILES], "is a directory"),
        (vec!["drill", "single", "single"], "is given twice"),
        (vec!["drill", "single", "--drill", "breker"], "did you mean `breaker`?"),
        (vec!["drill", "single", "--drill", "14"], "they are numbered from 1 to 13"),
        (vec!["drill", "single", "--drill", ""], "no drill is called ``"),
        (vec!["drill", "single", "--seed=-1"], "expected a whole number"),
        (vec!["drill", "single", "--format", "csv"], "--format"),
        (vec!["drill", "single", "--out", &nowhere], "there is no such directory"),
        (vec!["drill", "single", "--out", FILES], "is a directory"),
        (vec!["drill", "nowhere.yaml", "--out", &inside], "no file and no shipped policy"),
        (vec!["check"], "required"),
        (vec!["schema", "trace"], "trace"),
        (vec!["profile", &format!("{FILES}/{T}"), "--layout", "azure", "--out", &inside], "azure"),
    ] {
        let (code, error) = windtunnel(&args);
        assert_eq!(code, Some(2), "{args:?}: {error}");
        assert!(error.contains(wanted), "{args:?}: expected {wanted:?}, got\n{error}");
        assert_eq!(error.matches("error: ").count(), 1, "{args:?}: {error}");
        assert!(!folder.path().join("report.txt").exists(), "{args:?} left a file behind");
    }
}

/// Runs the program; returns its exit code and what it wrote to standard error.
fn windtunnel(args: &[impl AsRef<std::ffi::OsStr>]) -> (Option<i32>, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_windtunnel")).args(args).output();
    let run = run.expect("the program starts");
    (run.status.code(), String::from_utf8(run.stderr).expect("messages are UTF-8"))
}

/// Each row alone gives its message; all files of the table, given to the program together, one
/// message each and exit code 2.
fn table(rows: &[Row]) {
    let mut folders = Vec::new();
    let mut roots: Vec<std::ffi::OsString> = vec!["check".into()];
    for (file, old, new, wanted) in rows {
        let folder = TempDir::new().expect("a folder");
        for name in [S, C, P, T, TRACED] {
            let mut text =
                fs::read_to_string(Path::new(FILES).join(name)).expect("the file is there");
            if name == *file {
                text = changed(&text, old, new);
            }
            fs::write(folder.path().join(name), text).expect("writes");
        }
        let root = match *file {
            C => S,
            T => TRACED,
            other => other,
        };
        let Err(error) = check_file(&folder.path().join(root)) else {
            panic!("{file}: {new:?} in place of {old:?} was accepted; expected {wanted:?}");
        };
        let shown = error.to_string();
        assert!(shown.contains(wanted), "{file}: {new:?}: expected {wanted:?}, got\n{shown}");
        assert!(shown.lines().count() <= 3, "one message with its line and caret:\n{shown}");
        roots.push(folder.path().join(root).into_os_string());
        folders.push(folder);
    }
    let (code, errors) = windtunnel(&roots);
    assert_eq!(code, Some(2), "{errors}");
    assert_eq!(errors.lines().filter(|line| line.starts_with("error: ")).count(), rows.len());
}

fn changed(text: &str, old: &str, new: &str) -> String {
    let block = |from: &str, to: &str| {
        let start = text.find(from).expect("the block is there");
        let end = if to.is_empty() { text.len() } else { text.find(to).expect("its end is there") };
        format!("{}{new}{}", &text[..start], &text[end..])
    };
    match old {
        ALL => new.to_owned(),
        CLASSES => block("classes:\n", "targets:\n"),
        TARGETS => block("targets:\n", "weather:\n"),
        EFFECTS => block("    effects:\n", ""),
        _ => {
            assert!(text.contains(old), "{old:?} is not in the good file");
            text.replacen(old, new, 1)
        }
    }
}
