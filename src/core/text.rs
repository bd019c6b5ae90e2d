//! Makes untrusted text safe and short.
//!
//! All text by senders passes through here before a model reads it: subjects, names and snippets
//! become one clean line ([`cell`], [`clip`]), bodies become plain lines ([`lines`],
//! [`html`](html::html)), quoted replies are separated from new text ([`quote`]) and fenced
//! ([`fence`]), bytes in any charset become a string ([`charset`]), and a text is split into its
//! words ([`search_text`]) or into lines that can be numbered ([`wrapped`]). Text of ours that quotes
//! untrusted words is a [`Note`].
//!
//! No function here fails: odd or hostile input gives odd text, never an error, a panic or a long
//! wait. None does I/O, knows a provider, or decides how much text an answer can afford; that is up
//! to the budget.

pub mod address;
pub mod armour;
pub mod charset;
pub mod deceptive;
mod encoded;
pub mod fence;
pub mod flowed;
pub mod html;
pub mod invisible;
mod line;
pub mod note;
pub mod numeral;
pub mod opening;
pub mod orders;
pub mod payment;
pub mod quote;
pub mod search_text;
pub mod sender_auth;
pub mod unsubscribe;
pub mod visibility;

pub use address::{MailAddress, address_list, is_machine, plain_local};
pub use encoded::{entities, header, parameter, quoted_printable};
pub use invisible::{TextKind, is_invisible, shown, visible};
pub use line::{LINE, cell, clip, clip_start, folded, lines, truncate, width, wrapped};
pub use note::note;
pub use note::{
    Note, NoteKey, NoteTally, brief, counted, ours, quoted, quoted_end, quoted_list, quoted_words,
};
