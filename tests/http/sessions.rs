//! Signing in to the pages, and out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use daysheet::app::App;
use daysheet::config::Config;
use daysheet::deeplinks::{DeeplinkClient, ServerStart};
use daysheet::http::{self, HttpState};
use daysheet::store::TicketKind;
use daysheet_auth::{TokenList, TokenVerifier};
use serde_json::json;
use sqlx::Connection;
use tokio::net::TcpListener;
use url::Url;
use url::form_urlencoded::Serializer;

use crate::browser::{Browser, renamed};
use crate::common::issuer::{CLIENT, TestIssuer, sign, with};
use crate::common::messages::mailboxes;
use crate::stage::{ME, Stage, User, person};

/// The audience of the issuer's tokens.
const HERE: &str = "https://mail.example/mcp";

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
    let ticket =
        server.for_owner(&person("ann").owner).put_ticket(TicketKind::PageSession, "", 60).await;
    let ticket = ticket.unwrap();
    let made = |ticket: &str, bearer: &str| {
        let bearer = daysheet_auth::fingerprint(bearer);
        let owner = person("ann").owner;
        json!({"owner": owner, "access": "full", "bearer": bearer, "ticket": ticket}).to_string()
    };
    let seal = async |purpose: &str, text: String| {
        server.seal(purpose, text.as_bytes()).await.unwrap().as_str().to_owned()
    };
    let fresh = made(&ticket, "ann");
    let mut flipped = first.clone().into_bytes();
    let middle = flipped.len() / 2;
    flipped[middle] = if flipped[middle] == b'A' { b'B' } else { b'A' };
    for bad in [
        String::from_utf8(flipped).unwrap(),
        seal("sign_in", fresh.clone()).await,
        seal("session of open", fresh.clone()).await,
        stage
            .app
            .store()
            .seal("session of token", fresh.as_bytes())
            .await
            .unwrap()
            .as_str()
            .to_owned(),
        seal("session of token", made("x", "ann")).await,
        seal("session of token", made(&ticket, "nobody")).await,
    ] {
        ann.jar.insert(name.clone(), bad);
        let page = ann.get("/accounts/activity?kind=sent").await.is(303);
        let location = page.reply.header("location");
        assert_eq!(location, "/sign-in?return=%2Faccounts%2Factivity%3Fkind%3Dsent");
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

/// Returns a listener, its address, and the settings of a server there over the state of `stage`.
async fn listening(stage: &Stage) -> (TcpListener, String, Config) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut config = stage.shared.config();
    config.http.listen_at(address).unwrap();
    config.pages = config.http.public_url.clone();
    (listener, format!("http://{address}"), config)
}

/// A session has the current access level of its token, and ends with it.
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
    let service = HttpState::new(Arc::new(App::new(config)), TokenVerifier::Known(tokens));
    tokio::spawn(http::serve(service, listener, || (), std::future::pending()));
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
    bo.post("/sign-in", &fields).await.is(404);
}

#[tokio::test]
async fn return_leads_to_no_other_host() {
    let stage = Stage::of(&["ann"]).await;
    for (asked, leads) in [
        ("/inspect", "/inspect"),
        ("/accounts/activity?kind=sent", "/accounts/activity?kind=sent"),
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
    let service = HttpState::new(Arc::new(App::new(config)), TokenVerifier::known(known));
    tokio::spawn(http::serve(service, listener, || (), std::future::pending()));
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
async fn server_without_tokens_signs_in_its_one_person() {
    let stage = Stage::open().await;
    let mut browser = Browser::at(&stage);
    let form = browser.get("/sign-in").await.is(200);
    browser.submit(&form, "/sign-in", &[]).await.is(303);
    let page = browser.get("/accounts").await.is(200);
    let link = goose(ServerStart::Url(stage.url("/mcp")));
    page.says(ME).says("Never used").says(&link);
    // Their audit log is a file.
    let call = stage.modern("");
    call.ok("mail_search", json!({"limit": 1})).await;
    call.ok("mail_modify", json!({"ids": ["m1"], "do": "trash"})).await;
    browser.get("/accounts/activity").await.is(200).says("Moved a message to the trash").says(ME);
    browser.get("/accounts").await.is(200).omits("Never used");
}

/// Returns Goose's link as pages have it.
fn goose(start: ServerStart) -> String {
    DeeplinkClient::Goose.link(&start).replace('&', "&amp;")
}

#[tokio::test]
async fn link_signs_in_once() {
    let stage = Stage::open().await;
    let (listener, address, config) = listening(&stage).await;
    let app = Arc::new(App::new(config));
    let link = daysheet::http::pages::link(app.store(), "/accounts").await.unwrap();
    tokio::spawn(http::serve(HttpState::of_pages(app), listener, || (), std::future::pending()));
    let browser = || Browser { http: User::nobody(&address), jar: BTreeMap::new() };
    let mut mira = browser();
    mira.get("/sign-in").await.is(200).says("daysheet ui");
    mira.get("/sign-in?link=x").await.is(403);
    mira.post("/sign-in", &BTreeMap::new()).await.is(404);
    mira.get(&link).await.is(303);
    // A client starts the program that serves the page.
    let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let args = vec!["serve".to_owned()];
    let start = ServerStart::Program { program, args, env: Vec::new() };
    mira.get("/accounts").await.is(200).says(ME).says(&goose(start));
    browser().get(&link).await.is(403).says("already used");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    assert_eq!(mira.http.send("POST", "/mcp", &[], call).await.status, 401);
}

/// The session still exists when the database is back.
#[tokio::test]
async fn failing_database_signs_nobody_out() {
    let stage = Stage::of(&["ann"]).await;
    let mut ann = Browser::of(&stage, "ann").await;
    let database = stage.shared.home.path().join("daysheet.db");
    for end in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", database.display()));
    }
    std::fs::write(&database, "no database at all".repeat(999)).unwrap();
    let other = stage.another().await;
    ann.http = User::nobody(&other.url(""));
    ann.jar = renamed(&ann.jar, &stage, &other);
    for path in ["/accounts", "/sign-in"] {
        ann.get(path).await.is(503).says("its log says why").omits(".db");
    }
    assert!(!ann.jar.is_empty());
}

/// People cannot set up a provider whose client the server lacks.
#[tokio::test]
async fn provider_without_a_client_is_not_offered() {
    let stage = Stage::of(&["ann"]).await;
    let (listener, origin, mut config) = listening(&stage).await;
    config.microsoft.id = None;
    let people = [("ann".to_owned(), person("ann"))].into_iter().collect();
    let service = HttpState::new(Arc::new(App::new(config)), TokenVerifier::known(people));
    tokio::spawn(http::serve(service, listener, || (), std::future::pending()));
    let mut ann = Browser { http: User::nobody(&origin), jar: BTreeMap::new() };
    let form = ann.get("/sign-in").await.is(200);
    ann.submit(&form, "/sign-in", &[("bearer", "ann")]).await.is(303);
    ann.get("/accounts").await.is(200).says("connect-google").omits("connect-microsoft");
    ann.get("/connect/microsoft").await.is(403).says("ask its operator").omits("DAYSHEET_");
}
