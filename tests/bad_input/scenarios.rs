//! Scenarios as wholes, their traffic and weather.

use windtunnel::input::SourceFile;
use windtunnel::scenario::Scenario;

use super::{CLASSES, EFFECTS, FILES, S, TARGETS, changed, table};

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
        (S, "        mix:", "        where_required: [toolz]\n        mix:", "where_required[0]: no capability is called `toolz`; did you mean `tools`?"),
        (S, "        mix:", "        where_required: [streaming, tools]\n        mix:", "no class requires streaming and tools: nothing would fail; `required` of the classes says: `chat` streaming"),
        (S, "        mix:", "        where_required: [audio]\n        mix:", "where_required: no class requires audio: nothing would fail; `required` of the classes says: `chat` streaming"),
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

/// Of a class that misspells what it requires, not the weather is to blame that strikes those who do.
#[test]
fn a_misspelt_capability_of_a_class_is_told_there() {
    let path = std::path::Path::new(FILES).join(S);
    let source = SourceFile::read(&path).expect("the file is there");
    let text = changed(&source.text, "[streaming]", "[streamin]");
    let text = changed(&text, "        mix:", "        where_required: [streaming]\n        mix:");
    let fault =
        Scenario::read(SourceFile { text, ..source }).expect_err("it is misspelt").to_string();
    let wanted = "classes.chat.required[0]: no capability is called `streamin`; did you mean";
    assert!(fault.contains(wanted), "{fault}");
}
