//! Applies a rule to mail that exists already. The rule itself is written in `rules.rs`.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::error::{Error, Result};
use daysheet_core::provider::Account;
use daysheet_core::provider::mail::{FolderKind, MailRule, RuleStep};
use daysheet_core::query::{Query, QueryTerm};
use daysheet_core::text::{note, ours};

use super::target::SettingFields;
use crate::pipeline::context::Context;
use crate::pipeline::mail::modify::actions::ActionArguments;
use crate::pipeline::mail::modify::change_messages;
use crate::pipeline::mail::modify::chosen::choose_messages;
use crate::tools::mail::ModifyVerb;

/// The argument that names the existing mail that a rule is applied to.
pub(super) const RUN: &str = "run";

/// The existing mail that a rule is applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExistingMail {
    Inbox,
    /// Everything but the user's own mail, spam and trash.
    All,
}

impl ExistingMail {
    /// Reads the argument `run`.
    pub(super) fn from_fields(set: &SettingFields<'_>) -> Result<Option<Self>> {
        match set.text(RUN)?.as_deref() {
            None => Ok(None),
            Some("inbox") => Ok(Some(Self::Inbox)),
            Some("all") => Ok(Some(Self::All)),
            Some(_) => Err(Error::argument("`run` is invalid").next("use inbox or all")),
        }
    }
}

/// Applies a rule to existing messages, with the permissions of `with`.
pub(super) async fn run_over(
    ctx: &Context,
    account: Account,
    rule: &MailRule,
    existing: ExistingMail,
    with: &ActionArguments,
) -> Result<WholeAnswer> {
    let Some(when) = &rule.when else {
        return Err(
            Error::argument("the rule names no messages").next("give it `when` with op=update")
        );
    };
    let (steps, skipped) = existing_steps(rule, with);
    if steps.is_empty() {
        return Err(Error::argument(format!(
            "the rule only does {}, which does not apply to existing mail",
            skipped.join(" and ")
        ))
        .next("change what it does with op=update"));
    }
    // Rules apply to incoming mail, so the user's own messages are left out.
    let folder = |name: &str| Query::Term(QueryTerm::Folder(name.to_owned()));
    let mut parts = vec![when.clone()];
    match existing {
        ExistingMail::Inbox => parts.push(folder("inbox")),
        ExistingMail::All => {
            parts.extend(["sent", "drafts"].map(|own| Query::Not(Box::new(folder(own)))));
        }
    }
    // Messages with the label are left out, so that another run continues with the rest. A label
    // that does not exist yet is on none.
    if let [RuleStep::Label(name)] = rule.then.as_slice() {
        let mailbox = ctx.connect.mailbox(&account)?;
        if mailbox.find_folder(name, FolderKind::Label, false).await.is_ok() {
            parts.push(Query::Not(Box::new(Query::Term(QueryTerm::Label(name.clone())))));
        }
    }
    let mut choice = choose_messages(ctx, &Query::All(parts), vec![account]).await?;
    choice.notes.push(match existing {
        ExistingMail::Inbox => "only mail in the inbox; filed mail stays as it is".into(),
        ExistingMail::All => "all mail except sent mail, drafts, spam and trash".into(),
    });
    if !skipped.is_empty() {
        let line = note!("skipped: {}", ours(skipped.join(", ")));
        choice.notes.push(line);
    }
    change_messages(ctx, choice, "run", &steps, None).await
}

/// Returns the actions of a rule on existing messages, in the order in which they are carried out,
/// and the names of those that apply only to incoming mail.
fn existing_steps(
    rule: &MailRule,
    with: &ActionArguments,
) -> (Vec<(ModifyVerb, ActionArguments)>, Vec<&'static str>) {
    let mut steps = Vec::new();
    let mut skipped = Vec::new();
    for step in &rule.then {
        let (verb, to) = match step {
            RuleStep::Read => (ModifyVerb::Read, None),
            RuleStep::Star => (ModifyVerb::Star, None),
            RuleStep::Archive => (ModifyVerb::Archive, None),
            RuleStep::Trash => (ModifyVerb::Trash, None),
            RuleStep::Label(name) => (ModifyVerb::Label, Some(name.clone())),
            RuleStep::Move(name) => (ModifyVerb::Move, Some(name.clone())),
            RuleStep::NeverSpam => {
                skipped.push("never_spam");
                continue;
            }
            RuleStep::Important => {
                skipped.push("important");
                continue;
            }
            // The caller refuses such a rule.
            RuleStep::Forward(_) => continue,
        };
        steps.push((verb, ActionArguments { to: to.into_iter().collect(), ..with.clone() }));
    }
    // Moves come last: the next step may not find a moved message.
    steps.sort_by_key(|(verb, _)| {
        matches!(verb, ModifyVerb::Archive | ModifyVerb::Trash | ModifyVerb::Move)
    });
    (steps, skipped)
}
