//! The rows of changed, new and removed messages and events, as objects of the table `change`.

use daysheet_core::error::Result;
use daysheet_core::event::time::{self, EventTime, zone_label};
use daysheet_core::flatten::RowContext;
use daysheet_core::ids::AccountId;
use daysheet_core::provider::calendar::{ChangeFeed, ItemDifference};
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::wire;
use daysheet_core::text::{Note, counted};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::source::{ChangePosition, ChangedItem, SourceChanges, SourceKind};
use crate::outputs::hash;
use crate::pipeline::access::accounts::AccountLabels;
use crate::pipeline::context::Context;
use crate::pipeline::handles::assign_handles;
use crate::pipeline::rows::rows_of;
use crate::store::HandleKind;

/// The number of moved, and of cancelled, occurrences that a row names.
const NAMED: usize = 3;

/// The rows of an answer, and their common properties.
pub(super) struct ChangeRows<'p> {
    /// The labels of all accounts.
    pub(super) labels: &'p AccountLabels,
    /// The zone in which times are shown.
    pub(super) zone: &'p TimeZone,
    /// True if there are several accounts.
    pub(super) several: bool,
    /// The maximum number of rows.
    pub(super) limit: usize,
    /// The rows so far, as objects of the table `change`.
    pub(super) objects: Vec<Value>,
    /// The size of the services' objects, in bytes.
    pub(super) bytes: usize,
    /// The number of removed objects that were never shown.
    pub(super) unseen: usize,
    /// The notes on the plan and on the sources.
    pub(super) notes: Vec<Note>,
}

impl ChangeRows<'_> {
    /// Returns true if no further row fits.
    pub(super) fn is_full(&self) -> bool {
        self.objects.len() >= self.limit
    }

    /// Returns the label that rows of an account have; `None` if there is only one account.
    fn row_label(&self, account: &AccountId) -> Option<String> {
        self.several.then(|| self.labels.label_of(account))
    }
}

/// The objects of a page that no longer exist.
struct RemovedItems<'p> {
    /// The name of the change.
    change: &'static str,
    /// The provider's ids.
    ids: &'p [String],
}

/// Adds rows of a source's changes up to the limit, page by page, and advances its mark past the
/// pages that are shown completely. Returns true if all pages are.
pub(super) async fn add_changes(
    ctx: &Context,
    source: &SourceChanges,
    place: &mut ChangePosition,
    into: &mut ChangeRows<'_>,
) -> Result<bool> {
    for page in &source.pages {
        let unseen = into.unseen;
        let mut rows = page_rows(ctx, source, page, into).await?;
        let digest = |row: &Value| hash(&row.to_string());
        // A page that did not fit is fetched again from its beginning.
        rows.retain(|row| !place.shown.contains(&digest(row)));
        let room = into.limit.saturating_sub(into.objects.len());
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
    page: &ChangeFeed<ChangedItem>,
    into: &mut ChangeRows<'_>,
) -> Result<Vec<Value>> {
    let label = into.labels.label_of(&source.account.id);
    let columns = source.of.columns();
    let context = RowContext {
        names: &page.names,
        zone: into.zone,
        ..ctx.context_for(source.api, &label, &source.account)
    };
    let account = into.row_label(&source.account.id);
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
            let mut row = change_object(row, change, account.as_deref());
            let is_sent = source.of == SourceKind::Mail
                && row.get("folder").is_some_and(|folder| folder == "sent");
            // Some services report a sent message as a new one.
            if change == "new" && is_sent {
                set_member(&mut row, "change", Some("sent".to_owned()));
            }
            let difference = id.and_then(|id| page.differences.get(&id));
            let what = difference.map(|one| describe(one, into.zone));
            let what = what.or((change != "changed").then(String::new));
            set_member(&mut row, "what", what);
            objects.push(row);
        }
    }
    for (change, ids) in [("deleted", &page.gone_drafts), ("gone", &page.gone)] {
        let removed = RemovedItems { change, ids };
        objects.extend(removed_rows(ctx, source, page, removed, into).await?);
    }
    Ok(objects)
}

/// Returns the rows of removed objects that were shown before, or whose time is known.
async fn removed_rows(
    ctx: &Context,
    source: &SourceChanges,
    page: &ChangeFeed<ChangedItem>,
    removed: RemovedItems<'_>,
    into: &mut ChangeRows<'_>,
) -> Result<Vec<Value>> {
    let RemovedItems { change, ids } = removed;
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
        // Any other id means nothing to the reader, and is only counted.
        if known.contains_key(id) || start.is_some() {
            rows.insert_unread(usize::MAX, id);
            starts.push(start.map(|start| time::start(*start, into.zone)));
        } else {
            into.unseen += 1;
        }
    }
    assign_handles(ctx, &mut rows, &source.account).await?;
    let account = into.row_label(&source.account.id);
    let mut objects = Vec::new();
    for (row, start) in rows.rows().zip(starts) {
        let mut row = row.to_vec();
        recall_row(ctx, &mut row, start, into.zone);
        let mut row = change_object(&row, change, account.as_deref());
        set_member(&mut row, "what", Some(String::new()));
        objects.push(row);
    }
    Ok(objects)
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
            ("time", Some(was)) => format!("time (was {})", time::start(was, zone)),
            _ => word.clone(),
        })
        .collect();
    if difference.occurrences > 0 {
        parts.push(counted(difference.occurrences, "occurrence", "occurrences").to_string());
    }
    let start = |at: EventTime| time::start(at, zone);
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

/// Sets a member of an object.
fn set_member(object: &mut Value, key: &str, value: Option<String>) {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value.into());
    }
}

/// Converts a row of a message or an event to an object of the table `change`. `account` is its
/// label, if rows have one.
fn change_object(row: &[RowCell], change: &str, account: Option<&str>) -> Value {
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
    if let Some(account) = account {
        set_member(&mut object, "account", Some(account.to_owned()));
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

/// Returns a cell as a value of an object.
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
