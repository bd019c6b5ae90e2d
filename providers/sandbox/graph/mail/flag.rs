//! Flags and categories of messages.

use serde_json::{Map, Value, json};

use crate::graph::calendar::draft::parse_time;
use crate::graph::error::{GraphError, invalid_request, not_found};
use crate::graph::exchange::index::TABS;
use crate::graph::exchange::state::MessageNotes;
use crate::graph::request::RequestContext;
use crate::state::RequestState;
use crate::store::labels::UserLabel;
use crate::store::mailbox::change::MailboxChange;

/// A flag to be set.
#[derive(Debug)]
pub(super) struct FlagChange {
    /// True if it is set and not complete.
    pub set: bool,
    /// True if it is complete.
    complete: bool,
    /// The times by property name.
    times: Map<String, Value>,
}

/// Returns the flag in a message's body, if there is one.
pub(super) fn read_flag(members: &Map<String, Value>) -> Result<Option<FlagChange>, GraphError> {
    let Some(flag) = members.get("flag").and_then(Value::as_object) else {
        return Ok(None);
    };
    let mut times = Map::new();
    for name in ["startDateTime", "dueDateTime"] {
        if let Some(time) = flag.get(name).filter(|time| time.is_object()) {
            let (local, zone) = parse_time(time)?;
            let zone = jiff::tz::TimeZone::get(&zone).unwrap_or(jiff::tz::TimeZone::UTC);
            let at = zone.to_timestamp(local).unwrap_or_default();
            let text = at.strftime("%Y-%m-%dT%H:%M:%S.0000000").to_string();
            times.insert(name.to_owned(), json!({ "dateTime": text, "timeZone": "UTC" }));
        }
    }
    let status = flag.get("flagStatus").and_then(Value::as_str);
    let has = |name: &str| times.contains_key(name);
    // Graph accepts a due date only together with a start date.
    if has("dueDateTime") && !has("startDateTime") {
        return Err(invalid_request("The startDateTime is required when the dueDateTime is set."));
    }
    let text = |name: &str| times.get(name)?.get("dateTime")?.as_str();
    if text("dueDateTime").is_some_and(|due| Some(due) < text("startDateTime")) {
        return Err(invalid_request("The dueDateTime is before the startDateTime."));
    }
    // A flag with times but no status is set.
    let status = status.unwrap_or("flagged");
    Ok(Some(FlagChange { set: status == "flagged", complete: status == "complete", times }))
}

impl FlagChange {
    /// Stores the flag in a message's notes.
    pub fn note(self, notes: &mut MessageNotes) {
        notes.complete = self.complete;
        if self.set { notes.flag.extend(self.times) } else { notes.flag.clear() }
    }
}

/// Returns labels with other categories. Labels that are not categories stay.
pub(super) fn categorised(
    context: &RequestContext<'_>,
    labels: &[String],
    names: &[&str],
) -> Result<Vec<String>, GraphError> {
    let mailbox = context.present()?.mailbox;
    let is_category =
        |id: &String| TABS.iter().any(|(tab, _)| tab == id) || mailbox.labels.get(id).is_some();
    let others = labels.iter().filter(|id| !is_category(id));
    let mut all: Vec<String> = others.cloned().collect();
    for name in names {
        let id = category(context.state, context.address(), name).ok_or_else(not_found)?;
        if !all.contains(&id) {
            all.push(id);
        }
    }
    Ok(all)
}

/// Returns the label of a category, which is created if it is unknown. `None` if there is no such
/// mailbox.
pub(super) fn category(state: &RequestState, address: &str, name: &str) -> Option<String> {
    let mailbox = state.mailbox(address)?;
    let tab = TABS.iter().find(|(_, tab)| tab.eq_ignore_ascii_case(name));
    if let Some((id, _)) = tab {
        return Some((*id).to_owned());
    }
    if let Some(label) = mailbox.labels.by_name(name) {
        return Some(label.id.clone());
    }
    let label = UserLabel::new(mailbox.labels.fresh(), name);
    let id = label.id.clone();
    state.change(address, |_| Some(MailboxChange::Label(Box::new(label))))?;
    // As in Exchange, a category set on a message does not become part of the category list.
    state.graph.exchange(address, |exchange| {
        exchange.unlisted.insert(name.to_lowercase());
    });
    Some(id)
}
