//! People by name or address at Microsoft.
//!
//! There are two lists: saved contacts, and people that Graph considers relevant. Both belong to
//! the person who signed in, even if the mailbox belongs to someone else, because none of our
//! scopes opens other people's contacts.

use daysheet_core::error::Result;
use daysheet_core::project::Projection;
use daysheet_core::provider::{ListPage, PeopleQuery};
use daysheet_core::text::{folded, note};
use serde_json::Value;

use super::client::{GraphAccount, request};
use super::response::page as items_of;
use crate::json::text;

/// The properties of saved contacts that columns may read.
const CONTACT: &[&str] =
    &["displayName", "emailAddresses", "companyName", "jobTitle", "mobilePhone"];
/// The properties of relevant people that columns may read.
const PERSON: &[&str] =
    &["displayName", "scoredEmailAddresses", "companyName", "jobTitle", "phones"];
/// The maximum page size, and the maximum number of pages read of a list.
const MAX_PAGE: usize = 100;
const PAGES: usize = 100;
/// The page size, and the maximum number of pages, for searching all contacts.
const EVERY_TOP: &str = "500";
const EVERY_PAGES: usize = 10;

/// Finds people, saved contacts first.
pub async fn find(
    graph: &GraphAccount,
    people: &PeopleQuery,
    projection: &Projection,
) -> Result<ListPage> {
    let ways = PeopleRequests::new(people, projection);
    let mut page = ListPage::default();
    match (&people.q, people.emails.as_slice()) {
        (q, []) | (q @ Some(_), _) => {
            let contacts = match q {
                Some(_) => ways.every(),
                None => ways.contacts(&[]),
            };
            let requests = [contacts, ways.people(q.as_deref())];
            let mut missing = Vec::new();
            let mut answers = graph.batch(&requests).await.into_iter();
            let saved = answers.next().unwrap_or_else(|| Ok(Value::Null));
            let saved = match (saved, q) {
                (Ok(answer), Some(q)) => add_called(graph, answer, q, &mut page).await,
                (Ok(answer), None) => add_all(graph, answer, people.limit, &mut page).await,
                (Err(error), _) => Err(error),
            };
            missing.extend(saved.err());
            for answer in answers {
                let found = match answer {
                    Ok(answer) => add_all(graph, answer, people.limit, &mut page).await,
                    Err(error) => Err(error),
                };
                missing.extend(found.err());
            }
            page.notes.dedup();
            // One list is better than no result.
            match missing.first() {
                Some(error) if missing.len() == requests.len() => return Err(error.clone()),
                Some(error) => page.notes.push(note!("one list of people is missing: {}", error)),
                None => {}
            }
        }
        (None, emails) => by_address(graph, &ways, emails, &mut page).await?,
    }
    page.items.truncate(people.limit);
    if graph.is_shared() {
        page.notes.push("these are contacts of the person who signed in".into());
    }
    Ok(page)
}

/// The requests for the two lists.
struct PeopleRequests {
    contact: String,
    person: String,
    top: String,
}

impl PeopleRequests {
    fn new(people: &PeopleQuery, projection: &Projection) -> Self {
        let roots = projection.roots();
        let of = |has: &[&str], address: &'static str| {
            // Duplicates are recognized by address.
            let mut select = vec!["id", address];
            let selected = roots.iter().filter(|root| has.contains(root));
            select.extend(selected.filter(|root| **root != address));
            select.join(",")
        };
        Self {
            contact: of(CONTACT, "emailAddresses"),
            person: of(PERSON, "scoredEmailAddresses"),
            top: people.limit.clamp(1, MAX_PAGE).to_string(),
        }
    }

    fn contacts(&self, query: &[(&str, &str)]) -> String {
        let mut all = query.to_vec();
        all.push(("$select", &self.contact));
        all.push(("$top", &self.top));
        request("me/contacts", &all)
    }

    /// Returns the request for all contacts, which are then filtered here: Graph cannot filter by
    /// parts of names or addresses.
    fn every(&self) -> String {
        let mut select = self.contact.clone();
        if !select.split(',').any(|property| property == "displayName") {
            select.push_str(",displayName");
        }
        request("me/contacts", &[("$select", &select), ("$top", EVERY_TOP)])
    }

    /// Returns the request for contacts with this address.
    fn with(&self, email: &str) -> String {
        // OData escapes a quotation mark by doubling it.
        let email = email.trim().replace('\'', "''");
        let filter = format!("emailAddresses/any(a:a/address eq '{email}')");
        self.contacts(&[("$filter", &filter)])
    }

    /// Returns the request for relevant people: all, or those whose names or addresses match `q`.
    fn people(&self, q: Option<&str>) -> String {
        let q = q.map(|q| q.replace('\\', "\\\\").replace('"', "\\\""));
        let search = q.map(|q| format!("\"{q}\""));
        let mut query = Vec::new();
        query.extend(search.as_deref().map(|search| ("$search", search)));
        query.extend([("$select", self.person.as_str()), ("$top", &self.top)]);
        request("me/people", &query)
    }
}

/// Adds the people of a response and of its next pages, until there are `limit` people or no more
/// pages.
async fn add_all(
    graph: &GraphAccount,
    answer: Value,
    limit: usize,
    page: &mut ListPage,
) -> Result<()> {
    let (people, whole) = graph.all(answer, limit, PAGES).await?;
    let cut = !whole && people.len() < limit;
    add_new(&mut page.items, people);
    if cut {
        page.notes.push("one list of people has too many pages to read".into());
    }
    Ok(())
}

/// Adds the matching contacts of a response and of its next pages.
async fn add_called(
    graph: &GraphAccount,
    answer: Value,
    q: &str,
    page: &mut ListPage,
) -> Result<()> {
    let (mut people, whole) = graph.all(answer, usize::MAX, EVERY_PAGES).await?;
    if !whole {
        page.notes.push(note!("only the first {} saved contacts were searched", people.len()));
    }
    people.retain(|person| is_called(person, q));
    add_new(&mut page.items, people);
    Ok(())
}

/// Returns true if every word of `q` is part of the name or of an address, ignoring case and
/// accents.
fn is_called(person: &Value, q: &str) -> bool {
    let mut texts = vec![folded(text(person, "displayName"))];
    texts.extend(addresses(person).map(folded));
    folded(q).split_whitespace().all(|word| texts.iter().any(|text| text.contains(word)))
}

/// Adds the contacts with these addresses, and relevant people for the remaining addresses.
async fn by_address(
    graph: &GraphAccount,
    ways: &PeopleRequests,
    emails: &[String],
    page: &mut ListPage,
) -> Result<()> {
    let requests: Vec<String> = emails.iter().map(|email| ways.with(email)).collect();
    for answer in graph.batch(&requests).await {
        add_new(&mut page.items, items_of(answer?)?.0);
    }
    let missing: Vec<&String> =
        emails.iter().filter(|email| !page.items.iter().any(|person| has(person, email))).collect();
    let requests: Vec<String> = missing.iter().map(|email| ways.people(Some(email))).collect();
    for (email, answer) in missing.iter().zip(graph.batch(&requests).await) {
        let (mut near, _) = items_of(answer?)?;
        // The search also finds similar addresses and names.
        near.retain(|person| has(person, email));
        add_new(&mut page.items, near);
    }
    Ok(())
}

/// Adds people whom the list does not have yet; a person may be in both lists.
fn add_new(found: &mut Vec<Value>, people: Vec<Value>) {
    for person in people {
        let known = found.iter().any(|other| addresses(&person).any(|address| has(other, address)));
        if !known {
            found.push(person);
        }
    }
}

fn has(person: &Value, email: &str) -> bool {
    addresses(person).any(|address| address.eq_ignore_ascii_case(email.trim()))
}

fn addresses(person: &Value) -> impl Iterator<Item = &str> {
    ["emailAddresses", "scoredEmailAddresses"]
        .into_iter()
        .filter_map(|list| person.get(list)?.as_array())
        .flatten()
        .map(|address| text(address, "address"))
        .filter(|address| !address.is_empty())
}
