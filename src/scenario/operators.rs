//! Operators: kill switches thrown by people, at stated times or after an incident's onset.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windtunnel_policy::Duration;

use super::{Domain, Range};

/// A kill switch, and when an operator throws it and puts it back.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperatorSpec {
    /// Unique within the scenario; keys its luck.
    pub name: String,
    /// What is switched off.
    pub switch: Switch,
    /// When.
    pub when: OperatorWhen,
}

/// A file of kill switches: what operators throw and put back, in the order of time. A switch that is
/// not put back stays off.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchFile {
    /// What it is, for people.
    #[serde(default)]
    pub description: Option<String>,
    /// What was done, sorted by time.
    pub switches: Vec<Switched>,
}

/// One thing that an operator does: exactly one of `off` and `on`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switched {
    /// When, from the scenario's start.
    pub at: Duration,
    /// What is switched off.
    #[serde(default)]
    pub off: Option<Switch>,
    /// What is put back.
    #[serde(default)]
    pub on: Option<Switch>,
}

/// What an operator switches off, at every gateway.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Switch {
    /// All recovery: failures go to the caller.
    Recovery,
    /// Targets that agree in all that is given: nothing new is sent there.
    Targets(Domain),
}

/// When an operator acts. A resampled world draws each time within its range.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum OperatorWhen {
    /// Once, at a time of the scenario.
    Window {
        /// The switch is thrown.
        from: Range<Duration>,
        /// It is put back so much later.
        lasts: Range<Duration>,
    },
    /// At every incident of a weather entry that lasts until somebody has noticed.
    Incident {
        /// The weather entry.
        weather: String,
        /// From its onset to the throw: until it is noticed (status pages lag 7 to 34 minutes), and
        /// somebody has acted.
        after: Range<Duration>,
        /// From its end until the switch is put back.
        back_after: Range<Duration>,
    },
}
