//! Google's People API: who is meant by a name or an address.
//!
//! Three lists know people: saved contacts by search, saved contacts whole, and
//! those that mail was exchanged with. The API has no generated client here:
//! three GET requests do not earn one more of an unmaintained family.

use serde_json::Value;
use url::Url;

use super::google::Google;
use crate::error::{Error, Kind, Result};
use crate::provider::{Page, People};

/// What is read of saved contacts; other contacts have fewer.
const FIELDS: &str = "names,emailAddresses,organizations,phoneNumbers";
const OTHER_FIELDS: &str = "names,emailAddresses,phoneNumbers";
/// The most people that one answer of a search has.
const MOST: usize = 30;

/// Finds people, saved contacts first.
pub async fn find(google: &Google, base: &Url, people: &People) -> Result<Page> {
    let mut found: Vec<Value> = Vec::new();
    match (&people.q, people.emails.as_slice()) {
        (None, []) => {
            let size = people.limit.clamp(1, 1_000).to_string();
            let url = address(
                base,
                "v1/people/me/connections",
                &[("personFields", FIELDS), ("pageSize", &size)],
            )?;
            let answer = google.get(&url).await?;
            add(&mut found, answer.get("connections"), |item| Some(item));
        }
        (Some(q), _) => search(google, base, q, people.limit, &mut found).await?,
        (None, emails) => {
            for email in emails {
                let mut near = Vec::new();
                search(google, base, email, MOST, &mut near).await?;
                near.retain(|person| has(person, email));
                add_new(&mut found, near);
            }
        }
    }
    found.truncate(people.limit);
    Ok(Page {
        items: found,
        ..Page::default()
    })
}

async fn search(
    google: &Google,
    base: &Url,
    q: &str,
    limit: usize,
    found: &mut Vec<Value>,
) -> Result<()> {
    let size = limit.clamp(1, MOST).to_string();
    for (path, fields) in [
        ("v1/people:searchContacts", FIELDS),
        ("v1/otherContacts:search", OTHER_FIELDS),
    ] {
        let url = address(
            base,
            path,
            &[("query", q), ("readMask", fields), ("pageSize", &size)],
        )?;
        let answer = google.get(&url).await?;
        add(found, answer.get("results"), |item| item.get("person"));
    }
    Ok(())
}

fn add(found: &mut Vec<Value>, list: Option<&Value>, person: fn(&Value) -> Option<&Value>) {
    let people = list.and_then(Value::as_array).into_iter().flatten();
    add_new(found, people.filter_map(person).cloned().collect());
}

/// Adds those who are not there yet; one person may be in two lists.
fn add_new(found: &mut Vec<Value>, people: Vec<Value>) {
    for person in people {
        let known = |other: &Value| other.get("resourceName") == person.get("resourceName");
        if !found.iter().any(known) {
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
    let mut url = base
        .join(path)
        .map_err(|_opaque| Error::new(Kind::Internal, "the People API's URL does not parse"))?;
    url.query_pairs_mut().extend_pairs(params);
    Ok(url)
}
