//! Organizes messages, and undoes that.
//!
//! Every change takes the same steps: choosing messages ([`chosen`]) and actions ([`actions`]),
//! reading the present states, storing these for an undo ([`undo`]), the writes, and reading the
//! states again ([`apply`]). The answer reports the provider's states, in few words for any number
//! of messages ([`report`]).

pub(crate) mod actions;
mod apply;
pub(crate) mod chosen;
mod report;
pub(crate) mod undo;
mod unsubscribe;
pub(crate) mod work;

use daysheet_core::access::AccessLevel;
use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::{ClientPrompts, MaybeDryRun};
use daysheet_core::choice::WordChoice;
use daysheet_core::error::{Error, Result};
use daysheet_core::text::{Note, note};
use daysheet_core::time_parse;
use futures_util::future::{OptionFuture, join, join_all};

use self::actions::{ActionArguments, plan_actions};
use self::apply::{apply_actions, find_changes};
use self::chosen::{ChosenMessages, MessageChoice, chosen_ids, chosen_query};
use self::report::{ChangeReport, first_lines, report_changes, subjects};
use self::unsubscribe::leave_lists;
use self::work::{AccountBatch, MessageOutcome};
use super::search::plan::folder_of;
use crate::pipeline::access::accounts::several_accounts;
use crate::pipeline::access::erasure::{no_undo, refused_erasure};
use crate::pipeline::context::Context;
use crate::pipeline::rows::name_account;
use crate::pipeline::write::confirm::require_access;
use crate::pipeline::write::log::{BEGUN, audit_after, log_entry};
use crate::pipeline::write::undo_state::{AccountUndo, UndoState};
use crate::tools::mail::{MailModify, ModifyVerb};

pub(crate) async fn mail_modify(
    ctx: &Context,
    request: MailModify,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let Some(verb) = request.what else {
        return Err(Error::argument("mail_modify needs `do`"));
    };
    let (to, without) = actions::signed(verb, &request.to);
    let with = ActionArguments {
        due: request.due.as_deref().map(|due| flag_due(ctx, due)).transpose()?,
        to,
        without,
        create: request.create,
        create_with: match verb {
            ModifyVerb::Move | ModifyVerb::Copy | ModifyVerb::Label | ModifyVerb::Categorize
                if !request.create =>
            {
                Some("create=true")
            }
            _ => None,
        },
        dry_run: request.dry_run,
    };
    actions::check(verb, &with)?;
    match verb {
        ModifyVerb::Delete => {
            require_access(ctx, AccessLevel::Full, "permanent deletion, unlike do=trash,")?;
        }
        ModifyVerb::Unsubscribe => require_access(ctx, AccessLevel::Send, "unsubscribing")?,
        _ => {}
    }
    let choice = match &request.q {
        Some(q) => chosen_query(ctx, q, request.account.as_deref()).await?,
        None => {
            // Both are meant for messages in the trash or in spam.
            let hidden = matches!(verb, ModifyVerb::Restore | ModifyVerb::Delete);
            chosen_ids(ctx, &request.ids, request.account.as_deref(), hidden).await?
        }
    };
    if verb == ModifyVerb::Unsubscribe {
        return leave_lists(ctx, choice, request.dry_run, caller).await;
    }
    change_messages(ctx, choice, verb.word(), &[(verb, with)], Some(caller)).await
}

/// Replaces the handles of folders and labels in `to` by their ids.
async fn by_folder_ids(
    ctx: &Context,
    verb: ModifyVerb,
    with: &ActionArguments,
    chosen: &ChosenMessages,
) -> Result<ActionArguments> {
    let mut with = with.clone();
    // Categories have names alone.
    let has_labels = chosen.mailbox.capabilities().has_labels();
    let to = with.to.iter_mut().filter(|_| has_labels || needs_folder(verb));
    let without = with.without.iter_mut().filter(|_| has_labels);
    for name in to.chain(without) {
        if let Some(id) = folder_of(ctx, name, &chosen.account).await? {
            *name = id.into();
        }
    }
    Ok(with)
}

/// Applies actions to the chosen messages, and reports the outcome. `steps` are applied in
/// order, and undone together. A dry run among their arguments writes nothing. The
/// `caller` is asked before messages are deleted permanently.
pub(crate) async fn change_messages(
    ctx: &Context,
    mut choice: MessageChoice,
    op: &'static str,
    steps: &[(ModifyVerb, ActionArguments)],
    caller: Option<&dyn ClientPrompts>,
) -> Result<WholeAnswer> {
    let dry_run = steps.iter().any(|(_, with)| with.dry_run);
    let mut works = plan_batches(ctx, &mut choice, steps).await?;
    // Subjects are read now, because the messages may be deleted.
    let named: Vec<_> =
        works.iter().map(|work| (work.chosen.mailbox.clone(), work.chosen.ids.clone())).collect();
    // Messages already in the requested state are not written again.
    let looking = join_all(works.iter_mut().map(find_changes));
    // A dry run reads its own rows, which have the subjects.
    let subjects = OptionFuture::from((!dry_run).then(|| subjects(named)));
    let (_, subjects) = join(looking, subjects).await;
    let subjects = subjects.flatten();
    let mut undo = None;
    let refused = match caller {
        Some(caller) if op == "delete" => {
            let caller = &MaybeDryRun { caller, dry_run };
            let refused = refused_deletion(ctx, &works, caller).await?;
            if dry_run && refused.is_none() && works.iter().any(|one| !one.changes.is_empty()) {
                choice.notes.push(note!("do=delete is permanent: {}", no_undo(ctx, caller)));
            }
            refused
        }
        _ => None,
    };
    if let Some(why) = refused {
        refuse(&mut works, why);
    } else if !dry_run {
        undo = write_changes(ctx, &mut works, op, &mut choice.notes)
            .await
            .map_err(|error| undone(error, &choice.notes))?;
    }
    let report = ChangeReport { op, undo, dry_run, subjects };
    report_changes(ctx, works, choice, report).await
}

/// Plans the actions on the chosen messages of each account, which are taken out of `choice`.
/// Folders and labels are created for them.
///
/// # Errors
/// The error of the only account, or of the first if all accounts failed.
async fn plan_batches(
    ctx: &Context,
    choice: &mut MessageChoice,
    steps: &[(ModifyVerb, ActionArguments)],
) -> Result<Vec<AccountBatch>> {
    let mut works = Vec::new();
    let several = choice.accounts.len() > 1;
    for chosen in std::mem::take(&mut choice.accounts) {
        let (mut all, mut created) = (Vec::new(), Vec::new());
        let mut refused = None;
        for (verb, with) in steps {
            let planned = async {
                let with = by_folder_ids(ctx, *verb, with, &chosen).await?;
                plan_actions(&*chosen.mailbox, *verb, &with, &mut created).await
            };
            match planned.await {
                Ok(mut some) => all.append(&mut some),
                Err(error) if several => refused = Some(error),
                Err(error) => return Err(error),
            }
        }
        for folder in &created {
            folder.keep_levels(&ctx.store, &chosen.account.id).await;
            let named = name_account(several_accounts(ctx).await, &chosen.label);
            choice.notes.push(named(folder.note()));
        }
        match refused {
            Some(error) => choice.failed.push((chosen.label, error)),
            None => works.push(AccountBatch { actions: all, created, ..AccountBatch::new(chosen) }),
        }
    }
    if let (true, Some((name, error))) = (works.is_empty(), choice.failed.first()) {
        return Err(error.clone().context(name));
    }
    choice.notes.dedup();
    Ok(works)
}

/// Asks the user before messages are deleted permanently. Returns the reason if they must not be
/// deleted.
async fn refused_deletion(
    ctx: &Context,
    works: &[AccountBatch],
    caller: &dyn ClientPrompts,
) -> Result<Option<&'static str>> {
    let count: usize = works.iter().map(|one| one.changes.len()).sum();
    if count == 0 {
        return Ok(None);
    }
    let owners: Vec<&str> = works
        .iter()
        .filter(|one| !one.changes.is_empty())
        .map(|one| one.chosen.account.email.as_str())
        .collect();
    let what = match count {
        1 => "1 message".to_owned(),
        count => format!("{count} messages"),
    };
    let mut lines =
        vec![format!("Permanently delete {what} of {}? This cannot be undone.", owners.join(", "))];
    let shown = first_lines(ctx, works).await?;
    let more = count - shown.len().min(count);
    lines.extend(shown);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    refused_erasure(ctx, &lines.join("\n"), caller).await
}

/// Carries out the plan; returns the number for undoing it, if possible. Nothing is written before
/// its line is in the log and the earlier states are stored.
async fn write_changes(
    ctx: &Context,
    works: &mut [AccountBatch],
    op: &'static str,
    notes: &mut Vec<Note>,
) -> Result<Option<u64>> {
    let planned: usize = works.iter().map(|one| one.changes.len()).sum();
    if planned == 0 {
        return Ok(None);
    }
    // Deleted and copied messages cannot be restored.
    let undo_number = match op {
        "delete" | "copy" => None,
        _ => Some(keep_states(ctx, works, op).await?),
    };
    for work in works.iter() {
        if !work.changes.is_empty() {
            // No write without its line in the log.
            log_entry(ctx, work.entry(op, BEGUN)).await?;
        }
    }
    let look = ctx.config.look;
    join_all(works.iter_mut().map(|work| apply_actions(work, look))).await;
    let mut undo = undo_number;
    if let Some(number) = undo_number {
        match trim_states(ctx, works, number).await {
            Ok(true) => {}
            Ok(false) => undo = None,
            Err(error) => notes.push(note!(
                "undo restores the whole earlier state, as the changes could not be recorded: {}",
                error
            )),
        }
    }
    for work in works.iter().filter(|work| !work.changes.is_empty()) {
        let done = work.count(MessageOutcome::Done);
        let outcome = format!("done {done} of {}", work.changes.len());
        audit_after(ctx, work.entry(op, &outcome), notes).await;
    }
    Ok(undo)
}

/// Stores the states of the messages that are about to change.
async fn keep_states(ctx: &Context, works: &[AccountBatch], op: &str) -> Result<u64> {
    let accounts: Vec<&str> = works.iter().map(|one| one.chosen.account.id.as_str()).collect();
    let undos: Vec<AccountUndo> = works
        .iter()
        .map(|work| work.undo_of(|_| true))
        .filter(|undo| !undo.mail.is_empty())
        .collect();
    ctx.store.keep_undo(&accounts.join(" "), op, &UndoState::Mail(undos).write()?).await
}

/// Removes the states of messages that did not change; returns false if none is left.
async fn trim_states(ctx: &Context, works: &[AccountBatch], number: u64) -> Result<bool> {
    let undos: Vec<AccountUndo> = works
        .iter()
        // A change in doubt may have been made, so its undo is kept.
        .map(|work| {
            work.undo_of(|turn| matches!(turn, MessageOutcome::Done | MessageOutcome::Open))
        })
        .filter(|undo| !undo.mail.is_empty())
        .collect();
    let state = if undos.is_empty() { None } else { Some(UndoState::Mail(undos).write()?) };
    ctx.store.trim_undo(number, state.as_deref()).await?;
    Ok(state.is_some())
}

/// Reads the due date of a flag; of a day, its beginning.
fn flag_due(ctx: &Context, due: &str) -> Result<jiff::Timestamp> {
    let due = time_parse::read(due, &ctx.time_context())?;
    Ok(due.first(&ctx.config.zone))
}

/// Returns true for verbs whose `to` names a folder.
fn needs_folder(verb: ModifyVerb) -> bool {
    matches!(verb, ModifyVerb::Move | ModifyVerb::Copy)
}

/// Returns an error from before any message was changed. Labels may have been created.
fn undone(error: Error, notes: &[Note]) -> Error {
    let mut made: Vec<&str> = notes.iter().map(|note| &**note).collect();
    made.retain(|note| note.contains("created `"));
    made.insert(0, "no message was changed");
    error.context(made.join("; "))
}

/// Marks the messages of a refused change as unchanged.
fn refuse(works: &mut [AccountBatch], why: &'static str) {
    for work in works {
        for change in std::mem::take(&mut work.changes) {
            work.miss(&change.before.id, "refused", why);
        }
    }
}
