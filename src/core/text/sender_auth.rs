//! Warnings about the sender of a message, by the receiving provider's findings
//! (Authentication-Results, RFC 8601) and by oddities of names and domains.
//!
//! No input makes it fail. There are no lists of public suffixes: domains of one organisation are
//! recognised by their last labels, and a message is never blocked because of that guess.

mod auth_results;
mod domains;
pub(super) mod script;
mod twin;

pub use auth_results::AuthResults;
pub(super) use domains::organisation;
use domains::{domain, related, to_ascii, to_unicode};
pub(crate) use script::is_mixed;
pub use twin::{KnownPerson, imitated};

use super::note::{note, quoted_end};
use super::{MailAddress, Note, quoted};

/// The header fields of a message that are checked, unchanged.
#[derive(Debug, Clone, Copy, Default)]
pub struct SenderHeaders<'a> {
    /// The first Authentication-Results field; later ones may be the sender's.
    pub results: Option<&'a str>,
    /// The names that the receiving provider writes into its own fields, see [`AuthResults::read`].
    pub receivers: &'a [&'a str],
    /// The From field.
    pub from: Option<&'a str>,
    /// A second From field, which no message may have (RFC 5322, 3.6): programs differ in the one
    /// that they show.
    pub second_from: Option<&'a str>,
    /// The Reply-To field.
    pub reply_to: Option<&'a str>,
}

/// One warning about a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SenderWarning {
    /// Its word in a column.
    pub word: &'static str,
    /// Its text.
    pub note: Note,
}

/// Returns the warnings about a message to the account `own`, the most important one first.
pub fn warnings(headers: &SenderHeaders, own: &str) -> Vec<SenderWarning> {
    let mut found = Vec::new();
    let from = super::address_list(headers.from.unwrap_or_default());
    let Some(sender) = from.first() else {
        return found;
    };
    let domain = domain(&sender.email);
    let results = headers.results;
    if let Some(results) = results.and_then(|value| AuthResults::read(value, headers.receivers)) {
        found.extend(unproven(&results, &sender.email, domain));
    }
    found.extend(name(sender, domain));
    found.extend(several(&from, headers.second_from));
    found.extend(replies(headers.reply_to, domain));
    found.extend(spelling(sender, domain, own));
    found
}

/// Returns a warning if the receiving provider's checks failed.
fn unproven(results: &AuthResults, email: &str, domain: &str) -> Option<SenderWarning> {
    let is = |found: &Option<String>, words: &[&str]| {
        found.as_deref().is_some_and(|word| words.contains(&word))
    };
    let word = if is(&results.dmarc, &["fail"]) {
        "dmarc"
    } else if is(&results.dmarc, &["pass", "bestguesspass"]) || is(&results.dkim, &["pass"]) {
        // SPF fails for forwarded messages, so a pass of another check is enough.
        return None;
    } else if is(&results.spf, &["fail", "softfail"]) {
        "spf"
    } else if is(&results.dkim, &["fail", "permerror"]) && !is(&results.spf, &["pass"]) {
        "dkim"
    } else {
        return None;
    };
    let elsewhere =
        results.came_from.as_deref().filter(|other| !domain.is_empty() && !related(other, domain));
    let note = if let Some(other) = elsewhere {
        note!(
            "From says {} but it came from {}; {} failed",
            quoted_end(email),
            quoted_end(other),
            word
        )
    } else {
        note!("{} failed for {}", word, quoted_end(email))
    };
    Some(SenderWarning { word, note })
}

/// Warns of a name that looks like another address or domain than the sender's.
fn name(sender: &MailAddress, domain: &str) -> Option<SenderWarning> {
    let name = sender.name.as_deref()?;
    let claimed = claims(name).find(|claimed| !related(claimed, domain))?;
    Some(SenderWarning {
        word: "name",
        note: note!(
            "the sender's name says {} but the address is {}",
            quoted_end(&claimed),
            quoted_end(&sender.email)
        ),
    })
}

/// Warns of a message by several senders, of which people may see another one than the first.
fn several(from: &[MailAddress], second: Option<&str>) -> Option<SenderWarning> {
    let second = super::address_list(second.unwrap_or_default());
    let first = from.first()?;
    let mut others = from.iter().skip(1).chain(&second);
    let other = others.find(|other| !other.email.eq_ignore_ascii_case(&first.email))?;
    let (first, other) = (quoted_end(&first.email), quoted_end(&other.email));
    Some(SenderWarning { word: "senders", note: note!("From says {}, but also {}", first, other) })
}

/// Warns of replies that go to other people than the sender.
fn replies(reply_to: Option<&str>, domain: &str) -> Option<SenderWarning> {
    let answers = super::address_list(reply_to?);
    let other = answers.iter().find(|one| {
        let own = domains::domain(&one.email);
        !own.is_empty() && !domain.is_empty() && !related(own, domain)
    })?;
    Some(SenderWarning {
        word: "reply_to",
        note: note!("replies go to {}", quoted_end(&other.email)),
    })
}

/// Warns of letters that look like letters of another script.
fn spelling(sender: &MailAddress, domain: &str, own: &str) -> Vec<SenderWarning> {
    let mut found = Vec::new();
    let plain = to_unicode(domain);
    let both = match to_ascii(domain) {
        Some(ascii) if ascii != plain => {
            note!("{} ({})", quoted_end(&plain), quoted_end(&ascii))
        }
        _ => note!("{}", quoted_end(&plain)),
    };
    let mixed = |text: &str| text.split(['.', '-', ' ']).any(script::is_mixed);
    if mixed(&plain) {
        found.push(SenderWarning {
            word: "script",
            note: note!("the domain {} mixes scripts", both),
        });
    } else if let Some(name) = sender.name.as_deref().filter(|name| mixed(name)) {
        found.push(SenderWarning {
            word: "script",
            note: note!("the sender's name {} mixes scripts", quoted(name)),
        });
    }
    let own = to_unicode(domains::domain(own));
    let twin = |one: &str| one != plain && script::skeleton(one) == script::skeleton(&plain);
    if twin(&own) {
        found.push(SenderWarning {
            word: "lookalike",
            note: note!("the domain {} looks like your own, {}", both, quoted_end(&own)),
        });
    } else if let Some(latin) = script::latin(&plain) {
        found.push(SenderWarning {
            word: "lookalike",
            note: note!("the domain {} looks like {}", both, quoted_end(&latin)),
        });
    } else if !plain.is_ascii() && !found.iter().any(|one| one.word == "script") {
        found.push(SenderWarning {
            word: "punycode",
            note: note!("the domain is not ASCII: {}", both),
        });
    }
    found
}

/// Returns true for a text that can be read as `word`, ignoring case, scripts and
/// invisible characters.
pub fn looks_like(text: &str, word: &str) -> bool {
    script::skeleton(super::visible(&super::cell(text)).trim()) == script::skeleton(word)
}

/// Returns the domains of addresses, and bare domains, that occur in a name.
fn claims(name: &str) -> impl Iterator<Item = String> {
    let ends = |c: char| c.is_whitespace() || ",;:()[]<>\"'|/".contains(c);
    name.split(ends).filter_map(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let lower = word.to_lowercase();
        match lower.rsplit_once('@') {
            Some((local, domain)) if !local.is_empty() && domain.contains('.') => {
                Some(domain.to_owned())
            }
            Some(_) => None,
            None => {
                let (before, last) = lower.rsplit_once('.')?;
                let is_label = |label: &str| {
                    !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-')
                };
                let all = before.split('.').all(is_label);
                (all && ENDINGS.contains(&last)).then_some(lower)
            }
        }
    })
}

/// Top-level domains by which a domain is recognised without an @ before it. Ones that are also
/// words, as in `node.js` or `Dr.No`, are not included.
const ENDINGS: &[&str] = &[
    "com", "net", "org", "info", "biz", "edu", "gov", "mil", "int", "io", "co", "app", "dev",
    "example", "de", "uk", "fr", "nl", "ch", "eu", "ru", "cn", "jp", "pl", "se", "dk", "fi", "ca",
    "au", "br", "es",
];
