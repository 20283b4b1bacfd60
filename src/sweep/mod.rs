//! Sweeps: every variant of a policy on the same worlds.
//!
//! - [`Arena`] holds scenarios with their worlds, made once and shared by all policies;
//! - [`in_order`] works through numbered jobs in parallel and hands over what comes of them in the
//!   order of their numbers;
//! - a [`Study`] is a sweep of which everything is checked and nothing has run; its [`Header`] names
//!   all that its rows depend on;
//! - a [`Runner`] makes the worlds and runs one [`Row`] for each variant;
//! - [`Rows`] reads rows back from the file that a sweep keeps, to go on or to [`merge`] shards;
//! - a [`Summary`] is what tables, charts and documents need of them.

mod apart;
mod arena;
mod columns;
mod difference;
mod effects;
mod figures;
mod fitted;
mod front;
mod header;
mod in_order;
mod lines;
mod merge;
mod objective;
mod page;
mod plot;
mod row;
mod rows;
mod runner;
mod score;
mod store;
mod study;
mod summary;
mod text;

pub(crate) use columns::Columns;

pub use arena::{Arena, ArenaOptions, Stage, Weighted};
pub use difference::difference;
pub use effects::{At, Bin, Effect, effect};
pub use front::front;
pub use header::{Counted, FieldColumn, FigureColumn, Header, Holds, Measured, Named, Shard};
pub use in_order::in_order;
pub use lines::Lines;
pub use merge::{merge, together};
pub use objective::{DEFAULT_OBJECTIVES, Goal, Objective};
pub use plot::{Chart, Charts, LeftOut};
pub use row::{Figure, Row};
pub use rows::{Table, TableFormat};
pub use runner::Runner;
pub use score::Aggregate;
pub use store::Rows;
pub use study::{Study, StudyOptions};
pub use summary::{Point, Summary};
