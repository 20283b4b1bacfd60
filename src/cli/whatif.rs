//! `what-if`.

use std::path::PathBuf;

use windtunnel::experiment::ExperimentError;
use windtunnel::input::InputError;
use windtunnel::scenario::Scenario;
use windtunnel::whatif::{Options, Question, Tolerance, goes_elsewhere, investigate};
use windtunnel_policy::config::Policy;

use super::Outcome;
use super::again::Again;
use super::args::{WhatIfArgs, WhatIfFormat};
use super::experiment::{loaded, named};
use super::fit::{self, Made};
use super::interrupt::{self, First};
use super::output::{OutFile, print, write_file};
use super::outputs::{open_page, open_plot, write_drawn};
use super::progress::Progress;
use super::same_file::{asked_for, refuse_overwriting};

/// Makes a world of the log or the timeline, and puts the policies into it.
pub(super) fn what_if(args: &WhatIfArgs) -> Outcome {
    let mut policies = named(&args.policies)?;
    let tolerance = args.tolerances.iter().try_fold(Tolerance::default(), |of, words| {
        of.with(words).map_err(|said| InputError::new("--tolerance", said))
    })?;
    let brought_in = args.log.log.is_some() && !args.log.timeline.targets.is_empty();
    if policies.len() < 2 && !brought_in {
        return Err(InputError::new("--policy", "there is nothing to compare with").fix(
            "name the policy that was in force, then another: `-p current.yaml -p candidate.yaml`",
        ));
    }
    let mut read = args.log.files();
    read.extend(args.policies.iter().map(PathBuf::from).filter(|path| path.is_file()));
    read.extend(args.world.iter().map(PathBuf::from));
    read.extend(args.switches.iter().cloned());
    let named = [("--out", &args.out), ("--report", &args.report), ("--plot", &args.plot)];
    refuse_overwriting(&asked_for(&named), &read)?;
    interrupt::watch(First::EndsAtOnce);
    let out = args.out.as_deref().map(OutFile::create).transpose()?;
    let document = open_page(args.report.as_deref())?;
    let chart = open_plot(args.plot.as_deref())?;

    let made = fit::made(&args.log, None, args.quiet)?;
    let scenario = match &args.world {
        Some(world) => loaded(world, args.switches.as_deref())?,
        None => made.scenario(args.switches.as_deref())?,
    };
    let (log, timeline) = match &made {
        Made::Fitted(recorded) => (Some((&recorded.fit, &recorded.evidence)), None),
        Made::Supposed(hypothesis) => (None, Some(&**hypothesis)),
    };
    if let Some((fit, _)) = log.filter(|_| brought_in) {
        with_targets(&mut policies, &scenario, &fit.brought_in())?;
    }
    let question = Question {
        scenario: &scenario,
        log,
        timeline,
        policies: &policies,
        options: Options {
            seed: args.seed,
            worlds: args.worlds,
            refits: args.refits,
            sensitivity: true,
            tolerance,
            threads: args.threads.map(usize::from),
        },
    };
    let progress = Progress::new(args.quiet);
    let found = investigate(&question, &progress);
    progress.clear();
    let found = found.map_err(|error| match error {
        ExperimentError::Policy { ref name, .. } => InputError::new(name, error.to_string()),
        error => InputError::new(&scenario.file.name, error.to_string()),
    })?;
    let page = found.page(&Again::what_if(args).text());
    if let Some((file, format)) = document {
        write_file(file, page.render(format).as_bytes())?;
    }
    if let Some((file, format)) = chart {
        write_drawn(file, found.plot(format))?;
    }
    let text = match args.format {
        WhatIfFormat::Text => found.text(),
        WhatIfFormat::Markdown => page.markdown(),
        WhatIfFormat::Json => found.json(),
    };
    match out {
        Some(file) => write_file(file, text.as_bytes())?,
        None if args.quiet => {}
        None => print(&text)?,
    }
    Ok(0)
}

/// The policy in force, which had none of these targets, is a candidate once it has them, if it would go there.
///
/// # Errors
/// It would not, and there is no other policy.
fn with_targets(
    policies: &mut Vec<Policy>,
    scenario: &Scenario,
    brought_in: &[&str],
) -> Result<(), InputError> {
    let current = &policies[0];
    if goes_elsewhere(current, scenario) {
        let name = format!("{} with {}", current.name, brought_in.join(" and "));
        policies.insert(1, Policy { name, ..current.clone() });
    } else if policies.len() < 2 {
        let what = format!(
            "`{}` goes to no second target: there is nothing to compare with",
            current.name
        );
        return Err(InputError::new("--policy", what)
            .fix("name one that would: `-p current.yaml -p candidate.yaml`"));
    }
    Ok(())
}
