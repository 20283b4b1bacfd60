//! Which policies of a front noise alone may have put there.

use super::objective::Objective;
use super::summary::{Point, Summary};

impl Summary {
    /// Of these on the front of some objectives, by position: those that some other of them is not clearly
    /// worse than in anything. `None` where nothing has an interval.
    ///
    /// What is known of two is their differences to the base. A gap beyond the sum of both half-widths is
    /// clear whatever they have in common; the base itself has no half-width.
    pub fn not_apart(&self, front: &[usize], wanted: &[usize]) -> Option<Vec<usize>> {
        let half = |point: &Point, at: usize| match point.variant {
            0 => Some(0.0),
            _ => point.differences[at].ci95().map(|(lo, hi)| (hi - lo) / 2.0),
        };
        let known =
            front.iter().all(|&p| wanted.iter().all(|&at| half(&self.points[p], at).is_some()));
        if !known || self.header.worlds < 2 {
            return None;
        }
        let leads = |one: &Point, other: &Point, at: usize| {
            let Objective { goal, .. } = self.header.objectives[at];
            let (a, b) = (one.scores[at].value(), other.scores[at].value());
            let gap = a.zip(b).map_or(0.0, |(a, b)| (a - b).abs());
            let noise = half(one, at).unwrap_or(0.0) + half(other, at).unwrap_or(0.0);
            goal.prefers(a, b) && gap > noise
        };
        let is_apart = |one: usize, other: usize| {
            wanted.iter().any(|&at| leads(&self.points[one], &self.points[other], at))
        };
        let others = |one: usize| front.iter().copied().filter(move |&other| other != one);
        let close =
            front.iter().copied().filter(|&one| others(one).any(|other| !is_apart(one, other)));
        Some(close.collect())
    }

    /// The same of the whole front in words; `None` where all are clear, or nothing can be said.
    pub(super) fn noise(&self, front: &[usize]) -> Option<String> {
        let all: Vec<usize> = (0..self.header.objectives.len()).collect();
        let close = self.not_apart(front, &all)?.len();
        let of = front.len();
        let are = if close == 1 { "is" } else { "are" };
        (close > 0).then(|| {
            format!(
                "{close} of the {of} on the front {are} not clearly better than some other of them in \
                 anything: noise alone may be the reason."
            )
        })
    }
}
