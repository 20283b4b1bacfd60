//! Tables made once and used in every world.

use std::sync::{Arc, Mutex};

use super::{Dist, Shape, ShapeError};

/// The distributions of one scenario that its worlds draw from. A table takes some 2,600 logarithms
/// or more, and a scenario has the same shapes in each of its worlds: the gaps of every rate of its
/// traffic, lengths, spells of weather. Clones share what was made.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    made: Arc<Mutex<Vec<(Shape, Dist)>>>,
}

impl Tables {
    /// The distribution of this shape, made now unless it was made before.
    ///
    /// # Errors
    /// As [`Dist::new`].
    pub fn dist(&self, shape: &Shape) -> Result<Dist, ShapeError> {
        let made = || self.made.lock().expect("nothing panics while it holds the list");
        if let Some((_, dist)) = made().iter().find(|(known, _)| known == shape) {
            return Ok(dist.clone());
        }
        // Made without holding the list: of two threads that miss it, both make the same.
        let dist = Dist::new(shape)?;
        made().push((shape.clone(), dist.clone()));
        Ok(dist)
    }
}

/// Has equal distributions share one table. A fleet has many targets of few cards: what their attempts
/// are drawn from then stays in the processor's cache.
pub fn share<'a>(dists: impl IntoIterator<Item = &'a mut Dist>) {
    let mut known: Vec<Dist> = Vec::new();
    for dist in dists {
        match known.iter().find(|known| *known == dist) {
            Some(equal) => *dist = equal.clone(),
            None => known.push(dist.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_distributions_share_a_table() {
        let made = |mean| Dist::new(&Shape::Exponential { mean }).unwrap();
        let mut dists = [made(2.0), made(3.0), made(2.0)];
        let before = dists.clone();
        share(&mut dists);
        assert_eq!(dists, before);
        assert!(Arc::ptr_eq(&dists[0].table, &dists[2].table));
        assert!(!Arc::ptr_eq(&dists[0].table, &dists[1].table));
    }

    #[test]
    fn a_table_is_made_once() {
        let tables = Tables::default();
        let made = |mean| tables.clone().dist(&Shape::Exponential { mean }).unwrap();
        let (first, again, other) = (made(2.0), made(2.0), made(3.0));
        assert!(Arc::ptr_eq(&first.table, &again.table));
        assert_eq!(other, Dist::new(&Shape::Exponential { mean: 3.0 }).unwrap());
        assert_eq!(tables.made.lock().unwrap().len(), 2);
        assert!(tables.dist(&Shape::Exponential { mean: -1.0 }).is_err());
    }
}
