//! Transcripts: calls and their complete answers as a model sees them. The files are in
//! `tests/transcripts`.
//!
//! The first line of a file is its subject. A transcript begins with `# ` and its name, followed by
//! its head and its calls:
//!
//! - `@ name=value` is a setting, such as `@ DAYSHEET_ACCESS=read`; `@ accounts=google work` are
//!   the accounts (without this line, one at Google; `usual` are the accounts of `--sandbox`), and `@ accounts=each` runs the transcript at Google and at Microsoft: lines that
//!   differ begin with `g` and `m`; `@ faults=…` are faults as for `daysheet serve --sandbox`.
//! - `< ` is a line of a message, and `< --` begins the next one. The messages are the mailbox of each
//!   account, and the newest has been listed before, with its files, as `m1`. `< swap: a => b`
//!   replaces a value in the services' answers over the samples.
//! - `> ` is a call. `| ` are the lines of its answer, or `! ` of its error. Blocks are separated by an
//!   empty line. `WORD` replaces a fence's word, and `OUTPUT` the id of the last output.
//!
//! If `DAYSHEET_ACCEPT` is set, the actual answers become the expected ones: review the difference.

#![cfg(feature = "documents")]

mod mailbox;

use std::path::{Path, PathBuf};

use daysheet::cli::client::ToolAnswer;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet::config::Config;
use daysheet_sandbox::{AnswerAlteration, FaultRates};
use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::{Value, json};
use tempfile::TempDir;

use self::mailbox::unescaped;
use crate::common::clock;
use crate::support::{ME, Session, config};

/// The address of the sample mailbox for work.
const WORK: &str = "mira@lindqvist-lamps.example";

/// A word of strangers that no line of ours may contain.
const THEIRS: &str = "evil";

/// Sessions open at the same time.
const AT_ONCE: usize = 4;

/// A transcript of a file.
struct Transcript<'t> {
    name: &'t str,
    /// The lines before its first call.
    head: Vec<&'t str>,
    /// The calls, each with its answer.
    calls: Vec<(&'t str, Vec<String>)>,
}

impl<'t> Transcript<'t> {
    fn new(text: &'t str) -> Self {
        let mut lines = text.lines().filter(|line| !line.is_empty());
        let mut all = Self { name: lines.next().unwrap(), head: Vec::new(), calls: Vec::new() };
        for line in lines {
            match (line.strip_prefix("> "), all.calls.last_mut()) {
                (Some(call), _) => all.calls.push((call, Vec::new())),
                (None, Some((_, answer))) => answer.push(line.to_owned()),
                (None, None) => {
                    let is_known = ["< ", "@ accounts=", "@ faults=", "@ DAYSHEET_"]
                        .iter()
                        .any(|sign| line.starts_with(sign));
                    assert!(is_known, "{}: an unknown line: {line}", all.name);
                    all.head.push(line);
                }
            }
        }
        assert!(!all.calls.is_empty(), "{}: there is no call", all.name);
        all
    }

    fn head_lines(&self, sign: &str) -> impl Iterator<Item = &'t str> {
        self.head.iter().filter_map(move |line| line.strip_prefix(sign))
    }

    fn setting(&self, name: &str) -> Option<&'t str> {
        self.head_lines("@ ").find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
    }

    /// Returns the text of the transcript in its file, with other answers.
    fn written(&self, answers: &[Vec<String>]) -> String {
        let mut out = format!("\n# {}\n", self.name);
        for line in &self.head {
            out += &format!("{line}\n");
        }
        for ((call, _), answer) in self.calls.iter().zip(answers) {
            out += &format!("> {call}\n{}\n", answer.join("\n"));
        }
        out
    }
}

/// Accounts, by provider and address; `None` for the accounts of `--sandbox`.
type Accounts = Option<&'static [(&'static str, &'static str)]>;

/// Returns the accounts of each run of a transcript.
fn runs(transcript: &Transcript<'_>) -> Vec<Accounts> {
    match transcript.setting("accounts") {
        None => vec![Some(&[("google", ME)])],
        Some("google work") => vec![Some(&[("google", ME), ("microsoft", WORK)])],
        Some("each") => vec![Some(&[("google", ME)]), Some(&[("microsoft", ME)])],
        Some("usual") => vec![None],
        Some(other) => panic!("{}: unknown accounts {other}", transcript.name),
    }
}

/// Starts a session of a transcript, over the samples or its own mailbox.
async fn session(transcript: &Transcript<'_>, accounts: Accounts) -> Session {
    let mail = TempDir::new().unwrap();
    let lines: Vec<&str> = transcript.head_lines("< ").collect();
    let mut has_mail = false;
    for (_, owner) in accounts.unwrap_or_default() {
        for (number, message) in lines.split(|line| *line == "--").enumerate() {
            has_mail |= mailbox::write(&mail.path().join(owner), number, message);
        }
    }
    let who = match accounts {
        // Values of the services are replaced in all of the sample accounts.
        Some(accounts) if lines.is_empty() || has_mail => SandboxUser::These(accounts),
        _ => SandboxUser::Usual,
    };
    let faults: FaultRates = transcript.setting("faults").unwrap_or_default().parse().unwrap();
    let settings: Vec<(&str, &str)> = transcript
        .head_lines("@ ")
        .filter(|line| line.starts_with("DAYSHEET_"))
        .map(|line| line.split_once('=').unwrap())
        .collect();
    let home = TempDir::new().unwrap();
    let config = Config { clock: clock::written(), ..config(home.path(), &settings) };
    let folder = has_mail.then(|| mail.path());
    let mut session = Session::start_with(config, home, folder, faults, who).await;
    if !lines.is_empty() {
        session.ok("mail_search", json!({"limit": 1})).await;
    }
    if has_mail {
        session.ok("mail_attachment", json!({"ids": "m1"})).await;
    }
    let swaps: Vec<(String, Value)> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("swap: ")?.split_once(" => "))
        .map(|(old, new)| (unescaped(old), unescaped(new).into()))
        .collect();
    if !swaps.is_empty() {
        session.sandbox.set_alter(Some(AnswerAlteration::new(move |answer| {
            crate::strangers::fields::visit(answer, "", &mut |_, value| {
                if let Some((_, new)) = swaps.iter().find(|(old, _)| *value == old.as_str()) {
                    *value = new.clone();
                }
            });
        })));
    }
    session
}

/// Returns the answers to the calls of a transcript, line by line.
async fn answers(transcript: &Transcript<'_>) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = Vec::new();
    for accounts in runs(transcript) {
        for (at, answer) in answers_at(transcript, accounts).await.into_iter().enumerate() {
            match all.get_mut(at) {
                None => all.push(answer),
                Some(google) => *google = merged(google, &answer),
            }
        }
    }
    all
}

/// Returns the answers of Google and of Microsoft as one: the lines that both have, in order, and
/// between them the other lines with marks.
fn merged(google: &[String], microsoft: &[String]) -> Vec<String> {
    // For each pair of positions, the length of the longest common subsequence from there on.
    let mut common = vec![vec![0; microsoft.len() + 1]; google.len() + 1];
    for (one, line) in google.iter().enumerate().rev() {
        for (other, same) in microsoft.iter().enumerate().rev() {
            common[one][other] = if line == same {
                common[one + 1][other + 1] + 1
            } else {
                common[one + 1][other].max(common[one][other + 1])
            };
        }
    }
    let (mut one, mut other, mut out) = (0, 0, Vec::new());
    while one < google.len() || other < microsoft.len() {
        if one < google.len() && other < microsoft.len() && google[one] == microsoft[other] {
            out.push(google[one].clone());
            (one, other) = (one + 1, other + 1);
        } else if other == microsoft.len()
            || one < google.len() && common[one + 1][other] >= common[one][other + 1]
        {
            out.push(format!("g{}", google[one]));
            one += 1;
        } else {
            out.push(format!("m{}", microsoft[other]));
            other += 1;
        }
    }
    out
}

/// Returns the answers of one run.
async fn answers_at(transcript: &Transcript<'_>, accounts: Accounts) -> Vec<Vec<String>> {
    let mut session = session(transcript, accounts).await;
    let mut all = Vec::new();
    let mut output = String::new();
    for (call, _) in &transcript.calls {
        let call = call.replace("OUTPUT", &output);
        let (tool, arguments) = call.split_once(' ').unwrap();
        let arguments = serde_json::from_str(arguments)
            .unwrap_or_else(|error| panic!("{}: {call}: {error}", transcript.name));
        let answer = session.call(tool, arguments).await;
        let mut ours = answer.blocks.iter().filter(|block| !block.starts_with("<<<"));
        let known = ours.find_map(|block| {
            let (_, rest) = block.split_once("output_read id=")?;
            rest.get(..rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len()))
        });
        output = known.map_or(output, str::to_owned);
        let lines = shown(&answer, tool == "output_read").into_iter();
        all.push(match output.as_str() {
            "" => lines.collect(),
            id => lines.map(|line| line.replace(id, "OUTPUT")).collect(),
        });
    }
    all
}

/// Returns an answer, which may be an output, as lines, after checking that no untrusted text passes
/// for ours.
fn shown(answer: &ToolAnswer, is_output: bool) -> Vec<String> {
    let sign = if answer.is_error { "!" } else { "|" };
    let mut all = Vec::new();
    for (at, block) in answer.blocks.iter().enumerate() {
        if at > 0 {
            all.push(sign.to_owned());
        }
        let fence = block.strip_prefix("<<<").and_then(|rest| rest.lines().next()?.split_once(' '));
        let word = fence.map(|(_, word)| word);
        if let Some(word) = word {
            assert!(block.ends_with(&format!("\n{word}>>>")), "{block}");
            assert_eq!(block.matches(&format!("{word}>>>")).count(), 1, "{block}");
        }
        // The text of an output has fences of its own.
        let inner = block.lines().filter_map(|line| line.strip_prefix("<<<")?.split_once(' '));
        let inner = inner.map(|(_, word)| word).filter(|_| is_output);
        let words: Vec<&str> = word.into_iter().chain(inner).collect();
        for line in block.lines() {
            // Rows are indented; scalars and notes quote untrusted text.
            let ours: String = line.split('`').step_by(2).collect();
            let is_row = at == 0 && (line.starts_with("  ") || line.starts_with('{'));
            assert!(word.is_some() || is_row || !ours.contains(THEIRS), "{line}\n{answer:#?}");
            let line = words.iter().fold(line.to_owned(), |line, word| line.replace(word, "WORD"));
            all.push(format!("{sign} {line}").trim_end().to_owned());
        }
    }
    all
}

/// Returns the files with transcripts.
fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[tokio::test]
async fn answers_are_those_of_the_transcripts() {
    let is_accepting = std::env::var_os("DAYSHEET_ACCEPT").is_some();
    let mut wrong = Vec::new();
    for file in files() {
        let text = std::fs::read_to_string(&file).unwrap();
        let (about, rest) = text.split_once("\n# ").unwrap();
        let transcripts: Vec<Transcript<'_>> = rest.split("\n# ").map(Transcript::new).collect();
        let answers: Vec<Vec<Vec<String>>> =
            stream::iter(&transcripts).map(answers).buffered(AT_ONCE).collect().await;
        let mut now = format!("{}\n", about.trim_end());
        for (transcript, answers) in transcripts.iter().zip(&answers) {
            now += &transcript.written(answers);
            let calls = transcript.calls.iter().zip(answers);
            let wrong_calls = calls.filter(|((_, expected), got)| expected != *got);
            wrong.extend(wrong_calls.map(|((call, expected), got)| {
                let (expected, got) = (expected.join("\n"), got.join("\n"));
                let name = format!("{}: {}", file.display(), transcript.name);
                format!("{name}\n> {call}\nexpected:\n{expected}\ngot:\n{got}")
            }));
        }
        if is_accepting {
            std::fs::write(&file, now).unwrap();
        }
    }
    assert!(is_accepting || wrong.is_empty(), "{}", wrong.join("\n\n"));
}
