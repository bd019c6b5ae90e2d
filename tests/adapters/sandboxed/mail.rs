//! The life of a message, organizing messages, mailbox setup, and changes.

use std::collections::BTreeSet;

use daysheet_core::call::client::NonInteractive;
use daysheet_core::error::ErrorKind;
use daysheet_core::ids::MessageId;
use daysheet_core::project::project;
use daysheet_core::provider::mail::{
    AttachmentContent, AutoReply, ContactCard, DraftOrigin, FolderKind, LabelLook, MailRule,
    MailState, MessageAction, MessageFlag, OutgoingMessage, ReplyAudience, RuleStep, SendLookup,
    SendStatus, SettingsChange, StoredDraft,
};
use daysheet_core::provider::{ListRequest, Mailbox};
use daysheet_core::query::{DateContext, Query, QueryTerm, parse};
use daysheet_core::schemas::{ColumnLevel, MESSAGE};
use daysheet_sandbox::SandboxOptions;
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::{OTHER, both};
use crate::common::client::ME;
use crate::common::clock;
use crate::common::messages::{file, outgoing, person};
use crate::outlook_writes::ProgressLog;
use crate::tap::{GMAIL, OUTLOOK, Tapped};

/// The two providers over the sample mailboxes, at addresses of the sandbox's own, which
/// uploads go to.
async fn untapped() -> [Tapped; 2] {
    [
        Tapped::untapped("google", GMAIL, SandboxOptions::new(clock::clock())).await,
        Tapped::untapped("microsoft", OUTLOOK, SandboxOptions::new(clock::clock())).await,
    ]
}

fn searched(query: &str) -> Query {
    parse(query, &DateContext { now: clock::now(), zone: TimeZone::UTC }).unwrap()
}

/// Ids of the messages in a folder, the newest first.
async fn ids(mailbox: &dyn Mailbox, folder: &str) -> Vec<MessageId> {
    let ask = ListRequest {
        query: Some(Query::Term(QueryTerm::Folder(folder.to_owned()))),
        folder: None,
        projection: project(mailbox.api(), &MESSAGE.up_to(ColumnLevel::Core)),
        limit: 25,
        oldest: false,
        cursor: None,
        hidden: false,
    };
    let page = mailbox.messages(&ask).await.unwrap();
    page.items.iter().map(|item| item["id"].as_str().unwrap().into()).collect()
}

async fn states(mailbox: &dyn Mailbox, ids: &[MessageId]) -> Vec<MailState> {
    mailbox.states(ids).await.into_iter().map(Result::unwrap).collect()
}

async fn apply(
    mailbox: &dyn Mailbox,
    states: &[MailState],
    step: &MessageAction,
) -> Vec<MailState> {
    let done = mailbox.apply(states, step).await;
    done.into_iter().map(|one| one.unwrap().unwrap()).collect()
}

/// A message to the other mailbox of the sample.
fn to_other(id: &str, subject: &str) -> OutgoingMessage {
    OutgoingMessage {
        subject: subject.to_owned(),
        text: "Größer — and later.".to_owned(),
        html: "<p>Größer — and later.</p>".to_owned(),
        ..outgoing(id, person("", ME), vec![person("Mira", OTHER)])
    }
}

fn names(draft: &StoredDraft) -> Vec<&str> {
    draft.content.files.iter().map(|file| file.name.as_str()).collect()
}

fn send_lookup(draft: &StoredDraft) -> SendLookup {
    SendLookup {
        draft: draft.id.clone(),
        thread: draft.thread.clone(),
        message_id: draft.content.message_id.clone(),
        since: clock::now(),
    }
}

#[tokio::test]
async fn message_is_drafted_changed_sent_and_received() {
    for service in untapped().await {
        let google = service.is_google();
        let (mine, theirs) = (service.mailbox().await, service.mailbox_of(OTHER).await);

        // It is made with a small file and a large one.
        let large: Vec<u8> = (0..7_000_000_u32).map(|at| (at % 251) as u8).collect();
        let message = OutgoingMessage {
            files: vec![file("proofs.pdf", b"%PDF"), file("film.pdf", &large)],
            ..to_other("proofs-1@daysheet.example", "Proofs")
        };
        let progress = ProgressLog::default();
        let made = mine.create(&DraftOrigin::New, &message, &progress).await.unwrap();
        assert_eq!(progress.0.lock().unwrap().len(), if google { 4 } else { 3 });
        assert_eq!(names(&made), ["proofs.pdf", "film.pdf"]);
        // But for the files and line breaks at the end, it is the message that was given.
        let same = OutgoingMessage {
            text: made.content.text.trim_end().to_owned(),
            html: made.content.html.trim_end().to_owned(),
            files: message.files.clone(),
            ..made.content.clone()
        };
        assert!(same == message, "{:?}", same.from);
        let stored = mine.draft(made.id.as_str()).await.unwrap();
        assert_eq!(mine.draft(made.message.as_str()).await.as_ref(), Ok(&stored));
        assert_eq!(names(&stored), names(&made));
        let bare = |draft: &StoredDraft| StoredDraft {
            content: OutgoingMessage {
                text: draft.content.text.trim_end().to_owned(),
                html: draft.content.html.trim_end().to_owned(),
                files: Vec::new(),
                ..draft.content.clone()
            },
            ..draft.clone()
        };
        assert_eq!(bare(&stored), bare(&made));
        let made = stored;
        let AttachmentContent::Existing { id: film, size } = &made.content.files[1].content else {
            panic!("the file is not there");
        };
        let bytes = mine.file(&made.message, film, *size).await.unwrap();
        assert!(bytes == large, "the bytes are another");
        let error = mine.file(&made.message, film, 6_999_999).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);

        // It is changed, once.
        let changed = OutgoingMessage {
            subject: "Final proofs".to_owned(),
            files: vec![made.content.files[0].clone(), file("more.pdf", b"%PDF-2")],
            ..made.content.clone()
        };
        let now = mine.update(&made, &changed, &NonInteractive).await.unwrap();
        assert_eq!((&now.id, &now.thread), (&made.id, &made.thread));
        assert_ne!(now.version, made.version);
        assert_eq!(now.content.subject, "Final proofs");
        assert_eq!(names(&now), ["proofs.pdf", "more.pdf"]);
        let other = OutgoingMessage { subject: "Other".to_owned(), ..changed };
        let stale = mine.update(&made, &other, &NonInteractive).await.unwrap_err();
        assert_eq!(stale.kind(), ErrorKind::Conflict);
        if google {
            for stale in [mine.send(&made, None).await.map(drop), mine.discard(&made).await] {
                assert_eq!(stale.unwrap_err().kind(), ErrorKind::Conflict);
            }
        }

        // It is sent, and is where sent messages are.
        let lookup = send_lookup(&now);
        assert_eq!(mine.send_status(&lookup).await, Ok(SendStatus::Draft));
        let sent = mine.send(&now, None).await.unwrap();
        assert_eq!(mine.send_status(&lookup).await, Ok(SendStatus::Sent(sent.clone())));
        assert_eq!(mine.draft(now.id.as_str()).await.unwrap_err().kind(), ErrorKind::NotFound);
        if google {
            assert_eq!(mine.send(&now, None).await.unwrap_err().kind(), ErrorKind::NotFound);
            let nowhere = SendLookup {
                message_id: "nobody@example.com".to_owned(),
                since: clock::now() + SignedDuration::from_hours(1),
                ..lookup
            };
            assert_eq!(mine.send_status(&nowhere).await, Ok(SendStatus::Nowhere));
        }
        assert!(mine.source_message(sent.id.as_ref().unwrap()).await.unwrap().own);

        // It is answered in its conversation.
        let came = ids(&*theirs, "inbox").await.remove(0);
        let original = theirs.source_message(&came).await.unwrap();
        assert_eq!((original.message_id.as_str(), original.own), (&*message.message_id, false));
        assert_eq!(original.subject, "Final proofs");
        assert_eq!(original.files.len(), 2);
        let bytes = theirs.file(&original.id, &original.files[0].id, 100).await;
        assert_eq!(bytes, Ok(b"%PDF".to_vec()));
        let thanks = OutgoingMessage {
            from: person("", OTHER),
            to: vec![person("", ME)],
            html: "<p>Thank you.</p>".to_owned(),
            in_reply_to: Some(message.message_id.clone()),
            references: vec![message.message_id.clone()],
            ..to_other("thanks-1@daysheet.example", "Re: Final proofs")
        };
        let reply = DraftOrigin::Reply {
            id: came.clone(),
            thread: original.thread.clone(),
            all: true,
            has_files: !original.files.is_empty(),
        };
        let answer = theirs.create(&reply, &thanks, &NonInteractive).await.unwrap();
        assert_eq!(answer.thread, original.thread);
        assert_eq!(answer.content.html.trim_end(), thanks.html);
        assert_eq!(names(&answer), Vec::<&str>::new());
        theirs.send(&answer, None).await.unwrap();
        let back = ids(&*mine, "inbox").await.remove(0);
        let back = mine.source_message(&back).await.unwrap();
        assert_eq!(Some(back.thread), sent.thread);
        assert_eq!(back.references.last(), Some(&message.message_id));

        // It is sent on, at Outlook with the files that it has there.
        let forward = OutgoingMessage {
            from: person("", OTHER),
            ..to_other("on-1@daysheet.example", "Fw: Final proofs")
        };
        let origin = DraftOrigin::Forward { id: came };
        let onward = theirs.create(&origin, &forward, &NonInteractive).await.unwrap();
        let files: &[&str] = if google { &[] } else { &["proofs.pdf", "more.pdf"] };
        assert_eq!(names(&onward), files);
        theirs.discard(&onward).await.unwrap();
        assert!(ids(&*theirs, "trash").await.contains(&onward.message));
        assert!(!ids(&*theirs, "drafts").await.contains(&onward.message));

        // Outlook sends later, too, and it waits for its time.
        if !google {
            let later = to_other("later-1@daysheet.example", "Later");
            let draft = mine.create(&DraftOrigin::New, &later, &NonInteractive).await.unwrap();
            mine.send(&draft, Some("2041-02-03T18:05:00Z".parse().unwrap())).await.unwrap();
            let found = mine.send_status(&send_lookup(&draft)).await.unwrap();
            assert!(matches!(found, SendStatus::Sent(_)), "{found:?}");
        }
    }
}

#[tokio::test]
async fn message_actions_are_carried_out_and_undone() {
    for service in both().await {
        let google = service.is_google();
        let mine = service.mailbox().await;
        let all = ids(&*mine, "inbox").await;
        let before = states(&*mine, &all).await;
        let folder = mine.find_folder("Taxes/2026", FolderKind::Folder, true).await.unwrap();
        assert_eq!((folder.name.as_str(), folder.made), ("Taxes/2026", true));
        let again = mine.find_folder("taxes/2026", FolderKind::Folder, false).await.unwrap();
        assert_eq!((again.id, again.made), (folder.id.clone(), false));
        let label = mine.find_folder("Urgent", FolderKind::Label, true).await.unwrap().id;
        let due = (!google).then(|| "2041-02-03T18:05:00Z".parse().unwrap());
        // Where a message is after each step; at Gmail a folder of the user's is a label.
        let own = if google { "" } else { folder.id.as_str() };
        for (step, expected) in [
            (MessageAction::Read(true), "INBOX"),
            (MessageAction::Read(false), "INBOX"),
            (MessageAction::Flag(MessageFlag::Set { due }), "INBOX"),
            (MessageAction::Label { add: vec![label.clone()], remove: Vec::new() }, "INBOX"),
            (MessageAction::Move(folder.id.clone()), own),
            (MessageAction::Archive, ""),
            (MessageAction::Spam, "SPAM"),
            (MessageAction::Trash, "TRASH"),
            (MessageAction::Untrash, "INBOX"),
            (MessageAction::Flag(MessageFlag::Done), "INBOX"),
            (MessageAction::Flag(MessageFlag::None), "INBOX"),
            (MessageAction::Flag(MessageFlag::Set { due: None }), "INBOX"),
            (MessageAction::Label { add: Vec::new(), remove: vec![label.clone()] }, "INBOX"),
        ] {
            if google && step == MessageAction::Flag(MessageFlag::Done) {
                continue;
            }
            let now = states(&*mine, &all).await;
            let done = apply(&*mine, &now, &step).await;
            assert_eq!(done, states(&*mine, &all).await, "{step:?}");
            let one = &done[0];
            match &step {
                MessageAction::Read(read) => assert_eq!(one.unread, !read),
                MessageAction::Flag(flag) => assert_eq!(one.flag, *flag),
                MessageAction::Label { add, .. } => {
                    assert_eq!(one.labels.contains(&label), add.contains(&label));
                }
                MessageAction::Move(folder) => {
                    assert!(one.folder == *folder || one.labels.contains(folder));
                }
                MessageAction::Untrash => assert_eq!(one.folder, before[0].folder),
                _ => assert!(google || one.folder != now[0].folder, "{step:?}"),
            }
            if google || expected == own {
                assert!(done.iter().all(|state| state.folder == expected), "{step:?} {done:?}");
            }
            if step == MessageAction::Archive {
                let back = MessageAction::RestoreState(before.clone());
                assert_eq!(apply(&*mine, &done, &back).await, before);
            }
        }
        let last = states(&*mine, &all[..1]).await;
        assert_eq!(mine.apply(&last, &MessageAction::Delete).await, [Ok(None)]);
        let deleted = mine.states(&all[..1]).await.remove(0);
        assert_eq!(deleted.unwrap_err().kind(), ErrorKind::NotFound);
        let copied = states(&*mine, &all[1..2]).await;
        let copy = apply(&*mine, &copied, &MessageAction::Copy(folder.id.clone())).await;
        assert_eq!(copy[0].labels.contains(&folder.id), google);
        assert!(google || copy == copied);
        assert_eq!(ids(&*mine, "Taxes/2026").await.len(), 1);
    }
}

#[tokio::test]
async fn mailbox_settings_are_written_and_read_back() {
    for service in both().await {
        let google = service.is_google();
        let mine = service.mailbox().await;
        let set = async |change: SettingsChange| mine.apply_settings(&change).await;
        let written = async |change| set(change).await.unwrap().unwrap();
        let text = |text: &str| text.to_owned();

        let made = written(SettingsChange::CreateFolder { name: text("Clients/Lamps") }).await;
        let id = made["id"].as_str().unwrap().to_owned();
        // At Gmail a name is the whole path.
        let name = text(if google { "Clients/Lamps and more" } else { "Lamps and more" });
        let rename = SettingsChange::RenameFolder { id: id.clone().into(), name: name.clone() };
        let renamed = written(rename).await;
        assert_eq!(renamed[if google { "name" } else { "displayName" }], json!(name));
        let names: BTreeSet<String> = mine.names().await.unwrap().into_values().collect();
        assert!(names.contains("Clients/Lamps and more"), "{names:?}");

        let label = RuleStep::Label(text("Clients/Lamps and more"));
        let rule = if google {
            MailRule {
                enabled: true,
                when: Some(searched("from:ada@example.com has:attachment")),
                then: vec![label, RuleStep::Read],
                ..MailRule::default()
            }
        } else {
            MailRule {
                name: Some(text("Lamps")),
                enabled: true,
                when: Some(searched("subject:lamp")),
                then: vec![
                    RuleStep::Read,
                    RuleStep::Label(text("Lamps")),
                    RuleStep::Move(text("Clients/Lamps and more")),
                ],
                stop: true,
                ..MailRule::default()
            }
        };
        let sorted = |mut rule: MailRule| {
            rule.then.sort_by_key(|step| format!("{step:?}"));
            rule
        };
        let stored = async || -> Vec<MailRule> {
            mine.rules().await.unwrap().into_iter().map(sorted).collect()
        };
        let made = written(SettingsChange::CreateRule(rule.clone())).await;
        let expected = MailRule { id: made["id"].as_str().unwrap().to_owned(), ..rule };
        assert_eq!(stored().await, [sorted(expected.clone())]);
        let other = if google {
            MailRule {
                when: Some(searched("\"final notice\" OR overdue")),
                then: vec![RuleStep::Archive],
                ..expected.clone()
            }
        } else {
            MailRule { enabled: false, when: None, ..expected.clone() }
        };
        let changed = written(SettingsChange::UpdateRule(other.clone())).await;
        let other = MailRule { id: changed["id"].as_str().unwrap().to_owned(), ..other };
        // Gmail's are made anew.
        assert_eq!(other.id != expected.id, google);
        assert_eq!(stored().await, [sorted(other.clone())]);
        assert_eq!(set(SettingsChange::DeleteRule { id: other.id }).await, Ok(None));
        assert_eq!(stored().await, []);

        assert_eq!(set(SettingsChange::DeleteFolder { id: id.clone().into() }).await, Ok(None));
        let missing = mine.find_folder("Clients/Lamps and more", FolderKind::Folder, false).await;
        assert_eq!(missing.unwrap_err().kind(), ErrorKind::NotFound);

        let reply = AutoReply {
            on: true,
            from: Some("2041-02-03T18:05:00Z".parse().unwrap()),
            to: (!google).then(|| "2041-02-05T18:05:00Z".parse().unwrap()),
            subject: google.then(|| text("Away")),
            html: Some(text("<p>Back soon.</p>")),
            external: (!google).then(|| text("<p>Off</p>")),
            audience: Some(ReplyAudience::Contacts),
        };
        written(SettingsChange::AutoReply(reply.clone())).await;
        assert_eq!(mine.auto_reply().await, Ok(reply.clone()));
        let card = ContactCard {
            name: Some(text("Bo Lind")),
            emails: Some(vec![text("bo@example.com")]),
            ..ContactCard::default()
        };
        let contact = written(SettingsChange::CreateContact(card)).await;
        let key = if google { "resourceName" } else { "id" };
        let contact = contact[key].as_str().unwrap().to_owned();
        let card = ContactCard {
            company: Some(text("Press")),
            phones: Some(vec![text("+44 1")]),
            ..ContactCard::default()
        };
        let changed = SettingsChange::UpdateContact { id: contact.clone(), card };
        let changed = written(changed).await;
        let columns = if google {
            [
                "/names/0/displayName",
                "/emailAddresses/0/value",
                "/organizations/0/name",
                "/phoneNumbers/0/value",
            ]
        } else {
            ["/displayName", "/emailAddresses/0/address", "/companyName", "/mobilePhone"]
        };
        assert_eq!(
            columns.map(|column| changed.pointer(column).and_then(Value::as_str)),
            ["Bo Lind", "bo@example.com", "Press", "+44 1"].map(Some)
        );
        let delete = SettingsChange::DeleteContact { id: contact };
        assert_eq!(set(delete.clone()).await, Ok(None));
        assert_eq!(set(delete).await.unwrap_err().kind(), ErrorKind::NotFound);

        if google {
            let language = SettingsChange::Settings { language: Some(text("de")), time_zone: None };
            assert_eq!(written(language).await["language"]["displayLanguage"], "de");
            let sign = SettingsChange::Signature { address: None, html: text("<b>Mira</b>") };
            assert_eq!(written(sign).await["sendAsEmail"], ME);
            let senders = mine.senders().await.unwrap();
            assert_eq!(senders[0].signature.as_deref(), Some("<b>Mira</b>"));
            continue;
        }
        // It lies in Deleted Items now, and from there it would go for good.
        let again = set(SettingsChange::DeleteFolder { id: id.into() }).await.unwrap_err();
        assert_eq!(again.message(), "the folder is already in Deleted Items");
        written(SettingsChange::AutoReply(AutoReply::default())).await;
        let off = AutoReply { on: false, from: None, to: None, ..reply };
        assert_eq!(mine.auto_reply().await, Ok(off));
        let settings = written(SettingsChange::Settings {
            language: Some(text("sv-SE")),
            time_zone: Some(text("Asia/Tokyo")),
        });
        let settings = settings.await;
        assert_eq!(settings["language"]["locale"], "sv-SE");
        assert_eq!(settings["timeZone"], "Asia/Tokyo");
        let (id, name) = (text("Lanterns"), text("Lanterns"));
        let look = |colour| LabelLook { colour: Some(text(colour)), ..LabelLook::default() };
        let made = SettingsChange::CreateCategory { name, look: look("teal") };
        assert_eq!(written(made).await["color"], "preset5");
        let changed = SettingsChange::UpdateCategory {
            id: id.clone().into(),
            name: None,
            look: look("none"),
        };
        assert_eq!(written(changed).await["color"], "none");
        assert_eq!(set(SettingsChange::DeleteCategory { id: id.into() }).await, Ok(None));
    }
}

#[tokio::test]
async fn mail_changes_are_reported() {
    for service in both().await {
        let google = service.is_google();
        let (mail, sandbox) = (service.mailbox().await, service.sandbox.as_ref().unwrap());
        let deliver = |id: &str| {
            let message = format!(
                "Message-ID: <{id}@studio.example>\r\nFrom: lena@studio.example\r\nTo: {ME}\r\n\
                 Subject: {id}\r\n\r\nHello.\r\n"
            );
            assert!(sandbox.deliver(ME, message.as_bytes()).unwrap());
        };
        let subjects = |list: &[Value]| -> Vec<String> {
            let subject = |item: &Value| {
                if google {
                    let headers = item["payload"]["headers"].as_array().unwrap();
                    let one = headers.iter().find(|header| header["name"] == "Subject").unwrap();
                    one["value"].clone()
                } else {
                    item["subject"].clone()
                }
            };
            list.iter().map(|item| subject(item).as_str().unwrap().to_owned()).collect()
        };
        let projection = project(mail.api(), &MESSAGE.up_to(ColumnLevel::Core));
        let since = async |cursor: &str| mail.changes(Some(cursor), &projection).await.unwrap();
        deliver("old");
        let cursor = mail.changes(None, &projection).await.unwrap().cursor;
        let quiet = since(&cursor).await;
        assert!(quiet.new.is_empty() && quiet.changed.is_empty() && quiet.gone.is_empty());
        deliver("one");
        deliver("two");
        let first = since(&quiet.cursor).await;
        assert_eq!(subjects(&first.new), ["one", "two"]);
        assert!(sandbox.relabel(ME, "old@studio.example", &["INBOX", "STARRED"]));
        assert!(sandbox.discard(ME, "two@studio.example"));
        let then = since(&first.cursor).await;
        assert_eq!(
            (subjects(&then.new), subjects(&then.changed)),
            (vec![], vec!["old".to_owned()])
        );
        assert_eq!(then.gone, [first.new[1]["id"].as_str().unwrap()]);
        // What moves between folders is still there.
        assert!(sandbox.relabel(ME, "old@studio.example", &["STARRED"]));
        let moved = since(&then.cursor).await;
        assert_eq!((subjects(&moved.changed), moved.gone.len()), (vec!["old".to_owned()], 0));
        assert_eq!(moved.changed[0]["id"], then.changed[0]["id"]);
        // All of it at once: what came and went meanwhile was never there.
        let all = since(&cursor).await;
        assert_eq!(subjects(&all.new), ["one"]);
        assert_eq!(all.gone, [""; 0]);
        sandbox.expire_sync_tokens();
        assert!(since(&cursor).await.started_over);
    }
}
