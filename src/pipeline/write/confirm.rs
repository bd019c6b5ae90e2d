//! Decides on the audience that a write may reach, by the access level, the allow-list and new
//! recipients.
//!
//! [`decide_write`] is the only place that decides, for mail, events, answers and anything else
//! that others are notified of or can see. Its callers first read the target of the write, and pass
//! the audience of that target ([`WriteAudience`]), not of the call's arguments;
//! [`audience`](crate::pipeline::calendar::audience) reads the audience of events.
//!
//! Once the process has shown untrusted text, that text rather than the user may have requested a
//! message to an address that the mailbox has never written to. The user must confirm such a
//! message, or it is refused.

use std::collections::HashSet;

use daysheet_core::access::AccessLevel;
use daysheet_core::call::client::{ApprovalRequest, ClientPrompts, Confirmation};
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::flatten::RowContext;
use daysheet_core::project::project;
use daysheet_core::provider::Account;
use daysheet_core::provider::ListRequest;
use daysheet_core::provider::mail::{MailPerson, OutgoingMessage};
use daysheet_core::query::{MessagePart, Query, QueryTerm};
use daysheet_core::schemas::{MESSAGE, TableColumn};
use daysheet_core::text::cell;
use daysheet_core::text::{Note, note, ours};
use futures_util::future::join_all;
use url::Url;

use crate::config::{AccessBy, Config, NewRecipients};
use crate::pipeline::access::untrusted::is_tainted;
use crate::pipeline::context::Context;
use crate::pipeline::rows::rows_of;
use crate::store::HandleKind;

/// The number of addresses that are looked up concurrently.
const AT_ONCE: usize = 8;
/// The maximum number of new people in one question.
const MAX_NEW: usize = 200;
/// The number of sent messages that are checked for an address.
const LOOKED_AT: usize = 5;

/// The note of a dry run that the call asks the user.
pub(crate) const WILL_ASK: &str = "the user will be asked first";

/// The people a write reaches, as far as known after reading its target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WriteAudience {
    /// Addresses, each once.
    people: Vec<String>,
    /// The same in lower case.
    known: HashSet<String>,
    /// Domains, such as `@example.com`, all of which are reached.
    domains: Vec<String>,
    /// Recipients that cannot be listed, in words.
    unlisted: Vec<String>,
}

impl WriteAudience {
    /// Adds people by their addresses.
    pub(crate) fn add<'a>(&mut self, addresses: impl IntoIterator<Item = &'a str>) {
        for address in addresses {
            // A person without an address can be neither on an allow-list nor looked up.
            if address.is_empty() {
                self.join(&Self::unlisted("somebody without an address"));
                continue;
            }
            if self.known.insert(address.to_ascii_lowercase()) {
                self.people.push(address.to_owned());
            }
        }
    }

    /// Creates the audience of a whole domain, all of which the allow-list must cover.
    pub(crate) fn domain(domain: &str) -> Self {
        Self { domains: vec![format!("@{}", domain.to_lowercase())], ..Self::default() }
    }

    /// Creates an audience that cannot be listed, which no allow-list covers.
    pub(crate) fn unlisted(who: impl Into<String>) -> Self {
        Self { unlisted: vec![who.into()], ..Self::default() }
    }

    /// Adds the people, domains and unlisted recipients of another audience.
    pub(crate) fn join(&mut self, other: &Self) {
        self.add(other.people.iter().map(String::as_str));
        let lists = [(&mut self.domains, &other.domains), (&mut self.unlisted, &other.unlisted)];
        for (own, others) in lists {
            for one in others {
                if !own.contains(one) {
                    own.push(one.clone());
                }
            }
        }
    }
}

/// A write that is to reach an [`WriteAudience`].
#[derive(Debug, Clone)]
pub(crate) struct GuardedWrite<'a> {
    /// The access level that it needs, and its name in the error about that.
    pub(crate) needs: AccessLevel,
    pub(crate) what: &'a str,
    /// The question to the user, without the new recipients: plain lines, the same for
    /// the same call. Untrusted text in it is cleaned and short.
    pub(crate) question: String,
    /// The outgoing text, for approval without a question.
    pub(crate) content: String,
    pub(crate) asks: AskPolicy,
    /// The account whose sent mail determines who is new; any account if `None`.
    pub(crate) sent_from: Option<&'a Account>,
    /// The user's alternative if the write is refused, and the command for it. The command is left
    /// out on a server, because its machine is not the user's.
    pub(crate) instead: String,
    pub(crate) command: String,
}

/// The cases in which the user is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskPolicy {
    /// If a recipient is new.
    New,
    /// If the user can be asked.
    IfPossible,
    /// As [`AskPolicy::IfPossible`]; recipients that cannot be listed always count as new.
    Always,
}

/// The result of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteDecision {
    /// The user agreed.
    Agreed,
    /// It may be done without a question.
    Unasked,
    /// The user refused.
    Declined,
    /// The user was asked, and did not answer.
    Unanswered,
}

/// Returns the error for an operation above the access level, with the way to raise the level.
pub(crate) fn above(what: &str, needed: AccessLevel, config: &Config) -> Error {
    let needed = needed.word();
    let (lowest, next) = match (config.access_by, &config.pages) {
        (AccessBy::Settings, None) => {
            ("this server has", format!("ask the user to start it with --access {needed}"))
        }
        (AccessBy::Settings, Some(_)) => {
            ("this server has", format!("ask the operator to start it with --access {needed}"))
        }
        (AccessBy::Person, page) => {
            let page = page.as_ref().map_or("", Url::as_str);
            ("the user allows", format!("ask the user to allow more on {page}accounts#level"))
        }
        (AccessBy::Token, _) => {
            let next = format!("ask the user to give this client a token that allows `{needed}`");
            ("the token of this client allows", next)
        }
    };
    let is = config.access.word();
    Error::argument(format!("{what} needs access `{needed}`, but {lowest} `{is}`")).next(next)
}

/// Lists people on one line. An address may be untrusted text, too.
fn people_line<'a>(people: impl Iterator<Item = &'a String>) -> String {
    let people: Vec<String> = people.map(|one| cell(one)).collect();
    people.join(", ")
}

/// Returns all recipients of a message, including Bcc.
pub(crate) fn everybody(message: &OutgoingMessage) -> impl Iterator<Item = &MailPerson> {
    message.to.iter().chain(&message.cc).chain(&message.bcc)
}

/// Returns an error if the access level does not allow the operation that `what` names.
pub(crate) fn require_access(ctx: &Context, access: AccessLevel, what: &str) -> Result<()> {
    if ctx.config.access >= access {
        return Ok(());
    }
    Err(above(what, access, &ctx.config))
}

/// Decides whether a write may reach its audience: by the access level, the allow-list, and
/// whether a recipient is new. The user is asked through `caller`; a dry run is refused as the
/// call would be, and gets a note instead of a question.
///
/// # Errors
/// [`ErrorKind::Argument`], which names the people it must not reach, or the reason.
pub(crate) async fn decide_write(
    ctx: &Context,
    act: &GuardedWrite<'_>,
    audience: &WriteAudience,
    caller: &dyn ClientPrompts,
    notes: &mut Vec<Note>,
) -> Result<WriteDecision> {
    require_access(ctx, act.needs, act.what)?;
    // Refusals come before the question, so that the user is not asked in vain.
    allowed_audience(ctx, audience)?;
    let setting = ctx.config.new_recipients;
    let strangers = is_tainted(ctx).await?;
    // Each new recipient costs searches, so they are looked up only if the result can matter.
    let look = strangers && (setting != NewRecipients::Allow || act.asks != AskPolicy::New);
    let mut new =
        if look { new_among(ctx, act.sent_from, &audience.people).await? } else { Vec::new() };
    // A recipient that cannot be listed cannot be looked up either, and counts as new.
    if strangers || act.asks == AskPolicy::Always {
        new.extend(audience.unlisted.iter().cloned());
    }
    let unsure = !new.is_empty();
    // Under `allow`, a new recipient is no reason to refuse.
    let is_doubtful = unsure && setting != NewRecipients::Allow;
    let new = people_line(new.iter());
    let reason = if !is_doubtful {
        format!("the settings require that the user approves {}", act.what)
    } else if act.sent_from.is_some() {
        format!("this mailbox has never written to {new}")
    } else {
        format!("it reaches people never written to ({new})")
    };
    let refused = |why: &str| {
        let seen = if strangers {
            "text that others may have written was shown recently, and "
        } else {
            "and "
        };
        let seen = if is_doubtful { seen } else { "and " };
        Error::argument(format!("{reason}, {seen}{why}")).next(by_hand(ctx, act))
    };
    if unsure && setting == NewRecipients::Refuse {
        return Err(refused("the settings forbid it"));
    }
    // A write without an audience, such as an event without guests, needs no approval.
    let approval = ctx.config.always_confirm && *audience != WriteAudience::default();
    let must = approval || unsure && setting == NewRecipients::Confirm;
    if !must && act.asks == AskPolicy::New {
        return Ok(WriteDecision::Unasked);
    }
    let mut question = act.question.clone();
    if unsure {
        question.push_str(&format!("\nNever written to before: {new}"));
    }
    let request = ApprovalRequest { question: &question, content: &act.content, reason: &reason };
    let answer = if must {
        caller.approve(&request).await
    } else {
        // A write that needs no approval is not worth a page outside the chat.
        caller.confirm_write(&ApprovalRequest { reason: "", ..request }).await
    };
    match answer {
        Confirmation::Yes => Ok(WriteDecision::Agreed),
        Confirmation::Unavailable if must => Err(refused("this client cannot ask the user")),
        Confirmation::Unavailable => Ok(WriteDecision::Unasked),
        Confirmation::Planned => {
            notes.push(if unsure {
                note!("never written to: {}; {}", ours(&new), WILL_ASK)
            } else {
                WILL_ASK.into()
            });
            Ok(WriteDecision::Unasked)
        }
        Confirmation::No => Ok(WriteDecision::Declined),
        Confirmation::Unanswered => Ok(WriteDecision::Unanswered),
        // The question ends the call, which is repeated once there is an answer.
        Confirmation::Later => Err(Error::argument("the user is being asked")),
    }
}

/// Calls [`decide_write`] for a write that ends if the user refuses. Returns true if the user was
/// asked.
pub(crate) async fn confirm(
    ctx: &Context,
    act: &GuardedWrite<'_>,
    audience: &WriteAudience,
    caller: &dyn ClientPrompts,
    notes: &mut Vec<Note>,
) -> Result<bool> {
    match decide_write(ctx, act, audience, caller, notes).await? {
        WriteDecision::Agreed => Ok(true),
        WriteDecision::Unasked => Ok(false),
        WriteDecision::Declined => {
            Err(Error::argument("the user declined: nothing was done")
                .next("ask what to do instead"))
        }
        WriteDecision::Unanswered => {
            Err(Error::argument("nobody confirmed: nothing was done").next(by_hand(ctx, act)))
        }
    }
}

/// Returns the user's alternative to a write that was refused here.
pub(crate) fn by_hand(ctx: &Context, act: &GuardedWrite<'_>) -> String {
    // On a server, the user has no terminal.
    if ctx.config.shared {
        act.instead.clone()
    } else {
        format!("{}, or to run `{}` in a terminal", act.instead, act.command)
    }
}

/// Returns true if a write may be refused because of its audience; only then the
/// audience has to be read.
pub(crate) async fn is_watchful(ctx: &Context) -> Result<bool> {
    // Below `send`, every write with an audience is refused.
    Ok(ctx.config.access < AccessLevel::Send
        || ctx.config.always_confirm
        || !ctx.config.recipients.is_empty()
        || (ctx.config.new_recipients != NewRecipients::Allow && is_tainted(ctx).await?))
}

/// Refuses recipients who are not on the allow-list, if there is one.
///
/// # Errors
/// [`ErrorKind::Argument`], which names them.
pub(crate) fn check_allow_list<'p>(
    ctx: &Context,
    people: impl Iterator<Item = &'p MailPerson>,
) -> Result<()> {
    let mut audience = WriteAudience::default();
    audience.add(people.map(|person| person.address.as_str()));
    allowed_audience(ctx, &audience)
}

fn allowed_audience(ctx: &Context, audience: &WriteAudience) -> Result<()> {
    let list = &ctx.config.recipients;
    if list.is_empty() {
        return Ok(());
    }
    // An entry is an address, or a domain such as `@example.com`.
    let allows = |entry: &str| list.iter().any(|one| one == entry);
    let barred = |address: &&String| {
        let address = address.to_lowercase();
        let domain = address.rfind('@').and_then(|at| address.get(at..));
        !allows(&address) && !domain.is_some_and(allows)
    };
    let people = audience.people.iter().filter(barred);
    let domains = audience.domains.iter().filter(|domain| !allows(domain));
    let barred: Vec<&String> = people.chain(domains).chain(&audience.unlisted).collect();
    if barred.is_empty() {
        return Ok(());
    }
    Err(Error::argument(format!("not an allowed recipient: {}", people_line(barred.into_iter())))
        .next("leave them out, or ask the user to add them to the setting `recipients`"))
}

/// Returns the people that the account `from` has never written to; that no account has written to
/// if `from` is `None`.
pub(crate) async fn new_among(
    ctx: &Context,
    from: Option<&Account>,
    people: &[String],
) -> Result<Vec<String>> {
    let all = ctx.accounts.list().await?;
    let own = |address: &str| all.iter().any(|account| account.email.is(address));
    let senders: Vec<&Account> = match from {
        Some(account) => vec![account],
        None => all.iter().collect(),
    };
    let mut new: Vec<String> = Vec::new();
    // In groups, because each address may cost several requests.
    for some in people.chunks(AT_ONCE) {
        let looks = some.iter().map(|address| async {
            // The user's own addresses are never new.
            if own(address) {
                return Ok(true);
            }
            // One account that has written is enough, so the accounts are asked one after the
            // other.
            for account in &senders {
                // Only positive results are remembered, because an address can become known at any
                // time.
                if ctx.states.taint.knows(account, address) {
                    return Ok(true);
                }
                if wrote_to(ctx, account, address).await? {
                    ctx.states.taint.learn(account, address);
                    return Ok(true);
                }
            }
            Ok::<_, Error>(false)
        });
        for (address, known) in some.iter().zip(join_all(looks).await) {
            if !known? {
                new.push(address.clone());
            }
        }
        // Checked after each group, so that thousands of addresses do not cost thousands of
        // searches.
        if new.len() > MAX_NEW {
            return Err(Error::argument(format!(
                "more than {MAX_NEW} people were never written to"
            ))
            .next("write to fewer people"));
        }
    }
    Ok(new)
}

/// Returns true if a sent message has exactly this recipient. A search also finds
/// similar addresses, so its results are checked.
async fn wrote_to(ctx: &Context, account: &Account, address: &str) -> Result<bool> {
    let mailbox = ctx.connect.mailbox(account)?;
    let to = |part| Query::Term(QueryTerm::In(part, address.to_owned()));
    let query = Query::All(vec![
        Query::Term(QueryTerm::Folder("sent".to_owned())),
        Query::Any(vec![to(MessagePart::To), to(MessagePart::Cc), to(MessagePart::Bcc)]),
    ]);
    let id: Vec<&TableColumn> = MESSAGE.fields.iter().take(1).collect();
    let page = mailbox
        .messages(&ListRequest {
            query: Some(query),
            folder: None,
            projection: project(mailbox.api(), &id),
            limit: LOOKED_AT,
            oldest: false,
            cursor: None,
            hidden: false,
        })
        .await?;
    let context = RowContext { api: mailbox.api(), ..ctx.local() };
    let rows = rows_of(&context, &MESSAGE, &id, &page.items, &mut Vec::new());
    let ids = rows.ids(HandleKind::Message.prefix());
    for id in ids.iter().take(LOOKED_AT) {
        let original = match mailbox.source_message(&id.as_str().into()).await {
            Ok(original) => original,
            // The message was deleted after the search.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let is = |person: &MailPerson| person.address.is(address);
        if original.to.iter().any(is) || original.cc.iter().any(is) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Records recipients that were just written to.
pub(crate) fn written_to(ctx: &Context, account: &Account, message: &OutgoingMessage) {
    for person in everybody(message) {
        ctx.states.taint.learn(account, person.address.as_str());
    }
}
