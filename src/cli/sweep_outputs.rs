//! The files a sweep, or a merge of its shards, writes.

use std::fs;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use windtunnel::input::InputError;
use windtunnel::report::PlotFormat;
use windtunnel::sweep::{Header, Row, Rows, Shard, Summary, Table, TableFormat};

use super::again::Again;
use super::alone::refuse_taken;
use super::args::SweepOutputs;
use super::journal::Journal;
use super::output::{OutFile, cannot_write, folder_of, print, try_folder, write_file};
use super::outputs::{open_page, say_charts, write_drawn};
use super::same_file::refuse_overwriting;
use super::say::say;

/// Where rows, table and charts go; everything that can be seen to fail was tried.
pub(super) struct Outputs<'a> {
    args: &'a SweepOutputs,
    /// The `.sweep` file that stays.
    kept: Option<PathBuf>,
    tables: Vec<(PathBuf, TableFormat)>,
    /// Where rows are kept while a sweep runs.
    journal: Option<PathBuf>,
    /// The command that makes the same report again.
    again: String,
}

/// One table on its way into a file.
pub(super) struct TableFile {
    path: PathBuf,
    table: Table<BufWriter<OutFile>>,
}

impl<'a> Outputs<'a> {
    /// Checks where everything is to go. `read` are the files that are read meanwhile.
    ///
    /// # Errors
    /// An ending says nothing, a file would be overwritten, or something cannot be written.
    pub(super) fn open(
        args: &'a SweepOutputs,
        header: &Header,
        read: &[PathBuf],
        again: &Again,
    ) -> Result<Outputs<'a>, InputError> {
        let again = again.text();
        let mut outputs = Outputs { args, kept: None, tables: Vec::new(), journal: None, again };
        let out = args.out.iter().map(|path| ("--out", path.as_path()));
        let report = args.report.iter().map(|path| ("--report", path.as_path()));
        let named: Vec<(&str, &Path)> = out.chain(report).collect();
        refuse_overwriting(&named, read)?;
        for path in &args.out {
            if path.extension().is_some_and(|ending| ending == "sweep") {
                if let Some(other) = outputs.kept.replace(path.clone()) {
                    let message = format!("{} is named, too", other.display());
                    return Err(InputError::new(path.display().to_string(), message)
                        .fix("name one `.sweep` file"));
                }
                continue;
            }
            let format = TableFormat::of(path).ok_or_else(|| {
                InputError::new(path.display().to_string(), "its ending names no format")
                    .fix(format!("end it in {} or .sweep", TableFormat::ENDINGS))
            })?;
            outputs.tables.push((path.clone(), format));
        }
        outputs.journal = outputs.kept.clone().or_else(|| {
            let (first, _) = outputs.tables.first()?;
            let mut name = first.file_name()?.to_owned();
            name.push(".sweep");
            Some(folder_of(first).join(name))
        });
        // Whether they can be written is known now; they are made when there is something in them.
        outputs.begin(header).map(drop)?;
        open_page(args.report.as_deref()).map(drop)?;
        args.plot.as_deref().map(try_folder).transpose()?;
        Ok(outputs)
    }

    /// Where rows are kept while they come; none where nothing is to be written.
    pub(super) fn journal(&self) -> Option<&Path> {
        self.journal.as_deref()
    }

    /// Begins every table.
    ///
    /// # Errors
    /// One cannot be written.
    pub(super) fn begin(&self, header: &Header) -> Result<Vec<TableFile>, InputError> {
        let begin = |(path, format): &(PathBuf, TableFormat)| {
            let out = BufWriter::new(OutFile::create(path)?);
            let table = Table::new(out, *format, header).map_err(|e| cannot_write(path, &e))?;
            Ok(TableFile { path: path.clone(), table })
        };
        self.tables.iter().map(begin).collect()
    }

    /// Begins the `.sweep` file that shards are put together in, if one is wanted.
    ///
    /// # Errors
    /// It cannot be written, or is being written.
    pub(super) fn whole(&self) -> Result<Option<OutFile>, InputError> {
        let create = |path| refuse_taken(path).and_then(|()| OutFile::create(path));
        self.kept.as_deref().map(create).transpose()
    }

    /// Makes of the rows that were kept whatever is wanted.
    ///
    /// # Errors
    /// Something cannot be written.
    pub(super) fn write(&self, journal: Journal, complete: bool) -> Result<(), InputError> {
        let Some(kept) = &self.journal else { return self.report(&journal.summary) };
        let header = &journal.summary.header;
        if !complete {
            let (done, all) = (journal.finished(), header.shard.rows(header.variants).len());
            let kept = kept.display();
            let kept =
                format_args!("{done} of {all} rows are kept in {kept}; go on with `--resume`");
            say("interrupted", kept);
            return Ok(());
        }
        if header.shard != Shard::WHOLE {
            let Shard { number, of } = header.shard;
            let rows = journal.finished();
            let text = format!("shard {number} of {of}: {rows} rows in {}\n", kept.display());
            return if self.args.quiet { Ok(()) } else { print(&text) };
        }
        let mut tables = self.begin(header)?;
        let mut rows = journal.rows()?;
        while let Some(row) = rows.as_mut().map_or(Ok(None), Rows::next_row)? {
            tables.iter_mut().try_for_each(|table| table.write(&row))?;
        }
        for table in tables {
            table.finish()?;
        }
        self.report(&journal.summary)?;
        if self.kept.is_none() {
            fs::remove_file(kept).map_err(|error| cannot_write(kept, &error))?;
        }
        Ok(())
    }

    /// Writes the report, draws the charts and prints the table.
    ///
    /// # Errors
    /// Something cannot be written.
    pub(super) fn report(&self, summary: &Summary) -> Result<(), InputError> {
        if let Some((file, format)) = open_page(self.args.report.as_deref())? {
            write_file(file, summary.page(&self.again).render(format).as_bytes())?;
        }
        if let Some(folder) = &self.args.plot {
            let charts = summary.charts();
            for (format, ending) in [(PlotFormat::Svg, "svg"), (PlotFormat::Png, "png")] {
                for chart in &charts.drawn {
                    let path = folder.join(format!("{}.{ending}", chart.name));
                    write_drawn(OutFile::create(&path)?, chart.draw(format))?;
                }
            }
            if !self.args.quiet {
                let drawn: Vec<&str> = charts.drawn.iter().map(|c| c.name.as_str()).collect();
                say_charts(folder, &drawn, &charts.left_out);
            }
        }
        if self.args.quiet { Ok(()) } else { print(&summary.text()) }
    }
}

impl TableFile {
    pub(super) fn write(&mut self, row: &Row) -> Result<(), InputError> {
        self.table.write(row).map_err(|error| cannot_write(&self.path, &error))
    }

    pub(super) fn finish(self) -> Result<(), InputError> {
        let failed = |error: std::io::Error| cannot_write(&self.path, &error);
        let out = self.table.finish().map_err(failed)?;
        out.into_inner().map_err(|error| failed(error.into_error()))?.finish()
    }
}
