//! The environment of a process that does not inherit ours, such as a server that an MCP client
//! starts.

use std::collections::BTreeMap;
use std::path::Path;

use daysheet_core::error::Result;
use toml::Value;

use super::settings::{FILE, HOME, PREFIX, THEIRS, absolute, home, read, set, syntax, variable};

/// The variables that have a path.
const PATHS: &[&str] = &[
    HOME,
    FILE,
    "DAYSHEET_GOOGLE_CREDENTIALS",
    "DAYSHEET_GOOGLE_SERVICE_ACCOUNT",
    "DAYSHEET_KEYS_FILE",
];
/// The variable that has several paths.
const FOLDERS: &str = "DAYSHEET_FILES";

/// Returns our variables of an environment that a process without it needs: those that the settings
/// file does not have with the same value. Variables that only the file has are `None`.
///
/// # Errors
/// [`ErrorKind::Config`](daysheet_core::error::ErrorKind::Config) if the settings file cannot be read.
pub fn detached_environment(
    environment: impl Iterator<Item = (String, String)>,
) -> Result<Vec<(String, Option<String>)>> {
    let all: BTreeMap<String, String> = environment.collect();
    let var = |name: &str| all.get(name).cloned();
    let file = match set(&var, FILE) {
        Some(path) => Some(absolute(&path)?),
        None => Some(home(&var)?.join("config.toml")).filter(|path| path.exists()),
    };
    let in_file = match &file {
        Some(path) => variables_in(path)?,
        None => BTreeMap::new(),
    };
    let mut settled: BTreeMap<String, Option<String>> =
        in_file.keys().map(|name| (name.clone(), None)).collect();
    for (name, value) in ours(&all) {
        if in_file.get(name).map(String::as_str) != Some(value) {
            // The process is started in another folder.
            settled.insert(name.to_owned(), Some(elsewhere((name, value))?));
        }
    }
    Ok(settled.into_iter().collect())
}

/// Returns the value of a variable for a process in another folder: its paths are absolute.
fn elsewhere((name, value): (&str, &str)) -> Result<String> {
    let whole = |path: &str| Ok(absolute(path)?.to_string_lossy().into_owned());
    if PATHS.contains(&name) {
        return whole(value);
    }
    if name != FOLDERS {
        return Ok(value.to_owned());
    }
    let paths = std::env::split_paths(value).filter(|path| !path.as_os_str().is_empty());
    let paths = paths.map(|path| whole(&path.to_string_lossy())).collect::<Result<Vec<_>>>()?;
    let joined = std::env::join_paths(&paths).ok();
    Ok(joined.map_or_else(|| value.to_owned(), |all| all.to_string_lossy().into_owned()))
}

/// Returns the variables of our settings that are set in an environment, without spaces around their
/// values.
fn ours(all: &BTreeMap<String, String>) -> impl Iterator<Item = (&str, &str)> {
    let all = all.iter().map(|(name, value)| (name.as_str(), value.trim()));
    all.filter(|(name, value)| {
        let rest = name.strip_prefix(PREFIX);
        !value.is_empty()
            && rest.is_some_and(|rest| !THEIRS.iter().any(|theirs| rest.starts_with(theirs)))
    })
}

/// Returns the settings of a file as variables.
///
/// # Errors
/// [`ErrorKind::Config`](daysheet_core::error::ErrorKind::Config) if it cannot be read, or is not TOML.
fn variables_in(path: &Path) -> Result<BTreeMap<String, String>> {
    let text = read(path)?;
    let table: toml::Table = text.parse().map_err(|error| syntax(path, &text, &error))?;
    let values = table.iter().flat_map(|(name, value)| match value {
        Value::Table(inner) => {
            inner.iter().map(|(key, value)| (format!("{name}.{key}"), value)).collect()
        }
        value => vec![(name.clone(), value)],
    });
    Ok(values
        .map(|(key, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (variable(&key), text)
        })
        .collect())
}
