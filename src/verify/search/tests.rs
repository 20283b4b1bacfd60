//! What is merged is merged rightly: with and without it the same states are reached, up to whose turn it
//! is, by as many sequences, to the same verdict.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use windtunnel_policy::Router;
use windtunnel_policy::config::Policy;

use super::super::{NoObserver, sample::topology_for, start, step};
use super::*;
use crate::library::load_policy;

#[path = "../../../tests/verify/faulty.rs"]
#[allow(dead_code, reason = "some faults are for the tests of promises")]
mod faulty;

use faulty::{Fault, Faulty};

/// A walk, and the states it has met, up to the handles of their requests.
struct Met {
    walked: Walked,
    met: BTreeSet<u128>,
}

/// Walks with states told apart by their key, or also by which request is where.
fn met<S: Subject>(start: &start::Start<S>, depth: u32, by_handle: bool) -> Met {
    let met = RefCell::new(BTreeSet::new());
    let key = |watched: &Watched<S>| {
        let key = watched.key();
        met.borrow_mut().insert(key);
        match by_handle {
            false => key,
            true => {
                // Which hasher it is does not matter here: it tells apart what the key does not.
                let mut told = std::hash::DefaultHasher::new();
                for request in watched.lives.keys() {
                    (request, watched.content(*request)).hash(&mut told);
                }
                key ^ u128::from(told.finish())
            }
        }
    };
    let hedges = start.watched.subject.policy().hedge.is_some();
    let steps = step::steps(&start.alphabet, start.requests, start.late, hedges);
    let bare = start.watched.clone().forgetting_trail();
    let walked = walk_by(&key, &bare, &steps, depth, 1_000_000, &NoObserver);
    Met { walked, met: met.into_inner() }
}

/// States without and with merging, over all starts of several requests; of three, a step less is walked.
fn compared<S: Subject>(subject: &S, depth: u32, what: &str) -> (u64, u64) {
    let Ok(starts) = start::starts(subject) else { return (0, 0) };
    let (mut apart, mut merged) = (0, 0);
    for start in starts.iter().filter(|start| start.requests > 1) {
        let depth = if start.requests > 2 { depth - 1 } else { depth };
        let (a, m) = (met(start, depth, true), met(start, depth, false));
        let name = format!("{what}, {}", start.name);
        let verdict = |met: &Met| met.walked.broken.as_ref().map(|(way, _)| way.len());
        assert_eq!(verdict(&a), verdict(&m), "{name}");
        assert_eq!(a.walked.complete_to, m.walked.complete_to, "{name}");
        assert_eq!(a.walked.sequences, m.walked.sequences, "{name}");
        if a.walked.broken.is_none() {
            assert!(a.met == m.met, "{name}: {} states and {}", a.met.len(), m.met.len());
            apart += a.walked.states;
            merged += m.walked.states;
        }
    }
    (apart, merged)
}

#[test]
fn merging_requests_that_changed_places_changes_nothing_else() {
    // Tenants tell two requests apart, of three still two are alike; without them nearly every state has a
    // twin, but where one of the requests came earlier.
    for (name, depth, at_most) in [
        ("litellm-router", 3, 55),
        ("conservative", 2, 75),
        ("hedged", 2, 60),
        ("new-api-channels", 2, 60),
        ("tenant-budgets", 2, 99),
    ] {
        let policy = load_policy(name).expect("a shipped policy");
        let router = Router::new(policy.clone(), topology_for(&policy)).expect("a valid policy");
        let (apart, merged) = compared(&router, depth, name);
        assert!(merged * 100 <= apart * at_most, "{name}: {apart} states, {merged} merged");
    }
}

#[test]
fn faulty_routers_are_found_out_with_and_without() {
    let policy = Policy { name: "faulty".into(), ..Policy::default() };
    let mut topology = topology_for(&policy);
    topology.classes.truncate(1);
    let says = (policy, topology);
    for fault in [
        Fault::EndsTwice,
        Fault::SendsTwice,
        Fault::Misnames,
        Fault::DeafToCancel,
        Fault::ShowsEarly,
        Fault::ForgetsWaits,
        Fault::KeepsPermits,
        Fault::Silent,
        Fault::Discreet,
    ] {
        compared(&Faulty::new(says.clone(), says.clone(), fault), 3, &format!("{fault:?}"));
    }
}
