//! Rules in words: conditions in the query language, actions as `label:"Print shop"
//! archive`. Both can be read back unchanged.

use daysheet_core::error::{Error, Result};
use daysheet_core::provider::MailCapabilities;
use daysheet_core::provider::mail::RuleStep;
use daysheet_core::query::{MessageState, Query, QueryTerm};
use daysheet_core::text::brief;

/// The actions of a rule.
const STEPS: &str = "read, star, archive, trash, never_spam, important, label:NAME and move:NAME";

/// Writes a query as text.
pub(super) fn query(query: &Query) -> String {
    query_text(query, false)
}

/// Writes a part of a query, in brackets if it has several terms and is `inside` another.
fn query_text(query: &Query, inside: bool) -> String {
    let each = |parts: &[Query], between: &str| {
        let each: Vec<String> = parts.iter().map(|one| query_text(one, true)).collect();
        each.join(between)
    };
    match query {
        Query::All(parts) if inside => format!("({})", each(parts, " ")),
        Query::All(parts) => each(parts, " "),
        Query::Any(parts) if inside => format!("({})", each(parts, " OR ")),
        Query::Any(parts) => each(parts, " OR "),
        Query::Not(one) => format!("-{}", query_text(one, true)),
        Query::Term(one) => term(one),
        Query::Raw(raw) => format!("raw:{raw}"),
    }
}

fn term(term: &QueryTerm) -> String {
    let state = |state: &MessageState| match state {
        MessageState::Unread => "unread",
        MessageState::Read => "read",
        MessageState::Starred => "starred",
        MessageState::Important => "important",
    };
    match term {
        QueryTerm::Text(text) => quoted(text),
        QueryTerm::In(part, text) => format!("{}:{}", part.operator(), quoted(text)),
        QueryTerm::Folder(name) => format!("in:{}", quoted(name)),
        QueryTerm::Label(name) => format!("label:{}", quoted(name)),
        QueryTerm::Category(name) => format!("category:{}", quoted(name)),
        QueryTerm::Is(one) => format!("is:{}", state(one)),
        QueryTerm::Attachment => "has:attachment".to_owned(),
        QueryTerm::Larger(bytes) => format!("larger:{bytes}"),
        QueryTerm::Smaller(bytes) => format!("smaller:{bytes}"),
        QueryTerm::Before(at) => format!("before:{at}"),
        QueryTerm::After(at) => format!("after:{at}"),
    }
}

/// Returns a word, or a phrase in quotes if it would not be read as one word.
fn quoted(text: &str) -> String {
    let plain = !text.is_empty()
        && !text.starts_with('-')
        && !matches!(text, "OR" | "AND" | "NOT" | "||" | "&&")
        && !text.chars().any(|c| c.is_whitespace() || "(){}\":\u{201c}\u{201d}".contains(c));
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', " ")) }
}

/// Writes the actions of a rule as text, with labels as the provider calls them.
pub(super) fn steps(steps: &[RuleStep], can: &MailCapabilities) -> String {
    let label = if can.has_labels() { "label" } else { "category" };
    let one = |step: &RuleStep| match step {
        RuleStep::Read => "read".to_owned(),
        RuleStep::Star => "star".to_owned(),
        RuleStep::Archive => "archive".to_owned(),
        RuleStep::Trash => "trash".to_owned(),
        RuleStep::NeverSpam => "never_spam".to_owned(),
        RuleStep::Important => "important".to_owned(),
        RuleStep::Label(name) => format!("{label}:{}", quoted(name)),
        RuleStep::Move(name) => format!("move:{}", quoted(name)),
        RuleStep::Forward(address) => format!("forward:{}", quoted(address)),
    };
    steps.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// Reads the actions of a rule.
///
/// # Errors
/// [`ErrorKind::Argument`](daysheet_core::error::ErrorKind::Argument) for unknown words, and for
/// forwarding.
pub(super) fn read_steps(text: &str) -> Result<Vec<RuleStep>> {
    let mut found = Vec::new();
    let mut words = words(text)?.into_iter();
    while let Some(word) = words.next() {
        let (verb, name) = match word.split_once(':') {
            Some((verb, name)) => (verb, Some(name.trim().to_owned())),
            None => (word.as_str(), None),
        };
        let verb = verb.to_lowercase();
        let mut name = name.filter(|name| !name.is_empty());
        if name.is_none() && takes_name(&verb) {
            // `label Travel`, `move to Clients`.
            name = words.next();
            if name.as_deref() == Some("to") {
                name = words.next();
            }
        }
        let step = match (verb.as_str(), name) {
            // `mark as read and archive`.
            ("mark" | "as" | "and", None) => continue,
            ("read", None) => RuleStep::Read,
            ("star" | "flag" | "starred", None) => RuleStep::Star,
            ("archive", None) => RuleStep::Archive,
            ("trash" | "delete", None) => RuleStep::Trash,
            ("never_spam", None) => RuleStep::NeverSpam,
            ("important", None) => RuleStep::Important,
            ("label" | "category" | "categorize", Some(name)) => RuleStep::Label(name),
            ("move" | "folder", Some(name)) => RuleStep::Move(name),
            ("forward" | "redirect", _) => {
                return Err(Error::argument(
                    "forwarding rules are not created: incoming mail would leave the mailbox unseen",
                )
                .next("let the user create it in the provider's settings"));
            }
            _ => {
                return Err(Error::argument(format!(
                    "`{}` is not an action of a rule",
                    brief(&word)
                ))
                .next(format!("use {STEPS}; put names with spaces in quotes")));
            }
        };
        if !found.contains(&step) {
            found.push(step);
        }
    }
    if found.is_empty() {
        Err(Error::argument("`then` is empty").next(format!("use {STEPS}")))
    } else {
        Ok(found)
    }
}

/// Reads a list of actions, one per item; names may be without quotes.
///
/// # Errors
/// As [`read_steps`].
pub(super) fn read_list(items: &[String]) -> Result<Vec<RuleStep>> {
    let quoted = |item: &String| {
        let at = item.find([':', ' ']).filter(|_| !item.contains('"'));
        let (verb, name) = item.split_at(at.unwrap_or(item.len()));
        match name.strip_prefix(':') {
            _ if name.is_empty() || !takes_name(&verb.to_lowercase()) => item.clone(),
            Some(name) => format!("{verb}:\"{}\"", name.trim()),
            None => {
                // As in one text: `move to Clients`.
                let name = name.trim();
                format!("{verb}:\"{}\"", name.strip_prefix("to ").unwrap_or(name).trim())
            }
        }
    };
    read_steps(&items.iter().map(quoted).collect::<Vec<_>>().join(" "))
}

/// Returns true for an action on a label or folder; in lower case.
fn takes_name(verb: &str) -> bool {
    matches!(verb, "label" | "category" | "categorize" | "move" | "folder")
}

/// Splits at white space and commas, except within quotes.
fn words(text: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' | '\u{201c}' | '\u{201d}' => quoted = !quoted,
            c if !quoted && (c.is_whitespace() || c == ',') => {
                if !word.is_empty() {
                    found.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if quoted {
        return Err(Error::argument("`then` has an unclosed quote").next("close it"));
    }
    if !word.is_empty() {
        found.push(word);
    }
    Ok(found)
}
