//! The accounts of one run: what came in must go out, once.

use windtunnel_policy::Money;

/// Counts that must balance when a run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ledger {
    undertaken: u64,
    concluded: u64,
    arrived: u64,
    closed: u64,
    started: u64,
    ended: u64,
    billed_by_attempt: u128,
    billed_by_request: u128,
}

impl Ledger {
    /// An action began that outer layers may send again.
    pub fn undertake(&mut self) {
        self.undertaken += 1;
    }

    /// Such an action is over.
    pub fn conclude(&mut self) {
        self.concluded += 1;
    }

    /// A request arrived.
    pub fn arrive(&mut self) {
        self.arrived += 1;
    }

    /// An attempt was handed to its target, or found no connection.
    pub fn start(&mut self) {
        self.started += 1;
    }

    /// An attempt ended, with this bill.
    pub fn end(&mut self, bill: Money) {
        self.ended += 1;
        self.billed_by_attempt += u128::from(bill.as_pico());
    }

    /// A provider's call within an attempt that goes on has this bill.
    pub fn bill(&mut self, bill: Money) {
        self.billed_by_attempt += u128::from(bill.as_pico());
    }

    /// A request was closed, with this bill.
    pub fn close(&mut self, bill: Money) {
        self.closed += 1;
        self.billed_by_request += u128::from(bill.as_pico());
    }

    /// Requests that arrived.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Requests and actions that are still open.
    pub fn open(&self) -> u64 {
        (self.arrived - self.closed) + (self.undertaken - self.concluded)
    }

    /// Holds the accounts against each other.
    ///
    /// # Panics
    /// Where they do not balance: that is a fault of the simulator, and no figure of the run can
    /// be trusted.
    pub fn assert_balanced(&self, seed: u64) {
        assert_eq!(self.undertaken, self.concluded, "seed {seed}: actions begun ≠ actions over");
        assert_eq!(self.arrived, self.closed, "seed {seed}: requests in ≠ requests closed");
        assert_eq!(self.started, self.ended, "seed {seed}: attempts started ≠ attempts ended");
        assert_eq!(
            self.billed_by_attempt, self.billed_by_request,
            "seed {seed}: money of attempts ≠ money of requests"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_balanced_account_passes() {
        let mut ledger = Ledger::default();
        ledger.arrive();
        ledger.start();
        assert_eq!(ledger.open(), 1);
        ledger.end(Money::DOLLAR);
        ledger.close(Money::DOLLAR);
        ledger.assert_balanced(1);
    }

    #[test]
    #[should_panic(expected = "requests in")]
    fn a_lost_request_is_noticed() {
        let mut ledger = Ledger::default();
        ledger.arrive();
        ledger.assert_balanced(1);
    }

    #[test]
    #[should_panic(expected = "actions begun")]
    fn a_lost_action_is_noticed() {
        let mut ledger = Ledger::default();
        ledger.undertake();
        assert_eq!(ledger.open(), 1);
        ledger.assert_balanced(1);
    }

    #[test]
    #[should_panic(expected = "attempts started")]
    fn a_lost_attempt_is_noticed() {
        let mut ledger = Ledger::default();
        ledger.start();
        ledger.assert_balanced(1);
    }

    #[test]
    #[should_panic(expected = "money")]
    fn lost_money_is_noticed() {
        let mut ledger = Ledger::default();
        ledger.arrive();
        ledger.start();
        ledger.end(Money::DOLLAR);
        ledger.close(Money::ZERO);
        ledger.assert_balanced(1);
    }
}
