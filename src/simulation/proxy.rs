//! A proxy between the gateway and a provider that calls the provider again on its own. The router
//! sees one attempt; slots, limits and bills see every call.

use windtunnel_policy::event::{AttemptRef, Event, Send};
use windtunnel_policy::outcome::{Failure, Phase};
use windtunnel_policy::{Duration, Instant, Money};

use super::Simulation;
use super::carry_out::prefix;
use super::occurrence::Occurrence;
use super::open::Latest;
use crate::draw::Purpose;
use crate::fleet::Order;
use crate::queue::{EventKey, Rank};
use crate::record::Sink;
use crate::scenario::{Layer, Scenario};
use crate::world::Marks;

/// What proxies hold of the attempts in flight; empty where there is no proxy.
#[derive(Clone, Debug, Default)]
pub(super) struct Proxies {
    any: bool,
    /// By the router's slot, for the two attempts that may be in flight.
    held: Vec<[Held; 2]>,
}

/// What a proxy holds of one attempt.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// When the gateway gives it up.
    until: Instant,
    /// The proxy's latest wait.
    previous: Duration,
    /// Calls beyond the first that the action's budget leaves.
    left: u16,
}

impl Held {
    const NOTHING: Held = Held { until: Instant::ZERO, previous: Duration::ZERO, left: 0 };
}

impl Proxies {
    pub(super) fn new(scenario: &Scenario) -> Proxies {
        let any = scenario.targets.iter().any(|target| target.upstream_proxy.is_some());
        Proxies { any, held: Vec::new() }
    }

    /// Notes when the attempt that is sent now will be given up.
    #[inline]
    pub(super) fn hold(&mut self, now: Instant, send: &Send) {
        if !self.any {
            return;
        }
        let slot = send.attempt.request.slot as usize;
        if slot >= self.held.len() {
            self.held.resize(slot + 1, [Held::NOTHING; 2]);
        }
        *self.of(send.attempt) =
            Held { until: now + send.timeout, previous: Duration::ZERO, left: send.left };
    }

    /// Of the two in flight one has an odd number: they are a request's first and second.
    fn of(&mut self, attempt: AttemptRef) -> &mut Held {
        &mut self.held[attempt.request.slot as usize][usize::from(attempt.number % 2)]
    }
}

impl Simulation<'_> {
    /// Whether a proxy takes this failure of a call upon itself; the attempt then goes on.
    #[inline]
    pub(super) fn is_hidden(
        &mut self,
        now: Instant,
        attempt: AttemptRef,
        failure: &Failure,
        bill: Money,
    ) -> bool {
        self.proxies.any && self.calls_again(now, attempt, failure, bill)
    }

    #[cold]
    fn calls_again(
        &mut self,
        now: Instant,
        attempt: AttemptRef,
        failure: &Failure,
        bill: Money,
    ) -> bool {
        let slot = attempt.request.slot as usize;
        let open = &mut self.open[slot];
        let target = &self.scenario.targets[usize::from(open.row.target.0)];
        let Some(proxy) = &target.upstream_proxy else { return false };
        let class = &self.scenario.classes[usize::from(open.request.class)];
        let told = match class.retries.as_ref().and_then(|retries| retries.owner) {
            Some(owner) => owner != Layer::UpstreamProxy,
            None => {
                let policy = self.gateways.policy_of(attempt.request);
                proxy.heeds_owner && policy.attempts.owns_retries
            }
        };
        let calls = open.row.hidden_calls + 1;
        let spent = proxy.heeds_left && u16::from(calls) > self.proxies.of(attempt).left;
        if told
            || spent
            || calls >= proxy.attempts
            || failure.phase != Phase::BeforeHeaders
            || !proxy.repeats.contains(&failure.status)
        {
            return false;
        }
        open.bill(failure.usage, bill);
        open.row.hidden_calls = calls;
        open.latest = Latest::Pausing;
        self.ledger.bill(bill);
        let nth = open.sends_before();
        let count = self.layers.count(slot, calls, nth);
        let draw = open.request.key.draw(Purpose::LayerBackoff, target.hash, count);
        let previous = &mut self.proxies.of(attempt).previous;
        *previous = proxy.backoff.delay(u32::from(calls) - 1, *previous, draw);
        let key = EventKey::new(now + *previous, Rank::Timer, open.index, attempt.number);
        self.queue.push(key, Occurrence::UpstreamCall(attempt));
        true
    }

    /// A proxy answers that has called more than once: what it tells of its calls, the router hears
    /// before it hears the answer.
    #[cold]
    pub(super) fn tell_calls(&mut self, now: Instant, attempt: AttemptRef, sink: &mut impl Sink) {
        let slot = attempt.request.slot as usize;
        let row = &self.open[slot].row;
        let calls = u16::from(row.hidden_calls);
        let proxy = &self.scenario.targets[usize::from(row.target.0)].upstream_proxy;
        if proxy.as_ref().is_some_and(|proxy| proxy.tells_calls) {
            if let Some(action) = self.layers.of(slot) {
                self.layers.count_below(action, calls);
            }
            self.route(now, Event::UsedBelow { attempt, calls }, sink);
        }
    }

    /// A proxy's wait is over.
    pub(super) fn on_upstream_call(&mut self, now: Instant, attempt: AttemptRef) {
        let slot = attempt.request.slot as usize;
        let open = &mut self.open[slot];
        if !open.take_up(attempt) || open.latest != Latest::Pausing {
            return;
        }
        let target = open.row.target;
        let tool_at = self.plan_tool(attempt);
        let open = &mut self.open[slot];
        let prefix = prefix(self.scenario, &open.request);
        let nth = open.sends_before();
        let order = Order {
            request: &open.request,
            request_index: open.index,
            attempt,
            target,
            nth_on_target: self.layers.count(slot, open.row.hidden_calls, nth),
            streamed: open.request.marks.has(Marks::STREAMED),
            headers_matter: self.headers_matter,
            chunk_matters: self.chunk_matters,
            prefix,
            tool_at,
            deadline: self.proxies.of(attempt).until,
        };
        open.latest = Latest::InFlight(self.fleet.submit(now, &order));
        if open.measured {
            let accounts = self.totals.accounts(open.account, open.request.tenant);
            accounts.for_each(|totals| totals.hidden_calls += 1);
        }
    }
}
