//! Merged searches over several accounts: sorted, complete and in time.
//!
//! The mailboxes are scripted to imitate an awkward service: pages are counted from the top
//! (`$skip`), so that new mail pushes rows from one page to the next, and a page may have fewer
//! rows than requested.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use daysheet::pipeline::PATIENCE;
use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::provider::{
    FailedItem, ListPage, ListRequest, MessageContent, PeopleQuery, SearchTotal,
};
use daysheet_core::schemas::{Service, Table};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::fake_mailbox::{FakeMailbox, MailHarness, Script};
use crate::common::harness;
use crate::support::column;

/// A message: minutes since some day, and true if the query finds it.
type Mail = (u32, bool);

/// A mailbox whose pages are counted from the top.
struct Pile {
    name: &'static str,
    /// The messages, newest first.
    mail: Mutex<Vec<(u32, u32, bool)>>,
    /// Rows of a page before the query is applied to them.
    page: usize,
    /// The interval, counted from the oldest, of messages that cannot be fetched.
    broken: Mutex<Option<u32>>,
}

impl Pile {
    fn new(name: &'static str, mail: &[Mail], page: usize) -> Arc<Self> {
        let found = Self { name, mail: Mutex::default(), page, broken: Mutex::default() };
        for (minute, matches) in mail {
            found.arrive(*minute, *matches);
        }
        Arc::new(found)
    }

    fn arrive(&self, minute: u32, matches: bool) {
        let mut mail = self.mail.lock().unwrap();
        let number = u32::try_from(mail.len()).unwrap();
        mail.push((minute, number, matches));
        mail.sort_by(|one, other| other.cmp(one));
    }

    /// Returns the ids of the matching messages as answers show them.
    fn matching(&self) -> Vec<String> {
        let mail = self.mail.lock().unwrap();
        let found = mail.iter().filter(|(_, _, matches)| *matches);
        found.map(|(_, number, _)| self.id(*number)).collect()
    }

    fn id(&self, number: u32) -> String {
        format!("{}-{number}", self.name)
    }

    fn list(&self, ask: &ListRequest) -> ListPage {
        let mail = self.mail.lock().unwrap();
        let skip: usize = ask.cursor.as_deref().unwrap_or("0").parse().unwrap();
        let broken = *self.broken.lock().unwrap();
        let (mut items, mut failed) = (Vec::new(), Vec::new());
        let mut rows: Vec<_> = mail.iter().collect();
        if ask.oldest {
            rows.reverse();
        }
        let rows = rows.into_iter().skip(skip).take(self.page);
        for (at, (minute, number, _)) in rows.filter(|(_, _, found)| *found).enumerate() {
            if broken.is_some_and(|every| number % every == 0) {
                let error = Error::new(ErrorKind::NotFound, "it is gone");
                failed.push(FailedItem { at, id: self.id(*number), error });
                continue;
            }
            let time = jiff::Timestamp::from_second(1_770_000_000 + i64::from(*minute) * 60);
            items.push(json!({"id": self.id(*number), "subject": self.id(*number),
                              "receivedDateTime": time.unwrap().to_string()}));
        }
        let next = skip + self.page;
        ListPage {
            items,
            failed,
            next: (next < mail.len()).then(|| next.to_string()),
            total: Some(SearchTotal::About(u64::try_from(mail.len()).unwrap())),
            ..ListPage::default()
        }
    }

    fn lookup(&self, table: &Table, people: &PeopleQuery) -> ListPage {
        let of = |what: String| format!("{what} of {}", self.name);
        let named = |name: String| json!({"displayName": of(name)});
        match table.name {
            // Seven people know this account.
            "contact" => ListPage {
                items: (1..=people.limit.min(7)).map(|at| named(at.to_string())).collect(),
                ..ListPage::default()
            },
            "folder" => {
                let id = |at: usize| format!("{}{at}", self.name);
                let error = Error::new(ErrorKind::Provider(500), "it broke");
                ListPage {
                    items: (0..3).map(|at| json!({"id": id(at)})).collect(),
                    names: (0..3).map(|at| (id(at), of((at + 1).to_string()))).collect(),
                    failed: vec![FailedItem { at: 0, id: format!("{}-lost", self.name), error }],
                    ..ListPage::default()
                }
            }
            _ => {
                let items = ["Blue", "Red"].map(|color| named(color.to_owned())).to_vec();
                ListPage { items, ..ListPage::default() }
            }
        }
    }
}

async fn bench(boxes: Vec<Arc<Pile>>) -> MailHarness {
    let fake = |pile: &Arc<Pile>| {
        let (listing, looking) = (pile.clone(), pile.clone());
        let script = Script {
            list: Some(Box::new(move |_, ask| listing.list(ask))),
            lookup: Some(Box::new(move |table, people| looking.lookup(table, people))),
            read_message: Some(Box::new(|_, _, _| Ok(MessageContent::default()))),
            ..Script::default()
        };
        FakeMailbox::scripted(pile.name, Service::Microsoft, script)
    };
    MailHarness::over(boxes.iter().map(fake).collect(), &[]).await.with_tabs()
}

/// Searches of this file.
impl MailHarness {
    async fn search(&self, arguments: Value) -> Value {
        self.json("mail_search", arguments).await
    }

    /// Reads every page, and runs `between` after each.
    async fn walk(&self, limit: usize, sort: &str, mut between: impl FnMut(usize)) -> Vec<Value> {
        let fields = json!(["subject", "date"]);
        let mut page = self.search(json!({"limit": limit, "fields": fields, "sort": sort})).await;
        let mut rows = page["messages"].as_array().unwrap().clone();
        for number in 0.. {
            assert!(number < 500, "the pages do not end");
            let Some(next) = page["next"].as_str() else {
                break;
            };
            between(number);
            page = self.search(json!({"cursor": next})).await;
            rows.extend(page["messages"].as_array().unwrap().clone());
        }
        rows
    }
}

#[tokio::test]
async fn rows_are_sorted_and_name_their_account() {
    let ana = Pile::new("ana", &[(5, true), (3, true), (1, true)], 2);
    let bo = Pile::new("bo", &[(4, true), (2, true)], 10);
    let bench = bench(vec![ana, bo]).await;
    assert_eq!(
        bench.call("mail_search", json!({"limit": 3, "detail": "minimal"})).await.unwrap(),
        [
            "zone: Europe/Berlin\nnext: p1\n\
             messages[3\t]{id\tdate\tfrom\tsubject\tflags\taccount}:\n  \
             m1\t2026-02-02 03h45\t\"\"\tana-0\t\"\"\tana@example.com\n  \
             m3\t2026-02-02 03h44\t\"\"\tbo-0\t\"\"\tbo@example.com\n  \
             m2\t2026-02-02 03h43\t\"\"\tana-1\t\"\"\tana@example.com",
            "messages: 3 of ~5 in 2 accounts, newest first; cursor=p1 has more",
        ]
    );
    assert_eq!(
        bench.call("mail_search", json!({"cursor": "p1"})).await.unwrap(),
        [
            "zone: Europe/Berlin\n\
             messages[2\t]{id\tdate\tfrom\tsubject\tflags\taccount}:\n  \
             m5\t2026-02-02 03h42\t\"\"\tbo-1\t\"\"\tbo@example.com\n  \
             m4\t2026-02-02 03h41\t\"\"\tana-2\t\"\"\tana@example.com",
            "messages: 2 of 5 in 2 accounts, newest first, after 3 on earlier pages; spam and \
             trash not searched",
        ]
    );
    // With a single account, its name is omitted.
    let blocks = bench
        .call("mail_search", json!({"account": "bo@example.com", "detail": "minimal"}))
        .await
        .unwrap();
    assert!(blocks[0].contains("messages[2\t]{id\tdate\tfrom\tsubject\tflags}:"), "{}", blocks[0]);
}

#[tokio::test]
async fn oldest_rows_come_first_on_request() {
    let ana = Pile::new("ana", &[(5, true), (3, true), (1, true)], 2);
    let bo = Pile::new("bo", &[(4, true), (3, true)], 10);
    let bench = bench(vec![ana, bo]).await;
    let subjects = |page: &Value| column(page, "messages", "subject");
    let oldest = json!({"limit": 3, "fields": ["subject"], "sort": "oldest"});
    let notes = bench.call("mail_search", oldest).await.unwrap().pop().unwrap();
    assert_eq!(notes, "messages: 3 of ~5 in 2 accounts, oldest first; cursor=p1 has more");
    let rest = bench.search(json!({"cursor": "p1"})).await;
    assert_eq!(subjects(&rest), ["bo-0", "ana-0"]);
    let same = bench.search(json!({"cursor": "p1", "sort": "oldest"})).await;
    assert_eq!(subjects(&same), ["bo-0", "ana-0"]);
    let other = bench.call("mail_search", json!({"cursor": "p1", "sort": "newest"})).await;
    assert!(other.unwrap_err().to_string().contains("belongs to another search"));
}

/// Stored cursors remain valid in another version of the program: the kind of list is first, then
/// the fields of its plan.
#[tokio::test]
async fn stored_cursor_format_is_stable() {
    let bench = bench(vec![Pile::new("ana", &[(5, true), (3, true), (1, true)], 10)]).await;
    bench.call("lookup", json!({"kind": "schemas", "limit": 2})).await.unwrap();
    let lookup = r#"{"of":"lookup","kind":"schemas","q":null,"emails":[],"fields":[],"limit":2,"merged":false,"done":0,"met":[],"places":[{"account":null,"shown":2}]}"#;
    assert_eq!(bench.store.cursor(1).await.unwrap().as_deref(), Some(lookup));

    bench.search(json!({"limit": 1, "fields": ["subject"]})).await;
    let search = bench.store.cursor(2).await.unwrap().unwrap();
    let (start, end) =
        (search.find("\"account\":\"").unwrap() + 11, search.find("\",\"page\"").unwrap());
    let search = search.replace(&search[start..end], "ID");
    assert_eq!(
        search,
        r#"{"of":"search","q":null,"folder":null,"by_thread":false,"level":null,"fields":["subject"],"limit":1,"now":null,"shown":1,"total":[3,true],"accounts":1,"places":[{"account":"ID","page":null,"seen":"sCrdFaVKapE"}]}"#
    );

    // A cursor stored before columns could be chosen.
    let old = r#"{"of":"lookup","kind":"schemas","q":null,"emails":[],"limit":1,"merged":false,"done":0,"met":[],"places":[{"account":null,"shown":2}]}"#;
    let number = bench.store.save_cursor(old).await.unwrap();
    let blocks = bench.call("lookup", json!({"kind": "schemas", "cursor": format!("p{number}")}));
    assert!(blocks.await.unwrap()[0].contains("schemas[1"));
    // A list unknown to this version belongs to another tool; an unreadable cursor does not exist.
    for (state, says) in [
        (r#"{"of":"weather","limit":1}"#, "belongs to another tool"),
        (r#"{"of":"search","limit":"many"}"#, "there is no cursor"),
        (r#"{"limit":1}"#, "there is no cursor"),
        ("[]", "there is no cursor"),
    ] {
        let number = bench.store.save_cursor(state).await.unwrap();
        let error = bench.call("mail_search", json!({"cursor": format!("p{number}")})).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains(says), "{state}: {error}");
    }
}

#[tokio::test]
async fn failing_or_slow_account_is_a_note() {
    let many: Vec<Mail> = (0..6).map(|minute| (minute, true)).collect();
    let boxes = ["ana", "bo", "cy", "di"].map(|name| Pile::new(name, &many, 10));
    let bench = bench(boxes.to_vec()).await.impatient();
    let refused = Error::new(ErrorKind::Auth, "the grant has ended").next("sign in again");
    *bench.fakes[1].failure.lock().unwrap() = Some(refused);
    let busy = Error::new(ErrorKind::Provider(504), "the filter was too slow");
    *bench.fakes[2].failure.lock().unwrap() = Some(busy);
    *bench.fakes[3].delay.lock().unwrap() = Duration::from_mins(1);
    let fields = json!(["subject"]);
    let first = bench.call("mail_search", json!({"limit": 4, "fields": fields})).await.unwrap();
    assert_eq!(
        harness::notes(&first),
        "messages: 4 in 1 of 4 accounts, newest first; cursor=p1 has more\n\
         missing: bo@example.com: the grant has ended: sign in again; cy@example.com: the filter \
         was too slow (retried with the next page); di@example.com: no answer within 0 seconds \
         (retried with the next page)"
    );
    // The accounts that failed temporarily recover, and none of their messages is lost.
    *bench.fakes[2].failure.lock().unwrap() = None;
    *bench.fakes[3].delay.lock().unwrap() = Duration::ZERO;
    let second = bench.call("mail_search", json!({"cursor": "p1", "limit": 100})).await.unwrap();
    assert_eq!(
        second[1],
        "messages: 14 of 18 in 4 accounts, newest first, after 4 on earlier pages; spam and trash \
         not searched"
    );
    // If all accounts fail, it is an error.
    for one in &bench.fakes {
        *one.failure.lock().unwrap() = Some(Error::new(ErrorKind::Network, "no route"));
    }
    let error = bench.call("mail_search", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "all 4 accounts failed, the first: ana@example.com: no route");
    let error = bench.call("mail_search", json!({"account": "ana@example.com"})).await.unwrap_err();
    assert_eq!(error.to_string(), "no route");
}

/// The time limit of an account is the one in the README. (Tests use less.)
#[test]
fn account_timeout_matches_the_readme() {
    let text = format!("takes more than {} seconds", PATIENCE.as_secs());
    assert!(include_str!("../../README.md").contains(&text), "{text}");
}

/// A search continues over pages without matches up to a limit, which it then reports.
#[tokio::test]
async fn search_without_matches_reads_only_some_pages() {
    let none: Vec<Mail> = (0..30).map(|minute| (minute, false)).collect();
    let bench = bench(vec![Pile::new("ana", &none, 1)]).await;
    let mut arguments = json!({"limit": 3});
    // The account's known people are requested once.
    for (calls, pages) in [(1 + 12, "12"), (1 + 24, "12"), (1 + 30, "")] {
        let notes = bench.call("mail_search", arguments).await.unwrap().pop().unwrap();
        let text = notes
            .lines()
            .any(|line| line == format!("{pages} pages were searched so far, and there are more"));
        assert_eq!(text, !pages.is_empty(), "{notes}");
        assert_eq!(*bench.fakes[0].call_count.lock().unwrap(), calls, "{notes}");
        let next = notes.split_once("cursor=").map_or("", |(_, rest)| rest);
        arguments = json!({"cursor": next.split(' ').next().unwrap_or_default()});
    }
}

#[tokio::test]
async fn lookups_ask_all_accounts() {
    let bench = bench(vec![Pile::new("ana", &[], 1), Pile::new("bo", &[], 1)]).await;
    let kind = json!({"kind": "categories", "limit": 3});
    assert_eq!(
        bench.call("lookup", kind).await.unwrap(),
        [
            "next: p1\nlabels[3\t]{name\taccount}:\n  Blue of ana\tana@example.com\n  \
             Red of ana\tana@example.com\n  Blue of bo\tbo@example.com",
            "labels: 3 of 4; cursor=p1 has more",
        ]
    );
    let rest = json!({"kind": "categories", "cursor": "p1"});
    assert_eq!(
        bench.call("lookup", rest).await.unwrap(),
        ["labels[1\t]{name\taccount}:\n  Red of bo\tbo@example.com", "labels: 1 of 4",]
    );
    *bench.fakes[0].failure.lock().unwrap() = Some(Error::new(ErrorKind::Auth, "it has ended"));
    let red = json!({"kind": "categories", "q": "RED"});
    assert_eq!(
        bench.call("lookup", red).await.unwrap(),
        [
            "missing: \"ana@example.com: it has ended\"\n\
             labels[1\t]{name\taccount}:\n  Red of bo\tbo@example.com",
            "labels: 1 of 1",
        ]
    );
}

#[tokio::test]
async fn lookup_survives_account_failure_between_pages() {
    let bench = bench(vec![Pile::new("ana", &[], 1), Pile::new("bo", &[], 1)]).await;
    let names = |blocks: &[String]| -> Vec<String> {
        let rows = blocks[0].lines().filter_map(|line| line.strip_prefix("  "));
        rows.map(|row| row.split('\t').nth(1).unwrap().to_owned()).collect()
    };
    let folders = json!({"kind": "folders", "limit": 5});
    let first = bench.call("lookup", folders).await.unwrap();
    assert_eq!(names(&first), ["1 of ana", "2 of ana", "3 of ana", "null", "1 of bo"]);
    assert_eq!(
        harness::notes(&first),
        "folders: 5 of 8; cursor=p1 has more\n\
         missing: ana@example.com: 1 could not be fetched (f4): it broke"
    );
    *bench.fakes[1].failure.lock().unwrap() = Some(Error::new(ErrorKind::Network, "no route"));
    let rest = json!({"kind": "folders", "cursor": "p1"});
    let error = bench.call("lookup", rest.clone()).await.unwrap_err();
    assert_eq!(error.to_string(), "bo@example.com: no route");
    *bench.fakes[1].failure.lock().unwrap() = None;
    let last = bench.call("lookup", rest).await.unwrap();
    assert_eq!(names(&last), ["2 of bo", "3 of bo", "null"]);
    assert_eq!(
        harness::notes(&last),
        "folders: 3 of 8\nmissing: bo@example.com: 1 could not be fetched (f8): it broke"
    );
    // The folder that could not be fetched may be the one searched for.
    let one = json!({"kind": "folders", "q": "3 of", "account": "ana@example.com"});
    assert_eq!(names(&bench.call("lookup", one).await.unwrap()), ["3 of ana", "null"]);
}

#[tokio::test]
async fn contact_lookup_says_when_more_exist() {
    let bench = bench(vec![Pile::new("ana", &[], 1)]).await;
    let mut arguments = json!({"kind": "contacts", "limit": 3});
    let mut notes = Vec::new();
    for page in 1..4 {
        let blocks = bench.call("lookup", arguments).await.unwrap();
        notes.push(harness::notes(&blocks));
        arguments = json!({"kind": "contacts", "cursor": format!("p{page}")});
    }
    assert_eq!(
        notes,
        [
            "contacts: 3; cursor=p1 has more",
            "contacts: 3; cursor=p2 has more",
            "contacts: 1 of 7\nmissing: people of events: no calendars here",
        ]
    );
}

#[tokio::test]
async fn late_pages_cost_no_more_than_first() {
    let many: Vec<Mail> = (0..600).map(|minute| (minute, true)).collect();
    let bench = bench(vec![Pile::new("ana", &many, 20), Pile::new("bo", &many, 20)]).await;
    let calls = || -> usize { bench.fakes.iter().map(|one| *one.call_count.lock().unwrap()).sum() };
    let mut costs = Vec::new();
    let mut before = 0;
    let rows = bench
        .walk(20, "newest", |_| {
            let now = calls();
            costs.push(now - before);
            before = now;
        })
        .await;
    assert_eq!(rows.len(), 1200);
    assert_eq!(costs.iter().max(), Some(&4), "{costs:?}");
    assert!(calls() < 4 * 61);
}

fn mail() -> impl Strategy<Value = Vec<Mail>> {
    // Few minutes for many messages make equal dates common.
    prop::collection::vec((0_u32..40, prop::bool::weighted(0.7)), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// New mail between the pages, pages of any size, hits few or many: each message that existed
    /// at the beginning is shown once, and none is shown twice.
    #[test]
    fn no_row_is_lost_or_repeated_between_pages(
        boxes in prop::collection::vec((mail(), 1_usize..30), 1..4),
        limit in 1_usize..30,
        arrivals in prop::collection::vec((0_usize..4, 0_u32..9), 0..30),
        broken in prop::option::of(1_u32..9),
        oldest: bool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let boxes: Vec<_> = boxes
                .iter()
                .zip(["ana", "bo", "cy", "di"])
                .map(|((mail, page), name)| Pile::new(name, mail, *page))
                .collect();
            boxes[0].broken.lock().unwrap().clone_from(&broken);
            let there: Vec<_> = boxes.iter().flat_map(|one| one.matching()).collect();
            let bench = bench(boxes.clone()).await;
            let mut arrivals = arrivals.into_iter();
            let rows = bench
                .walk(limit, if oldest { "oldest" } else { "newest" }, |_| {
                    for (at, minute) in arrivals.by_ref().take(3) {
                        // Newer than all existing messages.
                        boxes[at % boxes.len()].arrive(100 + minute, true);
                    }
                })
                .await;
            let subjects = column(&json!({"messages": rows}), "messages", "provider_id");
            let mut once = subjects.clone();
            once.sort();
            once.dedup();
            assert_eq!(once.len(), subjects.len(), "doubled");
            for id in &there {
                assert!(subjects.contains(id), "lost {id}");
            }
            let old: Vec<_> = rows
                .iter()
                .filter(|row| there.iter().any(|id| row["provider_id"] == id.as_str()))
                .filter_map(|row| row["date"].as_str())
                .collect();
            assert!(old.is_sorted_by(|one, other| if oldest { one <= other } else { one >= other }));
        });
    }
}
