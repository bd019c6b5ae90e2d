//! One message: its bytes, the facts read from them, and the data for searches.
//!
//! The facts are read when the message is loaded. Everything that requires decoding the body
//! (snippet, words, file names) is computed on first use, so that ten thousand messages load
//! quickly. Except for two header fields of Gmail's exports, the file is independent of any
//! provider.

use std::sync::{Arc, OnceLock};

use daysheet_core::ical;
use daysheet_core::text::flowed::unflow;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use mail_parser::DateTime;

use super::head::{self, HeaderField};
use super::lines;
use super::mime::{self, ParsedPart};
use super::search_text::{beginning, each_word, has_phrase, number, visible, words};

/// The maximum size of a message, above Gmail's own limit of 50 MB with encoding.
pub(crate) const MAX_MESSAGE: usize = 64 << 20;

/// The number of bytes of a text part that are searched.
const MAX_SEARCHED: usize = 1 << 20;

/// The maximum length of a snippet, in characters.
const SNIPPET: usize = 200;

/// The maximum length of a preview, in characters.
const PREVIEW: usize = 255;

/// Header fields of which every message has at least one.
const TELLING: [&str; 10] = [
    "From", "To", "Cc", "Subject", "Date", "Message-ID", "Received", "Return-Path", "Sender",
    "MIME-Version",
];

/// The facts in a message's header section.
#[derive(Debug, Clone, Default)]
pub(crate) struct MessageFacts {
    /// From, decoded.
    pub from: String,
    /// To, decoded.
    pub to: String,
    /// Cc, decoded.
    pub cc: String,
    /// Bcc, decoded.
    pub bcc: String,
    /// Subject, decoded.
    pub subject: String,
    /// Delivered-To.
    pub delivered_to: String,
    /// The Message-ID without its brackets.
    pub message_id: String,
    /// The Message-IDs of References and In-Reply-To.
    pub references: Vec<String>,
    /// X-Gmail-Labels: the labels, in an export.
    pub labels: Option<String>,
    /// X-GM-THRID: the conversation, in an export.
    pub conversation: Option<String>,
    /// The time of arrival, in milliseconds since 1970.
    pub date: i64,
}

/// The data from the body that searches and snippets need.
#[derive(Debug, Clone)]
struct SearchContent {
    snippet: String,
    preview: String,
    filenames: Vec<String>,
    calendar_method: Option<String>,
    /// The words of the message as sorted hashes.
    words: Box<[u64]>,
}

/// A message in a mailbox.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    /// The id; 16 hexadecimal digits on the wire.
    pub id: u64,
    /// The id of the thread, which is the id of its first message.
    pub thread: u64,
    /// The history id of the last change.
    pub history: u64,
    /// The ids of its labels.
    pub labels: Vec<String>,
    /// The facts of its header section.
    pub facts: Arc<MessageFacts>,
    /// The bytes.
    pub raw: Arc<[u8]>,
    /// Computed when first needed, and shared by all states of the message.
    content: Arc<OnceLock<SearchContent>>,
}

impl Message {
    /// Returns a message that is a thread of its own.
    pub fn new(id: u64, labels: Vec<String>, facts: MessageFacts, raw: Arc<[u8]>) -> Self {
        Self {
            id,
            thread: id,
            history: 0,
            labels,
            facts: Arc::new(facts),
            raw,
            content: Arc::default(),
        }
    }

    /// Returns true if the message has a label.
    pub fn has(&self, label: &str) -> bool {
        self.labels.iter().any(|id| id == label)
    }

    /// Returns the beginning of the text, as shown in lists.
    pub fn snippet(&self) -> &str {
        &self.content().snippet
    }

    /// Returns a longer beginning of the text, as shown in previews.
    pub fn preview(&self) -> &str {
        &self.content().preview
    }

    /// Returns the displayed texts: the plain ones, and the HTML ones. Lines of `format=flowed` are
    /// joined, as Exchange does on receipt.
    pub fn shown_texts(&self) -> (Vec<String>, Vec<String>) {
        let part = ParsedPart::of_message(&self.raw);
        let texts = part.own().into_iter().filter(|part| part.is_inline_text());
        let mut plain = Vec::new();
        let mut html = Vec::new();
        for part in texts {
            let text = head::text(&part.decode(&self.raw), part.charset.as_deref(), &self.raw);
            match (part.mime_type.as_str(), part.flowed) {
                ("text/html", _) => html.push(text),
                ("text/plain", Some(delsp)) => plain.push(unflow(&text, delsp)),
                ("text/plain" | "", None) => plain.push(text),
                // Calendars and the header fields in delivery reports are not written by a person.
                _ => {}
            }
        }
        (plain, html)
    }

    /// Returns the iTIP method of a calendar in the message: `REQUEST`, `REPLY`, `CANCEL`, … (RFC
    /// 6047). `None` without a calendar, or if it is attached as a file.
    pub fn calendar_method(&self) -> Option<&str> {
        self.content().calendar_method.as_deref()
    }

    /// Returns the names of the attachments.
    pub fn filenames(&self) -> &[String] {
        &self.content().filenames
    }

    /// Returns true if the words are adjacent in a header field or the text.
    pub fn says(&self, phrase: &[String]) -> bool {
        let known = &self.content().words;
        // The set of words excludes most messages without decoding them again.
        let all = phrase.iter().all(|word| known.binary_search(&number(word)).is_ok());
        // For a single word, the set is proof enough; adjacency has to be checked in the texts.
        all && (phrase.len() < 2
            || self.texts().iter().any(|text| has_phrase(&words(text), phrase)))
    }

    /// Returns true if the words are adjacent in the text itself.
    pub fn body_says(&self, phrase: &[String]) -> bool {
        let known = &self.content().words;
        let all = phrase.iter().all(|word| known.binary_search(&number(word)).is_ok());
        if !all {
            return false;
        }
        // The set also has the words of header fields, so even a single word is checked in the
        // text.
        let (plain, html) = bodies(&ParsedPart::of_message(&self.raw), &self.raw);
        let mut texts = plain.iter().chain(&html);
        texts.any(|text| has_phrase(&words(text), phrase))
    }

    fn content(&self) -> &SearchContent {
        self.content.get_or_init(|| {
            let part = ParsedPart::of_message(&self.raw);
            let (plain, html) = bodies(&part, &self.raw);
            let mut words = Vec::new();
            let texts = plain.iter().chain(&html).map(String::as_str);
            for text in self.headers().into_iter().chain(texts) {
                each_word(text, |word| words.push(number(word)));
            }
            words.sort_unstable();
            words.dedup();
            // A blank plain part beside HTML must not yield an empty snippet.
            let shown = plain.iter().chain(&html).find(|text| !text.trim().is_empty());
            let first_of = |limit| shown.map(|text| beginning(text, limit));
            let parts = part.own();
            let is_calendar =
                |part: &&&ParsedPart| part.mime_type == "text/calendar" && part.filename.is_empty();
            let calendar = parts.iter().find(is_calendar).map(|part| {
                let text = head::text(&part.decode(&self.raw), part.charset.as_deref(), &self.raw);
                ical::read(&text, &TimeZone::UTC)
            });
            SearchContent {
                calendar_method: calendar.and_then(|read| read.ok()?.method),
                snippet: first_of(SNIPPET).unwrap_or_default(),
                preview: first_of(PREVIEW).unwrap_or_default(),
                filenames: parts
                    .into_iter()
                    .filter(|part| part.is_attachment())
                    .map(|part| part.filename.clone())
                    .collect(),
                words: words.into_boxed_slice(),
            }
        })
    }

    /// Returns the header fields that free words are searched in.
    fn headers(&self) -> [&str; 4] {
        let facts = &self.facts;
        [&facts.subject, &facts.from, &facts.to, &facts.cc]
    }

    /// Returns all texts that free words are searched in.
    fn texts(&self) -> Vec<String> {
        let (plain, html) = bodies(&ParsedPart::of_message(&self.raw), &self.raw);
        let headers = self.headers().into_iter().map(str::to_owned);
        headers.chain(plain).chain(html).collect()
    }
}

/// Returns the texts of a message: the plain ones, and the text of the HTML ones.
fn bodies(message: &ParsedPart, raw: &[u8]) -> (Vec<String>, Vec<String>) {
    let mut plain = Vec::new();
    let mut html = Vec::new();
    for part in message.own().into_iter().filter(|part| part.is_inline_text()) {
        let bytes = part.decode(raw);
        let text = head::text(beginning_of(&bytes), part.charset.as_deref(), raw);
        match part.mime_type.as_str() {
            "text/html" => html.push(visible(&text)),
            _ => plain.push(text),
        }
    }
    (plain, html)
}

/// Returns the searched part of a text, not cut inside a UTF-8 character.
fn beginning_of(text: &[u8]) -> &[u8] {
    let mut end = MAX_SEARCHED;
    // A UTF-8 character has at most three continuation bytes; other data may have more of them.
    while text.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) && end > MAX_SEARCHED - 4 {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

/// Converts a message to the form of the wire: no mbox separator or byte order mark before it, and
/// CRLF line ends (RFC 5322) if the file has Unix ones.
pub(crate) fn wire_form(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    loop {
        let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        let (line, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
        let separator = line.starts_with(b"From ") || line.starts_with(b">From ");
        if line.is_empty() || !(separator || line.trim_ascii().is_empty()) {
            break;
        }
        bytes = rest;
    }
    // The first line decides: a file with CRLF is kept byte for byte, lone LFs included.
    let first = bytes.iter().position(|byte| *byte == b'\n').unwrap_or_default();
    if first > 0 && bytes.get(first - 1) == Some(&b'\r') {
        return bytes.to_vec();
    }
    let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 32);
    for line in lines(bytes) {
        match line.strip_suffix(b"\n") {
            Some(text) if !text.ends_with(b"\r") => {
                out.extend_from_slice(text);
                out.extend_from_slice(b"\r\n");
            }
            _ => out.extend_from_slice(line),
        }
    }
    out
}

/// Reads the facts of a message. `posted` is the time in the mbox separator, in seconds.
///
/// # Errors
/// The reason why the bytes are not a message.
pub(crate) fn facts(raw: &[u8], posted: Option<i64>) -> Result<MessageFacts, &'static str> {
    if raw.is_empty() {
        return Err("it is empty");
    }
    if raw.len() > MAX_MESSAGE {
        return Err("it is larger than 64 MiB");
    }
    let head = mime::header_section(raw);
    let fields = head::fields(head, raw);
    if fields.is_empty() {
        return Err("it has no header fields");
    }
    if !TELLING.iter().any(|name| head::find(&fields, name).is_some()) {
        return Err("it has none of the header fields of a letter");
    }
    let text = |name| head::find(&fields, name).map(|field| field.value());
    let plain = |name| text(name).unwrap_or_default();
    let mut references = ids(&plain("References"));
    references.extend(ids(&plain("In-Reply-To")));
    Ok(MessageFacts {
        from: plain("From"),
        to: plain("To"),
        cc: plain("Cc"),
        bcc: plain("Bcc"),
        subject: plain("Subject"),
        delivered_to: plain("Delivered-To"),
        message_id: plain("Message-ID").trim_matches(['<', '>']).to_owned(),
        references,
        labels: text("X-Gmail-Labels"),
        conversation: text("X-GM-THRID"),
        date: date(&fields, posted),
    })
}

/// Returns a message's time in milliseconds: from `Date`, else from the last `Received`, else from
/// the mbox, else 1970.
fn date(fields: &[HeaderField<'_>], posted: Option<i64>) -> i64 {
    // The parser needs a line end, and reads RFC 5322 dates only; some exporters write ISO 8601.
    let read = |text: &str| {
        let date = DateTime::parse_rfc822(&format!("{text}\n")).filter(DateTime::is_valid);
        let iso = || text.trim().parse::<Timestamp>().ok();
        date.map(|date| date.to_timestamp()).or_else(|| iso().map(Timestamp::as_second))
    };
    let field = |name| head::find(fields, name).map(|field| field.unfolded());
    let sent = field("Date").and_then(|text| read(&text));
    let received = || {
        let text = field("Received")?;
        // RFC 5322, 3.6.7: the time follows the last semicolon.
        read(text.rsplit_once(';')?.1)
    };
    let seconds = sent.or_else(received).or(posted).unwrap_or_default();
    seconds.max(0).saturating_mul(1_000)
}

/// Returns the Message-IDs in a field, at most 200.
fn ids(field: &str) -> Vec<String> {
    let inside = |piece: &str| Some(piece.split_once('>')?.0.trim().to_owned());
    field.split('<').skip(1).filter_map(inside).take(200).collect()
}
