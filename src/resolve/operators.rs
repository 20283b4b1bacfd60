//! Operators: they switch something that is there, at a possible time.

use super::weather::{hits, window};
use crate::input::{InputError, Place, check_name, did_you_mean};
use crate::scenario::{OperatorWhen, ScenarioFile, Switch, TargetModel, When};

pub(super) fn check(
    file: &ScenarioFile,
    targets: &[&TargetModel],
    at: &Place<'_>,
) -> Result<(), InputError> {
    for (i, spec) in file.operators.iter().enumerate() {
        let at = at.key("operators").index(i);
        check_name(&spec.name, &at.key("name"))?;
        if file.operators[..i].iter().any(|earlier| earlier.name == spec.name) {
            let message = format!("another operator is called `{}`", spec.name);
            return Err(at.key("name").error(message).fix("names key the luck: use another"));
        }
        if let Switch::Targets(domain) = &spec.switch {
            hits(domain, targets, &at.key("switch").key("targets"))?;
        }
        let at = at.key("when");
        match &spec.when {
            OperatorWhen::Window { from, lasts } => {
                window(from, lasts, file.horizon, &at.key("window"))?;
            }
            OperatorWhen::Incident { weather, .. } => {
                incident(file, weather, &at.key("incident").key("weather"))?;
            }
        }
    }
    Ok(())
}

fn incident(file: &ScenarioFile, weather: &str, at: &Place<'_>) -> Result<(), InputError> {
    let Some(entry) = file.weather.iter().find(|entry| entry.name == weather) else {
        let known = file.weather.iter().map(|entry| entry.name.as_str());
        let message = format!("no weather is called `{weather}`");
        return Err(at.error(message).fix(did_you_mean(weather, "weather", known)));
    };
    if entry.when == When::Always {
        let message = format!("`{weather}` has no onset: it is always");
        return Err(at.error(message).fix("use a `window` for the operator"));
    }
    Ok(())
}
