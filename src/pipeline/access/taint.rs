//! The record of untrusted text that was shown, and of known recipients.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use daysheet_core::budget::WholeAnswer;
use daysheet_core::ids::AccountId;
use daysheet_core::provider::Account;
use daysheet_core::row::RowCell;

/// The record of untrusted text that was shown, and of known recipients.
#[derive(Debug, Default)]
pub(crate) struct TaintTracker {
    /// True once the process has shown untrusted text.
    pub(super) shown: AtomicBool,
    /// True once the store has recorded it for other processes.
    pub(super) noted: AtomicBool,
    /// True if the pending answer quotes untrusted text in any case.
    pub(super) quoted: AtomicBool,
    /// Account and address, in lower case, of recipients that were written to.
    known: Mutex<HashSet<(AccountId, String)>>,
}

impl TaintTracker {
    /// Returns true if an answer will show untrusted text.
    pub(super) fn is_untrusted(response: &WholeAnswer) -> bool {
        response.texts.iter().any(|text| !text.own)
            || !response.is_own
                && response.document.tables.iter().any(|rows| {
                    let columns = rows.columns();
                    rows.rows().any(|row| {
                        row.iter().zip(columns).any(|(cell, column)| {
                            // Only a text can carry the words of a sender.
                            column.untrusted.is_some() && matches!(cell, RowCell::Text(_))
                        })
                    })
                })
    }

    /// Returns true if an account is known to have written to an address.
    pub(crate) fn knows(&self, account: &Account, address: &str) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.contains(&(account.id.clone(), address.to_lowercase()))
    }

    /// Records that an account has written to an address.
    pub(crate) fn learn(&self, account: &Account, address: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert((account.id.clone(), address.to_lowercase()));
    }
}
