//! Examples in documents, made anew from what is printed.

use std::path::Path;
use std::{env, fs};

use assert_cmd::Command;

const START: &str = "<!-- output of ";
const FENCE: &str = "```text\n";
const END: &str = "```\n<!-- end of output -->";

/// Compares every example of a document with what is printed, or writes it where `UPDATE_DOCS` is
/// set; answers how many there are.
pub(crate) fn check(document: &str, printed: impl Fn(&str) -> String) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
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
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &made).expect("a writable document");
    } else {
        assert_eq!(text, made, "run with UPDATE_DOCS=1");
    }
    examples
}

/// What the program prints for `windtunnel …`; `None` for anything else.
pub(crate) fn of_program(what: &str) -> Option<String> {
    let words = what.strip_prefix("windtunnel ")?;
    let mut program = Command::new(assert_cmd::cargo::cargo_bin!("windtunnel"));
    let output = program.args(words.split(' ')).output().expect("it runs");
    assert!(output.stderr.is_empty() && output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}
