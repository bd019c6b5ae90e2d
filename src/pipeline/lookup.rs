//! Lookups: lists that are short enough to be fetched completely and shown in pages.
//!
//! They are the registry's `LISTINGS`: those of all accounts, one account after the
//! other, and our own schemas. A list is fetched again for every page; a cursor keeps
//! the request and the position.

pub(super) mod named;
pub(super) mod people;

use std::collections::HashMap;

use futures_util::future::{join_all, try_join_all};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::people::{add_people_of_events, list_rooms, unknown_people};
use super::answer::cursor::{another_search, load_cursor, save_cursor};
use super::calendar::agenda::calendars::{calendar_list, known_calendars, names_by_id};
use super::settings;
use crate::budget::Response;
use crate::encode::Document;
use crate::error::Result;
use crate::flatten::RowContext;
use crate::pipeline::access::accounts::{account_labels, account_named, named_or_all};
use crate::pipeline::access::sign_in::{account_objects, no_account_note};
use crate::pipeline::context::Context;
use crate::pipeline::handles::assign_handles;
use crate::pipeline::known_people::mark_look_alikes;
use crate::pipeline::mail::compose::account_signatures;
use crate::pipeline::rows::{
    Missing, columns_of, failed_note, missing_line, name_account, rows_of, zone_line,
};
use crate::project::project;
use crate::provider::Account;
use crate::provider::{Page, People};
use crate::row::{Cell, Extra, RowTable};
use crate::schemas::{
    self, ACCOUNT, Api, CALENDAR, Field, Level, Listing, Origin, ROOM, SCHEMA, Table,
};
use crate::text::{note, ours};
use crate::tools::Columns;
use crate::tools::lookup::Lookup;

/// The kind of its cursors.
const KIND: &str = "lookup";
/// The column that says whom a row was found for.
const ASKED: &str = "asked";

/// The request and the position; saved under a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct LookupPlan {
    #[serde(rename = "kind", with = "by_word")]
    listing: &'static Listing,
    q: Option<String>,
    emails: Vec<String>,
    /// The name or address that it is about, if several were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked: Option<String>,
    #[serde(default)]
    fields: Vec<String>,
    limit: usize,
    /// True if several accounts are queried.
    merged: bool,
    /// The number of rows of the accounts that are shown completely.
    done: usize,
    /// The requested addresses that somebody on a page so far has.
    #[serde(default)]
    met: Vec<String>,
    /// The accounts that may have more, in their order.
    places: Vec<LookupPosition>,
}

/// Stores a list by the word that requested it.
mod by_word {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use crate::schemas::Listing;
    use crate::words::Words;

    pub fn serialize<S: Serializer>(listing: &&'static Listing, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(listing.word())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<&'static Listing, D::Error> {
        let word = String::deserialize(from)?;
        <&Listing>::of(&word).ok_or_else(|| de::Error::custom(format!("no list is called {word}")))
    }
}

/// The position in the list of one account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct LookupPosition {
    /// The account's id; `None` for our own lists.
    account: Option<String>,
    shown: usize,
}

/// The list of one account, or of ours.
struct LookupPart {
    place: LookupPosition,
    account: Option<Account>,
    label: String,
    list: Listed,
}

/// What was fetched for one account.
struct Listed {
    api: Api,
    page: Page,
    /// People or rooms that events name, as objects of ours; they come last.
    of_events: Vec<Value>,
}

pub(super) async fn lookup(ctx: &Context, lookup: Lookup) -> Result<Response> {
    let several = lookup.each();
    if several.is_empty() {
        let plan = plan_lookup(ctx, lookup).await?;
        return lookup_planned(ctx, plan).await;
    }
    let answers = try_join_all(several.into_iter().map(|(name, one)| async move {
        let plan = LookupPlan { asked: Some(name.clone()), ..plan_lookup(ctx, one).await? };
        Ok((name, lookup_planned(ctx, plan).await?))
    }));
    let mut all = Response::default();
    for (name, Response { document, notes, .. }) in answers.await? {
        all.notes.extend(notes.iter().map(|note| note.under(ours(&name))));
        match all.document.tables.first_mut() {
            Some(rows) => document.tables.into_iter().for_each(|more| rows.append(more)),
            None => all.document.tables = document.tables,
        }
    }
    zone_line(&mut all.document, &ctx.config.zone);
    Ok(all)
}

/// Looks up one list.
async fn lookup_planned(ctx: &Context, mut plan: LookupPlan) -> Result<Response> {
    let table = plan.listing.table;
    let columns = plan.columns()?;
    let (parts, missing) = fetch_lists(ctx, &plan).await?;
    let looked_at: Vec<String> = parts.iter().map(|part| part.label.clone()).collect();
    let first = |part: &LookupPart| LookupPosition { shown: 0, ..part.place.clone() };
    let asked: Vec<LookupPosition> = parts.iter().map(first).collect();

    let mut notes = Vec::new();
    let mut rows = RowTable::new(table, columns.clone());
    let mut all = plan.done;
    plan.places.clear();
    for part in parts {
        let named = name_account(plan.merged, &part.label);
        let Page { items, names, failed, .. } = &part.list.page;
        let context = RowContext {
            api: part.list.api,
            account: &part.label,
            address: part.account.as_ref().map_or("", |account| &account.email),
            names,
            ..ctx.local()
        };
        let mut own = rows_of(&context, table, &columns, items, &mut notes);
        let local = RowContext { api: Api::Local, ..context };
        own.append(rows_of(&local, table, &columns, &part.list.of_events, &mut notes));
        for one in failed {
            own.insert_unread(usize::MAX, &one.id);
        }
        let known = people::texts(ctx, table, "emails", &part.list);
        let met = plan.emails.iter().filter(|email| known.contains(&email.to_lowercase()));
        plan.met.extend(met.cloned());
        if let Some(q) = plan.filter() {
            // An item that could not be fetched may be the one looked for. Only the
            // handle and the name are compared.
            let first: Vec<&str> = columns.iter().take(2).map(|field| field.name).collect();
            let is_main = |id: &str| names.get(id).is_some_and(|name| contains(name, q));
            own.retain(|row, extra| {
                let (cells, _) = row.split_at(row.len().min(2));
                says(cells, extra, &first, q)
                    || matches!(row, [Cell::Id(_), Cell::Null, ..])
                    || matches!(row, [Cell::Id(id), ..] if *table == CALENDAR && is_main(id))
            });
        }
        if *table == CALENDAR {
            call_main(&mut own, names);
        }
        // The rows of this account on this page.
        let (first, count) = (part.place.shown, own.len());
        let end = count.min(first.saturating_add(plan.limit - rows.len()));
        let mut at = 0..count;
        own.retain(|_, _| at.next().is_some_and(|at| (first..end).contains(&at)));
        all += count;
        if let Some(account) = &part.account {
            assign_handles(ctx, &mut own, account).await?;
            if plan.listing.is_people() {
                notes.extend(mark_look_alikes(ctx, account, &mut own).await?);
            }
        }
        notes.extend(failed_note(&own, failed).map(&named));
        notes.extend(part.list.page.notes.iter().cloned().map(named));
        for at in 0..own.len() {
            if let (Some(name), Some(cell)) = (&plan.asked, own.cell_mut(at, ASKED)) {
                *cell = Cell::Text(name.clone());
            }
        }
        rows.append(own);
        if end < count {
            let shown = end.max(first);
            plan.places.push(LookupPosition { shown, ..part.place });
        } else {
            plan.done += count;
        }
    }
    plan.places.extend(missing.iter().filter_map(|(_, place)| place.clone()));

    if plan.fields.is_empty() {
        rows.drop_empty();
    }
    let shown = rows.len();
    let mut document = Document { scalars: Vec::new(), tables: vec![rows] };
    // People are fetched as far as they are shown, and one more.
    let total = match plan.listing.is_people() && !plan.places.is_empty() {
        true => String::new(),
        false => format!(" of {all}"),
    };
    let mut count = format!("{}: {shown}{total}", table.plural);
    if !plan.places.is_empty() {
        let cursor = save_cursor(ctx, KIND, &plan).await?;
        document.scalars.push(("next", Cell::Handle('p', cursor)));
        count.push_str(&format!("; cursor=p{cursor} has more"));
    }
    if *table == SCHEMA {
        count.push_str("; resource daysheet://schema/NAME has one in full");
    }
    // Of an empty list, whose it is tells that nobody was passed over.
    if shown == 0 && plan.merged && !looked_at.is_empty() {
        count.push_str(&format!(" in {}", looked_at.join(" and ")));
    }
    notes.insert(0, note!("{}", ours(count)));
    notes.extend(missing.into_iter().map(missing_line));
    match document.tables.first() {
        Some(rows) if *table == CALENDAR && rows.len() > 1 => {
            notes.push("new events go to the `main` of their account by default".into());
        }
        Some(rows) if *table == ROOM && rows.is_empty() => notes.push(
            "services list only rooms open to you: name another by its address in `people` \
             or `who`"
                .into(),
        ),
        Some(rows) if *table == ACCOUNT && rows.is_empty() && plan.q.is_none() => {
            notes.push(no_account_note(ctx));
        }
        Some(rows) if plan.listing.is_people() && plan.places.is_empty() => {
            notes.extend(unknown_people(ctx, &plan, asked, rows).await);
        }
        _ => {}
    }
    zone_line(&mut document, &ctx.config.zone);
    Ok(Response { document, notes, ..Response::default() })
}

/// Fetches the requested lists; returns also why some are missing.
async fn fetch_lists(
    ctx: &Context,
    plan: &LookupPlan,
) -> Result<(Vec<LookupPart>, Vec<Missing<LookupPosition>>)> {
    let labels = account_labels(ctx).await?;
    let answers = join_all(plan.places.iter().map(|place| {
        let label = labels.of(place.account.as_deref().unwrap_or_default());
        async move {
            let request = fetch_list(ctx, plan, place);
            let answer = ctx.await_account(plan.merged, request).await;
            match answer {
                Ok((account, list)) => {
                    Ok(LookupPart { place: place.clone(), account, label, list })
                }
                Err(error) if plan.merged => {
                    let again = error.is_passing().then(|| place.clone());
                    Err((error.context(&label), again))
                }
                Err(error) => Err((error, None)),
            }
        }
    }))
    .await;
    let (mut parts, mut missing) = (Vec::new(), Vec::new());
    for answer in answers {
        match answer {
            Ok(part) => parts.push(part),
            Err(why) => missing.push(why),
        }
    }
    match missing.first() {
        Some((error, _)) if parts.is_empty() => Err(error.clone()),
        _ => Ok((parts, missing)),
    }
}

/// Fetches the list of one account, or of ours.
async fn fetch_list(
    ctx: &Context,
    plan: &LookupPlan,
    place: &LookupPosition,
) -> Result<(Option<Account>, Listed)> {
    let table = plan.listing.table;
    let listed = |api: Api, items: Vec<Value>| Listed {
        api,
        page: Page { items, ..Page::default() },
        of_events: Vec::new(),
    };
    let Some(account) = &place.account else {
        let items = if *table == ACCOUNT {
            account_objects(ctx).await?
        } else {
            schemas::TABLES.iter().map(|table| crate::describe::summary(table)).collect()
        };
        return Ok((None, listed(Api::Local, items)));
    };
    let account = ctx.accounts.by_id(account).await?;
    if let Some(items) = fetch_objects(ctx, table, &account).await? {
        return Ok((Some(account), listed(Api::Local, items)));
    }
    if *table == ROOM {
        let rooms = list_rooms(ctx, &account).await?;
        return Ok((Some(account), rooms));
    }
    if plan.listing.origin == Origin::Calendars {
        let port = ctx.connect.calendars(&account)?;
        let items = calendar_list(ctx, &account, &*port, true).await?.to_vec();
        let mut list = listed(port.api(), items);
        let mut calendars = known_calendars(&*port, &list.page.items);
        calendars.retain(|one| one.main);
        list.page.names = names_by_id(&calendars);
        return Ok((Some(account), list));
    }
    let mailbox = ctx.connect.mailbox(&account)?;
    let api = mailbox.api();
    let people = plan.people(place);
    let page = mailbox.lookup(table, &people, &project(api, &plan.columns()?)).await?;
    let mut list = Listed { api, page, of_events: Vec::new() };
    if plan.listing.is_people() && list.page.items.len() < people.limit {
        add_people_of_events(ctx, &account, &people, &mut list).await;
    }
    Ok((Some(account), list))
}

/// Converts what crosses the port as plain types to objects of ours.
async fn fetch_objects(
    ctx: &Context,
    table: &Table,
    account: &Account,
) -> Result<Option<Vec<Value>>> {
    Ok(match table.name {
        "rule" => {
            let mailbox = ctx.connect.mailbox(account)?;
            let rules = mailbox.rules().await?;
            let can = mailbox.capabilities();
            Some(rules.iter().map(|rule| settings::rules::object(rule, can)).collect())
        }
        "auto_reply" => {
            let reply = ctx.connect.mailbox(account)?.auto_reply().await?;
            Some(vec![settings::reply::object(&reply)])
        }
        "signature" => Some(account_signatures(ctx, account).await?),
        _ => None,
    })
}

/// Returns the plan: as requested, or from the cursor.
async fn plan_lookup(ctx: &Context, lookup: Lookup) -> Result<LookupPlan> {
    let Some(cursor) = &lookup.cursor else {
        let place = |account: Option<String>| LookupPosition { account, shown: 0 };
        let places = match lookup.kind.origin {
            Origin::Local => vec![place(None)],
            _ => {
                let accounts = named_or_all(ctx, lookup.account.as_deref()).await?;
                accounts.into_iter().map(|one| place(Some(one.id))).collect()
            }
        };
        // The accounts are one list, in which the named one is looked for.
        let q = match &lookup.account {
            Some(name) if *lookup.kind.table == ACCOUNT => {
                Some(account_named(ctx, Some(name)).await?.email)
            }
            _ => lookup.q,
        };
        return Ok(LookupPlan {
            listing: lookup.kind,
            q,
            emails: lookup.emails,
            asked: None,
            fields: lookup.fields,
            limit: lookup.limit.unwrap_or(100) as usize,
            merged: places.len() > 1,
            done: 0,
            met: Vec::new(),
            places,
        });
    };
    let mut plan: LookupPlan = load_cursor(ctx, KIND, cursor).await?;
    let same_account = match &lookup.account {
        Some(name) => {
            let id = Some(account_named(ctx, Some(name)).await?.id);
            !plan.merged && plan.places.iter().all(|place| place.account == id)
        }
        None => true,
    };
    let same = plan.listing == lookup.kind
        && (lookup.q.is_none() || lookup.q == plan.q)
        && (lookup.emails.is_empty() || lookup.emails == plan.emails)
        && same_account;
    if !same {
        return Err(
            another_search(cursor).next("give `kind` and the cursor alone, or look up without it")
        );
    }
    plan.limit = lookup.limit.map_or(plan.limit, |limit| limit as usize);
    if !lookup.fields.is_empty() {
        plan.fields = lookup.fields;
    }
    Ok(plan)
}

impl LookupPlan {
    /// Returns the plan of the people of some accounts, up to `limit` of each.
    fn contacts(q: Option<String>, limit: usize, accounts: &[Account]) -> Option<Self> {
        let (_, listing) = schemas::LISTINGS.iter().find(|(_, one)| one.is_people())?;
        let place =
            |account: &Account| LookupPosition { account: Some(account.id.clone()), shown: 0 };
        Some(Self {
            listing,
            q,
            emails: Vec::new(),
            asked: None,
            fields: Vec::new(),
            limit,
            merged: true,
            done: 0,
            met: Vec::new(),
            places: accounts.iter().map(place).collect(),
        })
    }

    /// Returns the columns to show: by default those up to the core, otherwise those requested
    /// and the one that names a row. Rows of several accounts name their account.
    fn columns(&self) -> Result<Vec<&'static Field>> {
        let table = self.listing.table;
        if self.fields.is_empty() {
            let mut columns = match self.listing.origin {
                Origin::Local => table.up_to(Level::Core),
                _ => columns_of(table, Level::Core, self.merged),
            };
            columns.extend(self.asked.as_ref().and_then(|_| table.field(ASKED)));
            return Ok(columns);
        }
        let named = Columns::Named(self.fields.clone()).of(table)?;
        let always = columns_of(table, Level::Key, self.merged);
        let shown = |field: &&'static Field| {
            field.name == "name"
                || field.name == ASKED && self.asked.is_some()
                || always.contains(field)
                || named.contains(field)
        };
        Ok(table.fields.iter().filter(shown).collect())
    }

    /// Returns the people to request from a mailbox, one more than shown: it shows
    /// whether there are more.
    fn people(&self, place: &LookupPosition) -> People {
        People {
            q: self.q.clone(),
            emails: self.emails.clone(),
            limit: place.shown.saturating_add(self.limit).saturating_add(1),
        }
    }

    /// Returns the text that filters rows here; people are filtered by the provider.
    fn filter(&self) -> Option<&str> {
        self.q.as_deref().filter(|_| !self.listing.is_people())
    }
}

/// Returns true if a text has `q`, in capital or small letters.
fn contains(text: &str, q: &str) -> bool {
    text.to_lowercase().contains(&q.to_lowercase())
}

/// Names the main calendar in rows of calendars as all answers do; `names` has it by its id.
fn call_main(rows: &mut RowTable, names: &HashMap<String, String>) {
    for at in 0..rows.len() {
        let name = match rows.cell(at, "id") {
            Some(Cell::Id(id)) => names.get(id),
            _ => None,
        };
        if let (Some(name), Some(cell)) = (name, rows.cell_mut(at, "name")) {
            *cell = Cell::Text(name.clone());
        }
    }
}

/// Returns true if one of the cells, or the hidden rest of these columns, contains `q`.
fn says(cells: &[Cell], extra: &Extra, columns: &[&str], q: &str) -> bool {
    let has = |text: &str| contains(text, q);
    let mut cuts = extra.cuts.iter();
    cells.iter().any(|cell| matches!(cell, Cell::Text(text) if has(text)))
        || cuts.any(|cut| columns.contains(&cut.column) && has(&cut.whole))
}
