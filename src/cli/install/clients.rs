//! The MCP clients that `install` knows: the settings file of each on every platform, and the form
//! of an entry. The entries and paths are those that the clients document or write themselves.

use std::path::PathBuf;

use daysheet_core::error::{Error, ErrorKind, Result};
use serde_json::{Map, Value, json};

use super::edit::{EntryMembers, SettingsNotation};
use crate::deeplinks::{DESCRIPTION, ENTRY, ServerStart};

/// The operating system, which decides where settings are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Linux and other systems with the folders of the XDG specification.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

/// The machine on which the clients are.
pub struct ClientMachine<'a> {
    /// Its operating system.
    pub platform: Platform,
    /// The user's home folder.
    pub home: PathBuf,
    /// Returns an environment variable.
    pub var: &'a dyn Fn(&str) -> Option<String>,
}

impl ClientMachine<'_> {
    /// Returns the path that a variable sets.
    fn path_in(&self, variable: &str) -> Option<PathBuf> {
        (self.var)(variable).filter(|path| !path.is_empty()).map(PathBuf::from)
    }

    /// Returns the folder of settings of programs with windows.
    fn app_settings(&self) -> PathBuf {
        match self.platform {
            Platform::Linux => self.xdg_settings(),
            Platform::MacOs => self.home.join("Library/Application Support"),
            Platform::Windows => {
                self.path_in("APPDATA").unwrap_or_else(|| self.home.join("AppData/Roaming"))
            }
        }
    }

    /// Returns the folder of settings by the XDG specification, which some programs use everywhere.
    fn xdg_settings(&self) -> PathBuf {
        self.path_in("XDG_CONFIG_HOME").unwrap_or_else(|| self.home.join(".config"))
    }
}

/// The form of an entry in a client's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryForm {
    /// `command`, `args` and `env`; or the URL below the key `remote`, if it takes one.
    Flat {
        remote: Option<&'static str>,
    },
    /// As `Flat`, with a `type` of `stdio` or `http`.
    Typed,
    Zed,
    OpenCode,
    Cline,
    Goose,
}

/// A client, and its settings.
pub struct McpClient {
    /// Its name on the command line.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Returns the settings file.
    file: fn(&ClientMachine<'_>) -> Result<PathBuf>,
    /// The notation of that file.
    pub notation: SettingsNotation,
    /// The keys of the object that has the entries.
    pub keys: &'static [&'static str],
    form: EntryForm,
    /// The user's next step after the entry was written.
    pub next: &'static str,
}

const MCP_SERVERS: &[&str] = &["mcpServers"];
const RESTART: &str = "restart it";

/// All clients.
pub const CLIENTS: &[McpClient] = &[
    McpClient {
        id: "claude-code",
        name: "Claude Code",
        file: |at| {
            Ok(at
                .path_in("CLAUDE_CONFIG_DIR")
                .unwrap_or_else(|| at.home.clone())
                .join(".claude.json"))
        },
        notation: SettingsNotation::Json,
        keys: MCP_SERVERS,
        form: EntryForm::Typed,
        next: "start a new session; /mcp shows its servers",
    },
    McpClient {
        id: "claude-desktop",
        name: "Claude Desktop",
        file: claude_desktop,
        notation: SettingsNotation::Json,
        keys: MCP_SERVERS,
        form: EntryForm::Flat { remote: None },
        next: "quit it, also in the tray or menu bar, and start it again",
    },
    McpClient {
        id: "cursor",
        name: "Cursor",
        file: |at| Ok(at.home.join(".cursor/mcp.json")),
        notation: SettingsNotation::Json,
        keys: MCP_SERVERS,
        form: EntryForm::Flat { remote: Some("url") },
        next: RESTART,
    },
    McpClient {
        id: "vscode",
        name: "VS Code",
        file: |at| Ok(at.app_settings().join("Code/User/mcp.json")),
        notation: SettingsNotation::Json,
        keys: &["servers"],
        form: EntryForm::Typed,
        next: "run the command `MCP: List Servers` in it, and start daysheet",
    },
    McpClient {
        id: "vscode-insiders",
        name: "VS Code Insiders",
        file: |at| Ok(at.app_settings().join("Code - Insiders/User/mcp.json")),
        notation: SettingsNotation::Json,
        keys: &["servers"],
        form: EntryForm::Typed,
        next: "run the command `MCP: List Servers` in it, and start daysheet",
    },
    McpClient {
        id: "codex",
        name: "Codex",
        file: |at| {
            Ok(at
                .path_in("CODEX_HOME")
                .unwrap_or_else(|| at.home.join(".codex"))
                .join("config.toml"))
        },
        notation: SettingsNotation::Toml,
        keys: &["mcp_servers"],
        form: EntryForm::Flat { remote: Some("url") },
        next: "start a new session; `codex mcp list` shows its servers",
    },
    McpClient {
        id: "gemini",
        name: "Gemini CLI",
        file: |at| Ok(at.home.join(".gemini/settings.json")),
        notation: SettingsNotation::Json,
        keys: MCP_SERVERS,
        form: EntryForm::Flat { remote: Some("httpUrl") },
        next: "start a new session; /mcp shows its servers",
    },
    McpClient {
        id: "zed",
        name: "Zed",
        file: |at| {
            Ok(match at.platform {
                Platform::Windows => at.app_settings().join("Zed/settings.json"),
                Platform::Linux => at.xdg_settings().join("zed/settings.json"),
                Platform::MacOs => at.home.join(".config/zed/settings.json"),
            })
        },
        notation: SettingsNotation::Json,
        keys: &["context_servers"],
        form: EntryForm::Zed,
        next: "open its agent panel",
    },
    McpClient {
        id: "windsurf",
        name: "Windsurf",
        file: |at| Ok(at.home.join(".codeium/windsurf/mcp_config.json")),
        notation: SettingsNotation::Json,
        keys: MCP_SERVERS,
        form: EntryForm::Flat { remote: Some("serverUrl") },
        next: RESTART,
    },
    McpClient {
        id: "goose",
        name: "Goose",
        file: |at| {
            Ok(match at.platform {
                Platform::Windows => at.app_settings().join("Block/goose/config/config.yaml"),
                Platform::Linux | Platform::MacOs => at.xdg_settings().join("goose/config.yaml"),
            })
        },
        notation: SettingsNotation::Yaml,
        keys: &["extensions"],
        form: EntryForm::Goose,
        next: "start a new session",
    },
    McpClient {
        id: "lmstudio",
        name: "LM Studio",
        file: |at| {
            // Its home folder can be moved; this file then has the path.
            let pointer = std::fs::read_to_string(at.home.join(".lmstudio-home-pointer"));
            let moved = pointer.ok().map(|path| PathBuf::from(path.trim()));
            Ok(moved.unwrap_or_else(|| at.home.join(".lmstudio")).join("mcp.json"))
        },
        notation: SettingsNotation::Json,
        keys: MCP_SERVERS,
        form: EntryForm::Flat { remote: Some("url") },
        next: "switch daysheet on in the program's list of integrations",
    },
    McpClient {
        id: "opencode",
        name: "opencode",
        file: |at| {
            let folder = at.xdg_settings().join("opencode");
            let commented = folder.join("opencode.jsonc");
            Ok(if commented.exists() { commented } else { folder.join("opencode.json") })
        },
        notation: SettingsNotation::Json,
        keys: &["mcp"],
        form: EntryForm::OpenCode,
        next: "start a new session",
    },
    McpClient {
        id: "cline",
        name: "Cline",
        file: |at| {
            Ok(match at.path_in("CLINE_MCP_SETTINGS_PATH") {
                Some(file) => file,
                None => at
                    .path_in("CLINE_DATA_DIR")
                    .or_else(|| Some(at.path_in("CLINE_DIR")?.join("data")))
                    .unwrap_or_else(|| at.home.join(".cline/data"))
                    .join("settings/cline_mcp_settings.json"),
            })
        },
        notation: SettingsNotation::Json,
        keys: MCP_SERVERS,
        form: EntryForm::Cline,
        next: "open its list of MCP servers",
    },
];

/// Returns the settings file of Claude Desktop. On Windows, its installer gives it a folder of its
/// own, and the app ignores the file in the usual place.
fn claude_desktop(at: &ClientMachine<'_>) -> Result<PathBuf> {
    let within = "Claude/claude_desktop_config.json";
    if at.platform != Platform::Windows {
        return Ok(at.app_settings().join(within));
    }
    let packages = at
        .path_in("LOCALAPPDATA")
        .unwrap_or_else(|| at.home.join("AppData/Local"))
        .join("Packages");
    let entries = std::fs::read_dir(&packages).into_iter().flatten().flatten();
    let mut own: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("Claude_"))
        .map(|entry| entry.path().join("LocalCache/Roaming").join(within))
        .collect();
    match (own.len(), own.pop()) {
        (0, _) | (_, None) => Ok(at.app_settings().join(within)),
        (1, Some(file)) => Ok(file),
        _ => Err(Error::new(
            ErrorKind::Config,
            format!("there are several folders of Claude Desktop below {}", packages.display()),
        )
        .next("remove the one of an uninstalled version, or add the entry by hand: --print")),
    }
}

impl McpClient {
    /// Returns the client with this name on the command line.
    pub fn find(id: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.id == id)
    }

    /// Returns the settings file.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if it is one of several.
    pub fn file(&self, at: &ClientMachine<'_>) -> Result<PathBuf> {
        (self.file)(at)
    }

    /// Returns the entry that starts the server.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if the client's settings cannot have a URL.
    pub fn entry(&self, start: &ServerStart) -> Result<EntryMembers> {
        let entry = match start {
            ServerStart::Url(url) => self.remote_entry(url)?,
            ServerStart::Program { program, args, env } => self.local_entry(program, args, env),
        };
        Ok(members(entry))
    }

    fn local_entry(
        &self,
        program: &str,
        args: &[String],
        env: &[(String, Option<String>)],
    ) -> Value {
        let (entry, env_key) = match self.form {
            EntryForm::Flat { .. } => (json!({"command": program, "args": args}), "env"),
            // The same within another object.
            EntryForm::Typed | EntryForm::Cline => {
                (json!({"type": "stdio", "command": program, "args": args}), "env")
            }
            EntryForm::Zed => {
                (json!({"source": "custom", "command": program, "args": args}), "env")
            }
            EntryForm::OpenCode => {
                let command: Vec<&str> =
                    std::iter::once(program).chain(args.iter().map(String::as_str)).collect();
                let entry = json!({"type": "local", "command": command, "enabled": true});
                (entry, "environment")
            }
            EntryForm::Goose => {
                let start = json!({"type": "stdio", "cmd": program, "args": args});
                (goose(start), "envs")
            }
        };
        let mut entry = members(entry);
        if !env.is_empty() {
            let env = env.iter().map(|(name, value)| (name.clone(), json!(value)));
            entry.insert(env_key.to_owned(), env.collect::<Map<_, _>>().into());
        }
        match self.form {
            EntryForm::Cline => json!({"transport": entry}),
            _ => entry.into(),
        }
    }

    fn remote_entry(&self, url: &str) -> Result<Value> {
        Ok(match self.form {
            EntryForm::Flat { remote: None } => {
                let what = format!("the settings file of {} takes no URL", self.name);
                return Err(Error::new(ErrorKind::Config, what)
                    .next("add it in the program as a custom connector"));
            }
            EntryForm::Flat { remote: Some(key) } => json!({key: url}),
            EntryForm::Typed => json!({"type": "http", "url": url}),
            EntryForm::Zed => json!({"source": "custom", "url": url}),
            EntryForm::OpenCode => json!({"type": "remote", "url": url, "enabled": true}),
            EntryForm::Cline => json!({"transport": {"type": "streamableHttp", "url": url}}),
            EntryForm::Goose => goose(json!({"type": "streamable_http", "uri": url})),
        })
    }
}

/// Returns an entry of Goose, which has a name and a description of its own.
fn goose(start: Value) -> Value {
    let mut entry = members(json!({
        "enabled": true,
        "name": ENTRY,
        "description": DESCRIPTION,
        "timeout": 300,
    }));
    entry.extend(members(start));
    entry.into()
}

/// Returns the members of an object.
fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
