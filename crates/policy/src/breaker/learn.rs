//! What breakers learn: how attempts went, here and at other replicas, and which changes of state that makes.

use super::lane::Lane;
use super::permit::Permit;
use super::state::{Circuit, Sent};
use super::trip::Outcome;
use super::{Breakers, Keyed, Part};
use crate::config::Breaker;
use crate::event::BreakerState;
use crate::target::TargetId;
use crate::{Duration, Instant};

/// How an attempt of another replica went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elsewhere {
    pub(crate) target: TargetId,
    pub(crate) lane: Lane,
    pub(crate) failed: bool,
    pub(crate) probe: bool,
    pub(crate) recovery: bool,
    pub(crate) sent: Instant,
    pub(crate) elapsed: Duration,
}

/// A breaker changed state, or an open one its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Change {
    /// Its position.
    pub(crate) breaker: u16,
    /// Its new state.
    pub(crate) state: BreakerState,
    /// When an open breaker may next admit; now otherwise.
    pub(crate) until: Instant,
}

impl Breakers {
    /// The first output of the attempt came, `elapsed` after it was sent.
    #[inline]
    pub(crate) fn on_success(
        &mut self,
        permit: &Permit,
        elapsed: Duration,
        now: Instant,
        draw: impl Fn() -> u64,
        out: &mut impl FnMut(Change),
    ) {
        self.learn(permit, Outcome::Success(elapsed), now, draw, out);
    }

    /// The attempt failed in a way that blames its target.
    #[inline]
    pub(crate) fn on_failure(
        &mut self,
        permit: &Permit,
        now: Instant,
        draw: impl Fn() -> u64,
        out: &mut impl FnMut(Change),
    ) {
        self.learn(permit, Outcome::Failure, now, draw, out);
    }

    /// How an attempt went enters each breaker of its target. Of a closed one this changes the
    /// windows and nothing else, unless they say to open it; the rest is rare.
    #[inline(always)]
    fn learn(
        &mut self,
        permit: &Permit,
        outcome: Outcome,
        now: Instant,
        draw: impl Fn() -> u64,
        out: &mut impl FnMut(Change),
    ) {
        let Part { count, first, .. } = self.parts[permit.cell.place()];
        if count == 0 {
            return;
        }
        let Keyed { rule, circuit, .. } = &mut self.keyed[usize::from(first)];
        let sent = permit.sent(0, circuit);
        let quiet = circuit.is_closed() && !circuit.trips(rule, sent, outcome, now);
        if count > 1 || !quiet {
            self.learn_more(permit, quiet, outcome, now, draw(), out);
        }
    }

    /// The same from the first breaker on where that is not closed or is to open, and from the second on
    /// where the first is done with.
    #[inline(never)]
    fn learn_more(
        &mut self,
        permit: &Permit,
        first_done: bool,
        outcome: Outcome,
        now: Instant,
        draw: u64,
        out: &mut impl FnMut(Change),
    ) {
        for (i, place) in self.places(permit.cell).enumerate().skip(first_done.into()) {
            let Keyed { rule, circuit, .. } = &mut self.keyed[usize::from(self.members[place])];
            let sent = permit.sent(i, circuit);
            if !circuit.is_closed() {
                self.hear(place, sent, outcome, now, draw, out);
            } else if i == 0 || circuit.trips(rule, sent, outcome, now) {
                self.open(place, now, draw, out);
            }
        }
    }

    /// An outcome enters a breaker that is not closed.
    #[cold]
    fn hear(
        &mut self,
        place: usize,
        sent: Sent,
        outcome: Outcome,
        now: Instant,
        draw: u64,
        out: &mut impl FnMut(Change),
    ) {
        self.visit(place, now, out, |circuit, rule| match outcome {
            Outcome::Success(elapsed) => circuit.on_success(rule, sent, elapsed, now, draw),
            Outcome::Failure => circuit.on_failure(rule, sent, now, draw),
        });
    }

    /// A closed breaker opens.
    #[cold]
    fn open(&mut self, place: usize, now: Instant, draw: u64, out: &mut impl FnMut(Change)) {
        self.visit(place, now, out, |circuit, rule| circuit.open(rule, now, draw));
    }

    /// An attempt of another replica had its first output, or failed: it counts as if it were this
    /// one's, but holds no permit here.
    pub(crate) fn on_outcome_elsewhere(
        &mut self,
        of: Elsewhere,
        now: Instant,
        draw: u64,
        out: &mut impl FnMut(Change),
    ) {
        for place in self.places(of.lane.cell(of.target)) {
            self.visit(place, now, out, |circuit, rule| {
                let late = of.sent < circuit.changed_on;
                let sent = Sent { probe: of.probe, recovery: of.recovery, late };
                circuit.hear(rule, now);
                match of.failed {
                    true => circuit.on_failure(rule, sent, now, draw),
                    false => circuit.on_success(rule, sent, of.elapsed, now, draw),
                }
            });
        }
    }

    /// Calls `f` for the breaker at this place of `members`, and reports a change of its state.
    pub(super) fn visit(
        &mut self,
        place: usize,
        now: Instant,
        out: &mut impl FnMut(Change),
        f: impl FnOnce(&mut Circuit, &Breaker),
    ) {
        let breaker = self.members[place];
        let Keyed { rule, circuit, .. } = &mut self.keyed[usize::from(breaker)];
        let before = circuit.phase();
        f(circuit, rule);
        let after = circuit.phase();
        if before == after {
            return;
        }
        if (before.state(), before.until(now)) == (after.state(), after.until(now)) {
            return;
        }
        // A breaker at the end of its ramp went on counting all along: nothing becomes late.
        if (before.state(), after.state()) != (BreakerState::Ramping, BreakerState::Closed) {
            self.changes += 1;
            circuit.changed_at = self.changes;
            // What time alone has brought about came when it was due.
            circuit.changed_on = match after.state() {
                BreakerState::Open => now,
                _ => before.until(now).min(now),
            };
        }
        self.note_covered(breaker);
        out(Change { breaker, state: after.state(), until: after.until(now) });
    }

    /// A breaker changed: which of its targets have all of theirs closed?
    #[cold]
    fn note_covered(&mut self, breaker: u16) {
        for target in self.targets() {
            if !self.around(target).any(|b| b == breaker) {
                continue;
            }
            let closed =
                |b: u16| self.keyed[usize::from(b)].circuit.phase().state() == BreakerState::Closed;
            let all_closed = self.around(target).all(closed);
            match all_closed {
                true => self.not_closed.remove(target),
                false => self.not_closed.insert(target),
            }
        }
    }
}
