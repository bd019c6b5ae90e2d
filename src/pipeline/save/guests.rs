//! Who is asked to a meeting: addresses read, lists combined so that nobody's
//! answer is lost.

use crate::error::{Error, Result};
use crate::provider::calendar::{Facts, Guest};
use crate::request::save::EventWords;
use crate::schemas::Api;
use crate::text::{self, address_list, brief};

/// The most that Google asks to one event.
const GOOGLE: usize = 200;
/// The most that one call of ours asks to one event.
const OURS: usize = 250;
/// The most that Outlook asks to one event.
const OUTLOOK: usize = 500;
/// How many are named when somebody is not found.
const NAMED: usize = 12;

/// Reads `Name <a@b>` or `a@b`; a `?` behind is for those who need not come.
pub(in crate::pipeline) fn guest(said: &str) -> Result<Guest> {
    let trimmed = said.trim();
    let (who, optional) = match trimmed.strip_suffix('?') {
        Some(who) => (who.trim_end(), true),
        None => (trimmed, false),
    };
    let found = address_list(who);
    match found.as_slice() {
        [one] if is_address(&one.email) && !who.contains(char::is_control) => Ok(Guest {
            address: one.email.clone(),
            name: one.name.clone(),
            optional,
            ..Guest::default()
        }),
        _ => Err(
            Error::argument(format!("`{}` is no mail address", brief(said)))
                .next("give name@example.com or Name <name@example.com>, one in each item"),
        ),
    }
}

/// True for something that mail could be sent to.
fn is_address(said: &str) -> bool {
    let Some((local, domain)) = said.rsplit_once('@') else {
        return false;
    };
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !text::is_invisible(c);
    let labels = || domain.split('.');
    !local.is_empty()
        && local.len() <= 64
        && local
            .chars()
            .all(|c| plain(c) && !matches!(c, '@' | '<' | '>' | ',' | ';' | ':'))
        && domain.len() <= 253
        && labels().all(|label| {
            !label.is_empty()
                && label
                    .chars()
                    .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
        })
}

/// The addresses, each once; the last word on whether one must come counts.
fn guests(said: &[String]) -> Result<Vec<Guest>> {
    let mut found: Vec<Guest> = Vec::new();
    for one in said {
        let guest = guest(one)?;
        match found.iter_mut().find(|known| is_same(known, &guest)) {
            Some(known) => *known = guest,
            None => found.push(guest),
        }
    }
    Ok(found)
}

fn is_same(one: &Guest, other: &Guest) -> bool {
    one.address.eq_ignore_ascii_case(&other.address)
}

/// Who is asked to a new event: `people` and `add` are the same here.
pub(in crate::pipeline) fn asked(words: &EventWords) -> Result<Vec<Guest>> {
    if let Some(nobody) = words.remove.first() {
        return Err(Error::argument(format!(
            "`remove` names {}, and nobody is asked to a new event yet",
            brief(nobody)
        ))
        .next("leave it out"));
    }
    let mut said = words.people.clone().unwrap_or_default();
    said.extend(words.add.iter().cloned());
    guests(&said)
}

/// Who is asked after a change, if that is not who was.
pub(in crate::pipeline) fn changed(words: &EventWords, now: &Facts) -> Result<Option<Vec<Guest>>> {
    let mut list = now.guests.clone();
    if let Some(said) = &words.people {
        let said = guests(said)?;
        // Rooms are no people: who lists the people does not give up the room.
        let rooms = now
            .guests
            .iter()
            .filter(|one| one.room && !said.iter().any(|guest| is_same(one, guest)));
        let rooms: Vec<Guest> = rooms.cloned().collect();
        list = said.iter().map(|one| combined(one, now)).collect();
        list.extend(rooms);
    }
    for one in guests(&words.add)? {
        match list.iter_mut().find(|known| is_same(known, &one)) {
            Some(known) => known.optional = one.optional,
            None => list.push(combined(&one, now)),
        }
    }
    for said in &words.remove {
        let at = meant(said, &list)?;
        let mut number = 0..;
        list.retain(|_| number.next() != Some(at));
    }
    Ok((list != now.guests).then_some(list))
}

/// What was said of somebody, with what is known of them.
fn combined(said: &Guest, now: &Facts) -> Guest {
    match now.guests.iter().find(|known| is_same(known, said)) {
        Some(known) => Guest {
            optional: said.optional,
            ..known.clone()
        },
        None => said.clone(),
    }
}

/// Who of those who are asked is meant: by address, or by the short name that
/// rows show, or by the name.
fn meant(said: &str, list: &[Guest]) -> Result<usize> {
    let wanted = said.trim().trim_end_matches('?').trim().to_lowercase();
    let address = guest(said).ok().map(|one| one.address.to_lowercase());
    let by = |fits: &dyn Fn(&Guest) -> bool| {
        let found: Vec<usize> = (0..)
            .zip(list)
            .filter(|(_, one)| fits(one))
            .map(|(at, _)| at)
            .collect();
        match found.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    };
    let lower = |guest: &Guest| guest.address.to_lowercase();
    by(&|one| Some(lower(one)) == address)
        .or_else(|| by(&|one| lower(one).split('@').next() == Some(&wanted)))
        .or_else(|| {
            by(&|one| one.name.as_ref().map(|name| name.to_lowercase()) == Some(wanted.clone()))
        })
        .ok_or_else(|| {
            let who = format!(
                "`{}` is not asked, or not the only one so called",
                brief(said)
            );
            Error::argument(who).next(match list.is_empty() {
                true => "nobody is asked: leave `remove` out".to_owned(),
                false => format!("name one of: {}", named(list)),
            })
        })
}

/// Addresses, the first of them.
pub(in crate::pipeline) fn named(list: &[Guest]) -> String {
    let shown: Vec<String> = list
        .iter()
        .take(NAMED)
        .map(|one| brief(&one.address))
        .collect();
    let more = list.len().saturating_sub(NAMED);
    match more {
        0 => shown.join(", "),
        more => format!("{} +{more}", shown.join(", ")),
    }
}

/// Refuses more people than a service asks to one event.
pub(in crate::pipeline) fn not_too_many(list: &[Guest], api: Api) -> Result<()> {
    let many = list.len();
    let (most, whose) = match api {
        Api::Gmail => (GOOGLE, format!("Google takes at most {GOOGLE}")),
        _ => (
            OURS,
            format!("one call asks at most {OURS}, Outlook takes {OUTLOOK} in all"),
        ),
    };
    match many > most {
        false => Ok(()),
        true => Err(
            Error::argument(format!("{many} people are too many for one event: {whose}"))
                .next("ask the address of a group instead"),
        ),
    }
}

/// The people among those who are asked, the account's owner and rooms left out.
pub(in crate::pipeline) fn others<'g>(list: &'g [Guest], own: &str) -> Vec<&'g Guest> {
    list.iter()
        .filter(|one| !one.room && !one.me && !one.address.eq_ignore_ascii_case(own))
        .collect()
}
