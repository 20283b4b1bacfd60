//! Change points: where a target's failures or its times change, by penalised likelihood.
//!
//! The minutes of a target are cut where that raises the likelihood of what was counted by more
//! than chance would (PELT: Killick, Fearnhead and Eckley 2012, which is exact). It is done twice:
//!
//! - for how many fail and how long the first output takes: failures are binomial within a segment,
//!   the logarithm of the time is normal with one spread;
//! - for what they fail with: kinds are multinomial among the failures.
//!
//! A cut costs what Schwarz's criterion asks for its place and its parameters, twice over for the
//! place: anywhere is a chance to err.

/// What is counted in one minute.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Counted {
    /// Outcomes: the good, then each kind of failure.
    pub(super) outcomes: Vec<u64>,
    /// Times to the first output: how many, the sum of their logarithms, and of the squares.
    pub(super) times: [f64; 3],
}

/// A cut, and what speaks for it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Cut {
    /// Position of the first minute after it.
    pub(super) at: usize,
    /// Twice the gain in log likelihood over no cut here, between the neighbouring cuts.
    pub(super) evidence: f64,
}

/// The cuts of a series, in order, and the least penalty that one of them had to beat.
pub(super) fn cuts(series: &[Counted]) -> (Vec<Cut>, f64) {
    let kinds = series.iter().map(|minute| minute.outcomes.len()).max().unwrap_or(0);
    let sums = Sums::of(series, kinds);
    let each = libm::log(series.len().max(2) as f64);
    // The place, twice; a share that fails and a mean time.
    let penalty = 4.0 * each;
    let mut ends = best(series.len(), penalty, |from, to| sums.level(from, to));
    ends.extend(best(series.len(), (kinds as f64 + 1.0) * each, |from, to| sums.mix(from, to)));
    ends.sort_unstable();
    ends.dedup();
    let bounds: Vec<usize> = [0].into_iter().chain(ends).chain([series.len()]).collect();
    let cost = |from, to| sums.level(from, to) + sums.mix(from, to);
    let cut = |at: &[usize]| {
        let (from, middle, to) = (at[0], at[1], at[2]);
        let apart = cost(from, middle) + cost(middle, to);
        Cut { at: middle, evidence: cost(from, to) - apart }
    };
    (bounds.windows(3).map(cut).collect(), penalty)
}

/// The places to cut: the best ones, where the series is no longer than a day. A longer one is cut day by
/// day, for the time that takes grows with the square of the length; then the best are chosen of all those
/// places and of midnights, and a midnight that stays is moved to where it is best.
fn best(length: usize, penalty: f64, cost: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    if length <= DAY {
        return pelt(length, penalty, cost);
    }
    let mut places = vec![0];
    for from in (0..length).step_by(DAY) {
        let to = (from + DAY).min(length);
        let within = pelt(to - from, penalty, |a, b| cost(from + a, from + b));
        places.extend(within.into_iter().map(|at| from + at).chain([to]));
    }
    let chosen = pelt(places.len() - 1, penalty, |a, b| cost(places[a], places[b]));
    let mut cuts: Vec<usize> = chosen.into_iter().map(|place| places[place]).collect();
    for i in (0..cuts.len()).filter(|&i| cuts[i].is_multiple_of(DAY)).collect::<Vec<_>>() {
        let before = i.checked_sub(1).map_or(0, |i| cuts[i]);
        let after = cuts.get(i + 1).map_or(length, |&next| next);
        let apart = |&at: &usize| cost(before, at) + cost(at, after);
        let moved = (before + 1..after).min_by(|a, b| apart(a).total_cmp(&apart(b)));
        cuts[i] = moved.unwrap_or(cuts[i]);
    }
    cuts
}

/// Minutes.
const DAY: usize = 1_440;

/// The best places to cut, ascending.
fn pelt(length: usize, penalty: f64, cost_of: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    let mut best = vec![-penalty];
    let mut before = vec![0];
    let mut open = vec![0_usize];
    for end in 1..=length {
        let cost = |&start: &usize| best[start] + cost_of(start, end);
        let costs: Vec<f64> = open.iter().map(cost).collect();
        let (mut least, mut from) = (f64::INFINITY, 0);
        for (&start, &cost) in open.iter().zip(&costs) {
            if cost + penalty < least {
                (least, from) = (cost + penalty, start);
            }
        }
        best.push(least);
        before.push(from);
        let mut costs = costs.into_iter();
        open.retain(|_| costs.next().is_some_and(|cost| cost <= least));
        open.push(end);
    }
    let mut cuts = Vec::new();
    let mut at = before[length];
    while at > 0 {
        cuts.push(at);
        at = before[at];
    }
    cuts.reverse();
    cuts
}

/// Sums from the start, so that those of any stretch are a subtraction.
struct Sums {
    outcomes: Vec<Vec<f64>>,
    times: Vec<[f64; 3]>,
    /// Variance of the logarithms within a minute.
    variance: f64,
}

impl Sums {
    fn of(series: &[Counted], kinds: usize) -> Sums {
        let mut outcomes = vec![vec![0.0; kinds]];
        let mut times = vec![[0.0; 3]];
        let (mut within, mut degrees) = (0.0, 0.0);
        for (i, minute) in series.iter().enumerate() {
            let mut sum = outcomes[i].clone();
            for (sum, &count) in sum.iter_mut().zip(&minute.outcomes) {
                *sum += count as f64;
            }
            outcomes.push(sum);
            let [n, x, xx] = minute.times;
            times.push([times[i][0] + n, times[i][1] + x, times[i][2] + xx]);
            if n > 1.0 {
                within += xx - x * x / n;
                degrees += n - 1.0;
            }
        }
        // Times that never vary would make a cut of every rounding.
        let variance = if degrees > 0.0 { f64::max(within / degrees, 1e-4) } else { 1.0 };
        Sums { outcomes, times, variance }
    }

    fn counts(&self, from: usize, to: usize) -> impl Iterator<Item = f64> {
        self.outcomes[to].iter().zip(&self.outcomes[from]).map(|(to, from)| to - from)
    }

    /// Minus twice the log likelihood of how many fail and how long they take, at the stretch's own
    /// best parameters, but for what no cut changes.
    fn level(&self, from: usize, to: usize) -> f64 {
        let good = self.counts(from, to).next().unwrap_or(0.0);
        let failed: f64 = self.counts(from, to).skip(1).sum();
        let [n, x, _] = [0, 1, 2].map(|i| self.times[to][i] - self.times[from][i]);
        let explained = if n > 0.0 { x * x / n / self.variance } else { 0.0 };
        -2.0 * log_likelihood([good, failed].into_iter()) - explained
    }

    /// The same of what they fail with.
    fn mix(&self, from: usize, to: usize) -> f64 {
        -2.0 * log_likelihood(self.counts(from, to).skip(1))
    }
}

/// Of counts at their own shares.
fn log_likelihood(counts: impl Iterator<Item = f64>) -> f64 {
    let (mut all, mut sum) = (0.0, 0.0);
    for count in counts.filter(|&count| count > 0.0) {
        all += count;
        sum += count * libm::log(count);
    }
    if all > 0.0 { sum - all * libm::log(all) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minute(good: u64, bad: u64) -> Counted {
        Counted { outcomes: vec![good, bad], times: [0.0; 3] }
    }

    #[test]
    fn a_change_of_the_rate_is_found_where_it_is() {
        let series: Vec<Counted> = (0..60)
            .map(|i| if (20..40).contains(&i) { minute(75, 25) } else { minute(99, 1) })
            .collect();
        let (cuts, penalty) = cuts(&series);
        assert_eq!(cuts.iter().map(|cut| cut.at).collect::<Vec<_>>(), [20, 40]);
        assert!(cuts.iter().all(|cut| cut.evidence > penalty));
    }

    #[test]
    fn many_days_are_cut_where_few_are() {
        // Three days: bad from the second's last hour to ten minutes into the third, and once in the first.
        let bad = |i: usize| (2 * DAY - 60..2 * DAY + 10).contains(&i) || (700..730).contains(&i);
        let series: Vec<Counted> =
            (0..3 * DAY + 100)
                .map(|i| {
                    if bad(i) {
                        minute(80, 20)
                    } else {
                        minute(98 + i as u64 % 3, 2 - i as u64 % 2)
                    }
                })
                .collect();
        let found: Vec<usize> = cuts(&series).0.iter().map(|cut| cut.at).collect();
        assert_eq!(found, [700, 730, 2 * DAY - 60, 2 * DAY + 10]);
    }

    #[test]
    fn a_change_close_to_midnight_is_found_where_it_is() {
        // Ten minutes tell too little of a change of this size by themselves.
        let series: Vec<Counted> =
            (0..2 * DAY).map(|i| if i < DAY + 4 { minute(99, 1) } else { minute(97, 3) }).collect();
        let found: Vec<usize> = cuts(&series).0.iter().map(|cut| cut.at).collect();
        assert_eq!(found, [DAY + 4]);
    }

    #[test]
    fn one_bad_minute_is_found_and_chance_is_not() {
        let mut series: Vec<Counted> = (0..200).map(|i| minute(98 + i % 3, 2 - i % 2)).collect();
        assert_eq!(cuts(&series).0, []);
        series[77] = minute(0, 100);
        let found: Vec<usize> = cuts(&series).0.iter().map(|cut| cut.at).collect();
        assert_eq!(found, [77, 78]);
    }

    #[test]
    fn a_change_of_the_mix_alone_is_found() {
        let minute = |i: u64| {
            let outcomes = if i < 25 { vec![90, 8, 2] } else { vec![90, 2, 8] };
            Counted { outcomes, times: [0.0; 3] }
        };
        let series: Vec<Counted> = (0..60).map(minute).collect();
        assert_eq!(cuts(&series).0.iter().map(|cut| cut.at).collect::<Vec<_>>(), [25]);
    }

    #[test]
    fn a_change_of_the_times_alone_is_found() {
        let slow = |i: u64| {
            let mean = if i < 30 { 0.0 } else { 0.5 };
            // Fifty times half of which lie 0.3 below the mean and half above.
            Counted { outcomes: vec![50], times: [50.0, 50.0 * mean, 50.0 * (mean * mean + 0.09)] }
        };
        let series: Vec<Counted> = (0..60).map(slow).collect();
        assert_eq!(cuts(&series).0.iter().map(|cut| cut.at).collect::<Vec<_>>(), [30]);
    }
}
