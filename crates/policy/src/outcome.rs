//! How an attempt ends, in words no provider's name is part of.

/// What went wrong, normalised: the rows of the failure matrix.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
pub enum FailureClass {
    /// The request is malformed, or asks for what the API does not have.
    ClientInvalid,
    /// The prompt is too long for this target.
    ContextOverflow,
    /// The gateway's own authentication, quota or policy refused it.
    GatewayDenied,
    /// The target's credential or account failed.
    UpstreamAuth,
    /// Connecting failed, or the connection broke before output: the outcome is ambiguous.
    Transport,
    /// No answer in time, before output.
    Timeout,
    /// A limit per minutes: waiting helps.
    RateLimited,
    /// A quota per day or an empty balance: waiting inside a deadline cannot help.
    QuotaExhausted,
    /// The deployment or model does not exist at this target.
    TargetMissing,
    /// The provider sheds load.
    Overloaded,
    /// The provider failed.
    ServerError,
    /// A complete answer that breaks its contract: schema, tool arguments.
    ContractFailure,
    /// A valid refusal: a result, not a failure of the target.
    Refusal,
    /// The provider's filter blocked the prompt.
    ContentPolicy,
    /// The caller went away.
    CallerCancelled,
    /// The stream broke after output had begun.
    PartialStream,
    /// A tool with side effects may have run.
    SideEffectUnknown,
    /// No time was left for a useful attempt.
    DeadlineExhausted,
    /// No target passed the gates.
    NoEligibleTarget,
    /// Not classified.
    Unknown,
}

impl FailureClass {
    /// Every class, in matrix order.
    pub const ALL: [FailureClass; 20] = [
        FailureClass::ClientInvalid,
        FailureClass::ContextOverflow,
        FailureClass::GatewayDenied,
        FailureClass::UpstreamAuth,
        FailureClass::Transport,
        FailureClass::Timeout,
        FailureClass::RateLimited,
        FailureClass::QuotaExhausted,
        FailureClass::TargetMissing,
        FailureClass::Overloaded,
        FailureClass::ServerError,
        FailureClass::ContractFailure,
        FailureClass::Refusal,
        FailureClass::ContentPolicy,
        FailureClass::CallerCancelled,
        FailureClass::PartialStream,
        FailureClass::SideEffectUnknown,
        FailureClass::DeadlineExhausted,
        FailureClass::NoEligibleTarget,
        FailureClass::Unknown,
    ];

    /// The class's name in files, tables and the ledger.
    pub const fn name(self) -> &'static str {
        match self {
            FailureClass::ClientInvalid => "client_invalid",
            FailureClass::ContextOverflow => "context_overflow",
            FailureClass::GatewayDenied => "gateway_denied",
            FailureClass::UpstreamAuth => "upstream_auth",
            FailureClass::Transport => "transport",
            FailureClass::Timeout => "timeout",
            FailureClass::RateLimited => "rate_limited",
            FailureClass::QuotaExhausted => "quota_exhausted",
            FailureClass::TargetMissing => "target_missing",
            FailureClass::Overloaded => "overloaded",
            FailureClass::ServerError => "server_error",
            FailureClass::ContractFailure => "contract_failure",
            FailureClass::Refusal => "refusal",
            FailureClass::ContentPolicy => "content_policy",
            FailureClass::CallerCancelled => "caller_cancelled",
            FailureClass::PartialStream => "partial_stream",
            FailureClass::SideEffectUnknown => "side_effect_unknown",
            FailureClass::DeadlineExhausted => "deadline_exhausted",
            FailureClass::NoEligibleTarget => "no_eligible_target",
            FailureClass::Unknown => "unknown",
        }
    }
}

/// How far the response had come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Phase {
    /// Nothing came back.
    BeforeHeaders,
    /// Headers came, no output.
    BeforeOutput,
    /// Output had begun.
    AfterOutput,
}

impl Phase {
    /// The phase's name in files and the ledger.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::BeforeHeaders => "before_headers",
            Phase::BeforeOutput => "before_output",
            Phase::AfterOutput => "after_output",
        }
    }
}

/// Tokens an attempt was billed for, as the provider reported them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Input tokens, cached ones included.
    pub input: u32,
    /// Input tokens read from the provider's prompt cache.
    pub cached: u32,
    /// Output tokens.
    pub output: u32,
}

/// A failed attempt, as the embedder saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The normalised class.
    pub class: FailureClass,
    /// HTTP status; 0 where there was none.
    pub status: u16,
    /// How far the response had come.
    pub phase: Phase,
    /// The provider's valid wait hint, if it sent one.
    pub retry_after: Option<crate::Duration>,
    /// What is billed for this attempt all the same.
    pub usage: Usage,
}

/// What the embedder knows of a complete response before it releases it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Answer {
    /// Complete; schema and tool arguments right, as far as they were checked.
    Valid,
    /// A valid refusal or safety completion.
    Refusal,
    /// Complete, but schema or tool arguments are wrong.
    Invalid,
}

impl Answer {
    /// The answer's name in files and the ledger.
    pub const fn name(self) -> &'static str {
        match self {
            Answer::Valid => "valid",
            Answer::Refusal => "refusal",
            Answer::Invalid => "invalid",
        }
    }
}

/// How far the execution of a tool came, by its durable record: the key is the user's operation's,
/// and not the attempt's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Execution {
    /// It was not called and will not be.
    NotCalled,
    /// It may still be called.
    Planned,
    /// It runs.
    Started,
    /// It has run, and its result is stored.
    Succeeded,
    /// It has failed.
    Failed,
    /// Nobody will ever say.
    Unknown,
}

impl Execution {
    /// The state's name in files and the ledger.
    pub const fn name(self) -> &'static str {
        match self {
            Execution::NotCalled => "not_called",
            Execution::Planned => "planned",
            Execution::Started => "started",
            Execution::Succeeded => "succeeded",
            Execution::Failed => "failed",
            Execution::Unknown => "unknown",
        }
    }
}
