//! Rows that a log holds twice, and a second run behind the first.

use std::collections::BTreeMap;

use super::Unusable;
use super::row::Row;
use crate::draw::NameHash;

/// Requests with numbers, of which each has its rows in one place.
#[derive(Default)]
pub(super) struct Numbered {
    /// A bit for each.
    met: Vec<u64>,
    /// What the first rows of the first requests say, by number.
    first: BTreeMap<u64, u64>,
    /// Whether the first request that came again said something else.
    differs: Option<bool>,
}

impl Numbered {
    /// Sees the first row of a request at this place. Numbers that are met again are those of a log that
    /// holds its rows twice, or that two runs were written to.
    pub(super) fn see(&mut self, row: &Row) -> Result<(), Unusable> {
        let known = row.request.parse().ok().filter(|number| *number < MOST_NUMBERS);
        let Some(number) = known else { return Ok(()) };
        let (word, bit) = ((number / 64) as usize, 1_u64 << (number % 64));
        if self.met.len() <= word {
            self.met.resize(word + 1, 0);
        }
        if self.met[word] & bit == 0 {
            self.met[word] |= bit;
            if self.first.len() < REMEMBERED {
                self.first.insert(number, likeness_of(row));
            }
            return Ok(());
        }
        let said = self.first.get(&number);
        let differs = || said.is_some_and(|said| *said != likeness_of(row));
        self.differs.get_or_insert_with(differs);
        Err(self.why())
    }

    /// Why rows of a request that was met before are left out.
    pub(super) fn why(&self) -> Unusable {
        if self.differs == Some(true) { Unusable::AnotherRun } else { Unusable::Repeated }
    }
}

/// Requests of which it is remembered what they said: those that a second run begins with are among them.
const REMEMBERED: usize = 1_024;
/// Requests of a run are numbered from 0: larger numbers are not looked at.
const MOST_NUMBERS: u64 = 1 << 28;

/// What rows that a log holds twice have in common.
pub(super) fn likeness_of(row: &Row) -> u64 {
    let said = (row.arrived_us, row.sent_us, row.first_us, row.ended_us, row.status, row.cost_pico);
    let tokens = (row.input, row.cached, row.output, row.tries, row.failure, row.of_request);
    NameHash::of(&format!("{} {:?} {said:?} {tokens:?}", row.request, row.target)).as_u64()
}
