//! One limit, replayed over attempts as they were.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::evidence::MINUTE_US;
use super::super::sends::{Refused, Sent};
use crate::scenario::{LimitUnit, Refill};

/// What a limit counts, over which time, and how it comes back.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Kind {
    pub(super) unit: LimitUnit,
    pub(super) window_us: u64,
    pub(super) refill: Refill,
    pub(super) charges_refused: bool,
    /// What callers allow to be answered, where that is charged with the prompt in place of the answer; else 0.
    pub(super) max_output: u32,
}

/// What callers are taken to allow, where a limit charges that: what people write.
const MAX_OUTPUTS: [u32; 10] = [256, 512, 1_000, 1_024, 2_000, 2_048, 4_000, 4_096, 8_192, 16_384];

/// What a limit says of attempts, held against what became of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Told {
    /// Attempts refused of which it is known what they asked for, and those of them that it refuses too.
    pub(super) refused: u64,
    pub(super) explained: u64,
    /// Attempts that it would have refused and that were let in.
    pub(super) mistaken: u64,
    /// Refusals with none in the window before them, and those of them that it refuses too.
    pub(super) began: u64,
    pub(super) began_explained: u64,
}

impl Told {
    /// Attempts of which it says the wrong thing.
    pub(super) fn errors(&self) -> u64 {
        self.refused - self.explained + self.mistaken
    }
}

impl Kind {
    /// Places at one time.
    pub(super) const PLACES: Kind = Kind {
        unit: LimitUnit::Concurrency,
        window_us: MINUTE_US,
        refill: Refill::Continuous,
        charges_refused: false,
        max_output: 0,
    };

    /// What an attempt is refused for that such a limit lets not in.
    pub(super) fn refuses_for(&self) -> Refused {
        match self.unit {
            LimitUnit::Concurrency => Refused::Overloaded,
            _ => Refused::Limited,
        }
    }

    /// Whether it was refused for that.
    pub(super) fn refused(&self, send: &Sent) -> bool {
        send.refused == Some(self.refuses_for())
    }

    /// Limits on rates that are looked for, the commonest first.
    pub(super) fn rates() -> impl Iterator<Item = Kind> + Clone {
        const UNITS: [LimitUnit; 3] =
            [LimitUnit::Requests, LimitUnit::InputTokens, LimitUnit::TotalTokens];
        const WINDOWS: [u64; 3] = [60_000_000, 10_000_000, 1_000_000];
        let of = |charges_refused, window_us, refill| {
            UNITS.map(|unit| Kind { unit, window_us, refill, charges_refused, max_output: 0 })
        };
        let refills = [Refill::Continuous, Refill::Window];
        let of_used = [false, true].into_iter().flat_map(move |charges| {
            WINDOWS.into_iter().flat_map(move |window| {
                refills.into_iter().flat_map(move |refill| of(charges, window, refill))
            })
        });
        // Those that charge what is allowed are told by the minute.
        let by_minute =
            [(false, Refill::Continuous), (true, Refill::Continuous), (false, Refill::Window)];
        let of_allowed = by_minute.into_iter().flat_map(|(charges_refused, refill)| {
            MAX_OUTPUTS.map(|max_output| Kind {
                unit: LimitUnit::TotalTokens,
                window_us: WINDOWS[0],
                refill,
                charges_refused,
                max_output,
            })
        });
        of_used.chain(of_allowed)
    }

    /// Whether no answer was longer than this limit takes callers to allow.
    pub(super) fn allows(&self, longest: u32) -> bool {
        self.max_output == 0 || self.max_output >= longest
    }

    /// What it charges for an answer once that is known.
    fn charged_later(&self, send: &Sent) -> u64 {
        match self.unit {
            LimitUnit::TotalTokens if self.max_output == 0 => send.output.into(),
            _ => 0,
        }
    }

    /// In words, behind a number.
    pub(super) fn words(&self) -> String {
        if self.unit == LimitUnit::Concurrency {
            return "at one time".into();
        }
        let unit = match self.unit {
            LimitUnit::Requests => "requests",
            LimitUnit::InputTokens => "input tokens",
            _ => "tokens",
        };
        format!(
            "{unit}{} in {} s, {}{}",
            match self.max_output {
                0 => String::new(),
                most => format!(" of prompts and {most} each that callers allow"),
            },
            self.window_us / 1_000_000,
            match self.refill {
                Refill::Continuous => "coming back continuously",
                Refill::Window => "all at once at each window's start",
            },
            if self.charges_refused { ", refused ones counted" } else { "" }
        )
    }

    /// What an attempt asks for when it comes.
    fn asked(&self, send: &Sent) -> u64 {
        match self.unit {
            LimitUnit::Requests | LimitUnit::Concurrency => 1,
            _ => u64::from(send.input) + u64::from(self.max_output),
        }
    }

    /// The most that was let in within one window.
    pub(super) fn most_let_in(&self, sends: &[Sent]) -> u64 {
        let in_window = sends.chunk_by(|a, b| a.at_us / self.window_us == b.at_us / self.window_us);
        let sum = |window: &[Sent]| -> u64 {
            let let_in = window.iter().filter(|send| !self.refused(send));
            let_in.map(|send| self.asked(send) + self.charged_later(send)).sum()
        };
        in_window.map(sum).max().unwrap_or(0)
    }
}

/// Replays a limit of this size; `see` gets each attempt, with the wait (µs) that the limit would name where
/// it would refuse it.
pub(super) fn replay(
    kind: Kind,
    limit: u64,
    sends: impl Iterator<Item = Sent>,
    mut see: impl FnMut(&Sent, Option<u64>),
) -> Told {
    let size = limit as f64;
    let window = kind.window_us as f64;
    let mut told = Told::default();
    let back = |taken: f64, from: u64, to: u64| match kind.refill {
        _ if kind.unit == LimitUnit::Concurrency => taken,
        Refill::Continuous => f64::max(taken - (to - from) as f64 * size / window, 0.0),
        Refill::Window if from / kind.window_us != to / kind.window_us => 0.0,
        Refill::Window => taken,
    };
    let (mut taken, mut at, mut refused_at) = (0.0, 0, None);
    // What is taken, or comes back, at the end of an attempt.
    let mut later: BinaryHeap<Reverse<(u64, i64)>> = BinaryHeap::new();
    for send in sends {
        while let Some(&Reverse((ends, more))) = later.peek().filter(|of| of.0.0 <= send.at_us) {
            later.pop();
            taken = back(taken, at, ends) + more as f64;
            at = ends;
        }
        taken = back(taken, at, send.at_us);
        at = send.at_us;
        if kind.unit == LimitUnit::Concurrency && !kind.refused(&send) && send.outcome > Some(0) {
            // What fails otherwise mostly does so at the door.
            continue;
        }
        let asked = kind.asked(&send);
        let over = taken + asked as f64 - size;
        let wait = (over > 0.0).then(|| match kind.refill {
            Refill::Continuous => libm::ceil(over * window / size) as u64,
            Refill::Window => kind.window_us - at % kind.window_us,
        });
        see(&send, wait);
        if !kind.refused(&send) {
            taken += asked as f64;
            let more = match kind.unit {
                LimitUnit::Concurrency => -1,
                _ => kind.charged_later(&send) as i64,
            };
            if more != 0 {
                later.push(Reverse((at + send.took_us, more)));
            }
            told.mistaken += u64::from(wait.is_some());
            continue;
        }
        if kind.charges_refused {
            taken = f64::max(taken, f64::min(taken + asked as f64, size));
        }
        if !send.known && !matches!(kind.unit, LimitUnit::Requests | LimitUnit::Concurrency) {
            continue;
        }
        told.refused += 1;
        told.explained += u64::from(wait.is_some());
        let begins = refused_at.is_none_or(|before| at - before > kind.window_us.max(MINUTE_US));
        told.began += u64::from(begins);
        told.began_explained += u64::from(begins && wait.is_some());
        refused_at = Some(at);
    }
    told
}
