//! Apache Parquet: the columns of the CSV, with types.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{
    SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter,
};
use parquet::schema::types::Type;
use serde_json::Value;

use super::super::header::{Header, Holds};
use super::super::row::Row;

/// Rows kept until they are written as one group.
const GROUP: usize = 1_024;

pub(super) struct Parquet<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    fields: Vec<Holds>,
    figures: usize,
    waiting: Vec<Row>,
}

impl<W: Write + Send> Parquet<W> {
    pub(super) fn new(out: W, header: &Header) -> io::Result<Parquet<W>> {
        let schema = schema(header).map_err(io::Error::other)?;
        // No version or clock in it: the same rows are the same bytes.
        let properties = WriterProperties::builder().set_created_by("windtunnel".into()).build();
        let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties));
        Ok(Parquet {
            writer: writer.map_err(io::Error::other)?,
            fields: header.fields.iter().map(|field| field.holds).collect(),
            figures: header.figures.len(),
            waiting: Vec::new(),
        })
    }

    pub(super) fn write(&mut self, row: &Row) -> io::Result<()> {
        self.waiting.push(row.clone());
        if self.waiting.len() < GROUP { Ok(()) } else { self.group().map_err(io::Error::other) }
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        if !self.waiting.is_empty() {
            self.group().map_err(io::Error::other)?;
        }
        self.writer.into_inner().map_err(io::Error::other)
    }

    fn group(&mut self) -> Result<(), ParquetError> {
        let rows = std::mem::take(&mut self.waiting);
        let mut group = self.writer.next_row_group()?;
        let numbers: Vec<i64> = rows.iter().map(|row| row.variant as i64).collect();
        column(&mut group, |c| c.typed::<Int64Type>().write_batch(&numbers, None, None))?;
        let hashes: Vec<ByteArray> = rows.iter().map(|row| row.policy.as_str().into()).collect();
        column(&mut group, |c| c.typed::<ByteArrayType>().write_batch(&hashes, None, None))?;
        for (at, holds) in self.fields.iter().enumerate() {
            let cells = rows.iter().map(|row| &row.fields[at]);
            match holds {
                Holds::Truth => {
                    let (values, levels) = present(cells.map(Value::as_bool));
                    column(&mut group, |c| {
                        c.typed::<BoolType>().write_batch(&values, Some(&levels), None)
                    })?;
                }
                Holds::Text => {
                    let texts = cells.map(|cell| cell.as_str().map(ByteArray::from));
                    let (values, levels) = present(texts);
                    column(&mut group, |c| {
                        c.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)
                    })?;
                }
                Holds::Number | Holds::Share | Holds::Seconds | Holds::Dollars => {
                    doubles(&mut group, cells.map(Value::as_f64))?;
                }
            }
        }
        for at in 0..self.figures {
            for part in 0..3 {
                doubles(&mut group, rows.iter().map(|row| row.figures[at].parts()[part]))?;
            }
        }
        group.close()?;
        Ok(())
    }
}

fn schema(header: &Header) -> Result<Type, ParquetError> {
    let text = |name: &str, repetition| {
        Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
            .with_logical_type(Some(LogicalType::String))
            .with_repetition(repetition)
            .build()
    };
    let optional = |name: &str, physical| {
        Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL).build()
    };
    let number = Type::primitive_type_builder("variant", Physical::INT64)
        .with_repetition(Repetition::REQUIRED)
        .build()?;
    let mut columns = vec![number, text("policy", Repetition::REQUIRED)?];
    for field in &header.fields {
        columns.push(match field.holds {
            Holds::Truth => optional(&field.name, Physical::BOOLEAN)?,
            Holds::Text => text(&field.name, Repetition::OPTIONAL)?,
            Holds::Number | Holds::Share | Holds::Seconds | Holds::Dollars => {
                optional(&field.name, Physical::DOUBLE)?
            }
        });
    }
    for figure in &header.figures {
        for ending in ["", ".ci95_lo", ".ci95_hi"] {
            columns.push(optional(&format!("{}{ending}", figure.name), Physical::DOUBLE)?);
        }
    }
    let columns = columns.into_iter().map(Arc::new).collect();
    Type::group_type_builder("sweep").with_fields(columns).build()
}

/// Writes the next column of a group.
fn column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    write: impl FnOnce(&mut SerializedColumnWriter<'_>) -> Result<usize, ParquetError>,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("a column of the schema");
    write(&mut column)?;
    column.close()
}

fn doubles<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: impl Iterator<Item = Option<f64>>,
) -> Result<(), ParquetError> {
    let (values, levels) = present(values);
    column(group, |c| c.typed::<DoubleType>().write_batch(&values, Some(&levels), None))
}

/// The values that are there, and for every row whether one is.
fn present<T>(values: impl Iterator<Item = Option<T>>) -> (Vec<T>, Vec<i16>) {
    let (mut present, mut levels) = (Vec::new(), Vec::new());
    for value in values {
        levels.push(i16::from(value.is_some()));
        present.extend(value);
    }
    (present, levels)
}
