//! A small page of every kind of block, as HTML and as Markdown.

use super::*;

/// What no name may do, however it is used.
const BAD: &str = "</script><img src=x onerror=alert(1)>\"'&`<b>|\u{202e}";

/// A page in which every text is `text`.
fn page(text: &str) -> Page {
    let own = || text.to_owned();
    let axis = || Axis::new(text, Unit::Percent);
    let line = |of| Line {
        of,
        values: vec![Some(99.0), None, Some(97.5), Some(98.0)],
        bands: vec![Some((98.5, 99.5)), None, Some((97.0, 98.0)), Some((97.5, 98.5))],
    };
    let time = LineChart {
        title: own(),
        about: own(),
        x: X::Time { from: 0.0, step: 60.0, count: 4 },
        y: axis(),
        lines: vec![line(0), line(1)],
        shades: vec![Shade { from: 60.0, to: 120.0, depth: 0.5 }],
        strips: vec![Strip {
            label: own(),
            shades: vec![Shade { from: 60.0, to: 90.0, depth: 0.5 }],
        }],
    };
    let values = X::Values(Axis::new(text, Unit::Number), vec![1.0, 2.0, 4.0, 8.0]);
    let over_values =
        LineChart { x: values, shades: Vec::new(), strips: Vec::new(), ..time.clone() };
    let row = |of| DotRow { of, value: Some(99.0), interval: Some((98.0, 100.0)), shown: own() };
    let panel = DotPanel { axis: axis(), note: own(), rows: vec![row(0), row(1)] };
    let dot = |of, x| Dot {
        of,
        at: (x, 99.0),
        x_interval: Some((x - 0.1, x + 0.1)),
        y_interval: None,
        label: own(),
        named: of == 0,
    };
    let scatter = Scatter {
        title: own(),
        about: own(),
        x: Axis::new(text, Unit::Dollars),
        y: axis(),
        dots: vec![dot(0, 1.0), dot(1, 2.0)],
        front: vec![(1.0, 99.0), (2.0, 99.0)],
    };
    let bars = BarChart {
        title: own(),
        about: own(),
        parts: vec![(own(), Tone::Good), (own(), Tone::Bad)],
        rows: vec![BarRow { of: 0, shares: vec![0.9, 0.1] }],
    };
    let mark = Mark { at: 1.0, ending: Ending::Failed, text: own() };
    let span = Span { from: 0.0, to: 1.0, what: Stretch::Silent };
    let lane = Lane { label: own(), spans: vec![span], mark: Some(mark) };
    let course = Course { title: own(), about: own(), length: 2.0, lanes: vec![lane] };
    let mut table = Table::of_figures(text, text, [text, text]);
    table.row(text, vec![own(), own()]).about = own();
    let blocks = vec![
        Block::Text(own()),
        Block::List(vec![own()]),
        Block::Note(own()),
        Block::Code(own(), own()),
        Block::Table(table),
        Block::Lines(time),
        Block::Lines(over_values),
        Block::Dots(DotChart { title: own(), about: own(), panels: vec![panel] }),
        Block::Bars(bars),
        Block::Scatter(scatter),
        Block::Course(course),
    ];
    let figure = KeyFigure { label: own(), value: own(), note: own(), tone: Tone::Good };
    Page {
        kind: own(),
        title: own(),
        asked: own(),
        answer: own(),
        figures: vec![figure],
        belief: vec![own()],
        legend: vec![own(), own()],
        sections: vec![
            Section::new(text, blocks.clone()),
            Section::new(text, vec![Block::Folded(own(), vec![Block::Beside(blocks)])]),
        ],
        origin: Origin { command: own(), facts: vec![(own(), own())] },
    }
}

/// Names of elements and of attributes that were opened, as a browser would read them.
fn names(html: &str) -> (Vec<String>, Vec<String>) {
    let (mut elements, mut attributes) = (Vec::new(), Vec::new());
    // Style and script are the program's own, and hold signs of their own.
    let body = html.split("<style>").next().unwrap().to_owned()
        + html.split("</style>").nth(1).unwrap().split("<script>").next().unwrap();
    for tag in body.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("every tag ends");
        let mut parts = tag.split('"');
        let mut words = parts.next().unwrap().split_whitespace();
        elements.push(words.next().unwrap().trim_end_matches('/').to_owned());
        attributes.extend(words.map(str::to_owned));
        // Every second part is a value; between them stand names.
        attributes.extend(parts.skip(1).step_by(2).map(|name| name.trim().to_owned()));
    }
    (elements, attributes)
}

#[test]
fn no_name_becomes_markup() {
    let (html, plain) = (page(BAD).html(), page("name").html());
    let ((elements, attributes), (of_plain, its_attributes)) = (names(&html), names(&plain));
    assert!(elements.len() > 300 && attributes.len() > 500, "{}", elements.len());
    assert_eq!(elements, of_plain, "a name has changed the elements");
    assert_eq!(attributes, its_attributes, "a name has changed the attributes");
    assert!(!html.contains("<img") && !html.contains('\u{202e}'));
    assert_eq!(html.matches("<script").count(), 1);
    let styled = |html: &str| html.contains(" style=") || html.contains(" onclick=");
    assert!(!styled(&html), "the policy lets no inline style or handler through");
}

#[test]
fn the_policy_names_style_and_script_as_they_are() {
    use sha2::{Digest, Sha256};
    let html = page("name").html();
    let between = |from: &str, to: &str| {
        html.split_once(from).unwrap().1.split_once(to).unwrap().0.to_owned()
    };
    assert!(html.contains("default-src &#39;none&#39;"));
    for text in [between("<style>", "</style>"), between("<script>", "</script>")] {
        // The first six bytes of a hash are its first eight letters.
        let hash = Sha256::digest(&text);
        let bits = hash[..6].iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        let alphabet: Vec<char> =
            ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
        let letters: String =
            (0..8).map(|at| alphabet[(bits >> (42 - 6 * at)) as usize & 63]).collect();
        assert!(html.contains(&format!("&#39;sha256-{letters}")), "{letters}");
    }
}

#[test]
fn nothing_is_loaded() {
    let html = page("name").html();
    for way in ["http://", "https://", "src=", "url(", "@import", "fetch(", "<link", "<iframe"] {
        let found = html.replace("http://www.w3.org/2000/svg", "").contains(way);
        assert!(!found, "{way} reaches outside");
    }
}

#[test]
fn markdown_holds_the_same_and_no_html() {
    let text = page(BAD).markdown();
    let outside_code: String = text.split("```").step_by(2).collect();
    assert!(!outside_code.contains('<') && !text.contains('\u{202e}'), "{text}");
    insta::assert_snapshot!(page("name").markdown());
}

#[test]
fn the_page_as_html() {
    let html = page("name").html();
    let (_, body) = html.split_once("</style>").unwrap();
    let (body, _) = body.split_once("<script>").unwrap();
    insta::assert_snapshot!(body);
}

#[test]
fn a_page_without_anything_is_a_page() {
    let html = Page { title: "empty".into(), ..Page::default() }.html();
    assert!(html.contains("<h1 id=\"title\">empty</h1>") && html.ends_with("</html>\n"));
    assert_eq!(Page::default().markdown(), "# \n\n## Reproduce\n");
}
