//! The words a user may write.

mod log;
mod safety;
mod search;

use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use windtunnel::report::Parts;
use windtunnel::simulation::Split;

pub(super) use log::{FitArgs, LogArgs, TimelineArgs, WhatIfArgs, WhatIfFormat};
pub(super) use safety::{
    DrillArgs, DrillFormat, ExplainArgs, ExplainFormat, ProofFormat, VerifyArgs, WorstIn,
};
pub(super) use search::{MergeArgs, Sample, SweepArgs, SweepOutputs, TuneArgs, TuneFormat};

/// What another retry and fallback policy would have done.
#[derive(Parser, Debug)]
#[command(name = "windtunnel", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What the command line says. Ends the program where it says nothing that can be done.
pub(super) fn parse() -> Command {
    let matches = negatives_as_values(Cli::command()).get_matches();
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()).command
}

/// So that `--worlds -1` is told what worlds may be, and not that there is no option `-1`.
fn negatives_as_values(command: clap::Command) -> clap::Command {
    command
        .mut_args(|arg| {
            let takes_value = arg.get_action().takes_values();
            arg.allow_negative_numbers(takes_value)
        })
        .mut_subcommands(negatives_as_values)
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
    /// Make a world of a gateway's attempt log, or of an incident's timeline: a scenario, model cards
    /// and traffic, as files to read and edit.
    Fit(FitArgs),
    /// Say what other policies would have done in the world of a gateway's attempt log, and how far
    /// that can be believed; or in an incident of which only the timeline is known.
    WhatIf(WhatIfArgs),
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
pub(super) struct Common {
    /// Seed of all luck.
    #[arg(long, default_value_t = 1, value_parser = seed)]
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
    /// Show the measures of each tenant, too (JSON and CSV always hold them).
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

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected a whole number: requests are numbered from 0".into())
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
    /// Column mappings of logs for `fit` and `what-if`.
    Columns,
}
