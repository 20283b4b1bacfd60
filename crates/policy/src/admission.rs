//! How many each group lets in: the doors of the groups that count.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::config::{Admission, AdmissionWindow};
use crate::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);
const MINUTE_US: u64 = MINUTE.as_micros();

/// The doors of all groups that have one.
#[derive(Clone, Hash, Debug, Default)]
pub(crate) struct Doors {
    doors: Vec<Door>,
}

#[derive(Clone, Hash, Debug)]
enum Door {
    /// When the last ones came: as many as a minute may have, or more where replicas let in more
    /// before they had heard of each other.
    Sliding { most: usize, came: VecDeque<Instant> },
    /// How many came in the latest minute of the clock in which any came.
    Minute { most: u32, minute: u64, came: u32 },
    /// When the next is due in an even flow, in µs · `rpm`, and how far ahead of that one may come.
    Paced { rpm: u128, ahead: u128, due: u128 },
}

impl Doors {
    /// Nobody has come yet.
    pub(crate) fn new<'a>(rules: impl Iterator<Item = &'a Admission>) -> Doors {
        Doors { doors: rules.map(Door::new).collect() }
    }

    /// When this door has room: `now` where it has.
    pub(crate) fn room_at(&self, door: u32, now: Instant) -> Instant {
        self.doors[door as usize].room_at(now).max(now)
    }

    /// One comes in, here or at another replica.
    #[inline(never)]
    pub(crate) fn admit(&mut self, door: u32, now: Instant) {
        self.doors[door as usize].admit(now);
    }

    /// As new.
    pub(crate) fn reset(&mut self) {
        self.doors.iter_mut().for_each(Door::reset);
    }
}

impl Door {
    fn new(rule: &Admission) -> Door {
        match rule.window {
            AdmissionWindow::Sliding => {
                Door::Sliding { most: rule.rpm as usize, came: VecDeque::new() }
            }
            AdmissionWindow::Minute => Door::Minute { most: rule.rpm, minute: 0, came: 0 },
            AdmissionWindow::Paced(burst) => Door::Paced {
                rpm: rule.rpm.into(),
                ahead: u128::from(burst.saturating_sub(1)) * u128::from(MINUTE_US),
                due: 0,
            },
        }
    }

    fn room_at(&self, now: Instant) -> Instant {
        match self {
            // The room is there when of those within a minute one fewer is left than may be.
            Door::Sliding { most, came } if came.len() >= *most => {
                came.get(came.len() - *most).map_or(now, |oldest| *oldest + MINUTE)
            }
            Door::Sliding { .. } => now,
            Door::Minute { most, minute, came } => {
                let this = now.as_micros() / MINUTE_US;
                let full = *minute == this && came >= most;
                if full { Instant::from_micros((this + 1) * MINUTE_US) } else { now }
            }
            Door::Paced { rpm, ahead, due } => {
                let earliest = due.saturating_sub(*ahead).div_ceil(*rpm);
                Instant::from_micros(u64::try_from(earliest).unwrap_or(u64::MAX))
            }
        }
    }

    fn admit(&mut self, now: Instant) {
        match self {
            Door::Sliding { came, .. } => {
                // Whoever came a minute ago counts no more.
                while came.front().is_some_and(|oldest| *oldest + MINUTE <= now) {
                    came.pop_front();
                }
                came.push_back(now);
            }
            Door::Minute { minute, came, .. } => {
                let this = now.as_micros() / MINUTE_US;
                *came = if *minute == this { *came + 1 } else { 1 };
                *minute = this;
            }
            Door::Paced { rpm, due, .. } => {
                let start = (u128::from(now.as_micros()) * *rpm).max(*due);
                *due = start + u128::from(MINUTE_US);
            }
        }
    }

    fn reset(&mut self) {
        match self {
            Door::Sliding { came, .. } => came.clear(),
            Door::Minute { minute, came, .. } => (*minute, *came) = (0, 0),
            Door::Paced { due, .. } => *due = 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doors(rpm: u32, window: AdmissionWindow) -> Doors {
        let rule = Admission { rpm, window, counts: Default::default() };
        Doors::new([&rule].into_iter())
    }

    fn at(ms: u64) -> Instant {
        Instant::from_micros(ms * 1_000)
    }

    /// Those of a series of arrivals that are let in.
    fn admitted(doors: &mut Doors, arrivals: impl Iterator<Item = u64>) -> Vec<u64> {
        arrivals
            .filter(|ms| {
                let room = doors.room_at(0, at(*ms)) == at(*ms);
                if room {
                    doors.admit(0, at(*ms));
                }
                room
            })
            .collect()
    }

    #[test]
    fn sliding_lets_no_more_in_than_rpm_in_any_minute() {
        let mut doors = doors(7, AdmissionWindow::Sliding);
        // A prime step, so that arrivals meet the window's ends in every way.
        let came = admitted(&mut doors, (0..600_000).step_by(997));
        for (i, ms) in came.iter().enumerate() {
            let within = came[..=i].iter().filter(|before| **before + 60_000 > *ms).count();
            assert!(within <= 7, "{within} in the minute to {ms}");
        }
        // As many as there can be: seven in each of the ten minutes.
        assert_eq!(came.len(), 70);
    }

    #[test]
    fn sliding_says_when_the_oldest_is_a_minute_old() {
        let mut doors = doors(2, AdmissionWindow::Sliding);
        assert_eq!(admitted(&mut doors, [5_000, 9_000, 20_000].into_iter()), [5_000, 9_000]);
        assert_eq!(doors.room_at(0, at(20_000)), at(65_000));
        assert_eq!(admitted(&mut doors, [64_999, 65_000, 65_001].into_iter()), [65_000]);
        assert_eq!(doors.room_at(0, at(65_001)), at(69_000));
    }

    #[test]
    fn minutes_of_the_clock_start_again() {
        let mut doors = doors(2, AdmissionWindow::Minute);
        let arrivals = [58_000, 59_000, 59_500, 60_000, 60_001, 60_002];
        assert_eq!(admitted(&mut doors, arrivals.into_iter()), [58_000, 59_000, 60_000, 60_001]);
        assert_eq!(doors.room_at(0, at(60_002)), at(120_000));
    }

    #[test]
    fn paced_is_the_generic_cell_rate_algorithm() {
        // Twelve a minute: one every five seconds, three at once.
        let mut doors = doors(12, AdmissionWindow::Paced(3));
        let came = admitted(&mut doors, [0, 1, 2, 3, 4_999, 5_000, 9_999, 10_000].into_iter());
        assert_eq!(came, [0, 1, 2, 5_000, 10_000]);
        assert_eq!(doors.room_at(0, at(10_000)), at(15_000));
        // After a quiet time three at once again, and no more.
        assert_eq!(admitted(&mut doors, 60_000..60_010), [60_000, 60_001, 60_002]);
        // A rate that does not divide the minute in whole microseconds is not rounded.
        let mut seven = self::doors(7, AdmissionWindow::Paced(1));
        let mut now = Instant::ZERO;
        for _ in 0..70 {
            seven.admit(0, now);
            now = seven.room_at(0, now);
        }
        // Whoever comes in the first microsecond that will do loses less than one.
        let late = (now - at(600_000)).as_micros();
        assert!(now >= at(600_000) && late < 70, "{late}");
    }

    #[test]
    fn as_new_after_a_reset() {
        for window in [AdmissionWindow::Sliding, AdmissionWindow::Minute, AdmissionWindow::Paced(1)]
        {
            let mut doors = doors(1, window);
            doors.admit(0, at(10));
            assert!(doors.room_at(0, at(11)) > at(11), "{window:?}");
            doors.reset();
            assert_eq!(doors.room_at(0, at(11)), at(11), "{window:?}");
        }
    }
}
