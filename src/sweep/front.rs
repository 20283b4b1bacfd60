//! The Pareto front: what nothing else beats in every objective.

use super::objective::Objective;
use crate::stats::level;

/// Positions of the points that no other point beats: as good in every objective, and better in
/// one. Sorted by the first objective, the best first; of equal points the earliest stands for all.
///
/// A point without a value in some objective is not in it. Values that differ by rounding only are equal.
pub fn front(points: &[Vec<Option<f64>>], objectives: &[Objective]) -> Vec<usize> {
    let points = &without_dust(points, objectives.len());
    let whole = |&i: &usize| points[i].iter().all(Option::is_some);
    let mut order: Vec<usize> = (0..points.len()).filter(whole).collect();
    // What beats a point stands before it in this order, so that looking back is enough.
    order.sort_by(|&a, &b| {
        let by_objective = objectives.iter().enumerate().map(|(at, objective)| {
            let (a, b) = (points[a][at], points[b][at]);
            match (objective.goal.prefers(a, b), objective.goal.prefers(b, a)) {
                (true, _) => std::cmp::Ordering::Less,
                (_, true) => std::cmp::Ordering::Greater,
                _ => std::cmp::Ordering::Equal,
            }
        });
        by_objective
            .fold(std::cmp::Ordering::Equal, |so_far, next| so_far.then(next))
            .then(a.cmp(&b))
    });
    let mut kept: Vec<usize> = Vec::new();
    for candidate in order {
        let as_good = |&other: &usize| {
            objectives.iter().enumerate().all(|(at, objective)| {
                !objective.goal.prefers(points[candidate][at], points[other][at])
            })
        };
        if !kept.iter().any(as_good) {
            kept.push(candidate);
        }
    }
    kept
}

/// The points, with one value in place of all that are level with it.
fn without_dust(points: &[Vec<Option<f64>>], objectives: usize) -> Vec<Vec<Option<f64>>> {
    let mut points = points.to_vec();
    for at in 0..objectives {
        let mut values: Vec<&mut f64> =
            points.iter_mut().filter_map(|point| point[at].as_mut()).collect();
        values.sort_by(|a, b| a.total_cmp(b));
        let mut first: Option<f64> = None;
        for value in values {
            match first.filter(|first| level(*first, *value)) {
                Some(same) => *value = same,
                None => first = Some(*value),
            }
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::objective::Goal;
    use super::*;

    fn objectives() -> Vec<Objective> {
        let objective = |measure: &str, goal| Objective { measure: measure.into(), goal };
        vec![objective("success", Goal::Most), objective("cost", Goal::Least)]
    }

    fn points(points: &[(f64, f64)]) -> Vec<Vec<Option<f64>>> {
        points.iter().map(|&(a, b)| vec![Some(a), Some(b)]).collect()
    }

    #[test]
    fn by_hand() {
        let all =
            points(&[(0.9, 5.0), (0.99, 7.0), (0.95, 8.0), (0.8, 4.0), (0.99, 7.0), (0.7, 4.0)]);
        // 2 costs more than 1 and answers less; 4 is 1 again; 5 answers less than 3 at its cost.
        assert_eq!(front(&all, &objectives()), [1, 0, 3]);
        // What sums lose in rounding is no lower cost: the answers decide.
        let dust = points(&[(1.0, 0.0028), (0.78, 0.002_799_999_999_999_999_5), (1.0, 0.0028)]);
        assert_eq!(front(&dust, &objectives()), [0]);
        let gap = vec![vec![Some(1.0), None], vec![Some(0.5), Some(9.0)]];
        assert_eq!(front(&gap, &objectives()), [1]);
    }

    proptest! {
        #[test]
        fn it_is_what_nothing_beats(all in prop::collection::vec((0_u8..12, 0_u8..12), 1..60)) {
            let all: Vec<(f64, f64)> = all.iter().map(|&(a, b)| (a.into(), b.into())).collect();
            let kept = front(&points(&all), &objectives());
            for (i, &(success, cost)) in all.iter().enumerate() {
                let beaten = all.iter().any(|&(s, c)| {
                    s >= success && c <= cost && (s > success || c < cost)
                });
                let first = all[..i].iter().all(|point| *point != (success, cost));
                prop_assert_eq!(kept.contains(&i), !beaten && first, "{}", i);
            }
        }
    }
}
