//! What a file is, by the fields at its top.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::input::{InputError, SourceFile, likeness, read_yaml, top_level_keys};
use crate::library::Kind;
use crate::log::ColumnMap;
use crate::scenario::SwitchFile;
use crate::schema;

/// What a file that people write is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// One of the kinds that are shipped, too.
    Shipped(Kind),
    /// Kill switches, which a scenario names or a command line.
    Switches,
    /// Which columns of a log say what.
    Columns,
}

/// A misspelt field is as like a known one as this.
const LIKE: f64 = 0.6;
/// Names tell nothing of a file: most kinds have them, and two have sources.
pub(super) const SAY_NOTHING: [&str; 3] = ["name", "description", "sources"];

impl FileKind {
    /// Every kind; of two that fit as well the first is taken.
    pub(super) fn all() -> impl Iterator<Item = FileKind> {
        let shipped = Kind::ALL.into_iter().map(FileKind::Shipped);
        shipped.chain([FileKind::Switches, FileKind::Columns])
    }

    /// The names of its top-level fields.
    pub(super) fn fields(self) -> Vec<String> {
        match self {
            FileKind::Shipped(kind) => schema::fields(kind),
            FileKind::Switches => schema::fields_of::<SwitchFile>(),
            FileKind::Columns => schema::fields_of::<ColumnMap>(),
        }
    }
}

/// What a file is: the kind most of its top-level fields belong to, or where none does, the kind whose
/// fields they are most like.
///
/// # Errors
/// The file is no YAML, or none of its fields tells.
pub fn kind_of(file: &SourceFile) -> Result<FileKind, InputError> {
    // Whatever it is, it must be YAML: this tells mistakes in the text.
    read_yaml::<IgnoredAny>(file)?;
    let keys = top_level_keys(file);
    let telling: Vec<&String> =
        keys.iter().filter(|key| !SAY_NOTHING.contains(&key.as_str())).collect();
    match telling[..] {
        // A policy may be all defaults, and is the only kind that may.
        [] if !keys.is_empty() => return Ok(FileKind::Shipped(Kind::Policy)),
        // A scenario names a file of switches, and is never without other fields.
        [only] if only == "switches" => return Ok(FileKind::Switches),
        // Both have classes, and a policy may be about nothing else.
        [only] if only == "classes" && !has_groups(file) => {
            return Ok(FileKind::Shipped(Kind::Policy));
        }
        _ => {}
    }
    let mut best = (0.0, None);
    for kind in FileKind::all() {
        let fields = kind.fields();
        let score = telling.iter().map(|key| score(key, &fields)).sum::<f64>();
        if score > best.0 {
            best = (score, Some(kind));
        }
    }
    best.1.ok_or_else(|| {
        let message = "is neither a scenario, nor a policy, a model card, a profile, a space, kill \
                       switches or a mapping of columns";
        let error = InputError::new(&file.name, message);
        let error = match telling.first() {
            Some(key) => error.field(key.as_str()).at(line_of(file, key), 1, key),
            None => error,
        };
        error.fix("`windtunnel schema` prints what each holds")
    })
}

/// Whether a class has groups: those of a scenario must, what a policy says of one never does.
fn has_groups(file: &SourceFile) -> bool {
    #[derive(Deserialize)]
    struct Outline {
        classes: BTreeMap<String, BTreeMap<String, IgnoredAny>>,
    }
    let outline = read_yaml::<Outline>(file);
    outline.is_ok_and(|file| file.classes.values().any(|class| class.contains_key("groups")))
}

/// What a field says for a kind with these: a name of its own more than any number of like ones.
fn score(key: &str, fields: &[String]) -> f64 {
    let most = fields.iter().map(|field| likeness(key, field)).fold(0.0, f64::max);
    match most {
        1.0 => 1.0,
        like if like > LIKE => like / 1e3,
        _ => 0.0,
    }
}

/// The line a top-level field begins, from 1.
fn line_of(file: &SourceFile, key: &str) -> u64 {
    let begins = |line: &str| line.trim_start_matches(['"', '\'', '{']).starts_with(key);
    (1..).zip(file.text.lines()).find(|(_, line)| begins(line)).map_or(1, |(n, _)| n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Result<FileKind, InputError> {
        kind_of(&SourceFile::from_bytes("f.yaml".into(), text.into()).expect("UTF-8"))
    }

    #[test]
    fn misspelt_fields_tell_too_and_all_documented_kinds_are_known() {
        let is = |text: &str, expected| assert_eq!(kind(text), Ok(expected), "{text}");
        is("name: x\nattempt: {max: 2}\n", FileKind::Shipped(Kind::Policy));
        is("name: x\n", FileKind::Shipped(Kind::Policy));
        is("name: x\nclasses: {batch: {max: 5}}\n", FileKind::Shipped(Kind::Policy));
        is("name: x\nclasses: {batch: {groups: {}}}\n", FileKind::Shipped(Kind::Scenario));
        is("switches: [{at: 9h, off: recovery}]\n", FileKind::Switches);
        is("description: d\nswitches: []\n", FileKind::Switches);
        is("columns: {start: t}\ntime_unit: ms\n", FileKind::Columns);
        is("horizn: 3m\nclass: {}\ntarget: {}\n", FileKind::Shipped(Kind::Scenario));
        let fault = kind("name: x\ncolour: red\n").expect_err("no kind has that");
        assert_eq!((fault.line(), fault.path()), (Some(2), "colour"));
    }
}
