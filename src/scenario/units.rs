//! Units that only the simulator needs; durations, money and shares are the policy core's.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use windtunnel_policy::text::scaled;

/// Events per time, kept as events per day × 10⁶ so that `0.01/s` and `3/h` are exact.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Rate {
    micro_per_day: u64,
}

impl Rate {
    /// Events per second, for building tables.
    pub fn per_second(self) -> f64 {
        self.micro_per_day as f64 / 1e6 / 86_400.0
    }

    /// Reads a rate such as `20/s`, `300/m`, `5/h` or `2/d`.
    ///
    /// # Errors
    /// Says what was expected where the text is anything else, or too large.
    pub fn parse(text: &str) -> Result<Rate, String> {
        let expected = || format!("expected a rate such as 20/s, 300/m or 5/h, found `{text}`");
        let (number, unit) = text.trim().split_once('/').ok_or_else(expected)?;
        let per_day = match unit.trim() {
            "s" => 86_400,
            "m" | "min" => 1_440,
            "h" => 24,
            "d" => 1,
            _ => return Err(expected()),
        };
        let micro = scaled(number.trim(), per_day * 1_000_000).ok_or_else(expected)?;
        // A million a second for a day is beyond any gateway, and keeps later products in range.
        match u64::try_from(micro) {
            Ok(micro_per_day) if micro_per_day <= 86_400 * 1_000_000_000_000 => {
                Ok(Rate { micro_per_day })
            }
            _ => Err(format!("`{text}` is above the largest rate, 1000000/s")),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.per_second())
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&self.to_string())
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Rate, D::Error> {
        Rate::parse(&String::deserialize(d)?).map_err(D::Error::custom)
    }
}

impl JsonSchema for Rate {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Rate".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string", "pattern": r"^[0-9]*\.?[0-9]+ */ *(s|m|min|h|d)$",
            "description": "A rate such as 20/s, 300/m or 5/h."
        })
    }
}

/// A positive, finite number: a factor, a shape, a coefficient of variation.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Factor(f64);

impl Factor {
    /// One.
    pub const ONE: Factor = Factor(1.0);

    /// `value`, unless it is not finite, not positive, or above 10⁹.
    pub fn new(value: f64) -> Option<Factor> {
        (value.is_finite() && value > 0.0 && value <= 1e9).then_some(Factor(value))
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// The number in parts per million, rounded.
    pub fn ppm(self) -> u64 {
        libm::round(self.0 * 1e6) as u64
    }
}

impl Serialize for Factor {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_f64(self.0)
    }
}

impl<'de> Deserialize<'de> for Factor {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Factor, D::Error> {
        let value = f64::deserialize(d)?;
        Factor::new(value).ok_or_else(|| {
            D::Error::custom(format!("expected a number above 0 and at most 1e9, found `{value}`"))
        })
    }
}

impl JsonSchema for Factor {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Factor".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "number", "exclusiveMinimum": 0, "maximum": 1e9,
            "description": "A positive number."
        })
    }
}

/// One value, or `[from, to]` to draw from uniformly where incidents are resampled.
///
/// Without resampling the first value is used: the published course.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Range<T> {
    /// The stated value, or the low end.
    pub from: T,
    /// The high end; equal to `from` for a single value.
    pub to: T,
}

impl<T: Copy> Range<T> {
    /// Just this value.
    pub fn only(value: T) -> Range<T> {
        Range { from: value, to: value }
    }
}

impl<T: Serialize + PartialEq> Serialize for Range<T> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if self.from == self.to {
            self.from.serialize(s)
        } else {
            [&self.from, &self.to].serialize(s)
        }
    }
}

impl<'de, T> Deserialize<'de> for Range<T>
where
    T: Deserialize<'de> + Copy + PartialOrd + fmt::Debug,
{
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Range<T>, D::Error> {
        struct RangeVisitor<T>(std::marker::PhantomData<T>);

        impl<'de, T> Visitor<'de> for RangeVisitor<T>
        where
            T: Deserialize<'de> + Copy + PartialOrd + fmt::Debug,
        {
            type Value = Range<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one value, or [from, to]")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Range<T>, A::Error> {
                let wrong = || A::Error::custom("expected two values, [from, to]");
                let from: T = seq.next_element()?.ok_or_else(wrong)?;
                let to: T = seq.next_element()?.ok_or_else(wrong)?;
                if seq.next_element::<T>()?.is_some() {
                    return Err(wrong());
                }
                if from > to {
                    return Err(A::Error::custom("expected [from, to] with from at most to"));
                }
                Ok(Range { from, to })
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Range<T>, E> {
                T::deserialize(serde::de::value::StrDeserializer::new(text)).map(Range::only)
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Range<T>, E> {
                T::deserialize(serde::de::value::F64Deserializer::new(value)).map(Range::only)
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Range<T>, E> {
                T::deserialize(serde::de::value::U64Deserializer::new(value)).map(Range::only)
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Range<T>, E> {
                T::deserialize(serde::de::value::I64Deserializer::new(value)).map(Range::only)
            }
        }

        d.deserialize_any(RangeVisitor(std::marker::PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Range<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("RangeOf{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let one = generator.subschema_for::<T>();
        schemars::json_schema!({
            "description": "One value, or [from, to].",
            "anyOf": [one, {"type": "array", "items": one, "minItems": 2, "maxItems": 2}]
        })
    }
}
