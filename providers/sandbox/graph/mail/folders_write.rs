//! Folders made, renamed and deleted through Graph. Those that every
//! mailbox has stay as they are.

use std::sync::Arc;

use hyper::StatusCode;
use serde_json::{Map, Value};

use super::context::MailContext;
use crate::graph::error::{
    GraphError, distinguished_folder, folder_exists, invalid_property, invalid_request, not_found,
};
use crate::graph::exchange::folders::{DELETED, FIRST_OWN, MailFolder, ROOT};
use crate::graph::response::{GraphResponse, no_content};
use crate::graph::types::mail::FOLDER;
use crate::graph::types::read::read;
use crate::store::mailbox::change::MailboxChange;

/// Folders that a mailbox can have.
const MAX_FOLDERS: usize = 10_000;

/// The characters of a name at most.
const MAX_LEN: usize = 255;

/// Makes a folder, in another or at the top.
pub(super) fn create(
    context: &MailContext<'_>,
    parent: Option<&str>,
) -> Result<GraphResponse, GraphError> {
    let members = read(context.request, &FOLDER, true)?;
    let parent = match parent {
        Some(id) => context.store()?.folder(id)?.number,
        None => ROOT,
    };
    let name = name(&members)?.ok_or_else(invalid_property)?;
    free(context, parent, &name, 0)?;
    let hidden = members.get("isHidden").and_then(Value::as_bool);
    let number = context.with(|exchange| {
        let folders = Arc::make_mut(&mut exchange.folders);
        let last = folders.iter().map(|folder| folder.number).max();
        let number = last.unwrap_or(0).max(FIRST_OWN - 1).checked_add(1);
        let number = number.filter(|_| folders.len() < MAX_FOLDERS)?;
        folders.push(MailFolder {
            number,
            well_known: "",
            name: name.into(),
            parent,
            hidden: hidden == Some(true),
        });
        Some(number)
    });
    let number = number.ok_or_else(|| invalid_request("There are too many folders."))?;
    reply(context, number, StatusCode::CREATED)
}

/// Renames a folder.
pub(super) fn rename(context: &MailContext<'_>, id: &str) -> Result<GraphResponse, GraphError> {
    let members = read(context.request, &FOLDER, true)?;
    let folder = own(context, id)?;
    if let Some(name) = name(&members)? {
        free(context, folder.parent, &name, folder.number)?;
        alter(context, folder.number, |folder| folder.name = name.into())?;
    }
    reply(context, folder.number, StatusCode::OK)
}

/// Deletes a folder: into that of what was deleted, and out of it for good.
pub(super) fn delete(context: &MailContext<'_>, id: &str) -> Result<GraphResponse, GraphError> {
    let folder = own(context, id)?;
    if !lineage(context, folder.parent)?.contains(&DELETED) {
        // Two of the same name can be there: nobody chose it.
        alter(context, folder.number, |it| it.parent = DELETED)?;
        return Ok(no_content());
    }
    let store = context.store()?;
    let mut doomed = Vec::new();
    for known in store.folders().iter() {
        if lineage(context, known.number)?.contains(&folder.number) {
            doomed.push(known.clone());
        }
    }
    let messages = doomed
        .iter()
        .flat_map(|folder| store.messages(Some(folder)))
        .map(|message| message.id)
        .collect::<Vec<u64>>();
    if !messages.is_empty() {
        context.change(MailboxChange::Goes(messages))?;
    }
    context.with(|exchange| {
        let deleted = |known: &MailFolder| doomed.iter().any(|it| it.number == known.number);
        Arc::make_mut(&mut exchange.folders).retain(|known| !deleted(known));
    });
    Ok(no_content())
}

/// The answer with a folder.
fn reply(
    context: &MailContext<'_>,
    number: u16,
    status: StatusCode,
) -> Result<GraphResponse, GraphError> {
    let store = context.store()?;
    let folders = store.folders();
    let folder = folders.iter().find(|folder| folder.number == number);
    let members = store.folder_json(folder.ok_or_else(not_found)?);
    let id = store.ids().folder(number);
    context.entity(members, "mailFolders", &format!("mailFolders('{id}')"), status)
}

/// A folder that may be changed.
fn own(context: &MailContext<'_>, id: &str) -> Result<MailFolder, GraphError> {
    let folder = context.store()?.folder(id)?;
    if folder.well_known.is_empty() { Ok(folder) } else { Err(distinguished_folder()) }
}

/// A folder's number and those of all it is in.
fn lineage(context: &MailContext<'_>, number: u16) -> Result<Vec<u16>, GraphError> {
    let folders = context.store()?.folders();
    let mut line = vec![number];
    let mut at = number;
    while let Some(folder) = folders.iter().find(|folder| folder.number == at) {
        at = folder.parent;
        line.push(at);
        if line.len() > folders.len() {
            break;
        }
    }
    Ok(line)
}

/// The name in a body, where there is one.
fn name(members: &Map<String, Value>) -> Result<Option<String>, GraphError> {
    let Some(name) = members.get("displayName").and_then(Value::as_str) else {
        return Ok(None);
    };
    let name = name.trim();
    let good =
        !name.is_empty() && name.chars().count() <= MAX_LEN && !name.chars().any(char::is_control);
    if good { Ok(Some(name.to_owned())) } else { Err(invalid_property()) }
}

/// Refuses a name that another folder of the same one has.
fn free(context: &MailContext<'_>, parent: u16, name: &str, but: u16) -> Result<(), GraphError> {
    let folders = context.store()?.folders();
    let taken = folders.iter().any(|folder| {
        folder.parent == parent
            && folder.number != but
            && folder.name.to_lowercase() == name.to_lowercase()
    });
    if taken { Err(folder_exists()) } else { Ok(()) }
}

/// Changes a folder.
fn alter(
    context: &MailContext<'_>,
    number: u16,
    change: impl FnOnce(&mut MailFolder),
) -> Result<(), GraphError> {
    context
        .with(|exchange| {
            let folders = Arc::make_mut(&mut exchange.folders);
            let folder = folders.iter_mut().find(|folder| folder.number == number);
            folder.map(change)
        })
        .ok_or_else(not_found)
}
