//! What a target promises beyond its model's name, and what a route class needs of every target.

use alloc::string::String;
use alloc::vec::Vec;

use crate::target::Target;
use crate::{Price, Share};

/// What a target promises, as the product has verified it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contract {
    /// Its name; empty for none.
    pub name: String,
    /// Its version. A later version of a contract keeps what earlier ones promise.
    pub version: u32,
    /// The version of the schema its answers keep; 0 for none. Other versions are other schemas.
    pub schema: u32,
    /// The languages it was verified in, by whatever names the product gives them.
    pub languages: Vec<String>,
    /// Share of tasks it did, as the product has measured it; `None` where nobody has.
    pub quality: Option<Share>,
    /// Share of its answers that kept the schema, as the product has measured it; `None` where nobody
    /// has.
    pub schema_validity: Option<Share>,
}

/// What a route class needs of every target that serves it. Nothing by default.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// A contract of this name, and at least this version.
    pub contract: Option<(String, u32)>,
    /// Answers of this version of the schema.
    pub schema: Option<u32>,
    /// All of these languages.
    pub languages: Vec<String>,
    /// At least this share of tasks done; a target that nobody has measured has none.
    pub quality_floor: Option<Share>,
    /// At least this share of answers that keep the schema; a target that nobody has measured has none.
    pub schema_floor: Option<Share>,
    /// A context window of this many tokens at least.
    pub context_tokens: u32,
    /// One of these regions; any where empty.
    pub regions: Vec<String>,
    /// None of its prices above these.
    pub price_ceiling: Option<Price>,
    /// Whether the application is told where another model answered than the class's own.
    pub disclose_substitutes: bool,
}

impl Needs {
    /// Whether a target has all that is needed.
    pub fn met_by(&self, target: &Target) -> bool {
        let Contract { name, version, schema, languages, quality, schema_validity } =
            &target.contract;
        let price = &target.price;
        let reaches = |floor: Option<Share>, measured: &Option<Share>| {
            floor.is_none_or(|floor| measured.is_some_and(|share| share >= floor))
        };
        self.contract.as_ref().is_none_or(|(needed, least)| name == needed && version >= least)
            && self.schema.is_none_or(|needed| *schema == needed)
            && self.languages.iter().all(|language| languages.contains(language))
            && reaches(self.quality_floor, quality)
            && reaches(self.schema_floor, schema_validity)
            && target.context_tokens >= self.context_tokens
            && (self.regions.is_empty() || self.regions.contains(&target.region))
            && self.price_ceiling.is_none_or(|most| most.max(*price) == most)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::target::testing::target;

    #[test]
    fn each_need_is_asked_for_itself() {
        let contract = Contract {
            name: "extract".into(),
            version: 2,
            schema: 3,
            languages: vec!["de".into(), "en".into()],
            quality: Some(Share::ratio(9, 10)),
            schema_validity: Some(Share::ratio(98, 100)),
        };
        let price = Price { input: 3, cached: 1, output: 9 };
        let target =
            Target { contract, price, context_tokens: 8_000, ..target("t", "p", "m", "eu") };
        let none = Needs::default();
        assert!(none.met_by(&target));
        let named = |name: &str, version| Needs {
            contract: Some((name.into(), version)),
            ..Needs::default()
        };
        let schema = |version| Needs { schema: Some(version), ..Needs::default() };
        let speaks = |languages: &[&str]| Needs {
            languages: languages.iter().map(|l| (*l).into()).collect(),
            ..Needs::default()
        };
        let floor = |n| Needs { quality_floor: Some(Share::ratio(n, 100)), ..Needs::default() };
        let keeps = |n| Needs { schema_floor: Some(Share::ratio(n, 100)), ..Needs::default() };
        let window = |context_tokens| Needs { context_tokens, ..Needs::default() };
        let within = |regions: &[&str]| Needs {
            regions: regions.iter().map(|r| (*r).into()).collect(),
            ..Needs::default()
        };
        let ceiling = |input, output| Needs {
            price_ceiling: Some(Price { input, cached: input, output }),
            ..Needs::default()
        };
        for (needs, met) in [
            (named("extract", 1), true),
            (named("extract", 2), true),
            (named("extract", 3), false),
            (named("chat", 1), false),
            (schema(3), true),
            (schema(2), false),
            (schema(4), false),
            (speaks(&["en"]), true),
            (speaks(&["en", "fr"]), false),
            (floor(90), true),
            (floor(91), false),
            (keeps(98), true),
            (keeps(99), false),
            (window(8_000), true),
            (window(8_001), false),
            (within(&["us", "eu"]), true),
            (within(&["us"]), false),
            (ceiling(3, 9), true),
            (ceiling(2, 9), false),
            (ceiling(3, 8), false),
        ] {
            assert_eq!(needs.met_by(&target), met, "{needs:?}");
        }
        let unmeasured = crate::target::testing::target("t", "p", "m", "r");
        assert!(!floor(1).met_by(&unmeasured) && !keeps(1).met_by(&unmeasured));
    }
}
