//! The report for a terminal.

use super::finding::WhatIf;
use super::left_out;
use super::sections::{Section, Table, of_fewer, sections};
use crate::fit::many;

/// The widest cell; longer ones are cut.
const WIDEST: usize = 60;
/// The longest line of a sentence.
const LINE: usize = 110;

impl WhatIf {
    /// For people. Lines end in a line feed; nothing depends on a terminal.
    pub fn text(&self) -> String {
        let mut out = format!(
            "windtunnel {}\nworld      {} ({})\n",
            self.windtunnel,
            self.scenario,
            &self.scenario_hash[..self.scenario_hash.len().min(12)]
        );
        if let Some(log) = &self.log {
            out += &format!(
                "log        {}: {}, {}{}\n",
                log.name,
                many(log.requests, "request"),
                many(log.attempts, "attempt"),
                of_fewer(log)
            );
            for file in left_out::files(self) {
                out += &format!("left out   {} (why: below)\n", file.count());
            }
        }
        if let Some(timeline) = &self.timeline {
            out += &format!(
                "timeline   {} in {}\nsource     {}\ntraffic    {}\n",
                timeline.name, timeline.file, timeline.source, timeline.traffic
            );
        }
        for (i, policy) in self.policies.iter().enumerate() {
            let role = if i == 0 && self.log.is_some() { ", in force" } else { "" };
            out += &format!(
                "policy     {} ({}{role})\n",
                policy.name,
                &policy.hash[..policy.hash.len().min(12)]
            );
        }
        out +=
            &format!("seed       {}, {} worlds, {} refits\n", self.seed, self.worlds, self.refits);
        for section in sections(self) {
            out += &section_text(&section);
        }
        out
    }
}

fn section_text(section: &Section) -> String {
    let mut out = format!("\n{}\n", section.title);
    for sentence in &section.sentences {
        out += &wrapped(sentence);
    }
    if let Some(table) = &section.table {
        out += &table_text(table);
    }
    if let Some(text) = &section.verbatim {
        // A diff below sentences is none of them.
        let apart = if section.sentences.is_empty() { "  " } else { "      " };
        text.lines().for_each(|line| out += &format!("{apart}{line}\n"));
    }
    out
}

/// A sentence in lines of at most [`LINE`] characters, the first marked.
fn wrapped(sentence: &str) -> String {
    let (mut out, mut length) = (String::from("  -"), 3);
    for word in sentence.split(' ') {
        let more = 1 + word.chars().count();
        if length + more > LINE {
            out += "\n   ";
            length = 3;
        }
        out += " ";
        out += word;
        length += more;
    }
    out + "\n"
}

fn table_text(table: &Table) -> String {
    let cut = |cell: &String| -> String {
        match cell.chars().count() > WIDEST {
            true => cell.chars().take(WIDEST - 1).chain(['…']).collect(),
            false => cell.clone(),
        }
    };
    let rows: Vec<Vec<String>> = [&table.head]
        .into_iter()
        .chain(&table.rows)
        .map(|row| row.iter().map(cut).collect())
        .collect();
    let columns = table.head.len();
    let width = |c: usize| rows.iter().map(|row| row[c].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    // Figures stand right, words left.
    let figures: Vec<bool> = (0..columns).map(|column| table.holds_figures(column)).collect();
    for row in &rows {
        let cells = row.iter().zip(&widths).zip(&figures).map(|((cell, width), figures)| {
            if *figures { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        let line = cells.collect::<Vec<_>>().join("   ");
        out += &format!("  {}\n", line.trim_end());
    }
    out
}
