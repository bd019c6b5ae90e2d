//! The people queried, and their known times.

use daysheet_core::choice::{WordChoice, words};
use daysheet_core::event::ShowAs;
use daysheet_core::flatten::{self, RowContext};
use daysheet_core::provider::calendar::{BusySchedule, WorkingHours};
use daysheet_core::schemas::{BUSY, BUSY_TITLE, Service, TableColumn, wire};
use daysheet_core::text::quoted;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::hours::{TimeStretch, merge, without};
use crate::pipeline::titles::short;

words! {
    /// The kinds of busy time, the weightiest first, by their words in the column `show`.
    #[derive(PartialOrd, Ord)]
    pub(super) enum BusyKind {
        // Before `Oof`: someone who is out of office and has an event is not free for another.
        Busy = "busy",
        Oof = "oof",
        Tentative = "tentative",
        Elsewhere = "elsewhere",
    }
}

impl BusyKind {
    /// Returns the kind of an event that takes time.
    pub(super) fn of(show: ShowAs) -> Self {
        match show {
            ShowAs::Tentative => Self::Tentative,
            ShowAs::Oof => Self::Oof,
            ShowAs::Elsewhere => Self::Elsewhere,
            ShowAs::Busy | ShowAs::Focus | ShowAs::Free => Self::Busy,
        }
    }

    /// Reads the words of a column `show`.
    pub(super) fn weightiest(words: &[String]) -> Self {
        let mut known = Self::TABLE.iter();
        let found = known.find(|(word, _)| words.iter().any(|one| one == word));
        found.map_or(Self::Busy, |(_, show)| *show)
    }
}

/// A time that is taken.
#[derive(Debug, Clone)]
pub(super) struct BusyTime {
    pub(super) time: TimeStretch,
    pub(super) show: BusyKind,
    /// The event that takes it, in words; empty if it may not be seen.
    pub(super) event: String,
}

/// One person or room.
#[derive(Debug, Clone)]
pub(super) struct BusyPerson {
    /// The address queried.
    pub(super) address: String,
    /// The times at which they are not free, in order and without overlaps; `None` if unknown.
    pub(super) busy: Option<Vec<(TimeStretch, BusyKind)>>,
    /// The tentative events, and those elsewhere, that may be seen.
    named: Vec<BusyTime>,
    /// Their working hours, if known.
    pub(super) hours: Option<WorkingHours>,
}

impl BusyPerson {
    /// Creates a person whose times are unknown.
    pub(super) fn unknown(address: &str) -> Self {
        Self { address: address.to_owned(), busy: None, named: Vec::new(), hours: None }
    }

    /// Creates a person from a service's schedule.
    pub(super) fn new(address: &str, schedule: BusySchedule, api: Service) -> Self {
        let context = RowContext::bare(api);
        let read = |object: &Value| {
            let time = |name: &str| flatten::instant(BUSY.field(name)?, object, &context);
            let texts = |field: &'static TableColumn| flatten::texts(field, object, &context);
            let title = texts(&BUSY_TITLE).into_iter().find(|title| !title.is_empty());
            Some(BusyTime {
                time: TimeStretch { from: time("start")?, to: time("end")? },
                show: BusyKind::weightiest(&texts(BUSY.field("show")?)),
                event: title.map_or_else(String::new, |title| quoted(&short(&title)).to_string()),
            })
        };
        let mut person =
            Self { busy: Some(Vec::new()), hours: schedule.hours, ..Self::unknown(address) };
        person.add(schedule.busy.iter().filter_map(read).collect());
        person
    }

    /// Adds further busy times; a person whose times are unknown stays unknown.
    pub(super) fn add(&mut self, more: Vec<BusyTime>) {
        if let (Some(busy), false) = (&mut self.busy, more.is_empty()) {
            busy.extend(more.iter().map(|one| (one.time, one.show)));
            *busy = merge_busy(busy);
            let is_seen = |one: &BusyTime| {
                matches!(one.show, BusyKind::Tentative | BusyKind::Elsewhere)
                    && !one.event.is_empty()
            };
            self.named.extend(more.into_iter().filter(is_seen));
        }
    }

    /// Returns the visible events within a time that are tentative or elsewhere, as `show` says.
    pub(super) fn named_in(
        &self,
        time: TimeStretch,
        show: BusyKind,
    ) -> impl Iterator<Item = &BusyTime> {
        self.named.iter().filter(move |one| one.show == show && one.time.overlaps(time))
    }

    /// Adds the busy times of another account of the same person, who becomes `me`.
    fn join(&mut self, other: Self) {
        self.address = "me".to_owned();
        if let Some(busy) = &mut self.busy {
            busy.extend(other.busy.into_iter().flatten());
            *busy = merge_busy(busy);
        }
        self.named.extend(other.named);
    }

    /// Returns their busy times as objects of ours.
    pub(super) fn objects(&self) -> Vec<Value> {
        let busy = self.busy.iter().flatten();
        busy.map(|(time, show)| {
            stretch(*time, &[("who", self.address.as_str().into()), ("show", show.word().into())])
        })
        .collect()
    }
}

/// Merges the accounts that are `own` into one person, as far as their times are known. Returns the
/// number of people that the first `requested` become.
pub(super) fn merge_own(
    people: &mut Vec<BusyPerson>,
    requested: usize,
    own: impl Fn(&str) -> bool,
) -> usize {
    let mut left = 0;
    let mut me: Option<usize> = None;
    let mut merged: Vec<BusyPerson> = Vec::new();
    for (at, person) in people.drain(..).enumerate() {
        // An account whose times are unknown stays separate, so that it is reported as unknown.
        let is_own = person.busy.is_some() && own(&person.address);
        match me.filter(|_| is_own).and_then(|me| merged.get_mut(me)) {
            Some(me) => me.join(person),
            None => {
                me = me.or(is_own.then_some(merged.len()));
                merged.push(person);
                left += usize::from(at < requested);
            }
        }
    }
    *people = merged;
    left
}

/// Returns a range of time as an object of ours.
pub(super) fn stretch(time: TimeStretch, more: &[(&str, Value)]) -> Value {
    let (_, key, _) = wire::WHEN;
    let at = |time: Timestamp| json!({key: time.to_string()});
    let times = [("start", at(time.from)), ("end", at(time.to))];
    let members = times.into_iter().chain(more.iter().cloned());
    Value::Object(members.map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Sorts times and removes overlaps: adjacent ones are joined, and of two that overlap
/// the weightier counts.
fn merge_busy(found: &[(TimeStretch, BusyKind)]) -> Vec<(TimeStretch, BusyKind)> {
    let mut all: Vec<(TimeStretch, BusyKind)> = Vec::new();
    let mut taken: Vec<TimeStretch> = Vec::new();
    // The table begins with the weightiest kind, whose times are removed from the others.
    for (_, show) in BusyKind::TABLE {
        let these = found.iter().filter(|(_, one)| one == show);
        let these = merge(these.map(|(time, _)| *time).collect());
        let left = without(&these, &taken);
        all.extend(left.into_iter().map(|time| (time, *show)));
        taken.extend(these);
        taken = merge(taken);
    }
    all.sort_unstable();
    all
}
