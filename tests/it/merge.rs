//! Searches over several accounts, merged: sorted, whole, and in time.
//!
//! The mailboxes are scripted as the awkward service is: pages are counted from
//! the top (`$skip`), so that new mail pushes rows down from one page to the
//! next, and a page may have fewer rows than were asked for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daysheet::access::Access;
use daysheet::accounts::Accounts;
use daysheet::encode::{Delimiter, Format};
use daysheet::error::{Error, Kind, Result};
use daysheet::oauth::Tokens;
use daysheet::pipeline::{PATIENCE, Pipeline};
use daysheet::project::Projection;
use daysheet::provider::Account;
use daysheet::provider::calendar::{Calendars, Changes};
use daysheet::provider::mail::{Arrange, Compose, Organize};
use daysheet::provider::{Ask, BodyForm, Connect, Failed, Letter, Lookup, Mailbox, Page, Total};
use daysheet::schemas::Api;
use daysheet::store::Store;
use daysheet::{request, tools};
use oauth2::AccessToken;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{column, config};

/// A message: minutes since some day, and whether the query finds it.
type Mail = (u32, bool);

/// A mailbox whose pages are counted from the top.
struct Pile {
    name: String,
    /// Newest first.
    mail: Mutex<Vec<(u32, u32, bool)>>,
    /// Rows of a page before the query is applied to them here.
    page: usize,
    delay: Mutex<Duration>,
    failure: Mutex<Option<Error>>,
    asked: Mutex<usize>,
    /// Every so many messages one cannot be fetched, counted from the oldest.
    broken: Mutex<Option<u32>>,
}

impl Pile {
    fn new(name: &str, mail: &[Mail], page: usize) -> Arc<Self> {
        let found = Self {
            name: name.to_owned(),
            mail: Mutex::default(),
            page,
            delay: Mutex::default(),
            failure: Mutex::default(),
            asked: Mutex::default(),
            broken: Mutex::default(),
        };
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

    /// Ids of what the query finds, as the answers name them.
    fn matching(&self) -> Vec<String> {
        let mail = self.mail.lock().unwrap();
        let found = mail.iter().filter(|(_, _, matches)| *matches);
        found.map(|(_, number, _)| self.id(*number)).collect()
    }

    fn id(&self, number: u32) -> String {
        format!("{}-{number}", self.name)
    }
}

impl Compose for Pile {}
impl Organize for Pile {}
impl Arrange for Pile {}

#[async_trait]
impl Mailbox for Pile {
    fn api(&self) -> Api {
        Api::Outlook
    }

    async fn messages(&self, ask: &Ask) -> Result<Page> {
        *self.asked.lock().unwrap() += 1;
        let delay = *self.delay.lock().unwrap();
        tokio::time::sleep(delay).await;
        if let Some(error) = self.failure.lock().unwrap().clone() {
            return Err(error);
        }
        let mail = self.mail.lock().unwrap();
        let skip: usize = ask.cursor.as_deref().unwrap_or("0").parse().unwrap();
        let broken = *self.broken.lock().unwrap();
        let (mut items, mut failed) = (Vec::new(), Vec::new());
        let rows = mail.iter().skip(skip).take(self.page);
        for (at, (minute, number, _)) in rows.filter(|(_, _, found)| *found).enumerate() {
            if broken.is_some_and(|every| number % every == 0) {
                let error = Error::new(Kind::NotFound, "it is gone");
                let id = self.id(*number);
                failed.push(Failed { at, id, error });
                continue;
            }
            let time = jiff::Timestamp::from_second(1_770_000_000 + i64::from(*minute) * 60);
            items.push(json!({"id": self.id(*number), "subject": self.id(*number),
                              "receivedDateTime": time.unwrap().to_string()}));
        }
        let next = skip + self.page;
        Ok(Page {
            items,
            failed,
            next: (next < mail.len()).then(|| next.to_string()),
            total: Some(Total::About(u64::try_from(mail.len()).unwrap())),
            ..Page::default()
        })
    }

    async fn threads(&self, ask: &Ask) -> Result<Page> {
        self.messages(ask).await
    }

    async fn lookup(&self, what: &Lookup, _: &Projection) -> Result<Page> {
        let delay = *self.delay.lock().unwrap();
        tokio::time::sleep(delay).await;
        if let Some(error) = self.failure.lock().unwrap().clone() {
            return Err(error);
        }
        let names = |count: usize| (1..=count).map(|number| format!("{number} of {}", self.name));
        Ok(match what {
            Lookup::Contacts(people) => Page {
                // Seven people know this account.
                items: names(people.limit.min(7))
                    .map(|name| json!({"displayName": name}))
                    .collect(),
                ..Page::default()
            },
            Lookup::Folders => {
                let ids = names(3).enumerate();
                Page {
                    items: ids
                        .clone()
                        .map(|(at, _)| json!({"id": format!("{}{at}", self.name)}))
                        .collect(),
                    names: ids.map(|(at, name)| (format!("{}{at}", self.name), name)).collect(),
                    failed: vec![Failed {
                        at: 0,
                        id: format!("{}-lost", self.name),
                        error: Error::new(Kind::Provider(500), "it broke"),
                    }],
                    ..Page::default()
                }
            }
            _ => Page {
                items: ["Blue", "Red"]
                    .map(|color| json!({"displayName": format!("{color} of {}", self.name)}))
                    .to_vec(),
                ..Page::default()
            },
        })
    }

    async fn letters(&self, ids: &[String], _: &Projection, _: BodyForm) -> Vec<Result<Letter>> {
        ids.iter().map(|_| Ok(Letter::default())).collect()
    }

    async fn thread(&self, _: &str) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    async fn names(&self) -> Result<HashMap<String, String>> {
        Ok(HashMap::new())
    }

    async fn changes(&self, _: Option<&str>, _: &Projection) -> Result<Changes> {
        Err(Error::argument("nothing changes here"))
    }

    fn check_id(&self, _: &str) -> Result<()> {
        Ok(())
    }
}

struct Piles(Vec<Arc<Pile>>);

#[async_trait]
impl Connect for Piles {
    fn mailbox(&self, account: &Account) -> Result<Arc<dyn Mailbox>> {
        let found = self.0.iter().find(|one| account.email == format!("{}@example.com", one.name));
        Ok(found.unwrap().clone())
    }

    fn calendars(&self, _: &Account) -> Result<Arc<dyn Calendars>> {
        Err(Error::argument("no calendars here"))
    }

    async fn address(&self, _: &str, _: &str, _: Option<&str>) -> Result<String> {
        Err(Error::argument("nobody signs in here"))
    }

    fn scopes(&self, _: &str, _: bool, _: Access) -> Result<Vec<&'static str>> {
        Ok(Vec::new())
    }
}

struct Bench {
    pipeline: Pipeline,
    store: Store,
    boxes: Vec<Arc<Pile>>,
    _home: TempDir,
}

async fn bench(boxes: Vec<Arc<Pile>>) -> Bench {
    let home = TempDir::new().unwrap();
    let config = Arc::new(config(home.path(), &[]));
    let store = Store::new(&config);
    let accounts = Accounts::new(config.clone(), store.clone());
    for one in &boxes {
        let tokens = Tokens {
            provider: "microsoft",
            access: AccessToken::new("x".to_owned()),
            refresh: Some(oauth2::RefreshToken::new("y".to_owned())),
            expires: i64::MAX / 2,
            scopes: Vec::new(),
            tenant: None,
        };
        let email = format!("{}@example.com", one.name);
        accounts.add(tokens, &email).await.unwrap();
    }
    let connect = Arc::new(Piles(boxes.clone()));
    Bench {
        pipeline: Pipeline::new(config, store.clone(), Arc::new(accounts), connect)
            .patience(Duration::from_millis(300)),
        store,
        boxes,
        _home: home,
    }
}

impl Bench {
    async fn blocks(&self, tool: &str, arguments: Value) -> Result<Vec<String>> {
        let tool = tools::find(tool).unwrap();
        let format = Format::Toon(Delimiter::Tab);
        let request = request::read(tool, arguments.as_object().cloned(), format)?;
        Ok(self.pipeline.run(request).await?.blocks)
    }

    async fn search(&self, mut arguments: Value) -> Value {
        arguments["format"] = "json".into();
        let blocks = self.blocks("mail_search", arguments).await.unwrap();
        serde_json::from_str(&blocks[0]).unwrap()
    }

    /// Every page, and what happens between two of them.
    async fn walk(&self, limit: usize, mut between: impl FnMut(usize)) -> Vec<Value> {
        let fields = json!(["subject", "date"]);
        let mut page = self.search(json!({"limit": limit, "fields": fields})).await;
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
    let blocks =
        bench.blocks("mail_search", json!({"limit": 3, "detail": "minimal"})).await.unwrap();
    assert_eq!(
        blocks,
        [
            "zone: Europe/Berlin\nnext: p1\n\
             messages[3\t]{id\tdate\tfrom\tsubject\taccount}:\n  \
             m1\t2026-02-02 03h45\tnull\tana-0\tana@example.com\n  \
             m3\t2026-02-02 03h44\tnull\tbo-0\tbo@example.com\n  \
             m2\t2026-02-02 03h43\tnull\tana-1\tana@example.com",
            "messages: 3 of ~5 in 2 accounts, newest first; cursor=p1 has more",
        ]
    );
    let blocks = bench.blocks("mail_search", json!({"cursor": "p1"})).await.unwrap();
    assert_eq!(
        blocks,
        [
            "zone: Europe/Berlin\n\
             messages[2\t]{id\tdate\tfrom\tsubject\taccount}:\n  \
             m5\t2026-02-02 03h42\tnull\tbo-1\tbo@example.com\n  \
             m4\t2026-02-02 03h41\tnull\tana-2\tana@example.com",
            "messages: 2 of 5 in 2 accounts, newest first, after 3 on earlier pages",
        ]
    );
    // Of one account, the account is not said.
    let blocks = bench
        .blocks("mail_search", json!({"account": "bo@example.com", "detail": "minimal"}))
        .await
        .unwrap();
    assert!(blocks[0].contains("messages[2\t]{id\tdate\tfrom\tsubject}:"), "{}", blocks[0]);
}

/// What is on disk goes on when the program is another version: the kind of list
/// first, then the fields of its plan.
#[tokio::test]
async fn cursors_are_kept_as_they_always_were() {
    let bench = bench(vec![Pile::new("ana", &[(5, true), (3, true), (1, true)], 10)]).await;
    bench.blocks("lookup", json!({"kind": "schemas", "limit": 2})).await.unwrap();
    let lookup = r#"{"of":"lookup","kind":"schemas","q":null,"emails":[],"fields":[],"limit":2,"merged":false,"done":0,"places":[{"account":null,"shown":2}]}"#;
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

    // One that was kept before there were columns to choose.
    let old = r#"{"of":"lookup","kind":"schemas","q":null,"emails":[],"limit":1,"merged":false,"done":0,"places":[{"account":null,"shown":2}]}"#;
    let number = bench.store.save_cursor(old).await.unwrap();
    let blocks = bench.blocks("lookup", json!({"kind": "schemas", "cursor": format!("p{number}")}));
    assert!(blocks.await.unwrap()[0].contains("schemas[1"));
    // One of a list that this version does not know is of another tool; what is
    // no cursor is not there.
    for (state, says) in [
        (r#"{"of":"weather","limit":1}"#, "belongs to another tool"),
        (r#"{"of":"search","limit":"many"}"#, "there is no cursor"),
        (r#"{"limit":1}"#, "there is no cursor"),
        ("[]", "there is no cursor"),
    ] {
        let number = bench.store.save_cursor(state).await.unwrap();
        let error = bench.blocks("mail_search", json!({"cursor": format!("p{number}")})).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains(says), "{state}: {error}");
    }
}

#[tokio::test]
async fn one_that_fails_or_is_slow_is_a_note() {
    let many: Vec<Mail> = (0..6).map(|minute| (minute, true)).collect();
    let boxes = ["ana", "bo", "cy", "di"].map(|name| Pile::new(name, &many, 10));
    let bench = bench(boxes.to_vec()).await;
    let refused = Error::new(Kind::Auth, "the grant has ended").next("sign in again");
    *bench.boxes[1].failure.lock().unwrap() = Some(refused);
    let busy = Error::new(Kind::Provider(504), "the filter was too slow");
    *bench.boxes[2].failure.lock().unwrap() = Some(busy);
    *bench.boxes[3].delay.lock().unwrap() = Duration::from_secs(60);
    let fields = json!(["subject"]);
    let first = bench.blocks("mail_search", json!({"limit": 4, "fields": fields})).await.unwrap();
    assert_eq!(
        first[1],
        "messages: 4 in 4 accounts, newest first; cursor=p1 has more\n\
         left out: bo@example.com: the grant has ended: sign in again\n\
         missing here, asked again with the next page: cy@example.com: the filter was too slow\n\
         missing here, asked again with the next page: di@example.com: no answer within 0 seconds"
    );
    // Those that may come back do, and nothing of theirs is lost.
    *bench.boxes[2].failure.lock().unwrap() = None;
    *bench.boxes[3].delay.lock().unwrap() = Duration::ZERO;
    let second = bench.blocks("mail_search", json!({"cursor": "p1", "limit": 100})).await.unwrap();
    assert_eq!(
        second[1],
        "messages: 14 of 18 in 4 accounts, newest first, after 4 on earlier pages"
    );
    // All of them failing is an error.
    for one in &bench.boxes {
        *one.failure.lock().unwrap() = Some(Error::new(Kind::Network, "no route"));
    }
    let error = bench.blocks("mail_search", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "all 4 accounts failed, the first: ana@example.com: no route");
    let error =
        bench.blocks("mail_search", json!({"account": "ana@example.com"})).await.unwrap_err();
    assert_eq!(error.to_string(), "no route");
}

/// An account has as long as the README says. (Tests wait for less.)
#[test]
fn accounts_have_as_long_as_is_said() {
    let said = format!("takes more than {} seconds", PATIENCE.as_secs());
    assert!(include_str!("../../README.md").contains(&said), "{said}");
}

/// A search that finds nothing on a page goes on for some pages, and then says so.
#[tokio::test]
async fn a_call_looks_through_a_few_pages() {
    let none: Vec<Mail> = (0..30).map(|minute| (minute, false)).collect();
    let bench = bench(vec![Pile::new("ana", &none, 1)]).await;
    let mut asked = json!({"limit": 3});
    for (calls, pages) in [(12, "12"), (24, "12"), (30, "")] {
        let notes = bench.blocks("mail_search", asked).await.unwrap().pop().unwrap();
        let said = notes.lines().any(|line| {
            line == format!("{pages} pages were looked through so far, and there are more")
        });
        assert_eq!(said, !pages.is_empty(), "{notes}");
        assert_eq!(*bench.boxes[0].asked.lock().unwrap(), calls, "{notes}");
        let next = notes.split_once("cursor=").map_or("", |(_, rest)| rest);
        asked = json!({"cursor": next.split(' ').next().unwrap_or_default()});
    }
}

#[tokio::test]
async fn lookups_ask_all_accounts() {
    let bench = bench(vec![Pile::new("ana", &[], 1), Pile::new("bo", &[], 1)]).await;
    let kind = json!({"kind": "categories", "limit": 3});
    assert_eq!(
        bench.blocks("lookup", kind).await.unwrap(),
        [
            "next: p1\ncategories[3\t]{name\taccount}:\n  Blue of ana\tana@example.com\n  \
             Red of ana\tana@example.com\n  Blue of bo\tbo@example.com",
            "categories: 3 of 4; cursor=p1 has more",
        ]
    );
    let rest = json!({"kind": "categories", "cursor": "p1"});
    assert_eq!(
        bench.blocks("lookup", rest).await.unwrap(),
        ["categories[1\t]{name\taccount}:\n  Red of bo\tbo@example.com", "categories: 1 of 4",]
    );
    *bench.boxes[0].failure.lock().unwrap() = Some(Error::new(Kind::Auth, "it has ended"));
    let red = json!({"kind": "categories", "q": "RED"});
    assert_eq!(
        bench.blocks("lookup", red).await.unwrap(),
        [
            "categories[1\t]{name\taccount}:\n  Red of bo\tbo@example.com",
            "categories: 1 of 1\nleft out: ana@example.com: it has ended",
        ]
    );
}

#[tokio::test]
async fn a_lookup_loses_nothing_when_an_account_fails_between_its_pages() {
    let bench = bench(vec![Pile::new("ana", &[], 1), Pile::new("bo", &[], 1)]).await;
    let names = |blocks: &[String]| -> Vec<String> {
        let rows = blocks[0].lines().filter_map(|line| line.strip_prefix("  "));
        rows.map(|row| row.split('\t').nth(1).unwrap().to_owned()).collect()
    };
    let folders = json!({"kind": "folders", "limit": 5});
    let first = bench.blocks("lookup", folders).await.unwrap();
    assert_eq!(names(&first), ["1 of ana", "2 of ana", "3 of ana", "null", "1 of bo"]);
    assert_eq!(
        first[1],
        "folders: 5 of 8; cursor=p1 has more\n\
         ana@example.com: 1 could not be fetched (f4): it broke"
    );
    *bench.boxes[1].failure.lock().unwrap() = Some(Error::new(Kind::Network, "no route"));
    let rest = json!({"kind": "folders", "cursor": "p1"});
    let error = bench.blocks("lookup", rest.clone()).await.unwrap_err();
    assert_eq!(error.to_string(), "bo@example.com: no route");
    *bench.boxes[1].failure.lock().unwrap() = None;
    let last = bench.blocks("lookup", rest).await.unwrap();
    assert_eq!(names(&last), ["2 of bo", "3 of bo", "null"]);
    assert_eq!(last[1], "folders: 3 of 8\nbo@example.com: 1 could not be fetched (f8): it broke");
    // What could not be fetched may be what is looked for.
    let one = json!({"kind": "folders", "q": "3 of", "account": "ana@example.com"});
    assert_eq!(names(&bench.blocks("lookup", one).await.unwrap()), ["3 of ana", "null"]);
}

#[tokio::test]
async fn contacts_say_that_there_are_more() {
    let bench = bench(vec![Pile::new("ana", &[], 1)]).await;
    let mut arguments = json!({"kind": "contacts", "limit": 3});
    let mut notes = Vec::new();
    for page in 1..4 {
        let blocks = bench.blocks("lookup", arguments).await.unwrap();
        notes.push(blocks[1].clone());
        arguments = json!({"kind": "contacts", "cursor": format!("p{page}")});
    }
    assert_eq!(
        notes,
        ["contacts: 3; cursor=p1 has more", "contacts: 3; cursor=p2 has more", "contacts: 1 of 7",]
    );
}

#[tokio::test]
async fn a_page_late_costs_what_the_first_costs() {
    let many: Vec<Mail> = (0..600).map(|minute| (minute, true)).collect();
    let bench = bench(vec![Pile::new("ana", &many, 20), Pile::new("bo", &many, 20)]).await;
    let asked = |bench: &Bench| -> usize {
        let counts = bench.boxes.iter().map(|one| *one.asked.lock().unwrap());
        counts.sum()
    };
    let mut costs = Vec::new();
    let mut before = 0;
    let boxes = bench.boxes.clone();
    let rows = bench
        .walk(20, |_| {
            let now: usize = boxes.iter().map(|one| *one.asked.lock().unwrap()).sum();
            costs.push(now - before);
            before = now;
        })
        .await;
    assert_eq!(rows.len(), 1200);
    assert_eq!(costs.iter().max(), Some(&4), "{costs:?}");
    assert!(asked(&bench) < 4 * 61);
}

fn mail() -> impl Strategy<Value = Vec<Mail>> {
    // Few minutes for many letters: equal dates are common.
    prop::collection::vec((0_u32..40, prop::bool::weighted(0.7)), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// New mail between the pages, pages of any size, hits few or many: what was
    /// there at the beginning is shown once, and nothing is shown twice.
    #[test]
    fn nothing_is_lost_or_doubled(
        boxes in prop::collection::vec((mail(), 1_usize..30), 1..4),
        limit in 1_usize..30,
        arrivals in prop::collection::vec((0_usize..4, 0_u32..9), 0..30),
        broken in prop::option::of(1_u32..9),
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
                .walk(limit, |_| {
                    for (at, minute) in arrivals.by_ref().take(3) {
                        // Newer than all that is there.
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
            assert!(old.is_sorted_by(|one, other| one >= other));
        });
    }
}
