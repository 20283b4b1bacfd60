//! What the application gets where no attempt answered.

use crate::advice::Advice;
use crate::event::{Outcome, StopReason};
use crate::outcome::FailureClass;

/// A stop, and the evidence for its terminal result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopped {
    pub(crate) reason: StopReason,
    /// Class of the latest failure.
    pub(crate) class: FailureClass,
    /// The provider's status of it, or 0.
    pub(crate) status: u16,
    /// Attempts so far.
    pub(crate) attempts: u16,
    /// The attempt that ended last.
    pub(crate) number: u16,
    /// Output had been released.
    pub(crate) committed: bool,
    /// Some target could serve, and is out of service.
    pub(crate) out_of_service: bool,
    /// Every target that could serve is in its cooldown.
    pub(crate) all_cooling: bool,
    /// The request may write outside the model.
    pub(crate) writes: bool,
    /// The latest attempt was sent, and the record of its tool has not said what that did.
    pub(crate) unsettled: bool,
}

impl Stopped {
    /// How the request ended.
    pub(crate) fn outcome(&self) -> Outcome {
        match (self.reason, self.class) {
            (StopReason::CallerCancelled, _) | (_, FailureClass::CallerCancelled) => {
                Outcome::Cancelled
            }
            (_, FailureClass::Refusal) => Outcome::Refused(self.number),
            (_, FailureClass::PartialStream) => Outcome::Partial,
            (StopReason::Deadline, _) if self.committed => Outcome::Partial,
            (StopReason::Deadline, _) => Outcome::Deadline,
            // Also before any attempt, where an earlier request may have written.
            (StopReason::NotIdempotent | StopReason::ToolFailed, _) => Outcome::PolicyStop,
            (StopReason::GroupFull, _) if self.attempts == 0 => Outcome::TurnedAway,
            _ if self.attempts == 0 => Outcome::NoEligibleTarget,
            (StopReason::FailureClass | StopReason::Committed | StopReason::KillSwitch, _) => {
                Outcome::PolicyStop
            }
            _ => Outcome::Exhausted,
        }
    }

    /// The class the caller sees.
    pub(crate) fn visible_class(&self) -> FailureClass {
        match self.reason {
            StopReason::CallerCancelled => FailureClass::CallerCancelled,
            StopReason::Deadline if self.class != FailureClass::PartialStream => {
                FailureClass::DeadlineExhausted
            }
            // The gateway's own limit, before anything was sent.
            StopReason::GroupFull if self.attempts == 0 => FailureClass::GatewayDenied,
            // The record of an earlier request's tool, before anything was sent.
            StopReason::NotIdempotent | StopReason::ToolFailed => self.class,
            _ if self.attempts == 0 => FailureClass::NoEligibleTarget,
            _ => self.class,
        }
    }

    /// The status to answer with. After a partial stream the status has gone out already, and
    /// this one is for the record.
    pub(crate) fn status(&self) -> u16 {
        match self.visible_class() {
            FailureClass::NoEligibleTarget if self.all_cooling => 429,
            FailureClass::GatewayDenied if self.reason == StopReason::GroupFull => 429,
            FailureClass::GatewayDenied if self.reason == StopReason::ToolFailed => 409,
            // The target's own trouble: the caller's key and request are fine.
            FailureClass::UpstreamAuth | FailureClass::TargetMissing => 502,
            FailureClass::Refusal => 200,
            FailureClass::CallerCancelled => 499,
            FailureClass::DeadlineExhausted => 504,
            // A 200 with an error inside it is none for the application.
            _ if self.status >= 400 => self.status,
            FailureClass::ClientInvalid
            | FailureClass::ContextOverflow
            | FailureClass::ContentPolicy => 400,
            FailureClass::GatewayDenied => 403,
            FailureClass::RateLimited | FailureClass::QuotaExhausted => 429,
            FailureClass::Timeout => 504,
            FailureClass::NoEligibleTarget | FailureClass::Overloaded => 503,
            FailureClass::SideEffectUnknown => 409,
            FailureClass::Transport
            | FailureClass::ServerError
            | FailureClass::ContractFailure
            | FailureClass::PartialStream
            | FailureClass::Unknown => 502,
        }
    }

    /// What the application may do, where it is told that it may send again or not.
    pub(crate) fn advice(&self, retryable: bool) -> Advice {
        match self.outcome() {
            Outcome::Answered(_) | Outcome::Refused(_) | Outcome::Cancelled => Advice::Nothing,
            _ if self.reason == StopReason::ToolFailed => Advice::Restart,
            _ if self.effect_unknown() => Advice::Escalate,
            Outcome::Partial => Advice::Restart,
            _ if retryable => Advice::SendAgain,
            _ => Advice::GiveUp,
        }
    }

    /// Whether something may have been written, and nobody here knows.
    fn effect_unknown(&self) -> bool {
        let ambiguous = matches!(
            self.class,
            FailureClass::Transport
                | FailureClass::Timeout
                | FailureClass::PartialStream
                | FailureClass::DeadlineExhausted
        );
        self.reason == StopReason::NotIdempotent
            || self.class == FailureClass::SideEffectUnknown
            || (self.writes && self.attempts > 0 && self.unsettled && ambiguous)
    }

    /// Whether the caller may sensibly send the same request again.
    pub(crate) fn retryable(&self) -> bool {
        if self.reason == StopReason::NotIdempotent {
            return false;
        }
        match self.visible_class() {
            FailureClass::GatewayDenied => self.reason == StopReason::GroupFull,
            FailureClass::RateLimited | FailureClass::Overloaded | FailureClass::ServerError => {
                true
            }
            FailureClass::NoEligibleTarget => self.out_of_service,
            // It may have happened already.
            FailureClass::Transport | FailureClass::Timeout | FailureClass::DeadlineExhausted => {
                !self.writes && !self.committed
            }
            _ => false,
        }
    }
}
