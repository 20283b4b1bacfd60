//! Documents for people: a small model, and one HTML file or Markdown made from it.
//!
//! A [`Page`] says what was asked, the answer in a sentence, a few key figures and how far to
//! believe them; then come [`Section`]s of [`Block`]s: charts, tables, courses of requests, text.
//! It knows nothing of simulations: who has figures fills one in.
//!
//! - [`Page::html`] gives one file that needs no network, opens from disk, prints, and works by
//!   keyboard, with a screen reader, on a phone, in light and in dark;
//! - [`Page::markdown`] gives the same for a document that is edited further.
//!
//! Text may hold `code` between backticks; nothing else in it is markup, wherever it comes from.

mod chart;
mod course;
mod html;
mod letter;
mod markdown;
mod scale;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use chart::{
    Axis, BarChart, BarRow, Dot, DotChart, DotPanel, DotRow, Line, LineChart, Scatter, Shade,
    Strip, Unit, X,
};
pub use course::{Course, Ending, Lane, Mark, Span, Stretch};

/// A document.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Page {
    /// What kind of document it is, such as "comparison".
    pub kind: String,
    /// What it is about.
    pub title: String,
    /// What was asked, in a sentence or two.
    pub asked: String,
    /// The answer, in a sentence.
    pub answer: String,
    /// The few figures a manager asks for; four to six.
    pub figures: Vec<KeyFigure>,
    /// How far to believe it, one sentence each.
    pub belief: Vec<String>,
    /// Names that charts tell apart by colour, dash and marker, and that a reader can switch off:
    /// policies, mostly. Charts refer to them by position.
    pub legend: Vec<String>,
    /// The body.
    pub sections: Vec<Section>,
    /// What to run to get the same bytes.
    pub origin: Origin,
}

/// How a document is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageFormat {
    /// One file with charts, for reading and printing.
    Html,
    /// Text to edit further.
    Markdown,
}

impl PageFormat {
    /// The format of a file by its ending; `None` where it is neither `.html` nor `.md`.
    pub fn of(path: &Path) -> Option<PageFormat> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "html" | "htm" => Some(PageFormat::Html),
            "md" | "markdown" => Some(PageFormat::Markdown),
            _ => None,
        }
    }
}

/// Where a document comes from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// The command that makes it again.
    pub command: String,
    /// Version, seed, hashes: name and value.
    pub facts: Vec<(String, String)>,
}

/// One figure of the summary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyFigure {
    /// What it is.
    pub label: String,
    /// Its value with unit and interval, such as `99.87 % ± 0.02`.
    pub value: String,
    /// What it is compared with; may be empty.
    pub note: String,
    /// Whether that is good.
    pub tone: Tone,
}

/// Whether something is good news.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tone {
    /// Neither.
    #[default]
    Plain,
    /// Good.
    Good,
    /// Bad.
    Bad,
}

/// A part of a document under a heading of its own.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// What stands in it.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, PartialEq, Debug)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// A list.
    List(Vec<String>),
    /// A remark beside the text: what to mind.
    Note(String),
    /// Text as it is, such as a file or a command, with a caption.
    Code(String, String),
    /// A table.
    Table(Table),
    /// Lines over time or over a parameter.
    Lines(LineChart),
    /// Values with intervals, a row for each name of the legend.
    Dots(DotChart),
    /// Shares that add up to all.
    Bars(BarChart),
    /// Points in a plane, with a front.
    Scatter(Scatter),
    /// A request's attempts over time.
    Course(Course),
    /// Pieces side by side where there is room: charts, mostly.
    Beside(Vec<Block>),
    /// What most readers can do without, behind its heading.
    Folded(String, Vec<Block>),
}

/// A table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    /// What it holds, in a line.
    pub caption: String,
    /// Headings; the first is that of the rows' own headings, and may be empty.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A column's heading.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Column {
    /// The heading.
    pub title: String,
    /// Whether its cells are figures, to be set to the right.
    pub figures: bool,
}

/// A row of a table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Row {
    /// Its heading.
    pub head: String,
    /// What the heading means; may be empty.
    pub about: String,
    /// One cell for each further column.
    pub cells: Vec<String>,
    /// Begins a new group of rows.
    pub breaks: bool,
}

/// A moment as charts show it: `h:mm` where the whole time is an hour long or more, else `m:ss`.
/// Both are in seconds.
pub fn clock(at: f64, whole: f64) -> String {
    scale::clock(at, whole, 60.0)
}

impl Page {
    /// The document in this format.
    pub fn render(&self, format: PageFormat) -> String {
        match format {
            PageFormat::Html => self.html(),
            PageFormat::Markdown => self.markdown(),
        }
    }

    /// One HTML file, complete in itself: no network, no clock, the same bytes for the same page.
    pub fn html(&self) -> String {
        html::document(self)
    }

    /// Markdown, as code hosts and wikis read it. Charts become a sentence, or a table where they
    /// hold few figures.
    pub fn markdown(&self) -> String {
        markdown::document(self)
    }
}

impl Section {
    /// A section of these blocks.
    pub fn new(title: impl Into<String>, blocks: Vec<Block>) -> Section {
        Section { title: title.into(), blocks }
    }
}

impl Table {
    /// A table without rows: a column of text for the rows' headings, then columns of figures.
    pub fn of_figures<'a>(
        caption: impl Into<String>,
        head: impl Into<String>,
        columns: impl IntoIterator<Item = &'a str>,
    ) -> Table {
        let head = Column { title: head.into(), figures: false };
        let figures =
            columns.into_iter().map(|title| Column { title: title.into(), figures: true });
        let columns = [head].into_iter().chain(figures).collect();
        Table { caption: caption.into(), columns, rows: Vec::new() }
    }

    /// A table of text without rows.
    pub fn of_text<'a>(
        caption: impl Into<String>,
        columns: impl IntoIterator<Item = &'a str>,
    ) -> Table {
        let text = columns.into_iter().map(|title| Column { title: title.into(), figures: false });
        Table { caption: caption.into(), columns: text.collect(), rows: Vec::new() }
    }

    /// One row more.
    ///
    /// # Panics
    /// Where it has not a cell for each column.
    pub fn row(&mut self, head: impl Into<String>, cells: Vec<String>) -> &mut Row {
        assert_eq!(cells.len() + 1, self.columns.len(), "a row has a cell for each column");
        self.rows.push(Row { head: head.into(), cells, ..Row::default() });
        self.rows.last_mut().expect("it was pushed")
    }
}
