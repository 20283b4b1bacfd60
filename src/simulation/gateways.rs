//! The gateways of a run: routers in front of one fleet, each with breakers and budgets of its own,
//! and which of them gets a request.
//!
//! Outside this file a handle is unique over all of them: the slots of several routers are
//! interleaved, and those of a single one are its own.

use std::collections::VecDeque;
use std::ops::Range;

use windtunnel_policy::config::{Policy, Problem, Sharing};
use windtunnel_policy::event::{Action, AttemptRef, Event, RequestRef};
use windtunnel_policy::facts::Fact;
use windtunnel_policy::target::Topology;
use windtunnel_policy::{Duration, Instant, Router};

use super::split::Split;
use crate::draw::{Key, NameHash, Purpose, below};
use crate::world::{World, WorldRequest};

/// Routers, and who gets what.
#[derive(Clone, Debug)]
pub(super) struct Gateways {
    routers: Vec<Router>,
    /// By policy, the first of its routers and how many there are.
    replicas: Vec<(u32, u32)>,
    /// How sessions are divided; whole where there is one arm.
    split: Split,
    /// Keys who gets a session.
    key: Key,
    /// The router that spoke last.
    latest: usize,
    /// What replicas tell each other, by policy; `None` where they share nothing.
    gossip: Vec<Option<Gossip>>,
}

/// What the replicas of one policy tell each other.
#[derive(Clone, Debug)]
struct Gossip {
    after: Duration,
    /// When it arrives, who has told it, and what.
    under_way: VecDeque<(Instant, u32, Fact)>,
    /// Whether the arrival of the first is queued.
    queued: bool,
}

/// Who gets a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Dealt {
    /// The arm of the split.
    pub(super) arm: u16,
    /// The gateway.
    pub(super) gateway: u16,
}

impl Gateways {
    /// The gateways of these policies, each arm of the split served by the policy at its position,
    /// or all by the only one.
    pub(super) fn new(
        policies: &[&Policy],
        topology: &Topology,
        split: Split,
    ) -> Result<Gateways, Vec<Problem>> {
        let (mut routers, mut replicas, mut gossip) = (Vec::new(), Vec::new(), Vec::new());
        for policy in policies {
            let router = Router::new((*policy).clone(), topology.clone())?;
            let count = policy.replicas.count;
            replicas.push((routers.len() as u32, count));
            gossip.push(Gossip::of(policy));
            routers.extend(std::iter::repeat_n(router, count as usize));
        }
        Ok(Gateways { routers, replicas, split, key: Key::of_world(0), latest: 0, gossip })
    }

    /// Who gets this request: every request of a session goes the same way.
    #[inline]
    pub(super) fn deal(&self, request: &WorldRequest) -> Dealt {
        if self.routers.len() == 1 && self.split.is_whole() {
            return Dealt { arm: 0, gateway: 0 };
        }
        self.deal_session(request)
    }

    #[cold]
    fn deal_session(&self, request: &WorldRequest) -> Dealt {
        let session = NameHash::NONE.part(request.session);
        let arm = self.split.arm(self.key.draw(Purpose::Split, session, 0));
        let (first, count) = self.replicas[arm.min(self.replicas.len() - 1)];
        let replica = match count {
            1 => 0,
            _ => below(self.key.draw(Purpose::Replica, session, 0), u64::from(count)) as u32,
        };
        Dealt { arm: arm as u16, gateway: (first + replica) as u16 }
    }

    /// Tells the gateway of a request that has arrived there, and appends what it says.
    #[inline]
    pub(super) fn handle(&mut self, now: Instant, event: Event, actions: &mut Vec<Action>) {
        if let [router] = &mut self.routers[..] {
            return router.handle(now, event, actions);
        }
        self.handle_one_of_many(now, event, actions);
    }

    #[inline(never)]
    fn handle_one_of_many(&mut self, now: Instant, event: Event, actions: &mut Vec<Action>) {
        let (gateway, event) = self.own(event);
        self.tell(now, gateway, event, actions);
    }

    /// Tells the gateway that a request comes to, and appends what it says.
    #[inline]
    pub(super) fn hear(
        &mut self,
        now: Instant,
        gateway: usize,
        event: Event,
        actions: &mut Vec<Action>,
    ) {
        if let [router] = &mut self.routers[..] {
            return router.handle(now, event, actions);
        }
        self.tell(now, gateway, event, actions);
    }

    /// Tells every gateway of what concerns none of its requests.
    pub(super) fn tell_all(&mut self, now: Instant, event: Event, actions: &mut Vec<Action>) {
        (0..self.routers.len()).for_each(|gateway| self.tell(now, gateway, event, actions));
    }

    /// Tells one gateway, in handles of its own, and appends what it says.
    pub(super) fn tell(
        &mut self,
        now: Instant,
        gateway: usize,
        event: Event,
        actions: &mut Vec<Action>,
    ) {
        let before = actions.len();
        self.routers[gateway].handle(now, event, actions);
        self.latest = gateway;
        if self.routers.len() > 1 {
            self.spread(now, gateway);
            let all = self.routers.len() as u32;
            for action in &mut actions[before..] {
                if let Some(request) = request_of(action) {
                    request.slot = request.slot * all + gateway as u32;
                }
            }
        }
    }

    /// The gateway an event concerns, and the event in its own handles.
    fn own(&self, event: Event) -> (usize, Event) {
        let all = self.routers.len() as u32;
        let mut event = event;
        let request = subject(&mut event).expect("an event of a request that has arrived");
        let gateway = request.slot % all;
        request.slot /= all;
        (gateway as usize, event)
    }

    /// Sends what a gateway has learnt to the other replicas of its policy.
    fn spread(&mut self, now: Instant, gateway: usize) {
        let policy = self.replicas.partition_point(|&(first, _)| first as usize <= gateway) - 1;
        let Some(gossip) = &mut self.gossip[policy] else { return };
        let mut facts = Vec::new();
        self.routers[gateway].take_facts(&mut facts);
        let arrives = now + gossip.after;
        gossip.under_way.extend(facts.into_iter().map(|fact| (arrives, gateway as u32, fact)));
    }

    /// For each policy whose replicas have told each other something: when the first of it arrives,
    /// each time once.
    pub(super) fn next_gossip(&mut self) -> Option<(Instant, u16)> {
        let mut all = self.gossip.iter_mut().enumerate();
        all.find_map(|(policy, gossip)| {
            let gossip = gossip.as_mut().filter(|gossip| !gossip.queued)?;
            let (arrives, ..) = gossip.under_way.front()?;
            gossip.queued = true;
            Some((*arrives, policy as u16))
        })
    }

    /// What has arrived by now: who told it, what, and the replicas of the policy.
    pub(super) fn arrived(
        &mut self,
        now: Instant,
        policy: u16,
    ) -> Option<(usize, Fact, Range<usize>)> {
        let gossip = self.gossip[usize::from(policy)].as_mut()?;
        gossip.queued = false;
        if gossip.under_way.front().is_none_or(|(arrives, ..)| *arrives > now) {
            return None;
        }
        let (_, from, fact) = gossip.under_way.pop_front()?;
        let (first, count) = self.replicas[usize::from(policy)];
        Some((from as usize, fact, first as usize..(first + count) as usize))
    }

    /// Whether replicas tell each other anything.
    #[inline]
    pub(super) fn shares(&self) -> bool {
        self.routers.len() > 1 && self.gossip.iter().any(Option::is_some)
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.routers.len()
    }

    /// The one that spoke last.
    pub(super) fn latest(&self) -> usize {
        self.latest
    }

    /// The one that has this request.
    pub(super) fn of(&self, request: RequestRef) -> usize {
        match self.routers.len() {
            // By far the commonest, and a division is slow.
            1 => 0,
            all => request.slot as usize % all,
        }
    }

    /// The policy that the gateway of this request runs.
    pub(super) fn policy_of(&self, request: RequestRef) -> &Policy {
        self.routers[self.of(request)].policy()
    }

    /// All of them.
    pub(super) fn routers(&self) -> &[Router] {
        &self.routers
    }

    /// How many arms the split has.
    pub(super) fn arms(&self) -> usize {
        self.split.arms()
    }

    pub(super) fn reset(&mut self, world: &World) {
        self.routers.iter_mut().for_each(Router::reset);
        self.key = world.key;
        self.latest = 0;
        for gossip in self.gossip.iter_mut().flatten() {
            gossip.under_way.clear();
            gossip.queued = false;
        }
    }
}

impl Gossip {
    fn of(policy: &Policy) -> Option<Gossip> {
        match policy.replicas.sharing {
            Sharing::After(after) if policy.replicas.shares() => {
                Some(Gossip { after, under_way: VecDeque::new(), queued: false })
            }
            _ => None,
        }
    }
}

/// The request an action is about.
fn request_of(action: &mut Action) -> Option<&mut RequestRef> {
    Some(match action {
        Action::Send(send) => &mut send.attempt.request,
        Action::SetTimer { request, .. }
        | Action::LookUp { request, .. }
        | Action::Finish { request, .. } => request,
        Action::Cancel { attempt, .. }
        | Action::Release(attempt)
        | Action::Reconcile(attempt)
        | Action::Decided { attempt, .. } => &mut attempt.request,
        Action::Breaker { .. } => return None,
    })
}

/// The request an event is about.
fn subject(event: &mut Event) -> Option<&mut RequestRef> {
    let attempt: &mut AttemptRef = match event {
        Event::Arrived(_)
        | Event::KillSwitch { .. }
        | Event::Learnt(_)
        | Event::TaskJudged { .. } => return None,
        Event::Timer { request, .. }
        | Event::LookedUp { request, .. }
        | Event::Cancelled(request) => return Some(request),
        Event::Headers(attempt)
        | Event::FirstChunk(attempt)
        | Event::FirstOutput(attempt)
        | Event::NotSent(attempt)
        | Event::Progress { attempt, .. }
        | Event::Reconciled { attempt, .. }
        | Event::UsedBelow { attempt, .. }
        | Event::Ended { attempt, .. }
        | Event::Failed { attempt, .. } => attempt,
    };
    Some(&mut attempt.request)
}
