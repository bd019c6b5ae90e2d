//! Drafts, answers and sending, against scripted answers.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use daysheet_core::call::client::NonInteractive;
use daysheet_core::error::ErrorKind;
use daysheet_core::ids::DraftId;
use daysheet_core::provider::mail::{
    AttachmentContent, AttachmentInfo, DraftOrigin, Importance, OutgoingAttachment,
    OutgoingMessage, SendAlias, SendLookup, SendStatus, SentMessage, SourceMessage,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::gmail::{Gmail, broken, empty, ok, refused};
use super::{ME, draft, file, person, reported, sample_message};
use crate::tap::{HttpRequest, turns};

fn aliases() -> Value {
    json!({"sendAs": [
        {"sendAsEmail": ME, "displayName": "Mira Lindqvist", "isPrimary": true,
         "signature": "<b>Mira</b>"},
        {"sendAsEmail": "old@example.com", "verificationStatus": "pending"},
        {"sendAsEmail": "mira@münchen.example", "displayName": "", "isDefault": true,
         "replyToAddress": "office@lamps.example", "verificationStatus": "accepted",
         "signature": " "},
    ]})
}

#[tokio::test]
async fn only_usable_sender_addresses_are_listed() {
    let gmail = Gmail::scripted(|request| {
        (request.target == "GET settings/sendAs").then(|| ok(&aliases()))?
    })
    .await;
    assert_eq!(
        gmail.mail.senders().await.unwrap(),
        [
            SendAlias {
                person: person("Mira Lindqvist", "mira@xn--mnchen-3ya.example"),
                signature: None,
                reply_to: Some(person("", "office@lamps.example")),
                default: true,
            },
            SendAlias {
                person: person("Mira Lindqvist", ME),
                signature: Some("<b>Mira</b>".to_owned()),
                reply_to: None,
                default: false,
            },
        ]
    );
}

fn part(id: &str, mime: &str, name: &str, headers: Value, body: Value) -> Value {
    json!({"partId": id, "mimeType": mime, "filename": name, "headers": headers, "body": body})
}

fn data(text: &str) -> Value {
    json!({"size": text.len(), "data": URL_SAFE.encode(text)})
}

/// Returns a message that uses every feature.
fn full() -> Value {
    let kind = |kind: &str| json!([{"name": "Content-Type", "value": kind}]);
    json!({
        "id": "b1", "threadId": "t1", "labelIds": ["INBOX"], "internalDate": "1770138300000",
        "payload": {
            "partId": "", "mimeType": "multipart/mixed", "filename": "", "body": {"size": 0},
            "headers": [
                {"name": "Message-Id", "value": "<one@studio.example>"},
                {"name": "References", "value": "<zero@studio.example>\r\n <bad id@x> <zero@studio.example>\t<half@studio.example>"},
                {"name": "In-Reply-To", "value": "<half@studio.example>"},
                {"name": "Subject", "value": "=?utf-8?q?Gr=C3=BC=C3=9Fe?=  from\r\n Lisbon"},
                {"name": "From", "value": "=?utf-8?q?Andr=C3=A9?= Okafor <andre@m\u{fc}nchen.example>"},
                {"name": "To", "value": "\"Lindqvist, Mira\" <mira@example.com>, no address"},
                {"name": "Cc", "value": "bo@example.com"},
                {"name": "Reply-To", "value": "desk@studio.example"},
                {"name": "Date", "value": "Tue, 3 Feb 2026 18:05:00 +0100"},
                {"name": "List-Unsubscribe", "value": "<https://studio.example/u>,\r\n <mailto:u@studio.example>"},
                {"name": "Authentication-Results", "value": "mx.example; dkim=pass"},
                {"name": "X-Other", "value": "no"},
            ],
            "parts": [
                {"partId": "0", "mimeType": "multipart/related", "filename": "", "parts": [
                    {"partId": "0.0", "mimeType": "multipart/alternative", "filename": "", "parts": [
                        part("0.0.0", "text/plain", "", kind("text/plain; charset=utf-8"), data("Dear Mira,\r\nhere it is.")),
                        part("0.0.1", "text/html", "", kind("text/html; charset=utf-8"), data("<p>Dear Mira</p><img src=\"cid:logo@studio\">")),
                    ]},
                    part("0.1", "image/png", "", json!([{"name": "Content-ID", "value": "<logo@studio>"}]),
                         json!({"size": 3, "attachmentId": "ANG/1"})),
                ]},
                part("1", "application/pdf", "=?utf-8?q?=C3=BCber?=/proofs.pdf", json!([]), json!({"size": 9_000, "attachmentId": "ANG2"})),
                part("2", "text/csv", "guests.csv", kind("text/csv; charset=\"koi8-r\""), data("a,b")),
            ],
        },
    })
}

#[tokio::test]
async fn source_message_is_read_whole() {
    let gmail = Gmail::scripted(|request| match request.target.as_str() {
        "GET messages/b1" => ok(&full()),
        "GET settings/sendAs" => ok(&aliases()),
        _ => None,
    })
    .await;
    let found = gmail.mail.source_message(&"b1".into()).await.unwrap();
    let files = [
        ("0.1", "image.png", "image/png", None, 3, Some("logo@studio")),
        ("1", "proofs.pdf", "application/pdf", None, 9_000, None),
        ("2", "guests.csv", "text/csv", Some("koi8-r"), 3, None),
    ];
    assert_eq!(
        found,
        SourceMessage {
            id: "b1".into(),
            thread: "t1".into(),
            message_id: "one@studio.example".to_owned(),
            references: ["zero@studio.example", "half@studio.example"].map(str::to_owned).to_vec(),
            subject: "Grüße from Lisbon".to_owned(),
            from: vec![person("André Okafor", "andre@xn--mnchen-3ya.example")],
            reply_to: vec![person("", "desk@studio.example")],
            to: vec![person("Lindqvist, Mira", ME)],
            cc: vec![person("", "bo@example.com")],
            sent: Some("2026-02-03T17:05:00Z".parse().unwrap()),
            text: Some("Dear Mira,\nhere it is.".to_owned()),
            html: Some("<p>Dear Mira</p><img src=\"cid:logo@studio\">".to_owned()),
            files: files
                .map(|(part, name, media, charset, size, cid)| AttachmentInfo {
                    id: format!("b1/{part}").into(),
                    name: name.to_owned(),
                    media: media.to_owned(),
                    charset: charset.map(str::to_owned),
                    size,
                    cid: cid.map(str::to_owned),
                })
                .to_vec(),
            own: false,
            draft: false,
            headers: Vec::from(cases! {
                "List-Unsubscribe".to_owned(),
                    "<https://studio.example/u>, <mailto:u@studio.example>".to_owned();
                "Authentication-Results".to_owned(), "mx.example; dkim=pass".to_owned();
            }),
        }
    );
}

#[tokio::test]
async fn own_messages_are_recognised() {
    for (labels, from, own) in [
        (json!(["SENT"]), "somebody@example.com", true),
        (json!(["INBOX"]), "Mira <MIRA@xn--mnchen-3ya.example>", true),
        (json!([]), "old@example.com", false),
        (json!([]), "", false),
    ] {
        let mut message = full();
        message["labelIds"] = labels;
        message["payload"]["headers"] = json!([{"name": "From", "value": from}]);
        let gmail = Gmail::scripted(move |request| match request.target.as_str() {
            "GET messages/b1" => ok(&message),
            "GET settings/sendAs" => ok(&aliases()),
            _ => None,
        })
        .await;
        let found = gmail.mail.source_message(&"b1".into()).await.unwrap();
        assert_eq!(found.own, own, "{from}");
        // The date is then Gmail's, and no Message-ID is none.
        assert_eq!(found.sent, Some("2026-02-03T17:05:00Z".parse().unwrap()));
        assert_eq!((found.message_id.as_str(), found.references.len()), ("", 0));
    }
}

#[tokio::test]
async fn attachments_above_the_size_limit_are_refused() {
    let missing = "the message has no such file: mail_attachment as=list shows its files";
    for (message, file, most, expected, fetched) in cases! {
        "b1", "b1/2", 3, Ok("a,b"), "";
        "b1", "2", 3, Ok("a,b"), "";
        "b1", "b1/0.1", 100, Ok("PNG"), "GET messages/b1/attachments/ANG%2F1";
        "b1", "b1/1", 8_999,
            Err("the file is 9000 bytes, more than 8999: open it in Gmail"), "";
        "b1", "b1/7", 3, Err(missing), "";
        "b1", "b2/2", 3, Err(missing), "";
        "b1", "b1/../x", 3, Err(missing), "";
    } {
        let gmail = Gmail::scripted(|request| match request.target.as_str() {
            "GET messages/b1" => ok(&full()),
            "GET messages/b1/attachments/ANG%2F1" => ok(&data("PNG")),
            _ => None,
        })
        .await;
        let found = gmail.mail.file(&message.into(), &file.into(), most).await;
        let found = found.map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(
            found.map_err(|error| error.to_string()),
            expected.map(str::to_owned).map_err(str::to_owned),
            "{file}"
        );
        let requests = gmail.tap.requests().into_iter().map(|it| it.target);
        let requests: Vec<_> = requests.filter(|what| what.contains("/attachments/")).collect();
        assert_eq!(requests.concat(), fetched, "{file}");
    }
}

/// A draft with files as Gmail returns it.
fn full_draft() -> Value {
    let mut message = full();
    message["id"] = "a1".into();
    message["labelIds"] = json!(["DRAFT"]);
    let headers = message["payload"]["headers"].as_array_mut().unwrap();
    for (name, value) in [
        ("Bcc", "ana@example.com"),
        // Repeated by another program: Gmail may send to all of them.
        ("To", "Eve <eve@example.net>"),
        ("cc", "mallory@example.net, eve@example.org"),
        ("BCC", "oscar@example.net"),
        ("Reply-To", "drop@example.net"),
    ] {
        headers.push(json!({"name": name, "value": value}));
    }
    headers.push(json!({"name": "X-Priority", "value": "1 (Highest)"}));
    json!({"id": "r1", "message": message})
}

#[tokio::test]
async fn stored_draft_is_read_back_as_a_message() {
    let gmail = Gmail::scripted(|request| match request.target.as_str() {
        "GET drafts/r1" => ok(&full_draft()),
        _ => None,
    })
    .await;
    let found = gmail.mail.draft("r1").await.unwrap();
    assert_eq!(
        (found.id.as_str(), found.message.as_str(), found.thread.as_str(), &*found.version),
        ("r1", "a1", "t1", "a1")
    );
    let message = found.content;
    assert_eq!(message.message_id, "one@studio.example");
    assert_eq!(message.in_reply_to.as_deref(), Some("half@studio.example"));
    assert_eq!(message.references, ["zero@studio.example", "half@studio.example"]);
    let people = [&message.to, &message.cc, &message.bcc, &message.reply_to]
        .map(|list| list.iter().map(|one| one.address.as_str()).collect::<Vec<_>>().join(" "));
    assert_eq!(
        people,
        [
            "mira@example.com eve@example.net",
            "bo@example.com mallory@example.net eve@example.org",
            "ana@example.com oscar@example.net",
            "desk@studio.example drop@example.net",
        ]
    );
    assert_eq!(message.importance, Importance::High);
    assert_eq!(message.text, "Dear Mira,\nhere it is.");
    let existing =
        |part: &str, size| AttachmentContent::Existing { id: format!("a1/{part}").into(), size };
    let enclosure = |name: &str, media: &str, cid: Option<&str>, content| OutgoingAttachment {
        name: name.to_owned(),
        media: media.to_owned(),
        cid: cid.map(str::to_owned),
        content,
    };
    assert_eq!(
        message.files,
        [
            enclosure("image.png", "image/png", Some("logo@studio"), existing("0.1", 3)),
            enclosure("proofs.pdf", "application/pdf", None, existing("1", 9_000)),
            enclosure("guests.csv", "text/csv", None, existing("2", 3)),
        ]
    );
}

#[tokio::test]
async fn draft_is_found_by_its_message_id() {
    let not = "it is not a draft, or is no longer one: search in:drafts for drafts and in:sent \
               for what was sent, or answer it with mode=reply";
    for (labels, searched, listed, expected) in cases! {
        json!(["DRAFT"]), json!([{"id": "r1", "message": {"id": "a1"}}]), json!([]), Ok("r1");
        // The index lags, and the list does not.
        json!(["DRAFT"]), json!([{"id": "r0", "message": {"id": "a0"}}]),
            json!([{"id": "r1", "message": {"id": "a1"}}]), Ok("r1");
        json!(["DRAFT"]), json!([]), json!([]),
            Err("Gmail does not say which draft this message is: search in:drafts again");
        json!(["INBOX"]), json!([]), json!([]), Err(not);
    } {
        let gmail =
            Gmail::scripted(move |request| match (request.target.as_str(), request.param("q")) {
                ("GET drafts/r1", _) => ok(&reported("a1")),
                ("GET messages/a1", _) => {
                    let mut message = reported("a1")["message"].clone();
                    message["labelIds"] = labels.clone();
                    ok(&message)
                }
                ("GET drafts", "rfc822msgid:proofs-2@example.com") => {
                    ok(&json!({"drafts": searched}))
                }
                ("GET drafts", "") => ok(&json!({"drafts": listed})),
                _ => None,
            })
            .await;
        let found = gmail.mail.draft("a1").await.map(|draft| draft.id);
        assert_eq!(
            found.map_err(|error| error.to_string()),
            expected.map(DraftId::from).map_err(str::to_owned)
        );
    }
    // A text of one form is given the other.
    let gmail = Gmail::scripted(|request| {
        (request.target == "GET drafts/r1").then(|| ok(&reported("a1")))?
    })
    .await;
    let message = gmail.mail.draft("r1").await.unwrap().content;
    assert_eq!((&*message.text, &*message.html), ("Done.", "Done."));
}

/// Decodes the message sent in `raw`.
fn sent(body: &Value) -> String {
    let raw = body["message"]["raw"].as_str().unwrap();
    String::from_utf8(URL_SAFE.decode(raw).unwrap()).unwrap()
}

#[tokio::test]
async fn reply_draft_is_created_in_its_thread() {
    for (origin, thread) in [
        (DraftOrigin::New, Value::Null),
        (DraftOrigin::Forward { id: "b1".into() }, Value::Null),
        (
            DraftOrigin::Reply {
                id: "b1".into(),
                thread: "t1".into(),
                all: true,
                has_files: false,
            },
            json!("t1"),
        ),
    ] {
        let gmail = Gmail::scripted(|request| match request.target.as_str() {
            "POST drafts" => ok(&json!({"id": "r1", "message": {"id": "a1", "threadId": "t1"}})),
            _ => None,
        })
        .await;
        let made = gmail.mail.create(&origin, &sample_message(), &NonInteractive).await.unwrap();
        assert_eq!((made.id.as_str(), &*made.version), ("r1", "a1"));
        let written = gmail.written();
        assert_eq!(written.len(), 1);
        assert_eq!(written[0].1["message"]["threadId"], thread);
        let raw = sent(&written[0].1);
        for line in ["Message-ID: <proofs-2@example.com>\r\n", "Subject: Proofs\r\n", "Bcc: "] {
            assert!(raw.contains(line), "{line} in {raw}");
        }
    }
}

#[tokio::test]
async fn interrupted_draft_creation_is_looked_up() {
    let open = "the connection to Google broke; whether it was done is unknown: check before \
                retrying";
    let ours = json!({"drafts": [{"id": "r1", "message": {"id": "a1"}}]});
    let other = json!({"drafts": [{"id": "r0", "message": {"id": "a0"}}]});
    for (searched, listed, expected) in [
        (ok(&ours), ok(&json!({})), Ok("r1")),
        (ok(&json!({})), ok(&ours), Ok("r1")),
        (ok(&other), ok(&other), Err(open)),
        (ok(&json!({})), refused(403, "domainPolicy", "No"), Err(open)),
    ] {
        let gmail = Gmail::scripted(move |request| match request.target.as_str() {
            "POST drafts" => broken(),
            "GET drafts" if request.param("q").is_empty() => listed.clone(),
            "GET drafts" => searched.clone(),
            "GET messages/a1" => ok(&reported("a1")["message"]),
            "GET messages/a0" => ok(&json!({"id": "a0", "payload": {"headers": [
                {"name": "Message-ID", "value": "<other@example.com>"}]}})),
            "GET drafts/r1" => ok(&reported("a1")),
            _ => None,
        })
        .await;
        let made = gmail.mail.create(&DraftOrigin::New, &sample_message(), &NonInteractive).await;
        assert_eq!(
            made.map(|draft| draft.id).map_err(|error| error.to_string()),
            expected.map(DraftId::from).map_err(str::to_owned)
        );
        assert_eq!(gmail.written().len(), 1, "it is sent once");
    }
}

#[tokio::test]
async fn changed_draft_keeps_its_attachments_and_thread() {
    let gmail = Gmail::scripted(|request| {
        let minimal = request.param("format") == "minimal";
        match request.target.as_str() {
            "GET drafts/r1" if minimal => ok(&json!({"id": "r1", "message": {"id": "a1"}})),
            "GET drafts/r1" => ok(&reported("a2")),
            "GET messages/a1" => ok(&full_draft()["message"]),
            "GET messages/a1/attachments/ANG%2F1" => ok(&data("PNG")),
            "PUT drafts/r1" => ok(&json!({"id": "r1", "message": {"id": "a2"}})),
            _ => None,
        }
    })
    .await;
    let mut current = draft();
    let image = OutgoingAttachment {
        name: "logo.png".to_owned(),
        media: "image/png".to_owned(),
        cid: None,
        content: AttachmentContent::Existing { id: "a1/0.1".into(), size: 3 },
    };
    current.content.files = vec![image.clone()];
    let mut changed = sample_message();
    changed.files = vec![image, file("proofs.pdf", b"%PDF")];
    let stored = gmail.mail.update(&current, &changed, &NonInteractive).await.unwrap();
    assert_eq!(stored.version, "a2");
    let written = gmail.written();
    assert_eq!(written[0].0, "PUT drafts/r1");
    assert_eq!(written[0].1["message"]["threadId"], "t1");
    let raw = sent(&written[0].1);
    let read = daysheet_core::compose::read(raw.as_bytes()).unwrap();
    let files: Vec<_> = read.files.into_iter().map(|file| (file.name, file.content)).collect();
    let bytes = |bytes: &[u8]| AttachmentContent::Bytes(bytes.into());
    assert_eq!(
        files,
        [("logo.png".to_owned(), bytes(b"PNG")), ("proofs.pdf".to_owned(), bytes(b"%PDF")),]
    );
    assert_eq!(read.message_id, sample_message().message_id);
}

#[tokio::test]
async fn draft_changed_elsewhere_is_neither_overwritten_nor_sent() {
    let conflict = "the draft was changed meanwhile: read it again, and repeat the change if it \
                    still fits";
    let open = "the connection to Google broke; whether it was done is unknown: check before \
                retrying";
    // What the draft is before, and after a change whose answer broke off.
    for (versions, put, expected) in [
        (["a9", "a9"], ok(&json!({"id": "r1"})), Err(conflict)),
        (["a1", "a1"], broken(), Err(open)),
        (["a1", "a2"], broken(), Ok("a2")),
    ] {
        let minimal =
            turns(versions.map(|id| ok(&json!({"id": "r1", "message": {"id": id}}))).to_vec());
        let gmail = Gmail::scripted(move |request| match request.target.as_str() {
            "GET drafts/r1" if request.param("format") == "minimal" => minimal(),
            "GET drafts/r1" => ok(&reported(versions[1])),
            "PUT drafts/r1" => put.clone(),
            _ => None,
        })
        .await;
        let requested = OutgoingMessage {
            bcc: Vec::new(),
            text: "Done.".to_owned(),
            html: "Done.".to_owned(),
            ..sample_message()
        };
        let done = gmail.mail.update(&draft(), &requested, &NonInteractive).await;
        assert_eq!(
            done.map(|draft| draft.version).map_err(|error| error.to_string()),
            expected.map(str::to_owned).map_err(str::to_owned)
        );
    }
    let gmail = Gmail::scripted(|request| {
        (request.target == "GET drafts/r1").then(|| ok(&reported("a9")))?
    })
    .await;
    let error = gmail.mail.send(&draft(), None).await.unwrap_err();
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::Conflict, conflict.to_owned()));
    assert_eq!(gmail.written(), []);
}

#[tokio::test]
async fn draft_is_sent_only_once() {
    let open = "the connection to Google broke; whether it was done is unknown: check before \
                retrying";
    let limited = || {
        let refusal = refused(429, "rateLimitExceeded", "Slow down");
        refusal.map(|it| it.header("retry-after", "0"))
    };
    let sent_message = || ok(&json!({"id": "c1", "threadId": "t1", "labelIds": ["SENT"]}));
    for (answers, expected, times) in cases! {
        vec![sent_message()], Ok("c1"), 1;
        // That it came too often means that it was not sent; not even then is it
        // sent again by itself.
        vec![limited(), sent_message()],
            Err((
                ErrorKind::RateLimited(Some(Duration::ZERO)),
                "Google answered with status 429: `Slow down`: wait 0 s and try again, or ask for \
                 fewer items",
            )), 1;
        vec![broken(), sent_message()], Err((ErrorKind::Network, open)), 1;
        vec![refused(500, "backendError", "Backend Error"), sent_message()],
            Err((
                ErrorKind::Network,
                "Google answered with status 500: `Backend Error`; whether it was done is unknown: \
                 check before retrying",
            )), 1;
        vec![refused(400, "invalidArgument", "Invalid To header"), sent_message()],
            Err((ErrorKind::Provider(400), "Google answered with status 400: `Invalid To header`")), 1;
        vec![refused(403, "insufficientPermissions", "No"), sent_message()],
            Err((
                ErrorKind::Auth,
                "the sign-in does not allow this: run `daysheet account add google` and leave all \
                 permissions ticked",
            )), 1;
    } {
        let send = turns(answers);
        let gmail = Gmail::scripted(move |request| match request.target.as_str() {
            "GET drafts/r1" => ok(&reported("a1")),
            "POST drafts/send" => send(),
            _ => None,
        })
        .await;
        let sent = gmail.mail.send(&draft(), None).await;
        assert_eq!(
            sent.map_err(|error| (error.kind(), error.to_string())),
            expected
                .map(|id| SentMessage { id: Some(id.into()), thread: Some("t1".into()) })
                .map_err(|(kind, text)| (kind, text.to_owned()))
        );
        let written = gmail.written();
        assert_eq!(written.len(), times);
        assert_eq!(written[0], ("POST drafts/send".to_owned(), json!({"id": "r1"})));
    }
    let gmail = Gmail::scripted(|_| None).await;
    let later: Timestamp = "2026-12-01T08:00:00Z".parse().unwrap();
    let error = gmail.mail.send(&draft(), Some(later)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Gmail's API cannot schedule mail: send it now, or schedule the draft in Gmail"
    );
    assert_eq!(gmail.tap.requests().len(), 0);
}

#[tokio::test]
async fn discarded_draft_can_be_restored() {
    let conflict = "the draft was changed meanwhile: read it again, and repeat the change if it \
                    still fits";
    let message = |labels: Value| ok(&json!({"id": "a1", "labelIds": labels}));
    for (trash, draft_now, message_now, expected) in cases! {
        ok(&json!({"id": "a1"})), None, None, Ok(());
        None, ok(&reported("a2")), None, Err(conflict);
        None, None, None,
            Err("Gmail has no such item: it may have been deleted; search again for its handle");
        broken(), None, message(json!(["DRAFT", "TRASH"])), Ok(());
        broken(), None, message(json!(["DRAFT"])),
            Err(
                "the connection to Google broke; whether it was done is unknown: check before \
                 retrying",
            );
    } {
        let gmail = Gmail::scripted(move |request| match request.target.as_str() {
            "POST messages/a1/trash" => trash.clone(),
            "GET drafts/r1" => draft_now.clone(),
            "GET messages/a1" => message_now.clone(),
            _ => None,
        })
        .await;
        let done = gmail.mail.discard(&draft()).await;
        assert_eq!(done.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
        assert_eq!(gmail.written().len(), 1);
    }
}

/// The state of a message is derived from the search, the drafts and the thread.
#[tokio::test]
async fn possibly_sent_message_is_looked_up() {
    let message = |id: &str, labels: Value, header: &str, value: &str, ms: &str| {
        json!({"id": id, "threadId": "t1", "labelIds": labels, "internalDate": ms,
               "payload": {"headers": [{"name": header, "value": value}]}})
    };
    let ours = "<proofs-2@example.com>";
    let since: Timestamp = "2026-02-03T17:05:00Z".parse().unwrap();
    let (before, after) = ("1770138200000", "1770138301000");
    let is_sent =
        |id: &str| SendStatus::Sent(SentMessage { id: Some(id.into()), thread: Some("t1".into()) });
    let sent_one = message("c1", json!(["SENT"]), "Message-ID", ours, after);
    for (name, found, draft_there, thread, expected) in cases! {
        "found", Some(sent_one.clone()), false, vec![], is_sent("c1");
        // A copy that came back from a list is not what was sent.
        "a copy in the inbox", Some(message("c2", json!(["INBOX"]), "Message-ID", ours, after)),
            true, vec![], SendStatus::Draft;
        "another of a like name",
            Some(message("c2", json!(["SENT"]), "Message-ID", "<x@example.com>", after)), true,
            vec![], SendStatus::Draft;
        "still a draft", None, true, vec![sent_one.clone()], SendStatus::Draft;
        "not indexed yet", None, false, vec![sent_one.clone()], is_sent("c1");
        "by its former name", None, false,
            vec![
                message("c0", json!(["SENT"]), "Message-ID", "<a@example.com>", after),
                message("c3", json!(["SENT"]), "X-Google-Original-Message-ID", ours, before),
            ], is_sent("c3");
        "with another Message-ID", None, false,
            vec![
                message("c0", json!(["SENT"]), "Message-ID", "<a@example.com>", before),
                message("c4", json!(["SENT"]), "Message-ID", "<b@mail.example>", after),
            ],
            // It may be another message of the conversation.
            SendStatus::Nowhere;
        "nowhere", None, false,
            vec![
                message("c0", json!(["SENT"]), "Message-ID", "<a@example.com>", before),
                message("c5", json!(["INBOX"]), "Message-ID", "<b@example.com>", after),
            ], SendStatus::Nowhere;
    } {
        let rule = move |request: &HttpRequest| match request.target.as_str() {
            "GET messages" => {
                assert_eq!(request.param("q"), "rfc822msgid:proofs-2@example.com");
                assert_eq!(request.param("includeSpamTrash"), "true");
                let ids = found.iter().map(|one| json!({"id": one["id"]}));
                ok(&json!({"messages": ids.collect::<Vec<_>>()}))
            }
            "GET drafts/r1" if draft_there => ok(&reported("a1")),
            "GET threads/t1" => ok(&json!({"messages": thread})),
            what if what.starts_with("GET messages/") => ok(found.as_ref()?),
            _ => None,
        };
        let gmail = Gmail::scripted(rule).await;
        let lookup = SendLookup {
            draft: "r1".into(),
            thread: "t1".into(),
            message_id: "proofs-2@example.com".to_owned(),
            since,
        };
        let send_status = gmail.mail.send_status(&lookup).await.unwrap();
        assert_eq!(send_status, expected, "{name}");
    }
    // Without an answer nothing is claimed.
    let gmail = Gmail::scripted(|_| empty(401)).await;
    let lookup = SendLookup {
        draft: "r1".into(),
        thread: "t1".into(),
        message_id: "x@example.com".to_owned(),
        since,
    };
    assert!(gmail.mail.send_status(&lookup).await.is_err());
}
