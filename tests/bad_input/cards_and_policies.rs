//! Model cards and policies.

use super::{C, P, S, table};

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
        (P, "backoff:\n  base: 500ms", "backoff: {jitter: proportional}", "a value is missing after this name; write `name: value`"),
        (P, "attempts:", "retry_after: {mode: cap_at}\nattempts:", "retry_after.mode: a value is missing after this name; write `name: value`"),
        (P, "attempts:", "retry_after:\n  mode: cap_at\nattempts:", ":4:9: retry_after.mode: a value is missing after this name; write `name: value`"),
        (P, "{consecutive: 5}", "consecutive", ":10:12: breakers[0].trip[0]: a value is missing after this name"),
        (P, "attempts:", "streaming: {at_first_chunk: true}\nattempts:", "streaming.at_first_chunk: takes no value; write the name alone"),
        (P, "attempts:", "streaming:\nattempts:", "streaming: expected a value, found nothing; known here: `pass_through`"),
        (P, "key: [provider]", "key: [{capability: tools}]", "breakers[0].key[0].capability: takes no value; write the name alone"),
        (P, "key: [provider]", "key: [capabilities]", "breakers[0].key[0]: unknown value `capabilities`; did you mean `capability`?"),
        (P, "base: 500ms", "base: 213503983d", "backoff.base: `213503983d` is too long; use 213503982d or less"),
        (P, "{consecutive: 5}", "{consecutive: 5, rate_over_count: {failures: 50%, last: 9}}", "a second name where one is meant; keep one of them"),
        (P, "attempts:", "attempts: 3\nx:", "attempts: expected fields"),
        (P, "breakers:", "breakers:\n  - {key: [provder], trip: [{consecutive: 5}]}\nx:", "unknown value `provder`; did you mean `provider`?"),
        (P, "key: [provider]", "key: []", "breakers[0].key"),
        (P, "consecutive: 5", "consecutive: 0", "breakers[0].trip"),
        (P, "attempts:", "replicas: {count: 0}\nattempts:", "replicas.count: is 0 or above 1000; use 1 to 1000"),
        (P, "attempts:", "replicas: {count: 5000}\nattempts:", "replicas.count: is 0 or above 1000"),
        (P, "attempts:", "replicas: {sharing: {after: soon}}
attempts:", "replicas.sharing.after: "),
        (P, "attempts:", "envelope: {max_cost: $0}\nattempts:", "envelope.max_cost: leaves no money at all; use an amount above $0"),
        (P, "name: plain-policy", "name: my policy", "plain-policy.yaml:2:1: name: the name `my policy` holds ` `; use the letters a to z"),
        (P, "name: plain-policy", "name: \"a\\e[31mb\"", "name: the name `a\\u{1b}[31mb` holds `\\u{1b}`"),
        (P, "name: plain-policy", "name: \"a\\u202Eb\"", "name: the name `a\\u{202e}b` holds `\\u{202e}`"),
        (P, "base: 500ms", "base: \"5\\u202E0\"", "backoff.base: expected a duration such as 250ms, 1.5s, 10m, 2h or 1d, found `5\\u{202e}0`"),
    ]);
}
