//! Who is meant by a name or an address, at Microsoft.
//!
//! Two lists know people: saved contacts, and the people that Graph finds
//! relevant to whoever signed in. Both are theirs also where the mailbox is
//! another's, because no scope of ours opens other people's contacts.

use serde_json::Value;

use super::microsoft::{Graph, request};
use super::outlook::text;
use super::outlook_folders::list;
use crate::error::Result;
use crate::project::Projection;
use crate::provider::{Page, People};

/// The properties that saved contacts have, of those that columns read.
const CONTACT: &[&str] = &[
    "displayName",
    "emailAddresses",
    "companyName",
    "jobTitle",
    "mobilePhone",
];
/// The same of relevant people.
const PERSON: &[&str] = &[
    "displayName",
    "scoredEmailAddresses",
    "companyName",
    "jobTitle",
    "phones",
];
/// The most that one answer has.
const MOST: usize = 100;

/// Finds people, saved contacts first.
pub async fn find(graph: &Graph, people: &People, projection: &Projection) -> Result<Page> {
    let ways = Ways::new(people, projection);
    let mut page = Page::default();
    match (&people.q, people.emails.as_slice()) {
        (None, []) => all(graph, &ways, people.limit, &mut page).await?,
        (Some(q), _) => {
            let requests = [ways.beginning(q), ways.people(q)];
            let mut answers = graph.batch(&requests).await.into_iter();
            let contacts = answers.next().transpose();
            let relevant = answers.next().transpose();
            // One list is better than none.
            match (contacts, relevant) {
                (Err(error), Err(_)) => return Err(error),
                (contacts, relevant) => {
                    for answer in [contacts, relevant] {
                        match answer {
                            Ok(answer) => {
                                add_new(&mut page.items, list(&answer.unwrap_or_default()));
                            }
                            Err(error) => page
                                .notes
                                .push(format!("one list of people is missing: {error}")),
                        }
                    }
                }
            }
        }
        (None, emails) => by_address(graph, &ways, emails, &mut page).await?,
    }
    page.items.truncate(people.limit);
    if graph.is_shared() {
        page.notes
            .push("these are the contacts of the person who signed in".to_owned());
    }
    Ok(page)
}

/// How the two lists are asked.
struct Ways {
    contact: String,
    person: String,
    top: String,
}

impl Ways {
    fn new(people: &People, projection: &Projection) -> Self {
        let roots = projection.roots();
        let of = |has: &[&str], address: &'static str| {
            // Without the address nobody could be told from another.
            let mut select = vec!["id", address];
            let wanted = roots.iter().filter(|root| has.contains(root));
            select.extend(wanted.filter(|root| **root != address));
            select.join(",")
        };
        Self {
            contact: of(CONTACT, "emailAddresses"),
            person: of(PERSON, "scoredEmailAddresses"),
            top: people.limit.clamp(1, MOST).to_string(),
        }
    }

    fn contacts(&self, query: &[(&str, &str)]) -> String {
        let mut all = query.to_vec();
        all.push(("$select", &self.contact));
        all.push(("$top", &self.top));
        request("me/contacts", &all)
    }

    /// Contacts whose names begin so.
    fn beginning(&self, q: &str) -> String {
        let filter = format!("startswith(displayName,'{}')", q.replace('\'', "''"));
        self.contacts(&[("$filter", &filter)])
    }

    /// Contacts with this address.
    fn with(&self, email: &str) -> String {
        let email = email.trim().replace('\'', "''");
        let filter = format!("emailAddresses/any(a:a/address eq '{email}')");
        self.contacts(&[("$filter", &filter)])
    }

    /// Relevant people, by parts of their names or addresses.
    fn people(&self, q: &str) -> String {
        let q = q.replace('\\', "\\\\").replace('"', "\\\"");
        let query = [
            ("$search", format!("\"{q}\"")),
            ("$select", self.person.clone()),
            ("$top", self.top.clone()),
        ];
        let query: Vec<(&str, &str)> = query
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        request("me/people", &query)
    }
}

/// The saved contacts, page by page.
async fn all(graph: &Graph, ways: &Ways, limit: usize, page: &mut Page) -> Result<()> {
    let mut next = Some(ways.contacts(&[]));
    while let Some(request) = next {
        let answer = graph.get(&request).await?;
        page.items.extend(list(&answer));
        let link = answer.get("@odata.nextLink").and_then(Value::as_str);
        next = match link {
            Some(link) if page.items.len() < limit => Some(graph.linked(link)?),
            _ => None,
        };
    }
    Ok(())
}

/// Contacts with these addresses; people for the addresses that no contact has.
async fn by_address(graph: &Graph, ways: &Ways, emails: &[String], page: &mut Page) -> Result<()> {
    let requests: Vec<String> = emails.iter().map(|email| ways.with(email)).collect();
    for answer in graph.batch(&requests).await {
        add_new(&mut page.items, list(&answer?));
    }
    let missing: Vec<&String> = emails
        .iter()
        .filter(|email| !page.items.iter().any(|person| has(person, email)))
        .collect();
    let requests: Vec<String> = missing.iter().map(|email| ways.people(email)).collect();
    for (email, answer) in missing.iter().zip(graph.batch(&requests).await) {
        let mut near = list(&answer?);
        near.retain(|person| has(person, email));
        add_new(&mut page.items, near);
    }
    Ok(())
}

/// Adds those who are not there yet; one person may be in both lists.
fn add_new(found: &mut Vec<Value>, people: Vec<Value>) {
    for person in people {
        let known = found
            .iter()
            .any(|other| addresses(&person).any(|address| has(other, address)));
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
