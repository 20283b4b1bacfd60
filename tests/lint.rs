//! What is wasteful is said where it stands, and what is not is left alone.

use windtunnel::check::check;
use windtunnel::input::{InputError, SourceFile};
use windtunnel::library::{Kind, find, list};
use windtunnel::lint::{self, PolicyFile};
use windtunnel::scenario::Scenario;

fn policy(text: &str) -> PolicyFile {
    let source = SourceFile::from_bytes("policy.yaml".into(), text.into()).expect("UTF-8");
    PolicyFile::read(source).unwrap_or_else(|error| panic!("{error}"))
}

/// The small scenario of the command line's tests, with one text in place of another.
fn scenario(old: &str, new: &str) -> Scenario {
    let small = include_str!("files/cli/small.yaml");
    assert!(small.contains(old), "{old}");
    let text = small.replacen(old, new, 1);
    let source = SourceFile::from_bytes("small.yaml".into(), text.into()).expect("UTF-8");
    Scenario::read(source).unwrap_or_else(|error| panic!("{error}"))
}

/// One warning, at this field, with these words.
fn one(found: &[InputError], field: &str, words: &str) {
    let all: Vec<String> = found.iter().map(ToString::to_string).collect();
    let [only] = found else { panic!("{field}: {all:?}") };
    assert_eq!(only.path(), field, "{all:?}");
    assert!(only.message().contains(words), "{words}: {all:?}");
    assert!(only.line().is_some() && !only.remedy().is_empty(), "{all:?}");
}

fn alone(text: &str, field: &str, words: &str) {
    one(&lint::policy(&policy(text)), field, words);
}

#[test]
fn attempts_that_do_not_fit_the_deadline() {
    let three = "{attempts: {max: 3}, envelope: {deadline_total: 15s}, timeouts: {attempt: 10s}}";
    alone(three, "timeouts.attempt", "3 attempts of 10s do not fit envelope.deadline_total of 15s");
    // Waits count: two times 5 s and 4 s between them are 14 s, three are 23 s.
    let waits = "
attempts: {max: 3, max_same_target: 3}
envelope: {deadline_total: 22s}
timeouts: {attempt: 5s}
backoff: {base: 4s, max: 4s, jitter: fixed}
";
    alone(waits, "timeouts.attempt", "time out, 2 can run to their end");
    let fits = waits.replace("22s", "23s");
    assert_eq!(lint::policy(&policy(&fits)), []);
}

#[test]
fn what_a_policy_says_of_single_classes() {
    let small = scenario("name: small", "name: small");
    let four = "{attempts: {max: 2}, timeouts: {attempt: 10s}, classes: {chat: {max: 4}}}";
    let words = "4 attempts of 10s do not fit the deadline of class chat in small of 30s";
    one(&lint::pair(&policy(four), &small), "timeouts.attempt", words);
    let late = "{classes: {chat: {max_added_latency: 40s}}}";
    one(&lint::pair(&policy(late), &small), "classes.chat.max_added_latency", "never binds");
    let unknown = "{attempts: {max: 2}, classes: {chatt: {max: 2}}}";
    let found = lint::pair(&policy(unknown), &small);
    let [only] = &found[..] else { panic!("{found:?}") };
    assert_eq!((only.path(), only.line()), ("classes.chatt", Some(1)));
    assert!(only.remedy().contains("did you mean `chat`?"), "{only}");
}

#[test]
fn waits_the_deadline_always_eats() {
    let deadline = "
envelope: {deadline_total: 10s, min_useful: 1s}
backoff: {base: 9500ms, max: 20s, jitter: exponential}
";
    alone(deadline, "backoff.base", "retry 1 waits until 9.5s");
    let added = "
attempts: {max: 4, max_same_target: 4}
envelope: {max_added_latency: 6s}
backoff: {base: 2s, max: 20s, jitter: {subtractive: 25%}}
";
    // 1.5 s, 3 s and 6 s at the least.
    alone(added, "backoff.base", "retry 3 waits until 10.5s");
    let full = added.replace("{subtractive: 25%}", "full");
    assert_eq!(lint::policy(&policy(&full)), []);
}

#[test]
fn limits_that_never_end_anything() {
    for (text, field, words) in [
        ("timeouts: {attempt: 5s, first_token: 5s}", "timeouts.first_token", "as long as"),
        ("timeouts: {attempt: 5s, idle_stream: 5s}", "timeouts.idle_stream", "as long as"),
        (
            "{envelope: {deadline_total: 5s}, timeouts: {first_token: 5s}}",
            "timeouts.first_token",
            "never ends an attempt before envelope.deadline_total",
        ),
        (
            "{envelope: {deadline_total: 5s}, timeouts: {attempt: 8s}}",
            "timeouts.attempt",
            "never ends an attempt before envelope.deadline_total",
        ),
        (
            "envelope: {deadline_total: 5s, max_added_latency: 5s}",
            "envelope.max_added_latency",
            "never binds",
        ),
        (
            "envelope: {deadline_total: 5s, estimate: {prior: 5s}}",
            "envelope.estimate.prior",
            "until 20 outcomes were seen",
        ),
        (
            "{timeouts: {attempt: 5s}, hedge: {after_quantile: 95%, at_least: 5s}}",
            "hedge.at_least",
            "never passes before timeouts.attempt of 5s",
        ),
        (
            "retry_after: {mode: ignore, longest_wait: 5s}",
            "retry_after.longest_wait",
            "ignores every hint",
        ),
        (
            "retry_after: {mode: {cap_at: 3s}, longest_wait: 5s}",
            "retry_after.longest_wait",
            "every hint is cut to 3s before",
        ),
    ] {
        alone(text, field, words);
    }
}

#[test]
fn limits_on_attempts_that_never_bind() {
    for (text, field, words) in [
        ("attempts: {max: 2, max_same_target: 3}", "attempts.max_same_target", "3 never binds"),
        (
            "attempts: {max: 2, max_before_fallback: 3}",
            "attempts.max_before_fallback",
            "3 never binds",
        ),
        ("attempts: {max: 2, max_after_fallback: 3}", "attempts.max_after_fallback", "in all"),
    ] {
        alone(text, field, words);
    }
    assert_eq!(lint::policy(&policy("attempts: {max: 2, max_same_target: 3, scope: group}")), []);
}

#[test]
fn budgets_of_nothing() {
    let budget = |attempts: &str, governs: &str, kind: &str| {
        format!(
            "{{attempts: {attempts}, retry_budgets: [{{governs: [{governs}], charged_to: overall, \
             kind: {kind}}}]}}"
        )
    };
    let ratio =
        |share: &str| format!("{{ratio: {{share: {share}, window: 10s, min_per_second: 0}}}}");
    alone(
        &budget("{allow_retry: false}", "retry, failover", "{in_flight: {max: 9}}"),
        "retry_budgets[0].governs[0]",
        "makes no retry",
    );
    alone(
        &budget("{}", "hedge", "{in_flight: {max: 9}}"),
        "retry_budgets[0].governs[0]",
        "no hedge",
    );
    alone(
        &budget("{max: 2}", "retry, failover", &ratio("100%")),
        "retry_budgets[0].kind",
        "never denies anything",
    );
    let binds = budget("{max: 3}", "retry, failover", &ratio("100%"));
    assert_eq!(lint::policy(&policy(&binds)), []);
}

#[test]
fn settings_of_what_is_never_done() {
    for (text, field, words) in [
        (
            "{attempts: {allow_retry: false}, matrix: {timeout: {retry: bounded}}}",
            "matrix.timeout.retry",
            "allows no retry",
        ),
        (
            "{attempts: {allow_failover: false}, matrix: {unknown: {failover: yes}}}",
            "matrix.unknown.failover",
            "allows no failover",
        ),
        (
            "{attempts: {allow_substitution: false}, matrix: {unknown: {substitution: if_approved}}}",
            "matrix.unknown.substitution",
            "allows no substitution",
        ),
        ("{attempts: {allow_retry: false}, backoff: {base: 1s}}", "backoff", "makes no retry"),
        (
            "{attempts: {allow_retry: false}, envelope: {reserve_for_failover: 5s}}",
            "envelope.reserve_for_failover",
            "no retries to keep it from",
        ),
        (
            "{attempts: {allow_failover: false, allow_substitution: false}, envelope: \
             {reserve_for_failover: 5s}}",
            "envelope.reserve_for_failover",
            "nothing ever fails over",
        ),
        (
            "{matrix: {rate_limited: {blame: no}}, cooldown: {rule: {fixed: 9s}}}",
            "cooldown.rule",
            "never starts",
        ),
    ] {
        alone(text, field, words);
    }
}

#[test]
fn breakers_that_nothing_opens() {
    let blameless = "
breakers: [{trip: [{consecutive: 3}, {slow_calls: {share: 50%, slower_than: 1s, window: 9s, min_calls: 2}}]}]
matrix:
  transport: {blame: no}
  timeout: {blame: no}
  overloaded: {blame: no}
  server_error: {blame: no}
  partial_stream: {blame: no}
  unknown: {blame: no}
";
    alone(blameless, "breakers[0].trip[0]", "no failure class of the matrix blames a breaker");
}

#[test]
fn breakers_and_replicas_with_fields_that_do_nothing() {
    let keyed = |key: &str| format!("breakers: [{{key: [{key}]}}]");
    alone(&keyed("capability"), "breakers[0].key", "one breaker stands for all targets");
    assert_eq!(lint::policy(&policy(&keyed("provider, capability"))), []);
    let probed =
        |after: &str| format!("breakers: [{{probes: {{successes: 5}}, after_open: {after}}}]");
    alone(&probed("close"), "breakers[0].probes", "closes it without a probe");
    assert_eq!(lint::policy(&policy(&probed("half_open"))), []);
    let told = |count: u32| format!("replicas: {{count: {count}, sharing: {{after: 1s}}}}");
    alone(&told(1), "replicas.sharing", "there is one replica");
    assert_eq!(lint::policy(&policy(&told(2))), []);
}

#[test]
fn first_chunks_that_no_target_sends() {
    let final_with_it = "streaming: at_first_chunk";
    one(&pair(final_with_it), "streaming", "does what pass_through does: no target of small");
    let limit = "timeouts: {first_token: 8s, first_token_means: chunk}";
    one(&pair(limit), "timeouts.first_token_means", "does what output does");
    assert_eq!(pair("timeouts: {first_token_means: chunk}"), [], "nothing is limited");
    let early = "near: {card: openai-gpt-4o, latency: {source: assumed, headers: {constant: 100ms}, \
                 chunk_after_headers: {constant: 5ms}, first_token: {constant: 500ms}, \
                 prompt_tokens: 1000, per_prompt_token: 0us, per_output_token: {constant: 10ms}, \
                 failure: {constant: 100ms}}}";
    let chunks = scenario("near: {card: openai-gpt-4o}", early);
    for text in [final_with_it, limit] {
        assert_eq!(lint::pair(&policy(text), &chunks), []);
    }
}

fn pair(text: &str) -> Vec<InputError> {
    lint::pair(&policy(text), &scenario("", ""))
}

#[test]
fn against_a_scenarios_traffic_and_deadline() {
    let breaker = |trip: &str, open: &str| {
        format!("breakers: [{{trip: [{trip}], open_for: {open}, growth: {{max: 9d}}}}]")
    };
    let rare = "{rate_over_time: {failures: 50%, window: 1s, min_calls: 900}}";
    one(&pair(&breaker(rare, "9s")), "breakers[0].trip[0]", "hardly ever opens");
    assert_eq!(pair(&breaker(&format!("{rare}, {{consecutive: 3}}"), "9s")), []);
    one(&pair(&breaker("{consecutive: 3}", "9d")), "breakers[0].open_for", "stays open to the end");
    let by_capability =
        "breakers: [{key: [model, capability], trip: [{consecutive: 3}], open_for: 9s}]";
    one(&pair(by_capability), "breakers[0].key", "every class of small requires the same");
    // Two classes of three requests a second, two attempts each: 120 in 10 s, of which half are of either.
    let agent = "
  agent:
    required: [tools]
    groups: {primary: [near], fallbacks: [[far]]}
    traffic:
      arrivals: {poisson: 3/s}
      tokens: {input: {constant: 500}, output: {constant: 100}, max_output: 200}
\ntargets:";
    let two = scenario("\ntargets:", agent);
    let keyed = |key: &str| {
        let trip = "{rate_over_time: {failures: 50%, window: 10s, min_calls: 90}}";
        policy(&format!("{{attempts: {{max: 2}}, breakers: [{{key: [{key}], trip: [{trip}]}}]}}"))
    };
    assert_eq!(lint::pair(&keyed("model"), &two), []);
    one(
        &lint::pair(&keyed("capability"), &two),
        "breakers[0].trip[0]",
        "of classes that require the same together are 60.0 on average",
    );
    one(
        &pair("timeouts: {attempt: 11s}"),
        "timeouts.attempt",
        "3 attempts of 11s do not fit the deadline of class chat in small of 30s",
    );
    assert_eq!(pair("timeouts: {attempt: 10s}"), [], "waits may be zero");
    // A deadline of its own that is stricter is judged without the scenario.
    assert_eq!(pair("{envelope: {deadline_total: 20s}, timeouts: {attempt: 11s}}"), []);
}

#[test]
fn targets_that_nothing_reaches() {
    let idle = scenario("far: {card", "lost: {card: plain-server}\n  far: {card");
    one(&lint::scenario(&idle), "targets.lost", "in no group");
    let other = scenario("far: {card: azure-gpt-4o-eastus}", "far: {card: gemini-2-5-flash}");
    one(&lint::scenario(&other), "classes.chat.groups", "does not approve");
    let unable = scenario("    groups:", "    required: [vision]\n    groups:");
    let unable = Scenario {
        topology: {
            let mut topology = unable.topology.clone();
            topology.targets[0].capabilities = Default::default();
            topology
        },
        ..unable
    };
    one(&lint::scenario(&unable), "classes.chat.groups", "lacks a capability");
    assert_eq!(lint::scenario(&scenario("", "")), []);
}

#[test]
fn targets_behind_more_targets_than_attempts() {
    let small = include_str!("files/cli/small.yaml");
    let text = small
        .replace("[[far]]", "[[far], [third]]")
        .replace("  far: {", "  third: {card: azure-gpt-4o-swedencentral}\n  far: {");
    let source = SourceFile::from_bytes("small.yaml".into(), text.into()).expect("UTF-8");
    let three = Scenario::read(source).expect("a good scenario");
    let with = |text: &str| lint::pair(&policy(text), &three);
    one(&with("attempts: {max: 2}"), "attempts.max", "2 attempts do not reach third of class chat");
    assert_eq!(with("attempts: {max: 3}"), []);
    assert_eq!(with("{attempts: {max: 2}, breakers: [{}]}"), []);
    assert_eq!(with("{attempts: {max: 2}, selection: {strategy: round_robin}}"), []);
}

#[test]
fn priors_that_bar_every_recovery() {
    let hurried = scenario("{total: 30s}", "{total: 1s}");
    let with = |text: &str| lint::pair(&policy(text), &hurried);
    one(
        &with("{}"),
        "envelope.estimate",
        "near, far to take longer than the deadline of class chat",
    );
    assert_eq!(with("envelope: {estimate: {prior: 500ms}}"), []);
    assert_eq!(with("envelope: {estimate: {enabled: false}}"), []);
    assert_eq!(with("attempts: {max: 1, max_same_target: 1}"), []);
}

#[test]
fn wait_hints_that_a_cap_cuts_short() {
    let hint = "near: {card: openai-gpt-4o, failures: {source: assumed, mix: [{class: rate_limited, \
                status: 429, share: 1%, retry_after: 20s}]}}";
    let hinted = scenario("near: {card: openai-gpt-4o}", hint);
    let with = |mode: &str| lint::pair(&policy(&format!("retry_after: {{mode: {mode}}}")), &hinted);
    one(&with("{cap_at: 5s}"), "retry_after.mode", "cuts to 5s what near asks for in small, 20s");
    assert_eq!(with("{cap_at: 20s}"), []);
    assert_eq!(with("at_least"), []);
}

#[test]
fn every_shipped_policy_is_free_of_waste() {
    let names: Vec<String> = list(Kind::Policy).into_iter().map(|file| file.name).collect();
    assert_eq!(check(&names).warnings, []);
}

/// The month is thinned to what can be computed, and its policies to what would run at full traffic.
const THIN: &str = "ordinary-month";
/// It shows that who promises too little gets nothing.
const BARS: &str = "contracts";

#[test]
fn every_shipped_scenario_is_free_of_waste() {
    for file in list(Kind::Scenario) {
        let found = check(&[&file.name]);
        assert_eq!(found.mistakes, [], "{}", file.name);
        match file.name.as_str() {
            THIN => one(&found.warnings, "breakers[0].trip[0]", "in ordinary-month"),
            BARS => {
                assert_eq!(found.warnings.len(), 2, "{:?}", found.warnings);
                for (warning, target) in found.warnings.into_iter().zip(["gemini", "mini"]) {
                    let words = format!("{target} promises less than `needs` asks for");
                    one(&[warning], "classes.extract.groups", &words);
                }
            }
            _ => assert_eq!(found.warnings, [], "{}", file.name),
        }
    }
    assert!(find(Kind::Scenario, THIN).is_ok());
}

#[test]
fn rules_of_groups_nothing_comes_under() {
    alone("groups: {primary: {max: 4}}", "groups.primary.max", "4 never binds");
    alone(
        "groups: {fallbacks: [{max_same_target: 9}]}",
        "groups.fallbacks[0].max_same_target",
        "9 never binds",
    );
    let channels = Scenario::load("channels").expect("a shipped scenario");
    let with = |text: &str| lint::pair(&policy(text), &channels);
    for (text, field, words) in [
        ("groups: {fallbacks: [{max: 1}, {max: 2}]}", "groups.fallbacks[1]", "no class"),
        ("groups: {cheaper: {max: 1}}", "groups.cheaper", "no class"),
        // 9,000 requests in all, and three attempts each.
        (
            "groups: {primary: {admission: {rpm: 40000}}}",
            "groups.primary.admission.rpm",
            "never binds",
        ),
    ] {
        one(&with(text), field, words);
    }
    let fits = "groups: {primary: {admission: {rpm: 400}}, fallbacks: [{max: 1}]}";
    assert_eq!(with(fits), []);
    assert_eq!(with("selection: {groups: health_score, priority: by_attempt}"), []);
    let small = scenario("name:", "name:");
    let with = |text: &str| lint::pair(&policy(text), &small);
    one(&with("selection: {priority: by_attempt}"), "selection.priority", "changes nothing");
}

#[test]
fn scenarios_that_no_policy_can_save() {
    let soon = scenario("deadline: {total: 30s}", "deadline: {total: 1ms}");
    one(&lint::scenario(&soon), "classes.chat.deadline.total", "1ms is over before a target");
    let first = scenario("deadline: {total: 30s}", "deadline: {total: 30s, first_output: 1ms}");
    one(&lint::scenario(&first), "classes.chat.deadline.first_output", "1ms is over");
    let long = scenario("input: {constant: 500}", "input: {constant: 1000000}");
    let words =
        "1000000 tokens and more, and the widest window of the class's targets holds 128000";
    one(&lint::scenario(&long), "classes.chat.traffic.tokens.input", words);
    // A prompt that only half of the targets can take is what `context_overflow` is for.
    assert_eq!(lint::scenario(&scenario("total: 30s", "total: 3s")), []);
}
