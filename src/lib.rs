//! A deterministic discrete-event simulator for the routing and fallback
//! policies of AI-API gateways.

pub mod dist;
pub mod draw;
pub mod hist;
pub mod queue;
pub mod scenario;
pub mod stats;
