//! The promises on `Router`, kept under every sequence of outcomes and under random ones.

mod random;
mod walk;
