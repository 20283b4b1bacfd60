//! Ledgers that hold more than one run, and times in another unit than they are read in.

use std::io::Cursor;

use windtunnel::log::{self, Format, Read, Unusable};
use windtunnel::report::RowFormat;

use crate::formats::map;
use crate::worlds::{known, ledger, policy};

fn run_of(seed: u64) -> Vec<u8> {
    let scenario = include_str!("../files/cli/small.yaml");
    let hidden = known(&[("small.yaml", scenario)]);
    ledger(&hidden.scenario, &policy("conservative"), seed, 1, RowFormat::Csv)
}

/// One ledger behind the other, without the second header.
fn both(one: &[u8], other: &[u8]) -> Vec<u8> {
    let header = other.iter().position(|&byte| byte == b'\n').expect("a header") + 1;
    [one, &other[header..]].concat()
}

fn read(log: &[u8]) -> (Read, u64) {
    let mut requests = 0;
    let format = Format::Ledger { json: false };
    let read = log::read("log", Cursor::new(log), format, |_| requests += 1);
    (read.unwrap_or_else(|e| panic!("{e}")), requests)
}

#[test]
fn a_ledger_that_holds_its_rows_twice_is_read_once() {
    let once = run_of(1);
    let (alone, requests) = read(&once);
    assert_eq!(alone.unusable.count(), 0);
    let (twice, again) = read(&both(&once, &once));
    assert_eq!((twice.rows, again), (2 * alone.rows, requests));
    let (why, seen) = twice.unusable.first().expect("rows were met twice");
    assert_eq!((why, seen.count), (&Unusable::Repeated, alone.rows));
    assert_eq!(seen.line, Some(alone.rows + 2));
}

#[test]
fn a_ledger_of_two_seeds_is_read_as_the_first() {
    let (one, other) = (run_of(1), run_of(2));
    let (alone, requests) = read(&one);
    let (mixed, again) = read(&both(&one, &other));
    // What the second run has more of than the first cannot be told from it.
    let reasons: Vec<&Unusable> = mixed.unusable.iter().map(|(why, _)| why).collect();
    assert_eq!(reasons, [&Unusable::AnotherRun]);
    assert!(again >= requests && mixed.rows > alone.rows);
}

/// Ten attempts, a minute apart, from 2025-06-10 on, in parts of a second.
fn dated(parts: u64) -> String {
    let row = |i: u64| format!("q{i},east,{},200,200\n", (1_749_513_600 + 60 * i) * parts);
    let rows: String = (0..10).map(row).collect();
    format!("id,target,at,ms,status\n{rows}")
}

fn in_unit(unit: &str, text: &str) -> Result<u64, String> {
    let map = map(&format!(
        "{{time_unit: {unit}, duration_unit: ms, columns: {{request: id, target: target, sent: at, took: ms, status: status}}}}"
    ));
    let mut requests = 0;
    let format = Format::Mapped { map: Box::new(map), json: false };
    let read = log::read("log.csv", Cursor::new(text), format, |_| requests += 1);
    read.map(|_| requests).map_err(|e| e.to_string())
}

#[test]
fn dates_in_another_unit_are_refused_with_the_unit_they_are_in() {
    for (parts, unit) in [(1, "s"), (1_000, "ms"), (1_000_000, "us")] {
        assert_eq!(in_unit(unit, &dated(parts)), Ok(10));
    }
    for (parts, read, wanted) in [
        (1, "ms", "`at`, read in `ms`, all lie in the year 1970|time_unit: s"),
        (1, "us", "`at`, read in `us`, all lie in the year 1970|time_unit: s"),
        (1_000, "us", "`at`, read in `us`, all lie in the year 1970|time_unit: ms"),
        (1_000, "s", "is after the year 2100|`at` is read in `s`|time_unit: ms"),
        (1_000_000, "ms", "is after the year 2100|`at` is read in `ms`|time_unit: us"),
    ] {
        let told = in_unit(read, &dated(parts)).expect_err(wanted);
        assert!(wanted.split('|').all(|part| told.contains(part)), "{told}");
    }
}

#[test]
fn a_clock_of_its_own_may_begin_anywhere_near_zero() {
    // From twenty minutes on, for ten: 1,200,000,000 µs are no date of 2008 in seconds.
    let row = |i: u64| format!("q{i},east,{},200,200\n", 1_200_000_000 + 60_000_000 * i);
    let rows: String = (0..10).map(row).collect();
    assert_eq!(in_unit("us", &format!("id,target,at,ms,status\n{rows}")), Ok(10));
}
