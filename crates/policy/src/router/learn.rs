//! What is learnt from attempts: for breakers, standings, budgets, expected latencies, and the other
//! replicas.

use alloc::vec::Vec;

use super::Core;
use crate::Duration;
use crate::breaker::Change;
use crate::config::Blame;
use crate::event::Action;
use crate::facts::{Fact, OutcomeFact};
use crate::hedge::WinsBy;
use crate::known::Known;
use crate::mix::{self, Draw};
use crate::outcome::{FailureClass, Phase};
use crate::rules::Rules;
use crate::slots::{Flight, Slot, Stage};

impl Known {
    /// How long after its send the first attempt is slow.
    #[inline(never)]
    pub(super) fn hedge_delay(&mut self, rules: &Rules, slot: &Slot) -> Duration {
        let (request, target) = (&slot.request, slot.flight.target);
        let wins_by = WinsBy::of(request, rules.policy.streaming);
        let prior = rules.topology.targets[usize::from(target.0)].prior_latency;
        let delays = self.health.hedge_delays.as_mut().expect("only a policy that hedges asks");
        delays.delay(wins_by, request, target, prior, self.now)
    }
}

impl Core {
    /// The attempt's first output came, or a whole answer at once.
    #[inline(always)]
    pub(super) fn succeeded(&mut self, slot: &Slot, out: &mut Vec<Action>) {
        let Flight { sent, target, ref permit, .. } = slot.flight;
        let now = self.known.now;
        let elapsed = now.since(sent);
        self.known.health.on_first_output(target, elapsed, now);
        let draw = || open_jitter(slot);
        self.known.health.breakers.on_success(permit, elapsed, now, draw, &mut report(out));
        if self.known.facts.is_some() {
            self.tell_outcome(slot, None, elapsed);
        }
    }

    /// What a failure of the attempt says about its target.
    #[inline(always)]
    pub(super) fn blame(
        &mut self,
        slot: &Slot,
        class: FailureClass,
        hint: Option<Duration>,
        out: &mut Vec<Action>,
    ) {
        let blame = self.rules.policy.matrix.row(class).blame;
        if blame != Blame::No {
            self.blamed(slot, blame, hint, out);
        }
    }

    #[inline(never)]
    fn blamed(&mut self, slot: &Slot, blame: Blame, hint: Option<Duration>, out: &mut Vec<Action>) {
        let target = slot.flight.target;
        if blame == Blame::Contract {
            return self.known.health.on_contract(target, true, self.known.now);
        }
        self.known.health.on_outcome(target, true, self.known.now);
        self.known.budgets.on_outcome(target, slot.request.tenant, true);
        let standing = &mut self.known.health.standing;
        match blame {
            Blame::No | Blame::Contract => {}
            Blame::Cooldown => standing.on_cooldown(target, hint, self.known.now),
            Blame::Isolate => standing.on_isolation(target, self.known.now),
            Blame::IsolateAccount => standing.on_account_isolation(target, hint, self.known.now),
            Blame::Breaker => {
                let breakers = &mut self.known.health.breakers;
                let draw = || open_jitter(slot);
                breakers.on_failure(&slot.flight.permit, self.known.now, draw, &mut report(out));
            }
        }
        if self.known.facts.is_some() {
            self.tell_outcome(slot, Some(blame), Duration::ZERO);
        }
    }

    /// The attempt's latency, or a lower bound where it was cut: for the estimate of the next.
    #[inline(always)]
    pub(super) fn took_at_least(&mut self, slot: &Slot) {
        let (target, elapsed) = (slot.flight.target, self.known.now.since(slot.flight.sent));
        if let Some(estimates) = &mut self.known.health.estimates {
            estimates.record(slot.request.class, target, elapsed, self.known.now);
        }
        if slot.flight.phase != Phase::AfterOutput && slot.stage == Stage::InFlight {
            self.known.health.load.on_latency(target, elapsed, self.known.now);
        }
        self.note_hedge_delay(slot);
    }

    /// An attempt was cut because the other had won: it took so long at least. Of the whole of an
    /// attempt that would say too little.
    pub(super) fn lost(&mut self, slot: &Slot) {
        let flight = &slot.flight;
        if flight.phase != Phase::AfterOutput {
            let elapsed = self.known.now.since(flight.sent);
            self.known.health.load.on_latency(flight.target, elapsed, self.known.now);
        }
        self.note_hedge_delay(slot);
    }

    /// The attempt came to what it wins with, or was cut before: for the delay of later hedges.
    #[inline]
    pub(super) fn note_hedge_delay(&mut self, slot: &Slot) {
        if self.known.health.hedge_delays.is_some() {
            self.learn_hedge_delay(slot);
        }
    }

    #[inline(never)]
    fn learn_hedge_delay(&mut self, slot: &Slot) {
        let Some(delays) = &mut self.known.health.hedge_delays else { return };
        let wins_by = WinsBy::of(&slot.request, self.rules.policy.streaming);
        if wins_by == WinsBy::FirstOutput && slot.flight.committed {
            return;
        }
        let elapsed = self.known.now.since(slot.flight.sent);
        delays.record(wins_by, &slot.request, slot.flight.target, elapsed, self.known.now);
    }

    /// Tells the other replicas how the attempt went: it failed so, or its first output came.
    #[cold]
    fn tell_outcome(&mut self, slot: &Slot, failed: Option<Blame>, elapsed: Duration) {
        let (target, now) = (slot.flight.target, self.known.now);
        let outcome = OutcomeFact {
            target,
            class: slot.request.class,
            tenant: slot.request.tenant,
            failed: failed.is_some(),
            for_breakers: failed.is_none_or(|blame| blame == Blame::Breaker),
            probe: slot.flight.permit.probes(),
            recovery: slot.flight.permit.is_recovery(),
            sent: slot.flight.sent,
            elapsed,
            draw: open_jitter(slot),
        };
        self.known.publish(|| Fact::Outcome(outcome));
        let (cooled, isolated) = self.known.health.standing.until(target);
        match failed {
            Some(Blame::Cooldown) if cooled > now => {
                self.known.publish(|| Fact::Cooling { target, until: cooled });
            }
            Some(blame @ (Blame::Isolate | Blame::IsolateAccount)) => {
                let account = blame == Blame::IsolateAccount;
                self.known.publish(|| Fact::Isolated { target, account, until: isolated });
            }
            _ => {}
        }
    }
}

/// Random bits for the open time of a breaker that the attempt's outcome opens.
fn open_jitter(slot: &Slot) -> u64 {
    mix::draw(slot.request.salt, Draw::OpenJitter, u64::from(slot.flight.number))
}

/// Appends changes of breakers.
pub(crate) fn report(out: &mut Vec<Action>) -> impl FnMut(Change) {
    |Change { breaker, state, until }| out.push(Action::Breaker { breaker, state, until })
}
