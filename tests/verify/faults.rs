//! Each promise, broken by a fault of its own.

use windtunnel::verify::{NoObserver, Options, Proof, Verdict, sample, verify_subject};
use windtunnel_policy::config::{
    Admission, AdmissionWindow, Admitted, AllUnavailable, Attempts, Breaker, BudgetKind, ChargedTo,
    GroupRule, Policy, RecoveryAction, RetryBudget, Streaming, Trip,
};
use windtunnel_policy::promises::Promise;
use windtunnel_policy::target::{SideEffects, Tenant, Topology};
use windtunnel_policy::{Duration, Share};

use crate::faulty::{Fault, Faulty};

const OPTIONS: Options = Options { depth: 3, max_states: 50_000 };

fn proof(says: (Policy, Topology), runs: (Policy, Topology), fault: Fault) -> Proof {
    verify_subject(&Faulty::new(says, runs, fault), "sample", OPTIONS, &NoObserver)
}

/// The default policy, by name.
fn policy() -> Policy {
    Policy { name: "faulty".into(), ..Policy::default() }
}

/// The sample with its first class alone.
fn topology() -> Topology {
    let mut topology = sample();
    topology.classes.truncate(1);
    topology
}

/// The fault is found, in so many steps; without the fault there is none to find.
fn broken(promise: Promise, steps: usize, proof: &Proof) {
    assert_eq!(proof.verdict(), Verdict::Broken);
    let found = proof.counterexample.as_ref().expect("a broken promise has a counterexample");
    assert_eq!((found.broken.promise, found.steps), (promise, steps), "{}", proof.text());
}

fn with_fault(promise: Promise, steps: usize, fault: Fault) {
    broken(promise, steps, &of_fault(fault));
}

fn of_fault(fault: Fault) -> Proof {
    proof((policy(), topology()), (policy(), topology()), fault)
}

/// What is proven of a router that takes a cancellation for an attempt that was not sent.
pub(crate) fn deaf_to_cancel() -> Proof {
    of_fault(Fault::DeafToCancel)
}

#[test]
fn one_result() {
    with_fault(Promise::OneResult, 0, Fault::EndsTwice);
}

#[test]
fn one_at_a_time() {
    with_fault(Promise::OneAtATime, 0, Fault::SendsTwice);
}

#[test]
fn right_target() {
    with_fault(Promise::RightTarget, 1, Fault::Misnames);
}

#[test]
fn disclosed() {
    let mut told = topology();
    told.classes[0].needs.disclose_substitutes = true;
    // A router that knows of no such wish does not mark the send.
    let substitutes = Policy {
        attempts: Attempts { max_same_target: 1, allow_failover: false, ..Attempts::default() },
        ..policy()
    };
    let says = (substitutes.clone(), told);
    let ignorant = proof(says.clone(), (substitutes, topology()), Fault::RunsAnother);
    broken(Promise::Disclosed, 0, &ignorant);
    // And one that marks the send alone.
    broken(Promise::Disclosed, 1, &proof(says.clone(), says, Fault::Discreet));
}

#[test]
fn none_after_cancel() {
    with_fault(Promise::NoneAfterCancel, 1, Fault::DeafToCancel);
}

#[test]
fn none_after_output() {
    let buffered = Policy { streaming: Streaming::BufferThenRelease, ..policy() };
    let proof = proof((policy(), topology()), (buffered, topology()), Fault::ShowsEarly);
    broken(Promise::NoneAfterOutput, 1, &proof);
}

#[test]
fn no_repeated_write() {
    let mut writes = topology();
    writes.classes[0].side_effects = SideEffects::WritePossible;
    let proof = proof((policy(), writes), (policy(), topology()), Fault::RunsAnother);
    broken(Promise::NoRepeatedWrite, 1, &proof);
}

#[test]
fn no_repeated_write_where_no_record_is_found() {
    let mut asks = policy();
    asks.side_effects.reconcile = true;
    let mut writes = topology();
    writes.classes[0].side_effects = SideEffects::WritePossible;
    let says = (asks, writes);
    broken(Promise::NoRepeatedWrite, 2, &proof(says.clone(), says.clone(), Fault::Credulous));
    assert_eq!(proof(says.clone(), says, Fault::RunsAnother).verdict(), Verdict::Holds);
}

#[test]
fn no_repeated_write_of_an_action_that_comes_again() {
    let mut looks = policy();
    looks.side_effects.look_up = true;
    let mut writes = topology();
    writes.classes[0].side_effects = SideEffects::WritePossible;
    let says = (looks, writes.clone());
    broken(Promise::NoRepeatedWrite, 1, &proof(says.clone(), says.clone(), Fault::Credulous));
    broken(Promise::NoRepeatedWrite, 0, &proof(says, (policy(), writes), Fault::RunsAnother));
}

#[test]
fn attempt_limits_that_a_request_brings() {
    with_fault(Promise::AttemptLimits, 2, Fault::DeafToCalls);
}

#[test]
fn attempt_limits() {
    let mut two = policy();
    two.attempts.max = 2;
    let proof = proof((two, topology()), (policy(), topology()), Fault::RunsAnother);
    broken(Promise::AttemptLimits, 2, &proof);
}

/// The router grants two recoveries of a request; each of these budgets has one.
#[test]
fn shared_budgets() {
    let bucket =
        BudgetKind::TokenBucket { capacity: 1, per_request: Share::ratio(1, 100), per_second: 0 };
    let window = Duration::from_secs(10);
    let ratio = BudgetKind::Ratio { share: Share::ratio(1, 10), window, min_per_second: 0 };
    let above =
        BudgetKind::RatioAndReserve { share: Share::ratio(1, 10), window, reserve_per_second: 0 };
    let rate = BudgetKind::Rate { per_second: 1 };
    let throttle = BudgetKind::Throttle { tokens: 3, per_success: Share::ratio(1, 10) };
    for (kind, charged_to, steps) in [
        (bucket, ChargedTo::Overall, 2),
        // Where a target has a budget of its own, both recoveries must be from the same.
        (bucket, ChargedTo::FailingTarget, 3),
        // No share of no traffic, and one a second.
        (ratio, ChargedTo::FailingTarget, 2),
        (above, ChargedTo::Destination, 1),
        (rate, ChargedTo::Overall, 2),
        // Retries wait, and their destination is the target that failed: known when it is decided.
        (bucket, ChargedTo::Destination, 2),
        // Of three, the second failure leaves one: not above the half.
        (throttle, ChargedTo::Overall, 2),
    ] {
        let governs = vec![RecoveryAction::Retry, RecoveryAction::Failover];
        let budget = RetryBudget { governs, charged_to, kind, by_tenant: false };
        let says = Policy { retry_budgets: vec![budget], ..policy() };
        let of = |runs: &Policy| {
            let mut two = runs.clone();
            two.attempts.allow_substitution = false;
            (two, topology())
        };
        broken(Promise::SharedBudgets, steps, &proof(of(&says), of(&policy()), Fault::RunsAnother));
        let sound = proof(of(&says), of(&says), Fault::RunsAnother);
        assert_eq!(sound.verdict(), Verdict::Holds, "{}", sound.text());
    }
}

/// Two recoveries for two tenants are one for each; the sample's requests are all of the first.
#[test]
fn shared_budgets_of_tenants() {
    let tenant = |name: &str| Tenant { name: name.into(), budget_share: Share::ratio(1, 2) };
    let rate = BudgetKind::Rate { per_second: 2 };
    let throttle = BudgetKind::Throttle { tokens: 6, per_success: Share::ratio(1, 10) };
    for kind in [rate, throttle] {
        let of = |by_tenant: bool| {
            let governs = vec![RecoveryAction::Retry, RecoveryAction::Failover];
            let charged_to = ChargedTo::Overall;
            let budget = RetryBudget { governs, charged_to, kind, by_tenant };
            let mut divided = topology();
            divided.tenants = vec![tenant("a"), tenant("b")];
            (Policy { retry_budgets: vec![budget], ..policy() }, divided)
        };
        broken(Promise::SharedBudgets, 2, &proof(of(true), of(false), Fault::RunsAnother));
        let sound = proof(of(true), of(true), Fault::RunsAnother);
        assert_eq!(sound.verdict(), Verdict::Holds, "{}", sound.text());
    }
}

#[test]
fn admission() {
    for window in [AdmissionWindow::Sliding, AdmissionWindow::Minute, AdmissionWindow::Paced(3)] {
        let door = Admission { rpm: 3, window, counts: Admitted::Attempts };
        let mut says = policy();
        says.groups.primary.admission = Some(door);
        let of = |policy: &Policy| {
            let mut primary = topology();
            primary.classes[0].groups.truncate(1);
            (policy.clone(), primary)
        };
        broken(Promise::Admission, 1, &proof(of(&says), of(&policy()), Fault::RunsAnother));
        // And one that turns away whom it might let in.
        let mut closed = says.clone();
        let (rpm, counts) = (1, Admitted::Attempts);
        closed.groups.primary.admission =
            Some(Admission { rpm, window: Default::default(), counts });
        broken(Promise::Admission, 0, &proof(of(&says), of(&closed), Fault::RunsAnother));
        let sound = proof(of(&says), of(&says), Fault::RunsAnother);
        assert_eq!(sound.verdict(), Verdict::Holds, "{}", sound.text());
    }
}

#[test]
fn group_limits() {
    let mut says = policy();
    says.groups.primary.max_same_target = Some(1);
    let of = |policy: &Policy| (policy.clone(), topology());
    broken(Promise::AttemptLimits, 1, &proof(of(&says), of(&policy()), Fault::RunsAnother));
    says.groups.primary = GroupRule { max: Some(1), ..GroupRule::default() };
    broken(Promise::AttemptLimits, 1, &proof(of(&says), of(&policy()), Fault::RunsAnother));
}

#[test]
fn envelope() {
    let mut hurried = policy();
    hurried.envelope.max_added_latency = Some(Duration::from_secs(1));
    let proof = proof((hurried, topology()), (policy(), topology()), Fault::RunsAnother);
    broken(Promise::Envelope, 1, &proof);
}

#[test]
fn out_of_service() {
    let breaker = Breaker { trip: vec![Trip::Consecutive(1)], ..Breaker::default() };
    let fails = Policy { breakers: vec![breaker], ..policy() };
    let opens = Policy { all_unavailable: AllUnavailable::FailOpen, ..fails.clone() };
    let proof = proof((fails, topology()), (opens, topology()), Fault::RunsAnother);
    broken(Promise::OutOfService, 1, &proof);
}

#[test]
fn timers_end() {
    with_fault(Promise::TimersEnd, 1, Fault::ForgetsWaits);
}

#[test]
fn permits_return() {
    with_fault(Promise::PermitsReturn, 1, Fault::KeepsPermits);
}

#[test]
fn explained() {
    with_fault(Promise::Explained, 0, Fault::Silent);
}

#[test]
fn every_promise_has_its_fault() {
    let tests = include_str!("faults.rs");
    for promise in Promise::ALL {
        let written = format!("{promise:?}, ");
        assert!(tests.contains(&format!("Promise::{written}")), "{promise:?}");
    }
}

#[test]
fn a_sound_router_in_the_same_wrapper_holds() {
    let says = (policy(), topology());
    let proof = proof(says.clone(), says, Fault::RunsAnother);
    assert_eq!(proof.verdict(), Verdict::Holds, "{}", proof.text());
}
