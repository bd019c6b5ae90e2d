//! Free/busy times of people who share them at Google.

use std::collections::HashMap;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::calendar::BusySchedule;
use daysheet_core::text::{brief, quoted};
use futures_util::future::join_all;
use google_calendar3::api::FreeBusyRequest;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::account::{GoogleCalendar, call};
use super::facts::list;
use super::ids::PRIMARY;
use crate::json::text;

/// The maximum number of calendars in one query.
const AT_ONCE: usize = 50;

impl GoogleCalendar {
    pub(super) async fn schedules(
        &self,
        who: &[String],
        from: Timestamp,
        to: Timestamp,
    ) -> Vec<Result<BusySchedule>> {
        let queries = who.chunks(AT_ONCE).map(|some| async move {
            match self.free_busy(some, from, to).await {
                Ok(answer) => some.iter().map(|one| schedule(&answer, one)).collect(),
                // One result per person, in the order of the question.
                Err(error) => vec![Err(error); some.len()],
            }
        });
        join_all(queries).await.into_iter().flatten().collect()
    }

    /// Queries free/busy times, by the only POST that reads.
    async fn free_busy(&self, who: &[String], from: Timestamp, to: Timestamp) -> Result<Value> {
        // The account's own calendar is requested as `primary`, by any of its addresses.
        let own = who.iter().find(|one| one.eq_ignore_ascii_case(&self.own));
        let items: Vec<_> = who
            .iter()
            .map(|one| if own == Some(one) { json!({"id": PRIMARY}) } else { json!({"id": one}) })
            .collect();
        let body = json!({
            "timeMin": from.to_string(),
            "timeMax": to.to_string(),
            "calendarExpansionMax": AT_ONCE,
            "items": items,
        });
        let request: FreeBusyRequest = serde_json::from_value(body).map_err(|error| {
            Error::new(ErrorKind::Internal, format!("a request could not be written: {error}"))
        })?;
        let request = &request;
        let mut answer =
            call!(self, "calendars,groups", |hub| hub.freebusy().query(request.clone()))?;
        let calendars = answer.get_mut("calendars").and_then(Value::as_object_mut);
        if let (Some(calendars), Some(own)) = (calendars, own)
            && let Some(mine) = calendars.remove(PRIMARY)
        {
            calendars.insert(own.clone(), mine);
        }
        Ok(answer)
    }
}

/// Reads one person's schedule from a response.
fn schedule(answer: &Value, who: &str) -> Result<BusySchedule> {
    // Google may normalize the addresses.
    let under = |key: &str| {
        let known: HashMap<String, &Value> = answer
            .get(key)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.to_lowercase(), value))
            .collect();
        move |name: &str| known.get(&name.to_lowercase()).copied()
    };
    let calendars = under("calendars");
    let mut busy = Vec::new();
    match (calendars(who), under("groups")(who)) {
        (Some(calendar), _) => busy.extend(intervals(calendar, who)?),
        // The times of a group are listed under its members' addresses.
        (None, Some(group)) => {
            check_errors(group, who)?;
            for member in list(group, "calendars").iter().filter_map(Value::as_str) {
                if let Some(calendar) = calendars(member) {
                    busy.extend(intervals(calendar, member)?);
                }
            }
        }
        (None, None) => return Err(unknown(who)),
    }
    Ok(BusySchedule { who: who.to_owned(), busy, hours: None })
}

fn intervals(calendar: &Value, who: &str) -> Result<Vec<Value>> {
    check_errors(calendar, who)?;
    let time = |interval: &Value, key: &str| json!({"dateTime": text(interval, key)});
    Ok(list(calendar, "busy")
        .iter()
        .map(|one| json!({"who": who, "start": time(one, "start"), "end": time(one, "end")}))
        .collect())
}

fn check_errors(answer: &Value, who: &str) -> Result<()> {
    match list(answer, "errors").first() {
        None => Ok(()),
        Some(error) => Err(match text(error, "reason") {
            "notFound" => unknown(who),
            "groupTooBig" => Error::argument(format!("the group {} is too large", brief(who)))
                .next("ask about some of its members"),
            reason => Error::new(
                ErrorKind::Provider(200),
                format!("Google does not say when {} is busy ({})", brief(who), quoted(reason)),
            )
            .next("try again in a minute"),
        }),
    }
}

fn unknown(who: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("Google does not show when {} is busy", brief(who)))
        .next("ask them to share their calendar, or leave them out")
}
