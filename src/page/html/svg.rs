//! What drawings share: colours, dashes and markers by name, and numbers short.

use super::markup::Markup;

/// Colours in `page.css`.
const COLOURS: usize = 7;
/// Dashes and markers in `page.css` and below.
const KINDS: usize = 4;
/// Around (0, 0): a dot, a square, a triangle, a diamond.
const MARKERS: [&str; KINDS] = [
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
    "M-4-4h8v8h-8z",
    "M0-5.2L5 3.6h-10z",
    "M0-5.5L5.5 0L0 5.5L-5.5 0z",
];
/// Decimals are worth no more than this on a drawing ten thousand units wide.
const DECIMALS: usize = 1;

/// The class that sets a name's colour; several may be drawn in one, with other dashes and markers.
pub(super) fn colour(of: usize) -> String {
    format!("s{}", of % COLOURS)
}

/// The class that sets a name's dash.
pub(super) fn dash(of: usize) -> String {
    format!("d{}", kind(of))
}

/// The outline of a name's marker.
pub(super) fn marker(of: usize) -> &'static str {
    MARKERS[kind(of)]
}

/// Which dash and marker. Where a colour comes again, they are others.
fn kind(of: usize) -> usize {
    (of % COLOURS + of / COLOURS) % KINDS
}

/// A marker at a place given in percent of the drawing.
pub(super) fn place_marker(m: &mut Markup, of: usize, x: &str, y: &str) {
    m.open("svg", &[("x", x), ("y", y), ("overflow", "visible")]);
    m.leaf("path", &[("class", "marker"), ("d", marker(of))]);
    m.close("svg");
}

/// What a line looks like: a piece of it.
pub(super) fn sample(m: &mut Markup, of: usize) {
    let class = format!("sample {}", colour(of));
    m.open("svg", &[("class", &class), ("width", "30"), ("height", "12"), ("aria-hidden", "true")]);
    let line = format!("line {}", dash(of));
    m.leaf("path", &[("class", &line), ("d", "M1 6H29")]);
    place_marker(m, of, "15", "6");
    m.close("svg");
}

/// A share of the whole as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{}%", short(share * 100.0, 2))
}

/// A number on a drawing.
pub(super) fn number(value: f64) -> String {
    short(value, DECIMALS)
}

/// A number with so many decimals at most.
pub(super) fn short(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    if text == "-0" { "0".into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_eight_names_look_different() {
        let looks: std::collections::BTreeSet<(String, String, &str)> =
            (0..COLOURS * KINDS).map(|of| (colour(of), dash(of), marker(of))).collect();
        assert_eq!(looks.len(), COLOURS * KINDS);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!((number(12.04).as_str(), number(-0.01).as_str()), ("12", "0"));
        assert_eq!((percent(0.125).as_str(), number(100.0).as_str()), ("12.5%", "100"));
    }
}
