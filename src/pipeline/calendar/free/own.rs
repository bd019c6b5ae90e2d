//! The events in an account owner's other calendars.
//!
//! Services report only a person's main calendar to others. A dentist's appointment in
//! a second calendar takes as much time.

use daysheet_core::error::{Error, Result};
use daysheet_core::ids::CalendarId;
use daysheet_core::project::project;
use daysheet_core::provider::Account;
use daysheet_core::provider::calendar::{Calendars, EventListRequest};
use daysheet_core::schemas::{EVENT, TableColumn};
use daysheet_core::text::{Note, note, quoted};
use futures_util::future::join_all;
use jiff::tz::TimeZone;

use super::super::clashes::TimeClaim;
use super::super::search::calendars::{KnownCalendar, calendar_list, known_calendars};
use super::super::search::range::TimeRange;
use super::hours::TimeStretch;
use super::people::{BusyKind, BusyTime};
use crate::pipeline::context::Context;
use crate::pipeline::titles::short;

/// Events of one calendar on one page.
const PAGE: usize = 500;
/// The maximum number of pages.
const PAGES: usize = 12;

/// Returns, for each address, the busy times in the further calendars of the account that it owns,
/// with notes. A calendar that could not be read is a note.
pub(super) async fn further_calendars(
    ctx: &Context,
    who: &[String],
    accounts: &[Account],
    range: TimeRange,
    zone: &TimeZone,
) -> Vec<(Vec<BusyTime>, Vec<Note>)> {
    let several = accounts.len() > 1;
    let request = who.iter().map(|address| async {
        let owns = |account: &&Account| account.email.is(address.as_str());
        let Some(account) = accounts.iter().find(owns) else {
            return (Vec::new(), Vec::new());
        };
        let mut long = Vec::new();
        let request = async {
            let port = ctx.connect.calendars(account)?;
            let list = calendar_list(ctx, account, &*port, false).await?;
            let mut all = known_calendars(&*port, &list);
            // The schedule already covers the main calendar, and others' calendars are not the
            // owner's time.
            all.retain(|one| !one.main && one.of_others(&account.email).is_none());
            Ok(look(&*port, all, range, zone, &mut long).await)
        };
        let found = ctx.await_counted(several.then_some("other calendars"), request).await;
        let (found, failed) = found.unwrap_or_else(|error| (Vec::new(), vec![error]));
        let failed = failed.into_iter().map(|error| {
            let error = error.context(&account.email);
            note!("only the main calendar counts: {}", error)
        });
        let long = long.into_iter().map(|name| {
            note!(
                "tentative in {}: events of 3 hours or more without people, and unanswered \
                 invitations of 6 hours or more",
                quoted(&name)
            )
        });
        (found, failed.chain(long).collect())
    });
    join_all(request).await
}

/// Returns the busy times in some calendars of an account, and the errors of unreadable ones. As
/// for clashes, long events about a thing leave their owner time: they are tentative, and their
/// calendars are added to `long`.
async fn look(
    port: &dyn Calendars,
    all: Vec<KnownCalendar>,
    range: TimeRange,
    zone: &TimeZone,
    long: &mut Vec<String>,
) -> (Vec<BusyTime>, Vec<Error>) {
    let columns: Vec<&TableColumn> = ["id", "title", "start", "end", "show"]
        .iter()
        .filter_map(|name| EVENT.field(name))
        .collect();
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    let mut calendars: Vec<(CalendarId, Option<String>)> =
        all.iter().map(|one| (one.id.clone(), None)).collect();
    for page in 0.. {
        if calendars.is_empty() {
            break;
        }
        if page == PAGES {
            failed.push(
                Error::argument("there are more events than were searched")
                    .next("give a shorter range"),
            );
            break;
        }
        let ask = EventListRequest {
            calendars: std::mem::take(&mut calendars),
            from: range.from(),
            to: range.to(),
            series: false,
            projection: project(port.api(), &columns),
            limit: PAGE,
        };
        let answers = port.events(&ask).await;
        for ((id, _), answer) in ask.calendars.into_iter().zip(answers) {
            let answer: Result<_> = answer;
            let name = all.iter().find(|one| one.id == id).map_or("", |one| one.name.as_str());
            let answer = match answer {
                Ok(answer) => answer,
                Err(error) => {
                    failed.push(error.context(daysheet_core::text::brief(name)));
                    continue;
                }
            };
            for event in answer.events.iter().filter(|event| event.busy) {
                let mut show = BusyKind::of(event.show);
                let claim = TimeClaim::new(event, false);
                if show == BusyKind::Busy && claim.is_container((event.start, event.end), zone) {
                    show = BusyKind::Tentative;
                    if !long.iter().any(|known| known == name) {
                        long.push(name.to_owned());
                    }
                }
                let time =
                    TimeStretch { from: event.start.instant(zone), to: event.end.instant(zone) };
                // An event without length takes no time.
                if range.has(time.from, time.to) && time.from < time.to {
                    let named = format!("{} in {}", quoted(&short(&event.title)), quoted(name));
                    found.push(BusyTime { time, show, event: named });
                }
            }
            if answer.next.is_some() {
                calendars.push((id, answer.next));
            }
        }
    }
    (found, failed)
}
