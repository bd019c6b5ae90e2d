//! The audit log: every write, its audience and its outcome.
//!
//! One line is written before the call and one with its outcome, so that an interrupted write has
//! a line, too. One JSON object per line in `audit.jsonl` in the state folder, readable only by
//! its owner. No subject, no text, and only the domains of recipients.

use std::collections::BTreeSet;

use daysheet_core::error::Result;
use daysheet_core::ids::EmailAddress;
use daysheet_core::text::{Note, note, ours};
use jiff::Timestamp;

use crate::pipeline::context::Context;
use crate::pipeline::write::interrupted::begin_writing;
use crate::store::AuditRecord;

/// A tool that writes, as the log names it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoggedTool(&'static str);

impl LoggedTool {
    /// Also for undoing writes to events.
    pub(crate) const CALENDAR_SAVE: Self = Self("calendar_save");
    pub(crate) const CALENDAR_DELETE: Self = Self("calendar_delete");
    pub(crate) const CALENDAR_RESPOND: Self = Self("calendar_respond");
    pub(crate) const MANAGE: Self = Self("manage");
    pub(crate) const MAIL_MODIFY: Self = Self("mail_modify");
    pub(crate) const MAIL_DRAFT: Self = Self("mail_draft");
    pub(crate) const MAIL_SEND: Self = Self("mail_send");
}

/// The outcome in the line that is written before a call.
pub(crate) const BEGUN: &str = "begun";

/// A write, carried out or refused.
#[derive(Debug, Clone, Default)]
pub(crate) struct AuditEntry<'a> {
    /// The account's address.
    pub(crate) account: &'a str,
    /// The tool.
    pub(crate) tool: &'a str,
    /// The operation.
    pub(crate) op: &'a str,
    /// Handles or provider ids of its objects.
    pub(crate) ids: Vec<String>,
    /// Addresses of recipients; their domains are kept.
    pub(crate) recipients: Vec<&'a str>,
    /// The outcome.
    pub(crate) outcome: &'a str,
}

impl<'a> AuditEntry<'a> {
    /// Creates the entry of a write to an account.
    pub(crate) fn new(account: &'a EmailAddress, tool: LoggedTool, op: &'a str) -> Self {
        Self { account: account.as_str(), tool: tool.0, op, ..Self::default() }
    }

    /// Adds the handle or id of an object.
    pub(crate) fn with_id(mut self, id: impl Into<String>) -> Self {
        self.ids.push(id.into());
        self
    }

    /// Adds the addresses of recipients.
    pub(crate) fn with_recipients(mut self, people: impl IntoIterator<Item = &'a str>) -> Self {
        self.recipients.extend(people);
        self
    }
}

/// Appends a line to the audit log.
///
/// # Errors
/// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store) if it cannot be written; the caller
/// should not write either.
pub(crate) async fn log_entry(ctx: &Context, entry: AuditEntry<'_>) -> Result<()> {
    // Its first line is where a call begins to write.
    begin_writing(ctx).await?;
    let domains: BTreeSet<&str> =
        entry.recipients.iter().filter_map(|address| Some(address.rsplit_once('@')?.1)).collect();
    ctx.store
        .record_audit(AuditRecord {
            account: entry.account.to_owned(),
            domains: domains.into_iter().map(str::to_owned).collect(),
            op: entry.op.to_owned(),
            outcome: entry.outcome.to_owned(),
            recipients: entry.recipients.len(),
            tool: entry.tool.to_owned(),
            ids: entry.ids,
            ..AuditRecord::default()
        })
        .await
}

/// Writes the line before a write, which must not be made without it.
///
/// # Errors
/// See [`log_entry`]; the message says that the write was not made.
pub(crate) async fn log_begun(ctx: &Context, entry: AuditEntry<'_>) -> Result<()> {
    let begun = AuditEntry { outcome: BEGUN, ..entry };
    log_entry(ctx, begun).await.map_err(|error| error.context("nothing was written"))
}

/// Writes the line after a call. A completed write is reported even if the log
/// fails: the failure becomes a note.
pub(crate) async fn audit_after(ctx: &Context, entry: AuditEntry<'_>, notes: &mut Vec<Note>) {
    if let Err(error) = log_entry(ctx, entry).await {
        notes.push(Note::from(&error));
    }
}

/// Carries out a write between two lines of the log. `made` returns the id of a created object,
/// which had none before.
///
/// # Errors
/// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store) if the first line cannot be
/// written, in which case nothing was done; the errors of the write.
pub(crate) async fn run_logged<T>(
    ctx: &Context,
    entry: AuditEntry<'_>,
    notes: &mut Vec<Note>,
    write: impl Future<Output = Result<T>>,
    made: impl FnOnce(&T) -> Option<String>,
) -> Result<T> {
    log_begun(ctx, entry.clone()).await?;
    let written = write.await;
    let mut after = AuditEntry { outcome: outcome(&written), ..entry };
    if let Some(id) = written.as_ref().ok().and_then(made) {
        after.ids = vec![id];
    }
    audit_after(ctx, after, notes).await;
    written
}

/// Returns the outcome of a write, in the log's words.
pub(crate) fn outcome<T>(written: &Result<T>) -> &'static str {
    match written {
        Ok(_) => "done",
        // The effect of an open error is unknown; `failed` would say that nothing was written.
        Err(error) if error.is_open() => "unknown",
        Err(_) => "failed",
    }
}

/// Returns a note on each interrupted call, and logs it as cut off.
pub(crate) async fn interrupted_calls(ctx: &Context) -> Vec<Note> {
    let mut notes = Vec::new();
    for call in ctx.store.cut_off().await {
        let began = Timestamp::from_second(call.began).unwrap_or_default();
        let began = began.to_zoned(ctx.config.zone.clone());
        let tool = call.what.split_whitespace().next().unwrap_or_default();
        notes.push(note!(
            "a call was interrupted on {}: {}; it may be partly done, so check before \
             repeating it",
            ours(began.strftime("%Y-%m-%d %Hh%M")),
            ours(&call.what)
        ));
        let line = AuditEntry { tool, op: "call", outcome: "cut off", ..AuditEntry::default() };
        if let Err(error) = log_entry(ctx, line).await {
            notes.push(Note::from(&error));
        }
    }
    notes
}
