//! Folders and files that only their owner can read.
//!
//! On Unix the modes are set at creation, not after, and tightened on existing files.
//! Elsewhere the user's data folder is private by itself.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;

use daysheet_core::error::{Error, ErrorKind, Result};

/// Creates the folder and its parents, readable by the owner only (0700). An existing folder
/// keeps its mode: it may be shared on purpose, and our files in it are private by themselves.
pub(super) fn private_folder(path: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| {
        Error::new(
            ErrorKind::Store,
            format!("the state folder {} cannot be used ({error})", path.display()),
        )
        .next(advice(&error))
    })
}

/// Returns the next step for a folder or file that cannot be written.
pub(super) fn advice(error: &io::Error) -> &'static str {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    match error.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => "free disk space and try again",
        _ => "check the folder's permissions, or set DAYSHEET_HOME to another folder",
    }
}

/// Creates the file empty unless it exists, readable by the owner only (0600), and checks that it
/// can be written.
pub(super) fn private_file(path: &Path) -> Result<()> {
    // Never truncated: another process may have filled it just now.
    private_options()
        .create(true)
        .truncate(false)
        .open(path)
        .and_then(|_file| tighten(path))
        .map_err(|error| {
            Error::new(
                ErrorKind::Store,
                format!("{} cannot be opened for writing ({error})", path.display()),
            )
            .next(advice(&error))
        })
}

/// Returns options for writing, under which new files are readable by the owner only.
pub(super) fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Removes all permissions on the file except the owner's.
pub(super) fn tighten(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mut permissions = std::fs::metadata(path)?.permissions();
        if permissions.mode() & 0o077 != 0 {
            permissions.set_mode(0o600);
            std::fs::set_permissions(path, permissions)?;
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
