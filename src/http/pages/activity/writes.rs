//! Writes from the lines of the audit log, which has a line before each write and one after.

use daysheet_core::choice::words;

use crate::store::{AuditLine, AuditRecord};

/// The operation of lines about approvals.
const APPROVAL: &str = "approval";
/// The operation of a line about a whole call that was interrupted.
const WHOLE_CALL: &str = "call";

/// A write, made of all its lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ShownWrite {
    /// The number of its first line.
    pub(super) number: i64,
    /// The time of its first line, in seconds since 1970.
    pub(super) at: i64,
    /// The content of its last line.
    pub(super) record: AuditRecord,
    pub(super) state: WriteState,
}

impl ShownWrite {
    /// Adds a later line.
    fn add(&mut self, record: AuditRecord, state: WriteState) {
        self.state = state;
        // The line about a whole call names neither account nor object.
        if record.op == WHOLE_CALL {
            return;
        }
        let before = std::mem::replace(&mut self.record, record);
        // A later look at a sent message does not repeat the people.
        if self.record.recipients == 0 {
            self.record.recipients = before.recipients;
            self.record.domains = before.domains;
        }
    }
}

/// The state of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteState {
    Done,
    /// Done for some of its messages.
    Partly {
        done: usize,
    },
    /// Begun, and without an outcome so far.
    Begun,
    /// Not approved or refused so far.
    Asked,
    /// The user refused to approve it.
    Refused,
    /// Not done, because of an error or a limit.
    Failed,
    /// It may have been done.
    Unknown,
}

impl WriteState {
    /// Returns the state after a line.
    fn of(record: &AuditRecord) -> Self {
        match record.outcome.as_str() {
            "begun" | "sending" => Self::Begun,
            "waiting" => Self::Asked,
            "refused" if record.op == APPROVAL => Self::Refused,
            "failed" | "not sent" | "already sent" | "refused" => Self::Failed,
            "done" | "sent" | "scheduled" | "approved" => Self::Done,
            // The outcome of a batch, such as `done 3 of 5`.
            counts => match counts.strip_prefix("done ").and_then(|rest| rest.split_once(" of ")) {
                Some((done, all)) if done == all => Self::Done,
                Some((done, _)) => done.parse().map_or(Self::Unknown, |done| Self::Partly { done }),
                None => Self::Unknown,
            },
        }
    }

    /// Returns true if a later line may still be about the same write.
    fn is_open(self) -> bool {
        matches!(self, Self::Begun | Self::Asked | Self::Unknown)
    }
}

words! {
    /// The kinds of writes that a person may select, by their words in addresses.
    pub(super) enum WriteKind {
        Sent = "sent",
        Draft = "drafts",
        Mail = "mail",
        Calendar = "calendar",
        Settings = "settings",
        Approval = "approvals",
    }
}

impl WriteKind {
    /// Returns the kind of a write.
    pub(super) fn of(record: &AuditRecord) -> Self {
        match record.tool.as_str() {
            _ if record.op == APPROVAL => Self::Approval,
            "mail_send" => Self::Sent,
            "mail_draft" => Self::Draft,
            "mail_modify" => Self::Mail,
            "manage" => Self::Settings,
            _ => Self::Calendar,
        }
    }

    /// Returns the name for people.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Sent => "Sent messages",
            Self::Draft => "Drafts",
            Self::Mail => "Changes to messages",
            Self::Calendar => "Calendar",
            Self::Settings => "Settings and lists",
            Self::Approval => "Approvals",
        }
    }
}

/// Returns the writes that lines are about, the last begun first. The newest line comes first.
pub(super) fn writes_of(lines: &[AuditLine]) -> Vec<ShownWrite> {
    let mut writes: Vec<ShownWrite> = Vec::new();
    // Few writes are open at once.
    let mut open: Vec<usize> = Vec::new();
    for line in lines.iter().rev() {
        let record = line.record();
        let state = WriteState::of(&record);
        let begun =
            open.iter().position(|at| writes.get(*at).is_some_and(|one| is_about(&record, one)));
        let at = match begun {
            Some(begun) => {
                let at = open.remove(begun);
                if let Some(write) = writes.get_mut(at) {
                    write.add(record, state);
                }
                at
            }
            None => {
                writes.push(ShownWrite { number: line.number, at: line.at, record, state });
                writes.len() - 1
            }
        };
        if state.is_open() {
            open.push(at);
        }
    }
    writes.reverse();
    writes
}

/// Returns true if a line is about the write that an earlier line began.
fn is_about(line: &AuditRecord, earlier: &ShownWrite) -> bool {
    let begun = &earlier.record;
    if line.op == WHOLE_CALL {
        return line.tool == begun.tool && earlier.state == WriteState::Begun;
    }
    line.tool == begun.tool
        && line.op == begun.op
        && line.account == begun.account
        // A created object has an id only afterwards.
        && (begun.ids.is_empty() || line.ids.first() == begun.ids.first())
}
