//! Findings as bytes: tables, JSON and CSV; rows of a ledger; timelines and charts.

mod format;
