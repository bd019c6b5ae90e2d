//! The report of a change: the number of changed messages, the undo, and the messages not in the
//! expected state, with the reasons; for a few messages, also the changes of each.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::error::Result;
use daysheet_core::flatten::{self, RowContext};
use daysheet_core::ids::{FolderId, MessageId};
use daysheet_core::project::project;
use daysheet_core::provider::mail::{MailState, MessageFlag};
use daysheet_core::provider::{BodyForm, MailCapabilities, Mailbox};
use daysheet_core::query;
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{ColumnLevel, MESSAGE, MODIFIED, TableColumn};
use daysheet_core::text::{Note, note, ours};
use futures_util::future::join_all;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::chosen::MessageChoice;
use super::work::{AccountBatch, MessageChange, MessageOutcome, grouped};
use crate::pipeline::context::Context;
use crate::pipeline::handles::{assign_handles, handle_after};
use crate::pipeline::mail::subjects::subjects_of;
use crate::pipeline::rows::rows_of;
use crate::pipeline::write::report::{DRY_RUN, ItemOutcome, outcome_rows};
use crate::store::HandleKind;

/// The number of messages shown before a change is carried out.
const SHOWN: usize = 5;
/// Their columns.
const COLUMNS: &[&str] = &["id", "from", "subject"];
/// The number of handles that one outcome names.
const NAMED: usize = 5;
/// The maximum number of changed messages that have a row each; more are counted.
const ROWS: usize = 10;

/// The parts of a report in addition to the messages.
pub(super) struct ChangeReport {
    pub(super) op: &'static str,
    pub(super) undo: Option<u64>,
    pub(super) dry_run: bool,
    /// Subjects by the ids of messages; `None` if there are too many for rows.
    pub(super) subjects: Option<HashMap<MessageId, String>>,
}

impl ChangeReport {
    /// Returns the scalar that counts the changed messages, and their outcome.
    fn success(&self) -> (&'static str, MessageOutcome) {
        match (self.dry_run, self.op) {
            (true, _) => ("planned", MessageOutcome::Planned),
            (false, "undo") => ("undone", MessageOutcome::Done),
            (false, _) => ("done", MessageOutcome::Done),
        }
    }

    /// Returns the number of messages that were changed, or that would be.
    fn count(&self, works: &[AccountBatch]) -> usize {
        let (_, outcome) = self.success();
        works.iter().map(|one| one.count(outcome)).sum()
    }
}

/// Returns the response about a change.
pub(super) async fn report_changes(
    ctx: &Context,
    works: Vec<AccountBatch>,
    choice: MessageChoice,
    report: ChangeReport,
) -> Result<WholeAnswer> {
    let mut response = WholeAnswer::default();
    let several = works.len() > 1;
    let done = report.count(&works);
    add_counts(&works, &report, &mut response);
    if report.dry_run {
        add_planned_rows(ctx, &works, done, &mut response).await?;
    }
    if let (Some(subjects), 1..=ROWS) = (&report.subjects, done) {
        let rows = changed_rows(ctx, &works, subjects, several).await?;
        response.document.tables.extend(Some(rows).filter(|rows| !rows.is_empty()));
    }
    if several {
        response.notes.extend(works.iter().map(|work| account_line(work, &report)));
    }
    let failed = choice.failed.iter();
    let mut outcomes: Vec<ItemOutcome> =
        failed.map(|(name, error)| ItemOutcome::failed(name, report.op, error)).collect();
    for work in &works {
        outcomes.append(&mut unmet_outcomes(ctx, work, report.op, &mut response.notes).await);
    }
    let rows = outcome_rows(ctx, &outcomes);
    if !rows.is_empty() {
        response.document.tables.push(rows);
    }
    if let Some(left) = &choice.left {
        response.notes.push(note!("{}: call again for them", ours(&left)));
    }
    response.notes.extend(limits_of(&works, &report));
    let none = works.iter().all(|one| one.changes.is_empty() && one.unchanged == 0);
    if none && outcomes.is_empty() {
        response.notes.push("no message was found".into());
    }
    response.notes.extend(choice.notes);
    Ok(response)
}

/// Adds the numbers of changed and unchanged messages, and the undo.
fn add_counts(works: &[AccountBatch], report: &ChangeReport, response: &mut WholeAnswer) {
    let number = |count: usize| RowCell::Count(i64::try_from(count).unwrap_or(i64::MAX));
    let done = report.count(works);
    let unchanged: usize = works.iter().map(|one| one.unchanged).sum();
    let scalars = &mut response.document.scalars;
    scalars.push((report.success().0, number(done)));
    if unchanged > 0 {
        scalars.push(("unchanged", number(unchanged)));
        if done == 0 && report.op != "undo" {
            response.notes.push(note!("unchanged: already as do={} would leave them", report.op));
        }
    }
    if let Some(undo) = report.undo {
        scalars.push(("undo", RowCell::Handle(HandleKind::Undo.prefix(), undo)));
    }
}

/// Adds the first of the messages that a dry run would change.
async fn add_planned_rows(
    ctx: &Context,
    works: &[AccountBatch],
    planned: usize,
    response: &mut WholeAnswer,
) -> Result<()> {
    response.notes.push(DRY_RUN.into());
    let rows = first_rows(ctx, works, works.len() > 1).await?;
    if rows.is_empty() {
        return Ok(());
    }
    if planned > rows.len() {
        let shown = rows.len();
        response.notes.push(note!("the first {} of {} are shown", ours(shown), ours(planned)));
    }
    response.document.tables.push(rows);
    Ok(())
}

/// Returns the note with the numbers of one account of several.
fn account_line(work: &AccountBatch, report: &ChangeReport) -> Note {
    let (word, outcome) = report.success();
    let unchanged = match work.unchanged {
        0 => String::new(),
        some => format!(", {some} unchanged"),
    };
    let label = &work.chosen.label;
    note!("{}: {} {}{}", ours(&label), ours(work.count(outcome)), ours(word), ours(unchanged))
}

/// Returns the notes on the limits of a change: spam that is not reported, and a missing undo.
fn limits_of(works: &[AccountBatch], report: &ChangeReport) -> Vec<Note> {
    let mut notes = Vec::new();
    if report.op == "spam" {
        let names = works.iter().map(|work| work.chosen.mailbox.capabilities());
        let names: BTreeSet<_> =
            names.filter(|can| !can.spam_reports).map(|can| can.name).collect();
        let line = |name| note!("{} only moves it to spam: reports need its own apps", name);
        notes.extend(names.into_iter().map(line));
    }
    if !report.dry_run && report.count(works) > 0 {
        match report.op {
            "delete" => notes.push("permanently deleted: there is no undo".into()),
            "copy" => notes.push("no undo: trash or unlabel the copies instead".into()),
            _ => {}
        }
    }
    notes
}

/// Returns the sender and subject of the first messages to change: a line for each.
pub(super) async fn first_lines(ctx: &Context, works: &[AccountBatch]) -> Result<Vec<String>> {
    let rows = first_rows(ctx, works, false).await?;
    let text = |cell: Option<&RowCell>| match cell {
        Some(RowCell::Text(text)) => text.clone(),
        _ => String::new(),
    };
    let line = |row: &[RowCell]| format!("{}: {}", text(row.get(1)), text(row.get(2)));
    Ok(rows.rows().map(line).collect())
}

/// Returns the messages not in the expected state, those with the same reason together.
async fn unmet_outcomes(
    ctx: &Context,
    work: &AccountBatch,
    op: &'static str,
    notes: &mut Vec<Note>,
) -> Vec<ItemOutcome> {
    let alike = work.misses.iter().map(|miss| ((miss.result, miss.why.clone()), miss.id.as_str()));
    let mut outcomes = Vec::new();
    for ((result, why), ids) in grouped(alike) {
        let shown: Vec<&str> = ids.iter().copied().take(NAMED).collect();
        let kind = HandleKind::Message;
        let account = &work.chosen.account;
        let mut handles = Vec::new();
        for id in shown {
            handles.push(handle_after(ctx, account, kind, id, notes).await);
        }
        let handles = handles.join(" ");
        let item = match ids.len() {
            few if few <= NAMED => handles,
            many => format!("{many} messages, {handles} and others"),
        };
        outcomes.push(ItemOutcome::new(item, op, result, why));
    }
    outcomes
}

/// Returns the changed messages with their changes. A copied message itself is unchanged.
async fn changed_rows(
    ctx: &Context,
    works: &[AccountBatch],
    subjects: &HashMap<MessageId, String>,
    several: bool,
) -> Result<RowTable> {
    let mut columns = MODIFIED.up_to(ColumnLevel::Key);
    columns.extend(MODIFIED.field("account").filter(|_| several));
    let mut rows = RowTable::new(&MODIFIED, columns.clone());
    for work in works {
        let can = work.chosen.mailbox.capabilities();
        let changed: Vec<&MessageChange> = work
            .changes
            .iter()
            // A copy does not change its original, which therefore has no row.
            .filter(|one| {
                one.outcome == MessageOutcome::Done && one.now.as_ref() != Some(&one.before)
            })
            .collect();
        // Names take a request. If it fails, rows show ids, because the change is already made.
        let names = if changed.iter().any(|one| needs_names(one, can)) {
            work.chosen.mailbox.names().await.unwrap_or_default()
        } else {
            HashMap::new()
        };
        let words = StateWords { can, names: &names, zone: &ctx.config.zone };
        let objects: Vec<Value> = changed
            .into_iter()
            .map(|one| {
                let [before, after] = words.difference(&one.before, one.now.as_ref());
                let id = one.now.as_ref().map_or(&one.before.id, |now| &now.id);
                let subject = subjects.get(&one.before.id);
                json!({"id": id, "subject": subject, "before": before, "after": after})
            })
            .collect();
        let context = RowContext { account: &work.chosen.label, ..ctx.local() };
        let mut some = rows_of(&context, &MODIFIED, &columns, &objects, &mut Vec::new());
        assign_handles(ctx, &mut some, &work.chosen.account).await?;
        rows.append(some);
    }
    Ok(rows)
}

/// Returns rows of the first messages to change.
async fn first_rows(ctx: &Context, works: &[AccountBatch], several: bool) -> Result<RowTable> {
    let mut columns: Vec<&'static TableColumn> =
        COLUMNS.iter().filter_map(|name| MESSAGE.field(name)).collect();
    columns.extend(MESSAGE.field("account").filter(|_| several));
    let mut rows = RowTable::new(&MESSAGE, columns.clone());
    for work in works {
        let room = SHOWN.saturating_sub(rows.len());
        let ids: Vec<MessageId> =
            work.changes.iter().take(room).map(|change| change.before.id.clone()).collect();
        if ids.is_empty() {
            continue;
        }
        let mailbox = &work.chosen.mailbox;
        let projection = project(mailbox.api(), &columns);
        let messages = mailbox.read_messages(&ids, &projection, BodyForm::None).await;
        // A message that cannot be read is left out here, but is changed like the others.
        let items: Vec<_> =
            messages.into_iter().filter_map(|message| Some(message.ok()?.item)).collect();
        let context = ctx.context_for(mailbox.api(), &work.chosen.label, &work.chosen.account);
        let mut some = rows_of(&context, &MESSAGE, &columns, &items, &mut Vec::new());
        assign_handles(ctx, &mut some, &work.chosen.account).await?;
        rows.append(some);
    }
    Ok(rows)
}

/// Returns the subjects of messages by their ids; those that cannot be read are left out. `None`
/// if there are too many messages for rows.
pub(super) async fn subjects(
    messages: Vec<(Arc<dyn Mailbox>, Vec<MessageId>)>,
) -> Option<HashMap<MessageId, String>> {
    if messages.iter().map(|(_, ids)| ids.len()).sum::<usize>() > ROWS {
        return None;
    }
    let read = messages.iter().map(|(mailbox, ids)| subjects_of(&**mailbox, ids));
    Some(join_all(read).await.into_iter().flatten().collect())
}

/// Returns true if words for a change need the names of folders or labels.
fn needs_names(change: &MessageChange, can: &MailCapabilities) -> bool {
    let is_system =
        |id: &str| id.is_empty() || can.system_labels.iter().any(|(_, known)| *known == id);
    let (before, after) = (&change.before, change.now.as_ref().unwrap_or(&change.before));
    before.labels != after.labels
        || !is_system(before.folder.as_str())
        || !is_system(after.folder.as_str())
}

/// The words for the states of messages of one account.
struct StateWords<'a> {
    can: &'a MailCapabilities,
    names: &'a HashMap<String, String>,
    zone: &'a TimeZone,
}

impl StateWords<'_> {
    /// Returns the differences between two states, in words: before, and after.
    fn difference(&self, before: &MailState, after: Option<&MailState>) -> [String; 2] {
        let Some(after) = after else {
            return [self.folder(before.folder.as_str()), "deleted".to_owned()];
        };
        let side = |one: &MailState, other: &MailState| {
            let mut words = Vec::new();
            if one.folder != other.folder {
                words.push(self.folder(one.folder.as_str()));
            }
            let other_labels: &BTreeSet<FolderId> = &other.labels;
            words
                .extend(one.labels.difference(other_labels).map(|label| self.name(label.as_str())));
            if one.unread != other.unread {
                words.push(if one.unread { "unread" } else { "read" }.to_owned());
            }
            if one.flag != other.flag {
                words.push(self.flag(&one.flag));
            }
            words.join(", ")
        };
        [side(before, after), side(after, before)]
    }

    fn folder(&self, id: &str) -> String {
        // An archived message has no folder where folders are system labels.
        if id.is_empty() {
            return "archive".to_owned();
        }
        let system = self.can.system_labels.iter().find(|(_, known)| *known == id);
        system.map_or_else(|| self.name(id), |(word, _)| (*word).to_owned())
    }

    fn name(&self, id: &str) -> String {
        if let Some(name) = self.names.get(id) {
            return name.clone();
        }
        let word = query::place(id);
        // A system label that is a state, such as `IMPORTANT`, has no name in rows. A category is
        // its own id.
        if self.can.has_labels() { word.to_lowercase() } else { word }
    }

    fn flag(&self, flag: &MessageFlag) -> String {
        match flag {
            MessageFlag::None => "no flag".to_owned(),
            MessageFlag::Set { due: None } => "starred".to_owned(),
            MessageFlag::Set { due: Some(due) } => {
                format!("starred, due {}", flatten::minute(*due, self.zone))
            }
            MessageFlag::Done => "done".to_owned(),
        }
    }
}
