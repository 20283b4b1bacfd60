//! What to know before the answer is read: where the log shows too little for the sizes in it.

use super::Question;
use crate::scenario::Scenario;

/// What of the world is so little told that the answer is to be read with it in mind.
pub(super) fn doubts(question: &Question<'_>) -> Vec<String> {
    let Some((fit, _)) = question.log else { return Vec::new() };
    let failing_over = one_target(question.scenario).map(|_| {
        format!(
            "there is one target in this world, `{}`, and no policy fails over: of one that would, nothing is told but what it does there",
            question.scenario.targets[0].name
        )
    });
    let missing = fit.recovered_are_missing().then(|| {
        "failures that a retry or another target recovered are not in the log: what a policy gains or loses by recovering more or less is not told, and level policies need not be level (`--counters` takes counts of them)".to_owned()
    });
    failing_over.into_iter().chain(missing).chain(fit.hardly_asked()).collect()
}

/// That a world of one target has nowhere to fail over to, whatever a policy says.
pub(super) fn one_target(scenario: &Scenario) -> Option<String> {
    let [only] = scenario.targets.as_slice() else { return None };
    Some(format!(
        "every attempt in the log went to {}: what a second target would have answered is not identified, and no policy \
         fails over here; `fit --out` writes the world, which takes more cards and fallbacks, and `--world` uses it",
        only.name
    ))
}
