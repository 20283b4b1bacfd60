//! What a sweep is: all that its rows depend on, and what their columns mean.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::objective::Objective;
use super::score::Aggregate;
use crate::input::InputError;
use crate::space::{Kind, Scale, Tally};
use crate::stats::Dimension;

/// The first line of a `.sweep` file. Two sweeps with equal headers, their shards apart, have equal
/// rows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version of windtunnel.
    pub windtunnel: String,
    /// The scenarios, in the order given.
    pub scenarios: Vec<Counted>,
    /// The policy that is varied.
    pub base: Named,
    /// What varies.
    pub space: Named,
    /// How variants were drawn.
    pub sample: String,
    /// The seed of that.
    pub sample_seed: u64,
    /// Points drawn, and what became of them.
    pub tally: Tally,
    /// The seed of the worlds.
    pub seed: u64,
    /// How many worlds of each scenario.
    pub worlds: u32,
    /// Whether traffic and incidents were resampled.
    pub resample: bool,
    /// What is wanted.
    pub objectives: Vec<Objective>,
    /// How several scenarios become one figure of an objective.
    pub score: Aggregate,
    /// Variants in all; the base is number 0 and not among them.
    pub variants: u64,
    /// What each row says was set.
    pub fields: Vec<FieldColumn>,
    /// The figures of each row.
    pub figures: Vec<FigureColumn>,
    /// Which part of the variants this file is for.
    pub shard: Shard,
}

/// A file by name and content.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// SHA-256, in hexadecimal.
    pub hash: String,
}

/// A scenario and how much it counts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    /// Its name.
    pub name: String,
    /// SHA-256 of it and its models, in hexadecimal.
    pub hash: String,
    /// Its weight as given.
    pub weight: f64,
}

/// A column of what was set.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldColumn {
    /// A field's path, or a choice's name.
    pub name: String,
    /// What its cells hold.
    pub holds: Holds,
    /// The choice that alone sets it, or whose option it names.
    pub choice: Option<String>,
    /// How its numbers spread, which charts draw it on; linear where absent.
    #[serde(default, skip_serializing_if = "is_linear")]
    pub scale: Scale,
}

fn is_linear(scale: &Scale) -> bool {
    *scale == Scale::Linear
}

impl FieldColumn {
    /// True for the name of a choice's option, which is no field of a policy.
    pub fn is_choice(&self) -> bool {
        self.choice.as_ref() == Some(&self.name)
    }
}

/// What the cells of a field hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// Plain numbers.
    Number,
    /// Fractions of one.
    Share,
    /// Seconds.
    Seconds,
    /// Dollars.
    Dollars,
    /// True or false.
    Truth,
    /// Names, or parts of a policy as JSON.
    Text,
}

impl From<Kind> for Holds {
    fn from(kind: Kind) -> Holds {
        match kind {
            Kind::Plain => Holds::Number,
            Kind::Time => Holds::Seconds,
            Kind::Money => Holds::Dollars,
        }
    }
}

/// A figure with its interval: three columns.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureColumn {
    /// The measure's name, after that of the scenario where there are several.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// What it is measured in.
    pub dimension: Measured,
}

/// What a figure is measured in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measured {
    /// A fraction, 0 to 1.
    Share,
    /// Seconds.
    Seconds,
    /// US dollars.
    Dollars,
    /// A plain number.
    Count,
}

impl From<Dimension> for Measured {
    fn from(dimension: Dimension) -> Measured {
        match dimension {
            Dimension::Share => Measured::Share,
            Dimension::Seconds => Measured::Seconds,
            Dimension::Dollars => Measured::Dollars,
            Dimension::Count => Measured::Count,
        }
    }
}

impl From<Measured> for Dimension {
    fn from(measured: Measured) -> Dimension {
        match measured {
            Measured::Share => Dimension::Share,
            Measured::Seconds => Dimension::Seconds,
            Measured::Dollars => Dimension::Dollars,
            Measured::Count => Dimension::Count,
        }
    }
}

/// A sweep in more parts is refused.
const MOST_SHARDS: u64 = 100_000;

/// One of several parts of the variants: every `of`th, from the `number`th on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// From 1.
    pub number: u64,
    /// How many there are.
    pub of: u64,
}

impl Shard {
    /// All of it.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };

    /// Reads `2/8`.
    ///
    /// # Errors
    /// What was expected, and what to write.
    pub fn parse(text: &str) -> Result<Shard, InputError> {
        let refuse = |fix: String| {
            let message = format!("expected a shard such as 2/8, found `{text}`");
            Err(InputError::new("--shard", message).fix(fix))
        };
        let parts = text.split_once('/');
        let parts =
            parts.and_then(|(n, of)| Some((n.trim().parse().ok()?, of.trim().parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) && of <= MOST_SHARDS => {
                Ok(Shard { number, of })
            }
            Some((_, of)) if of > MOST_SHARDS => {
                refuse(format!("make it one of {MOST_SHARDS} parts at most"))
            }
            Some((_, of)) if of > 0 => {
                refuse(format!("parts are counted from 1: name one of 1/{of} to {of}/{of}"))
            }
            _ => refuse(
                "write `--shard 1/8` for the first of eight parts, `8/8` for the last".into(),
            ),
        }
    }

    /// The numbers of its rows among rows 0 to `variants`, ascending.
    pub fn rows(self, variants: u64) -> impl ExactSizeIterator<Item = u64> + Clone {
        let count = (variants + 1).saturating_sub(self.number - 1).div_ceil(self.of);
        let Shard { number, of } = self;
        (0..count as usize).map(move |i| number - 1 + i as u64 * of)
    }
}

impl Header {
    /// SHA-256 of all that rows depend on, in hexadecimal: alike for all shards of one sweep.
    pub fn hash(&self) -> String {
        let whole = Header { shard: Shard::WHOLE, ..self.clone() };
        let text = serde_json::to_vec(&whole).expect("a header is plain data");
        Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The positions, among [`Header::figures`], of each objective's figure and of its difference
    /// to the base.
    ///
    /// # Panics
    /// Where the header lacks one: it was not made by a sweep.
    pub fn objective_columns(&self) -> Vec<(usize, usize)> {
        let first = self.figures.len() - 2 * self.objectives.len();
        (0..self.objectives.len()).map(|i| (first + 2 * i, first + 2 * i + 1)).collect()
    }

    /// By objective, the positions of its measure's figures in each of several scenarios; none for
    /// any where there is one scenario, whose figure is the objective's.
    pub(super) fn scenario_columns(&self) -> Vec<Vec<usize>> {
        let at = |objective: &Objective, scenario: &Counted| {
            let name = format!("{}/{}", scenario.name, objective.measure);
            self.figures.iter().position(|figure| figure.name == name)
        };
        let of = |objective: &Objective| match self.scenarios.len() {
            1 => Vec::new(),
            _ => self.scenarios.iter().filter_map(|scenario| at(objective, scenario)).collect(),
        };
        self.objectives.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_share_out_every_row_once() {
        for of in 1..9 {
            for variants in 0..30 {
                let mut rows: Vec<u64> = (1..=of)
                    .flat_map(|number| Shard { number, of }.rows(variants).collect::<Vec<_>>())
                    .collect();
                rows.sort_unstable();
                assert_eq!(rows, (0..=variants).collect::<Vec<_>>(), "{of} of {variants}");
            }
        }
    }

    #[test]
    fn shards_as_people_write_them() {
        assert_eq!(Shard::parse("2/8"), Ok(Shard { number: 2, of: 8 }));
        for (bad, fix) in [
            ("", "`--shard 1/8`"),
            ("2", "`--shard 1/8`"),
            ("a/b", "`--shard 1/8`"),
            ("-1/2", "`--shard 1/8`"),
            ("0/0", "`--shard 1/8`"),
            ("1/0", "`--shard 1/8`"),
            ("0/8", "one of 1/8 to 8/8"),
            ("9/8", "one of 1/8 to 8/8"),
            ("1/100001", "one of 100000 parts at most"),
        ] {
            let error = Shard::parse(bad).unwrap_err().to_string();
            assert!(error.contains(fix), "{bad}: {error}");
        }
    }
}
