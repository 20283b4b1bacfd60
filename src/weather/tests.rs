use serde_json::{Value, json};

use super::*;
use crate::scenario::fixture::scenario;

fn weather(entries: Value, hours: u64, seed: u64, resample: bool) -> Weather {
    let horizon = format!("{hours}h");
    let scenario = scenario(&horizon, json!({}), entries, &["a/big", "a/small", "b/big"]);
    let until = Instant::ZERO + Duration::from_secs(3600 * hours);
    Weather::build(&scenario, seed, resample, until).expect("weather")
}

fn outage(when: Value, share: Value, hits: Value) -> Value {
    json!({
        "name": "outage", "hits": hits, "when": when,
        "effects": {"failures": {
            "share": share,
            "mix": [{"class": "server_error", "status": 500, "weight": 3},
                    {"class": "overloaded", "status": 503, "weight": 1}],
        }},
    })
}

fn minute(minutes: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(60 * minutes)
}

#[test]
fn a_window_begins_and_ends_at_every_target_of_its_domain() {
    let when = json!({"window": {"from": "10m", "lasts": "20m"}});
    let weather =
        weather(json!([outage(when, json!("25%"), json!({"provider": "a"}))]), 1, 1, false);
    let edges: Vec<_> = weather.edges.iter().map(|e| (e.at, e.target, e.conditions)).collect();
    assert_eq!(
        edges,
        [(minute(10), 0, 1), (minute(10), 1, 1), (minute(30), 0, 0), (minute(30), 1, 0)]
    );
    let failure = &weather.conditions[1].failures[0];
    assert_eq!(failure.share, Share::ratio(1, 4));
    let up_to: Vec<Share> = failure.mix.iter().map(|mix| mix.up_to).collect();
    assert_eq!(up_to, [Share::ratio(3, 4), Share::ONE]);
    assert_eq!(weather.incidents[0].targets, [0, 1]);
    assert_eq!((weather.incidents[0].from, weather.incidents[0].to), (minute(10), minute(30)));
    assert_eq!(weather.availability(0, minute(0), minute(60)), 1.0 - 0.25 / 3.0);
    assert_eq!(weather.availability(2, minute(0), minute(60)), 1.0);
}
