//! Figures as people read them.

use super::figures::Unit;
use super::finding::Interval;

/// A value with half its interval.
pub(super) fn figure(value: Option<f64>, ci95: Option<Interval>, unit: Unit) -> String {
    let Some(value) = value else { return "– (unanswered)".into() };
    let half = ci95.map(|ci95| (ci95.high - ci95.low) / 2.0);
    shown(value, half, unit, false)
}

/// A difference with its sign.
pub(super) fn difference(value: Option<f64>, ci95: Option<Interval>, unit: Unit) -> String {
    let Some(value) = value else { return "–".into() };
    shown(value, ci95.map(|ci95| (ci95.high - ci95.low) / 2.0), unit, true)
}

/// A value alone.
pub(super) fn plain(value: Option<f64>, unit: Unit) -> String {
    value.map_or("–".into(), |value| shown(value, None, unit, false))
}

/// Hours and minutes of so many seconds.
pub(super) fn clock(seconds: u64) -> String {
    format!("{}:{:02}", seconds / 3_600, seconds / 60 % 60)
}

/// The unit of a measure.
pub(super) fn unit_of(name: &str) -> Unit {
    super::figures::MEASURES.iter().find(|m| m.name == name).map_or(Unit::Count, |m| m.unit)
}

fn shown(value: f64, half: Option<f64>, unit: Unit, signed: bool) -> String {
    let (factor, before, after) = match unit {
        Unit::Share if signed => (100.0, "", " pp"),
        Unit::Share => (100.0, "", " %"),
        Unit::Seconds if value.abs() < 1.0 => (1_000.0, "", " ms"),
        Unit::Seconds => (1.0, "", " s"),
        Unit::Dollars => (1.0, "$", ""),
        Unit::Count => (1.0, "", ""),
    };
    let value = value * factor;
    let half = half.map(|half| half * factor);
    let decimals = decimals(value, half, unit);
    let sign = match signed && value > 0.0 {
        true => "+",
        false if value < 0.0 => "-",
        false => "",
    };
    let text = format!("{sign}{before}{:.decimals$}{after}", value.abs());
    match half {
        Some(0.0) => format!("{text} ± 0"),
        Some(half) => format!("{text} ± {half:.decimals$}"),
        None => text,
    }
}

/// As many decimals as show the first digit of the half interval, or three digits of a value alone.
fn decimals(value: f64, half: Option<f64>, unit: Unit) -> usize {
    let of = |size: f64, digits: i32| {
        if size <= 0.0 {
            return digits;
        }
        digits - 1 - libm::floor(libm::log10(size)) as i32
    };
    let wanted = match half {
        _ if value == 0.0 && half.is_none_or(|half| half == 0.0) => 0,
        Some(half) if half > 0.0 => of(half, 1),
        _ if unit == Unit::Share => match f64::min(value.abs(), (100.0 - value).abs()) {
            whole if whole < 1e-9 => 0,
            rest => of(rest.max(1e-3), 2),
        },
        _ => of(value.abs(), 3),
    };
    let least = if unit == Unit::Dollars { 2 } else { 0 };
    wanted.clamp(least, 5) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_the_digits_of_its_precision() {
        let half = |half: f64, value: f64| Some(Interval { low: value - half, high: value + half });
        assert_eq!(
            figure(Some(0.998_53), half(0.000_07, 0.998_53), Unit::Share),
            "99.853 % ± 0.007"
        );
        assert_eq!(difference(Some(-0.012), half(0.003, -0.012), Unit::Share), "-1.2 pp ± 0.3");
        assert_eq!(plain(Some(0.447), Unit::Seconds), "447 ms");
        assert_eq!(plain(Some(4.9931), Unit::Dollars), "$4.99");
        assert_eq!(figure(None, None, Unit::Seconds), "– (unanswered)");
        assert_eq!(clock(33_900), "9:25");
    }
}
