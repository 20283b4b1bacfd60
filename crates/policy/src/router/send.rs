//! An attempt is sent: what it holds, and until when.

use alloc::vec::Vec;

use super::Core;
use super::results::in_flight_due;
use crate::choose::remaining;
use crate::config::{RecoveryAction, TotalCovers};
use crate::event::{Action, Send};
use crate::facts::Fact;
use crate::known::Known;
use crate::outcome::Phase;
use crate::plan::ClassPlan;
use crate::rules::Rules;
use crate::slots::{Flight, Next, Slot, Stage};
use crate::tally::Tallies;
use crate::target::TargetId;
use crate::{Duration, Instant};

impl Core {
    /// Makes the attempt that the slot holds as its next.
    #[inline(never)]
    pub(super) fn send_next(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        let Core { rules, known, tallies, .. } = self;
        let class = &rules.classes[usize::from(slot.request.class.0)];
        known.send(rules, class, tallies, slot, slot.next, out);
    }
}

impl Known {
    /// Makes a request's first attempt, which has waited for nothing. The same for most requests: compiled
    /// by itself, for what it is.
    #[inline(always)]
    pub(super) fn send_first(
        &mut self,
        rules: &Rules,
        class: &ClassPlan,
        tallies: &mut Tallies,
        slot: &mut Slot,
        target: TargetId,
        out: &mut Vec<Action>,
    ) {
        let next = Next { target, since: self.now, ..Next::FIRST };
        self.send(rules, class, tallies, slot, next, out);
    }

    #[inline(always)]
    fn send(
        &mut self,
        rules: &Rules,
        class: &ClassPlan,
        tallies: &mut Tallies,
        slot: &mut Slot,
        next: Next,
        out: &mut Vec<Action>,
    ) {
        let now = self.now;
        let Next { target, group, action, honoured, since, .. } = next;
        let first = action.is_none();
        let waited = now.since(since);
        let sent_to_group = match slot.tallied || !first {
            true => tallies.of(slot).count(target, group),
            false => 0,
        };
        if class.has_doors
            && let Some(door) = class.groups[usize::from(group)].door
            && (door.counts_attempts || sent_to_group == 0)
        {
            // The attempt is counted at the group's door, or the request with its first there.
            self.health.doors.admit(door.number, now);
            if let Some(facts) = &mut self.facts {
                facts.push(Fact::Admitted { class: slot.request.class, group });
            }
        }
        let elsewhere = action.is_some_and(|action| action != RecoveryAction::Retry);
        let (breaker, permit) = self.health.on_sent(target, class.lane, elsewhere, now, out);

        let failing = slot.flight.target;
        let same = !first && failing == target;
        let run = if same { slot.flight.run.saturating_add(1) } else { 1 };
        if action == Some(RecoveryAction::Hedge) {
            slot.rival = Some(slot.flight);
        } else if !same {
            slot.previous_wait = Duration::ZERO;
        }
        let number = if first { 1 } else { slot.attempts + 1 };
        slot.attempts = number;
        if rules.policy.timeouts.total_covers == TotalCovers::AttemptsOnly {
            slot.policy_deadline = slot.policy_deadline + waited;
            slot.note_end();
        }
        let disclosed = class.must_disclose(target);
        let remaining = remaining(slot, now);
        // Its own time limit; and for a retry on the first target no more than the reserve leaves.
        let own = rules.limits.attempt.min(remaining);
        let timeout = match action {
            Some(RecoveryAction::Retry) if remaining != Duration::MAX => {
                own.min(remaining.saturating_sub(class.reserve(number == run)))
            }
            _ => own,
        };
        let limit = if timeout < remaining { now + timeout } else { Instant::FAR_FUTURE };
        let due = match slot.request.streamed {
            // Of an answer that is not streamed nothing is seen before its end: there is no first
            // token to wait for.
            true => limit.min(now + rules.limits.first_token),
            false => limit,
        };
        slot.flight = Flight {
            number,
            run,
            target,
            failing,
            group,
            action,
            phase: Phase::BeforeHeaders,
            committed: false,
            sent: now,
            limit,
            due,
            permit,
            disclosed,
        };
        slot.stage = Stage::InFlight;
        slot.hedge_at = Instant::FAR_FUTURE;
        out.push(Action::Send(Send {
            attempt: slot.attempt_ref(),
            target,
            group,
            recovery: action,
            breaker,
            waited,
            // Tag and value apart, as they were written just now.
            retry_after: honoured.filter(|_| !first),
            remaining,
            timeout,
            left: match slot.request.left.attempts {
                u16::MAX => u16::MAX,
                brought => brought.saturating_sub(number),
            },
            disclose: disclosed,
        }));
        if !first {
            let due = match action {
                Some(RecoveryAction::Hedge) => in_flight_due(slot),
                _ => due.min(slot.ends),
            };
            return slot.arm_for(due, out);
        }
        let tenant = slot.request.tenant;
        self.budgets.on_first_attempt(target, tenant, now);
        self.publish(|| Fact::FirstAttempt { target, tenant });
        let mut due = due.min(slot.ends);
        if class.hedges {
            slot.hedge_at = now + self.hedge_delay(rules, slot);
            due = due.min(slot.hedge_at);
        }
        slot.arm_for(due, out);
    }
}
