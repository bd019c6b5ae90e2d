//! A mailbox in memory that drafts are written in.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use daysheet::access::Access;
use daysheet::accounts::Accounts;
use daysheet::caller::Caller;
use daysheet::compose::mime;
use daysheet::encode::Format;
use daysheet::error::{Error, Kind, Result};
use daysheet::oauth::Tokens;
use daysheet::pipeline::Pipeline;
use daysheet::project::Projection;
use daysheet::provider::Account;
use daysheet::provider::calendar::{Calendars, Changes};
use daysheet::provider::mail::{
    Alias, Arrange, Compose, Content, HeldDraft, HeldFile, Importance, Organize, Origin, Original,
    Outgoing, Person,
};
use daysheet::provider::{Ask, BodyForm, Connect, Letter, Lookup, Mailbox, Page};
use daysheet::schemas::Api;
use daysheet::store::{HandleKind, Store};
use daysheet::{request, tools};
use jiff::Timestamp;
use oauth2::AccessToken;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::config;

pub fn person(name: &str, address: &str) -> Person {
    Person { name: (!name.is_empty()).then(|| name.to_owned()), address: address.to_owned() }
}

/// A letter that came in: to two, copied to two, one of them Mira again.
pub fn jonas() -> Original {
    Original {
        id: "m1".to_owned(),
        thread: "thread1".to_owned(),
        message_id: "j1@example.com".to_owned(),
        references: vec!["j0@example.com".to_owned()],
        subject: "Lamps".to_owned(),
        from: vec![person("Jonas Berg", "jonas@example.com")],
        reply_to: Vec::new(),
        to: vec![person("", "mira@example.com"), person("Priya", "priya@example.com")],
        cc: vec![
            person("", "yusuf@lindqvist-lamps.example"),
            person("", "mira@lindqvist-lamps.example"),
        ],
        sent: Some("2026-02-03T10:00:00Z".parse::<Timestamp>().unwrap()),
        text: Some("Do you have lamps?\r\n\r\n> Somebody asked\r\nJonas\r\n".to_owned()),
        html: Some(
            "<html><head><style>p{}</style></head><body onload=x()><p>Do you have <b>lamps</b>?\
             <script>x()</script><img src='cid:1'><img src=https://example.com/x.png onerror=x()></p>"
                .to_owned(),
        ),
        files: vec![HeldFile {
            id: "m1/2".to_owned(),
            name: "offer.pdf".to_owned(),
            media: "application/pdf".to_owned(),
            size: 5,
            cid: None,
        }],
        own: false,
        headers: Vec::new(),
    }
}

/// The letter as it came, with a field that is folded.
const SOURCE: &str =
    "Subject: Lamps\r\nBcc: eve@example.net,\r\n bo@example.net\r\n\r\nDo you?\r\n";

/// What the mailbox does.
#[derive(Default)]
pub struct State {
    originals: BTreeMap<String, Original>,
    drafts: BTreeMap<String, HeldDraft>,
    bytes: HashMap<String, Arc<[u8]>>,
    log: Vec<String>,
    made: usize,
    /// True if it puts somebody else in the place of the recipients.
    pub bends: bool,
    /// How the next write fails.
    pub fails: Option<Error>,
    /// What happens during the next write.
    pub meanwhile: Option<Box<dyn FnOnce() + Send>>,
}

#[derive(Default)]
struct Box_(Mutex<State>);

fn gone() -> Error {
    Error::new(Kind::NotFound, "it is gone")
}

impl Box_ {
    fn hold(&self, id: &str, thread: String, letter: &Outgoing) -> Result<HeldDraft> {
        // Every letter that is taken can be written.
        let complete = letter.files.iter().all(|file| matches!(file.content, Content::Bytes(_)));
        if complete {
            mime(letter)?;
        }
        let mut state = self.0.lock().unwrap();
        if let Some(happens) = state.meanwhile.take() {
            happens();
        }
        if let Some(error) = state.fails.take() {
            return Err(error);
        }
        state.made += 1;
        let mut letter = letter.clone();
        for file in &mut letter.files {
            if let Content::Bytes(bytes) = &file.content {
                let key = format!("{id}/{}", file.name);
                let size = bytes.len() as u64;
                state.bytes.insert(key.clone(), bytes.clone());
                file.content = Content::Held { id: key, size };
            }
        }
        if state.bends {
            letter.to = vec![person("", "eve@example.net")];
        }
        let held = HeldDraft {
            id: id.to_owned(),
            message: format!("m-{id}"),
            thread,
            version: format!("v{}", state.made),
            letter,
        };
        state.drafts.insert(id.to_owned(), held.clone());
        Ok(held)
    }
}

#[async_trait]
impl Compose for Box_ {
    async fn senders(&self) -> Result<Vec<Alias>> {
        let lamps = "mira@lindqvist-lamps.example";
        Ok(vec![
            Alias {
                person: person("Mira Lindqvist", "mira@example.com"),
                signature: Some("<b>Mira</b><br>Lindqvist Lamps<script>x()</script>".to_owned()),
                reply_to: None,
                default: true,
            },
            Alias {
                person: person("Mira at Lamps", lamps),
                signature: None,
                reply_to: Some(person("", "office@lindqvist-lamps.example")),
                default: false,
            },
        ])
    }

    async fn original(&self, id: &str) -> Result<Original> {
        let state = self.0.lock().unwrap();
        state.originals.get(id).cloned().ok_or_else(gone)
    }

    async fn file(&self, _: &str, file: &str, most: u64) -> Result<Vec<u8>> {
        let bytes = b"%PDF!".to_vec();
        match (file, bytes.len() as u64 <= most) {
            ("m1/2", true) => Ok(bytes),
            ("m1/2", false) => Err(Error::argument("it is too large")),
            _ => Err(gone()),
        }
    }

    async fn draft(&self, id: &str) -> Result<HeldDraft> {
        let state = self.0.lock().unwrap();
        let found = state.drafts.values().find(|one| one.id == id || one.message == id);
        found.cloned().ok_or_else(gone)
    }

    async fn create(
        &self,
        origin: &Origin,
        letter: &Outgoing,
        _: &dyn Caller,
    ) -> Result<HeldDraft> {
        let (line, thread) = match origin {
            Origin::New => ("create new".to_owned(), "thread9"),
            Origin::Reply { id, all: false } => (format!("create reply {id}"), "thread1"),
            Origin::Reply { id, all: true } => (format!("create reply_all {id}"), "thread1"),
            Origin::Forward { id } => (format!("create forward {id}"), "thread8"),
        };
        let number = {
            let mut state = self.0.lock().unwrap();
            state.log.push(line);
            state.drafts.len() + 1
        };
        self.hold(&format!("draft{number}"), thread.to_owned(), letter)
    }

    async fn update(
        &self,
        current: &HeldDraft,
        letter: &Outgoing,
        _: &dyn Caller,
    ) -> Result<HeldDraft> {
        self.0.lock().unwrap().log.push(format!("update {}", current.id));
        self.hold(&current.id, current.thread.clone(), letter)
    }

    async fn discard(&self, current: &HeldDraft) -> Result<()> {
        let mut state = self.0.lock().unwrap();
        state.log.push(format!("discard {}", current.id));
        state.drafts.remove(&current.id).map(drop).ok_or_else(gone)
    }
}

impl Organize for Box_ {}
impl Arrange for Box_ {}

#[async_trait]
impl Mailbox for Box_ {
    fn api(&self) -> Api {
        Api::Gmail
    }

    async fn messages(&self, _: &Ask) -> Result<Page> {
        Ok(Page::default())
    }

    async fn threads(&self, _: &Ask) -> Result<Page> {
        Ok(Page::default())
    }

    async fn lookup(&self, _: &Lookup, _: &Projection) -> Result<Page> {
        Ok(Page::default())
    }

    async fn letters(&self, ids: &[String], _: &Projection, form: BodyForm) -> Vec<Result<Letter>> {
        let one = |id: &String| {
            let raw = form == BodyForm::Raw;
            Ok(Letter {
                item: json!({"id": id}),
                source: raw.then(|| SOURCE.to_owned()),
                attachments: vec![json!({"id": format!("{id}/2"), "message": id,
                    "filename": "offer.pdf", "mimeType": "application/pdf", "body": {"size": 5}})],
                ..Letter::default()
            })
        };
        ids.iter().map(one).collect()
    }

    async fn thread(&self, _: &str) -> Result<Vec<String>> {
        Ok(vec!["m0".to_owned(), "m1".to_owned()])
    }

    async fn names(&self) -> Result<HashMap<String, String>> {
        Ok(HashMap::new())
    }

    async fn changes(&self, _: Option<&str>, _: &Projection) -> Result<Changes> {
        Ok(Changes::default())
    }

    fn check_id(&self, id: &str) -> Result<()> {
        match id.starts_with("m-") {
            true => Ok(()),
            false => Err(Error::argument("no id of ours")),
        }
    }
}

struct Boxes(Arc<Box_>);

#[async_trait]
impl Connect for Boxes {
    fn mailbox(&self, _: &Account) -> Result<Arc<dyn Mailbox>> {
        Ok(self.0.clone())
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

/// A pipeline over Mira's mailbox.
pub struct Post {
    pub pipeline: Pipeline,
    store: Store,
    account: Account,
    mailbox: Arc<Box_>,
    pub home: TempDir,
}

impl Post {
    pub async fn new(more: &[(&str, &str)]) -> Self {
        let home = TempDir::new().unwrap();
        let folder = home.path().join("files");
        std::fs::create_dir(&folder).unwrap();
        let mut set = vec![("DAYSHEET_FILES", folder.to_str().unwrap())];
        set.extend_from_slice(more);
        let config = Arc::new(config(home.path(), &set));
        let store = Store::new(&config);
        let accounts = Accounts::new(config.clone(), store.clone());
        let tokens = Tokens {
            provider: "google",
            access: AccessToken::new("x".to_owned()),
            refresh: Some(oauth2::RefreshToken::new("y".to_owned())),
            expires: i64::MAX / 2,
            scopes: Vec::new(),
            tenant: None,
        };
        let account = accounts.add(tokens, "mira@example.com").await.unwrap();
        let mailbox = Arc::new(Box_::default());
        let connect = Arc::new(Boxes(mailbox.clone()));
        Self {
            pipeline: Pipeline::new(config, store.clone(), Arc::new(accounts), connect),
            store,
            account,
            mailbox,
            home,
        }
    }

    /// The folder that files may be in.
    pub fn folder(&self) -> PathBuf {
        self.home.path().join("files")
    }

    pub fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.mailbox.0.lock().unwrap());
    }

    pub fn put(&self, original: Original) {
        self.set(|state| {
            state.originals.insert(original.id.clone(), original);
        });
    }

    async fn handle(&self, kind: HandleKind, id: &str) -> String {
        let numbers = self.store.handles(&self.account.id, kind, &[id]).await;
        kind.handle(numbers.unwrap()[0])
    }

    pub async fn message(&self, id: &str) -> String {
        self.handle(HandleKind::Message, id).await
    }

    pub async fn attachment(&self, id: &str) -> String {
        self.handle(HandleKind::Attachment, id).await
    }

    /// A draft that another program made, as `draft1`; its handle.
    pub async fn made_elsewhere(&self, from: Person, text: &str, html: &str) -> String {
        let held = HeldDraft {
            id: "draft1".to_owned(),
            message: "m-draft1".to_owned(),
            thread: "thread9".to_owned(),
            version: "v0".to_owned(),
            letter: Outgoing {
                message_id: "CAF-x1@mail.example.com".to_owned(),
                from,
                to: Vec::new(),
                cc: Vec::new(),
                bcc: Vec::new(),
                reply_to: Vec::new(),
                subject: "Lamps".to_owned(),
                text: text.to_owned(),
                html: html.to_owned(),
                importance: Importance::Normal,
                in_reply_to: None,
                references: Vec::new(),
                files: Vec::new(),
            },
        };
        self.set(|state| drop(state.drafts.insert(held.id.clone(), held)));
        self.handle(HandleKind::Draft, "draft1").await
    }

    pub fn held(&self, id: &str) -> Outgoing {
        self.mailbox.0.lock().unwrap().drafts[id].letter.clone()
    }

    pub fn bytes(&self, id: &str, name: &str) -> Vec<u8> {
        self.mailbox.0.lock().unwrap().bytes[&format!("{id}/{name}")].to_vec()
    }

    pub fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.mailbox.0.lock().unwrap().log)
    }

    pub fn audit(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.home.path().join("audit.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Vec<String>> {
        let tool = tools::find(tool).unwrap();
        let request = request::read(tool, arguments.as_object().cloned(), Format::default())?;
        Ok(self.pipeline.run(request).await?.blocks)
    }

    pub async fn ok(&self, arguments: Value) -> Vec<String> {
        self.call("mail_draft", arguments).await.unwrap()
    }

    pub async fn error(&self, arguments: Value) -> String {
        self.call("mail_draft", arguments).await.unwrap_err().to_string()
    }
}
