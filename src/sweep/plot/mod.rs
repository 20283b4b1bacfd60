//! Charts of a sweep.

mod axis;
mod effects;
mod front;
mod labels;
mod map;
mod ruler;
#[cfg(test)]
mod tests;

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

/// The charts of a sweep, and those there is nothing for.
#[derive(Default)]
pub struct Charts<'a> {
    /// What can be drawn.
    pub drawn: Vec<Chart<'a>>,
    /// What cannot.
    pub left_out: Vec<LeftOut>,
}

/// A chart that there is nothing for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftOut {
    /// What its file would be called, without ending.
    pub name: String,
    /// Why there is none.
    pub why: String,
}

impl Summary {
    /// Every chart there is something for: the front of the first objective against each other one,
    /// what fields do to each objective, and a map of the two fields that matter most.
    pub fn charts(&self) -> Charts<'_> {
        let objectives = &self.header.objectives;
        let name = |at: usize| &objectives[at].measure;
        let mut charts = Charts::default();
        for other in 1..objectives.len() {
            let front = front::Front::new(self, 0, other).map(Kind::Front);
            charts.add(format!("front-{}-{}", name(0), name(other)), front);
        }
        for at in 0..objectives.len() {
            let effects = effects::Effects::new(self, at).map(Kind::Effects);
            charts.add(format!("effects-{}", name(at)), effects);
            charts.add(format!("map-{}", name(at)), map::Map::new(self, at).map(Kind::Map));
        }
        charts
    }
}

impl<'a> Charts<'a> {
    fn add(&mut self, name: String, chart: Result<Kind<'a>, String>) {
        match chart {
            Ok(kind) => self.drawn.push(Chart { name, kind }),
            Err(why) => self.left_out.push(LeftOut { name, why }),
        }
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
