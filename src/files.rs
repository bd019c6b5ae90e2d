//! Files of this machine, only in allowed folders.
//!
//! Paths come from a model, and names from untrusted senders. A path is resolved to its real
//! location before it is checked, and then opened folder by folder without following links, so that
//! no part of it can be replaced in between. Hidden files and the program's own are not read. Mail
//! is unknown here.

use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_fs_ext::{OpenOptionsMaybeDirExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, OpenOptions};
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::text::{brief, quoted};

/// The maximum number of files with the same name and a number.
const MAX_NUMBERED: usize = 99;

/// The folders that files may be read from and saved to.
#[derive(Debug, Clone)]
pub struct AllowedFolders {
    allowed: Vec<PathBuf>,
    home: PathBuf,
}

/// A folder that files may be saved to.
#[derive(Debug)]
pub struct SaveFolder {
    path: PathBuf,
    opened: Dir,
}

/// A file that was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedFile {
    /// The path of the file.
    pub path: PathBuf,
    /// True if it existed already, with the same content.
    pub existing: bool,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalFile {
    /// The file's name, without a path.
    pub name: String,
    /// The file's content.
    pub bytes: Vec<u8>,
}

impl AllowedFolders {
    /// Allows these absolute folders, the first of which is the default. In `home`, the state
    /// folder, nothing is read or saved except in an allowed folder within it.
    pub fn new(allowed: &[PathBuf], home: &Path) -> Self {
        Self { allowed: allowed.to_vec(), home: home.to_path_buf() }
    }

    /// Returns the folder to save to: the first one, or the given one, which must be an allowed
    /// folder or below one. A relative path is below the first folder. Missing folders are created.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for any other folder, or if it cannot be created.
    pub fn folder(&self, input: Option<&str>) -> Result<SaveFolder> {
        let first = self.first()?;
        private(first)?;
        let folder_path = match input {
            None => first.clone(),
            Some(input) => first.join(input),
        };
        let AllowedPath { root, inside, missing, .. } =
            self.place(&folder_path, input.unwrap_or("the folder"))?;
        if inside.iter().chain(&missing).any(|part| hidden(part)) {
            return Err(Error::argument("`dir` is a hidden folder").next("save to another"));
        }
        let mut path = root.clone();
        path.extend(inside.iter().chain(&missing));
        let opened = open_folder(&root, &inside)
            .and_then(|dir| missing.iter().try_fold(dir, |dir, part| new_folder(&dir, part)))
            .map_err(|error| failed(&path, &error))?;
        Ok(SaveFolder { path, opened })
    }

    /// Reads a file of at most `most` bytes in or below an allowed folder. A relative path is below
    /// the first folder that has it.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a file in another folder, a hidden file, a file that is too large, or
    /// anything except a regular file; [`ErrorKind::NotFound`] if it does not exist.
    pub fn read(&self, input: &str, most: u64) -> Result<LocalFile> {
        let relative = Path::new(input).is_relative();
        let mut last = None;
        for folder in self.allowed.iter().take(if relative { usize::MAX } else { 1 }) {
            match self.read_at(&folder.join(input), input, most) {
                Err(error) if error.kind() == ErrorKind::NotFound => last = Some(error),
                found => return found,
            }
        }
        Err(last.unwrap_or_else(none_allowed))
    }

    fn read_at(&self, path: &Path, input: &str, most: u64) -> Result<LocalFile> {
        let AllowedPath { root, mut inside, absent, .. } = self.place(path, input)?;
        if let Some(error) = absent {
            return Err(failed(path, &error));
        }
        if inside.iter().any(|part| hidden(part)) {
            return Err(Error::argument(format!("{} is hidden", brief(input)))
                .next("attach a file that is not"));
        }
        let Some(name) = inside.pop() else {
            return Err(Error::argument(format!("{} is a folder", brief(input)))
                .next("give the path of a file"));
        };
        let dir = open_folder(&root, &inside).map_err(|error| failed(path, &error))?;
        // Non-blocking, so that opening a named pipe does not wait.
        let file = dir.open_with(&name, no_link().read(true).nonblock(true));
        let file = file.map_err(|error| failed(path, &error))?;
        let about = file.metadata().map_err(|error| failed(path, &error))?;
        if !about.is_file() {
            return Err(Error::argument(format!("{} is not a file", brief(input)))
                .next("give the path of a file"));
        }
        let large = || {
            Error::argument(format!("{} is larger than {most} bytes", brief(input)))
                .next("use a smaller file, or raise `largest_file` in the settings")
        };
        if about.len() > most {
            return Err(large());
        }
        let mut bytes = Vec::new();
        // One byte more than allowed, to notice a file that has grown since.
        let limit = most.saturating_add(1);
        let read = file.take(limit).read_to_end(&mut bytes);
        read.map_err(|error| failed(path, &error))?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most {
            return Err(large());
        }
        Ok(LocalFile { name: name.to_string_lossy().into_owned(), bytes })
    }

    fn first(&self) -> Result<&PathBuf> {
        self.allowed.first().ok_or_else(none_allowed)
    }

    /// Returns the allowed folder that a path is really in, and the names from there.
    fn place(&self, path: &Path, input: &str) -> Result<AllowedPath> {
        if input.contains('\0') {
            return Err(Error::argument("a path has NUL in it").next("correct the path"));
        }
        let (real, rest, absent) = nearest(path);
        let home = self.home.canonicalize().unwrap_or(self.home.clone());
        for folder in &self.allowed {
            let Ok(root) = folder.canonicalize() else {
                continue;
            };
            let Ok(inside) = real.strip_prefix(&root) else {
                continue;
            };
            // The state folder contains secrets; only an allowed folder within it is accessible.
            if real.starts_with(&home) && !root.starts_with(&home) {
                break;
            }
            // Errors are reported only within the folders, so that a caller cannot probe which
            // other files exist.
            let missing = parts(&rest);
            return match (parts(inside), missing, absent) {
                (Some(inside), Some(missing), absent)
                    if absent.as_ref().is_none_or(|e| e.kind() == io::ErrorKind::NotFound) =>
                {
                    Ok(AllowedPath { root, inside, missing, absent })
                }
                (_, _, Some(error)) => Err(failed(path, &error)),
                _ => break,
            };
        }
        let allowed: Vec<String> =
            self.allowed.iter().map(|folder| folder.display().to_string()).collect();
        Err(Error::argument(format!("{} is outside the allowed folders", brief(input))).next(
            format!("use {}, or have it added to `files` in the settings", allowed.join(" or ")),
        ))
    }
}

/// A path in an allowed folder.
struct AllowedPath {
    root: PathBuf,
    /// The names from the root to the last one that exists.
    inside: Vec<PathBuf>,
    /// The names after that, which do not exist.
    missing: Vec<PathBuf>,
    /// The error for the first missing name.
    absent: Option<io::Error>,
}

/// Returns the names in a path; `None` if it has other components, such as `..`.
fn parts(path: &Path) -> Option<Vec<PathBuf>> {
    let part = |part| match part {
        Component::Normal(name) => Some(PathBuf::from(name)),
        _ => None,
    };
    path.components().map(part).collect()
}

/// Returns the real location of a path. If it does not exist, returns its existing part, the rest
/// and the error.
fn nearest(path: &Path) -> (PathBuf, PathBuf, Option<io::Error>) {
    let mut absent = None;
    for way in path.ancestors() {
        match way.canonicalize() {
            Ok(real) => {
                let rest = path.strip_prefix(way).unwrap_or(Path::new("")).to_path_buf();
                return (real, rest, absent);
            }
            Err(error) => {
                // The target of a broken link must not be revealed.
                if way.is_symlink() {
                    break;
                }
                absent.get_or_insert(error);
            }
        }
    }
    (PathBuf::new(), PathBuf::new(), None)
}

/// Creates a folder that only its owner can use, and opens it.
fn new_folder(dir: &Dir, name: &Path) -> io::Result<Dir> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = cap_std::fs::DirBuilder::new();
    #[cfg(unix)]
    cap_std::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match dir.create_dir_with(name, &builder) {
        // Another call created it meanwhile.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made?,
    }
    dir.open_dir_nofollow(name)
}

/// Opens the folder at the end of a path, in which no name may be a link.
fn open_folder(root: &Path, inside: &[PathBuf]) -> io::Result<Dir> {
    let root = File::open_ambient_with(
        root,
        no_link().read(true).maybe_dir(true),
        cap_std::ambient_authority(),
    )?;
    let root = Dir::from_std_file(root.into_std());
    inside.iter().try_fold(root, |dir, part| dir.open_dir_nofollow(part))
}

/// Returns options for opening a file or folder that must not be a link.
fn no_link() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.follow(FollowSymlinks::No);
    options
}

impl SaveFolder {
    /// Saves a file that only its owner can read, completely or not at all. If another file has the
    /// name, a number is added, unless that file may be replaced or has the same content.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] if something other than a file has the name, or if too many files do.
    pub fn save(&self, name: &str, bytes: &[u8], overwrite: bool) -> Result<SavedFile> {
        for number in 1..=MAX_NUMBERED {
            let name = &numbered(name, number);
            let path = self.path.join(name);
            let exists = self.is_file(name);
            let claimed = match exists {
                Some(false) => {
                    return Err(Error::new(
                        ErrorKind::Conflict,
                        format!("{} exists and is not a file", quoted(name)),
                    )
                    .next("save it to another folder with `dir`"));
                }
                Some(true) if overwrite => false,
                Some(true) if self.has_content(name, bytes) => {
                    return Ok(SavedFile { path, existing: true });
                }
                Some(true) => continue,
                None => match self.create(name) {
                    // The name is claimed, so that no other file takes it while this one is
                    // written.
                    Ok(_) => true,
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                    Err(error) => return Err(failed(&path, &error)),
                },
            };
            self.write(name, bytes, claimed)?;
            return Ok(SavedFile { path, existing: false });
        }
        Err(Error::new(
            ErrorKind::Conflict,
            format!("{} has {MAX_NUMBERED} files called {}", self.path.display(), quoted(name)),
        )
        .next("give another folder as `dir`"))
    }

    /// Writes a file; `claimed` means that its name was created for it.
    fn write(&self, name: &str, bytes: &[u8], claimed: bool) -> Result<()> {
        let mut random = [0_u8; 8];
        getrandom::fill(&mut random)
            .map_err(|_| Error::new(ErrorKind::Internal, "the system random generator failed"))?;
        let random = u64::from_le_bytes(random);
        // A hidden name, so that the file is not read while it is incomplete.
        let temporary = format!(".{name}.{random:016x}.part");
        let written = self.create(&temporary).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()?;
            self.opened.rename(&temporary, &self.opened, name)
        });
        written.map_err(|error| {
            // A temporary file that remains does no harm.
            let _ = self.opened.remove_file(&temporary);
            if claimed {
                let _ = self.opened.remove_file(name);
            }
            failed(&self.path.join(name), &error)
        })
    }

    /// Returns true if the file of this name has exactly this content.
    fn has_content(&self, name: &str, bytes: &[u8]) -> bool {
        let same = || -> io::Result<bool> {
            let file = self.opened.open_with(name, no_link().read(true).nonblock(true))?;
            let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            let mut found = Vec::new();
            // One byte more, to notice a file that grows.
            let same = file.metadata()?.len() == length
                && file.take(length.saturating_add(1)).read_to_end(&mut found)? == bytes.len();
            Ok(same && found == bytes)
        };
        same().unwrap_or(false)
    }

    /// Returns true if the name is a file's, false if it is something else's, `None` if it is free.
    fn is_file(&self, name: &str) -> Option<bool> {
        self.opened.symlink_metadata(name).ok().map(|about| about.is_file())
    }

    /// Creates a new file that only its owner can read.
    fn create(&self, name: &str) -> io::Result<File> {
        let mut options = no_link();
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
        self.opened.open_with(name, options.write(true).create_new(true))
    }
}

/// Returns true for a hidden name, where programs keep their own files.
fn hidden(part: &std::path::Path) -> bool {
    part.to_string_lossy().starts_with('.')
}

/// Creates the first folder so that only its owner can use it.
fn private(path: &Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| failed(path, &error))
}

/// Returns the name with a number before its extension; the first is the name unchanged.
fn numbered(name: &str, number: usize) -> String {
    if number == 1 {
        return name.to_owned();
    }
    match name.rfind('.').filter(|at| *at > 0).and_then(|at| name.split_at_checked(at)) {
        Some((stem, ending)) => format!("{stem} ({number}){ending}"),
        None => format!("{name} ({number})"),
    }
}

fn none_allowed() -> Error {
    Error::argument("no folder is allowed").next("have one added to `files` in the settings")
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    let shown = brief(&path.display().to_string());
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            Error::new(ErrorKind::NotFound, format!("{shown} does not exist"))
                .next("correct the path")
        }
        _ => Error::argument(format!("{shown} cannot be used ({error})"))
            .next("use another file or folder"),
    }
}
