//! Routing, retry and fallback policy of an AI-API gateway as a pure state machine.
//!
//! Events go in, actions come out; there is no I/O, no clock and no random number in here, so the
//! policy that a simulator tries is, to the bit, the one that a gateway runs.
//!
//! Three types to learn:
//!
//! - [`config::Policy`]: how a gateway recovers, or stops, as data.
//! - [`target::Topology`]: where attempts can go, and what the product says about each route class.
//! - [`Router`]: takes an [`event::Event`] and appends [`event::Action`]s. The contract is written
//!   on it.
//!
//! A *request* is what the client asks once; an *attempt* is one send of it to one target. After
//! an attempt fails, four gates are asked in order: failure class, response phase, idempotency,
//! budgets. What they allow is a same-route retry, an equivalent failover or a model
//! substitution, three things that are configured, decided and reported apart.
//!
//! ```
//! use windtunnel_policy::config::Policy;
//! use windtunnel_policy::event::{Action, Event, Left, Outcome, Request, Tries};
//! use windtunnel_policy::outcome::{Answer, Failure, FailureClass, Phase, Usage};
//! use windtunnel_policy::target::*;
//! use windtunnel_policy::{Duration, Instant, Money, Price, Router};
//!
//! let target = |name: &str| Target {
//!     name: name.into(),
//!     provider: name.into(),
//!     model: "some-model".into(),
//!     region: "eu".into(),
//!     deployment: "default".into(),
//!     account: "ours".into(),
//!     price: Price::default(),
//!     context_tokens: 128_000,
//!     capabilities: Capabilities::NONE,
//!     contract: Default::default(),
//!     weight: 1,
//!     priority: 0,
//!     failover_in_flight: None,
//!     prior_latency: Duration::from_secs(2),
//! };
//! let chat = RouteClass {
//!     name: "chat".into(),
//!     deadline_total: Duration::from_secs(30),
//!     deadline_first_output: Duration::MAX,
//!     side_effects: SideEffects::None,
//!     required: Capabilities::NONE,
//!     needs: Default::default(),
//!     substitutes: vec![],
//!     max_cost: Money::MAX,
//!     groups: vec![
//!         Group { role: Role::Primary, targets: vec![TargetId(0)] },
//!         Group { role: Role::Fallback(1), targets: vec![TargetId(1)] },
//!     ],
//! };
//! let topology = Topology { targets: vec![target("first"), target("second")], classes: vec![chat], tenants: vec![] };
//! let mut router = Router::new(Policy::default(), topology).expect("a valid policy");
//!
//! let mut actions = Vec::with_capacity(router.max_actions_per_event());
//! let request = Request {
//!     id: 1,
//!     salt: 42,
//!     class: ClassId(0),
//!     input_tokens: 900,
//!     max_output_tokens: 100,
//!     streamed: false,
//!     session: 1,
//!     tenant: TenantId::FIRST,
//!     action: 1,
//!     tries: Tries::FIRST,
//!     left: Left::ALL,
//! };
//! router.handle(Instant::ZERO, Event::Arrived(request), &mut actions);
//! let Action::Send(first) = actions[0] else { panic!("the first action is to send") };
//! assert_eq!(first.target, TargetId(0));
//!
//! // The first target's credential has expired: not its turn again, but the second's.
//! let failure = Failure {
//!     class: FailureClass::UpstreamAuth,
//!     status: 401,
//!     phase: Phase::BeforeHeaders,
//!     retry_after: None,
//!     usage: Usage::default(),
//! };
//! actions.clear();
//! let now = Instant::from_micros(80_000);
//! router.handle(now, Event::Failed { attempt: first.attempt, failure }, &mut actions);
//! let sends = actions.iter().filter_map(|action| match action {
//!     Action::Send(send) => Some(*send),
//!     _ => None,
//! });
//! let second = sends.last().expect("another target is tried");
//! assert_eq!(second.target, TargetId(1));
//!
//! actions.clear();
//! let (attempt, usage) = (second.attempt, Usage { input: 900, cached: 0, output: 60 });
//! let now = Instant::from_micros(1_500_000);
//! router.handle(now, Event::Ended { attempt, usage, answer: Answer::Valid }, &mut actions);
//! let Some(Action::Finish { result, .. }) = actions.last() else { panic!("it is over") };
//! assert_eq!(result.outcome, Outcome::Answered(2));
//! ```
//!
//! `examples/gateway.rs` is a complete small gateway around it; `scripts/` shows what the router
//! does, as events and actions in plain text.
#![no_std]

extern crate alloc;

mod admission;
mod advice;
mod backoff;
mod breaker;
mod budget;
mod check;
mod choose;
pub mod config;
pub mod contract;
mod eject;
mod estimate;
pub mod event;
pub mod facts;
mod gates;
mod health;
mod hedge;
mod known;
mod load;
mod mix;
pub mod money;
pub mod normalise;
pub mod outcome;
mod plan;
pub mod promises;
mod rolling;
mod router;
mod rules;
mod select;
pub mod share;
mod slots;
mod standing;
mod tally;
pub mod target;
mod target_set;
mod terminal;
pub mod text;
pub mod time;

pub use breaker::BreakerScope;
pub use money::{Money, Price};
pub use router::Router;
pub use share::Share;
pub use time::{Duration, Instant};
