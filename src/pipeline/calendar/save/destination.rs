//! The target of a write: its account, its calendar, and whether it may be written to.

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::CalendarId;
use daysheet_core::text::{self, Note, brief};

use crate::pipeline::access::accounts::{account_named, named_or_all, owner_named};
use crate::pipeline::calendar::search::calendars::{
    CalendarSelector, KnownCalendar, calendar_list, calendar_selectors, known_calendars,
    select_calendars,
};
use crate::pipeline::calendar::target::{CalendarOwner, EventTarget, calendar_owner};
use crate::pipeline::context::Context;
use crate::store::HandleKind;
use crate::tools::calendar_save::{CalendarSave, IfConflict};

/// The number of calendars that an error names.
const NAMED: usize = 12;

/// The calendar for new events; with `None`, the main one.
#[derive(Clone)]
pub(super) struct CalendarDestination {
    pub(super) owner: CalendarOwner,
    pub(super) calendar: Option<KnownCalendar>,
}

impl CalendarDestination {
    /// Returns true for the account's main calendar.
    pub(super) fn is_main(&self) -> bool {
        self.calendar.as_ref().is_none_or(|calendar| calendar.main)
    }
}

/// A call that adds events to a calendar.
#[derive(Clone, Copy)]
pub(super) struct SaveCall<'a> {
    /// The arguments.
    pub(super) request: &'a CalendarSave,
    /// The calendar for the events.
    pub(super) to: &'a CalendarDestination,
}

impl SaveCall<'_> {
    /// Returns true if an event with these conflicts is refused.
    pub(super) fn refuses(&self, conflicts: &[Note]) -> bool {
        self.request.if_conflict == IfConflict::Refuse && !conflicts.is_empty()
    }

    /// Returns the service's id of the calendar; `None` for the main one.
    pub(super) fn calendar_id(&self) -> Option<&CalendarId> {
        self.to.calendar.as_ref().map(|place| &place.id)
    }
}

/// Returns the calendars of one account, from a list that may be a minute old unless `fresh`.
pub(crate) async fn account_calendars(
    ctx: &Context,
    owner: &CalendarOwner,
    fresh: bool,
) -> Result<Vec<KnownCalendar>> {
    let port = &*owner.port;
    let list = calendar_list(ctx, &owner.account, port, fresh).await?;
    Ok(known_calendars(port, &list))
}

/// Returns the calendar for new events: the one named, or the main one of the
/// account that is named, or of the only account.
pub(super) async fn find_destination(
    ctx: &Context,
    account: Option<&str>,
    calendar: Option<&str>,
) -> Result<CalendarDestination> {
    let Some(name) = calendar else {
        let owner = calendar_owner(ctx, account_named(ctx, account).await?).await?;
        return Ok(CalendarDestination { owner, calendar: None });
    };
    let found = find_calendar(ctx, account, name).await;
    let (owner, place) = found.map_err(|error| match (error.kind(), error.next_step()) {
        // An address names a person, whose calendar receives events by invitation.
        (ErrorKind::NotFound, Some(next)) if name.contains('@') => {
            let next = format!("invite others as `people`; or {next}");
            error.next(next)
        }
        _ => error,
    })?;
    if place.is_writable() {
        return Ok(CalendarDestination { owner, calendar: Some(place) });
    }
    let writable = account_calendars(ctx, &owner, false).await?;
    let named = named_places(ctx, &[(owner, writable)], KnownCalendar::is_writable).await?;
    Err(Error::argument(format!("the calendar {} is read-only", text::brief(&place.name)))
        .next(format!("use one of: {named}")))
}

/// Finds the calendar with this name, handle or id, of the account that is named or of all.
pub(crate) async fn find_calendar(
    ctx: &Context,
    account: Option<&str>,
    name: &str,
) -> Result<(CalendarOwner, KnownCalendar)> {
    let mut selectors = calendar_selectors(ctx, &[name.to_owned()]).await?;
    let Some(selector) = selectors.pop() else {
        return Err(Error::argument("`calendar` is empty").next("give its name or id"));
    };
    let accounts = match &selector {
        CalendarSelector::Id(owner, _) => vec![owner_named(ctx, owner, account).await?],
        CalendarSelector::Name(_) => named_or_all(ctx, account).await?,
    };
    let mut owners = Vec::new();
    for account in accounts {
        owners.push(calendar_owner(ctx, account).await?);
    }
    let (mut seen, mut meant) = (Vec::new(), Vec::new());
    // A calendar created within the last minute is not in an older list.
    for fresh in [false, true] {
        seen.clear();
        for owner in &owners {
            // An account that does not respond may have a calendar of that name,
            // too: do not guess.
            let places = account_calendars(ctx, owner, fresh).await.map_err(|error| {
                let error = error.context(&owner.label);
                match owners.len() {
                    1 => error,
                    _ => error.next("give `account` if you mean another account's calendar"),
                }
            })?;
            let found = select_calendars(&places, &selector, &owner.account.id);
            meant.extend(found.into_iter().map(|one| (owner.clone(), one.clone())));
            seen.push((owner.clone(), places));
        }
        if !meant.is_empty() {
            break;
        }
    }
    match (meant.len(), meant.pop()) {
        (1, Some(found)) => Ok(found),
        (0, _) | (_, None) => {
            let named = named_places(ctx, &seen, KnownCalendar::is_writable).await?;
            let error = Error::new(
                ErrorKind::NotFound,
                format!("there is no calendar `{}`", text::brief(name)),
            );
            Err(match account_with_calendar(ctx, &owners, &selector).await {
                Some(account) => error.next(format!("it is in account={account}")),
                None => error.next(format!("use one of: {named}")),
            })
        }
        (many, Some(last)) => {
            meant.push(last);
            let is_meant = |place: &KnownCalendar| {
                let same = |one: &KnownCalendar| one.id == place.id && one.name == place.name;
                meant.iter().any(|(_, one)| same(one))
            };
            let named = named_places(ctx, &seen, is_meant).await?;
            Err(Error::argument(format!("{many} calendars are called `{}`", text::brief(name)))
                .next(format!("use one of: {named}")))
        }
    }
}

/// Returns the address of another account that has a calendar of this name.
async fn account_with_calendar(
    ctx: &Context,
    than: &[CalendarOwner],
    selector: &CalendarSelector,
) -> Option<String> {
    for account in named_or_all(ctx, None).await.ok()? {
        let owner = calendar_owner(ctx, account).await.ok()?;
        let is_other = than.iter().all(|one| one.account.id != owner.account.id);
        // This only improves the error, so an account that cannot be read is passed over.
        let places =
            if is_other { account_calendars(ctx, &owner, false).await } else { Ok(Vec::new()) };
        if places.is_ok_and(|all| !select_calendars(&all, selector, &owner.account.id).is_empty()) {
            return Some(owner.account.email.into());
        }
    }
    None
}

/// Lists calendars by name and handle: `Work (c2), Home (c3)`.
async fn named_places(
    ctx: &Context,
    seen: &[(CalendarOwner, Vec<KnownCalendar>)],
    which: impl Fn(&KnownCalendar) -> bool,
) -> Result<String> {
    let mut names = Vec::new();
    for (owner, places) in seen {
        let places: Vec<&KnownCalendar> = places.iter().filter(|place| which(place)).collect();
        let ids: Vec<&str> = places.iter().map(|place| place.id.as_str()).collect();
        let kind = HandleKind::Calendar;
        let numbers = ctx.store.handles(&owner.account.id, kind, &ids).await?;
        for (place, number) in places.into_iter().zip(numbers) {
            let handle = kind.handle(number);
            let name = text::brief(&place.name);
            names.push(match seen.len() {
                1 => format!("{name} ({handle})"),
                _ => format!("{name} ({handle}, {})", owner.label),
            });
        }
    }
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let mut listing = names.join(", ");
    match (listing.is_empty(), more) {
        (true, _) => listing.push_str("none, as none can be written to"),
        (false, 1..) => listing.push_str(&format!(" and {more} more")),
        _ => {}
    }
    Ok(listing)
}

/// Refuses events of calendars that can only be read.
pub(crate) async fn may_write(ctx: &Context, target: &EventTarget) -> Result<()> {
    let Some(calendar) = &target.event.calendar else {
        return Ok(());
    };
    let places = account_calendars(ctx, &target.owner, false).await?;
    match places.iter().find(|place| place.id == *calendar) {
        Some(place) if !place.is_writable() => Err(Error::argument(format!(
            "{} is in the read-only calendar {}",
            target.handle,
            brief(&place.name)
        ))
        .next("ask its owner for the change, or create your own event")),
        // A calendar that is not listed may be writable: the service decides.
        _ => Ok(()),
    }
}
