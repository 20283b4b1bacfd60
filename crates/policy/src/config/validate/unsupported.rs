//! The one list of what a policy can say and a router does not run yet.
//!
//! Such a field is refused unless it holds its default, so that no policy is simulated as
//! something it is not.

use super::Problems;
use crate::config::{Policy, Sharing};

pub(super) fn check(policy: &Policy, found: &mut Problems) {
    found.check(
        policy.replicas.sharing == Sharing::Private,
        "replicas.sharing",
        "is not simulated by this version",
        "use private",
    );
}
