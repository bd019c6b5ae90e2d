//! Who may be written to: the allow-list, and people who are new.
//!
//! Once the process has shown what strangers wrote, a letter to an address that
//! the mailbox has never written to may be a stranger's wish and not the
//! user's. Such a letter is confirmed by the user, or refused.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{Flattening, Pipeline};
use crate::access::Access;
use crate::accounts::Account;
use crate::budget::Draft;
use crate::caller::{Caller, Reply};
use crate::config::NewRecipients;
use crate::error::{Error, Kind, Result};
use crate::project::project;
use crate::provider::Ask;
use crate::provider::mail::{Outgoing, Person};
use crate::query::{Part, Query, Term};
use crate::row::Cell;
use crate::schemas::{Field, MESSAGE};
use crate::store::HandleKind;

/// Sent letters that are looked at for an address.
const LOOKED_AT: usize = 5;

/// What is remembered of strangers and of people who are none.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    /// True once the process has shown what strangers wrote.
    shown: AtomicBool,
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
    Error::argument(format!(
        "{what} needs access `{needed}`, and it is `{}` here",
        is.word()
    ))
    .next(format!(
        "ask the user to start the server with --access {needed}"
    ))
}

/// Everybody who gets a letter, blind copies too.
pub(super) fn everybody(letter: &Outgoing) -> impl Iterator<Item = &Person> {
    letter.to.iter().chain(&letter.cc).chain(&letter.bcc)
}

impl Pipeline {
    /// Notes what an answer is going to show.
    pub(super) async fn strangers_in(&self, draft: &Draft) -> Result<()> {
        match Strangers::in_it(draft) {
            true => self.strangers_shown().await,
            false => Ok(()),
        }
    }

    /// Notes that what strangers wrote is shown, once for this process and for
    /// those that follow.
    pub(super) async fn strangers_shown(&self) -> Result<()> {
        if self.strangers.shown.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        self.store.note_strangers().await
    }

    /// Asks before people are told of an event who were never written to from
    /// any account, once strangers' words were shown.
    pub(super) async fn confirm_new_guests(
        &self,
        addresses: &[String],
        caller: &dyn Caller,
    ) -> Result<()> {
        let setting = self.config.new_recipients;
        if addresses.is_empty()
            || setting == NewRecipients::Allow
            || !self.strangers_about().await?
        {
            return Ok(());
        }
        let accounts = self.accounts.list().await?;
        let mut new: Vec<&str> = Vec::new();
        for address in addresses {
            let own = |account: &Account| account.email.eq_ignore_ascii_case(address);
            let mut known = accounts.iter().any(own);
            for account in &accounts {
                known = known
                    || self.strangers.knows(&account.id, address)
                    || self.wrote_to(account, address).await?;
            }
            if !known {
                new.push(address);
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        let whom = new.join(", ");
        let refused = |why: &str| {
            Error::argument(format!(
                "mail to {whom} was never sent from these accounts, strangers' words were shown \
                 before, and {why}"
            ))
            .next("ask the user to invite them in the calendar program")
        };
        if setting == NewRecipients::Refuse {
            return Err(refused("the settings refuse that"));
        }
        let question = format!("Tell people of an event?\nNever written to before: {whom}");
        match caller.confirm(&question).await {
            Reply::Yes => Ok(()),
            Reply::No => Err(refused("the user said no")),
            Reply::Nobody => Err(refused("nobody can be asked here")),
            Reply::Later => Err(Error::argument("the user is being asked")),
        }
    }

    async fn strangers_about(&self) -> Result<bool> {
        Ok(self.strangers.shown.load(Ordering::Relaxed) || self.store.strangers_lately().await?)
    }

    /// Refuses what the access level does not allow.
    pub(super) fn needs(&self, access: Access, what: &str) -> Result<()> {
        if self.config.access >= access {
            return Ok(());
        }
        Err(above(what, access, self.config.access))
    }

    /// Refuses recipients who are not on the allow-list, if there is one.
    ///
    /// # Errors
    /// [`Kind::Argument`], which names them.
    pub(super) fn allowed<'p>(&self, people: impl Iterator<Item = &'p Person>) -> Result<()> {
        self.allowed_addresses(people.map(|person| person.address.as_str()))
    }

    /// [`Pipeline::allowed`] for addresses alone.
    pub(super) fn allowed_addresses<'p>(
        &self,
        addresses: impl Iterator<Item = &'p str>,
    ) -> Result<()> {
        let list = &self.config.recipients;
        if list.is_empty() {
            return Ok(());
        }
        let barred: Vec<&str> = addresses
            .filter(|address| {
                let address = address.to_lowercase();
                let domain = address.rfind('@').and_then(|at| address.get(at..));
                !list
                    .iter()
                    .any(|one| *one == address || Some(one.as_str()) == domain)
            })
            .collect();
        if barred.is_empty() {
            return Ok(());
        }
        Err(Error::argument(format!(
            "the list of allowed recipients does not have {}",
            barred.join(", ")
        ))
        .next("leave them out, or ask the user to add them to the setting `recipients`"))
    }

    /// Those who get a letter and whom the mailbox has never written to, once
    /// strangers' words were shown; nobody before.
    pub(super) async fn new_people(
        &self,
        account: &Account,
        letter: &Outgoing,
    ) -> Result<Vec<String>> {
        if !self.strangers_about().await? {
            return Ok(Vec::new());
        }
        let mut new: Vec<String> = Vec::new();
        let own: Vec<String> = self
            .accounts
            .list()
            .await?
            .into_iter()
            .map(|account| account.email.to_lowercase())
            .collect();
        for person in everybody(letter) {
            let address = &person.address;
            if own.contains(&address.to_lowercase())
                || self.strangers.knows(&account.id, address)
                || new.contains(address)
            {
                continue;
            }
            match self.wrote_to(account, address).await? {
                true => self.strangers.learn(&account.id, address),
                false => new.push(address.clone()),
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
        let flattening = Flattening {
            api: mailbox.api(),
            ..self.local()
        };
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
    pub(super) fn written_to(&self, account: &Account, letter: &Outgoing) {
        for person in everybody(letter) {
            self.strangers.learn(&account.id, &person.address);
        }
    }
}
