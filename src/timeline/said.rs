//! What a world without a log says of itself.

use windtunnel_policy::text::escaped;

use super::targets::Target;
use super::world::Hypothesis;
use crate::fit::files::stamp;

/// What is assumed, one sentence each.
pub(super) fn of(world: &Hypothesis) -> Vec<String> {
    let (incident, course) = (&world.incident, &world.course);
    let mut said = vec![format!(
        "severity: at its worst {} of the calls to {} fail, from {} to {} UTC; a provider's figure is a mean over its customers: yours may have been from {} to {}",
        course.peak,
        incident.provider,
        stamp(course.start_us),
        stamp(course.end_us),
        course.range.0,
        course.range.1
    )];
    said.extend(course.said.iter().cloned());
    said.push(match incident.probe_results.is_empty() {
        true => "what calls failed with is not told: half of them 500, then 503, broken connections and silence are assumed".into(),
        false => "what calls failed with is taken from what probes saw".into(),
    });
    said.push(
        "how far failures stick to their request is not told: the simulator's default is assumed"
            .into(),
    );
    said.push(match world.recorded {
        true => {
            format!("traffic: the rows of {} whose times fall into the incident", world.traffic)
        }
        false => format!(
            "traffic: {} is not of the time of the incident; it is repeated from its first row on",
            world.traffic
        ),
    });
    if let Some(most) = world.max_output {
        said.push(format!(
            "traffic: what callers allow to be answered is not recorded: {most} tokens are assumed, above the longest answer"
        ));
    }
    said.push("no deadline is told: 600s is assumed, as long as official clients wait".into());
    let name = |target: &Target| target.card().name.clone();
    let roles: Vec<String> = world.targets.iter().map(name).collect();
    said.push(format!("targets: {}, tried in this order", roles.join(", ")));
    said.extend(world.targets.iter().map(|target| target.named.said()));
    said.push("no room is lost at the fallbacks, though others fail over to them too".into());
    said
}

/// The world for people.
pub(super) fn text(world: &Hypothesis) -> String {
    let incident = &world.incident;
    let cause = if incident.cause.is_empty() { "no cause is told" } else { &incident.cause };
    let mut out = format!(
        "{} in {}: {}: {}\n",
        escaped(&incident.id),
        escaped(&world.file),
        escaped(&incident.provider),
        escaped(cause)
    );
    out += &format!("source: {}\n", escaped(&incident.source));
    out +=
        "\nNo log stands behind this world: nothing says how far it can be believed.\n\nAssumed\n";
    for said in of(world) {
        out += &format!("  - {}\n", escaped(&said));
    }
    out
}
