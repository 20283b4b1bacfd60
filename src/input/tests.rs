use super::*;
use crate::scenario::{ModelCard, ScenarioFile};

fn fault<T: serde::de::DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
    let file = SourceFile { name: "x.yaml".into(), text: text.into() };
    read_yaml::<T>(&file).unwrap_err().to_string()
}

#[test]
fn look() {
    for text in [
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\nclasses:\n  c:\n    groups: {}\n    traffic: {}\n",
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\nclasses:\n  c:\n    groups: {primary: []}\n    traffic: {}\n",
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\nclasses:\n  c: {}\n",
        "name: x\nshowz: y\n",
        "name: x\nname: y\n",
        "name: x\n---\nname: y\n",
        "name: [\n",
        "name: x\nshows: a\nexpect: b\nhorizon: 5\n",
        "name: x\nshows: a\nexpect: b\nhorizon: [5]\n",
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\n",
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\nclasses: {}\ntargets: {a: {card: x, wieght: 3}}\n",
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\nclasses: {}\ntargets:\n  a:\n    card: x\n    weight: -3\n",
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\nclasses: {}\ntargets:\n  a:\n    weight: 3\n",
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\nclasses: {}\ntargets:\n  a:\n    card: x\n    quality: {silent: .nan}\n",
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\nclasses:\n  c:\n    groups: {primary: []}\n    traffic:\n      arrivals:\n        poison: 5/s\n",
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\nclasses:\n  c:\n    groups: {primary: []}\n    traffic:\n      arrivals:\n        poisson: -5/s\n",
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\nclasses:\n  c:\n    groups: {primary: []}\n    traffic:\n      arrivals:\n        - 5\n",
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\nclasses:\n  c:\n    groups: {primary: []}\n    traffic:\n      arrivals:\n        gamma: {rate: 5/s, cv: .inf}\n",
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\nclasses:\n  c:\n    groups: {primary: []}\n    traffic:\n      arrivals: poisson\n",
        "name: &a x\nshows: *a\n",
        "name: *a\n",
        "- 1\n- 2\n",
        "just text",
        "name: x\n\tshows: y\n",
        "name: \"x\n",
        "name: x\n shows: y\n",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        "# nothing\n",
        "name:\nshows: a",
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\nwarm_up: yes\nclasses: 5\n",
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\nclasses:\ntargets:\n",
        "name: {}\n",
        "name: !foo x\nshows: a\n",
        "%YAML 5\n---\nname: x\n",
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\nclasses: {}\ntargets:\n  a:\n    card: x\n    failures: {source: a, mix: [{class: overloadd, status: 500, share: 5%}]}\n",
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\nclasses: {}\ntargets:\n  a:\n    card: x\n    failures: {source: a, mix: [{class: overloaded, status: 99999, share: 5%}]}\n",
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\nclasses: {}\ntargets:\n  a:\n    card: x\n    failures: {source: a, mix: [{class: overloaded, status: 500, share: 500%}]}\n",
        "name: x\nshows: a\nexpect: b\nhorizon: 5m\nclasses: {}\ntargets:\n  a:\n    card: x\n    capacity: {source: a, slots: 5, drops_late: yes}\n",
    ] {
        eprintln!("---\n{text}\n>>> {}", fault::<ScenarioFile>(text));
    }
    eprintln!("{}", fault::<ModelCard>("name: x"));
}
