//! Reading Gmail's messages, attachments and threads.

use serde_json::{Value, json};

use super::context::{GmailContext, number};
use super::resources::{self, MessageFormat};
use crate::google::error;
use crate::http::HttpResponse;
use crate::store::message::Message;

impl GmailContext<'_> {
    /// Returns one message.
    pub fn one_message(&self, id: &str) -> Result<Value, HttpResponse> {
        let message = self.message(id)?;
        let format = self.format(true)?;
        Ok(self.message_json(message, format))
    }

    /// Returns the bytes of an attachment.
    pub fn attachment(&self, id: &str, attachment: &str) -> Result<Value, HttpResponse> {
        let message = self.message(id)?;
        let invalid = || error::invalid("Invalid attachment token");
        let (of, place) = self.state.attachment_ids.open(attachment).ok_or_else(invalid)?;
        // An attachment's id is valid only with the message that it came with.
        if of != message.id {
            return Err(invalid());
        }
        resources::attachment(message, place).ok_or_else(invalid)
    }

    /// Returns a thread with its messages.
    pub fn thread(&self, id: &str) -> Result<Value, HttpResponse> {
        let id = number(id)?;
        let messages = self.mailbox.thread(id).ok_or_else(error::not_found)?;
        let format = self.format(false)?;
        let resources: Vec<_> =
            messages.iter().map(|message| self.message_json(message, format)).collect();
        let history = messages.iter().map(|message| message.history).max();
        Ok(json!({
            "id": resources::id(id),
            "historyId": history.unwrap_or_default().to_string(),
            "messages": resources,
        }))
    }

    /// Returns the requested format. Threads do not accept `raw`.
    pub fn format(&self, raw: bool) -> Result<MessageFormat, HttpResponse> {
        match self.params.value("format").map(str::to_ascii_lowercase).as_deref() {
            None | Some("full") => Ok(MessageFormat::Full),
            Some("metadata") => Ok(MessageFormat::Metadata),
            Some("minimal") => Ok(MessageFormat::Minimal),
            Some("raw") if raw => Ok(MessageFormat::Raw),
            Some(other) => {
                let kind = "type.googleapis.com/caribou.api.proto.MailFormat.Format";
                Err(error::invalid_value("format", kind, other))
            }
        }
    }

    /// Returns a message in a format.
    pub fn message_json(&self, message: &Message, format: MessageFormat) -> Value {
        let headers: Vec<&str> = self.params.all("metadataHeaders").collect();
        resources::message(message, format, &headers, &self.state.attachment_ids)
    }

    /// Returns the message with an id from the path.
    fn message(&self, id: &str) -> Result<&Message, HttpResponse> {
        self.mailbox.message(number(id)?).ok_or_else(error::not_found)
    }
}
