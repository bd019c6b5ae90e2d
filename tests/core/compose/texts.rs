//! Texts in both forms, subjects, recipients, references, and HTML that can be sent on.

use std::cell::Cell;

use daysheet_core::compose::{clean_html, ids, quote, reply, text};
use daysheet_core::ids::EmailAddress;
use daysheet_core::provider::mail::{MailPerson, SourceMessage};
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::person;

#[test]
fn markdown_becomes_plain_text_and_html() {
    for (input, plain, html) in cases! {
        "Hi\nthere", "Hi\nthere", "<p>Hi<br>\nthere</p>";
        "# One\n\ntext *it* `x < y`", "One\n\ntext _it_ x < y",
            "<h1>One</h1>\n<p>text <em>it</em> <code>x &lt; y</code></p>";
        "1. a\n2. b\n   - c\n\nend", "1. a\n2. b\n  - c\n\nend",
            "<ol>\n<li>a</li>\n<li>b\n<ul>\n<li>c</li>\n</ul>\n</li>\n</ol>\n<p>end</p>";
        "> one\n> two\n\nthree", "> one\n> two\n\nthree",
            "<blockquote>\n<p>one<br>\ntwo</p>\n</blockquote>\n<p>three</p>";
        "```\nlet x;\n  y\n```", "let x;\n  y", "<pre><code>let x;\n  y\n</code></pre>";
        "|a|b|\n|-|-|\n|1|2|", "a | b\n1 | 2",
            "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>\n<tr><td>1</td><td>2</td></tr>\n</tbody></table>";
        "<https://example.com> [x](mailto:a@example.com)", "https://example.com x <a@example.com>",
            "<p><a href=\"https://example.com\">https://example.com</a> <a href=\"mailto:a@example.com\">x</a></p>";
        "a <script>x()</script> b", "a <script>x()</script> b",
            "<p>a &lt;script&gt;x()&lt;/script&gt; b</p>";
        "[x](javascript:x())", "x <javascript:x()>", "<p><a>x</a></p>";
        "", "", "";
    } {
        let both = text::markdown(input);
        assert_eq!((both.text.as_str(), both.html.as_str()), (plain, html), "{input}");
    }
}

#[test]
fn plain_text_and_html_become_each_other() {
    let both = text::from_plain("A & <b>\n  two\n\n\nend  \r\n");
    assert_eq!(both.text, "A & <b>\n  two\n\n\nend");
    assert_eq!(both.html, "<p>A &amp; &lt;b&gt;<br>\n&nbsp;&nbsp;two</p>\n<p>end &nbsp;</p>");
    let both = text::from_html(
        "<p onclick=x()>Hi <a href='https://example.com'>you</a></p><script>x()</script>\
         <p><a href='https://me.example/'>me.example</a></p>",
    )
    .unwrap();
    assert_eq!(
        both.html,
        "<p>Hi <a href=\"https://example.com\">you</a></p>\
         <p><a href=\"https://me.example/\">me.example</a></p>"
    );
    assert_eq!(both.text, "Hi you [1]\n\nme.example\n\n[1] https://example.com/");
    assert!(text::from_html(&"x".repeat(2 << 20)).is_err());
}

#[test]
fn subject_prefixes_are_added_once() {
    for (of, answer, forward) in [
        ("Lamps", "Re: Lamps", "Fwd: Lamps"),
        ("RE: Lamps", "Re: Lamps", "Fwd: RE: Lamps"),
        ("Re: re : AW: SV: Lamps", "Re: Lamps", "Fwd: Re: re : AW: SV: Lamps"),
        ("RE[2]: Re(3): Lamps", "Re: Lamps", "Fwd: RE[2]: Re(3): Lamps"),
        ("Fwd: WG: FW: Lamps", "Re: Fwd: WG: FW: Lamps", "Fwd: Lamps"),
        ("Re：灯", "Re: 灯", "Fwd: Re：灯"),
        ("Reply: Lamps", "Re: Reply: Lamps", "Fwd: Reply: Lamps"),
        ("", "Re:", "Fwd:"),
        ("a\r\nBcc: x", "Re: a Bcc: x", "Fwd: a Bcc: x"),
    ] {
        assert_eq!(
            (reply::subject(of).as_str(), reply::forwarded(of).as_str()),
            (answer, forward),
            "{of}"
        );
    }
}

fn original() -> SourceMessage {
    SourceMessage {
        from: vec![person("Jonas", "jonas@example.com")],
        to: vec![person("", "Mira@example.com"), person("", "priya@example.com")],
        cc: vec![person("", "PRIYA@example.com"), person("Yusuf", "yusuf@example.com")],
        ..SourceMessage::default()
    }
}

#[test]
fn reply_recipients_follow_the_message() {
    let own = ["mira@example.com", "me@example.org"].map(EmailAddress::from);
    let list = person("Lamps", "lamps@lists.example");
    let cases = cases! {
        original(), "jonas@example.com", "", "jonas@example.com priya@example.com",
            "yusuf@example.com";
        SourceMessage { reply_to: vec![list.clone()], ..original() }, "lamps@lists.example", "",
            "lamps@lists.example Mira@example.com priya@example.com", "yusuf@example.com";
        SourceMessage { own: true, from: vec![person("", "mira@example.com")], ..original() },
            "priya@example.com", "", "priya@example.com", "yusuf@example.com";
        SourceMessage {
            to: vec![person("", "mira@example.com")],
            cc: vec![],
            own: true,
            from: vec![person("", "me@example.org")],
            ..original()
        }, "mira@example.com", "", "mira@example.com", "";
    };
    for (original, to, cc, all_to, all_cc) in cases {
        for (all, to, cc) in [(false, to, cc), (true, all_to, all_cc)] {
            let (found_to, found_cc) =
                reply::recipients(&original, &own, all, &mut Vec::new()).unwrap();
            let line = |people: &[daysheet_core::provider::mail::MailPerson]| {
                people.iter().map(|one| one.address.clone()).collect::<Vec<_>>().join(" ")
            };
            let to = to.replace("Mira@example.com ", "");
            assert_eq!(
                (line(&found_to), line(&found_cc)),
                (to, cc.to_owned()),
                "all={all} {original:?}"
            );
        }
    }
}

#[test]
fn replies_reference_their_thread() {
    let mut original = SourceMessage {
        message_id: "last@example.com".to_owned(),
        references: vec![
            "a@example.com".to_owned(),
            "bad id".to_owned(),
            "x\r\nBcc: eve@example.net".to_owned(),
            "b@example.com".to_owned(),
            "a@example.com".to_owned(),
        ],
        ..original()
    };
    let (parent, list) = reply::references(&original);
    assert_eq!(parent.as_deref(), Some("last@example.com"));
    assert_eq!(list, ["b@example.com", "a@example.com", "last@example.com"]);
    original.references = (0..100).map(|n| format!("{n}@example.com")).collect();
    let (_, list) = reply::references(&original);
    assert_eq!(list.len(), 21);
    assert_eq!(
        (list[0].as_str(), list[1].as_str(), list[20].as_str()),
        ("0@example.com", "81@example.com", "last@example.com")
    );
    original.message_id = String::new();
    original.references.clear();
    assert_eq!(reply::references(&original), (None, Vec::new()));
}

/// Only the ends of a list are examined, however long it is.
#[test]
fn long_lists_of_ids_are_read_at_their_ends() {
    let listed = |range: std::ops::Range<usize>| -> String {
        range.map(|n| format!("<{n}@x.example>\r\n ")).collect()
    };
    let newest = |range: std::ops::Range<usize>| -> Vec<String> {
        ["0@x.example".to_owned()]
            .into_iter()
            .chain(range.map(|n| format!("{n}@x.example")))
            .collect()
    };
    let long = |n: usize| format!("{n}{}@x.example", "o".repeat(880));
    let of = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    for (value, expected, most) in cases! {
        String::new(), Vec::new(), 0;
        "Your message of Monday <unclosed".to_owned(), Vec::new(), 0;
        "a@x.example b c@x.example".to_owned(), of(&["a@x.example", "c@x.example"]), 2;
        "<a@x.example> (the first) <b c> <<b@x.example>".to_owned(),
            of(&["a@x.example", "b@x.example"]), 3;
        "<a@x.example> <b@x.example> <a@x.example>".to_owned(),
            of(&["b@x.example", "a@x.example"]), 3;
        listed(0..21), newest(1..21), 21;
        listed(0..50_000), newest(49_980..50_000), 30;
        listed(0..50_000).replace(['<', '>'], " "), newest(49_980..50_000), 30;
        "<same@x.example> ".repeat(50_000), of(&["same@x.example"]), 210;
        "<not an id> ".repeat(50_000), Vec::new(), 410;
        // Header fields stay below many kilobytes.
        (0..9).map(|n| format!("<{}>", long(n))).collect::<String>(),
            vec![long(0), long(5), long(6), long(7), long(8)], 7;
    } {
        let looked_at = Cell::new(0);
        let words = ids::within(&value).inspect(|_| looked_at.set(looked_at.get() + 1));
        let found = ids::ends(words);
        let begins: String = value.chars().take(60).collect();
        assert_eq!(found, expected, "{begins}");
        assert!(looked_at.get() <= most, "{begins}: {} of at most {most}", looked_at.get());
        // The kept ids are stable: reading them again keeps all.
        let again = ids::ends(found.iter().map(String::as_str));
        assert_eq!(again, expected, "{begins}");
    }
}

#[test]
fn written_quotes_are_found_again() {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let original = SourceMessage { text: Some("Hello".to_owned()), ..original() };
    let body = text::from_plain("My text");
    for quoted in [quote::reply_quote(&original, &zone), quote::sent_on(&original, &zone)] {
        let whole = quote::together(&body, None, Some(&quoted));
        assert_eq!(quote::own_quote(&whole.text, &whole.html), Some(quoted));
    }
    assert_eq!(quote::own_quote("My text", "<p>My text</p>"), None);
    let (sign, below) = (text::from_plain("Mira"), quote::reply_quote(&original, &zone));
    for (sign, below) in [(None, None), (Some(&sign), None), (Some(&sign), Some(&below))] {
        let whole = quote::together(&body, sign, below);
        assert_eq!(quote::own_text(&whole.text, &whole.html), Some(body.clone()));
    }
    let both = quote::reply_quote(&original, &zone);
    assert_eq!(both.text, "Jonas <jonas@example.com> wrote:\n> Hello");
    // Outlook stores only the HTML; the text derived from it has an empty line above the quote.
    let text = "My text\n\nJonas <jonas@example.com> wrote:\n\n> Hello";
    let whole = quote::together(&body, None, Some(&both));
    assert_eq!(quote::own_quote(text, &whole.html).unwrap().html, both.html);
}

#[test]
fn only_safe_html_is_passed_on() {
    for (html, expected) in cases! {
        "<p>a</p></div></blockquote>b", "<p>a</p>b";
        "<table><tr><td>x", "<table><tr><td>x</td></tr></table>";
        "<b>a<!-- c --><style>p{}</style><script>x</script>b", "<b>ab</b>";
        "<svg><a href='javascript:x'>y</a></svg>z", "z";
        "<a href=' javascript:x' onclick=y>z</a>", "<a>z</a>";
        "<a href='https://example.com/?a=1&amp;b=\"'>z</a>",
            "<a href=\"https://example.com/?a=1&amp;b=&quot;\">z</a>";
        "<img src='data:image/svg+xml,x'><img src='cid:1'>", "<img><img src=\"cid:1\">";
        "<p style='color:red'>a<p style='background:url(x)'>b",
            "<p style=\"color:red\">a<p>b</p></p>";
        "<form action=x><input><button>Go</button></form>", "Go";
        "<iframe src=x><p>y</p></iframe>z", "z";
        "<textarea><p>a</textarea>b<title>c</title>", "b";
        "<base href=x><meta http-equiv=refresh><link rel=x>a", "a";
        "a < b & c", "a &lt; b &amp; c";
        "<scr<script>ipt>alert(1)</script>", "ipt&gt;alert(1)";
    } {
        assert_eq!(clean_html(html).as_deref(), Some(expected), "{html}");
    }
    let slow = format!("<p {}>", (0..50_000).map(|n| format!("a{n}=1 ")).collect::<String>());
    assert_eq!(clean_html(&slow), None);
    let quoted = format!("<p {}>", (0..50_000).map(|n| format!("a{n}='>' ")).collect::<String>());
    assert_eq!(clean_html(&quoted), None);
    // A browser would repeat all of the fonts in each paragraph.
    let fonts: String = (0..200).map(|n| format!("<font a={n}>")).collect();
    let repeated = format!("<p>{fonts}</p>{}", "<p>x".repeat(15_000));
    assert!(clean_html(&repeated).unwrap().len() < repeated.len());
    assert_eq!(clean_html(&"<div>".repeat(20_000)).unwrap().len(), 200 * "<div></div>".len());
}

proptest! {
    #[test]
    fn cleaning_html_twice_changes_nothing(bits in prop::collection::vec(prop::sample::select(vec![
        "<", ">", "\"", "'", "<p>", "</p>", "<script>", "</script>", "<a href=", "javascript:x", " onload=x ", "<!--", "-->", "<style>",
        "</style>", "x", " ", "&lt;", "<img src=", "<svg", "/", "<![CDATA[", "]]>", "<textarea>", "</textarea>", "=", "<noscript>", "&#60;",
    ]), 0..25)) {
        let html = bits.concat();
        let once = clean_html(&html).unwrap();
        let again = clean_html(&once).unwrap();
        prop_assert_eq!(&again, &once);
        let mut rest = once.as_str();
        while let Some(at) = rest.find('<') {
            rest = &rest[at..];
            let tag = &rest[..rest.find('>').unwrap()];
            prop_assert!(!tag.contains("script") && !tag.contains("onload") && !tag.contains("svg"), "{}", tag);
            rest = &rest[1..];
        }
    }

    #[test]
    fn no_markdown_yields_active_content(input in "[a-z<>\\[\\]()!*_`#|:/\\n -]{0,60}") {
        let both = text::markdown(&input);
        prop_assert!(!both.html.contains("<script") && !both.html.contains("javascript:"));
    }
}

/// Thousands of recipients are refused before any is examined. Up to the limit of recipients,
/// duplicates are removed without noticeable work.
#[test]
fn reply_to_thousands_is_refused_early() {
    let people = |from: usize, to: usize| -> Vec<MailPerson> {
        (from..to).map(|n| person("", &format!("p{n}@example.com"))).collect()
    };
    let of = |to: Vec<MailPerson>, cc: Vec<MailPerson>| SourceMessage {
        from: vec![person("", "bo@example.com")],
        to,
        cc,
        ..SourceMessage::default()
    };
    let own = [EmailAddress::from("p0@example.com")];
    let huge = of(people(0, 100_000), people(0, 100_000));
    let answers_to = |reply_to| SourceMessage { reply_to, ..of(Vec::new(), Vec::new()) };
    for (original, all, expected) in cases! {
        huge.clone(), true,
            "a reply would go to 200001 people, more than 500: use mode=reply, or give `to` and `cc`";
        SourceMessage { own: true, ..huge.clone() }, true,
            "a reply would go to 200000 people, more than 500: use mode=reply, or give `to` and `cc`";
        SourceMessage { own: true, ..huge.clone() }, false,
            "a reply would go to 100000 people, more than 500: give `to`";
        answers_to(people(0, 50_000)), false,
            "a reply would go to 50000 people, more than 500: give `to`";
    } {
        let mut warnings = Vec::new();
        let mut error = String::new();
        let work = allocation_counter::measure(|| {
            let refused = reply::recipients(&original, &own, all, &mut warnings).unwrap_err();
            error = refused.to_string();
        });
        assert_eq!((error.as_str(), warnings.len()), (expected, 0));
        // No recipient was examined.
        assert!(work.bytes_total < 4_096, "{work:?}");
    }
    // A reply to the sender alone has one recipient, whatever the original's audience.
    let (to, cc) = reply::recipients(&huge, &own, false, &mut Vec::new()).unwrap();
    assert_eq!((to.len(), cc.len()), (1, 0));
    let full = of(people(0, 250), people(100, 349));
    let (to, cc) = reply::recipients(&full, &own, true, &mut Vec::new()).unwrap();
    assert_eq!((to.len(), cc.len()), (250, 99));
}
