//! The ledger: one row per attempt, with what became of its request.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use windtunnel_policy::Duration;
use windtunnel_policy::config::RecoveryAction;
use windtunnel_policy::event::Decision;
use windtunnel_policy::outcome::{Execution, FailureClass, Phase};

use super::lines::{Lines, RowFormat};
use super::spool::{Spool, Turns};
use crate::experiment::{Recorder, RunId};
use crate::record::{AttemptRow, RequestRow, Resent, Sink};
use crate::scenario::{Layer, Scenario};

/// The columns; `docs/output.md` describes them.
pub const LEDGER_COLUMNS: [&str; 50] = [
    "policy",
    "world",
    "request",
    "correlation",
    "class",
    "layer",
    "measured",
    "attempt",
    "group",
    "target",
    "provider",
    "model",
    "region",
    "contract_version",
    "recovery",
    "recovers_from",
    "status",
    "failure",
    "phase",
    "output_begun",
    "breaker",
    "waited_s",
    "retry_after_s",
    "arrived_s",
    "sent_s",
    "headers_s",
    "first_output_s",
    "ended_s",
    "sent",
    "cancelled",
    "remaining_s",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "cost_usd",
    "billable",
    "decision",
    "decision_reason",
    "decision_wait_s",
    "request_outcome",
    "request_status",
    "request_stop",
    "request_retryable",
    "request_attempts",
    "request_answered",
    "request_transport_success",
    "request_contract_success",
    "request_task_success",
    "request_closed_s",
    "request_cost_usd",
];

/// Columns after those, where others than the gateway repeat.
pub const LEDGER_LAYER_COLUMNS: [&str; 2] = ["layer_path", "provider_calls"];

/// Columns after those, where the scenario tells tenants apart.
pub const LEDGER_TENANT_COLUMNS: [&str; 1] = ["tenant"];

/// A column after those, where an application is told of other models' answers.
pub const LEDGER_DISCLOSURE_COLUMNS: [&str; 1] = ["request_disclosed"];

/// A column after those, where a class has a tool that writes.
pub const LEDGER_TOOL_COLUMNS: [&str; 2] = ["request_record", "request_advice"];

/// A column after those, where streams of some target begin with a chunk without content.
pub const LEDGER_CHUNK_COLUMNS: [&str; 1] = ["first_chunk_s"];

/// Columns after those, where a class has a limit on the first output: by when its answers must begin and end.
pub const LEDGER_DEADLINE_COLUMNS: [&str; 2] = ["first_output_within_s", "ends_within_s"];

/// Writes the ledger of an experiment, run after run, in the order of worlds and policies.
pub struct Ledger<W> {
    format: RowFormat,
    policies: Vec<String>,
    places: Vec<Place>,
    classes: Vec<String>,
    tenants: Vec<String>,
    discloses: bool,
    tooled: bool,
    chunked: bool,
    /// By class, where some class has a limit on the first output.
    limits: Option<Vec<[Duration; 2]>>,
    columns: Vec<&'static str>,
    layered: bool,
    turns: Turns<W>,
}

/// What the ledger says of a target.
#[derive(Clone, Debug)]
struct Place {
    name: String,
    provider: String,
    model: String,
    region: String,
    contract: Option<String>,
}

impl<W: Write + Send> Ledger<W> {
    /// A ledger to `out`. Rows of runs whose turn has not come wait in memory, and beyond some
    /// megabytes in a nameless file in `folder`.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn new(
        mut out: W,
        format: RowFormat,
        folder: PathBuf,
        scenario: &Scenario,
        policies: &[&str],
    ) -> std::io::Result<Ledger<W>> {
        let mut columns = LEDGER_COLUMNS.to_vec();
        let layered = scenario.has_layers();
        if layered {
            columns.extend(LEDGER_LAYER_COLUMNS);
        }
        if !scenario.tenants.is_empty() {
            columns.extend(LEDGER_TENANT_COLUMNS);
        }
        if scenario.discloses() {
            columns.extend(LEDGER_DISCLOSURE_COLUMNS);
        }
        let tooled = scenario.classes.iter().any(|class| class.tool.is_some());
        if tooled {
            columns.extend(LEDGER_TOOL_COLUMNS);
        }
        let chunked = scenario.has_chunks();
        if chunked {
            columns.extend(LEDGER_CHUNK_COLUMNS);
        }
        let limits = limits(scenario);
        if limits.is_some() {
            columns.extend(LEDGER_DEADLINE_COLUMNS);
        }
        out.write_all(format.header(&columns).as_bytes())?;
        let facts = scenario.topology.targets.iter().map(|target| &target.contract);
        let places = scenario.targets.iter().zip(facts).map(|(target, contract)| Place {
            contract: (!contract.name.is_empty())
                .then(|| format!("{}@{}", contract.name, contract.version)),
            name: target.name.clone(),
            provider: target.provider.clone(),
            model: target.model.clone(),
            region: target.region.clone(),
        });
        Ok(Ledger {
            format,
            policies: policies.iter().map(|&name| name.into()).collect(),
            places: places.collect(),
            classes: scenario.classes.iter().map(|class| class.name.clone()).collect(),
            tenants: scenario.tenants.iter().map(|tenant| tenant.name.clone()).collect(),
            discloses: scenario.discloses(),
            tooled,
            chunked,
            limits,
            columns,
            layered,
            turns: Turns::new(out, folder),
        })
    }

    /// Writes what still waits, and gives back where it was written.
    ///
    /// # Errors
    /// Anything could not be written, now or before.
    pub fn close(self) -> std::io::Result<W> {
        self.turns.close()
    }
}

impl<W: Write + Send> Recorder for Ledger<W> {
    type Sink = LedgerSink;

    fn start(&self, run: RunId) -> LedgerSink {
        LedgerSink {
            policy: self.policies[run.policy].clone(),
            world: run.world,
            places: self.places.clone(),
            classes: self.classes.clone(),
            tenants: self.tenants.clone(),
            discloses: self.discloses,
            tooled: self.tooled,
            chunked: self.chunked,
            limits: self.limits.clone(),
            layered: self.layered,
            open: BTreeMap::new(),
            resent: BTreeMap::new(),
            idle: Vec::new(),
            lines: Lines::new(self.format, &self.columns),
            spool: self.turns.spool(),
        }
    }

    fn finish(&self, run: RunId, mut sink: LedgerSink) {
        sink.spill();
        self.turns.add(run.ordinal, sink.spool);
    }
}

/// Takes the rows of one run.
pub struct LedgerSink {
    policy: String,
    world: u32,
    places: Vec<Place>,
    classes: Vec<String>,
    tenants: Vec<String>,
    discloses: bool,
    tooled: bool,
    chunked: bool,
    limits: Option<Vec<[Duration; 2]>>,
    layered: bool,
    /// Attempts of requests not closed yet, by request.
    open: BTreeMap<u64, Vec<AttemptRow>>,
    /// Requests not closed yet that an outer layer sent.
    resent: BTreeMap<u64, Resent>,
    /// Emptied lists, for reuse.
    idle: Vec<Vec<AttemptRow>>,
    lines: Lines,
    spool: Spool,
}

/// Rows are handed on in pieces of this size.
const PIECE: usize = 1 << 16;

impl Sink for LedgerSink {
    fn attempt(&mut self, row: &AttemptRow) {
        let idle = &mut self.idle;
        self.open.entry(row.request).or_insert_with(|| idle.pop().unwrap_or_default()).push(*row);
    }

    fn resent(&mut self, request: u64, of: Resent) {
        self.resent.insert(request, of);
    }

    fn request(&mut self, row: &RequestRow) {
        let sender = self.resent.remove(&row.request);
        match self.open.remove(&row.request) {
            Some(mut attempts) => {
                for (i, attempt) in attempts.iter().enumerate() {
                    // A hedge recovers from nothing, nor does the attempt beside it.
                    let recovers = !matches!(attempt.recovery, None | Some(RecoveryAction::Hedge));
                    let before = i.checked_sub(1).filter(|_| recovers);
                    let before = before.and_then(|i| attempts[i].failure);
                    self.write(Some((attempt, before)), row, sender);
                }
                attempts.clear();
                self.idle.push(attempts);
            }
            // Never sent: a row all the same, lest the ledger hide that it failed.
            None => self.write(None, row, sender),
        }
        if self.lines.bytes().len() >= PIECE {
            self.spill();
        }
    }
}

impl LedgerSink {
    fn spill(&mut self) {
        self.spool.write(self.lines.bytes());
        self.lines.clear();
    }

    fn write(
        &mut self,
        attempt: Option<(&AttemptRow, Option<FailureClass>)>,
        request: &RequestRow,
        sender: Option<Resent>,
    ) {
        let repeated = sender.filter(|_| attempt.is_none_or(|(row, _)| row.number == 1));
        let layer = repeated.map_or(Layer::Gateway, |sender| sender.layer);
        let lines = &mut self.lines;
        lines.text(&self.policy);
        lines.integer(u64::from(self.world));
        lines.integer(request.request);
        lines.integer(sender.map_or(request.request, |sender| sender.action));
        lines.text(&self.classes[usize::from(request.class)]);
        lines.text(layer.name());
        lines.truth(request.measured);
        match attempt {
            Some((row, before)) => {
                write_attempt(lines, row, before, &self.places[usize::from(row.target.0)]);
            }
            None => {
                lines.integer(0);
                for field in ATTEMPT_FIELDS {
                    match LEDGER_COLUMNS[field] {
                        "arrived_s" => lines.seconds(request.arrived.as_micros()),
                        _ => lines.nothing(),
                    }
                }
            }
        }
        write_request(lines, request);
        if self.layered {
            let [application, sdk] = sender.map_or([1, 1], |sender| sender.tries);
            lines.text(&format!("{application}.{sdk}"));
            match attempt {
                Some((row, _)) => lines.integer(row.provider_calls()),
                None => lines.integer(0),
            }
        }
        if let Some(tenant) = self.tenants.get(usize::from(request.tenant)) {
            lines.text(tenant);
        }
        if self.discloses {
            lines.truth(request.result.disclosed);
        }
        if self.tooled {
            lines.optional_text(request.record.map(Execution::name));
            lines.text(request.result.advice.name());
        }
        if self.chunked {
            let first = attempt.and_then(|(row, _)| row.first_chunk);
            lines.optional_seconds(first.map(|at| at.as_micros()));
        }
        if let Some(limits) = &self.limits {
            for limit in limits[usize::from(request.class)] {
                let limit = Some(limit).filter(|limit| *limit != Duration::MAX);
                lines.optional_seconds(limit.map(|limit| limit.as_micros()));
            }
        }
        lines.end();
    }
}

/// The limits of each class on the first output and on the end, where any has one on the first output.
fn limits(scenario: &Scenario) -> Option<Vec<[Duration; 2]>> {
    let classes = scenario.topology.classes.iter();
    let limits: Vec<[Duration; 2]> =
        classes.map(|class| [class.deadline_first_output, class.deadline_total]).collect();
    limits.iter().any(|[first, _]| *first != Duration::MAX).then_some(limits)
}

/// Positions of the columns of an attempt; where there is none, its request has arrived all the same.
const ATTEMPT_FIELDS: std::ops::Range<usize> = 8..39;

fn write_attempt(lines: &mut Lines, row: &AttemptRow, before: Option<FailureClass>, place: &Place) {
    let micros = |at: windtunnel_policy::Instant| at.as_micros();
    lines.integer(u64::from(row.number));
    lines.integer(u64::from(row.group));
    lines.text(&place.name);
    lines.text(&place.provider);
    lines.text(&place.model);
    lines.text(&place.region);
    lines.optional_text(place.contract.as_deref());
    lines.text(row.recovery.map_or("first", RecoveryAction::name));
    lines.optional_text(before.map(FailureClass::name));
    lines.integer(u64::from(row.status));
    lines.optional_text(row.failure.map(FailureClass::name));
    lines.text(row.phase.name());
    lines.truth(row.phase == Phase::AfterOutput);
    lines.text(row.breaker.name());
    lines.seconds(row.waited.as_micros());
    lines.optional_seconds(row.retry_after.map(|wait| wait.as_micros()));
    lines.seconds(micros(row.arrived));
    lines.seconds(micros(row.sent));
    lines.optional_seconds(row.headers.map(micros));
    lines.optional_seconds(row.first_output.map(micros));
    lines.seconds(micros(row.ended));
    lines.truth(row.was_sent);
    lines.truth(row.cancelled);
    lines.seconds(row.remaining.as_micros());
    lines.integer(u64::from(row.usage.input));
    lines.integer(u64::from(row.usage.cached));
    lines.integer(u64::from(row.usage.output));
    lines.dollars(u128::from(row.cost.as_pico()));
    lines.truth(row.cost.as_pico() > 0);
    match row.decision {
        None => (0..3).for_each(|_| lines.nothing()),
        Some(Decision::Recover { action, wait, .. }) => {
            lines.text("recover");
            lines.text(action.name());
            lines.seconds(wait.as_micros());
        }
        Some(Decision::Await) => {
            lines.text("await");
            (0..2).for_each(|_| lines.nothing());
        }
        Some(Decision::Stop(reason)) => {
            lines.text("stop");
            lines.text(reason.name());
            lines.nothing();
        }
    }
}

fn write_request(lines: &mut Lines, row: &RequestRow) {
    lines.text(row.result.outcome.name());
    lines.integer(u64::from(row.result.status));
    lines.optional_text(row.result.stop.map(|stop| stop.name()));
    lines.truth(row.result.retryable);
    lines.integer(u64::from(row.result.attempts));
    lines.truth(row.answered);
    lines.truth(row.transport_success);
    lines.truth(row.contract_success);
    lines.truth(row.task_success);
    lines.seconds(row.closed.as_micros());
    lines.dollars(u128::from(row.cost.as_pico()));
}
