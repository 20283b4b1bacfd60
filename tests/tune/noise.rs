//! Spaces in which nothing differs but luck.

use windtunnel::tune::{Answer, Direction, Options};

use super::{base, found, lab, options, service_for};
use lab::mean_and_error;

const SEEDS: u64 = 60;

/// Three targets that fail a fifth of all attempts alike, each by its own luck, and one try: which
/// is chosen changes who fails, not how many. So no strategy is better than another; to say so is an
/// error, of which 5 % are allowed, and what looks best where it was chosen must lose by the change
/// of worlds.
#[test]
fn nothing_is_found_where_nothing_is() {
    let targets: Vec<String> = ["a", "b", "c"]
        .iter()
        .map(|name| lab::target(name, "constant: 100ms", "constant: 10ms", "20%"))
        .collect();
    let one_try = base("").0.replace("max: 10, max_same_target: 10", "max: 1, max_same_target: 1");
    let space = super::PolicySpaceOf(one_try).varying(&[
        "selection.strategy=weighted,round_robin,two_choices,least_in_flight,lowest_latency",
    ]);
    let (mut recommended, mut optimism) = (0, Vec::new());
    for seed in 0..SEEDS {
        let options = Options { held_out_worlds: 40, ..options(seed, 8) };
        let scenario = service_for("4s", "1s", "[a, b, c]", &targets.concat());
        let goal = (Direction::Maximize, "success");
        let (tuning, text) = found(scenario, &space, goal, &[], options);
        match &tuning.answer {
            Answer::Recommended(_) => recommended += 1,
            Answer::None(_) => assert!(text.starts_with("No recommendation"), "{text}"),
        }
        let best = &tuning.finalists[0];
        let (tuned, held) = (best.tuned.unwrap(), best.held_out.unwrap());
        optimism.push(tuned.less(held).value);
    }
    // Three standard errors of 60 searches at 5 % are 8.4 %: at most eight.
    let allowed = SEEDS as f64 * (0.05 + 3.0 * (0.05 * 0.95 / SEEDS as f64).sqrt());
    assert!(f64::from(recommended) <= allowed, "{recommended} of {SEEDS}");
    let (mean, error) = mean_and_error(&optimism);
    assert!(mean > 3.0 * error, "optimism {mean} ± {error}");
}
