//! Sets up mailboxes: folders, labels, categories, rules, contacts, automatic replies,
//! signatures and settings.
//!
//! The registry declares what can be set of each kind
//! ([`Field::settable`](crate::schemas::Field)). An answer shows the object as its
//! provider has it afterwards, in the columns of a lookup.

mod contacts;
mod folders;
pub(super) mod reply;
pub(super) mod rules;
mod words;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use self::contacts::manage_contact;
use self::folders::manage_folder;
use self::reply::{auto_reply, mailbox_settings, set_signature};
use self::rules::{manage_rule, run_rule};
use super::access::audit::{Entry, run_logged};
use super::answer::outcome::{Outcome, WriteReport, write_report};
use super::titles::short;
use crate::budget::Response;
use crate::client::{ClientPrompts, MaybeDryRun};
use crate::error::{Error, Result};
use crate::flatten::RowContext;
use crate::pipeline::access::accounts::{account_labels, account_named, several_accounts};
use crate::pipeline::calendar::outward::manage::manage_calendar;
use crate::pipeline::context::Context;
use crate::pipeline::handles::hand_out_after;
use crate::pipeline::rows::{columns_of, rows_of, zone_line};
use crate::project::project;
use crate::provider::Account;
use crate::provider::Mailbox;
use crate::provider::mail::SettingsChange;
use crate::schemas::{Api, Level, Table};
use crate::text::Note;
use crate::tools::outward::{Manage, ManageKind, ManageOp};
use crate::words::Words;

/// The mailbox that is set up.
struct SettingsContext {
    account: Account,
    label: String,
    mailbox: Arc<dyn Mailbox>,
    /// Notes from after the write, for its answer.
    late: Mutex<Vec<Note>>,
}

impl SettingsContext {
    fn late(&self) -> MutexGuard<'_, Vec<Note>> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The fields to set.
struct Set<'a> {
    members: Cow<'a, Map<String, Value>>,
    name: Option<&'a str>,
}

/// Carries out `manage`, of a calendar or of a mailbox.
pub(in crate::pipeline) async fn manage(
    ctx: &Context,
    request: Manage,
    caller: &dyn ClientPrompts,
) -> Result<Response> {
    if request.kind == ManageKind::Calendar {
        manage_calendar(ctx, request, caller).await
    } else {
        manage_settings(ctx, request, caller).await
    }
}

async fn manage_settings(
    ctx: &Context,
    request: Manage,
    caller: &dyn ClientPrompts,
) -> Result<Response> {
    // A dry run is refused as the real call would be, and asks nobody.
    let caller = &MaybeDryRun { caller, dry_run: request.dry_run };
    if request.tz.is_some() && !matches!(request.kind, ManageKind::Settings | ManageKind::AutoReply)
    {
        return Err(
            Error::argument("`tz` is for calendars, auto_reply and settings").next("leave it out")
        );
    }
    let takes_id = match request.kind {
        ManageKind::AutoReply | ManageKind::Settings => Some(false),
        ManageKind::Signature => Some(true),
        _ => None,
    };
    if let Some(takes_id) = takes_id {
        let given = [("id", request.id.is_some() && !takes_id), ("name", request.name.is_some())];
        if let Some((name, _)) = given.into_iter().find(|(_, given)| *given) {
            let kind = request.kind.word();
            return Err(Error::argument(format!("`{name}` does not apply to kind={kind}"))
                .next("give `account`, and the change in `set`"));
        }
    }
    match (request.kind, request.op) {
        (ManageKind::Rule, ManageOp::Run) => run_rule(ctx, &request).await,
        (_, ManageOp::Run) => Err(Error::argument("`op: run` is for rules")
            .next("use create, update or delete, or kind=rule")),
        (ManageKind::Folder | ManageKind::Category, _) => manage_folder(ctx, &request).await,
        (ManageKind::Rule, _) => manage_rule(ctx, &request, caller).await,
        (ManageKind::Contact, _) => manage_contact(ctx, &request, caller).await,
        (ManageKind::AutoReply, ManageOp::Update) => auto_reply(ctx, &request, caller).await,
        (ManageKind::Signature, ManageOp::Update) => set_signature(ctx, &request, caller).await,
        (ManageKind::Settings, ManageOp::Update) => mailbox_settings(ctx, &request).await,
        (kind, _) => Err(Error::argument(format!(
            "a mailbox has one {}, which cannot be created or deleted",
            kind.word()
        ))
        .next("use op=update")),
    }
}

/// Returns the mailbox of an account, of the only one if none is named.
async fn mail_context(ctx: &Context, account: Option<&str>) -> Result<SettingsContext> {
    let account = account_named(ctx, account).await?;
    context_of(ctx, account).await
}

async fn context_of(ctx: &Context, account: Account) -> Result<SettingsContext> {
    Ok(SettingsContext {
        label: account_labels(ctx).await?.of(&account.id),
        mailbox: ctx.connect.mailbox(&account)?,
        late: Mutex::default(),
        account,
    })
}

/// Changes something, with a line in the audit log before and after.
async fn apply_settings(
    ctx: &Context,
    owner: &SettingsContext,
    op: &str,
    id: &str,
    change: &SettingsChange,
) -> Result<Option<Value>> {
    logged_set_up(ctx, owner, op, id, owner.mailbox.apply_settings(change)).await
}

async fn logged_set_up<T>(
    ctx: &Context,
    owner: &SettingsContext,
    op: &str,
    id: &str,
    write: impl Future<Output = Result<T>>,
) -> Result<T> {
    let ids = (!id.is_empty()).then(|| id.to_owned());
    let entry = Entry {
        account: &owner.account.email,
        tool: "manage",
        op,
        ids: ids.into_iter().collect(),
        ..Entry::default()
    };
    let mut notes = Vec::new();
    let answer = run_logged(ctx, entry, &mut notes, write, |_| None).await;
    owner.late().append(&mut notes);
    answer
}

/// Returns the answer about one object: as its provider has it, or its outcome.
async fn settings_row(
    ctx: &Context,
    owner: &SettingsContext,
    table: &'static Table,
    answer: Result<Option<Value>>,
    about: (&str, &'static str, &str),
) -> Result<Response> {
    let (item, op, detail) = about;
    match answer {
        Ok(Some(object)) => {
            let api = owner.mailbox.api();
            Ok(one_row(ctx, owner, table, api, object).await)
        }
        Ok(None) => {
            let mut response = one_outcome(ctx, item, op, "done", detail).await?;
            response.notes.append(&mut owner.late());
            Ok(response)
        }
        Err(error) if error.is_open() => {
            let report = WriteReport {
                outcomes: vec![Outcome::failed(short(item), op, &error)],
                notes: std::mem::take(&mut *owner.late()),
                ..WriteReport::default()
            };
            write_report(ctx, report).await
        }
        Err(error) => Err(error),
    }
}

/// Returns the row of one object that was written, whatever fails afterwards.
async fn one_row(
    ctx: &Context,
    owner: &SettingsContext,
    table: &'static Table,
    api: Api,
    object: Value,
) -> Response {
    let several = several_accounts(ctx).await;
    let columns = columns_of(table, Level::Core, several);
    let mut response = Response::default();
    let names = match project(api, &columns).names {
        true => owner.mailbox.names().await.unwrap_or_default(),
        false => HashMap::new(),
    };
    let context =
        RowContext { names: &names, ..ctx.context_for(api, &owner.label, &owner.account) };
    let mut rows = rows_of(&context, table, &columns, &[object], &mut response.notes);
    response.notes.append(&mut owner.late());
    hand_out_after(ctx, &mut rows, &owner.account, &mut response.notes).await;
    rows.drop_empty();
    response.document.tables.push(rows);
    zone_line(&mut response.document, &ctx.config.zone);
    response
}

/// Returns the plan, if the provider would not refuse it.
async fn rehearse_settings(
    ctx: &Context,
    owner: &SettingsContext,
    change: &SettingsChange,
    about: (&str, &'static str, &str),
) -> Result<Response> {
    owner.mailbox.rehearse(change).await?;
    planned_change(ctx, owner, about).await
}

async fn planned_change(
    ctx: &Context,
    owner: &SettingsContext,
    about: (&str, &'static str, &str),
) -> Result<Response> {
    let (item, op, detail) = about;
    let mut response = one_outcome(ctx, item, op, "planned", detail).await?;
    response.notes.append(&mut owner.late());
    Ok(response)
}

async fn one_outcome(
    ctx: &Context,
    item: &str,
    op: &'static str,
    result: &'static str,
    detail: &str,
) -> Result<Response> {
    let mut report = WriteReport {
        outcomes: vec![Outcome::new(short(item), op, result, detail)],
        ..WriteReport::default()
    };
    if result == "planned" {
        report.notes.push("dry run: nothing was written".into());
    }
    write_report(ctx, report).await
}

impl<'a> Set<'a> {
    /// Returns the requested fields, if all of them can be set. A name may be in the other number,
    /// as `email` for `emails`.
    ///
    /// # Errors
    /// [`Kind::Argument`](crate::error::Kind::Argument), which names the columns that can be set.
    fn of(request: &'a Manage, columns: &[&str]) -> Result<Self> {
        let mut members = Cow::Borrowed(&request.set);
        for (name, value) in &request.set {
            let other = |column: &&&str| is_other_number(column, name);
            if let Some(column) = columns.iter().find(other)
                && !request.set.contains_key(*column)
            {
                members.to_mut().remove(name);
                members.to_mut().insert((*column).to_owned(), value.clone());
            }
        }
        let bad = members.keys().filter(|name| !columns.contains(&&***name));
        let bad: Vec<String> = bad.map(|name| format!("`{}`", crate::text::brief(name))).collect();
        if !bad.is_empty() {
            let kind = request.kind.word();
            return Err(Error::argument(format!("kind={kind} has no {} to set", bad.join(", ")))
                .next(format!("set {}", columns.join(", "))));
        }
        Ok(Self { members, name: request.name.as_deref() })
    }

    fn is_empty(&self) -> bool {
        self.members.is_empty() && self.name.is_none()
    }

    /// Returns the new name.
    fn name(&self) -> Result<Option<String>> {
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

    fn text(&self, name: &str) -> Result<Option<String>> {
        match self.members.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(_) => Err(wrong(name, "a string")),
        }
    }

    fn flag(&self, name: &str) -> Result<Option<bool>> {
        match self.members.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::String(text)) if text == "true" => Ok(Some(true)),
            Some(Value::String(text)) if text == "false" => Ok(Some(false)),
            Some(_) => Err(wrong(name, "true or false")),
        }
    }

    /// Returns a list, or splits a text at its commas.
    fn list(&self, name: &str) -> Result<Option<Vec<String>>> {
        let parts: Vec<String> = match self.members.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => text.split(',').map(|one| one.trim().to_owned()).collect(),
            Some(Value::Array(list)) => {
                let text = |one: &Value| one.as_str().map(|one| one.trim().to_owned());
                let all: Option<Vec<String>> = list.iter().map(text).collect();
                all.ok_or_else(|| wrong(name, "a list of strings"))?
            }
            Some(_) => return Err(wrong(name, "a list of strings")),
        };
        Ok(Some(parts.into_iter().filter(|one| !one.is_empty()).collect()))
    }
}

/// Returns true if one name is the other with an `s` at its end.
fn is_other_number(one: &str, other: &str) -> bool {
    one.strip_suffix('s') == Some(other) || other.strip_suffix('s') == Some(one)
}

/// Returns the columns of a table that can be set.
fn settable(table: &Table) -> Vec<&'static str> {
    let fields = table.fields.iter().filter(|field| field.settable);
    fields.map(|field| field.name).collect()
}

fn wrong(name: &str, kind: &str) -> Error {
    Error::argument(format!("`{name}` in `set` must be {kind}"))
}

/// Returns the id of the object, which is required.
fn id<'a>(request: &'a Manage, example: &str) -> Result<&'a str> {
    request.id.as_deref().ok_or_else(|| {
        Error::argument(format!("`id` is missing: which {}?", request.kind.word()))
            .next(format!("give {example}"))
    })
}

fn no_id(request: &Manage) -> Result<()> {
    match request.id {
        None => Ok(()),
        Some(_) => Err(Error::argument(format!("`id` is for an existing {}", request.kind.word()))
            .next("give its `name` in `set` instead, or use op=update")),
    }
}

fn nothing(next: &str) -> Error {
    Error::argument("there is nothing to change").next(next)
}
