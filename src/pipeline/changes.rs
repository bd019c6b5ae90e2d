//! `changes`: the changes in mail and calendars since a cursor.
//!
//! Every account has two sources, its mail and its calendars, and each source has its provider's
//! mark. A cursor holds all marks. A mark advances only when its changes are shown: changes that
//! did not fit, and the changes of an account that failed, are fetched again with the next cursor,
//! so that none are lost.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::choice::{WordChoice, words};
use daysheet_core::encode::Document;
use daysheet_core::error::{Error, Result};
use daysheet_core::event_time::{self, EventTime, zone_label};
use daysheet_core::flatten::RowContext;
use daysheet_core::project::project;
use daysheet_core::provider::Account;
use daysheet_core::provider::calendar::{ChangeFeed, ItemDifference};
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{CHANGE, EVENT, MESSAGE, Service, Table, TableColumn, wire};
use daysheet_core::text::{Note, NoteKey, counted, note, ours};
use futures_util::future::join_all;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::access::accounts::{AccountLabels, account_labels, named_or_all};
use super::times::requested_zone;
use crate::outputs::hash;
use crate::pipeline::answer::cursor::{load_cursor, save_cursor};
use crate::pipeline::context::Context;
use crate::pipeline::handles::assign_handles;
use crate::pipeline::rows::rows_of;
use crate::store::HandleKind;
use crate::tools::changes::ChangesRequest;

/// The maximum number of pages that one call fetches from one source.
const MAX_PAGES: usize = 10;
/// The number of moved, and of cancelled, occurrences that a row names.
const NAMED: usize = 3;
/// The kind of its cursors.
const KIND: &str = "changes";

/// The positions of all sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ChangesPlan {
    limit: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tz: Option<String>,
    /// True if an account was named: others are not added later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    named: bool,
    places: Vec<ChangePosition>,
}

/// The position of one source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ChangePosition {
    account: String,
    of: SourceKind,
    /// The provider's mark; `None` before the first query.
    mark: Option<String>,
    /// Digests of the rows after the mark that have been shown: a page of changes may have more
    /// than `limit`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shown: Vec<String>,
}

words! {
    /// The content of a source.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum SourceKind {
        Mail = "mail",
        Events = "calendars",
    }
}

impl SourceKind {
    fn table(self) -> &'static Table {
        match self {
            Self::Mail => &MESSAGE,
            Self::Events => &EVENT,
        }
    }

    /// Returns the columns that the rows of changes are made of: key, time, person,
    /// subject, flags, folder.
    fn columns(self) -> Vec<&'static TableColumn> {
        let names = match self {
            Self::Mail => ["id", "date", "from", "subject", "flags", "folder"],
            Self::Events => ["id", "start", "organizer", "title", "flags", "calendar"],
        };
        let table = self.table();
        names.iter().filter_map(|name| table.field(name)).collect()
    }
}

/// The rows of an answer, and their common properties.
struct ChangeRows<'p> {
    labels: &'p AccountLabels,
    zone: &'p TimeZone,
    several: bool,
    objects: Vec<Value>,
    bytes: usize,
    /// The number of removed objects that were never shown.
    unseen: usize,
}

/// The result of one source.
struct SourceChanges {
    account: Account,
    api: Service,
    of: SourceKind,
    pages: Vec<ChangeFeed>,
}

pub(super) async fn changes(ctx: &Context, request: ChangesRequest) -> Result<WholeAnswer> {
    let mut notes = Vec::new();
    let mut plan = plan_changes(ctx, &request, &mut notes).await?;
    let labels = account_labels(ctx).await?;
    let zone = requested_zone(ctx, plan.tz.as_deref())?;
    let several = plan
        .places
        .iter()
        .any(|place| plan.places.first().map(|first| &first.account) != Some(&place.account));
    let limit = plan.limit;
    let answers = join_all(plan.places.iter().map(|place| async move {
        ctx.await_counted(Some("sources"), fetch_source(ctx, place, limit)).await
    }))
    .await;
    if let (Some(Err(first)), true) = (answers.first(), answers.iter().all(Result::is_err)) {
        return Err(first.clone());
    }

    let first_time = plan.places.iter().all(|place| place.mark.is_none());
    let mut shown = ChangeRows {
        labels: &labels,
        zone: &zone,
        several,
        objects: Vec::new(),
        bytes: 0,
        unseen: 0,
    };
    let mut waiting = 0;
    for (place, answer) in plan.places.iter_mut().zip(answers) {
        let label = labels.of(&place.account);
        let source = match answer {
            Ok(source) => source,
            Err(error) => {
                let of = place.of.word();
                let line = note!(
                    "{}, {}: not included; retried on the next call: {}",
                    ours(&label),
                    ours(of),
                    error
                );
                notes.push(line.with_key(NoteKey::Missing));
                continue;
            }
        };
        // No room: the mark stays, so these changes come with the next cursor.
        if shown.objects.len() >= limit && source.pages.iter().any(has_changes) {
            waiting += 1;
            continue;
        }
        if source.pages.iter().any(|page| page.started_over) {
            let line = note!(
                "{}, {}: the cursor was too old; earlier changes are unknown, later ones are \
                 reported from now on",
                ours(&label),
                ours(place.of.word())
            );
            notes.push(line.with_key(NoteKey::Missing));
        }
        for note in source.pages.iter().flat_map(|page| &page.notes) {
            notes.push(note.under(ours(&label)));
        }
        let is_complete = add_changes(ctx, &source, place, limit, &mut shown).await?;
        if !is_complete || source.pages.last().is_some_and(|page| page.more) {
            waiting += 1;
        }
    }

    let changed = |row: &&Value| row.get("change").is_some_and(|change| change == "changed");
    let unknown = |row: &&Value| changed(row) && row.get("what").is_none_or(Value::is_null);
    let is_shown = |field: &&TableColumn| match field.name {
        "account" => several,
        "what" => shown.objects.iter().any(|row| row.get("what") != Some(&"".into())),
        // Removed items have none.
        "flags" => shown.objects.iter().any(|row| row.get("flags") != Some(&"".into())),
        _ => true,
    };
    let columns: Vec<_> = CHANGE.fields.iter().filter(is_shown).collect();
    match shown.objects.iter().filter(unknown).count() {
        0 => {}
        count => notes.push(note!(
            "`what` is unknown for {} not tracked before",
            counted(count, "item", "items")
        )),
    }
    if shown.unseen > 0 {
        let unseen = counted(
            shown.unseen,
            "more item that was never shown is",
            "more items that were never shown are",
        );
        notes.push(note!("{} gone", unseen));
    }
    let mut rows = rows_of(&ctx.local(), &CHANGE, &columns, &shown.objects, &mut notes);
    rows.made_from(shown.bytes);
    let cursor = save_cursor(ctx, KIND, &plan).await?;
    let mut scalars = Vec::new();
    if !rows.is_empty() {
        scalars.push(("zone", RowCell::Text(zone_label(&zone))));
    }
    scalars.push(("next", RowCell::Handle('p', cursor)));
    let mut count = if first_time {
        format!("changes are tracked from now on; call again with cursor=p{cursor}")
    } else {
        format!("changes: {}; later ones with cursor=p{cursor}", rows.len())
    };
    if waiting > 0 {
        count.push_str(", which has more already");
    }
    notes.insert(0, note!("{}", ours(count)));
    Ok(WholeAnswer {
        document: Document { scalars, tables: vec![rows] },
        notes,
        ..WholeAnswer::default()
    })
}

/// Returns the positions of all sources: from the cursor, or none yet.
async fn plan_changes(
    ctx: &Context,
    request: &ChangesRequest,
    notes: &mut Vec<Note>,
) -> Result<ChangesPlan> {
    let mut plan = match &request.cursor {
        Some(cursor) => load_cursor(ctx, KIND, cursor).await?,
        None => {
            let named = request.account.is_some();
            ChangesPlan { limit: 100, tz: None, named, places: Vec::new() }
        }
    };
    if let Some(limit) = request.limit {
        plan.limit = usize::try_from(limit).unwrap_or(usize::MAX);
    }
    if request.tz.is_some() {
        plan.tz.clone_from(&request.tz);
    }
    let accounts = named_or_all(ctx, request.account.as_deref()).await?;
    if request.cursor.is_none() {
        for account in &accounts {
            for (of, included) in
                [(SourceKind::Mail, request.mail()), (SourceKind::Events, request.events())]
            {
                if included {
                    plan.places.push(ChangePosition {
                        account: account.id.clone(),
                        of,
                        mark: None,
                        shown: Vec::new(),
                    });
                }
            }
        }
        return Ok(plan);
    }
    let known = |id: &str| accounts.iter().any(|account| account.id == id);
    if request.account.is_some() && plan.places.iter().any(|place| !known(&place.account)) {
        return Err(Error::argument("the cursor covers other accounts too")
            .next("give the cursor alone, or start again for that account"));
    }
    let before = plan.places.len();
    plan.places.retain(|place| known(&place.account));
    if plan.places.len() < before {
        notes.push("an account of the cursor is no longer signed in".into());
    }
    // Sources added since are included from now on.
    let kinds: Vec<SourceKind> = [SourceKind::Mail, SourceKind::Events]
        .into_iter()
        .filter(|of| plan.places.iter().any(|place| place.of == *of))
        .collect();
    if request.account.is_none() && !plan.named {
        for account in accounts {
            if plan.places.iter().any(|place| place.account == account.id) {
                continue;
            }
            notes.push(note!(
                "{} is new: its changes are tracked from now on",
                ours(&account.email)
            ));
            plan.places.extend(kinds.iter().map(|of| ChangePosition {
                account: account.id.clone(),
                of: *of,
                mark: None,
                shown: Vec::new(),
            }));
        }
    }
    if plan.places.is_empty() {
        Err(Error::argument("no account of the cursor is still signed in")
            .next("call changes without cursor to start again"))
    } else {
        Ok(plan)
    }
}

/// Queries one source, page by page, until its end or until there is enough.
async fn fetch_source(
    ctx: &Context,
    place: &ChangePosition,
    limit: usize,
) -> Result<SourceChanges> {
    let account = ctx.accounts.by_id(&place.account).await?;
    let columns = place.of.columns();
    let mut pages: Vec<ChangeFeed> = Vec::new();
    let mut mark = place.mark.clone();
    let api = loop {
        let (api, page) = match place.of {
            SourceKind::Mail => {
                let mailbox = ctx.connect.mailbox(&account)?;
                let api = mailbox.api();
                let projection = project(api, &columns);
                (api, mailbox.changes(mark.as_deref(), &projection).await?)
            }
            SourceKind::Events => {
                let calendars = ctx.connect.calendars(&account)?;
                let api = calendars.api();
                let projection = project(api, &columns);
                (api, calendars.changes(mark.as_deref(), &projection).await?)
            }
        };
        mark = Some(page.cursor.clone());
        let more = page.more;
        pages.push(page);
        let count: usize = pages.iter().map(count).sum();
        // Enough for one answer or one call; the rest follows with the next cursor.
        if !more || count >= limit || pages.len() >= MAX_PAGES {
            break api;
        }
    };
    Ok(SourceChanges { account, api, of: place.of, pages })
}

/// Adds rows of a source's changes up to the limit, page by page, and advances its mark past the
/// pages that are shown completely. Returns true if all pages are.
async fn add_changes(
    ctx: &Context,
    source: &SourceChanges,
    place: &mut ChangePosition,
    limit: usize,
    into: &mut ChangeRows<'_>,
) -> Result<bool> {
    for page in &source.pages {
        let unseen = into.unseen;
        let mut rows = page_rows(ctx, source, page, into).await?;
        let digest = |row: &Value| hash(&row.to_string());
        rows.retain(|row| !place.shown.contains(&digest(row)));
        let room = limit.saturating_sub(into.objects.len());
        if rows.len() > room {
            rows.truncate(room);
            // They are counted with the last rows of the page.
            into.unseen = unseen;
            place.shown.extend(rows.iter().map(digest));
            into.objects.append(&mut rows);
            return Ok(false);
        }
        into.objects.append(&mut rows);
        // Only now that its changes are shown, so that none is lost.
        place.mark = Some(page.cursor.clone());
        place.shown.clear();
    }
    Ok(true)
}

/// Returns the rows of a page of changes, as objects of ours.
async fn page_rows(
    ctx: &Context,
    source: &SourceChanges,
    page: &ChangeFeed,
    into: &mut ChangeRows<'_>,
) -> Result<Vec<Value>> {
    let label = into.labels.of(&source.account.id);
    let columns = source.of.columns();
    let context = RowContext {
        names: &page.names,
        zone: into.zone,
        ..ctx.context_for(source.api, &label, &source.account)
    };
    let mut objects = Vec::new();
    for (change, items) in [
        ("new", &page.new),
        ("changed", &page.changed),
        ("sent", &page.sent),
        ("deleted", &page.deleted),
    ] {
        let mut rows = rows_of(&context, source.of.table(), &columns, items, &mut Vec::new());
        into.bytes += rows.source_bytes();
        // Cells are cut, and counted, where they are shown.
        rows.show_whole();
        let ids: Vec<Option<String>> =
            rows.extras().iter().map(|extra| extra.provider_id.clone()).collect();
        assign_handles(ctx, &mut rows, &source.account).await?;
        for (row, id) in rows.rows().zip(ids) {
            let mut row = object(row, change, &label, into.several);
            let is_sent = source.of == SourceKind::Mail
                && row.get("folder").is_some_and(|folder| folder == "sent");
            // Some services report a sent message as a new one.
            if change == "new" && is_sent {
                put(&mut row, "change", Some("sent".to_owned()));
            }
            let difference = id.and_then(|id| page.differences.get(&id));
            let what = difference.map(|one| describe(one, into.zone));
            let what = what.or((change != "changed").then(String::new));
            put(&mut row, "what", what);
            objects.push(row);
        }
    }
    for (change, ids) in [("deleted", &page.gone_drafts), ("gone", &page.gone)] {
        add_gone(ctx, source, page, (change, ids), &mut objects, into).await?;
    }
    Ok(objects)
}

/// Adds the rows of removed objects that were shown before, or whose time is known.
async fn add_gone(
    ctx: &Context,
    source: &SourceChanges,
    page: &ChangeFeed,
    (change, ids): (&str, &[String]),
    objects: &mut Vec<Value>,
    into: &mut ChangeRows<'_>,
) -> Result<()> {
    let label = into.labels.of(&source.account.id);
    let kind = match source.of {
        SourceKind::Mail => HandleKind::Message,
        SourceKind::Events => HandleKind::Event,
    };
    let keys: Vec<&str> = ids.iter().map(String::as_str).collect();
    let known = ctx.store.known_handles(&source.account.id, kind, &keys).await?;
    let mut rows = RowTable::new(source.of.table(), source.of.columns());
    let mut starts = Vec::new();
    for id in ids {
        let start = page.starts.get(id);
        if known.contains_key(id) || start.is_some() {
            rows.insert_unread(usize::MAX, id);
            starts.push(start.map(|start| event_time::start(*start, into.zone)));
        } else {
            into.unseen += 1;
        }
    }
    assign_handles(ctx, &mut rows, &source.account).await?;
    for (row, start) in rows.rows().zip(starts) {
        let mut row = row.to_vec();
        recall_row(ctx, &mut row, start, into.zone);
        let mut row = object(&row, change, &label, into.several);
        put(&mut row, "what", Some(String::new()));
        objects.push(row);
    }
    Ok(())
}

/// Completes the row of a deleted object from the row shown before. A time that was shown in
/// another zone is left out, unless the service gave it as `start`.
fn recall_row(ctx: &Context, row: &mut [RowCell], start: Option<String>, zone: &TimeZone) {
    let [RowCell::Handle(kind, number), when, who, title, ..] = row else {
        return;
    };
    if let Some(shown) = ctx.states.shown.find(&format!("{kind}{number}")) {
        let same = shown.zone.is_none_or(|shown| shown == zone_label(zone));
        [*when, *who, *title] = shown.cells;
        if !same {
            *when = RowCell::Null;
        }
    }
    // The service's time is current; the row may have been shown before the event was moved.
    if let Some(start) = start {
        *when = RowCell::Text(start);
    }
}

/// Describes the differences between an item and its earlier state.
fn describe(difference: &ItemDifference, zone: &TimeZone) -> String {
    let mut parts: Vec<String> = difference
        .words
        .iter()
        .map(|word| match (word.as_str(), difference.was) {
            ("time", Some(was)) => format!("time (was {})", event_time::start(was, zone)),
            _ => word.clone(),
        })
        .collect();
    if difference.occurrences > 0 {
        parts.push(counted(difference.occurrences, "occurrence", "occurrences").to_string());
    }
    let start = |at: EventTime| event_time::start(at, zone);
    let mut moved = difference.moved.clone();
    moved.sort_by_key(|(was, _)| was.instant(zone));
    let moved = moved.into_iter().map(|(was, now)| format!("{} to {}", start(was), start(now)));
    let mut cancelled = difference.cancelled.clone();
    cancelled.sort_by_key(|start| start.instant(zone));
    let cancelled = cancelled.into_iter().map(start);
    for (word, mut named) in
        [("moved", moved.collect::<Vec<_>>()), ("cancelled", cancelled.collect())]
    {
        let more = named.len().saturating_sub(NAMED);
        named.truncate(NAMED);
        named.extend((more > 0).then(|| format!("+{more}")));
        if !named.is_empty() {
            parts.push(format!("{word} {}", named.join(", ")));
        }
    }
    if parts.is_empty() { "details".to_owned() } else { parts.join(", ") }
}

/// Adds a member to an object.
fn put(object: &mut Value, key: &str, value: Option<String>) {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value.into());
    }
}

fn has_changes(page: &ChangeFeed) -> bool {
    count(page) > 0
}

fn count(page: &ChangeFeed) -> usize {
    let items = [&page.new, &page.changed, &page.sent, &page.deleted];
    let ids = [&page.gone, &page.gone_drafts];
    let items: usize = items.map(Vec::len).iter().sum();
    items + ids.map(Vec::len).iter().sum::<usize>()
}

/// Converts a row of a message or an event to an object of the table `change`.
fn object(row: &[RowCell], change: &str, label: &str, several: bool) -> Value {
    let [id, when, who, title, flags, folder] = row else {
        return Value::Null;
    };
    let mut object = json!({
        "id": cell_value(id),
        "change": change,
        "when": cell_value(when),
        "who": person(who),
        "title": cell_value(title),
        "flags": match flags {
            RowCell::Text(flags) => flags,
            _ => "",
        },
        "folder": cell_value(folder),
    });
    if let (true, Some(object)) = (several, object.as_object_mut()) {
        object.insert("account".to_owned(), label.into());
    }
    object
}

/// Returns a sender or organizer in the form that the registry's sources read.
fn person(cell: &RowCell) -> Value {
    let parts = match cell {
        RowCell::Text(text) => text.strip_suffix('>').and_then(|text| text.rsplit_once(" <")),
        _ => None,
    };
    let Some((name, email)) = parts else {
        return cell_value(cell);
    };
    let (key, (named, address)) = (wire::RECIPIENT, wire::ADDRESS);
    json!({ key: { named: name, address: email } })
}

fn cell_value(cell: &RowCell) -> Value {
    match cell {
        RowCell::Null => Value::Null,
        // A deleted object has no texts, whatever it had before.
        RowCell::Text(text) if text.is_empty() => Value::Null,
        RowCell::Flag(flag) => (*flag).into(),
        RowCell::Count(count) => (*count).into(),
        RowCell::Text(text) | RowCell::Id(text) => text.as_str().into(),
        RowCell::Handle(kind, number) => format!("{kind}{number}").into(),
    }
}
