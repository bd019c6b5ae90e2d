//! The program as a person types it: each step of such a transcript is a line for the shell, which
//! finds `daysheet` on its path and runs in the state folder.

use std::path::Path;
use std::process::Output;

use tempfile::TempDir;
use tokio::process::Command;

use super::Transcript;
use crate::common::clock;

/// A word that only secrets contain.
const SECRET: &str = "hunter2";

/// Returns what each step prints: `| ` on stdout, `! ` on stderr, and `= ` its exit code unless 0.
pub(super) async fn answers<'t>(
    steps: impl Iterator<Item = &'t str>,
    transcript: &Transcript<'_>,
) -> Vec<Vec<String>> {
    let home = TempDir::new().unwrap();
    let mut all = Vec::new();
    for line in steps {
        let settings = transcript.head_lines("@ ").filter(|line| line.starts_with("DAYSHEET_"));
        let settings = settings.map(|line| line.split_once('=').unwrap());
        all.push(shown(&output(home.path(), line, settings).await, home.path()));
    }
    all
}

/// Runs a line for the shell in a state folder, with these settings and no other variables.
pub async fn output<'t>(
    home: &Path,
    line: &str,
    settings: impl IntoIterator<Item = (&'t str, &'t str)>,
) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_daysheet")).parent().unwrap();
    Command::new("sh")
        .args(["-c", line])
        .current_dir(home)
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", program.display()))
        .env("LC_ALL", "C.UTF-8")
        .env("ROOT", env!("CARGO_MANIFEST_DIR"))
        .env("DAYSHEET_HOME", home)
        .env("DAYSHEET_KEY_STORE", "file")
        .env("DAYSHEET_ZONE", "Europe/Berlin")
        .env(clock::SETTING, clock::WRITTEN)
        .envs(settings)
        .output()
        .await
        .unwrap()
}

/// Returns an output as lines without its unstable parts, after checking that it has no secret,
/// control character or direction mark.
fn shown(output: &Output, home: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for (sign, bytes) in [("|", &output.stdout), ("!", &output.stderr)] {
        let text = std::str::from_utf8(bytes).unwrap();
        let is_odd = |c: char| {
            c.is_control() && c != '\n' && c != '\t'
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{e0000}'..='\u{e007f}')
        };
        assert!(!text.contains(SECRET) && !text.contains(is_odd), "{text:?}");
        let text = text.replace(home.to_str().unwrap(), "[HOME]");
        let text = text.replace(env!("CARGO_MANIFEST_DIR"), "[ROOT]");
        all.extend(text.lines().map(|line| format!("{sign} {line}").trim_end().to_owned()));
    }
    match output.status.code().unwrap() {
        0 => {}
        code => all.push(format!("= {code}")),
    }
    all
}
