//! What requests asked for, one by one: the demand that is replayed.

use std::collections::VecDeque;

use super::packed::Packed;

/// One request's demand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ask {
    pub(super) at_us: u64,
    /// Zero where the log does not say.
    pub(super) input: u32,
    /// Zero where the log does not say.
    pub(super) output: u32,
    /// It was cut while its output came: that is longer than what is known of it.
    pub(super) cut: bool,
}

/// Demand of many requests, by when they came once [`Asks::finish`] was called.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Asks(Packed<3, 1>);

/// Tokens of a request where the log has none at all.
const NO_TOKENS: (u32, u32) = (500, 200);
/// Among so many before it, one is sought that was longer than one that was cut.
const LATELY: usize = 4_096;

impl Asks {
    pub(super) fn add(&mut self, ask: Ask) {
        let output = u64::from(ask.output) << 1 | u64::from(ask.cut);
        self.0.add([ask.at_us, ask.input.into(), output]);
    }

    pub(super) fn finish(&mut self) {
        self.0.finish();
    }

    /// Requests.
    pub(super) fn len(&self) -> u64 {
        self.0.len()
    }

    /// In the order in which they came.
    pub(super) fn iter(&self) -> impl Iterator<Item = Ask> + '_ {
        self.0.iter().map(|[at_us, input, output]| Ask {
            at_us,
            input: input as u32,
            output: (output >> 1) as u32,
            cut: output & 1 > 0,
        })
    }

    /// The same, where requests whose tokens are not known have those of the one before that has them, or of
    /// the first that does, and those that were cut the output of the last one before that was longer; what is
    /// known of them is kept. Beside each, whether it borrows.
    ///
    /// Who was cut lends what it borrowed: while everything is slow, those that end are the short ones, and were
    /// they alone to lend, demand would shrink just then. So lengths are handed to the right, as by Kaplan and
    /// Meier.
    pub(super) fn with_tokens(&self) -> impl Iterator<Item = (Ask, bool)> + '_ {
        let first = self.iter().find(Ask::is_known).map(|ask| (ask.input, ask.output));
        let mut last = first.unwrap_or(NO_TOKENS);
        let mut lately: VecDeque<u32> = VecDeque::with_capacity(LATELY);
        self.iter().map(move |mut ask| {
            let known = ask.is_known();
            ask.input = if ask.input > 0 { ask.input } else { last.0 };
            if ask.cut {
                let longer = lately.iter().rev().find(|&&output| output > ask.output);
                ask.output = longer.copied().unwrap_or(ask.output.max(1));
            } else if ask.output == 0 {
                ask.output = last.1;
            }
            if known || ask.cut {
                last = (ask.input, ask.output);
                if lately.len() == LATELY {
                    lately.pop_front();
                }
                lately.push_back(ask.output);
            }
            (ask, !known)
        })
    }
}

impl Ask {
    fn is_known(&self) -> bool {
        self.input > 0 && self.output > 0 && !self.cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_no_tokens_has_those_of_a_neighbour() {
        let mut asks = Asks::default();
        for (at_us, input, output) in [(9, 0, 7), (5, 30, 40), (1, 0, 0), (12, 8, 0)] {
            asks.add(Ask { at_us, input, output, cut: false });
        }
        asks.finish();
        let found: Vec<(u64, u32, u32, bool)> = asks
            .with_tokens()
            .map(|(ask, lent)| (ask.at_us, ask.input, ask.output, lent))
            .collect();
        let wanted = [(1, 30, 40, true), (5, 30, 40, false), (9, 30, 7, true), (12, 8, 40, true)];
        assert_eq!(found, wanted);
    }

    /// Those that are cut are the long ones: with any other's tokens, demand would be too short.
    #[test]
    fn who_was_cut_was_longer_than_what_came() {
        let mut asks = Asks::default();
        for (at_us, output, cut) in [
            (1, 90, true),
            (2, 100, false),
            (3, 300, false),
            (4, 20, false),
            (5, 99, true),
            (6, 400, true),
        ] {
            asks.add(Ask { at_us, input: 30, output, cut });
        }
        asks.finish();
        let found: Vec<u32> = asks.with_tokens().map(|(ask, _)| ask.output).collect();
        assert_eq!(found, [90, 100, 300, 20, 300, 400]);
    }

    #[test]
    fn who_was_cut_lends_what_it_borrowed() {
        let mut asks = Asks::default();
        // The third has those of the first; so have the fourth, though the second came later, and the fifth.
        for (at_us, input, output, cut) in [
            (1, 30, 300, false),
            (2, 30, 250, false),
            (3, 40, 260, true),
            (4, 50, 240, true),
            (5, 0, 0, false),
        ] {
            asks.add(Ask { at_us, input, output, cut });
        }
        asks.finish();
        let found: Vec<(u32, u32)> =
            asks.with_tokens().map(|(ask, _)| (ask.input, ask.output)).collect();
        assert_eq!(found, [(30, 300), (30, 250), (40, 300), (50, 300), (50, 300)]);
    }

    #[test]
    fn where_nobody_has_tokens_a_default_is_taken() {
        let mut asks = Asks::default();
        asks.add(Ask { at_us: 0, input: 0, output: 9, cut: false });
        asks.finish();
        let ask = Ask { at_us: 0, input: 500, output: 9, cut: false };
        assert_eq!(asks.with_tokens().collect::<Vec<_>>(), [(ask, true)]);
    }
}
