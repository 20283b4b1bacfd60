//! Distributions as people write them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use windtunnel_policy::Duration;

use super::Factor;

/// A whole number of tokens, at most 100 million.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(transparent)]
pub struct Tokens(u32);

impl Tokens {
    /// The largest count a file may name.
    pub const MAX: u32 = 100_000_000;

    /// The count.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Tokens {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Tokens, D::Error> {
        let count = u64::deserialize(d)?;
        match u32::try_from(count) {
            Ok(count) if count <= Tokens::MAX => Ok(Tokens(count)),
            _ => Err(D::Error::custom(format!(
                "expected a token count up to {}, found `{count}`",
                Tokens::MAX
            ))),
        }
    }
}

impl JsonSchema for Tokens {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Tokens".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "integer", "minimum": 0, "maximum": Tokens::MAX})
    }
}

/// What a distribution is over: durations (in µs) or tokens.
pub trait Quantity:
    Copy + PartialOrd + std::fmt::Debug + Serialize + DeserializeOwned + JsonSchema
{
    /// The quantity as the whole number that is sampled.
    fn units(self) -> u64;
}

impl Quantity for Duration {
    fn units(self) -> u64 {
        self.as_micros()
    }
}

impl Quantity for Tokens {
    fn units(self) -> u64 {
        u64::from(self.0)
    }
}

/// A distribution, named by its shape.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields, bound = "")]
pub enum DistSpec<Q: Quantity> {
    /// Always this.
    Constant(Q),
    /// Uniform between two values.
    Uniform {
        /// Low end.
        from: Q,
        /// High end.
        to: Q,
    },
    /// Exponential.
    Exponential {
        /// Its mean.
        mean: Q,
    },
    /// Lognormal, by median and the standard deviation of the logarithm.
    Lognormal {
        /// Its median.
        median: Q,
        /// Standard deviation of the natural logarithm.
        sigma: Factor,
    },
    /// A constant and a lognormal on top.
    ShiftedLognormal {
        /// The constant.
        shift: Q,
        /// Median of the lognormal part.
        median: Q,
        /// Standard deviation of its natural logarithm.
        sigma: Factor,
    },
    /// Weibull.
    Weibull {
        /// Shape; below 1 for clustered gaps.
        shape: Factor,
        /// Scale.
        scale: Q,
    },
    /// Gamma, by mean and shape.
    Gamma {
        /// Its mean.
        mean: Q,
        /// Shape, the inverse square of the coefficient of variation.
        shape: Factor,
    },
    /// Empirical quantiles: `{p0: 100ms, p50: 200ms, p99: 900ms, p100: 2s}`, at least two.
    Quantiles(BTreeMap<String, Q>),
}
