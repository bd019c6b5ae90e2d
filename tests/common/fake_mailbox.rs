//! A mailbox in memory, which records its writes and fails where and how a test requests. Its lists
//! and reads can be scripted.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::compose::mime;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::project::Projection;
use daysheet_core::provider::MailCapabilities;
use daysheet_core::provider::calendar::ChangeFeed;
use daysheet_core::provider::ids::{AttachmentId, DraftId, FolderId, MessageId, ThreadId};
use daysheet_core::provider::mail::{
    AttachmentContent, AutoReply, DraftOrigin, Drafts, FolderKind, FolderRef, MailPerson, MailRule,
    MailState, MailboxSettings, MessageAction, MessageActions, MessageFlag, OutgoingMessage,
    SendAlias, SendLookup, SendStatus, SentMessage, SettingsChange, SourceMessage, StoredDraft,
};
use daysheet_core::provider::{
    BodyForm, ListPage, ListRequest, Mailbox, MessageContent, PeopleQuery, SearchTotal,
    ThreadMessage,
};
use daysheet_core::query::{Query, QueryTerm};
use daysheet_core::schemas::{Service, Table};
use daysheet_providers::{google, microsoft};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::clock;
use super::harness::{Fake, Harness};
use super::messages::{person, stored_draft};

/// A fault of a send.
#[derive(Clone, Copy)]
pub enum Fault {
    /// The message is refused.
    Refused,
    /// The connection breaks before the message is accepted.
    Before,
    /// The connection breaks after the message was accepted.
    After,
    /// The connection breaks, and the message is accepted when the test calls
    /// [`FakeMailbox::accept_late`].
    Late,
    /// The send takes this long.
    Slow(Duration),
}

type Lists = dyn Fn(&FakeMailbox, &ListRequest) -> ListPage + Send + Sync;
type LooksUp = dyn Fn(&Table, &PeopleQuery) -> ListPage + Send + Sync;
type Reads = dyn Fn(&FakeMailbox, &str, BodyForm) -> Result<MessageContent> + Send + Sync;

/// Scripted answers, used instead of the mailbox's own.
#[derive(Default)]
pub struct Script {
    pub list: Option<Box<Lists>>,
    pub lookup: Option<Box<LooksUp>>,
    pub read_message: Option<Box<Reads>>,
    pub thread: Option<fn(&str) -> Vec<String>>,
}

/// The mailbox of one account.
pub struct FakeMailbox {
    /// The beginning of its address and ids.
    pub name: &'static str,
    pub api: Service,
    /// The prefix of the ids that it accepts as its own.
    pub prefix: &'static str,
    /// Messages by the provider's id, oldest first.
    pub mail: Mutex<BTreeMap<MessageId, MailState>>,
    /// Header fields of messages.
    pub headers: Mutex<HashMap<String, Vec<(String, String)>>>,
    /// Errors of writes, by message id or setting.
    pub failing: Mutex<HashMap<String, Error>>,
    /// Messages that no write changes.
    pub stubborn: Mutex<BTreeSet<MessageId>>,
    /// Names and ids of folders and labels.
    pub places: Mutex<BTreeMap<String, FolderId>>,
    pub rules: Mutex<Vec<MailRule>>,
    pub reply: Mutex<AutoReply>,
    pub people: Mutex<Vec<Value>>,
    /// The addresses it sends as; `None` if it cannot list them.
    pub senders: Option<Vec<SendAlias>>,
    /// Messages that can be answered, and the bytes of their files.
    pub originals: Mutex<BTreeMap<MessageId, SourceMessage>>,
    pub files: HashMap<&'static str, &'static [u8]>,
    pub drafts: Mutex<BTreeMap<DraftId, StoredDraft>>,
    bytes: Mutex<HashMap<String, Arc<[u8]>>>,
    made: Mutex<usize>,
    /// True if it replaces the recipients of drafts.
    pub bends: Mutex<bool>,
    /// The error of the next write of a draft, and an action that runs during it.
    pub fails: Mutex<Option<Error>>,
    pub meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    pub sent: Mutex<Vec<String>>,
    late: Mutex<Vec<String>>,
    /// The faults of the next sends.
    pub faults: Mutex<VecDeque<Fault>>,
    /// True if it can schedule sends.
    pub schedules: bool,
    /// Addresses that were written to before.
    pub known: Mutex<Vec<String>>,
    /// Messages with an invitation.
    pub invitations: Mutex<HashMap<String, String>>,
    /// The delay and the error of lists and lookups.
    pub delay: Mutex<Duration>,
    pub failure: Mutex<Option<Error>>,
    /// The number of lists and lookups.
    pub call_count: Mutex<usize>,
    pub script: Script,
    log: Mutex<Vec<String>>,
    drafted: Mutex<Vec<String>>,
}

impl FakeMailbox {
    pub fn new(name: &'static str, api: Service) -> Self {
        let gmail: &[_] = &[("Bills", "Label_1"), ("Print shop", "Label_2")];
        let outlook: &[_] =
            &[("inbox", "in"), ("archive", "ar"), ("trash", "tr"), ("spam", "sp"), ("Bills", "fo")];
        let places = if api == Service::Google { gmail } else { outlook };
        let places = places.iter().map(|(name, id)| ((*name).to_owned(), FolderId::from(*id)));
        Self {
            name,
            api,
            prefix: name,
            places: Mutex::new(places.collect()),
            mail: Mutex::default(),
            headers: Mutex::default(),
            failing: Mutex::default(),
            stubborn: Mutex::default(),
            rules: Mutex::default(),
            reply: Mutex::default(),
            people: Mutex::default(),
            senders: Some(Vec::new()),
            originals: Mutex::default(),
            files: HashMap::new(),
            drafts: Mutex::default(),
            bytes: Mutex::default(),
            made: Mutex::default(),
            bends: Mutex::default(),
            fails: Mutex::default(),
            meanwhile: Mutex::default(),
            sent: Mutex::default(),
            late: Mutex::default(),
            faults: Mutex::default(),
            schedules: false,
            known: Mutex::default(),
            invitations: Mutex::default(),
            delay: Mutex::default(),
            failure: Mutex::default(),
            call_count: Mutex::default(),
            script: Script::default(),
            log: Mutex::default(),
            drafted: Mutex::default(),
        }
    }

    /// Returns a mailbox that answers lists and reads by a script, and accepts every id.
    pub fn scripted(name: &'static str, api: Service, script: Script) -> Self {
        Self { prefix: "", senders: None, script, ..Self::new(name, api) }
    }

    /// Puts so many unread messages into the inbox.
    pub fn fill(&self, count: usize) {
        let mut mail = self.mail.lock().unwrap();
        for at in 1..=count {
            let state = MailState {
                id: format!("{}-{at:04}", self.name).into(),
                unread: true,
                folder: self.folder("inbox"),
                ..MailState::default()
            };
            mail.insert(state.id.clone(), state);
        }
    }

    pub fn folder(&self, word: &str) -> FolderId {
        let gmail = [("inbox", "INBOX"), ("spam", "SPAM"), ("trash", "TRASH"), ("archive", "")];
        let outlook = [("inbox", "in"), ("spam", "sp"), ("trash", "tr"), ("archive", "ar")];
        let all = match self.api {
            Service::Google => gmail,
            _ => outlook,
        };
        all.iter().find(|(name, _)| *name == word).unwrap().1.into()
    }

    /// Changes a message as another client would.
    pub fn touch(&self, id: &str, change: impl FnOnce(&mut MailState)) {
        change(self.mail.lock().unwrap().get_mut(id).unwrap());
    }

    pub fn state(&self, id: &str) -> MailState {
        self.mail.lock().unwrap()[id].clone()
    }

    /// Sets the error of writes to a message or a mailbox setting.
    pub fn fail(&self, what: &str, error: Error) {
        self.failing.lock().unwrap().insert(what.to_owned(), error);
    }

    /// Sets the header fields of a message.
    pub fn heads(&self, id: &str, headers: Vec<(String, String)>) {
        self.headers.lock().unwrap().insert(id.to_owned(), headers);
    }

    /// Returns the writes since the last call.
    pub fn written(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }

    /// Returns the current content of a draft.
    pub fn draft_message(&self, id: &str) -> OutgoingMessage {
        self.drafts.lock().unwrap()[id].content.clone()
    }

    /// Returns the bytes of a draft's file.
    pub fn bytes(&self, id: &str, name: &str) -> Vec<u8> {
        self.bytes.lock().unwrap()[&format!("{id}/{name}")].to_vec()
    }

    /// Changes a draft as another program would.
    pub fn touch_draft(&self, id: &str, change: impl FnOnce(&mut OutgoingMessage)) {
        let mut drafts = self.drafts.lock().unwrap();
        let draft = drafts.get_mut(id).unwrap();
        change(&mut draft.content);
        draft.version.push('+');
    }

    /// Returns the creations, changes and deletions of drafts since the last call.
    pub fn drafted(&self) -> Vec<String> {
        std::mem::take(&mut self.drafted.lock().unwrap())
    }

    /// Accepts the messages that [`Fault::Late`] held back.
    pub fn accept_late(&self) {
        self.sent.lock().unwrap().append(&mut self.late.lock().unwrap());
    }

    /// Returns the Message-IDs of the sent messages, in order.
    pub fn sent(&self) -> Vec<String> {
        self.sent.lock().unwrap().clone()
    }

    fn hold(&self, id: &str, thread: &str, message: &OutgoingMessage) -> Result<StoredDraft> {
        // Only messages that can be written as MIME are stored.
        if message.files.iter().all(|file| matches!(file.content, AttachmentContent::Bytes(_))) {
            mime(message, clock::now())?;
        }
        if let Some(happens) = self.meanwhile.lock().unwrap().take() {
            happens();
        }
        if let Some(error) = self.fails.lock().unwrap().take() {
            return Err(error);
        }
        let mut made = self.made.lock().unwrap();
        *made += 1;
        let mut message = message.clone();
        for file in &mut message.files {
            if let AttachmentContent::Bytes(bytes) = &file.content {
                let key = format!("{id}/{}", file.name);
                let size = bytes.len() as u64;
                self.bytes.lock().unwrap().insert(key.clone(), bytes.clone());
                file.content = AttachmentContent::Existing { id: key.into(), size };
            }
        }
        if *self.bends.lock().unwrap() {
            message.to = vec![person("", "eve@example.net")];
        }
        let draft = stored_draft(id, thread, &format!("v{made}"), message);
        self.drafts.lock().unwrap().insert(id.into(), draft.clone());
        Ok(draft)
    }

    /// Counts the call, takes its time, and may fail.
    async fn answers(&self) -> Result<()> {
        *self.call_count.lock().unwrap() += 1;
        let delay = *self.delay.lock().unwrap();
        tokio::time::sleep(delay).await;
        self.failure.lock().unwrap().clone().map_or(Ok(()), Err)
    }

    /// Returns its messages that match, newest first.
    fn listed(&self, ask: &ListRequest) -> ListPage {
        let number = |query: &Query| {
            query.terms().into_iter().find_map(|term| match term {
                QueryTerm::Larger(bytes) => usize::try_from(*bytes).ok(),
                _ => None,
            })
        };
        // `larger:N` matches the oldest N messages.
        let most = ask.query.as_ref().and_then(number).unwrap_or(usize::MAX);
        let mail = self.mail.lock().unwrap();
        let inbox = |term: &QueryTerm| matches!(term, QueryTerm::Folder(name) if name == "inbox");
        let inbox = ask.query.as_ref().is_some_and(|query| query.terms().into_iter().any(inbox));
        let folder = ask.folder.clone().or(inbox.then(|| self.folder("inbox")));
        // The subject is the id, so words are searched in it.
        let says = |query: &Query, id: &str| {
            query.terms().into_iter().all(|term| match term {
                QueryTerm::Text(word) => id.contains(word.as_str()),
                _ => true,
            })
        };
        let there = |one: &&MailState| {
            folder.as_ref().is_none_or(|folder| one.folder == *folder)
                && ask.query.as_ref().is_none_or(|query| says(query, one.id.as_str()))
        };
        let all: Vec<&MailState> = mail.values().take(most).filter(there).collect();
        let from: usize = ask.cursor.as_ref().map_or(0, |at| at.parse().unwrap());
        let all: Vec<_> = if ask.oldest { all } else { all.into_iter().rev().collect() };
        let items = all.iter().skip(from).take(ask.limit);
        let end = from + ask.limit;
        ListPage {
            items: items.map(|one| self.object(one)).collect(),
            next: (end < all.len()).then(|| end.to_string()),
            total: Some(SearchTotal::Exactly(all.len() as u64)),
            ..ListPage::default()
        }
    }

    fn set_up_fails(&self) -> Result<()> {
        let failing = self.failing.lock().unwrap();
        failing.get("set_up").cloned().map_or(Ok(()), Err)
    }

    fn note(&self, line: String) {
        self.log.lock().unwrap().push(line);
    }

    fn after(&self, mut state: MailState, step: &MessageAction) -> Option<MailState> {
        match step {
            MessageAction::Read(read) => state.unread = !read,
            MessageAction::Flag(flag) => state.flag = flag.clone(),
            MessageAction::Archive => state.folder = self.folder("archive"),
            MessageAction::Trash => state.folder = self.folder("trash"),
            MessageAction::Untrash => state.folder = self.folder("inbox"),
            MessageAction::Spam => state.folder = self.folder("spam"),
            MessageAction::Move(id) if self.api == Service::Google => {
                state.labels.insert(id.clone());
                state.folder = FolderId::default();
            }
            MessageAction::Move(id) => state.folder.clone_from(id),
            MessageAction::Copy(id) if self.api == Service::Google => {
                state.labels.insert(id.clone());
            }
            MessageAction::Copy(_) => {}
            MessageAction::Label { add, remove } => {
                state.labels.retain(|one| !remove.contains(one));
                state.labels.extend(add.iter().cloned());
                if remove.contains(&state.folder) {
                    state.folder = FolderId::default();
                }
            }
            MessageAction::Delete => return None,
            MessageAction::RestoreState(states) => {
                state = states.iter().find(|one| one.id == state.id).unwrap().clone();
            }
        }
        Some(state)
    }

    fn object(&self, state: &MailState) -> Value {
        let from = format!("Shop <news@{}.example>", self.name);
        let mut headers = vec![json!({"name": "From", "value": from})];
        let more = self.headers.lock().unwrap();
        for (name, value) in more.get(state.id.as_str()).into_iter().flatten() {
            if name == "From" {
                headers[0] = json!({"name": name, "value": value});
            } else {
                headers.push(json!({"name": name, "value": value}));
            }
        }
        match self.api {
            Service::Google => {
                headers.push(json!({"name": "Subject", "value": format!("Letter {}", state.id)}));
                json!({"id": state.id, "internalDate": "1770000000000",
                       "payload": {"headers": headers}})
            }
            _ => json!({"id": state.id, "subject": format!("Letter {}", state.id),
                "from": {"emailAddress": {"address": format!("news@{}.example", self.name)}},
                "internetMessageHeaders": headers}),
        }
    }
}

#[async_trait]
impl MessageActions for FakeMailbox {
    async fn states(&self, ids: &[MessageId]) -> Vec<Result<MailState>> {
        let mail = self.mail.lock().unwrap();
        let not_found = || Error::new(ErrorKind::NotFound, "it is not there");
        ids.iter().map(|id| mail.get(id).cloned().ok_or_else(not_found)).collect()
    }

    async fn apply(
        &self,
        messages: &[MailState],
        step: &MessageAction,
    ) -> Vec<Result<Option<MailState>>> {
        let name = match step {
            MessageAction::RestoreState(_) => "PutBack".to_owned(),
            other => format!("{other:?}"),
        };
        self.note(format!("{name} {}", messages.len()));
        let mut mail = self.mail.lock().unwrap();
        let failing = self.failing.lock().unwrap();
        let stubborn = self.stubborn.lock().unwrap();
        messages
            .iter()
            .map(|state| {
                if let Some(error) = failing.get(state.id.as_str()) {
                    return Err(error.clone());
                }
                if stubborn.contains(&state.id) {
                    return Ok(Some(state.clone()));
                }
                let now = self.after(state.clone(), step);
                match &now {
                    Some(now) => mail.insert(state.id.clone(), now.clone()),
                    None => mail.remove(&state.id),
                };
                Ok(now)
            })
            .collect()
    }

    async fn find_folder(&self, name: &str, _: FolderKind, create: bool) -> Result<FolderRef> {
        let mut places = self.places.lock().unwrap();
        let found = places.iter().find(|(known, id)| *known == name || **id == name);
        if let Some((name, id)) = found {
            return Ok(FolderRef { id: id.clone(), name: name.clone(), made: false });
        }
        if !create {
            return Err(
                Error::new(ErrorKind::NotFound, format!("there is no {name}")).next("say Bills")
            );
        }
        self.set_up_fails()?;
        let id = FolderId::from(format!("made-{name}"));
        places.insert(name.to_owned(), id.clone());
        Ok(FolderRef { id, name: name.to_owned(), made: true })
    }
}

#[async_trait]
impl Drafts for FakeMailbox {
    async fn senders(&self) -> Result<Vec<SendAlias>> {
        self.senders.clone().ok_or_else(|| Error::argument("not asked for here"))
    }

    async fn source_message(&self, id: &MessageId) -> Result<SourceMessage> {
        if let Some(original) = self.originals.lock().unwrap().get(id) {
            return Ok(original.clone());
        }
        let of = |from: Vec<MailPerson>, to: Vec<MailPerson>| SourceMessage {
            id: id.clone(),
            from,
            to,
            headers: self.headers.lock().unwrap().get(id.as_str()).cloned().unwrap_or_default(),
            ..SourceMessage::default()
        };
        if self.mail.lock().unwrap().contains_key(id) {
            return Ok(of(
                vec![person("Shop", &format!("news@{}.example", self.name))],
                Vec::new(),
            ));
        }
        // An id that is an address names a message to that address.
        let id = id.as_str();
        if id.contains('@') && !id.starts_with("gone") {
            Ok(of(Vec::new(), vec![person("", id)]))
        } else {
            Err(not_found())
        }
    }

    async fn file(&self, _: &MessageId, file: &AttachmentId, most: u64) -> Result<Vec<u8>> {
        match self.files.get(file.as_str()) {
            Some(bytes) if bytes.len() as u64 > most => Err(Error::argument("it is too large")),
            found => found.map(|bytes| bytes.to_vec()).ok_or_else(not_found),
        }
    }

    async fn draft(&self, id: &str) -> Result<StoredDraft> {
        let (drafts, sent) = (self.drafts.lock().unwrap(), self.sent.lock().unwrap());
        // A draft is also found by the id of its message.
        let found = drafts.values().find(|one| one.id == id || one.message == id);
        let found = found.filter(|one| !sent.contains(&one.content.message_id));
        found.cloned().ok_or_else(not_found)
    }

    async fn create(
        &self,
        origin: &DraftOrigin,
        message: &OutgoingMessage,
        _: &dyn ClientPrompts,
    ) -> Result<StoredDraft> {
        let (line, thread) = match origin {
            DraftOrigin::New => ("create new".to_owned(), "thread9"),
            DraftOrigin::Reply { id, all: false, .. } => (format!("create reply {id}"), "thread1"),
            DraftOrigin::Reply { id, all: true, .. } => {
                (format!("create reply_all {id}"), "thread1")
            }
            DraftOrigin::Forward { id } => (format!("create forward {id}"), "thread8"),
        };
        self.drafted.lock().unwrap().push(line);
        let number = self.drafts.lock().unwrap().len() + 1;
        self.hold(&format!("draft{number}"), thread, message)
    }

    async fn update(
        &self,
        current: &StoredDraft,
        message: &OutgoingMessage,
        _: &dyn ClientPrompts,
    ) -> Result<StoredDraft> {
        self.drafted.lock().unwrap().push(format!("update {}", current.id));
        self.hold(current.id.as_str(), current.thread.as_str(), message)
    }

    async fn discard(&self, current: &StoredDraft) -> Result<()> {
        self.drafted.lock().unwrap().push(format!("discard {}", current.id));
        self.drafts.lock().unwrap().remove(&current.id).map(drop).ok_or_else(not_found)
    }

    async fn send(&self, current: &StoredDraft, at: Option<Timestamp>) -> Result<SentMessage> {
        if at.is_some() && !self.schedules {
            return Err(Error::argument("Gmail sends nothing later").next("send it now"));
        }
        let broken = || Error::new(ErrorKind::Network, "the connection broke");
        let id = current.content.message_id.clone();
        let fault = self.faults.lock().unwrap().pop_front();
        match fault {
            Some(Fault::Refused) => {
                return Err(Error::new(ErrorKind::Provider(400), "bad recipient"));
            }
            Some(Fault::Before) => return Err(broken()),
            Some(Fault::Late) => {
                self.late.lock().unwrap().push(id);
                return Err(broken());
            }
            Some(Fault::Slow(wait)) => {
                tokio::time::sleep(wait).await;
                self.sent.lock().unwrap().push(id);
            }
            // A scheduled message is not sent yet.
            None if at.is_some() => return Ok(SentMessage::default()),
            Some(Fault::After) | None => self.sent.lock().unwrap().push(id),
        }
        match fault {
            Some(Fault::After) => Err(broken()),
            _ => Ok(SentMessage { id: Some(format!("sent-{}", current.id).into()), thread: None }),
        }
    }

    async fn send_status(&self, lookup: &SendLookup) -> Result<SendStatus> {
        Ok(if self.sent.lock().unwrap().contains(&lookup.message_id) {
            SendStatus::Sent(SentMessage::default())
        } else {
            SendStatus::Draft
        })
    }
}

#[async_trait]
impl MailboxSettings for FakeMailbox {
    async fn rules(&self) -> Result<Vec<MailRule>> {
        Ok(self.rules.lock().unwrap().clone())
    }

    async fn auto_reply(&self) -> Result<AutoReply> {
        Ok(self.reply.lock().unwrap().clone())
    }

    async fn rehearse(&self, _: &SettingsChange) -> Result<()> {
        self.set_up_fails()
    }

    async fn apply_settings(&self, change: &SettingsChange) -> Result<Option<Value>> {
        self.set_up_fails()?;
        // This failure is one that rehearsals do not foresee.
        let failing = self.failing.lock().unwrap().get("apply").cloned();
        failing.map_or(Ok(()), Err)?;
        self.note(format!("{change:?}"));
        let mut rules = self.rules.lock().unwrap();
        Ok(match change {
            SettingsChange::CreateRule(rule) | SettingsChange::UpdateRule(rule) => {
                let made = MailRule { id: format!("rule-{}", rules.len() + 1), ..rule.clone() };
                rules.retain(|one| one.id != rule.id);
                rules.push(made.clone());
                Some(json!({"id": made.id}))
            }
            SettingsChange::DeleteRule { id } => {
                rules.retain(|one| one.id != *id);
                None
            }
            SettingsChange::AutoReply(reply) => {
                let mut stored = self.reply.lock().unwrap();
                let now = stored.clone();
                // Members that are not given keep their values.
                *stored = AutoReply {
                    subject: reply.subject.clone().or(now.subject),
                    html: reply.html.clone().or(now.html),
                    external: reply.external.clone().or(now.external),
                    audience: reply.audience.or(now.audience),
                    ..reply.clone()
                };
                None
            }
            SettingsChange::CreateFolder { name } | SettingsChange::RenameFolder { name, .. } => {
                let mut places = self.places.lock().unwrap();
                places.insert(name.clone(), "new".into());
                Some(json!({"id": "new", "name": name, "type": "user",
                            "messagesUnread": 0, "messagesTotal": 0}))
            }
            SettingsChange::CreateCategory { name, .. } => {
                Some(json!({"name": name, "displayName": name}))
            }
            SettingsChange::CreateContact(card) | SettingsChange::UpdateContact { card, .. } => {
                Some(json!({
                    "names": [{"displayName": card.name}],
                    "emailAddresses": card.emails.iter().flatten()
                        .map(|one| json!({"value": one})).collect::<Vec<_>>(),
                    "organizations": [{"name": card.company, "title": card.title}],
                }))
            }
            SettingsChange::Settings { language, .. } => {
                Some(json!({"language": {"displayLanguage": language}}))
            }
            _ => None,
        })
    }
}

#[async_trait]
impl Mailbox for FakeMailbox {
    fn api(&self) -> Service {
        self.api
    }

    fn capabilities(&self) -> &'static MailCapabilities {
        match self.api {
            Service::Google => &google::MAIL,
            _ => &microsoft::MAIL,
        }
    }

    async fn messages(&self, ask: &ListRequest) -> Result<ListPage> {
        self.answers().await?;
        Ok(match &self.script.list {
            Some(list) => list(self, ask),
            None => self.listed(ask),
        })
    }

    async fn threads(&self, ask: &ListRequest) -> Result<ListPage> {
        self.messages(ask).await
    }

    async fn lookup(
        &self,
        table: &'static Table,
        people: &PeopleQuery,
        _: &Projection,
    ) -> Result<ListPage> {
        self.answers().await?;
        if let Some(lookup) = &self.script.lookup {
            return Ok(lookup(table, people));
        }
        let items = match table.name {
            "contact" => self.people.lock().unwrap().clone(),
            "folder" => vec![
                json!({"id": "Label_1", "name": "Bills", "messagesTotal": 12}),
                json!({"id": "fo", "name": "Bills", "totalItemCount": 12}),
            ],
            _ => Vec::new(),
        };
        Ok(ListPage { items, ..ListPage::default() })
    }

    async fn read_messages(
        &self,
        ids: &[MessageId],
        _: &Projection,
        form: BodyForm,
    ) -> Vec<Result<MessageContent>> {
        let one = |id: &MessageId| {
            if let Some(read) = &self.script.read_message {
                read(self, id.as_str(), form)
            } else {
                self.check_id(id.as_str())?;
                let state = self.mail.lock().unwrap().get(id).cloned().ok_or_else(not_found)?;
                Ok(MessageContent { item: self.object(&state), ..MessageContent::default() })
            }
        };
        ids.iter().map(one).collect()
    }

    async fn thread(&self, id: &ThreadId) -> Result<Vec<ThreadMessage>> {
        let own = |id: &str| vec![format!("{id}-0001"), format!("{id}-0002")];
        let id = id.as_str();
        let ids = self.script.thread.map_or_else(|| own(id), |thread| thread(id));
        let member = |id: String| ThreadMessage { id: id.into(), ..ThreadMessage::default() };
        Ok(ids.into_iter().map(member).collect())
    }

    async fn names(&self) -> Result<HashMap<String, String>> {
        let places = self.places.lock().unwrap();
        let mut names: HashMap<_, _> =
            places.iter().map(|(name, id)| (id.to_string(), name.clone())).collect();
        names.insert("new".to_owned(), "Receipts".to_owned());
        Ok(names)
    }

    async fn changes(&self, cursor: Option<&str>, _: &Projection) -> Result<ChangeFeed> {
        match cursor {
            None | Some("now") => {
                Ok(ChangeFeed { cursor: "now".to_owned(), ..ChangeFeed::default() })
            }
            Some(_) => Err(Error::argument("no cursor of ours")),
        }
    }

    fn check_id(&self, id: &str) -> Result<()> {
        if id.starts_with(self.prefix) { Ok(()) } else { Err(Error::argument("no id of ours")) }
    }
}

impl Fake for FakeMailbox {
    fn name(&self) -> &str {
        self.name
    }

    fn provider(&self) -> &'static str {
        if self.api == Service::Microsoft { "microsoft" } else { "google" }
    }

    fn mailbox(self: Arc<Self>) -> Result<Arc<dyn Mailbox>> {
        Ok(self)
    }
}

/// A pipeline over mailboxes in memory.
pub type MailHarness = Harness<FakeMailbox>;

impl MailHarness {
    /// Returns one account, `ana@example.com`.
    pub async fn one(api: Service, access: &str) -> Self {
        Self::with(api, &[("DAYSHEET_ACCESS", access)]).await
    }

    /// Returns one account, `ana@example.com`, with these settings.
    pub async fn with(api: Service, settings: &[(&str, &str)]) -> Self {
        Self::of(vec![FakeMailbox::new("ana", api)], settings).await
    }

    /// Returns one Google account, `ana@example.com`, and one Microsoft account, `bo@example.com`.
    pub async fn two() -> Self {
        Self::two_at("organize").await
    }

    /// Returns the same two accounts at an access level.
    pub async fn two_at(access: &str) -> Self {
        let fakes = [("ana", Service::Google), ("bo", Service::Microsoft)];
        let fakes = fakes.map(|(name, api)| FakeMailbox::new(name, api));
        Self::of(fakes.into(), &[("DAYSHEET_ACCESS", access)]).await
    }

    async fn of(fakes: Vec<FakeMailbox>, settings: &[(&str, &str)]) -> Self {
        Self::at(fakes, settings, clock::at("2026-02-03T17:05:00Z")).await
    }
}

fn not_found() -> Error {
    Error::new(ErrorKind::NotFound, "it is gone")
}

/// Returns a flag without a time.
pub fn starred() -> MessageFlag {
    MessageFlag::Set { due: None }
}
