//! Numbers as machines read them.

/// Digits of an interval's half-width that are kept. The quantiles of Student t come from the
/// platform's floats, which may differ in the last bits.
const DIGITS: i32 = 8;

/// An interval without the digits that differ between platforms, which lie far below its width.
pub(crate) fn rounded((lo, hi): (f64, f64)) -> (f64, f64) {
    let half = (hi - lo) / 2.0;
    if half == 0.0 || !half.is_finite() {
        return (lo, hi);
    }
    let text = format!("{half:e}");
    let exponent = text.split_once('e').and_then(|(_, e)| e.parse::<i32>().ok());
    let decimals = DIGITS - 1 - exponent.expect("`{:e}` writes an exponent");
    (keep(lo, decimals), keep(hi, decimals))
}

/// A correlation to four decimals.
pub(super) fn correlation(r: f64) -> f64 {
    keep(r, 4)
}

fn keep(x: f64, decimals: i32) -> f64 {
    if decimals < 0 {
        return x.round();
    }
    let text = format!("{x:.*}", decimals as usize);
    let rounded: f64 = text.parse().expect("a printed float is a float");
    // Not -0, which would print a sign.
    rounded + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_digits_go_and_near_ones_stay() {
        let (lo, hi) = rounded((0.123_456_789_012_345, 0.523_456_789_012_345));
        assert_eq!((lo, hi), (0.123_456_79, 0.523_456_79));
        assert_eq!(rounded((-1e-20, 0.2)), (0.0, 0.2));
        assert!(rounded((-1e-20, 0.2)).0.is_sign_positive());
        assert_eq!(rounded((0.1, 0.1)), (0.1, 0.1));
        assert_eq!(rounded((1e12, 3e12)), (1e12, 3e12));
        assert_eq!(correlation(0.123_456), 0.1235);
    }
}
