//! Approval for clients that show no questions: the answer of the waiting call,
//! the decision, and its one use. The page itself is tested in `tests/http/approvals.rs`.

mod cards;
mod readers;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use daysheet::server::{ApprovalPage, Server};
use daysheet::store::{ApprovalDecision, Store};
use daysheet_core::error::Result;
use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use url::Url;

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
        row(&self.call("mail_send", json!({"id": draft})).await)
    }

    /// Connects a client to a process with this page.
    async fn connect(&mut self, page: Arc<dyn ApprovalPage>, capabilities: Value) {
        let process = Arc::new(self.senders.process(&[]));
        let server = Server::new(process.clone(), process.config().format);
        self.wire = Wire::of(server.approved_on(page));
        self.wire.initialize(capabilities).await;
    }

    /// Approves the next write that waits, as soon as it does.
    fn approving(&self) -> JoinHandle<()> {
        let store = self.store().clone();
        tokio::spawn(async move {
            loop {
                if let [(id, _)] = &store.waiting_writes().await.unwrap()[..] {
                    store.record_decision(id, ApprovalDecision::Approved).await.unwrap();
                    return;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
    }

    /// Returns the row of a call that waits from now on, in a process without pages.
    fn waiting_row(&self) -> String {
        self.waiting_row_of("ask the user to run `daysheet approve` in a terminal")
    }

    /// Returns the row of a call that waits from now on, with this next step for the user.
    fn waiting_row_of(&self, way: &str) -> String {
        let until = self.senders.time.clock().now() + SignedDuration::from_mins(10);
        let until = until.to_zoned(self.senders.session.app.config.zone.clone()).strftime("%H:%M");
        format!(
            "mail_send approval waiting nothing was done yet: the user has to approve it before \
             {until}, because this mailbox has never written to zoe@example.org; \
             {way}; then repeat this call unchanged"
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

/// Returns the row of an answer, or its error, without tabs and quotes.
fn row(answer: &str) -> String {
    let row = answer.lines().nth(1).unwrap_or(answer).trim();
    row.replace(['\t', '"'], " ").replace("  ", " ").trim().to_owned()
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

/// Clients may send the members of a call in another order when they repeat it.
#[tokio::test]
async fn order_of_arguments_does_not_matter() {
    let mut approvals = Approvals::new(&[]).await;
    let draft = approvals.senders.draft("zoe@example.org").await;
    let request = |arguments: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":\
             {{\"name\":\"mail_send\",\"arguments\":{arguments}}}}}\n"
        )
    };
    let mut rows = Vec::new();
    for arguments in [
        format!("{{\"id\":\"{draft}\",\"format\":\"toon\"}}"),
        format!("{{\"format\":\"toon\",\"id\":\"{draft}\"}}"),
    ] {
        approvals.wire.write_line(&request(&arguments)).await;
        let reply = approvals.wire.read().await;
        rows.push(row(reply["result"]["content"][0]["text"].as_str().unwrap()));
        approvals.decide(ApprovalDecision::Approved).await;
    }
    assert_eq!(rows, [approvals.waiting_row(), format!("{draft} send sent m21, to 1")]);
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

/// A page of this machine, and how often it was linked to and opened.
#[derive(Default)]
struct LinkedPage {
    /// True if there is a browser.
    has_browser: bool,
    links: AtomicUsize,
    opened: AtomicUsize,
}

const PAGE: &str = "http://127.0.0.1:4000/approve";
const LINK: &str = "http://127.0.0.1:4000/sign-in?link=once-";

impl LinkedPage {
    fn new(has_browser: bool) -> Arc<Self> {
        Arc::new(Self { has_browser, ..Self::default() })
    }

    /// Returns the number of links and of opened pages.
    fn counts(&self) -> [usize; 2] {
        [&self.links, &self.opened].map(|count| count.load(Ordering::Relaxed))
    }
}

#[async_trait]
impl ApprovalPage for LinkedPage {
    async fn address(&self) -> Result<Url> {
        Ok(PAGE.parse().unwrap())
    }

    async fn link(&self) -> Result<Url> {
        let number = self.links.fetch_add(1, Ordering::Relaxed);
        Ok(format!("{LINK}{number}").parse().unwrap())
    }

    async fn open(&self, is_new: bool) -> Result<bool> {
        if is_new && self.has_browser {
            self.opened.fetch_add(1, Ordering::Relaxed);
        }
        Ok(self.has_browser)
    }

    fn needs_link(&self) -> bool {
        true
    }
}

/// One call is enough if the user decides while it waits.
#[tokio::test]
async fn call_waits_for_a_user_with_an_open_page() {
    let mut approvals = Approvals::new(&[]).await;
    let draft = approvals.senders.draft("zoe@example.org").await;
    let page = LinkedPage::new(true);
    approvals.connect(page.clone(), json!({})).await;
    let decision = approvals.approving();
    assert_eq!(approvals.send(&draft).await, format!("{draft} send sent m21, to 1"));
    decision.await.unwrap();
    assert_eq!(page.counts(), [0, 1]);
}

#[tokio::test]
async fn user_without_a_browser_is_sent_to_a_terminal() {
    let mut approvals = Approvals::new(&[]).await;
    let draft = approvals.senders.draft("zoe@example.org").await;
    let page = LinkedPage::new(false);
    approvals.connect(page.clone(), json!({})).await;
    let way = format!("ask the user to run `daysheet approve` in a terminal (page: {PAGE})");
    assert_eq!(approvals.send(&draft).await, approvals.waiting_row_of(&way));
    assert_eq!(page.counts(), [0, 0]);
}

/// The client shows the page even if this machine has a browser, because the user is at the client.
/// The model never sees its link.
#[tokio::test]
async fn older_client_with_url_elicitation_is_sent_the_page() {
    let mut approvals = Approvals::new(&[]).await;
    let page = LinkedPage::new(true);
    approvals.connect(page.clone(), json!({"elicitation": {"url": {}}})).await;
    let way = format!("ask the user to run `daysheet approve` in a terminal (page: {PAGE})");
    for (asked, (action, outcome)) in [
        ("cancel", approvals.waiting_row_of(&way)),
        ("decline", "send refused the user declined; the draft is unchanged".to_owned()),
        // The last one, because the recipient is known from then on.
        ("accept", "send sent m21, to 1".to_owned()),
    ]
    .into_iter()
    .enumerate()
    {
        let draft = approvals.senders.draft("zoe@example.org").await;
        let params = json!({"name": "mail_send", "arguments": {"id": draft}});
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
        approvals.wire.write(call).await;
        let request = approvals.wire.read().await;
        assert_eq!(request["method"], "elicitation/create", "{request}");
        let question = &request["params"];
        assert_eq!(question["mode"], "url");
        assert_eq!(question["url"], format!("{LINK}{asked}"));
        assert_eq!(question["message"], "Approve what Daysheet is about to do");
        let sent = approvals.senders.sent();
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": {"action": action}});
        approvals.wire.write(answer).await;
        // To agree is not to approve: that happens on the page.
        let decision = (action == "accept").then(|| approvals.approving());
        let done = approvals.wire.read().await;
        let text = done["result"]["content"][0]["text"].as_str().unwrap();
        assert!(row(text).ends_with(&outcome), "{action}: {text}");
        assert!(!done.to_string().contains("once-"), "{done}");
        match decision {
            Some(decision) => decision.await.unwrap(),
            None => assert_eq!(approvals.senders.sent(), sent, "{action}"),
        }
        // A write that waits would be approved in place of the next one.
        approvals.decide(ApprovalDecision::Refused).await;
    }
    assert_eq!(page.counts(), [3, 0]);
}

#[tokio::test]
async fn newer_client_with_url_elicitation_is_given_the_page() {
    let mut approvals = Approvals::new(&[]).await;
    let [draft, other] = [
        approvals.senders.draft("zoe@example.org").await,
        approvals.senders.draft("zoe@example.org").await,
    ];
    let page = LinkedPage::new(true);
    approvals.connect(page.clone(), json!({})).await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"url": {}}},
    });
    let answered = |asked: &Value, action: &str| {
        json!({
            "_meta": meta,
            "requestState": asked["requestState"],
            "inputResponses": {"confirm": {"action": action}},
        })
    };
    let asked = approvals.wire.modern(&draft, json!({"_meta": meta})).await;
    let question = &asked["inputRequests"]["confirm"]["params"];
    assert_eq!(question["mode"], "url", "{asked}");
    assert_eq!(question["url"], format!("{LINK}0"));
    // An answer counts only for the call that was asked about.
    let again = approvals.wire.modern(&other, answered(&asked, "decline")).await;
    assert_eq!(again["inputRequests"]["confirm"]["params"]["url"], format!("{LINK}1"), "{again}");
    let refused = approvals.wire.modern(&other, answered(&again, "decline")).await;
    let text = refused["content"][0]["text"].as_str().unwrap();
    let declined = format!("{other} send refused the user declined; the draft is unchanged");
    assert_eq!(row(text), declined);
    // The question for the first call was used up by the wrong answer.
    let asked = approvals.wire.modern(&draft, answered(&asked, "accept")).await;
    assert_eq!(asked["inputRequests"]["confirm"]["params"]["url"], format!("{LINK}2"), "{asked}");
    assert_eq!(approvals.senders.sent(), 0);
    let decision = approvals.approving();
    let sent = approvals.wire.modern(&draft, answered(&asked, "accept")).await;
    assert_eq!(
        row(sent["content"][0]["text"].as_str().unwrap()),
        format!("{draft} send sent m21, to 1")
    );
    decision.await.unwrap();
    assert_eq!(page.counts(), [3, 0]);
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
