//! The world of one seed: everything that happens whatever the policy does.
//!
//! Immutable and shared by all policies, so that they meet the same requests, the same weather
//! and, as far as they make the same choices, the same luck.
//!
//! Each sequence (the gaps of a class, the gaps of a weather entry …) is drawn in one pass from
//! its own stream, keyed by the seed, the purpose and the *name* of its owner; everything about
//! one request is drawn from the request's own key. So adding a class, a target or an incident
//! moves no other draw, and a longer horizon only appends.

mod arrivals;
mod error;
mod operators;
mod requests;

use windtunnel_policy::{Duration, Instant, Share};

use crate::dist::Dist;
use crate::draw::{Key, NameHash, Purpose};
use crate::scenario::{Arrivals, Scenario, Stick};
use crate::weather::Weather;

use arrivals::Arrival;
pub use error::WorldError;
pub use operators::KillSwitch;
use requests::ClassDraws;

/// The most requests one world may hold.
pub const MAX_REQUESTS: u64 = 50_000_000;

/// Which realisation of a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WorldOptions {
    /// The seed of the experiment.
    pub seed: u64,
    /// Which of the experiment's worlds.
    pub world: u32,
    /// Also draw stretches of traces and profiles, and the incidents' onset, severity and
    /// duration within their stated ranges. Otherwise recorded traffic is replayed in order and
    /// the first value of each range holds: the published course.
    pub resample: bool,
    /// How failures stick.
    pub stickiness: Stickiness,
}

impl WorldOptions {
    /// The seed of this one world.
    pub(crate) fn own_seed(self) -> u64 {
        // The block that derives world keys: tags of children of this key use count 0.
        let count = self.world.saturating_add(1);
        Key::of_world(self.seed).draw(Purpose::ChildKey, NameHash::NONE, count)
    }
}

/// How failures stick: as declared, or at one of the extremes between which the truth lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stickiness {
    /// As the cards and the scenario say.
    #[default]
    Declared,
    /// Every try is an independent draw.
    Independent,
    /// What failed once for a request at a target fails there again.
    AllToRequest,
}

impl Stickiness {
    /// The shares in force where `declared` were declared. Applying it twice changes nothing.
    pub fn apply(self, declared: Stick) -> Stick {
        let none = Stick {
            request: Share::ZERO,
            window: Share::ZERO,
            free: Share::ZERO,
            window_length: declared.window_length,
        };
        match self {
            Stickiness::Declared => declared,
            Stickiness::Independent => Stick { free: Share::ONE, ..none },
            Stickiness::AllToRequest => Stick { request: Share::ONE, ..none },
        }
    }
}

/// One realisation of a scenario.
#[derive(Clone, Debug)]
pub struct World {
    /// What it was made from.
    pub options: WorldOptions,
    /// Keys the luck that belongs to no request.
    pub key: Key,
    /// Sorted by time, then class, then number within the class. Reaches beyond the horizon by the longest
    /// deadline, so that nothing is measured against a silence.
    pub requests: Vec<WorldRequest>,
    /// Closed loops, whose requests depend on the run.
    pub closed_loops: Vec<ClosedLoop>,
    /// The weather.
    pub weather: Weather,
    /// What operators do, in order.
    pub switches: Vec<KillSwitch>,
    /// Requests from here are measured …
    pub measured_from: Instant,
    /// … to here.
    pub measured_to: Instant,
}

impl World {
    /// The world number `options.world` of this scenario and seed.
    ///
    /// # Errors
    /// Traffic or weather that cannot be made: too many requests, distributions out of range, a
    /// trace too short for the horizon.
    pub fn build(scenario: &Scenario, options: WorldOptions) -> Result<World, WorldError> {
        let seed = options.own_seed();
        let key = Key::of_world(seed);
        let measured_to = Instant::ZERO + scenario.file.horizon;
        let longest = scenario.classes.iter().map(|c| c.deadline).max().unwrap_or_default();
        let until = measured_to + longest;

        let mut requests = Vec::new();
        let mut closed_loops = Vec::new();
        for (id, class) in scenario.classes.iter().enumerate() {
            let draws = ClassDraws::new(scenario, id, key)?;
            let arrivals = &scenario.file.classes[&class.name].traffic.arrivals;
            if let Arrivals::ClosedLoop { users, think } = arrivals {
                let think = think
                    .dist_in(&scenario.tables)
                    .map_err(|e| WorldError::traffic(&class.name, e))?;
                closed_loops.push(ClosedLoop { class: id as u16, users: *users, think, draws });
            } else {
                let mut room = MAX_REQUESTS - requests.len() as u64;
                for arrival in arrivals::of_class(scenario, id, seed, options.resample, until)? {
                    if arrival.at >= until {
                        break;
                    }
                    room = room.checked_sub(1).ok_or(WorldError::TooManyRequests)?;
                    requests.push(draws.request(&arrival));
                }
            }
        }
        // Stable, and each class is sorted by itself: ties keep class and number.
        requests.sort_by_key(|request| request.at);
        let weather = Weather::build(scenario, seed, options.resample, until)?;
        let switches = operators::switches(scenario, &weather, seed, options.resample, until);
        Ok(World {
            options,
            key,
            requests,
            closed_loops,
            weather,
            switches,
            measured_from: Instant::ZERO + scenario.file.warm_up,
            measured_to,
        })
    }

    /// The shares a failure sticks by in this world, where `declared` were declared.
    pub fn stick(&self, declared: Stick) -> Stick {
        self.options.stickiness.apply(declared)
    }

    /// Whether any failure of this world would stick otherwise than it was declared to. Where none
    /// would, nothing else differs either.
    pub fn sticks_otherwise(&self, scenario: &Scenario, stickiness: Stickiness) -> bool {
        let ordinary = scenario.targets.iter().map(|target| &target.failures);
        let ordinary = ordinary.filter(|failures| !failures.mix.is_empty()).map(|f| f.stick);
        let conditions = self.weather.conditions.iter();
        let weather = conditions.flat_map(|c| c.failures.iter().map(|failure| failure.stick));
        ordinary.chain(weather).any(|declared| stickiness.apply(declared) != declared)
    }

    /// What `user` of a closed loop asks the `n`th time, at `at`.
    ///
    /// Depends on the user and on `n`, not on when or in which order users ask.
    pub fn ask(&self, closed_loop: usize, user: u32, n: u32, at: Instant) -> WorldRequest {
        let draws = &self.closed_loops[closed_loop].draws;
        let number = u64::from(user) << 32 | u64::from(n);
        draws.request(&Arrival { at, number, tokens: None, session: Some(u64::from(user)) })
    }

    /// How long `user` of a closed loop thinks before asking the `n`th time; before the first
    /// (`n` = 0) it counts from the scenario's start, so that users do not ask in step.
    pub fn think(&self, closed_loop: usize, user: u32, n: u32) -> Duration {
        let ClosedLoop { think, draws, .. } = &self.closed_loops[closed_loop];
        let key = draws.request_key(u64::from(user) << 32 | u64::from(n));
        Duration::from_micros(think.sample(key.draw(Purpose::ThinkTime, NameHash::NONE, 0)))
    }
}

/// Users that wait for their answer, think, and ask again: see [`World::ask`].
#[derive(Clone, Debug)]
pub struct ClosedLoop {
    /// Route class.
    pub class: u16,
    /// How many users.
    pub users: u32,
    think: Dist,
    draws: ClassDraws,
}

/// One request, with all that only the world knows: first what its close looks at, last what only its
/// arrival does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct WorldRequest {
    /// Arrival.
    pub at: Instant,
    /// How long its answer takes alone, in clear weather, at its class's reference target, if it
    /// meets no failure: the same whatever a policy does.
    pub unloaded: Duration,
    /// Keys all its luck.
    pub key: Key,
    /// Route class.
    pub class: u16,
    /// Tenant; 0 where nobody is told apart.
    pub tenant: u16,
    /// What is special about it.
    pub marks: Marks,
    /// Prompt tokens.
    pub input: u32,
    /// True output tokens.
    pub output: u32,
    /// The caller's output limit.
    pub max_output: u32,
    /// Conversation; unique to the request where it has none.
    pub session: u64,
    /// What [`WorldRequest::salt`] gives the first time.
    pub first_salt: u64,
    /// How long the caller waits; `Duration::MAX` for ever.
    pub patience: Duration,
}

impl WorldRequest {
    /// The policy's only randomness about it, the `nth` time it comes to the gateway.
    pub fn salt(&self, nth: u32) -> u64 {
        match nth {
            0 => self.first_salt,
            _ => self.key.draw(Purpose::Salt, NameHash::NONE, nth),
        }
    }
}

/// What is special about a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Marks(u8);

impl Marks {
    /// Nothing.
    pub const NONE: Marks = Marks(0);
    /// Takes the answer as a stream.
    pub const STREAMED: Marks = Marks(1);
    /// Malformed: outside all measures.
    pub const INVALID: Marks = Marks(2);
    /// Answered by a valid refusal.
    pub const REFUSED: Marks = Marks(4);
    /// Blocked by a content filter.
    pub const BLOCKED: Marks = Marks(8);
    /// Its caller cancels for reasons of its own (`patience` says when): outside all measures.
    pub const CANCELS: Marks = Marks(16);

    /// Its attempts call a tool that writes.
    pub const CALLS_TOOL: Marks = Marks(32);

    /// Both together.
    pub const fn with(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }

    /// True where all of `other` is in it.
    pub const fn has(self, other: Marks) -> bool {
        self.0 & other.0 == other.0
    }
}

#[cfg(test)]
mod tests;
