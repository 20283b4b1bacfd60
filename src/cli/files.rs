//! `check`, `list`, `schema` and `profile`.

use std::path::{Path, PathBuf};

use windtunnel::check::{self, Checked};
use windtunnel::input::{InputError, did_you_mean, read_yaml};
use windtunnel::library::{Kind, drills, find, list as shipped};
use windtunnel::profile::About;
use windtunnel::scenario::{TraceColumns, TraceLayout};
use windtunnel::schema::{columns_text, schema_text};
use windtunnel::trace::read_trace;

use super::args::{ProfileArgs, SchemaKind};
use super::interrupt::{self, First};
use super::output::{OutFile, print, write_file};
use super::same_file::refuse_overwriting;
use super::say::say;
use super::{BAD_INPUT, Outcome};

/// Something is wasteful, where that is to fail.
const WASTEFUL: u8 = 1;

/// Checks files; every mistake and every warning goes to standard error.
pub(super) fn check(files: &[PathBuf], strict: bool) -> Outcome {
    let Checked { mistakes, warnings } = check::check(files);
    for mistake in &mistakes {
        say("error", mistake);
    }
    for warning in &warnings {
        say("warning", warning);
    }
    let good = files.len() - mistakes.len();
    let refused = match strict && !warnings.is_empty() {
        true => "; with `--strict` nothing may be warned of",
        false => "",
    };
    print(&format!("{good} of {} files are good{refused}\n", files.len()))?;
    Ok(match (mistakes.is_empty(), strict && !warnings.is_empty()) {
        (false, _) => BAD_INPUT,
        (true, true) => WASTEFUL,
        (true, false) => 0,
    })
}

/// Lists what is shipped, with one line on each.
pub(super) fn list() -> Outcome {
    let mut text = String::new();
    for kind in Kind::ALL {
        text += &format!("{}\n", kind.folder());
        for file in shipped(kind) {
            text += &format!("  {:<28} {}\n", file.name, about(kind, &file.name));
        }
    }
    text += "drills (scenarios too)\n";
    for file in drills() {
        text += &format!("  {:<28} {}\n", file.name, about(Kind::Scenario, &file.name));
    }
    print(&text)?;
    Ok(0)
}

/// The file's own sentence about itself.
fn about(kind: Kind, name: &str) -> String {
    let field = if kind == Kind::Scenario { "shows" } else { "description" };
    let sentence = find(kind, name).ok().and_then(|file| {
        let value: serde_json::Value = read_yaml(&file).ok()?;
        Some(value.get(field)?.as_str()?.split_whitespace().collect::<Vec<_>>().join(" "))
    });
    sentence.unwrap_or_default()
}

/// Prints a schema.
pub(super) fn schema(kind: SchemaKind) -> Outcome {
    let kind = match kind {
        SchemaKind::Scenario => Kind::Scenario,
        SchemaKind::Policy => Kind::Policy,
        SchemaKind::Model => Kind::Card,
        SchemaKind::Profile => Kind::Profile,
        SchemaKind::Space => Kind::Space,
        SchemaKind::Columns => {
            print(&columns_text())?;
            return Ok(0);
        }
    };
    print(&schema_text(kind))?;
    Ok(0)
}

/// Makes a profile of a trace.
pub(super) fn profile(args: &ProfileArgs) -> Outcome {
    let layout = layout(&args.layout)?;
    refuse_overwriting(&[("--out", &args.out)], std::slice::from_ref(&args.trace))?;
    interrupt::watch(First::EndsAtOnce);
    let out = OutFile::create(&args.out)?;
    let trace = read_trace(&args.trace, &layout)?;
    let leaf = |path: &Path| path.file_name().map(|leaf| leaf.to_string_lossy().into_owned());
    let source = args.source.clone().or_else(|| leaf(&args.trace)).unwrap_or_default();
    let name = args.out.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let about = About {
        name: name.unwrap_or_default(),
        description: format!("Profile of {source}."),
        source,
        licence: args.licence.clone(),
        date: args.date.clone(),
    };
    let profile = trace.profile(about);
    write_file(out, profile.to_yaml().as_bytes())?;
    for note in &trace.notes {
        say("note", note);
    }
    let (requests, seconds) = (profile.requests(), profile.seconds());
    print(&format!("{}: {requests} requests in {seconds} s\n", args.out.display()))?;
    Ok(0)
}

/// A public trace's layout, or the names of columns.
pub(super) fn layout(text: &str) -> Result<TraceLayout, InputError> {
    let known = ["azure2023", "burst_gpt", "mooncake"];
    let Some(columns) = text.strip_prefix("columns:") else {
        return match text {
            "azure2023" => Ok(TraceLayout::Azure2023),
            "burst_gpt" => Ok(TraceLayout::BurstGpt),
            "mooncake" => Ok(TraceLayout::Mooncake),
            _ => Err(InputError::new("--layout", format!("`{text}` is no layout"))
                .fix(did_you_mean(text, "layout", known))),
        };
    };
    let named = |name: &str| name.trim().to_owned();
    match columns.split(',').collect::<Vec<_>>()[..] {
        [time, unit, input, output] | [time, unit, input, output, _] => {
            Ok(TraceLayout::Columns(TraceColumns {
                time: named(time),
                time_unit: named(unit),
                input_tokens: named(input),
                output_tokens: named(output),
                max_output_tokens: None,
                session: columns.split(',').nth(4).map(named),
            }))
        }
        _ => Err(InputError::new("--layout", "expected four or five names after `columns:`").fix(
            "write `columns:TIME,UNIT,INPUT,OUTPUT` or `columns:TIME,UNIT,INPUT,OUTPUT,SESSION`",
        )),
    }
}
