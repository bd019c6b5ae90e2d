//! The pipeline over a scripted mailbox, for what no stand-in does on purpose.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use daysheet::access::Access;
use daysheet::accounts::Accounts;
use daysheet::encode::{Delimiter, Format};
use daysheet::error::{Error, Kind, Result};
use daysheet::oauth::Tokens;
use daysheet::pipeline::Pipeline;
use daysheet::project::Projection;
use daysheet::provider::Account;
use daysheet::provider::calendar::{Calendars, Changes};
use daysheet::provider::mail::{Arrange, Compose, Organize};
use daysheet::provider::{Ask, BodyForm, Connect, Failed, Letter, Lookup, Mailbox, Page, Total};
use daysheet::schemas::Api;
use daysheet::store::Store;
use daysheet::{request, tools};
use oauth2::AccessToken;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::config;

/// A mailbox in which the second of three messages is gone when it is fetched.
struct Scripted;

fn object(id: &str) -> Value {
    json!({"id": id, "labelIds": ["INBOX"], "internalDate": "1770138300000",
           "payload": {"headers": [{"name": "Subject", "value": format!("about {id}")}]}})
}

fn gone() -> Error {
    Error::new(Kind::NotFound, "Gmail has no such item").next("search again")
}

impl Compose for Scripted {}
impl Organize for Scripted {}
impl Arrange for Scripted {}

#[async_trait]
impl Mailbox for Scripted {
    fn api(&self) -> Api {
        Api::Gmail
    }

    async fn messages(&self, _: &Ask) -> Result<Page> {
        Ok(Page {
            items: vec![object("aa"), object("cc")],
            failed: vec![Failed { at: 1, id: "bb".to_owned(), error: gone() }],
            total: Some(Total::About(90)),
            next: Some("token".to_owned()),
            notes: vec!["a note of the provider".into()],
            ..Page::default()
        })
    }

    async fn threads(&self, ask: &Ask) -> Result<Page> {
        self.messages(ask).await
    }

    async fn lookup(&self, _: &Lookup, _: &Projection) -> Result<Page> {
        Ok(Page::default())
    }

    async fn letters(&self, ids: &[String], _: &Projection, _: BodyForm) -> Vec<Result<Letter>> {
        let letter = |id: &String| match id.as_str() {
            "bb" => Err(gone()),
            id => Ok(Letter { item: object(id), ..Letter::default() }),
        };
        ids.iter().map(letter).collect()
    }

    async fn thread(&self, _: &str) -> Result<Vec<String>> {
        Ok((0..60).map(|number| format!("id{number}")).collect())
    }

    async fn names(&self) -> Result<HashMap<String, String>> {
        Ok(HashMap::new())
    }

    async fn changes(&self, _: Option<&str>, _: &Projection) -> Result<Changes> {
        Err(Error::argument("nothing changes here"))
    }

    fn check_id(&self, _: &str) -> Result<()> {
        Ok(())
    }
}

struct Scripts;

#[async_trait]
impl Connect for Scripts {
    fn mailbox(&self, _: &Account) -> Result<Arc<dyn Mailbox>> {
        Ok(Arc::new(Scripted))
    }

    fn calendars(&self, _: &Account) -> Result<Arc<dyn Calendars>> {
        Err(Error::argument("no calendars here"))
    }

    async fn address(&self, _: &str, _: &str, _: Option<&str>) -> Result<String> {
        Ok("a@example.com".to_owned())
    }

    fn scopes(&self, _: &str, _: bool, _: Access) -> Result<Vec<&'static str>> {
        Ok(Vec::new())
    }
}

async fn pipeline(home: &TempDir, emails: &[&str]) -> Pipeline {
    let config = Arc::new(config(home.path(), &[]));
    let store = Store::new(&config);
    let accounts = Accounts::new(config.clone(), store.clone());
    for email in emails {
        let tokens = Tokens {
            provider: "google",
            tenant: None,
            access: AccessToken::new("x".to_owned()),
            refresh: Some(oauth2::RefreshToken::new("y".to_owned())),
            expires: i64::MAX / 2,
            scopes: Vec::new(),
        };
        accounts.add(tokens, email).await.unwrap();
    }
    Pipeline::new(config, store, Arc::new(accounts), Arc::new(Scripts))
}

async fn call(pipeline: &Pipeline, tool: &str, arguments: Value) -> Result<Vec<String>> {
    let tool = tools::find(tool).unwrap();
    let format = Format::Toon(Delimiter::Tab);
    let request = request::read(tool, arguments.as_object().cloned(), format)?;
    Ok(pipeline.run(request).await?.blocks)
}

#[tokio::test]
async fn a_message_that_is_gone_is_a_noted_row() {
    let home = TempDir::new().unwrap();
    let pipeline = pipeline(&home, &["a@example.com"]).await;
    let arguments = json!({"fields": ["subject", "flags"], "limit": 3});
    assert_eq!(
        call(&pipeline, "mail_search", arguments).await.unwrap(),
        [
            "next: p1\nmessages[3\t]{id\tsubject\tflags}:\n\
             \x20 m1\tabout aa\t\"\"\n  m2\tnull\tnull\n  m3\tabout cc\t\"\"",
            "messages: 3 of ~90, newest first; cursor=p1 has more\n\
             1 could not be fetched (m2): Gmail has no such item: search again\n\
             a note of the provider",
        ]
    );
    // Read together with others it is a note, alone it is the answer.
    let blocks = call(&pipeline, "mail_read", json!({"ids": ["m1", "m2"]})).await.unwrap();
    assert_eq!(
        blocks.last().unwrap(),
        "messages: 1\n1 could not be fetched (m2): Gmail has no such item: search again"
    );
    let alone = call(&pipeline, "mail_read", json!({"ids": ["m2"]})).await;
    assert_eq!(alone.unwrap_err().to_string(), "m2: Gmail has no such item: search again");
}

#[tokio::test]
async fn a_thread_of_sixty_is_read_in_parts() {
    let home = TempDir::new().unwrap();
    let pipeline = pipeline(&home, &["a@example.com"]).await;
    call(&pipeline, "mail_search", json!({"by": "thread"})).await.unwrap();
    let mut arguments = json!({"ids": ["t1"], "body": "none", "format": "json"});
    let mut seen = Vec::new();
    for expected in [25, 25, 10] {
        let blocks = call(&pipeline, "mail_read", arguments).await.unwrap();
        let page: Value = serde_json::from_str(&blocks[0]).unwrap();
        let ids: Vec<_> = page["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["provider_id"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(ids.len(), expected);
        seen.extend(ids);
        arguments = json!({"cursor": page["next"], "format": "json"});
    }
    let newest_first: Vec<_> = (0..60).rev().map(|number| format!("id{number}")).collect();
    assert_eq!(seen, newest_first);
}

#[tokio::test]
async fn with_several_accounts_handles_know_their_own() {
    let home = TempDir::new().unwrap();
    let pipeline = pipeline(&home, &["a@example.com", "b@example.com"]).await;
    for (account, expected) in [("a@example.com", "m1"), ("b@example.com", "m4")] {
        let found = call(&pipeline, "mail_search", json!({"account": account})).await.unwrap();
        assert!(found[0].contains(&format!("\n  {expected}\t")), "{}", found[0]);
    }
    let blocks = call(&pipeline, "mail_read", json!({"ids": ["m6", "m1"]})).await.unwrap();
    assert!(
        blocks[0].contains("bodies[2\t]{id\tblock\ttype\tchars\tshown}:\n  m6\t"),
        "{}",
        blocks[0]
    );
    let wrong = json!({"ids": ["m6"], "account": "a@example.com"});
    assert_eq!(
        call(&pipeline, "mail_read", wrong).await.unwrap_err().to_string(),
        "m6: it belongs to google:b@example.com, not to that account: leave out `account`: a handle \
         knows its own"
    );
    // A provider's own id could be of either.
    let own = json!({"ids": ["18c2f0a1b2c3d4e5"]});
    assert_eq!(
        call(&pipeline, "mail_read", own).await.unwrap_err().to_string(),
        "18c2f0a1b2c3d4e5: several accounts are signed in: name one of: google:a@example.com, \
         google:b@example.com"
    );
}
