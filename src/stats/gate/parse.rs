//! Reads gates. Grammar, with spaces allowed between any two parts:
//!
//! ```text
//! gate   = measure (">=" | "<=") limit
//! limit  = "base" ["*" number] [("+" | "-") figure]  |  ["-"] figure
//! figure = "$" number  |  number [unit]
//! unit   = "%" | "pp" | "ms" | "s" | "m"
//! number = digits ["." digits]
//! ```

use super::{Dimension, Gate, GateError, Known, Limit, Problem, Quantity, Relation, Unit};

/// Longer texts are refused before anything looks at them closely.
const MAX_CHARS: usize = 256;

pub(super) fn gate(expression: &str, known: &[Known<'_>]) -> Result<Gate, GateError> {
    let mut cursor = Cursor { chars: expression.chars().collect(), at: 0 };
    parse(&mut cursor, known).map_err(|(column, problem)| GateError {
        expression: expression.to_owned(),
        column,
        problem,
    })
}

/// A problem and the column where it starts.
type Located = (usize, Problem);

fn parse(cursor: &mut Cursor, known: &[Known<'_>]) -> Result<Gate, Located> {
    if cursor.chars.len() > MAX_CHARS {
        return Err((MAX_CHARS, Problem::TooLong { limit: MAX_CHARS }));
    }
    let measure = measure(cursor, known)?;
    let relation = relation(cursor)?;
    let limit = limit(cursor, measure)?;
    cursor.skip_spaces();
    if cursor.peek().is_some() {
        return Err((cursor.at, Problem::Trailing));
    }
    Ok(Gate { measure: measure.name.to_owned(), relation, limit })
}

fn measure<'k>(cursor: &mut Cursor, known: &[Known<'k>]) -> Result<Known<'k>, Located> {
    cursor.skip_spaces();
    let start = cursor.at;
    let name = cursor.take_while(|c| !c.is_whitespace() && !matches!(c, '<' | '>' | '='));
    if name.is_empty() {
        return Err((start, Problem::NoMeasure));
    }
    known.iter().find(|known| known.name == name).copied().ok_or_else(|| {
        let nearest = nearest(&name, known);
        (start, Problem::UnknownMeasure { name, nearest })
    })
}

/// The known name fewest edits away, if at most a third of it (and two at least) is wrong.
fn nearest(name: &str, known: &[Known<'_>]) -> Option<String> {
    let edits = |known: &Known<'_>| strsim::damerau_levenshtein(name, known.name);
    let best = known.iter().min_by_key(|known| edits(known))?;
    (edits(best) <= (best.name.len() / 3).max(2)).then(|| best.name.to_owned())
}

fn relation(cursor: &mut Cursor) -> Result<Relation, Located> {
    cursor.skip_spaces();
    if cursor.take_text(">=") {
        Ok(Relation::AtLeast)
    } else if cursor.take_text("<=") {
        Ok(Relation::AtMost)
    } else {
        Err((cursor.at, Problem::NoRelation))
    }
}

fn limit(cursor: &mut Cursor, measure: Known<'_>) -> Result<Limit, Located> {
    cursor.skip_spaces();
    let start = cursor.at;
    let word = cursor.take_while(|c| c.is_alphanumeric() || c == '_');
    if word == "base" {
        return relative(cursor, measure.dimension);
    }
    cursor.at = start;
    absolute(cursor, measure)
}

fn absolute(cursor: &mut Cursor, measure: Known<'_>) -> Result<Limit, Located> {
    let Known { dimension, signed, .. } = measure;
    let start = cursor.at;
    let negative = cursor.take_text("-");
    cursor.skip_spaces();
    if negative && !signed && cursor.at_figure() {
        return Err((start, Problem::Negative));
    }
    if !cursor.at_figure() {
        return Err((start, Problem::NoLimit { dimension }));
    }
    let figure = figure(cursor, dimension)?;
    let quantity = if negative { -figure } else { figure };
    if quantity.unit == Unit::Points {
        return Err((start, Problem::PointsAlone));
    }
    if dimension == Dimension::Share && !(0.0..=1.0).contains(&quantity.value()) {
        let is_percent = quantity.unit == Unit::Percent;
        let problem = if is_percent { Problem::MoreThanAll } else { Problem::ShareOutOfRange };
        return Err((start, problem));
    }
    Ok(Limit::Absolute(quantity))
}

fn relative(cursor: &mut Cursor, dimension: Dimension) -> Result<Limit, Located> {
    let factor = factor(cursor)?;
    cursor.skip_spaces();
    let negative = cursor.take_text("-");
    if !negative && !cursor.take_text("+") {
        return Ok(Limit::Relative { factor, offset: None });
    }
    cursor.skip_spaces();
    let start = cursor.at;
    if !cursor.at_figure() {
        let expected = match dimension {
            Dimension::Share => "percentage points, such as `0.1pp`",
            Dimension::Seconds | Dimension::Dollars | Dimension::Count => dimension.example(),
        };
        return Err((start, Problem::NoFigure { expected }));
    }
    let figure = figure(cursor, dimension)?;
    if figure.unit == Unit::Percent {
        return Err((start, Problem::PercentOfBase));
    }
    Ok(Limit::Relative { factor, offset: Some(if negative { -figure } else { figure }) })
}

/// The factor after `base`; 1 where there is none.
fn factor(cursor: &mut Cursor) -> Result<f64, Located> {
    cursor.skip_spaces();
    if !cursor.take_text("*") {
        return Ok(1.0);
    }
    cursor.skip_spaces();
    let start = cursor.at;
    let factor = number(cursor, "a factor, such as `1.05`")?;
    // An underflow to zero counts as one.
    if factor == 0.0 { Err((start, Problem::ZeroFactor)) } else { Ok(factor) }
}

fn figure(cursor: &mut Cursor, dimension: Dimension) -> Result<Quantity, Located> {
    let start = cursor.at;
    let dollars = cursor.take_text("$");
    let magnitude = number(cursor, "a number")?;
    let end = cursor.at;
    cursor.skip_spaces();
    let unit_at = cursor.at;
    let suffix = cursor.take_while(|c| !c.is_whitespace() && !matches!(c, '+' | '-' | '*'));
    let unit = match Unit::from_suffix(&suffix) {
        Some(Unit::Plain) if dollars => Unit::Dollars,
        Some(unit) if !dollars => unit,
        _ => return Err((unit_at, Problem::UnknownUnit { unit: suffix, dimension })),
    };
    if !dimension.takes(unit) {
        let column = match unit {
            Unit::Dollars => start,
            Unit::Plain => end,
            _ => unit_at,
        };
        return Err((column, Problem::WrongUnit { dimension }));
    }
    // Minutes become seconds, which may be more than a float holds.
    let quantity = Quantity { magnitude, unit };
    if quantity.value().is_finite() { Ok(quantity) } else { Err((start, Problem::TooLarge)) }
}

fn number(cursor: &mut Cursor, expected: &'static str) -> Result<f64, Located> {
    let start = cursor.at;
    let mut text = cursor.take_while(|c| c.is_ascii_digit());
    if text.is_empty() {
        return Err((start, Problem::NoFigure { expected }));
    }
    if cursor.take_text(".") {
        let decimals = cursor.take_while(|c| c.is_ascii_digit());
        if decimals.is_empty() {
            return Err((cursor.at, Problem::NoFigure { expected: "decimals" }));
        }
        text = format!("{text}.{decimals}");
    }
    let number: f64 = text.parse().expect("digits with at most one point are a float");
    if number.is_finite() { Ok(number) } else { Err((start, Problem::TooLarge)) }
}

/// A position in the text, counted in characters as the caret is.
struct Cursor {
    chars: Vec<char>,
    at: usize,
}

impl Cursor {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn at_figure(&self) -> bool {
        self.peek().is_some_and(|c| c == '$' || c.is_ascii_digit())
    }

    fn skip_spaces(&mut self) {
        self.take_while(char::is_whitespace);
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let taken: String = self.chars[self.at..].iter().take_while(|&&c| wanted(c)).collect();
        self.at += taken.chars().count();
        taken
    }

    /// Takes `text` if it comes next.
    fn take_text(&mut self, text: &str) -> bool {
        let found = self.chars[self.at..].iter().copied().take(text.len()).eq(text.chars());
        if found {
            self.at += text.len();
        }
        found
    }
}

#[cfg(test)]
mod tests;
