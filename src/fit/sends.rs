//! Every attempt at a target, one by one: what minutes are too coarse for.

use windtunnel_policy::outcome::FailureClass;

use super::packed::Packed;

/// Bits of an attempt that hold its part; there are fewer parts.
const PART_BITS: u32 = 5;
/// What is neither good nor a failure of the target, or no first try; and the same, refused.
const LATER: u64 = 29;
const LATER_OVERLOADED: u64 = 30;
const LATER_LIMITED: u64 = 31;

/// Attempts by the time they were sent, which they are read in once [`Sends::finish`] was called: that time
/// and their part, how long they took (ms), tokens, and how long it took to the first output.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Sends(Packed<5, 4>);

/// Why a target let an attempt not in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// For its rate.
    Limited,
    /// For what the target had to do already.
    Overloaded,
}

impl Refused {
    /// The reason that a class of failures stands for.
    pub(super) fn of(class: Option<FailureClass>) -> Option<Refused> {
        match class {
            Some(FailureClass::RateLimited) => Some(Refused::Limited),
            Some(FailureClass::Overloaded) => Some(Refused::Overloaded),
            _ => None,
        }
    }
}

/// One attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sent {
    /// When it was sent, µs.
    pub(super) at_us: u64,
    /// How long it took, µs, to the millisecond.
    pub(super) took_us: u64,
    /// Of a first try: 0 where it was good, else one more than the position of its kind of failure.
    pub(super) outcome: Option<u8>,
    /// Why it was refused, if it was.
    pub(super) refused: Option<Refused>,
    /// Tokens its request asks with, whether they are known, and those it got.
    pub(super) input: u32,
    pub(super) known: bool,
    pub(super) output: u32,
    /// From its sending to the first output, ms, where there was any.
    pub(super) first_ms: Option<u32>,
}

impl Sends {
    pub(super) fn add(&mut self, send: &Sent) {
        let part = match (send.outcome, send.refused) {
            (Some(outcome), _) => u64::from(outcome),
            (None, None) => LATER,
            (None, Some(Refused::Overloaded)) => LATER_OVERLOADED,
            (None, Some(Refused::Limited)) => LATER_LIMITED,
        };
        let took_ms = (send.took_us + 500) / 1_000;
        let when = send.at_us << PART_BITS | part;
        let first = send.first_ms.map_or(0, |ms| u64::from(ms) + 1);
        self.0.add([when, took_ms, send.input.into(), send.output.into(), first]);
    }

    pub(super) fn finish(&mut self) {
        self.0.finish();
    }

    /// The attempts, given what each kind of failure is refused for.
    pub(super) fn iter(&self, refusals: Vec<Option<Refused>>) -> impl Iterator<Item = Sent> {
        self.0.iter().map(move |[when, took_ms, input, output, first]| {
            let part = when & ((1 << PART_BITS) - 1);
            let outcome = (part < LATER).then_some(part as u8);
            let kind = outcome.and_then(|outcome| outcome.checked_sub(1)).map(usize::from);
            Sent {
                at_us: when >> PART_BITS,
                took_us: took_ms * 1_000,
                outcome,
                refused: match part {
                    LATER_OVERLOADED => Some(Refused::Overloaded),
                    LATER_LIMITED => Some(Refused::Limited),
                    _ => kind.and_then(|kind| refusals[kind]),
                },
                input: input as u32,
                known: input > 0,
                output: output as u32,
                first_ms: first.checked_sub(1).map(|ms| ms as u32),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_kept_in_the_order_they_were_sent() {
        let one = |at_us, outcome, refused| Sent {
            at_us,
            took_us: 16_000_000_000,
            outcome,
            refused,
            input: 1_000_000,
            known: true,
            output: 7,
            first_ms: outcome.filter(|of| *of == 0).map(|_| 300),
        };
        let limited = Some(Refused::Limited);
        let all = [
            one(4_102_444_800_000_000, Some(24), None),
            one(70, None, limited),
            one(5, Some(0), None),
            one(6, Some(2), Some(Refused::Overloaded)),
        ];
        let mut sends = Sends::default();
        all.iter().for_each(|send| sends.add(send));
        sends.finish();
        let mut kinds = vec![None; 24];
        kinds[1] = Some(Refused::Overloaded);
        let found: Vec<Sent> = sends.iter(kinds).collect();
        assert_eq!(found, [all[2], all[3], all[1], all[0]]);
    }
}
