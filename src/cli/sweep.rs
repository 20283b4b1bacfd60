//! `sweep`.

use std::path::{Path, PathBuf};

use windtunnel::experiment::ExperimentError;
use windtunnel::input::InputError;
use windtunnel::library::{self, load_policy};
use windtunnel::measures::Catalogue;
use windtunnel::scenario::Scenario;
use windtunnel::space::{Method, PolicySpace, Sampling, Space};
use windtunnel::sweep::{
    Aggregate, DEFAULT_OBJECTIVES, Objective, Runner, Shard, Study, StudyOptions, Weighted,
};
use windtunnel_policy::text::parse_share;

use super::Outcome;
use super::again::Again;
use super::args::{Sample, SweepArgs};
use super::interrupt::{self, First, INTERRUPTED};
use super::journal::Journal;
use super::output::print;
use super::progress::Progress;
use super::say::say;
use super::sweep_outputs::Outputs;

/// Runs the variants of a space.
pub(super) fn sweep(args: &SweepArgs) -> Outcome {
    let scenarios = scenarios(&args.scenarios)?;
    let space = space(args)?;
    let objectives = objectives(args, &scenarios)?;
    let options = StudyOptions {
        sampling: Sampling {
            method: method(args.sample),
            count: args.variants,
            seed: args.sample_seed,
        },
        seed: args.seed,
        worlds: args.worlds,
        resample: args.resample,
        objectives,
        score: aggregate(args.robust.as_deref(), scenarios.len())?,
        shard: shard(args)?,
    };
    let weighted =
        scenarios.iter().map(|(scenario, weight)| Weighted { scenario, weight: *weight });
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads.map_or(0, usize::from))
        .build()
        .map_err(|error| InputError::new("--threads", error.to_string()))?;
    let study = pool.install(|| Study::new(weighted.collect(), space, &options))?;
    if let Some(number) = args.show {
        return show(&study, number);
    }
    if let Some(note) = study.plan.note(&study.space).filter(|_| !args.to.quiet) {
        say("note", note);
    }
    if args.dry_run {
        return dry_run(&study);
    }
    pool.install(|| run(args, &study, &scenarios))
}

fn run(args: &SweepArgs, study: &Study<'_>, scenarios: &[(Scenario, f64)]) -> Outcome {
    interrupt::watch(First::CompletesVariants);
    let read = files_read(args, scenarios);
    let outputs = Outputs::open(&args.to, &study.header, &read, &Again::sweep(args))?;
    let mut journal = Journal::open(outputs.journal(), &study.header, args.resume)?;
    let rows = study.header.shard.rows(study.header.variants).len();
    let finished = journal.finished();
    if finished < rows {
        let failed = |error: ExperimentError| {
            let names: Vec<&str> = scenarios.iter().map(|(s, _)| s.source.name.as_str()).collect();
            InputError::new(names.join(", "), error.to_string())
        };
        let runner = Runner::new(study, &library::single()?).map_err(failed)?;
        let progress = Progress::of_variants(args.to.quiet);
        let mut failure = None;
        let mut done = finished;
        progress.at(done, rows);
        runner.rows(finished, interrupt::asked, |row| {
            // Rows behind one that could not be kept are of no use.
            if failure.is_none() {
                failure = journal.add(&row).err();
                done += 1;
                progress.at(done, rows);
            }
        });
        progress.clear();
        if let Some(error) = failure {
            return Err(error);
        }
    }
    let complete = journal.finished() == rows;
    outputs.write(journal, complete)?;
    Ok(if complete { 0 } else { INTERRUPTED })
}

/// Beyond these, one scenario alone counts, or sums of weights are no numbers.
const WEIGHTS: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

/// Scenarios with their weights, as `NAME` or `NAME=WEIGHT`.
fn scenarios(written: &[String]) -> Result<Vec<(Scenario, f64)>, InputError> {
    let mut scenarios: Vec<(Scenario, f64)> = Vec::new();
    for text in written {
        let weighted = text.rsplit_once('=').and_then(|(name, w)| Some((name, w.parse().ok()?)));
        let (name, weight): (&str, f64) = weighted.unwrap_or((text, 1.0));
        if !WEIGHTS.contains(&weight) {
            let message = "a weight is a number above 0: from 0.000001 to 1000000";
            return Err(
                InputError::new(text, message).fix(format!("write `{name}=2`, or `{name}`"))
            );
        }
        let scenario = Scenario::load(name).map_err(|error| bad_weight(text, error))?;
        let called = &scenario.file.name;
        if scenarios.iter().any(|(other, _)| other.file.name == *called) {
            return Err(InputError::new(text, format!("scenario `{called}` is given twice"))
                .fix("leave one out, or give one a larger weight"));
        }
        scenarios.push((scenario, weight));
    }
    Ok(scenarios)
}

/// What to tell who writes something else where a weight stands.
fn bad_weight(text: &str, error: InputError) -> InputError {
    match text.rsplit_once('=') {
        Some((name, weight)) if weight.parse::<f64>().is_err() => {
            InputError::new(text, format!("`{weight}` is no weight, which is a number"))
                .fix(format!("write `{name}=2`, or `{name}`"))
        }
        _ => error,
    }
}

fn space(args: &SweepArgs) -> Result<PolicySpace, InputError> {
    let space = match &args.space {
        Some(name) => Space::load(name)?.with_arguments(&args.vary)?,
        None => Space::of_arguments(&args.vary)?,
    };
    let base = match &args.policy {
        Some(name) => load_policy(name)?,
        None => space.base_policy()?.map_or_else(|| load_policy("conservative"), Ok)?,
    };
    space.around(&base)
}

fn objectives(
    args: &SweepArgs,
    scenarios: &[(Scenario, f64)],
) -> Result<Vec<Objective>, InputError> {
    let catalogues: Vec<Catalogue> = scenarios.iter().map(|(s, _)| Catalogue::of(s)).collect();
    let default = || DEFAULT_OBJECTIVES.map(String::from).to_vec();
    let texts = if args.objectives.is_empty() { default() } else { args.objectives.clone() };
    let mut objectives: Vec<Objective> = Vec::new();
    for text in &texts {
        let objective = Objective::parse(text, &catalogues)?;
        if objectives.iter().any(|other| other.measure == objective.measure) {
            let message = format!("`{}` is given twice", objective.measure);
            return Err(InputError::new("--objective", message).fix("leave one out"));
        }
        objectives.push(objective);
    }
    Ok(objectives)
}

/// What `--robust` says.
pub(super) fn aggregate(robust: Option<&str>, scenarios: usize) -> Result<Aggregate, InputError> {
    let Some(text) = robust else { return Ok(Aggregate::Mean) };
    if scenarios < 2 {
        return Err(InputError::new("--robust", "there is one scenario, which is its own worst")
            .fix("name several scenarios"));
    }
    if text == "worst" {
        return Ok(Aggregate::Worst);
    }
    let share = parse_share(text).ok().map(|share| share.as_f64());
    share.filter(|share| *share > 0.0 && *share < 1.0).map(Aggregate::Quantile).ok_or_else(|| {
        InputError::new("--robust", format!("expected a share between 0 and 1, found `{text}`"))
            .fix("write `--robust 25%`, or `--robust=worst`")
    })
}

fn shard(args: &SweepArgs) -> Result<Shard, InputError> {
    let Some(text) = &args.shard else { return Ok(Shard::WHOLE) };
    let shard = Shard::parse(text)?;
    let [only] = args.to.out.as_slice() else {
        return Err(InputError::new("--shard", "a shard writes one file")
            .fix("add `--out FILE.sweep`, and `merge` the files of all shards"));
    };
    if only.extension().is_none_or(|ending| ending != "sweep")
        || args.to.plot.is_some()
        || args.to.report.is_some()
    {
        return Err(InputError::new("--shard", "a shard alone makes no table, chart or report")
            .fix("write `--out FILE.sweep`, and let `merge` make the rest"));
    }
    Ok(shard)
}

const fn method(sample: Sample) -> Method {
    match sample {
        Sample::Grid => Method::Grid,
        Sample::Random => Method::Random,
        Sample::Lhs => Method::LatinHypercube,
        Sample::Sobol => Method::Sobol,
    }
}

/// The policy of one variant, as a file.
fn show(study: &Study<'_>, number: u64) -> Outcome {
    if number > study.header.variants {
        let message = format!("there is no variant {number}");
        return Err(InputError::new("--show", message)
            .fix(format!("name one of 1 to {}, or 0 for the base", study.header.variants)));
    }
    let variant = study.variant(number);
    print(&study.policy_file(number, &variant))?;
    Ok(0)
}

fn dry_run(study: &Study<'_>) -> Outcome {
    let tally = study.plan.tally;
    print(&format!(
        "{} variants of `{}`: {} points, {} excluded by conditions, {} repeated; all are good\n",
        study.header.variants, study.header.base.name, tally.drawn, tally.excluded, tally.repeated
    ))?;
    Ok(0)
}

/// The files on disk a sweep is made of.
fn files_read(args: &SweepArgs, scenarios: &[(Scenario, f64)]) -> Vec<PathBuf> {
    let named = args.policy.iter().chain(&args.space).map(PathBuf::from);
    let named = named.filter(|path: &PathBuf| Path::is_file(path));
    scenarios.iter().flat_map(|(scenario, _)| scenario.files()).chain(named).collect()
}
