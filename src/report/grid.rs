//! A table as cells, which text and documents set each in their way.

use std::ops::Range;

use comfy_table::{CellAlignment, presets};

use super::format::legend;
use super::table::{frame, text};
use crate::page::{Column, Row, Table};

/// A table before it is set; a row has a cell for each heading.
#[derive(Default)]
pub(crate) struct Grid {
    head: Vec<String>,
    /// The columns that are set to the right.
    figures: Range<usize>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// Without rows yet.
    pub(crate) fn new(head: &[&str]) -> Grid {
        let head = head.iter().map(|title| (*title).to_owned()).collect();
        Grid { head, figures: 0..0, rows: Vec::new() }
    }

    /// Sets these columns to the right.
    pub(crate) fn figures(&mut self, columns: Range<usize>) {
        self.figures = columns;
    }

    pub(crate) fn add_row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// For a terminal, with lines around it.
    pub(crate) fn text(&self) -> String {
        let head: Vec<&str> = self.head.iter().map(String::as_str).collect();
        let mut table = frame(&head);
        self.fill(&mut table);
        text(&table)
    }

    /// For a terminal, with lines between columns, too; without a line feed at its end.
    pub(crate) fn ruled(&self) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED).set_header(&self.head);
        self.fill(&mut table);
        let table = table.to_string();
        match legend(&table) {
            Some(legend) => format!("{table}\n{legend}"),
            None => table,
        }
    }

    fn fill(&self, table: &mut comfy_table::Table) {
        for row in &self.rows {
            table.add_row(row);
        }
        for column in self.figures.clone() {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
    }

    /// For a document.
    pub(crate) fn table(self, caption: &str) -> Table {
        let columns = self.head.into_iter().enumerate();
        let columns =
            columns.map(|(at, title)| Column { title, figures: self.figures.contains(&at) });
        let row = |cells: Vec<String>| {
            let mut cells = cells.into_iter();
            let head = cells.next().unwrap_or_default();
            Row { head, cells: cells.collect(), ..Row::default() }
        };
        let legend = self.rows.iter().flatten().find_map(|cell| legend(cell));
        Table {
            caption: [Some(caption), legend].into_iter().flatten().collect::<Vec<_>>().join(". "),
            columns: columns.collect(),
            rows: self.rows.into_iter().map(row).collect(),
        }
    }
}
