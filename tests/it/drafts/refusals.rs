//! Calls that are refused before any write.

use daysheet_core::provider::mail::SourceMessage;
use serde_json::json;

use super::mira::{Mira, jonas};
use crate::common::messages::person;

#[tokio::test]
async fn refused_drafts_write_nothing() {
    let mira =
        Mira::new(&[("DAYSHEET_RECIPIENTS", "@example.com, office@lindqvist-lamps.example")]).await;
    mira.put(jonas());
    let handle = mira.message("m1").await;
    mira.put(SourceMessage { id: "m2".into(), draft: true, ..jonas() });
    mira.message("m2").await;
    let folder = mira.folder();
    let folder = folder.to_str().unwrap();
    for (arguments, expected) in cases! {
        json!({"to": "priya@example.com, eve@example.net", "bcc": "mallory@sub.example.com"}),
            "not an allowed recipient: eve@example.net, mallory@sub.example.com: leave them out, \
             or ask the user to add them to the setting `recipients`".to_owned();
        json!({"mode": "reply_all", "id": handle}),
            "not an allowed recipient: yusuf@lindqvist-lamps.example: leave them out, or ask the \
             user to add them to the setting `recipients`".to_owned();
        json!({"subject": "x\r\nBcc: eve@example.net"}),
            "`subject` has a line break: write it on one line".to_owned();
        json!({"from": "eve@example.net"}),
            "this account cannot send as eve@example.net: use one of: mira@example.com, \
             mira@lindqvist-lamps.example".to_owned();
        json!({"attach": ["/etc/hostname"]}),
            format!("attach: /etc/hostname is outside the allowed folders: use {folder}, or have it added to `files` in the settings");
        json!({"attach": ["../secret.txt"]}),
            format!("attach: ../secret.txt is outside the allowed folders: use {folder}, or have it added to `files` in the settings");
        json!({"attach": ["data:text/plain;base64,§"]}),
            "attach: data:text/plain;base64,§ is not Base64: write it as \
             data:text/plain;name=notes.txt;base64,SGk=".to_owned();
        json!({"body": "![x](cid:logo.png)"}),
            "cid:logo.png matches no attached file: attach the picture, and write cid: with its name".to_owned();
        json!({"mode": "reply", "id": "m77"}),
            "there is no `m77`: use an id from a search or lookup".to_owned();
        json!({"mode": "reply", "id": "m2"}),
            "m2 is a draft: change it with mode=edit, or reply to a message that was sent".to_owned();
        json!({"mode": "reply", "id": "e7"}),
            "e7 is not a message: give a message or draft, such as m12 or d5".to_owned();
    } {
        // The state folder holds the program's own files, which must not be attached.
        std::fs::write(mira.home.path().join("secret.txt"), "x").ok();
        assert_eq!(mira.error(arguments.clone()).await, expected, "{arguments}");
    }
    assert_eq!(mira.log(), Vec::<String>::new());
    assert!(!mira.home.path().join("audit.jsonl").exists());
    mira.ok(json!({"to": "priya@example.com", "cc": "office@lindqvist-lamps.example"})).await;
}

#[tokio::test]
async fn unknown_senders_are_shown_as_such() {
    let mira = Mira::new(&[]).await;
    let mut message = jonas();
    message.subject = "Hi\u{202e}\r\nBcc: x".to_owned();
    message.from = vec![person("ceo@bank.example", "eve@example.net")];
    message.reply_to = vec![person("", "eve@xn--80ak6aa92e.example")];
    mira.put(message);
    let handle = mira.message("m1").await;
    let blocks =
        mira.ok(json!({"mode": "reply", "id": handle, "body": "x", "quote": "none"})).await;
    assert_eq!(
        blocks,
        [
            "draft: d1\nfrom: Mira Lindqvist <mira@example.com>\nto: eve@xn--80ak6aa92e.example\nsubject: \"Re: Hi Bcc: x\"\nthread: t1\nsignature: yes\n\
             quote: none\ntext: \"x\\n\\n--\\nMira\\nLindqvist Lamps\"",
            "`аррӏе.example` is `xn--80ak6aa92e.example` in ASCII: check that it is not a look-alike\n\
             its Reply-To sends replies to `eve@xn--80ak6aa92e.example`, but it came from `eve@example.net`\n\
             nothing was sent; mail_send id=d1 sends it",
        ]
    );
}
