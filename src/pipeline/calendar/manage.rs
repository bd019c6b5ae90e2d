//! Creates, renames and deletes calendars.

use std::collections::HashMap;

use daysheet_core::access::AccessLevel;
use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::{ClientPrompts, MaybeDryRun};
use daysheet_core::error::{Error, Result};
use daysheet_core::provider::calendar::{CalendarOp, MAIN};
use daysheet_core::row::RowCell;
use daysheet_core::schemas::CALENDAR;
use daysheet_core::text::{note, quoted};
use daysheet_core::time_parse;

use super::search::calendars::{KnownCalendar, forget_calendars};
use super::target::{CalendarOwner, calendar_owner};
use crate::pipeline::access::accounts::account_named;
use crate::pipeline::access::erasure::no_undo;
use crate::pipeline::access::erasure::refused_erasure;
use crate::pipeline::calendar::save::destination::{account_calendars, find_calendar};
use crate::pipeline::context::Context;
use crate::pipeline::titles::short;
use crate::pipeline::write::confirm::require_access;
use crate::pipeline::write::log::{AuditEntry, LoggedTool, run_logged};
use crate::pipeline::write::object::{ObjectOwner, ObjectWrite, object_answer};
use crate::tools::manage::{ManageOp, ManageRequest};

/// Carries out a `manage` of a calendar.
pub(crate) async fn manage_calendar(
    ctx: &Context,
    request: ManageRequest,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    if let Some(name) = request.set.keys().next() {
        return Err(Error::argument(format!(
            "a calendar has no `{}` to set",
            daysheet_core::text::brief(name)
        ))
        .next("give `name`, and `tz` for a new one, beside `set`"));
    }
    match request.op {
        ManageOp::Create => create_calendar(ctx, &request).await,
        ManageOp::Update | ManageOp::Rename | ManageOp::Delete => {
            change_calendar(ctx, &request, caller).await
        }
        ManageOp::Run => {
            Err(Error::argument("`op: run` is for rules").next("use create, rename or delete"))
        }
    }
}

async fn create_calendar(ctx: &Context, request: &ManageRequest) -> Result<WholeAnswer> {
    if request.id.is_some() {
        return Err(Error::argument("`id` is for an existing calendar")
            .next("give the new one's name as `name`"));
    }
    let name = name_of(request)?;
    // Without a zone, the calendar gets the zone of its owner's other calendars.
    let zone = match &request.tz {
        Some(zone_name) => time_parse::zone(zone_name)?.iana_name().map(str::to_owned),
        None => None,
    };
    let account = account_named(ctx, request.account.as_deref()).await?;
    let owner = calendar_owner(ctx, account).await?;
    // A cached list could lack a calendar that has this name.
    unused(&account_calendars(ctx, &owner, true).await?, &name, None)?;
    let in_zone = zone.as_ref().map_or_else(String::new, |zone| format!(", zone {zone}"));
    let op = CalendarOp::Create { name: name.clone(), zone };
    if request.dry_run {
        owner.port.rehearse_op(&op).await?;
        let detail = &format!("in {}{in_zone}", owner.label);
        let about = ObjectWrite { item: &name, op: "create", detail };
        return about.outcome(ctx, "planned", Vec::new()).await;
    }
    let about = ObjectWrite { item: &name, op: "create", detail: "" };
    carry_out(ctx, &owner, &op, about).await
}

async fn change_calendar(
    ctx: &Context,
    request: &ManageRequest,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let caller = &MaybeDryRun { caller, dry_run: request.dry_run };
    let (word, rename) = match request.op {
        ManageOp::Rename | ManageOp::Update => ("rename", Some(name_of(request)?)),
        _ => ("delete", None),
    };
    if request.tz.is_some() {
        return Err(Error::argument("`tz` is for new calendars").next("leave it out"));
    }
    let Some(id_or_name) = &request.id else {
        return Err(Error::argument(format!("`op: {word}` needs `id`"))
            .next("give the calendar's name or id, from lookup kind=calendars"));
    };
    if rename.is_none() && request.name.is_some() {
        return Err(
            Error::argument("op=delete takes no `name`").next("name the calendar by `id` alone")
        );
    }
    let (owner, place) = find_calendar(ctx, request.account.as_deref(), id_or_name).await?;
    if place.access != "owner" || place.of_others(&owner.account.email).is_some() {
        return Err(Error::argument(format!("the calendar {} is not yours", short(&place.name)))
            .next(format!("ask its owner to {word} it")));
    }
    let old = short(&place.name);
    let about = ObjectWrite { item: &old, op: word, detail: "" };
    if rename.is_none() && place.main {
        return Err(Error::argument("the main calendar cannot be deleted")
            .next("delete its events, or another calendar"));
    }
    if let Some(name) = &rename {
        // Compared exactly, so that upper and lower case can be changed.
        if *name == place.own_name {
            let about = ObjectWrite { detail: "already as requested", ..about };
            return about.outcome(ctx, "unchanged", Vec::new()).await;
        }
        unused(&account_calendars(ctx, &owner, true).await?, name, Some(&place))?;
    }
    if rename.is_none() {
        require_access(ctx, AccessLevel::Full, "deleting a calendar with all its events")?;
    }
    let detail = match &rename {
        Some(name) => format!("to {}, in {}", short(name), owner.label),
        None => format!("with all its events, in {}: {}", owner.label, no_undo(ctx, caller)),
    };
    let erases = rename.is_none();
    let op = match rename {
        Some(name) => CalendarOp::Rename { id: place.id.clone(), name },
        None => CalendarOp::Delete { id: place.id.clone() },
    };
    if request.dry_run {
        owner.port.rehearse_op(&op).await?;
    }
    let question = format!(
        "Permanently delete the calendar {old} of {} with all its events? This cannot be \
         undone.",
        owner.account.email
    );
    if erases && let Some(why) = refused_erasure(ctx, &question, caller).await? {
        return ObjectWrite { detail: why, ..about }.outcome(ctx, "refused", Vec::new()).await;
    }
    if request.dry_run {
        let about = ObjectWrite { detail: &detail, ..about };
        return about.outcome(ctx, "planned", Vec::new()).await;
    }
    carry_out(ctx, &owner, &op, about).await
}

/// Carries out an operation on a calendar.
async fn carry_out(
    ctx: &Context,
    owner: &CalendarOwner,
    op: &CalendarOp,
    about: ObjectWrite<'_>,
) -> Result<WholeAnswer> {
    let id = match op {
        CalendarOp::Create { .. } => None,
        CalendarOp::Rename { id, .. } | CalendarOp::Delete { id } => Some(id.clone()),
    };
    let done = format!("{} calendar", about.op);
    let ids = id.into_iter().map(String::from).collect();
    let entry =
        AuditEntry { ids, ..AuditEntry::new(&owner.account.email, LoggedTool::MANAGE, &done) };
    let mut notes = Vec::new();
    let write = owner.port.manage(op);
    let answer = run_logged(ctx, entry, &mut notes, write, |_| None).await;
    // Even after a failure, because the write may have been carried out.
    forget_calendars(ctx, &owner.account.id, &*owner.port).await;
    let answer = answer.map(|calendar| Some((&CALENDAR, calendar?)));
    let names = HashMap::new();
    let CalendarOwner { account, label, port } = owner;
    let object_owner = ObjectOwner { account, label, api: port.api(), names: &names };
    let mut response = object_answer(ctx, object_owner, about, answer, notes).await?;
    // Answers call the main calendar `main`, so its new name is only in a note.
    let rows = response.document.tables.first_mut();
    if let (MAIN, Some(cell)) = (about.item, rows.and_then(|rows| rows.cell_mut(0, "name")))
        && let RowCell::Text(own) = std::mem::replace(cell, RowCell::Text(MAIN.to_owned()))
    {
        response.notes.push(note!("renamed to {}; answers call it `main`", quoted(&own)));
    }
    Ok(response)
}

fn name_of(request: &ManageRequest) -> Result<String> {
    match request.name.as_deref().map(str::trim) {
        Some(name) if !name.is_empty() && !name.contains(char::is_control) => Ok(name.to_owned()),
        Some(_) => Err(Error::argument("`name` is invalid").next("give one line of text")),
        None => Err(Error::argument("`name` is missing").next("give the calendar's name")),
    }
}

/// Refuses a name that another calendar of the account has, because names identify calendars.
fn unused(places: &[KnownCalendar], name: &str, itself: Option<&KnownCalendar>) -> Result<()> {
    let same = |place: &&KnownCalendar| {
        [&place.name, &place.own_name].iter().any(|one| one.to_lowercase() == name.to_lowercase())
            && itself.is_none_or(|own| own.id != place.id)
    };
    match places.iter().find(same) {
        None => Ok(()),
        Some(_) => {
            Err(Error::argument(format!("a calendar called {} already exists", short(name)))
                .next("choose another name"))
        }
    }
}
