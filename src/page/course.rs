//! A request's attempts over time, as data.

/// A request's life: a lane for each attempt, below each other on one axis of time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Course {
    /// Its heading.
    pub title: String,
    /// What happened, in a sentence: also the text for who cannot see it.
    pub about: String,
    /// How long the axis is at least, in seconds: the same for what stands side by side.
    pub length: f64,
    /// The lanes.
    pub lanes: Vec<Lane>,
}

/// One attempt, or whatever else has its own line.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Lane {
    /// Its name, such as the attempt and its target.
    pub label: String,
    /// What it did when.
    pub spans: Vec<Span>,
    /// How and when it ended.
    pub mark: Option<Mark>,
}

/// A stretch of time in a lane.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Span {
    /// Its begin, in seconds from the request's arrival.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// What went on.
    pub what: Stretch,
}

/// What goes on in a stretch of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stretch {
    /// Waiting before a send.
    Wait,
    /// Sent, and nothing came yet.
    Silent,
    /// Output is coming.
    Output,
}

/// How a lane ends.
#[derive(Clone, PartialEq, Debug)]
pub struct Mark {
    /// When, in seconds from the request's arrival.
    pub at: f64,
    /// How.
    pub ending: Ending,
    /// The same in words, such as `503, retried`.
    pub text: String,
}

/// How an attempt ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// With an answer.
    Answered,
    /// It failed.
    Failed,
    /// It was given up.
    Cut,
}

impl Stretch {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Stretch::Wait => "waiting",
            Stretch::Silent => "sent, no output yet",
            Stretch::Output => "output",
        }
    }
}
