//! What a request asks for and what is special about it, from its own key.

use windtunnel_policy::{Duration, Share};

use super::arrivals::Arrival;
use super::{Marks, WorldError, WorldRequest};
use crate::dist::{Dist, Tables};
use crate::draw::{Key, NameHash, Purpose};
use crate::scenario::{DistSpec, LatencyModel, Quantity, Scenario, Tokens, Try};

/// The distributions of one route class.
#[derive(Clone, Debug)]
pub(super) struct ClassDraws {
    class: u16,
    key: Key,
    input: Option<Dist>,
    output: Option<Dist>,
    /// The caller's output limit, where the class states it.
    max_output: Option<u32>,
    /// The output limit where neither class nor trace states it: the reference target's most.
    card_max_output: u32,
    patience: Option<Dist>,
    cancels_after: Option<Dist>,
    reference: Reference,
    tenant: Option<u16>,
    /// The share of sessions of each tenant and all before it; empty where nobody is told apart.
    tenants: Vec<Share>,
    /// Shares of requests that bear a mark, and what decides it.
    marks: [(Marks, Purpose, Share); 6],
}

/// What is asked of the reference target.
#[derive(Clone, Debug)]
struct Reference {
    hash: NameHash,
    latency: LatencyModel,
    max_output: u32,
}

impl ClassDraws {
    /// The draws of class number `id` in the world keyed `world`.
    pub(super) fn new(
        scenario: &Scenario,
        id: usize,
        world: Key,
    ) -> Result<ClassDraws, WorldError> {
        let class = &scenario.classes[id];
        let traffic = &scenario.file.classes[&class.name].traffic;
        let reference = &scenario.targets[usize::from(class.reference.0)];
        let tokens = traffic.tokens.as_ref();
        let tables = &scenario.tables;
        let (input, output) =
            (tokens.and_then(|t| t.input.as_ref()), tokens.and_then(|t| t.output.as_ref()));
        if class.recorded.is_none() && (input.is_none() || output.is_none()) {
            let problem = "`tokens` must give input and output: no trace or profile has them";
            return Err(WorldError::traffic(&class.name, problem));
        }
        let tools = scenario.file.classes[&class.name].tools.as_ref();
        let calls = tools.map_or(Share::ZERO, |tools| tools.calls);
        Ok(ClassDraws {
            class: id as u16,
            key: world.child(NameHash::of(&class.name).as_u64()),
            input: optional(tables, &class.name, input)?,
            output: optional(tables, &class.name, output)?,
            max_output: tokens.and_then(|t| t.max_output).map(Tokens::get),
            card_max_output: reference.max_output_tokens,
            patience: optional(tables, &class.name, traffic.patience.as_ref())?,
            cancels_after: optional(tables, &class.name, traffic.cancels_after.as_ref())?,
            reference: Reference {
                hash: reference.hash,
                latency: reference.latency.clone(),
                max_output: reference.max_output_tokens,
            },
            tenant: class.tenant,
            tenants: scenario.tenants.iter().map(|tenant| tenant.up_to).collect(),
            marks: [
                (Marks::STREAMED, Purpose::Streamed, traffic.streamed),
                (Marks::INVALID, Purpose::Malformed, traffic.invalid),
                (Marks::REFUSED, Purpose::Refusal, traffic.refusals),
                (Marks::BLOCKED, Purpose::ContentFilter, traffic.content_policy),
                (Marks::CANCELS, Purpose::CallerCancels, traffic.caller_cancels),
                (Marks::CALLS_TOOL, Purpose::ToolUse, calls),
            ],
        })
    }

    /// The key of the request with this number within the class.
    pub(super) fn request_key(&self, number: u64) -> Key {
        self.key.child(number)
    }

    /// The request that arrives.
    pub(super) fn request(&self, arrival: &Arrival) -> WorldRequest {
        let key = self.request_key(arrival.number);
        let draw = |purpose| key.draw(purpose, NameHash::NONE, 0);
        let recorded = arrival.tokens;
        let length = |dist: &Option<Dist>, purpose, recorded: Option<u32>| match dist {
            Some(dist) => dist.value(|| draw(purpose)).min(u64::from(Tokens::MAX)) as u32,
            None => recorded.expect("a class without recorded traffic states its lengths"),
        };
        let input = length(&self.input, Purpose::PromptTokens, recorded.map(|t| t.input));
        let output = length(&self.output, Purpose::OutputTokens, recorded.map(|t| t.output));
        let max_output = self
            .max_output
            .or(recorded.and_then(|t| t.max_output))
            .unwrap_or(self.card_max_output)
            .max(1);

        let marks = (self.marks.iter())
            // Most shares are nothing or all, and then there is nothing to draw.
            .filter(|&&(_, purpose, share)| {
                share == Share::ONE || share > Share::ZERO && share.hits(draw(purpose))
            })
            .fold(Marks::NONE, |all, &(mark, ..)| all.with(mark));
        let wait = |dist: &Option<Dist>, purpose| match dist {
            Some(dist) => Duration::from_micros(dist.value(|| draw(purpose))),
            None => Duration::MAX,
        };
        let mut patience = wait(&self.patience, Purpose::Patience);
        if marks.has(Marks::CANCELS) {
            patience = patience.min(wait(&self.cancels_after, Purpose::CancelTime));
        }
        // A complete answer has at least one token.
        let output = output.clamp(1, max_output);
        let session = match arrival.session {
            // Count 1: the child may also be a request's key, which is asked at count 0.
            Some(session) => self.key.child(session).draw(Purpose::Session, NameHash::NONE, 1),
            None => draw(Purpose::Session),
        };
        WorldRequest {
            at: arrival.at,
            key,
            first_salt: draw(Purpose::Salt),
            session,
            unloaded: self.reference.unloaded(key, input, output),
            patience,
            input,
            output,
            max_output,
            class: self.class,
            tenant: self.tenant(session),
            marks,
        }
    }
}

impl ClassDraws {
    /// Whose a session is: every request of it is the same tenant's.
    fn tenant(&self, session: u64) -> u16 {
        match (self.tenant, self.tenants.is_empty()) {
            (Some(tenant), _) => tenant,
            (None, true) => 0,
            (None, false) => {
                let draw = self.key.child(session).draw(Purpose::Tenant, NameHash::NONE, 0);
                let dealt = self.tenants.iter().position(|up_to| up_to.hits(draw));
                dealt.expect("the last share is one") as u16
            }
        }
    }
}

impl Reference {
    fn unloaded(&self, request: Key, input: u32, output: u32) -> Duration {
        let luck = Try { request, target: self.hash, nth: 0 };
        let times = self.latency.times(luck, input, output.min(self.max_output), false);
        Duration::from_micros(times.end)
    }
}

fn optional<Q: Quantity>(
    tables: &Tables,
    class: &str,
    spec: Option<&DistSpec<Q>>,
) -> Result<Option<Dist>, WorldError> {
    spec.map(|spec| spec.dist_in(tables)).transpose().map_err(|e| WorldError::traffic(class, e))
}
