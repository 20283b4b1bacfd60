//! A small event loop over a fleet, one attempt per request and no policy.

use rand::Rng;
use windtunnel::dist::{Dist, Shape, Tables};
use windtunnel::draw::{Key, NameHash, Purpose, stream};
use windtunnel::fleet::{Bill, Fleet, FleetRef, Notice, NoticeKind, Order};
use windtunnel::queue::{EventKey, EventQueue, Rank};
use windtunnel::scenario::{
    Abort, Background, Billing, Capacity, FailureModel, Gateway, LatencyModel, LimitModel, Quality,
    Scenario, ScenarioFile, SpeedByLoad, Stick, TargetModel,
};
use windtunnel::weather::{Conditions, Edge, Weather};
use windtunnel::world::{Marks, World, WorldOptions, WorldRequest};
use windtunnel_policy::event::{AttemptRef, RequestRef};
use windtunnel_policy::outcome::Failure;
use windtunnel_policy::target::{Capabilities, Target, TargetId, Topology};
use windtunnel_policy::{Duration, Instant, Money, Price, Share};

pub(crate) const SECOND: u64 = 1_000_000;
/// How long failures without work take, in µs.
pub(crate) const FAILURE: u64 = 1_000;

pub(crate) fn secs(s: f64) -> Instant {
    Instant::from_micros(libm::round(s * 1e6) as u64)
}

pub(crate) fn constant(micros: u64) -> Dist {
    Dist::new(&Shape::Constant(micros as f64)).expect("a constant")
}

pub(crate) fn share(p: f64) -> Share {
    Share::new(p).expect("a share")
}

/// A flawless target whose every answer is one token after `service` µs of work.
pub(crate) fn target(name: &str, slots: u32, service: &Shape) -> TargetModel {
    TargetModel {
        name: name.into(),
        hash: NameHash::of(name),
        provider: "p".into(),
        model: "m".into(),
        region: String::new(),
        deployment: name.into(),
        account: "main".into(),
        price: Price { input: 1_000, cached: 100, output: 5_000 },
        bill_failed: Billing::Nothing,
        bill_cancelled: Billing::Consumed,
        latency: LatencyModel {
            headers: constant(0),
            chunk: None,
            first_token: Dist::new(service).expect("a service time"),
            prompt_tokens: 100,
            per_prompt_token: Duration::ZERO,
            per_output_token: constant(0),
            failure: constant(FAILURE),
        },
        capacity: Capacity {
            source: "test".into(),
            slots,
            queue: 0,
            shed_status: 529,
            speed_by_load: SpeedByLoad::Flat,
            background_slots: 0,
            drops_late: false,
        },
        limits: Vec::new(),
        failures: FailureModel {
            mix: Vec::new(),
            broken_streams: Share::ZERO,
            stalled_streams: Share::ZERO,
            stick: Stick::default(),
        },
        quality: Quality::default(),
        abort: Abort::default(),
        prompt_cache: None,
        upstream_proxy: None,
        max_output_tokens: 100_000,
    }
}

/// A target with slots for everybody that streams: headers after 0.1 s, first token after 0.5 s,
/// then a token every 10 ms.
pub(crate) fn streamer(name: &str) -> TargetModel {
    let mut model = target(name, 1_000_000, &Shape::Constant(500_000.0));
    model.latency.headers = constant(100_000);
    model.latency.per_output_token = constant(10_000);
    model
}

pub(crate) fn scenario(targets: Vec<TargetModel>, limits: Vec<LimitModel>) -> Scenario {
    let known = targets.iter().map(|t| Target {
        name: t.name.clone(),
        provider: t.provider.clone(),
        model: t.model.clone(),
        region: t.region.clone(),
        deployment: t.deployment.clone(),
        account: t.account.clone(),
        price: t.price,
        context_tokens: u32::MAX,
        capabilities: Capabilities::NONE,
        weight: 1,
        priority: 0,
        contract: Default::default(),
        failover_in_flight: None,
        prior_latency: Duration::from_secs(1),
    });
    let topology = Topology { targets: known.collect(), classes: Vec::new(), tenants: Vec::new() };
    Scenario {
        tables: Tables::default(),
        file: empty_file(),
        source: Default::default(),
        notes: Vec::new(),
        hash: String::new(),
        targets,
        limits,
        classes: Vec::new(),
        tenants: Vec::new(),
        topology,
    }
}

fn empty_file() -> ScenarioFile {
    ScenarioFile {
        name: "test".into(),
        shows: String::new(),
        expect: String::new(),
        hypothesis: None,
        sources: Vec::new(),
        warm_up: Duration::ZERO,
        horizon: Duration::from_secs(1),
        interval: Duration::from_secs(1),
        classes: Default::default(),
        targets: Default::default(),
        tenants: Default::default(),
        gateway: Gateway::default(),
        weather: Vec::new(),
        operators: Vec::new(),
        switches: None,
        stick: Stick::default(),
        background: Background::default(),
        reference_target: None,
        policies: Vec::new(),
    }
}

/// A world of these arrivals, all alike: 100 prompt tokens, 1 output token.
pub(crate) fn world(seed: u64, arrivals: impl IntoIterator<Item = Instant>) -> World {
    let key = Key::of_world(seed);
    let request = |(i, at)| WorldRequest {
        at,
        key: key.child(i),
        first_salt: i,
        session: i,
        unloaded: Duration::ZERO,
        patience: Duration::MAX,
        input: 100,
        output: 1,
        max_output: 1_000,
        class: 0,
        tenant: 0,
        marks: Marks::NONE,
    };
    World {
        options: WorldOptions { seed, ..WorldOptions::default() },
        key,
        requests: (0..).zip(arrivals).map(request).collect(),
        closed_loops: Vec::new(),
        weather: Weather {
            edges: Vec::new(),
            conditions: vec![Conditions::clear()],
            incidents: Vec::new(),
        },
        switches: Vec::new(),
        measured_from: Instant::ZERO,
        measured_to: Instant::FAR_FUTURE,
    }
}

/// A Poisson world: `n` arrivals at `rate` per second.
pub(crate) fn poisson(seed: u64, rate: f64, n: usize) -> World {
    let mut rng = stream(seed, Purpose::ArrivalGap, NameHash::NONE);
    let mut at = 0.0;
    world(
        seed,
        (0..n).map(|_| {
            at += exponential(rng.next_u64()) / rate;
            secs(at)
        }),
    )
}

/// A standard exponential.
pub(crate) fn exponential(draw: u64) -> f64 {
    -libm::log(((draw >> 11) as f64 + 0.5) / (1_u64 << 53) as f64)
}

/// From `at` on, `change` holds at target 0.
pub(crate) fn edge(world: &mut World, at: Instant, change: impl FnOnce(&mut Conditions)) {
    let mut conditions = Conditions::clear();
    change(&mut conditions);
    let weather = &mut world.weather;
    weather.edges.push(Edge {
        at,
        target: 0,
        conditions: weather.conditions.len() as u32,
        cut: Share::ZERO,
    });
    weather.conditions.push(conditions);
}

/// What became of one request's only attempt.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Seen {
    pub(crate) sent: Instant,
    pub(crate) handle: FleetRef,
    pub(crate) headers: Option<Instant>,
    pub(crate) first_chunk: Option<Instant>,
    pub(crate) first_output: Option<Instant>,
    pub(crate) last: Option<(Instant, NoticeKind)>,
    pub(crate) aborted: Option<(Instant, Bill)>,
}

impl Seen {
    /// µs from sending to the end.
    pub(crate) fn took(&self) -> u64 {
        self.last.expect("the attempt has ended").0.since(self.sent).as_micros()
    }

    /// How it failed, with the bill; `None` where it did not.
    pub(crate) fn failure(&self) -> Option<(Failure, Money)> {
        match self.last {
            Some((_, NoticeKind::Failed { failure, bill })) => Some((failure, bill)),
            _ => None,
        }
    }

    pub(crate) fn answered(&self) -> bool {
        matches!(self.last, Some((_, NoticeKind::Ended { .. })))
    }
}

pub(crate) fn attempt_of(i: usize) -> AttemptRef {
    AttemptRef { request: RequestRef { slot: i as u32, generation: 0 }, number: 1 }
}

/// Sends every request of `world` to target `route(i)`, gives up on it at the end of its
/// patience, and runs until nothing is left to happen.
pub(crate) fn drive(fleet: &mut Fleet, world: &World, route: impl Fn(usize) -> u16) -> Vec<Seen> {
    let mut run = Run::new(fleet, world);
    run.until(Instant::FAR_FUTURE, route);
    run.seen
}

/// A run in progress.
pub(crate) struct Run<'a> {
    pub(crate) fleet: &'a mut Fleet,
    pub(crate) world: &'a World,
    /// When callers lose patience, by request.
    patience: EventQueue<usize>,
    pub(crate) seen: Vec<Seen>,
    edges: usize,
    notices: Vec<Notice>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(fleet: &'a mut Fleet, world: &'a World) -> Run<'a> {
        fleet.reset(world);
        let patience = EventQueue::with_capacity(0);
        Run { fleet, world, patience, seen: Vec::new(), edges: 0, notices: Vec::new() }
    }

    /// Everything that happens before `end`.
    pub(crate) fn until(&mut self, end: Instant, route: impl Fn(usize) -> u16) {
        loop {
            let arrival = self.world.requests.get(self.seen.len());
            let arrival = arrival.map(|r| EventKey::new(r.at, Rank::Arrival, 0, 0));
            let edge = self.world.weather.edges.get(self.edges);
            let edge = edge.map(|e| EventKey::new(e.at, Rank::Weather, 0, 0));
            let cancel = self.patience.peek();
            let work = Some(self.fleet.next()).filter(|&next| next != EventKey::NEVER);
            let Some(next) = [arrival, edge, cancel, work].into_iter().flatten().min() else {
                return;
            };
            if next.at() >= end {
                return;
            }
            if Some(next) == work {
                self.notices.extend(self.fleet.advance(next.at()));
                self.note(next.at());
            } else if Some(next) == cancel {
                let (key, request) = self.patience.pop().expect("it was peeked");
                if self.seen[request].last.is_none() {
                    self.abort(key.at(), request);
                }
            } else if Some(next) == edge {
                let edge = &self.world.weather.edges[self.edges];
                self.edges += 1;
                let weather = &self.world.weather;
                self.fleet.on_edge(edge.at, edge, weather, &mut self.notices);
                self.note(edge.at);
            } else {
                self.send(route(self.seen.len()));
            }
        }
    }

    fn send(&mut self, target: u16) {
        let i = self.seen.len();
        let request = &self.world.requests[i];
        // The same key twice in a row is the same request's second try.
        let again = i > 0 && self.world.requests[i - 1].key == request.key;
        let order = Order {
            request,
            request_index: i as u64,
            attempt: attempt_of(i),
            target: TargetId(target),
            nth_on_target: u32::from(again),
            streamed: request.marks.has(Marks::STREAMED),
            headers_matter: true,
            chunk_matters: true,
            prefix: 0,
            tool_at: None,
            deadline: request.at + request.patience,
        };
        let handle = self.fleet.submit(request.at, &order);
        self.seen.push(Seen {
            sent: request.at,
            handle,
            headers: None,
            first_chunk: None,
            first_output: None,
            last: None,
            aborted: None,
        });
        if request.patience < Duration::MAX {
            let key = EventKey::new(order.deadline, Rank::Cancel, i as u64, 1);
            self.patience.push(key, i);
        }
    }

    pub(crate) fn abort(&mut self, now: Instant, i: usize) {
        let bill = self.fleet.abort(now, self.seen[i].handle);
        self.seen[i].aborted = Some((now, bill));
    }

    fn note(&mut self, now: Instant) {
        for notice in self.notices.drain(..) {
            let seen = &mut self.seen[notice.attempt.request.slot as usize];
            assert!(seen.last.is_none() && seen.aborted.is_none(), "no word after the last");
            match notice.kind {
                NoticeKind::Headers => seen.headers = Some(now),
                NoticeKind::FirstChunk => seen.first_chunk = Some(now),
                NoticeKind::FirstOutput => seen.first_output = Some(now),
                kind => seen.last = Some((now, kind)),
            }
        }
    }
}

/// Mean and standard error over replications.
pub(crate) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, (squares / (n - 1.0) / n).sqrt())
}

/// Fails unless `count` of `n` independent trials is within five standard errors of `want`.
#[track_caller]
pub(crate) fn assert_share(what: &str, count: usize, n: usize, want: f64) {
    let error = (want * (1.0 - want) / n as f64).sqrt();
    let got = count as f64 / n as f64;
    assert!((got - want).abs() < 5.0 * error, "{what}: {got} of {n} against {want}");
}

/// Fails unless the mean of `values` is within five standard errors of `want`.
#[track_caller]
pub(crate) fn assert_mean(what: &str, values: &[f64], want: f64) {
    let (mean, error) = mean_and_error(values);
    assert!((mean - want).abs() < 5.0 * error, "{what}: {mean} ± {error} against {want}");
}
