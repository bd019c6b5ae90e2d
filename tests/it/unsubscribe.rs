//! Unsubscribing from mailing lists: parsing of header fields, the addresses called, and the
//! request. `tests/transcripts/unsubscribe.txt` has the questions to the user.

use std::net::IpAddr;

use daysheet::cli::sandboxed::SandboxUser;
use daysheet::pipeline::Pipeline;
use daysheet::unsubscribe::post::{OneClickUnsubscriber, is_public};
use daysheet::unsubscribe::{UnsubscribeWay, way};
use daysheet_core::call::client::Confirmation;
use daysheet_core::encode::{Delimiter, Format};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use url::Url;

use crate::common::harness::{FakeUser, call};
use crate::support::{ME, Session, write_message};

const ONE_CLICK: &str = "List-Unsubscribe=One-Click";

fn headers(list: &str, post: &str) -> Vec<(String, String)> {
    let pairs = [("List-Unsubscribe", list), ("List-Unsubscribe-Post", post)];
    let pairs = pairs.into_iter().filter(|(_, value)| !value.is_empty());
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[test]
fn best_way_to_unsubscribe_is_chosen() {
    let cases = cases! {
        "<mailto:off@l.example>, <https://l.example/u?x=1>", ONE_CLICK,
            "post https://l.example/u?x=1";
        "<https://l.example/u>,\r\n <mailto:off@l.example?subject=Stop&body=Please%0d%0aBcc:x>", "",
            "mail off@l.example [Stop] [Please\nBcc:x]";
        // A subject cannot inject header fields.
        "<mailto:off@l.example?subject=a%0d%0aBcc:%20x@y.example>", "",
            "mail off@l.example [a  Bcc: x@y.example] []";
        "<https://l.example/u>", "yes", "open https://l.example/u";
        // One-click unsubscribing requires https, and no credentials in the URL.
        "<http://l.example/u>", ONE_CLICK, "open http://l.example/u";
        "<https://me:pass@l.example/u>", ONE_CLICK, "none";
        "<javascript:alert(1)>, <file:///etc/passwd>", ONE_CLICK, "none";
        "<mailto:a@b.example,c@d.example>", "", "none";
        "<mailto:a%0d@b.example>", "", "none";
        "https://l.example/u", ONE_CLICK, "none";
        "", ONE_CLICK, "none";
    };
    for (list, post, expected) in cases {
        let found = way(&headers(list, post)).map_or("none", |way| way.word());
        let kinds = [("post", "one-click"), ("mail", "mail"), ("open", "page"), ("none", "none")];
        let kind = kinds.iter().find(|(kind, _)| expected.starts_with(kind)).unwrap();
        assert_eq!(found, kind.1, "{list}");
        let reported = match way(&headers(list, post)) {
            Some(UnsubscribeWay::Post(url)) => format!("post {url}"),
            Some(UnsubscribeWay::Open(url)) => format!("open {url}"),
            Some(UnsubscribeWay::Mail(one)) => {
                format!("mail {} [{}] [{}]", one.to, one.subject, one.text)
            }
            None => "none".to_owned(),
        };
        assert_eq!(reported, expected, "{list}");
    }
}

#[test]
fn only_public_addresses_are_called() {
    let public = ["8.8.8.8", "192.0.3.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"];
    let own = [
        "127.0.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254",
        "100.64.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.0.1", "::",
        "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "fc00::1", "fd12::1",
        "fe80::1", "fec0::1", "ff02::1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001::1",
        "2001:db8::1",
    ];
    for (list, expected) in [(&public[..], true), (&own[..], false)] {
        for text in list {
            let ip: IpAddr = text.parse().unwrap();
            assert_eq!(is_public(ip), expected, "{text}");
        }
    }
}

/// Starts a list server with this answer; returns its port and the request it gets.
async fn server(answer: &'static str) -> (u16, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let reported = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut seen = String::new();
        let mut bytes = [0; 4096];
        while !seen.ends_with(ONE_CLICK) {
            let count = stream.read(&mut bytes).await.unwrap();
            assert_ne!(count, 0, "{seen}");
            seen.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
        seen
    });
    (port, reported)
}

#[tokio::test]
async fn exactly_one_unsubscribe_request_is_sent() {
    let (port, reported) = server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let url: Url = format!("http://127.0.0.1:{port}/off?id=7").parse().unwrap();
    OneClickUnsubscriber::on_loopback().post(&url).await.unwrap();
    let mut lines: Vec<String> = reported.await.unwrap().lines().map(str::to_lowercase).collect();
    lines.sort();
    assert_eq!(
        lines,
        [
            "",
            "content-length: 26",
            "content-type: application/x-www-form-urlencoded",
            &format!("host: 127.0.0.1:{port}"),
            "list-unsubscribe=one-click",
            "post /off?id=7 http/1.1",
        ]
    );
    // Redirects are not followed.
    let away = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n";
    let (port, reported) = server(away).await;
    let url: Url = format!("http://127.0.0.1:{port}/").parse().unwrap();
    let error = OneClickUnsubscriber::on_loopback().post(&url).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "127.0.0.1 redirects, which is not followed: let the user open the link in the message"
    );
    reported.await.unwrap();
    // Only tests may call this machine.
    for url in ["https://127.0.0.1/", "https://localhost/", "https://[::1]/", "http://8.8.8.8/"] {
        let url: Url = url.parse().unwrap();
        let error = OneClickUnsubscriber::new().post(&url).await.unwrap_err();
        let host = url.host_str().unwrap();
        assert_eq!(error.message(), format!("{host} was not called: not a public https address"));
    }
}

/// The request is sent once, after the user has agreed.
#[tokio::test]
async fn one_click_request_waits_for_the_user() {
    let (port, reported) = server("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n").await;
    let mail = TempDir::new().unwrap();
    let message = format!(
        "From: Shop <news@shop.example>\nTo: {ME}\nSubject: Lamps\nMessage-ID: <1@example.com>\n\
         List-Unsubscribe: <http://127.0.0.1:{port}/off?id=7>\nList-Unsubscribe-Post: {ONE_CLICK}"
    );
    write_message(&mail.path().join(ME), "one.eml", &message, "hello");
    let who = SandboxUser::These(&[("google", ME)]);
    let mut session = Session::signed_in(TempDir::new().unwrap(), Some(mail.path()), who).await;
    session.ok("mail_search", json!({})).await;
    let app = &session.app;
    let (store, accounts) = (app.store().clone(), app.accounts.clone());
    let pipeline = Pipeline::new(app.config.clone(), store, accounts, app.connect.clone())
        .with_unsubscriber(OneClickUnsubscriber::on_loopback());
    let nobody = format!(
        "m1|unsubscribe|refused|\"not unsubscribed: nobody confirmed; the user can open \
         `http://127.0.0.1:{port}/off?id=7`\""
    );
    let question = "Unsubscribe from:\n- Shop <news@shop.example>, one-click at 127.0.0.1 (the \
                    sender is not authenticated)";
    for (reply, expected) in [
        (Confirmation::Later, "the user is being asked"),
        (Confirmation::No, "m1|unsubscribe|refused|the user declined"),
        (Confirmation::Unanswered, nobody.as_str()),
        (Confirmation::Yes, "m1|unsubscribe|done|one-click at 127.0.0.1"),
    ] {
        let user = FakeUser::says(reply);
        let unsubscribe = json!({"ids": "m1", "do": "unsubscribe"});
        let format = Format::Toon(Delimiter::Pipe);
        let answer = call(&pipeline, "mail_modify", unsubscribe, format, &user).await;
        let answer = answer.map_or_else(|error| error.to_string(), |blocks| blocks.join("\n"));
        assert!(answer.ends_with(expected), "{reply:?}: {answer}");
        assert_eq!(user.questions(), [question]);
    }
    assert_eq!(reported.await.unwrap().lines().next(), Some("POST /off?id=7 HTTP/1.1"));
}
