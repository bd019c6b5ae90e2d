//! The attachments that the ids of a call refer to, and shared parts of saving and reading them.

use std::collections::HashMap;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::flatten::{RowContext, RowRoom};
use daysheet_core::ids::MessageId;
use daysheet_core::project::project;
use daysheet_core::provider::mail::{AttachmentInfo, SourceMessage};
use daysheet_core::provider::{Account, BodyForm};
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{ATTACHMENT, ColumnLevel, MESSAGE};
use daysheet_core::text::{self, Note, note, ours};
use futures_util::future::join_all;

use crate::pipeline::access::accounts::account_labels;
use crate::pipeline::context::Context;
use crate::pipeline::handles::resolve_handle;
use crate::pipeline::mail::files::{self, AttachmentIds, split_id};
use crate::pipeline::mail::read::messages::MessageTarget;
use crate::pipeline::mail::read::targets::resolve_targets;
use crate::pipeline::rows::rows_of;
use crate::store::HandleKind;

/// The maximum columns of a name that is shown.
const NAME: usize = 120;

/// Attachments, or messages with attachments, that are fetched at once.
pub(crate) const AT_ONCE: usize = 4;

/// A requested attachment, before it is fetched.
pub(super) struct NamedFile {
    pub(super) account: Account,
    pub(super) message: MessageId,
    pub(super) file: AttachmentInfo,
}

/// An attachment to save: its handle, its account and its lasting id.
pub(super) struct ChosenAttachment {
    pub(super) handle: String,
    pub(super) account: Account,
    pub(super) id: String,
}

impl ChosenAttachment {
    /// Returns its message.
    pub(super) fn message(&self) -> MessageTarget {
        MessageTarget { account: self.account.id.clone(), id: split_id(&self.id).0.into() }
    }

    /// Returns its handle and its lasting id.
    pub(super) fn ids(&self) -> AttachmentIds<'_> {
        AttachmentIds { handle: &self.handle, lasting: &self.id }
    }
}

/// Messages that have attachments.
pub(super) type AttachmentSources = HashMap<MessageTarget, Result<SourceMessage>>;

pub(super) async fn file_bytes(ctx: &Context, request: &NamedFile, most: u64) -> Result<Vec<u8>> {
    if request.file.size > most {
        return Err(Error::argument(format!(
            "{} is {} bytes, more than {most}",
            display_name(&request.file.name),
            request.file.size
        ))
        .next("open it in the mail program, or raise `largest_file` in the settings"));
    }
    let mailbox = ctx.connect.mailbox(&request.account)?;
    mailbox.file(&request.message, &request.file.id, most).await
}

/// Reads the messages of attachments, each once.
pub(super) async fn read_sources(
    ctx: &Context,
    chosen: impl Iterator<Item = &ChosenAttachment>,
) -> AttachmentSources {
    let mut keys: Vec<MessageTarget> = Vec::new();
    for one in chosen {
        let key = one.message();
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let mut sources = AttachmentSources::new();
    for some in keys.chunks(AT_ONCE) {
        let read = join_all(some.iter().map(|message| source_of(ctx, message))).await;
        sources.extend(some.iter().cloned().zip(read));
    }
    sources
}

/// Returns the source of a message.
async fn source_of(ctx: &Context, message: &MessageTarget) -> Result<SourceMessage> {
    let account = ctx.accounts.by_id(&message.account).await?;
    ctx.connect.mailbox(&account)?.source_message(&message.id).await
}

/// Returns the chosen file, with the facts that its message has on it.
pub(super) fn named_attachment(
    one: &ChosenAttachment,
    sources: &AttachmentSources,
) -> Result<NamedFile> {
    let key = one.message();
    let lost = || Err(Error::new(ErrorKind::Internal, "a message was left out"));
    let source = sources.get(&key).cloned().unwrap_or_else(lost)?;
    let file = files::file_of(&source, one.ids())?;
    Ok(NamedFile { account: one.account.clone(), message: key.id, file })
}

/// Returns the attachment with this id, or the attachments of the message or thread.
pub(super) async fn chosen_by(
    ctx: &Context,
    id: &String,
    notes: &mut Vec<Note>,
) -> Result<Vec<ChosenAttachment>> {
    if let Some((owner, lasting)) = resolve_handle(ctx, HandleKind::Attachment, id).await? {
        let account = ctx.accounts.by_id(&owner).await?;
        return Ok(vec![ChosenAttachment { handle: id.clone(), account, id: lasting }]);
    }
    let mut chosen = Vec::new();
    let targets = message_targets(ctx, id, notes).await?;
    // Notes on the messages themselves are of no use here.
    let mut tables = files_of(ctx, targets, &mut Vec::new()).await?;
    // The table has no other flag.
    let is_inline = |cells: &[RowCell]| cells.contains(&RowCell::Flag(true));
    let rows = || tables.iter().flat_map(|(_, rows)| rows.rows());
    let (all, inline) = (rows().count(), rows().filter(|cells| is_inline(cells)).count());
    // Inline pictures, such as logos, are rarely meant, unless the message has nothing else.
    if (1..all).contains(&inline) {
        tables.iter_mut().for_each(|(_, rows)| rows.retain(|cells, _| !is_inline(cells)));
        let images = if inline == 1 { "image" } else { "images" };
        notes.push(note!(
            "{}: {} inline {}, left out unless named (as=list shows their ids)",
            ours(text::brief(id)),
            inline,
            images
        ));
    }
    for (account, rows) in tables {
        let lasting = rows.ids(HandleKind::Attachment.prefix());
        let ids: Vec<&str> = lasting.iter().map(String::as_str).collect();
        let handles = ctx.store.handles(&account.id, HandleKind::Attachment, &ids).await?;
        chosen.extend(handles.into_iter().zip(lasting).map(|(handle, id)| ChosenAttachment {
            handle: format!("a{handle}"),
            account: account.clone(),
            id,
        }));
    }
    Ok(chosen)
}

/// Returns the messages that an id refers to, without those in the trash or in spam.
pub(super) async fn message_targets(
    ctx: &Context,
    id: &String,
    notes: &mut Vec<Note>,
) -> Result<Vec<MessageTarget>> {
    let found = resolve_targets(ctx, std::slice::from_ref(id), None, Some(notes), None).await;
    let (messages, _) = found.map_err(|error| match error.kind() {
        ErrorKind::Argument => {
            error.next("give attachment, message, thread or draft ids, such as a3 or m12")
        }
        _ => error,
    })?;
    Ok(messages)
}

/// Returns the tables of messages' attachments, without handles.
pub(super) async fn files_of(
    ctx: &Context,
    messages: Vec<MessageTarget>,
    notes: &mut Vec<Note>,
) -> Result<Vec<(Account, RowTable)>> {
    let mut tables = Vec::new();
    for some in messages.chunks(AT_ONCE) {
        let read = join_all(some.iter().map(|message| message_files(ctx, message))).await;
        for one in read {
            let (account, rows, mut own) = one?;
            notes.append(&mut own);
            tables.push((account, rows));
        }
    }
    Ok(tables)
}

async fn message_files(
    ctx: &Context,
    message: &MessageTarget,
) -> Result<(Account, RowTable, Vec<Note>)> {
    let account = ctx.accounts.by_id(&message.account).await?;
    let mailbox = ctx.connect.mailbox(&account)?;
    let projection = project(mailbox.api(), &MESSAGE.up_to(ColumnLevel::Key));
    let ids = std::slice::from_ref(&message.id);
    let answers = mailbox.read_messages(ids, &projection, BodyForm::Parts).await;
    let read = answers.into_iter().next().unwrap_or_else(|| {
        Err(Error::new(ErrorKind::NotFound, "the provider returned nothing for it"))
    })?;
    let columns = ATTACHMENT.up_to(ColumnLevel::Core);
    let label = account_labels(ctx).await?.label_of(&account.id);
    let context =
        RowContext { room: RowRoom::One, ..ctx.context_for(mailbox.api(), &label, &account) };
    let mut notes = Vec::new();
    let files = [read.attachments, read.inline].concat();
    let rows = rows_of(&context, &ATTACHMENT, &columns, &files, &mut notes);
    notes.extend(read.notes);
    Ok((account, rows, notes))
}

pub(super) fn no_attachments(id: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("{} has no attachments", text::brief(id)))
        .next("mail_read lists the attachments of messages")
}

pub(super) fn reads_none() -> Error {
    Error::argument("this program reads no files")
        .next("save it with as=file, or get its link with as=link")
}

pub(super) fn display_name(name: &str) -> String {
    text::clip(text::cell(name), NAME).0
}

pub(crate) fn media(file: &AttachmentInfo) -> String {
    match text::cell(&file.media) {
        empty if empty.is_empty() => "application/octet-stream".to_owned(),
        media => media,
    }
}

pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| Error::new(ErrorKind::Internal, "a file could not be written"))?
}
