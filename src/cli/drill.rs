//! `drill`.

use std::path::PathBuf;

use windtunnel::drill::{DRILLS, Drill, Drilled, HeldBy};
use windtunnel::experiment::policy_hash;
use windtunnel::input::InputError;
use windtunnel::report::{DrillReport, PolicyDrilled};
use windtunnel_policy::config::Policy;

use super::Outcome;
use super::again::Again;
use super::args::{DrillArgs, DrillFormat};
use super::experiment::named;
use super::interrupt::{self, First};
use super::output::{OutFile, print, write_file};
use super::outputs::open_page;
use super::same_file::{asked_for, refuse_overwriting};

/// Puts policies through the drills.
pub(super) fn drill(args: &DrillArgs) -> Outcome {
    if args.list {
        print(&listing())?;
        return Ok(0);
    }
    let drills = wanted(&args.drills)?;
    let policies = named(&args.policies)?;
    let read: Vec<PathBuf> =
        args.policies.iter().map(PathBuf::from).filter(|path| path.is_file()).collect();
    let named = [("--out", &args.out), ("--report", &args.report)];
    refuse_overwriting(&asked_for(&named), &read)?;
    interrupt::watch(First::EndsAtOnce);
    let out = args.out.as_deref().map(OutFile::create).transpose()?;
    let page = open_page(args.report.as_deref())?;
    let written = args.policies.iter();
    let policies = policies.iter().zip(written);
    let policies = policies.map(|(policy, as_written)| {
        let drilled = put_through(policy, &drills, args.seed)?;
        let (name, written, hash) = (policy.name.clone(), as_written.clone(), policy_hash(policy));
        Ok(PolicyDrilled { name, written, hash, drills: drilled })
    });
    let report = DrillReport { seed: args.seed, policies: policies.collect::<Result<_, _>>()? };
    let text = match args.format {
        DrillFormat::Table => report.table(),
        DrillFormat::Json => report.json(),
    };
    if let Some((file, format)) = page {
        let page = report.page(&Again::drill(args).text());
        write_file(file, page.render(format).as_bytes())?;
    }
    match out {
        Some(file) => write_file(file, text.as_bytes())?,
        None if args.quiet => {}
        None => print(&text)?,
    }
    Ok(report.exit_code())
}

/// The drills asked for, in their own order; all of them where none is.
fn wanted(names: &[String]) -> Result<Vec<&'static Drill>, InputError> {
    let mut drills: Vec<&Drill> =
        names.iter().map(|name| Drill::find(name)).collect::<Result<_, _>>()?;
    if drills.is_empty() {
        drills = DRILLS.iter().collect();
    }
    drills.sort_by_key(|drill| drill.number);
    drills.dedup();
    Ok(drills)
}

fn put_through(
    policy: &Policy,
    drills: &[&'static Drill],
    seed: u64,
) -> Result<Vec<Drilled>, InputError> {
    let drilled = drills.iter().map(|drill| {
        let failed =
            |error| InputError::new(&policy.name, format!("drill {}: {error}", drill.name));
        drill.run(policy, seed).map_err(failed)
    });
    drilled.collect()
}

fn listing() -> String {
    let line = |drill: &Drill| {
        let core = match drill.held_by() {
            HeldBy::Policy => "",
            HeldBy::Core => " (held by the core, whatever a policy says)",
        };
        format!("{:>2}  {:<18} {}{core}\n", drill.number, drill.name, drill.checks)
    };
    DRILLS.iter().map(line).collect()
}
