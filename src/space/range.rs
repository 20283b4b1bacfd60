//! Ranges of numbers with units, cut into whole steps of their smallest unit.

use serde_json::{Number, Value};
use windtunnel_policy::text::{parse_duration, parse_money, scaled};
use windtunnel_policy::{Duration, Money};

use super::file::Scale;
use super::refusal::Refusal;
use super::sample::grouped;

/// Parts of one in which shares are counted.
const PARTS: u64 = 1_000_000;
/// Digits that a drawn value keeps on a linear scale, of the range's width.
const DIGITS_OF_WIDTH: u32 = 4;
/// Digits that a drawn value keeps on a logarithmic scale.
const DIGITS_OF_VALUE: u32 = 3;

/// A linear range of whole numbers is each of them, up to this many.
pub(super) const MOST_WHOLE_NUMBERS: u64 = 1_000;
/// A step that makes more values is refused.
const MOST_STEPS: u64 = 100_000;

/// What a range's values are written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    /// Whole numbers.
    Count,
    /// Millionths, written as a percentage.
    Share,
    /// Microseconds.
    Time,
    /// Picodollars.
    Money,
}

/// Numbers from `low` to `high`, both included, in smallest units.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub(super) unit: Unit,
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) scale: Scale,
    /// The only values it has, where it was cut into some.
    pub(super) points: Option<Vec<u64>>,
}

impl Span {
    /// A range between two values of one unit.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(super) fn new(low: &Value, high: &Value, scale: Scale) -> Result<Span, Refusal> {
        let (unit, from) = number(low)?;
        let (other, to) = number(high)?;
        let (shown_low, shown_high) = (shown(low), shown(high));
        if unit != other {
            let fix = match [unit, other].contains(&Unit::Share) {
                true => "write both as shares, such as `0%` and `50%`",
                false => "write both in one unit",
            };
            return Err(Refusal::new(format!("{shown_low} and {shown_high} differ in unit"), fix));
        }
        if from >= to {
            let fix = match from == to {
                true => "a range needs two ends; a single value is a list of one".into(),
                false => format!("turn them round: from {shown_high} to {shown_low}"),
            };
            return Err(Refusal::new(format!("{shown_low} is not below {shown_high}"), fix));
        }
        if from == 0 && scale == Scale::Log {
            let fix = format!(
                "begin it above zero, such as at `{}`, or leave out `log`",
                unit.smallest_of_people()
            );
            return Err(Refusal::new("a logarithmic range cannot begin at zero", fix));
        }
        let mut span = Span { unit, low: from, high: to, scale, points: None };
        if unit == Unit::Count && to - from < MOST_WHOLE_NUMBERS && scale == Scale::Linear {
            span.points = Some((from..=to).collect());
        }
        Ok(span)
    }

    /// Cuts it into this many values, the ends included.
    pub(super) fn cut(&mut self, count: u64) {
        let last = (count - 1) as f64;
        let shares = || (0..count).map(|i| i as f64 / last);
        let mut points: Vec<u64> = shares().map(|share| self.at(share)).collect();
        points.dedup();
        if points.len() < count as usize {
            // So many that rounding makes one of several: all digits, then. Of whole numbers one
            // may still be nearest to several points.
            let exact = |share| (self.exactly(share) + 0.5) as u64;
            points = shares().map(|share| exact(share).clamp(self.low, self.high)).collect();
            points.dedup();
        }
        self.points = Some(points);
    }

    /// Cuts it into values so far apart, from the low end.
    ///
    /// # Errors
    /// The step is of another unit, or nothing, or there would be too many.
    pub(super) fn step(&mut self, step: &Value) -> Result<(), Refusal> {
        let (unit, step_by) = number(step)?;
        let wrong = |what: &str, fix: String| {
            Err(Refusal::new(format!("the step {} {what}", shown(step)), fix))
        };
        if unit != self.unit {
            return wrong("has another unit", "write it in the unit of the ends".into());
        }
        match (self.high - self.low).checked_div(step_by) {
            None => wrong("is nothing", "give a step above zero, or a count".into()),
            Some(0) => {
                wrong("leads beyond the high end", "give a smaller step, or list values".into())
            }
            Some(steps) if steps < MOST_STEPS => {
                self.points = Some((0..=steps).map(|i| self.low + i * step_by).collect());
                Ok(())
            }
            Some(steps) => {
                let of = format!("makes {} values", grouped(u128::from(steps) + 1));
                let most = grouped(u128::from(MOST_STEPS));
                wrong(&of, format!("give a larger one: at most {most} values"))
            }
        }
    }

    /// The value at `share` of the way, from 0 to 1, rounded to what a person would write.
    pub(super) fn at(&self, share: f64) -> u64 {
        let exact = self.exactly(share);
        let (size, digits) = match self.scale {
            Scale::Linear => (self.high - self.low, DIGITS_OF_WIDTH),
            Scale::Log => (exact as u64, DIGITS_OF_VALUE),
        };
        let grain = match self.unit {
            Unit::Count => 1,
            _ => 10_u64.pow((size.max(1).ilog10() + 1).saturating_sub(digits)),
        };
        let rounded = ((exact / grain as f64 + 0.5) as u64).saturating_mul(grain);
        rounded.clamp(self.low, self.high)
    }

    fn exactly(&self, share: f64) -> f64 {
        let (low, high) = (self.low as f64, self.high as f64);
        match self.scale {
            Scale::Linear => low + share * (high - low),
            Scale::Log => low * libm::pow(high / low, share),
        }
    }

    /// How far along the range a value is, from 0 to 1.
    pub(super) fn share_of(&self, value: u64) -> f64 {
        let (low, high, value) = (self.low as f64, self.high as f64, value as f64);
        match self.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Log => libm::log(value / low) / libm::log(high / low),
        }
    }

    /// A value as a policy file says it.
    pub(super) fn value(&self, level: u64) -> Value {
        match self.unit {
            Unit::Count => Value::Number(Number::from(level)),
            Unit::Share => Value::String(percent(level)),
            Unit::Time => Value::String(Duration::from_micros(level).to_string()),
            Unit::Money => Value::String(Money::from_pico(level).to_string()),
        }
    }
}

impl Unit {
    /// A value near zero, as people write one.
    const fn smallest_of_people(self) -> &'static str {
        match self {
            Unit::Count => "1",
            Unit::Share => "1%",
            Unit::Time => "1ms",
            Unit::Money => "$0.01",
        }
    }
}

/// Millionths as a percentage.
fn percent(parts: u64) -> String {
    let (whole, fraction) = (parts / 10_000, parts % 10_000);
    let text = format!("{whole}.{fraction:04}");
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

/// True for a number with or without a unit.
pub(super) fn is_number(value: &Value) -> bool {
    number(value).is_ok()
}

/// A number in its smallest unit.
fn number(value: &Value) -> Result<(Unit, u64), Refusal> {
    let wrong = || match text_or_number(value).starts_with('-') {
        true => Refusal::new(
            format!("{} is below zero, which no field of a policy is", shown(value)),
            "begin at 0 or above",
        ),
        false => Refusal::new(
            format!("{} is no number with a unit", shown(value)),
            "write one such as 50ms, 20%, $0.05 or 3, or list the values one by one",
        ),
    };
    match value {
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(whole), _) => Ok((Unit::Count, whole)),
            (None, Some(share)) if (0.0..=1.0).contains(&share) => {
                Ok((Unit::Share, (share * PARTS as f64 + 0.5) as u64))
            }
            _ => Err(wrong()),
        },
        Value::String(text) => {
            let text = text.trim();
            if let Some(number) = text.strip_suffix('%') {
                let parts = scaled(number.trim(), PARTS / 100).and_then(|p| u64::try_from(p).ok());
                return parts.map(|parts| (Unit::Share, parts)).ok_or_else(wrong);
            }
            if text.starts_with('$') {
                let money = parse_money(text).map_err(|_| wrong())?;
                return Ok((Unit::Money, money.as_pico()));
            }
            let duration = parse_duration(text).map_err(|_| wrong())?;
            Ok((Unit::Time, duration.as_micros()))
        }
        _ => Err(wrong()),
    }
}

fn shown(value: &Value) -> String {
    format!("`{}`", text_or_number(value))
}

/// As it was written.
fn text_or_number(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn span(low: Value, high: Value, scale: Scale) -> Span {
        Span::new(&low, &high, scale).unwrap()
    }

    #[test]
    fn values_lie_where_the_scale_says_and_are_written_with_their_unit() {
        let log = span(json!("10ms"), json!("1s"), Scale::Log);
        assert_eq!(log.value(log.at(0.0)), json!("10ms"));
        // The middle of a logarithmic range is the geometric mean.
        assert_eq!(log.value(log.at(0.5)), json!("100ms"));
        assert_eq!(log.value(log.at(1.0)), json!("1s"));
        // 10^(1 + 2/3) = 46.4159 in ms, to three digits.
        assert_eq!(log.value(log.at(1.0 / 3.0)), json!("46.4ms"));
        let linear = span(json!("0%"), json!("50%"), Scale::Linear);
        assert_eq!(linear.value(linear.at(0.25)), json!("12.5%"));
        let money = span(json!("$0.01"), json!("$0.03"), Scale::Linear);
        assert_eq!(money.value(money.at(0.5)), json!("$0.02"));
    }

    #[test]
    fn ends_are_in_and_nothing_lies_outside() {
        let odd = span(json!("333us"), json!("7777us"), Scale::Linear);
        for i in 0..=1_000 {
            let level = odd.at(f64::from(i) / 1_000.0);
            assert!((333..=7_777).contains(&level));
            assert!((odd.share_of(level) - f64::from(i) / 1_000.0).abs() < 0.002);
        }
    }

    #[test]
    fn whole_numbers_are_their_own_points() {
        let count = span(json!(1), json!(5), Scale::Linear);
        assert_eq!(count.points, Some(vec![1, 2, 3, 4, 5]));
        let mut few = span(json!(1), json!(3), Scale::Log);
        few.cut(9);
        assert_eq!(few.points, Some(vec![1, 2, 3]));
    }

    #[test]
    fn steps_start_at_the_low_end() {
        let mut span = span(json!("1s"), json!("2.2s"), Scale::Linear);
        span.step(&json!("500ms")).unwrap();
        assert_eq!(span.points, Some(vec![1_000_000, 1_500_000, 2_000_000]));
        assert!(span.step(&json!(0)).is_err());
        assert!(span.step(&json!("0s")).is_err());
        // 1.2 s by a microsecond; and a step that leaves the low end alone.
        let error = span.step(&json!("1us")).unwrap_err();
        assert!(error.message.contains("makes 1,200,001 values"), "{error:?}");
        let error = span.step(&json!("1.3s")).unwrap_err();
        assert!(error.message.contains("leads beyond the high end"), "{error:?}");
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for (low, high, scale) in [
            (json!("1s"), json!(2), Scale::Linear),
            (json!("2s"), json!("1s"), Scale::Linear),
            (json!("1s"), json!("1s"), Scale::Linear),
            (json!("0s"), json!("1s"), Scale::Log),
            (json!("fast"), json!("1s"), Scale::Linear),
            (json!(-1), json!(1), Scale::Linear),
            (json!(0.5), json!(1.5), Scale::Linear),
            (json!(true), json!(false), Scale::Linear),
        ] {
            let refusal = Span::new(&low, &high, scale).unwrap_err();
            assert!(!refusal.fix.is_empty(), "{low} {high}");
        }
        for (low, high, scale, fix) in [
            (json!(5), json!(1), Scale::Linear, "turn them round: from `1` to `5`"),
            (json!("5s"), json!("5s"), Scale::Linear, "a single value is a list of one"),
            (json!("0s"), json!("2s"), Scale::Log, "such as at `1ms`, or leave out `log`"),
            (json!(0), json!(10), Scale::Log, "such as at `1`"),
            (json!(0), json!(0.5), Scale::Linear, "such as `0%` and `50%`"),
            (json!("a"), json!("b"), Scale::Linear, "list the values one by one"),
        ] {
            let refusal = Span::new(&low, &high, scale).unwrap_err();
            assert!(refusal.fix.contains(fix), "{low} {high}: {refusal:?}");
        }
    }
}
