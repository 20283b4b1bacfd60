//! What the loop's own queues hold: arrivals and weather are cursors over the world, and the fleet
//! knows itself what it does next.

use windtunnel_policy::event::{AttemptRef, RequestRef};
use windtunnel_policy::target::TargetId;

use super::open::Open;

/// Something that happens at a stated time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Occurrence {
    /// A router's timer; stale unless the request's timer is set to this moment.
    Timer(RequestRef),
    /// A caller's patience ends.
    Patience(RequestRef),
    /// The attempt found no connection: the router hears of it.
    NotSent(AttemptRef),
    /// A proxy behind the gateway calls its provider again for this attempt.
    UpstreamCall(AttemptRef),
    /// A look at the record of the tool is over that this attempt may have called, or earlier requests
    /// of its action, where its number is that of no attempt.
    Record(AttemptRef),
    /// A layer outside the gateway gives a try up, or sends an action again; stale unless `epoch`
    /// is the action's.
    Layer {
        /// Position among the open actions.
        action: u32,
        /// Counts what the action's layers decided.
        epoch: u32,
    },
    /// A request has waited long enough at a gateway's door; stale where it no longer waits.
    WaitedEnough(u32),
    /// A place inside this gateway has become free for who waits.
    Admit(u16),
    /// Something that replicas of this policy have told each other arrives.
    Gossip(u16),
    /// The application says of an answer that was delivered whether it did the job.
    Judged {
        /// The gateway that hears of it.
        gateway: u16,
        /// The target that answered.
        target: TargetId,
        /// Whether it did.
        done: bool,
    },
    /// An operator throws the switch at this position of the world's list, or puts it back.
    Operator(u32),
    /// A closed loop's user asks again.
    Ask {
        /// Position of the loop.
        closed_loop: u16,
        /// The user.
        user: u32,
    },
}

impl Occurrence {
    /// Whether it is a wake-up of a request that is closed, or the patience of its caller: most are.
    #[inline]
    pub(super) fn comes_too_late(self, open: &[Open]) -> bool {
        match self {
            Occurrence::Timer(request) | Occurrence::Patience(request) => {
                open[request.slot as usize].handle != request
            }
            _ => false,
        }
    }
}
