//! How an incident comes and goes: pieces of time with one level each.

use windtunnel_policy::{Duration, Instant, Share};

use super::spells::Spell;
use crate::scenario::Shape;

/// Stairs of a slope last at most this long …
const STAIR: Duration = Duration::from_secs(10);
/// … unless the slope would have more of them than this.
const MAX_STAIRS: u64 = 120;

/// A straight stretch of the course, in µs after the onset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stretch {
    from_us: u64,
    to_us: u64,
    starts: Share,
    ends: Share,
}

/// Calls `piece(from, to, level)` for every piece of the spell within the scenario, in order.
///
/// A slope becomes stairs of equal length, each at the slope's level in its middle, so that the
/// mean level is kept. They last 10 s or less, or longer where there would be more than 120.
pub(super) fn pieces(shape: &Shape, spell: &Spell, mut piece: impl FnMut(Instant, Instant, Share)) {
    let at = |us: u64| {
        let at_us = i128::from(spell.onset_us) + i128::from(us);
        Instant::from_micros(at_us.clamp(0, i128::from(u64::MAX)) as u64)
    };
    let length_us = (i128::from(spell.ends.as_micros()) - i128::from(spell.onset_us))
        .clamp(0, i128::from(u64::MAX)) as u64;
    for stretch in stretches(shape, length_us) {
        let width = u128::from(stretch.to_us - stretch.from_us);
        let stairs = match stretch.starts == stretch.ends {
            true => 1,
            false => (width.div_ceil(u128::from(STAIR.as_micros())) as u64).clamp(1, MAX_STAIRS),
        };
        let edge = |i: u64| stretch.from_us + (width * u128::from(i) / u128::from(stairs)) as u64;
        for i in 0..stairs {
            let (from, to) = (at(edge(i)), at(edge(i + 1)));
            let level = between(stretch.starts, stretch.ends, 2 * i + 1, 2 * stairs);
            if from < to && level > Share::ZERO {
                piece(from, to, level);
            }
        }
    }
}

/// The course over a spell of this length as straight stretches.
fn stretches(shape: &Shape, length_us: u64) -> Vec<Stretch> {
    let flat = |from_us, to_us, level| Stretch { from_us, to_us, starts: level, ends: level };
    match shape {
        Shape::Step => vec![flat(0, length_us, Share::ONE)],
        Shape::Ramp { up, down } => ramp(up.as_micros(), down.as_micros(), length_us),
        Shape::Course { points, smooth } => {
            let mut stretches = Vec::new();
            for (i, &(from, level)) in points.iter().enumerate() {
                let next = points.get(i + 1);
                let next_us = next.map_or(length_us, |&(at, _)| at.as_micros());
                let (from_us, to_us) = (from.as_micros().min(length_us), next_us.min(length_us));
                let reaches = match next {
                    Some(&(_, next)) if *smooth => {
                        between(level, next, to_us - from_us, next_us - from.as_micros())
                    }
                    _ => level,
                };
                stretches.push(Stretch { from_us, to_us, starts: level, ends: reaches });
            }
            stretches
        }
    }
}

/// Up, flat, down; where there is no time for both slopes they meet below the full level.
fn ramp(up_us: u64, down_us: u64, length_us: u64) -> Vec<Stretch> {
    let slopes = up_us.saturating_add(down_us);
    let (up, down, top) = match slopes <= length_us {
        true => (up_us, down_us, Share::ONE),
        // The slopes cross where t / up = (length − t) / down.
        false => {
            let up = (u128::from(length_us) * u128::from(up_us) / u128::from(slopes)) as u64;
            (up, length_us - up, Share::ratio(length_us, slopes))
        }
    };
    let flat_to = length_us - down;
    vec![
        Stretch { from_us: 0, to_us: up, starts: Share::ZERO, ends: top },
        Stretch { from_us: up, to_us: flat_to, starts: top, ends: top },
        Stretch { from_us: flat_to, to_us: length_us, starts: top, ends: Share::ZERO },
    ]
}

/// The level `part / whole` of the way from one to the other.
fn between(from: Share, to: Share, part: u64, whole: u64) -> Share {
    let at = Share::ratio(part, whole);
    match from <= to {
        true => Share::from_bits(from.as_bits() + at.of(to.as_bits() - from.as_bits())),
        false => Share::from_bits(from.as_bits() - at.of(from.as_bits() - to.as_bits())),
    }
}
