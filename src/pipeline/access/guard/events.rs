//! Whom a write of an event reaches, read from the event as the service has it.
//!
//! Whoever is asked to an event sees it change in their own calendar, whether
//! they are notified or not, so they count either way. So does the owner of a
//! calendar that is shared with the user.

use super::{Act, Asks, Audience};
use crate::access::Access;
use crate::error::{Error, Kind, Result};
use crate::pipeline::Pipeline;
use crate::pipeline::calendar::agenda::calendars::Listed;
use crate::pipeline::calendar::guests::others;
use crate::pipeline::calendar::target::{Target, short};
use crate::provider::calendar::{Change, Facts, Guest};
use crate::text::Note;
use crate::text::{cell, clip};

/// The longest part of a question that the caller wrote, in columns.
const SHOWN: usize = 200;

/// What is done to an event, as far as others learn of it.
pub(in crate::pipeline) enum EventWrite<'a> {
    /// It is changed.
    Change(&'a Change),
    /// It is deleted; true if those concerned are notified.
    Delete(bool),
}

impl Audience {
    /// Those who are asked, without the account's owner and rooms.
    pub(in crate::pipeline) fn guests(&mut self, list: &[Guest], own: &str) {
        let addresses = others(list, own).into_iter().map(|one| &*one.address);
        self.add(addresses);
    }

    /// Those whom somebody else's document asks, but the account's owner. What
    /// it calls a room may be anybody.
    pub(in crate::pipeline) fn named(&mut self, list: &[Guest], own: &str) {
        let addresses = list.iter().map(|one| &*one.address);
        self.add(addresses.filter(|address| !address.eq_ignore_ascii_case(own)));
    }

    /// Everybody on an event but its organizer.
    pub(in crate::pipeline) fn everybody_on(&mut self, facts: &Facts, own: &str) {
        self.guests(&facts.guests, own);
        if facts.omitted {
            self.join(&Self::unlisted("people the service does not name"));
        }
    }

    /// Whoever called an event, if that is not the account's owner.
    pub(in crate::pipeline) fn organizer(&mut self, facts: &Facts) {
        match &facts.organizer {
            _ if facts.own => {}
            Some(organizer) => self.add([organizer.as_str()]),
            None => self.join(&Self::unlisted("the organizer of the event")),
        }
    }

    /// The owner of a calendar, if that is somebody else.
    pub(in crate::pipeline) fn calendar(&mut self, place: &Listed, own: &str) {
        match place.of_others(own) {
            None => {}
            Some("") => self.join(&Self::unlisted(format!(
                "those sharing the calendar {}",
                short(&place.name)
            ))),
            Some(owner) => self.add([owner]),
        }
    }
}

/// What is done where others are on an event; `question` begins the question
/// about it.
pub(in crate::pipeline) fn act(question: String) -> Act<'static> {
    Act {
        needs: Access::Send,
        what: "writing an event with other people",
        question,
        asks: Asks::New,
        sent_from: None,
        instead: "ask the user to do it in the calendar program, or to run `daysheet call` in a \
                  terminal"
            .to_owned(),
    }
}

/// Something that the caller wrote, as a line of a question.
pub(in crate::pipeline) fn line(name: &str, said: Option<&str>) -> String {
    match said.map(|said| clip(cell(said), SHOWN).0) {
        Some(said) if !said.is_empty() => format!("\n{name}: {said}"),
        _ => String::new(),
    }
}

impl Pipeline {
    /// Whom a change or deletion of an event reaches; nothing when there is
    /// nobody on it but the user. An audience may be empty: somebody else's
    /// event needs the access level even when nobody learns of what is done.
    ///
    /// # Errors
    /// Those of reading the calendars, and the occurrences of a series.
    pub(in crate::pipeline) async fn reached(
        &self,
        target: &Target,
        planned: &EventWrite<'_>,
    ) -> Result<Option<Audience>> {
        let facts = &target.facts;
        let own = &target.owner.account.email;
        let mut audience = Audience::default();
        let mut concerned = !facts.own;
        let learned = match planned {
            EventWrite::Change(change) => is_seen(change),
            EventWrite::Delete(notified) => facts.own || *notified,
        };
        // Another's event is a copy, unless its guests change it for all.
        let spreads = facts.own || (facts.joint && matches!(planned, EventWrite::Change(_)));
        let mut on_it = Audience::default();
        on_it.everybody_on(facts, own);
        if facts.own && facts.repeat.is_some() {
            on_it.guests(&self.guests_of_exceptions(target).await?, own);
        }
        if let EventWrite::Change(Change { guests: Some(list), .. }) = planned {
            on_it.guests(list, own);
        }
        concerned |= on_it != Audience::default();
        if learned && spreads {
            audience.join(&on_it);
        }
        if learned && (!facts.own && (facts.joint || matches!(planned, EventWrite::Delete(_)))) {
            audience.organizer(facts);
        }
        if let Some(calendar) = &facts.calendar {
            let places = self.places(&target.owner, false).await?;
            let listed = places.into_iter().find(|place| place.id == *calendar);
            // One that is not among the user's own is told by its address.
            let place = listed.or_else(|| {
                let port = &*target.owner.port;
                calendar.contains('@').then(|| Listed::unlisted(port, calendar))
            });
            if let Some(place) = place {
                concerned |= place.of_others(own).is_some();
                audience.calendar(&place, own);
            }
        }
        Ok(concerned.then_some(audience))
    }

    /// Whoever is asked to single occurrences of a series besides.
    async fn guests_of_exceptions(&self, series: &Target) -> Result<Vec<Guest>> {
        let Some(uid) = &series.facts.uid else {
            return Ok(Vec::new());
        };
        let port = &series.owner.port;
        let found = port.by_uid(uid).await?;
        Ok(found
            .iter()
            .filter_map(|one| port.facts(one))
            .filter(|one| one.series.as_ref() == Some(&series.facts.id) && !one.cancelled)
            .flat_map(|one| one.guests)
            .collect())
    }

    /// Refuses an event's change or deletion that must not reach those who learn
    /// of it. What was agreed to is still so afterwards, where the event's own
    /// version does not say it.
    pub(in crate::pipeline) async fn agreed_for(
        &self,
        target: &Target,
        planned: &EventWrite<'_>,
        question: String,
        caller: Option<&dyn crate::caller::Caller>,
        notes: &mut Vec<Note>,
    ) -> Result<()> {
        if !self.is_watchful().await? {
            return Ok(());
        }
        let Some(audience) = self.reached(target, planned).await? else {
            return Ok(());
        };
        let asked = self.agreed(&act(question), &audience, caller, notes).await?;
        if asked && self.reached(target, planned).await? != Some(audience) {
            return Err(Error::new(
                Kind::Conflict,
                format!("the people on {} are not those the user was asked about", target.handle),
            )
            .next("nothing was written; call again if it is still right"));
        }
        Ok(())
    }
}

/// True for what others see of an event.
fn is_seen(change: &Change) -> bool {
    let own = Change {
        show: change.show,
        reminder: change.reminder,
        category: change.category.clone(),
        ..Change::default()
    };
    *change != own
}
