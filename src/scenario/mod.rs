//! Scenario files and model cards: what a user writes, parsed into types that cannot be wrong.

mod card;
mod contracts;
mod dist_spec;
mod file;
#[cfg(test)]
pub(crate) mod fixture;
mod latency;
mod layers;
mod limits;
mod operators;
mod resolved;
mod tenants;
mod tools;
mod traffic;
mod units;
mod weather;

pub use card::{
    Abort, AbortRule, Billing, Capacity, FailureShare, Failures, Latency, ModelCard, Pricing,
    PromptCache, Quality, Source, SpeedByLoad, Stick,
};
pub use contracts::{ContractSpec, JudgedSpec, NeedsSpec, PriceCeiling};
pub use dist_spec::{DistSpec, Quantity, Tokens};
pub use file::{
    Background, ClassSpec, Deadline, Gateway, Groups, InFlight, ScenarioFile, TargetSpec,
};
pub(crate) use latency::MOST_WORK;
pub use latency::{Times, Try};
pub use layers::{Layer, OuterLayer, RetriesSpec, UpstreamProxy};
pub use limits::{Charge, LimitScope, LimitSpec, LimitUnit, Refill, RetryAfterForm, Settlement};
pub use operators::{OperatorSpec, OperatorWhen, Switch, SwitchFile, Switched};
pub use resolved::{
    ClassModel, FailureModel, JudgedModel, LatencyModel, LimitModel, Recorded, Scenario,
    TargetModel, TenantModel, ToolModel, TraceRow,
};
pub use tenants::TenantSpec;
pub use tools::{ReconciliationSpec, ToolSpec};
pub use traffic::{
    Arrivals, ProfileUse, RateStep, TokenSpec, TraceColumns, TraceLayout, TraceUse, Traffic,
};
pub use units::{Factor, Range, Rate};
pub use weather::{
    Cut, Domain, Effects, FailureEffect, MixEntry, Shape, SlowShare, WeatherSpec, When,
};
