//! The close of a request: its row, and what it adds to the totals.

use windtunnel_policy::event::{Outcome, RequestRef, Terminal};
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Duration, Instant, Money};

use super::Simulation;
use super::happen::Asked;
use super::occurrence::Occurrence;
use super::open::{Complete, Open};
use crate::draw::{NameHash, Purpose};
use crate::queue::{EventKey, Rank};
use crate::record::{RequestRow, Sink};
use crate::world::{Marks, World};

impl Simulation<'_> {
    pub(super) fn close(
        &mut self,
        now: Instant,
        request: RequestRef,
        result: &Terminal,
        world: &World,
        sink: &mut impl Sink,
    ) {
        let slot = request.slot as usize;
        self.flush(slot, sink);
        let row = self.request_row(now, &self.open[slot], result);
        let open = &mut self.open[slot];
        // A handle nobody holds: late occurrences of this request find nothing.
        open.handle.generation = open.handle.generation.wrapping_add(1);
        let asked = open.asked();
        if !self.door.is_open() && self.door.leave(asked.gateway) {
            // Before anybody who comes at this moment.
            let key = EventKey::new(now, Rank::Completion, row.request, 0);
            self.queue.push(key, Occurrence::Admit(asked.gateway));
        }
        self.judge(now, slot, &row);
        self.closed(now, &row, &asked, self.layers.of(slot), world, sink);
    }

    /// A request was closed, as `row` says.
    pub(super) fn closed(
        &mut self,
        now: Instant,
        row: &RequestRow,
        asked: &Asked,
        action: Option<u32>,
        world: &World,
        sink: &mut impl Sink,
    ) {
        if row.measured {
            self.totals.accounts(asked.account, row.tenant).for_each(|totals| totals.take(row));
        }
        self.ledger.close(row.cost);
        sink.request(row);
        match action {
            Some(action) => self.on_result(now, action, row, world),
            None => self.settle(now, row, asked, world),
        }
    }

    /// An answer was delivered: where the class's application judges such, it will say what it was
    /// worth.
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
    pub(super) fn settle(&mut self, now: Instant, row: &RequestRow, asked: &Asked, world: &World) {
        if row.measured {
            self.measured_open -= 1;
            let keeps_times = self.keeps_times;
            self.totals.accounts(asked.account, row.tenant).for_each(|totals| match keeps_times {
                true => totals.close(row),
                false => totals.count(row),
            });
        }
        let marks = asked.request.marks;
        if !marks.has(Marks::INVALID) && !marks.has(Marks::CANCELS) {
            self.count_interval(row, asked.interval);
            self.watch.on_close(row.arrived, row.answered);
        }
        if let Some(asker) = asked.asker {
            self.think(now, asker, world);
        }
    }

    fn request_row(&self, now: Instant, open: &Open, result: &Terminal) -> RequestRow {
        let class = &self.scenario.classes[usize::from(open.request.class)];
        let (by, refused) = match result.outcome {
            Outcome::Answered(n) => (Some(n), false),
            Outcome::Refused(n) => (Some(n), true),
            _ => (None, false),
        };
        let delivered = open.complete.filter(|c| Some(c.number) == by);
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
            excess_latency_us: answer.map(|c| excess(&c)),
            ttft: answer.map(|_| open.released.unwrap_or(now) - open.request.at),
            released: open.released.is_some(),
            substitute: delivered.is_some_and(|c| {
                let model = |target: TargetId| &self.scenario.targets[usize::from(target.0)].model;
                let asked = &self.scenario.topology.classes[usize::from(open.request.class)];
                model(c.target) != model(asked.groups[0].targets[0])
            }),
            to_disclose: self.scenario.topology.classes[usize::from(open.request.class)]
                .needs
                .disclose_substitutes,
            record: open.record,
            cost: open.cost,
            wasted: open.cost.saturating_sub(answer.map_or(Money::ZERO, |c| c.cost)),
            deadline: class.deadline,
        }
    }

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
