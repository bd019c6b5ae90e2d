//! One account's part of a search: pages until there is enough, and the position to continue at.
//!
//! A provider's page may have fewer rows than requested, and a merge of accounts uses only some of
//! them. [`GatheredMessages`] records the page of each row, so that the next page of ours starts
//! with the first page that was not used up, and leaves out its rows that were shown.

use std::collections::{HashMap, HashSet, VecDeque};

use daysheet_core::error::{Error, Result};
use daysheet_core::flatten::{self, RowContext};
use daysheet_core::ids::{AccountId, MessageId};
use daysheet_core::provider::{ListPage, ListRequest, Mailbox, SearchTotal};
use daysheet_core::query::ListedConditions;
use daysheet_core::schemas::{CellKind, THREAD, Table};
use daysheet_core::text::Note;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answered::{self, AnswerStates};
use super::listed;
use crate::pipeline::answer::cursor::{IdDigest, SeenIds};

/// The maximum number of pages of one provider for one page of ours.
const MAX_PAGES: usize = 12;

/// The position at which one account's part of a search continues; part of a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PagePosition {
    /// The account's id.
    pub(crate) account: AccountId,
    /// The provider's cursor of the page to continue with; `None` for the first.
    pub(crate) page: Option<String>,
    /// The rows shown recently.
    pub(crate) seen: SeenIds,
}

/// A future row, or an item that could not be fetched.
#[derive(Debug)]
pub(super) enum ListedRow {
    Item(Value),
    Failed(String, Error),
}

#[derive(Debug)]
struct MessageRow {
    found: ListedRow,
    id: Option<String>,
    /// The date that rows are sorted by.
    date: Option<Timestamp>,
    /// The number of the page it came from.
    page: usize,
}

/// The rows of one account.
#[derive(Debug)]
pub(super) struct GatheredMessages {
    /// In the order that was requested.
    rows: VecDeque<MessageRow>,
    taken: Vec<String>,
    /// The cursors at which the pages start; `None` for the first page.
    pages: Vec<Option<String>>,
    next: Option<String>,
    place: PagePosition,
    /// The total number of results.
    pub(super) total: Option<SearchTotal>,
    /// Names by id, for the rows.
    pub(super) names: HashMap<String, String>,
    /// Notes on parts of the query that the provider could not evaluate.
    pub(super) notes: Vec<Note>,
    /// The messages in spam and trash that match and were left out; `None` if unknown.
    hidden: Option<HashSet<MessageId>>,
    /// The known answers.
    pub(super) answers: AnswerStates,
    /// The number of provider pages fetched.
    pub(super) looked: usize,
}

/// The list of the mailbox to query.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListOptions<'a> {
    pub(super) table: &'static Table,
    pub(super) context: &'a RowContext<'a>,
    /// The conditions to check on the rows.
    pub(super) listed: ListedConditions,
    /// The number of rows to fetch before it stops.
    pub(super) enough: usize,
}

/// Fetches pages of one mailbox from `place` on.
pub(super) async fn fetch_pages(
    mailbox: &dyn Mailbox,
    mut ask: ListRequest,
    place: PagePosition,
    asking: ListOptions<'_>,
) -> Result<GatheredMessages> {
    let seen: HashSet<_> = place.seen.digests().into_iter().collect();
    let mut fetched = GatheredMessages {
        rows: VecDeque::new(),
        taken: Vec::new(),
        pages: Vec::new(),
        next: place.page.clone(),
        place,
        total: None,
        names: HashMap::new(),
        notes: Vec::new(),
        hidden: Some(HashSet::new()),
        answers: AnswerStates::new(),
        looked: 0,
    };
    loop {
        ask.cursor.clone_from(&fetched.next);
        let mut page = if *asking.table == THREAD {
            mailbox.threads(&ask).await?
        } else {
            mailbox.messages(&ask).await?
        };
        let ListOptions { table, context, listed, .. } = asking;
        // The provider's total ignores the conditions that are checked here.
        if listed.any() {
            page.total = None;
        }
        listed::keep(listed, &mut page.items, context);
        if let Some(wanted) = listed.answered {
            let answers = answered::keep(mailbox, table, &mut page.items, context, wanted).await?;
            fetched.answers.extend(answers);
        }
        fetched.add(page, ask.cursor.clone(), &seen, asking);
        let enough = fetched.rows.len() >= asking.enough;
        if enough || fetched.next.is_none() || fetched.looked == MAX_PAGES {
            break;
        }
    }
    fetched.sort(ask.oldest);
    Ok(fetched)
}

impl GatheredMessages {
    /// Returns the objects of the rows.
    pub(super) fn items(&self) -> impl Iterator<Item = &Value> {
        self.rows.iter().filter_map(|row| match &row.found {
            ListedRow::Item(item) => Some(item),
            ListedRow::Failed(..) => None,
        })
    }

    /// Sorts rows, the newest or the oldest first. A row without a date, because it could not be
    /// fetched, keeps its place beside its neighbour; without a neighbour it comes
    /// first, because a row left behind would hold back its page.
    fn sort(&mut self, oldest: bool) {
        let rows = self.rows.make_contiguous();
        let first = if oldest { Timestamp::MIN } else { Timestamp::MAX };
        let mut near = None;
        for row in rows.iter_mut() {
            row.date = row.date.or(near);
            near = row.date;
        }
        for row in rows.iter_mut().rev() {
            row.date = row.date.or(near).or(Some(first));
            near = row.date;
        }
        if oldest {
            rows.sort_by_key(|row| row.date);
        } else {
            rows.sort_by_key(|row| std::cmp::Reverse(row.date));
        }
    }

    fn add(
        &mut self,
        page: ListPage,
        start: Option<String>,
        seen: &HashSet<IdDigest>,
        asking: ListOptions<'_>,
    ) {
        let date = asking.table.fields.iter().find(|field| field.kind == CellKind::Time);
        let mut failed = page.failed.into_iter().peekable();
        let mut items = page.items.into_iter();
        let number = self.pages.len();
        let mut rows: Vec<MessageRow> = Vec::new();
        for at in 0.. {
            // A failed item keeps its position on the page.
            let failure = failed.next_if(|one| one.at <= at || items.len() == 0);
            let (found, id, date) = if let Some(one) = failure {
                (ListedRow::Failed(one.id.clone(), one.error), Some(one.id), None)
            } else if let Some(item) = items.next() {
                let id = flatten::key(asking.table, &item, asking.context);
                let date = date.and_then(|field| flatten::instant(field, &item, asking.context));
                (ListedRow::Item(item), id, date)
            } else {
                break;
            };
            let shown = |id: &String| seen.contains(&SeenIds::digest(id));
            let here = |id: &String| {
                let mut known = self.rows.iter().chain(&rows);
                known.any(|row| row.id.as_ref() == Some(id))
            };
            // Shown on an earlier page, or listed twice because new mail moved the pages.
            if id.as_ref().is_some_and(|id| shown(id) || here(id)) {
                continue;
            }
            rows.push(MessageRow { found, id, date, page: number });
        }
        self.rows.extend(rows);
        // A page that names itself as the next would be fetched without end.
        self.next = page.next.filter(|next| Some(next) != start.as_ref());
        self.pages.push(start);
        self.looked += 1;
        if number == 0 {
            self.total = page.total;
        }
        self.names.extend(page.names);
        // If one page does not report them, their number is unknown.
        self.hidden = self.hidden.take().zip(page.hidden).map(|(mut all, more)| {
            all.extend(more);
            all
        });
        for note in page.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// Returns true if these are all rows of the account, and no earlier page had any.
    pub(super) fn is_whole(&self) -> bool {
        self.place.page.is_none() && self.next.is_none()
    }

    /// Returns the number of messages in spam and trash that were left out, if all were
    /// listed.
    pub(super) fn hidden(&self) -> Option<u64> {
        let hidden = self.hidden.as_ref().filter(|_| self.is_whole())?;
        u64::try_from(hidden.len()).ok()
    }

    /// Returns the date of the next row, if there is one.
    pub(super) fn head(&self) -> Option<Timestamp> {
        self.rows.front()?.date
    }

    /// Takes the next row.
    pub(super) fn take_next(&mut self) -> Option<ListedRow> {
        let row = self.rows.pop_front()?;
        self.taken.extend(row.id);
        Some(row.found)
    }

    /// Returns true if the rows after those fetched are unknown: no later row may be
    /// shown before they are fetched.
    pub(super) fn is_open(&self) -> bool {
        self.rows.is_empty() && self.next.is_some()
    }

    /// Returns the position of the next page; `None` if all rows were taken.
    pub(super) fn rest(&self) -> Option<PagePosition> {
        let unused = self.rows.iter().map(|row| row.page).min();
        let page = match unused.and_then(|page| self.pages.get(page)) {
            Some(start) => start.clone(),
            None => Some(self.next.clone()?),
        };
        Some(PagePosition {
            account: self.place.account.clone(),
            page,
            seen: self.place.seen.with(self.taken.iter().map(String::as_str)),
        })
    }
}
