//! Units as people write them: `250ms`, `$2.50`, `25%`.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use crate::{Duration, Money, Share};

/// Reads a duration: a decimal number and a unit, such as `250ms`, `1.5s`, `10m`, `2h`, `1d`, `40us`.
///
/// # Errors
/// Says what was expected where the text is anything else, negative, or too long for 64 bits of µs.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let expected = || {
        format!("expected a duration such as 250ms, 1.5s, 10m, 2h or 1d, found {}", quoted(text))
    };
    let (number, unit) = split_unit(text);
    let scale: u64 = match unit {
        "us" | "µs" => 1,
        "ms" => 1_000,
        "s" => 1_000_000,
        "m" | "min" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ => return Err(expected()),
    };
    let us = scaled(number, scale).ok_or_else(expected)?;
    u64::try_from(us)
        .map(Duration::from_micros)
        .map_err(|_| format!("{} is too long; use 213503982d or less", quoted(text)))
}

/// Reads an amount of dollars, such as `$2.50`.
///
/// # Errors
/// Says what was expected where the text is anything else, negative, or beyond 18 million dollars.
pub fn parse_money(text: &str) -> Result<Money, String> {
    let expected =
        || format!("expected an amount of dollars such as $2.50, found {}", quoted(text));
    let number = text.trim().strip_prefix('$').ok_or_else(expected)?;
    let pico = scaled(number.trim(), Money::DOLLAR.as_pico()).ok_or_else(expected)?;
    u64::try_from(pico)
        .map(Money::from_pico)
        .map_err(|_| format!("{} is too much; use $18446744 or less", quoted(text)))
}

/// Reads a share: `25%`, or a number from 0 to 1.
///
/// # Errors
/// Says what was expected where the text is anything else or not between 0 and 1.
pub fn parse_share(text: &str) -> Result<Share, String> {
    let expected =
        || format!("expected a share such as 25% or 0.25 (0 to 1), found {}", quoted(text));
    let trimmed = text.trim();
    let (number, percent) = match trimmed.strip_suffix('%') {
        Some(rest) => (rest.trim(), true),
        None => (trimmed, false),
    };
    let (numerator, denominator) = fraction(number).ok_or_else(expected)?;
    let denominator = if percent { 100 * denominator } else { denominator };
    match numerator <= denominator {
        true => Ok(Share::ratio(numerator, denominator)),
        false => Err(expected()),
    }
}

/// A decimal number up to 100 or so as a fraction, to its sixteenth decimal: exact, so that a share is the same
/// however it is written.
fn fraction(number: &str) -> Option<(u64, u64)> {
    if !is_decimal(number) {
        return None;
    }
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let decimals = &decimals[..decimals.len().min(16)];
    let denominator = 10_u64.pow(decimals.len() as u32);
    let digits = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u64>().ok() };
    let whole = digits(whole)?.checked_mul(denominator)?;
    Some((whole.checked_add(digits(decimals)?)?, denominator))
}

/// A decimal number times a whole scale, rounded to the nearest whole; `None` where it is no
/// plain decimal number. Exact: no float is involved.
pub fn scaled(number: &str, scale: u64) -> Option<u128> {
    if !is_decimal(number) {
        return None;
    }
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mut total: u128 = 0;
    for digit in whole.bytes() {
        total = total.checked_mul(10)?.checked_add(u128::from(digit - b'0'))?;
    }
    total = total.checked_mul(u128::from(scale))?;
    // Nineteen digits times a 64-bit scale fit 128 bits; more could not change the rounding.
    let (mut part, mut unit) = (0_u128, 1_u128);
    for digit in fraction.bytes().take(18) {
        part = part * 10 + u128::from(digit - b'0');
        unit *= 10;
    }
    total.checked_add((part * u128::from(scale) + unit / 2) / unit)
}

fn is_decimal(number: &str) -> bool {
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    let dots = number.bytes().filter(|b| *b == b'.').count();
    digits > 0 && dots <= 1 && digits + dots == number.len()
}

fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

fn quoted(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    format!("`{}`", escaped(&short))
}

/// The text with its control and direction characters escaped, as `\u{202e}`: shown on a terminal,
/// it moves no cursor and hides nothing.
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unseen(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    shown
}

/// Control characters, and those that change the direction of the text around them.
pub fn is_unseen(c: char) -> bool {
    let direction = matches!(c,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    direction || c.is_control()
}

/// `value / scale` with the fewest decimals that say it exactly.
fn decimal(value: u64, scale: u64) -> String {
    let fraction = value % scale;
    if fraction == 0 {
        return (value / scale).to_string();
    }
    let width = scale.ilog10() as usize;
    let text = format!("{}.{fraction:0width$}", value / scale);
    text.trim_end_matches('0').to_string()
}

impl fmt::Display for Duration {
    /// The largest unit up to seconds that says it in few digits, such as `250ms` or `1.5s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = self.as_micros();
        if us < 1_000 && us > 0 {
            write!(f, "{us}us")
        } else if us < 1_000_000 && us > 0 {
            write!(f, "{}ms", decimal(us, 1_000))
        } else {
            write!(f, "{}s", decimal(us, 1_000_000))
        }
    }
}

impl fmt::Display for Money {
    /// Dollars with the decimals it needs, two at least.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = decimal(self.as_pico(), Money::DOLLAR.as_pico());
        let decimals = text.split_once('.').map_or(0, |(_, d)| d.len());
        match decimals {
            0 => write!(f, "${text}.00"),
            1 => write!(f, "${text}0"),
            _ => write!(f, "${text}"),
        }
    }
}

impl fmt::Display for Share {
    /// A percentage, to 12 significant places.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.10}", self.as_f64() * 100.0);
        write!(f, "{}%", text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(feature = "serde")]
mod files {
    use alloc::string::{String, ToString};
    use core::fmt;

    use serde::de::{Error, Visitor};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::{Duration, Money, Share};

    macro_rules! text_unit {
        ($type:ty, $parse:path, $name:literal, $pattern:literal, $expected:literal) => {
            impl Serialize for $type {
                fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                    s.serialize_str(&self.to_string())
                }
            }

            impl<'de> Deserialize<'de> for $type {
                fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                    // `custom` errors are located at the value; a number is shown as written.
                    let text = String::deserialize(d)?;
                    $parse(&text).map_err(D::Error::custom)
                }
            }

            #[cfg(feature = "schema")]
            impl schemars::JsonSchema for $type {
                fn schema_name() -> alloc::borrow::Cow<'static, str> {
                    $name.into()
                }

                fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                    schemars::json_schema!({
                        "type": "string", "pattern": $pattern, "description": $expected
                    })
                }
            }
        };
    }

    text_unit!(
        Duration,
        crate::text::parse_duration,
        "Duration",
        r"^[0-9]*\.?[0-9]+ *(us|µs|ms|s|m|min|h|d)$",
        "A duration such as 250ms, 1.5s, 10m, 2h or 1d."
    );
    text_unit!(
        Money,
        crate::text::parse_money,
        "Money",
        r"^\$ *[0-9]*\.?[0-9]+$",
        "An amount of dollars such as $2.50."
    );

    impl Serialize for Share {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            s.serialize_str(&self.to_string())
        }
    }

    impl<'de> Deserialize<'de> for Share {
        fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
            d.deserialize_any(ShareVisitor)
        }
    }

    struct ShareVisitor;

    impl Visitor<'_> for ShareVisitor {
        type Value = Share;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a share such as 25% or 0.25 (0 to 1)")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Share, E> {
            crate::text::parse_share(text).map_err(E::custom)
        }

        fn visit_f64<E: Error>(self, value: f64) -> Result<Share, E> {
            self.visit_str(&value.to_string())
        }

        fn visit_u64<E: Error>(self, value: u64) -> Result<Share, E> {
            self.visit_str(&value.to_string())
        }

        fn visit_i64<E: Error>(self, value: i64) -> Result<Share, E> {
            self.visit_str(&value.to_string())
        }
    }

    #[cfg(feature = "schema")]
    impl schemars::JsonSchema for Share {
        fn schema_name() -> alloc::borrow::Cow<'static, str> {
            "Share".into()
        }

        fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
            schemars::json_schema!({
                "description": "A share such as 25% or 0.25.",
                "anyOf": [
                    {"type": "string", "pattern": r"^[0-9]*\.?[0-9]+ *%?$"},
                    {"type": "number", "minimum": 0, "maximum": 1}
                ]
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_and_print() {
        for (text, us, shown) in [
            ("250ms", 250_000, "250ms"),
            ("1.5s", 1_500_000, "1.5s"),
            ("2h", 7_200_000_000, "7200s"),
            ("0s", 0, "0s"),
            ("40us", 40, "40us"),
            (" 10 m ", 600_000_000, "600s"),
            ("0.0000005s", 1, "1us"),
        ] {
            let d = parse_duration(text).unwrap();
            assert_eq!(d.as_micros(), us, "{text}");
            assert_eq!(d.to_string(), shown);
            assert_eq!(parse_duration(shown).unwrap(), d);
        }
        for bad in ["", "5", "-1s", "1e3s", "s", "1.2.3s", "5 years", "NaN", "99999999999999999d"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn money_reads_and_prints() {
        for (text, pico, shown) in [
            ("$2.50", 2_500_000_000_000, "$2.50"),
            ("$0.000001", 1_000_000, "$0.000001"),
            ("$ 3", 3_000_000_000_000, "$3.00"),
        ] {
            let m = parse_money(text).unwrap();
            assert_eq!((m.as_pico(), m.to_string().as_str()), (pico, shown));
        }
        for bad in ["2.50", "$-1", "$", "$1e9", "$20000000"] {
            assert!(parse_money(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn shares_read_and_print() {
        assert_eq!(parse_share("25%").unwrap(), Share::ratio(1, 4));
        assert_eq!(parse_share("1").unwrap(), Share::ONE);
        assert_eq!(parse_share("12.5%").unwrap().to_string(), "12.5%");
        for percent in 0..=100 {
            let share = Share::ratio(percent, 100);
            for text in [share.to_string(), format!("{}", percent as f64 / 100.0)] {
                assert_eq!(parse_share(&text).unwrap(), share, "{text}");
            }
        }
        for bad in ["101%", "-1%", "1.01", "NaN", "inf", "", "%", ".", "99999999999999999999"] {
            assert!(parse_share(bad).is_err(), "{bad}");
        }
    }
}
