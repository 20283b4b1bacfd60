//! Where names stand beside their marks, so that none hides another.

/// How far a name stands from the middle of its mark, in pixels; and farther, where it must stand.
const NEAR: i32 = 12;
const FAR: i32 = 26;

/// A part of the picture in pixels: left, top, right, bottom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Area {
    pub(super) left: i32,
    pub(super) top: i32,
    pub(super) right: i32,
    pub(super) bottom: i32,
}

/// A name that wants to stand beside a mark.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    /// The middle of the mark.
    pub(super) at: (i32, i32),
    /// Width and height of the name.
    pub(super) size: (i32, i32),
    /// It is written even where it hides something.
    pub(super) must: bool,
}

impl Area {
    /// So far around a place.
    pub(super) fn around((x, y): (i32, i32), half: i32) -> Area {
        Area { left: x - half, top: y - half, right: x + half, bottom: y + half }
    }

    /// What a line between two places covers.
    pub(super) fn over([(ax, ay), (bx, by)]: [(i32, i32); 2]) -> Area {
        let (left, top) = (ax.min(bx) - 1, ay.min(by) - 1);
        Area { left, top, right: ax.max(bx) + 1, bottom: ay.max(by) + 1 }
    }

    fn meets(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn holds(&self, other: &Area) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }
}

/// The area of each name, in their order: an earlier one has the choice. `None` where a name would lie
/// on another, on one of the `marks`, or outside. Of places that are free, the one that hides least of
/// what lies `behind`.
pub(super) fn place(
    names: &[Name],
    marks: &[Area],
    behind: &[Area],
    within: Area,
) -> Vec<Option<Area>> {
    let mut taken = marks.to_vec();
    let mut placed = Vec::new();
    for name in names {
        let hidden = |area: &Area, of: &[Area]| of.iter().filter(|o| o.meets(area)).count();
        let near = around(name, NEAR).into_iter();
        let far = around(name, FAR).into_iter().filter(|_| name.must);
        let inside = near.chain(far).filter(|area| within.holds(area));
        let ranked = inside.map(|area| ((hidden(&area, &taken), hidden(&area, behind)), area));
        let best = ranked.min_by_key(|(cost, _)| *cost);
        let kept = best.filter(|((hides, _), _)| name.must || *hides == 0).map(|(_, area)| area);
        taken.extend(kept);
        placed.push(kept);
    }
    placed
}

/// The places around a mark: corners first, since bars run straight up and across.
fn around(name: &Name, far: i32) -> [Area; 8] {
    let ((x, y), (width, height)) = (name.at, name.size);
    let corner = far * 2 / 3;
    let [right, left] = [x + corner, x - corner - width];
    let [above, below] = [y - corner - height, y + corner];
    let [middle_x, middle_y] = [x - width / 2, y - height / 2];
    let places = [
        (right, above),
        (right, below),
        (left, above),
        (left, below),
        (x + far, middle_y),
        (x - far - width, middle_y),
        (middle_x, y - far - height),
        (middle_x, y + far),
    ];
    places.map(|(left, top)| Area { left, top, right: left + width, bottom: top + height })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITHIN: Area = Area { left: 0, top: 0, right: 400, bottom: 300 };

    fn name(at: (i32, i32), must: bool) -> Name {
        Name { at, size: (30, 12), must }
    }

    #[test]
    fn names_lie_neither_on_each_other_nor_outside() {
        let all = [(10, 10), (200, 150), (206, 150), (200, 156), (395, 295), (395, 150)];
        let names = all.map(|at| name(at, false));
        let marks = all.map(|at| Area::around(at, 5));
        let placed: Vec<Area> = place(&names, &marks, &[], WITHIN).into_iter().flatten().collect();
        assert!(placed.len() >= 5, "{placed:?}");
        for (i, area) in placed.iter().enumerate() {
            assert!(WITHIN.holds(area), "{area:?}");
            let others = placed[..i].iter().chain(&marks);
            assert!(others.clone().all(|other| !other.meets(area)), "{area:?}");
        }
    }

    #[test]
    fn of_a_heap_the_first_are_named_and_those_that_must_be() {
        let names: Vec<Name> = (0..40).map(|n| name((200 + n % 3, 150), n == 39)).collect();
        let placed = place(&names, &[Area::around((201, 150), 6)], &[], WITHIN);
        assert!(placed[0].is_some() && placed[39].is_some());
        assert!(placed.iter().flatten().count() < 12, "{placed:?}");
    }

    #[test]
    fn what_lies_behind_is_hidden_last() {
        let behind = [Area::around((223, 136), 8)];
        let placed = place(&[name((200, 150), false)], &[], &behind, WITHIN);
        assert!(placed[0].is_some_and(|area| !area.meets(&behind[0])), "{placed:?}");
    }
}
