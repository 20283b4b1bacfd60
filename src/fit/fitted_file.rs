//! Files of a fitted world, each with its text or with what that is made from while it is written.

use std::io::{self, Write};

use super::asks::Asks;

/// A file to be written.
#[derive(Clone, PartialEq, Debug)]
pub struct FittedFile<'a> {
    /// Path below the folder of the fit.
    pub path: String,
    text: Text<'a>,
}

#[derive(Clone, PartialEq, Debug)]
enum Text<'a> {
    Whole(String),
    /// A trace of these requests, with the moment of the log's clock that its time begins at. There may be
    /// millions of them: their text is never held as a whole.
    Traffic(&'a Asks, u64, Rows),
}

/// How many rows of a trace are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rows {
    All,
    First,
}

impl<'a> FittedFile<'a> {
    /// Of a text.
    pub(crate) fn new(path: String, text: String) -> FittedFile<'a> {
        FittedFile { path, text: Text::Whole(text) }
    }

    /// The trace of requests, in µs from this moment of the log's clock on.
    pub(super) fn traffic(path: String, asks: &'a Asks, origin_us: u64) -> FittedFile<'a> {
        FittedFile { path, text: Text::Traffic(asks, origin_us, Rows::All) }
    }

    /// The same, of a trace the first row alone: enough to see whether the world is one.
    #[must_use]
    pub fn sketched(self) -> FittedFile<'a> {
        let text = match self.text {
            Text::Traffic(asks, origin_us, _) => Text::Traffic(asks, origin_us, Rows::First),
            whole => whole,
        };
        FittedFile { text, ..self }
    }

    /// Its text, as a whole.
    pub fn text(&self) -> String {
        let mut text = Vec::new();
        self.write(&mut text).expect("memory takes all");
        String::from_utf8(text).expect("it was made of text")
    }

    /// Writes its text.
    ///
    /// # Errors
    /// What it is written to takes no more.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let (asks, origin_us, rows) = match &self.text {
            Text::Whole(text) => return to.write_all(text.as_bytes()),
            Text::Traffic(asks, origin_us, rows) => (asks, origin_us, rows),
        };
        let rows = if *rows == Rows::First { 1 } else { usize::MAX };
        let mut to = io::BufWriter::with_capacity(1 << 16, to);
        writeln!(to, "at_us,input_tokens,output_tokens")?;
        for (ask, _) in asks.with_tokens().take(rows) {
            let at_us = ask.at_us.saturating_sub(*origin_us);
            writeln!(to, "{at_us},{},{}", ask.input, ask.output.max(1))?;
        }
        to.flush()
    }
}
