//! From a known world to its log, from the log to a fitted world, and what that says of policies.

mod counted;
mod coverage;
mod coverage_long;
mod deadlines;
mod drift;
mod formats;
mod honest;
mod left_out;
mod limits;
mod load;
mod program;
mod repeated;
mod resent;
mod round_trip;
mod shipped;
mod slow;
mod timelines;
mod unlike;
mod untold;
mod worlds;
