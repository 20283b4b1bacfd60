//! The blocks that cards hold and targets may replace.

use windtunnel_policy::outcome::Phase;
use windtunnel_policy::{Duration, Money, Price, Share};

use super::frame::LONGEST;
use crate::dist::Dist;
use crate::draw::Sticking;
use crate::input::{InputError, Place};
use crate::scenario::{
    Capacity, DistSpec, Failures, Latency, LatencyModel, Pricing, PromptCache, Quantity,
    SpeedByLoad, Stick,
};

/// No target works on more at one time.
const MOST_SLOTS: u32 = 1_000_000;
/// No queue is longer.
const LONGEST_QUEUE: u32 = 10_000_000;

/// The table of a distribution.
pub(super) fn dist<Q: Quantity>(spec: &DistSpec<Q>, at: &Place<'_>) -> Result<Dist, InputError> {
    spec.dist().map_err(|message| at.error(message))
}

pub(super) fn price(price: &Pricing, at: &Place<'_>) -> Result<Price, InputError> {
    let per_token = |money: Money, key: &str| {
        let (whole, rest) = (money.as_pico() / 1_000_000, money.as_pico() % 1_000_000);
        if rest != 0 {
            return Err(at.key(key).error(format!("{money} has more than six decimals")));
        }
        Ok(whole)
    };
    let input = per_token(price.input_per_million, "input_per_million")?;
    let cached = match price.cached_per_million {
        Some(cached) => per_token(cached, "cached_per_million")?,
        None => input,
    };
    let output = per_token(price.output_per_million, "output_per_million")?;
    Ok(Price { input, cached, output })
}

pub(super) fn latency(latency: &Latency, at: &Place<'_>) -> Result<LatencyModel, InputError> {
    let model = LatencyModel {
        headers: dist(&latency.headers, &at.key("headers"))?,
        chunk: latency
            .chunk_after_headers
            .as_ref()
            .map(|after| dist(after, &at.key("chunk_after_headers")))
            .transpose()?,
        first_token: dist(&latency.first_token, &at.key("first_token"))?,
        prompt_tokens: latency.prompt_tokens.get(),
        per_prompt_token: latency.per_prompt_token,
        per_output_token: dist(&latency.per_output_token, &at.key("per_output_token"))?,
        failure: dist(&latency.failure, &at.key("failure"))?,
    };
    const MEDIAN: u64 = 1 << 63;
    if model.headers.sample(MEDIAN) > model.first_token.sample(MEDIAN) {
        let fix = "the first token comes with or after the headers: correct one of the two";
        return Err(at
            .key("first_token")
            .error("its median is below that of the headers")
            .fix(fix));
    }
    if latency.per_prompt_token > Duration::from_secs(1) {
        let fix = "a token of prompt takes microseconds to milliseconds";
        return Err(at.key("per_prompt_token").error("is longer than 1s").fix(fix));
    }
    Ok(model)
}

pub(super) fn capacity(capacity: &Capacity, at: &Place<'_>) -> Result<(), InputError> {
    between(u64::from(capacity.slots), 1, u64::from(MOST_SLOTS), &at.key("slots"))?;
    between(u64::from(capacity.queue), 0, u64::from(LONGEST_QUEUE), &at.key("queue"))?;
    if capacity.background_slots > capacity.slots {
        let message = format!("{} are more than all {}", capacity.background_slots, capacity.slots);
        return Err(at.key("background_slots").error(message));
    }
    if !(400..=599).contains(&capacity.shed_status) {
        let message = format!("expected a status from 400 to 599, found {}", capacity.shed_status);
        return Err(at.key("shed_status").error(message).fix("503 or 529 are usual"));
    }
    let at = at.key("speed_by_load");
    match &capacity.speed_by_load {
        SpeedByLoad::Flat => Ok(()),
        SpeedByLoad::HalfAt(k) => between(u64::from(*k), 1, u64::MAX, &at.key("half_at")),
        SpeedByLoad::Table(table) => speeds(table, &at.key("table")),
    }
}

fn speeds(table: &[(u32, Share)], at: &Place<'_>) -> Result<(), InputError> {
    if table.first().is_none_or(|(in_work, _)| *in_work != 0) {
        return Err(at.error("does not start at 0").fix("start with `[0, 100%]`"));
    }
    for (i, (_, speed)) in table.iter().enumerate() {
        if *speed == Share::ZERO {
            return Err(at.index(i).error("a speed of zero never ends").fix("use at least 1%"));
        }
    }
    ascending(table, |(in_work, _)| *in_work, at)
}

pub(super) fn prompt_cache(cache: &PromptCache, at: &Place<'_>) -> Result<(), InputError> {
    if cache.time_to_live.is_zero() {
        let fix = "leave the cache out where nothing is remembered";
        return Err(at.key("time_to_live").error("is zero").fix(fix));
    }
    Ok(())
}

pub(super) fn failures(failures: &Failures, at: &Place<'_>) -> Result<(), InputError> {
    let mut sum: u128 = 0;
    for (i, kind) in failures.mix.iter().enumerate() {
        let at = at.key("mix").index(i);
        status(kind.status, kind.phase, &at.key("status"))?;
        hint(kind.retry_after, kind.hang, &at)?;
        sum += u128::from(kind.share.as_bits());
    }
    if sum > u128::from(Share::ONE.as_bits()) {
        return Err(at.key("mix").error("the shares add up to more than 100%"));
    }
    match &failures.stick {
        Some(stick) => self::stick(stick, &at.key("stick")),
        None => Ok(()),
    }
}

/// A status that failures can have in this phase.
pub(super) fn status(status: u16, phase: Phase, at: &Place<'_>) -> Result<(), InputError> {
    match (status, phase) {
        (0 | 400..=599, _) => Ok(()),
        (200, Phase::BeforeHeaders) => Err(at
            .error("200 is an error inside a response whose headers came")
            .fix("add `phase: before_output` or `phase: after_output`")),
        (200, _) => Ok(()),
        _ => Err(at
            .error(format!("expected a failure's status, found {status}"))
            .fix("0 is a broken connection, 200 an error inside a stream, else 400 to 599")),
    }
}

/// A wait hint that fits in a day, and none from what never answers.
pub(super) fn hint(
    retry_after: Option<Duration>,
    hang: bool,
    at: &Place<'_>,
) -> Result<(), InputError> {
    match retry_after {
        Some(_) if hang => {
            Err(at.key("retry_after").error("what is never answered carries no wait hint"))
        }
        Some(wait) if wait > LONGEST => Err(at.key("retry_after").error("is longer than 400d")),
        _ => Ok(()),
    }
}

pub(super) fn stick(stick: &Stick, at: &Place<'_>) -> Result<(), InputError> {
    if stick.window_length.is_zero() {
        return Err(at.key("window_length").error("is zero").fix("leave it out for 60s"));
    }
    match Sticking::new(stick.request, stick.window, stick.free) {
        Ok(_) => Ok(()),
        Err(sum) => Err(at
            .error(format!("request, window and free add up to {:.4}%, not 100%", sum.0 * 100.0))
            .fix("correct one of the three")),
    }
}

/// Refuses figures outside a range.
pub(super) fn between(value: u64, least: u64, most: u64, at: &Place<'_>) -> Result<(), InputError> {
    if value < least {
        Err(at.error(format!("{value} is below the least, {least}")))
    } else if value > most {
        Err(at.error(format!("{value} is above the most, {most}")))
    } else {
        Ok(())
    }
}

/// Refuses a list that does not ascend.
pub(super) fn ascending<T, K: PartialOrd>(
    items: &[T],
    key: impl Fn(&T) -> K,
    at: &Place<'_>,
) -> Result<(), InputError> {
    match items.windows(2).position(|pair| key(&pair[0]) >= key(&pair[1])) {
        Some(i) => {
            Err(at.index(i + 1).error("does not come after the one before").fix("sort the list"))
        }
        None => Ok(()),
    }
}
