use super::*;
use crate::scenario::ScenarioFile;

fn fault(text: &str) -> String {
    let file = SourceFile { name: "x.yaml".into(), text: text.into(), folder: None };
    read_yaml::<ScenarioFile>(&file).unwrap_err().to_string()
}

const HEAD: &str = "name: x\nshows: a\nexpect: b\nhorizon: 5m\n";

#[test]
fn a_mistake_is_shown_at_its_place() {
    assert_eq!(
        fault("name: x\nshowz: y\n"),
        "x.yaml:2:1: showz: unknown field; did you mean `shows`?\n    2 | showz: y\n      | ^"
    );
}

#[test]
fn mistakes_in_the_text() {
    for (text, wanted) in [
        ("# nothing\n", "x.yaml: is empty"),
        ("name: x\nname: y\n", "x.yaml:2:1: name: is given twice"),
        ("name: &a x\nshows: *a\n", "x.yaml:1:10: YAML anchors and aliases are not used here"),
        ("- 1\n", "x.yaml:1:1: expected fields (`name: value`), found a list"),
        ("name: \"x\n", "x.yaml:1:7: unclosed quote"),
        ("name: !foo x\n", "x.yaml:1:12: unsupported tag `!foo`"),
        ("name:\nshows: a\n", "x.yaml:1:5: name: expected a value, found nothing"),
        ("name: {}\n", "x.yaml:1:7: name: expected one value, found fields"),
    ] {
        let error = fault(text);
        assert!(error.starts_with(wanted), "{text}: {error}");
    }
}

#[test]
fn mistakes_in_the_values() {
    let class =
        "classes:\n  c:\n    groups: {primary: []}\n    traffic:\n      arrivals:\n        ";
    let target = "classes: {}\ntargets:\n  a:\n    card: x\n    ";
    for (text, wanted) in [
        (
            format!("{HEAD}classes:\n"),
            "5:8: classes: expected fields (`name: value`), found nothing",
        ),
        (HEAD.to_owned(), "1:1: classes: is missing; add `classes: …`"),
        (
            HEAD.replace("5m", "5"),
            "4:10: horizon: expected a duration such as 250ms, 1.5s, 10m, 2h or 1d, found `5`",
        ),
        (
            format!("{HEAD}{class}poison: 5/s\n"),
            "10:9: classes.c.traffic.arrivals.poison: unknown value `poison`; did you mean `poisson`?",
        ),
        (
            format!("{HEAD}{class}poisson: -5/s\n"),
            "10:18: classes.c.traffic.arrivals.poisson: expected a rate such as 20/s",
        ),
        (
            format!("{HEAD}{class}gamma: {{rate: 5/s, cv: .inf}}\n"),
            "10:32: classes.c.traffic.arrivals.gamma.cv: expected a number above 0",
        ),
        (
            format!("{HEAD}classes:\n  c: {{}}\n"),
            "6:3: classes.c.groups: is missing; add `groups: …`",
        ),
        (
            format!("{HEAD}{target}weight: -3\n"),
            "9:13: targets.a.weight: expected a whole number up to 4294967295, found `-3`",
        ),
        (
            format!("{HEAD}{target}quality: {{silent: .nan}}\n"),
            "9:23: targets.a.quality.silent: expected a finite number, found `.nan`",
        ),
        (
            format!("{HEAD}{target}capacity: {{source: a, slots: 5, drops_late: yes}}\n"),
            "9:49: targets.a.capacity.drops_late: expected true or false, found `yes`",
        ),
        (
            format!("{HEAD}classes: {{}}\ntargets:\n  a:\n    weight: 3\n"),
            "7:3: targets.a.card: is missing; add `card: …`",
        ),
    ] {
        let error = fault(&text);
        assert!(error.starts_with(&format!("x.yaml:{wanted}")), "{text}: {error}");
    }
}

#[test]
fn long_lines_are_cut_around_the_caret() {
    let padding = "x".repeat(300);
    let error = fault(&format!("name: {{a: \"{padding}\", b: 1}}\n"));
    let caret = error.lines().nth(2).and_then(|line| line.find('^')).expect("a caret");
    assert!(error.lines().all(|line| line.chars().count() < 200), "{error}");
    assert_eq!(caret - "      | ".len(), 6);
}

#[test]
fn bytes_that_are_no_text_name_their_line() {
    let error = SourceFile::from_bytes("x".into(), b"a: b\nc\xff\n".to_vec()).unwrap_err();
    assert_eq!(error.to_string(), "x:2:2: is not UTF-8 text; save it as UTF-8");
    let file = SourceFile::from_bytes("x".into(), "\u{feff}a: b".into()).expect("a mark is fine");
    assert_eq!(file.text, "a: b");
}

#[test]
fn names_are_guessed_only_when_near() {
    assert_eq!(nearest("wieght", ["weight", "height"]), Some("weight"));
    assert_eq!(nearest("xyz", ["weight", "height"]), None);
    assert_eq!(did_you_mean("xyz", "field", ["a", "b"]), "known here: `a`, `b`");
}
