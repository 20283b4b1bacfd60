//! What is watched over time: breakers out of service, incidents detected and overcome.

use windtunnel_policy::event::BreakerState;
use windtunnel_policy::{Duration, Instant, Router};

use super::recovery::Steps;
use crate::record::RunTotals;
use crate::weather::Incident;
use crate::world::World;

/// Breakers and success over time, in one run.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    /// Targets that each breaker covers, one gateway's breakers after the other's.
    covers: Vec<Vec<u16>>,
    /// The first breaker of each gateway, and after the last the number of all.
    firsts: Vec<usize>,
    /// Since when, and until when, each breaker is open.
    open: Vec<Option<(Instant, Instant)>>,
    /// Spans out of service, by gateway, then target.
    spans: Vec<Vec<(Instant, Instant)>>,
    targets: usize,
    detections: Vec<Option<Duration>>,
    /// Success by arrival; empty where the world has no incident.
    steps: Steps,
    has_incidents: bool,
}

impl Watch {
    /// Watches the breakers of these gateways.
    pub(super) fn new(routers: &[Router], targets: usize) -> Watch {
        let (mut covers, mut firsts) = (Vec::new(), vec![0]);
        for router in routers {
            let breakers = router.breakers();
            covers.extend(breakers.map(|(_, covers)| covers.iter().map(|t| t.0).collect()));
            firsts.push(covers.len());
        }
        Watch {
            open: vec![None; covers.len()],
            covers,
            firsts,
            spans: vec![Vec::new(); routers.len() * targets],
            targets,
            detections: Vec::new(),
            steps: Steps::default(),
            has_incidents: false,
        }
    }

    pub(super) fn reset(&mut self, world: &World) {
        self.open.fill(None);
        self.spans.iter_mut().for_each(Vec::clear);
        self.detections.clear();
        self.detections.resize(world.weather.incidents.len(), None);
        self.steps.clear();
        self.has_incidents = !world.weather.incidents.is_empty();
    }

    pub(super) fn on_breaker(
        &mut self,
        now: Instant,
        (gateway, breaker): (usize, u16),
        state: BreakerState,
        until: Instant,
        incidents: &[Incident],
    ) {
        let b = self.firsts[gateway] + usize::from(breaker);
        if let Some((from, end)) = self.open[b].take() {
            if state == BreakerState::Open && now <= end {
                self.open[b] = Some((from, until));
                return;
            }
            self.close(gateway, b, from, end.min(now));
        }
        if state == BreakerState::Open {
            self.open[b] = Some((now, until));
            for (incident, detection) in incidents.iter().zip(&mut self.detections) {
                let hit = self.covers[b].iter().any(|t| incident.targets.contains(t));
                if hit && detection.is_none() && incident.from <= now && now < incident.to {
                    *detection = Some(now - incident.from);
                }
            }
        }
    }

    /// Counts a closed request by its arrival.
    pub(super) fn on_close(&mut self, arrived: Instant, answered: bool) {
        if self.has_incidents {
            self.steps.count(arrived, answered);
        }
    }

    /// Writes what was seen into the totals.
    pub(super) fn finish(&mut self, world: &World, end: Instant, totals: &mut RunTotals) {
        let gateways = self.firsts.len() - 1;
        for gateway in 0..gateways {
            for b in self.firsts[gateway]..self.firsts[gateway + 1] {
                if let Some((from, until)) = self.open[b].take() {
                    self.close(gateway, b, from, until.min(end));
                }
            }
        }
        let mut open = vec![Duration::ZERO; self.targets];
        for (place, spans) in self.spans.iter_mut().enumerate() {
            open[place % self.targets] += covered(spans, world.measured_from, world.measured_to);
        }
        for (open, target) in open.iter().zip(&mut totals.targets) {
            target.open = Duration::from_micros(open.as_micros() / gateways as u64);
        }
        totals.detections.clone_from(&self.detections);
        let recovery = |i: &Incident| self.steps.recovery(i.from, i.to, world.measured_to);
        totals.recoveries = world.weather.incidents.iter().map(recovery).collect();
    }

    fn close(&mut self, gateway: usize, breaker: usize, from: Instant, to: Instant) {
        for target in &self.covers[breaker] {
            self.spans[gateway * self.targets + usize::from(*target)].push((from, to));
        }
    }
}

/// Length of the union of spans within a window.
fn covered(spans: &mut [(Instant, Instant)], from: Instant, to: Instant) -> Duration {
    spans.sort_unstable();
    let (mut total, mut reached) = (Duration::ZERO, from);
    for (start, end) in spans.iter() {
        let (start, end) = ((*start).max(reached), (*end).min(to));
        if end > start {
            total += end - start;
            reached = end;
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Instant {
        Instant::from_micros(s * 1_000_000)
    }

    #[test]
    fn overlapping_spans_count_once() {
        let mut spans =
            vec![(at(50), at(70)), (at(10), at(30)), (at(20), at(40)), (at(95), at(200))];
        assert_eq!(covered(&mut spans, at(15), at(100)), Duration::from_secs(25 + 20 + 5));
    }
}
