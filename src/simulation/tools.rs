//! Tools that write: what attempts call, what that does outside, and what the record says of it.
//!
//! One execution is kept for each action that may call a tool, under the action's key: the
//! idempotency key. An attempt calls the tool when its output has come so far; the tool then writes
//! or fails by itself, whatever becomes of the attempt. A second write for one key is a violation.

use std::collections::BTreeMap;

use windtunnel_policy::event::{AttemptRef, Event, RequestRef};
use windtunnel_policy::outcome::Execution;
use windtunnel_policy::{Duration, Instant, Share};

use super::Simulation;
use super::occurrence::Occurrence;
use super::open::Latest;
use crate::draw::{Key, NameHash, Purpose};
use crate::queue::{EventKey, Rank};
use crate::record::{Call, Effect, Sink};
use crate::scenario::ToolModel;
use crate::world::{Marks, World};

/// The executions of a run, by the key of their action.
pub(super) type Tools = BTreeMap<Key, Executed>;

/// Stands for the attempt where a request looks up, before its first, what earlier ones did.
pub(super) const NO_ATTEMPT: u16 = 0;

/// What was executed for one action.
#[derive(Clone, Debug)]
pub(super) struct Executed {
    /// The action's number in the run.
    action: u64,
    class: u16,
    /// The position of its totals.
    account: u16,
    tenant: u16,
    measured: bool,
    /// The attempt in flight that has not called yet.
    ahead: Option<AttemptRef>,
    /// Attempts given up that work on, and have not called yet.
    loose: u32,
    calls: u32,
    asks: u32,
    writes: u32,
    /// The latest execution: when it is over, and whether it has then written.
    latest: Option<(Instant, bool)>,
    /// The request whose next attempts continue with the stored result.
    stored_for: Option<RequestRef>,
}

impl Executed {
    /// What the record says.
    fn record(&self, now: Instant) -> Execution {
        match self.latest {
            Some((over, _)) if now < over => Execution::Started,
            Some((_, true)) => Execution::Succeeded,
            Some((_, false)) => Execution::Failed,
            None if self.ahead.is_some() || self.loose > 0 => Execution::Planned,
            None => Execution::NotCalled,
        }
    }

    /// Executes a call, unless the tool knows its key again. Answers whether it will have written.
    fn call(&mut self, now: Instant, key: Key, tool: &ToolModel) -> bool {
        let nth = self.calls;
        self.calls += 1;
        let stored = matches!(self.record(now), Execution::Started | Execution::Succeeded);
        let knows = hits(tool.deduplicates, key, Purpose::ToolDeduplicates, 0);
        if stored && knows {
            return false;
        }
        let writes = !hits(tool.failures, key, Purpose::ToolFails, nth);
        let takes = tool.takes.value(|| key.draw(Purpose::ToolTakes, NameHash::NONE, nth));
        if !stored || writes {
            self.latest = Some((now + Duration::from_micros(takes), writes));
        }
        self.writes += u32::from(writes);
        writes
    }
}

impl Simulation<'_> {
    /// Whether an attempt of this request, sent now, will call a tool, and how far into its output.
    #[inline]
    pub(super) fn plan_tool(&mut self, attempt: AttemptRef) -> Option<Share> {
        let open = &self.open[attempt.request.slot as usize];
        match open.request.marks.has(Marks::CALLS_TOOL) {
            true => self.plan_call(attempt),
            false => None,
        }
    }

    #[cold]
    fn plan_call(&mut self, attempt: AttemptRef) -> Option<Share> {
        let slot = attempt.request.slot as usize;
        let open = &self.open[slot];
        let tool = self.scenario.classes[usize::from(open.request.class)].tool.as_ref()?;
        let action = self.layers.of(slot).map_or(open.index, |action| self.layers.number(action));
        let executed = self.tools.entry(open.request.key).or_insert_with(|| Executed {
            action,
            class: open.request.class,
            account: open.account,
            tenant: open.request.tenant,
            measured: open.measured,
            ahead: None,
            loose: 0,
            calls: 0,
            asks: 0,
            writes: 0,
            latest: None,
            stored_for: None,
        });
        if executed.stored_for == Some(attempt.request) {
            return None;
        }
        executed.ahead = Some(attempt);
        Some(tool.at)
    }

    /// An attempt of the request with this key calls its tool, seen or unseen.
    pub(super) fn on_tool_call(
        &mut self,
        now: Instant,
        attempt: AttemptRef,
        key: Key,
        sink: &mut impl Sink,
    ) {
        let executed = self.tools.get_mut(&key).expect("a call was planned");
        match executed.ahead == Some(attempt) {
            true => executed.ahead = None,
            false => executed.loose -= 1,
        }
        let class = usize::from(executed.class);
        let tool = self.scenario.classes[class].tool.as_ref().expect("a class with a tool");
        let writes = executed.call(now, key, tool);
        sink.called(&Call { action: executed.action, at: now, writes });
        if !writes {
            return;
        }
        if executed.measured {
            let (first, second) = (executed.writes == 1, executed.writes == 2);
            for totals in self.totals.accounts(executed.account, executed.tenant) {
                totals.side_effects += u64::from(first);
                totals.duplicate_side_effects += u64::from(second);
            }
        }
        sink.effect(&Effect { action: executed.action, called: now, writes: executed.writes });
    }

    /// An attempt is over; where it was given up, it may run on.
    #[inline]
    pub(super) fn end_tool(&mut self, attempt: AttemptRef, runs_on: bool) {
        let request = &self.open[attempt.request.slot as usize].request;
        if request.marks.has(Marks::CALLS_TOOL) {
            self.end_call(attempt, runs_on);
        }
    }

    #[cold]
    fn end_call(&mut self, attempt: AttemptRef, runs_on: bool) {
        let request = &self.open[attempt.request.slot as usize].request;
        let Some(executed) = self.tools.get_mut(&request.key) else { return };
        if executed.ahead == Some(attempt) {
            executed.ahead = None;
            executed.loose += u32::from(runs_on);
        }
    }

    /// The router asks for the record of the tool that this attempt may have called, or that earlier
    /// requests of its action may have.
    #[inline(never)]
    pub(super) fn ask_record(&mut self, now: Instant, attempt: AttemptRef) {
        let open = &self.open[attempt.request.slot as usize];
        let tool = self.scenario.classes[usize::from(open.request.class)].tool.as_ref();
        let key = open.request.key;
        // Without a tool there is no record that could say anything, and nobody waits for it.
        let takes = match (tool, self.tools.get(&key)) {
            (Some(tool), executed) => {
                let nth = executed.map_or(0, |executed| executed.asks);
                tool.look.value(|| key.draw(Purpose::RecordTakes, NameHash::NONE, nth))
            }
            (None, _) => 0,
        };
        let at = now + Duration::from_micros(takes);
        let event = EventKey::new(at, Rank::Timer, open.index, attempt.number);
        self.queue.push(event, Occurrence::Record(attempt));
    }

    /// A look at the record is over.
    pub(super) fn on_record(
        &mut self,
        now: Instant,
        attempt: AttemptRef,
        world: &World,
        sink: &mut impl Sink,
    ) {
        let open = &self.open[attempt.request.slot as usize];
        let looks_up = attempt.number == NO_ATTEMPT;
        let waits = looks_up || open.row.number == attempt.number && open.latest == Latest::Pending;
        if open.handle != attempt.request || !waits {
            return;
        }
        let key = open.request.key;
        let tool = self.scenario.classes[usize::from(open.request.class)].tool.as_ref();
        let record = match (tool, self.tools.get_mut(&key)) {
            (None, _) => Execution::Unknown,
            (Some(_), None) => Execution::NotCalled,
            (Some(tool), Some(executed)) => {
                let nth = executed.asks;
                executed.asks += 1;
                match hits(tool.unknown, key, Purpose::RecordUnknown, nth) {
                    true => Execution::Unknown,
                    false => executed.record(now),
                }
            }
        };
        match record {
            Execution::Planned | Execution::Started => self.ask_record(now, attempt),
            Execution::Succeeded => {
                let executed = self.tools.get_mut(&key).expect("what has succeeded was called");
                executed.stored_for = Some(attempt.request);
            }
            Execution::NotCalled | Execution::Failed | Execution::Unknown => {}
        }
        self.open[attempt.request.slot as usize].record = Some(record);
        let event = match looks_up {
            true => Event::LookedUp { request: attempt.request, record },
            false => Event::Reconciled { attempt, record },
        };
        self.tell(now, event, world, sink);
    }
}

/// Whether a draw about an action's tool hits.
fn hits(share: Share, key: Key, purpose: Purpose, nth: u32) -> bool {
    share == Share::ONE || share > Share::ZERO && share.hits(key.draw(purpose, NameHash::NONE, nth))
}
