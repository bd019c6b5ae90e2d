//! The life of a message. Organizing messages, mailbox setup and changes are in
//! `tests/transcripts`: `modify.txt`, `manage.txt` and `changes.txt`.

use daysheet_core::call::client::NonInteractive;
use daysheet_core::error::ErrorKind;
use daysheet_core::ids::MessageId;
use daysheet_core::project::project;
use daysheet_core::provider::mail::{
    AttachmentContent, DraftOrigin, OutgoingMessage, SendLookup, SendStatus, StoredDraft,
};
use daysheet_core::provider::{ListRequest, Mailbox};
use daysheet_core::query::{Query, QueryTerm};
use daysheet_core::schemas::{ColumnLevel, MESSAGE};
use daysheet_sandbox::SandboxOptions;
use jiff::SignedDuration;

use super::OTHER;
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
