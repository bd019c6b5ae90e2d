//! `lookup`: the requested list.

use daysheet_core::error::{Error, Result};
use daysheet_core::schemas::LookupListing;

use super::args::CallArguments;
use super::kinds::{ANY_ACCOUNT, LIST, TEXT, limit, needed, tool};
use super::view::AnswerView;

/// The maximum number of people that one lookup resolves.
const MAX_EMAILS: usize = 50;

/// The number of people returned for each of several names, unless `limit` is given.
const MAX_OF_EACH: u32 = 10;

tool! {
    /// List folders (with counts), labels, rules and the like; find contacts, email addresses.
    lookup(Read, Read) => Lookup(LookupRequest::checked);
    // Arguments that are not given are `None`, because a cursor may have them.
    pub struct LookupRequest {
        kind: &'static LookupListing = needed(),
        /// Part of the name
        q: Option<String> = TEXT,
        /// Find people by address or name
        emails: Vec<String> = LIST,
        account: Option<String> = ANY_ACCOUNT,
        // Added to the columns that name a row; empty for the default ones.
        fields: Vec<String> = LIST,
        limit: Option<u32> = limit(1, 500, 100),
        cursor: Option<String> = TEXT,
        ..AnswerView { budget, chunk, known, format }
    }
}

impl LookupRequest {
    fn checked(self, _: &CallArguments) -> Result<Self> {
        let emails = &self.emails;
        if !emails.is_empty() && !self.kind.is_people() {
            return Err(Error::argument("`emails` is for kind=contacts")
                .next("leave it out, or look up contacts"));
        }
        if emails.len() > MAX_EMAILS {
            return Err(Error::argument(format!(
                "{} people are more than {MAX_EMAILS}",
                emails.len()
            ))
            .next("look them up in several calls"));
        }
        if self.q.is_some() && !emails.is_empty() {
            return Err(Error::argument("`q` and `emails` ask for different things")
                .next("give one of them"));
        }
        Ok(self)
    }

    /// Returns a lookup for each of several people, if any of them is given by name. `emails` with
    /// only addresses are looked up together.
    pub fn each(&self) -> Vec<(String, Self)> {
        let of_people = self.q.as_deref().filter(|_| self.kind.is_people()).unwrap_or_default();
        let names = of_people.split([',', ';']).map(str::trim).filter(|name| !name.is_empty());
        let mut people: Vec<&str> = names.chain(self.emails.iter().map(String::as_str)).collect();
        people.dedup();
        let is_address = |one: &&str| one.contains('@');
        // Addresses alone take a single request, and a single name is an ordinary search.
        if people.iter().all(is_address) && self.q.is_none()
            || people.len() < 2 && self.emails.is_empty()
        {
            return Vec::new();
        }
        let limit = self.limit.or(Some(MAX_OF_EACH));
        let one = |person: &str| {
            let (q, emails) = if is_address(&person) {
                (None, vec![person.to_owned()])
            } else {
                (Some(person.to_owned()), Vec::new())
            };
            (person.to_owned(), Self { q, emails, limit, ..self.clone() })
        };
        people.into_iter().map(one).collect()
    }
}
