//! The event loop: the only place where world, fleet, router and records meet.
//!
//! Arrivals and weather are cursors over the world, the fleet knows what it does next, and what
//! else will happen is in two queues. Whatever comes first is handed to the fleet or to the router,
//! and what they say is carried out at once. Events of one instant come in the order of [`Rank`].

mod alarm;
mod arrive;
mod carry_out;
mod close;
mod door;
mod entrance;
mod gateways;
mod happen;
mod interval;
mod layers;
mod occurrence;
mod open;
mod pool;
mod proxy;
mod recovery;
mod row;
mod split;
mod tools;
mod unrecorded;
mod watch;

use windtunnel_policy::config::{FirstToken, Policy, Problem, Streaming};
use windtunnel_policy::event::Action;
use windtunnel_policy::target::{Group, Role, Topology};
use windtunnel_policy::{Duration, Instant, Router};

use self::close::Substitutes;
use self::door::Door;
use self::gateways::Gateways;
use self::interval::Interval;
use self::layers::Actions;
use self::occurrence::Occurrence;
use self::open::{Asker, Open};
use self::pool::Pool;
use self::proxy::Proxies;
pub use self::split::{BadSplit, Split};
use self::tools::Tools;
use self::unrecorded::Unrecorded;
use self::watch::Watch;
use crate::fleet::{Fleet, Notice};
use crate::ledger::Ledger;
use crate::queue::{EventKey, EventQueue, Rank, Timers};
use crate::record::{ClassTotals, NoSink, RunTotals, Sink, TargetTotals};
use crate::scenario::Scenario;
use crate::weather::Edge;
use crate::world::{World, WorldRequest};

/// Runs one policy (or several, each on a part of the sessions) in worlds of one scenario, reusing
/// its room from run to run.
pub struct Simulation<'s> {
    scenario: &'s Scenario,
    gateways: Gateways,
    fleet: Fleet,
    /// What else happens soon and is not the fleet's.
    queue: EventQueue<Occurrence>,
    /// What is far off and mostly stale when it comes up: the router's timers, callers' patience.
    timers: Timers<Occurrence>,
    interval: Interval,
    pool: Pool,
    door: Door,
    watch: Watch,
    substitutes: Substitutes,
    open: Vec<Open>,
    layers: Actions,
    proxies: Proxies,
    tools: Tools,
    measured_open: u64,
    asked: Vec<Vec<u32>>,
    next_index: u64,
    ledger: Ledger,
    totals: RunTotals,
    unrecorded: Unrecorded,
    actions: Vec<Action>,
    notices: Vec<Notice>,
    heeds_operators: bool,
    watches_idle: bool,
    waits_for_headers: bool,
    /// The same, or rows are kept, which say when headers came.
    headers_matter: bool,
    waits_for_chunk: bool,
    /// The same, or rows are kept, which say when a first chunk came.
    chunk_matters: bool,
    /// Whether times enter their histograms.
    keeps_times: bool,
}

impl<'s> Simulation<'s> {
    /// A simulation of this policy in this scenario.
    ///
    /// # Errors
    /// What is wrong with the policy, or with the policy for this scenario.
    pub fn new(scenario: &'s Scenario, policy: &Policy) -> Result<Simulation<'s>, Vec<Problem>> {
        Simulation::over(scenario, &scenario.topology, &[policy], Split::whole())
    }

    /// The same with the targets of this topology, which has no others than the scenario's.
    ///
    /// # Errors
    /// What is wrong with the policy, or with the policy for this topology.
    pub fn within(
        scenario: &'s Scenario,
        topology: &Topology,
        policy: &Policy,
    ) -> Result<Simulation<'s>, Vec<Problem>> {
        Simulation::over(scenario, topology, &[policy], Split::whole())
    }

    /// The same with nothing to choose from: each route class has its reference target alone, and
    /// no operator takes it out.
    ///
    /// # Errors
    /// What is wrong with the policy, or with the policy for this scenario.
    pub fn at_reference(
        scenario: &'s Scenario,
        policy: &Policy,
    ) -> Result<Simulation<'s>, Vec<Problem>> {
        let mut topology = scenario.topology.clone();
        for (class, model) in topology.classes.iter_mut().zip(&scenario.classes) {
            class.groups = vec![Group { role: Role::Primary, targets: vec![model.reference] }];
        }
        let simulation = Simulation::over(scenario, &topology, &[policy], Split::whole())?;
        Ok(Simulation { heeds_operators: false, ..simulation })
    }

    /// The policy alone, counted by the arms of this split besides.
    ///
    /// # Errors
    /// What is wrong with the policy, or with the policy for this scenario.
    pub fn alone(
        scenario: &'s Scenario,
        policy: &Policy,
        split: &Split,
    ) -> Result<Simulation<'s>, Vec<Problem>> {
        Simulation::over(scenario, &scenario.topology, &[policy], split.clone())
    }

    /// Several policies at once in front of one fleet, each with the sessions of its arm.
    ///
    /// # Errors
    /// What is wrong with a policy, or with it for this scenario.
    ///
    /// # Panics
    /// Where the split has not one arm for each policy.
    pub fn side_by_side(
        scenario: &'s Scenario,
        policies: &[&Policy],
        split: &Split,
    ) -> Result<Simulation<'s>, Vec<Problem>> {
        assert_eq!(policies.len(), split.arms(), "an arm for each policy");
        Simulation::over(scenario, &scenario.topology, policies, split.clone())
    }

    fn over(
        scenario: &'s Scenario,
        topology: &Topology,
        policies: &[&Policy],
        split: Split,
    ) -> Result<Simulation<'s>, Vec<Problem>> {
        let gateways = Gateways::new(policies, topology, split)?;
        let targets = scenario.targets.len();
        let most = gateways.routers().iter().map(Router::max_actions_per_event).max();
        Ok(Simulation {
            scenario,
            heeds_operators: true,
            watches_idle: policies.iter().any(|policy| policy.timeouts.idle_stream.is_some()),
            waits_for_headers: policies.iter().any(|policy| waits_for_headers(scenario, policy)),
            headers_matter: true,
            waits_for_chunk: policies.iter().any(|policy| policy.heeds_first_chunk()),
            chunk_matters: true,
            keeps_times: true,
            fleet: Fleet::new(scenario),
            queue: EventQueue::with_capacity(0),
            timers: Timers::new(
                policies.iter().flat_map(|policy| constant_delays(scenario, policy)),
            ),
            interval: Interval::new(scenario.file.interval),
            pool: Pool::new(&scenario.file.gateway, gateways.count(), targets),
            door: Door::new(&scenario.file.gateway, gateways.count()),
            watch: Watch::new(gateways.routers(), targets),
            substitutes: Substitutes::new(scenario),
            open: Vec::with_capacity(1024),
            layers: Actions::new(scenario),
            proxies: Proxies::new(scenario),
            tools: Tools::new(),
            measured_open: 0,
            asked: Vec::new(),
            next_index: 0,
            ledger: Ledger::default(),
            totals: RunTotals::default(),
            unrecorded: Unrecorded::new(),
            actions: Vec::with_capacity(most.unwrap_or_default()),
            gateways,
            notices: Vec::with_capacity(64),
        })
    }

    /// Runs the policy in one world as [`Simulation::run`] does, for what is counted and summed: the
    /// histograms of times, which take most of the memory of a run, stay empty.
    ///
    /// # Panics
    /// Where the accounts do not balance: a fault of the simulator.
    pub fn run_counts(&mut self, world: &World) -> RunTotals {
        self.keeps_times = false;
        let totals = self.run(world, &mut NoSink);
        self.keeps_times = true;
        totals
    }

    /// Runs the policy in one world, to the close of its last request.
    ///
    /// # Panics
    /// Where the accounts do not balance: a fault of the simulator.
    pub fn run<S: Sink>(&mut self, world: &World, sink: &mut S) -> RunTotals {
        self.reset(world);
        self.headers_matter = self.waits_for_headers || S::KEEPS_ROWS;
        self.chunk_matters = self.waits_for_chunk || S::KEEPS_ROWS;
        let (mut arrivals, mut edges) = (0, 0);
        let mut arrival = arrival_key(world, arrivals);
        let mut edge = edge_key(world, edges);
        let mut now = Instant::ZERO;
        loop {
            let mut cursor = arrival.min(edge);
            if self.measured_open == 0 && arrival.at() >= world.measured_to {
                if self.is_over(now, world) {
                    break;
                }
                // Nobody is taken in any more.
                cursor = edge;
            }
            self.totals.events += 1;
            let (fleet, timer) = (self.fleet.next(), self.timers.peek());
            let queued = self.queue.peek().unwrap_or(EventKey::NEVER);
            let other = timer.min(cursor).min(queued);
            if fleet <= other {
                if fleet == EventKey::NEVER {
                    self.stand_still(now, world);
                    continue;
                }
                now = fleet.at();
                // Not moved out of there: what was just written in parts is slow to copy.
                let notice = self.fleet.advance(now);
                if let Some(notice) = &notice {
                    self.on_notice(now, notice, world, sink);
                }
                continue;
            }
            now = other.at();
            if timer == other {
                let late = |occurrence: Occurrence| occurrence.comes_too_late(&self.open);
                let (_, occurrence) = self.timers.pop(late).expect("the timer that was seen");
                if !late(occurrence) {
                    self.on_occurrence(now, occurrence, world, sink);
                }
            } else if edge == other {
                edges = self.on_weather(now, edges, world, sink);
                edge = edge_key(world, edges);
            } else if cursor == other {
                self.arrive(now, &world.requests[arrivals], arrivals as u64, None, world, sink);
                arrivals += 1;
                arrival = arrival_key(world, arrivals);
            } else {
                let (_, occurrence) = self.queue.pop().expect("the occurrence that was seen");
                self.on_occurrence(now, occurrence, world, sink);
            }
        }
        self.finish(world, now)
    }

    /// Whether everything has come to its end, where no measured request is open and none comes.
    #[inline(never)]
    fn is_over(&self, now: Instant, world: &World) -> bool {
        let asks = !world.closed_loops.is_empty() && now < world.measured_to;
        !asks && self.ledger.open() == 0 && self.fleet.in_flight() == 0
    }

    /// Nothing will ever happen again, and something is still in flight at a provider.
    #[cold]
    fn stand_still(&mut self, now: Instant, world: &World) {
        let asks = !world.closed_loops.is_empty() && self.takes_in(now, world);
        let waited_for = asks || self.ledger.open() > 0;
        assert!(!waited_for, "a request is open, but nothing will ever happen to it");
        self.fleet.drop_stranded(now);
    }

    /// All the weather of an instant, from this edge on, then what is heard of it: who goes
    /// elsewhere because of it meets the new weather there. Returns the edge that comes next.
    #[inline(never)]
    fn on_weather(
        &mut self,
        now: Instant,
        first: usize,
        world: &World,
        sink: &mut impl Sink,
    ) -> usize {
        let edges = &world.weather.edges[first..];
        let edges = edges.iter().take_while(|edge| edge.at == now);
        let mut notices = std::mem::take(&mut self.notices);
        let mut next = first;
        for edge in edges {
            self.fleet.on_edge(now, edge, &world.weather, &mut notices);
            next += 1;
        }
        for notice in &notices {
            self.on_notice(now, notice, world, sink);
        }
        notices.clear();
        self.notices = notices;
        next
    }

    /// Whether requests that come at this time are taken in: until all measured ones are closed.
    #[inline]
    fn takes_in(&self, at: Instant, world: &World) -> bool {
        at < world.measured_to || self.measured_open > 0
    }

    #[inline(never)]
    fn reset(&mut self, world: &World) {
        self.gateways.reset(world);
        self.fleet.reset(world);
        self.queue.clear();
        self.timers.clear();
        self.interval.reset();
        self.pool.reset();
        self.door.reset();
        self.watch.reset(world);
        self.layers.reset();
        self.tools.clear();
        self.measured_open = 0;
        self.ledger = Ledger::default();
        self.next_index = world.requests.len() as u64;
        self.totals = RunTotals {
            classes: vec![
                ClassTotals::default();
                self.gateways.arms() * self.scenario.classes.len()
            ],
            tenants: vec![ClassTotals::default(); self.scenario.tenants.len()],
            targets: vec![
                TargetTotals::default();
                self.gateways.arms() * self.scenario.targets.len()
            ],
            measured: world.measured_to - world.measured_from,
            ..RunTotals::default()
        };
        let switches = world.switches.iter().filter(|_| self.heeds_operators);
        for (position, switch) in switches.enumerate() {
            let key = EventKey::new(switch.at, Rank::Weather, position as u64, 0);
            self.queue.push(key, Occurrence::Operator(position as u32));
        }
        self.asked.clear();
        for (i, closed_loop) in world.closed_loops.iter().enumerate() {
            self.asked.push(vec![0; closed_loop.users as usize]);
            for user in 0..closed_loop.users {
                self.think(Instant::ZERO, Asker { closed_loop: i as u16, user }, world);
            }
        }
    }

    #[inline(never)]
    fn finish(&mut self, world: &World, end: Instant) -> RunTotals {
        self.ledger.assert_balanced(world.options.seed);
        assert_eq!(self.pool.in_use(), 0, "seed {}: connections not returned", world.options.seed);
        assert!(self.door.is_idle(), "seed {}: places inside leaked", world.options.seed);
        let routers = self.gateways.routers();
        let permits: u64 = routers.iter().map(Router::permits_out).sum();
        assert_eq!(permits, 0, "seed {}: probe permits leaked", world.options.seed);
        self.fleet.assert_idle();
        assert!(self.layers.is_idle(), "seed {}: an action is open", world.options.seed);
        self.unrecorded.record(&mut self.totals.classes);
        let mut totals = std::mem::take(&mut self.totals);
        if self.gateways.arms() > 1 {
            totals.divide(self.scenario.classes.len(), self.scenario.targets.len());
        }
        self.watch.finish(world, end, self.scenario.file.interval, &mut totals);
        totals.budget_asks = routers.iter().map(Router::budget_asks).sum();
        totals.budget_denials = routers.iter().map(Router::budget_denials).sum();
        totals.requests = self.ledger.arrived();
        totals
    }
}

/// Whether anything is decided by headers: the wait for the first token may end with them, a stream be
/// passed on from there, and a proxy calls again only before them.
fn waits_for_headers(scenario: &Scenario, policy: &Policy) -> bool {
    let timeouts = &policy.timeouts;
    timeouts.first_token.is_some() && timeouts.first_token_means == FirstToken::Headers
        || policy.streaming == Streaming::AtHeaders
        || scenario.targets.iter().any(|target| target.upstream_proxy.is_some())
}

/// The place of this arrival in the order of a run; [`EventKey::NEVER`] after the last.
fn arrival_key(world: &World, number: usize) -> EventKey {
    let at = |request: &WorldRequest| EventKey::new(request.at, Rank::Arrival, number as u64, 0);
    world.requests.get(number).map_or(EventKey::NEVER, at)
}

/// The same of a change of weather.
fn edge_key(world: &World, number: usize) -> EventKey {
    let at = |edge: &Edge| EventKey::new(edge.at, Rank::Weather, number as u64, 0);
    world.weather.edges.get(number).map_or(EventKey::NEVER, at)
}

/// The delays at which the router sets its timers again and again.
fn constant_delays(scenario: &Scenario, policy: &Policy) -> impl Iterator<Item = Duration> {
    let Policy { timeouts, envelope, .. } = policy;
    let own = [timeouts.first_token, timeouts.attempt, timeouts.idle_stream];
    let own = own.into_iter().chain([envelope.deadline_first_output, envelope.deadline_total]);
    let of_classes = policy.classes.values();
    let of_classes = of_classes.flat_map(|rule| [rule.deadline_first_output, rule.deadline_total]);
    own.chain(of_classes).flatten().chain(scenario.classes.iter().map(|class| class.deadline))
}
