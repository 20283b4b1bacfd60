//! From a trace to its profile.

use std::collections::BTreeMap;

use super::{Minute, Profile, Sessions};

/// What a profile says about itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct About {
    /// Its name in results: by custom the file's, which is what it is found by.
    pub name: String,
    /// One or two sentences for people.
    pub description: String,
    /// The trace, precisely enough to find it again.
    pub source: String,
    /// Licence of the trace.
    pub licence: String,
    /// Day or month the trace was recorded.
    pub date: String,
}

/// One request of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// Arrival in µs from any origin.
    pub at_us: u64,
    /// Prompt tokens.
    pub input: u32,
    /// Output tokens.
    pub output: u32,
    /// Conversation; 0 for none.
    pub session: u64,
    /// Model, kind of log, or whatever else tells requests apart; empty for none.
    pub label: String,
}

/// Quantiles of the gaps within sessions: steps of 5 %.
const GAP_STEPS: usize = 20;
/// Longer sessions count as this long.
const MAX_TURNS: usize = 200;

impl Profile {
    /// The profile of these rows. Seconds and minutes count from the first row.
    ///
    /// `None` where there are no rows, or they are not sorted by time.
    pub fn from_trace(rows: &[Row], about: About) -> Option<Profile> {
        let first_us = rows.first()?.at_us;
        if !rows.is_sorted_by_key(|row| row.at_us) {
            return None;
        }
        let second = |row: &Row| ((row.at_us - first_us) / 1_000_000) as usize;
        let seconds = second(rows.last()?) + 1;
        let mut minutes: Vec<Minute> = (0..seconds.div_ceil(60))
            .map(|m| Minute { counts: vec![0; (seconds - 60 * m).min(60)], ..Minute::default() })
            .collect();
        for row in rows {
            let minute = &mut minutes[second(row) / 60];
            minute.counts[second(row) % 60] += 1;
            minute.input.push(row.input);
            minute.output.push(row.output);
        }
        for minute in &mut minutes {
            minute.input.sort_unstable();
            minute.output.sort_unstable();
        }
        let About { name, description, source, licence, date } = about;
        Some(Profile {
            format: Profile::FORMAT,
            name,
            description,
            source,
            licence,
            date,
            labels: labels(rows),
            minutes,
            sessions: sessions(rows),
        })
    }
}

/// Shares of the labels, to a thousandth of a percent.
fn labels(rows: &[Row]) -> BTreeMap<String, f64> {
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.label.is_empty()) {
        *counts.entry(row.label.clone()).or_default() += 1.0;
    }
    let share = |count: f64| libm::round(count / rows.len() as f64 * 1e5) / 1e5;
    counts.into_iter().map(|(label, count)| (label, share(count))).collect()
}

/// Turns per session and gaps between turns; none unless some session has two turns.
fn sessions(rows: &[Row]) -> Option<Sessions> {
    let mut times: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.session != 0) {
        times.entry(row.session).or_default().push(row.at_us);
    }
    let gaps = |times: &Vec<u64>| -> Vec<u64> {
        times.windows(2).map(|pair| (pair[1] - pair[0]) / 1_000).collect()
    };
    let mut gaps_ms: Vec<u64> = times.values().flat_map(gaps).collect();
    let last = gaps_ms.len().checked_sub(1)?;
    gaps_ms.sort_unstable();
    let longest = times.values().map(Vec::len).max()?.min(MAX_TURNS);
    let mut turns = vec![0; longest];
    for times in times.values() {
        turns[times.len().min(longest) - 1] += 1;
    }
    let quantiles = (0..=GAP_STEPS).map(|i| gaps_ms[i * last / GAP_STEPS]);
    Some(Sessions { turns, gaps_ms: quantiles.collect() })
}
