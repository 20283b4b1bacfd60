//! Fields of any file.

use super::{C, P, S, table};

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
        (S, "horizon: 10m", "horizon: [10m]", "horizon: expected one value, found a list"),
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
