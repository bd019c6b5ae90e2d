//! A token endpoint on loopback with scripted answers, which records its requests, and an equally
//! small browser.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use daysheet::accounts::Accounts;
use daysheet::config::Config;
use daysheet::oauth::{GrantedTokens, SignIn};
use daysheet::store::Store;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::common::clock;

/// The form fields of a request.
pub type Form = HashMap<String, String>;

/// An answer of the endpoint.
pub struct Answer {
    /// The HTTP status, optionally with a reason phrase.
    pub status: &'static str,
    /// Further header lines, each ending in CR LF.
    pub headers: &'static str,
    /// The body, as JSON.
    pub body: String,
    /// The delay before the answer.
    pub after: Duration,
}

impl Answer {
    /// Returns an answer without delay.
    pub fn new(status: &'static str, body: impl Into<String>) -> Self {
        Self { status, headers: "", body: body.into(), after: Duration::ZERO }
    }

    /// Returns an error in OAuth's form.
    pub fn error(code: &str) -> Self {
        Self::new("400 Bad Request", format!(r#"{{"error":"{code}"}}"#))
    }

    /// Returns an error in Entra's form, with the members of `more` added.
    pub fn entra(code: &str, number: u32, more: &str) -> Self {
        let body = format!(
            r#"{{"error":"{code}","error_description":"AADSTS{number}: the-code of mira@example.com. Trace ID: 1","error_codes":[{number}]{more}}}"#
        );
        Self::new("400 Bad Request", body)
    }

    /// Returns tokens with a lifetime in seconds.
    pub fn tokens(access: &str, refresh: Option<&str>, lifetime: i64) -> Self {
        let refresh = refresh.map_or(String::new(), |it| format!(r#""refresh_token":"{it}","#));
        let body = format!(
            r#"{{"access_token":"{access}",{refresh}"expires_in":{lifetime},"token_type":"Bearer","scope":"mail calendar"}}"#
        );
        Self::new("200 OK", body)
    }

    /// Returns the same answer after a delay.
    pub fn after(mut self, delay: Duration) -> Self {
        self.after = delay;
        self
    }
}

/// The endpoint, which runs until its test ends.
#[derive(Clone)]
pub struct TokenServer {
    /// Its address without a path.
    pub base: String,
    /// The state folder of the sign-ins.
    pub home: Arc<tempfile::TempDir>,
    forms: Arc<Mutex<Vec<Form>>>,
}

impl TokenServer {
    /// Starts the endpoint; `answer` gets the request's number, from 0 on, and its form.
    pub async fn start(answer: impl Fn(usize, &Form) -> Answer + Send + Sync + 'static) -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", socket.local_addr().unwrap());
        let forms = Arc::new(Mutex::new(Vec::new()));
        let (noted, answer) = (forms.clone(), Arc::new(answer));
        tokio::spawn(async move {
            loop {
                let (stream, _) = socket.accept().await.unwrap();
                tokio::spawn(serve(stream, noted.clone(), answer.clone()));
            }
        });
        Self { base, home: Arc::new(tempfile::tempdir().unwrap()), forms }
    }

    /// Returns the forms of all requests so far.
    pub fn forms(&self) -> Vec<Form> {
        self.forms.lock().unwrap().clone()
    }

    /// Returns the number of requests so far.
    pub fn count(&self) -> usize {
        self.forms.lock().unwrap().len()
    }

    /// Returns settings for its state folder and this endpoint.
    pub fn config(&self) -> Config {
        config(self.home.path(), &self.base, Some("the-client"))
    }

    /// Returns the accounts of its state folder, as another process would open them.
    pub fn accounts(&self) -> Accounts {
        let config = Arc::new(self.config());
        Accounts::new(config.clone(), Store::new(&config))
    }
}

/// Returns settings with all endpoints below `base`.
pub fn config(home: &Path, base: &str, client: Option<&str>) -> Config {
    let var = |name: &str| {
        Some(match name {
            "DAYSHEET_HOME" => home.to_str().unwrap().to_owned(),
            "DAYSHEET_KEY_STORE" => "file".to_owned(),
            "DAYSHEET_GOOGLE_AUTH_URL" => format!("{base}/auth"),
            "DAYSHEET_GOOGLE_TOKEN_URL" => format!("{base}/token"),
            "DAYSHEET_GOOGLE_REVOKE_URL" => format!("{base}/revoke"),
            "DAYSHEET_GOOGLE_CLIENT_ID" => client?.to_owned(),
            "DAYSHEET_GOOGLE_CLIENT_SECRET" => "the-client-secret".to_owned(),
            "DAYSHEET_MICROSOFT_AUTHORITY_URL" => base.to_owned(),
            "DAYSHEET_MICROSOFT_CLIENT_ID" => client?.to_owned(),
            _ => return None,
        })
    };
    Config::from(var, None, None, clock::clock()).unwrap()
}

async fn serve(
    mut stream: TcpStream,
    forms: Arc<Mutex<Vec<Form>>>,
    answer: Arc<impl Fn(usize, &Form) -> Answer>,
) {
    let mut request = String::new();
    let body = loop {
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes).await.unwrap();
        request.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
        if let Some((head, body)) = request.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok())
                .unwrap_or(0);
            if body.len() >= length {
                break body;
            }
        }
        assert!(count > 0, "the request is cut off");
    };
    let mut form: Form = url::form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    let path = request.split(' ').nth(1).unwrap().to_owned();
    form.insert("path".to_owned(), path);
    let number = {
        let mut forms = forms.lock().unwrap();
        forms.push(form.clone());
        forms.len() - 1
    };
    let answer = answer(number, &form);
    tokio::time::sleep(answer.after).await;
    let text = format!(
        "HTTP/1.1 {}\r\n{}Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
        answer.status,
        answer.headers,
        answer.body.len(),
        answer.body
    );
    // The client may have disconnected.
    let _ = stream.write_all(text.as_bytes()).await;
}

/// Signs in at the endpoint and returns the tokens it answers with.
pub async fn sign_in(config: &Config) -> daysheet_core::error::Result<GrantedTokens> {
    sign_in_at(config, "google", None).await
}

/// Signs in at a provider, and optionally a tenant.
pub async fn sign_in_at(
    config: &Config,
    provider: &str,
    tenant: Option<&str>,
) -> daysheet_core::error::Result<GrantedTokens> {
    let sign_in = SignIn::start(config, provider, tenant, &["mail"], None).await?;
    let redirect = redirect(&sign_in, "code=the-code");
    let (tokens, _) = tokio::join!(wait(sign_in), get(&redirect));
    tokens
}

/// Waits for the tokens, and tells the browser that they were stored.
pub async fn wait(sign_in: SignIn) -> daysheet_core::error::Result<GrantedTokens> {
    let (tokens, page) = sign_in.wait().await?;
    page.signed_in("mira@example.com").await;
    Ok(tokens)
}

/// Returns the address to which a consent page would redirect, with the right state.
pub fn redirect(sign_in: &SignIn, what: &str) -> String {
    let state = parameter(sign_in, "state");
    format!("{}?state={state}&{what}", sign_in.redirect_uri())
}

/// Returns a parameter of the consent page's address, or an empty text if it is missing.
pub fn parameter(sign_in: &SignIn, name: &str) -> String {
    let url = url::Url::parse(sign_in.url()).unwrap();
    url.query_pairs()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}

/// Gets a local page as a browser would; returns the whole response.
pub async fn get(url: &str) -> String {
    let url = url::Url::parse(url).unwrap();
    let path = &url[url::Position::BeforePath..];
    send(&url, &format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")).await
}

/// Returns the status and the text of such a page.
pub fn page_text(page: &str) -> String {
    let (head, text) = page.split_once("<p>").unwrap();
    let status = head.split(' ').nth(1).unwrap();
    format!("{status} {}", text.split_once("</p>").unwrap().0)
}

/// Sends bytes to the host of `url` and reads until the connection closes.
pub async fn send(url: &url::Url, text: &str) -> String {
    let host = url.host_str().unwrap().trim_matches(['[', ']']);
    let address = (host, url.port().unwrap());
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = String::new();
    // A server may close the connection abruptly after an invalid request.
    let _ = stream.read_to_string(&mut answer).await;
    answer
}
