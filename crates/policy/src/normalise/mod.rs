//! From what providers answer to failure classes: the only place that knows their names.
//!
//! One table, read from the top; the first rule that fits decides. Beyond it two things hold:
//!
//! * An error inside a stream has no status of its own, its HTTP status being that of the stream;
//!   a number sent as its code stands for one. The provider had accepted the request, so an
//!   error that no rule knows is the provider's.
//! * Once output has begun, a failure of the provider or of the way to it is a broken stream,
//!   whatever it would have been before. What the caller or the content caused stays what it is.

mod table;

use self::table::{Rule, TABLE};
use crate::outcome::FailureClass;

/// Whose statuses and codes an error carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Provider {
    /// OpenAI.
    #[cfg_attr(feature = "serde", serde(rename = "openai"))]
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Google Gemini.
    Gemini,
    /// Azure OpenAI.
    #[cfg_attr(feature = "serde", serde(rename = "azure_openai"))]
    AzureOpenAi,
    /// Amazon Bedrock.
    Bedrock,
    /// Any other, which most often speaks as OpenAI does; its statuses mean what HTTP says.
    Other,
}

/// An error as a provider sent it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProviderError<'a> {
    /// Who sent it.
    pub provider: Provider,
    /// HTTP status; 0 where the connection broke before one.
    pub status: u16,
    /// The most specific code or type of the error body (`error.code`, else `error.type`; Gemini's
    /// `error.status`; Bedrock's exception name); empty where there is none.
    pub code: &'a str,
    /// The error's text for people; only looked at where codes do not tell classes apart.
    pub message: &'a str,
    /// It came inside the body of a stream whose HTTP status was a success.
    pub in_stream: bool,
    /// Output of the attempt had begun.
    pub after_output: bool,
}

impl ProviderError<'_> {
    /// An error before any output of which nothing is known but its status, from a provider that is not known either.
    pub const fn of_status(status: u16) -> ProviderError<'static> {
        ProviderError {
            provider: Provider::Other,
            status,
            code: "",
            message: "",
            in_stream: false,
            after_output: false,
        }
    }

    /// The class of this error.
    pub fn class(&self) -> FailureClass {
        let class = self.class_before_output();
        if self.after_output && breaks_the_stream(class) {
            return FailureClass::PartialStream;
        }
        class
    }

    fn class_before_output(&self) -> FailureClass {
        let unknown = match self.in_stream {
            true => FailureClass::ServerError,
            false => FailureClass::Unknown,
        };
        TABLE.iter().find(|rule| self.fits(rule)).map_or(unknown, |rule| rule.class)
    }

    fn fits(&self, rule: &Rule) -> bool {
        // A code says the same inside a stream as with its usual status.
        let status = match (self.in_stream, self.code.parse()) {
            (false, _) => Some(self.status),
            (true, Ok(status)) => Some(status),
            (true, Err(_)) => None,
        };
        let by_status = match status {
            Some(status) => (rule.statuses.0..=rule.statuses.1).contains(&status),
            None => !rule.codes.is_empty() || !rule.phrases.is_empty(),
        };
        by_status
            && (rule.providers.is_empty() || rule.providers.contains(&self.provider))
            && (rule.codes.is_empty()
                || rule.codes.iter().any(|c| c.eq_ignore_ascii_case(self.code)))
            && (rule.phrases.is_empty() || rule.phrases.iter().any(|p| mentions(self.message, p)))
    }
}

/// Whether a failure of this class after output had begun is the breaking of a stream.
const fn breaks_the_stream(class: FailureClass) -> bool {
    !matches!(
        class,
        FailureClass::ClientInvalid
            | FailureClass::ContextOverflow
            | FailureClass::ContentPolicy
            | FailureClass::CallerCancelled
    )
}

fn mentions(message: &str, phrase: &str) -> bool {
    let phrase = phrase.as_bytes();
    message.as_bytes().windows(phrase.len()).any(|part| part.eq_ignore_ascii_case(phrase))
}

#[cfg(test)]
mod tests;
