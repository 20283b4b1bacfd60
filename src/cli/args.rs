//! The words a user may write.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use windtunnel::report::Parts;
use windtunnel::simulation::Split;

/// What another retry and fallback policy would have done.
#[derive(Parser, Debug)]
#[command(name = "windtunnel", version, about, max_term_width = 100)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Put one policy through a scenario.
    Run(RunArgs),
    /// Put several policies through the same worlds of a scenario, and say which differences are
    /// clear.
    Compare(CompareArgs),
    /// Run every variant of a policy on the same worlds, and show the Pareto front.
    Sweep(SweepArgs),
    /// Put the shards of a sweep together, or make tables and charts of one that is done.
    Merge(MergeArgs),
    /// Put policies through the safety drills. Exit code 1 where one fails.
    Drill(DrillArgs),
    /// Check scenarios, policies and model cards without running anything.
    Check {
        /// Files to check, or names of shipped ones.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Exit code 1 where something is wasteful.
        #[arg(long)]
        strict: bool,
    },
    /// List the scenarios, policies and model cards that come with windtunnel.
    List,
    /// Print the JSON Schema of a kind of file, for editors.
    Schema {
        /// Which kind of file.
        kind: SchemaKind,
    },
    /// Make a traffic profile of a trace: counts and lengths, no rows.
    Profile(ProfileArgs),
    /// Prove a policy's safety over every sequence of outcomes, or print the shortest way to break
    /// it.
    Verify(VerifyArgs),
    /// Search the policies of a space for the one that is best by a measure and meets conditions;
    /// confirm it in worlds it was not chosen by, and say what each change buys. Exit code 3 where
    /// nothing is recommended.
    Tune(TuneArgs),
    /// Tell one request's life in a scenario: every attempt, wait and breaker, and the reason of each
    /// decision.
    Explain(ExplainArgs),
    /// Make a world of a gateway's attempt log: a scenario, model cards and traffic, as files to read
    /// and edit.
    Fit(FitArgs),
    /// Say what other policies would have done in the world of a gateway's attempt log, and how far
    /// that can be believed.
    WhatIf(WhatIfArgs),
}

#[derive(Args, Debug)]
pub(super) struct WhatIfArgs {
    #[command(flatten)]
    pub(super) log: LogArgs,
    /// A policy: first the one that was in force, then the others.
    #[arg(long = "policy", short, value_name = "POLICY", required = true)]
    pub(super) policies: Vec<String>,
    /// A scenario that `fit` made of this log and that you have edited, to be used in its place.
    #[arg(long, value_name = "SCENARIO")]
    pub(super) world: Option<String>,
    /// Seed of all luck.
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub(super) seed: u64,
    /// How many worlds of luck.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..=1_000))]
    pub(super) worlds: u32,
    /// How often the world is fitted again, to blocks of the log drawn anew.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(20..=1_000))]
    pub(super) refits: u32,
    /// Threads; the result does not depend on it. All cores where absent.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Write a report to read, send and print: .html (one file with charts) or .md.
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    /// Shape of the report.
    #[arg(long, value_enum, default_value_t = WhatIfFormat::Text)]
    pub(super) format: WhatIfFormat,
    /// Write the report here instead of to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Print nothing but mistakes.
    #[arg(long, short)]
    pub(super) quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum WhatIfFormat {
    /// For people.
    Text,
    /// For a postmortem document.
    Markdown,
    /// One JSON object.
    Json,
}

#[derive(Args, Debug)]
pub(super) struct LogArgs {
    /// A log of attempts: what `--ledger` writes, LiteLLM's standard logging payload, Envoy's access
    /// log or OpenTelemetry spans as JSON Lines, or any table with `--columns`.
    pub(super) log: PathBuf,
    /// A column mapping: what the columns (or JSON fields) of the log mean.
    #[arg(long, value_name = "FILE")]
    pub(super) columns: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(super) struct FitArgs {
    #[command(flatten)]
    pub(super) log: LogArgs,
    /// The folder to write to; its name becomes the scenario's.
    #[arg(long, short, value_name = "DIR")]
    pub(super) out: PathBuf,
}

#[derive(Args, Debug)]
pub(super) struct RunArgs {
    /// A scenario: a file, or the name of a shipped one.
    pub(super) scenario: String,
    /// A policy: a file, or the name of a shipped one.
    #[arg(long, short, default_value = "conservative")]
    pub(super) policy: String,
    /// How many worlds (replications) to run.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) worlds: u32,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct CompareArgs {
    /// A scenario: a file, or the name of a shipped one.
    pub(super) scenario: String,
    /// A policy, several times; the first is the one the others are compared with. Without it,
    /// the policies the scenario names.
    #[arg(long = "policy", short, value_name = "POLICY")]
    pub(super) policies: Vec<String>,
    /// Also run the policies side by side in front of one fleet, each on its part of the sessions:
    /// `95:5` gives the first 95 % and the second 5 %.
    #[arg(long, value_name = "PARTS")]
    pub(super) split: Option<Split>,
    /// How many worlds (replications) to run; ten or more give intervals worth reading.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) worlds: u32,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct DrillArgs {
    /// Policies: files, or names of shipped ones.
    #[arg(required_unless_present = "list", value_name = "POLICY")]
    pub(super) policies: Vec<String>,
    /// List the drills, with what each checks.
    #[arg(long)]
    pub(super) list: bool,
    /// Only this drill, by number or name; several times.
    #[arg(long = "drill", short, value_name = "DRILL")]
    pub(super) drills: Vec<String>,
    /// Seed of all luck.
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub(super) seed: u64,
    /// Write a report to read, send and print: .html or .md.
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    /// Shape of the report.
    #[arg(long, value_enum, default_value_t = DrillFormat::Table)]
    pub(super) format: DrillFormat,
    /// Write the report here instead of to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Print nothing but mistakes.
    #[arg(long, short)]
    pub(super) quiet: bool,
}

#[derive(Args, Debug)]
pub(super) struct Common {
    /// Seed of all luck.
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub(super) seed: u64,
    /// Also draw, for each world, stretches of the traffic and the incident's onset, severity and
    /// duration within the scenario's ranges.
    #[arg(long)]
    pub(super) resample: bool,
    /// Threads; the result does not depend on it. All cores where absent.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Shape of the report.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(super) format: Format,
    /// Write the report here instead of to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Write every attempt, with the reason for every decision: .csv or .jsonl.
    #[arg(long, value_name = "FILE")]
    pub(super) ledger: Option<PathBuf>,
    /// Write the figures of every interval: .csv or .jsonl.
    #[arg(long, value_name = "FILE")]
    pub(super) timeline: Option<PathBuf>,
    /// Draw success over time: .svg or .png.
    #[arg(long, value_name = "FILE")]
    pub(super) plot: Option<PathBuf>,
    /// Draw success, attempts, latency and cost over time: .svg or .png.
    #[arg(long, value_name = "FILE")]
    pub(super) plot_measures: Option<PathBuf>,
    /// Write a report to read, send and print: .html (one file with charts) or .md.
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    /// Show the measures of each route class, too (JSON and CSV always hold them).
    #[arg(long)]
    pub(super) by_class: bool,
    /// Show the measures of each tenant, too (JSON always holds them).
    #[arg(long)]
    pub(super) by_tenant: bool,
    /// Also throw the kill switches of this file, and put them back.
    #[arg(long, value_name = "FILE")]
    pub(super) switches: Option<PathBuf>,
    /// Print nothing but mistakes.
    #[arg(long, short)]
    pub(super) quiet: bool,
    /// A condition to meet, such as 'success >= base - 0.1pp' or 'latency_p99 <= 20s'; several
    /// times. Exit code 1 where one fails, 3 where one is undecided.
    #[arg(long = "gate", value_name = "GATE")]
    pub(super) gates: Vec<String>,
}

impl Common {
    /// What the table shows besides the whole.
    pub(super) fn parts(&self) -> Parts {
        Parts { by_class: self.by_class, by_tenant: self.by_tenant }
    }
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

#[derive(Args, Debug)]
pub(super) struct ProfileArgs {
    /// A trace: CSV or JSON Lines.
    pub(super) trace: PathBuf,
    /// What its columns are called: that of a public trace, or `columns:TIME,UNIT,INPUT,OUTPUT[,SESSION]`
    /// with the names of the columns and the unit `s`, `ms`, `us` or `datetime`.
    #[arg(long)]
    pub(super) layout: String,
    /// Where to write the profile; its name becomes the profile's.
    #[arg(long, short, value_name = "FILE")]
    pub(super) out: PathBuf,
    /// Where the trace is from, precisely enough to find it again; its file name where absent.
    #[arg(long)]
    pub(super) source: Option<String>,
    /// Licence of the trace.
    #[arg(long, default_value = "unstated")]
    pub(super) licence: String,
    /// Day or month the trace was recorded.
    #[arg(long, default_value = "unstated")]
    pub(super) date: String,
}

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("goal").required(true))]
#[command(group = clap::ArgGroup::new("varies").required(true).multiple(true))]
pub(super) struct TuneArgs {
    /// Scenarios: files, or names of shipped ones.
    #[arg(required = true, value_name = "SCENARIO")]
    pub(super) scenarios: Vec<String>,
    /// The policy that is varied, and that a recommendation must beat: a file, or the name of a
    /// shipped one. Without it, the policy the space names, or else `conservative`.
    #[arg(long, short)]
    pub(super) policy: Option<String>,
    /// A space: a file, or the name of a shipped one.
    #[arg(long, group = "varies", value_name = "SPACE")]
    pub(super) space: Option<String>,
    /// Something more that varies, such as 'backoff.base=50ms..2s:log' or 'attempts.max=1..5';
    /// several times.
    #[arg(long, group = "varies", value_name = "FIELD=VALUES")]
    pub(super) vary: Vec<String>,
    /// The measure to make small, such as `cost_per_1k`.
    #[arg(long, group = "goal", value_name = "MEASURE")]
    pub(super) minimize: Option<String>,
    /// The measure to make large, such as `success`.
    #[arg(long, group = "goal", value_name = "MEASURE")]
    pub(super) maximize: Option<String>,
    /// A condition to meet in every scenario, such as 'success >= 99.5%' or
    /// 'cost_per_1k <= base * 1.05'; several times.
    #[arg(long, value_name = "CONDITION")]
    pub(super) subject_to: Vec<String>,
    /// A scenario that is not tuned on, where a recommendation must not be clearly worse; several
    /// times.
    #[arg(long, value_name = "SCENARIO")]
    pub(super) hold_out: Vec<String>,
    /// Of several scenarios the worst counts, not their mean; or a share of the worst:
    /// `--robust 25%`.
    #[arg(long, value_name = "SHARE", num_args = 0..=1, default_missing_value = "worst")]
    pub(super) robust: Option<String>,
    /// Requests that the search may simulate, such as 200M; confirmation and evidence come on top.
    /// 60M where neither this nor `--variants` is given.
    #[arg(long, value_name = "REQUESTS", value_parser = count)]
    pub(super) budget: Option<u64>,
    /// How many variants over the whole space; as many as the budget carries where absent.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(super) variants: Option<u64>,
    /// Worlds for the confirmation, of a stream of their own.
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub(super) held_out_worlds: u32,
    /// Choose by the published course of traffic and incident alone. Held-out worlds draw both
    /// within the scenario's ranges all the same, and so show what that over-fits.
    #[arg(long)]
    pub(super) as_published: bool,
    /// Seed of all luck.
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub(super) seed: u64,
    /// Threads; the result does not depend on it. All cores where absent.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Write a report to read, send and print: .html (one file with charts) or .md.
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    /// Shape of the report.
    #[arg(long, value_enum, default_value_t = TuneFormat::Text)]
    pub(super) format: TuneFormat,
    /// Write the report here instead of to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Write the recommended policy here, with the evidence in comments: a file `windtunnel check`
    /// takes. Nothing is written where nothing is recommended.
    #[arg(long, value_name = "FILE")]
    pub(super) recommend: Option<PathBuf>,
    /// Print nothing but mistakes.
    #[arg(long, short)]
    pub(super) quiet: bool,
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
pub(super) enum TuneFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub(super) struct ExplainArgs {
    /// A scenario: a file, or the name of a shipped one.
    pub(super) scenario: String,
    /// A policy: a file, or the name of a shipped one.
    #[arg(long, short, default_value = "conservative")]
    pub(super) policy: String,
    /// Tell the same request under this policy beside it.
    #[arg(long, value_name = "POLICY")]
    pub(super) vs: Option<String>,
    /// The request at this position in its world, as the ledger numbers them.
    #[arg(long, group = "which", value_name = "ID")]
    pub(super) request: Option<u64>,
    /// The measured request that is worst in this.
    #[arg(long, value_enum, group = "which")]
    pub(super) worst: Option<WorstIn>,
    /// The first measured request that got no answer.
    #[arg(long, group = "which")]
    pub(super) failed: bool,
    /// Seed of all luck.
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub(super) seed: u64,
    /// Which world of the seed.
    #[arg(long, default_value_t = 0)]
    pub(super) world: u32,
    /// Shape of the answer.
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub(super) format: ExplainFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum WorstIn {
    /// Time from arrival to close.
    Latency,
    /// Everything billed.
    Cost,
    /// Attempts.
    Attempts,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum ExplainFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
    /// An OpenTelemetry trace in OTLP's JSON encoding, a span for each attempt.
    Otlp,
}

#[derive(Args, Debug)]
pub(super) struct VerifyArgs {
    /// A policy: a file, or the name of a shipped one.
    pub(super) policy: String,
    /// Take targets and route classes from this scenario; else a small sample by roles.
    #[arg(long, short, value_name = "SCENARIO")]
    pub(super) scenario: Option<String>,
    /// Steps of each sequence: outcomes of attempts, cancellations, timers.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=40))]
    pub(super) depth: u32,
    /// States walked from one start, at most; beyond that the proof is undecided (exit code 3).
    #[arg(long, default_value_t = 1_000_000)]
    pub(super) max_states: u64,
    /// Shape of the answer.
    #[arg(long, value_enum, default_value_t = ProofFormat::Text)]
    pub(super) format: ProofFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum ProofFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Format {
    /// For people.
    Table,
    /// One JSON object.
    Json,
    /// One row per policy, route class and measure.
    Csv,
    /// A document to edit further: the report as Markdown.
    Markdown,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum DrillFormat {
    /// For people.
    Table,
    /// One JSON object.
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum SchemaKind {
    /// Scenario files.
    Scenario,
    /// Policy files.
    Policy,
    /// Model cards.
    Model,
    /// Traffic profiles.
    Profile,
    /// Spaces of policies for `sweep`.
    Space,
}

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("varies").required(true).multiple(true))]
pub(super) struct SweepArgs {
    /// Scenarios: files, or names of shipped ones. `NAME=2` gives one twice the weight.
    #[arg(required = true, value_name = "SCENARIO")]
    pub(super) scenarios: Vec<String>,
    /// What varies: a space file, or the name of a shipped one.
    #[arg(long, short, group = "varies", value_name = "SPACE")]
    pub(super) space: Option<String>,
    /// One more field that varies, such as 'backoff.base=50ms..2s:log' or 'attempts.max=1..4';
    /// several times.
    #[arg(long, group = "varies", value_name = "FIELD=VALUES")]
    pub(super) vary: Vec<String>,
    /// The policy that is varied: a file, or the name of a shipped one. Without it, the one the
    /// space names, or `conservative`.
    #[arg(long, short)]
    pub(super) policy: Option<String>,
    /// How variants are drawn.
    #[arg(long, value_enum, default_value_t = Sample::Sobol)]
    pub(super) sample: Sample,
    /// How many variants to draw; a grid has as many as it has.
    #[arg(long, default_value_t = 256, value_name = "COUNT")]
    pub(super) variants: u64,
    /// Seed of that draw, apart from the worlds' luck.
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub(super) sample_seed: u64,
    /// What is wanted of a policy: a measure, several times. `min:` or `max:` before it where it
    /// is good neither way by itself. Without it, `success` and `cost_per_success`.
    #[arg(long = "objective", value_name = "MEASURE")]
    pub(super) objectives: Vec<String>,
    /// Score each objective by the worst scenario instead of by weight, or by a share of the worst:
    /// `--robust 25%`.
    #[arg(long, value_name = "SHARE", num_args = 0..=1, default_missing_value = "worst")]
    pub(super) robust: Option<String>,
    /// How many worlds of each scenario, the same for every variant.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) worlds: u32,
    /// Seed of the worlds' luck.
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub(super) seed: u64,
    /// Also draw, for each world, stretches of the traffic and the incident's onset, severity and
    /// duration within the scenario's ranges.
    #[arg(long)]
    pub(super) resample: bool,
    /// Run one of several parts, such as 2/8; needs `--out FILE.sweep`, which `merge` puts together.
    #[arg(long, value_name = "PART/PARTS")]
    pub(super) shard: Option<String>,
    /// Go on where an interrupted sweep of the same files and options ended.
    #[arg(long)]
    pub(super) resume: bool,
    /// Check everything, say how many variants there are, and run nothing.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Write the variant of this number as a policy file to standard output, and run nothing.
    #[arg(long, value_name = "NUMBER")]
    pub(super) show: Option<u64>,
    /// Threads; the result does not depend on it. All cores where absent.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    #[command(flatten)]
    pub(super) to: SweepOutputs,
}

#[derive(Args, Debug)]
pub(super) struct MergeArgs {
    /// The `.sweep` files of all shards of one sweep, in any order; or a single one.
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) to: SweepOutputs,
}

#[derive(Args, Debug)]
pub(super) struct SweepOutputs {
    /// Write the rows of all variants: .csv, .jsonl, .parquet, or .sweep, which can be resumed and
    /// merged; several times.
    #[arg(long, short, value_name = "FILE")]
    pub(super) out: Vec<PathBuf>,
    /// Draw the front, the fields' effects and a map of the two that matter most into this folder,
    /// each as SVG and PNG.
    #[arg(long, value_name = "FOLDER")]
    pub(super) plot: Option<PathBuf>,
    /// Write a report to read, send and print: .html (one file with charts) or .md.
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    /// Print nothing but mistakes.
    #[arg(long, short)]
    pub(super) quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Sample {
    /// Every combination.
    Grid,
    /// Each point by itself.
    Random,
    /// A Latin hypercube: each slice of each field holds one point.
    Lhs,
    /// Scrambled Sobol points, which leave no corner empty.
    Sobol,
}
