//! `merge`.

use std::io::Write;

use windtunnel::sweep::{Lines, Summary, merge as merge_rows, together};

use super::Outcome;
use super::again::Again;
use super::args::MergeArgs;
use super::interrupt::{self, First};
use super::journal::read;
use super::output::{OutFile, cannot_write};
use super::sweep_outputs::Outputs;

/// Puts the shards of a sweep together.
pub(super) fn merge(args: &MergeArgs) -> Outcome {
    interrupt::watch(First::EndsAtOnce);
    let mut shards = Vec::new();
    for path in &args.files {
        shards.push((path.display().to_string(), read(path)?));
    }
    shards.sort_by_key(|(_, rows)| rows.header().shard.number);
    let header = together(&shards)?;
    let outputs = Outputs::open(&args.to, &header, &args.files, &Again::merge(args))?;
    let lines = Lines::of(&header);
    let mut summary = Summary::new(header.clone());
    let mut tables = outputs.begin(&header)?;
    let mut whole = outputs.whole()?;
    let put = |file: &mut OutFile, line: &str| {
        file.write_all(line.as_bytes()).map_err(|error| cannot_write(file.path(), &error))
    };
    if let Some(file) = &mut whole {
        put(file, &header.line())?;
    }
    merge_rows(shards, |row| {
        summary.add(row);
        if let Some(file) = &mut whole {
            put(file, &lines.row(row))?;
        }
        tables.iter_mut().try_for_each(|table| table.write(row))
    })?;
    for table in tables {
        table.finish()?;
    }
    if let Some(file) = whole {
        file.finish()?;
    }
    outputs.report(&summary)?;
    Ok(0)
}
