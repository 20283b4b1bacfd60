//! What a fit says of itself: what was found, on how much it rests, and what it cannot know.

use windtunnel_policy::text::escaped;

use super::card::SLOTS;
use super::files::{stamp, us};
use super::limits::Limits;
use super::phases::Phase;
use super::price::{Told, WELL_EXPLAINED};
use super::slower::GivenUp;
use super::{Fit, TargetFit};
use crate::log::{AfterAnswer, Read, Shows, UnusableRows};

/// Phases of one target that are told one by one.
const MOST_TOLD: usize = 12;
/// A target that is hidden for this part of the log is told before the answer.
const HIDDEN_LONG: f64 = 0.02;
/// Attempts of which nobody saw whether they would have been answered, as a part of the log: a breaker spares most.
const MANY_UNTOLD: f64 = 0.005;
/// Where this part of a log's rows cannot be used, what the others show is said to be of the others alone.
const MANY_MISSED: f64 = 0.05;

impl Fit {
    /// What speaks against believing the fit, whatever it reproduces; one sentence each.
    pub fn cautions(&self) -> Vec<String> {
        self.missed().into_iter().chain(self.instant_failures()).collect()
    }

    /// That many rows of the log are missing.
    fn missed(&self) -> Option<String> {
        let log = self.left_out.first()?;
        let (missed, most) = log.unusable.missed()?;
        let share = missed as f64 / log.rows.max(1) as f64;
        (share >= MANY_MISSED).then(|| {
            format!(
                "{missed} of {} rows ({:.0} %) cannot be used, most of them because one {}: if they are other requests than the rest, or the failures among them, all that follows is of the rest alone",
                log.rows,
                share * 100.0,
                escaped(&most.words())
            )
        })
    }

    /// That many failures came in no time.
    fn instant_failures(&self) -> Option<String> {
        let share = self.instant as f64 / self.attempts.max(1) as f64;
        let many = self.instant >= 20 && share >= 0.01;
        many.then(|| {
            format!(
                "{} failures ({:.1} % of attempts) came back within a millisecond, and no provider answers so fast: they are the gateway's own (its connections, limits or breakers), here they count as the targets', and what another policy would change about them is not told",
                self.instant,
                share * 100.0
            )
        })
    }

    /// Which targets were hidden for a good part of the log, as behind an open breaker; one sentence each.
    pub fn hardly_asked(&self) -> Vec<String> {
        let all = self.clock.horizon_us as f64;
        let hidden = self.targets.iter().map(|target| (target, target.hidden.lasted_us() as f64));
        let long = hidden.filter(|(_, lasted)| *lasted >= HIDDEN_LONG * all);
        long.map(|(target, lasted)| {
            format!(
                "for {:.1} of {:.0} minutes `{}` was hardly asked, right after failing: how bad it was then nobody saw, and of a policy that asks it then believe the sign rather than the size",
                lasted / 60e6,
                all / 60e6,
                target.name
            )
        })
        .collect()
    }

    /// That failures which a retry recovered are not in the log, and nothing else counts them.
    pub fn recovered_are_missing(&self) -> bool {
        let by_request = self.shows == Shows::LastAttempt;
        by_request && self.counters.is_none() && !self.tells_tries
    }

    /// Where so much was given up while hardly anything came in time that the answer rests on what nobody saw; as
    /// many sentences as targets. They concern policies that wait longer.
    pub fn given_up_untold(&self) -> Vec<String> {
        let of = |target: &TargetFit| {
            let untold = target.parameters.unanswered.untold;
            (untold >= MANY_UNTOLD * self.attempts as f64).then(|| {
                format!(
                    "{untold:.0} attempts at `{}` were given up while hardly anything came in time, and nobody saw whether it would have come later: half of it is taken for slow, and of a policy that waits longer believe no more than the interval",
                    target.name
                )
            })
        };
        self.targets.iter().filter_map(of).collect()
    }

    /// What the log cannot tell, and what was taken instead; one sentence each.
    pub fn said(&self) -> Vec<String> {
        let mut said = self.blind_to.clone();
        said.extend(self.cautions());
        said.extend(self.said_of_targets());
        self.said_of_attempts(&mut said);
        let AfterAnswer { requests, line } = self.after_answer;
        if requests > 0 {
            said.push(format!(
                "{requests} of {} requests have attempts sent after one had answered (the first in line {line}): no gateway does that; if its column is what several requests share, give another, for here they are one",
                self.requests
            ));
        }
        if self.resent > 0 {
            said.push(format!(
                "{} requests were sent again by a layer above the gateway: they are no demand of their own, and the fitted world has no such layer",
                self.resent
            ));
        }
        for class in &self.classes {
            if !class.roles.stated {
                said.push(format!("class {}: roles are taken from the order of use", class.name));
            }
            said.extend(class.roles.deadlines.said(&class.name, class.roles.longest_us));
            if class.borrowed > 0 {
                said.push(format!(
                    "class {}: {} of {} requests have no tokens in the log (most were never answered): those of the request before are taken, and the output of one that was longer for an answer that was cut while it came",
                    class.name,
                    class.borrowed,
                    class.roles.requests
                ));
            }
            if class.roles.invalid > 0 {
                said.push(format!(
                    "class {}: {} malformed requests are left out",
                    class.name, class.roles.invalid
                ));
            }
        }
        for target in &self.targets {
            self.said_of(target, &mut said);
        }
        said
    }

    /// Which attempts were not seen, and what stands for them.
    fn said_of_attempts(&self, said: &mut Vec<String>) {
        if self.shows == Shows::LastAttempt {
            said.push("the log shows one row for each request: attempts before the last are not seen, an answer after a retry looks like a slow one, and who is tried first is taken from who was asked last".into());
            said.push(match &self.counters {
                Some((name, _)) => format!(
                    "attempts and failures by minute are those that {name} counts: what was sent to the target that is tried first beyond a minute's requests is taken for second tries, which fail as often again as the stickiness that is assumed; of other targets, second tries are among what is counted, so failing shares are upper bounds; how far failures stick to their request is not identified"
                ),
                None if self.tells_tries => "how many attempts there were is told of each request: those before the last are taken for server errors at the target of the last".into(),
                None => "failures that a retry recovered are missing: failing shares of targets are lower bounds; `--counters` takes counts by minute of them".into(),
            });
        }
        if self.unseen > 0 && !self.tells_tries {
            said.push(format!(
                "{} attempts are told as a number alone: they are taken for server errors at the target of the last",
                self.unseen
            ));
        }
        let Some((name, counted)) = &self.counters else { return };
        if counted.anywhere {
            said.push("the log does not say where requests went: times are those of all requests together, for each target; whoever was asked most is taken for the first".into());
        }
        if counted.outside > 0 {
            said.push(format!(
                "{} of {} minutes that {name} counts lie before or after the log and are left out",
                counted.outside,
                counted.outside + counted.within
            ));
        }
    }

    fn said_of(&self, target: &TargetFit, said: &mut Vec<String>) {
        let name = &target.name;
        let parameters = &target.parameters;
        let samples = parameters.samples;
        if samples.given_up > 0
            && let Some(last) = parameters.first.last()
        {
            said.push(format!(
                "{name}: {} attempts were given up before their first output; the last first output seen took {}; what those given up would have taken is not identified: {}{}",
                samples.given_up,
                us(last),
                match samples.cut_short {
                    0 => String::new(),
                    cut => format!(
                        "{cut} of them were cut by the product's deadline, and are taken to have come later, as the times that were seen go on; "
                    ),
                },
                match parameters.unanswered {
                    _ if samples.cut_short == samples.given_up => "none failed".into(),
                    GivenUp { slow, .. } if slow < 0.5 => "what failed is taken as never answered".into(),
                    GivenUp { all, slow, .. } => format!(
                        "of {all:.0} first tries, {slow:.0} are as many as times that had become longer explain and are taken for slow, the others as never answered"
                    ),
                }
            ));
        }
        if parameters.unanswered.untold > 0.0 {
            said.push(format!(
                "{name}: {:.0} first tries were given up while hardly anything came in time: whether it would have come later is not identified; half of it is taken for slow, and refits take anything from none to all",
                parameters.unanswered.untold
            ));
        }
        if let Some(lender) = target.lender {
            let of = self.targets.iter().find(|other| other.position == lender);
            said.push(format!(
                "{name}: its times hold those of failures before, at other targets: those of {} are taken for its own",
                of.map_or("the first", |of| of.name.as_str())
            ));
        }
        if parameters.stick.share.is_none() {
            said.push(format!(
                "{name}: how far failures stick to their request is not identified ({} second tries there): the simulator's default, 50 %, is assumed, and refits take anything from nothing to all",
                parameters.stick.tried
            ));
        }
        if !target.hidden.spells.is_empty() {
            said.push(format!(
                "{name}: for {:.1} minutes in all, in {}, it was hardly asked right after failing, as behind an open breaker: what it would have answered then is not identified; it is taken to go on as the failing share did before, between and after, and refits vary it",
                target.hidden.lasted_us() as f64 / 60e6,
                many(target.hidden.spells.len() as u64, "spell")
            ));
        }
        let most = target.most_in_flight;
        said.push(match &target.places {
            Limits::Found(found) => format!(
                "{name}: it refuses for overload beyond {}; slots and places to wait for one are not told apart: so many slots are taken",
                found.words()
            ),
            Limits::NoneRefused | Limits::NotExplained => format!(
                "{name}: capacity is at least the {most} that were in flight at one time, and not identified beyond: {SLOTS} slots are assumed"
            ),
        });
        said.push(match target.load {
            Some(load) if load.half_at.is_some() => {
                format!("{name}: load slows it, {}", load.words())
            }
            Some(load) => format!(
                "{name}: how load slows it is not identified, {}: times are those at the load of the log",
                load.words()
            ),
            None => format!(
                "{name}: how load slows it is not identified: times are those at the load of the log"
            ),
        });
        let [attempts, tokens] = target.most_let_in;
        said.push(match &target.limits {
            Limits::NoneRefused => format!(
                "{name}: nothing was refused for its rate; the busiest minute let in {attempts} attempts and {tokens} tokens, so a limit by the minute, if there is one, is no lower than half of that (a bucket that is full lets in twice its size): none is simulated"
            ),
            Limits::NotExplained => format!(
                "{name}: {} attempts were refused for their rate; the busiest minute let in {attempts} attempts and {tokens} tokens; no limit of this target alone on what was sent explains them (limits that several targets share are not identified, nor several limits at once): they are taken as failures of their phase, with the median wait hint where one was seen",
                target.refused
            ),
            Limits::Found(found) => {
                let or = match found.or.is_empty() {
                    true => String::new(),
                    false => format!("; {} would do as well", found.or.join(" or ")),
                };
                format!(
                    "{name}: {} attempts were refused for their rate, which a limit explains: {}{or}; who else shares it is not identified, and it is taken for this target's alone; {}",
                    target.refused,
                    found.words(),
                    found.hints.words()
                )
            }
        });
        let [answers, broken] = parameters.contract.counted;
        if broken == 0 && parameters.contract.drifts.is_empty() {
            said.push(format!(
                "{name}: none of {answers} answers is said to break its contract: whether any did, and whether that drifts, is not identified unless the log would tell it"
            ));
        }
        if let Some((count, first)) = &target.absurd_bills {
            let at = match self.dated {
                true => stamp(first.sent_us),
                false => us(first.sent_us - self.clock.origin_us),
            };
            let [fresh, cached, output] = first.tokens;
            said.push(format!(
                "{name}: {} of more than ten times what the others say of its tokens {} left out of prices and costs; the first is of an attempt sent at {at}: ${} for {} + {output} tokens",
                many(*count as u64, "bill"),
                if *count == 1 { "is" } else { "are" },
                first.dollars(),
                fresh + cached
            ));
        }
        match &target.price {
            None => said.push(format!(
                "{name}: prices are not identified, the log has no bills with tokens: where it answers anything, costs are not told, unless you write its prices into its card"
            )),
            Some(price) => {
                if price.unexplained > WELL_EXPLAINED {
                    said.push(format!(
                        "{name}: its prices leave {:.0} % of the bills unexplained (root mean square, of {} bills): it charges for something else, or by other prices at other times, and costs are means",
                        price.unexplained * 100.0,
                        price.bills
                    ));
                }
                if price.told != Told::Apart {
                    said.push(format!("{name}: {} bills{}", price.bills, price.told.words()));
                }
            }
        }
    }

    /// The fit for people: what was read, what could not be used, phases with their evidence, figures
    /// with their samples, and what is not known.
    pub fn text(&self, read: &Read) -> String {
        let mut out = format!(
            "{}: {}, {}, {}\n",
            escaped(&self.log),
            many(read.rows, "row"),
            many(self.requests, "request"),
            many(self.attempts, "attempt")
        );
        out += &unusable_text(&read.unusable);
        if let Some(counters) = &read.counters {
            out += &format!("{}: {}\n", escaped(&counters.name), many(counters.rows, "row"));
            out += &unusable_text(&counters.unusable);
        }
        for target in &self.targets {
            out += &self.target_text(target);
        }
        out += "\nNot identified, and what is taken instead\n";
        for said in self.said() {
            out += &format!("  - {}\n", escaped(&said));
        }
        out
    }

    fn target_text(&self, target: &TargetFit) -> String {
        let parameters = &target.parameters;
        let samples = parameters.samples;
        let names = &target.names;
        let of = |p: f64| parameters.first.quantile(p).map_or("–".into(), seconds);
        let mut out = format!(
            "\n{} ({}, {})\n",
            target.name,
            escaped(&names.provider),
            escaped(&names.model)
        );
        out += &format!(
            "  first output  p50 {}, p90 {}, p99 {}; {} seen, {} given up before it\n",
            of(0.5),
            of(0.9),
            of(0.99),
            samples.first,
            samples.given_up
        );
        if let Some(price) = &target.price {
            out += &format!(
                "  price         {} in, {} out per million tokens; {} bills{}\n",
                price.input,
                price.output,
                price.bills,
                match price.unexplained > WELL_EXPLAINED {
                    true => format!(", {:.0} % of them NOT EXPLAINED", price.unexplained * 100.0),
                    false => price.told.words().to_owned(),
                }
            );
        }
        if let Limits::Found(found) = &target.limits {
            out += &format!("  limit         {}; {}\n", found.words(), found.evidence());
        }
        if let Limits::Found(found) = &target.places {
            out += &format!("  capacity      {}; {}\n", found.words(), found.evidence());
        }
        if let Some(load) = target.load.filter(|load| load.half_at.is_some()) {
            out += &format!("  load          {}\n", load.words());
        }
        out += &match (parameters.stick.share, parameters.stick.interval) {
            (Some(share), Some((low, high))) => format!(
                "  stickiness    {:.0} % to the request ({:.0}–{:.0}); {} of {} second tries failed again\n",
                share * 100.0,
                low * 100.0,
                high * 100.0,
                parameters.stick.failed,
                parameters.stick.tried
            ),
            _ => format!(
                "  stickiness    50 % assumed; {} second tries tell too little\n",
                parameters.stick.tried
            ),
        };
        out += &self.phases_text(target);
        out + &self.contract_text(target)
    }

    /// Phases, each with its failures; short ones between equal ones are told as a number.
    fn phases_text(&self, target: &TargetFit) -> String {
        let all = &target.phases.phases;
        let counted = &target.in_phases;
        let mut out = format!(
            "  phases        {}, each cut worth more than {:.0} in twice the log likelihood\n",
            all.len(),
            target.phases.penalty
        );
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|&a, &b| counted[b].attempts().total_cmp(&counted[a].attempts()));
        order.truncate(MOST_TOLD);
        order.sort_unstable();
        for i in order {
            let phase = &all[i];
            let slower = target.parameters.slower[i];
            out += &format!(
                "    {}–{}  {:.0} of {:.0} failed ({:.2} %){}{}{}\n",
                self.clock_text(phase.from),
                self.clock_text(phase.to),
                counted[i].failed(),
                counted[i].attempts(),
                counted[i].rate().unwrap_or(0.0) * 100.0,
                if target.parameters.ordinary[i] { ", ordinary" } else { "" },
                if slower == 1.0 {
                    String::new()
                } else {
                    format!(", first output {slower:.2} times as long")
                },
                evidence(phase)
            );
        }
        if !target.phases.blackouts.is_empty() {
            out += &format!(
                "    {} single minutes in which all attempts failed, which their phases would hardly show\n",
                target.phases.blackouts.len()
            );
        }
        if all.len() > MOST_TOLD {
            out += &format!("    … and {} shorter ones\n", all.len() - MOST_TOLD);
        }
        out
    }

    /// How often answers break their contract, where any does.
    fn contract_text(&self, target: &TargetFit) -> String {
        let contract = &target.parameters.contract;
        let [all, broken] = contract.counted;
        if broken == 0 && contract.drifts.is_empty() {
            return String::new();
        }
        let percent = |broken: u64, all: u64| broken as f64 / all.max(1) as f64 * 100.0;
        let mut out = format!(
            "  contract      {broken} of {all} answers broke it ({:.2} %), ordinary\n",
            percent(broken, all)
        );
        for (phase, [all, broken]) in &contract.drifts {
            out += &format!(
                "    {}–{}  {broken} of {all} answers broke it ({:.2} %){}\n",
                self.clock_text(phase.from),
                self.clock_text(phase.to),
                percent(*broken, *all),
                evidence(phase)
            );
        }
        out
    }

    /// A minute of the log's clock in the scenario's time, or as a date where the log has dates.
    pub fn clock_text(&self, minute: u64) -> String {
        minute_text(minute, self.dated)
    }
}

/// A minute as a date, or counted from the start.
pub(super) fn minute_text(minute: u64, dated: bool) -> String {
    if dated {
        return stamp(minute * super::evidence::MINUTE_US);
    }
    format!("{}:{:02}", minute / 60, minute % 60)
}

/// Rows that cannot be used, by reason.
fn unusable_text(unusable: &UnusableRows) -> String {
    if unusable.count() == 0 {
        return String::new();
    }
    let mut out = format!("{} cannot be used:\n", many(unusable.count(), "row"));
    unusable.told().for_each(|told| out += &format!("  {told}\n"));
    out
}

fn evidence(phase: &Phase) -> String {
    phase.evidence.map_or(String::new(), |evidence| format!("; evidence {evidence:.0}"))
}

/// A number of things, in words.
pub(crate) fn many(count: u64, of: &str) -> String {
    format!("{count} {of}{}", if count == 1 { "" } else { "s" })
}

fn seconds(us: u64) -> String {
    format!("{:.2} s", us as f64 / 1e6)
}
