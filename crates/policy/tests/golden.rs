//! Golden scripts: events in, actions out, as text that reads without the code.
//!
//! `UPDATE_SCRIPTS=1 cargo test -p windtunnel-policy --test golden` rewrites the actions of every
//! script in `scripts/`; read the difference before keeping it.

mod script;

use std::fs;
use std::path::Path;

#[test]
fn every_script_gives_the_actions_it_states() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let update = std::env::var_os("UPDATE_SCRIPTS").is_some();
    let mut failures = Vec::new();
    let mut paths: Vec<_> = fs::read_dir(&folder)
        .expect("the scripts folder exists")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|e| e == "txt"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no scripts in {}", folder.display());
    for path in paths {
        let stated = fs::read_to_string(&path).expect("a readable script");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let given = script::run(&stated).unwrap_or_else(|e| panic!("{name}: {e}"));
        if given == stated {
            continue;
        }
        if update {
            fs::write(&path, &given).expect("a writable script");
        } else {
            failures.push(format!("{name}:\n{}", script::difference(&stated, &given)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
