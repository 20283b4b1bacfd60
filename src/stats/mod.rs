//! Experiment statistics: estimates, paired differences and gates.
//!
//! The unit of replication is a world, never a request: requests of one run are
//! correlated, so a formula that counts them as independent is wrong by large
//! factors. Every interval here is a leave-one-world-out jackknife with Student
//! t on `worlds - 1` degrees of freedom.
//!
//! - [`Sample`] is one measure of one policy over all worlds;
//! - [`estimate`] gives its value and interval, [`paired`] its difference to
//!   another policy on the same worlds;
//! - [`Gate`] is a condition such as `success >= base - 0.1pp`, which passes or
//!   fails only where a one-sided 95 % bound decides;
//! - [`Race`] leaves behind the clearly worse of many policies, and [`holm`] corrects
//!   several findings for their number.
//!
//! Pure: no clock, no randomness, no files. The quantiles of Student t use the
//! platform's float functions, so round what is printed.

#[cfg(test)]
mod coverage;
mod estimate;
mod gate;
mod jackknife;
mod level;
mod paired;
mod race;
mod sample;
mod student;

pub use estimate::{Estimate, Note, estimate};
pub use gate::{
    Dimension, Doubt, Gate, GateError, GateResult, Known, Limit, Outcome, Problem, Quantity,
    Relation, Unit, combine, exit_code,
};
pub use jackknife::{Jackknife, jackknife};
pub use level::level;
pub use paired::{Paired, Verdict, paired};
pub use race::{Race, holm, p_value};
pub use sample::{Hits, Ratio, Sample};
pub use student::{one_sided, one_sided_95, two_sided_95, upper_tail};

/// Requests that must lie beyond a quantile before it is given at all.
pub const MIN_EXCEEDANCES: u64 = 100;

/// Worlds from which an interval is worth planning for.
pub const PLANNED_WORLDS: u32 = 10;
