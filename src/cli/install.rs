//! `daysheet install` and `daysheet uninstall`: add Daysheet to the settings of an MCP client, and
//! remove it.
//!
//! A change is shown before it is made, and a copy of the file is kept beside it.

pub mod clients;
pub mod edit;
pub mod read;

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::text::clip;
use url::Url;

use self::clients::{CLIENTS, ClientMachine, McpClient, Platform};
use self::edit::EntryMembers;
use crate::config::detached_environment;
use crate::deeplinks::{DeeplinkClient, ServerStart};

/// The maximum width of a line of a shown change, in columns.
const WIDTH: usize = 160;

/// The most copies of a file that are kept.
const COPIES: usize = 20;

/// The arguments of the command.
pub(super) struct InstallRequest {
    /// The client; `None` for a list of the installed ones.
    pub(super) client: Option<String>,
    /// Arguments of `serve`.
    pub(super) args: Vec<String>,
    /// The URL of a server that runs already.
    pub(super) http: Option<String>,
    /// True if the entry is printed and not written.
    pub(super) print: bool,
    /// True if the change is made without a question.
    pub(super) yes: bool,
}

/// A change of a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsEdit {
    /// The file.
    pub file: PathBuf,
    /// The text before; `None` if the file does not exist.
    pub before: Option<String>,
    /// The text after.
    pub after: String,
    /// Secrets of the entry, which are not shown.
    pub secrets: Vec<String>,
}

/// Lists the clients, prints an entry, or adds it.
pub(super) fn run(request: &InstallRequest) -> Result<ExitCode> {
    let var = |name: &str| std::env::var(name).ok();
    let machine = this_machine(&var)?;
    let Some(id) = &request.client else {
        // Nothing is written, so the options of an entry would be ignored.
        return if request.args.is_empty() {
            list(&machine)
        } else {
            Err(Error::argument("no client is named").next("give its name before the options"))
        };
    };
    let client = find_client(id)?;
    let start = server_start(request)?;
    let entry = client.entry(&start)?;
    if request.print {
        say!("{}", snippet(client, &entry)?.trim_end());
        if let Some(linked) = DeeplinkClient::find(client.id) {
            say!("\nAdds it with one click: {}", linked.link(&start));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut edit = plan_edit(client, &machine, Some(&entry))?;
    if let ServerStart::Program { env, .. } = start {
        let secret = env.into_iter().filter(|(name, _)| is_secret(name));
        edit.secrets = secret.filter_map(|(_, value)| value).collect();
    }
    if !apply(client, &edit, request.yes)? {
        return Ok(ExitCode::FAILURE);
    }
    if edit.is_change() {
        say!("Next: {}.", client.next);
    }
    Ok(ExitCode::SUCCESS)
}

/// Removes the entry from a client's settings.
pub(super) fn remove(id: &str, yes: bool) -> Result<ExitCode> {
    let var = |name: &str| std::env::var(name).ok();
    let machine = this_machine(&var)?;
    let client = find_client(id)?;
    let edit = plan_edit(client, &machine, None)?;
    Ok(if apply(client, &edit, yes)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn find_client(id: &str) -> Result<&'static McpClient> {
    McpClient::find(id).ok_or_else(|| {
        Error::argument(format!("`{}` is not a known client", daysheet_core::text::brief(id)))
            .next(format!("use one of {}", client_ids()))
    })
}

fn client_ids() -> String {
    CLIENTS.iter().map(|client| client.id).collect::<Vec<_>>().join(", ")
}

/// Returns this machine.
pub(super) fn this_machine(var: &dyn Fn(&str) -> Option<String>) -> Result<ClientMachine<'_>> {
    let platform = if cfg!(windows) {
        Platform::Windows
    } else if cfg!(target_os = "macos") {
        Platform::MacOs
    } else {
        Platform::Linux
    };
    let dirs = directories::BaseDirs::new();
    let home = dirs.map(|dirs| dirs.home_dir().to_path_buf()).ok_or_else(|| {
        Error::new(ErrorKind::Config, "this user has no home folder").next("set HOME to a folder")
    })?;
    Ok(ClientMachine { platform, home, var })
}

/// Returns the start of the server, with the variables of this environment that its settings file
/// does not have.
fn server_start(request: &InstallRequest) -> Result<ServerStart> {
    if let Some(url) = &request.http {
        let is_url = Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        return if is_url {
            Ok(ServerStart::Url(url.clone()))
        } else {
            Err(Error::argument("--http takes a URL")
                .next("write it with its path, such as http://127.0.0.1:8750/mcp"))
        };
    }
    let program = std::env::current_exe().ok().and_then(|path| path.to_str().map(str::to_owned));
    let program = program.ok_or_else(|| {
        Error::new(ErrorKind::Config, "the path of this program is not text")
            .next("install the program in a folder with another name")
    })?;
    let args = std::iter::once("serve".to_owned()).chain(request.args.iter().cloned()).collect();
    let variables = std::env::vars_os();
    let variables = variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut env = detached_environment(variables)?;
    // A user may have given this client other values than the settings file, but not other secrets.
    env.retain(|(name, value)| value.is_some() || is_secret(name));
    for (name, _) in env.iter().filter(|(name, value)| is_secret(name) && value.is_some()) {
        eprintln!(
            "daysheet: the entry has the secret {name}; with the same value in config.toml of \
             Daysheet's state folder, it would stay out of the client's settings"
        );
    }
    Ok(ServerStart::Program { program, args, env })
}

/// Returns true for a variable that has a secret: a client's, a master key or the command for one,
/// or the URL of a database with its password.
fn is_secret(name: &str) -> bool {
    ["_SECRET", "_VALUE", "_COMMAND", "_DATABASE"].iter().any(|end| name.ends_with(end))
}

/// Returns the change that adds the entry to the settings of a client, or removes it.
///
/// # Errors
/// [`ErrorKind::Config`] if the settings cannot be read, or are damaged.
pub fn plan_edit(
    client: &McpClient,
    machine: &ClientMachine<'_>,
    entry: Option<&EntryMembers>,
) -> Result<SettingsEdit> {
    let file = client.file(machine)?;
    let before = match std::fs::read_to_string(&file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(unusable(&file, "cannot be read", &error)),
    };
    let text = before.as_deref().unwrap_or_default();
    let after = client.notation.with_entry(text, client.keys, entry);
    let after = after.map_err(|error| error.context(file.display()))?;
    Ok(SettingsEdit { file, before, after, secrets: Vec::new() })
}

/// Returns the entry as a settings file of the client would have it alone.
pub fn snippet(client: &McpClient, entry: &EntryMembers) -> Result<String> {
    client.notation.with_entry("", client.keys, Some(entry))
}

impl SettingsEdit {
    /// Returns true if the file changes.
    pub fn is_change(&self) -> bool {
        self.before.as_deref().unwrap_or_default() != self.after
    }

    /// Returns the lines that differ, with `-` and `+` before them, without secrets.
    pub fn difference(&self) -> String {
        let before: Vec<&str> = self.before.as_deref().unwrap_or_default().lines().collect();
        let after: Vec<&str> = self.after.lines().collect();
        let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
        let first = before.iter().zip(&after).take_while(same).count();
        let most = before.len().min(after.len()) - first;
        let last = before.iter().rev().zip(after.iter().rev()).take(most).take_while(same).count();
        let changed = |lines: &[&str], sign: char| {
            let lines = lines.get(first..lines.len() - last).unwrap_or_default().iter();
            lines.map(|line| format!("{sign} {}\n", self.shown(line))).collect::<String>()
        };
        changed(&before, '-') + &changed(&after, '+')
    }

    /// Returns the shown part of a line. It ends before a secret of ours, and a long line is cut,
    /// because a file in one line has the secrets of all servers.
    fn shown(&self, line: &str) -> String {
        let secret = self.secrets.iter().flat_map(|secret| secret.lines());
        let secret =
            secret.filter(|part| !part.trim().is_empty()).filter_map(|part| line.find(part));
        let names = line.match_indices("DAYSHEET_").filter_map(|(at, _)| {
            let rest = line.get(at..)?;
            let end = rest.find(|c: char| !c.is_ascii_uppercase() && c != '_');
            let name = rest.get(..end.unwrap_or(rest.len()))?;
            is_secret(name).then_some(at + name.len())
        });
        match secret.chain(names).min() {
            Some(at) => format!("{} (not shown)", line.get(..at).unwrap_or_default()),
            None => clip(line.to_owned(), WIDTH).0,
        }
    }
}

/// Shows a change and makes it, after a question unless `yes`. Returns false if the user declined.
fn apply(client: &McpClient, edit: &SettingsEdit, yes: bool) -> Result<bool> {
    let file = edit.file.display();
    if !edit.is_change() {
        say!("{}: nothing to change in {file}", client.name);
        return Ok(true);
    }
    say!("{}: {file}\n{}", client.name, edit.difference().trim_end());
    if !yes && !agreed()? {
        say!("Nothing was changed.");
        return Ok(false);
    }
    match write(edit)? {
        Some(kept) => say!("Written. The file as it was: {}", kept.display()),
        None => say!("Written."),
    }
    Ok(true)
}

/// Asks in the terminal.
fn agreed() -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(Error::argument("there is no terminal to ask in").next("give --yes"));
    }
    eprint!("Write this? [y/N] ");
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.map_err(|error| Error::argument(format!("there is no answer: {error}")))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Writes the changed file in one step, and keeps a copy of the previous one. Returns the copy.
///
/// # Errors
/// [`ErrorKind::Config`] if it cannot be written, or was changed since it was read.
pub fn write(edit: &SettingsEdit) -> Result<Option<PathBuf>> {
    // Settings may be links to files under version control, which stay links.
    let is_link = edit.file.is_symlink();
    let file = match std::fs::canonicalize(&edit.file) {
        Ok(file) => file,
        Err(error) if is_link => return Err(unusable(&edit.file, "leads nowhere", &error)),
        Err(_) => edit.file.clone(),
    };
    let fails = |error: std::io::Error| unusable(&file, "cannot be written", &error);
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(fails)?;
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(fails)?;
    let mut kept = None;
    if edit.before.is_some() {
        let copy = free_copy(&file);
        std::fs::copy(&file, &copy).map_err(fails)?;
        let permissions = std::fs::metadata(&file).map_err(fails)?.permissions();
        // A new file is readable by its owner alone, which a file with a secret stays.
        if edit.secrets.is_empty() {
            new.as_file().set_permissions(permissions).map_err(fails)?;
        }
        kept = Some(copy);
    }
    new.write_all(edit.after.as_bytes()).map_err(fails)?;
    new.as_file().sync_all().map_err(fails)?;
    // As late as possible, because some clients write their settings all the time.
    if std::fs::read_to_string(&file).ok() != edit.before {
        if let Some(copy) = kept {
            std::fs::remove_file(copy).map_err(fails)?;
        }
        let what = format!("{} has changed in the meantime", file.display());
        return Err(Error::new(ErrorKind::Config, what).next("nothing was written; call again"));
    }
    new.persist(&file).map_err(|error| fails(error.error))?;
    Ok(kept)
}

/// Returns a name for the copy of a file that no earlier copy has.
fn free_copy(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default();
    let named = |number: usize| {
        let mut name = name.to_owned();
        name.push(".before-daysheet");
        if number > 1 {
            name.push(format!("-{number}"));
        }
        file.with_file_name(name)
    };
    // More copies than that are not needed: the last one is replaced.
    (1..COPIES).map(named).find(|copy| !copy.exists()).unwrap_or_else(|| named(COPIES))
}

/// Returns the error about a settings file.
fn unusable(file: &Path, what: &str, error: &std::io::Error) -> Error {
    let next = match error.kind() {
        std::io::ErrorKind::InvalidData => "save it as text in UTF-8",
        _ => "allow this user to read and write it",
    };
    Error::new(ErrorKind::Config, format!("{} {what}: {error}", file.display())).next(next)
}

/// Lists the clients that have a settings file or a folder for it, and whether they have the entry.
fn list(machine: &ClientMachine<'_>) -> Result<ExitCode> {
    let mut any = false;
    for client in CLIENTS {
        let Ok(file) = client.file(machine) else {
            continue;
        };
        if !is_found(&file, machine) {
            continue;
        }
        any = true;
        say!("{:<16} {:<14} {}", client.id, state(client, machine), file.display());
    }
    if any {
        say!("\ndaysheet install CLIENT adds Daysheet, and shows the change first.");
    } else {
        say!("No client was found. daysheet install CLIENT knows {}.", client_ids());
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the clients found on this machine that lack the entry.
pub(super) fn clients_without_entry() -> Result<Vec<&'static str>> {
    let var = |name: &str| std::env::var(name).ok();
    let machine = this_machine(&var)?;
    let is_without = |client: &&McpClient| {
        client.file(&machine).is_ok_and(|file| is_found(&file, &machine))
            && state(client, &machine) == "not installed"
    };
    Ok(CLIENTS.iter().filter(is_without).map(|client| client.id).collect())
}

/// Returns true if a client has its settings file, or a folder for it.
fn is_found(file: &Path, machine: &ClientMachine<'_>) -> bool {
    // Folders in the home folder itself say nothing about the client.
    file.exists() || file.parent().is_some_and(|folder| folder.exists() && folder != machine.home)
}

/// Returns whether a client has the entry, in words.
fn state(client: &McpClient, machine: &ClientMachine<'_>) -> &'static str {
    match plan_edit(client, machine, None) {
        Err(_) => "unreadable",
        Ok(edit) if edit.is_change() => "installed",
        Ok(_) => "not installed",
    }
}
