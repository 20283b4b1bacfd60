//! The naive simulator: a plain list of what will happen, linear searches, and the work of every
//! attempt carried forward at every event. Slow, and plain enough to be checked by eye.
//!
//! It shares with the engine what specifies both: the world, the keyed draws, the router, and the
//! order of events at one instant (completion, weather, cancel, timer, arrival; then request and
//! attempt; at one target, whoever got there first). All the rest is written apart.

use std::collections::BTreeMap;

use windtunnel::draw::{NameHash, Purpose};
use windtunnel::record::{AttemptRow, Rows};
use windtunnel::scenario::Scenario;
use windtunnel::weather::Conditions;
use windtunnel::world::{Marks, World, WorldRequest};
use windtunnel_policy::config::Policy;
use windtunnel_policy::event::{
    Action, AttemptRef, Decision, Event, Left, Request, RequestRef, Tries,
};
use windtunnel_policy::outcome::{FailureClass, Phase, Usage};
use windtunnel_policy::target::{ClassId, TenantId};
use windtunnel_policy::{Instant, Money, Router};

use super::fate::Plan;
use super::limits::Limit;

/// The ledger of this policy in this world.
pub(crate) fn run(scenario: &Scenario, policy: &Policy, world: &World) -> Rows {
    let skies = vec![&world.weather.conditions[0]; scenario.targets.len()];
    let router = Router::new(policy.clone(), scenario.topology.clone()).expect("a valid policy");
    let mut naive = Naive {
        limits: Limit::all(scenario, &skies),
        agenda: Vec::new(),
        open: BTreeMap::new(),
        sent: BTreeMap::new(),
        asked: BTreeMap::new(),
        requests: world.requests.len() as u64,
        waiting: 0,
        now: Instant::ZERO,
        rows: Rows::default(),
        scenario,
        world,
        router,
        skies,
    };
    naive.run();
    naive.rows
}

pub(crate) struct Naive<'s> {
    pub(crate) scenario: &'s Scenario,
    pub(crate) world: &'s World,
    pub(crate) router: Router,
    pub(crate) skies: Vec<&'s Conditions>,
    pub(crate) limits: Vec<Limit<'s>>,
    pub(crate) now: Instant,
    pub(crate) agenda: Vec<(Key, What)>,
    /// Requests that are open, by their number.
    pub(crate) open: BTreeMap<u64, Open>,
    /// Attempts that have not ended at their provider, by request and number.
    pub(crate) sent: BTreeMap<Id, Sent>,
    /// How often each user of a closed loop has asked.
    pub(crate) asked: BTreeMap<(u16, u32), u32>,
    pub(crate) requests: u64,
    pub(crate) waiting: u64,
    pub(crate) rows: Rows,
}

pub(crate) type Id = (u64, u16);
/// Instant, rank, request (or what stands for it), attempt (or what stands for it), kind.
pub(crate) type Key = (Instant, u8, u64, u16, u8);
pub(crate) const COMPLETION: u8 = 0;
const WEATHER: u8 = 1;
const CANCEL: u8 = 2;
const TIMER: u8 = 3;
const ARRIVAL: u8 = 4;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum What {
    Arrives(usize),
    Asks(u16, u32),
    Turns,
    GivesUp(u64),
    Wakes(u64, u32),
    NotSent(Id),
    Fails(Id),
    Reaches(Id),
}

pub(crate) struct Open {
    pub(crate) handle: RequestRef,
    pub(crate) request: WorldRequest,
    pub(crate) measured: bool,
    pub(crate) asker: Option<(u16, u32)>,
    pub(crate) sent_to: Vec<usize>,
    /// Its attempts in flight: one, or two where one is a hedge.
    pub(crate) live: Vec<AttemptRow>,
    pub(crate) ended: Option<AttemptRow>,
    /// The latest complete response: its row, whether it keeps its contract and does the job.
    pub(crate) complete: Option<(AttemptRow, bool, bool)>,
    pub(crate) released: Option<Instant>,
    pub(crate) cost: Money,
}

pub(crate) struct Sent {
    pub(crate) request: WorldRequest,
    pub(crate) target: usize,
    pub(crate) nth: u32,
    pub(crate) at: Instant,
    pub(crate) deadline: Instant,
    pub(crate) place: Place,
    pub(crate) charged: bool,
    pub(crate) unseen: bool,
    pub(crate) plan: Plan,
    /// Work done.
    pub(crate) done: u128,
    /// What is still to come of it, and after how much work.
    pub(crate) ahead: Vec<(u128, Milestone)>,
    pub(crate) phase: Phase,
    pub(crate) silent_since: Option<Instant>,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Place {
    NoWork,
    Waits(u64),
    Works,
}

#[derive(Clone, Copy)]
pub(crate) enum Milestone {
    Headers,
    Chunk,
    Output,
    Silence,
    End,
}

impl Naive<'_> {
    fn run(&mut self) {
        for (i, request) in self.world.requests.iter().enumerate() {
            self.agenda.push(((request.at, ARRIVAL, i as u64, 0, 0), What::Arrives(i)));
        }
        for edge in &self.world.weather.edges {
            self.agenda.push(((edge.at, WEATHER, 0, 0, 0), What::Turns));
        }
        for (i, users) in self.world.closed_loops.iter().map(|l| l.users).enumerate() {
            (0..users).for_each(|user| self.think((i as u16, user)));
        }
        loop {
            let planned = self.agenda.iter().copied().min_by_key(|(key, _)| *key);
            let heads = (0..self.skies.len()).filter_map(|target| self.head(target));
            let Some((key, what)) = planned.into_iter().chain(heads).min_by_key(|(key, _)| *key)
            else {
                break;
            };
            self.agenda.retain(|planned| *planned != (key, what));
            self.work_until(key.0);
            self.happens(what);
        }
        assert!(self.open.is_empty(), "every request is closed");
    }

    fn happens(&mut self, what: What) {
        match what {
            What::Arrives(i) if self.wanted() => {
                self.arrive(i as u64, self.world.requests[i], None)
            }
            What::Asks(of, user) if self.wanted() => {
                let n = self.asked.entry((of, user)).or_default();
                let request = self.world.ask(of.into(), user, *n, self.now);
                *n += 1;
                self.requests += 1;
                self.arrive(self.requests - 1, request, Some((of, user)));
            }
            What::Arrives(_) | What::Asks(..) => {}
            What::Turns => self.weather_turns(),
            What::GivesUp(i) => {
                if let Some(open) = self.open.get(&i) {
                    self.tell(Event::Cancelled(open.handle));
                }
            }
            What::Wakes(i, epoch) => {
                let Some(open) = self.open.get(&i) else { return };
                let request = open.handle;
                let numbers: Vec<u16> = open.live.iter().map(|row| row.number).collect();
                for number in numbers {
                    let attempt = AttemptRef { request, number };
                    if let Some(at) = self.sent.get(&(i, number)).and_then(|s| self.last_output(s))
                        && self.router.policy().timeouts.idle_stream.is_some()
                    {
                        self.tell(Event::Progress { attempt, at });
                    }
                }
                self.tell(Event::Timer { request, epoch });
            }
            What::NotSent(id) => {
                let Some(handle) = self.waits_for(id) else { return };
                let class = Some(FailureClass::Transport);
                self.ends(id, (0, class, Phase::BeforeHeaders), false, Usage::default());
                self.tell(Event::NotSent(handle));
            }
            What::Fails(id) => {
                if let Some(sent) = self.sent.get(&id) {
                    let (fate, seen) = (sent.plan.fate, !sent.unseen);
                    let usage = self.falls(id);
                    if seen {
                        self.sees_end(id, fate, usage);
                    }
                }
            }
            What::Reaches(id) => self.reaches(id),
        }
    }

    /// Whether requests are still taken in.
    fn wanted(&self) -> bool {
        self.now < self.world.measured_to || self.open.values().any(|open| open.measured)
    }

    pub(crate) fn think(&mut self, (of, user): (u16, u32)) {
        let n = self.asked.get(&(of, user)).copied().unwrap_or(0);
        let at = self.now + self.world.think(of.into(), user, n);
        self.agenda.push(((at, ARRIVAL, user.into(), of, 1), What::Asks(of, user)));
    }

    fn arrive(&mut self, i: u64, request: WorldRequest, asker: Option<(u16, u32)>) {
        let own_fault = request.marks.has(Marks::INVALID) || request.marks.has(Marks::CANCELS);
        let inside = self.world.measured_from <= self.now && self.now < self.world.measured_to;
        let mut actions = Vec::new();
        let arrived = Request {
            id: i,
            salt: request.key.draw(Purpose::Salt, NameHash::NONE, 0),
            class: ClassId(request.class),
            input_tokens: request.input,
            max_output_tokens: request.max_output,
            streamed: request.marks.has(Marks::STREAMED),
            session: request.session,
            tenant: TenantId(request.tenant),
            action: i,
            tries: Tries::FIRST,
            left: Left::ALL,
        };
        self.router.handle(self.now, Event::Arrived(arrived), &mut actions);
        let handle = actions.iter().find_map(|action| match action {
            Action::Send(send) => Some(send.attempt.request),
            Action::SetTimer { request, .. } | Action::Finish { request, .. } => Some(*request),
            _ => None,
        });
        let open = Open {
            handle: handle.expect("something follows an arrival"),
            request,
            measured: inside && !own_fault,
            asker,
            sent_to: Vec::new(),
            live: Vec::new(),
            ended: None,
            complete: None,
            released: None,
            cost: Money::ZERO,
        };
        self.open.insert(i, open);
        let patience = self.now + request.patience;
        self.agenda.push(((patience, CANCEL, i, 0, 0), What::GivesUp(i)));
        self.obey(actions);
    }

    pub(crate) fn tell(&mut self, event: Event) {
        let mut actions = Vec::new();
        self.router.handle(self.now, event, &mut actions);
        self.obey(actions);
    }

    fn obey(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Send(send) => self.send(&send),
                Action::SetTimer { request, at, epoch } => {
                    let i = self.number(request);
                    self.agenda.retain(|(_, w)| !matches!(w, What::Wakes(other, _) if *other == i));
                    self.agenda.push(((at, TIMER, i, epoch as u16, 0), What::Wakes(i, epoch)));
                }
                Action::Cancel { attempt, class } => self.abort(attempt, class),
                Action::Reconcile(_) | Action::LookUp { .. } => {
                    unreachable!("no policy here asks what tools did")
                }
                Action::Release(attempt) => {
                    let now = self.now;
                    self.opened(attempt.request).released.get_or_insert(now);
                }
                Action::Decided { attempt, decision } => {
                    let open = self.opened(attempt.request);
                    if let Some(row) = &mut open.ended {
                        row.decision = Some(decision);
                    }
                    if decision == Decision::Await {
                        let over = open.ended.take();
                        self.rows.attempts.extend(over);
                    }
                }
                Action::Finish { request, result } => self.finish(self.number(request), result),
                Action::Breaker { .. } => {}
            }
        }
    }

    pub(crate) fn number(&self, handle: RequestRef) -> u64 {
        *self.open.iter().find(|(_, open)| open.handle == handle).expect("it is open").0
    }

    pub(crate) fn opened(&mut self, handle: RequestRef) -> &mut Open {
        self.open.values_mut().find(|open| open.handle == handle).expect("it is open")
    }

    /// The router's handle of an attempt that its request still waits for.
    pub(crate) fn waits_for(&self, (i, number): Id) -> Option<AttemptRef> {
        let open = self.open.get(&i).filter(|open| open.live.iter().any(|l| l.number == number))?;
        Some(AttemptRef { request: open.handle, number })
    }
}
