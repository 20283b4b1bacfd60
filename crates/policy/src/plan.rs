//! Policy and topology compiled into what a decision needs: no names, no options.

use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::breaker::{Lane, Lanes};
use crate::config::{
    Admission, Admitted, Attempts, BudgetScope, Envelope, GroupOrder, Policy, Priority, Sticky,
    Strategy,
};
use crate::mix;
use crate::target::{Capabilities, Group, RouteClass, SideEffects, TargetId, Topology};
use crate::target_set::TargetSet;
use crate::{Duration, Money, Price, Share};

/// What one route class allows, the stricter of product and policy.
#[derive(Clone, Debug)]
pub(crate) struct ClassPlan {
    /// How many attempts, and in which order.
    pub(crate) attempts: Attempts,
    /// The most that waiting and recovery may add.
    pub(crate) max_added_latency: Option<Duration>,
    /// Least time left for an attempt to be useful.
    pub(crate) min_useful: Duration,
    /// The product's limit from arrival to the end.
    pub(crate) product_total: Duration,
    /// The policy's own limit from arrival to the end.
    pub(crate) policy_total: Duration,
    /// From arrival to the first output released.
    pub(crate) first_output: Duration,
    /// The most a request may cost.
    pub(crate) ceiling: Money,
    /// Whose breakers its requests meet.
    pub(crate) lane: Lane,
    /// Whether a request may write outside the model.
    pub(crate) writes: bool,
    /// Whether what earlier requests of an action wrote is looked up before it is sent again.
    pub(crate) looks_up: bool,
    /// Targets of the class's own model, group by group.
    pub(crate) equivalent: Vec<Segment>,
    /// Targets of approved models: by preference of model, then group by group.
    pub(crate) substitutes: Vec<Segment>,
    /// Targets validated for the class's schema.
    pub(crate) validated: TargetSet,
    /// Time that a retry of the first target leaves to a target after it, where there is one.
    reserve: Duration,
    /// Targets of other models than the class's own, where the application is told of those.
    disclosed: TargetSet,
    /// Whether there are any.
    discloses: bool,
    /// Whether a slow first attempt gets a second beside it.
    pub(crate) hedges: bool,
    /// What holds for each group of the class.
    pub(crate) groups: Vec<GroupPlan>,
    /// Whether one of them has a door.
    pub(crate) has_doors: bool,
    /// Whether the first target that may be tried is the choice, and the gates say the same of all,
    /// but for their windows and what was tried before.
    pub(crate) in_order: bool,
    /// Whether nothing limits a request's attempts but how many it made in all.
    pub(crate) counts_all_alike: bool,
    /// The smallest context window among all targets.
    pub(crate) smallest_window: u32,
    /// The most attempts on one target that any group allows.
    pub(crate) most_same_target: u16,
}

/// What holds for one group of a class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupPlan {
    /// Attempts in it, beside the other limits.
    pub(crate) max: u16,
    /// Attempts on any one target in it.
    pub(crate) max_same_target: u16,
    /// The rule within it.
    strategy: Strategy,
    /// Its door, where it counts who comes in.
    pub(crate) door: Option<DoorPlan>,
}

/// The door of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DoorPlan {
    /// Its number among those of all groups of all classes.
    pub(crate) number: u32,
    /// What comes in is an attempt, and not a request.
    pub(crate) counts_attempts: bool,
}

/// Targets of one model within one group, in the group's order.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// Position of the group among the class's groups.
    pub(crate) group: u8,
    /// Those able to serve the class, the highest priority first.
    pub(crate) targets: Vec<TargetId>,
    /// They by priority, the highest first; none where that tells none from another.
    pub(crate) levels: Vec<TargetSet>,
    /// The rule that chooses among them.
    pub(crate) strategy: Strategy,
    /// Whether the first eligible one is the choice, so that the rest need no look.
    pub(crate) takes_first: bool,
    /// Whether nothing but the strategy decides on a first attempt where all are well.
    pub(crate) plain: bool,
    /// Whether it takes the one with the fewest attempts in flight, and asks nothing else.
    pub(crate) by_load: bool,
    /// The same as a set.
    pub(crate) set: TargetSet,
    /// The smallest context window among them.
    pub(crate) smallest_window: u32,
    /// The highest of each price among them.
    pub(crate) dearest: Price,
    /// What stands for the name of each of them in draws.
    pub(crate) anchors: Vec<u64>,
    /// Its number among all segments of all classes: where its round robin is kept.
    pub(crate) turn: usize,
}

/// One plan for each class of the topology. Groups must not be empty and ids known.
pub(crate) fn compile(policy: &Policy, topology: &Topology) -> Vec<ClassPlan> {
    let mut doors = 0..;
    let lanes = Lanes::new(&policy.breakers, topology);
    let classes = topology.classes.iter();
    let mut plans: Vec<ClassPlan> = classes
        .map(|class| {
            let limits = policy.limits_of(&class.name);
            let groups = group_plans(policy, &limits.0, class, &mut doors);
            class_plan(policy, limits, topology, class, groups, lanes.of(class))
        })
        .collect();
    for (turn, segment) in plans.iter_mut().flat_map(ClassPlan::segments_mut).enumerate() {
        segment.turn = turn;
    }
    plans
}

/// The rules of all doors, by their numbers.
pub(crate) fn doors<'a>(
    policy: &'a Policy,
    topology: &'a Topology,
) -> impl Iterator<Item = &'a Admission> {
    let groups = topology.classes.iter().flat_map(|class| &class.groups);
    groups.filter_map(|group| policy.groups.rule(group.role)?.admission.as_ref())
}

fn group_plans(
    policy: &Policy,
    attempts: &Attempts,
    class: &RouteClass,
    doors: &mut impl Iterator<Item = u32>,
) -> Vec<GroupPlan> {
    let plan = |group: &Group| {
        let rule = policy.groups.rule(group.role);
        let door = rule.and_then(|rule| rule.admission.as_ref());
        GroupPlan {
            max: rule.and_then(|rule| rule.max).unwrap_or(u16::MAX),
            max_same_target: rule
                .and_then(|rule| rule.max_same_target)
                .unwrap_or(attempts.max_same_target),
            strategy: rule.and_then(|rule| rule.strategy).unwrap_or(policy.selection.strategy),
            door: door.map(|rule| DoorPlan {
                number: doors.next().expect("fewer doors than numbers"),
                counts_attempts: rule.counts == Admitted::Attempts,
            }),
        }
    };
    class.groups.iter().map(plan).collect()
}

impl ClassPlan {
    /// The part of the time left that a retry of the latest target may not use, which is kept from
    /// the request's first target only.
    #[inline]
    pub(crate) fn reserve(&self, on_first: bool) -> Duration {
        if on_first { self.reserve } else { Duration::ZERO }
    }

    /// Whether an answer of this target must say which model gave it.
    #[inline]
    pub(crate) fn must_disclose(&self, target: TargetId) -> bool {
        self.discloses && self.disclosed.contains(target)
    }

    /// How many segments there are.
    pub(crate) fn segments(&self) -> usize {
        self.equivalent.len() + self.substitutes.len()
    }

    fn segments_mut(&mut self) -> impl Iterator<Item = &mut Segment> {
        self.equivalent.iter_mut().chain(&mut self.substitutes)
    }
}

fn class_plan(
    policy: &Policy,
    (attempts, envelope): (Attempts, Envelope),
    topology: &Topology,
    class: &RouteClass,
    rules: Vec<GroupPlan>,
    lane: Lane,
) -> ClassPlan {
    let target = |id: TargetId| &topology.targets[usize::from(id.0)];
    // The model the product asked for: whatever serves in its place is a substitution, also
    // when it follows another substitute.
    let model = &target(class.groups[0].targets[0]).model;
    let of_model = |model: &str| -> Vec<Segment> {
        let segment = |(group, targets): (usize, &Vec<TargetId>)| {
            let mut targets: Vec<TargetId> = targets
                .iter()
                .copied()
                .filter(|id| target(*id).model == model)
                .filter(|id| class.accepts(target(*id)))
                .collect();
            let levels = levels(policy, topology, &mut targets);
            let rule = &rules[group];
            let ordered =
                rule.strategy == Strategy::Ordered && policy.selection.sticky == Sticky::No;
            let takes_first =
                ordered && (levels.is_empty() || policy.selection.priority == Priority::Highest);
            let anchors = targets.iter().map(|id| mix::anchor(&target(*id).name)).collect();
            let windows = targets.iter().map(|id| target(*id).context_tokens);
            let prices = targets.iter().map(|id| target(*id).price);
            Segment {
                group: group as u8,
                turn: 0,
                set: targets.iter().copied().collect(),
                smallest_window: windows.min().unwrap_or(0),
                dearest: prices.fold(Price::default(), Price::max),
                takes_first,
                by_load: rule.strategy == Strategy::LeastInFlight
                    && policy.selection.sticky == Sticky::No,
                plain: group == 0
                    && rule.door.is_none()
                    && (takes_first || levels.is_empty())
                    && policy.selection.groups == GroupOrder::Listed,
                strategy: rule.strategy,
                levels,
                targets,
                anchors,
            }
        };
        let groups = class.groups.iter().map(|g| &g.targets).enumerate();
        groups.map(segment).filter(|s| !s.targets.is_empty()).collect()
    };
    let equivalent = of_model(model);
    let substitutes: Vec<Segment> = class
        .substitutes
        .iter()
        .filter(|name| *name != model)
        .flat_map(|name| of_model(name))
        .collect();
    let serving = |segments: &[Segment]| -> TargetSet {
        segments.iter().flat_map(|s| s.targets.iter().copied()).collect()
    };
    let all = serving(&equivalent).union(serving(&substitutes));
    let reachable = match (attempts.allow_failover, attempts.allow_substitution) {
        (true, true) => all.len(),
        (true, false) => serving(&equivalent).len(),
        (false, true) => serving(&substitutes).len() + 1,
        (false, false) => 1,
    };
    let writes = class.side_effects == SideEffects::WritePossible;
    let schema = Capabilities::named("structured_output").unwrap_or_default();
    let ceiling = envelope.max_cost.unwrap_or(Money::MAX).min(class.max_cost);
    let stricter = |own: Option<Duration>, product| own.unwrap_or(Duration::MAX).min(product);
    ClassPlan {
        product_total: class.deadline_total,
        policy_total: envelope.deadline_total.unwrap_or(Duration::MAX),
        first_output: stricter(envelope.deadline_first_output, class.deadline_first_output),
        ceiling,
        lane,
        writes,
        looks_up: writes && policy.side_effects.look_up,
        hedges: policy.hedge.is_some() && !writes && serving(&equivalent).len() > 1,
        validated: all.iter().filter(|id| target(*id).capabilities.covers(schema)).collect(),
        discloses: class.needs.disclose_substitutes,
        disclosed: match class.needs.disclose_substitutes {
            true => serving(&substitutes),
            false => TargetSet::EMPTY,
        },
        reserve: match reachable > 1 {
            true => envelope.reserve_for_failover,
            false => Duration::ZERO,
        },
        most_same_target: rules.iter().map(|rule| rule.max_same_target).max().unwrap_or(1),
        counts_all_alike: counts_all_alike(&attempts)
            && rules.iter().all(|rule| rule.max == u16::MAX),
        in_order: ceiling == Money::MAX
            && gates_are_alike(policy, &attempts)
            && rules.iter().all(|rule| rule.door.is_none() && rule.max == u16::MAX)
            && equivalent.iter().chain(&substitutes).all(|segment| segment.takes_first),
        smallest_window: equivalent
            .iter()
            .chain(&substitutes)
            .map(|segment| segment.smallest_window)
            .min()
            .unwrap_or(0),
        has_doors: rules.iter().any(|rule| rule.door.is_some()),
        groups: rules,
        equivalent,
        substitutes,
        max_added_latency: envelope.max_added_latency,
        min_useful: envelope.min_useful,
        attempts,
    }
}

/// Whether neither estimates nor budgets of attempts for a part of the targets, nor the health of a
/// group as a whole, tell one target from another.
fn gates_are_alike(policy: &Policy, limits: &Attempts) -> bool {
    !policy.envelope.estimate.enabled
        && policy.selection.panic_threshold == Share::ONE
        && counts_all_alike(limits)
}

/// Whether the policy's own budget of attempts is one for all targets.
fn counts_all_alike(limits: &Attempts) -> bool {
    limits.scope == BudgetScope::Request
        && limits.max_before_fallback.is_none()
        && limits.max_after_fallback.is_none()
}

/// Brings targets in the order of their priorities, and tells which have the same.
fn levels(policy: &Policy, topology: &Topology, targets: &mut [TargetId]) -> Vec<TargetSet> {
    if policy.selection.priority == Priority::Ignored {
        return Vec::new();
    }
    let priority = |id: &TargetId| topology.targets[usize::from(id.0)].priority;
    targets.sort_by_key(|id| Reverse(priority(id)));
    let levels = targets.chunk_by(|a, b| priority(a) == priority(b));
    let levels: Vec<TargetSet> = levels.map(|level| level.iter().copied().collect()).collect();
    if levels.len() > 1 { levels } else { Vec::new() }
}
