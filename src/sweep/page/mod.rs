//! A sweep as a document: what nothing beats, what each field does, and how far to believe it.

mod drawn;

use super::effects::ranked;
use super::objective::Goal;
use super::summary::{Point, Summary};
use super::text::{self, change_cell, value_cell};
use crate::page::{Block, KeyFigure, Origin, Page, Section, Tone};

impl Summary {
    /// The front and what matters as a document; `command` makes it again.
    pub fn page(&self, command: &str) -> Page {
        let header = &self.header;
        let front = self.front();
        let scenarios: Vec<&str> = header.scenarios.iter().map(|s| s.name.as_str()).collect();
        let scenarios = scenarios.join(", ");
        Page {
            kind: "sweep".into(),
            title: format!("{} variants of `{}` in {scenarios}", header.variants, header.base.name),
            asked: format!(
                "Which policies does no other beat? Wanted: {}. What varies: {}.",
                text::wanted(header),
                self.varied()
            ),
            answer: self.answer(&front),
            figures: self.figures(&front),
            belief: self.belief(),
            legend: vec![
                format!("{} (base)", header.base.name),
                "on the front".into(),
                "other variants".into(),
                "mean over variants".into(),
            ],
            sections: self.sections(&front),
            origin: self.origin(command),
        }
    }

    /// The fields, without what a choice sets.
    fn varied(&self) -> String {
        let fields = self.header.fields.iter();
        let own = fields.filter(|field| field.choice.is_none() || field.is_choice());
        own.map(|field| field.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn answer(&self, front: &[usize]) -> String {
        let base = &self.header.base.name;
        let policies = self.policies();
        let on_it = front.iter().any(|&at| self.points[at].variant == 0);
        let of_base = match on_it {
            true => format!("The base, `{base}`, is one of them."),
            false => format!("The base, `{base}`, is not among them."),
        };
        let are = if front.len() == 1 { "is" } else { "are" };
        format!(
            "{} of {policies} policies {are} beaten by no other in everything wanted. {of_base}{}",
            front.len(),
            match self.base_again() {
                again if again.is_empty() => String::new(),
                again => format!(" ({}.)", again.trim_start_matches("; ")),
            }
        )
    }

    fn figures(&self, front: &[usize]) -> Vec<KeyFigure> {
        const MOST: usize = 4;
        let mut figures: Vec<KeyFigure> = (0..self.header.objectives.len().min(MOST))
            .filter_map(|at| self.best_of(front, at))
            .collect();
        let first = ranked(self, 0).into_iter().next().filter(|effect| effect.share > 0.0);
        figures.extend(first.map(|effect| KeyFigure {
            label: "what matters most".into(),
            value: self.header.fields[effect.field].name.clone(),
            note: format!(
                "{:.0} % of the variance of {} over variants",
                100.0 * effect.share,
                self.header.objectives[0].measure
            ),
            tone: Tone::Plain,
        }));
        figures
    }

    /// The best in one objective.
    fn best_of(&self, front: &[usize], at: usize) -> Option<KeyFigure> {
        let objective = &self.header.objectives[at];
        let dimension = self.dimension(at);
        let score = |point: &Point| point.scores[at].value();
        let points = front.iter().map(|&position| &self.points[position]);
        let best = points.reduce(|best, point| {
            match objective.goal.prefers(score(point), score(best)) {
                true => point,
                false => best,
            }
        })?;
        let base = self.base().map(|base| value_cell(base.scores[at], dimension));
        let note = match (best.variant, base) {
            (0, _) => "the base itself".into(),
            (number, None) => format!("#{number}"),
            (number, Some(base)) => {
                format!("#{number}; base: {base}; {}", change_cell(best.differences[at], dimension))
            }
        };
        Some(KeyFigure {
            label: match objective.goal {
                Goal::Most => format!("most {}", objective.measure),
                Goal::Least => format!("least {}", objective.measure),
            },
            value: value_cell(best.scores[at], dimension),
            note,
            tone: Tone::Plain,
        })
    }

    fn belief(&self) -> Vec<String> {
        let header = &self.header;
        let mut lines = Vec::new();
        if !self.is_complete() {
            let (done, all) = (self.points.len(), header.variants + 1);
            lines.push(format!("INTERRUPTED: {done} of {all} rows are there."));
        }
        lines.extend(self.without_value().map(|line| line + "."));
        lines.push(match header.worlds {
            1 => "One world, so there are no intervals: `--worlds 10` gives some.".into(),
            worlds => format!(
                "Intervals are 95 %, over {worlds} worlds, the same for every variant: a difference to the \
                 base is known better than either value."
            ),
        });
        lines.push(format!(
            "The best of {} looks better than it is: confirm one on other worlds, such as those of another \
             `--seed`, before it goes anywhere.",
            header.variants
        ));
        lines.push(
            "It is a simulation: `docs/validity.md` says what is modelled, assumed and left out."
                .into(),
        );
        lines
    }

    fn sections(&self, front: &[usize]) -> Vec<Section> {
        let objectives = self.header.objectives.len();
        let mut blocks: Vec<Block> =
            (1..objectives).map(|other| Block::Scatter(self.scatter(front, other))).collect();
        let (table, more) = self.front_cells(front);
        let columns = "The base and variants of the front, evenly spread; then the fields in which they differ";
        blocks.push(Block::Table(table.table(columns)));
        if more > 0 {
            blocks.push(Block::Note(format!("{more} more of the front are in the rows.")));
        }
        blocks.extend(self.noise(front).map(Block::Note));
        let mut all = vec![Section::new("What nothing beats", blocks)];
        all.extend(self.fitted_cells().map(|table| {
            let caption =
                format!("{}, of what is best in each scenario", self.header.objectives[0].measure);
            Section::new("Fitted to one incident", vec![Block::Table(table.table(&caption))])
        }));
        all.extend(self.mattering_cells().map(|table| {
            let caption =
                "The part of the variance over variants that lies between a field's values";
            Section::new("What matters", vec![Block::Table(table.table(caption))])
        }));
        all.extend((0..objectives).filter_map(|at| self.effects_section(at)));
        all
    }

    fn origin(&self, command: &str) -> Origin {
        let header = &self.header;
        let fact = |name: String, value: String| (name, value);
        let mut facts = vec![
            fact("version".into(), header.windtunnel.clone()),
            fact("seed".into(), header.seed.to_string()),
            fact("worlds".into(), header.worlds.to_string()),
            fact("drawn by".into(), format!("{}, seed {}", header.sample, header.sample_seed)),
        ];
        let scenarios = header.scenarios.iter();
        facts.extend(scenarios.map(|s| fact(format!("scenario {}", s.name), s.hash.clone())));
        facts.push(fact(format!("base {}", header.base.name), header.base.hash.clone()));
        facts.push(fact(format!("space {}", header.space.name), header.space.hash.clone()));
        Origin { command: command.into(), facts }
    }
}
