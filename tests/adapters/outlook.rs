//! The Outlook adapter: its requests to Graph, and how it handles responses, both the sandbox's and
//! hostile ones.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use daysheet_core::body::MAX_BYTES;
use daysheet_core::error::{ErrorKind, Result};
use daysheet_core::ids::{MessageId, ThreadId};
use daysheet_core::project::project;
use daysheet_core::provider::{
    BodyForm, ListPage, ListRequest, Mailbox, PeopleQuery, SearchTotal, TextPart, ThreadRole,
};
use daysheet_core::query::{DateContext, Query, parse};
use daysheet_core::schemas::{ColumnLevel, FOLDER, MESSAGE, Service, THREAD, Table};
use futures_util::future::join_all;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::client::ME;
use crate::common::messages::{mailboxes, write_message};
use crate::tap::{HttpRequest, HttpResponse, Outlook, PREFER, empty, long, respond};

fn query(q: &str) -> Option<Query> {
    let clock = DateContext { now: "2026-11-20T12:00:00Z".parse().unwrap(), zone: TimeZone::UTC };
    // As the pipeline hands it on.
    (!q.is_empty()).then(|| Query::All(vec![parse(q, &clock).unwrap()]))
}

fn ask(table: &'static Table, names: &[&str], q: &str, limit: usize) -> ListRequest {
    let columns: Vec<_> = names.iter().map(|name| table.field(name).unwrap()).collect();
    ListRequest {
        query: query(q),
        folder: None,
        projection: project(Service::Microsoft, &columns),
        limit,
        oldest: false,
        cursor: None,
        hidden: false,
    }
}

/// A page of messages or of threads.
async fn page(mailbox: &dyn Mailbox, table: &Table, request: &ListRequest) -> Result<ListPage> {
    match table.name {
        "thread" => mailbox.threads(request).await,
        _ => mailbox.messages(request).await,
    }
}

fn texts<'v>(items: &'v [Value], key: &str) -> Vec<&'v str> {
    items.iter().map(|item| item[key].as_str().unwrap_or("")).collect()
}

const LIST: &str = "GET /me/messages?";
const NEWEST: &str = "$orderby=receivedDateTime desc&";

/// Each search with its columns, and the one request it is.
#[tokio::test]
async fn only_fields_that_columns_need_are_requested() {
    let outlook = Outlook::sample().await;
    let mailbox = outlook.mailbox().await;
    let names = mailbox.names().await.unwrap();
    let tree = outlook.tap.lines();
    assert_eq!(tree.len(), 2, "{tree:#?}");
    let nested = names.iter().find(|(_, name)| *name == "Projects/2026").unwrap().0;
    for (q, columns, limit, expected) in cases! {
        "", &["id"][..], 5, format!("{LIST}{NEWEST}$select=id,parentFolderId&$top=5&$count=true");
        "in:anywhere", &["id", "size"], 5,
            format!(
                "{LIST}{NEWEST}$select=id&$expand=singleValueExtendedProperties($filter=id eq 'Integer 0x0E08')&$top=5&$count=true"
            );
        "in:anywhere", &["id", "date", "from", "subject", "snippet", "flags"], 20,
            format!(
                "{LIST}{NEWEST}$select=id,receivedDateTime,from,isDraft,subject,bodyPreview,isRead,flag,hasAttachments,importance&$top=20&$count=true"
            );
        "in:inbox is:unread", &["id", "subject"], 10,
            format!(
                "GET /me/mailFolders/inbox/messages?$filter=receivedDateTime ge 1900-01-01T00:00:00Z and isRead eq false&{NEWEST}$select=id,subject&$top=10&$count=true"
            );
        "in:projects/2026", &["id", "folder"], 500,
            format!(
                "GET /me/mailFolders/{nested}/messages?{NEWEST}$select=id,parentFolderId&$top=100&$count=true"
            );
        "in:spam lantern", &["id"], 7,
            "GET /me/mailFolders/junkemail/messages?$search=\"\\\"lantern\\\"\"&$select=id,receivedDateTime&$top=7"
                .to_owned();
        "raw:$filter=importance eq 'high'", &["id"], 3,
            format!(
                "{LIST}$filter=receivedDateTime ge 1900-01-01T00:00:00Z and (importance eq 'high')&{NEWEST}$select=id,parentFolderId&$top=3&$count=true"
            );
        "in:inbox label:Receipts", &["id"], 3,
            format!("GET /me/mailFolders/inbox/messages?{NEWEST}$select=id,categories&$top=25");
    } {
        mailbox.messages(&ask(&MESSAGE, columns, q, limit)).await.unwrap();
        let [seen] = &outlook.tap.requests()[..] else {
            panic!("{q}: not one request");
        };
        assert_eq!(seen.line, expected, "{q}");
        assert_eq!(seen.header("prefer"), PREFER);
        assert!(
            seen.header("user-agent").starts_with("daysheet/"),
            "{}",
            seen.header("user-agent")
        );
    }
}

#[tokio::test]
async fn pages_are_an_exact_partition() {
    let outlook = Outlook::sample().await;
    let mailbox = outlook.mailbox().await;
    for (table, q) in
        [(&MESSAGE, "in:anywhere"), (&MESSAGE, ""), (&THREAD, "in:anywhere"), (&THREAD, "")]
    {
        let mut all = Vec::new();
        for limit in [100, 7] {
            let mut request = ask(table, &["id", "date"], q, limit);
            let mut ids: Vec<String> = Vec::new();
            loop {
                let page = page(&*mailbox, table, &request).await.unwrap();
                for id in texts(&page.items, "id") {
                    // A page of messages begins with some of the page before.
                    let again = ids.iter().any(|known| known == id);
                    assert!(!again || table.name == "message", "{q} {id}");
                    if !again {
                        ids.push(id.to_owned());
                    }
                }
                if request.cursor.is_none() && table.name == "message" {
                    let counted = match q {
                        "" if limit == 7 => SearchTotal::About(60),
                        "" => SearchTotal::Exactly(56),
                        _ => SearchTotal::Exactly(60),
                    };
                    assert_eq!(page.total, Some(counted), "{q} {limit}");
                }
                let Some(next) = page.next else { break };
                request.cursor = Some(next);
            }
            assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
            all.push(ids);
        }
        assert_eq!(all[0], all[1], "{} {q}", table.name);
    }
}

#[tokio::test]
async fn thread_is_complete_and_costs_one_batch_part() {
    let outlook = Outlook::sample().await;
    let mailbox = outlook.mailbox().await;
    mailbox.names().await.unwrap();
    outlook.tap.requests();
    let columns = &["id", "date", "people", "count"];
    let page = mailbox.threads(&ask(&THREAD, columns, "subject:vesper", 30)).await.unwrap();
    let requests = outlook.tap.lines();
    assert_eq!(requests.len(), 2, "{requests:#?}");
    assert_eq!(requests[1].lines().count(), 1 + page.items.len());
    let mut several = 0;
    for thread in &page.items {
        let messages = thread["messages"].as_array().unwrap();
        let dates = texts(messages, "receivedDateTime");
        assert!(dates.is_sorted(), "{dates:?}");
        let id = thread["id"].as_str().unwrap();
        let members = mailbox.thread(&id.into()).await.unwrap().into_iter().map(|one| one.id);
        assert_eq!(members.collect::<Vec<_>>(), texts(messages, "id"));
        several += usize::from(messages.len() > 1);
    }
    assert!(several > 0);
    // Ids alone need no second request.
    outlook.tap.requests();
    mailbox.threads(&ask(&THREAD, &["id"], "in:anywhere", 5)).await.unwrap();
    assert_eq!(
        outlook.tap.lines(),
        [format!("{LIST}{NEWEST}$select=conversationId,receivedDateTime&$top=10")]
    );
    // A reply from another of one's addresses is one's own, wherever it is filed.
    let mail = TempDir::new().unwrap();
    for (number, from) in [(1, "ana@example.com"), (2, "me@example.onmicrosoft.com")] {
        let headers = format!(
            "From: {from}\nTo: me@example.com\nSubject: both\nMessage-ID: <{number}@x.example>\n\
             References: <1@x.example>\nDate: Mon, {number} Nov 2026 10:00:00 +0000"
        );
        write_message(mail.path(), &format!("{number}.eml"), &headers, "x");
    }
    let outlook = Outlook::over(Some(mail.path())).await;
    let mailbox = outlook.mailbox_of("me@example.com").await;
    let page = mailbox.threads(&ask(&THREAD, &["id"], "", 5)).await.unwrap();
    let id: ThreadId = page.items[0]["id"].as_str().unwrap().into();
    for _ in 0..2 {
        let thread = mailbox.thread_states(std::slice::from_ref(&id)).await.remove(0).unwrap();
        let roles: Vec<ThreadRole> = thread.iter().map(|one| one.role).collect();
        assert_eq!(roles, [ThreadRole::Received, ThreadRole::Sent]);
    }
    let users = outlook.tap.lines().into_iter().filter(|line| line.starts_with("GET /me?"));
    assert_eq!(users.count(), 1, "the addresses are fetched once");
}

#[tokio::test]
async fn messages_are_fetched_in_batches() {
    let outlook = Outlook::sample().await;
    let mailbox = outlook.mailbox().await;
    let request = ask(&MESSAGE, &["id"], "in:anywhere", 100);
    let page = mailbox.messages(&request).await.unwrap();
    let ids: Vec<MessageId> = texts(&page.items, "id").into_iter().map(MessageId::from).collect();
    outlook.tap.requests();
    for form in [BodyForm::None, BodyForm::Headers, BodyForm::Parts] {
        for count in [1, 20, 25, 60] {
            let messages = mailbox.read_messages(&ids[..count], &request.projection, form).await;
            let with_files = messages
                .iter()
                .filter(|message| {
                    let message = message.as_ref().unwrap();
                    message.item["hasAttachments"] == true || !message.inline.is_empty()
                })
                .count();
            let calendars = messages.iter().flatten();
            let calendars = calendars.filter(|message| message.invitation.is_some());
            let trips = count.div_ceil(20) + with_files.div_ceil(20) + calendars.count();
            let requests = outlook.tap.lines();
            assert_eq!(requests.len(), trips, "{form:?} {count} {with_files}");
            let direct = requests[0].starts_with("GET /me/messages/");
            assert_eq!(direct, count == 1, "{}", requests[0]);
        }
    }
}

#[tokio::test]
async fn message_is_read_in_every_format() {
    let mail = TempDir::new().unwrap();
    write_message(
        mail.path(),
        "one.eml",
        "From: Ana <ana@example.com>\nTo: me@example.com\nSubject: both\nMessage-ID: <1@x.example>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=m",
        "--m\nContent-Type: multipart/related; boundary=r\n\n\
         --r\nContent-Type: text/html\n\n<p>Look: <img src=\"cid:pic\"> there.</p>\n\
         --r\nContent-Type: image/png; name=pic.png\nContent-ID: <pic>\nContent-Disposition: inline\n\nPNG\n--r--\n\
         --m\nContent-Type: application/pdf; name=bill.pdf\nContent-Disposition: attachment; filename=bill.pdf\n\n%PDF\n--m--\n",
    );
    let outlook = Outlook::over(Some(mail.path())).await;
    let address = outlook.sandbox.as_ref().unwrap().addresses()[0].clone();
    let mailbox = outlook.mailbox_of(&address).await;
    let request = ask(&MESSAGE, &["id", "subject"], "", 5);
    let id = mailbox.messages(&request).await.unwrap().items[0]["id"].as_str().unwrap().to_owned();
    let missing = "AAkALgAAAAAAHYQDEapmEc2byACqAC/EWg0ADDDDDDDDDDDDDDDDDDDDDDDDDAA=".to_owned();
    let ids = [id.clone(), missing, "x/../y".to_owned()].map(MessageId::from);

    let messages = mailbox.read_messages(&ids, &request.projection, BodyForm::Parts).await;
    let first = messages[0].as_ref().unwrap();
    assert_eq!(first.item["subject"], "both");
    assert_eq!(first.item.get("body"), None);
    assert!(first.notes.is_empty(), "{:?}", first.notes);
    assert_eq!(first.inline[0]["name"], "pic.png");
    let files: Vec<_> = first
        .attachments
        .iter()
        .map(|file| {
            let (message, attachment) = file["id"].as_str().unwrap().split_once(':').unwrap();
            assert_eq!(message, id);
            assert!(attachment.len() > 16 && !attachment.contains(':'), "{attachment}");
            json!([file["name"], file["contentType"], file["message"]])
        })
        .collect();
    assert_eq!(files, [json!(["bill.pdf", "application/pdf", id])]);
    let text = format!("{:?}", first.parts);
    assert!(text.contains("Html(") && text.contains("Look: <img"), "{text}");
    for (at, expected) in [
        (1, "Outlook has no such item: it may have been deleted; search again for its handle"),
        (2, "the id is not Outlook's: use a handle such as m12 from a search"),
    ] {
        assert_eq!(messages[at].as_ref().unwrap_err().to_string(), expected);
    }

    let headers = mailbox.read_messages(&ids[..1], &request.projection, BodyForm::Headers).await;
    let source = headers[0].as_ref().unwrap().source.clone().unwrap();
    assert!(source.contains("Message-ID: <1@x.example>\n"), "{source}");
    let raw = mailbox.read_messages(&ids[..1], &request.projection, BodyForm::Raw).await;
    let source = raw[0].as_ref().unwrap().source.clone().unwrap();
    assert!(source.contains("Subject: both") && source.contains("%PDF"), "{source}");
}

#[tokio::test]
async fn folders_are_found_by_name_path_and_id() {
    let outlook = Outlook::sample().await;
    let mailbox = outlook.mailbox().await;
    let columns = FOLDER.up_to(ColumnLevel::Core);
    let projection = project(Service::Microsoft, &columns);
    let page = mailbox.lookup(&FOLDER, &PeopleQuery::default(), &projection).await.unwrap();
    let shown: Vec<_> = page
        .items
        .iter()
        .map(|item| {
            let name = &page.names[item["id"].as_str().unwrap()];
            format!("{name} {}/{}", item["unreadItemCount"], item["totalItemCount"])
        })
        .collect();
    assert_eq!(
        shown,
        [
            "inbox 20/38", "inbox/2026 0/0", "sent 0/6", "drafts 0/2", "trash 0/2", "spam 2/2",
            "archive 0/10", "Projects 0/0", "Projects/2026 0/0", "RSS Feeds 0/0",
        ]
    );
    let id = |name: &str| {
        let found = page.names.iter().find(|(_, known)| *known == name);
        found.unwrap().0.clone()
    };
    for (name, folder) in [
        ("projects/2026", id("Projects/2026")),
        ("Inbox/2026", id("inbox/2026")),
        ("PROJECTS", id("Projects")),
        ("\"deleted items\"", id("trash")),
        ("Junk", "junkemail".to_owned()),
    ] {
        outlook.tap.requests();
        mailbox.messages(&ask(&MESSAGE, &["id"], &format!("in:{name}"), 5)).await.unwrap();
        let requests = outlook.tap.lines();
        let start = format!("GET /me/mailFolders/{folder}/messages?");
        assert!(requests.last().unwrap().starts_with(&start), "{name}: {requests:?}");
    }
    for (name, reported) in cases! {
        "in:2026", "2 folders are called `2026`: name one by its path: Inbox/2026, Projects/2026";
        "in:Klienten", "there is no folder `Klienten`: lookup kind=folders lists them";
    } {
        let error = mailbox.messages(&ask(&MESSAGE, &["id"], name, 5)).await.unwrap_err();
        assert_eq!(error.to_string(), reported);
    }
    // Graph's own syntax in a folder that the call names.
    let mut raw = ask(&MESSAGE, &["id"], "raw:$filter=isRead eq false", 5);
    let folder = Query::Term(daysheet_core::query::QueryTerm::Folder("projects/2026".to_owned()));
    if let Some(Query::All(parts)) = &mut raw.query {
        parts.push(folder);
    }
    outlook.tap.requests();
    mailbox.messages(&raw).await.unwrap();
    let nested = id("Projects/2026");
    assert_eq!(
        outlook.tap.lines(),
        [format!(
            "GET /me/mailFolders/{nested}/messages?$filter=receivedDateTime ge 1900-01-01T00:00:00Z and (isRead eq false)&{NEWEST}$select=id&$top=5&$count=true"
        )]
    );
    // A folder that a mailbox may lack, or that was deleted since.
    outlook.tap.say(|seen| {
        let there = seen.line.contains("/mailFolders/archive/messages");
        there.then(|| refusal(404, "ErrorItemNotFound", "x"))
    });
    let error = mailbox.messages(&ask(&MESSAGE, &["id"], "in:archive", 5)).await.unwrap_err();
    assert_eq!(error.to_string(), "Outlook has no such folder: lookup kind=folders lists them");
    // By a handle, and by a handle and a name that contradict each other.
    let mut both = ask(&MESSAGE, &["id"], "in:sent", 5);
    both.folder = Some(id("inbox").into());
    let page = mailbox.messages(&both).await.unwrap();
    assert_eq!(page.items, Vec::<Value>::new());
    both.query = None;
    assert_eq!(mailbox.messages(&both).await.unwrap().items.len(), 5);
}

#[tokio::test]
async fn every_kind_of_lookup_sends_its_requests() {
    let outlook = Outlook::sample().await;
    let mailbox = outlook.mailbox().await;
    let people = |q: Option<&str>, emails: &[&str]| PeopleQuery {
        q: q.map(str::to_owned),
        emails: emails.iter().map(|email| (*email).to_owned()).collect(),
        limit: 10,
    };
    let nobody = PeopleQuery::default;
    use daysheet_core::schemas::{ALIAS, CATEGORY, CONTACT, SETTING};
    let contact = "$select=id,emailAddresses,displayName,companyName,jobTitle,mobilePhone&$top=10";
    let person = "$select=id,scoredEmailAddresses,displayName,companyName,jobTitle,phones&$top=10";
    let every = "GET /me/contacts?$select=id,emailAddresses,displayName,companyName,jobTitle,mobilePhone&$top=500";
    let with = "GET /me/contacts?$filter=emailAddresses/any(a:a/address eq";
    let names = [
        "Clients/Nordlicht", "forums", "personal", "promotions", "Receipts", "School", "social",
        "Travel", "updates",
    ];
    let counted = |condition: &str| {
        names.map(|name| {
            format!(
                "GET /me/messages?$filter=categories/any(c:c eq '{name}'){condition}\
                 &$count=true&$top=1&$select=id"
            )
        })
    };
    let counted = [counted(""), counted(" and isRead eq false")].concat();
    let counted = format!("POST /$batch\n{}", counted.join("\n"));
    for (what, table, requests, expected) in cases! {
        nobody(), &CATEGORY,
            vec![
                "GET /me/outlook/masterCategories?$select=displayName,color".to_owned(),
                counted,
            ],
            "Clients/Nordlicht, forums, personal, promotions, Receipts, School, social, Travel, updates";
        nobody(), &ALIAS,
            vec!["GET /me?$select=mail,userPrincipalName,proxyAddresses".to_owned()],
            "mira@example.com true, mira@example.onmicrosoft.com false";
        nobody(), &SETTING, vec!["GET /me/mailboxSettings".to_owned()],
            "W. Europe Standard Time";
        people(None, &[]), &CONTACT,
            vec![format!("POST /$batch\nGET /me/contacts?{contact}\nGET /me/people?{person}")],
            "Henrike Olbrich, Jonas Brandt, Priya Raman, Tomasz Wilk, Anselm Voss, Bruno Kowalczyk, Parents of class 3b, Anselm Voss, Lindenhof School, class 3b, Cosima Dreyer, The Ledger Line";
        people(Some("pri\"ya"), &[]), &CONTACT,
            vec![format!(
                "POST /$batch\n{every}\n\
                 GET /me/people?$search=\"pri\\\"ya\"&{person}"
            )], "";
        people(Some("priya"), &[]), &CONTACT,
            vec![format!("POST /$batch\n{every}\nGET /me/people?$search=\"priya\"&{person}")],
            "Priya Raman";
        // A saved contact by a part of the name and of the address.
        people(Some("OLB henrik"), &[]), &CONTACT,
            vec![format!("POST /$batch\n{every}\nGET /me/people?$search=\"OLB henrik\"&{person}")],
            "Henrike Olbrich";
        people(None, &["priya@example.com", "o'nobody@example.com"]), &CONTACT,
            vec![
                format!(
                    "POST /$batch\n{with} 'priya@example.com')&{contact}\n\
                     {with} 'o''nobody@example.com')&{contact}"
                ),
                format!("GET /me/people?$search=\"o'nobody@example.com\"&{person}"),
            ], "Priya Raman";
    } {
        let columns = table.up_to(ColumnLevel::More);
        let page =
            mailbox.lookup(table, &what, &project(Service::Microsoft, &columns)).await.unwrap();
        assert_eq!(outlook.tap.lines(), requests);
        let shown: Vec<_> = page
            .items
            .iter()
            .map(|item| match table.name {
                "alias" => format!("{} {}", item["address"].as_str().unwrap(), item["primary"]),
                "setting" => item["timeZone"].as_str().unwrap().to_owned(),
                _ => item["displayName"].as_str().unwrap().to_owned(),
            })
            .collect();
        assert_eq!(shown.join(", "), expected, "{what:?}");
        assert!(page.notes.is_empty());
    }
}

#[tokio::test]
async fn shared_mailbox_is_requested_by_its_address() {
    let mail = mailboxes(&[ME, "team@example.com"]);
    let outlook = Outlook::over(Some(mail.path())).await;
    let mailbox = outlook.shared("team@example.com").await;
    let request = ask(&MESSAGE, &["id", "subject"], "in:anywhere", 5);
    let page = mailbox.messages(&request).await.unwrap();
    assert_eq!(texts(&page.items, "subject"), ["for team@example.com"]);
    assert_eq!(
        outlook.tap.lines(),
        [format!(
            "GET /users/team@example.com/messages?{NEWEST}$select=id,subject&$top=5&$count=true"
        )]
    );
    // Without the permission, its owner is the one to ask.
    let outlook = Outlook::scripted(|_| {
        Some(refusal(
            403,
            "ErrorAccessDenied",
            "Access is denied. Check credentials and try again.",
        ))
    })
    .await;
    let error = outlook.shared("team@example.com").await.messages(&request).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the mailbox is no longer shared with this sign-in, or not for this: ask its owner for \
         access"
    );
    let error = outlook.mailbox().await.messages(&request).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Auth);
    assert_eq!(
        error.to_string(),
        "the sign-in does not allow this: run `daysheet account add microsoft` and allow all permissions"
    );
}

#[tokio::test]
async fn account_address_is_learned_from_its_token() {
    let outlook = Outlook::sample().await;
    let token = outlook.token(ME, "User.Read").await;
    assert_eq!(outlook.address(&token, None).await.unwrap(), ME);
    for (user, expected) in cases! {
        json!({"mail": null, "userPrincipalName": "kim@outlook.example"}),
            Ok("kim@outlook.example");
        json!({}), Err("Microsoft did not say whose mailbox it is");
    } {
        let outlook = Outlook::scripted(move |_| Some(respond(200, &user))).await;
        let found = outlook.address("token", None).await.map_err(|error| error.to_string());
        assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned));
    }
}

/// Access to another user's mailbox is verified before the account is stored.
#[tokio::test]
async fn mailbox_not_shared_is_reported_at_sign_in() {
    for (status, code) in [(403, "ErrorAccessDenied"), (404, "ErrorItemNotFound")] {
        let outlook = Outlook::scripted(move |seen| {
            Some(if seen.line.starts_with("GET /me?") {
                respond(200, &json!({"mail": ME}))
            } else {
                refusal(status, code, "x")
            })
        })
        .await;
        let error = outlook.address("token", Some("team@example.com")).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the mailbox team@example.com is not shared with mira@example.com, \
             or does not exist: ask its owner for access"
        );
        assert_eq!(
            outlook.tap.lines(),
            [
                "GET /me?$select=mail,userPrincipalName",
                "GET /users/team@example.com/mailFolders/inbox?$select=id",
            ]
        );
    }
}

#[tokio::test]
async fn expired_token_is_refreshed_once_per_batch() {
    let outlook = Outlook::sample().await;
    let mailbox = outlook.mailbox().await;
    let request = ask(&MESSAGE, &["id"], "in:anywhere", 3);
    let page = mailbox.messages(&request).await.unwrap();
    let ids: Vec<MessageId> = texts(&page.items, "id").into_iter().map(MessageId::from).collect();
    for _ in 0..2 {
        outlook.tap.requests();
        outlook.sandbox.as_ref().unwrap().expire_access_tokens();
        let messages = mailbox.read_messages(&ids, &request.projection, BodyForm::None).await;
        assert!(messages.iter().all(Result::is_ok), "{messages:?}");
        let seen = outlook.tap.requests();
        assert_eq!(seen.len(), 2);
        assert_ne!(seen[0].header("authorization"), seen[1].header("authorization"));
    }
}

#[tokio::test]
async fn malformed_ids_are_refused_before_any_request() {
    let outlook = Outlook::scripted(|_| None).await;
    let mailbox = outlook.mailbox().await;
    let foreign = "the id is not Outlook's: use a handle such as m12 from a search";
    for (id, expected) in cases! {
        "AAkALgAAAAAAHYQDEapmEc2byACqAC/EWg0AigX3PZ2Zx/vYdfnN27KkMQAAEKE7XgAA", None;
        "AAMkAGVm-MDEz_MTM4LTZmYWUtNDdkNC1hMDZiLTU1OGY5OTZhYmY4OABGAAAAAAA=", None;
        "19c2a4b6d8e0f123",
            Some(
                "the id looks like Gmail's, not Outlook's: name the Gmail account, or use a handle such as m12 from a search",
            );
        "../../users/x@example.com", Some(foreign);
        "AAMkAGVm", Some(foreign);
        "AAMkAGVmMDEzMTM4LTZmYWUt?x=1", Some(foreign);
    } {
        let found = mailbox.check_id(id).err().map(|error| error.to_string());
        assert_eq!(found.as_deref(), expected, "{id}");
    }
}

fn refusal(status: u16, code: &str, message: &str) -> HttpResponse {
    respond(status, &json!({"error": {"code": code, "message": message}}))
}

/// Cases: a response to the first page of messages, and the resulting error.
#[tokio::test]
async fn hostile_responses_become_errors_in_our_words() {
    let page = |link: &str| respond(200, &json!({"value": [], "@odata.nextLink": link}));
    let html = empty(200)
        .header("content-type", "text/html")
        .body("<html><body>Sign in at the proxy, secret=1");
    let cut = respond(200, &json!({"value": []})).cut();
    let short = respond(200, &Value::Null).body("{\"value\": [".to_owned());
    let outside = "Outlook's link to the next page leaves its API";
    let again = "check the connection and try again";
    let mut cases = Vec::new();
    for (failure, expected, attempts) in cases! {
        page("https://evil.example/steal?x=1"), outside.to_owned(), 1;
        page("https://graph.microsoft.com/v1.0/../beta/me/messages"), outside.to_owned(), 1;
        page("https://graph.microsoft.com/v1.0/%2e%2e/beta"), outside.to_owned(), 1;
        page("me/messages?$skip=10"), outside.to_owned(), 1;
        html,
            "Outlook's response is a page or other non-JSON: try again in a minute".to_owned(),
            5;
        cut, format!("Outlook's response broke off: {again}"), 5;
        short, format!("Outlook's response broke off: {again}"), 5;
        refusal(302, "", "").header("location", "https://evil.example/"),
            "Outlook answered with a redirect, which is not followed: check the setting endpoints.graph (DAYSHEET_GRAPH_URL)".to_owned(),
            1;
        refusal(400, "BadRequest", "Could not find a property named 'x'.\nsecond line"),
            "Outlook answered with status 400: `Could not find a property named 'x'`".to_owned(), 1;
        refusal(404, "ErrorItemNotFound", "gone"),
            "Outlook has no such item: it may have been deleted; search again for its handle".to_owned(),
            1;
        refusal(404, "mailboxnotenabledforrestapi", "x"),
            "the account has no mailbox that Microsoft Graph can read: sign in with an account whose mail is on Exchange Online or Outlook.com".to_owned(),
            1;
        refusal(429, "TooManyRequests", "slow down").header("retry-after", "120"),
            "Outlook answered with status 429: `slow down`: wait 120 s and try again, or ask for fewer items".to_owned(),
            1;
        refusal(429, "TooManyRequests", "slow down").header("retry-after", "99999999999"),
            "Outlook answered with status 429: `slow down`: try again in a day or later, or ask for fewer items".to_owned(),
            1;
        refusal(504, "UnknownError", ""),
            "this search was too slow for Outlook: narrow it by date, such as after:30d, or by folder".to_owned(),
            2;
    } {
        cases.push(async move {
            let shown = format!("{failure:?}");
            let outlook = Outlook::scripted(move |_| Some(failure.clone())).await;
            let request = ask(&MESSAGE, &["id"], "in:anywhere is:unread", 5);
            let error = outlook.mailbox().await.messages(&request).await.unwrap_err();
            assert_eq!(error.to_string(), expected, "{shown}");
            assert_eq!(outlook.tap.requests().len(), attempts, "{shown}");
        });
    }
    // Those that are tried again wait; so all are tried at once.
    join_all(cases).await;
}

#[tokio::test]
async fn token_is_sent_to_the_configured_endpoint_only() {
    let stranger = Outlook::scripted(|_| Some(respond(200, &json!({"value": []})))).await;
    let there = stranger.tap.base.clone();
    let outlook = Outlook::scripted(move |seen| {
        let first = !seen.line.contains("skip");
        let link = format!("{there}/v1.0/me/messages?$skip=5");
        Some(if first {
            respond(200, &json!({"value": [{"id": "1"}], "@odata.nextLink": link}))
        } else {
            // The next page is moved to the stranger.
            refusal(307, "", "").header("location", &link)
        })
    })
    .await;
    let mailbox = outlook.mailbox().await;
    let mut request = ask(&MESSAGE, &["id"], "in:anywhere", 5);
    request.cursor = mailbox.messages(&request).await.unwrap().next;
    assert_eq!(request.cursor.as_deref(), Some("me/messages?$skip=5"));
    let error = mailbox.messages(&request).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Provider(307));
    let seen = outlook.tap.requests();
    assert_eq!(seen.len(), 2);
    assert!(seen.iter().all(|seen| seen.header("authorization") == "Bearer the-token"));
    // A cursor that was tampered with leads nowhere either.
    for cursor in ["../../x", "../beta/me/messages"] {
        request.cursor = Some(cursor.to_owned());
        let error = mailbox.messages(&request).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal, "{cursor}: {error}");
    }
    assert_eq!(outlook.tap.requests().len(), 0);
    request.cursor = Some(format!("{}/x", stranger.tap.base));
    let _ = mailbox.messages(&request).await;
    assert_eq!(outlook.tap.requests().len(), 1);
    assert_eq!(stranger.tap.requests().len(), 0);
}

#[tokio::test]
async fn expired_page_says_to_search_again() {
    let outlook = Outlook::sample().await;
    let mailbox = outlook.mailbox().await;
    for table in [&MESSAGE, &THREAD] {
        let mut request = ask(table, &["id"], "lantern OR budget", 2);
        request.cursor = page(&*mailbox, table, &request).await.unwrap().next;
        assert!(request.cursor.is_some());
        outlook.tap.say(|_| Some(refusal(400, "BadRequest", "The skip token is invalid.")));
        let second = page(&*mailbox, table, &request).await;
        outlook.tap.say(|_| None);
        assert_eq!(
            second.unwrap_err().to_string(),
            "Outlook's page cursor expired: search again without cursor"
        );
    }
    let mut request = ask(&THREAD, &["id"], "", 2);
    request.cursor = Some("me/messages".to_owned());
    assert_eq!(
        mailbox.threads(&request).await.unwrap_err().to_string(),
        "the cursor does not belong to a list of threads: search again without cursor"
    );
}

/// Answers a batch: each part by its number among the ids.
fn batch(seen: &HttpRequest, answer: impl Fn(&str) -> Option<Value>) -> HttpResponse {
    let parts: Vec<Value> = seen.body["requests"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .filter_map(|part| {
            let url = part["url"].as_str().unwrap();
            let mut echo = answer(url)?;
            echo["id"] = part["id"].clone();
            Some(echo)
        })
        .collect();
    respond(200, &json!({ "responses": parts }))
}

#[tokio::test]
async fn batch_parts_succeed_and_fail_independently() {
    let id = |n: usize| format!("AAMkAGVmMDEzMTM4LTZmYWUtNDdkNC1h{n:03}");
    let counts = std::sync::Arc::new(std::sync::Mutex::new(0));
    let throttled = counts.clone();
    let outlook = Outlook::scripted(move |seen| {
        Some(batch(seen, |url| {
            let found = json!({"status": 200, "body": {"id": url, "subject": "here"}});
            if url.contains("h001") {
                return None;
            }
            if url.contains("h002") {
                return Some(
                    json!({"status": 404, "body": {"error": {"code": "ErrorItemNotFound"}}}),
                );
            }
            if url.contains("h003") {
                let mut count = throttled.lock().unwrap();
                *count += 1;
                if *count == 1 {
                    return Some(json!({
                        "status": 429, "headers": {"Retry-After": "1"},
                        "body": {"error": {"code": "ApplicationThrottled"}},
                    }));
                }
            }
            if url.contains("h004") {
                // A part may have no body.
                return Some(json!({"status": 403}));
            }
            Some(found)
        }))
    })
    .await;
    let ids: Vec<MessageId> = (0..22).map(|number| id(number).into()).collect();
    let projection = ask(&MESSAGE, &["id", "subject"], "", 1).projection;
    let start = Instant::now();
    let messages = outlook.mailbox().await.read_messages(&ids, &projection, BodyForm::None).await;
    assert!(start.elapsed() >= Duration::from_secs(1));
    let shown: Vec<String> = messages
        .iter()
        .map(|message| match message {
            Ok(message) => message.item["subject"].as_str().unwrap().to_owned(),
            Err(error) => error.to_string(),
        })
        .collect();
    let mut expected = vec!["here"; 22];
    expected[1] = "Outlook left one of several requests unanswered: try again";
    expected[2] = "Outlook has no such item: it may have been deleted; search again for its handle";
    expected[4] = "Outlook answered with status 403";
    assert_eq!(shown, expected);
    // Twenty, one of them once more, and two.
    let sizes: Vec<_> = outlook.tap.lines().iter().map(|it| it.lines().count() - 1).collect();
    assert_eq!(sizes, [20, 1, 2]);
}

#[tokio::test]
async fn graph_enum_values_are_read_in_any_case() {
    let outlook = Outlook::scripted(|seen| {
        Some(if seen.line.contains("/attachments") {
            respond(200, &json!({"value": [
                {"id": "A1", "name": "pic", "contentType": "Image/PNG", "isInline": true, "size": 3},
                {"id": "A2", "name": "minutes", "contentType": null, "isInline": false, "size": 9},
            ]}))
        } else {
            respond(200, &json!({
                "id": "AAMk", "subject": "x", "hasAttachments": false,
                "body": {"contentType": "HTML", "content": "<img src='CID:pic'>"},
            }))
        })
    })
    .await;
    let ids = [MessageId::from("AAMkAGVmMDEzMTM4LTZmYWUtNDdkNC1h")];
    let projection = ask(&MESSAGE, &["subject"], "", 1).projection;
    let messages = outlook.mailbox().await.read_messages(&ids, &projection, BodyForm::Parts).await;
    let message = messages[0].as_ref().unwrap();
    assert!(message.notes.is_empty(), "{:?}", message.notes);
    for (found, expected) in cases! {
        &message.attachments, json!({
            "id": format!("{}:A2", ids[0]), "message": ids[0], "name": "minutes",
            "contentType": null, "size": 9,
        });
        &message.inline, json!({
            "id": format!("{}:A1", ids[0]), "message": ids[0], "name": "pic",
            "contentType": "Image/PNG", "size": 3, "inline": true,
        });
    } {
        assert_eq!(*found, [expected]);
    }
    assert!(format!("{:?}", message.parts).contains("Html"));
}

#[tokio::test]
async fn raw_messages_and_responses_are_capped() {
    let outlook = Outlook::scripted(|seen| {
        Some(if seen.line.contains("$value") {
            respond(200, &Value::Null).body("x".repeat((5 << 20) + 1))
        } else {
            respond(200, &json!({"id": "1"}))
        })
    })
    .await;
    let mailbox = outlook.mailbox().await;
    let ids = [MessageId::from("AAMkAGVmMDEzMTM4LTZmYWUtNDdkNC1h")];
    let projection = ask(&MESSAGE, &["id"], "", 1).projection;
    let messages = mailbox.read_messages(&ids, &projection, BodyForm::Raw).await;
    assert_eq!(
        messages[0].as_ref().unwrap_err().to_string(),
        "the message is too large to show raw (5242880 bytes): read it with body=text or \
         body=headers"
    );
    let outlook =
        Outlook::scripted(|_| Some(respond(200, &Value::Null).body(" ".repeat((32 << 20) + 1))))
            .await;
    let error = outlook.mailbox().await.messages(&ask(&MESSAGE, &["id"], "in:anywhere", 1)).await;
    assert_eq!(
        error.unwrap_err().to_string(),
        "Outlook's response is longer than 33554432 bytes: ask for fewer items, or for body=headers"
    );
}

/// Messages that together are too long are fetched one at a time, and each is shortened before the
/// next is read.
#[tokio::test]
async fn large_messages_are_fetched_alone_and_kept_short() {
    let outlook = Outlook::scripted(|seen| {
        // 40 MiB together, and 31 each.
        Some(if seen.target.contains("batch") {
            long("{\"responses\":[\"", 640, "\"]}")
        } else {
            long("{\"id\":\"a\",\"body\":{\"contentType\":\"text\",\"content\":\"", 496, "\"}}")
        })
    })
    .await;
    let ids: Vec<MessageId> = (0..4).map(|n| format!("AAMkAGI2TG93AAA=LONG{n}").into()).collect();
    let projection = ask(&MESSAGE, &["id"], "", 1).projection;
    let messages = outlook.mailbox().await.read_messages(&ids, &projection, BodyForm::Parts).await;
    for message in messages {
        let message = message.unwrap();
        let TextPart::Plain(plain) = &message.parts[0][0][0] else { panic!("{message:?}") };
        assert_eq!(plain.text.len(), MAX_BYTES + 1);
        assert_eq!(message.item, json!({"id": "a"}));
    }
    assert_eq!(outlook.tap.requests().len(), 5);
    // The batch that was given up may still be being sent beside the first of them.
    let at_once = outlook.tap.taken.at_once.load(Ordering::Relaxed);
    assert!((1..=2).contains(&at_once), "{at_once}");
}

/// A rule that gives the requested path and query to `answer`.
async fn answering(answer: impl Fn(&str) -> Value + Send + Sync + 'static) -> Outlook {
    Outlook::scripted(move |seen| {
        Some(if seen.body.is_null() {
            respond(200, &answer(&seen.line))
        } else {
            batch(seen, |url| {
                let url = percent_encoding::percent_decode_str(url).decode_utf8();
                Some(json!({"status": 200, "body": answer(&url.unwrap())}))
            })
        })
    })
    .await
}

/// Simulates an agent that reads mail under `is:unread`, or archives it: messages it has seen leave
/// the list before it requests the next page.
#[tokio::test]
async fn messages_leaving_a_list_during_paging_hide_none() {
    for (limit, leaving) in [(5, 5), (5, 3), (7, 7), (20, 1), (100, 60)] {
        let there: Arc<Mutex<Vec<usize>>> = Arc::new(Mutex::new((0..90).collect()));
        let mailbox_of = there.clone();
        let outlook = answering(move |request| {
            let url = url::Url::parse(&format!("https://graph.microsoft.com/{request}")).unwrap();
            let number = |name: &str| {
                let found = url.query_pairs().find(|(key, _)| key == name);
                found.map_or(0, |(_, value)| value.parse::<usize>().unwrap())
            };
            let (skip, top) = (number("$skip"), number("$top"));
            let list = mailbox_of.lock().unwrap();
            let rows: Vec<_> =
                list.iter().skip(skip).take(top).map(|id| json!({"id": format!("{id}")})).collect();
            let mut answer = json!({"value": rows});
            if skip + top < list.len() {
                let mut next = url.clone();
                let params = url.query_pairs().filter(|(key, _)| key != "$skip");
                next.query_pairs_mut()
                    .clear()
                    .extend_pairs(params)
                    .append_pair("$skip", &(skip + top).to_string());
                next.set_path(&format!("/v1.0{}", url.path()));
                answer["@odata.nextLink"] = next.as_str().into();
            }
            answer
        })
        .await;
        let mailbox = outlook.mailbox().await;
        let mut request = ask(&MESSAGE, &["id"], "in:anywhere", limit);
        let mut shown = BTreeSet::new();
        for _ in 0..100 {
            let page = mailbox.messages(&request).await.unwrap();
            let new: Vec<String> = texts(&page.items, "id")
                .into_iter()
                .filter(|id| !shown.contains(*id))
                .map(str::to_owned)
                .collect();
            for id in new.iter().take(leaving) {
                let id: usize = id.parse().unwrap();
                there.lock().unwrap().retain(|known| *known != id);
            }
            shown.extend(new);
            let Some(next) = page.next else { break };
            request.cursor = Some(next);
        }
        assert_eq!(shown.len(), 90, "{limit} {leaving}");
    }
}

/// A page of a list that never ends, the next one by its number.
fn endless(request: &str, path: &str, item: &Value) -> Value {
    let at: usize = request.rsplit_once("skip=").map_or(0, |(_, at)| at.parse().unwrap());
    json!({
        "value": [item],
        "@odata.nextLink": format!("https://graph.microsoft.com/v1.0/{path}?skip={}", at + 1),
    })
}

#[tokio::test]
async fn endless_lists_are_cut_with_a_note() {
    use daysheet_core::schemas::{CATEGORY, CONTACT};
    let id = "AAMkAGVmMDEzMTM4LTZmYWUtNDdkNC1h";
    // A page that names itself.
    let outlook = answering(|_| {
        json!({
            "value": [{"displayName": "Red"}],
            "@odata.nextLink": "https://graph.microsoft.com/v1.0/me/outlook/masterCategories?x=1",
        })
    })
    .await;
    let mailbox = outlook.mailbox().await;
    let columns = CATEGORY.up_to(ColumnLevel::Key);
    let projection = project(Service::Microsoft, &columns);
    let page = mailbox.lookup(&CATEGORY, &PeopleQuery::default(), &projection).await.unwrap();
    assert_eq!(page.notes, ["there are too many categories; some are missing"]);
    assert_eq!(page.total, None);
    assert_eq!(outlook.tap.requests().len(), 2);

    // Contacts of which every page is empty.
    let outlook = answering(|request| {
        let mut page = endless(request, "me/contacts", &Value::Null);
        page["value"] = json!([]);
        page
    })
    .await;
    let mailbox = outlook.mailbox().await;
    let everybody = PeopleQuery { limit: 10, ..PeopleQuery::default() };
    let columns = CONTACT.up_to(ColumnLevel::Core);
    let projection = project(Service::Microsoft, &columns);
    let page = mailbox.lookup(&CONTACT, &everybody, &projection).await.unwrap();
    assert_eq!(page.notes, ["one list of people has too many pages to read"]);
    assert_eq!(outlook.tap.requests().len(), 199);

    // A conversation, and the attachments of a message.
    let outlook = answering(move |request| match request.contains("/attachments") {
        true => endless(request, "me/attachments", &json!({"id": "A", "name": "a"})),
        false if request.contains("conversation") => {
            endless(request, "me/conversation", &json!({"id": id}))
        }
        false => json!({"id": id, "hasAttachments": true}),
    })
    .await;
    let mailbox = outlook.mailbox().await;
    let error = mailbox.thread(&id.into()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the thread has more than 50 messages, too many to read at once: search for its messages \
         by subject and date, and read those"
    );
    let projection = ask(&MESSAGE, &["id"], "", 1).projection;
    let messages = mailbox.read_messages(&[id.into()], &projection, BodyForm::Parts).await;
    let message = messages[0].as_ref().unwrap();
    assert_eq!(message.notes, ["it has more than 10 attachments; the rest are not listed"]);
    assert_eq!(message.attachments.len(), 10);
}

/// Imitates Graph's search: newest first, at most 1,000 results, optionally up to a time, in pages
/// of 100 with a link to the next.
fn searched(times: &[i64], request: &str, bounds: bool) -> Value {
    let url = url::Url::parse(&format!("https://graph.microsoft.com/{request}")).unwrap();
    let pairs: HashMap<String, String> = url.query_pairs().into_owned().collect();
    let search = pairs.get("$search").cloned().unwrap_or_default();
    let bound = match search.split_once(" AND received<=") {
        Some((_, bound)) if bounds => bound.trim_end_matches('"').to_owned(),
        _ => "9".to_owned(),
    };
    let skip: usize = pairs.get("$skip").map_or(0, |skip| skip.parse().unwrap());
    let found: Vec<Value> = times
        .iter()
        .enumerate()
        .map(|(at, second)| {
            let time = jiff::Timestamp::from_second(1_770_000_000 - second).unwrap();
            json!({"id": format!("m{at}"), "conversationId": format!("c{at}"),
                   "receivedDateTime": time.to_string()})
        })
        .filter(|item| item["receivedDateTime"].as_str().unwrap() <= bound.as_str())
        .take(1_000)
        .collect();
    let mut page = json!({"value": found.iter().skip(skip).take(100).collect::<Vec<_>>()});
    if found.len() > skip + 100 {
        let search =
            percent_encoding::utf8_percent_encode(&search, percent_encoding::NON_ALPHANUMERIC);
        page["@odata.nextLink"] = format!(
            "https://graph.microsoft.com/v1.0/me/messages?$search={search}&$skip={}",
            skip + 100
        )
        .into();
    }
    page
}

/// Beyond Graph's limit of 1,000 results a search continues by date. Each message is returned once,
/// however many share the second at which the results ended.
#[tokio::test]
async fn search_continues_past_graphs_result_limit() {
    let minutes = |count: i64| (0..count).map(|at| at * 60).collect::<Vec<i64>>();
    let mut same = minutes(2_500);
    same[950..1_100].fill(57_000);
    let mut day = minutes(2_500);
    for (at, time) in day.iter_mut().enumerate() {
        *time = i64::try_from(at / 3).unwrap();
    }
    for (name, times) in [("minutes", minutes(2_300)), ("same", same), ("one hour", day)] {
        let count = times.len();
        let outlook = answering(move |request| searched(&times, request, true)).await;
        let mailbox = outlook.mailbox().await;
        for (table, limit) in [(&MESSAGE, 100), (&THREAD, 60)] {
            let mut request = ask(table, &["id"], "lantern in:anywhere", limit);
            let mut ids: Vec<String> = Vec::new();
            for _ in 0..120 {
                let page = page(&*mailbox, table, &request).await.unwrap();
                assert_eq!(page.notes, [""; 0], "{name}");
                let found = page.items.iter().map(|item| item["id"].as_str().unwrap());
                ids.extend(found.map(|id| id[1..].to_owned()));
                request.cursor = page.next;
                if request.cursor.is_none() {
                    break;
                }
            }
            let all: Vec<String> = (0..count).map(|at| at.to_string()).collect();
            assert!(ids == all, "{name}, {}: {} of {count}", table.name, ids.len());
        }
    }
}

#[tokio::test]
async fn search_that_stops_at_its_limit_says_so() {
    let ends = "Outlook's search stops at 1,000 results, there may be more: narrow it by date";
    // More than 1,000 in one second; and a service that takes no time.
    for (times, bounds) in [(vec![5; 1_500], true), ((0..1_500).collect(), false)] {
        let outlook = answering(move |request| searched(&times, request, bounds)).await;
        let mailbox = outlook.mailbox().await;
        let mut request = ask(&MESSAGE, &["id"], "lantern in:anywhere", 100);
        let (mut ids, mut notes) = (BTreeSet::new(), Vec::new());
        for _ in 0..60 {
            let page = mailbox.messages(&request).await.unwrap();
            for item in &page.items {
                assert!(ids.insert(item["id"].as_str().unwrap().to_owned()));
            }
            notes.extend(page.notes);
            request.cursor = page.next;
            if request.cursor.is_none() {
                break;
            }
        }
        assert_eq!((ids.len(), notes), (1_000, vec![ends.into()]));
    }
}

#[tokio::test]
async fn threads_are_sorted_by_the_date_shown() {
    let at = |hour: &str| format!("2026-02-03T{hour}:00:00Z");
    let outlook = answering(move |request| {
        let message = |id: &str, hour: &str| {
            json!({"id": format!("m{hour}"), "conversationId": id, "receivedDateTime": at(hour)})
        };
        match request {
            request if request.contains("'A'") => json!({"value": [message("A", "10")]}),
            request if request.contains("'B'") => {
                json!({"value": [message("B", "12"), message("B", "09")]})
            }
            _ => json!({
                "value": [message("A", "10"), message("B", "09")],
                "@odata.nextLink": "https://graph.microsoft.com/v1.0/me/messages?$skip=2",
            }),
        }
    })
    .await;
    let request = ask(&THREAD, &["id", "date"], "in:anywhere is:unread", 2);
    let page = outlook.mailbox().await.threads(&request).await.unwrap();
    assert_eq!(texts(&page.items, "id"), ["B", "A"]);
    assert_eq!(page.notes, ["threads are listed by their newest matching message"]);
}

#[tokio::test]
async fn throttled_batch_part_pauses_all_calls() {
    let outlook = Outlook::scripted(|seen| {
        Some(batch(seen, |_| {
            Some(json!({
                "status": 429, "headers": {"Retry-After": "120"},
                "body": {"error": {"code": "ApplicationThrottled"}},
            }))
        }))
    })
    .await;
    let mailbox = outlook.mailbox().await;
    let ids: Vec<MessageId> =
        (0..2).map(|n| format!("AAMkAGVmMDEzMTM4LTZmYWUtNDdkNC1h{n:03}").into()).collect();
    let projection = ask(&MESSAGE, &["id", "subject"], "", 1).projection;
    let messages = mailbox.read_messages(&ids, &projection, BodyForm::None).await;
    let wait = |kind: ErrorKind| matches!(kind, ErrorKind::RateLimited(Some(wait)) if wait.as_secs() > 100);
    assert!(messages.iter().all(|message| wait(message.as_ref().unwrap_err().kind())));
    let error = mailbox.messages(&ask(&MESSAGE, &["id"], "in:anywhere", 1)).await.unwrap_err();
    assert!(wait(error.kind()), "{error}");
    assert_eq!(outlook.tap.requests().len(), 1);
}

#[tokio::test]
async fn shared_mailbox_offers_only_mail() {
    use daysheet_core::schemas::{ALIAS, CATEGORY, CONTACT, SETTING};
    let outlook = Outlook::scripted(|_| Some(refusal(403, "ErrorAccessDenied", "x"))).await;
    let mailbox = outlook.shared("team@example.com").await;
    let own =
        "are not available for a shared mailbox: name the account of the person who signed in";
    let everybody = PeopleQuery { limit: 10, ..PeopleQuery::default() };
    for (table, expected, requests) in cases! {
        &CATEGORY, format!("categories {own}"), 0;
        &ALIAS, format!("aliases {own}"), 0;
        &SETTING, format!("settings {own}"), 0;
        // Contacts are those of the person who signed in, and so is the refusal.
        &CONTACT,
            "the sign-in does not allow this: run `daysheet account add microsoft` and allow all permissions".to_owned(),
            1;
    } {
        let columns = table.up_to(ColumnLevel::Core);
        let projection = project(Service::Microsoft, &columns);
        let error = mailbox.lookup(table, &everybody, &projection).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(outlook.tap.requests().len(), requests, "{}", table.name);
    }
}

/// Google's lists of people, here because the tap is.
#[tokio::test]
async fn google_people_are_read_from_all_pages() {
    use daysheet_core::schemas::CONTACT;
    let person = |at: usize| json!({"resourceName": format!("people/c{at}")});
    let outlook = answering(move |request| {
        if request.contains("/otherContacts?") {
            return json!({"otherContacts": [{"resourceName": "otherContacts/c9"}]});
        }
        if request.contains("connections") {
            let at = request.rsplit_once("pageToken=");
            let at: usize = at.map_or(0, |(_, at)| at.parse().unwrap());
            let mut page = json!({"connections": [person(2 * at), person(2 * at + 1)]});
            if at < 2 {
                page["nextPageToken"] = (at + 1).to_string().into();
            }
            return page;
        }
        let found = if request.contains("query=&") { 0 } else { 30 };
        let found = (0..found).map(|at| json!({"person": person(at)}));
        json!({"results": found.collect::<Vec<_>>()})
    })
    .await;
    let mailbox = outlook.google().await;
    let columns = CONTACT.up_to(ColumnLevel::Core);
    let projection = project(Service::Google, &columns);
    let search = ["GET /v1/people:searchContacts?query=", "GET /v1/otherContacts:search?query="];
    let connections = "GET /v1/people/me/connections?personFields=";
    let others = "GET /v1/otherContacts?readMask=";
    let most = "Google finds at most 30 people per list; use a longer `q`";
    for (q, limit, found, beginnings, notes) in [
        // Other contacts come after the saved ones, and are requested with them.
        (None, 3, 3, vec![others, connections, connections], vec![]),
        (None, 50, 7, vec![others, connections, connections, connections], vec![]),
        // The first search is announced to both lists.
        (Some("a"), 20, 20, vec![search[1], search[1], search[0], search[0]], vec![]),
        (Some("a"), 50, 30, vec![search[1], search[0]], vec![most]),
    ] {
        let what = PeopleQuery { q: q.map(str::to_owned), limit, ..PeopleQuery::default() };
        let page = mailbox.lookup(&CONTACT, &what, &projection).await.unwrap();
        assert_eq!(
            (page.items.len(), page.notes),
            (found, notes.iter().map(|note| (*note).into()).collect()),
            "{what:?}"
        );
        let mut requests = outlook.tap.lines();
        requests.sort();
        assert_eq!(requests.len(), beginnings.len(), "{requests:#?}");
        for (line, beginning) in requests.iter().zip(beginnings) {
            assert!(line.starts_with(beginning), "{line}");
        }
    }
}
