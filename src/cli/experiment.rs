//! `run` and `compare`.

use std::io::BufWriter;
use std::path::{Path, PathBuf};

use rayon::ThreadPool;
use windtunnel::experiment::{
    Experiment, ExperimentError, Extremes, Findings, NoRecorder, Options, Recorder, SplitFindings,
    run_divided as run_experiment, split as run_split,
};
use windtunnel::explain::{Explanation, Pick, explain};
use windtunnel::input::InputError;
use windtunnel::library::{self, load_policy};
use windtunnel::measures::Catalogue;
use windtunnel::record::Both;
use windtunnel::report::{Extras, Latencies, Ledger, Report, RowFormat, striking_requests};
use windtunnel::scenario::Scenario;
use windtunnel::simulation::Split;
use windtunnel::stats::Gate;
use windtunnel_policy::config::Policy;

use super::again::Again;
use super::args::{Common, CompareArgs, RunArgs};
use super::interrupt::{self, First, INTERRUPTED};
use super::output::{OutFile, cannot_write, folder_of};
use super::outputs::Outputs;
use super::progress::Progress;
use super::same_file::same;
use super::say::say;
use super::{Outcome, UNDECIDED};

/// One policy.
pub(super) fn run(args: &RunArgs) -> Outcome {
    let scenario = loaded(&args.scenario, args.common.switches.as_deref())?;
    let policies = vec![load_policy(&args.policy)?];
    let read = files_read(&scenario, [args.policy.as_str()]);
    let (worlds, common) = (args.worlds, &args.common);
    let again = Again::run(args).text();
    Task { scenario, policies, split: None, read, worlds, common, again }.perform()
}

/// Several policies.
pub(super) fn compare(args: &CompareArgs) -> Outcome {
    let scenario = loaded(&args.scenario, args.common.switches.as_deref())?;
    let policies =
        if args.policies.is_empty() { scenario.load_policies()? } else { named(&args.policies)? };
    if policies.is_empty() {
        return Err(InputError::new(&args.scenario, "names no policies to compare")
            .fix("add `--policy POLICY`, or `policies:` to the scenario"));
    }
    if let Some(split) = args.split.as_ref().filter(|split| split.arms() != policies.len()) {
        let message = format!("`{split}` has not one part for each of {} policies", policies.len());
        return Err(InputError::new("--split", message)
            .fix("name as many policies as parts: `-p stable -p canary --split 95:5`"));
    }
    let read = if args.policies.is_empty() {
        let folder = scenario.source.folder.iter();
        let named = folder.flat_map(|folder| scenario.file.policies.iter().map(|p| folder.join(p)));
        files_read(&scenario, named)
    } else {
        files_read(&scenario, &args.policies)
    };
    let (worlds, common, split) = (args.worlds, &args.common, args.split.as_ref());
    let again = Again::compare(args).text();
    Task { scenario, policies, split, read, worlds, common, again }.perform()
}

/// The scenario, with the kill switches that are thrown besides.
pub(super) fn loaded(name: &str, switches: Option<&Path>) -> Result<Scenario, InputError> {
    match switches {
        Some(switches) => Scenario::load_with_switches(name, switches),
        None => Scenario::load(name),
    }
}

/// The files on disk an experiment is made of; other names of policies are those of shipped ones.
fn files_read<P: Into<PathBuf>>(
    scenario: &Scenario,
    policies: impl IntoIterator<Item = P>,
) -> Vec<PathBuf> {
    let policies = policies.into_iter().map(P::into).filter(|path: &PathBuf| path.is_file());
    scenario.files().into_iter().chain(policies).collect()
}

/// Policies by file or name; two of one name are told apart by what the user wrote.
pub(super) fn named(written: &[String]) -> Result<Vec<Policy>, InputError> {
    let is_file = |name: &&String| Path::new(name.as_str()).is_file();
    let files: Vec<&String> = written.iter().filter(is_file).collect();
    for (i, name) in files.iter().enumerate() {
        if let Some(earlier) = files[..i].iter().find(|other| same(other.as_ref(), name.as_ref())) {
            let message = format!("is the file of {earlier}, which is given, too");
            return Err(InputError::new(*name, message).fix("leave one out"));
        }
    }
    let mut policies: Vec<Policy> =
        written.iter().map(|w| load_policy(w)).collect::<Result<_, _>>()?;
    let names: Vec<String> = policies.iter().map(|policy| policy.name.clone()).collect();
    for (policy, written) in policies.iter_mut().zip(written) {
        if names.iter().filter(|name| **name == policy.name).count() > 1 {
            policy.name = written.clone();
        }
    }
    let twice = policies.iter().enumerate().find_map(|(i, policy)| {
        policies[..i].iter().any(|earlier| earlier.name == policy.name).then_some(&policy.name)
    });
    match twice {
        Some(name) => Err(InputError::new(name, "is given twice").fix("leave one out")),
        None => Ok(policies),
    }
}

struct Task<'a> {
    scenario: Scenario,
    policies: Vec<Policy>,
    split: Option<&'a Split>,
    /// The files it was read from.
    read: Vec<PathBuf>,
    worlds: u32,
    common: &'a Common,
    /// The command that does it again.
    again: String,
}

impl Task<'_> {
    fn perform(&self) -> Outcome {
        let common = self.common;
        let catalogue = Catalogue::of(&self.scenario);
        let gates = parse_gates(&common.gates, &catalogue)?;
        if common.by_tenant && self.scenario.tenants.is_empty() {
            let name = &self.scenario.source.name;
            return Err(InputError::new("--by-tenant", format!("{name} names no tenants"))
                .fix("leave it out, or add `tenants:` to the scenario"));
        }
        interrupt::watch(First::CompletesWorlds);
        let read: Vec<PathBuf> = self.read.iter().chain(&common.switches).cloned().collect();
        let mut outputs = Outputs::open(common, &read)?;
        for note in self.scenario.notes.iter().filter(|_| !common.quiet) {
            say("note", note);
        }
        let options = Options {
            seed: common.seed,
            worlds: self.worlds,
            resample: common.resample,
            extremes: match (self.policies.len(), gates.is_empty()) {
                (_, false) => Extremes::All,
                (1, true) => Extremes::Off,
                (_, true) => Extremes::Counts,
            },
            threads: common.threads.map(usize::from),
        };
        let wanted = outputs.shows_latencies(common);
        let latencies = wanted.then(|| Latencies::new(&self.scenario, self.policies.len()));
        let ledger = outputs.ledger.take();
        let Some(experiment) = self.experiment(&options, ledger, latencies.as_ref())? else {
            say("interrupted", "before any world was complete: nothing is written");
            return Ok(if gates.is_empty() { INTERRUPTED } else { UNDECIDED });
        };
        let read = || Findings::of(&experiment, &catalogue, &gates);
        let mut findings = self.pool(&options)?.install(read).map_err(|no_base| {
            InputError::new("--gate", format!("`{}`: there is no base", no_base.gate))
                .fix("compare two policies, or give a limit of its own")
        })?;
        findings.split = self.side_by_side(&experiment, &options, &catalogue)?;
        let report = Report {
            scenario: &self.scenario,
            options: &options,
            experiment: &experiment,
            catalogue: &catalogue,
            findings: &findings,
        };
        let requests = latencies.as_ref().map(|seen| self.striking(&findings, seen));
        let requests = requests.unwrap_or_default();
        let extras =
            Extras { command: &self.again, latencies: latencies.as_ref(), requests: &requests };
        outputs.write(&report, extras, common)?;
        let cut_short = experiment.worlds.len() < self.worlds as usize;
        // Gates that failed or are undecided say more than that worlds are missing.
        Ok(match findings.exit_code() {
            0 if cut_short => INTERRUPTED,
            code => code,
        })
    }

    fn pool(&self, options: &Options) -> Result<ThreadPool, InputError> {
        let failed =
            |e: ExperimentError| InputError::new(&self.scenario.source.name, e.to_string());
        options.pool().map_err(failed)
    }

    /// Runs it, and writes the ledger, if one is wanted, on the way. `None` where an interrupt
    /// left no world complete.
    fn experiment(
        &self,
        options: &Options,
        ledger: Option<(OutFile, RowFormat)>,
        latencies: Option<&Latencies>,
    ) -> Result<Option<Experiment>, InputError> {
        let Some((file, format)) = ledger else {
            return match latencies {
                Some(latencies) => self.with_rows(options, latencies),
                None => self.with_rows(options, &NoRecorder),
            };
        };
        let path = file.path().to_owned();
        let failed = |error| cannot_write(&path, &error);
        let folder = folder_of(&path).to_owned();
        let names: Vec<&str> = self.policies.iter().map(|policy| policy.name.as_str()).collect();
        let out = BufWriter::new(file);
        let ledger = Ledger::new(out, format, folder, &self.scenario, &names).map_err(failed)?;
        let experiment = match latencies {
            Some(latencies) => self.with_rows(options, &Both(&ledger, latencies))?,
            None => self.with_rows(options, &ledger)?,
        };
        let Some(experiment) = experiment else { return Ok(None) };
        let out = ledger.close().map_err(failed)?;
        out.into_inner().map_err(|error| failed(error.into_error()))?.finish()?;
        Ok(Some(experiment))
    }

    /// Requests of the first world that show what the policies do; none where it cannot be made
    /// again by its seed alone.
    fn striking(&self, findings: &Findings, seen: &Latencies) -> Vec<(String, Explanation)> {
        if self.common.resample {
            return Vec::new();
        }
        let chosen = striking_requests(&self.policies, findings, seen);
        let told = chosen.into_iter().filter_map(|(why, request, policies)| {
            let (pick, seed) = (Pick::Request(request), self.common.seed);
            let told = explain(&self.scenario, &policies, pick, seed, 0);
            // Where who asks waits for answers, the same number is another request elsewhere.
            told.ok().map(|told| (why, told))
        });
        told.collect()
    }

    /// Runs the policies side by side in the worlds of the experiment, if that is wanted.
    fn side_by_side(
        &self,
        experiment: &Experiment,
        options: &Options,
        catalogue: &Catalogue,
    ) -> Result<Option<SplitFindings>, InputError> {
        let Some(split) = self.split else { return Ok(None) };
        let progress = Progress::new(self.common.quiet);
        let (scenario, policies) = (&self.scenario, &self.policies);
        let found = run_split(scenario, policies, split, experiment, options, &progress, catalogue);
        progress.clear();
        let failed =
            |error: ExperimentError| InputError::new(&scenario.source.name, error.to_string());
        found.map(Some).map_err(failed)
    }

    fn with_rows<R: Recorder>(
        &self,
        options: &Options,
        rows: &R,
    ) -> Result<Option<Experiment>, InputError> {
        let single = library::single()?;
        let progress = Progress::new(self.common.quiet);
        let (scenario, policies) = (&self.scenario, &self.policies);
        let (split, single) = (self.split, Some(&single));
        let experiment =
            run_experiment(scenario, policies, split, single, options, rows, &progress);
        progress.clear();
        match experiment {
            Ok(experiment) => Ok(Some(experiment)),
            Err(ExperimentError::Interrupted) => Ok(None),
            Err(error) => Err(InputError::new(&scenario.source.name, error.to_string())),
        }
    }
}

fn parse_gates(gates: &[String], catalogue: &Catalogue) -> Result<Vec<Gate>, InputError> {
    let known = catalogue.known();
    let parse = |text: &String| {
        Gate::parse(text, &known).map_err(|error| {
            InputError::new("--gate", error.problem.to_string()).at(
                1,
                error.column as u64 + 1,
                &error.expression,
            )
        })
    };
    gates.iter().map(parse).collect()
}
