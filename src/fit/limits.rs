//! Rate limits: whether one tells the attempts that were refused from those that were let in, and which.
//!
//! A limit of a kind (what it counts, over which window, how it comes back) and a size is replayed over the
//! attempts as they were: what was let in is taken from it, and it says of each next attempt whether there
//! is room. The limit that errs least is found; it counts only where nearly all that it would have refused
//! was refused, and where it also explains how refusals began. What comes whatever the load is weather.

mod hints;
mod replay;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use windtunnel_policy::{Duration, Share};

use super::at_target::AtTarget;
use super::evidence::MINUTE_US;
use super::sends::{Refused, Sent};
use super::tries::Try;
use crate::scenario::{Charge, LimitScope, LimitSpec, Settlement};
pub(super) use hints::{HintFit, Hints};
use replay::{Kind, Told, replay};

/// Fewer refusals show no limit.
const LEAST_REFUSED: usize = 10;
/// Of the attempts that a limit would have refused, so many were.
const LEAST_RIGHT: f64 = 0.8;
/// Of the refusals, and of their beginnings, so many are explained.
const LEAST_EXPLAINED: f64 = 0.5;
/// Only what is so close to a refusal is looked at for the limit's size.
const AROUND_US: u64 = 5 * MINUTE_US;
/// Attempts that are looked at so, at most, from the first on: they are gone over thousands of times.
const MOST_AROUND: usize = 200_000;
/// Parts of a size by which closer looks go about it, and their steps either way.
const CLOSER: [f64; 2] = [0.05, 0.005];
const STEPS: u32 = 16;
/// Standard errors by which kinds or sizes must differ in what they get wrong.
const CLEAR: f64 = 1.96;

/// What a target's refusals say of a limit.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Limits {
    /// Nothing was refused for its rate.
    NoneRefused,
    /// No limit explains what was refused.
    NotExplained,
    /// This one does.
    Found(LimitFit),
}

/// A limit, and what speaks for it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct LimitFit {
    kind: Kind,
    pub(super) limit: u64,
    /// Others between these err hardly more.
    pub(super) between: (u64, u64),
    /// Refusals, those it explains, and what it would have refused that was let in.
    pub(super) refused: u64,
    pub(super) explained: u64,
    pub(super) mistaken: u64,
    /// Kinds of limits that err hardly more.
    pub(super) or: Vec<String>,
    pub(super) hints: HintFit,
}

impl LimitFit {
    /// As a card holds it. Who else shares it is not known.
    pub(super) fn spec(&self) -> LimitSpec {
        LimitSpec {
            scope: LimitScope::Deployment,
            unit: self.kind.unit,
            limit: self.limit,
            window: Duration::from_micros(self.kind.window_us),
            refill: self.kind.refill,
            charge: match self.kind.max_output {
                0 => Charge::Prompt,
                _ => Charge::PromptAndMax,
            },
            settlement: Settlement::None,
            retry_after: self.hints.form,
            charge_refused: self.kind.charges_refused,
            background: Share::ZERO,
        }
    }

    /// What callers allow to be answered, where that is charged.
    pub(super) fn max_output(&self) -> Option<u32> {
        Some(self.kind.max_output).filter(|most| *most > 0)
    }

    /// In words: `300 requests in 60 s, coming back continuously`.
    pub(super) fn words(&self) -> String {
        format!("{} {}", self.limit, self.kind.words())
    }

    /// What speaks for it, in words.
    pub(super) fn evidence(&self) -> String {
        format!(
            "{} to {} err hardly more; explains {} of {} refusals, and would have refused {} that were let in",
            self.between.0, self.between.1, self.explained, self.refused, self.mistaken
        )
    }
}

impl Limits {
    /// The limit on a rate that explains what was refused for it, of attempts in the order they were sent.
    pub(super) fn on_rate<I: Iterator<Item = Sent>>(
        sends: impl Fn() -> I,
        hints: &Hints,
    ) -> Limits {
        Limits::of(Kind::rates(), sends, hints)
    }

    /// The number of places at one time that explains what was refused for overload.
    pub(super) fn on_places<I: Iterator<Item = Sent>>(sends: impl Fn() -> I) -> Limits {
        Limits::of(std::iter::once(Kind::PLACES), sends, &Hints::default())
    }

    fn of<I: Iterator<Item = Sent>>(
        kinds: impl Iterator<Item = Kind> + Clone,
        sends: impl Fn() -> I,
        hints: &Hints,
    ) -> Limits {
        let Some(why) = kinds.clone().next().map(|kind| kind.refuses_for()) else {
            return Limits::NotExplained;
        };
        match sends().filter(|send| send.refused == Some(why)).count() {
            0 => return Limits::NoneRefused,
            refused if refused < LEAST_REFUSED => return Limits::NotExplained,
            _ => {}
        }
        let around = around(&sends, why);
        let longest = sends().map(|send| send.output).max().unwrap_or(0);
        let met: Vec<(Kind, u64, u64)> = kinds
            .filter(|kind| kind.allows(longest))
            .filter_map(|kind| {
                let size = meeting(kind, &around)?;
                Some((kind, size, errors(kind, size, &around)))
            })
            .collect();
        let least = met.iter().map(|(.., errors)| *errors).min().unwrap_or(0);
        // What errs far more there is not worth a closer look.
        let near = met.iter().filter(|(.., errors)| *errors <= 3 * least + LEAST_REFUSED as u64);
        let mut sized: Vec<(Kind, Sized)> =
            near.map(|&(kind, size, _)| (kind, Sized::near(kind, size, &around))).collect();
        // Of kinds that err alike, the first is the commonest.
        let least = sized.iter().map(|(_, sized)| sized.errors).min().unwrap_or(0);
        sized.retain(|(_, sized)| sized.errors <= hardly_more(least));
        let Some(&(kind, Sized { limit, between, .. })) = sized.first() else {
            return Limits::NotExplained;
        };
        let told = replay(kind, limit, sends(), |_, _| ());
        if !told.holds() {
            return Limits::NotExplained;
        }
        let or = sized[1..].iter().map(|(kind, of)| format!("{} {}", of.limit, kind.words()));
        Limits::Found(LimitFit {
            kind,
            limit,
            between,
            refused: told.refused,
            explained: told.explained,
            mistaken: told.mistaken,
            or: or.collect(),
            hints: hints.fit(kind, limit, sends()),
        })
    }

    /// What was counted at a target, less what a limit explains: that is no weather, and whether it comes
    /// again says nothing of what sticks. None where it explains nothing.
    pub(super) fn without_explained(
        &self,
        target: &AtTarget,
        sends: impl Iterator<Item = Sent>,
    ) -> Option<AtTarget> {
        let Limits::Found(found) = self else { return None };
        let mut target = target.clone();
        replay(found.kind, found.limit, sends, |send, wait| {
            let minute = target.minutes.get_mut(&(send.at_us / MINUTE_US));
            if let (true, Some(outcome), Some(minute)) =
                (found.kind.refused(send) && wait.is_some(), send.outcome, minute)
            {
                minute.outcomes[usize::from(outcome)] -= 1;
            }
        });
        for minute in target.minutes.values_mut() {
            let why = usize::from(found.kind.refuses_for() == Refused::Overloaded);
            let [tried, failed] = std::mem::take(&mut minute.again_refused[why]);
            minute.again = [minute.again[0] - tried, minute.again[1] - failed];
        }
        Some(target)
    }

    /// First tries whose refusal it explains, ascending.
    pub(super) fn explained(&self, sends: impl Iterator<Item = Sent>) -> Vec<Try> {
        let mut explained = Vec::new();
        if let Limits::Found(found) = self {
            replay(found.kind, found.limit, sends, |send, wait| {
                let counts = found.kind.refused(send) && wait.is_some();
                explained.extend(Try::of(send).filter(|_| counts));
            });
        }
        explained
    }
}

/// The most attempts at one time, of those in the order they were sent.
pub(super) fn most_in_flight(sends: impl Iterator<Item = Sent>) -> u64 {
    let mut ends: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
    let mut most = 0;
    for send in sends {
        while ends.peek().is_some_and(|end| end.0 <= send.at_us) {
            ends.pop();
        }
        ends.push(Reverse(send.at_us + send.took_us));
        most = most.max(ends.len());
    }
    most as u64
}

/// Attempts near a refusal; of very many, the first.
fn around<I: Iterator<Item = Sent>>(sends: impl Fn() -> I, why: Refused) -> Vec<Sent> {
    let refused: Vec<u64> = sends()
        .filter(|send| send.refused == Some(why))
        .map(|send| send.at_us)
        .take(MOST_AROUND)
        .collect();
    let near = |send: &Sent| {
        let next = refused.partition_point(|&at| at < send.at_us);
        let close = |at: Option<&u64>| at.is_some_and(|at| at.abs_diff(send.at_us) <= AROUND_US);
        close(refused.get(next)) || close(next.checked_sub(1).map(|i| &refused[i]))
    };
    sends().filter(near).take(MOST_AROUND).collect()
}

/// What errs so little more that chance may have it.
fn hardly_more(errors: u64) -> u64 {
    errors + 2 + libm::ceil(CLEAR * libm::sqrt(errors as f64)) as u64
}

/// The size at which a limit of this kind refuses as many that were let in as it lets in that were refused:
/// the larger it is the less it refuses. None where most refusals do not tell what they asked for.
fn meeting(kind: Kind, sends: &[Sent]) -> Option<u64> {
    let told = |size: u64| replay(kind, size, sends.iter().copied(), |_, _| ());
    let (mut low, mut high) = (1, 2 * kind.most_let_in(sends));
    while low < high {
        let middle = u64::midpoint(low, high);
        let told = told(middle);
        match told.mistaken <= told.refused - told.explained {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    (told(low).refused * 2 >= refusals(kind, sends)).then_some(low)
}

/// Attempts of which such a limit says the wrong thing; as if it judged every refusal, where it does not.
fn errors(kind: Kind, size: u64, sends: &[Sent]) -> u64 {
    let told = replay(kind, size, sends.iter().copied(), |_, _| ());
    told.errors() * refusals(kind, sends) / told.refused.max(1)
}

fn refusals(kind: Kind, sends: &[Sent]) -> u64 {
    sends.iter().filter(|send| kind.refused(send)).count() as u64
}

/// The size of a limit of one kind.
#[derive(Clone, Copy, Debug)]
struct Sized {
    limit: u64,
    between: (u64, u64),
    errors: u64,
}

impl Sized {
    /// The size near this one that errs least.
    fn near(kind: Kind, size: u64, sends: &[Sent]) -> Sized {
        let mut tried: Vec<(u64, u64)> = vec![(size, errors(kind, size, sends))];
        for part in CLOSER {
            let (middle, width) = (least(&tried).1, f64::max(size as f64 * part, 2.0));
            for step in 0..=2 * STEPS {
                let off = width * (f64::from(step) / f64::from(STEPS) - 1.0);
                let size = libm::round(middle as f64 + off).max(1.0) as u64;
                if tried.iter().all(|(known, _)| *known != size) {
                    tried.push((size, errors(kind, size, sends)));
                }
            }
            tried.sort_unstable();
        }
        let (errors, limit) = least(&tried);
        let within = |(_, errs): &(u64, u64)| *errs <= hardly_more(errors);
        let first = tried.iter().position(within).unwrap_or(0);
        let last = tried.iter().rposition(within).unwrap_or(0);
        // Edges lie between a size and the next.
        let edges = [first.saturating_sub(1), (last + 1).min(tried.len() - 1)];
        Sized { limit, between: (tried[edges[0]].0, tried[edges[1]].0), errors }
    }
}

/// What errs least, and the middle of the sizes that do.
fn least(tried: &[(u64, u64)]) -> (u64, u64) {
    let errors = tried.iter().map(|(_, errors)| *errors).min().expect("something was tried");
    let best = || tried.iter().filter(|tried| tried.1 == errors).map(|(size, _)| *size);
    let (low, high) = (best().min().unwrap_or(1), best().max().unwrap_or(1));
    (errors, u64::midpoint(low, high))
}

impl Told {
    /// Whether a limit that tells this is one.
    fn holds(&self) -> bool {
        let part = |of: u64, all: u64| of as f64 >= LEAST_EXPLAINED * all.max(1) as f64;
        self.explained as usize >= LEAST_REFUSED
            && self.explained as f64 >= LEAST_RIGHT * (self.explained + self.mistaken) as f64
            && part(self.explained, self.refused)
            && part(self.began_explained, self.began)
    }
}
