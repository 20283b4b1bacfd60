//! The references in `docs/` against the types they describe: every table of fields is the one made
//! from the schema, every type has its table, and every example parses.
//!
//! After a change of the types, `UPDATE_DOCS=1 cargo test --test reference` writes the tables anew.

#[path = "common/schema_tables.rs"]
mod schema_tables;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{env, fs};

use schema_tables::Tables;
use schemars::{JsonSchema, schema_for};
use serde::de::DeserializeOwned;
use windtunnel::scenario::{
    ModelCard, OperatorSpec, ScenarioFile, SwitchFile, Traffic, WeatherSpec,
};
use windtunnel_policy::config::Policy;

const POLICY: &str = "docs/policy-reference.md";
const SCENARIO: &str = "docs/scenario-reference.md";
const START: &str = "<!-- fields of ";
const END: &str = "<!-- end of fields -->";

#[test]
fn policy_tables_are_the_schemas() {
    let mut tables = tables::<Policy>("Policy");
    tables.add_matrix(&Policy::default());
    check(POLICY, &tables);
}

#[test]
fn scenario_and_card_tables_are_the_schemas() {
    let mut tables = tables::<ScenarioFile>("ScenarioFile");
    tables.append(tables_of_card());
    check(SCENARIO, &tables);
}

fn tables_of_card() -> Tables {
    tables::<ModelCard>("ModelCard")
}

fn tables<T: JsonSchema>(root: &str) -> Tables {
    Tables::new(root, schema_for!(T).as_value())
}

/// Compares each table of a document with the one made from the schema, or writes it.
fn check(document: &str, tables: &Tables) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
    let text = fs::read_to_string(&path).expect("a readable document");
    let (made, named) = with_tables(&text, tables);
    let missing: Vec<&str> = tables.names().filter(|name| !named.contains(*name)).collect();
    assert!(missing.is_empty(), "{document} has no table of {missing:?}");
    if env::var_os("UPDATE_DOCS").is_some() {
        return fs::write(&path, &made).expect("a writable document");
    }
    for (number, (got, want)) in text.lines().zip(made.lines()).enumerate() {
        assert_eq!(got, want, "{document}:{}: run with UPDATE_DOCS=1", number + 1);
    }
    assert_eq!(text.lines().count(), made.lines().count(), "{document}: run with UPDATE_DOCS=1");
}

/// The document with every table made anew, and the types it has tables of.
fn with_tables(text: &str, tables: &Tables) -> (String, BTreeSet<String>) {
    let mut parts = text.split(START);
    let mut made = parts.next().unwrap_or_default().to_string();
    let mut named = BTreeSet::new();
    for part in parts {
        let (name, rest) = part.split_once(" -->").expect("a closed marker");
        let (_, after) = rest.split_once(END).expect("an end of the table");
        let table = tables.get(name).unwrap_or_else(|| panic!("no type is called {name}"));
        made += &format!("{START}{name} -->\n\n{table}\n{END}{after}");
        named.insert(name.to_string());
    }
    (made, named)
}

#[test]
fn every_example_parses() {
    let mut seen = BTreeSet::new();
    for document in [POLICY, SCENARIO] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
        let text = fs::read_to_string(path).expect("a readable document");
        for (at, kind, example) in examples(&text) {
            let place = format!("{document}:{at}");
            match kind {
                "policy" => {
                    let valid = parse::<Policy>(&place, example).validate();
                    valid.unwrap_or_else(|problems| panic!("{place}: {problems:?}"));
                }
                "scenario" => {
                    parse::<ScenarioFile>(&place, example);
                }
                "card" => {
                    parse::<ModelCard>(&place, example);
                }
                "weather" => {
                    parse::<Vec<WeatherSpec>>(&place, example);
                }
                "operators" => {
                    parse::<Vec<OperatorSpec>>(&place, example);
                }
                "traffic" => {
                    parse::<Traffic>(&place, example);
                }
                "switches" => {
                    parse::<SwitchFile>(&place, example);
                }
                _ => panic!("{place}: an example of what?"),
            }
            seen.insert(kind.to_string());
        }
    }
    assert_eq!(seen.len(), 7, "{seen:?}");
}

#[test]
fn examples_of_replayed_traffic_parse() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/traces.md");
    let text = fs::read_to_string(path).expect("a readable document");
    let blocks =
        text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap_or(rest));
    let parsed = blocks.map(|block| parse::<BTreeMap<String, Traffic>>("docs/traces.md", block));
    assert_eq!(parsed.filter(|fields| fields.contains_key("traffic")).count(), 3);
}

/// Whole files among the examples are what `windtunnel check` takes, side by side in one folder.
#[test]
fn every_file_shown_is_checked_as_a_users() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = Vec::new();
    for document in [POLICY, SCENARIO] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
        let text = fs::read_to_string(path).expect("a readable document");
        for (at, kind, example) in examples(&text) {
            let name = match kind {
                // The scenario above names it.
                "card" => "example-large.yaml".to_owned(),
                "scenario" | "policy" | "switches" => format!("{kind}-{at}.yaml"),
                _ => continue,
            };
            let path = folder.path().join(name);
            fs::write(&path, example).expect("a file");
            files.push(path);
        }
    }
    assert!(files.len() > 10, "{files:?}");
    for path in files {
        if let Err(error) = windtunnel::check::check_file(&path) {
            panic!("{error}");
        }
    }
}

#[test]
fn every_field_of_a_policy_has_an_example() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(POLICY);
    let text = fs::read_to_string(path).expect("a readable document");
    let shown: String = examples(&text).map(|(_, _, example)| example).collect();
    let used: BTreeSet<&str> = shown.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    // Tables of fields have a column of types, tables of values have none.
    let tables = text.split(START).skip(1).filter(|part| part.contains("| Field | Type |"));
    let mut without = Vec::new();
    for table in tables {
        let (name, rest) = table.split_once(" -->").expect("a closed marker");
        let (rows, _) = rest.split_once(END).expect("an end of the table");
        let fields = rows.lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next());
        without.extend(fields.filter(|field| !used.contains(field)).map(|f| format!("{name}.{f}")));
    }
    assert!(without.is_empty(), "no example of {without:?}");
}

fn parse<T: DeserializeOwned>(place: &str, example: &str) -> T {
    serde_saphyr::from_str(example).unwrap_or_else(|error| panic!("{place}: {error}"))
}

/// The fenced blocks opened by "```yaml KIND": line, kind and text of each.
fn examples(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    text.match_indices("```yaml ").map(move |(at, fence)| {
        let (kind, rest) = text[at + fence.len()..].split_once('\n').expect("a line's end");
        let (example, _) = rest.split_once("```").expect("a closed block");
        (text[..at].lines().count() + 1, kind, example)
    })
}
