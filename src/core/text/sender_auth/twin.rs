//! Senders that look like people the reader knows, by their addresses and names.
//!
//! This is a guess from spelling alone. The caller knows who has been written to, and warns only of
//! other senders.

use super::domains::{ascii, organisation, to_unicode};
use super::script;
use crate::text::address::MailAddress;

/// Minimum length of names that are compared character by character: shorter ones are alike by
/// chance.
const LEAST: usize = 5;
/// Words that forgers add to the name of a company.
const ADDED: &[&str] = &[
    "account", "accounts", "alert", "alerts", "bank", "billing", "buchhaltung", "facturation",
    "fattura", "finance", "group", "help", "helpdesk", "inc", "info", "invoice", "invoices",
    "konto", "login", "mail", "office", "online", "pay", "payment", "payments", "portal",
    "rechnung", "rechnungen", "secure", "security", "service", "services", "sicherheit", "support",
    "team", "update", "verify", "web", "zahlung", "zahlungen",
];

/// A person the reader knows, prepared for comparisons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownPerson {
    /// Name and address.
    pub address: MailAddress,
    /// True if the reader saved the address or has written to it; anyone can get on a list of
    /// people who wrote.
    pub sure: bool,
    spelling: AddressSpelling,
}

impl KnownPerson {
    /// Prepares an address; `None` for one without an @.
    pub fn new(address: MailAddress, sure: bool) -> Option<Self> {
        let spelling = AddressSpelling::from_address(&address)?;
        Some(Self { address, sure, spelling })
    }
}

/// The compared parts of an address, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AddressSpelling {
    email: String,
    local: String,
    /// The domain that an organisation registers.
    domain: String,
    /// Its first label, its other labels, and all of it with similar characters made equal.
    label: String,
    ending: String,
    skeleton: String,
    /// The display name with similar characters made equal; empty without a name.
    name: String,
}

impl AddressSpelling {
    fn from_address(address: &MailAddress) -> Option<Self> {
        let email = address.email.to_lowercase();
        let (local, domain) = email.rsplit_once('@')?;
        let domain = to_unicode(&organisation(&ascii(domain)));
        let (label, ending) = domain.split_once('.')?;
        Some(Self {
            local: local.to_owned(),
            label: label.to_owned(),
            ending: ending.to_owned(),
            skeleton: script::skeleton(&domain),
            name: address.name.as_deref().map(script::skeleton).unwrap_or_default(),
            email: email.clone(),
            domain,
        })
    }

    /// Returns true if it can be mistaken for `known`, which is another address.
    fn imitates(&self, known: &Self) -> bool {
        let same_name = !self.name.is_empty() && self.name == known.name;
        if self.domain == known.domain {
            // Colleagues may have similar addresses, but not the same name.
            let unnamed = self.name.is_empty() || known.name.is_empty();
            let same = script::skeleton(&self.local) == script::skeleton(&known.local);
            let alike =
                same && (same_name || unnamed) || same_name && one_more(&self.local, &known.local);
            return alike && self.local != known.local;
        }
        let company = known.label.chars().count() >= LEAST;
        self.skeleton == known.skeleton
            || self.ending == known.ending && one_apart(&self.label, &known.label)
            || company && has_added(&self.label, &known.label)
            // Companies have several endings, so the person decides there.
            || self.label == known.label && (self.local == known.local || same_name)
    }
}

/// Returns the members of `known` that a sender can be mistaken for; empty for a sender who surely
/// is one of them.
pub fn imitated<'k>(
    sender: &MailAddress,
    known: impl Iterator<Item = &'k KnownPerson> + Clone,
) -> Vec<&'k KnownPerson> {
    let Some(own) = AddressSpelling::from_address(sender) else {
        return Vec::new();
    };
    if known.clone().any(|one| one.sure && one.spelling.email == own.email) {
        return Vec::new();
    }
    let alike = |one: &&KnownPerson| one.spelling.email != own.email && own.imitates(&one.spelling);
    known.filter(alike).collect()
}

/// Returns true if `label` is `company` with words that forgers add, separated by hyphens.
fn has_added(label: &str, company: &str) -> bool {
    let mut parts = label.split('-').filter(|part| *part != company);
    label.split('-').any(|part| part == company)
        && label != company
        && parts.all(|part| ADDED.contains(&part))
}

/// Returns the parts in which two texts differ, without their common beginning and end.
fn differing(one: &str, other: &str) -> (Vec<char>, Vec<char>) {
    let (mut one, mut other): (Vec<char>, Vec<char>) =
        (one.chars().collect(), other.chars().collect());
    let begin = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    one.drain(..begin);
    other.drain(..begin);
    while let (Some(a), Some(b)) = (one.last(), other.last())
        && a == b
    {
        one.pop();
        other.pop();
    }
    (one, other)
}

/// Returns true if two texts differ by one character, or by two that changed places. Digits are no
/// difference, because owners number their own names.
fn one_apart(one: &str, other: &str) -> bool {
    if one.chars().count().min(other.chars().count()) < LEAST {
        return false;
    }
    match differing(one, other) {
        (a, b) if a.is_empty() && b.is_empty() => false,
        (a, b) if a.iter().chain(&b).any(char::is_ascii_digit) => false,
        (a, b) => match (a.as_slice(), b.as_slice()) {
            ([] | [_], [] | [_]) => true,
            ([a, b], [c, d]) => a == d && b == c,
            _ => false,
        },
    }
}

/// Returns true if one text has a character more than the other, or two changed places. A replaced
/// character does not count, because colleagues differ in their initials.
fn one_more(one: &str, other: &str) -> bool {
    one_apart(one, other) && {
        let (a, b) = differing(one, other);
        a.len() != 1 || b.len() != 1
    }
}
