//! The providers' side of the naive simulator.

use windtunnel::draw::Purpose;
use windtunnel::scenario::SpeedByLoad;
use windtunnel::world::{Marks, WorldRequest};
use windtunnel_policy::event::Send;
use windtunnel_policy::outcome::{FailureClass, Phase};
use windtunnel_policy::{Duration, Instant};

use super::fate::{self, Course, Fate, Plan};
use super::limits::nearest;
use super::simulator::{COMPLETION, Id, Key, Milestone, Naive, Place, Sent, What};

impl Naive<'_> {
    /// An attempt arrives at its provider, the `nth` of its request at this target.
    pub(crate) fn provide(&mut self, id: Id, request: WorldRequest, send: &Send, at: (usize, u32)) {
        let (target, nth) = at;
        let (now, model) = (self.now, &self.scenario.targets[target]);
        let most = request.max_output.min(model.max_output_tokens);
        let refused = if request.marks.has(Marks::INVALID) {
            Some(fate::at_the_door(FailureClass::ClientInvalid, 400, None))
        } else if request.input + most > self.scenario.topology.targets[target].context_tokens {
            Some(fate::at_the_door(FailureClass::ContextOverflow, 400, None))
        } else {
            self.over_limit(target, request.input, most)
        };
        let (plan, course) = match refused {
            Some(fate) => {
                let course = Course::FailsAfter(fate::fails_in(model, &request, nth));
                (Plan { fate, ..fate::healthy(model, &request, nth) }, course)
            }
            None => {
                let sky = self.skies[target];
                fate::decide(self.scenario, self.world, sky, now, &request, at)
            }
        };
        let sent = Sent {
            request,
            target,
            nth,
            at: now,
            deadline: now + send.timeout,
            place: Place::NoWork,
            charged: refused.is_none(),
            unseen: false,
            plan,
            done: 0,
            ahead: Vec::new(),
            phase: Phase::BeforeHeaders,
            silent_since: None,
        };
        self.sent.insert(id, sent);
        match course {
            Course::NeverAnswers => {}
            Course::FailsAfter(takes) => self.fails_after(id, takes),
            Course::Works if self.in_work(target) < self.slots(target).0 => self.begin(id),
            Course::Works if self.waiting_at(target).len() < model.capacity.queue as usize => {
                self.waiting += 1;
                self.at(id).place = Place::Waits(self.waiting);
            }
            Course::Works => self.turn_away(id),
        }
    }

    /// The refusal by a target's limits; or charges them all.
    fn over_limit(&mut self, target: usize, input: u32, most: u32) -> Option<Fate> {
        let (now, all) = (self.now, &self.scenario.targets[target].limits);
        let mut refusing = Vec::new();
        for &limit in all {
            if !self.limits[usize::from(limit)].fits(now, input, most) {
                refusing.push(usize::from(limit));
            }
        }
        for &limit in all {
            let limit = &mut self.limits[usize::from(limit)];
            if refusing.is_empty() {
                limit.take(now, input, most);
            } else {
                limit.take_refused(now, input, most);
            }
        }
        let refusals = refusing.iter().map(|limit| self.limits[*limit].refusal(now, input, most));
        // Quotas first, then the longest wait; one that nobody can tell is the longest.
        let (class, hint) = refusals.max_by_key(|(class, hint)| {
            (*class == FailureClass::QuotaExhausted, hint.unwrap_or(Duration::MAX))
        })?;
        Some(fate::at_the_door(class, 429, hint))
    }

    pub(crate) fn at(&mut self, id: Id) -> &mut Sent {
        self.sent.get_mut(&id).expect("it has not ended at its provider")
    }

    fn fails_after(&mut self, id: Id, takes: Duration) {
        self.agenda.push(((self.now + takes, COMPLETION, id.0, id.1, 0), What::Fails(id)));
    }

    pub(crate) fn in_work(&self, target: usize) -> u32 {
        let works = |sent: &&Sent| sent.target == target && sent.place == Place::Works;
        self.sent.values().filter(works).count() as u32
    }

    /// Who waits for a slot, first come first.
    fn waiting_at(&self, target: usize) -> Vec<Id> {
        let waits = self.sent.iter().filter(|(_, sent)| sent.target == target);
        let mut waits: Vec<(u64, Id)> = waits
            .filter_map(|(id, sent)| match sent.place {
                Place::Waits(since) => Some((since, *id)),
                _ => None,
            })
            .collect();
        waits.sort();
        waits.into_iter().map(|(_, id)| id).collect()
    }

    /// Slots for us and slots that others hold.
    fn slots(&self, target: usize) -> (u32, u32) {
        let (capacity, sky) = (&self.scenario.targets[target].capacity, self.skies[target]);
        let others = u64::from(capacity.background_slots) * sky.background_ppm;
        let standing = nearest(sky.capacity, capacity.slots.into());
        let others = ((others + 500_000) / 1_000_000).min(standing);
        ((standing - others) as u32, others as u32)
    }

    /// Speed with this many in work, in parts per million.
    pub(crate) fn speed(&self, target: usize, in_work: u32) -> u64 {
        let load = in_work + self.slots(target).1;
        let by_load = match &self.scenario.targets[target].capacity.speed_by_load {
            SpeedByLoad::Flat => 1_000_000,
            SpeedByLoad::HalfAt(k) => 1_000_000 * u64::from(*k) / u64::from(k + load),
            SpeedByLoad::Table(steps) => {
                let step = steps.iter().rev().find(|(from, _)| *from <= load);
                step.map_or(1_000_000, |(_, share)| share.of(1_000_000))
            }
        };
        (by_load * self.skies[target].speed_ppm / 1_000_000).max(1)
    }

    /// Everybody in work works until `now`.
    pub(crate) fn work_until(&mut self, now: Instant) {
        let micros = u128::from((now - self.now).as_micros());
        for target in 0..self.skies.len() {
            let speed = u128::from(self.speed(target, self.in_work(target)));
            for sent in self.sent.values_mut().filter(|sent| sent.target == target) {
                if sent.place == Place::Works {
                    sent.done += micros * speed;
                }
            }
        }
        self.now = now;
    }

    /// The next milestone at a target, as things stand.
    pub(crate) fn head(&self, target: usize) -> Option<(Key, What)> {
        let works = |(_, sent): &(&Id, &Sent)| sent.target == target && sent.place == Place::Works;
        // Below zero where several were reached within one µs: who was first in work is first.
        let left = |(id, sent): (&Id, &Sent)| (sent.ahead[0].0 as i128 - sent.done as i128, *id);
        let (left, id) = self.sent.iter().filter(works).map(left).min()?;
        let left = left.max(0) as u128;
        let speed = self.speed(target, self.in_work(target));
        let at = self.now + Duration::from_micros(left.div_ceil(speed.into()) as u64);
        Some(((at, COMPLETION, id.0, id.1, 0), What::Reaches(id)))
    }

    /// Work on an attempt begins, unless it cannot be done in time.
    fn begin(&mut self, id: Id) {
        let sent = &self.sent[&id];
        let (target, model) = (sent.target, &self.scenario.targets[sent.target]);
        let (share, factor) = self.skies[target].slow;
        let draw = sent.request.key.draw(Purpose::Slowdown, model.hash, sent.nth);
        let plan = if share.hits(draw) { sent.plan.slowed(factor) } else { sent.plan };
        let speed = self.speed(target, self.in_work(target) + 1);
        let ends = self.now + Duration::from_micros(plan.end.div_ceil(speed.into()) as u64);
        let late = model.capacity.drops_late && ends > sent.deadline;
        self.at(id).plan = plan;
        if late {
            return self.turn_away(id);
        }
        let sent = self.at(id);
        sent.place = Place::Works;
        if sent.request.marks.has(Marks::STREAMED) {
            sent.ahead.push((plan.headers, Milestone::Headers));
            sent.ahead.extend(plan.chunk.map(|at| (at, Milestone::Chunk)));
            let before = matches!(plan.fate, Fate::Failure(f) if f.phase == Phase::BeforeOutput);
            if !before {
                sent.ahead.push((plan.output, Milestone::Output));
            }
            if let Fate::Silence(after) = plan.fate {
                sent.ahead.push((after, Milestone::Silence));
            }
        }
        sent.ahead.push((plan.end, Milestone::End));
    }

    fn turn_away(&mut self, id: Id) {
        let (sent, targets) = (&self.sent[&id], &self.scenario.targets);
        let model = &targets[sent.target];
        let takes = fate::fails_in(model, &sent.request, sent.nth);
        let status = model.capacity.shed_status;
        let sent = self.at(id);
        sent.place = Place::NoWork;
        sent.plan.fate = fate::at_the_door(FailureClass::Overloaded, status, None);
        self.fails_after(id, takes);
    }

    /// Slots are given to those who wait.
    pub(crate) fn admit(&mut self, target: usize) {
        while self.in_work(target) < self.slots(target).0 {
            let Some(id) = self.waiting_at(target).first().copied() else { break };
            self.begin(id);
        }
    }
}
