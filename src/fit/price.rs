//! Prices, from bills.

use windtunnel_policy::Money;

use super::at_target::Totals;
use super::regression::Moments;
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
    /// How far bills tell the prices of input and output apart.
    pub(super) told: Told,
    /// What the prices leave of the bills: a root mean square over that of the bills.
    pub(super) unexplained: f64,
    /// What is billed for attempts that failed before output.
    pub(super) failed: Billing,
    /// What is billed for attempts that broke off.
    pub(super) broken: Billing,
}

/// How far prices are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Told {
    /// Each by itself.
    Apart,
    /// Cached input from fresh input not.
    InputTogether,
    /// Not at all: one price for every token, which explains the bills as they were.
    Together,
}

impl Told {
    /// For people; nothing where all is told apart.
    pub(super) fn words(self) -> &'static str {
        match self {
            Told::Apart => "",
            Told::InputTogether => {
                "; they do not tell fresh and cached input apart: one price for both"
            }
            Told::Together => {
                "; they do not tell input and output apart: one price for every token"
            }
        }
    }
}

/// Bills that are left unexplained by more than this are said.
pub(super) const WELL_EXPLAINED: f64 = 0.02;

impl PriceFit {
    /// The prices that explain the bills; none where bills or tokens are missing.
    pub(super) fn of(totals: &Totals) -> Option<PriceFit> {
        let (told, coefficients) = coefficients(&totals.bill)?;
        let prices = coefficients.map(per_million);
        let billed = |[all, billed]: [u64; 2]| {
            if billed * 2 > all { Billing::Consumed } else { Billing::Nothing }
        };
        let [input, cached, output] = prices;
        let charged = prices.map(|price| price.map_or(0.0, |price| price.as_pico() as f64 / 1e18));
        Some(PriceFit {
            bills: totals.bill.count,
            input: input?,
            cached,
            output: output.unwrap_or(Money::ZERO),
            told,
            unexplained: totals.bill.unexplained(charged),
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

/// Dollars per token as a price. To a hundredth of a cent: bills are rounded, price lists are not that
/// fine.
fn per_million(dollars: Option<f64>) -> Option<Money> {
    let micros = libm::round(dollars? * 1e10).max(0.0) as u64;
    Some(Money::from_pico(micros.saturating_mul(100_000_000)))
}

/// Dollars for each fresh input, cached input and output token, by these bills.
pub(super) fn per_token(bill: &Moments<3>) -> Option<[f64; 3]> {
    coefficients(bill).map(|(_, each)| each.map(|each| each.unwrap_or(0.0)))
}

/// Dollars for each fresh input, cached input and output token; as much told apart as the bills can.
fn coefficients(bill: &Moments<3>) -> Option<(Told, [Option<f64>; 3])> {
    if let Some([Some(input), cached, Some(output)]) = bill.solve()
        && [Some(input), cached, Some(output)].into_iter().flatten().all(may_be_a_price)
    {
        return Some((Told::Apart, [Some(input.0), cached.map(|c| c.0), Some(output.0)]));
    }
    let any_cached = bill.uses(1);
    if any_cached
        && let Some([Some(input), Some(output)]) = bill.together([&[0, 1], &[2]]).solve()
        && may_be_a_price(input)
        && may_be_a_price(output)
    {
        let (input, output) = (Some(input.0), Some(output.0));
        return Some((Told::InputTogether, [input, input, output]));
    }
    let [each] = bill.together([&[0, 1, 2]]).solve()?;
    let each = each.map(|(price, _)| price);
    Some((Told::Together, [each, each.filter(|_| any_cached), each.filter(|_| bill.uses(2))]))
}

/// A price is not below zero, but for what chance does to one of zero.
fn may_be_a_price((coefficient, error): (f64, f64)) -> bool {
    libm::round(coefficient * 1e10) >= 0.0 || coefficient > -3.0 * error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(bills: impl Iterator<Item = ([f64; 3], f64)>) -> Totals {
        let mut totals = Totals::default();
        bills.for_each(|(tokens, dollars)| totals.bill.add(tokens, dollars));
        totals
    }

    fn cost(price: &PriceFit, input: u64, output: u64) -> f64 {
        let of = |money: Money, tokens: u64| money.as_pico() as f64 / 1e18 * tokens as f64;
        of(price.input, input) + of(price.output, output)
    }

    #[test]
    fn answers_that_are_all_alike_are_billed_as_they_were() {
        let totals = totals((0..600).map(|_| ([1_000.0, 0.0, 150.0], 0.004)));
        let price = PriceFit::of(&totals).expect("every answer has a bill");
        assert_eq!((price.told, price.bills), (Told::Together, 600));
        assert!((cost(&price, 1_000, 150) / 0.004 - 1.0).abs() < 1e-4);
        assert!(price.unexplained < 1e-3);
    }

    #[test]
    fn bills_that_no_price_explains_say_so() {
        // Half of the answers cost ten times as much as the others, whatever their tokens.
        let bill = |i: u32| if i.is_multiple_of(2) { 0.001 } else { 0.01 };
        let tokens = |i: u32| [f64::from(i * 37 % 900 + 1), 0.0, f64::from(i * 91 % 400 + 1)];
        let price = PriceFit::of(&totals((0..400).map(|i| (tokens(i), bill(i)))));
        assert!(price.expect("there are bills").unexplained > 0.3);
        let exact = |i| (tokens(i), 2.5e-6 * tokens(i)[0] + 1e-5 * tokens(i)[2]);
        let price = PriceFit::of(&totals((0..400).map(exact))).expect("there are bills");
        assert!(price.unexplained < 1e-4 && price.told == Told::Apart);
        assert_eq!(price.input, Money::from_pico(2_500_000_000_000));
    }

    #[test]
    fn without_bills_there_is_no_price() {
        assert_eq!(PriceFit::of(&Totals::default()), None);
    }
}
