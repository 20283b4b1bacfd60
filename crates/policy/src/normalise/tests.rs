extern crate std;

use std::string::String;
use std::vec::Vec;
use std::{eprintln, fs};

use super::*;
use crate::config::{FailoverRule, Matrix, RetryRule};

fn error(provider: Provider, status: u16, code: &str) -> ProviderError<'_> {
    ProviderError { provider, status, code, message: "", in_stream: false, after_output: false }
}

fn in_stream(provider: Provider, code: &str) -> ProviderError<'_> {
    ProviderError { in_stream: true, ..error(provider, 200, code) }
}

#[test]
fn messages_tell_apart_what_codes_do_not() {
    use FailureClass as F;
    for (provider, status, code, message, class) in [
        (
            Provider::OpenAi,
            400,
            "invalid_request_error",
            "This model's maximum context length is 128000 tokens.",
            F::ContextOverflow,
        ),
        (
            Provider::Anthropic,
            400,
            "invalid_request_error",
            "prompt is too long: 210000 tokens > 200000 maximum",
            F::ContextOverflow,
        ),
        (
            Provider::Anthropic,
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API.",
            F::QuotaExhausted,
        ),
        (
            Provider::Gemini,
            400,
            "INVALID_ARGUMENT",
            "API key not valid. Please pass a valid API key.",
            F::UpstreamAuth,
        ),
        (
            Provider::Bedrock,
            429,
            "ThrottlingException",
            "Too many tokens per day, please wait before trying again.",
            F::QuotaExhausted,
        ),
        (
            Provider::Bedrock,
            400,
            "ValidationException",
            "Input is too long for requested model.",
            F::ContextOverflow,
        ),
        (
            Provider::AzureOpenAi,
            429,
            "429",
            "The system is experiencing high demand. Please retry after 20 seconds.",
            F::Overloaded,
        ),
    ] {
        let e = ProviderError { message, ..error(provider, status, code) };
        assert_eq!(e.class(), class, "{e:?}");
    }
}

#[test]
fn a_type_that_says_little_leaves_it_to_the_status() {
    let class = |status| error(Provider::OpenAi, status, "invalid_request_error").class();
    assert_eq!(class(400), FailureClass::ClientInvalid);
    assert_eq!(class(401), FailureClass::UpstreamAuth);
    assert_eq!(class(404), FailureClass::TargetMissing);
    assert_eq!(class(429), FailureClass::RateLimited);
}

#[test]
fn statuses_without_a_known_code() {
    use FailureClass as F;
    for (status, class) in [
        (0, F::Transport),
        (302, F::Unknown),
        (401, F::UpstreamAuth),
        (402, F::QuotaExhausted),
        (404, F::TargetMissing),
        (408, F::Timeout),
        (409, F::ServerError),
        (413, F::ClientInvalid),
        (422, F::ClientInvalid),
        (429, F::RateLimited),
        (499, F::CallerCancelled),
        (500, F::ServerError),
        (502, F::ServerError),
        (503, F::Overloaded),
        (504, F::ServerError),
        (524, F::Timeout),
        (529, F::Overloaded),
    ] {
        assert_eq!(error(Provider::Other, status, "").class(), class, "{status}");
    }
}

#[test]
fn errors_inside_a_stream() {
    use FailureClass as F;
    for (provider, code, before, after) in [
        (Provider::Anthropic, "overloaded_error", F::Overloaded, F::PartialStream),
        (Provider::AzureOpenAi, "rate_limit_exceeded", F::RateLimited, F::PartialStream),
        (Provider::Bedrock, "modelStreamErrorException", F::ServerError, F::PartialStream),
        (Provider::Other, "429", F::RateLimited, F::PartialStream),
        (Provider::Other, "never heard of", F::ServerError, F::PartialStream),
        (Provider::AzureOpenAi, "content_filter", F::ContentPolicy, F::ContentPolicy),
    ] {
        let e = in_stream(provider, code);
        assert_eq!(e.class(), before, "{e:?}");
        assert_eq!(ProviderError { after_output: true, ..e }.class(), after, "{e:?}");
    }
}

#[test]
fn a_connection_that_breaks() {
    let e = error(Provider::OpenAi, 0, "");
    assert_eq!(e.class(), FailureClass::Transport);
    assert_eq!(ProviderError { after_output: true, ..e }.class(), FailureClass::PartialStream);
}

/// Every row of the collected error classes, against the class its words mean here, and its two
/// verdicts against the default matrix.
#[test]
fn collected_error_classes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/error_classes.csv");
    let Ok(text) = fs::read_to_string(path) else {
        eprintln!("skipped: {path} is not there");
        return;
    };
    let mut rows = 0;
    for line in text.lines().skip(1) {
        let fields = fields(line);
        let [provider, status, code, class, retry, failover, _note] = &fields[..] else {
            panic!("seven fields expected: {line}");
        };
        for code in code.split('|') {
            let e = read(provider, status.parse().unwrap(), code);
            check(&e, class, [retry == "1", failover == "1"]);
        }
        rows += 1;
    }
    assert!(rows >= 50, "only {rows} rows");
}

/// The code column is a code and remarks; errors inside a stream are described in words.
fn read<'a>(provider: &str, status: u16, code: &'a str) -> ProviderError<'a> {
    let provider = match provider {
        "openai" => Provider::OpenAi,
        "anthropic" => Provider::Anthropic,
        "gemini" => Provider::Gemini,
        "azure_openai" => Provider::AzureOpenAi,
        "bedrock" => Provider::Bedrock,
        other => panic!("provider {other}"),
    };
    let streamed = status == 200 || code.contains("Stream");
    let words = code.trim_start_matches("event: error ");
    let end = |c: char| c.is_whitespace() || ",}".contains(c);
    let code = words.trim_start_matches('{').split(end).next().unwrap();
    let message = &words[words.find(code).unwrap() + code.len()..];
    ProviderError { message, in_stream: streamed, ..error(provider, status, code) }
}

fn check(e: &ProviderError<'_>, class: &str, [retry, failover]: [bool; 2]) {
    use FailureClass as F;
    let expected = match (class, e.status) {
        // A client's error at one target only: another may have the model.
        ("client_error", 404) => F::TargetMissing,
        ("client_error", _) => F::ClientInvalid,
        ("auth", _) => F::UpstreamAuth,
        ("timeout", _) => F::Timeout,
        ("rate_limit", _) => F::RateLimited,
        ("quota_exhausted", _) => F::QuotaExhausted,
        ("overloaded" | "ramp_limit" | "cold_start", _) => F::Overloaded,
        ("server_error" | "transient", _) => F::ServerError,
        ("content_filter", _) => F::ContentPolicy,
        ("stream_error", _) if e.code == "overloaded_error" => F::Overloaded,
        ("stream_error", _) => F::ServerError,
        other => panic!("class {other:?}"),
    };
    assert_eq!(e.class(), expected, "{e:?}");
    let row = Matrix::default().row(expected);
    assert_eq!(row.retry != RetryRule::No, retry, "retry of {e:?}");
    if expected != F::TargetMissing {
        assert_eq!(row.failover != FailoverRule::No, failover, "failover of {e:?}");
    }
    if class == "stream_error" {
        let later = ProviderError { after_output: true, ..*e };
        assert_eq!(later.class(), F::PartialStream);
    }
}

/// One line of CSV; quoted fields may hold commas, none holds a quote.
fn fields(line: &str) -> Vec<String> {
    let quoted = line.split('"').enumerate().map(|(i, part)| match i % 2 {
        0 => part.replace(',', "\0"),
        _ => part.into(),
    });
    quoted.collect::<String>().split('\0').map(String::from).collect()
}
