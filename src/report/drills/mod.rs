//! What drills found, as a table or as JSON.

mod json;
mod page;
pub(super) mod table;

use crate::drill::Drilled;
use crate::page::Page;

/// The drills of some policies.
#[derive(Clone, PartialEq, Debug)]
pub struct DrillReport {
    /// The seed of all luck.
    pub seed: u64,
    /// In the order the policies were given.
    pub policies: Vec<PolicyDrilled>,
}

/// The drills of one policy.
#[derive(Clone, PartialEq, Debug)]
pub struct PolicyDrilled {
    /// Its name.
    pub name: String,
    /// As the user wrote it: a file, or the name of a shipped one.
    pub written: String,
    /// SHA-256 over its data, in hexadecimal.
    pub hash: String,
    /// In the order of the drills; the same drills for each policy.
    pub drills: Vec<Drilled>,
}

impl PolicyDrilled {
    /// The drills it failed.
    pub fn failed(&self) -> impl Iterator<Item = &Drilled> {
        self.drills.iter().filter(|drilled| drilled.verdict.is_failed())
    }
}

impl DrillReport {
    /// Tables for people: verdicts, and for one policy the rows that broke a rule.
    pub fn table(&self) -> String {
        table::render(self)
    }

    /// One JSON object, indented; `docs/drills.md` describes it.
    pub fn json(&self) -> String {
        json::render(self)
    }

    /// A document; `command` is what makes it again.
    pub fn page(&self, command: &str) -> Page {
        page::of(self, command)
    }

    /// 1 where a policy failed a drill, 0 otherwise.
    pub fn exit_code(&self) -> u8 {
        u8::from(self.policies.iter().any(|policy| policy.failed().next().is_some()))
    }
}
