//! The provider fleet of one run: slots, queues, limits, and every attempt from its sending to
//! its end at the provider.
//!
//! What becomes of an attempt is drawn when it is sent and never again; how long that takes is
//! not fixed, because everybody in work shares the target's speed, which follows load and
//! weather. The fleet knows nothing of policies. It is driven by an event loop: [`Fleet::submit`]
//! and [`Fleet::abort`] by the gateway, [`Fleet::advance`] (when it is time for [`Fleet::next`])
//! and [`Fleet::on_edge`] by time; what the gateway gets to see comes back as [`Notice`]s.
//!
//! An attempt meets, in this order: validation of the request, limits, the content filter,
//! failures (the weather's, then the card's own), capacity. What fails before headers holds no
//! slot. Of an attempt that is not streamed nothing is seen before its end.
//!
//! Invariants, asserted: a slot or a place in a limit is given back once for every time it was
//! taken; a bill is always the price of the usage beside it.

mod agenda;
mod attempt;
mod cache;
mod charge;
mod climate;
mod clock;
mod endings;
mod limit;
mod luck;
mod notice;
mod site;
mod slab;

use windtunnel_policy::event::AttemptRef;
use windtunnel_policy::outcome::{Phase, Usage};
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Instant, Share};

use agenda::{Agenda, Due};
use attempt::{Attempt, Fall, Stage};
use cache::Caches;
use charge::Ask;
use limit::{Limit, Refusal};
use luck::Prospect;
pub use notice::{Bill, Notice, NoticeKind};
use site::Site;
pub use slab::FleetRef;
use slab::Slab;

use crate::draw::Key;
use crate::queue::EventKey;
use crate::scenario::{AbortRule, Scenario, TargetModel};
use crate::weather::{Edge, Weather};
use crate::world::{World, WorldRequest};

/// The providers' side of one run.
#[derive(Clone, Debug)]
pub struct Fleet {
    sites: Vec<Site>,
    limits: Vec<Limit>,
    attempts: Slab,
    agenda: Agenda,
    caches: Caches,
    /// Keys luck that many requests share.
    world: Key,
    /// Scratch: attempts in flight at one target.
    in_flight: Vec<FleetRef>,
}

/// One send.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// What the world knows of the request.
    pub request: &'a WorldRequest,
    /// The request's place in the order of a run.
    pub request_index: u64,
    /// Handed back in every [`Notice`].
    pub attempt: AttemptRef,
    /// Where it goes.
    pub target: TargetId,
    /// 0 for the request's first attempt at this target, 1 for the second, …
    pub nth_on_target: u32,
    /// Whether the answer comes as a stream.
    pub streamed: bool,
    /// Whether it matters to the gateway when headers of a stream come.
    pub headers_matter: bool,
    /// Whether it matters to the gateway when a first chunk without content comes.
    pub chunk_matters: bool,
    /// Tokens at the start of its prompt that its session's request before had, too.
    pub prefix: u32,
    /// How far into its output it calls a tool that writes; `None` where it calls none.
    pub tool_at: Option<Share>,
    /// When the gateway gives it up: by its own time limit or the request's deadline.
    pub deadline: Instant,
}

impl Order<'_> {
    /// Whether the coming of its headers is a milestone.
    fn shows_headers(&self) -> bool {
        self.streamed && self.headers_matter
    }

    /// Whether the coming of its first chunk is one at this target.
    fn shows_chunk(&self, model: &TargetModel) -> bool {
        self.chunk_matters && self.streamed && model.latency.chunk.is_some()
    }
}

impl Fleet {
    /// The fleet of a scenario, idle and in clear weather; [`Fleet::reset`] it before a run.
    pub fn new(scenario: &Scenario) -> Fleet {
        let sites = scenario.targets.iter().zip(&scenario.topology.targets).zip(0..);
        Fleet {
            sites: sites
                .map(|((model, known), id)| Site::new(TargetId(id), model, known.context_tokens))
                .collect(),
            limits: scenario.limits.iter().map(Limit::new).collect(),
            attempts: Slab::default(),
            agenda: Agenda::new(scenario.targets.len()),
            caches: Caches::new(scenario),
            world: Key::of_world(0),
            in_flight: Vec::new(),
        }
    }

    /// Idle, in clear weather, at time zero of `world`. Allocates nothing.
    pub fn reset(&mut self, world: &World) {
        let stickiness = world.options.stickiness;
        self.sites.iter_mut().for_each(|site| site.reset(stickiness));
        self.limits.iter_mut().for_each(Limit::reset);
        self.attempts.clear();
        self.agenda.clear();
        self.caches.reset();
        self.world = world.key;
    }

    /// Sends an attempt. It ends by one last [`Notice`], or by [`Fleet::abort`].
    #[inline(never)]
    pub fn submit(&mut self, now: Instant, order: &Order<'_>) -> FleetRef {
        let Fleet { sites, limits, attempts, agenda, caches, world, .. } = self;
        let site = &mut sites[usize::from(order.target.0)];
        let ask = site.ask(now, order, caches);
        let refused = match site.invalid(order, ask) {
            Some(fall) => Some(fall),
            None => over_limit(limits, &site.model.limits, now, ask),
        };
        let (key, nth) = (order.request.key, order.nth_on_target);
        let (handle, attempt) = attempts.claim();
        attempt.attempt = order.attempt;
        attempt.id = order.request_index;
        attempt.key = key;
        attempt.target = order.target;
        attempt.nth = nth;
        attempt.sent = now;
        attempt.ask = ask;
        attempt.charged = refused.is_none() && !site.model.limits.is_empty();
        attempt.unseen = false;
        attempt.silent_since = None;
        let plan = &mut attempt.plan;
        let prospect = match refused {
            Some(fall) => {
                plan.fails(&fall, 0);
                Prospect::Fails(luck::failure(&site.model, key, nth))
            }
            None => luck::prospect(site, *world, now, order, ask, plan),
        };
        caches.note(handle, order);
        // Of an attempt that is never worked on, nobody looks at what follows `Works`.
        match prospect {
            Prospect::Fails(takes) => {
                attempt.stage = Stage::Failing;
                agenda.add_failure(now + takes, handle, attempt);
            }
            Prospect::Hangs => attempt.stage = Stage::Silent,
            Prospect::Works => {
                attempt.stage = Stage::Queued;
                attempt.streamed = order.streamed;
                attempt.shows_headers = order.shows_headers();
                attempt.deadline = order.deadline;
                if let Some(at) = order.tool_at {
                    let request = order.request;
                    let most = request.max_output.min(site.model.max_output_tokens);
                    plan.call_tool(at, request.output.min(most));
                }
                attempt.plain = plan.is_plain();
                site.take_in(now, handle, attempts, agenda);
            }
        }
        handle
    }

    /// When the fleet does something by itself; [`EventKey::NEVER`] where it has nothing to do.
    #[inline]
    pub fn next(&self) -> EventKey {
        self.agenda.next()
    }

    /// It is `now` time for [`Fleet::next`], of which the gateway may get to see something.
    ///
    /// # Panics
    /// There is nothing to do.
    #[inline]
    pub fn advance(&mut self, now: Instant) -> Option<Notice> {
        match self.agenda.take() {
            Due::Milestone(target) => self.on_milestone(now, target),
            Due::Failure(handle) => self.fail(now, handle),
        }
    }

    /// The weather changes at a target: sets speed, slots and limits, and cuts the share of
    /// attempts in flight that the edge says.
    pub fn on_edge(
        &mut self,
        now: Instant,
        edge: &Edge,
        weather: &Weather,
        notices: &mut Vec<Notice>,
    ) {
        let conditions = &weather.conditions[edge.conditions as usize];
        if edge.cut > Share::ZERO {
            self.cut(now, edge, notices);
        }
        let site = &mut self.sites[usize::from(edge.target)];
        site.set_weather(conditions);
        for &limit in &site.model.limits {
            let limit = &mut self.limits[usize::from(limit)];
            limit.set_weather(now, site.id, conditions.limits, conditions.background_ppm);
        }
        site.changed(now, &mut self.attempts, &mut self.agenda);
    }

    /// The gateway gives an attempt up: no notice of it comes any more. What is billed all the
    /// same is known at once, also where the work runs on.
    ///
    /// # Panics
    /// The attempt has ended.
    pub fn abort(&mut self, now: Instant, handle: FleetRef) -> Bill {
        let attempt = *self.attempts.live(handle);
        assert!(!attempt.unseen, "an attempt is given up once");
        let site = &self.sites[usize::from(attempt.target.0)];
        let abort = &site.model.abort;
        let rule = if attempt.streamed { abort.streamed } else { abort.whole };
        let works_on = rule == AbortRule::RunsOn
            && (attempt.stage == Stage::Queued || attempt.stage.in_work());
        let used = if works_on { attempt.used_in_all() } else { attempt.used(now, &site.clock) };
        // Where no work began, there is nothing to bill, whatever the rule.
        let usage = if works_on || used != Usage::default() {
            attempt.billed(site.model.bill_cancelled, used)
        } else {
            used
        };
        let bill = Bill::new(&site.model.price, usage);
        if works_on {
            self.attempts.live(handle).unseen = true;
        } else {
            self.close(now, handle, used);
            let site = &mut self.sites[usize::from(attempt.target.0)];
            site.changed(now, &mut self.attempts, &mut self.agenda);
        }
        bill
    }

    /// Drops the attempts that run on unseen and wait for a slot that never comes, because the
    /// weather of the end leaves none.
    pub fn drop_stranded(&mut self, now: Instant) {
        let stranded = |a: &Attempt| a.unseen && a.stage == Stage::Queued;
        let all = self.attempts.iter().filter(|(_, a)| stranded(a));
        let all: Vec<FleetRef> = all.map(|(handle, _)| handle).collect();
        assert!(!all.is_empty(), "an attempt is in flight, but nothing will ever happen to it");
        for handle in all {
            self.close(now, handle, Usage::default());
        }
    }

    /// Whether an attempt works on, though it was given up.
    pub fn runs_on(&self, handle: FleetRef) -> bool {
        self.attempts.get(handle).is_some()
    }

    /// When output of an attempt was last seen: `None` before the first, and for attempts that
    /// are not streamed. Exact as long as the speed has not changed since that token.
    pub fn last_output(&self, now: Instant, handle: FleetRef) -> Option<Instant> {
        let attempt = self.attempts.get(handle)?;
        if attempt.silent_since.is_some() {
            return attempt.silent_since;
        }
        if !attempt.streamed || attempt.phase() != Phase::AfterOutput {
            return None;
        }
        let clock = &self.sites[usize::from(attempt.target.0)].clock;
        Some(attempt.last_token(now, clock))
    }

    /// Whether any target remembers prompts: where none does, nobody looks at [`Order::prefix`].
    #[inline]
    pub fn remembers(&self) -> bool {
        self.caches.are_any()
    }

    /// Attempts in work at a target, those that run on unseen included.
    pub fn in_work(&self, target: TargetId) -> u32 {
        self.sites[usize::from(target.0)].in_work
    }

    /// Attempts that wait for a slot at a target.
    pub fn queued(&self, target: TargetId) -> u32 {
        self.sites[usize::from(target.0)].queued
    }

    /// Slots of a target that are free for us in the present weather.
    pub fn free_slots(&self, target: TargetId) -> u32 {
        let site = &self.sites[usize::from(target.0)];
        site.climate.slots.saturating_sub(site.in_work)
    }

    /// Attempts that have not ended at their provider, those that run on unseen included.
    pub fn in_flight(&self) -> usize {
        self.attempts.len()
    }

    /// Checks that everything taken has been given back.
    ///
    /// # Panics
    /// An attempt, a slot, a place in a queue or in a concurrency limit is still taken.
    pub fn assert_idle(&self) {
        assert_eq!(self.attempts.len(), 0, "every attempt has ended at its provider");
        for site in &self.sites {
            let taken = (site.in_work, site.queued);
            assert_eq!(taken, (0, 0), "slots and queue places of {} are back", site.model.name);
        }
        let places: u64 = self.limits.iter().map(Limit::places_taken).sum();
        assert_eq!(places, 0, "places in concurrency limits are back");
    }

    #[inline(always)]
    fn on_milestone(&mut self, now: Instant, target: usize) -> Option<Notice> {
        let site = &mut self.sites[target];
        let handle = site.due();
        let attempt = self.attempts.live(handle);
        let notice = match attempt.stage {
            Stage::ToEnd => {
                site.done();
                let notice = self.end(now, handle);
                self.sites[target].fill(now, &mut self.attempts, &mut self.agenda);
                notice
            }
            stage => {
                let notice = attempt.pass(now, stage, &site.clock);
                site.move_on(attempt, handle);
                notice
            }
        };
        self.sites[target].rearm(&self.attempts, &mut self.agenda);
        notice
    }
}

/// Charges all of a target's limits, or says which refusal the attempt meets.
#[inline(always)]
fn over_limit(all: &mut [Limit], of_target: &[u16], now: Instant, ask: Ask) -> Option<Fall> {
    let mut each = of_target.iter();
    let refuser = each.position(|&limit| !all[usize::from(limit)].takes(now, ask))?;
    Some(refusal(all, of_target, refuser, now, ask))
}

/// The refusal by a target's limits, of which `taken` had taken the charge before one refused it. Of several
/// refusals the one that lasts longest counts, and an exhausted quota before all.
#[inline(never)]
fn refusal(all: &mut [Limit], of_target: &[u16], taken: usize, now: Instant, ask: Ask) -> Fall {
    of_target[..taken].iter().for_each(|&limit| all[usize::from(limit)].puts_back(ask));
    let refusals = of_target.iter().map(|&limit| all[usize::from(limit)].refuse(now, ask));
    let worst = refusals.fold(None, Refusal::worse).expect("one of them refuses");
    Fall { retry_after: worst.retry_after, ..Fall::at_the_door(worst.class, 429) }
}
