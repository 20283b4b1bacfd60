//! The examples in `docs/verify.md` are what the program prints. After a change,
//! `UPDATE_DOCS=1 cargo test --test verify` writes them anew.

use std::path::Path;
use std::{env, fs};

use assert_cmd::Command;

use crate::faults;

const DOCUMENT: &str = "docs/verify.md";
const START: &str = "<!-- output of ";
const FENCE: &str = "```text\n";
const END: &str = "```\n<!-- end of output -->";

#[test]
fn examples_are_what_is_printed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(DOCUMENT);
    let text = fs::read_to_string(&path).expect("a readable document");
    let mut parts = text.split(START);
    let mut made = parts.next().unwrap_or_default().to_string();
    let mut examples = 0;
    for part in parts {
        let (what, rest) = part.split_once(" -->\n").expect("a closed marker");
        let (_, after) = rest.split_once(END).expect("an end of the output");
        made += &format!("{START}{what} -->\n{FENCE}{}{END}{after}", printed(what));
        examples += 1;
    }
    assert_eq!(examples, 2);
    if env::var_os("UPDATE_DOCS").is_some() {
        return fs::write(&path, &made).expect("a writable document");
    }
    assert_eq!(text, made, "run with UPDATE_DOCS=1");
}

fn printed(what: &str) -> String {
    let Some(words) = what.strip_prefix("windtunnel ") else {
        assert_eq!(what, "a router deaf to cancellations");
        return faults::deaf_to_cancel().text();
    };
    let mut program = Command::new(assert_cmd::cargo::cargo_bin!("windtunnel"));
    let output = program.args(words.split(' ')).output().expect("it runs");
    assert!(output.stderr.is_empty() && output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}
