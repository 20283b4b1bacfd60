//! What will become of an attempt: all its draws, made once when it is sent.

use windtunnel_policy::outcome::{Answer, FailureClass, Phase};
use windtunnel_policy::{Duration, Instant, Share};

use super::Order;
use super::attempt::{Fall, Fate, Plan, Verdict};
use super::charge::Ask;
use super::climate::Climate;
use super::clock::FULL_SPEED;
use super::site::Site;
use crate::draw::{Key, NameHash, Purpose, below};
use crate::scenario::{Billing, MOST_WORK, TargetModel, Times, Try};
use crate::weather::Mix;
use crate::world::Marks;

/// What an attempt comes to, as its plan says in detail.
pub(super) enum Prospect {
    /// It fails as planned after this time, without any work.
    Fails(Duration),
    /// It is never answered, and does no work.
    Hangs,
    /// It is worked on.
    Works,
}

/// How long a refusal or a failure without work takes.
pub(super) fn failure(model: &TargetModel, key: Key, nth: u32) -> Duration {
    let draw = || key.draw(Purpose::FailureLatency, model.hash, nth);
    Duration::from_micros(model.latency.failure.value(draw))
}

/// The prospect of `order`, sent to `site` at `now` and not refused, and its plan.
#[inline(always)]
pub(super) fn prospect(
    site: &Site,
    world: Key,
    now: Instant,
    order: &Order<'_>,
    ask: Ask,
    plan: &mut Plan,
) -> Prospect {
    let (model, climate) = (&site.model, &site.climate);
    let (key, nth) = (order.request.key, order.nth_on_target);
    if order.request.marks.has(Marks::BLOCKED) {
        plan.fails(&Fall::at_the_door(FailureClass::ContentPolicy, 400), 0);
        return Prospect::Fails(failure(model, key, nth));
    }
    if let Some((subject, mix)) = climate.strike(now, world, order.request, nth) {
        return struck(model, order, ask, subject, mix, plan);
    }
    if site.is_full() {
        // In a storm most attempts end here: what they would have come to is not drawn.
        plan.fails(&site.shed(), 0);
        return Prospect::Fails(failure(model, key, nth));
    }
    answers(model, climate, order, ask, plan);
    Prospect::Works
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

/// Plans the work of an attempt that meets no failure.
#[inline]
fn works(model: &TargetModel, order: &Order<'_>, ask: Ask, plan: &mut Plan) {
    let luck = Try { request: order.request.key, target: model.hash, nth: order.nth_on_target };
    let tokens = tokens(model, order);
    // What the cache remembers takes no work.
    let shows_chunk = order.shows_chunk(model);
    let seen = shows_chunk || order.shows_headers();
    let times = model.latency.times(luck, ask.input - ask.cached, tokens, seen);
    plan.headers = times.headers * FULL_SPEED;
    plan.chunk = if shows_chunk { chunk(model, luck, times) } else { 0 };
    plan.output = times.output * FULL_SPEED;
    plan.pace = times.pace * FULL_SPEED;
    plan.end = times.end * FULL_SPEED;
    plan.tool = 0;
    plan.tokens = tokens;
    // What is cut at the most work there is may end before its last token.
    plan.whole = times.end < MOST_WORK;
}

/// [`Plan::chunk`] of an answer with these times.
#[inline(never)]
fn chunk(model: &TargetModel, luck: Try, times: Times) -> u64 {
    model.latency.chunk(luck, &times).map_or(0, |at| at * FULL_SPEED + 1)
}

/// Output tokens of a complete answer.
fn tokens(model: &TargetModel, order: &Order<'_>) -> u32 {
    order.request.output.min(order.request.max_output).min(model.max_output_tokens)
}

/// The prospect of an attempt that one of the failures in `mix` strikes.
fn struck(
    model: &TargetModel,
    order: &Order<'_>,
    ask: Ask,
    subject: NameHash,
    mix: &[Mix],
    plan: &mut Plan,
) -> Prospect {
    let (key, nth) = (order.request.key, order.nth_on_target);
    let draw = key.draw(Purpose::FailureClass, subject, nth);
    // Weights are rounded down: a draw beyond the last of them is the last kind's.
    let kind = mix.iter().find(|kind| kind.up_to.hits(draw)).or(mix.last());
    let kind = kind.expect("a failure mix has at least one kind");
    let fall = |phase, billing| Fall {
        class: if order.streamed { kind.class } else { whole(kind.class) },
        status: kind.status,
        phase: if order.streamed { phase } else { Phase::BeforeHeaders },
        retry_after: kind.retry_after,
        billing,
    };
    // How long the answer would have taken is drawn only where some of it is made.
    if kind.hang {
        plan.fails(&fall(kind.phase, model.bill_failed), tokens(model, order));
        return Prospect::Hangs;
    }
    match kind.phase {
        Phase::BeforeHeaders => {
            let takes = kind.takes.as_ref().unwrap_or(&model.latency.failure);
            let takes = takes.value(|| key.draw(Purpose::FailureLatency, subject, nth));
            plan.fails(&fall(kind.phase, model.bill_failed), tokens(model, order));
            Prospect::Fails(Duration::from_micros(takes))
        }
        Phase::BeforeOutput => {
            works(model, order, ask, plan);
            plan.fate = Fate::Fails(fall(kind.phase, model.bill_failed));
            (plan.end, plan.whole) = (plan.output, false);
            Prospect::Works
        }
        Phase::AfterOutput => {
            works(model, order, ask, plan);
            plan.fate = Fate::Fails(fall(kind.phase, model.bill_cancelled));
            (plan.end, plan.whole) = (plan.somewhere(position(model, order)), false);
            Prospect::Works
        }
    }
}

/// Of an answer that is not streamed nothing is seen before its end, so it cannot be partial.
fn whole(class: FailureClass) -> FailureClass {
    if class == FailureClass::PartialStream { FailureClass::Transport } else { class }
}

/// Plans an attempt that no failure strikes: a complete answer of some worth, or a stream that
/// breaks, falls silent or ends early.
#[inline(always)]
fn answers(model: &TargetModel, climate: &Climate, order: &Order<'_>, ask: Ask, plan: &mut Plan) {
    works(model, order, ask, plan);
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
            (plan.end, plan.whole) = (plan.somewhere(position(model, order)), false);
            plan.fate = Fate::Fails(fall);
            return;
        }
        if stalls {
            plan.fate = Fate::FallsSilent(plan.somewhere(position(model, order)));
            return;
        }
    }
    if order.request.marks.has(Marks::REFUSED) {
        let verdict = Verdict { answer: Answer::Refusal, contract_ok: true, task_done: false };
        plan.fate = Fate::Answers(verdict);
        return;
    }
    judge(model, climate, order, plan);
}

/// Plans the quality of a complete (or complete looking) answer.
#[inline]
fn judge(model: &TargetModel, climate: &Climate, order: &Order<'_>, plan: &mut Plan) {
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
    plan.fate = Fate::Answers(verdict);
    if truncated {
        plan.end = plan.somewhere(position(model, order));
        plan.tokens = plan.tokens_after(plan.end.into());
    }
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
    /// Plans the failure of an attempt that is never worked on, whose answer would have had so many
    /// `tokens`. What it says of work stands for nothing, and nobody looks at it.
    #[inline]
    pub(super) fn fails(&mut self, fall: &Fall, tokens: u32) {
        self.fate = Fate::Fails(*fall);
        self.tokens = tokens;
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
            chunk: self.chunk.checked_sub(1).map_or(0, |work| slow(work) + 1),
            output: slow(self.output),
            pace: slow(self.pace),
            end: slow(self.end),
            tool: slow(self.tool),
            // Rounding may take a token off the end.
            whole: false,
            fate,
            ..self
        }
    }

    /// Puts a call of a tool so far into a complete answer of so many `tokens`, unless it ends
    /// before.
    pub(super) fn call_tool(&mut self, at: Share, tokens: u32) {
        let answer = self.pace.saturating_mul(u64::from(tokens.saturating_sub(1)));
        let tool = self.output.saturating_add(at.of(answer)).max(1);
        let whole = matches!(self.fate, Fate::Answers(_) | Fate::FallsSilent(_));
        let calls = tool < self.end || whole && tool == self.end.max(1);
        self.tool = if calls { tool } else { 0 };
    }

    /// A point between first output and end, as `draw` says.
    fn somewhere(&self, draw: u64) -> u64 {
        self.output + below(draw, self.end - self.output)
    }
}
