//! Quantiles of the gamma distribution with unit scale, from `libm` alone.

use super::Tail;

/// The quantile function of one tail of a gamma distribution.
///
/// Newton's iteration on the logarithm of the tail's probability as a function
/// of y = ln x. That function is concave and monotone, so the iteration
/// converges from anywhere; it starts from the answer before.
pub(super) struct GammaTail {
    shape: f64,
    ln_gamma: f64,
    tail: Tail,
    y: f64,
}

/// Below this y, P(x) is x^a / Γ(a + 1) to the last bit.
const POWER_LAW: f64 = -40.0;
const MAX_STEPS: usize = 60;

impl GammaTail {
    /// The tail of the distribution with this shape, at least 0.001.
    pub(super) fn new(shape: f64, tail: Tail) -> GammaTail {
        let ln_gamma = libm::lgamma(shape);
        let mut gamma = GammaTail { shape, ln_gamma, tail, y: 0.0 };
        // Near the median: by Wilson and Hilferty, or by the power law at zero.
        gamma.y = if shape > 1.0 {
            libm::log(shape) + 3.0 * libm::log1p(-1.0 / (9.0 * shape))
        } else {
            gamma.power_law(0.5)
        };
        gamma
    }

    /// The quantile at distance `w` (positive, at most 1/2) from the tail's end;
    /// quick when `w` is near the one asked before.
    pub(super) fn quantile(&mut self, w: f64) -> f64 {
        if self.tail == Tail::Lower && self.power_law(w) < POWER_LAW {
            return libm::exp(self.power_law(w));
        }
        let goal = libm::log(w);
        for _ in 0..MAX_STEPS {
            let step = self.newton_step(goal);
            self.y += step;
            if step.abs() <= 1e-12 * (1.0 + self.y.abs()) {
                break;
            }
        }
        libm::exp(self.y)
    }

    fn newton_step(&self, goal: f64) -> f64 {
        let x = libm::exp(self.y);
        // x times the density at x: how fast either tail changes with y.
        let rate = libm::exp(self.shape * self.y - x - self.ln_gamma);
        let (below, above) = tails(self.shape, x, rate);
        match self.tail {
            Tail::Lower => (goal - libm::log(below)) * below / rate,
            Tail::Upper => (libm::log(above) - goal) * above / rate,
        }
    }

    /// y where x^a / Γ(a + 1) = w; never above the true one.
    fn power_law(&self, w: f64) -> f64 {
        (libm::log(w) + self.ln_gamma + libm::log(self.shape)) / self.shape
    }
}

/// The regularised incomplete gamma functions P(a, x) and Q(a, x), where
/// `rate` = x^a e^(−x) / Γ(a): by the power series left of the mean, by the
/// continued fraction (modified Lentz) right of it.
fn tails(a: f64, x: f64, rate: f64) -> (f64, f64) {
    if x < a + 1.0 {
        let mut term = 1.0 / a;
        let mut sum = term;
        let mut n = a;
        while term > sum * f64::EPSILON {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        let below = rate * sum;
        (below, 1.0 - below)
    } else {
        let mut b = x + 1.0 - a;
        let mut c = f64::MAX;
        let mut d = 1.0 / b;
        let mut fraction = d;
        let mut i = 0.0;
        loop {
            i += 1.0;
            let numerator = -i * (i - a);
            b += 2.0;
            d = 1.0 / (b + numerator * d);
            c = b + numerator / c;
            let factor = c * d;
            fraction *= factor;
            if (factor - 1.0).abs() <= f64::EPSILON {
                break;
            }
        }
        let above = rate * fraction;
        (1.0 - above, above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shape 1 is the exponential and shape 2 has P(x) = 1 − (1 + x) e^(−x).
    #[test]
    fn tails_agree_with_closed_forms() {
        for x in [1e-6, 0.3, 1.0, 1.999, 2.001, 3.0, 12.0, 40.0_f64] {
            let (below, above) = tails(1.0, x, x * (-x).exp());
            assert!((above / (-x).exp() - 1.0).abs() < 1e-14, "{x}");
            assert!((below - -(-x).exp_m1()).abs() < 1e-15, "{x}");
            let (_, above) = tails(2.0, x, x * x * (-x).exp());
            assert!((above / ((1.0 + x) * (-x).exp()) - 1.0).abs() < 1e-13, "{x}");
        }
    }

    /// The quantile put back into the distribution gives the probability.
    #[test]
    fn quantiles_invert_the_tails() {
        for shape in [0.001, 0.0058, 0.3, 1.0, 4.7, 250.0, 10_000.0] {
            for tail in [Tail::Lower, Tail::Upper] {
                let mut gamma = GammaTail::new(shape, tail);
                let mut w = 0.5;
                while w > 1e-9 {
                    let x = gamma.quantile(w);
                    // Below the smallest float there is nothing to put back.
                    if x > 1e-290 {
                        let rate = libm::exp(shape * libm::log(x) - x - libm::lgamma(shape));
                        let (below, above) = tails(shape, x, rate);
                        let back = if tail == Tail::Lower { below } else { above };
                        assert!((back / w - 1.0).abs() < 1e-9, "{shape} {tail:?} {w}: {back}");
                    }
                    w *= 0.98;
                }
            }
        }
    }
}
