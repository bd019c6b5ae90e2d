//! Conversion of a message's parts to readable text.
//!
//! The richest alternative is used; quoted history is marked, or folded with a note; lines of
//! ours within a text begin with [`OURS`]. All functions are pure. Cleaning of untrusted HTML and
//! characters and fencing are in `text`; `budget` decides how much of a long text is shown.

pub mod entity;
pub mod report;
pub mod signed;
pub mod tnef;

use serde::{Deserialize, Serialize};

use crate::provider::{MessageContent, TextObstacle, TextPart};
use crate::text;
use crate::text::deceptive::{self, DisarmedText};
use crate::text::fence::{MAY_BE_HIDDEN, OURS, theirs};
use crate::text::html::{DoubtfulText, HiddenText, MailLink, TextStyle};
use crate::text::invisible::{self, InvisibleUse};
use crate::text::orders::gives_orders;
use crate::text::payment::names_new_account;
use crate::text::{Note, TextKind, note, ours, shown};

/// The maximum number of bytes of a text that is read. A stored output keeps no more.
pub const MAX_BYTES: usize = 1 << 20;
/// The maximum total number of bytes of a message's texts that are kept until they are read.
const ALL: usize = 4 << 20;

/// Plain text with this many times the words of the HTML is worth a note.
const MORE: usize = 4;

/// The note for a message of which only part of the style sheets was read.
pub const STYLES_UNREAD: &str =
    "its style sheets were not computed completely, so hidden text may be shown";

/// The form in which texts are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PartForm {
    /// Clean text.
    Text,
    /// Markdown.
    Markdown,
    /// HTML in the form in which it was sent.
    Html,
}

/// The text of a message, ready to be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadableText {
    /// The form of its source: `plain`, `html`, `raw`, `headers`, or `mixed`.
    pub kind: &'static str,
    /// The text; empty if the message has none.
    pub text: String,
    /// Notes on parts that were left out or need a warning.
    pub notes: Vec<Note>,
    /// The part of the message that names a new account for payments, if any does.
    pub payment: Option<NewAccount>,
    /// True if the shown text gives orders to an assistant.
    pub orders: bool,
    /// The content that is missing from the text, or that its readers may not see.
    pub left_out: LeftOut,
}

/// The part of a message that names a new account for payments. The new text takes precedence
/// over quoted text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum NewAccount {
    /// The quoted text, which the sender may have made up.
    Quoted,
    /// The new text.
    Fresh,
}

/// Options for reading a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadingOptions {
    /// The subject of the message, which distinguishes replies from forwards.
    pub subject: String,
    /// The form in which its texts are shown.
    pub form: PartForm,
    /// True to show quoted history instead of folding it.
    pub quoted: bool,
    /// True to show signatures, disclaimers and list footers instead of folding them.
    pub signature: bool,
    /// True to add a numbered list of link targets.
    pub links: bool,
}

/// Drops the ends of large texts that [`readable`] would not read, so that they take up no memory
/// until then. Returns a note if the texts of a message are too large in total; the notes on
/// single texts are made by `readable`.
pub fn shorten<'p>(parts: impl IntoIterator<Item = &'p mut TextPart>) -> Option<Note> {
    let mut left = ALL;
    let mut lost = false;
    for part in parts {
        let text = match part {
            TextPart::Plain(plain) => {
                text::truncate(&mut plain.text, MAX_BYTES);
                &mut plain.text
            }
            TextPart::Html(source) => {
                text::html::shorten(source);
                source
            }
        };
        lost |= text.len() > left;
        text.truncate(text.floor_char_boundary(left));
        left -= text.len();
    }
    lost.then(|| "its texts are too large to read whole: the rest of them is left out".into())
}

/// Makes the texts of a message readable.
pub fn readable(message: &MessageContent, reading: &ReadingOptions) -> ReadableText {
    let mut out = ReadableText::default();
    let mut left_out = LeftOut::default();
    let mut disarmed = DisarmedText::default();
    for found in message.parts.iter().flat_map(|forms| richest(forms, reading)) {
        left_out.add(&found);
        out.notes.extend(found.unseen.notes());
        if found.short {
            out.notes.push("its text is too large to read whole: this is its first MiB".into());
        }
        if found.text.trim().is_empty() {
            continue;
        }
        // Judged text by text, so that one quoted in one part and new in another counts as
        // new.
        out.payment = out.payment.max(new_account(&found, reading));
        out.orders |= gives_orders(&found.text);
        if !out.text.is_empty() {
            out.text.push_str("\n\n");
        }
        if !found.doubt.is_empty() {
            out.text.push_str(&format!("{OURS}{MAY_BE_HIDDEN}\n\n"));
        }
        if reading.form == PartForm::Html {
            // HTML was requested as sent, so only characters that could deceive are cleaned;
            // there are no markdown links to disarm.
            out.text.push_str(&shown(&found.text, TextKind::Source));
        } else {
            let folded =
                text::quote::fold(&found.text, &reading.subject, reading.quoted, reading.signature);
            out.text.push_str(&deceptive::disarm(&folded, &mut disarmed));
        }
        if !found.links.is_empty() {
            out.text.push_str(&format!("\n\n{OURS}Links:"));
        }
        for (at, link) in found.links.iter().enumerate() {
            let remark = match link.remark.as_str() {
                "" => String::new(),
                remark => format!(" ({remark})"),
            };
            out.text.push_str(&format!("\n{OURS}[{}] {}{remark}", at + 1, link.url));
        }
        out.kind = match out.kind {
            "" => found.kind,
            same if same == found.kind => same,
            _ => "mixed",
        };
        out.notes.extend(found.unshown.map(|plain| plain.note("body=raw")));
    }
    out.notes.extend(disarmed.note());
    if reading.form == PartForm::Html && out.kind == "plain" {
        out.notes.push("it has no HTML: this is its plain text".into());
    }
    let empty = out.text.is_empty();
    if empty {
        out.notes.push(nothing(message, &left_out));
    }
    if let Some(TextObstacle::Partial { number, total }) = message.obstacle {
        out.notes.push(if let Some(total) = total {
            note!("it is part {} of {} of a message sent in parts", number, total)
        } else {
            note!("it is part {} of a message sent in parts", number)
        });
    }
    // An empty text already has a note on its hidden characters.
    out.notes.extend(left_out.notes(empty));
    out.left_out = left_out;
    out
}

/// Returns the note that explains why there is no text.
fn nothing(message: &MessageContent, left_out: &LeftOut) -> Note {
    let hidden = &left_out.hidden;
    match &message.obstacle {
        Some(TextObstacle::Smime) => "it is encrypted (S/MIME): nothing can be read here".into(),
        Some(TextObstacle::SmimePacked { signed: true }) => {
            "it is signed and packed (S/MIME): mail_attachment as=text reads its attachment".into()
        }
        Some(TextObstacle::SmimePacked { signed: false }) => {
            "it is encrypted or packed (S/MIME): nothing can be read here".into()
        }
        Some(TextObstacle::Pgp) => "it is encrypted (PGP/MIME): nothing can be read here".into(),
        // Some services list such a text as an attachment.
        Some(TextObstacle::Enriched) if message.attachments.is_empty() => {
            "its text is in text/enriched: mail_read body=raw shows it with its marks".into()
        }
        Some(TextObstacle::Enriched) => {
            "its text is in text/enriched: mail_attachment as=text shows it with its marks".into()
        }
        Some(TextObstacle::Winmail) => {
            "its text is in winmail.dat: mail_attachment as=text reads it".into()
        }
        _ if hidden.chars > 0 && hidden.orders => note!(
            "all of its text is hidden: {} characters, which read like an order to an assistant",
            hidden.chars
        ),
        _ if hidden.chars > 0 => {
            note!("all of its text is hidden: {} characters", hidden.chars)
        }
        _ if left_out.pictures > 0 => match left_out.pictures {
            1 => "it has no text: 1 picture without a description".into(),
            many => note!("it has no text: {} pictures without a description", many),
        },
        _ => "it has no text at all".into(),
    }
}

/// The plain-text alternative of a message with HTML. Mail programs do not show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnshownPlain {
    /// It has many more words than the HTML, which is shown.
    Longer {
        /// The number of its words.
        words: usize,
        /// True if it has more words than were counted.
        over: bool,
        /// The number of words of the HTML.
        of_html: usize,
    },
    /// It is shown, because the HTML has no text.
    Text,
}

impl UnshownPlain {
    /// Returns the note on it. `whole` is the argument that returns both texts.
    pub fn note(self, whole: &'static str) -> Note {
        match self {
            Self::Longer { words, over, of_html } => note!(
                "its plain-text part, which mail programs do not show, has {}{} words; this HTML \
                 text has {}; {} has both",
                if over { "over " } else { "" },
                words,
                of_html,
                whole
            ),
            Self::Text => {
                "its HTML has no text: this is its plain text, which mail programs do not show"
                    .into()
            }
        }
    }
}

/// The content that is missing from a text, or that its readers may not see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Text left out because a reader would not see it.
    pub hidden: HiddenText,
    /// Text shown although a reader may not see it.
    pub doubt: DoubtfulText,
    /// The number of characters left out because they are nested too deep.
    pub deep: usize,
    /// True if the HTML was not read to its end.
    pub cut: bool,
    /// The number of pictures without a description.
    pub pictures: usize,
    /// The plain texts that mail programs do not show.
    pub unshown: Vec<UnshownPlain>,
}

impl LeftOut {
    fn add(&mut self, found: &ChosenText) {
        self.hidden.add(&found.hidden);
        self.doubt.add(&found.doubt);
        self.deep += found.deep;
        self.cut |= found.cut;
        self.pictures += found.pictures;
        self.unshown.extend(found.unshown);
    }

    /// Returns a note for each kind. If the text is empty, hidden characters already have a note.
    fn notes(&self, empty: bool) -> Vec<Note> {
        let mut notes = Vec::new();
        let HiddenText { chars, preview, places, orders } = self.hidden;
        if preview > 0 && !empty {
            notes.push(note!("preview text of {} characters left out", preview));
        }
        // Preview text is counted among the hidden characters. Senders hide it by habit, so
        // it is reported apart from text that was hidden for another reason.
        let chars = chars.saturating_sub(preview);
        if chars > 0 && !empty {
            let places = match places {
                0 | 1 => String::new(),
                many => format!(" in {many} places"),
            };
            notes.push(if orders {
                note!(
                    "{} characters{} are hidden from readers and were left out; they read like an \
                     order to an assistant",
                    chars,
                    ours(places)
                )
            } else {
                note!(
                    "{} characters{} are hidden from readers and were left out",
                    chars,
                    ours(places)
                )
            });
        }
        if self.deep > 0 {
            notes.push(note!(
                "{} characters nested more than 250 elements deep were left out, as they may be \
                 hidden; body=html has them",
                self.deep
            ));
        }
        if self.doubt.chars > 0 {
            let why: Vec<&str> = self.doubt.why.iter().map(|why| why.words()).collect();
            notes.push(note!(
                "{} characters may be hidden ({}) and are shown",
                self.doubt.chars,
                ours(why.join(", "))
            ));
        }
        if self.doubt.incomplete {
            notes.push(STYLES_UNREAD.into());
        }
        if self.cut {
            notes.push("the HTML is too large to read whole; body=html has its first MiB".into());
        }
        notes
    }
}

/// Returns the part of a text, without markup, that names a new account for payments.
fn new_account(found: &ChosenText, reading: &ReadingOptions) -> Option<NewAccount> {
    let text = match (reading.form, found.kind) {
        // Markup may split the words that are looked for.
        (PartForm::Html, "html") => &text::html::marked(&found.text, TextStyle::Text, false).text,
        _ => &found.text,
    };
    if !names_new_account(text) {
        return None;
    }
    // Forwarded text counts as new: the sender presents it as true.
    let parts = text::quote::split(text, &reading.subject);
    let below = [parts.forwarded, parts.signature, parts.disclaimer, parts.footer];
    let fresh = below.into_iter().flatten().fold(parts.fresh, |all, part| all + "\n" + &part);
    Some(if names_new_account(&fresh) { NewAccount::Fresh } else { NewAccount::Quoted })
}

/// One text of a message, in the chosen form.
#[derive(Default)]
struct ChosenText {
    kind: &'static str,
    text: String,
    links: Vec<MailLink>,
    hidden: HiddenText,
    doubt: DoubtfulText,
    unseen: InvisibleUse,
    deep: usize,
    cut: bool,
    /// True if it is only the beginning of a longer text.
    short: bool,
    pictures: usize,
    unshown: Option<UnshownPlain>,
}

impl ChosenText {
    /// Returns true if it needs a note even without any text.
    fn lacks(&self) -> bool {
        self.hidden.chars > 0
            || self.unseen.spelling > 0
            || self.deep > 0
            || self.cut
            || self.short
            || self.pictures > 0
    }

    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// Returns the last form with any text, since RFC 2046 puts the richest last. Forms with HTML
/// precede forms without, because mail programs show the HTML, however much more the plain text
/// says. Earlier forms that have something to note are included, without text.
fn richest(forms: &[Vec<TextPart>], reading: &ReadingOptions) -> Vec<ChosenText> {
    let has_html =
        |parts: &&Vec<TextPart>| parts.iter().any(|part| matches!(part, TextPart::Html(_)));
    let with_html = forms.iter().rev().filter(has_html);
    let without = forms.iter().rev().filter(|parts| !has_html(parts));
    let mut all: Vec<ChosenText> = Vec::new();
    for parts in with_html.clone().chain(without.clone()) {
        let found: Vec<_> = parts.iter().map(|part| read(part, reading)).collect();
        let done = found.iter().any(|found| !found.is_blank());
        all.extend(found.into_iter().filter(|found| found.lacks() || !found.is_blank()));
        if done {
            break;
        }
    }
    let both = with_html.count() > 0 && reading.form != PartForm::Html;
    let shown: usize = all.iter().map(|found| words(&found.text)).sum();
    let from_html = all.iter().any(|found| found.kind == "html" && !found.is_blank());
    if let Some(plain) = without.clone().next().filter(|_| both)
        && let Some(first) = all.iter_mut().find(|found| !found.is_blank())
    {
        let text = |part: &TextPart| match part {
            TextPart::Plain(plain) => words(&plain.text),
            TextPart::Html(_) => 0,
        };
        // People see only the HTML, so they do not know the content of a much longer plain
        // text.
        let unshown: usize = plain.iter().map(text).sum();
        let long =
            |part: &TextPart| matches!(part, TextPart::Plain(it) if it.text.len() > MAX_BYTES);
        let over = plain.iter().any(long);
        first.unshown = if from_html {
            (unshown >= MORE * shown.max(1)).then_some(UnshownPlain::Longer {
                words: unshown,
                over,
                of_html: shown,
            })
        } else {
            Some(UnshownPlain::Text)
        };
    }
    all
}

fn words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

fn read(part: &TextPart, reading: &ReadingOptions) -> ChosenText {
    let style = match reading.form {
        PartForm::Markdown => TextStyle::Markdown,
        PartForm::Text | PartForm::Html => TextStyle::Text,
    };
    match part {
        TextPart::Html(source) if reading.form == PartForm::Html => {
            let (text, short) = beginning(source);
            ChosenText { kind: "html", text: text.to_owned(), short, ..ChosenText::default() }
        }
        TextPart::Html(source) => {
            let html = text::html::marked(source, style, reading.links);
            ChosenText {
                kind: "html",
                text: html.text,
                links: html.links,
                hidden: html.hidden,
                doubt: html.doubt,
                unseen: html.unseen,
                deep: html.deep,
                cut: html.cut,
                pictures: html.pictures,
                ..ChosenText::default()
            }
        }
        TextPart::Plain(plain) => {
            let mut unseen = InvisibleUse::default();
            let (text, short) = beginning(&plain.text);
            invisible::scan(text, &mut unseen);
            let text = text::armour::replace_blocks(&theirs(plain_text(text, plain.flowed)));
            ChosenText { kind: "plain", text, unseen, short, ..ChosenText::default() }
        }
    }
}

/// Returns the part of a text that is read, and true if there is more.
fn beginning(text: &str) -> (&str, bool) {
    let (beginning, rest) = text.split_at(text.floor_char_boundary(MAX_BYTES));
    (beginning, !rest.is_empty())
}

fn plain_text(text: &str, flowed: Option<bool>) -> String {
    match flowed {
        Some(delsp) => text::lines(&text::flowed::unflow(text, delsp)),
        None => text::lines(text),
    }
}
