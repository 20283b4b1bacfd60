//! The list of mutants against the sources, so that it cannot rot: each still applies, names a test
//! that exists, and stands in `docs/mutants.md`. `tests/mutants/run.sh` plants them.
//!
//! After a change of the list, `UPDATE_DOCS=1 cargo test --test mutants` writes the table anew.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

const LIST: &str = include_str!("mutants/list.txt");
const DOCUMENT: &str = "docs/mutants.md";
const START: &str = "<!-- mutants -->\n";
const END: &str = "<!-- end of mutants -->";

/// One entry of the list.
#[derive(Default, Debug)]
struct Mutant {
    name: String,
    file: String,
    shows: String,
    test: String,
    old: Vec<String>,
    new: Vec<String>,
}

#[test]
fn there_are_thirty_and_no_two_are_the_same() {
    let mutants = mutants();
    assert!(mutants.len() >= 30, "{} mutants", mutants.len());
    let names: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.name.as_str()).collect();
    assert_eq!(names.len(), mutants.len(), "every name is given once");
    let changes: BTreeSet<_> = mutants.iter().map(|m| (&m.file, &m.old, &m.new)).collect();
    assert_eq!(changes.len(), mutants.len(), "every change is made once");
}

#[test]
fn each_applies_at_one_place() {
    for Mutant { name, file, old, new, .. } in mutants() {
        let text = fs::read_to_string(root().join(&file)).expect("a source of the project");
        let places = text.matches(&old.join("\n")).count();
        assert_eq!(places, 1, "{name}: places in {file} that read `{}`", old.join("\n"));
        assert_ne!(old, new, "{name} changes something");
    }
}

#[test]
fn each_names_a_test_that_exists() {
    for Mutant { name, test, .. } in mutants() {
        let words: Vec<&str> = test.split(' ').collect();
        let (sources, path) = match words[..] {
            ["-p", package, "--lib", path] => (package_folder(package).join("src"), path),
            ["-p", package, "--test", binary, path] => {
                (package_folder(package).join("tests").join(binary), path)
            }
            _ => panic!("{name}: `{test}` does not name one test"),
        };
        let text = source_of(&sources, path);
        let function = path.rsplit("::").next().expect("a path has a last part");
        assert!(text.contains(&format!("fn {function}(")), "{name}: there is no test `{test}`");
    }
}

#[test]
fn the_table_is_that_of_the_list() {
    let path = root().join(DOCUMENT);
    let text = fs::read_to_string(&path).expect("a readable document");
    let (before, rest) = text.split_once(START).expect("the table has a start");
    let (_, after) = rest.split_once(END).expect("the table has an end");
    let row =
        |m: &Mutant| format!("| `{}` | {} | `{}` | `{}` |\n", m.name, m.shows, m.file, m.test);
    let rows: String = mutants().iter().map(row).collect();
    let head =
        "| Mutant | What a user would see | File | Killed by `cargo test …` |\n|---|---|---|---|\n";
    let made = format!("{before}{START}{head}{rows}{END}{after}");
    if env::var_os("UPDATE_DOCS").is_some() {
        return fs::write(&path, made).expect("a writable document");
    }
    assert_eq!(text, made, "{DOCUMENT}: run with UPDATE_DOCS=1");
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn package_folder(package: &str) -> PathBuf {
    match package {
        "windtunnel" => root().into(),
        "windtunnel-policy" => root().join("crates/policy"),
        _ => panic!("`{package}` is no package of the workspace"),
    }
}

/// The file that holds the test at `path` of the crate whose modules are below `folder`: the
/// innermost of its modules that is a file.
fn source_of(folder: &Path, path: &str) -> String {
    let modules: Vec<&str> = path.split("::").collect();
    let inner = (0..modules.len()).rev().map(|depth| folder.join(modules[..depth].join("/")));
    let files = inner.flat_map(|module| {
        [module.with_extension("rs"), module.join("mod.rs"), module.join("main.rs")]
    });
    let found = files.into_iter().find(|file| file.is_file());
    fs::read_to_string(found.unwrap_or_else(|| panic!("no module of `{path}`"))).expect("a source")
}

fn mutants() -> Vec<Mutant> {
    let text = LIST.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    text.split("\n\n").filter(|entry| !entry.trim().is_empty()).map(parse).collect()
}

fn parse(entry: &str) -> Mutant {
    let mut mutant = Mutant::default();
    for line in entry.trim().lines() {
        let (label, value) = line.split_once(' ').unwrap_or((line, ""));
        match label {
            "file:" => mutant.file = value.into(),
            "shows:" => mutant.shows = value.into(),
            "test:" => mutant.test = value.into(),
            "-" => mutant.old.push(value.into()),
            "+" => mutant.new.push(value.into()),
            _ => mutant.name = line.into(),
        }
    }
    let Mutant { name, file, shows, test, old, .. } = &mutant;
    let whole = [name, file, shows, test].iter().all(|field| !field.is_empty());
    assert!(whole && !old.is_empty(), "an entry has all its parts: {mutant:?}");
    mutant
}
