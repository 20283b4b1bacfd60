//! The closed forms against published and separately computed figures.

#[path = "common/theory.rs"]
mod theory;

use theory::{
    availability, erlang_b, erlang_c, mean_tries, mmc_wait, mmc_wait_beyond, mmck, success_of_tries,
};

/// Equal to the `decimals` that the reference prints.
fn printed(got: f64, reference: f64, decimals: i32) {
    let half_unit = 0.5 * 10_f64.powi(-decimals) * (1.0 + 1e-6);
    assert!((got - reference).abs() <= half_unit, "{got} is not {reference}");
}

#[test]
fn waiting_systems() {
    printed(erlang_c(1, 0.8), 0.8000, 4);
    printed(mmc_wait(1, 0.8), 4.0000, 4);
    printed(mmc_wait_beyond(1, 0.8, 1.0), 0.65498, 5);
    printed(erlang_c(2, 1.5), 0.642857, 6);
    printed(mmc_wait(2, 1.5), 1.285714, 6);
    printed(mmc_wait_beyond(2, 1.5, 1.0), 0.389913, 6);
    printed(erlang_c(10, 8.0), 0.409180, 6);
    printed(mmc_wait(10, 8.0), 0.204590, 6);
    printed(mmc_wait_beyond(10, 8.0, 1.0), 0.055377, 6);
    printed(erlang_c(64, 50.0), 0.037451, 6);
    printed(mmc_wait(64, 50.0), 0.002675, 6);
    printed(mmc_wait_beyond(64, 50.0, 1.0), 3.1e-8, 9);
}

#[test]
fn loss_systems() {
    printed(erlang_b(10, 8.0), 0.121661, 6);
    printed(erlang_b(64, 50.0), 0.008439, 6);
    printed(erlang_b(64, 64.0), 0.093407, 6);
    // Without a queue the bounded system is the loss system.
    printed(mmck(10, 10, 8.0).blocked, 0.121661, 6);
    assert_eq!(mmck(10, 10, 8.0).wait, 0.0);
}

#[test]
fn bounded_queues() {
    let table = [
        (60.0, 0.000513, 0.117489),
        (64.0, 0.013386, 0.440942),
        (80.0, 0.200000, 0.937500),
        (128.0, 0.500000, 0.984375),
    ];
    for (load, blocked, wait) in table {
        let got = mmck(64, 128, load);
        printed(got.blocked, blocked, 6);
        printed(got.wait, wait, 6);
    }
}

#[test]
fn independent_tries() {
    printed(success_of_tries(0.5, 4), 0.9375, 4);
    printed(mean_tries(0.5, 4), 1.875, 3);
    printed(success_of_tries(0.75, 4), 0.6836, 4);
    printed(mean_tries(0.75, 4), 2.734, 3);
    assert_eq!((success_of_tries(1.0, 4), mean_tries(1.0, 4)), (0.0, 4.0));
    printed(success_of_tries(0.25, 2), 0.9375, 4);
}

#[test]
fn renewal_outages() {
    assert_eq!(availability(9.0, 1.0), 0.9);
    printed(availability(720.0, 1.5), 0.99792, 5);
}
