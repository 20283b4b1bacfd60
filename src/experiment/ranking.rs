//! Who answers more, and whether that holds however far failures stick.

use super::{Experiment, PolicyRuns, Setting};
use crate::measures::{Catalogue, Runs};
use crate::stats::{Estimate, Sample, Verdict, paired};

/// The smallest gap in success that puts a policy ahead.
const LEAST: f64 = 1e-4;

/// Success of every policy at every stickiness, and what can be said of each pair.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// By policy, in the order given; by setting, in the order of [`Setting::ALL`].
    pub success: Vec<[Estimate; 3]>,
    /// Worlds the policies ran in, by setting, in the order of [`Setting::ALL`].
    pub worlds: [usize; 3],
    /// Every pair of policies, in the order given.
    pub pairs: Vec<Pair>,
}

/// Two policies, by position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The earlier one.
    pub first: usize,
    /// The later one.
    pub second: usize,
    /// Which answers more, by setting, in the order of [`Setting::ALL`].
    pub ahead: [Ahead; 3],
}

/// Which of two policies answers more requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ahead {
    /// The earlier one.
    First,
    /// The later one.
    Second,
    /// Neither: it cannot be told, or the gap is below 0.01 percentage points.
    Neither,
}

/// What a pair's order rests on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Identified {
    /// The same at every stickiness.
    Yes,
    /// One is ahead at some, neither at others.
    InPart,
    /// Each is ahead somewhere.
    No,
}

impl Identified {
    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Identified::Yes => "yes",
            Identified::InPart => "in part",
            Identified::No => "no",
        }
    }
}

impl Ahead {
    /// The policy ahead, of the two at these positions.
    pub fn of(self, first: usize, second: usize) -> Option<usize> {
        match self {
            Ahead::First => Some(first),
            Ahead::Second => Some(second),
            Ahead::Neither => None,
        }
    }
}

impl Ranking {
    /// The ranking by success; `None` where the extremes were not run, or there is one policy.
    pub(super) fn of(experiment: &Experiment, catalogue: &Catalogue) -> Option<Ranking> {
        let success = catalogue.find("success").expect("success is always measured");
        let policies = experiment.policies.len();
        if policies < 2 {
            return None;
        }
        let mut samples: Vec<Vec<Sample<'static>>> = Vec::new();
        let mut estimates = Vec::new();
        let worlds = |setting| experiment.at(setting).map(|policies| policies[0].worlds.len());
        for setting in Setting::ALL {
            let read = |p: &PolicyRuns| success.read(&Runs::counts(&p.worlds));
            let readings = experiment.at(setting)?.iter().map(read);
            let (of_policies, figures): (Vec<_>, Vec<_>) = readings
                .map(|r| (r.sample.expect("success is always modelled"), r.estimate))
                .unzip();
            samples.push(of_policies);
            estimates.push(figures);
        }
        let by_policy = |p: usize| [estimates[0][p], estimates[1][p], estimates[2][p]];
        let pair = |first: usize, second: usize| Pair {
            first,
            second,
            ahead: [0, 1, 2].map(|s| ahead(&samples[s][first], &samples[s][second])),
        };
        let pairs = (0..policies)
            .flat_map(|first| (first + 1..policies).map(move |second| (first, second)));
        Some(Ranking {
            success: (0..policies).map(by_policy).collect(),
            worlds: Setting::ALL.map(|setting| worlds(setting).unwrap_or(0)),
            pairs: pairs.map(|(first, second)| pair(first, second)).collect(),
        })
    }
}

impl Pair {
    /// True where neither is ahead at any stickiness.
    pub fn is_level(&self) -> bool {
        self.ahead.iter().all(|&ahead| ahead == Ahead::Neither)
    }

    /// What its order rests on.
    pub fn identified(&self) -> Identified {
        let anywhere = |ahead| self.ahead.contains(&ahead);
        match (anywhere(Ahead::First), anywhere(Ahead::Second), anywhere(Ahead::Neither)) {
            (true, true, _) => Identified::No,
            (false, false, _) | (_, _, false) => Identified::Yes,
            (_, _, true) => Identified::InPart,
        }
    }
}

/// Without an interval (one world) the figures themselves are compared.
fn ahead(first: &Sample<'_>, second: &Sample<'_>) -> Ahead {
    let gain = paired(first, second);
    match (gain.verdict, gain.difference) {
        (Some(Verdict::Noise | Verdict::Identical), _) | (_, None) => Ahead::Neither,
        (Some(Verdict::Clear) | None, Some(difference)) if difference >= LEAST => Ahead::Second,
        (Some(Verdict::Clear) | None, Some(difference)) if difference <= -LEAST => Ahead::First,
        (_, Some(_)) => Ahead::Neither,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_order_rests_on() {
        use Ahead::{First, Neither, Second};
        let identified = |ahead| Pair { first: 0, second: 1, ahead }.identified();
        assert_eq!(identified([First, First, First]), Identified::Yes);
        assert_eq!(identified([Neither, Neither, Neither]), Identified::Yes);
        assert_eq!(identified([Second, Second, Neither]), Identified::InPart);
        assert_eq!(identified([First, Neither, Second]), Identified::No);
        assert_eq!(identified([First, First, Second]), Identified::No);
    }
}
