//! Rules for incoming mail: one model for all providers.
//!
//! Rules with conditions or actions that our words cannot express are shown, deleted,
//! and not changed. Rules that forward mail are never created.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::{ApprovalRequest, ClientPrompts};
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::mail::{FolderKind, MailRule, RuleStep, SettingsChange};
use daysheet_core::provider::{Account, MailCapabilities};
use daysheet_core::query::{self, DateContext, Query, QueryTerm};
use daysheet_core::schemas::RULE;
use daysheet_core::text::{cell, clip, note, ours};
use serde_json::{Value, json};

use super::rule_run::{ExistingMail, RUN, run_over};
use super::rule_text::{query, read_list, read_steps, steps};
use super::target::{
    LoggedOp, SettingFields, SettingsContext, SettingsPlan, apply_settings, context_of_account,
    local_row, mail_context, nothing_to_change, planned_change, refuse_id, rehearse_settings,
    required_id, settable_columns, settings_row, write_settings,
};
use crate::pipeline::access::accounts::{account_named, owner_named};
use crate::pipeline::access::erasure::{refused_erasure, refused_without_approval};
use crate::pipeline::access::untrusted::is_tainted;
use crate::pipeline::context::Context;
use crate::pipeline::handles::resolve_handle;
use crate::pipeline::mail::modify::actions::{ActionArguments, find};
use crate::pipeline::titles::short;
use crate::pipeline::write::confirm::WILL_ASK;
use crate::pipeline::write::object::ObjectWrite;
use crate::store::HandleKind;
use crate::tools::manage::{ManageOp, ManageRequest};

/// Permits creating the labels and folders that the rule names.
const CREATE: &str = "create";
/// The next step for an incomplete rule.
const EXAMPLE: &str = "give set=[\"when=from:news@shop.example\", \"then=label:News archive\"]; \
                       also name=…, enabled=false, stop=true, create=true (missing labels), \
                       run=inbox or all (existing mail)";
/// The reason to refuse a rule that hides mail.
const UNASKED: &str = "text that others may have written was shown recently, and this client cannot \
                       ask the user: label the mail or mark it important instead, or ask the user to make \
                       the rule in the mail program";
/// The reason for asking about a rule.
const SHOWN: &str = "text that others may have written was shown recently";
/// The maximum width of a rule in a question, in columns.
const QUESTION: usize = 300;

/// The argument with which a rule creates a missing label or folder.
const CREATE_IN_SET: &str = "create=true in `set`";

/// Adds to the error about a missing label or folder how the rule can create it.
fn may_create(error: Error) -> Error {
    match (error.kind(), error.next_step()) {
        (ErrorKind::NotFound, Some(instead)) => {
            let next = format!("{instead}; {CREATE_IN_SET} creates it");
            error.next(next)
        }
        _ => error,
    }
}

/// Returns a rule as an object of ours, for the table `rule`, in its provider's words.
pub(crate) fn object(rule: &MailRule, can: &MailCapabilities) -> Value {
    let when = rule.when.as_ref().map(query);
    let other = (!rule.other.is_empty()).then(|| rule.other.join("; "));
    json!({
        "id": rule.id,
        "name": rule.name,
        "when": when,
        "then": steps(&rule.then, can),
        "enabled": rule.enabled,
        "stop": rule.stop,
        "other": other,
    })
}

pub(super) async fn manage_rule(
    ctx: &Context,
    request: &ManageRequest,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let mut columns = settable_columns(&RULE);
    columns.extend([CREATE, RUN]);
    let set = SettingFields::new(request, &columns)?;
    if request.op == ManageOp::Create {
        refuse_id(request)?;
        let rule = updated_rule(ctx, &set, MailRule { enabled: true, ..MailRule::default() })?;
        let owner = mail_context(ctx, request.account.as_deref()).await?;
        let rule = without_unsupported_name(&owner, rule);
        let write = RuleWrite::new(&owner, rule, "create", (request, &set))?;
        return write_rule(ctx, &write, None, caller).await;
    }
    let (owner, rule, all) = named_rule(ctx, request).await?;
    let name = describe(&rule);
    if request.op == ManageOp::Delete {
        if !set.is_empty() {
            return Err(Error::argument("op=delete takes no `name` or `set`")
                .next("name what to delete by `id` alone"));
        }
        let detail = "what it did remains";
        let plan = SettingsPlan {
            about: ObjectWrite { item: &name, op: "delete", detail },
            planned: detail,
            table: None,
            id: &rule.id,
            change: SettingsChange::DeleteRule { id: rule.id.clone() },
            done: None,
        };
        return write_settings(ctx, &owner, request, plan).await;
    }
    if set.is_empty() {
        return Err(nothing_to_change(EXAMPLE));
    }
    changeable(&rule, "changed")?;
    let updated = without_unsupported_name(&owner, updated_rule(ctx, &set, rule.clone())?);
    if updated == rule && ExistingMail::from_fields(&set)?.is_none() {
        let detail = "already as requested";
        let about = ObjectWrite { item: &name, op: "update", detail };
        return about.outcome(ctx, "unchanged", Vec::new()).await;
    }
    let write = RuleWrite::new(&owner, updated, "update", (request, &set))?;
    write_rule(ctx, &write, Some(all), caller).await
}

/// Builds the rule from the arguments.
///
/// # Errors
/// All problems, in one error.
fn updated_rule(ctx: &Context, set: &SettingFields<'_>, mut rule: MailRule) -> Result<MailRule> {
    let mut wrong: Vec<Error> = Vec::new();
    let mut read = |given: Result<()>| wrong.extend(given.err());
    read(set.name().map(|name| rule.name = name.or(rule.name.take())));
    let when = set.text("when").and_then(|when| {
        when.map(|when| {
            condition(&when, &ctx.date_context()).map_err(|error| error.context("`when`"))
        })
        .transpose()
    });
    let no_when = matches!(when, Ok(None)) && rule.when.is_none();
    read(when.map(|when| rule.when = when.or(rule.when.take())));
    // A text is first read as a whole, because names may contain commas.
    let then = match (set.text("then"), set.list("then")) {
        (Err(_), Ok(Some(list))) => read_list(&list).map(Some),
        (then, _) => then.and_then(|then| then.map(|then| read_steps(&then)).transpose()),
    };
    let no_then = matches!(then, Ok(None)) && rule.then.is_empty();
    read(then.map(|then| rule.then = then.unwrap_or(std::mem::take(&mut rule.then))));
    read(set.flag("enabled").map(|flag| rule.enabled = flag.unwrap_or(rule.enabled)));
    read(set.flag("stop").map(|flag| rule.stop = flag.unwrap_or(rule.stop)));
    let missing = [(no_when, "no `when`"), (no_then, "no `then`")].into_iter();
    let missing: Vec<&str> =
        missing.filter(|(is_missing, _)| *is_missing).map(|(_, what)| what).collect();
    let mut all: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    match (wrong.as_slice(), missing.as_slice()) {
        ([], []) => Ok(rule),
        ([one], []) => Err(one.clone()),
        (_, []) => Err(Error::argument(all.join("; "))),
        (_, missing) => {
            all.push(format!("the rule has {}", missing.join(" and ")));
            Err(Error::argument(all.join("; ")).next(EXAMPLE))
        }
    }
}

/// A rule to write, and the rest of the call.
struct RuleWrite<'a> {
    /// The mailbox of the rule.
    owner: &'a SettingsContext,
    /// The rule as it will be.
    rule: MailRule,
    /// The rule in outcomes.
    name: String,
    /// `create` or `update`.
    op: &'static str,
    /// The conditions and the actions, in words.
    detail: String,
    /// The existing mail that the rule is applied to after the write.
    existing: Option<ExistingMail>,
    /// The permissions of the call.
    with: ActionArguments,
}

impl<'a> RuleWrite<'a> {
    /// Creates the write of a rule.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the rule matches all mail, or if an argument is invalid.
    fn new(
        owner: &'a SettingsContext,
        rule: MailRule,
        op: &'static str,
        (request, set): (&ManageRequest, &SettingFields<'_>),
    ) -> Result<Self> {
        if !rule.when.as_ref().is_some_and(narrows) {
            return Err(Error::argument("the rule would match all mail")
                .next("narrow `when`, such as from:ann or subject:invoice"));
        }
        let when = rule.when.as_ref().map(query).unwrap_or_default();
        let then = steps(&rule.then, owner.mailbox.capabilities());
        Ok(Self {
            owner,
            name: describe(&rule),
            op,
            detail: format!("when {when} then {then}"),
            existing: ExistingMail::from_fields(set)?,
            with: ActionArguments {
                create: set.flag(CREATE)?.unwrap_or_default(),
                create_with: (op == "create").then_some(CREATE_IN_SET),
                dry_run: request.dry_run,
                ..ActionArguments::default()
            },
            rule,
        })
    }

    /// Returns the write as an outcome describes it.
    fn about<'w>(&'w self, detail: &'w str) -> ObjectWrite<'w> {
        ObjectWrite { item: &self.name, op: self.op, detail }
    }

    /// Returns the change of the mailbox.
    fn change(&self) -> SettingsChange {
        match self.op {
            "create" => SettingsChange::CreateRule(self.rule.clone()),
            _ => SettingsChange::UpdateRule(self.rule.clone()),
        }
    }

    /// Asks the user about a rule that hides mail. Returns the reason if the rule is refused.
    async fn refusal(
        &self,
        ctx: &Context,
        caller: &dyn ClientPrompts,
    ) -> Result<Option<&'static str>> {
        let Some(hides) = hides(&self.rule) else {
            return Ok(None);
        };
        let question = format!(
            "{} a rule of {}? It {hides}: {}",
            if self.op == "create" { "Create" } else { "Change" },
            self.owner.account.email,
            clip(cell(&self.detail), QUESTION).0
        );
        // Text of an unknown sender may be the reason for the rule, so the access level alone does
        // not count as consent.
        let must = !caller.can_ask() && is_tainted(ctx).await?;
        let refused = if must {
            let request = ApprovalRequest { question: &question, content: "", reason: SHOWN };
            refused_without_approval(&request, caller, UNASKED).await?
        } else {
            refused_erasure(ctx, &question, caller).await?
        };
        if refused.is_some() {
            return Ok(refused);
        }
        if self.with.dry_run && (must || ctx.config.always_confirm || caller.can_ask()) {
            self.owner.late_notes().push(WILL_ASK.into());
        }
        Ok(None)
    }

    /// Returns the plan of a dry run; `created` is true if labels or folders have to be created.
    async fn rehearse(&self, ctx: &Context, created: bool) -> Result<WholeAnswer> {
        let about = self.about(&self.detail);
        // A rule cannot be rehearsed with a label that does not exist yet.
        if created {
            return planned_change(ctx, self.owner, about).await;
        }
        let planned = rehearse_settings(ctx, self.owner, &self.change(), about).await;
        planned.map_err(may_create)
    }

    /// Writes the rule. Returns the new id, if the provider reports one.
    async fn apply(&self, ctx: &Context) -> Result<Option<String>> {
        let op = format!("{} rule", self.op);
        let logged = LoggedOp { op: &op, id: &self.rule.id };
        let object = apply_settings(ctx, self.owner, logged, &self.change()).await?;
        let id = object.as_ref().and_then(|object| object.get("id")?.as_str());
        Ok(id.map(str::to_owned))
    }

    /// Returns the answer about the rule as the provider lists it, which is applied to existing
    /// mail if the call asks for that.
    async fn report(&self, ctx: &Context, rule: &MailRule) -> Result<WholeAnswer> {
        let owner = self.owner;
        if self.op == "create" && self.existing.is_none() && rule.enabled {
            owner.late_notes().push(
                "it applies to new mail; op=run applies it to the inbox as it is, or \
                 with run=all in `set` to all mail"
                    .into(),
            );
        }
        // The provider may list more than was written, or another rule in its place.
        let is_own = self.existing.is_none()
            && rule.other.is_empty()
            && (&rule.name, &rule.when, &rule.then)
                == (&self.rule.name, &self.rule.when, &self.rule.then);
        let object = object(rule, owner.mailbox.capabilities());
        let mut response = local_row(ctx, owner, &RULE, object).await;
        response.is_own = is_own;
        self.run_now(ctx, rule, response).await
    }

    /// Applies the rule to existing mail, if requested, and adds the outcome to the response about
    /// the rule.
    async fn run_now(
        &self,
        ctx: &Context,
        rule: &MailRule,
        mut response: WholeAnswer,
    ) -> Result<WholeAnswer> {
        let Some(existing) = self.existing else {
            return Ok(response);
        };
        match run_over(ctx, self.owner.account.clone(), rule, existing, &self.with).await {
            Ok(ran) => {
                response.document.scalars.extend(ran.document.scalars);
                response.document.tables.extend(ran.document.tables);
                for note in ran.notes {
                    if !response.notes.contains(&note) {
                        response.notes.push(note);
                    }
                }
            }
            Err(error) => {
                response.notes.push(note!("the rule was not run over existing mail: {}", error));
            }
        }
        Ok(response)
    }
}

/// Creates a rule, or changes one; `before` has the rules before a change.
async fn write_rule(
    ctx: &Context,
    write: &RuleWrite<'_>,
    before: Option<Vec<MailRule>>,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let owner = write.owner;
    if let Some(why) = write.refusal(ctx, caller).await? {
        return write.about(why).outcome(ctx, "refused", Vec::new()).await;
    }
    // After the question, so that a refused rule leaves no new label behind.
    let created = create_for(ctx, owner, &write.rule, &write.with).await?;
    if write.with.dry_run {
        let planned = write.rehearse(ctx, created).await?;
        return write.run_now(ctx, &write.rule, planned).await;
    }
    // Read before the creation, to recognise the new rule.
    let before = match before {
        Some(before) => before,
        None => owner.mailbox.rules().await?,
    };
    let new_id = match write.apply(ctx).await {
        Ok(new_id) => new_id,
        Err(error) => {
            let made: Vec<String> = owner.late_notes().iter().map(ToString::to_string).collect();
            // The labels stay, so the error names those that were created.
            let error = if created { error.context(made.join("; ")) } else { may_create(error) };
            return settings_row(ctx, owner, Some(&RULE), Err(error), write.about("")).await;
        }
    };
    let now = match owner.mailbox.rules().await {
        Ok(now) => now,
        Err(error) => {
            let detail = format!("it could not be read back: {error}");
            return settings_row(ctx, owner, Some(&RULE), Ok(None), write.about(&detail)).await;
        }
    };
    match find_written(&now, &before, new_id.as_ref(), &write.rule) {
        Some(rule) => write.report(ctx, rule).await,
        None => {
            let detail = "the provider accepted it but does not list it: see lookup kind=rules";
            write.about(detail).outcome(ctx, "unknown", Vec::new()).await
        }
    }
}

/// Finds a rule after its write: by its new id; without one, as the rule that did not exist
/// before, or by its old id. Some services cannot change a rule; it is created again, with another
/// id.
fn find_written<'r>(
    now: &'r [MailRule],
    before: &[MailRule],
    new_id: Option<&String>,
    rule: &MailRule,
) -> Option<&'r MailRule> {
    let known = |one: &&MailRule| before.iter().any(|old| old.id == one.id);
    now.iter()
        .find(|one| Some(&one.id) == new_id)
        .or_else(|| now.iter().find(|one| !known(one)))
        .or_else(|| now.iter().find(|one| one.id == rule.id))
}

/// Finds the rule that a call names by a handle, a name or an id, and all rules of its mailbox.
async fn named_rule(
    ctx: &Context,
    request: &ManageRequest,
) -> Result<(SettingsContext, MailRule, Vec<MailRule>)> {
    let id_or_name = required_id(request, "its handle or name, from lookup kind=rules")?;
    let account = request.account.as_deref();
    let (owner, id): (Account, Option<String>) =
        match resolve_handle(ctx, HandleKind::Rule, id_or_name).await? {
            Some((owner, id)) => (owner_named(ctx, &owner, account).await?, Some(id)),
            None => (account_named(ctx, account).await?, None),
        };
    let owner = context_of_account(ctx, owner).await?;
    let all = owner.mailbox.rules().await?;
    let lower = id_or_name.to_lowercase();
    let is_it = |rule: &&MailRule| match &id {
        Some(id) => rule.id == *id,
        None => {
            rule.id == id_or_name
                || rule.name.as_ref().is_some_and(|name| name.to_lowercase() == lower)
        }
    };
    let found: Vec<&MailRule> = all.iter().filter(is_it).collect();
    match found.as_slice() {
        [rule] => {
            let rule = (*rule).clone();
            Ok((owner, rule, all))
        }
        [] => {
            Err(Error::new(ErrorKind::NotFound, format!("there is no rule {}", short(id_or_name)))
                .next("see lookup kind=rules"))
        }
        _ => Err(Error::argument(format!("several rules are called {}", short(id_or_name)))
            .next("give the handle, from lookup kind=rules")),
    }
}

/// Creates the folders and labels that a rule names, if it may. Returns true if any were missing;
/// the notes name them.
///
/// # Errors
/// [`ErrorKind::NotFound`] for a missing category of a new rule that must not be created.
async fn create_for(
    ctx: &Context,
    owner: &SettingsContext,
    rule: &MailRule,
    with: &ActionArguments,
) -> Result<bool> {
    let mut created = Vec::new();
    // A service with categories accepts a rule with one that no mail program lists.
    let unchecked = with.create_with.is_some() && !owner.mailbox.capabilities().has_labels();
    let is_read = |step: &&RuleStep| with.create || unchecked && matches!(step, RuleStep::Label(_));
    for step in rule.then.iter().filter(is_read) {
        let (name, kind) = match step {
            RuleStep::Label(name) => (name, FolderKind::Label),
            RuleStep::Move(name) => (name, FolderKind::Folder),
            _ => continue,
        };
        // Built-in folders always exist.
        if !query::PLACES.contains(&query::place(name).as_str()) {
            find(&*owner.mailbox, name, kind, with, &mut created).await?;
        }
    }
    for folder in &created {
        folder.keep_levels(&ctx.store, &owner.account.id).await;
        owner.late_notes().push(folder.note());
    }
    Ok(!created.is_empty())
}

/// Applies a rule to existing messages.
pub(super) async fn run_rule(ctx: &Context, request: &ManageRequest) -> Result<WholeAnswer> {
    let set = SettingFields::new(request, &[RUN])?;
    if request.name.is_some() {
        return Err(
            Error::argument("op=run takes no `name`").next("change the rule first with op=update")
        );
    }
    let existing = ExistingMail::from_fields(&set)?.unwrap_or(ExistingMail::Inbox);
    let (owner, rule, _) = named_rule(ctx, request).await?;
    changeable(&rule, "run")?;
    let with = ActionArguments { dry_run: request.dry_run, ..ActionArguments::default() };
    run_over(ctx, owner.account, &rule, existing, &with).await
}

/// Reads the condition of a rule.
///
/// # Errors
/// [`ErrorKind::Argument`] for an invalid query, and for conditions that only a search has, with the
/// nearest condition of a rule.
fn condition(when: &str, clock: &DateContext) -> Result<Query> {
    let (query, listed) = query::parse_search(when, clock)?;
    let (what, instead) = if listed.bulk.is_some() {
        (
            "is:bulk",
            "name the senders, such as from:news@shop.example OR from:list.example; mail_search \
             q=is:bulk by=sender lists them",
        )
    } else if listed.direct {
        ("is:direct", "use to: with your address")
    } else if let Some(answered) = listed.answered {
        let what = if answered { "is:answered" } else { "is:unanswered" };
        (what, "leave it out, because new mail has no answer yet")
    } else {
        return Ok(query);
    };
    Err(Error::argument(format!("a rule cannot test `{what}`")).next(instead))
}

/// Returns true if a query selects some mail and not nearly all.
fn narrows(when: &Query) -> bool {
    match when {
        Query::All(parts) => parts.iter().any(narrows),
        Query::Any(parts) => !parts.is_empty() && parts.iter().all(narrows),
        // An exclusion selects nearly all mail.
        Query::Not(_) => false,
        Query::Term(QueryTerm::Larger(bytes)) => *bytes > 0,
        Query::Term(QueryTerm::Folder(_)) => false,
        Query::Term(_) | Query::Raw(_) => true,
    }
}

/// Refuses a rule with parts that our words cannot express.
fn changeable(rule: &MailRule, what: &str) -> Result<()> {
    let forwards = |step: &RuleStep| matches!(step, RuleStep::Forward(_));
    let why = match rule.other.as_slice() {
        _ if rule.then.iter().any(forwards) => "it forwards mail".to_owned(),
        [] => return Ok(()),
        other => format!("it also has: {}", short(&other.join("; "))),
    };
    Err(Error::argument(format!("the rule cannot be {what} here: {why}"))
        .next("let the user do it in the provider's settings"))
}

/// Returns the way in which a rule takes mail, such as warnings, out of the user's sight; `None` if
/// it does not.
fn hides(rule: &MailRule) -> Option<&'static str> {
    let moves =
        |step: &RuleStep| matches!(step, RuleStep::Archive | RuleStep::Trash | RuleStep::Move(_));
    if !rule.enabled {
        None
    } else if rule.then.iter().any(moves) {
        Some("takes mail out of the inbox")
    } else {
        rule.then.contains(&RuleStep::Read).then_some("marks mail as read")
    }
}

/// Removes the name of a rule if the service has no names for rules.
fn without_unsupported_name(owner: &SettingsContext, mut rule: MailRule) -> MailRule {
    let can = owner.mailbox.capabilities();
    if !can.rule_names && rule.name.take().is_some() {
        let note = note!("{}'s rules have no names: `name` was left out", ours(can.name));
        owner.late_notes().push(note);
    }
    rule
}

/// Returns the name of a rule; its conditions, if it has no name.
fn describe(rule: &MailRule) -> String {
    match (&rule.name, &rule.when) {
        (Some(name), _) => name.clone(),
        (None, Some(when)) => query(when),
        (None, None) => rule.id.clone(),
    }
}
