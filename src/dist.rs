//! Distributions of times and token counts, sampled by inverse CDF from one draw.
//!
//! A [`Shape`] is what a scenario or model card states; a [`Dist`] is the table
//! made of it when the scenario is loaded. Floats and `libm` are used to make
//! the table and never after: sampling is integer interpolation between knots,
//! the same bits everywhere.
//!
//! **Accuracy.** The knots are log-linear in the distance w to the nearer end of
//! the unit interval: 64 cells in each of 19 octaves, from 1/2 down to 2⁻²⁰, and
//! 64 even cells below, in both tails alike. Between knots the quantile function
//! Q errs by at most w²·|Q″(w)| / 2¹⁵: for an exponential 0.003 % of the mean,
//! and in the lower tail of a Weibull of shape k (Q ~ w^(1/k)) a share
//! (1/k)·|1/k − 1| / 2¹⁵ of the value, 0.006 % at k = 0.5. Below w = 2⁻²⁰ the
//! cells widen to the size of w itself at 2⁻²⁶, and the largest value is the
//! quantile 1 − 2⁻²⁹. The smallest is the distribution's own minimum.

mod gamma;
mod normal;
mod shape;
mod tables;

use std::sync::Arc;

pub use shape::{Shape, ShapeError};
pub use tables::{Tables, share};

/// A distribution over whole numbers (µs, tokens, …). Clones share the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dist {
    table: Arc<Table>,
    /// The only value, where there is but one.
    constant: Option<u64>,
}

/// Knots of the lower and of the upper half, each from its end to the median,
/// in units of 2⁻¹⁶.
type Table = [[i64; KNOTS]; 2];

/// The value below which this share of a standard normal distribution lies; it is neither 0 nor 1.
pub(crate) fn normal_score(share: f64) -> f64 {
    match share <= 0.5 {
        true => normal::normal_tail(Tail::Lower, share),
        false => normal::normal_tail(Tail::Upper, 1.0 - share),
    }
}

/// Which half of the unit interval; `w` is always the distance to that end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tail {
    Lower,
    Upper,
}

const CELLS_PER_OCTAVE: usize = 64;
const OCTAVES: usize = 20;
const KNOTS: usize = OCTAVES * CELLS_PER_OCTAVE + 1;
/// The finest cell spans 2³⁸ of 2⁶⁴ draws, the widest 2⁵⁶.
const FINEST: u32 = 38;
/// Bits of w below its highest that tell the cells of an octave apart.
const SIGNIFICANT: u32 = 6;
/// The lowest draw of the octave above the finest cells, which are as wide as its.
const FINEST_OCTAVE: u64 = 1 << (FINEST + SIGNIFICANT);
/// The upper end of the table stands for this distance from one: 2⁻²⁹.
const FARTHEST: f64 = 1.0 / (1_u64 << 29) as f64;
const TWO_POW_64: f64 = 18_446_744_073_709_551_616.0;

const FRACTION_BITS: u32 = 16;
/// No value reaches 2⁴⁶: in µs, two years.
const LIMIT: i64 = 1 << (46 + FRACTION_BITS);

impl Dist {
    /// The distribution of this shape.
    ///
    /// # Errors
    /// A parameter is out of its range, or values reach beyond 2⁴⁶.
    pub fn new(shape: &Shape) -> Result<Dist, ShapeError> {
        shape.check()?;
        let mut table = [[0; KNOTS]; 2];
        for (tail, knots) in [Tail::Lower, Tail::Upper].into_iter().zip(&mut table) {
            let mut quantile = shape.quantiles(tail);
            // From the median outwards, as `Shape::quantiles` asks.
            for (i, knot) in knots.iter_mut().enumerate().rev() {
                let value = match (i, tail) {
                    (0, Tail::Lower) => shape.minimum(),
                    (0, Tail::Upper) => quantile(FARTHEST),
                    _ => quantile(knot_distance(i)),
                };
                *knot = to_fixed(value)?;
            }
        }
        Ok(Dist::of(table))
    }

    fn of(table: Table) -> Dist {
        let mut dist = Dist { table: Arc::new(table), constant: None };
        let ends = [dist.sample(0), dist.sample(u64::MAX)];
        dist.constant = (ends[0] == ends[1]).then_some(ends[0]);
        dist
    }

    /// Whether there is but one value.
    #[inline]
    pub fn is_constant(&self) -> bool {
        self.constant.is_some()
    }

    /// The value of what `draw` draws, which is not asked where there is but one value.
    #[inline]
    pub fn value(&self, draw: impl FnOnce() -> u64) -> u64 {
        self.constant.unwrap_or_else(|| self.sample(draw()))
    }

    /// The value at quantile `draw` · 2⁻⁶⁴, rounded to the nearest whole number.
    #[inline]
    pub fn sample(&self, draw: u64) -> u64 {
        let upper = draw >> 63;
        // The distance to the nearer end: the draw itself, or its complement.
        let w = draw ^ upper.wrapping_neg();
        // Seven significant bits of w are left, and fewer in the finest cells.
        let shift = (w | FINEST_OCTAVE).ilog2() - SIGNIFICANT;
        let cell = (shift - FINEST) as usize * CELLS_PER_OCTAVE + (w >> shift) as usize;
        let fraction = (w << (u64::BITS - shift)) >> 32;
        let knots = &self.table[upper as usize];
        let far = knots[cell + 1];
        let near = knots[cell];
        let step = (i128::from(far - near) * i128::from(fraction)) >> 32;
        ((near + step as i64 + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS) as u64
    }

    /// The mean of what is sampled, before rounding.
    pub fn mean(&self) -> f64 {
        let half = |knots: &[i64; KNOTS]| -> u128 {
            let cells = knots.windows(2).enumerate();
            cells.map(|(i, k)| u128::from(cell_width(i)) * (k[0] as u128 + k[1] as u128)).sum()
        };
        // Trapezoids: the sum counts each cell twice, in units of 2⁻⁶⁴ and 2⁻¹⁶.
        let twice = self.table.iter().map(half).sum::<u128>();
        twice as f64 / 2.0 / TWO_POW_64 / f64::from(1 << FRACTION_BITS)
    }

    /// The distribution with every value times `numerator / denominator`.
    ///
    /// # Errors
    /// The denominator is zero, or values reach beyond 2⁴⁶.
    pub fn scaled(&self, numerator: u64, denominator: u64) -> Result<Dist, ShapeError> {
        if denominator == 0 {
            return Err(ShapeError::new("scale", "must not divide by zero"));
        }
        let mut table = *self.table;
        for knot in table.as_flattened_mut() {
            let wide = i128::from(*knot) * i128::from(numerator) / i128::from(denominator);
            *knot = i64::try_from(wide).ok().filter(|&v| v < LIMIT).ok_or_else(beyond_limit)?;
        }
        Ok(Dist::of(table))
    }
}

/// The distance from its end of knot `i`; exact, a multiple of 2⁻²⁶.
fn knot_distance(i: usize) -> f64 {
    let block = (i / CELLS_PER_OCTAVE).saturating_sub(1);
    let bits = (i - block * CELLS_PER_OCTAVE) as u64;
    (bits << (FINEST + block as u32)) as f64 / TWO_POW_64
}

/// The number of draws in cell `i`, between knots `i` and `i + 1`.
fn cell_width(i: usize) -> u64 {
    1 << (FINEST + (i / CELLS_PER_OCTAVE).saturating_sub(1) as u32)
}

fn to_fixed(value: f64) -> Result<i64, ShapeError> {
    let scaled = value * f64::from(1 << FRACTION_BITS) + 0.5;
    if scaled < LIMIT as f64 { Ok(scaled as i64) } else { Err(beyond_limit()) }
}

fn beyond_limit() -> ShapeError {
    ShapeError::new(
        "distribution",
        "must stay below 2^46 (of time: 814 days) in all but one of 2^29 draws; make it smaller or narrower",
    )
}

#[cfg(test)]
mod tests;
