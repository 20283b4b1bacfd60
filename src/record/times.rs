//! The times of a closed action, on their own: what the histograms of its class take.

use super::RequestRow;

/// How long one measured action took, in µs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Times {
    /// It was answered.
    Answered {
        /// Send of the answering attempt − arrival.
        added: u64,
        /// Answer − arrival − unloaded duration on the reference target.
        excess: i64,
        /// Arrival → end.
        took: u64,
        /// Arrival → first output.
        ttft: u64,
    },
    /// It was not: every latency is +∞, and this is when it failed.
    Unanswered {
        /// Arrival → end.
        took: u64,
    },
}

impl RequestRow {
    /// The times of the action that this request closed.
    #[inline(always)]
    pub fn times(&self) -> Times {
        let took = self.closed - self.arrived;
        match self.answered {
            true => Times::Answered {
                added: self.added_latency.unwrap_or_default().as_micros(),
                excess: self.excess_latency_us.unwrap_or_default(),
                took: took.as_micros(),
                ttft: self.ttft.unwrap_or(took).as_micros(),
            },
            false => Times::Unanswered { took: took.as_micros() },
        }
    }
}
