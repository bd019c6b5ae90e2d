//! The messages to read: ids of every kind resolved to messages and their accounts.

use std::collections::{HashMap, HashSet};

use daysheet_core::choice::WordChoice;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{AccountId, ThreadId};
use daysheet_core::project::project;
use daysheet_core::provider::{
    Account, BodyForm, Mailbox, MessageContent, ThreadMessage, ThreadRole,
};
use daysheet_core::text::{self, Note, note, ours};

use super::messages::{MessageTarget, ReadRest, columns};
use crate::pipeline::access::accounts::{owner_named, owner_of_id};
use crate::pipeline::context::Context;
use crate::pipeline::handles::resolve_handle;
use crate::pipeline::mail::answered::FetchedThreads;
use crate::pipeline::mail::draft::people::message_of_draft;
use crate::store::HandleKind;
use crate::tools::mail::MailRead;

/// From this length on, a letter and digits may be a provider's id; shorter ones are handles.
const SHORTEST_ID: usize = 12;

/// Threads that were fetched together with their messages.
pub(crate) struct FetchedTargets {
    form: BodyForm,
    /// Threads by their accounts.
    pub(super) threads: HashMap<AccountId, FetchedThreads>,
    /// Messages that have been fetched already.
    pub(super) contents: HashMap<MessageTarget, MessageContent>,
}

impl FetchedTargets {
    pub(super) fn new(form: BodyForm) -> Self {
        Self { form, threads: HashMap::new(), contents: HashMap::new() }
    }

    /// Fetches a thread, with its messages if one request brings them all.
    async fn thread(
        &mut self,
        mailbox: &dyn Mailbox,
        account: &Account,
        thread: &ThreadId,
    ) -> Result<Vec<ThreadMessage>> {
        let projection = project(mailbox.api(), &columns()?);
        let Some(whole) = mailbox.whole_thread(thread, &projection, self.form).await? else {
            return mailbox.thread(thread).await;
        };
        for (id, content) in whole.contents {
            self.contents.insert(MessageTarget { account: account.id.clone(), id }, content);
        }
        let threads = self.threads.entry(account.id.clone()).or_default();
        threads.insert(thread.clone(), whole.messages.clone());
        Ok(whole.messages)
    }
}

/// Returns the messages to read: handles resolved, threads expanded newest first.
pub(super) async fn read_targets(
    ctx: &Context,
    read: &MailRead,
    notes: &mut Vec<Note>,
    fetched: &mut FetchedTargets,
) -> Result<(ReadRest, Vec<(String, Error)>)> {
    let account = read.account.as_deref();
    let (messages, failed) =
        resolve_targets(ctx, &read.ids, account, Some(notes), Some(fetched)).await?;
    let rest = ReadRest {
        messages,
        body: read.body.word().to_owned(),
        quoted: read.quoted,
        signature: read.signature,
        links: read.links,
        tz: read.tz.clone(),
    };
    Ok((rest, failed))
}

/// Resolves ids of messages, drafts and threads to messages, in their order, and returns the ids
/// that are unknown. With `notes`, messages of a thread in the trash or in spam are left out with a
/// note, unless the thread has no others. With `fetched`, threads are fetched with their messages.
///
/// # Errors
/// If no message is found.
pub(crate) async fn resolve_targets(
    ctx: &Context,
    ids: &[String],
    account: Option<&str>,
    mut notes: Option<&mut Vec<Note>>,
    mut fetched: Option<&mut FetchedTargets>,
) -> Result<(Vec<MessageTarget>, Vec<(String, Error)>)> {
    let mut messages: Vec<MessageTarget> = Vec::new();
    let mut known = HashSet::new();
    let mut failed = Vec::new();
    for name in ids {
        let found =
            resolve_target(ctx, name, account, notes.as_deref_mut(), fetched.as_deref_mut());
        let several = ids.len() > 1;
        let found = ctx.await_counted(several.then_some("ids"), found).await;
        let found = match found {
            Ok(found) => found,
            // One bad id among several is a note; alone it is the answer.
            Err(error) if ids.len() > 1 => {
                failed.push((text::brief(name), error));
                continue;
            }
            Err(error) => return Err(error.context(text::brief(name))),
        };
        for target in found {
            if known.insert((target.account.clone(), target.id.clone())) {
                messages.push(target);
            }
        }
    }
    if let (true, Some((name, error))) = (messages.is_empty(), failed.first()) {
        return Err(error.clone().context(name));
    }
    Ok((messages, failed))
}

async fn resolve_target(
    ctx: &Context,
    name: &str,
    account: Option<&str>,
    notes: Option<&mut Vec<Note>>,
    fetched: Option<&mut FetchedTargets>,
) -> Result<Vec<MessageTarget>> {
    let target = |account: &AccountId, id| MessageTarget { account: account.clone(), id };
    if let Some((owner, id)) = resolve_handle(ctx, HandleKind::Message, name).await? {
        // Only checks that the handle belongs to the named account.
        owner_named(ctx, &owner, account).await?;
        return Ok(vec![target(&owner, id.into())]);
    }
    if let Some((owner, id)) = message_of_draft(ctx, name, account).await? {
        return Ok(vec![target(&owner.id, id)]);
    }
    if let Some((owner, id)) = resolve_handle(ctx, HandleKind::Thread, name).await? {
        let thread = ThreadId::from(id);
        let owner = owner_named(ctx, &owner, account).await?;
        let mailbox = ctx.connect.mailbox(&owner)?;
        let mut messages = match fetched {
            Some(fetched) => fetched.thread(&*mailbox, &owner, &thread).await?,
            None => mailbox.thread(&thread).await?,
        };
        let all = messages.len();
        if let (Some(notes), true) =
            (notes, messages.iter().any(|one| one.role != ThreadRole::Hidden))
        {
            messages.retain(|one| one.role != ThreadRole::Hidden);
            let hidden = all - messages.len();
            if hidden > 0 {
                let line = "more of them in trash or spam: in:trash or in:spam finds them";
                notes.push(note!("{}: {} {}", ours(name), ours(hidden), line));
            }
        }
        return Ok(messages.into_iter().rev().map(|one| target(&owner.id, one.id)).collect());
    }
    if let (Some((kind, _)), 0..SHORTEST_ID) = (HandleKind::parse(name), name.len()) {
        let what = format!("{kind:?}").to_lowercase();
        return Err(Error::argument(format!("`{name}` is a handle of kind {what}"))
            .next("give message, thread or draft ids, such as m12, t4 or d5"));
    }
    if looks_like_a_handle(name) {
        return Err(Error::new(ErrorKind::NotFound, "there is no such handle")
            .next("use an id from a search or lookup"));
    }
    let fits = |account: &Account| ctx.connect.mailbox(account)?.check_id(name);
    let such = "m12 from mail_search, or d5 from mail_draft";
    let account = owner_of_id(ctx, name, account, fits, such).await?;
    Ok(vec![target(&account.id, name.into())])
}

/// Returns true for a letter and digits: a mistyped handle.
fn looks_like_a_handle(name: &str) -> bool {
    let mut chars = name.chars();
    name.len() < SHORTEST_ID
        && chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && !chars.as_str().is_empty()
        && chars.all(|c| c.is_ascii_digit())
}
