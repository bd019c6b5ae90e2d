//! Rules in our words, and in Outlook's.

use daysheet_core::provider::mail::{MailRule, RuleStep, SettingsChange};
use daysheet_core::query::{DateContext, Query, parse};
use jiff::tz::TimeZone;

use super::modify::folders;
use super::*;

const RULES: &str = "/me/mailFolders/inbox/messageRules";

fn query(text: &str) -> Query {
    let clock = DateContext { now: "2026-02-03T17:05:00Z".parse().unwrap(), zone: TimeZone::UTC };
    parse(text, &clock).unwrap()
}

fn person_of(address: &str) -> Value {
    json!({"emailAddress": {"address": address}})
}

/// A rule that marks as read.
fn rule(when: Option<&str>) -> MailRule {
    MailRule {
        name: Some("Proofs".to_owned()),
        enabled: true,
        when: when.map(query),
        then: vec![RuleStep::Read],
        ..MailRule::default()
    }
}

/// Returns equivalent queries and Graph rules, with conditions and exceptions.
fn pairs() -> Vec<(Option<&'static str>, Value, Value)> {
    let none = Value::Null;
    Vec::from(cases! {
        None, none.clone(), none.clone();
        Some("from:lena@studio.example"),
            json!({"fromAddresses": [person_of("lena@studio.example")]}), none.clone();
        Some("from:(lena OR bo@example.com)"),
            json!({"senderContains": ["lena", "bo@example.com"]}), none.clone();
        Some("to:(a@x.example OR b@x.example)"),
            json!({"sentToAddresses": [person_of("a@x.example"), person_of("b@x.example")]}),
            none.clone();
        Some("to:team"), json!({"recipientContains": ["team"]}), none.clone();
        Some("subject:(proof OR \"final print\") body:ink lamps"),
            json!({
                "subjectContains": ["proof", "final print"], "bodyContains": ["ink"],
                "bodyOrSubjectContains": ["lamps"],
            }),
            none.clone();
        Some("category:Print has:attachment is:important"),
            json!({"categories": ["Print"], "hasAttachments": true, "importance": "high"}),
            none.clone();
        Some("larger:2M"),
            json!({"withinSizeRange": {"minimumSize": 2048, "maximumSize": 2_147_483_647}}),
            none.clone();
        Some("larger:1M smaller:2M"),
            json!({"withinSizeRange": {"minimumSize": 1024, "maximumSize": 2048}}), none.clone();
        Some("subject:proof -from:(lena OR bo) -has:attachment"),
            json!({"subjectContains": ["proof"]}),
            json!({"senderContains": ["lena", "bo"], "hasAttachments": true});
        Some("-subject:proof"), none, json!({"subjectContains": ["proof"]});
    })
}

/// Returns the parts of a query, sorted.
fn parts(query: &Query) -> Vec<String> {
    let mut parts: Vec<String> = match query {
        Query::All(parts) => parts.iter().flat_map(parts_of).collect(),
        one => parts_of(one),
    };
    parts.sort();
    parts
}

fn parts_of(query: &Query) -> Vec<String> {
    match query {
        Query::All(inner) => inner.iter().flat_map(parts_of).collect(),
        one => vec![format!("{one:?}")],
    }
}

#[tokio::test]
async fn rule_conditions_round_trip_through_graph() {
    let outlook = service(|line, body| match line {
        "POST /me/mailFolders/inbox/messageRules" => {
            let mut made = body.clone();
            made["id"] = "AQAAAJ5dZqA=".into();
            (201, made)
        }
        line if line.starts_with(&format!("GET {RULES}")) => {
            (200, json!({"value": [{"id": "x", "sequence": 4}]}))
        }
        line => folders(line).unwrap_or_else(missing),
    })
    .await;
    let mailbox = outlook.mailbox().await;
    for (when, conditions, exceptions) in pairs() {
        let new = rule(when);
        mailbox.apply_settings(&SettingsChange::CreateRule(new.clone())).await.unwrap();
        let mut body = json!({
            "displayName": "Proofs", "sequence": 5, "isEnabled": true,
            "actions": {"markAsRead": true, "stopProcessingRules": false},
        });
        for (key, value) in [("conditions", &conditions), ("exceptions", &exceptions)] {
            if !value.is_null() {
                body[key] = value.clone();
            }
        }
        let wrote = written(&outlook);
        assert_eq!(wrote, lines([(&format!("POST {RULES}"), body.clone())]), "{when:?}");

        body["id"] = "AQAAAJ5dZqA=".into();
        let again = service(move |line, _| match line {
            line if line.starts_with(&format!("GET {RULES}")) => (200, json!({"value": [body]})),
            line => folders(line).unwrap_or_else(missing),
        })
        .await;
        let read = again.mailbox().await.rules().await.unwrap();
        assert_eq!(read[0].when.as_ref().map(parts), new.when.as_ref().map(parts), "{when:?}");
        let read = MailRule { when: new.when.clone(), ..read[0].clone() };
        let id = "AQAAAJ5dZqA=".to_owned();
        assert_eq!(read, MailRule { id, ..new });
    }
}

#[tokio::test]
async fn queries_that_no_rule_expresses_are_refused() {
    let outlook = service(|line, _| folders(line).unwrap_or_else(missing)).await;
    let mailbox = outlook.mailbox().await;
    let step = |step: RuleStep| MailRule { then: vec![step], ..rule(None) };
    let can = "use from:, to:, subject:, body:, plain words, category:, is:important, \
               has:attachment, larger: and smaller:, each once, with OR between values of one, and \
               - before exceptions";
    let cannot = |what: &str| format!("an Outlook rule cannot have {what}: {can}");
    let when = |text: &str| rule(Some(text));
    for (rule, expected) in cases! {
        when("cc:bo"), cannot("`cc:`");
        when("is:unread"), cannot("`is:unread`");
        when("in:Clients"), cannot("`in:`");
        when("before:2026-02-03"), cannot("`before:`");
        when("filename:pdf"), cannot("`filename:`");
        when("raw:subject:x"), cannot("`raw:`");
        when("from:a OR subject:b"), cannot("OR between `from:` and `subject:`");
        when("larger:1M OR larger:2M"), cannot("OR with `larger:`");
        when("a OR (b c)"), cannot("OR between groups");
        when("subject:a subject:b"),
            cannot("two conditions on the same part of a message");
        when("-(a b)"), cannot("an exception of several parts");
        when("-larger:1M -smaller:1k"), cannot("two exceptions by size");
        step(RuleStep::Star),
            "an Outlook rule cannot flag messages: mark them important, or use a category"
                .to_owned();
        step(RuleStep::Forward("a@x.example".to_owned())),
            "forwarding rules are not created here: create it in Outlook".to_owned();
        step(RuleStep::Move("Nowhere".to_owned())),
            "there is no folder `Nowhere`: lookup kind=folders lists them"
                .to_owned();
        MailRule {
            then: vec![RuleStep::Archive, RuleStep::Move("Clients".to_owned())],
            ..rule(None)
        },
            "an Outlook rule moves to one folder: name one folder, and use categories for the rest"
                .to_owned();
        MailRule { then: Vec::new(), ..rule(None) },
            "the rule has no action: give one: read, archive, trash, important, a category or a \
             folder"
                .to_owned();
    } {
        assert_eq!(
            error(mailbox.apply_settings(&SettingsChange::CreateRule(rule)).await),
            expected
        );
    }
    assert_eq!(written(&outlook), []);
}

#[tokio::test]
async fn rule_actions_are_read_and_written() {
    let rules = json!([
        {
            "id": "AQAAAJ5dZqB=", "displayName": "Second", "sequence": 2, "isEnabled": false,
            "conditions": {
                "sentOnlyToMe": true, "headerContains": ["X-Odd"], "sensitivity": "private",
                "subjectContains": ["proof"], "hasAttachments": null, "isSigned": false,
            },
            "exceptions": {"isAutomaticReply": true},
            "actions": {
                "moveToFolder": CLIENTS, "copyToFolder": "gone", "markImportance": "low",
                "redirectTo": [person_of("bo@example.com")], "permanentDelete": true,
                "stopProcessingRules": true,
            },
        },
        {
            "id": "AQAAAJ5dZqA=", "displayName": "First", "sequence": 1, "isEnabled": true,
            "conditions": null, "exceptions": null,
            "actions": {
                "moveToFolder": ARCHIVE, "markAsRead": true, "markImportance": "high",
                "assignCategories": ["Print", "Clients"], "delete": false,
            },
        },
    ]);
    let first = rules[1].clone();
    let second = rules[0].clone();
    let outlook = service(move |line, body| match line {
        line if line == format!("GET {RULES}") => (200, json!({ "value": rules })),
        line if line.starts_with("GET") && line.ends_with("ZqA=") => (200, first.clone()),
        line if line.starts_with("GET") && line.ends_with("ZqB=") => (200, second.clone()),
        line if line.starts_with("PATCH") => {
            let mut after = first.clone();
            after.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
            (200, after)
        }
        line if line.starts_with("DELETE") => (204, Value::Null),
        line => folders(line).unwrap_or_else(missing),
    })
    .await;
    let mailbox = outlook.mailbox().await;
    let read = mailbox.rules().await.unwrap();
    let label = |name: &str| RuleStep::Label(name.to_owned());
    let known = MailRule {
        id: "AQAAAJ5dZqA=".to_owned(),
        name: Some("First".to_owned()),
        enabled: true,
        when: None,
        then: vec![
            label("Print"),
            label("Clients"),
            RuleStep::Read,
            RuleStep::Important,
            RuleStep::Archive,
        ],
        stop: false,
        other: Vec::new(),
    };
    let odd = MailRule {
        id: "AQAAAJ5dZqB=".to_owned(),
        name: Some("Second".to_owned()),
        enabled: false,
        when: Some(query("subject:proof")),
        then: vec![
            RuleStep::Move("Clients".to_owned()),
            RuleStep::Forward("bo@example.com".to_owned()),
        ],
        stop: true,
        other: [
            "if header contains: X-Odd",
            "if sensitivity is private",
            "if sent only to me",
            "except if is automatic reply",
            "puts a copy into a deleted folder",
            "sets importance low",
            "deletes permanently",
        ]
        .map(str::to_owned)
        .to_vec(),
    };
    let sorted = |rule: &MailRule| {
        let mut rule = rule.clone();
        rule.other.sort();
        rule.then.sort_by_key(|step| format!("{step:?}"));
        rule
    };
    assert_eq!(read.iter().map(sorted).collect::<Vec<_>>(), [sorted(&known), sorted(&odd)]);

    let change = MailRule {
        name: Some("First of all".to_owned()),
        when: Some(query("from:lena")),
        then: vec![RuleStep::Trash, label("Print")],
        stop: true,
        ..known
    };
    let after = mailbox.apply_settings(&SettingsChange::UpdateRule(change)).await.unwrap();
    assert_eq!(after.unwrap()["displayName"], "First of all");
    mailbox
        .apply_settings(&SettingsChange::DeleteRule { id: "AQAAAJ5dZqA=".to_owned() })
        .await
        .unwrap();
    assert_eq!(
        written(&outlook),
        lines(cases! {
            &format!("PATCH {RULES}/AQAAAJ5dZqA="),
                json!({
                    "displayName": "First of all", "isEnabled": true,
                    "conditions": {"senderContains": ["lena"]}, "exceptions": null,
                    "actions": {
                        "delete": true, "assignCategories": ["Print"], "stopProcessingRules": true,
                    },
                });
            &format!("DELETE {RULES}/AQAAAJ5dZqA="), Value::Null;
        })
    );

    // What has other conditions stays as it is.
    let updated = MailRule { id: "AQAAAJ5dZqB=".to_owned(), ..rule(None) };
    let failed = mailbox.apply_settings(&SettingsChange::UpdateRule(updated)).await;
    assert_eq!(
        error(failed),
        "the rule has parts not supported here: if sent only to me: change it in Outlook"
    );
    assert_eq!(written(&outlook), []);
}
