//! Attempts at the provider, from sending to their end there.

use windtunnel_policy::event::{AttemptRef, RequestRef};
use windtunnel_policy::outcome::{Failure, FailureClass, Phase, Usage};
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Duration, Instant};

use super::charge::Ask;
use super::clock::{Work, WorkClock, whole_micros};
use crate::draw::Key;
use crate::scenario::Billing;

/// An attempt as its provider knows it. With many in flight each step of an attempt waits for memory: what
/// the usual steps look at is in the first two of its three cache lines, what few do in the last.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Attempt {
    /// Reading of the work clock when its work comes to its end.
    ends: Work,
    pub(super) attempt: AttemptRef,
    pub(super) generation: u32,
    /// The request's place in the order of a run.
    pub(super) id: u64,
    pub(super) sent: Instant,
    pub(super) deadline: Instant,
    pub(super) target: TargetId,
    pub(super) stage: Stage,
    pub(super) streamed: bool,
    /// Its headers are waited for.
    pub(super) shows_headers: bool,
    /// Limits were charged and want settling.
    pub(super) charged: bool,
    /// The caller is gone; the work runs on unseen.
    pub(super) unseen: bool,
    /// It answers, and its plan has neither a tool nor a chunk to show on the way: the commonest course.
    pub(super) plain: bool,
    pub(super) ask: Ask,
    pub(super) nth: u32,
    pub(super) plan: Plan,
    pub(super) key: Key,
    /// When a stream that has fallen silent was last heard.
    pub(super) silent_since: Option<Instant>,
}

/// Three cache lines.
const _: () = assert!(size_of::<Attempt>() == 192);

/// How far an attempt has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// No attempt: a free place in the slab.
    Vacant,
    /// Does no work and fails at a set time.
    Failing,
    /// Waits for a slot.
    Queued,
    /// In work, no headers yet.
    ToHeaders,
    /// In work, a first chunk without content comes next.
    ToChunk,
    /// In work, headers sent, and perhaps a chunk, no output yet.
    ToOutput,
    /// In work, will call a tool next.
    ToTool,
    /// In work, its stream will fall silent.
    ToSilence,
    /// In work, nothing more to be seen before its end.
    ToEnd,
    /// Does no work and will never be heard of.
    Silent,
}

impl Stage {
    /// Whether it holds a slot.
    pub(super) fn in_work(self) -> bool {
        matches!(
            self,
            Stage::ToHeaders
                | Stage::ToChunk
                | Stage::ToOutput
                | Stage::ToTool
                | Stage::ToSilence
                | Stage::ToEnd
        )
    }
}

/// What will become of an attempt, fixed when it is sent: amounts of work counted from its
/// start, and how it ends. How long the work takes is not fixed.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Plan {
    /// Work to the end, good or bad.
    pub(super) end: u64,
    pub(super) fate: Fate,
    /// Work to the first output.
    pub(super) output: u64,
    /// Output tokens of the complete answer.
    pub(super) tokens: u32,
    /// It is known without a division that all of these are there at the end.
    pub(super) whole: bool,
    /// Work per output token after the first.
    pub(super) pace: u64,
    /// Work to headers; zero where nobody waits for them.
    pub(super) headers: u64,
    /// One more than the work to a first chunk without content; zero where there is none, or nobody waits
    /// for it.
    pub(super) chunk: u64,
    /// Work to the call of a tool; zero where it calls none.
    pub(super) tool: u64,
}

/// How an attempt ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    /// With a complete answer.
    Answers(Verdict),
    /// With a failure, when its work ends or without any work.
    Fails(Fall),
    /// Its stream falls silent after this much work; the provider works on to the end.
    FallsSilent(u64),
}

/// What an answer is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Verdict {
    /// What a validator sees.
    pub(super) answer: windtunnel_policy::outcome::Answer,
    /// Whether it really keeps its contract.
    pub(super) contract_ok: bool,
    /// Whether it does the job.
    pub(super) task_done: bool,
}

/// A failure to come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fall {
    pub(super) class: FailureClass,
    pub(super) status: u16,
    pub(super) phase: Phase,
    pub(super) retry_after: Option<Duration>,
    /// What is billed.
    pub(super) billing: Billing,
}

impl Fall {
    /// The failure of an attempt that used `usage`.
    pub(super) fn with(&self, usage: Usage) -> Failure {
        let Fall { class, status, phase, retry_after, .. } = *self;
        Failure { class, status, phase, retry_after, usage }
    }
}

impl Attempt {
    /// Stands where no attempt has been yet.
    pub(super) const VACANT: Attempt = Attempt {
        ends: 0,
        attempt: AttemptRef { request: RequestRef { slot: 0, generation: 0 }, number: 0 },
        generation: 0,
        id: 0,
        sent: Instant::ZERO,
        deadline: Instant::ZERO,
        target: TargetId(0),
        stage: Stage::Vacant,
        streamed: false,
        shows_headers: false,
        charged: false,
        unseen: false,
        plain: false,
        ask: Ask { input: 0, cached: 0, max_output: 0 },
        nth: 0,
        plan: Plan {
            end: 0,
            fate: Fate::FallsSilent(0),
            output: 0,
            tokens: 0,
            whole: false,
            pace: 0,
            headers: 0,
            chunk: 0,
            tool: 0,
        },
        key: Key::new(0, 0),
        silent_since: None,
    };

    /// The stage after this one, of an attempt in work or about to be.
    #[inline]
    pub(super) fn next_stage(&self) -> Stage {
        if self.plain {
            return match self.stage {
                Stage::Queued if self.shows_headers => Stage::ToHeaders,
                Stage::Queued | Stage::ToHeaders if self.streamed => Stage::ToOutput,
                _ => Stage::ToEnd,
            };
        }
        self.next_stage_of_any()
    }

    fn next_stage_of_any(&self) -> Stage {
        let before_output =
            matches!(self.plan.fate, Fate::Fails(Fall { phase: Phase::BeforeOutput, .. }));
        let silence = match self.plan.fate {
            Fate::FallsSilent(after) => Some(after),
            _ => None,
        };
        // A provider works on, and calls tools, behind a stream that has fallen silent.
        let tool = self.plan.tool;
        let calls_before = tool > 0 && silence.is_none_or(|after| tool <= after);
        let calls_after = tool > 0 && !calls_before;
        match self.stage {
            Stage::Queued if self.shows_headers => Stage::ToHeaders,
            Stage::Queued | Stage::ToHeaders if self.plan.chunk > 0 => Stage::ToChunk,
            Stage::Queued | Stage::ToHeaders | Stage::ToChunk
                if self.streamed && !before_output =>
            {
                Stage::ToOutput
            }
            Stage::Queued | Stage::ToHeaders | Stage::ToChunk | Stage::ToOutput if calls_before => {
                Stage::ToTool
            }
            Stage::ToOutput if silence.is_some() => Stage::ToSilence,
            Stage::ToTool if calls_before && silence.is_some() => Stage::ToSilence,
            Stage::ToSilence if calls_after => Stage::ToTool,
            _ => Stage::ToEnd,
        }
    }

    /// Work on it begins at this reading of the clock.
    #[inline]
    pub(super) fn begin(&mut self, reading: Work) {
        self.ends = reading + Work::from(self.plan.end);
        self.stage = self.next_stage();
    }

    /// Reading of the clock when work on it began.
    fn began(&self) -> Work {
        self.ends - Work::from(self.plan.end)
    }

    /// Reading of the clock at the end of this stage.
    #[inline]
    pub(super) fn due(&self) -> Work {
        match self.stage {
            Stage::ToEnd => self.ends,
            _ => self.began() + Work::from(self.milestone()),
        }
    }

    /// Work from its start to the end of this stage.
    #[inline]
    fn milestone(&self) -> u64 {
        match (self.stage, self.plan.fate) {
            (Stage::ToHeaders, _) => self.plan.headers,
            (Stage::ToChunk, _) => self.plan.chunk - 1,
            (Stage::ToOutput, _) => self.plan.output,
            (Stage::ToTool, _) => self.plan.tool,
            (Stage::ToSilence, Fate::FallsSilent(after)) => after,
            _ => self.plan.end,
        }
    }

    /// What it has used by `now`, by its target's clock.
    pub(super) fn used(&self, now: Instant, clock: &WorkClock) -> Usage {
        if self.stage.in_work() {
            self.used_after(clock.reading(now) - self.began())
        } else if self.silent_since.is_some() {
            self.used_in_all()
        } else {
            Usage::default()
        }
    }

    /// What it has used after `done` work since its start.
    #[inline]
    pub(super) fn used_after(&self, done: Work) -> Usage {
        self.used_up(self.plan.tokens_after(done))
    }

    /// What it has used when its work is done.
    #[inline]
    pub(super) fn used_in_all(&self) -> Usage {
        let end = self.plan.end.into();
        if self.plan.whole {
            debug_assert_eq!(self.plan.tokens_after(end), self.plan.tokens, "{self:?}");
            return self.used_up(self.plan.tokens);
        }
        self.used_after(end)
    }

    #[inline]
    fn used_up(&self, output: u32) -> Usage {
        Usage { input: self.ask.input, cached: self.ask.cached, output }
    }

    /// When its latest token came, reckoned at the present speed: the first µs at which it was
    /// there.
    pub(super) fn last_token(&self, now: Instant, clock: &WorkClock) -> Instant {
        let since = self.plan.since_last_token(clock.reading(now) - self.began());
        now.saturating_sub(whole_micros(since, clock.speed()))
    }

    /// What `billing` makes of `used`: the usage it is billed for.
    #[inline]
    pub(super) fn billed(&self, billing: Billing, used: Usage) -> Usage {
        match billing {
            Billing::Nothing => Usage::default(),
            Billing::Consumed => used,
            Billing::Full => self.used_up(self.plan.tokens),
        }
    }

    /// How far the response had come, as its caller sees it; headers that are not waited for count
    /// as there when work begins.
    pub(super) fn phase(&self) -> Phase {
        match self.stage {
            Stage::ToChunk | Stage::ToOutput => Phase::BeforeOutput,
            Stage::ToEnd if self.streamed => match self.plan.fate {
                Fate::Fails(Fall { phase: Phase::BeforeOutput, .. }) => Phase::BeforeOutput,
                _ => Phase::AfterOutput,
            },
            Stage::ToTool if self.streamed => Phase::AfterOutput,
            Stage::ToSilence => Phase::AfterOutput,
            Stage::Silent if self.silent_since.is_some() => Phase::AfterOutput,
            _ => Phase::BeforeHeaders,
        }
    }
}

impl Plan {
    /// Whether an attempt with this plan answers, and shows nothing between headers, output and end.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        matches!(self.fate, Fate::Answers(_)) && self.tool | self.chunk == 0
    }

    /// Output tokens made after `done` work.
    #[inline]
    pub(super) fn tokens_after(&self, done: Work) -> u32 {
        if done < Work::from(self.output) || self.tokens == 0 {
            return 0;
        }
        let since_first = done - Work::from(self.output);
        // Nearly always it fits 64 bits, and division by 128 bits is slow.
        let more = match u64::try_from(since_first) {
            Ok(since_first) => since_first.checked_div(self.pace).unwrap_or(u64::MAX),
            Err(_) => since_first
                .checked_div(Work::from(self.pace))
                .map_or(u64::MAX, |more| u64::try_from(more).unwrap_or(u64::MAX)),
        };
        u32::try_from(more).unwrap_or(u32::MAX).saturating_add(1).min(self.tokens)
    }

    /// Work done since the latest output token, after `done` work and at least one token.
    pub(super) fn since_last_token(&self, done: Work) -> Work {
        let later = u128::from(self.tokens_after(done).saturating_sub(1));
        done - Work::from(self.output) - later * Work::from(self.pace)
    }
}
