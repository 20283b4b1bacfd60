//! Traces and profiles in a world.

use std::sync::Arc;

use super::*;
use crate::profile::{About, Profile, Row};
use crate::scenario::fixture::recorded;
use crate::scenario::{Recorded, TraceRow};

/// Ten minutes: in minute m, m + 1 requests in its first second; prompts number the rows.
fn rows() -> Vec<TraceRow> {
    let of_minute = |m: u64| (0..=m).map(move |i| 60_000_000 * m + 1_000 * i);
    let times = (0..10).flat_map(of_minute).enumerate();
    let row = |(n, at_us)| TraceRow {
        at: Instant::from_micros(at_us),
        input: n as u32,
        output: 2 * n as u32 + 1,
        max_output: None,
        session: n as u64 % 2,
    };
    times.map(row).collect()
}

fn profile() -> Profile {
    let rows: Vec<Row> = (rows().iter())
        .map(|row| Row {
            at_us: row.at.as_micros(),
            input: row.input,
            output: row.output,
            session: 0,
            label: String::new(),
        })
        .collect();
    let text = String::new;
    let about =
        About { name: text(), description: text(), source: text(), licence: text(), date: text() };
    Profile::from_trace(&rows, about).expect("sorted rows")
}

fn replay(horizon: &str, with: Value) -> Scenario {
    let mut used = json!({"file": "x.csv", "layout": "azure2023"});
    used.as_object_mut().expect("an object").extend(with.as_object().expect("an object").clone());
    let chat = class(json!({"arrivals": {"trace": used}}));
    let scenario = scenario(horizon, json!({"chat": chat}), json!([]), &["a/m"]);
    recorded(scenario, Recorded::Trace(Arc::new(rows())))
}

fn dealt(horizon: &str, with: Value) -> Scenario {
    let mut used = json!({"file": "x.yaml"});
    used.as_object_mut().expect("an object").extend(with.as_object().expect("an object").clone());
    let chat = class(json!({"arrivals": {"profile": used}}));
    let scenario = scenario(horizon, json!({"chat": chat}), json!([]), &["a/m"]);
    recorded(scenario, Recorded::Profile(Arc::new(profile())))
}

fn resampled(scenario: &Scenario, world: u32) -> World {
    let options = WorldOptions { world, resample: true, ..WorldOptions::default() };
    World::build(scenario, options).expect("a world")
}

#[test]
fn a_trace_is_replayed_row_by_row() {
    let world = world(&replay("540s", json!({})));
    let replayed: Vec<_> = world.requests.iter().map(|r| (r.at, r.input, r.output)).collect();
    let want: Vec<_> = rows().iter().map(|r| (r.at, r.input, r.output)).collect();
    assert_eq!(replayed[..55], want);
    let session = |n: usize| world.requests[n].session;
    assert!(session(1) == session(3) && session(1) != session(0) && session(0) != session(2));
}

#[test]
fn a_tiled_trace_goes_on_after_its_mean_gap() {
    let world = world(&replay("3h", json!({"tile": true})));
    let period_us = 540_009_000 + 540_009_000 / 54 + 1;
    for lap in 0..15 {
        let request = world.requests[55 * lap + 20];
        assert_eq!(request.input, 20);
        assert_eq!(request.at.as_micros(), rows()[20].at.as_micros() + period_us * lap as u64);
    }
    assert_ne!(world.requests[1].session, world.requests[56].session);
}

#[test]
fn a_scaled_trace_is_faster() {
    let world = world(&replay("260s", json!({"scale": 2})));
    let want: Vec<_> = rows().iter().map(|r| r.at.as_micros() / 2).collect();
    let got: Vec<_> = world.requests.iter().map(|r| r.at.as_micros()).collect();
    assert_eq!(got[..55], want);
}

#[test]
fn a_recording_shorter_than_the_horizon_is_refused() {
    for scenario in [replay("560s", json!({})), dealt("542s", json!({}))] {
        let error = World::build(&scenario, WorldOptions::default()).expect_err("too short");
        assert!(error.to_string().contains("`tile: true`"), "{error}");
    }
}

#[test]
fn a_profile_keeps_seconds_and_minutes_lap_after_lap() {
    let world = world(&dealt("2000s", json!({"tile": true})));
    // Minutes of 60 s but for the last, which has the one second it was seen for: a lap is 541 s.
    let counts = counts(&world, 1_623);
    for lap in 0..3_usize {
        for m in 0..10_usize {
            let begin = lap * 541 + m * 60;
            assert_eq!(counts[begin], (m + 1) as f64);
            let length = if m == 9 { 1 } else { 60 };
            assert_eq!(counts[begin..begin + length].iter().sum::<f64>(), (m + 1) as f64);
            let mut inputs: Vec<u32> = (world.requests.iter())
                .filter(|r| r.at >= seconds(begin as u64) && r.at < seconds(begin as u64 + 1))
                .map(|r| r.input)
                .collect();
            inputs.sort_unstable();
            let first = (m * (m + 1) / 2) as u32;
            assert_eq!(inputs, (first..=first + m as u32).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_scaled_profile_is_laid_over_itself() {
    let count = |scale: f64| {
        let scenario = dealt("1h", json!({"tile": true, "scale": scale}));
        world(&scenario).requests
    };
    let (once, thrice, half) = (count(1.0), count(3.0), count(0.5));
    let in_first_lap = |r: &&WorldRequest| r.at < seconds(541);
    assert_eq!(once.iter().filter(in_first_lap).count(), 55);
    assert_eq!(thrice.iter().filter(in_first_lap).count(), 165);
    let n = once.len() as f64;
    assert_near(half.len() as f64, n / 2.0, 5.0 * n.sqrt() / 2.0);
    // Layers do not disturb each other: the first is in the sum as it was alone.
    assert!(once.iter().all(|request| thrice.contains(request)));
}

#[test]
fn resampling_draws_stretches_and_keeps_the_rate() {
    for (scenario, period_s) in [
        (replay("10000s", json!({"tile": true})), 550.009),
        (dealt("10000s", json!({"tile": true})), 541.0),
    ] {
        let totals: Vec<f64> =
            (0..200).map(|world| resampled(&scenario, world).requests.len() as f64).collect();
        let m = mean(&totals);
        let error = (dispersion(&totals) * m / 200.0).sqrt();
        assert!(error > 0.5, "the worlds differ");
        assert_near(m, 55.0 * 10_060.0 / period_s, 5.0 * error);
        let twice = resampled(&scenario, 3);
        assert_eq!(twice.requests, resampled(&scenario, 3).requests);
        assert!(twice.requests.is_sorted_by_key(|r| r.at));
    }
}

#[test]
fn recorded_worlds_only_append_too() {
    for make in [replay, dealt] {
        for resample in [false, true] {
            let options = WorldOptions { resample, ..WorldOptions::default() };
            let of = |horizon| {
                let scenario = make(horizon, json!({"tile": true}));
                World::build(&scenario, options).expect("a world").requests
            };
            let (short, long) = (of("30m"), of("60m"));
            assert!(long.len() > short.len());
            assert_eq!(short, long[..short.len()]);
        }
    }
}

#[test]
fn profiled_sessions_have_turns_and_gaps() {
    let mut profile = profile();
    // Ten turns each, ten to twenty seconds apart, and requests enough at any time.
    profile.minutes = vec![crate::profile::Minute {
        counts: vec![5; 60],
        input: vec![10; 300],
        output: vec![10; 300],
    }];
    profile.sessions = Some(crate::profile::Sessions {
        turns: [&[0; 9][..], &[1]].concat(),
        gaps_ms: vec![10_000, 20_000],
    });
    let chat = class(json!({"arrivals": {"profile": {"file": "x.yaml", "tile": true}}}));
    let scenario = scenario("1h", json!({"chat": chat}), json!([]), &["a/m"]);
    let world = world(&recorded(scenario, Recorded::Profile(Arc::new(profile))));
    let mut sessions: std::collections::BTreeMap<u64, Vec<Instant>> = Default::default();
    for request in &world.requests {
        sessions.entry(request.session).or_default().push(request.at);
    }
    let begun_early: Vec<_> = sessions.values().filter(|times| times[0] < seconds(3_000)).collect();
    assert!(begun_early.len() > 1_000);
    for times in begun_early {
        assert_eq!(times.len(), 10);
        for pair in times.windows(2) {
            let gap_s = pair[1].since(pair[0]).as_micros() as f64 / 1e6;
            // A turn waits for the next request once it is due: there are five a second.
            assert!((10.0..25.0).contains(&gap_s), "{gap_s}");
        }
    }
}
