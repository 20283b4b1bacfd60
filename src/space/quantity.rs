//! The values of a policy as numbers with a kind.

use serde_json::Value;
use windtunnel_policy::text::{parse_duration, parse_money, parse_share};

/// What a number counts. Shares are plain numbers: 25 % is 0.25.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A count or a share.
    Plain,
    /// Seconds.
    Time,
    /// Dollars.
    Money,
}

impl Kind {
    /// For people.
    pub(super) const fn noun(self) -> &'static str {
        match self {
            Kind::Plain => "a number",
            Kind::Time => "a duration",
            Kind::Money => "an amount of dollars",
        }
    }

    /// The unit of its numbers in tables, and on axes.
    pub const fn unit(self) -> &'static str {
        match self {
            Kind::Plain => "",
            Kind::Time => "s",
            Kind::Money => "$",
        }
    }
}

/// A number of a kind, in seconds, dollars or as it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Quantity {
    /// What it counts.
    pub kind: Kind,
    /// How much.
    pub amount: f64,
}

impl Quantity {
    /// What a value of a policy counts; `None` for text, lists, and what is absent.
    pub fn of(value: &Value) -> Option<Quantity> {
        match value {
            Value::Number(number) => Some(Quantity { kind: Kind::Plain, amount: number.as_f64()? }),
            Value::String(text) => Quantity::parse(text),
            _ => None,
        }
    }

    /// A quantity with its unit, such as `250ms`, `$0.05` or `20%`, or a plain number.
    pub(super) fn parse(text: &str) -> Option<Quantity> {
        let text = text.trim();
        if text.starts_with('$') {
            let amount = parse_money(text).ok()?.as_dollars();
            return Some(Quantity { kind: Kind::Money, amount });
        }
        if let Ok(duration) = parse_duration(text) {
            let amount = duration.as_micros() as f64 / 1e6;
            return Some(Quantity { kind: Kind::Time, amount });
        }
        let share = text.ends_with('%').then(|| parse_share(text).ok()).flatten();
        let amount = match share {
            Some(share) => share.as_f64(),
            None => text.parse().ok().filter(|x: &f64| x.is_finite())?,
        };
        Some(Quantity { kind: Kind::Plain, amount })
    }
}
