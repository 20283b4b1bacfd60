//! What a [`Router`] promises, held against what it does: for tests of a
//! gateway around it, and for proofs that walk over everything that can happen.
//!
//! [`Watched`] feeds events to a router and keeps, from events and actions alone, a second account
//! of every request. An action that the account does not allow is a [`Broken`] promise.

mod accounts;
mod key;
mod life;
mod watched;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::hash::Hasher;

pub use self::life::Life;
pub use self::watched::{Moment, Watched};
use crate::config::Policy;
use crate::event::{Action, Event, RequestRef};
use crate::target::Topology;
use crate::{BreakerScope, Instant, Router};

/// One thing that always holds, whatever happens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Promise {
    /// Each request gets exactly one result.
    OneResult,
    /// One attempt of a request is in flight at a time, beside it at most one hedge.
    OneAtATime,
    /// A recovery is what it is called, in a group of the class, to a model of the class that keeps
    /// the contract the class needs.
    RightTarget,
    /// Where the product wants it, the answer of another model says that it is one.
    Disclosed,
    /// Nothing starts after the caller has gone.
    NoneAfterCancel,
    /// Nothing starts after output was released.
    NoneAfterOutput,
    /// No request that may write is sent again while it is unknown how it ended: after a timeout, a broken
    /// connection or a broken stream. A server error is a known end, though a tool may have run by then.
    NoRepeatedWrite,
    /// Attempts stay within each of their limits.
    AttemptLimits,
    /// Recoveries stay within the shared budgets that time and traffic fill.
    SharedBudgets,
    /// Groups let in what they may, and turn nobody away before.
    Admission,
    /// Nothing starts after a deadline, beyond the added latency or beyond the money.
    Envelope,
    /// No target that is out of service gets an attempt.
    OutOfService,
    /// Time alone ends every request.
    TimersEnd,
    /// What attempts hold returns.
    PermitsReturn,
    /// The end of every attempt without an answer is followed by a decision with its reason.
    Explained,
}

impl Promise {
    /// Every promise, in the order they are told.
    pub const ALL: [Promise; 15] = [
        Promise::OneResult,
        Promise::OneAtATime,
        Promise::RightTarget,
        Promise::Disclosed,
        Promise::NoneAfterCancel,
        Promise::NoneAfterOutput,
        Promise::NoRepeatedWrite,
        Promise::AttemptLimits,
        Promise::SharedBudgets,
        Promise::Admission,
        Promise::Envelope,
        Promise::OutOfService,
        Promise::TimersEnd,
        Promise::PermitsReturn,
        Promise::Explained,
    ];

    /// Its name in output.
    pub const fn name(self) -> &'static str {
        match self {
            Promise::OneResult => "one_result",
            Promise::OneAtATime => "one_at_a_time",
            Promise::RightTarget => "right_target",
            Promise::Disclosed => "disclosed",
            Promise::NoneAfterCancel => "none_after_cancel",
            Promise::NoneAfterOutput => "none_after_output",
            Promise::NoRepeatedWrite => "no_repeated_write",
            Promise::AttemptLimits => "attempt_limits",
            Promise::SharedBudgets => "shared_budgets",
            Promise::Admission => "admission",
            Promise::Envelope => "envelope",
            Promise::OutOfService => "out_of_service",
            Promise::TimersEnd => "timers_end",
            Promise::PermitsReturn => "permits_return",
            Promise::Explained => "explained",
        }
    }

    /// It, as a sentence.
    pub const fn sentence(self) -> &'static str {
        match self {
            Promise::OneResult => "each request gets exactly one result, and is silent after it",
            Promise::OneAtATime => {
                "one attempt of a request is in flight at a time, beside it at most one hedge"
            }
            Promise::RightTarget => "each recovery goes where its kind says, to an approved model",
            Promise::Disclosed => {
                "another model's answer says so where the product wants it, and no other does"
            }
            Promise::NoneAfterCancel => "no attempt starts after the caller has cancelled",
            Promise::NoneAfterOutput => "no attempt starts after output was released",
            Promise::NoRepeatedWrite => {
                "no request that may write is sent again while it is unknown how it ended"
            }
            Promise::AttemptLimits => {
                "attempts, and recoveries in flight, stay within each of their limits"
            }
            Promise::SharedBudgets => {
                "recoveries stay within the shared budgets that time and traffic fill"
            }
            Promise::Admission => {
                "each group lets in no more than its rate, and turns nobody away before"
            }
            Promise::Envelope => {
                "no attempt starts after a deadline, too late to be wanted, or beyond the money"
            }
            Promise::OutOfService => {
                "no attempt goes to an open breaker or a target taken out, unless the policy says so"
            }
            Promise::TimersEnd => "time alone ends every request",
            Promise::PermitsReturn => "slots and probe permits return when attempts end",
            Promise::Explained => "each failed attempt is followed by a decision with its reason",
        }
    }
}

/// A promise that was not kept, and how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    /// Which one.
    pub promise: Promise,
    /// What happened.
    pub how: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.promise.sentence(), self.how)
    }
}

impl core::error::Error for Broken {}

impl Promise {
    /// This promise, broken unless `kept`.
    fn holds(self, kept: bool, how: impl FnOnce() -> String) -> Result<(), Broken> {
        if kept { Ok(()) } else { Err(Broken { promise: self, how: how() }) }
    }
}

/// What is held against the promises: a router, or something around one.
pub trait Subject: Clone {
    /// Takes an event in, as [`Router::handle`].
    fn handle(&mut self, now: Instant, event: Event, actions: &mut Vec<Action>);
    /// The policy it claims to run.
    fn policy(&self) -> &Policy;
    /// The targets and classes it claims to serve.
    fn topology(&self) -> &Topology;
    /// What each breaker is about, as [`Action::Breaker`] numbers them.
    fn breakers(&self) -> Vec<BreakerScope>;
    /// The most actions one event may append.
    fn max_actions_per_event(&self) -> usize;
    /// Attempts in flight, open requests and probe permits out, which are all none at the end.
    fn held(&self) -> [u64; 3];
    /// Hashes all that decides what it does from now on and is no single request's.
    fn hash_shared<H: Hasher>(&self, state: &mut H);
    /// Hashes the same of one open request: all but its handle, by which nothing may be decided.
    fn hash_request<H: Hasher>(&self, request: RequestRef, state: &mut H);
}

impl Subject for Router {
    fn handle(&mut self, now: Instant, event: Event, actions: &mut Vec<Action>) {
        Router::handle(self, now, event, actions);
    }

    fn policy(&self) -> &Policy {
        Router::policy(self)
    }

    fn topology(&self) -> &Topology {
        Router::topology(self)
    }

    fn breakers(&self) -> Vec<BreakerScope> {
        Router::breakers(self).collect()
    }

    fn max_actions_per_event(&self) -> usize {
        Router::max_actions_per_event(self)
    }

    fn held(&self) -> [u64; 3] {
        [self.in_flight() as u64, self.open_requests() as u64, self.permits_out()]
    }

    fn hash_shared<H: Hasher>(&self, state: &mut H) {
        Router::hash_shared(self, state);
    }

    fn hash_request<H: Hasher>(&self, request: RequestRef, state: &mut H) {
        Router::hash_request(self, request, state);
    }
}
