//! What will become of an attempt: all its draws, made once when it is sent.

use windtunnel_policy::outcome::{Answer, FailureClass, Phase};
use windtunnel_policy::{Duration, Instant, Share};

use super::Order;
use super::attempt::{Fall, Fate, Plan, Verdict};
use super::climate::Climate;
use super::clock::FULL_SPEED;
use crate::dist::Dist;
use crate::draw::{Key, NameHash, Purpose, below};
use crate::scenario::{Billing, LatencyModel, TargetModel};
use crate::weather::Mix;
use crate::world::{Marks, WorldRequest};

/// No attempt needs more work than this (12 days at full speed), so that work fits 64 bits.
const MOST_WORK: u64 = 1 << 40;

/// A distribution that knows whether it needs a draw.
#[derive(Clone, Debug)]
pub(super) struct Sampler {
    dist: Dist,
    constant: Option<u64>,
}

/// A target's latencies, ready to be drawn.
#[derive(Clone, Debug)]
pub(super) struct Latencies {
    headers: Sampler,
    first_token: Sampler,
    per_output_token: Sampler,
    failure: Sampler,
    /// Input tokens at which `first_token` holds, and µs per token beyond.
    prompt: (u32, u64),
}

/// What an attempt that was not refused comes to.
pub(super) enum Prospect {
    /// It fails as planned after this time, without any work.
    Fails(Plan, Duration),
    /// It is never answered, and does no work.
    Hangs(Plan),
    /// It is worked on.
    Works(Plan),
}

impl Sampler {
    fn new(dist: &Dist) -> Sampler {
        let ends = [dist.sample(0), dist.sample(u64::MAX)];
        Sampler { dist: dist.clone(), constant: (ends[0] == ends[1]).then_some(ends[0]) }
    }

    #[inline]
    fn draw(&self, key: Key, purpose: Purpose, subject: NameHash, nth: u32) -> u64 {
        match self.constant {
            Some(value) => value,
            None => self.dist.sample(key.draw(purpose, subject, nth)),
        }
    }
}

impl Latencies {
    pub(super) fn new(model: &LatencyModel) -> Latencies {
        Latencies {
            headers: Sampler::new(&model.headers),
            first_token: Sampler::new(&model.first_token),
            per_output_token: Sampler::new(&model.per_output_token),
            failure: Sampler::new(&model.failure),
            prompt: (model.prompt_tokens, model.per_prompt_token.as_micros()),
        }
    }

    /// How long a refusal or a failure without work takes.
    pub(super) fn failure(&self, key: Key, subject: NameHash, nth: u32) -> Duration {
        Duration::from_micros(self.failure.draw(key, Purpose::FailureLatency, subject, nth))
    }
}

/// The prospect of `order` at the target `model`, sent at `now`; `shed` is how it fails if it
/// comes to work, where there is no room for it.
#[inline]
pub(super) fn prospect(
    model: &TargetModel,
    latencies: &Latencies,
    climate: &Climate,
    world: Key,
    now: Instant,
    shed: Option<Fall>,
    order: &Order<'_>,
) -> Prospect {
    let (key, nth) = (order.request.key, order.nth_on_target);
    if order.request.marks.has(Marks::BLOCKED) {
        let takes = latencies.failure(key, model.hash, nth);
        let fall = Fall::at_the_door(FailureClass::ContentPolicy, 400);
        return Prospect::Fails(Plan::without_work(fall), takes);
    }
    let struck_by = climate.strike(now, world, key, nth);
    if let (None, Some(fall)) = (struck_by, shed) {
        // In a storm most attempts end here: what they would have come to is not drawn.
        let takes = latencies.failure(key, model.hash, nth);
        return Prospect::Fails(Plan::without_work(fall), takes);
    }
    let plan = healthy(model, latencies, order.request, nth, order.streamed);
    match struck_by {
        Some((subject, mix)) => struck(model, latencies, order, plan, subject, mix),
        None => Prospect::Works(answered(model, climate, order, plan)),
    }
}

impl Fall {
    /// A failure before headers that costs nothing.
    pub(super) fn at_the_door(class: FailureClass, status: u16) -> Fall {
        Fall {
            class,
            status,
            phase: Phase::BeforeHeaders,
            retry_after: None,
            billing: Billing::Nothing,
        }
    }
}

/// The work of an attempt that meets no failure; that to its headers only where they are `seen`.
pub(super) fn healthy(
    model: &TargetModel,
    latencies: &Latencies,
    request: &WorldRequest,
    nth: u32,
    seen: bool,
) -> Plan {
    let key = request.key;
    let draw = |sampler: &Sampler, purpose| sampler.draw(key, purpose, model.hash, nth);
    let at_stated_prompt = draw(&latencies.first_token, Purpose::FirstToken);
    let (stated, per_token) = latencies.prompt;
    let more = per_token.saturating_mul(u64::from(request.input.saturating_sub(stated)));
    let less = per_token.saturating_mul(u64::from(stated.saturating_sub(request.input)));
    // Without a deduction, output cannot come before the headers.
    let headers = match seen || less > 0 {
        true => draw(&latencies.headers, Purpose::HeadersLatency).min(at_stated_prompt),
        false => 0,
    };
    let output = at_stated_prompt.saturating_add(more).saturating_sub(less).max(headers);
    let pace = draw(&latencies.per_output_token, Purpose::TokenPace);
    let tokens = request.output.min(request.max_output).min(model.max_output_tokens);
    let end = output.saturating_add(pace.saturating_mul(u64::from(tokens.saturating_sub(1))));
    let fate = Fate::Answers(Verdict { answer: Answer::Valid, contract_ok: true, task_done: true });
    Plan {
        headers: work(headers),
        output: work(output),
        pace: work(pace),
        end: work(end),
        unhindered: work(end),
        tokens,
        fate,
    }
}

/// Millionths of a µs at full speed.
fn work(micros: u64) -> u64 {
    micros.min(MOST_WORK) * FULL_SPEED
}

/// The prospect of an attempt that one of the failures in `mix` strikes.
fn struck(
    model: &TargetModel,
    latencies: &Latencies,
    order: &Order<'_>,
    plan: Plan,
    subject: NameHash,
    mix: &[Mix],
) -> Prospect {
    let (key, nth) = (order.request.key, order.nth_on_target);
    let draw = key.draw(Purpose::FailureClass, subject, nth);
    // Weights are rounded down: a draw beyond the last of them is the last kind's.
    let kind = mix.iter().find(|kind| kind.up_to.hits(draw)).or(mix.last());
    let kind = kind.expect("a failure mix has at least one kind");
    if kind.hang {
        return Prospect::Hangs(plan);
    }
    let fall = |phase, billing| Fall {
        class: if order.streamed { kind.class } else { whole(kind.class) },
        status: kind.status,
        phase: if order.streamed { phase } else { Phase::BeforeHeaders },
        retry_after: kind.retry_after,
        billing,
    };
    match kind.phase {
        Phase::BeforeHeaders => {
            let takes = match &kind.takes {
                Some(dist) => Duration::from_micros(dist.sample(key.draw(
                    Purpose::FailureLatency,
                    subject,
                    nth,
                ))),
                None => latencies.failure(key, subject, nth),
            };
            let fate = Fate::Fails(fall(kind.phase, model.bill_failed));
            Prospect::Fails(Plan { fate, ..plan }, takes)
        }
        Phase::BeforeOutput => Prospect::Works(Plan {
            end: plan.output,
            fate: Fate::Fails(fall(kind.phase, model.bill_failed)),
            ..plan
        }),
        Phase::AfterOutput => Prospect::Works(Plan {
            end: plan.somewhere(position(model, order)),
            fate: Fate::Fails(fall(kind.phase, model.bill_cancelled)),
            ..plan
        }),
    }
}

/// Of an answer that is not streamed nothing is seen before its end, so it cannot be partial.
fn whole(class: FailureClass) -> FailureClass {
    if class == FailureClass::PartialStream { FailureClass::Transport } else { class }
}

/// The plan of an attempt that no failure strikes: a complete answer of some worth, or a stream
/// that breaks, falls silent or ends early.
fn answered(model: &TargetModel, climate: &Climate, order: &Order<'_>, plan: Plan) -> Plan {
    let (key, nth) = (order.request.key, order.nth_on_target);
    if order.streamed {
        let (breaks, stalls) = pair(
            key,
            Purpose::StreamBreak,
            model.hash,
            nth,
            climate.broken_streams,
            model.failures.stalled_streams,
        );
        if breaks {
            let fall = Fall {
                class: FailureClass::PartialStream,
                status: 0,
                phase: Phase::AfterOutput,
                retry_after: None,
                billing: model.bill_cancelled,
            };
            let end = plan.somewhere(position(model, order));
            return Plan { end, fate: Fate::Fails(fall), ..plan };
        }
        if stalls {
            return Plan {
                fate: Fate::FallsSilent(plan.somewhere(position(model, order))),
                ..plan
            };
        }
    }
    if order.request.marks.has(Marks::REFUSED) {
        let verdict = Verdict { answer: Answer::Refusal, contract_ok: true, task_done: false };
        return Plan { fate: Fate::Answers(verdict), ..plan };
    }
    judged(model, climate, order, plan)
}

/// The plan of a complete (or complete looking) answer, with its quality.
fn judged(model: &TargetModel, climate: &Climate, order: &Order<'_>, plan: Plan) -> Plan {
    let (key, nth, quality) = (order.request.key, order.nth_on_target, &model.quality);
    let (broken, silent) =
        pair(key, Purpose::Contract, model.hash, nth, climate.contract_failures, quality.silent);
    let early = if order.streamed { quality.truncated } else { Share::ZERO };
    let (useless, truncated) =
        pair(key, Purpose::Quality, model.hash, nth, climate.task_failures, early);
    let verdict = Verdict {
        answer: if broken && !silent { Answer::Invalid } else { Answer::Valid },
        // A stream that ends early looks complete, and is not what was promised.
        contract_ok: !broken && !truncated,
        task_done: !broken && !truncated && !useless,
    };
    let plan = Plan { fate: Fate::Answers(verdict), ..plan };
    if !truncated {
        return plan;
    }
    let end = plan.somewhere(position(model, order));
    Plan { end, tokens: plan.tokens_after(end.into()), ..plan }
}

/// Two independent decisions for one draw, and none where both shares are zero.
#[inline]
fn pair(
    key: Key,
    purpose: Purpose,
    subject: NameHash,
    nth: u32,
    first: Share,
    second: Share,
) -> (bool, bool) {
    if first == Share::ZERO && second == Share::ZERO {
        return (false, false);
    }
    let draws = key.draw2(purpose, subject, nth);
    (first.hits(draws.0), second.hits(draws.1))
}

/// Where in its output a stream comes to grief.
fn position(model: &TargetModel, order: &Order<'_>) -> u64 {
    order.request.key.draw(Purpose::BreakPosition, model.hash, order.nth_on_target)
}

impl Plan {
    /// The plan of an attempt that is refused.
    pub(super) fn without_work(fall: Fall) -> Plan {
        Plan {
            headers: 0,
            output: 0,
            pace: 0,
            end: 0,
            unhindered: 0,
            tokens: 0,
            fate: Fate::Fails(fall),
        }
    }

    /// The same with all its work times `ppm` parts per million.
    pub(super) fn slowed(self, ppm: u64) -> Plan {
        let slow = |work: u64| {
            let wide = u128::from(work) * u128::from(ppm) / u128::from(FULL_SPEED);
            u64::try_from(wide).unwrap_or(u64::MAX).min(MOST_WORK * FULL_SPEED)
        };
        let fate = match self.fate {
            Fate::FallsSilent(after) => Fate::FallsSilent(slow(after)),
            other => other,
        };
        Plan {
            headers: slow(self.headers),
            output: slow(self.output),
            pace: slow(self.pace),
            end: slow(self.end),
            fate,
            ..self
        }
    }

    /// A point between first output and end, as `draw` says.
    fn somewhere(&self, draw: u64) -> u64 {
        self.output + below(draw, self.end - self.output)
    }
}
