//! What becomes of an attempt, read from its keyed draws.

use windtunnel::draw::{NameHash, Purpose, Sticking, below};
use windtunnel::scenario::{Billing, FailureShare, Scenario, Stick, TargetModel};
use windtunnel::weather::{Conditions, Mix};
use windtunnel::world::{Marks, World, WorldRequest};
use windtunnel_policy::outcome::{Answer, FailureClass, Phase, Usage};
use windtunnel_policy::{Duration, Instant, Share};

/// Amounts of work in millionths of a µs at full speed, and how the attempt ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) headers: u128,
    /// Where a chunk without content comes before the output.
    pub(crate) chunk: Option<u128>,
    pub(crate) output: u128,
    pub(crate) pace: u128,
    pub(crate) end: u128,
    pub(crate) tokens: u32,
    pub(crate) fate: Fate,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    Answer {
        answer: Answer,
        contract_ok: bool,
        task_done: bool,
    },
    Failure(Fall),
    /// Silent after this much work, though worked on to the end.
    Silence(u128),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Fall {
    pub(crate) class: FailureClass,
    pub(crate) status: u16,
    pub(crate) phase: Phase,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) billing: Billing,
}

/// What the provider does with it.
pub(crate) enum Course {
    Works,
    FailsAfter(Duration),
    NeverAnswers,
}

/// Turned away before anything was done for it: costs nothing.
pub(crate) fn at_the_door(class: FailureClass, status: u16, retry_after: Option<Duration>) -> Fate {
    let phase = Phase::BeforeHeaders;
    Fate::Failure(Fall { class, status, phase, retry_after, billing: Billing::Nothing })
}

impl Plan {
    pub(crate) fn tokens_after(&self, done: u128) -> u32 {
        let made =
            (0..self.tokens).take_while(|n| self.output + u128::from(*n) * self.pace <= done);
        made.count() as u32
    }

    pub(crate) fn slowed(self, ppm: u64) -> Plan {
        let slow = |work: u128| work * u128::from(ppm) / 1_000_000;
        let fate = match self.fate {
            Fate::Silence(after) => Fate::Silence(slow(after)),
            fate => fate,
        };
        let (headers, output) = (slow(self.headers), slow(self.output));
        let chunk = self.chunk.map(slow);
        Plan { headers, chunk, output, pace: slow(self.pace), end: slow(self.end), fate, ..self }
    }

    pub(crate) fn bill(&self, billing: Billing, used: Usage, input: u32) -> Usage {
        match billing {
            Billing::Nothing => Usage::default(),
            Billing::Consumed => used,
            Billing::Full => Usage { input, cached: 0, output: self.tokens },
        }
    }
}

/// How long a refusal takes.
pub(crate) fn fails_in(model: &TargetModel, request: &WorldRequest, nth: u32) -> Duration {
    let draw = request.key.draw(Purpose::FailureLatency, model.hash, nth);
    Duration::from_micros(model.latency.failure.sample(draw))
}

/// The work of an attempt that all goes well with.
pub(crate) fn healthy(model: &TargetModel, request: &WorldRequest, nth: u32) -> Plan {
    let latency = &model.latency;
    let (to_first, to_others) = request.key.draw2(Purpose::FirstToken, model.hash, nth);
    let stated = latency.first_token.sample(to_first);
    let (to_headers, to_chunk) = request.key.draw2(Purpose::HeadersLatency, model.hash, nth);
    let headers = latency.headers.sample(to_headers).min(stated);
    let longer = i128::from(request.input) - i128::from(latency.prompt_tokens);
    let prompt = longer * i128::from(latency.per_prompt_token.as_micros());
    let output = (i128::from(stated) + prompt).max(i128::from(headers)) as u128;
    let pace = u128::from(latency.per_output_token.sample(to_others));
    let tokens = request.output.min(request.max_output).min(model.max_output_tokens);
    let end = output + pace * u128::from(tokens.max(1) - 1);
    let fate = Fate::Answer { answer: Answer::Valid, contract_ok: true, task_done: true };
    let work = |micros: u128| micros * 1_000_000;
    let chunk = latency.chunk.as_ref().map(|after| u128::from(headers + after.sample(to_chunk)));
    let chunk = chunk.filter(|at| *at < output).map(work);
    let (output, pace, end) = (work(output), work(pace), work(end));
    Plan { headers: work(headers.into()), chunk, output, pace, end, tokens, fate }
}

/// The fate of an attempt that no limit refuses.
pub(crate) fn decide(
    scenario: &Scenario,
    world: &World,
    sky: &Conditions,
    now: Instant,
    request: &WorldRequest,
    (target, nth): (usize, u32),
) -> (Plan, Course) {
    let model = &scenario.targets[target];
    let streamed = request.marks.has(Marks::STREAMED);
    let draw = |purpose, subject| request.key.draw(purpose, subject, nth);
    let plan = healthy(model, request, nth);
    let somewhere = |plan: &Plan| {
        let room = (plan.end - plan.output) as u64;
        plan.output + u128::from(below(draw(Purpose::BreakPosition, model.hash), room))
    };
    if request.marks.has(Marks::BLOCKED) {
        let fate = at_the_door(FailureClass::ContentPolicy, 400, None);
        return (Plan { fate, ..plan }, Course::FailsAfter(fails_in(model, request, nth)));
    }

    if let Some((subject, kind)) = strike(model, world, sky, now, request, nth) {
        if kind.hang {
            return (plan, Course::NeverAnswers);
        }
        let begun = kind.phase == Phase::AfterOutput;
        let class = match kind.class {
            FailureClass::PartialStream if !streamed => FailureClass::Transport,
            class => class,
        };
        let fate = Fate::Failure(Fall {
            class,
            status: kind.status,
            phase: if streamed { kind.phase } else { Phase::BeforeHeaders },
            retry_after: kind.retry_after,
            billing: if begun { model.bill_cancelled } else { model.bill_failed },
        });
        return match kind.phase {
            Phase::BeforeHeaders => {
                let takes = kind.takes.as_ref().unwrap_or(&model.latency.failure);
                let takes = takes.sample(draw(Purpose::FailureLatency, subject));
                (Plan { fate, ..plan }, Course::FailsAfter(Duration::from_micros(takes)))
            }
            Phase::BeforeOutput => (Plan { fate, end: plan.output, ..plan }, Course::Works),
            Phase::AfterOutput => (Plan { fate, end: somewhere(&plan), ..plan }, Course::Works),
        };
    }

    let twice = |purpose, first: Share, second: Share| {
        let (one, two) = request.key.draw2(purpose, model.hash, nth);
        (first.hits(one), second.hits(two))
    };
    let both = |a: Share, b: Share| Share::from_bits(a.as_bits().saturating_add(b.as_bits()));
    let broken = both(model.failures.broken_streams, sky.broken_streams);
    let (breaks, stalls) = twice(Purpose::StreamBreak, broken, model.failures.stalled_streams);
    if streamed && breaks {
        let fate = Fate::Failure(Fall {
            class: FailureClass::PartialStream,
            status: 0,
            phase: Phase::AfterOutput,
            retry_after: None,
            billing: model.bill_cancelled,
        });
        return (Plan { fate, end: somewhere(&plan), ..plan }, Course::Works);
    }
    if streamed && stalls {
        return (Plan { fate: Fate::Silence(somewhere(&plan)), ..plan }, Course::Works);
    }
    if request.marks.has(Marks::REFUSED) {
        let fate = Fate::Answer { answer: Answer::Refusal, contract_ok: true, task_done: false };
        return (Plan { fate, ..plan }, Course::Works);
    }
    let quality = &model.quality;
    let wrong = both(quality.contract_failures, sky.contract_failures);
    let (wrong, silent) = twice(Purpose::Contract, wrong, quality.silent);
    let useless = both(quality.task_failures, sky.task_failures);
    let (useless, early) = twice(Purpose::Quality, useless, quality.truncated);
    let early = early && streamed;
    let fate = Fate::Answer {
        answer: if wrong && !silent { Answer::Invalid } else { Answer::Valid },
        contract_ok: !wrong && !early,
        task_done: !wrong && !early && !useless,
    };
    let end = if early { somewhere(&plan) } else { plan.end };
    (Plan { fate, end, tokens: plan.tokens_after(end), ..plan }, Course::Works)
}

/// The first failure to strike: the weather's in its order, then the card's own mix.
fn strike(
    model: &TargetModel,
    world: &World,
    sky: &Conditions,
    now: Instant,
    request: &WorldRequest,
    nth: u32,
) -> Option<(NameHash, Mix)> {
    let strikes = |subject: NameHash, share: Share, stick: Stick| {
        let stick = world.stick(stick);
        let window = (now.as_micros() / stick.window_length.as_micros()) as u32;
        let sticking = Sticking::new(stick.request, stick.window, stick.free).expect("checked");
        sticking.thresholds(share).strike(request.key, world.key, subject, window, nth)
    };
    let kind = |subject, mix: &[Mix]| {
        let draw = request.key.draw(Purpose::FailureClass, subject, nth);
        let kind = mix.iter().find(|kind| kind.up_to.hits(draw)).or(mix.last());
        (subject, kind.expect("a kind of failure").clone())
    };
    for failure in &sky.failures {
        let subject = model.hash.part(failure.effect.as_u64());
        if strikes(subject, failure.share, failure.stick) {
            return Some(kind(subject, &failure.mix));
        }
    }
    let sum = |kinds: &[FailureShare]| kinds.iter().map(|kind| kind.share.as_bits()).sum::<u64>();
    let all = &model.failures.mix;
    let total = sum(all);
    let subject = model.hash.under("baseline");
    if !strikes(subject, Share::from_bits(total), model.failures.stick) {
        return None;
    }
    let mix: Vec<Mix> = (all.iter().enumerate())
        .map(|(i, of)| Mix {
            up_to: Share::ratio(sum(&all[..=i]), total),
            class: of.class,
            status: of.status,
            phase: of.phase,
            retry_after: of.retry_after,
            takes: None,
            hang: of.hang,
        })
        .collect();
    Some(kind(subject, &mix))
}
