//! New events: checked, compared with existing ones, written one by one.

use serde_json::Value;

use super::TOOL;
use super::clash::{self, ClashCandidate, Clashes};
use super::destination::Destination;
use super::make::{self, PlannedChange};
use crate::client::ClientPrompts;
use crate::course;
use crate::error::{Error, Result};
use crate::pipeline::access::audit::Entry;
use crate::pipeline::access::guard::Audience;
use crate::pipeline::access::guard::events::act;
use crate::pipeline::answer::outcome::{Outcome, WriteReport};
use crate::pipeline::calendar::guests::{notified, others};
use crate::pipeline::calendar::target::{listed, short};
use crate::pipeline::{Pipeline, Response};
use crate::provider::calendar::{Change, Notify};
use crate::text::{Note, quoted};
use crate::tools::save::{IfConflict, Save};

/// A new event, and its name in the answer.
struct NewEvent {
    name: String,
    made: PlannedChange,
    met: Clashes,
}

impl Pipeline {
    pub(super) async fn create_events(
        &self,
        request: &Save,
        caller: Option<&dyn ClientPrompts>,
    ) -> Result<Response> {
        if request.scope.is_some() {
            return Err(Error::argument("`scope` is for an existing event")
                .next("leave it out, or give `id`"));
        }
        let several = request.events.len() > 1;
        let here = self.here();
        let mut items = Vec::new();
        for (words, number) in request.events.iter().zip(1..) {
            let title = short(words.title.as_deref().unwrap_or_default());
            let name = match several {
                true => format!("{number} {title}"),
                false => title,
            };
            let made =
                make::new(words, &here).map_err(|error| in_context(several, &name, error))?;
            let met = Clashes::default();
            items.push(NewEvent { name, made, met });
        }
        if request.notify.is_none() && items.iter().any(|item| item.made.change.guests.is_some()) {
            return Err(unsaid());
        }
        let destination =
            self.destination(request.account.as_deref(), request.calendar.as_deref()).await?;
        let mut report = WriteReport::default();
        let own = &destination.owner.account.email;
        for item in &mut items {
            let change = &mut item.made.change;
            // The organizer does not invite themselves.
            if let Some(guests) = &mut change.guests {
                guests.retain(|one| !one.address.eq_ignore_ascii_case(own));
            }
            change.guests = change.guests.take().filter(|list| !list.is_empty());
            let port = &destination.owner.port;
            make::fits(change, port.capabilities())
                .and_then(|()| port.check(None, change, notify_for(change, own, request)))
                .map_err(|error| in_context(several, &item.name, error))?;
        }
        for item in &mut items {
            let (account, guests) = (&destination.owner.account, item.made.change.guests.as_ref());
            item.made.notes.extend(self.doubtful_guests(account, &[], guests).await);
        }
        self.compare(&mut items, request.if_conflict, &destination, &mut report).await?;
        for item in &items {
            let lines = item.made.notes.iter();
            let met = item.met.lines.iter().filter(|_| {
                // A refused or planned event is reported with its outcome.
                request.if_conflict == IfConflict::Warn && !request.dry_run
            });
            report.notes.extend(lines.chain(met).map(|line| match several {
                true => line.under(quoted(&item.name)),
                false => line.clone(),
            }));
        }
        self.agreed_for_new(&items, request, &destination, caller, &mut report.notes).await?;
        if request.dry_run {
            let calendar = destination.calendar.as_ref().map(|place| &*place.id);
            for item in &items {
                let change = &item.made.change;
                let notify = notify_for(change, &destination.owner.account.email, request);
                let port = &destination.owner.port;
                let rehearsed = port.rehearse(calendar, None, change, notify).await;
                rehearsed.map_err(|error| in_context(several, &item.name, error))?;
            }
            self.plan_events(&items, request, &destination, &mut report);
        } else {
            self.write_events(items, request, &destination, &mut report).await?;
        }
        self.write_report(report).await
    }

    /// Returns the conflicts of the items to be written.
    async fn compare(
        &self,
        items: &mut [NewEvent],
        if_conflict: IfConflict,
        to: &Destination,
        report: &mut WriteReport,
    ) -> Result<()> {
        if if_conflict == IfConflict::Ignore {
            return Ok(());
        }
        let now = self.clock().now;
        let main = to.is_main();
        let candidates: Vec<ClashCandidate> = items
            .iter()
            .map(|item| {
                let change = &item.made.change;
                let repeat = change.repeat.as_ref().and_then(Option::as_ref);
                ClashCandidate {
                    title: change.title.clone().unwrap_or_default(),
                    uid: change.uid.clone(),
                    claim: clash::claim(change, None, main),
                    times: change.time.as_ref().map_or_else(Vec::new, |(start, end)| {
                        clash::times(start, end, repeat, now)
                    }),
                    itself: Vec::new(),
                }
            })
            .collect();
        let strict = if_conflict == IfConflict::Refuse;
        let (met, notes) = self.find_clashes(&candidates, strict).await?;
        for (item, met) in items.iter_mut().zip(met) {
            item.met = met;
        }
        report.notes.extend(notes);
        Ok(())
    }

    /// Refuses new events that must not reach their guests, or the owner of the calendar.
    async fn agreed_for_new(
        &self,
        items: &[NewEvent],
        request: &Save,
        to: &Destination,
        caller: Option<&dyn ClientPrompts>,
        notes: &mut Vec<Note>,
    ) -> Result<()> {
        let own = &to.owner.account.email;
        let mut audience = Audience::default();
        let mut lines = Vec::new();
        for item in items {
            if request.if_conflict == IfConflict::Refuse && !item.met.lines.is_empty() {
                continue;
            }
            let change = &item.made.change;
            audience.guests(change.guests.as_deref().unwrap_or_default(), own);
            lines.push(format!("{}; {}", item.name, make::description(change, &self.config.zone)));
        }
        if let Some(place) = &to.calendar {
            audience.calendar(place, own);
        }
        if lines.is_empty() || audience == Audience::default() {
            return Ok(());
        }
        let question = format!("Create events with other people?\n{}", listed(lines));
        self.confirm(&act(question), &audience, caller, notes).await.map(drop)
    }

    fn plan_events(
        &self,
        items: &[NewEvent],
        request: &Save,
        to: &Destination,
        report: &mut WriteReport,
    ) {
        let place = match &to.calendar {
            Some(place) => format!("in {}, {}", short(&place.name), to.owner.label),
            None => format!("in the main calendar, {}", to.owner.label),
        };
        for item in items {
            let refused = request.if_conflict == IfConflict::Refuse && !item.met.lines.is_empty();
            let mut detail = vec![make::description(&item.made.change, &self.config.zone)];
            detail.push(place.clone());
            detail.extend(item.met.lines.iter().map(ToString::to_string));
            let result = match refused {
                true => "refused",
                false => "planned",
            };
            let detail = detail.join("; ");
            report.outcomes.push(Outcome::new(&item.name, "create", result, detail));
        }
        report.notes.push("dry run: nothing was written".into());
    }

    async fn write_events(
        &self,
        items: Vec<NewEvent>,
        request: &Save,
        to: &Destination,
        report: &mut WriteReport,
    ) -> Result<()> {
        let single = items.len() == 1;
        let calendar = to.calendar.as_ref().map(|place| place.id.as_str());
        let own = &to.owner.account.email;
        let mut stopped = false;
        for item in course::each("events", items) {
            let change = &item.made.change;
            if request.if_conflict == IfConflict::Refuse && !item.met.lines.is_empty() {
                let detail = item.met.lines.join("; ");
                report.outcomes.push(Outcome::new(&item.name, "create", "refused", detail));
                continue;
            }
            if stopped {
                report.outcomes.push(Outcome::skipped(&item.name, "create"));
                continue;
            }
            let notify = notify_for(change, own, request);
            let port = &to.owner.port;
            let entry = Entry {
                account: own,
                tool: TOOL,
                op: "create",
                recipients: notified(&[], change.guests.as_ref(), own, notify),
                ..Entry::default()
            };
            let notifies = !entry.recipients.is_empty();
            let write = port.create(calendar, change, notify);
            let id = |value: &Value| port.event_data(value).map(|facts| facts.id);
            match self.run_logged(entry, &mut report.notes, write, id).await {
                Ok(value) => {
                    report.clashing += usize::from(!item.met.lines.is_empty());
                    self.keep_created(&to.owner, &value, notifies, report).await;
                    report.events.push((to.owner.clone(), value));
                }
                Err(error) if single && !error.is_open() => return Err(error),
                Err(error) => {
                    stopped = error.ends_batch();
                    report.outcomes.push(Outcome::failed(&item.name, "create", &error));
                }
            }
        }
        Ok(())
    }
}

/// Returns who is notified of a new event: nobody if it has no guests.
fn notify_for(change: &Change, own: &str, request: &Save) -> Notify {
    let guests = change.guests.as_deref().unwrap_or_default();
    match (others(guests, own).is_empty(), request.notify) {
        (false, Some(notify)) => notify,
        _ => Notify::Nobody,
    }
}

/// Prefixes an error with the name of its item, if there are several.
fn in_context(several: bool, name: &str, error: Error) -> Error {
    match several {
        true => error.context(format!("item {name}")),
        false => error,
    }
}

/// Returns the error that an event with guests needs `notify`.
pub(in crate::pipeline) fn unsaid() -> Error {
    Error::argument("with people, `notify` is needed").next("give notify=all, external or none")
}
