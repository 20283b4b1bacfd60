//! Which letters may stand in a document.

/// The letter, or a sign that one was left out: control characters, and those that turn the
/// direction of what follows, which make one name look like another.
pub(super) fn shown(letter: char) -> char {
    match letter {
        '\n' | '\t' => letter,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        _ if letter.is_control() => '\u{fffd}',
        _ => letter,
    }
}
