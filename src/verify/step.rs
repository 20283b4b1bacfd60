//! What can happen next: the alphabet of the walk.

use windtunnel_policy::config::{Policy, RecoveryAction};
use windtunnel_policy::event::{AttemptRef, Event, RequestRef};
use windtunnel_policy::facts::{Fact, OutcomeFact};
use windtunnel_policy::outcome::{Answer, Execution, Failure, FailureClass, Phase, Usage};
use windtunnel_policy::promises::{Broken, Life, Subject, Watched};
use windtunnel_policy::target::{ClassId, TargetId, TenantId};
use windtunnel_policy::{Duration, Instant};

/// One thing that happens to one of the open requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    /// Which of them, in the order they came.
    pub(super) nth: usize,
    pub(super) what: What,
    /// Whether it happens to the hedge that runs beside an attempt.
    pub(super) hedge: bool,
    pub(super) pace: Pace,
}

/// When it happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pace {
    /// Ten milliseconds after what came before, or with the timer if that is earlier.
    Soon,
    /// In the last microsecond before the timer.
    Late,
}

/// What happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    Headers,
    FirstChunk,
    FirstOutput,
    Progress,
    Ends(Answer),
    Fails {
        class: FailureClass,
        phase: Phase,
        hint: Option<Duration>,
    },
    NotSent,
    /// The record of its tool says this, where it is asked or looked up.
    Reconciled(Execution),
    Cancels,
    /// Nothing, until the request's timer, where none is earlier.
    Time,
    /// An operator takes a target out; `None` for all recovery.
    SwitchesOff(Option<TargetId>),
    /// A proxy tells of so many calls beyond the first.
    UsedBelow(u16),
    /// Another replica tells this of the class's first target.
    Learns(Told),
}

/// What another replica tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Told {
    Failure,
    Cooling,
    Isolated,
    FirstAttempt,
    Recovery,
}

impl What {
    /// Whether it happens to one attempt, and not to a request or to all.
    fn is_an_attempts(self) -> bool {
        let of_all = matches!(self, What::Time | What::SwitchesOff(_) | What::Learns(_));
        !of_all && !matches!(self, What::Cancels | What::Reconciled(_))
    }

    /// Whether nothing depends on how long before the timer it comes.
    fn comes_soon_only(self) -> bool {
        matches!(self, What::Time | What::SwitchesOff(_) | What::Learns(_) | What::UsedBelow(_))
    }
}

impl Told {
    /// As it is told now of this target, by a request of this class.
    fn of(self, class: ClassId, target: TargetId, now: Instant) -> Fact {
        let (tenant, until) = (TenantId::FIRST, now + HINTS[0]);
        match self {
            Told::Failure => Fact::Outcome(OutcomeFact {
                target,
                class,
                tenant,
                failed: true,
                for_breakers: true,
                probe: false,
                recovery: false,
                sent: now,
                elapsed: Duration::ZERO,
                draw: 0,
            }),
            Told::Cooling => Fact::Cooling { target, until },
            Told::Isolated => Fact::Isolated { target, account: true, until },
            Told::FirstAttempt => Fact::FirstAttempt { target, tenant },
            Told::Recovery => {
                let action = RecoveryAction::Retry;
                Fact::Recovery { action, failing: target, destination: target, tenant, over: false }
            }
        }
    }
}

const SOON: Duration = Duration::from_millis(10);
/// Wait hints: one that fits most deadlines, and one that fits none.
const HINTS: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(3_600)];

/// Classes that come with a wait hint.
const HINTED: [FailureClass; 4] = [
    FailureClass::RateLimited,
    FailureClass::QuotaExhausted,
    FailureClass::Overloaded,
    FailureClass::ServerError,
];

/// What a record can say. That a call is planned means what a started one does: not yet.
const RECORDS: [Execution; 5] = [
    Execution::NotCalled,
    Execution::Started,
    Execution::Succeeded,
    Execution::Failed,
    Execution::Unknown,
];

const PHASES: [Phase; 3] = [Phase::BeforeHeaders, Phase::BeforeOutput, Phase::AfterOutput];

/// Everything that can happen to one request: every class that can be reported, in every phase; and what
/// other replicas tell, where the policy has them tell.
pub(super) fn everything(policy: &Policy) -> Vec<What> {
    let mut all = endings(policy);
    all.extend([What::Headers, What::Progress, What::Ends(Answer::Refusal)]);
    for class in FailureClass::ALL.into_iter().filter(|class| reported(*class)) {
        all.extend(PHASES.map(|phase| What::Fails { class, phase, hint: None }));
        if HINTED.contains(&class) {
            let phase = Phase::BeforeHeaders;
            all.extend(HINTS.map(|hint| What::Fails { class, phase, hint: Some(hint) }));
        }
    }
    all
}

/// Of all that can happen, one class for each row of the matrix: what the classes of one row lead
/// to differs in their name alone, and the walk over everything has seen each. And an operator.
pub(super) fn one_of_each_kind(policy: &Policy, targets: &[TargetId]) -> Vec<What> {
    let mut all = endings(policy);
    all.push(What::SwitchesOff(None));
    all.extend(targets.iter().map(|target| What::SwitchesOff(Some(*target))));
    let mut rows = Vec::new();
    for class in FailureClass::ALL.into_iter().filter(|class| reported(*class)) {
        let kind = (policy.matrix.row(class), ambiguous(class));
        if rows.contains(&kind) {
            continue;
        }
        rows.push(kind);
        let hint = HINTED.contains(&class).then_some(HINTS[0]);
        all.push(What::Fails { class, phase: Phase::BeforeHeaders, hint });
    }
    all
}

fn endings(policy: &Policy) -> Vec<What> {
    let mut all = vec![
        What::Time,
        What::Cancels,
        What::NotSent,
        What::FirstOutput,
        What::Ends(Answer::Valid),
        What::Ends(Answer::Invalid),
    ];
    all.extend(RECORDS.map(What::Reconciled));
    if policy.heeds_first_chunk() {
        all.push(What::FirstChunk);
    }
    if policy.replicas.shares() {
        let told =
            [Told::Failure, Told::Cooling, Told::Isolated, Told::FirstAttempt, Told::Recovery];
        all.extend(told.map(What::Learns));
    }
    all
}

/// Whether an embedder can report it: the other two are the router's own.
fn reported(class: FailureClass) -> bool {
    !matches!(class, FailureClass::DeadlineExhausted | FailureClass::NoEligibleTarget)
}

fn ambiguous(class: FailureClass) -> bool {
    matches!(
        class,
        FailureClass::Transport
            | FailureClass::Timeout
            | FailureClass::PartialStream
            | FailureClass::SideEffectUnknown
            | FailureClass::CallerCancelled
            | FailureClass::Refusal
    )
}

/// A step that can happen now, as events.
#[derive(Clone, Copy, Debug)]
pub(super) enum Happens {
    /// The timer of a request fires, which is the earliest, or one of those.
    Timer(RequestRef),
    /// This, after a milestone of the response.
    Event { now: Instant, first: Option<Event>, event: Event },
}

impl Happens {
    pub(super) fn to<S: Subject>(self, watched: &mut Watched<S>) -> Result<(), Broken> {
        match self {
            Happens::Timer(request) => watched.fire_timer(request).map(drop),
            Happens::Event { now, first, event } => {
                first.map_or(Ok(()), |first| watched.feed(now, first))?;
                watched.feed(now, event)
            }
        }
    }
}

impl Step {
    /// What the step means now; `None` where it cannot happen.
    pub(super) fn meaning<S: Subject>(self, watched: &Watched<S>) -> Option<Happens> {
        let (request, life) = watched.lives.iter().nth(self.nth)?;
        let now = self.time(watched)?;
        let plain = |event| Some(Happens::Event { now, first: None, event });
        match self.what {
            what if self.hedge => happening(what, life, life.hedge?, life.hedge_phase, now),
            // Of timers due at one instant any may fire first.
            What::Time => {
                let due = life.timer.is_some_and(|(at, _)| Some(at) == watched.next_timer());
                due.then_some(Happens::Timer(*request))
            }
            // Operators and other replicas are the same for all requests.
            What::SwitchesOff(target) if self.nth == 0 => {
                plain(Event::KillSwitch { target, off: true })
            }
            What::Learns(told) if self.nth == 0 => {
                let class = life.request.class;
                let groups = &watched.subject.topology().classes[usize::from(class.0)].groups;
                plain(Event::Learnt(told.of(class, groups[0].targets[0], now)))
            }
            What::SwitchesOff(_) | What::Learns(_) => None,
            What::UsedBelow(calls) => plain(Event::UsedBelow { attempt: life.flying?, calls }),
            What::Cancels => plain(Event::Cancelled(*request)),
            What::Reconciled(record) if life.looks_up => {
                plain(Event::LookedUp { request: *request, record })
            }
            What::Reconciled(record) => {
                let attempt = AttemptRef { request: *request, number: life.attempts };
                life.asked.then_some(plain(Event::Reconciled { attempt, record }))?
            }
            what => happening(what, life, life.flying?, life.phase, now),
        }
    }

    fn time<S: Subject>(self, watched: &Watched<S>) -> Option<Instant> {
        let (soon, timer) = (watched.now + SOON, watched.next_timer());
        match (self.pace, timer) {
            (Pace::Soon, _) => Some(soon.min(timer.unwrap_or(soon))),
            (Pace::Late, _) if self.what.comes_soon_only() => None,
            (Pace::Late, Some(timer)) if timer > soon => {
                Some(timer.saturating_sub(Duration::from_micros(1)))
            }
            (Pace::Late, _) => None,
        }
    }
}

/// What happens to an attempt in flight whose response has come so far; `None` where it cannot.
fn happening(
    what: What,
    life: &Life,
    attempt: AttemptRef,
    come: Phase,
    now: Instant,
) -> Option<Happens> {
    let seen_as_it_comes = life.request.streamed;
    let mut first = None;
    let event = match what {
        What::Headers if come == Phase::BeforeHeaders => Event::Headers(attempt),
        What::FirstChunk if seen_as_it_comes && come != Phase::AfterOutput => {
            Event::FirstChunk(attempt)
        }
        What::FirstOutput if seen_as_it_comes && come != Phase::AfterOutput => {
            Event::FirstOutput(attempt)
        }
        What::Progress if come == Phase::AfterOutput => Event::Progress { attempt, at: now },
        What::NotSent if come == Phase::BeforeHeaders => Event::NotSent(attempt),
        What::Ends(answer) => {
            Event::Ended { attempt, usage: billed(life, Phase::AfterOutput), answer }
        }
        What::Fails { phase: Phase::AfterOutput, .. } if !seen_as_it_comes => return None,
        What::Fails { class, phase, hint } if phase >= come => {
            first = (phase > come).then_some(match phase {
                Phase::AfterOutput => Event::FirstOutput(attempt),
                _ => Event::Headers(attempt),
            });
            let usage = billed(life, phase);
            let failure = Failure { class, status: 0, phase, retry_after: hint, usage };
            Event::Failed { attempt, failure }
        }
        _ => return None,
    };
    Some(Happens::Event { now, first, event })
}

/// Nothing before headers, the prompt until there is output, then all the caller allowed.
fn billed(life: &Life, phase: Phase) -> Usage {
    let (input, output) = (life.request.input_tokens, life.request.max_output_tokens);
    match phase {
        Phase::BeforeHeaders => Usage::default(),
        Phase::BeforeOutput => Usage { input, ..Usage::default() },
        Phase::AfterOutput => Usage { input, cached: 0, output },
    }
}

/// Everything that may come next in a state of so many requests, to attempts and, where the policy
/// hedges, to hedges.
pub(super) fn steps(alphabet: &[What], requests: usize, late: bool, hedges: bool) -> Vec<Step> {
    let paces: &[Pace] = if late { &[Pace::Soon, Pace::Late] } else { &[Pace::Soon] };
    let mut steps = Vec::new();
    for pace in paces.iter().copied() {
        for nth in 0..requests {
            for hedge in [false, true].into_iter().filter(|hedge| hedges || !hedge) {
                let happens = alphabet.iter().filter(|what| !hedge || what.is_an_attempts());
                steps.extend(happens.map(|what| Step { nth, what: *what, hedge, pace }));
            }
        }
    }
    steps
}

/// The handles of open requests.
pub(super) fn open<S>(watched: &Watched<S>) -> Vec<RequestRef> {
    watched.lives.keys().copied().collect()
}
