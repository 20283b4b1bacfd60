//! The report in Markdown, for a postmortem document.

use super::finding::WhatIf;
use super::sections::{Section, Table, sections};

impl WhatIf {
    /// A document of its own; names from logs are escaped.
    pub fn markdown(&self) -> String {
        let mut out = format!("# What if: {}\n", escaped(&self.scenario));
        for section in sections(self) {
            out += &section_markdown(&section);
        }
        let policies: Vec<String> = self
            .policies
            .iter()
            .map(|policy| {
                format!("`{}` {}", code(&policy.name), &policy.hash[..policy.hash.len().min(12)])
            })
            .collect();
        out += &format!(
            "\n---\n\nwindtunnel {}, world {}, {}, seed {}, {} worlds, {} refits.\n",
            self.windtunnel,
            &self.scenario_hash[..self.scenario_hash.len().min(12)],
            policies.join(", "),
            self.seed,
            self.worlds,
            self.refits
        );
        out
    }

    /// One JSON object, indented.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data") + "\n"
    }
}

fn section_markdown(section: &Section) -> String {
    let mut out = format!("\n## {}\n", escaped(&section.title));
    if !section.sentences.is_empty() {
        out += "\n";
    }
    for sentence in &section.sentences {
        out += &format!("- {}\n", escaped(sentence));
    }
    if let Some(table) = &section.table {
        out += &table_markdown(table);
    }
    if let Some(text) = &section.verbatim {
        // A fence longer than any in the text.
        out += &format!("\n````text\n{}\n````\n", text.replace("````", "'''").trim_end());
    }
    out
}

fn table_markdown(table: &Table) -> String {
    let row = |cells: &Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = |c: usize| if c == 0 { "---" } else { "---:" };
    let rules: Vec<&str> = (0..table.head.len()).map(rule).collect();
    let body: String = table.rows.iter().map(row).collect();
    format!("\n{}| {} |\n{body}", row(&table.head), rules.join(" | "))
}

/// Text that is nothing but text in Markdown and in the HTML made of it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_code = false;
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '`' => {
                in_code = !in_code;
                out.push(c);
            }
            '|' => out.push_str("\\|"),
            _ if in_code => out.push(c),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '*' | '_' | '[' | ']' | '#' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// Text inside of backquotes.
fn code(text: &str) -> String {
    text.replace('`', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_markup() {
        assert_eq!(escaped("<b>*x*</b> | [a](b)"), "&lt;b>\\*x\\*&lt;/b> \\| \\[a\\](b)");
    }
}
