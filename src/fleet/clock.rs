//! The work clock of a target: how much work one attempt admitted at the start would have had
//! done by now.
//!
//! Every attempt in work progresses at the same speed, so one clock serves them all: an attempt
//! started at reading w and needing r ends at reading w + r, whatever the speed does meanwhile.
//! Only when that reading comes depends on the speed, and only the earliest is ever worked out.

use std::ops::Range;

use windtunnel_policy::{Instant, Share};

use crate::scenario::SpeedByLoad;

/// Full speed, in parts per million: one µs of work in one µs.
pub(super) const FULL_SPEED: u64 = 1_000_000;

/// A reading of a work clock, or an amount of work: in millionths of a µs at full speed.
///
/// A clock at full speed passes 2⁷² in 149 years.
pub(super) type Work = u128;

/// An integer clock that advances at a settable speed.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkClock {
    since: Instant,
    reading: Work,
    speed: u64,
}

impl WorkClock {
    /// A clock at zero that runs at full speed from the origin of time.
    pub(super) fn new() -> WorkClock {
        WorkClock { since: Instant::ZERO, reading: 0, speed: FULL_SPEED }
    }

    /// What it reads at `now`, exactly.
    #[inline]
    pub(super) fn reading(&self, now: Instant) -> Work {
        let elapsed = now.since(self.since).as_micros();
        self.reading + Work::from(elapsed) * Work::from(self.speed)
    }

    /// The present speed in parts per million.
    #[inline]
    pub(super) fn speed(&self) -> u64 {
        self.speed
    }

    /// Goes on from `now` at `speed`; nothing is lost or gained by the change. Answers whether there
    /// is one.
    #[inline]
    pub(super) fn set_speed(&mut self, now: Instant, speed: u64) -> bool {
        let changes = speed != self.speed;
        if changes {
            self.reading = self.reading(now);
            self.since = now;
            self.speed = speed;
        }
        changes
    }

    /// The first µs at which it has reached `work` at the present speed.
    #[inline]
    pub(super) fn reaches(&self, work: Work) -> Instant {
        self.since + micros_at(work.saturating_sub(self.reading), self.speed)
    }
}

/// The µs that `work` takes at `speed`, rounded up.
#[inline]
pub(super) fn micros_at(work: Work, speed: u64) -> windtunnel_policy::Duration {
    let micros = match u64::try_from(work) {
        // By far the commonest speed, and a division by a constant.
        Ok(work) if speed == FULL_SPEED => work.div_ceil(FULL_SPEED),
        Ok(work) => work.div_ceil(speed),
        Err(_) => u64::try_from(work.div_ceil(Work::from(speed))).unwrap_or(u64::MAX),
    };
    windtunnel_policy::Duration::from_micros(micros)
}

/// The whole µs that `work` fills at `speed`.
pub(super) fn whole_micros(work: Work, speed: u64) -> windtunnel_policy::Duration {
    let micros = work / Work::from(speed);
    windtunnel_policy::Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
}

/// The speed that holds as long as the load stays within a range.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    loads: Range<u32>,
    speed: u64,
}

impl Step {
    /// The step of this load, in weather that leaves `weather` parts per million of the speed.
    pub(super) fn at(by_load: &SpeedByLoad, load: u32, weather: u64) -> Step {
        Step { loads: loads_alike(by_load, load), speed: speed(by_load, load, weather) }
    }

    /// Whether the speed at this load is the step's, in the same weather.
    #[inline]
    pub(super) fn holds(&self, load: u32) -> bool {
        self.loads.contains(&load)
    }

    /// Its speed, as [`speed`] says.
    pub(super) fn speed(&self) -> u64 {
        self.speed
    }
}

/// Loads at which the speed is surely that of `load`, itself included.
fn loads_alike(by_load: &SpeedByLoad, load: u32) -> Range<u32> {
    match by_load {
        SpeedByLoad::Flat => 0..u32::MAX,
        SpeedByLoad::HalfAt(_) => load..load.saturating_add(1),
        SpeedByLoad::Table(steps) => {
            let above = steps.partition_point(|&(from, _)| from <= load);
            let from = above.checked_sub(1).map_or(0, |i| steps[i].0);
            from..steps.get(above).map_or(u32::MAX, |step| step.0)
        }
    }
}

/// Speed with `load` attempts in work, under weather that leaves `weather` parts per million:
/// at least one part per million, so that everything ends.
pub(super) fn speed(by_load: &SpeedByLoad, load: u32, weather: u64) -> u64 {
    let unhindered = match by_load {
        SpeedByLoad::Flat => return weather.max(1),
        SpeedByLoad::HalfAt(k) => {
            let k = u64::from(*k).max(1);
            FULL_SPEED * k / (k + u64::from(load))
        }
        SpeedByLoad::Table(steps) => {
            let above = steps.partition_point(|&(from, _)| from <= load);
            let share = above.checked_sub(1).map_or(Share::ONE, |i| steps[i].1);
            share.of(FULL_SPEED)
        }
    };
    if weather == FULL_SPEED {
        return unhindered.max(1);
    }
    let wide = u128::from(unhindered) * u128::from(weather) / u128::from(FULL_SPEED);
    u64::try_from(wide).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::from_micros(us)
    }

    #[test]
    fn a_change_of_speed_keeps_what_was_done() {
        let mut clock = WorkClock::new();
        // 10 µs at full speed, 20 µs at a third: 10 + 20 × 0.333333 = 16.66666 µs of work.
        clock.set_speed(at(10), 333_333);
        assert_eq!(clock.reading(at(30)), 16_666_660);
        clock.set_speed(at(30), 2_000_000);
        assert_eq!(clock.reading(at(31)), 18_666_660);
        // 100 µs of work: 83.33334 left at double speed take 41.66667 µs, so 42.
        assert_eq!(clock.reaches(100_000_000), at(72));
        assert_eq!(clock.reaches(3), at(30), "what is done already is due at once");
    }

    #[test]
    fn it_reaches_a_reading_at_the_first_whole_microsecond() {
        let mut clock = WorkClock::new();
        for (speed, since) in [(1_000_000, 0), (7, 5), (999_999, 1_000), (3_000_000, 2_000)] {
            clock.set_speed(at(since), speed);
            for more in [1_u128, 6, 7, 8, 1_000_000, 123_456_789] {
                let work = clock.reading(at(since)) + more;
                let due = clock.reaches(work);
                assert!(clock.reading(due) >= work);
                assert!(
                    clock.reading(due.saturating_sub(windtunnel_policy::Duration::from_micros(1)))
                        < work
                );
            }
        }
    }

    #[test]
    fn a_step_says_what_a_look_at_each_load_says() {
        let table = vec![(10, Share::ratio(9, 10)), (50, Share::ratio(1, 2))];
        for by_load in [SpeedByLoad::Flat, SpeedByLoad::HalfAt(20), SpeedByLoad::Table(table)] {
            let mut step = Step::default();
            for load in (0..70).chain((0..70).rev()).chain([u32::MAX, 3, u32::MAX]) {
                if !step.holds(load) {
                    step = Step::at(&by_load, load, 400_000);
                }
                assert_eq!(step.speed(), speed(&by_load, load, 400_000));
            }
        }
    }

    #[test]
    fn speed_follows_load_and_weather() {
        assert_eq!(speed(&SpeedByLoad::Flat, 1_000, 250_000), 250_000);
        assert_eq!(speed(&SpeedByLoad::HalfAt(50), 0, FULL_SPEED), 1_000_000);
        assert_eq!(speed(&SpeedByLoad::HalfAt(50), 50, FULL_SPEED), 500_000);
        assert_eq!(speed(&SpeedByLoad::HalfAt(50), 75, 500_000), 200_000);
        let table = SpeedByLoad::Table(vec![(0, Share::ONE), (50, Share::ratio(1, 2))]);
        let by_table = [0, 49, 50, 99].map(|load| speed(&table, load, FULL_SPEED));
        assert_eq!(by_table, [1_000_000, 1_000_000, 500_000, 500_000]);
        assert_eq!(speed(&SpeedByLoad::Flat, 0, 0), 1, "never quite still");
    }
}
