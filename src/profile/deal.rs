//! From a profile's minute to requests.

use std::ops::Range;

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::Minute;
use crate::draw::below;

const SECOND_US: u64 = 1_000_000;

/// One request as a profile gives it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dealt {
    /// Arrival in µs from the first of the seconds dealt.
    pub at_us: u64,
    /// Prompt tokens.
    pub input: u32,
    /// Output tokens.
    pub output: u32,
}

impl Minute {
    /// The requests of these seconds of the minute, sorted by time.
    ///
    /// Each second gets its exact count, at times that are uniform within it; the minute's prompt
    /// and answer lengths are dealt out in random order, each list by itself. The number of draws
    /// does not depend on `seconds` but for the times.
    pub fn deal(&self, seconds: Range<usize>, draws: &mut ChaCha8Rng) -> Vec<Dealt> {
        let mut input = self.input.clone();
        let mut output = self.output.clone();
        shuffle(&mut input, draws);
        shuffle(&mut output, draws);
        let mut lengths = input.into_iter().zip(output);
        let mut dealt = Vec::with_capacity(self.input.len());
        let mut times = Vec::new();
        for (second, &count) in (0_u64..).zip(&self.counts[seconds]) {
            times.clear();
            times.extend(
                (0..count).map(|_| second * SECOND_US + below(draws.next_u64(), SECOND_US)),
            );
            times.sort_unstable();
            // The lengths go last in the zip, or one would be taken and lost at each second's end.
            dealt.extend(times.iter().zip(&mut lengths).map(|(&at_us, (input, output))| Dealt {
                at_us,
                input,
                output,
            }));
        }
        dealt
    }
}

/// Fisher and Yates.
fn shuffle(values: &mut [u32], draws: &mut ChaCha8Rng) {
    for i in (1..values.len()).rev() {
        values.swap(i, below(draws.next_u64(), i as u64 + 1) as usize);
    }
}
