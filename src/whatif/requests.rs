//! Request by request: which one policy answers and another does not.

use windtunnel_policy::Instant;
use windtunnel_policy::event::{Action, Event};

use crate::record::{AttemptRow, RequestRow, Sink};

/// How the requests of one run ended, by their position in the world.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Outcomes(Vec<Ended>);

/// How one ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Ended {
    pub(super) measured: bool,
    pub(super) answered: bool,
    /// From arrival to close, µs.
    pub(super) took_us: u64,
}

/// Takes the outcomes of a run.
pub(super) struct Watch(Option<Outcomes>);

/// Requests beyond these were sent again by a layer: they have no place of their own.
const MOST: u64 = 1 << 32;

impl Watch {
    pub(super) fn new(watches: bool) -> Watch {
        Watch(watches.then(Outcomes::default))
    }

    pub(super) fn outcomes(self) -> Option<Outcomes> {
        self.0
    }
}

impl Sink for Watch {
    fn attempt(&mut self, _: &AttemptRow) {}

    fn request(&mut self, row: &RequestRow) {
        let Some(Outcomes(ended)) = &mut self.0 else { return };
        if row.request >= MOST || row.resent {
            return;
        }
        let place = row.request as usize;
        if ended.len() <= place {
            ended.resize(place + 1, Ended::default());
        }
        let took_us = row.closed.since(row.arrived).as_micros();
        ended[place] = Ended { measured: row.measured, answered: row.answered, took_us };
    }

    fn routed(&mut self, _: Instant, _: &Event, _: &[Action]) {}
}

/// What changes from one policy to another, request by request.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Moved {
    /// Answered by the other alone, per world.
    pub(super) saved: f64,
    /// Answered by the first alone, per world.
    pub(super) lost: f64,
}

/// Counts over the worlds that were followed.
pub(super) fn moved(first: &[Outcomes], other: &[Outcomes]) -> Moved {
    let mut moved = Moved::default();
    for (a, b) in pairs(first, other) {
        moved.saved += f64::from(u8::from(!a.answered && b.answered));
        moved.lost += f64::from(u8::from(a.answered && !b.answered));
    }
    let worlds = first.len().max(1) as f64;
    Moved { saved: moved.saved / worlds, lost: moved.lost / worlds }
}

fn pairs<'a>(
    first: &'a [Outcomes],
    other: &'a [Outcomes],
) -> impl Iterator<Item = (&'a Ended, &'a Ended)> {
    let worlds = first.iter().zip(other);
    worlds.flat_map(|(a, b)| a.0.iter().zip(&b.0)).filter(|(a, _)| a.measured)
}

/// The requests of the first world that are most worth looking at, with why: of those saved, of those
/// lost, and of those that both answer, the one that most time lies between.
pub(super) fn worth_a_look(first: &[Outcomes], other: &[Outcomes]) -> Vec<(u64, &'static str)> {
    let (Some(a), Some(b)) = (first.first(), other.first()) else { return Vec::new() };
    let both: Vec<(u64, &Ended, &Ended)> = (0..)
        .zip(a.0.iter().zip(&b.0))
        .map(|(i, (a, b))| (i, a, b))
        .filter(|(_, a, _)| a.measured)
        .collect();
    let most = |is: &dyn Fn(&Ended, &Ended) -> bool, size: &dyn Fn(&Ended, &Ended) -> u64| {
        let of_kind = both.iter().filter(|(_, a, b)| is(a, b));
        // Of equals the earliest.
        of_kind.max_by_key(|(i, a, b)| (size(a, b), u64::MAX - i)).map(|(i, _, _)| *i)
    };
    let longest = |a: &Ended, b: &Ended| a.took_us.max(b.took_us);
    let found = [
        (most(&|a, b| !a.answered && b.answered, &longest), "answered by the candidate alone"),
        (
            most(&|a, b| a.answered && !b.answered, &longest),
            "answered by the policy in force alone",
        ),
        (
            most(&|a, b| a.answered && b.answered, &|a, b| a.took_us.abs_diff(b.took_us)),
            "answered by both, with most time between",
        ),
    ];
    found.into_iter().filter_map(|(request, why)| Some((request?, why))).collect()
}
