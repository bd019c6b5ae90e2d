//! Messages as files, and the rich text in those of Outlook.

pub mod eml;
pub mod msg;
pub mod rtf;
