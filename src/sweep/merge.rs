//! The shards of one sweep put together.

use std::io::BufRead;

use super::difference::difference;
use super::header::{Header, Shard};
use super::row::Row;
use super::store::Rows;
use crate::input::InputError;

/// Checks that shards belong together, and hands over their rows in the order of one machine.
///
/// # Errors
/// They are of different sweeps, one is missing, given twice or not complete, or `take` fails.
pub fn merge<R: BufRead>(
    mut shards: Vec<(String, Rows<R>)>,
    mut take: impl FnMut(&Row) -> Result<(), InputError>,
) -> Result<Header, InputError> {
    shards.sort_by_key(|(_, rows)| rows.header().shard.number);
    let header = together(&shards)?;
    let count = shards.len() as u64;
    for number in 0..=header.variants {
        let (name, rows) = &mut shards[(number % count) as usize];
        let row = rows.next_row()?.ok_or_else(|| {
            InputError::new(name.as_str(), format!("is not complete: row {number} is missing"))
                .fix("run that shard again with `--resume`")
        })?;
        take(&row)?;
    }
    // What stands behind the last row is a mistake, too.
    for (_, rows) in &mut shards {
        rows.next_row()?;
    }
    Ok(header)
}

/// The header of the whole.
///
/// # Errors
/// As for [`merge`], but for what only the rows tell.
pub fn together<R: BufRead>(shards: &[(String, Rows<R>)]) -> Result<Header, InputError> {
    let (first_name, first) = shards.first().expect("at least one file is named");
    let of = first.header().shard.of;
    for (name, rows) in shards {
        if let Some(difference) = difference(rows.header(), first.header()) {
            let message = format!("is of another sweep than {first_name}: {difference}");
            return Err(InputError::new(name.as_str(), message)
                .fix("merge the shards of one sweep, all run with the same files and options"));
        }
        if rows.header().shard.of != of {
            let message = format!(
                "is shard {} of {}, but {first_name} is one of {of}",
                rows.header().shard.number,
                rows.header().shard.of
            );
            return Err(InputError::new(name.as_str(), message));
        }
    }
    let numbers = || shards.iter().map(|(_, rows)| rows.header().shard.number);
    for (position, (name, _)) in shards.iter().enumerate().skip(1) {
        let number = shards[position].1.header().shard.number;
        if numbers().nth(position - 1) == Some(number) {
            let message = format!("is shard {number} of {of}, as {} is", shards[position - 1].0);
            return Err(InputError::new(name.as_str(), message).fix("leave one out"));
        }
    }
    if let Some(missing) = (1..=of).find(|number| !numbers().any(|there| there == *number)) {
        return Err(InputError::new(
            first_name.as_str(),
            format!("shard {missing} of {of} is missing"),
        )
        .fix("name the files of all shards"));
    }
    Ok(Header { shard: Shard::WHOLE, ..first.header().clone() })
}
