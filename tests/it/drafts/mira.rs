//! Mira's mailbox in memory, in which drafts are written.

use std::ops::Deref;
use std::path::PathBuf;

use daysheet::store::HandleKind;
use daysheet_core::error::Result;
use daysheet_core::provider::mail::{
    AttachmentInfo, MailPerson, OutgoingMessage, SendAlias, SourceMessage,
};
use daysheet_core::provider::{BodyForm, MessageContent};
use daysheet_core::schemas::Service;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::common::fake_mailbox::{FakeMailbox, MailHarness, Script};
use crate::common::messages::{outgoing, person, stored_draft};

/// Returns a received message to two people with copies to two, one of them Mira herself.
pub fn jonas() -> SourceMessage {
    SourceMessage {
        id: "m1".into(),
        thread: "thread1".into(),
        message_id: "j1@example.com".to_owned(),
        references: vec!["j0@example.com".to_owned()],
        subject: "Lamps".to_owned(),
        from: vec![person("Jonas Berg", "jonas@example.com")],
        reply_to: Vec::new(),
        to: vec![person("", "mira@example.com"), person("Priya", "priya@example.com")],
        cc: vec![
            person("", "yusuf@lindqvist-lamps.example"),
            person("", "mira@lindqvist-lamps.example"),
        ],
        sent: Some("2026-02-03T10:00:00Z".parse::<Timestamp>().unwrap()),
        text: Some("Do you have lamps?\r\n\r\n> Somebody asked\r\nJonas\r\n".to_owned()),
        html: Some(
            "<html><head><style>p{}</style></head><body onload=x()><p>Do you have <b>lamps</b>?\
             <script>x()</script><img src='cid:1'><img src=https://example.com/x.png onerror=x()></p>"
                .to_owned(),
        ),
        files: vec![AttachmentInfo {
            id: "m1/2".into(),
            name: "offer.pdf".to_owned(),
            media: "application/pdf".to_owned(),
            charset: None,
            size: 5,
            cid: None,
        }],
        own: false,
        draft: false,
        headers: Vec::new(),
    }
}

/// The source of the message, with a folded field.
const SOURCE: &str =
    "Subject: Lamps\r\nBcc: eve@example.net,\r\n bo@example.net\r\n\r\nDo you?\r\n";

/// Returns the same content for every message.
fn read_message(_: &FakeMailbox, id: &str, form: BodyForm) -> Result<MessageContent> {
    Ok(MessageContent {
        item: json!({"id": id}),
        source: (form == BodyForm::Raw).then(|| SOURCE.to_owned()),
        attachments: vec![json!({"id": format!("{id}/2"), "message": id,
            "filename": "offer.pdf", "mimeType": "application/pdf", "body": {"size": 5}})],
        ..MessageContent::default()
    })
}

/// The addresses she sends from.
fn senders() -> Vec<SendAlias> {
    let lamps = "mira@lindqvist-lamps.example";
    vec![
        SendAlias {
            person: person("Mira Lindqvist", "mira@example.com"),
            signature: Some("<b>Mira</b><br>Lindqvist Lamps<script>x()</script>".to_owned()),
            reply_to: None,
            default: true,
        },
        SendAlias {
            person: person("Mira at Lamps", lamps),
            signature: None,
            reply_to: Some(person("", "office@lindqvist-lamps.example")),
            default: false,
        },
    ]
}

/// A pipeline over Mira's mailbox.
pub struct Mira(MailHarness);

impl Deref for Mira {
    type Target = MailHarness;

    fn deref(&self) -> &MailHarness {
        &self.0
    }
}

impl Mira {
    /// Returns a mailbox with a message from Jonas, and its handle.
    pub async fn asked_by_jonas() -> (Self, String) {
        let mira = Self::new(&[]).await;
        mira.put(jonas());
        let handle = mira.message("m1").await;
        (mira, handle)
    }

    pub async fn new(settings: &[(&str, &str)]) -> Self {
        let script = Script {
            read_message: Some(Box::new(read_message)),
            thread: Some(|_| vec!["m0".to_owned(), "m1".to_owned()]),
            ..Script::default()
        };
        let mut mailbox = FakeMailbox::scripted("mira", Service::Google, script);
        (mailbox.prefix, mailbox.senders) = ("m-", Some(senders()));
        mailbox.files.insert("m1/2", b"%PDF!");
        let harness = MailHarness::over(vec![mailbox], settings).await.with_tabs();
        let mira = Self(harness);
        std::fs::create_dir(mira.folder()).unwrap();
        mira
    }

    /// The folder from which files may be attached.
    pub fn folder(&self) -> PathBuf {
        self.home.path().join("files")
    }

    pub fn put(&self, original: SourceMessage) {
        self.ana().originals.lock().unwrap().insert(original.id.clone(), original);
    }

    pub async fn message(&self, id: &str) -> String {
        self.handle(HandleKind::Message, id).await
    }

    pub async fn attachment(&self, id: &str) -> String {
        self.handle(HandleKind::Attachment, id).await
    }

    /// Stores a draft of another program as `draft1`; returns its handle.
    pub async fn made_elsewhere(&self, from: MailPerson, text: &str, html: &str) -> String {
        let (text, html) = (text.to_owned(), html.to_owned());
        let message =
            OutgoingMessage { text, html, ..outgoing("CAF-x1@mail.example.com", from, Vec::new()) };
        let draft = stored_draft("draft1", "thread9", "v0", message);
        self.ana().drafts.lock().unwrap().insert(draft.id.clone(), draft);
        self.handle(HandleKind::Draft, "draft1").await
    }

    pub fn draft_message(&self, id: &str) -> OutgoingMessage {
        self.ana().draft_message(id)
    }

    pub fn bytes(&self, id: &str, name: &str) -> Vec<u8> {
        self.ana().bytes(id, name)
    }

    pub fn log(&self) -> Vec<String> {
        self.ana().drafted()
    }

    /// Calls `mail_draft`, which must succeed; returns its blocks.
    pub async fn ok(&self, arguments: Value) -> Vec<String> {
        self.call("mail_draft", arguments).await.unwrap()
    }

    /// Calls `mail_draft`, which must fail; returns its error.
    pub async fn error(&self, arguments: Value) -> String {
        self.0.error("mail_draft", arguments).await
    }
}
