//! Gmail's labels of letters: modified, trashed and brought back, one by one,
//! in conversations and by the thousand; and letters deleted for good.

use serde_json::{Value, json};

use super::context::{Context, number};
use super::resources;
use crate::google::body::texts;
use crate::google::error;
use crate::http::Answer;
use crate::store::letter::Letter;
use crate::store::mailbox::Mailbox;
use crate::store::mailbox::change::Change;

/// The most messages of one request.
const MOST: usize = 1_000;

/// Labels that only Gmail itself sets.
const FIXED: [&str; 3] = ["SENT", "DRAFT", "CHAT"];

/// The labels to add and to take away.
#[derive(Debug)]
pub(super) struct Wish<'a> {
    add: Vec<&'a str>,
    remove: Vec<&'a str>,
}

/// Into the trash, or out of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing(bool);

/// What trashing does.
pub(super) const TRASH: Standing = Standing(true);

/// What bringing back does.
pub(super) const UNTRASH: Standing = Standing(false);

/// What makes new labels of old ones.
pub(super) trait Relabel {
    /// The labels of a letter afterwards.
    fn of(&self, letter: &Letter) -> Vec<String>;
}

impl Relabel for Wish<'_> {
    fn of(&self, letter: &Letter) -> Vec<String> {
        let kept = |label: &&String| !self.remove.contains(&label.as_str());
        let mut labels: Vec<String> = letter.labels.iter().filter(kept).cloned().collect();
        for add in &self.add {
            // Trash and spam are places, and a letter is in one place.
            match *add {
                "TRASH" => labels.retain(|label| label != "INBOX" && label != "SPAM"),
                "SPAM" => labels.retain(|label| label != "INBOX" && label != "TRASH"),
                _ => {}
            }
            if !labels.iter().any(|label| label == add) {
                labels.push((*add).to_owned());
            }
        }
        labels
    }
}

impl Relabel for Standing {
    fn of(&self, letter: &Letter) -> Vec<String> {
        let trash = vec!["TRASH"];
        let (add, remove) = match self.0 {
            true => (trash, Vec::new()),
            false => (Vec::new(), trash),
        };
        Wish { add, remove }.of(letter)
    }
}

impl Context<'_> {
    /// The labels that the body names.
    pub fn wanted(&self) -> Result<Wish<'_>, Answer> {
        let add = texts(&self.body, "addLabelIds")?;
        let remove = texts(&self.body, "removeLabelIds")?;
        if add.is_empty() && remove.is_empty() {
            return Err(error::invalid("No label add or removes specified"));
        }
        let unusable = |id: &&&str| FIXED.contains(id) || !self.mailbox.labels.has(id);
        if let Some(label) = add.iter().chain(&remove).find(unusable) {
            return Err(error::invalid(&format!("Invalid label: {label}")));
        }
        if add.iter().any(|label| remove.contains(label)) {
            return Err(error::invalid("Cannot both add and remove the same label"));
        }
        Ok(Wish { add, remove })
    }

    /// Changes one letter's labels.
    pub fn modify(&self, id: &str, wish: &dyn Relabel) -> Result<Value, Answer> {
        let id = number(id)?;
        let of = |mailbox: &Mailbox| Some(vec![mailbox.letter(id)?.id]);
        self.relabel(wish, of).ok_or_else(error::not_found)?;
        let letter = self.now()?.letter(id);
        letter.map(resources::brief).ok_or_else(error::not_found)
    }

    /// Changes the labels of a conversation's letters.
    pub fn modify_thread(&self, id: &str, wish: &dyn Relabel) -> Result<Value, Answer> {
        let id = number(id)?;
        let of = |mailbox: &Mailbox| {
            let letters = mailbox.thread(id)?;
            Some(letters.iter().map(|letter| letter.id).collect())
        };
        self.relabel(wish, of).ok_or_else(error::not_found)?;
        let letters = self.now()?.thread(id).unwrap_or_default();
        let messages: Vec<Value> = letters.into_iter().map(resources::brief).collect();
        Ok(json!({ "id": resources::id(id), "messages": messages }))
    }

    /// Changes the labels of many letters. What is not there is passed over.
    pub fn batch_modify(&self) -> Result<(), Answer> {
        let ids = self.ids()?;
        let wish = self.wanted()?;
        self.relabel(&wish, |_| Some(ids));
        Ok(())
    }

    /// Gives letters the labels that a wish makes of theirs; nothing if there
    /// are none to give them to.
    fn relabel(
        &self,
        wish: &dyn Relabel,
        letters: impl FnOnce(&Mailbox) -> Option<Vec<u64>>,
    ) -> Option<u64> {
        self.state.change(&self.mailbox.address, |mailbox| {
            let ids = letters(mailbox)?.into_iter();
            let there = ids.filter_map(|id| mailbox.letter(id));
            let new = there.map(|letter| (letter.id, wish.of(letter)));
            Some(Change::Relabels(new.collect()))
        })
    }

    /// Deletes many letters for good. What is not there is passed over.
    pub fn batch_delete(&self) -> Result<(), Answer> {
        let ids = self.ids()?;
        self.state.change(&self.mailbox.address, |_| Some(Change::Goes(ids)));
        Ok(())
    }

    /// Deletes a letter for good.
    pub fn delete(&self, id: &str) -> Result<(), Answer> {
        let ids = vec![number(id)?];
        let gone = self.state.change(&self.mailbox.address, |_| Some(Change::Goes(ids)));
        gone.map(|_| ()).ok_or_else(error::not_found)
    }

    /// Deletes a conversation for good.
    pub fn delete_thread(&self, id: &str) -> Result<(), Answer> {
        let id = number(id)?;
        let gone = self.state.change(&self.mailbox.address, |mailbox| {
            let letters = mailbox.thread(id)?;
            Some(Change::Goes(letters.iter().map(|letter| letter.id).collect()))
        });
        gone.map(|_| ()).ok_or_else(error::not_found)
    }

    /// The ids that the body names.
    fn ids(&self) -> Result<Vec<u64>, Answer> {
        let ids = texts(&self.body, "ids")?;
        if ids.is_empty() {
            return Err(error::invalid("No message ids specified"));
        }
        if ids.len() > MOST {
            return Err(error::invalid("Too many message ids specified"));
        }
        ids.into_iter().map(number).collect()
    }
}
