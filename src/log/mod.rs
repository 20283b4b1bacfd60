//! Attempt logs of gateways, read request by request.
//!
//! A log is streamed: what is kept at one time are the requests whose rows are not all read. Rows
//! that cannot be used are counted by reason, with the first of each ([`Unusable`]); none is
//! dropped in silence. What a format cannot show is said by [`Format::blind_to`].
//!
//! - `mapped` reads tables by a column mapping; our own ledger is one of them;
//! - `group` makes requests of rows, in whatever order they stand.

mod after_answer;
mod clock;
mod counters;
mod detect;
mod envoy;
mod format;
mod group;
mod json_lines;
mod litellm;
mod mapped;
mod mapping;
mod names;
mod nested;
mod otlp;
mod repeated;
mod resend;
mod row;
mod tabular;

mod unusable;
mod values;

use std::io::BufRead;

use windtunnel_policy::outcome::{FailureClass, Phase};

pub use after_answer::AfterAnswer;
pub use counters::{Counted, Counters, FailedWith, read_counters};
pub use detect::detect;
pub use format::Format;
pub use mapping::{ColumnMap, Columns, RowsAre};
pub use unusable::{Seen, Unusable, UnusableRows};

use crate::input::InputError;
use group::{Grouped, Grouper};

/// More rows are refused: what is kept of each request would not fit beside the runs.
pub const MOST_ROWS: u64 = 5_000_000;
/// More targets or route classes are a mistake in the mapping.
const MOST_NAMES: usize = 256;

/// One attempt, as far as the log shows it. Times are µs on the log's own clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// Position in [`Names::targets`].
    pub target: u16,
    /// Position of the target's group among the class's groups, where the log has it.
    pub group: Option<u8>,
    /// It replaced the model by another.
    pub substituted: bool,
    /// When it was sent.
    pub sent_us: u64,
    /// When headers came.
    pub headers_us: Option<u64>,
    /// When the first output came.
    pub first_us: Option<u64>,
    /// When it ended.
    pub ended_us: u64,
    /// HTTP status; 0 where there was none.
    pub status: u16,
    /// How it failed; `None` where it did not, or was cut because another attempt had won.
    pub failure: Option<FailureClass>,
    /// How far the response had come.
    pub phase: Phase,
    /// The gateway or the caller gave it up.
    pub cancelled: bool,
    /// False where it found no connection and was never sent.
    pub was_sent: bool,
    /// The wait hint of its answer, where it is known.
    pub hint_us: Option<u64>,
    /// Tokens billed: input, of those from a cache, output.
    pub input: u32,
    /// Of the input, read from a cache.
    pub cached: u32,
    /// Output tokens.
    pub output: u32,
    /// The bill in picodollars, where the log has it.
    pub cost_pico: Option<u64>,
}

impl Attempt {
    /// It was refused for its rate.
    pub fn is_refused(&self) -> bool {
        self.failure == Some(FailureClass::RateLimited)
    }
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// With a valid answer.
    Answered,
    /// With a valid refusal.
    Refused,
    /// The caller went away.
    Cancelled,
    /// It was malformed: nobody could have answered it.
    Invalid,
    /// Without an answer.
    Failed,
}

/// One request with its attempts, in the order they were sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// A hash of its name in the log.
    pub id: u64,
    /// A hash of the action it belongs to, where the log has one.
    pub action: Option<u64>,
    /// A layer above the gateway sent it again.
    pub resent: bool,
    /// Position in [`Names::classes`].
    pub class: u16,
    /// When it arrived.
    pub arrived_us: u64,
    /// When it was closed.
    pub closed_us: u64,
    /// From its arrival to the time it had to be answered by, where the log shows it.
    pub deadline_us: Option<u64>,
    /// From its arrival to when its first output, and its end, were needed, where the log tells them apart.
    pub limits_us: [Option<u64>; 2],
    /// Whether the log counts it.
    pub measured: bool,
    /// How it ended.
    pub end: End,
    /// How many attempts there were, where the log says so and does not show them.
    pub tries: Option<u32>,
    /// By sending time.
    pub attempts: Vec<Attempt>,
}

/// A target as the log names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetName {
    /// Its name.
    pub name: String,
    /// Who runs it.
    pub provider: String,
    /// The model.
    pub model: String,
    /// Where it runs; empty where the log does not say.
    pub region: String,
}

/// What the rows of a log name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    /// In the order they were met.
    pub targets: Vec<TargetName>,
    /// In the order they were met.
    pub classes: Vec<String>,
}

/// Which attempts of a request a log shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shows {
    /// All of them.
    EveryAttempt,
    /// The last alone.
    LastAttempt,
}

/// The target of a log that does not say where requests went.
pub const ANYWHERE: &str = "*";

/// What was read, apart from the requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Read {
    /// How the log is written.
    pub format: Format,
    /// Which attempts it shows.
    pub shows: Shows,
    /// Counters that were read beside it.
    pub counters: Option<Counters>,
    /// Whom and what it names.
    pub names: Names,
    /// Rows in it, without a header.
    pub rows: u64,
    /// What could not be used.
    pub unusable: UnusableRows,
    /// Requests that were sent again after an answer.
    pub after_answer: AfterAnswer,
}

/// Reads a log to its end and hands each request to `take`; `name` is what messages call it.
/// Without a `format`, its first line tells.
///
/// # Errors
/// It cannot be read or is in no known format, its columns are not those of the mapping, it has too
/// many rows, or no row can be used.
pub fn read(
    name: &str,
    from: impl BufRead,
    format: Format,
    mut take: impl FnMut(Request),
) -> Result<Read, InputError> {
    let mut grouper = Grouper::new(format.keeps_requests_together());
    let (mut rows, mut others) = (0, 0);
    let mut on_row = |row: Result<row::Row, Unusable>, line: u64, shown: &str| {
        rows += 1;
        // Spans of other kinds may be many and cost nothing.
        others += u64::from(matches!(row, Err(Unusable::OtherKind)));
        if rows - others > MOST_ROWS {
            let message = format!("holds more than {MOST_ROWS} rows");
            return Err(
                InputError::new(name, message).fix("cut it to the hours around the incident")
            );
        }
        grouper.add(row, line, shown, &mut take);
        Ok(())
    };
    match &format {
        Format::Ledger { json: false } => {
            tabular::each(name, from, &ColumnMap::ledger(), &mut on_row)?;
        }
        Format::Ledger { json: true } => {
            json_lines::each_mapped(name, from, &ColumnMap::ledger(), &mut on_row)?;
        }
        Format::Mapped { map, json: false } => tabular::each(name, from, map, &mut on_row)?,
        Format::Mapped { map, json: true } => {
            json_lines::each_mapped(name, from, map, &mut on_row)?;
        }
        Format::LiteLlm => json_lines::each_object(name, from, litellm::row, &mut on_row)?,
        Format::Envoy => json_lines::each_object(name, from, envoy::row, &mut on_row)?,
        Format::Otlp { whole } => json_lines::each_batch(name, from, *whole, &mut on_row)?,
    }
    let Grouped { names, unusable, several, after_answer, nested, sent, took } =
        grouper.finish(&mut take);
    if rows == 0 {
        return Err(InputError::new(name, "holds no rows").fix("a log needs at least one attempt"));
    }
    if names.classes.is_empty() {
        let why = unusable.why();
        let none = if rows == 1 {
            "its only row cannot".into()
        } else {
            format!("none of its {rows} rows can")
        };
        let error = InputError::new(name, format!("{none} be used{why}"));
        return Err(match &format {
            Format::Mapped { map, .. } if unusable.are_mostly(&Unusable::TooLate) => {
                error.fix(clock::finer(map))
            }
            _ => error,
        });
    }
    if let (Format::Mapped { map, .. }, Some(sent)) = (&format, sent) {
        sent.check(name, map)?;
        took.check(name, map)?;
    }
    if format == Format::Envoy && nested.are_most() {
        return Err(envoy::counts_twice(name, nested));
    }
    let shows = format.shows(several);
    Ok(Read { format, shows, counters: None, names, rows, unusable, after_answer })
}
