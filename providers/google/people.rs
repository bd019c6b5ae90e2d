//! Google's People API: contacts and correspondents by name or address.
//!
//! There are two lists, each available in full and by search: saved contacts, and other contacts,
//! with whom mail was exchanged. The API has no generated client here: four GET requests do not
//! justify another unmaintained crate.

use std::sync::atomic::{AtomicBool, Ordering};

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::{ListPage, PeopleQuery};
use daysheet_core::text::{note, ours};
use futures_util::future::{join_all, try_join_all};
use serde_json::Value;
use url::Url;

use super::client::{GoogleClient, page};

/// The fields of saved contacts that are read; other contacts have fewer.
const FIELDS: &str = "names,emailAddresses,organizations,phoneNumbers";
const OTHER_FIELDS: &str = "names,emailAddresses,phoneNumbers";
/// The maximum number of results of a search, which has no pages.
const MAX_PEOPLE: usize = 30;
/// The fields of a page other than its people.
const OF_A_PAGE: &[&str] =
    &["nextPageToken", "nextSyncToken", "totalItems", "totalPeople", "totalSize"];
/// The maximum number of people on a page.
const IN_A_PAGE: usize = 1_000;
/// The maximum number of pages of a list that are read, with 1,000 people each.
const PAGES: usize = 100;
/// The lists of people.
const LISTS: [&PeopleList; 2] = [
    &PeopleList {
        path: "v1/people/me/connections",
        key: "connections",
        fields: ("personFields", FIELDS),
        name: "saved contacts",
    },
    &PeopleList {
        path: "v1/otherContacts",
        key: "otherContacts",
        fields: ("readMask", OTHER_FIELDS),
        name: "other contacts",
    },
];

/// A list of people: its endpoint, the key of the people in a response, and the fields to request.
struct PeopleList {
    path: &'static str,
    key: &'static str,
    fields: (&'static str, &'static str),
    name: &'static str,
}

/// The search endpoints, with the fields to read.
const SEARCHES: [(&str, &str); 2] =
    [("v1/people:searchContacts", FIELDS), ("v1/otherContacts:search", OTHER_FIELDS)];

/// Finds people, saved contacts first. `warm` belongs to the account, and is set once its search
/// index has been refreshed.
pub async fn find(
    google: &GoogleClient,
    base: &Url,
    people: &PeopleQuery,
    warm: &AtomicBool,
) -> Result<ListPage> {
    let mut found: Vec<Value> = Vec::new();
    let mut notes = Vec::new();
    let searches = people.q.is_some() || !people.emails.is_empty();
    // Google refreshes its search index only when a search is announced.
    if searches && !warm.load(Ordering::Relaxed) {
        announce(google, base).await?;
        warm.store(true, Ordering::Relaxed);
    }
    match (&people.q, people.emails.as_slice()) {
        (None, []) => {
            let lists = LISTS.map(|list| all(google, base, list, people.limit));
            for (list, listed) in LISTS.into_iter().zip(join_all(lists).await) {
                let (listed, whole) = listed?;
                if !whole && found.len() < people.limit {
                    notes.push(note!("only some of the {} were read", ours(list.name)));
                }
                add_new(&mut found, listed);
            }
        }
        (Some(q), _) => {
            let cut = search(google, base, q, people.limit, &mut found).await?;
            if cut && found.len() < people.limit {
                notes.push(note!(
                    "Google finds at most {} people per list; use a longer `q`",
                    MAX_PEOPLE
                ));
            }
        }
        (None, emails) => {
            for email in emails {
                let mut near = Vec::new();
                search(google, base, email, MAX_PEOPLE, &mut near).await?;
                // The search also finds prefixes and names.
                near.retain(|person| has(person, email));
                add_new(&mut found, near);
            }
        }
    }
    found.truncate(people.limit);
    Ok(ListPage { items: found, notes, ..ListPage::default() })
}

/// Returns up to `limit` people of a list, or slightly more; and false if the list exceeds the
/// pages that may be read.
async fn all(
    google: &GoogleClient,
    base: &Url,
    list: &PeopleList,
    limit: usize,
) -> Result<(Vec<Value>, bool)> {
    let size = limit.clamp(1, 1_000).to_string();
    let mut found = Vec::new();
    let mut token = String::new();
    for _ in 0..PAGES {
        let mut params = vec![list.fields, ("pageSize", size.as_str())];
        if !token.is_empty() {
            params.push(("pageToken", &token));
        }
        let url = address(base, list.path, &params)?;
        let answer = google.get(&url).await?;
        let people = page(&answer, list.key, OF_A_PAGE)?;
        add(&mut found, people, |item| Some(item));
        let next = answer.get("nextPageToken").and_then(Value::as_str);
        match next {
            // A repeated token would return the same page forever.
            Some(next) if found.len() < limit && next != token => token = next.to_owned(),
            Some(_) => {
                let enough = found.len() >= limit;
                return Ok((found, enough));
            }
            None => return Ok((found, true)),
        }
    }
    Ok((found, false))
}

/// Sends an empty search, as the documentation requires before the first search: it
/// makes Google refresh its search cache.
async fn announce(google: &GoogleClient, base: &Url) -> Result<()> {
    ask(google, base, "", "1").await.map(drop)
}

/// Returns the responses of both searches.
async fn ask(google: &GoogleClient, base: &Url, q: &str, size: &str) -> Result<Vec<Value>> {
    let searches = SEARCHES.map(async |(path, fields)| {
        let params = [("query", q), ("readMask", fields), ("pageSize", size)];
        google.get(&address(base, path, &params)?).await
    });
    try_join_all(searches).await
}

/// Adds the results of both searches to `found`; returns true if one of them may be incomplete.
async fn search(
    google: &GoogleClient,
    base: &Url,
    q: &str,
    limit: usize,
    found: &mut Vec<Value>,
) -> Result<bool> {
    let size = limit.clamp(1, MAX_PEOPLE).to_string();
    let mut cut = false;
    for answer in ask(google, base, q, &size).await? {
        let results = page(&answer, "results", OF_A_PAGE)?;
        // A full response may be incomplete, and does not say so.
        cut |= results.len() >= MAX_PEOPLE;
        add(found, results, |item| item.get("person"));
    }
    Ok(cut)
}

fn add(found: &mut Vec<Value>, list: &[Value], person: fn(&Value) -> Option<&Value>) {
    let people = list.iter().filter_map(person).take(IN_A_PAGE);
    add_new(found, people.cloned().collect());
}

/// Adds people whom the list does not have yet; a person may be in both lists.
fn add_new(found: &mut Vec<Value>, people: Vec<Value>) {
    for mut person in people {
        let known = |other: &Value| other.get("resourceName") == person.get("resourceName");
        if !found.iter().any(known) {
            let name = person.get("resourceName").and_then(Value::as_str);
            let unsaved = name.is_some_and(|name| name.starts_with("otherContacts/"));
            if let (Some(person), true) = (person.as_object_mut(), unsaved) {
                person.insert("unsaved".to_owned(), true.into());
            }
            found.push(person);
        }
    }
}

fn has(person: &Value, email: &str) -> bool {
    person
        .get("emailAddresses")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|address| address.get("value").and_then(Value::as_str))
        .any(|address| address.eq_ignore_ascii_case(email.trim()))
}

fn address(base: &Url, path: &str, params: &[(&str, &str)]) -> Result<Url> {
    let mut url = base.join(path).map_err(|_opaque| {
        Error::new(ErrorKind::Internal, "the People API's URL does not parse")
    })?;
    url.query_pairs_mut().extend_pairs(params);
    Ok(url)
}
