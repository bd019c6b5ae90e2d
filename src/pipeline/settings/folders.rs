//! Folders, labels and categories.
//!
//! A folder with messages is deleted only if the call says what to do with them;
//! deleting a label only removes it from its messages.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::flatten::{self, RowContext};
use daysheet_core::project::project;
use daysheet_core::provider::mail::{FolderKind, FolderRef, LabelLook, SettingsChange};
use daysheet_core::provider::{ListRequest, PeopleQuery, SearchTotal};
use daysheet_core::query::{self, Query, QueryTerm};
use daysheet_core::schemas::{CATEGORY, ColumnLevel, FOLDER, MESSAGE, OUTCOME, Table};
use daysheet_core::text::{brief, note, quoted, quoted_list};
use serde_json::Value;

use super::target::{
    LoggedOp, SettingFields, SettingsContext, SettingsPlan, apply_settings, context_of_account,
    mail_context, nothing_to_change, refuse_id, rehearse_settings, required_id, settable_columns,
    settings_row, write_settings,
};
use crate::pipeline::access::accounts::owner_named;
use crate::pipeline::context::Context;
use crate::pipeline::handles::resolve_handle;
use crate::pipeline::mail::modify::actions::{ActionArguments, CreatedFolder, missing_above};
use crate::pipeline::mail::modify::change_messages;
use crate::pipeline::mail::modify::chosen::choose_messages;
use crate::pipeline::write::object::ObjectWrite;
use crate::store::HandleKind;
use crate::tools::mail::ModifyVerb;
use crate::tools::manage::{ManageKind, ManageOp, ManageRequest};

/// The argument that allows deleting a folder with its messages.
const MESSAGES: &str = "messages";
/// The argument with the value for a folder whose messages are deleted, too.
const TRASH_TOO: &str = r#"set=["messages=trash"]"#;

/// Creates, changes or deletes a folder, a label or a category.
pub(super) async fn manage_folder(ctx: &Context, request: &ManageRequest) -> Result<WholeAnswer> {
    let mut columns = settable_columns(place_kind(request).0);
    if request.op == ManageOp::Delete {
        columns.push(MESSAGES);
    }
    let set = SettingFields::new(request, &columns)?;
    let name = set.name()?;
    let look = LabelLook {
        colour: set.text("color")?,
        in_list: set.text("in_list")?,
        in_messages: set.text("in_messages")?,
    };
    if request.op == ManageOp::Create {
        return create_place(ctx, request, name, look).await;
    }
    let (owner, place) = named_place(ctx, request).await?;
    if request.op == ManageOp::Delete {
        if name.is_some() || look != LabelLook::default() {
            return Err(Error::argument("op=delete takes only `messages`")
                .next("name what to delete by `id` alone"));
        }
        let fate = set.text(MESSAGES)?;
        return delete_place(ctx, request, &owner, &place, fate.as_deref()).await;
    }
    let name = name.filter(|name| *name != place.name);
    if name.is_none() && look == LabelLook::default() {
        return if set.is_empty() {
            Err(nothing_to_change("give it in `set`"))
        } else {
            let detail = "already as requested";
            let about = ObjectWrite { item: &place.name, op: "update", detail };
            about.outcome(ctx, "unchanged", Vec::new()).await
        };
    }
    update_place(ctx, request, (&owner, &place), (name, look)).await
}

/// Returns true if a call is about a folder, and not a label or category.
fn is_folder(request: &ManageRequest) -> bool {
    request.kind == ManageKind::Folder
}

/// Returns the table of the object of a call, and its kind at the provider.
fn place_kind(request: &ManageRequest) -> (&'static Table, FolderKind) {
    if is_folder(request) { (&FOLDER, FolderKind::Folder) } else { (&CATEGORY, FolderKind::Label) }
}

/// Creates a folder, label or category, with the levels above it that are missing.
async fn create_place(
    ctx: &Context,
    request: &ManageRequest,
    name: Option<String>,
    look: LabelLook,
) -> Result<WholeAnswer> {
    refuse_id(request)?;
    let (table, kind) = place_kind(request);
    let name = name.ok_or_else(|| Error::argument("`name` is missing").next("give its name"))?;
    let owner = mail_context(ctx, request.account.as_deref()).await?;
    refuse_existing(&owner, &name, kind).await?;
    let change = if is_folder(request) {
        SettingsChange::CreateFolder { name: name.clone() }
    } else {
        SettingsChange::CreateCategory { name: name.clone(), look }
    };
    // Before the creation, after which no level is missing.
    let above = missing_above(&*owner.mailbox, &name, kind).await;
    if request.dry_run {
        let mut detail = format!("in {}", owner.label);
        if !above.is_empty() {
            detail.push_str(&format!(", and above it {}", above.join(", ")));
        }
        let about = ObjectWrite { item: &name, op: "create", detail: &detail };
        return rehearse_settings(ctx, &owner, &change, about).await;
    }
    let logged = LoggedOp { op: "create folder", id: &name };
    let answer = apply_settings(ctx, &owner, logged, &change).await;
    if let (Ok(Some(made)), false) = (&answer, above.is_empty()) {
        let id = flatten::key(table, made, &RowContext::bare(owner.mailbox.api()));
        owner.late_notes().push(note!("created above it: {}", quoted_list(&above)));
        let folder = CreatedFolder {
            id: id.unwrap_or_default().into(),
            name: name.clone(),
            category: !is_folder(request),
            above,
        };
        folder.keep_levels(&ctx.store, &owner.account.id).await;
    }
    let about = ObjectWrite { item: &name, op: "create", detail: "" };
    let mut response = settings_row(ctx, &owner, Some(table), answer, about).await?;
    // The only text of the row is the name, which is that of the call.
    response.is_own = true;
    Ok(response)
}

/// Refuses the name of a folder or label that exists.
async fn refuse_existing(owner: &SettingsContext, name: &str, kind: FolderKind) -> Result<()> {
    match owner.mailbox.find_folder(name, kind, false).await {
        // A name finds a folder within another, too.
        Ok(found) if !is_at(&found, name) => Ok(()),
        Ok(_) => Err(Error::argument(format!("{name} already exists")).next("choose another name")),
        // Or several are found by this name.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Argument) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Renames a folder, label or category, or changes the look of a label or category.
async fn update_place(
    ctx: &Context,
    request: &ManageRequest,
    (owner, place): (&SettingsContext, &FolderRef),
    (name, look): (Option<String>, LabelLook),
) -> Result<WholeAnswer> {
    let detail = name.as_ref().map_or_else(String::new, |name| format!("to {name}"));
    let change = match (is_folder(request), name) {
        (true, Some(name)) => SettingsChange::RenameFolder { id: place.id.clone(), name },
        (_, name) => SettingsChange::UpdateCategory { id: place.id.clone(), name, look },
    };
    let plan = SettingsPlan {
        about: ObjectWrite { item: &place.name, op: "update", detail: "" },
        planned: &detail,
        table: Some(place_kind(request).0),
        id: place.id.as_str(),
        change,
        done: None,
    };
    write_settings(ctx, owner, request, plan).await
}

/// Deletes a folder, label or category; `fate` is the requested place for its messages.
async fn delete_place(
    ctx: &Context,
    request: &ManageRequest,
    owner: &SettingsContext,
    place: &FolderRef,
    fate: Option<&str>,
) -> Result<WholeAnswer> {
    let folder = is_folder(request);
    let labels = owner.mailbox.capabilities().has_labels();
    // A folder takes its messages along; a label or category leaves them where they are.
    let goes = folder && !labels;
    let (expected, detail) = if goes {
        ("trash", "with its content, to Deleted Items")
    } else {
        ("keep", "its messages stay")
    };
    let id = place.id.clone();
    let (table, change) = if folder {
        (&FOLDER, SettingsChange::DeleteFolder { id })
    } else {
        (&CATEGORY, SettingsChange::DeleteCategory { id })
    };
    let elsewhere = fate.filter(|fate| *fate != expected);
    match elsewhere {
        Some(to) if folder || labels => {
            return empty_and_delete(ctx, request, owner, place, to).await;
        }
        Some(to) => {
            return Err(Error::argument(format!("`{MESSAGES}` is {}", brief(to))).next(
                "use keep, or leave it out: they lose only the name; mail_modify moves or \
                 deletes them",
            ));
        }
        None => {}
    }
    // Messages go to the trash with their folder only if the call says so.
    let asks = goes && fate.is_none();
    if request.dry_run || asks {
        let count = messages_of(owner, place, folder || labels).await?;
        let context = match count {
            Some(1) => "1 message".to_owned(),
            Some(count) => format!("{count} messages"),
            None => "an unknown number of messages".to_owned(),
        };
        if request.dry_run {
            let needs = if asks && count != Some(0) {
                format!("; needs {TRASH_TOO}")
            } else {
                String::new()
            };
            let detail = match count {
                Some(_) => format!("{context}; {detail}{needs}"),
                None => format!("{detail}{needs}"),
            };
            let about = ObjectWrite { item: &place.name, op: "delete", detail: &detail };
            return rehearse_settings(ctx, owner, &change, about).await;
        }
        if count != Some(0) {
            return Err(Error::argument(format!(
                "{} holds {context}, including subfolders",
                brief(&place.name)
            ))
            .next(format!(
                "give {TRASH_TOO} to move them to Deleted Items with it, or name another folder, \
                 such as inbox or archive, to move them there first"
            )));
        }
    }
    let answer = delete_with_levels(ctx, owner, place, &change).await;
    let about = ObjectWrite { item: &place.name, op: "delete", detail };
    settings_row(ctx, owner, Some(table), answer, about).await
}

/// Moves the messages of a folder or label into the folder `to`, and then deletes the folder or
/// label with those below it. It is deleted only if all of its messages have been moved.
async fn empty_and_delete(
    ctx: &Context,
    request: &ManageRequest,
    owner: &SettingsContext,
    place: &FolderRef,
    to: &str,
) -> Result<WholeAnswer> {
    let labels = owner.mailbox.capabilities().has_labels();
    let below = format!("{}/", place.name);
    if to == place.name || to.starts_with(&below) {
        return Err(Error::argument(format!("{} is to be deleted", brief(to)))
            .next("name another folder for its messages"));
    }
    let mut parts = vec![if labels {
        QueryTerm::Label(place.name.clone())
    } else {
        QueryTerm::Folder(place.name.clone())
    }];
    // Folders below are deleted with theirs, so their messages are moved, too.
    if !labels {
        let names = owner.mailbox.names().await?;
        let within = names.into_values().filter(|name| name.starts_with(&below));
        parts.extend(within.map(QueryTerm::Folder));
    }
    let within = Query::Any(parts.into_iter().map(Query::Term).collect());
    let choice = choose_messages(ctx, &within, vec![owner.account.clone()]).await?;
    // The messages that remain would be deleted with the folder.
    if choice.left.is_some() {
        return Err(Error::argument(format!("{} holds too many messages", brief(&place.name)))
            .next("move them first with mail_modify do=move, in several calls"));
    }
    let with = ActionArguments {
        to: vec![to.to_owned()],
        dry_run: request.dry_run,
        ..ActionArguments::default()
    };
    let steps = [(ModifyVerb::Move, with)];
    let mut response = change_messages(ctx, choice, "move", &steps, None).await?;
    let change = SettingsChange::DeleteFolder { id: place.id.clone() };
    let about =
        ObjectWrite { item: &place.name, op: "delete", detail: "after its messages were moved" };
    let deleted = if request.dry_run {
        rehearse_settings(ctx, owner, &change, about).await?
    } else {
        // A label stays on its messages until it is deleted, so its messages are not counted.
        let moved = if labels {
            response.document.tables.iter().all(|rows| *rows.table() != OUTCOME)
        } else {
            messages_of(owner, place, true).await? == Some(0)
        };
        if !moved {
            response.notes.push(note!(
                "{} was not deleted, because not all of its messages were moved",
                quoted(&place.name)
            ));
            return Ok(response);
        }
        let answer = delete_with_levels(ctx, owner, place, &change).await;
        let moves = response.document.scalars.iter().any(|(name, _)| *name == "undo");
        if moves && answer.is_ok() {
            // An undo would put the messages where the folder is now, if it still exists.
            response.document.scalars.retain(|(name, _)| *name != "undo");
            response.notes.push("no undo: the folder that the messages were in is gone".into());
        }
        let about =
            if moves { about } else { ObjectWrite { detail: "it had no messages", ..about } };
        settings_row(ctx, owner, Some(&FOLDER), answer, about).await?
    };
    response.document.tables.extend(deleted.document.tables);
    response.notes.extend(deleted.notes);
    response.notes.dedup();
    Ok(response)
}

/// Deletes a folder or label, and the empty ones above it that were created with it.
async fn delete_with_levels(
    ctx: &Context,
    owner: &SettingsContext,
    place: &FolderRef,
    change: &SettingsChange,
) -> Result<Option<Value>> {
    let logged = LoggedOp { op: "delete folder", id: place.id.as_str() };
    let left = labels_below(owner, place).await;
    let answer = apply_settings(ctx, owner, logged, change).await?;
    if left > 0 {
        owner.late_notes().push(note!("the labels below it stay: {}", left));
    }
    let deleted = delete_created_with(ctx, owner, place).await;
    if !deleted.is_empty() {
        let goes = if owner.mailbox.capabilities().has_labels() {
            "also deleted"
        } else {
            "also moved to Deleted Items"
        };
        owner.late_notes().push(note!(
            "{}, as created with it and empty: {}",
            goes,
            quoted_list(deleted)
        ));
    }
    Ok(answer)
}

/// Returns the number of labels below a label. They stay when it is deleted, unlike subfolders.
async fn labels_below(owner: &SettingsContext, place: &FolderRef) -> usize {
    if !owner.mailbox.capabilities().has_labels() {
        return 0;
    }
    let below = format!("{}/", place.name);
    // The names were read to find the label.
    let names = owner.mailbox.names().await.unwrap_or_default();
    names.values().filter(|name| name.starts_with(&below)).count()
}

/// Deletes the levels that were created with a folder or label, the lowest first, up to one that
/// has messages or other levels below it. Returns the deleted levels.
async fn delete_created_with(
    ctx: &Context,
    owner: &SettingsContext,
    place: &FolderRef,
) -> Vec<String> {
    let above = ctx.store.created_with(&owner.account.id, &place.id).await;
    let mut deleted = Vec::new();
    for name in above.unwrap_or_default().into_iter().rev() {
        // Read again for each level, because a deletion changes the names.
        let names = owner.mailbox.names().await.unwrap_or_default();
        let below = format!("{name}/");
        let Some((id, _)) = names.iter().find(|(_, known)| **known == name) else {
            break;
        };
        let level = FolderRef { id: id.clone().into(), name: name.clone(), made: false };
        let is_used = names.values().any(|known| known.starts_with(&below));
        if is_used || !matches!(messages_of(owner, &level, true).await, Ok(Some(0))) {
            break;
        }
        let change = SettingsChange::DeleteFolder { id: level.id.clone() };
        let logged = LoggedOp { op: "delete folder", id: level.id.as_str() };
        if apply_settings(ctx, owner, logged, &change).await.is_err() {
            break;
        }
        deleted.push(name);
    }
    deleted
}

/// Finds the folder or label that a call names, by a handle, a name or a provider's id.
async fn named_place(
    ctx: &Context,
    request: &ManageRequest,
) -> Result<(SettingsContext, FolderRef)> {
    let id_or_name = required_id(request, "its name or id, from lookup kind=folders")?;
    let account = request.account.as_deref();
    let kind = place_kind(request).1;
    let Some((owner, id)) = resolve_handle(ctx, HandleKind::Folder, id_or_name).await? else {
        let owner = mail_context(ctx, account).await?;
        let place = owner.mailbox.find_folder(id_or_name, kind, false).await?;
        return Ok((owner, place));
    };
    let owner = context_of_account(ctx, owner_named(ctx, &owner, account).await?).await?;
    let place = owner.mailbox.find_folder(&id, kind, false).await;
    let place = place.map_err(|error| match error.kind() {
        // The provider's id says nothing to the caller.
        ErrorKind::NotFound => {
            Error::new(ErrorKind::NotFound, format!("{id_or_name} does not exist any more"))
                .next("see lookup kind=folders")
        }
        _ => error,
    })?;
    Ok((owner, place))
}

/// Returns the number of messages in a folder or label, if the provider reports it.
async fn messages_of(
    owner: &SettingsContext,
    place: &FolderRef,
    listed: bool,
) -> Result<Option<u64>> {
    let api = owner.mailbox.api();
    // Only folders and labels are listed with their counts.
    if !listed {
        let key: Vec<_> = MESSAGE.fields.first().into_iter().collect();
        let ask = ListRequest {
            query: Some(Query::Term(QueryTerm::Category(place.name.clone()))),
            folder: None,
            projection: project(api, &key),
            limit: 1,
            oldest: false,
            cursor: None,
            hidden: false,
        };
        let total = owner.mailbox.messages(&ask).await?.total;
        return Ok(total.map(|(SearchTotal::Exactly(count) | SearchTotal::About(count))| count));
    }
    let columns = FOLDER.up_to(ColumnLevel::Core);
    let projection = project(api, &columns);
    let page = owner.mailbox.lookup(&FOLDER, &PeopleQuery::default(), &projection).await?;
    let context = RowContext { names: &page.names, ..RowContext::bare(api) };
    let text = |item: &Value, column: &str| {
        let texts = flatten::texts(FOLDER.field(column)?, item, &context);
        texts.into_iter().next()
    };
    // Subfolders are deleted with their folder; labels have none.
    let below = format!("{}/", place.name);
    let owner_context = page.items.iter().filter(|item| {
        flatten::key(&FOLDER, *item, &context).is_some_and(|id| place.id == id.as_str())
            || !owner.mailbox.capabilities().has_labels()
                && text(item, "name").is_some_and(|name| name.starts_with(&below))
    });
    let totals: Option<Vec<u64>> =
        owner_context.map(|item| text(item, "total")?.parse().ok()).collect();
    Ok(totals.filter(|all| !all.is_empty()).map(|all| all.iter().sum()))
}

/// Returns true for a folder with exactly this path.
fn is_at(found: &FolderRef, name: &str) -> bool {
    let whole = |name: &str| query::place(name.trim().trim_matches('/')).to_lowercase();
    whole(&found.name) == whole(name)
}
