//! The joining details of an online meeting are kept when the description changes.

use daysheet_providers::microsoft::calendar::online::{body, own_notes};
use serde_json::{Value, json};

const PART: &str = "<div class=\"x\"><span>________________________________________</span></div>\
    <div class=\"me-email-text\"><a href=\"https://teams.example/l/meetup-join/1?a=b&amp;c=d\">Join</a></div>";
const LINK: &str = "https://teams.example/l/meetup-join/1?a=b&c=d";

fn event(kind: &str, content: &str, online: bool) -> Value {
    json!({
        "isOnlineMeeting": online,
        "onlineMeeting": if online { json!({"joinUrl": LINK}) } else { Value::Null },
        "body": {"contentType": kind, "content": content},
    })
}

#[test]
fn changed_description_keeps_the_joining_instructions() {
    let twice = format!("{PART}<div>________________________________</div>");
    for (kind, old, expected) in cases! {
        "html", format!("<html><head></head><body><div>Bring proofs</div>{PART}</body></html>"),
            format!("<html><body>2 &lt; 3<br>Lena &amp; Tomasz<br>{PART}</body></html>");
        "html", format!("<html><body>{twice}</body></html>"),
            format!("<html><body>2 &lt; 3<br>Lena &amp; Tomasz<br>{twice}</body></html>");
        "html", format!("<body>Ink<div class=\"y\"><a href=\"{LINK}\">Join</a></div></body>"),
            format!(
                "<html><body>2 &lt; 3<br>Lena &amp; Tomasz<br>\
                 <div class=\"y\"><a href=\"{LINK}\">Join</a></div></body></html>"
            );
        "text", "Bring proofs\n________________________\nJoin here".to_owned(),
            "2 < 3\nLena & Tomasz\n________________________\nJoin here".to_owned();
    } {
        let new = body(&event(kind, &old, true), "2 < 3\nLena & Tomasz").unwrap();
        assert_eq!(new, json!({"contentType": kind, "content": expected}));
    }
}

#[test]
fn description_without_joining_instructions_is_replaced() {
    for (old, online) in [("<div>Bring proofs</div>", true), (PART, false), ("", true)] {
        let new = body(&event("html", old, online), "Bring ink").unwrap();
        assert_eq!(new, json!({"contentType": "text", "content": "Bring ink"}), "{old}");
    }
}

#[test]
fn inseparable_joining_instructions_are_not_changed() {
    let old = format!("<p>Join at {}</p>", LINK.replace('&', "&amp;"));
    let error = body(&event("html", &old, true), "Bring ink").unwrap_err();
    assert_eq!(
        error.to_string(),
        "changing the description would lose how to join the online meeting: leave out `notes`, or \
         change the description in Outlook"
    );
}

#[test]
fn copies_have_no_joining_instructions() {
    let line = "________________________________";
    let paragraphs =
        format!("<p class=\"x\"><span>{line}</span></p><p><a href=\"{LINK}\">Join</a></p>");
    let unlined = format!("<div class=\"y\"><a href=\"{LINK}\">Join the meeting</a></div>");
    for (kind, old, own) in cases! {
        "html", format!("<body><div>Bring <b>proofs</b></div>{PART}</body>"), "Bring proofs";
        "html", format!("<body>{PART}</body>"), "";
        "html", format!("<div>Ink<br>{unlined}</div>"), "Ink";
        // Outlook for Windows puts all paragraphs in one part.
        "html", format!("<body><div><p>Bring proofs</p>{paragraphs}</div></body>"), "Bring proofs";
        // A line that somebody wrote is theirs.
        "html", format!("<p>One</p><p>{line}</p><p>Two</p>{PART}"),
            "One\n\n________________________________\n\nTwo";
        "text", format!("Ink\n{line}\nJoin: {LINK}\n{line}\n"), "Ink";
        "text", "Bring ink".to_owned(), "Bring ink";
    } {
        assert_eq!(own_notes(&event(kind, &old, true)), own, "{old}");
    }
    let own = own_notes(&event("html", &format!("<p>At</p>{PART}"), false));
    assert!(own.ends_with("Join"), "an event without a meeting keeps its text: {own}");
}

#[test]
fn joining_instructions_sent_back_are_not_kept_twice() {
    let old = format!("<body><div>Bring proofs</div>{PART}</body>");
    let line = "________________________________________";
    for (notes, own) in cases! {
        format!("Bring ink\n{line}\nJoin"), "Bring ink";
        format!("Bring ink {line} Join\nand paper"), "Bring ink<br>and paper";
        format!("{line} Join"), "";
        // As an import adds the link.
        format!("Bring ink\n{line}\nJoin\n{LINK}"), "Bring ink";
        // Text of one's own, although it begins alike.
        format!("{line} Joint work"), "________________________________________ Joint work";
        "Join us".to_owned(), "Join us";
    } {
        let new = body(&event("html", &old, true), &notes).unwrap();
        let expected = format!("<html><body>{own}<br>{PART}</body></html>");
        assert_eq!(new["content"], expected, "{notes}");
    }
}
