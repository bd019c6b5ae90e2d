//! Splitting of a query into tokens.

use std::iter::Peekable;

use crate::error::{Error, Result};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum QueryToken {
    Open,
    Close,
    OpenAny,
    CloseAny,
    Or,
    Not,
    /// `name:` directly before a value.
    Operator(String),
    /// A word, or a phrase without its quotes.
    Text(String),
}

/// Splits the text into tokens. Quotes join words, `\"` is a quote within them, and an operator
/// ends at its colon.
pub(super) fn tokens(text: &str) -> Result<Vec<QueryToken>> {
    let mut tokens = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        match char {
            _ if char.is_whitespace() => {}
            '(' => tokens.push(QueryToken::Open),
            ')' => tokens.push(QueryToken::Close),
            '{' => tokens.push(QueryToken::OpenAny),
            '}' => tokens.push(QueryToken::CloseAny),
            '-' if chars.peek().is_some_and(|(_, next)| !next.is_whitespace() && *next != '-') => {
                tokens.push(QueryToken::Not);
            }
            '"' | '\u{201c}' | '\u{201d}' => {
                let closes: &[char] = if char == '"' { &['"'] } else { &['\u{201c}', '\u{201d}'] };
                let mut phrase = String::new();
                loop {
                    match chars.next() {
                        Some((_, end)) if closes.contains(&end) => break,
                        // JSON and Gmail escape a quote in a name like this. The last quote
                        // closes the phrase.
                        Some((_, '\\'))
                            if follows(&mut chars, '"')
                                && chars.clone().skip(1).any(|(_, c)| closes.contains(&c)) =>
                        {
                            phrase.extend(chars.next().map(|(_, quote)| quote));
                        }
                        Some((_, inner)) => phrase.push(inner),
                        None => {
                            return Err(Error::argument(format!(
                                "the quote at character {} is not closed",
                                text.get(..at).map_or(0, |before| before.chars().count()) + 1
                            ))
                            .next("close it, or leave it out"));
                        }
                    }
                }
                let phrase = phrase.split_whitespace().collect::<Vec<_>>().join(" ");
                if phrase.is_empty() {
                    return Err(Error::argument("the query has an empty phrase `\"\"`")
                        .next("put words between the quotes, or leave them out"));
                }
                tokens.push(QueryToken::Text(phrase));
            }
            _ => {
                let mut word = String::from(char);
                let mut operator = false;
                while let Some((_, next)) = chars.peek() {
                    let next = *next;
                    if next.is_whitespace() || matches!(next, '(' | ')' | '{' | '}' | '"') {
                        break;
                    }
                    chars.next();
                    // `http://x` is a word, not an operator.
                    if next == ':' && is_name(&word) && !follows(&mut chars, '/') {
                        operator = true;
                        break;
                    }
                    word.push(next);
                }
                tokens.push(match word.as_str() {
                    _ if operator => QueryToken::Operator(word.to_ascii_lowercase()),
                    "OR" | "||" => QueryToken::Or,
                    // AND is implicit between terms.
                    "AND" | "&&" => continue,
                    "NOT" => QueryToken::Not,
                    _ => QueryToken::Text(word),
                });
            }
        }
    }
    Ok(tokens)
}

/// Returns true for a valid operator name; `12:30` and `http://x` are words.
fn is_name(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_alphabetic() || c == '_')
}

fn follows(chars: &mut Peekable<std::str::CharIndices>, expected: char) -> bool {
    chars.peek().is_some_and(|(_, next)| *next == expected)
}
