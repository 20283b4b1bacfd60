//! Reading a condition.

use super::super::path::FieldPath;
use super::super::quantity::Quantity;
use super::super::schema_walk;
use super::{Expression, Node, Operator};
use crate::input::did_you_mean;

/// Nested deeper than this is no condition a person wrote.
const DEEPEST: usize = 40;
/// More operators are refused: they group from the left, so each is a level of the tree, and what
/// walks the tree takes stack for each.
const MOST_OPERATORS: usize = 200;
/// Longer than this is no condition a person wrote, either.
const MOST_CHARACTERS: usize = 4_000;
/// How tightly `not` binds: looser than a comparison, tighter than `and`.
const NOT: u8 = 3;

impl Expression {
    /// Reads a condition, whose fields must be those a policy can have.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(in super::super) fn parse(text: &str) -> Result<Expression, String> {
        if text.chars().nth(MOST_CHARACTERS).is_some() {
            return Err(too_much(MOST_CHARACTERS, "characters"));
        }
        let tokens = tokens(text)?;
        let mut reader = Reader { tokens: &tokens, at: 0, depth: 0, operators: 0 };
        let root = reader.expression(0)?;
        match reader.peek() {
            None => Ok(Expression { text: text.trim().into(), root }),
            Some(token) => Err(format!("`{}` is not expected here", token.text())),
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
enum Token {
    /// A path, a figure or a keyword.
    Word(String),
    Quoted(String),
    Sign(&'static str),
}

impl Token {
    fn text(&self) -> &str {
        match self {
            Token::Word(text) | Token::Quoted(text) => text,
            Token::Sign(sign) => sign,
        }
    }
}

/// Two characters before one, so that `<=` is not `<`.
const SIGNS: [&str; 12] = ["<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "(", ")"];

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
        } else if first == '\'' || first == '"' {
            let (word, after) =
                rest[1..].split_once(first).ok_or("a quotation mark is not closed")?;
            tokens.push(Token::Quoted(word.into()));
            rest = after;
        } else {
            let in_word = |c: char| c.is_alphanumeric() || "_.[]$%".contains(c);
            let end = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
            if end == 0 {
                return Err(format!("`{first}` has no meaning in a condition"));
            }
            tokens.push(Token::Word(rest[..end].into()));
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    Ok(tokens)
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
    operators: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Result<Token, String> {
        let token = self.peek().cloned().ok_or("the condition ends too early")?;
        self.at += 1;
        Ok(token)
    }

    /// Operators at least as strong as `least`.
    fn expression(&mut self, least: u8) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("is nested deeper than {DEEPEST} levels"));
        }
        let mut left = self.operand()?;
        while let Some(operator) = self.operator().filter(|o| o.strength() >= least) {
            self.at += 1;
            self.operators += 1;
            if self.operators > MOST_OPERATORS {
                return Err(too_much(MOST_OPERATORS, "operators"));
            }
            // All of them group from the left.
            let right = self.expression(operator.strength() + 1)?;
            if matches!(operator, Operator::Equal | Operator::Unequal) {
                check_name(&left, &right)?;
            }
            left = Node::Both(operator, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operator(&self) -> Option<Operator> {
        Some(match self.peek()? {
            Token::Word(word) if word == "or" => Operator::Or,
            Token::Word(word) if word == "and" => Operator::And,
            Token::Sign(sign) => match *sign {
                "<" => Operator::Less,
                "<=" => Operator::AtMost,
                ">" => Operator::More,
                ">=" => Operator::AtLeast,
                "==" => Operator::Equal,
                "!=" => Operator::Unequal,
                "+" => Operator::Plus,
                "-" => Operator::Minus,
                "*" => Operator::Times,
                "/" => Operator::Over,
                _ => return None,
            },
            _ => return None,
        })
    }

    fn operand(&mut self) -> Result<Node, String> {
        match self.next()? {
            Token::Quoted(word) => Ok(Node::Word(word)),
            Token::Sign("(") => {
                let inner = self.expression(0)?;
                match self.next()? {
                    Token::Sign(")") => Ok(inner),
                    other => Err(format!("expected `)`, found `{}`", other.text())),
                }
            }
            Token::Sign(sign) => Err(format!("expected a field or a figure, found `{sign}`")),
            Token::Word(word) => match word.as_str() {
                "not" => Ok(Node::Not(Box::new(self.expression(NOT)?))),
                "true" => Ok(Node::Truth(true)),
                "false" => Ok(Node::Truth(false)),
                "none" | "null" => Ok(Node::Nothing),
                "and" | "or" => Err(format!("expected a field or a figure, found `{word}`")),
                _ => named(&word),
            },
        }
    }
}

/// A name that the field it is compared with can never have is a slip of the pen.
fn check_name(left: &Node, right: &Node) -> Result<(), String> {
    let ((Node::Field(field), Node::Word(name)) | (Node::Word(name), Node::Field(field))) =
        (left, right)
    else {
        return Ok(());
    };
    match schema_walk::names(field) {
        Some(names) if !names.contains(&name.as_str()) => {
            let fix = did_you_mean(name, "value", names);
            Err(format!("`{field}` is never `{name}`; {fix}"))
        }
        _ => Ok(()),
    }
}

fn too_much(most: usize, what: &str) -> String {
    format!(
        "has more than {most} {what}; write a shorter one, and what must hold besides as further \
         entries of `where:`"
    )
}

fn named(word: &str) -> Result<Node, String> {
    if let Some(figure) = Quantity::parse(word) {
        return Ok(Node::Figure(figure));
    }
    let path = FieldPath::parse(word)?;
    match schema_walk::steps(&path) {
        Ok(_) => Ok(Node::Field(path)),
        Err(nowhere) => {
            Err(format!("{}; {} (names of values stand in quotes)", nowhere.message, nowhere.fix))
        }
    }
}
