//! The gateways' connections.

use crate::scenario::Gateway;

/// Connections in use: each gateway's, of all and of each target.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    all: u32,
    per_target: u32,
    /// By gateway.
    in_use: Vec<u32>,
    /// By gateway, then target.
    by_target: Vec<u32>,
    targets: usize,
    /// Whether there are connections for everybody, so that nobody need count them.
    boundless: bool,
}

impl Pool {
    pub(super) fn new(gateway: &Gateway, gateways: usize, targets: usize) -> Pool {
        let boundless = gateway.connections.is_none() && gateway.connections_per_target.is_none();
        Pool {
            boundless,
            all: gateway.connections.unwrap_or(u32::MAX),
            per_target: gateway.connections_per_target.unwrap_or(u32::MAX),
            in_use: vec![0; gateways],
            by_target: vec![0; gateways * targets],
            targets,
        }
    }

    /// Takes a gateway's connection to this target, if there is one.
    #[inline]
    pub(super) fn take(&mut self, gateway: usize, target: usize) -> bool {
        if self.boundless {
            return true;
        }
        let place = gateway * self.targets + target;
        let free = self.in_use[gateway] < self.all && self.by_target[place] < self.per_target;
        if free {
            self.in_use[gateway] += 1;
            self.by_target[place] += 1;
        }
        free
    }

    /// Gives a connection back.
    #[inline]
    pub(super) fn give_back(&mut self, gateway: usize, target: usize) {
        if self.boundless {
            return;
        }
        self.in_use[gateway] -= 1;
        self.by_target[gateway * self.targets + target] -= 1;
    }

    /// Connections in use, of all gateways.
    pub(super) fn in_use(&self) -> u32 {
        self.in_use.iter().sum()
    }

    pub(super) fn reset(&mut self) {
        self.in_use.fill(0);
        self.by_target.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_pool_runs_dry_for_everybody() {
        let gateway = Gateway { connections: Some(2), ..Gateway::default() };
        let mut pool = Pool::new(&gateway, 2, 2);
        assert!(pool.take(1, 0) && pool.take(1, 0));
        assert!(!pool.take(1, 1));
        assert!(pool.take(0, 1), "another gateway has its own");
        pool.give_back(1, 0);
        assert!(pool.take(1, 1));
        assert_eq!(pool.in_use(), 3);
    }

    #[test]
    fn a_pool_per_target_leaves_the_others_alone() {
        let gateway = Gateway { connections_per_target: Some(1), ..Gateway::default() };
        let mut pool = Pool::new(&gateway, 2, 2);
        assert!(pool.take(0, 0) && !pool.take(0, 0) && pool.take(0, 1));
    }
}
