//! Lists: searches and folders, a page at a time.
//!
//! A page that has a next one saves where it starts under a cursor (`p3`),
//! together with what was asked, so that a cursor cannot be used for another
//! search and relative dates keep meaning what they meant on the first page.

use std::collections::HashMap;

use jiff::{Timestamp, ToSpan};
use serde::{Deserialize, Serialize};

use super::{Draft, Flattening, Pipeline, count_line, zone_line};
use crate::accounts::Account;
use crate::encode::Document;
use crate::error::{Error, Kind, Result};
use crate::project::project;
use crate::provider::{Ask, Failed, Lookup, Total};
use crate::query::{self, Clock, Query, Term};
use crate::request::{Columns, Folders, Search};
use crate::row::Cell;
use crate::schemas::{FOLDER, Level, MESSAGE, THREAD};
use crate::store::HandleKind;

/// What a cursor stands for; saved as text in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub(super) enum Cursor {
    /// The next page of a search.
    Search(SearchCursor),
    /// The next page of folders: how many were shown.
    Folders {
        account: String,
        q: Option<String>,
        shown: usize,
    },
    /// The rest of long texts.
    Read(super::read::Rest),
}

/// Where a search goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SearchCursor {
    account: String,
    q: Option<String>,
    folder: Option<String>,
    by_thread: bool,
    level: Option<String>,
    fields: Option<Vec<String>>,
    limit: u32,
    /// When the first page was asked for, in seconds since 1970; only for a
    /// query that means something else tomorrow.
    now: Option<i64>,
    /// How many rows the pages before had.
    shown: usize,
    /// The provider's own words.
    next: String,
}

impl Pipeline {
    pub(super) async fn search(&self, search: Search) -> Result<Draft> {
        let (account, plan) = self.plan(search).await?;
        let table = if plan.by_thread { &THREAD } else { &MESSAGE };
        let columns = plan.columns().of(table)?;
        let mailbox = self.connect.mailbox(&account)?;

        let mut clock = self.clock();
        if let Some(then) = plan.now.and_then(|now| Timestamp::from_second(now).ok()) {
            clock.now = then;
        }
        let mut parts = Vec::new();
        let mut now = None;
        if let Some(q) = &plan.q {
            let query = query::parse(q, &clock)?;
            let tomorrow = Clock {
                now: clock.now + 24.hours(),
                ..clock.clone()
            };
            if query::parse(q, &tomorrow)? != query {
                now = Some(clock.now.as_second());
            }
            parts.push(query);
        }
        let folder = match &plan.folder {
            Some(folder) => match self.handle(HandleKind::Folder, folder).await? {
                Some((owner, id)) if owner == account.id => Some(id),
                Some((owner, _)) => {
                    return Err(Error::argument(format!(
                        "the folder `{folder}` belongs to {owner}, not to {}",
                        account.email
                    ))
                    .next("leave out `account`, or use a folder of that account"));
                }
                None => {
                    parts.push(Query::Term(Term::Folder(query::place(folder))));
                    None
                }
            },
            None => None,
        };
        let ask = Ask {
            query: (!parts.is_empty()).then_some(Query::All(parts)),
            folder,
            projection: project(mailbox.api(), &columns),
            limit: plan.limit as usize,
            cursor: Some(plan.next.clone()).filter(|next| !next.is_empty()),
        };
        let mut page = if plan.by_thread {
            mailbox.threads(&ask).await?
        } else {
            mailbox.messages(&ask).await?
        };

        let mut notes = Vec::new();
        let flattening = Flattening {
            api: mailbox.api(),
            zone: &self.config.zone,
            account: &account.email,
        };
        let mut rows = flattening.rows(table, &columns, &page.items, &page.names, &mut notes);
        let failed = self.stand_ins(&mut rows, &page.failed, &account).await?;

        let shown = rows.len();
        let before = plan.shown;
        let mut document = Document {
            scalars: Vec::new(),
            tables: vec![rows],
        };
        zone_line(&mut document, &self.config.zone);
        if page.next.is_none() && before > 0 {
            // The pages have been counted; the provider only guesses.
            page.total = Some(Total::Exactly(
                u64::try_from(before + shown).unwrap_or(u64::MAX),
            ));
        }
        let mut count = count_line(table.plural, &page, shown, ", newest first");
        if before > 0 {
            count.push_str(&format!(", after {before} on earlier pages"));
        }
        if let Some(next) = &page.next {
            let cursor = self
                .save(&Cursor::Search(SearchCursor {
                    shown: before + shown,
                    next: next.clone(),
                    now,
                    ..plan
                }))
                .await?;
            document.scalars.push(("next", Cell::Handle('p', cursor)));
            count.push_str(&format!("; cursor=p{cursor} has more"));
        }
        notes.insert(0, count);
        notes.extend(failed);
        notes.extend(page.notes);
        if shown == 0 {
            notes.push(match (&ask.query, &ask.folder) {
                (None, None) => "the mailbox is empty".to_owned(),
                _ => "nothing matches: try fewer words, in:anywhere for spam and trash too, or \
                      lookup kind=folders for the names of folders"
                    .to_owned(),
            });
        }
        Ok(Draft {
            document,
            texts: Vec::new(),
            notes,
        })
    }

    /// What to search for: as said, or as the cursor says.
    async fn plan(&self, search: Search) -> Result<(Account, SearchCursor)> {
        let Some(said) = &search.cursor else {
            let account = self.owner(&search).await?;
            let plan = SearchCursor {
                account: account.id.clone(),
                q: search.q,
                folder: search.folder,
                by_thread: search.by_thread.unwrap_or(false),
                level: None,
                fields: None,
                limit: search.limit.unwrap_or(20),
                now: None,
                shown: 0,
                next: String::new(),
            };
            return Ok((account, plan.with(search.columns)));
        };
        let Cursor::Search(mut plan) = self.cursor(said).await? else {
            return Err(other_use(said));
        };
        let account = self.accounts.by_id(&plan.account).await?;
        let same_account = match &search.account {
            Some(name) => self.accounts.find(Some(name)).await?.id == account.id,
            None => true,
        };
        let same = same_account
            && search.q.as_ref().is_none_or(|q| plan.q.as_ref() == Some(q))
            && search
                .folder
                .as_ref()
                .is_none_or(|folder| plan.folder.as_ref() == Some(folder))
            && search.by_thread.is_none_or(|by| by == plan.by_thread);
        if !same {
            return Err(another_search(said));
        }
        plan.limit = search.limit.unwrap_or(plan.limit);
        Ok((account, plan.with(search.columns)))
    }

    /// The account that is meant: the one named, or the folder's, or the only one.
    async fn owner(&self, search: &Search) -> Result<Account> {
        if let (None, Some(folder)) = (&search.account, &search.folder)
            && let Some((owner, _)) = self.handle(HandleKind::Folder, folder).await?
        {
            return self.accounts.by_id(&owner).await;
        }
        self.accounts.find(search.account.as_deref()).await
    }

    pub(super) async fn folders(&self, folders: Folders) -> Result<Draft> {
        let mut from = 0;
        let mut account = folders.account;
        let mut q = folders.q;
        if let Some(said) = &folders.cursor {
            let Cursor::Folders {
                account: saved,
                q: saved_q,
                shown,
            } = self.cursor(said).await?
            else {
                return Err(other_use(said));
            };
            let same_account = match &account {
                Some(name) => self.accounts.find(Some(name)).await?.id == saved,
                None => true,
            };
            if !same_account || (q.is_some() && q != saved_q) {
                return Err(another_search(said));
            }
            account = Some(saved);
            q = saved_q;
            from = shown;
        }
        let account = self.accounts.find(account.as_deref()).await?;
        let mailbox = self.connect.mailbox(&account)?;
        let columns = FOLDER.up_to(Level::Core);
        let mut page = mailbox
            .lookup(&Lookup::Folders, &project(mailbox.api(), &columns))
            .await?;

        let mut notes = Vec::new();
        let flattening = Flattening {
            api: mailbox.api(),
            zone: &self.config.zone,
            account: &account.email,
        };
        let names = HashMap::new();
        if let Some(q) = &q {
            let name = Columns::Named(vec!["name".to_owned()]).of(&FOLDER)?;
            let found = flattening.rows(&FOLDER, &name, &page.items, &names, &mut notes);
            let wanted = q.to_lowercase();
            let mut keep = found.rows().map(
                |row| matches!(row, [_, Cell::Text(name)] if name.to_lowercase().contains(&wanted)),
            );
            page.items.retain(|_| keep.next().unwrap_or(false));
        }
        let all = page.items.len();
        let items: Vec<_> = page
            .items
            .drain(..)
            .skip(from)
            .take(folders.limit)
            .collect();
        let mut rows = flattening.rows(&FOLDER, &columns, &items, &names, &mut notes);
        // Which labels failed has nothing to do with the page: they are told once.
        let failed = if from == 0 {
            page.failed.as_slice()
        } else {
            &[]
        };
        let failed: Vec<_> = failed
            .iter()
            .map(|one| Failed {
                at: usize::MAX,
                ..one.clone()
            })
            .collect();
        let shown = from + rows.len();
        let failed = self.stand_ins(&mut rows, &failed, &account).await?;
        let mut count = format!("folders: {} of {}", rows.len(), all + page.failed.len());
        let mut document = Document {
            scalars: Vec::new(),
            tables: vec![rows],
        };
        if shown < all {
            let cursor = self
                .save(&Cursor::Folders {
                    account: account.id.clone(),
                    q,
                    shown,
                })
                .await?;
            document.scalars.push(("next", Cell::Handle('p', cursor)));
            count.push_str(&format!("; cursor=p{cursor} has more"));
        }
        notes.insert(0, count);
        notes.extend(failed);
        Ok(Draft {
            document,
            texts: Vec::new(),
            notes,
        })
    }

    pub(super) async fn save(&self, cursor: &Cursor) -> Result<u64> {
        let state = serde_json::to_string(cursor)
            .map_err(|_| Error::new(Kind::Internal, "a cursor could not be written"))?;
        self.store.save_cursor(&state).await
    }

    pub(super) async fn cursor(&self, said: &str) -> Result<Cursor> {
        let unknown = || {
            Error::new(
                Kind::NotFound,
                format!("there is no cursor `{}`", crate::text::brief(said)),
            )
            .next("use the `next` of the last page, or start again without cursor")
        };
        let Some((HandleKind::Page, number)) = HandleKind::parse(said) else {
            return Err(unknown());
        };
        let state = self.store.cursor(number).await?.ok_or_else(unknown)?;
        serde_json::from_str(&state).map_err(|_| unknown())
    }
}

/// A cursor given together with what it was not made for.
fn another_search(said: &str) -> Error {
    Error::argument(format!("the cursor {said} belongs to another search"))
        .next("give the cursor alone, or search without it")
}

/// A cursor of one tool given to another.
pub(super) fn other_use(said: &str) -> Error {
    Error::argument(format!("the cursor {said} belongs to another tool"))
        .next("give it to the tool that answered with it")
}

impl SearchCursor {
    fn with(mut self, columns: Option<Columns>) -> Self {
        match columns {
            None => {}
            Some(Columns::Level(level)) => {
                self.fields = None;
                self.level = Some(level.word().to_owned());
            }
            Some(Columns::Named(names)) => {
                self.level = None;
                self.fields = Some(names);
            }
        }
        self
    }

    fn columns(&self) -> Columns {
        if let Some(fields) = &self.fields {
            return Columns::Named(fields.clone());
        }
        let word = self.level.as_deref();
        let level = [Level::Key, Level::More]
            .into_iter()
            .find(|level| word == Some(level.word()));
        Columns::Level(level.unwrap_or(Level::Core))
    }
}
