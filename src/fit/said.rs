//! What the log cannot tell, and what was taken instead.

use super::card::SLOTS;
use super::files::{stamp, us};
use super::limits::Limits;
use super::price::{Told, WELL_EXPLAINED};
use super::slower::GivenUp;
use super::text::many;
use super::{Fit, TargetFit};
use crate::log::{AfterAnswer, Shows};

impl Fit {
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
}
