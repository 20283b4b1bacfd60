//! What refusals say of waiting, and whether it is true.

use windtunnel_policy::Duration;

use super::super::sends::Sent;
use super::replay::{Kind, replay};
use crate::log::Attempt;
use crate::scenario::RetryAfterForm;

/// Of the hints, so many must be what a form says.
const LEAST_ALIKE: f64 = 0.8;
const SECOND_US: u64 = 1_000_000;
/// What a clock may be off, and a limit that is known to a percent.
const SLACK_US: u64 = 50_000;

/// Hints of a target's refusals, as they were seen.
#[derive(Clone, PartialEq, Debug, Default)]
pub(in super::super) struct Hints {
    /// When the refused attempt was sent, and the hint, µs.
    seen: Vec<(u64, u64)>,
    /// Attempts after waiting as long as the hint said, and those of them refused again.
    waited: [u64; 2],
}

/// What is known of hints.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in super::super) struct HintFit {
    pub(in super::super) form: RetryAfterForm,
    /// Refusals with a hint, and those of them that are as the form says.
    pub(in super::super) seen: u64,
    pub(in super::super) alike: u64,
    pub(in super::super) waited: [u64; 2],
}

impl Hints {
    /// Takes an attempt, and the one of the same request that failed right before it here.
    pub(in super::super) fn take(&mut self, attempt: &Attempt, before: Option<&Attempt>) {
        if attempt.is_refused() {
            self.seen.extend(attempt.hint_us.map(|hint| (attempt.sent_us, hint)));
        }
        if let Some(before) = before.filter(|before| before.is_refused())
            && let Some(hint) = before.hint_us
            && attempt.sent_us >= before.ended_us.saturating_add(hint)
        {
            self.waited[0] += 1;
            self.waited[1] += u64::from(attempt.is_refused());
        }
    }

    pub(in super::super) fn sort(&mut self) {
        self.seen.sort_unstable();
    }

    /// The form of the hints, given the limit that refused.
    pub(super) fn fit(&self, kind: Kind, limit: u64, sends: impl Iterator<Item = Sent>) -> HintFit {
        let mut waits: Vec<(u64, u64)> = Vec::new();
        replay(kind, limit, sends, |send, wait| {
            let known = self.seen.binary_search_by_key(&send.at_us, |seen| seen.0);
            if let (true, Ok(place), Some(wait)) = (kind.refused(send), known, wait) {
                waits.push((self.seen[place].1, wait));
            }
        });
        let alike = |is: fn(u64, u64) -> bool| {
            waits.iter().filter(|&&(hint, wait)| is(hint, wait)).count() as u64
        };
        let seen = self.seen.len() as u64;
        let mut hints: Vec<u64> = self.seen.iter().map(|seen| seen.1).collect();
        hints.sort_unstable();
        let Some(&median) = hints.get(hints.len() / 2) else {
            let form = RetryAfterForm::None;
            return HintFit { form, seen: 0, alike: 0, waited: self.waited };
        };
        let fixed = hints.iter().filter(|&&hint| hint == median).count() as u64;
        let forms = [
            (RetryAfterForm::WholeSeconds, alike(whole_seconds)),
            (RetryAfterForm::Exact, alike(exact)),
            (RetryAfterForm::Fixed(Duration::from_micros(median)), fixed),
        ];
        // Of forms that tell as many, the first.
        let most = forms.iter().map(|(_, alike)| *alike).max().unwrap_or(0);
        let best = forms.into_iter().find(|(_, alike)| *alike == most).unwrap_or(forms[2]);
        let enough = best.1 as f64 >= LEAST_ALIKE * seen as f64;
        let (form, alike) = if enough { best } else { forms[2] };
        HintFit { form, seen, alike, waited: self.waited }
    }
}

impl HintFit {
    /// In words.
    pub(in super::super) fn words(&self) -> String {
        let HintFit { form, seen, alike, waited: [tried, again] } = self;
        if *seen == 0 {
            return "no wait hints are seen: none is simulated".into();
        }
        let form = match form {
            RetryAfterForm::WholeSeconds => "the time until there is room, in whole seconds".into(),
            RetryAfterForm::Exact => "the time until there is room".into(),
            RetryAfterForm::Fixed(wait) if *alike as f64 >= LEAST_ALIKE * *seen as f64 => {
                format!("always {wait}")
            }
            RetryAfterForm::Fixed(wait) => {
                format!("of no form that is known: their median, {wait}, is taken")
            }
            RetryAfterForm::None => unreachable!("hints were seen"),
        };
        format!(
            "wait hints are {form} ({alike} of {seen}); of {tried} attempts after waiting for it {again} were refused again"
        )
    }
}

/// The wait, rounded up to whole seconds.
fn whole_seconds(hint: u64, wait: u64) -> bool {
    let whole = hint.is_multiple_of(SECOND_US);
    whole && wait <= hint + SLACK_US && hint <= wait + SECOND_US + SLACK_US
}

/// The wait, to a tenth.
fn exact(hint: u64, wait: u64) -> bool {
    hint.abs_diff(wait) <= wait / 10 + SLACK_US
}
