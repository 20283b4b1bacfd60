//! Rows that cannot be used: why, how many, and one of each.

use std::collections::BTreeMap;

use windtunnel_policy::text::escaped;

/// Why a row cannot be used.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Unusable {
    /// It is not written as the others are.
    Malformed,
    /// A value that every row needs is missing; the column.
    Missing(String),
    /// A value is not what its column holds; the column.
    Unreadable(String),
    /// It ended before it was sent.
    EndsBeforeItBegins,
    /// Its times are more than 400 days from those of the first row.
    FarAway,
    /// A time of it is after the year 2100.
    TooLate,
    /// It says what a row before it said.
    Repeated,
    /// A quote in it is closed lines later, if at all.
    OpenQuote,
    /// It belongs to another run of the ledger than the first row.
    AnotherRun,
    /// It is no call of a model.
    OtherKind,
    /// It tells of a call that goes on.
    GoesOn,
    /// It counts a minute before or after the log.
    OutsideTheLog,
    /// It counts more than ten million tokens.
    TooManyTokens,
    /// It tells of more attempts than any request takes, or any minute holds.
    TooManyAttempts,
    /// More attempts failed than were sent.
    MoreFailed,
    /// The log names more targets or route classes than a scenario may have.
    TooManyNames,
}

impl Unusable {
    /// In words.
    pub fn words(&self) -> String {
        match self {
            Unusable::Malformed => "is not written as a row of this log".into(),
            Unusable::Missing(column) => format!("has no `{column}`"),
            Unusable::Unreadable(column) => format!("`{column}` cannot be read"),
            Unusable::EndsBeforeItBegins => "ends before it begins".into(),
            Unusable::FarAway => "is more than 400 days from the first row".into(),
            Unusable::TooLate => {
                "is after the year 2100: its times are not in the unit they are read in".into()
            }
            Unusable::Repeated => "says what a row before it said: the log holds it twice".into(),
            Unusable::OpenQuote => {
                "has a quote that its line does not close: all up to the next quote is swallowed"
                    .into()
            }
            Unusable::AnotherRun => "is of another policy, world or seed than the first row, or stands apart from the others of its request".into(),
            Unusable::OtherKind => "is no call of a model".into(),
            Unusable::GoesOn => "tells of a call that has not ended".into(),
            Unusable::OutsideTheLog => "lies before or after the log".into(),
            Unusable::TooManyTokens => "counts more than ten million tokens".into(),
            Unusable::TooManyAttempts => "tells of more attempts than can be".into(),
            Unusable::MoreFailed => "counts more failures than attempts".into(),
            Unusable::TooManyNames => "names more targets or route classes than 256".into(),
        }
    }
}

/// How often a reason was met, and where first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// Rows.
    pub count: u64,
    /// Line of the first, from 1; none where a row is not a line.
    pub line: Option<u64>,
    /// The first, cut short.
    pub example: String,
}

/// All of them, by reason.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UnusableRows(BTreeMap<Unusable, Seen>);

/// Characters of an example.
const LONGEST: usize = 160;

impl UnusableRows {
    /// Counts a row; line 0 is no line.
    pub(crate) fn add(&mut self, why: Unusable, line: u64, shown: &str) {
        let seen = self.0.entry(why).or_insert_with(|| {
            let example = shown.chars().take(LONGEST).collect();
            Seen { count: 0, line: (line > 0).then_some(line), example }
        });
        seen.count += 1;
    }

    /// Every reason with what was seen, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = (&Unusable, &Seen)> {
        self.0.iter()
    }

    /// The reason met most.
    pub fn first(&self) -> Option<(&Unusable, &Seen)> {
        self.iter().max_by_key(|(_, seen)| seen.count)
    }

    /// Whether it is the reason met most.
    pub(super) fn are_mostly(&self, why: &Unusable) -> bool {
        self.first().is_some_and(|(first, _)| first == why)
    }

    /// Each reason with how often it was met and the first row, for people, in that order.
    pub fn told(&self) -> impl Iterator<Item = String> {
        self.iter().map(|(why, seen)| {
            let (why, example) = (escaped(&why.words()), escaped(&seen.example));
            let line = seen.line.map_or(String::new(), |line| format!(" in line {line}"));
            format!("{} × {why}, first{line}: {example}", seen.count)
        })
    }

    /// The reason met most with its first row, to go behind a message; empty where there is none.
    pub(super) fn why(&self) -> String {
        self.first().map_or(String::new(), |(why, seen)| match seen.line {
            Some(line) => format!("; line {line}: {}", why.words()),
            None => format!("; {}: {}", seen.example, why.words()),
        })
    }

    /// Rows without which something is missing, and the reason met most among them: not those that are no attempt of
    /// this log, or say nothing new.
    pub fn missed(&self) -> Option<(u64, &Unusable)> {
        let beside = |why: &Unusable| {
            use Unusable::{AnotherRun, GoesOn, OtherKind, Repeated};
            matches!(why, AnotherRun | GoesOn | OtherKind | Repeated)
        };
        let missed = || self.iter().filter(|(why, _)| !beside(why));
        let (most, _) = missed().max_by_key(|(_, seen)| seen.count)?;
        Some((missed().map(|(_, seen)| seen.count).sum(), most))
    }

    /// Rows that cannot be used.
    pub fn count(&self) -> u64 {
        self.0.values().map(|seen| seen.count).sum()
    }
}
