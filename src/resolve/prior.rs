//! What a policy expects of a target before it has seen anything: a stated prior.

use windtunnel_policy::Duration;
use windtunnel_policy::target::{RouteClass, TargetId};

use super::id;
use super::targets::Resolved;
use super::traffic::Load;
use crate::scenario::{LatencyModel, Recorded};

/// Attempts imagined per target and class.
const ATTEMPTS: u64 = 1_000;

/// The p95 of a whole attempt on each unloaded target, over the requests of the classes that name
/// it (of all classes where none does), each class counting the same.
///
/// Attempts are imagined at evenly spread quantiles of prompt length, answer length, time to first
/// token and time per token, taken as independent: no luck is used up, and the same scenario has
/// the same priors in every world.
pub(super) fn of(
    targets: &[Resolved<'_>],
    loads: &[Load],
    classes: &[RouteClass],
) -> Vec<Duration> {
    let sizes: Vec<Sizes> = loads.iter().map(Sizes::of).collect();
    let prior = |(position, target): (usize, &Resolved<'_>)| {
        let named: Vec<&Sizes> = (classes.iter().zip(&sizes))
            .filter(|(class, _)| names(class, id(position)))
            .map(|(_, sizes)| sizes)
            .collect();
        let used = if named.is_empty() { sizes.iter().collect() } else { named };
        p95(&target.model.latency, target.model.max_output_tokens, &used)
    };
    targets.iter().enumerate().map(prior).collect()
}

fn names(class: &RouteClass, target: TargetId) -> bool {
    class.groups.iter().any(|group| group.targets.contains(&target))
}

fn p95(latency: &LatencyModel, max_output: u32, classes: &[&Sizes]) -> Duration {
    let mut times: Vec<u64> = Vec::new();
    for sizes in classes {
        for n in 0..ATTEMPTS {
            let [input, output, first, each] = spread(n);
            let output = sizes.output(output).clamp(1, u64::from(max_output));
            let first = first_token(latency, sizes.input(input), first);
            let rest = (output - 1).saturating_mul(latency.per_output_token.sample(each));
            times.push(first.saturating_add(rest));
        }
    }
    times.sort_unstable();
    Duration::from_micros(times[times.len() * 95 / 100])
}

/// Time to the first token of a prompt this long, never below that to the headers.
fn first_token(latency: &LatencyModel, input: u64, draw: u64) -> u64 {
    let measured = u64::from(latency.prompt_tokens);
    let per_token = latency.per_prompt_token.as_micros();
    let longer = input.saturating_sub(measured).saturating_mul(per_token);
    let shorter = measured.saturating_sub(input).saturating_mul(per_token);
    let first = latency.first_token.sample(draw).saturating_add(longer).saturating_sub(shorter);
    first.max(latency.headers.sample(draw))
}

/// The `n`th of a sequence of points that fill four dimensions evenly, as draws: multiples of the
/// inverse powers of the root of x⁵ = x + 1, the generalised golden ratio.
fn spread(n: u64) -> [u64; 4] {
    const STEPS: [u64; 4] = [
        15_802_862_336_838_868_992,
        13_537_915_256_980_135_936,
        11_597_591_980_405_559_296,
        9_935_365_762_805_846_016,
    ];
    STEPS.map(|step| step.wrapping_mul(n).wrapping_add(1 << 63))
}

/// Prompt and answer lengths of a class, by quantile.
struct Sizes<'a> {
    load: &'a Load,
    /// Recorded lengths, ascending.
    input: Vec<u32>,
    output: Vec<u32>,
}

impl<'a> Sizes<'a> {
    fn of(load: &'a Load) -> Sizes<'a> {
        let (mut input, mut output): (Vec<u32>, Vec<u32>) = match &load.recorded {
            Some(Recorded::Trace(rows)) => rows.iter().map(|row| (row.input, row.output)).unzip(),
            Some(Recorded::Profile(profile)) => (
                profile.minutes.iter().flat_map(|minute| minute.input.iter().copied()).collect(),
                profile.minutes.iter().flat_map(|minute| minute.output.iter().copied()).collect(),
            ),
            None => (Vec::new(), Vec::new()),
        };
        input.sort_unstable();
        output.sort_unstable();
        Sizes { load, input, output }
    }

    fn input(&self, draw: u64) -> u64 {
        self.load.input.as_ref().map_or_else(|| at(&self.input, draw), |dist| dist.sample(draw))
    }

    fn output(&self, draw: u64) -> u64 {
        self.load.output.as_ref().map_or_else(|| at(&self.output, draw), |dist| dist.sample(draw))
    }
}

/// The value at quantile `draw` · 2⁻⁶⁴.
fn at(sorted: &[u32], draw: u64) -> u64 {
    let place = (u128::from(draw) * sorted.len() as u128) >> 64;
    sorted.get(place as usize).map_or(0, |value| u64::from(*value))
}
