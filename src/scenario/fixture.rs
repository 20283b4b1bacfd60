//! Small resolved scenarios for unit tests, without files.

use windtunnel_policy::target::{TargetId, Topology};
use windtunnel_policy::{Duration, Price, Share};

use super::{
    Abort, Billing, Capacity, ClassModel, FailureModel, LatencyModel, Quality, Recorded, Scenario,
    ScenarioFile, SpeedByLoad, Stick, TargetModel,
};
use crate::dist::{Dist, Shape};
use crate::draw::NameHash;

/// A scenario with these classes and weather (JSON, as in a file) and plain targets, each named
/// `provider/model`; every class has a deadline of 60 s.
pub(crate) fn scenario(
    horizon: &str,
    classes: serde_json::Value,
    weather: serde_json::Value,
    targets: &[&str],
) -> Scenario {
    let file: ScenarioFile = serde_json::from_value(serde_json::json!({
        "name": "fixture", "shows": "", "expect": "", "horizon": horizon,
        "classes": classes, "weather": weather, "targets": {},
    }))
    .expect("a valid scenario");
    let models = file.classes.keys().map(|name| ClassModel {
        name: name.clone(),
        deadline: Duration::from_secs(60),
        reference: TargetId(0),
        outer: [None, None],
        retries: None,
        tenant: None,
        expected: 0.0,
        tool: None,
        judged: None,
        shared_prefix: Share::ZERO,
        recorded: None,
    });
    Scenario {
        hash: String::new(),
        targets: targets.iter().map(|name| plain_target(name)).collect(),
        limits: Vec::new(),
        classes: models.collect(),
        tenants: Vec::new(),
        topology: Topology::default(),
        notes: Vec::new(),
        source: crate::input::SourceFile::default(),
        file,
        tables: crate::dist::Tables::default(),
    }
}

/// A class with this traffic.
pub(crate) fn class(traffic: serde_json::Value) -> serde_json::Value {
    serde_json::json!({"groups": {"primary": []}, "traffic": traffic})
}

/// A class with these arrivals and prompts of 100 tokens, answers of 10.
pub(crate) fn arriving(arrivals: serde_json::Value) -> serde_json::Value {
    class(serde_json::json!({
        "arrivals": arrivals,
        "tokens": {"input": {"constant": 100}, "output": {"constant": 10}},
    }))
}

/// The scenario with recorded traffic in place of its only class's file.
pub(crate) fn recorded(mut scenario: Scenario, recorded: Recorded) -> Scenario {
    scenario.classes[0].recorded = Some(recorded);
    scenario
}

fn plain_target(name: &str) -> TargetModel {
    let (provider, model) = name.split_once('/').expect("a name such as provider/model");
    let constant = |us: f64| Dist::new(&Shape::Constant(us)).expect("a constant");
    TargetModel {
        name: name.into(),
        hash: NameHash::of(name),
        provider: provider.into(),
        model: model.into(),
        region: String::new(),
        deployment: name.into(),
        account: "main".into(),
        price: Price::default(),
        bill_failed: Billing::Nothing,
        bill_cancelled: Billing::Consumed,
        latency: LatencyModel {
            headers: constant(100e3),
            chunk: None,
            first_token: constant(200e3),
            prompt_tokens: 0,
            per_prompt_token: Duration::ZERO,
            per_output_token: constant(10e3),
            failure: constant(50e3),
        },
        capacity: Capacity {
            source: String::new(),
            slots: 100,
            queue: 0,
            shed_status: 503,
            speed_by_load: SpeedByLoad::Flat,
            background_slots: 0,
            drops_late: false,
        },
        limits: Vec::new(),
        failures: FailureModel {
            mix: Vec::new(),
            broken_streams: Share::ZERO,
            stalled_streams: Share::ZERO,
            stick: Stick::default(),
        },
        quality: Quality::default(),
        abort: Abort::default(),
        upstream_proxy: None,
        prompt_cache: None,
        max_output_tokens: 4096,
    }
}
