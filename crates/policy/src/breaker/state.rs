//! One circuit: closed, open, half-open, ramping, closed again.

use alloc::vec::Vec;

use super::Admission;
use super::trip::{Detector, Outcome};
use crate::config::{AfterOpen, Breaker, Ramp, Trip};
use crate::event::BreakerState;
use crate::mix::below;
use crate::standing::recooled;
use crate::{Duration, Instant, Share};

/// The state of one breaker and the windows that open it.
#[derive(Clone, Hash, Debug)]
#[repr(C)]
pub(super) struct Circuit {
    phase: Phase,
    /// The number of its latest change of state; what attempts sent before learn is late.
    pub(super) changed_at: u64,
    detectors: Vec<Detector>,
    /// How long it was open last, without jitter; zero before the first opening.
    open_time: Duration,
    /// When it last began to admit everything again.
    closed_at: Instant,
    /// Until when traffic leaves, where it does not at once.
    leaving_until: Instant,
    /// When that was.
    pub(super) changed_on: Instant,
}

/// Time alone moves a circuit from `Open` and `Ramping`; that is carried out at the next send
/// or outcome, and taken into account before.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Phase {
    Closed,
    Open { until: Instant },
    HalfOpen { probing: u32, succeeded: u32 },
    Ramping { since: Instant },
}

/// What a circuit must know of the attempt that an outcome belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sent {
    /// It holds a probe permit of this circuit.
    pub(super) probe: bool,
    /// It is a failover or substitution.
    pub(super) recovery: bool,
    /// The circuit has changed since it was sent.
    pub(super) late: bool,
}

impl Circuit {
    pub(super) fn new(config: &Breaker) -> Circuit {
        Circuit {
            phase: Phase::Closed,
            detectors: config.trip.iter().map(Detector::new).collect(),
            open_time: Duration::ZERO,
            closed_at: Instant::ZERO,
            leaving_until: Instant::ZERO,
            changed_at: 0,
            changed_on: Instant::ZERO,
        }
    }

    pub(super) const fn probing(&self) -> u32 {
        match self.phase {
            Phase::HalfOpen { probing, .. } => probing,
            Phase::Closed | Phase::Open { .. } | Phase::Ramping { .. } => 0,
        }
    }

    pub(super) const fn phase(&self) -> Phase {
        self.phase
    }

    pub(super) fn is_closed(&self) -> bool {
        self.phase == Phase::Closed
    }

    /// The phase once time has done its part.
    pub(super) fn phase_at(&self, config: &Breaker, now: Instant) -> Phase {
        let phase = match self.phase {
            Phase::Open { until } if now >= until => match (config.after_open, &config.ramp) {
                (AfterOpen::HalfOpen, _) => Phase::HalfOpen { probing: 0, succeeded: 0 },
                // From the end of the open time, not from the next send: a ramp that starts with
                // nothing would never see one.
                (AfterOpen::Close, Some(_)) => Phase::Ramping { since: until },
                (AfterOpen::Close, None) => Phase::Closed,
            },
            phase => phase,
        };
        match (phase, &config.ramp) {
            (Phase::Ramping { since }, Some(ramp)) if now >= since + ramp.over => Phase::Closed,
            _ => phase,
        }
    }

    pub(super) fn admits(&self, config: &Breaker, now: Instant, draw: u64) -> Admission {
        match (self.phase_at(config, now), &config.ramp) {
            (Phase::Open { .. }, _) if self.still_admits(config, now, draw) => Admission::Ramp,
            (Phase::Open { until }, _) => Admission::No { until },
            (Phase::HalfOpen { probing, .. }, _) if probing < config.probes.concurrent => {
                Admission::Probe
            }
            (Phase::HalfOpen { .. }, _) => Admission::No { until: Instant::FAR_FUTURE },
            (Phase::Ramping { since }, Some(ramp)) => ramp_admits(ramp, since, now, draw),
            (Phase::Closed | Phase::Ramping { .. }, _) => Admission::Yes,
        }
    }

    /// Whether an open circuit that traffic leaves slowly admits this draw: the share falls in a straight
    /// line.
    fn still_admits(&self, config: &Breaker, now: Instant, draw: u64) -> bool {
        config.leaves_over.is_some_and(|over| {
            let left = self.leaving_until.since(now).as_micros();
            Share::ratio(left, over.as_micros()).hits(draw)
        })
    }

    /// An attempt is sent; true where it takes a probe permit.
    pub(super) fn on_sent(&mut self, config: &Breaker, now: Instant) -> bool {
        if let Phase::Open { until } = self.phase {
            self.closed_at = until + ramp_time(config);
        }
        self.phase = self.phase_at(config, now);
        match &mut self.phase {
            Phase::HalfOpen { probing, .. } if *probing < config.probes.concurrent => {
                *probing += 1;
                true
            }
            _ => false,
        }
    }

    /// Something of another replica is about to be heard: time does its part first.
    pub(super) fn hear(&mut self, config: &Breaker, now: Instant) {
        if let Phase::Open { until } = self.phase {
            self.closed_at = until + ramp_time(config);
        }
        self.phase = self.phase_at(config, now);
    }

    /// First output came, `elapsed` after sending.
    pub(super) fn on_success(
        &mut self,
        config: &Breaker,
        sent: Sent,
        elapsed: Duration,
        now: Instant,
        draw: u64,
    ) {
        match &mut self.phase {
            Phase::HalfOpen { .. } if !sent.probe || sent.late => {}
            Phase::HalfOpen { .. } if too_slow(config, elapsed) => self.open(config, now, draw),
            Phase::HalfOpen { succeeded, .. } => {
                *succeeded += 1;
                if *succeeded >= config.probes.successes {
                    self.phase = match config.ramp {
                        Some(_) => Phase::Ramping { since: now },
                        None => Phase::Closed,
                    };
                    self.closed_at = now + ramp_time(config);
                }
            }
            Phase::Closed | Phase::Ramping { .. } => {
                self.count(config, sent, Outcome::Success(elapsed), now, draw);
            }
            Phase::Open { .. } => {}
        }
    }

    /// A failure that blames the target.
    pub(super) fn on_failure(&mut self, config: &Breaker, sent: Sent, now: Instant, draw: u64) {
        match self.phase {
            Phase::HalfOpen { .. } if sent.probe && !sent.late => self.open(config, now, draw),
            Phase::HalfOpen { .. } => {}
            Phase::Closed | Phase::Ramping { .. } => {
                self.count(config, sent, Outcome::Failure, now, draw);
            }
            // Where one failure opened it, the next would have done so as well.
            Phase::Open { until } if now < until && counts(config, sent) => {
                let end = now + self.open_time + jitter(config, self.open_time, draw);
                let until = recooled(config.recooling, until, end, now);
                self.phase = Phase::Open { until };
            }
            Phase::Open { .. } => {}
        }
    }

    /// The attempt is over; a probe permit returns, unless it belonged to an earlier half-open
    /// phase.
    pub(super) fn on_end(&mut self, sent: Sent) {
        match &mut self.phase {
            Phase::HalfOpen { probing, .. } if sent.probe && !sent.late => *probing -= 1,
            _ => {}
        }
    }

    /// Closed, and everything forgotten.
    pub(super) fn reset(&mut self) {
        self.phase = Phase::Closed;
        self.detectors.iter_mut().for_each(Detector::clear);
        self.open_time = Duration::ZERO;
        self.closed_at = Instant::ZERO;
        self.leaving_until = Instant::ZERO;
        self.changed_at = 0;
        self.changed_on = Instant::ZERO;
    }

    /// An outcome enters the windows, if it counts.
    fn count(&mut self, config: &Breaker, sent: Sent, outcome: Outcome, now: Instant, draw: u64) {
        if !enters(config, sent) {
            return;
        }
        self.phase = self.phase_at(config, now);
        if self.trips(config, sent, outcome, now) {
            self.open(config, now, draw);
        }
    }

    /// An outcome enters the windows, if it counts; true where one of them says to open.
    #[inline(always)]
    pub(super) fn trips(
        &mut self,
        config: &Breaker,
        sent: Sent,
        outcome: Outcome,
        now: Instant,
    ) -> bool {
        if !enters(config, sent) {
            return false;
        }
        match &mut self.detectors[..] {
            [detector] => detector.on_outcome(outcome, now),
            detectors => any_trips(detectors, outcome, now),
        }
    }

    /// Opens it, for as long as it is its turn.
    pub(super) fn open(&mut self, config: &Breaker, now: Instant, draw: u64) {
        // Openings are in a row where the breaker was not closed for at least as long as it had
        // been open before.
        let recovered = self.phase == Phase::Closed && now - self.closed_at >= self.open_time;
        let grown = self.open_time.mul_div(u64::from(config.growth.percent), 100);
        self.open_time = match recovered {
            true => config.open_for,
            false => grown.min(config.growth.max).max(config.open_for),
        };
        self.detectors.iter_mut().for_each(Detector::clear);
        let until = now + self.open_time + jitter(config, self.open_time, draw);
        // A probe that fails finds no traffic there that could leave.
        if let (Some(over), Phase::Closed | Phase::Ramping { .. }) =
            (config.leaves_over, self.phase)
        {
            self.leaving_until = now + over;
        }
        self.phase = Phase::Open { until };
    }
}

impl Phase {
    pub(super) const fn state(self) -> BreakerState {
        match self {
            Phase::Closed => BreakerState::Closed,
            Phase::Open { .. } => BreakerState::Open,
            Phase::HalfOpen { .. } => BreakerState::HalfOpen,
            Phase::Ramping { .. } => BreakerState::Ramping,
        }
    }

    /// When an open circuit may next admit; `now` otherwise.
    pub(super) const fn until(self, now: Instant) -> Instant {
        match self {
            Phase::Open { until } => until,
            _ => now,
        }
    }
}

/// Admits a draw as soon as the share that grows from `since` reaches it.
fn ramp_admits(ramp: &Ramp, since: Instant, now: Instant, draw: u64) -> Admission {
    let grown = Share::ratio((now - since).as_micros(), ramp.over.as_micros());
    let share = ramp.from.as_bits() + ramp.from.complement().times(grown).as_bits();
    if Share::from_bits(share).hits(draw) {
        return Admission::Ramp;
    }
    let missing = (draw >> 1).saturating_sub(ramp.from.as_bits());
    let until = ramp.over.mul_div(missing, ramp.from.complement().as_bits().max(1));
    // Both divisions round down, so the draw may be reached a microsecond or two later.
    let until = (until + Duration::from_micros(2)).min(ramp.over);
    Admission::No { until: (since + until).max(now + Duration::from_micros(1)) }
}

fn ramp_time(config: &Breaker) -> Duration {
    config.ramp.as_ref().map_or(Duration::ZERO, |ramp| ramp.over)
}

fn jitter(config: &Breaker, open_time: Duration, draw: u64) -> Duration {
    Duration::from_micros(below(draw, config.open_jitter.of(open_time.as_micros()) + 1))
}

/// An outcome enters each of these windows; true where one of them says to open.
#[inline(never)]
fn any_trips(detectors: &mut [Detector], outcome: Outcome, now: Instant) -> bool {
    detectors.iter_mut().fold(false, |trips, detector| trips | detector.on_outcome(outcome, now))
}

/// Whether an outcome enters the windows.
#[inline]
fn enters(config: &Breaker, sent: Sent) -> bool {
    !sent.late && counts(config, sent)
}

fn counts(config: &Breaker, sent: Sent) -> bool {
    !sent.recovery || config.count_recovery
}

/// A probe as slow as what opened the breaker is no success.
fn too_slow(config: &Breaker, elapsed: Duration) -> bool {
    config
        .trip
        .iter()
        .any(|trip| matches!(trip, Trip::SlowCalls { slower_than, .. } if elapsed > *slower_than))
}
