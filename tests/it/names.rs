//! Names in place of addresses: the name of a single saved contact is resolved, any other is
//! refused.

use daysheet::cli::sandboxed::SandboxUser;
use daysheet_core::schemas::Service;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::fake_mailbox::MailHarness;
use crate::support::{ME, Session};

const WHO: [&[(&str, &str)]; 2] = [&[("google", ME)], &[("microsoft", ME)]];

async fn save(session: &mut Session, name: &str, emails: &[&str]) {
    let set = json!({"name": name, "emails": emails});
    session.ok("manage", json!({"kind": "contact", "op": "create", "set": set})).await;
}

fn draft(to: &str) -> Value {
    json!({"to": [to], "subject": "S", "body": "B"})
}

fn free(who: &str) -> Value {
    json!({"who": [who, "me"], "from": "2026-11-20 10h00", "to": "2026-11-20 12h00"})
}

fn event(people: &str) -> Value {
    let event = json!({"title": "T", "start": "2026-11-20 10h00", "people": [people]});
    json!({"events": [event], "notify": "all"})
}

#[tokio::test]
async fn name_of_one_saved_contact_is_resolved() {
    for who in WHO {
        let mut session = Session::written(SandboxUser::These(who)).await;
        save(&mut session, "Ana Long", &["ana.long@studio.example"]).await;
        save(&mut session, "Jos\u{e9} Garc\u{ed}a", &["jose@studio.example"]).await;
        let ana = "\"Ana Long\" is `ana.long@studio.example` (contact)";
        for (tool, call, shown, note) in [
            ("mail_draft", draft("Ana Long"), "to: ana.long@studio.example", ana),
            (
                "mail_draft",
                draft("ana  LONG, bo@studio.example"),
                "to: ana.long@studio.example, bo@studio.example\n",
                "\"ana LONG\" is `ana.long@studio.example` (contact)",
            ),
            (
                "mail_draft",
                draft("JOS\u{c9} GARC\u{cd}A"),
                "to: jose@studio.example",
                "\"JOS\u{c9} GARC\u{cd}A\" is `jose@studio.example` (contact)",
            ),
            // An unknown sender under a contact's name makes no difference.
            (
                "mail_draft",
                draft("Jonas Brandt"),
                "to: jonas@example.com",
                "\"Jonas Brandt\" is `jonas@example.com` (contact)",
            ),
            ("calendar_free", free("Ana Long"), "", ana),
            // The first name is enough for calls that send no message.
            (
                "mail_draft",
                draft("Ana"),
                "to: ana.long@studio.example",
                "\"Ana\" is `ana.long@studio.example` (contact)",
            ),
            ("calendar_free", free("ana"), "", "\"ana\" is `ana.long@studio.example` (contact)"),
            ("calendar_save", event("Ana Long*"), "ana.long", ana),
        ] {
            let blocks = session.ok(tool, call.clone()).await;
            let notes = blocks.last().unwrap();
            assert!(blocks[0].contains(shown), "{who:?} {call}: {blocks:#?}");
            assert_eq!(notes.lines().filter(|line| *line == note).count(), 1, "{call}: {notes}");
        }
        // Google matches letters with their accents itself.
        if who[0].0 == "microsoft" {
            let made = session.ok("mail_draft", draft("Jose Garcia")).await;
            let note = "\"Jose Garcia\" is `jose@studio.example` (contact)";
            assert!(made[1].ends_with(note), "{made:?}");
        }
    }
}

#[tokio::test]
async fn other_names_stay_refused() {
    for who in WHO {
        let mut session = Session::written(SandboxUser::These(who)).await;
        save(&mut session, "Kim Two", &["kim@first.example"]).await;
        save(&mut session, "Kim Two", &["kim@other.example"]).await;
        save(&mut session, "Lee Pair", &["lee@first.example", "lee@other.example"]).await;
        save(&mut session, "\u{410}nna Bell", &["anna@first.example"]).await;
        save(&mut session, "Zed Quill", &["zed@first.example"]).await;
        session.ok("calendar_save", event("Zed Quill <zed@other.example>")).await;
        for name in [
            "Kim Two", "Lee Pair", // Somebody of that name is in an event.
            "Zed Quill",
            // The end of a name, another name, a look-alike, and a person known only from mail.
            "Raman", "Priya Ramann", "Pri", "Anna Bell", "Dele Adeyemi",
            // Two contacts share the name.
            "Anselm Voss", "Kim", "me",
        ] {
            let calls = [
                ("mail_draft", draft(name)),
                ("calendar_free", free(name)),
                ("calendar_save", event(name)),
            ];
            for (tool, call) in
                // For a calendar, `me` is the user.
                calls.into_iter().filter(|(tool, _)| *tool == "mail_draft" || name != "me")
            {
                let error = session.error(tool, call).await;
                assert!(error.contains(&format!("`{name}` is not an address")), "{tool}: {error}");
            }
        }
        let error = session.error("calendar_save", event("Priya")).await;
        assert!(error.contains("`Priya` is not an address"), "{error}");
    }
}

/// The name of a person the user has written to keeps its address, even if it is saved with another
/// one.
#[tokio::test]
async fn name_of_a_correspondent_is_not_that_of_another_contact() {
    for who in WHO {
        let mut session = Session::written(SandboxUser::These(who)).await;
        let katrin = "Katrin Sommerfeld";
        save(&mut session, katrin, &["katrin@evil.example"]).await;
        let made = session.ok("mail_draft", draft(katrin)).await;
        assert!(made[0].contains("to: katrin@evil.example"), "{made:?}");
        let made = session.ok("mail_draft", draft("katrin.sommerfeld@example.net")).await;
        let id = made[0].lines().find_map(|line| line.strip_prefix("draft: ")).unwrap();
        session.ok("mail_send", json!({"id": id})).await;
        let error = session.error("mail_draft", draft(katrin)).await;
        let refused = "`to` `Katrin Sommerfeld`: `Katrin Sommerfeld` is not an address: give an \
                       address; did you mean `Katrin Sommerfeld` `katrin.sommerfeld@example.net`, \
                       `Katrin Sommerfeld` `katrin@evil.example`?";
        assert_eq!(error, refused, "{who:?}");
    }
}

/// A contact saved because of a message does not count as a person the user has written to.
#[tokio::test]
async fn contact_saved_for_a_message_redirects_nothing() {
    for who in WHO {
        let settings = [("DAYSHEET_NEW_RECIPIENTS", "confirm")];
        let mut session =
            Session::set(TempDir::new().unwrap(), &settings, SandboxUser::These(who)).await;
        save(&mut session, "Bank Support", &["pay@evil.example"]).await;
        let refused = session.error("calendar_save", event("Bank Support")).await;
        assert!(refused.contains("people never written to (pay@evil.example)"), "{refused}");
        let made = session.ok("mail_draft", draft("Bank Support")).await;
        let note = "\"Bank Support\" is `pay@evil.example` (contact)";
        assert!(made.last().unwrap().contains(note), "{made:?}");
        let id = made[0].lines().find_map(|line| line.strip_prefix("draft: ")).unwrap();
        let refused = session.error("mail_send", json!({"id": id})).await;
        assert!(
            refused.contains("this mailbox has never written to pay@evil.example"),
            "{refused}"
        );
    }
}

/// A contact's address counts as untrusted text, even if no other untrusted text was shown before.
#[tokio::test]
async fn resolved_name_is_asked_about_like_untrusted_text() {
    let person = json!({"resourceName": "people/c1", "names": [{"displayName": "Bank Support"}],
                        "emailAddresses": [{"value": "pay@evil.example"}]});
    for (to, refusal) in [
        ("pay@evil.example", None),
        (
            "Bank Support",
            Some(
                "this mailbox has never written to pay@evil.example, text of unknown senders was \
                 shown recently, and this client cannot ask the user",
            ),
        ),
    ] {
        let settings = [("DAYSHEET_ACCESS", "send"), ("DAYSHEET_NEW_RECIPIENTS", "confirm")];
        let harness = MailHarness::with(Service::Google, &settings).await;
        *harness.ana().people.lock().unwrap() = vec![person.clone()];
        let made = harness.ok("mail_draft", draft(to)).await;
        let id = made.lines().find_map(|line| line.strip_prefix("draft: ")).unwrap();
        let sent = harness.call("mail_send", json!({"id": id})).await;
        match refusal {
            Some(refusal) => {
                let error = sent.unwrap_err().to_string();
                assert!(error.starts_with(refusal), "{to}: {error}");
            }
            None => assert!(sent.unwrap()[0].contains("|sent|"), "{to}"),
        }
    }
}

/// A name is searched in all accounts, but not among addresses that receive no mail.
#[tokio::test]
async fn errors_suggest_what_is_in_other_accounts() {
    let mut session = Session::written(SandboxUser::Usual).await;
    let event = json!({"title": "Log", "start": "2026-11-20 10h00"});
    for (tool, call, expected) in [
        (
            "mail_draft",
            json!({"account": ME, "to": "Adan", "subject": "x", "body": "y"}),
            "; did you mean `Yusuf Adan` `yusuf@lindqvist-lamps.example`?",
        ),
        (
            "calendar_save",
            json!({"account": ME, "calendar": "Kiln", "events": [event]}),
            "there is no calendar `Kiln`: it is in account=mira@lindqvist-lamps.example",
        ),
    ] {
        let error = session.error(tool, call).await;
        assert!(error.ends_with(expected), "{error}");
    }
}
