//! What is kept of one target: counts by minute, times by block, and sums over the whole log.

use std::collections::BTreeMap;

use windtunnel_policy::outcome::{FailureClass, Phase};

use super::bills::Bill;
use super::blocks::Blocks;
use super::cells::Cells;
use super::evidence::MINUTE_US;
use super::limits::Hints;
use super::load;
use super::regression::Moments;
use super::sends::Refused;
use crate::log::Attempt;

/// Kinds of failure kept apart at one target; further ones count as the last.
const MOST_KINDS: usize = 24;

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
    pub(super) blocks: Blocks,
    pub(super) hints: Hints,
    pub(super) totals: Totals,
    /// Between the output tokens of late, in ns.
    pace_ns: u64,
}

/// One minute at one target, by the sending of attempts.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Minute {
    /// First tries of requests here: the good ones, then those of each kind of failure.
    pub(super) outcomes: Vec<u64>,
    /// Of those, later tries, which counters do not tell from first ones: as many as there are more of them
    /// than requests.
    pub(super) later: u64,
    /// Times to the first output: how many, the sum of their logarithms, and of the squares.
    pub(super) times: [f64; 3],
    /// Second attempts right after the first of their request failed here, and how many failed again.
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

/// Sums over the whole log at one target.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Totals {
    pub(super) attempts: u64,
    /// Bill (dollars) against fresh input, cached input and output tokens.
    pub(super) bill: Moments<3>,
    /// Bills that are not in it, and the first of them.
    pub(super) absurd_bills: Option<(usize, Bill)>,
    /// Prompts by octave: how many, and the sum of their tokens.
    pub(super) prompts: BTreeMap<u8, [f64; 2]>,
    /// Attempts whose first output was seen before their end.
    pub(super) seen_coming: u64,
    /// Failures that came back within a millisecond.
    pub(super) instant: u64,
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

/// No answer is taken to be longer.
const MOST_TOKENS: u32 = 1 << 20;

/// A failure of the target rather than of the request or its caller, that has a kind. What is given up
/// while its output comes has met a limit on the whole: times and speed say how often that happens.
pub(super) fn is_the_targets(attempt: &Attempt) -> bool {
    use FailureClass::{
        CallerCancelled, ClientInvalid, ContentPolicy, ContextOverflow, ContractFailure,
        DeadlineExhausted, GatewayDenied, NoEligibleTarget, PartialStream, Refusal, Timeout,
    };
    let cut = attempt.failure == Some(Timeout) && is_cut_coming(attempt);
    !cut && attempt.failure.is_some_and(|class| {
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

/// Whether it is an answer, whole.
pub(super) fn is_complete(attempt: &Attempt) -> bool {
    attempt.failure.is_none() && !attempt.cancelled
}

/// Whether it was given up while its output came.
pub(super) fn is_cut_coming(attempt: &Attempt) -> bool {
    attempt.cancelled && attempt.phase == Phase::AfterOutput
}

/// Of the paces seen, the mean weighs the last this many most.
const PACES: u64 = 32;

impl AtTarget {
    /// Output tokens that had come of an attempt that was cut: as it says, or by the pace of answers of late.
    pub(super) fn came(&self, attempt: &Attempt) -> u32 {
        let coming = attempt.ended_us.saturating_sub(attempt.first_us.unwrap_or(attempt.ended_us));
        let by_pace = match (attempt.output, self.pace_ns) {
            (0, 1..) => coming.saturating_mul(1_000) / self.pace_ns,
            (told, _) => told.into(),
        };
        u32::try_from(by_pace).unwrap_or(u32::MAX).min(MOST_TOKENS)
    }

    /// Takes the last of several attempts whose others are known by their number alone: they failed, are
    /// taken for server errors here, and their times are in that of the last.
    pub(super) fn take_last(&mut self, attempt: &Attempt, unseen: u64, demand: bool) {
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
        // The second of them.
        minute.again[0] += 1;
        minute.again[1] += if unseen > 1 { 1 } else { failed };
        minute.let_in[0] += unseen;
        self.totals.attempts += unseen;
    }

    /// Takes an attempt, which may come `again`, the second right after the first failed here; one that is not `timed`
    /// tells nothing of times. What it tells of failures, as a
    /// first try: good, or one more than the position of its kind.
    pub(super) fn take(
        &mut self,
        attempt: &Attempt,
        anew: bool,
        again: Option<&Attempt>,
        timed: bool,
    ) -> Option<u8> {
        let took = attempt.ended_us - attempt.sent_us;
        let of_target = is_the_targets(attempt);
        let complete = is_complete(attempt);
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
        let block = self.blocks.at(attempt.sent_us / MINUTE_US);
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
            let deadline = Some(FailureClass::DeadlineExhausted);
            block.cut_short += u64::from(attempt.failure == deadline);
        }
        if let Some(headers) = attempt.headers_us {
            block.headers.add(headers - attempt.sent_us);
        }
        // Of answers that were cut, too, where it is told how far they came: were they left out, the slow ones would be.
        if (complete || is_cut_coming(attempt))
            && attempt.output > 1
            && let Some(first) = attempt.first_us.filter(|&first| first < attempt.ended_us)
        {
            let span = (attempt.ended_us - first).saturating_mul(1_000);
            let pace = span / u64::from(attempt.output - 1);
            block.pace.add(pace);
            self.pace_ns = match self.pace_ns {
                0 => pace,
                lately => lately.saturating_mul(PACES - 1).saturating_add(pace) / PACES,
            };
        }
        if of_target && !attempt.cancelled && attempt.phase == Phase::BeforeHeaders {
            block.failing.add(took);
        }
        outcome
    }

    /// The same, but times of each minute as if nothing else had been in flight, where so many halve the speed.
    pub(super) fn without_load(&self, half_at: f64) -> AtTarget {
        let mut target = self.clone();
        for minute in target.minutes.values_mut() {
            // An attempt meets on average what is there at any time, and itself.
            let in_flight = 1.0 + minute.busy_us as f64 / MINUTE_US as f64;
            let log = libm::log(load::slower(in_flight, half_at));
            let [count, sum, _] = minute.times;
            minute.times[1] -= count * log;
            minute.times[2] += count * log * log - 2.0 * log * sum;
        }
        target
    }

    /// The same with the times of another target in place of its own.
    pub(super) fn with_times_of(&self, other: &AtTarget) -> AtTarget {
        let mut target = self.clone();
        target.blocks = other.blocks.clone();
        target.totals.prompts.clone_from(&other.totals.prompts);
        target.minutes.values_mut().for_each(|minute| minute.times = [0.0; 3]);
        target
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
        self.seen_coming +=
            u64::from(attempt.first_us.is_some_and(|first| first < attempt.ended_us));
        self.instant += u64::from(of_target && attempt.ended_us - attempt.sent_us < 1_000);
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
            if broken {
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
pub(super) fn first_output(attempt: &Attempt) -> Option<u64> {
    let whole = attempt.failure.is_none() && !attempt.cancelled && attempt.first_us.is_none();
    let first = attempt.first_us.or(whole.then_some(attempt.ended_us))?;
    Some(first - attempt.sent_us)
}

/// The octave of a length; 0 where it is not known.
pub(super) fn octave(length: u32) -> u8 {
    (u32::BITS - length.leading_zeros()) as u8
}
