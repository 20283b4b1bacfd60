//! Which targets share a breaker, and what it is called.

use alloc::string::String;

use crate::config::KeyPart;
use crate::target::Target;

/// A part of a target's identity.
pub(super) fn value(part: KeyPart, target: &Target) -> &str {
    match part {
        KeyPart::Provider => &target.provider,
        KeyPart::Model => &target.model,
        KeyPart::Region => &target.region,
        KeyPart::Deployment => &target.deployment,
        KeyPart::Account => &target.account,
    }
}

/// The values of a key as one name; provider and model are joined by a slash.
pub(super) fn key_name<'a>(values: impl Iterator<Item = &'a str>, key: &[KeyPart]) -> String {
    let mut name = String::new();
    let mut before = None;
    for (part, value) in key.iter().zip(values).filter(|(_, value)| !value.is_empty()) {
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
