//! The context of rows: facts that their objects do not contain.

use std::collections::HashMap;
use std::sync::LazyLock;

use jiff::tz::TimeZone;

use super::room::RowRoom;
use crate::schemas::Service;

/// Facts about objects that the objects themselves do not contain.
#[derive(Debug, Clone)]
pub struct RowContext<'a> {
    /// The API whose JSON format the objects have.
    pub api: Service,
    /// The time zone in which times are shown.
    pub zone: &'a TimeZone,
    /// The label of the account they came from.
    pub account: &'a str,
    /// The account's address, which identifies its owner among people.
    pub address: &'a str,
    /// Names of labels, folders and calendars by id.
    pub names: &'a HashMap<String, String>,
    /// The space for untrusted text.
    pub room: RowRoom,
}

impl RowContext<'static> {
    /// Creates the context for rows whose account and names do not matter, in UTC.
    pub fn bare(api: Service) -> Self {
        static UTC: TimeZone = TimeZone::UTC;
        static NO_NAMES: LazyLock<HashMap<String, String>> = LazyLock::new(HashMap::new);
        Self { api, zone: &UTC, account: "", address: "", names: &NO_NAMES, room: RowRoom::List }
    }
}
