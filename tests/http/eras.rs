//! Each era of the protocol, at any instance.

use serde_json::json;

use crate::stage::{Caller, OLD, Stage};

#[tokio::test]
async fn each_person_sees_their_own_mail_at_any_instance() {
    let one = Stage::of(&["ann", "bo"]).await;
    let other = one.another().await;
    for (name, not) in [("ann", "bo"), ("bo", "ann")] {
        for stage in [&one, &other] {
            let modern = stage.modern(name);
            let without_handshake = Caller::new(stage, name, OLD);
            for caller in [modern, stage.old(name).await, without_handshake] {
                let found = caller.ok("mail_search", json!({"q": "for"})).await;
                assert!(found.contains(&format!("for {name}@example.com")), "{found}");
                assert!(!found.contains(&format!("{not}@")), "{found}");
            }
        }
    }
}
