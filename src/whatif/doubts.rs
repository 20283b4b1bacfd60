//! What to know before the answer is read: where the log shows too little for the sizes in it.

use windtunnel_policy::Duration;
use windtunnel_policy::config::Policy;

use super::Question;
use super::unseen::{nowhere_else, unseen};

/// What of the world is so little told that the answer is to be read with it in mind.
pub(super) fn doubts(question: &Question<'_>) -> Vec<String> {
    let Some((fit, _)) = question.log else { return Vec::new() };
    let alone = nowhere_else(question.scenario).then(|| {
        "every request of this log has one target to go to, and no policy fails over: `--target CARD` brings in another".to_owned()
    });
    let unseen = unseen(question);
    let brought_in = (!unseen.is_empty()).then(|| {
        let verb = if unseen.len() == 1 { "is" } else { "are" };
        format!(
            "{} {verb} not in the log: what comes of a call there is what its card says, and what a policy gains by it rests on that",
            unseen.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
        )
    });
    let missing = fit.recovered_are_missing().then(|| {
        "failures that a retry or another target recovered are not in the log: what a policy gains or loses by recovering more or less is not told, and level policies need not be level (`--counters` takes counts of them)".to_owned()
    });
    let waits = |policy: &Policy| {
        let Policy { timeouts, .. } = policy;
        let longest = Duration::MAX;
        timeouts.first_token.unwrap_or(longest).min(timeouts.attempt.unwrap_or(longest))
    };
    let (first, others) = question.policies.split_first().expect("one was in force");
    let waits_longer = others.iter().any(|policy| waits(policy) > waits(first));
    let given_up = if waits_longer { fit.given_up_untold() } else { Vec::new() };
    let mut doubts: Vec<String> = alone.into_iter().chain(brought_in).chain(missing).collect();
    doubts.extend(given_up);
    doubts.extend(fit.hardly_asked());
    doubts
}
