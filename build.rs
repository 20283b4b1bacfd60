//! Rebuilds the binary when a file it carries changes.

fn main() {
    for folder in ["drills", "models", "policies", "scenarios", "spaces"] {
        println!("cargo::rerun-if-changed={folder}");
    }
}
