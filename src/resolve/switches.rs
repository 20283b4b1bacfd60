//! Kill switches from a file: what operators have thrown and put back, one entry after the other.

use windtunnel_policy::Duration;

use super::frame::LONGEST;
use super::weather::hits;
use crate::input::{InputError, Place, SourceFile, read_yaml_as};
use crate::scenario::{OperatorSpec, OperatorWhen, Range, Switch, SwitchFile, TargetModel};

/// The switch file that a scenario names.
pub(super) fn beside(name: &str, source: &SourceFile) -> Result<SourceFile, InputError> {
    let at = Place::root(source).key("switches");
    let Some(folder) = &source.folder else {
        let message = "a shipped scenario has no folder to find a file in";
        return Err(at.error(message).fix("copy the scenario to a file of your own"));
    };
    SourceFile::read(&folder.join(name)).map_err(|error| at.adopt(error))
}

/// What the file says, as operators of the scenario: each switch from its throw until it is put back,
/// or for good.
pub(super) fn operators(
    source: &SourceFile,
    targets: &[&TargetModel],
    horizon: Duration,
) -> Result<Vec<OperatorSpec>, InputError> {
    read(source, Some(targets), horizon)
}

/// Checks a file of kill switches by itself: whether it names targets, or ends in time, a scenario
/// decides.
///
/// # Errors
/// The file holds a mistake.
pub(crate) fn check_switches(source: &SourceFile) -> Result<(), InputError> {
    read(source, None, Duration::MAX).map(drop)
}

fn read(
    source: &SourceFile,
    targets: Option<&[&TargetModel]>,
    horizon: Duration,
) -> Result<Vec<OperatorSpec>, InputError> {
    let file: SwitchFile = read_yaml_as("a file of kill switches", source)?;
    let mut all: Vec<OperatorSpec> = Vec::new();
    // Switches that are off: what, since when, and the operator's place in the list.
    let mut off: Vec<(&Switch, Duration, usize)> = Vec::new();
    let mut before = Duration::ZERO;
    for (i, entry) in file.switches.iter().enumerate() {
        let at = Place::root(source).key("switches").index(i);
        if entry.at < before {
            let message = format!("{} comes before the entry above, at {before}", entry.at);
            return Err(at.key("at").error(message).fix("sort the list"));
        }
        before = entry.at;
        if entry.at >= horizon {
            let message = format!("{} is not before the horizon, {horizon}", entry.at);
            return Err(at.key("at").error(message).fix("nothing would happen"));
        }
        let (key, switch) = match (&entry.off, &entry.on) {
            (Some(switch), None) => ("off", switch),
            (None, Some(switch)) => ("on", switch),
            _ => {
                let fix = "write `off: recovery`, or `on: {targets: {…}}`";
                return Err(at.error("says not one of `off` and `on`").fix(fix));
            }
        };
        if let (Switch::Targets(domain), Some(targets)) = (switch, targets) {
            hits(domain, targets, &at.key(key).key("targets"))?;
        }
        let held = off.iter().position(|(other, ..)| *other == switch);
        match (key, held) {
            ("off", None) => {
                off.push((switch, entry.at, all.len()));
                let number = all.len() + 1;
                let (from, lasts) = (Range::only(entry.at), Range::only(LONGEST));
                all.push(OperatorSpec {
                    name: format!("switches {number}"),
                    switch: switch.clone(),
                    when: OperatorWhen::Window { from, lasts },
                });
            }
            ("on", Some(held)) => {
                let (_, since, place) = off.swap_remove(held);
                let (from, lasts) =
                    (Range::only(since), Range::only(entry.at.saturating_sub(since)));
                all[place].when = OperatorWhen::Window { from, lasts };
            }
            ("off", Some(held)) => {
                let message = format!("is off already, since {}", off[held].1);
                return Err(at.key("off").error(message).fix("leave one of the two out"));
            }
            _ => {
                let fix = "an entry above must have thrown just this switch";
                return Err(at.key("on").error("is not off").fix(fix));
            }
        }
    }
    Ok(all)
}
