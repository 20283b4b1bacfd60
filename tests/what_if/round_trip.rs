//! Known parameters are recovered from the log of a run, within errors derived from what each rests
//! on: four standard errors, and the width of a cell (1.6 %) for what is read from cells.

use windtunnel::fit::Fit;
use windtunnel::report::RowFormat;
use windtunnel::scenario::{Effects, Scenario, Shape, WeatherSpec, When};
use windtunnel_policy::{Duration, Price};

use crate::worlds::{CARD, fitted, known, ledger, policy, written};

const CELL: f64 = 0.016;

/// Forty minutes of ten requests a second; from 10:00 to 25:00 a quarter of calls fails at the first
/// target, and from 30:00 on it is half as fast.
const SCENARIO: &str = r"
name: hidden
shows: x
expect: x
horizon: 40m
classes:
  chat:
    deadline: {total: 30s}
    groups: {primary: [first], fallbacks: [[second]]}
    traffic:
      arrivals: {poisson: 10/s}
      tokens:
        input: {lognormal: {median: 900, sigma: 0.8}}
        output: {lognormal: {median: 120, sigma: 0.6}}
        max_output: 1024
targets:
  first: {card: card.yaml}
  second: {card: card.yaml}
weather:
  - name: incident
    hits: {target: first}
    when: {window: {from: 10m, lasts: 15m}}
    effects:
      failures:
        share: 25%
        mix:
          - {class: server_error, status: 500, weight: 3}
          - {class: overloaded, status: 503, weight: 1}
        stick: {request: 60%, window: 0%, free: 40%}
  - name: slow
    hits: {target: first}
    when: {window: {from: 30m, lasts: 10m}}
    effects: {speed: 0.5}
";

/// Retries on the spot, so that second tries are seen.
const POLICY: &str = "conservative";

fn recovered(format: RowFormat, json: bool) -> (Scenario, f64) {
    // Some calls are never answered, too.
    let failing = "{class: server_error, status: 500, share: 1%}\n";
    let hanging = "    - {class: timeout, status: 0, share: 0.5%, hang: true}\n";
    let card = CARD.replace(failing, &format!("{failing}{hanging}"));
    let hidden = known(&[("hidden.yaml", SCENARIO), ("card.yaml", &card)]);
    let log = ledger(&hidden.scenario, &policy(POLICY), 7, 1, format);
    let (read, evidence, fit) = fitted(&log, json);
    assert_eq!(read.unusable.count(), 0);
    let scenario = written(&fit, &evidence, hidden.folder.path());
    (scenario, fit.requests as f64)
}

fn window(entry: &WeatherSpec) -> (f64, f64) {
    let When::Window { from, lasts } = &entry.when else { panic!("{entry:?}") };
    let minutes = |duration: Duration| duration.as_micros() as f64 / 60e6;
    (minutes(from.from), minutes(from.from + lasts.from))
}

fn near(what: &str, found: f64, truth: f64, within: f64) {
    assert!((found - truth).abs() <= within, "{what}: {found} is not within {within} of {truth}");
}

/// The failing share over all its time: where a breaker was open it may be taken otherwise.
fn severity(entry: &WeatherSpec) -> f64 {
    let failures = entry.effects.failures.as_ref().expect("it fails");
    let peak = failures.share.from.as_f64();
    let Shape::Course { points, .. } = &entry.shape else { return peak };
    let (from, to) = window(entry);
    let starts = points.iter().map(|(at, share)| (at.as_micros() as f64 / 60e6, share.as_f64()));
    let starts: Vec<(f64, f64)> = starts.chain([(to - from, 0.0)]).collect();
    let sum: f64 = starts.windows(2).map(|step| (step[1].0 - step[0].0) * step[0].1).sum();
    peak * sum / (to - from)
}

#[test]
fn parameters_are_recovered() {
    let (scenario, requests) = recovered(RowFormat::Csv, false);
    let first = scenario.targets.iter().find(|t| t.name == "first").expect("the log names it");

    near("requests", requests, 24_000.0, 4.0 * 24_000_f64.sqrt());
    assert_eq!(scenario.topology.classes[0].deadline_total, Duration::from_secs(30));
    let price = Price { input: 2_400_000, cached: 2_400_000, output: 9_600_000 };
    assert_eq!(first.price, price, "in picodollars per token");

    // Ordinary times: twenty-five minutes of ten requests a second.
    let ordinary = 25.0 * 600.0;
    let share = |hang: bool| {
        let kinds = first.failures.mix.iter().filter(|kind| kind.hang == hang);
        kinds.map(|kind| kind.share.as_f64()).sum::<f64>()
    };
    for (what, hang, truth) in [("errors", false, 0.01), ("silence", true, 0.005)] {
        near(what, share(hang), truth, 4.0 * (truth * (1.0 - truth) / ordinary).sqrt());
    }

    // The incident, to the minute.
    let failing: Vec<&WeatherSpec> =
        scenario.file.weather.iter().filter(|entry| entry.effects.failures.is_some()).collect();
    let [incident] = failing[..] else { panic!("one incident, not {failing:?}") };
    let (from, to) = window(incident);
    near("onset", from, 10.0, 1.0);
    near("end", to, 25.0, 1.0);
    let Effects { failures: Some(failures), .. } = &incident.effects else { panic!("it fails") };
    near("severity", severity(incident), 0.25, 4.0 * (0.25 * 0.75 / 9_000_f64).sqrt());
    let weight = |status| {
        let all: u32 = failures.mix.iter().map(|kind| kind.weight).sum();
        let own = failures.mix.iter().find(|kind| kind.status == status).expect("it occurs");
        f64::from(own.weight) / f64::from(all)
    };
    near("mix", weight(500), 0.75, 4.0 * (0.75 * 0.25 / (0.25 * 9_000_f64)).sqrt());
    // Of some 2,400 second tries about 68 % fail; the share that sticks moves as fast or faster.
    let stick = failures.stick.expect("it was seen").request.as_f64();
    near("stickiness", stick, 0.6, 4.0 * 1.5 * (0.68 * 0.32 / 2_400_f64).sqrt());

    // The slowdown, to the minute.
    let slow: Vec<&WeatherSpec> =
        scenario.file.weather.iter().filter(|entry| entry.effects.speed.is_some()).collect();
    let [slow] = slow[..] else { panic!("one slowdown, not {slow:?}") };
    near("slow from", window(slow).0, 30.0, 1.0);
    let speed = slow.effects.speed.expect("it is slow").from.get();
    // The logarithm varies by 0.3, and a little by prompts, over 6,000 answers.
    near("speed", speed, 0.5, 0.5 * 4.0 * 0.35 / 6_000_f64.sqrt() + 0.5 * CELL);

    // Times. A median's error is 1.2533 σ / √n.
    let n = 18_000_f64;
    let mean_prompt = 900.0 * (0.8_f64 * 0.8 / 2.0).exp();
    near("per prompt token", first.latency.per_prompt_token.as_micros() as f64, 50.0, 6.0);
    let median = first.latency.first_token.sample(u64::MAX / 2) as f64 / 1e6;
    let at_mean = 0.6 + 50e-6 * (mean_prompt - 900.0);
    near("first token", median, at_mean, at_mean * (4.0 * 1.2533 * 0.3 / n.sqrt() + 2.0 * CELL));
    let pace = first.latency.per_output_token.sample(u64::MAX / 2) as f64 / 1e3;
    near("pace", pace, 8.0, 8.0 * (4.0 * 1.2533 * 0.2 / n.sqrt() + CELL));
    let failure = first.latency.failure.sample(u64::MAX / 2) as f64 / 1e3;
    near("failure", failure, 150.0, 150.0 * CELL);
}

/// A million dollars for one answer: prices come back as without it, and it is no cost of the log.
#[test]
fn one_absurd_bill_spoils_no_price() {
    let hidden = known(&[("hidden.yaml", SCENARIO), ("card.yaml", CARD)]);
    let log = ledger(&hidden.scenario, &policy(POLICY), 7, 1, RowFormat::Csv);
    let mut reader = csv::Reader::from_reader(&log[..]);
    let header = reader.headers().expect("it has one").clone();
    let mut rows: Vec<csv::StringRecord> =
        reader.records().map(|row| row.expect("a row")).collect();
    let place = |name: &str| header.iter().position(|column| column == name).expect("it is there");
    let (cost, target, measured) = (place("cost_usd"), place("target"), place("measured"));
    let is_bill = |row: &csv::StringRecord| {
        &row[target] == "first"
            && &row[measured] == "true"
            && row[cost].parse::<f64>().is_ok_and(|usd| usd > 0.0)
    };
    let spoilt = rows.iter().position(is_bill).expect("there are bills") + 1_000;
    let spoilt = spoilt + rows[spoilt..].iter().position(is_bill).expect("there are more");
    let honest: f64 = rows[spoilt][cost].parse().expect("a number");
    let cells: Vec<&str> = rows[spoilt].iter().collect();
    let absurd: Vec<&str> = cells
        .iter()
        .enumerate()
        .map(|(at, cell)| if at == cost { "1000000" } else { cell })
        .collect();
    rows[spoilt] = csv::StringRecord::from(absurd);
    let mut written_again = csv::Writer::from_writer(Vec::new());
    [&header].into_iter().chain(&rows).for_each(|row| {
        written_again.write_record(row).expect("memory takes all");
    });
    let again = written_again.into_inner().expect("memory takes all");

    let (_, _, plain) = fitted(&log, false);
    let (_, evidence, fit) = fitted(&again, false);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let price = Price { input: 2_400_000, cached: 2_400_000, output: 9_600_000 };
    assert_eq!(written(&fit, &evidence, folder.path()).targets[0].price, price);
    let said = fit.said().join("\n");
    assert!(said.contains("first: 1 bill of more than ten times what the others say"), "{said}");
    assert!(said.contains(": $1000000 for "), "{said}");
    // Its honest bill alone is missing from the costs of the log.
    let cost = |fit: &Fit| fit.lived.classes[0].cost as f64 / 1e12;
    assert!((cost(&plain) - cost(&fit) - honest).abs() < 1e-9, "{}", cost(&plain) - cost(&fit));
}

#[test]
fn json_lines_say_the_same_as_csv() {
    let (csv, _) = recovered(RowFormat::Csv, false);
    let (json, _) = recovered(RowFormat::JsonLines, true);
    assert_eq!(csv.file, json.file);
    assert_eq!(csv.hash, json.hash);
}
