//! The totals of one run: exact integers and histograms, from which measures are made.

use windtunnel_policy::Duration;
use windtunnel_policy::config::RecoveryAction;
use windtunnel_policy::event::{Advice, Outcome};
use windtunnel_policy::outcome::FailureClass;

use super::{AttemptRow, RequestRow, SignedHist, Times};
use crate::hist::Hist;

/// Everything measured in one run: one policy in one world.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RunTotals {
    /// By route class, in the scenario's order.
    pub classes: Vec<ClassTotals>,
    /// By arm of a split, then by route class; empty where nothing is split.
    pub arms: Vec<Vec<ClassTotals>>,
    /// By arm of a split, then by target; without the time that breakers were open, which is not an
    /// arm's where one policy serves them all. Empty where nothing is split.
    pub arm_targets: Vec<Vec<TargetTotals>>,
    /// By tenant, in the scenario's order; empty where nobody is told apart.
    pub tenants: Vec<ClassTotals>,
    /// By target, in the scenario's order.
    pub targets: Vec<TargetTotals>,
    /// By interval of the timeline, by arrival time, from time zero.
    pub timeline: Vec<IntervalTotals>,
    /// Length of the measured window.
    pub measured: Duration,
    /// Asks of the shared retry budgets, and denials.
    pub budget_asks: u64,
    /// Denials among them.
    pub budget_denials: u64,
    /// For each incident of the world: onset to the first open breaker of a target it hits.
    pub detections: Vec<Option<Duration>>,
    /// For each incident: onset to the end of the last window in which success is down.
    pub recoveries: Vec<Option<Duration>>,
    /// Occurrences handled, for speed figures.
    pub events: u64,
    /// Requests simulated, the unmeasured included.
    pub requests: u64,
}

/// Answered requests by the action that produced the answering attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Answered {
    /// By the first attempt.
    pub raw: u64,
    /// By a same-route retry.
    pub retry: u64,
    /// By an equivalent failover.
    pub failover: u64,
    /// By a model substitution.
    pub substitution: u64,
    /// By a hedge.
    pub hedge: u64,
    /// By a later request of the same action, which an outer layer sent.
    pub resend: u64,
}

impl Answered {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.raw + self.retry + self.failover + self.substitution + self.hedge + self.resend
    }

    #[inline]
    fn count(&mut self, row: &RequestRow) {
        match row.by {
            _ if row.resent => self.resend += 1,
            None => self.raw += 1,
            Some(RecoveryAction::Retry) => self.retry += 1,
            Some(RecoveryAction::Failover) => self.failover += 1,
            Some(RecoveryAction::Substitution) => self.substitution += 1,
            Some(RecoveryAction::Hedge) => self.hedge += 1,
        }
    }

    fn add(&mut self, other: &Answered) {
        self.raw += other.raw;
        self.retry += other.retry;
        self.failover += other.failover;
        self.substitution += other.substitution;
        self.hedge += other.hedge;
        self.resend += other.resend;
    }
}

/// Totals of the measured requests of one route class.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClassTotals {
    /// The denominator: things users wanted, each once, whatever layer sent them again.
    pub requests: u64,
    /// Tries of the application beyond the first of each.
    pub application_repeats: u64,
    /// Requests that came to the gateway for them.
    pub received: u64,
    /// Answered, by action.
    pub answered: Answered,
    /// Requests with a complete response.
    pub transport_success: u64,
    /// Requests whose delivered response keeps its contract.
    pub contract_success: u64,
    /// Requests whose delivered response does the job.
    pub task_success: u64,
    /// Attempts sent.
    pub attempts: u64,
    /// Calls of providers that proxies made beyond those.
    pub hidden_calls: u64,
    /// Everything billed, in picodollars.
    pub cost: u128,
    /// Of that, for attempts that did not produce the answer.
    pub wasted: u128,
    /// Unanswered after all that was allowed.
    pub exhausted: u64,
    /// Unanswered because the policy forbids to recover.
    pub policy_stop: u64,
    /// Unanswered although closed with a response: it breaks its contract.
    pub silent_failure: u64,
    /// Closed by the deadline.
    pub deadline_exhausted: u64,
    /// Closed because no target was eligible.
    pub no_eligible_target: u64,
    /// Closed after output had begun and broke off.
    pub partial_output: u64,
    /// Closed because the caller went away.
    pub cancelled: u64,
    /// Turned away at the gateway's door.
    pub turned_away: u64,
    /// Valid refusals.
    pub refused: u64,
    /// Closed with the response of another model than the one asked for.
    pub substituted: u64,
    /// Of those, the ones that say so.
    pub disclosed: u64,
    /// Of those, the ones that do not where the product wants it.
    pub silent_substitutions: u64,
    /// Unanswered, and nobody knows whether it has written.
    pub escalated: u64,
    /// Actions whose tool has written outside the model.
    pub side_effects: u64,
    /// Actions whose tool has written more than once.
    pub duplicate_side_effects: u64,
    /// The unanswered by the failure the application is told of, in the order of
    /// [`FailureClass::ALL`].
    pub ended_as: [u64; FailureClass::ALL.len()],
    /// Send of the answering attempt − arrival, µs.
    pub added_latency: Hist,
    /// Answer − arrival − unloaded duration on the reference target, µs.
    pub excess_latency: SignedHist,
    /// Arrival → end, µs.
    pub latency: Hist,
    /// Arrival → first output, µs.
    pub ttft: Hist,
    /// Arrival → terminal of the unanswered, µs.
    pub time_to_failure: Hist,
    /// Sums for means, each restricted at the deadline, µs.
    pub added_latency_sum: u128,
    /// As above; may be negative.
    pub excess_latency_sum: i128,
    /// As above.
    pub latency_sum: u128,
    /// As above.
    pub ttft_sum: u128,
    /// Waits at the gateway's door, µs.
    pub door_wait_sum: u128,
}

/// Totals of one target.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TargetTotals {
    /// Attempts sent to it by measured requests.
    pub attempts: u64,
    /// Attempts of measured requests that found no connection to it.
    pub not_sent: u64,
    /// Failed ones of either (aborted ones included).
    pub failures: u64,
    /// Billed, in picodollars.
    pub cost: u128,
    /// Time out of service by open breakers within the measured window; mean over gateways.
    pub open: Duration,
    /// Input tokens billed.
    pub input_tokens: u64,
    /// Of those, read from the provider's cache.
    pub cached_tokens: u64,
    /// Probes: attempts sent while half-open.
    pub probes: u64,
}

/// Totals of the requests that arrived in one interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IntervalTotals {
    /// Requests, the warm-up and the tail included.
    pub requests: u64,
    /// Answered by the first attempt.
    pub raw: u64,
    /// Answered.
    pub answered: u64,
    /// Attempts sent in the interval.
    pub sent: u64,
    /// Answers completed in the interval: goodput.
    pub goodput: u64,
    /// Sum of latencies restricted at the deadline, µs.
    pub latency_sum: u128,
    /// Billed, in picodollars.
    pub cost: u128,
    /// Time out of service by open breakers, all targets together; mean over gateways.
    pub open: Duration,
}

impl ClassTotals {
    /// Tries of the application.
    pub fn application_tries(&self) -> u64 {
        self.requests + self.application_repeats
    }

    /// Calls of providers.
    pub fn calls(&self) -> u64 {
        self.attempts + self.hidden_calls
    }

    /// Counts what one closed request of the gateway took.
    #[inline(always)]
    pub fn take(&mut self, row: &RequestRow) {
        self.received += 1;
        self.attempts += u64::from(row.result.attempts);
        self.cost += u128::from(row.cost.as_pico());
        self.wasted += u128::from(row.wasted.as_pico());
    }

    /// Counts how a measured action ended: by its one request, or after all that outer layers sent.
    #[inline(always)]
    pub fn close(&mut self, row: &RequestRow) {
        self.count(row);
        self.record(&row.times());
    }

    /// The same without its times: their sums count, and their histograms stay as they are.
    #[inline(always)]
    pub fn count(&mut self, row: &RequestRow) {
        self.requests += 1;
        self.transport_success += u64::from(row.transport_success);
        self.contract_success += u64::from(row.contract_success);
        self.task_success += u64::from(row.task_success);
        self.substituted += u64::from(row.substitute);
        self.disclosed += u64::from(row.substitute && row.result.disclosed);
        let silent = row.substitute && row.to_disclose && !row.result.disclosed;
        self.silent_substitutions += u64::from(silent);
        self.refused += u64::from(matches!(row.result.outcome, Outcome::Refused(_)));
        let took = row.closed - row.arrived;
        let deadline_us = u128::from(row.deadline.as_micros());
        if row.answered {
            self.answered.count(row);
            let added = row.added_latency.unwrap_or_default().as_micros();
            let excess = row.excess_latency_us.unwrap_or_default();
            let ttft = row.ttft.unwrap_or(took).as_micros();
            self.added_latency_sum += u128::from(added).min(deadline_us);
            self.excess_latency_sum += i128::from(excess).min(deadline_us as i128);
            self.latency_sum += u128::from(took.as_micros()).min(deadline_us);
            self.ttft_sum += u128::from(ttft).min(deadline_us);
        } else {
            self.fail(row);
            self.added_latency_sum += deadline_us;
            self.excess_latency_sum += deadline_us as i128;
            self.latency_sum += deadline_us;
            self.ttft_sum += deadline_us;
        }
    }

    /// Enters the times of an action that was counted into their histograms.
    #[inline]
    pub fn record(&mut self, times: &Times) {
        match *times {
            Times::Answered { added, excess, took, ttft } => {
                self.added_latency.record(added);
                self.excess_latency.record(excess);
                self.latency.record(took);
                self.ttft.record(ttft);
            }
            Times::Unanswered { took } => {
                self.added_latency.record_infinite();
                self.excess_latency.record_infinite();
                self.latency.record_infinite();
                self.ttft.record_infinite();
                self.time_to_failure.record(took);
            }
        }
    }

    /// Counts an unanswered request by how it ended: in one place each, so that with the answered
    /// they add up to all.
    fn fail(&mut self, row: &RequestRow) {
        match row.result.outcome {
            Outcome::Exhausted => self.exhausted += 1,
            Outcome::PolicyStop => self.policy_stop += 1,
            Outcome::Answered(_) | Outcome::Refused(_) => self.silent_failure += 1,
            Outcome::Deadline => self.deadline_exhausted += 1,
            Outcome::NoEligibleTarget => self.no_eligible_target += 1,
            Outcome::TurnedAway => self.turned_away += 1,
            Outcome::Partial => self.partial_output += 1,
            Outcome::Cancelled => self.cancelled += 1,
        }
        self.escalated += u64::from(row.result.advice == Advice::Escalate);
        if let Some(class) = row.result.class {
            self.ended_as[class as usize] += 1;
        }
    }

    /// Adds the totals of `other`.
    pub fn merge(&mut self, other: &ClassTotals) {
        self.merge_counts(other);
        self.added_latency.merge(&other.added_latency);
        self.excess_latency.merge(&other.excess_latency);
        self.latency.merge(&other.latency);
        self.ttft.merge(&other.ttft);
        self.time_to_failure.merge(&other.time_to_failure);
    }

    /// Adds all but the histograms.
    fn merge_counts(&mut self, other: &ClassTotals) {
        self.requests += other.requests;
        self.application_repeats += other.application_repeats;
        self.received += other.received;
        self.answered.add(&other.answered);
        self.transport_success += other.transport_success;
        self.contract_success += other.contract_success;
        self.task_success += other.task_success;
        self.attempts += other.attempts;
        self.hidden_calls += other.hidden_calls;
        self.cost += other.cost;
        self.wasted += other.wasted;
        self.exhausted += other.exhausted;
        self.policy_stop += other.policy_stop;
        self.silent_failure += other.silent_failure;
        self.deadline_exhausted += other.deadline_exhausted;
        self.no_eligible_target += other.no_eligible_target;
        self.partial_output += other.partial_output;
        self.cancelled += other.cancelled;
        self.turned_away += other.turned_away;
        self.refused += other.refused;
        self.substituted += other.substituted;
        self.disclosed += other.disclosed;
        self.silent_substitutions += other.silent_substitutions;
        self.escalated += other.escalated;
        self.side_effects += other.side_effects;
        self.duplicate_side_effects += other.duplicate_side_effects;
        self.ended_as.iter_mut().zip(other.ended_as).for_each(|(own, other)| *own += other);
        self.added_latency_sum += other.added_latency_sum;
        self.excess_latency_sum += other.excess_latency_sum;
        self.latency_sum += other.latency_sum;
        self.ttft_sum += other.ttft_sum;
        self.door_wait_sum += other.door_wait_sum;
    }
}

impl IntervalTotals {
    /// Adds the totals of `other`.
    pub fn add(&mut self, other: &IntervalTotals) {
        self.requests += other.requests;
        self.raw += other.raw;
        self.answered += other.answered;
        self.sent += other.sent;
        self.goodput += other.goodput;
        self.latency_sum += other.latency_sum;
        self.cost += other.cost;
        self.open += other.open;
    }
}

impl TargetTotals {
    /// Adds the attempts of `other`.
    fn add(&mut self, other: &TargetTotals) {
        self.attempts += other.attempts;
        self.not_sent += other.not_sent;
        self.failures += other.failures;
        self.cost += other.cost;
        self.open += other.open;
        self.input_tokens += other.input_tokens;
        self.cached_tokens += other.cached_tokens;
        self.probes += other.probes;
    }

    /// Counts one ended attempt of a measured request.
    #[inline]
    pub fn end(&mut self, row: &AttemptRow) {
        self.attempts += u64::from(row.was_sent);
        self.not_sent += u64::from(!row.was_sent);
        self.failures += u64::from(row.failure.is_some());
        self.cost += u128::from(row.cost.as_pico());
        self.input_tokens += u64::from(row.usage.input);
        self.cached_tokens += u64::from(row.usage.cached);
        self.probes += u64::from(row.breaker == windtunnel_policy::event::BreakerState::HalfOpen);
    }
}

impl RunTotals {
    /// All classes together.
    pub fn overall(&self) -> ClassTotals {
        let mut all = ClassTotals::default();
        for class in &self.classes {
            all.merge(class);
        }
        all
    }

    /// All classes together, without the histograms: what shares and means are made of.
    pub fn overall_counts(&self) -> ClassTotals {
        let mut all = ClassTotals::default();
        self.classes.iter().for_each(|class| all.merge_counts(class));
        all
    }

    /// The same totals without the histograms.
    pub fn without_times(&self) -> RunTotals {
        let bare = |classes: &Vec<ClassTotals>| -> Vec<ClassTotals> {
            let bare = classes.iter().map(|class| {
                let mut bare = ClassTotals::default();
                bare.merge_counts(class);
                bare
            });
            bare.collect()
        };
        RunTotals {
            classes: bare(&self.classes),
            arms: self.arms.iter().map(bare).collect(),
            arm_targets: self.arm_targets.clone(),
            tenants: bare(&self.tenants),
            targets: self.targets.clone(),
            timeline: self.timeline.clone(),
            detections: self.detections.clone(),
            recoveries: self.recoveries.clone(),
            ..*self
        }
    }

    /// Makes the arms of classes and targets that hold those of one arm after the other, so many each.
    pub fn divide(&mut self, classes: usize, targets: usize) {
        self.arms = self.classes.chunks(classes).map(<[ClassTotals]>::to_vec).collect();
        self.classes = vec![ClassTotals::default(); classes];
        for arm in &self.arms {
            self.classes.iter_mut().zip(arm).for_each(|(all, of_arm)| all.merge(of_arm));
        }
        self.arm_targets = self.targets.chunks(targets).map(<[TargetTotals]>::to_vec).collect();
        self.targets = vec![TargetTotals::default(); targets];
        for arm in &self.arm_targets {
            self.targets.iter_mut().zip(arm).for_each(|(all, of_arm)| all.add(of_arm));
        }
    }

    /// What a request counts in: the totals of its class, and those of its tenant where tenants are
    /// told apart.
    #[inline]
    pub fn accounts(
        &mut self,
        account: u16,
        tenant: u16,
    ) -> impl Iterator<Item = &mut ClassTotals> {
        let class = &mut self.classes[usize::from(account)];
        std::iter::once(class).chain(self.tenants.get_mut(usize::from(tenant)))
    }

    /// The interval with this number, growing the timeline as needed.
    #[inline]
    pub fn interval(&mut self, number: usize) -> &mut IntervalTotals {
        if number >= self.timeline.len() {
            self.timeline.resize(number + 1, IntervalTotals::default());
        }
        &mut self.timeline[number]
    }
}
