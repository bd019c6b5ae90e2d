//! What is said of senders: Authentication-Results, and names that are not what
//! they look like.

use std::collections::HashMap;

use daysheet::flatten::{self, Context, Room};
use daysheet::row::Cell;
use daysheet::schemas::{Api, EVENT};
use daysheet::text::sender_auth::{AuthResults, SenderHeaders, looks_like, warnings};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::fake_mailbox::MailHarness;

#[test]
fn authentication_results_of_all_providers_are_read() {
    let cases = cases! {
        // Gmail's, with its name before.
        "mx.google.com;\r\n       dkim=pass header.i=@studio.example header.s=s1;\r\n       \
         spf=pass (google.com: domain of lena@studio.example designates 192.0.2.1 as permitted \
         sender) smtp.mailfrom=lena@studio.example;\r\n       dmarc=pass (p=REJECT) \
         header.from=studio.example", Some("passed: spf dkim dmarc"), Some("studio.example");
        // Microsoft's, without one.
        "spf=softfail (sender IP is 192.0.2.9) smtp.mailfrom=evil.example; dkim=none (message \
         not signed) header.d=none;dmarc=fail action=none \
         header.from=bank.example;compauth=fail reason=001",
            Some("failed: dmarc; softfail: spf; none: dkim"), Some("evil.example");
        "mx.google.com; none", None, None;
        "", None, None;
        // One right signature of several is enough, wherever it stands.
        "mx.google.com; dkim=fail header.d=a.example; DKIM = pass header.d=b.example; dkim=neutral",
            Some("passed: dkim; none: spf dmarc"), Some("a.example");
        // What stands in comments and quotes is not looked at.
        "mx.google.com; spf=fail (dmarc=pass; dmarc=pass (\\) x) ; dkim=pass ) reason=\"; dmarc=pass\"",
            Some("failed: spf; none: dkim dmarc"), None;
        // The first of each counts; a second one may have been smuggled in.
        "mx.google.com; dmarc=fail; dmarc=pass; spf/1=hardfail; spf=pass",
            Some("failed: spf dmarc; none: dkim"), None;
        "mx.google.com; spf=<b>evil</b>; dmarc", Some("unknown: spf; none: dkim dmarc"), None;
        "mx.google.com; (((((; spf=pass", None, None;
    };
    for (value, line, came_from) in cases {
        let found = AuthResults::read(value, &["mx.google.com", ""]).unwrap_or_default();
        assert_eq!(found.line().as_deref(), line, "{value}");
        assert_eq!(found.came_from.as_deref(), came_from, "{value}");
    }
}

#[test]
fn only_the_providers_own_results_count() {
    // Who may have written a field: Gmail, Microsoft, neither.
    let cases = [
        ("mx.google.com; spf=pass", true, false),
        ("MX.GOOGLE.COM 1; spf=pass", true, false),
        ("mx.google.com (really); spf=pass", true, false),
        ("spf=pass (sender IP is 192.0.2.9); dkim=none", false, true),
        ("mx.microsoft.com 1; spf=pass", false, true),
        ("mx.evil.example; spf=pass", false, false),
        ("mx.google.com.evil.example; spf=pass", false, false),
        ("evil.example mx.google.com; spf=pass", false, false),
        ("\"mx.google.com\"; spf=pass", false, false),
        ("; spf=pass", false, false),
        ("", false, false),
    ];
    for (value, google, microsoft) in cases {
        let read = |api: Api| AuthResults::read(value, api.receivers()).is_some();
        assert_eq!(
            (read(Api::Gmail), read(Api::Outlook), read(Api::Local)),
            (google, microsoft, false),
            "{value}"
        );
    }
}

#[test]
fn authentication_failures_are_reported() {
    let fail = "mx.google.com; spf=fail smtp.mailfrom=x@evil.example; dmarc=fail";
    let pass = "mx.google.com; spf=pass; dkim=pass; dmarc=pass";
    let cases: &[(&str, &str, &str, &[&str])] = &cases! {
        fail, "ceo@bank.example", "",
            &["dmarc: From says `ceo@bank.example` but it came from `evil.example`; dmarc failed"];
        "mx.google.com; dmarc=fail", "a@bank.example", "",
            &["dmarc: dmarc failed for `a@bank.example`"];
        "mx.google.com; spf=softfail smtp.mailfrom=bank.example; dmarc=none", "a@bank.example", "",
            &["spf: spf failed for `a@bank.example`"];
        // A signature outweighs the machine it came from, as with forwarded mail.
        "mx.google.com; spf=fail; dkim=pass; dmarc=none", "a@bank.example", "", &[];
        pass, "Bank <a@bank.example>", "Help <help@mail.bank.example>", &[];
        pass, "\"ceo@bank.example\" <x@evil.example>", "",
            &["name: the sender's name says `bank.example` but the address is `x@evil.example`"];
        pass, "www.bank.com Service <x@evil.example>", "",
            &["name: the sender's name says `www.bank.com` but the address is `x@evil.example`"];
        pass, "Bank.com <news@mail.bank.com>", "", &[];
        pass, "Node.js Weekly <x@weekly.example>", "", &[];
        pass, "Dr. A.B. Who <x@uni.example>", "", &[];
        pass, "Bank <a@bank.example>", "x@evil.example",
            &["reply_to: replies go to `x@evil.example`"];
        pass, "a@shop.co.uk", "b@other.co.uk", &["reply_to: replies go to `b@other.co.uk`"];
        // Latin with one Cyrillic message.
        pass, "a@b\u{0430}nk.example", "",
            &["script: the domain `b\u{0430}nk.example` (`xn--bnk-6cd.example`) mixes scripts"];
        // All Cyrillic, and it reads as Latin.
        pass, "a@xn--80ak6aa92e.com", "",
            &["lookalike: the domain `\u{0430}\u{0440}\u{0440}\u{04cf}\u{0435}.com` \
               (`xn--80ak6aa92e.com`) looks like `apple.com`"];
        pass, "a@xn--bcher-kva.example", "",
            &["punycode: the domain is `b\u{fc}cher.example` (`xn--bcher-kva.example`)"];
        // An honest word, though Unicode has a look-alike for each of its messages.
        pass, "a@\u{433}\u{43e}\u{440}\u{430}.example", "",
            &["punycode: the domain is `\u{433}\u{43e}\u{440}\u{430}.example` \
               (`xn--80af7ai.example`)"];
        pass, "Jose\u{301} \u{41c}\u{438}\u{438}\u{306} <a@bank.example>", "", &[];
        pass, "Ana <a@exarnple.com>", "",
            &["lookalike: the domain `exarnple.com` looks like your own, `example.com`"];
        pass, "P\u{0430}yments <a@bank.example>", "",
            &["script: the sender's name `P\u{0430}yments` mixes scripts"];
        pass, "\u{6771}\u{4eac}\u{30bf}\u{30ef}\u{30fc}Info <a@tower.example>", "", &[];
        "", "", "", &[];
    };
    for (results, from, reply_to, expected) in cases {
        let heads = SenderHeaders {
            results: Some(results),
            receivers: &["mx.google.com"],
            from: Some(from),
            reply_to: Some(reply_to),
        };
        let found: Vec<String> = warnings(&heads, "ana@example.com")
            .into_iter()
            .map(|one| format!("{}: {}", one.word, one.note))
            .collect();
        assert_eq!(found, *expected, "{from}");
    }
}

#[test]
fn look_alike_characters_count_as_what_they_imitate() {
    for (text, word) in [
        ("\u{430}ԁеһіјӏорԛѕсуѵԝхкмтвг", "adehijlopqscyvwxkmtbr"),
        ("αονρτυκιχγıɡɑ", "aovptukixyiga"),
        ("М\u{200b}Е", "me"),
        ("ｍе", "me"),
        ("rnicr0s0ft", "Microsoft"),
        ("paypa1", "PayPal"),
    ] {
        assert!(looks_like(text, word), "{text}");
    }
    for (text, word) in [("ne", "me"), ("bücher", "bucher"), ("гора", "gora")] {
        assert!(!looks_like(text, word), "{text}");
    }
}

proptest! {
    /// Whatever a sender writes is read without a panic, and what is told of it
    /// stays short and on one line.
    #[test]
    fn hostile_headers_are_harmless(results in ".{0,300}", from in ".{0,200}", to in ".{0,200}") {
        let receivers = &["mx.google.com", ""];
        let signed = format!("mx.google.com;{results}");
        let line = AuthResults::read(&signed, receivers).and_then(|found| found.line());
        prop_assert!(line.unwrap_or_default().len() < 80);
        let nested = format!("{}spf=pass", "(;\"\\=".repeat(results.len()));
        AuthResults::read(&nested, receivers);
        let heads =
            SenderHeaders { results: Some(&signed), receivers, from: Some(&from), reply_to: Some(&to) };
        for doubt in warnings(&heads, "ana@example.com") {
            prop_assert!(doubt.note.chars().count() < 400);
            prop_assert!(!doubt.note.contains('\n'));
        }
    }
}

#[test]
fn nobody_can_pose_as_me_by_name() {
    let names = HashMap::new();
    let columns: Vec<_> = ["organizer", "people"].map(|name| EVENT.field(name).unwrap()).to_vec();
    let shown = |api: Api, event: Value| -> Vec<String> {
        let context = Context {
            api,
            zone: &jiff::tz::TimeZone::UTC,
            account: "work",
            address: "ana@example.com",
            names: &names,
            room: Room::List,
        };
        let (rows, _) = flatten::flatten(&EVENT, &columns, &[event], &context);
        let cells = |row: &[Cell]| row.iter().map(|cell| format!("{cell:?}")).collect();
        rows.rows().next().map(cells).unwrap()
    };
    let text = |text: &str| format!("{:?}", Cell::Text(text.to_owned()));
    for name in ["me", "ME", " me\u{200b} ", "m\u{435}", "\u{202e}me"] {
        let google = json!({
            "organizer": {"email": "x@evil.example", "displayName": name},
            "attendees": [
                {"email": "ana@example.com", "self": true},
                {"email": "me@evil.example", "displayName": name},
                {"displayName": name},
            ],
        });
        let graph = json!({
            "isOrganizer": false,
            "organizer": {"emailAddress": {"name": name, "address": "x@evil.example"}},
            "attendees": [
                {"emailAddress": {"name": "Ana", "address": "ana@example.com"}},
                {"emailAddress": {"name": name, "address": "me@evil.example"}},
                {"emailAddress": {"name": name}},
            ],
        });
        for (api, event) in [(Api::Gmail, google), (Api::Outlook, graph)] {
            let expected = [text("x@evil.example"), text("me? me@evil.example? (no address)?")];
            assert_eq!(shown(api, event), expected, "{api:?} {name:?}");
        }
    }
}

#[tokio::test]
async fn reading_mentions_only_failed_authentication() {
    for api in [Api::Gmail, Api::Outlook] {
        let harness = MailHarness::one(api, "read").await;
        harness.ana().fill(3);
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let results = "Authentication-Results";
        // Gmail's server names itself, Microsoft's does not.
        let own = match api {
            Api::Gmail => "mx.google.com; ",
            _ => "",
        };
        let fail = &format!("{own}spf=fail smtp.mailfrom=evil.example; dkim=none; dmarc=fail");
        let pass = &format!("{own}spf=pass; dkim=pass; dmarc=pass");
        // Only the first counts: the sender may have written the second.
        harness.ana().heads(
            "ana-0001",
            vec![
                header(results, fail),
                header("ARC-Authentication-Results", pass),
                header(results, pass),
            ],
        );
        harness.ana().heads("ana-0002", vec![header(results, pass)]);
        let arguments = json!({"ids": ["ana-0001", "ana-0002", "ana-0003"], "body": "none"});
        let answer = harness.ok("mail_read", arguments).await;
        assert!(answer.contains("|\"failed: spf dmarc; none: dkim\"|dmarc\n"), "{answer}");
        assert!(answer.contains("|\"passed: spf dkim dmarc\"|\"\"\n"), "{answer}");
        assert_eq!(
            answer.rsplit("--\n").next().unwrap(),
            "messages: 3\nm1: From says `news@ana.example` but it came from `evil.example`; dmarc failed"
        );
        // Nothing is said, and no column shown, where nothing is known.
        let plain = harness.ok("mail_read", json!({"ids": ["ana-0003"], "body": "none"})).await;
        assert!(!plain.contains("auth"), "{plain}");
        let columns = json!({"q": "is:unread", "fields": ["id", "auth", "warn"]});
        let found = harness.ok("mail_search", columns).await;
        assert!(found.contains("m1|\"failed: spf dmarc; none: dkim\"|dmarc"), "{found}");
    }
}
