//! Tools in MCP's form: name, description, schema, hints, and members for individual clients. Their
//! behaviour is declared in `tools.rs`.

use std::sync::Arc;

use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::tools::{self, ToolEffect};

/// The prefix of the names of clients that read these members: Claude Code and Claude Desktop.
const CLAUDE: &str = "claude";

/// Synonyms for the purposes of tools. Claude Code searches them, and does not pass them to the
/// model.
const SEARCH_HINTS: [(&str, &str); 10] = [
    ("mail_draft", "reply to somebody, forward this message, compose, answer"),
    ("mail_modify", "clean up, bin, junk, mark as read, follow up, opt out"),
    ("lookup", "email address of somebody, phone number, address book, who is"),
    ("calendar_search", "who has not answered, next meeting, diary, when is"),
    ("calendar_free", "availability, find a time, slot with somebody"),
    ("calendar_save", "move the meeting, reschedule, book an appointment, reminder"),
    ("calendar_delete", "cancel the meeting, call off"),
    ("calendar_respond", "decline the invite, accept the invitation, RSVP"),
    ("manage", "create a rule, filter, vacation reply, mail signature"),
    ("changes", "what is new, updates since yesterday"),
];

/// Tools that Claude Code loads at the beginning. It finds all others by a search, which costs
/// another call.
const ALWAYS_LOADED: [&str; 2] = ["mail_search", "brief"];

/// Tools whose answers may exceed the 50,000 characters that Claude Code passes to a model by
/// default. A model gets longer answers only on request, by `budget`.
pub(super) const LONG_ANSWERS: [&str; 3] = ["mail_search", "mail_read", "output_read"];
/// The number of characters that Claude Code passes on for these tools.
const LONG_ANSWER_CHARS: u32 = 200_000;

/// Tools that write but reach only the user; Codex runs them without asking.
const PRIVATE: [&str; 2] = ["mail_attachment", "mail_draft"];

/// Returns every tool in the form for an unknown client.
pub fn list() -> Vec<Tool> {
    tools::TOOLS.iter().map(|one| tool(one, None)).collect()
}

/// Returns a tool in the form for a client of this name.
///
/// It has the hints that differ from the protocol's defaults, and for writing tools whether they
/// can destroy. The other defaults (not read-only, not idempotent, open to the world) hold for the
/// remaining tools, and would cost tokens for each of them.
pub(super) fn tool(tool: &tools::Tool, client: Option<&str>) -> Tool {
    let mut annotations = ToolAnnotations::default();
    match tool.effect {
        ToolEffect::Read => annotations.read_only_hint = Some(true),
        effect => annotations.destructive_hint = Some(effect == ToolEffect::Outward),
    }
    if PRIVATE.contains(&tool.name) {
        annotations.open_world_hint = Some(false);
    }
    let listed = Tool::new(tool.name, tool.doc, Arc::new(tools::input_schema(tool)))
        .with_annotations(annotations);
    let is_claude = client.is_some_and(|client| client.starts_with(CLAUDE));
    let meta = if is_claude { claude_meta(tool.name) } else { Map::new() };
    if meta.is_empty() { listed } else { listed.with_meta(MetaObject(meta)) }
}

/// Returns the members of a tool's `_meta` that Claude Code reads.
fn claude_meta(name: &str) -> Map<String, Value> {
    let mut meta = Map::new();
    if let Some((_, hint)) = SEARCH_HINTS.iter().find(|(tool, _)| *tool == name) {
        meta.insert("anthropic/searchHint".to_owned(), json!(hint));
    }
    if ALWAYS_LOADED.contains(&name) {
        meta.insert("anthropic/alwaysLoad".to_owned(), json!(true));
    }
    if LONG_ANSWERS.contains(&name) {
        meta.insert("anthropic/maxResultSizeChars".to_owned(), json!(LONG_ANSWER_CHARS));
    }
    meta
}
