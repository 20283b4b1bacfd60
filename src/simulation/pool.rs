//! The gateway's connections.

use crate::scenario::Gateway;

/// Connections in use, of all and of each target.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    all: u32,
    per_target: u32,
    in_use: u32,
    by_target: Vec<u32>,
}

impl Pool {
    pub(super) fn new(gateway: &Gateway, targets: usize) -> Pool {
        Pool {
            all: gateway.connections.unwrap_or(u32::MAX),
            per_target: gateway.connections_per_target.unwrap_or(u32::MAX),
            in_use: 0,
            by_target: vec![0; targets],
        }
    }

    /// Takes a connection to this target, if there is one.
    pub(super) fn take(&mut self, target: usize) -> bool {
        let free = self.in_use < self.all && self.by_target[target] < self.per_target;
        if free {
            self.in_use += 1;
            self.by_target[target] += 1;
        }
        free
    }

    /// Gives a connection back.
    pub(super) fn give_back(&mut self, target: usize) {
        self.in_use -= 1;
        self.by_target[target] -= 1;
    }

    /// Connections in use.
    pub(super) fn in_use(&self) -> u32 {
        self.in_use
    }

    pub(super) fn reset(&mut self) {
        self.in_use = 0;
        self.by_target.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_pool_runs_dry_for_everybody() {
        let gateway = Gateway { connections: Some(2), connections_per_target: None };
        let mut pool = Pool::new(&gateway, 2);
        assert!(pool.take(0) && pool.take(0));
        assert!(!pool.take(1));
        pool.give_back(0);
        assert!(pool.take(1));
        assert_eq!(pool.in_use(), 2);
    }

    #[test]
    fn a_pool_per_target_leaves_the_others_alone() {
        let gateway = Gateway { connections: None, connections_per_target: Some(1) };
        let mut pool = Pool::new(&gateway, 2);
        assert!(pool.take(0) && !pool.take(0) && pool.take(1));
    }
}
