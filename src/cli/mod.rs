//! From the words of a command line to files and text: the only part of windtunnel that prints.
//!
//! Exit codes: 0 good, 1 a gate or a drill failed or a promise is broken, 2 bad input, 3 undecided,
//! 130 interrupted.

mod again;
mod alone;
mod args;
mod drill;
mod experiment;
mod explain;
mod files;
mod fit;
mod fit_folder;
mod incident;
mod interrupt;
mod journal;
mod merge;
mod output;
mod outputs;
mod progress;
mod same_file;
mod say;
mod sweep;
mod sweep_outputs;
mod too_large;
mod tune;
mod verify;
mod whatif;

use std::process::ExitCode;

use windtunnel::check::told_apart;
use windtunnel::input::InputError;

use args::Command;
use say::say;

/// Bad input of any kind.
const BAD_INPUT: u8 = 2;
/// A gate that no complete world decides, or a proof that is not complete.
const UNDECIDED: u8 = 3;

/// Does what the command line says.
pub(crate) fn main() -> ExitCode {
    too_large::fails_the_write();
    let result = match args::parse() {
        Command::Run(args) => experiment::run(&args),
        Command::Compare(args) => experiment::compare(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        Command::Merge(args) => merge::merge(&args),
        Command::Drill(args) => drill::drill(&args),
        Command::Check { files, strict } => files::check(&files, strict),
        Command::List => files::list(),
        Command::Schema { kind } => files::schema(kind),
        Command::Profile(args) => files::profile(&args),
        Command::Verify(args) => verify::verify(&args),
        Command::Tune(args) => tune::tune(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Fit(args) => fit::fit(&args),
        Command::WhatIf(args) => whatif::what_if(&args),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            say("error", told_apart(error));
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// The exit code of a command, or the mistake that kept it from running.
type Outcome = Result<u8, InputError>;
