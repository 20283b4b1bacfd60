//! What happens to requests that are open: attempts move on, timers and callers' patience run out.

use windtunnel_policy::event::{AttemptRef, Event, RequestRef};
use windtunnel_policy::outcome::{Answer, Failure, FailureClass, Phase, Usage};
use windtunnel_policy::{Instant, Money};

use super::Simulation;
use super::alarm::Woken;
use super::occurrence::Occurrence;
use super::open::{Asker, Complete, End, Latest};
use super::row::Row;
use crate::fleet::{Notice, NoticeKind};
use crate::record::Sink;
use crate::world::{KillSwitch, World};

impl Simulation<'_> {
    /// A wake-up of a request comes.
    fn on_wake_up(
        &mut self,
        now: Instant,
        request: RequestRef,
        world: &World,
        sink: &mut impl Sink,
    ) {
        let open = &mut self.open[request.slot as usize];
        let woken = open.alarm.wake(now);
        if std::mem::take(&mut open.patient) {
            let until = open.request.at + open.request.patience;
            self.queue_patience(now, request, until);
        }
        match woken {
            Woken::ForNothing => {}
            Woken::TooEarly(at, epoch) => self.queue_wake_up(now, request, at, epoch),
            Woken::Fires(epoch) => {
                if self.watches_idle {
                    self.report_progress(now, request, sink);
                }
                self.tell(now, Event::Timer { request, epoch }, world, sink);
            }
        }
    }

    pub(super) fn on_occurrence(
        &mut self,
        now: Instant,
        occurrence: Occurrence,
        world: &World,
        sink: &mut impl Sink,
    ) {
        match occurrence {
            Occurrence::Timer(request) => self.on_wake_up(now, request, world, sink),
            _ => self.on_other(now, occurrence, world, sink),
        }
    }

    /// What happens seldom.
    #[inline(never)]
    fn on_other<S: Sink>(
        &mut self,
        now: Instant,
        occurrence: Occurrence,
        world: &World,
        sink: &mut S,
    ) {
        match occurrence {
            Occurrence::Timer(request) => self.on_wake_up(now, request, world, sink),
            Occurrence::Patience(request) => {
                self.tell(now, Event::Cancelled(request), world, sink);
            }
            Occurrence::NotSent(attempt) => {
                let open = &mut self.open[attempt.request.slot as usize];
                if open.take_up(attempt) {
                    open.end_latest::<S>(
                        now,
                        &End {
                            status: 0,
                            failure: Some(FailureClass::Transport),
                            phase: Some(Phase::BeforeHeaders),
                            cancelled: false,
                            usage: Usage::default(),
                            bill: Money::ZERO,
                        },
                    );
                    self.ledger.end(Money::ZERO);
                    self.tell(now, Event::NotSent(attempt), world, sink);
                }
            }
            Occurrence::Judged { gateway, target, done } => {
                let event = Event::TaskJudged { target, done };
                self.gateways.tell(now, gateway.into(), event, &mut self.actions);
                sink.routed(now, &event, &self.actions);
                self.carry_out(now, world, sink);
            }
            Occurrence::Record(attempt) => self.on_record(now, attempt, world, sink),
            Occurrence::UpstreamCall(attempt) => self.on_upstream_call(now, attempt),
            Occurrence::Layer { action, epoch } => self.on_layer(now, action, epoch, world, sink),
            Occurrence::Ask { closed_loop, user } if self.takes_in(now, world) => {
                let asked = &mut self.asked[usize::from(closed_loop)][user as usize];
                let request = world.ask(closed_loop.into(), user, *asked, now);
                *asked += 1;
                let index = self.next_index;
                self.next_index += 1;
                self.arrive(now, &request, index, Some(Asker { closed_loop, user }), world, sink);
            }
            Occurrence::WaitedEnough(ticket) => self.on_waited_enough(now, ticket, world, sink),
            Occurrence::Admit(gateway) => self.admit(now, gateway, world, sink),
            Occurrence::Gossip(policy) => self.on_gossip(now, policy, world, sink),
            Occurrence::Operator(position) => {
                let KillSwitch { target, off, .. } = world.switches[position as usize];
                let event = Event::KillSwitch { target, off };
                self.gateways.tell_all(now, event, &mut self.actions);
                sink.routed(now, &event, &self.actions);
                self.carry_out(now, world, sink);
            }
            Occurrence::Ask { .. } => {}
        }
    }

    /// Tells the router when the stream of a request was last seen, so that its idle timeout needs
    /// no event per token.
    fn report_progress(&mut self, now: Instant, request: RequestRef, sink: &mut impl Sink) {
        let open = &self.open[request.slot as usize];
        let both = [Some((open.latest, open.row.number)), open.rival()];
        for (latest, number) in both.into_iter().flatten() {
            let Latest::InFlight(fleet) = latest else { continue };
            if let Some(at) = self.fleet.last_output(now, fleet) {
                let attempt = AttemptRef { request, number };
                self.route(now, Event::Progress { attempt, at }, sink);
            }
        }
    }

    /// The gateway sees something of an attempt.
    #[inline(never)]
    pub(super) fn on_notice<S: Sink>(
        &mut self,
        now: Instant,
        notice: &Notice,
        world: &World,
        sink: &mut S,
    ) {
        if self.heed(now, notice, sink) {
            self.carry_out(now, world, sink);
        }
    }

    /// Notes what is seen of an attempt, and tells the router if it concerns it; answers whether it does. An
    /// event is large: it is told where it is made, and nothing is put together of several.
    #[inline(always)]
    fn heed<S: Sink>(&mut self, now: Instant, notice: &Notice, sink: &mut S) -> bool {
        let attempt = notice.attempt;
        if let NoticeKind::CallsTool(key) = notice.kind {
            self.on_tool_call(now, attempt, key, sink);
            return false;
        }
        let open = &mut self.open[attempt.request.slot as usize];
        if !open.take_up(attempt) {
            return false;
        }
        match notice.kind {
            NoticeKind::CallsTool(_) => return false,
            NoticeKind::Headers => {
                if S::KEEPS_ROWS {
                    open.seen().headers = Some(now);
                }
                self.route(now, Event::Headers(attempt), sink);
            }
            NoticeKind::FirstChunk => {
                if S::KEEPS_ROWS {
                    open.seen().first_chunk = Some(now);
                }
                self.route(now, Event::FirstChunk(attempt), sink);
            }
            NoticeKind::FirstOutput => {
                if S::KEEPS_ROWS {
                    open.seen().first_output = Some(now);
                }
                // Headers, or a chunk without content, that were passed on before are no output.
                if let Some(released) = &mut open.released {
                    *released = now;
                }
                self.route(now, Event::FirstOutput(attempt), sink);
            }
            NoticeKind::Ended { usage, answer, task_done, contract_ok, bill } => {
                self.end_tool(attempt, false);
                let open = &mut self.open[attempt.request.slot as usize];
                let broken = answer == Answer::Invalid;
                let end = End {
                    status: 200,
                    failure: broken.then_some(FailureClass::ContractFailure),
                    phase: Some(Phase::AfterOutput),
                    cancelled: false,
                    usage,
                    bill,
                };
                open.end_latest::<S>(now, &end);
                let Row { number, recovery, target, .. } = open.row;
                open.complete = Some(Complete {
                    number,
                    target,
                    recovery,
                    sent: open.course.sent,
                    ended: now,
                    cost: bill,
                    contract_ok,
                    task_done,
                });
                let hides = open.row.hidden_calls > 0;
                self.end_attempt(attempt, target.0, bill);
                if hides {
                    self.tell_calls(now, attempt, sink);
                }
                self.route(now, Event::Ended { attempt, usage, answer }, sink);
            }
            NoticeKind::Failed { failure, bill } => {
                self.end_tool(attempt, false);
                if self.is_hidden(now, attempt, &failure, bill) {
                    return false;
                }
                let open = &mut self.open[attempt.request.slot as usize];
                let Failure { class, status, phase, usage, .. } = failure;
                let end = End {
                    status,
                    failure: Some(class),
                    phase: Some(phase),
                    cancelled: false,
                    usage,
                    bill,
                };
                open.end_latest::<S>(now, &end);
                let (target, hides) = (open.row.target.0, open.row.hidden_calls > 0);
                self.end_attempt(attempt, target, bill);
                if hides {
                    self.tell_calls(now, attempt, sink);
                }
                self.route(now, Event::Failed { attempt, failure }, sink);
            }
        }
        true
    }

    #[inline]
    pub(super) fn end_attempt(&mut self, attempt: AttemptRef, target: u16, bill: Money) {
        self.pool.give_back(self.gateways.of(attempt.request), usize::from(target));
        self.ledger.end(bill);
    }
}
