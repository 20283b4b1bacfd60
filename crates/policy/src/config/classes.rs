use alloc::collections::BTreeMap;
use alloc::string::String;

use super::{Attempts, Envelope, Policy};
use crate::{Duration, Money};

/// What holds for single route classes, by their names.
pub type Classes = BTreeMap<String, ClassRule>;

/// What holds for one route class in place of what holds for all: a part of its envelope.
///
/// What is not given holds as for every other class.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassRule {
    /// In place of `attempts.max`.
    pub max: Option<u16>,
    /// In place of `attempts.max_same_target`.
    pub max_same_target: Option<u16>,
    /// In place of `attempts.max_before_fallback`.
    pub max_before_fallback: Option<u16>,
    /// In place of `attempts.max_after_fallback`.
    pub max_after_fallback: Option<u16>,
    /// In place of `attempts.allow_retry`.
    pub allow_retry: Option<bool>,
    /// In place of `attempts.allow_failover`.
    pub allow_failover: Option<bool>,
    /// In place of `attempts.allow_substitution`.
    pub allow_substitution: Option<bool>,
    /// In place of `envelope.deadline_total`.
    pub deadline_total: Option<Duration>,
    /// In place of `envelope.deadline_first_output`.
    pub deadline_first_output: Option<Duration>,
    /// In place of `envelope.max_added_latency`.
    pub max_added_latency: Option<Duration>,
    /// In place of `envelope.max_cost`.
    pub max_cost: Option<Money>,
    /// In place of `envelope.reserve_for_failover`.
    pub reserve_for_failover: Option<Duration>,
    /// In place of `envelope.min_useful`.
    pub min_useful: Option<Duration>,
}

impl Policy {
    /// How many attempts, and which limits, hold for the route class of this name.
    pub fn limits_of(&self, class: &str) -> (Attempts, Envelope) {
        let (mut attempts, mut envelope) = (self.attempts.clone(), self.envelope.clone());
        if let Some(rule) = self.classes.get(class) {
            rule.replaces(&mut attempts, &mut envelope);
        }
        (attempts, envelope)
    }

    /// The policy as it holds for the route class of this name, said of all.
    pub fn for_class(&self, class: &str) -> Policy {
        let (attempts, envelope) = self.limits_of(class);
        Policy { attempts, envelope, classes: Default::default(), ..self.clone() }
    }
}

impl ClassRule {
    fn replaces(&self, attempts: &mut Attempts, envelope: &mut Envelope) {
        fn take<T: Copy>(own: Option<T>, field: &mut T) {
            *field = own.unwrap_or(*field);
        }
        take(self.max, &mut attempts.max);
        take(self.max_same_target, &mut attempts.max_same_target);
        attempts.max_before_fallback = self.max_before_fallback.or(attempts.max_before_fallback);
        attempts.max_after_fallback = self.max_after_fallback.or(attempts.max_after_fallback);
        take(self.allow_retry, &mut attempts.allow_retry);
        take(self.allow_failover, &mut attempts.allow_failover);
        take(self.allow_substitution, &mut attempts.allow_substitution);
        envelope.deadline_total = self.deadline_total.or(envelope.deadline_total);
        envelope.deadline_first_output =
            self.deadline_first_output.or(envelope.deadline_first_output);
        envelope.max_added_latency = self.max_added_latency.or(envelope.max_added_latency);
        envelope.max_cost = self.max_cost.or(envelope.max_cost);
        take(self.reserve_for_failover, &mut envelope.reserve_for_failover);
        take(self.min_useful, &mut envelope.min_useful);
    }
}
