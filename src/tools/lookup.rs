//! `lookup`: the requested list.

use super::args::Args;
use super::kinds::{ANY_ACCOUNT, LIST, TEXT, limit, needed, tool};
use crate::error::{Error, Result};
use crate::schemas::Listing;
use crate::text::brief;

/// The most addresses that one lookup resolves.
const MOST_EMAILS: usize = 50;

tool! {
    /// List folders, labels, rules and the like with counts; find contacts, email addresses.
    lookup(Read, Read) => Lookup(Lookup::checked);
    // What is not given is `None`, because a cursor may have it.
    pub struct Lookup {
        kind: &'static Listing = needed(),
        /// Part of the name
        q: Option<String> = TEXT,
        /// Find people by address
        emails: Vec<String> = LIST,
        account: Option<String> = ANY_ACCOUNT,
        // Besides what names a row; the default ones when empty.
        fields: Vec<String> = LIST,
        limit: Option<u32> = limit(1, 500, 100),
        cursor: Option<String> = TEXT,
        ..budget, chunk, known, format
    }
}

impl Lookup {
    fn checked(self, _: &Args) -> Result<Self> {
        let emails = &self.emails;
        if !emails.is_empty() && !self.kind.is_people() {
            return Err(Error::argument("`emails` is for kind=contacts")
                .next("leave it out, or look up contacts"));
        }
        if let Some(bad) = emails.iter().find(|email| !email.contains('@')) {
            return Err(Error::argument(format!("`{}` is not an address", brief(bad)))
                .next("give whole addresses, or part of a name as q"));
        }
        if emails.len() > MOST_EMAILS {
            return Err(Error::argument(format!(
                "{} addresses are more than {MOST_EMAILS}",
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
}
