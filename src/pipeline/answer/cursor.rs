//! Cursors: where a list or a text goes on, saved in the store.
//!
//! A cursor holds what was asked together with where the next page starts, so
//! that it cannot be used for another question and relative dates keep meaning
//! what they meant on the first page. It is JSON in the store; the model sees
//! its number. What it holds is each list's own plan, under the list's own word,
//! so that no list is known here.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Kind, Result};
use crate::pipeline::Pipeline;
use crate::store::HandleKind;

/// A cursor as it is kept: the kind of list that it belongs to, then the fields of
/// the list's plan beside it, all in one object.
#[derive(Serialize)]
struct Saved<'p, T> {
    of: &'p str,
    #[serde(flatten)]
    plan: &'p T,
}

/// Of a cursor as it is kept, the kind of list alone.
#[derive(Deserialize)]
struct Belongs {
    of: String,
}

impl Pipeline {
    /// Saves where a list of some kind goes on, and gives the cursor's number.
    ///
    /// The kind and the names of the plan's fields are what is kept on disk: a
    /// change of either makes cursors useless that were given out before. A plan
    /// has no field `of`.
    pub(in crate::pipeline) async fn save_cursor<T: Serialize>(
        &self,
        kind: &str,
        plan: &T,
    ) -> Result<u64> {
        let state = serde_json::to_string(&Saved { of: kind, plan })
            .map_err(|_| Error::new(Kind::Internal, "a cursor could not be saved"))?;
        self.store.save_cursor(&state).await
    }

    /// Where a list of some kind goes on, by what the caller gave as its cursor.
    ///
    /// # Errors
    /// [`Kind::NotFound`] if there is no such cursor, [`Kind::Argument`] if it
    /// belongs to a list of another kind.
    pub(in crate::pipeline) async fn load_cursor<T: DeserializeOwned>(
        &self,
        kind: &str,
        said: &str,
    ) -> Result<T> {
        let unknown = || {
            Error::new(Kind::NotFound, format!("there is no cursor `{}`", crate::text::brief(said)))
                .next("use the `next` of the last page, or start again without cursor")
        };
        let Some((HandleKind::Page, number)) = HandleKind::parse(said) else {
            return Err(unknown());
        };
        let state = self.store.cursor(number).await?.ok_or_else(unknown)?;
        let belongs: Belongs = serde_json::from_str(&state).map_err(|_| unknown())?;
        if belongs.of != kind {
            return Err(other_use(said));
        }
        serde_json::from_str(&state).map_err(|_| unknown())
    }
}

/// A cursor given together with what it was not made for.
pub(in crate::pipeline) fn another_search(said: &str) -> Error {
    Error::argument(format!("the cursor {said} belongs to another search"))
        .next("give the cursor alone, or search without it")
}

/// A cursor of one tool given to another.
fn other_use(said: &str) -> Error {
    Error::argument(format!("the cursor {said} belongs to another tool"))
        .next("pass it to the tool that returned it")
}

/// What is kept of an id. Of so many bytes, two in a mailbox of a million agree
/// once in thirty million mailboxes.
pub(in crate::pipeline) type Mark = [u8; 8];

/// Ids of rows that were shown, the latest of them, as short digests.
///
/// Ids are long, and a cursor only has to know one again when it comes back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::pipeline) struct Seen(String);

impl Seen {
    /// How many are remembered. More than two of the longest pages, so that a
    /// page that is asked for again is told from its rest, and one that new
    /// mail has pushed down from the page before.
    const MOST: usize = 224;

    /// The digests, the latest last.
    pub(in crate::pipeline) fn digests(&self) -> Vec<Mark> {
        let bytes = STANDARD_NO_PAD.decode(&self.0).unwrap_or_default();
        bytes.as_chunks().0.to_vec()
    }

    /// The digest of an id.
    pub(in crate::pipeline) fn digest(id: &str) -> Mark {
        let digest = Sha256::digest(id.as_bytes());
        digest.first_chunk().copied().unwrap_or_default()
    }

    /// Remembers ids besides those that are remembered, and forgets the oldest.
    pub(in crate::pipeline) fn with<'i>(&self, ids: impl Iterator<Item = &'i str>) -> Self {
        let mut digests = self.digests();
        digests.extend(ids.map(Self::digest));
        let start = digests.len().saturating_sub(Self::MOST);
        let kept = digests.get(start..).unwrap_or_default();
        Self(STANDARD_NO_PAD.encode(kept.as_flattened()))
    }
}
