//! What a reader must know beside the numbers.

use super::Report;
use crate::measures::Measure;
use crate::scenario::{Recorded, When};
use crate::stats::Estimate;

impl Report<'_> {
    /// What the intervals cover, in one sentence.
    pub(super) fn covers(&self) -> String {
        let worlds = self.experiment.worlds.len();
        if worlds < 2 {
            return "one world: no intervals (use --worlds)".into();
        }
        let recorded = self.scenario.classes.iter().any(|class| match class.recorded {
            Some(Recorded::Trace(_) | Recorded::Profile(_)) => true,
            None => false,
        });
        let fixed = self.scenario.file.weather.iter().any(|entry| match entry.when {
            When::Window { .. } | When::Flapping { .. } => true,
            When::Always | When::Renewal { .. } => false,
        });
        if self.options.resample {
            return "luck, and which stretch of traffic and which course of the incident within \
                    the scenario's ranges is met"
                .into();
        }
        match (recorded, fixed) {
            (true, true) => "luck only: the scenario fixes traffic and incident",
            (true, false) => "luck and weather: the scenario fixes the traffic",
            (false, true) => "luck and arrivals: the scenario fixes the incident",
            (false, false) => "luck, arrivals and weather",
        }
        .into()
    }

    /// Remarks on one figure: why it is missing, what it assumes.
    pub(super) fn note(&self, measure: &Measure, estimate: &Estimate) -> Option<String> {
        let assumed = measure.name == "task_success" && estimate.value.is_some();
        let assumed = if assumed { self.assumed_quality() } else { None };
        let parts: Vec<String> =
            estimate.note.map(|note| note.to_string()).into_iter().chain(assumed).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// The targets whose quality no source backs.
    pub(super) fn assumed_quality(&self) -> Option<String> {
        let targets = self.scenario.targets.iter().filter(|t| t.quality.source.is_none());
        let names: Vec<&str> = targets.map(|target| target.name.as_str()).collect();
        (!names.is_empty()).then(|| format!("assumed: no source for {}", names.join(", ")))
    }

    /// Worlds that were to be run but were not.
    pub(super) fn missing_worlds(&self) -> Option<String> {
        let (ran, wanted) = (self.experiment.worlds.len(), self.options.worlds as usize);
        (ran < wanted).then(|| format!("interrupted: {ran} of {wanted} worlds are complete"))
    }
}

/// The first twelve digits of a hash, enough to tell files apart.
pub(crate) fn short_hash(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}
