//! Where walks begin: one request of each kind, two at once, and breakers that took long to open.

use windtunnel_policy::config::{Blame, Breaker, KeyPart};
use windtunnel_policy::event::{Action, BreakerState, Event, Left, Request, Tries};
use windtunnel_policy::outcome::{Failure, FailureClass, Phase, Usage};
use windtunnel_policy::promises::{Broken, Subject, Watched};
use windtunnel_policy::target::{ClassId, RouteClass, SideEffects, TenantId, Topology};
use windtunnel_policy::{Duration, Instant};

use super::step::{What, everything, one_of_each_kind};

/// One start: what is so before the first step.
pub(super) struct Start<S> {
    /// In words.
    pub(super) name: String,
    pub(super) watched: Watched<S>,
    pub(super) alphabet: Vec<What>,
    /// Whether steps come at the last moment, too.
    pub(super) late: bool,
    /// Steps fewer than asked for: what several requests can do grows with their number in the exponent.
    pub(super) shorter: u32,
    pub(super) requests: usize,
}

/// Output no longer than this, and prompts of twice that.
const OUTPUT: u32 = 500;
const PAUSE: Duration = Duration::from_millis(50);
/// A breaker that so many failures do not open, opens by something else.
const MOST_FAILURES: u64 = 2_000;

/// All starts, the plainest first.
///
/// # Errors
/// A promise was broken before the first step.
pub(super) fn starts<S: Subject>(subject: &S) -> Begun<S, Vec<Start<S>>> {
    let mut starts = Vec::new();
    let fresh = Watched::new(subject.clone()).keeping_trail();
    let policy = subject.policy();
    let topology = subject.topology();
    for (id, class) in topology.classes.iter().enumerate() {
        let class_id = ClassId(id as u16);
        let asks = Asks { class: class_id, tries: Tries::FIRST, left: Left::ALL };
        let single = |name: &str, streamed: bool, input: u32| -> Begun<S, Start<S>> {
            let watched = asks.arrive(fresh.clone(), streamed, input)?;
            let (name, alphabet) = (format!("{}: {name}", class.name), everything(policy));
            Ok(Start { name, watched, alphabet, late: true, shorter: 0, requests: 1 })
        };
        starts.push(single("a streamed request", true, 2 * OUTPUT)?);
        starts.push(single("a whole answer", false, 2 * OUTPUT)?);
        if let Some(long) = beyond_some(topology, class) {
            starts.push(single("a prompt too long for some", true, long)?);
        }
        if class.side_effects == SideEffects::WritePossible && policy.side_effects.look_up {
            let again = Asks { tries: Tries { sdk: 2, ..Tries::FIRST }, ..asks };
            let watched = again.arrive(fresh.clone(), false, 2 * OUTPUT)?;
            let name = format!("{}: an action that comes again", class.name);
            let alphabet = everything(policy);
            starts.push(Start { name, watched, alphabet, late: true, shorter: 0, requests: 1 });
        }
        let frugal = Asks { left: LITTLE, ..asks };
        let watched = frugal.arrive(fresh.clone(), true, 2 * OUTPUT)?;
        let name = format!("{}: little left of its budget", class.name);
        let mut alphabet = everything(policy);
        alphabet.extend([1, 2].map(What::UsedBelow));
        starts.push(Start { name, watched, alphabet, late: true, shorter: 1, requests: 1 });
        let kinds = one_of_each_kind(policy, &class.groups[0].targets);
        let several = |name: &str, watched: Watched<S>| {
            let requests = watched.lives.len();
            let (name, alphabet) = (format!("{}: {name}", class.name), kinds.clone());
            let shorter = if requests > 2 { 3 } else { 2 };
            Start { name, watched, alphabet, late: false, shorter, requests }
        };
        let one = asks.arrive(fresh.clone(), true, 2 * OUTPUT)?;
        let two = asks.arrive(one, true, 2 * OUTPUT)?;
        starts.push(several("two requests at once", two.clone()));
        starts.push(several("three requests at once", asks.arrive(two, true, 2 * OUTPUT)?));
        if let Some(opening) = asks.until_a_breaker_opens(&fresh)? {
            let before = asks.arrive(opening.before, true, 2 * OUTPUT)?;
            starts.push(several("a breaker one failure from opening", before));
            let mut after = opening.after;
            for other in asks.told_apart(subject) {
                let watched = other.arrive(after.clone(), true, 2 * OUTPUT)?;
                let other = &topology.classes[usize::from(other.class.0)].name;
                starts.push(several(&format!("its breaker open, {other} comes"), watched));
            }
            let open = asks.arrive(after.clone(), true, 2 * OUTPUT)?;
            starts.push(several("an open breaker", open));
            after.now = opening.until;
            let probing = asks.arrive(after, true, 2 * OUTPUT)?;
            starts.push(several(
                "a breaker whose open time is over",
                asks.arrive(probing, true, 2 * OUTPUT)?,
            ));
        }
    }
    Ok(starts)
}

/// A prompt that does not fit some target of the class, where another is larger.
fn beyond_some(topology: &Topology, class: &RouteClass) -> Option<u32> {
    let ids = class.groups.iter().flat_map(|group| &group.targets);
    let windows = ids.map(|id| topology.targets[usize::from(id.0)].context_tokens);
    let (least, most) = (windows.clone().min()?, windows.max()?);
    (least < most).then_some(least)
}

/// Requests of one class.
#[derive(Clone, Copy)]
struct Asks {
    class: ClassId,
    /// Whether they came before.
    tries: Tries,
    /// What they bring with them.
    left: Left,
}

/// What is left of a budget that outer layers have used up nearly all of.
const LITTLE: Left =
    Left { attempts: 3, first_output: Duration::from_secs(8), total: Duration::from_secs(20) };

/// A breaker on its way open.
struct Opening<S> {
    /// With the request in flight whose failure opens it.
    before: Watched<S>,
    after: Watched<S>,
    until: Instant,
}

/// What a start leads to, or a promise that was broken on the way to it.
type Begun<S, T> = Result<T, Box<Early<S>>>;

/// A promise broken before the first step.
pub(super) struct Early<S> {
    pub(super) watched: Watched<S>,
    pub(super) broken: Broken,
}

impl Asks {
    /// The same of every class that requires something else, where breakers tell those apart.
    fn told_apart<S: Subject>(self, subject: &S) -> Vec<Asks> {
        let by_capability = |rule: &Breaker| rule.key.contains(&KeyPart::Capability);
        if !subject.policy().breakers.iter().any(by_capability) {
            return Vec::new();
        }
        let classes = &subject.topology().classes;
        let own = classes[usize::from(self.class.0)].required;
        let others = classes.iter().zip(0..).filter(|(class, _)| class.required != own);
        others.map(|(_, id)| Asks { class: ClassId(id), ..self }).collect()
    }

    fn arrive<S: Subject>(
        self,
        mut watched: Watched<S>,
        streamed: bool,
        input_tokens: u32,
    ) -> Begun<S, Watched<S>> {
        // Of several at once each has the same luck and the same name, so that they can change places.
        let id = match watched.lives.last_key_value() {
            Some((_, life)) => life.request.id,
            None => watched.trail().len() as u64,
        };
        // Of several at once each is another tenant's, as far as there are tenants.
        let tenants = watched.subject.topology().tenants.len().max(1);
        let tenant = TenantId((watched.lives.len() % tenants) as u16);
        let request = Request {
            id,
            salt: id,
            class: self.class,
            input_tokens,
            max_output_tokens: OUTPUT,
            streamed,
            session: 1,
            tenant,
            action: id,
            tries: self.tries,
            left: self.left,
        };
        match watched.feed(watched.now, Event::Arrived(request)) {
            Ok(()) => Ok(watched),
            Err(broken) => Err(Box::new(Early { watched, broken })),
        }
    }

    /// Requests that come one by one and fail, each once, until a breaker opens. `None` where no
    /// failure of this policy opens one.
    fn until_a_breaker_opens<S: Subject>(self, fresh: &Watched<S>) -> Begun<S, Option<Opening<S>>> {
        let policy = fresh.subject.policy();
        let blamed = |class: &FailureClass| policy.matrix.row(*class).blame == Blame::Breaker;
        let Some(class) = FailureClass::ALL.into_iter().find(blamed) else { return Ok(None) };
        if policy.breakers.is_empty() {
            return Ok(None);
        }
        let mut watched = fresh.clone();
        for _ in 0..MOST_FAILURES {
            watched.now = watched.now + PAUSE;
            let before = self.arrive(watched, true, 2 * OUTPUT)?;
            watched = before.clone();
            let Some((request, life)) = watched.lives.first_key_value() else { return Ok(None) };
            let (request, Some(attempt)) = (*request, life.flying) else { return Ok(None) };
            let (phase, usage) = (Phase::BeforeHeaders, Usage::default());
            let failure = Failure { class, status: 0, phase, retry_after: None, usage };
            let now = watched.now;
            let fed = watched.feed(now, Event::Failed { attempt, failure });
            let fed = fed.and_then(|()| match watched.lives.is_empty() {
                true => Ok(()),
                false => watched.feed(now, Event::Cancelled(request)),
            });
            if let Err(broken) = fed {
                return Err(Box::new(Early { watched, broken }));
            }
            if let Some(until) = opened(&watched) {
                return Ok(Some(Opening { before, after: watched, until }));
            }
        }
        Ok(None)
    }
}

/// When the breaker may admit again that one of the latest two events opened.
fn opened<S: Subject>(watched: &Watched<S>) -> Option<Instant> {
    let actions = watched.trail().iter().rev().take(2).flat_map(|moment| &moment.actions);
    let open = |action: &Action| match action {
        Action::Breaker { state: BreakerState::Open, until, .. } => Some(*until),
        _ => None,
    };
    actions.filter_map(open).next()
}
