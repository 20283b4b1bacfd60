//! What the event queue holds: everything that can happen in a run but arrivals and weather,
//! which are cursors over the world.

use windtunnel_policy::event::{AttemptRef, RequestRef};

/// Something that happens at a stated time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Occurrence {
    /// The earliest milestone of a target's work clock; stale unless `epoch` is the target's.
    Work {
        /// Position of the target.
        target: u16,
        /// Counts the times the target's entry was replaced.
        epoch: u32,
    },
    /// A milestone in wall time of an attempt that does no work: a refusal, a fast failure.
    Wall {
        /// Position in the fleet's slab of attempts.
        slot: u32,
        /// Counts the uses of the slot.
        generation: u32,
    },
    /// A router's timer; stale unless the request's timer is set to this moment.
    Timer(RequestRef),
    /// A caller's patience ends.
    Patience(RequestRef),
    /// The attempt found no connection: the router hears of it.
    NotSent(AttemptRef),
    /// A proxy behind the gateway calls its provider again for this attempt.
    UpstreamCall(AttemptRef),
    /// A layer outside the gateway gives a try up, or sends an action again; stale unless `epoch`
    /// is the action's.
    Layer {
        /// Position among the open actions.
        action: u32,
        /// Counts what the action's layers decided.
        epoch: u32,
    },
    /// A closed loop's user asks again.
    Ask {
        /// Position of the loop.
        closed_loop: u16,
        /// The user.
        user: u32,
    },
}
