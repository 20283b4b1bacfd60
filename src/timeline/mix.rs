//! What calls fail with during an incident.

use windtunnel_policy::normalise::ProviderError;
use windtunnel_policy::outcome::{FailureClass, Phase};

use super::file::Found;
use crate::input::InputError;
use crate::scenario::MixEntry;

/// What calls failed with: as probes saw it, or as is assumed of an outage that nobody described.
pub(super) fn mix(found: &Found) -> Result<Vec<MixEntry>, InputError> {
    let at = found.at().key("probe_results");
    let probed = &found.incident.probe_results;
    let mut mix = Vec::new();
    for (status, &weight) in probed {
        let number: Option<u16> = status.parse().ok();
        let Some(number) = number.filter(|n| *n == 0 || (400..=599).contains(n)) else {
            let error = at.key(status).error(format!("`{status}` is no status of a failure"));
            return Err(error.fix("write a status from 400 to 599, or 0 for a broken connection"));
        };
        mix.push(entry(number, weight, false));
    }
    mix.retain(|kind| kind.weight > 0);
    if mix.is_empty() {
        mix =
            vec![entry(500, 5, false), entry(503, 3, false), entry(0, 1, false), entry(0, 1, true)];
    }
    Ok(mix)
}

/// One kind of failure, by its status; one that hangs is given up by the caller.
pub(super) fn entry(status: u16, weight: u32, hang: bool) -> MixEntry {
    let class = match hang {
        true => FailureClass::Timeout,
        false => ProviderError::of_status(status).class(),
    };
    MixEntry {
        class,
        status,
        phase: Phase::BeforeHeaders,
        weight,
        retry_after: None,
        takes: None,
        hang,
    }
}
