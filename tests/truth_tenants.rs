//! Tenants on one retry budget, held against what can be worked out by hand.

#[path = "common/lab.rs"]
mod lab;

use lab::{Run, agrees, in_worlds, scenario, share, target, tries};
use windtunnel::record::ClassTotals;
use windtunnel::scenario::Scenario;
use windtunnel::world::WorldOptions;
use windtunnel_policy::config::Policy;

/// The noisy tenant sends 20/s to a target that always fails; two others send 5/s together to one
/// that fails a tenth.
fn scenario_of_three() -> Scenario {
    let (down, up) = (
        target("down", "constant: 100ms", "constant: 1ms", "100%"),
        target("up", "constant: 100ms", "constant: 1ms", "10%"),
    );
    scenario(
        &format!(
            "
name: tenants
shows: tenants
expect: what can be worked out by hand
warm_up: 20s
horizon: 1020s
tenants:
  noisy: {{budget_share: 50%}}
  big: {{share: 80%, budget_share: 50%}}
  small: {{share: 20%, budget_share: 0%}}
classes:
  noise:
    tenant: noisy
    groups: {{primary: [down]}}
    traffic: &t
      arrivals: {{poisson: 20/s}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
  chat:
    groups: {{primary: [up]}}
    traffic:
      arrivals: {{poisson: 5/s}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
targets:
{down}{up}"
        )
        .replace("&t", ""),
    )
}

/// One retry, out of two a second for all; at most as many saved up.
fn budget(by_tenant: bool) -> Policy {
    tries(
        2,
        &format!(
            "
retry_budgets:
  - governs: [retry]
    charged_to: overall
    kind: {{token_bucket: {{capacity: 2, per_request: 0%, per_second: 2}}}}
    by_tenant: {by_tenant}"
        ),
    )
}

fn success(of: &ClassTotals) -> f64 {
    share(of.answered.total(), of.requests)
}

/// Success of each tenant: big, noisy, small.
fn by_tenant(run: &Run) -> [f64; 3] {
    let tenants = &run.totals.tenants;
    [success(&tenants[0]), success(&tenants[1]), success(&tenants[2])]
}

#[test]
fn what_all_draw_on_goes_to_who_asks_most() {
    // 20 + 0.5 asks a second for two grants: whoever asks gets 2 of 20.5.
    let found =
        in_worlds(&scenario_of_three(), &budget(false), 12, WorldOptions::default(), by_tenant);
    let granted = 2.0 / 20.5;
    let want = 0.9 + 0.1 * granted * 0.9;
    for (tenant, notices) in [(0, 0.01), (2, 0.02)] {
        let values: Vec<f64> = found.iter().map(|of| of[tenant]).collect();
        agrees("shared", &values, want, notices);
    }
    assert!(found.iter().all(|of| of[1] == 0.0));
}

#[test]
fn a_part_of_ones_own_is_granted_whatever_the_others_ask() {
    // Half of the budget is one a second, and one at most saved up: after a grant the next comes a
    // second later at the earliest, whatever was denied in between. Asks come as a Poisson process
    // of 0.4/s, so that a share 1 / (1 + 0.4) of them is granted. The smaller tenant's part of the
    // rate is nothing: the one at the start was spent in the warm-up.
    let found =
        in_worlds(&scenario_of_three(), &budget(true), 12, WorldOptions::default(), by_tenant);
    let want = 0.9 + 0.1 * 0.9 / (1.0 + 0.8 * 5.0 * 0.1);
    agrees("big", &found.iter().map(|of| of[0]).collect::<Vec<_>>(), want, 0.01);
    agrees("small", &found.iter().map(|of| of[2]).collect::<Vec<_>>(), 0.9, 0.02);
}

#[test]
fn sessions_are_dealt_by_the_shares_and_every_request_counts_once() {
    let found =
        in_worlds(&scenario_of_three(), &budget(true), 12, WorldOptions::default(), |run| {
            let totals = &run.totals;
            let by_class: u64 = totals.classes.iter().map(|class| class.requests).sum();
            let by_tenant: u64 = totals.tenants.iter().map(|tenant| tenant.requests).sum();
            assert_eq!(by_class, by_tenant);
            assert_eq!(
                totals.tenants[1].requests, totals.classes[1].requests,
                "the noise is noisy's"
            );
            share(totals.tenants[0].requests, totals.classes[0].requests)
        });
    agrees("big's part of the chats", &found, 0.8, 0.02);
}
