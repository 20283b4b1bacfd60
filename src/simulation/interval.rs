//! Which interval of the timeline it is now.

use windtunnel_policy::{Duration, Instant};

/// The present interval. Time only goes on, so that it is divided by once an interval and not
/// once an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    length: u64,
    number: usize,
    /// When the next one begins.
    until: u64,
}

impl Interval {
    /// The first of intervals of this length.
    pub(super) fn new(length: Duration) -> Interval {
        let length = length.as_micros().max(1);
        Interval { length, number: 0, until: length }
    }

    /// Its number at `now`, from 0.
    #[inline]
    pub(super) fn at(&mut self, now: Instant) -> usize {
        let now = now.as_micros();
        if now >= self.until {
            let number = now / self.length;
            self.number = number as usize;
            self.until = (number + 1).saturating_mul(self.length);
        }
        self.number
    }

    /// The first again.
    pub(super) fn reset(&mut self) {
        (self.number, self.until) = (0, self.length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_begin_at_multiples_of_their_length() {
        let mut interval = Interval::new(Duration::from_micros(10));
        let numbers = [0, 9, 10, 19, 55, 59, 60].map(|us| interval.at(Instant::from_micros(us)));
        assert_eq!(numbers, [0, 0, 1, 1, 5, 5, 6]);
        interval.reset();
        assert_eq!(interval.at(Instant::from_micros(3)), 0);
    }
}
