//! The words of `drill`, `verify` and `explain`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{number, seed};

#[derive(Args, Debug)]
pub(in crate::cli) struct DrillArgs {
    /// Policies: files, or names of shipped ones.
    #[arg(required_unless_present = "list", value_name = "POLICY")]
    pub(in crate::cli) policies: Vec<String>,
    /// List the drills, with what each checks.
    #[arg(long)]
    pub(in crate::cli) list: bool,
    /// Only this drill, by number or name; several times.
    #[arg(long = "drill", short, value_name = "DRILL")]
    pub(in crate::cli) drills: Vec<String>,
    /// Seed of all luck.
    #[arg(long, default_value_t = 1, value_parser = seed)]
    pub(in crate::cli) seed: u64,
    /// Write a report to read, send and print: .html or .md.
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) report: Option<PathBuf>,
    /// Shape of the report.
    #[arg(long, value_enum, default_value_t = DrillFormat::Table)]
    pub(in crate::cli) format: DrillFormat,
    /// Write the report here instead of to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Print nothing but mistakes.
    #[arg(long, short)]
    pub(in crate::cli) quiet: bool,
}

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub(in crate::cli) struct ExplainArgs {
    /// A scenario: a file, or the name of a shipped one.
    pub(in crate::cli) scenario: String,
    /// A policy: a file, or the name of a shipped one.
    #[arg(long, short, default_value = "conservative")]
    pub(in crate::cli) policy: String,
    /// Tell the same request under this policy beside it.
    #[arg(long, value_name = "POLICY")]
    pub(in crate::cli) vs: Option<String>,
    /// The request at this position in its world, as the ledger numbers them.
    #[arg(long, group = "which", value_name = "ID", value_parser = number,
          allow_negative_numbers = true)]
    pub(in crate::cli) request: Option<u64>,
    /// The measured request that is worst in this.
    #[arg(long, value_enum, group = "which")]
    pub(in crate::cli) worst: Option<WorstIn>,
    /// The first measured request that got no answer.
    #[arg(long, group = "which")]
    pub(in crate::cli) failed: bool,
    /// Seed of all luck.
    #[arg(long, default_value_t = 1, value_parser = seed)]
    pub(in crate::cli) seed: u64,
    /// Which world of the seed.
    #[arg(long, default_value_t = 0)]
    pub(in crate::cli) world: u32,
    /// Shape of the answer.
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub(in crate::cli) format: ExplainFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(in crate::cli) enum WorstIn {
    /// Time from arrival to close.
    Latency,
    /// Everything billed.
    Cost,
    /// Attempts.
    Attempts,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(in crate::cli) enum ExplainFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
    /// An OpenTelemetry trace in OTLP's JSON encoding, a span for each attempt.
    Otlp,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct VerifyArgs {
    /// A policy: a file, or the name of a shipped one.
    pub(in crate::cli) policy: String,
    /// Take targets and route classes from this scenario; else a small sample by roles.
    #[arg(long, short, value_name = "SCENARIO")]
    pub(in crate::cli) scenario: Option<String>,
    /// Steps of each sequence: outcomes of attempts, cancellations, timers.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=40))]
    pub(in crate::cli) depth: u32,
    /// States walked from one start, at most; beyond that the proof is undecided (exit code 3).
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(in crate::cli) max_states: u64,
    /// Shape of the answer.
    #[arg(long, value_enum, default_value_t = ProofFormat::Text)]
    pub(in crate::cli) format: ProofFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(in crate::cli) enum ProofFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(in crate::cli) enum DrillFormat {
    /// For people.
    Table,
    /// One JSON object.
    Json,
}
