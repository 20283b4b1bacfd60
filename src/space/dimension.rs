//! One thing that varies, checked.

use std::borrow::Cow;

use serde_json::Value;

use super::document::get;
use super::expression::Expression;
use super::file::{Scale, Space, Vary};
use super::path::FieldPath;
use super::range::{Span, Unit};
use super::refusal::Refusal;
use super::sample::grouped;
use super::schema_walk::{self, Leads};
use crate::input::InputError;

/// More values of one dimension are refused.
const MOST_VALUES: u64 = 100_000;

/// So many values of a range are all looked at where a few are to stand for it.
const FEW: usize = 16;

/// One thing that varies.
#[derive(Clone, PartialEq, Debug)]
pub struct Dimension {
    /// The field's path, or the choice's name.
    pub name: String,
    /// The fields it sets, in some or all of its values.
    pub fields: Vec<FieldPath>,
    pub(super) domain: Domain,
    pub(super) when: Option<Expression>,
    choice: bool,
    /// By field.
    leads: Vec<Vec<Leads>>,
}

/// What it can be.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Domain {
    /// One of these, each a name and what it sets by position of the field.
    Listed(Vec<(String, Vec<(usize, Value)>)>),
    /// A number.
    Range(Span),
}

impl Dimension {
    /// Checks the entry at this position of a space.
    ///
    /// # Errors
    /// What is wrong with it, at its place.
    pub(super) fn new(space: &Space, position: usize) -> Result<Dimension, InputError> {
        let entry = &space.file.vary[position];
        let refuse = |key: &str, message: &str, fix: &str| {
            Err(space.mistake(position, key, message).fix(fix))
        };
        let given = [entry.values.is_some(), entry.range.is_some(), entry.options.is_some()];
        if given.iter().filter(|given| **given).count() != 1 {
            return refuse(
                "",
                "needs one of `values`, `range` and `options`",
                "give a field `values` or a `range`, and a choice its `options`",
            );
        }
        let when = entry
            .when
            .as_deref()
            .map(Expression::parse)
            .transpose()
            .map_err(|message| space.mistake(position, "when", message))?;
        let (name, fields, domain) = match (&entry.field, &entry.choice) {
            (Some(field), None) if entry.options.is_none() => {
                let path = FieldPath::parse(field)
                    .map_err(|message| space.mistake(position, "field", message))?;
                let domain = match &entry.range {
                    Some(_) => Domain::Range(span(space, position, entry)?),
                    None => listed(space, position, entry, &path)?,
                };
                (path.to_string(), vec![path], domain)
            }
            (None, Some(choice)) if entry.options.is_some() => {
                let (fields, domain) = options(space, position, entry)?;
                (choice.clone(), fields, domain)
            }
            _ => {
                return refuse(
                    "",
                    "is neither a field nor a choice",
                    "write `field:` with `values` or `range`, or `choice:` with `options`",
                );
            }
        };
        let mut leads = Vec::new();
        for field in &fields {
            let key = if entry.field.is_some() { "field" } else { "options" };
            let nowhere = |refusal| space.refusal(position, key, refusal);
            leads.push(schema_walk::steps(field).map_err(nowhere)?);
        }
        let choice = entry.choice.is_some();
        Ok(Dimension { name, fields, domain, when, choice, leads })
    }

    /// How many values it has; `None` where it has as many as its unit is fine.
    pub fn size(&self) -> Option<u64> {
        match &self.domain {
            Domain::Listed(values) => Some(values.len() as u64),
            Domain::Range(span) => span.points.as_ref().map(|points| points.len() as u64),
        }
    }

    /// The levels that stand for all: those of a list, and of a range that has many its ends.
    pub(super) fn telling(&self) -> Vec<u64> {
        match &self.domain {
            Domain::Listed(values) => (0..values.len() as u64).collect(),
            Domain::Range(Span { low, high, points, .. }) => match points.as_deref() {
                Some(points) if points.len() <= FEW => points.to_vec(),
                Some([first, .., last]) => vec![*first, *last],
                _ => vec![*low, *high],
            },
        }
    }

    /// The level at a coordinate from 0 (included) to 1 (excluded).
    pub fn level_at(&self, coordinate: f64) -> u64 {
        let pick = |count: usize| ((coordinate * count as f64) as usize).min(count - 1);
        match &self.domain {
            Domain::Listed(values) => pick(values.len()) as u64,
            Domain::Range(span) => match &span.points {
                Some(points) => points[pick(points.len())],
                None => span.at(coordinate),
            },
        }
    }

    /// The level of this number of those it has.
    ///
    /// # Panics
    /// Where it has not so many, or no number of them.
    pub fn level_of(&self, number: u64) -> u64 {
        match &self.domain {
            Domain::Listed(values) => {
                assert!(number < values.len() as u64, "a value of the list");
                number
            }
            Domain::Range(span) => {
                span.points.as_ref().expect("a range cut into points")[number as usize]
            }
        }
    }

    /// The coordinate in the middle of what [`Dimension::level_at`] makes this level.
    pub fn coordinate_of(&self, level: u64) -> f64 {
        let middle = |position: usize, count: usize| (position as f64 + 0.5) / count as f64;
        match &self.domain {
            Domain::Listed(values) => middle(level as usize, values.len()),
            Domain::Range(span) => match &span.points {
                Some(points) => middle(points.partition_point(|p| *p < level), points.len()),
                None => span.share_of(level),
            },
        }
    }

    /// True where values have an order and a distance.
    pub fn is_range(&self) -> bool {
        matches!(self.domain, Domain::Range(_))
    }

    /// True for a linear range of whole numbers.
    pub(super) fn is_of_whole_numbers(&self) -> bool {
        let whole = |span: &Span| span.unit == Unit::Count && span.scale == Scale::Linear;
        matches!(&self.domain, Domain::Range(span) if whole(span))
    }

    /// True for a choice that has a name of its own, apart from the fields it sets.
    pub fn is_choice(&self) -> bool {
        self.choice
    }

    /// Every value that some level gives to the field of this path, or to one around it.
    pub(super) fn values_of<'d>(&'d self, path: &FieldPath) -> Vec<Cow<'d, Value>> {
        match &self.domain {
            Domain::Range(span) => {
                let same = self.fields[0] == *path;
                same.then(|| Cow::Owned(span.value(span.low))).into_iter().collect()
            }
            Domain::Listed(values) => {
                let sets = values.iter().flat_map(|(_, sets)| sets);
                sets.filter_map(|(field, value)| within(value, &self.fields[*field], path))
                    .collect()
            }
        }
    }

    /// How its values spread; names and lists have no scale of their own.
    pub(super) fn scale(&self) -> Scale {
        match &self.domain {
            Domain::Listed(_) => Scale::Linear,
            Domain::Range(span) => span.scale,
        }
    }

    /// A level in words: the value, or the option's name.
    pub fn show(&self, level: u64) -> String {
        match &self.domain {
            Domain::Listed(values) => values[level as usize].0.clone(),
            Domain::Range(span) => text_of(&span.value(level)),
        }
    }

    /// The fields it sets, with how each is reached.
    pub(super) fn leads_to(&self) -> impl Iterator<Item = (&FieldPath, &[Leads])> {
        self.fields.iter().zip(self.leads.iter().map(Vec::as_slice))
    }

    /// What a level sets.
    pub(super) fn sets(&self, level: u64) -> Vec<(&FieldPath, &[Leads], Value)> {
        let at = |field: usize, value| (&self.fields[field], self.leads[field].as_slice(), value);
        match &self.domain {
            Domain::Listed(values) => {
                let sets = &values[level as usize].1;
                sets.iter().map(|(field, value)| at(*field, value.clone())).collect()
            }
            Domain::Range(span) => vec![at(0, span.value(level))],
        }
    }
}

/// A value of a policy on one line.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "none".into(),
        other => other.to_string(),
    }
}

/// The part of `value`, which is set at `set`, that lies at `path`; `None` where it has none.
fn within<'v>(value: &'v Value, set: &FieldPath, path: &FieldPath) -> Option<Cow<'v, Value>> {
    let below = path.below(set)?;
    below.map_or(Some(value), |below| get(value, &below)).map(Cow::Borrowed)
}

/// A value as policy files write it: `none` is `null` where a field may be without a value.
///
/// # Errors
/// It is no list, and the field holds one.
fn as_a_policy_says(path: &FieldPath, value: &Value) -> Result<Value, Refusal> {
    if value == "none" && schema_walk::can_be_absent(path) {
        return Ok(Value::Null);
    }
    if !value.is_array() && schema_walk::is_list(path) {
        let text = text_of(value);
        let fix = match text.as_str() {
            "none" => {
                format!("one without elements is `[]`: `values: [[]]`, or `--vary '{path}=[[]]'`")
            }
            _ => format!(
                "put each list in brackets of its own: `values: [[{text}], […]]`, or \
                 `--vary '{path}=[{text}],[…]'`"
            ),
        };
        return Err(Refusal::new(format!("`{path}` holds a list, which `{text}` is not"), fix));
    }
    Ok(value.clone())
}

fn span(space: &Space, position: usize, entry: &Vary) -> Result<Span, InputError> {
    let range = entry.range.as_ref().expect("an entry with a range");
    let wrong = |refusal| space.refusal(position, "range", refusal);
    let mut span = Span::new(&range.from, &range.to, range.scale).map_err(wrong)?;
    match (range.count, &range.step) {
        (Some(_), Some(_)) => {
            return Err(wrong(Refusal::new("has both `count` and `step`", "leave one out")));
        }
        (Some(count), None) if !(2..=MOST_VALUES).contains(&count) => {
            let message = format!("a range of {} values", grouped(u128::from(count)));
            let most = grouped(u128::from(MOST_VALUES));
            let fix = format!("`count` is 2 to {most}; a single value is a list of one");
            return Err(wrong(Refusal::new(message, fix)));
        }
        (Some(count), None) => span.cut(count),
        (None, Some(step)) => span.step(step).map_err(wrong)?,
        (None, None) => {}
    }
    Ok(span)
}

fn listed(
    space: &Space,
    position: usize,
    entry: &Vary,
    path: &FieldPath,
) -> Result<Domain, InputError> {
    let values = entry.values.as_ref().expect("an entry with values");
    if values.is_empty() {
        let refusal = Refusal::new("has no values", "list some, or leave the entry out");
        return Err(space.refusal(position, "values", refusal));
    }
    let values: Vec<Value> = (values.iter())
        .map(|value| as_a_policy_says(path, value))
        .collect::<Result<_, _>>()
        .map_err(|refusal| space.refusal(position, "values", refusal))?;
    if let Some(twice) = (1..values.len()).find(|&i| values[..i].contains(&values[i])) {
        let message = format!("`{}` is given twice", text_of(&values[twice]));
        return Err(space.mistake(position, "values", message).fix("leave one out"));
    }
    let all = values.iter().map(|value| (text_of(value), vec![(0, value.clone())]));
    Ok(Domain::Listed(all.collect()))
}

fn options(
    space: &Space,
    position: usize,
    entry: &Vary,
) -> Result<(Vec<FieldPath>, Domain), InputError> {
    let options = entry.options.as_ref().expect("an entry with options");
    let wrong = |message: &str, fix: &str| {
        Err(space.refusal(position, "options", Refusal::new(message, fix)))
    };
    if options.is_empty() {
        return wrong("has no options", "list some, each with `name` and `set`");
    }
    let mut fields: Vec<FieldPath> = Vec::new();
    let mut listed = Vec::new();
    for (number, option) in options.iter().enumerate() {
        if options[..number].iter().any(|earlier| earlier.name == option.name) {
            return wrong(&format!("`{}` is given twice", option.name), "give one another name");
        }
        let mut sets = Vec::new();
        for (path, value) in &option.set {
            let path = FieldPath::parse(path)
                .map_err(|message| space.mistake(position, "options", message))?;
            let value = as_a_policy_says(&path, value)
                .map_err(|refusal| space.refusal(position, "options", refusal))?;
            let known = fields.iter().position(|field| *field == path);
            let field = known.unwrap_or_else(|| {
                fields.push(path);
                fields.len() - 1
            });
            sets.push((field, value));
        }
        listed.push((option.name.clone(), sets));
    }
    if fields.is_empty() {
        return wrong("no option sets a field", "give one at least a field under `set:`");
    }
    Ok((fields, Domain::Listed(listed)))
}
