//! Settings of what the policy never does.

use windtunnel_policy::config::{
    Backoff, Blame, Cooldown, CooldownRule, FailoverRule, FirstToken, Matrix, RetryRule, Sharing,
    Streaming, SubstitutionRule,
};
use windtunnel_policy::outcome::FailureClass;

use super::Warnings;
use crate::scenario::Scenario;

pub(super) fn check(warnings: &mut Warnings<'_>) {
    closed_cells(warnings);
    waits(warnings);
    reserve(warnings);
    cooldown(warnings);
    sharing(warnings);
}

/// First chunks that differ from the first output at no target of a scenario.
pub(super) fn check_scenario(warnings: &mut Warnings<'_>, scenario: &Scenario) {
    if scenario.has_chunks() {
        return;
    }
    let (streaming, timeouts) = (warnings.policy.streaming, &warnings.policy.timeouts);
    let by_chunk =
        timeouts.first_token.is_some() && timeouts.first_token_means == FirstToken::Chunk;
    let fields = [
        ("streaming", streaming == Streaming::AtFirstChunk, "pass_through"),
        ("timeouts.first_token_means", by_chunk, "output"),
    ];
    for (field, used, same) in fields {
        if !used {
            continue;
        }
        let message = format!(
            "does what {same} does: no target of {} sends a chunk before its first output",
            scenario.file.name
        );
        warnings.add(field, message, "give targets a `latency` with `chunk_after_headers`");
    }
}

/// Cells of the matrix that the file opens and `attempts` closes.
fn closed_cells(warnings: &mut Warnings<'_>) {
    let (attempts, usual) = (&warnings.policy.attempts, Matrix::default());
    let none_at_all = attempts.max == 1;
    let (retry, failover, substitution) = (
        warnings.retries() > 0,
        attempts.allow_failover && !none_at_all,
        attempts.allow_substitution && !none_at_all,
    );
    for class in FailureClass::ALL {
        let (row, usual) = (warnings.policy.matrix.row(class), usual.row(class));
        let opened = [
            ("retry", row.retry != usual.retry && row.retry != RetryRule::No && !retry),
            (
                "failover",
                row.failover != usual.failover && row.failover != FailoverRule::No && !failover,
            ),
            (
                "substitution",
                row.substitution != usual.substitution
                    && row.substitution != SubstitutionRule::No
                    && !substitution,
            ),
        ];
        for (cell, _) in opened.into_iter().filter(|(_, unused)| *unused) {
            let message = format!("is never used: attempts allows no {cell}");
            let field = format!("matrix.{}.{cell}", class.name());
            warnings.add(&field, message, "leave it out, or allow it in attempts");
        }
    }
}

fn waits(warnings: &mut Warnings<'_>) {
    let backoff = &warnings.policy.backoff;
    let waits = warnings.retries() > 0 || (backoff.before_failover && warnings.leaves_target());
    if !waits && *backoff != Backoff::default() {
        let message = "is never waited for: the policy makes no retry".to_owned();
        warnings.add("backoff", message, "leave it out, or allow retries in attempts");
    }
}

fn reserve(warnings: &mut Warnings<'_>) {
    let reserve = warnings.policy.envelope.reserve_for_failover;
    if reserve.is_zero() {
        return;
    }
    let why = match (warnings.leaves_target(), warnings.retries() > 0) {
        (false, _) => "nothing ever fails over",
        (true, false) => "there are no retries to keep it from",
        (true, true) => return,
    };
    let message = format!("{reserve} is kept for nothing: {why}");
    warnings.add("envelope.reserve_for_failover", message, "leave it out");
}

fn cooldown(warnings: &mut Warnings<'_>) {
    let policy = warnings.policy;
    let starts = FailureClass::ALL
        .into_iter()
        .any(|class| policy.matrix.row(class).blame == Blame::Cooldown);
    let stated = policy.cooldown != Cooldown::default();
    if stated && policy.cooldown.rule != CooldownRule::None && !starts {
        let message = "never starts: no failure class of the matrix blames a cooldown".to_owned();
        warnings.add(
            "cooldown.rule",
            message,
            "set blame: cooldown where it should, or the rule none",
        );
    }
}

fn sharing(warnings: &mut Warnings<'_>) {
    let replicas = &warnings.policy.replicas;
    if replicas.count == 1 && replicas.sharing != Sharing::Private {
        let message = "tells nobody anything: there is one replica".to_owned();
        warnings.add("replicas.sharing", message, "leave it out, or raise replicas.count");
    }
}
