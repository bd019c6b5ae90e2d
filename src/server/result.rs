//! Answers and errors in MCP's form: text blocks and, on request, the size of an answer in `_meta`.

use daysheet_core::error::Error;
use daysheet_core::text::cell;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde_json::{Value, json};

use crate::outputs;
use crate::pipeline::{AnswerStats, ToolAnswer};

/// The media type of outputs.
pub(super) const TEXT_TYPE: &str = "text/plain";

/// The member of a request's `_meta` that requests the size of the answer, by the value `true`.
/// Without it the size is not sent, because some clients pass `_meta` on to the model.
pub const STATS: &str = "daysheet/stats";

/// The maximum size of an error's text, in bytes.
const DIAGNOSTICS: usize = 8 * 1024;

/// Returns the text of an error, shortened if it is very long.
pub(super) fn diagnostics(error: &Error) -> String {
    // On one line, so that no quoted part can pass for a line of ours.
    let mut text = cell(&error.to_string());
    if text.len() > DIAGNOSTICS {
        let mut end = DIAGNOSTICS;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let rest = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("… ({rest} bytes more)"));
    }
    text
}

/// Returns an answer in MCP's form: its text blocks and, `with_stats`, its size in `_meta`.
pub(super) fn result(answer: ToolAnswer, with_stats: bool) -> CallToolResult {
    let ToolAnswer { blocks, stats, output } = answer;
    // Some clients join blocks without a separator; documents and fences must still begin on a line
    // of their own.
    let blocks = blocks.into_iter().enumerate();
    let blocks = blocks.map(|(at, block)| if at == 0 { block } else { format!("\n{block}") });
    let mut result = CallToolResult::success(blocks.map(ContentBlock::text).collect());
    if with_stats {
        let meta = stats_object(&stats, output.as_deref());
        result.meta = Some(MetaObject(JsonObject::from_iter([("daysheet".to_owned(), meta)])));
    }
    result
}

/// Returns the size of an answer, and the location of the full text of a shortened one.
fn stats_object(stats: &AnswerStats, output: Option<&str>) -> Value {
    let (chunk, chunks) = stats.chunk;
    let mut meta = json!({
        "tokens": stats.tokens,
        "tokenizer": stats.tokenizer,
        "bytes": stats.bytes,
        "baseline": "provider JSON of the whole answer's rows",
        "baseline_bytes": stats.source_bytes,
        "ratio": (stats.source_bytes > 0)
            .then(|| (100 * stats.bytes / stats.source_bytes) as f64 / 100.0),
        "truncated": stats.shortened.is_some(),
        "cut": stats.cut,
        "chunk": chunk,
        "chunks": chunks,
        "hash": stats.hash,
    });
    let Some(members) = meta.as_object_mut() else {
        return meta;
    };
    if let Some(id) = output {
        members.insert("output".to_owned(), format!("{}{id}", outputs::URI).into());
    }
    if let Some(version) = stats.stc_version {
        members.insert("stc_version".to_owned(), version.into());
    }
    if let Some(sort) = stats.sort {
        members.insert("sort".to_owned(), sort.into());
    }
    if let Some(shortened) = &stats.shortened {
        let [minimal, standard, full] = shortened.levels;
        members.insert("planned".to_owned(), stats.planned.into());
        members.insert("shown".to_owned(), shortened.shown.into());
        members.insert("of".to_owned(), shortened.of.into());
        members.insert("windows".to_owned(), shortened.windows.into());
        let levels = json!({"minimal": minimal, "standard": standard, "full": full});
        members.insert("levels".to_owned(), levels);
    }
    meta
}
