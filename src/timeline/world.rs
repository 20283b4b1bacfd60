//! The world of a timeline as files: a scenario, the user's own cards and the traffic.

use std::collections::BTreeSet;
use std::fmt::Write;

use windtunnel_policy::{Duration, Share};

use super::course::Course;
use super::file::{Found, Incident};
use super::mix::mix;
use super::said;
use super::targets::{Target, choose};
use super::traffic::{self, Traffic};
use crate::fit::files::{comment, quoted, stamp, us};
use crate::fit::flow::{flow, scalar};
use crate::fit::{FittedFile, INTERVALS, MOST_INTERVALS, plain_name};
use crate::input::InputError;
use crate::scenario::MixEntry;

/// What a world is to be made of.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The incident.
    pub found: &'a Found,
    /// Whose calls were hit.
    pub traffic: &'a Traffic,
    /// Names of model cards in the order they are tried; those that the shipped cards suggest where
    /// none is named.
    pub targets: &'a [String],
    /// Share of calls that fail at its worst, where the timeline is not to say.
    pub severity: Option<Share>,
}

/// A world in which a timeline could have been told. No log stands behind it.
#[derive(Clone, PartialEq, Debug)]
pub struct Hypothesis {
    /// What the scenario is called.
    pub name: String,
    /// The incident.
    pub incident: Incident,
    /// What the timeline's file is called.
    pub file: String,
    /// What the traffic is called.
    pub traffic: String,
    /// Which share of calls failed when.
    pub course: Course,
    pub(super) targets: Vec<Target>,
    pub(super) max_output: Option<u32>,
    /// The traffic is that of the incident itself rather than laid over it.
    pub(super) recorded: bool,
    pub(super) mix: Vec<MixEntry>,
    rows: Option<FittedFile<'static>>,
    arrivals: String,
    profile: Option<FittedFile<'static>>,
}

/// Ordinary times before and after the incident.
pub(super) const AROUND_US: u64 = 600_000_000;
/// The weather entry of the incident.
pub(super) const INCIDENT: &str = "incident";

impl Hypothesis {
    /// The world of this incident, called `name`.
    ///
    /// # Errors
    /// Times, shares, targets or traffic do not go together.
    pub fn of(name: &str, asked: &Asked<'_>) -> Result<Hypothesis, InputError> {
        let (found, traffic) = (asked.found, asked.traffic);
        let course = Course::of(found, asked.severity)?;
        let targets = choose(found, asked.targets)?;
        let mix = mix(found)?;
        let from_us = course.start_us.saturating_sub(AROUND_US);
        let horizon_us = horizon_us(&course);
        let recorded = traffic.is_of(from_us, from_us + horizon_us);
        if !recorded {
            traffic.fits(horizon_us)?;
        }
        let mut hypothesis = Hypothesis {
            name: plain_name(name, &mut BTreeSet::new()),
            incident: found.incident.clone(),
            file: found.file_name(),
            traffic: traffic.name().to_owned(),
            course,
            targets,
            max_output: traffic.max_output(),
            recorded,
            mix,
            rows: None,
            arrivals: String::new(),
            profile: None,
        };
        hypothesis.lay(traffic, from_us);
        Ok(hypothesis)
    }

    /// Lays the traffic into the world, whose time begins at `from_us`.
    fn lay(&mut self, traffic: &Traffic, from_us: u64) {
        match traffic {
            Traffic::Trace { trace, .. } => {
                let shift = match self.recorded {
                    true => i128::from(trace.begins_us) - i128::from(from_us),
                    false => 0,
                };
                let path = "traffic/all.csv".to_owned();
                let how = if self.recorded { "absolute" } else { "tile" };
                self.arrivals = format!(
                    "trace: {{file: {path}, {how}: true, layout: {}}}",
                    traffic::layout(&trace.rows)
                );
                self.rows = Some(FittedFile::new(path, traffic::text(&trace.rows, shift)));
            }
            Traffic::Profile { name, own, .. } => {
                let path = "traffic/all.yaml".to_owned();
                let file = if own.is_some() { &path } else { name };
                self.arrivals = format!("profile: {{file: {}, tile: true}}", scalar(file));
                self.profile = own.as_ref().map(|own| FittedFile::new(path, own.text.clone()));
            }
        }
    }

    /// Path of the scenario among the files.
    pub fn scenario_path(&self) -> String {
        format!("{}.yaml", self.name)
    }

    /// All files of the world.
    pub fn files(&self) -> Vec<FittedFile<'static>> {
        let scenario = FittedFile::new(self.scenario_path(), self.scenario());
        let cards = self.targets.iter().filter_map(|target| target.named.file());
        let traffic = self.rows.iter().chain(&self.profile).cloned();
        [scenario].into_iter().chain(cards).chain(traffic).collect()
    }

    fn scenario(&self) -> String {
        let mut out = String::new();
        let mut line = |text: String| writeln!(out, "{text}").expect("a string takes all");
        let (incident, course) = (&self.incident, &self.course);
        line(format!(
            "# Made by windtunnel of {}. No log stands behind it.",
            comment(&format!("{} in {}", incident.id, self.file))
        ));
        line(format!("# t = 0 is {} UTC.", stamp(course.start_us.saturating_sub(AROUND_US))));
        line("#".into());
        self.said().iter().for_each(|said| line(format!("# {}", comment(said))));
        line(format!("name: {}", scalar(&self.name)));
        line(format!(
            "shows: {}",
            quoted(&format!("{} for the traffic of {}.", incident.id, self.traffic))
        ));
        line(format!(
            "expect: {}",
            quoted("Nothing is known of what was lived: no log was given.")
        ));
        line(format!(
            "hypothesis: {}",
            quoted("Everything but the incident's course and the traffic is taken from defaults.")
        ));
        let sources = [&incident.source, &self.traffic].map(|source| quoted(source)).join(", ");
        line(format!("sources: [{sources}]"));
        line(String::new());
        let horizon_us = horizon_us(course);
        line(format!("warm_up: {}", us(AROUND_US.min(course.start_us))));
        line(format!("horizon: {}", us(horizon_us)));
        line(format!("interval: {}", us(interval_us(horizon_us))));
        line("classes:".into());
        line("  all:".into());
        line("    # no deadline is told: 600s is assumed, as long as official clients wait".into());
        self.roles(&mut line);
        line("    traffic:".into());
        line(format!("      arrivals: {{{}}}", self.arrivals));
        if let Some(most) = self.max_output {
            line(format!(
                "      tokens: {{max_output: {most}}} # assumed: above the longest answer"
            ));
        }
        line("targets:".into());
        for target in &self.targets {
            let card = target.named.reference();
            line(format!("  {}: {{card: {}}}", scalar(&target.card().name), scalar(&card)));
        }
        self.weather(&mut line);
        out
    }

    fn roles(&self, line: &mut impl FnMut(String)) {
        let first = self.targets[0].card();
        let models: BTreeSet<&str> = self.targets.iter().map(|t| t.card().model.as_str()).collect();
        let others: Vec<&str> = models.into_iter().filter(|m| *m != first.model).collect();
        if !others.is_empty() {
            line(format!("    substitutes: {}", flow(&others)));
        }
        line("    groups:".into());
        line(format!("      primary: [{}]", scalar(&first.name)));
        let rest = self.targets[1..].iter().map(|target| vec![target.card().name.clone()]);
        let rest: Vec<Vec<String>> = rest.collect();
        if !rest.is_empty() {
            line(format!("      fallbacks: {}", flow(&rest)));
        }
    }

    fn weather(&self, line: &mut impl FnMut(String)) {
        let course = &self.course;
        line("weather:".into());
        line(format!("  - name: {INCIDENT}"));
        line(format!("    hits: {{provider: {}}}", scalar(&self.incident.provider)));
        let from = AROUND_US.min(course.start_us);
        line(format!(
            "    when: {{window: {{from: {}, lasts: {}}}}}",
            us(from),
            us(course.end_us - course.start_us)
        ));
        if !course.points.is_empty() {
            line("    shape:".into());
            line("      course:".into());
            line("        smooth: true".into());
            line("        points:".into());
            for (at, share) in &course.points {
                line(format!("          - {}", flow(&(Duration::from_micros(*at), *share))));
            }
        }
        line("    effects:".into());
        line("      failures:".into());
        line(format!("        share: {}", course.peak));
        line("        mix:".into());
        for kind in &self.mix {
            line(format!("          - {}", flow(kind)));
        }
    }

    /// What is assumed, one sentence each.
    pub fn said(&self) -> Vec<String> {
        said::of(self)
    }

    /// The world for people: what was read, and what is assumed.
    pub fn text(&self) -> String {
        said::text(self)
    }
}

/// From ten minutes before the incident to ten after it.
fn horizon_us(course: &Course) -> u64 {
    course.end_us - course.start_us + AROUND_US.min(course.start_us) + AROUND_US
}

fn interval_us(horizon_us: u64) -> u64 {
    let minute = 60_000_000;
    let fits = |length: &&u64| horizon_us.div_ceil(**length * minute) <= MOST_INTERVALS;
    INTERVALS.iter().find(fits).or(INTERVALS.last()).expect("there are some") * minute
}
