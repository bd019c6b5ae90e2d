//! Delivery reports and receipts among messages: a row for each recipient.

use daysheet_core::body::report;
use daysheet_core::budget::WholeAnswer;
use daysheet_core::error::Result;
use daysheet_core::row::RowTable;
use daysheet_core::schemas::{ColumnLevel, REPORT};

use super::messages::{FetchedMessage, by_account};
use crate::pipeline::context::Context;
use crate::pipeline::handles::assign_handles;
use crate::pipeline::rows::rows_of;

/// Adds the table of reports, if there are any.
pub(super) async fn add_reports(
    ctx: &Context,
    fetched: &[FetchedMessage],
    response: &mut WholeAnswer,
) -> Result<()> {
    let columns = REPORT.up_to(ColumnLevel::More);
    let mut all = RowTable::new(&REPORT, columns.clone());
    for messages in by_account(fetched) {
        let rows = |one: &FetchedMessage| {
            report::rows(one.target.id.as_str(), one.message.report.as_deref().unwrap_or_default())
        };
        let objects: Vec<_> = messages.iter().flat_map(rows).collect();
        let Some(first) = messages.first().filter(|_| !objects.is_empty()) else {
            continue;
        };
        let account = ctx.accounts.by_id(&first.target.account).await?;
        let mut some = rows_of(&ctx.local(), &REPORT, &columns, &objects, &mut response.notes);
        assign_handles(ctx, &mut some, &account).await?;
        all.append(some);
    }
    if !all.is_empty() {
        response.document.tables.push(all);
    }
    Ok(())
}
