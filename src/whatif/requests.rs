//! Request by request: which one policy answers and another does not.

use windtunnel_policy::Instant;
use windtunnel_policy::event::{Action, Event};

use crate::record::{AttemptRow, RequestRow, Sink};

/// How the requests of one run ended, by their position in the world.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Outcomes {
    measured: Bits,
    answered: Bits,
    /// From arrival to close, ms; empty where nobody wants to know.
    took_ms: Vec<u32>,
}

/// A bit for each request: millions of them are followed in every world.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn set(&mut self, place: usize) {
        if self.0.len() <= place / 64 {
            self.0.resize(place / 64 + 1, 0);
        }
        self.0[place / 64] |= 1 << (place % 64);
    }

    fn has(&self, place: usize) -> bool {
        self.word(place / 64) >> (place % 64) & 1 == 1
    }

    fn word(&self, at: usize) -> u64 {
        self.0.get(at).copied().unwrap_or(0)
    }
}

/// Takes the outcomes of a run.
pub(super) struct Watch {
    outcomes: Outcomes,
    times: bool,
}

/// Requests beyond these were sent again by a layer: they have no place of their own.
const MOST: u64 = 1 << 32;

impl Watch {
    /// With how long each took, or without.
    pub(super) fn new(times: bool) -> Watch {
        Watch { outcomes: Outcomes::default(), times }
    }

    pub(super) fn outcomes(self) -> Outcomes {
        self.outcomes
    }
}

impl Sink for Watch {
    fn attempt(&mut self, _: &AttemptRow) {}

    fn request(&mut self, row: &RequestRow) {
        if row.request >= MOST || row.resent {
            return;
        }
        let place = row.request as usize;
        let Outcomes { measured, answered, took_ms } = &mut self.outcomes;
        if row.measured {
            measured.set(place);
        }
        if row.answered {
            answered.set(place);
        }
        if self.times {
            if took_ms.len() <= place {
                took_ms.resize(place + 1, 0);
            }
            let ms = row.closed.since(row.arrived).as_micros() / 1_000;
            took_ms[place] = u32::try_from(ms).unwrap_or(u32::MAX);
        }
    }

    fn routed(&mut self, _: Instant, _: &Event, _: &[Action]) {}
}

/// What changes from one policy to another in one world, request by request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Moved {
    /// Answered by the other alone.
    pub(super) saved: u64,
    /// Answered by the first alone.
    pub(super) lost: u64,
}

/// Counts in one world.
pub(super) fn moved(first: &Outcomes, other: &Outcomes) -> Moved {
    let mut moved = Moved::default();
    for (at, &measured) in first.measured.0.iter().enumerate() {
        let (a, b) = (first.answered.word(at), other.answered.word(at));
        moved.saved += u64::from((measured & !a & b).count_ones());
        moved.lost += u64::from((measured & a & !b).count_ones());
    }
    moved
}

/// Requests that are shown.
const SHOWN: usize = 3;

/// The requests of a world that are most worth looking at, with why: of those saved, of those lost, and
/// of those that both answer, the one that most time lies between; where there is none of a kind, the next
/// of the others.
pub(super) fn worth_a_look(first: &Outcomes, other: &Outcomes) -> Vec<(u64, &'static str)> {
    let took = |of: &Outcomes, place: usize| of.took_ms.get(place).copied().unwrap_or(0);
    let largest = |answered: (bool, bool), size: fn(u32, u32) -> u32| {
        let mut kept: Vec<(u32, usize)> = Vec::new();
        for place in (0..first.took_ms.len()).filter(|&place| first.measured.has(place)) {
            if (first.answered.has(place), other.answered.has(place)) == answered {
                kept.push((size(took(first, place), took(other, place)), place));
                // Of equals the earliest.
                kept.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
                kept.truncate(SHOWN);
            }
        }
        kept.into_iter().map(|(_, place)| place as u64)
    };
    let mut kinds = [
        (largest((false, true), u32::max), "answered by the candidate alone"),
        (largest((true, false), u32::max), "answered by the policy in force alone"),
        (largest((true, true), u32::abs_diff), "answered by both, with most time between"),
    ];
    let mut found: Vec<(usize, u64, &str)> = Vec::new();
    for _ in 0..SHOWN {
        for (kind, (places, why)) in kinds.iter_mut().enumerate() {
            let next = if found.len() < SHOWN { places.next() } else { None };
            found.extend(next.map(|place| (kind, place, *why)));
        }
    }
    found.sort_by_key(|(kind, ..)| *kind);
    found.into_iter().map(|(_, place, why)| (place, why)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(ended: &[(bool, bool, u32)]) -> Outcomes {
        let mut all = Outcomes::default();
        for (place, &(measured, answered, took)) in ended.iter().enumerate() {
            // Far apart, over several words.
            let place = 40 * place;
            if measured {
                all.measured.set(place);
            }
            if answered {
                all.answered.set(place);
            }
            all.took_ms.resize(place + 1, 0);
            all.took_ms[place] = took;
        }
        all
    }

    #[test]
    fn only_measured_requests_are_saved_or_lost() {
        let (yes, no) = (true, false);
        let a = [(yes, no, 5), (yes, no, 9), (no, no, 99), (yes, yes, 3), (yes, yes, 1)];
        let b = [(yes, yes, 2), (yes, yes, 2), (no, yes, 2), (yes, no, 7), (yes, yes, 8)];
        let (a, b) = (outcomes(&a), outcomes(&b));
        assert_eq!(moved(&a, &b), Moved { saved: 2, lost: 1 });
        assert_eq!(moved(&b, &a), Moved { saved: 1, lost: 2 });
        assert_eq!(moved(&a, &a), Moved::default());
        let places: Vec<u64> = worth_a_look(&a, &b).iter().map(|(place, _)| *place).collect();
        assert_eq!(places, [40, 120, 160], "9 of those saved, then the one lost, then 8 - 1");
        let same: Vec<u64> = worth_a_look(&b, &b).iter().map(|(place, _)| *place).collect();
        assert_eq!(same, [0, 40, 160], "three of one kind where there is no other");
    }
}
