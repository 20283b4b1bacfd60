//! The simulator's own sources as tokens, tests left out: what house rules are checked on.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};

/// One source file, without what is compiled for tests only.
pub(crate) struct Source {
    /// Where it is, relative to `src` and with `/`.
    pub(crate) path: String,
    /// Its tokens. Comments and the contents of literals cannot be mistaken for code here.
    pub(crate) tokens: Vec<TokenTree>,
}

impl Source {
    /// Reads source text as the file at `path`; also names the test-only modules it declares.
    pub(crate) fn parse(path: &str, text: &str) -> (Source, Vec<String>) {
        let tokens: TokenStream =
            text.parse().unwrap_or_else(|error| panic!("{path} is no Rust: {error}"));
        let mut test_modules = Vec::new();
        let tokens = without_tests(tokens, &mut test_modules);
        (Source { path: path.into(), tokens }, test_modules)
    }

    /// The path of its module, from the crate's root.
    pub(crate) fn module(&self) -> Vec<String> {
        let path = self.path.strip_suffix(".rs").expect("a Rust file");
        let path = path.strip_suffix("/mod").unwrap_or(path);
        path.split('/').map(String::from).collect()
    }
}

/// Every file of `src` that is part of the library or the program.
pub(crate) fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = Vec::new();
    let mut tests_only = Vec::new();
    for file in files_below(&root) {
        let path = file.strip_prefix(&root).expect("below the root");
        let path = path.to_str().expect("UTF-8 path").replace('\\', "/");
        if !path.ends_with(".rs") {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a readable source");
        let (source, test_modules) = Source::parse(&path, &text);
        let inner = match path.as_str() {
            "lib.rs" | "main.rs" => String::new(),
            _ => format!("{}/", source.module().join("/")),
        };
        tests_only.extend(test_modules.iter().map(|name| format!("{inner}{name}")));
        sources.push(source);
    }
    sources.retain(|source| {
        let module = source.module().join("/");
        !tests_only.iter().any(|test| module == *test || module.starts_with(&format!("{test}/")))
    });
    assert!(sources.len() > 10, "the sources were not found below {}", root.display());
    sources
}

/// All files below a folder, sorted; `target` and what is hidden are left out, but for `.ci`.
pub(crate) fn files_below(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let hidden = name.starts_with('.') && name != ".ci";
            if path.is_dir() && !hidden && name != "target" {
                folders.push(path);
            } else if path.is_file() && !hidden {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// True where `tokens[at]` is this identifier.
pub(crate) fn is_ident(tokens: &[TokenTree], at: usize, name: &str) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Ident(ident)) if ident == name)
}

/// True where `tokens[at]` is this sign.
pub(crate) fn is_sign(tokens: &[TokenTree], at: usize, sign: char) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

/// What follows the `::` at `tokens[at]`: one name, or the first names of a group's members.
pub(crate) fn after_colons(tokens: &[TokenTree], at: usize) -> Vec<Ident> {
    if !(is_sign(tokens, at, ':') && is_sign(tokens, at + 1, ':')) {
        return Vec::new();
    }
    match tokens.get(at + 2) {
        Some(TokenTree::Ident(ident)) => vec![ident.clone()],
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
            let members: Vec<TokenTree> = group.stream().into_iter().collect();
            let starts = |at: usize| at == 0 || is_sign(&members, at - 1, ',');
            let first_name = |(at, token): (usize, &TokenTree)| match token {
                TokenTree::Ident(ident) if starts(at) => Some(ident.clone()),
                _ => None,
            };
            members.iter().enumerate().filter_map(first_name).collect()
        }
        _ => Vec::new(),
    }
}

/// Drops every item marked `#[cfg(test)]`, and names the modules among them that are files.
fn without_tests(stream: TokenStream, test_modules: &mut Vec<String>) -> Vec<TokenTree> {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if is_sign(&tokens, at, '#') && is_cfg_test(tokens.get(at + 1)) {
            let start = at + 2;
            at = end_of_item(&tokens, start);
            if let Some(name) = file_module(&tokens[start..at]) {
                test_modules.push(name);
            }
            continue;
        }
        kept.push(match &tokens[at] {
            TokenTree::Group(group) => {
                let inner = without_tests(group.stream(), test_modules).into_iter().collect();
                let mut copy = proc_macro2::Group::new(group.delimiter(), inner);
                copy.set_span(group.span());
                TokenTree::Group(copy)
            }
            token => token.clone(),
        });
        at += 1;
    }
    kept
}

fn is_cfg_test(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Group(group))
        if group.delimiter() == Delimiter::Bracket
            && group.stream().to_string().replace(' ', "") == "cfg(test)")
}

/// One past the `;` or the braces that close the item at `start`.
fn end_of_item(tokens: &[TokenTree], start: usize) -> usize {
    let closes = |token: &TokenTree| match token {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    };
    let length = tokens[start..].iter().position(closes).expect("an item that ends");
    start + length + 1
}

/// The name of `mod name;`.
fn file_module(item: &[TokenTree]) -> Option<String> {
    let [.., keyword, name, TokenTree::Punct(end)] = item else { return None };
    (keyword.to_string() == "mod" && end.as_char() == ';').then(|| name.to_string())
}
