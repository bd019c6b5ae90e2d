//! Gmail's addresses for what is written, and what became of what broke off.

use hyper::Method;
use serde_json::Value;
use url::Url;

use super::{Gmail, ME};
use crate::net::path_segment;
use daysheet_core::error::{Error, Kind, Result};

impl Gmail {
    /// An address below the account, each part of the path escaped.
    pub(super) fn at(&self, path: &[&str], params: &[(&str, &str)]) -> Result<Url> {
        self.below("gmail/v1/users", path, params)
    }

    /// The same where much is sent to.
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
            .map_err(|_opaque| Error::new(Kind::Internal, "Gmail's URL does not parse"))?;
        if !params.is_empty() {
            url.query_pairs_mut().extend_pairs(params);
        }
        Ok(url)
    }

    /// Reads what is short.
    pub(super) async fn get(&self, path: &[&str], params: &[(&str, &str)]) -> Result<Value> {
        self.google.get(&self.at(path, params)?).await
    }

    /// Changes something, once.
    pub(super) async fn change(
        &self,
        method: Method,
        path: &[&str],
        body: Option<&Value>,
    ) -> Result<Value> {
        let url = self.at(path, &[])?;
        self.google.send(method, &url, None, body).await
    }

    /// [`Gmail::change`], which is looked for with `look` when it breaks off:
    /// see [`Pace::settle`](crate::pace::Pace::settle).
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

    /// What is at a path; nothing if there is no such thing.
    pub(super) async fn there(
        &self,
        path: &[&str],
        params: &[(&str, &str)],
    ) -> Result<Option<Value>> {
        match self.get(path, params).await {
            Ok(found) => Ok(Some(found)),
            Err(gone) if gone.kind() == Kind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Null once there is nothing at a path any more.
    pub(super) async fn gone(&self, path: &[&str]) -> Result<Option<Value>> {
        let found = self.there(path, &[]).await?;
        Ok(found.is_none().then_some(Value::Null))
    }
}
