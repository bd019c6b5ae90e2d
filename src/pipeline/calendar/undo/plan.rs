//! The steps of an undo: each event in its current state, compared with the state after the write.

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event::{Event, EventPatch};
use jiff::tz::TimeZone;

use crate::pipeline::calendar::search::by_id::event_target;
use crate::pipeline::calendar::target::{
    EventTarget, as_target, calendar_owner, event_line, fetch_event,
};
use crate::pipeline::calendar::write::{content, has_exceptions, identity};
use crate::pipeline::context::Context;
use crate::pipeline::write::undo_state::EventUndo;

/// An event that an undo deletes or restores.
pub(super) struct UndoStep {
    /// The current event; if it was deleted, the event before its deletion.
    pub(super) target: EventTarget,
    /// The event to restore; `None` to delete it.
    pub(super) before: Option<Event>,
    /// The remains of a deleted event, if the service has any; `None` if the event still exists.
    pub(super) deleted: Option<Option<Event>>,
}

/// The action of an undo on an event.
pub(super) enum UndoPlan {
    Step(Box<UndoStep>),
    /// No action: the result, and the reason.
    Nothing(&'static str, String),
}

/// The undo of the write to one event.
pub(super) struct PlannedUndo {
    /// The handle of the event.
    pub(super) event: String,
    pub(super) plan: UndoPlan,
    /// True if handles of its occurrences may move to a series that the call restores.
    pub(super) follows: bool,
}

impl PlannedUndo {
    /// Returns the step that it consists of, if any.
    pub(super) fn step(&self) -> Option<&UndoStep> {
        match &self.plan {
            UndoPlan::Step(step) => Some(step),
            UndoPlan::Nothing(..) => None,
        }
    }
}

impl UndoStep {
    /// Describes the effect on the event.
    pub(super) fn effect(&self, zone: &TimeZone) -> String {
        let back = |before| format!("back to {}", event_line(before, zone));
        self.before.as_ref().map_or_else(|| "delete it".to_owned(), back)
    }

    /// Returns a change that concerns as many people as restoring the event does; `None` if the
    /// event is deleted.
    pub(super) fn change(&self) -> Option<EventPatch> {
        let before = self.before.as_ref()?;
        Some(EventPatch {
            title: Some(before.title.clone()),
            guests: Some(before.guests.clone()),
            repeat: Some(before.repeat.clone()),
            ..EventPatch::default()
        })
    }
}

/// Returns the action of an undo on an event in its current state.
pub(super) async fn undo_step(ctx: &Context, undo: &EventUndo) -> Result<UndoPlan> {
    let (account, id) = event_target(ctx, &undo.event, None).await?;
    let owner = calendar_owner(ctx, account).await?;
    let now = match fetch_event(ctx, owner.clone(), &id).await {
        Ok(now) => Some(now),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let (now, left) = match now {
        // Some services return a deleted event as a cancelled one.
        Some(now) if now.event.cancelled => (None, Some(now.event)),
        now => (now, None),
    };
    let before = match &undo.sealed {
        Some(sealed) => {
            let kept = ctx.store.unseal(&identity(&undo.event), sealed).await?;
            let kept = serde_json::from_slice(&kept).ok();
            let before = kept.and_then(|kept| owner.port.read_event(kept));
            let unreadable = || Error::new(ErrorKind::Store, "the kept event cannot be read");
            Some(before.ok_or_else(unreadable)?)
        }
        None => None,
    };
    let nothing = |result, why: &str| UndoPlan::Nothing(result, why.to_owned());
    let step = |target, deleted| UndoStep { target, before: before.clone(), deleted };
    let same = |now: &EventTarget| {
        // A restored event has a new version with the same content.
        now.event.version == undo.version || content(&now.owner, &now.event) == undo.content
    };
    let was = before.as_ref().map(|before| content(&owner, before));
    // A rule or time that is written again takes changed occurrences back to the rule.
    if let (Some(now), Some(before)) = (&now, &before)
        && (now.event.start, now.event.end, &now.event.repeat)
            != (before.start, before.end, &before.repeat)
        && has_exceptions(now, Some(&EventPatch { repeat: Some(None), ..EventPatch::default() }))
            .await
    {
        return Ok(nothing("skipped", "occurrences were changed since: left as it is"));
    }
    Ok(match (now, &before, &undo.version) {
        (Some(_), Some(_), None) => nothing("unchanged", "it is there"),
        (Some(now), ..) if same(&now) => UndoPlan::Step(Box::new(step(now, None))),
        (Some(now), ..) if was == Some(content(&now.owner, &now.event)) => {
            nothing("unchanged", "already as it was")
        }
        (Some(_), ..) => nothing("skipped", "changed since: left as it is"),
        (None, None, _) => nothing("unchanged", "already deleted"),
        (None, Some(_), Some(_)) => nothing("skipped", "deleted since: undo that first"),
        (None, Some(before), None) => {
            let target = as_target(ctx, &owner, before.clone()).await?;
            UndoPlan::Step(Box::new(step(target, Some(left))))
        }
    })
}
