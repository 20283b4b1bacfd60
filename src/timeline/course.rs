//! Which share of a provider's calls failed when, as far as its timeline says.

use std::collections::BTreeMap;

use windtunnel_policy::Share;

use super::file::{Found, PeakRate, moment};
use crate::fit::files::stamp;
use crate::input::{InputError, Place};

/// The course of an incident. Times are µs.
#[derive(Clone, PartialEq, Debug)]
pub struct Course {
    /// The first bad moment, since 1970.
    pub start_us: u64,
    /// The first good moment after it.
    pub end_us: u64,
    /// Share of calls that fail when most do.
    pub peak: Share,
    /// What that share may have been as well: at least, and at most.
    pub range: (Share, Share),
    /// Severities, as shares of the peak, from these times after the start on, joined by straight
    /// lines; none where the peak holds from start to end.
    pub points: Vec<(u64, Share)>,
    /// Where each figure is from, one sentence each.
    pub said: Vec<String>,
}

/// Nothing longer is simulated request by request.
const LONGEST_US: u64 = 7 * 86_400 * 1_000_000;
/// Where nobody published a share: half of all calls, and what it may have been as well.
const ASSUMED: f64 = 0.5;
const ASSUMED_RANGE: (f64, f64) = (0.1, 1.0);

impl Course {
    /// The course that a timeline tells; at its worst `severity` of the calls fail, where that is
    /// given.
    ///
    /// # Errors
    /// A time or a share is none, or they do not go together.
    pub fn of(found: &Found, severity: Option<Share>) -> Result<Course, InputError> {
        if severity == Some(Share::ZERO) {
            return Err(InputError::new("--severity", "is zero: nothing would fail")
                .fix("say which share of calls failed at the worst, such as 25%"));
        }
        let (incident, at) = (&found.incident, found.at());
        let start_us = moment(&incident.start, &at.key("start"))?;
        let end_us = moment(&incident.end, &at.key("end"))?;
        if end_us <= start_us {
            let message =
                format!("`{}` is not after the start, `{}`", incident.end, incident.start);
            return Err(at.key("end").error(message).fix("it is the first good moment"));
        }
        if end_us - start_us > LONGEST_US {
            let days = (end_us - start_us) / 86_400_000_000;
            let message = format!("is {days} days after the start; at most 7 are simulated");
            return Err(at.key("end").error(message).fix("cut the timeline to its worst days"));
        }
        let mut said = Vec::new();
        let mut known = stated(found, (start_us, end_us), &mut said)?;
        let published = published(&incident.peak_error_rate, &known, &at, &mut said)?;
        let window = window(found, (start_us, end_us))?;
        known.extend(window.iter().flat_map(|(from, to)| [(*from, published), (*to, published)]));
        let points = points(known, window.is_some(), published, (start_us, end_us), &mut said);
        let peak = severity.or(Share::new(published)).unwrap_or(Share::ONE);
        let range = match (severity, &incident.peak_error_rate) {
            (None, PeakRate::Unknown) if points.is_empty() => ASSUMED_RANGE,
            _ => (peak.as_f64() / 2.0, f64::min(peak.as_f64() * 2.0, 1.0)),
        };
        if let Some(severity) = severity {
            said.push(format!("at its worst, {severity} of calls fail: as you said"));
        }
        let share = |value: f64| Share::new(value).unwrap_or(Share::ONE);
        let range = (share(range.0), share(range.1));
        Ok(Course { start_us, end_us, peak, range, points, said })
    }
}

/// Shares that are stated of moments within the incident.
fn stated(
    found: &Found,
    (start, end): (u64, u64),
    said: &mut Vec<String>,
) -> Result<BTreeMap<u64, f64>, InputError> {
    let at = found.at().key("points");
    let mut known = BTreeMap::new();
    let mut before = 0;
    for (i, point) in found.incident.points.iter().enumerate() {
        let at = at.index(i);
        let time = moment(&point.at, &at.index(0))?;
        if time < before {
            let message = format!("`{}` is earlier than the point before", point.at);
            return Err(at.index(0).error(message).fix("sort the points by time"));
        }
        before = time;
        let within = (start..=end).contains(&time);
        match point.rate {
            Some(rate) if !within => {
                let message = format!("`{}` is not between start and end", point.at);
                return Err(at
                    .index(0)
                    .error(message)
                    .fix(format!("leave {rate} out, or move one")));
            }
            Some(rate) => drop(known.insert(time, fraction(rate, &at.index(2))?)),
            None if within && point.told.to_lowercase().contains("error") => {
                let Some(rate) = plain_percent(&point.told) else { continue };
                said.push(format!(
                    "{}: “{}” is read as {} of calls",
                    stamp(time),
                    point.told,
                    Share::new(rate).unwrap_or(Share::ONE)
                ));
                known.insert(time, rate);
            }
            None => {}
        }
    }
    Ok(known)
}

/// The share that failed when most did.
fn published(
    peak: &PeakRate,
    known: &BTreeMap<u64, f64>,
    at: &Place<'_>,
    said: &mut Vec<String>,
) -> Result<f64, InputError> {
    let at = at.key("peak_error_rate");
    let most = known.values().copied().fold(0.0, f64::max);
    let rate = match peak {
        PeakRate::One(rate) => fraction(*rate, &at)?,
        PeakRate::Products(products) => {
            for (product, rate) in products {
                fraction(*rate, &at.key(product))?;
            }
            let worst = products.iter().max_by(|a, b| a.1.total_cmp(b.1));
            let Some((product, rate)) = products.get_key_value("api").or(worst) else {
                return Err(at
                    .error("names no product")
                    .fix("write a fraction such as 0.25, or null"));
            };
            if products.len() > 1 {
                let all: Vec<String> = products.iter().map(|(p, r)| format!("{p} {r}")).collect();
                said.push(format!(
                    "at its worst: of {} that of `{product}` is taken (another: `--severity`)",
                    all.join(", ")
                ));
            }
            *rate
        }
        PeakRate::Unknown if most > 0.0 => most,
        PeakRate::Unknown => {
            said.push(format!(
                "nobody published which share of calls failed: {:.0} % is assumed (another: `--severity`)",
                ASSUMED * 100.0
            ));
            ASSUMED
        }
    };
    let rate = rate.max(most);
    if rate == 0.0 {
        return Err(at
            .error("no call failed")
            .fix("give the share of calls that failed, such as 0.25"));
    }
    Ok(rate)
}

fn fraction(rate: f64, at: &Place<'_>) -> Result<f64, InputError> {
    match (0.0..=1.0).contains(&rate) {
        true => Ok(rate),
        false => Err(at
            .error(format!("expected a fraction from 0 to 1, found {rate}"))
            .fix("0.25 is a quarter of all calls")),
    }
}

/// From when to when it was at its worst.
fn window(found: &Found, (start, end): (u64, u64)) -> Result<Option<(u64, u64)>, InputError> {
    let Some((from, to)) = &found.incident.peak_window else { return Ok(None) };
    let at = found.at().key("peak_window");
    let window = (moment(from, &at.index(0))?, moment(to, &at.index(1))?);
    if window.0 < start || window.1 > end || window.0 >= window.1 {
        let message = "is no stretch of time between start and end";
        return Err(at.error(message).fix("give its first and its last moment"));
    }
    Ok(Some(window))
}

/// Severities over time; none where nothing but the peak is known.
fn points(
    mut known: BTreeMap<u64, f64>,
    windowed: bool,
    peak: f64,
    (start, end): (u64, u64),
    said: &mut Vec<String>,
) -> Vec<(u64, Share)> {
    if !windowed && known.values().all(|&rate| rate >= peak) {
        said.push("how it came and went is not told: at its worst from start to end".into());
        return Vec::new();
    }
    known.entry(start).or_insert(0.0);
    known.entry(end).or_insert(0.0);
    said.push("between the moments that are told, shares go in straight lines".into());
    let relative =
        |rate: f64| Share::new(libm::round(rate / peak * 1e6) / 1e6).unwrap_or(Share::ONE);
    known.into_iter().map(|(at, rate)| (at - start, relative(rate))).collect()
}

/// The share of the only percentage in a text; none where it holds none or several.
fn plain_percent(text: &str) -> Option<f64> {
    let (before, after) = text.split_once('%')?;
    if after.contains('%') {
        return None;
    }
    let before = before.trim_end();
    let digits = before
        .rfind(|c: char| !(c.is_ascii_digit() || c == '.'))
        .map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
    let percent: f64 = before[digits..].parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(percent / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_percentage_that_stands_alone_is_read() {
        assert_eq!(plain_percent("errors ~5%"), Some(0.05));
        assert_eq!(plain_percent("12.5 % errors"), Some(0.125));
        for text in ["errors", "errors of 5% to 10%", "%", "errors at 300%", "5..%"] {
            assert_eq!(plain_percent(text), None, "{text}");
        }
    }
}
