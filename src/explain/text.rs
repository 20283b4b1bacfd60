//! A request's life for people: one timeline, or two side by side on one clock.

use std::fmt::Write;

use windtunnel_policy::Instant;
use windtunnel_policy::event::{Action, Event};

use super::{Explanation, Happening, Told};
use crate::record::AttemptRow;

/// Width of one of two columns.
const COLUMN: usize = 60;

/// What is told of one moment.
struct Entry {
    at: Instant,
    lines: Vec<String>,
}

pub(super) fn explanation(all: &Explanation) -> String {
    let mut text = format!(
        "request {} of {}, world {}, seed {}\n",
        all.request, all.scenario, all.world, all.seed
    );
    let origin = all.lives.first().map(|told| told.row.arrived).unwrap_or_default();
    let _ = writeln!(
        text,
        "came at {}; times below are counted from there\n",
        clock(origin, Instant::ZERO)
    );
    match all.lives.as_slice() {
        [left, right] => text += &side_by_side(left, right, origin),
        lives => lives.iter().for_each(|told| text += &alone(told, origin)),
    }
    for told in all.lives.iter().filter(|told| !told.attempts.is_empty()) {
        text += &attempts(told, origin);
    }
    text
}

/// A point in time, to the microsecond as in the ledger: all times of a timeline have the same digits.
fn clock(at: Instant, origin: Instant) -> String {
    let us = at.since(origin).as_micros();
    format!("{}.{:06} s", us / 1_000_000, us % 1_000_000)
}

fn summary(told: &Told, origin: Instant) -> String {
    let row = &told.row;
    let writes = match told.calls.iter().filter(|call| call.writes).count() {
        0 => String::new(),
        1 => ", its tool wrote once".into(),
        n => format!(", its tool wrote {n} times for one action"),
    };
    format!(
        "{}: {} after {}, {} attempt{}, {}{writes}",
        told.policy,
        row.result.outcome.name(),
        clock(row.closed, origin),
        row.result.attempts,
        if row.result.attempts == 1 { "" } else { "s" },
        row.cost
    )
}

fn alone(told: &Told, origin: Instant) -> String {
    let mut text = summary(told, origin) + "\n\n";
    for entry in entries(told, origin) {
        let at = clock(entry.at, origin);
        for (i, line) in entry.lines.iter().enumerate() {
            let at = if i == 0 { at.as_str() } else { "" };
            let _ = writeln!(text, "{at:>12}  {line}");
        }
    }
    text
}

fn side_by_side(left: &Told, right: &Told, origin: Instant) -> String {
    let row = |at: &str, left: &str, right: &str| {
        format!("{at:>12}  {left:<COLUMN$}  {right}").trim_end().to_owned() + "\n"
    };
    let mut text = String::new();
    let heads = [wrapped(&summary(left, origin)), wrapped(&summary(right, origin))];
    for i in 0..heads[0].len().max(heads[1].len()) {
        let line = |side: usize| heads[side].get(i).map_or("", String::as_str);
        text += &row("", line(0), line(1));
    }
    text.push('\n');
    let sides = [entries(left, origin), entries(right, origin)];
    let mut times: Vec<Instant> = sides.iter().flatten().map(|entry| entry.at).collect();
    times.sort_unstable();
    times.dedup();
    for at in times {
        let lines = |side: &[Entry]| -> Vec<String> {
            let now = side.iter().filter(|entry| entry.at == at);
            now.flat_map(|entry| &entry.lines).flat_map(|line| wrapped(line)).collect()
        };
        let (left, right) = (lines(&sides[0]), lines(&sides[1]));
        for i in 0..left.len().max(right.len()) {
            let at = if i == 0 { clock(at, origin) } else { String::new() };
            let line = |side: &[String]| side.get(i).cloned().unwrap_or_default();
            text += &row(&at, &line(&left), &line(&right));
        }
    }
    text
}

/// What became of it before a gateway let it in, where it had to wait or never came in.
fn at_the_door(told: &Told) -> Vec<Entry> {
    let row = &told.row;
    let came_in = told.course.first().map(|happening| happening.moment.now);
    let mut entries = Vec::new();
    if came_in.unwrap_or(row.closed) > row.arrived {
        let line = "comes to a full gateway, and waits".to_owned();
        entries.push(Entry { at: row.arrived, lines: vec![line] });
    }
    if let (None, Some(stop)) = (came_in, row.result.stop) {
        let line = format!("never comes in: {}, status {}", stop.name(), row.result.status);
        entries.push(Entry { at: row.closed, lines: vec![line] });
    }
    entries
}

/// What is worth telling of a life, in order.
fn entries(told: &Told, origin: Instant) -> Vec<Entry> {
    let mut entries: Vec<Entry> = at_the_door(told);
    for (i, happening) in told.course.iter().enumerate() {
        let mut lines = lines(told, happening, origin);
        if i == 0 {
            let open = told.breakers.iter().map(|action| told.names.action(action, origin));
            lines.splice(1..1, open.map(|line| format!("  so far, {line}")));
        }
        if !lines.is_empty() {
            entries.push(Entry { at: happening.moment.now, lines });
        }
    }
    entries.extend(calls(told));
    // Stable: what a router was told at the same time stays in its order.
    entries.sort_by_key(|entry| entry.at);
    entries
}

/// Calls of the action's tool, which the gateway does not see.
fn calls(told: &Told) -> impl Iterator<Item = Entry> {
    let came = told.row.arrived;
    let mut writes = 0;
    told.calls.iter().map(move |call| {
        writes += u32::from(call.writes);
        let what = match (call.writes, writes) {
            (false, _) => "it writes nothing".to_owned(),
            (true, 1) => "it writes".to_owned(),
            (true, n) => format!("it writes again, {n} times by now"),
        };
        let when = if call.at < came { ", for an earlier request of the action" } else { "" };
        let line = format!("unseen by the gateway, the tool is called{when}: {what}");
        Entry { at: call.at.max(came), lines: vec![line] }
    })
}

fn lines(told: &Told, happening: &Happening, origin: Instant) -> Vec<String> {
    let moment = &happening.moment;
    let told_of = |action: &&Action| !matches!(action, Action::SetTimer { .. });
    let actions: Vec<String> = moment
        .actions
        .iter()
        .filter(told_of)
        .map(|action| format!("  {}", told.names.action(action, origin)))
        .collect();
    // Timers are armed early, and output goes on: neither means anything by itself.
    let idle = matches!(moment.event, Event::Timer { .. } | Event::Progress { .. });
    if idle && actions.is_empty() {
        return Vec::new();
    }
    let event = match happening.elsewhere {
        true => "another request".to_owned(),
        false => told.names.event(&moment.event),
    };
    [event].into_iter().chain(actions).collect()
}

/// A line in a column: broken between words, the rest set in further.
fn wrapped(line: &str) -> Vec<String> {
    let indent = line.len() - line.trim_start().len();
    let mut lines = vec![" ".repeat(indent)];
    for word in line.split_whitespace() {
        let last = lines.last_mut().expect("there is one");
        let begun = !last.trim().is_empty();
        if begun && last.chars().count() + 1 + word.chars().count() > COLUMN {
            lines.push(" ".repeat(indent + 4) + word);
        } else {
            if begun {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

/// How an attempt ended, and what a proxy on the way did that the gateway has not seen.
fn ending(row: &AttemptRow) -> String {
    let ending = row.failure.map_or("an answer", |class| class.name());
    match row.hidden_calls {
        0 => ending.to_owned(),
        _ => format!("{ending}, after {} calls of the provider", row.provider_calls()),
    }
}

fn attempts(told: &Told, origin: Instant) -> String {
    let mut text = format!("\nattempts under {}\n", told.policy);
    let widest = told.attempts.iter().map(|row| told.names.target(row.target).len()).max();
    let widest = widest.unwrap_or(0).max("target".len());
    let _ = writeln!(
        text,
        "  # {:<widest$} {:>12} {:>12} {:>12} {:>8} {:>8}  {:<12} ended with",
        "target", "sent", "first output", "ended", "in", "out", "cost"
    );
    for row in &told.attempts {
        let first = row.first_output.map_or("–".to_owned(), |at| clock(at, origin));
        let _ = writeln!(
            text,
            "{:>3} {:<widest$} {:>12} {first:>12} {:>12} {:>8} {:>8}  {:<12} {}",
            row.number,
            told.names.target(row.target),
            clock(row.sent, origin),
            clock(row.ended, origin),
            row.usage.input,
            row.usage.output,
            row.cost.to_string(),
            ending(row),
        );
    }
    text
}
