//! Values that differ by rounding only.

/// Beyond what sums of floating-point numbers lose, and below what anything measured tells apart.
const DUST: f64 = 1e-9;

/// True where two values are one but for rounding: they differ by less than a billionth of the larger.
pub fn level(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= DUST * a.abs().max(b.abs())
}

#[cfg(test)]
mod tests {
    use super::level;

    #[test]
    fn rounding_is_no_difference_and_the_seventh_digit_is() {
        assert!(level(0.0028, 0.002_799_999_999_999_999_5) && level(0.0, 0.0));
        assert!(!level(0.0028, 0.002_800_000_1) && !level(0.0, 1e-12) && !level(-1.0, 1.0));
    }
}
