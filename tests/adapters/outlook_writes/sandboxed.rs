//! The same against the sandbox, which keeps what it is told.

use std::collections::BTreeSet;

use daysheet_core::call::client::NonInteractive;
use daysheet_core::error::Kind;
use daysheet_core::project::project;
use daysheet_core::provider::mail::{
    AutoReply, ContactCard, Flag, FolderKind, MailState, MessageAction, Origin, Rule, RuleStep,
    SendLookup, SendStatus, SettingsChange, StoredDraft,
};
use daysheet_core::provider::{ListRequest, Mailbox};
use daysheet_core::query::{Query, Term};
use daysheet_core::schemas::{Api, Level, MESSAGE};

use super::*;

/// Another mailbox of the sample.
const OTHER: &str = "mira@lindqvist-lamps.example";

/// Ids of the messages in a folder, the newest first.
async fn ids(mailbox: &dyn Mailbox, folder: &str) -> Vec<String> {
    let ask = ListRequest {
        query: Some(Query::Term(Term::Folder(folder.to_owned()))),
        folder: None,
        projection: project(Api::Outlook, &MESSAGE.up_to(Level::Core)),
        limit: 25,
        cursor: None,
    };
    let page = mailbox.messages(&ask).await.unwrap();
    let id = |item: &Value| item["id"].as_str().unwrap().to_owned();
    page.items.iter().map(id).collect()
}

fn to_other() -> OutgoingMessage {
    OutgoingMessage {
        to: vec![person("Mira", OTHER)],
        cc: Vec::new(),
        importance: Importance::Normal,
        ..sample_message()
    }
}

fn send_lookup(draft: &StoredDraft) -> SendLookup {
    SendLookup {
        draft: draft.id.clone(),
        thread: draft.thread.clone(),
        message_id: draft.content.message_id.clone(),
        since: jiff::Timestamp::now(),
    }
}

fn names(draft: &StoredDraft) -> Vec<&str> {
    let files = draft.content.files.iter();
    files.map(|file| file.name.as_str()).collect()
}

#[tokio::test]
async fn message_is_drafted_changed_sent_and_received() {
    let outlook = Outlook::sample().await;
    let mine = outlook.mailbox().await;
    let theirs = outlook.mailbox_of(OTHER).await;

    // It is made with a small file and a large one.
    let large = vec![7; (4 << 20) + 11];
    let message = OutgoingMessage {
        files: vec![file("proofs.pdf", b"%PDF"), file("film.pdf", &large)],
        ..to_other()
    };
    let reported = ProgressLog::default();
    let made = mine.create(&Origin::New, &message, &reported).await.unwrap();
    assert_eq!(names(&made), ["proofs.pdf", "film.pdf"]);
    assert_eq!(made.content.message_id, message.message_id);
    assert_eq!((&made.content.to, &made.content.subject), (&message.to, &message.subject));
    assert_eq!(made.content.text, "Here they are.");
    assert_eq!(reported.0.lock().unwrap().len(), 3);
    let AttachmentContent::Existing { id: film, .. } = &made.content.files[1].content else {
        panic!("the file is not there");
    };
    let bytes = mine.file(&made.id, film, 5 << 20).await.unwrap();
    assert!(bytes == large);

    // It is changed, once.
    let changed = OutgoingMessage {
        subject: "Final proofs".to_owned(),
        files: vec![made.content.files[0].clone(), file("more.pdf", b"%PDF-2")],
        ..made.content.clone()
    };
    let now = mine.update(&made, &changed, &NonInteractive).await.unwrap();
    assert_eq!((now.id.as_str(), now.content.subject.as_str()), (made.id.as_str(), "Final proofs"));
    assert_eq!(names(&now), ["proofs.pdf", "more.pdf"]);
    let other = OutgoingMessage { subject: "Other".to_owned(), ..changed };
    let stale = mine.update(&made, &other, &NonInteractive).await.unwrap_err();
    assert_eq!(stale.kind(), Kind::Conflict);

    // It is sent, and is where sent messages are.
    assert_eq!(mine.send_status(&send_lookup(&now)).await, Ok(SendStatus::Draft));
    let sent = mine.send(&now, None).await.unwrap();
    assert_eq!(mine.send_status(&send_lookup(&now)).await, Ok(SendStatus::Sent(sent.clone())));
    assert_eq!(mine.draft(&now.id).await.unwrap_err().kind(), Kind::NotFound);

    // It is answered in its conversation.
    let came = ids(&*theirs, "inbox").await.remove(0);
    let original = theirs.source_message(&came).await.unwrap();
    assert_eq!((original.message_id.as_str(), original.own), (message.message_id.as_str(), false));
    assert_eq!(original.files.len(), 2);
    let reply = Origin::Reply { id: came.clone(), all: true };
    let thanks = OutgoingMessage {
        message_id: "thanks-1@daysheet.example".to_owned(),
        from: person("", OTHER),
        to: vec![person("", ME)],
        subject: "Re: Final proofs".to_owned(),
        html: "<p>Thank you.</p>".to_owned(),
        ..to_other()
    };
    let answer = theirs.create(&reply, &thanks, &NonInteractive).await.unwrap();
    assert_eq!(answer.thread, original.thread);
    assert_eq!(answer.content.html, "<p>Thank you.</p>");
    assert_eq!(names(&answer), Vec::<&str>::new());
    theirs.send(&answer, None).await.unwrap();
    let back = ids(&*mine, "inbox").await.remove(0);
    let back = mine.source_message(&back).await.unwrap();
    assert_eq!(Some(back.thread), sent.thread);
    assert_eq!(back.references.last(), Some(&message.message_id));

    // It is sent on with its files.
    let forward = OutgoingMessage {
        message_id: "on-1@daysheet.example".to_owned(),
        subject: "Fw: Final proofs".to_owned(),
        from: person("", OTHER),
        ..to_other()
    };
    let origin = Origin::Forward { id: came };
    let onward = theirs.create(&origin, &forward, &NonInteractive).await.unwrap();
    assert_eq!(names(&onward), ["proofs.pdf", "more.pdf"]);
    theirs.discard(&onward).await.unwrap();
    assert!(ids(&*theirs, "trash").await.contains(&onward.id));
}

#[tokio::test]
async fn scheduled_message_waits_for_its_time() {
    let outlook = Outlook::sample().await;
    let mine = outlook.mailbox().await;
    let draft = mine.create(&Origin::New, &to_other(), &NonInteractive).await.unwrap();
    let later = "2041-02-03T18:05:00Z".parse().unwrap();
    mine.send(&draft, Some(later)).await.unwrap();
    let found = mine.send_status(&send_lookup(&draft)).await.unwrap();
    assert!(matches!(found, SendStatus::Sent(_)), "{found:?}");
}

#[tokio::test]
async fn message_actions_are_carried_out_and_undone() {
    let outlook = Outlook::sample().await;
    let mine = outlook.mailbox().await;
    let all = ids(&*mine, "inbox").await;
    let before: Vec<MailState> = mine.states(&all).await.into_iter().map(Result::unwrap).collect();
    let folder = mine.find_folder("Taxes/2026", FolderKind::Folder, true).await;
    let folder = folder.unwrap();
    assert_eq!((folder.name.as_str(), folder.made), ("Taxes/2026", true));
    let again = mine.find_folder("taxes/2026", FolderKind::Folder, false).await;
    assert_eq!(again.unwrap().id, folder.id);
    let label = mine.find_folder("Urgent", FolderKind::Label, true).await.unwrap();
    let due = "2041-02-03T18:05:00Z".parse().unwrap();
    let flag = Flag::Set { due: Some(due) };
    for step in [
        MessageAction::Read(true),
        MessageAction::Read(false),
        MessageAction::Flag(flag.clone()),
        MessageAction::Label(vec![label.id.clone()]),
        MessageAction::Move(folder.id.clone()),
        MessageAction::Archive,
        MessageAction::Spam,
        MessageAction::Trash,
        MessageAction::Untrash,
        MessageAction::Flag(Flag::Done),
        MessageAction::Flag(Flag::None),
        MessageAction::Flag(Flag::Set { due: None }),
        MessageAction::Unlabel(vec![label.id.clone()]),
    ] {
        let now: Vec<MailState> = mine.states(&all).await.into_iter().map(Result::unwrap).collect();
        let done = mine.apply(&now, &step).await;
        let done: Vec<MailState> = done.into_iter().map(|one| one.unwrap().unwrap()).collect();
        let read: Vec<MailState> =
            mine.states(&all).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(done, read, "{step:?}");
        let one = &done[0];
        match &step {
            MessageAction::Read(read) => assert_eq!(one.unread, !read),
            MessageAction::Flag(flag) => assert_eq!(one.flag, *flag),
            MessageAction::Label(_) => assert!(one.labels.contains("Urgent")),
            MessageAction::Unlabel(_) => assert!(!one.labels.contains("Urgent")),
            MessageAction::Move(folder) => assert_eq!(one.folder, *folder),
            MessageAction::Untrash => assert_eq!(one.folder, before[0].folder),
            _ => assert_ne!(one.folder, now[0].folder, "{step:?}"),
        }
        if step == MessageAction::Archive {
            let back = mine.apply(&done, &MessageAction::RestoreState(before.clone())).await;
            let back: Vec<MailState> = back.into_iter().map(|one| one.unwrap().unwrap()).collect();
            assert_eq!(back, before);
        }
    }
    let last = mine.states(&all[..1]).await.remove(0).unwrap();
    assert_eq!(mine.apply(&[last], &MessageAction::Delete).await, [Ok(None)]);
    let gone = mine.states(&all[..1]).await.remove(0);
    assert_eq!(gone.unwrap_err().kind(), Kind::NotFound);
    let copied = mine.states(&all[1..2]).await.remove(0).unwrap();
    let step = MessageAction::Copy(folder.id);
    assert_eq!(mine.apply(std::slice::from_ref(&copied), &step).await, [Ok(Some(copied))]);
    assert_eq!(ids(&*mine, "Taxes/2026").await.len(), 1);
}

#[tokio::test]
async fn mailbox_settings_are_written_and_read_back() {
    let outlook = Outlook::sample().await;
    let mine = outlook.mailbox().await;
    let set = |change: SettingsChange| {
        let mine = mine.clone();
        async move { mine.apply_settings(&change).await }
    };
    let made = set(SettingsChange::CreateFolder { name: "Clients/Lamps".to_owned() });
    let made = made.await.unwrap().unwrap();
    let id = made["id"].as_str().unwrap().to_owned();
    let name = "Lamps and more".to_owned();
    let renamed = set(SettingsChange::RenameFolder { id: id.clone(), name }).await;
    assert_eq!(renamed.unwrap().unwrap()["displayName"], "Lamps and more");
    let names: BTreeSet<String> = mine.names().await.unwrap().into_values().collect();
    assert!(names.contains("Clients/Lamps and more"), "{names:?}");

    let rule = Rule {
        name: Some("Lamps".to_owned()),
        enabled: true,
        when: Some(Query::Term(Term::In(
            daysheet_core::query::MessagePart::Subject,
            "lamp".to_owned(),
        ))),
        then: vec![
            RuleStep::Read,
            RuleStep::Label("Lamps".to_owned()),
            RuleStep::Move("Clients/Lamps and more".to_owned()),
        ],
        stop: true,
        ..Rule::default()
    };
    let made = set(SettingsChange::CreateRule(rule.clone())).await.unwrap().unwrap();
    let sorted = |mut rule: Rule| {
        rule.then.sort_by_key(|step| format!("{step:?}"));
        rule
    };
    let mut read = mine.rules().await.unwrap();
    let expected = Rule { id: made["id"].as_str().unwrap().to_owned(), ..rule };
    assert_eq!(sorted(read.remove(0)), sorted(expected.clone()));
    let off = Rule { enabled: false, when: None, ..expected.clone() };
    set(SettingsChange::UpdateRule(off.clone())).await.unwrap();
    assert_eq!(sorted(mine.rules().await.unwrap().remove(0)), sorted(off));
    set(SettingsChange::DeleteRule { id: expected.id }).await.unwrap();
    assert_eq!(mine.rules().await.unwrap(), []);
    assert_eq!(set(SettingsChange::DeleteFolder { id: id.clone() }).await, Ok(None));
    // It lies in Deleted Items now, and from there it would go for good.
    let again = set(SettingsChange::DeleteFolder { id }).await.unwrap_err();
    assert_eq!(again.message(), "the folder is already in Deleted Items");

    let reply = AutoReply {
        on: true,
        from: Some("2041-02-03T18:05:00Z".parse().unwrap()),
        to: Some("2041-02-05T18:05:00Z".parse().unwrap()),
        subject: None,
        html: Some("<p>Away</p>".to_owned()),
        external: Some("<p>Off</p>".to_owned()),
        audience: Some(daysheet_core::provider::mail::Audience::Contacts),
    };
    set(SettingsChange::AutoReply(reply.clone())).await.unwrap();
    assert_eq!(mine.auto_reply().await, Ok(reply.clone()));
    set(SettingsChange::AutoReply(AutoReply::default())).await.unwrap();
    assert_eq!(mine.auto_reply().await, Ok(AutoReply { on: false, from: None, to: None, ..reply }));
    let settings = set(SettingsChange::Settings {
        language: Some("sv-SE".to_owned()),
        time_zone: Some("Asia/Tokyo".to_owned()),
    });
    let settings = settings.await.unwrap().unwrap();
    assert_eq!(
        (&settings["language"]["locale"], &settings["timeZone"]),
        (&json!("sv-SE"), &json!("Tokyo Standard Time"))
    );

    let made = set(SettingsChange::CreateCategory {
        name: "Lanterns".to_owned(),
        colour: Some("teal".to_owned()),
    });
    assert_eq!(made.await.unwrap().unwrap()["color"], "preset5");
    let changed = set(SettingsChange::UpdateCategory {
        id: "Lanterns".to_owned(),
        name: None,
        colour: Some("none".to_owned()),
    });
    assert_eq!(changed.await.unwrap().unwrap()["color"], "none");
    let id = "Lanterns".to_owned();
    assert_eq!(set(SettingsChange::DeleteCategory { id }).await, Ok(None));

    let made = set(SettingsChange::CreateContact(ContactCard {
        name: Some("Lena Okafor".to_owned()),
        emails: Some(vec!["lena@studio.example".to_owned()]),
        ..ContactCard::default()
    }));
    let id = made.await.unwrap().unwrap()["id"].as_str().unwrap().to_owned();
    let changed = set(SettingsChange::UpdateContact {
        id: id.clone(),
        card: ContactCard { phones: Some(vec!["+44 1".to_owned()]), ..ContactCard::default() },
    });
    let changed = changed.await.unwrap().unwrap();
    assert_eq!(
        (&changed["displayName"], &changed["mobilePhone"]),
        (&json!("Lena Okafor"), &json!("+44 1"))
    );
    assert_eq!(set(SettingsChange::DeleteContact { id }).await, Ok(None));
}
