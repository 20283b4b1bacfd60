//! A YAML file as a tree of positions, to say where a field is and which field is somewhere.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

use super::yaml::lenient;

/// Line and column, from 1.
pub(super) type Position = (u64, u64);

/// A value and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    at: Position,
    below: Below,
}

#[derive(Debug)]
enum Below {
    Leaf,
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug)]
struct Entry {
    key: String,
    key_at: Position,
    value: Node,
}

impl Node {
    /// The tree of a text; `None` where it is no YAML.
    pub(super) fn parse(text: &str) -> Option<Node> {
        serde_saphyr::from_str_with_options(text, lenient()).ok().map(|s: Spanned<Below>| node(s))
    }

    /// The keys of a map; of anything else none.
    pub(super) fn keys(&self) -> Vec<String> {
        match &self.below {
            Below::Map(entries) => entries.iter().map(|entry| entry.key.clone()).collect(),
            Below::Leaf | Below::List(_) => Vec::new(),
        }
    }

    /// Where the field of this path stands: at its key, or at the item of a list. The nearest
    /// field around it where the path leads nowhere, as for one that is missing.
    pub(super) fn find(&self, path: &[Step<'_>]) -> Position {
        let mut here = self;
        let mut at = self.at;
        for step in path {
            let next = match (&here.below, step) {
                (Below::Map(entries), Step::Key(key)) => {
                    entries.iter().find(|e| e.key == *key).map(|e| (&e.value, e.key_at))
                }
                (Below::List(items), Step::Index(i)) => items.get(*i).map(|n| (n, n.at)),
                _ => None,
            };
            match next {
                Some((node, position)) => (here, at) = (node, position),
                None => break,
            }
        }
        at
    }

    /// The path of the field whose key or value stands at `position`, or the last one begun
    /// before it.
    pub(super) fn path_at(&self, position: Position) -> String {
        path_of(&self.way_to(position))
    }

    /// The path of the field `missing` from the map that was read up to `position`, and where that
    /// map's own key stands.
    pub(super) fn around(&self, position: Position, missing: &str) -> (String, Position) {
        let mut way = self.way_to(position);
        // The reader stands at the last key it read in that map, if there was one.
        if way.last().is_some_and(|stop| stop.at == position && stop.in_map) {
            way.pop();
        }
        let at = way.last().map_or(self.at, |stop| stop.at);
        let path = path_of(&way);
        (if path.is_empty() { missing.into() } else { format!("{path}.{missing}") }, at)
    }

    /// Where the last value that is no list and no map begins before `position`.
    pub(super) fn leaf_before(&self, position: Position) -> Option<Position> {
        match &self.below {
            Below::Leaf => Some(self.at).filter(|at| *at < position),
            Below::List(items) => items.iter().rev().find_map(|item| item.leaf_before(position)),
            Below::Map(entries) => {
                entries.iter().rev().find_map(|entry| entry.value.leaf_before(position))
            }
        }
    }

    fn way_to(&self, position: Position) -> Vec<Stop<'_>> {
        let mut way = Vec::new();
        let mut here = self;
        loop {
            let next = match &here.below {
                Below::Leaf => None,
                Below::List(items) => {
                    let after = items.partition_point(|n| n.at <= position);
                    after.checked_sub(1).map(|i| {
                        let stop = Stop { step: Step::Index(i), at: items[i].at, in_map: false };
                        (stop, &items[i])
                    })
                }
                Below::Map(entries) => {
                    let after = entries.partition_point(|e| e.key_at <= position);
                    after.checked_sub(1).map(|i| {
                        let Entry { key, key_at, value } = &entries[i];
                        (Stop { step: Step::Key(key), at: *key_at, in_map: true }, value)
                    })
                }
            };
            let Some((stop, node)) = next else { return way };
            let exact = stop.in_map && stop.at == position;
            way.push(stop);
            if exact {
                return way;
            }
            here = node;
        }
    }
}

/// One field on the way to a position.
struct Stop<'a> {
    step: Step<'a>,
    at: Position,
    in_map: bool,
}

fn path_of(way: &[Stop<'_>]) -> String {
    let mut path = String::new();
    for stop in way {
        stop.step.append_to(&mut path);
    }
    path
}

/// One step of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl Step<'_> {
    /// Extends a path for people: `targets.openai.limits[0]`.
    pub(super) fn append_to(self, path: &mut String) {
        match self {
            Step::Key(key) if path.is_empty() => *path += key,
            Step::Key(key) => *path += &format!(".{key}"),
            Step::Index(index) => *path += &format!("[{index}]"),
        }
    }
}

fn position(location: serde_saphyr::Location) -> Position {
    (location.line(), location.column())
}

fn node(spanned: Spanned<Below>) -> Node {
    Node { at: position(spanned.referenced), below: spanned.value }
}

impl<'de> Deserialize<'de> for Below {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Below, D::Error> {
        d.deserialize_any(BelowVisitor)
    }
}

struct BelowVisitor;

impl<'de> Visitor<'de> for BelowVisitor {
    type Value = Below;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Below, E> {
        Ok(Below::Leaf)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Below, E> {
        Ok(Below::Leaf)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Below, E> {
        Ok(Below::Leaf)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Below, E> {
        Ok(Below::Leaf)
    }

    fn visit_str<E>(self, _: &str) -> Result<Below, E> {
        Ok(Below::Leaf)
    }

    fn visit_unit<E>(self) -> Result<Below, E> {
        Ok(Below::Leaf)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Below, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element::<Spanned<Below>>()? {
            items.push(node(item));
        }
        Ok(Below::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Below, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let value = node(map.next_value::<Spanned<Below>>()?);
            entries.push(Entry { key_at: position(key.referenced), key: key.value, value });
        }
        Ok(Below::Map(entries))
    }
}
