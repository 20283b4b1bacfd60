//! How far failures stick to their request, from attempts right after a failure at the same target.

/// What is known of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StickFit {
    /// Second attempts right after the first failed, of the same request at the same target.
    pub tried: u64,
    /// How many of them failed again.
    pub failed: u64,
    /// Share of the failures' probability that sticks to the request; none where too few were tried.
    pub share: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
}

/// Fewer second tries say nothing.
const LEAST: f64 = 30.0;

/// The share that makes as many second tries fail as did, given by phase how many were tried, how
/// many failed, and the share of all attempts that fail there.
///
/// A second try fails if the failure sticks, or if it is struck anew:
/// `P(again) = [s·p + (1 − s·p)·q²] / p` with `q = (1 − s)·p / (1 − s·p)`.
pub(super) fn estimate(phases: &[([f64; 2], f64)]) -> StickFit {
    // Where everybody fails, a second failure says nothing of the request.
    let telling = || phases.iter().filter(|(_, p)| *p > 0.0 && *p < 0.9);
    let tried: f64 = telling().map(|([tried, _], _)| tried).sum();
    let failed: f64 = telling().map(|([_, failed], _)| failed).sum();
    let mut fit =
        StickFit { tried: tried as u64, failed: failed as u64, share: None, interval: None };
    if tried < LEAST {
        return fit;
    }
    let expected = |s: f64| -> f64 { telling().map(|([tried, _], p)| tried * again(s, *p)).sum() };
    let solve = |failed: f64| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..50 {
            let middle = (low + high) / 2.0;
            if expected(middle) < failed { low = middle } else { high = middle }
        }
        (low + high) / 2.0
    };
    let share = failed / tried;
    let half = 1.96 * libm::sqrt(tried * share * (1.0 - share)).max(1.0);
    fit.share = Some(solve(failed));
    fit.interval = Some((solve(failed - half), solve(failed + half)));
    fit
}

/// How many of so many first tries failed, where of them and of so many later ones, each after a failure,
/// so many failed together, and this share sticks.
pub(super) fn first_failed(first: f64, later: f64, failed: f64, s: f64) -> f64 {
    let expected = |p: f64| first * p + later * again(s, p);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if expected(middle) < failed { low = middle } else { high = middle }
    }
    first * (low + high) / 2.0
}

/// The chance that a try right after a failure fails again.
fn again(s: f64, p: f64) -> f64 {
    let stuck = s * p;
    let anew = (1.0 - s) * p / (1.0 - stuck);
    (stuck + (1.0 - stuck) * anew * anew) / p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_recovered_from_its_own_expectation() {
        // 25 % failures of which half stick: two tries fail 14.3 %, so 57.1 % of second tries.
        assert!((again(0.5, 0.25) * 0.25 - 0.142_857).abs() < 1e-6);
        let fit = estimate(&[([7_000.0, 4_000.0], 0.25)]);
        assert!((fit.share.expect("enough") - 0.5).abs() < 1e-3, "{fit:?}");
        let (low, high) = fit.interval.expect("enough");
        assert!(low < 0.5 && high > 0.5 && high - low < 0.06);
    }

    #[test]
    fn first_tries_are_told_from_a_count_of_all() {
        // 25 % of 1,000 fail, half of that sticks: of 250 second tries 57.1 % fail again, 142.9.
        let first = first_failed(1_000.0, 250.0, 250.0 + 142.857, 0.5);
        assert!((first - 250.0).abs() < 0.01, "{first}");
        assert!((first_failed(1_000.0, 0.0, 300.0, 0.5) - 300.0).abs() < 1e-6);
        // As many failed as were tried.
        assert!((first_failed(80.0, 20.0, 100.0, 0.5) - 80.0).abs() < 1e-6);
    }

    #[test]
    fn few_tries_and_total_outages_say_nothing() {
        assert_eq!(estimate(&[([20.0, 10.0], 0.2)]).share, None);
        assert_eq!(estimate(&[([2_000.0, 1_990.0], 0.995)]).share, None);
    }

    #[test]
    fn independent_tries_do_not_stick() {
        let fit = estimate(&[([10_000.0, 2_500.0], 0.25)]);
        assert!(fit.share.expect("enough") < 0.01);
    }
}
