//! The Gmail API's methods that change something, and drafts, filters and single
//! settings whether changed or read: which method, who may use it, the answer.
//!
//! What the methods do stands in `drafts.rs`, `modify.rs`,
//! `labels.rs`, `filters.rs` and `settings.rs`. Letters that
//! are uploaded come in from `upload.rs`.

use hyper::{Method, StatusCode};
use serde_json::Value;

use super::context::{Context, SERVICE};
use super::resources;
use super::settings;
use super::{drafts, filters, labels, list, modify};
use crate::auth::google::bearer;
use crate::google::body;
use crate::google::error;
use crate::google::fields::Shape;
use crate::google::params::Params;
use crate::http::{Answer, Request};
use crate::state::State;

/// The scope that allows everything, deleting for good included.
const ALL: &str = "https://mail.google.com/";

/// The type of an answer without a body.
static NOTHING: Shape = Shape(&[]);

/// What a message's labels are changed by.
static MODIFY: Shape = Shape(&[("addLabelIds", None), ("removeLabelIds", None)]);

/// The same for many messages.
static BATCH: Shape = Shape(&[("ids", None), ("addLabelIds", None), ("removeLabelIds", None)]);

/// Messages by their ids.
static IDS: Shape = Shape(&[("ids", None)]);

/// A method, with the ids of its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call<'a> {
    Drafts,
    Draft(&'a str),
    MakeDraft,
    UpdateDraft(&'a str),
    DeleteDraft(&'a str),
    SendDraft,
    Send,
    Insert,
    Modify(&'a str),
    BatchModify,
    BatchDelete,
    Trash(&'a str),
    Untrash(&'a str),
    Delete(&'a str),
    ModifyThread(&'a str),
    TrashThread(&'a str),
    UntrashThread(&'a str),
    DeleteThread(&'a str),
    MakeLabel,
    /// With true, what is not said is taken away.
    ChangeLabel(&'a str, bool),
    DeleteLabel(&'a str),
    Filters,
    Filter(&'a str),
    MakeFilter,
    DeleteFilter(&'a str),
    SetVacation,
    SendAs(&'a str),
    /// With true, what is not said is taken away.
    ChangeSendAs(&'a str, bool),
    SetLanguage,
}

impl<'a> Call<'a> {
    /// The method of a path below the user, if it is one of these.
    pub fn of(method: &Method, path: &[&'a str]) -> Option<Self> {
        let call = match (method.as_str(), path) {
            ("GET", ["drafts"]) => Self::Drafts,
            ("GET", ["drafts", id]) => Self::Draft(id),
            ("POST", ["drafts"]) => Self::MakeDraft,
            ("POST", ["drafts", "send"]) => Self::SendDraft,
            ("PUT", ["drafts", id]) => Self::UpdateDraft(id),
            ("DELETE", ["drafts", id]) => Self::DeleteDraft(id),
            ("POST", ["messages", "send"]) => Self::Send,
            ("POST", ["messages"]) => Self::Insert,
            ("POST", ["messages", "batchModify"]) => Self::BatchModify,
            ("POST", ["messages", "batchDelete"]) => Self::BatchDelete,
            ("POST", ["messages", id, "modify"]) => Self::Modify(id),
            ("POST", ["messages", id, "trash"]) => Self::Trash(id),
            ("POST", ["messages", id, "untrash"]) => Self::Untrash(id),
            ("DELETE", ["messages", id]) => Self::Delete(id),
            ("POST", ["threads", id, "modify"]) => Self::ModifyThread(id),
            ("POST", ["threads", id, "trash"]) => Self::TrashThread(id),
            ("POST", ["threads", id, "untrash"]) => Self::UntrashThread(id),
            ("DELETE", ["threads", id]) => Self::DeleteThread(id),
            ("POST", ["labels"]) => Self::MakeLabel,
            ("PATCH", ["labels", id]) => Self::ChangeLabel(id, false),
            ("PUT", ["labels", id]) => Self::ChangeLabel(id, true),
            ("DELETE", ["labels", id]) => Self::DeleteLabel(id),
            (method, ["settings", rest @ ..]) => return Self::of_setting(method, rest),
            _ => return None,
        };
        Some(call)
    }

    fn of_setting(method: &str, path: &[&'a str]) -> Option<Self> {
        Some(match (method, path) {
            ("GET", ["filters"]) => Self::Filters,
            ("GET", ["filters", id]) => Self::Filter(id),
            ("POST", ["filters"]) => Self::MakeFilter,
            ("DELETE", ["filters", id]) => Self::DeleteFilter(id),
            ("PUT", ["vacation"]) => Self::SetVacation,
            ("GET", ["sendAs", address]) => Self::SendAs(address),
            ("PATCH", ["sendAs", address]) => Self::ChangeSendAs(address, false),
            ("PUT", ["sendAs", address]) => Self::ChangeSendAs(address, true),
            ("PUT", ["language"]) => Self::SetLanguage,
            _ => return None,
        })
    }

    /// The scopes of which one is needed.
    fn scopes(&self) -> &'static [&'static str] {
        match self {
            Self::Drafts | Self::Draft(_) => {
                &[ALL, "gmail.modify", "gmail.compose", "gmail.readonly"]
            }
            Self::MakeDraft | Self::UpdateDraft(_) | Self::DeleteDraft(_) | Self::SendDraft => {
                &[ALL, "gmail.modify", "gmail.compose"]
            }
            Self::Send => &[ALL, "gmail.modify", "gmail.compose", "gmail.send"],
            Self::Insert => &[ALL, "gmail.modify", "gmail.insert"],
            Self::BatchDelete | Self::Delete(_) | Self::DeleteThread(_) => &[ALL],
            Self::Modify(_)
            | Self::BatchModify
            | Self::Trash(_)
            | Self::Untrash(_)
            | Self::ModifyThread(_)
            | Self::TrashThread(_)
            | Self::UntrashThread(_) => &[ALL, "gmail.modify"],
            Self::MakeLabel | Self::ChangeLabel(..) | Self::DeleteLabel(_) => {
                &[ALL, "gmail.modify", "gmail.labels"]
            }
            Self::Filters | Self::Filter(_) | Self::SendAs(_) => {
                &[ALL, "gmail.modify", "gmail.readonly", "gmail.settings.basic"]
            }
            Self::MakeFilter
            | Self::DeleteFilter(_)
            | Self::SetVacation
            | Self::ChangeSendAs(..)
            | Self::SetLanguage => &["gmail.settings.basic"],
        }
    }

    /// The parameters, the type of the body and the type of the answer.
    fn contract(&self) -> (&'static [&'static str], &'static Shape, &'static Shape) {
        match self {
            Self::Drafts => (drafts::LIST, &NOTHING, &resources::DRAFTS),
            Self::Draft(_) => (&["format"], &NOTHING, &resources::DRAFT),
            Self::MakeDraft | Self::UpdateDraft(_) => (&[], &resources::DRAFT, &resources::DRAFT),
            Self::SendDraft => (&[], &resources::DRAFT, &resources::MESSAGE),
            Self::Send => (&[], &resources::MESSAGE, &resources::MESSAGE),
            Self::Insert => {
                (&["internalDateSource", "deleted"], &resources::MESSAGE, &resources::MESSAGE)
            }
            Self::Modify(_) => (&[], &MODIFY, &resources::MESSAGE),
            Self::Trash(_) | Self::Untrash(_) => (&[], &NOTHING, &resources::MESSAGE),
            Self::ModifyThread(_) => (&[], &MODIFY, &resources::THREAD),
            Self::TrashThread(_) | Self::UntrashThread(_) => (&[], &NOTHING, &resources::THREAD),
            Self::BatchModify => (&[], &BATCH, &NOTHING),
            Self::BatchDelete => (&[], &IDS, &NOTHING),
            Self::Delete(_)
            | Self::DeleteThread(_)
            | Self::DeleteDraft(_)
            | Self::DeleteLabel(_)
            | Self::DeleteFilter(_) => (&[], &NOTHING, &NOTHING),
            Self::MakeLabel | Self::ChangeLabel(..) => (&[], &resources::LABEL, &resources::LABEL),
            Self::Filters => (&[], &NOTHING, &filters::FILTERS),
            Self::Filter(_) | Self::MakeFilter => (&[], &filters::FILTER, &filters::FILTER),
            Self::SetVacation => (&[], &settings::VACATION, &settings::VACATION),
            Self::SendAs(_) | Self::ChangeSendAs(..) => {
                (&[], &settings::SEND_AS, &settings::SEND_AS)
            }
            Self::SetLanguage => (&[], &settings::LANGUAGE, &settings::LANGUAGE),
        }
    }

    /// True for the methods that take an uploaded letter.
    pub fn takes_upload(&self) -> bool {
        matches!(
            self,
            Self::MakeDraft | Self::UpdateDraft(_) | Self::SendDraft | Self::Send | Self::Insert
        )
    }
}

/// Answers a request for one of these methods, or refuses it. `upload` is a
/// letter that came beside the JSON.
pub(super) fn carry_out(
    state: &State,
    request: &Request,
    user: &str,
    call: &Call<'_>,
    upload: Option<Vec<u8>>,
) -> Result<Answer, Answer> {
    let (mailbox, access) = bearer(state, request)?;
    if user != "me" && !user.eq_ignore_ascii_case(&mailbox.address) {
        let message = format!("Delegation denied for {}", mailbox.address);
        return Err(error::forbidden(&message));
    }
    let granted = |name: &&str| {
        let full = format!("https://www.googleapis.com/auth/{name}");
        access.scope.split(' ').any(|scope| scope == full || scope == *name)
    };
    if !call.scopes().iter().any(granted) {
        return Err(error::insufficient_scopes(SERVICE));
    }
    let (known, shape, answer) = call.contract();
    let params = Params::check(&request.query, known, answer)?;
    let context = Context {
        state,
        mailbox,
        params: &params,
        body: body::object(&request.body, shape)?,
        upload,
    };
    Ok(match context.value(call)? {
        Some(value) => params.answer(value),
        None => Answer::empty(StatusCode::NO_CONTENT),
    })
}

impl Context<'_> {
    /// What a call gives; nothing where the API answers without a body.
    fn value(&self, call: &Call<'_>) -> Result<Option<Value>, Answer> {
        match *call {
            Call::Drafts => {
                let drafts = list::Listed::Drafts;
                list::page(self.mailbox, drafts, self.params).map(Some)
            }
            Call::Draft(id) => self.draft(id).map(Some),
            Call::MakeDraft => self.make_draft().map(Some),
            Call::UpdateDraft(id) => self.update_draft(id).map(Some),
            Call::DeleteDraft(id) => self.delete_draft(id).map(|()| None),
            Call::SendDraft => self.send_draft().map(Some),
            Call::Send => self.send().map(Some),
            Call::Insert => self.insert().map(Some),
            Call::Modify(id) => self.modify(id, &self.wanted()?).map(Some),
            Call::Trash(id) => self.modify(id, &modify::TRASH).map(Some),
            Call::Untrash(id) => self.modify(id, &modify::UNTRASH).map(Some),
            Call::BatchModify => self.batch_modify().map(|()| None),
            Call::BatchDelete => self.batch_delete().map(|()| None),
            Call::Delete(id) => self.delete(id).map(|()| None),
            Call::ModifyThread(id) => self.modify_thread(id, &self.wanted()?).map(Some),
            Call::TrashThread(id) => self.modify_thread(id, &modify::TRASH).map(Some),
            Call::UntrashThread(id) => self.modify_thread(id, &modify::UNTRASH).map(Some),
            Call::DeleteThread(id) => self.delete_thread(id).map(|()| None),
            Call::MakeLabel => labels::make(self).map(Some),
            Call::ChangeLabel(id, whole) => labels::change(self, id, whole).map(Some),
            Call::DeleteLabel(id) => labels::delete(self, id).map(|()| None),
            Call::Filters => Ok(Some(filters::list(self))),
            Call::Filter(id) => filters::get(self, id).map(Some),
            Call::MakeFilter => filters::make(self).map(Some),
            Call::DeleteFilter(id) => filters::delete(self, id).map(|()| None),
            Call::SetVacation => settings::set_vacation(self).map(Some),
            Call::SendAs(address) => settings::one_send_as(self, address).map(Some),
            Call::ChangeSendAs(address, whole) => {
                settings::change_send_as(self, address, whole).map(Some)
            }
            Call::SetLanguage => settings::set_language(self).map(Some),
        }
    }
}
