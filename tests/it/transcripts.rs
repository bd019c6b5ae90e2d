//! Transcripts: calls and their complete answers as a model sees them. The files are in
//! `tests/transcripts`.
//!
//! The first line of a file is its subject. A transcript begins with `# ` and its name, followed by
//! its head and its steps. The head:
//!
//! - `@ DAYSHEET_ACCESS=read` is a setting of the program.
//! - `@ accounts=google mira@example.com, microsoft bo@example.com` are the accounts. Without this
//!   line there is one at Google; `usual` are the accounts of `--sandbox`; `each` runs the transcript
//!   at Google and at Microsoft: lines that differ begin with `g` and `m`.
//! - `@ now=2036-02-05T09:00+01:00` is the time at the start, else the time of the samples.
//! - `@ client=yes` lets the client ask the user, who always agrees; `no` always declines, and
//!   `silent` never answers.
//! - `@ faults=…` are faults as for `daysheet serve --sandbox`.
//! - `< ` is a line of a message, and `< --` begins the next one. The messages are the mailbox of each
//!   account, and the newest has been listed before, with its files, as `m1`. `< swap: a => b`
//!   replaces a value in the services' answers, `< add: Kickoff => {"guestsCanModify": true}` adds
//!   members to the objects with this title or name.
//! - `+ bo@example.com/Work.ics | SUMMARY:Standup | DTSTART:20360205T090000 | DURATION:PT15M` is an
//!   event of a calendar. Without properties, the calendar is empty.
//!
//! A transcript without messages and events uses the sample mailboxes; one with events has a mailbox
//! with one message for each account. The steps:
//!
//! - `> ` is a call, and `>> ` one of another installation for the same accounts, with its own
//!   handles. `| ` are the lines of its answer, or `! ` of its error, and `? ` a question to the
//!   user. Blocks are separated by an empty line. `WORD` replaces a fence's word, and `OUTPUT` the
//!   id of the last output.
//! - `~ ` is a step outside of the program; see [`Stage::step`](stage::Stage::step).
//!
//! Instead of calls, a transcript may have steps of one of these kinds:
//!
//! - `$ ` is a line for the shell, in the state folder: `| ` is its stdout, `! ` its stderr, and `= `
//!   its exit code unless that is 0. `[HOME]` is the state folder and `$ROOT` the one of the sources.
//! - `% ` is a sign-in that its provider refuses; see [`refusals`](crate::sign_in::refusals).
//!
//! `@ build=postgres` runs a transcript only in builds with this feature, `@ build=!postgres` only
//! in the others, likewise `telemetry`, and `@ build=linux` on Linux. Elsewhere its answers count as expected.
//!
//! If `DAYSHEET_ACCEPT` is set, the actual answers become the expected ones: review the difference.

#![cfg(feature = "documents")]

mod mailbox;
pub mod shell;
mod stage;

use std::path::{Path, PathBuf};

use daysheet::cli::client::ToolAnswer;
use futures_util::StreamExt as _;
use futures_util::stream;

use self::stage::{Accounts, Stage};
use crate::sign_in::refusals;
use crate::support::ME;

/// A word that only strangers write.
const THEIRS: &str = "evil";

/// The beginnings of the lines of a head.
const HEAD: &[&str] =
    &["< ", "+ ", "@ accounts=", "@ now=", "@ client=", "@ faults=", "@ build=", "@ DAYSHEET_"];

/// The beginnings of steps.
const STEPS: &[&str] = &["> ", ">> ", "~ ", "$ ", "% "];

/// Sessions open at the same time.
const AT_ONCE: usize = 4;

/// A transcript of a file.
struct Transcript<'t> {
    name: &'t str,
    /// The lines before its first step.
    head: Vec<&'t str>,
    /// The steps with their signs, each with its answer.
    steps: Vec<(&'t str, Vec<String>)>,
}

impl<'t> Transcript<'t> {
    fn new(text: &'t str) -> Self {
        let mut lines = text.lines().filter(|line| !line.is_empty());
        let mut all = Self { name: lines.next().unwrap(), head: Vec::new(), steps: Vec::new() };
        for line in lines {
            let is_step = STEPS.iter().any(|sign| line.starts_with(sign));
            match all.steps.last_mut() {
                _ if is_step => all.steps.push((line, Vec::new())),
                Some((_, answer)) => {
                    let shown = line.strip_prefix(['g', 'm']).unwrap_or(line);
                    let is_answer = shown.starts_with(['|', '!', '?', '=']);
                    assert!(is_answer, "{}: an unknown line: {line}", all.name);
                    answer.push(line.to_owned());
                }
                None => {
                    let is_known = HEAD.iter().any(|sign| line.starts_with(sign));
                    assert!(is_known, "{}: an unknown line: {line}", all.name);
                    all.head.push(line);
                }
            }
        }
        assert!(!all.steps.is_empty(), "{}: there is no call", all.name);
        all
    }

    fn head_lines(&self, sign: &str) -> impl Iterator<Item = &'t str> {
        self.head.iter().filter_map(move |line| line.strip_prefix(sign))
    }

    fn setting(&self, name: &str) -> Option<&'t str> {
        self.head_lines("@ ").find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
    }

    /// Returns true if the transcript can run in this build.
    fn is_for_this_build(&self) -> bool {
        let (postgres, telemetry) = (cfg!(feature = "postgres"), cfg!(feature = "telemetry"));
        let is_meant = self.setting("build").is_none_or(|build| match build {
            "postgres" => postgres,
            "!postgres" => !postgres,
            "telemetry" => telemetry,
            "!telemetry" => !telemetry,
            "linux" => cfg!(target_os = "linux"),
            _ => panic!("{}: an unknown build: {build}", self.name),
        });
        is_meant && (cfg!(unix) || !self.steps[0].0.starts_with("$ "))
    }

    /// Returns the text of the transcript in its file, with other answers.
    fn written(&self, answers: &[Vec<String>]) -> String {
        let mut out = format!("\n# {}\n", self.name);
        for line in &self.head {
            out += &format!("{line}\n");
        }
        for ((step, _), answer) in self.steps.iter().zip(answers) {
            out += &format!("{step}\n");
            for line in answer {
                out += &format!("{line}\n");
            }
        }
        out
    }
}

/// Returns the accounts of each run of a transcript.
fn runs(transcript: &Transcript<'_>) -> Vec<Accounts> {
    match transcript.setting("accounts") {
        None => vec![Some(vec![("google", ME)])],
        Some("each") => vec![Some(vec![("google", ME)]), Some(vec![("microsoft", ME)])],
        Some("usual") => vec![None],
        Some(list) => {
            // The sandbox takes accounts that live as long as the program.
            let pair = |account: &str| account.to_owned().leak().split_once(' ').unwrap();
            vec![Some(list.split(", ").map(pair).collect())]
        }
    }
}

/// Returns the answers to the steps of a transcript, line by line.
async fn answers(transcript: &Transcript<'_>) -> Vec<Vec<String>> {
    if !transcript.is_for_this_build() {
        return transcript.steps.iter().map(|(_, answer)| answer.clone()).collect();
    }
    let steps = transcript.steps.iter().map(|(step, _)| &step[2..]);
    match &transcript.steps[0].0[..2] {
        "$ " => return shell::answers(steps, transcript).await,
        "% " => return refusals::answers(steps).await,
        _ => {}
    }
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
    let mut stage = Stage::new(transcript, accounts).await;
    let mut all = Vec::new();
    let mut output = String::new();
    for (step, _) in &transcript.steps {
        let step = step.replace("OUTPUT", &output);
        let (sign, step) = step.split_once(' ').unwrap();
        if sign == "~" {
            all.push(stage.step(step));
            continue;
        }
        let (tool, arguments) = step.split_once(' ').unwrap();
        let arguments = serde_json::from_str(arguments)
            .unwrap_or_else(|error| panic!("{}: {step}: {error}", transcript.name));
        let answer = match sign {
            ">" => stage.call(tool, arguments).await,
            _ => stage.call_elsewhere(tool, arguments).await,
        };
        let mut ours = answer.blocks.iter().filter(|block| !block.starts_with("<<<"));
        let known = ours.find_map(|block| {
            let (_, rest) = block.split_once("output_read id=")?;
            rest.get(..rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len()))
        });
        output = known.map_or(output, str::to_owned);
        let questions = stage.questions().into_iter();
        let lines = questions.chain(shown(&answer, tool == "output_read"));
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

/// Returns the folder of the transcripts.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")
}

/// Compares the transcripts of a file with the actual answers.
async fn check(name: &str) {
    let file = folder().join(name).with_extension("txt");
    let is_accepting = std::env::var_os("DAYSHEET_ACCEPT").is_some();
    let text = std::fs::read_to_string(&file).unwrap();
    let (about, rest) = text.split_once("\n# ").unwrap();
    let transcripts: Vec<Transcript<'_>> = rest.split("\n# ").map(Transcript::new).collect();
    let answers: Vec<Vec<Vec<String>>> =
        stream::iter(&transcripts).map(answers).buffered(AT_ONCE).collect().await;
    let mut now = format!("{}\n", about.trim_end());
    let mut wrong = Vec::new();
    for (transcript, answers) in transcripts.iter().zip(&answers) {
        now += &transcript.written(answers);
        let steps = transcript.steps.iter().zip(answers);
        let wrong_steps = steps.filter(|((_, expected), got)| expected != *got);
        wrong.extend(wrong_steps.map(|((step, expected), got)| {
            let (expected, got) = (expected.join("\n"), got.join("\n"));
            let name = format!("{name}: {}", transcript.name);
            format!("{name}\n{step}\nexpected:\n{expected}\ngot:\n{got}")
        }));
    }
    if is_accepting {
        std::fs::write(&file, now).unwrap();
    }
    assert!(is_accepting || wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Declares a test for each file.
macro_rules! files {
    ($($name:ident)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                check(stringify!($name)).await;
            }
        )*

        #[test]
        fn every_file_has_a_test() {
            let entries = std::fs::read_dir(folder()).unwrap();
            let mut files: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            files.sort();
            assert_eq!(files, [$(concat!(stringify!($name), ".txt")),*]);
        }
    };
}

files! {
    attachments
    both
    brief
    calendar_search
    changes
    checks
    commands
    delete
    drafts
    events
    folders
    free
    gmail
    import
    invitations
    manage
    merge
    modify
    notations
    notices
    outputs
    reach
    read
    respond
    save
    search
    send
    sender_auth
    settings
    sign_in
    store
    strangers
    unsubscribe
}
