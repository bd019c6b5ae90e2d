//! Organizing mail: the labels that change, the number of calls, and the report on each message.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use daysheet_core::error::ErrorKind;
use daysheet_core::ids::{FolderId, MessageId};
use daysheet_core::provider::mail::{FolderKind, FolderRef, MailState, MessageAction, MessageFlag};
use serde_json::{Value, json};

use super::at;
use super::gmail::{Gmail, broken, empty, ok, refused};
use crate::tap::{HttpRequest, HttpResponse};

/// A mailbox of messages with their labels.
#[derive(Default)]
struct Box {
    labels: BTreeMap<String, BTreeSet<String>>,
    /// `idle`: writes have no effect. `mute`: writes get no response.
    idle: bool,
    mute: bool,
    /// A write that names a missing message is refused.
    strict: bool,
}

type Shared = Arc<Mutex<Box>>;

fn holding(messages: &[(&str, &[&str])]) -> Shared {
    let labels = messages.iter().map(|(id, labels)| {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        ((*id).to_owned(), labels)
    });
    Arc::new(Mutex::new(Box { labels: labels.collect(), ..Box::default() }))
}

fn texts(value: &Value) -> Vec<String> {
    let all = value.as_array().into_iter().flatten();
    all.map(|one| one.as_str().unwrap().to_owned()).collect()
}

impl Box {
    fn answer(&mut self, request: &HttpRequest) -> Option<HttpResponse> {
        match request.target.as_str() {
            "POST messages/batchModify" | "POST messages/batchDelete" => self.write(request),
            what => {
                let id = what.strip_prefix("GET messages/")?;
                let labels = self.labels.get(id)?;
                ok(&json!({"id": id, "labelIds": labels}))
            }
        }
    }

    fn write(&mut self, request: &HttpRequest) -> Option<HttpResponse> {
        let body = request.body.clone();
        let ids = texts(&body["ids"]);
        assert!(ids.len() <= 1_000);
        if self.strict && ids.iter().any(|id| !self.labels.contains_key(id)) {
            return refused(404, "notFound", "Requested entity was not found.");
        }
        for id in ids.iter().filter(|_| !self.idle) {
            if request.target.ends_with("batchDelete") {
                self.labels.remove(id);
                continue;
            }
            let Some(labels) = self.labels.get_mut(id) else {
                continue;
            };
            labels.extend(texts(&body["addLabelIds"]));
            for label in texts(&body["removeLabelIds"]) {
                labels.remove(&label);
            }
        }
        if self.mute { broken() } else { empty(204) }
    }
}

async fn gmail(mailbox: &Shared) -> Gmail {
    let mailbox = mailbox.clone();
    Gmail::scripted(move |request| mailbox.lock().unwrap().answer(request)).await
}

fn state(id: &str, folder: &str, unread: bool, starred: bool, labels: &[&str]) -> MailState {
    MailState {
        id: id.into(),
        unread,
        flag: if starred { MessageFlag::Set { due: None } } else { MessageFlag::None },
        folder: folder.into(),
        labels: labels.iter().copied().map(FolderId::from).collect(),
        draft: false,
    }
}

#[tokio::test]
async fn system_labels_become_message_states() {
    let mailbox = holding(&[
        ("a", &["INBOX", "UNREAD", "Label_2", "IMPORTANT", "CATEGORY_FORUMS"]),
        ("b", &["SENT", "INBOX", "STARRED"]),
        ("c", &["TRASH", "DRAFT", "Label_1", "Label_2"]),
        ("d", &["SPAM"]),
        ("e", &["SENT"]),
        ("f", &[]),
    ]);
    let gmail = gmail(&mailbox).await;
    let ids = ["a", "b", "c", "d", "e", "f", "gone", "../x"].map(MessageId::from);
    let found = gmail.mail.states(&ids).await;
    let kinds: Vec<_> = found.into_iter().map(|one| one.map_err(|error| error.kind())).collect();
    assert_eq!(
        kinds,
        [
            Ok(state("a", "INBOX", true, false, &["CATEGORY_FORUMS", "IMPORTANT", "Label_2"])),
            Ok(state("b", "INBOX", false, true, &[])),
            Ok(MailState {
                draft: true,
                ..state("c", "TRASH", false, false, &["Label_1", "Label_2"])
            }),
            Ok(state("d", "SPAM", false, false, &[])),
            Ok(state("e", "SENT", false, false, &[])),
            Ok(state("f", "", false, false, &[])),
            Err(ErrorKind::NotFound),
            Err(ErrorKind::Argument),
        ]
    );
}

#[tokio::test]
async fn actions_become_label_changes() {
    let to = |label: &str| label.to_owned();
    for (step, add, remove) in cases! {
        MessageAction::Read(true), json!([]), json!(["UNREAD"]);
        MessageAction::Read(false), json!(["UNREAD"]), json!([]);
        MessageAction::Flag(MessageFlag::Set { due: None }), json!(["STARRED"]), json!([]);
        MessageAction::Flag(MessageFlag::None), json!([]), json!(["STARRED"]);
        MessageAction::Archive, json!([]), json!(["INBOX"]);
        MessageAction::Trash, json!(["TRASH"]), json!(["INBOX", "SPAM"]);
        MessageAction::Untrash, json!(["INBOX"]), json!(["SPAM", "TRASH"]);
        MessageAction::Spam, json!(["SPAM"]), json!(["INBOX", "TRASH"]);
        MessageAction::Move(to("Label_7").into()), json!(["Label_7"]), json!(["INBOX", "SPAM", "TRASH"]);
        MessageAction::Move(to("TRASH").into()), json!(["TRASH"]), json!(["INBOX", "SPAM"]);
        MessageAction::Move(to("INBOX").into()), json!(["INBOX"]), json!(["SPAM", "TRASH"]);
        MessageAction::Move(to("").into()), json!([]), json!(["INBOX", "SPAM", "TRASH"]);
        MessageAction::Copy(to("Label_7").into()), json!(["Label_7"]), json!([]);
        MessageAction::Label { add: vec![to("Label_9").into(), to("Label_7").into()], remove: Vec::new() },
            json!(["Label_7", "Label_9"]), json!([]);
        MessageAction::Label { add: vec![to("Label_7").into()], remove: vec![to("Label_9").into(), to("INBOX").into()] },
            json!(["Label_7"]), json!(["INBOX", "Label_9"]);
    } {
        let mailbox = holding(&[("a", &["INBOX", "UNREAD"])]);
        let gmail = gmail(&mailbox).await;
        let done = gmail.mail.apply(&[at("a", "INBOX")], &step).await;
        // The report is what Gmail has then.
        let labels = mailbox.lock().unwrap().labels["a"].clone();
        let reported = done[0].clone().unwrap().unwrap();
        assert_eq!(reported.unread, labels.contains("UNREAD"), "{step:?}");
        assert_eq!(
            gmail.written(),
            [(
                "POST messages/batchModify".to_owned(),
                json!({"ids": ["a"], "addLabelIds": add, "removeLabelIds": remove})
            )],
            "{step:?}"
        );
    }
}

#[tokio::test]
async fn unsupported_actions_are_refused_before_any_request() {
    let due = Some("2026-02-03T17:05:00Z".parse().unwrap());
    let places = "trash and spam are not labels: use do=archive, trash or spam, or name a user \
                  label";
    for (step, expected) in cases! {
        MessageAction::Flag(MessageFlag::Set { due }),
            "Gmail's stars have no date: leave out due, or create an event as a reminder";
        MessageAction::Flag(MessageFlag::Done),
            "Gmail's stars cannot be marked done: use do=unstar or do=archive";
        MessageAction::Label { add: vec!["TRASH".into()], remove: Vec::new() }, places;
        MessageAction::Label { add: Vec::new(), remove: vec!["SENT".into()] },
            "only Gmail decides what is sent, a draft or a chat: use do=archive, trash or spam, or \
             name a user label";
        MessageAction::Move("SENT".into()),
            "only Gmail decides what is sent, a draft or a chat: use do=archive, trash or spam, or \
             name a user label";
        MessageAction::Copy("TRASH".into()),
            "Gmail cannot copy to the archive, trash or spam: name a label, or use do=archive, \
             trash or spam";
    } {
        let gmail = gmail(&holding(&[("a", &[])])).await;
        let done = gmail.mail.apply(&[at("a", ""), at("b", "")], &step).await;
        for one in done {
            assert_eq!(one.unwrap_err().to_string(), expected);
        }
        assert_eq!(gmail.tap.requests().len(), 0);
    }
}

#[tokio::test]
async fn thousand_messages_change_in_one_request() {
    for (count, writes) in [(1_000, 1), (1_500, 2)] {
        let mailbox = holding(&[]);
        let ids: Vec<MessageId> = (0..count).map(|at| format!("m{at}").into()).collect();
        for id in &ids {
            // One to oneself is still among those sent.
            let labels = ["INBOX", "SENT", "UNREAD"].map(str::to_owned).into();
            mailbox.lock().unwrap().labels.insert(id.to_string(), labels);
        }
        let gmail = gmail(&mailbox).await;
        let before = gmail.mail.states(&ids).await;
        let before: Vec<_> = before.into_iter().map(Result::unwrap).collect();
        let done = gmail.mail.apply(&before, &MessageAction::Archive).await;
        let reported: Vec<_> = done.into_iter().map(|one| one.unwrap().unwrap()).collect();
        let expected: Vec<_> =
            ids.iter().map(|id| state(id.as_str(), "SENT", true, false, &[])).collect();
        assert_eq!(reported, expected);
        let requests = gmail.tap.requests();
        let written = requests.iter().filter(|it| it.target.starts_with("POST "));
        assert_eq!(written.count(), writes);
        assert_eq!(requests.len(), count + writes);
    }
}

/// The report on three messages whose labels were not read before, of which the last is not
/// there, by how the mailbox behaves.
#[tokio::test]
async fn each_message_is_reported_in_its_final_state() {
    let not_found = "Gmail has no such item: it may have been deleted; search again for its handle";
    let open = "the connection to Google broke; whether it was done is unknown: check before \
                retrying";
    let not_so = "Gmail accepted the change but did not apply it: check the message; a filter or \
                  another program may have changed it";
    type Set = fn(&mut Box);
    let cases: [(&str, Set, Result<(), &str>, usize); 5] = cases! {
        "done", |_| {}, Ok(()), 1;
        "one that is missing stops all", |mailbox| mailbox.strict = true, Ok(()), 2;
        "done without an answer", |mailbox| mailbox.mute = true, Ok(()), 1;
        "neither done nor answered", |mailbox| (mailbox.mute, mailbox.idle) = (true, true),
            Err(open), 1;
        "answered and not done", |mailbox| mailbox.idle = true, Err(not_so), 1;
    };
    for (name, set, expected, writes) in cases {
        let mailbox = holding(&[("a", &["INBOX"]), ("b", &["INBOX", "UNREAD"])]);
        set(&mut mailbox.lock().unwrap());
        let gmail = gmail(&mailbox).await;
        let messages = ["a", "b", "c"].map(|id| at(id, "INBOX"));
        let done = gmail.mail.apply(&messages, &MessageAction::Archive).await;
        let reported: Vec<_> =
            done.into_iter().map(|one| one.map_err(|error| error.to_string())).collect();
        let as_expected = |state: MailState| match expected {
            Ok(()) => Ok(Some(state)),
            Err(error) => Err(error.to_owned()),
        };
        assert_eq!(
            reported,
            [
                as_expected(at("a", "")),
                as_expected(state("b", "", true, false, &[])),
                Err(not_found.to_owned()),
            ],
            "{name}"
        );
        assert_eq!(gmail.written().len(), writes, "{name}");
    }
}

#[tokio::test]
async fn permanently_deleted_messages_no_longer_exist() {
    for idle in [false, true] {
        let mailbox = holding(&[("a", &["TRASH"]), ("b", &["TRASH"])]);
        mailbox.lock().unwrap().idle = idle;
        let gmail = gmail(&mailbox).await;
        let messages = [at("a", "TRASH"), at("b", "TRASH"), at("x/y", "")];
        let done = gmail.mail.apply(&messages, &MessageAction::Delete).await;
        let kinds: Vec<_> = done.into_iter().map(|one| one.map_err(|error| error.kind())).collect();
        let expected = if idle { Err(ErrorKind::Conflict) } else { Ok(None) };
        assert_eq!(kinds, [expected.clone(), expected, Err(ErrorKind::Argument)]);
        assert_eq!(
            gmail.written(),
            [("POST messages/batchDelete".to_owned(), json!({"ids": ["a", "b"]}))]
        );
    }
}

#[tokio::test]
async fn undo_restores_the_previous_labels() {
    let mailbox = holding(&[
        ("a", &["TRASH"]),
        ("b", &["TRASH", "STARRED"]),
        ("c", &["Label_1", "SENT"]),
        ("d", &["INBOX"]),
    ]);
    let gmail = gmail(&mailbox).await;
    let now = [
        at("a", "TRASH"),
        state("b", "TRASH", false, true, &[]),
        state("c", "SENT", false, false, &["Label_1"]),
        at("d", "INBOX"),
        at("e", "INBOX"),
    ];
    let then = vec![
        state("c", "INBOX", true, false, &["Label_2"]),
        at("a", "INBOX"),
        state("b", "INBOX", false, true, &[]),
        at("d", "INBOX"),
    ];
    let done = gmail.mail.apply(&now, &MessageAction::RestoreState(then.clone())).await;
    let reported: Vec<_> =
        done.into_iter().map(|one| one.map_err(|error| error.to_string())).collect();
    assert_eq!(
        reported,
        [
            Ok(Some(then[1].clone())),
            Ok(Some(then[2].clone())),
            Ok(Some(then[0].clone())),
            Ok(Some(then[3].clone())),
            Err("the earlier state of this message is unknown".to_owned()),
        ]
    );
    let modify = |ids: Value, add: Value, remove: Value| {
        (
            "POST messages/batchModify".to_owned(),
            json!({"ids": ids, "addLabelIds": add, "removeLabelIds": remove}),
        )
    };
    assert_eq!(
        gmail.written(),
        [
            modify(json!(["a", "b"]), json!(["INBOX"]), json!(["SPAM", "TRASH"])),
            modify(
                json!(["c"]),
                json!(["INBOX", "Label_2", "UNREAD"]),
                json!(["Label_1", "SPAM", "TRASH"])
            ),
        ]
    );
}

fn labels() -> Value {
    let own = |id: &str, name: &str| json!({"id": id, "name": name, "type": "user"});
    let system = |id: &str| json!({"id": id, "name": id, "type": "system"});
    json!({"labels": [
        system("INBOX"), system("TRASH"), system("CATEGORY_FORUMS"),
        own("Label_1", "Receipts"), own("Label_2", "Clients"), own("Label_3", "Clients/Nordlicht"),
        own("Label_4", "Reading list"), own("Label_5", "receipts old"), own("Label_6", "Travel"),
    ]})
}

#[tokio::test]
async fn labels_and_folders_are_found_by_name() {
    let near = |names: &str| Err(format!("there is no label {names}"));
    for (name, expected) in cases! {
        "Label_3", Ok(("Label_3", "Clients/Nordlicht"));
        "receipts", Ok(("Label_1", "Receipts"));
        " clients/nordlicht ", Ok(("Label_3", "Clients/Nordlicht"));
        "clients-nordlicht", Ok(("Label_3", "Clients/Nordlicht"));
        "Inbox", Ok(("INBOX", "inbox"));
        "bin", Ok(("TRASH", "trash"));
        "Junk", Ok(("SPAM", "spam"));
        "archive", Ok(("", "archive"));
        "forums", Ok(("CATEGORY_FORUMS", "forums"));
        "nordlich", near("`nordlich`: use one of these: `Clients/Nordlicht`");
        "Reciepts", near("`Reciepts`: use one of these: `Receipts`");
        "quarks", near("`quarks`: lookup kind=labels lists them");
        "", Err("no label is named: give a label's name".to_owned());
    } {
        let gmail =
            Gmail::scripted(|request| (request.target == "GET labels").then(|| ok(&labels()))?)
                .await;
        let found = gmail.mail.find_folder(name, FolderKind::Label, false).await;
        assert_eq!(
            found.map_err(|error| error.to_string()),
            expected.map(|(id, name)| FolderRef {
                id: id.into(),
                name: name.to_owned(),
                made: false,
            }),
            "{name}"
        );
    }
}

#[tokio::test]
async fn creating_a_label_creates_its_missing_parents() {
    let made = |names: &[&str]| Ok(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    let refused =
        |what: &str| Err(format!("{what}: choose another name, with / between its levels"));
    for (name, expected) in [
        ("Taxes", made(&["Taxes"])),
        ("clients/Vesper/2026", made(&["Clients/Vesper", "Clients/Vesper/2026"])),
        ("Inbox/Later", refused("Gmail reserves the name `inbox`")),
        ("Snoozed", refused("Gmail reserves the name `snoozed`")),
        ("Taxes//2026", refused("a label's name has an empty level")),
        ("Taxes\u{7}", refused("a label's name has control characters")),
        // It is there already, and not made again.
        ("Travel", made(&[])),
    ] {
        let all = Arc::new(Mutex::new(labels()));
        let gmail = Gmail::scripted(move |request| {
            let mut all = all.lock().unwrap();
            match request.target.as_str() {
                "GET labels" => ok(&all),
                "POST labels" => {
                    let mut label = request.body.clone();
                    label["id"] = "Label_9".into();
                    label["type"] = "user".into();
                    all["labels"].as_array_mut().unwrap().push(label.clone());
                    ok(&label)
                }
                _ => None,
            }
        })
        .await;
        let found = gmail.mail.find_folder(name, FolderKind::Folder, true).await;
        let names: Vec<_> = gmail
            .written()
            .iter()
            .map(|(_, label)| label["name"].as_str().unwrap().to_owned())
            .collect();
        let reported = found.map(|place| {
            assert_eq!(place.made, !names.is_empty(), "{name}");
            names.clone()
        });
        assert_eq!(reported.map_err(|error| error.to_string()), expected, "{name}");
    }
}
