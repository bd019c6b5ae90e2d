//! JMAP's objects in the form of the port: sets as lists, addresses as `Source` reads them, and
//! messages with their texts.

use daysheet_core::project::Projection;
use daysheet_core::provider::{BodyForm, MessageContent, PlainText, TextPart};
use serde_json::{Value, json};

/// Returns the text under a key; empty if it is missing.
pub fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the properties to request by `Email/get`.
pub fn properties(projection: &Projection) -> Vec<String> {
    let mut properties = vec!["id".to_owned(), "threadId".to_owned()];
    for path in &projection.paths {
        let path = path.strip_prefix("messages/").unwrap_or(path);
        let property = match path {
            // `unread` is derived from the keywords.
            "unread" => "keywords",
            "messages" => continue,
            other => other,
        };
        if !properties.iter().any(|known| known == property) {
            properties.push(property.to_owned());
        }
    }
    properties
}

/// Returns the arguments of `Email/get` for messages with their text in a form.
pub fn get_arguments(ids: &[&str], projection: &Projection, form: BodyForm) -> Value {
    let mut properties = properties(projection);
    let more: &[&str] = match form {
        BodyForm::Parts => &["textBody", "htmlBody", "attachments", "bodyValues"],
        BodyForm::Headers => &["headers"],
        BodyForm::None | BodyForm::Raw => &[],
    };
    properties.extend(more.iter().map(|name| (*name).to_owned()));
    let texts = form == BodyForm::Parts;
    json!({"ids": ids, "properties": properties, "fetchAllBodyValues": texts})
}

/// Returns a message in the form that the mapping reads.
pub fn message(mut item: Value) -> Value {
    let Some(object) = item.as_object_mut() else {
        return item;
    };
    for key in ["mailboxIds", "keywords"] {
        if let Some(Value::Object(set)) = object.get(key) {
            let set_names = set.iter().filter(|(_, is_set)| **is_set == Value::Bool(true));
            let list = set_names.map(|(name, _)| json!(name)).collect();
            object.insert(key.to_owned(), list);
        }
    }
    if let Some(Value::Array(keywords)) = object.get("keywords") {
        let unread = !keywords.iter().any(|one| one == "$seen");
        object.insert("unread".to_owned(), json!(unread));
    }
    for key in ["from", "to", "cc"] {
        if let Some(Value::Array(people)) = object.get(key) {
            let person =
                |one: &Value| json!({"name": one.get("name"), "address": one.get("email")});
            let people = people.iter().map(|one| json!({"emailAddress": person(one)})).collect();
            object.insert(key.to_owned(), people);
        }
    }
    item
}

/// Returns a message with its texts.
pub fn content(item: Value, form: BodyForm) -> MessageContent {
    let item = message(item);
    let list = |key: &str| item.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let text_of = |part: &Value| {
        let value = item.get("bodyValues")?.get(text(part, "partId"))?;
        Some(text(value, "value").to_owned())
    };
    let one = |part: &Value| match text(part, "type") {
        "text/html" => text_of(part).map(TextPart::Html),
        _ => text_of(part).map(|text| TextPart::Plain(PlainText { text, flowed: None })),
    };
    let texts = |key: &str| -> Vec<TextPart> { list(key).iter().filter_map(one).collect() };
    let mut forms = vec![texts("textBody"), texts("htmlBody")];
    // A message with only one form has it in both lists (RFC 8621, 4.1.4).
    forms.dedup();
    forms.retain(|form| !form.is_empty());
    let parts = if forms.is_empty() { Vec::new() } else { vec![forms] };
    let files = list("attachments").iter();
    let invitation = files.clone().find(|file| text(file, "type") == "text/calendar");
    let invitation = invitation.and_then(text_of);
    let id = text(&item, "id");
    let file = |file: &Value| {
        json!({"id": format!("{id}/{}", text(file, "blobId")), "message": id,
               "name": file.get("name"), "type": file.get("type"), "size": file.get("size")})
    };
    let attachments = files.map(file).collect();
    // A raw header value includes the space after the colon.
    let line = |one: &Value| format!("{}:{}\n", text(one, "name"), text(one, "value"));
    let source = (form == BodyForm::Headers).then(|| list("headers").iter().map(line).collect());
    MessageContent { parts, invitation, attachments, source, item, ..MessageContent::default() }
}
