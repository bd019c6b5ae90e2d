//! Memory and time of many changes.

use std::time::{Duration, Instant};

use super::*;

/// Returns the memory of this process in bytes, or `None` if the system does not report it.
fn memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib << 10)
}

/// Sends and delivers a thousand messages of 20 KB. Sender and recipient keep a copy each, which
/// makes 40 MB; the thousand intermediate states are not kept.
#[tokio::test]
async fn thousand_messages_are_sent() {
    let sandbox = sandbox().await;
    let user = signed_in(&sandbox, MIRA).await;
    let text = "A line of some length.\r\n".repeat(850);
    let (before, start) = (memory(), Instant::now());
    for number in 0..1_000 {
        let id = format!("Message-ID: <{number}@example.com>");
        let lines = ["From: mira@example.com", "To: zoe@example.com", &id];
        let draft = json!({ "message": { "raw": raw(&lines, &text) } });
        let draft = user.post("drafts", draft).await;
        user.post("drafts/send", json!({ "id": draft["id"] })).await;
    }
    // Generous, for slow machines; quadratic work would take minutes.
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
    if let (Some(before), Some(after)) = (before, memory()) {
        // Other tests run beside this one.
        let more = after.saturating_sub(before) >> 20;
        assert!(more < 1_024, "{more} MiB");
    }
    for address in [MIRA, ZOE] {
        let of = signed_in(&sandbox, address).await;
        assert_eq!(of.json("profile").await["messagesTotal"], 1_001, "{address}");
    }
    assert_eq!(sandbox.labels_of(ZOE, "999@example.com"), [["UNREAD", "INBOX"]]);
}
