//! Prompt caches: what of a prompt a provider has worked through already, for this account and
//! model, and not forgotten yet.

use std::collections::BTreeMap;

use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Duration, Instant};

use super::Order;
use super::slab::FleetRef;
use crate::scenario::Scenario;

/// Entries that are kept before the forgotten ones are looked for.
const ROOM: usize = 1_024;

/// The caches of all targets; empty where none has one.
#[derive(Clone, Debug)]
pub(super) struct Caches {
    /// By target.
    of: Vec<Option<Cache>>,
    /// Until when the prefix of a session is remembered in a cache.
    until: BTreeMap<(u64, u16), Instant>,
    /// The session of the attempt in each slot of the slab, where it shares a prefix.
    sessions: Vec<Option<u64>>,
    purge_at: usize,
}

#[derive(Clone, Copy, Debug)]
struct Cache {
    /// Targets of one provider, account and model share one.
    number: u16,
    time_to_live: Duration,
    min_tokens: u32,
}

impl Caches {
    pub(super) fn new(scenario: &Scenario) -> Caches {
        let mut known: Vec<[&str; 3]> = Vec::new();
        let mut of = Vec::new();
        for target in &scenario.targets {
            let name = [target.provider.as_str(), &target.account, &target.model];
            of.push(target.prompt_cache.as_ref().map(|spec| {
                let number = known.iter().position(|other| *other == name).unwrap_or_else(|| {
                    known.push(name);
                    known.len() - 1
                });
                Cache {
                    number: number as u16,
                    time_to_live: spec.time_to_live,
                    min_tokens: spec.min_tokens.get(),
                }
            }));
        }
        if known.is_empty() {
            of.clear();
        }
        Caches { of, until: BTreeMap::new(), sessions: Vec::new(), purge_at: ROOM }
    }

    pub(super) fn reset(&mut self) {
        self.until.clear();
        self.sessions.clear();
        self.purge_at = ROOM;
    }

    /// Whether any target has a cache.
    #[inline]
    pub(super) fn are_any(&self) -> bool {
        !self.of.is_empty()
    }

    fn cache(&self, target: TargetId) -> Option<Cache> {
        self.of.get(usize::from(target.0)).copied().flatten()
    }

    /// Tokens of a prefix that need no work at a target.
    #[inline]
    pub(super) fn warm(&self, now: Instant, target: TargetId, session: u64, prefix: u32) -> u32 {
        if !self.are_any() {
            return 0;
        }
        let Some(cache) = self.cache(target).filter(|cache| prefix >= cache.min_tokens.max(1))
        else {
            return 0;
        };
        match self.until.get(&(session, cache.number)) {
            Some(until) if now < *until => prefix,
            _ => 0,
        }
    }

    /// Notes the session of an attempt that may leave a prefix behind.
    #[inline]
    pub(super) fn note(&mut self, handle: FleetRef, order: &Order<'_>) {
        if !self.are_any() {
            return;
        }
        let session = (order.prefix > 0).then_some(order.request.session);
        let slot = handle.slot as usize;
        if slot >= self.sessions.len() {
            self.sessions.resize(slot + 1, None);
        }
        self.sessions[slot] = session;
    }

    /// An attempt has made output: its target has read the prompt, and remembers it for a while.
    #[inline]
    pub(super) fn keep(&mut self, now: Instant, target: TargetId, handle: FleetRef) {
        let Some(cache) = self.cache(target) else { return };
        let Some(session) = self.sessions[handle.slot as usize] else { return };
        if self.until.len() >= self.purge_at {
            self.until.retain(|_, until| now < *until);
            self.purge_at = ROOM.max(2 * self.until.len());
        }
        self.until.insert((session, cache.number), now + cache.time_to_live);
    }
}
