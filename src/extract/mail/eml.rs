//! Messages stored as files, in the format in which they are sent (RFC 5322).

use daysheet_core::body::entity::{PartTree, bytes_of, decoded, field, fields, is, name};
use daysheet_core::body::signed;
use daysheet_core::provider::MessageContent;
use daysheet_core::text;
use mail_parser::{MessageParser, MessagePart, MimeHeaders, PartType};

use super::StoredMessage;
use crate::{EmbeddedFile, FileKind, Finding, OutputSink, ReadFailure, StopReason};

/// Reads a message file.
pub fn read(bytes: &[u8], out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    let outer = parse(bytes)?;
    let value = |name| field(&outer, outer.headers(), name);
    let people = |name| {
        let lines = fields(&outer, outer.headers(), name);
        let list = lines.iter().flat_map(|line| text::address_list(line));
        list.map(|one| one.to_string()).collect::<Vec<_>>().join(", ")
    };
    let head = vec![
        ("From", people("From")),
        ("To", people("To")),
        ("Cc", people("Cc")),
        ("Date", value("Date")),
        ("Subject", text::header(&value("Subject")).into_owned()),
    ];
    // The header of the outer message is shown; only its body is replaced by the signed entity.
    let packed = packed(&outer);
    let parsed = packed.as_deref().map_or(Ok(outer), parse)?;
    let mut tree = PartTree::new(&parsed);
    std::mem::take(&mut tree.odd).into_iter().for_each(|odd| out.find(Finding::OddParts(odd)));
    let content = MessageContent { parts: std::mem::take(&mut tree.texts), ..Default::default() };
    let size = |part: &&MessagePart<'_>| u64::try_from(part.contents().len()).unwrap_or(u64::MAX);
    let files = tree.files.iter().map(|part| (name(&parsed, part), size(part))).collect();
    let failure = parsed.parts.first().and_then(locked);
    StoredMessage { head, content, files, failure }.give(out)
}

/// Returns the attached file with the number `part`, from 1.
pub fn inside(bytes: &[u8], part: u32) -> Result<EmbeddedFile, ReadFailure> {
    let outer = parse(bytes)?;
    let packed = packed(&outer);
    let parsed = packed.as_deref().map_or(Ok(outer), parse)?;
    let files = PartTree::new(&parsed).files;
    let at = usize::try_from(part).unwrap_or(usize::MAX).checked_sub(1);
    let many = u32::try_from(files.len()).unwrap_or(u32::MAX);
    let part = at.and_then(|at| files.get(at)).ok_or(ReadFailure::NoSuchPart(many))?;
    let bytes = match &part.body {
        // Text is converted to UTF-8, so that a nested file is read without its charset parameter.
        PartType::Text(_) | PartType::Html(_) => decoded(&parsed, part, &[]).into_bytes(),
        PartType::Binary(_) | PartType::InlineBinary(_) => bytes_of(&parsed, part),
        _ => part.contents().to_vec(),
    };
    Ok(EmbeddedFile { name: name(&parsed, part), bytes })
}

fn parse(bytes: &[u8]) -> Result<mail_parser::Message<'_>, ReadFailure> {
    let parsed = MessageParser::default().parse(bytes);
    // The parser accepts any bytes; without header fields they are not a message.
    parsed.filter(|message| !message.headers().is_empty()).ok_or(ReadFailure::Broken)
}

/// Returns the entity inside an S/MIME signature, if that is the whole message.
fn packed(message: &mail_parser::Message<'_>) -> Option<Vec<u8>> {
    let root = message.parts.first()?;
    let kind = root.content_type()?;
    let may = is(kind, "pkcs7-mime") || is(kind, "x-pkcs7-mime");
    may.then(|| signed::content(&bytes_of(message, root))).flatten()
}

/// Returns the reason why the text of a message cannot be read, if it is encrypted or sealed.
fn locked(root: &MessagePart<'_>) -> Option<ReadFailure> {
    let kind = root.content_type()?;
    let sealed = is(kind, "pkcs7-mime") || is(kind, "x-pkcs7-mime");
    let signed = kind.attribute("smime-type").is_some_and(|way| way.contains("signed"));
    match () {
        () if is(kind, "encrypted") || sealed && !signed => Some(ReadFailure::Encrypted),
        () if sealed => Some(ReadFailure::NotRead(FileKind::Smime)),
        () => None,
    }
}
