//! Paging through two accounts of 10,000 messages each, one at Gmail and one at Outlook, with one
//! cursor. Every message must be returned exactly once.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::common::{self, ALL, figure, figures, median, timed};
use crate::server::Server;

const ACCOUNTS: [(&str, &str); 2] =
    [("google", "ana@example.com"), ("microsoft", "bo@example.com")];
/// Messages of each account.
const EACH: usize = 10_000;
/// Rows of a page: the maximum.
const PAGE: usize = 100;
/// Pages at each end whose times are compared.
const ENDS: usize = 20;

pub async fn run() {
    let folder = tempfile::tempdir().unwrap();
    for (_, owner) in ACCOUNTS {
        common::mailbox(folder.path(), owner, EACH);
    }
    let sandbox = common::sandbox(folder.path()).await;
    assert_eq!(sandbox.report().messages, 2 * EACH);
    // The sandbox answers from a thread of its own while this one waits.
    let mut server = Server::over(&sandbox, &folder.path().join("home"), &ACCOUNTS).await;
    let (mut times, mut seen, mut last) = (Vec::new(), HashSet::new(), String::from("9999"));
    let mut arguments = json!({"limit": PAGE, "format": "json", "budget": ALL, "fields": ["account", "subject", "date"]});
    loop {
        let (page, took) = timed(|| server.call("mail_search", &arguments));
        times.push(took);
        let page: Value = serde_json::from_str(&page[0]).unwrap();
        for row in page["messages"].as_array().unwrap() {
            assert!(seen.insert(format!("{} {}", row["account"], row["subject"])), "twice: {row}");
            let date = row["date"].as_str().unwrap();
            assert!(date <= last.as_str(), "{date} after {last}");
            date.clone_into(&mut last);
        }
        match page["next"].as_str() {
            Some(next) => arguments = json!({"cursor": next, "format": "json", "budget": ALL}),
            None => break,
        }
    }
    assert_eq!(seen.len(), 2 * EACH);
    figures();
    let pages = format!("{} in {} pages", seen.len(), times.len());
    figure("messages, each exactly once, newest first", pages, "all");
    // Not the first and the last page: the first opens connections, the last is not full.
    let first = median(times[1..=ENDS].to_vec()).unwrap();
    let end = median(times[times.len() - 1 - ENDS..times.len() - 1].to_vec()).unwrap();
    figure("time of a page at the end : at the start", format!("{:.2}", end / first), "at most 2");
    if let Some(most) = server.memory("VmHWM") {
        figure("most memory of the server", format!("{most:.1} MB"), "under 60 MB");
    }
    server.end();
}
