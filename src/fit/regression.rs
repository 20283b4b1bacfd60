//! Least squares from running sums.

/// Sums of products of `N` explaining values and one explained.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Moments<const N: usize> {
    pub(super) count: u64,
    xx: [[f64; N]; N],
    xy: [f64; N],
    yy: f64,
}

impl<const N: usize> Default for Moments<N> {
    fn default() -> Moments<N> {
        Moments { count: 0, xx: [[0.0; N]; N], xy: [0.0; N], yy: 0.0 }
    }
}

impl<const N: usize> Moments<N> {
    pub(super) fn add(&mut self, x: [f64; N], y: f64) {
        self.count += 1;
        for i in 0..N {
            for j in 0..N {
                self.xx[i][j] += x[i] * x[j];
            }
            self.xy[i] += x[i] * y;
        }
        self.yy += y * y;
    }

    /// Adds what was added to `other`, so many times.
    pub(super) fn merge(&mut self, other: &Moments<N>, times: u64) {
        let weight = times as f64;
        self.count += other.count * times;
        for i in 0..N {
            for j in 0..N {
                self.xx[i][j] += weight * other.xx[i][j];
            }
            self.xy[i] += weight * other.xy[i];
        }
        self.yy += weight * other.yy;
    }

    /// The sums as if each explaining value were that of these columns together; columns named nowhere
    /// are left out.
    pub(super) fn together<const M: usize>(&self, columns: [&[usize]; M]) -> Moments<M> {
        let sum = |a: &[usize], b: &[usize]| -> f64 {
            a.iter().flat_map(|&i| b.iter().map(move |&j| self.xx[i][j])).sum()
        };
        Moments {
            count: self.count,
            xx: columns.map(|a| columns.map(|b| sum(a, b))),
            xy: columns.map(|a| a.iter().map(|&i| self.xy[i]).sum()),
            yy: self.yy,
        }
    }

    /// What these coefficients leave of the explained values, as a root mean square over that of the
    /// values themselves; nothing where all of those are zero.
    pub(super) fn unexplained(&self, coefficients: [f64; N]) -> f64 {
        let mut left = self.yy;
        for (i, a) in coefficients.iter().enumerate() {
            left -= 2.0 * a * self.xy[i];
            left +=
                coefficients.iter().enumerate().map(|(j, b)| a * b * self.xx[i][j]).sum::<f64>();
        }
        if self.yy > 0.0 { libm::sqrt(f64::max(left, 0.0) / self.yy) } else { 0.0 }
    }

    /// Whether this explaining value is ever anything but zero.
    pub(super) fn uses(&self, column: usize) -> bool {
        self.xx[column][column] > 0.0
    }

    /// The coefficients, each with its standard error; those of values that are always zero are
    /// `None`. Nothing where the values do not tell them apart.
    pub(super) fn solve(&self) -> Option<[Option<(f64, f64)>; N]> {
        let used: Vec<usize> = (0..N).filter(|&i| self.xx[i][i] > 0.0).collect();
        if used.is_empty() || self.count <= used.len() as u64 {
            return None;
        }
        let inverse = inverse(&used, &self.xx)?;
        let coefficient = |row: &Vec<f64>| -> f64 {
            row.iter().zip(&used).map(|(value, &j)| value * self.xy[j]).sum()
        };
        let solved: Vec<f64> = inverse.iter().map(coefficient).collect();
        let explained: f64 = solved.iter().zip(&used).map(|(value, &i)| value * self.xy[i]).sum();
        let degrees = (self.count - used.len() as u64) as f64;
        let variance = f64::max(self.yy - explained, 0.0) / degrees;
        let mut out = [None; N];
        for (k, &i) in used.iter().enumerate() {
            out[i] = Some((solved[k], libm::sqrt(variance * f64::max(inverse[k][k], 0.0))));
        }
        Some(out)
    }
}

/// The inverse of the used part, by Gauss and Jordan; nothing where it is singular.
fn inverse<const N: usize>(used: &[usize], xx: &[[f64; N]; N]) -> Option<Vec<Vec<f64>>> {
    let n = used.len();
    // Scaled to a unit diagonal, or large counts would drown small ones.
    let scale: Vec<f64> = used.iter().map(|&i| libm::sqrt(xx[i][i])).collect();
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|a| {
            let left = (0..n).map(|b| xx[used[a]][used[b]] / scale[a] / scale[b]);
            let right = (0..n).map(|b| if a == b { 1.0 } else { 0.0 });
            left.chain(right).collect()
        })
        .collect();
    for i in 0..n {
        let pivot = (i..n).max_by(|&a, &b| rows[a][i].abs().total_cmp(&rows[b][i].abs()))?;
        rows.swap(i, pivot);
        if rows[i][i].abs() < 1e-9 {
            return None;
        }
        let divisor = rows[i][i];
        rows[i].iter_mut().for_each(|value| *value /= divisor);
        let own = rows[i].clone();
        for (k, row) in rows.iter_mut().enumerate().filter(|(k, _)| *k != i) {
            debug_assert_ne!(k, i);
            let factor = row[i];
            row.iter_mut().zip(&own).for_each(|(value, own)| *value -= factor * own);
        }
    }
    let unscaled = |(a, row): (usize, Vec<f64>)| -> Vec<f64> {
        row[n..].iter().zip(&scale).map(|(value, b)| value / scale[a] / b).collect()
    };
    Some(rows.into_iter().enumerate().map(unscaled).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_plane_is_found_exactly() {
        let mut moments = Moments::<3>::default();
        for i in 1..50_u32 {
            let (fresh, output) = (f64::from(i * 37 % 900 + 1), f64::from(i * 91 % 400 + 1));
            moments.add([fresh, 0.0, output], 2.5e-6 * fresh + 1e-5 * output);
        }
        let [fresh, cached, output] = moments.solve().expect("two columns differ");
        assert!((fresh.expect("used").0 / 2.5e-6 - 1.0).abs() < 1e-6);
        assert!((output.expect("used").0 / 1e-5 - 1.0).abs() < 1e-6);
        assert_eq!(cached, None);
    }

    #[test]
    fn columns_that_are_one_are_not_told_apart() {
        let mut moments = Moments::<2>::default();
        (1..10).for_each(|i| moments.add([f64::from(i), 2.0 * f64::from(i)], 1.0));
        assert_eq!(moments.solve(), None);
    }
}
