//! House rules that no lint knows: library code neither prints nor looks at its surroundings, no
//! text names a path of somebody's machine, and links between documents lead somewhere.

#[path = "common/source.rs"]
mod source;

use std::fs;
use std::path::Path;

use proc_macro2::TokenTree;
use source::{Source, after_colons, files_below, is_ident, is_sign, sources};

/// Macros that write to the terminal.
const PRINTS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];
/// Modules of the standard library through which the surroundings come in.
const SURROUNDINGS: [&str; 4] = ["env", "time", "process", "net"];
/// Streams that belong to the command line.
const STREAMS: [&str; 3] = ["stdin", "stdout", "stderr"];

#[test]
fn library_code_neither_prints_nor_reads_clock_or_environment() {
    let library = sources();
    let library = library.iter().filter(|source| {
        source.path != "main.rs" && source.path != "cli.rs" && !source.path.starts_with("cli/")
    });
    let problems: Vec<String> = library.flat_map(surroundings).collect();
    assert!(problems.is_empty(), "only the command line may do this:\n{}", problems.join("\n"));
}

/// Every place where a file prints, or reaches for clock, environment, process or network.
fn surroundings(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    collect(source, &source.tokens, &mut found);
    found
}

fn collect(source: &Source, tokens: &[TokenTree], found: &mut Vec<String>) {
    let mut report = |token: &TokenTree, what: &str| {
        found.push(format!("src/{}:{}: {what}", source.path, token.span().start().line));
    };
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Ident(ident) = token else { continue };
        let name = ident.to_string();
        if PRINTS.contains(&name.as_str()) && is_sign(tokens, at + 1, '!') {
            report(token, &format!("{name}!"));
        }
        if STREAMS.contains(&name.as_str()) || name == "SystemTime" {
            report(token, &name);
        }
        if is_ident(tokens, at, "std") {
            for part in after_colons(tokens, at + 1) {
                if SURROUNDINGS.iter().any(|module| part == module) {
                    report(token, &format!("std::{part}"));
                }
            }
        }
    }
    for token in tokens {
        if let TokenTree::Group(group) = token {
            collect(source, &group.stream().into_iter().collect::<Vec<_>>(), found);
        }
    }
}

#[test]
fn the_check_of_surroundings_sees_each_kind() {
    for bad in [
        "fn f() { println!(\"x\"); }",
        "fn f() { if true { eprint!(\"x\"); } }",
        "use std::time::Instant;",
        "use std::{collections::BTreeMap, env};",
        "fn f() { std::env::var(\"HOME\"); }",
        "fn f() { std::process::exit(1) }",
        "use std::io::{stdout, Write};",
    ] {
        let (source, _) = Source::parse("part.rs", bad);
        assert_eq!(surroundings(&source).len(), 1, "{bad}");
    }
    let good = "//! println!\nconst A: &str = env!(\"CARGO_PKG_VERSION\");\n\
                fn f(env: u8) -> String { format!(\"std::env {env}\") }\n\
                #[cfg(test)] mod tests { fn g() { eprintln!(\"skipped\"); } }";
    assert_eq!(surroundings(&Source::parse("part.rs", good).0), [""; 0]);
}

#[test]
fn no_text_names_a_path_of_a_machine() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut problems = Vec::new();
    for file in files_below(root) {
        // What is no text (pictures, fonts) is no place for a path.
        let Ok(text) = fs::read_to_string(&file) else { continue };
        for (number, line) in text.lines().enumerate() {
            if names_machine_path(line) {
                problems.push(format!("{}:{}: {line}", file.display(), number + 1));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// True where a line names an absolute path below a folder that only one machine has.
fn names_machine_path(line: &str) -> bool {
    ["work", "tmp", "root", "home", "Users"].iter().any(|folder| {
        let needle = format!("/{folder}/");
        // Part of a longer path or of an address is not absolute.
        let absolute = |at: usize| {
            let before = line[..at].chars().next_back();
            before.is_none_or(|c| !(c.is_alphanumeric() || "._-/~}".contains(c)))
        };
        line.match_indices(&needle).any(|(at, _)| absolute(at))
    })
}

#[test]
fn the_check_of_paths_sees_absolute_ones_only() {
    let absolute = |folder: &str| ["see ", "/", folder, "/file"].concat();
    assert!(names_machine_path(&absolute("home")));
    assert!(names_machine_path(&absolute("tmp")));
    assert!(!names_machine_path("docs.rs/home/page and src/work/file and ../tmp/file"));
}

#[test]
fn paths_in_documents_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = 0;
    let mut problems = Vec::new();
    for file in files_below(root).iter().filter(|file| file.extension().is_some_and(|e| e == "md"))
    {
        let text = fs::read_to_string(file).expect("a readable document");
        // Odd parts stand between two backticks, where every backtick has its partner.
        for span in text.split('`').skip(1).step_by(2).filter(|span| is_path(span)) {
            paths += 1;
            if !root.join(span).exists() {
                problems.push(format!("{}: `{span}`", file.display()));
            }
        }
    }
    assert!(paths > 20, "only {paths} paths found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// True for what is written like a path below one of the repository's folders of code.
fn is_path(span: &str) -> bool {
    let plain = span.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
    let folders = ["src/", "tests/", "crates/", "docs/", "benches/", ".ci/"];
    plain && folders.iter().any(|folder| span.starts_with(folder))
}

#[test]
fn links_between_documents_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut links = 0;
    let mut problems = Vec::new();
    for file in files_below(root).iter().filter(|file| file.extension().is_some_and(|e| e == "md"))
    {
        let text = fs::read_to_string(file).expect("a readable document");
        for link in links_in(&text) {
            links += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let folder = file.parent().expect("a folder");
            let to = if path.is_empty() { file.clone() } else { folder.join(path) };
            let there = to.exists() && (anchor.is_empty() || has_anchor(&to, anchor));
            if !there {
                problems.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert!(links > 100, "only {links} links found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Targets of `[…](target)` that stay within the repository.
fn links_in(text: &str) -> impl Iterator<Item = &str> {
    let target = |(at, _): (usize, &str)| text[at + 2..].split(')').next();
    let outside = |link: &&str| !link.contains("://") && !link.starts_with("mailto:");
    text.match_indices("](").filter_map(target).filter(outside)
}

/// True where a heading of the document makes this anchor.
fn has_anchor(document: &Path, anchor: &str) -> bool {
    let text = fs::read_to_string(document).expect("a readable document");
    text.lines().filter(|line| line.starts_with('#')).any(|line| {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).eq(anchor.chars())
    })
}
