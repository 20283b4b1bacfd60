//! Charts of a sweep.

mod axis;
mod effects;
mod front;
mod map;

use super::summary::Summary;
use crate::report::{PlotError, PlotFormat, paint};

/// A chart of a sweep.
pub struct Chart<'a> {
    /// What its file is called, without ending.
    pub name: String,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Front(front::Front<'a>),
    Effects(effects::Effects<'a>),
    Map(map::Map<'a>),
}

impl Summary {
    /// Every chart there is something for: the front of the first objective against each other one,
    /// what fields do to each objective, and a map of the two fields that matter most.
    pub fn charts(&self) -> Vec<Chart<'_>> {
        let objectives = &self.header.objectives;
        let name = |at: usize| &objectives[at].measure;
        let mut charts = Vec::new();
        for other in 1..objectives.len() {
            let kind = Kind::Front(front::Front::new(self, 0, other));
            charts.push(Chart { name: format!("front-{}-{}", name(0), name(other)), kind });
        }
        for at in 0..objectives.len() {
            if let Some(effects) = effects::Effects::new(self, at) {
                let kind = Kind::Effects(effects);
                charts.push(Chart { name: format!("effects-{}", name(at)), kind });
            }
            if let Some(map) = map::Map::new(self, at) {
                charts.push(Chart { name: format!("map-{}", name(at)), kind: Kind::Map(map) });
            }
        }
        charts
    }
}

impl Chart<'_> {
    /// The chart as a file's bytes.
    ///
    /// # Errors
    /// The drawing library refuses.
    pub fn draw(&self, format: PlotFormat) -> Result<Vec<u8>, PlotError> {
        match &self.kind {
            Kind::Front(front) => paint(front, format),
            Kind::Effects(effects) => paint(effects, format),
            Kind::Map(map) => paint(map, format),
        }
    }
}
