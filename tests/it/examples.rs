//! Runs the examples of the README and of `docs/` as a reader would.
//!
//! In a block of `console`, a line that begins with `$ ` is a line for the shell, and the lines below
//! it are its whole output. The lines of a page run in one state folder, on the day around
//! which the samples are written. A call on the sandbox without `$ ` must succeed.
//! `daysheet install` runs on a machine of its own: without settings of Daysheet, and on Linux, where
//! the paths are.
//! [`picture`] draws the recording in the README from the same program, and pictures from the expected
//! texts of other tests.
//!
//! If `DAYSHEET_ACCEPT` is set, the actual outputs become the expected ones: review the difference.

#![cfg(all(unix, feature = "documents"))]

mod picture;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use daysheet::deeplinks::DeeplinkClient;
use futures_util::{StreamExt as _, stream};
use regex::Regex;
use tempfile::TempDir;

use crate::docs::pages;
use crate::transcripts::shell;

/// Names of outputs and the words of fences differ between state folders; the pages have these.
const OUTPUT: &str = "k7f3q9x2ab";
const FENCE: &str = "x44dnpgv";

static OUTPUTS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("(output_read id=|daysheet://output/)[a-z0-9]{10}").unwrap());
static FENCES: LazyLock<Regex> = LazyLock::new(|| Regex::new("(?m)^<<<\\w+ (\\w+)$").unwrap());

/// Removes the settings of Daysheet, which `install` would write into an entry.
const NEW_MACHINE: &str =
    "unset $(env | sed -n 's/^\\(DAYSHEET_[A-Z_]*\\)=.*/\\1/p'); export HOME=$PWD;";

/// Returns true for a line that edits the settings of a client.
fn is_install(line: &str) -> bool {
    line.starts_with("daysheet install ") || line.starts_with("daysheet uninstall ")
}

/// Returns the whole output of a line for the shell, without its unstable parts.
async fn printed(home: &Path, line: &str) -> String {
    let run = if is_install(line) { format!("{NEW_MACHINE} {line}") } else { line.to_owned() };
    let output = shell::output(home, &run, []).await;
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let text = text.replace(home.to_str().unwrap(), "/home/mira");
    let text = text.replace(env!("CARGO_BIN_EXE_daysheet"), "/usr/local/bin/daysheet");
    let text = OUTPUTS.replace_all(&text, format!("${{1}}{OUTPUT}")).into_owned();
    let words: Vec<String> = FENCES.captures_iter(&text).map(|found| found[1].into()).collect();
    words.iter().fold(text, |text, word| text.replace(word, FENCE))
}

/// Returns a page with the actual outputs of its examples, and their number.
async fn with_outputs(page: &str) -> (String, usize) {
    let home = TempDir::new().unwrap();
    let (mut out, mut run) = (String::new(), 0);
    let (mut is_console, mut is_output) = (false, false);
    for line in page.lines() {
        if line.starts_with("```") {
            is_console = line == "```console" && !is_console;
            is_output = false;
        }
        if is_console && line.starts_with("daysheet call ") && line.contains("--sandbox") {
            let output = shell::output(home.path(), line, []).await;
            assert!(output.status.success(), "{line}: {output:?}");
            run += 1;
        }
        let command = line.strip_prefix("$ ").filter(|_| is_console);
        is_output &= command.is_none();
        if !is_output {
            out += &format!("{line}\n");
        }
        // On other systems, the expected outputs of `install` stay.
        if let Some(command) = command.filter(|line| cfg!(target_os = "linux") || !is_install(line))
        {
            out += &printed(home.path(), command).await;
            is_output = true;
            run += 1;
        }
    }
    (out, run)
}

/// Compares a file with its actual text, or writes it.
fn compare(path: &Path, actual: &str) -> Option<String> {
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected == actual {
        return None;
    }
    if std::env::var_os("DAYSHEET_ACCEPT").is_some() {
        fs::write(path, actual).unwrap();
        return None;
    }
    let lines = expected.lines().zip(actual.lines());
    let first = lines.enumerate().find(|(_, (expected, actual))| expected != actual);
    Some(format!("{}: {first:?}", path.display()))
}

#[tokio::test]
async fn examples_of_the_docs_are_what_the_program_prints() {
    let checked = stream::iter(pages()).map(async |path| {
        let (actual, run) = with_outputs(&fs::read_to_string(&path).unwrap()).await;
        (compare(&path, &actual), run)
    });
    let checked: Vec<(Option<String>, usize)> = checked.buffered(4).collect().await;
    let run: usize = checked.iter().map(|(_, run)| run).sum();
    let wrong: Vec<String> = checked.into_iter().filter_map(|(wrong, _)| wrong).collect();
    assert_eq!(wrong, Vec::<String>::new());
    assert!(run >= 20, "only {run} examples were run");
}

#[tokio::test]
async fn recording_shows_what_the_program_prints() {
    let home = TempDir::new().unwrap();
    let mut scenes = Vec::new();
    for line in picture::SCENES {
        scenes.push((*line, printed(home.path(), line).await));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/images/demo.svg");
    assert_eq!(compare(&path, &picture::recording(&scenes)), None);
}

/// Unstable parts of expected texts, each with a sample value.
const SAMPLES: &[(&str, &str)] = &[
    ("[DIR]/state", "/home/mira/.local/share/daysheet"),
    ("[DIR]/new", "/home/mira/.local/share/daysheet"),
    ("[KEY]", "b7c4"),
    ("[PAGE]", "https://…"),
    ("[PORT]", "40271"),
    ("[VERSION]", env!("CARGO_PKG_VERSION")),
];

/// Pictures of the expected texts of other tests: the file, the texts and the heading.
const PICTURES: &[(&str, &str, &str)] = &[
    ("setup-google", "setup.txt", "Google, by its pages"),
    ("setup-microsoft", "setup.txt", "Microsoft, by its pages"),
    ("doctor", "doctor.txt", "case: everything works"),
    ("doctor-new", "doctor.txt", "case: a new machine"),
];

/// Returns the command below a heading of expected texts, and its output. `setup.txt` names no
/// commands.
fn expected(texts: &str, heading: &str) -> (String, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(texts);
    let text = fs::read_to_string(path).unwrap();
    let (_, part) = text.split_once(&format!("# {heading}\n")).unwrap();
    let lines = || part.lines().take_while(|line| !line.is_empty() && !line.starts_with("= "));
    let command = lines().find_map(|line| line.strip_prefix("$ ")).unwrap_or("daysheet setup");
    let output = lines().skip_while(|line| line.starts_with("@ ") || line.starts_with("$ "));
    let output = output.map(|line| format!("{line}\n")).collect::<String>();
    let output =
        SAMPLES.iter().fold(output, |text, (unstable, sample)| text.replace(unstable, sample));
    (command.to_owned(), output)
}

#[tokio::test]
async fn pictures_show_what_the_program_prints() {
    let images = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/images");
    let mut wrong = Vec::new();
    let mut check = |name: &str, picture: &str| {
        assert!(picture.len() < 30_000, "{name}.svg has {} bytes", picture.len());
        wrong.extend(compare(&images.join(format!("{name}.svg")), picture));
    };
    for (name, texts, heading) in PICTURES {
        let (command, output) = expected(texts, heading);
        check(name, &picture::still(&command, &output));
    }
    let home = TempDir::new().unwrap();
    let others = "{\n  \"mcpServers\": {\n    \"notes\": {\"command\": \"notes\"}\n  }\n}\n";
    fs::write(home.path().join(".claude.json"), others).unwrap();
    let install = "daysheet install claude-code --access send --yes";
    check("install", &picture::still(install, &printed(home.path(), install).await));
    for client in DeeplinkClient::ALL {
        let name = format!("add-{}", client.id());
        check(&name, &picture::badge(&format!("Add to {}", client.name())));
    }
    assert_eq!(wrong, Vec::<String>::new());
}
