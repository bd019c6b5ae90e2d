//! Reads settings one by one: where each may be set, and its allowed values.
//!
//! There is no list of all settings: the code that reads a setting names its key, from which its
//! variable follows ([`variable`]). A setting is looked up in the environment and then in the
//! settings file, keeps its origin for errors, and is read as words, numbers, URLs or paths. Any
//! other key in the file is an error. `config.rs` combines the settings.
//!
//! Errors show a value only if it is one of a few words, because a secret may be under a mistyped
//! key.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use daysheet_core::choice::nearest;
use daysheet_core::error::{Error, ErrorKind, Result};
use toml::Value;
use url::{Host, Url};

/// The environment variable of the state folder. It has no key in the file, because the file is
/// searched in that folder.
pub(super) const HOME: &str = "DAYSHEET_HOME";
/// The environment variable with the path of the settings file.
pub(super) const FILE: &str = "DAYSHEET_CONFIG";
/// The prefix of our environment variables.
pub(super) const PREFIX: &str = "DAYSHEET_";
/// Continuations of names that others set: Kubernetes for a service of our name, and our own tests.
pub(super) const THEIRS: [&str; 5] = ["SERVICE_", "PORT", "CI_", "INTEROP_", "TEST_"];

/// Returns the environment variable of a key: `google.client_id` is
/// `DAYSHEET_GOOGLE_CLIENT_ID`, and `endpoints.graph` is `DAYSHEET_GRAPH_URL`.
pub(super) fn variable(key: &str) -> String {
    let name = match key.strip_prefix("endpoints.") {
        Some(service) => format!("{service}_url"),
        None => key.replace('.', "_"),
    };
    format!("{PREFIX}{}", name.to_uppercase())
}

/// Returns a variable's value. An empty one counts as not set, because most client configurations
/// leave a variable out in this way.
pub(super) fn set(var: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    var(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

pub(super) fn absolute(path: &str) -> Result<PathBuf> {
    std::path::absolute(path)
        .map_err(|error| Error::new(ErrorKind::Config, format!("{path} is not a path: {error}")))
}

/// Returns the state folder: `DAYSHEET_HOME`, or the platform's data folder.
pub(super) fn home(var: &dyn Fn(&str) -> Option<String>) -> Result<PathBuf> {
    match set(var, HOME) {
        Some(path) => absolute(&path).map_err(|error| error.context(HOME)),
        None => directories::ProjectDirs::from("", "", "daysheet")
            .map(|dirs| dirs.data_dir().to_path_buf())
            .ok_or_else(|| {
                Error::new(ErrorKind::Config, "this user has no home folder")
                    .next(format!("set {HOME} to a folder"))
            }),
    }
}

/// Reads a file that a setting names.
///
/// # Errors
/// [`ErrorKind::Config`].
pub(super) fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))
}

/// Returns the error about a settings file that cannot be read.
pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Config, format!("{} cannot be read: {error}", path.display())).next(
        match error.kind() {
            std::io::ErrorKind::NotFound => "name a file that exists",
            std::io::ErrorKind::PermissionDenied => "allow this user to read it",
            _ => "it must be a text file in UTF-8",
        },
    )
}

/// A setting, with its origin.
pub(super) struct FoundSetting {
    pub(super) value: String,
    /// The variable, or the key in a file, for errors.
    pub(super) origin: String,
    /// The folder that a relative path is resolved against.
    folder: Option<PathBuf>,
    /// True for a setting that contains no secret.
    shown: bool,
}

impl FoundSetting {
    /// Returns an error about this setting, with its value only if that cannot be or contain a
    /// secret.
    pub(super) fn wrong(&self, why: impl fmt::Display) -> Error {
        let shown = if self.shown { format!(": `{}`", self.value) } else { String::new() };
        Error::new(ErrorKind::Config, format!("{}{shown} {why}", self.origin))
    }

    /// Reads the value as one of a few words.
    fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T> {
        let mut known = choices.iter();
        let choice = known.find(|(word, _)| self.value.eq_ignore_ascii_case(word));
        choice.map(|&(_, choice)| choice).ok_or_else(|| {
            let words: Vec<&str> = choices.iter().map(|&(word, _)| word).collect();
            self.wrong(format!("must be one of {}", words.join(", ")))
        })
    }

    /// Reads the value as a path.
    pub(super) fn path(&self) -> Result<PathBuf> {
        match &self.folder {
            // A file's paths must not depend on the folder in which a client starts the process.
            Some(folder) => Ok(folder.join(&self.value)),
            None => absolute(&self.value),
        }
    }
}

/// The sources of settings: the environment before the file.
pub(super) struct SettingSources<'a> {
    var: &'a dyn Fn(&str) -> Option<String>,
    file: Option<(&'a Path, toml::Table)>,
    /// The keys looked up so far.
    known: RefCell<Vec<String>>,
}

impl<'a> SettingSources<'a> {
    pub(super) fn new(
        var: &'a dyn Fn(&str) -> Option<String>,
        file: Option<(&'a Path, &str)>,
    ) -> Result<Self> {
        let file = file.map(|(path, text)| match text.parse() {
            Ok(table) => Ok((path, table)),
            Err(error) => Err(syntax(path, text, &error)),
        });
        Ok(Self { var, file: file.transpose()?, known: RefCell::default() })
    }

    /// Returns a setting whose value is a text.
    pub(super) fn get(&self, key: &str) -> Result<Option<FoundSetting>> {
        self.find(key, "a text", "string")
    }

    /// Returns a setting whose value in the file is a text or of TOML's type `also`, in the form
    /// that it would have in the environment.
    fn find(&self, key: &str, what: &str, also: &str) -> Result<Option<FoundSetting>> {
        self.known.borrow_mut().push(key.to_owned());
        // Keys in sections, the log filter and the database's URL may contain secrets.
        let shown = !key.contains('.') && !["log", "database"].contains(&key);
        let origin = variable(key);
        if let Some(value) = set(self.var, &origin) {
            return Ok(Some(FoundSetting { value, origin, folder: None, shown }));
        }
        let Some((path, table)) = &self.file else {
            return Ok(None);
        };
        let value = match key.split_once('.') {
            Some((section, name)) => table.get(section).and_then(|inner| inner.get(name)),
            None => table.get(key),
        };
        let Some(value) = value else {
            return Ok(None);
        };
        let origin = format!("`{key}` in {}", path.display());
        let value = match value {
            Value::String(text) => text.clone(),
            value if value.type_str() == also => value.to_string(),
            _ => {
                return Err(Error::new(ErrorKind::Config, format!("{origin} is not {what}"))
                    .next("put its value between double quotes"));
            }
        };
        Ok(Some(FoundSetting {
            value,
            origin,
            folder: path.parent().map(Path::to_path_buf),
            shown,
        }))
    }

    /// Refuses keys in the file that were not looked up.
    pub(super) fn nothing_else(&self) -> Result<()> {
        let Some((path, table)) = &self.file else {
            return Ok(());
        };
        let known = self.known.borrow();
        let sections: Vec<&str> =
            known.iter().filter_map(|key| Some(key.split_once('.')?.0)).collect();
        let keys = table.iter().flat_map(|(name, value)| match value {
            // An unknown section is reported by its own name, rather than by its first key.
            Value::Table(inner) if sections.contains(&name.as_str()) => {
                inner.keys().map(|key| format!("{name}.{key}")).collect()
            }
            _ => vec![name.clone()],
        });
        // `known` is complete here: every setting has been looked up by now.
        let Some(key) = keys.into_iter().find(|key| !known.contains(key)) else {
            return Ok(());
        };
        // A section written as a plain key must not be suggested in place of itself.
        let all = known.iter().map(String::as_str).chain(sections).filter(|known| *known != key);
        let next = match nearest(&key, all) {
            Some(near) => format!("did you mean `{near}`? `daysheet --help` lists all"),
            None => "remove it; `daysheet --help` lists what there is".to_owned(),
        };
        let what = format!("`{key}` in {} is not a known setting", path.display());
        Err(Error::new(ErrorKind::Config, what).next(next))
    }

    /// Returns a table of commands by account, which only the file can have. Each command is a list
    /// of a program and its arguments.
    pub(super) fn commands(&self, key: &str) -> Result<BTreeMap<String, Vec<String>>> {
        self.known.borrow_mut().push(key.to_owned());
        let mut commands = BTreeMap::new();
        let Some((path, value)) =
            self.file.as_ref().and_then(|(path, table)| Some((path, table.get(key)?)))
        else {
            return Ok(commands);
        };
        let wrong = |key: &str, why: &str, next: &str| {
            let what = format!("`{key}` in {} {why}", path.display());
            Err(Error::new(ErrorKind::Config, what).next(next))
        };
        let example = "write \"google:mira@example.com\" = [\"gcloud\", \"auth\", \
                       \"print-access-token\"] below [token_command]";
        let Value::Table(table) = value else {
            return wrong(key, "is not a table of accounts", example);
        };
        for (account, command) in table {
            let known = format!("{key}.{account}");
            let named = matches!(account.split_once(':'),
                Some(("google" | "microsoft", address)) if address.contains('@'));
            if !named {
                return wrong(&known, "names no account as provider:address", example);
            }
            let words = command.as_array().into_iter().flatten().map(Value::as_str);
            let Some(words) = words.collect::<Option<Vec<&str>>>().filter(|all| !all.is_empty())
            else {
                let next = "list the program and its arguments; a shell has to be named, as in \
                            [\"sh\", \"-c\", \"…\"]";
                return wrong(&known, "is no list of texts", next);
            };
            let words = words.into_iter().map(str::to_owned).collect();
            // Account ids are in lower case.
            commands.insert(account.to_lowercase(), words);
            // Accounts are no fixed keys: each that was found counts as known for `nothing_else`.
            self.known.borrow_mut().push(known);
        }
        Ok(commands)
    }

    /// Returns a command: a list of a program and its arguments, or a text with the same separated
    /// by spaces. No shell interprets it.
    pub(super) fn command(&self, key: &str) -> Result<Option<Vec<String>>> {
        let Some(found) = self.find(key, "a text or a list of texts", "array")? else {
            return Ok(None);
        };
        if !found.value.starts_with('[') {
            return Ok(Some(found.value.split_whitespace().map(str::to_owned).collect()));
        }
        // An array from the file arrives as TOML text, as it would from the environment.
        let list: Option<toml::Table> = format!("list = {}", found.value).parse().ok();
        let words = list.and_then(|table| {
            let words = table.get("list")?.as_array()?.iter();
            words.map(|word| Some(word.as_str()?.to_owned())).collect::<Option<Vec<String>>>()
        });
        match words.filter(|words| !words.is_empty()) {
            Some(words) => Ok(Some(words)),
            None => Err(found.wrong("is no list of texts").next(
                "list the program and its arguments; a shell has to be named, as in \
                 [\"sh\", \"-c\", \"…\"]",
            )),
        }
    }

    /// Returns words separated by commas, in lower case; empty if not set.
    pub(super) fn words(&self, key: &str) -> Result<Vec<String>> {
        let found = self.get(key)?;
        let value = found.as_ref().map_or("", |found| &found.value);
        let words = value.split(',').map(|word| word.trim().to_lowercase());
        Ok(words.filter(|word| !word.is_empty()).collect())
    }

    /// Returns folders, separated by the platform's path separator.
    pub(super) fn paths(&self, key: &str) -> Result<Option<Vec<PathBuf>>> {
        let Some(found) = self.get(key)? else {
            return Ok(None);
        };
        let paths: Vec<PathBuf> = std::env::split_paths(&found.value)
            .filter(|path| !path.as_os_str().is_empty())
            .map(|path| match &found.folder {
                Some(folder) => Ok(folder.join(path)),
                None => absolute(&path.to_string_lossy()),
            })
            .collect::<Result<_>>()?;
        if paths.is_empty() { Err(found.wrong("names no folder")) } else { Ok(Some(paths)) }
    }

    /// Returns one of a few words; the type's default if not set.
    pub(super) fn choice<T: Copy + Default>(&self, key: &str, choices: &[(&str, T)]) -> Result<T> {
        self.get(key)?.map_or_else(|| Ok(T::default()), |found| found.choice(choices))
    }

    /// Returns true for the second of two words, false for the first; `default` if not set. The
    /// file may have `true` and `false` instead.
    pub(super) fn flag(&self, key: &str, [no, yes]: [&str; 2], default: bool) -> Result<bool> {
        let found = self.find(key, "a text or a boolean", "boolean")?;
        let choices = [(no, false), (yes, true), ("false", false), ("true", true)];
        found.map_or(Ok(default), |found| found.choice(&choices))
    }

    /// Returns a whole number within `range`; `default` if not set.
    pub(super) fn number(
        &self,
        key: &str,
        range: std::ops::RangeInclusive<usize>,
        default: usize,
    ) -> Result<usize> {
        let Some(found) = self.find(key, "a text or an integer", "integer")? else {
            return Ok(default);
        };
        let number = found.value.parse().ok();
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            found.wrong(format!("must be a whole number from {} to {}", range.start(), range.end()))
        })
    }

    /// Returns a URL that tokens may be sent to. With `base`, paths are joined to it, which
    /// requires a slash at its end.
    pub(super) fn url(&self, key: &str, default: &str, base: bool) -> Result<Url> {
        let Some(found) = self.get(key)? else {
            return Url::parse(default).map_err(|error| {
                Error::new(ErrorKind::Internal, format!("the default of {key}: {error}"))
            });
        };
        let mut url = Url::parse(&found.value).map_err(|_| {
            found.wrong("is not an absolute URL").next("write it like https://host/")
        })?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(found.wrong("holds a user name or password").next("leave them out"));
        }
        // Endpoints have no fragment (RFC 6749, sections 3.1 and 3.2), and joining a path to a base
        // would drop its query.
        if url.fragment().is_some() || (base && url.query().is_some()) {
            return Err(found.wrong("holds a query or fragment").next("give the base URL alone"));
        }
        match url.scheme() {
            "https" => {}
            "http" if is_loopback(&url) => {}
            "http" => {
                return Err(found
                    .wrong(
                        "is plain http, which is allowed on this machine only (127.0.0.1, ::1, \
                         localhost)",
                    )
                    .next("use https"));
            }
            _ => return Err(found.wrong("is no https URL").next("write it like https://host/")),
        }
        // Without a slash at the end, `Url::join` would replace the last segment of the path.
        if base && !url.path().ends_with('/') {
            let path = format!("{}/", url.path());
            url.set_path(&path);
        }
        Ok(url)
    }
}

/// Returns a warning about each environment variable that looks like one of Daysheet's and is not
/// `known`.
pub fn unknown(all: impl Iterator<Item = String>, known: &[String]) -> Vec<String> {
    let mut warnings: Vec<String> = all
        .filter(|name| !known.contains(name))
        .filter_map(|name| {
            let short = name.strip_prefix(PREFIX)?;
            let theirs = THEIRS.iter().any(|theirs| short.starts_with(theirs));
            let shorts = known.iter().filter_map(|known| known.strip_prefix(PREFIX));
            let next = match nearest(short, shorts) {
                Some(near) => format!("did you mean {PREFIX}{near}?"),
                None if theirs => return None,
                None => "`daysheet --help` lists what there is".to_owned(),
            };
            Some(format!("{name} is not a setting: {next}"))
        })
        .collect();
    // The environment has no stable order.
    warnings.sort();
    warnings
}

/// Returns a Microsoft tenant as in the URLs of its authority: one of three words, or a directory's
/// GUID or domain, in lower case. `None` for anything else, which might even be a path.
pub fn tenant(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    let known = match text.as_str() {
        "common" | "organizations" | "consumers" => true,
        // 253 characters are the 255 octets of a domain name (RFC 1035, section 2.3.4).
        text if text.contains('.') => text.len() <= 253 && text.split('.').all(label),
        text => is_guid(text),
    };
    known.then_some(text)
}

/// Returns true for groups of 8, 4, 4, 4 and 12 hexadecimal digits.
pub fn is_guid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12]
        && groups.iter().all(|group| group.chars().all(|digit| digit.is_ascii_hexdigit()))
}

/// The possible tenants, for errors.
pub const TENANTS: &str = "common, organizations, consumers, or the GUID or domain of a directory";

/// Returns true if a request to `url` cannot leave this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        // Only this name always resolves to loopback (RFC 6761, section 6.3).
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        None => false,
    }
}

/// Reports a syntax error by its line number. The parser's own message would quote the line, which
/// may contain a secret.
pub(super) fn syntax(path: &Path, text: &str, error: &toml::de::Error) -> Error {
    let line = error
        .span()
        .and_then(|span| text.get(..span.start))
        .map_or(1, |before| before.matches('\n').count() + 1);
    Error::new(ErrorKind::Config, format!("line {line} of {} is not TOML", path.display()))
        .next("correct it; put strings in double quotes")
}
