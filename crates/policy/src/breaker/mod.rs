//! Circuit breakers: one per distinct value of each configured key, several per target.

mod admission;
mod key;
mod lane;
mod learn;
mod permit;
mod scope;
mod state;
#[cfg(test)]
mod tests;
mod trip;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

pub(crate) use self::admission::Admission;
use self::key::{Values, key_name};
use self::lane::Cell;
pub(crate) use self::lane::{Lane, Lanes};
pub(crate) use self::learn::{Change, Elsewhere};
pub(crate) use self::permit::Permit;
pub use self::scope::BreakerScope;
use self::state::Circuit;
use crate::Instant;
use crate::config::Breaker;
use crate::event::BreakerState;
use crate::target::{TargetId, Topology};
use crate::target_set::{RareSet, TargetSet};

/// The most breaker rules of one policy: a permit has a bit for each.
pub(crate) const MAX_RULES: usize = 32;

/// All breakers of a router.
///
/// [`admits`](Breakers::admits) decides and changes nothing. Every attempt that is sent calls
/// [`on_sent`](Breakers::on_sent) once and, at its end, [`on_end`](Breakers::on_end) once, which
/// returns its probe permits. Between the two, [`on_success`](Breakers::on_success) and
/// [`on_failure`](Breakers::on_failure) count what is learnt when it is known: a success at its
/// first output, perhaps followed by the failure of its stream; nothing at all from a cancelled
/// attempt or a client's error.
#[derive(Clone, Debug)]
pub(crate) struct Breakers {
    keyed: Vec<Keyed>,
    /// Positions in `keyed`, cell by cell.
    members: Vec<u16>,
    /// Each cell's part of `members`.
    parts: Vec<Part>,
    /// How many cells each lane has.
    targets: usize,
    /// Targets of which a breaker is not closed, of whichever lane.
    not_closed: RareSet,
    /// Counts the changes of state that make earlier attempts late.
    changes: u64,
}

/// The breakers of a cell.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Where they stand in `members`.
    start: u32,
    /// How many there are.
    count: u16,
    /// The first of them: mostly the only one.
    first: u16,
}

/// One breaker: a rule, and one value of the rule's key.
#[derive(Clone, Debug)]
struct Keyed {
    /// The rule.
    rule: Breaker,
    circuit: Circuit,
    /// Which it is. Shared: nothing that happens changes it, and routers are copied.
    identity: Arc<Identity>,
}

/// What tells a breaker from others.
#[derive(Debug)]
struct Identity {
    /// The position of the rule.
    number: usize,
    /// The values of its key.
    values: Values,
    name: String,
}

impl Breakers {
    /// Breakers by these rules, at most [`MAX_RULES`], all closed.
    pub(crate) fn new(rules: &[Breaker], topology: &Topology) -> Breakers {
        assert!(rules.len() <= MAX_RULES, "a valid policy has at most 32 breaker rules");
        let mut breakers = Breakers {
            keyed: Vec::new(),
            members: Vec::new(),
            parts: Vec::new(),
            targets: topology.targets.len(),
            not_closed: RareSet::EMPTY,
            changes: 0,
        };
        for required in Lanes::new(rules, topology).required() {
            for (i, target) in topology.targets.iter().enumerate() {
                let start = breakers.members.len();
                for (number, rule) in rules.iter().enumerate() {
                    let values = Values::new(&rule.key, target, required);
                    let exempt = rule.exempt_single && topology.stands_alone(TargetId(i as u16));
                    if let Some(values) = values.filter(|_| !exempt) {
                        let breaker = breakers.find_or_add(number, rule, values);
                        breakers.members.push(breaker);
                    }
                }
                let members = &breakers.members[start..];
                breakers.parts.push(Part {
                    start: start as u32,
                    count: members.len() as u16,
                    first: members.first().copied().unwrap_or(0),
                });
            }
        }
        breakers
    }

    /// How many breakers there are.
    pub(crate) fn len(&self) -> usize {
        self.keyed.len()
    }

    /// What a breaker is about, by position.
    pub(crate) fn scope(&self, breaker: u16) -> BreakerScope {
        let Identity { name, values, .. } = &*self.keyed[usize::from(breaker)].identity;
        let covered = |target: &TargetId| self.around(*target).any(|b| b == breaker);
        BreakerScope {
            name: name.clone(),
            targets: self.targets().filter(covered).collect(),
            required: values.required,
        }
    }

    /// Whether all of the target's breakers were closed when last touched, of whichever lane. Time
    /// closes breakers and never opens one, so that they are closed now as well.
    pub(crate) const fn all_closed(&self, target: TargetId) -> bool {
        !self.not_closed.contains(target)
    }

    /// Whether a breaker of any of these targets was not closed when last touched.
    #[inline(always)]
    pub(crate) fn some_not_closed(&self, targets: &TargetSet) -> bool {
        self.not_closed.meets(targets)
    }

    /// The state of the target's tightest breaker in this lane at `now`.
    #[inline]
    pub(crate) fn state(&self, target: TargetId, lane: Lane, now: Instant) -> BreakerState {
        match self.all_closed(target) {
            true => BreakerState::Closed,
            false => self.tightest(lane.cell(target), now),
        }
    }

    #[cold]
    fn tightest(&self, cell: Cell, now: Instant) -> BreakerState {
        self.of(cell)
            .map(|(circuit, rule)| circuit.phase_at(rule, now).state())
            .max_by_key(|state| tightness(*state))
            .unwrap_or_default()
    }

    /// Whether the target's breakers admit an attempt of this lane with this draw at `now`.
    pub(crate) fn admits(
        &self,
        target: TargetId,
        lane: Lane,
        now: Instant,
        draw: u64,
    ) -> Admission {
        self.of(lane.cell(target))
            .map(|(circuit, rule)| circuit.admits(rule, now, draw))
            .fold(Admission::Yes, Admission::and)
    }

    /// The permit of an attempt of this lane that goes to the target now, as a failover or substitution where
    /// `recovery` says so, and probes these of its breakers.
    #[inline(always)]
    pub(crate) fn permit(
        &self,
        target: TargetId,
        lane: Lane,
        recovery: bool,
        probes: u32,
    ) -> Permit {
        Permit { cell: lane.cell(target), recovery, probes, sent_at_change: self.changes }
    }

    /// An attempt of this lane goes to the target: it takes a probe permit of each breaker that is half-open
    /// and has one left. Which of them it probes.
    pub(crate) fn on_sent(
        &mut self,
        target: TargetId,
        lane: Lane,
        now: Instant,
        out: &mut impl FnMut(Change),
    ) -> u32 {
        let mut probes = 0;
        for (i, place) in self.places(lane.cell(target)).enumerate() {
            self.visit(place, now, out, |circuit, rule| {
                probes |= u32::from(circuit.on_sent(rule, now)) << i;
            });
        }
        probes
    }

    /// The attempt is over, whatever became of it: its probe permits return.
    #[inline(always)]
    pub(crate) fn on_end(&mut self, permit: &Permit, now: Instant) {
        if permit.probes != 0 {
            self.end_probes(permit, now);
        }
    }

    /// Probe permits that attempts in flight hold.
    pub(crate) fn probing(&self) -> u64 {
        self.keyed.iter().map(|keyed| u64::from(keyed.circuit.probing())).sum()
    }

    /// All closed again, and everything forgotten.
    pub(crate) fn reset(&mut self) {
        self.changes = 0;
        self.not_closed = RareSet::EMPTY;
        self.keyed.iter_mut().for_each(|keyed| keyed.circuit.reset());
    }

    #[cold]
    fn end_probes(&mut self, permit: &Permit, now: Instant) {
        for (i, place) in self.places(permit.cell).enumerate() {
            self.visit(place, now, &mut |_| {}, |circuit, _| {
                let sent = permit.sent(i, circuit);
                circuit.on_end(sent);
            });
        }
    }

    fn of(&self, cell: Cell) -> impl Iterator<Item = (&Circuit, &Breaker)> {
        self.members[self.places(cell)].iter().map(|breaker| {
            let keyed = &self.keyed[usize::from(*breaker)];
            (&keyed.circuit, &keyed.rule)
        })
    }

    /// The breakers of a target, of each lane.
    fn around(&self, target: TargetId) -> impl Iterator<Item = u16> {
        let parts = self.parts.iter().skip(usize::from(target.0)).step_by(self.targets);
        parts.flat_map(|part| &self.members[part.places()]).copied()
    }

    fn targets(&self) -> impl Iterator<Item = TargetId> + use<> {
        (0..self.targets as u16).map(TargetId)
    }

    #[inline]
    fn places(&self, cell: Cell) -> core::ops::Range<usize> {
        self.parts[cell.place()].places()
    }

    fn find_or_add(&mut self, number: usize, rule: &Breaker, values: Values) -> u16 {
        let same =
            |keyed: &Keyed| keyed.identity.number == number && keyed.identity.values == values;
        let found = self.keyed.iter().position(same).unwrap_or_else(|| {
            let name = key_name(&values, &rule.key);
            let circuit = Circuit::new(rule);
            let identity = Arc::new(Identity { number, values, name });
            self.keyed.push(Keyed { rule: rule.clone(), circuit, identity });
            self.keyed.len() - 1
        });
        u16::try_from(found).expect("a router has at most 2^16 breakers")
    }
}

impl Part {
    fn places(self) -> core::ops::Range<usize> {
        self.start as usize..self.start as usize + usize::from(self.count)
    }
}

impl Hash for Breakers {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.changes.hash(state);
        self.keyed.iter().for_each(|keyed| keyed.circuit.hash(state));
    }
}

const fn tightness(state: BreakerState) -> u8 {
    match state {
        BreakerState::Closed => 0,
        BreakerState::Ramping => 1,
        BreakerState::HalfOpen => 2,
        BreakerState::Open => 3,
    }
}
