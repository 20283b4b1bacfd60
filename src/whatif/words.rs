//! Figures as people read them.

use super::figures::Unit;
use super::finding::WhatIf;
use super::value::{Compared, Difference, Figure, Interval, Missing};

/// A value with half its interval, or why there is none.
pub(super) fn figure(of: &Figure, unit: Unit) -> String {
    let Some(value) = of.value else {
        return of.missing.map_or("–".into(), |why| format!("– ({})", missing(why)));
    };
    let half = of.ci95.map(|ci95| (ci95.high - ci95.low) / 2.0);
    shown(value, half, unit, false)
}

/// Why a figure is not there.
pub(super) fn missing(why: Missing) -> &'static str {
    match why {
        Missing::TooFew => "too few requests",
        Missing::Unanswered => "unanswered",
        Missing::NotTold => "not told",
    }
}

/// Whether a change is clear, or why there is none. What leaves out zero in a world that does not do what the log
/// says is so there alone.
pub(super) fn clear(found: &WhatIf, of: &Difference) -> &'static str {
    match of.missing {
        Some(why) => missing(why),
        None if of.difference == Some(0.0) && of.ci95.is_some_and(|ci95| ci95.low == ci95.high) => {
            "identical"
        }
        None if of.clear && found.is_another_world() => "in that world alone",
        None if of.clear => "clear",
        None => "not clear",
    }
}

/// Dollars with half their interval, or that they are not told.
pub(super) fn bill(of: &Figure) -> String {
    if of.missing == Some(Missing::NotTold) { "not told".into() } else { figure(of, Unit::Dollars) }
}

/// A change with half its interval, and whether it is clear; nothing for the policy in force.
pub(super) fn change(found: &WhatIf, of: &Compared, unit: Unit) -> String {
    let Some(change) = &of.change else { return "–".into() };
    match change.difference {
        None => clear(found, change).into(),
        Some(_) => {
            format!("{} {}", difference(change.difference, change.ci95, unit), clear(found, change))
        }
    }
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
    let measure = super::figures::MEASURES.iter().find(|m| m.name == name);
    measure.map_or(if name == "bill" { Unit::Dollars } else { Unit::Count }, |m| m.unit)
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
    // What rounds to zero has no sign.
    let none = libm::round(value.abs() * libm::pow(10.0, decimals as f64)) == 0.0;
    let sign = match signed && value > 0.0 {
        _ if none => "",
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
    let wanted = wanted.clamp(least, 5) as usize;
    let Some(half) = half.filter(|&half| half > 0.0 && half < value.abs()) else { return wanted };
    // What is clear shows it: no rounding makes the half as large as the value.
    let rounded = |x: f64, decimals: usize| libm::round(x * libm::pow(10.0, decimals as f64));
    let apart = |&decimals: &usize| rounded(value.abs(), decimals) > rounded(half, decimals);
    (wanted..=5).find(apart).unwrap_or(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_the_digits_of_its_precision() {
        let half = |half: f64, value: f64| Some(Interval { low: value - half, high: value + half });
        let of =
            |value: Option<f64>, ci95, missing| Figure { name: "x".into(), value, missing, ci95 };
        let share = of(Some(0.998_53), half(0.000_07, 0.998_53), None);
        assert_eq!(figure(&share, Unit::Share), "99.853 % ± 0.007");
        assert_eq!(difference(Some(-0.012), half(0.003, -0.012), Unit::Share), "-1.2 pp ± 0.3");
        assert_eq!(plain(Some(0.447), Unit::Seconds), "447 ms");
        assert_eq!(plain(Some(4.9931), Unit::Dollars), "$4.99");
        let none = |why| figure(&of(None, None, Some(why)), Unit::Seconds);
        assert_eq!(none(Missing::Unanswered), "– (unanswered)");
        assert_eq!(none(Missing::TooFew), "– (too few requests)");
        assert_eq!(
            difference(Some(-0.0123), half(0.0116, -0.0123), Unit::Seconds),
            "-12.3 ms ± 11.6"
        );
        assert_eq!(difference(Some(-0.0116), half(0.0123, -0.0116), Unit::Seconds), "-12 ms ± 12");
        let told = |value: Option<f64>, missing| bill(&of(value, None, missing));
        assert_eq!(told(None, Some(Missing::NotTold)), "not told");
        assert_eq!(told(Some(0.0), None), "$0.00");
        assert_eq!(
            difference(Some(-0.000_04), half(0.001, -0.000_04), Unit::Share),
            "0.0 pp ± 0.1"
        );
        assert_eq!(clock(33_900), "9:25");
    }
}
