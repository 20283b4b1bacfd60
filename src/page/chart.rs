//! Charts as data. Values are as shown: a percentage is 99.9, not 0.999.

/// What values are measured in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Unit {
    /// Bare numbers.
    #[default]
    Number,
    /// Percent.
    Percent,
    /// Seconds.
    Seconds,
    /// Dollars.
    Dollars,
}

impl Unit {
    /// Written before a value.
    pub const fn before(self) -> &'static str {
        match self {
            Unit::Dollars => "$",
            Unit::Number | Unit::Percent | Unit::Seconds => "",
        }
    }

    /// Written after a value.
    pub const fn after(self) -> &'static str {
        match self {
            Unit::Percent => " %",
            Unit::Seconds => " s",
            Unit::Number | Unit::Dollars => "",
        }
    }
}

/// An axis of values.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Axis {
    /// What it shows.
    pub label: String,
    /// In which unit.
    pub unit: Unit,
    /// Values it never goes below, whatever room a chart would like: 0 for money.
    pub least: Option<f64>,
    /// Values it never goes above: 100 for percentages.
    pub most: Option<f64>,
    /// Every factor of ten as long as any other. Values must be positive.
    pub log: bool,
}

/// Lines that share their horizontal positions.
#[derive(Clone, PartialEq, Debug)]
pub struct LineChart {
    /// Its heading.
    pub title: String,
    /// What it shows and how to read it, in a sentence: also the text for who cannot see it.
    pub about: String,
    /// The horizontal axis.
    pub x: X,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub lines: Vec<Line>,
    /// Stretches of the horizontal axis that are shaded: incidents.
    pub shades: Vec<Shade>,
    /// The same one by one, below the drawing.
    pub strips: Vec<Strip>,
}

/// A horizontal axis with the positions at which lines have values, ascending.
#[derive(Clone, PartialEq, Debug)]
pub enum X {
    /// Intervals of time, as long each.
    Time {
        /// Where the first begins, in seconds.
        from: f64,
        /// How long each is, in seconds.
        step: f64,
        /// How many there are.
        count: usize,
    },
    /// Values of a parameter.
    Values(Axis, Vec<f64>),
}

/// One line.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// Position of its name in the page's legend.
    pub of: usize,
    /// A value for each position; `None` leaves a gap.
    pub values: Vec<Option<f64>>,
    /// An interval for each position; empty where there are none.
    pub bands: Vec<Option<(f64, f64)>>,
}

/// A stretch of the horizontal axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Shade {
    /// Its begin, in seconds.
    pub from: f64,
    /// Its end, in seconds.
    pub to: f64,
    /// How dark it is, from 0 to 1: in what share of worlds it is there.
    pub depth: f64,
}

/// A strip along the axis of time that says when one thing was on.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Strip {
    /// What it was.
    pub label: String,
    /// When, and how much of it.
    pub shades: Vec<Shade>,
}

/// Values with intervals, side by side.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DotChart {
    /// Its heading.
    pub title: String,
    /// What it shows and how to read it.
    pub about: String,
    /// One for each measure.
    pub panels: Vec<DotPanel>,
}

/// One measure of a [`DotChart`].
#[derive(Clone, PartialEq, Debug)]
pub struct DotPanel {
    /// The measure, with its unit.
    pub axis: Axis,
    /// Which way is good, or another remark; may be empty.
    pub note: String,
    /// The rows.
    pub rows: Vec<DotRow>,
}

/// One value of a [`DotPanel`].
#[derive(Clone, PartialEq, Debug)]
pub struct DotRow {
    /// Position of its name in the page's legend.
    pub of: usize,
    /// The value; `None` where there is none, and `shown` says why.
    pub value: Option<f64>,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// Both in words.
    pub shown: String,
}

/// Shares that add up to all, a bar for each name.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BarChart {
    /// Its heading.
    pub title: String,
    /// What it shows and how to read it.
    pub about: String,
    /// What the parts of each bar are; those with [`Tone::Bad`](super::Tone) are drawn in
    /// browns.
    pub parts: Vec<(String, super::Tone)>,
    /// The bars.
    pub rows: Vec<BarRow>,
}

/// One bar of a [`BarChart`].
#[derive(Clone, PartialEq, Debug)]
pub struct BarRow {
    /// Position of its name in the page's legend.
    pub of: usize,
    /// A share from 0 to 1 for each part.
    pub shares: Vec<f64>,
}

/// Points in a plane.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Scatter {
    /// Its heading.
    pub title: String,
    /// What it shows and how to read it.
    pub about: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The points, at most some thousands.
    pub dots: Vec<Dot>,
    /// The front as a line, from point to point; empty for none.
    pub front: Vec<(f64, f64)>,
}

/// One point of a [`Scatter`].
#[derive(Clone, PartialEq, Debug)]
pub struct Dot {
    /// Position of its kind in the page's legend.
    pub of: usize,
    /// Where it stands.
    pub at: (f64, f64),
    /// Interval of its horizontal value.
    pub x_interval: Option<(f64, f64)>,
    /// Interval of its vertical value.
    pub y_interval: Option<(f64, f64)>,
    /// What it is.
    pub label: String,
    /// Written beside it, not only on demand: for the few that matter.
    pub named: bool,
}

impl Axis {
    /// An axis of this unit.
    pub fn new(label: impl Into<String>, unit: Unit) -> Axis {
        let most = (unit == Unit::Percent).then_some(100.0);
        Axis { label: label.into(), unit, least: Some(0.0), most, log: false }
    }

    /// An axis of differences, which may be negative.
    pub fn signed(label: impl Into<String>, unit: Unit) -> Axis {
        Axis { least: None, most: None, ..Axis::new(label, unit) }
    }
}

impl X {
    /// How many positions there are.
    pub fn len(&self) -> usize {
        match self {
            X::Time { count, .. } => *count,
            X::Values(_, values) => values.len(),
        }
    }

    /// True where there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
