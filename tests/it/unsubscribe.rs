//! Unsubscribing from mailing lists: parsing of header fields, the addresses called, and questions
//! to the user.

use std::net::IpAddr;

use daysheet::unsubscribe::post::{OneClickUnsubscriber, is_public};
use daysheet::unsubscribe::{UnsubscribeWay, way};
use daysheet_core::call::client::Confirmation;
use daysheet_core::schemas::Service;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use url::Url;

use crate::common::fake_mailbox::MailHarness;
use crate::common::harness::FakeUser;

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
        let error = OneClickUnsubscriber::new().post(&url.parse().unwrap()).await.unwrap_err();
        assert!(error.to_string().contains("was not called"), "{url}: {error}");
    }
}

#[tokio::test]
async fn the_user_is_asked_first() {
    let (port, reported) = server("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n").await;
    let harness = MailHarness::one(Service::Google, "send").await;
    harness.ana().fill(4);
    let post = headers(&format!("<http://127.0.0.1:{port}/off?id=7>"), ONE_CLICK);
    let mut signed = post.clone();
    let results = ("Authentication-Results".to_owned(), "mx; dkim=pass".to_owned());
    signed.push(results);
    let mail = headers("<mailto:off@list.example?subject=Stop>", "");
    let page = headers("<https://list.example/off>", "");
    for (id, list) in [(1, signed), (2, post), (3, mail), (4, page)] {
        let id = format!("ana-000{id}");
        harness.ana().headers.lock().unwrap().insert(id, list);
    }
    let all = json!({"ids": ["ana-0001", "ana-0002", "ana-0003", "ana-0004"], "do": "unsubscribe"});
    // The client cannot ask the user: the answer has links and a draft.
    let blocks = harness.call("mail_modify", all.clone()).await.unwrap();
    let page = "m4|unsubscribe|failed|\"not unsubscribed: its list has a page, and no one-click \
                request; the user can open `https://list.example/off`\"";
    let draft = "m3|unsubscribe|waiting|\"not unsubscribed yet: send draft d1, to off@list.example, \
                 with mail_send\"";
    assert_eq!(
        blocks.join("\n--\n"),
        format!(
            "outcomes[4|]{{item|op|result|detail}}:\n  m2|unsubscribe|skipped|the same list as \
             another of the messages\n  {page}\n  m1|unsubscribe|refused|\"not unsubscribed: this \
             client cannot ask the user to confirm; the user can open \
             `http://127.0.0.1:{port}/off?id=7`\"\n  {draft}"
        )
    );
    harness.ana().drafts.lock().unwrap().clear();
    let later = FakeUser::says(Confirmation::Later);
    let error = harness.call_as("mail_modify", all.clone(), &later).await.unwrap_err();
    assert_eq!(error.to_string(), "the user is being asked");
    let no = FakeUser::says(Confirmation::No);
    let blocks = harness.call_as("mail_modify", all.clone(), &no).await.unwrap();
    assert!(blocks[0].contains("m1|unsubscribe|refused|the user declined"), "{}", blocks[0]);
    harness.ana().drafts.lock().unwrap().clear();

    let nobody = FakeUser::says(Confirmation::Unanswered);
    let blocks = harness.call_as("mail_modify", all.clone(), &nobody).await.unwrap();
    assert!(
        blocks[0].contains("m1|unsubscribe|refused|\"not unsubscribed: nobody confirmed; the user"),
        "{}",
        blocks[0]
    );
    harness.ana().drafts.lock().unwrap().clear();

    let yes = FakeUser::says(Confirmation::Yes);
    let blocks = harness.call_as("mail_modify", all, &yes).await.unwrap();
    assert_eq!(
        yes.questions()[0],
        "Unsubscribe from:\n\
         - Shop <news@ana.example>, one-click at 127.0.0.1 (the sender is not authenticated)"
    );
    assert_eq!(
        blocks.join("\n--\n"),
        format!(
            "outcomes[4|]{{item|op|result|detail}}:\n  m2|unsubscribe|skipped|the same list as \
             another of the messages\n  {page}\n  m1|unsubscribe|done|one-click at 127.0.0.1\n  \
             {draft}"
        )
    );
    assert!(reported.await.unwrap().contains("/off?id=7"));
    let draft = harness.ana().draft_message("draft1");
    assert_eq!((&*draft.subject, draft.to[0].address.as_str()), ("Stop", "off@list.example"));
}

#[tokio::test]
async fn dry_run_says_what_unsubscribing_would_do() {
    let link = "https://list.example/off?id=7";
    let cases = cases! {
        link, ONE_CLICK, Confirmation::Unavailable,
            "refused|\"not unsubscribed: this client cannot ask the user to confirm; the user can \
             open `https://list.example/off?id=7`\"";
        link, ONE_CLICK, Confirmation::Yes,
            "planned|one-click at list.example, once the user confirms";
        link, "", Confirmation::Yes,
            "failed|\"not unsubscribed: its list has a page, and no one-click request; the user can \
             open `https://list.example/off?id=7`\"";
        "mailto:off@list.example", "", Confirmation::Unavailable,
            "planned|a draft to off@list.example, for mail_send to send";
    };
    for (target, post, reply, expected) in cases {
        let harness = MailHarness::one(Service::Google, "send").await;
        harness.ana().fill(1);
        let list = headers(&format!("<{target}>"), post);
        harness.ana().headers.lock().unwrap().insert("ana-0001".to_owned(), list);
        let call = json!({"ids": "ana-0001", "do": "unsubscribe", "dry_run": true});
        let user = FakeUser::says(reply);
        let blocks = harness.call_as("mail_modify", call, &user).await.unwrap();
        let row = format!("outcomes[1|]{{item|op|result|detail}}:\n  m1|unsubscribe|{expected}");
        assert_eq!(blocks, [row, "dry run: nothing was sent".to_owned()], "{target} {reply:?}");
        assert!(user.questions().is_empty(), "{target} {reply:?}");
    }
}

#[tokio::test]
async fn unsubscribing_needs_the_send_level() {
    let harness = MailHarness::one(Service::Google, "draft").await;
    harness.ana().fill(11);
    let one = json!({"ids": ["ana-0001"], "do": "unsubscribe"});
    assert_eq!(
        harness.error("mail_modify", one).await,
        "unsubscribing needs access `send`, but this server has `draft`: ask the user to start it \
         with --access send"
    );
    let harness = MailHarness::one(Service::Google, "send").await;
    harness.ana().fill(51);
    let many = json!({"q": "is:unread", "do": "unsubscribe"});
    assert_eq!(
        harness.error("mail_modify", many).await,
        "51 messages are more than the 50 that do=unsubscribe takes: give one message per list, or \
         call again for the others"
    );
}
