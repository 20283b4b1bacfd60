//! What the log itself shows: the totals a run would have, of the policy that was in force.

use std::collections::{BTreeMap, VecDeque};

use crate::log::{Attempt, End, Request};
use crate::record::{ClassTotals, IntervalTotals, TargetTotals};

use super::bills::Bill;
use super::evidence::{MINUTE_US, entry};

/// Failed actions that may still be answered by a later request, at most.
const MOST_PENDING: usize = 100_000;

/// Totals as the log has them; by minute, not yet by interval.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Lived {
    /// By position in the log's names.
    pub(super) classes: Vec<ClassTotals>,
    /// By position in the log's names.
    pub(super) targets: Vec<TargetTotals>,
    pub(super) minutes: BTreeMap<u64, IntervalTotals>,
    /// Failed actions by their hash.
    pending: BTreeMap<u64, Closed>,
    order: VecDeque<u64>,
}

/// A request as it counts.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Closed {
    class: u16,
    arrived_us: u64,
    took_us: u64,
    answered: Option<Answer>,
}

/// How it was answered.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Answer {
    by: By,
    added_us: u64,
    first_us: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    First,
    Retry,
    Failover,
    Substitution,
    Resend,
}

impl Lived {
    pub(super) fn take(&mut self, request: &Request) {
        let cost: u64 = request.attempts.iter().filter_map(|attempt| attempt.cost_pico).sum();
        let minute = self.minutes.entry(request.arrived_us / MINUTE_US).or_default();
        minute.cost += u128::from(cost);
        for attempt in request.attempts.iter().filter(|attempt| attempt.was_sent) {
            self.minutes.entry(attempt.sent_us / MINUTE_US).or_default().sent += 1;
        }
        if !request.measured || request.end == End::Invalid {
            return;
        }
        let sent = request.attempts.iter().filter(|attempt| attempt.was_sent);
        for attempt in sent.clone() {
            let totals = entry(&mut self.targets, attempt.target);
            totals.attempts += 1;
            totals.failures += u64::from(attempt.failure.is_some());
            totals.cost += u128::from(attempt.cost_pico.unwrap_or(0));
            totals.input_tokens += u64::from(attempt.input);
            totals.cached_tokens += u64::from(attempt.cached);
        }
        let answer = answer(request);
        let totals = entry(&mut self.classes, request.class);
        totals.received += 1;
        totals.attempts += tries(request);
        totals.cost += u128::from(cost);
        let useful = answer.map_or(0, |(attempt, _)| attempt.cost_pico.unwrap_or(0));
        totals.wasted += u128::from(cost - useful);
        totals.refused += u64::from(request.end == End::Refused);
        totals.cancelled += u64::from(request.end == End::Cancelled);
        let closed = Closed {
            class: request.class,
            arrived_us: request.arrived_us,
            took_us: request.closed_us - request.arrived_us,
            answered: answer.map(|(_, answer)| answer),
        };
        match (request.action, request.resent) {
            (Some(action), true) => self.resent(action, closed),
            // Which action it belongs to is not known: it is no request of its own.
            (None, true) => {}
            (Some(action), false) if closed.answered.is_none() => self.wait(action, closed),
            _ => self.count(closed),
        }
    }

    /// Takes a bill out again.
    pub(super) fn without(&mut self, bill: &Bill) {
        let cost = u128::from(bill.cost_pico);
        self.minutes.entry(bill.arrived_us / MINUTE_US).or_default().cost -= cost;
        if bill.counts {
            entry(&mut self.targets, bill.target).cost -= cost;
            let class = entry(&mut self.classes, bill.class);
            class.cost -= cost;
            class.wasted -= if bill.useful { 0 } else { cost };
        }
    }

    /// Shares attempts that counters saw among the classes, by their requests.
    pub(super) fn share_attempts(&mut self, attempts: u64) {
        let received: u64 = self.classes.iter().map(|class| class.received).sum();
        let mut left = (attempts, received);
        for class in &mut self.classes {
            let part = u128::from(left.0) * u128::from(class.received) / u128::from(left.1.max(1));
            class.attempts = u64::try_from(part).unwrap_or(u64::MAX);
            left = (left.0 - class.attempts, left.1 - class.received);
        }
    }

    pub(super) fn finish(&mut self) {
        while let Some(action) = self.order.pop_front() {
            self.settle(action);
        }
    }

    /// A failed action, which may be sent again.
    fn wait(&mut self, action: u64, closed: Closed) {
        self.pending.insert(action, closed);
        self.order.push_back(action);
        if self.order.len() > MOST_PENDING
            && let Some(oldest) = self.order.pop_front()
        {
            self.settle(oldest);
        }
    }

    fn settle(&mut self, action: u64) {
        if let Some(closed) = self.pending.remove(&action) {
            self.count(closed);
        }
    }

    /// A later request of an action: it answers the action, or leaves it waiting.
    fn resent(&mut self, action: u64, later: Closed) {
        let Some(first) = self.pending.get_mut(&action) else { return };
        first.took_us = (later.arrived_us + later.took_us).saturating_sub(first.arrived_us);
        let waited = later.arrived_us.saturating_sub(first.arrived_us);
        first.answered = later.answered.map(|answer| Answer {
            by: By::Resend,
            added_us: answer.added_us + waited,
            first_us: answer.first_us + waited,
        });
        if first.answered.is_some() {
            self.settle(action);
        }
    }

    /// Counts an action, once.
    fn count(&mut self, closed: Closed) {
        let minute = self.minutes.entry(closed.arrived_us / MINUTE_US).or_default();
        minute.requests += 1;
        let totals = entry(&mut self.classes, closed.class);
        totals.requests += 1;
        let Some(answer) = closed.answered else {
            totals.latency.record_infinite();
            totals.ttft.record_infinite();
            totals.added_latency.record_infinite();
            totals.time_to_failure.record(closed.took_us);
            return;
        };
        minute.answered += 1;
        minute.raw += u64::from(answer.by == By::First);
        let answered = &mut totals.answered;
        match answer.by {
            By::First => answered.raw += 1,
            By::Retry => answered.retry += 1,
            By::Failover => answered.failover += 1,
            By::Substitution => answered.substitution += 1,
            By::Resend => answered.resend += 1,
        }
        totals.latency.record(closed.took_us);
        totals.ttft.record(answer.first_us);
        totals.added_latency.record(answer.added_us);
    }
}

/// Attempts of a request, those that its log does not show included.
fn tries(request: &Request) -> u64 {
    let shown = request.attempts.iter().filter(|attempt| attempt.was_sent).count() as u64;
    shown.max(request.tries.map_or(0, u64::from))
}

/// The attempt that answered; none where there is no answer.
pub(super) fn answering(request: &Request) -> Option<&Attempt> {
    answer(request).map(|(attempt, _)| attempt)
}

/// The attempt that answered, and how; none where there is no answer.
fn answer(request: &Request) -> Option<(&Attempt, Answer)> {
    if !matches!(request.end, End::Answered | End::Refused) {
        return None;
    }
    let good = |attempt: &&Attempt| attempt.failure.is_none() && !attempt.cancelled;
    let position = request.attempts.iter().rposition(|attempt| good(&attempt));
    let position = position.or(request.attempts.len().checked_sub(1))?;
    let attempt = &request.attempts[position];
    let by = match position.checked_sub(1).map(|before| &request.attempts[before]) {
        None if request.tries.is_some_and(|tries| tries > 1) => By::Retry,
        None => By::First,
        Some(_) if attempt.substituted => By::Substitution,
        Some(before) if before.target == attempt.target => By::Retry,
        Some(_) => By::Failover,
    };
    let since = |at: u64| at.saturating_sub(request.arrived_us);
    let added_us = since(attempt.sent_us);
    let first_us = since(attempt.first_us.unwrap_or(attempt.ended_us));
    Some((attempt, Answer { by, added_us, first_us }))
}
