//! The report of a change: how many messages are done, how to undo it, and which are
//! not in the expected state and why.

use super::{Choice, Turn, Work, grouped};
use crate::error::Result;
use crate::pipeline::answer::outcome::Outcome;
use crate::pipeline::{Pipeline, Response, rows_of};
use crate::project::project;
use crate::provider::BodyForm;
use crate::row::{Cell, RowTable};
use crate::schemas::{Field, MESSAGE};
use crate::store::HandleKind;
use crate::text::{Note, note, ours};

/// Messages shown before a change is carried out.
const SHOWN: usize = 5;
/// Their columns.
const COLUMNS: &[&str] = &["id", "from", "subject"];
/// The note of a dry run on what cannot be undone.
pub(in crate::pipeline) const ASK_BEFORE: &str =
    "the user is asked first, where possible, and there is no undo";
/// The number of handles that one outcome names.
const NAMED: usize = 5;

impl Pipeline {
    pub(super) async fn report_changes(
        &self,
        works: Vec<Work>,
        op: &'static str,
        choice: Choice,
        undo: Option<u64>,
        dry_run: bool,
    ) -> Result<Response> {
        let mut response = Response::default();
        let several = works.len() > 1;
        let (word, turn) = match dry_run {
            true => ("planned", Turn::Planned),
            false => ("done", Turn::Done),
        };
        let number = |count: usize| Cell::Count(i64::try_from(count).unwrap_or(i64::MAX));
        let done: usize = works.iter().map(|one| one.count(turn)).sum();
        let unchanged: usize = works.iter().map(|one| one.unchanged).sum();
        let scalars = &mut response.document.scalars;
        scalars.push((word, number(done)));
        if unchanged > 0 {
            scalars.push(("unchanged", number(unchanged)));
        }
        if let Some(undo) = undo {
            scalars.push(("undo", Cell::Handle(HandleKind::Undo.prefix(), undo)));
        }
        if dry_run {
            response.notes.push("dry run: nothing was written".into());
            if op == "delete" && done > 0 {
                response.notes.push(note!("do=delete is permanent: {}", ASK_BEFORE));
            }
            let rows = self.first_rows(&works, several).await?;
            if !rows.is_empty() {
                if done > rows.len() {
                    let shown = rows.len();
                    response.notes.push(note!(
                        "the first {} of {} are shown",
                        ours(shown),
                        ours(done)
                    ));
                }
                response.document.tables.push(rows);
            }
        }
        for work in works.iter().filter(|_| several) {
            let unchanged = match work.unchanged {
                0 => String::new(),
                some => format!(", {some} unchanged"),
            };
            let label = &work.chosen.label;
            let line = note!(
                "{}: {} {}{}",
                ours(&label),
                ours(work.count(turn)),
                ours(word),
                ours(unchanged)
            );
            response.notes.push(line);
        }
        let mut outcomes = Vec::new();
        for (name, error) in &choice.failed {
            outcomes.push(Outcome::failed(name, op, error));
        }
        for work in &works {
            outcomes.append(&mut self.misses(work, op, &mut response.notes).await);
        }
        let rows = self.outcomes(&outcomes);
        if !rows.is_empty() {
            response.document.tables.push(rows);
        }
        if let Some(left) = &choice.left {
            response.notes.push(note!("{} more messages remain: call again for them", ours(&left)));
        }
        if !dry_run && done > 0 {
            match op {
                "delete" => response.notes.push("permanently deleted: there is no undo".into()),
                "copy" => {
                    response.notes.push("no undo: trash or unlabel the copies instead".into());
                }
                _ => {}
            }
        }
        let none = works.iter().all(|one| one.changes.is_empty() && one.unchanged == 0);
        if none && outcomes.is_empty() {
            response.notes.push("no message was found".into());
        }
        response.notes.extend(choice.notes);
        Ok(response)
    }

    /// Returns the sender and subject of the first messages to change: a line for each.
    pub(super) async fn first_lines(&self, works: &[Work]) -> Result<Vec<String>> {
        let rows = self.first_rows(works, false).await?;
        let text = |cell: Option<&Cell>| match cell {
            Some(Cell::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let line = |row: &[Cell]| format!("{}: {}", text(row.get(1)), text(row.get(2)));
        Ok(rows.rows().map(line).collect())
    }

    /// Returns the messages not in the expected state, those with the same reason together.
    async fn misses(&self, work: &Work, op: &'static str, notes: &mut Vec<Note>) -> Vec<Outcome> {
        let alike =
            work.misses.iter().map(|miss| ((miss.result, miss.why.clone()), miss.id.as_str()));
        let mut outcomes = Vec::new();
        for ((result, why), ids) in grouped(alike) {
            let shown: Vec<&str> = ids.iter().copied().take(NAMED).collect();
            let kind = HandleKind::Message;
            let account = &work.chosen.account;
            let mut handles = Vec::new();
            for id in shown {
                handles.push(self.handle_after(account, kind, id, notes).await);
            }
            let handles = handles.join(" ");
            let item = match ids.len() {
                few if few <= NAMED => handles,
                many => format!("{many} messages, {handles} and others"),
            };
            outcomes.push(Outcome::new(item, op, result, why));
        }
        outcomes
    }

    /// Returns rows of the first messages to change.
    async fn first_rows(&self, works: &[Work], several: bool) -> Result<RowTable> {
        let mut columns: Vec<&'static Field> =
            COLUMNS.iter().filter_map(|name| MESSAGE.field(name)).collect();
        columns.extend(MESSAGE.field("account").filter(|_| several));
        let mut rows = RowTable::new(&MESSAGE, columns.clone());
        for work in works {
            let room = SHOWN.saturating_sub(rows.len());
            let ids: Vec<String> =
                work.changes.iter().take(room).map(|change| change.before.id.clone()).collect();
            if ids.is_empty() {
                continue;
            }
            let mailbox = &work.chosen.mailbox;
            let projection = project(mailbox.api(), &columns);
            let messages = mailbox.read_messages(&ids, &projection, BodyForm::None).await;
            let items: Vec<_> =
                messages.into_iter().filter_map(|message| Some(message.ok()?.item)).collect();
            let context = self.context_for(mailbox.api(), &work.chosen.label, &work.chosen.account);
            let mut some = rows_of(&context, &MESSAGE, &columns, &items, &mut Vec::new());
            self.assign_handles(&mut some, &work.chosen.account).await?;
            rows.append(some);
        }
        Ok(rows)
    }
}
