//! Lookups: lists that are short enough to be fetched whole and shown in pages.
//!
//! Folders, categories, contacts, aliases and settings of all accounts, one
//! account after the other, and the schemas of our own. A list is fetched anew
//! for every page; what a cursor keeps is the question and how far one got.

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};

use super::cursor::{Cursor, another_search, other_use};
use super::{Draft, Flattening, Pipeline, columns_of};
use crate::accounts::Account;
use crate::encode::Document;
use crate::error::{Error, Result};
use crate::flatten::Room;
use crate::project::project;
use crate::provider::{self, Page, People};
use crate::request::{Listing, Lookup};
use crate::row::{Cell, RowTable};
use crate::schemas::{self, ALIAS, Api, CATEGORY, CONTACT, FOLDER, Level, SCHEMA, SETTING, Table};

/// What was looked up and how far; saved under a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Plan {
    kind: Listing,
    q: Option<String>,
    emails: Vec<String>,
    account: Option<String>,
    limit: usize,
    shown: usize,
}

/// The list of one account, or of ours.
struct Part {
    account: Option<Account>,
    label: String,
    api: Api,
    page: Page,
}

impl Pipeline {
    pub(super) async fn lookup(&self, lookup: Lookup) -> Result<Draft> {
        let mut plan = self.plan_lookup(lookup).await?;
        let table = plan.table();
        let (parts, missing) = self.lists(&plan).await?;
        let merged = parts.len() + missing.len() > 1;
        let columns = match plan.kind {
            Listing::Schemas => table.up_to(Level::Core),
            _ => columns_of(table, Level::Core, merged),
        };

        let mut notes = Vec::new();
        let mut rows = RowTable::new(table, columns.clone());
        let mut all = 0;
        let mut room = plan.limit;
        for part in &parts {
            let flattening = Flattening {
                api: part.api,
                zone: &self.config.zone,
                account: &part.label,
                room: Room::List,
            };
            let items = &part.page.items;
            let names = &part.page.names;
            let mut own = flattening.rows(table, &columns, items, names, &mut notes);
            if let Some(q) = plan.filter() {
                own.retain(|row| mentions(row, q));
            }
            let failed = match plan.filter() {
                Some(_) => &[],
                None => part.page.failed.as_slice(),
            };
            for one in failed {
                own.insert_unread(usize::MAX, &one.id);
            }
            // What of this account's rows stands on this page of ours.
            let first = plan.shown.saturating_sub(all).min(own.len());
            all += own.len();
            let mut at = 0;
            own.retain(|_| {
                at += 1;
                at > first && at <= first + room
            });
            room -= own.len();
            if let Some(account) = &part.account {
                notes.extend(self.stand_ins(&mut own, failed, account).await?);
            }
            notes.extend(part.page.notes.iter().map(|note| match merged {
                true => format!("{}: {note}", part.label),
                false => note.clone(),
            }));
            rows.append(own);
        }

        let shown = rows.len();
        plan.shown += shown;
        let mut document = Document {
            scalars: Vec::new(),
            tables: vec![rows],
        };
        let mut count = format!("{}: {shown} of {all}", table.plural);
        if plan.shown < all && shown > 0 {
            let cursor = self.save(&Cursor::Lookup(plan.clone())).await?;
            document.scalars.push(("next", Cell::Handle('p', cursor)));
            count.push_str(&format!("; cursor=p{cursor} has more"));
        }
        if plan.kind == Listing::Schemas {
            count.push_str("; read the resource daysheet://schema/NAME for one in full");
        }
        notes.insert(0, count);
        notes.extend(
            missing
                .into_iter()
                .map(|error| format!("left out: {error}")),
        );
        if all == 0 && plan.kind == Listing::Contacts {
            notes.push("nobody found: try part of the name or of the address".to_owned());
        }
        Ok(Draft {
            document,
            texts: Vec::new(),
            notes,
        })
    }

    /// The lists that are meant, and why some are missing.
    async fn lists(&self, plan: &Plan) -> Result<(Vec<Part>, Vec<Error>)> {
        let Some(what) = plan.what() else {
            let page = Page {
                items: schemas::TABLES
                    .iter()
                    .map(|table| crate::describe::summary(table))
                    .collect(),
                ..Page::default()
            };
            let ours = Part {
                account: None,
                label: String::new(),
                api: Api::Local,
                page,
            };
            return Ok((vec![ours], Vec::new()));
        };
        let accounts = self.named_or_all(plan.account.as_deref()).await?;
        let several = accounts.len() > 1;
        let labels = self.labels().await?;
        let answers = join_all(accounts.into_iter().map(|account| {
            let label = labels.of(&account.id);
            let what = &what;
            async move {
                let asked = async {
                    let mailbox = self.connect.mailbox(&account)?;
                    // All columns: which are shown is not known before it is
                    // known how many accounts answer.
                    let columns = columns_of(plan.table(), Level::Core, true);
                    let projection = project(mailbox.api(), &columns);
                    let page = mailbox.lookup(what, &projection).await?;
                    Ok((mailbox.api(), page))
                };
                let answer = match several {
                    true => self.patiently(asked).await,
                    false => asked.await,
                };
                match answer {
                    Ok((api, page)) => Ok(Part {
                        account: Some(account),
                        label,
                        api,
                        page,
                    }),
                    Err(error) if several => Err(error.context(&label)),
                    Err(error) => Err(error),
                }
            }
        }))
        .await;
        let (mut parts, mut missing) = (Vec::new(), Vec::new());
        for answer in answers {
            match answer {
                Ok(part) => parts.push(part),
                Err(error) => missing.push(error),
            }
        }
        match missing.first() {
            Some(error) if parts.is_empty() => Err(error.clone()),
            _ => Ok((parts, missing)),
        }
    }

    /// What to look up: as said, or as the cursor says.
    async fn plan_lookup(&self, lookup: Lookup) -> Result<Plan> {
        let account = match &lookup.account {
            Some(name) => Some(self.accounts.find(Some(name)).await?.id),
            None => None,
        };
        let Some(said) = &lookup.cursor else {
            return Ok(Plan {
                kind: lookup.kind,
                q: lookup.q,
                emails: lookup.emails,
                account,
                limit: lookup.limit.unwrap_or(100),
                shown: 0,
            });
        };
        let Cursor::Lookup(mut plan) = self.cursor(said).await? else {
            return Err(other_use(said));
        };
        let same = plan.kind == lookup.kind
            && (lookup.q.is_none() || lookup.q == plan.q)
            && (lookup.emails.is_empty() || lookup.emails == plan.emails)
            && (account.is_none() || account == plan.account);
        if !same {
            return Err(another_search(said));
        }
        plan.limit = lookup.limit.unwrap_or(plan.limit);
        Ok(plan)
    }
}

impl Plan {
    fn table(&self) -> &'static Table {
        match self.kind {
            Listing::Folders => &FOLDER,
            Listing::Categories => &CATEGORY,
            Listing::Contacts => &CONTACT,
            Listing::Aliases => &ALIAS,
            Listing::Settings => &SETTING,
            Listing::Schemas => &SCHEMA,
        }
    }

    /// What to ask a mailbox for; nothing for what is ours.
    fn what(&self) -> Option<provider::Lookup> {
        Some(match self.kind {
            Listing::Folders => provider::Lookup::Folders,
            Listing::Categories => provider::Lookup::Categories,
            Listing::Contacts => provider::Lookup::Contacts(People {
                q: self.q.clone(),
                emails: self.emails.clone(),
                limit: self.shown + self.limit,
            }),
            Listing::Aliases => provider::Lookup::Aliases,
            Listing::Settings => provider::Lookup::Settings,
            Listing::Schemas => return None,
        })
    }

    /// The text that rows are chosen by here; people are chosen by the provider.
    fn filter(&self) -> Option<&str> {
        match self.kind {
            Listing::Contacts => None,
            _ => self.q.as_deref(),
        }
    }
}

/// True when one of the first two cells says `q`: a handle and a name, or a name.
fn mentions(row: &[Cell], q: &str) -> bool {
    let wanted = q.to_lowercase();
    row.iter()
        .take(2)
        .any(|cell| matches!(cell, Cell::Text(text) if text.to_lowercase().contains(&wanted)))
}
