//! `verify`: what is wasteful in a policy, and what is proven of it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use windtunnel::input::InputError;
use windtunnel::library::{Kind, find};
use windtunnel::lint::{self, PolicyFile};
use windtunnel::scenario::Scenario;
use windtunnel::verify::{self, Observer, Options, Verdict};

use super::args::{ProofFormat, VerifyArgs};
use super::interrupt::{self, First};
use super::output::print;
use super::say::say;
use super::{Outcome, UNDECIDED};

/// Whoever waits less needs no sign of life.
const PATIENCE: Duration = Duration::from_secs(2);
/// States between two looks at the clock.
const STRIDE: u64 = 1_000;

/// Proves the promises, or shows how one is broken.
pub(super) fn verify(args: &VerifyArgs) -> Outcome {
    let file = PolicyFile::read(find(Kind::Policy, &args.policy)?)?;
    let scenario = args.scenario.as_deref().map(Scenario::load).transpose()?;
    let targets =
        scenario.as_ref().map(|scenario| (scenario.file.name.as_str(), &scenario.topology));
    let options = Options { depth: args.depth, max_states: args.max_states };
    interrupt::watch(First::EndsAtOnce);
    let progress =
        Progress { begun: Instant::now(), visited: AtomicU64::new(0), sign: OnceLock::new() };
    let mut wasteful = lint::policy(&file);
    wasteful.extend(scenario.iter().flat_map(|scenario| lint::pair(&file, scenario)));
    for warning in wasteful {
        say("warning", warning);
    }
    let proof = verify::verify(&file.policy, targets, options, &progress).map_err(|problems| {
        let problem = problems.first().map(ToString::to_string).unwrap_or_default();
        InputError::new(&args.policy, format!("cannot be run on these targets: {problem}"))
    })?;
    if let Some(sign) = progress.sign.get() {
        sign.finish_and_clear();
    }
    print(&match args.format {
        ProofFormat::Text => proof.text(),
        ProofFormat::Json => proof.json(),
    })?;
    Ok(match proof.verdict() {
        Verdict::Holds => 0,
        Verdict::Broken => 1,
        Verdict::Undecided => UNDECIDED,
    })
}

struct Progress {
    begun: Instant,
    visited: AtomicU64,
    sign: OnceLock<ProgressBar>,
}

impl Observer for Progress {
    fn visited(&self) {
        let visited = self.visited.fetch_add(1, Ordering::Relaxed) + 1;
        if !visited.is_multiple_of(STRIDE) || self.begun.elapsed() < PATIENCE {
            return;
        }
        // Draws nothing where standard error is no terminal.
        let sign = self.sign.get_or_init(|| {
            let style = ProgressStyle::with_template("{spinner} {human_pos} states")
                .expect("the template is a constant");
            ProgressBar::no_length().with_style(style)
        });
        sign.set_position(visited);
    }
}
