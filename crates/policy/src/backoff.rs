//! How long to wait before a recovery. Waiting never gives permission: the gates do.

use crate::Duration;
use crate::config::{Backoff, DOUBLING, Jitter, RetryAfter, RetryAfterMode, WaitTooLong};
use crate::mix::below;

/// The backoff before retry `retry_index` (from 0), given the wait before it (zero where there
/// was none) and this retry's draw.
pub(crate) fn delay(config: &Backoff, retry_index: u32, previous: Duration, draw: u64) -> Duration {
    let cap = cap(config, retry_index);
    match config.jitter {
        Jitter::Fixed => config.base,
        Jitter::Exponential => cap,
        Jitter::Linear => {
            config.base.saturating_mul(u64::from(retry_index).saturating_add(1)).min(config.max)
        }
        Jitter::Full => up_to(cap, draw),
        Jitter::Equal => {
            let half = cap.mul_div(1, 2);
            half + up_to(half, draw)
        }
        Jitter::Decorrelated => {
            let previous = previous.max(config.base);
            let spread = previous.saturating_mul(3).saturating_sub(config.base);
            (config.base + up_to(spread, draw)).min(config.max)
        }
        Jitter::Proportional(share) => cap + up_to(part(cap, share), draw),
        Jitter::Added(most) => cap + up_to(most, draw),
        Jitter::Subtractive(share) => cap.saturating_sub(up_to(part(cap, share), draw)),
    }
}

impl Backoff {
    /// The wait before retry `retry_index` (from 0), given the wait before it (zero where there was
    /// none) and 64 random bits: what a router waits, for other retry loops to wait the same.
    pub fn delay(&self, retry_index: u32, previous: Duration, draw: u64) -> Duration {
        delay(self, retry_index, previous, draw)
    }
}

impl RetryAfter {
    /// What `backoff` and a wait hint make together, for a retry at the place the hint came from, given
    /// 64 random bits; `None` where the hint is too long to wait for.
    pub fn wait(&self, backoff: Duration, hint: Option<Duration>, draw: u64) -> Option<Duration> {
        match wait(self, backoff, hint.map(|hint| (hint, draw)), Duration::MAX) {
            Wait::For { wait, .. } => Some(wait),
            Wait::TooLong => None,
        }
    }
}

/// What the backoff and a provider's wait hint make together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wait {
    /// Wait this long.
    For {
        /// Backoff, hint, or the longer of both.
        wait: Duration,
        /// The hint within it, as far as it was honoured.
        honoured: Option<Duration>,
    },
    /// The wait asked for is longer than allowed or does not fit the time left; what happens
    /// then is `too_long`, of which only `backoff` is dealt with here.
    TooLong,
}

/// Combines backoff and hint, which comes with the draw of its jitter. There is none where the hint is
/// not about the next attempt (another target) or its failure class does not heed it; `longest_fit` is
/// the longest wait that leaves time for a useful attempt.
pub(crate) fn wait(
    config: &RetryAfter,
    backoff: Duration,
    hint: Option<(Duration, u64)>,
    longest_fit: Duration,
) -> Wait {
    let fits = |wait: Duration| wait <= longest_fit;
    let without_hint = match fits(backoff) {
        true => Wait::For { wait: backoff, honoured: None },
        false => Wait::TooLong,
    };
    let Some((hint, draw)) = hint else { return without_hint };
    let honoured = match config.mode {
        RetryAfterMode::Ignore => return without_hint,
        RetryAfterMode::Honour | RetryAfterMode::AtLeast => hint,
        RetryAfterMode::CapAt(most) => hint.min(most),
    };
    let spread = honoured + up_to(part(honoured, config.jitter), draw);
    let wait = match config.mode {
        RetryAfterMode::AtLeast => spread.max(backoff),
        _ => spread,
    };
    // The limit is on the hint as sent, so that a policy can cut hints of seconds and give up on
    // hints of hours.
    let allowed = config.longest_wait.is_none_or(|longest| hint <= longest);
    match (allowed && fits(wait), config.too_long) {
        (true, _) => Wait::For { wait, honoured: Some(honoured) },
        (false, WaitTooLong::Backoff) => without_hint,
        (false, WaitTooLong::FailOver | WaitTooLong::Stop) => Wait::TooLong,
    }
}

/// `min(max, base · 2^retry_index)`, or the same with the configured factor.
fn cap(config: &Backoff, retry_index: u32) -> Duration {
    if config.factor_percent != DOUBLING {
        return cap_by_factor(config, retry_index);
    }
    let factor = 1_u64.checked_shl(retry_index).unwrap_or(u64::MAX);
    config.base.saturating_mul(factor).min(config.max)
}

/// Cut to whole microseconds at each step.
#[cold]
fn cap_by_factor(config: &Backoff, retry_index: u32) -> Duration {
    let mut cap = config.base;
    for _ in 0..retry_index {
        let next = cap.mul_div(config.factor_percent.into(), 100).min(config.max);
        if next <= cap {
            break;
        }
        cap = next;
    }
    cap
}

/// Uniform over the whole microseconds from zero to `most`.
fn up_to(most: Duration, draw: u64) -> Duration {
    Duration::from_micros(below(draw, most.as_micros().saturating_add(1)))
}

fn part(of: Duration, share: crate::Share) -> Duration {
    Duration::from_micros(share.of(of.as_micros()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Share;
    use crate::mix::{Draw, draw};

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn config(jitter: Jitter) -> Backoff {
        Backoff { base: ms(100), max: ms(1_000), jitter, ..Backoff::default() }
    }

    /// Delays in µs at the smallest, a middle and the largest draw.
    fn span(jitter: Jitter, retry: u32, previous: Duration) -> [u64; 3] {
        [0, 1 << 63, u64::MAX].map(|d| delay(&config(jitter), retry, previous, d).as_micros())
    }

    #[test]
    fn exact_values() {
        let third = Share::ratio(1, 4);
        for (jitter, retry, expected) in [
            (Jitter::Fixed, 5, [100_000, 100_000, 100_000]),
            (Jitter::Exponential, 0, [100_000, 100_000, 100_000]),
            (Jitter::Exponential, 3, [800_000, 800_000, 800_000]),
            (Jitter::Exponential, 4, [1_000_000, 1_000_000, 1_000_000]),
            (Jitter::Exponential, 200, [1_000_000, 1_000_000, 1_000_000]),
            (Jitter::Full, 1, [0, 100_000, 200_000]),
            (Jitter::Equal, 1, [100_000, 150_000, 200_000]),
            (Jitter::Proportional(third), 1, [200_000, 225_000, 250_000]),
            (Jitter::Subtractive(third), 1, [200_000, 175_000, 150_000]),
            (Jitter::Added(ms(50)), 1, [200_000, 225_000, 250_000]),
            (Jitter::Linear, 0, [100_000, 100_000, 100_000]),
            (Jitter::Linear, 3, [400_000, 400_000, 400_000]),
            (Jitter::Linear, u32::MAX, [1_000_000, 1_000_000, 1_000_000]),
        ] {
            assert_eq!(span(jitter, retry, Duration::ZERO), expected, "{jitter:?} {retry}");
        }
    }

    #[test]
    fn decorrelated_grows_from_the_wait_before() {
        // uniform(base, 3 · previous), at most max; the first wait before counts as base.
        assert_eq!(span(Jitter::Decorrelated, 0, Duration::ZERO), [100_000, 200_000, 300_000]);
        assert_eq!(span(Jitter::Decorrelated, 1, ms(200)), [100_000, 350_000, 600_000]);
        assert_eq!(span(Jitter::Decorrelated, 2, ms(900)), [100_000, 1_000_000, 1_000_000]);
    }

    #[test]
    fn caps_grow_by_the_factor() {
        for (percent, retry, expected) in [
            (150, 0, 100_000),
            (150, 2, 225_000),
            (150, 5, 759_375),
            (150, 6, 1_000_000),
            (100, 1_000, 100_000),
            (1_000, u32::MAX, 1_000_000),
        ] {
            let config = Backoff { factor_percent: percent, ..config(Jitter::Exponential) };
            let waits = delay(&config, retry, Duration::ZERO, 7).as_micros();
            assert_eq!(waits, expected, "{percent} {retry}");
        }
    }

    #[test]
    fn a_hint_may_have_jitter_on_top() {
        let half = RetryAfter { jitter: Share::ratio(1, 2), ..RetryAfter::default() };
        let cut = RetryAfter { mode: RetryAfterMode::CapAt(ms(400)), ..half.clone() };
        let far = Duration::from_secs(60);
        let waits = |config: &RetryAfter, draw, fit| match wait(
            config,
            ms(300),
            Some((ms(800), draw)),
            fit,
        ) {
            Wait::For { wait, honoured } => Some((wait.as_micros(), honoured)),
            Wait::TooLong => None,
        };
        assert_eq!(waits(&half, 0, far), Some((800_000, Some(ms(800)))));
        assert_eq!(waits(&half, 1 << 63, far), Some((1_000_000, Some(ms(800)))));
        assert_eq!(waits(&half, u64::MAX, far), Some((1_200_000, Some(ms(800)))));
        assert_eq!(waits(&cut, u64::MAX, far), Some((600_000, Some(ms(400)))));
        // What must fit is the wait with its jitter.
        assert_eq!(waits(&half, u64::MAX, ms(1_199)), None);
        assert_eq!(half.wait(ms(300), Some(ms(800)), 1 << 63), Some(ms(1_000)));
    }

    #[test]
    fn no_base_means_no_wait() {
        let none = Backoff { base: Duration::ZERO, ..config(Jitter::Full) };
        assert_eq!(delay(&none, 3, Duration::ZERO, u64::MAX), Duration::ZERO);
    }

    #[test]
    fn full_jitter_has_half_the_cap_on_average() {
        let n = 20_000;
        let total: u64 = (0..n)
            .map(|salt| {
                let d = draw(salt, Draw::Jitter, 2);
                delay(&config(Jitter::Full), 2, Duration::ZERO, d).as_micros()
            })
            .sum();
        // Uniform on 0..400 ms: mean 200 ms, standard deviation 400/√12 = 115.5 ms.
        let standard_error = 115_470.0 / (n as f64).sqrt();
        assert!((total as f64 / n as f64 - 200_000.0).abs() < 4.0 * standard_error);
    }

    #[test]
    fn hint_modes() {
        let far = Duration::from_secs(60);
        let heed = |mode, hint: Option<Duration>| {
            let hint = hint.map(|hint| (hint, u64::MAX));
            wait(&RetryAfter { mode, ..RetryAfter::default() }, ms(300), hint, far)
        };
        let waits = |w, h| Wait::For { wait: ms(w), honoured: h };
        use RetryAfterMode as M;
        assert_eq!(heed(M::Ignore, Some(ms(900))), waits(300, None));
        assert_eq!(heed(M::Honour, Some(ms(900))), waits(900, Some(ms(900))));
        assert_eq!(heed(M::Honour, Some(ms(10))), waits(10, Some(ms(10))));
        assert_eq!(heed(M::Honour, None), waits(300, None));
        assert_eq!(heed(M::AtLeast, Some(ms(10))), waits(300, Some(ms(10))));
        assert_eq!(heed(M::AtLeast, Some(ms(900))), waits(900, Some(ms(900))));
        assert_eq!(heed(M::CapAt(ms(500)), Some(ms(900))), waits(500, Some(ms(500))));
        assert_eq!(heed(M::CapAt(ms(500)), Some(ms(20))), waits(20, Some(ms(20))));
        assert_eq!(wait(&RetryAfter::default(), ms(300), None, far), waits(300, None));
    }

    #[test]
    fn waits_that_do_not_fit() {
        let config = |too_long| RetryAfter {
            too_long,
            longest_wait: Some(ms(2_000)),
            ..RetryAfter::default()
        };
        let ask = |too_long, hint, fit| {
            wait(&config(too_long), ms(300), Some((ms(hint), u64::MAX)), ms(fit))
        };
        let backoff = Wait::For { wait: ms(300), honoured: None };
        for too_long in [WaitTooLong::FailOver, WaitTooLong::Stop] {
            assert_eq!(ask(too_long, 2_001, 9_000), Wait::TooLong);
            assert_eq!(ask(too_long, 1_000, 999), Wait::TooLong);
            let exact = Wait::For { wait: ms(1_000), honoured: Some(ms(1_000)) };
            assert_eq!(ask(too_long, 1_000, 1_000), exact);
        }
        assert_eq!(ask(WaitTooLong::Backoff, 2_001, 9_000), backoff);
        assert_eq!(ask(WaitTooLong::Backoff, 1_000, 999), backoff);
        assert_eq!(ask(WaitTooLong::Backoff, 1_000, 299), Wait::TooLong);
    }
}
