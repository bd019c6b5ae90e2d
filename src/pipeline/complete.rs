//! Completion: values for an argument of a prompt or a variable of a resource, while a person
//! types it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use daysheet_core::error::Result;
use daysheet_core::flatten::RowContext;
use daysheet_core::ids::AccountId;
use daysheet_core::project::project;
use daysheet_core::provider::{Account, PeopleQuery};
use daysheet_core::row::RowCell;
use daysheet_core::schemas::{CATEGORY, FOLDER, MESSAGE, Table};
use futures_util::future::join_all;

use crate::pipeline::access::accounts::named_or_all;
use crate::pipeline::context::Context;
use crate::pipeline::rows::rows_of;
use crate::prompts::CompletionValues;
use crate::store::HandleKind;

/// The maximum number of values in one answer, as MCP has it.
const MAX_VALUES: usize = 100;
/// Lifetime of the cached folder names of an account.
const NAMES_LAST: Duration = Duration::from_mins(1);
/// Words for days that every date takes.
const DAYS: &[&str] = &[
    "today", "tomorrow", "yesterday", "monday", "tuesday", "wednesday", "thursday", "friday",
    "saturday", "sunday",
];

/// The names of folders, labels and categories of accounts, kept for a while.
#[derive(Debug, Default)]
pub(super) struct FolderNames {
    /// The names and the time at which they were read, by the ids of their accounts.
    by_account: Mutex<HashMap<AccountId, (Instant, Vec<String>)>>,
}

impl FolderNames {
    /// Returns the names of an account, if they were read lately.
    fn names_of(&self, account: &AccountId) -> Option<Vec<String>> {
        let by_account = self.by_account.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, names) = by_account.get(account)?;
        (since.elapsed() < NAMES_LAST).then(|| names.clone())
    }

    /// Keeps the names of an account.
    fn keep(&self, account: &AccountId, names: Vec<String>) {
        let mut by_account = self.by_account.lock().unwrap_or_else(PoisonError::into_inner);
        by_account.insert(account.to_owned(), (Instant::now(), names));
    }
}

/// Returns the values that `typed` can become, and their total number. Values that begin with
/// `typed` come first. An account that does not respond is left out.
///
/// # Errors
/// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store), and the errors of an unknown
/// `account`.
pub(super) async fn complete_argument(
    ctx: &Context,
    known: &FolderNames,
    values: CompletionValues,
    typed: &str,
    account: Option<&str>,
) -> Result<(Vec<String>, usize)> {
    // Of several columns, the last is completed.
    let (before, typed) = match (values, typed.rsplit_once(',')) {
        (CompletionValues::Columns, Some((before, last))) => (format!("{before},"), last),
        _ => (String::new(), typed),
    };
    let all = match values {
        CompletionValues::Days => DAYS.iter().map(|day| (*day).to_owned()).collect(),
        CompletionValues::Columns => MESSAGE.fields.iter().map(|one| one.name.to_owned()).collect(),
        CompletionValues::Accounts => {
            let mut labels: Vec<String> = ctx.accounts.labels().await?.into_values().collect();
            labels.sort_unstable();
            labels
        }
        CompletionValues::Outputs => ctx.states.outputs.recent(),
        CompletionValues::Attachments => {
            let kind = HandleKind::Attachment;
            let numbers = ctx.store.latest_handles(kind, MAX_VALUES).await?;
            numbers.into_iter().map(|number| kind.handle(number)).collect()
        }
        CompletionValues::Folders => folder_names(ctx, known, account).await?,
    };
    let typed = typed.trim().to_lowercase();
    let (mut found, mut within) = (Vec::new(), Vec::new());
    for value in all {
        let lower = value.to_lowercase();
        if lower.starts_with(&typed) {
            found.push(format!("{before}{value}"));
        } else if lower.contains(&typed) {
            within.push(format!("{before}{value}"));
        }
    }
    found.append(&mut within);
    let count = found.len();
    found.truncate(MAX_VALUES);
    Ok((found, count))
}

/// Returns the names of the folders, labels and categories of an account or of all, each
/// once.
async fn folder_names(
    ctx: &Context,
    known: &FolderNames,
    account: Option<&str>,
) -> Result<Vec<String>> {
    let accounts = named_or_all(ctx, account).await?;
    let lists = accounts.iter().map(|one| ctx.await_account(true, names_of(ctx, known, one)));
    let lists = join_all(lists).await;
    let mut names: Vec<String> = lists.into_iter().flatten().flatten().collect();
    names.sort_by_key(|name| name.to_lowercase());
    names.dedup();
    Ok(names)
}

/// Returns the names of the folders, labels and categories of an account, read lately or now.
async fn names_of(ctx: &Context, known: &FolderNames, account: &Account) -> Result<Vec<String>> {
    if let Some(names) = known.names_of(&account.id) {
        return Ok(names);
    }
    let (folders, labels) = futures_util::future::join(
        names_in(ctx, account, &FOLDER),
        names_in(ctx, account, &CATEGORY),
    )
    .await;
    let mut names = folders?;
    // A shared mailbox refuses to list its categories.
    names.extend(labels.unwrap_or_default());
    known.keep(&account.id, names.clone());
    Ok(names)
}

/// Returns the names in one list of an account.
async fn names_in(ctx: &Context, account: &Account, table: &'static Table) -> Result<Vec<String>> {
    let mailbox = ctx.connect.mailbox(account)?;
    let api = mailbox.api();
    let columns: Vec<_> = table.field("name").into_iter().collect();
    let page = mailbox.lookup(table, &PeopleQuery::default(), &project(api, &columns)).await?;
    let context =
        RowContext { names: &page.names, ..ctx.context_for(api, account.email.as_str(), account) };
    let rows = rows_of(&context, table, &columns, &page.items, &mut Vec::new());
    let name = |row: &[RowCell]| match row {
        [RowCell::Text(name), ..] => Some(name.clone()),
        _ => None,
    };
    Ok(rows.rows().filter_map(name).collect())
}
