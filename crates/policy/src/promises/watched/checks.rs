//! Each action, held against the promises by what happened before.

use alloc::format;

use super::{Watched, life};
use crate::config::{AllUnavailable, BudgetKind, ChargedTo, RecoveryAction};
use crate::event::{
    Action, AttemptRef, BreakerState, Decision, Outcome, RequestRef, Send, Terminal,
};
use crate::outcome::FailureClass;
use crate::promises::accounts::{Paid, at_least_one, part};
use crate::promises::{Broken, Life, Promise, Subject};
use crate::{Duration, Share};

impl<S: Subject> Watched<S> {
    pub(super) fn check(&mut self, action: Action) -> Result<(), Broken> {
        let now = self.now;
        if let Some(request) = action.request() {
            let open = self.lives.contains_key(&request);
            Promise::OneResult.holds(open, || format!("{action:?} is about no open request"))?;
        }
        let topology = self.subject.topology();
        match action {
            Action::Send(send) => self.check_send(send),
            Action::SetTimer { request, at, epoch } => {
                life(&mut self.lives, request).timer = Some((at, epoch));
                Promise::TimersEnd.holds(at >= now, || "a timer in the past".into())
            }
            Action::Cancel { attempt, class } => {
                let life = life(&mut self.lives, attempt.request);
                Promise::OneAtATime.holds(life.in_flight(attempt), || {
                    format!("attempt {} was cut, and was not in flight", attempt.number)
                })?;
                life.presume(attempt, topology);
                let Some(class) = class else {
                    life.gone(attempt);
                    return Promise::Explained.holds(life.released || life.has_result, || {
                        format!("attempt {} was cut for nothing", attempt.number)
                    });
                };
                let ended = (life.ended, life.latest);
                let at = life.account(attempt);
                life.failed(attempt, class, topology);
                if life.has_result {
                    (life.ended, life.latest) = ended;
                }
                // What the caller's going cuts says nothing about a target.
                if class != FailureClass::CallerCancelled {
                    self.failed(at, class);
                }
                Ok(())
            }
            Action::Release(attempt) => {
                let life = life(&mut self.lives, attempt.request);
                let ended = life.has_result && life.ended == attempt.number;
                let kept = (life.in_flight(attempt) || ended) && !life.released;
                life.released = true;
                life.released_by = Some(attempt.number);
                Promise::NoneAfterOutput
                    .holds(kept, || format!("attempt {} was released, too", attempt.number))
            }
            Action::Decided { attempt, decision } => {
                let life = life(&mut self.lives, attempt.request);
                life.unexplained = false;
                life.decided = None;
                let recovers = matches!(decision, Decision::Recover { .. });
                let how = || format!("a recovery was decided after attempt {}", attempt.number);
                Promise::NoneAfterCancel.holds(!(recovers && life.cancelled), how)?;
                Promise::NoneAfterOutput.holds(!(recovers && life.released), how)?;
                let awaited = match decision {
                    Decision::Await => life.flying.is_some(),
                    Decision::Recover { .. } => life.flying.is_none(),
                    Decision::Stop(_) => true,
                };
                Promise::OneAtATime.holds(awaited, || {
                    format!("{decision:?} was decided after attempt {}", attempt.number)
                })?;
                Promise::Explained.holds(!life.in_flight(attempt), || {
                    format!("a decision on attempt {}, which is in flight", attempt.number)
                })?;
                match (decision, life.latest) {
                    (Decision::Recover { action, target, .. }, Some(failing)) => {
                        let tenant = life.request.tenant;
                        self.pays(attempt, Paid { action, failing, destination: target, tenant })
                    }
                    _ => Ok(()),
                }
            }
            Action::Breaker { breaker, state, until } => {
                let open = (state == BreakerState::Open).then_some((now, until));
                self.open_until[usize::from(breaker)] = open;
                Ok(())
            }
            Action::Reconcile(attempt) => {
                let life = life(&mut self.lives, attempt.request);
                life.asked = true;
                Promise::OneAtATime.holds(life.flying.is_none(), || {
                    format!("attempt {} is in flight, and its tool is asked for", attempt.number)
                })
            }
            Action::LookUp { request, action } => {
                let life = life(&mut self.lives, request);
                life.looks_up = true;
                Promise::OneAtATime.holds(life.attempts == 0, || {
                    format!("{} attempts were sent, and then the record was asked", life.attempts)
                })?;
                Promise::NoRepeatedWrite.holds(action == life.request.action, || {
                    format!("action {action} is looked up for {}", life.request.action)
                })
            }
            Action::Finish { request, result } => self.check_finish(request, result),
        }
    }

    fn check_finish(&mut self, request: RequestRef, result: Terminal) -> Result<(), Broken> {
        let Some(life) = self.lives.remove(&request) else { return Ok(()) };
        self.finished += 1;
        let facts = (self.subject.policy(), self.subject.topology());
        self.accounts.turns_away(&life.request, &result, self.now, facts)?;
        let kept = |kept: bool, what: &str| {
            Promise::OneResult.holds(kept, || format!("{what}: {result:?}"))
        };
        let flying = life.flying.map(|attempt| attempt.number);
        Promise::PermitsReturn.holds(flying.is_none(), || {
            format!("the request ended, and attempt {} is in flight", flying.unwrap_or_default())
        })?;
        Promise::Explained
            .holds(!life.unexplained, || "the request ended without a reason".into())?;
        kept(result.id == life.request.id, "the result of another request")?;
        let cancelled = result.outcome == Outcome::Cancelled;
        kept(life.cancelled == cancelled, "a result that forgets a cancellation, or invents one")?;
        kept(result.attempts <= life.attempts, "a result that counts attempts nobody saw")?;
        let disclose = match result.outcome {
            Outcome::Answered(n) | Outcome::Refused(n) => life.to_disclose.contains(&n),
            _ => false,
        };
        Promise::Disclosed.holds(result.disclosed == disclose, || {
            format!("a result with the wrong mark: {result:?}")
        })?;
        match result.outcome {
            Outcome::Answered(n) => kept(life.released_by == Some(n), "an answer nobody got"),
            Outcome::Refused(n) => kept(n == life.ended, "a refusal by another attempt"),
            _ => Ok(()),
        }
    }

    fn check_send(&mut self, send: Send) -> Result<(), Broken> {
        let (policy, topology) = (self.subject.policy(), self.subject.topology());
        let life = &self.lives[&send.attempt.request];
        life.may_send(&send, self.now, policy, topology)?;
        self.in_service(&send)?;
        let first = life.is_first_in(send.group);
        let facts = (policy, topology);
        self.accounts.enters(&life.request, &send, first, self.now, facts)?;
        match (send.recovery, life.paying(&send)) {
            (None, _) => {
                let at = (send.target, life.request.tenant);
                self.accounts.first_attempt(at, self.now, facts);
            }
            // A hedge follows no failure: nothing was decided before.
            (Some(RecoveryAction::Hedge), Some(paid)) => self.pays(send.attempt, paid)?,
            (Some(_), _) => {}
        }
        self::life(&mut self.lives, send.attempt.request).sent(&send);
        Ok(())
    }

    fn in_service(&self, send: &Send) -> Result<(), Broken> {
        let policy = self.subject.policy();
        let kept = |kept: bool, what: &str| {
            let target = &self.subject.topology().targets[usize::from(send.target.0)].name;
            Promise::OutOfService.holds(kept, || {
                format!("attempt {} was sent to {target} {what}", send.attempt.number)
            })
        };
        kept(!self.taken_out[usize::from(send.target.0)], "although it is taken out")?;
        kept(send.recovery.is_none() || !self.recovery_off, "although recovery is switched off")?;
        let health_counts = policy.all_unavailable != AllUnavailable::FailOpen
            && policy.selection.panic_threshold == Share::ONE;
        // Which rule a breaker is of is not known here: the slowest stands for all.
        let leaves_over = policy.breakers.iter().filter_map(|rule| rule.leaves_over).max();
        let leaves_over = leaves_over.unwrap_or(Duration::ZERO);
        let class = self.lives[&send.attempt.request].request.class;
        let class = &self.subject.topology().classes[usize::from(class.0)];
        for (breaker, scope) in self.covers.iter().enumerate() {
            let open = self.open_until[breaker]
                .is_some_and(|(since, until)| since + leaves_over <= self.now && self.now < until);
            let into_open = open && scope.covers(class, send.target);
            kept(!(into_open && health_counts), "although its breaker is open")?;
        }
        Ok(())
    }

    /// A recovery draws on the shared budgets: each has something for it.
    fn pays(&mut self, attempt: AttemptRef, paid: Paid) -> Result<(), Broken> {
        self.within_flight(attempt, paid)?;
        let facts = (self.subject.policy(), self.subject.topology());
        self.accounts.recovers(paid, self.now, facts)?;
        if paid.action != RecoveryAction::Hedge {
            life(&mut self.lives, attempt.request).decided = Some(paid);
        }
        Ok(())
    }

    /// Recoveries in flight, and those that wait, stay within what is declared for them.
    fn within_flight(&self, attempt: AttemptRef, this: Paid) -> Result<(), Broken> {
        let (policy, topology) = (self.subject.policy(), self.subject.topology());
        let beside = |same: &dyn Fn(&Paid) -> bool| {
            self.lives.values().flat_map(Life::recoveries).filter(|p| same(p)).count() as u64
        };
        let kept = |used: u64, max: u64, whose: &str| {
            Promise::AttemptLimits.holds(used < max, || {
                let (name, number) = (this.action.name(), attempt.number);
                format!("a {name} at attempt {number} beside {used}, beyond {whose}")
            })
        };
        for (i, budget) in policy.retry_budgets.iter().enumerate() {
            let BudgetKind::InFlight { max } = budget.kind else { continue };
            if !budget.governs.contains(&this.action) {
                continue;
            }
            let used = beside(&|paid| {
                budget.governs.contains(&paid.action)
                    && (!budget.by_tenant || paid.tenant == this.tenant)
                    && match budget.charged_to {
                        ChargedTo::FailingTarget => paid.failing == this.failing,
                        ChargedTo::Destination => paid.destination == this.destination,
                        ChargedTo::Overall => true,
                    }
            });
            let max = at_least_one(part(budget, this.tenant, topology), max) / 1_000_000;
            kept(used, max, &format!("retry_budgets[{i}]"))?;
        }
        let there = &topology.targets[usize::from(this.destination.0)];
        match there.failover_in_flight {
            Some(max) if this.action != RecoveryAction::Retry => {
                let moved = |paid: &Paid| paid.action != RecoveryAction::Retry;
                let used = beside(&|p| moved(p) && p.destination == this.destination);
                kept(used, max.into(), "the failover_in_flight of its target")
            }
            _ => Ok(()),
        }
    }
}
