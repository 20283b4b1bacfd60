//! By when a class needs its answers. Few logs say so, but many show it: requests that were given up
//! pile up at a limit, and hardly any lasts longer.

use windtunnel_policy::outcome::FailureClass;

use super::cells::Cells;
use super::files::us;
use crate::log::{End, Request};

/// The limits on time of a class, from the arrival of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Deadlines {
    pub(super) first_output: Option<Limit>,
    pub(super) total: Option<Limit>,
}

impl Deadlines {
    /// As lines of a scenario's class, with what says so.
    pub(super) fn lines(&self) -> Vec<String> {
        let named = self.named().map(|(name, Limit { us: at, given_up })| match given_up {
            Some(count) => format!("      {name}: {} # {count} were given up then", us(at)),
            None => format!("      {name}: {} # the log says so", us(at)),
        });
        let named: Vec<String> = named.collect();
        if named.is_empty() {
            let words = "    # no deadline is seen in the log: 600s is assumed, as long as official clients wait";
            return vec![words.into()];
        }
        ["    deadline:".to_owned()].into_iter().chain(named).collect()
    }

    /// What of them is not said by the log, of a class whose longest request took so many µs.
    pub(super) fn said(&self, class: &str, longest_us: u64) -> Vec<String> {
        if self.named().next().is_none() {
            let longest = us(longest_us);
            return vec![format!(
                "class {class}: no deadline is seen (the longest request took {longest}): 600s is assumed"
            )];
        }
        let taken = self.named().filter_map(|(name, limit)| {
            let (at, count) = (us(limit.us), limit.given_up?);
            let of = if name == "total" { "the end" } else { "its first output" };
            Some(format!(
                "class {class}: {count} requests were given up {at} after they came, and hardly any waited longer for {of}: that is taken for the product's limit, which binds every policy; if it is a time limit of the policy in force, take `{name}` out of the scenario's `deadline` and give the scenario with `--world`"
            ))
        });
        taken.collect()
    }

    fn named(&self) -> impl Iterator<Item = (&'static str, Limit)> {
        let limits = [("first_output", self.first_output), ("total", self.total)];
        limits.into_iter().filter_map(|(name, limit)| Some((name, limit?)))
    }
}

/// One of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Limit {
    pub(super) us: u64,
    /// Requests given up at it, from which it is taken; none where the log says it.
    pub(super) given_up: Option<u64>,
}

/// What is kept of the times of requests, from their arrival in µs.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Times {
    /// What the log says of the deadline, and whether answers went on beyond it: then it is one for the
    /// first output.
    stated: Option<u64>,
    /// The same where it says which is which: on the first output, and on the whole.
    told: [Option<u64>; 2],
    answered_after: bool,
    /// To the first output.
    first_output: Cells,
    /// To the end, of all that were not left by their caller.
    ended: Cells,
    /// To the end, of those given up before any output, and of all that were given up.
    silent: Cells,
    given_up: Cells,
}

/// So many at least, for a pile.
const LEAST: u64 = 10;
/// A pile is so many times as high as all that lies below it within a tenth of its time …
const WALL: u64 = 3;
/// … which are so many cells, and so many times as high as all that lies beyond it.
const TENTH: u16 = 7;
const CLIFF: u64 = 20;

impl Times {
    pub(super) fn take(&mut self, request: &Request) {
        let took = request.closed_us - request.arrived_us;
        if let Some(deadline) = request.deadline_us {
            self.stated = self.stated.max(Some(deadline));
            self.answered_after |= request.end == End::Answered && took > deadline + 1_000;
        }
        for (told, limit) in self.told.iter_mut().zip(request.limits_us) {
            *told = (*told).max(limit);
        }
        let outputs = request.attempts.iter().filter_map(|attempt| attempt.first_us);
        let first = outputs.min();
        if let Some(first) = first {
            self.first_output.add(first.saturating_sub(request.arrived_us));
        }
        if request.end == End::Cancelled {
            return;
        }
        self.ended.add(took);
        let cut = request.attempts.last().is_some_and(|attempt| {
            let late = [FailureClass::Timeout, FailureClass::DeadlineExhausted];
            attempt.cancelled || attempt.failure.is_some_and(|failure| late.contains(&failure))
        });
        if request.end == End::Failed && cut {
            self.given_up.add(took);
            if first.is_none() {
                self.silent.add(took);
            }
        }
    }

    /// How long requests took that their caller did not leave, µs.
    pub(super) fn stayed(&self) -> &Cells {
        &self.ended
    }

    /// The limits that these times show.
    pub(super) fn deadlines(&self) -> Deadlines {
        let said = |us: Option<u64>| us.map(|us| Limit { us, given_up: None });
        if self.told != [None; 2] {
            let [first_output, total] = self.told.map(said);
            return Deadlines { first_output, total };
        }
        let stated = said(self.stated);
        let total = pile(&self.given_up, &self.ended);
        let mut spoken_by = self.first_output.clone();
        spoken_by.merge(&self.silent, 1);
        let first_output = pile(&self.silent, &spoken_by)
            .filter(|first| total.is_none_or(|total| first.us < total.us - total.us / 50))
            .filter(|_| self.first_output.total() > 0);
        match stated {
            // Answers went on beyond it: what piles up there is no limit on the whole.
            Some(first) if self.answered_after => {
                let total = total.filter(|total| total.us > first.us);
                Deadlines { first_output: stated, total }
            }
            Some(_) => Deadlines { first_output: None, total: stated },
            None => Deadlines { first_output, total },
        }
    }
}

/// The latest time at which `given_up` piles up, where hardly any of `all` lasts longer.
fn pile(given_up: &Cells, all: &Cells) -> Option<Limit> {
    let cells: Vec<_> = given_up.iter().collect();
    let within = |from: u16, to: u16| -> u64 {
        let cells = cells.iter().filter(|(position, _)| (from..=to).contains(position));
        cells.map(|(_, cell)| cell.count).sum()
    };
    cells.iter().rev().find_map(|&(top, cell)| {
        // A limit may lie on the border of two cells.
        let count = within(top.saturating_sub(1), top);
        let below = within(top.saturating_sub(1 + TENTH), top.saturating_sub(2));
        let beyond = all.iter().filter(|&(position, _)| position > top + 1);
        let beyond: u64 = beyond.map(|(_, cell)| cell.count).sum();
        let is_pile = count >= LEAST && count >= WALL * below && count >= CLIFF * beyond;
        is_pile.then_some(Limit { us: cell.mean(), given_up: Some(count) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000;

    /// So many at each of these times, in seconds.
    fn cells(times: impl IntoIterator<Item = (f64, u64)>) -> Cells {
        let mut cells = Cells::default();
        times.into_iter().for_each(|(s, n)| cells.add_times((s * 1e6) as u64, n));
        cells
    }

    #[test]
    fn what_is_given_up_at_a_limit_piles_up_there() {
        let answered = cells((1..300).map(|tenth| (f64::from(tenth) / 10.0, 4)));
        let given_up = cells([(12.0, 3), (30.0, 40)]);
        let mut all = answered.clone();
        all.merge(&given_up, 1);
        let wanted = Limit { us: 30 * SECOND, given_up: Some(40) };
        assert_eq!(pile(&given_up, &all), Some(wanted));
        // One that was noticed late does not hide it; as many beyond as at it do.
        all.add(47 * SECOND);
        assert_eq!(pile(&given_up, &all), Some(wanted));
        all.add_times(45 * SECOND, 40);
        assert_eq!(pile(&given_up, &all), None);
    }

    /// Requests that are given up at the limit on the first output pile up there, and few answers last longer.
    #[test]
    fn one_limit_is_not_taken_for_two() {
        let times = Times {
            stated: Some(12 * SECOND),
            answered_after: true,
            ended: cells([(2.0, 500), (12.0, 40), (14.0, 1)]),
            given_up: cells([(12.0, 40)]),
            ..Times::default()
        };
        let stated = Some(Limit { us: 12 * SECOND, given_up: None });
        assert_eq!(times.deadlines(), Deadlines { first_output: stated, total: None });
    }

    #[test]
    fn a_tail_is_no_pile() {
        let tail = cells((10..60_u32).map(|half| (f64::from(half) / 2.0, 600 / u64::from(half))));
        assert_eq!(pile(&tail, &tail), None);
        let few = cells([(30.0, LEAST - 1)]);
        assert_eq!(pile(&few, &few), None);
    }
}
