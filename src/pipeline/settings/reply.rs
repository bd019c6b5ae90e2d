//! The automatic reply, signatures, and settings: objects of which a mailbox has one.

use std::borrow::Cow;

use daysheet_core::access::AccessLevel;
use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::compose::text;
use daysheet_core::error::{Error, Result};
use daysheet_core::flatten;
use daysheet_core::ids::EmailAddress;
use daysheet_core::provider::mail::{self, AutoReply, SettingsChange};
use daysheet_core::schemas::{AUTO_REPLY, SETTING};
use daysheet_core::text::{note, ours};
use daysheet_core::time_parse::{self, ParsedTime, TimeContext};
use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use super::target::{
    LoggedOp, SettingFields, SettingsContext, SettingsPlan, apply_settings, context_of_account,
    local_row, mail_context, nothing_to_change, planned_change, rehearse_settings,
    settable_columns, settings_row, write_logged, write_settings,
};
use crate::pipeline::access::accounts::several_named;
use crate::pipeline::calendar::audience::line;
use crate::pipeline::context::Context;
use crate::pipeline::mail::draft::content::remove_remote_pictures;
use crate::pipeline::titles::short;
use crate::pipeline::write::confirm::{AskPolicy, GuardedWrite, WriteAudience, confirm};
use crate::pipeline::write::object::ObjectWrite;
use crate::tools::manage::ManageRequest;

/// The columns of a signature, which has no table.
const SIGNATURE: &[&str] = &["text", "email"];

/// The next step for an incomplete automatic reply.
const EXAMPLE: &str = "give set=[\"status=scheduled\", \"from=2026-12-21\", \"to=2027-01-03\", \
                       \"text=I am away.\"]; also subject, text_internal and text_external, \
                       audience=all, contacts or organization";
/// The next step if a setting is refused.
const BY_HAND: &str = "ask the user to do it in the mail program's settings";

/// An automatic reply to write.
struct ReplyPlan {
    owner: SettingsContext,
    after: AutoReply,
    /// `None` if it is already as requested.
    change: Option<SettingsChange>,
    /// True if it was rehearsed.
    is_rehearsed: bool,
}

/// Returns the text of an automatic reply.
fn plain(html: &str) -> String {
    daysheet_core::text::html::html(html, daysheet_core::text::html::TextStyle::Text, false).text
}

/// Returns the audience of an automatic reply, the cases in which the user is asked about it, and
/// its lines in the question.
fn answers(reply: &AutoReply, own: &str) -> (WriteAudience, AskPolicy, String) {
    let who = |who: &str| WriteAudience::unlisted(format!("{who} {own}"));
    let (audience, whom, asks) = match (reply.audience, own.rsplit_once('@')) {
        (Some(mail::ReplyAudience::Organization), Some((_, domain))) => {
            (WriteAudience::domain(domain), "the organization", AskPolicy::IfPossible)
        }
        (Some(mail::ReplyAudience::Contacts), _) => {
            (who("any contact who writes to"), "contacts", AskPolicy::Always)
        }
        _ => (who("anybody who writes to"), "everybody", AskPolicy::Always),
    };
    let body = match texts(reply) {
        None => line("Text", reply.html.as_deref().map(plain).as_deref()),
        Some((internal, external)) => format!(
            "{}{}",
            line("Text inside", Some(&plain(internal))),
            line("Text outside", Some(&plain(external)))
        ),
    };
    let lines = format!("To: {whom}{}{body}", line("Subject", reply.subject.as_deref()));
    (audience, asks, lines)
}

/// Returns the audience of all automatic replies that are on, and the one question about them;
/// `None` if none is on.
fn question(plans: &[ReplyPlan]) -> Option<(WriteAudience, GuardedWrite<'static>)> {
    let mut audience = WriteAudience::default();
    let mut asks = AskPolicy::IfPossible;
    // Accounts whose replies are the same share their lines.
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    let mut contents: Vec<String> = Vec::new();
    for plan in plans.iter().filter(|plan| plan.after.on && plan.change.is_some()) {
        let own = plan.owner.account.email.as_str();
        let (some, when, lines) = answers(&plan.after, own);
        audience.join(&some);
        // All accounts share one question, so the strictest case counts.
        if when == AskPolicy::Always {
            asks = when;
        }
        match groups.iter_mut().find(|(known, _)| *known == lines) {
            Some((_, owners)) => owners.push(own),
            None => groups.push((lines, vec![own])),
        }
        for html in [&plan.after.html, &plan.after.external].into_iter().flatten() {
            let text = plain(html);
            if !contents.contains(&text) {
                contents.push(text);
            }
        }
    }
    let parts: Vec<String> = groups
        .iter()
        .map(|(lines, owners)| {
            format!("Reply automatically to mail to {}?\n{lines}", owners.join(", "))
        })
        .collect();
    let act = GuardedWrite {
        needs: AccessLevel::Send,
        what: "replying automatically",
        question: parts.join("\n\n"),
        content: contents.join("\n\n"),
        asks,
        sent_from: None,
        instead: BY_HAND.to_owned(),
        command: "daysheet call".to_owned(),
    };
    (!parts.is_empty()).then_some((audience, act))
}

/// Adds the rows, outcomes and notes of one account to the combined response.
fn add(all: &mut WholeAnswer, one: WholeAnswer) {
    for scalar in one.document.scalars {
        if !all.document.scalars.contains(&scalar) {
            all.document.scalars.push(scalar);
        }
    }
    for rows in one.document.tables {
        match all.document.tables.iter_mut().find(|known| known.table() == rows.table()) {
            Some(known) => known.append(rows),
            None => all.document.tables.push(rows),
        }
    }
    for note in one.notes {
        if !all.notes.contains(&note) {
            all.notes.push(note);
        }
    }
}

/// Returns an automatic reply as an object of ours, for the table `auto_reply`.
pub(crate) fn object(reply: &AutoReply) -> Value {
    let at = |at: Option<jiff::Timestamp>| at.map(|at| json!({"dateTime": at.to_string()}));
    let status = match (reply.on, reply.from.or(reply.to)) {
        (false, _) => "off",
        (true, None) => "on",
        (true, Some(_)) => "scheduled",
    };
    let audience = reply.audience.map(|audience| match audience {
        mail::ReplyAudience::All => "all",
        mail::ReplyAudience::Contacts => "contacts",
        mail::ReplyAudience::Organization => "organization",
    });
    json!({
        "status": status,
        "from": at(reply.from),
        "to": at(reply.to),
        "subject": reply.subject,
        "text": reply.html.as_deref().filter(|_| texts(reply).is_none()).map(shown),
        "text_internal": texts(reply).map(|(internal, _)| shown(internal)),
        "text_external": texts(reply).map(|(_, external)| shown(external)),
        "audience": audience,
    })
}

/// Returns a text on one line, as a cell requires, with a mark for each line break.
fn shown(html: &str) -> String {
    let text = flatten::plain(html.to_owned());
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ¶ ")
}

/// Returns the texts for people inside and outside the organization, if they differ.
fn texts(reply: &AutoReply) -> Option<(&str, &str)> {
    let internal = reply.html.as_deref().unwrap_or_default();
    let external = reply.external.as_deref()?;
    (internal.trim() != external.trim()).then_some((internal, external))
}

/// Returns the fields of an automatic reply that differ; those not given stay, because
/// someone may have changed them in the meantime.
fn changed(after: &AutoReply, before: &AutoReply) -> AutoReply {
    let new = |text: &Option<String>, old: &Option<String>| text.clone().filter(|_| text != old);
    AutoReply {
        subject: new(&after.subject, &before.subject),
        html: new(&after.html, &before.html),
        external: new(&after.external, &before.external),
        audience: after.audience.filter(|_| after.audience != before.audience),
        ..after.clone()
    }
}

/// Returns the fields of a change of several accounts that this account supports, with a note on
/// the others. A text for some people only is not sent to everyone.
fn fitting(
    set: &SettingFields<'_>,
    before: &AutoReply,
    owner: &SettingsContext,
) -> Map<String, Value> {
    let can = owner.mailbox.capabilities();
    let has_one_text = before.external.is_none() && set.members.contains_key("text");
    let lacking = |name: &str| match name {
        "subject" => !can.reply_subjects,
        "text_internal" | "text_external" => has_one_text,
        _ => false,
    };
    let (left_out, fitting): (Map<String, Value>, Map<String, Value>) =
        set.members.clone().into_owned().into_iter().partition(|(name, _)| lacking(name));
    if !left_out.is_empty() {
        let names: Vec<&str> = left_out.keys().map(String::as_str).collect();
        owner.late_notes().push(note!(
            "{}: `{}` left out, which {} does not have",
            ours(&owner.label),
            ours(names.join("`, `")),
            ours(can.name)
        ));
    }
    fitting
}

pub(super) async fn auto_reply(
    ctx: &Context,
    request: &ManageRequest,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let set = SettingFields::new(request, &settable_columns(&AUTO_REPLY))?;
    if set.is_empty() {
        return Err(nothing_to_change(EXAMPLE));
    }
    let mut here = ctx.time_context();
    if let Some(zone) = &request.tz {
        here.zone = ctx.requested_zone(Some(zone))?;
        here.named = true;
    }
    // Everything that can refuse the call is checked for all accounts before the question.
    let accounts = several_named(ctx, request.account.as_deref()).await?;
    let several = accounts.len() > 1;
    let planned = accounts.into_iter().map(async |account| {
        let owner = context_of_account(ctx, account).await?;
        let label = owner.label.clone();
        let plan = reply_plan(ctx, &set, owner, &here, several).await;
        plan.map_err(|error| if several { error.context(label) } else { error })
    });
    let plans: Vec<ReplyPlan> = join_all(planned).await.into_iter().collect::<Result<Vec<_>>>()?;
    let mut notes = Vec::new();
    if let Some((audience, act)) = question(&plans) {
        confirm(ctx, &act, &audience, caller, &mut notes).await?;
    }
    let mut response = WholeAnswer::default();
    for plan in &plans {
        let item = plan.owner.account.email.as_str();
        let one = match write_reply(ctx, plan, request.dry_run).await {
            // The other replies are still written, and each account has its own row.
            Err(error) if several => {
                let detail = error.to_string();
                let about = ObjectWrite { item, op: "update", detail: &detail };
                about.outcome(ctx, "failed", Vec::new()).await?
            }
            written => written?,
        };
        add(&mut response, one);
        response.notes.append(&mut plan.owner.late_notes());
    }
    response.notes.append(&mut notes);
    Ok(response)
}

/// Plans the automatic reply of an account. One of `several` accounts omits the fields that its
/// provider lacks, and is refused here if its provider would refuse it.
async fn reply_plan(
    ctx: &Context,
    set: &SettingFields<'_>,
    owner: SettingsContext,
    here: &TimeContext,
    several: bool,
) -> Result<ReplyPlan> {
    let before = owner.mailbox.auto_reply().await?;
    let fitting = several.then(|| fitting(set, &before, &owner));
    let members = fitting.as_ref().unwrap_or(&set.members);
    let set = &SettingFields { members: Cow::Borrowed(members), name: set.name };
    let after = updated_reply(ctx, set, &before, &owner, here)?;
    let change = (after != before).then(|| SettingsChange::AutoReply(changed(&after, &before)));
    // A refusal by one provider must not come after the replies of other accounts were written.
    if let (true, Some(change)) = (several, &change) {
        owner.mailbox.rehearse(change).await?;
    }
    Ok(ReplyPlan { owner, after, change, is_rehearsed: several })
}

/// Writes the automatic reply of an account, or rehearses that; returns its row or outcome.
async fn write_reply(ctx: &Context, plan: &ReplyPlan, dry_run: bool) -> Result<WholeAnswer> {
    let owner = &plan.owner;
    let item = owner.account.email.as_str();
    let Some(change) = &plan.change else {
        let about = ObjectWrite { item, op: "update", detail: "already as requested" };
        return about.outcome(ctx, "unchanged", Vec::new()).await;
    };
    if dry_run {
        let status = object(&plan.after);
        let status = status.get("status").and_then(Value::as_str);
        let detail = format!("auto_reply {}", status.unwrap_or("off"));
        let about = ObjectWrite { item, op: "update", detail: &detail };
        return if plan.is_rehearsed {
            planned_change(ctx, owner, about).await
        } else {
            rehearse_settings(ctx, owner, change, about).await
        };
    }
    let about = ObjectWrite { item, op: "update", detail: "" };
    match apply_settings(ctx, owner, LoggedOp { op: "update auto_reply", id: "" }, change).await {
        Err(error) => settings_row(ctx, owner, Some(&AUTO_REPLY), Err(error), about).await,
        // Read back, because an answer shows the state at the provider.
        Ok(_) => match owner.mailbox.auto_reply().await {
            Ok(now) => Ok(local_row(ctx, owner, &AUTO_REPLY, object(&now)).await),
            Err(error) => {
                let detail = format!("it could not be read back: {error}");
                let about = ObjectWrite { detail: &detail, ..about };
                settings_row(ctx, owner, Some(&AUTO_REPLY), Ok(None), about).await
            }
        },
    }
}

/// Builds the automatic reply from the arguments.
fn updated_reply(
    ctx: &Context,
    set: &SettingFields<'_>,
    before: &AutoReply,
    owner: &SettingsContext,
    here: &TimeContext,
) -> Result<AutoReply> {
    let mut reply = before.clone();
    set_schedule(&mut reply, set, owner, here)?;
    if let Some(subject) = set.text("subject")? {
        reply.subject = Some(subject);
    }
    set_texts(ctx, &mut reply, set, owner)?;
    if let Some(word) = set.text("audience")? {
        reply.audience = Some(match word.as_str() {
            "all" => mail::ReplyAudience::All,
            "contacts" => mail::ReplyAudience::Contacts,
            "organization" => mail::ReplyAudience::Organization,
            _ => {
                return Err(Error::argument("`audience` is invalid")
                    .next("use all, contacts or organization"));
            }
        });
    }
    let given = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
    if reply.on && !given(&reply.html) && !given(&reply.external) {
        return Err(Error::argument("the reply has no text").next(EXAMPLE));
    }
    Ok(reply)
}

/// Sets the status and the times of an automatic reply.
fn set_schedule(
    reply: &mut AutoReply,
    set: &SettingFields<'_>,
    owner: &SettingsContext,
    here: &TimeContext,
) -> Result<()> {
    let from = set.text("from")?.map(|given| time_parse::read(&given, here));
    let to = set.text("to")?.map(|given| time_parse::last(&given, here));
    let (from, to) = (from.transpose()?, to.transpose()?);
    let dated = from.is_some() || to.is_some();
    match (set.text("status")?.as_deref(), dated) {
        (Some("off"), false) => reply.on = false,
        (Some("on"), false) => {
            // Without times, it also ends an earlier schedule.
            reply.on = true;
            (reply.from, reply.to) = (None, None);
        }
        (Some("scheduled") | None, true) => reply.on = true,
        (Some("scheduled"), false) if reply.from.or(reply.to).is_some() => reply.on = true,
        (None, false) => {}
        (Some("scheduled"), false) => {
            return Err(Error::argument("the times are missing").next(EXAMPLE));
        }
        (Some(word @ ("on" | "off")), true) => {
            return Err(Error::argument(format!("`from` and `to` do not go with status={word}"))
                .next("use status=scheduled"));
        }
        (Some(_), _) => {
            return Err(Error::argument("`status` is invalid").next("use on, off or scheduled"));
        }
    }
    let zone = &here.zone;
    if let Some(from) = from {
        reply.from = Some(from.first(zone));
    }
    if let Some(to) = to {
        reply.to = Some(to.over(zone));
        if matches!(to, ParsedTime::Day(_)) {
            owner.late_notes().push(note!("`to` includes {}", ours(to.day())));
        }
    }
    if let (Some(from), Some(to)) = (reply.from, reply.to)
        && from >= to
    {
        return Err(Error::argument("`to` is not after `from`").next("give a later time"));
    }
    Ok(())
}

/// Sets the texts of an automatic reply.
fn set_texts(
    ctx: &Context,
    reply: &mut AutoReply,
    set: &SettingFields<'_>,
    owner: &SettingsContext,
) -> Result<()> {
    let has_two_texts = reply.external.is_some();
    if let Some(text) = set.text("text")? {
        reply.html = Some(reply_html(ctx, &text, owner)?);
        // A single text is for people inside and outside.
        reply.external = reply.html.clone().filter(|_| has_two_texts);
    }
    let keys = [("text_internal", &mut reply.html), ("text_external", &mut reply.external)];
    for (key, own) in keys {
        match set.text(key)? {
            Some(_) if !has_two_texts => {
                return Err(Error::argument(format!(
                    "this mailbox has one text for everybody, no `{key}`"
                ))
                .next("give `text`"));
            }
            Some(text) => *own = Some(reply_html(ctx, &text, owner)?),
            None => {}
        }
    }
    Ok(())
}

/// Converts text to HTML without remote pictures; HTML stays HTML.
fn reply_html(ctx: &Context, source: &str, owner: &SettingsContext) -> Result<String> {
    // Tags such as these mark HTML; a single `<` may be plain text.
    let marked = ["</", "<br", "<p>"].iter().any(|tag| source.contains(tag));
    let both = if marked {
        text::from_html(source).unwrap_or_else(|_| text::from_plain(source))
    } else {
        text::markdown(source)
    };
    let mut html = both.html;
    let left_out = remove_remote_pictures(ctx, &mut html)?;
    owner.late_notes().extend(left_out);
    Ok(html)
}

pub(super) async fn set_signature(
    ctx: &Context,
    request: &ManageRequest,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let set = SettingFields::new(request, SIGNATURE)?;
    let Some(text) = set.text("text")? else {
        return Err(Error::argument("the signature is missing").next("give `text` in `set`"));
    };
    let address = match (set.text("email")?, &request.id) {
        (Some(_), Some(_)) => {
            return Err(
                Error::argument("`id` and `email` both name the address").next("give one of them")
            );
        }
        (email, id) => email.or_else(|| id.clone()),
    };
    let owner = mail_context(ctx, request.account.as_deref()).await?;
    let address = address.map(EmailAddress::from);
    let item = address.as_ref().unwrap_or(&owner.account.email).to_string();
    let can = owner.mailbox.capabilities();
    let outcome =
        format!("kept by Daysheet for mail it writes: programs cannot read {}'s own", can.name);
    let ours = !can.signatures;
    let is_own = |one: &EmailAddress| owner.account.email.is(one);
    let is_main = address.as_ref().is_none_or(is_own);
    if ours && !is_main {
        return Err(Error::argument("this account has one signature for all addresses")
            .next("leave out the address"));
    }
    let change = SettingsChange::Signature { address, html: reply_html(ctx, &text, &owner)? };
    let mut notes = Vec::new();
    if !ours {
        // An address that the account cannot send from is refused before the user is asked. The
        // main address never is, and a dry run rehearses the change below.
        if !is_main && !request.dry_run {
            owner.mailbox.rehearse(&change).await?;
        }
        // The signature also appears in mail that the user writes with other programs.
        let audience = WriteAudience::unlisted(format!("anybody {} writes to", short(&item)));
        let act = GuardedWrite {
            needs: AccessLevel::Organize,
            what: "setting a signature",
            question: format!(
                "Set the signature of {}?{}",
                short(&item),
                line("Text", Some(&text))
            ),
            content: text.clone(),
            asks: AskPolicy::IfPossible,
            sent_from: None,
            instead: BY_HAND.to_owned(),
            command: "daysheet call".to_owned(),
        };
        confirm(ctx, &act, &audience, caller, &mut notes).await?;
    }
    owner.late_notes().append(&mut notes);
    let about = ObjectWrite { item: &item, op: "update", detail: "" };
    if !ours {
        let plan = SettingsPlan { about, planned: "", table: None, id: "", change, done: None };
        return write_settings(ctx, &owner, request, plan).await;
    }
    if request.dry_run {
        return planned_change(ctx, &owner, about).await;
    }
    let logged = LoggedOp { op: "update signature", id: "" };
    write_logged(ctx, &owner, logged, ctx.store.keep_signature(&owner.account.id, &text)).await?;
    let about = ObjectWrite { detail: &outcome, ..about };
    settings_row(ctx, &owner, None, Ok(None), about).await
}

pub(super) async fn mailbox_settings(
    ctx: &Context,
    request: &ManageRequest,
) -> Result<WholeAnswer> {
    let set = SettingFields::new(request, &settable_columns(&SETTING))?;
    let language = set.text("language")?;
    let zone = set.text("time_zone")?.or_else(|| request.tz.clone());
    if language.is_none() && zone.is_none() {
        return Err(nothing_to_change("give it in `set`"));
    }
    let time_zone = match zone {
        Some(zone) => time_parse::zone(&zone)?.iana_name().map(str::to_owned),
        None => None,
    };
    let owner = mail_context(ctx, request.account.as_deref()).await?;
    let item = owner.account.email.as_str();
    let change = SettingsChange::Settings { language, time_zone };
    let about = ObjectWrite { item, op: "update", detail: "" };
    let plan =
        SettingsPlan { about, planned: "", table: Some(&SETTING), id: "", change, done: None };
    write_settings(ctx, &owner, request, plan).await
}
