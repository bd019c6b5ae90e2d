//! Folders by path, where there are no descriptors of folders.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// A folder.
#[derive(Debug)]
pub(super) struct Dir(PathBuf);

impl Dir {
    /// The folder at the end of a way on which no part is a link.
    pub(super) fn open(root: &Path, inside: &[PathBuf]) -> io::Result<Self> {
        let mut path = root.to_path_buf();
        for part in inside {
            path.push(part);
            no_link(&path)?;
        }
        Ok(Self(path))
    }

    /// A file of it, to be read.
    pub(super) fn read(&self, name: &Path) -> io::Result<File> {
        let path = self.0.join(name);
        no_link(&path)?;
        File::open(path)
    }

    /// True for a file of that name, false for anything else, nothing if the
    /// name is free.
    pub(super) fn kind(&self, name: &str) -> Option<bool> {
        let about = std::fs::symlink_metadata(self.0.join(name)).ok()?;
        Some(about.is_file())
    }

    /// A new file.
    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(self.0.join(name))
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.0.join(from), self.0.join(to))
    }

    /// Removes what was made in vain.
    pub(super) fn remove(&self, name: &str) {
        // Nothing is lost when it stays.
        let _ = std::fs::remove_file(self.0.join(name));
    }
}

fn no_link(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path)?.is_symlink() {
        false => Ok(()),
        true => Err(io::Error::other("a link is in the way")),
    }
}
