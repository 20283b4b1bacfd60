//! What speaks against believing a fit, or is to be known before an answer that rests on it.

use windtunnel_policy::text::escaped;

use super::{Fit, TargetFit};
use crate::log::Shows;

/// A target that is hidden for this part of the log is told before the answer.
const HIDDEN_LONG: f64 = 0.02;
/// Attempts of which nobody saw whether they would have been answered, as a part of the log: a breaker spares most.
const MANY_UNTOLD: f64 = 0.005;
/// Where this part of a log's rows cannot be used, what the others show is said to be of the others alone.
const MANY_MISSED: f64 = 0.05;

impl Fit {
    /// What speaks against believing the fit, whatever it reproduces; one sentence each.
    pub fn cautions(&self) -> Vec<String> {
        let of_all = self.missed().into_iter().chain(self.instant_failures());
        of_all.chain(self.coarse_clock()).collect()
    }

    /// That many rows of the log are missing.
    fn missed(&self) -> Option<String> {
        let log = self.left_out.first()?;
        let (missed, most) = log.unusable.missed()?;
        let share = missed as f64 / log.rows.max(1) as f64;
        (share >= MANY_MISSED).then(|| {
            format!(
                "{missed} of {} rows ({:.0} %) cannot be used, most of them because one {}: if they are other requests than the rest, or the failures among them, all that follows is of the rest alone",
                log.rows,
                share * 100.0,
                escaped(&most.words())
            )
        })
    }

    /// That times are too coarse.
    fn coarse_clock(&self) -> Option<String> {
        self.targets.iter().any(|target| target.in_whole_seconds).then(|| {
            "its times are whole seconds: how long anything took is told no finer than that, and what was in flight when, and so how load slows a target, is not told".to_owned()
        })
    }

    /// That many failures came in no time.
    fn instant_failures(&self) -> Option<String> {
        let share = self.instant as f64 / self.attempts.max(1) as f64;
        let many = self.instant >= 20 && share >= 0.01;
        many.then(|| {
            format!(
                "{} failures ({:.1} % of attempts) came back within a millisecond, and no provider answers so fast: they are the gateway's own (its connections, limits or breakers), here they count as the targets', and what another policy would change about them is not told",
                self.instant,
                share * 100.0
            )
        })
    }

    /// Which targets were hidden for a good part of the log, as behind an open breaker; one sentence each.
    pub fn hardly_asked(&self) -> Vec<String> {
        let all = self.clock.horizon_us as f64;
        let hidden = self.targets.iter().map(|target| (target, target.hidden.lasted_us() as f64));
        let long = hidden.filter(|(_, lasted)| *lasted >= HIDDEN_LONG * all);
        long.map(|(target, lasted)| {
            format!(
                "for {:.1} of {:.0} minutes `{}` was hardly asked, right after failing: how bad it was then nobody saw, and of a policy that asks it then believe the sign rather than the size",
                lasted / 60e6,
                all / 60e6,
                target.name
            )
        })
        .collect()
    }

    /// That failures which a retry recovered are not in the log, and nothing else counts them.
    pub fn recovered_are_missing(&self) -> bool {
        let by_request = self.shows == Shows::LastAttempt;
        by_request && self.counters.is_none() && !self.tells_tries
    }

    /// Where so much was given up while hardly anything came in time that the answer rests on what nobody saw; as
    /// many sentences as targets. They concern policies that wait longer.
    pub fn given_up_untold(&self) -> Vec<String> {
        let of = |target: &TargetFit| {
            let untold = target.parameters.unanswered.untold;
            (untold >= MANY_UNTOLD * self.attempts as f64).then(|| {
                format!(
                    "{untold:.0} attempts at `{}` were given up while hardly anything came in time, and nobody saw whether it would have come later: half of it is taken for slow, and of a policy that waits longer believe no more than the interval",
                    target.name
                )
            })
        };
        self.targets.iter().filter_map(of).collect()
    }
}
