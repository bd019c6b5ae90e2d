//! The files of a folder that a sandbox is loaded from, and whose they are.
//!
//! What is in them, their readers know.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use daysheet_core::error::{Error, ErrorKind, Result};

/// A file to load.
pub(super) struct SourceFile {
    /// Whose it is, where the folder tells.
    pub owner: Option<String>,
    /// The path below the one that was named, for the report.
    pub name: String,
    /// The path.
    pub path: PathBuf,
    /// How long it is, in bytes.
    pub size: u64,
}

/// Which files are looked for.
pub(super) struct FileFilter {
    /// What they hold, for the error.
    pub what: &'static str,
    /// What to name instead, for the error.
    pub next: &'static str,
    /// True for their paths.
    pub is: fn(&Path) -> bool,
}

/// The files of a path in the order of their names, so that ids do not hang on
/// the file system. What cannot be used is listed in `skipped`.
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
            // A link to a folder is not followed: it could lead in a circle.
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
                    // A pipe or device would be waited for without an end.
                    Ok(_) => skipped.push((name, "it is no regular file".to_owned())),
                    Err(error) => skipped.push((name, unreadable(&error))),
                }
            }
        }
    }
    sources.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(sources)
}

/// A path below the one that was named, with slashes everywhere.
fn below(root: &Path, path: &Path) -> String {
    let rest = path.strip_prefix(root).unwrap_or(path);
    let names: Vec<_> = rest.iter().map(|name| name.to_string_lossy()).collect();
    names.join("/")
}

/// The address that the first folder of a path names.
pub(super) fn owner(name: &str) -> Option<String> {
    let (folder, _) = name.split_once('/')?;
    folder.contains('@').then(|| folder.to_owned())
}

/// Why a file was not read.
pub(super) fn unreadable(error: &io::Error) -> String {
    format!("it cannot be read: {error}")
}
