//! Special messages: delivery reports, receipts, encrypted and packed messages. The providers parse
//! them differently but give the same answer.

use daysheet::cli::sandboxed::SandboxUser;
use serde_json::json;
use tempfile::TempDir;

use crate::support::{ME, Session, column, write_message};

const BOUNCE: &str = "--b\nContent-Type: text/plain\n\nDelivery failed.\n--b\nContent-Type: message/delivery-status\n\n\
    Reporting-MTA: dns; mx.x.org\n\nFinal-Recipient: rfc822; bob@y.org\nAction: failed\nStatus: 5.1.1\n\
    Diagnostic-Code: smtp; 550 no such user\n\n--b\nContent-Type: message/rfc822\n\nSubject: orig\nFrom: me@x.org\n\nhi\n--b--\n";
const RECEIPT: &str = "--b\nContent-Type: text/plain\n\nIt was read.\n--b\nContent-Type: message/disposition-notification\n\n\
    Final-Recipient: rfc822; bob@y.org\nDisposition: manual-action/MDN-sent-manually; displayed\n\n--b--\n";
const ENCRYPTED: &str = "--b\nContent-Type: application/pgp-encrypted\n\nVersion: 1\n\n--b\n\
    Content-Type: application/octet-stream; name=encrypted.asc\n\n-----BEGIN PGP MESSAGE-----\n\nabc\n-----END PGP MESSAGE-----\n--b--\n";

/// CMS with a text in two parts, in indefinite-length encoding.
const SIGNED: &str = "MIAGCSqGSIb3DQEHAqCAMIACAQExADCABgkqhkiG9w0BBwGggCSABBRDb250ZW50LVR5cGU6IHRleHQvcAQebGFp\
     bg0KDQp3b3JkcyBpbiBhIHNpZ25hdHVyZQ0KAAAAAAAAMQAAAAAAAAA=";

/// Subject, content type, body, and the answer's text and note.
const MESSAGES: [(&str, &str, &str, &str, &str); 8] = [
    (
        "bounce",
        "multipart/report; report-type=delivery-status; boundary=b",
        BOUNCE,
        "Delivery failed.",
        "",
    ),
    (
        "receipt",
        "multipart/report; report-type=disposition-notification; boundary=b",
        RECEIPT,
        "It was read.",
        "",
    ),
    (
        "pgp",
        "multipart/encrypted; protocol=\"application/pgp-encrypted\"; boundary=b",
        ENCRYPTED,
        "",
        "it is encrypted (PGP/MIME): nothing can be read here",
    ),
    (
        "smime",
        "application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m",
        "MIAGCSqGSIb3",
        "",
        "it is encrypted (S/MIME): nothing can be read here",
    ),
    (
        "signed",
        "application/pkcs7-mime; smime-type=signed-data; name=smime.p7m\nContent-Transfer-Encoding: base64",
        SIGNED,
        "words in a signature",
        "its text is packed in its S/MIME signature, which is not checked",
    ),
    (
        "enriched",
        "text/enriched",
        "<bold>Hi</bold>",
        "",
        "its text is in text/enriched: mail_attachment as=text shows it with its marks",
    ),
    ("empty", "text/plain", "", "", "it has no text at all"),
    (
        "partial",
        "message/partial; id=\"a@b\"; number=2; total=3",
        "two of it",
        "two of it",
        "it is part 2 of 3 of a message sent in parts",
    ),
];

#[tokio::test]
async fn reports_are_rows_and_unreadable_texts_say_why() {
    let mail = TempDir::new().unwrap();
    for (at, (subject, kind, body, ..)) in MESSAGES.iter().enumerate() {
        let head = format!(
            "From: a@y.org\nTo: {ME}\nSubject: {subject}\nMessage-ID: <{at}@y.org>\nMIME-Version: 1.0\nContent-Type: {kind}"
        );
        write_message(&mail.path().join(ME), &format!("{at}.eml"), &head, body);
    }
    let who = SandboxUser::These(&[("google", ME), ("microsoft", ME)]);
    let mut session = Session::signed_in(TempDir::new().unwrap(), Some(mail.path()), who).await;
    for account in ["google:mira@example.com", "microsoft:mira@example.com"] {
        for (subject, _, _, text, note) in MESSAGES {
            // Exchange stores such a part as an attachment without text.
            if subject == "partial" && account.starts_with("microsoft") {
                continue;
            }
            let found = session
                .json("mail_search", json!({"q": format!("subject:{subject}"), "account": account}))
                .await;
            let id = column(&found, "messages", "id")[0].clone();
            let blocks = session.ok("mail_read", json!({"ids": [id]})).await;
            let all = blocks.join("\n");
            assert!(all.contains(text) && all.contains(note), "{account} {subject}: {all}");
            let row = match subject {
                "bounce" => ["failed", "bob@y.org", "5.1.1", "550 no such user"],
                "receipt" => ["read", "bob@y.org", "", ""],
                _ => continue,
            };
            let read = session.json("mail_read", json!({"ids": [id]})).await;
            for (name, want) in ["kind", "recipient", "status", "reason"].into_iter().zip(row) {
                let got = read["reports"][0][name].as_str().unwrap_or_default();
                assert_eq!(got, want, "{account} {subject} {name}: {read}");
            }
        }
    }
}
