//! Warnings about senders: Authentication-Results, and deceptive names. Calls over mailboxes are in
//! `tests/transcripts/sender_auth.txt`.

use std::collections::HashMap;

use daysheet_core::event::time::EventTime;
use daysheet_core::event::{Event, EventGuest};
use daysheet_core::flatten::{self, RowContext};
use daysheet_core::row::RowCell;
use daysheet_core::schemas::{EVENT, Service};
use daysheet_core::text::MailAddress;
use daysheet_core::text::sender_auth::{
    AuthResults, KnownPerson, SenderHeaders, imitated, looks_like, warnings,
};
use proptest::prelude::*;

#[test]
fn authentication_results_of_all_providers_are_read() {
    let cases = cases! {
        // Gmail's results begin with its server name.
        "mx.google.com;\r\n       dkim=pass header.i=@studio.example header.s=s1;\r\n       \
         spf=pass (google.com: domain of lena@studio.example designates 192.0.2.1 as permitted \
         sender) smtp.mailfrom=lena@studio.example;\r\n       dmarc=pass (p=REJECT) \
         header.from=studio.example", Some("passed: spf dkim dmarc"), Some("studio.example");
        // Microsoft's results have no server name.
        "spf=softfail (sender IP is 192.0.2.9) smtp.mailfrom=evil.example; dkim=none (message \
         not signed) header.d=none;dmarc=fail action=none \
         header.from=bank.example;compauth=fail reason=001",
            Some("failed: dmarc; softfail: spf; none: dkim"), Some("evil.example");
        "mx.google.com; none", None, None;
        "", None, None;
        // One valid signature among several is enough, in any position.
        "mx.google.com; dkim=fail header.d=a.example; DKIM = pass header.d=b.example; dkim=neutral",
            Some("passed: dkim; none: spf dmarc"), Some("a.example");
        // Comments and quoted texts are ignored.
        "mx.google.com; spf=fail (dmarc=pass; dmarc=pass (\\) x) ; dkim=pass ) reason=\"; dmarc=pass\"",
            Some("failed: spf; none: dkim dmarc"), None;
        // The first result of each method counts, because a second one may be injected.
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
    // The server that may have written a field: Gmail's, Microsoft's, neither.
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
        let read = |api: Service| AuthResults::read(value, api.receivers()).is_some();
        assert_eq!(
            (read(Service::Google), read(Service::Microsoft), read(Service::Local)),
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
        // A valid signature outweighs a failed SPF check, as in forwarded mail.
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
        pass, "Bank <a@bank.example>, x@evil.example", "",
            &["senders: From says `a@bank.example`, but also `x@evil.example`"];
        pass, "Bank <a@bank.example>, \"The bank\" <A@bank.example>", "", &[];
        // Latin letters with one Cyrillic letter.
        pass, "a@b\u{0430}nk.example", "",
            &["script: the domain `b\u{0430}nk.example` (`xn--bnk-6cd.example`) mixes scripts"];
        // All letters are Cyrillic, but the name reads as Latin.
        pass, "a@xn--80ak6aa92e.com", "",
            &["lookalike: the domain `\u{0430}\u{0440}\u{0440}\u{04cf}\u{0435}.com` \
               (`xn--80ak6aa92e.com`) looks like `apple.com`"];
        pass, "a@xn--bcher-kva.example", "",
            &["punycode: the domain is not ASCII: `b\u{fc}cher.example` (`xn--bcher-kva.example`)"];
        // A genuine word, although Unicode has a look-alike for each of its letters.
        pass, "a@\u{433}\u{43e}\u{440}\u{430}.example", "",
            &["punycode: the domain is not ASCII: `\u{433}\u{43e}\u{440}\u{430}.example` \
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
            second_from: None,
            reply_to: Some(reply_to),
        };
        let found: Vec<String> = warnings(&heads, "ana@example.com")
            .into_iter()
            .map(|one| format!("{}: {}", one.word, one.note))
            .collect();
        assert_eq!(found, *expected, "{from}");
    }
}

/// Senders compared with Aurel, the only known person.
#[test]
fn senders_who_imitate_somebody_are_found() {
    let known = |text: &str, sure| KnownPerson::new(address(text), sure).unwrap();
    let aurel = [known("Aurel Holunder <aurel@holunder.example>", true)];
    for sender in [
        "Accounts <accounts@holunder-billing.example>",
        "x@secure-holunder.com",
        "Aurel <aurel@holunber.example>",
        "a@ho1under.example",
        "a@mail.holumder.example",
        "a@holnuder.example",
        "a@h\u{43e}lunder.example",
        "Aurel Holunder <aurell@holunder.example>",
        "Aurel Holunder <auerl@holunder.example>",
        "aure1@holunder.example",
        "aurel@holunder.com",
        "Aurel Holunder <office@holunder.com>",
    ] {
        assert_eq!(imitated(&address(sender), aurel.iter()), [&aurel[0]], "{sender}");
    }
    for sender in [
        "Aurel Holunder <AUREL@Holunder.example>",
        "Nora <nora@holunder.example>",
        // Colleagues may have similar names.
        "Aurela Holunder <aurela@holunder.example>",
        "Aurex Holunder <aurex@holunder.example>",
        "Shop <news@holunder.com>",
        "a@holunder-druck.example",
        "a@t-holunder.example",
        "a@hollander.example",
        "a@holunder2.example",
        "a@mirabelle.example",
        "aurel@mirabelle.example",
        "nobody",
    ] {
        assert!(imitated(&address(sender), aurel.iter()).is_empty(), "{sender}");
    }
    // Short names are similar by chance, and a confirmed address imitates no other.
    let short = [known("a@ab.example", true), known("a@mail.example", true)];
    assert!(imitated(&address("a@ac.example"), short.iter()).is_empty());
    let both = [known("a@linden.example", true), known("a@lindens.example", true)];
    assert!(imitated(&address("a@lindens.example"), both.iter()).is_empty());
    // Every sender can get onto the list of people who wrote.
    let wrote = [known("a@linden.example", true), known("a@lindens.example", false)];
    assert_eq!(imitated(&address("a@lindens.example"), wrote.iter()), [&wrote[0]]);
}

fn address(text: &str) -> MailAddress {
    daysheet_core::text::address_list(text).remove(0)
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
    /// Any header field of a sender is read without a panic, and its warnings are short and on one
    /// line.
    #[test]
    fn hostile_headers_are_harmless(results in ".{0,300}", from in ".{0,200}", to in ".{0,200}") {
        let receivers = &["mx.google.com", ""];
        let signed = format!("mx.google.com;{results}");
        let line = AuthResults::read(&signed, receivers).and_then(|found| found.line());
        prop_assert!(line.unwrap_or_default().len() < 80);
        let nested = format!("{}spf=pass", "(;\"\\=".repeat(results.len()));
        AuthResults::read(&nested, receivers);
        let heads = SenderHeaders {
            results: Some(&signed),
            receivers,
            from: Some(&from),
            second_from: Some(&to),
            reply_to: Some(&to),
        };
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
    let context = RowContext {
        zone: &jiff::tz::TimeZone::UTC,
        account: "work",
        address: "ana@example.com",
        names: &names,
        ..RowContext::bare(Service::Google)
    };
    let guest = |address: &str, name: &str| EventGuest {
        address: address.into(),
        name: Some(name.to_owned()),
        ..EventGuest::default()
    };
    let text = |text: &str| RowCell::Text(text.to_owned());
    let day = |day: i8| EventTime::Day(jiff::civil::date(2026, 2, day));
    for name in ["me", "ME", " me\u{200b} ", "m\u{435}", "\u{202e}me"] {
        let event = Event {
            organizer: Some(guest("x@evil.example", name)),
            guests: vec![
                EventGuest { me: true, ..guest("ana@example.com", "Ana") },
                guest("me@evil.example", name),
                guest("", name),
            ],
            ..Event::new("e1".into(), day(3), day(4))
        };
        let (rows, _) = flatten::flatten(&EVENT, &columns, &[event], &context);
        let expected = [text("x@evil.example"), text("me? me@evil.example? (no address)?")];
        assert_eq!(rows.rows().next().unwrap(), expected, "{name:?}");
    }
}
