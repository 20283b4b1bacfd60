//! How long an answer takes by the card of its target.

use super::LatencyModel;
use crate::dist::Dist;
use crate::draw::{Key, NameHash, Purpose};

/// No answer needs more work than this (12 days at full speed), so that work fits 64 bits.
pub(crate) const MOST_WORK: u64 = 1 << 40;

/// The try whose luck is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Try {
    /// Of this request …
    pub request: Key,
    /// … at this target …
    pub target: NameHash,
    /// … the first (0), the second (1), …
    pub nth: u32,
}

/// The course of an answer that meets no failure, in µs of work from its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Times {
    /// To its headers; zero where they were not asked for and decide nothing.
    pub headers: u64,
    /// To its first token.
    pub output: u64,
    /// For each token after the first.
    pub pace: u64,
    /// To its end.
    pub end: u64,
}

impl LatencyModel {
    /// Its distributions.
    pub(crate) fn dists_mut(&mut self) -> impl Iterator<Item = &mut Dist> {
        let LatencyModel { headers, chunk, first_token, per_output_token, failure, .. } = self;
        [headers, first_token, per_output_token, failure].into_iter().chain(chunk)
    }

    /// From the start to a first chunk without content, of an answer with these times, which has its
    /// headers; `None` where it comes with the first token.
    pub(crate) fn chunk(&self, luck: Try, times: &Times) -> Option<u64> {
        let draw = || luck.request.draw2(Purpose::HeadersLatency, luck.target, luck.nth).1;
        let after = self.chunk.as_ref()?.value(draw);
        let at = times.headers.saturating_add(after);
        (at < times.output).then_some(at)
    }

    /// The times of an answer of so many output tokens to a prompt of so many input tokens; the
    /// headers are drawn only where they are `seen`.
    #[inline(always)]
    pub fn times(&self, luck: Try, input: u32, output: u32, seen: bool) -> Times {
        let draws = |purpose| luck.request.draw2(purpose, luck.target, luck.nth);
        let (to_first, to_others) =
            match self.first_token.is_constant() && self.per_output_token.is_constant() {
                true => (0, 0),
                false => draws(Purpose::FirstToken),
            };
        let at_stated_prompt = self.first_token.value(|| to_first);
        let (stated, per_token) = (self.prompt_tokens, self.per_prompt_token.as_micros());
        let more = per_token.saturating_mul(u64::from(input.saturating_sub(stated)));
        let less = per_token.saturating_mul(u64::from(stated.saturating_sub(input)));
        // Without a deduction, output cannot come before the headers.
        let headers = match seen || less > 0 {
            true => self.headers.value(|| draws(Purpose::HeadersLatency).0).min(at_stated_prompt),
            false => 0,
        };
        let first = at_stated_prompt.saturating_add(more).saturating_sub(less).max(headers);
        let pace = self.per_output_token.value(|| to_others);
        let later = pace.saturating_mul(u64::from(output.saturating_sub(1)));
        Times {
            headers: headers.min(MOST_WORK),
            output: first.min(MOST_WORK),
            pace: pace.min(MOST_WORK),
            end: first.saturating_add(later).min(MOST_WORK),
        }
    }
}
