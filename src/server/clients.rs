//! The size limits that clients apply to an answer before the model sees it.
//!
//! Clients cut what is longer, each in its way: from the middle, from the end, or every block
//! after the one that they cut, and often the notes. An answer for such a client is made to fit,
//! and its rest is in further chunks.

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde_json::Value;

use super::listing::LONG_ANSWERS;

/// A client, by its name in `clientInfo`, and the most bytes of text blocks that it passes on,
/// with room for what it writes around them.
struct ClientLimit {
    name: &'static str,
    bytes: usize,
}

/// Measured with these versions on 27 November 2026, between a stand-in for the model and a server
/// that answers at any length. Gemini CLI 0.61.0 passed on 64,736 characters whole.
const LIMITS: &[ClientLimit] = &[
    // Cline 3.0.65: 8,000 characters of the result as JSON, in which tabs, line breaks and quotes
    // take two each, up to a third of them all.
    ClientLimit { name: "@cline/core", bytes: 5_800 },
    // opencode 1.18.33: 50 KiB, the rest in a file.
    ClientLimit { name: "opencode", bytes: 48_000 },
];

/// Codex 0.171.0, for models of its catalogue: 40,000 bytes, as JSON for most of them; 48,000 bytes
/// for those that get the blocks as they are.
const CODEX: ClientLimit = ClientLimit { name: "codex-mcp-client", bytes: 30_000 };
/// The same for all other models: 12,000 bytes.
const CODEX_OTHER: usize = 11_500;
/// The member of a request's `_meta` in which Codex names its model, as `model`.
const CODEX_TURN: &str = "x-codex-turn-metadata";

/// Claude Code 2.1.332: 50,000 characters, unless the tool is listed with more.
const CLAUDE_CODE: ClientLimit = ClientLimit { name: "claude-code", bytes: 48_000 };

/// Returns true if a client cuts answers.
#[cfg(feature = "http")]
pub(super) fn is_limited(name: &str) -> bool {
    let names = LIMITS.iter().map(|limit| limit.name);
    names.chain([CODEX.name, CLAUDE_CODE.name]).any(|limited| limited == name)
}

/// Returns the most bytes of an answer of a tool that the client of a request passes on; `None` if
/// it is not known to cut.
pub(super) fn answer_limit(context: &RequestContext<RoleServer>, tool: &str) -> Option<usize> {
    let name = context.client_info()?.name;
    if name == CODEX.name {
        let model = context.meta.get(CODEX_TURN).and_then(codex_model);
        // Its catalogue has no other models than these. One that is not named may be any.
        let known = model.is_some_and(|model| model.starts_with("gpt-"));
        Some(if known { CODEX.bytes } else { CODEX_OTHER })
    } else if name == CLAUDE_CODE.name {
        (!LONG_ANSWERS.contains(&tool)).then_some(CLAUDE_CODE.bytes)
    } else {
        LIMITS.iter().find(|limit| limit.name == name).map(|limit| limit.bytes)
    }
}

/// Returns the model of a turn, which is an object or the text of one.
fn codex_model(turn: &Value) -> Option<String> {
    let model = |turn: &Value| turn.get("model")?.as_str().map(str::to_owned);
    match turn {
        Value::String(text) => model(&serde_json::from_str(text).ok()?),
        turn => model(turn),
    }
}
