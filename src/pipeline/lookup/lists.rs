//! The lists of a lookup: fetched from each account, or ours.

use daysheet_core::error::Result;
use daysheet_core::project::project;
use daysheet_core::provider::{Account, ListPage};
use daysheet_core::schemas::{self, ACCOUNT, ListOrigin, ROOM, Service, Table};
use futures_util::future::join_all;
use serde_json::Value;

use super::people::{add_people_of_events, list_rooms};
use super::plan::{AccountList, LookupPlan, LookupPosition};
use crate::pipeline::access::accounts::account_labels;
use crate::pipeline::access::sign_in::account_objects;
use crate::pipeline::calendar::search::calendars::{calendar_list, known_calendars, names_by_id};
use crate::pipeline::context::Context;
use crate::pipeline::mail::draft::signatures::account_signatures;
use crate::pipeline::rows::MissingAccount;
use crate::pipeline::settings;

/// The list of one account, or of ours.
pub(super) struct LookupPart {
    pub(super) place: LookupPosition,
    pub(super) account: Option<Account>,
    pub(super) label: String,
    pub(super) list: AccountList,
}

/// Fetches the requested lists. Returns the parts, and the errors of missing ones.
pub(super) async fn fetch_lists(
    ctx: &Context,
    plan: &LookupPlan,
) -> Result<(Vec<LookupPart>, Vec<MissingAccount<LookupPosition>>)> {
    let labels = account_labels(ctx).await?;
    let answers = join_all(plan.places.iter().map(|place| {
        let label = place.account.as_ref().map(|id| labels.label_of(id)).unwrap_or_default();
        async move {
            let request = fetch_list(ctx, plan, place);
            let answer = ctx.await_account(plan.merged, request).await;
            match answer {
                Ok((account, list)) => {
                    Ok(LookupPart { place: place.clone(), account, label, list })
                }
                Err(error) if plan.merged => {
                    // Only a temporary failure is worth a retry with the next page.
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
) -> Result<(Option<Account>, AccountList)> {
    let table = plan.listing.table;
    let listed = |api: Service, items: Vec<Value>| AccountList {
        api,
        page: ListPage { items, ..ListPage::default() },
        of_events: Vec::new(),
    };
    let Some(account) = &place.account else {
        let items = if *table == ACCOUNT {
            account_objects(ctx).await?
        } else {
            schemas::TABLES.iter().map(|table| daysheet_core::describe::summary(table)).collect()
        };
        return Ok((None, listed(Service::Local, items)));
    };
    let account = ctx.accounts.by_id(account).await?;
    if let Some(items) = fetch_objects(ctx, table, &account).await? {
        return Ok((Some(account), listed(Service::Local, items)));
    }
    if *table == ROOM {
        let rooms = list_rooms(ctx, &account).await?;
        return Ok((Some(account), rooms));
    }
    if plan.listing.origin == ListOrigin::Calendars {
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
    let mut list = AccountList { api, page, of_events: Vec::new() };
    // The service's own list comes first, and events only fill it up.
    if plan.listing.is_people() && list.page.items.len() < people.limit {
        add_people_of_events(ctx, &account, &people, &mut list).await;
    }
    Ok((Some(account), list))
}

/// Converts the port's plain types to objects of ours; `None` for other tables.
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
