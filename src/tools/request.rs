//! Tool arguments made ready: as meant, not as typed.
//!
//! Arguments are read leniently (numbers and switches as text, camelCase names,
//! a single text for a list) and checked strictly: what a tool does not take is
//! refused with what it does take.
//! Nothing acts here. Handles stay handles until the pipeline asks the store.

use serde_json::{Map, Value};

use super::args::Args;
use super::view::{Call, View};
use super::{agenda, brief, changes, free, mail, output, outward, save};
use crate::encode::stc::Version;
use crate::encode::{Delimiter, Format};
use crate::error::{Error, Result};
use crate::schemas::{Field, LISTINGS, Level, Listing, MESSAGE, THREAD, Table};
use crate::text::brief as short;
use crate::tools::Tool;

/// The most addresses that one lookup resolves.
const MOST_EMAILS: usize = 50;

/// A call, ready to be carried out.
#[derive(Debug, Clone)]
pub struct Request {
    /// What to do.
    pub action: Action,
    /// How to write the answer.
    pub format: Format,
    /// How much of it to show.
    pub view: View,
    /// What was asked, to ask it again.
    pub call: Call,
}

/// What to do.
#[derive(Debug, Clone)]
pub enum Action {
    /// `mail_search`.
    Search(Search),
    /// `mail_read`.
    Read(Read),
    /// `lookup`.
    Lookup(Lookup),
    /// `mail_attachment`.
    Attachment(mail::Attachment),
    /// `mail_draft`.
    Draft(Box<mail::DraftOf>),
    /// `mail_send`.
    Send(mail::Send),
    /// `mail_modify`.
    Modify(mail::Modify),
    /// `accounts`.
    Accounts(AccountsOp),
    /// `calendar_search`.
    Agenda(agenda::Agenda),
    /// `calendar_free`.
    Free(free::Free),
    /// `calendar_save`.
    Save(Box<save::Save>),
    /// `calendar_delete`.
    Delete(outward::Delete),
    /// `calendar_respond`.
    Respond(outward::Respond),
    /// `manage`.
    Manage(outward::Manage),
    /// `changes`.
    Changes(changes::ChangesOf),
    /// `brief`.
    Brief(brief::Brief),
    /// `output_read`.
    Output(output::OutputRead),
}

/// A search as asked for; what is not said is `None`, because a cursor may say it.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// The query, unparsed: its dates depend on when the first page was asked for.
    pub q: Option<String>,
    /// The account by address.
    pub account: Option<String>,
    /// A folder by name or handle.
    pub folder: Option<String>,
    /// One row per thread instead of per message.
    pub by_thread: Option<bool>,
    /// The columns, or a level of them.
    pub columns: Option<Columns>,
    /// Rows per page.
    pub limit: Option<u32>,
    /// Where to go on.
    pub cursor: Option<String>,
}

/// Which columns to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Columns {
    /// All up to this level.
    Level(Level),
    /// These by name; the key comes along.
    Named(Vec<String>),
}

/// A read as asked for.
#[derive(Debug, Clone)]
pub struct Read {
    /// Message and thread ids, as handles or the provider's own; empty with a
    /// cursor.
    pub ids: Vec<String>,
    /// The account that the provider's own ids belong to.
    pub account: Option<String>,
    /// The form of the text.
    pub body: Body,
    /// True to show quoted history.
    pub quoted: bool,
    /// True to list link targets.
    pub links: bool,
    /// Where to go on.
    pub cursor: Option<String>,
}

/// The form in which a message's text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// Clean text.
    Text,
    /// Markdown.
    Markdown,
    /// The HTML as it was sent.
    Html,
    /// The whole message as it was transmitted.
    Raw,
    /// All headers.
    Headers,
    /// No text.
    None,
}

/// A lookup as asked for; what is not said is `None`, because a cursor may say it.
#[derive(Debug, Clone)]
pub struct Lookup {
    /// Which list.
    pub kind: &'static Listing,
    /// Part of the name, or of an address.
    pub q: Option<String>,
    /// Addresses to find the people of.
    pub emails: Vec<String>,
    /// The account by address.
    pub account: Option<String>,
    /// Columns by name, besides what names a row; the default ones when empty.
    pub fields: Vec<String>,
    /// Rows per page.
    pub limit: Option<usize>,
    /// Where to go on.
    pub cursor: Option<String>,
}

/// An operation on accounts.
#[derive(Debug, Clone)]
pub enum AccountsOp {
    /// Who is signed in.
    List,
    /// Sign in.
    Add(Add),
    /// Sign in again.
    Again {
        /// The account by address.
        account: String,
        /// True to enter a code on another machine, as with [`Add::device`].
        device: bool,
    },
    /// Sign out.
    Remove {
        /// The account by address.
        account: String,
    },
}

/// A sign-in as asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Add {
    /// The provider's name.
    pub provider: String,
    /// The tenant to sign in at; that of the settings if none.
    pub tenant: Option<String>,
    /// The address to suggest on the sign-in page.
    pub address: Option<String>,
    /// The mailbox to open, when it is not that of whoever signs in but shared
    /// with them.
    pub mailbox: Option<String>,
    /// True to enter a code on another machine instead of using a browser here.
    pub device: bool,
}

impl Columns {
    /// The columns of `table` that are meant, in the order of the table.
    pub fn of(&self, table: &'static Table) -> Result<Vec<&'static Field>> {
        let names = match self {
            Self::Level(level) => return Ok(table.up_to(*level)),
            Self::Named(names) => names,
        };
        for name in names {
            if table.field(name).is_none() {
                let known: Vec<_> = table.fields.iter().map(|field| field.name).collect();
                return Err(Error::argument(format!(
                    "the table of {} has no column `{}`",
                    table.plural,
                    short(name)
                ))
                .next(format!("use some of: {}", known.join(", "))));
            }
        }
        Ok(table
            .fields
            .iter()
            .enumerate()
            .filter(|(at, field)| *at == 0 || names.iter().any(|name| name == field.name))
            .map(|(_, field)| field)
            .collect())
    }
}

/// Reads the arguments of a call; `format` is the server's default.
pub fn read(
    tool: &'static Tool,
    arguments: Option<Map<String, Value>>,
    format: Format,
) -> Result<Request> {
    let args = Args::new(tool, arguments.unwrap_or_default())?;
    let format = match args.choice("format")? {
        Some("json") => Format::Json,
        Some("stc") => match format {
            Format::Stc(version) => Format::Stc(version),
            Format::Toon(_) | Format::Json => Format::Stc(Version::default()),
        },
        Some(_) => match format {
            Format::Toon(delimiter) => Format::Toon(delimiter),
            Format::Json | Format::Stc(_) => Format::Toon(Delimiter::default()),
        },
        None => format,
    };
    let action = match tool.name {
        "mail_search" => Action::Search(search(&args)?),
        "mail_read" => Action::Read(mail_read(&args)?),
        "mail_attachment" => Action::Attachment(mail::attachment(&args)?),
        "mail_draft" => Action::Draft(Box::new(mail::draft(&args)?)),
        "mail_send" => Action::Send(mail::send(&args)?),
        "mail_modify" => Action::Modify(mail::modify(&args)?),
        "lookup" => Action::Lookup(lookup(&args)?),
        "accounts" => Action::Accounts(accounts(&args)?),
        "calendar_search" => Action::Agenda(agenda::read(&args)?),
        "calendar_free" => Action::Free(free::read(&args)?),
        "calendar_save" => Action::Save(Box::new(save::read(&args)?)),
        "calendar_delete" => Action::Delete(outward::delete(&args)?),
        "calendar_respond" => Action::Respond(outward::respond(&args)?),
        "manage" => Action::Manage(outward::manage(&args)?),
        "changes" => Action::Changes(changes::read(&args)?),
        "brief" => Action::Brief(brief::read(&args)?),
        "output_read" => Action::Output(output::read(&args)?),
        other => {
            return Err(Error::new(
                crate::error::Kind::Internal,
                format!("the tool `{other}` is listed but not wired"),
            ));
        }
    };
    Ok(Request { action, format, view: View::read(&args)?, call: Call::of(tool, &args) })
}

fn search(args: &Args) -> Result<Search> {
    let by_thread = args.choice("by")?.map(|by| by == "thread");
    let table = match by_thread {
        Some(true) => &THREAD,
        _ => &MESSAGE,
    };
    let cursor = args.text("cursor")?;
    let columns = columns(args, table)?;
    Ok(Search {
        q: args.text("q")?,
        account: args.text("account")?,
        folder: args.text("folder")?,
        by_thread,
        columns,
        limit: args.number("limit")?,
        cursor,
    })
}

/// The columns that `fields` or `detail` name, checked against `table` unless a
/// cursor says which table is meant.
pub(super) fn columns(args: &Args, table: &'static Table) -> Result<Option<Columns>> {
    let fields = args.list("fields")?.filter(|fields| !fields.is_empty());
    let columns = match (fields, args.choice("detail")?) {
        (Some(names), _) => Some(Columns::Named(names)),
        (None, Some("minimal")) => Some(Columns::Level(Level::Key)),
        (None, Some("full")) => Some(Columns::Level(Level::More)),
        (None, Some("standard")) => Some(Columns::Level(Level::Core)),
        // `auto` is what is taken when nothing is said.
        (None, _) => None,
    };
    if let (Some(columns), None) = (&columns, args.arg("cursor")) {
        // Refused here already, so that the error does not depend on the account.
        columns.of(table)?;
    }
    Ok(columns)
}

fn mail_read(args: &Args) -> Result<Read> {
    let cursor = args.text("cursor")?;
    if let Some(cursor) = cursor {
        // It knows what was asked; other arguments would say something else.
        for name in ["ids", "body", "quoted", "links", "account"] {
            if args.arg(name).is_some() {
                return Err(Error::argument(format!(
                    "`{name}` is given beside the cursor `{}`",
                    short(&cursor)
                ))
                .next("give the cursor alone, or read without it"));
            }
        }
        return Ok(Read {
            ids: Vec::new(),
            account: None,
            body: Body::Text,
            quoted: false,
            links: false,
            cursor: Some(cursor),
        });
    }
    Ok(Read {
        ids: ids(args)?,
        account: args.text("account")?,
        body: match args.choice("body")? {
            Some("md") => Body::Markdown,
            Some("html") => Body::Html,
            Some("raw") => Body::Raw,
            Some("headers") => Body::Headers,
            Some("none") => Body::None,
            _ => Body::Text,
        },
        quoted: args.switch("quoted")?,
        links: args.switch("links")?,
        cursor: None,
    })
}

fn ids(args: &Args) -> Result<Vec<String>> {
    let mut ids: Vec<String> = Vec::new();
    for id in args.list("ids")?.unwrap_or_default() {
        if !id.is_empty() && !ids.contains(&id) {
            ids.push(id);
        }
    }
    match ids.len() {
        0 => Err(Error::argument("mail_read needs `ids`, or a `cursor`")
            .next("give ids such as m12 from mail_search")),
        1..=25 => Ok(ids),
        many => Err(Error::argument(format!("`ids` has {many} ids, more than 25"))
            .next("read them in several calls")),
    }
}

fn accounts(args: &Args) -> Result<AccountsOp> {
    let account = args.text("account")?;
    let provider = args.choice("provider")?;
    let needed = |op: &str| {
        Error::argument(format!("`op: {op}` needs `account`"))
            .next("call accounts with op=list to see the addresses")
    };
    Ok(match args.choice("op")? {
        Some("add") => AccountsOp::Add(Add {
            provider: provider
                .ok_or_else(|| {
                    Error::argument("`op: add` needs `provider`")
                        .next("use one of: google, microsoft")
                })?
                .to_owned(),
            tenant: args.text("tenant")?,
            address: account,
            mailbox: args.text("mailbox")?,
            device: args.choice("flow")? == Some("device"),
        }),
        Some("reauth") => AccountsOp::Again {
            account: account.ok_or_else(|| needed("reauth"))?,
            device: args.choice("flow")? == Some("device"),
        },
        Some("remove") => AccountsOp::Remove { account: account.ok_or_else(|| needed("remove"))? },
        _ => AccountsOp::List,
    })
}

fn lookup(args: &Args) -> Result<Lookup> {
    let word = args.choice("kind")?;
    let Some(kind) = LISTINGS.iter().find(|listing| Some(listing.word) == word) else {
        return Err(Error::argument("`kind` is missing").next("say what to list, as kind=folders"));
    };
    let emails = args.list("emails")?.unwrap_or_default();
    if !emails.is_empty() && !kind.is_people() {
        return Err(Error::argument("`emails` is for kind=contacts")
            .next("leave it out, or look up contacts"));
    }
    if let Some(bad) = emails.iter().find(|email| !email.contains('@')) {
        return Err(Error::argument(format!("`{}` is not an address", short(bad)))
            .next("give whole addresses, or part of a name as q"));
    }
    if emails.len() > MOST_EMAILS {
        return Err(Error::argument(format!(
            "{} addresses are more than {MOST_EMAILS}",
            emails.len()
        ))
        .next("look them up in several calls"));
    }
    let q = args.text("q")?;
    if q.is_some() && !emails.is_empty() {
        return Err(
            Error::argument("`q` and `emails` ask for different things").next("give one of them")
        );
    }
    Ok(Lookup {
        kind,
        q,
        emails,
        account: args.text("account")?,
        fields: args.list("fields")?.unwrap_or_default(),
        limit: args.number("limit")?.map(|limit| limit as usize),
        cursor: args.text("cursor")?,
    })
}
