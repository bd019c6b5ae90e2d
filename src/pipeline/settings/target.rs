//! Shared parts of all kinds of settings: the mailbox that is changed, the arguments in `set`, and
//! the rows of an answer.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use daysheet_core::budget::WholeAnswer;
use daysheet_core::choice::WordChoice;
use daysheet_core::error::{Error, Result};
use daysheet_core::project::project;
use daysheet_core::provider::mail::SettingsChange;
use daysheet_core::provider::{Account, Mailbox};
use daysheet_core::schemas::{ColumnLevel, Service, Table};
use daysheet_core::text::Note;
use serde_json::{Map, Value};

use crate::pipeline::access::accounts::{account_labels, account_named, several_accounts};
use crate::pipeline::context::Context;
use crate::pipeline::rows::columns_of;
use crate::pipeline::write::log::{AuditEntry, LoggedTool, run_logged};
use crate::pipeline::write::object::{ObjectOwner, ObjectWrite, object_answer, object_row};
use crate::tools::manage::{ManageKind, ManageRequest};

/// The mailbox that is set up.
pub(super) struct SettingsContext {
    pub(super) account: Account,
    pub(super) label: String,
    pub(super) mailbox: Arc<dyn Mailbox>,
    /// Notes from after the write, for its answer.
    pub(super) late: Mutex<Vec<Note>>,
}

impl SettingsContext {
    /// Returns the notes that the answer gets after the write.
    pub(super) fn late_notes(&self) -> MutexGuard<'_, Vec<Note>> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the names of folders for the columns of a table. They cost a request, so they are
    /// read only for columns that show them.
    async fn names_for(
        &self,
        ctx: &Context,
        table: &'static Table,
        api: Service,
    ) -> HashMap<String, String> {
        let columns = columns_of(table, ColumnLevel::Core, several_accounts(ctx).await);
        if project(api, &columns).names {
            self.mailbox.names().await.unwrap_or_default()
        } else {
            HashMap::new()
        }
    }

    fn object_owner<'a>(
        &'a self,
        api: Service,
        names: &'a HashMap<String, String>,
    ) -> ObjectOwner<'a> {
        ObjectOwner { account: &self.account, label: &self.label, api, names }
    }
}

/// The fields to set.
pub(crate) struct SettingFields<'a> {
    pub(crate) members: Cow<'a, Map<String, Value>>,
    pub(crate) name: Option<&'a str>,
}

/// A write to one object whose answer is its row, or an outcome.
pub(super) struct SettingsPlan<'a> {
    /// The object and the operation, with the detail of an outcome without a row.
    pub(super) about: ObjectWrite<'a>,
    /// The detail of the outcome of a dry run.
    pub(super) planned: &'a str,
    /// The table of the row; `None` if none is shown.
    pub(super) table: Option<&'static Table>,
    /// The provider's id of the object; empty for objects without ids.
    pub(super) id: &'a str,
    pub(super) change: SettingsChange,
    /// A note on the write once it is made.
    pub(super) done: Option<Note>,
}

/// A write to one object, as the audit log records it.
#[derive(Clone, Copy)]
pub(super) struct LoggedOp<'a> {
    /// The operation, with the kind of the object.
    pub(super) op: &'a str,
    /// The provider's id of the object; empty for objects without ids.
    pub(super) id: &'a str,
}

/// Returns the mailbox of an account; of the only account without a name.
pub(super) async fn mail_context(ctx: &Context, account: Option<&str>) -> Result<SettingsContext> {
    let account = account_named(ctx, account).await?;
    context_of_account(ctx, account).await
}

/// Opens the mailbox of an account for changes of its settings.
pub(super) async fn context_of_account(ctx: &Context, account: Account) -> Result<SettingsContext> {
    Ok(SettingsContext {
        label: account_labels(ctx).await?.label_of(&account.id),
        mailbox: ctx.connect.mailbox(&account)?,
        late: Mutex::default(),
        account,
    })
}

/// Carries out a write, or rehearses it in a dry run. Returns the answer.
pub(super) async fn write_settings(
    ctx: &Context,
    owner: &SettingsContext,
    request: &ManageRequest,
    plan: SettingsPlan<'_>,
) -> Result<WholeAnswer> {
    let SettingsPlan { about, planned, table, id, change, done } = plan;
    if request.dry_run {
        let about = ObjectWrite { detail: planned, ..about };
        return rehearse_settings(ctx, owner, &change, about).await;
    }
    // Labels and categories are folders in the log.
    let kind = match request.kind {
        ManageKind::Folder | ManageKind::Category => "folder",
        kind => kind.word(),
    };
    let op = format!("{} {kind}", about.op);
    let answer = apply_settings(ctx, owner, LoggedOp { op: &op, id }, &change).await;
    if answer.is_ok() {
        owner.late_notes().extend(done);
    }
    settings_row(ctx, owner, table, answer, about).await
}

/// Applies a change, with a line in the audit log before and after.
pub(super) async fn apply_settings(
    ctx: &Context,
    owner: &SettingsContext,
    logged: LoggedOp<'_>,
    change: &SettingsChange,
) -> Result<Option<Value>> {
    write_logged(ctx, owner, logged, owner.mailbox.apply_settings(change)).await
}

/// Carries out a write, with a line in the audit log before and after.
pub(super) async fn write_logged<T>(
    ctx: &Context,
    owner: &SettingsContext,
    LoggedOp { op, id }: LoggedOp<'_>,
    write: impl Future<Output = Result<T>>,
) -> Result<T> {
    let ids = (!id.is_empty()).then(|| id.to_owned());
    let ids = ids.into_iter().collect();
    let entry = AuditEntry { ids, ..AuditEntry::new(&owner.account.email, LoggedTool::MANAGE, op) };
    let mut notes = Vec::new();
    let answer = run_logged(ctx, entry, &mut notes, write, |_| None).await;
    owner.late_notes().append(&mut notes);
    answer
}

/// Returns the answer about one object: its row as at the provider, or its outcome without a table.
pub(super) async fn settings_row(
    ctx: &Context,
    owner: &SettingsContext,
    table: Option<&'static Table>,
    answer: Result<Option<Value>>,
    about: ObjectWrite<'_>,
) -> Result<WholeAnswer> {
    let answer = answer.map(|object| table.zip(object));
    let api = owner.mailbox.api();
    let names = match &answer {
        Ok(Some((table, _))) => owner.names_for(ctx, table, api).await,
        _ => HashMap::new(),
    };
    let notes = std::mem::take(&mut *owner.late_notes());
    object_answer(ctx, owner.object_owner(api, &names), about, answer, notes).await
}

/// Returns the row of an object that was written and is in our own form.
pub(super) async fn local_row(
    ctx: &Context,
    owner: &SettingsContext,
    table: &'static Table,
    object: Value,
) -> WholeAnswer {
    let names = owner.names_for(ctx, table, Service::Local).await;
    let notes = std::mem::take(&mut *owner.late_notes());
    object_row(ctx, owner.object_owner(Service::Local, &names), table, object, notes).await
}

/// Returns the plan, if the provider would not refuse it.
pub(super) async fn rehearse_settings(
    ctx: &Context,
    owner: &SettingsContext,
    change: &SettingsChange,
    about: ObjectWrite<'_>,
) -> Result<WholeAnswer> {
    owner.mailbox.rehearse(change).await?;
    planned_change(ctx, owner, about).await
}

/// Returns the planned outcome of a dry run.
pub(super) async fn planned_change(
    ctx: &Context,
    owner: &SettingsContext,
    about: ObjectWrite<'_>,
) -> Result<WholeAnswer> {
    let notes = std::mem::take(&mut *owner.late_notes());
    about.outcome(ctx, "planned", notes).await
}

impl<'a> SettingFields<'a> {
    /// Returns the requested fields, if all of them can be set. A name may be in the other number,
    /// as `email` for `emails`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](daysheet_core::error::ErrorKind::Argument), which names the columns
    /// that can be set.
    pub(crate) fn new(request: &'a ManageRequest, columns: &[&str]) -> Result<Self> {
        let mut members = Cow::Borrowed(&request.set);
        for (name, value) in &request.set {
            let other = |column: &&&str| is_other_number(column, name);
            // A value under the right name takes precedence.
            if let Some(column) = columns.iter().find(other)
                && !request.set.contains_key(*column)
            {
                members.to_mut().remove(name);
                members.to_mut().insert((*column).to_owned(), value.clone());
            }
        }
        let bad = members.keys().filter(|name| !columns.contains(&&***name));
        let bad: Vec<String> =
            bad.map(|name| format!("`{}`", daysheet_core::text::brief(name))).collect();
        if !bad.is_empty() {
            let kind = request.kind.word();
            return Err(Error::argument(format!("kind={kind} has no {} to set", bad.join(", ")))
                .next(format!("set {}", columns.join(", "))));
        }
        Ok(Self { members, name: request.name.as_deref() })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.name.is_none()
    }

    /// Returns the new name.
    pub(crate) fn name(&self) -> Result<Option<String>> {
        let name = match self.text("name")? {
            Some(name) => Some(name),
            None => self.name.map(str::to_owned),
        };
        match name.as_deref().map(str::trim) {
            None => Ok(None),
            Some(name) if !name.is_empty() && !name.contains(char::is_control) => {
                Ok(Some(name.to_owned()))
            }
            Some(_) => Err(Error::argument("`name` is invalid").next("give one line of text")),
        }
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<String>> {
        match self.members.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            // A name or subject of digits alone may arrive as a number.
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(_) => Err(wrong_type(name, ValueType::Text)),
        }
    }

    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>> {
        match self.members.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::String(text)) if text == "true" => Ok(Some(true)),
            Some(Value::String(text)) if text == "false" => Ok(Some(false)),
            Some(_) => Err(wrong_type(name, ValueType::Flag)),
        }
    }

    /// Returns a list, or splits a text at its commas.
    pub(crate) fn list(&self, name: &str) -> Result<Option<Vec<String>>> {
        let parts: Vec<String> = match self.members.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => text.split(',').map(|one| one.trim().to_owned()).collect(),
            Some(Value::Array(list)) => {
                let text = |one: &Value| one.as_str().map(|one| one.trim().to_owned());
                let all: Option<Vec<String>> = list.iter().map(text).collect();
                all.ok_or_else(|| wrong_type(name, ValueType::List))?
            }
            Some(_) => return Err(wrong_type(name, ValueType::List)),
        };
        Ok(Some(parts.into_iter().filter(|one| !one.is_empty()).collect()))
    }
}

/// Returns true if one name is the other with an `s` at its end.
fn is_other_number(one: &str, other: &str) -> bool {
    one.strip_suffix('s') == Some(other) || other.strip_suffix('s') == Some(one)
}

/// Returns the columns of a table that can be set.
pub(super) fn settable_columns(table: &Table) -> Vec<&'static str> {
    let fields = table.fields.iter().filter(|field| field.settable);
    fields.map(|field| field.name).collect()
}

/// The type of a value in `set`.
#[derive(Clone, Copy)]
enum ValueType {
    Text,
    Flag,
    List,
}

/// Returns the error about a value of another type.
fn wrong_type(name: &str, expected: ValueType) -> Error {
    let expected = match expected {
        ValueType::Text => "a string",
        ValueType::Flag => "true or false",
        ValueType::List => "a list of strings",
    };
    Error::argument(format!("`{name}` in `set` must be {expected}"))
}

/// Returns the id of the object, which is required.
pub(crate) fn required_id<'a>(request: &'a ManageRequest, example: &str) -> Result<&'a str> {
    request.id.as_deref().ok_or_else(|| {
        Error::argument(format!("`id` is missing: which {}?", request.kind.word()))
            .next(format!("give {example}"))
    })
}

/// Refuses an id in a call that creates an object.
pub(super) fn refuse_id(request: &ManageRequest) -> Result<()> {
    match request.id {
        None => Ok(()),
        Some(_) => Err(Error::argument(format!("`id` is for an existing {}", request.kind.word()))
            .next("give its `name` in `set` instead, or use op=update")),
    }
}

/// Returns the error about a call without a change.
pub(crate) fn nothing_to_change(next: &str) -> Error {
    Error::argument("there is nothing to change").next(next)
}
