//! The tools: what each is called, does and takes, and what a call of it asks for.
//!
//! Each is declared once, below: of its declaration (`tool!`) come the struct that the
//! pipeline gets, the JSON Schema, the docs, the README's list and the reader of its
//! arguments. Clients may show a model only the name and the first sentence, so the
//! name explains itself and the first sentence carries everything.
//!
//! Arguments are read leniently (numbers and switches as text, camelCase names,
//! a single text for a list) and checked strictly: what a tool does not take is
//! refused with what it does take. Nothing acts here: handles stay handles until the
//! pipeline asks the store. No file here knows rmcp; `server.rs` serves the list.

pub mod accounts;
mod args;
pub mod brief;
pub mod calendar_delete;
pub mod calendar_free;
pub mod calendar_respond;
pub mod calendar_save;
pub mod calendar_search;
pub mod changes;
mod columns;
mod kinds;
pub mod lookup;
pub mod mail;
pub mod mail_search;
pub mod manage;
pub mod output;
mod synonyms;
mod view;

use daysheet_core::access::AccessLevel;
use daysheet_core::encode::Format;
use daysheet_core::error::Result;
use daysheet_core::schemas::Table;
use serde_json::{Map, Value, json};

use self::args::CallArguments;
pub use self::columns::{ColumnChoice, RowDetail};
use self::kinds::DeclaredArguments;
pub use self::view::{AnswerView, CallIdentity, FormatWord};

/// The effect of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEffect {
    /// Reads, and changes nothing.
    Read,
    /// Reaches other people, or deletes.
    Outward,
    /// Makes changes that can be reverted, if with some effort: a sign-in that was
    /// ended has to be repeated.
    Reversible,
}

/// One argument of a tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolArgument {
    /// Its name in `snake_case`.
    pub name: &'static str,
    /// What it takes.
    pub kind: ArgKind,
    /// One short sentence, or empty if the name says it all.
    pub doc: &'static str,
    /// True when a call without it is refused.
    pub required: bool,
    /// True if many tools take it: docs and errors give its limits and what it means, the
    /// server's instructions do so once, and the list of tools names it alone.
    pub common: bool,
}

/// The types of arguments.
#[derive(Debug, Clone, Copy)]
pub enum ArgKind {
    /// Text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of texts.
    List,
    /// Names of columns of these tables.
    Columns(&'static [&'static Table]),
    /// A whole number: least, most, default.
    Number(u32, u32, u32),
    /// True or false; false by default.
    Switch,
    /// A list of objects with these members.
    Objects(&'static [ToolArgument]),
    /// Columns of a table, each `name=value`; or an object of them.
    Settings,
}

/// One tool.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What it is for; the first sentence alone is enough to choose it.
    pub doc: &'static str,
    /// What it does to the world.
    pub effect: ToolEffect,
    /// The access level from which it is offered.
    pub access: AccessLevel,
    /// Its arguments, in the order of the docs.
    pub args: &'static [ToolArgument],
    /// Reads them.
    read: fn(&CallArguments) -> Result<ToolAction>,
}

impl Tool {
    /// Returns true if it is offered at an access level, to names with these prefixes;
    /// all are if there are none. Tools that other tools' answers refer to are always
    /// offered: accounts, names and ids, and the rest of an answer.
    pub fn is_offered(&self, access: AccessLevel, names: &[String]) -> bool {
        let needed = matches!(self.name, "accounts" | "lookup" | "output_read");
        let named = || names.iter().any(|name| self.is_named(name));
        self.access <= access && (names.is_empty() || needed || named())
    }

    /// Returns true if this name, or the first words of a name, means it.
    pub fn is_named(&self, name: &str) -> bool {
        let rest = self.name.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    }
}

/// Every tool, in the order of the docs.
pub const TOOLS: &[Tool] = &[
    mail_search::MailSearch::TOOL,
    mail::MailRead::TOOL,
    mail::MailAttachment::TOOL,
    mail::MailDraft::TOOL,
    mail::MailSend::TOOL,
    mail::MailModify::TOOL,
    lookup::LookupRequest::TOOL,
    calendar_search::CalendarSearch::TOOL,
    calendar_free::CalendarFree::TOOL,
    calendar_save::CalendarSave::TOOL,
    calendar_delete::CalendarDelete::TOOL,
    calendar_respond::CalendarRespond::TOOL,
    manage::ManageRequest::TOOL,
    changes::ChangesRequest::TOOL,
    brief::BriefRequest::TOOL,
    output::OutputRead::TOOL,
    accounts::AccountsRequest::TOOL,
];

/// A call, ready to be carried out.
#[derive(Debug, Clone)]
pub struct ToolRequest {
    /// What to do.
    pub action: ToolAction,
    /// The output format.
    pub format: Format,
    /// The requested size and part of the answer.
    pub view: AnswerView,
    /// The call, for repeating it.
    pub call: CallIdentity,
}

/// What to do.
#[derive(Debug, Clone)]
pub enum ToolAction {
    /// `mail_search`.
    MailSearch(mail_search::MailSearch),
    /// `mail_read`.
    MailRead(mail::MailRead),
    /// `lookup`.
    Lookup(lookup::LookupRequest),
    /// `mail_attachment`.
    MailAttachment(mail::MailAttachment),
    /// `mail_draft`.
    MailDraft(Box<mail::MailDraft>),
    /// `mail_send`.
    MailSend(mail::MailSend),
    /// `mail_modify`.
    MailModify(mail::MailModify),
    /// `accounts`.
    Accounts(accounts::AccountsOp),
    /// `calendar_search`.
    CalendarSearch(calendar_search::CalendarSearch),
    /// `calendar_free`.
    CalendarFree(calendar_free::CalendarFree),
    /// `calendar_save`.
    CalendarSave(Box<calendar_save::CalendarSave>),
    /// `calendar_delete`.
    CalendarDelete(calendar_delete::CalendarDelete),
    /// `calendar_respond`.
    CalendarRespond(calendar_respond::CalendarRespond),
    /// `manage`.
    Manage(manage::ManageRequest),
    /// `changes`.
    Changes(changes::ChangesRequest),
    /// `brief`.
    Brief(brief::BriefRequest),
    /// `output_read`.
    Output(output::OutputRead),
}

impl ToolAction {
    /// Returns the items in which a call names people by their addresses.
    pub fn people_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::MailDraft(draft) => {
                let lists = [&mut draft.to, &mut draft.cc, &mut draft.bcc];
                lists.into_iter().flatten().flatten().collect()
            }
            Self::CalendarFree(free) => free.who.iter_mut().collect(),
            Self::CalendarSave(save) => {
                let events = save.events.iter_mut();
                let lists = events.flat_map(|event| [event.people.as_mut(), Some(&mut event.add)]);
                lists.flatten().flatten().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the effect of the call, if it is another than that of its tool.
    fn effect(&self) -> Option<ToolEffect> {
        match self {
            Self::MailAttachment(request) if request.only_reads() => Some(ToolEffect::Read),
            _ => None,
        }
    }
}

/// Returns the tool called `name`.
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// Reads the arguments of a call; `format` is the server's default.
///
/// # Errors
/// If they are not what the tool takes; the error says what it does take.
pub fn read(
    tool: &'static Tool,
    arguments: Option<Map<String, Value>>,
    format: Format,
) -> Result<ToolRequest> {
    let (tool, arguments) = synonyms::call(tool, arguments.unwrap_or_default());
    let args = CallArguments::new(tool, arguments)?;
    let view = AnswerView::read(&args)?;
    let action = (tool.read)(&args)?;
    let call = CallIdentity::of(tool, &args, action.effect().unwrap_or(tool.effect));
    Ok(ToolRequest { action, format: view.format_or(format), view, call })
}

/// The column names of some tables, each once.
fn columns(tables: &[&Table]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for field in tables.iter().flat_map(|table| table.fields) {
        if !names.contains(&field.name) {
            names.push(field.name);
        }
    }
    names
}

/// Returns the arguments of a tool as JSON Schema, flat and without `$ref`.
pub fn input_schema(tool: &Tool) -> Map<String, Value> {
    object_schema(tool.args)
}

fn object_schema(args: &[ToolArgument]) -> Map<String, Value> {
    let mut properties = Map::new();
    for arg in args {
        let mut schema = match arg.kind {
            ArgKind::Text => json!({"type": "string"}),
            ArgKind::Choice(_) if arg.common => json!({"type": "string"}),
            ArgKind::Choice(words) => json!({"type": "string", "enum": words}),
            ArgKind::List => json!({"type": "array", "items": {"type": "string"}}),
            ArgKind::Columns(tables) => {
                json!({"type": "array", "items": {"type": "string", "enum": columns(tables)}})
            }
            // Some clients drop `maximum` and `default`: `description` says the limits of `limit`.
            ArgKind::Number(..) => json!({"type": "integer"}),
            ArgKind::Switch => json!({"type": "boolean"}),
            ArgKind::Objects(members) => {
                json!({"type": "array", "items": object_schema(members)})
            }
            // Strict schemas have no objects whose members are not listed.
            ArgKind::Settings => json!({"type": "array", "items": {"type": "string"}}),
        };
        if let (Some(schema), Some(about)) = (schema.as_object_mut(), description(arg)) {
            schema.insert("description".to_owned(), Value::from(about));
        }
        properties.insert(arg.name.to_owned(), schema);
    }
    let required: Vec<_> = args.iter().filter(|arg| arg.required).map(|arg| arg.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), Value::from("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), Value::from(required));
    }
    schema
}

/// Returns what the list of tools says of an argument, if its name does not say it all.
fn description(arg: &ToolArgument) -> Option<String> {
    match arg.kind {
        _ if arg.common => None,
        ArgKind::Number(least, most, _) if arg.doc.is_empty() => Some(format!("{least}-{most}")),
        _ => (!arg.doc.is_empty()).then(|| arg.doc.to_owned()),
    }
}

/// Returns the page `docs/tools.md`.
pub fn page() -> String {
    let mut page = String::from(
        "# Tools\n\n\
         This page is generated from `src/tools/`; a test rewrites it when it is stale.\n",
    );
    for tool in TOOLS {
        page.push_str(&format!(
            "\n## {}\n\n{}\n{}\n\n| argument | takes | meaning |\n|---|---|---|\n",
            tool.name,
            tool.doc,
            match tool.effect {
                ToolEffect::Read => "Reads only.",
                ToolEffect::Reversible => "Changes what can be changed back.",
                ToolEffect::Outward => "Reaches other people, or deletes.",
            }
        ));
        for arg in tool.args {
            page.push_str(&line(arg, ""));
            if let ArgKind::Objects(members) = arg.kind {
                for member in members {
                    page.push_str(&line(member, &format!("{}[].", arg.name)));
                }
            }
        }
    }
    page
}

fn line(arg: &ToolArgument, within: &str) -> String {
    let takes = match arg.kind {
        ArgKind::Text => "text".to_owned(),
        ArgKind::Choice(words) => words.join(" · "),
        ArgKind::List => "list of strings".to_owned(),
        ArgKind::Columns(_) => "list of column names, see [tables](tables.md)".to_owned(),
        ArgKind::Number(least, most, default) => format!("{least} to {most}, default {default}"),
        ArgKind::Switch => "true · false".to_owned(),
        ArgKind::Objects(_) => "list of objects".to_owned(),
        ArgKind::Settings => {
            "list of `column=value`, or an object, with columns of the kind's table, see \
             [tables](tables.md)"
                .to_owned()
        }
    };
    let required = if arg.required { "Required. " } else { "" };
    let meaning = format!("{required}{}", arg.doc.replace('|', "\\|"));
    format!("| `{within}{}` | {takes} | {} |\n", arg.name, meaning.trim_end())
}

/// Returns the tool list of the README: a line per tool.
pub fn summary() -> String {
    TOOLS
        .iter()
        .map(|tool| {
            let names: Vec<_> = tool.args.iter().map(|arg| arg.name).collect();
            format!("- **{}** ({}): {}\n", tool.name, names.join(", "), tool.doc)
        })
        .collect()
}
