//! Groups that let in so many a minute, against the loss formula of telephone exchanges: whoever is let
//! in holds one of `rpm` lines for a minute.

#[path = "common/lab.rs"]
mod lab;

use std::collections::BTreeMap;

use lab::{FAST, Run, agrees, in_worlds, policy, service, share, target};
use windtunnel::scenario::Scenario;
use windtunnel::world::WorldOptions;
use windtunnel_policy::event::StopReason;

/// Share of calls that find all lines busy, where so many are under way on average if none does.
fn erlang(lines: u32, offered: f64) -> f64 {
    (1..=lines).fold(1.0, |full, n| offered * full / (f64::from(n) + offered * full))
}

fn turned_away(run: &Run) -> f64 {
    let full = |stop: Option<StopReason>| stop == Some(StopReason::GroupFull);
    let away = run.measured().filter(|row| full(row.result.stop)).count();
    let all = run.totals.overall();
    assert_eq!((all.turned_away, all.no_eligible_target), (away as u64, 0));
    share(all.turned_away, all.requests)
}

/// Share of the measured requests whose first attempt went to this group.
fn first_in(run: &Run, group: u8) -> f64 {
    let measured: BTreeMap<u64, ()> = run.measured().map(|row| (row.request, ())).collect();
    let first = run.rows.attempts.iter().filter(|row| row.number == 1 && row.group == group);
    let first = first.filter(|row| measured.contains_key(&row.request)).count();
    share(first as u64, run.totals.overall().requests)
}

/// One target in each of two groups, three requests a second, and these rules.
fn two_groups(rules: &str) -> (Scenario, windtunnel_policy::config::Policy) {
    let targets = target("a", FAST, FAST, "0%") + &target("b", FAST, FAST, "0%");
    let groups = "{primary: [a], fallbacks: [[b]]}";
    let scenario = service(3.0, "2h", groups, &targets, "  []");
    (scenario, policy(&format!("{{name: limits, groups: {{{rules}}}}}")))
}

#[test]
fn a_sliding_minute_is_a_telephone_exchange() {
    let (scenario, limits) =
        two_groups("primary: {admission: {rpm: 120}}, fallbacks: [{admission: {rpm: 30}}]");
    let runs = in_worlds(&scenario, &limits, 12, WorldOptions::default(), |run| {
        let sent: Vec<u64> = run
            .rows
            .attempts
            .iter()
            .filter(|row| row.group == 0)
            .map(|row| row.sent.as_micros())
            .collect();
        // No minute has more: from each to the one that came 120 before it.
        assert!(sent.windows(121).all(|w| w[120] - w[0] >= 60_000_000));
        (1.0 - first_in(run, 0), turned_away(run))
    });
    // The empty exchange at the start lets in a minute's worth more, of 120 minutes.
    let (first_full, all_full): (Vec<f64>, Vec<f64>) = runs.into_iter().unzip();
    agrees("the first group is full", &first_full, erlang(120, 180.0), 0.01);
    agrees("both are full", &all_full, erlang(150, 180.0), 0.01);
}

#[test]
fn one_after_the_other_is_an_exchange_of_one_line() {
    // A line that is busy for half a second, and 1.5 calls in that time.
    let (scenario, limits) = two_groups("primary: {admission: {rpm: 120, window: {paced: 1}}}");
    let passed_on =
        in_worlds(&scenario, &limits, 20, WorldOptions::default(), |run| 1.0 - first_in(run, 0));
    agrees("paced", &passed_on, erlang(1, 1.5), 0.01);
}

#[test]
fn minutes_of_the_clock_let_in_exactly_so_many() {
    let (scenario, limits) = two_groups("primary: {admission: {rpm: 120, window: minute}}");
    let came_and_let_in = in_worlds(&scenario, &limits, 2, WorldOptions::default(), |run| {
        let mut minutes: BTreeMap<u64, [u64; 2]> = BTreeMap::new();
        for row in run.rows.attempts.iter().filter(|row| row.number == 1) {
            let minute = minutes.entry(row.sent.as_micros() / 60_000_000).or_default();
            minute[0] += 1;
            minute[1] += u64::from(row.group == 0);
        }
        minutes.into_values().collect::<Vec<_>>()
    });
    for [came, let_in] in came_and_let_in.into_iter().flatten() {
        assert_eq!(let_in, came.min(120));
    }
}

#[test]
fn the_shipped_channels() {
    let scenario = Scenario::load("channels").expect("a shipped scenario");
    let limits = lab::shipped("group-limits");
    let runs = in_worlds(&scenario, &limits, 20, WorldOptions::default(), |run| {
        // Failing over within the group costs no admission, and nothing that was let in is lost.
        let away = turned_away(run);
        assert!((run.success() - (1.0 - away)).abs() < 1e-12);
        // The lower priority serves in the outage alone: from minute 12 to 17.
        let reserve = scenario.targets.iter().position(|t| t.name == "reserve").expect("there");
        for row in run.rows.attempts.iter().filter(|row| usize::from(row.target.0) == reserve) {
            let minute = row.sent.as_micros() / 60_000_000;
            assert!((12..18).contains(&minute) && row.number == 2, "{row:?}");
        }
        (1.0 - first_in(run, 0), away)
    });
    let (first_full, all_full): (Vec<f64>, Vec<f64>) = runs.into_iter().unzip();
    agrees("the primary group is full", &first_full, erlang(240, 300.0), 0.01);
    agrees("all groups are full", &all_full, erlang(300, 300.0), 0.01);
}
