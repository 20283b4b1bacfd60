//! What the gateway gets to see, and what it is billed.

use windtunnel_policy::event::AttemptRef;
use windtunnel_policy::outcome::{Answer, Failure, Usage};
use windtunnel_policy::{Instant, Money, Price};

use super::attempt::{Attempt, Stage, Verdict};
use super::clock::WorkClock;
use crate::draw::Key;

/// Something the gateway gets to see of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Notice {
    /// The attempt, as the gateway knows it.
    pub attempt: AttemptRef,
    /// What is seen.
    pub kind: NoticeKind,
}

/// What is seen of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoticeKind {
    /// Response headers (of streams only).
    Headers,
    /// A first chunk without content (of streams only).
    FirstChunk,
    /// The first output (of streams only).
    FirstOutput,
    /// It calls the tool of the request with this key. Comes also of an attempt that was given up
    /// and works on.
    CallsTool(Key),
    /// A complete answer, or one that looks complete. The attempt's last notice.
    Ended {
        /// What is billed, in tokens.
        usage: Usage,
        /// What a validator says.
        answer: Answer,
        /// Whether it really keeps its contract; a silent failure looks valid and does not.
        contract_ok: bool,
        /// Whether it does the job; a refusal does not.
        task_done: bool,
        /// The price of `usage`.
        bill: Money,
    },
    /// A failure. The attempt's last notice.
    Failed {
        /// How, and what is billed all the same.
        failure: Failure,
        /// The price of the failure's usage.
        bill: Money,
    },
}

/// What is billed for an attempt that was given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bill {
    /// In tokens.
    pub usage: Usage,
    /// The price of `usage`.
    pub money: Money,
}

impl Bill {
    #[inline]
    pub(super) fn new(price: &Price, usage: Usage) -> Bill {
        let money = match usage {
            // Most failures.
            Usage { input: 0, cached: 0, output: 0 } => Money::ZERO,
            Usage { input, cached, output } => price.bill(input, cached, output),
        };
        Bill { usage, money }
    }
}

impl NoticeKind {
    #[inline]
    pub(super) fn ended(usage: Usage, verdict: Verdict, price: &Price) -> NoticeKind {
        let Verdict { answer, contract_ok, task_done } = verdict;
        let bill = Bill::new(price, usage).money;
        NoticeKind::Ended { usage, answer, contract_ok, task_done, bill }
    }

    #[inline]
    pub(super) fn failed(failure: Failure, price: &Price) -> NoticeKind {
        NoticeKind::Failed { failure, bill: Bill::new(price, failure.usage).money }
    }
}

impl Attempt {
    /// Work on it has come to the end of `stage`, and goes on: what the gateway gets to see of that.
    #[inline]
    pub(super) fn pass(&mut self, now: Instant, stage: Stage, clock: &WorkClock) -> Option<Notice> {
        let kind = match stage {
            Stage::ToOutput => NoticeKind::FirstOutput,
            Stage::ToHeaders => NoticeKind::Headers,
            Stage::ToChunk => NoticeKind::FirstChunk,
            Stage::ToTool => NoticeKind::CallsTool(self.key),
            _ => {
                self.silent_since = Some(self.last_token(now, clock));
                self.stage = self.next_stage();
                return None;
            }
        };
        self.stage = self.next_stage();
        self.notice(kind)
    }

    /// What the gateway gets to see, unless it has given the attempt up.
    #[inline]
    pub(super) fn notice(&self, kind: NoticeKind) -> Option<Notice> {
        let outside = matches!(kind, NoticeKind::CallsTool(_));
        if outside || !self.unseen {
            return Some(Notice { attempt: self.attempt, kind });
        }
        None
    }
}
