//! Responses that are too long, malformed, or larger than requested: none exhausts memory, causes
//! further calls, or is taken for an empty mailbox.

use std::sync::atomic::{AtomicUsize, Ordering};

use daysheet_core::body::MAX_BYTES;
use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::ids::MessageId;
use daysheet_core::project::{Projection, project};
use daysheet_core::provider::calendar::EventListRequest;
use daysheet_core::provider::{
    BodyForm, ListRequest, MessageContent, PeopleQuery, SearchTotal, TextPart,
};
use daysheet_core::schemas::{CONTACT, ColumnLevel, EVENT, FOLDER, MESSAGE, Service};
use futures_util::future::join_all;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::gmail::{Gmail, ok};
use crate::tap::{HttpResponse, empty, long};

const ENDLESS: usize = usize::MAX;

fn ask(limit: usize) -> ListRequest {
    ListRequest {
        query: None,
        folder: None,
        projection: project(Service::Google, &MESSAGE.up_to(ColumnLevel::Core)),
        limit,
        oldest: false,
        cursor: None,
        hidden: false,
    }
}

fn events() -> EventListRequest {
    EventListRequest {
        calendars: vec![("main".into(), None)],
        from: Timestamp::UNIX_EPOCH,
        to: "2036-01-01T00:00:00Z".parse().unwrap(),
        series: false,
        projection: project(Service::Google, &EVENT.up_to(ColumnLevel::Core)),
        limit: 10,
    }
}

fn people() -> PeopleQuery {
    PeopleQuery { limit: 10, ..PeopleQuery::default() }
}

/// Returns the errors of every kind of read if all responses are alike.
async fn all(
    answer: impl Fn() -> Option<HttpResponse> + Send + Sync + 'static,
) -> (Gmail, Vec<Error>) {
    let gmail = Gmail::scripted(move |_| answer()).await;
    let nothing = Projection::default();
    let events = events();
    let (ask, people) = (ask(3), people());
    let (mail, threads, folders, contacts, pages, calendars) = tokio::join!(
        gmail.mail.messages(&ask),
        gmail.mail.threads(&ask),
        gmail.mail.lookup(&FOLDER, &people, &nothing),
        gmail.mail.lookup(&CONTACT, &people, &nothing),
        gmail.calendars.events(&events),
        gmail.calendars.calendars(),
    );
    let mut errors: Vec<Error> =
        [mail, threads, folders, contacts].into_iter().map(|page| page.unwrap_err()).collect();
    errors.extend(pages.into_iter().map(|page| page.unwrap_err()));
    errors.push(calendars.unwrap_err());
    (gmail, errors)
}

#[tokio::test]
async fn reading_an_endless_response_stops_at_a_limit() {
    let (gmail, errors) = all(|| Some(long("{\"messages\":[{\"id\":\"", ENDLESS, ""))).await;
    assert_eq!(errors.len(), 6);
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
        assert!(error.message().contains("response is too long"), "{error}");
    }
    // Each was requested once, of people both lists, and some megabytes of it were taken.
    assert_eq!(gmail.tap.requests().len(), 7);
    let taken = gmail.tap.taken.pieces.load(Ordering::Relaxed) / 16;
    // What lies in buffers on the way counts, too: on a busy machine it is some more.
    assert!(taken < 150, "{taken} MiB");
}

#[tokio::test]
async fn response_of_unexpected_shape_is_an_error() {
    let bodies = [
        "[]",
        "null",
        "\"ok\"",
        "3",
        "<html><body>Sign in to the hotel</body></html>",
        "{\"messages\":{},\"threads\":3,\"labels\":null,\"connections\":{},\"items\":\"x\"}",
        "{\"error\":\"none of Google's\"}",
    ];
    let tries = bodies.map(|body| async move {
        let answer = move || Some(empty(200).body(body));
        (body, all(answer).await.1)
    });
    for (body, errors) in join_all(tries).await {
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::Provider(502), "{body}: {error}");
            assert!(error.next_step().is_some(), "{body}: {error}");
        }
    }
    // What is empty is empty.
    let gmail = Gmail::scripted(|_| ok(&json!({"resultSizeEstimate": 0, "kind": "x"}))).await;
    assert!(gmail.mail.messages(&ask(3)).await.unwrap().items.is_empty());
    let contacts = gmail.mail.lookup(&CONTACT, &people(), &Projection::default()).await;
    assert!(contacts.is_err(), "a page of people has no estimate");
}

#[tokio::test]
async fn no_more_messages_are_fetched_than_requested() {
    let gmail = Gmail::scripted(|request| match request.target.as_str() {
        "GET messages" | "GET threads" => {
            let list: Vec<Value> = (0..3_000).map(|n| json!({"id": format!("a{n}")})).collect();
            ok(&json!({"messages": list, "threads": list, "resultSizeEstimate": 3}))
        }
        _ => ok(&json!({"id": "a0"})),
    })
    .await;
    for (page, key) in [
        (gmail.mail.messages(&ask(3)).await, "messages"),
        (gmail.mail.threads(&ask(3)).await, "threads"),
    ] {
        let page = page.unwrap();
        assert_eq!(page.items.len(), 3, "{key}");
        let note = "Gmail listed 2997 more than the 3 requested: they were left out";
        assert_eq!(page.notes, [note], "{key}");
    }
    // The labels' names come on top.
    assert!(gmail.tap.requests().len() <= 2 * 4 + 1);
}

/// The oldest messages are at the end of Gmail's list; an endless list is refused.
#[tokio::test]
async fn oldest_are_found_by_ids_alone() {
    let pages = AtomicUsize::new(0);
    let gmail = Gmail::scripted(move |request| {
        if request.target != "GET messages" {
            return ok(&json!({"id": "a1"}));
        }
        let page = pages.fetch_add(1, Ordering::Relaxed);
        let ids: Vec<_> = (0..500).map(|at| json!({"id": format!("p{page}i{at}")})).collect();
        let next = (page != 1).then(|| format!("t{page}"));
        ok(&json!({"messages": ids, "nextPageToken": next, "resultSizeEstimate": 9_999}))
    })
    .await;
    let oldest = ListRequest { oldest: true, ..ask(2) };
    let page = gmail.mail.messages(&oldest).await.unwrap();
    assert_eq!(
        (page.total, page.next.as_deref()),
        (Some(SearchTotal::Exactly(1000)), Some("oldest,2,p1i498"))
    );
    let targets: Vec<_> = gmail.tap.requests().iter().map(|one| one.target.clone()).collect();
    let expected = ["GET messages", "GET messages", "GET messages/p1i499", "GET messages/p1i498"];
    assert_eq!(targets, expected);
    let error = gmail.mail.messages(&oldest).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "Gmail lists the newest first, and more than 2000 match, too many to read them all: narrow \
         the search by before: (such as before:2020-01-01), or leave out `sort`"
    );
    assert_eq!(gmail.tap.requests().len(), 4);
}

/// Large messages are read one after the other, and each is short before the next is read.
#[tokio::test]
async fn large_messages_are_read_one_at_a_time() {
    let part = r#"{"id":"a1","payload":{"mimeType":"text/plain","body":{"size":9,"#;
    // 31 MB, in the message or apart from it.
    for (place, whole, requested) in [("data", true, 4), ("attachmentId", false, 8)] {
        let gmail = Gmail::scripted(move |request| {
            Some(if request.target.contains("attachments") {
                long("{\"data\":\"", 496, "\"}")
            } else if whole {
                long(&format!("{part}\"data\":\""), 496, "\"}}}")
            } else {
                empty(200).body(format!("{part}\"attachmentId\":\"x\"}}}}}}"))
            })
        })
        .await;
        let ids: Vec<MessageId> = (0..4).map(|n| format!("a{n}").into()).collect();
        let projection = project(Service::Google, &MESSAGE.up_to(ColumnLevel::Core));
        let messages = gmail.mail.read_messages(&ids, &projection, BodyForm::Parts).await;
        for message in messages {
            let message = message.unwrap();
            assert_eq!(kept(&message), MAX_BYTES + 1, "{place}");
            assert!(message.item.to_string().len() < 1_000, "{place}: the source is kept");
        }
        assert_eq!(gmail.tap.requests().len(), requested, "{place}");
        assert_eq!(gmail.tap.taken.at_once.load(Ordering::Relaxed), 1, "{place}");
    }
}

/// Returns the bytes of a message's texts.
fn kept(message: &MessageContent) -> usize {
    let length = |part: &TextPart| match part {
        TextPart::Plain(plain) => plain.text.len(),
        TextPart::Html(source) => source.len(),
    };
    message.parts.iter().flatten().flatten().map(length).sum()
}

/// A message is requested with `format=full` and decoded part by part; Base64 without padding loses
/// no text.
#[tokio::test]
async fn message_is_read_part_by_part() {
    let gmail = Gmail::scripted(|_| {
        ok(&json!({"id": "a1", "payload": {"mimeType": "text/plain",
                   "body": {"size": 4, "data": "TGFtcA"}}}))
    })
    .await;
    let projection = project(Service::Google, &MESSAGE.up_to(ColumnLevel::Core));
    let messages = gmail.mail.read_messages(&["a1".into()], &projection, BodyForm::Parts).await;
    let parts = format!("{:?}", messages[0].as_ref().unwrap().parts);
    assert!(parts.contains("\"Lamp\""), "{parts}");
    let requests = gmail.tap.requests();
    assert_eq!(
        (requests[0].target.as_str(), requests[0].param("format")),
        ("GET messages/a1", "full")
    );
}
