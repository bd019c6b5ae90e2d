//! Folders by descriptor: nothing is looked up by path twice.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, renameat, statat, unlinkat};

/// A folder that is open.
#[derive(Debug)]
pub(super) struct Dir(OwnedFd);

impl Dir {
    /// The folder at the end of a way that follows no links.
    pub(super) fn open(root: &Path, inside: &[PathBuf]) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mut opened = rustix::fs::open(root, flags, Mode::empty())?;
        for part in inside {
            opened = openat(&opened, part, flags, Mode::empty())?;
        }
        Ok(Self(opened))
    }

    /// A file of it, to be read. What is no file is not waited for.
    pub(super) fn read(&self, name: &Path) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        Ok(openat(&self.0, name, flags, Mode::empty())?.into())
    }

    /// True for a file of that name, false for anything else, nothing if the
    /// name is free.
    pub(super) fn kind(&self, name: &str) -> Option<bool> {
        let about = statat(&self.0, OsStr::new(name), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(FileType::from_raw_mode(about.st_mode) == FileType::RegularFile)
    }

    /// A new file for its owner alone.
    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        Ok(openat(&self.0, OsStr::new(name), flags, mode)?.into())
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&self.0, from, &self.0, to)?)
    }

    /// Removes what was made in vain.
    pub(super) fn remove(&self, name: &str) {
        // Nothing is lost when it stays.
        let _ = unlinkat(&self.0, name, AtFlags::empty());
    }
}
