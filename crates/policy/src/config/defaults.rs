//! The documented defaults, in one place.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::outcome::FailureClass;
use crate::{Duration, Share};

const HALF: Share = Share::ratio(1, 2);

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            name: String::new(),
            description: String::new(),
            attempts: Attempts::default(),
            groups: Groups::default(),
            envelope: Envelope::default(),
            classes: Classes::new(),
            timeouts: Timeouts::default(),
            matrix: Matrix::default(),
            side_effects: SideEffectRule::default(),
            backoff: Backoff::default(),
            retry_after: RetryAfter::default(),
            breakers: Vec::new(),
            cooldown: Cooldown::default(),
            isolation: Isolation::default(),
            all_unavailable: AllUnavailable::Fail,
            retry_budgets: Vec::new(),
            selection: Selection::default(),
            streaming: Streaming::PassThrough,
            hedge: None,
            outlier: None,
            replicas: Replicas::default(),
        }
    }
}

impl Default for Attempts {
    fn default() -> Attempts {
        Attempts {
            max: 3,
            max_same_target: 2,
            max_before_fallback: None,
            max_after_fallback: None,
            scope: BudgetScope::Request,
            order: LoopOrder::RetryThenFailover,
            repick_failed: false,
            allow_retry: true,
            allow_failover: true,
            allow_substitution: true,
            owns_retries: false,
        }
    }
}

impl Default for Envelope {
    fn default() -> Envelope {
        Envelope {
            deadline_total: None,
            deadline_first_output: None,
            max_added_latency: None,
            max_cost: None,
            reserve_for_failover: Duration::ZERO,
            min_useful: Duration::ZERO,
            safety_margin: Duration::ZERO,
            estimate: Estimate::default(),
            after_partial_output: AfterPartialOutput::FailClean,
        }
    }
}

impl Default for Estimate {
    fn default() -> Estimate {
        Estimate {
            enabled: true,
            quantile: Share::ratio(95, 100),
            prior: None,
            min_samples: 20,
            expires: Duration::from_secs(300),
        }
    }
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            attempt: None,
            first_token: None,
            idle_stream: None,
            first_token_means: FirstToken::Output,
            total_covers: TotalCovers::Everything,
        }
    }
}

impl Default for Backoff {
    fn default() -> Backoff {
        Backoff {
            base: Duration::from_millis(250),
            max: Duration::from_secs(8),
            factor_percent: DOUBLING,
            jitter: Jitter::Full,
            before_failover: false,
            after_last: false,
        }
    }
}

impl Default for RetryAfter {
    fn default() -> RetryAfter {
        RetryAfter {
            mode: RetryAfterMode::AtLeast,
            longest_wait: None,
            too_long: WaitTooLong::FailOver,
            source: RetryAfterSource::Latest,
            jitter: Share::ZERO,
        }
    }
}

impl Default for Breaker {
    fn default() -> Breaker {
        Breaker {
            key: vec![KeyPart::Provider, KeyPart::Model, KeyPart::Region, KeyPart::Deployment],
            trip: vec![Trip::RateOverTime {
                failures: HALF,
                window: Duration::from_secs(10),
                min_calls: 20,
            }],
            open_for: Duration::from_secs(30),
            growth: Growth::default(),
            open_jitter: Share::ZERO,
            after_open: AfterOpen::HalfOpen,
            probes: Probes::default(),
            ramp: None,
            leaves_over: None,
            recooling: Recooling::KeepFirst,
            count_recovery: true,
            exempt_single: false,
        }
    }
}

impl Default for Growth {
    fn default() -> Growth {
        Growth { percent: 100, max: Duration::from_secs(300) }
    }
}

impl Default for Probes {
    fn default() -> Probes {
        Probes { concurrent: 1, successes: 3 }
    }
}

impl Default for Ramp {
    fn default() -> Ramp {
        Ramp { over: Duration::from_secs(30), from: Share::ratio(1, 10) }
    }
}

impl Default for Cooldown {
    fn default() -> Cooldown {
        Cooldown {
            rule: CooldownRule::RetryAfter,
            max: Duration::from_secs(300),
            recooling: Recooling::Maximum,
            exempt_single: false,
        }
    }
}

impl Default for Isolation {
    fn default() -> Isolation {
        Isolation {
            target_for: Some(Duration::from_secs(300)),
            account_for: Some(Duration::from_secs(3600)),
        }
    }
}

impl Default for Selection {
    fn default() -> Selection {
        Selection {
            strategy: Strategy::Ordered,
            sticky: Sticky::No,
            panic_threshold: Share::ONE,
            substitutes: SubstituteOrder::Proven,
            health_window: Duration::from_secs(60),
            groups: GroupOrder::Listed,
            priority: Priority::Highest,
        }
    }
}

impl Default for Outlier {
    fn default() -> Outlier {
        Outlier {
            interval: Duration::from_secs(10),
            max_ejected: HALF,
            below_mean: Share::ratio(1, 5),
            eject_for: Duration::from_secs(30),
            min_calls: 20,
        }
    }
}

impl Default for Replicas {
    fn default() -> Replicas {
        Replicas { count: 1, sharing: Sharing::Private }
    }
}

impl Default for Matrix {
    /// The documented default: what each class allows before a policy changes it.
    fn default() -> Matrix {
        use Blame as B;
        use FailoverRule as F;
        use RetryRule as R;
        use SubstitutionRule as S;
        let mut rows = [row(R::No, F::No, S::No, B::No); FailureClass::ALL.len()];
        for (class, r) in [
            (FailureClass::ContextOverflow, row(R::No, F::No, S::LargerWindow, B::No)),
            (FailureClass::UpstreamAuth, row(R::No, F::Yes, S::No, B::Isolate)),
            (FailureClass::Transport, row(R::OnceIfIdempotent, F::Yes, S::IfApproved, B::Breaker)),
            (FailureClass::Timeout, row(R::OnceIfIdempotent, F::Yes, S::IfApproved, B::Breaker)),
            (FailureClass::RateLimited, row(R::Delayed, F::Yes, S::IfApproved, B::Cooldown)),
            (FailureClass::QuotaExhausted, row(R::No, F::Yes, S::IfApproved, B::IsolateAccount)),
            (FailureClass::TargetMissing, row(R::No, F::Yes, S::IfApproved, B::Isolate)),
            (FailureClass::Overloaded, row(R::Bounded, F::Yes, S::IfApproved, B::Breaker)),
            (FailureClass::ServerError, row(R::Bounded, F::Yes, S::IfApproved, B::Breaker)),
            (
                FailureClass::ContractFailure,
                row(R::No, F::IfValidated, S::IfApprovedAndValidated, B::Contract),
            ),
            (FailureClass::PartialStream, row(R::No, F::No, S::No, B::Breaker)),
            (FailureClass::Unknown, row(R::No, F::No, S::No, B::Breaker)),
        ] {
            rows[class as usize] = r;
        }
        Matrix(rows)
    }
}

const fn row(
    retry: RetryRule,
    failover: FailoverRule,
    substitution: SubstitutionRule,
    blame: Blame,
) -> Row {
    Row { retry, failover, substitution, blame }
}
