//! Limits on time that no column names: they are read from where requests were given up.

use std::io::Cursor;

use windtunnel::fit::{Evidence, Fit};
use windtunnel::log::{self, Format};
use windtunnel::report::RowFormat;
use windtunnel_policy::Duration;

use crate::formats::map;
use crate::worlds::{CARD, known, ledger, policy, written};

/// A brownout in which the first output takes 6 s in the median and a token 80 ms, so that both limits of
/// the product are met.
const SCENARIO: &str = r"
name: hidden
shows: x
expect: x
horizon: 40m
classes:
  chat:
    deadline: {first_output: 12s, total: 30s}
    groups: {primary: [first], fallbacks: [[second]]}
    traffic:
      arrivals: {poisson: 5/s}
      tokens:
        input: {lognormal: {median: 900, sigma: 0.8}}
        output: {lognormal: {median: 220, sigma: 0.6}}
        max_output: 1024
targets:
  first: {card: card.yaml}
  second: {card: card.yaml}
weather:
  - name: brownout
    hits: {target: first}
    when: {window: {from: 10m, lasts: 15m}}
    effects: {speed: 0.1}
";

/// The columns of our ledger that other gateways have, too.
const MAP: &str = "
time_unit: s
columns: {request: request, target: target, sent: sent_s, ended: ended_s, class: class, status: status, \
    first_output: first_output_s, failure: failure, cancelled: cancelled, input_tokens: input_tokens, \
    output_tokens: output_tokens, cost: cost_usd}
";

#[test]
fn limits_are_where_requests_were_given_up() {
    let hidden = known(&[("hidden.yaml", SCENARIO), ("card.yaml", CARD)]);
    let log = ledger(&hidden.scenario, &policy("single"), 5, 1, RowFormat::Csv);
    let format = Format::Mapped { map: Box::new(map(MAP)), json: false };
    let mut evidence = Evidence::new();
    let read = log::read("log", Cursor::new(&log), format, |request| evidence.take(&request))
        .unwrap_or_else(|e| panic!("{e}"));
    evidence.finish();
    let fit = Fit::of("fitted", "log", &read, &evidence);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let class = &written(&fit, &evidence, folder.path()).topology.classes[0];
    assert_eq!(class.deadline_first_output, Duration::from_secs(12));
    assert_eq!(class.deadline_total, Duration::from_secs(30));
    let said = fit.said();
    let told = |limit: &str| said.iter().any(|line| line.contains(limit));
    assert!(
        told("were given up 12s after they came") && told("were given up 30s after"),
        "{said:?}"
    );
}
