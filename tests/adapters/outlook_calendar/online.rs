//! What tells how to join an online meeting stays when the description changes.

use daysheet_providers::microsoft::calendar::online::body;
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
