//! What stands at the edge of sense: nothing measured, numbers and names that are none, links.

use std::fs;

use super::{code, folder, in_folder};

fn said(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn where_nothing_was_measured_nothing_is_compared() {
    let folder = folder();
    let small = fs::read_to_string(folder.path().join("small.yaml")).unwrap();
    fs::write(folder.path().join("idle.yaml"), small.replace("poisson: 3/s", "poisson: 1/d"))
        .unwrap();
    let policies = ["-p", "single", "-p", "fast-failover"];
    for words in [&["run", "idle.yaml"][..], &[&["compare", "idle.yaml"][..], &policies].concat()] {
        let text = said(&in_folder(&folder, words));
        assert!(text.contains("Nothing was measured"), "{text}");
        assert!(!text.contains("against `single`: ."), "{text}");
    }
}

#[test]
fn what_is_no_request_number_is_said_to_be_none() {
    let folder = folder();
    for number in ["-1", "x"] {
        let output = in_folder(&folder, &["explain", "small.yaml", "--request", number]);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2));
        assert!(text.contains("expected a whole number") && !text.contains("tip:"), "{text}");
    }
}

#[test]
fn standard_input_is_called_by_its_name() {
    let folder = folder();
    for words in [
        &["check", "-"][..],
        &["run", "-"],
        &["what-if", "-", "-p", "single", "-p", "fast-failover"],
    ] {
        let text = said(&in_folder(&folder, words));
        assert!(
            text.contains("-: standard input has another name") && text.contains("/dev/stdin"),
            "{text}"
        );
    }
}

#[test]
fn names_are_no_paths() {
    let folder = folder();
    let small = fs::read_to_string(folder.path().join("small.yaml")).unwrap();
    for (old, new) in
        [("name: small", "name: ../x"), ("far: {", "../x: {"), ("name: trouble", "name: /x")]
    {
        fs::write(
            folder.path().join("bad.yaml"),
            small.replace(old, new).replace("[[far]]", "[[../x]]"),
        )
        .unwrap();
        let output = in_folder(&folder, &["check", "bad.yaml"]);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(
            text.contains(if new.contains("..") { "../x` is a path" } else { "/x` is a path" }),
            "{text}"
        );
    }
    fs::write(folder.path().join("p.yaml"), "name: ../x\nattempts: {max: 2}\n").unwrap();
    assert!(
        said(&in_folder(&folder, &["check", "p.yaml"]))
            .contains("p.yaml:1:1: name: the name `../x` is a path")
    );
}

#[cfg(unix)]
#[test]
fn what_a_link_names_is_written_and_the_link_is_left() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("there")).unwrap();
    for (link, target) in [("link.csv", "there/rows.csv"), ("dangling.csv", "there/none.csv")] {
        if link == "link.csv" {
            fs::write(at(target), "old").unwrap();
        }
        std::os::unix::fs::symlink(target, at(link)).unwrap();
        assert_eq!(code(&folder, &["run", "small.yaml", "--quiet", "--ledger", link]), 0);
        assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink(), "{link}");
        assert!(fs::read_to_string(at(target)).unwrap().lines().count() > 100, "{target}");
    }
}
