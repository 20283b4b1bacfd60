//! What breakers say to an attempt, one and several together.

use crate::Instant;

/// What the breakers of a target say to one attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Admission {
    /// All are closed.
    Yes,
    /// As a probe of at least one of them.
    Probe,
    /// Within the share that a recovering one admits.
    Ramp,
    /// At least one refuses.
    No {
        /// When all of them may admit this attempt if nothing happens until then;
        /// [`Instant::FAR_FUTURE`] where that hangs on probes in flight.
        until: Instant,
    },
}

impl Admission {
    /// What two breakers say together: the stricter, and the later.
    pub(super) fn and(self, other: Admission) -> Admission {
        match (self, other) {
            (Admission::No { until: a }, Admission::No { until: b }) => {
                Admission::No { until: a.max(b) }
            }
            (no @ Admission::No { .. }, _) | (_, no @ Admission::No { .. }) => no,
            (Admission::Probe, _) | (_, Admission::Probe) => Admission::Probe,
            (Admission::Ramp, _) | (_, Admission::Ramp) => Admission::Ramp,
            (Admission::Yes, Admission::Yes) => Admission::Yes,
        }
    }
}
