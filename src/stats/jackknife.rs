//! The leave-one-world-out jackknife.

use super::{Note, two_sided_95};

/// A pooled value, and the same value with each world left out in turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Jackknife {
    /// Over all worlds, as pooled: no bias correction, so that it is the number a table shows.
    pub value: f64,
    /// Entry `i` is the value without world `i`; at least two.
    pub replicates: Vec<f64>,
}

/// Runs `pooled` over all worlds (`None`) and without each (`Some(world)`).
///
/// # Errors
/// [`Note::NothingMeasured`] where there is no value, [`Note::OneWorld`] where
/// nothing can be left out, [`Note::Fragile`] where leaving a world out leaves
/// no value.
pub fn jackknife(
    worlds: usize,
    pooled: impl Fn(Option<usize>) -> Option<f64>,
) -> Result<Jackknife, Note> {
    let value = pooled(None).ok_or(Note::NothingMeasured)?;
    if worlds < 2 {
        return Err(Note::OneWorld);
    }
    let replicates: Option<Vec<f64>> = (0..worlds).map(|world| pooled(Some(world))).collect();
    Ok(Jackknife { value, replicates: replicates.ok_or(Note::Fragile)? })
}

impl Jackknife {
    /// The jackknife of a function of two values measured on the same worlds.
    ///
    /// # Panics
    /// Where the numbers of worlds differ.
    pub fn combine(&self, other: &Jackknife, f: impl Fn(f64, f64) -> f64) -> Jackknife {
        assert_eq!(self.replicates.len(), other.replicates.len(), "paired on the same worlds");
        let pairs = self.replicates.iter().zip(&other.replicates);
        Jackknife {
            value: f(self.value, other.value),
            replicates: pairs.map(|(&x, &y)| f(x, y)).collect(),
        }
    }

    /// The standard error; exactly zero where all replicates are the same.
    pub fn standard_error(&self) -> f64 {
        let n = self.replicates.len() as f64;
        ((n - 1.0) / n * squares(&deviations(&self.replicates))).sqrt()
    }

    /// Degrees of freedom: worlds less one.
    pub fn degrees(&self) -> usize {
        self.replicates.len() - 1
    }

    /// The two-sided 95 % interval.
    pub fn ci95(&self) -> (f64, f64) {
        self.interval(0.0)
    }

    /// The same of values that are read to within a `grain`, which errs by itself.
    pub fn interval(&self, grain: f64) -> (f64, f64) {
        let half = libm::hypot(two_sided_95(self.degrees()) * self.standard_error(), grain);
        (self.value - half, self.value + half)
    }

    /// Correlation of two values over the worlds, by their replicates.
    ///
    /// `None` where one of them does not vary, and with two worlds, where it
    /// could only be -1 or 1.
    pub fn correlation(&self, other: &Jackknife) -> Option<f64> {
        let (x, y) = (deviations(&self.replicates), deviations(&other.replicates));
        let scale = (squares(&x) * squares(&y)).sqrt();
        if x.len() < 3 || scale == 0.0 {
            return None;
        }
        let product: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
        Some((product / scale).clamp(-1.0, 1.0))
    }
}

/// Deviations from the mean, taken relative to the first entry so that equal
/// entries deviate by exactly zero, whatever the rounding of their sum.
fn deviations(xs: &[f64]) -> Vec<f64> {
    let first = xs[0];
    let offset = xs.iter().map(|x| x - first).sum::<f64>() / xs.len() as f64;
    xs.iter().map(|x| (x - first) - offset).collect()
}

fn squares(xs: &[f64]) -> f64 {
    xs.iter().map(|x| x * x).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_without(xs: &[f64]) -> impl Fn(Option<usize>) -> Option<f64> {
        move |excluded| {
            let kept: Vec<f64> =
                (0..xs.len()).filter(|&i| Some(i) != excluded).map(|i| xs[i]).collect();
            (!kept.is_empty()).then(|| kept.iter().sum::<f64>() / kept.len() as f64)
        }
    }

    #[test]
    fn of_a_mean_it_is_the_classic_t_interval() {
        let xs = [4.1, 5.0, 3.7, 6.2, 5.5, 4.9, 5.1, 4.4, 6.0, 5.3];
        let n = xs.len() as f64;
        let mean = xs.iter().sum::<f64>() / n;
        let variance = xs.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
        let jack = jackknife(xs.len(), mean_without(&xs)).unwrap();
        assert!((jack.standard_error() - (variance / n).sqrt()).abs() < 1e-14);
        let (lo, hi) = jack.ci95();
        // 2.262157163 is the textbook t(0.975) with nine degrees of freedom.
        let half = 2.262_157_163 * (variance / n).sqrt();
        assert!((lo - (mean - half)).abs() < 1e-9 && (hi - (mean + half)).abs() < 1e-9);
    }

    #[test]
    fn equal_replicates_have_no_error_at_all() {
        // 0.1 + 0.1 + 0.1 is not 0.3: a plain mean would leave a trace.
        let jack = jackknife(3, |_| Some(0.1)).unwrap();
        assert_eq!(jack.standard_error(), 0.0);
        assert_eq!(jack.ci95(), (0.1, 0.1));
    }

    #[test]
    fn says_why_there_is_no_interval() {
        assert_eq!(jackknife(5, |_| None), Err(Note::NothingMeasured));
        assert_eq!(jackknife(1, |_| Some(1.0)), Err(Note::OneWorld));
        let gap = |excluded| (excluded != Some(2)).then_some(1.0);
        assert_eq!(jackknife(5, gap), Err(Note::Fragile));
    }

    #[test]
    fn correlation_by_hand() {
        // Deviations of the means are -1, 0, 1 and -1, 2, -1 (up to sign and scale).
        let x = jackknife(3, mean_without(&[1.0, 2.0, 3.0])).unwrap();
        let y = jackknife(3, mean_without(&[1.0, 4.0, 1.0])).unwrap();
        let z = jackknife(3, mean_without(&[6.0, 4.0, 2.0])).unwrap();
        let w = jackknife(3, mean_without(&[1.0, 3.0, 2.0])).unwrap();
        assert!(x.correlation(&y).unwrap().abs() < 1e-12);
        assert!((x.correlation(&z).unwrap() + 1.0).abs() < 1e-12);
        assert!((x.correlation(&w).unwrap() - 0.5).abs() < 1e-12);
        let flat = jackknife(3, |_| Some(7.0)).unwrap();
        assert_eq!(x.correlation(&flat), None);
    }
}
