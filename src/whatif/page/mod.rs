//! The answer as a document: whether to believe it, what each policy does, when and where, what it
//! rests on, what to change.

mod drawn;
mod first;
mod shades;

pub(super) use shades::{shades, strips};

use super::finding::WhatIf;
use super::left_out;
use super::sections::{self, Section as Told};
use super::story::Story;
use crate::page::{Block, Column, Origin, Page, Row, Section, Table};

impl WhatIf {
    /// The findings as a document; `command` makes it again.
    pub fn page(&self, command: &str) -> Page {
        let mut legend: Vec<String> =
            self.policies.iter().map(|policy| policy.name.clone()).collect();
        if self.believed.is_some() {
            legend.push("the log".into());
        }
        Page {
            kind: "what if".into(),
            title: first::title(self),
            asked: first::asked(self),
            answer: first::answer(self),
            figures: first::figures(self),
            belief: first::belief(self),
            legend,
            sections: body(self),
            origin: origin(self, command),
        }
    }
}

fn body(found: &WhatIf) -> Vec<Section> {
    let mut all = Vec::new();
    let each = (1..found.policies.len()).map(|i| sections::instead(found, i));
    all.push(Section::new("Policy by policy", vec![Block::List(each.collect())]));
    all.extend(sections::believed(found).map(|told| {
        let mut blocks = blocks(&told, "The log against the simulation, figure by figure");
        blocks.splice(0..0, sections::reproduced(found).map(Block::Text));
        Section::new("Is the log reproduced?", blocks)
    }));
    all.push(recommended(found));
    all.push(drawn::over_time(found));
    all.push(drawn::by_policy(found));
    let rest = [
        (sections::by_class(found, Some(sections::FIRST)), "What each policy does in each class"),
        (Some(sections::targets(found)), "Attempts, failures and bills, in one world"),
        (sections::sensitivity(found), "Success, were it otherwise"),
    ];
    let rest = rest.into_iter().filter_map(|(told, caption)| Some(titled(told?, caption)));
    all.extend(rest.map(|section| with_all_measures(found, section)));
    all.extend(worth_a_look(found));
    all.extend(left_out::section(found).map(|told| titled(told, "")));
    all.extend(sections::not_identified(found).map(|told| titled(told, "")));
    all
}

/// A section of the other reports, with this above its table.
fn titled(told: Told, caption: &str) -> Section {
    let blocks = blocks(&told, caption);
    Section::new(told.title, blocks)
}

/// The section on route classes has all measures, too, folded away.
fn with_all_measures(found: &WhatIf, mut section: Section) -> Section {
    let all = sections::by_class(found, None).filter(|all| all.title == section.title);
    section
        .blocks
        .extend(all.map(|all| Block::Folded("All measures".into(), blocks(&all, &all.title))));
    section
}

/// What a section of the other reports says below its heading, with this above its table.
fn blocks(told: &Told, caption: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    match told.sentences.as_slice() {
        [] => {}
        [only] => blocks.push(Block::Text(only.clone())),
        several => blocks.push(Block::List(several.to_vec())),
    }
    blocks.extend(told.table.as_ref().map(|table| Block::Table(shown(caption, table))));
    blocks
}

/// A table of the other reports; columns in which no cell begins with a figure are words.
fn shown(caption: &str, table: &sections::Table) -> Table {
    let columns = table.head.iter().enumerate();
    let columns = columns
        .map(|(at, title)| Column { title: title.clone(), figures: table.holds_figures(at) });
    let row = |cells: &Vec<String>| Row {
        head: cells[0].clone(),
        cells: cells[1..].to_vec(),
        ..Row::default()
    };
    Table {
        caption: caption.into(),
        columns: columns.collect(),
        rows: table.rows.iter().map(row).collect(),
    }
}

/// What to change, and the changes as a diff.
fn recommended(found: &WhatIf) -> Section {
    let Told { title, sentences, verbatim, .. } = sections::recommended(found);
    let mut blocks = vec![Block::List(sentences)];
    let caption = "Fields that differ from the policy in force:";
    blocks.extend(verbatim.map(|diff| Block::Code(caption.into(), diff)));
    Section::new(title, blocks)
}

/// The requests worth a look: their attempts over time, and step by step.
fn worth_a_look(found: &WhatIf) -> Option<Section> {
    if found.stories.is_empty() {
        return None;
    }
    let (first, other) = (&found.policies[0], &found.policies[found.candidate]);
    let mut blocks = vec![Block::Text(format!(
        "Of the first world, under `{}` and under `{}`: the same request, weather and luck.",
        first.name, other.name
    ))];
    for Story { request, why, told, courses } in &found.stories {
        blocks.push(Block::Text(format!("Request {request}: {why}.")));
        blocks.push(Block::Beside(courses.iter().cloned().map(Block::Course).collect()));
        let steps = vec![Block::Code(String::new(), told.clone())];
        blocks.push(Block::Folded(format!("Request {request} step by step"), steps));
    }
    Some(Section::new("Requests worth a look", blocks))
}

fn origin(found: &WhatIf, command: &str) -> Origin {
    let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut facts = vec![
        fact("version", &found.windtunnel),
        fact("seed", &found.seed.to_string()),
        fact("worlds", &found.worlds.to_string()),
        fact("refits", &found.refits.to_string()),
        fact(&format!("world {}", found.scenario), &found.scenario_hash),
    ];
    facts.extend(found.policies.iter().map(|p| fact(&format!("policy {}", p.name), &p.hash)));
    Origin { command: command.into(), facts }
}
