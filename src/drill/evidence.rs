//! What a drill is judged by: the rows of its run, request by request.

use std::collections::BTreeMap;

use windtunnel_policy::Instant;
use windtunnel_policy::config::Policy;
use windtunnel_policy::event::Outcome;
use windtunnel_policy::target::{Target, TargetId};

use crate::record::{AttemptRow, RequestRow, Rows, RunTotals};
use crate::scenario::{Scenario, TargetModel};
use crate::world::{World, WorldRequest};

/// A run of a policy through a drill, as its rows tell it. What the world did (when a caller
/// cancelled, how long an answer takes) comes from the world and the scenario, not from the rows:
/// otherwise a row would vouch for itself.
pub struct Evidence<'a> {
    /// The policy that was drilled.
    pub policy: &'a Policy,
    /// The drill's scenario.
    pub scenario: &'a Scenario,
    /// Its world.
    pub world: &'a World,
    /// Totals of the run.
    pub totals: &'a RunTotals,
    /// Every request with its attempts, in the order of arrival.
    pub cases: Vec<Case<'a>>,
    /// Writes outside the model, by action.
    writes: BTreeMap<u64, u64>,
}

/// One request and what was done for it.
#[derive(Clone, Debug)]
pub struct Case<'a> {
    /// What the world asked; of a request that an outer layer sent, what its action asked.
    pub asked: &'a WorldRequest,
    /// The action it belongs to: its first request.
    pub action: u64,
    /// How it was closed.
    pub request: &'a RequestRow,
    /// How often it was closed: once, unless something is very wrong.
    pub closings: u32,
    /// In the order they were sent.
    pub attempts: Vec<&'a AttemptRow>,
}

impl<'a> Evidence<'a> {
    /// The evidence in these rows.
    pub fn new(
        policy: &'a Policy,
        scenario: &'a Scenario,
        world: &'a World,
        totals: &'a RunTotals,
        rows: &'a Rows,
    ) -> Evidence<'a> {
        let mut attempts: BTreeMap<u64, Vec<&AttemptRow>> = BTreeMap::new();
        for row in &rows.attempts {
            attempts.entry(row.request).or_default().push(row);
        }
        let mut closed: BTreeMap<u64, (&RequestRow, u32)> = BTreeMap::new();
        for row in &rows.requests {
            closed.entry(row.request).or_insert((row, 0)).1 += 1;
        }
        let resent: BTreeMap<u64, u64> =
            rows.resent.iter().map(|(r, of)| (*r, of.action)).collect();
        let case = |(index, (request, closings)): (u64, (&'a RequestRow, u32))| {
            let mut attempts = attempts.remove(&index).unwrap_or_default();
            attempts.sort_by_key(|row| row.number);
            let action = resent.get(&index).copied().unwrap_or(index);
            let asked = &world.requests[action as usize];
            Case { asked, action, request, closings, attempts }
        };
        let cases = closed.into_iter().map(case).collect();
        let mut writes: BTreeMap<u64, u64> = BTreeMap::new();
        for effect in &rows.effects {
            *writes.entry(effect.action).or_default() += 1;
        }
        Evidence { policy, scenario, world, totals, cases, writes }
    }

    /// The requests of the route class of this name.
    ///
    /// # Panics
    /// Where the drill has no such class.
    pub fn of(&self, class: &str) -> impl Iterator<Item = &Case<'a>> {
        let id = self.class(class);
        self.cases.iter().filter(move |case| case.request.class == id)
    }

    /// The id of the route class of this name.
    ///
    /// # Panics
    /// Where the drill has no such class.
    pub fn class(&self, name: &str) -> u16 {
        let position = self.scenario.classes.iter().position(|class| class.name == name);
        position.unwrap_or_else(|| panic!("the drill has no class `{name}`")) as u16
    }

    /// How often the tool of an action has written.
    pub fn writes(&self, action: u64) -> u64 {
        self.writes.get(&action).copied().unwrap_or(0)
    }

    /// All requests of each action, in the order of actions.
    pub fn actions(&self) -> Vec<Vec<&Case<'a>>> {
        let mut actions: BTreeMap<u64, Vec<&Case<'a>>> = BTreeMap::new();
        for case in &self.cases {
            actions.entry(case.action).or_default().push(case);
        }
        actions.into_values().collect()
    }

    /// The target of this id, as the fleet runs it.
    pub fn target(&self, id: TargetId) -> &'a TargetModel {
        &self.scenario.targets[usize::from(id.0)]
    }

    /// The same target, as the policy core sees it.
    pub fn facts(&self, id: TargetId) -> &'a Target {
        &self.scenario.topology.targets[usize::from(id.0)]
    }

    /// The id of the target of this name.
    ///
    /// # Panics
    /// Where the drill has no such target.
    pub fn named(&self, name: &str) -> TargetId {
        let position = self.scenario.targets.iter().position(|target| target.name == name);
        TargetId(position.unwrap_or_else(|| panic!("the drill has no target `{name}`")) as u16)
    }
}

impl Case<'_> {
    /// The attempt that answered.
    pub fn answer(&self) -> Option<&AttemptRow> {
        let Outcome::Answered(number) = self.request.result.outcome else { return None };
        self.attempts.iter().find(|row| row.number == number).copied()
    }

    /// When an answer is too late.
    pub fn due(&self) -> Instant {
        self.request.arrived + self.request.deadline
    }

    /// When the caller goes away; far in the future where it does not.
    pub fn gone(&self) -> Instant {
        self.asked.at + self.asked.patience
    }

    /// The attempts that were sent once this one had ended. One beside it, a hedge, is not.
    pub fn after(&self, row: &AttemptRow) -> impl Iterator<Item = &AttemptRow> {
        let (number, ended) = (row.number, row.ended);
        let later = move |other: &&AttemptRow| other.number > number && other.sent >= ended;
        self.attempts.iter().copied().filter(later)
    }

    /// Each attempt that went to a target again, with the latest one before it there.
    pub fn resends(&self) -> impl Iterator<Item = (&AttemptRow, &AttemptRow)> {
        self.attempts.iter().enumerate().filter_map(|(at, row)| {
            let mut earlier = self.attempts[..at].iter().rev();
            earlier.find(|before| before.target == row.target).map(|before| (*before, *row))
        })
    }
}
