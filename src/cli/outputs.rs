//! The files an experiment writes, opened before it runs.

use std::path::{Path, PathBuf};

use windtunnel::input::InputError;
use windtunnel::page::PageFormat;
use windtunnel::report::{Extras, PlotError, PlotFormat, Report, RowFormat};
use windtunnel::sweep::LeftOut;

use super::args::{Common, Format};
use super::output::{OutFile, print, write_file};
use super::same_file::{asked_for, refuse_overwriting};
use super::say::say;

pub(super) struct Outputs {
    report: Option<OutFile>,
    pub(super) ledger: Option<(OutFile, RowFormat)>,
    timeline: Option<(OutFile, RowFormat)>,
    plot: Option<(OutFile, PlotFormat)>,
    measures: Option<(OutFile, PlotFormat)>,
    page: Option<(OutFile, PageFormat)>,
}

impl Outputs {
    /// Opens every file the command line names; `read` are the files the experiment is made of.
    ///
    /// # Errors
    /// One cannot be written, has an ending that says nothing, or is another's or one that
    /// was read.
    pub(super) fn open(args: &Common, read: &[PathBuf]) -> Result<Outputs, InputError> {
        let named = [
            ("--out", &args.out),
            ("--ledger", &args.ledger),
            ("--timeline", &args.timeline),
            ("--plot", &args.plot),
            ("--plot-measures", &args.plot_measures),
            ("--report", &args.report),
        ];
        refuse_overwriting(&asked_for(&named), read)?;
        Ok(Outputs {
            report: args.out.as_deref().map(OutFile::create).transpose()?,
            ledger: open(args.ledger.as_deref(), RowFormat::of, ".csv or .jsonl")?,
            timeline: open(args.timeline.as_deref(), RowFormat::of, ".csv or .jsonl")?,
            plot: open_plot(args.plot.as_deref())?,
            measures: open_plot(args.plot_measures.as_deref())?,
            page: open_page(args.report.as_deref())?,
        })
    }

    /// True where a document is wanted: it shows latencies over time.
    pub(super) fn shows_latencies(&self, args: &Common) -> bool {
        let printed = args.format == Format::Markdown && (self.report.is_some() || !args.quiet);
        self.page.is_some() || printed
    }

    /// Writes all but the ledger, which was written as the runs went on.
    ///
    /// # Errors
    /// A file cannot be completed.
    pub(super) fn write(
        self,
        report: &Report<'_>,
        extras: Extras<'_>,
        args: &Common,
    ) -> Result<(), InputError> {
        if let Some((file, format)) = self.page {
            write_file(file, report.page(extras).render(format).as_bytes())?;
        }
        if let Some((file, format)) = self.timeline {
            write_file(file, &report.timeline(format))?;
        }
        if let Some((file, format)) = self.plot {
            write_drawn(file, report.plot(format))?;
        }
        if let Some((file, format)) = self.measures {
            write_drawn(file, report.plot_measures(format))?;
        }
        if self.report.is_none() && args.quiet {
            return Ok(());
        }
        let text = match args.format {
            Format::Table => report.table(args.parts()),
            Format::Json => report.json(),
            Format::Csv => report.csv(),
            Format::Markdown => report.page(extras).markdown(),
        };
        match self.report {
            Some(file) => write_file(file, text.as_bytes()),
            None => print(&text),
        }
    }
}

/// Opens a document to be written.
///
/// # Errors
/// It cannot be written, or has an ending that says nothing.
pub(super) fn open_page(path: Option<&Path>) -> Result<Option<(OutFile, PageFormat)>, InputError> {
    open(path, PageFormat::of, ".html or .md")
}

/// Opens a chart to be written.
///
/// # Errors
/// It cannot be written, or has an ending that says nothing.
pub(super) fn open_plot(path: Option<&Path>) -> Result<Option<(OutFile, PlotFormat)>, InputError> {
    open(path, PlotFormat::of, ".svg or .png")
}

/// Writes a chart.
///
/// # Errors
/// It could not be drawn, or cannot be completed.
pub(super) fn write_drawn(
    file: OutFile,
    drawn: Result<Vec<u8>, PlotError>,
) -> Result<(), InputError> {
    let drawn = drawn
        .map_err(|error| InputError::new(file.path().display().to_string(), error.to_string()))?;
    write_file(file, &drawn)
}

/// Says which charts lie in a folder now, and of each that there is nothing for, why.
pub(super) fn say_charts(folder: &Path, drawn: &[&str], left_out: &[LeftOut]) {
    let names = if drawn.is_empty() { "none".into() } else { drawn.join(", ") };
    say("charts", format_args!("{names} in {}, each as SVG and PNG", folder.display()));
    for LeftOut { name, why } in left_out {
        say("charts", format_args!("no {name}: {why}"));
    }
}

fn open<F>(
    path: Option<&Path>,
    format: impl Fn(&Path) -> Option<F>,
    endings: &str,
) -> Result<Option<(OutFile, F)>, InputError> {
    let Some(path) = path else { return Ok(None) };
    let format = format(path).ok_or_else(|| {
        let error = InputError::new(path.display().to_string(), "its ending names no format");
        error.fix(format!("end it in {endings}"))
    })?;
    Ok(Some((OutFile::create(path)?, format)))
}
