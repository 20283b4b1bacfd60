//! R1 in NeXosim: the gateway is one model, each target another, and ports join them. Waits are
//! events that a model schedules for itself; the deadline is one that is cancelled.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant as Clock};

use nexosim::Message;
use nexosim::model::{BuildContext, Context, Model, ProtoModel, schedulable};
use nexosim::ports::Output;
use nexosim::simulation::{EventKey, Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp, LogNormal};
use serde::{Deserialize, Serialize};

const RATE: f64 = 200.0;
const SLOTS: usize = 64;
const QUEUE: usize = 64;
const BAD: f64 = 0.05;
const BASE: f64 = 0.25;
const CAP: f64 = 4.0;
const DEADLINE: Duration = Duration::from_secs(30);
const PLAN: [usize; 4] = [0, 0, 1, 2];

/// One try of a request: its place, and the step it was at when it was sent.
#[derive(Clone, Copy, PartialEq, Message, Serialize, Deserialize)]
struct Try {
    place: usize,
    step: u64,
}

#[derive(Clone, Copy, Message, Serialize, Deserialize)]
struct Answer {
    of: Try,
    good: bool,
}

#[derive(Serialize, Deserialize)]
struct Target {
    answers: Output<Answer>,
    waiting: VecDeque<Try>,
    serving: Vec<(Try, EventKey)>,
}

struct TargetLuck {
    luck: SmallRng,
    takes: LogNormal<f64>,
}

struct NewTarget {
    answers: Output<Answer>,
    seed: u64,
}

impl ProtoModel for NewTarget {
    type Model = Target;
    fn build(self, _: &mut BuildContext<Self>) -> (Target, TargetLuck) {
        let target =
            Target { answers: self.answers, waiting: VecDeque::new(), serving: Vec::new() };
        let takes = LogNormal::new(0.8_f64.ln(), 0.6).expect("a positive deviation");
        (target, TargetLuck { luck: SmallRng::seed_from_u64(self.seed), takes })
    }
}

#[Model(type Env = TargetLuck)]
impl Target {
    async fn send(&mut self, of: Try, context: &Context<Self>, luck: &mut TargetLuck) {
        if self.serving.len() < SLOTS {
            self.serve(of, context, luck);
        } else if self.waiting.len() < QUEUE {
            self.waiting.push_back(of);
        } else {
            self.answers.send(Answer { of, good: false }).await;
        }
    }

    async fn withdraw(&mut self, of: Try, context: &Context<Self>, luck: &mut TargetLuck) {
        self.waiting.retain(|waits| *waits != of);
        if let Some(i) = self.serving.iter().position(|(served, _)| *served == of) {
            self.serving.swap_remove(i).1.cancel();
            self.next(context, luck);
        }
    }

    #[nexosim(schedulable)]
    async fn done(&mut self, of: Try, context: &Context<Self>, luck: &mut TargetLuck) {
        self.serving.retain(|(served, _)| *served != of);
        self.next(context, luck);
        let good = luck.luck.random::<f64>() >= BAD;
        self.answers.send(Answer { of, good }).await;
    }

    fn next(&mut self, context: &Context<Self>, luck: &mut TargetLuck) {
        if let Some(of) = self.waiting.pop_front() {
            self.serve(of, context, luck);
        }
    }

    fn serve(&mut self, of: Try, context: &Context<Self>, luck: &mut TargetLuck) {
        let takes = after(luck.takes.sample(&mut luck.luck));
        let key = context.schedule_keyed_event(takes, schedulable!(Self::done), of);
        self.serving.push((of, key.expect("it lies ahead")));
    }
}

#[derive(Serialize, Deserialize)]
struct Request {
    came: MonotonicTime,
    /// Position in the plan.
    at: usize,
    waits: i32,
    /// Counts on with everything that happens, so that what comes late is known as such.
    step: u64,
    sent: bool,
    deadline: Option<EventKey>,
}

#[derive(Serialize, Deserialize)]
struct Gateway {
    sends: Vec<Output<Try>>,
    withdraws: Vec<Output<Try>>,
    requests: Vec<Request>,
    free: Vec<usize>,
    left: u64,
    open: u64,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    answered: u64,
    attempts: u64,
    latency: f64,
}

struct GatewayLuck {
    luck: SmallRng,
    gaps: Exp<f64>,
    counts: Counts,
    told: Arc<Mutex<Counts>>,
}

struct NewGateway {
    sends: Vec<Output<Try>>,
    withdraws: Vec<Output<Try>>,
    requests: u64,
    seed: u64,
    told: Arc<Mutex<Counts>>,
}

impl ProtoModel for NewGateway {
    type Model = Gateway;
    fn build(self, _: &mut BuildContext<Self>) -> (Gateway, GatewayLuck) {
        let gateway = Gateway {
            sends: self.sends,
            withdraws: self.withdraws,
            requests: Vec::new(),
            free: Vec::new(),
            left: self.requests,
            open: 0,
        };
        let luck = GatewayLuck {
            luck: SmallRng::seed_from_u64(self.seed),
            gaps: Exp::new(RATE).expect("a positive rate"),
            counts: Counts::default(),
            told: self.told,
        };
        (gateway, luck)
    }
}

#[Model(type Env = GatewayLuck)]
impl Gateway {
    #[nexosim(init)]
    async fn init(&mut self, context: &Context<Self>, luck: &mut GatewayLuck) {
        self.expect_next(context, luck);
    }

    #[nexosim(schedulable)]
    async fn arrive(&mut self, _: (), context: &Context<Self>, luck: &mut GatewayLuck) {
        self.left -= 1;
        self.open += 1;
        if self.left > 0 {
            self.expect_next(context, luck);
        }
        let fresh =
            Request { came: context.time(), at: 0, waits: 0, step: 0, sent: false, deadline: None };
        let place = match self.free.pop() {
            Some(place) => {
                let step = self.requests[place].step;
                self.requests[place] = Request { step, ..fresh };
                place
            }
            None => {
                self.requests.push(fresh);
                self.requests.len() - 1
            }
        };
        let key = context.schedule_keyed_event(DEADLINE, schedulable!(Self::expire), place);
        self.requests[place].deadline = Some(key.expect("it lies ahead"));
        self.attempt(place, luck).await;
    }

    async fn answer(&mut self, answer: Answer, context: &Context<Self>, luck: &mut GatewayLuck) {
        let place = answer.of.place;
        let request = &mut self.requests[place];
        if request.step != answer.of.step {
            return;
        }
        request.sent = false;
        if answer.good {
            luck.counts.answered += 1;
            luck.counts.latency += context.time().duration_since(request.came).as_secs_f64();
            return self.close(place, luck);
        }
        let failed = request.at;
        request.at += 1;
        request.step += 1;
        match PLAN.get(request.at) {
            None => self.close(place, luck),
            Some(target) if *target != PLAN[failed] => self.attempt(place, luck).await,
            Some(_) => {
                let most = CAP.min(BASE * 2_f64.powi(request.waits));
                request.waits += 1;
                let of = Try { place, step: request.step };
                let wait = after(most * luck.luck.random::<f64>());
                context.schedule_event(wait, schedulable!(Self::wake), of).expect("it lies ahead");
            }
        }
    }

    #[nexosim(schedulable)]
    async fn wake(&mut self, of: Try, _: &Context<Self>, luck: &mut GatewayLuck) {
        if self.requests[of.place].step == of.step {
            self.attempt(of.place, luck).await;
        }
    }

    #[nexosim(schedulable)]
    async fn expire(&mut self, place: usize, _: &Context<Self>, luck: &mut GatewayLuck) {
        let request = &mut self.requests[place];
        request.deadline = None;
        if request.sent {
            let of = Try { place, step: request.step };
            self.withdraws[PLAN[request.at]].send(of).await;
        }
        self.close(place, luck);
    }

    async fn attempt(&mut self, place: usize, luck: &mut GatewayLuck) {
        luck.counts.attempts += 1;
        let request = &mut self.requests[place];
        request.step += 1;
        request.sent = true;
        let of = Try { place, step: request.step };
        self.sends[PLAN[request.at]].send(of).await;
    }

    fn close(&mut self, place: usize, luck: &mut GatewayLuck) {
        let request = &mut self.requests[place];
        request.step += 1;
        if let Some(key) = request.deadline.take() {
            key.cancel();
        }
        self.free.push(place);
        self.open -= 1;
        if self.left + self.open == 0 {
            *luck.told.lock().expect("nobody panics with it") = luck.counts;
        }
    }

    fn expect_next(&mut self, context: &Context<Self>, luck: &mut GatewayLuck) {
        let gap = after(luck.gaps.sample(&mut luck.luck));
        context.schedule_event(gap, schedulable!(Self::arrive), ()).expect("it lies ahead");
    }
}

/// A wait of so many seconds; NeXosim refuses one of nothing.
fn after(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds).max(Duration::from_nanos(1))
}

fn main() {
    let argument = |i, default| {
        std::env::args().nth(i).map_or(default, |text| text.parse().expect("a whole number"))
    };
    let (requests, seed) = (argument(1, 200_000), argument(2, 1));
    let told = Arc::new(Mutex::new(Counts::default()));
    let gateway_mail = Mailbox::new();
    let mut gateway = NewGateway {
        // Not one that is cloned: clones of a port share its connections.
        sends: (0..3).map(|_| Output::default()).collect(),
        withdraws: (0..3).map(|_| Output::default()).collect(),
        requests,
        seed,
        told: told.clone(),
    };
    let mut bench = SimInit::with_num_threads(1);
    for (i, name) in ["A", "B", "C"].into_iter().enumerate() {
        let mail = Mailbox::new();
        let mut target =
            NewTarget { answers: Output::default(), seed: seed + 1_000 * (i as u64 + 1) };
        target.answers.connect(Gateway::answer, &gateway_mail);
        gateway.sends[i].connect(Target::send, &mail);
        gateway.withdraws[i].connect(Target::withdraw, &mail);
        bench = bench.add_model(target, mail, name);
    }
    let mut simulation = bench
        .add_model(gateway, gateway_mail, "gateway")
        .init(MonotonicTime::EPOCH)
        .expect("the bench is in order");
    let start = Clock::now();
    simulation.run().expect("the run ends");
    let seconds = start.elapsed().as_secs_f64();
    let counts = *told.lock().expect("nobody panics with it");
    let of_requests = |n: f64| n / requests as f64;
    println!(
        "{{\"ns_per_request\": {}, \"success\": {}, \"attempts\": {}, \"latency\": {}}}",
        1e9 * of_requests(seconds),
        of_requests(counts.answered as f64),
        of_requests(counts.attempts as f64),
        counts.latency / counts.answered as f64,
    );
}
