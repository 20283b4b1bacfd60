//! The words of `sweep`, `merge` and `tune`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::seed;

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("goal").required(true))]
#[command(group = clap::ArgGroup::new("varies").required(true).multiple(true))]
pub(in crate::cli) struct TuneArgs {
    /// Scenarios: files, or names of shipped ones.
    #[arg(required = true, value_name = "SCENARIO")]
    pub(in crate::cli) scenarios: Vec<String>,
    /// The policy that is varied, and that a recommendation must beat: a file, or the name of a
    /// shipped one. Without it, the policy the space names, or else `conservative`.
    #[arg(long, short)]
    pub(in crate::cli) policy: Option<String>,
    /// A space: a file, or the name of a shipped one.
    #[arg(long, group = "varies", value_name = "SPACE")]
    pub(in crate::cli) space: Option<String>,
    /// Something more that varies, such as 'backoff.base=50ms..2s:log' or 'attempts.max=1..5';
    /// several times.
    #[arg(long, group = "varies", value_name = "FIELD=VALUES")]
    pub(in crate::cli) vary: Vec<String>,
    /// The measure to make small, such as `cost_per_1k`.
    #[arg(long, group = "goal", value_name = "MEASURE")]
    pub(in crate::cli) minimize: Option<String>,
    /// The measure to make large, such as `success`.
    #[arg(long, group = "goal", value_name = "MEASURE")]
    pub(in crate::cli) maximize: Option<String>,
    /// A condition to meet in every scenario, such as 'success >= 99.5%' or
    /// 'cost_per_1k <= base * 1.05'; several times.
    #[arg(long, value_name = "CONDITION")]
    pub(in crate::cli) subject_to: Vec<String>,
    /// A scenario that is not tuned on, where a recommendation must not be clearly worse; several
    /// times.
    #[arg(long, value_name = "SCENARIO")]
    pub(in crate::cli) hold_out: Vec<String>,
    /// Of several scenarios the worst counts, not their mean; or a share of the worst:
    /// `--robust 25%`.
    #[arg(long, value_name = "SHARE", num_args = 0..=1, default_missing_value = "worst")]
    pub(in crate::cli) robust: Option<String>,
    /// Requests that the search may simulate, such as 200M; confirmation and evidence come on top.
    /// 60M where neither this nor `--variants` is given.
    #[arg(long, value_name = "REQUESTS", value_parser = count)]
    pub(in crate::cli) budget: Option<u64>,
    /// How many variants over the whole space; as many as the budget carries where absent.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(in crate::cli) variants: Option<u64>,
    /// Worlds for the confirmation, of a stream of their own.
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub(in crate::cli) held_out_worlds: u32,
    /// Choose by the published course of traffic and incident alone. Held-out worlds draw both
    /// within the scenario's ranges all the same, and so show what that over-fits.
    #[arg(long)]
    pub(in crate::cli) as_published: bool,
    /// Seed of all luck.
    #[arg(long, default_value_t = 1, value_parser = seed)]
    pub(in crate::cli) seed: u64,
    /// Threads; the result does not depend on it. All cores where absent.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(in crate::cli) threads: Option<u16>,
    /// Write a report to read, send and print: .html (one file with charts) or .md.
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) report: Option<PathBuf>,
    /// Draw into this folder, each as SVG and PNG: the front in held-out worlds, every variant, what each
    /// field does, a map of the two that matter most, and base and recommendation over time.
    #[arg(long, value_name = "FOLDER")]
    pub(in crate::cli) plot: Option<PathBuf>,
    /// Shape of the report.
    #[arg(long, value_enum, default_value_t = TuneFormat::Text)]
    pub(in crate::cli) format: TuneFormat,
    /// Write the report here instead of to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Write the recommended policy here, with the evidence in comments: a file `windtunnel check`
    /// takes. Nothing is written where nothing is recommended.
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) recommend: Option<PathBuf>,
    /// Print nothing but mistakes.
    #[arg(long, short)]
    pub(in crate::cli) quiet: bool,
}

/// A number with k, M or G behind it for thousands, millions and milliards.
fn count(text: &str) -> Result<u64, String> {
    let wrong = || "expected a number of requests, such as 500k, 60M or 2G".to_owned();
    let (digits, scale) = match text.char_indices().last() {
        Some((at, 'k')) => (&text[..at], 1_000),
        Some((at, 'M')) => (&text[..at], 1_000_000),
        Some((at, 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(scale).filter(|count| *count > 0).ok_or_else(wrong)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(in crate::cli) enum TuneFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("varies").required(true).multiple(true))]
pub(in crate::cli) struct SweepArgs {
    /// Scenarios: files, or names of shipped ones. `NAME=2` gives one twice the weight.
    #[arg(required = true, value_name = "SCENARIO")]
    pub(in crate::cli) scenarios: Vec<String>,
    /// What varies: a space file, or the name of a shipped one.
    #[arg(long, short, group = "varies", value_name = "SPACE")]
    pub(in crate::cli) space: Option<String>,
    /// One more field that varies, such as 'backoff.base=50ms..2s:log' or 'attempts.max=1..4';
    /// several times.
    #[arg(long, group = "varies", value_name = "FIELD=VALUES")]
    pub(in crate::cli) vary: Vec<String>,
    /// The policy that is varied: a file, or the name of a shipped one. Without it, the one the
    /// space names, or `conservative`.
    #[arg(long, short)]
    pub(in crate::cli) policy: Option<String>,
    /// How variants are drawn.
    #[arg(long, value_enum, default_value_t = Sample::Sobol)]
    pub(in crate::cli) sample: Sample,
    /// How many variants to draw; a grid has as many as it has.
    #[arg(long, default_value_t = 256, value_name = "COUNT")]
    pub(in crate::cli) variants: u64,
    /// Seed of that draw, apart from the worlds' luck.
    #[arg(long, default_value_t = 1, value_parser = seed)]
    pub(in crate::cli) sample_seed: u64,
    /// What is wanted of a policy: a measure, several times. `min:` or `max:` before it where it
    /// is good neither way by itself. Without it, `success` and `cost_per_success`.
    #[arg(long = "objective", value_name = "MEASURE")]
    pub(in crate::cli) objectives: Vec<String>,
    /// Score each objective by the worst scenario instead of by weight, or by a share of the worst:
    /// `--robust 25%`.
    #[arg(long, value_name = "SHARE", num_args = 0..=1, default_missing_value = "worst")]
    pub(in crate::cli) robust: Option<String>,
    /// How many worlds of each scenario, the same for every variant.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(in crate::cli) worlds: u32,
    /// Seed of the worlds' luck.
    #[arg(long, default_value_t = 1, value_parser = seed)]
    pub(in crate::cli) seed: u64,
    /// Also draw, for each world, stretches of the traffic and the incident's onset, severity and
    /// duration within the scenario's ranges.
    #[arg(long)]
    pub(in crate::cli) resample: bool,
    /// Run one of several parts, such as 2/8; needs `--out FILE.sweep`, which `merge` puts together.
    #[arg(long, value_name = "PART/PARTS")]
    pub(in crate::cli) shard: Option<String>,
    /// Go on where an interrupted sweep of the same files and options ended.
    #[arg(long)]
    pub(in crate::cli) resume: bool,
    /// Check everything, say how many variants there are, and run nothing.
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Write the variant of this number as a policy file to standard output, and run nothing.
    #[arg(long, value_name = "NUMBER")]
    pub(in crate::cli) show: Option<u64>,
    /// Threads; the result does not depend on it. All cores where absent.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(in crate::cli) threads: Option<u16>,
    #[command(flatten)]
    pub(in crate::cli) to: SweepOutputs,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct MergeArgs {
    /// The `.sweep` files of all shards of one sweep, in any order; or a single one.
    #[arg(required = true, value_name = "FILE")]
    pub(in crate::cli) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) to: SweepOutputs,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct SweepOutputs {
    /// Write the rows of all variants: .csv, .jsonl, .parquet, or .sweep, which can be resumed and
    /// merged; several times.
    #[arg(long, short, value_name = "FILE")]
    pub(in crate::cli) out: Vec<PathBuf>,
    /// Draw the front, the fields' effects and a map of the two that matter most into this folder,
    /// each as SVG and PNG.
    #[arg(long, value_name = "FOLDER")]
    pub(in crate::cli) plot: Option<PathBuf>,
    /// Write a report to read, send and print: .html (one file with charts) or .md.
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) report: Option<PathBuf>,
    /// Print nothing but mistakes.
    #[arg(long, short)]
    pub(in crate::cli) quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(in crate::cli) enum Sample {
    /// Every combination.
    Grid,
    /// Each point by itself.
    Random,
    /// A Latin hypercube: each slice of each field holds one point.
    Lhs,
    /// Scrambled Sobol points, which leave no corner empty.
    Sobol,
}
