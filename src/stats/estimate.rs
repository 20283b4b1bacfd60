//! A measure's value with its 95 % interval, or the reason why there is none.

use std::fmt;

use super::{MIN_EXCEEDANCES, Sample, jackknife};

/// A value and what is known about its precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// In the measure's unit; `None` is null, and `note` says why.
    pub value: Option<f64>,
    /// The 95 % interval over worlds.
    pub ci95: Option<(f64, f64)>,
    /// Requests the value rests on.
    pub n: u64,
    /// Worlds pooled.
    pub worlds: u32,
    /// Why something is missing, or what the interval assumes.
    pub note: Option<Note>,
}

/// What a reader must know beside a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// A single world: a value, but nothing to judge its precision by.
    OneWorld,
    /// Nothing to divide by, or no request at all.
    NothingMeasured,
    /// The run does not model this.
    NotModelled,
    /// None or all of the requests: the interval is the one-sided bound 3 ÷ n.
    IfIndependent,
    /// Too few requests beyond the quantile.
    FewExceedances {
        /// How many there are.
        found: u64,
    },
    /// The quantile lies among requests that were never answered.
    Unanswered,
    /// Of incidents: some never got so far, and the value is of those that did.
    Reached {
        /// How many got so far.
        reached: u64,
        /// Of how many.
        of: u64,
    },
    /// A value, but none once some world is left out.
    Fragile,
}

/// The value of a sample with its interval: jackknife over worlds, Student t.
pub fn estimate(sample: &Sample<'_>) -> Estimate {
    let bare = Estimate {
        value: None,
        ci95: None,
        n: sample.requests(),
        worlds: sample.worlds() as u32,
        note: None,
    };
    let value = match sample.value() {
        Ok(value) => value,
        Err(note) => return Estimate { note: Some(note), ..bare },
    };
    let valued = Estimate { value: Some(value), ..bare };
    if let Some(bound) = sample.rule_of_three() {
        let ci95 = if value == 0.0 { (0.0, bound) } else { (1.0 - bound, 1.0) };
        return Estimate { ci95: Some(ci95), note: Some(Note::IfIndependent), ..valued };
    }
    match jackknife(sample.worlds(), |excluded| sample.pooled(excluded)) {
        Ok(jack) => {
            let (lo, hi) = jack.interval(sample.grain());
            let ci95 = if sample.is_proportion() { (lo.max(0.0), hi.min(1.0)) } else { (lo, hi) };
            Estimate { ci95: Some(ci95), ..valued }
        }
        Err(note) => Estimate { note: Some(note), ..valued },
    }
}

impl Estimate {
    /// Null, because the run does not model it.
    pub const fn not_modelled(worlds: u32) -> Estimate {
        Estimate { value: None, ci95: None, n: 0, worlds, note: Some(Note::NotModelled) }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::OneWorld => f.write_str("one world: no interval"),
            Note::NothingMeasured => f.write_str("nothing to measure"),
            Note::NotModelled => f.write_str("not modelled"),
            Note::IfIndependent => f.write_str("none or all: bound 3/n, if independent"),
            Note::FewExceedances { found } => {
                write!(f, "too few requests beyond it: {found} of the {MIN_EXCEEDANCES} needed")
            }
            Note::Unanswered => f.write_str("among the unanswered requests"),
            Note::Reached { reached, of } => write!(f, "in {reached} of {of} incidents"),
            Note::Fragile => f.write_str("no value without one of the worlds: no interval"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Hits, Ratio};
    use super::*;

    fn hits(worlds: &[(u64, u64)]) -> Sample<'static> {
        Sample::proportion(worlds.iter().map(|&(hits, of)| Hits { hits, of }).collect())
    }

    #[test]
    fn ratio_by_hand() {
        // Pooled 12/24. Without each world: 10/18, 9/18, 5/12; their mean is
        // 53/108, the deviations 7/108, 1/108, -8/108, so the standard error is
        // √(2/3 · 114)/108 = √76/108, and t(0.975) with two degrees 4.302653.
        let worlds = [(2.0, 6.0), (3.0, 6.0), (7.0, 12.0)];
        let worlds = worlds.map(|(numerator, denominator)| Ratio { numerator, denominator });
        let got = estimate(&Sample::ratio(worlds.to_vec(), 24));
        let half = 4.302_652_73 * 76_f64.sqrt() / 108.0;
        assert_eq!((got.value, got.n, got.worlds, got.note), (Some(0.5), 24, 3, None));
        let (lo, hi) = got.ci95.unwrap();
        assert!((lo - (0.5 - half)).abs() < 1e-8 && (hi - (0.5 + half)).abs() < 1e-8);
    }

    #[test]
    fn none_and_all_give_the_rule_of_three() {
        let none = estimate(&hits(&[(0, 400), (0, 600)]));
        assert_eq!((none.value, none.ci95), (Some(0.0), Some((0.0, 0.003))));
        let all = estimate(&hits(&[(1_000, 1_000)]));
        assert_eq!((all.value, all.ci95), (Some(1.0), Some((0.997, 1.0))));
        assert_eq!((none.note, all.note), (Some(Note::IfIndependent), Some(Note::IfIndependent)));
        assert_eq!(estimate(&hits(&[(0, 2)])).ci95, Some((0.0, 1.0)));
    }

    #[test]
    fn proportions_stay_within_0_and_1() {
        let got = estimate(&hits(&[(0, 100), (0, 100), (3, 100)])).ci95.unwrap();
        assert!(got.0 == 0.0 && got.1 > 0.02 && got.1 < 1.0, "{got:?}");
    }

    #[test]
    fn one_world_has_a_value_only() {
        let got = estimate(&hits(&[(97, 100)]));
        assert_eq!((got.value, got.ci95, got.note), (Some(0.97), None, Some(Note::OneWorld)));
    }

    #[test]
    fn a_ratio_only_one_world_has_is_fragile() {
        let worlds = [(8.0, 1.0), (0.0, 0.0), (0.0, 0.0)];
        let worlds = worlds.map(|(numerator, denominator)| Ratio { numerator, denominator });
        let got = estimate(&Sample::ratio(worlds.to_vec(), 10));
        assert_eq!((got.value, got.ci95, got.note), (Some(8.0), None, Some(Note::Fragile)));
    }

    #[test]
    fn a_figure_is_no_more_exact_than_it_was_read() {
        let unanswered = || vec![Hits { hits: 0, of: 5_000 }; 3];
        let read =
            |value: f64| Sample::quantile(0.5, unanswered(), move |_| Some(value)).read_to(0.25);
        assert_eq!(estimate(&read(7.0)).ci95, Some((6.75, 7.25)));
        // √2 · 0.25 = 0.354.
        let apart = |by: f64| crate::stats::paired(&read(7.0), &read(7.0 + by)).verdict;
        assert_eq!(apart(0.3), Some(crate::stats::Verdict::Noise));
        assert_eq!(apart(0.4), Some(crate::stats::Verdict::Clear));
        assert_eq!(apart(0.0), Some(crate::stats::Verdict::Identical));
    }

    #[test]
    fn quantile_pools_and_leaves_out() {
        // The "quantile" of worlds 1, 2, 3 is their mean here: classic t, s/√n = 1/√3.
        let values = [1.0, 2.0, 3.0];
        let unanswered = vec![Hits { hits: 0, of: 5_000 }; 3];
        let sample = Sample::quantile(0.99, unanswered, move |excluded| {
            let kept = (0..3).filter(|&i| Some(i) != excluded).map(|i| values[i]);
            Some(kept.clone().sum::<f64>() / kept.count() as f64)
        });
        let got = estimate(&sample);
        let (lo, hi) = got.ci95.unwrap();
        assert_eq!((got.value, got.n), (Some(2.0), 15_000));
        assert!((hi - lo - 2.0 * 4.302_652_73 / 3_f64.sqrt()).abs() < 1e-8);
    }
}
