//! One pass over time that turns overlapping pieces into edges.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windtunnel_policy::{Instant, Share};

use super::compose::{FullForce, either, times_ppm, towards_ppm};
use super::{Conditions, Edge};
use crate::scenario::{Background, Scenario};

/// One entry's force at one level for a while.
pub(super) struct Piece {
    /// Position of the weather entry: what overlaps is composed in this order.
    pub(super) entry: usize,
    pub(super) from: Instant,
    pub(super) to: Instant,
    pub(super) level: Share,
    /// Share of attempts in flight that are cut at `from`.
    pub(super) cut: Share,
    pub(super) targets: Vec<u16>,
    pub(super) force: Arc<FullForce>,
}

/// The edges before `until`, and the conditions they lead to; conditions 0 are clear.
pub(super) fn sweep(
    scenario: &Scenario,
    pieces: &[Piece],
    until: Instant,
) -> (Vec<Edge>, Vec<Conditions>) {
    let mut changes: BTreeMap<Instant, Vec<usize>> = BTreeMap::new();
    for (i, piece) in pieces.iter().enumerate() {
        for at in [piece.from, piece.to] {
            if at < until {
                changes.entry(at).or_default().push(i);
            }
        }
    }

    let mut sky: Vec<Sky> = scenario.targets.iter().map(|_| Sky::default()).collect();
    let mut known = Known::new();
    let mut edges = Vec::new();
    for (at, changed) in changes {
        for sky in &mut sky {
            sky.cut = Share::ZERO;
        }
        for i in changed {
            let piece = &pieces[i];
            for &target in &piece.targets {
                let sky = &mut sky[usize::from(target)];
                sky.touched = true;
                if piece.from == at {
                    sky.active.insert((piece.entry, i));
                    sky.cut = either(sky.cut, piece.cut);
                } else {
                    sky.active.remove(&(piece.entry, i));
                }
            }
        }
        for sky in sky.iter_mut().filter(|sky| sky.touched) {
            sky.own = sky.compose(pieces);
            sky.touched = false;
        }
        let worst = sky.iter().map(|sky| sky.own.failing()).max().unwrap_or_default();
        for (target, sky) in sky.iter_mut().enumerate() {
            let conditions = known.position(surged(&sky.own, &scenario.file.background, worst));
            if conditions != sky.shown || sky.cut > Share::ZERO {
                sky.shown = conditions;
                edges.push(Edge { at, target: target as u16, conditions, cut: sky.cut });
            }
        }
    }
    (edges, known.conditions)
}

/// What a target is under while the sweep goes on.
struct Sky {
    /// Pieces by entry, then position.
    active: BTreeSet<(usize, usize)>,
    /// Composed of the pieces alone.
    own: Conditions,
    /// The conditions of its last edge.
    shown: u32,
    cut: Share,
    touched: bool,
}

impl Default for Sky {
    fn default() -> Sky {
        Sky {
            active: BTreeSet::new(),
            own: Conditions::clear(),
            shown: 0,
            cut: Share::ZERO,
            touched: false,
        }
    }
}

impl Sky {
    fn compose(&self, pieces: &[Piece]) -> Conditions {
        let mut all = Conditions::clear();
        for &(_, i) in &self.active {
            pieces[i].force.add_to(&mut all, pieces[i].level);
        }
        all
    }
}

/// The conditions with the load of those who flee from a failing rival, where nothing of its own
/// fails: background × (1 + (surge − 1) · the worst rival's failing share).
fn surged(own: &Conditions, background: &Background, worst: Share) -> Conditions {
    let mut conditions = own.clone();
    if let Some(surge) = background.surge
        && own.failures.is_empty()
        && worst >= background.from_share
    {
        conditions.background_ppm = times_ppm(own.background_ppm, towards_ppm(surge.ppm(), worst));
    }
    conditions
}

/// Conditions met so far, each once.
struct Known {
    conditions: Vec<Conditions>,
    positions: BTreeMap<Vec<u64>, u32>,
}

impl Known {
    fn new() -> Known {
        let clear = Conditions::clear();
        Known { positions: BTreeMap::from([(signature(&clear), 0)]), conditions: vec![clear] }
    }

    fn position(&mut self, conditions: Conditions) -> u32 {
        let next = self.conditions.len() as u32;
        let position = *self.positions.entry(signature(&conditions)).or_insert(next);
        if position == next {
            self.conditions.push(conditions);
        }
        position
    }
}

/// All that tells two conditions of one weather apart: a failure's stick and mix belong to its
/// entry, and so to its effect.
fn signature(conditions: &Conditions) -> Vec<u64> {
    let c = conditions;
    let mut numbers = vec![c.speed_ppm, c.slow.1, c.background_ppm];
    let shares =
        [c.slow.0, c.capacity, c.limits, c.contract_failures, c.task_failures, c.broken_streams];
    numbers.extend(shares.map(Share::as_bits));
    numbers.extend(c.failures.iter().flat_map(|f| [f.effect.as_u64(), f.share.as_bits()]));
    numbers
}
