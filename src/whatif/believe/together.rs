//! Many checks of one kind: of ranges at 95 % some are missed by chance.

use super::check::{Check, Verdict};

/// Where so many ranges are missed that chance would miss as many in more than one of twenty cases, none of
/// them is off by itself.
pub(super) fn judge_together(checks: &mut [Check]) {
    let off = |check: &Check| matches!(check.verdict, Verdict::Off | Verdict::WithinTolerance);
    let outside = checks.iter().filter(|check| off(check)).count();
    let within = |check: &&Check| check.verdict == Verdict::WithinSamplingError;
    let all = outside + checks.iter().filter(within).count();
    if at_least(outside, all) > 0.05 {
        for check in checks.iter_mut().filter(|check| off(check)) {
            check.verdict = Verdict::OutsideByChance;
        }
    }
}

/// The chance that so many of `all` ranges at 95 % are missed, or more: a binomial's upper tail.
fn at_least(missed: usize, all: usize) -> f64 {
    let (mut log, mut below) = (all as f64 * libm::log(0.95), 0.0);
    for i in 0..missed {
        below += libm::exp(log);
        log += libm::log((all - i) as f64 / (i + 1) as f64 * (0.05 / 0.95));
    }
    f64::max(1.0 - below, 0.0)
}

#[cfg(test)]
mod tests {
    use super::super::check::check;
    use super::super::tolerance::{Counted, Tolerance};
    use super::*;
    use crate::whatif::figures::{Spread, Unit};

    const SURE: Spread = Spread { mean: 2.0, luck: 0.0, fit: 0.0, worlds: 4, refits: 20 };
    const COUNT: Counted = Counted::In(Unit::Count);

    #[test]
    fn chance_misses_one_range_of_twenty() {
        // 1 − 0.95²⁹ and 1 − 0.95²⁹ − 29 × 0.05 × 0.95²⁸.
        assert!((at_least(1, 29) - 0.774_06).abs() < 1e-4, "{}", at_least(1, 29));
        assert!((at_least(2, 29) - 0.429_2).abs() < 1e-3, "{}", at_least(2, 29));
        assert!((at_least(0, 29) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn one_of_many_outside_is_chance_and_several_are_not() {
        let none = Tolerance { share: 0.0, part: 0.0 };
        let judged = |outside: usize, tolerance: Tolerance| {
            let logged = |i| if i < outside { 3.0 } else { 2.0 };
            let mut checks: Vec<Check> =
                (0..29).map(|i| check("x", COUNT, tolerance, Ok(logged(i)), Ok(SURE))).collect();
            judge_together(&mut checks);
            checks[0].verdict
        };
        assert_eq!(judged(0, none), Verdict::WithinSamplingError);
        assert_eq!(judged(1, none), Verdict::OutsideByChance);
        assert_eq!(judged(5, none), Verdict::Off);
        let all = Tolerance { part: 0.5, ..none };
        assert_eq!(judged(1, all), Verdict::OutsideByChance);
        assert_eq!(judged(5, all), Verdict::WithinTolerance, "3 in the log, 2 simulated");
    }
}
