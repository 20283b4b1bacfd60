//! Routing, retry and fallback policy of an AI-API gateway as a pure state machine.
#![no_std]

extern crate alloc;

pub mod config;
pub mod event;
pub mod money;
pub mod outcome;
pub mod share;
pub mod target;
pub mod text;
pub mod time;

pub use money::{Money, Price};
pub use share::Share;
pub use time::{Duration, Instant};
