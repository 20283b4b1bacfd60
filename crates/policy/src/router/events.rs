//! What each event means for its request.

use alloc::vec::Vec;

use super::Router;
use super::results::{attempt_due, due};
use crate::Instant;
use crate::config::Streaming;
use crate::event::{
    Action, AttemptRef, Decision, Left, Outcome, Request, RequestRef, StopReason, Terminal,
};
use crate::facts::Fact;
use crate::outcome::{Answer, Failure, FailureClass, Phase, Usage};
use crate::slots::{Lapse, Stage};

impl Router {
    pub(super) fn on_arrived(&mut self, request: Request, out: &mut Vec<Action>) {
        assert!(
            usize::from(request.class.0) < self.classes.len(),
            "a request names a route class of the topology"
        );
        let tenants = self.topology.tenants.len().max(1);
        assert!(
            usize::from(request.tenant.0) < tenants,
            "a request names a tenant of the topology"
        );
        let class = &self.classes[usize::from(request.class.0)];
        let i = self.slots.open(request, class, self.now);
        match self.class(i).looks_up && request.tries.resent() {
            true => self.look_up(i, out),
            false => self.start(i, out),
        }
    }

    pub(super) fn on_headers(&mut self, attempt: AttemptRef) {
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        let flight = &mut self.slots[i].flight;
        flight.phase = flight.phase.max(Phase::BeforeOutput);
    }

    pub(super) fn on_first_output(&mut self, attempt: AttemptRef, out: &mut Vec<Action>) {
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        if self.slots[i].flight.phase == Phase::AfterOutput {
            return;
        }
        self.succeeded(i, out);
        let pass_through = self.policy.streaming == Streaming::PassThrough;
        let wins = self.slots[i].request.streamed && pass_through;
        if wins {
            self.note_hedge_delay(i);
        }
        let slot = &mut self.slots[i];
        slot.flight.phase = Phase::AfterOutput;
        slot.flight.progress = self.now;
        if wins {
            slot.hedge_at = Instant::FAR_FUTURE;
            slot.flight.committed = true;
            slot.first_output_by = Instant::FAR_FUTURE;
            // Nothing can follow it now, so that a reserve for what follows is pointless.
            let own = self.policy.timeouts.attempt;
            slot.flight.limit = own.map_or(Instant::FAR_FUTURE, |own| slot.flight.sent + own);
            out.push(Action::Release(attempt));
            self.drop_rival(i, None, out);
        }
        self.arm(i, out);
    }

    pub(super) fn on_progress(&mut self, attempt: AttemptRef, at: Instant) {
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        let flight = &mut self.slots[i].flight;
        flight.progress = flight.progress.max(at.min(self.now));
    }

    pub(super) fn on_ended(
        &mut self,
        attempt: AttemptRef,
        usage: Usage,
        answer: Answer,
        out: &mut Vec<Action>,
    ) {
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        if self.slots[i].flight.phase != Phase::AfterOutput {
            self.succeeded(i, out);
        }
        self.took_at_least(i);
        self.charge(i, usage);
        if answer == Answer::Invalid {
            let lapse = Lapse::new(FailureClass::ContractFailure);
            return self.fail(i, lapse, out);
        }
        let target = self.slots[i].flight.target;
        self.health.on_contract(target, false, self.now);
        let tenant = self.slots[i].request.tenant;
        self.budgets.on_outcome(target, tenant, false);
        self.publish(|| Fact::Answered { target, tenant });
        self.close_attempt(i);
        if !self.slots[i].flight.committed {
            out.push(Action::Release(attempt));
        }
        let outcome = match answer {
            Answer::Refusal => Outcome::Refused(attempt.number),
            Answer::Valid | Answer::Invalid => Outcome::Answered(attempt.number),
        };
        let slot = &self.slots[i];
        let result = Terminal {
            id: slot.request.id,
            outcome,
            status: 200,
            class: None,
            stop: None,
            retryable: false,
            retry_after: None,
            attempts: slot.attempts - slot.unsent,
            cost: slot.spent,
            disclosed: self.class(i).disclosed.contains(target),
        };
        self.finish(i, result, out);
    }

    pub(super) fn on_failed(
        &mut self,
        attempt: AttemptRef,
        failure: Failure,
        out: &mut Vec<Action>,
    ) {
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        self.charge(i, failure.usage);
        let committed = self.slots[i].flight.committed;
        let class = match failure.class {
            class @ (FailureClass::Refusal | FailureClass::CallerCancelled) => class,
            _ if committed => FailureClass::PartialStream,
            // It broke, but nobody has seen any of it: as good as before the output.
            FailureClass::PartialStream => FailureClass::Transport,
            class => class,
        };
        let lapse =
            Lapse { status: failure.status, hint: failure.retry_after, ..Lapse::new(class) };
        self.fail(i, lapse, out);
    }

    pub(super) fn on_used_below(&mut self, attempt: AttemptRef, calls: u16) {
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        let left = &mut self.slots[i].request.left.attempts;
        // No limit stays none.
        if *left != Left::ALL.attempts {
            *left = left.saturating_sub(calls);
        }
    }

    pub(super) fn on_not_sent(&mut self, attempt: AttemptRef, out: &mut Vec<Action>) {
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        self.slots[i].unsent += 1;
        self.close_attempt(i);
        self.slots[i].lapse = Lapse { unsent: true, ..Lapse::new(FailureClass::Transport) };
        self.over(i, out);
    }

    pub(super) fn on_timer(&mut self, request: RequestRef, epoch: u32, out: &mut Vec<Action>) {
        let Some(i) = self.slots.find(request) else { return };
        let slot = &mut self.slots[i];
        if slot.epoch != epoch {
            return;
        }
        slot.armed = Instant::FAR_FUTURE;
        if self.now < due(&self.slots[i], &self.policy.timeouts) {
            return self.arm(i, out);
        }
        match self.slots[i].stage {
            Stage::Free => unreachable!("a handle to a free slot is stale"),
            Stage::InFlight => self.on_due(i, out),
            Stage::Waiting => self.resume(i, out),
            Stage::Reconciling => self.give_up_reconciling(i, out),
            Stage::LookingUp => self.give_up_looking(i, out),
            Stage::Closing(reason) => self.finish_stopped(i, reason.into(), out),
        }
    }

    pub(super) fn on_cancelled(&mut self, request: RequestRef, out: &mut Vec<Action>) {
        let Some(i) = self.slots.find(request) else { return };
        match self.slots[i].stage {
            Stage::Free => unreachable!("a handle to a free slot is stale"),
            Stage::InFlight => {
                self.slots[i].turn_to_earlier();
                self.abort(i, Some(FailureClass::CallerCancelled), out);
                self.close_attempt(i);
                self.decided(i, Decision::Stop(StopReason::CallerCancelled), out);
            }
            Stage::Waiting => self.give_up_next(i),
            Stage::Reconciling => {
                self.decided(i, Decision::Stop(StopReason::CallerCancelled), out);
            }
            Stage::LookingUp | Stage::Closing(_) => {}
        }
        self.finish_stopped(i, StopReason::CallerCancelled.into(), out);
    }

    /// What was in flight reached a limit: each attempt its own, the request its deadline, or the
    /// first attempt is so slow that a second may start beside it.
    fn on_due(&mut self, i: usize, out: &mut Vec<Action>) {
        while self.turn_to_due(i) {
            let last = self.slots[i].rival.is_none();
            self.time_out(i, out);
            if last {
                return;
            }
        }
        let slot = &self.slots[i];
        if slot.deadline.min(slot.policy_deadline).min(slot.first_output_by) <= self.now {
            self.on_deadline(i, out);
        } else if slot.hedge_at <= self.now {
            self.hedge(i, out);
        } else {
            self.arm(i, out);
        }
    }

    /// Whether an attempt in flight has reached a limit of its own; it is the one spoken of then.
    fn turn_to_due(&mut self, i: usize) -> bool {
        let slot = &mut self.slots[i];
        slot.turn_to_earlier();
        let (timeouts, streamed) = (&self.policy.timeouts, slot.request.streamed);
        if attempt_due(&slot.flight, streamed, timeouts) <= self.now {
            return true;
        }
        match &mut slot.rival {
            Some(rival) if attempt_due(rival, streamed, timeouts) <= self.now => {
                core::mem::swap(rival, &mut slot.flight);
                true
            }
            _ => false,
        }
    }

    /// An attempt reached one of its own time limits.
    pub(super) fn time_out(&mut self, i: usize, out: &mut Vec<Action>) {
        let class = match self.slots[i].flight.committed {
            true => FailureClass::PartialStream,
            false => FailureClass::Timeout,
        };
        self.abort(i, Some(class), out);
        self.took_at_least(i);
        self.fail(i, Lapse::new(class), out);
    }

    /// The request's deadline passed while an attempt was in flight.
    pub(super) fn on_deadline(&mut self, i: usize, out: &mut Vec<Action>) {
        let class = FailureClass::DeadlineExhausted;
        self.slots[i].turn_to_earlier();
        loop {
            self.abort(i, Some(class), out);
            self.took_at_least(i);
            self.blame(i, class, None, out);
            self.close_attempt(i);
            self.slots[i].lapse = Lapse::new(class);
            self.decided(i, Decision::Stop(StopReason::Deadline), out);
            if !self.slots[i].turn_to_rival() {
                break;
            }
        }
        self.finish_stopped(i, StopReason::Deadline.into(), out);
    }
}
