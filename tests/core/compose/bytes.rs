//! Messages as bytes, read back by a third-party parser.

use daysheet_core::compose::{mime, read};
use daysheet_core::ids::EmailAddress;
use daysheet_core::provider::mail::{
    AttachmentContent, Importance, MailPerson, OutgoingAttachment, OutgoingMessage,
};
use jiff::Timestamp;
use mail_parser::{Address, MessageParser};
use proptest::prelude::*;

use super::{message, person};

/// Tuesday, 3 February 2026, 10:00 UTC.
const DATE: Timestamp = Timestamp::constant(1_770_112_800, 0);

fn file(name: &str, media: &str, cid: Option<&str>, bytes: &[u8]) -> OutgoingAttachment {
    OutgoingAttachment {
        name: name.to_owned(),
        media: media.to_owned(),
        cid: cid.map(str::to_owned),
        content: AttachmentContent::Bytes(bytes.into()),
    }
}

/// Returns a message that uses every member.
fn full() -> OutgoingMessage {
    OutgoingMessage {
        to: vec![
            person("Lindqvist, \"Jonas\"", "jonas@example.com"),
            person("Zoë Århus", "zoe@xn--mnchen-3ya.example"),
        ],
        cc: vec![person("", "yusuf@lindqvist-lamps.example")],
        bcc: vec![person("Priya", "priya@example.com")],
        reply_to: vec![person("", "office@lindqvist-lamps.example")],
        subject: "Angebot für zwölf Lampen – Größe L".to_owned(),
        text: "Grüße\nFrom here\n.\nend  ".to_owned(),
        html: "<p>Grüße <img src=\"cid:logo@x\"></p>".to_owned(),
        importance: Importance::High,
        in_reply_to: Some("a2@example.org".to_owned()),
        references: vec!["a1@example.org".to_owned(), "a2@example.org".to_owned()],
        files: vec![
            file("logo.png", "image/png", Some("logo@x"), &[0, 13, 10, 13, 255]),
            file("Rechnung für März.pdf", "application/pdf", None, b"%PDF\0\r\n\r"),
            file("notes.txt", "text/plain", None, b"one\rtwo\0\nthree"),
        ],
        ..message()
    }
}

#[test]
fn simple_message_is_written_as_these_bytes() {
    let bytes = mime(&message(), DATE).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let boundary = text.split("boundary=\"").nth(1).unwrap().split('"').next().unwrap();
    let expected = "Date: Tue, 3 Feb 2026 10:00:00 +0000\r\n\
        Message-ID: <k1@example.com>\r\n\
        From: \"Mira Lindqvist\" <mira@example.com>\r\n\
        To: <jonas@example.com>\r\n\
        Subject: Lamps\r\n\
        MIME-Version: 1.0\r\n\
        Content-Type: multipart/alternative; \r\n boundary=\"BOUNDARY\"\r\n\
        \r\n\
        --BOUNDARY\r\n\
        Content-Type: text/plain; charset=\"utf-8\"\r\n\
        Content-Transfer-Encoding: 7bit\r\n\
        \r\n\
        Hello\r\n\
        \r\n\
        --BOUNDARY\r\n\
        Content-Type: text/html; charset=\"utf-8\"\r\n\
        Content-Transfer-Encoding: 7bit\r\n\
        \r\n\
        <p>Hello</p>\r\n\
        \r\n\
        --BOUNDARY--\r\n";
    assert_eq!(
        text.replace(boundary, "BOUNDARY").replace("; \r\n", ";\r\n"),
        expected.replace("; \r\n", ";\r\n")
    );
}

#[test]
fn written_message_reads_back_unchanged() {
    let message = full();
    let bytes = mime(&message, DATE).unwrap();
    assert_seven_bits(&bytes);
    let mut back = read(&bytes).unwrap();
    back.text = back.text.trim_end_matches('\n').to_owned();
    back.html = back.html.trim_end().to_owned();
    assert_eq!(back, message);
    let shape: Vec<String> = MessageParser::default()
        .parse(&bytes)
        .unwrap()
        .parts
        .iter()
        .map(|part| {
            use mail_parser::MimeHeaders;
            let kind = part.content_type().unwrap();
            format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or_default())
        })
        .collect();
    assert_eq!(
        shape,
        [
            "multipart/mixed", "multipart/alternative", "text/plain", "multipart/related",
            "text/html", "image/png", "application/pdf", "text/plain"
        ]
    );
}

#[test]
fn each_header_field_is_written_once() {
    let names = [
        "Date", "Message-ID", "From", "Reply-To", "To", "Cc", "Bcc", "Subject", "In-Reply-To",
        "References", "Importance", "X-Priority", "MIME-Version", "Content-Type",
    ];
    assert_eq!(fields(&mime(&full(), DATE).unwrap()), names);
}

/// Returns the names of a message's header fields, found line by line.
fn fields(bytes: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(bytes).unwrap();
    let (head, _) = text.split_once("\r\n\r\n").unwrap();
    head.split("\r\n")
        .filter(|line| !line.starts_with([' ', '\t']))
        .map(|line| line.split(':').next().unwrap().to_owned())
        .collect()
}

fn assert_seven_bits(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap();
    assert!(text.is_ascii(), "{text}");
    assert!(!text.contains('\0'));
    assert!(text.ends_with("\r\n"));
    for line in text.split("\r\n") {
        assert!(!line.contains(['\r', '\n']), "{line:?}");
        assert!(line.len() <= 998, "{}", line.len());
    }
    let (head, _) = text.split_once("\r\n\r\n").unwrap();
    for line in head.split("\r\n") {
        let foldable = line.trim_start().contains(' ');
        assert!(line.len() <= 78 || !foldable, "{line}");
    }
}

/// A function that puts a hostile text into a message.
type Put = fn(&mut OutgoingMessage, String);

#[test]
fn no_value_starts_a_new_header_field() {
    let places: [(&str, Put); 10] = [
        ("subject", |message, text| message.subject = text),
        ("from", |message, text| message.from.name = Some(text)),
        ("from", |message, text| message.from.address = text.into()),
        ("to", |message, text| message.to[0].name = Some(text)),
        ("to", |message, text| message.to[0].address = text.into()),
        ("message_id", |message, text| message.message_id = text),
        ("in_reply_to", |message, text| {
            message.in_reply_to = Some(text);
        }),
        ("references", |message, text| message.references.push(text)),
        ("file name", |message, text| message.files[0].name = text),
        ("cid", |message, text| message.files[0].cid = Some(text)),
    ];
    for evil in ["x\r\nBcc: eve@example.net", "x\nBcc: eve@example.net", "x\r", "x\0y"] {
        for (field, put) in places {
            let mut message = full();
            put(&mut message, evil.to_owned());
            let error = mime(&message, DATE).unwrap_err();
            assert_eq!(error.kind(), daysheet_core::error::ErrorKind::Argument);
            let begins = format!("{field} contains a line break or NUL");
            assert!(error.message().starts_with(&begins), "{}", error.message());
        }
    }
}

#[test]
fn invalid_ids_and_addresses_are_refused() {
    let places: [(&str, Put); 4] = [
        ("", |message, text| message.message_id = text),
        ("a b@x", |message, text| message.in_reply_to = Some(text)),
        ("a@x> <b@x", |message, text| message.references.push(text)),
        ("jonas@münchen.example", |message, text| {
            message.to[0].address = text.into();
        }),
    ];
    for (odd, put) in places {
        let mut message = full();
        put(&mut message, odd.to_owned());
        assert!(mime(&message, DATE).is_err(), "{odd}");
    }
}

#[test]
fn text_resembling_encoded_words_reads_back_unchanged() {
    let odd = "=?utf-8?B?ZXZlQGV4YW1wbGUubmV0?= and a longer line after it, to be folded somewhere";
    let mut message = message();
    message.subject = odd.to_owned();
    message.to[0].name = Some(odd.to_owned());
    message.to.push(person("", "priya@example.com"));
    let bytes = mime(&message, DATE).unwrap();
    assert_seven_bits(&bytes);
    let back = read(&bytes).unwrap();
    assert_eq!((back.subject.as_str(), &back.to), (odd, &message.to));
}

#[test]
fn attached_message_goes_unchanged_or_as_plain_file() {
    let inner = b"From: a@example.com\r\nSubject: x\r\n\r\nbody\r\n";
    for (inner, media) in [
        (inner.to_vec(), "message/rfc822"),
        ([inner.as_slice(), "ü\r\n".as_bytes()].concat(), "application/octet-stream"),
        ([inner.as_slice(), b"a\nb"].concat(), "application/octet-stream"),
    ] {
        let mut message = message();
        message.files = vec![file("x.eml", "message/rfc822", None, &inner)];
        let bytes = mime(&message, DATE).unwrap();
        assert_seven_bits(&bytes);
        let back = read(&bytes).unwrap();
        assert_eq!(back.files.len(), 1);
        assert_eq!(back.files[0].media, media);
        let AttachmentContent::Bytes(found) = &back.files[0].content else { panic!() };
        assert_eq!(
            String::from_utf8_lossy(found).trim_end(),
            String::from_utf8_lossy(&inner).trim_end()
        );
    }
}

#[test]
fn missing_body_form_is_made_from_the_other() {
    let back = read(b"From: a@example.com\r\n\r\nHi <b>\r\n").unwrap();
    assert_eq!((back.text.as_str(), back.html.as_str()), ("Hi <b>\n", "<p>Hi &lt;b&gt;</p>"));
    let back = read(b"From: a@example.com\r\nContent-Type: text/html\r\n\r\n<p>Hi").unwrap();
    assert_eq!((back.text.as_str(), back.html.as_str()), ("Hi", "<p>Hi"));
    assert!(read(b"").is_err());
}

fn hostile() -> impl Strategy<Value = String> {
    let bits = prop::sample::select(vec![
        "a",
        " ",
        "  ",
        "\t",
        ",",
        ";",
        ":",
        "\"",
        "\\",
        "<",
        ">",
        "(",
        ")",
        "@",
        "=?utf-8?Q?",
        "?=",
        "ü",
        "漢字",
        "\u{202e}",
        "é",
        "👩‍🚀",
        "--",
        "Bcc:",
        "x".repeat(80).leak(),
        "%0d%0a",
        "'",
        "*",
        "/",
        "..",
        "\u{1}",
        "\u{85}",
        "\u{2028}",
    ]);
    prop::collection::vec(bits, 0..12).prop_map(|bits| bits.concat())
}

proptest! {
    #[test]
    fn hostile_texts_stay_in_their_header_fields(
        subject in hostile(), name in hostile(), file_name in hostile(), body in hostile()
    ) {
        let mut message = full();
        message.subject = subject.clone();
        message.to[0].name = Some(name.clone());
        message.files[1].name = file_name.clone();
        message.text = format!("{body}\r{body}\n{body}\0");
        message.html = body.clone();
        let bytes = mime(&message, DATE).unwrap();
        assert_seven_bits(&bytes);
        prop_assert_eq!(fields(&bytes), fields(&mime(&full(), DATE).unwrap()));
        let parsed = MessageParser::default().parse(&bytes).unwrap();
        let Some(Address::List(to)) = parsed.to() else { panic!("{:?}", parsed.to()) };
        let addresses: Vec<_> = to.iter().map(|one| one.address().unwrap()).collect();
        prop_assert_eq!(addresses, ["jonas@example.com", "zoe@xn--mnchen-3ya.example"]);
        prop_assert_eq!(parsed.attachment_count(), 3);
        let clean = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        prop_assert_eq!(clean(parsed.subject().unwrap_or_default()), clean(&subject));
        prop_assert_eq!(clean(to[0].name().unwrap_or_default()), clean(&name));
    }
}

#[test]
fn repeated_header_fields_are_all_read() {
    let raw = "From: mira@example.com\r\nTo: bo@example.com\r\nCC: x@example.com\r\n\
               Subject: Hi\r\nto: eve@evil.example, Cy <cy@example.com>\r\nCc: y@example.com\r\n\
               Bcc: a@example.com\r\nBCC: b@example.com\r\nReply-To: c@example.com\r\n\
               Reply-To: d@example.com\r\n\r\nHello";
    let read = read(raw.as_bytes()).unwrap();
    let of = |people: &[MailPerson]| -> Vec<EmailAddress> {
        people.iter().map(|one| one.address.clone()).collect()
    };
    assert_eq!(of(&read.to), ["bo@example.com", "eve@evil.example", "cy@example.com"]);
    assert_eq!(of(&read.cc), ["x@example.com", "y@example.com"]);
    assert_eq!(of(&read.bcc), ["a@example.com", "b@example.com"]);
    assert_eq!(of(&read.reply_to), ["c@example.com", "d@example.com"]);
}
