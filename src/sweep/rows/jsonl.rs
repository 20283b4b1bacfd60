//! One JSON object for each row.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::super::header::Header;
use super::super::row::{Figure, Row};

pub(super) struct JsonLines<W: Write> {
    out: W,
    fields: Vec<String>,
    figures: Vec<String>,
}

impl<W: Write> JsonLines<W> {
    pub(super) fn new(out: W, header: &Header) -> JsonLines<W> {
        JsonLines {
            out,
            fields: header.fields.iter().map(|field| field.name.clone()).collect(),
            figures: header.figures.iter().map(|figure| figure.name.clone()).collect(),
        }
    }

    pub(super) fn write(&mut self, row: &Row) -> io::Result<()> {
        let fields: Map<String, Value> =
            self.fields.iter().cloned().zip(row.fields.iter().cloned()).collect();
        let figure = |figure: &Figure| json!({ "value": figure.value(), "ci95": figure.ci95().map(|(lo, hi)| [lo, hi]) });
        let figures: Map<String, Value> =
            self.figures.iter().cloned().zip(row.figures.iter().map(figure)).collect();
        let line = json!({
            "variant": row.variant,
            "policy": row.policy,
            "fields": fields,
            "figures": figures,
        });
        writeln!(self.out, "{line}")
    }

    pub(super) fn finish(self) -> W {
        self.out
    }
}
