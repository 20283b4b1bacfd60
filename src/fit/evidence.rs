//! What is kept of a log: counts by minute and by block, sums for regressions, and in a few bytes each
//! request's demand and each attempt. Its size grows with the minutes the log covers and, slowly, with the
//! number of its rows.

use std::collections::BTreeMap;

use super::asks::{Ask, Asks};
use super::at_target::{AtTarget, first_output, is_complete, is_cut_coming, is_the_targets};
use super::bills::{Bill, Bills};
use super::blocks;
use super::cells::Cells;
use super::counted::FromCounters;
use super::deadlines::Times;
use super::lived::{Lived, answering};
use super::sends::{Refused, Sends, Sent};
use crate::log::{Attempt, End, Request};

/// A minute in µs.
pub(super) const MINUTE_US: u64 = 60_000_000;
/// Requests after which what grows with a log's length is looked at.
const LOOKS_AFTER: u64 = 1_024;

/// Everything a fit is made from.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Evidence {
    /// By position of the target in the log's names.
    pub(super) targets: Vec<AtTarget>,
    /// Every attempt, by position of the target in the log's names.
    pub(super) sends: Vec<Sends>,
    /// Bills of answers, by position of the target in the log's names.
    bills: Vec<Bills>,
    /// By position of the class in the log's names.
    pub(super) classes: Vec<AtClass>,
    /// What the log itself shows of the policy that was in force.
    pub(super) lived: Lived,
    /// Arrival of the earliest request, µs on the log's clock.
    pub(super) first_us: Option<u64>,
    /// Arrival of the first that counts.
    pub(super) first_measured_us: Option<u64>,
    /// Latest arrival.
    pub(super) last_us: u64,
    /// Requests.
    pub(super) requests: u64,
    /// Attempts.
    pub(super) attempts: u64,
    /// Requests that a layer above sent again.
    pub(super) resent: u64,
    /// Requests of which the log says how many attempts there were, and attempts that it does not show.
    pub(super) told_tries: u64,
    pub(super) unseen: u64,
    /// What was taken from counters.
    pub(super) counted: Option<FromCounters>,
}

/// What is kept of one route class.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct AtClass {
    pub(super) asks: Asks,
    /// By target: attempts, first attempts, sum of positions among the request's attempts, and
    /// attempts by group.
    pub(super) uses: BTreeMap<u16, Use>,
    pub(super) times: Times,
    pub(super) longest_us: u64,
    pub(super) refused: u64,
    pub(super) invalid: u64,
    pub(super) cancelled: Cells,
    pub(super) most_sends: u64,
    pub(super) substitutes: Vec<u16>,
}

/// How a class uses a target.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Use {
    pub(super) attempts: u64,
    pub(super) first: u64,
    pub(super) positions: u64,
    pub(super) groups: BTreeMap<u8, u64>,
}

impl Evidence {
    /// Nothing yet.
    pub fn new() -> Evidence {
        Evidence::default()
    }

    /// Requests taken.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Whether there is anything to make a world of: an attempt that was sent, and a request that was
    /// neither malformed nor sent again.
    pub fn has_attempts(&self) -> bool {
        self.targets.iter().any(|target| target.totals.attempts > 0)
            && self.classes.iter().any(|class| class.asks.len() > 0 && !class.uses.is_empty())
    }

    /// Every attempt at the target in this position of the log's names, as far as they are known.
    pub(super) fn sends_of(&self, position: usize) -> impl Iterator<Item = Sent> {
        let target = &self.targets[position];
        let refusals: Vec<Option<Refused>> =
            target.kinds.iter().map(|kind| Refused::of(Some(kind.class))).collect();
        let prompts = target.totals.prompts.values();
        let (count, sum) = prompts.fold((0.0, 0.0), |(n, s), [count, sum]| (n + count, s + sum));
        // What was refused everywhere has no bill that would tell its prompt.
        let usual = libm::round(sum / f64::max(count, 1.0)) as u32;
        let sends = self.sends.get(position).into_iter();
        sends.flat_map(move |sends| sends.iter(refusals.clone())).map(move |send| match send {
            Sent { refused: Some(_), known: false, .. } => Sent { input: usual, ..send },
            _ => send,
        })
    }

    /// When each request came that is demand, µs, in no order.
    pub(super) fn arrivals(&self) -> Vec<u64> {
        let all = self.classes.iter().map(|class| class.asks.len()).sum::<u64>();
        let mut arrivals = Vec::with_capacity(all as usize);
        for class in &self.classes {
            arrivals.extend(class.asks.iter().map(|ask| ask.at_us));
        }
        arrivals
    }

    /// Takes a request.
    pub fn take(&mut self, request: &Request) {
        self.requests += 1;
        self.attempts += request.attempts.len() as u64;
        self.resent += u64::from(request.resent);
        let at = request.arrived_us;
        self.first_us = Some(self.first_us.map_or(at, |first| first.min(at)));
        self.last_us = self.last_us.max(at);
        if request.measured {
            self.first_measured_us = Some(self.first_measured_us.map_or(at, |first| first.min(at)));
        }
        let sent: Vec<&Attempt> =
            request.attempts.iter().filter(|attempt| attempt.was_sent).collect();
        for (i, attempt) in sent.iter().enumerate() {
            // What failed here before is more likely to fail again: only first tries show how many
            // fail, and only second ones how far that sticks.
            let tried = sent[..i].iter().filter(|b| b.target == attempt.target).count();
            let anew = !request.resent && tried == 0;
            let before = i.checked_sub(1).map(|i| sent[i]);
            let before = before.filter(|before| before.target == attempt.target);
            let again = before.filter(|before| is_the_targets(before));
            if let Some(bill) = bill(request, attempt) {
                entry(&mut self.bills, attempt.target).add(bill);
            }
            let at = entry(&mut self.targets, attempt.target);
            let unseen = request.tries.map_or(0, u64::from).saturating_sub(sent.len() as u64);
            if unseen > 0 {
                at.take_last(attempt, unseen, !request.resent);
                continue;
            }
            let outcome = at.take(attempt, anew, again.filter(|_| tried == 1), true);
            at.hints.take(attempt, again);
            // What was refused was not billed, and would have been as another attempt was.
            let input = request.attempts.iter().map(|attempt| attempt.input).max().unwrap_or(0);
            entry(&mut self.sends, attempt.target).add(&Sent {
                at_us: attempt.sent_us,
                took_us: attempt.ended_us - attempt.sent_us,
                outcome,
                refused: Refused::of(attempt.failure),
                input,
                known: input > 0,
                output: attempt.output,
                first_ms: first_output(attempt)
                    .map(|us| u32::try_from((us + 500) / 1_000).unwrap_or(u32::MAX)),
            });
        }
        self.told_tries += u64::from(request.tries.is_some());
        let tries = request.tries.map_or(0, u64::from);
        let unseen = tries.saturating_sub(sent.len() as u64);
        self.unseen += unseen;
        self.attempts += unseen;
        let cut = request.attempts.last().filter(|attempt| is_cut_coming(attempt));
        let came = cut.map(|attempt| self.targets[usize::from(attempt.target)].came(attempt));
        entry(&mut self.classes, request.class).take(request, came);
        self.lived.take(request);
        if self.requests.is_multiple_of(LOOKS_AFTER) {
            blocks::bound(&mut self.targets);
        }
    }

    /// Ends the reading.
    pub fn finish(&mut self) {
        self.classes.iter_mut().for_each(|class| class.asks.finish());
        self.sends.iter_mut().for_each(Sends::finish);
        self.targets.iter_mut().for_each(|target| target.hints.sort());
        self.lived.finish();
        for (target, bills) in self.targets.iter_mut().zip(std::mem::take(&mut self.bills)) {
            let (sums, absurd) = bills.settled();
            target.totals.bill = sums;
            let first = absurd.iter().min_by_key(|bill| bill.sent_us);
            target.totals.absurd_bills = first.map(|first| (absurd.len(), *first));
            absurd.iter().for_each(|bill| self.lived.without(bill));
        }
    }
}

/// The bill of an attempt that is a whole answer, where it and its tokens are told.
fn bill(request: &Request, attempt: &Attempt) -> Option<Bill> {
    let cost_pico = attempt.cost_pico.filter(|_| is_complete(attempt) && attempt.input > 0)?;
    let fresh = attempt.input.saturating_sub(attempt.cached);
    Some(Bill {
        cost_pico,
        tokens: [fresh, attempt.cached, attempt.output],
        sent_us: attempt.sent_us,
        arrived_us: request.arrived_us,
        target: attempt.target,
        class: request.class,
        counts: request.measured && request.end != End::Invalid,
        useful: answering(request).is_some_and(|answering| std::ptr::eq(answering, attempt)),
    })
}

/// The entry at a position, with all before it.
pub(super) fn entry<T: Default + Clone>(list: &mut Vec<T>, position: u16) -> &mut T {
    let position = usize::from(position);
    if list.len() <= position {
        list.resize(position + 1, T::default());
    }
    &mut list[position]
}

impl AtClass {
    /// Takes a request; of one that was cut while its output came, with the tokens that had come.
    fn take(&mut self, request: &Request, came: Option<u32>) {
        let took = request.closed_us - request.arrived_us;
        self.longest_us = self.longest_us.max(took);
        match request.end {
            End::Invalid => self.invalid += 1,
            End::Refused => self.refused += 1,
            End::Cancelled => self.cancelled.add(took),
            End::Answered | End::Failed => {}
        }
        self.times.take(request);
        for (position, attempt) in (0..).zip(&request.attempts) {
            let used = self.uses.entry(attempt.target).or_default();
            used.attempts += 1;
            used.first += u64::from(position == 0);
            used.positions += position;
            if let Some(group) = attempt.group {
                *used.groups.entry(group).or_default() += 1;
            }
            if attempt.substituted && !self.substitutes.contains(&attempt.target) {
                self.substitutes.push(attempt.target);
            }
        }
        // What nobody could answer, and what was sent again, is no demand of its own.
        if request.end != End::Invalid && !request.resent {
            let tokens =
                |of: fn(&Attempt) -> u32| request.attempts.iter().map(of).max().unwrap_or(0);
            let whole = request.end == End::Answered;
            let cut = request.end == End::Failed && came.is_some();
            let output = match whole {
                true => tokens(|attempt| attempt.output),
                false => came.filter(|_| cut).unwrap_or(0),
            };
            let input = tokens(|attempt| attempt.input);
            self.asks.add(Ask { at_us: request.arrived_us, input, output, cut });
        }
    }
}
