//! The examples in `docs/verify.md` are what is printed. After a change,
//! `UPDATE_DOCS=1 cargo test --test verify` writes them anew.

use crate::{faults, outputs};

#[test]
fn examples_are_what_is_printed() {
    let printed = |what: &str| {
        outputs::of_program(what).unwrap_or_else(|| {
            assert_eq!(what, "a router deaf to cancellations");
            faults::deaf_to_cancel().text()
        })
    };
    assert_eq!(outputs::check("docs/verify.md", printed), 2);
}
