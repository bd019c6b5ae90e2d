//! Events by their ids, in the requested order.

use std::collections::HashMap;

use daysheet_core::budget::LongText;
use daysheet_core::budget::WholeAnswer;
use daysheet_core::encode::Document;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event::Event;
use daysheet_core::event::time::zone_label;
use daysheet_core::flatten::{RowContext, RowRoom};
use daysheet_core::ids::EventId;
use daysheet_core::provider::Account;
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{ColumnLevel, EVENT, TableColumn};
use daysheet_core::text::fence::theirs;
use daysheet_core::text::{self, Note, NoteKey, note};
use futures_util::future::join_all;
use jiff::tz::TimeZone;

use super::calendars::{self, calendar_list};
use super::ics::{FetchedEvent, FetchedEvents, ics_document};
use super::parts::fill_rules;
use super::seen::remember_events;
use crate::pipeline::access::accounts::{account_labels, owner_named, owner_of_id};
use crate::pipeline::context::Context;
use crate::pipeline::handles::{assign_handles, resolve_handle};
use crate::pipeline::rows::{columns_of, failed_line, rows_of};
use crate::store::HandleKind;
use crate::tools::ColumnChoice;
use crate::tools::calendar_search::{CalendarSearch, EventForm};

/// From this length on, a letter and digits may be a provider's id; shorter ones are handles.
const SHORTEST_ID: usize = 12;

/// Returns the rows of the named events.
pub(super) async fn events_by_id(ctx: &Context, request: &CalendarSearch) -> Result<WholeAnswer> {
    let zone = ctx.requested_zone(request.tz.as_deref())?;
    let mut whole = whole_events(ctx, &request.ids, request.account.as_deref()).await?;
    if request.series {
        whole = series_of(whole).await;
    }
    let mut notes = std::mem::take(&mut whole.notes);
    if request.form == EventForm::Ics {
        let text = ics_document(&whole, &zone, &mut notes).await;
        notes.insert(0, note!("events: {}, as iCalendar", whole.events.len()));
        return Ok(WholeAnswer {
            texts: vec![LongText {
                name: "ics".to_owned(),
                text: theirs(text),
                ..LongText::default()
            }],
            notes,
            ..WholeAnswer::default()
        });
    }
    let several = whole
        .events
        .windows(2)
        .any(|pair| matches!(pair, [one, other] if one.account != other.account));
    let requested = request.columns();
    let columns = match &requested {
        Some(named @ ColumnChoice::Named(_)) => named.columns_of(&EVENT)?,
        Some(ColumnChoice::Level(level)) => columns_of(&EVENT, *level, several),
        None => columns_of(&EVENT, ColumnLevel::Core, several),
    };
    let mut rows = whole_rows(ctx, &whole, &columns, &zone, &mut notes).await?;
    if matches!(requested, Some(ColumnChoice::Level(ColumnLevel::More))) {
        rows.show_members();
    }
    notes.insert(0, note!("events: {}", rows.len()));
    Ok(WholeAnswer {
        document: Document {
            scalars: vec![("zone", RowCell::Text(zone_label(&zone)))],
            tables: vec![rows],
        },
        notes,
        ..WholeAnswer::default()
    })
}

/// Returns the series of occurrences, each once, and other events unchanged.
async fn series_of(whole: FetchedEvents) -> FetchedEvents {
    let FetchedEvents { accounts, events, mut notes } = whole;
    let mut shown: Vec<(usize, EventId)> = Vec::new();
    let mut found = Vec::new();
    for event in events {
        let Some(series) = event.event.series.clone() else {
            shown.push((event.account, event.event.id.clone()));
            found.push(event);
            continue;
        };
        if shown.contains(&(event.account, series.clone())) {
            continue;
        }
        if let Some((_, port)) = accounts.get(event.account) {
            match port.event(std::slice::from_ref(&series)).await.into_iter().next() {
                Some(Ok(series)) => {
                    found.push(FetchedEvent { event: series, account: event.account });
                }
                Some(Err(error)) => notes.push(Note::from(&error).with_key(NoteKey::Missing)),
                None => {}
            }
        }
        shown.push((event.account, series));
    }
    FetchedEvents { accounts, events: found, notes }
}

async fn whole_rows(
    ctx: &Context,
    whole: &FetchedEvents,
    columns: &[&'static TableColumn],
    zone: &TimeZone,
    notes: &mut Vec<Note>,
) -> Result<RowTable> {
    let labels = account_labels(ctx).await?;
    let mut tables = Vec::new();
    for (at, (account, port)) in whole.accounts.iter().enumerate() {
        let mine = whole.events.iter().filter(|one| one.account == at);
        let events: Vec<&Event> = mine.map(|one| &one.event).collect();
        let mut names = HashMap::new();
        if columns.iter().any(|field| field.name == "calendar") {
            // A failure costs only the names of calendars.
            if let Ok(list) = calendar_list(ctx, account, &**port, false).await {
                names = calendars::names_by_id(&calendars::known_calendars(&**port, &list));
            }
        }
        let label = labels.label_of(&account.id);
        let context = RowContext {
            zone,
            names: &names,
            room: RowRoom::One,
            ..ctx.context_for(port.api(), &label, account)
        };
        let mut rows = rows_of(&context, &EVENT, columns, &events, notes);
        assign_handles(ctx, &mut rows, account).await?;
        notes.extend(fill_rules(&mut rows, &events, &**port, &context).await);
        remember_events(ctx, &rows, events).await?;
        tables.push(rows);
    }
    let order = whole.events.iter().map(|one| one.account);
    Ok(RowTable::interleave(tables, order)
        .unwrap_or_else(|| RowTable::new(&EVENT, columns.to_vec())))
}

/// Fetches events by handles or ids, complete. A missing one among several is a
/// note; if all are missing, it is an error.
pub(super) async fn whole_events(
    ctx: &Context,
    ids: &[String],
    account: Option<&str>,
) -> Result<FetchedEvents> {
    let mut failed: Vec<(String, Error)> = Vec::new();
    // The accounts, each with the positions and ids requested from it.
    let mut groups: Vec<(Account, Vec<(usize, EventId)>)> = Vec::new();
    for (at, handle) in ids.iter().enumerate() {
        match event_target(ctx, handle, account).await {
            Ok((owner, id)) => {
                let group = groups.iter_mut().find(|(known, _)| known.id == owner.id);
                match group {
                    Some((_, group)) => group.push((at, id)),
                    None => groups.push((owner, vec![(at, id)])),
                }
            }
            // A bad id among several is a note.
            Err(error) => failed.push((text::brief(handle), error)),
        }
    }
    fetch_whole(ctx, ids, groups, failed).await
}

/// Fetches complete events. The group of each account has positions in `handles` and ids.
pub(super) async fn fetch_whole(
    ctx: &Context,
    handles: &[String],
    groups: Vec<(Account, Vec<(usize, EventId)>)>,
    mut failed: Vec<(String, Error)>,
) -> Result<FetchedEvents> {
    let several = groups.len() > 1;
    let answers = join_all(groups.iter().map(|(owner, group)| async move {
        let request = async {
            let port = ctx.connect.calendars(owner)?;
            let ids: Vec<EventId> = group.iter().map(|(_, id)| id.clone()).collect();
            let found = port.event(&ids).await;
            Ok((port, found))
        };
        ctx.await_account(several, request).await
    }))
    .await;
    let mut accounts = Vec::new();
    let mut found: Vec<(usize, FetchedEvent)> = Vec::new();
    for ((owner, group), answer) in groups.into_iter().zip(answers) {
        let name =
            |at: usize| handles.get(at).map_or_else(String::new, |handles| text::brief(handles));
        match answer {
            Ok((port, items)) => {
                let account = accounts.len();
                let mut items = items.into_iter();
                for (at, _) in group {
                    match items.next() {
                        Some(Ok(event)) => found.push((at, FetchedEvent { event, account })),
                        Some(Err(error)) => failed.push((name(at), error)),
                        None => failed.push((
                            name(at),
                            Error::new(ErrorKind::Internal, "an event was left without an answer"),
                        )),
                    }
                }
                accounts.push((owner, port));
            }
            Err(error) => {
                failed.extend(group.into_iter().map(|(at, _)| (name(at), error.clone())));
            }
        }
    }
    if let (true, Some((handles, error))) = (found.is_empty(), failed.first()) {
        return Err(error.clone().context(handles));
    }
    found.sort_by_key(|(at, _)| *at);
    Ok(FetchedEvents {
        accounts,
        events: found.into_iter().map(|(_, event)| event).collect(),
        notes: failed_line(&failed).into_iter().collect(),
    })
}

/// Returns the account and the provider's id of an event that is named by its
/// handle, or by that id.
pub(crate) async fn event_target(
    ctx: &Context,
    handle: &str,
    account: Option<&str>,
) -> Result<(Account, EventId)> {
    if let Some((owner, id)) = resolve_handle(ctx, HandleKind::Event, handle).await? {
        return Ok((owner_named(ctx, &owner, account).await?, id.into()));
    }
    if let (Some((kind, _)), 0..SHORTEST_ID) = (HandleKind::parse(handle), handle.len()) {
        let what = format!("{kind:?}").to_lowercase();
        return Err(Error::argument(format!("`{handle}` is a handle of kind {what}"))
            .next("give event ids, such as e7, from calendar_search"));
    }
    let fits = |account: &Account| ctx.connect.calendars(account)?.check_id(handle);
    let such = "e7 from calendar_search";
    Ok((owner_of_id(ctx, handle, account, fits, such).await?, handle.into()))
}
