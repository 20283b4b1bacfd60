//! The one list of what a policy can say and a router does not run yet.
//!
//! Such a field is refused unless it holds its default, so that no policy is simulated as
//! something it is not.

use super::Problems;
use crate::config::{Policy, Sharing, Strategy};

pub(super) fn check(policy: &Policy, found: &mut Problems) {
    for (is_default, field, fix) in [
        (policy.outlier.is_none(), "outlier", "remove it"),
        (policy.replicas.sharing == Sharing::Private, "replicas.sharing", "use private"),
        (
            policy.selection.strategy != Strategy::HealthScore,
            "selection.strategy",
            "use any other than health_score",
        ),
    ] {
        found.check(is_default, field, "is not simulated by this version", fix);
    }
}
