//! R1 as one would write it by hand: the standard library's binary heap, a slab of requests,
//! stale events dropped when they come up. No policy core, no ledger, no breakers: what a
//! simulator of general use is measured against. It keeps the latency of every answer, from which quantiles
//! would be taken, and has its parameters at run time, as a model would.
//!
//! Arrivals 200/s, three targets of 64 slots and a queue of 64, lognormal service (0.8 s, 0.6),
//! 5 % of the answers bad, the plan A A B C, full jitter before the second try at A, 30 s.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp, LogNormal};

/// R1 in figures.
struct Params {
    slots: usize,
    queue: usize,
    bad: f64,
    base: f64,
    cap: f64,
    deadline: f64,
    plan: Vec<usize>,
}

/// What the run counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    /// Requests.
    pub(crate) requests: u64,
    /// Attempts.
    pub(crate) attempts: u64,
    /// Latencies of the answered, in seconds.
    pub(crate) latencies: Vec<f64>,
}

#[derive(Clone, Copy)]
enum What {
    Arrival,
    Done,
    Wake,
    Deadline,
}

#[derive(Clone, Copy)]
struct Event {
    at: f64,
    sequence: u64,
    what: What,
    slot: u32,
    /// The request's step (or life, for deadlines) that the event is about.
    stamp: u32,
}

impl PartialEq for Event {
    fn eq(&self, other: &Event) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Event) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    /// Reversed: the heap's greatest is the earliest.
    fn cmp(&self, other: &Event) -> Ordering {
        other.at.total_cmp(&self.at).then(other.sequence.cmp(&self.sequence))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Free,
    Backoff,
    Queue,
    Service,
}

#[derive(Clone, Copy)]
struct Request {
    arrived: f64,
    attempt: usize,
    backoffs: u32,
    place: Place,
    step: u32,
    life: u32,
}

#[derive(Default)]
struct Target {
    busy: usize,
    waiting: usize,
    queue: VecDeque<(u32, u32)>,
}

struct Run {
    params: Params,
    rng: SmallRng,
    gap: Exp<f64>,
    service: LogNormal<f64>,
    now: f64,
    sequence: u64,
    left: u64,
    heap: BinaryHeap<Event>,
    requests: Vec<Request>,
    free: Vec<u32>,
    targets: [Target; 3],
    counts: Counts,
}

/// Runs `requests` requests.
pub(crate) fn run(requests: u64, seed: u64) -> Counts {
    let mut run = Run {
        params: Params {
            slots: 64,
            queue: 64,
            bad: 0.05,
            base: 0.25,
            cap: 4.0,
            deadline: 30.0,
            plan: vec![0, 0, 1, 2],
        },
        rng: SmallRng::seed_from_u64(seed),
        gap: Exp::new(200.0).expect("a positive rate"),
        service: LogNormal::new(0.8_f64.ln(), 0.6).expect("a positive sigma"),
        now: 0.0,
        sequence: 0,
        left: requests,
        heap: BinaryHeap::new(),
        requests: Vec::new(),
        free: Vec::new(),
        targets: Default::default(),
        counts: Counts::default(),
    };
    let gap = run.gap.sample(&mut run.rng);
    run.push(gap, What::Arrival, 0, 0);
    while let Some(event) = run.heap.pop() {
        run.now = event.at;
        run.on_event(event);
    }
    run.counts
}

impl Run {
    fn push(&mut self, at: f64, what: What, slot: u32, stamp: u32) {
        self.sequence += 1;
        self.heap.push(Event { at, sequence: self.sequence, what, slot, stamp });
    }

    fn on_event(&mut self, event: Event) {
        let slot = event.slot;
        match event.what {
            What::Arrival => self.arrive(),
            What::Done => {
                let request = self.requests[slot as usize];
                if request.step != event.stamp {
                    return;
                }
                self.release(self.params.plan[request.attempt]);
                if self.rng.random::<f64>() < self.params.bad {
                    if self.next_attempt(slot) {
                        self.attempt(slot);
                    }
                } else {
                    self.counts.latencies.push(self.now - request.arrived);
                    self.finish(slot);
                }
            }
            What::Wake => {
                if self.requests[slot as usize].step == event.stamp {
                    self.attempt(slot);
                }
            }
            What::Deadline => {
                let request = self.requests[slot as usize];
                if request.life != event.stamp {
                    return;
                }
                let target = self.params.plan[request.attempt];
                self.finish(slot);
                match request.place {
                    Place::Queue => self.targets[target].waiting -= 1,
                    Place::Service => self.release(target),
                    Place::Backoff | Place::Free => {}
                }
            }
        }
    }

    fn arrive(&mut self) {
        self.left -= 1;
        if self.left > 0 {
            let gap = self.gap.sample(&mut self.rng);
            self.push(self.now + gap, What::Arrival, 0, 0);
        }
        self.counts.requests += 1;
        let fresh =
            Request { arrived: 0.0, attempt: 0, backoffs: 0, place: Place::Free, step: 0, life: 0 };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.requests.push(fresh);
            (self.requests.len() - 1) as u32
        });
        let request = &mut self.requests[slot as usize];
        *request = Request { arrived: self.now, step: request.step, life: request.life, ..fresh };
        let life = request.life;
        self.push(self.now + self.params.deadline, What::Deadline, slot, life);
        self.attempt(slot);
    }

    /// Starts the request's present attempt, or goes on to the next where it is refused.
    fn attempt(&mut self, slot: u32) {
        loop {
            let target = self.params.plan[self.requests[slot as usize].attempt];
            self.counts.attempts += 1;
            let place = &mut self.targets[target];
            if place.busy < self.params.slots {
                place.busy += 1;
                return self.serve(slot);
            }
            if place.waiting < self.params.queue {
                place.waiting += 1;
                let request = &mut self.requests[slot as usize];
                request.place = Place::Queue;
                request.step += 1;
                place.queue.push_back((slot, request.step));
                return;
            }
            if !self.next_attempt(slot) {
                return;
            }
        }
    }

    fn serve(&mut self, slot: u32) {
        let request = &mut self.requests[slot as usize];
        request.place = Place::Service;
        request.step += 1;
        let step = request.step;
        let service = self.service.sample(&mut self.rng);
        self.push(self.now + service, What::Done, slot, step);
    }

    /// True where the next attempt starts at once.
    fn next_attempt(&mut self, slot: u32) -> bool {
        let Params { base, cap, ref plan, .. } = self.params;
        let request = &mut self.requests[slot as usize];
        let failed = request.attempt;
        if failed + 1 == plan.len() {
            self.finish(slot);
            return false;
        }
        request.attempt += 1;
        if plan[failed + 1] != plan[failed] {
            return true;
        }
        let most = cap.min(base * f64::from(1_u32 << request.backoffs));
        request.backoffs += 1;
        request.place = Place::Backoff;
        request.step += 1;
        let step = request.step;
        let wait = most * self.rng.random::<f64>();
        self.push(self.now + wait, What::Wake, slot, step);
        false
    }

    fn release(&mut self, target: usize) {
        while let Some((slot, step)) = self.targets[target].queue.pop_front() {
            if self.requests[slot as usize].step == step {
                self.targets[target].waiting -= 1;
                return self.serve(slot);
            }
        }
        self.targets[target].busy -= 1;
    }

    fn finish(&mut self, slot: u32) {
        let request = &mut self.requests[slot as usize];
        request.place = Place::Free;
        request.step += 1;
        request.life += 1;
        self.free.push(slot);
    }
}
