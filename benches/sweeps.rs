//! The speed goals G3 and G4: sweeps over thousands of policies by the program itself.
//!
//! `threads` runs a sweep of 256 variants with one thread and with two, in turn. `large` runs 4,096
//! variants in ten worlds of 10,000 measured requests of the standard scenario, once, with a thread a core: some 680 million
//! requests with those of the warm-up and those that come until the last measured one is closed.

mod common;

use common::{cut_standard, head, median, program, row, standard_policy, timed, wanted};

const ROUNDS: usize = 3;
/// Seconds: a warm-up of 60, and the 201 of the steps after it in which 10,000 requests come.
const HORIZON: u32 = 261;
/// Six fields of the standard policy, all of which change what a run costs.
const VARY: [&str; 6] = [
    "attempts.max=1..6",
    "backoff.base=50ms..2s:log",
    "timeouts.first_token=2s..20s:log",
    "breakers[0].open_for=2s..60s:log",
    "breakers[0].trip[0].rate_over_count.failures=10%..80%",
    "retry_after.longest_wait=1s..30s:log",
];

fn main() {
    let folder = tempfile::tempdir().expect("a folder for the cut scenario");
    let scenario = cut_standard(folder.path(), HORIZON);
    head(&["sweep", "seconds", "memory, MB", "reference, s", "times as fast", "goal"]);
    if wanted("threads") {
        let (mut two, mut one) = (Vec::new(), Vec::new());
        let mut memory = None;
        for _ in 0..ROUNDS {
            one.push(timed(|| memory = memory.max(sweep(&scenario, "256", Some("1")))));
            two.push(timed(|| memory = memory.max(sweep(&scenario, "256", Some("2")))));
        }
        let (two, one) = (median(two), median(one));
        let name = "256 variants × 10 worlds × 10,000 requests, two threads against one";
        print(name, two, memory, Some(one), "≥ 1.85");
    }
    if wanted("large") {
        let mut memory = None;
        let seconds = timed(|| memory = sweep(&scenario, "4096", None));
        let name = "4,096 variants × 10 worlds × 10,000 requests";
        print(name, seconds, memory, None, "≤ 75 s, ≤ 200 MB");
    }
}

fn sweep(scenario: &str, variants: &str, threads: Option<&str>) -> Option<u64> {
    let mut words = vec!["sweep", scenario, "--variants", variants, "--worlds", "10", "--quiet"];
    let policy = standard_policy();
    words.extend(["--policy", &policy]);
    VARY.iter().for_each(|field| words.extend(["--vary", field]));
    words.extend(threads.iter().flat_map(|threads| ["--threads", threads]));
    program(&words)
}

fn print(name: &str, seconds: f64, memory: Option<u64>, reference: Option<f64>, goal: &str) {
    let dash = || "–".to_owned();
    row(&[
        name.into(),
        format!("{seconds:.1}"),
        memory.map_or_else(dash, |memory| memory.to_string()),
        reference.map_or_else(dash, |reference| format!("{reference:.1}")),
        reference.map_or_else(dash, |reference| format!("{:.2}", reference / seconds)),
        goal.into(),
    ]);
}
