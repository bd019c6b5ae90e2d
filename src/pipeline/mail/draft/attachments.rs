//! Attachments of an outgoing message: files of this machine, attachments of other
//! messages, messages themselves, and data in the call.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use daysheet_core::compose::names;
use daysheet_core::compose::text::TextForms;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::project::Projection;
use daysheet_core::provider::BodyForm;
use daysheet_core::provider::mail::{AttachmentContent, OutgoingAttachment, SourceMessage};
use daysheet_core::text::brief;
use percent_encoding::percent_decode_str;

use super::people::named_message;
use super::steps::DraftContext;
use crate::pipeline::context::Context;
use crate::pipeline::handles::resolve_handle;
use crate::pipeline::local_files::local_file;
use crate::pipeline::mail::files::{AttachmentIds, file_named};
use crate::store::HandleKind;

/// The maximum number of attachments of a message.
const MAX_ATTACHMENTS: usize = 50;

/// Fetches the attachments.
pub(super) async fn fetch_attachments(
    ctx: &Context,
    items: &[String],
    context: &DraftContext,
) -> Result<Vec<OutgoingAttachment>> {
    let mut found = Vec::new();
    for item in items.iter().filter(|item| !item.is_empty()) {
        let some = attachments_of(ctx, item, context).await;
        found.append(&mut some.map_err(|error| error.context("attach"))?);
    }
    Ok(found)
}

async fn attachments_of(
    ctx: &Context,
    item: &str,
    context: &DraftContext,
) -> Result<Vec<OutgoingAttachment>> {
    let most = ctx.config.largest_file;
    if item.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("data:")) {
        return Ok(vec![data(item, most)?]);
    }
    if let Some((owner, id)) = resolve_handle(ctx, HandleKind::Attachment, item).await? {
        let mailbox = if owner == context.account.id {
            context.mailbox.clone()
        } else {
            ctx.connect.mailbox(&ctx.accounts.by_id(&owner).await?)?
        };
        let ids = AttachmentIds { handle: item, lasting: &id };
        let (message, file) = file_named(mailbox.as_ref(), ids).await?;
        let bytes = mailbox.file(&message, &file.id, most).await?;
        return Ok(vec![new_attachment(&file.name, &file.media, bytes)]);
    }
    let is_message =
        matches!(HandleKind::parse(item), Some((HandleKind::Message | HandleKind::Thread, _)));
    if is_message {
        return Ok(vec![message_as_file(ctx, item, most).await?]);
    }
    let found = local_file(ctx, item).await?;
    let media = mime_guess::from_path(&found.name).first_or_octet_stream();
    Ok(vec![new_attachment(&found.name, media.essence_str(), found.bytes)])
}

/// Returns a message as an attachment, in the form in which it was transmitted.
async fn message_as_file(ctx: &Context, item: &str, most: u64) -> Result<OutgoingAttachment> {
    let (account, id) = named_message(ctx, item, None).await?;
    let mailbox = ctx.connect.mailbox(&account)?;
    let answers = mailbox.read_messages(&[id], &Projection::default(), BodyForm::Raw).await;
    let message = answers.into_iter().next().unwrap_or_else(|| {
        Err(Error::new(ErrorKind::NotFound, "the provider returned nothing for it"))
    })?;
    // The Bcc of a sent message must not reach the recipients of this one.
    let source = without_bcc(&message.source.unwrap_or_default());
    if u64::try_from(source.len()).unwrap_or(u64::MAX) > most {
        return Err(too_large(item, most));
    }
    let subject = daysheet_core::compose::read(source.as_bytes())
        .map(|read| read.subject)
        .unwrap_or_default();
    let name = if subject.is_empty() { format!("{item}.eml") } else { format!("{subject}.eml") };
    Ok(new_attachment(&name, "message/rfc822", source.into_bytes()))
}

/// Returns the attachments of a forwarded message.
pub(super) async fn forwarded_attachments(
    ctx: &Context,
    original: &SourceMessage,
    context: &DraftContext,
) -> Result<Vec<OutgoingAttachment>> {
    let most = ctx.config.largest_file;
    let total: u64 = original.files.iter().map(|file| file.size).sum();
    // Refused before anything is fetched.
    if total > most {
        return Err(too_large("the message's attachments", most)
            .next("forward it with quote=none, or attach the message itself to a new one"));
    }
    let mut files = Vec::new();
    for file in &original.files {
        let bytes = context.mailbox.file(&original.id, &file.id, most).await?;
        files.push(OutgoingAttachment {
            cid: file.cid.clone(),
            ..new_attachment(&file.name, &file.media, bytes)
        });
    }
    Ok(files)
}

/// Refuses attachments that exceed the limits of a message.
pub(super) fn check_sizes(ctx: &Context, files: &[OutgoingAttachment]) -> Result<()> {
    let most = ctx.config.largest_file;
    let total: u64 = files.iter().map(|file| size(&file.content)).sum();
    if total > most {
        return Err(too_large("the attachments' total", most));
    }
    if files.len() > MAX_ATTACHMENTS {
        return Err(Error::argument(format!(
            "{} files are attached, more than {MAX_ATTACHMENTS}",
            files.len()
        ))
        .next("attach one archive instead"));
    }
    Ok(())
}

/// Returns the size of an attachment in bytes.
pub(super) fn size(content: &AttachmentContent) -> u64 {
    match content {
        AttachmentContent::Bytes(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        AttachmentContent::Existing { size, .. } => *size,
    }
}

fn new_attachment(name: &str, media: &str, bytes: Vec<u8>) -> OutgoingAttachment {
    // An attachment cannot be multipart, whatever its sender declares.
    let media = if media.to_ascii_lowercase().starts_with("multipart/") {
        "application/octet-stream"
    } else {
        media
    };
    OutgoingAttachment {
        name: names::clean(name),
        media: media.to_owned(),
        cid: None,
        content: AttachmentContent::Bytes(bytes.into()),
    }
}

fn too_large(what: &str, most: u64) -> Error {
    Error::argument(format!("{what} is larger than {most} bytes"))
        .next("attach less, or raise `largest_file` in the settings")
}

/// Reads an attachment from a `data:` URL (RFC 2397), with its name as a parameter.
fn data(url: &str, most: u64) -> Result<OutgoingAttachment> {
    let wrong = |why: &str| {
        Error::argument(format!("`{}` {why}", brief(url)))
            .next("write it as data:text/plain;name=notes.txt;base64,SGk=")
    };
    let (head, payload) = url
        .get(5..)
        .and_then(|rest| rest.split_once(','))
        .ok_or_else(|| wrong("is not a data URL"))?;
    let mut parts = head.split(';');
    let media = parts.next().unwrap_or_default().trim();
    let media = if media.is_empty() { "text/plain" } else { media };
    let (mut name, mut packed) = (None, false);
    for part in parts {
        match part.trim().split_once('=') {
            Some((key, value))
                if key.eq_ignore_ascii_case("name") || key.eq_ignore_ascii_case("filename") =>
            {
                let value = percent_decode_str(value.trim_matches('"')).decode_utf8();
                name = Some(value.map_err(|_| wrong("has a name that is not UTF-8"))?.into_owned());
            }
            None if part.trim().eq_ignore_ascii_case("base64") => packed = true,
            _ => {}
        }
    }
    // Base64 has four characters for three bytes.
    let longest = most.saturating_mul(2);
    if u64::try_from(payload.len()).unwrap_or(u64::MAX) > longest {
        return Err(too_large("a data URL", most));
    }
    let bytes: Vec<u8> = percent_decode_str(payload).collect();
    let bytes = if packed {
        let packed: Vec<u8> =
            bytes.into_iter().filter(|byte| !byte.is_ascii_whitespace()).collect();
        STANDARD
            .decode(&packed)
            .or_else(|_| STANDARD_NO_PAD.decode(&packed))
            .map_err(|_| wrong("is not Base64"))?
    } else {
        bytes
    };
    let name = name.unwrap_or_else(|| format!("attachment.{}", ending(media)));
    Ok(new_attachment(&name, media, bytes))
}

/// Returns the file name extension for a media type.
fn ending(media: &str) -> &str {
    let subtype = media.rsplit('/').next().unwrap_or_default();
    match subtype {
        "plain" => "txt",
        "calendar" => "ics",
        "jpeg" => "jpg",
        short
            if (1..=5).contains(&short.len())
                && short.bytes().all(|b| b.is_ascii_alphanumeric()) =>
        {
            short
        }
        _ => "bin",
    }
}

/// Removes the files with these names.
pub(super) fn without(files: &mut Vec<OutgoingAttachment>, names: &[String]) -> Result<()> {
    for name in names.iter().filter(|name| !name.is_empty()) {
        let before = files.len();
        files.retain(|file| !file.name.eq_ignore_ascii_case(name));
        if files.len() == before {
            let known: Vec<String> = files.iter().map(|file| brief(&file.name)).collect();
            let error =
                Error::new(ErrorKind::NotFound, format!("the draft has no file {}", brief(name)));
            return Err(if known.is_empty() {
                error.next("leave out `detach`")
            } else {
                error.next(format!("it has {}", known.join(", ")))
            });
        }
    }
    Ok(())
}

/// Removes the Bcc field from a message.
fn without_bcc(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source.split_inclusive('\n');
    let mut dropping = false;
    for line in rest.by_ref() {
        if line.trim_end().is_empty() {
            out.push_str(line);
            break;
        }
        // A folded line belongs to the field before it (RFC 5322, 2.2.3).
        let folded = line.starts_with([' ', '\t']);
        dropping = if folded {
            dropping
        } else {
            line.get(..4).is_some_and(|name| name.eq_ignore_ascii_case("bcc:"))
        };
        if !dropping {
            out.push_str(line);
        }
    }
    out.extend(rest);
    out
}

/// Gives the pictures that the body shows by `cid:NAME` a Content-ID, and refers to them by it.
pub(super) fn inline(
    body: &mut TextForms,
    files: &mut [OutgoingAttachment],
    message_id: &str,
) -> Result<()> {
    let mut out = String::with_capacity(body.html.len());
    let mut used: Vec<String> = files.iter().filter_map(|file| file.cid.clone()).collect();
    let mut rest = body.html.as_str();
    while let Some(at) = rest.find("\"cid:") {
        let (before, after) = rest.split_at(at + "\"cid:".len());
        out.push_str(before);
        let end = after.find('"').unwrap_or(after.len());
        let (encoded, after) = after.split_at(end);
        rest = after;
        let name = html_escape::decode_html_entities(encoded).into_owned();
        let decoded = percent_decode_str(&name).decode_utf8_lossy().into_owned();
        // The HTML may have the name percent-encoded, or the Content-ID of a file that the draft
        // has.
        let found = files.iter_mut().find(|file| {
            file.name == name || file.name == decoded || file.cid.as_deref() == Some(name.as_str())
        });
        let Some(file) = found else {
            return Err(Error::argument(format!(
                "cid:{} matches no attached file",
                brief(&decoded)
            ))
            .next("attach the picture, and write cid: with its name"));
        };
        if !file.media.starts_with("image/") {
            return Err(Error::argument(format!("{} is not a picture", brief(&file.name)))
                .next("attach it without showing it"));
        }
        let cid = file.cid.get_or_insert_with(|| {
            let names = (1..).map(|number| format!("p{number}.{message_id}"));
            let free = names.into_iter().find(|name| !used.contains(name));
            free.unwrap_or_default()
        });
        used.push(cid.clone());
        out.push_str(cid);
    }
    out.push_str(rest);
    body.html = out;
    Ok(())
}
