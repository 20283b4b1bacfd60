//! The answer first, then finalists, what each change buys, what each field does, the front, and
//! where the budget went.

use super::{TuneReport, extremes, tables};
use crate::experiment::policy_hash;
use crate::report::{VERSION, section, short_hash};
use crate::stats::{Paired, Verdict};
use crate::sweep::Aggregate;
use crate::tune::{ALPHA, FINALISTS};

pub(super) fn render(report: &TuneReport<'_>) -> String {
    let tuning = report.tuning;
    let mut sections = vec![report.answer().join("\n") + "\n", head(report)];
    if !tuning.finalists.is_empty() {
        sections.push(section("Finalists, in held-out worlds", &tables::finalists(report).text()));
    }
    if let Some((title, table)) = extremes::titled(report) {
        sections.push(section(&title, &table.text()));
    }
    if let Some(evidence) = &tuning.evidence {
        let worlds = evidence.worlds;
        let title = format!("Changes to the base, and what each buys ({worlds} held-out worlds)");
        sections.push(section(&title, &tables::changes(report).text()));
        sections.push(section("Measures, in held-out worlds", &tables::measures(report).text()));
        let title = format!("Sensitivity: one field moved alone ({worlds} held-out worlds)");
        sections.push(section(&title, &tables::settings(report).text()));
    }
    if !tuning.front.is_empty() {
        sections
            .push(section("What can be had, in held-out worlds", &tables::front(report).text()));
    }
    let search = tables::search(report).text() + &tables::drawn(report) + "\n";
    sections.push(section("Search", &search));
    sections.push(section("Budget", &tables::budget(report).text()));
    let mut sure = how_sure(report);
    sure.push(format!("Again: {}", report.command));
    sections.push(section("How sure", &sure.join("\n")));
    sections.join("\n")
}

fn head(report: &TuneReport<'_>) -> String {
    let task = report.task;
    let (goal, options) = (task.goal, task.options);
    let several = match (task.scenarios.len(), goal.aggregate) {
        (1, _) => String::new(),
        (_, Aggregate::Mean) => ", mean over scenarios".into(),
        (_, Aggregate::Worst) => ", of the worst scenario".into(),
        (_, Aggregate::Quantile(share)) => {
            format!(", best of the worst {} % of scenarios", share * 100.0)
        }
    };
    let mut lines = vec![
        format!("windtunnel {VERSION}"),
        format!("goal       {} {}{several}", goal.direction.verb(), goal.measure),
    ];
    lines.extend(goal.constraints.iter().map(|gate| format!("condition  {gate}")));
    let named =
        |s: &crate::scenario::Scenario| format!("{} ({})", s.file.name, short_hash(&s.hash));
    lines.extend(task.scenarios.iter().map(|s| format!("scenario   {}", named(s))));
    lines.extend(task.hold_out.iter().map(|s| format!("held out   {}", named(s))));
    let base = &report.tuning.base().variant.policy;
    lines.push(format!("base       {} ({})", base.name, short_hash(&policy_hash(base))));
    let vary: Vec<&str> = task.space.dimensions.iter().map(|d| d.name.as_str()).collect();
    let space = &task.space.space;
    lines.push(format!("space      {} ({})", space.name, short_hash(&space.hash())));
    lines.push(format!("varies     {}", vary.join(", ")));
    let course = if options.as_published { "as published" } else { "resampled" };
    lines.push(format!(
        "seed       {}; worlds chosen by: {course}; {} held out, resampled",
        options.seed, options.held_out_worlds
    ));
    lines.join("\n") + "\n"
}

/// The errors that were allowed, and what they do not cover.
pub(super) fn how_sure(report: &TuneReport<'_>) -> Vec<String> {
    let tuning = report.tuning;
    let mut lines = Vec::new();
    let clear = tuning.rounds.iter().map(|round| {
        format!("{} {:.2} % ({:.1e} a comparison)", round.name, 100.0 * round.alpha, round.error)
    });
    let clear: Vec<String> = clear.collect();
    if !clear.is_empty() {
        lines.push(format!(
            "The best variant of a race is lost as clearly worse or infeasible with a probability of at \
             most: {}.",
            clear.join(", ")
        ));
    }
    let set_aside = tuning.set_aside();
    if set_aside > 0 {
        lines.push(format!(
            "{set_aside} variants were set aside by their values alone, for want of budget: that bound \
             does not cover them. A larger --budget does."
        ));
    }
    if !tuning.finalists.is_empty() {
        lines.push(format!(
            "At most {FINALISTS} finalists are frozen and measured once: the chance that any \
             confirmed one is not better than the base is at most {:.0} % (Holm), that a condition \
             said to be held is not at most 5 % each.",
            100.0 * ALPHA
        ));
    }
    if tuning.recommended().is_some() && tuning.front.len() > 2 {
        lines.push(
            "What can be had shows others as they did in held-out worlds: the best of many there owes some \
             of it to luck, and was not frozen before. Such a row is a reason to search near it, not to take it."
                .into(),
        );
    }
    if tuning.interrupted {
        lines.push("Interrupted: what was under way is left out.".into());
    }
    lines
}

/// True where a change is more than noise.
pub(super) fn is_clear(paired: &Paired) -> bool {
    paired.verdict == Some(Verdict::Clear)
}
