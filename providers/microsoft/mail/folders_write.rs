//! Outlook's folders and categories: finding them by name, creating, renaming and deleting them.
//!
//! The tree of folders is in `folders.rs`. Categories are identified by name, because messages
//! refer to them by name.

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::FolderId;
use daysheet_core::provider::mail::{FolderRef, LabelLook};
use daysheet_core::query::PLACES;
use daysheet_core::schemas::CATEGORY_COLORS;
use daysheet_core::text::brief;
use graph_rs_sdk::http::Method;
use serde_json::{Value, json};

use super::folders::{FolderTree, KIND, well_known_id};
use super::mailbox::OutlookMailbox;
use crate::json::text;
use crate::microsoft::ids::check_as;
use crate::microsoft::response::not_ours;
use crate::net;
use crate::similar;
use crate::written::has_values;

/// The maximum number of levels in a folder's name.
const LEVELS: usize = 16;
/// The maximum number of categories that are read, and of pages.
const CATEGORIES: usize = 5_000;
const PAGES: usize = 100;
/// The number of category colours; the last word of the list means no colour.
const COLORS: usize = CATEGORY_COLORS.len() - 1;

/// Returns the folder with a name, an id or a well-known word; with `create`, a missing folder is
/// created.
pub async fn folder(outlook: &OutlookMailbox, name: &str, create: bool) -> Result<FolderRef> {
    let is_missing = |found: &Result<FolderRef>| matches!(found, Err(error) if error.kind() == ErrorKind::NotFound);
    let mut found = resolve(outlook, name).await;
    if is_missing(&found) {
        // It may have been created since the tree was cached.
        outlook.forget_tree().await;
        found = resolve(outlook, name).await;
    }
    if is_missing(&found) && create { make_levels(outlook, name).await } else { found }
}

async fn resolve(outlook: &OutlookMailbox, name: &str) -> Result<FolderRef> {
    let tree = outlook.tree().await?;
    Ok(there(&tree, tree.resolve(name)?))
}

/// Returns the folder at exactly this path.
async fn at_path(outlook: &OutlookMailbox, path: &str) -> Result<FolderRef> {
    let tree = outlook.tree().await?;
    Ok(there(&tree, tree.at_path(path)?))
}

fn there(tree: &FolderTree, id: &str) -> FolderRef {
    let name = tree.names().get(id);
    FolderRef { id: id.into(), name: name.map_or_else(|| id.to_owned(), Clone::clone), made: false }
}

/// Creates the missing levels of a folder's path.
async fn make_levels(outlook: &OutlookMailbox, name: &str) -> Result<FolderRef> {
    let levels: Vec<&str> = name.split('/').map(str::trim).collect();
    let named = |level: &&str| !level.is_empty() && !level.chars().any(char::is_control);
    if levels.len() > LEVELS || !levels.iter().all(named) {
        return Err(Error::argument(format!("`{}` is not a folder name", brief(name)))
            .next("write names with single slashes between levels, such as Clients/Okafor"));
    }
    let mut above: Option<FolderRef> = None;
    for (at, level) in levels.iter().enumerate() {
        let path = levels.get(..=at).unwrap_or_default().join("/");
        // A folder that was just created has no subfolders, so the lookup is skipped.
        let is_new = above.as_ref().is_some_and(|above| above.made);
        if !is_new {
            match at_path(outlook, &path).await {
                Ok(found) => {
                    above = Some(found);
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        let parent = above.as_ref().map(|above| &above.id);
        let there = async || {
            outlook.forget_tree().await;
            match at_path(outlook, &path).await {
                Ok(found) => Ok(Some(found.id)),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error),
            }
        };
        let id = match post(outlook, parent, level).await {
            Ok(folder) => text(&folder, "id").into(),
            // Another program has created it meanwhile.
            Err(error) if error.kind() == ErrorKind::Provider(409) => {
                there().await.ok().flatten().ok_or(error)?
            }
            Err(error) => outlook.graph().settle(error, there).await?,
        };
        above = Some(FolderRef { id, name: path, made: true });
    }
    outlook.forget_tree().await;
    above.ok_or_else(|| not_ours("folder"))
}

async fn post(outlook: &OutlookMailbox, parent: Option<&FolderId>, name: &str) -> Result<Value> {
    let path = match parent {
        Some(parent) => format!("mailFolders/{}/childFolders", net::path_segment(parent.as_str())),
        None => "mailFolders".to_owned(),
    };
    let request = outlook.graph().mailbox_url(&path, &[]);
    let body = json!({ "displayName": name });
    let made = outlook.graph().write(&Method::POST, &request, None, Some(&body)).await?;
    let made = made.unwrap_or_default();
    match text(&made, "id") {
        "" => Err(not_ours("folder")),
        _ => Ok(made),
    }
}

/// Creates a folder, and returns it as the table `folder` reads it.
///
/// # Errors
/// [`ErrorKind::Argument`] if it already exists.
pub async fn create_folder(outlook: &OutlookMailbox, name: &str) -> Result<Value> {
    // A cached tree may lack a folder of this name that exists by now.
    outlook.forget_tree().await;
    let made = make_levels(outlook, name).await?;
    if !made.made {
        return Err(Error::argument(format!("the folder `{}` already exists", brief(&made.name)))
            .next("choose another name"));
    }
    read_folder(outlook, &made.id).await
}

/// Reads one of the mailbox's own folders.
async fn read_folder(outlook: &OutlookMailbox, id: &FolderId) -> Result<Value> {
    let path = format!("mailFolders/{}", net::path_segment(id.as_str()));
    let select = [("$select", "id,displayName,parentFolderId,unreadItemCount,totalItemCount")];
    let mut folder = outlook.graph().get(&outlook.graph().mailbox_url(&path, &select)).await?;
    if let Some(folder) = folder.as_object_mut() {
        folder.insert(KIND.to_owned(), "user".into());
    }
    Ok(folder)
}

/// Renames a folder.
pub async fn rename_folder(outlook: &OutlookMailbox, id: &FolderId, name: &str) -> Result<Value> {
    let path = own_folder(outlook, id).await?;
    // The name may repeat the present parent folders, but cannot name others.
    let above = |path: &str| path.rsplit_once('/').map(|(above, _)| above.to_lowercase());
    if name.contains('/') && above(name) != above(&path) {
        return Err(Error::argument("a folder cannot be renamed into another folder")
            .next("give its new name without slashes"));
    }
    let last = name.rsplit('/').next().unwrap_or(name).trim();
    if last.is_empty() {
        return Err(Error::argument("a folder needs a name").next("give its new name"));
    }
    let request = outlook
        .graph()
        .mailbox_url(&format!("mailFolders/{}", net::path_segment(id.as_str())), &[]);
    let body = json!({ "displayName": last });
    let named = async || {
        let found = outlook.graph().there(&request).await?;
        Ok(found.filter(|found| has_values(Some(found), &body)))
    };
    let renamed =
        outlook.graph().write_for_sure(&Method::PATCH, &request, None, Some(&body), named).await;
    outlook.forget_tree().await;
    renamed?;
    read_folder(outlook, id).await
}

/// Deletes a folder with its contents, into Deleted Items.
pub async fn delete_folder(outlook: &OutlookMailbox, id: &FolderId) -> Result<()> {
    let name = own_folder(outlook, id).await?;
    // Exchange would delete it permanently.
    if outlook.tree().await?.is_deleted(id.as_str()) {
        return Err(Error::argument("the folder is already in Deleted Items")
            .next("let the user empty Deleted Items"));
    }
    let request = outlook
        .graph()
        .mailbox_url(&format!("mailFolders/{}", net::path_segment(id.as_str())), &[]);
    // A deleted folder is in Deleted Items with the same id, so its path shows the effect.
    let was_deleted = async || {
        outlook.forget_tree().await;
        let stays = outlook.tree().await?.names().get(id.as_str()) == Some(&name);
        Ok((!stays).then_some(Value::Null))
    };
    let deleted =
        outlook.graph().write_for_sure(&Method::DELETE, &request, None, None, was_deleted).await;
    outlook.forget_tree().await;
    deleted.map(drop)
}

/// Returns the path of one of the user's folders.
async fn own_folder(outlook: &OutlookMailbox, id: &FolderId) -> Result<String> {
    check_as(id.as_str(), "f2 from lookup kind=folders")?;
    let tree = outlook.tree().await?;
    let name = tree.names().get(id.as_str()).map(String::as_str);
    match name {
        Some(word) if well_known_id(word).is_some() || PLACES.contains(&word) => {
            Err(Error::argument(format!("`{word}` is Outlook's own folder"))
                .next("name a user folder"))
        }
        Some(path) => Ok(path.to_owned()),
        None => Err(Error::new(ErrorKind::NotFound, "Outlook has no such folder")
            .next("lookup kind=folders lists them")),
    }
}

/// Returns the category with a name; with `create`, a missing category is created.
pub async fn category(outlook: &OutlookMailbox, name: &str, create: bool) -> Result<FolderRef> {
    let all = categories(outlook).await?;
    if let Some(found) = find_category(&all, name) {
        return Ok(FolderRef {
            id: text(found, "displayName").into(),
            name: text(found, "displayName").to_owned(),
            made: false,
        });
    }
    if create {
        let made = post_category(outlook, &all, name, None).await?;
        let name = text(&made, "displayName").to_owned();
        return Ok(FolderRef { id: name.clone().into(), name, made: true });
    }
    let names = all.iter().map(|one| text(one, "displayName"));
    let next = similar::instead(name, names, "categories");
    Err(Error::new(ErrorKind::NotFound, format!("there is no category `{}`", brief(name)))
        .next(next))
}

async fn categories(outlook: &OutlookMailbox) -> Result<Vec<Value>> {
    outlook.own("categories")?;
    let select = [("$select", "id,displayName,color")];
    let request = outlook.graph().mailbox_url("outlook/masterCategories", &select);
    let answer = outlook.graph().get(&request).await?;
    Ok(outlook.graph().all(answer, CATEGORIES, PAGES).await?.0)
}

/// Finds a category by name or id; names that differ only in case count if none is equal.
fn find_category<'v>(all: &'v [Value], requested: &str) -> Option<&'v Value> {
    let requested = requested.trim();
    all.iter()
        .find(|one| text(one, "displayName") == requested || text(one, "id") == requested)
        .or_else(|| {
            all.iter()
                .find(|one| text(one, "displayName").to_lowercase() == requested.to_lowercase())
        })
}

async fn post_category(
    outlook: &OutlookMailbox,
    all: &[Value],
    name: &str,
    colour: Option<String>,
) -> Result<Value> {
    let name = name.trim();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(Error::argument("a category needs a name").next("give one line of text"));
    }
    // Outlook itself picks a colour that no other category has.
    let free = || {
        (0..COLORS)
            .map(|number| format!("preset{number}"))
            .find(|preset| {
                let has = |one: &Value| text(one, "color").eq_ignore_ascii_case(preset);
                !all.iter().any(has)
            })
            .unwrap_or_else(|| "none".to_owned())
    };
    let body = json!({"displayName": name, "color": colour.unwrap_or_else(free)});
    let request = outlook.graph().mailbox_url("outlook/masterCategories", &[]);
    let made = async || Ok(find_category(&categories(outlook).await?, name).cloned());
    let made = outlook.graph().write_for_sure(&Method::POST, &request, None, Some(&body), made);
    let made = made.await?.unwrap_or_default();
    match text(&made, "displayName") {
        "" => Err(not_ours("category")),
        _ => Ok(made),
    }
}

/// Creates a category, and returns it as the table `category` reads it.
pub async fn create_category(
    outlook: &OutlookMailbox,
    name: &str,
    look: &LabelLook,
) -> Result<Value> {
    let colour = colour(look)?;
    let all = categories(outlook).await?;
    if find_category(&all, name).is_some() {
        return Err(Error::argument(format!("the category `{}` already exists", brief(name)))
            .next("choose another name"));
    }
    post_category(outlook, &all, name, colour).await
}

/// Changes the colour of a category. Outlook cannot change its name.
pub async fn update_category(
    outlook: &OutlookMailbox,
    id: &FolderId,
    name: Option<&str>,
    look: &LabelLook,
) -> Result<Value> {
    outlook.own("categories")?;
    let colour = colour(look)?;
    let all = categories(outlook).await?;
    let found = find_category(&all, id.as_str()).ok_or_else(no_category)?;
    if name.is_some_and(|name| name != text(found, "displayName")) {
        return Err(Error::argument("Outlook cannot rename a category").next(
            "create one with the new name, label the messages with it, and delete this one",
        ));
    }
    let Some(colour) = colour else {
        return Ok(found.clone());
    };
    let path = format!("outlook/masterCategories/{}", net::path_segment(text(found, "id")));
    let request = outlook.graph().mailbox_url(&path, &[]);
    let body = json!({ "color": colour });
    let painted = async || {
        let all = categories(outlook).await?;
        let found = find_category(&all, text(found, "id"));
        Ok(found.filter(|found| has_values(Some(found), &body)).cloned())
    };
    let changed =
        outlook.graph().write_for_sure(&Method::PATCH, &request, None, Some(&body), painted);
    match changed.await? {
        Some(changed) if !text(&changed, "displayName").is_empty() => Ok(changed),
        _ => {
            let all = categories(outlook).await?;
            find_category(&all, text(found, "id")).cloned().ok_or_else(no_category)
        }
    }
}

/// Deletes a category. Messages keep its name.
pub async fn delete_category(outlook: &OutlookMailbox, id: &FolderId) -> Result<()> {
    let all = categories(outlook).await?;
    let found = find_category(&all, id.as_str()).ok_or_else(no_category)?;
    let path = format!("outlook/masterCategories/{}", net::path_segment(text(found, "id")));
    let request = outlook.graph().mailbox_url(&path, &[]);
    let was_deleted = async || {
        let all = categories(outlook).await?;
        let stays = all.iter().any(|one| text(one, "id") == text(found, "id"));
        Ok((!stays).then_some(Value::Null))
    };
    outlook
        .graph()
        .write_for_sure(&Method::DELETE, &request, None, None, was_deleted)
        .await
        .map(drop)
}

fn no_category() -> Error {
    Error::new(ErrorKind::NotFound, "Outlook has no such category")
        .next("lookup kind=categories lists them")
}

/// Returns the colour of a look as Graph's preset.
fn colour(look: &LabelLook) -> Result<Option<String>> {
    if look.in_list.is_some() || look.in_messages.is_some() {
        return Err(Error::argument("Outlook shows all categories everywhere")
            .next("leave out `in_list` and `in_messages`"));
    }
    look.colour.as_deref().map(preset).transpose()
}

/// Returns Graph's name of a colour: `none`, `preset0` to `preset24`, or a plain colour name.
fn preset(colour: &str) -> Result<String> {
    let lower: String = colour
        .to_lowercase()
        .replace("grey", "gray")
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let number = lower
        .strip_prefix("preset")
        .and_then(|number| number.parse::<usize>().ok())
        .or_else(|| CATEGORY_COLORS.iter().position(|(known, _)| *known == lower));
    match number {
        _ if lower == "none" => Ok(lower),
        Some(number) if number < COLORS => Ok(format!("preset{number}")),
        _ => {
            let known: Vec<&str> = CATEGORY_COLORS.iter().map(|(known, _)| *known).collect();
            Err(Error::argument(format!("Outlook has no colour `{}`", brief(colour)))
                .next(format!("use preset0 to preset24, or one of: {}", known.join(", "))))
        }
    }
}
