//! The recommended policy as a file that can be checked, shipped and found again.

use serde_json::{Map, Value};
use windtunnel_policy::config::Policy;

use super::TuneReport;
use super::yaml::document;
use crate::input::SourceFile;
use crate::library::read_policy;
use crate::report::VERSION;
use crate::report::short_hash;

pub(super) fn render(report: &TuneReport<'_>) -> Option<String> {
    let mut policy = report.tuning.policy()?;
    let base = &report.tuning.base().variant.policy;
    let goal = report.task.goal;
    policy.description =
        format!("{} tuned to {} {}.", base.name, goal.direction.verb(), goal.measure);
    let mut text = String::new();
    for line in comments(report) {
        for line in wrapped(&line) {
            text += format!("# {line}").trim_end();
            text.push('\n');
        }
    }
    text.push('\n');
    Some(text + &body(&policy))
}

/// The evidence, and how to find it again.
fn comments(report: &TuneReport<'_>) -> Vec<String> {
    let mut lines = report.answer();
    lines.push(String::new());
    if let Some(evidence) = &report.tuning.evidence {
        lines.push("Changes, and what each buys:".into());
        for change in &evidence.changes {
            let fields = change.fields.iter().map(|(f, a, b)| format!("{f}: {a} -> {b}"));
            let buys = super::tables::buys(report, change);
            lines.push(format!("  {}: {buys}", fields.collect::<Vec<_>>().join(", ")));
        }
        lines.push(String::new());
    }
    let scenarios = report.task.scenarios.iter();
    let named = scenarios.map(|s| format!("{} ({})", s.file.name, short_hash(&s.hash)));
    lines.push(format!("windtunnel {VERSION}, {}", named.collect::<Vec<_>>().join(", ")));
    lines.push(report.command.to_owned());
    lines
}

/// Lines of at most a hundred characters, where words allow.
fn wrapped(line: &str) -> Vec<String> {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    let mut lines = vec![" ".repeat(indent)];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is one from the start");
        let is_bare = last.trim().is_empty();
        if is_bare || last.chars().count() + 1 + word.chars().count() <= 100 {
            last.push_str(if is_bare { "" } else { " " });
            last.push_str(word);
        } else {
            lines.push(format!("{:indent$}  {word}", ""));
        }
    }
    lines
}

/// What differs from the defaults; whole parts where a part of one would be read otherwise.
fn body(policy: &Policy) -> String {
    let plain = "a policy is plain data";
    let whole = serde_json::to_value(policy).expect(plain);
    let defaults = serde_json::to_value(Policy::default()).expect(plain);
    let mut kept = different(&whole, &defaults, false);
    let reads_the_same = |value: &Value| {
        let file = SourceFile { name: "policy.yaml".into(), text: document(value), folder: None };
        // As documents: a share may be written with fewer digits than it is held with.
        let as_read = read_policy(&file).ok().and_then(|read| serde_json::to_value(read).ok());
        as_read.as_ref() == Some(&whole)
    };
    if !reads_the_same(&kept) {
        return document(&whole);
    }
    let parts = kept.as_object().map(|fields| fields.keys().cloned().collect::<Vec<_>>());
    for part in parts.unwrap_or_default() {
        let mut less = kept.clone();
        less[&part] = different(&whole[&part], &defaults[&part], true);
        if reads_the_same(&less) {
            kept = less;
        }
    }
    document(&kept)
}

/// The fields that are not as by default; within fields, too, where `deep`.
fn different(value: &Value, default: &Value, deep: bool) -> Value {
    let (Value::Object(fields), Value::Object(defaults)) = (value, default) else {
        return value.clone();
    };
    let mut kept = Map::new();
    for (name, value) in fields {
        match defaults.get(name) {
            Some(default) if default == value => {}
            Some(default) if deep => {
                kept.insert(name.clone(), different(value, default, deep));
            }
            _ => {
                kept.insert(name.clone(), value.clone());
            }
        }
    }
    Value::Object(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::{Kind, list, load_policy};

    #[test]
    fn every_shipped_policy_is_read_as_it_was_written() {
        for shipped in list(Kind::Policy) {
            let policy = load_policy(&shipped.name).unwrap();
            let text = body(&policy);
            let file = SourceFile { name: "p.yaml".into(), text: text.clone(), folder: None };
            let document = |policy: &Policy| serde_json::to_value(policy).unwrap();
            let read = read_policy(&file).unwrap();
            assert_eq!(document(&read), document(&policy), "{}:\n{text}", shipped.name);
            assert!(text.lines().count() < 80, "{}:\n{text}", shipped.name);
        }
    }

    #[test]
    fn a_file_says_no_more_than_it_must() {
        let mut policy = Policy { name: "mine".into(), ..Policy::default() };
        policy.attempts.max += 1;
        let max = policy.attempts.max;
        assert_eq!(body(&policy), format!("name: mine\nattempts:\n  max: {max}\n"));
    }

    #[test]
    fn comments_keep_to_the_page() {
        let line = "  ".to_owned() + &"word ".repeat(60);
        let lines = wrapped(line.trim_end());
        assert!(lines.len() > 2 && lines.iter().all(|line| line.chars().count() <= 100));
        assert!(lines[0].starts_with("  word") && lines[1].starts_with("    word"), "{lines:?}");
    }
}
