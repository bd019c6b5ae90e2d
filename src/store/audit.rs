//! The audit log's file, `audit.jsonl` in the state folder.

use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::Value;

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
            .read(true)
            .append(true)
            .open(&path)
            .map_err(|error| unwritten(&path, &error))?;
        // A line that a full disk has cut off stays a line by itself.
        let torn = ends_within_a_line(&mut file).unwrap_or(false);
        let begin = if torn { "\n" } else { "" };
        file.write_all(format!("{begin}{line}\n").as_bytes())
            .map_err(|error| unwritten(&path, &error))
    }
}

/// Returns true if the last line of a file has no end.
fn ends_within_a_line(file: &mut std::fs::File) -> std::io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

fn unwritten(path: &std::path::Path, error: &std::io::Error) -> Error {
    Error::new(Kind::Store, format!("the audit log {} cannot be written ({error})", path.display()))
        .next(files::advice(error))
}

/// Returns the lines of the audit log; none if there is none.
pub(super) fn read(home: &Path) -> Result<Vec<Value>> {
    let path = home.join(FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::new(
            Kind::Store,
            format!("the audit log {} cannot be read ({error})", path.display()),
        )),
    }
}

/// Deletes the audit log.
pub(super) fn erase(home: &Path) -> Result<()> {
    let path = home.join(FILE);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(unwritten(&path, &error)),
        _ => Ok(()),
    }
}
