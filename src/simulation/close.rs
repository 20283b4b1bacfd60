//! The close of a request: its row, and what it adds to the totals.

use windtunnel_policy::event::{Outcome, RequestRef, Terminal};
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Duration, Instant, Money};

use super::Simulation;
use super::arrive::Whose;
use super::occurrence::Occurrence;
use super::open::{Complete, Open};
use crate::draw::{NameHash, Purpose};
use crate::queue::{EventKey, Rank};
use crate::record::{ClassTotals, RequestRow, Sink};
use crate::scenario::Scenario;
use crate::world::{Marks, World};

/// Which targets answer with another model than the one asked for.
#[derive(Clone, Debug)]
pub(super) struct Substitutes {
    /// By class, then target.
    by_class: Vec<bool>,
    targets: usize,
}

impl Substitutes {
    pub(super) fn new(scenario: &Scenario) -> Substitutes {
        let classes = scenario.topology.classes.iter();
        let by_class = classes.flat_map(|class| {
            let asked = &scenario.targets[usize::from(class.groups[0].targets[0].0)].model;
            scenario.targets.iter().map(move |target| target.model != *asked)
        });
        Substitutes { by_class: by_class.collect(), targets: scenario.targets.len() }
    }

    fn are(&self, class: u16, target: TargetId) -> bool {
        self.by_class[usize::from(class) * self.targets + usize::from(target.0)]
    }
}

impl Simulation<'_> {
    #[inline(never)]
    pub(super) fn close<S: Sink>(
        &mut self,
        now: Instant,
        request: RequestRef,
        result: &Terminal,
        world: &World,
        sink: &mut S,
    ) {
        let slot = request.slot as usize;
        self.flush(slot, sink);
        let open = &mut self.open[slot];
        // A handle nobody holds: late occurrences of this request find nothing.
        open.handle.generation = open.handle.generation.wrapping_add(1);
        let (whose, gateway) = (open.whose(), open.gateway);
        if !self.door.is_open() && self.door.leave(gateway) {
            // Before anybody who comes at this moment.
            let key = EventKey::new(now, Rank::Completion, self.open[slot].index, 0);
            self.queue.push(key, Occurrence::Admit(gateway));
        }
        if self.is_told_of::<S>(slot) {
            return self.close_and_tell(now, slot, result, world, sink);
        }
        // The commonest by far. Nobody else looks at the row: the totals are taken from registers, and none
        // is put together.
        let row = self.request_row(now, &self.open[slot], result);
        self.count_request(&row, &whose);
        self.settle_account(now, &row, &whose, world);
    }

    /// Whether anybody is told how a request ends, besides the totals of its class.
    #[inline(always)]
    fn is_told_of<S: Sink>(&self, slot: usize) -> bool {
        let class = usize::from(self.open[slot].request.class);
        S::KEEPS_ROWS
            || !self.totals.tenants.is_empty()
            || self.scenario.classes[class].judged.is_some()
            || self.layers.of(slot).is_some()
    }

    /// The same with a row that is handed on: to a sink, to the totals of a tenant, to an application that
    /// judges answers, or to the layers outside the gateway.
    #[inline(never)]
    fn close_and_tell(
        &mut self,
        now: Instant,
        slot: usize,
        result: &Terminal,
        world: &World,
        sink: &mut impl Sink,
    ) {
        let open = &self.open[slot];
        let (row, whose) = (self.request_row(now, open, result), open.whose());
        if self.scenario.classes[usize::from(row.class)].judged.is_some() {
            self.judge(now, slot, &row);
        }
        self.closed(now, &row, &whose, self.layers.of(slot), world, sink);
    }

    /// A request was closed, as `row` says.
    pub(super) fn closed(
        &mut self,
        now: Instant,
        row: &RequestRow,
        whose: &Whose,
        action: Option<u32>,
        world: &World,
        sink: &mut impl Sink,
    ) {
        self.count_request(row, whose);
        if let Some(tenant) = self.tenant_of(row) {
            tenant.take(row);
        }
        sink.request(row);
        match action {
            Some(action) => self.on_result(now, action, row, world),
            None => self.settle(now, row, whose, world),
        }
    }

    /// The totals of its tenant, where it counts and tenants are told apart.
    fn tenant_of(&mut self, row: &RequestRow) -> Option<&mut ClassTotals> {
        self.totals.tenants.get_mut(usize::from(row.tenant)).filter(|_| row.measured)
    }

    /// Counts what a closed request took.
    #[inline(always)]
    fn count_request(&mut self, row: &RequestRow, whose: &Whose) {
        if row.measured {
            self.totals.classes[usize::from(whose.account)].take(row);
        }
        self.ledger.close(row.cost);
    }

    /// An answer was delivered: where the class's application judges such, it will say what it was
    /// worth.
    #[cold]
    fn judge(&mut self, now: Instant, slot: usize, row: &RequestRow) {
        let (open, Outcome::Answered(number)) = (&self.open[slot], row.result.outcome) else {
            return;
        };
        let class = &self.scenario.classes[usize::from(row.class)];
        let (Some(judged), Some(complete)) = (&class.judged, open.complete) else { return };
        let (key, nth) = (open.request.key, u32::from(number));
        if !judged.share.hits(key.draw(Purpose::Judged, NameHash::NONE, nth)) {
            return;
        }
        let after = judged.after.value(|| key.draw(Purpose::JudgedAfter, NameHash::NONE, nth));
        let at = EventKey::new(now + Duration::from_micros(after), Rank::Timer, open.index, number);
        let (gateway, target, done) = (open.gateway, complete.target, row.task_success);
        self.queue.push(at, Occurrence::Judged { gateway, target, done });
    }

    /// What was asked is over, as `row` says.
    pub(super) fn settle(&mut self, now: Instant, row: &RequestRow, whose: &Whose, world: &World) {
        let keeps_times = self.keeps_times;
        if let Some(tenant) = self.tenant_of(row) {
            match keeps_times {
                true => tenant.close(row),
                false => tenant.count(row),
            }
        }
        self.settle_account(now, row, whose, world);
    }

    /// The same without the totals of its tenant.
    #[inline(always)]
    fn settle_account(&mut self, now: Instant, row: &RequestRow, whose: &Whose, world: &World) {
        if row.measured {
            self.measured_open -= 1;
            self.totals.classes[usize::from(whose.account)].count(row);
            if self.keeps_times {
                self.unrecorded.keep(whose.account, row.times(), &mut self.totals.classes);
            }
        }
        let marks = whose.marks;
        if !marks.has(Marks::INVALID) && !marks.has(Marks::CANCELS) {
            self.count_interval(row, whose.interval);
            self.watch.on_close(row.arrived, row.answered);
        }
        if let Some(asker) = whose.asker {
            self.think(now, asker, world);
        }
    }

    #[inline(always)]
    fn request_row(&self, now: Instant, open: &Open, result: &Terminal) -> RequestRow {
        let class = &self.scenario.classes[usize::from(open.request.class)];
        let (by, refused) = match result.outcome {
            Outcome::Answered(n) => (Some(n), false),
            Outcome::Refused(n) => (Some(n), true),
            _ => (None, false),
        };
        let delivered = open.complete.as_ref().filter(|c| Some(c.number) == by);
        assert!(by.is_none() || delivered.is_some(), "an answer comes from a complete response");
        let contract_success = delivered.is_some_and(|c| refused || c.contract_ok);
        let answer = delivered.filter(|_| contract_success);
        let excess = |complete: &Complete| {
            let took = complete.ended - open.request.at;
            took.as_micros() as i64 - open.request.unloaded.as_micros() as i64
        };
        RequestRow {
            request: open.index,
            class: open.request.class,
            tenant: open.request.tenant,
            measured: open.measured,
            arrived: open.request.at,
            closed: now,
            result: *result,
            answered: answer.is_some(),
            by: answer.and_then(|c| c.recovery),
            resent: false,
            transport_success: open.complete.is_some(),
            contract_success,
            task_success: answer.is_some_and(|c| !refused && c.task_done),
            added_latency: answer.map(|c| c.sent - open.request.at),
            excess_latency_us: answer.map(excess),
            ttft: answer.map(|_| open.released.unwrap_or(now) - open.request.at),
            released: open.released.is_some(),
            substitute: delivered
                .is_some_and(|c| self.substitutes.are(open.request.class, c.target)),
            to_disclose: self.scenario.topology.classes[usize::from(open.request.class)]
                .needs
                .disclose_substitutes,
            record: open.record,
            cost: open.cost,
            wasted: open.cost.saturating_sub(answer.map_or(Money::ZERO, |c| c.cost)),
            deadline: class.deadline,
        }
    }

    #[inline(always)]
    fn count_interval(&mut self, row: &RequestRow, arrival: usize) {
        let took = (row.closed - row.arrived).min(row.deadline);
        let counted = if row.answered { took } else { row.deadline };
        let interval = self.totals.interval(arrival);
        interval.answered += u64::from(row.answered);
        interval.raw += u64::from(row.answered && row.by.is_none());
        interval.latency_sum += u128::from(counted.as_micros());
        interval.cost += u128::from(row.cost.as_pico());
        if row.answered {
            self.totals.interval(self.interval.at(row.closed)).goodput += 1;
        }
    }
}
