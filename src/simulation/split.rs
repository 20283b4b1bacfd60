//! How the sessions of one run are divided between policies.

use std::fmt;
use std::str::FromStr;

use windtunnel_policy::Share;

/// Parts of all sessions, such as 95 : 5. A session is in one of them for good, and in the same one
/// whatever the policies do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Split {
    weights: Vec<u32>,
    /// The share of sessions in an arm or one before it.
    up_to: Vec<Share>,
}

/// Parts that do not divide anything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadSplit(&'static str);

impl Split {
    /// All sessions in one arm.
    pub fn whole() -> Split {
        Split { weights: vec![1], up_to: vec![Share::ONE] }
    }

    /// Sessions divided by these weights.
    ///
    /// # Errors
    /// Fewer than two weights, or one of zero.
    pub fn by_weights(weights: &[u32]) -> Result<Split, BadSplit> {
        if weights.len() < 2 {
            return Err(BadSplit("has one part only"));
        }
        if weights.contains(&0) {
            return Err(BadSplit("leaves a policy nothing"));
        }
        let total: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
        let mut sum = 0;
        let up_to = weights.iter().map(|&weight| {
            sum += u64::from(weight);
            Share::ratio(sum, total)
        });
        Ok(Split { up_to: up_to.collect(), weights: weights.to_vec() })
    }

    /// Into how many arms.
    pub fn arms(&self) -> usize {
        self.weights.len()
    }

    /// The share of sessions in the arm at this position.
    ///
    /// # Panics
    /// Where there is no such arm.
    pub fn share(&self, arm: usize) -> f64 {
        let total: u64 = self.weights.iter().map(|&weight| u64::from(weight)).sum();
        f64::from(self.weights[arm]) / total as f64
    }

    /// Whether all is in one arm.
    pub(super) fn is_whole(&self) -> bool {
        self.weights.len() == 1
    }

    /// The arm of a draw.
    pub(super) fn arm(&self, draw: u64) -> usize {
        self.up_to.iter().position(|up_to| up_to.hits(draw)).expect("the last share is one")
    }
}

impl FromStr for Split {
    type Err = BadSplit;

    fn from_str(text: &str) -> Result<Split, BadSplit> {
        let weights = text.split(':').map(|part| part.trim().parse().ok());
        let weights: Option<Vec<u32>> = weights.collect();
        Split::by_weights(&weights.ok_or(BadSplit("is not whole numbers with colons between"))?)
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weights: Vec<String> = self.weights.iter().map(u32::to_string).collect();
        f.write_str(&weights.join(" : "))
    }
}

impl fmt::Display for BadSplit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for BadSplit {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_all() {
        let split: Split = "95:5".parse().unwrap();
        assert_eq!((split.arms(), split.share(0), split.share(1)), (2, 0.95, 0.05));
        assert_eq!(split.to_string(), "95 : 5");
        // Even steps of a 1,024th: those below 0.95 are 0 to 972.
        let draws = (0..1_024_u64).map(|n| n << 54 | n);
        let first = draws.filter(|&draw| split.arm(draw) == 0).count();
        assert_eq!(first, 973);
        assert_eq!(split.arm(u64::MAX), 1);
    }

    #[test]
    fn parts_of_nothing() {
        let problem = |text: &str| text.parse::<Split>().unwrap_err().to_string();
        assert_eq!(problem("95"), "has one part only");
        assert_eq!(problem("95:0"), "leaves a policy nothing");
        for text in ["", "95:", "95%:5%", "-1:5", "9.5:0.5"] {
            assert_eq!(problem(text), "is not whole numbers with colons between");
        }
    }
}
