//! The conclusion, in words.

use super::Report;
use super::format::amount;
use crate::experiment::{Identified, Pair, Ranking, Setting};
use crate::stats::Dimension;

impl Report<'_> {
    /// What to take away, one sentence a line.
    pub fn conclusion(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let nothing = |position| self.value("success", position).is_none();
        if (0..self.findings.policies.len()).all(nothing) {
            lines.push(
                "Nothing was measured: no request arrived in the measured window, so this says nothing about \
                 any policy."
                    .into(),
            );
        } else if self.findings.policies.len() == 1 {
            lines.extend(self.alone());
        } else {
            lines.extend(self.best());
            lines.extend(self.top_two());
            lines.extend((1..self.findings.policies.len()).map(|position| self.against(position)));
            lines.extend(self.findings.stickiness.iter().flat_map(|r| self.unidentified(r)));
        }
        lines.extend(self.findings.split.iter().flat_map(|s| super::split::conclusion(self, s)));
        let hypothesis = self.scenario.file.hypothesis.as_ref();
        lines.extend(hypothesis.map(|what| format!("This scenario is a hypothesis: {what}")));
        lines
    }

    /// One policy: what recovery gained.
    fn alone(&self) -> Option<String> {
        let (raw, success) = (self.value("raw_success", 0)?, self.value("success", 0)?);
        let cost = self.value("cost_per_1k", 0).map(|cost| amount(cost, Dimension::Dollars));
        let mut text = format!(
            "`{}` answers {} of requests, {} by the first attempt",
            self.name(0),
            amount(success, Dimension::Share),
            amount(raw, Dimension::Share),
        );
        if let Some(cost) = cost {
            text += &format!(", at {cost} per 1,000 requests");
        }
        if let Some(without) = self.value("no_recovery_success", 0) {
            let gain = points(success - without);
            text += &format!("; against no recovery in the same worlds that is {gain}");
        }
        Some(text + ".")
    }

    /// Which policy answers most, which are level with it, and what it is clearly worse in.
    fn best(&self) -> Option<String> {
        let success = |position| self.value("success", position).unwrap_or(0.0);
        let best = (0..self.findings.policies.len())
            .reduce(|best, next| if success(next) > success(best) { next } else { best })?;
        let share = amount(self.value("success", best)?, Dimension::Share);
        let pairs = self.findings.stickiness.iter().flat_map(|ranking| &ranking.pairs);
        let level: Vec<String> = pairs
            .filter_map(|pair| level_with(pair, best))
            .map(|other| format!("`{}`", self.name(other)))
            .collect();
        let name = self.name(best);
        let price = self.price(best).map_or(String::new(), |price| format!("; {price}"));
        Some(if level.is_empty() {
            format!("`{name}` answers most: {share} of requests{price}.")
        } else {
            let others = level.join(", ");
            format!("`{name}` answers {share} of requests, level with {others}{price}.")
        })
    }

    /// The two that answer most, where no other line compares them.
    fn top_two(&self) -> Option<String> {
        let top = self.findings.top.as_ref().filter(|top| top.best != 0 && top.next != 0)?;
        Some(format!(
            "The two that answer most, {}",
            self.apart(top.best, top.next, &top.differences)
        ))
    }

    /// One policy against the first, in figures.
    fn against(&self, position: usize) -> String {
        self.apart(position, 0, &self.findings.policies[position].differences)
    }

    /// Pairs whose order depends on how far failures stick.
    fn unidentified(&self, ranking: &Ranking) -> Vec<String> {
        let turns = |pair: &&Pair| pair.identified() == Identified::No;
        let mut lines: Vec<String> =
            ranking.pairs.iter().filter(turns).map(|p| self.turns(p)).collect();
        let level: Vec<String> = ranking.pairs.iter().filter_map(|pair| self.level(pair)).collect();
        if !level.is_empty() {
            lines.push(format!(
                "Not at every stickiness of failures (0: none sticks to its request, 1: all do): {}.",
                level.join(", "),
            ));
        }
        lines
    }

    fn turns(&self, pair: &Pair) -> String {
        let (first, second) = (self.name(pair.first), self.name(pair.second));
        format!(
            "Not identified: whether `{first}` or `{second}` answers more turns with how far \
             failures stick to their request, which nobody publishes.",
        )
    }

    /// For a pair in which one is ahead at some stickiness only: which, and where it is not.
    fn level(&self, pair: &Pair) -> Option<String> {
        if pair.identified() != Identified::InPart {
            return None;
        }
        let ahead = pair.ahead.map(|ahead| ahead.of(pair.first, pair.second));
        let winner = ahead.into_iter().flatten().next()?;
        let loser = if winner == pair.first { pair.second } else { pair.first };
        let settings = Setting::ALL.iter().zip(ahead).filter(|(_, ahead)| ahead.is_none());
        let settings: Vec<&str> = settings.map(|(setting, _)| setting.name()).collect();
        let (winner, loser) = (self.name(winner), self.name(loser));
        Some(format!("`{winner}` over `{loser}` (level at {})", settings.join(", ")))
    }

    pub(super) fn name(&self, position: usize) -> &str {
        &self.findings.policies[position].name
    }

    pub(super) fn value(&self, measure: &str, position: usize) -> Option<f64> {
        self.findings.policies[position].figures[self.position(measure)?].value
    }

    pub(super) fn position(&self, measure: &str) -> Option<usize> {
        self.catalogue.measures().iter().position(|m| m.name == measure)
    }
}

/// The other policy of the pair, where `best` is one of it and neither is ahead as declared.
fn level_with(pair: &Pair, best: usize) -> Option<usize> {
    let [_, declared, _] = pair.ahead;
    let other = match best {
        best if best == pair.first => pair.second,
        best if best == pair.second => pair.first,
        _ => return None,
    };
    declared.of(pair.first, pair.second).is_none().then_some(other)
}

fn points(gain: f64) -> String {
    let sign = if gain < 0.0 { '-' } else { '+' };
    format!("{sign}{:.2} pp", (gain * 100.0).abs())
}
