//! `changes`: the changes in mail and calendars since a cursor.
//!
//! Every account has two sources, its mail and its calendars, and each source has its provider's
//! mark. A cursor holds all marks. A mark advances only when its changes are shown: changes that
//! did not fit, and the changes of an account that failed, are fetched again with the next cursor,
//! so that none are lost. Fetching is in [`source`], the rows are in [`rows`].

mod rows;
mod source;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::choice::WordChoice;
use daysheet_core::encode::Document;
use daysheet_core::error::{Error, Result};
use daysheet_core::event::time::zone_label;
use daysheet_core::ids::AccountId;
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{CHANGE, TableColumn};
use daysheet_core::text::{Note, NoteKey, counted, note, ours};
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::rows::{ChangeRows, add_changes};
use self::source::{ChangePosition, SourceChanges, SourceKind, fetch_source};
use super::access::accounts::{account_labels, named_or_all};
use crate::pipeline::answer::cursor::{load_cursor, save_cursor};
use crate::pipeline::context::Context;
use crate::pipeline::rows::rows_of;
use crate::tools::changes::ChangesRequest;

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

impl ChangesPlan {
    /// Returns true if its sources are of several accounts.
    fn has_several_accounts(&self) -> bool {
        let mut accounts = self.places.iter().map(|place| &place.account);
        let first = accounts.next();
        accounts.any(|account| Some(account) != first)
    }
}

pub(super) async fn changes(ctx: &Context, request: ChangesRequest) -> Result<WholeAnswer> {
    let mut notes = Vec::new();
    let mut plan = plan_changes(ctx, &request, &mut notes).await?;
    let labels = account_labels(ctx).await?;
    let zone = ctx.requested_zone(plan.tz.as_deref())?;
    let answers = fetch_sources(ctx, &plan).await?;
    // Read before the sources advance their marks.
    let is_first = plan.places.iter().all(|place| place.mark.is_none());
    let mut shown = ChangeRows {
        labels: &labels,
        zone: &zone,
        several: plan.has_several_accounts(),
        limit: plan.limit,
        objects: Vec::new(),
        bytes: 0,
        unseen: 0,
        notes,
    };
    let mut has_more = false;
    for (place, answer) in plan.places.iter_mut().zip(answers) {
        match answer {
            Ok(source) => has_more |= !add_source(ctx, &source, place, &mut shown).await?,
            Err(error) => shown.notes.push(failed_source(&shown, place, &error)),
        }
    }
    let (rows, mut notes) = change_rows(ctx, shown);
    let cursor = save_cursor(ctx, KIND, &plan).await?;
    let mut scalars = Vec::new();
    if !rows.is_empty() {
        scalars.push(("zone", RowCell::Text(zone_label(&zone))));
    }
    scalars.push(("next", RowCell::Handle('p', cursor)));
    let mut count = if is_first {
        format!("changes are tracked from now on; call again with cursor=p{cursor}")
    } else {
        format!("changes: {}; later ones with cursor=p{cursor}", rows.len())
    };
    if has_more {
        count.push_str(", which has more already");
    }
    notes.insert(0, note!("{}", ours(count)));
    Ok(WholeAnswer {
        document: Document { scalars, tables: vec![rows] },
        notes,
        ..WholeAnswer::default()
    })
}

/// Queries all sources of a plan.
///
/// # Errors
/// The first error, if all sources failed.
async fn fetch_sources(ctx: &Context, plan: &ChangesPlan) -> Result<Vec<Result<SourceChanges>>> {
    let limit = plan.limit;
    let answers = join_all(plan.places.iter().map(|place| async move {
        ctx.await_counted(Some("sources"), fetch_source(ctx, place, limit)).await
    }))
    .await;
    // An answer without any source would look like one without changes.
    match answers.first() {
        Some(Err(first)) if answers.iter().all(Result::is_err) => Err(first.clone()),
        _ => Ok(answers),
    }
}

/// Adds the rows of a source that responded, and the notes on it. Returns true if it has no further
/// changes.
async fn add_source(
    ctx: &Context,
    source: &SourceChanges,
    place: &mut ChangePosition,
    shown: &mut ChangeRows<'_>,
) -> Result<bool> {
    // No room: the mark stays, so these changes come with the next cursor.
    if shown.is_full() && source.has_changes() {
        return Ok(false);
    }
    let label = shown.labels.label_of(&place.account);
    if source.pages.iter().any(|page| page.started_over) {
        let line = note!(
            "{}, {}: the cursor was too old; earlier changes are unknown, later ones are \
             reported from now on",
            ours(&label),
            ours(place.of.word())
        );
        shown.notes.push(line.with_key(NoteKey::Missing));
    }
    for note in source.pages.iter().flat_map(|page| &page.notes) {
        shown.notes.push(note.under(ours(&label)));
    }
    let is_complete = add_changes(ctx, source, place, shown).await?;
    Ok(is_complete && !source.pages.last().is_some_and(|page| page.more))
}

/// Returns the note on a source that failed.
fn failed_source(shown: &ChangeRows<'_>, place: &ChangePosition, error: &Error) -> Note {
    let label = shown.labels.label_of(&place.account);
    let of = place.of.word();
    let line =
        note!("{}, {}: not included; retried on the next call: {}", ours(&label), ours(of), error);
    line.with_key(NoteKey::Missing)
}

/// Returns the table of the changes, with all notes.
fn change_rows(ctx: &Context, shown: ChangeRows<'_>) -> (RowTable, Vec<Note>) {
    let ChangeRows { objects, several, bytes, unseen, mut notes, .. } = shown;
    let changed = |row: &&Value| row.get("change").is_some_and(|change| change == "changed");
    let unknown = |row: &&Value| changed(row) && row.get("what").is_none_or(Value::is_null);
    let is_shown = |field: &&TableColumn| match field.name {
        "account" => several,
        "what" => objects.iter().any(|row| row.get("what") != Some(&"".into())),
        // Removed items have none.
        "flags" => objects.iter().any(|row| row.get("flags") != Some(&"".into())),
        _ => true,
    };
    let columns: Vec<_> = CHANGE.fields.iter().filter(is_shown).collect();
    match objects.iter().filter(unknown).count() {
        0 => {}
        count => notes.push(note!(
            "`what` is unknown for {} not tracked before",
            counted(count, "item", "items")
        )),
    }
    if unseen > 0 {
        let unseen = counted(
            unseen,
            "more item that was never shown is",
            "more items that were never shown are",
        );
        notes.push(note!("{} gone", unseen));
    }
    let mut rows = rows_of(&ctx.local(), &CHANGE, &columns, &objects, &mut notes);
    rows.made_from(bytes);
    (rows, notes)
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
                    plan.places.push(ChangePosition::new(account, of));
                }
            }
        }
        return Ok(plan);
    }
    let known = |id: &AccountId| accounts.iter().any(|account| account.id == *id);
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
            plan.places.extend(kinds.iter().map(|of| ChangePosition::new(&account, *of)));
        }
    }
    if plan.places.is_empty() {
        Err(Error::argument("no account of the cursor is still signed in")
            .next("call changes without cursor to start again"))
    } else {
        Ok(plan)
    }
}
