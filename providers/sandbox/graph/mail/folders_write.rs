//! Creation, renaming and deletion of folders. Those that every mailbox has cannot be changed.

use std::sync::Arc;

use hyper::StatusCode;
use serde_json::{Map, Value};

use crate::graph::error::{
    GraphError, distinguished_folder, folder_exists, invalid_property, invalid_request, not_found,
};
use crate::graph::exchange::folders::{DELETED, FIRST_OWN, MailFolder, ROOT};
use crate::graph::request::RequestContext;
use crate::graph::response::{GraphResponse, no_content};
use crate::graph::types::mail::FOLDER;
use crate::graph::types::read::read;
use crate::store::mailbox::change::MailboxChange;

/// The maximum number of folders of a mailbox.
const MAX_FOLDERS: usize = 10_000;

/// The maximum length of a name, in characters.
const MAX_LEN: usize = 255;

/// Creates a folder inside another one, or inside the root.
pub(crate) fn create(
    context: &RequestContext<'_>,
    parent: Option<&str>,
) -> Result<GraphResponse, GraphError> {
    let members = read(context.request, &FOLDER, true)?;
    let parent = match parent {
        Some(id) => context.present()?.folder(id)?.number,
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
pub(crate) fn rename(context: &RequestContext<'_>, id: &str) -> Result<GraphResponse, GraphError> {
    let members = read(context.request, &FOLDER, true)?;
    let folder = own(context, id)?;
    if let Some(name) = name(&members)? {
        free(context, folder.parent, &name, folder.number)?;
        alter(context, folder.number, |folder| folder.name = name.into())?;
    }
    reply(context, folder.number, StatusCode::OK)
}

/// Deletes a folder: moves it to Deleted Items, or deletes it permanently if it is in there.
pub(crate) fn delete(context: &RequestContext<'_>, id: &str) -> Result<GraphResponse, GraphError> {
    let folder = own(context, id)?;
    if !lineage(context, folder.parent)?.contains(&DELETED) {
        // The name is not checked: Deleted Items may have two folders of the same name.
        alter(context, folder.number, |it| it.parent = DELETED)?;
        return Ok(no_content());
    }
    let store = context.present()?;
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
        // Before the folders, so that no message is ever in a folder that does not exist.
        context.change(MailboxChange::Goes(messages))?;
    }
    context.with(|exchange| {
        let deleted = |known: &MailFolder| doomed.iter().any(|it| it.number == known.number);
        Arc::make_mut(&mut exchange.folders).retain(|known| !deleted(known));
    });
    Ok(no_content())
}

/// Returns the response with a folder.
fn reply(
    context: &RequestContext<'_>,
    number: u16,
    status: StatusCode,
) -> Result<GraphResponse, GraphError> {
    let store = context.present()?;
    let folders = store.folders();
    let folder = folders.iter().find(|folder| folder.number == number);
    let members = store.folder_json(folder.ok_or_else(not_found)?);
    Ok(context.entity(members, "mailFolders", status))
}

/// Returns a folder that may be changed.
fn own(context: &RequestContext<'_>, id: &str) -> Result<MailFolder, GraphError> {
    let folder = context.present()?.folder(id)?;
    if folder.well_known.is_empty() { Ok(folder) } else { Err(distinguished_folder()) }
}

/// Returns the numbers of a folder and of all folders that contain it.
fn lineage(context: &RequestContext<'_>, number: u16) -> Result<Vec<u16>, GraphError> {
    let folders = context.present()?.folders();
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

/// Returns the name in a body, if there is one.
fn name(members: &Map<String, Value>) -> Result<Option<String>, GraphError> {
    let Some(name) = members.get("displayName").and_then(Value::as_str) else {
        return Ok(None);
    };
    let name = name.trim();
    let good =
        !name.is_empty() && name.chars().count() <= MAX_LEN && !name.chars().any(char::is_control);
    if good { Ok(Some(name.to_owned())) } else { Err(invalid_property()) }
}

/// Refuses a name that another folder with the same parent has. Case is ignored.
fn free(context: &RequestContext<'_>, parent: u16, name: &str, but: u16) -> Result<(), GraphError> {
    let folders = context.present()?.folders();
    let taken = folders.iter().any(|folder| {
        folder.parent == parent
            && folder.number != but
            && folder.name.to_lowercase() == name.to_lowercase()
    });
    if taken { Err(folder_exists()) } else { Ok(()) }
}

/// Changes a folder.
fn alter(
    context: &RequestContext<'_>,
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
