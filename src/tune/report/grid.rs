//! A table as cells, which text and documents set each in their way.

use std::ops::Range;

use comfy_table::CellAlignment;

use crate::page::{Column, Row, Table};
use crate::report::{frame, text};

/// A table before it is set; a row has a cell for each heading.
#[derive(Default)]
pub(super) struct Grid {
    head: Vec<String>,
    /// The columns that are set to the right.
    figures: Range<usize>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// Without rows yet.
    pub(super) fn new(head: &[&str]) -> Grid {
        let head = head.iter().map(|title| (*title).to_owned()).collect();
        Grid { head, figures: 0..0, rows: Vec::new() }
    }

    /// Sets these columns to the right.
    pub(super) fn figures(&mut self, columns: Range<usize>) {
        self.figures = columns;
    }

    pub(super) fn add_row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// For a terminal.
    pub(super) fn text(&self) -> String {
        let head: Vec<&str> = self.head.iter().map(String::as_str).collect();
        let mut table = frame(&head);
        for row in &self.rows {
            table.add_row(row);
        }
        for column in self.figures.clone() {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        text(&table)
    }

    /// For a document.
    pub(super) fn table(self, caption: &str) -> Table {
        let columns = self.head.into_iter().enumerate();
        let columns =
            columns.map(|(at, title)| Column { title, figures: self.figures.contains(&at) });
        let row = |cells: Vec<String>| {
            let mut cells = cells.into_iter();
            let head = cells.next().unwrap_or_default();
            Row { head, cells: cells.collect(), ..Row::default() }
        };
        Table {
            caption: caption.into(),
            columns: columns.collect(),
            rows: self.rows.into_iter().map(row).collect(),
        }
    }
}
