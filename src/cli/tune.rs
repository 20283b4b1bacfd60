//! `tune`.

use std::path::{Path, PathBuf};

use windtunnel::experiment::ExperimentError;
use windtunnel::input::InputError;
use windtunnel::library::load_policy;
use windtunnel::measures::Catalogue;
use windtunnel::page::PageFormat;
use windtunnel::report::{PlotError, PlotFormat};
use windtunnel::scenario::Scenario;
use windtunnel::space::{PolicySpace, Space};
use windtunnel::tune::{
    Direction, Goal, Options, Task, TuneError, TuneReport, Tuning, tune as search,
};

use super::args::{TuneArgs, TuneFormat};
use super::interrupt::{self, First, INTERRUPTED};
use super::output::{OutFile, print, try_folder, write_file};
use super::outputs::{open_page, say_charts, write_drawn};
use super::progress::Progress;
use super::same_file::{asked_for, refuse_overwriting};
use super::say::say;
use super::sweep::aggregate;
use super::{Outcome, UNDECIDED};

/// The base where nobody names one.
const BASE: &str = "conservative";
/// Requests where nobody says how many.
const BUDGET: u64 = 60_000_000;

/// Searches a space of policies.
pub(super) fn tune(args: &TuneArgs) -> Outcome {
    let scenarios = loaded(&args.scenarios, &[])?;
    let hold_out = loaded(&args.hold_out, &scenarios)?;
    let space = space(args)?;
    let catalogues: Vec<Catalogue> = scenarios.iter().chain(&hold_out).map(Catalogue::of).collect();
    let (direction, measure) = match (&args.minimize, &args.maximize) {
        (Some(measure), _) => (Direction::Minimize, measure),
        (None, Some(measure)) => (Direction::Maximize, measure),
        (None, None) => unreachable!("one of the two is required"),
    };
    let goal = Goal::parse(direction, measure, &args.subject_to, &catalogues)?;
    let aggregate = aggregate(args.robust.as_deref(), scenarios.len())?;
    let goal = Goal { aggregate, ..goal };
    let outputs = Outputs::open(args, &scenarios, &hold_out)?;
    if !args.quiet {
        for note in scenarios.iter().chain(&hold_out).flat_map(|scenario| &scenario.notes) {
            say("note", note);
        }
    }
    interrupt::watch(First::Concludes);
    let options = Options {
        seed: args.seed,
        variants: args.variants,
        budget: args.budget.or(args.variants.is_none().then_some(BUDGET)),
        held_out_worlds: args.held_out_worlds,
        as_published: args.as_published,
        threads: args.threads.map(usize::from),
    };
    let task =
        Task { scenarios: &scenarios, hold_out: &hold_out, space: &space, goal: &goal, options };
    let progress = Progress::new(args.quiet);
    let found = search(&task, &progress);
    progress.clear();
    match found {
        Ok(tuning) => outputs.write(args, &task, &tuning),
        Err(TuneError::Input(error)) => Err(error),
        Err(TuneError::Interrupted) => {
            say("interrupted", "before the base was measured: nothing is written");
            Ok(INTERRUPTED)
        }
    }
}

/// Scenarios by file or name; the same one twice counts nothing.
fn loaded(names: &[String], others: &[Scenario]) -> Result<Vec<Scenario>, InputError> {
    let mut scenarios: Vec<Scenario> = Vec::new();
    for name in names {
        let scenario = Scenario::load(name).map_err(|error| without_weight(name, error))?;
        if scenarios.iter().chain(others).any(|other| other.hash == scenario.hash) {
            return Err(InputError::new(name, "is given twice").fix("leave one out"));
        }
        scenarios.push(scenario);
    }
    Ok(scenarios)
}

/// What to tell who gives a weight, as `sweep` takes it.
fn without_weight(text: &str, error: InputError) -> InputError {
    match text.rsplit_once('=') {
        Some((name, weight)) if weight.parse::<f64>().is_ok() => InputError::new(
            text,
            "`tune` takes no weights, which `sweep` does: all scenarios count alike",
        )
        .fix(format!("write `{name}`; of several, `--robust` counts the worst")),
        _ => error,
    }
}

fn space(args: &TuneArgs) -> Result<PolicySpace, InputError> {
    let space = match &args.space {
        Some(name) => Space::load(name)?.with_arguments(&args.vary)?,
        None => Space::of_arguments(&args.vary)?,
    };
    let base = match &args.policy {
        Some(name) => load_policy(name)?,
        None => match space.base_policy()? {
            Some(policy) => policy,
            None => load_policy(BASE)?,
        },
    };
    space.around(&base)
}

/// The files it writes, opened before the search.
struct Outputs {
    report: Option<OutFile>,
    recommend: Option<OutFile>,
    page: Option<(OutFile, PageFormat)>,
}

impl Outputs {
    fn open(
        args: &TuneArgs,
        scenarios: &[Scenario],
        hold_out: &[Scenario],
    ) -> Result<Outputs, InputError> {
        let named = args.policy.iter().chain(&args.space).map(PathBuf::from);
        let read = scenarios.iter().chain(hold_out).flat_map(Scenario::files);
        let read: Vec<PathBuf> = read.chain(named.filter(|path| path.is_file())).collect();
        let written =
            [("--out", &args.out), ("--recommend", &args.recommend), ("--report", &args.report)];
        refuse_overwriting(&asked_for(&written), &read)?;
        args.plot.as_deref().map(try_folder).transpose()?;
        let open = |path: &Option<PathBuf>| path.as_deref().map(OutFile::create).transpose();
        Ok(Outputs {
            report: open(&args.out)?,
            recommend: open(&args.recommend)?,
            page: open_page(args.report.as_deref())?,
        })
    }

    fn write(self, args: &TuneArgs, task: &Task<'_>, tuning: &Tuning) -> Outcome {
        let command = command(args);
        let report = TuneReport { task, tuning, command: &command };
        if let (Some(file), Some(text)) = (self.recommend, report.policy_file()) {
            write_file(file, text.as_bytes())?;
        }
        if let Some((file, format)) = self.page {
            let page = report.page(&format!("{command} --report report.html"));
            write_file(file, page.render(format).as_bytes())?;
        }
        let text = match args.format {
            TuneFormat::Text => report.text(),
            TuneFormat::Json => report.json(),
        };
        match self.report {
            Some(file) => write_file(file, text.as_bytes())?,
            None if args.quiet => {}
            None => print(&text)?,
        }
        // Last, for it runs once more: whoever ends that has the rest.
        let drawn = args.plot.as_deref().map(|folder| draw(folder, &report, args.quiet));
        let is_complete = drawn.transpose()?.unwrap_or(true);
        Ok(match tuning.recommended() {
            _ if tuning.interrupted || !is_complete => INTERRUPTED,
            Some(_) => 0,
            None => UNDECIDED,
        })
    }
}

/// Every chart, as SVG and as PNG; false where an interrupt left one out.
fn draw(folder: &Path, report: &TuneReport<'_>, quiet: bool) -> Result<bool, InputError> {
    let progress = Progress::new(quiet);
    let over_time = report.over_time(&progress);
    progress.clear();
    let (over_time, is_complete) = match over_time {
        Ok(over_time) => (over_time, true),
        // It ends this part alone: what was found is written.
        Err(ExperimentError::Interrupted) => {
            say("interrupted", "the chart of measures over time is left out");
            (None, false)
        }
        Err(error) => return Err(InputError::new("--plot", error.to_string())),
    };
    for (format, ending) in [(PlotFormat::Svg, "svg"), (PlotFormat::Png, "png")] {
        let open = |name: &str| OutFile::create(&folder.join(format!("{name}.{ending}")));
        let failed =
            |error: PlotError| InputError::new(folder.display().to_string(), error.to_string());
        let (charts, left_out) = report.charts(format).map_err(failed)?;
        for (name, bytes) in &charts {
            write_file(open(name)?, bytes)?;
        }
        if let Some(over_time) = &over_time {
            write_drawn(open("measures")?, over_time.plot(report, format))?;
        }
        // Once: both formats have the same charts.
        if format == PlotFormat::Png && !quiet {
            let measures = over_time.iter().map(|_| "measures");
            let drawn: Vec<&str> =
                charts.iter().map(|(name, _)| name.as_str()).chain(measures).collect();
            say_charts(folder, &drawn, &left_out);
        }
    }
    Ok(is_complete)
}

/// The command line that finds the same again: what the result depends on, no outputs.
fn command(args: &TuneArgs) -> String {
    let mut words = vec!["windtunnel".to_owned(), "tune".to_owned()];
    words.extend(args.scenarios.iter().map(|name| quoted(name)));
    let mut option = |name: &str, value: &str| words.push(format!("--{name} {}", quoted(value)));
    args.policy.iter().for_each(|policy| option("policy", policy));
    args.space.iter().for_each(|space| option("space", space));
    args.vary.iter().for_each(|vary| option("vary", vary));
    args.minimize.iter().for_each(|measure| option("minimize", measure));
    args.maximize.iter().for_each(|measure| option("maximize", measure));
    args.subject_to.iter().for_each(|condition| option("subject-to", condition));
    args.hold_out.iter().for_each(|scenario| option("hold-out", scenario));
    args.budget.iter().for_each(|budget| option("budget", &budget.to_string()));
    args.variants.iter().for_each(|variants| option("variants", &variants.to_string()));
    option("held-out-worlds", &args.held_out_worlds.to_string());
    option("seed", &args.seed.to_string());
    words.extend(args.robust.iter().map(|share| format!("--robust={}", quoted(share))));
    words.extend(args.as_published.then(|| "--as-published".to_owned()));
    words.join(" ")
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '=' | ':');
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
