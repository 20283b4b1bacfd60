//! Conversations: which requests of a profile follow on which.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use windtunnel_policy::{Duration, Instant};

use crate::draw::below;
use crate::profile::Sessions;

/// Links requests to conversations, in order of time.
///
/// The counts of a profile are exact, so links do not make requests but adopt them: a request is
/// the next turn of the conversation whose turn has been due for longest, or else begins one.
pub(super) struct SessionLinks {
    /// Sessions with at most this many turns, added up.
    up_to_turns: Vec<u64>,
    gaps_ms: Vec<u64>,
    draws: ChaCha8Rng,
    /// When the next turn is due, session, turns left.
    due: BinaryHeap<Reverse<(Instant, u64, u32)>>,
    next_session: u64,
}

impl SessionLinks {
    pub(super) fn new(sessions: &Sessions, draws: ChaCha8Rng) -> SessionLinks {
        let sum = |sum: &mut u64, &count: &u32| {
            *sum += u64::from(count);
            Some(*sum)
        };
        SessionLinks {
            up_to_turns: sessions.turns.iter().scan(0, sum).collect(),
            gaps_ms: sessions.gaps_ms.clone(),
            draws,
            due: BinaryHeap::new(),
            next_session: 0,
        }
    }

    /// The session of the next request, which comes at `at`.
    pub(super) fn session_at(&mut self, at: Instant) -> u64 {
        let (session, turns_left) = match self.due.peek() {
            Some(&Reverse((due, session, left))) if due <= at => {
                self.due.pop();
                (session, left)
            }
            _ => {
                self.next_session += 1;
                (self.next_session, self.draw_turns())
            }
        };
        if turns_left > 1 {
            let gap = self.draw_gap();
            self.due.push(Reverse((at + gap, session, turns_left - 1)));
        }
        session
    }

    fn draw_turns(&mut self) -> u32 {
        let total = self.up_to_turns.last().copied().unwrap_or(0);
        let at = below(self.draws.next_u64(), total);
        self.up_to_turns.partition_point(|&up_to| up_to <= at) as u32 + 1
    }

    /// Between two neighbouring quantiles every value has the same chance.
    fn draw_gap(&mut self) -> Duration {
        let cells = self.gaps_ms.len() as u64 - 1;
        let cell = below(self.draws.next_u64(), cells) as usize;
        let (low, high) = (self.gaps_ms[cell], self.gaps_ms[cell + 1]);
        Duration::from_millis(low + below(self.draws.next_u64(), high - low + 1))
    }
}
