//! The speed goal G5: what a request costs as runs, fleets, crowds, retries and sweeps grow.
//!
//! Each series has a reference, its smallest member that is no trifle, and every other one is timed in turn
//! with it: read the ratios, which stay near one where cost is linear. Arguments choose series by name;
//! `--plot=FILE.svg` draws them.

#[path = "growth/chart.rs"]
mod chart;
mod common;

use std::fmt::Write;
use std::path::PathBuf;

use windtunnel::input::SourceFile;
use windtunnel::library;
use windtunnel::scenario::Scenario;
use windtunnel_policy::Duration;
use windtunnel_policy::config::Policy;

use common::{
    Run, cut_standard, head, load, median, program, read, row, standard_policy, timed, wanted,
};

const ROUNDS: u64 = 5;
/// Requests that each side of a ratio serves in a round at least, where its world has fewer.
const REQUESTS: u64 = 200_000;

/// What grows, and what a unit of work costs at each size.
struct Series {
    name: &'static str,
    /// What its sizes count.
    of: &'static str,
    /// Sizes with their ratios to the reference, the reference among them at 1.
    points: Vec<(u64, f64)>,
}

impl Series {
    fn new(name: &'static str, of: &'static str, reference: u64) -> Series {
        Series { name, of, points: vec![(reference, 1.0)] }
    }

    /// Takes a pair of times for a unit of work, in nanoseconds.
    fn add(&mut self, size: u64, ours: f64, reference: f64) {
        let ratio = ours / reference;
        self.points.push((size, ratio));
        row(&[
            format!("{size} {}", self.of),
            format!("{ours:.0}"),
            format!("{reference:.0}"),
            format!("{ratio:.2}"),
            "≤ 1.5".into(),
        ]);
    }
}

/// Measures a series and prints its rows.
type Measure = fn() -> Series;

fn main() {
    head(&["size", "ns", "reference, ns", "ratio", "goal"]);
    let all: [(&str, Measure); 5] = [
        ("requests", requests),
        ("targets", targets),
        ("in-flight", in_flight),
        ("attempts", attempts),
        ("variants", variants),
    ];
    let mut series: Vec<Series> =
        all.iter().filter(|(name, _)| wanted(name)).map(|(_, measure)| measure()).collect();
    series.iter_mut().for_each(|series| series.points.sort_by_key(|(size, _)| *size));
    if let Some(path) = plot() {
        chart::draw(&series, &path);
    }
}

/// The file of `--plot=FILE`.
fn plot() -> Option<PathBuf> {
    std::env::args().find_map(|word| word.strip_prefix("--plot=").map(PathBuf::from))
}

/// The standard scenario, longer and longer.
fn requests() -> Series {
    let cut = |seconds| {
        let mut scenario = load("standard");
        scenario.file.warm_up = Duration::ZERO;
        scenario.file.horizon = Duration::from_secs(seconds);
        scenario
    };
    let mut series = Series::new("requests of a run", "requests", 10_000);
    let small = cut(236);
    let mut small = Run::of(&small);
    for (size, seconds) in
        [(1_000, 24), (100_000, 2_360), (1_000_000, 23_600), (10_000_000, 236_000)]
    {
        let (ours, reference) = in_turn(Run::of(&cut(seconds)), &mut small);
        series.add(size, ours, reference);
    }
    series
}

/// R1's targets in pairs, each pair with the same share of the traffic.
fn targets() -> Series {
    let mut series = Series::new("targets of a fleet", "targets", 2);
    let few = pairs(1);
    let mut few = Run::of(&few);
    for size in [20, 60, 200] {
        let (ours, reference) = in_turn(Run::of(&pairs(size / 2)), &mut few);
        series.add(size, ours, reference);
    }
    series
}

fn pairs(pairs: u64) -> Scenario {
    let mut classes = String::new();
    let mut targets = String::new();
    for pair in 0..pairs {
        let (a, b, rate) = (2 * pair, 2 * pair + 1, 100.0 / pairs as f64);
        let groups = format!("{{primary: [t{a}], fallbacks: [[t{b}]]}}");
        classes += &class(&format!("c{pair}"), &groups, rate, 30);
        writeln!(targets, "  t{a}: {CARD}\n  t{b}: {CARD}").expect("a string takes it");
    }
    scenario("pairs", 1_000.0, &classes, &targets)
}

/// One target with room for all, ten seconds an answer, and a second try for the bad ones.
fn in_flight() -> Series {
    let mut series = Series::new("requests in flight", "in flight", 100);
    let few = crowd(100);
    let mut few = Run::of(&few);
    for size in [1, 10, 1_000, 10_000, 50_000] {
        let (ours, reference) = in_turn(Run::of(&crowd(size)), &mut few);
        series.add(size, ours, reference);
    }
    series
}

fn crowd(in_flight: u64) -> Scenario {
    let rate = in_flight as f64 / 10.0;
    let seconds = (REQUESTS as f64 / rate).max(100.0);
    let target = "  all:\n    card: ../models/r1-server.yaml\n    \
        latency: {source: bench, headers: {constant: 10s}, first_token: {constant: 10s}, prompt_tokens: 1, \
        per_prompt_token: 0us, per_output_token: {constant: 0us}, failure: {constant: 0us}}\n    \
        capacity: {source: bench, slots: 200000, queue: 0}\n";
    scenario("crowd", seconds, &class("work", "{primary: [all]}", rate, 120), target)
}

/// A target that refuses everything, and more and more tries. The unit of work is an attempt.
fn attempts() -> Series {
    let mut series = Series::new("attempts of a request", "attempts", 2);
    let target = "  down:\n    card: ../models/r1-server.yaml\n    \
        failures: {source: bench, mix: [{class: overloaded, status: 503, share: 100%}]}\n";
    let class = class("work", "{primary: [down]}", 200.0, 3_600);
    let down = scenario("down", REQUESTS as f64 / 200.0, &class, target);
    let mut few = Run::under(&down, &persistent(2));
    for size in [1, 4, 8, 16] {
        let (ours, reference) = in_turn(Run::under(&down, &persistent(size)), &mut few);
        series.add(size, ours / size as f64, reference / 2.0);
    }
    series
}

/// Tries so many times at one target.
fn persistent(attempts: u64) -> Policy {
    let text = format!(
        "name: persistent\nattempts: {{max: {attempts}, max_same_target: {attempts}}}\nbackoff: {{base: \
         250ms, max: 4s}}\ncooldown: {{rule: none}}\nmatrix: {{overloaded: {{retry: bounded, blame: no}}}}\n"
    );
    let source = SourceFile { name: "persistent".into(), text, folder: None };
    library::read_policy(&source).unwrap_or_else(|e| panic!("{e}"))
}

/// Sweeps by the program itself. The unit of work is a variant.
fn variants() -> Series {
    let folder = tempfile::tempdir().expect("a folder for the cut scenario");
    let path = cut_standard(folder.path(), 84);
    let sweep = |variants: u64| {
        let count = variants.to_string();
        let policy = standard_policy();
        let words = ["sweep", &path, "--policy", &policy, "--variants", &count, "--quiet"];
        let vary =
            ["--vary", "timeouts.first_token=2s..20s:log", "--vary", "backoff.base=50ms..2s:log"];
        1e9 * timed(|| {
            program(&[&words[..], &vary].concat());
        }) / variants as f64
    };
    let mut series = Series::new("variants of a sweep", "variants", 64);
    // The longest takes a minute, which evens out by itself what three of the others do.
    for (size, rounds) in [(16, 3), (256, 3), (1_024, 1)] {
        let pairs: Vec<(f64, f64)> = (0..rounds).map(|_| (sweep(size), sweep(64))).collect();
        let of = |side: fn(&(f64, f64)) -> f64| median(pairs.iter().map(side).collect());
        series.add(size, of(|pair| pair.0), of(|pair| pair.1));
    }
    series
}

const CARD: &str = "{card: ../models/r1-server.yaml}";

fn class(name: &str, groups: &str, rate: f64, deadline: u32) -> String {
    format!(
        "  {name}:\n    deadline: {{total: {deadline}s}}\n    groups: {groups}\n    traffic: {{arrivals: \
         {{poisson: {rate}/s}}, streamed: 0%, tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, \
         max_output: 1}}}}\n"
    )
}

fn scenario(name: &str, seconds: f64, classes: &str, targets: &str) -> Scenario {
    let text = format!(
        "name: {name}\nshows: growth\nexpect: none\nhorizon: {seconds}s\ninterval: 100s\n\
         policies: [../policies/r1.yaml]\nclasses:\n{classes}targets:\n{targets}"
    );
    read(name, text)
}

/// Times the two in turn, each until it has served as many requests; nanoseconds a request.
fn in_turn(mut ours: Run<'_>, reference: &mut Run<'_>) -> (f64, f64) {
    let each = ours.requests().max(reference.requests()).max(REQUESTS);
    let rounds = (ROUNDS * 1_000_000 / each).clamp(1, ROUNDS);
    let mut ours = || ours.once().requests;
    let mut reference = || reference.once().requests;
    let mut sides: [&mut dyn FnMut() -> u64; 2] = [&mut ours, &mut reference];
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (side, times) in sides.iter_mut().zip(&mut times) {
            let (mut seconds, mut served) = (0.0, 0);
            while served < each {
                seconds += timed(|| served += side());
            }
            times.push(1e9 * seconds / served as f64);
        }
    }
    let [ours, reference] = times.map(median);
    (ours, reference)
}
