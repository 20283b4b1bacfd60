//! Tables against closed forms, evaluated by `std` and `statrs`.

use proptest::prelude::*;
use statrs::distribution::{ContinuousCDF, Gamma, Normal};

use super::*;

const PROBABILITIES: [f64; 11] =
    [0.0001, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999];

fn dist(shape: Shape) -> Dist {
    Dist::new(&shape).expect("a valid shape")
}

fn at(dist: &Dist, p: f64) -> f64 {
    dist.sample((p * TWO_POW_64) as u64) as f64
}

fn normal_score(p: f64) -> f64 {
    Normal::new(0.0, 1.0).expect("the standard normal exists").inverse_cdf(p)
}

/// Linear interpolation over a step h errs by at most max|Q″| h² / 8, about an
/// eighth of the second difference of Q at the largest step, w/64. The half is
/// rounding to whole numbers, the factor the change of Q″ within a cell.
fn agrees(shape: Shape, exact: impl Fn(f64) -> f64) {
    let dist = dist(shape.clone());
    for p in PROBABILITIES {
        let h = p.min(1.0 - p) / 64.0;
        let bend = (exact(p - h) - 2.0 * exact(p) + exact(p + h)).abs() / 8.0;
        let tolerance = 1.2 * bend + 0.501 + 1e-12 * exact(p);
        let got = at(&dist, p);
        assert!((got - exact(p)).abs() <= tolerance, "{shape:?} at {p}: {got}, {}", exact(p));
    }
}

#[test]
fn quantiles_agree_with_closed_forms() {
    agrees(Shape::Constant(1_234.0), |_| 1_234.0);
    agrees(Shape::Uniform { low: 1e6, high: 3e6 }, |p| 1e6 + 2e6 * p);
    agrees(Shape::Exponential { mean: 2e9 }, |p| -2e9 * (-p).ln_1p());
    for (shift, median, sigma) in [(0.0, 8e8, 0.0), (0.0, 8e8, 0.6), (3e8, 9e7, 1.8)] {
        agrees(Shape::Lognormal { shift, median, sigma }, |p| {
            shift + median * (sigma * normal_score(p)).exp()
        });
    }
    for shape in [0.3, 0.5, 0.9, 1.0, 3.5] {
        agrees(Shape::Weibull { shape, scale: 1e9 }, |p| 1e9 * (-(-p).ln_1p()).powf(1.0 / shape));
    }
}

#[test]
fn gamma_quantiles_invert_the_cdf() {
    // The last is the measured burstiness of arrivals of a public coding trace: CV 13.15.
    for shape in [0.4, 1.0, 7.0, 900.0, 1.0 / (13.15 * 13.15)] {
        let mean = 1e9;
        let dist = dist(Shape::Gamma { shape, mean });
        let reference = Gamma::new(shape, shape / mean).expect("a valid gamma");
        for p in PROBABILITIES {
            let value = at(&dist, p);
            // Where values round to few units the CDF cannot be read back.
            if value > 1e5 {
                let back = reference.cdf(value);
                let miss = (back - p).abs() / p.min(1.0 - p);
                assert!(miss < 2e-4, "shape {shape} at {p}: {value} gives {back}");
            }
        }
    }
}

#[test]
fn means_agree_with_closed_forms() {
    let gamma_function = statrs::function::gamma::gamma;
    // Interpolating overstates the mean by at most the average of w²·Q″/2¹⁵: 1/2¹⁵ of
    // the mean for the exponential, 2/2¹⁵ for the Weibull of shape 0.5; for the first
    // gamma w²·Q″ is its scale, 172 means, over the 3 % of draws that matter.
    for (shape, mean, tolerance) in [
        (Shape::Constant(77.25), 77.25, 0.0),
        (Shape::Uniform { low: 10.0, high: 31.0 }, 20.5, 1e-6),
        (Shape::Exponential { mean: 1e6 }, 1e6, 4e-5),
        (
            Shape::Lognormal { shift: 5e4, median: 1e6, sigma: 0.7 },
            5e4 + 1e6 * 0.245_f64.exp(),
            4e-5,
        ),
        (Shape::Weibull { shape: 0.5, scale: 1e6 }, 1e6 * gamma_function(3.0), 1e-4),
        (Shape::Weibull { shape: 3.0, scale: 1e6 }, 1e6 * gamma_function(4.0 / 3.0), 4e-5),
        (Shape::Gamma { shape: 0.0058, mean: 1e6 }, 1e6, 2e-4),
        (Shape::Gamma { shape: 40.0, mean: 1e6 }, 1e6, 4e-5),
    ] {
        let got = dist(shape.clone()).mean();
        assert!((got / mean - 1.0).abs() <= tolerance, "{shape:?}: {got} against {mean}");
    }
}

#[test]
fn mean_is_that_of_the_samples() {
    let dist = dist(Shape::Exponential { mean: 1e6 });
    let strata = 1_u64 << 16;
    let sum: u64 = (0..strata).map(|i| dist.sample(i << 48 | 1 << 47)).sum();
    // The midpoint rule misses the curvature of the last strata only: about
    // mean × (ln 2 − 1/2) / 2 per stratum of 2⁻¹⁶.
    let miss = sum as f64 / strata as f64 - dist.mean();
    assert!(miss.abs() < 1e6 / strata as f64, "{miss}");
}

#[test]
fn deep_tails_stay_near_the_truth() {
    let dist = dist(Shape::Exponential { mean: 1e9 });
    for k in [1_u64, 2, 5, 50, 1_000] {
        let draw = u64::MAX - (k << 38) - (1 << 37);
        let w = (k as f64 + 0.5) / f64::from(1 << 26);
        // A cell of width w/k errs by the mean / 8k².
        let tolerance = 1e9 / (8.0 * (k * k) as f64) + 1e9 / 32_768.0;
        assert!((dist.sample(draw) as f64 + 1e9 * w.ln()).abs() < tolerance, "{k}");
    }
    assert_eq!(dist.sample(0), 0);
    let farthest = 1e9 * 29.0 * std::f64::consts::LN_2;
    assert!((dist.sample(u64::MAX) as f64 - farthest).abs() < 1e3);
}

#[test]
fn stated_quantiles_come_back_and_give_a_lognormal_back() {
    let pairs = [(0.05, 210e6), (0.25, 300e6), (0.5, 420e6), (0.75, 640e6), (0.95, 1_900e6)];
    let stated = dist(Shape::Quantiles(pairs.to_vec()));
    for (p, value) in pairs {
        assert!((at(&stated, p) / value - 1.0).abs() < 1e-4, "{p}");
    }
    let exact = |p: f64| 4e8 * (0.8 * normal_score(p)).exp();
    let read = [0.1, 0.5, 0.6, 0.99].map(|p| (p, exact(p)));
    agrees(Shape::Quantiles(read.to_vec()), exact);
}

#[test]
fn stated_ends_bound_the_curve() {
    let pairs = vec![(0.0, 50.0), (0.5, 100.0), (0.9, 200.0), (1.0, 250.0)];
    let bounded = dist(Shape::Quantiles(pairs));
    assert_eq!((bounded.sample(0), bounded.sample(u64::MAX)), (50, 250));
    assert_eq!(bounded.sample(1 << 63), 100);
}

#[test]
fn scaling_multiplies_values_and_mean() {
    let base = dist(Shape::Weibull { shape: 0.7, scale: 1e8 });
    let double = base.scaled(3, 2).expect("stays below the limit");
    assert!((double.mean() / base.mean() - 1.5).abs() < 1e-9);
    for p in PROBABILITIES {
        assert!((at(&double, p) - 1.5 * at(&base, p)).abs() < 1.5);
    }
    assert!(base.scaled(1, 0).is_err());
    assert!(base.scaled(u64::MAX, 1).is_err());
}

#[test]
fn bad_shapes_are_refused_by_parameter() {
    for (shape, parameter) in [
        (Shape::Constant(-1.0), "value"),
        (Shape::Constant(f64::NAN), "value"),
        (Shape::Uniform { low: 3.0, high: 2.0 }, "high"),
        (Shape::Exponential { mean: 0.0 }, "mean"),
        (Shape::Exponential { mean: f64::INFINITY }, "mean"),
        (Shape::Exponential { mean: 1e13 }, "distribution"),
        (Shape::Lognormal { shift: -1.0, median: 1.0, sigma: 1.0 }, "shift"),
        (Shape::Lognormal { shift: 0.0, median: 1e6, sigma: 9.0 }, "distribution"),
        (Shape::Weibull { shape: 0.0, scale: 1.0 }, "shape"),
        (Shape::Weibull { shape: 0.001, scale: 1.0 }, "distribution"),
        (Shape::Gamma { shape: 1e5, mean: 1.0 }, "shape"),
        (Shape::Quantiles(vec![(0.5, 1.0)]), "quantiles"),
        (Shape::Quantiles(vec![(0.5, 2.0), (0.9, 1.0)]), "quantiles"),
        (Shape::Quantiles(vec![(0.9, 1.0), (0.5, 2.0)]), "quantiles"),
        (Shape::Quantiles(vec![(0.5, 0.0), (0.9, 1.0)]), "quantiles"),
        (Shape::Quantiles(vec![(0.5, 1.0), (90.0, 2.0)]), "quantiles"),
    ] {
        let error = Dist::new(&shape).expect_err("a bad shape");
        assert_eq!(error.parameter(), parameter, "{shape:?}: {error}");
    }
}

/// The same bits on every platform and in every build.
#[test]
fn tables_are_pinned() {
    let digest = |shape| {
        let table = dist(shape).table;
        table.as_flattened().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &knot| {
            (hash ^ knot as u64).wrapping_mul(0x0000_0100_0000_01b3)
        })
    };
    let digests = [
        digest(Shape::Exponential { mean: 1e6 }),
        digest(Shape::Lognormal { shift: 0.0, median: 1e6, sigma: 0.7 }),
        digest(Shape::Weibull { shape: 0.5, scale: 1e6 }),
        digest(Shape::Gamma { shape: 0.3, mean: 1e6 }),
        digest(Shape::Gamma { shape: 30.0, mean: 1e6 }),
        digest(Shape::Quantiles(vec![(0.5, 4e5), (0.95, 2e6)])),
    ];
    assert_eq!(
        digests,
        [
            6_594_800_822_973_219_030,
            10_907_930_409_914_182_879,
            2_460_644_950_421_687_381,
            9_641_839_643_762_707_024,
            9_385_416_207_705_334_843,
            1_683_895_094_964_656_547,
        ]
    );
}

proptest! {
    /// An inverse CDF never descends, so a draw orders the values of any two shapes alike.
    #[test]
    fn samples_never_descend(
        near in any::<u64>(),
        gap in 0_u32..64,
        step in any::<u64>(),
        shape in prop_oneof![
            Just(Shape::Uniform { low: 3.0, high: 90.0 }),
            Just(Shape::Exponential { mean: 40.0 }),
            Just(Shape::Lognormal { shift: 0.0, median: 1e6, sigma: 1.5 }),
            Just(Shape::Gamma { shape: 0.2, mean: 1e6 }),
        ],
    ) {
        let dist = dist(shape);
        let far = near.saturating_add(step >> gap);
        prop_assert!(dist.sample(near) <= dist.sample(far));
        prop_assert!(dist.sample(!far) <= dist.sample(!near));
    }
}
