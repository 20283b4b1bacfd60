//! What is watched over time: breakers out of service, incidents detected and overcome.

use windtunnel_policy::event::BreakerState;
use windtunnel_policy::{Duration, Instant};

use crate::record::RunTotals;
use crate::weather::Incident;
use crate::world::World;

/// Success is watched in steps of this length.
const STEP: Duration = Duration::from_secs(10);
/// Steps in the minute that must be good again.
const MINUTE: usize = 6;
/// Steps before an onset that say what "before" is.
const BEFORE: usize = 60;

/// Breakers and success over time, in one run.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    /// Targets that each breaker covers.
    covers: Vec<Vec<u16>>,
    /// Since when, and until when, each breaker is open.
    open: Vec<Option<(Instant, Instant)>>,
    /// Spans out of service, by target.
    spans: Vec<Vec<(Instant, Instant)>>,
    detections: Vec<Option<Duration>>,
    /// Requests and answers by step of arrival; empty where the world has no incident.
    steps: Vec<(u32, u32)>,
    has_incidents: bool,
}

impl Watch {
    /// Watches breakers that cover these targets.
    pub(super) fn new(covers: Vec<Vec<u16>>, targets: usize) -> Watch {
        Watch {
            open: vec![None; covers.len()],
            covers,
            spans: vec![Vec::new(); targets],
            detections: Vec::new(),
            steps: Vec::new(),
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
        breaker: u16,
        state: BreakerState,
        until: Instant,
        incidents: &[Incident],
    ) {
        let b = usize::from(breaker);
        if let Some((from, end)) = self.open[b].take() {
            if state == BreakerState::Open && now <= end {
                self.open[b] = Some((from, until));
                return;
            }
            self.close(b, from, end.min(now));
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
        if !self.has_incidents {
            return;
        }
        let step = step_of(arrived);
        if step >= self.steps.len() {
            self.steps.resize(step + 1, (0, 0));
        }
        self.steps[step].0 += 1;
        self.steps[step].1 += u32::from(answered);
    }

    /// Writes what was seen into the totals.
    pub(super) fn finish(&mut self, world: &World, end: Instant, totals: &mut RunTotals) {
        for b in 0..self.open.len() {
            if let Some((from, until)) = self.open[b].take() {
                self.close(b, from, until.min(end));
            }
        }
        for (spans, target) in self.spans.iter_mut().zip(&mut totals.targets) {
            target.open = covered(spans, world.measured_from, world.measured_to);
        }
        totals.detections.clone_from(&self.detections);
        totals.recoveries = world.weather.incidents.iter().map(|i| self.recovery(i.from)).collect();
    }

    fn close(&mut self, breaker: usize, from: Instant, to: Instant) {
        for target in &self.covers[breaker] {
            self.spans[usize::from(*target)].push((from, to));
        }
    }

    /// From the onset to the start of the first minute with success back within one percentage
    /// point of the ten minutes before; zero where it never left that band, `None` where it
    /// never came back or nothing arrived before.
    fn recovery(&self, onset: Instant) -> Option<Duration> {
        let first = step_of(onset);
        let before = sum(self.steps.get(first.saturating_sub(BEFORE)..first)?);
        if before.0 == 0 {
            return None;
        }
        let good = |minute: &[(u32, u32)]| {
            let (asked, answered) = sum(minute);
            // answered / asked >= before.1 / before.0 − 1/100, in integers.
            asked == 0 || 100 * answered * before.0 + asked * before.0 >= 100 * before.1 * asked
        };
        let after = &self.steps[first..];
        let Some(left) = after.windows(MINUTE).position(|m| !good(m)) else {
            return Some(Duration::ZERO);
        };
        let back = left + after[left..].windows(MINUTE).position(good)?;
        let start = STEP.saturating_mul((first + back) as u64);
        Some((Instant::ZERO + start) - onset)
    }
}

fn step_of(at: Instant) -> usize {
    (at.as_micros() / STEP.as_micros()) as usize
}

fn sum(steps: &[(u32, u32)]) -> (u64, u64) {
    steps.iter().fold((0, 0), |(n, a), s| (n + u64::from(s.0), a + u64::from(s.1)))
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

    #[test]
    fn recovery_is_the_first_good_minute_after_the_dip() {
        let mut watch = Watch::new(Vec::new(), 0);
        watch.has_incidents = true;
        // Ten minutes of full success, a dip of 120 s, then full success.
        for s in 0..1800 {
            watch.on_close(at(s), !(700..820).contains(&s));
        }
        assert_eq!(watch.recovery(at(700)), Some(Duration::from_secs(120)));
        assert_eq!(watch.recovery(at(900)), Some(Duration::ZERO));
    }

    #[test]
    fn no_recovery_where_success_stays_down() {
        let mut watch = Watch::new(Vec::new(), 0);
        watch.has_incidents = true;
        for s in 0..1800 {
            watch.on_close(at(s), s < 700);
        }
        assert_eq!(watch.recovery(at(700)), None);
    }
}
