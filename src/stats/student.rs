//! Quantiles of Student t, computed once per number of degrees of freedom.

use std::sync::OnceLock;

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The factor of a two-sided 95 % interval: the 0.975 quantile.
///
/// # Panics
/// With no degrees of freedom: one world has no interval.
pub fn two_sided_95(degrees: usize) -> f64 {
    static CACHE: [OnceLock<f64>; CACHED] = [const { OnceLock::new() }; CACHED];
    cached(&CACHE, degrees, 0.975)
}

/// The factor of a one-sided 95 % bound: the 0.95 quantile.
///
/// # Panics
/// With no degrees of freedom: one world has no bound.
pub fn one_sided_95(degrees: usize) -> f64 {
    static CACHE: [OnceLock<f64>; CACHED] = [const { OnceLock::new() }; CACHED];
    cached(&CACHE, degrees, 0.95)
}

/// The factor of a one-sided bound that is wrong with this probability: the `1 - error` quantile.
///
/// # Panics
/// With no degrees of freedom, or unless `0 < error < 1`.
pub fn one_sided(degrees: usize, error: f64) -> f64 {
    assert!(0.0 < error && error < 1.0, "a bound errs with a probability between 0 and 1");
    // The lower tail keeps its digits where 1 - error would lose them.
    -quantile(degrees, error)
}

/// The probability of at least `t` where nothing but chance is at work.
///
/// # Panics
/// With no degrees of freedom.
pub fn upper_tail(degrees: usize, t: f64) -> f64 {
    student(degrees).sf(t)
}

/// Degrees of freedom kept; above, the inversion is run anew (some microseconds).
const CACHED: usize = 128;

fn cached(cache: &[OnceLock<f64>; CACHED], degrees: usize, p: f64) -> f64 {
    match cache.get(degrees) {
        Some(cell) => *cell.get_or_init(|| quantile(degrees, p)),
        None => quantile(degrees, p),
    }
}

fn quantile(degrees: usize, p: f64) -> f64 {
    student(degrees).inverse_cdf(p)
}

fn student(degrees: usize) -> StudentsT {
    StudentsT::new(0.0, 1.0, degrees as f64)
        .expect("an interval needs at least one degree of freedom, so two worlds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textbook_values() {
        // (degrees, t(0.95), t(0.975)) as printed in statistical tables.
        let table = [
            (1, 6.314, 12.706),
            (2, 2.920, 4.303),
            (4, 2.132, 2.776),
            (9, 1.833, 2.262),
            (19, 1.729, 2.093),
            (29, 1.699, 2.045),
            (60, 1.671, 2.000),
            (120, 1.658, 1.980),
            (1_000, 1.646, 1.962),
        ];
        for (degrees, one, two) in table {
            assert!((one_sided_95(degrees) - one).abs() < 5.1e-4, "one-sided, {degrees}");
            assert!((two_sided_95(degrees) - two).abs() < 5.1e-4, "two-sided, {degrees}");
        }
        // t(0.975) with one degree is tan(0.475 π), known to any precision.
        assert!((two_sided_95(1) - 12.706_204_736_174_7).abs() < 1e-8);
    }

    #[test]
    fn far_out_in_the_tail() {
        // With one degree the tail beyond t is atan(1/t)/π, so t is 1/tan(π · error).
        for error in [0.25, 0.01, 1e-4, 1e-6] {
            let t = 1.0 / (std::f64::consts::PI * error).tan();
            assert!(
                (one_sided(1, error) / t - 1.0).abs() < 1e-6,
                "{error}: {}",
                one_sided(1, error)
            );
            assert!((upper_tail(1, t) / error - 1.0).abs() < 1e-6, "{error}: {}", upper_tail(1, t));
        }
        // With two it is (1 - t/√(2 + t²))/2.
        let t: f64 = 9.0;
        let tail = (1.0 - t / (2.0 + t * t).sqrt()) / 2.0;
        assert!((upper_tail(2, t) / tail - 1.0).abs() < 1e-6);
        assert!((one_sided(2, tail) / t - 1.0).abs() < 1e-6);
    }

    #[test]
    fn the_cache_changes_nothing() {
        assert_eq!(two_sided_95(9), two_sided_95(9));
        assert_eq!(two_sided_95(9), quantile(9, 0.975));
        assert_eq!(one_sided_95(9), quantile(9, 0.95));
    }

    #[test]
    #[should_panic(expected = "two worlds")]
    fn one_world_has_no_interval() {
        two_sided_95(0);
    }
}
