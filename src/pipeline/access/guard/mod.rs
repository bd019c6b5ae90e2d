//! Whom a write may reach: the access level, the allow-list, and people who are
//! new.
//!
//! [`Pipeline::decide`] is the one place that decides, for mail, events, answers
//! and whatever else others are notified of or see. Its callers read what they
//! are going to write to first, and hand over who is reached by that, whomever
//! the call names ([`Audience`], [`events`]).
//!
//! Once the process has shown what strangers wrote, a message to an address that
//! the mailbox has never written to may be a stranger's wish and not the
//! user's. It is confirmed by the user, or refused.

pub(in crate::pipeline) mod events;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use futures_util::future::join_all;

use crate::access::Access;
use crate::budget::Draft;
use crate::caller::{Caller, Reply};
use crate::config::NewRecipients;
use crate::error::{Error, Kind, Result};
use crate::pipeline::{Flattening, Pipeline};
use crate::project::project;
use crate::provider::Account;
use crate::provider::Ask;
use crate::provider::mail::{Outgoing, Person};
use crate::query::{Part, Query, Term};
use crate::row::Cell;
use crate::schemas::{Field, MESSAGE};
use crate::store::HandleKind;
use crate::text::cell;
use crate::text::{Note, note, ours};

/// How many addresses are looked up at once.
const AT_ONCE: usize = 8;
/// The most new people of one question.
const MOST_NEW: usize = 200;
/// Sent letters that are looked at for an address.
const LOOKED_AT: usize = 5;

/// Whom a write reaches, as far as it is known once its target was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::pipeline) struct Audience {
    /// Addresses, each once.
    people: Vec<String>,
    /// A domain, `@example.com`, all of which is reached.
    domain: Option<String>,
    /// People whom nobody can list, in words.
    unlisted: Vec<String>,
}

impl Audience {
    /// Adds people by their addresses.
    pub(in crate::pipeline) fn add<'a>(&mut self, addresses: impl IntoIterator<Item = &'a str>) {
        for address in addresses {
            if address.is_empty() {
                self.join(&Self::unlisted("somebody without an address"));
                continue;
            }
            let known = |one: &String| one.eq_ignore_ascii_case(address);
            if !self.people.iter().any(known) {
                self.people.push(address.to_owned());
            }
        }
    }

    /// A whole domain, of which the allow-list has to have all.
    pub(in crate::pipeline) fn domain(domain: &str) -> Self {
        Self { domain: Some(format!("@{}", domain.to_lowercase())), ..Self::default() }
    }

    /// People whom nobody can list: no allow-list has them.
    pub(in crate::pipeline) fn unlisted(who: impl Into<String>) -> Self {
        Self { unlisted: vec![who.into()], ..Self::default() }
    }

    /// Adds those of another.
    pub(in crate::pipeline) fn join(&mut self, other: &Self) {
        self.add(other.people.iter().map(String::as_str));
        self.domain = self.domain.take().or_else(|| other.domain.clone());
        for words in &other.unlisted {
            if !self.unlisted.contains(words) {
                self.unlisted.push(words.clone());
            }
        }
    }
}

/// What is to be done to an [`Audience`].
#[derive(Debug, Clone)]
pub(in crate::pipeline) struct Act<'a> {
    /// The level that it needs, and what it is called in the error about that.
    pub(in crate::pipeline) needs: Access,
    pub(in crate::pipeline) what: &'a str,
    /// The question to the user, without who is new: plain lines, the same for
    /// the same call. Text of strangers in it is cleaned and short.
    pub(in crate::pipeline) question: String,
    pub(in crate::pipeline) asks: Asks,
    /// The account whose sent mail says who is new; any account if none.
    pub(in crate::pipeline) sent_from: Option<&'a Account>,
    /// What to do when it is refused.
    pub(in crate::pipeline) instead: String,
}

/// When the user is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pipeline) enum Asks {
    /// When somebody is new.
    New,
    /// Whenever the user can be asked.
    IfPossible,
    /// As [`Asks::IfPossible`]; and people whom nobody can list are always new.
    Always,
}

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pipeline) enum Decision {
    /// The user said yes.
    Agreed,
    /// It may be done without a question.
    Unasked,
    /// The user said no.
    Declined,
}

/// What is remembered of strangers and of people who are none.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct Strangers {
    /// True once the process has shown what strangers wrote.
    shown: AtomicBool,
    /// True once other processes can know.
    noted: AtomicBool,
    /// True while what is going to be said, whatever it is, quotes strangers.
    quoted: AtomicBool,
    /// Account and address, in small letters, of people who were written to.
    known: Mutex<HashSet<(String, String)>>,
}

impl Strangers {
    /// True if an answer is going to show what strangers wrote.
    fn in_it(draft: &Draft) -> bool {
        !draft.texts.is_empty()
            || draft.document.tables.iter().any(|rows| {
                let columns = rows.columns();
                rows.rows().any(|row| {
                    row.iter().zip(columns).any(|(cell, column)| {
                        column.untrusted.is_some() && matches!(cell, Cell::Text(_))
                    })
                })
            })
    }

    fn knows(&self, account: &str, address: &str) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.contains(&(account.to_owned(), address.to_lowercase()))
    }

    fn learn(&self, account: &str, address: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert((account.to_owned(), address.to_lowercase()));
    }
}

/// What needs a higher level than there is.
pub fn above(what: &str, needed: Access, is: Access) -> Error {
    let needed = needed.word();
    Error::argument(format!("{what} needs access `{needed}`, but this server has `{}`", is.word()))
        .next(format!("ask the user to start it with --access {needed}"))
}

/// People on one line. An address may be a stranger's words, too.
fn listed<'a>(people: impl Iterator<Item = &'a String>) -> String {
    let people: Vec<String> = people.map(|one| cell(one)).collect();
    people.join(", ")
}

/// Everybody who gets a letter, blind copies too.
pub(in crate::pipeline) fn everybody(letter: &Outgoing) -> impl Iterator<Item = &Person> {
    letter.to.iter().chain(&letter.cc).chain(&letter.bcc)
}

impl Pipeline {
    /// Notes what an answer is going to show.
    pub(in crate::pipeline) async fn strangers_in(&self, draft: &Draft) -> Result<()> {
        match Strangers::in_it(draft) {
            true => self.strangers_shown().await,
            false => Ok(()),
        }
    }

    /// Notes that a line of ours quotes strangers, which is shown when the call has
    /// ended: it may be refused before.
    pub(in crate::pipeline) fn strangers_quoted(&self) {
        self.strangers.quoted.store(true, Ordering::Relaxed);
    }

    /// Notes what lines of ours have quoted until now.
    pub(in crate::pipeline) async fn quotes_shown(&self) -> Result<()> {
        match self.strangers.quoted.swap(false, Ordering::Relaxed) {
            true => self.strangers_shown().await,
            false => Ok(()),
        }
    }

    /// Notes that what strangers wrote is shown, once for this process and for
    /// those that follow.
    pub(in crate::pipeline) async fn strangers_shown(&self) -> Result<()> {
        self.strangers.shown.store(true, Ordering::Relaxed);
        if !self.strangers.noted.load(Ordering::Relaxed) {
            self.store.note_strangers().await?;
            self.strangers.noted.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    async fn strangers_about(&self) -> Result<bool> {
        Ok(self.strangers.shown.load(Ordering::Relaxed) || self.store.strangers_lately().await?)
    }

    /// Refuses what the access level does not allow.
    pub(in crate::pipeline) fn needs(&self, access: Access, what: &str) -> Result<()> {
        if self.config.access >= access {
            return Ok(());
        }
        Err(above(what, access, self.config.access))
    }

    /// Decides whether something may be done that others are notified of, or
    /// see: by the access level, the allow-list, and whether somebody is new.
    /// Who is asked is `caller`; nobody for a dry run, which is refused as the
    /// real one, and has a note where that asks.
    ///
    /// # Errors
    /// [`Kind::Argument`], which names whom it must not reach, or why.
    pub(in crate::pipeline) async fn decide(
        &self,
        act: &Act<'_>,
        audience: &Audience,
        caller: Option<&dyn Caller>,
        notes: &mut Vec<Note>,
    ) -> Result<Decision> {
        self.needs(act.needs, act.what)?;
        self.allowed_audience(audience)?;
        let setting = self.config.new_recipients;
        let strangers = self.strangers_about().await?;
        let look = strangers && (setting != NewRecipients::Allow || act.asks != Asks::New);
        let mut new = match look {
            true => self.new_among(act.sent_from, &audience.people).await?,
            false => Vec::new(),
        };
        if strangers || act.asks == Asks::Always {
            new.extend(audience.unlisted.iter().cloned());
        }
        let unsure = !new.is_empty();
        let new = listed(new.iter());
        let refused = |why: &str| {
            let seen = match strangers {
                true => "strangers' mail was read before, and ",
                false => "and ",
            };
            Error::argument(match act.sent_from {
                Some(_) => format!("this mailbox has never written to {new}, {seen}{why}"),
                None => format!("it reaches people never written to ({new}), {seen}{why}"),
            })
            .next(act.instead.as_str())
        };
        if unsure && setting == NewRecipients::Refuse {
            return Err(refused("the settings forbid it"));
        }
        let must = unsure && setting == NewRecipients::Confirm;
        if !must && act.asks == Asks::New {
            return Ok(Decision::Unasked);
        }
        let Some(caller) = caller else {
            if must {
                notes.push(note!(
                    "the user will be asked, as these were never written to: {}",
                    ours(&new)
                ));
            }
            return Ok(Decision::Unasked);
        };
        let mut question = act.question.clone();
        if unsure {
            question.push_str(&format!("\nNever written to before: {new}"));
        }
        match caller.confirm(&question).await {
            Reply::Yes => Ok(Decision::Agreed),
            Reply::Nobody if must => Err(refused("nobody here can be asked")),
            Reply::Nobody => Ok(Decision::Unasked),
            Reply::No => Ok(Decision::Declined),
            Reply::Later => Err(Error::argument("the user is being asked")),
        }
    }

    /// [`Pipeline::decide`] for what ends with the user's no. True if the user
    /// was asked.
    pub(in crate::pipeline) async fn agreed(
        &self,
        act: &Act<'_>,
        audience: &Audience,
        caller: Option<&dyn Caller>,
        notes: &mut Vec<Note>,
    ) -> Result<bool> {
        match self.decide(act, audience, caller, notes).await? {
            Decision::Agreed => Ok(true),
            Decision::Unasked => Ok(false),
            Decision::Declined => Err(Error::argument("the user declined: nothing was done")
                .next("ask what to do instead")),
        }
    }

    /// True when anything may be refused because of whom it reaches: then it is
    /// worth looking who that is.
    pub(in crate::pipeline) async fn is_watchful(&self) -> Result<bool> {
        Ok(self.config.access < Access::Send
            || !self.config.recipients.is_empty()
            || (self.config.new_recipients != NewRecipients::Allow
                && self.strangers_about().await?))
    }

    /// Refuses recipients who are not on the allow-list, if there is one.
    ///
    /// # Errors
    /// [`Kind::Argument`], which names them.
    pub(in crate::pipeline) fn allowed<'p>(
        &self,
        people: impl Iterator<Item = &'p Person>,
    ) -> Result<()> {
        let mut audience = Audience::default();
        audience.add(people.map(|person| person.address.as_str()));
        self.allowed_audience(&audience)
    }

    fn allowed_audience(&self, audience: &Audience) -> Result<()> {
        let list = &self.config.recipients;
        if list.is_empty() {
            return Ok(());
        }
        let allows = |said: &str| list.iter().any(|one| one == said);
        let barred = |address: &&String| {
            let address = address.to_lowercase();
            let domain = address.rfind('@').and_then(|at| address.get(at..));
            !allows(&address) && !domain.is_some_and(allows)
        };
        let people = audience.people.iter().filter(barred);
        let domain = audience.domain.iter().filter(|domain| !allows(domain));
        let barred: Vec<&String> = people.chain(domain).chain(&audience.unlisted).collect();
        if barred.is_empty() {
            return Ok(());
        }
        Err(Error::argument(format!("not an allowed recipient: {}", listed(barred.into_iter())))
            .next("leave them out, or ask the user to add them to the setting `recipients`"))
    }

    /// Those whom no mailbox of these has ever written to: that of one account,
    /// or of any.
    async fn new_among(&self, from: Option<&Account>, people: &[String]) -> Result<Vec<String>> {
        let all = self.accounts.list().await?;
        let own =
            |address: &str| all.iter().any(|account| account.email.eq_ignore_ascii_case(address));
        let senders: Vec<&Account> = match from {
            Some(account) => vec![account],
            None => all.iter().collect(),
        };
        let mut new: Vec<String> = Vec::new();
        for some in people.chunks(AT_ONCE) {
            let looks = some.iter().map(|address| async {
                if own(address) {
                    return Ok(true);
                }
                for account in &senders {
                    if self.strangers.knows(&account.id, address) {
                        return Ok(true);
                    }
                    if self.wrote_to(account, address).await? {
                        self.strangers.learn(&account.id, address);
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
            if new.len() > MOST_NEW {
                return Err(Error::argument(format!(
                    "more than {MOST_NEW} people were never written to"
                ))
                .next("write to fewer people"));
            }
        }
        Ok(new)
    }

    /// True if a sent letter has exactly this recipient. Searches find what is
    /// alike, so what they find is looked at.
    async fn wrote_to(&self, account: &Account, address: &str) -> Result<bool> {
        let mailbox = self.connect.mailbox(account)?;
        let to = |part| Query::Term(Term::In(part, address.to_owned()));
        let query = Query::All(vec![
            Query::Term(Term::Folder("sent".to_owned())),
            Query::Any(vec![to(Part::To), to(Part::Cc), to(Part::Bcc)]),
        ]);
        let id: Vec<&Field> = MESSAGE.fields.iter().take(1).collect();
        let page = mailbox
            .messages(&Ask {
                query: Some(query),
                folder: None,
                projection: project(mailbox.api(), &id),
                limit: LOOKED_AT,
                cursor: None,
            })
            .await?;
        let flattening = Flattening { api: mailbox.api(), ..self.local() };
        let names = HashMap::new();
        let rows = flattening.rows(&MESSAGE, &id, &page.items, &names, &mut Vec::new());
        let ids = rows.ids(HandleKind::Message.letter());
        for id in ids.iter().take(LOOKED_AT) {
            let original = match mailbox.original(id).await {
                Ok(original) => original,
                Err(error) if error.kind() == Kind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let is = |person: &Person| person.address.eq_ignore_ascii_case(address);
            if original.to.iter().any(is) || original.cc.iter().any(is) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Notes somebody who was written to just now.
    pub(in crate::pipeline) fn written_to(&self, account: &Account, letter: &Outgoing) {
        for person in everybody(letter) {
            self.strangers.learn(&account.id, &person.address);
        }
    }
}
