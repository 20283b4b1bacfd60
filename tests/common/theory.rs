//! Closed forms the simulator is held against, written from the textbook
//! formulas and checked in `theory_reference.rs` before anything relies on them.
//!
//! `servers` is c, `load` is a = λ/μ in erlangs, times are in units of 1/μ.
#![allow(dead_code, reason = "each test file uses its own part")]

/// Erlang B: the share of arrivals an M/G/c/c system turns away, whatever the
/// distribution of service times.
pub(crate) fn erlang_b(servers: u32, load: f64) -> f64 {
    (1..=servers).fold(1.0, |blocked, k| load * blocked / (f64::from(k) + load * blocked))
}

/// Erlang C: the probability that an arrival to M/M/c waits. Needs `load < servers`.
pub(crate) fn erlang_c(servers: u32, load: f64) -> f64 {
    let (c, blocked) = (f64::from(servers), erlang_b(servers, load));
    c * blocked / (c - load * (1.0 - blocked))
}

/// Mean wait in M/M/c, those who do not wait included.
pub(crate) fn mmc_wait(servers: u32, load: f64) -> f64 {
    erlang_c(servers, load) / (f64::from(servers) - load)
}

/// P(wait > t) in M/M/c.
pub(crate) fn mmc_wait_beyond(servers: u32, load: f64, t: f64) -> f64 {
    erlang_c(servers, load) * libm::exp(-(f64::from(servers) - load) * t)
}

/// What M/M/c/K does with its arrivals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounded {
    /// Share of arrivals that find all K places taken.
    pub(crate) blocked: f64,
    /// Mean wait of those admitted.
    pub(crate) wait: f64,
}

/// M/M/c/K, where `places` (K) counts those in service too.
pub(crate) fn mmck(servers: u32, places: u32, load: f64) -> Bounded {
    // Weights relative to the empty system; the largest used here is far below overflow.
    let mut weights = vec![1.0];
    for k in 1..=places {
        weights.push(weights[k as usize - 1] * load / f64::from(k.min(servers)));
    }
    let total: f64 = weights.iter().sum();
    let blocked = weights[places as usize] / total;
    let queue: f64 =
        (servers..=places).map(|k| f64::from(k - servers) * weights[k as usize]).sum::<f64>()
            / total;
    Bounded { blocked, wait: queue / (load * (1.0 - blocked)) }
}

/// Success of up to `tries` independent tries that fail with probability `fail`: 1 − pᵏ.
pub(crate) fn success_of_tries(fail: f64, tries: u32) -> f64 {
    1.0 - (0..tries).fold(1.0, |all, _| all * fail)
}

/// Mean number of those tries: (1 − pᵏ) / (1 − p), or k where every one fails.
pub(crate) fn mean_tries(fail: f64, tries: u32) -> f64 {
    (0..tries).fold((0.0, 1.0), |(sum, reach), _| (sum + reach, reach * fail)).0
}

/// Long-run share of time up, of a target that is up and down in turn.
pub(crate) fn availability(mean_up: f64, mean_down: f64) -> f64 {
    mean_up / (mean_up + mean_down)
}
