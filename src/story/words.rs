//! Events and actions, each as one clause.

use windtunnel_policy::event::{
    Action, Advice, BreakerState, Decision, Event, Outcome, StopReason, Terminal, Tries,
};
use windtunnel_policy::outcome::{Answer, FailureClass};
use windtunnel_policy::{Instant, Money};

use super::{Names, clock, limited};

impl Names {
    /// What happened.
    pub fn event(&self, event: &Event) -> String {
        match event {
            Event::Arrived(request) => {
                let mut text = format!(
                    "the request comes: {}, {}, {} tokens, at most {} out",
                    self.class(request.class.0),
                    if request.streamed { "streamed" } else { "whole" },
                    request.input_tokens,
                    request.max_output_tokens
                );
                if request.tries.resent() {
                    let Tries { application, sdk } = request.tries;
                    text += &format!(
                        "; action {} again: try {application} of the application, {sdk} of its SDK",
                        request.action
                    );
                }
                text
            }
            Event::Headers(attempt) => format!("headers of attempt {}", attempt.number),
            Event::FirstChunk(attempt) => {
                format!("first chunk of attempt {}, without content", attempt.number)
            }
            Event::FirstOutput(attempt) => format!("first output of attempt {}", attempt.number),
            Event::Progress { attempt, .. } => format!("more output of attempt {}", attempt.number),
            Event::Ended { attempt, answer, .. } => {
                let kind = match answer {
                    Answer::Valid => "a valid answer",
                    Answer::Refusal => "a refusal",
                    Answer::Invalid => "an answer that breaks its contract",
                };
                format!("attempt {} ends: {kind}", attempt.number)
            }
            Event::Failed { attempt, failure } => {
                let mut text =
                    format!("attempt {} fails: {}", attempt.number, failure.class.name());
                if failure.status > 0 {
                    text += &format!(", status {}", failure.status);
                }
                if let Some(hint) = failure.retry_after {
                    text += &format!(", retry after {hint}");
                }
                text + ", " + &failure.phase.name().replace('_', " ")
            }
            Event::Reconciled { attempt, record } => {
                let record = record.name().replace('_', " ");
                format!("the record of attempt {}'s tool says: {record}", attempt.number)
            }
            Event::LookedUp { record, .. } => {
                let record = record.name().replace('_', " ");
                format!("the record of the action's tool says: {record}")
            }
            Event::UsedBelow { attempt, calls } => {
                format!(
                    "a proxy tells: {calls} more calls of the provider for attempt {}",
                    attempt.number
                )
            }
            Event::NotSent(attempt) => {
                format!("attempt {} is not sent: no connection free", attempt.number)
            }
            Event::Timer { .. } => "the timer fires".into(),
            Event::Cancelled(_) => "the caller cancels".into(),
            Event::Learnt(_) => "another replica tells what it has learnt".into(),
            Event::TaskJudged { target, done } => {
                let what = if *done { "did" } else { "did not do" };
                format!(
                    "the application says: an answer of {} {what} the job",
                    self.target(*target)
                )
            }
            Event::KillSwitch { target, off } => {
                let what = match target {
                    Some(target) => self.target(*target),
                    None => "all recovery",
                };
                format!("an operator switches {what} {}", if *off { "off" } else { "on" })
            }
        }
    }

    /// What the router does about it.
    pub fn action(&self, action: &Action, origin: Instant) -> String {
        match action {
            Action::Send(send) => {
                let target = self.target(send.target);
                let mut text = format!("sends attempt {} to {target}", send.attempt.number);
                if let Some(recovery) = send.recovery {
                    text += &format!(", {}", recovery.name());
                }
                if !send.waited.is_zero() {
                    text += &format!(", after {}", send.waited);
                }
                if let Some(hint) = send.retry_after {
                    text += &format!(" (asked to wait {hint})");
                }
                if send.disclose {
                    text += ", another model, to be disclosed";
                }
                if send.breaker != BreakerState::Closed {
                    text += &format!(", breaker {}", send.breaker.name());
                }
                text += &limited(", for at most", send.timeout);
                text + &limited(", deadline in", send.remaining)
            }
            Action::SetTimer { at, .. } => format!("sets the timer to {}", clock(*at, origin)),
            Action::Cancel { attempt, class } => {
                let why = class.map_or("the other has won", FailureClass::name);
                format!("cuts attempt {}: {why}", attempt.number)
            }
            Action::Release(attempt) => {
                format!("releases the output of attempt {}", attempt.number)
            }
            Action::Decided { decision, .. } => match decision {
                Decision::Recover { action, wait, .. } if wait.is_zero() => {
                    format!("decides: {}", action.name())
                }
                Decision::Recover { action, wait, .. } => {
                    format!("decides: {} after {wait}", action.name())
                }
                Decision::Await => "decides: await the other attempt".into(),
                Decision::Stop(reason) => format!("decides: stop, {}", why(*reason)),
            },
            Action::Reconcile(attempt) => {
                format!("asks what the tool of attempt {} did", attempt.number)
            }
            Action::LookUp { action, .. } => {
                format!("looks up what the tool of action {action} did before")
            }
            Action::Finish { result, .. } => finish(result),
            Action::Breaker { breaker, state, until } => {
                let name = self.breaker(*breaker);
                match state {
                    BreakerState::Open => {
                        format!("breaker of {name}: open until {}", clock(*until, origin))
                    }
                    _ => format!("breaker of {name}: {}", state.name()),
                }
            }
        }
    }
}

/// The gate that stopped recovery, in words.
const fn why(reason: StopReason) -> &'static str {
    match reason {
        StopReason::FailureClass => "gate 1: nothing is allowed after this class of failure",
        StopReason::Committed => "gate 2: output was released",
        StopReason::NotIdempotent => "gate 3: it may have had effects",
        StopReason::ToolFailed => "gate 3: the tool was called and has failed",
        StopReason::Attempts => "gate 4: the attempts are spent",
        StopReason::Deadline => "gate 4: too little time for a useful attempt",
        StopReason::AddedLatency => "gate 4: the added latency is spent",
        StopReason::Cost => "gate 4: the money is spent",
        StopReason::GatewayFull => "the gateway itself is full",
        StopReason::GroupFull => "gate 4: every group that is left is full",
        StopReason::RetryBudget => "gate 4: the shared retry budget denies it",
        StopReason::WaitTooLong => "gate 4: the wait asked for is too long",
        StopReason::NoEligibleTarget => "no other target is eligible",
        StopReason::CallerCancelled => "the caller has gone",
        StopReason::KillSwitch => "an operator switched recovery off",
    }
}

fn finish(result: &Terminal) -> String {
    let by = match result.outcome {
        Outcome::Answered(n) | Outcome::Refused(n) => format!(" by attempt {n}"),
        _ => String::new(),
    };
    let mut text = format!("ends it: {}{by}, status {}", result.outcome.name(), result.status);
    if let Some(class) = result.class {
        text += &format!(", {}", class.name());
    }
    if let Some(after) = result.retry_after {
        text += &format!(", may come again after {after}");
    }
    if result.cost > Money::ZERO {
        text += &format!(", cost {}", result.cost);
    }
    text + match result.advice {
        Advice::Restart => "; the application may start anew, and say so",
        Advice::Escalate => "; somebody has to find out what its tool did",
        Advice::Nothing | Advice::SendAgain | Advice::GiveUp => "",
    }
}
