//! Messages as files, in the format in which they are sent (RFC 5322).

use daysheet_core::provider::{MessageContent, PlainText, TextPart};
use daysheet_core::text::{self, charset};
use mail_parser::decoders::base64::base64_decode;
use mail_parser::{
    ContentType, Encoding, Header, MessageParser, MessagePart, MimeHeaders, PartType,
};

use super::Message;
use crate::{Failure, File, Kind, Out, Stop};

/// Parts within parts that are followed.
const DEEPEST: usize = 50;
/// Texts that are read together; those that follow are listed as files.
const TEXTS: usize = 1_000;

/// Reads such a file.
pub fn read(bytes: &[u8], out: &mut Out<'_>) -> Result<(), Stop> {
    let parsed = parse(bytes)?;
    let mut tree = Tree::of(&parsed);
    let content = MessageContent { parts: std::mem::take(&mut tree.texts), ..Default::default() };
    let value = |name| field(&parsed, parsed.headers(), name);
    let people = |name| {
        let list = text::address_list(&value(name));
        list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let head = vec![
        ("From", people("From")),
        ("To", people("To")),
        ("Cc", people("Cc")),
        ("Date", value("Date")),
        ("Subject", text::header(&value("Subject")).into_owned()),
    ];
    let size = |part: &&MessagePart<'_>| u64::try_from(part.contents().len()).unwrap_or(u64::MAX);
    let files = tree.files.iter().map(|part| (name(&parsed, part), size(part))).collect();
    let failure = parsed.parts.first().and_then(locked);
    Message { head, content, files, failure }.give(out)
}

/// Returns the file number `part` within it, from 1.
pub fn inside(bytes: &[u8], part: u32) -> Result<File, Failure> {
    let parsed = parse(bytes)?;
    let files = Tree::of(&parsed).files;
    let at = usize::try_from(part).unwrap_or(usize::MAX).checked_sub(1);
    let many = u32::try_from(files.len()).unwrap_or(u32::MAX);
    let part = at.and_then(|at| files.get(at)).ok_or(Failure::NoSuchPart(many))?;
    let bytes = match &part.body {
        PartType::Text(_) | PartType::Html(_) => decoded(&parsed, part, &[]).into_bytes(),
        PartType::Binary(_) | PartType::InlineBinary(_) => bytes_of(&parsed, part),
        _ => part.contents().to_vec(),
    };
    Ok(File { name: name(&parsed, part), bytes })
}

fn parse(bytes: &[u8]) -> Result<mail_parser::Message<'_>, Failure> {
    let parsed = MessageParser::default().parse(bytes);
    parsed.filter(|message| !message.headers().is_empty()).ok_or(Failure::Broken)
}

/// The parts of a message, texts and files apart.
struct Tree<'m> {
    message: &'m mail_parser::Message<'m>,
    texts: Vec<Vec<Vec<TextPart>>>,
    files: Vec<&'m MessagePart<'m>>,
}

impl<'m> Tree<'m> {
    fn of(message: &'m mail_parser::Message<'m>) -> Self {
        let mut tree = Self { message, texts: Vec::new(), files: Vec::new() };
        tree.part(0, 0);
        tree
    }

    fn part(&mut self, id: u32, depth: usize) {
        let Some(part) = self.message.part(id) else { return };
        let PartType::Multipart(children) = &part.body else {
            match text_of(self.message, part) {
                Some(text) if self.texts.len() < TEXTS => self.texts.push(vec![vec![text]]),
                _ => self.files.push(part),
            }
            return;
        };
        if depth >= DEEPEST {
            return;
        }
        let alternative = part.content_type().is_some_and(|kind| is(kind, "alternative"));
        let outer = alternative.then(|| std::mem::take(&mut self.texts));
        let mut forms = Vec::new();
        for child in children {
            self.part(*child, depth + 1);
            if alternative {
                // All below one child is one form, its richest if it has several.
                let below = std::mem::take(&mut self.texts).into_iter();
                forms.push(below.filter_map(|mut text| text.pop()).flatten().collect::<Vec<_>>());
            }
        }
        if let Some(outer) = outer {
            self.texts = outer;
            forms.retain(|form| !form.is_empty());
            self.texts.extend((!forms.is_empty()).then_some(forms));
        }
    }
}

/// Returns a part's text if it is one to be read with the message.
fn text_of(message: &mail_parser::Message<'_>, part: &MessagePart<'_>) -> Option<TextPart> {
    let attached = part.content_disposition().is_some_and(|how| how.is_attachment());
    if attached || part.attachment_name().is_some() {
        return None;
    }
    let kind = part.content_type();
    let html = kind.is_some_and(|kind| is(kind, "html"));
    let plain = kind.is_none_or(|kind| kind.subtype().is_none() || is(kind, "plain"));
    match &part.body {
        PartType::Html(_) | PartType::Text(_) if html => {
            Some(TextPart::Html(decoded(message, part, &message.raw_message)))
        }
        PartType::Text(_) if plain => {
            let attribute = |name: &str| kind.and_then(|kind| kind.attribute(name));
            let yes = |name: &str, value: &str| {
                attribute(name).is_some_and(|given| given.eq_ignore_ascii_case(value))
            };
            let flowed = yes("format", "flowed").then(|| yes("delsp", "yes"));
            let text = decoded(message, part, &message.raw_message);
            Some(TextPart::Plain(PlainText { text, flowed }))
        }
        _ => None,
    }
}

/// Returns a part's characters, by our own decoder: the library's knows fewer charsets. The rest
/// of the message `beside` it helps where no charset is declared.
fn decoded(message: &mail_parser::Message<'_>, part: &MessagePart<'_>, beside: &[u8]) -> String {
    let label = part.content_type().and_then(|kind| kind.attribute("charset"));
    charset::decode_in(&bytes_of(message, part), label, beside).0
}

/// Returns a part's bytes without its transfer encoding. The library gives up at the first
/// mistake in quoted-printable.
fn bytes_of(message: &mail_parser::Message<'_>, part: &MessagePart<'_>) -> Vec<u8> {
    let (from, to) = (part.offset_body as usize, part.offset_end as usize);
    let raw = message.raw_message.get(from..to).unwrap_or_default();
    match part.encoding {
        Encoding::None => raw.to_vec(),
        Encoding::QuotedPrintable => text::quoted_printable(raw),
        Encoding::Base64 => base64_decode(raw).unwrap_or_else(|| part.contents().to_vec()),
    }
}

fn is(kind: &ContentType<'_>, subtype: &str) -> bool {
    kind.subtype().is_some_and(|own| own.eq_ignore_ascii_case(subtype))
}

/// Returns why the text of a message cannot be read, if it is encrypted or sealed.
fn locked(root: &MessagePart<'_>) -> Option<Failure> {
    let kind = root.content_type()?;
    let sealed = is(kind, "pkcs7-mime") || is(kind, "x-pkcs7-mime");
    let signed = kind.attribute("smime-type").is_some_and(|way| way.contains("signed"));
    match () {
        () if is(kind, "encrypted") || sealed && !signed => Some(Failure::Encrypted),
        () if sealed => Some(Failure::NotRead(Kind::Smime)),
        () => None,
    }
}

/// Returns the value of a header field on one line, its encoded words as they are. The library
/// takes 8-bit characters for UTF-8.
fn field(message: &mail_parser::Message<'_>, headers: &[Header<'_>], name: &str) -> String {
    let found = headers.iter().find(|field| field.name().eq_ignore_ascii_case(name));
    let place = found.map(|field| field.offset_start as usize..field.offset_end as usize);
    let raw = place.and_then(|place| message.raw_message.get(place)).unwrap_or_default();
    charset::decode_in(raw, None, &message.raw_message)
        .0
        .replace(['\r', '\n'], "")
        .trim()
        .to_owned()
}

/// Returns a file's name; one without a name is named by what it is.
fn name(message: &mail_parser::Message<'_>, part: &MessagePart<'_>) -> String {
    let named = |of, name| text::parameter(&field(message, &part.headers, of), name);
    let name = named("Content-Disposition", "filename").or_else(|| named("Content-Type", "name"));
    if let Some(name) = name {
        return name;
    }
    let ending = match part.content_type().and_then(ContentType::subtype) {
        _ if part.is_message() => "eml",
        Some(own) if own.eq_ignore_ascii_case("calendar") => "ics",
        Some(own) if own.eq_ignore_ascii_case("plain") => "txt",
        Some(own) if own.len() <= 5 && own.bytes().all(|byte| byte.is_ascii_alphanumeric()) => own,
        _ => "bin",
    };
    format!("unnamed.{ending}").to_lowercase()
}
