//! Comma-separated values: `variant`, `policy`, the fields, and three columns for each figure.

use std::io::{self, Write};

use serde_json::Value;

use super::super::header::Header;
use super::super::row::Row;

pub(super) struct Csv<W: Write>(::csv::Writer<W>);

impl<W: Write> Csv<W> {
    pub(super) fn new(out: W, header: &Header) -> io::Result<Csv<W>> {
        let mut writer = ::csv::Writer::from_writer(out);
        let mut names = vec!["variant".to_owned(), "policy".into()];
        names.extend(header.fields.iter().map(|field| field.name.clone()));
        for figure in &header.figures {
            let name = &figure.name;
            names.extend([name.clone(), format!("{name}.ci95_lo"), format!("{name}.ci95_hi")]);
        }
        writer.write_record(&names)?;
        Ok(Csv(writer))
    }

    pub(super) fn write(&mut self, row: &Row) -> io::Result<()> {
        let mut cells = vec![row.variant.to_string(), row.policy.clone()];
        cells.extend(row.fields.iter().map(text));
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        cells.extend(row.figures.iter().flat_map(|figure| figure.parts()).map(number));
        Ok(self.0.write_record(&cells)?)
    }

    pub(super) fn finish(self) -> io::Result<W> {
        self.0.into_inner().map_err(|error| error.into_error())
    }
}

/// Empty where there is none.
fn text(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
