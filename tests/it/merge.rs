//! Reads over several accounts that are counted, that take time, or between whose pages mail
//! arrives. All else is in `tests/transcripts/merge.txt`.
//!
//! Outlook counts pages from the top (`$skip`), so that new mail pushes rows from one page to the
//! next. A condition that no service knows leaves pages with fewer rows than requested.

use std::collections::{BTreeSet, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet::pipeline::PATIENCE;
use daysheet_core::call::client::NonInteractive;
use daysheet_core::encode::{Delimiter, Format};
use daysheet_sandbox::{AnswerAlteration, Sandbox};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::common::harness;
use crate::support::{Session, column, impatient, slow_down, write_message};

/// Accounts: their providers and addresses.
type Accounts = &'static [(&'static str, &'static str)];

const ACCOUNTS: Accounts = &[
    ("microsoft", "ana@example.com"),
    ("google", "bo@example.com"),
    ("microsoft", "cy@example.com"),
    ("google", "di@example.com"),
];

/// A message: minutes since some day, and whether it is from a person and no bulk mail.
type Mail = (u32, bool);

/// Returns the headers of a message, which differs from others of the owner by its number.
fn headers(owner: &str, number: usize, (minute, matches): Mail) -> String {
    let time = Timestamp::from_second(1_770_000_000 + i64::from(minute) * 60).unwrap();
    let date = time.strftime("%a, %d %b %Y %H:%M:%S +0000");
    let bulk = if matches { "" } else { "\nPrecedence: bulk" };
    format!(
        "From: x@example.com\nTo: {owner}\nSubject: {number} for {owner}\nDate: {date}\n\
         Message-ID: <{number}@{owner}>{bulk}"
    )
}

/// Returns a session over these accounts, each with the mail at the same place.
async fn session(accounts: Accounts, boxes: &[Vec<Mail>]) -> Session {
    let folder = TempDir::new().unwrap();
    for ((_, owner), mail) in accounts.iter().zip(boxes) {
        for (number, mail) in mail.iter().enumerate() {
            let headers = headers(owner, number, *mail);
            write_message(&folder.path().join(owner), &format!("{number}.eml"), &headers, "hello");
        }
    }
    let who = SandboxUser::These(accounts);
    Session::signed_in(TempDir::new().unwrap(), Some(folder.path()), who).await
}

/// Reads every page of a search, and runs `between` after each but the last.
async fn walk(
    session: &mut Session,
    arguments: Value,
    mut between: impl FnMut(&Sandbox),
) -> Vec<Value> {
    let mut page = session.json("mail_search", arguments).await;
    let mut rows = page["messages"].as_array().unwrap().clone();
    for number in 0.. {
        assert!(number < 500, "the pages do not end");
        let Some(next) = page["next"].as_str() else {
            break;
        };
        between(&session.sandbox);
        page = session.json("mail_search", json!({"cursor": next})).await;
        rows.extend(page["messages"].as_array().unwrap().clone());
    }
    rows
}

/// Stored cursors remain valid in another version of the program: the kind of list is first, then
/// the fields of its plan.
#[tokio::test]
async fn stored_cursor_format_is_stable() {
    let mut session = Session::sample().await;
    let store = session.app.store().clone();
    session.ok("lookup", json!({"kind": "schemas", "limit": 2})).await;
    let lookup = r#"{"of":"lookup","kind":"schemas","q":null,"emails":[],"fields":[],"limit":2,"merged":false,"done":0,"met":[],"places":[{"account":null,"shown":2}]}"#;
    assert_eq!(store.cursor(1).await.unwrap().as_deref(), Some(lookup));

    let page = session.json("mail_search", json!({"limit": 1, "fields": ["subject"]})).await;
    let search = store.cursor(2).await.unwrap().unwrap();
    let (start, end) =
        (search.find("\"account\":\"").unwrap() + 11, search.find("\",\"page\"").unwrap());
    let search = search.replace(&search[start..end], "ID");
    let (start, end) =
        (search.find("\"page\":\"").unwrap() + 8, search.find("\"seen\"").unwrap() - 2);
    let search = search.replace(&search[start..end], "PAGE");
    // The beginning of the digest of each id that was shown.
    let digest = Sha256::digest(column(&page, "messages", "provider_id")[0].as_bytes());
    let seen = STANDARD_NO_PAD.encode(&digest[..8]);
    assert_eq!(
        search.replace(&seen, "SEEN"),
        r#"{"of":"search","q":null,"folder":null,"by_thread":false,"level":null,"fields":["subject"],"limit":1,"now":null,"shown":1,"total":[56,true],"accounts":1,"places":[{"account":"ID","page":"PAGE","seen":"SEEN"}]}"#
    );

    // A cursor stored before columns could be chosen.
    let old = r#"{"of":"lookup","kind":"schemas","q":null,"emails":[],"limit":1,"merged":false,"done":0,"met":[],"places":[{"account":null,"shown":2}]}"#;
    let number = store.save_cursor(old).await.unwrap();
    let cursor = json!({"kind": "schemas", "cursor": format!("p{number}")});
    let last = session.json("lookup", cursor).await;
    assert_eq!(column(&last, "schemas", "name").len(), 1);
    // A list unknown to this version belongs to another tool; an unreadable cursor does not exist.
    for (state, of_another) in [
        (r#"{"of":"weather","limit":1}"#, true),
        (r#"{"of":"search","limit":"many"}"#, false),
        (r#"{"limit":1}"#, false),
        ("[]", false),
    ] {
        let cursor = format!("p{}", store.save_cursor(state).await.unwrap());
        let expected = if of_another {
            format!(
                "the cursor {cursor} belongs to another tool: pass it to the tool that returned it"
            )
        } else {
            format!(
                "there is no cursor `{cursor}`: use the `next` of the last page, or start again \
                 without cursor"
            )
        };
        let error = session.error("mail_search", json!({"cursor": cursor})).await;
        assert_eq!(error, expected, "{state}");
    }
}

#[tokio::test]
async fn slow_account_is_a_note() {
    let mail: Vec<Mail> = (0..6).map(|minute| (minute, true)).collect();
    let session = session(&ACCOUNTS[..2], &[mail.clone(), mail]).await;
    slow_down(&session.sandbox, "/v1.0/me/messages");
    let pipeline = impatient(&session);
    let search = async |arguments: Value| {
        let format = Format::Toon(Delimiter::Tab);
        harness::call(&pipeline, "mail_search", arguments, format, &NonInteractive).await.unwrap()
    };
    let first = search(json!({"limit": 4, "fields": ["subject"]})).await;
    assert_eq!(
        harness::notes(&first),
        "messages: 4 in 1 of 2 accounts, newest first; cursor=p1 has more\n\
         missing: ana@example.com: no answer within 0 seconds (retried with the next page)"
    );
    // None of the messages is lost.
    session.sandbox.set_observer(None);
    let second = search(json!({"cursor": "p1", "limit": 100})).await;
    assert_eq!(
        second[1],
        "messages: 8 of 12 in 2 accounts, newest first, after 4 on earlier pages; spam and trash \
         not searched"
    );
}

/// The time limit of an account is the one that the page names. (Tests use less.)
#[test]
fn account_timeout_matches_the_docs() {
    let text = format!("takes more than {} seconds", PATIENCE.as_secs());
    assert!(include_str!("../../docs/reference/queries.md").contains(&text), "{text}");
}

/// A search continues over pages without matches up to a limit, which it then reports.
#[tokio::test]
async fn search_without_matches_reads_only_some_pages() {
    let people: Vec<Mail> = (0..30).map(|minute| (minute, true)).collect();
    let mut session = session(&ACCOUNTS[..1], &[people]).await;
    // The account's folders and known people are requested once.
    session.ok("mail_search", json!({"limit": 1})).await;
    let mut arguments = json!({"q": "is:bulk", "limit": 1});
    for (pages, has_more) in [(12, true), (12, true), (6, false)] {
        let before = session.sandbox.requests();
        let notes = session.ok("mail_search", arguments).await.pop().unwrap();
        let text = format!("{pages} pages were searched so far, and there are more");
        assert_eq!(notes.lines().any(|line| line == text), has_more, "{notes}");
        assert_eq!(session.sandbox.requests() - before, pages, "{notes}");
        let next = notes.split_once("cursor=").map_or("", |(_, rest)| rest);
        arguments = json!({"cursor": next.split_whitespace().next().unwrap_or_default()});
    }
}

#[tokio::test]
async fn late_pages_cost_no_more_than_first() {
    let many: Vec<Mail> = (0..600).map(|minute| (minute, true)).collect();
    let two: Accounts = &[("microsoft", "ana@example.com"), ("microsoft", "bo@example.com")];
    let mut session = session(two, &[many.clone(), many]).await;
    // The folders are requested once.
    session.ok("mail_search", json!({"limit": 1})).await;
    let first = session.sandbox.requests();
    let mut costs = Vec::new();
    let mut before = first;
    let arguments = json!({"limit": 20, "fields": ["subject", "date"]});
    let rows = walk(&mut session, arguments, |sandbox| {
        let now = sandbox.requests();
        costs.push(now - before);
        before = now;
    })
    .await;
    assert_eq!(rows.len(), 1200);
    assert_eq!(costs.iter().max(), Some(&4), "{costs:?}");
    assert!(session.sandbox.requests() - first < 4 * 61);
}

/// Returns an id of Gmail's form that no message has, for one that a message has.
fn broken_id(id: &str) -> String {
    id.chars().rev().collect()
}

/// Makes Gmail's lists name these messages wrongly, so that they cannot be fetched.
fn break_messages(sandbox: &Sandbox, broken: HashSet<String>) {
    sandbox.set_alter(Some(AnswerAlteration::new(move |answer| {
        let listed = answer.get_mut("messages").and_then(Value::as_array_mut);
        for message in listed.into_iter().flatten() {
            let id = message["id"].as_str().unwrap_or_default();
            if broken.contains(id) {
                let id = broken_id(id);
                message["id"] = id.into();
            }
        }
    })));
}

fn mail() -> impl Strategy<Value = Vec<Mail>> {
    // Few minutes for many messages make equal dates common.
    prop::collection::vec((0_u32..40, prop::bool::weighted(0.7)), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// New mail between the pages, pages of any size, hits few or many: each message that existed
    /// at the beginning is shown once, and none is shown twice.
    #[test]
    fn no_row_is_lost_or_repeated_between_pages(
        boxes in prop::collection::vec(mail(), 1..4),
        account in 0_usize..2,
        limit in 1_usize..30,
        arrivals in prop::collection::vec((0_usize..4, 0_u32..9), 0..30),
        broken in prop::option::of(1_usize..9),
        oldest: bool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let accounts = &ACCOUNTS[account..account + boxes.len()];
            let mut session = session(accounts, &boxes).await;
            let search = |limit: usize| {
                let sort = if oldest { "oldest" } else { "newest" };
                json!({"q": "-is:bulk", "limit": limit, "fields": ["subject", "date"], "sort": sort})
            };
            let rows = walk(&mut session, search(100), |_| {}).await;
            let mut there = column(&json!({"messages": rows}), "messages", "provider_id");
            let matching = boxes.iter().flatten().filter(|(_, matches)| *matches).count();
            assert_eq!(there.len(), matching);
            // Gmail's ids are short.
            let gmail = there.iter_mut().filter(|id| id.len() == 16);
            let mut wrong = HashSet::new();
            for (at, id) in gmail.enumerate() {
                if broken.is_some_and(|every| at % every == 0) {
                    wrong.insert(id.clone());
                    *id = broken_id(id);
                }
            }
            break_messages(&session.sandbox, wrong);
            let there: BTreeSet<String> = there.into_iter().collect();

            let mut arrivals = arrivals.into_iter();
            let mut counts: Vec<usize> = boxes.iter().map(Vec::len).collect();
            let rows = walk(&mut session, search(limit), |sandbox| {
                for (at, minute) in arrivals.by_ref().take(3) {
                    let at = at % accounts.len();
                    let (_, owner) = accounts[at];
                    // Newer than all existing messages.
                    let headers = headers(owner, counts[at], (100 + minute, true));
                    counts[at] += 1;
                    let message = format!("{headers}\n\nhello");
                    assert!(sandbox.deliver(owner, message.as_bytes()).unwrap());
                }
            })
            .await;
            let ids = column(&json!({"messages": rows}), "messages", "provider_id");
            let once: HashSet<&String> = ids.iter().collect();
            assert_eq!(once.len(), ids.len(), "doubled");
            let lost: Vec<&String> = there.iter().filter(|id| !once.contains(id)).collect();
            assert_eq!(lost, [""; 0]);
            let old: Vec<_> = rows
                .iter()
                .filter(|row| row["provider_id"].as_str().is_some_and(|id| there.contains(id)))
                .filter_map(|row| row["date"].as_str())
                .collect();
            assert!(old.is_sorted_by(|one, other| if oldest { one <= other } else { one >= other }));
        });
    }
}
