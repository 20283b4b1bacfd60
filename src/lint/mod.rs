//! What is wasteful: settings that are valid and do nothing, or not what they seem to say.
//!
//! A policy alone is held against its own figures; with a scenario, against the deadlines, targets
//! and traffic there. A warning never says that a run would be wrong.

mod breakers;
mod budgets;
mod groups;
mod hopeless;
mod reach;
mod time;
mod unused;

use serde_json::Value;
use windtunnel_policy::config::Policy;

use crate::input::{InputError, Place, SourceFile};
use crate::library::read_policy;
use crate::scenario::Scenario;

/// A policy and the file it was read from.
#[derive(Clone, Debug)]
pub struct PolicyFile {
    /// The policy.
    pub policy: Policy,
    /// Its text, for the places of warnings.
    pub source: SourceFile,
}

impl PolicyFile {
    /// Reads and checks a policy from a file's text.
    ///
    /// # Errors
    /// The file holds a mistake.
    pub fn read(source: SourceFile) -> Result<PolicyFile, InputError> {
        Ok(PolicyFile { policy: read_policy(&source)?, source })
    }
}

/// Warnings under way, each at its place in a file.
struct Warnings<'a> {
    /// As it holds for what is looked at.
    policy: &'a Policy,
    file: Place<'a>,
    /// The route class it is looked at for, and what the policy says of that alone.
    own: Option<(&'a str, Value)>,
    found: Vec<InputError>,
}

impl Warnings<'_> {
    /// A warning at a field of the policy.
    fn add(&mut self, field: &str, message: String, remedy: &str) {
        let leaf = field.rsplit('.').next().unwrap_or_default();
        let at = match &self.own {
            Some((class, own)) if !own[leaf].is_null() => {
                self.file.key("classes").key(class).key(leaf)
            }
            _ => self.file.path(field),
        };
        self.found.push(at.error(message).fix(remedy));
    }
}

/// What is wasteful in a policy, whatever its targets.
pub fn policy(file: &PolicyFile) -> Vec<InputError> {
    let mut warnings = Warnings::of(file);
    let total = file.policy.envelope.deadline_total;
    time::check(&mut warnings, total, "envelope.deadline_total");
    breakers::check(&mut warnings);
    budgets::check(&mut warnings);
    groups::check(&mut warnings);
    unused::check(&mut warnings);
    warnings.found
}

/// What is wasteful in a scenario, whatever the policy.
pub fn scenario(scenario: &Scenario) -> Vec<InputError> {
    let mut found = reach::idle_targets(scenario);
    found.extend(hopeless::check(scenario));
    found
}

/// What is wasteful in a policy on the targets, deadlines and traffic of a scenario.
pub fn pair(file: &PolicyFile, scenario: &Scenario) -> Vec<InputError> {
    let mut warnings = Warnings::of(file);
    reach::classes(&mut warnings, scenario);
    let mut found = std::mem::take(&mut warnings.found);
    for (class, facts) in scenario.topology.classes.iter().enumerate() {
        let policy = file.policy.for_class(&facts.name);
        let mut warnings = Warnings::of_class(file, &policy, &facts.name);
        let own = policy.envelope.deadline_total;
        // A longer deadline of its own is judged with the policy alone.
        if own.is_none_or(|own| facts.deadline_total < own) {
            let name = format!("the deadline of class {} in {}", facts.name, scenario.file.name);
            time::check(&mut warnings, Some(facts.deadline_total), &name);
        }
        reach::check(&mut warnings, scenario, class);
        reach::priors(&mut warnings, scenario, class);
        found.extend(warnings.found);
    }
    breakers::check_traffic(&mut warnings, scenario);
    reach::hints(&mut warnings, scenario);
    groups::check_scenario(&mut warnings, scenario);
    unused::check_scenario(&mut warnings, scenario);
    found.extend(warnings.found);
    // Several classes may say the same.
    let mut seen = Vec::new();
    found.retain(|warning| {
        let what = (warning.path().to_owned(), warning.message().to_owned());
        let new = !seen.contains(&what);
        seen.push(what);
        new
    });
    found
}

impl<'a> Warnings<'a> {
    fn of(file: &'a PolicyFile) -> Warnings<'a> {
        let file_as_a_whole = Place::root(&file.source);
        Warnings { policy: &file.policy, file: file_as_a_whole, own: None, found: Vec::new() }
    }

    /// The same for one route class, for which this holds of the policy.
    fn of_class(file: &'a PolicyFile, policy: &'a Policy, class: &'a str) -> Warnings<'a> {
        let rule = file.policy.classes.get(class);
        let own = rule.map(|rule| (class, serde_json::json!(rule)));
        Warnings { policy, own, ..Warnings::of(file) }
    }

    /// Same-route retries that a request can make at most.
    fn retries(&self) -> u16 {
        let attempts = &self.policy.attempts;
        let own = self.policy.groups.rules().filter_map(|(_, rule)| rule.max_same_target);
        let same_target = own.fold(attempts.max_same_target, u16::max);
        match attempts.allow_retry {
            true => attempts.max.min(same_target).saturating_sub(1),
            false => 0,
        }
    }

    /// Whether a request can leave its first target at all.
    fn leaves_target(&self) -> bool {
        let attempts = &self.policy.attempts;
        attempts.max > 1 && (attempts.allow_failover || attempts.allow_substitution)
    }
}
