//! Writes of the Outlook adapter to a mailbox, against a scripted service.

use std::sync::Mutex;

use async_trait::async_trait;
use daysheet_core::call::client::{ClientPrompts, Confirmation};
use daysheet_core::error::Result;
use daysheet_core::provider::mail::{
    AttachmentContent, Importance, OutgoingAttachment, OutgoingMessage,
};
use serde_json::{Value, json};

use crate::common::client::ME;
use crate::common::messages::{file, outgoing, person};
use crate::tap::{HttpRequest, HttpResponse, Outlook, empty, respond};

mod draft;
mod manage;
mod modify;
mod rules;
mod upload;

/// A draft, the message it answers, and one of its files.
const DRAFT: &str = "AAkALgAAdraft0000000001=";
const MESSAGE: &str = "AAkALgAAmessage00000001=";
const FILE: &str = "AAkALgAAfile00000000001=";
const INBOX: &str = "AAkALgAAfolderInbox0001=";
const ARCHIVE: &str = "AAkALgAAfolderArchive01=";
const CLIENTS: &str = "AAkALgAAfolderClients01=";

/// A status and a body; the body is empty for null.
type ScriptedAnswer = (u16, Value);

/// A service that answers single requests, and parts of batches, alike: by
/// method and path, and the body.
async fn service(
    answer: impl Fn(&str, &Value) -> ScriptedAnswer + Send + Sync + 'static,
) -> Outlook {
    Outlook::scripted(move |seen| Some(answer_request(&answer, seen))).await
}

fn answer_request(
    answer: &dyn Fn(&str, &Value) -> ScriptedAnswer,
    seen: &HttpRequest,
) -> HttpResponse {
    if !seen.line.starts_with("POST /$batch") {
        let (status, body) = answer(&seen.line, &seen.body);
        return match body {
            Value::Null => empty(status),
            body => respond(status, &body),
        };
    }
    let parts = seen.body["requests"].as_array().unwrap();
    // As Graph does: one part that writes and lacks its body fails them all.
    let whole = |part: &Value| {
        part["method"] == "GET"
            || part["method"] == "DELETE"
            || part["body"].is_object() && part["headers"]["Content-Type"] == "application/json"
    };
    if !parts.iter().all(whole) {
        return respond(400, &refused(400, "BadRequest").1);
    }
    let lines = seen.line.lines().skip(1);
    let answers: Vec<Value> = parts
        .iter()
        .zip(lines)
        .filter_map(|(part, line)| {
            let (status, body) = answer(line, &part["body"]);
            let mut answer = json!({"id": part["id"], "status": status});
            if !body.is_null() {
                answer["body"] = body;
            }
            if status == 429 {
                answer["headers"] = json!({"Retry-After": "0"});
            }
            // Status 0 stands for a part that is left out.
            (status != 0).then_some(answer)
        })
        .collect();
    respond(200, &json!({ "responses": answers }))
}

/// Returns and clears the recorded requests with their bodies: single requests, and the parts of
/// batches.
fn request_lines(outlook: &Outlook) -> Vec<(String, Value)> {
    let mut lines = Vec::new();
    for seen in outlook.tap.requests() {
        match seen.body["requests"].as_array() {
            Some(parts) => {
                for (part, line) in parts.iter().zip(seen.line.lines().skip(1)) {
                    lines.push((line.to_owned(), part["body"].clone()));
                }
            }
            None => lines.push((seen.line, seen.body)),
        }
    }
    lines
}

/// Returns and clears the recorded requests, without reads.
fn written(outlook: &Outlook) -> Vec<(String, Value)> {
    let lines = request_lines(outlook).into_iter();
    lines.filter(|(line, _)| !line.starts_with("GET")).collect()
}

/// Converts expected lines to the form of [`request_lines`].
fn lines<const N: usize>(lines: [(&str, Value); N]) -> Vec<(String, Value)> {
    lines.into_iter().map(|(line, body)| (line.to_owned(), body)).collect()
}

fn refused(status: u16, code: &str) -> ScriptedAnswer {
    (status, json!({"error": {"code": code, "message": "No."}}))
}

fn missing() -> ScriptedAnswer {
    refused(404, "ErrorItemNotFound")
}

/// A message to one, without files.
fn sample_message() -> OutgoingMessage {
    let to = vec![person("Lena Okafor", "lena@studio.example")];
    OutgoingMessage {
        cc: vec![person("", "bo@example.com")],
        subject: "Proofs".to_owned(),
        text: "Here they are.\n".to_owned(),
        html: "<p>Here they are.</p>".to_owned(),
        importance: Importance::High,
        ..outgoing("proofs-1@daysheet.example", person("", ME), to)
    }
}

/// The message as Graph has it, a draft with the files named.
fn graph_draft() -> Value {
    json!({
        "@odata.etag": "W/\"v1\"", "id": DRAFT, "conversationId": "the-conversation",
        "isDraft": true, "subject": "Proofs", "importance": "high",
        "body": {
            "contentType": "html",
            "content": "<html><head>\r\n<meta></head><body>\r\n<p>Here they are.</p>\r\n</body></html>",
        },
        "toRecipients": [{"emailAddress": {"name": "Lena Okafor", "address": "lena@studio.example"}}],
        "ccRecipients": [{"emailAddress": {"name": "bo@example.com", "address": "bo@example.com"}}],
        "bccRecipients": [], "replyTo": [],
        "internetMessageId": "<proofs-1@daysheet.example>",
    })
}

fn graph_file() -> Value {
    json!({
        "@odata.type": "#microsoft.graph.fileAttachment", "id": FILE, "name": "proofs.pdf",
        "contentType": "application/pdf", "size": 1234, "isInline": false, "contentId": "odd",
    })
}

/// Returns the properties with which the message is sent.
fn sent_properties() -> Value {
    json!({
        "subject": "Proofs",
        "body": {"contentType": "html", "content": "<p>Here they are.</p>"},
        "toRecipients": [{"emailAddress": {"name": "Lena Okafor", "address": "lena@studio.example"}}],
        "ccRecipients": [{"emailAddress": {"address": "bo@example.com"}}],
        "bccRecipients": [], "replyTo": [], "importance": "high",
        "internetMessageId": "<proofs-1@daysheet.example>",
    })
}

/// A caller that records its progress.
#[derive(Default)]
pub struct ProgressLog(pub Mutex<Vec<(u64, u64, String)>>);

#[async_trait]
impl ClientPrompts for ProgressLog {
    async fn confirm(&self, _: &str) -> Confirmation {
        Confirmation::Unavailable
    }

    async fn progress(&self, done: u64, total: u64, what: &str) {
        let mut reported = self.0.lock().unwrap();
        reported.push((done, total, what.to_owned()));
    }
}

/// Returns the text of an error.
fn error<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => "nothing failed".to_owned(),
        Err(error) => error.to_string(),
    }
}
