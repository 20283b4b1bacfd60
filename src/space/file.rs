//! What a user says may vary.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use windtunnel_policy::config::Policy;

use super::refusal::Refusal;
use super::vary;
use crate::input::{InputError, Place, SourceFile, check_title, read_yaml_as};
use crate::library::{Kind, find, find_beside, read_policy};

/// Which fields of a policy may vary, and how.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpaceFile {
    /// Short name, shown in tables.
    pub name: String,
    /// One sentence for people.
    #[serde(default)]
    pub description: String,
    /// The policy that is varied: a file beside this one, or the name of a shipped one.
    /// `--policy` goes before it.
    #[serde(default)]
    pub policy: Option<String>,
    /// What varies. Later entries see what earlier ones have set.
    pub vary: Vec<Vary>,
    /// Conditions every variant must meet, such as
    /// `timeouts.first_token * attempts.max <= envelope.deadline_total`. Variants that do not are
    /// left out, and counted.
    #[serde(default, rename = "where")]
    pub constraints: Vec<String>,
}

/// One thing that varies: a field with its values or its range, or several fields by one choice.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Vary {
    /// Path of the field, such as `backoff.base` or `breakers[0].trip[0].rate_over_time.failures`.
    #[serde(default)]
    pub field: Option<String>,
    /// Name of a choice, where several fields vary together.
    #[serde(default)]
    pub choice: Option<String>,
    /// The values the field takes: numbers, names, true and false, `null` for none, or whole parts of
    /// a policy.
    #[serde(default)]
    pub values: Option<Vec<Value>>,
    /// The range the field takes its values from.
    #[serde(default)]
    pub range: Option<Range>,
    /// What can be chosen. Each option sets fields of its own.
    #[serde(default)]
    pub options: Option<Vec<Choice>>,
    /// Varied only where this holds, such as `attempts.max > 1`; elsewhere the field stays as it is.
    #[serde(default)]
    pub when: Option<String>,
}

/// Numbers between two ends, both included.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The low end: a duration, a share, an amount of dollars or a whole number.
    pub from: Value,
    /// The high end, in the same unit.
    pub to: Value,
    /// How values spread between them.
    #[serde(default)]
    pub scale: Scale,
    /// Only so many values, evenly spread.
    #[serde(default)]
    pub count: Option<u64>,
    /// Only values so far apart, from the low end.
    #[serde(default)]
    pub step: Option<Value>,
}

/// How values spread over a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// Evenly in the logarithm: as many from 10 to 100 as from 100 to 1000.
    Log,
}

/// One option of a choice.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Its name in tables.
    pub name: String,
    /// What it sets: paths of fields and their values. Empty to leave all as it is.
    #[serde(default)]
    pub set: BTreeMap<String, Value>,
}

/// A space as it was written, in a file, in arguments, or in both.
#[derive(Clone, PartialEq, Debug)]
pub struct Space {
    /// Its name.
    pub name: String,
    /// The file, where there is one.
    pub source: Option<SourceFile>,
    pub(super) file: SpaceFile,
    /// The arguments, which vary after the file's entries.
    pub(super) arguments: Vec<String>,
}

impl Space {
    /// The space of this name: a file, or a shipped one.
    ///
    /// # Errors
    /// There is no such file, or it holds a mistake that needs no policy to be seen.
    pub fn load(name: &str) -> Result<Space, InputError> {
        Space::read(find(Kind::Space, name)?)
    }

    /// Reads a space from a file's text.
    ///
    /// # Errors
    /// The text is no space.
    pub fn read(source: SourceFile) -> Result<Space, InputError> {
        let file: SpaceFile = read_yaml_as("a space", &source)?;
        check_title(&file.name, &Place::root(&source).key("name"))?;
        let name = file.name.clone();
        Ok(Space { name, source: Some(source), file, arguments: Vec::new() })
    }

    /// A space of arguments alone, such as `backoff.base=50ms..2s:log`.
    ///
    /// # Errors
    /// One is no such argument.
    pub fn of_arguments(arguments: &[String]) -> Result<Space, InputError> {
        let bare = Space {
            name: "arguments".into(),
            source: None,
            file: SpaceFile::default(),
            arguments: Vec::new(),
        };
        bare.with_arguments(arguments)
    }

    /// With more to vary.
    ///
    /// # Errors
    /// One is no such argument.
    pub fn with_arguments(mut self, arguments: &[String]) -> Result<Space, InputError> {
        for argument in arguments {
            self.file.vary.push(vary::parse(argument)?);
            self.arguments.push(argument.clone());
        }
        Ok(self)
    }

    /// The policy that the file says is varied; `None` where it names none.
    ///
    /// # Errors
    /// It cannot be found or read, or holds a mistake.
    pub fn base_policy(&self) -> Result<Option<Policy>, InputError> {
        let (Some(source), Some(name)) = (&self.source, &self.file.policy) else { return Ok(None) };
        let place = Place::root(source).key("policy");
        let found = find_beside(Kind::Policy, name, source).map_err(|error| place.adopt(error))?;
        read_policy(&found).map(Some)
    }

    /// SHA-256 of what was written, in hexadecimal.
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.source.as_ref().map_or("", |source| &source.text));
        for argument in &self.arguments {
            hash.update([0]);
            hash.update(argument);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// A mistake in the entry at this position of [`SpaceFile::vary`], below `key`.
    pub(super) fn mistake(
        &self,
        entry: usize,
        key: &str,
        message: impl Into<String>,
    ) -> InputError {
        let in_file = self.file.vary.len() - self.arguments.len();
        match (&self.source, entry.checked_sub(in_file)) {
            (_, Some(argument)) => {
                InputError::new(vary::called(&self.arguments[argument]), message)
            }
            (Some(source), None) => {
                let place = Place::root(source).key("vary").index(entry);
                place.path(key).error(message)
            }
            (None, None) => unreachable!("without a file every entry is an argument"),
        }
    }

    /// The same, with what to do about it.
    pub(super) fn refusal(&self, entry: usize, key: &str, refusal: Refusal) -> InputError {
        self.mistake(entry, key, refusal.message).fix(refusal.fix)
    }

    /// A mistake in the condition at this position.
    pub(super) fn bad_condition(&self, position: usize, message: impl Into<String>) -> InputError {
        let source = self.source.as_ref().expect("conditions stand in files");
        Place::root(source).key("where").index(position).error(message)
    }

    /// What to call it in messages.
    pub(super) fn called(&self) -> &str {
        self.source.as_ref().map_or("--vary", |source| &source.name)
    }
}
