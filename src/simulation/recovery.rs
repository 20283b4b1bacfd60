//! When success is back after an incident's onset.

use windtunnel_policy::{Duration, Instant};

/// Success is watched in steps of this length.
const STEP: Duration = Duration::from_secs(10);
/// Steps in a minute: windows are whole minutes.
const MINUTE: usize = 6;
/// A window grows until it holds so many requests …
const ENOUGH: u64 = 100;
/// … or is so many steps long.
const LONGEST: usize = 5 * MINUTE;
/// Steps before an onset that say what "before" is.
const BEFORE: usize = 10 * MINUTE;
/// Success may be so much lower than before and still count as back.
const BAND: f64 = 0.01;
/// Standard errors below the band that are no longer chance: with one window in 700 down for no
/// reason, a wrong one is rare in an incident of an hour.
const ERRORS: f64 = 3.0;

/// Requests and answers, by step of arrival.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps(Vec<Counts>);

/// Requests, and the answered ones among them.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    requests: u64,
    answered: u64,
}

impl Steps {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Counts a closed request by its arrival.
    #[inline]
    pub(super) fn count(&mut self, arrived: Instant, answered: bool) {
        let step = step_of(arrived);
        if step >= self.0.len() {
            self.0.resize(step + 1, Counts::default());
        }
        self.0[step].requests += 1;
        self.0[step].answered += u64::from(answered);
    }

    /// From the onset of an incident to the end of the last window that is down because of it,
    /// zero where none is; `None` where the last window before `until` still is, or where
    /// nothing arrived before the onset.
    ///
    /// Windows follow each other from the onset. Down because of the incident are those that
    /// start before its end or in the window after it, and those that follow one without a gap: a
    /// queue or a storm of retries may hold success down long after the incident itself is over.
    pub(super) fn recovery(
        &self,
        onset: Instant,
        over: Instant,
        until: Instant,
    ) -> Option<Duration> {
        let first = step_of(onset);
        let last = step_of(until).min(self.0.len());
        let before = sum(self.0.get(first.saturating_sub(BEFORE)..first)?);
        if before.requests == 0 {
            return None;
        }
        let (mut start, mut down_until, mut grace) = (first, first, true);
        while start < last {
            let end = self.window_end(start, last);
            let within = start_of(start) < over;
            let caused = within || grace || down_until == start;
            if !caused {
                break;
            }
            grace = within;
            if is_down(before, sum(&self.0[start..end])) {
                down_until = end;
            }
            start = end;
        }
        match down_until {
            down if down == first => Some(Duration::ZERO),
            down if down == last => None,
            down => Some(start_of(down) - onset),
        }
    }

    /// Whole minutes from `start`, as many as it takes to judge.
    fn window_end(&self, start: usize, last: usize) -> usize {
        let mut end = start;
        let mut requests = 0;
        while end < last && end - start < LONGEST && requests < ENOUGH {
            let minute = end..(end + MINUTE).min(last);
            end = minute.end;
            requests += sum(&self.0[minute]).requests;
        }
        end
    }
}

/// Below the band by more than chance explains: by the standard error of a difference between two
/// shares that are both at the band's edge, so that it is not zero where all were answered before,
/// and by half a request, for shares of few requests are coarse.
fn is_down(before: Counts, now: Counts) -> bool {
    if now.requests == 0 {
        return false;
    }
    let edge = (before.share() - BAND).max(0.0);
    let per_request = 1.0 / now.requests as f64 + 1.0 / before.requests as f64;
    let error = libm::sqrt(edge * (1.0 - edge) * per_request);
    let half_a_request = 0.5 / now.requests as f64;
    now.share() + half_a_request < edge - ERRORS * error
}

impl Counts {
    fn share(self) -> f64 {
        self.answered as f64 / self.requests as f64
    }
}

fn sum(steps: &[Counts]) -> Counts {
    steps.iter().fold(Counts::default(), |sum, step| Counts {
        requests: sum.requests + step.requests,
        answered: sum.answered + step.answered,
    })
}

fn step_of(at: Instant) -> usize {
    (at.as_micros() / STEP.as_micros()) as usize
}

fn start_of(step: usize) -> Instant {
    Instant::ZERO + STEP.saturating_mul(step as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Instant {
        Instant::from_micros(s * 1_000_000)
    }

    /// Half an hour with `rate` requests each second, of which so many fail.
    fn half_an_hour(rate: u64, failing: impl Fn(u64) -> u64) -> Steps {
        let mut steps = Steps::default();
        for s in 0..1_800 {
            (0..rate).for_each(|n| steps.count(at(s), n >= failing(s)));
        }
        steps
    }

    fn recovery(steps: &Steps, onset: u64, over: u64) -> Option<u64> {
        let found = steps.recovery(at(onset), at(over), at(1_800));
        found.map(|time| time.as_micros() / 1_000_000)
    }

    #[test]
    fn it_is_the_end_of_the_last_window_down() {
        // Down for 120 s, up for 180 s, down for 60 s.
        let down = |s: u64| (700..820).contains(&s) || (1_000..1_060).contains(&s);
        let steps = half_an_hour(10, |s| 5 * u64::from(down(s)));
        assert_eq!(recovery(&steps, 700, 1_100), Some(360));
        assert_eq!(recovery(&steps, 700, 900), Some(120), "what comes long after is another's");
        assert_eq!(recovery(&steps, 1_200, 1_300), Some(0));
        // From an onset within a step, to the end of a window that starts with that step.
        assert_eq!(recovery(&steps, 705, 900), Some(115));
    }

    #[test]
    fn what_holds_on_without_a_gap_is_the_incident_s() {
        let steps = half_an_hour(10, |s| 5 * u64::from((700..1_300).contains(&s)));
        assert_eq!(recovery(&steps, 700, 760), Some(600));
        // Down in the window after its end only.
        let late = half_an_hour(10, |s| 5 * u64::from((760..820).contains(&s)));
        assert_eq!(recovery(&late, 700, 750), Some(120));
    }

    #[test]
    fn none_where_it_lasts_or_nothing_was_before() {
        let steps = half_an_hour(10, |s| 10 * u64::from(s >= 700));
        assert_eq!(recovery(&steps, 700, 800), None);
        assert_eq!(recovery(&steps, 0, 100), None);
    }

    #[test]
    fn the_band_and_chance_are_no_dip() {
        // Of 600 a minute, all answered before: at an edge of 99 % the standard error is
        // √(0.99 · 0.01 · (1/600 + 1/6000)) = 0.426 %, so down is below 97.72 %, less half a
        // request 97.64 %: from 15 failures.
        let one_minute =
            |failures: u64| half_an_hour(10, |s| u64::from((720..720 + failures).contains(&s)));
        assert_eq!(recovery(&one_minute(14), 720, 800), Some(0));
        assert_eq!(recovery(&one_minute(15), 720, 800), Some(60));
    }

    #[test]
    fn thin_traffic_is_judged_over_longer_windows() {
        // One request in 2 s: 30 a minute, 120 in four. All of 60 s fail: 30 of 120, down.
        let mut steps = Steps::default();
        for s in (0..1_800).step_by(2) {
            steps.count(at(s), !(700..760).contains(&s));
        }
        assert_eq!(recovery(&steps, 700, 900), Some(240));
        // One in a minute: windows of five, in which one failure of five is chance.
        let mut steps = Steps::default();
        for s in (0..1_800).step_by(60) {
            steps.count(at(s), s != 720);
        }
        assert_eq!(recovery(&steps, 720, 900), Some(0));
    }
}
