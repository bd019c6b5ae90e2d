//! Strict parsing of recipients.
//!
//! Recipients given by a model are really written to, so they are parsed differently from header
//! fields of received mail ([`crate::text::address_list`]): an ambiguous item is refused with the
//! item and the next step, without guessing or dropping it. A valid address that may deceive
//! causes a warning.

use std::collections::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::ids::EmailAddress;
use crate::provider::mail::MailPerson;
use crate::text::sender_auth::is_mixed;
use crate::text::{self, is_invisible, visible};
use crate::text::{Note, note, quoted, quoted_end};

/// The maximum length of a local part (RFC 5321, 4.5.3.1.1).
const MAX_LOCAL: usize = 64;
/// The maximum length of an address (RFC 5321 with its errata).
const MAX_ADDRESS: usize = 254;
/// The maximum length of a name in characters.
const MAX_NAME: usize = 200;
/// The maximum number of recipients in one field.
const MAX_RECIPIENTS: usize = 500;
/// The next step for a name without an address.
const BARE: &str =
    "give an address, and quote a name with a comma: \"Lindqvist, Mira\" <mira@example.com>";

/// The recipients, with warnings to consider before writing to them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadPeople {
    /// The people, each address once, in order.
    pub people: Vec<MailPerson>,
    /// Warnings about them, one line each.
    pub warnings: Vec<Note>,
}

/// Parses the people in `items`. Each item has one or several mailboxes (RFC 5322), separated by
/// commas or semicolons. `field` is the name of the argument. Empty items are ignored.
///
/// # Errors
/// [`ErrorKind::Argument`](crate::error::ErrorKind::Argument), which names the item and the next
/// step.
pub fn read(field: &str, items: &[String]) -> Result<ReadPeople> {
    let mut found = ReadPeople::default();
    let mut known = HashSet::new();
    for item in items {
        let refused = |error: Error| {
            let error = error.context(format!("`{field}` {}", quoted(item)));
            match error.next_step() {
                Some(_) => error,
                None => error.next("write `Name <name@example.com>`"),
            }
        };
        clean(item).map_err(refused)?;
        for one in mailboxes(item).map_err(refused)? {
            let person = mailbox(one).map_err(refused)?;
            found.warnings.extend(warning(&person));
            if known.insert(person.address.lower()) {
                found.people.push(person);
            }
        }
    }
    match found.people.len() {
        0..=MAX_RECIPIENTS => Ok(found),
        many => Err(Error::argument(format!(
            "`{field}` has {many} recipients, more than {MAX_RECIPIENTS}"
        ))
        .next("write to fewer people")),
    }
}

/// Returns one error for all names given in place of addresses, so that one correction suffices.
/// `None` for fewer than two names, for which the argument's own error is specific enough.
pub fn without_addresses(names: &[&str]) -> Option<Error> {
    let shown: Vec<String> = names.iter().map(|name| quoted(name).to_string()).collect();
    let all = Error::argument(format!("{} are not addresses", shown.join(", "))).next(BARE);
    (names.len() > 1).then(|| names.iter().fold(all, |all, name| all.naming(*name)))
}

/// Returns the names without an address in an item. Empty for an item that cannot be parsed;
/// without `me`, which is not a name.
pub fn bare_names(item: &str) -> Vec<&str> {
    let is_name = |one: &&str| is_bare_name(one) && !one.eq_ignore_ascii_case("me");
    let all = clean(item).and_then(|()| mailboxes(item)).unwrap_or_default();
    all.into_iter().map(unmarked).filter(is_name).collect()
}

/// Returns an item in which names are replaced by their `addresses`, where known. Marks after a
/// name are kept.
pub fn with_addresses(item: &str, addresses: &HashMap<&str, String>) -> String {
    let all = mailboxes(item).unwrap_or_default();
    let address = |one: &str| {
        let name = unmarked(one);
        let marks = one.get(name.len()..).unwrap_or_default().trim_start();
        Some(format!("{}{marks}", addresses.get(name)?))
    };
    if all.iter().all(|one| address(one).is_none()) {
        return item.to_owned();
    }
    let all: Vec<String> =
        all.into_iter().map(|one| address(one).unwrap_or_else(|| one.to_owned())).collect();
    all.join(", ")
}

/// Returns a mailbox without the marks for guests that may follow it.
fn unmarked(one: &str) -> &str {
    one.trim_end_matches(['*', '+', '-', '~', '?']).trim_end()
}

/// Returns true for a mailbox that is only a name.
fn is_bare_name(input: &str) -> bool {
    outside_quotes(input, '<').is_none() && !input.contains('@')
}

/// Returns true if the address belongs to one of these people.
pub fn has_address(people: &[MailPerson], address: &EmailAddress) -> bool {
    people.iter().any(|one| one.address.is(address))
}

/// Converts a person from a received message to a recipient. `None` for an address that cannot be
/// sent to. A name that contains another address is dropped with a warning.
pub fn known_person(person: &MailPerson, warnings: &mut Vec<Note>) -> Option<MailPerson> {
    let Ok(address) = ascii(person.address.as_str()) else {
        warnings.push(note!("left out, not an address: {}", quoted_end(person.address.as_str())));
        return None;
    };
    let name = person.name.as_deref().map(text::cell);
    let name = name.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(&address));
    let name = match name {
        Some(name) if name.contains('@') => {
            warnings.push(note!(
                "{} shows the name {}: the name was left out",
                quoted_end(&address),
                quoted(&name)
            ));
            None
        }
        name => name.map(|name| text::clip(name, MAX_NAME).0),
    };
    let person = MailPerson { name, address: address.into() };
    warnings.extend(warning(&person));
    Some(person)
}

/// Returns an address in the form in which it is sent: with the domain in ASCII and lower case.
///
/// # Errors
/// [`ErrorKind::Argument`](crate::error::ErrorKind::Argument) for an invalid address, and for
/// addresses that Gmail and Outlook cannot send to: with non-ASCII characters before the `@`, or a
/// domain
/// that mixes scripts.
pub fn ascii(address: &str) -> Result<String> {
    let wrong = |why: &str| Error::argument(format!("{} {why}", quoted(address)));
    let Some((local, domain)) = address.rsplit_once('@') else {
        return Err(wrong("is not an address").next("write it as name@example.com"));
    };
    if !local.is_ascii() {
        return Err(wrong("has non-ASCII characters before the @").next("ask for an ASCII address"));
    }
    let sign = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&b);
    if local.is_empty() || local.starts_with('.') || !local.bytes().all(sign) {
        return Err(wrong("is not an address").next("write it as name@example.com"));
    }
    // Checked before `Host::parse`, which removes some of these characters, decodes `%` and
    // accepts IP addresses.
    let odd = |c: char| {
        c.is_whitespace() || c.is_control() || is_invisible(c) || "%[]:/\\<>()\",;".contains(c)
    };
    if domain.contains(odd) || !domain.contains('.') {
        return Err(wrong("has no domain such as example.com").next("correct the part after the @"));
    }
    let Ok(url::Host::Domain(host)) = url::Host::parse(domain) else {
        return Err(wrong("has no domain such as example.com").next("correct the part after the @"));
    };
    let labels = host.split('.').all(|label| (1..=63).contains(&label.len()));
    if !labels || !host.is_ascii() || !host.contains('.') {
        return Err(wrong("has no domain such as example.com").next("correct the part after the @"));
    }
    if local.len() > MAX_LOCAL || local.len() + 1 + host.len() > MAX_ADDRESS {
        return Err(wrong("is too long for an address").next("correct it"));
    }
    if seen(&host).split('.').any(is_mixed) {
        return Err(Error::argument(format!(
            "the domain of {} mixes look-alike scripts ({host})",
            quoted(address)
        ))
        .next("check the domain letter by letter and retype it"));
    }
    Ok(format!("{local}@{host}"))
}

/// Returns a domain in its readable form.
fn seen(host: &str) -> String {
    let (seen, _) = idna::domain_to_unicode(host);
    seen
}

/// Returns a warning about an address that may be a look-alike.
fn warning(person: &MailPerson) -> Option<Note> {
    let (_, host) = person.address.as_str().rsplit_once('@')?;
    let seen = seen(host);
    (seen != host).then(|| {
        note!(
            "{} is {} in ASCII: check that it is not a look-alike",
            quoted_end(&seen),
            quoted_end(host)
        )
    })
}

/// Refuses characters that hide or reorder the content of an item. Joiners that shape the letters
/// of a name, or an emoji, are allowed.
fn clean(item: &str) -> Result<()> {
    let hidden = |c: &char| c.is_control() || is_invisible(*c);
    let shaped = visible(item) == item && !item.chars().any(char::is_control);
    match item.chars().find(hidden) {
        None => Ok(()),
        Some(_) if shaped => Ok(()),
        Some('\n' | '\r') => {
            Err(Error::argument("it has a line break").next("write it on one line"))
        }
        Some(c) => {
            Err(Error::argument(format!("it holds the invisible character U+{:04X}", u32::from(c)))
                .next("retype the address"))
        }
    }
}

/// Splits an item at commas and semicolons outside of quotes, brackets and parentheses.
fn mailboxes(item: &str) -> Result<Vec<&str>> {
    let (mut quoted, mut escaped, mut angle, mut depth) = (false, false, false, 0_usize);
    let (mut from, mut found) = (0, Vec::new());
    for (at, c) in item.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '<' if angle => return Err(Error::argument("it has nested brackets")),
            '<' => angle = true,
            '>' if !angle => return Err(Error::argument("it has an unmatched `>`")),
            '>' => angle = false,
            _ if angle => {}
            '(' => depth += 1,
            ')' if depth == 0 => {
                return Err(Error::argument("it has an unmatched `)`"));
            }
            ')' => depth -= 1,
            '@' if depth > 0 => {
                return Err(Error::argument("it has an address in parentheses")
                    .next("leave out the parentheses and their content"));
            }
            // A group (RFC 5322, 3.4) would be ambiguous, because its members end at a
            // semicolon.
            ':' => {
                return Err(Error::argument("it looks like a group").next(
                    "give the addresses alone, without the group's name, colon and semicolon",
                ));
            }
            ',' | ';' if depth == 0 => {
                found.push(item.get(from..at).unwrap_or_default().trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    if quoted || angle || depth > 0 {
        return Err(Error::argument("it has an unclosed quote, bracket or parenthesis"));
    }
    found.push(item.get(from..).unwrap_or_default().trim());
    found.retain(|one| !one.is_empty());
    Ok(found)
}

/// Parses one mailbox: an address, or a name with the address in brackets.
fn mailbox(input: &str) -> Result<MailPerson> {
    let Some(opened) = outside_quotes(input, '<') else {
        if is_bare_name(input) {
            let error = Error::argument(format!("{} is not an address", quoted(input)));
            return Err(error.next(BARE).naming(input));
        }
        return Ok(MailPerson { name: None, address: ascii(input)?.into() });
    };
    let (name, rest) = input.split_at(opened);
    let inside = rest
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'))
        .filter(|inside| !inside.contains(['<', '>']));
    let Some(inside) = inside else {
        return Err(Error::argument("there is text after the address")
            .next("write `Name <name@example.com>` followed by a comma"));
    };
    // An obsolete source route (RFC 5322, 4.4).
    if inside.trim_start().starts_with('@') {
        return Err(Error::argument("the address has a route")
            .next("leave out everything up to the last colon"));
    }
    let address = ascii(inside.trim())?;
    let name = display_name(name)?.filter(|name| !name.eq_ignore_ascii_case(&address));
    // A name that looks like another address could hide the real one.
    let deceives = |name: &String| name.contains(['@', '＠', '﹫']);
    if let Some(name) = name.as_ref().filter(|name| deceives(name)) {
        return Err(Error::argument(format!(
            "the name says {} but the address is {address}",
            quoted(name)
        ))
        .next("leave out the name, or the address in it"));
    }
    Ok(MailPerson { name, address: address.into() })
}

/// Returns the position of a character outside of quotes.
fn outside_quotes(input: &str, sought: char) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in input.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            c if c == sought && !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

/// Returns a name without its quotes.
fn display_name(input: &str) -> Result<Option<String>> {
    let mut name = String::with_capacity(input.len());
    let (mut quoted, mut escaped) = (false, false);
    for c in input.chars() {
        match c {
            c if escaped => {
                name.push(c);
                escaped = false;
            }
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            c => name.push(c),
        }
    }
    // The recipient's mail program would decode such a name to another one.
    if name.contains("=?") {
        return Err(
            Error::argument("the name looks encoded").next("write the name in plain characters")
        );
    }
    let name = text::cell(&name);
    if name.chars().count() > MAX_NAME {
        return Err(Error::argument(format!("the name is longer than {MAX_NAME} characters"))
            .next("shorten it"));
    }
    Ok((!name.is_empty()).then_some(name))
}
