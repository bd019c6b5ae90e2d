//! `manage` of mailboxes, and lookups of rules and automatic replies, over mailboxes in memory.

use daysheet_core::budget::count::tokens;
use daysheet_core::call::client::Confirmation;
use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::provider::mail::{AutoReply, MailRule, ReplyAudience, RuleStep};
use daysheet_core::query::{self, DateContext};
use daysheet_core::schemas::Service;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::common::fake_mailbox::MailHarness;
use crate::common::harness::FakeUser;
use crate::reach::with;

fn rule(id: &str, name: Option<&str>, when: &str, then: Vec<RuleStep>) -> MailRule {
    let clock = DateContext { now: Timestamp::UNIX_EPOCH, zone: TimeZone::UTC };
    MailRule {
        id: id.to_owned(),
        name: name.map(str::to_owned),
        enabled: true,
        when: Some(query::parse(when, &clock).unwrap()),
        then,
        ..MailRule::default()
    }
}

fn rules(harness: &MailHarness) {
    let news = vec![RuleStep::Label("Print shop".to_owned()), RuleStep::Archive];
    let forward = vec![RuleStep::Forward("x@other.example".to_owned())];
    let odd = MailRule {
        other: vec!["sensitivity is private".to_owned()],
        ..rule("r-odd", Some("Private"), "from:a@b.example", vec![RuleStep::Read])
    };
    *harness.ana().rules.lock().unwrap() = vec![
        rule("r-news", Some("News"), "from:(a@b.example OR \"Print shop\") -is:read", news),
        rule("r-out", None, "has:attachment larger:5", forward),
        odd,
    ];
}

#[tokio::test]
async fn rules_are_listed_in_words() {
    let harness = MailHarness::one(Service::Google, "organize").await;
    rules(&harness);
    assert_eq!(
        harness.ok("lookup", json!({"kind": "rules"})).await,
        "rules[3|]{id|name|when|then|enabled|other}:\n  \
         r1|News|\"(from:a@b.example OR from:\\\"Print shop\\\") -is:read\"|\"label:\\\"Print \
         shop\\\" archive\"|true|null\n  \
         r2|null|\"has:attachment larger:5\"|\"forward:x@other.example\"|true|null\n  \
         r3|Private|\"from:a@b.example\"|read|true|sensitivity is private\n--\nrules: 3 of 3"
    );
}

#[tokio::test]
async fn rules_are_created_changed_and_deleted() {
    let harness = MailHarness::one(Service::Microsoft, "organize").await;
    let set = json!({"name": "Bills", "when": "from:bill@shop.example", "then": "label:\"My bills\" read"});
    let missing = json!({"kind": "rule", "op": "create", "set": set});
    assert_eq!(
        harness.error("manage", missing).await,
        "there is no My bills: say Bills; create=true creates it"
    );
    harness.ana().places.lock().unwrap().insert("My bills".into(), "Label_9".into());
    let made = "rules[1|]{id|name|when|then|enabled|other}:\n  \
                r1|Bills|\"from:bill@shop.example\"|\"category:\\\"My bills\\\" read\"|true|null\n--\n\
                it applies to new mail; op=run applies it to the inbox as it is, or with run=all in \
                `set` to all mail";
    assert!(tokens(made) <= 90, "{}", tokens(made));
    let rule = |op: &str, more: Value| with(json!({"kind": "rule", "op": op}), more);
    let cases = cases! {
        rule("create", json!({"set": set, "dry_run": true})),
            "outcomes[1|]{item|op|result|detail}:\n  \
             Bills|create|planned|\"when from:bill@shop.example then category:\\\"My bills\\\" \
             read\"\n--\ndry run: nothing was written";
        rule("create", json!({"set": set})), made;
        rule("update", json!({"id": "r1", "set": {"then": "star move:Bills", "enabled": false}})),
            "rules[1|]{id|name|when|then|enabled|other}:\n  \
             r2|Bills|\"from:bill@shop.example\"|\"star move:Bills\"|false|null";
        rule("update", json!({"id": "bills", "set": {"enabled": false}})),
            "outcomes[1|]{item|op|result|detail}:\n  Bills|update|unchanged|already as requested";
        rule("delete", json!({"id": "r2"})),
            "outcomes[1|]{item|op|result|detail}:\n  Bills|delete|done|what it did remains";
    };
    harness.answers("manage", cases).await;
    assert_eq!(harness.ana().rules.lock().unwrap().len(), 0);
    assert_eq!(
        harness.audited(),
        [
            "manage create rule begun",
            "manage create rule done",
            "manage update rule begun",
            "manage update rule done",
            "manage delete rule begun",
            "manage delete rule done",
        ]
    );
}

#[tokio::test]
async fn forwarding_rules_are_refused() {
    let harness = MailHarness::one(Service::Google, "full").await;
    rules(&harness);
    let create = |then: &str| json!({"kind": "rule", "op": "create", "set": {"when": "from:a@b.example", "then": then}});
    let cases = cases! {
        create("forward:x@other.example"),
            "forwarding rules are not created: incoming mail would leave the mailbox unseen: let \
             the user create it in the provider's settings";
        create("label:Print shop"),
            "`shop` is not an action of a rule: use read, star, archive, trash, never_spam, \
             important, label:NAME and move:NAME; put names with spaces in quotes";
        // All errors are reported at once.
        json!({"kind": "rule", "op": "create", "set": {"then": "label", "enabled": 3}}),
            "`label` is not an action of a rule: use read, star, archive, trash, never_spam, \
             important, label:NAME and move:NAME; put names with spaces in quotes; `enabled` in \
             `set` must be true or false; the rule has no `when`: give \
             set=[\"when=from:news@shop.example\", \"then=label:News archive\"]; also name=…, \
             enabled=false, stop=true, create=true (missing labels), run=inbox or all (existing \
             mail)";
        json!({"kind": "rule", "op": "create"}),
            "the rule has no `when` and no `then`: give set=[\"when=from:news@shop.example\", \
             \"then=label:News archive\"]; also name=…, enabled=false, stop=true, create=true \
             (missing labels), run=inbox or all (existing mail)";
        // Conditions that only searches support.
        json!({"kind": "rule", "op": "create", "set": {"when": "is:bulk", "then": "archive"}}),
            "`when`: a rule cannot test `is:bulk`: name the senders, such as \
             from:news@shop.example OR from:list.example; mail_search q=is:bulk by=sender lists \
             them";
        json!({"kind": "rule", "op": "create", "set": {"when": "is:direct", "then": "star"}}),
            "`when`: a rule cannot test `is:direct`: use to: with your address";
        json!({"kind": "rule", "op": "create", "set": {"when": "from:ann is:unanswered", "then": "star"}}),
            "`when`: a rule cannot test `is:unanswered`: leave it out, because new mail has \
             no answer yet";
        json!({"kind": "rule", "op": "create", "set": {"colour": "red", "to": "x"}}),
            "kind=rule has no `colour`, `to` to set: set name, when, then, enabled, stop, create, run";
        json!({"kind": "rule", "op": "update", "id": "r-out", "set": {"then": "read"}}),
            "the rule cannot be changed here: it forwards mail: let the user do it in the \
             provider's settings";
        json!({"kind": "rule", "op": "run", "id": "Private"}),
            "the rule cannot be run here: it also has: sensitivity is private: let the user do it \
             in the provider's settings";
        json!({"kind": "rule", "op": "delete", "id": "Nothing"}),
            "there is no rule Nothing: see lookup kind=rules";
    };
    harness.refuses("manage", cases).await;
    // Conditions that match nearly all mail count as matching all.
    for when in ["in:inbox", "-from:a@b.example", "from:a@b.example OR in:inbox"] {
        let mut all = create("read");
        all["set"]["when"] = when.into();
        assert_eq!(
            harness.error("manage", all).await,
            "the rule would match all mail: narrow `when`, such as from:ann or subject:invoice"
        );
    }
    assert_eq!(harness.ana().written(), Vec::<String>::new());
}

/// Actions are accepted in the forms that people write.
#[tokio::test]
async fn actions_are_read_in_many_forms() {
    let harness = MailHarness::one(Service::Google, "organize").await;
    for (then, read) in cases! {
        json!("label Travel, archive"), "label:Travel archive";
        json!("Mark as read and move to Clients"), "read move:Clients";
        json!("label: \"Print shop\" star"), "label:\"Print shop\" star";
        json!(["label:Print shop", "archive", "move Old mail"]),
            "label:\"Print shop\" archive move:\"Old mail\"";
        json!(["move to Clients", "mark as read", "move:to do"]),
            "move:Clients read move:\"to do\"";
        json!("categorize Travel"), "label:Travel";
    } {
        let set = json!({"name": "Trips", "when": "from:a@b.example", "then": then});
        let dry = json!({"kind": "rule", "op": "create", "set": set, "dry_run": true});
        let read = format!("\"when from:a@b.example then {}\"", read.replace('"', "\\\""));
        assert_eq!(
            harness.ok("manage", dry).await,
            format!(
                "outcomes[1|]{{item|op|result|detail}}:\n  \"from:a@b.example\"|create|planned|\
                 {read}\n--\ndry run: nothing was written\nGmail's rules have no names: `name` was \
                 left out"
            )
        );
    }
}

#[tokio::test]
async fn rule_can_run_over_existing_messages() {
    let harness = MailHarness::one(Service::Google, "organize").await;
    harness.ana().fill(1300);
    // Archiving leaves messages outside the inbox unchanged.
    harness.ana().touch("ana-0001", |mail| mail.folder = harness.ana().folder("archive"));
    let steps = vec![RuleStep::Archive, RuleStep::Label("Bills".to_owned()), RuleStep::NeverSpam];
    *harness.ana().rules.lock().unwrap() = vec![rule("r", Some("Old"), "larger:1200", steps)];
    let run = json!({"kind": "rule", "op": "run", "id": "Old"});
    let done = harness.ok("manage", run).await;
    assert_eq!(
        done,
        "done: 1000\nundo: u1\n--\n199 more messages remain: call again for them\n\
         only mail in the inbox; filed mail stays as it is\nskipped: never_spam"
    );
    assert!(tokens(&done) <= 60);
    assert_eq!(
        harness.ana().written(),
        ["Label { add: [\"Label_1\"], remove: [] } 1000", "Archive 1000"]
    );
    assert_eq!(harness.ok("mail_modify", json!({"undo": "u1"})).await, "undone: 1000\nundo: u2");
    let state = harness.ana().state("ana-1200");
    assert_eq!((state.folder.as_str(), state.labels.len()), ("INBOX", 0));
}

#[tokio::test]
async fn folders_and_labels_are_created_renamed_and_deleted() {
    let harness = MailHarness::one(Service::Google, "organize").await;
    let made = "folders[1|]{id|name|kind|unread|total}:\n  f1|Receipts|user|0|0";
    assert!(tokens(made) <= 60);
    let create = || json!({"kind": "folder", "op": "create", "name": "Receipts"});
    let delete =
        |kind: &str, more: Value| with(json!({"kind": kind, "op": "delete", "id": "Bills"}), more);
    harness.answers("manage", [(create(), made)]).await;
    harness.refuses("manage", [(create(), "Receipts already exists: choose another name")]).await;
    let cases = cases! {
        json!({"kind": "folder", "op": "rename", "id": "f1", "name": "Slips"}),
            "folders[1|]{id|name|kind|unread|total}:\n  f1|Slips|user|0|0";
        delete("label", json!({"dry_run": true})),
            "outcomes[1|]{item|op|result|detail}:\n  Bills|delete|planned|12 messages; its \
             messages stay\n--\ndry run: nothing was written";
        delete("label", json!({})),
            "outcomes[1|]{item|op|result|detail}:\n  Bills|delete|done|its messages stay";
    };
    harness.answers("manage", cases).await;
    let outlook = MailHarness::one(Service::Microsoft, "organize").await;
    // Deleting an Outlook folder deletes its messages, so the call must allow it.
    let planned = "outcomes[1|]{item|op|result|detail}:\n  Bills|delete|planned|\"12 messages; with \
                   its content, to Deleted Items; needs set=[\\\"messages=trash\\\"]\"\n--\n\
                   dry run: nothing was written";
    outlook.answers("manage", [(delete("folder", json!({"dry_run": true})), planned)]).await;
    let cases = cases! {
        delete("folder", json!({})),
            "Bills holds 12 messages, including subfolders: give set=[\"messages=trash\"] to \
             move them to Deleted Items with it, or name another folder, such as inbox or archive, to \
             move them there first";
        delete("folder", json!({"set": {"messages": "Bills/2026"}})),
            "Bills/2026 is to be deleted: name another folder for its messages";
    };
    outlook.refuses("manage", cases).await;
    assert!(outlook.ana().written().is_empty());
    let trashed = delete("folder", json!({"set": {"messages": "trash"}}));
    outlook.ana().fail("set_up", Error::new(ErrorKind::Timeout, "no answer"));
    let reported = outlook.ok("manage", trashed).await;
    assert!(reported.contains("Bills|delete|unknown|"), "{reported}");
}

#[tokio::test]
async fn automatic_reply_is_switched_on_and_off() {
    let update = |set: Value| json!({"kind": "auto_reply", "op": "update", "set": set});
    let harness = MailHarness::one(Service::Microsoft, "organize").await;
    let on = update(json!({"status": "on", "text": "I am *away*.\nMira"}));
    assert_eq!(
        harness.error("manage", on.clone()).await,
        "replying automatically needs access `send`, but this server has `organize`: ask the user \
         to start it with --access send"
    );
    let harness = MailHarness::one(Service::Microsoft, "send").await;
    assert_eq!(
        harness.ok("manage", on).await,
        "zone: Europe/Berlin\nauto_replies[1|]{account|status|from|to|subject|text|text_internal|text_external|audience}:\n  \
         ana@example.com|on|null|null|null|I am away. ¶ Mira|null|null|null"
    );
    assert_eq!(
        harness.ana().reply.lock().unwrap().html.as_deref(),
        Some("<p>I am <em>away</em>.<br>\nMira</p>")
    );
    let when = update(json!({"from": "2026-02-05", "to": "2026-02-08", "audience": "contacts"}));
    let answer = harness.ok("manage", when).await;
    assert_eq!(
        answer,
        "zone: Europe/Berlin\nauto_replies[1|]{account|status|from|to|subject|text|text_internal|text_external|audience}:\n  \
         ana@example.com|scheduled|Thu 2026-02-05 00h00|Mon 2026-02-09 00h00|null|I am away. ¶ \
         Mira|null|null|contacts\n--\n`to` includes 2026-02-08"
    );
    // The times may be given in another zone; the answer uses the account's.
    let mut abroad = update(json!({"from": "2026-02-05 12:00", "to": "2026-02-08"}));
    abroad["tz"] = "Asia/Tokyo".into();
    let answer = harness.ok("manage", abroad).await;
    assert_eq!(
        answer,
        "zone: Europe/Berlin\nauto_replies[1|]{account|status|from|to|subject|text|text_internal|text_external|audience}:\n  \
         ana@example.com|scheduled|Thu 2026-02-05 04h00|Sun 2026-02-08 16h00|null|I am away. ¶ \
         Mira|null|null|contacts\n--\n`to` includes 2026-02-08"
    );
    let looked = harness.ok("lookup", json!({"kind": "auto_reply"})).await;
    let rows = answer.strip_suffix("`to` includes 2026-02-08").unwrap();
    assert_eq!(looked, format!("{rows}auto_replies: 1 of 1"));
    harness.ok("manage", update(json!({"status": "off"}))).await;
    let now = harness.ana().reply.lock().unwrap().clone();
    assert_eq!((now.on, now.audience), (false, Some(ReplyAudience::Contacts)));
    let cases = cases! {
        json!({"status": "loud"}), "`status` is invalid: use on, off or scheduled";
        json!({"status": "off", "to": "2026-02-08"}),
            "`from` and `to` do not go with status=off: use status=scheduled";
        json!({"from": "2026-02-08", "to": "2026-02-05"}),
            "`to` is not after `from`: give a later time";
        json!({"sound": "loud"}),
            "kind=auto_reply has no `sound` to set: set status, from, to, subject, text, \
             text_internal, text_external, audience";
    };
    let cases = cases.map(|(set, expected)| (update(set), expected));
    harness.refuses("manage", cases).await;
    *harness.ana().reply.lock().unwrap() = AutoReply::default();
    assert_eq!(
        harness.error("manage", update(json!({"status": "on"}))).await,
        "the reply has no text: give set=[\"status=scheduled\", \
         \"from=2026-12-21\", \"to=2027-01-03\", \"text=I am away.\"]; also subject, \
         text_internal and text_external, audience=all, contacts or organization"
    );
}

#[tokio::test]
async fn automatic_replies_of_several_accounts_are_set_in_one_call() {
    let update = |account: &str, set: Value| json!({"kind": "auto_reply", "op": "update", "account": account, "set": set});
    let both = "ana@example.com, bo@example.com";
    let away = json!({"status": "on", "text": "Away", "text_external": "Out", "subject": "Away"});
    let prepared = async || {
        let harness = MailHarness::two_at("send").await;
        *harness.bo().reply.lock().unwrap() =
            AutoReply { external: Some(String::new()), ..AutoReply::default() };
        harness
    };
    let head = "zone: Europe/Berlin\nauto_replies[{}|]{account|status|from|to|subject|text|\
                text_internal|text_external|audience}:\n  ";
    let ana = "ana@example.com|on|null|null|Away|Away|null|null|null";
    let bo = "bo@example.com|on|null|null|null|null|Away|Out|null";
    let notes = "ana@example.com: `text_external` left out, which Gmail does not have\n\
                 bo@example.com: `subject` left out, which Outlook does not have";
    for accounts in [both, "all"] {
        let harness = prepared().await;
        let mut dry = update(accounts, away.clone());
        dry["dry_run"] = true.into();
        assert_eq!(
            harness.ok("manage", dry).await,
            format!(
                "outcomes[2|]{{item|op|result|detail}}:\n  ana@example.com|update|planned|auto_reply \
                 on\n  bo@example.com|update|planned|auto_reply on\n--\ndry run: nothing was \
                 written\n{notes}"
            )
        );
        assert_eq!(harness.ana().written(), Vec::<String>::new());
        let user = FakeUser::says(Confirmation::Yes);
        let blocks =
            harness.call_as("manage", update(accounts, away.clone()), &user).await.unwrap();
        let rows = head.replace("{}", "2");
        assert_eq!(blocks.join("\n--\n"), format!("{rows}{ana}\n  {bo}\n--\n{notes}"));
        assert_eq!(
            user.questions(),
            [
                "Reply automatically to mail to ana@example.com?\nTo: everybody\nSubject: Away\nText: \
              Away\n\nReply automatically to mail to bo@example.com?\nTo: everybody\nText inside: \
              Away\nText outside: Out\nNever written to before: anybody who writes to \
              ana@example.com, anybody who writes to bo@example.com"
            ]
        );
    }
    // Accounts with the same reply share lines of one question, which precedes any write.
    let harness = prepared().await;
    let same = update("all", json!({"status": "on", "text": "Back soon", "audience": "contacts"}));
    for reply in [Confirmation::No, Confirmation::Unanswered, Confirmation::Later] {
        let user = FakeUser::says(reply);
        assert!(harness.call_as("manage", same.clone(), &user).await.is_err(), "{reply:?}");
        assert_eq!(
            user.questions(),
            [
                "Reply automatically to mail to ana@example.com, bo@example.com?\nTo: contacts\nText: \
              Back soon\nNever written to before: any contact who writes to ana@example.com, \
              any contact who writes to bo@example.com"
            ]
        );
    }
    // If one account refuses, no account is written to.
    for (set, expected) in cases! {
        json!({"text_external": "Out", "status": "on"}),
            "ana@example.com: this mailbox has one text for everybody, no `text_external`: give \
             `text`";
        json!({"subject": "Away", "status": "on"}),
            "ana@example.com: the reply has no text: give set=[\"status=scheduled\", \
         \"from=2026-12-21\", \"to=2027-01-03\", \"text=I am away.\"]; also subject, \
         text_internal and text_external, audience=all, contacts or organization";
    } {
        assert_eq!(harness.error("manage", update("all", set)).await, expected);
    }
    let unnamed = json!({"kind": "auto_reply", "op": "update", "set": {"status": "off"}});
    assert_eq!(
        harness.error("manage", unnamed).await,
        "several accounts are signed in: name one as `account`: ana@example.com, bo@example.com; \
         or several, or all"
    );
    for mailbox in [harness.ana(), harness.bo()] {
        assert_eq!(mailbox.written(), Vec::<String>::new());
    }
    // Each account has its own row.
    harness.bo().fail("apply", Error::new(ErrorKind::Provider(403), "Outlook is busy"));
    assert_eq!(
        harness.ok("manage", update("all", json!({"status": "on", "text": "Away"}))).await,
        format!(
            "{}ana@example.com|on|null|null|null|Away|null|null|null\n\
             outcomes[1|]{{item|op|result|detail}}:\n  bo@example.com|update|failed|Outlook is busy",
            head.replace("{}", "1")
        )
    );
}

/// Outlook has one reply text for the organization and one for people outside; a text that is not
/// given stays.
#[tokio::test]
async fn internal_and_external_automatic_replies_stay_separate() {
    let update = |set: Value| json!({"kind": "auto_reply", "op": "update", "set": set});
    let two = |internal: &str, external: &str| AutoReply {
        on: true,
        html: Some(internal.to_owned()),
        external: Some(external.to_owned()),
        audience: Some(ReplyAudience::Organization),
        ..AutoReply::default()
    };
    let (away, off) = ("<p>Away</p>", "<p>Off</p>");
    let (a, b) = ("<p>A</p>", "<p>B</p>");
    for (before, set, after, shown) in cases! {
        two(away, off), json!({"status": "off"}), AutoReply { on: false, ..two(away, off) },
            "off|null|null|null|null|Away|Off|organization";
        two(away, off), json!({"audience": "organization", "text_external": "B"}), two(away, b),
            "on|null|null|null|null|Away|B|organization";
        two(away, off), json!({"text_internal": "A"}), two(a, off),
            "on|null|null|null|null|A|Off|organization";
        two(away, off), json!({"text": "A"}), two(a, a),
            "on|null|null|null|A|null|null|organization";
        two(away, off), json!({"text": "A", "text_external": "B"}), two(a, b),
            "on|null|null|null|null|A|B|organization";
        two(away, ""), json!({"text_external": "B"}), two(away, b),
            "on|null|null|null|null|Away|B|organization";
    } {
        let harness = MailHarness::one(Service::Microsoft, "send").await;
        *harness.ana().reply.lock().unwrap() = before.clone();
        let answer = harness.ok("manage", update(set.clone())).await;
        assert!(answer.ends_with(&format!("ana@example.com|{shown}")), "{set}: {answer}");
        assert_eq!(*harness.ana().reply.lock().unwrap(), after, "{set}");
        // Only the given members are written.
        let written = harness.ana().written().join("\n");
        let text = |name: &str, now: &Option<String>, old: &Option<String>| {
            let now = now.as_ref().filter(|_| now != old);
            format!("{name}: {now:?}")
        };
        for expected in [
            text("html", &after.html, &before.html),
            text("external", &after.external, &before.external),
            "audience: None".to_owned(),
        ] {
            assert!(written.contains(&expected), "{set}: {expected} in {written}");
        }
    }
    let harness = MailHarness::one(Service::Google, "send").await;
    for key in ["text_internal", "text_external"] {
        assert_eq!(
            harness.error("manage", update(json!({"text": "A", key: "B"}))).await,
            format!("this mailbox has one text for everybody, no `{key}`: give `text`")
        );
    }
}

#[tokio::test]
async fn signatures_are_kept_where_the_provider_has_none() {
    let set = json!({"kind": "signature", "op": "update", "set": {"text": "Ana\nLamps"}});
    let settings =
        [("DAYSHEET_ACCESS", "draft"), ("DAYSHEET_MICROSOFT_SIGNATURE", "Of the settings")];
    let harness = MailHarness::with(Service::Microsoft, &settings).await;
    let draft = json!({"to": "bo@example.com", "subject": "x", "body": "Hi"});
    let text = |harness: &MailHarness| {
        harness.ana().drafts.lock().unwrap().last_key_value().unwrap().1.content.text.clone()
    };
    harness.ok("mail_draft", draft.clone()).await;
    assert_eq!(text(&harness), "Hi\n\n-- \nOf the settings");
    assert_eq!(
        harness.ok("manage", set.clone()).await,
        "outcomes[1|]{item|op|result|detail}:\n  ana@example.com|update|done|\"kept by Daysheet \
         for mail it writes: programs cannot read Outlook's own\""
    );
    assert_eq!(
        harness.store.signature(&"microsoft:ana@example.com".into()).await.unwrap().as_deref(),
        Some("Ana\nLamps")
    );
    assert_eq!(harness.ana().written(), Vec::<String>::new());
    harness.ok("mail_draft", draft).await;
    assert_eq!(text(&harness), "Hi\n\n-- \nAna\nLamps");
    let harness = MailHarness::one(Service::Google, "organize").await;
    harness.ok("manage", set).await;
    assert_eq!(
        harness.ana().written(),
        ["Signature { address: None, html: \"<p>Ana<br>\\nLamps</p>\" }"]
    );
    // A signature's id is its address; replies and settings have no id.
    let named = |kind: &str, more: Value| {
        with(json!({"kind": kind, "op": "update", "set": {"text": "x"}}), more)
    };
    harness.ok("manage", named("signature", json!({"id": "ana+news@example.com"}))).await;
    assert_eq!(
        harness.ana().written(),
        ["Signature { address: Some(\"ana+news@example.com\"), html: \"<p>x</p>\" }"]
    );
    for (kind, more, expected) in cases! {
        "signature", json!({"name": "x"}), "`name` does not apply to kind=signature";
        "auto_reply", json!({"id": "x"}), "`id` does not apply to kind=auto_reply";
        "settings", json!({"id": "x"}), "`id` does not apply to kind=settings";
    } {
        assert_eq!(
            harness.error("manage", named(kind, more)).await,
            format!("{expected}: give `account`, and the change in `set`")
        );
    }
    // A signature must not load remote content.
    let html = "<p>Ana <img src='https://evil.example/x.png' alt='Logo'></p>";
    let set = json!({"kind": "signature", "op": "update", "set": {"text": html}});
    let answer = harness.ok("manage", set).await;
    assert!(
        answer.ends_with("remote pictures left out: 1 (setting `remote_pictures`)"),
        "{answer}"
    );
    assert_eq!(harness.ana().written(), ["Signature { address: None, html: \"<p>Ana Logo</p>\" }"]);
    let create = json!({"kind": "signature", "op": "create", "set": {"text": "x"}});
    assert_eq!(
        harness.error("manage", create).await,
        "a mailbox has one signature, which cannot be created or deleted: use op=update"
    );
}

#[tokio::test]
async fn rule_that_hides_mail_is_written_after_the_user_confirms() {
    for (reply, then, questions, rules) in cases! {
        Confirmation::Yes, "trash", 1, 1;
        Confirmation::No, "trash", 1, 0;
        Confirmation::No, "read archive", 1, 0;
        Confirmation::Unanswered, "move:Bills", 1, 0;
        Confirmation::Unavailable, "archive", 1, 1;
        Confirmation::Yes, "read", 1, 1;
        Confirmation::No, "read label:Bills", 1, 0;
        Confirmation::No, "star", 0, 1;
    } {
        let harness = MailHarness::one(Service::Google, "full").await;
        let caller = FakeUser::says(reply);
        let set = json!({"when": "from:a@b.example", "then": then});
        let create = json!({"kind": "rule", "op": "create", "set": set});
        harness.call_as("manage", create, &caller).await.unwrap();
        assert_eq!(harness.ana().rules.lock().unwrap().len(), rules, "{then}");
        let hides = if then.starts_with("read") && !then.contains("archive") {
            "marks mail as read"
        } else {
            "takes mail out of the inbox"
        };
        let question = format!(
            "Create a rule of ana@example.com? It {hides}: when from:a@b.example then {then}"
        );
        assert_eq!(caller.questions(), vec![question; questions], "{then}");
    }
}

/// Texts by other people count: lists, links of senders, subjects of replies.
#[tokio::test]
async fn rule_that_hides_mail_is_refused_after_untrusted_text_if_nobody_can_be_asked() {
    let unsubscribe = json!({"ids": ["ana-0001"], "do": "unsubscribe", "dry_run": true});
    let reply = json!({"mode": "reply", "id": "ana-0001", "body": "Yes."});
    for (tool, arguments, confirmation, then, is_refused) in cases! {
        "mail_search", json!({}), Confirmation::Unavailable, "trash", true;
        "mail_search", json!({}), Confirmation::Unavailable, "read move:Trash", true;
        "mail_search", json!({}), Confirmation::Unavailable, "archive", true;
        "mail_search", json!({}), Confirmation::Unavailable, "star move:Bills", true;
        "mail_search", json!({}), Confirmation::Unavailable, "read", true;
        "mail_search", json!({}), Confirmation::Unavailable, "star label:Bills", false;
        "mail_search", json!({}), Confirmation::Yes, "trash", false;
        "mail_search", json!({}), Confirmation::Yes, "archive", false;
        "mail_modify", unsubscribe, Confirmation::Unavailable, "trash", true;
        "mail_draft", reply, Confirmation::Unavailable, "trash", true;
        "lookup", json!({"kind": "labels"}), Confirmation::Unavailable, "trash", false;
    } {
        let harness = MailHarness::one(Service::Google, "full").await;
        harness.ana().fill(1);
        harness.call(tool, arguments).await.unwrap();
        let set = json!({"when": "from:a@b.example", "then": then});
        let create = json!({"kind": "rule", "op": "create", "set": set});
        let caller = FakeUser::says(confirmation);
        let blocks = harness.call_as("manage", create, &caller).await.unwrap();
        if is_refused {
            assert_eq!(
                blocks,
                ["outcomes[1|]{item|op|result|detail}:\n  \"from:a@b.example\"|create|refused|\
                  \"text of unknown senders was shown recently, and this client cannot ask the \
                  user: label the mail or mark it important instead, or ask the user to make the \
                  rule in the mail program\""],
                "{tool}"
            );
        } else {
            assert!(blocks[0].starts_with("rules[1|]"), "{tool} {then}: {}", blocks[0]);
        }
    }
}

/// A disabled rule hides no mail, so it is created without a question; enabling it is refused.
#[tokio::test]
async fn rule_that_is_switched_off_needs_no_question() {
    let harness = MailHarness::one(Service::Microsoft, "full").await;
    harness.ana().fill(1);
    harness.ok("mail_search", json!({})).await;
    let rule = |op: &str, id: Option<&str>, set: Value| json!({"kind": "rule", "op": op, "id": id, "set": set});
    let off = json!({"name": "A", "when": "from:a@b.example", "then": "archive", "enabled": false});
    let row = "rules[1|]{id|name|when|then|enabled|other}:\n  ";
    let cases = cases! {
        rule("create", None, off), format!("{row}r1|A|\"from:a@b.example\"|archive|false|null");
        rule("update", Some("A"), json!({"enabled": true})),
            "outcomes[1|]{item|op|result|detail}:\n  A|update|refused|\"text of unknown senders was \
             shown recently, and this client cannot ask the user: label the mail or mark it \
             important instead, or ask the user to make the rule in the mail program\"".to_owned();
        rule("update", Some("A"), json!({"name": "B"})),
            format!("{row}r2|B|\"from:a@b.example\"|archive|false|null");
    };
    for (call, expected) in cases {
        let answer = harness.ok("manage", call).await;
        assert_eq!(answer.split("\n--\n").next().unwrap(), expected);
    }
}

/// A dry run states the question that the call would ask, without asking it.
#[tokio::test]
async fn dry_run_says_whether_the_user_will_be_asked() {
    let rule = json!({"kind": "rule", "op": "create",
                      "set": {"when": "from:a@b.example", "then": "archive"}});
    let contact = json!({"kind": "contact", "op": "delete", "id": "lena@studio.example"});
    let planned =
        "\"from:a@b.example\"|create|planned|\"when from:a@b.example then archive\"\n--\n";
    let dry = "dry run: nothing was written";
    let refused = "refused|the settings require the user's approval, and this client cannot ask";
    let permanent = "lena@studio.example|delete|planned|\"permanently:";
    for (confirm, reply, arguments, expected) in cases! {
        "possible", Confirmation::Yes, &rule,
            format!("{planned}{dry}\nthe user will be asked first");
        "possible", Confirmation::Unavailable, &rule, format!("{planned}{dry}");
        "always", Confirmation::Yes, &rule,
            format!("{planned}{dry}\nthe user will be asked first");
        "always", Confirmation::Unavailable, &rule, format!("\"from:a@b.example\"|create|{refused}");
        "possible", Confirmation::Yes, &contact,
            format!("{permanent} the user will be asked first, and there is no undo\"\n--\n{dry}");
        "possible", Confirmation::Unavailable, &contact,
            format!(
                "{permanent} there is no undo, and this client cannot ask the user first\"\n--\n{dry}"
            );
        "always", Confirmation::Unavailable, &contact,
            format!("lena@studio.example|delete|{refused}");
    } {
        let settings = [("DAYSHEET_CONFIRM", confirm), ("DAYSHEET_ACCESS", "full")];
        let harness = MailHarness::with(Service::Google, &settings).await;
        *harness.ana().people.lock().unwrap() = vec![json!({
            "resourceName": "people/c1", "emailAddresses": [{"value": "lena@studio.example"}],
        })];
        let caller = FakeUser::says(reply);
        let call = with(arguments.clone(), json!({"dry_run": true}));
        let blocks = harness.call_as("manage", call, &caller).await.unwrap();
        let head = "outcomes[1|]{item|op|result|detail}:\n  ";
        assert_eq!(blocks.join("\n--\n"), format!("{head}{expected}"), "{confirm} {reply:?}");
        assert_eq!(caller.questions().len(), 0);
        assert_eq!(harness.ana().written().len(), 0);
    }
}

#[tokio::test]
async fn contact_is_deleted_after_the_user_confirms() {
    let question = "Permanently delete the contact lena@studio.example of ana@example.com? This \
                    cannot be undone.";
    let delete = json!({"kind": "contact", "op": "delete", "id": "lena@studio.example"});
    let planned = with(delete.clone(), json!({"dry_run": true}));
    let head = "outcomes[1|]{item|op|result|detail}:\n  lena@studio.example|delete";
    for (reply, arguments, expected, questions, written) in cases! {
        Confirmation::Yes, &delete, "done|permanently", 1, 1;
        Confirmation::No, &delete, "refused|the user declined", 1, 0;
        Confirmation::Unanswered, &delete,
            "refused|\"nobody confirmed: ask the user, and try again\"", 1, 0;
        Confirmation::Unavailable, &delete, "done|permanently", 1, 1;
        Confirmation::No, &planned,
            "planned|\"permanently: the user will be asked first, and there is no undo\"\n--\n\
             dry run: nothing was written", 0, 0;
    } {
        let harness = MailHarness::one(Service::Google, "full").await;
        *harness.ana().people.lock().unwrap() = vec![json!({
            "resourceName": "people/c1", "emailAddresses": [{"value": "lena@studio.example"}],
        })];
        let caller = FakeUser::says(reply);
        let blocks = harness.call_as("manage", arguments.clone(), &caller).await;
        assert_eq!(blocks.unwrap().join("\n--\n"), format!("{head}|{expected}"));
        assert_eq!(caller.questions(), vec![question; questions]);
        assert_eq!(harness.ana().written().len(), written);
    }
}

/// A dry run reports settings that the provider would refuse.
#[tokio::test]
async fn dry_run_is_refused_like_the_call() {
    for arguments in [
        json!({"kind": "folder", "op": "create", "name": "A//B"}),
        json!({"kind": "folder", "op": "rename", "id": "Bills", "name": "A//B"}),
        json!({"kind": "folder", "op": "delete", "id": "Bills"}),
        json!({"kind": "label", "op": "update", "id": "Bills", "set": {"color": "loud"}}),
        json!({"kind": "rule", "op": "create", "set": {"when": "from:bo", "then": "star"}}),
        json!({"kind": "contact", "op": "create", "set": {"name": "Bo"}}),
        json!({"kind": "auto_reply", "op": "update", "set": {"status": "on", "text": "Away"}}),
        json!({"kind": "signature", "op": "update", "set": {"text": "Ana"}}),
        json!({"kind": "settings", "op": "update", "set": {"language": "xx"}}),
    ] {
        let harness = MailHarness::one(Service::Google, "send").await;
        harness.ana().fail("set_up", Error::argument("the provider does not take it"));
        for dry_run in [false, true] {
            let arguments = with(arguments.clone(), json!({"dry_run": dry_run}));
            let caller = FakeUser::says(Confirmation::Yes);
            let refused = harness.call_as("manage", arguments.clone(), &caller).await;
            assert_eq!(
                refused.unwrap_err().to_string(),
                "the provider does not take it",
                "{arguments}"
            );
        }
    }
}

#[tokio::test]
async fn contacts_are_found_by_address_or_name() {
    let harness = MailHarness::one(Service::Google, "organize").await;
    let person = |id: &str, name: &str, email: &str| {
        json!({"resourceName": id, "names": [{"displayName": name}],
               "emailAddresses": [{"value": email}], "unsaved": id.starts_with("other").then_some(true)})
    };
    *harness.ana().people.lock().unwrap() = vec![
        person("people/c1", "Lena Okafor", "lena@studio.example"),
        person("people/c2", "Lena Okafor", "lena@home.example"),
        person("otherContacts/c3", "Yusuf Adan", "yusuf@lamps.example"),
        person("people/c4", "Zoe", "zoe@lamps.example"),
        person("people/c5", "Zoe", "zoe@lamps.example"),
    ];
    let update = |id: &str| {
        json!({"kind": "contact", "op": "update", "id": id,
               "set": {"name": "Lena O.", "emails": "lena@new.example", "phone": "+49 1", "role": "Art"}})
    };
    let answer = harness.ok("manage", update("Lena@studio.example")).await;
    assert_eq!(
        answer,
        "contacts[1|]{name|emails|known|company}:\n  Lena O.|lena@new.example|saved|\"\"\n--\n\
         no undo: it had name `Lena Okafor`, emails `lena@studio.example`, no role, no phone"
    );
    assert_eq!(
        harness.ana().written(),
        [
            "UpdateContact { id: \"people/c1\", card: ContactCard { name: Some(\"Lena O.\"), emails: \
          Some([\"lena@new.example\"]), phones: Some([\"+49 1\"]), company: None, title: \
          Some(\"Art\") } }"
        ]
    );
    // A column's name may be in the singular or the plural.
    let singular = json!({"kind": "contact", "op": "update", "id": "lena@home.example",
                          "set": {"email": "lena@newer.example", "phones": "+49 2"}});
    harness.ok("manage", singular).await;
    assert_eq!(
        harness.ana().written(),
        ["UpdateContact { id: \"people/c2\", card: ContactCard { name: None, emails: \
          Some([\"lena@newer.example\"]), phones: Some([\"+49 2\"]), company: None, title: None } }"]
    );
    // Copies of a contact are changed one at a time.
    harness.ok("manage", update("zoe@lamps.example")).await;
    assert!(harness.ana().written()[0].starts_with("UpdateContact { id: \"people/c4\""));
    let cases = cases! {
        json!({"kind": "contact", "op": "create", "set": {"emails": "Lena@home.example"}}),
            "a contact with lena@home.example already exists: change it with op=update \
             id=lena@home.example";
        update("Lena Okafor"),
            "2 contacts match Lena Okafor: give the address or full name of one";
        update("yusuf@lamps.example"),
            "yusuf@lamps.example is not a saved contact, only somebody mail was exchanged with: \
             use op=create to save it";
        update("Nobody"),
            "there is no contact Nobody: see lookup kind=contacts, or use op=create";
        json!({"kind": "contact", "op": "delete", "id": "lena@studio.example"}),
            "permanently deleting a contact needs access `full`, but this server has `organize`: \
             ask the user to start it with --access full";
        json!({"kind": "contact", "op": "create", "set": {"emails": "nowhere"}}),
            "`nowhere` is not an address: write it as name@example.com";
        // An address that would be displayed differently from the saved one, or as two.
        json!({"kind": "contact", "op": "create", "set": {"emails": ["a\u{200b}@x.example"]}}),
            "`a@x.example` has non-ASCII characters before the @: ask for an ASCII address";
        json!({"kind": "contact", "op": "create", "set": {"emails": ["Ann <a@x.example>"]}}),
            "`Ann <a@x.example>` is not an address: write it as name@example.com";
        json!({"kind": "contact", "op": "create", "set": {"emails": ["a@x.example, b@x.example"]}}),
            "`a@x.example, b@x.example` is not an address: write it as name@example.com";
        json!({"kind": "contact", "op": "create", "set": {"birthday": "x"}}),
            "kind=contact has no `birthday` to set: set name, emails, company, role, phone";
        json!({"kind": "contact", "op": "run", "id": "x"}),
            "`op: run` is for rules: use create, update or delete, or kind=rule";
    };
    harness.refuses("manage", cases).await;
}
