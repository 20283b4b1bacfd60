//! Retry loops that are not the gateway's: outside it, and between it and a provider.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windtunnel_policy::config::{Backoff, Jitter, RetryAfter, RetryAfterMode, WaitTooLong};
use windtunnel_policy::{Duration, Share};

/// Who owns a retry loop, from the outside in.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The application.
    Application,
    /// The client SDK within it.
    Sdk,
    /// This gateway.
    Gateway,
    /// A proxy between the gateway and the provider.
    UpstreamProxy,
}

impl Layer {
    /// Every layer, from the outside in.
    pub const ALL: [Layer; 4] =
        [Layer::Application, Layer::Sdk, Layer::Gateway, Layer::UpstreamProxy];

    /// The layer's name in files, measures and the ledger.
    pub const fn name(self) -> &'static str {
        match self {
            Layer::Application => "application",
            Layer::Sdk => "sdk",
            Layer::Gateway => "gateway",
            Layer::UpstreamProxy => "upstream_proxy",
        }
    }
}

/// Who repeats what failed, and how often in all. What is left of it goes down with every request.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetriesSpec {
    /// The layer that owns the retries: every other makes one try. Each repeats as it will where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Layer>,
    /// Attempts of the gateway for one action, over all its requests, and those calls of a proxy beyond
    /// them that it tells of (`tells_calls`); no limit where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u16>,
}

/// A layer outside the gateway that sends an action again when it failed. What is left out is as
/// the official SDKs do it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OuterLayer {
    /// Tries in all, the first included; 1 to 16.
    pub attempts: u8,
    /// Statuses that it sends again; 504 is the status of what reached the gateway's deadline.
    pub repeats: Vec<u16>,
    /// How long one of its tries may take, all that is inside included, before it gives it up and
    /// aborts it; no limit where absent.
    pub timeout: Option<Duration>,
    /// Whether it sends again what it gave up after its `timeout`.
    pub repeats_timeouts: bool,
    /// Whether it sends again what broke off after output had begun.
    pub repeats_broken_streams: bool,
    /// Waits between its tries; where absent 500ms, doubled up to 8s, less up to a quarter.
    pub backoff: Backoff,
    /// What the wait hint of an answer does; where absent it is waited for exactly, up to 60s.
    pub retry_after: RetryAfter,
    /// Whether it heeds an answer that says it is not retryable (`x-should-retry: false`).
    pub heeds_retryable: bool,
}

impl Default for OuterLayer {
    fn default() -> OuterLayer {
        OuterLayer {
            attempts: 3,
            repeats: vec![408, 409, 429, 500, 502, 503, 504, 529],
            timeout: None,
            repeats_timeouts: true,
            repeats_broken_streams: false,
            backoff: sdk_backoff(),
            retry_after: RetryAfter {
                mode: RetryAfterMode::Honour,
                longest_wait: Some(Duration::from_secs(60)),
                too_long: WaitTooLong::Backoff,
                ..RetryAfter::default()
            },
            heeds_retryable: true,
        }
    }
}

/// A proxy between the gateway and a provider that calls the provider again when a call failed
/// before response headers. The gateway sees one attempt; the provider's load, limits and bill see
/// every call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UpstreamProxy {
    /// Calls of the provider in all, the first included; 1 to 16.
    pub attempts: u8,
    /// Statuses after which it calls again; 0 is a connection that broke.
    pub repeats: Vec<u16>,
    /// Waits between its calls; none where absent.
    pub backoff: Backoff,
    /// Whether it calls once only where the gateway says that it owns the retries.
    pub heeds_owner: bool,
    /// Whether it tells the gateway, with its answer, how often it called beyond the first time. What it
    /// tells counts against the class's `retries.attempts`.
    pub tells_calls: bool,
    /// Whether it is told with each attempt how many the class's `retries.attempts` leaves after that, and calls
    /// no more often beyond the first time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub heeds_left: bool,
}

impl Default for UpstreamProxy {
    fn default() -> UpstreamProxy {
        UpstreamProxy {
            attempts: 2,
            repeats: vec![0, 500, 502, 503, 504, 529],
            backoff: Backoff { base: Duration::ZERO, jitter: Jitter::Fixed, ..Backoff::default() },
            heeds_owner: true,
            tells_calls: false,
            heeds_left: false,
        }
    }
}

fn sdk_backoff() -> Backoff {
    Backoff {
        base: Duration::from_millis(500),
        max: Duration::from_secs(8),
        jitter: Jitter::Subtractive(Share::ratio(1, 4)),
        ..Backoff::default()
    }
}
