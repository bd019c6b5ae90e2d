//! Sends drafts, each only once.
//!
//! The journal is written before the call. If it is unknown whether a message was sent, it is
//! looked for among the sent messages; it is never sent again automatically. The next call for a
//! draft in doubt only looks for it.

use std::ops::ControlFlow;

use daysheet_core::access::AccessLevel;
use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::call::doubt::look_for;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::DraftId;
use daysheet_core::provider::Account;
use daysheet_core::provider::Mailbox;
use daysheet_core::provider::mail::{MailPerson, SendLookup, SendStatus, SentMessage, StoredDraft};
use daysheet_core::text::{brief, cell, clip};
use daysheet_core::time_parse::{self, TimeContext};
use jiff::Timestamp;

use super::draft::kept::{RequestedDraft, discarded_before};
use crate::pipeline::access::accounts::owner_of_id;
use crate::pipeline::context::Context;
use crate::pipeline::handles::{ObjectKey, assign_handle, resolve_handle};
use crate::pipeline::write::confirm::{
    AskPolicy, GuardedWrite, WriteAudience, WriteDecision, by_hand, decide_write, everybody,
    require_access, written_to,
};
use crate::pipeline::write::log::{AuditEntry, LoggedTool, audit_after, log_entry};
use crate::pipeline::write::report::{ItemOutcome, WriteReport, write_report};
use crate::store::HandleKind;
use crate::store::sends::{JournalRecord, PendingSend, SendCaps, SendStart};
use crate::tools::mail;

/// The name of a send in outcomes.
const OP: &str = "send";
/// The longest subject in a question.
const SUBJECT: usize = 120;
/// The next step for a message in doubt.
const ASK_AGAIN: &str = "call mail_send with it again in some minutes: that only checks, and sends \
                         nothing";

/// A draft to be sent, and its mailbox.
struct ReadyDraft<'a> {
    account: &'a Account,
    mailbox: &'a dyn Mailbox,
    /// The name of the draft in the answer.
    name: String,
    /// The provider's id of the draft. Until the draft is read, it may be the id of its message.
    id: DraftId,
    /// The time at which to send; `None` for now.
    at: Option<Timestamp>,
}

pub(crate) async fn mail_send(
    ctx: &Context,
    request: mail::MailSend,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    require_access(ctx, AccessLevel::Send, "sending")?;
    let at = request.at.as_deref().map(|text| send_time(ctx, text)).transpose()?;
    let (account, id) = draft_named(ctx, &request.id).await?;
    let mailbox = ctx.connect.mailbox(&account)?;
    let can = mailbox.capabilities();
    if at.is_some() && !can.scheduled_send {
        return Err(Error::argument(format!("{}'s API cannot schedule mail", can.name))
            .next(format!("send it now, or schedule the draft in {}", can.name)));
    }
    let name = request.id.clone();
    let mut ready = ReadyDraft { account: &account, mailbox: &*mailbox, name, id, at };
    let draft = match unsent_draft(ctx, &mut ready).await? {
        ControlFlow::Continue(draft) => draft,
        ControlFlow::Break(answer) => return Ok(answer),
    };
    if let Some(refused) = report_refusal(ctx, &ready, &draft, caller).await? {
        return send_answer(ctx, &ready, &draft, refused).await;
    }
    if let Some(answer) = check_unchanged(ctx, &ready, &draft).await? {
        return Ok(answer);
    }
    if let Some(answer) = begin_send(ctx, &ready, &draft).await? {
        return Ok(answer);
    }
    let outcome = send_draft(ctx, &ready, &draft).await;
    send_answer(ctx, &ready, &draft, outcome).await
}

/// Reads the draft, or reports that its sending began before.
async fn unsent_draft(
    ctx: &Context,
    ready: &mut ReadyDraft<'_>,
) -> Result<ControlFlow<WholeAnswer, StoredDraft>> {
    // A draft that was sent no longer exists.
    if let Some(before) = ctx.store.journalled(&ready.account.id, &ready.id).await? {
        return Ok(ControlFlow::Break(sent_before(ctx, ready, &before).await?));
    }
    let draft = match ready.mailbox.draft(ready.id.as_str()).await {
        Ok(draft) => draft,
        Err(error) => return Ok(ControlFlow::Break(missing_draft(ctx, ready, error).await?)),
    };
    if draft.id != ready.id {
        // It was named by the id of its message.
        ready.id.clone_from(&draft.id);
        if let Some(before) = ctx.store.journalled(&ready.account.id, &ready.id).await? {
            return Ok(ControlFlow::Break(sent_before(ctx, ready, &before).await?));
        }
    }
    Ok(ControlFlow::Continue(draft))
}

/// Refuses a draft that was changed since it was read. Returns the answer if it no longer exists
/// because it was sent.
async fn check_unchanged(
    ctx: &Context,
    ready: &ReadyDraft<'_>,
    draft: &StoredDraft,
) -> Result<Option<WholeAnswer>> {
    // The user's answer took time, or another process changed the draft: only the
    // version that the user agreed to is sent.
    let now = match ready.mailbox.draft(ready.id.as_str()).await {
        Ok(now) => now,
        Err(error) => return missing_draft(ctx, ready, error).await.map(Some),
    };
    if now.version == draft.version {
        return Ok(None);
    }
    Err(Error::new(
        ErrorKind::Conflict,
        format!("{} was changed meanwhile; nothing was sent", ready.name),
    )
    .next("read it again, then call mail_send again"))
}

/// Writes the log and the journal, both before the call. Returns the answer if another call has
/// begun to send the draft.
async fn begin_send(
    ctx: &Context,
    ready: &ReadyDraft<'_>,
    draft: &StoredDraft,
) -> Result<Option<WholeAnswer>> {
    let sending = PendingSend {
        account: ready.account.id.clone(),
        draft: ready.id.clone(),
        message_id: draft.content.message_id.clone(),
        thread: draft.thread.clone(),
        recipients: everybody(&draft.content).count(),
        due: ready.at.map(Timestamp::as_second),
    };
    let caps = SendCaps {
        messages: ctx.config.sends_per_hour,
        recipients: ctx.config.recipients_per_hour,
    };
    // The log first: a write that cannot be logged is not made.
    log_entry(ctx, ready.line(draft, "sending"))
        .await
        .map_err(|error| error.context("nothing was sent"))?;
    // The journal row comes before the call: of several processes, only one sends.
    match ctx.store.begin_send(&sending, caps).await {
        Ok(SendStart::Now) => Ok(None),
        Ok(SendStart::Before(before)) => sent_before(ctx, ready, &before).await.map(Some),
        Err(error) => {
            // If the store works, the error is a refusal, such as a limit per hour.
            let (outcome, error) = match error.kind() {
                ErrorKind::Store => ("not sent", error.context("nothing was sent")),
                _ => ("refused", error),
            };
            let line = ready.line(draft, outcome);
            audit_after(ctx, line, &mut Vec::new()).await;
            Err(error)
        }
    }
}

/// Sends a draft whose journal row is written.
async fn send_draft(ctx: &Context, ready: &ReadyDraft<'_>, draft: &StoredDraft) -> ItemOutcome {
    let began = ctx.now();
    // Shorter than the time during which a message in doubt may still be sent, so
    // that nobody sends it after others concluded that it was not.
    let limit = ctx.states.send_recovery.open * 2 / 3;
    let sent = tokio::time::timeout(limit, ready.mailbox.send(draft, ready.at))
        .await
        .unwrap_or_else(|_elapsed| Err(Error::new(ErrorKind::Timeout, "sending took too long")));
    match sent {
        Ok(sent) => {
            let result = if ready.at.is_some() { "scheduled" } else { "sent" };
            sent_outcome(ctx, ready, draft, result, &sent).await
        }
        // In doubt: looked for, and never sent again.
        Err(error) if error.is_open() => {
            let lookup = SendLookup {
                draft: ready.id.clone(),
                thread: draft.thread.clone(),
                message_id: draft.content.message_id.clone(),
                since: began,
            };
            match look_for_sent(ctx, ready, &lookup).await {
                Some(SendStatus::Sent(sent)) => {
                    sent_outcome(ctx, ready, draft, "sent", &sent).await
                }
                _ => ItemOutcome::new(
                    &ready.name,
                    OP,
                    "unknown",
                    format!("{}; {ASK_AGAIN}", error.message()),
                ),
            }
        }
        // The provider refused, or the call was never sent.
        Err(error) => {
            let mut detail = error.to_string();
            detail.push_str(&forget_send(ctx, ready).await);
            ItemOutcome::new(&ready.name, OP, "not sent", detail)
        }
    }
}

/// Returns the account and the provider's id of a draft. It may be the id of the draft's message,
/// until the draft is read.
async fn draft_named(ctx: &Context, name: &str) -> Result<(Account, DraftId)> {
    for kind in [HandleKind::Draft, HandleKind::Message] {
        if let Some((owner, id)) = resolve_handle(ctx, kind, name).await? {
            return Ok((ctx.accounts.by_id(&owner).await?, id.into()));
        }
    }
    if HandleKind::parse(name).is_some() {
        return Err(Error::argument(format!("`{name}` is not a draft"))
            .next("give the id mail_draft returned, such as d5"));
    }
    let fits = |account: &Account| ctx.connect.mailbox(account)?.check_id(name);
    let account = owner_of_id(ctx, name, None, fits, "").await;
    let account =
        account.map_err(|error| error.next("give the id mail_draft returned, such as d5"))?;
    Ok((account, name.into()))
}

/// Reads the time at which to send.
fn send_time(ctx: &Context, text: &str) -> Result<Timestamp> {
    let clock = ctx.date_context();
    let here = TimeContext { now: clock.now, zone: clock.zone.clone(), named: false };
    let at =
        time_parse::read(text, &here).map_err(|error| error.context("`at`"))?.first(&clock.zone);
    if at > clock.now {
        Ok(at)
    } else {
        Err(Error::argument("`at` is in the past")
            .next("give a later time, or leave it out to send now"))
    }
}

/// Returns the outcome for a draft that must not be sent; `None` if it may be.
async fn report_refusal(
    ctx: &Context,
    ready: &ReadyDraft<'_>,
    draft: &StoredDraft,
    caller: &dyn ClientPrompts,
) -> Result<Option<ItemOutcome>> {
    let content = &draft.content;
    if everybody(content).next().is_none() {
        return Err(Error::argument(format!("{} has no recipients", ready.name))
            .next(format!("add them: mail_draft mode=edit id={} to=…", ready.name)));
    }
    let mut audience = WriteAudience::default();
    audience.add(everybody(content).map(|one| one.address.as_str()));
    let act = GuardedWrite {
        needs: AccessLevel::Send,
        what: "sending",
        question: question(draft),
        content: draft.content.text.clone(),
        asks: AskPolicy::IfPossible,
        sent_from: Some(ready.account),
        instead: format!("ask the user to send {} in the mail program", ready.name),
        command: format!("daysheet call mail_send id={}", ready.name),
    };
    let mut notes = Vec::new();
    let decision = decide_write(ctx, &act, &audience, caller, &mut notes);
    Ok(match decision.await? {
        WriteDecision::Agreed | WriteDecision::Unasked => None,
        WriteDecision::Declined => Some(ItemOutcome::new(
            &ready.name,
            OP,
            "refused",
            "the user declined; the draft is unchanged",
        )),
        WriteDecision::Unanswered => {
            let next = by_hand(ctx, &act);
            let detail = format!("nobody confirmed; the draft is unchanged: {next}");
            Some(ItemOutcome::new(&ready.name, OP, "refused", detail))
        }
    })
}

/// Reports on a draft whose sending began before, without sending it.
async fn sent_before(
    ctx: &Context,
    ready: &ReadyDraft<'_>,
    before: &JournalRecord,
) -> Result<WholeAnswer> {
    let due = before.due.and_then(|due| Timestamp::from_second(due).ok());
    let began = Timestamp::from_second(before.started).unwrap_or(Timestamp::MIN);
    let lookup = SendLookup {
        draft: ready.id.clone(),
        thread: before.thread.clone(),
        message_id: before.message_id.clone(),
        since: began,
    };
    let outcome = if let (true, Some(due)) = (before.sent, due) {
        scheduled_outcome(ctx, ready, before, &lookup, due).await
    } else if before.sent {
        let sent = SentMessage { id: before.sent_id.clone(), thread: None };
        already_sent(ctx, ready, &sent).await
    } else {
        let age = ctx.now().duration_since(began);
        // By another machine's clock, it may have begun in the future.
        let over = age.unsigned_abs() >= ctx.states.send_recovery.open && age.is_positive();
        // A scheduled message may look like any other draft until it is due.
        let over = over && due.is_none_or(|due| ctx.now() > due + ctx.states.send_recovery.open);
        match ready.mailbox.send_status(&lookup).await? {
            SendStatus::Sent(sent) => {
                let mut outcome = already_sent(ctx, ready, &sent).await;
                if let Err(error) = note_as_sent(ctx, ready, &sent).await {
                    outcome.detail.push_str(&not_recorded(&error));
                }
                outcome
            }
            // Still a draft after every attempt must have ended: it may be sent again.
            SendStatus::Draft if over => {
                let noted = forget_send(ctx, ready).await;
                let detail =
                    format!("the draft is unchanged; call mail_send again to send it{noted}");
                ItemOutcome::new(&ready.name, OP, "not sent", detail)
            }
            SendStatus::Draft => ItemOutcome::new(
                &ready.name,
                OP,
                "unknown",
                format!("an earlier call may be sending it, or may have sent it; {ASK_AGAIN}"),
            ),
            SendStatus::Nowhere => ItemOutcome::new(
                &ready.name,
                OP,
                "unknown",
                "it is no longer a draft, nor in sent mail; check the mailbox before writing \
                 it again",
            ),
        }
    };
    let entry = AuditEntry::new(&ready.account.email, LoggedTool::MAIL_SEND, OP);
    let line = AuditEntry { outcome: outcome.result, ..entry.with_id(&ready.name) };
    let mut notes = Vec::new();
    audit_after(ctx, line, &mut notes).await;
    write_report(ctx, WriteReport { outcomes: vec![outcome], notes, ..WriteReport::default() })
        .await
}

/// Reports on a message that was scheduled for `due`: the user may have cancelled it since.
async fn scheduled_outcome(
    ctx: &Context,
    ready: &ReadyDraft<'_>,
    before: &JournalRecord,
    lookup: &SendLookup,
    due: Timestamp,
) -> ItemOutcome {
    let status = ready.mailbox.send_status(lookup).await;
    let cancelled = match status {
        // A scheduled message may look like any other draft, but in the trash it is none.
        Ok(SendStatus::Draft) => ready.mailbox.draft(ready.id.as_str()).await.err(),
        _ => None,
    };
    let provider = ready.mailbox.capabilities().name;
    if let Some(error) = cancelled.filter(|error| error.kind() == ErrorKind::NotFound) {
        let detail = format!("{}, which cancels it: write a new draft", error.message());
        ItemOutcome::new(&ready.name, OP, "not sent", detail)
    } else if due > ctx.now() {
        let time = due.to_zoned(ctx.config.zone.clone());
        let time = time.strftime("for %Y-%m-%d %Hh%M");
        let detail = format!("{time}; mail_modify ids={} do=trash cancels it", ready.name);
        ItemOutcome::new(&ready.name, OP, "scheduled", detail)
    } else if matches!(status, Ok(SendStatus::Draft)) {
        let detail = format!("its time has passed, but it is still a draft; see {provider}");
        ItemOutcome::new(&ready.name, OP, "unknown", detail)
    } else {
        let sent = SentMessage { id: before.sent_id.clone(), thread: None };
        already_sent(ctx, ready, &sent).await
    }
}

/// Reports a draft that cannot be read. If it no longer exists, another process may have sent it
/// since the journal was read.
async fn missing_draft(ctx: &Context, ready: &ReadyDraft<'_>, error: Error) -> Result<WholeAnswer> {
    if error.kind() != ErrorKind::NotFound {
        return Err(error);
    }
    if let Some(before) = ctx.store.journalled(&ready.account.id, &ready.id).await? {
        return sent_before(ctx, ready, &before).await;
    }
    let draft = RequestedDraft { account: ready.account, name: &ready.name, id: &ready.id };
    Err(discarded_before(ctx, draft, error.context(&ready.name)).await)
}

/// Looks for a message in doubt until it is found or the time is up.
async fn look_for_sent(
    ctx: &Context,
    ready: &ReadyDraft<'_>,
    lookup: &SendLookup,
) -> Option<SendStatus> {
    look_for(ctx.states.send_recovery.look, || async {
        let send_status = ready.mailbox.send_status(lookup).await;
        send_status.ok().filter(|found| matches!(found, SendStatus::Sent(_)))
    })
    .await
}

async fn note_as_sent(ctx: &Context, ready: &ReadyDraft<'_>, sent: &SentMessage) -> Result<()> {
    ctx.store.note_sent(&ready.account.id, &ready.id, sent.id.as_ref()).await
}

/// Removes a message that was not sent from the journal. Returns a remark if that
/// fails: the row stays in doubt, and the next call looks first.
async fn forget_send(ctx: &Context, ready: &ReadyDraft<'_>) -> String {
    let forgotten = ctx.store.forget_unsent(&ready.account.id, &ready.id).await;
    forgotten.map_or_else(|error| not_recorded(&error), |()| String::new())
}

async fn already_sent(ctx: &Context, ready: &ReadyDraft<'_>, sent: &SentMessage) -> ItemOutcome {
    let detail = match sent_handle(ctx, ready.account, sent).await {
        Ok(Some(handle)) => format!("as {handle}; nothing was sent now"),
        Ok(None) | Err(_) => "nothing was sent now".to_owned(),
    };
    ItemOutcome::new(&ready.name, OP, "already sent", detail)
}

/// Reports a message that was sent, regardless of later failures.
async fn sent_outcome(
    ctx: &Context,
    ready: &ReadyDraft<'_>,
    draft: &StoredDraft,
    result: &'static str,
    sent: &SentMessage,
) -> ItemOutcome {
    // Its recipients are no longer new.
    written_to(ctx, ready.account, &draft.content);
    let count = everybody(&draft.content).count();
    let mut detail = match sent_handle(ctx, ready.account, sent).await {
        Ok(Some(handle)) => format!("{handle}, to {count}"),
        Ok(None) | Err(_) => format!("to {count}"),
    };
    if let Err(error) = note_as_sent(ctx, ready, sent).await {
        // The row stays in doubt, and the next call finds the message.
        detail.push_str(&not_recorded(&error));
    }
    if let Some(at) = ready.at {
        let zone = &ctx.config.zone;
        let time = at.to_zoned(zone.clone());
        detail.push_str(
            &time.strftime(", at %Y-%m-%d %Hh%M; until then the provider holds it").to_string(),
        );
    }
    ItemOutcome::new(&ready.name, OP, result, detail)
}

/// Returns the handle of the sent message.
async fn sent_handle(
    ctx: &Context,
    account: &Account,
    sent: &SentMessage,
) -> Result<Option<String>> {
    let Some(id) = &sent.id else {
        return Ok(None);
    };
    let object = ObjectKey { account: &account.id, kind: HandleKind::Message, id: id.as_str() };
    assign_handle(ctx, object).await.map(Some)
}

async fn send_answer(
    ctx: &Context,
    ready: &ReadyDraft<'_>,
    draft: &StoredDraft,
    outcome: ItemOutcome,
) -> Result<WholeAnswer> {
    let mut notes = Vec::new();
    let line = ready.line(draft, outcome.result);
    audit_after(ctx, line, &mut notes).await;
    write_report(ctx, WriteReport { outcomes: vec![outcome], notes, ..WriteReport::default() })
        .await
}

impl ReadyDraft<'_> {
    /// Returns an entry of the audit log.
    fn line<'l>(&'l self, draft: &'l StoredDraft, outcome: &'l str) -> AuditEntry<'l> {
        let entry = AuditEntry::new(&self.account.email, LoggedTool::MAIL_SEND, OP)
            .with_id(&self.name)
            .with_id(&draft.content.message_id)
            .with_recipients(everybody(&draft.content).map(|person| person.address.as_str()));
        AuditEntry { outcome, ..entry }
    }
}

/// Returns the remark on a journal that could not be written.
fn not_recorded(error: &Error) -> String {
    format!("; not recorded: {}", error.message())
}

/// Returns the question to the user before a message is sent: plain lines, in which no
/// untrusted text can pass for one of ours.
fn question(draft: &StoredDraft) -> String {
    let content = &draft.content;
    let mut lines = vec!["Send this mail?".to_owned()];
    let one = |person: &MailPerson| match &person.name {
        // A comma in a name must not look like a further recipient.
        Some(name) if name.contains([',', ';', '"']) => {
            let name = brief(name).replace('"', "'");
            format!("\"{name}\" <{}>", cell(person.address.as_str()))
        }
        Some(name) => format!("{} <{}>", brief(name), cell(person.address.as_str())),
        None => cell(person.address.as_str()),
    };
    let all = |people: &[MailPerson]| people.iter().map(one).collect::<Vec<_>>().join(", ");
    lines.push(format!("From: {}", one(&content.from)));
    for (name, people) in [("To", &content.to), ("Cc", &content.cc), ("Bcc", &content.bcc)] {
        if !people.is_empty() {
            lines.push(format!("{name}: {}", all(people)));
        }
    }
    if !content.reply_to.is_empty() {
        lines.push(format!("Replies go to: {}", all(&content.reply_to)));
    }
    let (subject, _) = clip(cell(&content.subject), SUBJECT);
    lines.push(format!("Subject: {subject}"));
    if !content.files.is_empty() {
        let names: Vec<String> = content.files.iter().map(|file| brief(&file.name)).collect();
        lines.push(format!("Attached: {}", names.join(", ")));
    }
    lines.join("\n")
}
