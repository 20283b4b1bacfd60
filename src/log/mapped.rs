//! From the named cells of a table to a row.

use std::borrow::Cow;

use windtunnel_policy::normalise::{Provider, ProviderError};
use windtunnel_policy::outcome::{FailureClass, Phase};
use windtunnel_policy::text::scaled;

use super::mapping::Columns;
use super::row::Row;
use super::{ANYWHERE, ColumnMap, End, RowsAre, Unusable};
use crate::trace::cells;
use crate::trace::layout::TimeUnit;

/// Cells of one row by the names of their columns; `None` and empty are the same.
pub(super) trait Cells {
    /// The text of a cell.
    fn cell(&self, column: &str) -> Option<Cow<'_, str>>;
}

/// The row these cells make.
///
/// # Errors
/// A cell that every row needs is empty, or one is not what its column holds.
pub(super) fn row(cells: &impl Cells, map: &ColumnMap) -> Result<Row, Unusable> {
    let read = Reader { cells, time: unit(&map.time_unit), span: unit(&map.duration_unit) };
    let columns = &map.columns;
    if columns.ours.is_some() {
        ours(&read, columns)
    } else {
        theirs(&read, columns, map.rows == RowsAre::Requests)
    }
}

/// What a mapped table says.
fn theirs<C: Cells>(
    read: &Reader<'_, C>,
    columns: &Columns,
    requests: bool,
) -> Result<Row, Unusable> {
    let mut row = common(read, columns)?;
    let target = columns.target.as_deref();
    row.target = match requests {
        // Some requests are sent nowhere.
        true => read.optional(&columns.target).map(Cow::into_owned),
        false => Some(read.must(target.unwrap_or_default())?.into_owned()),
    };
    if target.is_none() {
        row.target = Some(ANYWHERE.to_owned());
    }
    row.tries = read.whole(&columns.attempts)?.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    row.likeness = read.optional(&columns.fingerprint).map(Cow::into_owned);
    let sent = read.time(&columns.sent)?;
    row.sent_us = Some(sent.ok_or_else(|| Unusable::Missing(columns.sent.clone()))?);
    row.ended_us = match (&columns.ended, &columns.took) {
        (Some(ended), _) => read.time(ended)?,
        (None, Some(took)) => {
            read.span(took)?.map(|took| row.sent_us.unwrap_or(0).saturating_add(took))
        }
        (None, None) => None,
    };
    if row.ended_us.is_none() {
        let column = columns.ended.as_ref().or(columns.took.as_ref());
        return Err(Unusable::Missing(column.cloned().unwrap_or_default()));
    }
    row.action = read.optional(&columns.action).map(Cow::into_owned);
    row.resent = read.whole(&columns.resent)?.map(|times| times > 0);
    row.cancelled = read.truth(&columns.cancelled)?.unwrap_or(false);
    row.hint_us = columns.retry_after.as_deref().map_or(Ok(None), |column| read.span(column))?;
    if row.failure.is_none() {
        row.failure = failure_by_status(&row);
    }
    if requests {
        row.not_sent = row.target.is_none();
        row.end = Some(end_by(row.failure));
    }
    Ok(row)
}

/// How a request ended whose last attempt failed so, or not at all.
pub(super) fn end_by(failure: Option<FailureClass>) -> End {
    match failure {
        None => End::Answered,
        Some(FailureClass::Refusal | FailureClass::ContentPolicy) => End::Refused,
        Some(FailureClass::CallerCancelled) => End::Cancelled,
        Some(FailureClass::ClientInvalid | FailureClass::GatewayDenied) => End::Invalid,
        Some(_) => End::Failed,
    }
}

/// What our ledger says.
fn ours<C: Cells>(read: &Reader<'_, C>, columns: &Columns) -> Result<Row, Unusable> {
    let mut row = common(read, columns)?;
    row.run = format!("{} in world {}", read.must("policy")?, read.must("world")?);
    row.measured = read.truth_of("measured")?;
    row.closed_us = read.time("request_closed_s")?;
    row.end = Some(ending(read)?);
    let correlation = read.must("correlation")?;
    row.resent = Some(correlation != row.request.as_str());
    row.action = Some(correlation.into_owned());
    let attempt = read.must("attempt")?;
    if attempt == "0" {
        // Never sent: there is no attempt to speak of.
        row.not_sent = true;
        row.arrived_us = row.arrived_us.or(row.closed_us);
        return Ok(row);
    }
    row.target = Some(read.must("target")?.into_owned());
    for (column, time) in [
        (&columns.sent, &mut row.sent_us),
        (columns.ended.as_ref().unwrap_or(&columns.sent), &mut row.ended_us),
    ] {
        *time = Some(read.time(column)?.ok_or_else(|| Unusable::Missing(column.clone()))?);
    }
    row.cancelled = read.truth(&columns.cancelled)?.unwrap_or(false);
    row.not_sent = read.truth_of("sent")? == Some(false);
    row.substituted = read.cells.cell("recovery").is_some_and(|kind| kind == "substitution");
    row.hint_before_us = read.span("retry_after_s")?;
    row.remaining_us = read.span("remaining_s")?;
    row.limits_us = [read.span("first_output_within_s")?, read.span("ends_within_s")?];
    row.phase = match read.cells.cell("phase").as_deref() {
        Some("before_headers") => Some(Phase::BeforeHeaders),
        Some("before_output") => Some(Phase::BeforeOutput),
        Some("after_output") => Some(Phase::AfterOutput),
        _ => return Err(Unusable::Unreadable("phase".into())),
    };
    Ok(row)
}

fn ending<C: Cells>(read: &Reader<'_, C>) -> Result<End, Unusable> {
    Ok(match (&*read.must("request_outcome")?, read.truth_of("request_answered")?) {
        ("refusal", _) => End::Refused,
        (_, Some(true)) => End::Answered,
        ("cancelled", _) => End::Cancelled,
        _ => match read.cells.cell("failure").as_deref() {
            Some("client_invalid") => End::Invalid,
            _ => End::Failed,
        },
    })
}

/// The columns that both kinds of table have.
fn common<C: Cells>(read: &Reader<'_, C>, columns: &Columns) -> Result<Row, Unusable> {
    let owned = |column: &Option<String>| read.optional(column).map(Cow::into_owned);
    let time = |column: &Option<String>| column.as_deref().map_or(Ok(None), |c| read.time(c));
    let tokens = |column: &Option<String>| {
        read.whole(column).map(|n| n.map(|n| u32::try_from(n).unwrap_or(u32::MAX)))
    };
    let out_of_range =
        |column: &Option<String>| Unusable::Unreadable(column.clone().unwrap_or_default());
    let status = read.whole(&columns.status)?;
    let group = read.whole(&columns.group)?;
    Ok(Row {
        request: read.must(&columns.request)?.into_owned(),
        class: owned(&columns.class),
        provider: owned(&columns.provider),
        model: owned(&columns.model),
        region: owned(&columns.region),
        group: group
            .map(|n| u8::try_from(n).map_err(|_| out_of_range(&columns.group)))
            .transpose()?,
        arrived_us: time(&columns.arrived)?,
        headers_us: time(&columns.headers)?,
        first_us: time(&columns.first_output)?,
        status: status
            .map(|n| is_status(n).then_some(n as u16).ok_or_else(|| out_of_range(&columns.status)))
            .transpose()?,
        failure: read.failure(&columns.failure)?,
        input: tokens(&columns.input_tokens)?,
        cached: tokens(&columns.cached_tokens)?,
        output: tokens(&columns.output_tokens)?,
        cost_pico: read.money(&columns.cost)?,
        ..Row::default()
    })
}

/// Whether this may be the status of an HTTP response, or stands for none.
fn is_status(number: u64) -> bool {
    number == 0 || (100..600).contains(&number)
}

/// What a status alone says; none for a success.
pub(super) fn failure_by_status(row: &Row) -> Option<FailureClass> {
    let status = row.status?;
    if (200..400).contains(&status) {
        return None;
    }
    if status == 0 && row.cancelled {
        return Some(FailureClass::Timeout);
    }
    let after_output = row.first_us.is_some();
    let provider = Provider::Other;
    let error =
        ProviderError { provider, status, code: "", message: "", in_stream: false, after_output };
    Some(error.class())
}

/// Names of units were checked when the mapping was read.
fn unit(name: &str) -> TimeUnit {
    match name {
        "us" => TimeUnit::Micros(1),
        "ms" => TimeUnit::Micros(1_000),
        "s" => TimeUnit::Micros(1_000_000),
        _ => TimeUnit::DateTime,
    }
}

struct Reader<'a, C> {
    cells: &'a C,
    time: TimeUnit,
    span: TimeUnit,
}

impl<C: Cells> Reader<'_, C> {
    fn must(&self, column: &str) -> Result<Cow<'_, str>, Unusable> {
        self.cells.cell(column).ok_or_else(|| Unusable::Missing(column.to_owned()))
    }

    fn optional(&self, column: &Option<String>) -> Option<Cow<'_, str>> {
        self.cells.cell(column.as_deref()?)
    }

    fn parse<T>(
        &self,
        column: &str,
        of: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Unusable> {
        let Some(text) = self.cells.cell(column) else { return Ok(None) };
        of(&text).map(Some).ok_or_else(|| Unusable::Unreadable(column.to_owned()))
    }

    fn time(&self, column: &str) -> Result<Option<u64>, Unusable> {
        self.parse(column, |text| cells::time(text, self.time).ok())
    }

    fn span(&self, column: &str) -> Result<Option<u64>, Unusable> {
        self.parse(column, |text| cells::time(text, self.span).ok())
    }

    fn whole(&self, column: &Option<String>) -> Result<Option<u64>, Unusable> {
        let Some(column) = column.as_deref() else { return Ok(None) };
        // `374.0` is one too: tables with gaps are often written so.
        self.parse(column, |text| text.trim().trim_end_matches(".0").parse().ok())
    }

    fn money(&self, column: &Option<String>) -> Result<Option<u64>, Unusable> {
        let Some(column) = column.as_deref() else { return Ok(None) };
        let dollars = |text: &str| {
            let text = text.trim().trim_start_matches('$');
            u64::try_from(scaled(text, 1_000_000_000_000)?).ok()
        };
        self.parse(column, dollars)
    }

    fn truth(&self, column: &Option<String>) -> Result<Option<bool>, Unusable> {
        column.as_deref().map_or(Ok(None), |column| self.truth_of(column))
    }

    fn truth_of(&self, column: &str) -> Result<Option<bool>, Unusable> {
        self.parse(column, |text| match text.trim() {
            "true" | "True" | "TRUE" | "1" | "yes" => Some(true),
            "false" | "False" | "FALSE" | "0" | "no" => Some(false),
            _ => None,
        })
    }

    fn failure(&self, column: &Option<String>) -> Result<Option<FailureClass>, Unusable> {
        let Some(column) = column.as_deref() else { return Ok(None) };
        self.parse(column, |text| FailureClass::ALL.into_iter().find(|class| class.name() == text))
    }
}
