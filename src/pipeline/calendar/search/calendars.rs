//! The calendars of an account: listed, remembered for a minute, chosen by name.

use std::collections::HashMap;
use std::sync::Arc;

use daysheet_core::error::{Error, Result};
use daysheet_core::flatten::RowContext;
use daysheet_core::ids::{AccountId, CalendarId, EmailAddress};
use daysheet_core::provider::Account;
use daysheet_core::provider::calendar::{Calendars, MAIN, NamedCalendar, shown_names};
use daysheet_core::row::RowCell;
use daysheet_core::schemas::{CALENDAR, TableColumn};
use daysheet_core::text;
use serde_json::Value;

use crate::pipeline::context::Context;
use crate::pipeline::handles::resolve_handle;
use crate::pipeline::rows::rows_of;
use crate::store::HandleKind;

/// Names of the main calendar, in addition to its own.
const MAIN_NAMES: &[&str] = &["primary", MAIN, "default"];

/// A calendar as the pipeline knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownCalendar {
    /// The provider's id.
    pub(crate) id: CalendarId,
    /// The name in answers.
    pub(crate) name: String,
    /// The name at its service.
    pub(crate) own_name: String,
    /// The word of the column `access`.
    pub(crate) access: String,
    /// True for the main one.
    pub(crate) main: bool,
    /// The name of its zone; empty if not reported.
    pub(crate) zone: String,
    /// The address of its owner; empty if not reported.
    pub(crate) owner: String,
    /// The address of the person whose main calendar it is, if its id shows it.
    pub(crate) person: Option<String>,
}

impl KnownCalendar {
    /// Returns true if events can be written to it.
    pub(crate) fn is_writable(&self) -> bool {
        matches!(self.access.as_str(), "owner" | "writer")
    }

    /// Creates the entry of a calendar that the user has not listed.
    pub(crate) fn unlisted(port: &dyn Calendars, id: &CalendarId) -> Self {
        Self {
            id: id.clone(),
            name: id.to_string(),
            own_name: id.to_string(),
            access: String::new(),
            main: false,
            zone: String::new(),
            owner: String::new(),
            person: port.person(id).map(str::to_owned),
        }
    }

    /// Returns the address of the calendar's owner if that is someone else, empty if
    /// not reported; `None` for a calendar of the account `own`.
    pub(crate) fn of_others(&self, own: &EmailAddress) -> Option<&str> {
        match &self.person {
            _ if self.main => None,
            // People who may share it further also have the access `owner`, so the id decides
            // first.
            Some(person) => Some(person.as_str()).filter(|one| !own.is(one)),
            None if self.access == "owner" => None,
            None => Some(&self.owner),
        }
    }

    /// Returns true if it shows its events, and not only free/busy.
    pub(crate) fn is_shown(&self) -> bool {
        self.access != "busy"
    }
}

/// A calendar as named in a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CalendarSelector {
    /// The calendar of this account with this id.
    Id(AccountId, CalendarId),
    /// The calendars with this name or id, in any account.
    Name(String),
}

impl CalendarSelector {
    /// Returns true if it means a calendar of `account`.
    pub(crate) fn selects(&self, calendar: &KnownCalendar, account: &AccountId) -> bool {
        match self {
            Self::Id(owner, id) => owner == account && *id == calendar.id,
            Self::Name(name) => {
                // Calendars are shown by cleaned names, so the given name is cleaned before the
                // comparison.
                calendar.id == name.as_str()
                    || text::cell(name).to_lowercase() == calendar.own_name.to_lowercase()
            }
        }
    }

    /// Returns true if it means the main calendar, unless another has that name.
    fn is_main(&self) -> bool {
        matches!(self, Self::Name(name)
            if MAIN_NAMES.iter().any(|main| main.eq_ignore_ascii_case(name)))
    }
}

/// Returns the calendars of an account, from a list that may be a minute old unless `fresh`.
pub(crate) async fn calendar_list(
    ctx: &Context,
    account: &Account,
    port: &dyn Calendars,
    fresh: bool,
) -> Result<Arc<Vec<Value>>> {
    if let (false, Some((list, _))) = (fresh, ctx.states.lists.get(&account.id)) {
        return Ok(list);
    }
    if fresh {
        port.forget_calendars().await;
    }
    let list = Arc::new(port.calendars().await?);
    ctx.states.lists.insert(&account.id, list.clone());
    Ok(list)
}

/// Forgets the list of an account, because its calendars have changed.
pub(crate) async fn forget_calendars(ctx: &Context, account: &AccountId, port: &dyn Calendars) {
    ctx.states.lists.forget(account);
    port.forget_calendars().await;
}

/// Returns the calendars of an account that a call means: those named, or all that
/// show their events.
pub(super) async fn find_calendars(
    ctx: &Context,
    account: &Account,
    port: &dyn Calendars,
    selectors: &[CalendarSelector],
) -> Result<Vec<KnownCalendar>> {
    // Only a cached list is worth fetching again.
    let old = ctx.states.lists.get(&account.id).is_some();
    let list = calendar_list(ctx, account, port, false).await?;
    let mut all = known_calendars(port, &list);
    let unknown = |all: &[KnownCalendar]| {
        selectors.iter().any(|one| select_calendars(all, one, &account.id).is_empty())
    };
    if old && unknown(&all) {
        // It may have been created within the last minute.
        let list = calendar_list(ctx, account, port, true).await?;
        all = known_calendars(port, &list);
    }
    if selectors.is_empty() {
        all.retain(KnownCalendar::is_shown);
        return Ok(all);
    }
    let meant: Vec<CalendarId> = selectors
        .iter()
        .flat_map(|one| select_calendars(&all, one, &account.id))
        .map(|one| one.id.clone())
        .collect();
    all.retain(|one| meant.contains(&one.id));
    Ok(all)
}

/// Resolves names, handles and ids of calendars.
pub(crate) async fn calendar_selectors(
    ctx: &Context,
    name: &[String],
) -> Result<Vec<CalendarSelector>> {
    let mut selectors = Vec::new();
    for name in name.iter().filter(|name| !name.trim().is_empty()) {
        let one = match resolve_handle(ctx, HandleKind::Calendar, name).await {
            Ok(Some((account, id))) => CalendarSelector::Id(account, id.into()),
            Ok(None) => CalendarSelector::Name(name.trim().to_owned()),
            Err(error) => return Err(error.next("use an id from lookup kind=calendars")),
        };
        if !selectors.contains(&one) {
            selectors.push(one);
        }
    }
    Ok(selectors)
}

/// Returns the names of calendars in answers, by id.
pub(crate) fn names_by_id(all: &[KnownCalendar]) -> HashMap<String, String> {
    all.iter().map(|one| (one.id.to_string(), one.name.clone())).collect()
}

/// Returns the calendars of an account that one name means.
pub(crate) fn select_calendars<'l>(
    all: &'l [KnownCalendar],
    selector: &CalendarSelector,
    account: &AccountId,
) -> Vec<&'l KnownCalendar> {
    let mut found: Vec<&KnownCalendar> =
        all.iter().filter(|one| selector.selects(one, account)).collect();
    if found.is_empty() && selector.is_main() {
        found.extend(all.iter().find(|one| one.main));
    }
    found
}

/// Returns the error for a name that no calendar has, with the existing names.
pub(super) fn unknown_calendar(name: &str, known: &[String]) -> Error {
    let name = text::brief(name);
    let error = Error::argument(format!("there is no calendar `{name}`"));
    // Only the main calendars of others are called by an address.
    let busy = if name.contains('@') {
        format!("calendar_free who={name} shows when they are busy; or ")
    } else {
        String::new()
    };
    match known {
        [] => error.next(format!("{busy}lookup kind=calendars lists them")),
        known => error.next(format!("{busy}use one of: {}", known.join(", "))),
    }
}

/// Reads the calendars from the objects of a service.
pub(crate) fn known_calendars(port: &dyn Calendars, objects: &[Value]) -> Vec<KnownCalendar> {
    let columns: Vec<&'static TableColumn> = ["id", "name", "access", "main", "owner", "zone"]
        .iter()
        .filter_map(|name| CALENDAR.field(name))
        .collect();
    let context = RowContext::bare(port.api());
    let rows = rows_of(&context, &CALENDAR, &columns, objects, &mut Vec::new());
    let text = |cell: Option<&RowCell>| match cell {
        Some(RowCell::Text(text)) => text.clone(),
        _ => String::new(),
    };
    let mut all: Vec<KnownCalendar> = rows
        .rows()
        .filter_map(|row| {
            let Some(RowCell::Id(id)) = row.first() else {
                return None;
            };
            let id = CalendarId::from(id.as_str());
            Some(KnownCalendar {
                person: port.person(&id).map(str::to_owned),
                id,
                name: String::new(),
                own_name: text(row.get(1)),
                access: text(row.get(2)),
                main: row.get(3) == Some(&RowCell::Flag(true)),
                owner: text(row.get(4)),
                zone: text(row.get(5)),
            })
        })
        .collect();
    let named = |one: &KnownCalendar| NamedCalendar {
        id: one.id.clone(),
        name: one.own_name.clone(),
        main: one.main,
    };
    let own: Vec<_> = all.iter().map(named).collect();
    let names = shown_names(&own);
    for one in &mut all {
        one.name = names.get(&one.id).cloned().unwrap_or_default();
    }
    all
}
