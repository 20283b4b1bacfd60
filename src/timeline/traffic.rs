//! Whose calls were hit: a recorded trace, or a profile of one.

use std::fmt::Write;
use std::path::Path;

use crate::fit::files::allowed;
use crate::input::{InputError, SourceFile};
use crate::library::{Kind, find};
use crate::profile::Profile;
use crate::scenario::{TraceLayout, TraceRow};
use crate::trace::{Trace, TraceFormat, read_trace};

/// A user's traffic.
#[derive(Clone, PartialEq, Debug)]
pub enum Traffic {
    /// Rows.
    Trace {
        /// What the file is called.
        name: String,
        /// The rows.
        trace: Trace,
    },
    /// Counts and lengths.
    Profile {
        /// What it is called.
        name: String,
        /// The profile.
        profile: Box<Profile>,
        /// The user's own; a shipped one needs no copy.
        own: Option<SourceFile>,
    },
}

/// As many requests fit beside the runs.
const MOST_REQUESTS: f64 = 5e6;

impl Traffic {
    /// Reads a trace (`.csv`, `.jsonl`) of this layout, or else a profile: a file, or a shipped one.
    ///
    /// # Errors
    /// It cannot be read or holds a mistake, or a trace comes without a layout.
    pub fn read(named: &str, layout: Option<&TraceLayout>) -> Result<Traffic, InputError> {
        let path = Path::new(named);
        if TraceFormat::of(path).is_some() {
            let layout = layout.ok_or_else(|| {
                InputError::new(named, "is a trace: what its columns mean is not said").fix(
                    "add `--layout azure2023`, `burst_gpt`, `mooncake` or `columns:TIME,UNIT,INPUT,OUTPUT`",
                )
            })?;
            return Ok(Traffic::Trace { name: leaf(path), trace: read_trace(path, layout)? });
        }
        if layout.is_some() {
            return Err(InputError::new("--layout", "is for traces, which end in .csv or .jsonl")
                .fix("a profile needs none; leave it out"));
        }
        let file = find(Kind::Profile, named)?;
        let profile = Box::new(Profile::read(&file)?);
        let own = path.is_file().then_some(file);
        Ok(Traffic::Profile { name: profile.name.clone(), profile, own })
    }

    /// What it is called.
    pub(super) fn name(&self) -> &str {
        let (Traffic::Trace { name, .. } | Traffic::Profile { name, .. }) = self;
        name
    }

    /// Whether its own clock falls into this stretch of time, µs since 1970: then it is the traffic of
    /// the incident itself.
    pub(super) fn is_of(&self, from_us: u64, to_us: u64) -> bool {
        match self {
            Traffic::Trace { trace, .. } => {
                let last = trace.rows.last().map_or(0, |row| row.at.as_micros());
                trace.begins_us < to_us && trace.begins_us.saturating_add(last) >= from_us
            }
            Traffic::Profile { .. } => false,
        }
    }

    /// The most output that callers may ask for: above the longest answer, where the traffic does not
    /// say.
    pub(super) fn max_output(&self) -> Option<u32> {
        let longest = match self {
            Traffic::Trace { trace, .. }
                if trace.rows.iter().any(|row| row.max_output.is_some()) =>
            {
                return None;
            }
            Traffic::Trace { trace, .. } => trace.rows.iter().map(|row| row.output).max(),
            Traffic::Profile { profile, .. } => {
                profile.minutes.iter().filter_map(|minute| minute.output.last().copied()).max()
            }
        };
        Some(allowed(longest.unwrap_or(1)))
    }

    /// Refuses more requests than fit, when it is repeated for so long.
    ///
    /// # Errors
    /// There are more.
    pub(super) fn fits(&self, horizon_us: u64) -> Result<(), InputError> {
        let (requests, span_us) = match self {
            Traffic::Trace { trace, .. } => {
                let last = trace.rows.last().map_or(0, |row| row.at.as_micros());
                (trace.rows.len() as f64, last)
            }
            Traffic::Profile { profile, .. } => {
                (profile.requests() as f64, profile.seconds() * 1_000_000)
            }
        };
        if span_us == 0 {
            return Err(InputError::new(self.name(), "spans no time")
                .fix("it needs requests at two different times"));
        }
        let all = requests * (horizon_us as f64 / span_us as f64).max(1.0);
        if all > MOST_REQUESTS {
            let message =
                format!("makes {all:.0} requests of the incident; at most 5000000 are simulated");
            return Err(InputError::new(self.name(), message)
                .fix("keep every tenth row of the trace, or cut the timeline"));
        }
        Ok(())
    }
}

/// The rows as a trace of their own, each `shift_us` later.
pub(super) fn text(rows: &[TraceRow], shift_us: i128) -> String {
    let with_max = rows.iter().any(|row| row.max_output.is_some());
    let with_session = rows.iter().any(|row| row.session != 0);
    let mut out = String::from("at_us,input_tokens,output_tokens");
    out += if with_max { ",max_output_tokens" } else { "" };
    out += if with_session { ",session\n" } else { "\n" };
    for row in rows {
        let Ok(at) = u64::try_from(i128::from(row.at.as_micros()) + shift_us) else { continue };
        write!(out, "{at},{},{}", row.input, row.output).expect("a string takes all");
        if with_max {
            let max = row.max_output.map_or(String::new(), |max| max.to_string());
            write!(out, ",{max}").expect("a string takes all");
        }
        if with_session {
            let session =
                if row.session == 0 { String::new() } else { format!("s{}", row.session) };
            write!(out, ",{session}").expect("a string takes all");
        }
        out.push('\n');
    }
    out
}

/// The columns of such a trace, as a layout is written.
pub(super) fn layout(rows: &[TraceRow]) -> String {
    let max = if rows.iter().any(|row| row.max_output.is_some()) {
        ", max_output_tokens: max_output_tokens"
    } else {
        ""
    };
    let session = if rows.iter().any(|row| row.session != 0) { ", session: session" } else { "" };
    format!(
        "{{columns: {{time: at_us, time_unit: us, input_tokens: input_tokens, output_tokens: output_tokens{max}{session}}}}}"
    )
}

fn leaf(path: &Path) -> String {
    path.file_name().map_or(String::new(), |leaf| leaf.to_string_lossy().into_owned())
}
