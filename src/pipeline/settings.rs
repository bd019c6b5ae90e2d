//! Sets up mailboxes: folders, labels, categories, rules, contacts, automatic replies, signatures
//! and settings.
//!
//! The registry declares the columns that can be set for each kind
//! ([`Field::settable`](daysheet_core::schemas::TableColumn)). An answer shows the object in its resulting state
//! at the provider, in the columns of a lookup.

mod contacts;
mod folders;
pub(super) mod reply;
mod rule_run;
mod rule_text;
pub(super) mod rules;
pub(crate) mod target;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::{ClientPrompts, MaybeDryRun};
use daysheet_core::choice::WordChoice;
use daysheet_core::error::{Error, Result};

use self::contacts::manage_contact;
use self::folders::manage_folder;
use self::reply::{auto_reply, mailbox_settings, set_signature};
use self::rules::{manage_rule, run_rule};
use crate::pipeline::calendar::manage::manage_calendar;
use crate::pipeline::context::Context;
use crate::tools::manage::{ManageKind, ManageOp, ManageRequest};

/// Carries out `manage`, of a calendar or of a mailbox.
pub(crate) async fn manage(
    ctx: &Context,
    request: ManageRequest,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    if request.kind == ManageKind::Calendar {
        manage_calendar(ctx, request, caller).await
    } else {
        manage_settings(ctx, request, caller).await
    }
}

async fn manage_settings(
    ctx: &Context,
    request: ManageRequest,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    // A dry run is refused as the real call would be, and asks no question.
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
