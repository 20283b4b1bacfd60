//! Differences between two policies that met the same worlds.

use super::{Jackknife, Note, Sample, jackknife};

/// Policy B less policy A, on the same worlds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// In the measure's unit; `None` where either has no value.
    pub difference: Option<f64>,
    /// The 95 % interval of the difference, over pairs of worlds.
    pub ci95: Option<(f64, f64)>,
    /// How far the two move together over worlds: what pairing gains.
    pub correlation: Option<f64>,
    /// Whether the difference stands out; `None` without an interval.
    pub verdict: Option<Verdict>,
    /// Why something is missing.
    pub note: Option<Note>,
}

/// How a difference reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The interval leaves zero out.
    Clear,
    /// The interval holds zero.
    Noise,
    /// The same number, whichever world is left out.
    Identical,
}

/// The paired difference `b - a` by jackknife over worlds.
///
/// Worlds in which both did the same give exactly zero with no width.
///
/// # Panics
/// Where the numbers of worlds differ: paired policies run on the same worlds.
pub fn paired(a: &Sample<'_>, b: &Sample<'_>) -> Paired {
    assert_eq!(a.worlds(), b.worlds(), "paired on the same worlds");
    let bare =
        Paired { difference: None, ci95: None, correlation: None, verdict: None, note: None };
    let difference = match (b.value(), a.value()) {
        (Ok(b), Ok(a)) => b - a,
        (Err(note), _) | (_, Err(note)) => return Paired { note: Some(note), ..bare },
    };
    let both = jackknife(a.worlds(), |excluded| a.pooled(excluded))
        .and_then(|a| Ok((a, jackknife(b.worlds(), |excluded| b.pooled(excluded))?)));
    match both {
        Ok((x, y)) => judge(&x, &y, libm::hypot(a.grain(), b.grain())),
        Err(note) => Paired { difference: Some(difference), note: Some(note), ..bare },
    }
}

fn judge(a: &Jackknife, b: &Jackknife, grain: f64) -> Paired {
    let difference = b.combine(a, |b, a| b - a);
    // Whoever did the same in every world did exactly the same, however it is read.
    let (lo, hi) = difference.interval(if a == b { 0.0 } else { grain });
    let verdict = if a == b {
        Verdict::Identical
    } else if lo > 0.0 || hi < 0.0 {
        Verdict::Clear
    } else {
        Verdict::Noise
    };
    Paired {
        difference: Some(difference.value),
        ci95: Some((lo, hi)),
        correlation: a.correlation(b),
        verdict: Some(verdict),
        note: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Hits;
    use super::*;

    #[test]
    fn pairing_by_hand() {
        // Equal denominators: the difference is that of means, -1, -2, -3 per 10
        // requests: mean -0.2, s = 0.1, standard error 0.1/√3.
        let hits =
            |hits: [u64; 3]| Sample::proportion(hits.map(|hits| Hits { hits, of: 10 }).to_vec());
        let got = paired(&hits([9, 8, 7]), &hits([8, 6, 4]));
        let (lo, hi) = got.ci95.unwrap();
        assert!((got.difference.unwrap() + 0.2).abs() < 1e-12);
        assert!((hi - lo - 0.2 * 4.302_652_73 / 3_f64.sqrt()).abs() < 1e-8);
        assert_eq!(got.verdict, Some(Verdict::Noise));
        assert!((got.correlation.unwrap() - 1.0).abs() < 1e-12);
        let clear = paired(&hits([9, 8, 7]), &hits([5, 4, 3]));
        assert_eq!(clear.verdict, Some(Verdict::Clear));
    }

    #[test]
    fn no_interval_no_verdict() {
        let one = |hits| Sample::proportion(vec![Hits { hits, of: 10 }]);
        let got = paired(&one(9), &one(7));
        assert!((got.difference.unwrap() + 0.2).abs() < 1e-12);
        assert_eq!((got.ci95, got.verdict, got.note), (None, None, Some(Note::OneWorld)));
        let lost = Sample::quantile(0.5, vec![Hits { hits: 9, of: 10 }], |_| None);
        let got = paired(&lost, &one(7));
        assert_eq!((got.difference, got.note), (None, Some(Note::Unanswered)));
    }
}
