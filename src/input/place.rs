//! One value in a file, by its path: where checks that need more than the type report to.

use super::tree::{Node, Step};
use super::{InputError, SourceFile};

/// A value in a file.
///
/// Keys may hold dots (a target may be called `gpt-4.1`), so a path is kept in steps, not as text.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    file: &'a SourceFile,
    steps: Vec<Owned>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Owned {
    Key(String),
    Index(usize),
}

impl<'a> Place<'a> {
    /// The file as a whole.
    pub fn root(file: &'a SourceFile) -> Place<'a> {
        Place { file, steps: Vec::new() }
    }

    /// The value of this key.
    #[must_use]
    pub fn key(&self, key: &str) -> Place<'a> {
        self.below(Owned::Key(key.to_owned()))
    }

    /// The item at this position of a list.
    #[must_use]
    pub fn index(&self, index: usize) -> Place<'a> {
        self.below(Owned::Index(index))
    }

    /// The value of a path as text, such as `breakers[0].trip`, whose keys hold no dots.
    #[must_use]
    pub fn path(&self, path: &str) -> Place<'a> {
        let mut place = self.clone();
        for part in path.split('.').filter(|part| !part.is_empty()) {
            let (key, indices) = part.split_at(part.find('[').unwrap_or(part.len()));
            if !key.is_empty() {
                place.steps.push(Owned::Key(key.to_owned()));
            }
            for index in indices.split(['[', ']']).filter_map(|i| i.parse().ok()) {
                place.steps.push(Owned::Index(index));
            }
        }
        place
    }

    /// A mistake here.
    pub fn error(&self, message: impl Into<String>) -> InputError {
        let steps: Vec<Step<'_>> = self.steps.iter().map(Owned::step).collect();
        let error = InputError::new(&self.file.name, message).field(self.text());
        match Node::parse(&self.file.text) {
            Some(tree) => {
                let (line, column) = tree.find(&steps);
                error.at(line, column, self.file.line(line))
            }
            // It was read once already; only a file that is no YAML (JSON Lines) ends up here.
            None => error,
        }
    }

    /// A mistake in something named here: one without a place of its own gets this one.
    pub fn adopt(&self, error: InputError) -> InputError {
        if error.line().is_some() {
            return error;
        }
        let message = format!("{}: {}", error.file(), error.message());
        self.error(message).fix(error.remedy())
    }

    fn below(&self, step: Owned) -> Place<'a> {
        let mut place = self.clone();
        place.steps.push(step);
        place
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for step in &self.steps {
            step.step().append_to(&mut text);
        }
        text
    }
}

impl Owned {
    fn step(&self) -> Step<'_> {
        match self {
            Owned::Key(key) => Step::Key(key),
            Owned::Index(index) => Step::Index(*index),
        }
    }
}
