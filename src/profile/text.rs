//! A profile as text.

use std::fmt::{self, Write};

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::{Minute, Profile};

/// Longer profiles are refused: a year.
const MAX_MINUTES: usize = 366 * 24 * 60;
/// Requests of one second, or tokens of one request.
const MAX_NUMBER: u32 = 100_000_000;
/// Repetitions of one number: a small file must not swell beyond all bounds.
const MAX_RUN: usize = 10_000;

/// A profile that contradicts itself: what is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProfileError(String);

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ProfileError {}

impl Profile {
    /// Checks what single fields cannot say.
    ///
    /// # Errors
    /// Another format version, no request at all, counts and lengths that do not agree, a minute
    /// before the last that has not 60 seconds, sessions without turns or gaps.
    pub fn check(&self) -> Result<(), ProfileError> {
        let wrong = |problem: String| Err(ProfileError(problem));
        if self.format != Profile::FORMAT {
            return wrong(format!(
                "format {} is not known: expected {}",
                self.format,
                Profile::FORMAT
            ));
        }
        if self.minutes.len() > MAX_MINUTES {
            return wrong(format!("more than {MAX_MINUTES} minutes"));
        }
        for (i, minute) in self.minutes.iter().enumerate() {
            let last = i + 1 == self.minutes.len();
            let seconds = minute.counts.len();
            if seconds == 0 || seconds > 60 || (seconds < 60 && !last) {
                return wrong(format!("minute {i} has {seconds} counts: expected 60"));
            }
            let requests: u64 = minute.counts.iter().map(|&count| u64::from(count)).sum();
            for (what, lengths) in [("input", &minute.input), ("output", &minute.output)] {
                if lengths.len() as u64 != requests {
                    return wrong(format!(
                        "minute {i} counts {requests} requests, but `{what}` has {} lengths",
                        lengths.len()
                    ));
                }
            }
        }
        if self.requests() == 0 {
            return wrong("no requests".into());
        }
        match &self.sessions {
            Some(sessions) if sessions.turns.iter().all(|&count| count == 0) => {
                wrong("`sessions.turns` counts no session".into())
            }
            Some(sessions) if sessions.gaps_ms.len() < 2 || !sessions.gaps_ms.is_sorted() => {
                wrong("`sessions.gaps_ms` must be at least two numbers that ascend".into())
            }
            _ => Ok(()),
        }
    }

    /// The profile as a file: what [`Profile`]'s deserialization reads.
    pub fn to_yaml(&self) -> String {
        let mut text = format!("format: {}\n", self.format);
        for (key, value) in [
            ("name", &self.name),
            ("description", &self.description),
            ("source", &self.source),
            ("licence", &self.licence),
            ("date", &self.date),
        ] {
            line(&mut text, format_args!("{key}: {}", quoted(value)));
        }
        if !self.labels.is_empty() {
            text.push_str("labels:\n");
            for (label, share) in &self.labels {
                line(&mut text, format_args!("  {}: {share}", quoted(label)));
            }
        }
        if let Some(sessions) = &self.sessions {
            text.push_str("sessions:\n");
            line(&mut text, format_args!("  turns: {:?}", sessions.turns));
            line(&mut text, format_args!("  gaps_ms: {:?}", sessions.gaps_ms));
        }
        text.push_str("minutes:\n");
        for Minute { counts, input, output } in &self.minutes {
            line(&mut text, format_args!("  - counts: \"{}\"", to_runs(counts)));
            line(&mut text, format_args!("    input: \"{}\"", to_runs(&differences(input))));
            line(&mut text, format_args!("    output: \"{}\"", to_runs(&differences(output))));
        }
        text
    }
}

fn line(text: &mut String, line: fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("writing to a string never fails");
}

/// A JSON string is a double-quoted YAML scalar.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Numbers between blanks; three or more of one value as `value*times`.
fn to_runs(values: &[u32]) -> String {
    let runs = values.chunk_by(|a, b| a == b).flat_map(|run| run.chunks(MAX_RUN));
    let parts = runs.map(|run| match run {
        [value] => value.to_string(),
        [value, _] => format!("{value} {value}"),
        [value, ..] => format!("{value}*{}", run.len()),
        [] => unreachable!("chunks are not empty"),
    });
    parts.collect::<Vec<_>>().join(" ")
}

fn differences(ascending: &[u32]) -> Vec<u32> {
    let before = [0].iter().chain(ascending);
    ascending.iter().zip(before).map(|(value, before)| value - before).collect()
}

/// Reads what [`to_runs`] writes.
pub(super) fn runs<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u32>, D::Error> {
    let text = String::deserialize(d)?;
    let mut values = Vec::new();
    for part in text.split_ascii_whitespace() {
        let (value, times) = part.split_once('*').unwrap_or((part, "1"));
        match (value.parse::<u32>(), times.parse::<usize>()) {
            (Ok(value), Ok(times)) if value <= MAX_NUMBER && times <= MAX_RUN => {
                values.extend(std::iter::repeat_n(value, times));
            }
            _ => {
                let expected = "expected a number such as 12, or 0*12 for twelve times 0";
                return Err(D::Error::custom(format!("{expected}, found `{part}`")));
            }
        }
    }
    Ok(values)
}

/// Reads the runs of the first value and the differences after it.
pub(super) fn ascending<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u32>, D::Error> {
    let mut values = runs(d)?;
    let mut sum = 0_u32;
    for value in &mut values {
        sum = sum.saturating_add(*value);
        if sum > MAX_NUMBER {
            return Err(D::Error::custom(format!("lengths add up to more than {MAX_NUMBER}")));
        }
        *value = sum;
    }
    Ok(values)
}
