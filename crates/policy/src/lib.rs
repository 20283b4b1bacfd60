//! Routing, retry and fallback policy of an AI-API gateway as a pure state machine.
#![no_std]

extern crate alloc;

mod backoff;
mod breaker;
mod budget;
mod check;
mod choose;
pub mod config;
mod estimate;
pub mod event;
mod gates;
mod health;
mod load;
mod mix;
pub mod money;
pub mod normalise;
pub mod outcome;
mod plan;
mod rolling;
mod router;
mod select;
pub mod share;
mod slots;
mod standing;
pub mod target;
mod target_set;
mod terminal;
pub mod text;
pub mod time;

pub use money::{Money, Price};
pub use router::Router;
pub use share::Share;
pub use time::{Duration, Instant};
