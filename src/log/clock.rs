//! Clocks of tables: a unit that is not the one of the times in them.

use super::ColumnMap;
use crate::input::InputError;

/// The years 2001 and 2100, in µs: dates of logs lie between them.
const DATES: std::ops::Range<u64> = 978_307_200_000_000..4_102_444_800_000_000;
/// As long as the times of one log lie apart, at most: 400 days.
const LONGEST_US: u64 = 400 * 86_400_000_000;

/// When the first attempt of a log was sent, and when the last, µs as they were read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub(super) earliest_us: u64,
    pub(super) latest_us: u64,
}

impl Span {
    /// Takes a time.
    pub(super) fn with(span: Option<Span>, at_us: u64) -> Span {
        span.map_or(Span { earliest_us: at_us, latest_us: at_us }, |span| Span {
            earliest_us: span.earliest_us.min(at_us),
            latest_us: span.latest_us.max(at_us),
        })
    }

    /// Refuses times that are dates of this century in a coarser unit than the one they are read in.
    pub(super) fn check(&self, name: &str, map: &ColumnMap) -> Result<(), InputError> {
        let coarser: &[(&str, u64)] = match map.time_unit.as_str() {
            "us" => &[("ms", 1_000), ("s", 1_000_000)],
            "ms" => &[("s", 1_000)],
            _ => &[],
        };
        let lasts = self.latest_us - self.earliest_us;
        let fits = |(_, factor): &&(&str, u64)| {
            let date = |us: u64| us.checked_mul(*factor).is_some_and(|us| DATES.contains(&us));
            // A clock may count from a start of its own: then its log would last for years.
            let counts = lasts.saturating_mul(*factor) > LONGEST_US;
            date(self.earliest_us) && date(self.latest_us) && !counts
        };
        let Some((unit, _)) = coarser.iter().find(fits) else { return Ok(()) };
        let column = &map.columns.sent;
        let read = &map.time_unit;
        Err(InputError::new(
            name,
            format!("its times in `{column}`, read in `{read}`, all lie in the year 1970"),
        )
        .fix(format!(
            "write `time_unit: {unit}` into the mapping: then they are dates of this century"
        )))
    }
}

/// How long attempts took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Took {
    attempts: u64,
    /// Those that took longer than most calls of a model ever do.
    long: u64,
}

/// Twice as long as official clients wait.
const LONG_US: u64 = 20 * 60_000_000;

impl Took {
    /// Takes how long one took, µs.
    pub(super) fn take(&mut self, us: u64) {
        self.attempts += 1;
        self.long += u64::from(us > LONG_US);
    }

    /// Refuses spans most of which are longer than any client waits: they are in a finer unit than the one they are
    /// read in.
    pub(super) fn check(&self, name: &str, map: &ColumnMap) -> Result<(), InputError> {
        let Took { attempts, long } = *self;
        if long * 2 <= attempts {
            return Ok(());
        }
        let (column, key, read) = match (&map.columns.ended, &map.columns.took) {
            (None, Some(took)) => (took, "duration_unit", &map.duration_unit),
            (ended, _) => {
                (ended.as_ref().unwrap_or(&map.columns.sent), "time_unit", &map.time_unit)
            }
        };
        let what = format!(
            "by `{column}`, read in `{read}`, {long} of {attempts} attempts took longer than 20 minutes"
        );
        let finer = if read == "s" { "ms" } else { "us" };
        Err(InputError::new(name, what)
            .fix(format!("write its unit into the mapping: `{key}: {finer}`?")))
    }
}

/// What to do about times that lie too late.
pub(super) fn finer(map: &ColumnMap) -> String {
    let column = &map.columns.sent;
    let finer = if map.time_unit == "ms" { "us" } else { "ms" };
    format!(
        "`{column}` is read in `{}`; write its unit into the mapping: `time_unit: {finer}`?",
        map.time_unit
    )
}
