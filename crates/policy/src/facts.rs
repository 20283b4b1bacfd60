//! What a router tells the other replicas of its policy, and what it makes of what they tell.
//!
//! Facts may be late, and may be lost: who has restarted hears that recoveries are over of which it never heard
//! that they began, and takes no harm. They are small and add up in any order: counts are added, of two ends of a time out the later
//! holds. Only rules that ask for an order of outcomes (consecutive failures, the last so many calls)
//! see them in the order in which they are told.

use alloc::vec::Vec;

use crate::breaker::Elsewhere;
use crate::budget::Payer;
use crate::config::RecoveryAction;
use crate::event::Action;
use crate::known::Known;
use crate::router::{Core, Router, report};
use crate::target::{ClassId, TargetId, TenantId};
use crate::{Duration, Instant};

/// Something one replica has learnt or spent that the others may know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fact {
    /// An attempt's first output came, or it failed in a way that says something about its target.
    Outcome(OutcomeFact),
    /// A whole answer came.
    Answered {
        /// From where.
        target: TargetId,
        /// Whose request it was.
        tenant: TenantId,
    },
    /// A target is in its cooldown.
    Cooling {
        /// Which.
        target: TargetId,
        /// When that ends.
        until: Instant,
    },
    /// A target is isolated.
    Isolated {
        /// Which.
        target: TargetId,
        /// Whether its whole account is.
        account: bool,
        /// When that ends.
        until: Instant,
    },
    /// A first attempt went to a target.
    FirstAttempt {
        /// Which.
        target: TargetId,
        /// Whose request it is.
        tenant: TenantId,
    },
    /// A request was let into a group that has a limit.
    Admitted {
        /// Its route class.
        class: ClassId,
        /// Position of the group among the class's groups.
        group: u8,
    },
    /// A recovery was granted by the shared budgets, or is over.
    Recovery {
        /// Its kind.
        action: RecoveryAction,
        /// The target that failed.
        failing: TargetId,
        /// Where it goes.
        destination: TargetId,
        /// Whose request it is.
        tenant: TenantId,
        /// False where it begins.
        over: bool,
    },
}

/// How an attempt went, as breakers and scores count it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutcomeFact {
    /// Where it was.
    pub target: TargetId,
    /// For which route class.
    pub class: ClassId,
    /// Whose request it was.
    pub tenant: TenantId,
    /// Whether it failed.
    pub failed: bool,
    /// Whether breakers count it.
    pub for_breakers: bool,
    /// Whether it was a probe of a half-open breaker.
    pub probe: bool,
    /// Whether it was a failover or substitution.
    pub recovery: bool,
    /// When it was sent.
    pub sent: Instant,
    /// From there to its first output, where it did not fail.
    pub elapsed: Duration,
    /// Random bits for the jitter of a breaker that it opens.
    pub draw: u64,
}

impl Router {
    /// Moves what it has learnt and spent since it was last asked to `into`, for the other replicas.
    /// Nothing where the policy's replicas share nothing, or there is one only.
    pub fn take_facts(&mut self, into: &mut Vec<Fact>) {
        if let Some(facts) = &mut self.core.known.facts {
            into.append(facts);
        }
    }
}

impl Known {
    /// Notes something for the other replicas.
    #[inline]
    pub(crate) fn publish(&mut self, fact: impl FnOnce() -> Fact) {
        if let Some(facts) = &mut self.facts {
            facts.push(fact());
        }
    }
}

impl Core {
    /// Another replica has learnt or spent something.
    #[cold]
    pub(crate) fn on_learnt(&mut self, fact: &Fact, out: &mut Vec<Action>) {
        let now = self.known.now;
        match *fact {
            Fact::Outcome(outcome) => self.on_outcome_elsewhere(outcome, out),
            Fact::Answered { target, tenant } => {
                self.known.budgets.on_outcome(target, tenant, false)
            }
            Fact::Cooling { target, until } => self.known.health.standing.cool_until(target, until),
            Fact::Isolated { target, account, until } => {
                self.known.health.standing.isolate_until(target, account, until);
            }
            Fact::FirstAttempt { target, tenant } => {
                self.known.budgets.on_first_attempt(target, tenant, now);
            }
            Fact::Admitted { class, group } => {
                // A replica of another version of the policy may have a limit where this one has none.
                if let Some(door) = self.door(class, group) {
                    self.known.health.doors.admit(door.number, now);
                }
            }
            Fact::Recovery { action, failing, destination, tenant, over } => {
                let payer = Payer { failing, destination, tenant };
                match over {
                    true => self.known.budgets.on_spent_ended(action, payer),
                    false => self.known.budgets.spend(action, payer, now),
                }
            }
        }
    }

    fn on_outcome_elsewhere(&mut self, outcome: OutcomeFact, out: &mut Vec<Action>) {
        let OutcomeFact { target, tenant, failed, .. } = outcome;
        self.known.health.on_outcome(target, failed, self.known.now);
        if failed {
            self.known.budgets.on_outcome(target, tenant, true);
        }
        if !outcome.for_breakers {
            return;
        }
        let OutcomeFact { probe, recovery, sent, elapsed, draw, .. } = outcome;
        let lane = self.lane(outcome.class);
        let elsewhere = Elsewhere { target, lane, failed, probe, recovery, sent, elapsed };
        let mut report = report(out);
        self.known.health.breakers.on_outcome_elsewhere(
            elsewhere,
            self.known.now,
            draw,
            &mut report,
        );
    }
}
