//! Files of this machine that a call reads or saves.

use daysheet_core::error::{Error, ErrorKind, Result};

use super::context::Context;
use crate::files::{AllowedFolders, LocalFile};

/// Returns the folders of this machine that files may be in.
pub(super) fn file_folders(ctx: &Context) -> AllowedFolders {
    AllowedFolders::new(&ctx.config.files, &ctx.config.home)
}

/// Reads a file of this machine, if it is in one of those folders and not too large.
pub(super) async fn local_file(ctx: &Context, path: &str) -> Result<LocalFile> {
    if ctx.config.files.is_empty() {
        return Err(Error::argument(
            "this server is on another machine and reads no files of yours",
        )
        .next("give an attachment such as a3, a message, or data:TYPE;base64,CONTENT"));
    }
    let (folders, path) = (file_folders(ctx), path.to_owned());
    let most = ctx.config.largest_file;
    tokio::task::spawn_blocking(move || folders.read(&path, most))
        .await
        .map_err(|_| Error::new(ErrorKind::Internal, "a file could not be read"))?
}

/// Returns the person for whom files are read, on a server for many people.
#[cfg(feature = "documents")]
pub(super) fn file_reader(ctx: &Context) -> Option<&str> {
    ctx.config.shared.then(|| ctx.store.owner())
}
