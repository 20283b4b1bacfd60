//! One row per attempt and per request: what a ledger holds. No prompt, answer or credential.

use windtunnel_policy::config::RecoveryAction;
use windtunnel_policy::event::{BreakerState, Decision, Terminal};
use windtunnel_policy::outcome::{Execution, FailureClass, Phase, Usage};
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Duration, Instant, Money};

/// One attempt, from its send to its end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AttemptRow {
    /// The request's position in its world.
    pub request: u64,
    /// Its route class.
    pub class: u16,
    /// 1 for the first attempt.
    pub number: u16,
    /// Position of the target's group among the class's groups.
    pub group: u8,
    /// Where it went.
    pub target: TargetId,
    /// Which kind of recovery it was; `None` for the first attempt.
    pub recovery: Option<RecoveryAction>,
    /// The decision that followed its failure.
    pub decision: Option<Decision>,
    /// HTTP status; 0 where there was none.
    pub status: u16,
    /// How it failed; `None` where it did not.
    pub failure: Option<FailureClass>,
    /// How far the response had come at its end.
    pub phase: Phase,
    /// State of the target's tightest breaker at the send.
    pub breaker: BreakerState,
    /// Waited before it.
    pub waited: Duration,
    /// The wait hint honoured within that.
    pub retry_after: Option<Duration>,
    /// Arrival of its request.
    pub arrived: Instant,
    /// When it was sent.
    pub sent: Instant,
    /// When headers came.
    pub headers: Option<Instant>,
    /// When a first chunk without content came.
    pub first_chunk: Option<Instant>,
    /// When the first output came.
    pub first_output: Option<Instant>,
    /// When it ended.
    pub ended: Instant,
    /// True where the gateway or the caller aborted it.
    pub cancelled: bool,
    /// False where it found no connection and was never sent.
    pub was_sent: bool,
    /// Calls of the provider beyond the first that a proxy on the way made for it.
    pub hidden_calls: u8,
    /// Deadline left at the send.
    pub remaining: Duration,
    /// Tokens billed.
    pub usage: Usage,
    /// What it cost.
    pub cost: Money,
}

impl AttemptRow {
    /// Calls of the provider for it, those of a proxy on the way included.
    pub fn provider_calls(&self) -> u64 {
        if self.was_sent { 1 + u64::from(self.hidden_calls) } else { 0 }
    }
}

/// One request, from its arrival to its close.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RequestRow {
    /// Its position in the world.
    pub request: u64,
    /// Its route class.
    pub class: u16,
    /// Its tenant; 0 where nobody is told apart.
    pub tenant: u16,
    /// Whether it arrived in the measured window and is not the caller's own fault.
    pub measured: bool,
    /// When it arrived.
    pub arrived: Instant,
    /// When it was closed.
    pub closed: Instant,
    /// How the router closed it.
    pub result: Terminal,
    /// Contract success, or a valid refusal.
    pub answered: bool,
    /// By which action the answering attempt came; `None` for the first attempt or no answer.
    pub by: Option<RecoveryAction>,
    /// An outer layer had sent it again before.
    pub resent: bool,
    /// Some attempt got a complete response.
    pub transport_success: bool,
    /// The response delivered keeps its contract.
    pub contract_success: bool,
    /// The response delivered does the job.
    pub task_success: bool,
    /// Send of the answering attempt − arrival.
    pub added_latency: Option<Duration>,
    /// Answer − arrival − the unloaded duration on the reference target, in µs.
    pub excess_latency_us: Option<i64>,
    /// First output to the caller − arrival.
    pub ttft: Option<Duration>,
    /// Output had been passed to the caller when it was closed.
    pub released: bool,
    /// The response delivered is of another model than the one asked for.
    pub substitute: bool,
    /// The product wants the application to be told of such.
    pub to_disclose: bool,
    /// What the record of its tool said last, where it was asked.
    pub record: Option<Execution>,
    /// Everything billed for its attempts.
    pub cost: Money,
    /// Of that, for attempts that did not produce the answer.
    pub wasted: Money,
    /// The class's deadline: means are restricted to it.
    pub deadline: Duration,
}
