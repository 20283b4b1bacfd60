//! From an incident's public course to a world: which share of a provider's calls failed when, laid over
//! a user's own traffic and the shipped model cards.
//!
//! No log stands behind such a world. What a timeline does not say is taken from a named default, said
//! ([`Hypothesis::said`]), and taken otherwise in worlds of their own ([`Hypothesis::otherwise`]).
//!
//! - `file` is what people write: one incident, or several in one file;
//! - `course` makes shares of failing calls over time of it;
//! - `world` puts traffic and cards to it, and writes all as ordinary files;
//! - `otherwise` holds the worlds that the timeline cannot tell from that one.

mod course;
mod file;
mod mix;
mod otherwise;
mod said;
mod targets;
mod traffic;
mod world;

pub use course::Course;
pub use file::{Incident, PeakRate, Point};
pub use traffic::Traffic;
pub use world::{Asked, Hypothesis};

#[cfg(test)]
mod tests;
