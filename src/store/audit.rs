//! The audit log's file, `audit.jsonl` in the state folder.

use std::io::Write;

use super::{Store, files};
use crate::error::{Error, Kind, Result};

const FILE: &str = "audit.jsonl";

impl Store {
    /// Adds a line, in one write, so that lines of several processes stay whole.
    ///
    /// # Errors
    /// [`Kind::Store`].
    pub fn append_audit(&self, line: &str) -> Result<()> {
        files::private_folder(self.home())?;
        let path = self.home().join(FILE);
        files::private_file(&path)?;
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .map_err(|error| unwritten(&path, &error))?;
        file.write_all(format!("{line}\n").as_bytes())
            .map_err(|error| unwritten(&path, &error))
    }
}

fn unwritten(path: &std::path::Path, error: &std::io::Error) -> Error {
    Error::new(
        Kind::Store,
        format!(
            "the audit log {} cannot be written ({error})",
            path.display()
        ),
    )
    .next("make room, or check the permissions of the state folder")
}
