//! What a table and charts need of a sweep: a point for each row.

use serde_json::Value;

use super::front::front;
use super::header::Header;
use super::objective::Objective;
use super::row::{Figure, Row};

/// A variant's cells and objectives.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// Its number; the base is 0.
    pub variant: u64,
    /// A variant that is the base's policy again: the base stands for it.
    pub is_base_again: bool,
    /// Its cells, by the header's fields.
    pub fields: Vec<Value>,
    /// By objective.
    pub scores: Vec<Figure>,
    /// By objective, its difference to the base.
    pub differences: Vec<Figure>,
    /// By objective, its measure in each of several scenarios; empty where there is one.
    pub in_scenarios: Vec<Vec<Figure>>,
}

/// A sweep's points, in the order of their numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary {
    /// What was run.
    pub header: Header,
    /// One for each row so far.
    pub points: Vec<Point>,
    /// The number of a variant that charts mark as recommended.
    pub recommended: Option<u64>,
    /// What charts call that variant; its number where absent.
    pub recommended_as: Option<String>,
    /// What charts call its worlds; plain worlds where absent.
    pub worlds_as: Option<String>,
    /// By objective, the figure of its measure in each of several scenarios.
    in_scenarios: Vec<Vec<usize>>,
}

impl Summary {
    /// Of no row yet.
    pub fn new(header: Header) -> Summary {
        let in_scenarios = header.scenario_columns();
        Summary {
            header,
            points: Vec::new(),
            recommended: None,
            recommended_as: None,
            worlds_as: None,
            in_scenarios,
        }
    }

    /// Adds a row.
    pub fn add(&mut self, row: &Row) {
        let columns = self.header.objective_columns();
        let pick = |of: &[usize]| of.iter().map(|&at| row.figures[at]).collect();
        self.points.push(Point {
            variant: row.variant,
            is_base_again: row.variant > 0 && row.policy == self.header.base.hash,
            fields: row.fields.clone(),
            scores: columns.iter().map(|(score, _)| row.figures[*score]).collect(),
            differences: columns.iter().map(|(_, difference)| row.figures[*difference]).collect(),
            in_scenarios: self.in_scenarios.iter().map(|of| pick(of)).collect(),
        });
    }

    /// The positions of the points nothing beats, the best in the first objective first.
    pub fn front(&self) -> Vec<usize> {
        let all: Vec<usize> = (0..self.header.objectives.len()).collect();
        self.front_of(&all)
    }

    /// The same in some of the objectives, by position.
    pub fn front_of(&self, wanted: &[usize]) -> Vec<usize> {
        let objectives: Vec<Objective> =
            wanted.iter().map(|&at| self.header.objectives[at].clone()).collect();
        let score =
            |point: &Point, at: usize| point.scores[at].value().filter(|_| !point.is_base_again);
        let scores = |point: &Point| wanted.iter().map(|&at| score(point, at)).collect();
        let scores: Vec<Vec<Option<f64>>> = self.points.iter().map(scores).collect();
        front(&scores, &objectives)
    }

    /// How many policies there are, the base's counted once.
    pub(super) fn policies(&self) -> usize {
        self.points.iter().filter(|point| !point.is_base_again).count()
    }

    /// The variants that are the base again, in words after the others; empty without any.
    pub(super) fn base_again(&self) -> String {
        let again = self.points.iter().filter(|point| point.is_base_again);
        let again: Vec<String> = again.map(|point| format!("#{}", point.variant)).collect();
        match again.len() {
            0 => String::new(),
            1 => format!("; {} is the base again", again[0]),
            2..=4 => format!("; {} are the base again", again.join(", ")),
            many => format!("; {many} of them are the base again"),
        }
    }

    /// The base's point, where it is among them.
    pub fn base(&self) -> Option<&Point> {
        self.points.first().filter(|point| point.variant == 0)
    }

    /// True where every row is there.
    pub fn is_complete(&self) -> bool {
        self.points.len() as u64 == self.header.variants + 1
    }
}
