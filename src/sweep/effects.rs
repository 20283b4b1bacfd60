//! How much each field says about an objective, over the variants of a sweep.

use serde_json::Value;

use super::summary::{Point, Summary};
use crate::stats::level;

/// Bins of a field with numbers.
const BINS: usize = 8;

/// Variants that a field puts together, and the objective's mean over them.
#[derive(Clone, PartialEq, Debug)]
pub struct Bin {
    /// What they have in common: a name, or the middle of their numbers.
    pub at: At,
    /// How many.
    pub count: usize,
    /// The mean of the objective.
    pub mean: f64,
    /// Half the width of the mean's 95 % interval over variants; `None` for one variant.
    pub half: Option<f64>,
}

/// Where a bin lies on the field's axis.
#[derive(Clone, PartialEq, Debug)]
pub enum At {
    /// At a number: the median of those in the bin.
    Number(f64),
    /// At a name.
    Name(String),
}

/// What a field does to an objective, all other fields varying as they do.
#[derive(Clone, PartialEq, Debug)]
pub struct Effect {
    /// The position of the field.
    pub field: usize,
    /// Its bins, in the order of its axis.
    pub bins: Vec<Bin>,
    /// The part of the objective's variance over variants that lies between bins, 0 to 1, less what
    /// chance alone would put there (ε², the adjusted correlation ratio).
    pub share: f64,
}

/// The effect of the field at this position on the objective at that one; `None` where it does not
/// vary, or the objective does not but for rounding.
pub fn effect(points: &[Point], field: usize, objective: usize) -> Option<Effect> {
    let known: Vec<(&Value, f64)> = points
        .iter()
        .filter(|point| point.variant > 0)
        .filter_map(|point| Some((&point.fields[field], point.scores[objective].value()?)))
        .collect();
    let groups = groups(&known);
    if groups.len() < 2 {
        return None;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let all: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
    let overall = mean(&all);
    let (least, most) = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &value| {
        (lo.min(value), hi.max(value))
    });
    if level(least, most) {
        return None;
    }
    let total: f64 = all.iter().map(|value| (value - overall) * (value - overall)).sum();
    let mut between = 0.0;
    let mut bins = Vec::new();
    for (at, values) in groups {
        let (count, mean) = (values.len(), mean(&values));
        between += count as f64 * (mean - overall) * (mean - overall);
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let half = (count > 1).then(|| {
            let variance = squares / (count - 1) as f64;
            crate::stats::two_sided_95(count - 1) * (variance / count as f64).sqrt()
        });
        bins.push(Bin { at, count, mean, half });
    }
    let (variants, parts) = (all.len() as f64, bins.len() as f64);
    let share = if variants > parts {
        let within = (total - between).max(0.0) / (variants - parts);
        (1.0 - within / (total / (variants - 1.0))).max(0.0)
    } else {
        0.0
    };
    Some(Effect { field, bins, share })
}

/// Values of the objective by what the field is: by name, or by parts of its numbers that hold as
/// many variants each. Where some have a number and others none, those without come last.
fn groups(known: &[(&Value, f64)]) -> Vec<(At, Vec<f64>)> {
    let (none, some): (Vec<_>, Vec<_>) = known.iter().partition(|(field, _)| field.is_null());
    let numbers: Option<Vec<(f64, f64)>> =
        some.iter().map(|(field, value)| Some((field.as_f64()?, *value))).collect();
    match numbers {
        Some(numbers) if !numbers.is_empty() => {
            let mut groups = by_number(numbers);
            if !none.is_empty() {
                let values = none.iter().map(|(_, value)| *value).collect();
                groups.push((At::Name(NONE.into()), values));
            }
            groups
        }
        _ => by_name(known),
    }
}

fn by_number(mut numbers: Vec<(f64, f64)>) -> Vec<(At, Vec<f64>)> {
    numbers.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let mut distinct: Vec<f64> = numbers.iter().map(|(x, _)| *x).collect();
    distinct.dedup();
    // Few values are their own bins; many are cut so that equal ones stay together.
    let cuts: Vec<f64> = if distinct.len() <= BINS {
        distinct[1..].to_vec()
    } else {
        let edge = |bin: usize| numbers[numbers.len() * bin / BINS].0;
        let mut cuts: Vec<f64> = (1..BINS).map(edge).collect();
        cuts.dedup();
        cuts
    };
    let mut groups: Vec<Vec<(f64, f64)>> = vec![Vec::new(); cuts.len() + 1];
    for (x, value) in numbers {
        groups[cuts.partition_point(|cut| *cut <= x)].push((x, value));
    }
    groups.retain(|group| !group.is_empty());
    let bin = |group: Vec<(f64, f64)>| {
        let median = group[group.len() / 2].0;
        (At::Number(median), group.into_iter().map(|(_, value)| value).collect())
    };
    groups.into_iter().map(bin).collect()
}

fn by_name(known: &[(&Value, f64)]) -> Vec<(At, Vec<f64>)> {
    let mut groups: Vec<(String, Vec<f64>)> = Vec::new();
    for (field, value) in known {
        let name = name_of(field);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.push(*value),
            None => groups.push((name, vec![*value])),
        }
    }
    groups.sort_by(|(a, _), (b, _)| a.cmp(b));
    groups.into_iter().map(|(name, values)| (At::Name(name), values)).collect()
}

/// A cell in words; of a part of a policy, only which fields it has.
pub(super) fn name_of(cell: &Value) -> String {
    match cell {
        Value::Null => NONE.into(),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => {
                let names: Vec<&str> = fields.keys().map(String::as_str).collect();
                format!("{{{}}}", names.join(", "))
            }
            _ => text.clone(),
        },
        other => other.to_string(),
    }
}

/// What a cell without a value is called.
const NONE: &str = "none";

/// The effects of all fields on an objective, the one that matters most first; what a choice alone
/// sets goes under the choice. Where fields were drawn together, so that several claim the same
/// variance, they share it by their claims: no more than all of it is dealt out.
pub(super) fn ranked(summary: &Summary, objective: usize) -> Vec<Effect> {
    let columns = &summary.header.fields;
    let own = |field: &usize| columns[*field].choice.is_none() || columns[*field].is_choice();
    let fields = (0..summary.header.fields.len()).filter(own);
    let mut effects: Vec<Effect> =
        fields.filter_map(|field| effect(&summary.points, field, objective)).collect();
    share_out(&mut effects);
    effects.sort_by(|a, b| b.share.total_cmp(&a.share));
    effects
}

/// No more than the whole variance, by claims.
fn share_out(effects: &mut [Effect]) {
    let claimed: f64 = effects.iter().map(|effect| effect.share).sum();
    if claimed > 1.0 {
        effects.iter_mut().for_each(|effect| effect.share /= claimed);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::row::Figure;
    use super::*;

    fn point(variant: u64, field: Value, score: f64) -> Point {
        let scores = vec![Figure::new(Some(score), None)];
        let differences = vec![Figure::default()];
        Point {
            variant,
            is_base_again: false,
            fields: vec![field],
            scores,
            differences,
            in_scenarios: Vec::new(),
        }
    }

    #[test]
    fn shares_of_variance_by_hand() {
        // Means 1 and 3 around 2: within 4 × 0.25 over two degrees, in all 5 over three.
        let scores = [("a", 0.5), ("a", 1.5), ("b", 2.5), ("b", 3.5)];
        let mut points: Vec<Point> =
            (1..).zip(scores).map(|(n, (f, s))| point(n, json!(f), s)).collect();
        // The base is none of the variants.
        points.push(point(0, json!("a"), 100.0));
        let effect = effect(&points, 0, 0).unwrap();
        assert!((effect.share - (1.0 - (1.0 / 2.0) / (5.0 / 3.0))).abs() < 1e-12);
        assert_eq!(effect.bins[0].at, At::Name("a".into()));
        assert_eq!((effect.bins[0].mean, effect.bins[1].mean), (1.0, 3.0));
        // t(0.975) with one degree is 12.706; s = 0.7071, so 12.706 × 0.5.
        assert!((effect.bins[0].half.unwrap() - 12.706_204_7 * 0.5).abs() < 1e-6);
    }

    #[test]
    fn many_numbers_are_cut_into_even_parts() {
        let points: Vec<Point> = (1..=800).map(|n| point(n, json!(n), n as f64)).collect();
        let effect = effect(&points, 0, 0).unwrap();
        let counts: Vec<usize> = effect.bins.iter().map(|bin| bin.count).collect();
        assert_eq!(counts, [100; 8]);
        // Within a bin 1/64 of the variance is left.
        assert!((effect.share - 63.0 / 64.0).abs() < 1e-3, "{}", effect.share);
        let mut partly = points.clone();
        partly.extend((801..=900).map(|n| point(n, Value::Null, 0.0)));
        let bins = super::effect(&partly, 0, 0).unwrap().bins;
        assert_eq!((bins.len(), &bins[8].at), (9, &At::Name("none".into())));
        assert_eq!(name_of(&json!("{\"a\":1,\"b\":{}}")), "{a, b}");
        let flat: Vec<Point> = (1..=8).map(|n| point(n, json!(n), 1.0)).collect();
        assert_eq!(super::effect(&flat, 0, 0), None);
        let dust = |n: u64| if n == 1 { 0.002_799_999_999_999_999_5 } else { 0.0028 };
        let flat: Vec<Point> = (1..=16).map(|n| point(n, json!(n / 4), dust(n))).collect();
        assert_eq!(super::effect(&flat, 0, 0), None);
    }
    #[test]
    fn no_more_than_all_of_the_variance_is_dealt_out() {
        let effect = |share| Effect { field: 0, bins: Vec::new(), share };
        let mut much = [effect(1.0), effect(0.75), effect(0.25)];
        share_out(&mut much);
        assert_eq!(much.map(|effect| effect.share), [0.5, 0.375, 0.125]);
        let mut little = [effect(0.5), effect(0.25)];
        share_out(&mut little);
        assert_eq!(little.map(|effect| effect.share), [0.5, 0.25]);
    }
}
