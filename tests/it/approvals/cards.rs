//! Approval on a card that the client draws (MCP Apps): its tools, its word, and its place among the
//! ways to approve. The drawn card is tested in `tests/interop`.

use std::collections::BTreeSet;

use super::*;

/// The tools whose answers the view draws.
const READING: &[&str] = &["brief", "calendar_free", "calendar_search", "mail_draft", "mail_read"];
/// The tools beside which the view asks for approval.
const WRITING: &[&str] =
    &["calendar_delete", "calendar_respond", "calendar_save", "mail_modify", "mail_send", "manage"];

/// Returns the names of the listed tools that have the view.
fn viewed(tools: &Value) -> BTreeSet<&str> {
    let tools = tools.as_array().unwrap().iter();
    let viewed = tools.filter(|tool| tool["_meta"]["ui"]["resourceUri"] == "ui://daysheet/view");
    viewed.map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// The capabilities of a client that draws views.
pub fn draws() -> Value {
    let types = json!({"mimeTypes": ["text/html;profile=mcp-app"]});
    json!({"extensions": {"io.modelcontextprotocol/ui": types}})
}

impl Approvals {
    /// Connects a client with these capabilities to a process with these settings.
    pub async fn draw(settings: &[(&str, &str)], capabilities: Value) -> Self {
        let mut approvals = Self::new(&[]).await;
        approvals.wire = Wire::over(approvals.senders.process(settings));
        approvals.wire.initialize(capabilities).await;
        approvals
    }

    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 3, "method": method, "params": params});
        self.wire.write(request).await;
        self.wire.read().await
    }

    /// Returns the answer of a tool that only the view may call.
    async fn view(&mut self, tool: &str, arguments: Value) -> Value {
        let text = self.call(tool, arguments).await;
        serde_json::from_str(&text).unwrap_or(Value::String(text))
    }

    /// Returns the content of the card of a draft.
    pub async fn card(&mut self, draft: &str) -> Value {
        let call = json!({"tool": "mail_send", "arguments": {"id": draft}});
        self.view("approval_show", call).await
    }

    async fn press(&mut self, word: &Value, decision: &str) -> Value {
        self.view("approval_decide", json!({"word": word, "decision": decision})).await
    }
}

#[tokio::test]
async fn one_press_sends_the_message_that_the_card_shows() {
    let mut approvals = Approvals::draw(&[], draws()).await;
    let draft = approvals.senders.draft("zoe@example.org").await;
    assert_eq!(approvals.card(&draft).await, json!({"state": "none"}));
    let way = "a card in the chat asks them, and makes this call again once they approve: do not \
               repeat it yourself. If they see no card, ask the user to run `daysheet approve` in a \
               terminal";
    assert_eq!(approvals.send(&draft).await, approvals.waiting_row_of(way));
    let card = approvals.card(&draft).await;
    let text = "Send this mail?\nFrom: Mira Lindqvist <mira@example.com>\nTo: zoe@example.org\n\
                Subject: Lamps\nNever written to before: zoe@example.org";
    assert_eq!(card["state"], "waiting");
    assert_eq!(card["tool"], "mail_send");
    assert_eq!(card["question"], text);
    assert_eq!(card["content"].as_str().unwrap().trim_end(), "Hello.");
    let pressed = approvals.press(&card["word"], "approve").await;
    assert_eq!(pressed, json!({"state": "approved"}));
    // The view makes the call again.
    assert_eq!(approvals.send(&draft).await, format!("{draft} send sent m21, to 1"));
    assert_eq!(approvals.senders.sent(), 1);
    // A word is good once, and nothing waits any more.
    let used = "this word was used, has expired, or is not from a card: let the user decide on the \
                card of the call";
    assert_eq!(approvals.press(&card["word"], "approve").await, used);
    assert_eq!(approvals.card(&draft).await, json!({"state": "none"}));
}

/// A model cannot approve a write by calling the tools of the view itself.
#[tokio::test]
async fn words_are_of_one_write_and_cannot_be_made_up() {
    let mut approvals = Approvals::draw(&[], draws()).await;
    let [draft, other] = [
        approvals.senders.draft("zoe@example.org").await,
        approvals.senders.draft("yara@example.org").await,
    ];
    let waiting = approvals.send(&draft).await;
    approvals.send(&other).await;
    let waits = approvals.store().waiting_writes().await.unwrap();
    let ids: Vec<&str> = waits.iter().map(|(id, _)| id.as_str()).collect();
    for word in [json!(""), json!("x"), json!(null), json!(ids[0]), json!(ids[1])] {
        let refused = approvals.press(&word, "approve").await;
        assert!(refused.as_str().unwrap().starts_with("this word was used"), "{refused}");
    }
    let word = approvals.card(&other).await["word"].clone();
    // An unknown decision uses up nothing.
    let refused = approvals.press(&word, "yes").await;
    assert!(refused.as_str().unwrap().contains("neither approve nor refuse"), "{refused}");
    assert_eq!(approvals.press(&word, "approve").await, json!({"state": "approved"}));
    assert_eq!(approvals.send(&draft).await, waiting);
    let word = approvals.card(&draft).await["word"].clone();
    assert_eq!(approvals.press(&word, "refuse").await, json!({"state": "refused"}));
    let refused = format!("{draft} send refused the user declined; the draft is unchanged");
    assert_eq!(approvals.send(&draft).await, refused);
    // A decision elsewhere leaves the card's word without a write.
    let third = approvals.senders.draft("zoe@example.org").await;
    approvals.send(&third).await;
    let word = approvals.card(&third).await["word"].clone();
    approvals.decide(ApprovalDecision::Refused).await;
    assert_eq!(approvals.press(&word, "approve").await, json!({"state": "expired"}));
    assert_eq!(approvals.senders.sent(), 0);
}

/// The order of ways: a question, a card, the page, the terminal.
#[tokio::test]
async fn each_client_gets_the_first_way_that_it_has() {
    let both = json!({"elicitation": {"form": {}}, "extensions": draws()["extensions"]});
    let wrong = json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html"]}}});
    for (name, capabilities, approve, way) in [
        ("both", both, "card", "question"),
        ("draws", draws(), "card", "a card in the chat"),
        ("draws, page", draws(), "page", "ask the user to run `daysheet approve`"),
        ("draws, terminal", draws(), "terminal", "ask the user to run `daysheet approve`"),
        ("draws, never", draws(), "never", "this client cannot ask the user"),
        ("other views", wrong, "card", "ask the user to run `daysheet approve`"),
        ("nothing", json!({}), "card", "ask the user to run `daysheet approve`"),
    ] {
        let settings = [("DAYSHEET_APPROVE", approve)];
        let mut approvals = Approvals::draw(&settings, capabilities).await;
        let draft = approvals.senders.draft("zoe@example.org").await;
        let params = json!({"name": "mail_send", "arguments": {"id": draft}});
        let reply = approvals.request("tools/call", params).await;
        let is_question = reply["method"] == "elicitation/create";
        let text = reply["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(
            if way == "question" { is_question } else { text.contains(way) },
            "{name}: {reply}"
        );
        if is_question {
            continue;
        }
        // Its tools exist where there is a card, and nowhere else.
        let has_card = way.starts_with("a card");
        let text = approvals.call("approval_show", json!({"arguments": {"id": draft}})).await;
        assert_eq!(text.contains("\"waiting\""), has_card, "{name}: {text}");
        assert_eq!(text.contains("there is no tool"), !has_card, "{name}: {text}");
        // The view draws answers, too.
        let draws = name.starts_with("draws");
        let view = approvals.request("resources/read", json!({"uri": "ui://daysheet/view"})).await;
        assert_eq!(view["result"].is_object(), draws, "{name}: {view}");
        let tools = approvals.request("tools/list", json!({})).await["result"]["tools"].clone();
        let expected = match (draws, has_card) {
            (true, true) => [READING, WRITING].concat(),
            (true, false) => READING.to_vec(),
            (false, _) => Vec::new(),
        };
        assert_eq!(viewed(&tools), BTreeSet::from_iter(expected), "{name}");
    }
}

/// A card asks before every write that a question would ask about.
#[tokio::test]
async fn card_asks_before_mail_to_known_people() {
    let mut approvals = Approvals::draw(&[], draws()).await;
    let draft = approvals.senders.draft("jonas@example.com").await;
    let waiting = approvals.send(&draft).await;
    assert!(waiting.contains("a card in the chat asks them"), "{waiting}");
    assert!(!waiting.contains("because"), "{waiting}");
    let card = approvals.card(&draft).await;
    assert_eq!(card["content"].as_str().unwrap().trim_end(), "Hello.");
    approvals.press(&card["word"], "approve").await;
    assert_eq!(approvals.send(&draft).await, format!("{draft} send sent m21, to 1"));
}

#[tokio::test]
async fn only_clients_that_draw_pay_for_views() {
    let mut drawing = Approvals::draw(&[], draws()).await;
    let mut other = Approvals::draw(&[], json!({})).await;
    let list = async |approvals: &mut Approvals| {
        approvals.request("tools/list", json!({})).await["result"]["tools"].clone()
    };
    let (with, without) = (list(&mut drawing).await, list(&mut other).await);
    let with = with.as_array().unwrap().clone();
    let (own, shown): (Vec<Value>, Vec<Value>) =
        with.into_iter().partition(|tool| tool["_meta"]["ui"]["visibility"] == json!(["app"]));
    let names: Vec<&str> = own.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["approval_show", "approval_decide"]);
    assert!(!without.to_string().contains("ui://"), "{without}");
    // The model is shown names, descriptions and schemas, all of which are the same.
    let plain: Vec<Value> = shown
        .into_iter()
        .map(|mut tool| {
            tool.as_object_mut().unwrap().remove("_meta");
            tool
        })
        .collect();
    assert_eq!(Value::Array(plain), without);

    let view = drawing.request("resources/read", json!({"uri": "ui://daysheet/view"})).await;
    let content = &view["result"]["contents"][0];
    assert_eq!(content["mimeType"], "text/html;profile=mcp-app");
    assert_eq!(content["_meta"], json!({"ui": {"prefersBorder": true}}));
    let html = content["text"].as_str().unwrap();
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>"));
    assert!(html.len() < 60_000, "{}", html.len());
    // Comments are left out.
    let is_comment = |line: &str| line.starts_with("//") || line.contains("/**");
    assert_eq!(html.lines().find(|line| is_comment(line)), None);
    // Nothing is loaded, no handler is in the markup, and texts never become markup.
    for banned in ["http:", "https:", " onclick=", "innerHTML", "eval(", "src="] {
        assert!(!html.contains(banned), "{banned}");
    }
}
