//! Parts that scenarios share: options, settings, sandboxes, generated mail and calendars, medians
//! and tables. The only file here that creates a clock.

use std::fmt::{Display, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use daysheet::app::App;
use daysheet::cli::client::InProcessClient;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet::config::Config;
use daysheet::pipeline::Pipeline;
use daysheet::tools;
use daysheet::worker::Worker;
use daysheet_core::clock::Clock;
use daysheet_core::encode::{Delimiter, Format};
use daysheet_sandbox::{FaultRates, Sandbox, SandboxOptions};
use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;

/// The program under measurement.
pub const DAYSHEET: &str = env!("CARGO_BIN_EXE_daysheet");
/// A budget that holds every answer below the ceiling.
pub const ALL: usize = 100_000;

/// Settings, as variables.
pub type Settings = Vec<(&'static str, String)>;

/// Returns the value after a flag.
pub fn option(flag: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != flag).nth(1)
}

/// Returns the command that runs a scenario in a process of its own.
pub fn again(scenario: &str, options: &[impl AsRef<std::ffi::OsStr>]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(scenario).args(options);
    command
}

/// Returns the output of a command, which must succeed.
pub fn output(command: &mut Command) -> String {
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "{command:?} failed");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns a command that runs the program with these settings alone.
pub fn process(settings: &Settings, arguments: &[&str]) -> Command {
    let mut command = Command::new(DAYSHEET);
    let variables = settings.iter().map(|(name, value)| (name, value));
    command.args(arguments).env_clear().envs(variables).stdin(Stdio::null());
    command
}

/// Returns the settings of a program with a state folder.
pub fn local(home: &Path, zone: &str) -> Settings {
    vec![
        ("DAYSHEET_HOME", home.to_str().unwrap().to_owned()),
        ("DAYSHEET_KEY_STORE", "file".to_owned()),
        ("DAYSHEET_ZONE", zone.to_owned()),
    ]
}

/// Returns the settings that lead to a sandbox.
pub fn leading_to(sandbox: &Sandbox, home: &Path) -> Settings {
    let base = sandbox.base();
    let mut settings = local(home, "UTC");
    settings.extend([
        ("DAYSHEET_GMAIL_URL", format!("{base}/")),
        ("DAYSHEET_GOOGLE_CALENDAR_URL", format!("{base}/calendar/v3/")),
        ("DAYSHEET_GOOGLE_PEOPLE_URL", format!("{base}/")),
        ("DAYSHEET_GOOGLE_AUTH_URL", format!("{base}/o/oauth2/v2/auth")),
        ("DAYSHEET_GOOGLE_TOKEN_URL", format!("{base}/token")),
        ("DAYSHEET_GOOGLE_CLIENT_ID", "bench".to_owned()),
        ("DAYSHEET_GRAPH_URL", format!("{base}/v1.0/")),
        ("DAYSHEET_MICROSOFT_AUTHORITY_URL", format!("{base}/")),
        ("DAYSHEET_MICROSOFT_CLIENT_ID", "bench".to_owned()),
        ("DAYSHEET_SENDS_PER_HOUR", "10000".to_owned()),
        ("DAYSHEET_RECIPIENTS_PER_HOUR", "10000".to_owned()),
    ]);
    settings
}

/// Builds a configuration from settings.
pub fn config(settings: &Settings) -> Config {
    let var = |name: &str| {
        let found = settings.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.clone())
    };
    let config = Config::from(var, None, None, Clock::system()).unwrap();
    Config { worker: Some(Worker::at(DAYSHEET)), ..config }
}

/// Returns the present time.
pub fn now() -> Timestamp {
    Clock::system().now()
}

/// The program in this process, over the sandbox that it embeds.
pub struct Embedded {
    pub app: App,
    pub sandbox: Sandbox,
    pub client: InProcessClient,
    /// The folder of its state, removed at the end.
    _home: TempDir,
}

impl Embedded {
    /// Starts it over the samples, or over folders of mail and calendars.
    pub async fn start(mail: Option<PathBuf>, calendar: Option<PathBuf>, who: SandboxUser) -> Self {
        let home = tempfile::tempdir().unwrap();
        let config = config(&local(home.path(), "Europe/Berlin"));
        let (app, sandbox) =
            App::sandboxed(config, mail, calendar, FaultRates::default(), who).await.unwrap();
        let client = InProcessClient::connect(app.server()).await.unwrap();
        Self { app, sandbox, client, _home: home }
    }

    /// Returns the blocks of an answer, which must be no error, and its statistics.
    pub async fn ask(
        &mut self,
        tool: &str,
        arguments: &Value,
        budget: usize,
    ) -> (Vec<String>, Value) {
        let mut arguments = arguments.clone();
        arguments["budget"] = budget.into();
        let (answer, stats) = self.client.call_with_stats(tool, arguments).await.unwrap();
        assert!(!answer.is_error, "{answer:?}");
        (answer.blocks, stats)
    }
}

/// Starts a sandbox over the folders `mail` and `calendar` of a folder, or over the samples.
pub async fn sandbox(folder: &Path) -> Sandbox {
    let own = |name: &str| Some(folder.join(name)).filter(|path| path.exists());
    let options = SandboxOptions::new(Clock::system());
    let options = SandboxOptions { mail: own("mail"), calendar: own("calendar"), ..options };
    Sandbox::start(options).await.unwrap()
}

/// Signs accounts in, each as provider and address.
pub async fn sign_in(settings: &Settings, accounts: &[(&str, &str)]) {
    let app = App::new(config(settings));
    for (provider, address) in accounts {
        app.consent(provider, address).await.unwrap();
    }
    assert_eq!(app.accounts.list().await.unwrap().len(), accounts.len());
}

/// Makes a call as the server does; returns the text of its answer or error.
pub async fn call(pipeline: &Pipeline, tool: &str, arguments: &Value) -> String {
    let format = Format::Toon(Delimiter::Pipe);
    let tool = tools::find(tool).unwrap();
    let request = tools::read(tool, arguments.as_object().cloned(), format).unwrap();
    match pipeline.run(request).await {
        Ok(answer) => answer.blocks.join("\n"),
        Err(error) => format!("error: {error}"),
    }
}

/// Returns one message; without a date it arrives now.
pub fn message(owner: &str, number: usize, date: Option<Timestamp>) -> String {
    let date = date.map(|date| date.strftime("Date: %a, %d %b %Y %H:%M:%S +0000\n").to_string());
    format!(
        "From: Sender {0} <sender{0}@example.org>\nTo: {owner}\nDelivered-To: {owner}\n\
         Subject: Proof {number}\n{1}Message-ID: <{number}.{owner}>\n",
        number % 97,
        date.unwrap_or_default()
    )
}

/// Writes a mailbox with these messages in `mail` of a folder. They are ten minutes apart, and the
/// newest is ten minutes old; every twentieth is unread, and twenty subjects have `Needle`.
pub fn mailbox(folder: &Path, owner: &str, count: usize) {
    let folder = folder.join("mail").join(owner);
    std::fs::create_dir_all(&folder).unwrap();
    let now = now().as_second();
    let mut text = String::new();
    for number in 0..count {
        let date = Timestamp::from_second(now - (count - number) as i64 * 600).unwrap();
        let mut head = message(owner, number, Some(date));
        if number % (count / 20).max(1) == 0 {
            head = head.replace("Subject: ", "Subject: Needle, ");
        }
        let state = if number % 20 == 0 { "Unread" } else { "Opened" };
        let _ = write!(
            text,
            "From sender@example.org Tue Feb 03 18:05:00 2026\n{head}X-Gmail-Labels: Inbox,{state}\n\n\
             The proof {number} for the autumn catalogue is here. Could you look at page three?\n\n"
        );
    }
    std::fs::write(folder.join("all.mbox"), text).unwrap();
}

/// Writes events into four calendars in turn, in `calendar` of a folder. They are an hour apart, and
/// half of them are past.
pub fn calendars(folder: &Path, owner: &str, events: usize) {
    let folder = folder.join("calendar").join(owner);
    std::fs::create_dir_all(&folder).unwrap();
    let hour = now().as_second() / 3_600 - events as i64 / 2;
    for (calendar, name) in ["calendar", "side1", "side2", "side3"].into_iter().enumerate() {
        let mut text = String::from("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//bench//EN\r\n");
        for number in (calendar..events).step_by(4) {
            let start = Timestamp::from_second((hour + number as i64) * 3_600).unwrap();
            let _ = write!(
                text,
                "BEGIN:VEVENT\r\nUID:{number}-{owner}\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:{}\r\n\
                 DURATION:PT45M\r\nSUMMARY:Round {number}\r\nLOCATION:Room {calendar}\r\n\
                 ORGANIZER:mailto:{owner}\r\nATTENDEE;PARTSTAT=ACCEPTED:mailto:cy@example.com\r\n\
                 END:VEVENT\r\n",
                start.strftime("%Y%m%dT%H%M%SZ"),
            );
        }
        std::fs::write(folder.join(name).with_extension("ics"), text + "END:VCALENDAR\r\n")
            .unwrap();
    }
}

/// Returns a length of time in milliseconds.
pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Returns the result of some work, and its milliseconds.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let begin = Instant::now();
    (work(), ms(begin.elapsed()))
}

/// Returns the median, or `None` if there are no values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Returns a line of the status of a process (`self` or its number) in megabytes; on Linux only.
pub fn megabytes(process: &str, line: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|one| one.starts_with(line))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// Prints the heading of a table. A column whose name ends with a colon is aligned to the right.
pub fn heading(columns: &[&str]) {
    let names: Vec<&str> = columns.iter().map(|name| name.trim_end_matches(':')).collect();
    let lines = columns.iter().map(|name| if name.ends_with(':') { "---:" } else { "---" });
    println!("| {} |\n|{}|", names.join(" | "), lines.collect::<Vec<_>>().join("|"));
}

/// Prints the heading of a table of figures.
pub fn figures() {
    heading(&["", "measured", "goal"]);
}

/// Prints a row of a table of figures.
pub fn figure(what: &str, measured: impl Display, goal: &str) {
    println!("| {what} | {measured} | {goal} |");
}
