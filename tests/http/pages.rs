//! The pages, as a browser without scripts uses them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use daysheet::app::App;
use daysheet::config::Config;
use daysheet::http::Service;
use daysheet_auth::{TokenList, Verifier};
use regex::Regex;
use serde_json::json;
use sqlx::Connection;
use tempfile::TempDir;
use tokio::net::TcpListener;
use url::Url;
use url::form_urlencoded::Serializer;

use crate::common::issuer::{CLIENT, TestIssuer, sign, with};
use crate::common::messages::{mailboxes, write_message};
use crate::stage::{ME, Reply, Stage, User, person};

/// What the tokens of the issuer are for.
const HERE: &str = "https://mail.example/mcp";

/// A browser at the pages of an instance: it keeps cookies, and sends forms as they stand.
struct Browser {
    http: User,
    jar: BTreeMap<String, String>,
}

/// A page as it came.
struct Page {
    path: String,
    reply: Reply,
    html: String,
}

impl Page {
    /// The status; fails with the page unless it is this one.
    #[track_caller]
    fn is(self, status: u16) -> Self {
        assert_eq!(self.reply.status, status, "{}: {}", self.path, self.html);
        self
    }

    #[track_caller]
    fn says(&self, text: &str) -> &Self {
        assert!(self.html.contains(text), "{} lacks {text}: {}", self.path, self.html);
        self
    }

    #[track_caller]
    fn omits(&self, text: &str) -> &Self {
        assert!(!self.html.contains(text), "{} has {text}: {}", self.path, self.html);
        self
    }

    /// The address that it leads on to at once.
    #[track_caller]
    fn leads_to(&self) -> String {
        let refresh = Regex::new(r#"content="0; url=([^"]*)""#).unwrap();
        let found = refresh.captures(&self.html).unwrap_or_else(|| panic!("{}", self.html));
        html_escape::decode_html_entities(&found[1]).into_owned()
    }

    /// The fields of the form that is sent to `action`, as it would be sent unchanged.
    #[track_caller]
    fn form(&self, action: &str) -> BTreeMap<String, String> {
        let start = format!("action=\"{action}\"");
        let (_, rest) = self
            .html
            .split_once(&start)
            .unwrap_or_else(|| panic!("{} has no form for {action}: {}", self.path, self.html));
        let form = rest.split("</form>").next().unwrap();
        let mut fields = BTreeMap::new();
        let attribute = |tag: &str, name: &str| {
            let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
            let value = rest.split('"').next()?;
            Some(html_escape::decode_html_entities(value).into_owned())
        };
        for tag in form.split('<').filter(|tag| tag.starts_with("input ")) {
            fields.insert(
                attribute(tag, "name").unwrap(),
                attribute(tag, "value").unwrap_or_default(),
            );
        }
        fields
    }
}

impl Browser {
    fn at(stage: &Stage) -> Self {
        Self { http: User::nobody(&stage.url("")), jar: BTreeMap::new() }
    }

    /// A browser in which this person has signed in with their token.
    async fn of(stage: &Stage, name: &str) -> Self {
        let mut browser = Self::at(stage);
        let form = browser.get("/sign-in?return=/accounts").await.is(200);
        let page = browser.submit(&form, "/sign-in", &[("bearer", name)]).await.is(303);
        assert_eq!(page.reply.header("location"), "/accounts");
        browser
    }

    async fn send(
        &mut self,
        method: &str,
        path: &str,
        more: &[(&str, &str)],
        body: String,
    ) -> Page {
        let cookies: Vec<String> =
            self.jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = cookies.join("; ");
        let mut headers = vec![("cookie", cookies.as_str())];
        headers.extend(more);
        let reply = self.http.send(method, path, &headers, body).await;
        for cookie in reply.headers.get_all("set-cookie") {
            let cookie = cookie.to_str().unwrap();
            let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
            match cookie.contains("Max-Age=0") {
                true => self.jar.remove(name),
                false => self.jar.insert(name.to_owned(), value.to_owned()),
            };
        }
        let html = reply.text();
        Page { path: path.to_owned(), reply, html }
    }

    async fn get(&mut self, path: &str) -> Page {
        self.send("GET", path, &[("sec-fetch-site", "same-origin")], String::new()).await
    }

    /// Posts fields, as a form of this page would.
    async fn post(&mut self, path: &str, fields: &BTreeMap<String, String>) -> Page {
        let origin = self.http.base.clone();
        let headers = [
            ("origin", origin.as_str()),
            ("sec-fetch-site", "same-origin"),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        let body = Serializer::new(String::new()).extend_pairs(fields).finish();
        self.send("POST", path, &headers, body).await
    }

    /// Sends the form of a page to `action`, with these changes.
    async fn submit(&mut self, page: &Page, action: &str, changes: &[(&str, &str)]) -> Page {
        let mut fields = page.form(action);
        for (name, value) in changes {
            fields.insert((*name).to_owned(), (*value).to_owned());
        }
        self.post(action, &fields).await
    }

    /// Begins to connect an account; where the consent page leads back to.
    async fn consent(&mut self, provider: &str, mailbox: &str, decision: &str) -> String {
        let path = format!("/connect/{provider}");
        let form = self.get(&path).await.is(200);
        let page = self.submit(&form, &path, &[("hint", mailbox)]).await.is(200);
        let consent = [("x-sandbox-consent", decision)];
        let back = self.http.send("GET", &page.leads_to(), &consent, "").await;
        let back = Url::parse(back.header("location")).unwrap();
        format!("{}?{}", back.path(), back.query().unwrap())
    }
}

#[tokio::test]
async fn accounts_of_both_providers_are_connected() {
    let stage = Stage::of(&["ann", "bo"]).await;
    let mut ann = Browser::of(&stage, "ann").await;
    ann.get("/accounts").await.is(200).says("ann@example.com").omits("bo@example.com");
    for provider in ["google", "microsoft"] {
        let back = ann.consent(provider, "bo@example.com", "allow").await;
        ann.get(&back).await.is(200).says("bo@example.com").says("Connected");
        ann.get(&back).await.is(400).says("already finished");
    }
    let list = ann.get("/accounts").await.is(200);
    list.says("Microsoft").says("Read, organize and draft mail").says("Read and change calendars");
    let accounts = stage.modern("ann").ok("accounts", json!({})).await;
    assert!(accounts.contains("accounts: 3"), "{accounts}");
    let mut bo = Browser::of(&stage, "bo").await;
    bo.get("/accounts").await.is(200).omits("ann@").omits("Microsoft</td>");
}

/// The browser goes while the code is exchanged: the grant is kept nevertheless.
#[tokio::test]
async fn closed_page_loses_no_grant() {
    let stage = Stage::of(&["ann", "bo"]).await;
    let mut ann = Browser::of(&stage, "ann").await;
    let back = ann.consent("google", "bo@example.com", "allow").await;
    stage.shared.sandbox.set_faults("delay=300ms".parse().unwrap());
    let gone = tokio::time::timeout(Duration::from_millis(150), ann.get(&back)).await;
    assert!(gone.is_err());
    let connected = async {
        while !ann.get("/accounts").await.is(200).html.contains("bo@example.com") {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), connected).await.unwrap();
}

#[tokio::test]
async fn nobody_else_finishes_a_connection() {
    let stage = Stage::of(&["ann", "bo"]).await;
    let other = stage.another().await;
    let mut ann = Browser::of(&stage, "ann").await;
    let mut bo = Browser::of(&stage, "bo").await;
    let back = ann.consent("google", "bo@example.com", "allow").await;
    bo.get(&back).await.is(400).says("by another person");
    Browser::at(&stage).get(&back).await.is(303);
    // Any instance can; the browser brings its session along.
    ann.http = User::nobody(&other.url(""));
    ann.jar = renamed(&ann.jar, &stage, &other);
    // The callback is of the instance that began it, as its public address says.
    let done = ann.get(&back).await;
    done.is(200).says("Connected");
    let mut second = Browser::of(&stage, "ann").await;
    let mut first = Browser::of(&stage, "ann").await;
    let back = first.consent("google", "bo@example.com", "allow").await;
    second.get(&back).await.is(400);
    first.get(&back).await.is(400);
}

/// The cookies of one instance as those of another: on loopback their names have the port.
fn renamed(jar: &BTreeMap<String, String>, from: &Stage, to: &Stage) -> BTreeMap<String, String> {
    let (from, to) = (from.address.port().to_string(), to.address.port().to_string());
    jar.iter().map(|(name, value)| (name.replace(&from, &to), value.clone())).collect()
}

#[tokio::test]
async fn refused_or_foreign_answers_connect_nothing() {
    let stage = Stage::of(&["ann", "bo"]).await;
    let mut ann = Browser::of(&stage, "ann").await;
    let back = ann.consent("google", "bo@example.com", "deny").await;
    ann.get(&back).await.is(200).says("Not connected");
    let back = ann.consent("microsoft", "bo@example.com", "deny").await;
    ann.get(&back).await.is(200).says("Not connected");
    // A code of one provider is not handed to the other.
    let back = ann.consent("google", "bo@example.com", "allow").await;
    ann.get(&format!("{back}&iss=https://evil.example")).await.is(200).says("another provider");
    // A code from another sign-in does not fit the verifier of this one.
    let code = |path: &str| {
        let url = Url::parse(&format!("http://x{path}")).unwrap();
        url.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned()
    };
    let one = ann.consent("google", "bo@example.com", "allow").await;
    let two = ann.consent("google", "ann@example.com", "allow").await;
    let mixed = one.replace(&urlencode(&code(&one)), &urlencode(&code(&two)));
    ann.get(&mixed).await.is(200).says("Not connected");
    ann.get("/connect/callback?state=&code=x").await.is(400);
    ann.get("/connect/callback").await.is(400);
    ann.get("/connect/evil").await.is(400);
    ann.get("/accounts").await.is(200).omits("bo@example.com");
}

fn urlencode(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Every form, and fields that it would take.
const FORMS: &[(&str, &str, &[(&str, &str)])] = &[
    ("/accounts", "/accounts/level", &[("level", "read")]),
    ("/accounts/data", "/accounts/erase", &[("confirm", "erase")]),
    (
        "/accounts/disconnect?account=google:ann@example.com",
        "/accounts/disconnect",
        &[("account", "google:ann@example.com")],
    ),
    ("/connect/google", "/connect/google", &[]),
    ("/inspect", "/inspect", &[("tool", "mail_search"), ("arguments", "{}")]),
    ("/accounts", "/sign-out", &[]),
];

#[tokio::test]
async fn forms_of_others_are_refused() {
    let stage = Stage::of(&["ann", "bo"]).await;
    let mut ann = Browser::of(&stage, "ann").await;
    let mut bo = Browser::of(&stage, "bo").await;
    let origin = ann.http.base.clone();
    let own: &[(&str, &str)] = &[("origin", &origin), ("sec-fetch-site", "same-origin")];
    for (page, action, more) in FORMS {
        let fields = |form: &BTreeMap<String, String>| {
            let own = form.iter().map(|(name, value)| (name.clone(), value.clone()));
            let more = more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            Serializer::new(String::new()).extend_pairs(own.chain(more)).finish()
        };
        let mine = ann.get(page).await.is(200).form(action);
        let of_another = match page.contains("disconnect") {
            true => BTreeMap::from([("token".to_owned(), "x".to_owned())]),
            false => bo.get(page).await.is(200).form(action),
        };
        let mut of_other_form = mine.clone();
        let other = if *action == "/sign-out" { "/accounts/level" } else { "/sign-out" };
        let token = ann.get("/accounts").await.form(other)["token"].clone();
        of_other_form.insert("token".to_owned(), token);
        let bad: &[(&BTreeMap<String, String>, &[(&str, &str)])] = &[
            (&BTreeMap::new(), own),
            (&of_another, own),
            (&of_other_form, own),
            (&mine, &[("origin", "https://evil.example")]),
            (&mine, &[("origin", "null")]),
            (&mine, &[("sec-fetch-site", "cross-site")]),
            (&mine, &[("sec-fetch-site", "same-site")]),
        ];
        for (form, headers) in bad {
            let reply = ann.send("POST", action, headers, fields(form)).await;
            reply.is(403);
        }
    }
    // Nothing of it was done.
    let page = ann.get("/accounts").await.is(200);
    page.says("ann@example.com").says("<option value=\"full\" selected>");
    // The form to sign in has no session yet; where it comes from is checked.
    for headers in [[("origin", "https://evil.example")], [("sec-fetch-site", "cross-site")]] {
        let page =
            Browser::at(&stage).send("POST", "/sign-in", &headers, "bearer=ann".into()).await;
        page.is(403);
    }
}

#[tokio::test]
async fn session_is_new_at_each_sign_in_and_ends() {
    let stage = Stage::of(&["ann", "bo"]).await;
    let name = format!("session-{}", stage.address.port());
    let mut ann = Browser::at(&stage);
    ann.get("/accounts").await.is(303);
    ann.jar.insert(name.clone(), "f1:planted".to_owned());
    let form = ann.get("/sign-in").await.is(200);
    ann.submit(&form, "/sign-in", &[("bearer", "nobody")]).await.is(403).says("token is not valid");
    let page = ann.submit(&form, "/sign-in", &[("bearer", "ann")]).await.is(303);
    let cookie = page.reply.header("set-cookie").to_owned();
    for flag in ["; Path=/", "; HttpOnly", "; SameSite=Lax", "; Max-Age=28800"] {
        assert!(cookie.contains(flag), "{cookie}");
    }
    assert!(!cookie.contains("Domain"), "{cookie}");
    let first = ann.jar[&name].clone();
    assert_ne!(first, "f1:planted");
    // Another sign-in gives another session, and forms of the first do not fit it.
    let mut again = Browser::of(&stage, "ann").await;
    let form = ann.get("/accounts").await.form("/accounts/level");
    again.post("/accounts/level", &form).await.is(403);
    // No session is a changed cookie, one for another purpose or another way to sign in, one
    // whose ticket or token is unknown.
    let server = stage.app.store().for_owner("server");
    let ticket = server.for_owner(&person("ann").owner).put_ticket("session", "", 60).await;
    let ticket = ticket.unwrap();
    let made = |ticket: &str, bearer: &str| {
        let bearer = daysheet_auth::fingerprint(bearer);
        let owner = person("ann").owner;
        json!({"owner": owner, "access": "full", "bearer": bearer, "ticket": ticket}).to_string()
    };
    let seal =
        async |purpose: &str, text: String| server.seal(purpose, text.as_bytes()).await.unwrap();
    let fresh = made(&ticket, "ann");
    let mut flipped = first.clone().into_bytes();
    let middle = flipped.len() / 2;
    flipped[middle] = if flipped[middle] == b'A' { b'B' } else { b'A' };
    for bad in [
        String::from_utf8(flipped).unwrap(),
        seal("sign_in", fresh.clone()).await,
        seal("session of open", fresh.clone()).await,
        stage.app.store().seal("session of token", fresh.as_bytes()).await.unwrap(),
        seal("session of token", made("x", "ann")).await,
        seal("session of token", made(&ticket, "nobody")).await,
    ] {
        ann.jar.insert(name.clone(), bad);
        let page = ann.get("/accounts/activity?sent=2").await.is(303);
        let location = page.reply.header("location");
        assert_eq!(location, "/sign-in?return=%2Faccounts%2Factivity%3Fsent%3D2");
        ann.post("/accounts/level", &form).await.is(401);
    }
    // The same is a session if it is sealed as one: what was refused above is the seal.
    ann.jar.insert(name.clone(), seal("session of token", fresh).await);
    let page = ann.get("/accounts").await.is(200);
    // Signing out ends it for whoever has its cookie, at any instance; another goes on.
    let other = stage.another().await;
    let copy = ann.jar.clone();
    ann.submit(&page, "/sign-out", &[]).await.is(200).says("signed out");
    assert!(!ann.jar.contains_key(&name));
    for at in [&stage, &other] {
        let mut thief = Browser { jar: renamed(&copy, &stage, at), ..Browser::at(at) };
        thief.get("/accounts").await.is(303);
    }
    again.get("/accounts").await.is(200);
}

/// A listener, its address, and the settings of a server there over the state of `stage`.
async fn listening(stage: &Stage) -> (TcpListener, String, Config) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut config = stage.shared.config();
    config.http.listen_at(address).unwrap();
    config.pages = config.http.public_url.clone();
    (listener, format!("http://{address}"), config)
}

/// A session allows what its token allows now, and ends with it.
#[tokio::test]
async fn session_ends_with_its_token() {
    let stage = Stage::open().await;
    let path = stage.shared.home.path().join("tokens");
    let (token, line) = daysheet_auth::new_token(None, None).unwrap();
    let write = async |text: String| {
        std::fs::write(&path, text).unwrap();
        tokio::time::sleep(Duration::from_millis(1_050)).await;
    };
    write(line.clone()).await;
    let tokens = TokenList::open(&path).unwrap();
    let (listener, address, config) = listening(&stage).await;
    let service = Service::new(Arc::new(App::new(config)), Verifier::Known(tokens));
    tokio::spawn(service.serve(listener, std::future::pending()));
    let mut browser = Browser { http: User::nobody(&address), jar: BTreeMap::new() };
    let form = browser.get("/sign-in").await.is(200);
    browser.submit(&form, "/sign-in", &[("bearer", &token)]).await.is(303);
    let account = format!("google:{ME}");
    let disconnect = format!("/accounts/disconnect?account={account}");
    let mut forms = Vec::new();
    for (path, action, field) in [
        (disconnect.as_str(), "/accounts/disconnect", ("account", account.as_str())),
        ("/accounts/data", "/accounts/erase", ("confirm", "erase")),
        ("/accounts", "/accounts/level", ("level", "full")),
    ] {
        forms.push((browser.get(path).await.is(200), action, field));
    }
    write(format!("{line} read")).await;
    for (form, action, field) in &forms {
        browser.submit(form, action, &[*field]).await.is(403).says("does not allow this");
    }
    browser.get("/accounts").await.is(200).says(ME);
    let mut call = stage.modern(&token);
    call.http.base = browser.http.base.clone();
    let refused = call.error("mail_draft", json!({"subject": "x"})).await;
    let says = "but the token of this client allows `read`: ask the user to give this client a \
                token that allows `draft`";
    assert!(refused.contains(says), "{refused}");
    write("# withdrawn".to_owned()).await;
    browser.get("/accounts").await.is(303);
    for (form, action, field) in &forms {
        browser.submit(form, action, &[*field]).await.is(401);
    }
}

#[tokio::test]
async fn people_sign_in_at_their_issuer() {
    let issuer = TestIssuer::start().await;
    let mail = mailboxes(&["ann@example.com"]);
    let stage = Stage::start(&["ann"], &[], Some(mail), Some(issuer.settings(HERE))).await;
    let begin = async |browser: &mut Browser| {
        let page = browser.get("/sign-in?return=/inspect").await.is(303);
        assert!(page.reply.header("set-cookie").len() < 2_048);
        let url = Url::parse(page.reply.header("location")).unwrap();
        let asked: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
        assert_eq!(asked["redirect_uri"], stage.url("/sign-in/callback"));
        asked
    };
    // The issuer names this person in its next answer.
    let answer = |name: &str, asked: &BTreeMap<String, String>| {
        let claims = json!({"aud": CLIENT, "nonce": asked["nonce"], "scope": null, "name": name});
        let header = json!({"alg": "RS256", "kid": "rsa"});
        let token = sign(&header, &with(&issuer.claims(name, HERE), &claims), "rsa");
        issuer.set("/token", 200, "", json!({"id_token": token, "access_token": "x"}));
        format!("/sign-in/callback?code=x&state={}&iss={}", asked["state"], issuer.url)
    };
    let mut ann = Browser::at(&stage);
    let asked = begin(&mut ann).await;
    let back = answer("ann", &asked);
    let page = ann.get(&back).await.is(303);
    assert_eq!(page.reply.header("location"), "/inspect");
    ann.get("/accounts").await.is(200).says("Signed in as ann").says("ann@example.com");
    ann.get(&back).await.is(400).says("not started in this browser");

    // An answer that somebody else began, or that belongs to an earlier sign-in, is of no use.
    let mut bo = Browser::at(&stage);
    bo.get(&back).await.is(400);
    let asked = begin(&mut bo).await;
    let mut eve = Browser::at(&stage);
    let begun_by_eve = begin(&mut eve).await;
    let of_eve = answer("eve", &begun_by_eve);
    bo.get(&of_eve).await.is(403);
    bo.get(&answer("bo", &asked)).await.is(400);
    // Neither is one with another nonce.
    let asked = begin(&mut bo).await;
    let back = answer("bo", &asked);
    answer("bo", &begun_by_eve);
    bo.get(&back).await.is(403);
    bo.get("/accounts").await.is(303);
    // What is begun is in the browser alone: a crawler leaves no rows.
    let long = format!("/sign-in?return=/{}", "x".repeat(5_000));
    let cookie = bo.get(&long).await.is(303).reply.header("set-cookie").to_owned();
    assert!(cookie.len() < 2_048 && cookie.contains("; Max-Age=900; HttpOnly"), "{cookie}");
    let database = format!("sqlite://{}", stage.app.store().path().display());
    let mut database = sqlx::SqliteConnection::connect(&database).await.unwrap();
    let sql = "SELECT count(*) FROM tickets WHERE owner = 'server'";
    let rows: i64 = sqlx::query_scalar(sql).fetch_one(&mut database).await.unwrap();
    assert_eq!(rows, 0);
    // A token is not typed here.
    let fields = BTreeMap::from([("bearer".to_owned(), "x".to_owned())]);
    bo.post("/sign-in", &fields).await.is(400);
}

#[tokio::test]
async fn return_leads_to_no_other_host() {
    let stage = Stage::of(&["ann"]).await;
    for (asked, leads) in [
        ("/inspect", "/inspect"),
        ("/accounts/activity?sent=1", "/accounts/activity?sent=1"),
        ("https://evil.example/", "/accounts"),
        ("//evil.example/", "/accounts"),
        ("/\\evil.example/", "/accounts"),
        ("\\\\evil.example", "/accounts"),
        ("/.//evil.example", "/accounts"),
        ("/x/..//evil.example", "/accounts"),
        ("/\t/evil.example", "/accounts"),
        ("http:evil.example", "/evil.example"),
        ("javascript:alert(1)", "/accounts"),
        ("http://127.0.0.1:1/", "/accounts"),
        ("/%2f/evil.example", "/%2f/evil.example"),
        ("/a\r\nset-cookie: x=y", "/aset-cookie:%20x=y"),
    ] {
        let query = Serializer::new(String::new()).append_pair("return", asked).finish();
        let mut browser = Browser::at(&stage);
        let form = browser.get(&format!("/sign-in?{query}")).await.is(200);
        assert_eq!(form.form("/sign-in")["return"], leads, "{asked}");
        let page = browser.submit(&form, "/sign-in", &[("bearer", "ann"), ("return", asked)]).await;
        assert_eq!(page.reply.header("location"), leads, "{asked}");
        // Signed in already, it leads there at once.
        let page = browser.get(&format!("/sign-in?{query}")).await.is(303);
        assert_eq!(page.reply.header("location"), leads, "{asked}");
    }
}

#[tokio::test]
async fn pages_behind_https_have_host_cookies() {
    let stage = Stage::of(&["ann"]).await;
    let mut config = stage.shared.config();
    config.http.public_url = Some(Url::parse("https://daysheet.example/").unwrap());
    config.pages = config.http.public_url.clone();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let known = [("ann".to_owned(), person("ann"))].into_iter().collect();
    let service = Service::new(Arc::new(App::new(config)), Verifier::known(known));
    tokio::spawn(service.serve(listener, std::future::pending()));
    let mut browser = Browser { http: User::nobody(&address), jar: BTreeMap::new() };
    let headers = [("origin", "https://daysheet.example"), ("host", "daysheet.example")];
    let page = browser.send("POST", "/sign-in", &headers, "bearer=ann".to_owned()).await.is(303);
    let cookie = page.reply.header("set-cookie");
    assert!(cookie.starts_with("__Host-session="), "{cookie}");
    assert!(cookie.ends_with("; HttpOnly; SameSite=Lax; Secure"), "{cookie}");
    assert!(cookie.contains("; Path=/;") && !cookie.contains("Domain"), "{cookie}");
    browser.send("GET", "/accounts", &headers, String::new()).await.is(200);
}

#[tokio::test]
async fn pages_allow_nothing_from_elsewhere() {
    let stage = Stage::of(&["ann"]).await;
    let mut ann = Browser::of(&stage, "ann").await;
    for path in [
        "/accounts",
        "/accounts/activity",
        "/accounts/data",
        "/accounts/export",
        "/inspect",
        "/connect/google",
        "/connect/callback",
        "/sign-in",
        "/style.css",
        "/nowhere",
        "/sign-out",
        "/accounts/disconnect?account=google:ann@example.com",
    ] {
        let page = ann.get(path).await;
        let header = |name: &str| page.reply.header(name).to_owned();
        assert_eq!(
            header("content-security-policy"),
            "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; \
             frame-ancestors 'none'",
            "{path}"
        );
        assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header("referrer-policy"), "same-origin", "{path}");
        let kept = if path == "/style.css" { "max-age=3600" } else { "no-store" };
        assert_eq!(header("cache-control"), kept, "{path}");
        page.omits("<script").omits(" style=");
        // Nothing is loaded from elsewhere; an export has the scopes of accounts.
        if path != "/accounts/export" {
            page.omits("http://").omits("https://");
        }
    }
}

#[tokio::test]
async fn lowered_level_holds_for_calls() {
    let stage = Stage::of(&["ann", "bo"]).await;
    let other = stage.another().await;
    let mut ann = Browser::of(&stage, "ann").await;
    let page = ann.get("/accounts").await.is(200);
    ann.submit(&page, "/accounts/level", &[("level", "everything")]).await.is(400);
    ann.submit(&page, "/accounts/level", &[("level", "read")]).await.is(303);
    for instance in [&stage, &other] {
        let refused = instance.modern("ann").error("mail_send", json!({"id": "m1"})).await;
        let says = format!(
            "mail_send needs access `send`, but the user allows `read`: ask the user to allow more \
             on {}",
            instance.url("/accounts#level")
        );
        assert!(refused.contains(&says), "{refused}");
        let allowed = instance.modern("bo").error("mail_send", json!({"id": "m1"})).await;
        assert!(!allowed.contains("access"), "{allowed}");
    }
    let page = ann.get("/accounts").await.is(200);
    page.says("<option value=\"read\" selected>").says("<option value=\"full\">");
    ann.get("/connect/google").await.is(200).says("Read mail").omits("Everything with mail");
    ann.submit(&page, "/accounts/level", &[("level", "full")]).await.is(303);
    ann.get("/connect/google").await.is(200).says("Everything with mail");
}

#[tokio::test]
async fn level_is_never_above_the_servers() {
    let stage = Stage::set(&["ann"], &[("DAYSHEET_ACCESS", "organize")]).await;
    let mut ann = Browser::of(&stage, "ann").await;
    let page = ann.get("/accounts").await.is(200);
    page.says("<option value=\"organize\" selected>").omits("<option value=\"send\"");
    let refused = ann.submit(&page, "/accounts/level", &[("level", "full")]).await.is(400);
    refused.says("Nothing was changed: this server allows `organize` at most");
    // As low as the settings is no lower.
    ann.submit(&page, "/accounts/level", &[("level", "organize")]).await.is(303);
    let refused = stage.modern("ann").error("mail_draft", json!({"subject": "x"})).await;
    let says = "needs access `draft`, but this server has `organize`: ask the operator to \
                start it with --access draft";
    assert!(refused.contains(says), "{refused}");
}

#[tokio::test]
async fn sends_and_writes_are_shown_to_their_person_alone() {
    let stage = Stage::set(&["ann", "bo"], &[("DAYSHEET_NEW_RECIPIENTS", "allow")]).await;
    let mut call = stage.modern("ann");
    call.capabilities = json!({});
    let draft = json!({"to": ["bo@example.com"], "subject": "Secret subject", "body": "Hello"});
    let draft = call.ok("mail_draft", draft).await;
    let id = Regex::new(r"\bd\d+\b").unwrap().find(&draft).unwrap().as_str().to_owned();
    call.ok("mail_send", json!({"id": id})).await;
    let mut ann = Browser::of(&stage, "ann").await;
    let page = ann.get("/accounts/activity").await.is(200);
    page.says("<td>sent</td>")
        .says("mail_send send")
        .says("1: example.com")
        .says("ann@example.com");
    page.omits("Secret subject").omits("Older");
    let store = stage.app.store().for_owner(&person("ann").owner);
    for _ in 0..100 {
        store.append_audit("{\"tool\": \"mail_modify\"}").await.unwrap();
    }
    let page = ann.get("/accounts/activity").await.is(200);
    let older = Regex::new("href=\"([^\"]*)#log\">Older").unwrap().captures(&page.html).unwrap();
    let older = older[1].replace("&amp;", "&");
    ann.get(&older).await.is(200).says("Newer").says("mail_send send").omits(">Older");
    let mut bo = Browser::of(&stage, "bo").await;
    bo.get("/accounts/activity")
        .await
        .is(200)
        .says("No messages have been sent.")
        .says("Nothing has been changed.");
}

#[tokio::test]
async fn answer_is_inspected_in_every_form() {
    let stage = Stage::of(&["ann", "bo"]).await;
    let mut ann = Browser::of(&stage, "ann").await;
    let form = ann.get("/inspect").await.is(200);
    form.says("<option value=\"mail_search\" selected>").omits("\"mail_send\"");
    let call = [("tool", "mail_search"), ("arguments", "{\"q\": \"for\"}")];
    let page = ann.submit(&form, "/inspect", &call).await.is(200);
    for (form, text) in [
        ("toon", "messages[1\t]"),
        ("json", "&quot;messages&quot;:["),
        ("stc", "messages"),
        ("raw", "&quot;payload&quot;"),
    ] {
        page.says(&format!("id=\"form-{form}\"")).says(text);
    }
    page.says("Tokens in each format (o200k_base)").says("for ann@example.com").omits("bo@");
    let bad = [("tool", "mail_send"), ("arguments", "{\"id\": \"m1\"}")];
    ann.submit(&form, "/inspect", &bad).await.is(400).says("read-only");
    for (arguments, why) in [("[]", "not a JSON object"), ("{\"limit\": \"x\"}", "limit")] {
        let call = [("tool", "mail_search"), ("arguments", arguments)];
        ann.submit(&form, "/inspect", &call).await.is(200).says(why);
    }
}

/// What would run, if a page let it.
const SCRIPT: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>";

#[tokio::test]
async fn texts_of_others_are_never_markup() {
    let quoted = SCRIPT.replace('"', "\\\"");
    let mail = TempDir::new().unwrap();
    let headers = format!(
        "From: \"{quoted}\" <eve@example.com>\nTo: ann@example.com\nSubject: {SCRIPT}\n\
         Message-ID: <<script>@evil.example>\nMIME-Version: 1.0\n\
         Content-Type: multipart/mixed; boundary=b"
    );
    let body = format!(
        "--b\n\n{SCRIPT}\n--b\nContent-Type: application/pdf\n\
         Content-Disposition: attachment; filename=\"{quoted}.pdf\"\n\nx\n--b--\n"
    );
    write_message(&mail.path().join("ann@example.com"), "one.eml", &headers, &body);
    let stage = Stage::start(&["ann"], &[], Some(mail), None).await;
    let base = stage.shared.sandbox.base();
    let scope = "https://www.googleapis.com/auth/calendar";
    let calendars = User::at_calendar(base, "ann@example.com", scope).await;
    let calendar = calendars.post("calendars", json!({"summary": SCRIPT})).await;
    let events = format!("calendars/{}/events", urlencode(calendar["id"].as_str().unwrap()));
    let day = json!({"date": jiff::Zoned::now().date().to_string()});
    let event = json!({"summary": SCRIPT, "location": SCRIPT, "start": day, "end": day});
    calendars.post(&events, event).await;

    let mut ann = Browser::of(&stage, "ann").await;
    let check = |page: &Page| {
        page.omits("<script").omits("<img").omits("<IMG").omits("onerror=alert(1)>");
    };
    let form = ann.get("/inspect").await.is(200);
    for (tool, arguments) in [
        ("mail_search", json!({"q": "in:inbox", "fields": ["subject", "from", "snippet"]})),
        ("mail_read", json!({"ids": ["m1"]})),
        ("calendar_search", json!({"calendars": "all"})),
        ("calendar_search", json!({})),
        ("lookup", json!({"kind": "calendars"})),
        ("brief", json!({})),
        ("mail_search", json!({"q": format!("subject:{SCRIPT}</textarea>{SCRIPT}")})),
    ] {
        let call = [("tool", tool), ("arguments", &arguments.to_string())];
        let page = ann.submit(&form, "/inspect", &call).await.is(200);
        check(&page);
        if arguments.get("q").is_some() || arguments.get("kind").is_some() {
            page.says("&lt;script&gt;alert(1)");
        }
    }
    let evil = urlencode(SCRIPT);
    for path in [
        format!("/connect/microsoft?hint={evil}&mailbox={evil}&tenant={evil}"),
        format!("/connect/{evil}"),
        format!("/connect/callback?state={evil}&code={evil}"),
        format!("/accounts/disconnect?account={evil}"),
        format!("/accounts?connected={evil}"),
        format!("/accounts/activity?before={evil}"),
        format!("/sign-in?return=/{evil}"),
    ] {
        let path = path.replace('\'', "%27");
        check(&ann.get(&path).await);
        check(&Browser::at(&stage).get(&path).await);
    }
    let back = ann.consent("google", "ann@example.com", "allow").await;
    let (before, _) = back.split_once("code=").unwrap();
    check(&ann.get(&format!("{before}error={evil}&error_description={evil}")).await);
}

#[tokio::test]
async fn account_is_disconnected_after_a_question() {
    let stage = Stage::of(&["ann", "bo"]).await;
    let mut ann = Browser::of(&stage, "ann").await;
    ann.get("/accounts/disconnect?account=google:bo@example.com").await.is(404);
    let form = ann.get("/accounts/disconnect?account=google:ann@example.com").await.is(200);
    let page = ann.submit(&form, "/accounts/disconnect", &[]).await.is(200);
    page.says("ann@example.com is disconnected").says("revoked");
    ann.get("/accounts").await.is(200).says("No account is connected yet.");
    let error = stage.modern("ann").error("mail_search", json!({})).await;
    assert!(error.contains(&format!("open {}", stage.url("/accounts"))), "{error}");
    stage.modern("bo").ok("mail_search", json!({})).await;
}

#[tokio::test]
async fn person_downloads_and_erases_their_data() {
    let stage = Stage::of(&["ann", "bo"]).await;
    for name in ["ann", "bo"] {
        stage.modern(name).ok("mail_search", json!({"q": "for"})).await;
        stage.modern(name).ok("mail_modify", json!({"ids": ["m1"], "do": "read"})).await;
    }
    let mut ann = Browser::of(&stage, "ann").await;
    let form = ann.get("/accounts/data").await.is(200);
    let export = ann.get("/accounts/export").await.is(200);
    let disposition = export.reply.header("content-disposition");
    assert_eq!(disposition, "attachment; filename=\"daysheet.json\"");
    assert_eq!(export.reply.json()["accounts"][0]["email"], "ann@example.com");
    export.says("mail_modify").omits("bo@example.com").omits("\"sealed\"");
    for word in ["", "yes", "erase everything"] {
        let page = ann.submit(&form, "/accounts/erase", &[("confirm", word)]).await.is(200);
        page.says("Nothing was erased");
    }
    let page = ann.submit(&form, "/accounts/erase", &[("confirm", "Erase")]).await.is(200);
    page.says("ann@example.com: the grant is revoked");
    assert!(ann.jar.is_empty(), "{:?}", ann.jar);
    let mut again = Browser::of(&stage, "ann").await;
    again.get("/accounts").await.is(200).says("No account is connected yet.");
    again.get("/accounts/activity").await.is(200).says("Nothing has been changed.");
    let left = again.get("/accounts/export").await.is(200);
    left.omits("ann@example.com").omits("mail_modify");
    let mut bo = Browser::of(&stage, "bo").await;
    bo.get("/accounts/activity").await.is(200).says("mail_modify");
    stage.modern("bo").ok("mail_search", json!({"q": "for"})).await;
}

/// What a call writes that runs while everything is erased is erased, too.
#[tokio::test]
async fn erasing_leaves_nothing_of_running_calls() {
    let stage = Stage::of(&["ann"]).await;
    let mut ann = Browser::of(&stage, "ann").await;
    let form = ann.get("/accounts/data").await.is(200);
    let call = stage.modern("ann");
    // It has two round trips, and then keeps handles; to revoke the grant takes one.
    stage.shared.sandbox.set_faults("delay=500ms".parse().unwrap());
    let erase = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        ann.submit(&form, "/accounts/erase", &[("confirm", "erase")]).await.is(200)
    };
    let (_, erased) = tokio::join!(call.call("mail_search", json!({"q": "for"})), erase);
    erased.says("Everything that Daysheet stored for you has been deleted.");
    let left = stage.app.store().for_owner(&person("ann").owner).export().await.unwrap();
    let lists = left.as_object().unwrap().iter().filter(|(_, rows)| rows.is_array());
    for (table, rows) in lists {
        assert_eq!(rows, &json!([]), "{table}");
    }
}

/// Requests that no page answers are told so in words.
#[tokio::test]
async fn missing_pages_say_so() {
    let stage = Stage::of(&["ann"]).await;
    let mut browser = Browser::at(&stage);
    for (method, path, status, says) in [
        ("GET", "/nowhere", 404, "There is no such page."),
        ("POST", "/accounts/nowhere", 404, "There is no such page."),
        ("GET", "/sign-out", 405, "cannot be opened in this way"),
        ("DELETE", "/accounts", 405, "cannot be opened in this way"),
    ] {
        let page = browser.send(method, path, &[], String::new()).await.is(status);
        page.says(says).says("href=\"/accounts\"");
        assert_eq!(page.reply.header("allow").is_empty(), status == 404, "{path}");
    }
}

#[tokio::test]
async fn call_to_add_an_account_leads_to_its_page() {
    let stage = Stage::of(&["ann"]).await;
    let add = json!({"op": "add", "provider": "google", "account": "ann+1@example.com"});
    let answer = stage.modern("ann").ok("accounts", add).await;
    let page = stage.url("/connect/google?hint=ann%2B1%40example.com");
    assert!(answer.contains(&format!("ask the user to open {page} and sign in")), "{answer}");
    let mut ann = Browser::of(&stage, "ann").await;
    let path = page.strip_prefix(&stage.url("")).unwrap();
    let form = ann.get(path).await.is(200).form("/connect/google");
    assert_eq!(form["hint"], "ann+1@example.com");
    // A code to be typed elsewhere would connect the mailbox of whoever types it.
    for op in [
        json!({"op": "add", "provider": "microsoft", "flow": "device"}),
        json!({"op": "reauth", "account": "ann@example.com", "flow": "device"}),
    ] {
        let answer = stage.modern("ann").ok("accounts", op).await;
        assert!(answer.contains(&stage.url("/connect/")), "{answer}");
        assert!(!answer.contains("code"), "{answer}");
    }
    for (add, why) in [
        (json!({"op": "add", "provider": "google", "mailbox": "b@example.com"}), "Gmail cannot"),
        (json!({"op": "add", "provider": "microsoft", "mailbox": "b"}), "not an address"),
    ] {
        let error = stage.modern("ann").error("accounts", add).await;
        assert!(error.contains(why), "{error}");
    }
}

/// The result of a call that adds an account, by a client that can show pages.
async fn add_shown(stage: &Stage, more: serde_json::Value) -> serde_json::Value {
    let mut caller = stage.modern("ann");
    caller.capabilities = json!({"elicitation": {"url": {}}});
    let mut params = json!({
        "name": "accounts", "arguments": {"op": "add", "provider": "google"},
    });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    let reply = caller.send("tools/call", params).await;
    crate::stage::message(&reply)["result"].clone()
}

#[tokio::test]
async fn client_that_shows_pages_is_given_the_page() {
    let stage = Stage::of(&["ann"]).await;
    let other = stage.another().await;
    for (action, says) in [("accept", "the user was shown"), ("decline", "the user declined")] {
        let asked = add_shown(&stage, json!({})).await;
        let question = &asked["inputRequests"]["confirm"];
        assert_eq!(question["params"]["mode"], "url", "{asked}");
        assert_eq!(question["params"]["url"], stage.url("/connect/google"), "{asked}");
        let answer = json!({
            "requestState": asked["requestState"],
            "inputResponses": {"confirm": {"action": action}},
        });
        // The page of another instance would be another here, which has another address.
        let again = add_shown(&other, answer.clone()).await;
        assert_eq!(again["inputRequests"]["confirm"]["params"]["mode"], "url", "{again}");
        let asked = add_shown(&stage, json!({})).await;
        let answer = json!({
            "requestState": asked["requestState"],
            "inputResponses": {"confirm": {"action": action}},
        });
        let answered = add_shown(&stage, answer).await;
        assert!(answered.to_string().contains(says), "{answered}");
    }
}

#[tokio::test]
async fn server_without_tokens_signs_in_its_one_person() {
    let stage = Stage::open().await;
    let mut browser = Browser::at(&stage);
    let form = browser.get("/sign-in").await.is(200);
    browser.submit(&form, "/sign-in", &[]).await.is(303);
    browser.get("/accounts").await.is(200).says(ME).says("never");
    // Their audit log is a file.
    let call = stage.modern("");
    call.ok("mail_search", json!({"limit": 1})).await;
    call.ok("mail_modify", json!({"ids": ["m1"], "do": "trash"})).await;
    browser.get("/accounts/activity").await.is(200).says("mail_modify").says(ME);
    browser.get("/accounts").await.is(200).omits("never");
}

/// Pages are limited as calls are, and neither takes the other's share.
#[tokio::test]
async fn pages_have_limits_of_their_own() {
    let settings = [("DAYSHEET_LIMITS_CALLS_PER_MINUTE", "3")];
    let stage = Stage::set(&["ann", "bo"], &settings).await;
    let mut ann = Browser::of(&stage, "ann").await;
    for path in ["/accounts", "/inspect", "/accounts/export"] {
        ann.get(path).await.is(200);
    }
    let page = ann.get("/connect/google").await.is(429);
    page.says("Too many of your pages").says(" s and open it again");
    let wait = page.reply.header("retry-after");
    assert!((15..=20).contains(&wait.parse().unwrap()), "{wait}");
    let (call, mut bo) = (stage.modern("bo"), Browser::of(&stage, "bo").await);
    stage.modern("ann").ok("mail_search", json!({})).await;
    for _ in 0..3 {
        call.ok("mail_search", json!({})).await;
    }
    call.error("mail_search", json!({})).await;
    bo.get("/accounts").await.is(200);
}

#[tokio::test]
async fn link_signs_in_once() {
    let stage = Stage::open().await;
    let (listener, address, config) = listening(&stage).await;
    let app = Arc::new(App::new(config));
    let link = daysheet::http::pages::link(app.store()).await.unwrap();
    tokio::spawn(Service::of_pages(app).serve(listener, std::future::pending()));
    let browser = || Browser { http: User::nobody(&address), jar: BTreeMap::new() };
    let mut mira = browser();
    mira.get("/sign-in").await.is(200).says("daysheet ui");
    mira.get("/sign-in?link=x").await.is(403);
    mira.post("/sign-in", &BTreeMap::new()).await.is(400);
    mira.get(&link).await.is(303);
    mira.get("/accounts").await.is(200).says(ME);
    browser().get(&link).await.is(403).says("already used");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    assert_eq!(mira.http.send("POST", "/mcp", &[], call).await.status, 401);
}
