//! Reads the entries of Daysheet in the settings of clients, without changing them.

use std::path::{Path, PathBuf};

use daysheet_core::error::{Error, ErrorKind, Result};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde_json::{Map, Value};
use yaml_edit::Document;

use super::clients::{ClientMachine, McpClient};
use super::edit::SettingsNotation;
use crate::deeplinks::ENTRY;

/// Files in a project's folder that have entries of a client, with the keys of the object.
const PROJECT_FILES: &[(&str, &str, &str)] = &[
    ("claude-code", ".mcp.json", "mcpServers"),
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("gemini", ".gemini/settings.json", "mcpServers"),
    ("vscode", ".vscode/mcp.json", "servers"),
];
/// The members that have the URL of a server.
const URLS: &[&str] = &["url", "httpUrl", "serverUrl", "uri"];

/// The start of the server in an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryStart {
    /// A program with its arguments.
    Program(String, Vec<String>),
    /// A URL to connect to.
    Url(String),
}

/// An entry of Daysheet in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundEntry {
    /// The file.
    pub file: PathBuf,
    /// The start of the server; `None` for an incomplete entry.
    pub start: Option<EntryStart>,
}

/// Returns the entries of Daysheet for a client: in its settings file, for projects in that file, and
/// in files of the project in `folder`.
///
/// # Errors
/// [`ErrorKind::Config`] if a file cannot be read or is damaged.
pub fn entries(
    client: &McpClient,
    machine: &ClientMachine<'_>,
    folder: &Path,
) -> Result<Vec<FoundEntry>> {
    let file = client.file(machine)?;
    let mut found = Vec::new();
    if let Some(settings) = read(&file, client.notation)? {
        add(&mut found, &file, below(&settings, client.keys));
        // Claude Code has further entries for single projects in the same file.
        if let Some(Value::Object(projects)) = settings.get("projects") {
            for (path, project) in projects {
                if folder.starts_with(path) {
                    add(&mut found, &file, below(project, client.keys));
                }
            }
        }
    }
    for (_, path, key) in PROJECT_FILES.iter().filter(|(id, ..)| *id == client.id) {
        let own = folder.join(path);
        // A home folder can be the current one.
        if own != file
            && let Some(settings) = read(&own, client.notation)?
        {
            add(&mut found, &own, below(&settings, &[key]));
        }
    }
    Ok(found)
}

/// Reads a settings file; `None` if it does not exist.
fn read(file: &Path, notation: SettingsNotation) -> Result<Option<Value>> {
    let wrong = |what: &str| {
        Error::new(ErrorKind::Config, format!("{} {what}", file.display()))
            .next("correct the file, which its client cannot read either")
    };
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => return Ok(None),
        Err(_) => return Err(wrong("cannot be read")),
    };
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Ok(None);
    }
    let value = match notation {
        SettingsNotation::Json => CstRootNode::parse(text, &ParseOptions::default())
            .ok()
            .and_then(|root| root.to_serde_value()),
        SettingsNotation::Toml => {
            text.parse::<toml::Table>().ok().and_then(|table| serde_json::to_value(table).ok())
        }
        SettingsNotation::Yaml => yaml(text),
    };
    value.map(Some).ok_or_else(|| wrong("is damaged"))
}

/// Reads the only parts of a YAML file that are needed: the program, its arguments and the URL of
/// the entry. Lists and texts in the notation of JSON, as `install` writes them, are YAML, too.
fn yaml(text: &str) -> Option<Value> {
    let document: Document = text.parse().ok()?;
    let entry = document.as_mapping()?.get_mapping("extensions").and_then(|all| {
        let entry = all.get_mapping(ENTRY)?;
        let members = ["cmd", "args", "uri"].into_iter().filter_map(|name| {
            let text = entry.get(name)?.to_string();
            let text = text.trim();
            let plain = || Value::from(text.trim_matches(['"', '\'']));
            Some((name.to_owned(), serde_json::from_str(text).unwrap_or_else(|_| plain())))
        });
        Some(Value::Object(members.collect()))
    });
    let entries: Map<String, Value> =
        entry.into_iter().map(|entry| (ENTRY.to_owned(), entry)).collect();
    Some(serde_json::json!({ "extensions": entries }))
}

/// Returns the object of entries below some keys.
fn below<'v>(settings: &'v Value, keys: &[&str]) -> Option<&'v Value> {
    keys.iter().try_fold(settings, |value, key| value.get(key))
}

fn add(found: &mut Vec<FoundEntry>, file: &Path, servers: Option<&Value>) {
    if let Some(entry) = servers.and_then(|servers| servers.get(ENTRY)) {
        found.push(FoundEntry { file: file.to_owned(), start: start(entry) });
    }
}

/// Returns the start of the server in an entry.
fn start(entry: &Value) -> Option<EntryStart> {
    let entry = entry.get("transport").filter(|inner| inner.is_object()).unwrap_or(entry);
    if let Some(url) = URLS.iter().find_map(|name| entry.get(name)?.as_str()) {
        return Some(EntryStart::Url(url.to_owned()));
    }
    let words = |value: &Value| match value {
        Value::Array(words) => words.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(word) => vec![word.clone()],
        _ => Vec::new(),
    };
    let mut command = words(entry.get("command").or_else(|| entry.get("cmd"))?);
    command.extend(entry.get("args").map(words).unwrap_or_default());
    let mut command = command.into_iter();
    Some(EntryStart::Program(command.next()?, command.collect()))
}
