//! Reading of Gmail's tree of message parts.
//!
//! Gmail has parsed the MIME structure and the transfer encodings. This module separates texts from
//! attachments, keeps alternatives together, and decodes bytes and charsets with libraries. No I/O:
//! the adapter fetches parts that Gmail left out for their size.

use std::borrow::Cow;
use std::mem::take;

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use daysheet_core::body::entity::{self, MultipartChild, root};
use daysheet_core::body::report::REPORTS;
use daysheet_core::body::{self, signed, tnef};
use daysheet_core::error::Result;
use daysheet_core::ical;
use daysheet_core::ids::MessageId;
use daysheet_core::provider::{MessageContent, PlainText, TextObstacle, TextPart};
use daysheet_core::text::{Note, charset, note, parameter, quoted_list};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::google::client;
use crate::json::text;

/// base64url, with or without padding: Gmail and servers like it differ.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The maximum size of a `winmail.dat` or `smime.p7m` that is fetched for its text, in bytes.
const PACKED_LIMIT: u64 = 8 << 20;

/// A message, with texts and attachments separated.
#[derive(Debug, Default)]
pub struct MessageTree {
    /// The texts to read, in order.
    texts: Vec<TextAlternatives>,
    files: Vec<Value>,
    /// The first calendar part, usually an invitation.
    calendar: Option<BodyPart>,
    /// The blocks of fields of a delivery report or a receipt.
    report: Vec<BodyPart>,
    /// The part that may contain the text: Outlook's `winmail.dat`, or `smime.p7m`.
    packed: Option<BodyPart>,
    obstacle: Option<TextObstacle>,
    inline: Vec<Value>,
    notes: Vec<Note>,
}

/// One text in several forms, the plainest first (RFC 2046, section 5.1.4). A form may be a
/// sequence of parts, for example two texts with a file between them.
#[derive(Debug, Default)]
struct TextAlternatives {
    forms: Vec<Vec<BodyPart>>,
}

/// One form of a text.
#[derive(Debug)]
pub enum BodyPart {
    /// A part with its bytes.
    Here {
        /// Media type and its parameters.
        kind: ContentType,
        /// The bytes.
        data: DecodedData,
    },
    /// A part that has been decoded, and shortened if it was long.
    Read(TextPart, Vec<Note>),
    /// A part that Gmail left out for its size.
    Elsewhere {
        /// Media type and its parameters.
        kind: ContentType,
        /// The id to fetch them by.
        attachment: String,
    },
}

/// Bytes decoded from base64url; of damaged text, the bytes before the damage.
#[derive(Debug, Default)]
pub struct DecodedData {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// True if the text was damaged.
    pub damaged: bool,
}

/// The `Content-Type` of a text part.
#[derive(Debug, Clone, Default)]
pub struct ContentType {
    html: bool,
    charset: Option<String>,
    flowed: Option<bool>,
    /// The `method` of a calendar part (RFC 6047).
    method: Option<String>,
}

impl BodyPart {
    /// Returns the id to fetch, or an empty text if the bytes are here.
    pub fn attachment(&self) -> &str {
        match self {
            Self::Here { .. } | Self::Read(..) => "",
            Self::Elsewhere { attachment, .. } => attachment,
        }
    }

    /// Replaces the reference by fetched bytes.
    pub fn bring(&mut self, data: DecodedData) {
        if let Self::Elsewhere { kind, .. } = self {
            *self = Self::Here { kind: std::mem::take(kind), data };
        }
    }
}

/// Reads the tree of the message `id`.
pub fn read(id: &MessageId, item: &Value) -> MessageTree {
    let mut tree = MessageTree::default();
    if let Some(payload) = item.get("payload") {
        tree.sort_part(id, payload, PartPosition { inside: "", shown: true });
        tree.obstacle = header(payload, "Content-Type").and_then(TextObstacle::from_content_type);
    }
    // A message with a text needs no other form of it.
    if !tree.texts.is_empty() || tree.obstacle == Some(TextObstacle::Smime) {
        tree.packed = None;
    }
    tree
}

impl MessageTree {
    /// Returns the parts that have to be fetched.
    pub fn elsewhere(&mut self) -> impl Iterator<Item = &mut BodyPart> {
        self.texts
            .iter_mut()
            .flat_map(|text| &mut text.forms)
            .flatten()
            .chain(&mut self.calendar)
            .chain(&mut self.report)
            .chain(&mut self.packed)
            .filter(|part| matches!(part, BodyPart::Elsewhere { .. }))
    }

    /// Decodes and shortens the texts that are here, which frees the rest of them.
    pub fn shorten(&mut self) {
        for part in self.texts.iter_mut().flat_map(|text| &mut text.forms).flatten() {
            if let BodyPart::Here { kind, data } = part {
                let whole = BodyPart::Here { kind: take(kind), data: take(data) };
                let mut notes = Vec::new();
                if let Some(mut text) = whole.text(&mut notes) {
                    notes.extend(body::shorten([&mut text]));
                    *part = BodyPart::Read(text, notes);
                }
            }
        }
    }

    /// Returns the message. All texts have to be here.
    pub fn into_message(self, item: Value) -> MessageContent {
        let mut notes = self.notes;
        let parts: Vec<_> = self
            .texts
            .into_iter()
            .map(|text| {
                text.forms
                    .into_iter()
                    .map(|form| {
                        form.into_iter()
                            .filter_map(|part| part.text(&mut notes))
                            .collect::<Vec<_>>()
                    })
                    .filter(|form| !form.is_empty())
                    .collect::<Vec<_>>()
            })
            .filter(|forms| !forms.is_empty())
            .collect();
        let blocks = self.report.into_iter().filter_map(|part| match part.text(&mut notes)? {
            TextPart::Plain(found) => Some(found.text),
            TextPart::Html(_) => None,
        });
        let report = blocks.collect::<Vec<_>>().join("\n\n");
        let invitation = self.calendar.and_then(|part| part.calendar(&mut notes));
        let mut message = MessageContent {
            item,
            parts,
            invitation,
            report: (!report.is_empty()).then_some(report),
            obstacle: self.obstacle,
            attachments: self.files,
            inline: self.inline,
            notes,
            ..MessageContent::default()
        };
        match self.packed.and_then(BodyPart::bytes) {
            Some(bytes) if tnef::is_tnef(&bytes) => winmail(&bytes, &mut message),
            Some(bytes) => signed::unpack(&bytes, &mut message),
            None => {}
        }
        message
    }

    /// Sorts a part, and the parts below it, into the tree.
    ///
    /// Recursion is bounded by the JSON reader, which refuses more than 128 levels.
    fn sort_part(&mut self, id: &MessageId, part: &Value, place: PartPosition<'_>) {
        let mime = text(part, "mimeType").to_ascii_lowercase();
        let filename = text(part, "filename");
        let children = part.get("parts").and_then(Value::as_array);
        // Reports are handled apart: Gmail may have split them like multiparts.
        if REPORTS.contains(&mime.as_str()) {
            self.report(part, &mime);
            return;
        }
        if let (Some(children), "") = (children, filename) {
            if mime == "multipart/alternative" {
                self.alternative(id, children, place.shown);
            } else if mime != "message/rfc822" {
                let before = self.texts.len();
                let root = shown_part(part, &mime);
                for (at, child) in children.iter().enumerate() {
                    let shown = place.shown && root.is_none_or(|root| root == at);
                    self.sort_part(id, child, PartPosition { inside: &mime, shown });
                }
                let odd = mime.strip_prefix("multipart/").and_then(entity::unknown);
                let odd =
                    odd.filter(|note| self.texts.len() > before && !self.notes.contains(note));
                self.notes.extend(odd);
            } else {
                self.file(id, part, &mime);
            }
            return;
        }
        let read = is_text(&mime) || mime == "message/partial";
        if read && place.shown && filename.is_empty() && !is_attached(part) {
            if let Some(found) = form(part, &mime) {
                self.texts.push(TextAlternatives { forms: vec![vec![found]] });
            }
        } else if place.inside == "multipart/related"
            && mime.starts_with("image/")
            && header(part, "Content-ID").is_some()
        {
            let mut picture = file_object(id, part, &mime, filename);
            if let Some(members) = picture.as_object_mut() {
                members.insert("inline".to_owned(), true.into());
            }
            self.inline.push(picture);
        } else if !mime.starts_with("multipart/") {
            self.file(id, part, &mime);
        }
    }

    /// Adds one text in several forms. Everything below one child is one form, however many parts
    /// it has.
    fn alternative(&mut self, id: &MessageId, children: &[Value], shown: bool) {
        let mut forms = Vec::new();
        for child in children {
            let mut below = MessageTree::default();
            below.sort_part(id, child, PartPosition { inside: "multipart/alternative", shown });
            self.files.append(&mut below.files);
            self.calendar = self.calendar.take().or(below.calendar.take());
            self.packed = self.packed.take().or(below.packed.take());
            self.report.append(&mut below.report);
            self.inline.append(&mut below.inline);
            self.notes.append(&mut below.notes);
            // Of a nested alternative, its richest form counts.
            let form: Vec<BodyPart> =
                below.texts.into_iter().filter_map(|mut text| text.forms.pop()).flatten().collect();
            if !form.is_empty() {
                forms.push(form);
            }
        }
        if !forms.is_empty() {
            self.texts.push(TextAlternatives { forms });
        }
    }

    /// Adds the blocks of a report. Gmail has split some into parts, as if they were messages.
    fn report(&mut self, part: &Value, mime: &str) {
        self.report.extend(form(part, mime));
        for child in part.get("parts").and_then(Value::as_array).into_iter().flatten() {
            let fields = headers(&json!({"payload": {"headers": child.get("headers")}}));
            let data = DecodedData { bytes: fields.into_bytes(), damaged: false };
            self.report.push(BodyPart::Here { kind: ContentType::default(), data });
            self.report(child, mime);
        }
    }

    fn file(&mut self, id: &MessageId, part: &Value, mime: &str) {
        if self.calendar.is_none() && ical::is_calendar(mime, text(part, "filename")) {
            self.calendar = form(part, mime);
        }
        let size = part.pointer("/body/size").and_then(Value::as_u64).unwrap_or_default();
        if self.packed.is_none() && is_packed(part, mime) && size <= PACKED_LIMIT {
            self.packed = form(part, mime);
        }
        let name = match (text(part, "filename"), mime) {
            ("", "text/calendar") => "invite.ics",
            ("", "message/rfc822") => "message.eml",
            // Texts that mail programs do not show as such.
            ("", "text/plain" | "") => "unnamed.txt",
            ("", "text/html") => "unnamed.html",
            (name, _) => name,
        };
        self.files.push(file_object(id, part, mime, name));
    }
}

/// The surroundings of a part.
#[derive(Debug, Clone, Copy)]
struct PartPosition<'a> {
    /// The type of the multipart around the part; empty for the message itself.
    inside: &'a str,
    /// False if mail programs do not show the part's text.
    shown: bool,
}

/// Returns the position of the only child of a multipart that mail programs show as text; `None` if
/// they show all of them.
pub(super) fn shown_part(part: &Value, mime: &str) -> Option<usize> {
    let start = header(part, "Content-Type").and_then(|kind| parameter(kind, "start"));
    let children = part.get("parts").and_then(Value::as_array);
    let child = |child| {
        let mime = text(child, "mimeType").to_ascii_lowercase();
        let body = is_text(&mime) && text(child, "filename").is_empty() && !is_attached(child);
        let readable = body || mime.starts_with("multipart/");
        MultipartChild { cid: header(child, "Content-ID").unwrap_or_default(), readable }
    };
    let children: Vec<_> = children.into_iter().flatten().map(child).collect();
    root(mime.strip_prefix("multipart/")?, start.as_deref(), &children)
}

/// Returns a file as an object of the table of files.
fn file_object(id: &MessageId, part: &Value, mime: &str, name: &str) -> Value {
    json!({
        "id": format!("{id}/{}", text(part, "partId")),
        "message": id,
        "filename": name,
        "mimeType": mime,
        "body": { "size": part.pointer("/body/size").cloned().unwrap_or(Value::Null) },
    })
}

impl BodyPart {
    fn bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::Here { data, .. } => Some(data.bytes),
            Self::Elsewhere { .. } | Self::Read(..) => None,
        }
    }

    fn text(self, notes: &mut Vec<Note>) -> Option<TextPart> {
        let (kind, data) = match self {
            Self::Here { kind, data } => (kind, data),
            Self::Elsewhere { .. } => return None,
            Self::Read(text, found) => {
                notes.extend(found);
                return Some(text);
            }
        };
        let (text, note) = charset::decode(&data.sound(notes), kind.charset.as_deref());
        notes.extend(note.map(Note::from));
        Some(if kind.html {
            TextPart::Html(text)
        } else {
            TextPart::Plain(PlainText { text, flowed: kind.flowed })
        })
    }

    fn calendar(self, notes: &mut Vec<Note>) -> Option<String> {
        let Self::Here { kind, data } = self else {
            return None;
        };
        let (text, note) = ical::decode(&data.sound(notes), kind.charset.as_deref());
        notes.extend(note.map(Note::from));
        Some(ical::with_method(text, kind.method.as_deref()))
    }
}

/// Drops texts from a message that have been read from it, if they are large.
pub fn strip(item: &mut Value) {
    let Some(payload) = item.get_mut("payload") else {
        return;
    };
    let mut pending = vec![payload];
    while let Some(part) = pending.pop() {
        if let Some(data) = part.pointer_mut("/body/data")
            && data.as_str().is_some_and(|data| data.len() > body::MAX_BYTES)
        {
            *data = Value::Null;
        }
        pending.extend(part.get_mut("parts").and_then(Value::as_array_mut).into_iter().flatten());
    }
}

/// Returns the header lines of a message in their original order.
pub fn headers(item: &Value) -> String {
    let mut lines = String::new();
    for header in item.pointer("/payload/headers").and_then(Value::as_array).into_iter().flatten() {
        lines.push_str(text(header, "name"));
        lines.push_str(": ");
        lines.push_str(text(header, "value"));
        lines.push('\n');
    }
    lines
}

impl DecodedData {
    /// Decodes base64url.
    pub fn new(data: &str) -> Self {
        match BASE64.decode(data) {
            Ok(bytes) => Self { bytes, damaged: false },
            Err(_) => Self::up_to_damage(data),
        }
    }

    /// Decodes Gmail's response for one part.
    ///
    /// # Errors
    /// [`ErrorKind::Provider`](daysheet_core::error::ErrorKind::Provider) if the response has
    /// another form.
    pub fn of_part(body: &[u8]) -> Result<Self> {
        let part: PartData = client::parse(body)?;
        Ok(Self::new(&part.data))
    }

    fn up_to_damage(data: &str) -> Self {
        let sound: String = data
            .chars()
            .filter(|c| !c.is_ascii_whitespace())
            .map(|c| match c {
                '+' => '-',
                '/' => '_',
                other => other,
            })
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
            .collect();
        let damaged = sound.len() < data.trim_end_matches(['=', '\n', '\r']).len();
        // A group of one character encodes no byte.
        let whole = sound.get(..sound.len() - usize::from(sound.len() % 4 == 1));
        let bytes = BASE64.decode(whole.unwrap_or_default()).unwrap_or_default();
        Self { bytes, damaged }
    }

    /// Returns the bytes, and adds a note if they are damaged.
    fn sound(self, notes: &mut Vec<Note>) -> Vec<u8> {
        if self.damaged {
            notes.push("a text part is damaged base64; it is shown up to the damage".into());
        }
        self.bytes
    }
}

/// Gmail's response for one part.
#[derive(Deserialize)]
struct PartData<'a> {
    #[serde(borrow, default)]
    data: Cow<'a, str>,
}

fn form(part: &Value, mime: &str) -> Option<BodyPart> {
    let mut kind = content_type(header(part, "Content-Type").unwrap_or_default());
    kind.html = mime == "text/html";
    let body = part.get("body")?;
    let attachment = text(body, "attachmentId");
    if let Some(data) = body.get("data").and_then(Value::as_str) {
        return Some(BodyPart::Here { kind, data: DecodedData::new(data) });
    }
    (!attachment.is_empty())
        .then(|| BodyPart::Elsewhere { kind, attachment: attachment.to_owned() })
}

fn content_type(value: &str) -> ContentType {
    let is = |name: &str, expected: &str| {
        parameter(value, name).is_some_and(|value| value.eq_ignore_ascii_case(expected))
    };
    ContentType {
        html: false,
        charset: parameter(value, "charset"),
        flowed: is("format", "flowed").then(|| is("delsp", "yes")),
        method: parameter(value, "method"),
    }
}

/// Adds the text in a `winmail.dat`, in its forms.
fn winmail(bytes: &[u8], message: &mut MessageContent) {
    let found = tnef::read(bytes).unwrap_or_default();
    if !found.files.is_empty() {
        message.notes.push(note!(
            "winmail.dat has {} files: {}",
            found.files.len(),
            quoted_list(&found.files)
        ));
    }
    let plain = found.plain.map(|text| TextPart::Plain(PlainText { text, flowed: None }));
    let html = found.html.map(TextPart::Html);
    let forms: Vec<_> = [plain, html].into_iter().flatten().map(|part| vec![part]).collect();
    message.obstacle = forms.is_empty().then_some(TextObstacle::Winmail);
    message.parts.extend((!forms.is_empty()).then_some(forms));
}

fn is_packed(part: &Value, mime: &str) -> bool {
    let name = text(part, "filename").to_ascii_lowercase();
    matches!(mime, "application/ms-tnef" | "application/vnd.ms-tnef")
        || signed::TYPES.contains(&mime)
        || matches!(name.as_str(), "winmail.dat" | "smime.p7m")
}

pub(super) fn is_text(mime: &str) -> bool {
    matches!(mime, "text/plain" | "text/html" | "")
}

pub(super) fn is_attached(part: &Value) -> bool {
    header(part, "Content-Disposition")
        .is_some_and(|value| value.trim_start().to_ascii_lowercase().starts_with("attachment"))
}

pub(super) fn header<'v>(part: &'v Value, name: &str) -> Option<&'v str> {
    part.get("headers")?
        .as_array()?
        .iter()
        .find(|header| text(header, "name").eq_ignore_ascii_case(name))
        .map(|header| text(header, "value"))
}
