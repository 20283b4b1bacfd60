//! Which columns of a trace mean what.

use crate::input::{InputError, did_you_mean};
use crate::scenario::TraceLayout;

/// What times are written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TimeUnit {
    /// Numbers of this many µs.
    Micros(u64),
    /// `2023-11-16 18:15:46.68`.
    DateTime,
}

/// Names of the columns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Columns {
    pub(super) time: String,
    pub(super) unit: TimeUnit,
    pub(super) input: String,
    pub(super) output: String,
    pub(super) max_output: Option<String>,
    pub(super) session: Option<String>,
    /// Whether a trace without the session column is one without sessions.
    pub(super) session_may_lack: bool,
}

impl Columns {
    /// The columns of a layout.
    pub(super) fn of(trace: &str, layout: &TraceLayout) -> Result<Columns, InputError> {
        Ok(match layout {
            TraceLayout::Azure2023 => Columns::named(
                ["TIMESTAMP", "ContextTokens", "GeneratedTokens"],
                TimeUnit::DateTime,
                None,
            ),
            // The second release of BurstGPT added sessions.
            TraceLayout::BurstGpt => Columns::named(
                ["Timestamp", "Request tokens", "Response tokens"],
                TimeUnit::Micros(1_000_000),
                Some("Session ID"),
            ),
            TraceLayout::Mooncake => Columns::named(
                ["timestamp", "input_length", "output_length"],
                TimeUnit::Micros(1_000),
                None,
            ),
            TraceLayout::Columns(own) => Columns {
                time: own.time.clone(),
                unit: unit(trace, &own.time_unit)?,
                input: own.input_tokens.clone(),
                output: own.output_tokens.clone(),
                max_output: own.max_output_tokens.clone(),
                session: own.session.clone(),
                session_may_lack: false,
            },
        })
    }

    fn named(names: [&str; 3], unit: TimeUnit, session: Option<&str>) -> Columns {
        let [time, input, output] = names.map(str::to_owned);
        let session = session.map(str::to_owned);
        Columns { time, unit, input, output, max_output: None, session, session_may_lack: true }
    }
}

pub(crate) fn unit(trace: &str, name: &str) -> Result<TimeUnit, InputError> {
    match name {
        "s" => Ok(TimeUnit::Micros(1_000_000)),
        "ms" => Ok(TimeUnit::Micros(1_000)),
        "us" => Ok(TimeUnit::Micros(1)),
        "datetime" => Ok(TimeUnit::DateTime),
        _ => Err(InputError::new(trace, format!("no unit of time is called `{name}`"))
            .field("time_unit")
            .fix(did_you_mean(name, "unit", ["s", "ms", "us", "datetime"]))),
    }
}
