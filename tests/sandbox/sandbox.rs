//! The sandbox's Google half, from outside: sign-in, routes, search, masks, pages, hostile mail,
//! faults.
//!
//! All requests go over HTTP, as in the rest of the program. The interop tests compare the sandbox
//! with contracts that others wrote; these tests cannot tell how close it is to the real service.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use daysheet_core::error::ErrorKind;
use daysheet_sandbox::{FaultRates, Sandbox, SandboxOptions};
use flate2::read::GzDecoder;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::client::{ALLOW, GOOGLE, ME, Reply, User, VERIFIER, encoded, form};
use crate::common::clock;

const READONLY: &str = "https://www.googleapis.com/auth/gmail.readonly";

// The client's side -------------------------------------------------------

async fn signed_in(sandbox: &Sandbox, address: &str) -> User {
    User::at_gmail(sandbox.base(), address, READONLY).await
}

impl User {
    /// Returns the status and message of an error in Google's shape.
    async fn error(&self, path: &str) -> (u16, String) {
        let reply = self.get(path).await;
        let body = reply.json();
        assert_eq!(body["error"]["code"], reply.status, "{path}");
        assert!(body["error"]["errors"][0]["reason"].is_string(), "{path}");
        assert!(body["error"]["status"].is_string(), "{path}");
        (reply.status, body["error"]["message"].as_str().unwrap().to_owned())
    }

    async fn authorize(&self, changes: &[(&str, &str)], headers: &[(&str, &str)]) -> Reply {
        let changes = [&[("scope", READONLY), ("login_hint", ME)], changes].concat();
        self.send("GET", &GOOGLE.authorization(&changes, false), headers, "").await
    }

    async fn token(&self, changes: &[(&str, &str)]) -> Reply {
        self.send("POST", GOOGLE.token, &[], GOOGLE.token_request(changes)).await
    }
}

async fn sandbox(dir: &Path) -> Sandbox {
    let options =
        SandboxOptions { mail: Some(dir.to_owned()), ..SandboxOptions::new(clock::clock()) };
    Sandbox::start(options).await.unwrap()
}

/// Returns a folder of messages for [`ME`], by file name.
fn folder(messages: &[(&str, &str)]) -> TempDir {
    let dir = TempDir::new().unwrap();
    let mine = dir.path().join(ME);
    fs::create_dir(&mine).unwrap();
    for (name, message) in messages {
        fs::write(mine.join(format!("{name}.eml")), message).unwrap();
    }
    dir
}

/// Returns the message resource of a mailbox's only message.
async fn only_message(message: &str) -> (Value, Sandbox, User) {
    let dir = folder(&[("only", message)]);
    let sandbox = sandbox(dir.path()).await;
    assert_eq!(sandbox.report().skipped, []);
    let user = signed_in(&sandbox, ME).await;
    let list = user.json("messages?includeSpamTrash=true").await;
    let id = list["messages"][0]["id"].as_str().unwrap().to_owned();
    let message = user.json(&format!("messages/{id}")).await;
    (message, sandbox, user)
}

fn decoded(data: &Value) -> Vec<u8> {
    URL_SAFE.decode(data.as_str().unwrap()).unwrap()
}

// Compression -------------------------------------------------------------

/// Google compresses for clients that accept gzip and have "gzip" in their user agent, Graph for
/// all that accept it. Short responses are not compressed.
#[tokio::test]
async fn long_answers_are_compressed_where_the_services_do_it() {
    let sandbox = Sandbox::start(SandboxOptions::new(clock::clock())).await.unwrap();
    let google = signed_in(&sandbox, ME).await;
    let graph = User::at_graph(sandbox.base(), ME, "https://graph.microsoft.com/Mail.Read").await;
    let (long, short) = ("messages?maxResults=50", "messages?maxResults=1");
    let (whole, one) = ("me/messages?$top=50", "me/messages?$top=1&$select=id");
    let cases = [
        (&google, long, "gzip", "mail (gzip)", true),
        (&google, long, "br, gzip;q=0.5, *", "gzip", true),
        (&google, long, "gzip", "mail", false),
        (&google, long, "identity", "mail (gzip)", false),
        (&google, short, "gzip", "mail (gzip)", false),
        (&graph, whole, "deflate, gzip", "mail", true),
        (&graph, whole, "br", "mail (gzip)", false),
        (&graph, one, "gzip", "mail", false),
    ];
    for (user, path, accepted, agent, expected) in cases {
        let plain = user.get(path).await;
        assert!(plain.headers.get("content-encoding").is_none(), "{path}");
        let headers = [("accept-encoding", accepted), ("user-agent", agent)];
        let reply = user.bearing("GET", path, &headers, "").await;
        let coded = reply.headers.get("content-encoding").is_some_and(|coding| coding == "gzip");
        assert_eq!(coded, expected, "{path} {headers:?}");
        let mut text = reply.body.to_vec();
        if coded {
            text.clear();
            GzDecoder::new(&*reply.body).read_to_end(&mut text).unwrap();
            assert!(reply.body.len() < text.len() / 2, "{path}: {}", reply.body.len());
        }
        assert!(text == *plain.body, "{path} {headers:?}");
    }
}

// Sign-in -----------------------------------------------------------------

#[tokio::test]
async fn sign_in_by_header_returns_tokens() {
    let dir = folder(&[("a", "From: a@x\nSubject: hi\n\nhello\n")]);
    let sandbox = sandbox(dir.path()).await;
    assert_eq!(sandbox.addresses(), [ME]);
    let user = User::nobody(sandbox.base());
    let back = user.authorize(&[], ALLOW).await;
    assert_eq!((back.status, &*back.location()["state"]), (302, "st&te"));
    assert_eq!(back.location()["scope"], READONLY);
    let code = back.location()["code"].clone();
    let reply = user.token(&[("code", &code)]).await;
    let tokens = reply.json();
    assert_eq!(reply.header("cache-control"), "no-cache, no-store, max-age=0");
    assert_eq!(tokens["token_type"], "Bearer");
    assert_eq!(tokens["expires_in"], 3_600);
    assert_eq!(tokens["scope"], READONLY);
    assert!(tokens["access_token"].as_str().unwrap().starts_with("ya29."));
    let again = user.token(&[("code", &code)]).await;
    assert_eq!((again.status, again.json()["error"].clone()), (400, json!("invalid_grant")));

    let refresh = tokens["refresh_token"].as_str().unwrap();
    let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh)];
    let fresh = user.token(&fields).await.json();
    assert!(fresh["refresh_token"].is_null());
    assert_ne!(fresh["access_token"], tokens["access_token"]);

    let back = user.authorize(&[("access_type", "online")], ALLOW).await;
    let online = user.token(&[("code", &back.location()["code"])]).await;
    assert_eq!((online.status, &online.json()["refresh_token"]), (200, &Value::Null));
    // PKCE and a state are recommended, and neither is required.
    let bare = [("code_challenge", ""), ("code_challenge_method", ""), ("state", "")];
    for (verifier, status, why) in
        [("", 200, Value::Null), (VERIFIER, 400, json!("code_verifier or verifier is not needed."))]
    {
        let back = user.authorize(&bare, ALLOW).await.location();
        assert_eq!(back.get("state"), None);
        let reply = user.token(&[("code", &back["code"]), ("code_verifier", verifier)]).await;
        assert_eq!((reply.status, &reply.json()["error_description"]), (status, &why));
    }
    let denied = user.authorize(&[], &[("x-sandbox-consent", "deny")]).await;
    assert_eq!(denied.location()["error"], "access_denied");
    assert_eq!(denied.location()["state"], "st&te");
}

#[tokio::test]
async fn sign_in_by_page_returns_tokens() {
    let dir = folder(&[("a", "From: a@x\nSubject: hi\n\nhello\n")]);
    let other = dir.path().join("zoe@example.com");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("z.eml"), "From: z@x\nSubject: zed\n\nhello\n").unwrap();
    let sandbox = sandbox(dir.path()).await;
    let user = User::nobody(sandbox.base()).with_gmail();
    let evil = [("login_hint", "zoe@example.com"), ("client_id", "<script>")];
    let page = user.authorize(&evil, &[]).await;
    assert_eq!(page.status, 200);
    let text = page.text();
    assert!(text.contains("value=\"zoe@example.com\" checked"), "{text}");
    assert!(text.contains("&lt;script&gt;") && !text.contains("<script>"), "{text}");
    let ticket = text.split("name=request value=\"").nth(1).unwrap();
    let ticket = ticket.split('"').next().unwrap();
    let fields = form([("request", ticket), ("mailbox", "zoe@example.com"), ("decision", "allow")]);
    let back = user.send("POST", "/o/oauth2/v2/consent", &[], &fields).await;
    let code = back.location()["code"].clone();
    let tokens = user.token(&[("code", &code), ("client_id", "<script>")]).await.json();
    let mut user = user;
    user.token = tokens["access_token"].as_str().unwrap().to_owned();
    assert_eq!(user.json("profile").await["emailAddress"], "zoe@example.com");
    let again = user.send("POST", "/o/oauth2/v2/consent", &[], &fields).await;
    assert_eq!(again.status, 400);
    // A hint of nobody shows the page even with the header.
    let page = user.authorize(&[("login_hint", "x@y")], ALLOW).await;
    assert_eq!(page.status, 200);
}

#[tokio::test]
async fn invalid_authorization_requests_are_refused() {
    let dir = folder(&[("a", "From: a@x\n\nhello\n")]);
    let sandbox = sandbox(dir.path()).await;
    let user = User::nobody(sandbox.base());
    for (change, why) in [
        (("client_id", ""), "client_id"),
        (("redirect_uri", ""), "redirect_uri"),
        (("redirect_uri", "http://evil.example/"), "redirect_uri_mismatch"),
        (("redirect_uri", "https://127.0.0.1/"), "redirect_uri_mismatch"),
        (("redirect_uri", "http://127.0.0.1.evil.example/"), "redirect_uri_mismatch"),
        (("response_type", "token"), "unsupported_response_type"),
        (("scope", ""), "scope"),
        (("scope", "gmail.readonly"), "invalid_scope"),
        (("code_challenge", "short"), "code_challenge"),
        (("code_challenge_method", "plain"), "S256"),
    ] {
        let reply = user.authorize(&[change], ALLOW).await;
        assert_eq!(reply.status, 400, "{change:?}");
        assert!(reply.text().contains(why), "{change:?}: {}", reply.text());
        assert_eq!(reply.header("location"), "");
    }
}

#[tokio::test]
async fn invalid_token_requests_are_refused() {
    let dir = folder(&[("a", "From: a@x\n\nhello\n")]);
    let sandbox = sandbox(dir.path()).await;
    let user = User::nobody(sandbox.base());
    for (change, status, error) in [
        (("code", "4/0Awrong"), 400, "invalid_grant"),
        (("code", ""), 400, "invalid_request"),
        (("redirect_uri", ""), 400, "invalid_request"),
        (("redirect_uri", "http://127.0.0.1:9/other"), 400, "redirect_uri_mismatch"),
        (("client_id", ""), 401, "invalid_client"),
        (("client_id", "other"), 401, "unauthorized_client"),
        (("code_verifier", ""), 400, "invalid_grant"),
        (("code_verifier", "not-the-verifier"), 400, "invalid_grant"),
        (("grant_type", "password"), 400, "unsupported_grant_type"),
        (("grant_type", ""), 400, "invalid_request"),
        (("grant_type", "refresh_token"), 400, "invalid_request"),
    ] {
        let back = user.authorize(&[], ALLOW).await;
        let code = back.location()["code"].clone();
        let reply = user.token(&[("code", &code), change]).await;
        assert_eq!((reply.status, &reply.json()["error"]), (status, &json!(error)), "{change:?}");
        assert!(reply.json()["error_description"].is_string());
    }
    let fields = [("grant_type", "refresh_token"), ("refresh_token", "1//0no")];
    let reply = user.token(&fields).await;
    let why = "Token has been expired or revoked.";
    assert_eq!(reply.json(), json!({"error": "invalid_grant", "error_description": why}));
}

#[tokio::test]
async fn invalid_assertions_are_refused() {
    let dir = folder(&[("a", "From: a@x\n\nhello\n")]);
    let sandbox = sandbox(dir.path()).await;
    let user = User::nobody(sandbox.base());
    let key = include_bytes!("../fixtures/service_account.pem");
    let key = jsonwebtoken::EncodingKey::from_rsa_pem(key).unwrap();
    let header = jsonwebtoken::Header::new(jsonwebtoken::Algorithm::RS256);
    let now = clock::now().as_second();
    for (change, error) in [
        (json!({}), Value::Null),
        (json!({"iss": "other@sandbox.iam.gserviceaccount.com"}), json!("invalid_grant")),
        (json!({"sub": "nobody@example.com"}), json!("invalid_grant")),
        (json!({"aud": "https://example.com/"}), json!("invalid_grant")),
        (json!({"exp": now + 4_000}), json!("invalid_grant")),
        (json!({"exp": now - 600, "iat": now - 900}), json!("invalid_grant")),
        (json!({"scope": "gmail.readonly"}), json!("invalid_scope")),
    ] {
        let mut claims = json!({
            "iss": "daysheet@sandbox.iam.gserviceaccount.com", "sub": ME, "scope": READONLY,
            "aud": "https://oauth2.googleapis.com/token", "iat": now, "exp": now + 600,
        });
        claims.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let assertion = jsonwebtoken::encode(&header, &claims, &key).unwrap();
        let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
        let send = async |assertion: &str| {
            let fields = form([("grant_type", grant), ("assertion", assertion)]);
            user.send("POST", GOOGLE.token, &[], fields).await.json()
        };
        let reply = send(&assertion).await;
        assert_eq!(reply["error"], error, "{change} {reply}");
        assert_eq!(reply["access_token"].is_string(), error.is_null());
        let (signed, _) = assertion.rsplit_once('.').unwrap();
        assert_eq!(send(&format!("{signed}.AAAA")).await["error"], "invalid_grant");
    }
}

#[tokio::test]
async fn tokens_expire_and_can_be_revoked() {
    let dir = folder(&[("a", "From: a@x\n\nhello\n")]);
    let sandbox = sandbox(dir.path()).await;
    let mut user = User::nobody(sandbox.base()).with_gmail();
    let tokens = user.sign_in(&GOOGLE, ME, READONLY).await;
    let refresh = tokens["refresh_token"].as_str().unwrap().to_owned();
    let fields = [("grant_type", "refresh_token"), ("refresh_token", &*refresh)];
    user.token = tokens["access_token"].as_str().unwrap().to_owned();
    assert_eq!(user.get("profile").await.status, 200);

    sandbox.expire_access_tokens();
    let reply = user.get("profile").await;
    assert_eq!(reply.status, 401);
    assert!(reply.header("www-authenticate").contains("invalid_token"));
    let error = &reply.json()["error"];
    assert_eq!(error["status"], "UNAUTHENTICATED");
    assert_eq!(error["errors"][0]["reason"], "authError");
    assert_eq!(error["errors"][0]["message"], "Invalid Credentials");
    user.token = user.token(&fields).await.json()["access_token"].as_str().unwrap().to_owned();
    assert_eq!(user.get("profile").await.status, 200);

    sandbox.revoke_all();
    assert_eq!(user.get("profile").await.status, 401);
    assert_eq!(user.token(&fields).await.json()["error"], "invalid_grant");

    let tokens = user.sign_in(&GOOGLE, ME, READONLY).await;
    let refresh = tokens["refresh_token"].as_str().unwrap();
    user.token = tokens["access_token"].as_str().unwrap().to_owned();
    let revoke = form([("token", refresh)]);
    let reply = user.send("POST", "/revoke", &[], &revoke).await;
    assert_eq!((reply.status, reply.json()), (200, json!({})));
    assert_eq!(user.get("profile").await.status, 401, "the whole grant ends");
    let reply = user.send("POST", "/revoke", &[], &revoke).await;
    assert_eq!((reply.status, &reply.json()["error"]), (400, &json!("invalid_token")));

    let options =
        SandboxOptions { token_lifetime: Duration::ZERO, ..SandboxOptions::new(clock::clock()) };
    let brief = Sandbox::start(options).await.unwrap();
    let address = brief.addresses().remove(0);
    assert_eq!(signed_in(&brief, &address).await.get("profile").await.status, 401);
}

#[tokio::test]
async fn scopes_limit_what_is_readable() {
    let dir = folder(&[("a", "From: a@x\nMessage-ID: <a@x>\n\nhello\n")]);
    let sandbox = sandbox(dir.path()).await;
    let list = signed_in(&sandbox, ME).await.json("messages").await;
    let message = format!("messages/{}", list["messages"][0]["id"].as_str().unwrap());
    let auth = "https://www.googleapis.com/auth/";
    for (scope, path, status) in [
        ("https://mail.google.com/".to_owned(), &*message, 200),
        (format!("{auth}gmail.modify"), "messages", 200),
        (format!("{auth}gmail.labels"), "labels", 200),
        (format!("{auth}gmail.labels"), "messages", 403),
        (format!("{auth}calendar"), "profile", 403),
    ] {
        let user = User::at_gmail(sandbox.base(), ME, &scope).await;
        let reply = user.get(path).await;
        assert_eq!(reply.status, status, "{scope} {path}: {}", reply.text());
    }
}

// Routes ------------------------------------------------------------------

const RICH: &str = concat!(
    "From: =?utf-8?q?Zo=C3=AB?= <zoe@example.org>\n",
    "To: Mira <mira@example.com>\n",
    "Subject: =?UTF-8?B?R3LDvMOf?= =?UTF-8?B?ZQ==?= & more\n",
    "Date: Tue, 3 Mar 2026 18:05:00 +0100\n",
    "Message-ID: <rich@x>\n",
    "MIME-Version: 1.0\n",
    "Content-Type: multipart/mixed; boundary=outer\n",
    "\n",
    "preamble\n",
    "--outer\n",
    "Content-Type: multipart/alternative; boundary=\"in ner\"\n",
    "\n",
    "--in ner\n",
    "Content-Type: text/plain; charset=iso-8859-1\n",
    "Content-Transfer-Encoding: quoted-printable\n",
    "\n",
    "Gr=FC=DFe, it's <5=\n",
    "> & \"ok\"\n",
    "--in ner\n",
    "Content-Type: text/html; charset=utf-8\n",
    "\n",
    "<p>Grüße</p>\n",
    "--in ner--\n",
    "--outer\n",
    "Content-Type: application/pdf; name=\"=?utf-8?q?Pl=C3=A4ne.pdf?=\"\n",
    "Content-Disposition: attachment\n",
    "Content-Transfer-Encoding: base64\n",
    "\n",
    "AAEC\n",
    "/w==\n",
    "--outer\n",
    "Content-Type: message/rfc822\n",
    "\n",
    "Subject: inside\n",
    "Content-Type: text/plain\n",
    "\n",
    "nested text\n",
    "--outer--\n",
    "epilogue\n",
);

#[tokio::test]
async fn full_message_has_all_its_parts() {
    let (message, _sandbox, user) = only_message(RICH).await;
    let id = message["id"].as_str().unwrap();
    assert_eq!(id.len(), 16);
    assert_eq!(message["threadId"], id);
    assert_eq!(message["labelIds"], json!(["UNREAD", "INBOX"]));
    assert_eq!(message["internalDate"], "1772557500000");
    assert_eq!(message["snippet"], "Grüße, it&#39;s &lt;5&gt; &amp; &quot;ok&quot;");
    assert!(message["historyId"].is_string());
    let payload = &message["payload"];
    assert_eq!(payload["partId"], "");
    assert_eq!(payload["mimeType"], "multipart/mixed");
    assert_eq!(payload["body"], json!({ "size": 0 }));
    assert_eq!(payload["headers"][0], json!({ "name": "From", "value": "Zoë <zoe@example.org>" }));
    assert_eq!(payload["headers"][2]["value"], "Grüße & more");

    let parts = payload["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 3);
    let plain = &parts[0]["parts"][0];
    assert_eq!((&plain["partId"], &plain["filename"]), (&json!("0.0"), &json!("")));
    assert_eq!(decoded(&plain["body"]["data"]), "Grüße, it's <5> & \"ok\"".as_bytes());
    assert_eq!(plain["body"]["size"], decoded(&plain["body"]["data"]).len());
    assert_eq!(decoded(&parts[0]["parts"][1]["body"]["data"]), "<p>Grüße</p>".as_bytes());

    let pdf = &parts[1];
    assert_eq!((&pdf["partId"], &pdf["filename"]), (&json!("1"), &json!("Pläne.pdf")));
    assert_eq!(pdf["body"]["size"], 4);
    assert!(pdf["body"]["data"].is_null());
    let attachment = pdf["body"]["attachmentId"].as_str().unwrap();
    assert!(attachment.len() > 300);
    let path = format!("messages/{id}/attachments/");
    let body = user.json(&format!("{path}{attachment}")).await;
    assert_eq!(body["size"], 4);
    assert_eq!(decoded(&body["data"]), [0, 1, 2, 255]);
    let again = user.json(&format!("messages/{id}")).await;
    let other = again["payload"]["parts"][1]["body"]["attachmentId"].as_str().unwrap();
    assert_ne!(other, attachment, "attachment ids do not last");
    assert_eq!(user.json(&format!("{path}{other}")).await, body);
    for bad in ["nonsense", "ANGjdJabc", &attachment[..300], &format!("{attachment}AAAA")] {
        let message = "Invalid attachment token".to_owned();
        assert_eq!(user.error(&format!("{path}{bad}")).await, (400, message));
    }

    let message = &parts[2];
    assert_eq!(message["mimeType"], "message/rfc822");
    assert_eq!(message["filename"], "noname.eml");
    assert_eq!(message["parts"][0]["partId"], "2.0");
    assert_eq!(message["parts"][0]["headers"][0]["value"], "inside");
    assert_eq!(decoded(&message["parts"][0]["body"]["data"]), b"nested text");
}

#[tokio::test]
async fn message_is_returned_in_every_format() {
    let (full, _sandbox, user) = only_message(RICH).await;
    let path = format!("messages/{}", full["id"].as_str().unwrap());
    let metadata = user.json(&format!("{path}?format=metadata")).await;
    assert_eq!(metadata["payload"]["mimeType"], "multipart/mixed");
    assert_eq!(metadata["payload"]["headers"], full["payload"]["headers"]);
    assert_eq!(metadata["payload"].as_object().unwrap().len(), 2);
    let some = "?format=metadata&metadataHeaders=subject&metadataHeaders=MESSAGE-id";
    let some = user.json(&format!("{path}{some}")).await;
    let names: Vec<&Value> = some["payload"]["headers"].as_array().unwrap().iter().collect();
    assert_eq!(names.len(), 2);
    assert_eq!(names[1], &json!({ "name": "Message-ID", "value": "<rich@x>" }));

    let minimal = user.json(&format!("{path}?format=minimal")).await;
    assert!(minimal["payload"].is_null() && minimal["raw"].is_null());
    assert_eq!(minimal["sizeEstimate"], full["sizeEstimate"]);
    let raw = user.json(&format!("{path}?format=RAW")).await;
    assert!(raw["payload"].is_null());
    // The wire has its own line ends, whatever the file's.
    assert_eq!(decoded(&raw["raw"]), RICH.replace('\n', "\r\n").as_bytes());

    let compact = user.get(&format!("{path}?prettyPrint=false&alt=json")).await;
    assert!(!compact.text().contains('\n'));
    // As one may: the user by address.
    let bearer = format!("Bearer {}", user.token);
    let path = format!("/gmail/v1/users/Mira@example.com/{path}");
    let reply = user.send("GET", &path, &[("authorization", &bearer)], "").await;
    assert_eq!(reply.status, 200);
}

#[tokio::test]
async fn charsets_and_file_names_are_decoded() {
    for (headers, body, text) in cases! {
        "Content-Type: text/plain; charset=utf-8", "Grüße", "Grüße";
        "Content-Type: text/plain", "Grüße", "Grüße";
        "Content-Type: text/plain; charset=x-none", "Grüße", "Grüße";
        "Content-Type: text/plain; charset=us-ascii", "Grüße", "Grüße";
        "Content-Type: text/plain; charset=koi8-r\nContent-Transfer-Encoding: BASE64", "8PLJ18XU",
            "ПРивет";
        "Content-Transfer-Encoding: quoted-printable", "a=3Db zz =\nc", "a=b zz c";
        "Content-Transfer-Encoding: quoted-printable", "a=3Db =zz 1=% =", "a=b =zz 1=% ";
        "Content-Type: text; charset=utf-8", "Grüße", "Grüße";
        "Content-Transfer-Encoding: base64", "aGk=!! aG\n", "hih";
        "Content-Type: multipart/mixed; boundary=b", "no delimiter", "no delimiter";
        "Content-Type: garbage", "kept", "kept";
    } {
        let message = format!("From: a@x\n{headers}\n\n{body}");
        let (message, _sandbox, user) = only_message(&message).await;
        let body = &message["payload"]["body"];
        let data = match body["attachmentId"].as_str() {
            None => decoded(&body["data"]),
            Some(attachment) => {
                let id = message["id"].as_str().unwrap();
                let path = format!("messages/{id}/attachments/{attachment}");
                decoded(&user.json(&path).await["data"])
            }
        };
        assert_eq!(String::from_utf8(data).unwrap(), text, "{headers}");
    }
    for (value, shown) in [
        ("=?utf-8?q?a?= =?utf-8?q?b?=", "ab"),
        ("=?utf-8?B?w4M=?= x =?iso-8859-1?q?=FC?=", "Ã x ü"),
        // One message, cut in two.
        ("=?utf-8?B?ww==?= =?UTF-8?B?vA==?=", "ü"),
        ("=?x-none?q?a?= =? ?= =?utf-8?x?a?=", "a =? ?= =?utf-8?x?a?="),
        ("folded\n  value", "folded  value"),
        ("=?utf-8*en?q?h=5Fi_?= there", "h_i  there"),
    ] {
        let message = format!("From: a@x\nSubject: {value}\n\nx\n");
        let (message, ..) = only_message(&message).await;
        assert_eq!(message["payload"]["headers"][1]["value"], shown, "{value}");
    }
    for (value, shown) in [
        ("=?utf-8?q?B=C3=B8?= Lie <b@x>, Cy <c@x>", "Bø Lie <b@x>, Cy <c@x>"),
        ("=?utf-8?q?B=C3=B8?= =?utf-8?q?_=28Ops=29?= <b@x>", "\"Bø (Ops)\" <b@x>"),
        ("\"=?utf-8?q?B=22=C3=B8,_x?=\" <b@x>", "\"B\\\"ø, x\" <b@x>"),
        ("Team: =?utf-8?q?a=3Cb?= <b@x>;", "Team: \"a<b\" <b@x>;"),
        ("=?utf-8?q?a=E2=80=8Bb?= <b@x>", "a\u{200b}b <b@x>"),
        ("=?no word <b@x>", "=?no word <b@x>"),
    ] {
        let (message, ..) = only_message(&format!("Cc: {value}\n\nx\n")).await;
        assert_eq!(message["payload"]["headers"][0]["value"], shown, "{value}");
    }
    for (headers, name) in cases! {
        "Content-Disposition: attachment; filename=\"a b.txt\"", "a b.txt";
        "Content-Disposition: attachment; filename*=utf-8''Pl%C3%A4ne.txt", "Pläne.txt";
        "Content-Disposition: attachment;\n filename*0=\"long-\";\n filename*1=\"name.txt\"",
            "long-name.txt";
        "Content-Type: text/plain; name=x.txt", "x.txt";
        "Content-Disposition: attachment", "noname";
        "Content-Disposition: inline", "";
        "Content-Disposition: attachment;\n filename*0*=utf-8''%E2;\n filename*1*=%82%AC.txt",
            "€.txt";
        "Content-Disposition: attachment;\n filename=\"=?utf-8?B?5pel?=\n =?utf-8?B?5pysLnBkZg==?=\"",
            "日本.pdf";
    } {
        let (message, ..) = only_message(&format!("From: a@x\n{headers}\n\nx\n")).await;
        assert_eq!(message["payload"]["filename"], name, "{headers}");
    }
}

/// Gmail detects undeclared character sets, as mail programs do.
#[tokio::test]
async fn undeclared_charsets_are_detected() {
    let text = "Оплатите, пожалуйста, услуги связи до конца месяца.";
    // windows-1251, as far as letters go.
    let legacy = |c: char| u8::try_from(c).or_else(|_| u8::try_from(u32::from(c) - 0x350)).unwrap();
    let head = "From: =?utf-8?q?B=C3=B8_=28Ops=29?= <b@x>\nDate: 2026-03-02T10:11:12Z\nSubject: ";
    let message: Vec<u8> = format!("{head}Счета\n\n{text}").chars().map(legacy).collect();
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join(ME)).unwrap();
    fs::write(dir.path().join(ME).join("a.eml"), message).unwrap();
    let sandbox = sandbox(dir.path()).await;
    let user = signed_in(&sandbox, ME).await;
    let list = user.json("messages").await;
    let id = list["messages"][0]["id"].as_str().unwrap();
    let message = user.json(&format!("messages/{id}")).await;
    assert_eq!(decoded(&message["payload"]["body"]["data"]), text.as_bytes());
    assert_eq!(message["payload"]["headers"][0]["value"], "\"Bø (Ops)\" <b@x>");
    assert_eq!(message["payload"]["headers"][2]["value"], "Счета");
    assert_eq!(message["internalDate"], "1772446272000");
}

#[tokio::test]
async fn labels_and_profile_are_returned() {
    let message = |labels: &str| format!("From: a@x\nX-Gmail-Labels: {labels}\n\n{labels}\n");
    let texts = [
        message("Inbox,Unread,Category updates,Work/Projects"),
        message("Archived,Opened,Starred,Important,\"a, b\",Work/Projects"),
        message("=?UTF-8?Q?Sent,Caf=C3=A9?="),
        message("Drafts,Unread"),
        message("Spam"),
        message("Trash"),
        message("Archived,Opened"),
    ];
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let messages: Vec<(&str, &str)> = names.into_iter().zip(texts.iter().map(|t| &**t)).collect();
    let dir = folder(&messages);
    let sandbox = sandbox(dir.path()).await;
    let user = signed_in(&sandbox, ME).await;
    let list = user.json("labels").await;
    let labels = list["labels"].as_array().unwrap();
    assert!(labels.contains(&json!({ "id": "INBOX", "name": "INBOX", "type": "system" })));
    let own: Vec<_> = labels.iter().filter(|label| label["type"] == "user").collect();
    let own: Vec<_> = own.iter().map(|l| (l["id"].as_str().unwrap(), &l["name"])).collect();
    assert_eq!(
        own,
        [
            ("Label_1", &json!("Work/Projects")),
            ("Label_2", &json!("a, b")),
            ("Label_3", &json!("Café")),
        ]
    );
    let counted = user.json("labels/Label_1").await;
    assert_eq!((&counted["messagesTotal"], &counted["messagesUnread"]), (&json!(2), &json!(1)));
    assert_eq!((&counted["threadsTotal"], &counted["threadsUnread"]), (&json!(2), &json!(1)));
    assert_eq!(user.error("labels/Label_9").await.0, 404);
    for (labels, count) in [
        ("labelIds=INBOX", 1),
        ("labelIds=Label_1", 2),
        ("labelIds=Label_1&labelIds=STARRED", 1),
        ("labelIds=CATEGORY_UPDATES&labelIds=UNREAD", 1),
        ("labelIds=SENT&labelIds=Label_3", 1),
        ("labelIds=DRAFT", 1),
        ("labelIds=SPAM", 1),
        ("labelIds=TRASH", 1),
        ("includeSpamTrash=true", 7),
        ("", 5),
    ] {
        let list = user.json(&format!("messages?{labels}")).await;
        let found = list["messages"].as_array().map_or(0, Vec::len);
        assert_eq!((found, &list["resultSizeEstimate"]), (count, &json!(count)), "{labels}");
    }
    let profile = user.json("profile").await;
    assert_eq!(profile["messagesTotal"], 7);
    assert_eq!(profile["threadsTotal"], 7);
    assert!(profile["historyId"].is_string());
    // A message without labels has no list of them.
    let bare = user.json("messages?q=Archived%20Opened%20-starred").await;
    let id = bare["messages"][0]["id"].as_str().unwrap();
    let bare = user.json(&format!("messages/{id}?format=minimal")).await;
    assert!(!bare.as_object().unwrap().contains_key("labelIds"));
}

#[tokio::test]
async fn messages_are_grouped_into_threads() {
    let message = |id: &str, day: u32, subject: &str, more: &str| {
        format!(
            "From: a@x\nMessage-ID: <{id}>\nDate: {day} Feb 2024 10:00 +0000\n\
             Subject: {subject}\n{more}\nText {id}\n"
        )
    };
    let texts = [
        ("a", message("a", 1, "Plan", "")),
        ("b", message("b", 2, "Re: Plan", "In-Reply-To: <a>\n")),
        // The message it answers is not here, but they share what came before.
        ("c", message("c", 5, "AW: re[2]: plan", "References: <a> <gone>\n")),
        ("d", message("d", 3, "Re: Plan", "References: <gone>\n")),
        // A new subject, a new conversation.
        ("e", message("e", 4, "Another plan", "References: <a> <b>\n")),
        ("f", message("f", 6, "Plan", "")),
        ("g", message("g", 7, "Export", "X-GM-THRID: 17\n")),
        ("h", message("h", 8, "Other words", "X-GM-THRID: 17\n")),
    ];
    let messages: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (*name, &**text)).collect();
    let dir = folder(&messages);
    let sandbox = sandbox(dir.path()).await;
    let user = signed_in(&sandbox, ME).await;
    let list = user.json("threads").await;
    let threads = list["threads"].as_array().unwrap();
    assert_eq!(threads.len(), 4);
    let mut snippets = Vec::new();
    for thread in threads {
        let id = thread["id"].as_str().unwrap();
        let whole = user.json(&format!("threads/{id}?format=minimal")).await;
        assert_eq!(whole["id"], id);
        let messages = whole["messages"].as_array().unwrap();
        assert_eq!(messages[0]["id"], id, "a thread has its first message's id");
        assert!(messages.iter().all(|message| message["threadId"] == id));
        assert_eq!(messages.last().unwrap()["snippet"], thread["snippet"]);
        assert_eq!(whole["historyId"], thread["historyId"]);
        let line: Vec<_> = messages.iter().map(|m| &m["snippet"].as_str().unwrap()[5..]).collect();
        snippets.push(line.join(""));
    }
    assert_eq!(snippets, ["gh", "f", "abdc", "e"]);
    let found = user.json("threads?q=%22text+b%22").await;
    assert_eq!(found["threads"][0]["id"], threads[2]["id"]);
    assert_eq!(found["resultSizeEstimate"], 1);
    let id = threads[2]["id"].as_str().unwrap();
    let path = format!("threads/{id}?format=metadata&metadataHeaders=Subject");
    let headers = user.json(&path).await["messages"][1]["payload"]["headers"].clone();
    assert_eq!(headers, json!([{ "name": "Subject", "value": "Re: Plan" }]));
    let second = user.json("messages").await["messages"][6]["id"].as_str().unwrap().to_owned();
    assert_eq!(user.error(&format!("threads/{second}")).await.0, 404);
    assert_eq!(user.error(&format!("threads/{id}?format=raw")).await.0, 400);
}

#[tokio::test]
async fn invalid_requests_are_refused() {
    let (message, sandbox, user) = only_message("From: a@x\n\nhello\n").await;
    let id = message["id"].as_str().unwrap();
    let many = format!("messages/{id}?fields=id(");
    for (path, status, part) in [
        ("messages/xyz", 400, "Invalid id value"),
        ("messages/..%2F..%2Fevil", 400, "Invalid id value"),
        ("messages/11111111111111111", 400, "Invalid id value"),
        ("messages/1111111111111111", 404, "Requested entity was not found."),
        ("threads/1111111111111111", 404, "Requested entity was not found."),
        ("messages?pageToken=nonsense", 400, "Invalid pageToken"),
        ("messages?labelIds=NOPE", 400, "Invalid label: NOPE"),
        ("messages?maxResults=many", 400, "Invalid value at 'max_results' (TYPE_UINT32), \"many\""),
        ("messages?maxResults=-1", 400, "max_results"),
        ("messages?includeSpamTrash=perhaps", 400, "include_spam_trash"),
        ("messages?query=x", 400, "Unknown name \"query\""),
        ("messages?fields=nope", 400, "Invalid field selection nope"),
        ("messages?alt=media", 400, "alt"),
        ("profile?q=x", 400, "Unknown name \"q\""),
        (&*many, 400, "Invalid field selection"),
        ("nothing", 404, "Method not found."),
        ("messages/", 400, "Invalid id value"),
    ] {
        let (code, message) = user.error(path).await;
        assert_eq!(code, status, "{path}");
        assert!(message.contains(part), "{path}: {message}");
    }
    let not_found = user.get("messages/1111111111111111").await.json();
    let expected = json!({ "error": {
        "code": 404,
        "message": "Requested entity was not found.",
        "errors": [{
            "message": "Requested entity was not found.",
            "domain": "global",
            "reason": "notFound",
        }],
        "status": "NOT_FOUND",
    }});
    assert_eq!(not_found, expected);

    let bearer = format!("Bearer {}", user.token);
    let auth = [("authorization", &*bearer)];
    let other = "/gmail/v1/users/zoe@example.com/profile";
    assert_eq!(user.send("GET", other, &auth, "").await.status, 403);
    let profile = "/gmail/v1/users/me/profile";
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        let reply = user.send(method, profile, &auth, "{}").await;
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (404, &json!(404)));
    }
    for bad in ["", "Bearer", "Bearer x", "Basic x"] {
        let reply = user.send("GET", profile, &[("authorization", bad)], "").await;
        assert_eq!(reply.status, 401, "{bad}");
    }
    let page = user.send("GET", "/nowhere", &[], "").await;
    assert_eq!(page.status, 404);
    assert!(page.header("content-type").starts_with("text/html"));
    let strange = user.send("GET", profile, &[auth[0], ("host", "evil.example")], "").await;
    assert_eq!(strange.status, 403, "no mail for rebound names");
    let local = user.send("GET", profile, &[auth[0], ("host", "localhost:1")], "").await;
    assert_eq!(local.status, 200);
    let large = vec![b'x'; (1 << 20) + 1];
    let reply = user.try_send("POST", "/token", &[], large).await.unwrap();
    assert_eq!(reply.status, 413);
    drop(sandbox);
    assert!(user.try_send("GET", profile, &[], Vec::new()).await.is_err());
}

// Search ------------------------------------------------------------------

/// Returns the mailbox of the search tests. The name of each message is its Message-ID.
fn search_folder() -> TempDir {
    let recent = clock::now() - jiff::SignedDuration::from_hours(48);
    let recent = recent.strftime("%d %b %Y %H:%M:%S +0000").to_string();
    let d = format!(
        "--b\n\nsee attached\n--b\nContent-Type: application/pdf\n\
         Content-Disposition: attachment; filename=\"Q4_report-final.pdf\"\n\
         Content-Transfer-Encoding: base64\n\n{}\n--b--",
        "QUJD\n".repeat(10_000)
    );
    let now_labels = format!("Inbox,Opened,\"Notes, etc\"\nDate: {recent}");
    let messages: Vec<(&str, String)> = cases! {
        "a", "Inbox,Unread,Important,Category Personal",
            "From: Ana Lindqvist <ana.lindqvist@mail.example.org>\nTo: Mira <mira@example.com>\n\
             Subject: Budget plan\nDate: Sat, 3 Feb 2024 10:00:00 +0000",
            "Please review the quarterly numbers before Friday, it's well-known.";
        "b", "Inbox,Opened,Work/Big Projects",
            "From: Bo Berg <bo@berg.example>\nTo: mira@example.com\nCc: Ana <ana@x.example>\n\
             Subject: Re: Budget plan\nIn-Reply-To: <a>\nDate: Sun, 4 Feb 2024 07:59:59 +0000",
            "The numbers review went fine.";
        "c", "Inbox,Unread,Category promotions",
            "From: \"Shop & Co\" <news@shop.example>\nTo: mira@example.com\n\
             List-ID: Deals <deals.shop.example>\nSubject: 50% off\n\
             Date: Sun, 4 Feb 2024 08:00:00 +0000\nContent-Type: text/html; charset=utf-8",
            "<html><style>.hidden{}</style><p>Gro&szlig;e Aus<b>wahl</b></p><p>CAFÉ</p></html>";
        "d", "Archived,Opened,Starred",
            "From: carol@example.net\nTo: mira+work@example.com\nDelivered-To: mira+work@example.com\n\
             Subject: Report\nDate: Mon, 5 Feb 2024 10:00:00 +0000\n\
             Content-Type: multipart/mixed; boundary=b",
            d.as_str();
        "e", "Spam,Unread",
            "From: lottery@win.example\nTo: mira@example.com\nSubject: budget lottery\n\
             Date: Tue, 6 Feb 2024 10:00:00 +0000",
            "you won";
        "f", "Trash,Opened",
            "From: carol@example.net\nTo: mira@example.com\nSubject: old budget\n\
             Date: Wed, 7 Feb 2024 10:00:00 +0000",
            "binned";
        "g", "Sent,Opened",
            "From: Mira <mira@example.com>\nTo: bo@berg.example\nBcc: secret@hidden.example\n\
             Subject: Lunch\nDate: Thu, 8 Feb 2024 10:00:00 +0000",
            "at noon?";
        "h", "Drafts",
            "From: Mira <mira@example.com>\nSubject: idea\nDate: Fri, 9 Feb 2024 10:00:00 +0000",
            "not ready";
        "i", "Inbox,Unread",
            "From: =?koi8-r?B?8PLJ18XU?= <ivan@example.ru>\nTo: mira@example.com\n\
             Subject: =?utf-8?B?0JLRgdGC0YDQtdGH0LA=?=\nDate: Sat, 10 Feb 2024 10:00:00 +0000\n\
             Content-Type: multipart/related; boundary=r",
            "--r\nContent-Type: text/html; charset=utf-8\n\n<b>завтра</b>\n--r\n\
             Content-Type: image/png; name=logo.png\nContent-ID: <logo>\n\
             Content-Transfer-Encoding: base64\n\nQUJD\n--r--";
        "j", now_labels.as_str(),
            "From: li@example.cn\nTo: mira@example.com\nSubject: 会议记录 from:today",
            "明天开会";
    }
    .map(|(id, labels, headers, body)| {
        let head = format!("Message-ID: <{id}>\nX-Gmail-Labels: {labels}\nMIME-Version: 1.0\n");
        (id, format!("{head}{headers}\n\n{body}\n"))
    })
    .into();
    let messages: Vec<(&str, &str)> = messages.iter().map(|(id, text)| (*id, &**text)).collect();
    folder(&messages)
}

/// Queries and the messages they find, by name.
const QUERIES: &[(&str, &str)] = &[
    // Places. Without one, neither spam nor trash is found.
    ("", "abcdghij"),
    ("in:anywhere", "abcdefghij"),
    ("in:all", "abcdghij"),
    ("in:inbox", "abcij"),
    ("in:INBOX", "abcij"),
    ("in:sent", "g"),
    ("in:draft", "h"),
    ("in:drafts", "h"),
    ("in:trash", "f"),
    ("in:spam", "e"),
    ("in:archive", "d"),
    ("in:starred", "d"),
    ("in:important", "a"),
    ("in:unread", "aci"),
    ("in:read", "bdghj"),
    ("-in:spam -in:inbox", "dgh"),
    ("label:spam", "e"),
    ("label:inbox is:unread", "aci"),
    ("label:work-big-projects", "b"),
    ("label:Work/Big-Projects", "b"),
    ("label:\"Work/Big Projects\"", "b"),
    ("label:(work-big-projects)", "b"),
    ("label:notes--etc", "j"),
    ("label:nothing", ""),
    ("is:unread", "aci"),
    ("is:read in:inbox", "bj"),
    ("is:starred", "d"),
    ("is:important", "a"),
    ("category:primary", "abij"),
    ("category:promotions", "c"),
    ("category:updates", ""),
    // People.
    ("from:ana", "a"),
    ("from:Lindqvist", "a"),
    ("from:lind", ""),
    ("from:ana.lindqvist@mail.example.org", "a"),
    ("from:example.org", "a"),
    ("from:@shop.example", "c"),
    ("from:\"ana lindqvist\"", "a"),
    ("from:\"lindqvist ana\"", ""),
    ("from:(ana OR bo)", "ab"),
    ("from:(bo berg)", "b"),
    ("from:(bo -berg)", ""),
    ("from: ana", "a"),
    ("from:me", "gh"),
    ("-from:me in:inbox", "abcij"),
    ("from:привет", "i"),
    ("to:me", "abcij"),
    ("to:mira", "abcdij"),
    ("to:ana", "b"),
    ("cc:ana", "b"),
    ("cc:bo", ""),
    ("bcc:secret", "g"),
    ("bcc:hidden.example", "g"),
    ("to:bo OR from:bo", "bg"),
    // Words.
    ("budget", "ab"),
    ("BUDGET", "ab"),
    ("budge", ""),
    ("subject:budget", "ab"),
    ("subject:(budget plan)", "ab"),
    ("subject:\"plan budget\"", ""),
    ("subject:numbers", ""),
    ("numbers review", "ab"),
    ("\"numbers review\"", "b"),
    ("\"review the quarterly\"", "a"),
    ("well-known", "a"),
    ("it's", "a"),
    ("hidden", ""),
    ("große", "c"),
    ("GROSSE", ""),
    ("auswahl", "c"),
    ("café", "c"),
    ("cafe", ""),
    ("завтра", "i"),
    ("встреча", "i"),
    ("会议", "j"),
    ("议会", ""),
    ("开会", "j"),
    ("ana@x.example", "b"),
    // Connectives.
    ("lunch OR report", "dg"),
    ("lunch AND noon", "g"),
    ("budget fine OR friday", "ab"),
    ("budget -fine", "a"),
    ("budget -(fine OR friday)", ""),
    ("(lunch noon) OR (report attached)", "dg"),
    ("lunch or report", ""),
    ("OR lunch", "g"),
    ("lunch OR", "g"),
    // Attachments and sizes.
    ("has:attachment", "d"),
    ("has:nonsense", ""),
    ("filename:pdf", "d"),
    ("filename:report", "d"),
    ("filename:Q4_report-final.pdf", "d"),
    ("filename:png", ""),
    ("larger:20480", "d"),
    ("smaller:1024 in:sent", "g"),
    ("larger:big", ""),
    ("after:1707033600 before:1707033601", "c"),
    ("rfc822msgid:<d>", "d"),
    ("rfc822msgid:d", "d"),
    ("rfc822msgid:x", ""),
    // What makes little sense is taken as it comes.
    ("\"numbers review", "b"),
    ("(lunch", "g"),
    ("lunch)", "g"),
    ("((((lunch", "g"),
    (")(\"", "abcdghij"),
    ("- lunch", "g"),
    ("--lunch", "g"),
    ("nonsense:lunch", ""),
    ("from:today", ""),
    ("\"from:today\"", "j"),
    ("from:", "abcdghij"),
    ("***", "abcdghij"),
];

#[tokio::test]
async fn search_finds_matching_messages() {
    let dir = search_folder();
    let sandbox = sandbox(dir.path()).await;
    assert_eq!(sandbox.report().skipped, []);
    let user = signed_in(&sandbox, ME).await;
    let all = user.json("messages?includeSpamTrash=true").await;
    let mut names = BTreeMap::new();
    for message in all["messages"].as_array().unwrap() {
        let id = message["id"].as_str().unwrap();
        let path = format!("messages/{id}?format=metadata&metadataHeaders=Message-ID");
        let name = user.json(&path).await["payload"]["headers"][0]["value"].clone();
        names.insert(id.to_owned(), name.as_str().unwrap().trim_matches(['<', '>']).to_owned());
    }
    assert_eq!(names.len(), 10);
    let mut wrong = String::new();
    for (query, expected) in QUERIES {
        let list = user.json(&format!("messages?q={}", encoded(query))).await;
        let rows = list["messages"].as_array().cloned().unwrap_or_default();
        let found: BTreeSet<&str> =
            rows.iter().map(|row| &*names[row["id"].as_str().unwrap()]).collect();
        let found: String = found.into_iter().collect();
        if found != *expected {
            writeln!(wrong, "{query}: found `{found}`, not `{expected}`").unwrap();
        }
        assert_eq!(list.get("messages").is_some(), !found.is_empty(), "{query}");
    }
    assert_eq!(wrong, "");
    // No query is too deep.
    for hostile in ["-(", "-", "(", "from:(", "(\"", "from:", "a OR "] {
        let query = format!("{}lunch", hostile.repeat(18_000 / hostile.len()));
        let path = format!("messages?q={}", encoded(&query));
        assert_eq!(user.get(&path).await.status, 200, "{hostile}");
    }
}

#[tokio::test]
async fn pages_are_an_exact_partition() {
    let messages: Vec<(String, String)> = (0..137)
        .map(|n| {
            // Many of one second, so that dates alone would not part them.
            let text = format!(
                "From: a@x\nMessage-ID: <{n}>\nSubject: {n}\n\
                 Date: Sat, 3 Feb 2024 10:00:0{} +0000\n\nletter {n}\n",
                n % 3
            );
            (format!("{n:03}"), text)
        })
        .collect();
    let messages: Vec<(&str, &str)> = messages.iter().map(|(id, text)| (&**id, &**text)).collect();
    let dir = folder(&messages);
    let sandbox = sandbox(dir.path()).await;
    let user = signed_in(&sandbox, ME).await;
    for (list, rows) in [("messages", 10), ("messages", 137), ("threads", 50), ("messages", 1)] {
        let (mut seen, mut pages, mut next) = (Vec::new(), 0, String::new());
        loop {
            let path = format!("{list}?q=letter&maxResults={rows}{next}");
            let page = user.json(&path).await;
            assert_eq!(page["resultSizeEstimate"], 130, "an estimate, and a steady one");
            seen.extend(page[list].as_array().unwrap().iter().map(|row| row["id"].clone()));
            pages += 1;
            match page["nextPageToken"].as_str() {
                Some(token) => next = format!("&pageToken={token}"),
                None => break,
            }
        }
        assert_eq!(pages, 137usize.div_ceil(rows), "{list} by {rows}");
        let unique: BTreeSet<String> = seen.iter().map(Value::to_string).collect();
        assert_eq!((seen.len(), unique.len()), (137, 137), "{list} by {rows}");
    }
    let first = user.json("messages").await;
    assert_eq!(first["messages"].as_array().unwrap().len(), 100, "the default page");
    let rows = user.json("messages?maxResults=9999").await;
    assert_eq!(rows["messages"].as_array().unwrap().len(), 137);
    let token = first["nextPageToken"].as_str().unwrap();
    let other = format!("messages?q=other&pageToken={token}");
    assert_eq!(user.error(&other).await, (400, "Invalid pageToken".to_owned()));
    let other = format!("threads?pageToken={token}");
    assert_eq!(user.error(&other).await.0, 400);

    let ids: Vec<String> = first["messages"].as_array().unwrap()[..50]
        .iter()
        .map(|row| format!("messages/{}", row["id"].as_str().unwrap()))
        .collect();
    let replies = join_all(ids.iter().map(|path| user.get(path))).await;
    assert!(replies.iter().all(|reply| reply.status == 200), "25 and more at a time");
}

#[tokio::test]
async fn field_masks_select_the_fields() {
    let (message, _sandbox, user) = only_message(RICH).await;
    let id = message["id"].as_str().unwrap();
    let get = |mask: &str| format!("messages/{id}?fields={}", encoded(mask));
    let part = |name: &str| json!({ "mimeType": name });
    for (mask, expected) in cases! {
        "id", json!({ "id": id });
        "id,threadId", json!({ "id": id, "threadId": id });
        "payload/partId", json!({ "payload": { "partId": "" } });
        "payload(partId,filename)", json!({ "payload": { "partId": "", "filename": "" } });
        "payload/partId,payload/filename", json!({ "payload": { "partId": "", "filename": "" } });
        "payload/parts(mimeType,filename)",
            json!({ "payload": { "parts": [
                { "mimeType": "multipart/alternative", "filename": "" },
                { "mimeType": "application/pdf", "filename": "Pläne.pdf" },
                { "mimeType": "message/rfc822", "filename": "noname.eml" },
            ]}});
        "payload/parts/parts/mimeType",
            json!({ "payload": { "parts": [
                { "parts": [part("text/plain"), part("text/html")] },
                {},
                { "parts": [part("text/plain")] },
            ]}});
        "payload/parts/mimeType,payload/parts/partId",
            {
                json!({ "payload": { "parts": [
                    { "mimeType": "multipart/alternative", "partId": "0" },
                    { "mimeType": "application/pdf", "partId": "1" },
                    { "mimeType": "message/rfc822", "partId": "2" },
                ]}})
            };
        "raw", json!({});
        "payload(body/size)", json!({ "payload": { "body": { "size": 0 } } });
        "*/partId", json!({ "payload": { "partId": "" } });
    } {
        assert_eq!(user.json(&get(mask)).await, expected, "{mask}");
    }
    let all = user.json(&format!("messages/{id}?fields=*&format=metadata")).await;
    assert_eq!(all, user.json(&format!("messages/{id}?format=metadata")).await);
    let list = user.json("messages?fields=messages/id,nextPageToken").await;
    assert_eq!(list, json!({ "messages": [{ "id": id }] }));
    for (mask, selection) in [
        ("nope", "nope"),
        ("id,nope", "nope"),
        ("payload/nope", "nope"),
        ("id/deeper", "deeper"),
        ("payload(id)", "id"),
        ("id)", ")"),
        ("id,", ""),
        ("id;x", ";x"),
        ("*/nope", "nope"),
    ] {
        let message = format!("Invalid field selection {selection}");
        assert_eq!(user.error(&get(mask)).await, (400, message), "{mask}");
    }
    let deep = format!("{}id", "payload/".repeat(5_000));
    assert_eq!(user.get(&get(&deep)).await.status, 400);
}

// Loading -----------------------------------------------------------------

#[tokio::test]
async fn hostile_messages_are_returned_or_skipped() {
    let dir = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    write("01-empty.eml", b"");
    write("02-blank.eml", b"\n\n \n");
    let rubbish: Vec<u8> =
        (0..20_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    write("03-rubbish.eml", &rubbish);
    write("04-prose.eml", b"Dear all,\nthis is: no letter.\n");
    write("05-empty.mbox", b"");
    write("06-prose.mbox", b"From here on: nothing\n");
    fs::create_dir(dir.path().join("07-folder.eml")).unwrap();
    write("08-ignored.txt", b"From: a@x\n\nno mail by its name\n");

    let multipart = "From: a@x\nContent-Type: multipart/mixed; boundary=b\n";
    let deep: String = (0..10_000)
        .map(|n| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n"))
        .collect();
    let messages_in_messages = "Content-Type: message/rfc822\n\n".repeat(10_000);
    let good: [(&str, Vec<u8>); 12] = cases! {
        "20-truncated", format!("{multipart}\n--b\nContent-Type: text/plain\n\ncut o").into();
        "21-deep", format!("From: a@x\n{deep}\n\nbottom").into();
        "22-letters", format!("From: a@x\n{messages_in_messages}\nbottom").into();
        "23-base64", b"From: a@x\nContent-Transfer-Encoding: base64\n\n%%%\xff=AB=C".to_vec();
        "24-charset",
            b"Subject: x\nContent-Type: text/plain; charset=\"no;such\"\n\n\xff\xfe".to_vec();
        "25-headers", format!("From: a@x\n{}\nx", "X: y\n".repeat(100_000)).into();
        "26-words", format!("From: a@x\nSubject: {}\n\nx", "=?utf-8?q?".repeat(20_000)).into();
        "27-line", format!("From: a@x\nSubject: {}\n\nx", "a".repeat(1 << 20)).into();
        "28-no-body", b"From: a@x".to_vec();
        "29-parts", format!("{multipart}{}", "\n--b\n\nx".repeat(20_000)).into();
        "30-html",
            format!("From: a@x\nContent-Type: text/html\n\n{}", "<div><!--".repeat(50_000)).into();
        "31-nul", b"From: a@x\nSubject: a\0b\nDate: 99 Foo 99999 99:99 +9999\n\n\0\0".to_vec();
    };
    for (name, bytes) in &good {
        write(&format!("{name}.eml"), bytes);
    }
    let sandbox = sandbox(dir.path()).await;
    let skipped: Vec<&str> = sandbox.report().skipped.iter().map(|(name, _)| &**name).collect();
    assert_eq!(
        skipped,
        [
            "01-empty.eml", "02-blank.eml", "03-rubbish.eml", "04-prose.eml", "05-empty.mbox",
            "06-prose.mbox",
        ]
    );
    assert!(sandbox.report().skipped.iter().all(|(_, why)| why.starts_with("it ")));
    assert_eq!(sandbox.report().messages, good.len());
    assert_eq!(sandbox.addresses(), ["me@example.com"]);

    let user = signed_in(&sandbox, "me@example.com").await;
    let list = user.json("messages?q=-zebra").await;
    assert_eq!(list["messages"].as_array().unwrap().len(), good.len());
    for row in list["messages"].as_array().unwrap() {
        // serde_json refuses more than 128 levels, as other readers do.
        let path = format!("messages/{}", row["id"].as_str().unwrap());
        let message = user.json(&path).await;
        assert!(message["payload"]["mimeType"].is_string());
        assert!(message["internalDate"].as_str().unwrap().parse::<u64>().is_ok());
    }
    let cut = user.json("messages?q=cut").await;
    let path = format!("messages/{}", cut["messages"][0]["id"].as_str().unwrap());
    let cut = user.json(&path).await;
    assert_eq!(decoded(&cut["payload"]["parts"][0]["body"]["data"]), b"cut o");
}

#[tokio::test]
async fn folders_of_eml_and_mbox_are_loaded() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::create_dir_all(path("Zoe@Example.com/deep/er")).unwrap();
    let message = |text: &str| format!("From: a@x\nSubject: {text}\n\n{text}\n");
    fs::write(path("Zoe@Example.com/deep/er/1.EML"), message("one")).unwrap();
    fs::write(path("Zoe@Example.com/2.eml"), message("two").replace('\n', "\r\n")).unwrap();
    fs::write(path("Zoe@Example.com/copy.eml"), message("one")).unwrap();
    let mbox = "From x@y Tue Mar  3 18:05:00 2026\n\
                Subject: first\nDelivered-To: <Me@Corp.example>\n\nFrom the start\n\n\
                From here it goes on\n>From quoted\n>>From twice\n\n\
                From 17@xxx Wed Mar 04 09:00:00 +0000 2026\n\
                >Subject-less: x\nFrom: b@x\n\nsecond\n\n\
                From x@y Thu Mar  5 18:05:00 2026\nnot a letter\n\n";
    fs::write(path("all.mbox"), mbox).unwrap();
    let one = sandbox(dir.path()).await;
    assert_eq!(one.addresses(), ["me@corp.example", "zoe@example.com"]);
    assert_eq!(one.report().messages, 4);
    let skipped: Vec<&str> = one.report().skipped.iter().map(|(name, _)| &**name).collect();
    assert_eq!(skipped, ["all.mbox:3", "Zoe@Example.com/deep/er/1.EML"]);

    let user = signed_in(&one, "me@corp.example").await;
    let list = user.json("messages").await;
    let ids: Vec<_> = list["messages"].as_array().unwrap().iter().map(|m| &m["id"]).collect();
    let get = |id: &Value| format!("messages/{}", id.as_str().unwrap());
    let (second, first) = (user.json(&get(ids[0])).await, user.json(&get(ids[1])).await);
    // No Date: the time of the separator, whose zone may stand before the year.
    assert_eq!(second["internalDate"], "1772614800000");
    assert_eq!(first["internalDate"], "1772561100000");
    let text = "From the start\r\n\r\nFrom here it goes on\r\nFrom quoted\r\n>From twice\r\n";
    assert_eq!(String::from_utf8(decoded(&first["payload"]["body"]["data"])).unwrap(), text);

    // The same mail gives the same ids.
    let two = sandbox(&path("all.mbox")).await;
    let same = signed_in(&two, "me@corp.example").await;
    assert_eq!(same.json("messages").await, list);
    // The port is told before the mail is read, and free once it stops.
    let port = one.base().rsplit_once(':').unwrap().1.parse().unwrap();
    let options = || SandboxOptions { port, ..SandboxOptions::new(clock::clock()) };
    let taken = Sandbox::start(options()).await.unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::Config);
    drop(one);
    assert!(Sandbox::start(options()).await.is_ok());

    let missing =
        SandboxOptions { mail: Some(path("nowhere")), ..SandboxOptions::new(clock::clock()) };
    let error = Sandbox::start(missing).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(error.to_string().contains("nowhere") && error.next_step().is_some());
    let empty = TempDir::new().unwrap();
    let nobody = sandbox(empty.path()).await;
    assert_eq!(nobody.addresses(), ["me@example.com"]);
    let user = signed_in(&nobody, "me@example.com").await;
    assert_eq!(user.json("messages").await, json!({ "resultSizeEstimate": 0 }));
}

#[tokio::test]
async fn sample_mail_loads() {
    let sandbox = Sandbox::start(SandboxOptions::new(clock::clock())).await.unwrap();
    assert_eq!(sandbox.addresses(), [ME, "mira@lindqvist-lamps.example"]);
    assert_eq!(sandbox.report().skipped, []);
    assert_eq!(sandbox.report().messages, 76);
    let user = signed_in(&sandbox, ME).await;
    let list = user.json("messages?includeSpamTrash=true&maxResults=500").await;
    for row in list["messages"].as_array().unwrap() {
        let message = user.json(&format!("messages/{}", row["id"].as_str().unwrap())).await;
        assert_ne!(message["internalDate"], "0");
        let headers = message["payload"]["headers"].as_array().unwrap();
        assert!(headers.iter().any(|header| header["name"] == "From"));
    }
}

// Faults ------------------------------------------------------------------

#[test]
fn fault_specifications_are_parsed() {
    let spec = "429=0.2, 403=0.1,500=0.1,503=0.02,504=0.03,reset=0.05,half=0.05,html=0.1,lost=0.01,\
         gate=0.02,late=0.03,overdue=0.04,after=3s,only=/send,writes=1,nth=2,delay=50ms";
    let faults: FaultRates = spec.parse().unwrap();
    let expected = FaultRates {
        rates: [0.2, 0.1, 0.1, 0.02, 0.03, 0.1, 0.05, 0.05, 0.01, 0.02, 0.03, 0.04],
        after: Duration::from_secs(3),
        only: "/send".to_owned(),
        writes: true,
        nth: 2,
        delay: Duration::from_millis(50),
    };
    assert_eq!(faults, expected);
    assert_eq!("".parse::<FaultRates>().unwrap(), FaultRates::default());
    assert_eq!("delay=2s".parse::<FaultRates>().unwrap().delay, Duration::from_secs(2));
    for (spec, named) in [
        ("429", "`429`"),
        ("418=0.5", "`418=0.5`"),
        ("429=2", "`429=2`"),
        ("429=-1", "`429=-1`"),
        ("429=NaN", "`429=NaN`"),
        ("500=0.1,reset=often", "`reset=often`"),
        ("delay=50", "`delay=50`"),
        ("delay=-1s", "`delay=-1s`"),
        ("delay=2h", "`delay=2h`"),
        ("429=0.6,500=0.6", "more than 1"),
    ] {
        let error = spec.parse::<FaultRates>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.message().contains(named), "{spec}: {error}");
        assert!(error.next_step().is_some());
    }
}

#[tokio::test]
async fn configured_faults_occur() {
    let (message, sandbox, user) = only_message(RICH).await;
    let path = format!("messages/{}", message["id"].as_str().unwrap());
    let set = |spec: &str| sandbox.set_faults(spec.parse().unwrap());

    set("429=1");
    let reply = user.get(&path).await;
    assert_eq!((reply.status, reply.header("retry-after")), (429, "1"));
    let error = &reply.json()["error"];
    assert_eq!(error["status"], "RESOURCE_EXHAUSTED");
    assert_eq!(error["errors"][0]["reason"], "rateLimitExceeded");
    set("403=1");
    let reply = user.get(&path).await;
    assert_eq!(reply.status, 403);
    assert_eq!(reply.json()["error"]["errors"][0]["reason"], "rateLimitExceeded");
    set("500=1");
    assert_eq!(user.error(&path).await.0, 500);
    set("html=1");
    let reply = user.get(&path).await;
    assert_eq!(reply.status, 502);
    assert!(reply.header("content-type").starts_with("text/html"));

    let bearer = format!("Bearer {}", user.token);
    let auth = [("authorization", &*bearer)];
    let full = format!("/gmail/v1/users/me/{path}");
    for spec in ["reset=1", "half=1"] {
        set(spec);
        let reply = user.try_send("GET", &full, &auth, Vec::new()).await;
        assert!(reply.is_err(), "{spec}");
        // The sign-in is spared.
        assert!(user.sign_in(&GOOGLE, ME, READONLY).await["access_token"].is_string());
    }

    // Only what a path ends in.
    set("500=1,only=/send");
    assert_eq!(user.get(&path).await.status, 200);
    // Done, and not told.
    for (spec, status) in [("lost=1", None), ("gate=1", Some(504)), ("late=1", None)] {
        set(spec);
        let reply = user.try_send("GET", &full, &auth, Vec::new()).await;
        assert_eq!(reply.ok().map(|reply| reply.status), status, "{spec}");
    }

    // Only what changes something, and of that only the second.
    set("overdue=1,writes=1,nth=2,after=20ms");
    let label = |name: &str| {
        let body = format!("{{\"name\":\"{name}\"}}").into_bytes();
        let auth = [("authorization", &*bearer), ("content-type", "application/json")];
        let user = &user;
        async move {
            let path = "/gmail/v1/users/me/labels";
            let reply = user.try_send("POST", path, &auth, body).await;
            reply.unwrap().status
        }
    };
    assert_eq!(user.get(&path).await.status, 200);
    let statuses = [label("a").await, label("b").await, label("c").await];
    // The token is for reading.
    assert_eq!((statuses, sandbox.writes()), ([403, 504, 403], 3));

    set("delay=150ms");
    let start = Instant::now();
    let replies = join_all((0..25).map(|_| user.get(&path))).await;
    let taken = start.elapsed();
    assert!(replies.iter().all(|reply| reply.status == 200));
    assert!(taken >= Duration::from_millis(150), "{taken:?}");
    assert!(taken < Duration::from_millis(1_500), "one delay must not hold up another: {taken:?}");
    set("");
    let before = sandbox.requests();
    user.get(&path).await;
    assert_eq!(sandbox.requests(), before + 1);
}

#[tokio::test]
async fn same_requests_fail_again() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let (_, sandbox, user) = only_message("From: a@x\n\nhello\n").await;
        sandbox.set_faults("429=0.3,500=0.2".parse().unwrap());
        let mut statuses = Vec::new();
        for _ in 0..100 {
            statuses.push(user.get("profile").await.status);
        }
        runs.push(statuses);
    }
    assert_eq!(runs[0], runs[1]);
    let count = |status| runs[0].iter().filter(|other| **other == status).count();
    assert!((15..45).contains(&count(429)), "{}", count(429));
    assert!((8..35).contains(&count(500)), "{}", count(500));
    assert!(count(200) > 30);
}
