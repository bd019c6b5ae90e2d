//! `daysheet install` and `uninstall`: the settings files of clients before and after, as text.
//!
//! A case of `tests/fixtures/install.txt` begins with `# case: ` and its name. `@ ` precedes the client,
//! its platform and the call: `url=URL`, `NAME=VALUE` for a variable of Daysheet, `NAME=` to remove
//! one, and other words as arguments of `serve`. `$ ` precedes a variable of the machine. The parts
//! of a case are `before` (if the file exists), `after` and `removed`, or `refused` with the error. If
//! `DAYSHEET_ACCEPT` is set, the actual texts become the expected ones.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use daysheet::cli::install::clients::{CLIENTS, ClientMachine, McpClient, Platform};
use daysheet::cli::install::{SettingsEdit, plan_edit, snippet, write};
use daysheet::deeplinks::{DeeplinkClient, ServerStart};
use serde_json::{Value, json};
use tempfile::TempDir;
use url::Url;

const CASES: &str = "tests/fixtures/install.txt";
const PLATFORMS: [(&str, Platform); 3] =
    [("linux", Platform::Linux), ("macos", Platform::MacOs), ("windows", Platform::Windows)];

/// Returns the start of the server by a program, or by its URL.
fn start(words: &[&str]) -> ServerStart {
    if let Some(url) = words.iter().find_map(|word| word.strip_prefix("url=")) {
        return ServerStart::Url(url.to_owned());
    }
    let (env, args): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.contains('='));
    let env = env.iter().map(|pair| pair.split_once('=').unwrap());
    let value = |value: &str| Some(value.to_owned()).filter(|value| !value.is_empty());
    ServerStart::Program {
        program: "/opt/daysheet/bin/daysheet".to_owned(),
        args: std::iter::once("serve").chain(args).map(str::to_owned).collect(),
        env: env.map(|(name, text)| (name.to_owned(), value(text))).collect(),
    }
}

/// A case: its name, its first lines, and its parts.
struct InstallCase<'t> {
    head: Vec<&'t str>,
    parts: BTreeMap<&'t str, String>,
}

impl<'t> InstallCase<'t> {
    fn new(text: &'t str) -> Self {
        let mut case = Self { head: Vec::new(), parts: BTreeMap::new() };
        let mut part = None;
        for line in text.lines() {
            match (line.strip_prefix("--- "), part) {
                (Some(name), _) => {
                    part = Some(name);
                    case.parts.insert(name, String::new());
                }
                (None, Some(name)) => *case.parts.get_mut(name).unwrap() += &format!("{line}\n"),
                (None, None) => case.head.push(line),
            }
        }
        case
    }

    /// Carries the case out, and returns it with its actual texts.
    fn actual(&self) -> String {
        let home = TempDir::new().unwrap();
        let shown = |path: &Path| {
            path.display().to_string().replace(&home.path().display().to_string(), "[HOME]")
        };
        let vars: BTreeMap<&str, String> = self
            .head
            .iter()
            .filter_map(|line| line.strip_prefix("$ ")?.split_once('='))
            .map(|(name, value)| (name, value.replace("[HOME]", home.path().to_str().unwrap())))
            .collect();
        let var = |name: &str| vars.get(name).cloned();
        let call = self.head.iter().find_map(|line| line.strip_prefix("@ ")).unwrap();
        let words: Vec<&str> = call.split(' ').collect();
        let client = McpClient::find(words[0]).unwrap();
        let platform = PLATFORMS.iter().find(|(name, _)| *name == words[1]).unwrap().1;
        let machine = ClientMachine { platform, home: home.path().to_owned(), var: &var };
        let file = client.file(&machine).unwrap();
        let before = self.parts.get("before");
        if let Some(before) = before {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, before).unwrap();
        }
        let mut out = self.head.join("\n") + "\n";
        if let Some(before) = before {
            out += &format!("--- before\n{before}");
        }
        let entry = client.entry(&start(&words[2..]));
        let added = entry.and_then(|entry| Ok((plan_edit(client, &machine, Some(&entry))?, entry)));
        let (edit, entry) = match added {
            Ok(added) => added,
            Err(error) => {
                let error = error.to_string().replace(&home.path().display().to_string(), "[HOME]");
                return out + &format!("--- refused\n{error}\n");
            }
        };
        out += &format!("--- after {}\n{}", shown(&edit.file), edit.after);
        let kept = write(&edit).unwrap();
        assert_eq!(kept.is_some(), before.is_some());
        if let (Some(kept), Some(before)) = (kept, before) {
            assert_eq!(&std::fs::read_to_string(kept).unwrap(), before);
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), edit.after);
        let again = plan_edit(client, &machine, Some(&entry)).unwrap();
        assert_eq!(again.after, edit.after, "a second run changes the file");
        let removal = plan_edit(client, &machine, None).unwrap();
        out + &format!("--- removed\n{}", removal.after)
    }
}

/// Compares a text with the expected one, or accepts it.
fn compare(path: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("DAYSHEET_ACCEPT").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    assert_eq!(actual, std::fs::read_to_string(&path).unwrap());
}

#[test]
fn settings_files_get_and_lose_the_entry() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(CASES);
    let text = std::fs::read_to_string(path).unwrap();
    // A line of a settings file may begin with `# `, too, but none begins with `# case: `.
    let mut cases = text.split("# case: ");
    let mut actual = cases.next().unwrap().to_owned();
    for case in cases {
        actual += &format!("# case: {}\n", InstallCase::new(case).actual());
    }
    compare(CASES, &format!("{}\n", actual.trim_end()));
}

/// The settings file of each client on each platform, and its text with the entry alone.
#[test]
fn files_and_entries_of_every_client() {
    let mut out = String::new();
    for client in CLIENTS {
        out += &format!("# {}, {}\n", client.id, client.name);
        for (name, platform) in PLATFORMS {
            let machine = ClientMachine { platform, home: "/home/mira".into(), var: &|_| None };
            let file = client.file(&machine).unwrap().display().to_string();
            out += &format!("{name}: {file}\n");
        }
        let calls: [&[&str]; 2] =
            [&["--access", "send", "DAYSHEET_HOME=/data"], &["url=http://127.0.0.1:8750/mcp"]];
        for words in calls {
            let start = start(words);
            match client.entry(&start) {
                Ok(entry) => out += &snippet(client, &entry).unwrap(),
                Err(error) => out += &format!("! {error}\n"),
            }
            if let Some(linked) = DeeplinkClient::find(client.id) {
                out += &format!("{}\n", linked.link(&start));
            }
        }
        out += "\n";
    }
    compare("tests/fixtures/install_clients.txt", &out);
}

/// Returns the entry that a link adds, decoded as the clients do.
fn linked_entry(link: &str) -> Value {
    let url = Url::parse(link).unwrap();
    let values = |name: &str| {
        let pairs = url.query_pairs().filter(|(key, _)| key == name);
        pairs.map(|(_, value)| value.into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(values("name"), ["daysheet"], "{link}");
    if url.scheme() == "goose" {
        return json!({"command": values("cmd").concat(), "args": values("arg")});
    }
    let config = values("config").concat();
    let text = STANDARD.decode(&config).unwrap_or_else(|_| config.into_bytes());
    serde_json::from_slice(&text).unwrap()
}

/// GitHub drops links in schemes of programs, so the README has those over the clients' pages. Goose
/// has no such page: its section in the guide has its link.
#[test]
fn links_of_the_pages_add_the_program_by_its_name() {
    let read = |path| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
    let (readme, guide) = (read("README.md").unwrap(), read("docs/guide/clients.md").unwrap());
    let (_, badges) = readme.split_once("[![Add to").unwrap();
    let (badges, _) = badges.split_once("\n\n").unwrap();
    let links: Vec<&str> = badges
        .lines()
        .map(|badge| badge.rsplit_once('(').unwrap().1.trim_end_matches(')'))
        .map(|link| match link.strip_prefix("docs/guide/clients.md#") {
            Some(client) => {
                guide.lines().find(|line| line.starts_with(&format!("{client}:"))).unwrap()
            }
            None => link,
        })
        .collect();
    let start = ServerStart::Program {
        program: "daysheet".to_owned(),
        args: vec!["serve".to_owned()],
        env: Vec::new(),
    };
    for (link, client) in links.iter().zip(DeeplinkClient::ALL) {
        let mut entry = linked_entry(link);
        if client.id().starts_with("vscode") {
            assert_eq!(entry.as_object_mut().unwrap().remove("type"), Some(json!("stdio")));
        }
        assert_eq!(entry, json!({"command": "daysheet", "args": ["serve"]}), "{link}");
    }
    let made = DeeplinkClient::ALL
        .iter()
        .map(|client| client.web_link(&start).unwrap_or_else(|| client.link(&start)));
    assert_eq!(links, made.collect::<Vec<_>>());
}

#[test]
fn ends_of_lines_stay() {
    let client = McpClient::find("cursor").unwrap();
    let entry = client.entry(&start(&["url=http://127.0.0.1:8750/mcp"])).unwrap();
    let before = "{\r\n  \"mcpServers\": {}\r\n}\r\n";
    let after = "{\r\n  \"mcpServers\": {\r\n    \"daysheet\": {\r\n      \
                 \"url\": \"http://127.0.0.1:8750/mcp\"\r\n    }\r\n  }\r\n}\r\n";
    assert_eq!(client.notation.with_entry(before, client.keys, Some(&entry)).unwrap(), after);
    let before = "[mcp_servers.a]\r\nurl = \"b\"\r\n";
    let client = McpClient::find("codex").unwrap();
    let after = "[mcp_servers.a]\r\nurl = \"b\"\r\n\r\n[mcp_servers.daysheet]\r\n\
                 url = \"http://127.0.0.1:8750/mcp\"\r\n";
    assert_eq!(client.notation.with_entry(before, client.keys, Some(&entry)).unwrap(), after);
}

#[test]
fn changes_are_shown_without_secrets() {
    let long = format!("\"x\": \"{}\"", "y".repeat(200));
    let edit = SettingsEdit {
        file: "x".into(),
        before: Some("{\n  \"a\": 1\n}\n".to_owned()),
        after: format!(
            "{{\n  \"a\": 1,\n  \"DAYSHEET_GOOGLE_CLIENT_SECRET\": \"hunter2\",\n  \"b\": \"first\",\n  \
             second\n{long}\n}}\n"
        ),
        secrets: vec!["first\nsecond".to_owned()],
    };
    let clipped = format!("+ \"x\": \"{}…", "y".repeat(153));
    let shown = "-   \"a\": 1\n+   \"a\": 1,\n+   \"DAYSHEET_GOOGLE_CLIENT_SECRET (not shown)\n+   \
                 \"b\": \" (not shown)\n+    (not shown)\n";
    assert_eq!(edit.difference(), format!("{shown}{clipped}\n"));
}

/// A file that changes between the question and the answer is not written.
#[test]
fn file_that_was_changed_meanwhile_stays() {
    let home = TempDir::new().unwrap();
    let file = home.path().join("settings.json");
    std::fs::write(&file, "{\"theirs\": 1}").unwrap();
    let edit = SettingsEdit {
        file: file.clone(),
        before: Some("{}".to_owned()),
        after: "{\"ours\": 1}".to_owned(),
        secrets: Vec::new(),
    };
    let error = write(&edit).unwrap_err().to_string();
    let shown = file.canonicalize().unwrap();
    assert_eq!(
        error,
        format!("{} has changed in the meantime: nothing was written; call again", shown.display())
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\"theirs\": 1}");
}

/// Earlier copies stay, links stay links, and a file with a secret is readable by its owner alone.
#[cfg(unix)]
#[test]
fn files_are_replaced_with_care() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let home = TempDir::new().unwrap();
    let (file, link) = (home.path().join("dotfiles.json"), home.path().join("settings.json"));
    symlink(&file, &link).unwrap();
    let mut edit = SettingsEdit {
        file: link.clone(),
        before: None,
        after: "1".to_owned(),
        secrets: Vec::new(),
    };
    let error = write(&edit).unwrap_err().to_string();
    assert_eq!(error.split(": ").next(), Some(&*format!("{} leads nowhere", link.display())));
    std::fs::write(&file, "0").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    for (before, after, secret, mode) in
        [("0", "1", None, 0o644), ("1", "2", Some("hunter2"), 0o600), ("2", "3", None, 0o600)]
    {
        edit.before = Some(before.to_owned());
        edit.after = after.to_owned();
        edit.secrets = secret.map(str::to_owned).into_iter().collect();
        let copy = write(&edit).unwrap().unwrap();
        assert_eq!(std::fs::read_to_string(copy).unwrap(), before);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), after);
        assert!(link.is_symlink());
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, mode);
    }
    let mut names: Vec<_> = std::fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let copies = ["", "-2", "-3"].map(|number| format!("dotfiles.json.before-daysheet{number}"));
    let mut expected = vec!["dotfiles.json".to_owned()];
    expected.extend(copies);
    expected.push("settings.json".to_owned());
    assert_eq!(names, expected);
}
