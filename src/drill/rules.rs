//! What must hold, drill by drill: one sentence each, and who sees to it.

use super::finding::Rule;

pub(super) const REFUSED: Rule =
    Rule::of_policy("Where connections are refused, the target of the same model answers.");
pub(super) const OVERLOADED: Rule =
    Rule::of_policy("Where the primary answers 503, the target of the same model answers.");
pub(super) const SILENT: Rule =
    Rule::of_policy("Where the primary is silent, the target of the same model answers in time.");
pub(super) const WAITS: Rule =
    Rule::of_policy("Nothing is sent to a target again before the wait it asked for is over.");
pub(super) const LONG_WAITS: Rule =
    Rule::of_policy("A wait that does not fit the deadline is not replaced by a shorter one.");
pub(super) const NO_HINT: Rule = Rule::of_policy(
    "Where a target asks for no wait, what is sent again waits 50ms or more on average.",
);
pub(super) const IN_PEACE: Rule = Rule::of_policy(
    "With another target free, a target that asked for a wait gets nothing until then.",
);
pub(super) const NONE_AFTERWARDS: Rule =
    Rule::of_core("No attempt starts after the caller has cancelled.");
pub(super) const ENDS_WITH_IT: Rule =
    Rule::of_core("At the cancellation the attempt in flight is aborted, and the request ends.");
pub(super) const NO_REPLAY: Rule =
    Rule::of_core("Nothing is sent again once output was passed on.");
pub(super) const PARTIAL: Rule =
    Rule::of_core("Where a stream broke, the request ends as partial.");
pub(super) const WHOLE: Rule =
    Rule::of_core("Output is passed on only where the whole answer is there.");
pub(super) const MALFORMED: Rule =
    Rule::of_policy("A malformed request ends with its own 400, after one attempt.");
pub(super) const BLOCKED: Rule =
    Rule::of_policy("A blocked prompt is not sent again for the same model.");
pub(super) const REFUSAL: Rule = Rule::of_core("A valid refusal is returned as the result it is.");
pub(super) const ONCE: Rule =
    Rule::of_policy("No action writes twice, whatever fails after its tool may have run.");
pub(super) const WRITTEN: Rule = Rule::of_core("The tool of what is answered has written.");
pub(super) const NOT_RETRYABLE: Rule = Rule::of_core(
    "An error that leaves the effect open invites nobody to send again, but to look.",
);
pub(super) const ONE_ERROR: Rule =
    Rule::of_core("Each request ends once, with an error that names status, class and reason.");
pub(super) const COUNTED: Rule = Rule::of_core("The error counts the attempts that were sent.");
pub(super) const IN_GOOD_TIME: Rule =
    Rule::of_policy("Where all fail at once, the error comes within half of the deadline.");
pub(super) const BILLS: Rule = Rule::of_core("Each attempt costs price times billed tokens.");
pub(super) const SUMS: Rule = Rule::of_core("Each request costs the sum of its attempts.");
pub(super) const TOTALS: Rule =
    Rule::of_core("The totals of each route class are the sums of its measured requests.");
pub(super) const USEFUL: Rule =
    Rule::of_policy("No attempt is sent that cannot be finished before the deadline.");
pub(super) const MOVES: Rule =
    Rule::of_policy("In the second half of the outage at most a tenth of the requests go there.");
pub(super) const PROBES: Rule =
    Rule::of_policy("Until it has answered again, at most half of the requests go there.");
pub(super) const RETURNS: Rule =
    Rule::of_policy("At the end, at least half of the requests go there again.");
pub(super) const TOOLS: Rule =
    Rule::of_core("A request that needs tools is never sent to a target without them.");
pub(super) const SCHEMA: Rule =
    Rule::of_policy("After an answer that breaks its schema, only validated targets are tried.");
pub(super) const DELIVERED: Rule =
    Rule::of_core("An answer known to break its schema is never delivered as good.");
pub(super) const WINDOW: Rule =
    Rule::of_core("A prompt is never sent to a target whose window it exceeds.");
pub(super) const OVERFLOW: Rule =
    Rule::of_policy("A prompt that was too long goes on only to a larger window.");
pub(super) const PENDING: Rule =
    Rule::of_core("A pending fallback attempt is aborted at the cancellation.");
pub(super) const SAME_KEY: Rule =
    Rule::of_core("The same idempotency key twice writes once, where the tool knows it again.");
pub(super) const KEYLESS: Rule =
    Rule::of_policy("It writes once also where the tool knows no keys, and only its record tells.");
pub(super) const ONE_OWNER: Rule =
    Rule::of_policy("No layer around the gateway or behind it adds calls to those of the gateway.");
pub(super) const REPORTED: Rule =
    Rule::of_core("The amplification reported is that of the calls that were made.");
