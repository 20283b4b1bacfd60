//! Shapes of distributions as a scenario states them, and their quantiles.

use std::fmt;

use super::Tail;
use super::gamma::GammaTail;
use super::normal::normal_tail;

/// A distribution by its parameters, in the unit of the value (µs, tokens, …).
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    /// Always this value.
    Constant(f64),
    /// Evenly from `low` to `high`.
    Uniform {
        /// The smallest value.
        low: f64,
        /// The largest value.
        high: f64,
    },
    /// Memoryless.
    Exponential {
        /// The mean, positive.
        mean: f64,
    },
    /// `shift` plus a lognormal.
    Lognormal {
        /// Added to every value; zero for the plain lognormal.
        shift: f64,
        /// The median of the part above the shift, positive.
        median: f64,
        /// The standard deviation of the logarithm of that part.
        sigma: f64,
    },
    /// Weibull: many short values and a long tail for a shape below one.
    Weibull {
        /// The shape k, positive.
        shape: f64,
        /// The scale, positive: the quantile 1 − 1/e.
        scale: f64,
    },
    /// Gamma; the coefficient of variation is one over the root of the shape.
    Gamma {
        /// The shape, from 0.001 to 10,000.
        shape: f64,
        /// The mean, positive: shape times scale.
        mean: f64,
    },
    /// Stated quantiles: pairs of probability and value, both ascending.
    ///
    /// Between pairs the logarithm of the value is linear in the normal score of
    /// the probability, so quantiles read off a lognormal give that lognormal
    /// back. The outermost segments run on beyond the outermost pairs. A pair at
    /// probability 0 or 1 does not shape the curve but bounds it.
    Quantiles(Vec<(f64, f64)>),
}

/// What is wrong with a [`Shape`]: which parameter, and what it must be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShapeError {
    parameter: &'static str,
    must: &'static str,
}

impl ShapeError {
    pub(super) const fn new(parameter: &'static str, must: &'static str) -> ShapeError {
        ShapeError { parameter, must }
    }

    /// The parameter at fault.
    pub fn parameter(&self) -> &'static str {
        self.parameter
    }
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.parameter, self.must)
    }
}

impl std::error::Error for ShapeError {}

impl Shape {
    /// Refuses parameters outside their ranges.
    pub(super) fn check(&self) -> Result<(), ShapeError> {
        match *self {
            Shape::Constant(value) => not_negative("value", value),
            Shape::Uniform { low, high } => {
                not_negative("low", low)?;
                not_negative("high", high)?;
                ensure(low <= high, "high", "must not be below low")
            }
            Shape::Exponential { mean } => positive("mean", mean),
            Shape::Lognormal { shift, median, sigma } => {
                not_negative("shift", shift)?;
                positive("median", median)?;
                not_negative("sigma", sigma)
            }
            Shape::Weibull { shape, scale } => {
                positive("shape", shape)?;
                positive("scale", scale)
            }
            Shape::Gamma { shape, mean } => {
                let known = (0.001..=10_000.0).contains(&shape);
                ensure(known, "shape", "must be from 0.001 to 10000")?;
                positive("mean", mean)
            }
            Shape::Quantiles(ref pairs) => check_pairs(pairs),
        }
    }

    /// The smallest value.
    pub(super) fn minimum(&self) -> f64 {
        match *self {
            Shape::Constant(value) => value,
            Shape::Uniform { low, .. } => low,
            Shape::Lognormal { shift, .. } => shift,
            Shape::Quantiles(ref pairs) => bound(pairs.first(), 0.0).unwrap_or(0.0),
            Shape::Exponential { .. } | Shape::Weibull { .. } | Shape::Gamma { .. } => 0.0,
        }
    }

    /// The quantile function of one tail, by the distance `w` from its end, to
    /// be called with `w` descending from 1/2 and never zero: the gamma's
    /// iteration starts from the answer before. The shape has been checked.
    pub(super) fn quantiles(&self, tail: Tail) -> Box<dyn FnMut(f64) -> f64 + '_> {
        match *self {
            Shape::Constant(value) => Box::new(move |_| value),
            Shape::Uniform { low, high } => Box::new(move |w| match tail {
                Tail::Lower => low + (high - low) * w,
                Tail::Upper => high - (high - low) * w,
            }),
            Shape::Exponential { mean } => Box::new(move |w| mean * exponential_tail(tail, w)),
            Shape::Lognormal { shift, median, sigma } => {
                Box::new(move |w| shift + median * libm::exp(sigma * normal_tail(tail, w)))
            }
            Shape::Weibull { shape, scale } => {
                Box::new(move |w| scale * libm::pow(exponential_tail(tail, w), 1.0 / shape))
            }
            Shape::Gamma { shape, mean } => {
                let mut gamma = GammaTail::new(shape, tail);
                Box::new(move |w| mean / shape * gamma.quantile(w))
            }
            Shape::Quantiles(ref pairs) => {
                let curve = Curve::new(pairs);
                Box::new(move |w| curve.value(normal_tail(tail, w)))
            }
        }
    }
}

/// The quantile of the unit exponential, without cancellation in either tail.
fn exponential_tail(tail: Tail, w: f64) -> f64 {
    match tail {
        Tail::Lower => -libm::log1p(-w),
        Tail::Upper => -libm::log(w),
    }
}

/// Stated quantiles as a line through (normal score, logarithm of the value).
struct Curve {
    points: Vec<(f64, f64)>,
    floor: f64,
    ceiling: f64,
}

impl Curve {
    fn new(pairs: &[(f64, f64)]) -> Curve {
        let score = |p: f64| {
            if p < 0.5 { normal_tail(Tail::Lower, p) } else { normal_tail(Tail::Upper, 1.0 - p) }
        };
        Curve {
            points: inner(pairs).map(|&(p, value)| (score(p), libm::log(value))).collect(),
            floor: bound(pairs.first(), 0.0).unwrap_or(0.0),
            ceiling: bound(pairs.last(), 1.0).unwrap_or(f64::INFINITY),
        }
    }

    fn value(&self, score: f64) -> f64 {
        let above = self.points.partition_point(|&(z, _)| z < score);
        let end = above.clamp(1, self.points.len() - 1);
        let ((z0, y0), (z1, y1)) = (self.points[end - 1], self.points[end]);
        let y = y0 + (y1 - y0) * ((score - z0) / (z1 - z0));
        libm::exp(y).clamp(self.floor, self.ceiling)
    }
}

/// The pairs that shape the curve.
fn inner(pairs: &[(f64, f64)]) -> impl Iterator<Item = &(f64, f64)> {
    pairs.iter().filter(|&&(p, _)| 0.0 < p && p < 1.0)
}

/// The value of `pair` if it stands at probability `end`.
fn bound(pair: Option<&(f64, f64)>, end: f64) -> Option<f64> {
    pair.filter(|&&(p, _)| p == end).map(|&(_, value)| value)
}

fn check_pairs(pairs: &[(f64, f64)]) -> Result<(), ShapeError> {
    let known = pairs.iter().all(|&(p, v)| (0.0..=1.0).contains(&p) && v.is_finite() && v >= 0.0);
    ensure(known, "quantiles", "must pair a probability with a finite value, not negative")?;
    let ascending = pairs.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
    ensure(ascending, "quantiles", "must ascend in probability and in value")?;
    ensure(inner(pairs).count() >= 2, "quantiles", "must have two pairs strictly within 0 and 1")?;
    let logarithmic = inner(pairs).all(|&(_, value)| value > 0.0);
    ensure(logarithmic, "quantiles", "must be positive except at probability 0")
}

fn positive(parameter: &'static str, value: f64) -> Result<(), ShapeError> {
    ensure(value.is_finite() && value > 0.0, parameter, "must be finite and positive")
}

fn not_negative(parameter: &'static str, value: f64) -> Result<(), ShapeError> {
    ensure(value.is_finite() && value >= 0.0, parameter, "must be finite and not negative")
}

fn ensure(holds: bool, parameter: &'static str, must: &'static str) -> Result<(), ShapeError> {
    if holds { Ok(()) } else { Err(ShapeError::new(parameter, must)) }
}
