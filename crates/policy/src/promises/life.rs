//! One request as its caller and its targets see it, and what an attempt of it may be.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use super::accounts::Paid;
use super::{Broken, Promise};
use crate::config::{BudgetScope, Policy, RecoveryAction, TotalCovers};
use crate::event::{AttemptRef, Request, Send};
use crate::outcome::{FailureClass, Phase, Usage};
use crate::target::{RouteClass, SideEffects, TargetId, TenantId, Topology};
use crate::{Duration, Instant, Money};

/// One open request, by what was seen of it.
#[derive(Clone, Debug)]
pub struct Life {
    /// The request.
    pub request: Request,
    /// When it came.
    pub arrived: Instant,
    /// The attempt in flight; of two, the earlier one.
    pub flying: Option<AttemptRef>,
    /// How far its response has come.
    pub phase: Phase,
    /// The hedge in flight beside it.
    pub hedge: Option<AttemptRef>,
    /// How far the hedge's response has come.
    pub hedge_phase: Phase,
    /// When its timer fires, and with which epoch.
    pub timer: Option<(Instant, u32)>,
    /// Its output is passed to the caller.
    pub released: bool,
    /// The caller has gone.
    pub cancelled: bool,
    /// Attempts so far.
    pub attempts: u16,
    /// The target of the attempt that was sent last, or of the one that failed last.
    pub latest: Option<TargetId>,
    /// The latest attempt ended without an answer, and no reason was given for what follows.
    pub(super) unexplained: bool,
    /// Something may have been written: no attempt may follow.
    pub(super) ambiguous: bool,
    /// What the tool of the latest attempt did was asked.
    pub asked: bool,
    /// Calls that layers below the gateway said they made beyond its attempts.
    pub(super) used_below: u32,
    /// What the tool of earlier requests of the action did was asked, and is not known yet.
    pub looks_up: bool,
    on_target: Vec<u16>,
    in_group: Vec<u16>,
    /// The attempt whose output was passed on.
    pub(super) released_by: Option<u16>,
    /// The attempt that ended by itself last.
    pub(super) ended: u16,
    /// It ended with a result.
    pub(super) has_result: bool,
    /// Attempts by number whose answers are to be disclosed.
    pub(super) to_disclose: Vec<u16>,
    /// Where the attempts in flight went: `flying`, then `hedge`.
    places: [Option<TargetId>; 2],
    /// What each of them takes from shared budgets.
    pub(super) paid: [Option<Paid>; 2],
    /// What the recovery takes from them that is decided, and not sent yet.
    pub(super) decided: Option<Paid>,
    /// What was reported, and the most that aborted attempts may be billed.
    spent: Money,
}

impl Life {
    pub(super) fn new(
        request: Request,
        arrived: Instant,
        (policy, topology): (&Policy, &Topology),
    ) -> Life {
        let class = &topology.classes[usize::from(request.class.0)];
        let writes = class.side_effects == SideEffects::WritePossible;
        Life {
            request,
            arrived,
            flying: None,
            phase: Phase::BeforeHeaders,
            hedge: None,
            hedge_phase: Phase::BeforeHeaders,
            timer: None,
            released: false,
            cancelled: false,
            attempts: 0,
            latest: None,
            unexplained: false,
            // An earlier request of the action may have written, and the policy wants that known.
            ambiguous: writes && policy.side_effects.look_up && request.tries.resent(),
            asked: false,
            looks_up: false,
            used_below: 0,
            on_target: vec![0; topology.targets.len()],
            in_group: vec![0; class.groups.len()],
            released_by: None,
            ended: 0,
            has_result: false,
            to_disclose: Vec::new(),
            places: [None; 2],
            paid: [None, None],
            decided: None,
            spent: Money::ZERO,
        }
    }

    /// Hashes all of it but the request's handle.
    pub(super) fn hash_content<H: Hasher>(&self, state: &mut H) {
        let Life {
            request,
            arrived,
            flying,
            phase,
            hedge,
            hedge_phase,
            timer,
            released,
            cancelled,
            attempts,
            latest,
            unexplained,
            ambiguous,
            asked,
            used_below,
            looks_up,
            on_target,
            in_group,
            released_by,
            ended,
            has_result,
            to_disclose,
            places,
            paid,
            decided,
            spent,
        } = self;
        let number = |attempt: &Option<AttemptRef>| attempt.map(|attempt| attempt.number);
        (request, arrived, timer, attempts, latest, spent).hash(state);
        (number(flying), phase, number(hedge), hedge_phase, places, paid, decided).hash(state);
        (released, released_by, cancelled, ended, has_result, unexplained, ambiguous).hash(state);
        (asked, used_below, looks_up, on_target, in_group, to_disclose).hash(state);
    }

    fn class<'a>(&self, topology: &'a Topology) -> &'a RouteClass {
        &topology.classes[usize::from(self.request.class.0)]
    }

    /// An attempt in flight failed with this class, or was cut with it.
    pub(super) fn failed(&mut self, attempt: AttemptRef, class: FailureClass, topology: &Topology) {
        let writes = self.class(topology).side_effects == SideEffects::WritePossible;
        self.ambiguous |= match class {
            FailureClass::Transport | FailureClass::Timeout | FailureClass::PartialStream => writes,
            FailureClass::SideEffectUnknown => true,
            _ => false,
        };
        self.cancelled |= class == FailureClass::CallerCancelled;
        self.has_result |= class == FailureClass::Refusal;
        self.over(attempt);
    }

    /// Whether this attempt is in flight.
    pub fn in_flight(&self, attempt: AttemptRef) -> bool {
        self.flying == Some(attempt) || self.hedge == Some(attempt)
    }

    /// An attempt in flight is over without an answer.
    pub(super) fn over(&mut self, attempt: AttemptRef) {
        self.latest = self.place(attempt).or(self.latest);
        self.ended = attempt.number;
        self.unexplained = true;
        self.gone(attempt);
    }

    /// An attempt is no longer in flight.
    pub(super) fn gone(&mut self, attempt: AttemptRef) {
        if self.flying == Some(attempt) {
            self.flying = self.hedge;
            self.phase = self.hedge_phase;
            self.places[0] = self.places[1];
            self.paid[0] = self.paid[1].take();
        }
        (self.hedge, self.hedge_phase) = (None, Phase::BeforeHeaders);
        (self.places[1], self.paid[1]) = (None, None);
    }

    /// Where an attempt in flight went, and for whom: what its end is counted by.
    pub(super) fn account(&self, attempt: AttemptRef) -> (TargetId, TenantId) {
        (self.place(attempt).expect("it is in flight"), self.request.tenant)
    }

    /// What a failure that was reported of an attempt means: after its output was released, a stream
    /// that broke; before, whatever broke it, a connection that did.
    pub(super) fn class_of(&self, attempt: AttemptRef, reported: FailureClass) -> FailureClass {
        let committed = self.released_by == Some(attempt.number);
        match reported {
            FailureClass::Refusal | FailureClass::CallerCancelled => reported,
            _ if committed => FailureClass::PartialStream,
            FailureClass::PartialStream => FailureClass::Transport,
            _ => reported,
        }
    }

    /// Where an attempt in flight went.
    fn place(&self, attempt: AttemptRef) -> Option<TargetId> {
        self.places[usize::from(self.hedge == Some(attempt))]
    }

    pub(super) fn charge(&mut self, attempt: AttemptRef, usage: Usage, topology: &Topology) {
        if let Some(target) = self.place(attempt) {
            let price = &topology.targets[usize::from(target.0)].price;
            self.spent += price.bill(usage.input, usage.cached, usage.output);
        }
    }

    /// Nobody says what an aborted attempt costs: the most it may.
    pub(super) fn presume(&mut self, attempt: AttemptRef, topology: &Topology) {
        let most = Usage {
            input: self.request.input_tokens,
            cached: 0,
            output: self.request.max_output_tokens,
        };
        self.charge(attempt, most, topology);
    }

    /// The most that one attempt on a target may cost.
    fn most(&self, target: TargetId, topology: &Topology) -> Money {
        let price = &topology.targets[usize::from(target.0)].price;
        price.bill(self.request.input_tokens, 0, self.request.max_output_tokens)
    }

    /// Whether no attempt of the request went to this group yet.
    pub(super) fn is_first_in(&self, group: u8) -> bool {
        self.in_group[usize::from(group)] == 0
    }

    /// What an attempt takes from shared budgets.
    pub(super) fn paying(&self, send: &Send) -> Option<Paid> {
        let (action, failing) = send.recovery.zip(self.latest)?;
        Some(Paid { action, failing, destination: send.target, tenant: self.request.tenant })
    }

    /// What all its recoveries take from shared budgets: those in flight, and the one that is decided.
    pub(super) fn recoveries(&self) -> impl Iterator<Item = &Paid> {
        self.paid.iter().chain([&self.decided]).flatten()
    }

    /// Counts an attempt that was allowed.
    pub(super) fn sent(&mut self, send: &Send) {
        self.attempts += 1;
        self.on_target[usize::from(send.target.0)] += 1;
        self.in_group[usize::from(send.group)] += 1;
        let destination = send.target;
        let paid = self.paying(send);
        self.decided = None;
        let beside = usize::from(self.flying.is_some());
        (self.places[beside], self.paid[beside]) = (Some(destination), paid);
        self.latest = Some(destination);
        if send.disclose {
            self.to_disclose.push(send.attempt.number);
        }
        self.asked = false;
        match self.flying {
            None => (self.flying, self.phase) = (Some(send.attempt), Phase::BeforeHeaders),
            Some(_) => (self.hedge, self.hedge_phase) = (Some(send.attempt), Phase::BeforeHeaders),
        }
    }

    /// Whether this attempt may start now, as far as the request itself goes.
    pub(super) fn may_send(
        &self,
        send: &Send,
        now: Instant,
        policy: &Policy,
        topology: &Topology,
    ) -> Result<(), Broken> {
        let number = send.attempt.number;
        let how = || format!("attempt {number} was sent");
        Promise::NoneAfterCancel.holds(!self.cancelled, how)?;
        Promise::NoneAfterOutput.holds(!self.released, how)?;
        Promise::NoRepeatedWrite.holds(!self.ambiguous, how)?;
        let alone = match send.recovery {
            Some(RecoveryAction::Hedge) => self.flying.is_some() && self.hedge.is_none(),
            _ => self.flying.is_none(),
        };
        Promise::OneAtATime.holds(alone, how)?;
        Promise::Explained.holds(!self.unexplained, how)?;
        Promise::OneAtATime.holds(number == self.attempts + 1, || {
            format!("attempt {number} follows attempt {}", self.attempts)
        })?;
        self.right_target(send, topology)?;
        self.within_limits(send, policy, topology)?;
        self.within_envelope(send, now, policy, topology)?;
        self.as_decided(send)
    }

    /// A recovery goes where it was decided that it goes; a hedge follows no decision.
    fn as_decided(&self, send: &Send) -> Result<(), Broken> {
        let kept = match (send.recovery, self.decided) {
            (None | Some(RecoveryAction::Hedge), _) => true,
            (Some(action), Some(decided)) => {
                (action, send.target) == (decided.action, decided.destination)
            }
            (Some(_), None) => false,
        };
        Promise::Explained.holds(kept, || {
            format!("attempt {} was sent, and another thing was decided", send.attempt.number)
        })
    }

    /// The kind of recovery is what its target makes it.
    fn right_target(&self, send: &Send, topology: &Topology) -> Result<(), Broken> {
        let class = self.class(topology);
        let kept = |kept: bool, what: &str| {
            let name = &topology.targets[usize::from(send.target.0)].name;
            Promise::RightTarget
                .holds(kept, || format!("attempt {} to {name} {what}", send.attempt.number))
        };
        let model = |id: TargetId| &topology.targets[usize::from(id.0)].model;
        let own = model(class.groups[0].targets[0]) == model(send.target);
        kept(own || class.substitutes.contains(model(send.target)), "is of no approved model")?;
        let group = class.groups.get(usize::from(send.group));
        kept(group.is_some_and(|g| g.targets.contains(&send.target)), "is not in its group")?;
        let there = &topology.targets[usize::from(send.target.0)];
        kept(class.accepts(there), "promises less than the class needs")?;
        let disclose = !own && class.needs.disclose_substitutes;
        Promise::Disclosed.holds(send.disclose == disclose, || {
            format!("attempt {} was sent with the wrong mark", send.attempt.number)
        })?;
        let again = self.latest == Some(send.target);
        match send.recovery {
            None => kept(self.attempts == 0, "is no recovery, and not the first"),
            Some(_) if self.attempts == 0 => kept(false, "is a recovery of nothing"),
            Some(RecoveryAction::Retry) => kept(again, "is called a retry"),
            Some(RecoveryAction::Failover) => kept(own && !again, "is called a failover"),
            Some(RecoveryAction::Substitution) => kept(!own && !again, "is called a substitution"),
            Some(RecoveryAction::Hedge) => {
                kept(own && !again && self.attempts == 1, "is called a hedge")?;
                let writes = class.side_effects == SideEffects::WritePossible;
                Promise::NoRepeatedWrite.holds(!writes, || "a hedge that may write twice".into())
            }
        }
    }

    fn within_limits(
        &self,
        send: &Send,
        policy: &Policy,
        topology: &Topology,
    ) -> Result<(), Broken> {
        let limits = policy.limits_of(&self.class(topology).name).0;
        let number = send.attempt.number;
        let within = |used: u16, most: Option<u16>, field: &str| {
            Promise::AttemptLimits.holds(most.is_none_or(|most| used < most), || {
                format!("attempt {number} was sent after {used}, beyond attempts.{field}")
            })
        };
        let group = &self.class(topology).groups[usize::from(send.group)];
        let rule = policy.groups.rule(group.role);
        let own = rule.and_then(|rule| rule.max_same_target);
        within(
            self.in_group[usize::from(send.group)],
            rule.and_then(|rule| rule.max),
            "max (group)",
        )?;
        let on_target = self.on_target[usize::from(send.target.0)];
        let scoped = match limits.scope {
            BudgetScope::Request => self.attempts,
            BudgetScope::Group => self.in_group[usize::from(send.group)],
            BudgetScope::Target => on_target,
        };
        within(scoped, Some(limits.max), "max")?;
        let brought = self.request.left.attempts;
        let used = u32::from(self.attempts) + self.used_below;
        let left = self.attempts == 0 || brought == u16::MAX || used < u32::from(brought);
        Promise::AttemptLimits.holds(left, || {
            format!("attempt {number} was sent beyond what the request brought with it")
        })?;
        if !limits.repick_failed {
            within(on_target, own.or(Some(limits.max_same_target)), "max_same_target")?;
        }
        let in_first = self.in_group[0];
        match send.group {
            0 => within(in_first, limits.max_before_fallback, "max_before_fallback"),
            _ => within(self.attempts - in_first, limits.max_after_fallback, "max_after_fallback"),
        }
    }

    fn within_envelope(
        &self,
        send: &Send,
        now: Instant,
        policy: &Policy,
        topology: &Topology,
    ) -> Result<(), Broken> {
        let class = self.class(topology);
        let envelope = policy.limits_of(&class.name).1;
        let kept = |kept: bool, what: &str| {
            Promise::Envelope
                .holds(kept, || format!("attempt {} was sent {what}", send.attempt.number))
        };
        let own = match policy.timeouts.total_covers {
            TotalCovers::Everything => envelope.deadline_total,
            // Waits are free, and move the policy's own deadline.
            TotalCovers::AttemptsOnly => None,
        };
        let left = &self.request.left;
        let total = class.deadline_total.min(left.total).min(own.unwrap_or(Duration::MAX));
        let first = match self.request.streamed {
            true => class
                .deadline_first_output
                .min(left.first_output)
                .min(envelope.deadline_first_output.unwrap_or(Duration::MAX)),
            false => Duration::MAX,
        };
        let deadline = self.arrived + total.min(first);
        kept(now < deadline, "after the deadline")?;
        let unlimited = deadline == Instant::FAR_FUTURE;
        kept(unlimited || send.remaining <= deadline - now, "with more time than there is")?;
        let added = now - self.arrived;
        let most = envelope.max_added_latency.unwrap_or(Duration::MAX);
        kept(added <= most, "beyond envelope.max_added_latency")?;
        let ceiling = class.max_cost.min(envelope.max_cost.unwrap_or(Money::MAX));
        // What is in flight may still cost all it can.
        let at_stake = self.flying.and(self.places[0]);
        let at_stake = at_stake.map_or(Money::ZERO, |target| self.most(target, topology));
        let all = self.spent + at_stake + self.most(send.target, topology);
        kept(ceiling == Money::MAX || all <= ceiling, "beyond the money left")
    }
}
