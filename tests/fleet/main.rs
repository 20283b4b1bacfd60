//! The provider fleet against closed forms and against a second, plainer reckoning.

mod capacity;
mod driver;
mod failures;
mod limits;
mod progress;
mod queueing;
mod returned;
#[path = "../common/theory.rs"]
mod theory;
