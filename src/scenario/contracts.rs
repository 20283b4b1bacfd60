//! What targets promise, what route classes need, and what the application says of answers later.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windtunnel_policy::{Duration, Money, Share};

use super::{DistSpec, Tokens};

/// What a target promises, as the product has verified it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContractSpec {
    /// Its name.
    pub name: String,
    /// Its version; a later version of a contract keeps what earlier ones promise.
    #[serde(default = "first")]
    pub version: u32,
    /// The version of the schema its answers keep; another version is another schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<u32>,
    /// The languages it was verified in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<String>,
    /// Share of tasks it did, as the product has measured it; absent where nobody has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<Share>,
    /// Share of its answers that kept the schema, as the product has measured it; absent where nobody has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_validity: Option<Share>,
}

/// What a route class needs of every target that serves it, substitutes included. A target that
/// promises less gets none of its requests.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NeedsSpec {
    /// The contract of this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contract: Option<String>,
    /// The earliest version of it that will do.
    pub version: u32,
    /// The version of the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<u32>,
    /// All of these languages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<String>,
    /// At least this share of tasks done; a target that nobody has measured has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality_floor: Option<Share>,
    /// At least this share of answers that keep the schema; a target that nobody has measured has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_floor: Option<Share>,
    /// A context window of this many tokens at least, however short a prompt is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<Tokens>,
    /// One of these regions, as where data may not leave them; any where empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<String>,
    /// None of its prices above these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_ceiling: Option<PriceCeiling>,
    /// Whether the application is told where another model answered than the one asked for.
    pub disclose_substitutes: bool,
}

/// The most that tokens may cost.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PriceCeiling {
    /// Per million input tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_per_million: Option<Money>,
    /// Per million output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_per_million: Option<Money>,
}

/// What the application says of answers that were delivered: whether they did the job, once it knows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgedSpec {
    /// Share of answers that are judged.
    #[serde(default = "all")]
    pub share: Share,
    /// From the answer until the gateway hears of it.
    pub after: DistSpec<Duration>,
}

fn first() -> u32 {
    1
}

fn all() -> Share {
    Share::ONE
}
