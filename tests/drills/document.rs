//! `docs/drills.md` says what the program does: its example is what is printed, and its list of
//! rules is that of the drills. `UPDATE_DOCS=1 cargo test --test drills` writes both anew.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

use windtunnel::drill::{DRILLS, Drill, HeldBy};
use windtunnel::library::load_policy;
use windtunnel_policy::config::{Policy, Streaming};

use super::{printed, stable};

const DOCUMENT: &str = "docs/drills.md";

#[test]
fn the_document_is_true() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(DOCUMENT);
    let text = fs::read_to_string(&path).expect("a readable document");
    let example = ["naive-retry", "--drill", "primary-down", "--drill", "late-primary"];
    let output = format!(
        "`windtunnel drill {}` prints\n\n```text\n{}```\n",
        example.join(" "),
        stable(&printed(1, &example))
    );
    let made = between(&text, "output", &output);
    let made = between(&made, "drills", &DRILLS.iter().map(section).collect::<Vec<_>>().join("\n"));
    if env::var_os("UPDATE_DOCS").is_some() {
        return fs::write(&path, &made).expect("a writable document");
    }
    assert!(text == made, "{DOCUMENT} is stale: UPDATE_DOCS=1 cargo test --test drills");
}

/// The text with this between `<!-- name -->` and `<!-- end of name -->`.
fn between(text: &str, name: &str, part: &str) -> String {
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = text.split_once(&start).expect("a place that starts");
    let (_, after) = rest.split_once(&end).expect("a place that ends");
    format!("{before}{start}\n{}\n\n{end}{after}", part.trim_end())
}

fn section(drill: &Drill) -> String {
    let scenario = drill.scenario().expect("a good scenario");
    let expect = scenario.file.expect.trim();
    let name = drill.name;
    let mut text = format!("### {} {name}\n\n", drill.number);
    text += &format!("{} ([`{name}.yaml`](../drills/{name}.yaml))\n\n", scenario.file.shows.trim());
    text += &format!("{expect}\n\n");
    if drill.held_by == HeldBy::Core {
        text += "Held by the core:\n\n";
    }
    for rule in rules(drill) {
        text += &format!("- {rule}\n");
    }
    text
}

/// Its rules, in order, for policies that stream and for those that buffer.
fn rules(drill: &Drill) -> Vec<&'static str> {
    let streams = load_policy("conservative").expect("a shipped policy");
    let buffers = Policy { streaming: Streaming::BufferThenRelease, ..streams.clone() };
    let mut seen = BTreeSet::new();
    let mut rules = Vec::new();
    let drill = Drill::find(drill.name).expect("it is one of them");
    for policy in [streams, buffers] {
        let drilled = drill.run(&policy, 1).expect("it can be run");
        rules.extend(drilled.findings.iter().map(|f| f.rule).filter(|rule| seen.insert(*rule)));
    }
    rules
}
