//! Calls of a pipeline without a client, a user who answers, and tokens.

use std::sync::Mutex;

use async_trait::async_trait;
use daysheet::oauth::GrantedTokens;
use daysheet::pipeline::Pipeline;
use daysheet::tools;
use daysheet_core::call::client::{ClientPrompts, Confirmation};
use daysheet_core::encode::Format;
use daysheet_core::error::Result;
use daysheet_core::text::NoteKey;
use oauth2::{AccessToken, RefreshToken};
use serde_json::Value;

/// Calls a tool of a pipeline; returns its blocks.
pub async fn call(
    pipeline: &Pipeline,
    tool: &str,
    arguments: Value,
    format: Format,
    caller: &dyn ClientPrompts,
) -> Result<Vec<String>> {
    let tool = tools::find(tool).unwrap();
    let request = tools::read(tool, arguments.as_object().cloned(), format)?;
    Ok(pipeline.run_for(request, caller).await?.blocks)
}

/// A user who gives one answer to all questions, and records them.
pub struct FakeUser(Confirmation, Mutex<Vec<String>>);

impl FakeUser {
    pub fn says(reply: Confirmation) -> Self {
        Self(reply, Mutex::default())
    }

    /// Returns the questions so far.
    pub fn questions(&self) -> Vec<String> {
        self.1.lock().unwrap().clone()
    }
}

#[async_trait]
impl ClientPrompts for FakeUser {
    async fn confirm(&self, question: &str) -> Confirmation {
        self.1.lock().unwrap().push(question.to_owned());
        self.0
    }

    fn can_ask(&self) -> bool {
        self.0 != Confirmation::Unavailable
    }

    async fn progress(&self, _: u64, _: u64, _: &str) {}
}

/// Returns tokens that do not expire during a test.
pub fn tokens(provider: &'static str, access: &str, refresh: &str) -> GrantedTokens {
    GrantedTokens {
        provider,
        access: AccessToken::new(access.to_owned()),
        refresh: Some(RefreshToken::new(refresh.to_owned())),
        expires: i64::MAX / 2,
        scopes: Vec::new(),
        tenant: None,
        ends: None,
    }
}

/// Returns the notes of an answer: the lines of its last block, and the notes above the table as
/// `key: note`.
pub fn notes(blocks: &[String]) -> String {
    let document = blocks.first().map_or("", String::as_str);
    let values = NoteKey::ALL.into_iter().filter_map(|key| {
        let lines = document.lines().filter(|line| line.starts_with(&format!("{}: ", key.name())));
        assert!(lines.count() <= 1, "{document}");
        let line =
            document.lines().find_map(|line| line.strip_prefix(key.name())?.strip_prefix(": "));
        let json: Option<Value> = serde_json::from_str(document).ok();
        let text = match (line, json) {
            (_, Some(document)) => document.get(key.name())?.as_str()?.to_owned(),
            (Some(line), None) if line.starts_with('"') => serde_json::from_str(line).unwrap(),
            (line, None) => line?.to_owned(),
        };
        Some(format!("{}: {text}", key.name()))
    });
    let last = blocks.get(1..).unwrap_or_default().last().cloned();
    let last = last.filter(|last| !last.ends_with(">>>"));
    last.into_iter().chain(values).collect::<Vec<_>>().join("\n")
}
