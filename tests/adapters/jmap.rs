//! Mail over JMAP: requests to a small server defined here, with a dozen messages. It implements
//! only the parts of RFC 8621 that its messages need.

use std::time::Duration;

use daysheet_core::error::ErrorKind;
use daysheet_core::project::project;
use daysheet_core::provider::upstream::UpstreamShare;
use daysheet_core::provider::{
    ListRequest, Mailbox, ProviderEndpoints, ServiceSettings, TokenSource,
};
use daysheet_core::query::parse;
use daysheet_core::schemas::{ColumnLevel, MESSAGE};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use url::Url;

use self::mailbox::JmapMailbox;

use crate::common::clock;
use crate::common::conformance::{self, KnownMail};
use crate::tap::{HttpRequest, HttpResponse, Tap, empty, respond};

// The modules of the example.
#[path = "../../examples/jmap/client.rs"]
mod client;
#[path = "../../examples/jmap/mailbox.rs"]
mod mailbox;
#[path = "../../examples/jmap/mapping.rs"]
mod mapping;
#[path = "../../examples/jmap/objects.rs"]
mod objects;
#[path = "../../examples/jmap/query.rs"]
mod query;

/// Thread, mailboxes and keywords, subject, text.
type Mail = (&'static str, [&'static str; 2], &'static str, &'static str);

/// The oldest first, a day apart.
const MAIL: &[Mail] = &[
    ("T1", ["in", "$seen"], "Lamps", "Which lamps do you mean?"),
    ("T1", ["sent", "$seen"], "Re: Lamps", "The brass ones."),
    ("T2", ["in", ""], "Paper", "A quotation for laid paper."),
    ("T3", ["trash", "$seen"], "Sale", "Everything must go."),
    ("T4", ["in work", "$flagged"], "Proofs", "Proofs are attached."),
    ("T1", ["in", "$seen"], "Re: Lamps", "Brass lamps it is."),
    ("T5", ["junk", ""], "You won", "Claim your prize."),
    ("T6", ["drafts", "$seen $draft"], "Outline", "A talk, roughly."),
    ("T7", ["in", "$seen"], "Minutes", "We met and agreed."),
    ("T8", ["work", ""], "Invoice 88213", "Due in a fortnight."),
    ("T9", ["in", ""], "Lantern walk", "Who brings the lanterns?"),
    ("T2", ["in", "$important"], "Re: Paper", "Cheaper paper, too."),
];

fn emails() -> Vec<Value> {
    let email = |(at, (thread, [boxes, keywords], subject, text)): (usize, &Mail)| {
        let set = |words: &str| -> Map<String, Value> {
            words.split_whitespace().map(|word| (word.to_owned(), json!(true))).collect()
        };
        json!({
            "id": format!("M{at:02}"), "threadId": thread, "mailboxIds": set(boxes),
            "keywords": set(keywords), "subject": subject, "preview": text,
            "receivedAt": format!("2026-11-{:02}T08:30:00Z", at + 1), "size": 1000 * (at + 1),
            "hasAttachment": *subject == "Proofs",
            "from": [{"name": "Ada Boll", "email": "ada@example.org"}],
            "to": [{"name": null, "email": "mira@example.com"}], "cc": [],
            "header:Message-ID": format!(" <{at}@example.org>"),
            "headers": [{"name": "From", "value": " Ada Boll <ada@example.org>"},
                        {"name": "List-Id", "value": " <lamps.example.org>"}],
            "textBody": [{"partId": "1", "type": "text/plain"}],
            "htmlBody": [{"partId": "1", "type": "text/plain"}],
            "bodyValues": {"1": {"value": text, "isTruncated": false}},
            "attachments": [{"partId": "2", "blobId": "B2", "name": "proofs.pdf",
                             "type": "application/pdf", "size": 512}],
        })
    };
    MAIL.iter().enumerate().map(email).collect()
}

fn mailboxes() -> Value {
    let one = |(id, name, role, above): (&str, &str, Option<&str>, Option<&str>)| {
        json!({"id": id, "name": name, "role": role, "parentId": above, "unreadEmails": 1,
               "totalEmails": 2})
    };
    let all = [
        ("in", "INBOX", Some("inbox"), None),
        ("sent", "Gesendet", Some("sent"), None),
        ("drafts", "Drafts", Some("drafts"), None),
        ("trash", "Deleted", Some("trash"), None),
        ("junk", "Junk", Some("junk"), None),
        ("clients", "Clients", None, None),
        ("work", "Nordlicht", None, Some("clients")),
    ];
    all.map(one).into()
}

/// True if a message meets a filter (RFC 8621, 4.4.1).
fn meets(email: &Value, filter: &Value) -> bool {
    if let Some(operator) = filter["operator"].as_str() {
        let mut parts = filter["conditions"].as_array().unwrap().iter();
        return match operator {
            "AND" => parts.all(|one| meets(email, one)),
            "OR" => parts.any(|one| meets(email, one)),
            _ => !parts.any(|one| meets(email, one)),
        };
    }
    filter.as_object().unwrap().iter().all(|(name, value)| {
        let text = value.as_str().unwrap_or_default();
        let number = value.as_u64().unwrap_or_default();
        let says = |key: &str| {
            email[key].to_string().to_lowercase().contains(&text.trim_matches('"').to_lowercase())
        };
        let received: Timestamp = email["receivedAt"].as_str().unwrap().parse().unwrap();
        let instant = || text.parse::<Timestamp>().unwrap();
        match name.as_str() {
            "text" => ["subject", "from", "to", "preview"].iter().any(|key| says(key)),
            "body" => says("preview"),
            "from" | "to" | "cc" | "subject" => says(name),
            "inMailbox" => !email["mailboxIds"][text].is_null(),
            "inMailboxOtherThan" => email["mailboxIds"]
                .as_object()
                .unwrap()
                .keys()
                .any(|id| !value.as_array().unwrap().contains(&json!(id))),
            "hasKeyword" => !email["keywords"][text].is_null(),
            "notKeyword" => email["keywords"][text].is_null(),
            "hasAttachment" => email["hasAttachment"] == *value,
            "minSize" => email["size"].as_u64().unwrap() >= number,
            "maxSize" => email["size"].as_u64().unwrap() < number,
            "before" => received < instant(),
            "after" => received >= instant(),
            other => panic!("the server knows no {other}"),
        }
    })
}

/// Resolves a reference to an earlier response (RFC 8620, 3.7).
fn resolved(value: &Value, path: &str) -> Vec<Value> {
    match path.trim_start_matches('/').split_once("/*/") {
        Some((list, key)) => {
            let items = value[list].as_array().unwrap().iter();
            items
                .flat_map(|item| match &item[key] {
                    Value::Array(many) => many.clone(),
                    one => vec![one.clone()],
                })
                .collect()
        }
        None => value[path.trim_start_matches('/')].as_array().unwrap().clone(),
    }
}

fn query(arguments: &Value) -> Value {
    let mut found: Vec<Value> = emails();
    found.retain(|one| meets(one, &arguments["filter"]));
    if arguments["sort"][0]["isAscending"] == false {
        found.reverse();
    }
    if arguments["collapseThreads"] == true {
        let mut seen = Vec::new();
        found.retain(|one| {
            let new = !seen.contains(&one["threadId"]);
            seen.push(one["threadId"].clone());
            new
        });
    }
    let total = found.len();
    let from = match &arguments["anchor"] {
        Value::Null => 0,
        anchor => match found.iter().position(|one| one["id"] == *anchor) {
            Some(at) => at + 1,
            None => return json!({"error": "anchorNotFound"}),
        },
    };
    let limit = usize::try_from(arguments["limit"].as_u64().unwrap()).unwrap();
    let ids: Vec<Value> =
        found.iter().skip(from).take(limit).map(|one| one["id"].clone()).collect();
    json!({"ids": ids, "position": from, "total": total})
}

/// Returns the objects with these ids and these properties, not in the requested order.
fn get(arguments: &Value, ids: Option<Vec<Value>>, objects: Vec<Value>) -> Value {
    let mut list: Vec<Value> = objects;
    if let Some(ids) = ids {
        list.retain(|one| ids.contains(&one["id"]));
    }
    if let Some(properties) = arguments["properties"].as_array() {
        for one in &mut list {
            one.as_object_mut()
                .unwrap()
                .retain(|key, _| key == "id" || properties.contains(&json!(key)));
        }
    }
    json!({"list": list, "state": "s1"})
}

fn threads() -> Vec<Value> {
    let mut threads: Vec<Value> = Vec::new();
    for email in emails() {
        match threads.iter_mut().find(|one| one["id"] == email["threadId"]) {
            Some(thread) => thread["emailIds"].as_array_mut().unwrap().push(email["id"].clone()),
            None => threads.push(json!({"id": email["threadId"], "emailIds": [email["id"]]})),
        }
    }
    threads
}

fn serve(request: &HttpRequest) -> Option<HttpResponse> {
    if request.header("authorization") != "Bearer the-token" {
        return Some(empty(401));
    }
    if request.target == "GET /session" {
        let mail = json!({"urn:ietf:params:jmap:mail": "A1"});
        return Some(respond(200, &json!({"apiUrl": "/api/", "primaryAccounts": mail})));
    }
    assert_eq!(request.target, "POST /api/");
    let mut answers: Vec<Value> = Vec::new();
    for call in request.body["methodCalls"].as_array().unwrap() {
        let (name, arguments) = (call[0].as_str().unwrap(), &call[1]);
        assert_eq!(arguments["accountId"], "A1");
        let reference = &arguments["#ids"];
        let ids = match reference["resultOf"].as_str() {
            Some(at) => {
                let earlier = &answers[at.parse::<usize>().unwrap()];
                Some(resolved(&earlier[1], reference["path"].as_str().unwrap()))
            }
            None => arguments["ids"].as_array().cloned(),
        };
        let answer = match name {
            "Email/query" => query(arguments),
            "Email/get" => get(arguments, ids, emails()),
            "Thread/get" => get(arguments, ids, threads()),
            "Mailbox/get" => get(arguments, ids, mailboxes().as_array().unwrap().clone()),
            _ if arguments["sinceState"] == "s1" => {
                json!({"created": [], "updated": [], "destroyed": [], "newState": "s1"})
            }
            _ if arguments["sinceState"] == "s0" => json!({"created": ["M11"],
                "updated": ["M02"], "destroyed": ["M99"], "newState": "s1"}),
            _ => json!({"error": "cannotCalculateChanges"}),
        };
        answers.push(if answer["error"].is_null() {
            json!([name, answer, call[2]])
        } else {
            json!(["error", {"type": answer["error"]}, call[2]])
        });
        if !answer["error"].is_null() {
            break;
        }
    }
    Some(respond(200, &json!({"methodResponses": answers})))
}

/// Returns a server that answers by a rule, and a mailbox at it.
async fn scripted(
    rule: impl Fn(&HttpRequest) -> Option<HttpResponse> + Send + Sync + 'static,
) -> (Tap, JmapMailbox) {
    let tap = Tap::start(None).await;
    tap.say(rule);
    let services = ServiceSettings {
        endpoints: ProviderEndpoints::below(&Url::parse(&tap.base).unwrap()).unwrap(),
        look: Duration::ZERO,
        retry: Duration::from_millis(250),
        clock: clock::clock(),
        share: UpstreamShare::default(),
        connect: None,
    };
    let session = format!("{}/session", tap.base);
    let mailbox = JmapMailbox::new(&services, TokenSource::fixed("the-token"), &session).unwrap();
    (tap, mailbox)
}

fn ask(mailbox: &dyn Mailbox, q: &str) -> ListRequest {
    let query = (!q.is_empty()).then(|| parse(q, &super::query::clock()).unwrap());
    let projection = project(mailbox.api(), &MESSAGE.up_to(ColumnLevel::Core));
    ListRequest {
        query,
        folder: None,
        projection,
        limit: 50,
        oldest: false,
        cursor: None,
        hidden: false,
    }
}

#[tokio::test]
async fn it_keeps_its_promises() {
    let known = KnownMail {
        messages: 10,
        words: "fortnight",
        subject: "Invoice 88213",
        text: "Due in a fortnight.",
        folder: ("inbox", 7),
        thread: ("brass lamps", 3),
        unknown: "M99",
        read_only: true,
        except: &[],
    };
    let (_tap, jmap) = scripted(serve).await;
    conformance::mailbox(&jmap, &known).await;
}

/// Queries, their filters without the part for trash and spam, and the messages found.
#[tokio::test]
async fn queries_are_filters() {
    let (tap, mailbox) = scripted(serve).await;
    for (q, filter, found) in cases! {
        "from:ada -subject:lamps", json!({"operator": "AND", "conditions": [
                {"from": "ada"}, {"operator": "NOT", "conditions": [{"subject": "lamps"}]}]}),
            "M11 M10 M09 M08 M07 M04 M02";
        "\"brass lamps\" OR body:fortnight", json!({"operator": "OR", "conditions": [
                {"text": "\"brass lamps\""}, {"body": "fortnight"}]}),
            "M09 M05";
        "is:unread in:clients/nordlicht", json!({"operator": "AND", "conditions": [
                {"notKeyword": "$seen"}, {"inMailbox": "work"}]}),
            "M09 M04";
        "is:starred has:attachment", json!({"operator": "AND", "conditions": [
                {"hasKeyword": "$flagged"}, {"hasAttachment": true}]}),
            "M04";
        "larger:2000 smaller:5000", json!({"operator": "AND", "conditions": [
                {"minSize": 2001}, {"maxSize": 5000}]}),
            "M02";
        "after:2026-11-02 before:2026-11-04 to:mira", json!({"operator": "AND", "conditions": [
                {"after": "2026-11-01T23:00:00Z"}, {"before": "2026-11-03T23:00:00Z"},
                {"to": "mira"}]}),
            "M02 M01";
        "raw:{\"hasKeyword\": \"$important\"}", json!({"hasKeyword": "$important"}), "M11";
    } {
        tap.requests();
        let page = mailbox.messages(&ask(&mailbox, q)).await.unwrap();
        let ids: Vec<_> = page.items.iter().map(|item| item["id"].as_str().unwrap()).collect();
        assert_eq!(ids.join(" "), found, "{q}");
        let requests = tap.requests().pop().unwrap().body["methodCalls"][0].clone();
        let hidden = json!({"inMailboxOtherThan": ["trash", "junk"]});
        let filter = json!({"operator": "AND", "conditions": [filter, hidden]});
        assert_eq!(
            requests,
            json!(["Email/query", {"filter": filter,
            "sort": [{"property": "receivedAt", "isAscending": false}], "calculateTotal": true,
            "limit": 50, "collapseThreads": false, "accountId": "A1"}, "0"]),
            "{q}"
        );
    }
    for (q, expected) in [
        (
            "filename:bill",
            "JMAP cannot search by the names of files: leave it out, or search another account",
        ),
        (
            "category:promotions",
            "JMAP cannot search by category: leave it out, or search another account",
        ),
        ("in:nowhere", "there is no folder `nowhere`: name one of the folders"),
        (
            "raw:x",
            "the query behind `raw:` is not a JMAP filter: write it as a JSON object (RFC 8621, 4.4.1)",
        ),
    ] {
        let error = mailbox.messages(&ask(&mailbox, q)).await.unwrap_err();
        assert_eq!(error.to_string(), expected, "{q}");
    }
    let page = mailbox.messages(&ask(&mailbox, "in:nowhere OR in:spam")).await.unwrap();
    assert_eq!((page.items.len(), page.notes.len()), (1, 1));
}

#[tokio::test]
async fn what_has_changed_is_reported() {
    let (_tap, mailbox) = scripted(serve).await;
    let projection = ask(&mailbox, "").projection;
    let changes = mailbox.changes(Some("s0"), &projection).await.unwrap();
    assert_eq!((changes.new[0]["id"].as_str(), changes.new.len()), (Some("M11"), 1));
    assert_eq!((changes.changed[0]["id"].as_str(), changes.changed.len()), (Some("M02"), 1));
    assert_eq!((changes.gone, changes.cursor.as_str()), (vec!["M99".to_owned()], "s1"));
}

#[tokio::test]
async fn the_token_stays_at_the_server() {
    let session = |_: &HttpRequest| {
        let mail = json!({"urn:ietf:params:jmap:mail": "A1"});
        Some(respond(200, &json!({"apiUrl": "https://other.example/", "primaryAccounts": mail})))
    };
    let (_tap, mailbox) = scripted(session).await;
    let error = mailbox.names().await.unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Provider(200), "the session leads to another server")
    );
}
