//! Figures in the cells of a trace. Nothing here is a float: times are exact to the microsecond.

use windtunnel_policy::text::scaled;

use super::layout::TimeUnit;
use crate::scenario::Tokens;

/// A time in µs since the trace's origin.
pub(crate) fn time(text: &str, unit: TimeUnit) -> Result<u64, String> {
    let text = text.trim();
    match unit {
        TimeUnit::DateTime => date_time(text).ok_or_else(|| {
            let example = "2023-11-16 18:15:46.680";
            format!("expected a date and time such as {example}, found {}", quoted(text))
        }),
        TimeUnit::Micros(scale) => {
            let micros = scaled(text, scale).ok_or_else(|| {
                format!("expected a time, a number not negative, found {}", quoted(text))
            })?;
            u64::try_from(micros).map_err(|_| format!("the time {} is too large", quoted(text)))
        }
    }
}

/// A token count. `374.0` is one too: tables with gaps are often written so.
pub(crate) fn tokens(text: &str) -> Result<u32, String> {
    let text = text.trim();
    let whole = match text.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|b| b == b'0') => whole,
        _ => text,
    };
    let count = (!whole.is_empty() && whole.bytes().all(|b| b.is_ascii_digit()))
        .then(|| whole.parse().ok().filter(|count| *count <= Tokens::MAX))
        .flatten();
    count.ok_or_else(|| {
        format!("expected a token count from 0 to {}, found {}", Tokens::MAX, quoted(text))
    })
}

/// `2023-11-16 18:15:46.6805900`, with `T` for the space and `Z` or `+02:00` at the end if need
/// be, in µs since 1970. Digits beyond the microsecond are cut off.
fn date_time(text: &str) -> Option<u64> {
    let (date, time) = text.split_once(['T', ' '])?;
    let [year, month, day] = figures(date, '-', [4, 2, 2])?;
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    if day == 0 || day > days_of(year, month) {
        return None;
    }
    let (time, offset_minutes) = split_offset(time)?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = figures(clock, ':', [2, 2, 2])?;
    // A leap second is told as the 60th.
    if hour > 23 || minute > 59 || second > 60 || fraction.is_empty() {
        return None;
    }
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let micros = fraction.bytes().chain([b'0'; 6]).take(6);
    let micros = micros.fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    let seconds = ((days_before(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    let utc = i64::try_from(seconds).ok()? - offset_minutes * 60;
    u64::try_from(utc).ok().map(|seconds| seconds * 1_000_000 + micros)
}

/// The clock and its offset from UTC in minutes.
fn split_offset(time: &str) -> Option<(&str, i64)> {
    if let Some(clock) = time.strip_suffix('Z') {
        return Some((clock, 0));
    }
    let Some(at) = time.find(['+', '-']) else { return Some((time, 0)) };
    let (clock, offset) = time.split_at(at);
    let [hours, minutes] = figures(&offset[1..], ':', [2, 2])?;
    let minutes = i64::try_from(hours * 60 + minutes).ok().filter(|m| *m <= 14 * 60)?;
    Some((clock, if offset.starts_with('-') { -minutes } else { minutes }))
}

/// Numbers of stated width between separators.
fn figures<const N: usize>(text: &str, separator: char, widths: [usize; N]) -> Option<[u64; N]> {
    let mut out = [0; N];
    let mut parts = text.split(separator);
    for (figure, width) in out.iter_mut().zip(widths) {
        let part = parts.next()?;
        if part.len() != width || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        *figure = part.parse().ok()?;
    }
    parts.next().is_none().then_some(out)
}

fn days_of(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01.
fn days_before(year: u64, month: u64, day: u64) -> u64 {
    let leap_days = |year: u64| year / 4 - year / 100 + year / 400;
    let years = (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969);
    years + (1..month).map(|month| days_of(year, month)).sum::<u64>() + day - 1
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn quoted(text: &str) -> String {
    if text.is_empty() {
        return "nothing".into();
    }
    format!("`{}`", text.chars().take(40).collect::<String>())
}
