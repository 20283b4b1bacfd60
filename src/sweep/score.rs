//! One measure over several scenarios.

use serde::{Deserialize, Serialize};

use super::objective::Goal;

/// How a measure's values in several scenarios become one.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregate {
    /// Their mean by weight.
    Mean,
    /// The worst of them, whatever its weight.
    Worst,
    /// The value that this share of the weight is no better than: `Quantile(0.25)` is the best of
    /// the worst quarter.
    Quantile(f64),
}

impl Aggregate {
    /// Its name before a measure's in columns.
    pub fn name(self) -> String {
        match self {
            Aggregate::Mean => "weighted".into(),
            Aggregate::Worst => "worst".into(),
            Aggregate::Quantile(share) => format!("worst_{}%", share * 100.0),
        }
    }

    /// One value of these, each with its weight; `None` where one has none.
    ///
    /// # Panics
    /// Where there are none.
    pub fn of(self, values: &[(Option<f64>, f64)], goal: Goal) -> Option<f64> {
        let mut known: Vec<(f64, f64)> =
            values.iter().map(|&(value, weight)| Some((value?, weight))).collect::<Option<_>>()?;
        let all: f64 = known.iter().map(|(_, weight)| weight).sum();
        let share = match self {
            Aggregate::Mean => {
                return Some(known.iter().map(|(value, weight)| value * weight).sum::<f64>() / all);
            }
            Aggregate::Worst => 0.0,
            Aggregate::Quantile(share) => share,
        };
        known.sort_by(|(a, _), (b, _)| match goal {
            Goal::Most => a.total_cmp(b),
            Goal::Least => b.total_cmp(a),
        });
        // From the worst on, until the share is reached; the rounding of sums must not pass it.
        let mut passed = 0.0;
        for &(value, weight) in &known {
            passed += weight / all;
            if passed >= share - 1e-9 {
                return Some(value);
            }
        }
        known.last().map(|(value, _)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let values = [(Some(0.9), 1.0), (Some(0.5), 1.0), (Some(0.8), 2.0)];
        assert_eq!(Aggregate::Mean.of(&values, Goal::Most), Some(0.75));
        assert_eq!(Aggregate::Worst.of(&values, Goal::Most), Some(0.5));
        assert_eq!(Aggregate::Worst.of(&values, Goal::Least), Some(0.9));
        // From the worst: 0.5 has a quarter of the weight, 0.8 the next half.
        assert_eq!(Aggregate::Quantile(0.25).of(&values, Goal::Most), Some(0.5));
        assert_eq!(Aggregate::Quantile(0.5).of(&values, Goal::Most), Some(0.8));
        assert_eq!(Aggregate::Quantile(0.75).of(&values, Goal::Most), Some(0.8));
        assert_eq!(Aggregate::Quantile(1.0).of(&values, Goal::Most), Some(0.9));
        assert_eq!(Aggregate::Mean.of(&[(Some(1.0), 1.0), (None, 1.0)], Goal::Most), None);
    }
}
