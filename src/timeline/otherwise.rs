//! Worlds that a timeline cannot tell from the one that was made of it.

use windtunnel_policy::Share;

use super::mix::entry;
use super::world::{Hypothesis, INCIDENT};
use crate::scenario::{Domain, Effects, MixEntry, Range, Scenario, Shape, WeatherSpec, When};

/// Room that others may leave at the targets that were not hit.
const LESS_ROOM: (u64, u64) = (1, 2);

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
        worlds.extend(self.less_room(scenario));
        worlds
    }

    /// Half the room at the targets that were not hit.
    fn less_room(&self, scenario: &Scenario) -> Option<(String, Scenario)> {
        let others = || scenario.targets.iter().filter(|t| t.provider != self.incident.provider);
        let half = Range::only(Share::ratio(LESS_ROOM.0, LESS_ROOM.1));
        let entries = others().map(|target| WeatherSpec {
            name: format!("{}-half", target.name),
            hits: Domain { target: Some(target.name.clone()), ..Domain::default() },
            when: When::Always,
            shape: Shape::Step,
            effects: Effects { capacity: Some(half), limits: Some(half), ..Effects::default() },
        });
        let mut other = scenario.clone();
        other.file.weather.extend(entries);
        let names = others().map(|target| target.name.as_str()).collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then(|| (format!("half the room and limits at {names}"), other))
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
