//! What the router knows of its targets, built only from events seen.

use alloc::vec;
use alloc::vec::Vec;

use crate::admission::Doors;
use crate::breaker::{Admission, Breakers, Lane, Permit};
use crate::config::{GroupOrder, Policy, Strategy, SubstituteOrder};
use crate::eject::Ejection;
use crate::estimate::Estimates;
use crate::event::{Action, BreakerState};
use crate::hedge::HedgeDelays;
use crate::load::Load;
use crate::plan;
use crate::rolling::{Counts, Rolling};
use crate::router::report;
use crate::standing::Standing;
use crate::target::{TargetId, Topology};
use crate::target_set::TargetSet;
use crate::{Duration, Instant};

/// Breakers, standing, expected latency and load of every target.
#[derive(Clone, Hash, Debug)]
pub(crate) struct Health {
    pub(crate) breakers: Breakers,
    pub(crate) standing: Standing,
    /// Where a decision asks for them.
    pub(crate) estimates: Option<Estimates>,
    /// Where the policy hedges.
    pub(crate) hedge_delays: Option<HedgeDelays>,
    pub(crate) load: Load,
    /// Recent outcomes by target, where the policy selects by them.
    pub(crate) outcomes: Vec<Rolling>,
    /// Whether that, or ejection, needs every outcome.
    weighs_outcomes: bool,
    /// Whether a first output is counted anywhere but at the breakers.
    weighs_first_outputs: bool,
    /// Complete answers by target, and those that broke their contract; where substitutes are
    /// ordered by them.
    contracts: Vec<Rolling>,
    /// Answers that the application has judged, by target, and those that did not do the job; where
    /// substitutes are ordered by them.
    tasks: Vec<Rolling>,
    /// Where the policy ejects outliers.
    pub(crate) ejection: Option<Ejection>,
    /// How many the groups let in.
    pub(crate) doors: Doors,
    /// Whose turn it is, by [`Segment::turn`](crate::plan::Segment).
    pub(crate) turns: Vec<u16>,
}

/// Why a target is out of service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standstill {
    /// Only an operator may put it back.
    Operator,
    /// Until then, if nothing happens before; [`Instant::FAR_FUTURE`] where that hangs on probes
    /// in flight.
    Until(Instant),
}

impl Health {
    /// Every target well, and nothing known.
    pub(crate) fn new(policy: &Policy, topology: &Topology, turns: usize) -> Health {
        let (classes, targets) = (topology.classes.len(), topology.targets.len());
        let estimate = &policy.envelope.estimate;
        Health {
            breakers: Breakers::new(&policy.breakers, topology),
            standing: Standing::new(&policy.cooldown, &policy.isolation, topology),
            estimates: asks_for_estimates(policy)
                .then(|| Estimates::new(estimate, classes, targets)),
            hedge_delays: HedgeDelays::new(policy, classes, targets),
            load: Load::new(targets, selects_by_latency(policy).then_some(estimate.expires)),
            weighs_outcomes: weighs_outcomes(policy),
            weighs_first_outputs: weighs_outcomes(policy) || selects_by_latency(policy),
            outcomes: match selects_by_outcomes(policy) {
                true => vec![Rolling::new(policy.selection.health_window); targets],
                false => Vec::new(),
            },
            contracts: match policy.selection.substitutes {
                SubstituteOrder::Listed => Vec::new(),
                _ if topology.classes.iter().all(|class| class.substitutes.is_empty()) => {
                    Vec::new()
                }
                SubstituteOrder::Proven | SubstituteOrder::Ranked => {
                    vec![Rolling::new(policy.selection.health_window); targets]
                }
            },
            tasks: match policy.selection.substitutes {
                SubstituteOrder::Ranked
                    if topology.classes.iter().any(|class| !class.substitutes.is_empty()) =>
                {
                    vec![Rolling::new(policy.selection.health_window); targets]
                }
                _ => Vec::new(),
            },
            ejection: policy.outlier.as_ref().map(|rule| Ejection::new(rule, topology)),
            doors: Doors::new(plan::doors(policy, topology)),
            turns: vec![0; turns],
        }
    }

    /// An attempt of this lane goes to a target, as a failover or substitution where `elsewhere` says so:
    /// the state of the target's tightest breaker, and the attempt's permit.
    #[inline(always)]
    pub(crate) fn on_sent(
        &mut self,
        target: TargetId,
        lane: Lane,
        elsewhere: bool,
        now: Instant,
        out: &mut Vec<Action>,
    ) -> (BreakerState, Permit) {
        self.load.on_sent(target);
        let (state, probes) = match self.is_well(target) {
            true => (BreakerState::Closed, 0),
            false => self.sent_to_doubtful(target, lane, now, out),
        };
        (state, self.breakers.permit(target, lane, elsewhere, probes))
    }

    #[cold]
    fn sent_to_doubtful(
        &mut self,
        target: TargetId,
        lane: Lane,
        now: Instant,
        out: &mut Vec<Action>,
    ) -> (BreakerState, u32) {
        self.standing.on_sent(target, now);
        let state = self.breakers.state(target, lane, now);
        match self.breakers.all_closed(target) {
            true => (state, 0),
            false => (state, self.breakers.on_sent(target, lane, now, &mut report(out))),
        }
    }

    /// An attempt's first output came, so long after it was sent: what a rule asks for beside the breakers.
    #[inline(always)]
    pub(crate) fn on_first_output(&mut self, target: TargetId, elapsed: Duration, now: Instant) {
        if self.weighs_first_outputs {
            self.load.on_latency(target, elapsed, now);
            self.on_outcome(target, false, now);
        }
    }

    /// An attempt's first output came, or it failed in a way that says something about its target.
    #[inline(always)]
    pub(crate) fn on_outcome(&mut self, target: TargetId, failed: bool, now: Instant) {
        if self.weighs_outcomes {
            self.count_outcome(target, failed, now);
        }
    }

    #[inline(never)]
    fn count_outcome(&mut self, target: TargetId, failed: bool, now: Instant) {
        if let Some(outcomes) = self.outcomes.get_mut(usize::from(target.0)) {
            outcomes.add(failed.into(), 1, now);
        }
        if let Some(ejection) = &mut self.ejection {
            ejection.count(target, failed);
        }
    }

    /// A complete answer kept its contract, or broke it.
    #[inline]
    pub(crate) fn on_contract(&mut self, target: TargetId, broken: bool, now: Instant) {
        if let Some(contracts) = self.contracts.get_mut(usize::from(target.0)) {
            contracts.add(broken.into(), 1, now);
        }
    }

    /// An answer was judged: whether it failed the job.
    #[inline(never)]
    pub(crate) fn on_task(&mut self, target: TargetId, failed: bool, now: Instant) {
        if let Some(tasks) = self.tasks.get_mut(usize::from(target.0)) {
            tasks.add(failed.into(), 1, now);
        }
    }

    /// Recent contract failures of these targets together, in whole percents of their answers.
    pub(crate) fn broken_contracts(&self, targets: &[TargetId], now: Instant) -> u64 {
        percent_marked(&self.contracts, targets, now)
    }

    /// The same of tasks not done, of the answers that were judged.
    pub(crate) fn failed_tasks(&self, targets: &[TargetId], now: Instant) -> u64 {
        percent_marked(&self.tasks, targets, now)
    }

    /// What time alone brings about, where the policy ejects outliers.
    pub(crate) fn on_time(&mut self, now: Instant) {
        if let Some(ejection) = &mut self.ejection {
            ejection.on_time(now, &mut self.standing);
        }
    }

    /// Whether nothing at all is known against a target. False says only that it needs a look.
    #[inline(always)]
    pub(crate) fn is_well(&self, target: TargetId) -> bool {
        self.breakers.all_closed(target) && self.standing.is_in(target)
    }

    /// Whether nothing at all is known against any of these targets.
    #[inline(always)]
    pub(crate) fn all_well(&self, targets: &TargetSet) -> bool {
        !self.breakers.some_not_closed(targets) && !self.standing.some_doubtful(targets)
    }

    /// Why a target may not get an attempt of this lane with this draw at `now`; `None` where it may.
    #[inline(always)]
    pub(crate) fn standstill(
        &self,
        target: TargetId,
        lane: Lane,
        now: Instant,
        draw: impl FnOnce() -> u64,
    ) -> Option<Standstill> {
        if self.is_well(target) { None } else { self.looked_into(target, lane, now, draw) }
    }

    /// The same of a target against which something is known.
    #[inline(never)]
    fn looked_into(
        &self,
        target: TargetId,
        lane: Lane,
        now: Instant,
        draw: impl FnOnce() -> u64,
    ) -> Option<Standstill> {
        let out = self.standing.out_until(target);
        if out == Instant::FAR_FUTURE {
            return Some(Standstill::Operator);
        }
        let standing = (out > now).then_some(out);
        if self.breakers.all_closed(target) {
            return standing.map(Standstill::Until);
        }
        let breaker = match self.breakers.admits(target, lane, now, draw()) {
            Admission::Yes | Admission::Probe | Admission::Ramp => None,
            Admission::No { until } => Some(until),
        };
        standing.max(breaker).map(Standstill::Until)
    }

    /// As new.
    pub(crate) fn reset(&mut self) {
        self.breakers.reset();
        self.standing.reset();
        self.estimates.as_mut().map(Estimates::reset);
        self.hedge_delays.as_mut().map(HedgeDelays::reset);
        self.load.reset();
        self.outcomes
            .iter_mut()
            .chain(&mut self.contracts)
            .chain(&mut self.tasks)
            .for_each(Rolling::clear);
        if let Some(ejection) = &mut self.ejection {
            ejection.reset();
        }
        self.doors.reset();
        self.turns.fill(0);
    }
}

/// What was marked of all that was counted for these targets, in whole percents.
fn percent_marked(counts: &[Rolling], targets: &[TargetId], now: Instant) -> u64 {
    let recent = targets.iter().filter_map(|target| counts.get(usize::from(target.0)));
    let counts = recent.map(|counts| counts.counts_at(now)).fold(Counts::default(), Counts::and);
    counts.marked * 100 / counts.all.max(1)
}

/// Whether a choice of targets or of groups rests on recent outcomes.
fn selects_by_outcomes(policy: &Policy) -> bool {
    policy.selection.groups == GroupOrder::HealthScore
        || strategies(policy).any(|strategy| strategy == Strategy::HealthScore)
}

/// Whether anything rests on every outcome.
fn weighs_outcomes(policy: &Policy) -> bool {
    selects_by_outcomes(policy) || policy.outlier.is_some()
}

/// Whether it rests on recent latencies.
fn selects_by_latency(policy: &Policy) -> bool {
    matches!(policy.selection.groups, GroupOrder::HealthScore | GroupOrder::LowestLatency)
        || strategies(policy)
            .any(|strategy| matches!(strategy, Strategy::HealthScore | Strategy::LowestLatency))
}

/// Whether a decision rests on what an attempt is expected to take.
fn asks_for_estimates(policy: &Policy) -> bool {
    policy.envelope.estimate.enabled || policy.selection.substitutes == SubstituteOrder::Ranked
}

/// The rules by which targets of a group are chosen.
fn strategies(policy: &Policy) -> impl Iterator<Item = Strategy> {
    let of_groups = policy.groups.rules().filter_map(|(_, rule)| rule.strategy);
    of_groups.chain([policy.selection.strategy])
}
