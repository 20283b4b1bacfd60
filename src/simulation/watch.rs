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
            covers.extend(breakers.map(|scope| scope.targets.iter().map(|t| t.0).collect()));
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

    #[inline(never)]
    pub(super) fn on_breaker(
        &mut self,
        now: Instant,
        (gateway, breaker): (usize, u16),
        state: BreakerState,
        until: Instant,
        world: &World,
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
            let incidents = &world.weather.incidents;
            for (incident, detection) in incidents.iter().zip(&mut self.detections) {
                let hit = self.covers[b].iter().any(|t| incident.targets.contains(t));
                if hit && detection.is_none() && incident.from <= now && now < incident.to {
                    *detection = Some(now - incident.from);
                }
            }
        }
    }

    /// Counts a closed request by its arrival.
    #[inline]
    pub(super) fn on_close(&mut self, arrived: Instant, answered: bool) {
        if self.has_incidents {
            self.steps.count(arrived, answered);
        }
    }

    /// Writes what was seen into the totals.
    pub(super) fn finish(
        &mut self,
        world: &World,
        end: Instant,
        interval: Duration,
        totals: &mut RunTotals,
    ) {
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
            merge(spans);
            open[place % self.targets] += within(spans, world.measured_from, world.measured_to);
            share_out(spans, interval, gateways as u64, totals);
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

/// Makes one of spans that overlap, in order.
fn merge(spans: &mut Vec<(Instant, Instant)>) {
    spans.sort_unstable();
    spans.dedup_by(|next, last| {
        let overlaps = next.0 <= last.1;
        if overlaps {
            last.1 = last.1.max(next.1);
        }
        overlaps
    });
}

/// Length of what lies within a window of spans that do not overlap.
fn within(spans: &[(Instant, Instant)], from: Instant, to: Instant) -> Duration {
    let part = |&(start, end): &(Instant, Instant)| (start.max(from), end.min(to));
    let parts = spans.iter().map(part).filter(|(start, end)| end > start);
    parts.map(|(start, end)| end - start).fold(Duration::ZERO, |sum, part| sum + part)
}

/// Adds spans that do not overlap to the intervals of the timeline they lie in, of those in which
/// anything else happened.
fn share_out(
    spans: &[(Instant, Instant)],
    interval: Duration,
    gateways: u64,
    totals: &mut RunTotals,
) {
    let length = interval.as_micros();
    for &(from, to) in spans.iter().filter(|(from, to)| to > from) {
        let last = (to.as_micros() - 1) / length;
        for number in from.as_micros() / length..=last {
            let start = Instant::from_micros(number * length);
            let part = to.min(start + interval) - from.max(start);
            if let Some(totals) = totals.timeline.get_mut(number as usize) {
                totals.open += Duration::from_micros(part.as_micros() / gateways);
            }
        }
    }
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
        merge(&mut spans);
        assert_eq!(spans, [(at(10), at(40)), (at(50), at(70)), (at(95), at(200))]);
        assert_eq!(within(&spans, at(15), at(100)), Duration::from_secs(25 + 20 + 5));
    }

    #[test]
    fn spans_are_shared_out_to_the_intervals_they_lie_in() {
        let mut totals = RunTotals::default();
        totals.interval(4);
        let spans = [(at(10), at(40)), (at(50), at(60)), (at(110), at(170))];
        share_out(&spans, Duration::from_secs(30), 1, &mut totals);
        share_out(&[(at(0), at(30))], Duration::from_secs(30), 2, &mut totals);
        let open: Vec<u64> = totals.timeline.iter().map(|i| i.open.as_micros()).collect();
        // 20 s and half of 30; 10 and 10; none; 10; 30, and no more than there is.
        assert_eq!(open, [35, 20, 0, 10, 30].map(|seconds| seconds * 1_000_000));
    }
}
