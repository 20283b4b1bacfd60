//! Sweeps: every variant of a policy on the same worlds.
//!
//! - [`Arena`] holds scenarios with their worlds, made once and shared by all policies;
//! - [`in_order`] works through numbered jobs in parallel and hands over what comes of them in the
//!   order of their numbers.

mod arena;
mod in_order;

pub use arena::{Arena, ArenaOptions, Stage, Weighted};
pub use in_order::in_order;
