//! Drafts and sending.

use std::sync::atomic::{AtomicUsize, Ordering};

use daysheet_core::call::client::NonInteractive;
use daysheet_core::error::ErrorKind;
use daysheet_core::ids::{AttachmentId, MessageId};
use daysheet_core::provider::mail::{
    DraftOrigin, SendLookup, SendStatus, SentMessage, StoredDraft,
};

use super::*;
use crate::common::clock;

/// Answers reads of a draft with a file.
fn reads(line: &str) -> Option<ScriptedAnswer> {
    if line.starts_with(&format!("GET /me/messages/{DRAFT}/attachments?")) {
        return Some((200, json!({"value": [graph_file()]})));
    }
    line.starts_with(&format!("GET /me/messages/{DRAFT}?")).then(|| (200, graph_draft()))
}

/// An answer to a message with files.
fn reply(all: bool) -> DraftOrigin {
    DraftOrigin::Reply {
        id: MESSAGE.into(),
        thread: "the-conversation".into(),
        all,
        has_files: true,
    }
}

/// Returns the stored draft.
fn stored_draft() -> StoredDraft {
    StoredDraft {
        id: DRAFT.into(),
        message: DRAFT.into(),
        thread: "the-conversation".into(),
        version: "W/\"v1\"".to_owned(),
        content: OutgoingMessage {
            text: "Here they are.".to_owned(),
            files: vec![OutgoingAttachment {
                content: AttachmentContent::Existing { id: FILE.into(), size: 1234 },
                ..file("proofs.pdf", b"")
            }],
            ..sample_message()
        },
    }
}

#[tokio::test]
async fn message_is_stored_as_a_draft() {
    let outlook = service(|line, _| match line {
        "POST /me/messages" => (201, graph_draft()),
        line if line.ends_with("/attachments") => (201, graph_file()),
        line => reads(line).unwrap_or_else(missing),
    })
    .await;
    let message = OutgoingMessage {
        files: vec![
            file("proofs.pdf", b"%PDF"),
            OutgoingAttachment {
                cid: Some("logo@daysheet".to_owned()),
                ..file("logo.png", b"png")
            },
        ],
        ..sample_message()
    };
    let made = outlook.mailbox().await.create(&DraftOrigin::New, &message, &NonInteractive).await;
    assert_eq!(made, Ok(stored_draft()));
    let files = format!("POST /me/messages/{DRAFT}/attachments");
    assert_eq!(
        written(&outlook),
        lines(cases! {
            "POST /me/messages", sent_properties();
            &files,
                json!({
                    "@odata.type": "#microsoft.graph.fileAttachment", "name": "proofs.pdf",
                    "contentType": "application/pdf", "contentBytes": "JVBERg==",
                    "isInline": false,
                });
            &files,
                json!({
                    "@odata.type": "#microsoft.graph.fileAttachment", "name": "logo.png",
                    "contentType": "application/pdf", "contentBytes": "cG5n",
                    "isInline": true, "contentId": "logo@daysheet",
                });
        })
    );
}

#[tokio::test]
async fn alias_is_named_as_the_sender() {
    let outlook = service(|line, _| match line {
        "POST /me/messages" => (201, graph_draft()),
        line => reads(line).unwrap_or_else(missing),
    })
    .await;
    let message =
        OutgoingMessage { from: person("Studio", "studio@example.com"), ..sample_message() };
    outlook.mailbox().await.create(&DraftOrigin::New, &message, &NonInteractive).await.unwrap();
    assert_eq!(
        written(&outlook)[0].1["from"],
        json!({"emailAddress": {"name": "Studio", "address": "studio@example.com"}})
    );
}

/// Exchange creates the draft, and our content replaces its own. Files it copied are removed unless
/// they belong in the draft.
#[tokio::test]
async fn replies_and_forwards_are_created_from_the_message() {
    let picture = |id: &str, cid: &str| {
        json!({"id": id, "name": "p.png", "contentType": "image/png", "size": 9,
               "isInline": true, "contentId": cid})
    };
    let (shown, unseen) = ("AAkALgAApicture00000001=", "AAkALgAApicture00000002=");
    let forward = DraftOrigin::Forward { id: MESSAGE.into() };
    let own = || vec![file("own.pdf", b"%PDF")];
    for (origin, action, files, dropped) in [
        (reply(false), "createReply", Vec::new(), vec![FILE, unseen]),
        (reply(true), "createReplyAll", own(), vec![FILE, unseen]),
        (forward.clone(), "createForward", Vec::new(), vec![unseen]),
        (forward, "createForward", own(), vec![FILE, unseen]),
    ] {
        let outlook = service(move |line, _| {
            let copies = [picture(shown, "seen@x"), picture(unseen, "other@x"), graph_file()];
            match line {
                line if line.starts_with(&format!("POST /me/messages/{MESSAGE}/create")) => {
                    (201, json!({"id": DRAFT}))
                }
                line if line.starts_with("PATCH") => (200, graph_draft()),
                line if line.starts_with("DELETE") => (204, Value::Null),
                line if line.starts_with("POST") => (201, graph_file()),
                line if line.contains("/attachments?") => (200, json!({ "value": copies })),
                line => reads(line).unwrap_or_else(missing),
            }
        })
        .await;
        let html = "<p>Here they are.</p><img src=\"cid:seen@x\">";
        let has_own = !files.is_empty();
        let message = OutgoingMessage { html: html.to_owned(), files, ..sample_message() };
        outlook.mailbox().await.create(&origin, &message, &NonInteractive).await.unwrap();
        let mut properties = sent_properties();
        properties["body"]["content"] = html.into();
        let mut expected = lines([
            (
                &format!("POST /me/messages/{MESSAGE}/{action}"),
                json!({ "message": properties.clone() }),
            ),
            (&format!("PATCH /me/messages/{DRAFT}"), properties),
        ]);
        for id in dropped {
            let path = format!("DELETE /me/messages/{DRAFT}/attachments/{id}");
            expected.push((path, Value::Null));
        }
        let mut seen = written(&outlook);
        if has_own {
            assert_eq!(seen.pop().unwrap().1["name"], "own.pdf");
        }
        assert_eq!(seen, expected, "{action}");
    }
}

/// After an unclear response the draft is looked up, not created again.
#[tokio::test]
async fn draft_is_never_created_twice() {
    let lookup = "GET /me/mailFolders/drafts/messages?$filter=internetMessageId eq \
                  '<proofs-1@daysheet.example>'&";
    for (found, expected) in cases! {
        vec![json!({"id": DRAFT, "isDraft": true})], None;
        Vec::new(),
            Some(
                "Outlook did not answer, and no new draft was found (Outlook answered with status \
                 500: `No`; whether it was done is unknown): check with mail_search in:drafts \
                 before retrying",
            );
    } {
        let outlook = service(move |line, _| match line {
            "POST /me/messages" => refused(500, "ErrorInternalServerError"),
            line if line.starts_with(lookup) => (200, json!({ "value": found })),
            line => reads(line).unwrap_or_else(missing),
        })
        .await;
        let mailbox = outlook.mailbox().await;
        let made = mailbox.create(&DraftOrigin::New, &sample_message(), &NonInteractive).await;
        assert_eq!(written(&outlook).len(), 1);
        match expected {
            None => assert_eq!(made, Ok(stored_draft())),
            Some(expected) => assert_eq!(error(made), expected),
        }
    }
}

#[tokio::test]
async fn reply_draft_is_never_created_twice() {
    let now = clock::now();
    let hour = jiff::SignedDuration::from_hours(1);
    let made = move |ids: &[(&str, bool)]| -> Vec<Value> {
        let one = |(id, new): &(&str, bool)| {
            let at = if *new { now + hour } else { now - hour };
            json!({"id": id, "createdDateTime": at.to_string()})
        };
        ids.iter().map(one).collect()
    };
    let other = "AAkALgAAdraft0000000002=";
    for (drafts, found) in [
        (made(&[(other, false), (DRAFT, true)]), true),
        (made(&[(other, false)]), false),
        (made(&[(other, true), (DRAFT, true)]), false),
    ] {
        let outlook = service(move |line, _| match line {
            line if line.ends_with("/createReply") => refused(504, "GatewayTimeout"),
            line if line.starts_with(&format!("GET /me/messages/{MESSAGE}?")) => {
                (200, json!({"id": MESSAGE, "conversationId": "the ' one"}))
            }
            line if line.contains("internetMessageId eq") => (200, json!({"value": []})),
            line if line.contains("conversationId eq 'the '' one'") => {
                (200, json!({ "value": drafts }))
            }
            line if line.starts_with("PATCH") => (200, graph_draft()),
            line if line.starts_with("DELETE") => (204, Value::Null),
            line => reads(line).unwrap_or_else(missing),
        })
        .await;
        let mailbox = outlook.mailbox().await;
        let origin = reply(false);
        let made = mailbox.create(&origin, &sample_message(), &NonInteractive).await;
        let replies = written(&outlook);
        let replies = replies.iter().filter(|(line, _)| line.ends_with("createReply"));
        assert_eq!((made.is_ok(), replies.count()), (found, 1));
    }
}

/// Only changes are sent, and only to the version that was read.
#[tokio::test]
async fn changing_a_draft_sends_only_what_is_new() {
    let outlook = service(|line, _| match line {
        line if line.starts_with("PATCH") => (200, graph_draft()),
        line if line.starts_with("DELETE") => (204, Value::Null),
        line if line.starts_with("POST") => (201, graph_file()),
        line => reads(line).unwrap_or_else(missing),
    })
    .await;
    let message = OutgoingMessage {
        subject: "Proofs, again".to_owned(),
        importance: Importance::Normal,
        files: vec![file("new.pdf", b"%PDF")],
        ..stored_draft().content
    };
    let changed = outlook.mailbox().await.update(&stored_draft(), &message, &NonInteractive).await;
    assert_eq!(changed, Ok(stored_draft()));
    let seen = outlook.tap.requests();
    let patch = seen.iter().find(|seen| seen.line.starts_with("PATCH"));
    let patch = patch.unwrap();
    assert_eq!(
        (patch.header("if-match"), &patch.body),
        ("W/\"v1\"", &json!({"subject": "Proofs, again", "importance": "normal"}))
    );
    let rest: Vec<&str> = seen.iter().map(|seen| seen.line.as_str()).collect();
    assert_eq!(
        rest[1..3],
        [
            format!("DELETE /me/messages/{DRAFT}/attachments/{FILE}"),
            format!("POST /me/messages/{DRAFT}/attachments"),
        ]
    );
}

#[tokio::test]
async fn draft_changed_meanwhile_is_not_overwritten() {
    let outlook = service(|line, _| match line {
        line if line.starts_with("PATCH") => refused(412, "ErrorIrresolvableConflict"),
        line => reads(line).unwrap_or_else(missing),
    })
    .await;
    let mailbox = outlook.mailbox().await;
    let stale = StoredDraft { version: "W/\"v0\"".to_owned(), ..stored_draft() };
    let other = OutgoingMessage { subject: "Other".to_owned(), ..stored_draft().content };
    let only_files = OutgoingMessage { files: Vec::new(), ..stored_draft().content };
    for (message, writes) in [(other, 1), (only_files, 0)] {
        let failed = mailbox.update(&stale, &message, &NonInteractive).await.unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::Conflict);
        assert_eq!(
            failed.next_step(),
            Some("read it again, and repeat the change if it still fits")
        );
        assert_eq!(written(&outlook).len(), writes);
    }
}

#[tokio::test]
async fn attachment_that_fails_is_named() {
    let outlook = service(|line, body| match line {
        "POST /me/messages" => (201, graph_draft()),
        line if line.ends_with("/attachments") && body["name"] == "two.pdf" => {
            refused(403, "ErrorQuotaExceeded")
        }
        line if line.ends_with("/attachments") => (201, graph_file()),
        line => reads(line).unwrap_or_else(missing),
    })
    .await;
    let message = OutgoingMessage {
        files: ["one.pdf", "two.pdf", "three.pdf"].map(|name| file(name, b"%PDF")).to_vec(),
        ..sample_message()
    };
    let made = outlook.mailbox().await.create(&DraftOrigin::New, &message, &NonInteractive).await;
    assert_eq!(
        error(made),
        "the draft exists, but without `two.pdf`, `three.pdf`: Outlook answered with status 403: \
         `No`: find it with mail_search in:drafts; attach the files with mode=edit, or discard it"
    );
}

#[tokio::test]
async fn draft_is_sent_only_once() {
    let outlook = service(|_, _| (202, Value::Null)).await;
    let mailbox = outlook.mailbox().await;
    let sent = SentMessage { id: Some(DRAFT.into()), thread: Some("the-conversation".into()) };
    assert_eq!(mailbox.send(&stored_draft(), None).await, Ok(sent.clone()));
    let send = format!("POST /me/messages/{DRAFT}/send");
    assert_eq!(written(&outlook), lines([(&send, Value::Null)]));

    let later = "2031-02-03T18:05:00Z".parse().unwrap();
    assert_eq!(mailbox.send(&stored_draft(), Some(later)).await, Ok(sent));
    let value = json!([{"id": "SystemTime 0x3FEF", "value": "2031-02-03T18:05:00Z"}]);
    let patch = format!("PATCH /me/messages/{DRAFT}");
    assert_eq!(
        written(&outlook),
        lines([(&patch, json!({"singleValueExtendedProperties": value})), (&send, Value::Null),])
    );
}

/// An error says whether it may have been sent.
#[tokio::test]
async fn possibly_sent_message_is_not_sent_again() {
    for (method, status, at, kind, writes) in [
        ("POST", 500, None, ErrorKind::Network, 1),
        ("POST", 403, None, ErrorKind::Provider(403), 1),
        ("PATCH", 500, Some("2031-02-03T18:05:00Z"), ErrorKind::Provider(503), 1),
        ("POST", 500, Some("2031-02-03T18:05:00Z"), ErrorKind::Network, 2),
    ] {
        let outlook = service(move |line, _| {
            if line.starts_with(method) { refused(status, "ErrorOdd") } else { (200, Value::Null) }
        })
        .await;
        let at = at.map(|at| at.parse().unwrap());
        let failed = outlook.mailbox().await.send(&stored_draft(), at).await.unwrap_err();
        assert_eq!(failed.kind(), kind, "{method} {status}");
        assert_eq!(written(&outlook).len(), writes);
    }
}

#[tokio::test]
async fn message_is_found_in_whatever_folder() {
    let outbox = "AAkALgAAfolderOutbox001=";
    let message = |draft: bool, folder: &str| json!({"id": DRAFT, "conversationId": "c", "isDraft": draft, "parentFolderId": folder});
    let sent =
        |id: &str| SendStatus::Sent(SentMessage { id: Some(id.into()), thread: Some("c".into()) });
    let copy = |draft: bool| json!({"id": MESSAGE, "conversationId": "c", "isDraft": draft});
    for (stored, in_sent, anywhere, expected) in [
        (Some(message(false, INBOX)), None, None, sent(DRAFT)),
        (Some(message(true, outbox)), None, None, sent(DRAFT)),
        (Some(message(true, INBOX)), None, None, SendStatus::Draft),
        (None, Some(copy(false)), None, sent(MESSAGE)),
        (None, None, Some(copy(false)), sent(MESSAGE)),
        (None, None, Some(copy(true)), SendStatus::Draft),
        (None, None, None, SendStatus::Nowhere),
    ] {
        let outlook = service(move |line, _| {
            let list =
                |one: &Option<Value>| (200, json!({"value": one.iter().collect::<Vec<_>>()}));
            let filter = "$filter=internetMessageId eq '<o''ne@daysheet.example>'";
            match line {
                line if line.starts_with("GET /me/mailFolders/outbox") => {
                    (200, json!({ "id": outbox }))
                }
                line if line.starts_with(&format!("GET /me/messages/{DRAFT}?")) => {
                    stored.clone().map_or_else(missing, |stored| (200, stored))
                }
                line if !line.contains(filter) => missing(),
                line if line.contains("/sentitems/") => list(&in_sent),
                _ => list(&anywhere),
            }
        })
        .await;
        let lookup = SendLookup {
            draft: DRAFT.into(),
            thread: "c".into(),
            message_id: "o'ne@daysheet.example".to_owned(),
            since: clock::now(),
        };
        let found = outlook.mailbox().await.send_status(&lookup).await;
        assert_eq!(found, Ok(expected));
        assert_eq!(written(&outlook), []);
    }
}

#[tokio::test]
async fn sent_message_is_no_longer_a_draft() {
    let outlook = service(|line, _| {
        let (status, mut body) = reads(line).unwrap_or_else(missing);
        if body.get("isDraft").is_some() {
            body["isDraft"] = false.into();
        }
        (status, body)
    })
    .await;
    let failed = outlook.mailbox().await.draft(DRAFT).await.unwrap_err();
    assert_eq!(failed.kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn source_message_has_what_a_reply_needs() {
    let header = |name: &str, value: &str| json!({"name": name, "value": value});
    let outlook = service(move |line, _| {
        if line.contains("/attachments?") {
            let mut picture = graph_file();
            picture["isInline"] = true.into();
            picture["contentId"] = "<logo@x>".into();
            let message = json!({"@odata.type": "#microsoft.graph.itemAttachment", "id": "x",
                                "name": "Re: Proofs", "contentType": null, "size": 7});
            return (200, json!({"value": [picture, message]}));
        }
        let mut message = graph_draft();
        message["sentDateTime"] = "2026-02-03T17:05:00Z".into();
        message["from"] = json!({"emailAddress": {"name": "Mira", "address": ME}});
        message["internetMessageHeaders"] = json!([
            header("In-Reply-To", "<b@x>"),
            header("references", "<a@x>\r\n <b@x>"),
            header("List-Unsubscribe", "<https://x.example/u>,\r\n <mailto:u@x.example>"),
            header("X-Other", "no"),
        ]);
        (200, message)
    })
    .await;
    let found = outlook.mailbox().await.source_message(&MESSAGE.into()).await.unwrap();
    let files: Vec<_> = found
        .files
        .iter()
        .map(|file| (file.name.as_str(), file.media.as_str(), file.cid.as_deref()))
        .collect();
    assert_eq!(
        files,
        [("proofs.pdf", "application/pdf", Some("logo@x")), ("Re: Proofs", "message/rfc822", None)]
    );
    assert_eq!(
        (found.own, found.references, found.message_id.as_str()),
        (true, vec!["a@x".to_owned(), "b@x".to_owned()], "proofs-1@daysheet.example")
    );
    assert_eq!(found.from, [person("Mira", ME)]);
    assert_eq!(found.to, sample_message().to);
    assert_eq!(found.cc, sample_message().cc);
    assert_eq!(found.sent, Some("2026-02-03T17:05:00Z".parse().unwrap()));
    assert!(found.html.unwrap().contains("<p>Here they are.</p>"));
    assert_eq!(
        found.headers,
        [("List-Unsubscribe".to_owned(), "<https://x.example/u>, <mailto:u@x.example>".to_owned())]
    );
}

#[tokio::test]
async fn attachments_are_read_up_to_a_size() {
    static SIZE: AtomicUsize = AtomicUsize::new(10);
    let outlook = Outlook::scripted(|seen| {
        let path = format!("GET /me/messages/{MESSAGE}/attachments/{FILE}");
        Some(match seen.line.strip_prefix(&path).unwrap() {
            "/$value" => empty(200).body("0123456789"),
            _ => respond(
                200,
                &json!({"id": FILE, "name": "proofs.pdf", "size": SIZE.load(Ordering::Relaxed)}),
            ),
        })
    })
    .await;
    let mailbox = outlook.mailbox().await;
    let (message, file) = (MessageId::from(MESSAGE), AttachmentId::from(FILE));
    let both = AttachmentId::from(format!("{MESSAGE}:{FILE}"));
    let large = "`proofs.pdf` is larger than 9 bytes: open it in Outlook";
    assert_eq!(mailbox.file(&message, &both, 10).await, Ok(b"0123456789".to_vec()));
    assert_eq!(error(mailbox.file(&message, &file, 9).await), large);
    // A file that is much too large is not fetched at all.
    outlook.tap.requests();
    SIZE.store(1 << 30, Ordering::Relaxed);
    assert_eq!(error(mailbox.file(&message, &file, 9).await), large);
    assert_eq!(outlook.tap.requests().len(), 1);
}

#[tokio::test]
async fn senders_are_the_addresses_of_the_mailbox() {
    let outlook = service(|_, _| {
        let proxies = ["smtp:studio@example.com", "x500:/o=x", "SMTP:mira@example.com"];
        (
            200,
            json!({"displayName": "Mira Lindqvist", "mail": "mira@example.com",
                   "proxyAddresses": proxies}),
        )
    })
    .await;
    let senders = outlook.mailbox().await.senders().await.unwrap();
    let senders: Vec<_> = senders
        .iter()
        .map(|one| (one.person.name.as_deref(), one.person.address.as_str(), one.default))
        .collect();
    assert_eq!(
        senders,
        [
            (Some("Mira Lindqvist"), "mira@example.com", true),
            (Some("Mira Lindqvist"), "studio@example.com", false)
        ]
    );
    let shared = outlook.shared("team@example.com").await;
    let senders = shared.senders().await.unwrap();
    assert_eq!(senders.len(), 1);
    assert_eq!(senders[0].person, person("", "team@example.com"));
}

/// Drafts of a shared mailbox are stored in it and name it as the sender.
#[tokio::test]
async fn shared_mailbox_is_the_sender_of_its_drafts() {
    let outlook = service(|line, _| {
        let line = line.replace("/users/team@example.com/", "/me/");
        match line.as_str() {
            "POST /me/messages" => (201, graph_draft()),
            "POST /me/messages/AAkALgAAdraft0000000001=/send" => (202, Value::Null),
            line => reads(line).unwrap_or_else(missing),
        }
    })
    .await;
    let shared = outlook.shared("team@example.com").await;
    let message = OutgoingMessage { from: person("", "team@example.com"), ..sample_message() };
    let draft = shared.create(&DraftOrigin::New, &message, &NonInteractive).await.unwrap();
    shared.send(&draft, None).await.unwrap();
    let seen = written(&outlook);
    let paths: Vec<&str> = seen.iter().map(|(line, _)| line.as_str()).collect();
    assert_eq!(
        paths,
        [
            "POST /users/team@example.com/messages",
            "POST /users/team@example.com/messages/AAkALgAAdraft0000000001=/send"
        ]
    );
    assert_eq!(seen[0].1["from"], json!({"emailAddress": {"address": "team@example.com"}}));
}
