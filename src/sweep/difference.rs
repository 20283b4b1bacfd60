//! How two sweeps differ, in words.

use serde_json::Value;

use super::header::Header;

/// Texts longer than this are shown in part.
const LONG: usize = 40;
/// How much of those is shown.
const PART: usize = 12;

/// The first thing in which two headers differ, shards apart, in words; `None` where there is none.
pub fn difference(a: &Header, b: &Header) -> Option<String> {
    let plain = |header: &Header| {
        let mut plain = serde_json::to_value(header).expect("a header is plain data");
        plain.as_object_mut().expect("a header has fields").remove("shard");
        plain
    };
    first("", &plain(a), &plain(b))
}

/// The first difference between what stands at `path` here and there.
fn first(path: &str, a: &Value, b: &Value) -> Option<String> {
    match (a, b) {
        _ if a == b => None,
        (Value::Object(here), Value::Object(there)) => {
            let below = |key: &str| match path {
                "" => key.to_owned(),
                _ => format!("{path}.{key}"),
            };
            let only_there = there.keys().filter(|key| !here.contains_key(*key));
            here.keys().chain(only_there).find_map(|key| {
                let of = |side: &serde_json::Map<String, Value>| side.get(key).cloned();
                first(&below(key), &of(here).unwrap_or_default(), &of(there).unwrap_or_default())
            })
        }
        (Value::Array(here), Value::Array(there)) => {
            let pairs = here.iter().zip(there).enumerate();
            let inside = || {
                pairs
                    .clone()
                    .find_map(|(i, (one, other))| first(&format!("{path}[{i}]"), one, other))
            };
            inside().or_else(|| {
                let (here, there) = (here.len(), there.len());
                Some(format!("`{path}` has {here} entries here and {there} there"))
            })
        }
        _ => {
            let (here, there) = (a.to_string(), b.to_string());
            let (here, there) = (part(&here, &there), part(&there, &here));
            Some(format!("`{path}` is {here} here and {there} there"))
        }
    }
}

/// A text, or of a long one the part in which it differs from the other.
fn part(text: &str, other: &str) -> String {
    if text.chars().count() <= LONG {
        return text.to_owned();
    }
    let alike = text.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    // The first few, which people compare hashes by, where they differ there already.
    let from = if alike < PART { 0 } else { alike - PART / 2 };
    let shown: String = text.chars().skip(from).take(PART).collect();
    let before = if from > 0 { "…" } else { "" };
    let after = if text.chars().nth(from + PART).is_some() { "…" } else { "" };
    format!("{before}{shown}{after}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::header::Shard;
    use super::*;

    fn header() -> Header {
        let hash = "0123456789abcdef".repeat(4);
        let named = json!({ "name": "x", "hash": hash });
        let scenario =
            |name: &str, weight: f64| json!({ "name": name, "hash": hash, "weight": weight });
        let plain = json!({
            "windtunnel": "0.1.0",
            "scenarios": [scenario("one", 1.0), scenario("two", 2.0)],
            "base": named,
            "space": named,
            "sample": "sobol",
            "sample_seed": 1,
            "tally": { "drawn": 8, "excluded": 0, "repeated": 0 },
            "seed": 1,
            "worlds": 2,
            "resample": true,
            "objectives": [{ "measure": "success", "goal": "most" }],
            "score": "mean",
            "variants": 8,
            "fields": [{ "name": "hedge", "holds": "text", "choice": null }],
            "figures": [],
            "shard": { "number": 1, "of": 1 },
        });
        serde_json::from_value(plain).unwrap()
    }

    fn told(change: impl Fn(&mut Header)) -> Option<String> {
        let mut changed = header();
        change(&mut changed);
        difference(&changed, &header())
    }

    #[test]
    fn the_first_difference_is_named_by_its_path() {
        let is = |text: &str| Some(text.to_owned());
        assert_eq!(told(|_| {}), None);
        assert_eq!(told(|h| h.shard = Shard { number: 2, of: 3 }), None);
        assert_eq!(told(|h| h.seed = 2), is("`seed` is 2 here and 1 there"));
        assert_eq!(
            told(|h| h.scenarios[1].weight = 3.0),
            is("`scenarios[1].weight` is 3.0 here and 2.0 there")
        );
        assert_eq!(told(|h| h.tally.excluded = 5), is("`tally.excluded` is 5 here and 0 there"));
        assert_eq!(
            told(|h| h.scenarios.truncate(1)),
            is("`scenarios` has 1 entries here and 2 there")
        );
        assert_eq!(
            told(|h| h.fields[0].choice = Some("hedge".into())),
            is("`fields[0].choice` is \"hedge\" here and null there")
        );
    }

    #[test]
    fn long_texts_are_cut_to_where_they_differ() {
        let is = |text: &str| Some(text.to_owned());
        assert_eq!(
            told(|h| h.base.hash = "012f".repeat(16)),
            is("`base.hash` is \"012f012f012… here and \"0123456789a… there")
        );
        assert_eq!(
            told(|h| h.base.hash.replace_range(63.., "0")),
            is("`base.hash` is …9abcde0\" here and …9abcdef\" there")
        );
    }
}
