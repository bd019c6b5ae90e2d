//! Google Calendar and Gmail as a test sees them: behind a tap, over the sandbox
//! or over answers that are told beforehand.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet::accounts::Accounts;
use daysheet::oauth::Tokens;
use daysheet::provider::Account;
use daysheet::provider::calendar::Calendars;
use daysheet::provider::{Connect, Mailbox};
use daysheet::providers::Providers;
use daysheet::providers::google::calendar::facts as read;
use daysheet::sandbox::{Options, Sandbox};
use daysheet::store::Store;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use jiff::Timestamp;
use oauth2::{AccessToken, RefreshToken};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::ME;
use super::scripted::list_of_calendars;
use crate::outlook::wire::{Said, Seen, Wire};
use crate::support::config;

const VERIFIER: &str = "a-verifier-of-forty-three-characters-or-more-as-asked";
const CALLBACK: &str = "http://127.0.0.1:9/callback";
const SCOPES: &str = "https://www.googleapis.com/auth/gmail.readonly \
                      https://www.googleapis.com/auth/calendar";

pub struct Google {
    pub wire: Wire,
    pub sandbox: Option<Sandbox>,
    account: Account,
    accounts: Accounts,
    providers: Providers,
    _home: TempDir,
}

impl Google {
    /// One that says what it is told to.
    pub async fn scripted(rule: impl Fn(&Seen) -> Option<Said> + Send + Sync + 'static) -> Self {
        let wire = Wire::start(None).await;
        wire.say(move |seen| rule(seen).or_else(|| list_of_calendars(seen)));
        Self::behind(wire, None).await
    }

    /// The sandbox with the sample, which has no events.
    pub async fn sandboxed() -> Self {
        let sandbox = Sandbox::start(Options::default()).await.unwrap();
        let wire = Wire::start(Some(sandbox.base())).await;
        Self::behind(wire, Some(sandbox)).await
    }

    async fn behind(wire: Wire, sandbox: Option<Sandbox>) -> Self {
        let home = TempDir::new().unwrap();
        let mut config = config(home.path(), &[]);
        if let Some(sandbox) = &sandbox {
            config.use_sandbox(sandbox.base()).unwrap();
        }
        let base = |path: &str| format!("{}/{path}", wire.base).parse().unwrap();
        config.endpoints.google_calendar = base("calendar/v3/");
        config.endpoints.gmail = base("");
        let config = Arc::new(config);
        let accounts = Accounts::new(config.clone(), Store::new(&config));
        let account = add(&accounts, sandbox.as_ref(), ME).await;
        Self {
            providers: Providers::new(config.services(), Arc::new(accounts.clone())),
            wire,
            sandbox,
            account,
            accounts,
            _home: home,
        }
    }

    /// The calendars of the sample's owner.
    pub fn calendars(&self) -> Arc<dyn Calendars> {
        self.providers.calendars(&self.account).unwrap()
    }

    /// The calendars of somebody else.
    pub async fn calendars_of(&self, address: &str) -> Arc<dyn Calendars> {
        let account = add(&self.accounts, self.sandbox.as_ref(), address).await;
        self.providers.calendars(&account).unwrap()
    }

    /// The mail of the sample's owner.
    pub fn mail(&self) -> Arc<dyn Mailbox> {
        self.providers.mailbox(&self.account).unwrap()
    }

    /// What was asked, the list of calendars apart, in some order; the query
    /// decoded.
    pub fn asked(&self) -> Vec<String> {
        let facts = read::mask(&[]);
        let mut asked: Vec<_> = self
            .wire
            .seen()
            .into_iter()
            .filter(|seen| !seen.raw.contains("/users/me/calendarList?"))
            .map(|seen| {
                let raw = seen.raw.replace("/calendar/v3/", "");
                let (path, query) = raw.split_once('?').unwrap();
                let pairs: Vec<_> = url::form_urlencoded::parse(query.as_bytes())
                    .filter(|(name, _)| name != "alt")
                    .map(|(name, value)| match (name.as_ref(), value.as_ref()) {
                        ("timeMin", time) if !time.starts_with("2026-02") => {
                            "timeMin=lately".to_owned()
                        }
                        (name, value) => format!("{name}={}", value.replace(&facts, "FACTS")),
                    })
                    .collect();
                format!("{path} {}", pairs.join(" "))
            })
            .collect();
        asked.sort();
        asked
    }
}

async fn add(accounts: &Accounts, sandbox: Option<&Sandbox>, address: &str) -> Account {
    let (access, refresh) = match sandbox {
        Some(sandbox) => sign_in(sandbox, address).await,
        None => ("the-token".to_owned(), "unused".to_owned()),
    };
    let tokens = Tokens {
        provider: "google",
        access: AccessToken::new(access),
        refresh: Some(RefreshToken::new(refresh)),
        expires: Timestamp::now().as_second() + 3_600,
        scopes: Vec::new(),
        tenant: None,
    };
    accounts.add(tokens, address).await.unwrap()
}

/// An access token and a refresh token of the sandbox's sign-in.
async fn sign_in(sandbox: &Sandbox, address: &str) -> (String, String) {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let form = |pairs: &[(&str, &str)]| {
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
    };
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
    let query = form(&[
        ("client_id", "daysheet-sandbox"),
        ("redirect_uri", CALLBACK),
        ("response_type", "code"),
        ("scope", SCOPES),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
        ("state", "s"),
        ("access_type", "offline"),
        ("login_hint", address),
    ]);
    let request = Request::get(format!("{}/o/oauth2/v2/auth?{query}", sandbox.base()))
        .header("x-sandbox-consent", "allow")
        .body(Full::<Bytes>::default())
        .unwrap();
    let back = client.request(request).await.unwrap();
    let back = back.headers()["location"].to_str().unwrap().to_owned();
    let back = url::Url::parse(&back).unwrap();
    let code = back.query_pairs().find(|(name, _)| name == "code").unwrap();
    let body = form(&[
        ("grant_type", "authorization_code"),
        ("client_id", "daysheet-sandbox"),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
        ("code", &code.1),
    ]);
    let request = Request::post(format!("{}/token", sandbox.base()))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Full::from(body))
        .unwrap();
    let answer = client.request(request).await.unwrap();
    let answer = answer.into_body().collect().await.unwrap().to_bytes();
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let token = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
    (token("access_token"), token("refresh_token"))
}
