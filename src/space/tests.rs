use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::input::{InputError, SourceFile};
use crate::library::{Kind as FileKind, list, load_policy};

fn around(text: &str) -> Result<PolicySpace, InputError> {
    let file = SourceFile { name: "s.yaml".into(), text: text.into(), folder: None };
    Space::read(file)?.around(&load_policy("conservative").unwrap())
}

fn arguments(arguments: &[&str]) -> PolicySpace {
    let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    Space::of_arguments(&arguments).unwrap().around(&load_policy("conservative").unwrap()).unwrap()
}

fn sampling(method: Method, count: u64) -> Sampling {
    Sampling { method, count, seed: 7 }
}

fn shown(space: &PolicySpace, plan: &Plan) -> Vec<String> {
    plan.variants.iter().map(|levels| space.describe(levels)).collect()
}

#[test]
fn a_grid_is_every_combination_in_the_order_of_nested_loops() {
    let space = arguments(&["attempts.max=1..2", "backoff.base=100ms,200ms,300ms"]);
    let plan = Plan::new(&space, &sampling(Method::Grid, 0)).unwrap();
    let wanted = [
        "attempts.max 1, backoff.base 100ms",
        "attempts.max 1, backoff.base 200ms",
        "attempts.max 1, backoff.base 300ms",
        "attempts.max 2, backoff.base 100ms",
        "attempts.max 2, backoff.base 200ms",
        "attempts.max 2, backoff.base 300ms",
    ];
    assert_eq!(shown(&space, &plan), wanted);
    let variant = space.variant(&plan.variants[4]);
    assert_eq!(variant.policy.attempts.max, 2);
    assert_eq!(variant.policy.backoff.base, windtunnel_policy::Duration::from_millis(200));
    // All else is the base's.
    let mut back = variant.policy.clone();
    back.attempts.max = space.base.attempts.max;
    back.backoff.base = space.base.backoff.base;
    assert_eq!(back, space.base);
}

#[test]
fn conditions_and_constraints_leave_out_what_they_say() {
    let text = "name: s\nvary:\n\
        - {field: attempts.max, values: [1, 2, 3]}\n\
        - {field: backoff.base, values: [100ms, 200ms], when: attempts.max > 1}\n\
        - {field: hedge, values: [null, {after_quantile: 95%, at_least: 2s}]}\n\
        - {field: hedge.at_least, values: [1s, 3s], when: hedge != none}\n\
        where: ['hedge == none or attempts.max == 3']\n";
    let space = around(text).unwrap();
    let plan = Plan::new(&space, &sampling(Method::Grid, 0)).unwrap();
    // Without a hedge: 1 + 2 + 2. With one, three attempts only: 2 × 2.
    let wanted = [
        "attempts.max 1, hedge none",
        "attempts.max 2, backoff.base 100ms, hedge none",
        "attempts.max 2, backoff.base 200ms, hedge none",
        "attempts.max 3, backoff.base 100ms, hedge none",
        "attempts.max 3, backoff.base 100ms, hedge {\"after_quantile\":\"95%\",\"at_least\":\"2s\"}, hedge.at_least 1s",
        "attempts.max 3, backoff.base 100ms, hedge {\"after_quantile\":\"95%\",\"at_least\":\"2s\"}, hedge.at_least 3s",
        "attempts.max 3, backoff.base 200ms, hedge none",
        "attempts.max 3, backoff.base 200ms, hedge {\"after_quantile\":\"95%\",\"at_least\":\"2s\"}, hedge.at_least 1s",
        "attempts.max 3, backoff.base 200ms, hedge {\"after_quantile\":\"95%\",\"at_least\":\"2s\"}, hedge.at_least 3s",
    ];
    assert_eq!(shown(&space, &plan), wanted);
    let hedged = space.variant(&plan.variants[5]).policy.hedge.unwrap();
    assert_eq!(hedged.at_least, windtunnel_policy::Duration::from_secs(3));
}

#[test]
fn a_choice_sets_several_fields() {
    let text = "name: s\nvary:\n- choice: wait\n  options:\n\
        \x20 - {name: as-is}\n\
        \x20 - {name: long, set: {backoff.base: 1s, backoff.max: 30s}}\n\
        \x20 - {name: capped, set: {backoff.max: 2s}}\n";
    let space = around(text).unwrap();
    let plan = Plan::new(&space, &sampling(Method::Grid, 0)).unwrap();
    let waits: Vec<(String, String)> = (plan.variants.iter())
        .map(|levels| space.variant(levels).policy.backoff)
        .map(|backoff| (backoff.base.to_string(), backoff.max.to_string()))
        .collect();
    let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
    assert_eq!(waits, [pair("250ms", "8s"), pair("1s", "30s"), pair("250ms", "2s")]);
    let fields: Vec<String> = space.fields().iter().map(ToString::to_string).collect();
    assert_eq!(fields, ["backoff.base", "backoff.max"]);
}

#[test]
fn every_shape_of_field_can_vary() {
    for (argument, path) in [
        ("attempts.allow_retry=true,false", "attempts.allow_retry"),
        ("matrix.rate_limited.retry=no,delayed", "matrix.rate_limited.retry"),
        ("breakers[0].key=[[provider],[provider,model]]", "breakers[0].key"),
        ("breakers=[[]]", "breakers"),
        ("cooldown.rule=none,{fixed: 5s}", "cooldown.rule"),
        ("breakers[0].trip[0].rate_over_time.failures=10%..90%:5", "breakers[0].trip[0]"),
        ("retry_budgets[0].kind.ratio.share=0.1..0.5:3", "retry_budgets[0].kind.ratio.share"),
        ("envelope.max_cost=$0.01..$1:log:4", "envelope.max_cost"),
        ("side_effects.reconcile=true,false", "side_effects.reconcile"),
        ("classes.batch.max=1..3", "classes.batch.max"),
    ] {
        let space = arguments(&[argument]);
        let plan = Plan::new(&space, &sampling(Method::Grid, 0)).unwrap();
        let path = FieldPath::parse(path).unwrap();
        let values: BTreeSet<String> =
            plan.variants.iter().map(|levels| space.variant(levels).show(&path)).collect();
        assert_eq!(values.len(), plan.variants.len(), "{argument}: each is another policy");
    }
}

#[test]
fn what_is_no_space_is_refused_at_its_place() {
    for (vary, wanted) in [
        (
            "- {field: backof.base, values: [1s]}",
            "a policy has no field `backof.base`; did you mean `backoff`?",
        ),
        ("- {field: backoff.base}", "needs one of `values`, `range` and `options`"),
        ("- {values: [1s]}", "is neither a field nor a choice"),
        ("- {field: backoff.base, values: []}", "has no values"),
        ("- {field: backoff.base, values: [1s, 1s]}", "`1s` is given twice"),
        ("- {field: backoff.base, range: {from: 2s, to: 1s}}", "`2s` is not below `1s`"),
        ("- {field: backoff.base, range: {from: 1s, to: 50%}}", "differ in unit"),
        ("- {field: backoff.base, range: {from: 1s, to: 2s, count: 1}}", "`count` is 2 to 100,000"),
        (
            "- {field: backoff.base, range: {from: 1s, to: 2s, count: 2, step: 1s}}",
            "both `count` and `step`",
        ),
        (
            "- {field: backoff.base, values: [1s], when: attempts.mx > 1}",
            "did you mean `attempts.max`?",
        ),
        (
            "- {field: backoff.base, values: [1s]}\n- {field: backoff.base, values: [2s]}",
            "varies twice",
        ),
        ("- {choice: c, options: [{name: a}]}", "no option sets a field"),
        ("- {field: backoff.base, valuess: [1s]}", "unknown field; did you mean `values`?"),
    ] {
        let error = around(&format!("name: s\nvary:\n{vary}\n")).unwrap_err();
        assert!(error.to_string().contains(wanted), "{vary}: {error}");
        assert!(error.line().is_some_and(|line| line >= 3), "{vary}: {error}");
    }
    let empty = around("name: s\nvary: []\n").unwrap_err().to_string();
    assert!(empty.contains("nothing varies"), "{empty}");
}

#[test]
fn a_variant_that_is_no_policy_is_refused_with_field_and_reason() {
    for (vary, wanted) in [
        ("- field: attempts.max\n  values: [3, 0]", ["attempts.max", "with attempts.max 0"]),
        ("- field: backoff.base\n  values: [soon]", ["backoff.base", "expected a duration"]),
        (
            "- field: attempts.order\n  values: [sideways]",
            ["attempts.order", "unknown value `sideways`"],
        ),
        (
            "- field: breakers[3].open_for\n  values: [1s]",
            ["breakers[3].open_for", "has 1 elements"],
        ),
        (
            "- field: breakers[0].trip[0].consecutive\n  values: [3]",
            ["breakers[0].trip[0]", "is `rate_over_time`, not `consecutive`"],
        ),
        ("- field: hedge.at_least\n  values: [1s]", ["hedge", "after_quantile"]),
    ] {
        let error = around(&format!("name: s\nvary:\n{vary}\n")).unwrap_err();
        for part in wanted {
            assert!(error.to_string().contains(part), "{vary}: {error}");
        }
        assert_eq!(error.line(), Some(3), "{error}");
    }
}

/// conservative: backoff from 250 ms to 8 s, three attempts, no hedge.
#[test]
fn ends_and_values_that_no_policy_can_have_are_found_before_anything_is_drawn() {
    for (vary, field) in [
        ("- {field: backoff.base, range: {from: 50ms, to: 8100ms}}", "backoff.base"),
        ("- {field: backoff.base, range: {from: 50ms, to: 8100ms, scale: log}}", "backoff.base"),
        ("- {field: backoff.base, range: {from: 50ms, to: 8100ms, count: 40}}", "backoff.base"),
        // The low end of a maximum.
        ("- {field: backoff.max, range: {from: 200ms, to: 8s}}", "backoff.base"),
        ("- {field: attempts.max, range: {from: 1, to: 5000}}", "attempts.max"),
        ("- {field: attempts.max, values: [1, 2, 3, 0]}", "attempts.max"),
        // Whatever else varies.
        (
            "- {field: backoff.base, range: {from: 50ms, to: 21s}}\n\
             - {field: backoff.max, range: {from: 5s, to: 20s}}\n\
             - {field: attempts.max, range: {from: 1, to: 5}}",
            "backoff.base",
        ),
        ("- {choice: c, options: [{name: a, set: {attempts.max: 0}}]}", "attempts.max"),
    ] {
        let error = around(&format!("name: s\nvary:\n{vary}\n")).unwrap_err();
        assert!(error.to_string().contains("a variant is no policy"), "{vary}: {error}");
        assert!(error.message().contains(field), "{vary}: {error}");
        assert_eq!(error.line(), Some(3), "{error}");
        assert!(!error.remedy().is_empty(), "{error}");
    }
    let error = around("name: s\nvary:\n- {field: backoff.base, range: {from: 1s, to: 8100ms}}\n");
    let error = error.unwrap_err().to_string();
    assert!(error.contains("is longer than backoff.max (with backoff.base 8.1s)"), "{error}");
}

#[test]
fn values_that_some_others_make_a_policy_are_no_mistake() {
    for vary in [
        // 20 s goes with a maximum above the base's.
        "- {field: backoff.max, range: {from: 5s, to: 30s}}\n\
         - {field: backoff.base, range: {from: 50ms, to: 20s}}",
        "- {field: backoff.base, range: {from: 50ms, to: 20s}}\n\
         - {field: backoff.max, range: {from: 5s, to: 30s}}",
        // Left out by a condition.
        "- {field: backoff.base, range: {from: 50ms, to: 20s}}\nwhere: ['backoff.base <= backoff.max']",
        // A field of a part that the base does not have.
        "- {field: hedge, values: [null, {after_quantile: 95%, at_least: 2s}]}\n\
         - {field: hedge.at_least, range: {from: 1s, to: 3s}, when: hedge != none}",
        // Needs two others at once.
        "- {field: attempts.max, values: [1, 2]}\n\
         - {field: hedge, values: [null, {after_quantile: 95%}], when: attempts.max == 2}\n\
         - {field: hedge.at_least, range: {from: 1s, to: 3s}, when: hedge != none}",
        // Holds at neither end, but between them.
        "- {field: attempts.max, range: {from: 1, to: 5}}\n\
         - {field: backoff.base, values: [1s, 2s], when: attempts.max == 3}",
        // Never holds at all: nothing is drawn of it either.
        "- {field: attempts.max, values: [0, 3], when: attempts.max > 9}",
    ] {
        let space = around(&format!("name: s\nvary:\n{vary}\n"));
        assert!(space.is_ok(), "{vary}: {}", space.unwrap_err());
    }
}

/// What is wrong only together is found where it is drawn.
#[test]
fn a_corner_that_is_no_policy_is_refused_when_it_is_drawn() {
    let space = arguments(&["backoff.base=1s,6s", "backoff.max=5s,20s"]);
    let error = Plan::new(&space, &sampling(Method::Grid, 0)).unwrap_err().to_string();
    assert!(error.starts_with("--vary 'backoff.base=1s,6s': a variant is no policy"), "{error}");
    assert!(error.contains("(with backoff.base 6s, backoff.max 5s)"), "{error}");
    assert!(error.contains("a space file can leave out combinations"), "{error}");
}

#[test]
fn none_is_null_where_a_field_can_be_absent() {
    let text = "name: s\nvary:\n\
        - {field: envelope.max_cost, values: [none, $1]}\n\
        - {choice: c, options: [{name: a, set: {timeouts.first_token: none}}]}\n\
        - {field: cooldown.rule, values: [none]}\n";
    let space = around(text).unwrap();
    let plan = Plan::new(&space, &sampling(Method::Grid, 0)).unwrap();
    let policies: Vec<_> =
        plan.variants.iter().map(|levels| space.variant(levels).policy).collect();
    let costs: Vec<_> = policies.iter().map(|policy| policy.envelope.max_cost).collect();
    assert_eq!(costs, [None, Some(windtunnel_policy::Money::from_pico(1_000_000_000_000))]);
    assert!(policies.iter().all(|policy| policy.timeouts.first_token.is_none()));
    let error = around("name: s\nvary:\n- {field: hedge, values: [none, null]}\n").unwrap_err();
    assert!(error.to_string().contains("`none` is given twice"), "{error}");
}

#[test]
fn a_list_needs_brackets_of_its_own() {
    let space = arguments(&["breakers[0].key=[provider],[provider,model]"]);
    assert_eq!(Plan::new(&space, &sampling(Method::Grid, 0)).unwrap().variants.len(), 2);
    let bare = Space::of_arguments(&["breakers[0].key=[provider,model]".into()]).unwrap();
    let error = bare.around(&load_policy("conservative").unwrap()).unwrap_err().to_string();
    assert!(error.contains("`breakers[0].key` holds a list, which `provider` is not"), "{error}");
    assert!(error.contains("`--vary 'breakers[0].key=[provider],[…]'`"), "{error}");
    for empty in ["breakers=none", "breakers=null"] {
        let space = Space::of_arguments(&[empty.into()]).unwrap();
        let error = space.around(&load_policy("conservative").unwrap()).unwrap_err().to_string();
        assert!(error.contains("one without elements is `[]`"), "{error}");
    }
}

#[test]
fn policies_that_are_alike_are_told() {
    // 1 s said twice, with two limits on attempts: two pairs, in the order of nested loops.
    let space = arguments(&["attempts.max=1..2", "backoff.base=1s,1000ms"]);
    let plan = Plan::new(&space, &sampling(Method::Grid, 0)).unwrap();
    assert_eq!(plan.alike, Some(Alike { count: 2, first: 2, same_as: 1 }));
    let note = plan.note(&space).unwrap();
    let wanted = "2 of 4 variants: the policy is that of an earlier one, such as 2, which is 1 \
        whatever it says of `backoff.base`.";
    assert!(note.starts_with(wanted), "{note}");
    // What sets the whole afterwards leaves one of each two.
    let space = arguments(&["backoff.base=1s,2s", "backoff={base: 3s},{base: 4s}"]);
    let plan = Plan::new(&space, &sampling(Method::Grid, 0)).unwrap();
    assert_eq!(plan.alike, Some(Alike { count: 2, first: 3, same_as: 1 }));
    let named = arguments(&["name=a,b", "attempts.max=1..2"]);
    let plan = Plan::new(&named, &sampling(Method::Grid, 0)).unwrap();
    assert_eq!(plan.alike, Some(Alike { count: 2, first: 3, same_as: 1 }));
    let apart = arguments(&["attempts.max=1..2", "backoff.base=1s,2s"]);
    assert_eq!(Plan::new(&apart, &sampling(Method::Grid, 0)).unwrap().alike, None);
}

#[test]
fn a_space_is_called_in_any_script() {
    let named = |name: &str| {
        around(&format!("name: {name}\nvary:\n- {{field: attempts.max, values: [1, 2]}}\n"))
    };
    for good in ["größe-der-wartezeit", "重试", "повторы_2"] {
        assert_eq!(named(good).unwrap().space.name, good);
    }
    for bad in ["'a b'", "'né (2)'", "a\u{301}"] {
        let error = named(bad).unwrap_err().to_string();
        assert!(error.contains("use letters, digits and `-_./:`"), "{error}");
    }
}

#[test]
fn an_absurd_grid_is_refused_with_its_size() {
    let space = arguments(&["backoff.base=1ms..8s:5000", "backoff.max=10s..20s:5000"]);
    let error = Plan::new(&space, &sampling(Method::Grid, 0)).unwrap_err().to_string();
    assert!(error.contains("25,000,000 variants"), "{error}");
    let open = arguments(&["backoff.base=1ms..8s"]);
    let error = Plan::new(&open, &sampling(Method::Grid, 0)).unwrap_err().to_string();
    assert!(error.contains("needs a number of values of `backoff.base`; give"), "{error}");
    let whole = arguments(&["attempts.max=1..1000"]);
    assert_eq!(Plan::new(&whole, &sampling(Method::Grid, 0)).unwrap().variants.len(), 1_000);
    let whole = arguments(&["breakers[0].trip[0].rate_over_time.min_calls=1..1001"]);
    let error = Plan::new(&whole, &sampling(Method::Grid, 0)).unwrap_err().to_string();
    assert!(error.contains("of whole numbers it takes each, up to 1,000 of them; give"), "{error}");
    for (method, count) in
        [(Method::Sobol, 65_537), (Method::Random, 1_000_001), (Method::Random, 0)]
    {
        let error = Plan::new(&open, &sampling(method, count)).unwrap_err().to_string();
        assert!(error.contains("--variants"), "{error}");
    }
}

#[test]
fn a_hypercube_has_one_point_in_each_slice_of_each_dimension() {
    let space = arguments(&["envelope.safety_margin=0s..100s", "envelope.min_useful=0s..100s"]);
    let points = sampling(Method::LatinHypercube, 100).points(&space).unwrap();
    let slice = |index: u64, dimension| (points.coordinate(index, dimension) * 100.0) as u64;
    for dimension in 0..2 {
        let slices: BTreeSet<u64> = (0..100).map(|index| slice(index, dimension)).collect();
        assert_eq!(slices, (0..100).collect());
    }
    let order = |dimension| (0..100).map(|index| slice(index, dimension)).collect::<Vec<_>>();
    assert_ne!(order(0), order(1), "dimensions are shuffled apart");
}

/// Owen's scrambling keeps what makes the sequence one: the first 2^m points put exactly one into
/// each of 2^m slices of every dimension, and for the first two, which are a net with t = 0, one
/// into each rectangle of that volume.
#[test]
fn sobol_points_are_a_net_whatever_the_seed() {
    for seed in [0, 1, 99] {
        let at =
            |index: u32, dimension: u32| f64::from(sobol_burley::sample(index, dimension, seed));
        for m in [4_u32, 6, 8] {
            let points = 1 << m;
            for dimension in 0..8 {
                let slices: BTreeSet<u64> =
                    (0..points).map(|i| (at(i, dimension) * f64::from(points)) as u64).collect();
                assert_eq!(slices.len() as u32, points, "dimension {dimension}, {points} points");
            }
            for wide in 0..=m {
                let (columns, rows) = (f64::from(1 << wide), f64::from(1 << (m - wide)));
                let boxes: BTreeSet<(u64, u64)> = (0..points)
                    .map(|i| ((at(i, 0) * columns) as u64, (at(i, 1) * rows) as u64))
                    .collect();
                assert_eq!(boxes.len() as u32, points, "{columns} × {rows}");
            }
        }
    }
}

/// The share of points in a corner box is its volume: much nearer than chance for Sobol points.
#[test]
fn sobol_fills_boxes_better_than_chance() {
    let space = arguments(&["envelope.safety_margin=0s..100s", "envelope.min_useful=0s..100s"]);
    let worst = |method| {
        let points = sampling(method, 1_024).points(&space).unwrap();
        let at = |i| (points.coordinate(i, 0), points.coordinate(i, 1));
        let all: Vec<(f64, f64)> = (0..1_024).map(at).collect();
        let corner = |i: i32| f64::from(i) / 16.0 + 0.013;
        let boxes = (1..15).flat_map(|i| (1..15).map(move |j| (corner(i), corner(j))));
        boxes
            .map(|(x, y)| {
                let inside = all.iter().filter(|(a, b)| *a < x && *b < y).count();
                (inside as f64 / 1_024.0 - x * y).abs()
            })
            .fold(0.0, f64::max)
    };
    // One standard error of a box with half the volume is 0.0156; the worst of 196 random boxes is
    // about two of them, and Sobol's bound is a tenth.
    assert!(worst(Method::Sobol) < 0.006, "{}", worst(Method::Sobol));
    assert!(worst(Method::Random) < 0.07 && worst(Method::Random) > 0.006);
}

#[test]
fn one_dimension_more_moves_no_random_point() {
    for method in [Method::Random, Method::LatinHypercube] {
        let one = arguments(&["timeouts.first_token=1s..100s"]);
        let two = arguments(&["envelope.min_useful=0s..9s", "timeouts.first_token=1s..100s"]);
        let column = |space: &PolicySpace, dimension: usize| -> Vec<u64> {
            let points = sampling(method, 50).points(space).unwrap();
            (0..50).filter_map(|index| points.levels(index)[dimension]).collect()
        };
        assert_eq!(column(&one, 0), column(&two, 1));
    }
}

#[test]
fn repeated_policies_are_left_out_and_counted() {
    let space = arguments(&["attempts.max=1..2", "attempts.allow_retry=true,false"]);
    let plan = Plan::new(&space, &sampling(Method::Random, 200)).unwrap();
    assert_eq!((plan.variants.len(), plan.tally.drawn, plan.tally.repeated), (4, 200, 196));
}

#[test]
fn shipped_spaces_hold_a_thousand_variants() {
    for shipped in list(FileKind::Space) {
        let space = Space::load(&shipped.name).unwrap();
        let base = space.base_policy().unwrap().expect("a shipped space names its base");
        let space = space.around(&base).unwrap();
        let plan = Plan::new(&space, &sampling(Method::Sobol, 1_024)).unwrap();
        assert!(plan.variants.len() > 500, "{}: {:?}", shipped.name, plan.tally);
        for levels in &plan.variants {
            assert_eq!(&space.variant(levels).levels, levels);
        }
    }
}

proptest! {
    #[test]
    fn coordinates_find_their_level_again(coordinate in 0.0..1.0_f64) {
        let space = arguments(&[
            "attempts.max=1..9",
            "backoff.base=1ms..8s:log",
            "timeouts.first_token=1s..77s:13",
            "attempts.order=retry_then_failover,free_pick,walk_then_retry",
        ]);
        for dimension in &space.dimensions {
            let level = dimension.level_at(coordinate);
            let back = dimension.coordinate_of(level);
            prop_assert!((0.0..=1.0).contains(&back));
            prop_assert_eq!(dimension.level_at(back), level, "{}", dimension.name);
        }
    }

    #[test]
    fn every_value_of_a_list_is_drawn_as_often(seed in 0_u64..1_000) {
        let space = arguments(&["attempts.max=1..4"]);
        let points = Sampling { method: Method::LatinHypercube, count: 400, seed }.points(&space).unwrap();
        let mut counts = BTreeMap::new();
        (0..400).for_each(|i| *counts.entry(points.levels(i)[0].unwrap()).or_insert(0) += 1);
        // 400 slices over four values: exactly 100 each.
        prop_assert_eq!(counts.into_values().collect::<Vec<_>>(), vec![100; 4]);
    }
}
