//! The tools: names, effects and arguments, and the reading of calls.
//!
//! Each tool is declared once (`tool!`). The declaration generates the struct for the pipeline, the
//! JSON Schema, the docs and the reader of its arguments. Clients may show a model only the name and
//! the first sentence, so the name explains itself and the first sentence is enough to choose the
//! tool.
//!
//! Arguments are read leniently (numbers and switches as text, camelCase names, a single text for a
//! list) and checked strictly: unknown arguments are refused with a list of the known ones. This
//! module performs no actions: handles stay handles until the pipeline asks the store. It does not
//! depend on rmcp; `server.rs` serves the list.

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
mod declaration;
mod kinds;
pub mod lookup;
pub mod mail;
pub mod mail_search;
pub mod manage;
pub mod output;
mod rewrite;
mod synonyms;
mod view;

use daysheet_core::encode::Format;
use daysheet_core::error::Result;
use daysheet_core::schemas::Table;
use serde_json::{Map, Value, json};

use self::args::CallArguments;
pub use self::columns::{ColumnChoice, RowDetail};
use self::declaration::ToolKind;
pub use self::declaration::{ArgKind, Tool, ToolArgument, ToolEffect};
use self::kinds::DeclaredArguments;
pub use self::view::{AnswerView, CallIdentity, FormatWord};

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
    /// The action to carry out.
    pub action: ToolAction,
    /// The output format.
    pub format: Format,
    /// The requested size and part of the answer.
    pub view: AnswerView,
    /// The call, for repeating it.
    pub call: CallIdentity,
}

/// The action of a call.
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
    /// Returns the items of a call that are addresses of people.
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

    /// Returns the effect of the call, if it differs from its tool's.
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
/// If an argument is missing, unknown or invalid; the error lists the accepted ones.
pub fn read(
    tool: &'static Tool,
    arguments: Option<Map<String, Value>>,
    format: Format,
) -> Result<ToolRequest> {
    // A synonym may belong to another tool, so the tool is only known after this.
    let (tool, arguments) = rewrite::call(tool, arguments.unwrap_or_default());
    let args = CallArguments::new(tool, arguments)?;
    let view = AnswerView::read(&args)?;
    let action = read_action(tool, &args)?;
    let call = CallIdentity::new(tool, &args, action.effect().unwrap_or(tool.effect));
    Ok(ToolRequest { action, format: view.format_or(format), view, call })
}

/// Reads the arguments of a call of `tool`.
///
/// # Errors
/// If an argument is missing or invalid, or if arguments contradict each other.
fn read_action(tool: &Tool, args: &CallArguments) -> Result<ToolAction> {
    Ok(match tool.kind {
        ToolKind::MailSearch => ToolAction::MailSearch(mail_search::MailSearch::request(args)?),
        ToolKind::MailRead => ToolAction::MailRead(mail::MailRead::request(args)?),
        ToolKind::Lookup => ToolAction::Lookup(lookup::LookupRequest::request(args)?),
        ToolKind::MailAttachment => {
            ToolAction::MailAttachment(mail::MailAttachment::request(args)?)
        }
        ToolKind::MailDraft => ToolAction::MailDraft(Box::new(mail::MailDraft::request(args)?)),
        ToolKind::MailSend => ToolAction::MailSend(mail::MailSend::request(args)?),
        ToolKind::MailModify => ToolAction::MailModify(mail::MailModify::request(args)?),
        ToolKind::Accounts => {
            ToolAction::Accounts(accounts::AccountsRequest::request(args)?.operation()?)
        }
        ToolKind::CalendarSearch => {
            ToolAction::CalendarSearch(calendar_search::CalendarSearch::request(args)?)
        }
        ToolKind::CalendarFree => {
            ToolAction::CalendarFree(calendar_free::CalendarFree::request(args)?)
        }
        ToolKind::CalendarSave => {
            ToolAction::CalendarSave(Box::new(calendar_save::CalendarSave::request(args)?))
        }
        ToolKind::CalendarDelete => {
            ToolAction::CalendarDelete(calendar_delete::CalendarDelete::request(args)?)
        }
        ToolKind::CalendarRespond => {
            ToolAction::CalendarRespond(calendar_respond::CalendarRespond::request(args)?)
        }
        ToolKind::Manage => ToolAction::Manage(manage::ManageRequest::request(args)?),
        ToolKind::Changes => ToolAction::Changes(changes::ChangesRequest::request(args)?),
        ToolKind::Brief => ToolAction::Brief(brief::BriefRequest::request(args)?),
        ToolKind::Output => ToolAction::Output(output::OutputRead::request(args)?),
    })
}

/// Returns the column names of some tables, each once.
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
            // The server's instructions list these words once for all tools.
            ArgKind::Choice(_) if arg.common => json!({"type": "string"}),
            ArgKind::Choice(words) => json!({"type": "string", "enum": words}),
            ArgKind::List => json!({"type": "array", "items": {"type": "string"}}),
            ArgKind::Columns(tables) => {
                json!({"type": "array", "items": {"type": "string", "enum": columns(tables)}})
            }
            // Some clients drop `maximum` and `default`, so `description` states the limits of
            // `limit`.
            ArgKind::Number(..) => json!({"type": "integer"}),
            ArgKind::Switch => json!({"type": "boolean"}),
            ArgKind::Objects(members) => {
                json!({"type": "array", "items": object_schema(members)})
            }
            // Strict schemas do not allow objects with unlisted members.
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

/// Returns the description of an argument in the list of tools, unless its name is clear enough.
fn description(arg: &ToolArgument) -> Option<String> {
    match arg.kind {
        _ if arg.common => None,
        ArgKind::Number(least, most, _) if arg.doc.is_empty() => Some(format!("{least}-{most}")),
        _ => (!arg.doc.is_empty()).then(|| arg.doc.to_owned()),
    }
}

/// Returns the page `docs/reference/tools.md`.
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
