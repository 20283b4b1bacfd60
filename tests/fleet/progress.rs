//! Progress under changing speed: exact courses, and processor sharing against a plain reckoning.

use windtunnel::dist::Shape;
use windtunnel::draw::Purpose;
use windtunnel::fleet::Fleet;
use windtunnel::scenario::SpeedByLoad;
use windtunnel::world::{Marks, World};
use windtunnel_policy::{Instant, Share};

use crate::driver::{
    SECOND, assert_mean, assert_share, drive, edge, poisson, scenario, secs, share, streamer,
    target, world,
};

#[test]
fn a_brownout_stretches_what_is_in_flight_and_its_end_frees_it() {
    let model = target("t", 4, &Shape::Constant(10e6));
    let mut fleet = Fleet::new(&scenario(vec![model], Vec::new()));
    let mut world = world(1, [secs(0.0), secs(3.0), secs(12.5)]);
    edge(&mut world, secs(4.0), |c| c.speed_ppm = 250_000);
    edge(&mut world, secs(12.0), |_| {});
    let ends: Vec<Instant> =
        drive(&mut fleet, &world, |_| 0).iter().map(|s| s.last.expect("ended").0).collect();
    // 4 s done before, 8 s × ¼ = 2 s during, 4 s after; 1 + 2 + 7; and one it never touched.
    assert_eq!(ends, [secs(16.0), secs(19.0), secs(22.5)]);
}

#[test]
fn finish_times_are_rounded_up_to_the_microsecond() {
    let model = target("t", 4, &Shape::Constant(1_000.0));
    let mut fleet = Fleet::new(&scenario(vec![model], Vec::new()));
    let mut world = world(1, [Instant::from_micros(100)]);
    // 600 µs done at 700; 400 µs at 0.3 take 1333.3 µs.
    edge(&mut world, Instant::from_micros(700), |c| c.speed_ppm = 300_000);
    assert_eq!(drive(&mut fleet, &world, |_| 0)[0].took(), 600 + 1_334);
}

#[test]
fn milestones_of_a_stream_stretch_too() {
    let mut fleet = Fleet::new(&scenario(vec![streamer("t")], Vec::new()));
    let mut world = world(1, [secs(0.0)]);
    world.requests[0].marks = Marks::STREAMED;
    world.requests[0].output = 101;
    edge(&mut world, secs(0.3), |c| c.speed_ppm = 500_000);
    let seen = drive(&mut fleet, &world, |_| 0)[0];
    // Headers at 0.1; 0.2 s of work to the first token and 1 s from there on take twice that.
    assert_eq!(seen.headers, Some(secs(0.1)));
    assert_eq!(seen.first_output, Some(secs(0.7)));
    assert_eq!(seen.last.expect("ended").0, secs(2.7));
}

#[test]
fn a_slow_share_needs_more_work() {
    let model = target("t", 1_000_000, &Shape::Constant(1e6));
    let mut fleet = Fleet::new(&scenario(vec![model], Vec::new()));
    let n = 20_000;
    let mut world = poisson(3, 100.0, n);
    edge(&mut world, Instant::ZERO, |c| c.slow = (share(0.3), 2_500_000));
    let seen = drive(&mut fleet, &world, |_| 0);
    let slow = seen.iter().filter(|s| s.took() == 2_500_000).count();
    assert!(seen.iter().all(|s| [1_000_000, 2_500_000].contains(&s.took())));
    assert_share("slow", slow, n, 0.3);
}

/// The transient's world: 30/s from empty, speed halved from 60 s to 90 s.
fn halved(seed: u64) -> World {
    let mut world = poisson(seed, 30.0, 4_500);
    edge(&mut world, secs(60.0), |c| c.speed_ppm = 500_000);
    edge(&mut world, secs(90.0), |_| {});
    world
}

fn shared(seed: u64, fleet: &mut Fleet) -> Vec<(Instant, u64)> {
    drive(fleet, &halved(seed), |_| 0).iter().map(|s| (s.sent, s.took())).collect()
}

fn sharing_fleet() -> Fleet {
    let mut model = target("t", 100_000, &Shape::Exponential { mean: SECOND as f64 });
    model.capacity.speed_by_load = SpeedByLoad::HalfAt(50);
    Fleet::new(&scenario(vec![model], Vec::new()))
}

#[test]
fn the_transient_is_processor_sharing_not_a_fate_frozen_at_admission() {
    let mut fleet = sharing_fleet();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for seed in 0..40 {
        let took = shared(seed, &mut fleet);
        let long = |from: f64, to: f64| {
            let admitted = took.iter().filter(|(at, _)| (secs(from)..secs(to)).contains(at));
            let (mut all, mut long) = (0, 0);
            for (_, took) in admitted {
                all += 1;
                long += i32::from(*took > 10 * SECOND);
            }
            f64::from(long) / f64::from(all)
        };
        before.push(long(57.0, 60.0));
        after.push(long(90.0, 120.0));
    }
    // 1.3 % and 18.3 % where the speed at admission would hold to the end.
    assert_mean("admitted in the 3 s before the drop", &before, 0.168);
    assert_mean("admitted in the 30 s after recovery", &after, 0.105);
    let worst = before.iter().sum::<f64>() / 40.0;
    assert!(worst > 0.1, "far from the frozen 1.3 %");
}

/// The same reckoned plainly: everyone's remaining work is brought up to date at every event.
fn plainly(seed: u64) -> Vec<(Instant, u64)> {
    let model = target("t", 1, &Shape::Exponential { mean: SECOND as f64 });
    let world = halved(seed);
    let mut took = vec![(Instant::ZERO, 0); world.requests.len()];
    let mut in_work: Vec<(usize, u128)> = Vec::new();
    let (mut now, mut next) = (0_u64, 0);
    while next < world.requests.len() || !in_work.is_empty() {
        let speed = |now: u64, n: usize| {
            let weather =
                if (60 * SECOND..90 * SECOND).contains(&now) { 500_000 } else { 1_000_000 };
            (1_000_000 * 50 / (50 + n as u64)) * weather / 1_000_000
        };
        let speed = u128::from(speed(now, in_work.len()));
        let arrival = world.requests.get(next).map_or(u64::MAX, |r| r.at.as_micros());
        let change = [60 * SECOND, 90 * SECOND].into_iter().find(|&at| at > now);
        let least = in_work.iter().map(|&(_, left)| left).min();
        let end = least.map_or(u64::MAX, |left| now + left.div_ceil(speed) as u64);
        let then = arrival.min(end).min(change.unwrap_or(u64::MAX));
        let done = u128::from(then - now) * speed;
        in_work.iter_mut().for_each(|(_, left)| *left = left.saturating_sub(done));
        now = then;
        // One thing at a time: the end first, and the change of weather before an arrival.
        if end == then {
            let first = in_work.iter().position(|&(_, left)| left == 0).expect("one is done");
            let (i, _) = in_work.remove(first);
            took[i] = (world.requests[i].at, now - world.requests[i].at.as_micros());
        } else if arrival == then {
            let draw = world.requests[next].key.draw(Purpose::FirstToken, model.hash, 0);
            let work = u128::from(model.latency.first_token.sample(draw)) * 1_000_000;
            in_work.push((next, work));
            next += 1;
        }
    }
    took
}

#[test]
fn processor_sharing_agrees_with_a_plain_reckoning_to_the_microsecond() {
    assert_eq!(shared(7, &mut sharing_fleet()), plainly(7));
}

#[test]
fn other_tenants_in_work_slow_us_down() {
    let mut model = target("t", 60, &Shape::Constant(1e6));
    model.capacity.speed_by_load = SpeedByLoad::Table(vec![(0, Share::ONE), (50, share(0.5))]);
    model.capacity.background_slots = 49;
    let mut fleet = Fleet::new(&scenario(vec![model], Vec::new()));
    // 49 and one make 50: half speed. At twice the background nobody finds a slot.
    let mut world = world(1, [secs(0.0), secs(10.0)]);
    edge(&mut world, secs(5.0), |c| c.background_ppm = 2_000_000);
    let seen = drive(&mut fleet, &world, |_| 0);
    assert_eq!((seen[0].took(), seen[0].answered()), (2 * SECOND, true));
    assert!(!seen[1].answered());
}
