//! What each event means for its request.

use alloc::vec::Vec;

use super::Core;
use super::results::{due, in_flight_due};
use crate::Instant;
use crate::choose::first_of_equals;
use crate::config::{FirstToken, Streaming};
use crate::event::{Action, Advice, Decision, Outcome, Request, StopReason, Terminal};
use crate::facts::Fact;
use crate::outcome::{Answer, Failure, FailureClass, Phase, Usage};
use crate::slots::{Lapse, Slot, Slots, Stage};
use crate::target::TargetId;

impl Core {
    #[inline(never)]
    pub(super) fn on_arrived(
        &mut self,
        slots: &mut Slots,
        request: &Request,
        out: &mut Vec<Action>,
    ) {
        assert!(
            usize::from(request.class.0) < self.rules.classes.len(),
            "a request names a route class of the topology"
        );
        assert!(
            usize::from(request.tenant.0) < self.rules.tenants,
            "a request names a tenant of the topology"
        );
        let number = self.take_slot(slots);
        let Core { rules, known, tallies, .. } = self;
        let class = &rules.classes[usize::from(request.class.0)];
        let slot = slots.open(number, request, class, known.now);
        if class.looks_up && request.tries.resent() {
            return self.look_up(slot, out);
        }
        match first_of_equals(rules, class, &mut known.health, slot, known.now) {
            Some(target) => known.send_first(rules, class, tallies, slot, target, out),
            None => self.search_first(slot, out),
        }
    }

    #[inline(never)]
    pub(super) fn on_headers(&mut self, slot: &mut Slot, number: u16, out: &mut Vec<Action>) {
        if !slot.turn_to(number) {
            return;
        }
        if slot.flight.phase == Phase::BeforeHeaders {
            slot.flight.phase = Phase::BeforeOutput;
            if self.rules.policy.timeouts.first_token_means == FirstToken::Headers {
                slot.flight.due = slot.flight.limit;
            }
            if self.rules.policy.streaming == Streaming::AtHeaders && slot.request.streamed {
                self.pass_on(slot, out);
            }
        }
    }

    #[inline(never)]
    pub(super) fn on_first_chunk(&mut self, slot: &mut Slot, number: u16, out: &mut Vec<Action>) {
        if !slot.turn_to(number) {
            return;
        }
        // Where a chunk is, headers are: perhaps nobody has told of them.
        self.on_headers(slot, number, out);
        if slot.flight.phase != Phase::BeforeOutput {
            return;
        }
        if self.rules.policy.timeouts.first_token_means == FirstToken::Chunk {
            slot.flight.due = slot.flight.limit;
        }
        let shown = self.rules.policy.streaming == Streaming::AtFirstChunk && slot.request.streamed;
        if shown && !slot.flight.committed {
            self.pass_on(slot, out);
        }
    }

    /// What comes of the attempt goes to the caller from now on: it has won over another.
    #[inline(always)]
    fn pass_on(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        self.note_hedge_delay(slot);
        slot.hedge_at = Instant::FAR_FUTURE;
        slot.flight.committed = true;
        out.push(Action::Release(slot.attempt_ref()));
        self.drop_rival(slot, None, out);
    }

    #[inline(never)]
    pub(super) fn on_first_output(&mut self, slot: &mut Slot, number: u16, out: &mut Vec<Action>) {
        if !slot.turn_to(number) {
            return;
        }
        if slot.flight.phase == Phase::AfterOutput {
            return;
        }
        self.succeeded(slot, out);
        let shown = slot.request.streamed && self.rules.shows_output;
        if shown && !slot.flight.committed {
            self.pass_on(slot, out);
        }
        let now = self.known.now;
        let silence = self.rules.limits.silence;
        slot.flight.phase = Phase::AfterOutput;
        if !shown {
            slot.flight.due = slot.flight.limit.min(now + silence);
            return slot.arm_for(in_flight_due(slot), out);
        }
        slot.first_output_by = Instant::FAR_FUTURE;
        slot.note_end();
        // Nothing can follow it now, so that a reserve for what follows is pointless.
        slot.flight.limit = slot.flight.sent + self.rules.limits.attempt;
        slot.flight.due = slot.flight.limit.min(now + silence);
        // No other attempt is in flight, nor to start.
        slot.arm_for(slot.flight.due.min(slot.ends), out);
    }

    #[inline(never)]
    pub(super) fn on_progress(&mut self, slot: &mut Slot, number: u16, at: Instant) {
        if !slot.turn_to(number) {
            return;
        }
        let flight = &mut slot.flight;
        if flight.phase == Phase::AfterOutput {
            let silence = self.rules.limits.silence;
            // What was seen before was seen later, perhaps.
            flight.due = flight.due.max(flight.limit.min(at.min(self.known.now) + silence));
        }
    }

    #[inline(never)]
    pub(super) fn on_ended(
        &mut self,
        slot: &mut Slot,
        number: u16,
        usage: &Usage,
        answer: Answer,
        out: &mut Vec<Action>,
    ) {
        if !slot.turn_to(number) {
            return;
        }
        if slot.flight.phase != Phase::AfterOutput {
            self.succeeded(slot, out);
        }
        self.took_at_least(slot);
        self.charge(slot, *usage);
        if answer == Answer::Invalid {
            return self.fail_as(slot, FailureClass::ContractFailure, out);
        }
        let Slot { flight, request, .. } = slot;
        let (target, tenant) = (flight.target, request.tenant);
        self.known.health.on_contract(target, false, self.known.now);
        self.known.budgets.on_outcome(target, tenant, false);
        self.known.publish(|| Fact::Answered { target, tenant });
        self.close_attempt(slot);
        if !slot.flight.committed {
            out.push(Action::Release(slot.attempt_ref()));
        }
        self.drop_rival(slot, None, out);
        let outcome = match answer {
            Answer::Refusal => Outcome::Refused(slot.flight.number),
            Answer::Valid | Answer::Invalid => Outcome::Answered(slot.flight.number),
        };
        let request = slot.handle;
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
            disclosed: slot.flight.disclosed,
            advice: Advice::Nothing,
        };
        out.push(Action::Finish { request, result });
        self.close(slot);
    }

    #[inline(never)]
    pub(super) fn on_failed(
        &mut self,
        slot: &mut Slot,
        number: u16,
        failure: &Failure,
        out: &mut Vec<Action>,
    ) {
        if !slot.turn_to(number) {
            return;
        }
        self.charge(slot, failure.usage);
        let committed = slot.flight.committed;
        let class = match failure.class {
            class @ (FailureClass::Refusal | FailureClass::CallerCancelled) => class,
            _ if committed => FailureClass::PartialStream,
            // It broke, but nobody has seen any of it: as good as before the output.
            FailureClass::PartialStream => FailureClass::Transport,
            class => class,
        };
        slot.lapse =
            Lapse { status: failure.status, hint: failure.retry_after, ..Lapse::new(class) };
        self.fail(slot, out);
    }

    #[inline(never)]
    pub(super) fn on_not_sent(&mut self, slot: &mut Slot, number: u16, out: &mut Vec<Action>) {
        if !slot.turn_to(number) {
            return;
        }
        slot.unsent += 1;
        self.close_attempt(slot);
        slot.lapse = Lapse { unsent: true, ..Lapse::new(FailureClass::Transport) };
        self.over(slot, out);
    }

    #[inline(never)]
    pub(super) fn on_timer(&mut self, slot: &mut Slot, epoch: u32, out: &mut Vec<Action>) {
        if slot.epoch != epoch {
            return;
        }
        slot.armed = Instant::FAR_FUTURE;
        let due = due(slot);
        if self.known.now < due {
            return slot.arm_for(due, out);
        }
        match slot.stage {
            Stage::Free => unreachable!("a handle to a free slot is stale"),
            Stage::InFlight => self.on_due(slot, out),
            Stage::Waiting => self.resume(slot, out),
            Stage::Reconciling => self.give_up_reconciling(slot, out),
            Stage::LookingUp => self.give_up_looking(slot, out),
            Stage::Closing(reason) => self.finish_for(slot, reason, out),
        }
    }

    #[inline(never)]
    pub(super) fn on_cancelled(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        match slot.stage {
            Stage::Free => unreachable!("a handle to a free slot is stale"),
            Stage::InFlight => {
                slot.turn_to_earlier();
                self.abort(slot, Some(FailureClass::CallerCancelled), out);
                self.close_attempt(slot);
                self.decided(slot, Decision::Stop(StopReason::CallerCancelled), out);
            }
            Stage::Waiting => self.give_up_next(slot),
            Stage::Reconciling => {
                self.decided(slot, Decision::Stop(StopReason::CallerCancelled), out);
            }
            Stage::LookingUp | Stage::Closing(_) => {}
        }
        self.finish_for(slot, StopReason::CallerCancelled, out);
    }

    /// An operator takes a target out or puts it back, or all recovery.
    #[cold]
    pub(super) fn on_kill_switch(&mut self, target: Option<TargetId>, off: bool) {
        assert!(
            target.is_none_or(|t| usize::from(t.0) < self.rules.topology.targets.len()),
            "a kill switch names a target of the topology"
        );
        self.known.health.standing.on_kill_switch(target, off);
    }

    /// What was in flight reached a limit: each attempt its own, the request its deadline, or the
    /// first attempt is so slow that a second may start beside it.
    #[inline(never)]
    fn on_due(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        while self.turn_to_due(slot) {
            let last = slot.rival.is_none();
            self.time_out(slot, out);
            if last {
                return;
            }
        }
        if slot.ends <= self.known.now {
            self.on_deadline(slot, out);
        } else if slot.hedge_at <= self.known.now {
            self.hedge(slot, out);
        } else {
            slot.arm(out);
        }
    }

    /// Whether an attempt in flight has reached a limit of its own; it is the one spoken of then.
    fn turn_to_due(&mut self, slot: &mut Slot) -> bool {
        slot.turn_to_earlier();
        if slot.flight.due <= self.known.now {
            return true;
        }
        match &mut slot.rival {
            Some(rival) if rival.due <= self.known.now => {
                core::mem::swap(rival, &mut slot.flight);
                true
            }
            _ => false,
        }
    }

    /// An attempt reached one of its own time limits.
    #[inline(never)]
    pub(super) fn time_out(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        let class = match slot.flight.committed {
            true => FailureClass::PartialStream,
            false => FailureClass::Timeout,
        };
        self.abort(slot, Some(class), out);
        self.took_at_least(slot);
        self.fail_as(slot, class, out);
    }

    /// The request's deadline passed while an attempt was in flight.
    #[inline(never)]
    pub(super) fn on_deadline(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        let class = FailureClass::DeadlineExhausted;
        slot.turn_to_earlier();
        loop {
            self.abort(slot, Some(class), out);
            self.took_at_least(slot);
            self.blame(slot, class, None, out);
            self.close_attempt(slot);
            slot.lapse = Lapse::new(class);
            self.decided(slot, Decision::Stop(StopReason::Deadline), out);
            if !slot.turn_to_rival() {
                break;
            }
        }
        self.finish_for(slot, StopReason::Deadline, out);
    }
}
