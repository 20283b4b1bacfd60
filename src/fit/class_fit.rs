//! What a log says of one route class.

use super::evidence::Evidence;
use super::roles::Roles;

/// One route class.
#[derive(Clone, Debug)]
pub(super) struct ClassFit {
    pub(super) name: String,
    /// Its position in the log's names.
    pub(super) position: usize,
    /// Requests whose tokens are those of a neighbour.
    pub(super) borrowed: u64,
    pub(super) roles: Roles,
}

impl ClassFit {
    pub(super) fn of(
        name: &str,
        position: usize,
        evidence: &Evidence,
        targets: &[String],
    ) -> ClassFit {
        let class = &evidence.classes[position];
        let borrowed = class.asks.with_tokens().filter(|(_, borrows)| *borrows).count() as u64;
        ClassFit { name: name.to_owned(), position, borrowed, roles: Roles::of(class, targets) }
    }
}
