//! The audit log. For the user of this machine it is `audit.jsonl` in the state folder, which stays
//! readable even if the database does not; for the people of a server, and in PostgreSQL, it is
//! rows.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use daysheet_core::error::{Error, ErrorKind, Result};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::database::Store;
use super::files;

const FILE: &str = "audit.jsonl";

/// A line of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditLine {
    /// The line's number among the owner's; later lines have higher numbers.
    pub number: i64,
    /// The time of its addition, in seconds since 1970; 0 if it is unknown.
    pub at: i64,
    /// One JSON object.
    pub line: String,
}

/// The content of a line: a write, or a step towards one. It has no subject and no text, and of
/// recipients only the number and the domains.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuditRecord {
    /// The account's address; empty if the line concerns no single account.
    pub account: String,
    /// The domains of the recipients, each once.
    pub domains: Vec<String>,
    /// Handles, provider ids or Message-IDs of its objects.
    pub ids: Vec<String>,
    /// The operation.
    pub op: String,
    /// The outcome.
    pub outcome: String,
    /// The number of recipients.
    pub recipients: usize,
    /// The time in RFC 3339, which [`Store::record_audit`] fills in.
    pub time: String,
    /// The tool.
    pub tool: String,
}

impl AuditLine {
    /// Returns the content of the line. Fields that are missing, or unreadable as a whole, are
    /// empty: a damaged line must not hide the others.
    pub fn record(&self) -> AuditRecord {
        serde_json::from_str(&self.line).unwrap_or_default()
    }
}

impl Store {
    /// Adds a line with this content and the present time.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn record_audit(&self, record: AuditRecord) -> Result<()> {
        let time = Timestamp::from_second(self.now()).unwrap_or_default().to_string();
        let line = serde_json::to_string(&AuditRecord { time, ..record });
        let line = line.map_err(|_| {
            Error::new(ErrorKind::Internal, "a line of the audit log could not be serialized")
        })?;
        self.append_audit(&line).await
    }

    /// Adds a line, which is stored when this returns. Lines of several processes are not mixed up.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn append_audit(&self, line: &str) -> Result<()> {
        if self.has_files() {
            return self.append_line(line);
        }
        // The transaction is the owner's only one, so no other line can get the same number.
        let mut tx = self.writing().await?;
        sqlx::query(
            "INSERT INTO audit (owner, number, at, line) \
             SELECT $1, COALESCE(MAX(number), 0) + 1, $3, $2 FROM audit WHERE owner = $1",
        )
        .bind(self.owner())
        .bind(line)
        .bind(self.now())
        .execute(&mut *tx)
        .await
        .map_err(|error| self.broken(&error).context("the audit log"))?;
        self.commit(tx).await
    }

    /// Returns at most `most` lines, newest first: the ones before the line `before`, or the last
    /// ones.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn audit_lines(&self, before: Option<i64>, most: usize) -> Result<Vec<AuditLine>> {
        let before = before.unwrap_or(i64::MAX);
        if self.has_files() {
            let path = self.home().join(FILE);
            let text = match std::fs::read_to_string(&path) {
                Ok(text) => text,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
                Err(error) => {
                    let what = format!("{} cannot be read ({error})", path.display());
                    return Err(Error::new(ErrorKind::Store, what).next(files::advice(&error)));
                }
            };
            let lines: Vec<(i64, &str)> = (1..).zip(text.lines()).collect();
            let lines = lines.into_iter().rev().filter(|(number, _)| *number < before).take(most);
            return Ok(lines
                .map(|(number, line)| {
                    let at = time_of(line).unwrap_or(0);
                    AuditLine { number, at, line: line.to_owned() }
                })
                .collect());
        }
        let lines: Vec<(i64, i64, String)> = sqlx::query_as(
            "SELECT number, at, line FROM audit WHERE owner = $1 AND number < $2 \
             ORDER BY number DESC LIMIT $3",
        )
        .bind(self.owner())
        .bind(before)
        .bind(i64::try_from(most).unwrap_or(i64::MAX))
        .fetch_all(&mut *self.connection().await?)
        .await
        .map_err(|error| self.broken(&error))?;
        Ok(lines.into_iter().map(|(number, at, line)| AuditLine { number, at, line }).collect())
    }

    /// Returns the last `most` lines of all owners, each with its owner, oldest first. If the
    /// database cannot be read, returns the lines of the file.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn audit_of_all(&self, most: usize) -> Result<Vec<(String, AuditLine)>> {
        let files = self.has_files();
        let owners = async {
            match self.version().await? {
                Some(_) => self.owners().await,
                None => Ok(Vec::new()),
            }
        };
        let mut owners = match owners.await {
            Err(error) if files => {
                tracing::warn!(%error, "the lines of other people are left out");
                Vec::new()
            }
            owners => owners?,
        };
        // The user's lines are in the file even if the database has no row of theirs.
        if files {
            owners.retain(|owner| owner != self.owner());
            owners.push(self.owner().to_owned());
        }
        let mut all = Vec::new();
        for owner in &owners {
            let lines = self.for_owner(owner).audit_lines(None, most).await?;
            all.extend(lines.into_iter().rev().map(|line| (owner.clone(), line)));
        }
        // The lines of a file are in order, even if their times are not.
        if owners.len() > 1 {
            all.sort_by_key(|(_, line)| line.at);
        }
        all.drain(..all.len().saturating_sub(most));
        Ok(all)
    }

    /// Appends with one write, so that lines of several processes are not mixed up.
    fn append_line(&self, line: &str) -> Result<()> {
        files::private_folder(self.home())?;
        let path = self.home().join(FILE);
        files::private_file(&path)?;
        let mut file = open_locked(&path).map_err(|error| unwritten(&path, &error))?;
        // A full disk may have cut off the last line: the new one must not continue it.
        let torn = ends_within_a_line(&mut file).unwrap_or(false);
        let begin = if torn { "\n" } else { "" };
        file.write_all(format!("{begin}{line}\n").as_bytes())
            .map_err(|error| unwritten(&path, &error))
    }
}

/// Returns the time of a line, in seconds since 1970.
fn time_of(line: &str) -> Option<i64> {
    let line: Value = serde_json::from_str(line).ok()?;
    let time: Timestamp = line.get("time")?.as_str()?.parse().ok()?;
    Some(time.as_second())
}

/// Returns true if the last line of a file has no line feed.
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
    Error::new(
        ErrorKind::Store,
        format!("the audit log {} cannot be written ({error})", path.display()),
    )
    .next(files::advice(error))
}

/// Deletes the lines with a time up to `oldest`, in seconds since 1970. Returns their number.
pub(super) fn purge(home: &Path, oldest: i64) -> Result<u64> {
    let path = home.join(FILE);
    if !path.exists() {
        return Ok(0);
    }
    let rewrite = || {
        let mut text = String::new();
        let mut file = open_locked(&path)?;
        file.seek(SeekFrom::Start(0))?;
        file.read_to_string(&mut text)?;
        // A line without a readable time stays: its age is unknown.
        let old = |line: &&str| time_of(line).is_some_and(|time| time <= oldest);
        let (dropped, kept): (Vec<&str>, Vec<&str>) = text.lines().partition(old);
        if !dropped.is_empty() {
            let kept: String = kept.iter().map(|line| format!("{line}\n")).collect();
            // The log is replaced as a whole, so that an interruption loses no line.
            let mut new = tempfile::NamedTempFile::new_in(home)?;
            new.write_all(kept.as_bytes())?;
            new.as_file().sync_all()?;
            new.persist(&path).map_err(|error| error.error)?;
        }
        Ok(dropped.len() as u64)
    };
    rewrite().map_err(|error| unwritten(&path, &error))
}

/// Opens the log for reading and appending, for one process at a time if the file system supports
/// locks. Opens it again if the log was replaced during the wait.
fn open_locked(path: &Path) -> std::io::Result<std::fs::File> {
    #[cfg_attr(not(unix), expect(clippy::never_loop, reason = "only Unix replaces open files"))]
    loop {
        let file = std::fs::OpenOptions::new().read(true).append(true).open(path)?;
        // Some network file systems have no locks; a single write per line has to do there.
        let _ = file.lock();
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            if file.metadata()?.ino() != std::fs::metadata(path)?.ino() {
                continue;
            }
        }
        return Ok(file);
    }
}

/// Deletes the audit log.
pub(super) fn erase(home: &Path) -> Result<()> {
    let path = home.join(FILE);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(unwritten(&path, &error)),
        _ => Ok(()),
    }
}
