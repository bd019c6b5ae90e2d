//! MCP Apps (SEP-1865, revision 2026-01-26): the view that hosts draw beside calls, and the two tools
//! that only the view may call.
//!
//! Beside a call that reads, the view shows the text of the answer as days, messages or a draft.
//! Beside a write, it asks for the write that waits, shows it to the person, and passes on their
//! decision with a word that is good once and for this write. The model never receives the word: only
//! `approval_show` returns it, and hosts pass the results of such tools to the view alone. None of
//! this exists for clients that do not declare the extension.

use daysheet_core::choice::{WordChoice, words};
use daysheet_core::error::{Error, Result};
use jiff::Timestamp;
use rmcp::RoleServer;
use rmcp::model::{ClientCapabilities, JsonObject, MetaObject, ResourceContents, Tool};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::approval::call_text;
use crate::store::{ApprovalDecision, ApprovalId, Store, TicketKind};
use crate::tools::{self, ToolEffect};

/// The id of the extension.
pub(super) const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// The media type of views.
pub(super) const VIEW_TYPE: &str = "text/html;profile=mcp-app";
/// The address of the view.
pub(super) const VIEW: &str = "ui://daysheet/view";

/// The tools whose answers the view draws.
const DRAWN: [&str; 5] = ["brief", "calendar_free", "calendar_search", "mail_draft", "mail_read"];

/// The document of the view up to its style. Everything is inside it: its policy allows no requests.
const HEAD: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
                    <title>Daysheet</title><meta name=\"color-scheme\" content=\"light dark\">\
                    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">";
const STYLE: &str = include_str!("apps/view/style.css");
/// The scripts, in the order in which they need each other.
const SCRIPTS: &str = concat!(
    include_str!("apps/view/rpc.js"),
    include_str!("apps/view/elements.js"),
    include_str!("apps/view/answer.js"),
    include_str!("apps/view/card.js"),
    include_str!("apps/view/week.js"),
    include_str!("apps/view/mail.js"),
    include_str!("apps/view/main.js"),
);

words! {
    /// A tool that only the view may call, by its name.
    pub(super) enum ViewTool {
        /// Returns the write of a call that waits, with a new word.
        Show = "approval_show",
        /// Decides on the write of a word.
        Decide = "approval_decide",
    }
}

impl ViewTool {
    fn listed(self) -> Tool {
        let (doc, schema) = match self {
            Self::Show => (
                "The write of a call that waits for the user's approval. Only for the view.",
                json!({
                    "type": "object",
                    "properties": {
                        "tool": { "type": "string" },
                        "arguments": { "type": "object" },
                    },
                    "required": ["arguments"],
                }),
            ),
            Self::Decide => (
                "The user's decision on such a write. Only for the view.",
                json!({
                    "type": "object",
                    "properties": {
                        "word": { "type": "string" },
                        "decision": { "enum": ["approve", "refuse"] },
                    },
                    "required": ["word", "decision"],
                }),
            ),
        };
        Tool::new(self.word(), doc, schema.as_object().cloned().unwrap_or_default()).with_meta(
            meta(&json!({
                "ui": { "visibility": ["app"] },
            })),
        )
    }
}

/// Returns true if the client of a request draws views.
pub(super) fn draws_views(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|all| are_drawn_by(&all))
}

/// Returns true if a client with these capabilities draws views.
pub(super) fn are_drawn_by(capabilities: &ClientCapabilities) -> bool {
    let declared = capabilities.extensions.as_ref().and_then(|all| all.get(EXTENSION));
    let types = declared.and_then(|declared| declared.get("mimeTypes")?.as_array());
    types.is_some_and(|types| types.iter().any(|one| one == VIEW_TYPE))
}

/// Returns the listed tools of a client that draws views: with the view and, if the settings allow
/// cards, the view's own.
pub(super) fn with_views(listed: impl Iterator<Item = Tool>, has_cards: bool) -> Vec<Tool> {
    let listed = listed.map(|mut tool| {
        // The writes that may need the user's approval are those that reach others or delete.
        let asks = || tools::find(&tool.name).is_some_and(|it| it.effect == ToolEffect::Outward);
        if DRAWN.contains(&tool.name.as_ref()) || has_cards && asks() {
            // Older hosts read the second member.
            let view = json!({ "ui": { "resourceUri": VIEW }, "ui/resourceUri": VIEW });
            let mut all = tool.meta.take().unwrap_or_default();
            all.0.extend(meta(&view).0);
            tool.meta = Some(all);
        }
        tool
    });
    let own = ViewTool::TABLE.iter().filter(|_| has_cards).map(|(_, tool)| tool.listed());
    listed.chain(own).collect()
}

/// Returns the view as a resource, with or without cards.
pub(super) fn view(has_cards: bool) -> ResourceContents {
    let reads = DRAWN.join(" ");
    let script = without_comments(SCRIPTS);
    let document = format!(
        "{HEAD}<style>{STYLE}</style></head><body><main id=\"main\" data-reads=\"{reads}\" \
         data-cards=\"{has_cards}\"></main><script>{script}</script></body></html>"
    );
    ResourceContents::text(document, VIEW)
        .with_mime_type(VIEW_TYPE)
        .with_meta(meta(&json!({ "ui": { "prefersBorder": true } })))
}

/// Leaves out lines of comments and indentation: a third of the script. In these files, no string
/// spans lines, and no line of code begins like a comment.
fn without_comments(script: &str) -> String {
    let is_comment = |line: &str| ["//", "/*", "* ", "*/"].iter().any(|it| line.starts_with(it));
    let lines = script.lines().map(str::trim_start).filter(|line| !is_comment(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Carries out a call of the view.
///
/// # Errors
/// An argument that is missing or unknown, a word that was used, has expired or was made up, and the
/// errors of the store.
pub(super) async fn call(store: &Store, tool: ViewTool, arguments: &JsonObject) -> Result<Value> {
    match tool {
        ViewTool::Show => show(store, arguments).await,
        ViewTool::Decide => decide(store, arguments).await,
    }
}

async fn show(store: &Store, arguments: &JsonObject) -> Result<Value> {
    let tool = arguments.get("tool").and_then(Value::as_str);
    // Some hosts put the name of the server before it.
    let tool = tool.filter(|tool| tools::find(tool).is_some());
    let of_call = arguments.get("arguments").cloned().unwrap_or_default();
    let waiting = store.waiting_writes().await?.into_iter().find(|(_, write)| {
        // A host may not say which tool the view is beside.
        let name = tool.unwrap_or(write.tool());
        write.call == call_text(name, of_call.clone())
    });
    let Some((id, write)) = waiting else {
        return Ok(json!({ "state": "none" }));
    };
    let seconds = write.until - store.now();
    let word = store.put_ticket(TicketKind::Card, id.as_str(), seconds).await?;
    Ok(json!({
        "state": "waiting",
        "tool": write.tool(),
        "question": write.question,
        "content": write.content,
        "until": Timestamp::from_second(write.until).unwrap_or_default().to_string(),
        "word": word,
    }))
}

async fn decide(store: &Store, arguments: &JsonObject) -> Result<Value> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    // Any other word must not approve, nor use up the word of the card.
    let (decision, state) = match text("decision") {
        Some("approve") => (ApprovalDecision::Approved, "approved"),
        Some("refuse") => (ApprovalDecision::Refused, "refused"),
        _ => {
            return Err(Error::argument("`decision` is neither approve nor refuse")
                .next("let the user press a button of the card"));
        }
    };
    let word = text("word").unwrap_or_default();
    let Some(id) = store.take_ticket(TicketKind::Card, word).await? else {
        return Err(Error::argument("this word was used, has expired, or is not from a card")
            .next("let the user decide on the card of the call"));
    };
    let waits = store.record_decision(&ApprovalId::from_form(&id), decision).await?;
    Ok(json!({ "state": if waits { state } else { "expired" } }))
}

fn meta(members: &Value) -> MetaObject {
    MetaObject(members.as_object().cloned().unwrap_or_default())
}
