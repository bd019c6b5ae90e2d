//! The open uploads to Gmail, by id. Their requests are answered in `upload.rs`.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::http::HttpRequest;
use crate::lock::lock;

/// The maximum number of open sessions. One more closes all others.
const SESSIONS: usize = 100;

/// The uploads in progress, by id.
#[derive(Debug, Default)]
pub(crate) struct OpenUploads {
    sessions: Mutex<HashMap<String, UploadSession>>,
}

/// One resumable upload.
#[derive(Debug)]
pub(super) struct UploadSession {
    /// The request that opened it, whose body describes the message.
    pub request: HttpRequest,
    /// The bytes received so far.
    pub data: Vec<u8>,
}

impl OpenUploads {
    /// Opens a session.
    pub(super) fn open(&self, id: String, session: UploadSession) {
        let mut sessions = lock(&self.sessions);
        // Abandoned sessions never expire, and hold up to 35 MiB each.
        if sessions.len() >= SESSIONS {
            sessions.clear();
        }
        sessions.insert(id, session);
    }

    /// Removes a session, to be reopened unless it is complete.
    pub(super) fn remove(&self, id: &str) -> Option<UploadSession> {
        lock(&self.sessions).remove(id)
    }
}
