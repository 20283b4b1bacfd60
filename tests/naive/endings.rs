//! How attempts of the naive simulator come on, and how they leave their provider.

use windtunnel::draw::Purpose;
use windtunnel::scenario::{AbortRule, Billing};
use windtunnel::world::Marks;
use windtunnel_policy::outcome::{FailureClass, Phase, Usage};
use windtunnel_policy::{Duration, Instant};

use super::fate::{Fall, Fate};
use super::simulator::{Id, Milestone, Naive, Place, Sent, What};

impl Naive<'_> {
    /// An attempt in work comes to its next milestone.
    pub(crate) fn reaches(&mut self, id: Id) {
        let now = self.now;
        let target = self.sent[&id].target;
        let speed = u128::from(self.speed(target, self.in_work(target)));
        let sent = self.at(id);
        let (_, milestone) = sent.ahead.remove(0);
        let seen = !sent.unseen;
        match milestone {
            Milestone::Headers | Milestone::Chunk => sent.phase = Phase::BeforeOutput,
            Milestone::Output => sent.phase = Phase::AfterOutput,
            Milestone::Silence => sent.silent_since = Some(last_token(sent, now, speed)),
            Milestone::End => {
                let (plan, input) = (sent.plan, sent.request.input);
                let usage = Usage { input, cached: 0, output: plan.tokens_after(plan.end) };
                if matches!(plan.fate, Fate::Silence(_)) && seen {
                    self.settle(id, usage);
                    self.at(id).place = Place::NoWork;
                    return self.admit(target);
                }
                let usage = match plan.fate {
                    Fate::Failure(_) => self.falls(id),
                    _ => {
                        self.settle(id, usage);
                        self.sent.remove(&id);
                        usage
                    }
                };
                self.admit(target);
                if seen {
                    self.sees_end(id, plan.fate, usage);
                }
                return;
            }
        }
        if seen {
            self.sees(id, milestone);
        }
    }

    /// An attempt is over by its own failure; tells what is billed for it.
    pub(crate) fn falls(&mut self, id: Id) -> Usage {
        let (used, sent) = (self.used(id), &self.sent[&id]);
        let Fate::Failure(fall) = sent.plan.fate else { panic!("it has a failure to come to") };
        let billed = sent.plan.bill(fall.billing, used, sent.request.input);
        self.settle(id, used);
        self.sent.remove(&id);
        billed
    }

    /// The gateway gives an attempt up; tells what is billed for it.
    pub(crate) fn give_up(&mut self, id: Id) -> Usage {
        let (used, sent) = (self.used(id), &self.sent[&id]);
        let (target, model) = (sent.target, &self.scenario.targets[sent.target]);
        let streamed = sent.request.marks.has(Marks::STREAMED);
        let rule = if streamed { model.abort.streamed } else { model.abort.whole };
        let (plan, input) = (sent.plan, sent.request.input);
        if rule == AbortRule::RunsOn && sent.place != Place::NoWork {
            let all = Usage { input, cached: 0, output: plan.tokens_after(plan.end) };
            self.at(id).unseen = true;
            return plan.bill(model.bill_cancelled, all, input);
        }
        // Where no work began, there is nothing to bill.
        let began = sent.place == Place::Works || sent.silent_since.is_some();
        let billing = if began { model.bill_cancelled } else { Billing::Nothing };
        self.settle(id, used);
        self.sent.remove(&id);
        self.agenda.retain(|(_, what)| *what != What::Fails(id));
        self.admit(target);
        plan.bill(billing, used, input)
    }

    pub(crate) fn used(&self, id: Id) -> Usage {
        let Sent { place, silent_since, plan, done, request, .. } = &self.sent[&id];
        let done = match place {
            Place::Works => *done,
            _ if silent_since.is_some() => plan.end,
            _ => return Usage::default(),
        };
        Usage { input: request.input, cached: 0, output: plan.tokens_after(done) }
    }

    /// Limits get back what they were charged too much.
    pub(crate) fn settle(&mut self, id: Id, used: Usage) {
        let sent = &self.sent[&id];
        let model = &self.scenario.targets[sent.target];
        let asked = (sent.request.input, sent.request.max_output.min(model.max_output_tokens));
        if sent.charged {
            for &limit in &model.limits {
                self.limits[usize::from(limit)].settle(self.now, sent.at, asked, used);
            }
        }
        self.at(id).charged = false;
    }

    /// All targets' weather changes at this instant, and then the gateway hears of what is cut.
    pub(crate) fn weather_turns(&mut self) {
        let (now, world) = (self.now, self.world);
        self.agenda.retain(|(key, what)| key.0 != now || *what != What::Turns);
        let mut heard = Vec::new();
        for edge in world.weather.edges.iter().filter(|edge| edge.at == now) {
            let target = usize::from(edge.target);
            let model = &self.scenario.targets[target];
            let subject = model.hash.part(now.as_micros());
            let cut: Vec<Id> = (self.sent.iter())
                .filter(|(_, s)| s.target == target)
                .filter(|(_, s)| {
                    edge.cut.hits(s.request.key.draw(Purpose::CutInFlight, subject, s.nth))
                })
                .map(|(id, _)| *id)
                .collect();
            for id in cut {
                let sent = self.at(id);
                let begun = sent.phase == Phase::AfterOutput;
                let turned_away = matches!(sent.plan.fate,
                    Fate::Failure(f) if sent.place == Place::NoWork && f.billing == Billing::Nothing);
                sent.plan.fate = Fate::Failure(Fall {
                    class: if begun {
                        FailureClass::PartialStream
                    } else {
                        FailureClass::Transport
                    },
                    status: 0,
                    phase: sent.phase,
                    retry_after: None,
                    billing: match begun {
                        _ if turned_away => Billing::Nothing,
                        true => model.bill_cancelled,
                        false => model.bill_failed,
                    },
                });
                let (fate, seen) = (sent.plan.fate, !sent.unseen);
                let usage = self.falls(id);
                self.agenda.retain(|(_, what)| *what != What::Fails(id));
                if seen {
                    heard.push((id, fate, usage));
                }
            }
            self.skies[target] = &world.weather.conditions[edge.conditions as usize];
            self.limits.iter_mut().for_each(|limit| limit.on_weather(now, &self.skies));
            self.admit(target);
        }
        for (id, fate, usage) in heard {
            self.sees_end(id, fate, usage);
        }
    }

    /// When output of an attempt was last seen, reckoned at the present speed.
    pub(crate) fn last_output(&self, sent: &Sent) -> Option<Instant> {
        if sent.silent_since.is_some() || sent.phase != Phase::AfterOutput {
            return sent.silent_since;
        }
        let speed = self.speed(sent.target, self.in_work(sent.target));
        Some(last_token(sent, self.now, speed.into()))
    }
}

/// The first µs at which the latest token was there, at this speed.
fn last_token(sent: &Sent, now: Instant, speed: u128) -> Instant {
    let tokens = u128::from(sent.plan.tokens_after(sent.done).max(1) - 1);
    let since = sent.done - (sent.plan.output + tokens * sent.plan.pace);
    now.saturating_sub(Duration::from_micros((since / speed) as u64))
}
