//! Requests at a gateway's door: they come in, wait, or are turned away. Nobody behind the door, router
//! or fleet, hears of those who do not come in.

use windtunnel_policy::event::{Advice, Outcome, StopReason, Terminal};
use windtunnel_policy::outcome::FailureClass;
use windtunnel_policy::{Duration, Instant, Money};

use super::Simulation;
use super::arrive::Asked;
use super::door::{Found, Waiting};
use super::occurrence::Occurrence;
use crate::queue::{EventKey, Rank};
use crate::record::{RequestRow, Sink};
use crate::world::{Marks, World};

impl Simulation<'_> {
    /// A request comes to a gateway that may be full.
    pub(super) fn knock(
        &mut self,
        now: Instant,
        asked: Asked,
        action: Option<u32>,
        world: &World,
        sink: &mut impl Sink,
    ) {
        let tenant = self.scenario.tenants.get(usize::from(asked.request.tenant));
        let priority = tenant.map_or(0, |tenant| tenant.priority);
        match self.door.knock(now, asked, action, priority) {
            Found::Place => self.enter(now, &asked, action, now, world, sink),
            Found::Nothing => {
                self.turn_away(now, asked, action, StopReason::GatewayFull, world, sink)
            }
            Found::Queue(ticket, loses) => {
                if let Some(action) = action {
                    self.layers.queue(action, ticket);
                }
                let (waits, _) = self.longest_wait(&asked);
                let key = EventKey::new(now + waits, Rank::Cancel, asked.index, 0);
                self.timers.push(now, key, Occurrence::WaitedEnough(ticket));
                if let Some(Waiting { asked, action, since, .. }) = loses {
                    self.waited(now, &asked, since);
                    self.turn_away(now, asked, action, StopReason::GatewayFull, world, sink);
                }
            }
        }
    }

    /// A place inside a gateway has become free.
    pub(super) fn admit(
        &mut self,
        now: Instant,
        gateway: u16,
        world: &World,
        sink: &mut impl Sink,
    ) {
        let Some(Waiting { asked, action, since, .. }) = self.door.next(gateway) else { return };
        self.waited(now, &asked, since);
        self.enter(now, &asked, action, since, world, sink);
    }

    /// A request has waited as long as its caller or its deadline allows.
    pub(super) fn on_waited_enough(
        &mut self,
        now: Instant,
        ticket: u32,
        world: &World,
        sink: &mut impl Sink,
    ) {
        let Some(Waiting { asked, action, since, .. }) = self.door.give_up(ticket) else { return };
        self.waited(now, &asked, since);
        let (_, reason) = self.longest_wait(&asked);
        self.turn_away(now, asked, action, reason, world, sink);
    }

    /// A layer around the gateway gives up a request that waits.
    pub(super) fn give_up_waiting(
        &mut self,
        now: Instant,
        ticket: u32,
        world: &World,
        sink: &mut impl Sink,
    ) {
        let waiting = self.door.give_up(ticket).expect("the request of the action waits");
        let Waiting { asked, action, since, .. } = waiting;
        self.waited(now, &asked, since);
        self.turn_away(now, asked, action, StopReason::CallerCancelled, world, sink);
    }

    /// How long a request may wait from now, when it comes, and what then ends it.
    fn longest_wait(&self, asked: &Asked) -> (Duration, StopReason) {
        let class = &self.scenario.topology.classes[usize::from(asked.request.class)];
        let deadline = match asked.request.marks.has(Marks::STREAMED) {
            true => class.deadline_total.min(class.deadline_first_output),
            false => class.deadline_total,
        };
        match asked.request.patience <= deadline {
            true => (asked.request.patience, StopReason::CallerCancelled),
            false => (deadline, StopReason::Deadline),
        }
    }

    /// Counts how long a request has waited at the door.
    fn waited(&mut self, now: Instant, asked: &Asked, since: Instant) {
        if asked.measured {
            let waited = u128::from((now - since).as_micros());
            let accounts = self.totals.accounts(asked.account, asked.request.tenant);
            accounts.for_each(|totals| totals.door_wait_sum += waited);
        }
    }

    /// Closes a request that has not come in.
    fn turn_away(
        &mut self,
        now: Instant,
        asked: Asked,
        action: Option<u32>,
        reason: StopReason,
        world: &World,
        sink: &mut impl Sink,
    ) {
        let cap = self.scenario.file.gateway.in_flight.as_ref();
        let (outcome, class, status) = match reason {
            StopReason::CallerCancelled => (Outcome::Cancelled, FailureClass::CallerCancelled, 499),
            StopReason::Deadline => (Outcome::Deadline, FailureClass::DeadlineExhausted, 504),
            _ => {
                let status = cap.expect("only a gateway with a cap is full").status;
                (Outcome::TurnedAway, FailureClass::GatewayDenied, status)
            }
        };
        let result = Terminal {
            id: asked.index,
            outcome,
            status,
            class: Some(class),
            stop: Some(reason),
            // Nothing was done for it.
            retryable: outcome != Outcome::Cancelled,
            retry_after: None,
            attempts: 0,
            cost: Money::ZERO,
            disclosed: false,
            advice: match outcome {
                Outcome::Cancelled => Advice::Nothing,
                _ => Advice::SendAgain,
            },
        };
        let row = RequestRow {
            request: asked.index,
            class: asked.request.class,
            tenant: asked.request.tenant,
            measured: asked.measured,
            arrived: asked.request.at,
            closed: now,
            result,
            answered: false,
            by: None,
            resent: false,
            transport_success: false,
            contract_success: false,
            task_success: false,
            added_latency: None,
            excess_latency_us: None,
            ttft: None,
            released: false,
            substitute: false,
            record: None,
            to_disclose: false,
            cost: Money::ZERO,
            wasted: Money::ZERO,
            deadline: self.scenario.classes[usize::from(asked.request.class)].deadline,
        };
        self.closed(now, &row, &asked.whose(), action, world, sink);
    }
}
