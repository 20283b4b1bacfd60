//! `docs/drills.md` says what the program does: its example is what is printed, and its list of
//! rules is that of the drills. `UPDATE_DOCS=1 cargo test --test drills` writes both anew.

use std::path::Path;
use std::{env, fs};

use windtunnel::drill::{DRILLS, Drill, HeldBy};

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
    for rule in drill.rules {
        let held = if rule.held_by == HeldBy::Core { " *(core)*" } else { "" };
        text += &format!("- {}{held}\n", rule.text);
    }
    text
}
