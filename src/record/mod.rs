//! What is kept of a run: a row per attempt and per request, and the totals made from them.

mod both;
mod rows;
mod signed;
mod sink;
mod times;
mod totals;

pub use both::Both;
pub use rows::{AttemptRow, RequestRow};
pub use signed::SignedHist;
pub use sink::{Call, Effect, NoSink, Resent, Rows, Sink};
pub use times::Times;
pub use totals::{Answered, ClassTotals, IntervalTotals, RunTotals, TargetTotals};
