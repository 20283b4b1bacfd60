//! What one breaker is about.

use alloc::string::String;
use alloc::vec::Vec;

use crate::target::{Capabilities, RouteClass, TargetId};

/// The attempts that one breaker counts, and keeps out where it is open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BreakerScope {
    /// The parts of a target, and of a request, that share it, such as `openai/gpt-4o eastus`.
    pub name: String,
    /// To these targets.
    pub targets: Vec<TargetId>,
    /// For route classes that require exactly this, where it is keyed by that; of all where absent.
    pub required: Option<Capabilities>,
}

impl BreakerScope {
    /// Whether it is about attempts for this class at this target.
    pub fn covers(&self, class: &RouteClass, target: TargetId) -> bool {
        self.required.is_none_or(|required| required == class.required)
            && self.targets.contains(&target)
    }

    /// Its targets by these names, and for whom it is where it is not for all: `east+west (tools)`.
    pub fn told<'a>(&self, name: impl Fn(TargetId) -> &'a str) -> String {
        let mut told = String::new();
        for target in &self.targets {
            let joint = if told.is_empty() { "" } else { "+" };
            told.extend([joint, name(*target)]);
        }
        if let Some(required) = self.required {
            told.extend([" (", &required.told(), ")"]);
        }
        told
    }
}
