//! A space held against a base policy: every variant of it, by its levels.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use windtunnel_policy::config::Policy;

use super::dimension::{Dimension, text_of};
use super::document::{document, get, set};
use super::expression::Expression;
use super::file::{Scale, Space};
use super::level::{Level, Levels};
use super::path::FieldPath;
use crate::input::{InputError, SourceFile};
use crate::library::read_policy;

/// More dimensions are refused: no sample fills them, and no reader.
const MOST_DIMENSIONS: usize = 64;

/// The variants of a base policy.
#[derive(Clone, Debug)]
pub struct PolicySpace {
    /// The space as written.
    pub space: Space,
    /// The policy that is varied.
    pub base: Policy,
    /// What varies, in the order in which it is set.
    pub dimensions: Vec<Dimension>,
    document: Value,
    constraints: Vec<Expression>,
}

/// One policy of a space.
#[derive(Clone, PartialEq, Debug)]
pub struct Variant {
    /// The level of each dimension.
    pub levels: Levels,
    /// The policy, checked as a file's would be; called as its base.
    pub policy: Policy,
    document: Value,
}

/// What became of some levels.
#[derive(Clone, PartialEq, Debug)]
pub enum Applied {
    /// A policy.
    Variant(Box<Variant>),
    /// The condition at this position of `where` does not hold.
    Excluded(usize),
}

impl Space {
    /// The space around a base policy.
    ///
    /// # Errors
    /// A path that leads nowhere, values that are none or make no policy, a condition that means
    /// nothing; each at its place.
    pub fn around(self, base: &Policy) -> Result<PolicySpace, InputError> {
        let count = self.file.vary.len();
        if count == 0 {
            return Err(InputError::new(self.called(), "nothing varies")
                .fix("add entries to `vary:`, or `--vary FIELD=VALUES`"));
        }
        if count > MOST_DIMENSIONS {
            let message = format!("{count} things vary; at most {MOST_DIMENSIONS} may");
            return Err(
                InputError::new(self.called(), message).fix("leave out those that matter least")
            );
        }
        let mut dimensions: Vec<Dimension> = Vec::new();
        for position in 0..count {
            let mut dimension = Dimension::new(&self, position)?;
            let alike = || dimensions.iter().filter(|d| d.fields == dimension.fields);
            if let Some(earlier) = alike().find(|d| d.when.is_none() || dimension.when.is_none()) {
                let message = format!("`{}` varies twice", earlier.name);
                return Err(self.mistake(position, "", message).fix(
                    "leave one out, or tell the two apart by `when`, so that one at most holds",
                ));
            }
            let earlier = alike().count();
            if earlier > 0 {
                dimension.name = format!("{} ({})", dimension.name, earlier + 1);
            }
            if dimensions.iter().any(|d| d.name == dimension.name) {
                let message = format!("`{}` is the name of an earlier entry", dimension.name);
                return Err(self.mistake(position, "", message).fix("give it another"));
            }
            dimensions.push(dimension);
        }
        let mut constraints = Vec::new();
        for (position, text) in self.file.constraints.iter().enumerate() {
            let parsed = Expression::parse(text);
            constraints.push(parsed.map_err(|message| self.bad_condition(position, message))?);
        }
        let document = document(base);
        let space =
            PolicySpace { space: self, base: base.clone(), dimensions, document, constraints };
        space.check_values()?;
        Ok(space)
    }
}

impl PolicySpace {
    /// The variant of these levels, one for each dimension. Dimensions without a level stay as the
    /// base has them; those that a condition leaves out lose theirs in the variant.
    ///
    /// # Errors
    /// The policy is none: the field and why, at the place of the entry that set it.
    ///
    /// # Panics
    /// Where there is not one level for each dimension.
    pub fn apply(&self, levels: &[Level]) -> Result<Applied, InputError> {
        assert_eq!(levels.len(), self.dimensions.len(), "one level for each dimension");
        let mut document = self.document.clone();
        let mut kept = Levels::with_capacity(levels.len());
        for (position, (dimension, &level)) in self.dimensions.iter().zip(levels).enumerate() {
            let wrong = |key: &str, message: String| self.space.mistake(position, key, message);
            let active = dimension.when.as_ref().map_or(Ok(true), |when| when.holds(&document));
            let active = active.map_err(|message| wrong("when", message))?;
            let level = level.filter(|_| active);
            kept.push(level);
            let Some(level) = level else { continue };
            for (path, leads, value) in dimension.sets(level) {
                set(&mut document, path, leads, value).map_err(|message| {
                    wrong("", message)
                        .fix("set what it leads through by an earlier entry, or add `when:`")
                })?;
            }
        }
        // Conditions first: what they leave out need not be a policy.
        let held = self.first_that_fails(&document);
        if let Ok(Some(position)) = held {
            return Ok(Applied::Excluded(position));
        }
        let policy = self.policy(&document, &kept)?;
        held?;
        Ok(Applied::Variant(Box::new(Variant { levels: kept, policy, document })))
    }

    /// The variant of levels that were found good before.
    ///
    /// # Panics
    /// Where they give none.
    pub fn variant(&self, levels: &Levels) -> Variant {
        match self.apply(levels) {
            Ok(Applied::Variant(variant)) => *variant,
            other => panic!("levels that gave a variant give it again, not {other:?}"),
        }
    }

    /// The base as a variant of itself: it has no levels.
    pub fn base_variant(&self) -> Variant {
        Variant {
            levels: vec![None; self.dimensions.len()],
            policy: self.base.clone(),
            document: self.document.clone(),
        }
    }

    /// The dimensions by which a variant differs from the base; of several that set the same fields,
    /// the first.
    pub fn changes(&self, variant: &Variant) -> Vec<usize> {
        let base = self.base_variant();
        let mut changes: Vec<usize> = Vec::new();
        for (position, dimension) in self.dimensions.iter().enumerate() {
            let told = |&other: &usize| self.dimensions[other].fields == dimension.fields;
            let differs = |field: &FieldPath| variant.value(field) != base.value(field);
            if dimension.fields.iter().any(differs) && !changes.iter().any(told) {
                changes.push(position);
            }
        }
        changes
    }

    /// This variant with the fields of one dimension as they are in the base.
    ///
    /// # Errors
    /// Why that is no policy: the rest of the variant needs them otherwise.
    pub fn put_back(&self, variant: &Variant, dimension: usize) -> Result<Variant, String> {
        let mut document = variant.document.clone();
        for (path, leads) in self.dimensions[dimension].leads_to() {
            let value = get(&self.document, path).cloned().unwrap_or_default();
            // A field in a part that neither has is as it was.
            if get(&document, path).is_some() || !value.is_null() {
                set(&mut document, path, leads, value)?;
            }
        }
        let policy: Policy = serde_json::from_value(document.clone()).map_err(|e| e.to_string())?;
        if let Err(problems) = policy.validate() {
            let problem = problems.first().expect("a refusal names at least one problem");
            return Err(format!("{}: {}", problem.field, problem.message));
        }
        let mut levels = variant.levels.clone();
        for (level, other) in levels.iter_mut().zip(&self.dimensions) {
            if other.fields == self.dimensions[dimension].fields {
                *level = None;
            }
        }
        Ok(Variant { levels, policy, document })
    }

    /// Every field that some dimension sets, once, in their order.
    pub fn fields(&self) -> Vec<&FieldPath> {
        let mut fields: Vec<&FieldPath> = Vec::new();
        for field in self.dimensions.iter().flat_map(|dimension| &dimension.fields) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        fields
    }

    /// Values of a field, in the base and as dimensions set it: of every kind there is.
    pub fn values_of(&self, field: &FieldPath) -> Vec<Cow<'_, Value>> {
        let of_base = get(&self.document, field).map(Cow::Borrowed);
        let set = self.dimensions.iter().flat_map(|dimension| dimension.values_of(field));
        of_base.into_iter().chain(set).collect()
    }

    /// How values of a field spread: in the logarithm where an entry says so.
    pub fn scale_of(&self, field: &FieldPath) -> Scale {
        let in_logarithm = |d: &&Dimension| d.fields.contains(field) && d.scale() == Scale::Log;
        self.dimensions.iter().find(in_logarithm).map_or(Scale::Linear, Dimension::scale)
    }

    /// Levels in words: `backoff.base 317ms, attempts.max 4`.
    pub fn describe(&self, levels: &Levels) -> String {
        let set = self.dimensions.iter().zip(levels);
        let words: Vec<String> = set
            .filter_map(|(dimension, level)| {
                Some(format!("{} {}", dimension.name, dimension.show((*level)?)))
            })
            .collect();
        words.join(", ")
    }

    /// The text of the condition at this position of `where`.
    pub fn constraint(&self, position: usize) -> &str {
        &self.constraints[position].text
    }

    fn first_that_fails(&self, document: &Value) -> Result<Option<usize>, InputError> {
        for (position, constraint) in self.constraints.iter().enumerate() {
            let holds = constraint.holds(document);
            if !holds.map_err(|message| self.space.bad_condition(position, message))? {
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    fn policy(&self, document: &Value, levels: &Levels) -> Result<Policy, InputError> {
        // The short way reads the same types by the same rules; only messages need the file's.
        if let Ok(policy) = Policy::deserialize(document)
            && policy.validate().is_ok()
        {
            return Ok(policy);
        }
        let text = serde_json::to_string_pretty(document).expect("a document is plain data");
        let file = SourceFile { name: "a variant".into(), text, folder: None };
        read_policy(&file).map_err(|error| self.explain(&error, levels))
    }

    /// Where in the space the mistake of a variant comes from.
    fn explain(&self, error: &InputError, levels: &Levels) -> InputError {
        let field = error.path();
        let touches = |path: &FieldPath| {
            let path = path.to_string();
            !field.is_empty() && (field.starts_with(&path) || path.starts_with(field))
        };
        let active = |position: &usize| levels[*position].is_some();
        let at_fault = (0..self.dimensions.len())
            .filter(active)
            .rfind(|&position| self.dimensions[position].fields.iter().any(touches));
        let position = at_fault.unwrap_or(self.dimensions.len() - 1);
        let message = format!(
            "a variant is no policy: {field}: {} (with {})",
            error.message(),
            self.describe(levels)
        );
        let remedy = error.remedy();
        let or = if remedy.is_empty() { "" } else { "; or " };
        // Arguments say no conditions.
        let out = match self.space.source {
            Some(_) => ", or leave such variants out by a condition under `where:`",
            None => "; a space file can leave out combinations (`when:`, `where:`)",
        };
        let fix = format!("{remedy}{or}give other values{out}");
        self.space.mistake(position, "", message).fix(fix)
    }
}

impl Variant {
    /// The value of a field in this variant; `None` where it has none.
    pub fn value(&self, field: &FieldPath) -> Option<&Value> {
        get(&self.document, field).filter(|value| !value.is_null())
    }

    /// The same in words.
    pub fn show(&self, field: &FieldPath) -> String {
        self.value(field).map_or_else(|| "none".into(), text_of)
    }
}
