//! What is kept of a log: counts by minute and by block, sums for regressions, and each request's
//! demand. Its size grows with the time the log covers and the number of requests, not with what
//! they hold.

use std::collections::BTreeMap;

use windtunnel_policy::outcome::{FailureClass, Phase};

use super::cells::Cells;
use super::counted::FromCounters;
use super::limits::Hints;
use super::lived::Lived;
use super::regression::Moments;
use super::sends::{Refused, Sends, Sent};
use crate::log::{Attempt, End, Request};

/// A minute in µs.
pub(super) const MINUTE_US: u64 = 60_000_000;
/// Minutes of a block that a refit takes or leaves as a whole.
pub(super) const BLOCK: u64 = 5;
/// Kinds of failure kept apart at one target; further ones count as the last.
const MOST_KINDS: usize = 24;

/// Everything a fit is made from.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Evidence {
    /// By position of the target in the log's names.
    pub(super) targets: Vec<AtTarget>,
    /// Every attempt, by position of the target in the log's names.
    pub(super) sends: Vec<Sends>,
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

/// A kind of failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kind {
    pub(super) class: FailureClass,
    pub(super) status: u16,
    pub(super) phase: Phase,
    /// It was given up by the gateway before it said anything.
    pub(super) hang: bool,
}

/// What is kept of one target.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct AtTarget {
    pub(super) kinds: Vec<Kind>,
    /// By minute of the log's clock.
    pub(super) minutes: BTreeMap<u64, Minute>,
    /// By block of minutes.
    pub(super) blocks: BTreeMap<u64, Block>,
    pub(super) hints: Hints,
    pub(super) totals: Totals,
}

/// One minute at one target, by the sending of attempts.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Minute {
    /// First tries of requests here: the good ones, then those of each kind of failure.
    pub(super) outcomes: Vec<u64>,
    /// Times to the first output: how many, the sum of their logarithms, and of the squares.
    pub(super) times: [f64; 3],
    /// Attempts right after a failure of the same request here, and how many failed again.
    pub(super) again: [u64; 2],
    /// Of those, what came right after a refusal for its rate or was one, and the same for overload.
    pub(super) again_refused: [[u64; 2]; 2],
    /// Time attempts were in flight, µs.
    pub(super) busy_us: u64,
    /// Attempts and tokens that were let in, for limits.
    pub(super) let_in: [u64; 2],
    /// Attempts refused for their rate.
    pub(super) refused: u64,
    /// Complete answers that kept their contract, and those that broke it.
    pub(super) answers: [u64; 2],
}

/// Times in one block at one target.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Block {
    /// To the first output, by prompt length in octaves.
    pub(super) first: BTreeMap<u8, Cells>,
    /// The same (µs) against prompt tokens.
    pub(super) first_by_prompt: Moments<2>,
    /// Given up before the first output, after this long.
    pub(super) given_up: Cells,
    pub(super) headers: Cells,
    /// Nanoseconds per output token after the first.
    pub(super) pace: Cells,
    /// To failures before headers.
    pub(super) failing: Cells,
}

/// Sums over the whole log at one target.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Totals {
    pub(super) attempts: u64,
    /// Bill (dollars) against fresh input, cached input and output tokens.
    pub(super) bill: Moments<3>,
    /// Prompts by octave: how many, and the sum of their tokens.
    pub(super) prompts: BTreeMap<u8, [f64; 2]>,
    /// Failed before output: how many have a bill, and how many of them are billed.
    pub(super) failed_billed: [u64; 2],
    /// Broken off after output: the same.
    pub(super) broken_billed: [u64; 2],
    /// Streams that broke off, fell silent, and complete answers.
    pub(super) broken: u64,
    pub(super) silent: u64,
    pub(super) complete: u64,
    /// Complete answers of which the log says what they cost.
    pub(super) complete_billed: u64,
    pub(super) invalid: u64,
    /// Answers whose first output was seen before their end.
    pub(super) streamed: u64,
    pub(super) largest_input: u32,
    pub(super) largest_output: u32,
    /// Wait hints, ms.
    pub(super) hints: Cells,
    pub(super) whole_second_hints: u64,
    pub(super) cut: u64,
}

/// What is kept of one route class.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct AtClass {
    pub(super) asks: Vec<Ask>,
    /// By target: attempts, first attempts, sum of positions among the request's attempts, and
    /// attempts by group.
    pub(super) uses: BTreeMap<u16, Use>,
    pub(super) deadline_us: Option<u64>,
    /// An answer came after that deadline: it is one for the first output.
    pub(super) answered_after: bool,
    pub(super) longest_us: u64,
    pub(super) refused: u64,
    pub(super) invalid: u64,
    pub(super) cancelled: Cells,
    pub(super) stayed: Cells,
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

/// One request's demand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ask {
    pub(super) at_us: u64,
    /// Zero where the log does not say.
    pub(super) input: u32,
    /// Zero where the log does not say.
    pub(super) output: u32,
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
            && self.classes.iter().any(|class| !class.asks.is_empty() && !class.uses.is_empty())
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
            let anew = !request.resent && sent[..i].iter().all(|b| b.target != attempt.target);
            let before = i.checked_sub(1).map(|i| sent[i]);
            let before = before.filter(|before| before.target == attempt.target);
            let again = before.filter(|before| is_the_targets(before));
            let at = entry(&mut self.targets, attempt.target);
            let unseen = request.tries.map_or(0, u64::from).saturating_sub(sent.len() as u64);
            if unseen > 0 {
                at.take_last(attempt, unseen, !request.resent);
                continue;
            }
            let outcome = at.take(attempt, anew, again, true);
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
            });
        }
        self.told_tries += u64::from(request.tries.is_some());
        let tries = request.tries.map_or(0, u64::from);
        let unseen = tries.saturating_sub(sent.len() as u64);
        self.unseen += unseen;
        self.attempts += unseen;
        entry(&mut self.classes, request.class).take(request);
        self.lived.take(request);
    }

    /// Ends the reading.
    pub fn finish(&mut self) {
        for class in &mut self.classes {
            class.asks.sort_by_key(|ask| ask.at_us);
        }
        self.sends.iter_mut().for_each(Sends::sort);
        self.targets.iter_mut().for_each(|target| target.hints.sort());
        self.lived.finish();
    }
}

/// The entry at a position, with all before it.
pub(super) fn entry<T: Default + Clone>(list: &mut Vec<T>, position: u16) -> &mut T {
    let position = usize::from(position);
    if list.len() <= position {
        list.resize(position + 1, T::default());
    }
    &mut list[position]
}

/// A failure of the target rather than of the request or its caller, that has a kind.
fn is_the_targets(attempt: &Attempt) -> bool {
    use FailureClass::{
        CallerCancelled, ClientInvalid, ContentPolicy, ContextOverflow, ContractFailure,
        DeadlineExhausted, GatewayDenied, NoEligibleTarget, PartialStream, Refusal,
    };
    attempt.failure.is_some_and(|class| {
        !matches!(
            class,
            CallerCancelled
                | ClientInvalid
                | ContentPolicy
                | ContextOverflow
                | ContractFailure
                | DeadlineExhausted
                | GatewayDenied
                | NoEligibleTarget
                | PartialStream
                | Refusal
        )
    })
}

impl AtTarget {
    /// Takes the last of several attempts whose others are known by their number alone: they failed, are
    /// taken for server errors here, and their times are in that of the last.
    fn take_last(&mut self, attempt: &Attempt, unseen: u64, demand: bool) {
        self.take(attempt, false, None, false);
        let kind = Kind {
            class: FailureClass::ServerError,
            status: 500,
            phase: Phase::BeforeHeaders,
            hang: false,
        };
        let place = 1 + self.place_of(kind);
        let failed = u64::from(is_the_targets(attempt));
        let minute = self.minutes.entry(attempt.sent_us / MINUTE_US).or_default();
        if demand {
            let length = minute.outcomes.len().max(place + 1);
            minute.outcomes.resize(length, 0);
            minute.outcomes[place] += 1;
        }
        minute.again[0] += unseen;
        minute.again[1] += unseen - 1 + failed;
        minute.let_in[0] += unseen;
        self.totals.attempts += unseen;
    }

    /// Takes an attempt, which may come `again` right after one that failed here; one that is not `timed`
    /// tells nothing of times. What it tells of failures, as a
    /// first try: good, or one more than the position of its kind.
    fn take(
        &mut self,
        attempt: &Attempt,
        anew: bool,
        again: Option<&Attempt>,
        timed: bool,
    ) -> Option<u8> {
        let took = attempt.ended_us - attempt.sent_us;
        let of_target = is_the_targets(attempt);
        let complete = attempt.failure.is_none() && !attempt.cancelled;
        let good = complete
            // Output had begun, or was complete: as far as it came, it was good.
            || matches!(
                attempt.failure,
                Some(FailureClass::ContractFailure | FailureClass::PartialStream)
            );
        let outcome = match anew {
            true if good => Some(0),
            true if of_target => Some(1 + self.kind(attempt)),
            _ => None,
        };
        let minute = self.minutes.entry(attempt.sent_us / MINUTE_US).or_default();
        minute.busy_us = minute.busy_us.saturating_add(took);
        let broke = attempt.failure == Some(FailureClass::ContractFailure);
        minute.answers[0] += u64::from(complete);
        minute.answers[1] += u64::from(broke);
        if let Some(outcome) = outcome {
            let length = minute.outcomes.len().max(outcome + 1);
            minute.outcomes.resize(length, 0);
            minute.outcomes[outcome] += 1;
        }
        if let (Some(before), true) = (again, good || of_target) {
            let count = [1, u64::from(of_target)];
            let refused =
                |why| [before, attempt].iter().any(|a| Refused::of(a.failure) == Some(why));
            for (sum, count) in minute.again.iter_mut().zip(count) {
                *sum += count;
            }
            // Where it is both, it is taken for the first.
            let why = [Refused::Limited, Refused::Overloaded].into_iter().position(refused);
            if let Some(why) = why {
                let sums = &mut minute.again_refused[why];
                sums.iter_mut().zip(count).for_each(|(sum, count)| *sum += count);
            }
        }
        let outcome = outcome.and_then(|outcome| u8::try_from(outcome).ok());
        if attempt.is_refused() {
            minute.refused += 1;
        } else {
            minute.let_in[0] += 1;
            minute.let_in[1] += u64::from(attempt.input) + u64::from(attempt.output);
        }
        self.totals.take(attempt, complete, of_target);
        if !timed {
            return outcome;
        }
        let block = self.blocks.entry(attempt.sent_us / MINUTE_US / BLOCK).or_default();
        if let Some(first) = first_output(attempt) {
            let log = libm::log(first.max(1) as f64);
            minute.times[0] += 1.0;
            minute.times[1] += log;
            minute.times[2] += log * log;
            block.first.entry(octave(attempt.input)).or_default().add(first);
            if attempt.input > 0 {
                block.first_by_prompt.add([1.0, f64::from(attempt.input)], first as f64);
            }
        } else if attempt.cancelled && attempt.phase != Phase::AfterOutput {
            block.given_up.add(took);
        }
        if let Some(headers) = attempt.headers_us {
            block.headers.add(headers - attempt.sent_us);
        }
        if complete
            && attempt.output > 1
            && let Some(first) = attempt.first_us.filter(|&first| first < attempt.ended_us)
        {
            let span = (attempt.ended_us - first).saturating_mul(1_000);
            block.pace.add(span / u64::from(attempt.output - 1));
        }
        if of_target && !attempt.cancelled && attempt.phase == Phase::BeforeHeaders {
            block.failing.add(took);
        }
        outcome
    }

    /// The position of this attempt's kind of failure.
    fn kind(&mut self, attempt: &Attempt) -> usize {
        let hang = attempt.cancelled && attempt.phase != Phase::AfterOutput;
        let phase = if hang { Phase::BeforeHeaders } else { attempt.phase };
        let class = attempt.failure.unwrap_or(FailureClass::Unknown);
        self.place_of(Kind { class, status: attempt.status, phase, hang })
    }

    /// The position of a kind of failure.
    pub(super) fn place_of(&mut self, kind: Kind) -> usize {
        let known = self.kinds.iter().position(|known| *known == kind);
        match known {
            Some(known) => known,
            None if self.kinds.len() < MOST_KINDS => {
                self.kinds.push(kind);
                self.kinds.len() - 1
            }
            None => MOST_KINDS - 1,
        }
    }
}

impl Totals {
    fn take(&mut self, attempt: &Attempt, complete: bool, of_target: bool) {
        self.attempts += 1;
        self.complete += u64::from(complete);
        self.complete_billed += u64::from(complete && attempt.cost_pico.is_some());
        self.invalid += u64::from(attempt.failure == Some(FailureClass::ContractFailure));
        let broken = attempt.failure == Some(FailureClass::PartialStream);
        self.broken += u64::from(broken && !attempt.cancelled);
        self.silent += u64::from(broken && attempt.cancelled);
        self.cut += u64::from(attempt.cancelled && attempt.failure.is_none());
        self.largest_input = self.largest_input.max(attempt.input);
        self.largest_output = self.largest_output.max(attempt.output);
        if complete {
            let streamed = attempt.first_us.is_some_and(|first| first < attempt.ended_us);
            self.streamed += u64::from(streamed || attempt.output <= 1);
        }
        if attempt.input > 0 {
            let [count, sum] = self.prompts.entry(octave(attempt.input)).or_default();
            *count += 1.0;
            *sum += f64::from(attempt.input);
        }
        if let Some(cost) = attempt.cost_pico {
            let billed = u64::from(cost > 0);
            if complete && attempt.input > 0 {
                let fresh = attempt.input.saturating_sub(attempt.cached);
                let tokens = [fresh, attempt.cached, attempt.output].map(f64::from);
                self.bill.add(tokens, cost as f64 / 1e12);
            } else if broken {
                self.broken_billed[0] += 1;
                self.broken_billed[1] += billed;
            } else if of_target && !attempt.cancelled {
                self.failed_billed[0] += 1;
                self.failed_billed[1] += billed;
            }
        }
        if let Some(hint) = attempt.hint_us {
            self.hints.add(hint / 1_000);
            self.whole_second_hints += u64::from(hint.is_multiple_of(1_000_000));
        }
    }
}

/// From the send to the first output; of an answer whose first output nobody saw, to its end.
fn first_output(attempt: &Attempt) -> Option<u64> {
    let whole = attempt.failure.is_none() && !attempt.cancelled && attempt.first_us.is_none();
    let first = attempt.first_us.or(whole.then_some(attempt.ended_us))?;
    Some(first - attempt.sent_us)
}

/// The octave of a length; 0 where it is not known.
pub(super) fn octave(length: u32) -> u8 {
    (u32::BITS - length.leading_zeros()) as u8
}

impl AtClass {
    fn take(&mut self, request: &Request) {
        let took = request.closed_us - request.arrived_us;
        self.longest_us = self.longest_us.max(took);
        match request.end {
            End::Invalid => self.invalid += 1,
            End::Refused => self.refused += 1,
            End::Cancelled => self.cancelled.add(took),
            End::Answered | End::Failed => {}
        }
        if request.end != End::Cancelled {
            self.stayed.add(took);
        }
        if let Some(deadline) = request.deadline_us {
            self.deadline_us = self.deadline_us.max(Some(deadline));
            self.answered_after |= request.end == End::Answered && took > deadline + 1_000;
        }
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
            let output = if whole { tokens(|attempt| attempt.output) } else { 0 };
            let input = tokens(|attempt| attempt.input);
            self.asks.push(Ask { at_us: request.arrived_us, input, output });
        }
    }
}
