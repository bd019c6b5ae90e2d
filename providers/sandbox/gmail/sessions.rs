//! The uploads to Gmail that come in pieces: what is kept of each until its
//! last piece is there.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::http::HttpRequest;

/// The sessions that are open at a time; more close the oldest.
const SESSIONS: usize = 100;

/// The uploads that are under way, by their ids.
#[derive(Debug, Default)]
pub(crate) struct OpenUploads {
    sessions: Mutex<HashMap<String, UploadSession>>,
}

/// One upload in pieces.
#[derive(Debug)]
pub(super) struct UploadSession {
    /// The request that opened it; its body describes the message.
    pub request: HttpRequest,
    /// What has come so far.
    pub data: Vec<u8>,
}

impl OpenUploads {
    /// Opens a session.
    pub(super) fn open(&self, id: String, session: UploadSession) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= SESSIONS {
            sessions.clear();
        }
        sessions.insert(id, session);
    }

    /// Takes a session out, to be put back unless it is done.
    pub(super) fn take(&self, id: &str) -> Option<UploadSession> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.remove(id)
    }
}
