//! What each event means for its request.

use alloc::vec::Vec;

use super::Router;
use super::results::{due, in_flight_due};
use crate::config::{FirstToken, Streaming};
use crate::event::{
    Action, Advice, AttemptRef, Decision, Left, Outcome, Request, RequestRef, StopReason, Terminal,
};
use crate::facts::Fact;
use crate::outcome::{Answer, Failure, FailureClass, Phase, Usage};
use crate::slots::{Lapse, Slot, Stage};
use crate::target::TargetId;
use crate::{Duration, Instant};

impl Router {
    #[inline(always)]
    pub(super) fn on_arrived(&mut self, request: &Request, out: &mut Vec<Action>) {
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
        let looks_up = class.looks_up && request.tries.resent();
        let i = self.slots.open(request, class, self.now);
        match looks_up {
            true => self.look_up(i, out),
            false => self.start(i, out),
        }
    }

    #[inline(never)]
    pub(super) fn on_headers(&mut self, attempt: AttemptRef, out: &mut Vec<Action>) {
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        let flight = &mut self.slots[i].flight;
        if flight.phase == Phase::BeforeHeaders {
            flight.phase = Phase::BeforeOutput;
            if self.policy.timeouts.first_token_means == FirstToken::Headers {
                flight.due = flight.limit;
            }
            if self.policy.streaming == Streaming::AtHeaders && self.slots[i].request.streamed {
                self.pass_on(i, attempt, out);
            }
        }
    }

    #[inline(never)]
    pub(super) fn on_first_chunk(&mut self, attempt: AttemptRef, out: &mut Vec<Action>) {
        // Where a chunk is, headers are: perhaps nobody has told of them.
        self.on_headers(attempt, out);
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        let slot = &mut self.slots[i];
        if slot.flight.phase != Phase::BeforeOutput {
            return;
        }
        if self.policy.timeouts.first_token_means == FirstToken::Chunk {
            slot.flight.due = slot.flight.limit;
        }
        let shown = self.policy.streaming == Streaming::AtFirstChunk && slot.request.streamed;
        if shown && !slot.flight.committed {
            self.pass_on(i, attempt, out);
        }
    }

    /// What comes of the attempt goes to the caller from now on: it has won over another.
    #[inline(always)]
    fn pass_on(&mut self, i: usize, attempt: AttemptRef, out: &mut Vec<Action>) {
        self.note_hedge_delay(i);
        let slot = &mut self.slots[i];
        slot.hedge_at = Instant::FAR_FUTURE;
        slot.flight.committed = true;
        out.push(Action::Release(attempt));
        self.drop_rival(i, None, out);
    }

    #[inline(always)]
    pub(super) fn on_first_output(&mut self, attempt: AttemptRef, out: &mut Vec<Action>) {
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        if self.slots[i].flight.phase == Phase::AfterOutput {
            return;
        }
        self.succeeded(i, out);
        let slot = &self.slots[i];
        let shown = slot.request.streamed && self.policy.streaming != Streaming::BufferThenRelease;
        if shown && !slot.flight.committed {
            self.pass_on(i, attempt, out);
        }
        let now = self.now;
        let silence = self.policy.timeouts.idle_stream.unwrap_or(Duration::MAX);
        let slot = &mut self.slots[i];
        slot.flight.phase = Phase::AfterOutput;
        if shown {
            slot.first_output_by = Instant::FAR_FUTURE;
            slot.note_end();
            // Nothing can follow it now, so that a reserve for what follows is pointless.
            let own = self.policy.timeouts.attempt;
            slot.flight.limit = own.map_or(Instant::FAR_FUTURE, |own| slot.flight.sent + own);
        }
        let slot = &mut self.slots[i];
        slot.flight.due = slot.flight.limit.min(now + silence);
        let due = in_flight_due(slot);
        slot.arm_for(i, due, out);
    }

    #[inline(always)]
    pub(super) fn on_progress(&mut self, attempt: AttemptRef, at: Instant) {
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        let flight = &mut self.slots[i].flight;
        if flight.phase == Phase::AfterOutput {
            let silence = self.policy.timeouts.idle_stream.unwrap_or(Duration::MAX);
            // What was seen before was seen later, perhaps.
            flight.due = flight.due.max(flight.limit.min(at.min(self.now) + silence));
        }
    }

    #[inline(always)]
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
        let Slot { flight, request, .. } = &self.slots[i];
        let (target, tenant) = (flight.target, request.tenant);
        self.health.on_contract(target, false, self.now);
        self.budgets.on_outcome(target, tenant, false);
        self.publish(|| Fact::Answered { target, tenant });
        self.close_attempt(i);
        if !self.slots[i].flight.committed {
            out.push(Action::Release(attempt));
        }
        self.drop_rival(i, None, out);
        let slot = &self.slots[i];
        let outcome = match answer {
            Answer::Refusal => Outcome::Refused(attempt.number),
            Answer::Valid | Answer::Invalid => Outcome::Answered(attempt.number),
        };
        let request = slot.request_ref(i);
        let class = &self.classes[usize::from(slot.request.class.0)];
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
            disclosed: class.must_disclose(target),
            advice: Advice::Nothing,
        };
        out.push(Action::Finish { request, result });
        self.slots.close(i);
    }

    #[inline(always)]
    pub(super) fn on_failed(
        &mut self,
        attempt: AttemptRef,
        failure: &Failure,
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

    #[inline(never)]
    pub(super) fn on_used_below(&mut self, attempt: AttemptRef, calls: u16) {
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        let left = &mut self.slots[i].request.left.attempts;
        // No limit stays none.
        if *left != Left::ALL.attempts {
            *left = left.saturating_sub(calls);
        }
    }

    #[inline(never)]
    pub(super) fn on_not_sent(&mut self, attempt: AttemptRef, out: &mut Vec<Action>) {
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        self.slots[i].unsent += 1;
        self.close_attempt(i);
        self.slots[i].lapse = Lapse { unsent: true, ..Lapse::new(FailureClass::Transport) };
        self.over(i, out);
    }

    #[inline(always)]
    pub(super) fn on_timer(&mut self, request: RequestRef, epoch: u32, out: &mut Vec<Action>) {
        let Some(i) = self.slots.find(request) else { return };
        let slot = &mut self.slots[i];
        if slot.epoch != epoch {
            return;
        }
        slot.armed = Instant::FAR_FUTURE;
        let due = due(slot);
        if self.now < due {
            return slot.arm_for(i, due, out);
        }
        match slot.stage {
            Stage::Free => unreachable!("a handle to a free slot is stale"),
            Stage::InFlight => self.on_due(i, out),
            Stage::Waiting => self.resume(i, out),
            Stage::Reconciling => self.give_up_reconciling(i, out),
            Stage::LookingUp => self.give_up_looking(i, out),
            Stage::Closing(reason) => self.finish_for(i, reason, out),
        }
    }

    #[inline(never)]
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
        self.finish_for(i, StopReason::CallerCancelled, out);
    }

    /// An operator takes a target out or puts it back, or all recovery.
    #[cold]
    pub(super) fn on_kill_switch(&mut self, target: Option<TargetId>, off: bool) {
        assert!(
            target.is_none_or(|t| usize::from(t.0) < self.topology.targets.len()),
            "a kill switch names a target of the topology"
        );
        self.health.standing.on_kill_switch(target, off);
    }

    /// What was in flight reached a limit: each attempt its own, the request its deadline, or the
    /// first attempt is so slow that a second may start beside it.
    #[inline(never)]
    fn on_due(&mut self, i: usize, out: &mut Vec<Action>) {
        while self.turn_to_due(i) {
            let last = self.slots[i].rival.is_none();
            self.time_out(i, out);
            if last {
                return;
            }
        }
        let slot = &self.slots[i];
        if slot.ends <= self.now {
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
        if slot.flight.due <= self.now {
            return true;
        }
        match &mut slot.rival {
            Some(rival) if rival.due <= self.now => {
                core::mem::swap(rival, &mut slot.flight);
                true
            }
            _ => false,
        }
    }

    /// An attempt reached one of its own time limits.
    #[inline(never)]
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
    #[inline(never)]
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
        self.finish_for(i, StopReason::Deadline, out);
    }
}
