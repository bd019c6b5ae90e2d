//! Tools as MCP lists them: name, description, schema, hints, and what individual clients read
//! besides. What a tool does is declared in `tools.rs`.

use std::sync::Arc;

use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::tools::{self, ToolEffect};

/// The prefix of the names of clients that read these members: Claude Code and Claude Desktop.
const CLAUDE: &str = "claude";

/// Synonyms for the purpose of tools. Claude Code searches them, and does not pass them to the model.
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

/// Tools that Claude Code has loaded from the beginning. It finds all others by a search of its
/// own, one more call.
const ALWAYS_LOADED: [&str; 2] = ["mail_search", "brief"];

/// Tools whose answers may be longer than what Claude Code passes to a model otherwise, which is
/// 50,000 characters. A model gets so much only if it asks for it by `budget`.
pub(super) const LONG_ANSWERS: [&str; 3] = ["mail_search", "mail_read", "output_read"];
/// The characters that Claude Code then passes on.
const LONG_ANSWER_CHARS: u32 = 200_000;

/// Tools that write, and reach nobody but the user: Codex runs them without asking.
const PRIVATE: [&str; 2] = ["mail_attachment", "mail_draft"];

/// Returns every tool as MCP shows it to an unknown client.
pub fn list() -> Vec<Tool> {
    tools::TOOLS.iter().map(|one| tool(one, None)).collect()
}

/// Returns a tool as MCP shows it to a client of that name.
///
/// It has every hint that differs from the protocol's default, and whether a tool that writes
/// can destroy: the other defaults (not read-only, not idempotent, open to the world) are true
/// of the others and would cost each of them tokens.
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

/// Returns what Claude Code reads in a tool's `_meta`.
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
