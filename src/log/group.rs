//! From rows to requests.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use windtunnel_policy::outcome::{FailureClass, Phase};

use super::after_answer::AfterAnswer;
use super::clock::{Span, Took};
use super::names::Interned;
use super::nested::Nested;
use super::repeated::{Numbered, likeness_of};
use super::resend::FailedLately;
use super::row::Row;
use super::{Attempt, End, Names, Request, Unusable, UnusableRows};
use crate::draw::NameHash;

/// Rows of one request stand at most so far apart; so many actions are remembered.
pub(super) const MEMORY: u64 = 100_000;

/// More is no prompt and no answer of any model.
const MOST_TOKENS: u32 = 10_000_000;

/// No gateway tries one request more often; a column that is the same in every row is no request.
const MOST_TRIES: u32 = 1_000;

/// The year 2100: a later time is a mistake in its unit.
const LATEST_US: u64 = 4_102_444_800 * 1_000_000;

/// A longer span is a mistake in the unit of time.
const LONGEST_US: u64 = 400 * 86_400 * 1_000_000;

/// Puts the rows of a request together.
pub(super) struct Grouper {
    adjacent: bool,
    run: Option<String>,
    sent: Option<Span>,
    took: Took,
    /// A time of the first row, µs.
    first_us: Option<u64>,
    rows: u64,
    open: BTreeMap<u64, Open>,
    /// Requests by the row they were opened with.
    order: VecDeque<(u64, u64)>,
    actions: Actions,
    failed: FailedLately,
    /// The request of the row before.
    before: Option<u64>,
    /// Requests so far, where rows of a request follow one another.
    closed: Numbered,
    /// Hashes of the rows so far, where rows of a request may stand apart.
    seen: BTreeSet<u64>,
    after_answer: AfterAnswer,
    /// Some request has several attempts.
    several: bool,
    nested: Nested,
    names: Interned,
    unusable: UnusableRows,
}

/// What all rows came to, apart from the requests.
pub(super) struct Grouped {
    pub(super) names: Names,
    pub(super) unusable: UnusableRows,
    /// Some request has several attempts.
    pub(super) several: bool,
    pub(super) after_answer: AfterAnswer,
    pub(super) nested: Nested,
    /// When attempts were sent.
    pub(super) sent: Option<Span>,
    pub(super) took: Took,
}

struct Open {
    request: Request,
    /// Line of its first row.
    line: u64,
    likeness: Option<u64>,
    /// Rows that stand for all of it: its attempts where it has no others.
    whole: Vec<Attempt>,
    /// How those say that it ended.
    whole_told: Option<End>,
    /// How the others do.
    told: Option<End>,
    /// Hints waited for before an attempt, by position of that attempt.
    hints: Vec<(u64, u64)>,
}

impl Grouper {
    /// With `adjacent`, a request is complete when a row of another one comes.
    pub(super) fn new(adjacent: bool) -> Grouper {
        Grouper {
            adjacent,
            run: None,
            sent: None,
            took: Took::default(),
            first_us: None,
            rows: 0,
            open: BTreeMap::new(),
            order: VecDeque::new(),
            actions: Actions::default(),
            failed: FailedLately::default(),
            before: None,
            closed: Numbered::default(),
            seen: BTreeSet::new(),
            after_answer: AfterAnswer::default(),
            several: false,
            nested: Nested::default(),
            names: Interned::default(),
            unusable: UnusableRows::default(),
        }
    }

    /// Adds a row; requests that are complete go to `take`.
    pub(super) fn add(
        &mut self,
        row: Result<Row, Unusable>,
        line: u64,
        shown: &str,
        take: &mut impl FnMut(Request),
    ) {
        let shown_row = |row: &Row| match shown.is_empty() {
            true => {
                format!("request {} at {}", row.request, row.target.as_deref().unwrap_or("nowhere"))
            }
            false => shown.to_owned(),
        };
        let result = row.map_err(|why| (why, shown.to_owned())).and_then(|row| {
            self.usable(&row).map_err(|why| (why, shown_row(&row)))?;
            Ok(row)
        });
        match result {
            Ok(row) => {
                self.rows += 1;
                self.sent = row.sent_us.map(|at| Span::with(self.sent, at)).or(self.sent);
                if let (Some(sent), Some(ended)) = (row.sent_us, row.ended_us) {
                    self.took.take(ended - sent);
                }
                self.put(row, line, take);
            }
            Err((why, shown)) => self.unusable.add(why, line, &shown),
        }
    }

    /// Hands on what is still open.
    pub(super) fn finish(mut self, take: &mut impl FnMut(Request)) -> Grouped {
        while let Some((_, id)) = self.order.pop_front() {
            self.close(id, take);
        }
        let Grouper { names, unusable, several, after_answer, nested, sent, took, .. } = self;
        Grouped { names: names.names, unusable, several, after_answer, nested, sent, took }
    }

    fn usable(&mut self, row: &Row) -> Result<(), Unusable> {
        if *self.run.get_or_insert_with(|| row.run.clone()) != row.run {
            return Err(Unusable::AnotherRun);
        }
        let times = [
            row.arrived_us,
            row.sent_us,
            row.headers_us,
            row.first_us,
            row.ended_us,
            row.closed_us,
        ];
        for time in times.into_iter().flatten() {
            if time > LATEST_US {
                return Err(Unusable::TooLate);
            }
            if self.first_us.get_or_insert(time).abs_diff(time) > LONGEST_US {
                return Err(Unusable::FarAway);
            }
        }
        if [row.input, row.cached, row.output].into_iter().flatten().any(|n| n > MOST_TOKENS) {
            return Err(Unusable::TooManyTokens);
        }
        let id = NameHash::of(&row.request).as_u64();
        let seen =
            self.open.get(&id).map_or(0, |open| open.request.attempts.len() + open.whole.len());
        if seen >= MOST_TRIES as usize || row.tries.is_some_and(|tries| tries > MOST_TRIES) {
            return Err(Unusable::TooManyAttempts);
        }
        match (row.sent_us, row.ended_us) {
            (Some(sent), Some(ended)) if ended < sent => return Err(Unusable::EndsBeforeItBegins),
            _ => self.names.can_hold(row)?,
        }
        if self.adjacent {
            return match self.before.replace(id) == Some(id) {
                true if self.open.contains_key(&id) => Ok(()),
                true => Err(self.closed.why()),
                false => self.closed.see(row),
            };
        }
        match self.seen.insert(likeness_of(row)) {
            true => Ok(()),
            false => Err(Unusable::Repeated),
        }
    }

    fn put(&mut self, row: Row, line: u64, take: &mut impl FnMut(Request)) {
        let id = NameHash::of(&row.request).as_u64();
        if !self.open.contains_key(&id) {
            while let Some(&(row, old)) = self.order.front() {
                if !self.adjacent && row + MEMORY >= self.rows {
                    break;
                }
                self.order.pop_front();
                self.close(old, take);
            }
            let open = self.open(id, line, &row);
            self.open.insert(id, open);
            self.order.push_back((self.rows, id));
        }
        let attempt = row.target.as_ref().map(|_| self.attempt(&row));
        let open = self.open.get_mut(&id).expect("it was opened just now");
        let request = &mut open.request;
        request.arrived_us =
            request.arrived_us.min(row.arrived_us.or(row.sent_us).unwrap_or(u64::MAX));
        request.closed_us = request.closed_us.max(row.closed_us.or(row.ended_us).unwrap_or(0));
        if let Some(end) = row.end {
            let told = if row.of_request { &mut open.whole_told } else { &mut open.told };
            // Of a request that failed, one row may know better how.
            if told.is_none_or(|told| told == End::Failed) {
                *told = Some(end);
            }
        }
        if let (Some(sent), Some(hint)) = (row.sent_us, row.hint_before_us) {
            open.hints.push((sent, hint));
        }
        request.resent |= row.resent == Some(true);
        request.tries = request.tries.max(row.tries);
        let attempts = if row.of_request { &mut open.whole } else { &mut request.attempts };
        attempts.extend(attempt);
    }

    fn open(&mut self, id: u64, line: u64, row: &Row) -> Open {
        let action = row.action.as_ref().map(|action| NameHash::of(action).as_u64());
        let seen = action.is_some_and(|action| !self.actions.is_new(action));
        let deadline_us = match (row.remaining_us, row.arrived_us, row.sent_us) {
            (Some(left), Some(arrived), Some(sent)) => {
                Some(left.saturating_add(sent.saturating_sub(arrived)))
            }
            _ => None,
        };
        Open {
            line,
            request: Request {
                id,
                action,
                resent: row.resent.unwrap_or(seen),
                class: self.names.class(row),
                arrived_us: u64::MAX,
                closed_us: 0,
                deadline_us,
                limits_us: row.limits_us,
                measured: row.measured.unwrap_or(true),
                end: End::Failed,
                tries: None,
                attempts: Vec::new(),
            },
            likeness: row.likeness.as_ref().map(|likeness| NameHash::of(likeness).as_u64()),
            whole: Vec::new(),
            whole_told: None,
            told: None,
            hints: Vec::new(),
        }
    }

    fn attempt(&mut self, row: &Row) -> Attempt {
        let sent_us = row.sent_us.unwrap_or(0);
        let failure = row.failure.or(row.failed.then_some(FailureClass::Unknown));
        let phase = row.phase.unwrap_or(match (row.headers_us, row.first_us, failure) {
            (_, _, None) | (_, Some(_), _) => Phase::AfterOutput,
            (Some(_), None, _) => Phase::BeforeOutput,
            (None, None, _) => Phase::BeforeHeaders,
        });
        let within = |at: Option<u64>| at.filter(|&at| at >= sent_us);
        Attempt {
            target: self.names.target(row),
            group: row.group,
            substituted: row.substituted,
            sent_us,
            headers_us: within(row.headers_us),
            first_us: within(row.first_us),
            ended_us: row.ended_us.unwrap_or(sent_us),
            status: row.status.unwrap_or(0),
            failure,
            phase,
            cancelled: row.cancelled,
            was_sent: !row.not_sent,
            hint_us: row.hint_us,
            input: row.input.unwrap_or(0),
            cached: row.cached.unwrap_or(0),
            output: row.output.unwrap_or(0),
            cost_pico: row.cost_pico,
        }
    }

    fn close(&mut self, id: u64, take: &mut impl FnMut(Request)) {
        let Some(open) = self.open.remove(&id) else { return };
        let Open { mut request, line, likeness, whole, whole_told, told, hints } = open;
        let both = !whole.is_empty() && !request.attempts.is_empty();
        if !both {
            request.attempts.extend(whole);
            self.nested.see(&request.attempts);
        }
        request.attempts.sort_by_key(|attempt| (attempt.sent_us, attempt.ended_us));
        for (sent, hint) in hints {
            // The hint waited for is that of the attempt before.
            let next = request.attempts.partition_point(|attempt| attempt.sent_us < sent);
            if let Some(before) = next.checked_sub(1).map(|i| &mut request.attempts[i]) {
                before.hint_us = Some(hint);
            }
        }
        request.end = whole_told.or(told).unwrap_or_else(|| end_of(&request.attempts));
        request.arrived_us = request.arrived_us.min(request.closed_us);
        self.several |= both || request.attempts.len() > 1;
        self.after_answer.see(&request.attempts, line);
        if let (None, Some(likeness)) = (request.action, likeness) {
            self.failed.see(&mut request, likeness);
        }
        take(request);
    }
}

/// How a request ended whose log does not say.
fn end_of(attempts: &[Attempt]) -> End {
    if attempts.iter().any(|attempt| attempt.failure.is_none() && !attempt.cancelled) {
        return End::Answered;
    }
    match attempts.last().and_then(|last| last.failure) {
        Some(FailureClass::Refusal | FailureClass::ContentPolicy) => End::Refused,
        Some(FailureClass::CallerCancelled) => End::Cancelled,
        Some(FailureClass::ClientInvalid) => End::Invalid,
        _ => End::Failed,
    }
}

/// Actions met lately.
#[derive(Default)]
struct Actions {
    known: BTreeSet<u64>,
    order: VecDeque<u64>,
}

impl Actions {
    fn is_new(&mut self, action: u64) -> bool {
        let new = self.known.insert(action);
        if new {
            self.order.push_back(action);
            if self.order.len() as u64 > MEMORY
                && let Some(oldest) = self.order.pop_front()
            {
                self.known.remove(&oldest);
            }
        }
        new
    }
}
