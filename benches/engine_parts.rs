//! What the parts of the event loop cost, each beside its reference in one run.
//!
//! Absolute times drift with the machine: read the ratios. Every part and its
//! reference are timed in turn, several times over, and medians are printed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::time::Instant as Clock;

use windtunnel::dist::{Dist, Shape};
use windtunnel::draw::{Key, NameHash, Purpose, stream};
use windtunnel::hist::Hist;
use windtunnel::queue::{EventKey, EventQueue, Rank};
use windtunnel_policy::Instant;

const ROUNDS: usize = 9;
const OPERATIONS: u64 = 1 << 20;

fn main() {
    println!("{:<34} {:>9} {:>9} {:>6}  reference", "part", "ns/op", "ref ns", "ratio");
    draws();
    samples();
    for in_flight in [100, 1_000, 10_000] {
        queues(in_flight);
    }
    histograms();
}

fn draws() {
    let world = Key::of_world(1);
    let target = NameHash::of("target");
    compare(
        "keyed draw",
        "sequential ChaCha8, no key",
        |n| {
            (0..n as u32)
                .fold(0, |sum: u64, i| sum.wrapping_add(world.draw(Purpose::Service, target, i)))
        },
        |n| {
            use rand::Rng;
            let mut rng = stream(1, Purpose::Service, target);
            (0..n).fold(0, |sum: u64, _| sum.wrapping_add(rng.next_u64()))
        },
    );
}

fn samples() {
    let shape = Shape::Lognormal { shift: 0.0, median: 1e6, sigma: 0.8 };
    let dist = Dist::new(&shape).expect("a valid shape");
    let draw = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    compare(
        "sample of a lognormal",
        "libm exp of a rational normal",
        |n| (0..n).fold(0, |sum: u64, i| sum.wrapping_add(dist.sample(draw(i)))),
        |n| {
            (0..n).fold(0, |sum: u64, i| {
                let u = ((draw(i) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
                sum.wrapping_add((1e6 * libm::exp(0.8 * rough_normal(u))) as u64)
            })
        },
    );
}

/// The normal quantile to 4.5e-4: Abramowitz and Stegun 26.2.23.
fn rough_normal(u: f64) -> f64 {
    let t = libm::sqrt(-2.0 * libm::log(u.min(1.0 - u)));
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let x = t - numerator / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)));
    if u < 0.5 { -x } else { x }
}

/// Hold model: `in_flight` events, each popped and pushed again later.
fn queues(in_flight: u64) {
    let delay = |x: u64| x.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
    compare(
        &format!("queue, pop and push, {in_flight} in flight"),
        "std BinaryHeap",
        |n| {
            let mut queue = EventQueue::with_capacity(in_flight as usize);
            for id in 0..in_flight {
                queue.push(key(delay(id), id), id as u32);
            }
            for i in 0..n {
                let (head, payload) = queue.pop().expect("events in flight");
                queue.push(key(head.at().as_micros() + delay(i), head.id()), payload);
            }
            queue.peek().expect("events in flight").at().as_micros()
        },
        |n| {
            let mut heap = BinaryHeap::with_capacity(in_flight as usize);
            for id in 0..in_flight {
                heap.push(Reverse((key(delay(id), id), id as u32)));
            }
            for i in 0..n {
                let Reverse((head, payload)) = heap.pop().expect("events in flight");
                heap.push(Reverse((key(head.at().as_micros() + delay(i), head.id()), payload)));
            }
            heap.peek().expect("events in flight").0.0.at().as_micros()
        },
    );
}

fn histograms() {
    let value = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    compare(
        "histogram record",
        "hdrhistogram, 3 digits",
        |n| {
            let mut hist = Hist::new();
            (0..n).for_each(|i| hist.record(value(i)));
            hist.quantile(0.5).expect("values were recorded")
        },
        |n| {
            let mut hist = hdrhistogram::Histogram::<u64>::new(3).expect("three digits");
            (0..n).for_each(|i| hist.record(value(i)).expect("auto-resizing"));
            hist.value_at_quantile(0.5)
        },
    );
}

fn key(at: u64, id: u64) -> EventKey {
    EventKey::new(Instant::from_micros(at), Rank::Completion, id, 0)
}

/// Times `part` and `reference` in turn and prints the medians and their ratio.
fn compare(
    name: &str,
    reference_name: &str,
    mut part: impl FnMut(u64) -> u64,
    mut reference: impl FnMut(u64) -> u64,
) {
    let times: [[f64; 2]; ROUNDS] =
        std::array::from_fn(|_| [nanoseconds(&mut part), nanoseconds(&mut reference)]);
    let [ours, theirs] = [0, 1].map(|side| median(times.map(|pair| pair[side])));
    println!("{name:<34} {ours:>9.2} {theirs:>9.2} {:>6.2}  {reference_name}", ours / theirs);
}

fn nanoseconds(work: &mut impl FnMut(u64) -> u64) -> f64 {
    let start = Clock::now();
    black_box(work(black_box(OPERATIONS)));
    start.elapsed().as_nanos() as f64 / OPERATIONS as f64
}

fn median(mut times: [f64; ROUNDS]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[ROUNDS / 2]
}
