//! The gateway's side of the naive simulator: sends, what is seen of them, and the ledger.

use windtunnel::record::{AttemptRow, RequestRow};
use windtunnel_policy::event::{AttemptRef, Event, Outcome, Send, Terminal};
use windtunnel_policy::outcome::{Answer, Failure, FailureClass, Phase, Usage};
use windtunnel_policy::{Instant, Money};

use super::fate::{self, Fall, Fate};
use super::simulator::{COMPLETION, Id, Milestone, Naive, Open, What};

impl Open {
    fn live_one(&self, number: u16) -> Option<&AttemptRow> {
        self.live.iter().find(|row| row.number == number)
    }
}

impl Naive<'_> {
    pub(crate) fn send(&mut self, send: &Send) {
        let i = self.number(send.attempt.request);
        let (id, target) = ((i, send.attempt.number), usize::from(send.target.0));
        let used = |of: Option<usize>| {
            let live = self.open.values().flat_map(|open| &open.live);
            let sent = live.filter(|l| l.was_sent);
            sent.filter(|l| of.is_none_or(|t| usize::from(l.target.0) == t)).count() as u32
        };
        let gateway = &self.scenario.file.gateway;
        let connected = gateway.connections.is_none_or(|most| used(None) < most)
            && gateway.connections_per_target.is_none_or(|most| used(Some(target)) < most);
        let now = self.now;
        let open = self.open.get_mut(&i).expect("it is open");
        self.rows.attempts.extend(open.ended.take());
        open.live.push(AttemptRow {
            request: i,
            class: open.request.class,
            number: id.1,
            group: send.group,
            target: send.target,
            recovery: send.recovery,
            decision: None,
            status: 0,
            failure: None,
            phase: Phase::BeforeHeaders,
            breaker: send.breaker,
            waited: send.waited,
            retry_after: send.retry_after,
            arrived: open.request.at,
            sent: now,
            headers: None,
            first_chunk: None,
            first_output: None,
            ended: now,
            cancelled: false,
            was_sent: connected,
            hidden_calls: 0,
            remaining: send.remaining,
            usage: Usage::default(),
            cost: Money::ZERO,
        });
        if !connected {
            return self.agenda.push(((now, COMPLETION, i, id.1, 0), What::NotSent(id)));
        }
        let nth = open.sent_to.iter().filter(|t| **t == target).count() as u32;
        open.sent_to.push(target);
        let request = open.request;
        self.provide(id, request, send, (target, nth));
    }

    /// The gateway gives an attempt up.
    pub(crate) fn abort(&mut self, attempt: AttemptRef, class: Option<FailureClass>) {
        let id = (self.number(attempt.request), attempt.number);
        let before = self.opened(attempt.request).ended.take();
        self.rows.attempts.extend(before);
        let row = *self.open[&id.0].live_one(id.1).expect("what is given up is in flight");
        let phase = match (row.headers, row.first_output) {
            (_, Some(_)) => Phase::AfterOutput,
            (Some(_), None) => Phase::BeforeOutput,
            (None, None) => Phase::BeforeHeaders,
        };
        let usage = if row.was_sent { self.give_up(id) } else { Usage::default() };
        self.ends(id, (0, class, phase), true, usage);
        if class.is_none() {
            let over = self.opened(attempt.request).ended.take();
            self.rows.attempts.extend(over);
        }
    }

    /// Writes the end of an attempt down.
    pub(crate) fn ends(
        &mut self,
        (i, number): Id,
        (status, failure, phase): (u16, Option<FailureClass>, Phase),
        cancelled: bool,
        usage: Usage,
    ) {
        let (now, open) = (self.now, self.open.get_mut(&i).expect("it is open"));
        let place = open.live.iter().position(|row| row.number == number);
        let row = open.live.remove(place.expect("it is in flight"));
        let price = self.scenario.targets[usize::from(row.target.0)].price;
        let cost = price.bill(usage.input, usage.cached, usage.output);
        open.cost += cost;
        let ended =
            AttemptRow { status, failure, phase, cancelled, usage, cost, ended: now, ..row };
        open.ended = Some(ended);
    }

    /// What the gateway sees of an attempt that it still waits for.
    pub(crate) fn sees(&mut self, id: Id, milestone: Milestone) {
        let Some(handle) = self.waits_for(id) else { return };
        let now = self.now;
        let open = self.opened(handle.request);
        let row = open.live.iter_mut().find(|row| row.number == id.1).expect("it is waited for");
        match milestone {
            Milestone::Headers => {
                row.headers = Some(now);
                self.tell(Event::Headers(handle));
            }
            Milestone::Chunk => {
                row.first_chunk = Some(now);
                self.tell(Event::FirstChunk(handle));
            }
            Milestone::Output => {
                row.first_output = Some(now);
                open.released = open.released.map(|_| now);
                self.tell(Event::FirstOutput(handle));
            }
            Milestone::Silence | Milestone::End => {}
        }
    }

    /// The same of its end.
    pub(crate) fn sees_end(&mut self, id: Id, fate: Fate, usage: Usage) {
        let Some(attempt) = self.waits_for(id) else { return };
        match fate {
            Fate::Answer { answer, contract_ok, task_done } => {
                let broken = answer == Answer::Invalid;
                let failure = broken.then_some(FailureClass::ContractFailure);
                self.ends(id, (200, failure, Phase::AfterOutput), false, usage);
                let open = self.opened(attempt.request);
                let row = open.ended.expect("it has just ended");
                open.complete = Some((row, contract_ok, task_done));
                self.tell(Event::Ended { attempt, usage, answer });
            }
            Fate::Failure(Fall { class, status, phase, retry_after, .. }) => {
                self.ends(id, (status, Some(class), phase), false, usage);
                let failure = Failure { class, status, phase, retry_after, usage };
                self.tell(Event::Failed { attempt, failure });
            }
            Fate::Silence(_) => {}
        }
    }

    pub(crate) fn finish(&mut self, i: u64, result: Terminal) {
        let open = self.open.remove(&i).expect("it is open");
        let class = &self.scenario.classes[usize::from(open.request.class)];
        self.rows.attempts.extend(open.ended);
        let (by, refused) = match result.outcome {
            Outcome::Answered(number) => (Some(number), false),
            Outcome::Refused(number) => (Some(number), true),
            _ => (None, false),
        };
        let delivered = open.complete.filter(|(row, ..)| Some(row.number) == by);
        let answer = delivered.filter(|(_, contract_ok, _)| refused || *contract_ok);
        let reference = &self.scenario.targets[usize::from(class.reference.0)];
        let alone = fate::healthy(reference, &open.request, 0).end.div_ceil(1_000_000) as i64;
        let since = |at: Instant| at - open.request.at;
        let answered_by = answer.map(|(row, ..)| row);
        self.rows.requests.push(RequestRow {
            request: i,
            class: open.request.class,
            tenant: open.request.tenant,
            measured: open.measured,
            arrived: open.request.at,
            closed: self.now,
            result,
            answered: answer.is_some(),
            by: answered_by.and_then(|row| row.recovery),
            resent: false,
            transport_success: open.complete.is_some(),
            contract_success: answer.is_some(),
            task_success: !refused && answer.is_some_and(|(.., task_done)| task_done),
            added_latency: answered_by.map(|row| since(row.sent)),
            excess_latency_us: answered_by.map(|r| since(r.ended).as_micros() as i64 - alone),
            ttft: answered_by.map(|_| since(open.released.unwrap_or(self.now))),
            released: open.released.is_some(),
            substitute: delivered.is_some_and(|(row, ..)| {
                let model = |id: usize| &self.scenario.targets[id].model;
                let own = self.scenario.topology.classes[usize::from(open.request.class)].groups[0]
                    .targets[0];
                model(row.target.0.into()) != model(own.0.into())
            }),
            record: None,
            to_disclose: self.scenario.topology.classes[usize::from(open.request.class)]
                .needs
                .disclose_substitutes,
            cost: open.cost,
            wasted: open.cost.saturating_sub(answered_by.map_or(Money::ZERO, |row| row.cost)),
            deadline: class.deadline,
        });
        if let Some(asker) = open.asker {
            self.think(asker);
        }
    }
}
