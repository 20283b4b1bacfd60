//! Prices, from bills.

use windtunnel_policy::Money;

use super::evidence::Totals;
use crate::scenario::Billing;

/// What a target charges.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct PriceFit {
    /// Answers with a bill and tokens.
    pub(super) bills: u64,
    /// Per million fresh input tokens.
    pub(super) input: Money,
    /// Per million cached input tokens, where there were any.
    pub(super) cached: Option<Money>,
    /// Per million output tokens.
    pub(super) output: Money,
    /// What is billed for attempts that failed before output.
    pub(super) failed: Billing,
    /// What is billed for attempts that broke off.
    pub(super) broken: Billing,
}

impl PriceFit {
    /// The prices that explain the bills; none where bills or tokens are missing, or input and output
    /// cannot be told apart.
    pub(super) fn of(totals: &Totals) -> Option<PriceFit> {
        let [input, cached, output] = totals.bill.solve()?;
        let per_million = |coefficient: (f64, f64)| {
            // To a hundredth of a cent: bills are rounded, price lists are not that fine.
            let micros = libm::round(coefficient.0 * 1e10).max(0.0) as u64;
            Money::from_pico(micros * 100_000_000)
        };
        let billed = |[all, billed]: [u64; 2]| {
            if billed * 2 > all { Billing::Consumed } else { Billing::Nothing }
        };
        Some(PriceFit {
            bills: totals.bill.count,
            input: per_million(input?),
            cached: cached.map(per_million),
            output: per_million(output?),
            failed: billed(totals.failed_billed),
            // Where none broke off, what it made is taken to be billed.
            broken: if totals.broken_billed[0] == 0 {
                Billing::Consumed
            } else {
                billed(totals.broken_billed)
            },
        })
    }
}
