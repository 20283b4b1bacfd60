//! `merge`.

use windtunnel::input::InputError;
use windtunnel::sweep::{Lines, Summary, merge as merge_rows, together};

use super::Outcome;
use super::again::Again;
use super::args::MergeArgs;
use super::interrupt::{self, First};
use super::journal::read;
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
    let failed =
        |error: std::io::Error| InputError::new("--out", format!("cannot be written: {error}"));
    if let Some(file) = &mut whole {
        std::io::Write::write_all(file, header.line().as_bytes()).map_err(failed)?;
    }
    merge_rows(shards, |row| {
        summary.add(row);
        if let Some(file) = &mut whole {
            std::io::Write::write_all(file, lines.row(row).as_bytes()).map_err(failed)?;
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
