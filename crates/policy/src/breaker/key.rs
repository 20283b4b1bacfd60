//! Which attempts share a breaker, and what it is called.

use alloc::string::String;
use alloc::vec::Vec;

use crate::config::KeyPart;
use crate::target::{Capabilities, Target};

/// The values of a breaker's key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Values {
    /// Of the parts that are a target's, in the key's order.
    target: Vec<String>,
    /// What the route class requires, where that is a part.
    pub(super) required: Option<Capabilities>,
}

impl Values {
    /// Those of attempts at a target for classes that require this; `None` where such an attempt is never
    /// made, because the target cannot do it.
    pub(super) fn new(
        key: &[KeyPart],
        target: &Target,
        required: Option<Capabilities>,
    ) -> Option<Values> {
        let required = required.filter(|_| key.contains(&KeyPart::Capability));
        let able = required.is_none_or(|required| target.capabilities.covers(required));
        let parts = key.iter().filter_map(|part| part_of(*part, target)).map(Into::into);
        able.then(|| Values { target: parts.collect(), required })
    }
}

/// A part of a target's identity.
fn part_of(part: KeyPart, target: &Target) -> Option<&str> {
    match part {
        KeyPart::Provider => Some(&target.provider),
        KeyPart::Model => Some(&target.model),
        KeyPart::Region => Some(&target.region),
        KeyPart::Deployment => Some(&target.deployment),
        KeyPart::Account => Some(&target.account),
        KeyPart::Capability => None,
    }
}

/// The values of a key as one name; provider and model are joined by a slash.
pub(super) fn key_name(values: &Values, key: &[KeyPart]) -> String {
    let required = values.required.map(Capabilities::told);
    let mut of_target = values.target.iter();
    let mut name = String::new();
    let mut before = None;
    for part in key {
        let value = match part {
            KeyPart::Capability => required.as_ref(),
            _ => of_target.next(),
        };
        let Some(value) = value.filter(|value| !value.is_empty()) else { continue };
        match (before, part) {
            (None, _) => {}
            (Some(KeyPart::Provider), KeyPart::Model) => name.push('/'),
            (Some(_), _) => name.push(' '),
        }
        name.push_str(value);
        before = Some(*part);
    }
    name
}
