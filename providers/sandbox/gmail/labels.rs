//! Creating, changing and deleting Gmail's labels.

use serde_json::{Map, Value};

use super::context::GmailContext;
use super::resources;
use crate::google::body::{inner, text};
use crate::google::error;
use crate::http::HttpResponse;
use crate::store::labels::{UserLabel, is_system};
use crate::store::mailbox::change::MailboxChange;

/// The maximum length of a name, in characters.
const MAX_LEN: usize = 225;

/// The values for a label's visibility in lists of messages.
const IN_MESSAGES: [&str; 2] = ["show", "hide"];

/// The values for a label's visibility in the list of labels.
const IN_LABELS: [&str; 3] = ["labelShow", "labelShowIfUnread", "labelHide"];

/// Creates a label.
pub(super) fn make(context: &GmailContext<'_>) -> Result<Value, HttpResponse> {
    let name = name(&context.body)?.ok_or_else(bad_name)?;
    let mut made = UserLabel::new(String::new(), name);
    read(&context.body, &mut made)?;
    let mut conflict = false;
    context.state.change(&context.mailbox.address, |mailbox| {
        // Checked within the change, so that of two simultaneous requests only one succeeds.
        conflict = mailbox.labels.by_name(&made.name).is_some();
        made.id = mailbox.labels.fresh();
        (!conflict).then(|| MailboxChange::Label(Box::new(made.clone())))
    });
    if conflict { Err(exists()) } else { Ok(resources::own_label(&made)) }
}

/// Changes a label.
pub(super) fn change(context: &GmailContext<'_>, id: &str) -> Result<Value, HttpResponse> {
    if is_system(id) {
        return Err(error::invalid("Invalid update request"));
    }
    let labels = &context.mailbox.labels;
    let old = labels.get(id).ok_or_else(error::not_found)?;
    let name = name(&context.body)?.map_or_else(|| old.name.clone(), str::to_owned);
    let mut new = UserLabel { name, ..old.clone() };
    read(&context.body, &mut new)?;
    let taken = labels.by_name(&new.name);
    if taken.is_some_and(|taken| taken.id != new.id) {
        return Err(exists());
    }
    let value = resources::own_label(&new);
    let changed = context.state.change(&context.mailbox.address, |mailbox| {
        // It may have been deleted since the request began, and must not reappear.
        mailbox.labels.get(id)?;
        Some(MailboxChange::Label(Box::new(new)))
    });
    changed.map(|_| value).ok_or_else(error::not_found)
}

/// Deletes a label and removes it from all messages.
pub(super) fn delete(context: &GmailContext<'_>, id: &str) -> Result<Value, HttpResponse> {
    if is_system(id) {
        return Err(error::invalid("Invalid delete request"));
    }
    let change = MailboxChange::LabelGoes(id.to_owned());
    let deleted = context.state.change(&context.mailbox.address, |_| Some(change));
    deleted.map(|_| Value::Null).ok_or_else(error::not_found)
}

/// Returns a body's label name if present. Names that a label cannot have are refused.
fn name(body: &Map<String, Value>) -> Result<Option<&str>, HttpResponse> {
    let Some(name) = text(body, "name")? else {
        return Ok(None);
    };
    let own = is_system(&name.to_ascii_uppercase());
    // A slash nests labels, and every level needs a name.
    let empty = name.split('/').any(|step| step.trim().is_empty());
    if own || empty || name.chars().count() > MAX_LEN { Err(bad_name()) } else { Ok(Some(name)) }
}

/// Applies a body's properties other than the name to a label.
fn read(body: &Map<String, Value>, label: &mut UserLabel) -> Result<(), HttpResponse> {
    let one_of = |name: &str, known: &[&str]| match text(body, name)? {
        Some(value) if !known.contains(&value) => {
            let kind = "type.googleapis.com/caribou.api.proto.Label";
            Err(error::invalid_value(name, kind, value))
        }
        value => Ok(value.map(str::to_owned)),
    };
    if let Some(value) = one_of("messageListVisibility", &IN_MESSAGES)? {
        label.message_list = value;
    }
    if let Some(value) = one_of("labelListVisibility", &IN_LABELS)? {
        label.label_list = value;
    }
    if let Some(colour) = inner(body, "color")? {
        let one = |name| Ok(text(colour, name)?.unwrap_or_default().to_owned());
        let (front, back) = (one("textColor")?, one("backgroundColor")?);
        if let Some(wrong) = [&front, &back].into_iter().find(|colour| !is_colour(colour)) {
            return Err(error::invalid(&format!(
                "Label color {wrong} is not on the allowed color palette"
            )));
        }
        label.colour = Some((front, back));
    }
    Ok(())
}

/// Returns true for `#rrggbb` in lower case. Gmail's own palette is smaller.
fn is_colour(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or_default();
    let good = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    digits.len() == 6 && digits.bytes().all(good)
}

fn bad_name() -> HttpResponse {
    error::invalid("Invalid label name")
}

fn exists() -> HttpResponse {
    error::conflict("Label name exists or conflicts")
}
