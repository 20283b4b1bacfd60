//! Runs a script, and writes it again with the actions the router gave.
//!
//! A script has three parts, divided by `---` lines: what it shows (prose) and the policy (YAML);
//! targets and the route class; events with the actions they lead to (lines that start with `>`).
//! Timers fire by themselves: all that are due before an event come before it, and those due at
//! the same time after it.

mod setting;
mod wording;

use std::collections::{BTreeMap, BTreeSet};

use windtunnel_policy::event::{Action, AttemptRef, Event, Left, Request, RequestRef, Tries};
use windtunnel_policy::outcome::{Answer, Execution, Failure, FailureClass, Phase, Usage};
use windtunnel_policy::target::{ClassId, TenantId, Topology};
use windtunnel_policy::text::parse_duration;
use windtunnel_policy::{Duration, Instant, Router};

use self::setting::value;
use self::wording::Names;

/// The script with the actions the router gives.
pub(crate) fn run(script: &str) -> Result<String, String> {
    let parts: Vec<&str> = script.split("\n---\n").collect();
    let [policy, setting, events] = parts[..] else {
        return Err("a script has three parts with `---` lines between".into());
    };
    let policy = setting::policy(policy)?;
    let topology = setting::topology(setting)?;
    let mut stage = Stage::new(Router::new(policy, topology).map_err(|p| format!("{p:?}"))?);
    for line in events.lines().filter(|line| !line.starts_with("  ")) {
        stage.play(line).map_err(|e| format!("`{line}`: {e}"))?;
    }
    Ok(format!("{}\n---\n{}\n---\n{}", parts[0], parts[1], stage.out))
}

/// The lines in which two texts differ.
pub(crate) fn difference(stated: &str, given: &str) -> String {
    let mut out = String::new();
    let (mut a, mut b) = (stated.lines(), given.lines());
    let mut n = 0;
    loop {
        n += 1;
        match (a.next(), b.next()) {
            (None, None) => return out,
            (stated, given) if stated == given => {}
            (stated, given) => {
                out += &format!("  line {n}\n    stated: {stated:?}\n    given:  {given:?}\n");
            }
        }
    }
}

/// A router on stage: who is who, and the timers it set.
struct Stage {
    router: Router,
    names: Names,
    requests: BTreeMap<String, u64>,
    refs: BTreeMap<u64, RequestRef>,
    sent: BTreeSet<AttemptRef>,
    timers: BTreeMap<RequestRef, (Instant, u32)>,
    out: String,
}

impl Stage {
    fn new(router: Router) -> Stage {
        let names = Names::new(&router);
        Stage {
            router,
            names,
            requests: BTreeMap::new(),
            refs: BTreeMap::new(),
            sent: BTreeSet::new(),
            timers: BTreeMap::new(),
            out: String::new(),
        }
    }

    fn play(&mut self, line: &str) -> Result<(), String> {
        let Some((at, what)) = line.split_once(' ').filter(|_| !line.starts_with('#')) else {
            self.out += line;
            self.out += "\n";
            return Ok(());
        };
        let now = Instant::ZERO + parse_duration(at)?;
        self.fire_timers(|due| due < now);
        self.out += line;
        self.out += "\n";
        let words: Vec<&str> = what.split_whitespace().collect();
        if words != ["wait"] {
            let event = self.event(&words, now)?;
            self.handle(now, event);
        }
        self.fire_timers(|due| due <= now);
        Ok(())
    }

    fn fire_timers(&mut self, is_due: impl Fn(Instant) -> bool) {
        let earliest = |timers: &BTreeMap<RequestRef, (Instant, u32)>| {
            timers.iter().map(|(r, (at, epoch))| (*at, *r, *epoch)).min()
        };
        while let Some((at, request, epoch)) = earliest(&self.timers).filter(|t| is_due(t.0)) {
            self.timers.remove(&request);
            self.out += &format!("  {} timer\n", at - Instant::ZERO);
            self.handle(at, Event::Timer { request, epoch });
        }
    }

    fn handle(&mut self, now: Instant, event: Event) {
        let mut actions = Vec::new();
        self.router.handle(now, event, &mut actions);
        assert!(actions.len() <= self.router.max_actions_per_event(), "{actions:?}");
        for action in &actions {
            match *action {
                Action::Send(send) => {
                    self.sent.insert(send.attempt);
                }
                Action::SetTimer { request, at, epoch } => {
                    self.timers.insert(request, (at, epoch));
                }
                Action::Finish { request, .. } => {
                    self.timers.remove(&request);
                }
                _ => {}
            }
            if let (Event::Arrived(request), Some(handle)) = (event, action.request()) {
                self.refs.insert(request.id, handle);
                self.names.meet(handle, request.id);
            }
            self.out += &format!("  > {}\n", self.names.describe(action));
        }
    }

    fn event(&mut self, words: &[&str], now: Instant) -> Result<Event, String> {
        let topology = self.router.topology().clone();
        match words {
            ["arrives", name, facts @ ..] => self.arrival(name, facts),
            ["cancel", name] => Ok(Event::Cancelled(self.request(name)?)),
            ["kill", name] => kill(&topology, name, true),
            ["revive", name] => kill(&topology, name, false),
            ["judged", name, verdict] => Ok(Event::TaskJudged {
                target: setting::target_id(&topology, name)?,
                done: *verdict == "done",
            }),
            ["recovery", "off"] => Ok(Event::KillSwitch { target: None, off: true }),
            ["recovery", "on"] => Ok(Event::KillSwitch { target: None, off: false }),
            ["timer", name, "epoch", epoch] => Ok(Event::Timer {
                request: self.request(name)?,
                epoch: epoch.parse().map_err(|_| "an epoch is a number")?,
            }),
            [name, "headers"] => Ok(Event::Headers(self.attempt(name)?)),
            [name, "first", "chunk"] => Ok(Event::FirstChunk(self.attempt(name)?)),
            [name, "first", "output"] => Ok(Event::FirstOutput(self.attempt(name)?)),
            [name, "progress"] => Ok(Event::Progress { attempt: self.attempt(name)?, at: now }),
            ["record", "of", name, state] => {
                Ok(Event::LookedUp { request: self.request(name)?, record: record(state)? })
            }
            [name, "record", state] => {
                let attempt = self.attempt(name)?;
                Ok(Event::Reconciled { attempt, record: record(state)? })
            }
            [name, "used", calls, "below"] => Ok(Event::UsedBelow {
                attempt: self.attempt(name)?,
                calls: calls.parse().map_err(|_| "calls are a number")?,
            }),
            [name, "not", "sent"] => Ok(Event::NotSent(self.attempt(name)?)),
            [name, "ends", facts @ ..] => {
                let answer = match facts.first() {
                    Some(&"refusal") => Answer::Refusal,
                    Some(&"invalid") => Answer::Invalid,
                    _ => Answer::Valid,
                };
                Ok(Event::Ended { attempt: self.attempt(name)?, usage: usage(facts)?, answer })
            }
            [name, "fails", class, facts @ ..] => {
                Ok(Event::Failed { attempt: self.attempt(name)?, failure: failure(class, facts)? })
            }
            _ => Err("not an event".into()),
        }
    }

    fn arrival(&mut self, name: &str, facts: &[&str]) -> Result<Event, String> {
        let id = self.requests.len() as u64 + 1;
        self.requests.insert(name.into(), id);
        self.names.call(id, name);
        let number = |key, default| match value(facts, key) {
            None => Ok(default),
            Some(text) => text.parse::<u64>().map_err(|_| format!("{key} is a number")),
        };
        Ok(Event::Arrived(Request {
            id,
            salt: number("salt", id)?,
            class: self.class(value(facts, "class"))?,
            input_tokens: number("input", 1_000)? as u32,
            max_output_tokens: number("output", 500)? as u32,
            streamed: facts.contains(&"streamed"),
            session: number("session", id)?,
            tenant: TenantId(number("tenant", 0)? as u16),
            action: number("action", id)?,
            tries: Tries { sdk: number("sdk", 1)? as u8, ..Tries::FIRST },
            left: Left {
                attempts: number("attempts_left", u16::MAX.into())? as u16,
                total: value(facts, "time_left").map_or(Ok(Duration::MAX), parse_duration)?,
                ..Left::ALL
            },
        }))
    }

    /// The class of this name, or the first.
    fn class(&self, name: Option<&str>) -> Result<ClassId, String> {
        let Some(name) = name else { return Ok(ClassId(0)) };
        let place = self.router.topology().classes.iter().position(|class| class.name == name);
        place.map(|i| ClassId(i as u16)).ok_or_else(|| format!("no class `{name}`"))
    }

    fn request(&self, name: &str) -> Result<RequestRef, String> {
        let id = self.requests.get(name).ok_or_else(|| format!("no request `{name}`"))?;
        self.refs.get(id).copied().ok_or_else(|| format!("`{name}` has no handle"))
    }

    fn attempt(&self, name: &str) -> Result<AttemptRef, String> {
        let (request, number) = name.split_once('.').ok_or("an attempt is `request.number`")?;
        let number = number.parse().map_err(|_| "an attempt's number is a number")?;
        let attempt = AttemptRef { request: self.request(request)?, number };
        // Otherwise a script could state that nothing follows from what never was.
        if self.sent.contains(&attempt) { Ok(attempt) } else { Err("was never sent".into()) }
    }
}

fn kill(topology: &Topology, name: &str, off: bool) -> Result<Event, String> {
    let target = Some(setting::target_id(topology, name)?);
    Ok(Event::KillSwitch { target, off })
}

fn record(state: &str) -> Result<Execution, String> {
    use Execution::{Failed, NotCalled, Planned, Started, Succeeded, Unknown};
    [NotCalled, Planned, Started, Succeeded, Failed, Unknown]
        .into_iter()
        .find(|record| record.name() == state)
        .ok_or_else(|| format!("no record says `{state}`"))
}

fn usage(facts: &[&str]) -> Result<Usage, String> {
    let number = |key| value(facts, key).map_or(Ok(0), str::parse).map_err(|_| "tokens");
    Ok(Usage { input: number("in")?, cached: number("cached")?, output: number("out")? })
}

fn failure(class: &str, facts: &[&str]) -> Result<Failure, String> {
    let class = FailureClass::ALL
        .into_iter()
        .find(|c| c.name() == class)
        .ok_or_else(|| format!("no failure class `{class}`"))?;
    let phase = [Phase::BeforeHeaders, Phase::BeforeOutput, Phase::AfterOutput]
        .into_iter()
        .find(|p| facts.contains(&p.name()))
        .unwrap_or(Phase::BeforeHeaders);
    let retry_after: Option<Duration> =
        value(facts, "retry_after").map(parse_duration).transpose()?;
    let status = facts.iter().find_map(|f| f.parse().ok()).unwrap_or(0);
    Ok(Failure { class, status, phase, retry_after, usage: usage(facts)? })
}
