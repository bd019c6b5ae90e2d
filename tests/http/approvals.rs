//! The page on which the user approves writes: over HTTP, and beside a server over stdio.

use std::sync::{Arc, Mutex};

use daysheet::http::loopback::LoopbackPages;
use daysheet::server::ApprovalPage;
use serde_json::{Value, json};
use url::Url;

use crate::browser::Browser;
use crate::stage::{Caller, OLD, Stage, User, message, text};

const CONFIRM: [(&str, &str); 1] = [("DAYSHEET_CONFIRM", "always")];

/// Writes a draft; returns its handle.
async fn draft(stage: &Stage, name: &str, subject: &str) -> String {
    let new = json!({"to": "zoe@example.org", "subject": subject, "body": "Hello & bye"});
    let written = stage.modern(name).ok("mail_draft", new).await;
    written.lines().find_map(|line| line.strip_prefix("draft: ")).unwrap().to_owned()
}

/// Returns a client of ann that shows no questions.
fn mute(stage: &Stage) -> Caller {
    Caller { capabilities: json!({}), ..stage.modern("ann") }
}

#[tokio::test]
async fn person_approves_on_the_servers_own_page() {
    let stage = Stage::set(&["ann", "bo"], &CONFIRM).await;
    let draft = draft(&stage, "ann", "Lamps <script>").await;
    let call = json!({"id": draft});
    let waiting = mute(&stage).ok("mail_send", call.clone()).await;
    let address = stage.url("/approve");
    let expected = format!("ask the user to open {address}; then repeat this call unchanged");
    assert!(waiting.contains("\twaiting\t") && waiting.contains(&expected), "{waiting}");
    // Without a session, the address leads to the sign-in.
    Browser::at(&stage).get("/approve").await.is(303);
    let mut bo = Browser::of(&stage, "bo").await;
    let other = bo.get("/approve").await.is(200);
    other.says("Nothing waits for your approval.").omits("Lamps");
    let mut ann = Browser::of(&stage, "ann").await;
    let page = ann.get("/approve").await.is(200);
    page.says("Send this mail?")
        .says("To: zoe@example.org")
        .says("Subject: Lamps &lt;script&gt;")
        .says("Hello &amp; bye")
        .omits("<script>");
    // Reading decides nothing, and neither do forms of other pages and people.
    assert_eq!(mute(&stage).ok("mail_send", call.clone()).await, waiting);
    let fields = page.form("/approve");
    let mut forged = fields.clone();
    forged.insert("decision".to_owned(), "approve".to_owned());
    bo.post("/approve", &forged).await.is(403);
    forged.insert("token".to_owned(), "AAAA".to_owned());
    ann.post("/approve", &forged).await.is(403);
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&fields).finish();
    let foreign =
        [("origin", "https://evil.example"), ("content-type", "application/x-www-form-urlencoded")];
    ann.send("POST", "/approve", &foreign, format!("{body}&decision=approve")).await.is(403);
    ann.submit(&page, "/approve", &[]).await.is(400).says("decision is missing");
    assert_eq!(mute(&stage).ok("mail_send", call.clone()).await, waiting);
    let done = ann.submit(&page, "/approve", &[("decision", "approve")]).await.is(200);
    done.says("Approved.").says("Nothing waits for your approval.");
    ann.submit(&page, "/approve", &[("decision", "refuse")]).await.is(400).says("no longer waits");
    let sent = mute(&stage).ok("mail_send", call).await;
    assert!(sent.contains("\tsent\t"), "{sent}");
}

/// Approves the write that waits, on the page of ann.
async fn approve(stage: &Stage) {
    let mut browser = Browser::of(stage, "ann").await;
    let page = browser.get("/approve").await.is(200);
    browser.submit(&page, "/approve", &[("decision", "approve")]).await.is(200);
}

/// A client that shows pages gets the server's page, and its call waits for the decision.
#[tokio::test]
async fn client_that_shows_pages_shows_the_servers_own() {
    let stage = Stage::set(&["ann"], &CONFIRM).await;
    let url = json!({"elicitation": {"url": {}}});
    let page = stage.url("/approve");

    let first = draft(&stage, "ann", "Lamps").await;
    let mut ann = Caller { capabilities: url.clone(), ..stage.modern("ann") };
    let call = json!({"name": "mail_send", "arguments": {"id": first}});
    let asked = message(&ann.send("tools/call", call.clone()).await)["result"].clone();
    let question = &asked["inputRequests"]["confirm"]["params"];
    assert_eq!((&question["mode"], &question["url"]), (&json!("url"), &json!(page)), "{asked}");
    let mut answered = call;
    answered["requestState"] = asked["requestState"].clone();
    answered["inputResponses"] = json!({"confirm": {"action": "accept"}});
    let (sent, ()) = tokio::join!(ann.send("tools/call", answered), approve(&stage));
    assert!(text(&message(&sent)["result"]).contains("\tsent\t"), "{}", sent.text());

    let second = draft(&stage, "ann", "More lamps").await;
    ann = stage.old("ann").await;
    ann.initialize(url).await;
    let call = json!({"name": "mail_send", "arguments": {"id": second}});
    let mut stream = ann.stream(&ann.request("tools/call", call)).await;
    let question = stream.next().await.unwrap();
    assert_eq!(question["params"]["url"], page, "{question}");
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}});
    assert_eq!(ann.post(&answer).await.status, 202);
    let (last, ()) = tokio::join!(stream.next(), approve(&stage));
    assert!(text(&last.unwrap()["result"]).contains("\tsent\t"));
}

/// The browser gets a link that works once; the model gets only the address of the page.
#[tokio::test]
async fn server_over_stdio_opens_its_page_in_the_browser() {
    let stage = Stage::open().await;
    let opened = Arc::new(Mutex::new(Vec::new()));
    let known = opened.clone();
    let open = move |link: &str| {
        known.lock().unwrap().push(link.to_owned());
        true
    };
    let pages = LoopbackPages::new(Arc::clone(&stage.app), Box::new(open));
    assert!(pages.open(true).await.unwrap());
    // Only a new write opens the page.
    assert!(pages.open(false).await.unwrap());
    let links = opened.lock().unwrap().clone();
    assert_eq!(links.len(), 1, "{links:?}");
    let link = Url::parse(&links[0]).unwrap();
    let base = link[..url::Position::BeforePath].to_owned();
    assert_eq!(pages.address().await.unwrap().as_str(), format!("{base}/approve"));
    assert_ne!(pages.link().await.unwrap(), link);
    let path = link[url::Position::BeforePath..].to_owned();
    let mut browser = Browser { http: User::nobody(&base), jar: Default::default() };
    let page = browser.get("/approve").await.is(303);
    assert_eq!(page.reply.header("location"), "/sign-in?return=%2Fapprove");
    let signed_in = browser.get(&path).await.is(303);
    assert_eq!(signed_in.reply.header("location"), "/approve");
    browser.get("/approve").await.is(200).says("Nothing waits for your approval.");
    let mut other = Browser { http: User::nobody(&base), jar: Default::default() };
    other.get(&path).await.is(403).says("already used");
}

/// A client may draw the card in a second session, which any instance serves.
#[tokio::test]
async fn card_is_drawn_in_another_session_of_its_person() {
    let stage = Stage::of(&["ann", "bo"]).await;
    let other = stage.another().await;
    let types = json!({"mimeTypes": ["text/html;profile=mcp-app"]});
    let draws = json!({"extensions": {"io.modelcontextprotocol/ui": types}});
    let draft = draft(&stage, "ann", "Lamps").await;
    let call = json!({"id": draft});
    let show = json!({"tool": "mail_send", "arguments": call});
    let mut sessions = Vec::new();
    for (stage, person) in [(&stage, "ann"), (&other, "ann"), (&other, "bo")] {
        let mut caller = Caller::new(stage, person, OLD);
        caller.initialize(draws.clone()).await;
        sessions.push(caller);
    }
    let [model, view, bo] = &sessions[..] else { unreachable!() };
    // Lists and the view depend on the session, too.
    let listed = view.send("tools/list", json!({})).await.text();
    assert!(listed.contains("approval_show") && listed.contains("ui://daysheet/view"), "{listed}");
    let drawn = view.send("resources/read", json!({"uri": "ui://daysheet/view"})).await.text();
    assert!(drawn.contains("text/html;profile=mcp-app"), "{drawn}");
    let plain = stage.old("ann").await.send("tools/list", json!({})).await.text();
    assert!(!plain.contains("approval_show") && !plain.contains("ui://"), "{plain}");
    let waiting = model.ok("mail_send", call.clone()).await;
    assert!(waiting.contains("a card in the chat asks them"), "{waiting}");
    assert_eq!(bo.ok("approval_show", show.clone()).await, "{\"state\":\"none\"}");
    let card: Value = serde_json::from_str(&view.ok("approval_show", show).await).unwrap();
    let press = json!({"word": card["word"], "decision": "approve"});
    // A word is of its person.
    let refused = bo.error("approval_decide", press.clone()).await;
    assert!(refused.contains("this word was used"), "{refused}");
    assert_eq!(view.ok("approval_decide", press).await, "{\"state\":\"approved\"}");
    let sent = view.ok("mail_send", call).await;
    assert!(sent.contains("\tsent\t"), "{sent}");
}
