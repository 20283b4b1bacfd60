//! Routing, retry and fallback policy of an AI-API gateway as a pure state machine.
#![no_std]

extern crate alloc;

mod backoff;
mod breaker;
mod budget;
pub mod config;
mod estimate;
pub mod event;
mod load;
mod mix;
pub mod money;
pub mod outcome;
mod rolling;
mod select;
pub mod share;
mod standing;
pub mod target;
mod target_set;
pub mod text;
pub mod time;

pub use money::{Money, Price};
pub use share::Share;
pub use time::{Duration, Instant};
