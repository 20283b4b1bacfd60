//! What a log says of one target.

use super::at_target::AtTarget;
use super::bills::Bill;
use super::evidence::{Evidence, MINUTE_US};
use super::hidden::Hidden;
use super::limits::{self, Limits};
use super::load::LoadFit;
use super::parameters::{self, Given, Parameters};
use super::phases::{InPhase, Phases};
use super::price::PriceFit;
use super::singly::Singly;
use super::weather::Clock;
use crate::log::TargetName;

/// One target.
#[derive(Clone, Debug)]
pub(super) struct TargetFit {
    /// Its name in the scenario.
    pub(super) name: String,
    /// Its position in the log's names.
    pub(super) position: usize,
    pub(super) names: TargetName,
    pub(super) phases: Phases,
    pub(super) parameters: Parameters,
    pub(super) price: Option<PriceFit>,
    /// Bills that are left out, and the first of them.
    pub(super) absurd_bills: Option<(usize, Bill)>,
    /// What was counted in each phase.
    pub(super) in_phases: Vec<InPhase>,
    /// Attempts in flight at one time, at most.
    pub(super) most_in_flight: u64,
    /// What refuses for its rate.
    pub(super) limits: Limits,
    /// What refuses for overload.
    pub(super) places: Limits,
    /// How load slows it; none where the log does not tell what was in flight.
    pub(super) load: Option<LoadFit>,
    pub(super) in_whole_seconds: bool,
    /// Position in the log's names of the target whose times are taken for its own.
    pub(super) lender: Option<usize>,
    /// What was counted, but for what limits and load explain; none where that is all.
    pub(super) unexplained: Option<AtTarget>,
    /// Where it was hardly asked right after failing.
    pub(super) hidden: Hidden,
    /// Attempts refused for their rate, and the attempts and tokens of the busiest minute.
    pub(super) refused: u64,
    pub(super) most_let_in: [u64; 2],
    /// Answers, those of them that have a bill, and those that came as a stream.
    pub(super) complete: u64,
    pub(super) billed: u64,
    pub(super) streamed: u64,
}

impl TargetFit {
    pub(super) fn of(
        name: &str,
        position: usize,
        names: &TargetName,
        evidence: &Evidence,
        singly: Singly,
        lender: Option<usize>,
        clock: &Clock,
    ) -> TargetFit {
        let logged = &evidence.targets[position];
        let lent = lender.map(|at| logged.with_times_of(&evidence.targets[at]));
        let unexplained = singly.unexplained(evidence, position).or(lent);
        let Singly { limits, places, load, hidden, in_whole_seconds } = singly;
        let target = unexplained.as_ref().unwrap_or(logged);
        let phases = Phases::of(target, &hidden.spells);
        let counts = phases.as_counted(target);
        let given = Given::assumed(load.map_or(1.0, |load| load.speed(load.half_at)));
        let parameters =
            parameters::estimate(name, target, &phases, &counts, &hidden.taken(), given, clock);
        let busiest = target.minutes.values().map(|minute| minute.busy_us).max().unwrap_or(0);
        let busiest = libm::ceil(busiest as f64 / MINUTE_US as f64) as u64;
        TargetFit {
            name: name.to_owned(),
            position,
            names: names.clone(),
            phases,
            parameters,
            in_phases: counts.phases,
            limits,
            places,
            price: PriceFit::of(&target.totals),
            absurd_bills: target.totals.absurd_bills,
            most_in_flight: busiest.max(limits::most_in_flight(evidence.sends_of(position))),
            hidden,
            refused: target.minutes.values().map(|minute| minute.refused).sum(),
            most_let_in: [0, 1].map(|of| {
                target.minutes.values().map(|minute| minute.let_in[of]).max().unwrap_or(0)
            }),
            complete: target.totals.complete,
            billed: target.totals.complete_billed,
            streamed: target.totals.streamed,
            load,
            in_whole_seconds,
            lender,
            unexplained,
        }
    }

    /// What was counted at it, less what limits and load explain, with times of its own or lent.
    pub(super) fn counted<'a>(&'a self, evidence: &'a Evidence) -> &'a AtTarget {
        self.unexplained.as_ref().unwrap_or(&evidence.targets[self.position])
    }
}
