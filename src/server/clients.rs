//! The size limits that clients apply to answers before the model sees them.
//!
//! Clients cut longer answers in different ways: in the middle, at the end, or every block after
//! the one that they cut, and often the notes. An answer for such a client is fitted to its limit,
//! and the rest is in further chunks.

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde_json::Value;

use super::listing::LONG_ANSWERS;

/// The name by which a client declares, among its extensions or experimental capabilities, the
/// format for calls that name none: `{"format": "stc"}`.
pub const FORMAT: &str = "dev.daysheet/format";

/// A client, by its name in `clientInfo`, and the maximum number of bytes of text blocks that it
/// passes on, less the overhead of its own text around them.
struct ClientLimit {
    name: &'static str,
    bytes: usize,
}

/// The limits of clients, measured with these versions on 27 November 2026, between a stand-in for
/// the model and a server with answers of any length. Gemini CLI 0.61.0 passed on 64,736 characters
/// unchanged.
const LIMITS: &[ClientLimit] = &[
    // Cline 3.0.65: 8,000 characters of the result as JSON, where tabs, line breaks and quotation
    // marks take two each; these are up to a third of all characters.
    ClientLimit { name: "@cline/core", bytes: 5_800 },
    // opencode 1.18.33: 50 KiB, the rest in a file.
    ClientLimit { name: "opencode", bytes: 48_000 },
];

/// Codex 0.171.0, for models in its catalogue: 40,000 bytes, for most of them as JSON; 48,000 bytes
/// for models that get the blocks unchanged.
const CODEX: ClientLimit = ClientLimit { name: "codex-mcp-client", bytes: 30_000 };
/// The limit of Codex for all other models: 12,000 bytes.
const CODEX_OTHER: usize = 11_500;
/// The member of a request's `_meta` in which Codex names its model, as `model`.
const CODEX_TURN: &str = "x-codex-turn-metadata";

/// Claude Code 2.1.332: 50,000 characters, unless the tool is listed with a higher limit.
const CLAUDE_CODE: ClientLimit = ClientLimit { name: "claude-code", bytes: 48_000 };

/// Returns true if a client is known to cut answers.
#[cfg(feature = "http")]
pub(super) fn is_limited(name: &str) -> bool {
    let names = LIMITS.iter().map(|limit| limit.name);
    names.chain([CODEX.name, CLAUDE_CODE.name]).any(|limited| limited == name)
}

/// Returns the maximum number of bytes of a tool's answer that the client of a request passes on;
/// `None` if it is not known to cut answers.
pub(super) fn answer_limit(context: &RequestContext<RoleServer>, tool: &str) -> Option<usize> {
    let name = context.client_info()?.name;
    if name == CODEX.name {
        let model = context.meta.get(CODEX_TURN).and_then(codex_model);
        // Its catalogue has no other models. An unnamed model may be any.
        let known = model.is_some_and(|model| model.starts_with("gpt-"));
        Some(if known { CODEX.bytes } else { CODEX_OTHER })
    } else if name == CLAUDE_CODE.name {
        (!LONG_ANSWERS.contains(&tool)).then_some(CLAUDE_CODE.bytes)
    } else {
        LIMITS.iter().find(|limit| limit.name == name).map(|limit| limit.bytes)
    }
}

/// Returns the model of a turn, which is an object or its text.
fn codex_model(turn: &Value) -> Option<String> {
    let model = |turn: &Value| turn.get("model")?.as_str().map(str::to_owned);
    match turn {
        Value::String(text) => model(&serde_json::from_str(text).ok()?),
        turn => model(turn),
    }
}
