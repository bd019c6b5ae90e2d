//! Sending once, where a transcript does not show it: several processes over one state folder, users
//! who do not answer or take their time, and clocks. See also `tests/transcripts/send.txt`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet::config::Config;
use daysheet::pipeline::Pipeline;
use daysheet::store::Store;
use daysheet_core::budget::count::tokens;
use daysheet_core::call::client::{ClientPrompts, Confirmation, NonInteractive};
use daysheet_core::clock::{Clock, ManualClock};
use daysheet_core::encode::{Delimiter, Format};
use jiff::SignedDuration;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::clock;
use crate::common::harness::{self, FakeUser};
use crate::support::{ME, Session, config};

/// A session at Google, whose clock a test advances, and further processes over its state folder.
pub struct Senders {
    pub session: Session,
    pub time: ManualClock,
}

impl Senders {
    pub async fn new() -> Self {
        let home = TempDir::new().unwrap();
        let time = ManualClock::at(clock::now());
        let config = Config { clock: time.clock(), ..config(home.path(), &[]) };
        let who = SandboxUser::These(&[("google", ME)]);
        let session = Session::start(config, home, None, who).await;
        Self { session, time }
    }

    /// Returns a process over the same state folder, which asks about new recipients.
    pub fn process(&self, more: &[(&str, &str)]) -> Pipeline {
        self.process_at(self.time.clock(), more)
    }

    /// Returns such a process with a clock of its own.
    fn process_at(&self, clock: Clock, more: &[(&str, &str)]) -> Pipeline {
        let app = &self.session.app;
        let settings = [&[("DAYSHEET_NEW_RECIPIENTS", "confirm")], more].concat();
        let mut config = Config { clock, ..config(self.session.home.path(), &settings) };
        config.home.clone_from(&app.config.home);
        config.use_sandbox(self.session.sandbox.base()).unwrap();
        let (accounts, connect) = (app.accounts.clone(), app.connect.clone());
        Pipeline::new(Arc::new(config), app.store().clone(), accounts, connect)
    }

    /// Writes a draft about lamps; returns its handle.
    pub async fn draft(&mut self, to: &str) -> String {
        let new = json!({"to": to, "subject": "Lamps", "body": "Hello."});
        let written = self.session.json("mail_draft", new).await;
        written["draft"].as_str().unwrap().to_owned()
    }

    /// Returns the number of messages that were sent.
    pub fn sent(&self) -> u64 {
        let routes = self.session.sandbox.routes();
        routes
            .iter()
            .filter(|(name, _)| name.ends_with("/drafts/send"))
            .map(|(_, hits)| *hits)
            .sum()
    }

    fn set_faults(&self, spec: &str) {
        self.session.sandbox.set_faults(spec.parse().unwrap());
    }
}

async fn call(
    process: &Pipeline,
    caller: &dyn ClientPrompts,
    tool: &str,
    arguments: Value,
) -> String {
    let format = Format::Toon(Delimiter::Pipe);
    match harness::call(process, tool, arguments, format, caller).await {
        Ok(blocks) => blocks.join("\n--\n"),
        Err(error) => format!("error: {error}"),
    }
}

async fn send(process: &Pipeline, id: &str) -> String {
    call(process, &NonInteractive, "mail_send", json!({ "id": id })).await
}

/// Returns the only row of an answer.
fn row(answer: &str) -> &str {
    answer.lines().nth(1).map_or(answer, str::trim)
}

/// Returns the result in the only row of an answer, or the answer if it is an error.
fn result(answer: &str) -> &str {
    row(answer).split('|').nth(2).unwrap_or(answer)
}

/// Another process knows that a draft was sent.
#[tokio::test]
async fn draft_is_sent_only_once() {
    let mut senders = Senders::new().await;
    let d = senders.draft("jonas@example.com").await;
    let answer = send(&senders.process(&[]), &d).await;
    assert_eq!(row(&answer), format!("{d}|send|sent|m1, to 1"));
    assert!(tokens(&answer) <= 60, "{}", tokens(&answer));
    assert_eq!(
        row(&send(&senders.process(&[]), &d).await),
        format!("{d}|send|already sent|as m1; nothing was sent now")
    );
    assert_eq!(senders.sent(), 1);
}

#[tokio::test]
async fn sending_times_out_before_counting_as_unsent() {
    let mut senders = Senders::new().await;
    let d = senders.draft("jonas@example.com").await;
    let (look, open) = (Duration::from_millis(40), Duration::from_millis(300));
    let process = senders.process(&[]).with_send_recovery(look, open);
    // Longer than the time for sending, and than the shortest time for looking for the message.
    senders.set_faults("delay=1100ms");
    let answer = send(&process, &d).await;
    assert_eq!(
        row(&answer),
        format!(
            "{d}|send|unknown|\"sending took too long; call mail_send with it again in some \
             minutes: that only checks, and sends nothing\""
        )
    );
    assert_eq!(senders.sent(), 0);
}

#[tokio::test]
async fn clock_set_back_decides_no_doubt() {
    let mut senders = Senders::new().await;
    let d = senders.draft("jonas@example.com").await;
    senders.set_faults("reset=1,writes=1");
    assert_eq!(result(&send(&senders.process(&[]), &d).await), "unknown");
    senders.set_faults("");
    let day_before = ManualClock::at(clock::now() - SignedDuration::from_hours(24));
    let answer = send(&senders.process_at(day_before.clock(), &[]), &d).await;
    assert_eq!(result(&answer), "unknown");
    assert_eq!(senders.sent(), 0);
}

#[tokio::test]
async fn only_one_of_many_processes_sends() {
    let mut senders = Senders::new().await;
    let d = senders.draft("jonas@example.com").await;
    let processes: Vec<Pipeline> = (0..8).map(|_| senders.process(&[])).collect();
    let calls = processes.iter().map(|process| send(process, &d));
    let answers = futures_util::future::join_all(calls).await;
    assert_eq!(senders.sent(), 1, "{answers:#?}");
    // Every other answer says that the draft was sent or is being sent, not that it does not exist.
    let others = [
        format!("{d}|send|already sent|as m1; nothing was sent now"),
        format!(
            "{d}|send|unknown|\"an earlier call may be sending it, or may have sent it; call \
             mail_send with it again in some minutes: that only checks, and sends nothing\""
        ),
    ];
    let mut rows: Vec<&str> = answers.iter().map(|answer| row(answer)).collect();
    rows.retain(|row| others.iter().all(|other| other != row));
    assert_eq!(rows, [format!("{d}|send|sent|m1, to 1")], "{answers:#?}");
}

/// Clients dismiss a question themselves if no user is present, and newer ones end the call with
/// the question. Answers of users are in `tests/transcripts/send.txt`.
#[tokio::test]
async fn users_answer_decides_about_sending() {
    let mut senders = Senders::new().await;
    let d = senders.draft("jonas@example.com").await;
    let process = senders.process(&[]);
    let nobody = FakeUser::says(Confirmation::Unanswered);
    let answer = call(&process, &nobody, "mail_send", json!({"id": d})).await;
    assert_eq!(
        row(&answer),
        format!(
            "{d}|send|refused|\"nobody confirmed; the draft is unchanged: ask the user to send {d} in \
             the mail program, or to run `daysheet call mail_send id={d}` in a terminal\""
        )
    );
    let later = FakeUser::says(Confirmation::Later);
    let answer = call(&process, &later, "mail_send", json!({"id": d})).await;
    assert_eq!(answer, "error: the user is being asked");
    assert_eq!(senders.sent(), 0);
}

/// A user who agrees after another process has made these edits.
struct Slow<'a> {
    process: &'a Pipeline,
    edits: Vec<Value>,
}

#[async_trait]
impl ClientPrompts for Slow<'_> {
    async fn confirm(&self, _: &str) -> Confirmation {
        for edit in &self.edits {
            let answer = call(self.process, &NonInteractive, "mail_draft", edit.clone()).await;
            assert!(answer.starts_with("draft: "), "{answer}");
        }
        Confirmation::Yes
    }

    async fn progress(&self, _: u64, _: u64, _: &str) {}
}

#[tokio::test]
async fn draft_changed_after_confirmation_is_not_sent() {
    let mut senders = Senders::new().await;
    let other = senders.process(&[]);
    let changes = [
        vec![json!({"bcc": "priya@example.com"})],
        // Content that the question does not show counts, too.
        vec![json!({"body": "SECRET"})],
        // So does a draft with the same content again.
        vec![json!({"body": "SECRET"}), json!({"body": "Hello."})],
    ];
    for (sent, edits) in (0..).zip(changes) {
        let d = senders.draft("jonas@example.com").await;
        let edit = |more: Value| {
            let mut edit = json!({"mode": "edit", "id": d});
            edit.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            edit
        };
        let user = Slow { process: &other, edits: edits.into_iter().map(edit).collect() };
        let process = senders.process(&[]);
        assert_eq!(
            call(&process, &user, "mail_send", json!({"id": d})).await,
            format!(
                "error: {d} was changed meanwhile; nothing was sent: read it again, then call \
                 mail_send again"
            )
        );
        assert_eq!(senders.sent(), sent);
        // The next call sends the message.
        assert_eq!(result(&send(&process, &d).await), "sent");
    }
}

/// Untrusted text that one process has shown counts for the others, for a day. Which recipients are
/// new is in `tests/transcripts/send.txt`.
#[tokio::test]
async fn new_recipients_need_confirmation_after_untrusted_mail() {
    let mut senders = Senders::new().await;
    let fresh = senders.draft("zoe@example.org").await;
    call(&senders.process(&[]), &NonInteractive, "mail_search", json!({})).await;
    let refused = format!(
        "error: this mailbox has never written to zoe@example.org, text that others may have \
         written was shown recently, and this client cannot ask the user: ask the user to send {fresh} in the \
         mail program, or to run `daysheet call mail_send id={fresh}` in a terminal"
    );
    for (hours, expected) in [(0, &*refused), (23, &refused), (1, "sent")] {
        senders.time.advance(Duration::from_secs(hours * 3600));
        let answer = send(&senders.process(&[]), &fresh).await;
        assert_eq!(result(&answer), expected);
    }
}

#[tokio::test]
async fn audit_log_is_readable_by_owner_only() {
    let _files = crate::common::postgres::in_files();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let home = TempDir::new().unwrap();
        let store = Store::new(&config(home.path(), &[]));
        store.append_audit("{}").await.unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&home.path().join("audit.jsonl")), 0o600);
    }
}
