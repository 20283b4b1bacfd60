//! Keyed luck must look independent between any two draws that differ in one
//! field of their name: purpose, target, try, request or seed.
//!
//! For every pair of levels of every field, over 2¹⁶ bases (2²² draws and more
//! in all): χ² over the 64 × 64 cells of the leading bits, joint tails in the
//! four corners, and avalanche (each output bit flips half the time). All
//! statistics together form one family with a false-alarm rate of 10⁻⁶. The
//! same tests are shown to fail two weaker hashes.

use statrs::distribution::{ContinuousCDF, Normal};
use windtunnel::draw::{Key, NameHash, Purpose};

const FAMILY_ALPHA: f64 = 1e-6;
/// An upper bound on the number of statistics (χ², four corners, avalanche for each pair).
const FAMILY_SIZE: f64 = 16_384.0;
const BASES: usize = 1 << 16;
const AVALANCHE_BASES: usize = 1 << 11;
const CELLS: usize = 64;

/// The name of a draw, as far as a hash can see it.
#[derive(Clone, Copy)]
struct Name {
    seed: u64,
    request: u64,
    purpose: Purpose,
    target: u64,
    nth: u32,
}

type Hash = fn(Name) -> u64;

const TARGETS: [&str; 8] = [
    "openai/gpt-1",
    "openai/gpt-2",
    "openai/gpt-3",
    "azure/gpt-1",
    "azure/gpt-2",
    "a",
    "b",
    "bedrock/eu-west-1",
];

fn keyed_luck(name: Name) -> u64 {
    let request = Key::of_world(name.seed).child(name.request);
    request.draw(name.purpose, NameHash::of(TARGETS[name.target as usize]), name.nth)
}

/// The second 64 bits of the block, which `draw2` hands out.
fn keyed_luck_second_half(name: Name) -> u64 {
    let request = Key::of_world(name.seed).child(name.request);
    request.draw2(name.purpose, NameHash::of(TARGETS[name.target as usize]), name.nth).1
}

/// Raw keys that differ in their lowest bits only, as no generated key does.
fn luck_of_raw_keys(name: Name) -> u64 {
    let key = Key::new(name.seed, name.request);
    key.draw(name.purpose, NameHash::of(TARGETS[name.target as usize]), name.nth)
}

/// Every field well mixed, but combined by XOR: each draw alone looks perfect.
fn xor_of_mixed_fields(name: Name) -> u64 {
    let field = |tag: u64, value: u64| {
        Key::of_world(tag).child(value).draw(Purpose::Salt, NameHash::NONE, 0)
    };
    field(1, name.seed)
        ^ field(2, name.request)
        ^ field(3, name.purpose as u64)
        ^ field(4, name.target)
        ^ field(5, u64::from(name.nth))
}

/// Fields XORed into one word and multiplied once: fast, and too little.
fn xor_then_multiply(name: Name) -> u64 {
    let word = name.seed << 40
        ^ name.request
        ^ (name.purpose as u64) << 32
        ^ name.target << 24
        ^ u64::from(name.nth) << 56;
    word.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[test]
fn keyed_luck_is_independent_in_every_field() {
    for field in Field::ALL {
        assert_eq!(dependence(keyed_luck, field), None, "{field:?}");
    }
}

#[test]
fn second_half_is_independent_in_every_field() {
    for field in [Field::Target, Field::Try, Field::Request] {
        assert_eq!(dependence(keyed_luck_second_half, field), None, "{field:?}");
    }
}

#[test]
fn neighbouring_raw_keys_are_independent() {
    for field in [Field::Request, Field::Seed] {
        assert_eq!(dependence(luck_of_raw_keys, field), None, "{field:?}");
    }
}

#[test]
fn halves_of_one_block_are_independent() {
    let columns = [keyed_luck as Hash, keyed_luck_second_half]
        .map(|half| (0..BASES).map(|i| half(Field::Request.name(i, 0))).collect::<Vec<u64>>());
    assert_eq!(pair_dependence(&columns[0], &columns[1]), None);
}

#[test]
fn the_same_test_fails_xor_hashes() {
    for field in Field::ALL {
        assert!(dependence(xor_then_multiply, field).is_some(), "{field:?}");
    }
    // Steps of these fields flip the same output bits for every request.
    for field in [Field::Purpose, Field::Target, Field::Try] {
        assert!(dependence(xor_of_mixed_fields, field).is_some(), "{field:?}");
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Field {
    Purpose,
    Target,
    Try,
    Request,
    Seed,
}

impl Field {
    const ALL: [Field; 5] =
        [Field::Purpose, Field::Target, Field::Try, Field::Request, Field::Seed];

    fn levels(self) -> usize {
        if self == Field::Purpose { Purpose::ALL.len() } else { 8 }
    }

    /// The `level`-th neighbour of the `base`-th name along this field; the other
    /// fields move with `base`.
    fn name(self, base: usize, level: usize) -> Name {
        let mut name = Name {
            seed: base as u64 % 1_000,
            request: base as u64,
            purpose: Purpose::ALL[base % Purpose::ALL.len()],
            target: base as u64 % 7,
            nth: base as u32 % 3,
        };
        match self {
            Field::Purpose => name.purpose = Purpose::ALL[level],
            Field::Target => name.target = level as u64,
            Field::Try => name.nth = level as u32,
            Field::Request => name.request = (8 * base + level) as u64,
            Field::Seed => name.seed = (8 * base + level) as u64,
        }
        name
    }
}

/// The first evidence of dependence between two levels of `field`.
fn dependence(hash: Hash, field: Field) -> Option<String> {
    let columns: Vec<Vec<u64>> = (0..field.levels())
        .map(|level| (0..BASES).map(|base| hash(field.name(base, level))).collect())
        .collect();
    (0..columns.len()).flat_map(|a| (0..a).map(move |b| (b, a))).find_map(|(a, b)| {
        let found = pair_dependence(&columns[a], &columns[b])?;
        Some(format!("levels {a} and {b}: {found}"))
    })
}

fn pair_dependence(a: &[u64], b: &[u64]) -> Option<String> {
    let mut table = vec![0_u32; CELLS * CELLS];
    for i in 0..a.len() {
        table[(a[i] >> 58) as usize * CELLS + (b[i] >> 58) as usize] += 1;
    }
    uneven_cells(&table, a.len())
        .or_else(|| heavy_corner(&table, a.len()))
        .or_else(|| stiff_bits(&a[..AVALANCHE_BASES], &b[..AVALANCHE_BASES]))
}

/// χ² of the 64 × 64 cells, too uneven or too even.
fn uneven_cells(table: &[u32], n: usize) -> Option<String> {
    let expected = n as f64 / table.len() as f64;
    let chi2 = table.iter().map(|&c| (f64::from(c) - expected).powi(2)).sum::<f64>() / expected;
    let z = wilson_hilferty(chi2, table.len() as f64 - 1.0);
    (z.abs() > critical_z()).then(|| format!("chi-squared of cells, z = {z:.1}"))
}

/// Both draws within their lowest or highest sixteenth, by the Chernoff bound
/// P(share of n ≥ x) ≤ exp(−n · KL(x ‖ p)), which holds for every n.
fn heavy_corner(table: &[u32], n: usize) -> Option<String> {
    const TAIL: usize = CELLS / 16;
    let p = 1.0 / 256.0;
    let ends = [0, CELLS - TAIL];
    ends.iter().flat_map(|&row| ends.iter().map(move |&column| (row, column))).find_map(
        |(row, column)| {
            let count: u32 = (row..row + TAIL)
                .flat_map(|r| (column..column + TAIL).map(move |c| table[r * CELLS + c]))
                .sum();
            let x = f64::from(count) / n as f64;
            let part = |x: f64, p: f64| if x > 0.0 { x * (x / p).ln() } else { 0.0 };
            let evidence = n as f64 * (part(x, p) + part(1.0 - x, 1.0 - p));
            (evidence > (2.0 * FAMILY_SIZE / FAMILY_ALPHA).ln())
                .then(|| format!("joint tail at {row}, {column}: {count} of {n}"))
        },
    )
}

/// χ² over the 64 output bits of how often each flips between `a` and `b`.
fn stiff_bits(a: &[u64], b: &[u64]) -> Option<String> {
    let n = a.len() as f64;
    let chi2: f64 = (0..64)
        .map(|bit| {
            let flips = a.iter().zip(b).filter(|(a, b)| ((*a ^ *b) >> bit) & 1 == 1).count();
            (flips as f64 - n / 2.0).powi(2) / (n / 4.0)
        })
        .sum();
    let z = wilson_hilferty(chi2, 64.0);
    (z.abs() > critical_z()).then(|| format!("avalanche, z = {z:.1}"))
}

/// The standard normal score of a χ² value (Wilson and Hilferty 1931).
fn wilson_hilferty(chi2: f64, freedom: f64) -> f64 {
    let spread = 2.0 / (9.0 * freedom);
    ((chi2 / freedom).cbrt() - (1.0 - spread)) / spread.sqrt()
}

/// Two-sided, Bonferroni over the family: 6.5.
fn critical_z() -> f64 {
    let normal = Normal::new(0.0, 1.0).expect("the standard normal exists");
    -normal.inverse_cdf(FAMILY_ALPHA / FAMILY_SIZE / 2.0)
}
