//! Attachments: listing, saving, returning, and reading.

pub(crate) mod chosen;
#[cfg(feature = "documents")]
mod findings;
#[cfg(feature = "documents")]
pub(super) mod reading;
#[cfg(feature = "documents")]
mod render;

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use daysheet_core::access::AccessLevel;
use daysheet_core::budget::LongText;
use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::progress;
use daysheet_core::compose::names;
use daysheet_core::error::{Error, Result};
use daysheet_core::ids::AccountId;
use daysheet_core::provider::mail::AttachmentInfo;
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{ATTACHMENT, ColumnLevel};
use daysheet_core::text::{self, Note, deceptive, note, ours, quoted};
use futures_util::future::join_all;
use sha2::{Digest, Sha256};

use self::chosen::{
    AT_ONCE, AttachmentSources, ChosenAttachment, NamedFile, blocking, chosen_by, display_name,
    file_bytes, files_of, media, message_targets, named_attachment, no_attachments, read_sources,
};
#[cfg(feature = "documents")]
use self::reading::read_files;
use super::files::{AttachmentIds, file_named, split_id};
use super::read::messages::MessageTarget;
use crate::files::SavedFile;
use crate::pipeline::access::untrusted::mark_tainted;
use crate::pipeline::context::Context;
use crate::pipeline::handles::{assign_handles, resolve_handle};
use crate::pipeline::local_files::file_folders;
use crate::pipeline::write::confirm::require_access;
use crate::pipeline::write::report::{ItemOutcome, WriteReport, write_report};
use crate::store::HandleKind;
use crate::tools::mail::{FileForm, MailAttachment};

/// The beginning of the URI of an attachment; its handle follows.
pub const URI: &str = "daysheet://attachment/";
/// The maximum size of an attachment that is returned in an answer, in bytes.
const MAX_INLINE: u64 = 1 << 20;
/// Tokens of an answer apart from the attachment.
const BESIDES: usize = 200;
/// The most attachments that one call saves.
const MAX_SAVED: usize = 100;

pub(crate) async fn mail_attachment(ctx: &Context, request: MailAttachment) -> Result<WholeAnswer> {
    let is_attachment =
        |id: &String| matches!(HandleKind::parse(id), Some((HandleKind::Attachment, _)));
    // Without folders to save to, a single file becomes a link.
    let form = match request.ids.iter().all(is_attachment) {
        true if !ctx.config.files.is_empty() => FileForm::File,
        true if request.ids.len() == 1 => FileForm::Link,
        _ => FileForm::List,
    };
    let form = request.form.unwrap_or(form);
    let saves = form == FileForm::File || request.dir.is_some();
    if saves && ctx.config.files.is_empty() {
        let what = "this server is on another machine and saves no files on yours";
        return Err(Error::argument(what).next("use as=link or as=inline, without dir"));
    }
    match (form, request.ids.as_slice()) {
        (FileForm::List, _) => list_files(ctx, &request.ids).await,
        // Boxed, because a thread's stack is small.
        (FileForm::Text, _) => Box::pin(read_files(ctx, &request)).await,
        (FileForm::File, _) => {
            require_access(
                ctx,
                AccessLevel::Organize,
                "saving a file (as=inline and as=link do not save)",
            )?;
            save_files(ctx, request).await
        }
        (FileForm::Inline | FileForm::Link, [handle]) => {
            let file = resolve_handle(ctx, HandleKind::Attachment, handle).await?;
            let file = named_file(ctx, handle, file).await?;
            match form {
                FileForm::Inline if is_shown_as_text(ctx, &file.file, None) => {
                    text_inline(ctx, &request).await
                }
                FileForm::Inline => file_inline(ctx, handle, file, &request).await,
                _ => Ok(link(handle, &file.file)),
            }
        }
        (FileForm::Inline | FileForm::Link, _) => {
            Err(Error::argument("as=inline and as=link take one attachment")
                .next("give one id such as a3, or as=file"))
        }
    }
}

/// Returns the bytes and the media type of an attachment, by the URI of a link.
///
/// # Errors
/// [`ErrorKind::NotFound`](daysheet_core::error::ErrorKind::NotFound) if the attachment does not
/// exist, or no longer; [`ErrorKind::Argument`](daysheet_core::error::ErrorKind::Argument) if it is
/// too large; errors of the provider.
pub async fn attachment_bytes(ctx: &Context, uri: &str) -> Result<(Vec<u8>, String)> {
    let handle = uri.strip_prefix(URI).unwrap_or(uri);
    let file = resolve_handle(ctx, HandleKind::Attachment, handle).await?;
    let request = named_file(ctx, handle, file).await?;
    let bytes = file_bytes(ctx, &request, ctx.config.largest_file).await?;
    // The bytes do not pass through an answer, which would record this.
    mark_tainted(ctx).await?;
    Ok((bytes, media(&request.file)))
}

async fn named_file(
    ctx: &Context,
    handle: &str,
    found: Option<(AccountId, String)>,
) -> Result<NamedFile> {
    let Some((owner, id)) = found else {
        return Err(Error::argument(format!("{} is not an attachment", text::brief(handle)))
            .next("give one such as a3; as=list shows those of a message"));
    };
    let account = ctx.accounts.by_id(&owner).await?;
    let mailbox = ctx.connect.mailbox(&account)?;
    let (message, file) =
        file_named(mailbox.as_ref(), AttachmentIds { handle, lasting: &id }).await?;
    Ok(NamedFile { account, message, file })
}

/// Saves the attachments of these ids. A single one is reported by scalars, several by outcomes.
async fn save_files(ctx: &Context, request: MailAttachment) -> Result<WholeAnswer> {
    let mut notes = Vec::new();
    let (chosen, mut outcomes) = chosen_files(ctx, &request.ids, &mut notes).await?;
    if chosen.len() > MAX_SAVED {
        return Err(Error::argument(format!(
            "{} attachments are more than {MAX_SAVED}",
            chosen.len()
        ))
        .next("save them in several calls"));
    }
    // The folder is opened first: an attachment that cannot be saved is not fetched.
    let folders = file_folders(ctx);
    let folder = Arc::new(blocking(move || folders.folder(request.dir.as_deref())).await?);
    let alone = chosen.len() == 1 && outcomes.is_empty();
    let sources = read_sources(ctx, chosen.iter()).await;
    let mut saved: Vec<String> = Vec::new();
    progress::expect("attachments", chosen.len());
    // A few at a time, because their bytes are in memory together.
    for some in chosen.chunks(AT_ONCE) {
        let fetched = join_all(some.iter().map(|one| fetch_chosen(ctx, one, &sources))).await;
        progress::done("attachments", some.len());
        for (one, fetched) in some.iter().zip(fetched) {
            let done = match fetched {
                Ok((file, bytes)) => {
                    let (folder, name) = (folder.clone(), file_name(&file));
                    // Of two files with the same name, the second must not replace the first, also
                    // on a disk that does not distinguish upper and lower case.
                    let again = saved.contains(&name.to_lowercase());
                    let overwrite = request.overwrite && !again;
                    blocking(move || {
                        let to = folder.save(&name, &bytes, overwrite)?;
                        Ok((file, name, to, bytes))
                    })
                    .await
                }
                Err(error) => Err(error),
            };
            match done {
                Ok((file, name, to, bytes)) if alone => {
                    let mut response = saved_one(&file, &name, &to, &bytes);
                    response.notes.append(&mut notes);
                    return Ok(response);
                }
                Err(error) if alone => return Err(error),
                Ok((_, _, to, _)) => {
                    let result = if to.existing { "unchanged" } else { "done" };
                    saved.extend(
                        to.path.file_name().map(|name| name.to_string_lossy().to_lowercase()),
                    );
                    let path = to.path.display().to_string();
                    outcomes.push(ItemOutcome::new(&one.handle, "save", result, path));
                }
                Err(error) => outcomes.push(ItemOutcome::failed(&one.handle, "save", &error)),
            }
        }
    }
    write_report(ctx, WriteReport { outcomes, notes, ..WriteReport::default() }).await
}

/// Fetches an attachment of a message that was read.
async fn fetch_chosen(
    ctx: &Context,
    one: &ChosenAttachment,
    sources: &AttachmentSources,
) -> Result<(AttachmentInfo, Vec<u8>)> {
    let named = named_attachment(one, sources)?;
    let bytes = file_bytes(ctx, &named, ctx.config.largest_file).await?;
    Ok((named.file, bytes))
}

/// Returns the attachments that ids refer to, in the order of their messages, and outcomes for the
/// ids without attachments.
async fn chosen_files(
    ctx: &Context,
    ids: &[String],
    notes: &mut Vec<Note>,
) -> Result<(Vec<ChosenAttachment>, Vec<ItemOutcome>)> {
    let (mut chosen, mut outcomes): (Vec<ChosenAttachment>, Vec<ItemOutcome>) = Default::default();
    for id in ids {
        let found = match chosen_by(ctx, id, notes).await {
            Ok(found) if !found.is_empty() => found,
            Ok(_) if ids.len() > 1 => {
                outcomes.push(ItemOutcome::new(
                    text::brief(id),
                    "save",
                    "skipped",
                    "no attachments",
                ));
                continue;
            }
            Ok(_) => return Err(no_attachments(id)),
            Err(error) if ids.len() > 1 => {
                outcomes.push(ItemOutcome::failed(text::brief(id), "save", &error));
                continue;
            }
            Err(error) => return Err(error),
        };
        for one in found {
            if !chosen.iter().any(|other| other.handle == one.handle) {
                chosen.push(one);
            }
        }
    }
    Ok((chosen, outcomes))
}

/// Returns true if a file is shown as text; its bytes decide if they are given.
fn is_shown_as_text(ctx: &Context, file: &AttachmentInfo, bytes: Option<&[u8]>) -> bool {
    #[cfg(feature = "documents")]
    let reads = ctx.config.worker.is_some();
    #[cfg(not(feature = "documents"))]
    let (reads, _) = (false, ctx);
    reads && bytes.map_or_else(|| is_text(file), reads_as_text)
}

async fn text_inline(ctx: &Context, request: &MailAttachment) -> Result<WholeAnswer> {
    let mut response = Box::pin(read_files(ctx, request)).await?;
    response.notes.push("it is text, and shown as such instead of in Base64".into());
    Ok(response)
}

#[cfg(not(feature = "documents"))]
async fn read_files(_: &Context, _: &MailAttachment) -> Result<WholeAnswer> {
    Err(chosen::reads_none())
}

async fn file_inline(
    ctx: &Context,
    handle: &str,
    named: NamedFile,
    request: &MailAttachment,
) -> Result<WholeAnswer> {
    let most = MAX_INLINE.min(ctx.config.largest_file);
    let elsewhere = "save it with as=file, or get its link with as=link";
    let bytes = if named.file.size > most {
        Err(Error::argument(format!(
            "{} is larger than {most} bytes",
            display_name(&named.file.name)
        )))
    } else {
        file_bytes(ctx, &named, most).await
    };
    let bytes = bytes.map_err(|error| error.next(elsewhere))?;
    // A file whose type and name are not those of text may be text.
    if is_shown_as_text(ctx, &named.file, Some(&bytes)) {
        return text_inline(ctx, request).await;
    }
    let packed = STANDARD.encode(&bytes);
    let tokens = ctx.config.tokenizer.count(&packed);
    // Base64 that is cut is of no use, so it is refused rather than shortened.
    if tokens + BESIDES > ctx.config.budget {
        return Err(Error::argument(format!(
            "{} would take {tokens} tokens, more than the budget of {}",
            display_name(&named.file.name),
            ctx.config.budget
        ))
        .next(elsewhere));
    }
    let mut response = about(&named.file);
    response.document.scalars.push(("base64", RowCell::Text("o1".to_owned())));
    response.texts.push(LongText {
        name: "o1".to_owned(),
        text: packed,
        page: true,
        ..LongText::default()
    });
    response.notes.push(note!("{} is between the fences, in Base64", ours(&handle)));
    Ok(response)
}

/// Returns the attachments of messages, threads, and the messages of attachments.
async fn list_files(ctx: &Context, ids: &[String]) -> Result<WholeAnswer> {
    let mut messages: Vec<MessageTarget> = Vec::new();
    let mut response = WholeAnswer::default();
    let mut notes = Vec::new();
    for id in ids {
        let found = match resolve_handle(ctx, HandleKind::Attachment, id).await? {
            Some((account, id)) => {
                let (message, _) = split_id(&id);
                Ok(vec![MessageTarget { account, id: message.into() }])
            }
            None => message_targets(ctx, id, &mut notes).await,
        };
        match found {
            Ok(found) => {
                for one in found {
                    if !messages.contains(&one) {
                        messages.push(one);
                    }
                }
            }
            Err(error) if ids.len() > 1 => response.notes.push(note!("{}", &error)),
            Err(error) => return Err(error),
        }
    }
    let mut all = RowTable::new(&ATTACHMENT, ATTACHMENT.up_to(ColumnLevel::Core));
    for (account, mut rows) in files_of(ctx, messages, &mut notes).await? {
        assign_handles(ctx, &mut rows, &account).await?;
        all.append(rows);
    }
    all.drop_empty();
    response.notes.insert(0, note!("attachments: {}", all.len()));
    response.notes.append(&mut notes);
    response.document.tables.push(all);
    Ok(response)
}

/// Returns true if a file is text by its type or name.
fn is_text(file: &AttachmentInfo) -> bool {
    let is_text = |media: &str| {
        media.starts_with("text/")
            || ["+json", "+xml"].iter().any(|end| media.ends_with(end))
            || matches!(
                media,
                "application/json" | "application/xml" | "application/ics" | "message/rfc822"
            )
    };
    is_text(&media(file).to_ascii_lowercase())
        || mime_guess::from_path(&file.name).first_raw().is_some_and(is_text)
}

/// Returns true if bytes are text, regardless of name and type. A PDF of text characters alone does
/// not count.
fn reads_as_text(bytes: &[u8]) -> bool {
    let odd = |c: char| c.is_control() && !c.is_whitespace();
    let text = std::str::from_utf8(bytes).ok();
    text.is_some_and(|text| !text.contains(odd) && !text.starts_with("%PDF"))
}

/// Returns the answer about the one attachment that was saved.
fn saved_one(file: &AttachmentInfo, name: &str, saved: &SavedFile, bytes: &[u8]) -> WholeAnswer {
    let mut response = WholeAnswer::default();
    let digest = Sha256::digest(bytes);
    let hash: String = digest.iter().take(8).map(|b| format!("{b:02x}")).collect();
    let length = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    let scalars = &mut response.document.scalars;
    scalars.push(("path", RowCell::Text(saved.path.display().to_string())));
    scalars.push(("bytes", RowCell::Count(length)));
    scalars.push(("sha256", RowCell::Text(hash)));
    if saved.existing {
        response.notes.push("the file already exists, with the same content".into());
    }
    if name != file.name {
        response.notes.push(note!("originally named {}", quoted(&file.name)));
    }
    response
}

/// Returns the name to save an attachment under; one without a name gets the ending of
/// its type.
fn file_name(file: &AttachmentInfo) -> String {
    let name = names::clean(&file.name);
    if name != names::UNNAMED {
        return name;
    }
    let ending = match media(file).to_ascii_lowercase().as_str() {
        "application/pdf" => "pdf",
        "application/zip" => "zip",
        "image/jpeg" => "jpg",
        "image/png" => "png",
        "message/rfc822" => "eml",
        "text/calendar" => "ics",
        "text/csv" => "csv",
        "text/html" => "html",
        "text/plain" => "txt",
        _ => return name,
    };
    format!("{name}.{ending}")
}

fn link(handle: &str, file: &AttachmentInfo) -> WholeAnswer {
    let mut response = about(file);
    let uri = format!("{URI}{handle}");
    response.document.scalars.push(("link", RowCell::Text(uri)));
    response.notes.push("read the link as a resource to get the file".into());
    response
}

/// Returns the response that describes an attachment.
fn about(file: &AttachmentInfo) -> WholeAnswer {
    let mut response = WholeAnswer::default();
    let scalars = &mut response.document.scalars;
    scalars.push(("name", RowCell::Text(deceptive::line(&file.name))));
    scalars.push(("type", RowCell::Text(media(file))));
    let size = i64::try_from(file.size).unwrap_or(i64::MAX);
    scalars.push(("bytes", RowCell::Count(size)));
    response
}
