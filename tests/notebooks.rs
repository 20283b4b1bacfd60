//! The notebooks run, and print what is written in them.
//!
//! Needs a Python with `notebooks/requirements.txt` installed: `WINDTUNNEL_PYTHON` names it, else
//! `python3` is asked. Without one the test says so and is skipped. `WINDTUNNEL` names a program to
//! run in place of the one under test, say an optimised build of the same sources.

use std::process::Command;

#[test]
fn notebooks_print_what_is_written_in_them() {
    let python = std::env::var("WINDTUNNEL_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_all = Command::new(&python)
        .args(["-c", "import ipykernel, matplotlib, nbclient, polars"])
        .output()
        .is_ok_and(|asked| asked.status.success());
    if !has_all {
        eprintln!("skipped: {python} lacks the packages of notebooks/requirements.txt");
        return;
    }
    let program =
        std::env::var("WINDTUNNEL").unwrap_or_else(|_| env!("CARGO_BIN_EXE_windtunnel").to_owned());
    // Nothing is left in the user's home.
    let own = tempfile::tempdir().unwrap();
    let done = Command::new(&python)
        .args([concat!(env!("CARGO_MANIFEST_DIR"), "/notebooks/execute.py"), "--check"])
        .env("WINDTUNNEL", program)
        .env("IPYTHONDIR", own.path())
        .env("JUPYTER_RUNTIME_DIR", own.path())
        .env("MPLCONFIGDIR", own.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    );
}
