//! The same over the sandbox: a message's life, messages put in order, a mailbox
//! set up.

use std::sync::Arc;

use daysheet_core::call::client::NonInteractive;
use daysheet_core::error::Kind;
use daysheet_core::project::Projection;
use daysheet_core::provider::mail::{
    AttachmentContent, AutoReply, ContactCard, Flag, FolderKind, MessageAction, Origin, Rule,
    RuleStep, SendLookup, SendStatus, SettingsChange,
};
use daysheet_core::provider::{ListRequest, Mailbox};
use daysheet_core::query::{Clock, parse};
use daysheet_sandbox::Options;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tempfile::TempDir;

use super::gmail::Watcher;
use super::{ME, file, person, sample_message};
use crate::tap::Tapped;

const ZOE: &str = "zoe@example.com";

/// Two mailboxes with two messages each.
async fn sandbox() -> Tapped {
    let mail = TempDir::new().unwrap();
    for owner in [ME, ZOE] {
        for (name, subject) in [("one", "Lamps"), ("two", "Paper")] {
            let headers = format!(
                "From: Ada <ada@example.com>\nTo: {owner}\nSubject: {subject}\n\
                 Message-ID: <{name}.{owner}>\nDate: Mon, 2 Nov 2026 09:00:00 +0000"
            );
            crate::common::messages::write_message(
                &mail.path().join(owner),
                &format!("{name}.eml"),
                &headers,
                "hi",
            );
        }
    }
    let options = Options { mail: Some(mail.path().to_owned()), ..Options::default() };
    let scopes = "https://mail.google.com/ https://www.googleapis.com/auth/gmail.settings.basic \
                  https://www.googleapis.com/auth/contacts";
    Tapped::untapped("google", scopes, options).await
}

fn clock() -> Clock {
    Clock { now: Timestamp::now(), zone: TimeZone::UTC }
}

/// The ids of what a query finds, newest first.
async fn found(mail: &Arc<dyn Mailbox>, query: &str) -> Vec<String> {
    let ask = ListRequest {
        query: Some(parse(query, &clock()).unwrap()),
        folder: None,
        projection: Projection { paths: vec!["id".to_owned()], ..Projection::default() },
        limit: 50,
        cursor: None,
    };
    let page = mail.messages(&ask).await.unwrap();
    let ids = page.items.iter().map(|item| item["id"].as_str().unwrap());
    ids.map(str::to_owned).collect()
}

#[tokio::test]
async fn message_is_drafted_changed_sent_and_received() {
    let sandbox = sandbox().await;
    let mira = sandbox.mailbox().await;
    let zoe = sandbox.mailbox_of(ZOE).await;
    let lamps = found(&mira, "subject:lamps").await.remove(0);
    let original = mira.source_message(&lamps).await.unwrap();
    assert_eq!(original.message_id, format!("one.{ME}"));
    assert_eq!(original.from, [person("Ada", "ada@example.com")]);
    assert_eq!((original.text.as_deref(), original.own), (Some("hi"), false));

    let mut answer = sample_message();
    answer.to = vec![person("", ZOE)];
    answer.bcc = Vec::new();
    answer.subject = "Re: Lamps".to_owned();
    answer.text = "Größer — and later.\n".to_owned();
    answer.in_reply_to = Some(original.message_id.clone());
    answer.references = vec![original.message_id];
    answer.files = vec![file("proofs.pdf", b"%PDF")];
    let origin = Origin::Reply { id: lamps, all: false };
    let made = mira.create(&origin, &answer, &NonInteractive).await.unwrap();
    assert_eq!(made.thread, original.thread);
    let stored = made.content.files[0].content.clone();
    assert!(matches!(stored, AttachmentContent::Existing { size: 4, .. }), "{stored:?}");
    // But for the file's bytes, it is the message that was given.
    let mut same = made.content.clone();
    same.files[0].content = answer.files[0].content.clone();
    assert_eq!(same, answer);
    assert_eq!(mira.draft(&made.id).await.unwrap(), made);
    assert_eq!(mira.draft(&made.message).await.unwrap(), made);

    let mut second = made.content.clone();
    second.text = "Later, perhaps.\n".to_owned();
    second.files.push(file("guests.pdf", b"%PDF-2"));
    let changed = mira.update(&made, &second, &NonInteractive).await.unwrap();
    assert_eq!((&changed.id, &changed.thread), (&made.id, &made.thread));
    assert_ne!(changed.version, made.version);
    assert_eq!(changed.content.text, "Later, perhaps.\n");
    let names: Vec<_> = changed.content.files.iter().map(|file| &*file.name).collect();
    assert_eq!(names, ["proofs.pdf", "guests.pdf"]);
    for error in [
        mira.update(&made, &second, &NonInteractive).await.unwrap_err(),
        mira.send(&made, None).await.unwrap_err(),
        mira.discard(&made).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), Kind::Conflict, "{error}");
    }

    let lookup = SendLookup {
        draft: changed.id.clone(),
        thread: changed.thread.clone(),
        message_id: changed.content.message_id.clone(),
        since: Timestamp::now(),
    };
    assert_eq!(mira.send_status(&lookup).await.unwrap(), SendStatus::Draft);
    let sent = mira.send(&changed, None).await.unwrap();
    assert_eq!(mira.send_status(&lookup).await.unwrap(), SendStatus::Sent(sent.clone()));
    let again = mira.send(&changed, None).await.unwrap_err();
    assert_eq!(again.kind(), Kind::NotFound);
    let nowhere = SendLookup {
        message_id: "nobody@example.com".to_owned(),
        since: Timestamp::now() + jiff::SignedDuration::from_hours(1),
        ..lookup
    };
    assert_eq!(mira.send_status(&nowhere).await.unwrap(), SendStatus::Nowhere);
    assert!(mira.source_message(&sent.id.unwrap()).await.unwrap().own);

    let got = found(&zoe, "from:mira").await.remove(0);
    let got = zoe.source_message(&got).await.unwrap();
    assert_eq!(got.subject, "Re: Lamps");
    let bytes = zoe.file(&got.id, &got.files[0].id, 100).await.unwrap();
    assert_eq!(bytes, b"%PDF");
}

#[tokio::test]
async fn large_draft_is_uploaded_and_can_be_discarded() {
    let sandbox = sandbox().await;
    let mira = sandbox.mailbox().await;
    let mut large = sample_message();
    let bytes: Vec<u8> = (0..7_000_000_u32).map(|at| (at % 251) as u8).collect();
    large.files = vec![file("proofs.pdf", &bytes)];
    let watcher = Watcher::default();
    let made = mira.create(&Origin::New, &large, &watcher).await.unwrap();
    assert_eq!(watcher.reported().len(), 4);
    let AttachmentContent::Existing { id, size } = &made.content.files[0].content else {
        panic!("{:?}", made.content.files[0].content);
    };
    assert_eq!(*size, 7_000_000);
    let back = mira.file(&made.message, id, *size).await.unwrap();
    assert!(back == bytes, "the bytes are another");
    let error = mira.file(&made.message, id, size - 1).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Argument);

    mira.discard(&made).await.unwrap();
    let state = mira.states(std::slice::from_ref(&made.message)).await.remove(0);
    assert_eq!(state.unwrap().folder, "TRASH");
    assert_eq!(found(&mira, "in:drafts").await, Vec::<String>::new());
}

#[tokio::test]
async fn message_actions_are_carried_out_and_undone() {
    let sandbox = sandbox().await;
    let mira = sandbox.mailbox().await;
    let mut ids = found(&mira, "from:ada").await;
    ids.push("ffffffffffffffff".to_owned());
    let before: Vec<_> = mira.states(&ids).await;
    assert_eq!(before[2].as_ref().unwrap_err().kind(), Kind::NotFound);
    let before: Vec<_> = before.into_iter().flatten().collect();
    let place = mira.find_folder("Clients/Nordlicht", FolderKind::Folder, true).await.unwrap();
    assert!(place.made);
    let again = mira.find_folder("clients/nordlicht", FolderKind::Label, true).await.unwrap();
    assert_eq!((again.id, again.made), (place.id.clone(), false));
    let mut now = before.clone();
    for (step, folder, starred, labelled) in [
        (MessageAction::Flag(Flag::Set { due: None }), "INBOX", true, false),
        (MessageAction::Copy(place.id.clone()), "INBOX", true, true),
        (MessageAction::Archive, "", true, true),
        (MessageAction::Spam, "SPAM", true, true),
        (MessageAction::Trash, "TRASH", true, true),
        (MessageAction::Untrash, "INBOX", true, true),
        (MessageAction::Unlabel(vec![place.id.clone()]), "INBOX", true, false),
        (MessageAction::Move(place.id.clone()), "", true, true),
    ] {
        let done = mira.apply(&now, &step).await;
        now = done.into_iter().map(|one| one.unwrap().unwrap()).collect();
        for state in &now {
            assert_eq!(state.folder, folder, "{step:?}");
            assert_eq!(state.flag != Flag::None, starred, "{step:?}");
            assert_eq!(state.labels.contains(&place.id), labelled, "{step:?}");
        }
        assert_eq!(
            mira.states(&ids[..2]).await.into_iter().flatten().collect::<Vec<_>>(),
            now,
            "{step:?}"
        );
    }
    let done = mira.apply(&now, &MessageAction::RestoreState(before.clone())).await;
    let back: Vec<_> = done.into_iter().map(|one| one.unwrap().unwrap()).collect();
    assert_eq!(back, before);
    let done = mira.apply(&back, &MessageAction::Delete).await;
    assert_eq!(done, [Ok(None), Ok(None)]);
    assert_eq!(found(&mira, "in:anywhere from:ada").await, Vec::<String>::new());
}

#[tokio::test]
async fn mailbox_settings_are_written_and_read_back() {
    let sandbox = sandbox().await;
    let mira = sandbox.mailbox().await;
    let set = async |change: SettingsChange| mira.apply_settings(&change).await;
    let named = |name: &str| name.to_owned();

    let folder =
        set(SettingsChange::CreateFolder { name: named("Lamps/Paper") }).await.unwrap().unwrap();
    assert_eq!(folder["name"], "Lamps/Paper");
    let id = folder["id"].as_str().unwrap().to_owned();
    let renamed = set(SettingsChange::RenameFolder { id: id.clone(), name: named("Lamps/Glass") })
        .await
        .unwrap()
        .unwrap();
    assert_eq!(renamed["name"], "Lamps/Glass");

    let rule = Rule {
        enabled: true,
        when: Some(parse("from:ada@example.com has:attachment", &clock()).unwrap()),
        then: vec![RuleStep::Label(named("Lamps/Glass")), RuleStep::Read],
        ..Rule::default()
    };
    let made = set(SettingsChange::CreateRule(rule.clone())).await.unwrap().unwrap();
    let known = mira.rules().await.unwrap();
    let expected = Rule { id: made["id"].as_str().unwrap().to_owned(), ..rule };
    assert_eq!(known, std::slice::from_ref(&expected));
    let other = Rule {
        when: Some(parse("\"final notice\" OR overdue", &clock()).unwrap()),
        then: vec![RuleStep::Archive],
        ..expected
    };
    let made = set(SettingsChange::UpdateRule(other.clone())).await.unwrap().unwrap();
    let id_now = made["id"].as_str().unwrap().to_owned();
    assert_ne!(id_now, other.id);
    let other = Rule { id: id_now.clone(), ..other };
    assert_eq!(mira.rules().await.unwrap(), [other]);
    assert_eq!(set(SettingsChange::DeleteRule { id: id_now }).await, Ok(None));
    assert_eq!(mira.rules().await.unwrap(), []);

    assert_eq!(set(SettingsChange::DeleteFolder { id }).await, Ok(None));
    let missing = mira.find_folder("Lamps/Glass", FolderKind::Folder, false).await;
    assert_eq!(missing.unwrap_err().kind(), Kind::NotFound);

    let reply = AutoReply {
        on: true,
        from: Some("2026-12-01T08:00:00Z".parse().unwrap()),
        to: None,
        subject: Some(named("Away")),
        html: Some(named("<p>Back soon.</p>")),
        external: None,
        audience: Some(daysheet_core::provider::mail::Audience::Contacts),
    };
    let settings = set(SettingsChange::AutoReply(reply.clone())).await.unwrap().unwrap();
    assert_eq!(settings["vacation"]["enableAutoReply"], true);
    assert_eq!(mira.auto_reply().await.unwrap(), reply);
    let language = SettingsChange::Settings { language: Some(named("de")), time_zone: None };
    let settings = set(language).await.unwrap().unwrap();
    assert_eq!(settings["language"]["displayLanguage"], "de");
    let sign = SettingsChange::Signature { address: None, html: named("<b>Mira</b>") };
    let alias = set(sign).await.unwrap().unwrap();
    assert_eq!(alias["sendAsEmail"], ME);
    let senders = mira.senders().await.unwrap();
    assert_eq!(senders[0].signature.as_deref(), Some("<b>Mira</b>"));

    let card = ContactCard {
        name: Some(named("Bo Lind")),
        emails: Some(vec![named("bo@example.com")]),
        ..ContactCard::default()
    };
    let contact = set(SettingsChange::CreateContact(card)).await.unwrap().unwrap();
    let id = contact["resourceName"].as_str().unwrap().to_owned();
    let card = ContactCard { company: Some(named("Press")), ..ContactCard::default() };
    let changed =
        set(SettingsChange::UpdateContact { id: id.clone(), card }).await.unwrap().unwrap();
    assert_eq!(changed["organizations"][0]["name"], "Press");
    assert_eq!(changed["emailAddresses"][0]["value"], "bo@example.com");
    assert_eq!(set(SettingsChange::DeleteContact { id: id.clone() }).await, Ok(None));
    let gone = set(SettingsChange::DeleteContact { id }).await.unwrap_err();
    assert_eq!(gone.kind(), Kind::NotFound);
}
