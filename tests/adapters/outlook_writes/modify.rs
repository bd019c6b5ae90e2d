//! Organizing mail.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use daysheet_core::error::ErrorKind;
use daysheet_core::ids::{FolderId, MessageId};
use daysheet_core::provider::mail::{FolderKind, FolderRef, MailState, MessageAction, MessageFlag};

use super::*;

/// Half past five, when it is due.
const DUE: &str = "2026-02-03T17:30:00Z";

fn id(number: usize) -> String {
    format!("AAkALgAAmessage{number:08}=")
}

fn labels(names: &[&str]) -> BTreeSet<FolderId> {
    names.iter().copied().map(FolderId::from).collect()
}

/// An unread message in the inbox, in a category.
fn state(number: usize) -> MailState {
    MailState {
        id: id(number).into(),
        unread: true,
        flag: MessageFlag::None,
        folder: INBOX.into(),
        labels: labels(&["Print"]),
        draft: false,
    }
}

/// The message as Graph has it.
fn message(number: usize) -> Value {
    json!({
        "id": id(number), "isRead": false, "flag": {"flagStatus": "notFlagged"},
        "parentFolderId": INBOX, "categories": ["Print"],
    })
}

fn number(line: &str) -> usize {
    let digits = line.split("message").nth(2).unwrap();
    digits[..8].parse().unwrap()
}

/// Starts a service that knows the archive and accepts every change to messages, which are built by
/// [`message`]. It confirms changes that return no content.
async fn taker() -> Outlook {
    service(|line, body| {
        if line.starts_with("GET /me/mailFolders/") {
            return (200, json!({ "id": ARCHIVE }));
        }
        let mut message = message(number(line));
        let members = message.as_object_mut().unwrap();
        match line.split(' ').next().unwrap() {
            "PATCH" => return (204, Value::Null),
            "POST" if line.ends_with("/permanentDelete") => return (204, Value::Null),
            "POST" => drop(members.insert("parentFolderId".into(), body["destinationId"].clone())),
            _ => {}
        }
        (200, message)
    })
    .await
}

#[tokio::test]
async fn message_states_are_read() {
    let outlook = service(|line, _| match number(line) {
        1 => (200, message(1)),
        2 => {
            let due = json!({"dateTime": "2026-02-03T17:30:00.0000000", "timeZone": "UTC"});
            let mut two = message(2);
            two["flag"] = json!({"flagStatus": "flagged", "dueDateTime": due});
            two["isRead"] = true.into();
            (200, two)
        }
        3 => {
            let mut three = message(3);
            three["flag"]["flagStatus"] = "complete".into();
            three["categories"] = json!([]);
            (200, three)
        }
        _ => missing(),
    })
    .await;
    let ids = [id(1), id(2), "..".to_owned(), id(3), id(4)].map(MessageId::from);
    let states = outlook.mailbox().await.states(&ids).await;
    let kinds: Vec<_> = states
        .iter()
        .map(|state| state.as_ref().map_err(daysheet_core::error::Error::kind))
        .collect();
    let two = MailState {
        unread: false,
        flag: MessageFlag::Set { due: Some(DUE.parse().unwrap()) },
        ..state(2)
    };
    let three = MailState { flag: MessageFlag::Done, labels: labels(&[]), ..state(3) };
    assert_eq!(
        kinds,
        [Ok(&state(1)), Ok(&two), Err(ErrorKind::Argument), Ok(&three), Err(ErrorKind::NotFound)]
    );
    let select = "$select=id,isRead,isDraft,flag,parentFolderId,categories";
    assert_eq!(request_lines(&outlook)[0].0, format!("GET /me/messages/{}?{select}", id(1)));
}

/// The properties requested in the response to a move.
const PLACE: &str = "$select=id,parentFolderId";

/// Returns the request for a change; its response contains the changed properties.
fn patch(number: usize, body: &Value) -> String {
    let keys: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    format!("PATCH /me/messages/{}?$select=id,{}", id(number), keys.join(","))
}

#[tokio::test]
async fn every_action_becomes_its_graph_request() {
    let utc = |at: &str| json!({"dateTime": at, "timeZone": "UTC"});
    let due = |due: Option<&str>| MessageFlag::Set { due: due.map(|due| due.parse().unwrap()) };
    let now = |change: fn(&mut MailState)| {
        let mut state = state(1);
        change(&mut state);
        Some(state)
    };
    let to = |folder: &str| Some(json!({ "destinationId": folder }));
    let names = |names: &[&str]| -> Vec<FolderId> { labels(names).into_iter().collect() };
    for (step, path, body, after) in cases! {
        MessageAction::Read(true), "PATCH", Some(json!({"isRead": true})), now(|state| state.unread = false);
        MessageAction::Flag(due(None)), "PATCH", Some(json!({"flag": {"flagStatus": "flagged"}})),
            now(|state| state.flag = MessageFlag::Set { due: None });
        MessageAction::Flag(due(Some(DUE))), "PATCH",
            Some(json!({"flag": {
                "flagStatus": "flagged", "startDateTime": utc("2026-02-03T17:30:00"),
                "dueDateTime": utc("2026-02-03T17:30:00"),
            }})), now(|state| state.flag = MessageFlag::Set { due: Some(DUE.parse().unwrap()) });
        MessageAction::Flag(MessageFlag::Done), "PATCH", Some(json!({"flag": {"flagStatus": "complete"}})),
            now(|state| state.flag = MessageFlag::Done);
        MessageAction::Flag(MessageFlag::None), "PATCH", Some(json!({"flag": {"flagStatus": "notFlagged"}})),
            now(|_| {});
        MessageAction::Label { add: names(&["Urgent", "Print"]), remove: Vec::new() }, "PATCH",
            Some(json!({"categories": ["Print", "Urgent"]})),
            now(|state| state.labels = labels(&["Print", "Urgent"]));
        MessageAction::Label { add: Vec::new(), remove: names(&["Print"]) }, "PATCH",
            Some(json!({"categories": []})), now(|state| state.labels = labels(&[]));
        MessageAction::Label { add: names(&["Urgent"]), remove: names(&["Print"]) }, "PATCH",
            Some(json!({"categories": ["Urgent"]})),
            now(|state| state.labels = labels(&["Urgent"]));
        MessageAction::Label { add: Vec::new(), remove: names(&["Urgent"]) }, "", None, now(|_| {});
        MessageAction::Move(CLIENTS.into()), "/move", to(CLIENTS),
            now(|state| state.folder = CLIENTS.into());
        MessageAction::Move(INBOX.into()), "", None, now(|_| {});
        MessageAction::Copy(CLIENTS.into()), "/copy", to(CLIENTS), now(|_| {});
        MessageAction::Delete, "/permanentDelete", Some(json!({})), None;
    } {
        let outlook = taker().await;
        let done = outlook.mailbox().await.apply(&[state(1)], &step).await;
        assert_eq!(done, [Ok(after)], "{step:?}");
        let line = |body: &Value| match path {
            "PATCH" => patch(1, body),
            "/permanentDelete" => format!("POST /me/messages/{}{path}", id(1)),
            action => format!("POST /me/messages/{}{action}?{PLACE}", id(1)),
        };
        let expected: Vec<_> = body.map(|body| (line(&body), body)).into_iter().collect();
        assert_eq!(written(&outlook), expected, "{step:?}");
    }
}

#[tokio::test]
async fn messages_move_to_well_known_folders() {
    for (step, folder) in [
        (MessageAction::Archive, "archive"),
        (MessageAction::Trash, "deleteditems"),
        (MessageAction::Spam, "junkemail"),
        (MessageAction::Untrash, "inbox"),
    ] {
        let outlook = taker().await;
        // One is there already.
        let there = MailState { folder: ARCHIVE.into(), ..state(2) };
        let done = outlook.mailbox().await.apply(&[state(1), there.clone()], &step).await;
        let moved = MailState { folder: ARCHIVE.into(), ..state(1) };
        assert_eq!(done, [Ok(Some(moved)), Ok(Some(there))]);
        assert_eq!(
            request_lines(&outlook),
            lines([
                (&format!("GET /me/mailFolders/{folder}?$select=id"), Value::Null),
                (
                    &format!("POST /me/messages/{}/move?{PLACE}", id(1)),
                    json!({"destinationId": ARCHIVE}),
                ),
            ])
        );
    }
}

#[tokio::test]
async fn a_thousand_messages_take_fifty_batches() {
    let outlook = taker().await;
    let messages: Vec<MailState> = (0..1_000).map(state).collect();
    let done = outlook.mailbox().await.apply(&messages, &MessageAction::Read(true)).await;
    assert!(done.iter().zip(&messages).all(|(done, before)| {
        let after = MailState { unread: false, ..before.clone() };
        *done == Ok(Some(after))
    }));
    let seen = outlook.tap.requests();
    assert_eq!(seen.len(), 50);
    for seen in seen {
        let parts = seen.body["requests"].as_array().unwrap();
        assert_eq!(parts.len(), 20);
        let preferred = |part: &Value| part["headers"]["Prefer"].as_str().unwrap().to_owned();
        assert!(parts.iter().all(|part| preferred(part).ends_with(", return=minimal")));
    }
}

/// Each part is carried out once: throttled parts are sent again, parts without an answer or with
/// an ambiguous one are not.
#[tokio::test]
async fn each_batch_part_is_carried_out_once() {
    let outlook = service(|line, body| {
        static THROTTLED: AtomicUsize = AtomicUsize::new(0);
        static DENIED: AtomicUsize = AtomicUsize::new(0);
        let mut message = message(number(line));
        message["isRead"] = body["isRead"].clone();
        match number(line) {
            2 if THROTTLED.fetch_add(1, Ordering::Relaxed) == 0 => refused(429, "TooMany"),
            3 => refused(500, "ErrorInternalServerError"),
            4 => (0, Value::Null),
            5 => missing(),
            6 if DENIED.fetch_add(1, Ordering::Relaxed) == 0 => refused(503, "Busy"),
            _ => (200, message),
        }
    })
    .await;
    let messages: Vec<MailState> = (1..=6).map(state).collect();
    let done = outlook.mailbox().await.apply(&messages, &MessageAction::Read(true)).await;
    let kinds: Vec<_> = done
        .iter()
        .map(|done| done.as_ref().map(|_| ()).map_err(daysheet_core::error::Error::kind))
        .collect();
    assert_eq!(
        kinds,
        [
            Ok(()),
            Ok(()),
            Err(ErrorKind::Network),
            Err(ErrorKind::Network),
            Err(ErrorKind::NotFound),
            Err(ErrorKind::Network)
        ]
    );
    let numbers: Vec<usize> =
        request_lines(&outlook).iter().map(|(line, _)| number(line)).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 2]);
}

/// If the service stops answering, the remaining parts are not tried and are reported as not done.
#[tokio::test]
async fn batches_stop_after_a_timeout() {
    let outlook = Outlook::scripted(|_| Some(respond(502, &json!({})))).await;
    let messages: Vec<MailState> = (0..45).map(state).collect();
    let done = outlook.mailbox().await.apply(&messages, &MessageAction::Read(true)).await;
    let kinds: Vec<_> = done.into_iter().map(|done| done.unwrap_err().kind()).collect();
    assert_eq!(kinds[..20], [ErrorKind::Network; 20]);
    assert_eq!(kinds[20..], [ErrorKind::Provider(503); 25]);
    assert_eq!(outlook.tap.requests().len(), 1);
}

/// If a response lacks the state of the message, the message is read.
#[tokio::test]
async fn states_missing_from_the_response_are_read() {
    let outlook = service(|line, _| {
        if line.starts_with("PATCH") {
            (200, json!({}))
        } else {
            let mut read = message(1);
            read["isRead"] = true.into();
            (200, read)
        }
    })
    .await;
    let done = outlook.mailbox().await.apply(&[state(1)], &MessageAction::Read(true)).await;
    let after = MailState { unread: false, ..state(1) };
    assert_eq!(done, [Ok(Some(after))]);
    assert_eq!(request_lines(&outlook).len(), 2);
}

/// Only differences are restored: first the properties of a message, then its folder.
#[tokio::test]
async fn undo_restores_only_what_differs() {
    let outlook = taker().await;
    let expected = [
        MailState { unread: false, folder: CLIENTS.into(), ..state(1) },
        MailState { folder: CLIENTS.into(), ..state(2) },
        state(3),
        MailState { flag: MessageFlag::Done, labels: labels(&["A", "B"]), ..state(4) },
    ];
    let now: Vec<MailState> = (1..=5).map(state).collect();
    let step = MessageAction::RestoreState(expected.to_vec());
    let done = outlook.mailbox().await.apply(&now, &step).await;
    // The service forgets between two requests that the first was read.
    let moved = |number| Ok(Some(MailState { folder: CLIENTS.into(), ..state(number) }));
    assert_eq!(
        done,
        [
            moved(1),
            moved(2),
            Ok(Some(expected[2].clone())),
            Ok(Some(expected[3].clone())),
            Ok(Some(now[4].clone()))
        ]
    );
    let to = |number: usize| format!("POST /me/messages/{}/move?{PLACE}", id(number));
    let read = json!({"isRead": true});
    let done = json!({"flag": {"flagStatus": "complete"}, "categories": ["A", "B"]});
    assert_eq!(
        request_lines(&outlook),
        lines([
            (&patch(1, &read), read.clone()),
            (&patch(4, &done), done.clone()),
            (&to(1), json!({"destinationId": CLIENTS})),
            (&to(2), json!({"destinationId": CLIENTS})),
        ])
    );
}

/// A day that it was not due by at first is taken off with the flag.
#[tokio::test]
async fn undo_restores_a_flag_without_due_date() {
    let outlook = taker().await;
    let flagged = |due| MailState { flag: MessageFlag::Set { due }, ..state(1) };
    let step = MessageAction::RestoreState(vec![flagged(None)]);
    let now = flagged(Some(DUE.parse().unwrap()));
    let done = outlook.mailbox().await.apply(&[now], &step).await;
    assert_eq!(done, [Ok(Some(flagged(None)))]);
    let flag = |word: &str| json!({"flag": {"flagStatus": word}});
    let line = patch(1, &flag("flagged"));
    assert_eq!(
        request_lines(&outlook),
        lines([(&line, flag("notFlagged")), (&line, flag("flagged"))])
    );
}

/// A mailbox with an inbox, an archive, and `Clients/Okafor`.
pub(super) fn folders(line: &str) -> Option<ScriptedAnswer> {
    let folder = |id: &str, name: &str, below: u32| json!({"id": id, "displayName": name, "childFolderCount": below});
    let okafor = "AAkALgAAfolderOkafor001=";
    Some(match line.strip_prefix("GET /me/mailFolders")? {
        "/inbox?$select=id" => (200, json!({ "id": INBOX })),
        "/archive?$select=id" => (200, json!({ "id": ARCHIVE })),
        rest if rest.starts_with(&format!("/{CLIENTS}/childFolders")) => {
            (200, json!({"value": [folder(okafor, "Okafor", 0)]}))
        }
        rest if rest.starts_with('?') => {
            let all = [
                folder(INBOX, "Posteingang", 0),
                folder(ARCHIVE, "Archiv", 0),
                folder(CLIENTS, "Clients", 1),
            ];
            (200, json!({ "value": all }))
        }
        _ => missing(),
    })
}

fn categories() -> ScriptedAnswer {
    let category =
        |id: &str, name: &str, color: &str| json!({"id": id, "displayName": name, "color": color});
    let all = [category("1", "Print", "preset0"), category("2", "Clients", "preset2")];
    (200, json!({ "value": all }))
}

#[tokio::test]
async fn folders_and_categories_are_found_by_name() {
    let outlook = service(|line, body| {
        let made = |id: &str| (201, json!({"id": id, "displayName": body["displayName"]}));
        match line {
            "POST /me/mailFolders" => made("AAkALgAAfolderNew00001="),
            line if line.starts_with("POST /me/mailFolders/AAkALgAAfolderNew") => {
                made("AAkALgAAfolderNew00002=")
            }
            line if line.starts_with("POST /me/mailFolders/") => made("AAkALgAAfolderNew00003="),
            "POST /me/outlook/masterCategories" => (201, body.clone()),
            line if line.starts_with("GET /me/outlook/") => categories(),
            line => folders(line).unwrap_or_else(missing),
        }
    })
    .await;
    let mailbox = outlook.mailbox().await;
    let (folder, label) = (FolderKind::Folder, FolderKind::Label);
    for (name, kind, create, expected, posted) in cases! {
        "inbox", folder, false, (INBOX, "inbox", false), vec![];
        "Archiv", folder, true, (ARCHIVE, "archive", false), vec![];
        "clients/OKAFOR", folder, false, ("AAkALgAAfolderOkafor001=", "Clients/Okafor", false),
            vec![];
        "Clients/Lamps", folder, true, ("AAkALgAAfolderNew00003=", "Clients/Lamps", true),
            vec![(format!("/{CLIENTS}/childFolders"), "Lamps")];
        "Taxes / 2026", folder, true, ("AAkALgAAfolderNew00002=", "Taxes/2026", true),
            vec![
                (String::new(), "Taxes"),
                ("/AAkALgAAfolderNew00001=/childFolders".to_owned(), "2026"),
            ];
        "print", label, true, ("Print", "Print", false), vec![];
    } {
        let (id, title, made) = expected;
        let place = FolderRef { id: id.into(), name: title.to_owned(), made };
        assert_eq!(mailbox.find_folder(name, kind, create).await, Ok(place), "{name}");
        let posted: Vec<_> = posted
            .into_iter()
            .map(|(path, name)| {
                let body = json!({ "displayName": name });
                (format!("POST /me/mailFolders{path}"), body)
            })
            .collect();
        assert_eq!(written(&outlook), posted, "{name}");
    }
    // A new category has a colour that no other has.
    let made = mailbox.find_folder("Urgent", label, true).await.unwrap();
    assert!(made.made);
    assert_eq!(
        written(&outlook),
        lines([(
            "POST /me/outlook/masterCategories",
            json!({"displayName": "Urgent", "color": "preset1"})
        )])
    );
    for (name, kind, create, expected) in cases! {
        "Client", folder, false,
            "there is no folder `Client`: use one of these: `Clients`, `Clients/Okafor`";
        "Archve", folder, false,
            "there is no folder `Archve`: use one of these: `archive`";
        "Zzz", folder, false,
            "there is no folder `Zzz`: lookup kind=folders lists them";
        "Prints", label, false,
            "there is no category `Prints`: use one of these: `Print`";
        "Taxes//2026", folder, true,
            "`Taxes//2026` is not a folder name: write names with single slashes between levels, \
             such as Clients/Okafor";
    } {
        assert_eq!(error(mailbox.find_folder(name, kind, create).await), expected);
    }
    assert_eq!(written(&outlook), []);
    let shared = outlook.shared("team@example.com").await;
    assert_eq!(
        error(shared.find_folder("Print", label, false).await),
        "categories are not available for a shared mailbox: name the account of the person who \
         signed in"
    );
}
