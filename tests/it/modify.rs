//! `mail_modify`, over mailboxes in memory.

use daysheet_core::budget::count::tokens;
use daysheet_core::call::client::Confirmation;
use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::provider::ids::FolderId;
use daysheet_core::provider::mail::MessageFlag;
use daysheet_core::schemas::Service;
use serde_json::json;

use crate::common::fake_mailbox::{MailHarness, starred};
use crate::common::harness::FakeUser;

#[tokio::test]
async fn each_verb_becomes_its_action() {
    let cases = cases! {
        Service::Google, json!({"do": "read"}), "Read(true) 1";
        Service::Google, json!({"do": "star"}), "Flag(Set { due: None }) 1";
        Service::Google, json!({"do": "archive"}), "Archive 1";
        Service::Google, json!({"do": "trash"}), "Trash 1";
        Service::Google, json!({"do": "spam"}), "Spam 1";
        Service::Google, json!({"do": "move", "to": "Bills"}), "Move(\"Label_1\") 1";
        // Gmail has no labels for these folders, so a move becomes an action.
        Service::Google, json!({"do": "move", "to": "trash"}), "Trash 1";
        Service::Google, json!({"do": "copy", "to": "Bills"}), "Copy(\"Label_1\") 1";
        Service::Google, json!({"do": "label", "to": ["Bills", "Print shop"]}),
            "Label { add: [\"Label_1\", \"Label_2\"], remove: [] } 1";
        Service::Microsoft, json!({"do": "star", "due": "2026-02-05 09h00"}),
            "Flag(Set { due: Some(2026-02-05T08:00:00Z) }) 1";
        Service::Microsoft, json!({"do": "done"}), "Flag(Done) 1";
        Service::Microsoft, json!({"do": "archive"}), "Archive 1";
        Service::Microsoft, json!({"do": "move", "to": "Bills"}), "Move(\"fo\") 1";
        Service::Microsoft, json!({"do": "categorize", "to": "Bills"}), "Label { add: [\"fo\"], remove: [] } 1";
        Service::Microsoft, json!({"do": "delete"}), "Delete 1";
    };
    for (api, mut arguments, written) in cases {
        let harness = MailHarness::one(api, "full").await;
        harness.ana().fill(1);
        arguments["ids"] = "ana-0001".into();
        let answer = harness.ok("mail_modify", arguments.clone()).await;
        assert!(answer.starts_with("done: 1\n"), "{arguments}: {answer}");
        assert_eq!(harness.ana().written(), [written], "{arguments}");
    }
}

#[tokio::test]
async fn labels_are_added_and_removed_in_one_call() {
    let both = || json!(["Bills", "-Print shop"]);
    let cases = cases! {
        Service::Google, json!({"do": "label", "to": both()}), "Print shop|Bills",
            vec![r#"Label { add: ["Label_1"], remove: ["Label_2"] } 1"#];
        Service::Google, json!({"do": "label", "to": "-Print shop"}), "Print shop|\"\"",
            vec![r#"Label { add: [], remove: ["Label_2"] } 1"#];
        // A move is a change of labels, so one request is enough.
        Service::Google, json!({"do": "move", "to": both()}), "inbox, Print shop|archive, Bills",
            vec![
                r#"Label { add: ["Label_1"], remove: ["INBOX", "SPAM", "TRASH", "Label_2"] } 1"#,
            ];
        Service::Google, json!({"do": "move", "to": ["archive", "-Print shop"]}),
            "inbox, Print shop|archive",
            vec!["Archive 1", r#"Label { add: [], remove: ["Label_2"] } 1"#];
        Service::Microsoft, json!({"do": "categorize", "to": both()}), "Print shop|Bills",
            vec![r#"Label { add: ["fo"], remove: ["Label_2"] } 1"#];
        Service::Microsoft, json!({"do": "move", "to": both()}), "inbox, Print shop|Bills",
            vec!["Move(\"fo\") 1", r#"Label { add: [], remove: ["Label_2"] } 1"#];
    };
    for (api, mut arguments, changed, written) in cases {
        let harness = MailHarness::one(api, "organize").await;
        harness.ana().fill(1);
        harness.ana().places.lock().unwrap().insert("Print shop".into(), "Label_2".into());
        harness.ana().touch("ana-0001", |mail| mail.labels = ["Label_2".into()].into());
        let before = harness.ana().state("ana-0001");
        arguments["ids"] = "ana-0001".into();
        let mut dry = arguments.clone();
        dry["dry_run"] = true.into();
        let planned = harness.ok("mail_modify", dry).await;
        assert!(planned.starts_with("planned: 1\n"), "{arguments}: {planned}");
        let head = "done: 1\nundo: u1\nmodified[1|]{id|subject|before|after}:\n";
        assert_eq!(
            harness.ok("mail_modify", arguments.clone()).await,
            format!("{head}  m1|Letter ana-0001|{changed}"),
            "{arguments}"
        );
        assert_eq!(harness.ana().written(), written, "{arguments}");
        let again = harness.ok("mail_modify", arguments.clone()).await;
        assert_eq!(again, unchanged(arguments["do"].as_str().unwrap()), "{arguments}");
        harness.ok("mail_modify", json!({"undo": "u1"})).await;
        assert_eq!(harness.ana().state("ana-0001"), before, "{arguments}");
    }
}

/// Returns the answer to an action that does not change its message.
fn unchanged(verb: &str) -> String {
    format!("done: 0\nunchanged: 1\n--\nunchanged: already as do={verb} would leave them")
}

#[tokio::test]
async fn spam_that_is_only_moved_is_not_called_reported() {
    for (api, expected) in cases! {
        Service::Google, Vec::new();
        Service::Microsoft, vec!["Outlook only moves it to spam: reports need its own apps"];
    } {
        for dry_run in [false, true] {
            let harness = MailHarness::one(api, "organize").await;
            harness.ana().fill(1);
            let call = json!({"ids": ["ana-0001"], "do": "spam", "dry_run": dry_run});
            let answer = harness.ok("mail_modify", call).await;
            let notes: Vec<&str> = answer.lines().filter(|line| line.contains("spam:")).collect();
            assert_eq!(notes, expected, "{api:?} {dry_run}: {answer}");
        }
    }
}

#[tokio::test]
async fn unchanged_messages_are_not_sent() {
    let harness = MailHarness::one(Service::Google, "organize").await;
    harness.ana().fill(3);
    for verb in ["unread", "unstar", "restore"] {
        let answer = harness.ok("mail_modify", json!({"ids": ["ana-0001"], "do": verb})).await;
        assert_eq!(answer, unchanged(verb));
    }
    let unlabel = json!({"ids": ["ana-0001"], "do": "unlabel", "to": "Bills"});
    assert_eq!(harness.ok("mail_modify", unlabel).await, unchanged("unlabel"));
    // Archiving does not take messages out of the trash.
    harness.ana().touch("ana-0002", |mail| mail.folder = "TRASH".into());
    let archive = json!({"ids": ["ana-0002"], "do": "archive"});
    assert_eq!(harness.ok("mail_modify", archive).await, unchanged("archive"));
    assert_eq!(harness.ana().written(), Vec::<String>::new());
}

#[tokio::test]
async fn thousand_messages_are_reported_in_few_words() {
    let harness = MailHarness::one(Service::Google, "organize").await;
    harness.ana().fill(1200);
    harness.ana().touch("ana-1199", |mail| mail.unread = false);
    harness.ana().touch("ana-1200", |mail| mail.unread = false);
    let answer = harness.ok("mail_modify", json!({"q": "is:unread", "do": "read"})).await;
    let expected = "done: 998\nunchanged: 2\nundo: u1\n--\n\
                    200 more messages remain: call again for them";
    assert_eq!(answer, expected);
    assert!(tokens(&answer) <= 60, "{}", tokens(&answer));
    assert_eq!(harness.ana().written(), ["Read(true) 998"]);
    // The newest messages were changed.
    assert!(harness.ana().state("ana-0200").unread);
    assert!(!harness.ana().state("ana-0201").unread);
    let undone = harness.ok("mail_modify", json!({"undo": "u1"})).await;
    assert_eq!(undone, "undone: 998\nundo: u2");
    assert!(harness.ana().state("ana-0201").unread);
    assert!(!harness.ana().state("ana-1200").unread);
    // The undo is undone.
    assert_eq!(harness.ok("mail_modify", json!({"undo": "u2"})).await, "undone: 998\nundo: u3");
    assert!(!harness.ana().state("ana-0201").unread);
    assert_eq!(
        harness.audited(),
        [
            "mail_modify read begun",
            "mail_modify read done 998 of 998",
            "mail_modify undo begun",
            "mail_modify undo done 998 of 998",
            "mail_modify undo begun",
            "mail_modify undo done 998 of 998",
        ]
    );
}

#[tokio::test]
async fn failed_messages_are_named() {
    let harness = MailHarness::one(Service::Google, "organize").await;
    harness.ana().fill(20);
    let broken = Error::new(ErrorKind::Network, "the line broke");
    let refused = Error::new(ErrorKind::Provider(403), "Gmail refused").next("sign in again");
    for at in 1..=9 {
        let id = format!("ana-{at:04}");
        harness.ana().failing.lock().unwrap().insert(id, refused.clone());
    }
    harness.ana().failing.lock().unwrap().insert("ana-0010".to_owned(), broken);
    harness.ana().stubborn.lock().unwrap().insert("ana-0011".into());
    assert_eq!(
        harness.ok("mail_modify", json!({"q": "is:unread", "do": "archive"})).await,
        "done: 9\nundo: u1\noutcomes[3|]{item|op|result|detail}:\n  m1|archive|failed|\"the \
         provider accepted the change but did not apply it: look at it with mail_read\"\n  \
         m2|archive|unknown|\"the line broke: it may be done anyway, so call again: that changes \
         nothing twice\"\n  9 messages, m3 m4 m5 m6 m7 and others|archive|failed|\"Gmail refused: \
         sign in again\""
    );
    // Messages that may have changed are restored, too.
    harness.ana().failing.lock().unwrap().clear();
    harness.ana().touch("ana-0010", |mail| mail.folder = FolderId::default());
    let undone = harness.ok("mail_modify", json!({"undo": "u1"})).await;
    let head = "undone: 10\nunchanged: 1\nundo: u2\nmodified[10|]{id|subject|before|after}:\n  \
                m8|Letter ana-0020|archive|inbox\n";
    assert!(undone.starts_with(head), "{undone}");
    assert_eq!(harness.ana().state("ana-0010").folder, "INBOX");
}

#[tokio::test]
async fn undo_keeps_later_changes_by_others() {
    let harness = MailHarness::one(Service::Microsoft, "organize").await;
    harness.ana().fill(4);
    let bills = json!({"q": "is:unread", "do": "move", "to": "Bills"});
    assert_eq!(
        harness.ok("mail_modify", bills).await,
        "done: 4\nundo: u1\nmodified[4|]{id|subject|before|after}:\n  \
         m1|Letter ana-0004|inbox|Bills\n  m2|Letter ana-0003|inbox|Bills\n  \
         m3|Letter ana-0002|inbox|Bills\n  m4|Letter ana-0001|inbox|Bills"
    );
    // One was moved further, one was read, and one was restored by hand.
    harness.ana().touch("ana-0001", |mail| mail.folder = "tr".into());
    harness.ana().touch("ana-0002", |mail| mail.unread = false);
    harness.ana().touch("ana-0003", |mail| mail.folder = "in".into());
    assert_eq!(
        harness.ok("mail_modify", json!({"undo": "u1"})).await,
        "undone: 2\nunchanged: 1\nundo: u2\nmodified[2|]{id|subject|before|after}:\n  \
         m1|Letter ana-0004|Bills|inbox\n  m3|Letter ana-0002|Bills|inbox\n\
         outcomes[1|]{item|op|result|detail}:\n  m4|undo|skipped|\"changed since: left as it is\""
    );
    assert_eq!(harness.ana().state("ana-0001").folder, "tr");
    assert_eq!(harness.ana().state("ana-0002").folder, "in");
    assert!(!harness.ana().state("ana-0002").unread);
}

#[tokio::test]
async fn query_modifies_messages_of_all_accounts() {
    let harness = MailHarness::two().await;
    harness.ana().fill(3);
    harness.bo().fill(2);
    let planned = harness
        .ok("mail_modify", json!({"q": "is:unread", "do": "archive", "dry_run": true}))
        .await;
    assert_eq!(
        planned,
        "planned: 5\nmessages[5|]{id|from|subject|account}:\n  \
         m1|Shop <news@ana.example>|Letter ana-0003|ana@example.com\n  \
         m2|Shop <news@ana.example>|Letter ana-0002|ana@example.com\n  \
         m3|Shop <news@ana.example>|Letter ana-0001|ana@example.com\n  \
         m4|news@bo.example|Letter bo-0002|bo@example.com\n  \
         m5|news@bo.example|Letter bo-0001|bo@example.com\n--\n\
         dry run: nothing was written\nana@example.com: 3 planned\nbo@example.com: 2 planned"
    );
    assert_eq!(harness.ana().written(), Vec::<String>::new());
    let done = harness.ok("mail_modify", json!({"q": "is:unread", "do": "archive"})).await;
    assert_eq!(
        done,
        "done: 5\nundo: u1\nmodified[5|]{id|subject|before|after|account}:\n  \
         m1|Letter ana-0003|inbox|archive|ana@example.com\n  \
         m2|Letter ana-0002|inbox|archive|ana@example.com\n  \
         m3|Letter ana-0001|inbox|archive|ana@example.com\n  \
         m4|Letter bo-0002|inbox|archive|bo@example.com\n  \
         m5|Letter bo-0001|inbox|archive|bo@example.com\n--\n\
         ana@example.com: 3 done\nbo@example.com: 2 done"
    );
    assert_eq!(harness.bo().state("bo-0001").folder, "ar");
    let undone = harness.ok("mail_modify", json!({"undo": "u1"})).await;
    assert!(undone.starts_with("undone: 5\nundo: u2\n"), "{undone}");
    assert!(undone.ends_with("\nana@example.com: 3 undone\nbo@example.com: 2 undone"), "{undone}");
    assert_eq!(harness.ana().state("ana-0001").folder, "INBOX");
    assert_eq!(harness.bo().state("bo-0001").folder, "in");
}

#[tokio::test]
async fn large_modifications_are_split_among_accounts() {
    let harness = MailHarness::two().await;
    harness.ana().fill(1500);
    harness.bo().fill(200);
    let done = harness.ok("mail_modify", json!({"q": "is:unread", "do": "read"})).await;
    assert_eq!(
        done,
        "done: 1000\nundo: u1\n--\nana@example.com: 800 done\nbo@example.com: 200 done\n\
         700 more messages remain: call again for them"
    );
}

#[tokio::test]
async fn account_that_cannot_act_is_reported() {
    let harness = MailHarness::two().await;
    harness.ana().fill(1);
    harness.bo().fill(1);
    let done = harness.ok("mail_modify", json!({"q": "is:unread", "do": "done"})).await;
    assert_eq!(
        done,
        "done: 1\nundo: u1\nmodified[1|]{id|subject|before|after}:\n  \
         m1|Letter bo-0001|no flag|done\noutcomes[1|]{item|op|result|detail}:\n  \
         ana@example.com|done|failed|\"Gmail's stars cannot be marked done: use do=unstar or \
         do=archive\""
    );
    assert_eq!(harness.bo().state("bo-0001").flag, MessageFlag::Done);
}

#[tokio::test]
async fn handles_threads_and_ids_are_resolved() {
    let harness = MailHarness::one(Service::Google, "organize").await;
    harness.ana().fill(3);
    let kind = daysheet::store::HandleKind::Thread;
    let account = "google:ana@example.com";
    harness.store.handles(&account.into(), kind, &["ana"]).await.unwrap();
    let done = harness
        .ok("mail_modify", json!({"ids": ["t1", "ana-0002", "ana-0003", "m99"], "do": "star"}))
        .await;
    assert_eq!(
        done,
        "done: 3\nundo: u1\nmodified[3|]{id|subject|before|after}:\n  \
         m1|Letter ana-0002|no flag|starred\n  m2|Letter ana-0001|no flag|starred\n  \
         m3|Letter ana-0003|no flag|starred\noutcomes[1|]{item|op|result|detail}:\n  \
         m99|star|failed|\"there is no `m99`: use an id from a search or lookup\""
    );
    assert_eq!(harness.ana().state("ana-0003").flag, starred());
}

#[tokio::test]
async fn missing_folders_are_created_on_request() {
    let harness = MailHarness::one(Service::Google, "organize").await;
    harness.ana().fill(1);
    let to = json!({"ids": "ana-0001", "do": "label", "to": "Taxes"});
    let missing = harness.error("mail_modify", to.clone()).await;
    assert_eq!(missing, "there is no Taxes: say Bills; create=true creates it");
    let mut made = to.clone();
    made["create"] = true.into();
    let mut planned = made.clone();
    planned["dry_run"] = true.into();
    let planned = harness.ok("mail_modify", planned).await;
    assert!(planned.ends_with("\n`Taxes` would be created"), "{planned}");
    assert_eq!(harness.ana().places.lock().unwrap().len(), 2);
    let done = harness.ok("mail_modify", made).await;
    assert_eq!(
        done,
        "done: 1\nundo: u1\nmodified[1|]{id|subject|before|after}:\n  \
         m1|Letter ana-0001|\"\"|Taxes\n--\ncreated `Taxes`"
    );
}

#[tokio::test]
async fn undo_names_the_folders_that_stay() {
    for (api, verb, kind) in cases! {
        Service::Google, "label", "label";
        Service::Google, "move", "label";
        Service::Microsoft, "label", "category";
        Service::Microsoft, "move", "folder";
    } {
        let harness = MailHarness::one(api, "organize").await;
        harness.ana().fill(1);
        let made = json!({"ids": "ana-0001", "do": verb, "to": "Taxes", "create": true});
        harness.ok("mail_modify", made).await;
        let note = format!(
            "`Taxes` was created by the change and stays: manage kind={kind} op=delete deletes it"
        );
        let dry = harness.ok("mail_modify", json!({"undo": "u1", "dry_run": true})).await;
        assert!(dry.ends_with(&format!("dry run: nothing was written\n{note}")), "{dry}");
        let undone = harness.ok("mail_modify", json!({"undo": "u1"})).await;
        assert!(undone.starts_with("undone: 1\nundo: u2\n"), "{verb}: {undone}");
        assert!(undone.ends_with(&format!("\n--\n{note}")), "{verb}: {undone}");
        // A folder deleted in the meantime is not recreated.
        harness.ana().places.lock().unwrap().remove("Taxes");
        let again = harness.ok("mail_modify", json!({"undo": "u1"})).await;
        assert_eq!(again, "undone: 0\nunchanged: 1", "{verb}");
    }
}

#[tokio::test]
async fn irreversible_actions_are_announced() {
    let harness = MailHarness::one(Service::Microsoft, "full").await;
    harness.ana().fill(2);
    let copy = json!({"ids": ["ana-0001"], "do": "copy", "to": "Bills"});
    assert_eq!(
        harness.ok("mail_modify", copy).await,
        "done: 1\n--\nno undo: trash or unlabel the copies instead"
    );
    let delete = json!({"ids": ["ana-0001", "ana-0002"], "do": "delete"});
    assert_eq!(
        harness.ok("mail_modify", delete).await,
        "done: 2\nmodified[2|]{id|subject|before|after}:\n  m1|Letter ana-0001|inbox|deleted\n  \
         m2|Letter ana-0002|inbox|deleted\n--\npermanently deleted: there is no undo"
    );
}

/// Permanent deletion asks first and names the messages; a dry run announces the question.
#[tokio::test]
async fn user_confirms_permanent_deletion() {
    let some: Vec<String> = (1..=11).map(|number| format!("ana-{number:04}")).collect();
    let delete = json!({"ids": some, "do": "delete"});
    for (reply, answer, left) in cases! {
        Confirmation::Yes, "done: 11\n--\npermanently deleted: there is no undo", 1;
        Confirmation::No,
            "done: 0\noutcomes[1|]{item|op|result|detail}:\n  11 messages, m1 m2 m3 m4 m5 and \
             others|delete|refused|the user declined", 12;
        // As with sending, the access level then counts as the user's consent.
        Confirmation::Unavailable, "done: 11\n--\npermanently deleted: there is no undo", 1;
        Confirmation::Later, "the user is being asked", 12;
    } {
        let harness = MailHarness::one(Service::Google, "full").await;
        harness.ana().fill(12);
        let caller = FakeUser::says(reply);
        let text = harness.call_as("mail_modify", delete.clone(), &caller).await;
        let text = text.map_or_else(|error| error.to_string(), |blocks| blocks.join("\n--\n"));
        assert_eq!(text, answer, "{reply:?}");
        assert_eq!(harness.ana().mail.lock().unwrap().len(), left, "{reply:?}");
        let questions = caller.questions().clone();
        assert_eq!(questions.len(), 1);
        let lines = (1..=5).map(|at| format!("Shop <news@ana.example>: Letter ana-{at:04}\n"));
        assert_eq!(
            questions[0],
            format!(
                "Permanently delete 11 messages of ana@example.com? This cannot be undone.\n{}and 6 \
                 more",
                lines.collect::<String>()
            )
        );
    }
    let harness = MailHarness::one(Service::Google, "full").await;
    harness.ana().fill(1);
    let caller = FakeUser::says(Confirmation::No);
    for (arguments, answer) in cases! {
        json!({"ids": "ana-0001", "do": "delete", "dry_run": true}),
            "planned: 1\nmessages[1|]{id|from|subject}:\n  m1|Shop <news@ana.example>|Letter \
             ana-0001\n--\ndry run: nothing was written\ndo=delete is permanent: the user will be \
             asked first, and there is no undo";
        // Without messages to delete there is no question; and moving to the trash can be undone.
        json!({"ids": "ana-0001", "do": "trash"}),
            "done: 1\nundo: u1\nmodified[1|]{id|subject|before|after}:\n  m1|Letter ana-0001|inbox|trash";
    } {
        let blocks = harness.call_as("mail_modify", arguments, &caller).await;
        assert_eq!(blocks.unwrap().join("\n--\n"), answer);
        assert_eq!(caller.questions().len(), 0);
    }
}

/// A dry run also tests the folder that the action would create.
#[tokio::test]
async fn dry_run_refuses_an_impossible_folder() {
    let harness = MailHarness::one(Service::Microsoft, "organize").await;
    harness.ana().fill(1);
    harness.ana().fail("set_up", Error::argument("that is no name"));
    for dry_run in [true, false] {
        let to = json!({"ids": "ana-0001", "do": "move", "to": "A//B", "create": true, "dry_run": dry_run});
        assert_eq!(harness.error("mail_modify", to).await, "that is no name");
    }
    assert_eq!(harness.ana().written(), Vec::<String>::new());
}

#[tokio::test]
async fn incompatible_arguments_are_refused() {
    let harness = MailHarness::one(Service::Google, "organize").await;
    harness.ana().fill(1);
    let cases = cases! {
        json!({"do": "delete"}),
            "permanent deletion, unlike do=trash, needs access `full`, but this server has \
             `organize`: ask the user to start it with --access full";
        json!({"do": "move"}), "do=move needs `to`: give the folder's or label's name";
        json!({"do": "move", "to": ["Bills", "Print shop"]}),
            "do=move takes one folder in `to`: call once per folder";
        json!({"do": "move", "to": "-Bills"}), "do=move needs `to`: give the folder's or label's name";
        json!({"do": "label", "to": ["Bills", "-bills"]}),
            "Bills is both added and removed: name it once in `to`";
        json!({"do": "label", "to": ["Bills", "-Taxes"], "create": true}), "there is no Taxes: say Bills";
        json!({"do": "unlabel", "to": "-Bills"}), "there is no -Bills: say Bills";
        json!({"do": "trash", "to": "Bills"}),
            "do=trash takes no `to`: leave it out, or use do=move, copy or label";
        json!({"do": "read", "due": "tomorrow"}),
            "do=read takes no `due`: use do=star";
        json!({"do": "star", "due": "tomorrow"}),
            "Gmail's stars have no due time: leave out `due`, or create an event with calendar_save";
    };
    let cases = cases.map(|(mut arguments, text)| {
        arguments["ids"] = "ana-0001".into();
        (arguments, text)
    });
    harness.refuses("mail_modify", cases).await;
    let undo = cases! {
        json!({"undo": "u7"}),
            "there is no `u7`, or it expired: changes can be undone for 30 days, by the id of the \
             answer";
        json!({"undo": "m7"}),
            "`undo` is not an undo id: give the one of an answer, such as u3";
    };
    harness.refuses("mail_modify", undo).await;
    assert_eq!(harness.ana().written(), Vec::<String>::new());
}
