//! The file of incidents: JSON or YAML, one incident or a list of them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::input::{InputError, Place, SourceFile, did_you_mean, read_yaml};
use crate::trace::cells;
use crate::trace::layout::TimeUnit;

/// One incident, as its provider or others told it. Times are UTC.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Incident {
    /// Unique within its file.
    pub id: String,
    /// Who was hit: the `provider` of model cards.
    pub provider: String,
    /// Where it was told, precisely enough to find it again.
    pub source: String,
    /// Why, for people.
    #[serde(default)]
    pub cause: String,
    /// The first bad moment.
    pub start: String,
    /// The first good moment after it.
    pub end: String,
    /// What was said of which moment.
    #[serde(default)]
    pub points: Vec<Point>,
    /// Share of calls that failed when most did.
    #[serde(default)]
    pub peak_error_rate: PeakRate,
    /// From when to when it was at its worst.
    #[serde(default)]
    pub peak_window: Option<(String, String)>,
    /// What calls failed with: HTTP status (0 for none), and how often it was seen.
    #[serde(default)]
    pub probe_results: BTreeMap<String, u32>,
    /// For people: the time zone it was told in.
    #[serde(default, rename = "tz")]
    _tz: Option<IgnoredAny>,
    /// For people.
    #[serde(default, rename = "note")]
    _note: Option<IgnoredAny>,
    /// For people: how long nobody said anything.
    #[serde(default, rename = "detection_lag_min")]
    _detection_lag_min: Option<IgnoredAny>,
    /// For people: a series of what others saw.
    #[serde(default, rename = "data_file")]
    _data_file: Option<IgnoredAny>,
}

/// A moment: `[time, words]`, or `[time, words, share of calls that fail from here on]`.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// When.
    pub at: String,
    /// What was said.
    pub told: String,
    /// Share of calls, as a fraction, where it is stated as a number.
    pub rate: Option<f64>,
}

/// The worst share of failing calls, as a fraction.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum PeakRate {
    /// Nobody published one.
    #[default]
    Unknown,
    /// One for all.
    One(f64),
    /// By product.
    Products(BTreeMap<String, f64>),
}

impl Incident {
    /// The incident that `named` names: a path, and `#ID` where the file holds several.
    ///
    /// # Errors
    /// The file cannot be read or holds a mistake, or no incident in it is called so.
    pub fn find(named: &str) -> Result<Found, InputError> {
        let (path, id) = match named.rsplit_once('#') {
            Some((path, id)) if !Path::new(named).exists() => (path, Some(id)),
            _ => (named, None),
        };
        let file = SourceFile::read(Path::new(path))?;
        Incident::pick(file, id)
    }

    /// The incident of this name in the file; the only one where no name is given.
    ///
    /// # Errors
    /// The file holds a mistake, or no incident is called so.
    pub fn pick(file: SourceFile, id: Option<&str>) -> Result<Found, InputError> {
        let mut lines = file.text.lines().map(str::trim_start);
        let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
        let is_list = first.is_some_and(|line| line.starts_with(['[', '-']));
        let mut all: Vec<Incident> =
            if is_list { read_yaml(&file)? } else { vec![read_yaml(&file)?] };
        let ids = || all.iter().map(|incident| incident.id.as_str());
        let position = match id {
            Some(id) => ids().position(|known| known == id).ok_or_else(|| {
                let message = format!("no incident is called `{id}`");
                InputError::new(&file.name, message).fix(did_you_mean(id, "incident", ids()))
            })?,
            None if all.len() == 1 => 0,
            None => {
                let names = ids().collect::<Vec<_>>().join("`, `");
                let message = format!("holds {} incidents: `{names}`", all.len());
                let example = ids().next().unwrap_or("ID");
                return Err(InputError::new(&file.name, message)
                    .fix(format!("name one: `--timeline {}#{example}`", file.name)));
            }
        };
        Ok(Found { incident: all.swap_remove(position), place: is_list.then_some(position), file })
    }
}

/// An incident and where it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// The incident.
    pub incident: Incident,
    /// Its position in a list.
    place: Option<usize>,
    file: SourceFile,
}

impl Found {
    /// Its place in the file.
    pub(super) fn at(&self) -> Place<'_> {
        let root = Place::root(&self.file);
        self.place.map_or(root.clone(), |place| root.index(place))
    }

    /// What the file is called, without its folders.
    pub(super) fn file_name(&self) -> String {
        let leaf = Path::new(&self.file.name).file_name();
        leaf.map_or(String::new(), |leaf| leaf.to_string_lossy().into_owned())
    }
}

/// A moment in µs since 1970: a date and time, or a date alone for its first moment.
pub(super) fn moment(text: &str, at: &Place<'_>) -> Result<u64, InputError> {
    let whole =
        if text.trim().len() == 10 { format!("{} 00:00:00", text.trim()) } else { text.into() };
    cells::time(&whole, TimeUnit::DateTime).map_err(|_| {
        let message = format!("expected a date and time, found `{text}`");
        at.error(message).fix("write it as 2025-06-10T09:00:00Z")
    })
}

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Point, D::Error> {
        struct Parts;
        impl<'de> Visitor<'de> for Parts {
            type Value = Point;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("[time, words] or [time, words, share of calls that fail]")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Point, A::Error> {
                let missing = |n| de::Error::invalid_length(n, &Parts);
                let at = parts.next_element()?.ok_or_else(|| missing(0))?;
                let told = parts.next_element()?.ok_or_else(|| missing(1))?;
                let rate = parts.next_element()?;
                match parts.next_element::<IgnoredAny>()? {
                    None => Ok(Point { at, told, rate }),
                    Some(_) => Err(missing(4)),
                }
            }
        }
        from.deserialize_seq(Parts)
    }
}

impl<'de> Deserialize<'de> for PeakRate {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<PeakRate, D::Error> {
        struct Rate;
        impl<'de> Visitor<'de> for Rate {
            type Value = PeakRate;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a fraction such as 0.25, one by product, or null")
            }

            fn visit_unit<E: de::Error>(self) -> Result<PeakRate, E> {
                Ok(PeakRate::Unknown)
            }

            fn visit_f64<E: de::Error>(self, rate: f64) -> Result<PeakRate, E> {
                Ok(PeakRate::One(rate))
            }

            fn visit_u64<E: de::Error>(self, rate: u64) -> Result<PeakRate, E> {
                Ok(PeakRate::One(rate as f64))
            }

            fn visit_i64<E: de::Error>(self, rate: i64) -> Result<PeakRate, E> {
                Ok(PeakRate::One(rate as f64))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PeakRate, A::Error> {
                let mut products = BTreeMap::new();
                while let Some((product, rate)) = map.next_entry()? {
                    products.insert(product, rate);
                }
                Ok(PeakRate::Products(products))
            }
        }
        from.deserialize_any(Rate)
    }
}
