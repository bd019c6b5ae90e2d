//! Handles lines that are not JSON, before rmcp sees them.
//!
//! rmcp skips lines that it cannot parse, so a client whose request contains a cut emoji would wait
//! forever. Bytes that are not UTF-8 and lone halves of surrogate pairs are therefore replaced, as
//! other JSON readers do, and a line that is still not JSON is answered with a parse error.
//!
//! Requests are also counted here, because rmcp would start any number at once. Beyond [`OPEN`]
//! unanswered requests, further ones are refused; pings, cancellations and answers pass.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream,
};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The number of bytes buffered between rmcp and the pipes.
const BUFFER: usize = 64 * 1024;
/// The maximum number of lines queued for writing.
const WAITING: usize = 64;
/// The maximum length of a line; rmcp's own limit is the same.
const MAX_LINE: usize = 16 << 20;

/// The maximum number of a client's unanswered requests.
const OPEN: usize = 128;
/// The maximum total size of these requests, in bytes.
const OPEN_BYTES: usize = 2 * MAX_LINE;

/// Unanswered requests: their ids as JSON, with the size of each in bytes.
#[derive(Clone, Default)]
struct PendingRequests(Arc<Mutex<HashMap<String, usize>>>);

/// The members that distinguish an answer from other messages of rmcp.
#[derive(Deserialize)]
struct ResponseHead {
    id: Option<Value>,
    method: Option<String>,
}

impl PendingRequests {
    fn all(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a client's message of this size; returns the id of a request that exceeds the limit.
    fn refuses<'m>(&self, message: &'m Value, bytes: usize) -> Option<&'m Value> {
        let method = message.get("method")?.as_str()?;
        let mut all = self.all();
        if method == "notifications/cancelled" {
            let id = message.pointer("/params/requestId")?;
            // A cancelled request gets no answer.
            all.remove(&id.to_string());
            return None;
        }
        let id = message.get("id")?;
        if method == "ping" {
            return None;
        }
        let total: usize = all.values().sum();
        if all.len() >= OPEN || total.saturating_add(bytes) > OPEN_BYTES {
            return Some(id);
        }
        all.insert(id.to_string(), bytes);
        None
    }

    /// Counts a message from rmcp.
    fn note_response(&self, line: &[u8]) {
        if let Ok(ResponseHead { id: Some(id), method: None }) = serde_json::from_slice(line) {
            self.all().remove(&id.to_string());
        }
    }
}

/// The streams for rmcp, and the task that ends once everything has been written.
pub(super) struct FramedStreams {
    pub(super) input: DuplexStream,
    pub(super) output: DuplexStream,
    pub(super) written: JoinHandle<()>,
}

/// Connects rmcp to a client's `input` and `output` through this module.
pub(super) fn guard<R, W>(input: R, output: W) -> FramedStreams
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (to_rmcp, rmcp_input) = tokio::io::duplex(BUFFER);
    let (rmcp_output, from_rmcp) = tokio::io::duplex(BUFFER);
    let (lines, waiting) = mpsc::channel(WAITING);
    let open = PendingRequests::default();
    tokio::spawn(read(input, to_rmcp, lines.clone(), open.clone()));
    tokio::spawn(forward(from_rmcp, lines, open));
    FramedStreams {
        input: rmcp_input,
        output: rmcp_output,
        written: tokio::spawn(write(waiting, output)),
    }
}

/// Forwards the client's lines, and answers lines that are not JSON.
async fn read<R: AsyncRead + Unpin>(
    input: R,
    mut to_rmcp: DuplexStream,
    answers: mpsc::Sender<Vec<u8>>,
    open: PendingRequests,
) {
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    while let Ok(1..) = next_line(&mut input, &mut line).await {
        let passed = if line.len() > MAX_LINE {
            // The rest of the line is skipped, so that the next one is read from its beginning.
            while line.last() != Some(&b'\n')
                && matches!(next_line(&mut input, &mut line).await, Ok(1..))
            {}
            answers.send(refusal("the line is longer than 16 MiB")).await.is_ok()
        } else if line.iter().all(u8::is_ascii_whitespace) {
            true
        } else {
            match repair(&line) {
                Some((sound, message)) => match open.refuses(&message, sound.len()) {
                    None => to_rmcp.write_all(&sound).await.is_ok(),
                    Some(id) => answers.send(busy(id)).await.is_ok(),
                },
                None => answers.send(refusal("the line is not JSON")).await.is_ok(),
            }
        };
        if !passed {
            return;
        }
        // A long line must not keep its memory for the rest of the session.
        line.shrink_to(BUFFER);
    }
}

/// Reads the next line, up to the maximum length.
async fn next_line<R: AsyncRead + Unpin>(
    input: &mut BufReader<R>,
    line: &mut Vec<u8>,
) -> std::io::Result<usize> {
    line.clear();
    let most = u64::try_from(MAX_LINE).unwrap_or(u64::MAX).saturating_add(1);
    input.take(most).read_until(b'\n', line).await
}

/// Forwards rmcp's complete lines, so that our own answers never interrupt one.
async fn forward(from_rmcp: DuplexStream, lines: mpsc::Sender<Vec<u8>>, open: PendingRequests) {
    let mut from_rmcp = BufReader::new(from_rmcp);
    let mut line = Vec::new();
    while let Ok(1..) = from_rmcp.read_until(b'\n', &mut line).await {
        open.note_response(&line);
        if lines.send(std::mem::take(&mut line)).await.is_err() {
            return;
        }
    }
}

async fn write<W: AsyncWrite + Unpin>(mut lines: mpsc::Receiver<Vec<u8>>, mut output: W) {
    while let Some(line) = lines.recv().await {
        if output.write_all(&line).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

/// Returns a line as JSON with its value, after repairing its text if necessary; `None` if it is
/// not JSON even then.
pub fn repair(line: &[u8]) -> Option<(Vec<u8>, Value)> {
    // Parsed into a value as rmcp does; a reader that skips strings would not notice invalid ones.
    if let Ok(message) = serde_json::from_slice(line) {
        return Some((line.to_vec(), message));
    }
    let text = whole_pairs(&String::from_utf8_lossy(line));
    let message = serde_json::from_str(&text).ok()?;
    Some((text.into_bytes(), message))
}

/// Replaces escapes of lone surrogates, `\ud800` to `\udfff`, by `\ufffd`.
fn whole_pairs(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let (high, low) = (half(escape), half(escape.get(6..).unwrap_or_default()));
        // Every other escape has at least two characters, including `\\`.
        let length = match (high, low) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
            (Some(_), _) => {
                out.push_str("\\ufffd");
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            (None, _) => escape.chars().take(2).map(char::len_utf8).sum(),
        };
        out.push_str(escape.get(..length).unwrap_or(escape));
        rest = escape.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Returns the surrogate that an escape at the beginning of `text` encodes.
fn half(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    (0xd800..0xe000).contains(&code).then_some(code)
}

/// Returns the answer to a request beyond the limit.
fn busy(id: &Value) -> Vec<u8> {
    let error = json!({
        "jsonrpc": "2.0",
        "id": id,
        "error": {"code": -32000, "message": format!(
            "too many requests at once: {OPEN} are unanswered: wait for some of them"
        )},
    });
    format!("{error}\n").into_bytes()
}

/// Returns a parse error (JSON-RPC 2.0, section 5.1). Its id is null because the request's id could
/// not be read.
fn refusal(why: &str) -> Vec<u8> {
    let error = json!({
        "jsonrpc": "2.0",
        "id": null,
        "error": {"code": -32700, "message": format!("parse error: {why}: send one JSON-RPC message per line")},
    });
    format!("{error}\n").into_bytes()
}
