//! What a limit charges an attempt, and how that is put right in the end: worked out once for each limit as
//! sums with weights of nothing or all, so that an attempt is charged without a look at the kind of limit.

use windtunnel_policy::outcome::Usage;

use crate::scenario::{Charge, LimitSpec, LimitUnit, Settlement};

const PPM: u128 = 1_000_000;

/// What one attempt asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    /// Prompt tokens.
    pub(super) input: u32,
    /// Of those, remembered by the provider's cache.
    pub(super) cached: u32,
    /// The most output tokens.
    pub(super) max_output: u32,
}

/// How much of what an attempt asks for is charged: a number, and weights of nothing or all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    fixed: u32,
    input: u32,
    max_output: u32,
}

/// What an attempt has cost in the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settles {
    /// What it was charged …
    charged: u32,
    /// … and what it used, in such parts …
    input: u32,
    output: u32,
    /// … of which output counts this much, in parts per million.
    output_ppm: u128,
}

impl Weights {
    /// What such a limit charges on the way in.
    pub(super) fn by(spec: &LimitSpec) -> Weights {
        let none = Weights { fixed: 0, input: 0, max_output: 0 };
        match (spec.unit, spec.charge) {
            (LimitUnit::Requests | LimitUnit::Concurrency | LimitUnit::DayQuota, _) => {
                Weights { fixed: 1, ..none }
            }
            (LimitUnit::InputTokens, _) | (LimitUnit::TotalTokens, Charge::Prompt) => {
                Weights { input: 1, ..none }
            }
            (LimitUnit::OutputTokens, Charge::Prompt) => none,
            (LimitUnit::OutputTokens, Charge::PromptAndMax) => Weights { max_output: 1, ..none },
            (LimitUnit::TotalTokens, Charge::PromptAndMax) => {
                Weights { input: 1, max_output: 1, ..none }
            }
        }
    }

    /// What `ask` is charged.
    #[inline]
    pub(super) fn of(&self, ask: Ask) -> u64 {
        let Weights { fixed, input, max_output } = *self;
        let of = |weight: u32, tokens: u32| u64::from(weight) * u64::from(tokens);
        u64::from(fixed) + of(input, ask.input) + of(max_output, ask.max_output)
    }
}

impl Settles {
    /// How such a limit settles; `None` where what was charged stays.
    pub(super) fn by(spec: &LimitSpec) -> Option<Settles> {
        let output_ppm = match spec.settlement {
            Settlement::OutputTimes(factor) => u128::from(factor.ppm()),
            Settlement::None | Settlement::Actual => PPM,
        };
        let none = Settles { charged: 0, input: 0, output: 0, output_ppm };
        match (spec.unit, spec.settlement, spec.charge) {
            (LimitUnit::Requests | LimitUnit::Concurrency | LimitUnit::DayQuota, ..) => None,
            // Output that could not be charged on the way in is charged on the way out.
            (
                LimitUnit::OutputTokens | LimitUnit::TotalTokens,
                Settlement::None,
                Charge::Prompt,
            ) => Some(Settles { charged: 1, output: 1, ..none }),
            (_, Settlement::None, _) => None,
            (LimitUnit::InputTokens, ..) => Some(Settles { input: 1, ..none }),
            (LimitUnit::OutputTokens, ..) => Some(Settles { output: 1, ..none }),
            (LimitUnit::TotalTokens, ..) => Some(Settles { input: 1, output: 1, ..none }),
        }
    }

    /// What an attempt charged `before` has cost in the end.
    #[inline]
    pub(super) fn settled(&self, before: u64, used: Usage) -> u64 {
        let output = match self.output_ppm {
            // By far the commonest, and the division is slow.
            PPM => u64::from(used.output),
            ppm => (u128::from(used.output) * ppm / PPM) as u64,
        };
        let of = |weight: u32, amount: u64| u64::from(weight) * amount;
        of(self.charged, before) + of(self.input, used.input.into()) + of(self.output, output)
    }
}
