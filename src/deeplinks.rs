//! Links that add Daysheet to an MCP client with one click, in the forms that the clients document.
//! `cli` prints them, and pages may show them. Settings files are in `cli/install`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

/// The name of the entry in every client. Gemini CLI allows no underscores.
pub const ENTRY: &str = "daysheet";

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
}

impl DeeplinkClient {
    /// All of them.
    pub const ALL: &'static [Self] =
        &[Self::Cursor, Self::VsCode, Self::VsCodeInsiders, Self::LmStudio];

    /// Returns the client's name on the command line of `install`.
    pub fn id(self) -> &'static str {
        match self {
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::VsCodeInsiders => "vscode-insiders",
            Self::LmStudio => "lmstudio",
        }
    }

    /// Returns the client with this name on the command line.
    pub fn find(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|client| client.id() == id)
    }

    /// Returns the link in the client's own scheme.
    pub fn link(self, start: &ServerStart) -> String {
        let config = self.config(start);
        match self {
            Self::Cursor => {
                format!(
                    "cursor://anysphere.cursor-deeplink/mcp/install?name={ENTRY}&config={config}"
                )
            }
            Self::LmStudio => format!("lmstudio://add_mcp?name={ENTRY}&config={config}"),
            // The programs have the schemes of their names here.
            Self::VsCode | Self::VsCodeInsiders => format!("{}:mcp/install?{config}", self.id()),
        }
    }

    /// Returns the encoded entry, for VS Code with its name.
    fn config(self, start: &ServerStart) -> String {
        let entry = entry(start);
        match self {
            Self::Cursor | Self::LmStudio => {
                percent(&STANDARD.encode(Value::from(entry).to_string()))
            }
            Self::VsCode | Self::VsCodeInsiders => {
                let is_url = matches!(start, ServerStart::Url(_));
                let mut named = Map::new();
                named.insert("name".to_owned(), json!(ENTRY));
                named.insert("type".to_owned(), json!(if is_url { "http" } else { "stdio" }));
                named.extend(entry);
                percent(&Value::from(named).to_string())
            }
        }
    }
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

/// Returns a text for a part of a URL.
fn percent(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}
