//! How attempts leave the fleet: their work ends, they fail, or an incident cuts them.

use windtunnel_policy::Instant;
use windtunnel_policy::outcome::{FailureClass, Phase, Usage};

use super::attempt::{Attempt, Fall, Fate, Stage};
use super::limit::Limit;
use super::site::Site;
use super::slab::FleetRef;
use super::{Fleet, Notice, NoticeKind};
use crate::draw::Purpose;
use crate::scenario::TargetModel;
use crate::weather::Edge;

impl Fleet {
    /// Work on an attempt has come to its end.
    #[inline]
    pub(super) fn end(&mut self, now: Instant, handle: FleetRef) -> Option<Notice> {
        let Fleet { sites, limits, attempts, caches, .. } = self;
        let attempt = attempts.live(handle);
        let site = &mut sites[usize::from(attempt.target.0)];
        let usage = attempt.used_in_all();
        if usage.output > 0 {
            caches.keep(now, attempt.target, handle);
        }
        let notice = match attempt.plan.fate {
            Fate::Answers(verdict) => {
                attempt.notice(NoticeKind::ended(usage, verdict, &site.model.price))
            }
            Fate::Fails(fall) => return self.fail_with(now, handle, &fall),
            Fate::FallsSilent(_) if attempt.unseen => None,
            Fate::FallsSilent(_) => {
                release(now, attempt, site, limits, usage);
                attempt.charged = false;
                attempt.stage = Stage::Silent;
                return None;
            }
        };
        release(now, attempt, site, limits, usage);
        attempts.remove(handle);
        notice
    }

    /// An attempt that no work was done on fails as planned, unless it was given up.
    #[inline]
    pub(super) fn fail(&mut self, now: Instant, handle: FleetRef) -> Option<Notice> {
        let attempt = self.attempts.get(handle)?;
        let Fate::Fails(ref fall) = attempt.plan.fate else {
            panic!("an attempt that is to fail has a failure planned: {attempt:?}")
        };
        let site = &self.sites[usize::from(attempt.target.0)];
        let used = Usage::default();
        let failure = fall.with(attempt.billed(fall.billing, used));
        let kind = NoticeKind::failed(failure, &site.model.price);
        let notice = attempt.notice(kind);
        if attempt.charged {
            settle(now, attempt, &site.model, &mut self.limits, used);
        }
        self.attempts.remove(handle);
        notice
    }

    #[inline(never)]
    fn fail_with(&mut self, now: Instant, handle: FleetRef, fall: &Fall) -> Option<Notice> {
        let attempt = self.attempts.live(handle);
        let site = &self.sites[usize::from(attempt.target.0)];
        let used = attempt.used(now, &site.clock);
        let failure = fall.with(attempt.billed(fall.billing, used));
        let kind = NoticeKind::failed(failure, &site.model.price);
        let notice = attempt.notice(kind);
        self.close(now, handle, used);
        notice
    }

    /// Cuts attempts in flight at the target of `edge`, in the order of their requests.
    pub(super) fn cut(&mut self, now: Instant, edge: &Edge, notices: &mut Vec<Notice>) {
        let site = &self.sites[usize::from(edge.target)];
        let model = &site.model;
        let (failed, cancelled) = (model.bill_failed, model.bill_cancelled);
        let subject = model.hash.part(edge.at.as_micros());
        let is_cut = |attempt: &Attempt| {
            attempt.target == site.id
                && edge.cut.hits(attempt.key.draw(Purpose::CutInFlight, subject, attempt.nth))
        };
        let mut cut = std::mem::take(&mut self.in_flight);
        cut.clear();
        cut.extend(self.attempts.iter().filter(|(_, a)| is_cut(a)).map(|(handle, _)| handle));
        cut.sort_unstable_by_key(|&handle| {
            let attempt = self.attempts.live(handle);
            (attempt.id, attempt.attempt.number)
        });
        for &handle in &cut {
            let attempt = self.attempts.live(handle);
            let phase = attempt.phase();
            let begun = phase == Phase::AfterOutput;
            let fall = Fall {
                class: if begun { FailureClass::PartialStream } else { FailureClass::Transport },
                phase,
                billing: match (attempt.stage, attempt.plan.fate) {
                    // Already on its way to a failure, which may cost nothing.
                    (Stage::Failing, Fate::Fails(fall)) => fall.billing,
                    _ if begun => cancelled,
                    _ => failed,
                },
                ..Fall::at_the_door(FailureClass::Transport, 0)
            };
            notices.extend(self.fail_with(now, handle, &fall));
        }
        self.in_flight = cut;
    }

    /// Takes an attempt that used `used` out of the fleet: its slot or place in the queue comes
    /// back and its limits are settled. The caller then has [`Site::changed`] do the rest.
    pub(super) fn close(&mut self, now: Instant, handle: FleetRef, used: Usage) {
        let attempt = self.attempts.live(handle);
        let site = &mut self.sites[usize::from(attempt.target.0)];
        release(now, attempt, site, &mut self.limits, used);
        self.attempts.remove(handle);
    }
}

/// Gives back what an attempt that used `used` holds: its slot or place in the queue, and what its limits
/// charged too much.
#[inline(always)]
fn release(now: Instant, attempt: &Attempt, site: &mut Site, limits: &mut [Limit], used: Usage) {
    if attempt.charged {
        settle(now, attempt, &site.model, limits, used);
    }
    match attempt.stage {
        Stage::Queued => site.queued -= 1,
        stage if stage.in_work() => site.leave(),
        _ => {}
    }
}

/// Settles the limits an attempt was charged.
#[inline(always)]
fn settle(
    now: Instant,
    attempt: &Attempt,
    target: &TargetModel,
    limits: &mut [Limit],
    used: Usage,
) {
    for &limit in &target.limits {
        limits[usize::from(limit)].settle(now, attempt.sent, attempt.ask, used);
    }
}
