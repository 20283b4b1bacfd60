//! One hash over everything a run depends on beside policy, seed and version.

use std::collections::BTreeMap;
use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::card::Card;
use super::traffic::Load;
use crate::scenario::{OperatorSpec, ScenarioFile};

/// SHA-256 in hexadecimal over the scenario and its cards as values (comments and order of fields
/// do not count) and over profiles and traces.
pub(super) fn of(
    file: &ScenarioFile,
    switched: &[OperatorSpec],
    cards: &BTreeMap<String, Card>,
    loads: &[Load],
) -> String {
    let mut hash = Sha256::new();
    let mut add = |label: &str, text: &[u8]| {
        // Lengths keep one part from running into the next.
        hash.update(format!("{label} {}\n", text.len()));
        hash.update(text);
    };
    add("scenario", &json(file));
    if !switched.is_empty() {
        add("switches", &json(&switched));
    }
    for (name, card) in cards {
        add(name, &json(&card.card));
    }
    for load in loads {
        add("recorded", load.digest.as_deref().unwrap_or_default());
    }
    hex(&hash.finalize())
}

/// Bytes as lower-case hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string does not fail");
        text
    })
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("scenario and card types have text keys only")
}
