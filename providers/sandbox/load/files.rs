//! The files of a folder that a sandbox is loaded from, and their owners.
//!
//! Their contents are read by `calendar.rs`, `mbox.rs` and `load.rs`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use daysheet_core::error::{Error, ErrorKind, Result};

/// A file to load.
pub(super) struct SourceFile {
    /// The owner, if the folder names one.
    pub owner: Option<String>,
    /// The path below the given one, for the report.
    pub name: String,
    /// The path.
    pub path: PathBuf,
    /// The length in bytes.
    pub size: u64,
}

/// A selection of files.
pub(super) struct FileFilter {
    /// The name of their contents, for the error.
    pub what: &'static str,
    /// The suggested next step, for the error.
    pub next: &'static str,
    /// Returns true for their paths.
    pub is: fn(&Path) -> bool,
}

/// Returns the files of a path sorted by name, so that ids do not depend on the file system. Files
/// that cannot be used are added to `skipped`.
pub(super) fn sources(
    path: &Path,
    filter: &FileFilter,
    skipped: &mut Vec<(String, String)>,
) -> Result<Vec<SourceFile>> {
    let unusable = |error: io::Error| {
        Error::new(
            ErrorKind::Argument,
            format!("cannot read {} from {}: {error}", filter.what, path.display()),
        )
        .next(filter.next)
    };
    let data = fs::metadata(path).map_err(unusable)?;
    let own = path.file_name().map(|name| name.to_string_lossy().into_owned());
    if data.is_file() {
        return Ok(vec![SourceFile {
            owner: None,
            name: own.unwrap_or_default(),
            path: path.to_owned(),
            size: data.len(),
        }]);
    }
    // The given folder has to be readable; folders below it are only reported.
    fs::read_dir(path).map_err(unusable)?;
    let mut sources = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                skipped.push((below(path, &folder), unreadable(&error)));
                continue;
            }
        };
        for entry in entries.flatten() {
            let file = entry.path();
            // Links to folders are not followed, because they may form a cycle.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(file);
            } else if (filter.is)(&file) {
                let name = below(path, &file);
                match fs::metadata(&file) {
                    Ok(data) if data.is_file() => sources.push(SourceFile {
                        owner: owner(&name),
                        name,
                        size: data.len(),
                        path: file,
                    }),
                    // Reading a pipe or device might never end.
                    Ok(_) => skipped.push((name, "it is no regular file".to_owned())),
                    Err(error) => skipped.push((name, unreadable(&error))),
                }
            }
        }
    }
    sources.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(sources)
}

/// Returns a path relative to the given one, with slashes on all platforms.
fn below(root: &Path, path: &Path) -> String {
    let rest = path.strip_prefix(root).unwrap_or(path);
    let names: Vec<_> = rest.iter().map(|name| name.to_string_lossy()).collect();
    names.join("/")
}

/// Returns the address in the first folder of a path.
pub(super) fn owner(name: &str) -> Option<String> {
    let (folder, _) = name.split_once('/')?;
    folder.contains('@').then(|| folder.to_owned())
}

/// Returns the reason for a file that could not be read.
pub(super) fn unreadable(error: &io::Error) -> String {
    format!("it cannot be read: {error}")
}
