//! The people whom accounts know, kept in memory for a while.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use daysheet_core::ids::AccountId;
use daysheet_core::text::sender_auth::KnownPerson;
use daysheet_core::text::{MailAddress, Note};

/// Lifetime of a list.
pub(super) const GOOD: Duration = Duration::from_mins(10);

/// The people of accounts, and the findings about senders.
#[derive(Default)]
pub(super) struct KnownPeople {
    pub(super) circles: Mutex<HashMap<AccountId, AccountPeople>>,
    pub(super) written: Mutex<HashMap<AccountId, Vec<KnownPerson>>>,
}

/// The people of one account.
#[derive(Clone)]
pub(super) struct AccountPeople {
    pub(super) since: Instant,
    pub(super) people: Arc<Vec<KnownPerson>>,
    /// The notes on senders, by name and address; `None` for a sender who looks like no one.
    pub(super) looked_at: Arc<Mutex<HashMap<MailAddress, Option<Note>>>>,
}

impl KnownPeople {
    pub(super) fn circle(&self, account: &AccountId) -> Option<AccountPeople> {
        let circles = self.circles.lock().unwrap_or_else(PoisonError::into_inner);
        circles.get(account).filter(|one| one.since.elapsed() < GOOD).cloned()
    }

    /// Adds people that an account has written to.
    pub(super) fn wrote_to<'a>(
        &self,
        account: &AccountId,
        addresses: impl Iterator<Item = &'a String>,
    ) {
        let address = |email: &String| KnownPerson::new(MailAddress::new(None, email), true);
        let people = addresses.filter_map(address).collect();
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.insert(account.to_owned(), people);
    }

    /// Drops the people of an account, so that they are read again.
    pub(super) fn forget(&self, account: &AccountId) {
        self.circles.lock().unwrap_or_else(PoisonError::into_inner).remove(account);
    }
}
