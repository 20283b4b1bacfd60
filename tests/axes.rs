//! `docs/axes.md` against the program: every fragment in it is taken by a policy or a scenario, every link
//! leads somewhere, and every value of the axes that a policy can have is named.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use schemars::schema_for;
use serde_json::{Value, json};
use windtunnel::scenario::ScenarioFile;
use windtunnel_policy::config::Policy;

/// Enums of a policy whose every value is an axis of its own.
const AXES: [&str; 19] = [
    "LoopOrder",
    "BudgetScope",
    "TotalCovers",
    "FirstToken",
    "Jitter",
    "RetryAfterMode",
    "WaitTooLong",
    "RetryAfterSource",
    "AfterOpen",
    "Recooling",
    "Trip",
    "AllUnavailable",
    "Strategy",
    "Sticky",
    "Streaming",
    "Priority",
    "Sharing",
    "BudgetKind",
    "CooldownRule",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

fn document() -> String {
    fs::read_to_string(folder().join("axes.md")).expect("a readable document")
}

/// The rows of the tables of axes: what a gateway does, such as, how to say it, held by.
fn rows(text: &str) -> Vec<[&str; 4]> {
    let lines = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| What "));
    lines
        .filter_map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            <[&str; 4]>::try_from(cells).ok()
        })
        .collect()
}

/// The fragments of a cell, each with the word before it that says where it belongs, if one does.
fn fragments(cell: &str) -> Vec<(Option<&str>, &str)> {
    let mut found = Vec::new();
    let mut parts = cell.split('`');
    let mut before = parts.next().unwrap_or_default();
    while let (Some(code), after) = (parts.next(), parts.next()) {
        let place = ["class", "target", "scenario"]
            .into_iter()
            .find(|word| before.trim_end().ends_with(&format!("*{word}*")));
        found.push((place, code));
        before = after.unwrap_or_default();
    }
    // A name of one field within a sentence is no fragment.
    found.retain(|(_, code)| code.contains(':'));
    found
}

#[test]
fn every_fragment_is_taken() {
    let text = document();
    let rows = rows(&text);
    let mut policies = 0;
    for [what, _, how, _] in &rows {
        let found = fragments(how);
        assert!(
            !found.is_empty() || how.starts_with("not expressible"),
            "{what}: neither said nor told why not"
        );
        for (place, fragment) in found {
            let value: Value = serde_saphyr::from_str(fragment)
                .unwrap_or_else(|error| panic!("{what}: {fragment}: {error}"));
            match place {
                None => {
                    policies += 1;
                    let policy: Policy = serde_saphyr::from_str(fragment)
                        .unwrap_or_else(|error| panic!("{what}: {fragment}: {error}"));
                    policy
                        .validate()
                        .unwrap_or_else(|problems| panic!("{what}: {fragment}: {problems:?}"));
                }
                Some(place) => taken_by_a_scenario(place, fragment, &value),
            }
        }
    }
    assert!(rows.len() > 90 && policies > 80, "{} rows, {policies} fragments", rows.len());
}

/// A scenario in which the fragment stands where it belongs can be read.
fn taken_by_a_scenario(place: &str, fragment: &str, fields: &Value) {
    let mut file = json!({
        "name": "s", "shows": "s", "expect": "s", "horizon": "30m",
        "classes": {"chat": {
            "groups": {"primary": ["east"]},
            "traffic": {
                "arrivals": {"poisson": "1/s"},
                "tokens": {"input": {"constant": 1}, "output": {"constant": 1}},
            },
        }},
        "targets": {"east": {"card": "openai-gpt-4o"}},
    });
    let here = match place {
        "class" => &mut file["classes"]["chat"],
        "target" => &mut file["targets"]["east"],
        _ => &mut file,
    };
    for (field, value) in fields.as_object().expect("fields") {
        here[field] = value.clone();
    }
    let text = file.to_string();
    let read: Result<ScenarioFile, _> = serde_saphyr::from_str(&text);
    read.unwrap_or_else(|error| panic!("{fragment} in a {place}: {error}"));
}

#[test]
fn every_link_leads_somewhere() {
    let text = document();
    let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let mut seen = 0;
    for link in links {
        assert!(folder().join(link).is_file(), "{link}");
        seen += 1;
    }
    assert!(seen > 90, "{seen}");
    for [what, _, how, held_by] in rows(&text) {
        let said = !how.starts_with("not expressible");
        assert!(!said || !held_by.is_empty(), "{what}: nothing holds it");
    }
}

#[test]
fn every_value_of_an_axis_is_named() {
    let text = document();
    let words: BTreeSet<&str> = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let schema = schema_for!(Policy).to_value();
    let mut without = Vec::new();
    for axis in AXES {
        let values = schema["$defs"][axis]["oneOf"].as_array();
        for value in values.unwrap_or_else(|| panic!("no enum is called {axis}")) {
            let named = value["enum"].as_array().into_iter().flatten().chain([&value["const"]]);
            let keyed = value["properties"].as_object().into_iter().flat_map(|p| p.keys());
            let names = named.filter_map(Value::as_str).chain(keyed.map(String::as_str));
            without.extend(names.filter(|n| !words.contains(n)).map(|n| format!("{axis}.{n}")));
        }
    }
    assert!(without.is_empty(), "no row says {without:?}");
}
