//! Worlds that agree with the log as well, where it cannot tell them apart.

use windtunnel_policy::Share;

use super::Question;
use super::unseen::unseen;
use crate::scenario::{Domain, Effects, Range, Scenario, Shape, WeatherSpec, When};

/// What is taken otherwise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Variant {
    /// No failure sticks to its request.
    Independent,
    /// Every failure sticks to its request.
    Stuck,
    /// Fallbacks hold no more at one time than the log shows.
    Full(String),
    /// What befell one target befalls another, too.
    DownToo(String),
    /// What a timeline does not say, taken otherwise.
    Untold(String),
    /// Half the room at targets of which nothing was lived.
    LessRoom(String),
}

impl Variant {
    /// In words.
    pub(super) fn words(&self) -> String {
        match self {
            Variant::Independent => "no failure sticks to its request".into(),
            Variant::Stuck => "every failure sticks to its request".into(),
            Variant::Full(targets) => format!("{targets}: no room for more than the log shows"),
            Variant::LessRoom(targets) => format!("half the room and limits at {targets}"),
            Variant::DownToo(what) | Variant::Untold(what) => what.clone(),
        }
    }
}

/// The worlds that are not run with the others.
pub(super) fn worlds(question: &Question<'_>) -> Vec<(Variant, Scenario)> {
    let mut worlds: Vec<(Variant, Scenario)> = Vec::new();
    worlds.extend(full(question));
    let untold = question.timeline.map_or(Vec::new(), |of| of.otherwise(question.scenario));
    worlds.extend(untold.into_iter().map(|(words, world)| (Variant::Untold(words), world)));
    worlds.extend(less_room(question));
    worlds.extend(down_too(question.scenario));
    worlds
}

/// Targets that no class tries first, with as many slots as were in use at one time.
fn full(question: &Question<'_>) -> Option<(Variant, Scenario)> {
    let (fit, _) = question.log?;
    let mut scenario = question.scenario.clone();
    let tried_first = |name: &String| {
        question.scenario.file.classes.values().any(|class| class.groups.primary.contains(name))
    };
    let mut named = Vec::new();
    for target in &mut scenario.targets {
        let most = fit.most_in_flight(&target.name);
        let Some(most) = most.filter(|_| !tried_first(&target.name)) else {
            continue;
        };
        target.capacity.slots = u32::try_from(most.max(1)).unwrap_or(u32::MAX);
        target.capacity.queue = 0;
        target.capacity.background_slots = 0;
        named.push(target.name.clone());
    }
    (!named.is_empty()).then(|| (Variant::Full(named.join(", ")), scenario))
}

/// Half the room and limits at the targets that a timeline spared, or that the log does not show.
fn less_room(question: &Question<'_>) -> Option<(Variant, Scenario)> {
    let scenario = question.scenario;
    let names = question.timeline.map_or_else(|| unseen(question), |of| of.spared(scenario));
    let half = Range::only(Share::ratio(1, 2));
    let entries = names.iter().map(|name| WeatherSpec {
        name: format!("{name}-half"),
        hits: Domain { target: Some((*name).to_owned()), ..Domain::default() },
        when: When::Always,
        shape: Shape::Step,
        effects: Effects { capacity: Some(half), limits: Some(half), ..Effects::default() },
    });
    let mut other = scenario.clone();
    other.file.weather.extend(entries);
    (!names.is_empty()).then(|| (Variant::LessRoom(names.join(", ")), other))
}

/// The target that weather hits hardest, and the first fallback beside it hit the same way.
fn down_too(scenario: &Scenario) -> Option<(Variant, Scenario)> {
    let share = |entry: &WeatherSpec| {
        entry.effects.failures.as_ref().map_or(0.0, |failures| failures.share.from.as_f64())
    };
    let worst = scenario.file.weather.iter().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let hits = |name: &String| {
        let target = scenario.targets.iter().find(|target| target.name == *name);
        target.is_some_and(|target| {
            let Domain { target: named, provider, .. } = &worst.hits;
            named.as_ref().map_or(provider.as_ref() == Some(&target.provider), |n| n == name)
        })
    };
    let hit = worst.hits.target.clone().or(worst.hits.provider.clone())?;
    let classes = scenario.file.classes.values();
    let others = classes.flat_map(|class| {
        class.groups.primary.iter().chain(class.groups.fallbacks.iter().flatten())
    });
    let other = others.filter(|name| !hits(name)).min_by_key(|name| {
        // The one that most often stands in.
        scenario
            .file
            .classes
            .values()
            .position(|class| class.groups.fallbacks.iter().flatten().next() == Some(*name))
            .unwrap_or(usize::MAX)
    })?;
    let mut changed = scenario.clone();
    let copies = scenario.file.weather.iter().filter(|entry| entry.hits == worst.hits);
    let copies: Vec<WeatherSpec> = copies
        .map(|entry| WeatherSpec {
            name: format!("{}-too", entry.name),
            hits: Domain { target: Some(other.clone()), ..Domain::default() },
            ..entry.clone()
        })
        .collect();
    changed.file.weather.extend(copies);
    Some((Variant::DownToo(format!("had {other} been hit as {hit} was")), changed))
}
