//! The lists of calendars that were fetched lately.

use daysheet_core::ids::AccountId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Lifetime of a list.
const GOOD: Duration = Duration::from_mins(1);

/// A list, and the time at which it was fetched.
type CachedLists = (Instant, Arc<Vec<Value>>);

/// The lists that were fetched lately, by account.
#[derive(Default)]
pub(crate) struct CalendarLists(Mutex<HashMap<AccountId, CachedLists>>);

impl CalendarLists {
    /// Returns the calendars of an account and the time of their fetch, unless that is too long
    /// ago.
    pub(crate) fn get(&self, account: &AccountId) -> Option<(Arc<Vec<Value>>, Instant)> {
        let lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (fetched, list) = lists.get(account)?;
        (fetched.elapsed() < GOOD).then(|| (list.clone(), *fetched))
    }

    /// Stores the calendars of an account, as fetched now.
    pub(crate) fn insert(&self, account: &AccountId, list: Arc<Vec<Value>>) {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lists.insert(account.to_owned(), (Instant::now(), list));
    }

    pub(crate) fn forget(&self, account: &AccountId) {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lists.remove(account);
    }
}
