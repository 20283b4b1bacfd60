//! Modules import only from lower floors. The floors are the table in `docs/architecture.md`.

#[path = "common/source.rs"]
mod source;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenTree};
use source::{Source, after_colons, is_ident, is_sign, sources};

/// The floor of each top-level module; 1 is the lowest.
type Floors = BTreeMap<String, u32>;

/// One path in the source that starts at the crate's root.
#[derive(PartialEq, Eq, Debug)]
struct Import {
    /// Where it is written, as `file:line`.
    place: String,
    /// The top-level module it is written in.
    from: String,
    /// The first name of the path.
    to: String,
}

#[test]
fn no_module_imports_from_a_higher_floor() {
    let floors = documented_floors(include_str!("../docs/architecture.md"));
    let problems = problems(&floors, &sources());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Reads the rows `| floor | modules | … |` of the table under the heading "Floors".
fn documented_floors(text: &str) -> Floors {
    let section = text.split("\n## Floors\n").nth(1).expect("a section `## Floors`");
    let section = section.split("\n## ").next().unwrap_or_default();
    let mut floors = Floors::new();
    for row in section.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let Ok(floor) = cells[1].parse() else { continue };
        for name in cells[2].split(',').map(|name| name.trim().trim_matches('`')) {
            assert!(floors.insert(name.into(), floor).is_none(), "`{name}` has two floors");
        }
    }
    floors
}

/// Everything wrong with these sources, one line each.
fn problems(floors: &Floors, sources: &[Source]) -> Vec<String> {
    let modules: BTreeSet<String> = sources.iter().map(top_module).collect();
    let mut problems = Vec::new();
    for module in &modules {
        if !floors.contains_key(module) {
            problems.push(format!("module `{module}` has no floor in docs/architecture.md"));
        }
    }
    for module in floors.keys().filter(|module| !modules.contains(*module)) {
        problems.push(format!("docs/architecture.md gives a floor to `{module}`: no such module"));
    }

    let mut level: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for import in sources.iter().flat_map(imports) {
        let Some(&floor) = floors.get(&import.from) else { continue };
        // What is not a module is an item of the crate's root.
        let to = if modules.contains(&import.to) { &import.to } else { "lib" };
        match floors.get(to) {
            Some(&other) if other > floor => problems.push(format!(
                "{}: `{}` (floor {floor}) names `{}` (floor {other}); move what it needs down",
                import.place, import.from, import.to
            )),
            Some(&other) if other == floor && to != import.from => {
                level.entry(import.from).or_default().insert(to.into());
            }
            _ => {}
        }
    }
    problems.extend(cycle(level).map(|names| format!("one floor, in a circle: {names}")));
    problems
}

/// Takes away what imports nothing that is left, until nothing changes; names what remains.
fn cycle(mut level: BTreeMap<String, BTreeSet<String>>) -> Option<String> {
    loop {
        let importing: BTreeSet<String> = level.keys().cloned().collect();
        level.values_mut().for_each(|to| to.retain(|name| importing.contains(name)));
        let before = level.len();
        level.retain(|_, to| !to.is_empty());
        if level.is_empty() {
            return None;
        }
        if level.len() == before {
            return Some(level.into_keys().collect::<Vec<_>>().join(", "));
        }
    }
}

fn top_module(source: &Source) -> String {
    source.module().swap_remove(0)
}

/// Every path from the crate's root in one file, whether by `crate::` or by enough `super::`.
fn imports(source: &Source) -> Vec<Import> {
    let depth = match source.path.as_str() {
        "lib.rs" | "main.rs" => 0,
        _ => source.module().len(),
    };
    let mut found = Vec::new();
    collect(source, &source.tokens, depth, &mut found);
    found
}

fn collect(source: &Source, tokens: &[TokenTree], depth: usize, found: &mut Vec<Import>) {
    let mut at = 0;
    while at < tokens.len() {
        let mut root = is_ident(tokens, at, "crate");
        let mut supers = 0;
        while is_ident(tokens, at, "super") {
            supers += 1;
            root = depth > 0 && supers == depth;
            if !is_ident(tokens, at + 3, "super") {
                break;
            }
            at += 3;
        }
        if root {
            for name in after_colons(tokens, at + 1) {
                found.push(Import {
                    place: format!("src/{}:{}", source.path, name.span().start().line),
                    from: top_module(source),
                    to: name.to_string(),
                });
            }
        }
        if let TokenTree::Group(group) = &tokens[at] {
            let is_module = group.delimiter() == Delimiter::Brace
                && at >= 2
                && is_ident(tokens, at - 2, "mod")
                && !is_sign(tokens, at - 1, '!');
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            collect(source, &inner, depth + usize::from(is_module), found);
        }
        at += 1;
    }
}

#[cfg(test)]
mod the_check_itself {
    use super::*;

    const TABLE: &str = "# x\n\n## Floors\n\n| Floor | Modules |\n|---|---|\n| 1 | `low`, `flat` |\n\
                         | 2 | `high` |\n| 3 | `lib` |\n\n## Next\n\n| 9 | `other` |\n";

    fn check(files: &[(&str, &str)]) -> Vec<String> {
        let parse = |(path, text): &(&str, &str)| Source::parse(path, text).0;
        let mut sources: Vec<Source> = files.iter().map(parse).collect();
        for (path, module) in [("lib.rs", "lib"), ("low.rs", "low"), ("flat.rs", "flat")] {
            if !sources.iter().any(|source| top_module(source) == module) {
                sources.push(Source::parse(path, "").0);
            }
        }
        if !sources.iter().any(|source| top_module(source) == "high") {
            sources.push(Source::parse("high/mod.rs", "").0);
        }
        problems(&documented_floors(TABLE), &sources)
    }

    fn one_problem(files: &[(&str, &str)], expected: &str) {
        let problems = check(files);
        assert!(problems.len() == 1 && problems[0].contains(expected), "{problems:?}");
    }

    #[test]
    fn downward_paths_comments_and_tests_pass() {
        let high = "//! crate::nothing\nuse crate::low::A;\nfn f() { let s = \"crate::lib\"; }\n\
                    #[cfg(test)] mod tests { use crate::Anything; }";
        assert_eq!(check(&[("high/mod.rs", high)]), [""; 0]);
        let part = "use super::other::B; use super::super::low::A; pub(crate) struct C;";
        assert_eq!(check(&[("high/part.rs", part)]), [""; 0]);
    }

    #[test]
    fn an_upward_path_fails_however_it_is_written() {
        for text in [
            "use crate::high::A;",
            "fn f() -> crate::high::A { todo!() }",
            "use crate::{flat::B, high::{A, C}};",
            "use super::high::A;",
            "mod inner { use super::super::high::A; }",
            "use crate::RootItem;",
            "use crate::{RootItem};",
        ] {
            one_problem(&[("low.rs", text)], "src/low.rs:1: `low` (floor 1) names");
        }
        let deep = "fn f() {}\nuse super::super::high::A;";
        one_problem(&[("low/deep.rs", deep)], "src/low/deep.rs:2");
    }

    #[test]
    fn a_circle_on_one_floor_fails() {
        assert_eq!(check(&[("low.rs", "use crate::flat::A;")]), [""; 0]);
        let circle = [("low.rs", "use crate::flat::A;"), ("flat.rs", "use crate::low::B;")];
        one_problem(&circle, "in a circle: flat, low");
    }

    #[test]
    fn table_and_modules_must_agree() {
        one_problem(&[("new.rs", "")], "module `new` has no floor");
        let sources = [Source::parse("low.rs", "").0];
        let missing = problems(&documented_floors(TABLE), &sources);
        assert_eq!(missing.len(), 3, "{missing:?}");
        assert!(missing.iter().all(|problem| problem.contains("no such module")));
    }
}
