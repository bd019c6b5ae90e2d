//! Gmail's URLs and ids, writes, and lookups of interrupted writes.

use daysheet_core::error::{Error, ErrorKind, Result};
use hyper::Method;
use serde_json::Value;
use url::Url;

use super::mailbox::{GmailMailbox, ME};
use crate::net::path_segment;

impl GmailMailbox {
    /// Returns a URL below the account, with each segment of the path escaped.
    pub(super) fn at(&self, path: &[&str], params: &[(&str, &str)]) -> Result<Url> {
        self.below("gmail/v1/users", path, params)
    }

    /// Returns an upload URL below the account.
    pub(super) fn upload_at(&self, path: &[&str], params: &[(&str, &str)]) -> Result<Url> {
        self.below("upload/gmail/v1/users", path, params)
    }

    fn below(&self, users: &str, path: &[&str], params: &[(&str, &str)]) -> Result<Url> {
        let mut whole = format!("{users}/{ME}");
        for part in path {
            whole.push('/');
            whole.push_str(&path_segment(part));
        }
        let mut url = self
            .base
            .join(&whole)
            .map_err(|_opaque| Error::new(ErrorKind::Internal, "Gmail's URL does not parse"))?;
        if !params.is_empty() {
            url.query_pairs_mut().extend_pairs(params);
        }
        Ok(url)
    }

    /// Fetches a short resource.
    pub(super) async fn get(&self, path: &[&str], params: &[(&str, &str)]) -> Result<Value> {
        self.google.get(&self.at(path, params)?).await
    }

    /// Sends a write once.
    pub(super) async fn change(
        &self,
        method: Method,
        path: &[&str],
        body: Option<&Value>,
    ) -> Result<Value> {
        let url = self.at(path, &[])?;
        self.google.send(method, &url, None, body).await
    }

    /// Sends a write as [`GmailMailbox::change`] does, and looks up an interrupted one with `look`; see
    /// [`RateLimiter::settle`](crate::limiter::RateLimiter::settle).
    pub(super) async fn change_for_sure<F>(
        &self,
        method: Method,
        path: &[&str],
        body: Option<&Value>,
        look: impl Fn() -> F,
    ) -> Result<Value>
    where
        F: Future<Output = Result<Option<Value>>>,
    {
        match self.change(method, path, body).await {
            Err(error) => self.google.settle(error, look).await,
            done => done,
        }
    }

    /// Returns the resource at a path, or `None` if it does not exist.
    pub(super) async fn there(
        &self,
        path: &[&str],
        params: &[(&str, &str)],
    ) -> Result<Option<Value>> {
        match self.get(path, params).await {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns null once the resource at a path no longer exists.
    pub(super) async fn confirm_absent(&self, path: &[&str]) -> Result<Option<Value>> {
        let found = self.there(path, &[]).await?;
        Ok(found.is_none().then_some(Value::Null))
    }
}

/// Checks an id, because the generated client puts ids into paths unescaped.
pub(super) fn check(id: &str) -> Result<()> {
    let fits = (1..=64).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if fits { Ok(()) } else { Err(not_gmails()) }
}

/// Returns the error for an id that is not from Gmail.
pub(super) fn not_gmails() -> Error {
    Error::argument("the id is not Gmail's (letters, digits, `_` and `-`)")
        .next("use a handle such as m12 from a search")
}
