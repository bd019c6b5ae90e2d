//! The file with the calls of this process that are writing: a line for the beginning of each call,
//! and one for its end.
//!
//! The process keeps the file locked. A file without a lock has interrupted calls.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use super::super::files;

/// The folder of the files, in the state folder.
pub(super) const FOLDER: &str = "writing";
/// The extension of a complete file. A file that is not locked yet has no extension.
const ENDING: &str = "jsonl";

/// An interrupted call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutOff {
    /// A description of the call.
    pub what: String,
    /// The beginning of its writing, in seconds since 1970.
    pub began: i64,
}

/// A line of a file: the beginning or the end of a call.
#[derive(Serialize, Deserialize)]
struct CallLine {
    number: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<CutOff>,
}

/// The calls of this process that are writing.
#[derive(Debug, Default)]
pub(in crate::store) struct UnfinishedCalls(pub(super) Mutex<OwnWrites>);

/// The file of this process, and its calls.
#[derive(Debug, Default)]
pub(super) struct OwnWrites {
    file: Option<(PathBuf, File)>,
    pub(super) last: u64,
    pub(super) open: BTreeMap<u64, CutOff>,
    /// The calls that were dropped before their end.
    pub(super) dropped: Vec<CutOff>,
}

impl OwnWrites {
    /// Appends the beginning of a call, or its end if `call` is `None`.
    pub(super) fn append(
        &mut self,
        home: &Path,
        number: u64,
        call: Option<&CutOff>,
    ) -> std::io::Result<()> {
        if self.file.is_none() {
            self.file = Some(create(home)?);
        }
        let line = CallLine { number, call: call.cloned() };
        let line = serde_json::to_string(&line).map_err(std::io::Error::other)?;
        match &mut self.file {
            Some((_, file)) => file.write_all(format!("{line}\n").as_bytes()),
            None => Ok(()),
        }
    }
}

/// Creates a file for this process. It is locked before another process can mistake it for the file
/// of a process that has ended.
fn create(home: &Path) -> std::io::Result<(PathBuf, File)> {
    let folder = home.join(FOLDER);
    files::private_folder(&folder).map_err(std::io::Error::other)?;
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes)
        .map_err(|_opaque| std::io::Error::other("the system random generator failed"))?;
    let name = format!("{:016x}", u64::from_le_bytes(bytes));
    let path = folder.join(&name);
    let file = files::private_options().append(true).create_new(true).open(&path)?;
    file.lock()?;
    let whole = path.with_extension(ENDING);
    fs::rename(&path, &whole)?;
    Ok((whole, file))
}

/// Removes the file if no call is in progress.
impl Drop for OwnWrites {
    fn drop(&mut self) {
        if let (Some((path, _)), true) = (&self.file, self.open.is_empty()) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Returns the interrupted calls in a file whose process has ended, and removes the file.
pub(super) fn left(path: &Path) -> Vec<CutOff> {
    if path.extension().is_none_or(|ending| ending != ENDING) {
        return Vec::new();
    }
    let Ok(file) = OpenOptions::new().read(true).write(true).open(path) else {
        return Vec::new();
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return Vec::new(),
    }
    let text = fs::read_to_string(path).unwrap_or_default();
    // If several processes look at once, only one of them removes the file, and reports its calls.
    if fs::remove_file(path).is_err() {
        return Vec::new();
    }
    let mut open = BTreeMap::new();
    for line in text.lines() {
        // The last line may be cut off, too.
        match serde_json::from_str::<CallLine>(line) {
            Ok(CallLine { number, call: Some(call) }) => drop(open.insert(number, call)),
            Ok(CallLine { number, call: None }) => drop(open.remove(&number)),
            Err(_) => {}
        }
    }
    open.into_values().collect()
}
