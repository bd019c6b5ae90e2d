//! `calendar_delete`, `calendar_respond` and `manage`: writes that reach other people,
//! or delete something.

mod manage;
mod respond;

use super::guests::{notified, others};
use super::save::{cut, reference, unsaid};
use super::target::{EventTarget, event_line, span, title};
use crate::client::ClientPrompts;
use crate::error::{Error, Result};
use crate::event_time;
use crate::pipeline::access::audit::Entry;
use crate::pipeline::access::guard::events::{EventWrite, line};
use crate::pipeline::answer::outcome::{Outcome, WriteReport};
use crate::pipeline::{Pipeline, Response};
use crate::provider::calendar::{Change, Notify};
use crate::tools::outward::Delete;
use crate::tools::save::Scope;

/// The object of a deletion.
enum Deletion {
    /// An event, an occurrence, or a series as a whole.
    Whole,
    /// The part of a series from an occurrence on.
    Rest(Box<Change>),
}

impl Pipeline {
    pub(in crate::pipeline) async fn delete(
        &self,
        request: Delete,
        caller: &dyn ClientPrompts,
    ) -> Result<Response> {
        let target = self.named_event(&request.id).await?;
        target.not_cancelled()?;
        self.as_shown(&target).await?;
        let scope = target.scope(request.scope, "this, following or series")?;
        let zone = &self.config.zone;
        let when = span(target.facts.start, target.facts.end, zone);
        let seen = reference(&target.facts);
        let (target, deletion, what) = match scope {
            None => (target, Deletion::Whole, when),
            Some(Scope::This) => (target, Deletion::Whole, format!("the occurrence {when}")),
            Some(scope) => {
                let master = self.whole(target).await?;
                let rest = match scope {
                    Scope::Following => cut(&master, seen.0, zone)?,
                    _ => None,
                };
                match rest {
                    None => (master, Deletion::Whole, "the whole series".to_owned()),
                    Some(rest) => {
                        let change =
                            Change { repeat: Some(Some(rest.before)), ..Change::default() };
                        let from = event_time::start(seen.0, zone);
                        let what = format!("from {from} on");
                        (master, Deletion::Rest(Box::new(change)), what)
                    }
                }
            }
        };
        self.may_write(&target).await?;
        let notify = notify(&target, &request)?;

        let name = format!("{} {}", target.handle, title(&target.facts));
        let message = request.message.as_deref();
        let mut report = WriteReport::default();
        let question = format!(
            "Delete an event with other people?\n{}\n{what}{}",
            event_line(&target.facts, zone),
            line("Message", message)
        );
        let planned = EventWrite::Delete(notify != Notify::Nobody);
        self.agreed_for(&target, &planned, question, Some(caller), &mut report.notes).await?;
        let port = &target.owner.port;
        let own = &target.owner.account.email;
        let entry = Entry {
            account: own,
            tool: "calendar_delete",
            op: "delete",
            ids: vec![request.id.clone()],
            recipients: notified(&target.facts.guests, None, own, notify),
            ..Entry::default()
        };
        let write = async {
            match &deletion {
                Deletion::Whole => port.delete(&target.value, message, notify).await,
                Deletion::Rest(change) => self.shorten(&target, change, notify).await.map(|_| ()),
            }
        };
        let done = self.run_logged(entry, &mut report.notes, write, |()| None).await;
        match done {
            Ok(()) => {
                report.outcomes.push(Outcome::new(name, "delete", "done", what));
                let carried =
                    port.capabilities().cancel_message && matches!(deletion, Deletion::Whole);
                if message.is_some() && !carried {
                    report.notes.push(
                        "the message was not sent: the service cannot send one with this".into(),
                    );
                }
                if !target.facts.own {
                    report.notes.push(
                        "deleted from your calendar only; calendar_respond notifies the organizer"
                            .into(),
                    );
                }
            }
            Err(error) if error.is_open() => {
                report.outcomes.push(Outcome::failed(name, "delete", &error));
            }
            Err(error) => return Err(self.passed_over(&target, error).await),
        }
        self.write_report(report).await
    }

    /// Returns the series of an occurrence, if the occurrence is as it was shown; a
    /// series itself.
    async fn whole(&self, target: EventTarget) -> Result<EventTarget> {
        if target.facts.series.is_none() {
            return Ok(target);
        }
        let master = self.master_of(&target).await?;
        master.not_cancelled()?;
        self.as_shown(&master).await?;
        Ok(master)
    }
}

/// Returns who is notified that a meeting is cancelled.
fn notify(target: &EventTarget, request: &Delete) -> Result<Notify> {
    let asks = !others(&target.facts.guests, &target.owner.account.email).is_empty();
    match (asks && target.facts.own, request.notify, &request.message) {
        (true, None, _) => Err(unsaid()),
        (true, Some(Notify::Nobody), Some(_)) => Err(Error::argument("`message` needs notify=all")
            .next("give notify=all, or leave out `message`")),
        (true, Some(notify), _) => Ok(notify),
        (false, _, Some(_)) => Err(match asks {
            true => Error::argument(format!(
                "{} has another organizer: deleting it sends no message",
                target.handle
            ))
            .next("use calendar_respond with response=decline and a comment"),
            false => {
                Error::argument("`message` is given, but there are no guests").next("leave it out")
            }
        }),
        (false, notify, None) => Ok(notify.unwrap_or(Notify::Nobody)),
    }
}
