//! Suggestions for names and addresses that match no person.

use daysheet_core::error::Error;
use daysheet_core::flatten::{self, RowContext, RowRoom};
use daysheet_core::row::RowTable;
use daysheet_core::schemas::{CONTACT, Service};
use daysheet_core::text::{Note, is_machine, note, ours, quoted, quoted_end};

use super::lists::fetch_lists;
use super::people::texts;
use super::plan::{LookupPlan, LookupPosition};
use crate::pipeline::access::accounts::named_or_all;
use crate::pipeline::access::untrusted::note_untrusted_quote;
use crate::pipeline::context::Context;

/// The number of people compared with an unknown address.
pub(super) const COMPARED: usize = 500;

/// The number of people that an error suggests.
pub(crate) const SUGGESTED: usize = 3;

/// The most names that people are suggested for.
const SUGGESTED_FOR: usize = 5;

/// The minimum similarity of a name for suggesting it, as `strsim` measures it.
pub(crate) const ALIKE: f64 = 0.75;

/// Adds suggestions to an error about names in place of addresses.
pub(crate) async fn suggest_people(ctx: &Context, error: Error) -> Error {
    let names = error.people();
    let mut suggestions = Vec::new();
    for name in names.iter().take(SUGGESTED_FOR) {
        let found = people_like(ctx, name).await;
        let found: Vec<String> = found
            .iter()
            .map(|(name, email)| format!("{} {}", quoted(name), quoted_end(email)))
            .collect();
        if found.is_empty() {
            continue;
        }
        suggestions.push(if names.len() == 1 {
            found.join(", ")
        } else {
            format!("{} for {}", found.join(", "), quoted(name))
        });
    }
    if suggestions.is_empty() {
        return error;
    }
    note_untrusted_quote(ctx);
    let what = if names.len() == 1 { "an address" } else { "addresses" };
    error.next(format!("give {what}; did you mean {}?", suggestions.join("; ")))
}

/// Returns the people that any account knows by a name, or else the one with the most similar
/// name: names and addresses.
async fn people_like(ctx: &Context, name: &str) -> Vec<(String, String)> {
    // A failure here must not replace the original error.
    let accounts = named_or_all(ctx, None).await.unwrap_or_default();
    let Some(named) = LookupPlan::contacts(Some(name.to_owned()), SUGGESTED, &accounts) else {
        return Vec::new();
    };
    let mut found = people_listed(ctx, &named).await;
    // A search found no one, so the name is compared with everyone's.
    if found.is_empty() {
        let everybody = LookupPlan { q: None, limit: COMPARED, ..named };
        let people = people_listed(ctx, &everybody).await;
        let names: Vec<String> = people.iter().map(|(name, _)| name.to_lowercase()).collect();
        let near = nearest(name, &names).map(str::to_owned);
        found = people.into_iter().filter(|(one, _)| Some(one.to_lowercase()) == near).collect();
    }
    // An address that only sends notices is not a person to write to.
    found.retain(|(_, email)| !is_machine(email));
    found.truncate(SUGGESTED);
    found
}

/// Returns the names and first addresses of the people that a plan lists, each address once.
async fn people_listed(ctx: &Context, plan: &LookupPlan) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let (parts, _) = fetch_lists(ctx, plan).await.unwrap_or_default();
    for part in &parts {
        let items = part.list.page.items.iter().map(|item| (item, part.list.api));
        for (item, api) in
            items.chain(part.list.of_events.iter().map(|item| (item, Service::Local)))
        {
            let context = RowContext { api, room: RowRoom::List, ..ctx.local() };
            let first = |column: &str| {
                let texts = CONTACT.field(column).map(|one| flatten::texts(one, item, &context));
                texts.into_iter().flatten().next()
            };
            let Some(email) = first("emails") else {
                continue;
            };
            if found.iter().all(|(_, known)| !known.eq_ignore_ascii_case(&email)) {
                found.push((first("name").unwrap_or_default(), email));
            }
        }
    }
    found
}

/// Returns notes on requested people that none of the accounts `asked` knows, with suggestions.
pub(super) async fn unknown_people(
    ctx: &Context,
    plan: &LookupPlan,
    asked: Vec<LookupPosition>,
    rows: &RowTable,
) -> Vec<Note> {
    let known = |email: &&String| plan.met.contains(*email);
    let unknown: Vec<&str> = match &plan.q {
        Some(q) if rows.is_empty() => vec![q],
        _ => plan.emails.iter().filter(|one| !known(one)).map(String::as_str).collect(),
    };
    if unknown.is_empty() {
        return Vec::new();
    }
    let everybody =
        LookupPlan { q: None, emails: Vec::new(), limit: COMPARED, places: asked, ..plan.clone() };
    let mut names = Vec::new();
    if let Ok((parts, _)) = fetch_lists(ctx, &everybody).await {
        for part in parts {
            names.extend(texts(ctx, &CONTACT, "emails", &part.list));
            names.extend(texts(ctx, &CONTACT, "name", &part.list));
        }
    }
    let note = |wanted: &str| match nearest(wanted, &names) {
        Some(near) => {
            note_untrusted_quote(ctx);
            note!("nobody matches {}: did you mean {}?", ours(wanted), quoted(near))
        }
        None if plan.q.is_some() && plan.asked.is_none() => {
            "nobody found: try part of the name or address".into()
        }
        None => note!("nobody matches {}", ours(wanted)),
    };
    unknown.into_iter().map(note).collect()
}

/// Returns the name or address that is most similar to `wanted`, if one is.
pub(crate) fn nearest<'a>(wanted: &str, names: &'a [String]) -> Option<&'a str> {
    let wanted = wanted.trim().to_lowercase();
    names
        .iter()
        .map(|name| (strsim::normalized_damerau_levenshtein(&wanted, name), name.as_str()))
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .filter(|(alike, _)| *alike >= ALIKE)
        .map(|(_, name)| name)
}
