use alloc::vec::Vec;

use super::Strategy;

/// What holds for single groups of targets, by the part each plays for its route class.
///
/// Each route class has groups of its own, and each of them what the rule says to itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Groups {
    /// The primary group.
    pub primary: GroupRule,
    /// The first fallback group, the second, and so on; the last one named stands for all after it.
    pub fallbacks: Vec<GroupRule>,
    /// The group of cheaper models.
    pub cheaper: GroupRule,
    /// The group of models with a larger window.
    pub larger_window: GroupRule,
}

/// What holds for one group in place of, or beside, what holds for all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupRule {
    /// How many a minute it lets in; absent: all.
    pub admission: Option<Admission>,
    /// Attempts of one request in the group, beside the other limits; at least 1.
    pub max: Option<u16>,
    /// In place of `attempts.max_same_target`; at least 1.
    pub max_same_target: Option<u16>,
    /// In place of `selection.strategy`.
    pub strategy: Option<Strategy>,
}

/// How many a group lets in, before anything is sent or billed. A request passes a full group by;
/// where no group is left it ends with 429 and the time until one has room.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Admission {
    /// How many a minute; 1 to 1,000,000.
    pub rpm: u32,
    /// What a minute is.
    #[cfg_attr(feature = "serde", serde(default))]
    pub window: AdmissionWindow,
    /// What is counted.
    #[cfg_attr(feature = "serde", serde(default))]
    pub counts: Admitted,
}

/// What a minute is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AdmissionWindow {
    /// Any 60 s: there is room once the oldest of the last `rpm` came a minute ago.
    #[default]
    Sliding,
    /// A minute of the clock: the count starts again with each, so that twice as many may come
    /// within a minute across its end.
    Minute,
    /// None: one comes every minute ÷ `rpm`, and this many at once after a quiet time (the generic
    /// cell rate algorithm).
    Paced(u32),
}

/// What a group's admission counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Admitted {
    /// Requests, each once: at its first attempt in the group.
    #[default]
    Requests,
    /// Attempts: retries and failovers within the group count as well.
    Attempts,
}

impl Groups {
    /// Whether nothing is said of any group.
    #[cfg(feature = "serde")]
    pub(super) fn is_default(&self) -> bool {
        *self == Groups::default()
    }

    /// Every rule, with the path of its field.
    pub fn rules(&self) -> impl Iterator<Item = (alloc::string::String, &GroupRule)> {
        let fallbacks = self.fallbacks.iter().enumerate();
        let fallbacks = fallbacks.map(|(i, rule)| (alloc::format!("groups.fallbacks[{i}]"), rule));
        let named = [
            ("groups.primary", &self.primary),
            ("groups.cheaper", &self.cheaper),
            ("groups.larger_window", &self.larger_window),
        ];
        named.into_iter().map(|(field, rule)| (field.into(), rule)).chain(fallbacks)
    }

    /// The rule of a group that plays this part; `None` where nothing is said of it.
    pub fn rule(&self, role: crate::target::Role) -> Option<&GroupRule> {
        use crate::target::Role;
        match role {
            Role::Primary => Some(&self.primary),
            Role::Fallback(n) => {
                let place = usize::from(n).saturating_sub(1);
                self.fallbacks.get(place).or(self.fallbacks.last())
            }
            Role::Cheaper => Some(&self.cheaper),
            Role::LargerWindow => Some(&self.larger_window),
        }
    }
}
