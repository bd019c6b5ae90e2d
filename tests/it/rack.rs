//! Mailboxes in memory, for tests of what is put in order and set up: they do
//! what they are told, keep a record of it, and fail where they are told to.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daysheet::access::Access;
use daysheet::accounts::Accounts;
use daysheet::caller::{Caller, Reply};
use daysheet::encode::{Delimiter, Format};
use daysheet::error::{Error, Kind, Result};
use daysheet::oauth::Tokens;
use daysheet::pipeline::Pipeline;
use daysheet::project::Projection;
use daysheet::provider::Account;
use daysheet::provider::calendar::{Calendars, Changes};
use daysheet::provider::mail::{
    Alias, Arrange, AutoReply, Compose, Flag, HeldDraft, MailState, Organize, Origin, Original,
    Outgoing, Person, Place, PlaceKind, Rule, SetUp, Step,
};
use daysheet::provider::{Ask, BodyForm, Connect, Letter, Lookup, Mailbox, Page, Total};
use daysheet::query::{Query, Term};
use daysheet::schemas::Api;
use daysheet::store::Store;
use daysheet::unsubscribe::post::Poster;
use daysheet::{request, tools};
use jiff::Timestamp;
use oauth2::AccessToken;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::config;

/// The mailbox of one account.
pub struct Rack {
    pub name: &'static str,
    pub api: Api,
    /// By the provider's id; the newest is the last.
    pub mail: Mutex<BTreeMap<String, MailState>>,
    /// Headers of messages.
    pub headers: Mutex<HashMap<String, Vec<(String, String)>>>,
    /// Writes of these fail so.
    pub failing: Mutex<HashMap<String, Error>>,
    /// These stay as they are, whatever is done.
    pub stubborn: Mutex<BTreeSet<String>>,
    /// Names and ids of folders and labels.
    pub places: Mutex<BTreeMap<String, String>>,
    pub rules: Mutex<Vec<Rule>>,
    pub reply: Mutex<AutoReply>,
    pub people: Mutex<Vec<Value>>,
    pub drafts: Mutex<Vec<Outgoing>>,
    log: Mutex<Vec<String>>,
}

impl Rack {
    pub fn new(name: &'static str, api: Api) -> Arc<Self> {
        let places = match api {
            Api::Gmail => vec![("Bills", "Label_1"), ("Print shop", "Label_2")],
            _ => vec![
                ("inbox", "in"),
                ("archive", "ar"),
                ("trash", "tr"),
                ("spam", "sp"),
                ("Bills", "fo"),
            ],
        };
        let places = places.into_iter().map(|(name, id)| (name.to_owned(), id.to_owned()));
        Arc::new(Self {
            name,
            api,
            mail: Mutex::default(),
            headers: Mutex::default(),
            failing: Mutex::default(),
            stubborn: Mutex::default(),
            places: Mutex::new(places.collect()),
            rules: Mutex::default(),
            reply: Mutex::default(),
            people: Mutex::default(),
            drafts: Mutex::default(),
            log: Mutex::default(),
        })
    }

    /// Puts so many unread messages into the inbox.
    pub fn fill(&self, count: usize) {
        let mut mail = self.mail.lock().unwrap();
        for at in 1..=count {
            let state = MailState {
                id: format!("{}-{at:04}", self.name),
                unread: true,
                folder: self.folder("inbox"),
                ..MailState::default()
            };
            mail.insert(state.id.clone(), state);
        }
    }

    pub fn folder(&self, word: &str) -> String {
        let gmail = [("inbox", "INBOX"), ("spam", "SPAM"), ("trash", "TRASH"), ("archive", "")];
        let outlook = [("inbox", "in"), ("spam", "sp"), ("trash", "tr"), ("archive", "ar")];
        let all = match self.api {
            Api::Gmail => gmail,
            _ => outlook,
        };
        all.iter().find(|(name, _)| *name == word).unwrap().1.to_owned()
    }

    /// Changes a message as somebody else would.
    pub fn touch(&self, id: &str, change: impl FnOnce(&mut MailState)) {
        change(self.mail.lock().unwrap().get_mut(id).unwrap());
    }

    pub fn state(&self, id: &str) -> MailState {
        self.mail.lock().unwrap()[id].clone()
    }

    /// Writes of a message, or of how the mailbox is set up, fail so.
    pub fn fail(&self, what: &str, error: Error) {
        self.failing.lock().unwrap().insert(what.to_owned(), error);
    }

    /// Gives a message headers.
    pub fn heads(&self, id: &str, headers: Vec<(String, String)>) {
        self.headers.lock().unwrap().insert(id.to_owned(), headers);
    }

    /// What was written since this was last asked.
    pub fn written(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }

    fn set_up_fails(&self) -> Result<()> {
        let failing = self.failing.lock().unwrap();
        failing.get("set_up").cloned().map_or(Ok(()), Err)
    }

    fn note(&self, line: String) {
        self.log.lock().unwrap().push(line);
    }

    fn after(&self, mut state: MailState, step: &Step) -> Option<MailState> {
        match step {
            Step::Read(read) => state.unread = !read,
            Step::Flag(flag) => state.flag = flag.clone(),
            Step::Archive => state.folder = self.folder("archive"),
            Step::Trash => state.folder = self.folder("trash"),
            Step::Restore => state.folder = self.folder("inbox"),
            Step::Spam => state.folder = self.folder("spam"),
            Step::Move(id) if self.api == Api::Gmail => {
                state.labels.insert(id.clone());
                state.folder = String::new();
            }
            Step::Move(id) => state.folder.clone_from(id),
            Step::Copy(id) if self.api == Api::Gmail => {
                state.labels.insert(id.clone());
            }
            Step::Copy(_) => {}
            Step::Label(ids) => state.labels.extend(ids.iter().cloned()),
            Step::Unlabel(ids) => state.labels.retain(|one| !ids.contains(one)),
            Step::Delete => return None,
            Step::PutBack(states) => {
                state = states.iter().find(|one| one.id == state.id).unwrap().clone();
            }
        }
        Some(state)
    }

    fn object(&self, state: &MailState) -> Value {
        let from = format!("Shop <news@{}.example>", self.name);
        let mut headers = vec![json!({"name": "From", "value": from})];
        let more = self.headers.lock().unwrap();
        for (name, value) in more.get(&state.id).into_iter().flatten() {
            if name == "From" {
                headers[0] = json!({"name": name, "value": value});
            } else {
                headers.push(json!({"name": name, "value": value}));
            }
        }
        match self.api {
            Api::Gmail => {
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
impl Organize for Rack {
    async fn states(&self, ids: &[String]) -> Vec<Result<MailState>> {
        let mail = self.mail.lock().unwrap();
        let gone = || Error::new(Kind::NotFound, "it is not there");
        ids.iter().map(|id| mail.get(id).cloned().ok_or_else(gone)).collect()
    }

    async fn apply(&self, messages: &[MailState], step: &Step) -> Vec<Result<Option<MailState>>> {
        let name = match step {
            Step::PutBack(_) => "PutBack".to_owned(),
            other => format!("{other:?}"),
        };
        self.note(format!("{name} {}", messages.len()));
        let mut mail = self.mail.lock().unwrap();
        let failing = self.failing.lock().unwrap();
        let stubborn = self.stubborn.lock().unwrap();
        messages
            .iter()
            .map(|state| {
                if let Some(error) = failing.get(&state.id) {
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

    async fn place(&self, name: &str, _: PlaceKind, create: bool) -> Result<Place> {
        let mut places = self.places.lock().unwrap();
        let found = places.iter().find(|(known, id)| *known == name || *id == name);
        if let Some((name, id)) = found {
            return Ok(Place { id: id.clone(), name: name.clone(), made: false });
        }
        if !create {
            return Err(Error::new(Kind::NotFound, format!("there is no {name}")).next("say Bills"));
        }
        self.set_up_fails()?;
        let id = format!("made-{name}");
        places.insert(name.to_owned(), id.clone());
        Ok(Place { id, name: name.to_owned(), made: true })
    }
}

#[async_trait]
impl Compose for Rack {
    async fn senders(&self) -> Result<Vec<Alias>> {
        Ok(Vec::new())
    }

    async fn original(&self, id: &str) -> Result<Original> {
        let headers = self.headers.lock().unwrap().get(id).cloned();
        Ok(Original {
            id: id.to_owned(),
            from: vec![Person {
                name: Some("Shop".to_owned()),
                address: format!("news@{}.example", self.name),
            }],
            headers: headers.unwrap_or_default(),
            ..Original::default()
        })
    }

    async fn create(&self, _: &Origin, letter: &Outgoing, _: &dyn Caller) -> Result<HeldDraft> {
        let mut drafts = self.drafts.lock().unwrap();
        drafts.push(letter.clone());
        Ok(HeldDraft {
            id: format!("draft-{}", drafts.len()),
            message: "x".to_owned(),
            thread: "x".to_owned(),
            version: "1".to_owned(),
            letter: letter.clone(),
        })
    }
}

#[async_trait]
impl Arrange for Rack {
    async fn rules(&self) -> Result<Vec<Rule>> {
        Ok(self.rules.lock().unwrap().clone())
    }

    async fn auto_reply(&self) -> Result<AutoReply> {
        Ok(self.reply.lock().unwrap().clone())
    }

    async fn rehearse(&self, _: &SetUp) -> Result<()> {
        self.set_up_fails()
    }

    async fn set_up(&self, change: &SetUp) -> Result<Option<Value>> {
        self.set_up_fails()?;
        self.note(format!("{change:?}"));
        let mut rules = self.rules.lock().unwrap();
        Ok(match change {
            SetUp::CreateRule(rule) | SetUp::UpdateRule(rule) => {
                let made = Rule { id: format!("rule-{}", rules.len() + 1), ..rule.clone() };
                rules.retain(|one| one.id != rule.id);
                rules.push(made.clone());
                Some(json!({"id": made.id}))
            }
            SetUp::DeleteRule { id } => {
                rules.retain(|one| one.id != *id);
                None
            }
            SetUp::AutoReply(reply) => {
                let mut held = self.reply.lock().unwrap();
                let now = held.clone();
                // What is not said stays.
                *held = AutoReply {
                    subject: reply.subject.clone().or(now.subject),
                    html: reply.html.clone().or(now.html),
                    external: reply.external.clone().or(now.external),
                    audience: reply.audience.or(now.audience),
                    ..reply.clone()
                };
                None
            }
            SetUp::CreateFolder { name } | SetUp::RenameFolder { name, .. } => {
                let mut places = self.places.lock().unwrap();
                places.insert(name.clone(), "new".to_owned());
                Some(json!({"id": "new", "name": name, "type": "user",
                            "messagesUnread": 0, "messagesTotal": 0}))
            }
            SetUp::CreateCategory { name, .. } => Some(json!({"name": name, "displayName": name})),
            SetUp::CreateContact(card) | SetUp::UpdateContact { card, .. } => Some(json!({
                "names": [{"displayName": card.name}],
                "emailAddresses": card.emails.iter().flatten()
                    .map(|one| json!({"value": one})).collect::<Vec<_>>(),
                "organizations": [{"name": card.company, "title": card.title}],
            })),
            SetUp::Settings { language, .. } => {
                Some(json!({"language": {"displayLanguage": language}}))
            }
            _ => None,
        })
    }
}

#[async_trait]
impl Mailbox for Rack {
    fn api(&self) -> Api {
        self.api
    }

    async fn messages(&self, ask: &Ask) -> Result<Page> {
        let number = |query: &Query| {
            query.terms().into_iter().find_map(|term| match term {
                Term::Larger(bytes) => usize::try_from(*bytes).ok(),
                _ => None,
            })
        };
        // `larger:` stands for the oldest so many.
        let most = ask.query.as_ref().and_then(number).unwrap_or(usize::MAX);
        let mail = self.mail.lock().unwrap();
        let inbox = |term: &Term| matches!(term, Term::Folder(name) if name == "inbox");
        let inbox = ask.query.as_ref().is_some_and(|query| query.terms().into_iter().any(inbox));
        let there = |one: &&MailState| !inbox || one.folder == self.folder("inbox");
        let all: Vec<&MailState> = mail.values().take(most).filter(there).collect();
        let from: usize = ask.cursor.as_ref().map_or(0, |at| at.parse().unwrap());
        let items = all.iter().rev().skip(from).take(ask.limit);
        let end = from + ask.limit;
        Ok(Page {
            items: items.map(|one| self.object(one)).collect(),
            next: (end < all.len()).then(|| end.to_string()),
            total: Some(Total::Exactly(all.len() as u64)),
            ..Page::default()
        })
    }

    async fn threads(&self, ask: &Ask) -> Result<Page> {
        self.messages(ask).await
    }

    async fn lookup(&self, what: &Lookup, _: &Projection) -> Result<Page> {
        let items = match what {
            Lookup::Contacts(_) => self.people.lock().unwrap().clone(),
            Lookup::Folders => vec![
                json!({"id": "Label_1", "name": "Bills", "messagesTotal": 12}),
                json!({"id": "fo", "name": "Bills", "totalItemCount": 12}),
            ],
            _ => Vec::new(),
        };
        Ok(Page { items, ..Page::default() })
    }

    async fn letters(&self, ids: &[String], _: &Projection, _: BodyForm) -> Vec<Result<Letter>> {
        let one =
            |id: &String| Ok(Letter { item: self.object(&self.state(id)), ..Letter::default() });
        ids.iter().map(one).collect()
    }

    async fn thread(&self, id: &str) -> Result<Vec<String>> {
        Ok(vec![format!("{id}-0001"), format!("{id}-0002")])
    }

    async fn names(&self) -> Result<HashMap<String, String>> {
        Ok(HashMap::from([("new".to_owned(), "Receipts".to_owned())]))
    }

    async fn changes(&self, _: Option<&str>, _: &Projection) -> Result<Changes> {
        Ok(Changes::default())
    }

    fn check_id(&self, id: &str) -> Result<()> {
        match id.starts_with(self.name) {
            true => Ok(()),
            false => Err(Error::argument("no id of ours")),
        }
    }
}

struct Racks(Vec<Arc<Rack>>);

#[async_trait]
impl Connect for Racks {
    fn mailbox(&self, account: &Account) -> Result<Arc<dyn Mailbox>> {
        let mut all = self.0.iter();
        let found = all.find(|one| account.email == format!("{}@example.com", one.name));
        Ok(found.unwrap().clone())
    }

    fn calendars(&self, _: &Account) -> Result<Arc<dyn Calendars>> {
        Err(Error::argument("no calendars here"))
    }

    async fn address(&self, _: &str, _: &str, _: Option<&str>) -> Result<String> {
        Err(Error::argument("nobody signs in here"))
    }

    fn scopes(&self, _: &str, _: bool, _: Access) -> Result<Vec<&'static str>> {
        Ok(Vec::new())
    }
}

/// Whoever calls, with one answer to all questions.
pub struct Says(pub Reply, pub Mutex<Vec<String>>);

#[async_trait]
impl Caller for Says {
    async fn confirm(&self, question: &str) -> Reply {
        self.1.lock().unwrap().push(question.to_owned());
        self.0
    }

    async fn progress(&self, _: u64, _: u64, _: &str) {}
}

/// A pipeline over racks.
pub struct Room {
    pipeline: Pipeline,
    pub store: Store,
    pub racks: Vec<Arc<Rack>>,
    pub home: TempDir,
}

impl Room {
    /// One account, `ana@example.com`.
    pub async fn one(api: Api, access: &str) -> Self {
        Self::with(api, &[("DAYSHEET_ACCESS", access)]).await
    }

    /// One account, `ana@example.com`, with these settings.
    pub async fn with(api: Api, settings: &[(&str, &str)]) -> Self {
        Self::of(vec![Rack::new("ana", api)], settings).await
    }

    /// One at Google, `ana@example.com`, and one at Microsoft, `bo@example.com`.
    pub async fn two() -> Self {
        let racks = vec![Rack::new("ana", Api::Gmail), Rack::new("bo", Api::Outlook)];
        Self::of(racks, &[("DAYSHEET_ACCESS", "organize")]).await
    }

    async fn of(racks: Vec<Arc<Rack>>, settings: &[(&str, &str)]) -> Self {
        let home = TempDir::new().unwrap();
        let config = Arc::new(config(home.path(), settings));
        let store = Store::new(&config);
        let accounts = Accounts::new(config.clone(), store.clone());
        for one in &racks {
            let tokens = Tokens {
                provider: match one.api {
                    Api::Outlook => "microsoft",
                    _ => "google",
                },
                access: AccessToken::new("x".to_owned()),
                refresh: Some(oauth2::RefreshToken::new("y".to_owned())),
                expires: i64::MAX / 2,
                scopes: Vec::new(),
                tenant: None,
            };
            accounts.add(tokens, &format!("{}@example.com", one.name)).await.unwrap();
        }
        let connect = Arc::new(Racks(racks.clone()));
        let now: Timestamp = "2026-02-03T17:05:00Z".parse().unwrap();
        Self {
            pipeline: Pipeline::new(config, store.clone(), Arc::new(accounts), connect)
                .at(now)
                .patience(Duration::from_millis(500))
                .posting(Poster::on_loopback()),
            store,
            racks,
            home,
        }
    }

    pub fn ana(&self) -> &Rack {
        &self.racks[0]
    }

    pub fn bo(&self) -> &Rack {
        &self.racks[1]
    }

    pub async fn call_as(
        &self,
        tool: &str,
        arguments: Value,
        caller: &dyn Caller,
    ) -> Result<Vec<String>> {
        let tool = tools::find(tool).unwrap();
        let format = Format::Toon(Delimiter::Pipe);
        let request = request::read(tool, arguments.as_object().cloned(), format)?;
        Ok(self.pipeline.run_for(request, caller).await?.blocks)
    }

    /// Calls a tool that is to succeed; its blocks as one text.
    pub async fn ok(&self, tool: &str, arguments: Value) -> String {
        let caller = daysheet::caller::Nobody;
        match self.call_as(tool, arguments.clone(), &caller).await {
            Ok(blocks) => blocks.join("\n--\n"),
            Err(error) => panic!("{tool} {arguments}: {error}"),
        }
    }

    /// Calls a tool that is to fail; what it says.
    pub async fn error(&self, tool: &str, arguments: Value) -> String {
        let caller = daysheet::caller::Nobody;
        match self.call_as(tool, arguments.clone(), &caller).await {
            Ok(blocks) => panic!("{tool} {arguments}: {}", blocks.join("\n--\n")),
            Err(error) => error.to_string(),
        }
    }

    /// The audit log, without the times.
    pub fn audit(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.home.path().join("audit.jsonl")).unwrap();
        let line = |line: &str| {
            let one: Value = serde_json::from_str(line).unwrap();
            format!("{} {} {}", one["tool"], one["op"], one["outcome"]).replace('"', "")
        };
        text.lines().map(line).collect()
    }
}

/// A flag without a time.
pub fn starred() -> Flag {
    Flag::Set { due: None }
}
