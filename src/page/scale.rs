//! From values to places on an axis, and where its ticks are.

use super::chart::{Axis, Unit};

/// A stretch of an axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Scale {
    pub(super) lo: f64,
    pub(super) hi: f64,
    pub(super) log: bool,
}

/// Steps of ticks, times a power of ten.
const STEPS: [f64; 4] = [1.0, 2.0, 5.0, 10.0];
/// Steps of ticks on an axis of time, in seconds.
const TIMES: [f64; 21] = [
    1.0,
    2.0,
    5.0,
    10.0,
    15.0,
    30.0,
    60.0,
    120.0,
    300.0,
    600.0,
    900.0,
    1_800.0,
    3_600.0,
    7_200.0,
    10_800.0,
    21_600.0,
    43_200.0,
    86_400.0,
    172_800.0,
    604_800.0,
    2_419_200.0,
];

impl Scale {
    /// A stretch with some room around all these values, within the axis's bounds.
    pub(super) fn around(values: impl IntoIterator<Item = f64>, axis: &Axis) -> Scale {
        let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(|value| value.is_finite()) {
            (lo, hi) = (lo.min(value), hi.max(value));
        }
        if lo > hi {
            (lo, hi) = (axis.least.unwrap_or(0.0), axis.most.unwrap_or(1.0));
        }
        if axis.log && lo > 0.0 {
            return Scale { lo: lo / 1.1, hi: hi * 1.1, log: true };
        }
        // What rounding alone sets apart is one value, and not three ticks of the same name.
        let span = if hi - lo <= 1e-9 * hi.abs().max(lo.abs()) { 0.0 } else { hi - lo };
        let room = match span {
            0.0 if hi == 0.0 => 0.5,
            0.0 => hi.abs() * 0.05,
            span => span * 0.06,
        };
        // An axis that would nearly begin at its bound begins there.
        let least = axis.least.unwrap_or(f64::NEG_INFINITY);
        let near = lo - least < 0.5 * span;
        let from = if near { least } else { (lo - room).max(least) };
        Scale { lo: from, hi: (hi + room).min(axis.most.unwrap_or(f64::INFINITY)), log: false }
    }

    /// Where a value stands, from 0 to 1.
    pub(super) fn place(&self, value: f64) -> f64 {
        if self.log {
            let (lo, hi) = (libm::log(self.lo), libm::log(self.hi));
            return (libm::log(value) - lo) / (hi - lo);
        }
        if self.hi > self.lo { (value - self.lo) / (self.hi - self.lo) } else { 0.5 }
    }

    /// Round values to mark, about as many as wanted, with what is written at them.
    pub(super) fn ticks(&self, wanted: usize, unit: Unit) -> Vec<(f64, String)> {
        if self.log {
            return self.log_ticks(unit);
        }
        let step = round_step((self.hi - self.lo) / wanted as f64);
        let decimals = decimals_of(step);
        let label = |value| (value, label(value, decimals, unit));
        self.multiples(step).map(label).collect()
    }

    /// The same for seconds, at whole minutes, hours or days.
    pub(super) fn time_ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let least = (self.hi - self.lo) / wanted as f64;
        let step = TIMES.into_iter().find(|&step| step >= least);
        let step = step.unwrap_or_else(|| round_step(least / 86_400.0) * 86_400.0);
        self.multiples(step).map(|value| (value, clock(value, self.hi, step))).collect()
    }

    fn multiples(&self, step: f64) -> impl Iterator<Item = f64> {
        let first = libm::ceil(self.lo / step - 1e-9);
        let count = libm::floor(self.hi / step + 1e-9) - first;
        (0..=count.max(0.0) as usize).map(move |n| (first + n as f64) * step)
    }

    fn log_ticks(&self, unit: Unit) -> Vec<(f64, String)> {
        let mut decade = libm::pow(10.0, libm::floor(libm::log10(self.lo)));
        let mut ticks = Vec::new();
        let all = libm::log10(self.hi / self.lo) < 2.5;
        while decade <= self.hi {
            let steps: &[f64] = if all { &[1.0, 2.0, 5.0] } else { &[1.0] };
            for value in steps.iter().map(|step| step * decade) {
                if value >= self.lo && value <= self.hi {
                    ticks.push((value, label(value, decimals_of(decade), unit)));
                }
            }
            decade *= 10.0;
        }
        ticks
    }
}

/// The smallest round step that is not below this.
fn round_step(least: f64) -> f64 {
    if least.is_nan() || least <= 0.0 {
        return 1.0;
    }
    let power = libm::pow(10.0, libm::floor(libm::log10(least)));
    let step = STEPS.into_iter().find(|step| step * power >= least * (1.0 - 1e-9));
    step.unwrap_or(10.0) * power
}

/// Decimals that tell multiples of a step apart.
fn decimals_of(step: f64) -> usize {
    (-libm::floor(libm::log10(step) + 1e-9)).clamp(0.0, 9.0) as usize
}

/// A value as an axis shows it.
pub(super) fn label(value: f64, decimals: usize, unit: Unit) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let zero = text.bytes().all(|b| matches!(b, b'0' | b'.'));
    let sign = if value < 0.0 && !zero { "−" } else { "" };
    format!("{sign}{}{text}{}", unit.before(), unit.after())
}

/// Seconds as a clock shows them: `h:mm` where the axis is an hour long or more, else `m:ss`.
pub(super) fn clock(seconds: f64, longest: f64, step: f64) -> String {
    let whole = libm::round(seconds) as u64;
    let (h, m, s) = (whole / 3_600, whole / 60 % 60, whole % 60);
    if longest < 3_600.0 {
        format!("{}:{s:02}", whole / 60)
    } else if step < 60.0 {
        format!("{h}:{m:02}:{s:02}")
    } else {
        format!("{h}:{m:02}")
    }
}

/// What [`clock`] shows.
pub(super) fn clock_unit(longest: f64) -> &'static str {
    if longest < 3_600.0 { "minutes:seconds" } else { "hours:minutes" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[(f64, String)]) -> Vec<&str> {
        ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_within() {
        let scale = Scale { lo: 99.2, hi: 100.0, log: false };
        assert_eq!(
            labels(&scale.ticks(4, Unit::Percent)),
            ["99.2 %", "99.4 %", "99.6 %", "99.8 %", "100.0 %"]
        );
        let scale = Scale { lo: -1.0, hi: 3.0, log: false };
        assert_eq!(labels(&scale.ticks(4, Unit::Dollars)), ["−$1", "$0", "$1", "$2", "$3"]);
        let scale = Scale { lo: 0.5, hi: 200.0, log: true };
        assert_eq!(labels(&scale.ticks(4, Unit::Seconds)), ["1 s", "10 s", "100 s"]);
    }

    #[test]
    fn times_are_whole_minutes_and_hours() {
        let day = Scale { lo: 0.0, hi: 54_000.0, log: false };
        assert_eq!(labels(&day.time_ticks(6)), ["0:00", "3:00", "6:00", "9:00", "12:00", "15:00"]);
        let short = Scale { lo: 0.0, hi: 600.0, log: false };
        assert_eq!(labels(&short.time_ticks(5)), ["0:00", "2:00", "4:00", "6:00", "8:00", "10:00"]);
    }

    #[test]
    fn bounds_hold_and_room_is_left() {
        let percent = Axis::new("", Unit::Percent);
        let scale = Scale::around([99.0, 100.0], &percent);
        assert_eq!((scale.lo, scale.hi), (98.94, 100.0));
        let scale = Scale::around([10.0, 100.0], &percent);
        assert_eq!((scale.lo, scale.hi), (0.0, 100.0));
        let flat = Scale::around([1.0, 1.0], &Axis::new("", Unit::Number));
        assert!(flat.lo < 1.0 && flat.hi > 1.0);
        let dust =
            Scale::around([0.0028, 0.002_799_999_999_999_999_5], &Axis::new("", Unit::Dollars));
        let mut ticks = dust.ticks(4, Unit::Dollars);
        assert!(ticks.len() > 1);
        ticks.dedup_by(|a, b| a.1 == b.1);
        assert_eq!(ticks.len(), dust.ticks(4, Unit::Dollars).len());
        let nothing = Scale::around([], &percent);
        assert_eq!((nothing.lo, nothing.hi), (0.0, 100.0));
    }

    #[test]
    fn places_are_shares_of_the_way() {
        let log = Scale { lo: 1.0, hi: 100.0, log: true };
        assert!((log.place(10.0) - 0.5).abs() < 1e-12);
        let linear = Scale { lo: 2.0, hi: 6.0, log: false };
        assert_eq!(linear.place(3.0), 0.25);
    }
}
