//! The settings one by one: where each may stand, and what may stand there.
//!
//! All settings are texts. They are collected from the environment and the
//! settings file into one flat list, each with the words that name its origin,
//! and read out again as words, URLs and paths. What they add up to is said in
//! `config.rs`.
//!
//! No error shows a value unless it is one of a few words: a secret may stand
//! under a mistyped key.

use std::fmt;
use std::path::{Path, PathBuf};

use url::{Host, Url};

use crate::error::{Error, Kind, Result};

/// Every setting: its key in the file, its environment variable.
pub const SETTINGS: &[(&str, &str)] = &[
    ("endpoints.gmail", "DAYSHEET_GMAIL_URL"),
    ("endpoints.google_calendar", "DAYSHEET_GOOGLE_CALENDAR_URL"),
    ("endpoints.google_people", "DAYSHEET_GOOGLE_PEOPLE_URL"),
    ("endpoints.google_auth", "DAYSHEET_GOOGLE_AUTH_URL"),
    ("endpoints.google_token", "DAYSHEET_GOOGLE_TOKEN_URL"),
    ("endpoints.google_revoke", "DAYSHEET_GOOGLE_REVOKE_URL"),
    ("endpoints.graph", "DAYSHEET_GRAPH_URL"),
    ("endpoints.microsoft_authority", "DAYSHEET_MICROSOFT_AUTHORITY_URL"),
    ("google.client_id", "DAYSHEET_GOOGLE_CLIENT_ID"),
    ("google.client_secret", "DAYSHEET_GOOGLE_CLIENT_SECRET"),
    ("google.credentials", "DAYSHEET_GOOGLE_CREDENTIALS"),
    ("microsoft.client_id", "DAYSHEET_MICROSOFT_CLIENT_ID"),
    ("microsoft.client_secret", "DAYSHEET_MICROSOFT_CLIENT_SECRET"),
    ("microsoft.tenant", "DAYSHEET_MICROSOFT_TENANT"),
    ("key_store", "DAYSHEET_KEY_STORE"),
    ("format", "DAYSHEET_FORMAT"),
    ("delimiter", "DAYSHEET_DELIMITER"),
    ("budget", "DAYSHEET_BUDGET"),
    ("tokenizer", "DAYSHEET_TOKENIZER"),
    ("outputs", "DAYSHEET_OUTPUTS"),
    ("values", "DAYSHEET_VALUES"),
    ("zone", "DAYSHEET_ZONE"),
    ("browser", "DAYSHEET_BROWSER"),
    ("access", "DAYSHEET_ACCESS"),
    ("tools", "DAYSHEET_TOOLS"),
    ("files", "DAYSHEET_FILES"),
    ("largest_file", "DAYSHEET_LARGEST_FILE"),
    ("recipients", "DAYSHEET_RECIPIENTS"),
    ("new_recipients", "DAYSHEET_NEW_RECIPIENTS"),
    ("remote_pictures", "DAYSHEET_REMOTE_PICTURES"),
    ("sends_per_hour", "DAYSHEET_SENDS_PER_HOUR"),
    ("recipients_per_hour", "DAYSHEET_RECIPIENTS_PER_HOUR"),
    ("microsoft.signature", "DAYSHEET_MICROSOFT_SIGNATURE"),
    ("log", "DAYSHEET_LOG"),
];

/// A variable's value; an empty one counts as not set, because that is how
/// most client configurations leave a variable out.
pub(super) fn set(var: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    var(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

pub(super) fn absolute(path: &str) -> Result<PathBuf> {
    std::path::absolute(path)
        .map_err(|error| Error::new(Kind::Config, format!("{path} is not a path: {error}")))
}

/// One setting as it was found.
pub(super) struct Found {
    key: &'static str,
    pub(super) value: String,
    /// What to correct: a variable, or a key in a file.
    pub(super) origin: String,
    /// The folder that a relative path is meant from.
    folder: Option<PathBuf>,
}

impl Found {
    /// An error about this setting. The value is shown only where it cannot be
    /// a secret or hold one.
    pub(super) fn wrong(&self, why: impl fmt::Display) -> Error {
        let shown = match self.key {
            "key_store"
            | "format"
            | "delimiter"
            | "zone"
            | "access"
            | "budget"
            | "tokenizer"
            | "outputs"
            | "values"
            | "tools"
            | "files"
            | "largest_file"
            | "recipients"
            | "new_recipients"
            | "remote_pictures"
            | "sends_per_hour"
            | "recipients_per_hour" => {
                format!(" `{}`", self.value)
            }
            _ => String::new(),
        };
        Error::new(Kind::Config, format!("{}{shown} {why}", self.origin))
    }

    /// The value as a path.
    pub(super) fn path(&self) -> Result<PathBuf> {
        match &self.folder {
            Some(folder) => Ok(folder.join(&self.value)),
            None => absolute(&self.value),
        }
    }
}

/// All settings that were found, environment before file.
pub(super) struct Settings(Vec<Found>);

impl Settings {
    pub(super) fn collect(
        var: &dyn Fn(&str) -> Option<String>,
        file: Option<(&Path, &str)>,
    ) -> Result<Self> {
        let mut found: Vec<Found> = SETTINGS
            .iter()
            .filter_map(|&(key, name)| {
                let value = set(var, name)?;
                Some(Found { key, value, origin: name.to_owned(), folder: None })
            })
            .collect();
        if let Some((path, text)) = file {
            let table = text.parse::<toml::Table>().map_err(|error| syntax(path, text, &error))?;
            read_table(&table, "", path, &mut found)?;
        }
        Ok(Self(found))
    }

    pub(super) fn get(&self, key: &str) -> Option<&Found> {
        self.0.iter().find(|found| found.key == key)
    }

    /// Words between commas, in small letters; none if it is not set.
    pub(super) fn words(&self, key: &str) -> Vec<String> {
        let value = self.get(key).map_or("", |found| &found.value);
        let words = value.split(',').map(|word| word.trim().to_lowercase());
        words.filter(|word| !word.is_empty()).collect()
    }

    /// Folders, with between them what the platform puts between paths.
    pub(super) fn paths(&self, key: &str) -> Result<Option<Vec<PathBuf>>> {
        let Some(found) = self.get(key) else {
            return Ok(None);
        };
        let paths: Vec<PathBuf> = std::env::split_paths(&found.value)
            .filter(|path| !path.as_os_str().is_empty())
            .map(|path| match &found.folder {
                Some(folder) => Ok(folder.join(path)),
                None => absolute(&path.to_string_lossy()),
            })
            .collect::<Result<_>>()?;
        match paths.is_empty() {
            true => Err(found.wrong("names no folder")),
            false => Ok(Some(paths)),
        }
    }

    /// One of a few words; the type's default if it is not set.
    pub(super) fn choice<T: Copy + Default>(&self, key: &str, choices: &[(&str, T)]) -> Result<T> {
        let Some(found) = self.get(key) else {
            return Ok(T::default());
        };
        choices
            .iter()
            .find(|(word, _)| found.value.eq_ignore_ascii_case(word))
            .map(|&(_, choice)| choice)
            .ok_or_else(|| {
                let words: Vec<&str> = choices.iter().map(|&(word, _)| word).collect();
                found.wrong(format!("is none of {}", words.join(", ")))
            })
    }

    /// A whole number within `range`; `default` if it is not set.
    pub(super) fn number(
        &self,
        key: &str,
        range: std::ops::RangeInclusive<usize>,
        default: usize,
    ) -> Result<usize> {
        let Some(found) = self.get(key) else {
            return Ok(default);
        };
        let number = found.value.parse().ok();
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            found.wrong(format!("is no whole number from {} to {}", range.start(), range.end()))
        })
    }

    /// A URL that tokens may be sent to. `base` says that paths are joined to
    /// it, which only works as people mean it if it ends in a slash.
    pub(super) fn url(&self, key: &str, default: &str, base: bool) -> Result<Url> {
        let Some(found) = self.get(key) else {
            return Url::parse(default).map_err(|error| {
                Error::new(Kind::Internal, format!("the default of {key}: {error}"))
            });
        };
        let mut url = Url::parse(&found.value)
            .map_err(|error| found.wrong(format!("is not an absolute URL ({error})")))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(found.wrong("holds a user name or password; leave them out of the URL"));
        }
        if url.fragment().is_some() || (base && url.query().is_some()) {
            return Err(found.wrong("holds a query or fragment; give the base URL alone"));
        }
        match url.scheme() {
            "https" => {}
            "http" if is_loopback(&url) => {}
            "http" => {
                return Err(found.wrong(
                    "is plain http, which is allowed on this machine only (127.0.0.1, ::1, \
                     localhost); use https",
                ));
            }
            _ => return Err(found.wrong("is neither https nor http")),
        }
        if base && !url.path().ends_with('/') {
            let path = format!("{}/", url.path());
            url.set_path(&path);
        }
        Ok(url)
    }
}

/// Who may sign in at Microsoft, as it stands in the URLs of its authority: one
/// of three words, or a directory's GUID or domain, in small letters. Nothing if
/// `text` is none of these; then it could also be a path.
pub fn tenant(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
    };
    let known = match text.as_str() {
        "common" | "organizations" | "consumers" => true,
        text if text.contains('.') => text.len() <= 253 && text.split('.').all(label),
        text => is_guid(text),
    };
    known.then_some(text)
}

/// Groups of 8, 4, 4, 4 and 12 hexadecimal digits.
fn is_guid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12]
        && groups.iter().all(|group| group.chars().all(|digit| digit.is_ascii_hexdigit()))
}

/// What a tenant may be, for errors.
pub const TENANTS: &str = "common, organizations, consumers, or the GUID or domain of a directory";

/// True if what is sent to `url` cannot leave this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        None => false,
    }
}

/// Walks the file's tables and adds what the environment has not set.
fn read_table(
    table: &toml::Table,
    prefix: &str,
    path: &Path,
    found: &mut Vec<Found>,
) -> Result<()> {
    for (name, value) in table {
        let key = format!("{prefix}{name}");
        let origin = format!("`{key}` in {}", path.display());
        let known = SETTINGS.iter().find(|&&(known, _)| known == key);
        match (known, value) {
            (Some(&(key, _)), toml::Value::String(value)) => {
                if !found.iter().any(|earlier| earlier.key == key) {
                    found.push(Found {
                        key,
                        value: value.clone(),
                        origin,
                        folder: path.parent().map(Path::to_path_buf),
                    });
                }
            }
            (Some(_), _) => {
                return Err(Error::new(Kind::Config, format!("{origin} is not a text"))
                    .next("put its value between double quotes"));
            }
            (None, toml::Value::Table(inner)) if is_section(&key) => {
                read_table(inner, &format!("{key}."), path, found)?;
            }
            (None, _) => {
                let keys: Vec<&str> = SETTINGS.iter().map(|&(key, _)| key).collect();
                return Err(Error::new(Kind::Config, format!("{origin} is not a known setting"))
                    .next(format!("remove it, or use one of {}", keys.join(", "))));
            }
        }
    }
    Ok(())
}

/// True if some setting's key begins with this table's name.
fn is_section(name: &str) -> bool {
    SETTINGS.iter().any(|&(key, _)| key.split_once('.').is_some_and(|(section, _)| section == name))
}

/// A syntax error by its line. The parser's own display would quote the line,
/// and with it maybe a secret.
fn syntax(path: &Path, text: &str, error: &toml::de::Error) -> Error {
    let line = error
        .span()
        .and_then(|span| text.get(..span.start))
        .map_or(1, |before| before.matches('\n').count() + 1);
    Error::new(Kind::Config, format!("line {line} of {} is not TOML", path.display()))
        .next("correct it; values stand between double quotes")
}
