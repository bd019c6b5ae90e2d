//! The settings for master keys, and for the retention of rows.

use std::fmt;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use daysheet_core::error::{Error, ErrorKind, Result};

use super::settings::SettingSources;

/// The source of master keys that Daysheet does not keep itself: a list of keys, each 32 bytes in
/// Base64, newest first, separated by white space. `Debug` never shows a key.
#[derive(Clone, PartialEq, Eq)]
pub enum GivenKeys {
    /// A file with the keys.
    File(PathBuf),
    /// The keys themselves.
    Value(Vec<[u8; 32]>),
    /// A program, with its arguments, that prints the keys, such as the client of a key service.
    Command(Vec<String>),
}

impl fmt::Debug for GivenKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Value(keys) => f.debug_tuple("Value").field(&keys.len()).finish(),
            // The program alone, because its arguments may contain credentials.
            Self::Command(words) => f.debug_tuple("Command").field(&words.first()).finish(),
        }
    }
}

impl GivenKeys {
    /// Returns the name of the setting.
    pub fn setting(&self) -> &'static str {
        match self {
            Self::File(_) => "keys.file",
            Self::Value(_) => "keys.value",
            Self::Command(_) => "keys.command",
        }
    }

    /// Reads a list of keys; `None` if it is empty or contains anything else.
    pub fn parse(text: &str) -> Option<Vec<[u8; 32]>> {
        let keys = text.split_whitespace();
        let keys: Option<Vec<_>> =
            keys.map(|key| STANDARD.decode(key).ok()?.try_into().ok()).collect();
        keys.filter(|keys| !keys.is_empty())
    }

    /// Reads the section `keys`.
    pub(super) fn from(settings: &SettingSources) -> Result<Option<Self>> {
        let file = settings.get("keys.file")?.map(|found| found.path()).transpose()?;
        let value = settings.get("keys.value")?.map(|found| {
            let next = "write each as 32 bytes in Base64; `daysheet store new-key` prints one";
            Self::parse(&found.value).ok_or_else(|| found.wrong("is not a list of keys").next(next))
        });
        let command = settings.command("keys.command")?;
        let mut given =
            [file.map(Self::File), value.transpose()?.map(Self::Value), command.map(Self::Command)]
                .into_iter()
                .flatten();
        match (given.next(), given.next()) {
            (one, None) => Ok(one),
            _ => Err(Error::new(ErrorKind::Config, "master keys are set in more than one way")
                .next("set only one of keys.file, keys.value and keys.command")),
        }
    }
}

/// The retention of rows, in days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionDays {
    /// Lines of the audit log; 0 keeps them indefinitely.
    pub audit: u32,
    /// The journal of sent messages, which prevents sending a draft twice.
    pub sends: u32,
    /// Earlier states, for undo.
    pub undos: u32,
    /// Shortened answers.
    pub outputs: u32,
    /// Positions in lists, and the last shown state of events.
    pub cursors: u32,
}

impl Default for RetentionDays {
    fn default() -> Self {
        Self { audit: 0, sends: 400, undos: 30, outputs: 30, cursors: 30 }
    }
}

impl RetentionDays {
    /// Reads the section `retention`.
    pub(super) fn from(settings: &SettingSources) -> Result<Self> {
        let days = |key: &str, least: usize, default: u32| {
            let days = settings.number(key, least..=36_500, default as usize)?;
            Ok::<_, Error>(u32::try_from(days).unwrap_or(u32::MAX))
        };
        let known = Self::default();
        Ok(Self {
            audit: days("retention.audit", 0, known.audit)?,
            sends: days("retention.sends", 30, known.sends)?,
            undos: days("retention.undos", 1, known.undos)?,
            outputs: days("retention.outputs", 1, known.outputs)?,
            cursors: days("retention.cursors", 1, known.cursors)?,
        })
    }
}
