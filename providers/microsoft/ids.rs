//! The ids of messages, folders, events and the like at Graph.

use daysheet_core::error::{Error, Result};

/// Checks the id of a message or thread.
pub(super) fn check_mail_id(id: &str) -> Result<()> {
    check_as(id, "m12 from a search")
}

/// Checks an id. Graph's ids are base64 in either alphabet, usually 70 characters or longer.
pub(super) fn check_as(id: &str, handle: &str) -> Result<()> {
    let alphabet = |byte: u8| byte.is_ascii_alphanumeric() || b"_-=+/".contains(&byte);
    if !(16..=512).contains(&id.len()) || !id.bytes().all(alphabet) {
        return Err(Error::argument("the id is not Outlook's")
            .next(format!("use a handle such as {handle}")));
    }
    if id.len() <= 24 && id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Error::argument("the id looks like Gmail's, not Outlook's")
            .next(format!("name the Gmail account, or use a handle such as {handle}")));
    }
    Ok(())
}
