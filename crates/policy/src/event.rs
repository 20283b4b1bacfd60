//! What goes into the router, and what comes out.

pub use crate::advice::Advice;
use crate::config::RecoveryAction;
use crate::facts::Fact;
use crate::outcome::{Answer, Execution, Failure, FailureClass, Usage};
use crate::target::{ClassId, TargetId, TenantId};
use crate::{Duration, Instant, Money};

/// A request inside one router: a slot, and the generation that makes a stale handle harmless.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RequestRef {
    /// Dense index, reused after the request has ended.
    pub slot: u32,
    /// Counts the uses of the slot.
    pub generation: u32,
}

/// One attempt of one request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AttemptRef {
    /// The request it belongs to.
    pub request: RequestRef,
    /// 1 for the first attempt.
    pub number: u16,
}

/// One call of the gateway, as far as a gateway can know it.
///
/// There is no output length here, and no luck: a policy that needs them cannot be embedded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Request {
    /// The caller's identifier; the router only hands it back.
    pub id: u64,
    /// Random bits for this request's jitter and weighted choices; the router draws nothing itself.
    pub salt: u64,
    /// Its route class.
    pub class: ClassId,
    /// Prompt length in tokens.
    pub input_tokens: u32,
    /// The most output the caller asked for, in tokens.
    pub max_output_tokens: u32,
    /// Whether the caller takes the answer as a stream.
    pub streamed: bool,
    /// Same for all requests of one conversation.
    pub session: u64,
    /// Whose it is.
    pub tenant: TenantId,
    /// Names what the user wanted done, once: the same in every request that any layer sends for it,
    /// as its idempotency key is. The router only hands it back, in [`Action::LookUp`].
    pub action: u64,
    /// The path by which it came through the layers around the gateway.
    pub tries: Tries,
    /// What the layers that it came through leave of its budget.
    pub left: Left,
}

/// Which try of each layer around the gateway a request is, from 1. Whoever knows only that an action
/// came before, and not how often, says so with any number above 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tries {
    /// The application's try.
    pub application: u8,
    /// The try of the SDK, within that of the application.
    pub sdk: u8,
}

impl Tries {
    /// The first request of an action.
    pub const FIRST: Tries = Tries { application: 1, sdk: 1 };

    /// Whether a layer has sent the action before.
    pub fn resent(self) -> bool {
        self != Tries::FIRST
    }
}

/// What is left of the budget that a request brings with it. Where the class or the policy allows
/// less, that holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Left {
    /// Attempts that may be made for it here; the first is made in any case. What a layer below says
    /// it has used counts, too ([`Event::UsedBelow`]).
    pub attempts: u16,
    /// Time to the first output; [`Duration::MAX`] for no limit.
    pub first_output: Duration,
    /// Time to the end of the answer; [`Duration::MAX`] for no limit.
    pub total: Duration,
}

impl Left {
    /// No limit: a request that brings nothing with it.
    pub const ALL: Left =
        Left { attempts: u16::MAX, first_output: Duration::MAX, total: Duration::MAX };
}

/// What happened. `Copy`, so that `{now, event}` can be logged and replayed.
// With a kind of its own, and not one hidden in a field of a request: it is asked for at each event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Event {
    /// A request came in.
    Arrived(Request),
    /// Response headers of an attempt came.
    Headers(AttemptRef),
    /// The first chunk of an attempt's stream came, without content yet. Needed only where that is the
    /// moment of `streaming` or of `timeouts.first_token_means`; a first chunk with content is the first
    /// output.
    FirstChunk(AttemptRef),
    /// The first output of an attempt came.
    FirstOutput(AttemptRef),
    /// Output was last seen at this time. Needed only as often as the idle timeout; batches are fine.
    Progress {
        /// The attempt that streams.
        attempt: AttemptRef,
        /// When its latest output came.
        at: Instant,
    },
    /// The response is complete.
    Ended {
        /// The attempt that ended.
        attempt: AttemptRef,
        /// What it is billed for.
        usage: Usage,
        /// What validation said.
        answer: Answer,
    },
    /// The attempt failed by itself.
    Failed {
        /// The attempt that failed.
        attempt: AttemptRef,
        /// How.
        failure: Failure,
    },
    /// A layer below the gateway says how often it called the provider for this attempt beyond the
    /// first call. They count against what the request brought with it ([`Left::attempts`]). To be
    /// told before the attempt's end, which decides what follows.
    UsedBelow {
        /// The attempt.
        attempt: AttemptRef,
        /// The calls beyond the first.
        calls: u16,
    },
    /// The attempt could not be sent: no connection in the gateway's own pool. Blames no target.
    NotSent(AttemptRef),
    /// What the record says of the tool that a failed attempt may have called: the answer to
    /// [`Action::Reconcile`].
    Reconciled {
        /// The attempt.
        attempt: AttemptRef,
        /// How far the tool's execution came.
        record: Execution,
    },
    /// What the record says of the tool that earlier requests of an action may have called: the answer
    /// to [`Action::LookUp`].
    LookedUp {
        /// The request that came again.
        request: RequestRef,
        /// How far the tool's execution came.
        record: Execution,
    },
    /// A timer set by [`Action::SetTimer`] fired.
    Timer {
        /// The request it was set for.
        request: RequestRef,
        /// The epoch it was set with; older ones are ignored.
        epoch: u32,
    },
    /// The caller went away.
    Cancelled(RequestRef),
    /// The application says whether an answer that was delivered before did the job. It comes when
    /// it comes: the request has ended.
    TaskJudged {
        /// The target that answered.
        target: TargetId,
        /// Whether it did.
        done: bool,
    },
    /// An operator took a target out (`off: true`) or put it back.
    KillSwitch {
        /// The target; `None` for all recovery of this policy.
        target: Option<TargetId>,
        /// True to take it out.
        off: bool,
    },
    /// Another replica of the gateway has learnt or spent something:
    /// [`Router::take_facts`](crate::Router::take_facts) of that one gave it.
    Learnt(Fact),
}

/// What the embedder must do, in the order given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Send the request to a target.
    Send(Send),
    /// Wake the request at `at` with this epoch. Replaces any earlier timer of the request.
    SetTimer {
        /// The request to wake.
        request: RequestRef,
        /// When.
        at: Instant,
        /// To be handed back.
        epoch: u32,
    },
    /// Abort an attempt in flight; its later events are ignored.
    Cancel {
        /// The attempt to abort.
        attempt: AttemptRef,
        /// The class it ends with: `timeout`, `caller_cancelled`, `partial_stream` …; `None` where
        /// nothing is wrong with it, but the other attempt of its request has won.
        class: Option<FailureClass>,
    },
    /// Pass this attempt's output to the caller from now on: the commit boundary.
    Release(AttemptRef),
    /// Why a further attempt was allowed, delayed or refused after an attempt failed.
    Decided {
        /// The attempt that failed.
        attempt: AttemptRef,
        /// What was decided, and why.
        decision: Decision,
    },
    /// Ask the record of the tool that this attempt, which failed, may have called. Until it says
    /// that nothing stands in the way, nothing follows. Where it says `succeeded`, the next attempt
    /// continues with the stored result and does not call the tool again.
    Reconcile(AttemptRef),
    /// Ask the record of the tool that earlier requests of this action may have called. Until it says
    /// that nothing stands in the way, no attempt of this one starts. Where it says `succeeded`, the
    /// attempts of this request continue with the stored result and do not call the tool again.
    LookUp {
        /// The request that came again.
        request: RequestRef,
        /// The action it came for: [`Request::action`].
        action: u64,
    },
    /// The request is closed. Exactly one per request, and the last action for it.
    Finish {
        /// The closed request.
        request: RequestRef,
        /// How it ended.
        result: Terminal,
    },
    /// A breaker changed state.
    Breaker {
        /// Position in [`crate::Router::breakers`].
        breaker: u16,
        /// The new state.
        state: BreakerState,
        /// When an open breaker may next admit; `now` otherwise.
        until: Instant,
    },
}

impl Action {
    /// The request it is about; `None` for a breaker's change.
    pub fn request(&self) -> Option<RequestRef> {
        match self {
            Action::Send(send) => Some(send.attempt.request),
            Action::SetTimer { request, .. }
            | Action::LookUp { request, .. }
            | Action::Finish { request, .. } => Some(*request),
            Action::Cancel { attempt, .. }
            | Action::Release(attempt)
            | Action::Reconcile(attempt)
            | Action::Decided { attempt, .. } => Some(attempt.request),
            Action::Breaker { .. } => None,
        }
    }
}

/// One send, with the evidence for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Send {
    /// Request and attempt number.
    pub attempt: AttemptRef,
    /// Where to.
    pub target: TargetId,
    /// Position of the target's group among the class's groups.
    pub group: u8,
    /// Which kind of recovery this attempt is; `None` for the first.
    pub recovery: Option<RecoveryAction>,
    /// State of the target's tightest breaker at the moment of sending.
    pub breaker: BreakerState,
    /// Time waited before it (backoff, Retry-After, an open breaker).
    pub waited: Duration,
    /// The wait hint that was honoured within that, if any.
    pub retry_after: Option<Duration>,
    /// Deadline left at the moment of sending.
    pub remaining: Duration,
    /// The attempt's own time limit, from now.
    pub timeout: Duration,
    /// Attempts that the request's own budget ([`Request::left`]) allows after this one: what a layer below
    /// may call beyond the first time. [`u16::MAX`] for no limit.
    pub left: u16,
    /// Whether its answer, should it be delivered, must say that another model gave it than the one
    /// asked for: the product wants that disclosed.
    pub disclose: bool,
}

/// State of a circuit breaker. Closed is healthy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BreakerState {
    /// Admits everything.
    #[default]
    Closed,
    /// Admits nothing.
    Open,
    /// Admits a bounded number of probes.
    HalfOpen,
    /// Admits a growing share after recovery.
    Ramping,
}

impl BreakerState {
    /// The state's name in the ledger.
    pub const fn name(self) -> &'static str {
        match self {
            BreakerState::Closed => "closed",
            BreakerState::Open => "open",
            BreakerState::HalfOpen => "half_open",
            BreakerState::Ramping => "ramping",
        }
    }
}

/// What the gates said after an attempt failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// A further attempt is allowed, after `wait`.
    Recover {
        /// The kind of recovery.
        action: RecoveryAction,
        /// Where it goes, unless that is out of service when a wait is over.
        target: TargetId,
        /// Backoff, Retry-After or wait for a breaker.
        wait: Duration,
    },
    /// No further attempt.
    Stop(StopReason),
    /// Nothing yet: another attempt of the request is still in flight.
    Await,
}

/// The gate that stopped recovery, in gate order; every stop has one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StopReason {
    /// Gate 1: the matrix allows nothing for this class.
    FailureClass,
    /// Gate 2: output had been released.
    Committed,
    /// Gate 3: the operation may have had effects.
    NotIdempotent,
    /// Gate 3: the tool was called and has failed.
    ToolFailed,
    /// Gate 4: attempts spent.
    Attempts,
    /// Gate 4: not enough time for a useful attempt.
    Deadline,
    /// Gate 4: added-latency budget spent.
    AddedLatency,
    /// Gate 4: money spent.
    Cost,
    /// Gate 4: the shared retry budget denied it.
    RetryBudget,
    /// Gate 4: every group that is left lets nobody in for now.
    GroupFull,
    /// The gateway had no room: said by whoever admits requests before the router hears of them.
    GatewayFull,
    /// Gate 4: the wait asked for does not fit.
    WaitTooLong,
    /// No target is eligible: breakers, exclusions, capabilities, context, approval.
    NoEligibleTarget,
    /// The caller went away.
    CallerCancelled,
    /// An operator's kill switch forbids recovery.
    KillSwitch,
}

impl StopReason {
    /// The reason's name in the ledger.
    pub const fn name(self) -> &'static str {
        match self {
            StopReason::FailureClass => "failure_class",
            StopReason::Committed => "committed",
            StopReason::NotIdempotent => "not_idempotent",
            StopReason::ToolFailed => "tool_failed",
            StopReason::Attempts => "attempts",
            StopReason::Deadline => "deadline",
            StopReason::AddedLatency => "added_latency",
            StopReason::Cost => "cost",
            StopReason::RetryBudget => "retry_budget",
            StopReason::GroupFull => "group_full",
            StopReason::GatewayFull => "gateway_full",
            StopReason::WaitTooLong => "wait_too_long",
            StopReason::NoEligibleTarget => "no_eligible_target",
            StopReason::CallerCancelled => "caller_cancelled",
            StopReason::KillSwitch => "kill_switch",
        }
    }
}

/// How a request ended: the typed result for the application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terminal {
    /// The caller's identifier of the request.
    pub id: u64,
    /// What the application gets.
    pub outcome: Outcome,
    /// HTTP status to answer with.
    pub status: u16,
    /// The class of the failure the caller sees; `None` for an answer.
    pub class: Option<FailureClass>,
    /// The gate that ended it; `None` for an answer.
    pub stop: Option<StopReason>,
    /// Whether the caller may sensibly send it again.
    pub retryable: bool,
    /// When it may, if known.
    pub retry_after: Option<Duration>,
    /// Attempts that were sent.
    pub attempts: u16,
    /// Cost of all attempts as far as the router knows it.
    pub cost: Money,
    /// The answer is of another model than the one asked for, and says so.
    pub disclosed: bool,
    /// What the application may do about it.
    pub advice: Advice,
}

/// The kinds of terminal result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// A valid answer by this attempt.
    Answered(u16),
    /// A valid refusal by this attempt: a result.
    Refused(u16),
    /// All that was allowed was tried.
    Exhausted,
    /// The caller cancelled.
    Cancelled,
    /// Output had begun and broke off; never replayed.
    Partial,
    /// The policy forbids recovery from this failure.
    PolicyStop,
    /// The deadline passed.
    Deadline,
    /// No target was eligible.
    NoEligibleTarget,
    /// There was no room for it, and nothing was sent: [`StopReason::GroupFull`] where no group of its
    /// class lets it in, [`StopReason::GatewayFull`] where the gateway itself is full, which whoever
    /// admits requests says before the router hears of them.
    TurnedAway,
}

impl Outcome {
    /// The outcome's name in the ledger.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Answered(_) => "success",
            Outcome::Refused(_) => "refusal",
            Outcome::Exhausted => "exhausted",
            Outcome::Cancelled => "cancelled",
            Outcome::Partial => "partial",
            Outcome::PolicyStop => "policy_stop",
            Outcome::Deadline => "deadline",
            Outcome::NoEligibleTarget => "no_eligible_target",
            Outcome::TurnedAway => "turned_away",
        }
    }
}
