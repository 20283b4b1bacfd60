//! What a reader might take for promised and is not.

use windtunnel_policy::config::{FailoverRule, Policy, RetryRule, SubstitutionRule};
use windtunnel_policy::outcome::FailureClass;

/// That a tool writes once is not promised where the policy repeats what ended in a server error, which
/// may come when the tool has run, and does not ask the tool's record first.
pub(super) fn promises(policy: &Policy) -> Option<String> {
    let row = policy.matrix.row(FailureClass::ServerError);
    let attempts = &policy.attempts;
    let may_go_on = attempts.allow_retry && row.retry != RetryRule::No
        || attempts.allow_failover && row.failover != FailoverRule::No
        || attempts.allow_substitution && row.substitution != SubstitutionRule::No;
    let repeats = attempts.max > 1 && may_go_on;
    (repeats && !policy.side_effects.reconcile).then(|| {
        "that a tool writes once: a server error may come when it has run, and this policy sends the request \
         again without asking the tool's record (`side_effects.reconcile`); the drill tools-once plays that"
            .into()
    })
}
