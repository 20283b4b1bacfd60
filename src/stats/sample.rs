//! One measure of one policy, kept by world so that worlds can be left out.

use super::{MIN_EXCEEDANCES, Note};

/// What one world adds to a ratio measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// What is summed, in the measure's unit (dollars, seconds, attempts …).
    pub numerator: f64,
    /// What it is divided by (requests, answers, target-seconds …).
    pub denominator: f64,
}

/// What one world adds to a proportion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hits {
    /// Requests with the property.
    pub hits: u64,
    /// Requests asked about; at least `hits`.
    pub of: u64,
}

/// A measure over all worlds, poolable without any one of them.
pub struct Sample<'a> {
    kind: Kind<'a>,
}

enum Kind<'a> {
    Ratio { worlds: Vec<Ratio>, requests: u64 },
    Proportion(Vec<Hits>),
    Quantile { p: f64, unanswered: Vec<Hits>, pooled: Pooled<'a>, grain: f64 },
}

/// Samples of several policies are made in parallel.
type Pooled<'a> = Box<dyn Fn(Option<usize>) -> Option<f64> + Send + Sync + 'a>;

impl<'a> Sample<'a> {
    /// A ratio of sums, Σ numerator ÷ Σ denominator, resting on `requests` in
    /// all. A mean is one too, and so is a count that some worlds lack.
    pub fn ratio(worlds: Vec<Ratio>, requests: u64) -> Sample<'a> {
        Sample { kind: Kind::Ratio { worlds, requests } }
    }

    /// A share of requests. Where none or all have the property, its interval
    /// is the rule of three.
    ///
    /// # Panics
    /// Where a world has more hits than requests.
    pub fn proportion(worlds: Vec<Hits>) -> Sample<'a> {
        assert!(worlds.iter().all(|w| w.hits <= w.of), "more hits than requests");
        Sample { kind: Kind::Proportion(worlds) }
    }

    /// The `p` quantile of all requests, the unanswered counting as infinite.
    ///
    /// `unanswered` says, by world, how many of how many; `pooled` gives the
    /// quantile of all worlds but the excluded one, `None` where it falls among
    /// the unanswered or there is no request. Interpolate within histogram
    /// buckets, lest equal buckets pass for certainty. With the fewest requests
    /// allowed beyond it, a 95 % interval holds the truth about 92 times in a
    /// hundred; from a thousand on, the 95 it promises.
    ///
    /// # Panics
    /// Unless `0 < p < 1`, or where a world has more unanswered than requests.
    pub fn quantile(
        p: f64,
        unanswered: Vec<Hits>,
        pooled: impl Fn(Option<usize>) -> Option<f64> + Send + Sync + 'a,
    ) -> Sample<'a> {
        assert!(0.0 < p && p < 1.0, "a quantile lies strictly between 0 and 1");
        assert!(unanswered.iter().all(|w| w.hits <= w.of), "more unanswered than requests");
        Sample { kind: Kind::Quantile { p, unanswered, pooled: Box::new(pooled), grain: 0.0 } }
    }

    /// The same, where a quantile is read to within so much of the value that was counted: where all
    /// values in a cell of a histogram are one, the spread over worlds is nothing, and yet the figure
    /// is not that exact.
    pub fn read_to(mut self, within: f64) -> Sample<'a> {
        if let Kind::Quantile { grain, .. } = &mut self.kind {
            *grain = within;
        }
        self
    }

    /// How far the figure itself may be from the value that was counted.
    pub(super) fn grain(&self) -> f64 {
        match self.kind {
            Kind::Quantile { grain, .. } => grain,
            Kind::Ratio { .. } | Kind::Proportion(_) => 0.0,
        }
    }

    /// Number of worlds.
    pub fn worlds(&self) -> usize {
        match &self.kind {
            Kind::Ratio { worlds, .. } => worlds.len(),
            Kind::Proportion(worlds) | Kind::Quantile { unanswered: worlds, .. } => worlds.len(),
        }
    }

    /// Requests the value rests on.
    pub fn requests(&self) -> u64 {
        match &self.kind {
            Kind::Ratio { requests, .. } => *requests,
            Kind::Proportion(worlds) | Kind::Quantile { unanswered: worlds, .. } => {
                worlds.iter().map(|w| w.of).sum()
            }
        }
    }

    /// The measure over all worlds but `excluded`, where it has a value there.
    pub fn pooled(&self, excluded: Option<usize>) -> Option<f64> {
        match &self.kind {
            Kind::Ratio { worlds, .. } => ratio_without(worlds, excluded),
            Kind::Proportion(worlds) => share_without(worlds, excluded),
            Kind::Quantile { pooled, .. } => pooled(excluded),
        }
    }

    /// The measure over all worlds.
    ///
    /// # Errors
    /// The reason why it is null.
    pub fn value(&self) -> Result<f64, Note> {
        if self.requests() == 0 {
            return Err(Note::NothingMeasured);
        }
        let value = self.pooled(None);
        match (&self.kind, value) {
            // More requests would not help here, so this reason goes first.
            (Kind::Quantile { .. }, None) => Err(Note::Unanswered),
            (Kind::Quantile { .. }, Some(_)) if self.exceedances() < MIN_EXCEEDANCES => {
                Err(Note::FewExceedances { found: self.exceedances() })
            }
            (_, value) => value.ok_or(Note::NothingMeasured),
        }
    }

    /// The rule of three, 3 ÷ requests, where the sample is a proportion that
    /// no request or every request has: the spread over worlds says nothing there.
    pub(super) fn rule_of_three(&self) -> Option<f64> {
        let Kind::Proportion(worlds) = &self.kind else { return None };
        let (hits, of) = (worlds.iter().map(|w| w.hits).sum::<u64>(), self.requests());
        (of > 0 && (hits == 0 || hits == of)).then(|| (3.0 / of as f64).min(1.0))
    }

    /// True for a measure that cannot leave `0..=1`.
    pub(super) fn is_proportion(&self) -> bool {
        matches!(self.kind, Kind::Proportion(_))
    }

    /// For a quantile, the share of unanswered requests above what the quantile
    /// leaves over: positive where the quantile is infinite.
    pub(super) fn unanswered_excess(&self, excluded: Option<usize>) -> Option<f64> {
        let Kind::Quantile { p, unanswered, .. } = &self.kind else { return None };
        Some(share_without(unanswered, excluded)? - (1.0 - p))
    }

    /// Requests beyond the quantile, the unanswered included.
    fn exceedances(&self) -> u64 {
        match &self.kind {
            // The nudge keeps 10,000 requests at p99 on 100 whatever 1 - 0.99 rounds to.
            Kind::Quantile { p, .. } => ((1.0 - p) * self.requests() as f64 + 1e-6) as u64,
            Kind::Ratio { .. } | Kind::Proportion(_) => self.requests(),
        }
    }
}

fn kept<T>(worlds: &[T], excluded: Option<usize>) -> impl Iterator<Item = &T> {
    worlds.iter().enumerate().filter(move |(i, _)| Some(*i) != excluded).map(|(_, world)| world)
}

fn ratio_without(worlds: &[Ratio], excluded: Option<usize>) -> Option<f64> {
    let (numerator, denominator) = kept(worlds, excluded)
        .fold((0.0, 0.0), |(n, d), world| (n + world.numerator, d + world.denominator));
    (denominator > 0.0).then(|| numerator / denominator)
}

fn share_without(worlds: &[Hits], excluded: Option<usize>) -> Option<f64> {
    let (hits, of) =
        kept(worlds, excluded).fold((0, 0), |(h, n), world| (h + world.hits, n + world.of));
    (of > 0).then(|| hits as f64 / of as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantile(p: f64, unanswered: u64, of: u64, value: Option<f64>) -> Sample<'static> {
        Sample::quantile(p, vec![Hits { hits: unanswered, of }], move |_| value)
    }

    #[test]
    fn a_hundred_requests_must_lie_beyond() {
        for (p, enough) in [(0.5, 200), (0.9, 1_000), (0.99, 10_000), (0.999, 100_000)] {
            assert_eq!(quantile(p, 0, enough, Some(2.0)).value(), Ok(2.0), "{p}");
            let short = quantile(p, 0, enough - 1, Some(2.0)).value();
            assert_eq!(short, Err(Note::FewExceedances { found: 99 }), "{p}");
        }
    }

    #[test]
    fn null_has_its_reason() {
        assert_eq!(quantile(0.99, 500, 10_000, None).value(), Err(Note::Unanswered));
        assert_eq!(quantile(0.99, 0, 0, None).value(), Err(Note::NothingMeasured));
        let free = Sample::ratio(vec![Ratio { numerator: 3.0, denominator: 0.0 }], 10);
        assert_eq!(free.value(), Err(Note::NothingMeasured));
        assert_eq!(Sample::proportion(vec![]).value(), Err(Note::NothingMeasured));
    }

    #[test]
    fn ratios_pool_sums_and_leave_worlds_out() {
        let worlds = [(2.0, 4.0), (3.0, 4.0), (10.0, 12.0)];
        let worlds = worlds.map(|(numerator, denominator)| Ratio { numerator, denominator });
        let sample = Sample::ratio(worlds.to_vec(), 20);
        assert_eq!(sample.pooled(None), Some(15.0 / 20.0));
        assert_eq!(sample.pooled(Some(2)), Some(5.0 / 8.0));
    }
}
