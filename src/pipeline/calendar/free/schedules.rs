//! The free/busy schedules of people, from the accounts that know them.
//!
//! An address is queried through several accounts; the schedule of the closest account counts.

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::Account;
use daysheet_core::provider::calendar::BusySchedule;
use daysheet_core::schemas::Service;
use daysheet_core::text::{Note, NoteKey, note, ours};
use futures_util::future::join_all;

use super::people::BusyPerson;
use crate::pipeline::calendar::search::range::TimeRange;
use crate::pipeline::context::Context;

/// The schedule of a person as an account sees it.
type SeenSchedule = Result<(BusySchedule, Service)>;

/// Returns the times of some addresses, in their order, with notes on unknown ones. Fails if all of
/// the first `request` are unknown.
pub(super) async fn people_times(
    ctx: &Context,
    who: &[String],
    request: usize,
    accounts: &[Account],
    range: TimeRange,
) -> Result<(Vec<BusyPerson>, Vec<Note>)> {
    let mut seen = seen_schedules(ctx, who, accounts, range).await;
    let mut people = Vec::new();
    let mut unknown: Vec<(String, Vec<String>)> = Vec::new();
    let mut first = None;
    for address in who {
        match closest_schedule(address, accounts, &mut seen) {
            Ok(person) => people.push(person),
            Err(why) => {
                let reason = why.to_string();
                match unknown.iter_mut().find(|(known, _)| *known == reason) {
                    Some((_, those)) => those.push(address.clone()),
                    None => unknown.push((reason, vec![address.clone()])),
                }
                first.get_or_insert(why);
                people.push(BusyPerson::unknown(address));
            }
        }
    }
    // If none of the requested people is known, the owners' own times are no answer.
    if let (Some(error), true) = (first, people.iter().take(request).all(|one| one.busy.is_none()))
    {
        return Err(error.context("no free/busy times are known"));
    }
    let notes = unknown
        .into_iter()
        .map(|(why, those)| note!("free/busy of {}: {}", ours(those.join(", ")), ours(why)))
        .map(|note| note.with_key(NoteKey::Missing))
        .collect();
    Ok((people, notes))
}

/// Queries the accounts for the schedules of the addresses. An owner is first queried only through
/// their own account; the others are a fallback.
async fn seen_schedules(
    ctx: &Context,
    who: &[String],
    accounts: &[Account],
    range: TimeRange,
) -> Vec<Vec<(String, SeenSchedule)>> {
    let mut seen = fetch_schedules(ctx, accounts, range, |account| {
        let asked = |address: &&String| !owned(address, accounts) || account.email.is(address);
        who.iter().filter(asked).cloned().collect()
    })
    .await;
    // If a person's own account does not respond, the others may know.
    let silent: Vec<String> = who
        .iter()
        .filter(|address| {
            let mut all = seen.iter().flatten();
            owned(address, accounts)
                && !all.any(|(known, answer)| known == *address && answer.is_ok())
        })
        .cloned()
        .collect();
    if !silent.is_empty() && accounts.len() > 1 {
        let more = fetch_schedules(ctx, accounts, range, |account| {
            let other = |address: &&String| !account.email.is(address);
            silent.iter().filter(other).cloned().collect()
        })
        .await;
        for (seen, more) in seen.iter_mut().zip(more) {
            seen.extend(more);
        }
    }
    seen
}

/// Takes the schedules of an address out of `seen`, and returns the one of the account closest to
/// the person, which most likely knows their times.
///
/// # Errors
/// The reason why no account knows the person's times.
fn closest_schedule(
    address: &str,
    accounts: &[Account],
    seen: &mut [Vec<(String, SeenSchedule)>],
) -> Result<BusyPerson> {
    let mut answers: Vec<(usize, SeenSchedule)> = Vec::new();
    for (at, seen) in seen.iter_mut().enumerate() {
        while let Some(place) = seen.iter().position(|(known, _)| known == address) {
            let (_, answer) = seen.swap_remove(place);
            answers.push((distance(accounts.get(at), address), answer));
        }
    }
    answers.sort_by_key(|(distance, _)| *distance);
    let mut why: Option<Error> = None;
    for (_, answer) in answers {
        match answer {
            Ok((schedule, api)) => return Ok(BusyPerson::new(address, schedule, api)),
            // Prefer the reason of a failed query to that of an unknown address.
            Err(error) => {
                let better = why.as_ref().is_none_or(|old| {
                    old.kind() == ErrorKind::NotFound && error.kind() != ErrorKind::NotFound
                });
                if better {
                    why = Some(error);
                }
            }
        }
    }
    Err(why.unwrap_or_else(|| Error::new(ErrorKind::NotFound, "no account can see it")))
}

/// Queries each account for the schedules of the addresses that `of` returns for it.
async fn fetch_schedules(
    ctx: &Context,
    accounts: &[Account],
    range: TimeRange,
    of: impl Fn(&Account) -> Vec<String>,
) -> Vec<Vec<(String, SeenSchedule)>> {
    let several = accounts.len() > 1;
    join_all(accounts.iter().map(|account| {
        let who = of(account);
        async move {
            if who.is_empty() {
                return Vec::new();
            }
            let request = async {
                let port = ctx.connect.calendars(account)?;
                let answers = port.busy(&who, range.from(), range.to()).await;
                Ok((port.api(), answers))
            };
            let answer = ctx.await_account(several, request).await;
            let failed = |error: &Error| {
                if several { error.clone().context(&account.email) } else { error.clone() }
            };
            match answer {
                Ok((api, answers)) => {
                    let answers = answers.into_iter().map(|answer| match answer {
                        Ok(schedule) => Ok((schedule, api)),
                        Err(error) => Err(error),
                    });
                    who.into_iter().zip(answers).collect()
                }
                Err(error) => {
                    who.into_iter().map(|address| (address, Err(failed(&error)))).collect()
                }
            }
        }
    }))
    .await
}

/// Returns true for the address of an account.
pub(super) fn owned(address: &str, accounts: &[Account]) -> bool {
    accounts.iter().any(|account| account.email.is(address))
}

/// Returns the distance of an account from a person: 0 for its owner, 1 for the same domain, else
/// 2.
fn distance(account: Option<&Account>, address: &str) -> usize {
    let domain = |address: &str| {
        let (_, domain) = address.rsplit_once('@')?;
        Some(domain.to_lowercase())
    };
    match account {
        Some(account) if account.email.is(address) => 0,
        Some(account) if domain(account.email.as_str()) == domain(address) => 1,
        _ => 2,
    }
}
