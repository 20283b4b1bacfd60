//! When incidents happen, and how bad they are.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use windtunnel_policy::{Duration, Instant};

use crate::dist::Tables;
use crate::draw::{NameHash, Purpose, stream, unit};
use crate::scenario::{DistSpec, Domain, Range, Scenario, WeatherSpec, When};

/// More bad spells than this in one world are refused.
const MAX_SPELLS: usize = 1_000_000;
/// How many mean gaps a renewal process has been running when the scenario starts.
const GAPS_BEFORE_START: f64 = 20.0;

/// A stretch of bad time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Spell {
    /// Real onset in µs from the scenario's start: negative where it was open at the start.
    pub(super) onset_us: i64,
    /// Onset within the scenario.
    pub(super) begins: Instant,
    /// End; [`Instant::FAR_FUTURE`] for never.
    pub(super) ends: Instant,
    /// Whether it continues the incident of the spell before.
    pub(super) continues: bool,
    /// How bad it is.
    pub(super) severity: Severity,
}

/// Where in its stated range each effect of a spell lies, in units of 2⁻⁶³ of the way from the
/// first to the second value. Drawn apart from each other and from the duration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Severity {
    pub(super) failures: u64,
    pub(super) speed: u64,
    pub(super) capacity: u64,
    pub(super) limits: u64,
}

impl Severity {
    fn draw(draws: &mut ChaCha8Rng) -> Severity {
        let mut next = || unit(draws.next_u64());
        Severity { failures: next(), speed: next(), capacity: next(), limits: next() }
    }
}

/// The targets of a failure domain, ascending.
pub(crate) fn hit_targets(scenario: &Scenario, domain: &Domain) -> Vec<u16> {
    let Domain { provider, model, region, deployment, account, target } = domain;
    let agrees = |given: &Option<String>, has: &String| given.as_ref().is_none_or(|g| g == has);
    let hit = scenario.targets.iter().enumerate().filter(|(_, t)| {
        agrees(provider, &t.provider)
            && agrees(model, &t.model)
            && agrees(region, &t.region)
            && agrees(deployment, &t.deployment)
            && agrees(account, &t.account)
            && agrees(target, &t.name)
    });
    hit.map(|(position, _)| position as u16).collect()
}

/// The spells of an entry that touch the time before `until`, in order.
pub(super) fn of_entry(
    spec: &WeatherSpec,
    tables: &Tables,
    seed: u64,
    resample: bool,
    until: Instant,
) -> Result<Vec<Spell>, String> {
    let owner = NameHash::of(&spec.name);
    let draws = |purpose| stream(seed, purpose, owner);
    let mut severities = draws(Purpose::WeatherSeverity);
    let once = |range: &Range<Duration>, purpose| match resample {
        true => within_range(range.from, range.to, unit(draws(purpose).next_u64())),
        false => range.from,
    };
    let severity = |severities: &mut ChaCha8Rng| match resample {
        true => Severity::draw(severities),
        false => Severity::default(),
    };
    let all: Vec<Spell> = match &spec.when {
        When::Always => {
            vec![spell(0, Duration::MAX, severity(&mut severities), false)]
        }
        When::Window { from, lasts } => {
            let onset = signed(once(from, Purpose::WeatherOnset));
            let lasts = once(lasts, Purpose::WeatherDuration);
            vec![spell(onset, lasts, severity(&mut severities), false)]
        }
        When::Flapping { from, lasts, bad, good } => {
            let onset = signed(once(from, Purpose::WeatherOnset));
            let lasts = once(lasts, Purpose::WeatherDuration);
            flaps(onset, lasts, *bad, *good, severity(&mut severities))?
        }
        When::Renewal { gap, lasts } => {
            let mut times = [draws(Purpose::WeatherGap), draws(Purpose::WeatherDuration)];
            renewal([gap, lasts], tables, &mut times, &mut severities, until)?
        }
    };
    Ok(all.into_iter().filter(|s| s.begins < until && s.begins < s.ends).collect())
}

/// Onset and end of each incident: spells that continue one belong to it.
pub(super) fn incidents(spells: &[Spell]) -> Vec<(Instant, Instant)> {
    let mut incidents: Vec<(Instant, Instant)> = Vec::new();
    for spell in spells {
        match incidents.last_mut() {
            Some((_, to)) if spell.continues => *to = spell.ends,
            _ => incidents.push((spell.begins, spell.ends)),
        }
    }
    incidents
}

fn spell(onset_us: i64, lasts: Duration, severity: Severity, continues: bool) -> Spell {
    let begins = Instant::from_micros(onset_us.max(0) as u64);
    let end_us = i128::from(onset_us) + i128::from(lasts.as_micros());
    let ends = Instant::from_micros(end_us.clamp(0, i128::from(u64::MAX)) as u64);
    Spell { onset_us, begins, ends, continues, severity }
}

/// Bad and good in turn; the last bad spell ends with the window.
fn flaps(
    onset_us: i64,
    lasts: Duration,
    bad: Duration,
    good: Duration,
    severity: Severity,
) -> Result<Vec<Spell>, String> {
    let period = (bad + good).as_micros();
    if bad.is_zero() || lasts.as_micros() / period > MAX_SPELLS as u64 {
        return Err(format!("more than {MAX_SPELLS} bad spells"));
    }
    let starts = (0..).map(|i: u64| i * period).take_while(|&start| start < lasts.as_micros());
    Ok(starts
        .map(|start| {
            let left = lasts.saturating_sub(Duration::from_micros(start));
            spell(onset_us.saturating_add(start as i64), bad.min(left), severity, start > 0)
        })
        .collect())
}

/// Incidents again and again. An onset during an incident is merged into it: the incident keeps
/// its severity and ends with the later of the two.
///
/// The process has been running for twenty mean gaps when the scenario starts, so that the start
/// is an ordinary moment and not the end of an incident.
fn renewal(
    [gap, lasts]: [&DistSpec<Duration>; 2],
    tables: &Tables,
    [gaps, durations]: &mut [ChaCha8Rng; 2],
    severities: &mut ChaCha8Rng,
    until: Instant,
) -> Result<Vec<Spell>, String> {
    let (gap, lasts) = (gap.dist_in(tables)?, lasts.dist_in(tables)?);
    let before_us = (gap.mean() * GAPS_BEFORE_START) as i64;
    let until_us = signed(until.since(Instant::ZERO));
    if (before_us + until_us) as f64 / gap.mean() > MAX_SPELLS as f64 {
        return Err(format!("more than {MAX_SPELLS} incidents: lengthen `gap`"));
    }
    let mut spells: Vec<Spell> = Vec::new();
    let mut onset_us = -before_us;
    let mut open_to_us = i64::MIN;
    loop {
        onset_us += gap.sample(gaps.next_u64()) as i64;
        if onset_us >= until_us {
            return Ok(spells);
        }
        let end_us = onset_us + lasts.sample(durations.next_u64()) as i64;
        let severity = Severity::draw(severities);
        if onset_us < open_to_us {
            open_to_us = open_to_us.max(end_us);
            if let Some(open) = spells.last_mut() {
                open.ends = Instant::from_micros(open_to_us.max(0) as u64);
            }
        } else {
            open_to_us = end_us;
            let lasts = Duration::from_micros((end_us - onset_us) as u64);
            spells.push(spell(onset_us, lasts, severity, false));
        }
    }
}

fn signed(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// The duration `at` (in 2⁻⁶³) of the way between two.
pub(crate) fn within_range(from: Duration, to: Duration, at: u64) -> Duration {
    let width = to.saturating_sub(from).as_micros();
    from + Duration::from_micros(((u128::from(width) * u128::from(at)) >> 63) as u64)
}
