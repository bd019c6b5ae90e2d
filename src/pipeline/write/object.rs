//! The report of a write to one object that is not an event: a folder, a rule, a contact, a setting
//! or a calendar. The answer is the row of the object as at the provider, or an outcome.

use std::collections::HashMap;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::error::Result;
use daysheet_core::flatten::RowContext;
use daysheet_core::provider::Account;
use daysheet_core::schemas::{ColumnLevel, Service, Table};
use daysheet_core::text::Note;
use serde_json::Value;

use crate::pipeline::access::accounts::several_accounts;
use crate::pipeline::context::Context;
use crate::pipeline::handles::hand_out_after;
use crate::pipeline::rows::{columns_of, rows_of, zone_line};
use crate::pipeline::titles::short;
use crate::pipeline::write::report::{ItemOutcome, WriteReport, write_report};

/// A write to one object, as an outcome describes it.
#[derive(Clone, Copy)]
pub(crate) struct ObjectWrite<'a> {
    /// The name of the object.
    pub(crate) item: &'a str,
    /// The operation.
    pub(crate) op: &'static str,
    /// The detail of the outcome; may be empty.
    pub(crate) detail: &'a str,
}

impl ObjectWrite<'_> {
    /// Returns the answer with this result and these notes.
    pub(crate) async fn outcome(
        self,
        ctx: &Context,
        result: &'static str,
        notes: Vec<Note>,
    ) -> Result<WholeAnswer> {
        let outcome = ItemOutcome::new(short(self.item), self.op, result, self.detail);
        let is_rehearsal = result == "planned";
        let outcomes = vec![outcome];
        write_report(ctx, WriteReport { outcomes, notes, is_rehearsal, ..WriteReport::default() })
            .await
    }
}

/// The account of an object, and the form in which its provider returns it.
#[derive(Clone, Copy)]
pub(crate) struct ObjectOwner<'a> {
    pub(crate) account: &'a Account,
    pub(crate) label: &'a str,
    pub(crate) api: Service,
    /// Names of folders by their ids; empty if no column shows any.
    pub(crate) names: &'a HashMap<String, String>,
}

/// Returns the answer about a write: the row of the object, or the outcome if none is shown.
///
/// # Errors
/// The failure of a write that was certainly not made. A write in doubt is an outcome.
pub(crate) async fn object_answer(
    ctx: &Context,
    owner: ObjectOwner<'_>,
    about: ObjectWrite<'_>,
    answer: Result<Option<(&'static Table, Value)>>,
    notes: Vec<Note>,
) -> Result<WholeAnswer> {
    match answer {
        Ok(Some((table, object))) => Ok(object_row(ctx, owner, table, object, notes).await),
        Ok(None) => about.outcome(ctx, "done", notes).await,
        Err(error) if error.is_open() => {
            let outcomes = vec![ItemOutcome::failed(short(about.item), about.op, &error)];
            write_report(ctx, WriteReport { outcomes, notes, ..WriteReport::default() }).await
        }
        Err(error) => Err(error),
    }
}

/// Returns the row of one object that was written, regardless of later failures.
pub(crate) async fn object_row(
    ctx: &Context,
    owner: ObjectOwner<'_>,
    table: &'static Table,
    object: Value,
    mut notes: Vec<Note>,
) -> WholeAnswer {
    let columns = columns_of(table, ColumnLevel::Core, several_accounts(ctx).await);
    let mut response = WholeAnswer::default();
    let context =
        RowContext { names: owner.names, ..ctx.context_for(owner.api, owner.label, owner.account) };
    let mut rows = rows_of(&context, table, &columns, &[object], &mut response.notes);
    response.notes.append(&mut notes);
    hand_out_after(ctx, &mut rows, owner.account, &mut response.notes).await;
    rows.drop_empty();
    response.document.tables.push(rows);
    zone_line(&mut response.document, &ctx.config.zone);
    response
}
