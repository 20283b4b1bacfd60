//! The words of `fit` and `what-if`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use windtunnel_policy::Share;
use windtunnel_policy::text::parse_share;

use super::seed;

#[derive(Args, Debug)]
pub(in crate::cli) struct WhatIfArgs {
    #[command(flatten)]
    pub(in crate::cli) log: LogArgs,
    /// A policy: first the one that was in force, then the others.
    #[arg(long = "policy", short, value_name = "POLICY", required = true)]
    pub(in crate::cli) policies: Vec<String>,
    /// A scenario that `fit` made of this log and that you have edited, to be used in its place.
    #[arg(long, value_name = "SCENARIO", conflicts_with = "targets")]
    pub(in crate::cli) world: Option<String>,
    /// Kill switches that operators threw during the log, and put back: no policy goes there meanwhile.
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) switches: Option<PathBuf>,
    /// Seed of all luck.
    #[arg(long, default_value_t = 1, value_parser = seed)]
    pub(in crate::cli) seed: u64,
    /// How many worlds of luck.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..=1_000))]
    pub(in crate::cli) worlds: u32,
    /// How often the world is fitted again, to blocks of the log drawn anew.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(20..=1_000))]
    pub(in crate::cli) refits: u32,
    /// How far a figure may be off, beyond sampling error, before the log counts as not reproduced:
    /// percentage points of shares (0.5pp), and a part of times, costs and attempts (5%); twice for both.
    #[arg(long = "tolerance", value_name = "SIZE")]
    pub(in crate::cli) tolerances: Vec<String>,
    /// Threads; the result does not depend on it. All cores where absent.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(in crate::cli) threads: Option<u16>,
    /// Write a report to read, send and print: .html (one file with charts) or .md.
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) report: Option<PathBuf>,
    /// Draw success, its change and attempts over time, with when targets were bad: .svg or .png.
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) plot: Option<PathBuf>,
    /// Shape of the report.
    #[arg(long, value_enum, default_value_t = WhatIfFormat::Text)]
    pub(in crate::cli) format: WhatIfFormat,
    /// Write the report here instead of to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Print nothing but mistakes.
    #[arg(long, short)]
    pub(in crate::cli) quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(in crate::cli) enum WhatIfFormat {
    /// For people.
    Text,
    /// For a postmortem document.
    Markdown,
    /// One JSON object.
    Json,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct LogArgs {
    /// A log of attempts: what `--ledger` writes, LiteLLM's standard logging payload, Envoy's access
    /// log or OpenTelemetry spans as JSON Lines, or any table with `--columns`.
    #[arg(required_unless_present = "timeline", conflicts_with = "timeline")]
    pub(in crate::cli) log: Option<PathBuf>,
    /// A column mapping: what the columns (or JSON fields) of the log mean.
    #[arg(long, value_name = "FILE", conflicts_with = "timeline")]
    pub(in crate::cli) columns: Option<PathBuf>,
    /// Counters by minute and target (CSV), for a log that shows requests rather than attempts:
    /// `minute,target,attempts` and `errors`, `timeouts`, `status_429`, `status_503`, …
    #[arg(long, value_name = "FILE", conflicts_with = "timeline")]
    pub(in crate::cli) counters: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) timeline: TimelineArgs,
}

/// Where there is no log: an incident's public course, laid over traffic of one's own.
#[derive(Args, Debug)]
pub(in crate::cli) struct TimelineArgs {
    /// In place of a log: a file of incident timelines, and the name of one where it holds several.
    #[arg(long, value_name = "FILE[#ID]", requires = "traffic")]
    pub(in crate::cli) timeline: Option<String>,
    /// With a timeline: whose calls were hit, a trace (.csv, .jsonl) or a traffic profile.
    #[arg(long, value_name = "TRACE", requires = "timeline")]
    pub(in crate::cli) traffic: Option<String>,
    /// What the columns of the trace are called, as `profile` takes it.
    #[arg(long, requires = "traffic")]
    pub(in crate::cli) layout: Option<String>,
    /// A model card; several times, in the order they are tried. With a log: a target that the log does
    /// not show, tried after those it shows. With a timeline: every target; without it the shipped card of
    /// the provider that was hit, and those that offer its model elsewhere.
    #[arg(long = "target", value_name = "CARD")]
    pub(in crate::cli) targets: Vec<String>,
    /// With a timeline: which share of calls failed at its worst, such as 25%.
    #[arg(long, value_name = "SHARE", value_parser = parse_share, requires = "timeline")]
    pub(in crate::cli) severity: Option<Share>,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct FitArgs {
    #[command(flatten)]
    pub(in crate::cli) log: LogArgs,
    /// The folder to write to; its name becomes the scenario's. One that holds a fit is refused.
    #[arg(long, short, value_name = "DIR")]
    pub(in crate::cli) out: PathBuf,
    /// Replace what stands in the folder, edited or not.
    #[arg(long)]
    pub(in crate::cli) overwrite: bool,
}
