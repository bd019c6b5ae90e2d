//! Undoes changes.
//!
//! For each message of a change, the state before and after it is stored. An undo restores the
//! parts that the change set, where they still hold: other changes to the same message stay. If
//! someone has changed the same part since, it is left alone and reported.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::error::Result;
use daysheet_core::ids::MessageId;
use daysheet_core::provider::Account;
use daysheet_core::provider::mail::{FolderKind, MailState};
use daysheet_core::text::{Note, note, ours, quoted, quoted_list};

use super::actions::PlannedAction;
use super::chosen::{ChosenMessages, MessageChoice};
use super::report::{ChangeReport, report_changes, subjects};
use super::work::{AccountBatch, MessageChange, MessageOutcome};
use super::write_changes;
use crate::pipeline::access::accounts::{account_labels, several_accounts};
use crate::pipeline::context::Context;
use crate::pipeline::rows::name_account;
use crate::pipeline::write::undo_state::{AccountUndo, CreatedUndo, MessageUndo};

/// The effect of undoing for a message in its present state.
#[derive(Debug, PartialEq, Eq)]
enum UndoStep {
    /// Already in its earlier state.
    Already,
    /// Into this state.
    To(MailState),
    /// Someone else changed the same part.
    Elsewhere,
}

/// Returns the state to restore for a message that the change took from `before` to `after`.
fn back(account_undo: &MessageUndo, now: &MailState) -> UndoStep {
    let before = &account_undo.before;
    // If the result of the change is unknown, the whole earlier state is restored.
    let Some(after) = &account_undo.after else {
        let target = MailState { id: now.id.clone(), ..before.clone() };
        return if target == *now { UndoStep::Already } else { UndoStep::To(target) };
    };
    let mut target = now.clone();
    let mut elsewhere = false;
    if before.unread != after.unread {
        target.unread = before.unread;
    }
    if before.flag != after.flag {
        // A part that is already back, or still as changed, was not changed by someone else.
        elsewhere |= now.flag != after.flag && now.flag != before.flag;
        target.flag = before.flag.clone();
    }
    if before.folder != after.folder {
        elsewhere |= now.folder != after.folder && now.folder != before.folder;
        target.folder.clone_from(&before.folder);
    }
    // Only labels that the change touched, because others may have been set since.
    for label in after.labels.difference(&before.labels) {
        target.labels.remove(label);
    }
    for label in before.labels.difference(&after.labels) {
        target.labels.insert(label.clone());
    }
    match (elsewhere, target == *now) {
        (true, _) => UndoStep::Elsewhere,
        (false, true) => UndoStep::Already,
        (false, false) => UndoStep::To(target),
    }
}

/// Undoes a change of messages; an undo can be undone.
pub(crate) async fn undo_messages(
    ctx: &Context,
    account_undo: Vec<AccountUndo>,
    dry_run: bool,
) -> Result<WholeAnswer> {
    let mut choice = MessageChoice::default();
    let mut works = Vec::new();
    let labels = account_labels(ctx).await?;
    for one in account_undo {
        let label = labels.label_of(&one.account);
        let opened = ctx.accounts.by_id(&one.account).await;
        let opened = opened.and_then(|account| {
            let mailbox = ctx.connect.mailbox(&account)?;
            Ok((account, mailbox))
        });
        match opened {
            Ok((account, mailbox)) => {
                let chosen = restored_messages(account, label, mailbox);
                let named = name_account(several_accounts(ctx).await, &chosen.label);
                let stay = remaining_folders(ctx, &chosen, &one.created).await;
                choice.notes.extend(stay.into_iter().map(named));
                works.push(plan(chosen, one.mail).await);
            }
            Err(error) => choice.failed.push((label, error)),
        }
    }
    if let (true, Some((label, error))) = (works.is_empty(), choice.failed.first()) {
        return Err(error.clone().context(label));
    }
    let undo = if dry_run {
        None
    } else {
        write_changes(ctx, &mut works, "undo", &mut choice.notes)
            .await
            .map_err(|error| error.context("no message was changed"))?
    };
    let changed = |work: &AccountBatch| -> Vec<MessageId> {
        work.changes.iter().map(|change| change.before.id.clone()).collect()
    };
    let named: Vec<_> =
        works.iter().map(|work| (work.chosen.mailbox.clone(), changed(work))).collect();
    let report = ChangeReport { op: "undo", undo, dry_run, subjects: subjects(named).await };
    report_changes(ctx, works, choice, report).await
}

/// Returns notes on the folders and labels of a change that still exist: others may use them by
/// now, so an undo does not delete them. Levels above one that were created at the same time are
/// deleted along with it while they are empty.
async fn remaining_folders(
    ctx: &Context,
    chosen: &ChosenMessages,
    created: &[CreatedUndo],
) -> Vec<Note> {
    let mailbox = &*chosen.mailbox;
    let mut notes = Vec::new();
    for one in created {
        let has_labels = mailbox.capabilities().has_labels();
        let (kind, word) = match (one.category, has_labels) {
            (true, _) => (FolderKind::Label, "category"),
            (false, true) => (FolderKind::Folder, "label"),
            (false, false) => (FolderKind::Folder, "folder"),
        };
        // It was deleted since.
        let Ok(found) = mailbox.find_folder(one.id.as_str(), kind, false).await else {
            continue;
        };
        let above = ctx.store.created_with(&chosen.account.id, &one.id).await;
        let mut stay = vec![found.name.clone()];
        for level in above.unwrap_or_default().into_iter().rev() {
            if mailbox.find_folder(&level, kind, false).await.is_ok() {
                stay.push(level);
            }
        }
        notes.push(match stay.len() {
            1 => note!(
                "{} was created by the change and stays: manage kind={} op=delete deletes it",
                quoted(&found.name),
                ours(word)
            ),
            _ => note!(
                "{} were created by the change and stay: manage kind={} op=delete id={} \
                 deletes them while they are empty",
                quoted_list(stay),
                ours(word),
                quoted(&found.name)
            ),
        });
    }
    notes
}

fn restored_messages(
    account: Account,
    label: String,
    mailbox: std::sync::Arc<dyn daysheet_core::provider::Mailbox>,
) -> ChosenMessages {
    ChosenMessages { account, label, mailbox, ids: Vec::new() }
}

/// Plans which messages of an account are restored, and how.
async fn plan(chosen: ChosenMessages, account_undo: Vec<MessageUndo>) -> AccountBatch {
    // The change may have given a message another id.
    let id = |one: &MessageUndo| one.after.as_ref().unwrap_or(&one.before).id.clone();
    let ids: Vec<MessageId> = account_undo.iter().map(id).collect();
    let mut states = chosen.mailbox.states(&ids).await.into_iter();
    let mut work = AccountBatch::new(chosen);
    let mut targets = Vec::new();
    for (id, one) in ids.iter().zip(&account_undo) {
        match states.next() {
            Some(Ok(now)) => match back(one, &now) {
                UndoStep::Already => work.unchanged += 1,
                UndoStep::To(target) => {
                    targets.push(target);
                    work.changes.push(MessageChange {
                        now: Some(now.clone()),
                        before: now,
                        outcome: MessageOutcome::Planned,
                    });
                }
                UndoStep::Elsewhere => work.miss(id, "skipped", "changed since: left as it is"),
            },
            Some(Err(error)) => work.miss(id, "failed", error.to_string()),
            None => work.miss(id, "failed", "the provider did not report its state"),
        }
    }
    work.actions.push(PlannedAction::put_back(targets));
    work
}
