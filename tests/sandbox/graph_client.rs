//! Helpers for the Graph tests of the sandbox, which act as its clients.

use std::fs;

use daysheet_sandbox::Sandbox;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::client::{ME, Reply, User, form};

pub const TEAM: &str = "team@example.com";
pub const ANA: &str = "ana@example.com";
pub const BEN: &str = "ben@other.example";
pub const ALL: &str = "User.Read Mail.Read Mail.Read.Shared People.Read Contacts.Read \
                       MailboxSettings.Read";

pub async fn signed_in(sandbox: &Sandbox) -> User {
    User::at_graph(sandbox.base(), ME, ALL).await
}

/// Returns a mail folder for three people, who each sent one message.
pub fn mailboxes_of_three() -> TempDir {
    let dir = TempDir::new().unwrap();
    for (address, name) in [(ME, "Mira Lindqvist"), (ANA, "Ana Lima"), (BEN, "Ben Ochs")] {
        let message = format!(
            "X-Gmail-Labels: Sent\nFrom: {name} <{address}>\nTo: all@example.com\n\
             Subject: Hello\nDate: Mon, 5 Jan 2026 08:00:00 +0000\n\
             Message-ID: <hello@{address}>\n\nhi\n"
        );
        fs::create_dir(dir.path().join(address)).unwrap();
        fs::write(dir.path().join(address).join("hello.eml"), message).unwrap();
    }
    dir
}

impl Reply {
    /// Returns the status, code and message of a refusal, and checks its whole shape.
    pub fn refusal(&self) -> (u16, String, String) {
        let body = self.json();
        let error = body["error"].as_object().unwrap();
        assert_eq!(keys(&body), ["error"]);
        assert_eq!(keys(&body["error"]), ["code", "innerError", "message"]);
        let inner = &error["innerError"];
        assert_eq!(keys(inner), ["client-request-id", "date", "request-id"]);
        assert_eq!(inner["request-id"], self.header("request-id"));
        assert_eq!(inner["client-request-id"], self.header("client-request-id"));
        let text = |name: &str| error[name].as_str().unwrap().to_owned();
        (self.status, text("code"), text("message"))
    }
}

/// Returns the status and code of a refusal.
pub fn refused(reply: &Reply) -> (u16, String) {
    let (status, code, _) = reply.refusal();
    (status, code)
}

/// Creates an item with a POST request, and returns it.
pub async fn made(user: &User, path: &str, body: Value) -> Value {
    let reply = user.write("POST", path, &[], &body).await;
    assert_eq!(reply.status, 201, "{path} {body}: {}", reply.text());
    reply.json()
}

impl User {
    /// Sends a GET request with a `Prefer` header, unless `prefer` is empty.
    pub async fn prefer(&self, path: &str, prefer: &str) -> Reply {
        let headers: &[_] = if prefer.is_empty() { &[] } else { &[("prefer", prefer)] };
        self.bearing("GET", path, headers, "").await
    }

    /// Returns the subjects of one page of messages.
    pub async fn subjects(&self, path: &str, options: &[(&str, &str)]) -> Vec<String> {
        let query = form(options.iter().copied());
        let list = self.json(&format!("{path}?%24select=subject&{query}")).await;
        column(&list, "subject")
    }

    /// Returns the message with this subject, with all its properties.
    pub async fn message(&self, subject: &str) -> Value {
        let filter = format!("subject eq '{}'", subject.replace('\'', "''"));
        let query = form([("$filter", filter.as_str())]);
        let list = self.json(&format!("me/messages?{query}")).await;
        assert_eq!(list["value"].as_array().unwrap().len(), 1, "{subject}");
        list["value"][0].clone()
    }

    pub async fn batch(&self, body: &Value) -> Reply {
        self.write("POST", "$batch", &[], body).await
    }
}

pub fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

pub fn column(list: &Value, name: &str) -> Vec<String> {
    let rows = list["value"].as_array().unwrap().iter();
    rows.map(|row| row[name].as_str().unwrap().to_owned()).collect()
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}
