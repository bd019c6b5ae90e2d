//! Links that add Daysheet to an MCP client with one click, in the forms that the clients document.
//! `cli` prints them, and pages may show them. Settings files are in `cli/install`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

/// The name of the entry in every client. Gemini CLI allows no underscores.
pub const ENTRY: &str = "daysheet";

/// The description of the entry, for clients that show one.
pub const DESCRIPTION: &str = "mail and calendars";

/// The start of the server: by a program, or earlier, at a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerStart {
    /// The client starts the program.
    Program {
        /// The absolute path: programs with windows do not read the shell's `PATH`.
        program: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables, because clients pass few of their own to the servers that they start.
        /// `None` removes one that an earlier entry had.
        env: Vec<(String, Option<String>)>,
    },
    /// The client connects to this URL.
    Url(String),
}

/// A client that adds a server with one click.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeeplinkClient {
    /// Cursor.
    Cursor,
    /// VS Code.
    VsCode,
    /// VS Code Insiders.
    VsCodeInsiders,
    /// LM Studio.
    LmStudio,
    /// Goose.
    Goose,
}

impl DeeplinkClient {
    /// All of them.
    pub const ALL: &'static [Self] =
        &[Self::Cursor, Self::VsCode, Self::VsCodeInsiders, Self::LmStudio, Self::Goose];

    /// Returns the client's name on the command line of `install`.
    pub fn id(self) -> &'static str {
        match self {
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::VsCodeInsiders => "vscode-insiders",
            Self::LmStudio => "lmstudio",
            Self::Goose => "goose",
        }
    }

    /// Returns the client with this name on the command line.
    pub fn find(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|client| client.id() == id)
    }

    /// Returns the client's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::VsCodeInsiders => "VS Code Insiders",
            Self::LmStudio => "LM Studio",
            Self::Goose => "Goose",
        }
    }

    /// Returns the link in the client's own scheme.
    pub fn link(self, start: &ServerStart) -> String {
        match self {
            Self::Cursor => format!(
                "cursor://anysphere.cursor-deeplink/mcp/install?name={ENTRY}&config={}",
                base64(&entry(start))
            ),
            Self::LmStudio => {
                format!("lmstudio://add_mcp?name={ENTRY}&config={}", base64(&entry(start)))
            }
            // The programs have the schemes of their names here, and the entry includes its own.
            Self::VsCode | Self::VsCodeInsiders => {
                let mut named = Map::new();
                named.insert("name".to_owned(), json!(ENTRY));
                named.extend(typed_entry(start));
                format!("{}:mcp/install?{}", self.id(), percent(&Value::from(named).to_string()))
            }
            Self::Goose => goose(start),
        }
    }

    /// Returns the link over the client's page on the web, because some sites drop links in other
    /// schemes; `None` for a client without such a page. The page receives the entry, so it must
    /// have no secret.
    pub fn web_link(self, start: &ServerStart) -> Option<String> {
        let vscode = || {
            let config = percent(&Value::from(typed_entry(start)).to_string());
            format!("https://insiders.vscode.dev/redirect/mcp/install?name={ENTRY}&config={config}")
        };
        let config = || base64(&entry(start));
        match self {
            Self::Cursor => {
                Some(format!("https://cursor.com/en/install-mcp?name={ENTRY}&config={}", config()))
            }
            Self::LmStudio => {
                Some(format!("https://lmstudio.ai/install-mcp?name={ENTRY}&config={}", config()))
            }
            Self::VsCode => Some(vscode()),
            Self::VsCodeInsiders => Some(vscode() + "&quality=insiders"),
            Self::Goose => None,
        }
    }
}

/// Returns Goose's link. It has the names of variables only: the app asks for their values.
fn goose(start: &ServerStart) -> String {
    let mut pairs = Vec::new();
    match start {
        ServerStart::Url(url) => {
            pairs.extend([("url", url.clone()), ("type", "streamable_http".to_owned())]);
        }
        ServerStart::Program { program, args, env } => {
            pairs.push(("cmd", program.clone()));
            pairs.extend(args.iter().map(|arg| ("arg", arg.clone())));
            let set = env.iter().filter(|(_, value)| value.is_some());
            pairs.extend(set.map(|(name, _)| ("env", format!("{name}=a setting of Daysheet"))));
        }
    }
    for (key, value) in [("id", ENTRY), ("name", ENTRY), ("description", DESCRIPTION)] {
        pairs.push((key, value.to_owned()));
    }
    let pairs: Vec<String> =
        pairs.iter().map(|(key, value)| format!("{key}={}", percent(value))).collect();
    format!("goose://extension?{}", pairs.join("&"))
}

/// Returns an entry with its type, as VS Code has it.
fn typed_entry(start: &ServerStart) -> Map<String, Value> {
    let is_url = matches!(start, ServerStart::Url(_));
    let mut typed = Map::new();
    typed.insert("type".to_owned(), json!(if is_url { "http" } else { "stdio" }));
    typed.extend(entry(start));
    typed
}

/// Returns the members of a new entry, which has no variables to remove.
fn entry(start: &ServerStart) -> Map<String, Value> {
    let mut entry = Map::new();
    match start {
        ServerStart::Url(url) => _ = entry.insert("url".to_owned(), json!(url)),
        ServerStart::Program { program, args, env } => {
            entry.insert("command".to_owned(), json!(program));
            entry.insert("args".to_owned(), json!(args));
            let env =
                env.iter().filter_map(|(name, value)| Some((name.clone(), json!(value.as_ref()?))));
            let env: Map<String, Value> = env.collect();
            if !env.is_empty() {
                entry.insert("env".to_owned(), env.into());
            }
        }
    }
    entry
}

/// Returns an entry as base64 of its JSON.
fn base64(entry: &Map<String, Value>) -> String {
    percent(&STANDARD.encode(json!(entry).to_string()))
}

/// Returns a text for a part of a URL.
fn percent(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}
