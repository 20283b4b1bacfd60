//! Checks of what a policy says of single route classes: what holds for each must make sense as if it
//! were said of all.

use alloc::format;
use alloc::vec::Vec;

use super::{Problem, Problems};
use crate::config::Policy;

pub(super) fn check(policy: &Policy, found: &mut Problems) {
    for name in policy.classes.keys() {
        let (attempts, envelope) = policy.limits_of(name);
        let mut own = Problems(Vec::new());
        super::attempts(&attempts, &mut own);
        super::envelope(&envelope, &mut own);
        for problem in own.0 {
            // What is wrong for all classes was said.
            if !found.0.contains(&problem) {
                let field = problem.field.rsplit('.').next().unwrap_or_default();
                let field = format!("classes.{name}.{field}");
                found.0.push(Problem { field, ..problem });
            }
        }
    }
}
