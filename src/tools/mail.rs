//! `mail_draft`, `mail_send`, `mail_modify` and `mail_attachment`, as asked for.
//!
//! Addresses, paths, names and times stay as they were said; what they mean is
//! looked up where they are used.

use super::args::Args;
use crate::error::{Error, Result};
use crate::provider::mail::Importance;

/// The most messages that are named in one call.
pub const MOST_MESSAGES: usize = 1_000;
/// The longest text of a letter, in bytes.
const LONGEST: usize = 2 << 20;

/// A draft as asked for; what is `None` was not said.
#[derive(Debug, Clone)]
pub struct DraftOf {
    /// What to do.
    pub mode: DraftMode,
    /// The message to answer or send on, or the draft.
    pub id: Option<String>,
    /// Recipients, each one or several addresses as RFC 5322 writes them.
    pub to: Option<Vec<String>>,
    /// Copied recipients.
    pub cc: Option<Vec<String>>,
    /// Blindly copied recipients.
    pub bcc: Option<Vec<String>>,
    /// The subject line.
    pub subject: Option<String>,
    /// The text, to the letter.
    pub body: Option<String>,
    /// What the text is written in.
    pub body_format: BodyFormat,
    /// True to quote what is answered.
    pub quote: bool,
    /// The address to send as.
    pub from: Option<String>,
    /// What to attach: paths, handles, `data:` URLs.
    pub attach: Vec<String>,
    /// Names of files that no longer go with the draft.
    pub detach: Vec<String>,
    /// How much it matters.
    pub importance: Option<Importance>,
    /// The account by address.
    pub account: Option<String>,
}

/// What to do with a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DraftMode {
    /// Make one for itself.
    New,
    /// Make one that answers the sender.
    Reply,
    /// Make one that answers everybody.
    ReplyAll,
    /// Make one that sends a message on.
    Forward,
    /// Change one.
    Edit,
    /// Delete one.
    Discard,
}

/// What a text is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyFormat {
    /// Markdown (CommonMark).
    Markdown,
    /// Plain text.
    Text,
    /// HTML.
    Html,
}

/// A sending as asked for.
#[derive(Debug, Clone)]
pub struct Send {
    /// The draft.
    pub id: String,
    /// When to send it, as written; now if not said.
    pub at: Option<String>,
}

/// A change of messages as asked for.
#[derive(Debug, Clone)]
pub struct Modify {
    /// The messages and threads; none if they are found by `q`.
    pub ids: Vec<String>,
    /// The query that finds them, unparsed.
    pub q: Option<String>,
    /// The account by address.
    pub account: Option<String>,
    /// What to do; nothing when something is undone.
    pub what: Option<&'static str>,
    /// Names of folders, labels or categories.
    pub to: Vec<String>,
    /// True to make those that are missing.
    pub create: bool,
    /// When a flag is due, as written.
    pub due: Option<String>,
    /// True to change nothing and tell what would happen.
    pub dry_run: bool,
    /// The change to undo.
    pub undo: Option<String>,
}

/// A file as asked for.
#[derive(Debug, Clone)]
pub struct Attachment {
    /// The attachment, or the message whose files are listed.
    pub id: String,
    /// In which form; by default files are saved, and those of messages listed.
    pub form: Option<FileForm>,
    /// The folder to save it in.
    pub dir: Option<String>,
    /// True to put it in the place of a file that is there.
    pub overwrite: bool,
}

/// In which form a file is handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileForm {
    /// Saved to a folder.
    File,
    /// As Base64 in the answer.
    Inline,
    /// As a link to a resource.
    Link,
    /// By name, type and size alone.
    List,
}

pub(super) fn draft(args: &Args) -> Result<DraftOf> {
    let body = args.verbatim("body")?;
    if let Some(body) = &body
        && body.len() > LONGEST
    {
        return Err(Error::argument(format!(
            "`body` is {} bytes, more than {LONGEST}",
            body.len()
        ))
        .next("attach a long text as a file"));
    }
    let mode = match args.choice("mode")? {
        Some("reply") => DraftMode::Reply,
        Some("reply_all") => DraftMode::ReplyAll,
        Some("forward") => DraftMode::Forward,
        Some("edit") => DraftMode::Edit,
        Some("discard") => DraftMode::Discard,
        _ => DraftMode::New,
    };
    let id = args.text("id")?;
    match (mode, &id) {
        (DraftMode::New, Some(_)) => {
            return Err(Error::argument("`id` is given, and mode=new needs none")
                .next("say mode=reply, reply_all, forward, edit or discard"));
        }
        (DraftMode::New, None) | (_, Some(_)) => {}
        (DraftMode::Edit | DraftMode::Discard, None) => {
            return Err(Error::argument("`id` is missing").next("give the draft, such as d5"));
        }
        (_, None) => {
            return Err(Error::argument("`id` is missing")
                .next("give the message to answer or send on, such as m12"));
        }
    }
    Ok(DraftOf {
        mode,
        id,
        to: args.items("to")?,
        cc: args.items("cc")?,
        bcc: args.items("bcc")?,
        subject: args.written("subject")?,
        body,
        body_format: match args.choice("body_format")? {
            Some("text") => BodyFormat::Text,
            Some("html") => BodyFormat::Html,
            _ => BodyFormat::Markdown,
        },
        quote: args.choice("quote")? != Some("none"),
        from: args.text("from")?,
        attach: args.items("attach")?.unwrap_or_default(),
        detach: args.items("detach")?.unwrap_or_default(),
        importance: match args.choice("importance")? {
            Some("high") => Some(Importance::High),
            Some("low") => Some(Importance::Low),
            Some(_) => Some(Importance::Normal),
            None => None,
        },
        account: args.text("account")?,
    })
}

pub(super) fn send(args: &Args) -> Result<Send> {
    Ok(Send { id: args.text("id")?.unwrap_or_default(), at: args.text("at")? })
}

pub(super) fn modify(args: &Args) -> Result<Modify> {
    let mut ids: Vec<String> = Vec::new();
    for id in args.list("ids")?.unwrap_or_default() {
        if !id.is_empty() && !ids.contains(&id) {
            ids.push(id);
        }
    }
    if ids.len() > MOST_MESSAGES {
        return Err(Error::argument(format!("`ids` has {}, more than {MOST_MESSAGES}", ids.len()))
            .next("change them in several calls"));
    }
    let (q, what, undo) = (args.text("q")?, args.choice("do")?, args.text("undo")?);
    match (&undo, what, ids.is_empty(), &q) {
        (Some(_), None, true, None) | (None, Some(_), false, None) => {}
        (None, Some(_), true, Some(_)) => {}
        (Some(_), ..) => {
            return Err(
                Error::argument("`undo` is given beside what to do").next("give the undo id alone")
            );
        }
        (None, None, ..) => {
            return Err(Error::argument("mail_modify needs `do`")
                .next("say do=read, archive, trash, label or another"));
        }
        (_, _, false, Some(_)) => {
            return Err(Error::argument("`ids` and `q` are both given").next("give one of them"));
        }
        (_, _, true, None) => {
            return Err(Error::argument("it is not said which messages")
                .next("give `ids` such as m12 or t4, or a query as `q`"));
        }
    }
    Ok(Modify {
        ids,
        q,
        account: args.text("account")?,
        what,
        to: args.items("to")?.unwrap_or_default(),
        create: args.switch("create")?,
        due: args.text("due")?,
        dry_run: args.switch("dry_run")?,
        undo,
    })
}

pub(super) fn attachment(args: &Args) -> Result<Attachment> {
    Ok(Attachment {
        id: args.text("id")?.unwrap_or_default(),
        form: match args.choice("as")? {
            Some("file") => Some(FileForm::File),
            Some("inline") => Some(FileForm::Inline),
            Some("link") => Some(FileForm::Link),
            Some("list") => Some(FileForm::List),
            _ => None,
        },
        dir: args.text("dir")?,
        overwrite: args.switch("overwrite")?,
    })
}
