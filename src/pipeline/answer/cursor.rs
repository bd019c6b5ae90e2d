//! Cursors: the position at which a list or a text continues, saved in the store.
//!
//! A cursor holds the request together with the start of the next page, so that it
//! cannot be used for another request and relative dates keep the meaning they had on
//! the first page. It is JSON in the store; the model sees its number. Its content is
//! each list's own plan, under the list's own word, so that this module knows no list.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use daysheet_core::error::{Error, ErrorKind, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::pipeline::context::Context;
use crate::store::HandleKind;

/// A stored cursor: the kind of list that it belongs to, and beside it the fields of
/// the list's plan, all in one object.
#[derive(Serialize)]
struct SavedCursor<'p, T> {
    of: &'p str,
    #[serde(flatten)]
    plan: &'p T,
}

/// The kind of list of a stored cursor.
#[derive(Deserialize)]
struct CursorKind {
    of: String,
}

/// Saves the position of a list of some kind, and returns the cursor's number.
///
/// The kind and the names of the plan's fields are stored on disk: a change of
/// either invalidates existing cursors. A plan has no field `of`.
pub(crate) async fn save_cursor<T: Serialize>(ctx: &Context, kind: &str, plan: &T) -> Result<u64> {
    let state = serde_json::to_string(&SavedCursor { of: kind, plan })
        .map_err(|_| Error::new(ErrorKind::Internal, "a cursor could not be saved"))?;
    ctx.store.save_cursor(&state).await
}

/// Loads the position of a list of one kind from the cursor that the caller gave.
///
/// # Errors
/// [`ErrorKind::NotFound`] if the cursor does not exist, [`ErrorKind::Argument`] if it belongs to a list of
/// another kind.
pub(crate) async fn load_cursor<T: DeserializeOwned>(
    ctx: &Context,
    kind: &str,
    cursor: &str,
) -> Result<T> {
    let unknown = || {
        Error::new(
            ErrorKind::NotFound,
            format!("there is no cursor `{}`", daysheet_core::text::brief(cursor)),
        )
        .next("use the `next` of the last page, or start again without cursor")
    };
    let Some((HandleKind::Page, number)) = HandleKind::parse(cursor) else {
        return Err(unknown());
    };
    let state = ctx.store.cursor(number).await?.ok_or_else(unknown)?;
    // The kind is read before the plan, because the plan of another list would not parse, and its
    // cursor would be reported as unknown.
    let belongs: CursorKind = serde_json::from_str(&state).map_err(|_| unknown())?;
    if belongs.of != kind {
        return Err(other_use(cursor));
    }
    serde_json::from_str(&state).map_err(|_| unknown())
}

/// Returns the error for a cursor given together with another request.
pub(crate) fn another_search(cursor: &str) -> Error {
    Error::argument(format!("the cursor {cursor} belongs to another search"))
        .next("give the cursor alone, or search without it")
}

/// Returns the error for a cursor of another tool.
fn other_use(cursor: &str) -> Error {
    Error::argument(format!("the cursor {cursor} belongs to another tool"))
        .next("pass it to the tool that returned it")
}

/// The digest of an id. With this many bytes, two in a mailbox of a million collide
/// once in thirty million mailboxes.
pub(crate) type IdDigest = [u8; 8];

/// Short digests of the ids of the rows shown last.
///
/// Ids are long, and a cursor needs only to recognise an id that is listed again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct SeenIds(String);

impl SeenIds {
    /// The number of digests stored: more than two of the longest pages, so that a page
    /// that is requested again is continued correctly, and so is one that new mail has
    /// pushed down from the page before.
    const MAX_DIGESTS: usize = 224;

    /// Returns the digests, the latest last.
    pub(crate) fn digests(&self) -> Vec<IdDigest> {
        let bytes = STANDARD_NO_PAD.decode(&self.0).unwrap_or_default();
        bytes.as_chunks().0.to_vec()
    }

    /// Returns the digest of an id.
    pub(crate) fn digest(id: &str) -> IdDigest {
        let digest = Sha256::digest(id.as_bytes());
        digest.first_chunk().copied().unwrap_or_default()
    }

    /// Adds ids to those stored, and drops the oldest.
    pub(crate) fn with<'i>(&self, ids: impl Iterator<Item = &'i str>) -> Self {
        let mut digests = self.digests();
        digests.extend(ids.map(Self::digest));
        let start = digests.len().saturating_sub(Self::MAX_DIGESTS);
        let recent = digests.get(start..).unwrap_or_default();
        Self(STANDARD_NO_PAD.encode(recent.as_flattened()))
    }
}
