//! The schemas in `docs/schema` are those of the code, and all shipped files fit them.

use std::path::{Path, PathBuf};

use windtunnel::check::{FileKind, kind_of};
use windtunnel::input::{SourceFile, read_yaml};
use windtunnel::library::{Kind, Shipped, drills, list};
use windtunnel::log::ColumnMap;
use windtunnel::schema::{columns_text, schema, schema_text};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn schema_path(kind: Kind) -> PathBuf {
    let word = match kind {
        Kind::Scenario => "scenario",
        Kind::Policy => "policy",
        Kind::Card => "model",
        Kind::Profile => "profile",
        Kind::Space => "space",
    };
    Path::new(ROOT).join(format!("docs/schema/{word}.schema.json"))
}

/// The shipped files of a kind; the scenarios of the drills are scenarios.
fn shipped(kind: Kind) -> Vec<Shipped> {
    let mut files = list(kind);
    if kind == Kind::Scenario {
        files.extend(drills());
    }
    files
}

/// To write them anew: `UPDATE_DOCS=1 cargo test --test schemas`.
#[test]
fn the_files_in_docs_are_up_to_date() {
    let kinds = Kind::ALL.map(|kind| (schema_path(kind), schema_text(kind)));
    let columns = Path::new(ROOT).join("docs/schema/columns.schema.json");
    for (path, text) in kinds.into_iter().chain([(columns, columns_text())]) {
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &text).expect("docs/schema can be written");
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == text,
            "{} is stale: UPDATE_DOCS=1 cargo test --test schemas",
            path.display()
        );
    }
}

#[test]
fn shipped_files_fit_their_schema_and_tell_editors() {
    for kind in Kind::ALL {
        let schema = schema(kind).to_value();
        let validator = jsonschema::validator_for(&schema).expect("the schema is one");
        let relative =
            format!("docs/schema/{}", schema_path(kind).file_name().expect("a name").display());
        for shipped in shipped(kind) {
            // Profiles are made by the program: nobody edits them.
            let comment = format!("# yaml-language-server: $schema=../{relative}");
            if kind != Kind::Profile {
                assert_eq!(shipped.text.lines().next(), Some(comment.as_str()), "{}", shipped.path);
            }
            let file = SourceFile { name: shipped.path, text: shipped.text.into(), folder: None };
            let value: serde_json::Value = read_yaml(&file).expect("it is YAML");
            if let Err(error) = validator.validate(&value) {
                panic!("{}: {} at {}", file.name, error, error.instance_path);
            }
            assert_eq!(
                kind_of(&file).expect("it is YAML"),
                FileKind::Shipped(kind),
                "{}",
                file.name
            );
        }
    }
}

#[test]
fn the_column_mapping_that_is_shown_fits_its_schema_and_tells_editors() {
    let name = "docs/examples/columns.yaml";
    let file = SourceFile::read(&Path::new(ROOT).join(name)).expect("it is there");
    let comment = "# yaml-language-server: $schema=../schema/columns.schema.json";
    assert_eq!(file.text.lines().next(), Some(comment));
    let schema = serde_json::from_str(&columns_text()).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    let value: serde_json::Value = read_yaml(&file).expect("it is YAML");
    assert!(validator.is_valid(&value));
    ColumnMap::read(&file).unwrap_or_else(|e| panic!("{e}"));
    for (good, bad) in [("rows: attempts", "rows: calls"), ("  class:", "  clas:")] {
        let text = file.text.replacen(good, bad, 1);
        let changed = SourceFile { text, ..file.clone() };
        let value = read_yaml::<serde_json::Value>(&changed).expect("it is YAML");
        assert!(!validator.is_valid(&value), "{bad}");
        assert!(ColumnMap::read(&changed).is_err(), "{bad}");
    }
    let shown =
        std::fs::read_to_string(Path::new(ROOT).join("docs/what-if.md")).expect("it is there");
    let body = file.text.split_once("time_unit").expect("it begins so").1;
    assert!(shown.contains(body), "docs/what-if.md shows another mapping than {name}");
}

#[test]
fn schemas_refuse_what_the_reader_refuses() {
    let schema = schema(Kind::Scenario).to_value();
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    let text = std::fs::read_to_string(Path::new(ROOT).join("tests/files/plain.yaml"));
    let text = text.expect("the file is there");
    let fits = |text: &str| {
        let file = SourceFile { name: "x".into(), text: text.into(), folder: None };
        validator.is_valid(&read_yaml::<serde_json::Value>(&file).expect("it is YAML"))
    };
    assert!(fits(&text));
    for (good, bad) in [
        ("horizon: 10m", "horizon: 10"),
        ("5/s", "-5/s"),
        ("share: 25%", "share: 25x"),
        ("card:", "crad:"),
    ] {
        assert!(text.contains(good) && !fits(&text.replacen(good, bad, 1)), "{bad}");
    }
}

#[test]
fn shipped_files_are_called_as_they_say_and_hold_no_mistake() {
    for kind in Kind::ALL {
        for shipped in shipped(kind) {
            let path = Path::new(ROOT).join(&shipped.path);
            let checked = windtunnel::check::check_file(&path);
            assert_eq!(
                checked.map_err(|e| e.to_string()),
                Ok(FileKind::Shipped(kind)),
                "{}",
                shipped.path
            );
            let called = [&shipped.name, &format!("\"{}\"", shipped.name)]
                .map(|name| format!("\nname: {name}\n"));
            assert!(called.iter().any(|line| shipped.text.contains(line)), "{}", shipped.path);
        }
    }
}
