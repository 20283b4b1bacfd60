//! The command that makes the same document again, as a shell takes it.

use clap::ValueEnum;

use super::args::{Common, CompareArgs, DrillArgs, MergeArgs, RunArgs, SweepArgs, WhatIfArgs};

/// A command with its words quoted as needed. What changes no figure (threads, other outputs) is
/// left out, so that it does not change the document either.
pub(super) struct Again(Vec<String>);

impl Again {
    /// That of a run.
    pub(super) fn run(args: &RunArgs) -> Again {
        let mut again = Again::command("run", &args.scenario);
        again.option("--policy", &args.policy);
        again.common(args.worlds, &args.common);
        again
    }

    /// That of a comparison.
    pub(super) fn compare(args: &CompareArgs) -> Again {
        let mut again = Again::command("compare", &args.scenario);
        args.policies.iter().for_each(|policy| again.option("--policy", policy));
        args.split.iter().for_each(|split| again.option("--split", &split.to_string()));
        again.common(args.worlds, &args.common);
        again
    }

    /// That of drills.
    pub(super) fn drill(args: &DrillArgs) -> Again {
        let mut again = Again(vec!["windtunnel".into(), "drill".into()]);
        again.0.extend(args.policies.iter().map(|policy| quoted(policy)));
        args.drills.iter().for_each(|drill| again.option("--drill", drill));
        again.option("--seed", &args.seed.to_string());
        again.option("--report", "report.html");
        again
    }

    /// That of a question to a log.
    pub(super) fn what_if(args: &WhatIfArgs) -> Again {
        let mut again = Again(vec!["windtunnel".into(), "what-if".into()]);
        again.0.extend(args.log.log.iter().map(|log| quoted(&log.display().to_string())));
        let columns = args.log.columns.iter();
        columns.for_each(|path| again.option("--columns", &path.display().to_string()));
        let counters = args.log.counters.iter();
        counters.for_each(|path| again.option("--counters", &path.display().to_string()));
        let timeline = &args.log.timeline;
        timeline.timeline.iter().for_each(|named| again.option("--timeline", named));
        timeline.traffic.iter().for_each(|named| again.option("--traffic", named));
        timeline.layout.iter().for_each(|layout| again.option("--layout", layout));
        timeline.targets.iter().for_each(|card| again.option("--target", card));
        timeline.severity.iter().for_each(|share| again.option("--severity", &share.to_string()));
        args.policies.iter().for_each(|policy| again.option("--policy", policy));
        args.world.iter().for_each(|world| again.option("--world", world));
        let switches = args.switches.iter();
        switches.for_each(|path| again.option("--switches", &path.display().to_string()));
        again.option("--seed", &args.seed.to_string());
        again.option("--worlds", &args.worlds.to_string());
        again.option("--refits", &args.refits.to_string());
        args.tolerances.iter().for_each(|size| again.option("--tolerance", size));
        again.option("--report", "report.html");
        again
    }

    /// That of a sweep.
    pub(super) fn sweep(args: &SweepArgs) -> Again {
        let mut again = Again(vec!["windtunnel".into(), "sweep".into()]);
        again.0.extend(args.scenarios.iter().map(|scenario| quoted(scenario)));
        args.space.iter().for_each(|space| again.option("--space", space));
        args.vary.iter().for_each(|vary| again.option("--vary", vary));
        args.policy.iter().for_each(|policy| again.option("--policy", policy));
        let sample = args.sample.to_possible_value().expect("no way to draw is hidden");
        again.option("--sample", sample.get_name());
        again.option("--variants", &args.variants.to_string());
        again.option("--sample-seed", &args.sample_seed.to_string());
        args.objectives.iter().for_each(|objective| again.option("--objective", objective));
        // With a space it would take a scenario for its value.
        again.0.extend(args.robust.iter().map(|share| format!("--robust={}", quoted(share))));
        again.option("--worlds", &args.worlds.to_string());
        again.option("--seed", &args.seed.to_string());
        if args.resample {
            again.0.push("--resample".into());
        }
        again.option("--report", "report.html");
        again
    }

    /// That of putting shards together.
    pub(super) fn merge(args: &MergeArgs) -> Again {
        let mut again = Again(vec!["windtunnel".into(), "merge".into()]);
        again.0.extend(args.files.iter().map(|file| quoted(&file.display().to_string())));
        again.option("--report", "report.html");
        again
    }

    fn command(name: &str, scenario: &str) -> Again {
        Again(vec!["windtunnel".into(), name.into(), quoted(scenario)])
    }

    fn common(&mut self, worlds: u32, common: &Common) {
        self.option("--worlds", &worlds.to_string());
        self.option("--seed", &common.seed.to_string());
        if common.resample {
            self.0.push("--resample".into());
        }
        common.gates.iter().for_each(|gate| self.option("--gate", gate));
        self.option("--report", "report.html");
    }

    fn option(&mut self, name: &str, value: &str) {
        self.0.extend([name.into(), quoted(value)]);
    }

    /// On one line.
    pub(super) fn text(&self) -> String {
        self.0.join(" ")
    }
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._-/:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("policies/a-b.yaml"), "policies/a-b.yaml");
        assert_eq!(quoted("success >= base"), "'success >= base'");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }
}
