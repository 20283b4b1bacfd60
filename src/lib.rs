//! A deterministic discrete-event simulator for the routing and fallback
//! policies of AI-API gateways.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

pub mod check;
pub mod dist;
pub mod draw;
pub mod drill;
pub mod experiment;
pub mod explain;
pub mod fit;
pub mod fleet;
pub mod hist;
pub mod input;
pub mod ledger;
pub mod library;
pub mod lint;
pub mod log;
pub mod measures;
pub mod page;
pub mod profile;
pub mod queue;
pub mod record;
pub mod report;
mod resolve;
pub mod scenario;
pub mod schema;
pub mod simulation;
pub mod space;
pub mod stats;
pub mod story;
pub mod sweep;
pub mod timeline;
pub mod trace;
pub mod tune;
pub mod verify;
pub mod weather;
pub mod whatif;
pub mod world;
