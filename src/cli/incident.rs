//! A timeline and traffic made into a world.

use std::path::{Path, PathBuf};

use windtunnel::input::InputError;
use windtunnel::timeline::{Asked, Hypothesis, Incident, Traffic};

use super::args::TimelineArgs;
use super::files::layout;

/// The world of a timeline, called `name` or as the incident.
///
/// # Errors
/// The timeline, the traffic or a card cannot be read or holds a mistake.
pub(super) fn suppose(args: &TimelineArgs, name: Option<String>) -> Result<Hypothesis, InputError> {
    let given = |text: &Option<String>| text.clone().expect("there is a log where it is not given");
    let layout = args.layout.as_deref().map(layout).transpose()?;
    let found = Incident::find(&given(&args.timeline))?;
    let traffic = Traffic::read(&given(&args.traffic), layout.as_ref())?;
    let asked =
        Asked { found: &found, traffic: &traffic, targets: &args.targets, severity: args.severity };
    Hypothesis::of(name.as_ref().unwrap_or(&found.incident.id), &asked)
}

impl TimelineArgs {
    /// The files that are read.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let timeline = self.timeline.as_deref().map(|named| match named.rsplit_once('#') {
            Some((path, _)) if !Path::new(named).exists() => path,
            _ => named,
        });
        let named = [timeline, self.traffic.as_deref()].into_iter().flatten();
        let cards = self.targets.iter().map(String::as_str);
        named.chain(cards).map(PathBuf::from).filter(|path| path.is_file()).collect()
    }
}
