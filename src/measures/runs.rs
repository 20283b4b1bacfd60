//! What measures are read from: the totals of one policy over its worlds.

use std::borrow::Cow;

use crate::record::{ClassTotals, RunTotals, TargetTotals};

/// One policy in several worlds, whole or one route class of it.
pub struct Runs<'a> {
    /// By world.
    pub(super) classes: Vec<Cow<'a, ClassTotals>>,
    /// All worlds together.
    pub(super) pooled: ClassTotals,
    /// Answered, by world, by the `single` policy on the same worlds; empty where it did not run.
    pub(super) unrecovered: Vec<u64>,
    /// By world, what went to each target; empty where this is one class or one tenant.
    pub(super) targets: Vec<&'a [TargetTotals]>,
    /// The runs by world; `None` where this is one class of them.
    pub(super) whole: Option<&'a [RunTotals]>,
}

impl<'a> Runs<'a> {
    /// All route classes. `single` are the runs of the `single` policy on the same worlds.
    ///
    /// # Panics
    /// Where the numbers of worlds differ.
    pub fn overall(runs: &'a [RunTotals], single: Option<&'a [RunTotals]>) -> Runs<'a> {
        let targets = runs.iter().map(|run| run.targets.as_slice()).collect();
        Runs { whole: Some(runs), targets, ..Runs::of(runs, single, whole) }
    }

    /// All route classes, as far as counts and sums go: quantiles find nothing.
    pub fn counts(runs: &'a [RunTotals]) -> Runs<'a> {
        Runs {
            whole: Some(runs),
            targets: runs.iter().map(|run| run.targets.as_slice()).collect(),
            ..Runs::of_parts(runs.iter().map(RunTotals::overall_counts).collect())
        }
    }

    /// The route class at this position of the scenario.
    ///
    /// # Panics
    /// Where the numbers of worlds differ, or there is no such class.
    pub fn class(runs: &'a [RunTotals], single: Option<&'a [RunTotals]>, class: usize) -> Runs<'a> {
        Runs::of(runs, single, |run| Cow::Borrowed(&run.classes[class]))
    }

    /// The tenant at this position of the scenario.
    ///
    /// # Panics
    /// Where the numbers of worlds differ, or there is no such tenant.
    pub fn tenant(
        runs: &'a [RunTotals],
        single: Option<&'a [RunTotals]>,
        tenant: usize,
    ) -> Runs<'a> {
        Runs::of(runs, single, |run| Cow::Borrowed(&run.tenants[tenant]))
    }

    /// All requests and where they went, without what is known of whole runs alone.
    pub fn all_requests(runs: &'a [RunTotals]) -> Runs<'a> {
        let targets = runs.iter().map(|run| run.targets.as_slice()).collect();
        Runs { targets, ..Runs::of(runs, None, whole) }
    }

    /// The arm of a split at this position: its requests, and where they went.
    ///
    /// # Panics
    /// Where a run was not split, or there is no such arm.
    pub fn arm(runs: &'a [RunTotals], arm: usize) -> Runs<'a> {
        let all_of = |run: &RunTotals| {
            let mut all = ClassTotals::default();
            run.arms[arm].iter().for_each(|class| all.merge(class));
            all
        };
        let targets = runs.iter().map(|run| run.arm_targets[arm].as_slice()).collect();
        Runs { targets, ..Runs::of_parts(runs.iter().map(all_of).collect()) }
    }

    /// A part of the requests of each world.
    pub fn of_parts(worlds: Vec<ClassTotals>) -> Runs<'static> {
        let mut pooled = ClassTotals::default();
        worlds.iter().for_each(|part| pooled.merge(part));
        let classes = worlds.into_iter().map(Cow::Owned).collect();
        Runs { classes, pooled, unrecovered: Vec::new(), targets: Vec::new(), whole: None }
    }

    /// Number of worlds.
    pub fn worlds(&self) -> usize {
        self.classes.len()
    }

    /// Measured requests in all worlds: the denominator.
    pub fn requests(&self) -> u64 {
        self.pooled.requests
    }

    fn of(
        runs: &'a [RunTotals],
        single: Option<&'a [RunTotals]>,
        part: impl Fn(&'a RunTotals) -> Cow<'a, ClassTotals>,
    ) -> Runs<'a> {
        let classes: Vec<Cow<'a, ClassTotals>> = runs.iter().map(&part).collect();
        let mut pooled = ClassTotals::default();
        classes.iter().for_each(|class| pooled.merge(class));
        let unrecovered: Vec<u64> =
            single.unwrap_or(&[]).iter().map(|run| part(run).answered.total()).collect();
        assert!(
            single.is_none() || unrecovered.len() == classes.len(),
            "`single` runs on the same worlds"
        );
        Runs { classes, pooled, unrecovered, targets: Vec::new(), whole: None }
    }
}

fn whole(run: &RunTotals) -> Cow<'_, ClassTotals> {
    match run.classes.as_slice() {
        [only] => Cow::Borrowed(only),
        _ => Cow::Owned(run.overall()),
    }
}
