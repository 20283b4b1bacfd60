//! Figures as people read them: with units, and no more digits than their precision carries.

use crate::stats::{Dimension, Estimate, Note, Paired, Verdict, level};

/// Nothing that is measured in µs, picodollars or requests comes down to this but by rounding.
const DUST: f64 = 1e-15;

/// What a cell says of a quantile that too few requests lie beyond.
const TOO_FEW: &str = "too few";

/// What cells leave unsaid, for below their table; `None` where these say all.
pub(crate) fn legend(cells: &str) -> Option<&'static str> {
    cells
        .contains("(too few: ")
        .then_some("Too few: a quantile is told from 100 requests beyond it; so many are there.")
}

/// A value with its interval, or the reason why there is none.
pub(crate) fn figure(estimate: &Estimate, dimension: Dimension) -> String {
    let Some(value) = estimate.value else {
        return format!("– ({})", estimate.note.map_or("no value".into(), short));
    };
    let scale = Scale::of(dimension, value);
    let text = match (estimate.note, estimate.ci95) {
        (Some(Note::IfIndependent), Some((lo, hi))) => {
            let (sign, bound) = if value > 0.5 { ('≥', lo) } else { ('≤', hi) };
            let shown = scale.with_unit(&scale.plain(bound));
            format!("{} ({sign} {shown})", scale.with_unit(&scale.fixed(value, 0)))
        }
        (_, Some((lo, hi))) if lo == 0.0 && hi - value > value && value > 0.0 => {
            scale.with_range(value, hi)
        }
        (_, Some((lo, hi))) => scale.with_half(value, half_width(value, lo, hi), false),
        (_, None) => scale.with_unit(&scale.plain(value)),
    };
    match estimate.note {
        Some(note @ Note::Reached { .. }) => format!("{text} ({})", short(note)),
        _ => text,
    }
}

/// A difference with its sign, interval and verdict.
pub(crate) fn difference(paired: &Paired, dimension: Dimension) -> String {
    let Some(value) = paired.difference else { return "–".into() };
    match paired.verdict {
        Some(Verdict::Identical) => "identical".into(),
        Some(verdict) if paired.ci95.is_some() => {
            format!("{} {}", change(value, paired.ci95, dimension), mark(verdict))
        }
        _ => change(value, None, dimension),
    }
}

/// A difference with its sign and, where there is one, its interval.
pub(crate) fn change(value: f64, ci95: Option<(f64, f64)>, dimension: Dimension) -> String {
    let scale = Scale::of_difference(dimension, value);
    match ci95 {
        Some((lo, hi)) => scale.with_half(value, half_width(value, lo, hi), true),
        None => scale.with_unit(&signed(&scale.plain(value), value)),
    }
}

/// A value alone, to three digits or so.
pub(crate) fn amount(value: f64, dimension: Dimension) -> String {
    let scale = Scale::of(dimension, value);
    scale.with_unit(&scale.plain(value))
}

/// The word of a verdict.
pub(super) const fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Clear => "clear",
        Verdict::Noise => "noise",
        Verdict::Identical => "identical",
    }
}

/// How a dimension's values are shown: multiplied, then with a unit around them.
#[derive(Clone, Copy)]
struct Scale {
    factor: f64,
    before: &'static str,
    after: &'static str,
    /// Decimals never shown.
    most: usize,
    /// Decimals always shown.
    least: usize,
}

impl Scale {
    fn of(dimension: Dimension, value: f64) -> Scale {
        let bare = Scale { factor: 1.0, before: "", after: "", most: 4, least: 0 };
        match dimension {
            Dimension::Share => Scale { factor: 100.0, after: " %", least: 1, ..bare },
            Dimension::Seconds if value.abs() < 1.0 => {
                Scale { factor: 1_000.0, after: " ms", most: 3, ..bare }
            }
            Dimension::Seconds if value.abs() < 120.0 => Scale { after: " s", ..bare },
            Dimension::Seconds => Scale { factor: 1.0 / 60.0, after: " min", ..bare },
            Dimension::Dollars => Scale { before: "$", most: 9, least: 2, ..bare },
            Dimension::Count => Scale { least: 2, ..bare },
        }
    }

    fn of_difference(dimension: Dimension, value: f64) -> Scale {
        let scale = Scale::of(dimension, value);
        if dimension == Dimension::Share { Scale { after: " pp", ..scale } } else { scale }
    }

    fn with_unit(self, text: &str) -> String {
        // The sign goes before the currency.
        match text.strip_prefix(['-', '+', '−']) {
            Some(rest) if !self.before.is_empty() => {
                let sign = &text[..text.len() - rest.len()];
                format!("{sign}{}{rest}{}", self.before, self.after)
            }
            _ => format!("{}{text}{}", self.before, self.after),
        }
    }

    fn with_half(self, value: f64, half: f64, sign: bool) -> String {
        if half <= DUST || level(value, value + half) {
            let value = if value.abs() <= DUST { 0.0 } else { value };
            let text = self.plain(value);
            let text = if sign { signed(&text, value) } else { text };
            return format!("{} ± 0", self.with_unit(&text));
        }
        let mut decimals = self.decimals(half * self.factor);
        // Where a difference and its uncertainty would look alike, a digit more tells which is larger.
        if sign && self.fixed(value.abs(), decimals) == self.fixed(half, decimals) {
            decimals = (decimals + 1).min(self.most);
        }
        let text = self.fixed(value, decimals);
        let text = if sign { signed(&text, value) } else { text };
        let mut half = self.fixed(half, decimals);
        if half.bytes().all(|b| matches!(b, b'0' | b'.')) {
            // Narrower than the last digit shown: less than one of it.
            half.pop();
            half = format!("<{half}1");
        }
        format!("{} ± {half}", self.with_unit(&text))
    }

    /// With an interval that was cut short at zero.
    fn with_range(self, value: f64, hi: f64) -> String {
        let decimals = self.decimals((hi - value) * self.factor);
        let value = self.with_unit(&self.fixed(value, decimals));
        format!("{value} (0–{})", self.fixed(hi, decimals))
    }

    /// Three digits; for a percentage two, counted from 0 or 100, whichever is nearer.
    fn plain(self, value: f64) -> String {
        let shown = (value * self.factor).abs();
        if shown == 0.0 {
            return "0".into();
        }
        let digits = if self.factor == 100.0 {
            let near = shown.min((100.0 - shown).abs());
            if near > 0.0 { 1 - exponent(near) } else { 0 }
        } else {
            2 - exponent(shown)
        };
        self.fixed(value, (digits.max(self.least as i32) as usize).min(self.most))
    }

    fn fixed(self, value: f64, decimals: usize) -> String {
        let text = format!("{:.decimals$}", value * self.factor);
        // "-0.00" says nothing that "0.00" does not.
        match text.strip_prefix('-') {
            Some(rest) if rest.bytes().all(|b| matches!(b, b'0' | b'.')) => rest.into(),
            _ => text,
        }
    }

    /// Decimals that show one digit of `half`, or two where the first is 1.
    fn decimals(self, half: f64) -> usize {
        let shown = format!("{half:.0e}");
        let digits = if shown.starts_with('1') { 1 } else { 0 };
        // Rounded first: 0.0098 is shown as 0.010.
        let half: f64 = shown.parse().expect("a number that was just written");
        let wanted = (digits - exponent(half)).max(self.least as i32) as usize;
        wanted.min(self.most)
    }
}

/// The larger side of an interval, which bounds within 0 and 1 may cut short on the other.
fn half_width(value: f64, lo: f64, hi: f64) -> f64 {
    (value - lo).max(hi - value)
}

/// The power of ten of a positive number's first digit.
fn exponent(x: f64) -> i32 {
    let text = format!("{x:e}");
    let (_, exponent) = text.split_once('e').expect("`{:e}` writes an exponent");
    exponent.parse().expect("an exponent is a number")
}

fn signed(text: &str, value: f64) -> String {
    if value > 0.0 { format!("+{text}") } else { text.into() }
}

pub(super) fn short(note: Note) -> String {
    match note {
        Note::OneWorld => "one world".into(),
        Note::NothingMeasured => "nothing to measure".into(),
        Note::NotModelled => "not modelled".into(),
        Note::IfIndependent => "if independent".into(),
        Note::FewExceedances { found } => format!("{TOO_FEW}: {found}"),
        Note::Unanswered => "unanswered".into(),
        Note::Reached { reached, of } => format!("{reached} of {of} incidents"),
        Note::Fragile => "one world only".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, half: Option<f64>) -> Estimate {
        let ci95 = half.map(|half| (value - half, value + half));
        Estimate { value: Some(value), ci95, n: 1, worlds: 10, note: None }
    }

    #[test]
    fn digits_follow_precision() {
        let share = |value, half| figure(&estimate(value, half), Dimension::Share);
        assert_eq!(share(0.998_712, Some(0.000_21)), "99.87 % ± 0.02");
        assert_eq!(share(0.998_712, Some(0.000_13)), "99.871 % ± 0.013");
        assert_eq!(share(0.5, Some(0.2)), "50.0 % ± 20.0");
        assert_eq!(share(0.979_560_2, Some(0.000_098_6)), "97.956 % ± 0.010");
        assert_eq!(share(0.998_712, None), "99.87 %");
        assert_eq!(share(0.25, None), "25.0 %");
        assert_eq!(share(1.0, None), "100.0 %");
        assert_eq!(share(0.999_999_9, None), "100.0000 %");
        assert_eq!(share(0.0, Some(0.0)), "0 % ± 0");
        // What sums lose in rounding is no precision.
        let cost = estimate(0.0028, Some(4e-19));
        assert_eq!(figure(&cost, Dimension::Dollars), "$0.00280 ± 0");
        let near =
            |value, half| change(value, Some((value - half, value + half)), Dimension::Share);
        assert_eq!(near(0.000_053, 0.000_048), "+0.0053 pp ± 0.0048");
        assert_eq!(near(-0.000_088, 0.000_093), "-0.0088 pp ± 0.0093");
        assert_eq!(near(-0.000_080, 0.000_093), "-0.008 pp ± 0.009");
        assert_eq!(change(-4e-19, Some((-5e-19, -3e-19)), Dimension::Dollars), "$0 ± 0");
        let few = short(Note::FewExceedances { found: 30 });
        assert_eq!(few, "too few: 30");
    }

    #[test]
    fn times_choose_their_unit() {
        let time = |value, half| figure(&estimate(value, half), Dimension::Seconds);
        assert_eq!(time(0.0, Some(0.0)), "0 ms ± 0");
        assert_eq!(time(0.000_35, None), "0.350 ms");
        assert_eq!(time(0.351_2, Some(0.012)), "351 ms ± 12");
        assert_eq!(time(1.234_5, Some(0.05)), "1.23 s ± 0.05");
        assert_eq!(time(600.0, None), "10.0 min");
        assert_eq!(time(0.0, Some(0.000_000_2)), "0.000 ms ± <0.001");
        let cut = Estimate { ci95: Some((0.0, 1_620.0)), ..estimate(720.0, None) };
        assert_eq!(figure(&cut, Dimension::Seconds), "12 min (0–27)");
    }

    #[test]
    fn money_and_counts() {
        let money = |value, half| figure(&estimate(value, half), Dimension::Dollars);
        assert_eq!(money(12.345, Some(0.2)), "$12.35 ± 0.20");
        assert_eq!(money(0.003_214, Some(0.000_04)), "$0.00321 ± 0.00004");
        assert_eq!(money(1_234.5, None), "$1234.50");
        let count = figure(&estimate(1.0624, Some(0.0031)), Dimension::Count);
        assert_eq!(count, "1.062 ± 0.003");
    }

    #[test]
    fn bounds_and_reasons() {
        let all = Estimate {
            ci95: Some((0.9997, 1.0)),
            note: Some(Note::IfIndependent),
            ..estimate(1.0, None)
        };
        assert_eq!(figure(&all, Dimension::Share), "100 % (≥ 99.970 %)");
        let lost = Estimate { value: None, note: Some(Note::Unanswered), ..estimate(0.0, None) };
        assert_eq!(figure(&lost, Dimension::Seconds), "– (unanswered)");
    }

    #[test]
    fn differences_carry_sign_and_verdict() {
        let paired = |difference: f64, half: f64, verdict| Paired {
            difference: Some(difference),
            ci95: Some((difference - half, difference + half)),
            correlation: None,
            verdict: Some(verdict),
            note: None,
        };
        let gain = paired(0.0575, 0.001, Verdict::Clear);
        assert_eq!(difference(&gain, Dimension::Share), "+5.75 pp ± 0.10 clear");
        let saving = paired(-0.5, 0.03, Verdict::Clear);
        assert_eq!(difference(&saving, Dimension::Dollars), "-$0.50 ± 0.03 clear");
        let same = paired(0.0, 0.0, Verdict::Identical);
        assert_eq!(difference(&same, Dimension::Seconds), "identical");
    }
}
