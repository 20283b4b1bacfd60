//! Distributions as people write them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use windtunnel_policy::Duration;

use super::Factor;
use crate::dist::{Dist, Shape, Tables};

/// A whole number of tokens, at most 100 million.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(transparent)]
pub struct Tokens(u32);

impl Tokens {
    /// The largest count a file may name.
    pub const MAX: u32 = 100_000_000;

    /// This count, or the largest a file may name.
    pub fn at_most(count: u32) -> Tokens {
        Tokens(count.min(Tokens::MAX))
    }

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
#[schemars(rename = "DistributionOf{Q}")]
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

impl<Q: Quantity> DistSpec<Q> {
    /// The table that samples it, in µs or tokens.
    ///
    /// # Errors
    /// Says which parameter is out of its range, or which quantile has no name.
    pub fn dist(&self) -> Result<Dist, String> {
        self.dist_in(&Tables::default())
    }

    /// The same, kept in `tables` for the next who asks.
    ///
    /// # Errors
    /// As [`DistSpec::dist`].
    pub fn dist_in(&self, tables: &Tables) -> Result<Dist, String> {
        tables.dist(&self.shape()?).map_err(|e| e.to_string())
    }

    fn shape(&self) -> Result<Shape, String> {
        let units = |quantity: &Q| quantity.units() as f64;
        Ok(match self {
            DistSpec::Constant(value) => Shape::Constant(units(value)),
            DistSpec::Uniform { from, to } => Shape::Uniform { low: units(from), high: units(to) },
            DistSpec::Exponential { mean } => Shape::Exponential { mean: units(mean) },
            DistSpec::Lognormal { median, sigma } => {
                Shape::Lognormal { shift: 0.0, median: units(median), sigma: sigma.get() }
            }
            DistSpec::ShiftedLognormal { shift, median, sigma } => {
                Shape::Lognormal { shift: units(shift), median: units(median), sigma: sigma.get() }
            }
            DistSpec::Weibull { shape, scale } => {
                Shape::Weibull { shape: shape.get(), scale: units(scale) }
            }
            DistSpec::Gamma { mean, shape } => {
                Shape::Gamma { shape: shape.get(), mean: units(mean) }
            }
            DistSpec::Quantiles(quantiles) => {
                let mut pairs = quantiles
                    .iter()
                    .map(|(name, value)| Ok((probability(name)?, units(value))))
                    .collect::<Result<Vec<_>, String>>()?;
                // The file's order is that of the names as text: p5 stands after p25.
                pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
                Shape::Quantiles(pairs)
            }
        })
    }
}

/// The probability a quantile's name states: `p99.9` is 0.999.
fn probability(name: &str) -> Result<f64, String> {
    let percent = name.strip_prefix('p').and_then(|digits| digits.parse::<f64>().ok());
    match percent {
        Some(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => {
            Err(format!("expected a quantile from p0 to p100 such as p50 or p99.9, found `{name}`"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_read_by_number_not_by_text() {
        let spec: DistSpec<Tokens> =
            serde_json::from_str(r#"{"quantiles": {"p5": 10, "p25": 100, "p95": 1000}}"#)
                .expect("parses");
        let dist = spec.dist().expect("ascends");
        assert_eq!(dist.sample(u64::MAX / 4), 100);
    }

    #[test]
    fn a_quantile_without_a_number_is_refused() {
        let spec = DistSpec::Quantiles(BTreeMap::from([("median".to_string(), Tokens(1))]));
        assert!(spec.dist().expect_err("no number").contains("median"));
    }
}
