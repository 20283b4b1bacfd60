//! Every attempt at a target, one by one, in sixteen bytes: what minutes are too coarse for.

use super::cells::{cell_of, least_of};

/// Bits of an attempt that hold its part; there are fewer parts.
const PART_BITS: u32 = 5;
/// Bits of a count of tokens; larger counts are cut.
const TOKEN_BITS: u32 = 24;
/// What is neither good nor a failure of the target, or no first try.
const LATER: u64 = 30;
/// The same, refused for its rate.
const LATER_REFUSED: u64 = 31;

/// Attempts, ascending by the time they were sent once [`Sends::sort`] was called.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Sends(Vec<[u64; 2]>);

/// One attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sent {
    /// When it was sent, µs.
    pub(super) at_us: u64,
    /// How long it took, µs, to a sixtieth.
    pub(super) took_us: u64,
    /// Of a first try: 0 where it was good, else one more than the position of its kind of failure.
    pub(super) outcome: Option<u8>,
    /// It was refused for its rate.
    pub(super) refused: bool,
    /// Tokens its request asks with, whether they are known, and those it got.
    pub(super) input: u32,
    pub(super) known: bool,
    pub(super) output: u32,
}

impl Sends {
    pub(super) fn add(&mut self, send: &Sent) {
        let part = match (send.outcome, send.refused) {
            (Some(outcome), _) => u64::from(outcome),
            (None, false) => LATER,
            (None, true) => LATER_REFUSED,
        };
        let tokens = |count: u32| u64::from(count.min((1 << TOKEN_BITS) - 1));
        let rest = tokens(send.input) << TOKEN_BITS | tokens(send.output);
        let took = u64::from(cell_of(send.took_us));
        self.0.push([send.at_us << PART_BITS | part, took << (2 * TOKEN_BITS) | rest]);
    }

    pub(super) fn sort(&mut self) {
        self.0.sort_unstable();
        self.0.shrink_to_fit();
    }

    /// The attempts; those of first tries that failed in one of these kinds were refused for their rate.
    pub(super) fn iter(&self, refusals: Vec<bool>) -> impl Iterator<Item = Sent> {
        self.0.iter().map(move |&[when, what]| {
            let part = when & ((1 << PART_BITS) - 1);
            let outcome = (part < LATER).then_some(part as u8);
            let kind = outcome.and_then(|outcome| outcome.checked_sub(1)).map(usize::from);
            let tokens = |shift: u32| (what >> shift) as u32 & ((1 << TOKEN_BITS) - 1);
            Sent {
                at_us: when >> PART_BITS,
                took_us: least_of((what >> (2 * TOKEN_BITS)) as u16),
                outcome,
                refused: part == LATER_REFUSED || kind.is_some_and(|kind| refusals[kind]),
                input: tokens(TOKEN_BITS),
                known: tokens(TOKEN_BITS) > 0,
                output: tokens(0),
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
            took_us: 1_000_000,
            outcome,
            refused,
            input: 2_000_000,
            known: true,
            output: 7,
        };
        let late = one(4_102_444_800_000_000, Some(24), false);
        let all = [late, one(70, None, true), one(5, Some(0), false), one(6, Some(2), true)];
        let mut sends = Sends::default();
        all.iter().for_each(|send| sends.add(send));
        sends.sort();
        let mut kinds = vec![false; 24];
        kinds[1] = true;
        let found: Vec<Sent> = sends.iter(kinds).collect();
        let same = |a: &Sent, b: &Sent| {
            let about = a.took_us.abs_diff(b.took_us) <= b.took_us / 60;
            about && Sent { took_us: b.took_us, ..*a } == *b
        };
        assert!(found.iter().zip([2, 3, 1, 0]).all(|(send, i)| same(send, &all[i])), "{found:?}");
    }
}
