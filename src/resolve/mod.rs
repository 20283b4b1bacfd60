//! From a scenario as written to one that can be run: cards merged in, names looked up, every
//! figure checked.
//!
//! Checks stand beside what they guard, and each reports at the field it is about. The first
//! mistake ends the reading: later ones are often its echo.

mod blocks;
mod card;
mod classes;
mod contracts;
mod digest;
mod frame;
mod layers;
mod limits;
mod load;
mod operators;
mod prior;
mod starving;
mod switches;
mod targets;
mod tenants;
mod tools;
mod traffic;
mod weather;

use windtunnel_policy::target::{TargetId, Topology};

pub(crate) use self::switches::check_switches;

use crate::dist::{Tables, share};
use crate::input::{InputError, Place, SourceFile};
use crate::scenario::{Scenario, ScenarioFile};

/// Puts a scenario's cards, profiles and traces in place.
///
/// # Errors
/// A file it names cannot be read, or something in it or in them is wrong.
fn resolve(
    source: SourceFile,
    mut file: ScenarioFile,
    more_switches: Option<&SourceFile>,
) -> Result<Scenario, InputError> {
    let root = Place::root(&source);
    frame::check(&file, &root)?;
    let cards = card::load_cards(&file, &source)?;
    let mut targets = targets::resolve(&file, &cards, &root)?;
    let shared = limits::share(&mut targets)?;
    let models: Vec<_> = targets.iter().map(|target| &target.model).collect();
    weather::check(&file, &models, &root)?;
    operators::check(&file, &models, &root)?;
    let named = file.switches.as_ref().map(|name| switches::beside(name, &source)).transpose()?;
    let mut switched = Vec::new();
    for source in named.iter().chain(more_switches) {
        switched.extend(switches::operators(source, &models, file.horizon)?);
    }
    let tenants = tenants::resolve(&file, &root)?;
    let loads = traffic::load(&file, &source, &root)?;
    let mut classes = classes::resolve(&file, &models, &loads, &root)?;
    classes::check_capabilities(&file, &targets, &classes.facts, &root)?;
    weather::check_required(&file, &classes.facts, &root)?;
    contracts::check(&targets, &classes.facts, &root)?;

    let mut notes = frame::notes(&file, &shared);
    notes.extend(loads.iter().flat_map(|load| load.notes.iter().cloned()));
    notes.extend(starving::notes(&file, &classes.models, &loads, &models, &shared));
    let hash = digest::of(&file, &switched, &cards, &loads);
    let priors = prior::of(&targets, &loads, &classes.facts);
    for (target, prior) in targets.iter_mut().zip(priors) {
        target.facts.prior_latency = prior;
    }
    share(targets.iter_mut().flat_map(|target| target.model.latency.dists_mut()));
    for (class, load) in classes.models.iter_mut().zip(loads) {
        (class.expected, class.recorded) = (load.expected, load.recorded);
    }
    let (models, facts) = targets.into_iter().map(|t| (t.model, t.facts)).unzip();
    file.operators.extend(switched);
    let topology =
        Topology { targets: facts, classes: classes.facts, tenants: tenants::facts(&tenants) };
    Ok(Scenario {
        file,
        hash,
        targets: models,
        limits: shared,
        classes: classes.models,
        tenants,
        topology,
        notes,
        source,
        tables: Tables::default(),
    })
}

/// The id of the item at this position of a list of targets.
fn id(position: usize) -> TargetId {
    TargetId(u16::try_from(position).expect("a scenario has at most 256 targets"))
}
