//! What the application may do about a request that has ended.

/// What is left to the application, or to a person, once the router has done what it may.
///
/// A request is never repeated by stealth: where more could help, this says which kind of more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Advice {
    /// Nothing: it has its answer, or nobody waits for one.
    #[default]
    Nothing,
    /// The same request again, after the wait hint if there is one.
    SendAgain,
    /// A new request that says so: a part of an answer was seen, or a tool was called and has failed
    /// without an effect. The user sees that it starts anew.
    Restart,
    /// Find out first what the tool did: nobody here knows, and sending again might do it twice.
    Escalate,
    /// Nothing that would not end the same way.
    GiveUp,
}

impl Advice {
    /// Its name in the ledger.
    pub const fn name(self) -> &'static str {
        match self {
            Advice::Nothing => "nothing",
            Advice::SendAgain => "send_again",
            Advice::Restart => "restart",
            Advice::Escalate => "escalate",
            Advice::GiveUp => "give_up",
        }
    }
}
