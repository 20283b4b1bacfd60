//! The rules, as data. Codes and phrases are compared without regard to ASCII case.

use super::Provider::{self, Anthropic, AzureOpenAi, Bedrock, Gemini, OpenAi, Other};
use crate::outcome::FailureClass::{self, *};

/// Fits where every part fits; an empty list fits anything.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) providers: &'static [Provider],
    /// First and last HTTP status.
    pub(super) statuses: (u16, u16),
    /// The error's code is one of these.
    pub(super) codes: &'static [&'static str],
    /// The error's message mentions one of these.
    pub(super) phrases: &'static [&'static str],
    pub(super) class: FailureClass,
}

const OPENAI_LIKE: &[Provider] = &[OpenAi, AzureOpenAi, Other];
const ANY: (u16, u16) = (0, u16::MAX);

pub(super) const TABLE: &[Rule] = &[
    // What only the message tells, before the codes that would hide it.
    phrase(&[], &["content filtering policy", "content management policy"], ContentPolicy),
    phrase(
        &[],
        &[
            "maximum context length",
            "prompt is too long",
            "input is too long",
            "exceeds the maximum number of tokens",
            "exceed context limit",
        ],
        ContextOverflow,
    ),
    phrase(&[Anthropic], &["credit balance is too low", "spend limit"], QuotaExhausted),
    phrase(&[Gemini], &["api key not valid", "api key expired"], UpstreamAuth),
    both(&[Gemini], &["RESOURCE_EXHAUSTED"], &["per day", "PerDay"], QuotaExhausted),
    both(&[Bedrock], &["ThrottlingException"], &["per day"], QuotaExhausted),
    both(&[Bedrock], &["ValidationException"], &["model identifier is invalid"], TargetMissing),
    phrase(&[AzureOpenAi], &["high demand"], Overloaded),
    // OpenAI, Azure OpenAI, and those who speak like them.
    code(OPENAI_LIKE, &["context_length_exceeded"], ContextOverflow),
    code(
        OPENAI_LIKE,
        &["content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"],
        ContentPolicy,
    ),
    code(
        OPENAI_LIKE,
        &["invalid_api_key", "unsupported_country", "unsupported_country_region_territory"],
        UpstreamAuth,
    ),
    code(
        OPENAI_LIKE,
        &["model_not_found", "DeploymentNotFound", "deployment_not_found"],
        TargetMissing,
    ),
    code(
        OPENAI_LIKE,
        &[
            "insufficient_quota",
            "credit_balance_exhausted",
            "billing_hard_limit_reached",
            "billing_not_active",
        ],
        QuotaExhausted,
    ),
    // Traffic grew too fast: the provider sheds it, and no limit of the account is spent.
    code(OPENAI_LIKE, &["slow_down"], Overloaded),
    code(OPENAI_LIKE, &["server_is_overloaded", "service_unavailable_error"], Overloaded),
    code(OPENAI_LIKE, &["rate_limit_exceeded"], RateLimited),
    code(OPENAI_LIKE, &["timeout"], Timeout),
    code(OPENAI_LIKE, &["server_error", "internal_error", "cf_bad_gateway"], ServerError),
    // It is also the type of most other errors of these APIs, whose statuses then decide.
    Rule { statuses: (400, 400), ..code(OPENAI_LIKE, &["invalid_request_error"], ClientInvalid) },
    // Anthropic.
    code(&[Anthropic], &["authentication_error", "permission_error"], UpstreamAuth),
    code(&[Anthropic], &["billing_error", "enforced_spend_limit_reached"], QuotaExhausted),
    code(&[Anthropic], &["not_found_error"], TargetMissing),
    code(&[Anthropic], &["rate_limit_error"], RateLimited),
    code(&[Anthropic], &["overloaded_error"], Overloaded),
    code(&[Anthropic], &["timeout_error"], Timeout),
    code(&[Anthropic], &["api_error", "conflict_error"], ServerError),
    code(&[Anthropic], &["invalid_request_error", "request_too_large"], ClientInvalid),
    // Gemini.
    code(
        &[Gemini],
        &["SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION"],
        ContentPolicy,
    ),
    // The free tier is not offered in the region, or billing is not set up.
    code(&[Gemini], &["FAILED_PRECONDITION"], UpstreamAuth),
    code(&[Gemini], &["UNAUTHENTICATED", "PERMISSION_DENIED"], UpstreamAuth),
    code(&[Gemini], &["NOT_FOUND"], TargetMissing),
    code(&[Gemini], &["RESOURCE_EXHAUSTED"], RateLimited),
    code(&[Gemini], &["UNAVAILABLE"], Overloaded),
    code(&[Gemini], &["DEADLINE_EXCEEDED"], Timeout),
    code(&[Gemini], &["INTERNAL", "UNKNOWN", "ABORTED"], ServerError),
    code(&[Gemini], &["CANCELLED"], CallerCancelled),
    code(&[Gemini], &["INVALID_ARGUMENT", "OUT_OF_RANGE"], ClientInvalid),
    // Bedrock.
    code(
        &[Bedrock],
        &[
            "AccessDeniedException",
            "ExpiredTokenException",
            "UnrecognizedClientException",
            "InvalidSignatureException",
        ],
        UpstreamAuth,
    ),
    code(&[Bedrock], &["ServiceQuotaExceededException"], QuotaExhausted),
    code(&[Bedrock], &["ResourceNotFoundException"], TargetMissing),
    code(&[Bedrock], &["ThrottlingException"], RateLimited),
    // A cold start, told as 429.
    code(&[Bedrock], &["ModelNotReadyException"], Overloaded),
    code(&[Bedrock], &["ServiceUnavailableException"], Overloaded),
    code(&[Bedrock], &["ModelTimeoutException"], Timeout),
    code(
        &[Bedrock],
        &["InternalServerException", "ModelErrorException", "ModelStreamErrorException"],
        ServerError,
    ),
    code(&[Bedrock], &["ValidationException"], ClientInvalid),
    // By status alone.
    status(0, 0, Transport),
    status(401, 401, UpstreamAuth),
    status(402, 402, QuotaExhausted),
    status(403, 403, UpstreamAuth),
    status(404, 404, TargetMissing),
    status(408, 408, Timeout),
    // A conflict inside the provider: SDKs send it again.
    status(409, 409, ServerError),
    status(424, 425, ServerError),
    status(429, 429, RateLimited),
    status(499, 499, CallerCancelled),
    status(400, 499, ClientInvalid),
    status(503, 503, Overloaded),
    status(529, 529, Overloaded),
    // The provider's proxy connected to nobody, or waited in vain.
    status(522, 522, Timeout),
    status(524, 524, Timeout),
    status(500, 599, ServerError),
];

const fn code(
    providers: &'static [Provider],
    codes: &'static [&'static str],
    class: FailureClass,
) -> Rule {
    both(providers, codes, &[], class)
}

const fn phrase(
    providers: &'static [Provider],
    phrases: &'static [&'static str],
    class: FailureClass,
) -> Rule {
    both(providers, &[], phrases, class)
}

const fn both(
    providers: &'static [Provider],
    codes: &'static [&'static str],
    phrases: &'static [&'static str],
    class: FailureClass,
) -> Rule {
    Rule { providers, statuses: ANY, codes, phrases, class }
}

const fn status(first: u16, last: u16, class: FailureClass) -> Rule {
    Rule { providers: &[], statuses: (first, last), codes: &[], phrases: &[], class }
}
