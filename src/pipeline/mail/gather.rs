//! One account's part of a search: pages until there is enough, and where to
//! go on.
//!
//! A provider's page may have fewer rows than were asked for, and a merge of
//! accounts uses only some of them. [`Gathered`] remembers which page each row
//! came from, so that the next page of ours starts with the first page that was
//! not used up, and leaves out what was shown of it.

use std::collections::{HashMap, HashSet, VecDeque};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::flatten::{self, Context};
use crate::pipeline::answer::cursor::{Mark, Seen};
use crate::provider::{Ask, Mailbox, Page, Total};
use crate::schemas::{Kind, THREAD, Table};
use crate::text::Note;

/// How many pages of one provider are looked through for one page of ours.
const MOST_PAGES: usize = 12;

/// Where one account's part of a search goes on; part of a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::pipeline) struct Place {
    /// The account's id.
    pub(in crate::pipeline) account: String,
    /// The provider's words for the page that goes on; `None` is the first.
    pub(in crate::pipeline) page: Option<String>,
    /// What was shown lately.
    pub(in crate::pipeline) seen: Seen,
}

/// One row to be, or one that could not be fetched.
#[derive(Debug)]
pub(in crate::pipeline) enum Found {
    Item(Value),
    Failed(String, Error),
}

#[derive(Debug)]
struct Row {
    found: Found,
    id: Option<String>,
    /// What rows are sorted by.
    date: Option<Timestamp>,
    /// Which page it came from.
    page: usize,
}

/// What one account had.
#[derive(Debug)]
pub(super) struct Gathered {
    /// Newest first.
    rows: VecDeque<Row>,
    taken: Vec<String>,
    /// Where each page starts.
    pages: Vec<Option<String>>,
    next: Option<String>,
    place: Place,
    /// How many there are in all.
    pub(in crate::pipeline) total: Option<Total>,
    /// Names by id, for the rows.
    pub(in crate::pipeline) names: HashMap<String, String>,
    /// What the provider could not keep of the query.
    pub(in crate::pipeline) notes: Vec<Note>,
    /// How many provider pages were looked through.
    pub(in crate::pipeline) looked: usize,
}

/// Which list of the mailbox is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asking<'a> {
    pub(in crate::pipeline) table: &'static Table,
    pub(in crate::pipeline) context: &'a Context<'a>,
}

/// Asks one mailbox for pages from `place` on.
pub(super) async fn gather(
    mailbox: &dyn Mailbox,
    mut ask: Ask,
    place: Place,
    asking: Asking<'_>,
) -> Result<Gathered> {
    let seen: HashSet<_> = place.seen.digests().into_iter().collect();
    let mut gathered = Gathered {
        rows: VecDeque::new(),
        taken: Vec::new(),
        pages: Vec::new(),
        next: place.page.clone(),
        place,
        total: None,
        names: HashMap::new(),
        notes: Vec::new(),
        looked: 0,
    };
    loop {
        ask.cursor.clone_from(&gathered.next);
        let page = if *asking.table == THREAD {
            mailbox.threads(&ask).await?
        } else {
            mailbox.messages(&ask).await?
        };
        gathered.add(page, ask.cursor.clone(), &seen, asking);
        let enough = gathered.rows.len() >= ask.limit;
        if enough || gathered.next.is_none() || gathered.looked == MOST_PAGES {
            break;
        }
    }
    gathered.sort();
    Ok(gathered)
}

impl Gathered {
    /// Puts the newest first. What has no date, because it could not be
    /// fetched, stands where its neighbour stands; with no neighbour at all it
    /// comes first, for a row that stays behind would hold its page back.
    fn sort(&mut self) {
        let rows = self.rows.make_contiguous();
        let mut near = None;
        for row in rows.iter_mut() {
            row.date = row.date.or(near);
            near = row.date;
        }
        for row in rows.iter_mut().rev() {
            row.date = row.date.or(near).or(Some(Timestamp::MAX));
            near = row.date;
        }
        rows.sort_by_key(|row| std::cmp::Reverse(row.date));
    }

    fn add(&mut self, page: Page, start: Option<String>, seen: &HashSet<Mark>, asking: Asking<'_>) {
        let date = asking.table.fields.iter().find(|field| field.kind == Kind::Time);
        let mut failed = page.failed.into_iter().peekable();
        let mut items = page.items.into_iter();
        let number = self.pages.len();
        let mut rows: Vec<Row> = Vec::new();
        for at in 0.. {
            let gone = failed.next_if(|one| one.at <= at || items.len() == 0);
            let (found, id, date) = if let Some(one) = gone {
                (Found::Failed(one.id.clone(), one.error), Some(one.id), None)
            } else if let Some(item) = items.next() {
                let id = flatten::key(asking.table, &item, asking.context);
                let date = date.and_then(|field| flatten::instant(field, &item, asking.context));
                (Found::Item(item), id, date)
            } else {
                break;
            };
            let shown = |id: &String| seen.contains(&Seen::digest(id));
            let here = |id: &String| {
                let mut known = self.rows.iter().chain(&rows);
                known.any(|row| row.id.as_ref() == Some(id))
            };
            if id.as_ref().is_some_and(|id| shown(id) || here(id)) {
                continue;
            }
            rows.push(Row { found, id, date, page: number });
        }
        self.rows.extend(rows);
        // A page that says it follows itself would be asked for without end.
        self.next = page.next.filter(|next| Some(next) != start.as_ref());
        self.pages.push(start);
        self.looked += 1;
        if number == 0 {
            self.total = page.total;
        }
        self.names.extend(page.names);
        for note in page.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// The date of the next row, if there is one.
    pub(super) fn head(&self) -> Option<Timestamp> {
        self.rows.front()?.date
    }

    /// Takes the next row.
    pub(in crate::pipeline) fn take(&mut self) -> Option<Found> {
        let row = self.rows.pop_front()?;
        self.taken.extend(row.id);
        Some(row.found)
    }

    /// True when what comes after the rows that are here is not known: nothing
    /// older may be shown before it is.
    pub(in crate::pipeline) fn is_open(&self) -> bool {
        self.rows.is_empty() && self.next.is_some()
    }

    /// Where the next page goes on; `None` when all was taken.
    pub(in crate::pipeline) fn rest(&self) -> Option<Place> {
        let unused = self.rows.iter().map(|row| row.page).min();
        let page = match unused.and_then(|page| self.pages.get(page)) {
            Some(start) => start.clone(),
            None => Some(self.next.clone()?),
        };
        Some(Place {
            account: self.place.account.clone(),
            page,
            seen: self.place.seen.with(self.taken.iter().map(String::as_str)),
        })
    }
}
