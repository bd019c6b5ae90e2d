//! The pages, as a browser without scripts uses them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use url::Url;
use url::form_urlencoded::Serializer;

use crate::browser::{Browser, Page, renamed};
use crate::common::clock;
use crate::common::messages::write_message;
use crate::stage::{Stage, User, person};

#[tokio::test]
async fn accounts_of_both_providers_are_connected() {
    let stage = Stage::of(&["ann", "bo"]).await;
    let mut ann = Browser::of(&stage, "ann").await;
    ann.get("/accounts").await.is(200).says("ann@example.com").omits("bo@example.com");
    for provider in ["google", "microsoft"] {
        let back = ann.consent(provider, "bo@example.com", "allow").await;
        ann.back(&back).await.says("account connected: bo@example.com.").says("id=\"connected\"");
        ann.get(&back).await.is(400).says("already finished");
    }
    let list = ann.get("/accounts").await.is(200);
    // Programs need a token here, which no link carries.
    list.omits("Add to Cursor");
    list.says("Microsoft").says("Read, organize and draft mail").says("Read and change calendars");
    let accounts = stage.modern("ann").ok("accounts", json!({})).await;
    assert!(accounts.contains("accounts: 3"), "{accounts}");
    let mut bo = Browser::of(&stage, "bo").await;
    bo.get("/accounts").await.is(200).omits("ann@").omits("Microsoft ·");
}

/// The browser disconnects while the code is exchanged; the grant is kept nevertheless.
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
    ann.back(&back).await.says("account connected: bo@example.com.");
    let mut second = Browser::of(&stage, "ann").await;
    let mut first = Browser::of(&stage, "ann").await;
    let back = first.consent("google", "bo@example.com", "allow").await;
    second.get(&back).await.is(400);
    first.get(&back).await.is(400);
}

#[tokio::test]
async fn refused_or_foreign_answers_connect_nothing() {
    let stage = Stage::of(&["ann", "bo"]).await;
    let mut ann = Browser::of(&stage, "ann").await;
    let back = ann.consent("google", "bo@example.com", "deny").await;
    ann.back(&back)
        .await
        .says("Not connected: Google refused the sign-in: the consent was denied")
        .says("show this to the operator")
        .omits("daysheet account add");
    let back = ann.consent("microsoft", "bo@example.com", "deny").await;
    ann.back(&back).await.says("Not connected");
    // A code of one provider is not handed to the other.
    let back = ann.consent("google", "bo@example.com", "allow").await;
    ann.back(&format!("{back}&iss=https://evil.example")).await.says("another provider");
    // A code from another sign-in does not fit the verifier of this one.
    let code = |path: &str| {
        let url = Url::parse(&format!("http://x{path}")).unwrap();
        url.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned()
    };
    let one = ann.consent("google", "bo@example.com", "allow").await;
    let two = ann.consent("google", "ann@example.com", "allow").await;
    let mixed = one.replace(&urlencode(&code(&one)), &urlencode(&code(&two)));
    ann.back(&mixed).await.says("Not connected");
    ann.get("/connect/callback?state=&code=x").await.is(400);
    ann.get("/connect/callback").await.is(400);
    ann.get("/connect/evil").await.is(400);
    ann.get("/accounts").await.is(200).omits("bo@example.com");
}

fn urlencode(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Every form, with fields that it would accept.
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
        let of_another = if page.contains("disconnect") {
            BTreeMap::from([("token".to_owned(), "x".to_owned())])
        } else {
            bo.get(page).await.is(200).form(action)
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
        "/icon.svg",
        "/nowhere",
        "/sign-out",
        "/accounts/disconnect?account=google:ann@example.com",
    ] {
        let page = ann.get(path).await;
        let header = |name: &str| page.reply.header(name).to_owned();
        assert_eq!(
            header("content-security-policy"),
            "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
             frame-ancestors 'none'",
            "{path}"
        );
        assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header("referrer-policy"), "same-origin", "{path}");
        let kept =
            if ["/style.css", "/icon.svg"].contains(&path) { "max-age=3600" } else { "no-store" };
        assert_eq!(header("cache-control"), kept, "{path}");
        page.omits("<script").omits(" style=");
        // Nothing is loaded from elsewhere; an export has the scopes of accounts, and the icon the
        // name of its format.
        if !["/accounts/export", "/icon.svg"].contains(&path) {
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

/// Markup that would run if a page did not escape it.
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
    let day = json!({"date": clock::now().to_zoned(jiff::tz::TimeZone::UTC).date().to_string()});
    let event = json!({"summary": SCRIPT, "location": SCRIPT, "start": day, "end": day});
    calendars.post(&events, event).await;

    let mut ann = Browser::of(&stage, "ann").await;
    let check = |page: &Page| {
        page.omits("<script").omits("<img src=x").omits("<IMG").omits("onerror=alert(1)>");
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
    bo.get("/accounts/activity").await.is(200).says("Marked a message as read");
    stage.modern("bo").ok("mail_search", json!({"q": "for"})).await;
}

/// Rows written by a call that runs during an erasure are erased, too.
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

/// Requests that no page answers get a sentence.
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

/// Returns the result of a call that adds an account, by a client that can show pages.
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

/// Pages are limited like calls, and neither uses up the other's share.
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
