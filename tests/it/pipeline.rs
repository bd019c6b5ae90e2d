//! Reads whose sizes a transcript does not show: a long thread, and the tokens of a reserve.

use daysheet::cli::sandboxed::SandboxUser;
use serde_json::json;
use tempfile::TempDir;

use crate::support::{ME, Session, column, write_message};

/// The setting applies to the default budget and to budgets of calls.
#[tokio::test]
async fn reserve_setting_leaves_tokens_to_the_caller() {
    let who = SandboxUser::These(&[("google", ME)]);
    let mut plain = Session::set(TempDir::new().unwrap(), &[], who).await;
    let reserve = [("DAYSHEET_RESERVE", "7890")];
    let mut reserving = Session::set(TempDir::new().unwrap(), &reserve, who).await;
    let needed = |error: String| -> usize {
        let rest =
            error.strip_prefix("budget_too_small needed=").unwrap_or_else(|| panic!("{error}"));
        rest.split(':').next().unwrap().parse().unwrap()
    };
    let small = needed(plain.error("mail_search", json!({"limit": 60, "budget": 110})).await);
    // The stated budget includes the reserved tokens. Random words differ by a few tokens.
    let with_reserve = needed(reserving.error("mail_search", json!({"limit": 60})).await);
    assert!(with_reserve.abs_diff(small + 7890) <= 9, "{small} {with_reserve}");
    assert_eq!(
        reserving.error("mail_search", json!({"budget": 7989})).await,
        "budget=7989 leaves under 100 tokens beyond reserve=7890: raise `budget`, or lower \
         `reserve`, which may be a setting"
    );
}

#[tokio::test]
async fn thread_of_sixty_is_read_in_parts() {
    let mail = TempDir::new().unwrap();
    for number in 0..60 {
        let references = if number == 0 { "" } else { "References: <0@example.com>\n" };
        let headers = format!(
            "From: jonas@example.com\nTo: {ME}\nSubject: Lamps\nMessage-ID: <{number}@example.com>\n\
             {references}Date: Mon, 2 Nov 2026 10:{number:02}:00 +0000"
        );
        write_message(&mail.path().join(ME), &format!("{number}.eml"), &headers, "hello");
    }
    let mut session = Session::over(Some(mail.path())).await;
    session.ok("mail_search", json!({"by": "thread"})).await;
    let mut arguments = json!({"ids": ["t1"], "body": "none"});
    let mut seen = Vec::new();
    for expected in [25, 25, 10] {
        let page = session.json("mail_read", arguments).await;
        let dates = column(&page, "messages", "date");
        assert_eq!(dates.len(), expected);
        seen.extend(dates);
        arguments = json!({"cursor": page["next"]});
    }
    let newest_first: Vec<_> =
        (0..60).rev().map(|minute| format!("2026-11-02 11h{minute:02}")).collect();
    assert_eq!(seen, newest_first);
}
