//! A file of one kind where another is expected: said as that, not as fields that are unknown.

use std::path::Path;

use super::kind::SAY_NOTHING;
use super::{FileKind, kind_of};
use crate::input::{InputError, SourceFile, top_level_keys};
use crate::library::Kind;

/// A mistake in a file, or where the file as a whole is another kind of file than was expected, that.
pub fn told_apart(error: InputError) -> InputError {
    let sought = error.sought();
    let path = Path::new(error.file());
    // A pipe would wait for ever to be read once more.
    if sought.is_empty() || !path.is_file() {
        return error;
    }
    let Some(found) = SourceFile::read(path).ok().and_then(|file| looks_like(&file, sought)) else {
        return error;
    };
    InputError::new(error.file(), format!("looks like {}, where {sought} is expected", found.what))
        .fix(found.taken)
}

/// A kind of file, and what takes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Look {
    what: &'static str,
    taken: &'static str,
}

const fn look(what: &'static str, taken: &'static str) -> Look {
    Look { what, taken }
}

/// What a file looks like, where that is clearly not what was sought.
fn looks_like(file: &SourceFile, sought: &str) -> Option<Look> {
    written(&file.text).or_else(|| {
        let found = kind_of(file).ok().filter(|kind| described(*kind).what != sought)?;
        let keys = top_level_keys(file);
        let own = |kind: FileKind| {
            let fields = kind.fields();
            keys.iter().filter(|key| fields.contains(key)).count()
        };
        // More of its fields are of this kind than of the one that was sought; or all are of both,
        // and the kind is the likelier.
        let sought = FileKind::all().find(|kind| described(*kind).what == sought);
        let (own, other) = (own(found), sought.map_or(0, own));
        let tells = keys.iter().any(|key| !SAY_NOTHING.contains(&key.as_str()));
        (own > other || own == keys.len() && tells).then(|| described(found))
    })
}

/// Files that people write.
fn described(kind: FileKind) -> Look {
    match kind {
        FileKind::Shipped(Kind::Scenario) => look(
            "a scenario",
            "a scenario goes without an option before it, as in `windtunnel compare SCENARIO`",
        ),
        FileKind::Shipped(Kind::Policy) => {
            look("a policy", "a policy goes with `--policy`; `drill` and `verify` take it without")
        }
        FileKind::Shipped(Kind::Card) => {
            look("a model card", "a scenario names it, as in `targets: {openai: {card: FILE}}`")
        }
        FileKind::Shipped(Kind::Profile) => look(
            "a traffic profile",
            "a scenario names it, as in `arrivals: {profile: {file: FILE}}`",
        ),
        FileKind::Shipped(Kind::Space) => {
            look("a space", "`sweep` and `tune` take it with `--space`")
        }
        FileKind::Switches => {
            look("a file of kill switches", "`run` and `compare` take it with `--switches`")
        }
        FileKind::Columns => {
            look("a mapping of columns", "`fit` and `what-if` take it with `--columns`")
        }
    }
}

/// Files that windtunnel or a gateway writes, by how they begin.
fn written(text: &str) -> Option<Look> {
    let first = text.lines().next().unwrap_or_default();
    let is_object = first.starts_with('{');
    if is_object && first.contains('\t') && first.contains("\"windtunnel\":") {
        return Some(look(
            "rows of a sweep",
            "`merge` takes them, and `sweep --resume --out FILE`",
        ));
    }
    if text.starts_with("{\n  \"") && text.contains("\n  \"windtunnel\": ") {
        return Some(look("results in JSON", "no command reads them: name the files they are of"));
    }
    if first.trim_start().to_ascii_lowercase().starts_with("<!doctype html") {
        return Some(look("an HTML report", "no command reads it: name the files it is of"));
    }
    let taken = "`fit` and `what-if` take a log of attempts, `profile` a trace";
    if is_object && first.ends_with('}') && text.lines().nth(1).is_some_and(|l| l.starts_with('{'))
    {
        return Some(look("JSON Lines", taken));
    }
    let names: Vec<&str> = first.split(',').map(str::trim).collect();
    let is_name = |name: &&str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-. ".contains(c))
    };
    (names.len() >= 2 && names.iter().all(is_name)).then(|| look("a table (CSV)", taken))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::{find, list};

    #[test]
    fn every_shipped_file_looks_like_what_it_is() {
        for kind in Kind::ALL {
            for shipped in list(kind) {
                let file = find(kind, &shipped.name).unwrap();
                let own = described(FileKind::Shipped(kind)).what;
                assert_eq!(looks_like(&file, own), None, "{}", shipped.name);
                let other = if kind == Kind::Space { "a policy" } else { "a space" };
                let found = looks_like(&file, other).map(|look| look.what);
                // A policy of no more than a name is anything.
                assert!(found == Some(own) || (found, shipped.name.as_str()) == (None, "default"));
            }
        }
    }

    #[test]
    fn what_is_written_is_known_by_how_it_begins() {
        let what = |text: &str| written(text).map(|look| look.what);
        assert_eq!(what("{\"windtunnel\":\"0.1.0\"}\t0123\n"), Some("rows of a sweep"));
        assert_eq!(what("{\n  \"answer\": 1,\n  \"windtunnel\": {\n"), Some("results in JSON"));
        assert_eq!(what("<!doctype html>\n<html>"), Some("an HTML report"));
        assert_eq!(what("{\"a\": 1}\n{\"a\": 2}\n"), Some("JSON Lines"));
        assert_eq!(what("world,policy,request\n0,a,1\n"), Some("a table (CSV)"));
        for text in ["name: a\n", "", "a, b", "{name: a, attempts: {max: 2}}", "- a\n- b\n"] {
            assert_eq!(what(text), (text == "a, b").then_some("a table (CSV)"), "{text}");
        }
    }
}
