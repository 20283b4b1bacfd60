//! Rows no policy can make: what would be seen if the core or the simulator were at fault.

use windtunnel_policy::config::{Policy, Streaming};
use windtunnel_policy::event::{Advice, Outcome};
use windtunnel_policy::outcome::FailureClass;
use windtunnel_policy::{Duration, Instant, Money};

use super::{broken, conservative};
use crate::drill::{Case, Drill, Evidence};
use crate::record::{AttemptRow, RequestRow, Rows, RunTotals};
use crate::simulation::Simulation;
use crate::world::{World, WorldOptions};

/// One fault in the rows of a drill, and the rule it breaks.
pub(super) struct Tampered {
    pub(super) drill: &'static str,
    pub(super) breaks: &'static str,
    /// The request to tamper with.
    which: fn(&Case<'_>, &Evidence<'_>) -> bool,
    fault: Fault,
}

enum Fault {
    /// One more attempt, made from the last one; told when the caller goes.
    Attempt(fn(&mut AttemptRow, Instant)),
    /// The last attempt is another.
    Last(fn(&mut AttemptRow, Instant)),
    /// The request is another.
    Request(fn(&mut RequestRow, Instant)),
    /// The request is closed a second time.
    Twice,
    /// The last attempt goes to this target.
    Target(&'static str),
    /// The tool of its action writes once more.
    Write,
    /// It has not written.
    NoWrite,
    Totals(fn(&mut RunTotals)),
}

use Fault::{Attempt, Last, NoWrite, Request, Target, Totals, Twice, Write};

const SECOND: Duration = Duration::from_secs(1);

fn any(_: &Case<'_>, _: &Evidence<'_>) -> bool {
    true
}

fn cancelled(case: &Case<'_>, _: &Evidence<'_>) -> bool {
    case.request.result.outcome == Outcome::Cancelled && !case.attempts.is_empty()
}

fn pending(case: &Case<'_>, evidence: &Evidence<'_>) -> bool {
    cancelled(case, evidence) && case.attempts.len() == 2 && case.attempts[1].cancelled
}

fn broke(case: &Case<'_>, _: &Evidence<'_>) -> bool {
    case.request.result.outcome == Outcome::Partial
}

fn answered(case: &Case<'_>, _: &Evidence<'_>) -> bool {
    case.request.measured && case.request.answered
}

fn of_class(case: &Case<'_>, evidence: &Evidence<'_>, name: &str) -> bool {
    evidence.scenario.classes[usize::from(case.request.class)].name == name
}

fn effect_unknown(case: &Case<'_>, _: &Evidence<'_>) -> bool {
    case.request.result.class == Some(FailureClass::SideEffectUnknown)
}

fn same_key(case: &Case<'_>, evidence: &Evidence<'_>) -> bool {
    of_class(case, evidence, "same-key") && case.action != case.request.request
}

fn refused(case: &Case<'_>, evidence: &Evidence<'_>) -> bool {
    of_class(case, evidence, "refused")
}

fn needs_tools(case: &Case<'_>, evidence: &Evidence<'_>) -> bool {
    of_class(case, evidence, "needs-tools") && !case.attempts.is_empty()
}

fn breaks_schema(case: &Case<'_>, evidence: &Evidence<'_>) -> bool {
    of_class(case, evidence, "breaks-schema")
}

fn long_prompt(case: &Case<'_>, evidence: &Evidence<'_>) -> bool {
    of_class(case, evidence, "long-prompt") && !case.attempts.is_empty()
}

#[rustfmt::skip]
pub(super) const ALL: &[Tampered] = &[
    Tampered {
        drill: "caller-cancels", breaks: "No attempt starts after the caller has cancelled.",
        which: cancelled, fault: Attempt(|row, gone| (row.sent, row.ended) = (gone + Duration::from_micros(1), gone)),
    },
    Tampered {
        drill: "caller-cancels", breaks: "At the cancellation the attempt in flight is aborted, and the request ends.",
        which: cancelled, fault: Last(|row, gone| row.ended = gone + SECOND),
    },
    Tampered {
        drill: "caller-cancels", breaks: "At the cancellation the attempt in flight is aborted, and the request ends.",
        which: cancelled, fault: Request(|row, gone| row.closed = gone + SECOND),
    },
    Tampered {
        drill: "broken-stream", breaks: "Nothing is sent again once output was passed on.",
        which: broke, fault: Attempt(|row, _| row.sent = row.ended),
    },
    Tampered {
        drill: "broken-stream", breaks: "Where a stream broke, the request ends as partial.",
        which: broke, fault: Request(|row, _| row.result.outcome = Outcome::Exhausted),
    },
    Tampered {
        drill: "broken-stream", breaks: "Output is passed on only where the whole answer is there.",
        which: any, fault: Request(|row, _| (row.released, row.result.outcome) = (true, Outcome::Partial)),
    },
    Tampered {
        drill: "invalid-request", breaks: "A valid refusal is returned as the result it is.",
        which: refused, fault: Attempt(|row, _| row.sent = row.ended),
    },
    Tampered {
        drill: "tools-once", breaks: "The tool of what is answered has written.",
        which: answered, fault: NoWrite,
    },
    Tampered {
        drill: "tools-once", breaks: "An error that leaves the effect open invites nobody to send again, but to look.",
        which: effect_unknown, fault: Request(|row, _| row.result.retryable = true),
    },
    Tampered {
        drill: "tools-once", breaks: "An error that leaves the effect open invites nobody to send again, but to look.",
        which: effect_unknown, fault: Request(|row, _| row.result.advice = Advice::GiveUp),
    },
    Tampered {
        drill: "all-exhausted", breaks: "Each request ends once, with an error that names status, class and reason.",
        which: any, fault: Twice,
    },
    Tampered {
        drill: "all-exhausted", breaks: "Each request ends once, with an error that names status, class and reason.",
        which: any, fault: Request(|row, _| row.result.stop = None),
    },
    Tampered {
        drill: "all-exhausted", breaks: "The error counts the attempts that were sent.",
        which: any, fault: Request(|row, _| row.result.attempts += 1),
    },
    Tampered {
        drill: "ledger-reconciles", breaks: "Each attempt costs price times billed tokens.",
        which: answered, fault: Last(|row, _| row.usage.output += 1),
    },
    Tampered {
        drill: "ledger-reconciles", breaks: "Each request costs the sum of its attempts.",
        which: answered, fault: Request(|row, _| row.wasted = row.cost + Money::DOLLAR),
    },
    Tampered {
        drill: "ledger-reconciles", breaks: "The totals of each route class are the sums of its measured requests.",
        which: any, fault: Totals(|totals| totals.classes[0].cost += 1),
    },
    Tampered {
        drill: "contract", breaks: "A request that needs tools is never sent to a target without them.",
        which: needs_tools, fault: Target("without-tools"),
    },
    Tampered {
        drill: "contract", breaks: "An answer known to break its schema is never delivered as good.",
        which: breaks_schema, fault: Request(|row, _| row.result.outcome = Outcome::Answered(1)),
    },
    Tampered {
        drill: "contract", breaks: "A prompt is never sent to a target whose window it exceeds.",
        which: long_prompt, fault: Target("small-window"),
    },
    Tampered {
        drill: "cancel-pending", breaks: "A pending fallback attempt is aborted at the cancellation.",
        which: pending, fault: Last(|row, gone| row.ended = gone + SECOND),
    },
    Tampered {
        drill: "cancel-pending", breaks: "No attempt starts after the caller has cancelled.",
        which: pending, fault: Attempt(|row, gone| row.sent = gone + SECOND),
    },
    Tampered {
        drill: "cancel-pending", breaks: "The same idempotency key twice writes once, where the tool knows it again.",
        which: same_key, fault: Write,
    },
    Tampered {
        drill: "layered-loops", breaks: "The amplification reported is that of the calls that were made.",
        which: any, fault: Totals(|totals| totals.classes[0].hidden_calls += 1),
    },
];

#[test]
fn each_fault_is_noticed_by_its_rule() {
    for case in ALL {
        let policy = match case.breaks.starts_with("Output is passed on") {
            true => Policy { streaming: Streaming::BufferThenRelease, ..conservative() },
            false => conservative(),
        };
        let drill = Drill::find(case.drill).expect("a drill");
        let scenario = drill.scenario().expect("a good scenario");
        let world = World::build(&scenario, WorldOptions::default()).expect("a world");
        let mut rows = Rows::default();
        let mut simulation = Simulation::new(&scenario, &policy).expect("the policy fits");
        let mut totals = simulation.run(&world, &mut rows);
        {
            let evidence = Evidence::new(&policy, &scenario, &world, &totals, &rows);
            let clean = broken(&(drill.judge)(&evidence));
            assert!(clean.is_empty(), "{}: {clean:?}", case.drill);
        }
        tamper(case, &policy, &scenario, &world, &mut totals, &mut rows);
        let evidence = Evidence::new(&policy, &scenario, &world, &totals, &rows);
        let found = broken(&(drill.judge)(&evidence));
        assert!(found.contains(case.breaks), "{}: {found:?} is not {}", case.drill, case.breaks);
    }
}

fn tamper(
    case: &Tampered,
    policy: &Policy,
    scenario: &crate::scenario::Scenario,
    world: &World,
    totals: &mut RunTotals,
    rows: &mut Rows,
) {
    let evidence = Evidence::new(policy, scenario, world, totals, rows);
    let chosen = evidence.cases.iter().find(|found| (case.which)(found, &evidence));
    let chosen = chosen.unwrap_or_else(|| panic!("{}: no request to tamper with", case.drill));
    let (request, action, gone) = (chosen.request.request, chosen.action, chosen.gone());
    let last = rows.attempts.iter().rposition(|row| row.request == request);
    let closed = rows.requests.iter().position(|row| row.request == request);
    let closed = closed.expect("every request is closed");
    match case.fault {
        Attempt(change) => {
            let mut row = rows.attempts[last.expect("it has attempts")];
            row.number += 1;
            change(&mut row, gone);
            rows.attempts.push(row);
        }
        Last(change) => change(&mut rows.attempts[last.expect("it has attempts")], gone),
        Target(name) => {
            let target = evidence.named(name);
            rows.attempts[last.expect("it has attempts")].target = target;
        }
        Request(change) => change(&mut rows.requests[closed], gone),
        Twice => rows.requests.push(rows.requests[closed]),
        Write => {
            let written = rows.effects.iter().find(|effect| effect.action == action);
            let again = *written.expect("its tool has written");
            rows.effects.push(again);
        }
        NoWrite => rows.effects.retain(|effect| effect.action != action),
        Totals(change) => change(totals),
    }
}
