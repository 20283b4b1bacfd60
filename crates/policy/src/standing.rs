//! Targets taken out without probes: cooldowns, isolation, ejection, kill switches.

use alloc::vec;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use crate::config::{Cooldown, CooldownRule, Isolation, Recooling};
use crate::target::{TargetId, Topology};
use crate::target_set::{RareSet, TargetSet};
use crate::{Duration, Instant};

/// Until when each target is out, and why it may come back.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    cooldown: Cooldown,
    isolation: Isolation,
    cooled_until: Vec<Instant>,
    isolated_until: Vec<Instant>,
    ejected_until: Vec<Instant>,
    /// For each target the number of its account.
    accounts: Vec<u16>,
    /// Targets that no cooldown takes out.
    exempt: TargetSet,
    switched_off: TargetSet,
    /// Targets that were taken out and have not had an attempt since: the only ones that may be
    /// out.
    doubtful: RareSet,
    recovery_off: bool,
}

impl Standing {
    /// Every target in.
    pub(crate) fn new(cooldown: &Cooldown, isolation: &Isolation, topology: &Topology) -> Standing {
        let targets = topology.targets.len();
        Standing {
            cooldown: cooldown.clone(),
            isolation: isolation.clone(),
            cooled_until: vec![Instant::ZERO; targets],
            isolated_until: vec![Instant::ZERO; targets],
            ejected_until: vec![Instant::ZERO; targets],
            accounts: account_numbers(topology),
            exempt: match cooldown.exempt_single {
                true => lone(topology),
                false => TargetSet::EMPTY,
            },
            switched_off: TargetSet::EMPTY,
            doubtful: RareSet::EMPTY,
            recovery_off: false,
        }
    }

    /// Whether a target is in for sure; false says only that [`out_until`](Standing::out_until)
    /// must be asked.
    #[inline(always)]
    pub(crate) const fn is_in(&self, target: TargetId) -> bool {
        !self.doubtful.contains(target)
    }

    /// Whether any of these targets is not in for sure.
    #[inline(always)]
    pub(crate) fn some_doubtful(&self, targets: &TargetSet) -> bool {
        self.doubtful.meets(targets)
    }

    /// An attempt goes to a target: where its time out is over, it is in for sure.
    pub(crate) fn on_sent(&mut self, target: TargetId, now: Instant) {
        if self.out_until(target) <= now {
            self.doubtful.remove(target);
        }
    }

    /// Until when a target is out: not later than `now` where it is in, and
    /// [`Instant::FAR_FUTURE`] where only an operator puts it back.
    pub(crate) fn out_until(&self, target: TargetId) -> Instant {
        if self.switched_off.contains(target) {
            return Instant::FAR_FUTURE;
        }
        let i = usize::from(target.0);
        self.cooled_until[i].max(self.isolated_until[i]).max(self.ejected_until[i])
    }

    /// Whether a cooldown is all that keeps a target out.
    pub(crate) fn only_cooling(&self, target: TargetId, now: Instant) -> bool {
        let i = usize::from(target.0);
        self.cooled_until[i] > now
            && self.isolated_until[i] <= now
            && self.ejected_until[i] <= now
            && !self.switched_off.contains(target)
    }

    /// Whether an operator switched all recovery off.
    pub(crate) const fn recovery_off(&self) -> bool {
        self.recovery_off
    }

    /// A failure that starts the target's own cooldown; `hint` is the provider's wait hint.
    pub(crate) fn on_cooldown(&mut self, target: TargetId, hint: Option<Duration>, now: Instant) {
        let length = match (self.cooldown.rule, hint) {
            (CooldownRule::None, _) | (CooldownRule::RetryAfter, None) => Duration::ZERO,
            (CooldownRule::RetryAfter | CooldownRule::RetryAfterOr(_), Some(hint)) => hint,
            (CooldownRule::RetryAfterOr(length), None) => length,
            (CooldownRule::Fixed(length), _) => length,
        };
        if length.is_zero() || self.exempt.contains(target) {
            return;
        }
        self.doubtful.insert(target);
        let until = &mut self.cooled_until[usize::from(target.0)];
        let end = now + length.min(self.cooldown.max);
        *until = recooled(self.cooldown.recooling, *until, end, now);
    }

    /// A failure that isolates the target.
    pub(crate) fn on_isolation(&mut self, target: TargetId, now: Instant) {
        self.doubtful.insert(target);
        let end = end_of(self.isolation.target_for, now);
        let until = &mut self.isolated_until[usize::from(target.0)];
        *until = end.max(*until);
    }

    /// A failure that isolates every target of the target's account.
    pub(crate) fn on_account_isolation(
        &mut self,
        target: TargetId,
        hint: Option<Duration>,
        now: Instant,
    ) {
        let known = hint.filter(|hint| !hint.is_zero());
        let end = end_of(known.or(self.isolation.account_for), now);
        let account = self.accounts[usize::from(target.0)];
        for (i, (other, until)) in self.accounts.iter().zip(&mut self.isolated_until).enumerate() {
            if *other == account {
                self.doubtful.insert(TargetId(i as u16));
                *until = end.max(*until);
            }
        }
    }

    /// Until when a target is in its cooldown, and isolated.
    pub(crate) fn until(&self, target: TargetId) -> (Instant, Instant) {
        let i = usize::from(target.0);
        (self.cooled_until[i], self.isolated_until[i])
    }

    /// Another replica has a target in its cooldown.
    pub(crate) fn cool_until(&mut self, target: TargetId, end: Instant) {
        self.doubtful.insert(target);
        let until = &mut self.cooled_until[usize::from(target.0)];
        *until = end.max(*until);
    }

    /// Another replica has a target isolated, or all of its account.
    pub(crate) fn isolate_until(&mut self, target: TargetId, account: bool, end: Instant) {
        let own = usize::from(target.0);
        for i in 0..self.accounts.len() {
            if i == own || account && self.accounts[i] == self.accounts[own] {
                self.doubtful.insert(TargetId(i as u16));
                self.isolated_until[i] = end.max(self.isolated_until[i]);
            }
        }
    }

    /// A target fails much more than its peers.
    pub(crate) fn on_ejection(&mut self, target: TargetId, until: Instant) {
        self.doubtful.insert(target);
        self.ejected_until[usize::from(target.0)] = until;
    }

    /// Whether a target is out because it failed much more than its peers.
    pub(crate) fn ejected(&self, target: TargetId, now: Instant) -> bool {
        self.ejected_until[usize::from(target.0)] > now
    }

    /// An operator takes a target out (`None`: all recovery), or puts it back. Putting a target
    /// back ends its isolation, cooldown and ejection as well: the operator has verified it.
    pub(crate) fn on_kill_switch(&mut self, target: Option<TargetId>, off: bool) {
        match (target, off) {
            (None, off) => self.recovery_off = off,
            (Some(target), true) => {
                self.switched_off.insert(target);
                self.doubtful.insert(target);
            }
            (Some(target), false) => {
                self.switched_off.remove(target);
                self.cooled_until[usize::from(target.0)] = Instant::ZERO;
                self.isolated_until[usize::from(target.0)] = Instant::ZERO;
                self.ejected_until[usize::from(target.0)] = Instant::ZERO;
            }
        }
    }

    /// Every target in again.
    pub(crate) fn reset(&mut self) {
        self.cooled_until.fill(Instant::ZERO);
        self.isolated_until.fill(Instant::ZERO);
        self.ejected_until.fill(Instant::ZERO);
        self.switched_off = TargetSet::EMPTY;
        self.doubtful = RareSet::EMPTY;
        self.recovery_off = false;
    }
}

/// The end of a running time out after a second cause that would end at `end`; `end` itself
/// where none runs.
pub(crate) fn recooled(rule: Recooling, running: Instant, end: Instant, now: Instant) -> Instant {
    match rule {
        _ if running <= now => end,
        Recooling::KeepFirst => running,
        Recooling::Extend => end,
        Recooling::Maximum => end.max(running),
    }
}

impl Hash for Standing {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.cooled_until, &self.isolated_until, &self.ejected_until).hash(state);
        (self.switched_off, self.recovery_off).hash(state);
    }
}

/// The targets that stand alone in their groups.
fn lone(topology: &Topology) -> TargetSet {
    let targets = (0..topology.targets.len()).map(|i| TargetId(i as u16));
    targets.filter(|target| topology.stands_alone(*target)).collect()
}

fn end_of(length: Option<Duration>, now: Instant) -> Instant {
    length.map_or(Instant::FAR_FUTURE, |length| now + length)
}

/// Equal numbers for targets of one account at one provider.
fn account_numbers(topology: &Topology) -> Vec<u16> {
    let owner = |i: usize| (&topology.targets[i].provider, &topology.targets[i].account);
    (0..topology.targets.len())
        .map(|i| (0..i).find(|j| owner(*j) == owner(i)).unwrap_or(i) as u16)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::target;

    const A: TargetId = TargetId(0);
    const B: TargetId = TargetId(1);
    const C: TargetId = TargetId(2);

    fn secs(s: u64) -> Duration {
        Duration::from_secs(s)
    }

    fn at(s: u64) -> Instant {
        Instant::ZERO + secs(s)
    }

    /// Targets A and B share an account, C has its own.
    fn standing(rule: CooldownRule, recooling: Recooling) -> Standing {
        let topology = Topology {
            targets: ["x", "x", "y"]
                .into_iter()
                .map(|account| crate::target::Target {
                    account: account.into(),
                    ..target("t", "p", "m", "r")
                })
                .collect(),
            classes: Vec::new(),
            tenants: Vec::new(),
        };
        let cooldown = Cooldown { rule, max: secs(100), recooling, exempt_single: false };
        Standing::new(&cooldown, &Isolation::default(), &topology)
    }

    #[test]
    fn cooldown_rules() {
        for (rule, hint, expected) in [
            (CooldownRule::None, Some(5), 0),
            (CooldownRule::RetryAfter, None, 0),
            (CooldownRule::RetryAfter, Some(5), 15),
            (CooldownRule::RetryAfter, Some(0), 0),
            (CooldownRule::RetryAfter, Some(86_400), 110),
            (CooldownRule::RetryAfterOr(secs(7)), None, 17),
            (CooldownRule::RetryAfterOr(secs(7)), Some(5), 15),
            (CooldownRule::Fixed(secs(9)), Some(5), 19),
        ] {
            let mut s = standing(rule, Recooling::Maximum);
            s.on_cooldown(A, hint.map(secs), at(10));
            assert_eq!(s.out_until(A), at(expected), "{rule:?} {hint:?}");
            assert_eq!(s.out_until(B), Instant::ZERO);
        }
    }

    #[test]
    fn a_second_cause_while_it_runs() {
        // The first ends at 50; the second comes at 20 and would end at 30, or at 80.
        for (recooling, shorter, longer) in [
            (Recooling::KeepFirst, 50, 50),
            (Recooling::Extend, 30, 80),
            (Recooling::Maximum, 50, 80),
        ] {
            for (second, expected) in [(10, shorter), (60, longer)] {
                let mut s = standing(CooldownRule::RetryAfter, recooling);
                s.on_cooldown(A, Some(secs(40)), at(10));
                s.on_cooldown(A, Some(secs(second)), at(20));
                assert_eq!(s.out_until(A), at(expected), "{recooling:?}");
                // Once it is over, every rule starts afresh.
                s.on_cooldown(A, Some(secs(1)), at(90));
                assert_eq!(s.out_until(A), at(91));
            }
        }
    }

    #[test]
    fn isolation_of_target_and_account() {
        let mut s = standing(CooldownRule::None, Recooling::Maximum);
        s.on_isolation(A, at(1));
        assert_eq!([A, B, C].map(|t| s.out_until(t)), [at(301), at(0), at(0)]);
        s.on_account_isolation(B, None, at(2));
        assert_eq!([A, B, C].map(|t| s.out_until(t)), [at(3_602), at(3_602), at(0)]);
        // The provider's word for the reset counts more, where it gives one.
        s.on_account_isolation(C, Some(secs(60)), at(2));
        assert_eq!(s.out_until(C), at(62));
        s.on_account_isolation(C, Some(Duration::ZERO), at(3));
        assert_eq!(s.out_until(C), at(3_603));
        s.isolation.target_for = None;
        s.on_isolation(C, at(3));
        assert_eq!(s.out_until(C), Instant::FAR_FUTURE);
    }

    #[test]
    fn kill_switches() {
        let mut s = standing(CooldownRule::None, Recooling::Maximum);
        s.on_account_isolation(A, None, at(0));
        s.on_kill_switch(Some(A), true);
        assert_eq!(s.out_until(A), Instant::FAR_FUTURE);
        s.on_kill_switch(Some(A), false);
        assert_eq!((s.out_until(A), s.out_until(B)), (Instant::ZERO, at(3_600)));
        s.on_kill_switch(None, true);
        assert!(s.recovery_off());
        s.reset();
        assert!(!s.recovery_off());
        assert_eq!(s.out_until(B), Instant::ZERO);
    }
}
