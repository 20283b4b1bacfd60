//! Axes: where values lie on them, and what is written beside them.

use super::super::header::{FieldColumn, Header, Holds, Measured};
use crate::space::Scale;
use crate::stats::level;

/// From this ratio of its ends on, an axis is logarithmic.
const WIDE: f64 = 20.0;
/// Longer names are cut in their middle.
const LONGEST_NAME: usize = 34;

/// What an axis shows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Shows {
    Share,
    Seconds,
    Dollars,
    Number,
}

/// An axis of numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    shows: Shows,
    logarithmic: bool,
    /// The ends, where they lie.
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Axis {
    /// Wide enough for all of these, with some room.
    pub(super) fn over(values: impl Iterator<Item = f64> + Clone, shows: Shows) -> Axis {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.clone().fold(f64::NEG_INFINITY, f64::max);
        Axis::of(values, shows, low > 0.0 && high / low > WIDE)
    }

    /// The same for the values of a field, on the scale it was declared with: those above zero, where
    /// that is the logarithm, which has no place for others.
    pub(super) fn of_field(
        column: &FieldColumn,
        values: impl Iterator<Item = f64> + Clone,
    ) -> Axis {
        let shows = Shows::of_field(column.holds);
        match column.scale {
            Scale::Linear => Axis::over(values, shows),
            Scale::Log => {
                let above = values.clone().filter(|value| *value > 0.0);
                let any = above.clone().next().is_some();
                if any { Axis::of(above, shows, true) } else { Axis::of(values, shows, false) }
            }
        }
    }

    /// The same for values with intervals around them, which alone make no axis logarithmic.
    pub(super) fn over_intervals(
        values: impl Iterator<Item = (f64, [f64; 2])> + Clone,
        shows: Shows,
    ) -> Axis {
        let logarithmic = Axis::over(values.clone().map(|(value, _)| value), shows).logarithmic;
        // A logarithmic axis has no zero, and little of what is far below a value matters.
        let seen = values.flat_map(|(value, [low, high])| {
            [if logarithmic { low.max(value / WIDE) } else { low }, high]
        });
        Axis::of(seen, shows, logarithmic)
    }

    fn of(values: impl Iterator<Item = f64> + Clone, shows: Shows, logarithmic: bool) -> Axis {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        let mut axis = Axis { shows, logarithmic, from: 0.0, to: 1.0 };
        if low <= high {
            let (from, to) = (axis.place(low), axis.place(high));
            let room = match level(from, to) {
                true if logarithmic => 0.1,
                true => from.abs().max(1e-9) * 0.05,
                false => (to - from) * 0.06,
            };
            (axis.from, axis.to) = (from - room, to + room);
        }
        axis
    }

    pub(super) fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// True where a value has a place.
    pub(super) fn has(&self, value: f64) -> bool {
        !self.logarithmic || value > 0.0
    }

    /// Where a value lies.
    pub(super) fn place(&self, value: f64) -> f64 {
        if self.logarithmic { libm::log10(value.max(f64::MIN_POSITIVE)) } else { value }
    }

    /// What is written at a place, with as many digits as neighbours need to differ; nothing at what
    /// cannot be, as beyond all of a share.
    pub(super) fn label(&self, place: f64) -> String {
        let value = if self.logarithmic { libm::pow(10.0, place) } else { place };
        if self.shows == Shows::Share && value > 1.0 + 1e-9 {
            return String::new();
        }
        if self.logarithmic && self.to - self.from > 1.0 {
            return shown(value, self.shows, None);
        }
        let ends = [self.from, self.to];
        let [low, high] =
            if self.logarithmic { ends.map(|end| libm::pow(10.0, end)) } else { ends };
        shown(value, self.shows, Some((high - low).abs()))
    }
}

impl Shows {
    pub(super) fn of_objective(header: &Header, objective: usize) -> Shows {
        let (score, _) = header.objective_columns()[objective];
        match header.figures[score].dimension {
            Measured::Share => Shows::Share,
            Measured::Seconds => Shows::Seconds,
            Measured::Dollars => Shows::Dollars,
            Measured::Count => Shows::Number,
        }
    }

    pub(super) fn of_field(holds: Holds) -> Shows {
        match holds {
            Holds::Seconds => Shows::Seconds,
            Holds::Dollars => Shows::Dollars,
            Holds::Share => Shows::Share,
            Holds::Number | Holds::Truth | Holds::Text => Shows::Number,
        }
    }
}

/// The objective's name, unit and scale, for beside an axis.
pub(super) fn title(header: &Header, objective: usize, is_logarithmic: bool) -> String {
    let (score, _) = header.objective_columns()[objective];
    let figure = &header.figures[score];
    let unit = match figure.dimension {
        Measured::Share => "%",
        Measured::Dollars => "$",
        _ => figure.unit.as_str(),
    };
    let name = figure.name.strip_prefix("score/").unwrap_or(&figure.name);
    match is_logarithmic {
        true => format!("{name} ({unit}, log scale)"),
        false => format!("{name} ({unit})"),
    }
}

/// A field's name, unit and scale, for beside an axis.
pub(super) fn field_title(column: &FieldColumn, is_logarithmic: bool) -> String {
    let name = cut(&column.name);
    let unit = match column.holds {
        Holds::Seconds => "s",
        Holds::Dollars => "$",
        Holds::Share => "%",
        Holds::Number | Holds::Truth | Holds::Text => "",
    };
    match (unit, is_logarithmic) {
        ("", false) => name,
        ("", true) => format!("{name} (log scale)"),
        (unit, false) => format!("{name} ({unit})"),
        (unit, true) => format!("{name} ({unit}, log scale)"),
    }
}

/// A name that fits beside a panel: its end tells most.
pub(super) fn cut(name: &str) -> String {
    let length = name.chars().count();
    if length <= LONGEST_NAME {
        return name.into();
    }
    let end: String = name.chars().skip(length - (LONGEST_NAME - 1)).collect();
    format!("…{end}")
}

/// A value; `within` is the width of what it is shown among.
pub(super) fn shown(value: f64, shows: Shows, within: Option<f64>) -> String {
    let scaled = if shows == Shows::Share { value * 100.0 } else { value };
    let within = within.map(|w| if shows == Shows::Share { w * 100.0 } else { w });
    // Two digits of the width, or of the value itself.
    let of = within.unwrap_or(scaled.abs());
    let digits = if of > 0.0 { 1 - libm::floor(libm::log10(of)) as i32 } else { 0 };
    let text = format!("{scaled:.*}", digits.clamp(0, 9) as usize);
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    if text == "-0" { "0".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_the_digits_that_neighbours_need() {
        let axis = Axis::over([0.9951, 0.9982].into_iter(), Shows::Share);
        assert_eq!(axis.label(0.997), "99.7");
        assert_eq!(axis.label(0.9965), "99.65");
        let wide = Axis::over([0.01, 100.0].into_iter(), Shows::Seconds);
        assert_eq!(wide.place(10.0), 1.0);
        assert_eq!(wide.label(0.5), "3.2");
        let flat = Axis::over([2.0, 2.0].into_iter(), Shows::Number);
        assert!(flat.from < 2.0 && flat.to > 2.0);
        assert!(Axis::over([0.5, 1.0].into_iter(), Shows::Share).label(1.02).is_empty());
        let dust = Axis::over([0.0028, 0.002_799_999_999_999_999_5].into_iter(), Shows::Dollars);
        assert!(dust.label(dust.from) != dust.label(dust.to), "{dust:?}");
        let none = Axis::over([].into_iter(), Shows::Number);
        assert_eq!((none.from, none.to), (0.0, 1.0));
    }

    #[test]
    fn intervals_alone_make_no_axis_logarithmic() {
        let wide = [(1.0, [0.001, 2.0]), (1.5, [0.2, 3.0])];
        let axis = Axis::over_intervals(wide.into_iter(), Shows::Seconds);
        assert!(!axis.logarithmic && axis.from < 0.001 && axis.to > 3.0);
        let far = [(0.01, [1e-9, 0.02]), (10.0, [5.0, 20.0])];
        let axis = Axis::over_intervals(far.into_iter(), Shows::Seconds);
        assert!(axis.logarithmic && axis.from > -5.0, "{axis:?}");
    }

    #[test]
    fn long_names_keep_their_end() {
        assert_eq!(cut("backoff.base"), "backoff.base");
        let long = cut("breakers[0].trip[0].rate_over_time.failures");
        assert!(long.chars().count() == LONGEST_NAME && long.ends_with(".failures"), "{long}");
    }
}
