//! HTML as it grows. Text and attributes are escaped on their way in, names of tags and attributes
//! are the program's own: nothing that is shown can become markup.

use crate::page::letter::shown;

/// A document, or a part of it.
#[derive(Default)]
pub(super) struct Markup {
    out: String,
    open: Vec<&'static str>,
}

/// Names and values of attributes.
pub(super) type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Markup {
    /// Opens an element.
    pub(super) fn open(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.start(tag, attributes);
        self.out.push('>');
        self.open.push(tag);
    }

    /// Closes the element opened last.
    ///
    /// # Panics
    /// Where it is another.
    pub(super) fn close(&mut self, tag: &'static str) {
        assert_eq!(self.open.pop(), Some(tag), "elements close in the order they opened");
        self.out.push_str("</");
        self.out.push_str(tag);
        self.out.push('>');
    }

    /// An element that holds text alone, in which backticks set code.
    pub(super) fn element(&mut self, tag: &'static str, attributes: Attributes<'_>, text: &str) {
        self.open(tag, attributes);
        self.rich(text);
        self.close(tag);
    }

    /// An element of a drawing that holds nothing.
    pub(super) fn leaf(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.start(tag, attributes);
        self.out.push_str("/>");
    }

    /// An element of HTML that never has an end.
    pub(super) fn void(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.start(tag, attributes);
        self.out.push('>');
    }

    /// Plain text.
    pub(super) fn text(&mut self, text: &str) {
        escape(text, &mut self.out);
    }

    /// Text in which what stands between two backticks is code.
    pub(super) fn rich(&mut self, text: &str) {
        let parts: Vec<&str> = text.split('`').collect();
        // Without a partner, a backtick is a backtick.
        let paired = parts.len() % 2 == 1;
        if !paired {
            return self.text(text);
        }
        for (position, part) in parts.into_iter().enumerate() {
            if position % 2 == 1 {
                self.out.push_str("<code>");
                self.text(part);
                self.out.push_str("</code>");
            } else {
                self.text(part);
            }
        }
    }

    /// A style or a script of the program's own, as it is.
    pub(super) fn own(&mut self, tag: &'static str, source: &'static str) {
        self.open(tag, &[]);
        self.out.push_str(source);
        self.close(tag);
    }

    /// A line feed, for who reads the source.
    pub(super) fn line(&mut self) {
        self.out.push('\n');
    }

    /// The text of it.
    ///
    /// # Panics
    /// Where an element is open.
    pub(super) fn finish(self) -> String {
        assert!(self.open.is_empty(), "every element is closed");
        self.out
    }

    fn start(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.out.push('<');
        self.out.push_str(tag);
        for (name, value) in attributes {
            self.out.push(' ');
            self.out.push_str(name);
            self.out.push_str("=\"");
            escape(value, &mut self.out);
            self.out.push('"');
        }
    }
}

/// What has a meaning in HTML becomes what stands for it, and what no text may hold is left out.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(shown(c)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(build: impl FnOnce(&mut Markup)) -> String {
        let mut markup = Markup::default();
        build(&mut markup);
        markup.finish()
    }

    #[test]
    fn text_and_attributes_cannot_become_markup() {
        let bad = "</script><img src=x onerror=\"alert('1')\">&";
        let text = made(|m| m.element("p", &[("title", bad)], bad));
        let escaped =
            "&lt;/script&gt;&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;";
        assert_eq!(text, format!("<p title=\"{escaped}\">{escaped}</p>"));
        assert_eq!(made(|m| m.text("a\u{0}\u{202e}b\n")), "a\u{fffd}\u{fffd}b\n");
    }

    #[test]
    fn backticks_set_code_in_pairs() {
        assert_eq!(made(|m| m.rich("`a<b` wins")), "<code>a&lt;b</code> wins");
        assert_eq!(made(|m| m.rich("a ` b")), "a ` b");
        assert_eq!(made(|m| m.rich("`a` ` b")), "`a` ` b");
    }

    #[test]
    #[should_panic(expected = "close in the order")]
    fn crossed_elements_are_a_fault() {
        made(|m| {
            m.open("b", &[]);
            m.open("i", &[]);
            m.close("b");
        });
    }
}
