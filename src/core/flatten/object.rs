//! The objects that rows are made of.

use serde_json::Value;

use super::event;
use super::read::read;
use super::reader::{ReadValue, RowReader};
use crate::event::{Event, Invitation};
use crate::schemas::TableColumn;

/// An object that becomes a row.
#[derive(Debug, Clone, Copy)]
pub enum RowObject<'a> {
    /// A service's object, or one of ours: read by the sources of the columns.
    Json(&'a Value),
    /// An event: a column is its property of that name.
    Event(&'a Event),
    /// An event that came by mail.
    Invitation(&'a Invitation),
}

impl<'a> RowObject<'a> {
    /// Returns the JSON that the row is made of; `None` for an invitation.
    pub fn json(self) -> Option<&'a Value> {
        match self {
            Self::Json(value) => Some(value),
            Self::Event(event) => Some(&event.wire),
            Self::Invitation(_) => None,
        }
    }

    /// Reads a column.
    pub(super) fn read(self, reader: &mut RowReader, field: &TableColumn) -> ReadValue {
        match self {
            Self::Json(value) => read(reader, value, field.source(reader.context.api)),
            Self::Event(_) if field.is_account() => ReadValue::Text(reader.context.account.into()),
            Self::Event(event) => event::property(reader, event, field.name),
            Self::Invitation(invitation) => event::invitation(reader, invitation, field.name),
        }
    }
}

impl<'a> From<&'a Value> for RowObject<'a> {
    fn from(value: &'a Value) -> Self {
        Self::Json(value)
    }
}

impl<'a> From<&'a Event> for RowObject<'a> {
    fn from(event: &'a Event) -> Self {
        Self::Event(event)
    }
}

impl<'a> From<&'a &'a Event> for RowObject<'a> {
    fn from(event: &'a &'a Event) -> Self {
        Self::Event(event)
    }
}

impl<'a> From<&'a Invitation> for RowObject<'a> {
    fn from(invitation: &'a Invitation) -> Self {
        Self::Invitation(invitation)
    }
}
