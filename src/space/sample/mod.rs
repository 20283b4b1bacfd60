//! Points of a space: a grid of all of them, or a sample.
//!
//! A point is a coordinate from 0 to 1 for each dimension, which the dimension makes a level.
//! Every method is a function of seed, dimension and number of the point, never of an order.

mod hypercube;

use super::around::PolicySpace;
use super::dimension::Dimension;
use super::level::Levels;
use super::plan::MOST_VARIANTS;
use super::range::MOST_WHOLE_NUMBERS;
use crate::draw::{Key, NameHash, Purpose};
use crate::input::InputError;
use hypercube::Hypercube;

/// Points that the Sobol sequence has: its numbers are found by 16 bits.
const MOST_SOBOL: u64 = 1 << 16;

/// How variants are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Every combination.
    Grid,
    /// Each point by itself, uniformly.
    Random,
    /// As many slices of each dimension as there are points, with one point in each slice.
    LatinHypercube,
    /// Owen-scrambled Sobol points, which leave no corner empty.
    Sobol,
}

impl Method {
    /// Its name in outputs.
    pub const fn name(self) -> &'static str {
        match self {
            Method::Grid => "grid",
            Method::Random => "random",
            Method::LatinHypercube => "lhs",
            Method::Sobol => "sobol",
        }
    }
}

/// Which variants to draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sampling {
    /// How.
    pub method: Method,
    /// How many points; a grid has as many as it has.
    pub count: u64,
    /// The seed of the draws, apart from that of the worlds.
    pub seed: u64,
}

/// The points of one sampling.
pub(super) struct Points<'s> {
    space: &'s PolicySpace,
    count: u64,
    kind: Kind,
}

enum Kind {
    Grid(Vec<u64>),
    Random(Key),
    Hypercube(Hypercube),
    Sobol(u32),
}

impl Sampling {
    /// Its points.
    ///
    /// # Errors
    /// There are too many, or a grid has no number of them.
    pub(super) fn points<'s>(&self, space: &'s PolicySpace) -> Result<Points<'s>, InputError> {
        let key = Key::of_world(self.seed);
        let count = self.count;
        let kind = match self.method {
            Method::Grid => return grid(space),
            _ if count == 0 || count > MOST_VARIANTS => {
                let most = grouped(u128::from(MOST_VARIANTS));
                return Err(InputError::new(
                    "--variants",
                    format!("{count} variants are asked for"),
                )
                .fix(format!("ask for 1 to {most}")));
            }
            Method::Random => Kind::Random(key),
            Method::LatinHypercube => {
                let names = space.dimensions.iter().map(|d| NameHash::of(&d.name));
                Kind::Hypercube(Hypercube::new(key, names, count as u32))
            }
            Method::Sobol if count > MOST_SOBOL => {
                let message = format!("{count} variants: the Sobol sequence has {MOST_SOBOL}");
                return Err(InputError::new("--variants", message)
                    .fix("ask for fewer, or take `--sample lhs`"));
            }
            Method::Sobol => {
                Kind::Sobol(key.draw(Purpose::Variant, NameHash::of("sobol"), 0) as u32)
            }
        };
        Ok(Points { space, count, kind })
    }
}

impl Points<'_> {
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The levels of a point, for every dimension, whether it is left out or not.
    pub(super) fn levels(&self, index: u64) -> Levels {
        let dimensions = self.space.dimensions.iter().enumerate();
        if let Kind::Grid(sizes) = &self.kind {
            // The last dimension varies fastest, as in nested loops.
            let mut rest = index;
            let mut numbers = vec![0; sizes.len()];
            for (number, size) in numbers.iter_mut().zip(sizes).rev() {
                *number = rest % size;
                rest /= size;
            }
            return dimensions.map(|(d, dimension)| Some(dimension.level_of(numbers[d]))).collect();
        }
        let level =
            |(d, dimension): (usize, &Dimension)| dimension.level_at(self.coordinate(index, d));
        dimensions.map(level).map(Some).collect()
    }

    pub(super) fn coordinate(&self, index: u64, dimension: usize) -> f64 {
        match &self.kind {
            Kind::Random(key) => {
                // Named, so that one dimension more moves no point in the others.
                let name = NameHash::of(&self.space.dimensions[dimension].name);
                unit(key.draw(Purpose::Variant, name, index as u32))
            }
            Kind::Hypercube(hypercube) => hypercube.coordinate(index as u32, dimension),
            Kind::Sobol(seed) => {
                f64::from(sobol_burley::sample(index as u32, dimension as u32, *seed))
            }
            Kind::Grid(_) => unreachable!("a grid has levels, not coordinates"),
        }
    }
}

/// A draw as a number from 0 to 1, 1 excluded.
fn unit(draw: u64) -> f64 {
    (draw >> 11) as f64 / (1_u64 << 53) as f64
}

fn grid(space: &PolicySpace) -> Result<Points<'_>, InputError> {
    let mut sizes = Vec::new();
    for (position, dimension) in space.dimensions.iter().enumerate() {
        let Some(size) = dimension.size() else {
            let mut message = format!("a grid needs a number of values of `{}`", dimension.name);
            if dimension.is_of_whole_numbers() {
                let most = grouped(u128::from(MOST_WHOLE_NUMBERS));
                message += &format!(": of whole numbers it takes each, up to {most} of them");
            }
            return Err(space.space.mistake(position, "range", message).fix(
                "give the range a `count` or a `step` (`:7` or `:step=…` behind it), or take \
                 `--sample sobol`",
            ));
        };
        sizes.push(size);
    }
    let count = sizes.iter().fold(1_u128, |all, &size| all.saturating_mul(u128::from(size)));
    if count > u128::from(MOST_VARIANTS) {
        let of = |(dimension, size)| format!("{} of {dimension}", grouped(size));
        let names = space.dimensions.iter().map(|d| format!("`{}`", d.name));
        let parts: Vec<String> = names.zip(sizes.iter().map(|&s| u128::from(s))).map(of).collect();
        let message = format!(
            "a grid of it has {} variants: {}; at most {} are run",
            grouped(count),
            parts.join(" × "),
            grouped(u128::from(MOST_VARIANTS)),
        );
        return Err(InputError::new(space.space.called(), message)
            .fix("draw some with `--sample sobol --variants 2000`, or give fewer values"));
    }
    Ok(Points { space, count: count as u64, kind: Kind::Grid(sizes) })
}

/// With commas between thousands.
pub(crate) fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(12_345_678), "12,345,678");
    }
}
