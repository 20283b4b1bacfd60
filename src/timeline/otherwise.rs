//! Worlds that a timeline cannot tell from the one that was made of it.

use windtunnel_policy::Share;

use super::mix::entry;
use super::world::{Hypothesis, INCIDENT};
use crate::scenario::{MixEntry, Range, Scenario, Shape, WeatherSpec};

impl Hypothesis {
    /// What may have been otherwise, in words, each with its world. What people have edited out of
    /// `scenario` is varied no longer.
    pub fn otherwise(&self, scenario: &Scenario) -> Vec<(String, Scenario)> {
        let mut worlds = Vec::new();
        let mut add = |words: String, change: &dyn Fn(&mut WeatherSpec)| {
            let mut other = scenario.clone();
            let incident = other.file.weather.iter_mut().find(|entry| entry.name == INCIDENT);
            let Some(incident) = incident else { return };
            change(incident);
            worlds.push((words, other));
        };
        let (low, high) = self.course.range;
        for share in [low, high].into_iter().filter(|share| *share != self.course.peak) {
            add(format!("{share} of calls failed at its worst"), &|incident| {
                severity(incident, share)
            });
        }
        add("what failed was refused at once".into(), &|incident| {
            mix(incident, entry(503, 1, false))
        });
        add("what failed was silence".into(), &|incident| mix(incident, entry(0, 1, true)));
        if !self.course.points.is_empty() {
            add("each share that is told held until the next".into(), &|incident| {
                if let Shape::Course { smooth, .. } = &mut incident.shape {
                    *smooth = false;
                }
            });
        }
        worlds
    }

    /// The targets that were not hit.
    pub fn spared<'a>(&self, scenario: &'a Scenario) -> Vec<&'a str> {
        let spared = scenario.targets.iter().filter(|t| t.provider != self.incident.provider);
        spared.map(|target| target.name.as_str()).collect()
    }
}

fn severity(incident: &mut WeatherSpec, share: Share) {
    if let Some(failures) = &mut incident.effects.failures {
        failures.share = Range::only(share);
    }
}

fn mix(incident: &mut WeatherSpec, only: MixEntry) {
    if let Some(failures) = &mut incident.effects.failures {
        failures.mix = vec![only];
    }
}
