//! Leaves mailing lists: by one request if the list supports that, and the user, who is
//! always asked first, agrees; by a draft of a message, which needs no consent until it is
//! sent; else the user gets the link.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::{ApprovalRequest, ClientPrompts, Confirmation};
use daysheet_core::call::progress;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::MessageId;
use daysheet_core::provider::mail::{DraftOrigin, MailPerson, OutgoingMessage, SourceMessage};
use daysheet_core::schemas::Service;
use daysheet_core::text::Note;
use daysheet_core::text::sender_auth::AuthResults;
use futures_util::future::join_all;

use super::chosen::{ChosenMessages, MessageChoice};
use crate::pipeline::access::untrusted::note_untrusted_quote;
use crate::pipeline::context::Context;
use crate::pipeline::handles::handle_after;
use crate::pipeline::mail::draft::people::message_id;
use crate::pipeline::titles::short;
use crate::pipeline::write::confirm::check_allow_list;
use crate::pipeline::write::log::{AuditEntry, LoggedTool, run_logged};
use crate::pipeline::write::report::{ItemOutcome, WriteReport, write_report};
use crate::store::HandleKind;
use crate::unsubscribe::{UnsubscribeMessage, UnsubscribeWay, way};

/// The maximum number of messages whose lists are left in one call: the user is asked
/// about each list.
const MAX_MESSAGES: usize = 50;
/// The maximum length of a link that is handed over; a cut one would be dead.
const LINK: usize = 1_000;
const OP: &str = "unsubscribe";
/// The reason against a request that the user cannot be asked about.
const CANNOT_ASK: &str = "this client cannot ask the user to confirm";

/// A mailing list to leave.
struct MailingList {
    /// The position of its account.
    account: usize,
    /// The message that names it, as the reader knows it.
    handle: String,
    id: String,
    sender: String,
    /// The provider's findings about the sender.
    proof: String,
    way: UnsubscribeWay,
}

pub(super) async fn leave_lists(
    ctx: &Context,
    choice: MessageChoice,
    dry_run: bool,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let count: usize = choice.accounts.iter().map(|one| one.ids.len()).sum();
    if count > MAX_MESSAGES {
        return Err(Error::argument(format!(
            "{count} messages are more than the {MAX_MESSAGES} that do=unsubscribe takes"
        ))
        .next("give one message per list, or call again for the others"));
    }
    let mut report = WriteReport { notes: choice.notes.clone(), ..WriteReport::default() };
    for (name, error) in &choice.failed {
        report.outcomes.push(ItemOutcome::failed(name, OP, error));
    }
    let lists = lists_of(ctx, &choice.accounts, &mut report).await?;
    // Hosts, links and addresses in outcomes are the senders'.
    note_untrusted_quote(ctx);
    if dry_run {
        for list in &lists {
            report.outcomes.push(list.planned(caller.can_approve()));
        }
        report.notes.push("dry run: nothing was sent".into());
        return write_report(ctx, report).await;
    }
    if lists.is_empty() {
        return write_report(ctx, report).await;
    }
    // A draft reaches no one, and mail_send asks: only a request needs consent here.
    let posts: Vec<&MailingList> =
        lists.iter().filter(|list| matches!(list.way, UnsubscribeWay::Post(_))).collect();
    let reply = if posts.is_empty() {
        Confirmation::Yes
    } else {
        let lines: Vec<String> = posts.iter().map(|list| list.question()).collect();
        let question = format!("Unsubscribe from:\n{}", lines.join("\n"));
        caller.approve(&ApprovalRequest { question: &question, content: "", reason: "" }).await
    };
    if reply == Confirmation::Later {
        return Err(Error::new(ErrorKind::Argument, "the user is being asked"));
    }
    for list in progress::each("mailing lists", &lists) {
        report.outcomes.push(match (&list.way, reply, choice.accounts.get(list.account)) {
            (UnsubscribeWay::Post(_), Confirmation::No, _) => {
                ItemOutcome::new(&list.handle, OP, "refused", "the user declined")
            }
            (UnsubscribeWay::Post(url), Confirmation::Unavailable, _) => {
                list.refused(CANNOT_ASK, url)
            }
            (UnsubscribeWay::Post(url), Confirmation::Unanswered, _) => {
                list.refused("nobody confirmed", url)
            }
            (_, _, Some(chosen)) => leave_list(ctx, list, chosen, caller, &mut report.notes).await,
            _ => continue,
        });
    }
    write_report(ctx, report).await
}

/// Returns the lists that messages belong to, each once.
async fn lists_of(
    ctx: &Context,
    accounts: &[ChosenMessages],
    report: &mut WriteReport,
) -> Result<Vec<MailingList>> {
    let mut lists: Vec<MailingList> = Vec::new();
    for (account, chosen) in accounts.iter().enumerate() {
        let ids: Vec<&str> = chosen.ids.iter().map(MessageId::as_str).collect();
        let kind = HandleKind::Message;
        let numbers = ctx.store.handles(&chosen.account.id, kind, &ids).await?;
        let messages =
            join_all(chosen.ids.iter().map(|id| chosen.mailbox.source_message(id))).await;
        for ((number, id), message) in numbers.into_iter().zip(ids).zip(messages) {
            let handle = kind.handle(number);
            let message = match message {
                Ok(message) => message,
                Err(error) => {
                    report.outcomes.push(ItemOutcome::failed(handle, OP, &error));
                    continue;
                }
            };
            let way = way(&message.headers);
            // Before the user is asked, so that the question contains no list that is refused
            // anyway.
            if let Some(UnsubscribeWay::Mail(message)) = &way
                && let Err(error) = check_allow_list(ctx, std::iter::once(&reader(message)))
            {
                report.outcomes.push(ItemOutcome::failed(handle, OP, &error));
                continue;
            }
            match way {
                None => report.outcomes.push(ItemOutcome::new(
                    handle,
                    OP,
                    "failed",
                    "the message has no unsubscribe header; look for a link in its text",
                )),
                Some(UnsubscribeWay::Open(url)) => report.outcomes.push(ItemOutcome::new(
                    handle,
                    OP,
                    "failed",
                    hand_over("its list has a page, and no one-click request", &url),
                )),
                Some(way) if lists.iter().any(|one| one.way == way) => {
                    let detail = "the same list as another of the messages";
                    report.outcomes.push(ItemOutcome::new(handle, OP, "skipped", detail));
                }
                Some(way) => lists.push(MailingList {
                    account,
                    handle,
                    id: id.to_owned(),
                    sender: sender(&message),
                    proof: proof(&message, chosen.mailbox.api()),
                    way,
                }),
            }
        }
    }
    Ok(lists)
}

/// Leaves one list.
async fn leave_list(
    ctx: &Context,
    list: &MailingList,
    chosen: &ChosenMessages,
    caller: &dyn ClientPrompts,
    notes: &mut Vec<Note>,
) -> ItemOutcome {
    let recipients = match &list.way {
        UnsubscribeWay::Mail(message) => vec![message.to.as_str()],
        _ => Vec::new(),
    };
    let entry = AuditEntry::new(&chosen.account.email, LoggedTool::MAIL_MODIFY, OP)
        .with_id(&list.id)
        .with_recipients(recipients);
    let mut late = Vec::new();
    let write = async {
        match &list.way {
            UnsubscribeWay::Post(url) => {
                ctx.states.unsubscriber.post(url).await.map(|()| list.describe())
            }
            UnsubscribeWay::Mail(message) => {
                draft_unsubscribe(ctx, chosen, message, caller, &mut late).await
            }
            UnsubscribeWay::Open(_) => Ok(String::new()),
        }
    };
    let done = run_logged(ctx, entry, notes, write, |_| None).await;
    notes.append(&mut late);
    match (done, &list.way) {
        (Ok(detail), UnsubscribeWay::Mail(_)) => {
            ItemOutcome::new(&list.handle, OP, "waiting", detail)
        }
        (Ok(detail), _) => ItemOutcome::new(&list.handle, OP, "done", detail),
        (Err(error), UnsubscribeWay::Post(url)) if !error.is_open() => {
            ItemOutcome::new(&list.handle, OP, "failed", hand_over(error.message(), url))
        }
        (Err(error), _) => ItemOutcome::failed(&list.handle, OP, &error),
    }
}

/// Creates a draft of the message that leaves a list, to be sent by `mail_send`.
async fn draft_unsubscribe(
    ctx: &Context,
    chosen: &ChosenMessages,
    message: &UnsubscribeMessage,
    caller: &dyn ClientPrompts,
    notes: &mut Vec<Note>,
) -> Result<String> {
    let own = MailPerson { name: None, address: chosen.account.email.clone() };
    // An account whose aliases cannot be fetched has at least its own address.
    let senders = chosen.mailbox.senders().await.unwrap_or_default();
    let from = senders.into_iter().next().map_or(own, |one| one.person);
    let outgoing = OutgoingMessage {
        message_id: message_id(from.address.as_str())?,
        to: vec![reader(message)],
        cc: Vec::new(),
        bcc: Vec::new(),
        reply_to: Vec::new(),
        subject: message.subject.clone(),
        html: html(&message.text),
        text: message.text.clone(),
        importance: daysheet_core::provider::mail::Importance::Normal,
        in_reply_to: None,
        references: Vec::new(),
        files: Vec::new(),
        from,
    };
    let response = chosen.mailbox.create(&DraftOrigin::New, &outgoing, caller).await?;
    let kind = HandleKind::Draft;
    let handle = handle_after(ctx, &chosen.account, kind, response.id.as_str(), notes).await;
    Ok(format!(
        "not unsubscribed yet: send draft {handle}, to {}, with mail_send",
        short(&message.to)
    ))
}

/// Returns the recipient of the message that leaves a list.
fn reader(message: &UnsubscribeMessage) -> MailPerson {
    MailPerson { name: None, address: message.to.clone().into() }
}

impl MailingList {
    /// Describes the way to leave, without the parts of a link that identify the user.
    fn describe(&self) -> String {
        match &self.way {
            UnsubscribeWay::Post(url) => {
                format!("one-click at {}", short(url.host_str().unwrap_or_default()))
            }
            UnsubscribeWay::Open(url) => {
                format!("page at {}", short(url.host_str().unwrap_or_default()))
            }
            UnsubscribeWay::Mail(message) => format!("by a message to {}", short(&message.to)),
        }
    }

    /// Returns the outcome of a dry run: the outcome of the call, as far as it is known without a
    /// question.
    fn planned(&self, can_approve: bool) -> ItemOutcome {
        let detail = match &self.way {
            UnsubscribeWay::Post(url) if !can_approve => return self.refused(CANNOT_ASK, url),
            UnsubscribeWay::Mail(message) => {
                format!("a draft to {}, for mail_send to send", short(&message.to))
            }
            UnsubscribeWay::Post(_) | UnsubscribeWay::Open(_) => {
                format!("{}, once the user confirms", self.describe())
            }
        };
        ItemOutcome::new(&self.handle, OP, "planned", detail)
    }

    /// Returns the outcome of a request that the user has not agreed to.
    fn refused(&self, why: &str, url: &url::Url) -> ItemOutcome {
        ItemOutcome::new(&self.handle, OP, "refused", hand_over(why, url))
    }

    /// Returns a line of the question to the user.
    fn question(&self) -> String {
        format!("- {}, {} ({})", self.sender, self.describe(), self.proof)
    }
}

/// Returns the sender of a message, on one line.
fn sender(message: &SourceMessage) -> String {
    let Some(one) = message.from.first() else {
        return "(no sender)".to_owned();
    };
    match &one.name {
        Some(name) => format!("{} <{}>", short(name), short(one.address.as_str())),
        None => short(one.address.as_str()),
    }
}

/// Returns a phrase on whether the provider authenticated the sender.
fn proof(message: &SourceMessage, api: Service) -> String {
    let mut headers = message.headers.iter();
    let found = headers.find(|(name, _)| name.eq_ignore_ascii_case("Authentication-Results"));
    // DKIM passes with anyone's signature; only DMARC is about the sender.
    let proved = found.and_then(|(_, value)| AuthResults::read(value, api.receivers())?.dmarc);
    match proved.as_deref() {
        Some("pass") => "the sender is authenticated",
        _ => "the sender is not authenticated",
    }
    .to_owned()
}

/// Returns a detail that gives the user the complete link to open.
fn hand_over(why: &str, url: &url::Url) -> String {
    if url.as_str().len() <= LINK {
        // A backtick would end the quotation of the link.
        let url = url.as_str().replace('`', "%60");
        format!("not unsubscribed: {why}; the user can open `{url}`")
    } else {
        format!("not unsubscribed: {why}; the link is too long to show: open the message")
    }
}

fn html(text: &str) -> String {
    let escaped = html_escape::encode_text(text).replace('\n', "<br>\n");
    format!("<p>{escaped}</p>")
}
