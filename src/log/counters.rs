//! Counters by minute and target: what a gateway's metrics say where its log shows requests only.
//!
//! A CSV with a header line: `minute`, `target`, `attempts` (or `requests`), then any of `timeouts`,
//! `errors` (all failures together) and `status_429`, `status_503`, …

use std::io::BufRead;

use csv::{ReaderBuilder, StringRecord, Trim};
use windtunnel_policy::normalise::ProviderError;
use windtunnel_policy::outcome::FailureClass;

use super::tabular::explain;
use super::{MOST_NAMES, Names, TargetName, Unusable, UnusableRows};
use crate::input::{InputError, did_you_mean};
use crate::trace::cells;
use crate::trace::layout::TimeUnit;

/// Counters of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counters {
    /// What the file is called.
    pub name: String,
    /// Its rows, without the header.
    pub rows: u64,
    /// What could not be used.
    pub unusable: UnusableRows,
    /// One for each row that can be used.
    pub minutes: Vec<Counted>,
}

/// What was counted at one target in one minute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counted {
    /// Position in [`Names::targets`].
    pub target: u16,
    /// On the log's clock.
    pub minute: u64,
    /// Its line in the file, from 1.
    pub line: u64,
    /// Attempts sent.
    pub attempts: u64,
    /// Those that failed, each kind once.
    pub failed: Vec<(FailedWith, u64)>,
}

/// A kind of failure as counters know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FailedWith {
    /// Its class.
    pub class: FailureClass,
    /// Its HTTP status; 0 where there was none.
    pub status: u16,
    /// The gateway gave it up.
    pub given_up: bool,
}

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Column {
    Minute,
    Target,
    Provider,
    Model,
    Attempts,
    Errors,
    Failed(FailedWith),
}

const KNOWN: [&str; 10] = [
    "minute",
    "target",
    "provider",
    "model",
    "attempts",
    "requests",
    "errors",
    "timeouts",
    "status_429",
    "status_500",
];

/// More rows are a mistake: a year of minutes of ten targets is as many.
const MOST_ROWS: u64 = 5_000_000;
/// More in one minute are a sum over a longer time.
const MOST_ATTEMPTS: u64 = 10_000_000;
const MINUTE_US: u64 = 60_000_000;

/// Reads counters; targets that the log does not name are added to `names`.
///
/// # Errors
/// It cannot be read, a column is missing or not known, or no row can be used.
pub fn read_counters(
    name: &str,
    from: impl BufRead,
    names: &mut Names,
) -> Result<Counters, InputError> {
    let mut reader = ReaderBuilder::new().trim(Trim::All).flexible(true).from_reader(from);
    let header = reader.headers().map_err(|e| explain(name, &e))?.clone();
    let columns = columns(name, &header)?;
    let mut counters = Counters {
        name: name.to_owned(),
        rows: 0,
        unusable: UnusableRows::default(),
        minutes: Vec::new(),
    };
    let mut record = StringRecord::new();
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) if matches!(error.kind(), csv::ErrorKind::Utf8 { .. }) => {
                let line = error.position().map_or(0, csv::Position::line);
                counters.rows += 1;
                counters.unusable.add(Unusable::Malformed, line, "(not UTF-8 text)");
                continue;
            }
            Err(error) => return Err(explain(name, &error)),
        }
        counters.rows += 1;
        if counters.rows > MOST_ROWS {
            return Err(InputError::new(name, format!("holds more than {MOST_ROWS} rows"))
                .fix("cut it to the hours around the incident"));
        }
        let line = record.position().map_or(0, csv::Position::line);
        match counted(&record, &header, &columns, names) {
            Ok(counted) => counters.minutes.push(Counted { line, ..counted }),
            Err(why) => {
                let shown = record.iter().collect::<Vec<_>>().join(",");
                counters.unusable.add(why, line, &shown);
            }
        }
    }
    if counters.minutes.is_empty() {
        let why = counters.unusable.why();
        let message = match counters.rows {
            0 => "holds no rows".into(),
            rows => format!("none of its {rows} rows can be used{why}"),
        };
        return Err(
            InputError::new(name, message).fix("a row is `minute,target,attempts,status_500`")
        );
    }
    Ok(counters)
}

fn columns(name: &str, header: &StringRecord) -> Result<Vec<Column>, InputError> {
    let shown = header.iter().collect::<Vec<_>>().join(",");
    let refuse = |message: String, fix: String| {
        Err(InputError::new(name, message).at(1, 0, &shown).fix(fix))
    };
    let mut columns = Vec::new();
    for column in header {
        let column = column.trim_start_matches('\u{feff}');
        let Some(known) = column_of(column) else {
            return refuse(
                format!("no counter is called `{column}`"),
                did_you_mean(column, "column", KNOWN),
            );
        };
        if columns.contains(&known) {
            return refuse(format!("column `{column}` is there twice"), "remove one".into());
        }
        columns.push(known);
    }
    for (needed, called) in
        [(Column::Minute, "minute"), (Column::Target, "target"), (Column::Attempts, "attempts")]
    {
        if !columns.contains(&needed) {
            let fix = "the first line names `minute`, `target`, `attempts` and counts of failures";
            return refuse(format!("there is no column `{called}`"), fix.into());
        }
    }
    let tells = |column: &Column| matches!(column, Column::Errors | Column::Failed(_));
    if !columns.iter().any(tells) {
        let fix = "add `errors`, `timeouts` or counts by status such as `status_503`";
        return refuse("no column counts failures".into(), fix.into());
    }
    Ok(columns)
}

fn column_of(name: &str) -> Option<Column> {
    Some(match name {
        "minute" => Column::Minute,
        "target" => Column::Target,
        "provider" => Column::Provider,
        "model" => Column::Model,
        "attempts" | "requests" => Column::Attempts,
        "errors" => Column::Errors,
        "timeouts" => {
            Column::Failed(FailedWith { class: FailureClass::Timeout, status: 0, given_up: true })
        }
        _ => {
            let status: u16 = name.strip_prefix("status_")?.parse().ok()?;
            if status != 0 && !(400..=599).contains(&status) {
                return None;
            }
            let class = ProviderError::of_status(status).class();
            Column::Failed(FailedWith { class, status, given_up: false })
        }
    })
}

fn counted(
    record: &StringRecord,
    header: &StringRecord,
    columns: &[Column],
    names: &mut Names,
) -> Result<Counted, Unusable> {
    if record.len() != columns.len() {
        return Err(Unusable::Malformed);
    }
    let cells = || columns.iter().zip(record).zip(header);
    let text = |wanted: Column| {
        let cell = cells().find(|((column, _), _)| **column == wanted);
        cell.map(|((_, text), _)| text).filter(|text| !text.is_empty())
    };
    let unreadable = |name: &str| Unusable::Unreadable(name.to_owned());
    let number = |text: &str, name: &str| -> Result<u64, Unusable> {
        let whole = text.trim_end_matches(".0");
        if whole.is_empty() { Ok(0) } else { whole.parse().map_err(|_| unreadable(name)) }
    };
    let minute = text(Column::Minute).ok_or_else(|| Unusable::Missing("minute".into()))?;
    let time = cells::time(minute, TimeUnit::Micros(1_000_000))
        .or_else(|_| cells::time(minute, TimeUnit::DateTime))
        .map_err(|_| unreadable("minute"))?;
    let attempts = text(Column::Attempts).ok_or_else(|| Unusable::Missing("attempts".into()))?;
    let attempts = number(attempts, "attempts")?;
    let mut failed = Vec::new();
    for ((column, text), name) in cells() {
        if let Column::Failed(with) = column {
            let count = number(text, name)?;
            failed.extend((count > 0).then_some((*with, count)));
        }
    }
    let sum =
        |failed: &[(FailedWith, u64)]| failed.iter().fold(0, |n: u64, (_, c)| n.saturating_add(*c));
    if let Some(all) = text(Column::Errors) {
        let rest = number(all, "errors")?.saturating_sub(sum(&failed));
        let with = FailedWith { class: FailureClass::Transport, status: 0, given_up: false };
        failed.extend((rest > 0).then_some((with, rest)));
    }
    if sum(&failed) > attempts {
        return Err(Unusable::MoreFailed);
    }
    if attempts > MOST_ATTEMPTS {
        return Err(Unusable::TooManyAttempts);
    }
    let target = text(Column::Target).ok_or_else(|| Unusable::Missing("target".into()))?;
    let known = names.targets.iter().position(|known| known.name == target);
    let place = known.unwrap_or(names.targets.len());
    if place >= MOST_NAMES {
        return Err(Unusable::TooManyNames);
    }
    if known.is_none() {
        names.targets.push(TargetName {
            name: target.to_owned(),
            provider: text(Column::Provider).unwrap_or("unknown").to_owned(),
            model: text(Column::Model).unwrap_or(target).to_owned(),
            region: String::new(),
        });
    }
    let target = u16::try_from(place).expect("at most 256 names");
    Ok(Counted { target, minute: time / MINUTE_US, line: 0, attempts, failed })
}
