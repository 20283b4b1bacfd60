//! When targets were bad, in the world as it was fitted.

use serde::Serialize;
use windtunnel_policy::{Instant, Share};

use super::Question;
use crate::weather::{Conditions, Weather};
use crate::world::WorldOptions;

/// A stretch of time in which attempts at a target fare worse than in ordinary times.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BadTime {
    /// The target's name.
    pub target: String,
    /// Its begin, seconds from the world's start.
    pub from_s: f64,
    /// Its end, seconds.
    pub to_s: f64,
    /// Share of attempts that fail on top of what fails in ordinary times.
    pub failing: f64,
    /// Its speed, where 1 is ordinary.
    pub speed: f64,
}

/// Less than this nobody would call bad.
const LEAST: f64 = 0.005;
/// Nor this much slower.
const SLOW: f64 = 0.9;
/// More stretches of a target are made coarser: no picture shows as many.
const MOST: usize = 200;

impl BadTime {
    /// How bad it is, from 0 to 1.
    pub(super) fn severity(&self) -> f64 {
        self.failing.max(1.0 - self.speed).clamp(0.0, 1.0)
    }
}

/// Target by target, in order of time; of the first world, where worlds differ.
pub(super) fn of(question: &Question<'_>) -> Vec<BadTime> {
    let scenario = question.scenario;
    let end = Instant::ZERO + scenario.file.horizon;
    let first = WorldOptions { seed: question.options.seed, ..WorldOptions::default() };
    let Ok(weather) = Weather::build(scenario, first.own_seed(), false, end) else {
        return Vec::new();
    };
    let whole = seconds(end);
    let of = |(at, target): (usize, &crate::scenario::TargetModel)| {
        let edges = weather.edges.iter().filter(|edge| usize::from(edge.target) == at);
        let edges: Vec<(f64, &Conditions)> = edges
            .map(|edge| (seconds(edge.at), &weather.conditions[edge.conditions as usize]))
            .collect();
        let ends = edges.iter().skip(1).map(|(at, _)| *at).chain([whole]);
        let all = edges.iter().zip(ends).map(|((from_s, conditions), to_s)| BadTime {
            target: target.name.clone(),
            from_s: *from_s,
            to_s: to_s.min(whole),
            failing: failing(conditions),
            speed: conditions.speed_ppm as f64 / 1e6,
        });
        let bad = |time: &BadTime| {
            time.to_s > time.from_s && (time.failing >= LEAST || time.speed <= SLOW)
        };
        coarser(all.filter(bad).collect(), whole)
    };
    scenario.targets.iter().enumerate().flat_map(of).collect()
}

/// What fails by the weather, in whatever way; all of it where there is no room at all.
fn failing(conditions: &Conditions) -> f64 {
    if conditions.capacity.min(conditions.limits) == Share::ZERO {
        return 1.0;
    }
    let broken = conditions.broken_streams.complement();
    let left = conditions.contract_failures.complement().times(broken);
    1.0 - conditions.failing().complement().times(left).as_f64()
}

/// As they are where they are few; else joined where they lie close together, at the worst of each.
fn coarser(times: Vec<BadTime>, whole: f64) -> Vec<BadTime> {
    let close = if times.len() > MOST { whole / MOST as f64 } else { 0.0 };
    let mut joined: Vec<BadTime> = Vec::new();
    for time in times {
        match joined.last_mut() {
            Some(last) if joins(last, &time, close) => {
                last.to_s = time.to_s;
                last.failing = last.failing.max(time.failing);
                last.speed = last.speed.min(time.speed);
            }
            _ => joined.push(time),
        }
    }
    joined
}

/// Neighbours of the same kind always join; others within one step of a picture.
fn joins(last: &BadTime, next: &BadTime, close: f64) -> bool {
    let same = last.to_s >= next.from_s && last.failing == next.failing && last.speed == next.speed;
    same || next.to_s - last.from_s < close
}

fn seconds(at: Instant) -> f64 {
    at.as_micros() as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(from_s: f64, to_s: f64, failing: f64) -> BadTime {
        BadTime { target: "x".into(), from_s, to_s, failing, speed: 1.0 }
    }

    #[test]
    fn many_stretches_are_made_few_without_losing_the_worst() {
        let few = vec![time(0.0, 1.0, 0.1), time(1.0, 2.0, 0.1), time(2.0, 3.0, 0.2)];
        assert_eq!(coarser(few, 10.0), [time(0.0, 2.0, 0.1), time(2.0, 3.0, 0.2)]);
        let many: Vec<BadTime> = (0..1_000)
            .map(|i| time(f64::from(i), f64::from(i) + 1.0, f64::from(i % 7 + 1) / 10.0))
            .collect();
        let joined = coarser(many, 1_000.0);
        assert!(joined.len() <= 2 * MOST && joined.len() > MOST / 2, "{}", joined.len());
        assert!(joined.iter().any(|time| time.failing == 0.7));
        assert_eq!((joined[0].from_s, joined[joined.len() - 1].to_s), (0.0, 1_000.0));
    }
}
