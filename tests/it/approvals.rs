//! Approval outside the chat, for clients that show no questions: the answer of the waiting call,
//! the decision, and its one use. The page itself is tested in `tests/http/approvals.rs`.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use daysheet::server::{ApprovalPage, Server, ShownPage};
use daysheet::store::{ApprovalDecision, Store};
use daysheet_core::error::Result;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::elicitation::Wire;
use crate::send::Senders;

/// A session of a client without elicitation, after mail from others was shown.
struct Approvals {
    senders: Senders,
    wire: Wire,
}

impl Approvals {
    async fn new(settings: &[(&str, &str)]) -> Self {
        let senders = Senders::new().await;
        let mut approvals = Self { wire: wire(&senders, settings).await, senders };
        approvals.call("mail_search", json!({"fields": "subject"})).await;
        approvals
    }

    /// Starts another process over the same state folder.
    async fn restart(&mut self) {
        self.wire = wire(&self.senders, &[]).await;
    }

    fn store(&self) -> &Store {
        self.senders.session.app.store()
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> String {
        let params = json!({"name": tool, "arguments": arguments});
        let request = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
        self.wire.write(request).await;
        let reply = self.wire.read().await;
        reply["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Sends a draft. Returns the row of the answer, or its error.
    async fn send(&mut self, draft: &str) -> String {
        let answer = self.call("mail_send", json!({"id": draft})).await;
        answer
            .lines()
            .nth(1)
            .unwrap_or(&answer)
            .trim()
            .replace(['\t', '"'], " ")
            .replace("  ", " ")
            .trim()
            .to_owned()
    }

    /// Returns the row of a call that waits from now on, in a process without pages.
    fn waiting_row(&self) -> String {
        let until = self.senders.time.clock().now() + SignedDuration::from_mins(10);
        let until = until.to_zoned(self.senders.session.app.config.zone.clone()).strftime("%H:%M");
        format!(
            "mail_send approval waiting nothing was done yet: the user has to approve it before \
             {until}, because this mailbox has never written to zoe@example.org; ask the user to run `daysheet approve` in a terminal; then repeat this call \
             unchanged"
        )
    }

    /// Returns the texts of the writes that wait, as the user reads them.
    async fn waiting(&self) -> Vec<String> {
        let writes = self.store().waiting_writes().await.unwrap();
        let text = |write: daysheet::store::WaitingWrite| {
            format!("{}\n---\n{}", write.question, write.content.trim_end())
        };
        writes.into_iter().map(|(_, write)| text(write)).collect()
    }

    /// Decides on all writes that wait. Returns their number.
    async fn decide(&self, decision: ApprovalDecision) -> usize {
        let writes = self.store().waiting_writes().await.unwrap();
        for (id, _) in &writes {
            assert!(self.store().record_decision(id, decision).await.unwrap());
            assert!(!self.store().record_decision(id, decision).await.unwrap());
        }
        writes.len()
    }

    /// Returns the operations and outcomes in the audit log.
    async fn audit(&self) -> Vec<String> {
        let lines = self.store().audit_lines(None, 100).await.unwrap();
        let short = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| line[key].as_str().unwrap().to_owned();
            format!("{} {} {}", text("tool"), text("op"), text("outcome"))
        };
        lines.iter().rev().map(|line| short(&line.line)).collect()
    }
}

async fn wire(senders: &Senders, settings: &[(&str, &str)]) -> Wire {
    let mut wire = Wire::over(senders.process(settings));
    wire.initialize(json!({})).await;
    wire
}

#[tokio::test]
async fn approved_write_is_made_once_by_the_repeated_call() {
    let mut approvals = Approvals::new(&[]).await;
    let draft = approvals.senders.draft("zoe@example.org").await;
    // Repetitions change neither the waiting write nor the end of its wait.
    assert_eq!(approvals.send(&draft).await, approvals.waiting_row());
    assert_eq!(approvals.send(&draft).await, approvals.waiting_row());
    let text = "Send this mail?\nFrom: Mira Lindqvist <mira@example.com>\nTo: zoe@example.org\n\
                Subject: Lamps\nNever written to before: zoe@example.org\n---\nHello.";
    assert_eq!(approvals.waiting().await, [text]);
    assert_eq!(approvals.senders.sent(), 0);
    assert_eq!(approvals.decide(ApprovalDecision::Approved).await, 1);
    approvals.restart().await;
    assert_eq!(approvals.send(&draft).await, format!("{draft} send sent m21, to 1"));
    assert_eq!(
        approvals.send(&draft).await,
        format!("{draft} send already sent as m21; nothing was sent now")
    );
    assert_eq!(approvals.senders.sent(), 1);
    let log = [
        "mail_draft new begun",
        "mail_draft new done",
        "mail_send approval waiting",
        "mail_send approval approved",
        "mail_send send sending",
        "mail_send send sent",
        "mail_send send already sent",
    ];
    assert_eq!(approvals.audit().await, log);
}

#[tokio::test]
async fn refusal_counts_until_it_expires() {
    let mut approvals = Approvals::new(&[]).await;
    let draft = approvals.senders.draft("zoe@example.org").await;
    approvals.send(&draft).await;
    approvals.decide(ApprovalDecision::Refused).await;
    let refused = format!("{draft} send refused the user declined; the draft is unchanged");
    for _ in 0..2 {
        assert_eq!(approvals.send(&draft).await, refused);
    }
    approvals.senders.time.advance(Duration::from_secs(601));
    assert_eq!(approvals.send(&draft).await, approvals.waiting_row());
    assert_eq!(approvals.senders.sent(), 0);
}

/// An approval counts for the texts that the user saw, for ten minutes.
#[tokio::test]
async fn approval_of_other_content_or_of_another_call_does_not_count() {
    let mut approvals = Approvals::new(&[]).await;
    let [draft, other] = [
        approvals.senders.draft("zoe@example.org").await,
        approvals.senders.draft("zoe@example.org").await,
    ];
    approvals.send(&draft).await;
    approvals.decide(ApprovalDecision::Approved).await;
    assert_eq!(approvals.send(&other).await, approvals.waiting_row());
    let edit = json!({"mode": "edit", "id": draft, "body": "Pay to this account."});
    let edited = approvals.call("mail_draft", edit).await;
    assert!(edited.starts_with(&format!("draft: {draft}")), "{edited}");
    assert_eq!(approvals.send(&draft).await, approvals.waiting_row());
    approvals.senders.time.advance(Duration::from_secs(601));
    assert!(approvals.waiting().await.is_empty());
    assert_eq!(approvals.senders.sent(), 0);
}

#[tokio::test]
async fn expired_approval_does_not_count() {
    let mut approvals = Approvals::new(&[]).await;
    let draft = approvals.senders.draft("zoe@example.org").await;
    approvals.send(&draft).await;
    approvals.decide(ApprovalDecision::Approved).await;
    approvals.senders.time.advance(Duration::from_secs(601));
    assert_eq!(approvals.send(&draft).await, approvals.waiting_row());
}

#[tokio::test]
async fn settings_can_forbid_approval_outside_the_chat() {
    let mut approvals = Approvals::new(&[("DAYSHEET_APPROVE", "never")]).await;
    let draft = approvals.senders.draft("zoe@example.org").await;
    let answer = approvals.send(&draft).await;
    assert!(answer.contains("this client cannot ask the user"), "{answer}");
    assert!(approvals.waiting().await.is_empty());
}

/// A page that is open in the user's browser.
struct OpenPage;

#[async_trait]
impl ApprovalPage for OpenPage {
    async fn show(&self, _: bool) -> Result<ShownPage> {
        let address = "http://127.0.0.1:4000/approve".parse().unwrap();
        Ok(ShownPage { address, link: None, is_open: true })
    }
}

/// One call is enough if the user decides while it waits.
#[tokio::test]
async fn call_waits_for_a_user_with_an_open_page() {
    let mut approvals = Approvals::new(&[]).await;
    let draft = approvals.senders.draft("zoe@example.org").await;
    let process = Arc::new(approvals.senders.process(&[]));
    let server = Server::new(process.clone(), process.config().format);
    approvals.wire = Wire::of(server.approved_on(Arc::new(OpenPage)));
    approvals.wire.initialize(json!({})).await;
    let store = approvals.store().clone();
    let decision = tokio::spawn(async move {
        loop {
            if let [(id, _)] = &store.waiting_writes().await.unwrap()[..] {
                store.record_decision(id, ApprovalDecision::Approved).await.unwrap();
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    assert_eq!(approvals.send(&draft).await, format!("{draft} send sent m21, to 1"));
    decision.await.unwrap();
}

/// A model in a loop cannot fill the page with questions.
#[tokio::test]
async fn number_of_waiting_writes_is_limited() {
    let mut approvals = Approvals::new(&[]).await;
    for _ in 0..20 {
        let draft = approvals.senders.draft("zoe@example.org").await;
        assert_eq!(approvals.send(&draft).await, approvals.waiting_row());
    }
    let draft = approvals.senders.draft("zoe@example.org").await;
    assert_eq!(
        approvals.send(&draft).await,
        "mail_send approval waiting 20 writes wait for the user's approval already: ask the user \
         to approve or refuse them first"
    );
}
