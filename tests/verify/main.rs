//! Proofs over every sequence of outcomes: shipped policies hold, and each fault that a router could
//! have is found by its shortest way.

mod documents;
mod faults;
mod faulty;
#[path = "../common/outputs.rs"]
mod outputs;
mod shipped;
