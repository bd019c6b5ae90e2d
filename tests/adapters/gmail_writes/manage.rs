//! Mailbox setup: filters as rules, the automatic answer, signatures, language, labels and
//! contacts.

use daysheet_core::ids::EmailAddress;
use daysheet_core::provider::mail::{
    AutoReply, ContactCard, LabelLook, MailRule, ReplyAudience, RuleStep, SettingsChange,
};
use daysheet_core::query::{MessagePart, Query, QueryTerm};
use serde_json::{Value, json};

use super::ME;
use super::gmail::{Gmail, broken, empty, ok, refused};
use crate::tap::{HttpRequest, HttpResponse, turns};

fn text(text: &str) -> Query {
    Query::Term(QueryTerm::Text(text.to_owned()))
}

fn of(part: MessagePart, text: &str) -> Query {
    Query::Term(QueryTerm::In(part, text.to_owned()))
}

fn labels(request: &HttpRequest) -> Option<HttpResponse> {
    (request.target == "GET labels").then(|| {
        ok(&json!({"labels": [
            {"id": "INBOX", "name": "INBOX", "type": "system"},
            {"id": "Label_1", "name": "Clients/Nordlicht", "type": "user"},
            {"id": "Label_2", "name": "Receipts", "type": "user"},
        ]}))
    })?
}

#[tokio::test]
async fn filters_are_listed_as_rules() {
    for (criteria, action, when, then, other) in cases! {
        json!({"from": "news@example.com", "subject": "weekly", "excludeChats": true}),
            json!({"addLabelIds": ["Label_2", "STARRED"], "removeLabelIds": ["INBOX", "UNREAD"]}),
            Some(Query::All(vec![of(MessagePart::From, "news@example.com"), of(MessagePart::Subject, "weekly")])),
            vec![
                RuleStep::Label("Receipts".to_owned()),
                RuleStep::Star,
                RuleStep::Archive,
                RuleStep::Read,
            ], vec![];
        json!({"query": "\"final notice\" OR overdue", "negatedQuery": "from:bo@example.com",
               "hasAttachment": true, "size": 1_000_000, "sizeComparison": "larger"}),
            json!({"addLabelIds": ["TRASH"]}),
            Some(Query::All(vec![
                Query::Any(vec![text("final notice"), text("overdue")]),
                Query::Not(Box::new(of(MessagePart::From, "bo@example.com"))),
                Query::Term(QueryTerm::Attachment),
                Query::Term(QueryTerm::Larger(1_000_000)),
            ])), vec![RuleStep::Trash], vec![];
        json!({"to": "mira@example.com OR office@example.com"}),
            json!({"removeLabelIds": ["SPAM"], "addLabelIds": ["IMPORTANT"],
                   "forward": "office@example.com"}),
            Some(Query::Any(vec![
                of(MessagePart::To, "mira@example.com"),
                of(MessagePart::To, "office@example.com"),
            ])),
            vec![
                RuleStep::Important,
                RuleStep::NeverSpam,
                RuleStep::Forward("office@example.com".to_owned()),
            ], vec![];
        // What cannot be expressed is reported, never half done.
        json!({"query": "list:press.example newer_than:2d", "from": "a@example.com",
               "size": 5, "hasLove": "yes"}),
            json!({"addLabelIds": ["Label_9"], "removeLabelIds": ["IMPORTANT", "STARRED"],
                   "reply": {"x": 1}}), Some(of(MessagePart::From, "a@example.com")), vec![],
            vec![
                "the condition query: list:press.example newer_than:2d",
                "the condition size: 5",
                "the condition hasLove: yes",
                "gives the label Label_9",
                "never marks as important",
                "takes away the label STARRED",
                "does reply: {\"x\":1}",
            ];
        json!({"subject": "a) OR (b"}), json!({}), None, vec![],
            vec!["the condition subject: a) OR (b"];
    } {
        let filter = json!({"id": "F1", "criteria": criteria, "action": action});
        let gmail = Gmail::scripted(move |request| {
            let all = json!({"filter": [filter]});
            labels(request)
                .or_else(|| (request.target == "GET settings/filters").then(|| ok(&all))?)
        })
        .await;
        let rule = MailRule {
            id: "F1".to_owned(),
            name: None,
            enabled: true,
            when,
            then,
            stop: false,
            other: other.into_iter().map(str::to_owned).collect(),
        };
        assert_eq!(gmail.mail.rules().await.unwrap(), [rule]);
    }
}

/// A rule that archives matching messages.
fn rule(when: Query) -> MailRule {
    MailRule {
        enabled: true,
        when: Some(when),
        then: vec![RuleStep::Archive],
        ..MailRule::default()
    }
}

#[tokio::test]
async fn rule_conditions_become_gmail_search_criteria() {
    let cannot = |what: &str| {
        Err(format!(
            "a Gmail rule checks incoming mail, and cannot test {what}: use words, from:, to:, \
             subject:, has:attachment, filename:, larger: or smaller:"
        ))
    };
    let state = daysheet_core::query::MessageState::Unread;
    for (when, expected) in cases! {
        of(MessagePart::From, "news@example.com"), Ok(json!({"from": "news@example.com"}));
        Query::All(vec![
            of(MessagePart::From, "news@example.com"),
            of(MessagePart::To, ME),
            of(MessagePart::Subject, "weekly"),
            Query::Term(QueryTerm::Attachment),
            Query::Term(QueryTerm::Smaller(5_000)),
        ]),
            Ok(json!({"from": "news@example.com", "to": ME, "subject": "weekly",
                      "hasAttachment": true, "size": 5_000, "sizeComparison": "smaller"}));
        // A phrase, a choice, and what stands twice are clearer as a query.
        of(MessagePart::Subject, "final notice"), Ok(json!({"query": "subject:\"final notice\""}));
        Query::All(vec![of(MessagePart::From, "a@example.com"), of(MessagePart::From, "b@example.com")]),
            Ok(json!({"query": "from:a@example.com from:b@example.com"}));
        Query::All(vec![
            Query::Any(vec![text("invoice"), text("bill")]),
            Query::Not(Box::new(of(MessagePart::From, "bo@example.com"))),
        ]), Ok(json!({"query": "(invoice OR bill) -from:bo@example.com"}));
        Query::Raw("list:press.example".to_owned()), Ok(json!({"query": "list:press.example"}));
        Query::Term(QueryTerm::Is(state)), cannot("whether mail is read, starred or important");
        Query::Term(QueryTerm::Folder("inbox".to_owned())), cannot("which folder mail is in");
        Query::Term(QueryTerm::Label("Receipts".to_owned())), cannot("which labels mail has");
        of(MessagePart::Body, "x"), cannot("only the body");
        Query::All(vec![]),
            Err("the rule has no condition: give one, such as from:news@example.com"
                .to_owned());
    } {
        let gmail = Gmail::scripted(|request| {
            (request.target == "POST settings/filters").then(|| ok(&json!({"id": "F2"})))?
        })
        .await;
        let made = gmail.mail.apply_settings(&SettingsChange::CreateRule(rule(when))).await;
        let written = gmail.written();
        let reported = made.map(|_| written[0].1["criteria"].clone());
        assert_eq!(reported.map_err(|error| error.to_string()), expected);
    }
}

#[tokio::test]
async fn rule_actions_become_label_changes() {
    let named = |name: &str| name.to_owned();
    let usual = || rule(of(MessagePart::From, "a@example.com"));
    let with = |then: Vec<RuleStep>| MailRule { then, ..usual() };
    for (rule, expected) in cases! {
        with(vec![
            RuleStep::Read,
            RuleStep::Star,
            RuleStep::NeverSpam,
            RuleStep::Important,
            RuleStep::Move(named("clients/nordlicht")),
        ]),
            Ok(json!({"addLabelIds": ["IMPORTANT", "Label_1", "STARRED"],
                      "removeLabelIds": ["INBOX", "SPAM", "UNREAD"]}));
        with(vec![RuleStep::Label(named("Receipts"))]), Ok(json!({"addLabelIds": ["Label_2"]}));
        with(vec![RuleStep::Trash]), Ok(json!({"addLabelIds": ["TRASH"]}));
        with(vec![RuleStep::Label(named("reciepts"))]),
            Err("there is no label `reciepts`: use one of these: `Receipts`");
        with(vec![RuleStep::Label(named("inbox"))]),
            Err("a Gmail rule cannot put mail there: name a user label");
        with(vec![RuleStep::Forward(named("x@example.com"))]),
            Err(
                "forwarding rules are not created here: create it in Gmail's settings, where the \
                 address is verified",
            );
        with(vec![]), Err("the rule has no action: give one, such as archive");
        MailRule { name: Some(named("news")), ..usual() },
            Err("Gmail's rules have no names: leave out the name");
        MailRule { enabled: false, ..usual() },
            Err("Gmail's rules cannot be switched off: delete the rule, and create it again later");
        MailRule { stop: true, ..usual() },
            Err("Gmail applies every matching rule: leave out stop");
        MailRule { other: vec![named("does more")], ..usual() },
            Err("the rule has parts not supported here: create it in Gmail's settings");
    } {
        let gmail = Gmail::scripted(|request| match request.target.as_str() {
            "POST settings/filters" => ok(&json!({"id": "F2"})),
            _ => labels(request),
        })
        .await;
        let made = gmail.mail.apply_settings(&SettingsChange::CreateRule(rule)).await;
        let written = gmail.written();
        let reported = made.map(|_| written[0].1["action"].clone());
        assert_eq!(reported.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
    }
}

#[tokio::test]
async fn changed_rule_replaces_its_filter_without_a_duplicate() {
    let old = json!({"id": "F1", "criteria": {"from": "a@example.com"},
                     "action": {"removeLabelIds": ["INBOX"]}});
    let new = json!({"id": "F2", "criteria": {"from": "b@example.com"},
                     "action": {"removeLabelIds": ["INBOX"]}});
    let mut forwards = old.clone();
    forwards["action"]["forward"] = "x@example.com".into();
    let steps = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    let (post, delete, back) =
        ("POST settings/filters", "DELETE settings/filters/F1", "DELETE settings/filters/F2");
    for (old, requested, made, deleted, expected, written) in cases! {
        &old, "b@example.com", ok(&new), empty(204), Ok("F2"), steps(&[post, delete]);
        // It is so already.
        &old, "a@example.com", None, None, Ok("F1"), steps(&[]);
        &forwards, "b@example.com", None, None,
            Err("the rule has parts not supported here, and was left as it is: change it in \
                 Gmail's settings"), steps(&[]);
        // Nobody answered, and it is there.
        &old, "b@example.com", broken(), empty(204), Ok("F2"), steps(&[post, delete]);
        &old, "b@example.com", refused(400, "invalidArgument", "Filter already exists"), None,
            Err("Gmail already has this rule: see lookup kind=rules"),
            steps(&[post]);
        &old, "b@example.com", ok(&new), refused(403, "domainPolicy", "No"),
            Err(
                "the old rule could not be deleted, and stays: Google answered with status 403: `No`",
            ), steps(&[post, delete, back]);
    } {
        let (old, new) = (old.clone(), new.clone());
        let gmail = Gmail::scripted(move |request| match request.target.as_str() {
            "GET settings/filters/F1" => ok(&old),
            "GET settings/filters" => ok(&json!({"filter": [old, new]})),
            "POST settings/filters" => made.clone(),
            "DELETE settings/filters/F1" => deleted.clone(),
            "DELETE settings/filters/F2" => empty(204),
            _ => labels(request),
        })
        .await;
        let change = SettingsChange::UpdateRule(MailRule {
            id: "F1".to_owned(),
            ..rule(of(MessagePart::From, requested))
        });
        let done = gmail.mail.apply_settings(&change).await;
        let id = done.map(|found| found.unwrap()["id"].as_str().unwrap().to_owned());
        assert_eq!(
            id.map_err(|error| error.to_string()),
            expected.map(str::to_owned).map_err(str::to_owned)
        );
        let what: Vec<_> = gmail.written().into_iter().map(|(what, _)| what).collect();
        assert_eq!(what, written);
    }
}

/// The settings with this vacation.
fn settings(vacation: &Value) -> impl Fn(&HttpRequest) -> Option<HttpResponse> + use<> {
    let vacation = vacation.clone();
    move |request| match request.target.as_str() {
        "GET settings/vacation" => ok(&vacation),
        "GET settings/language" => ok(&json!({"displayLanguage": "en"})),
        "PUT settings/vacation" | "PUT settings/language" => ok(&request.body),
        _ => None,
    }
}

#[tokio::test]
async fn automatic_reply_is_read_and_written() {
    let now = json!({"enableAutoReply": true, "responseSubject": "Away",
                     "responseBodyPlainText": "Back <soon>\nMira", "restrictToContacts": true,
                     "startTime": "1770138300000", "endTime": "0"});
    let gmail = Gmail::scripted(settings(&now)).await;
    assert_eq!(
        gmail.mail.auto_reply().await.unwrap(),
        AutoReply {
            on: true,
            from: Some("2026-02-03T17:05:00Z".parse().unwrap()),
            to: None,
            subject: Some("Away".to_owned()),
            html: Some("Back &lt;soon&gt;<br>\nMira".to_owned()),
            external: None,
            audience: Some(ReplyAudience::Contacts),
        }
    );
    let at = |text: &str| Some(text.parse().unwrap());
    for (reply, now, expected) in cases! {
        AutoReply {
            on: true,
            from: at("2026-02-03T17:05:00Z"),
            to: at("2026-02-10T17:05:00Z"),
            subject: Some("In Lisbon".to_owned()),
            html: Some("<p>Later</p>".to_owned()),
            external: None,
            audience: Some(ReplyAudience::Organization),
        }, json!({}),
            Ok(json!({"enableAutoReply": true, "responseSubject": "In Lisbon",
                      "responseBodyHtml": "<p>Later</p>", "restrictToContacts": false,
                      "restrictToDomain": true, "startTime": "1770138300000",
                      "endTime": "1770743100000"}));
        // What is not said of the text stays; old times do not.
        AutoReply::default(), now.clone(),
            Ok(json!({"enableAutoReply": false, "responseSubject": "Away",
                      "responseBodyPlainText": "Back <soon>\nMira", "restrictToContacts": true,
                      "restrictToDomain": false}));
        AutoReply { on: true, ..AutoReply::default() }, json!({}),
            Err("the automatic reply has no text: give a text or a subject");
        AutoReply {
            on: true,
            from: at("2026-02-03T17:05:00Z"),
            to: at("2026-02-03T17:05:00Z"),
            ..AutoReply::default()
        }, now.clone(),
            Err("the automatic reply ends before it starts: give an end after the start");
    } {
        let gmail = Gmail::scripted(settings(&now)).await;
        let change = SettingsChange::AutoReply(reply);
        let rehearsed = gmail.mail.rehearse(&change).await;
        assert_eq!(gmail.written().len(), 0);
        let reported = rehearsed.map_err(|error| error.to_string());
        let refused = expected.as_ref().err().copied();
        assert_eq!(reported.err().as_deref(), refused);
        let done = gmail.mail.apply_settings(&change).await;
        let written = gmail.written();
        assert_eq!(written.len(), usize::from(expected.is_ok()));
        assert_eq!(
            done.map(|_| written[0].1.clone()).map_err(|error| error.to_string()),
            expected.map_err(str::to_owned)
        );
    }
    // Without an answer, what is there tells whether it came.
    for (found, expected) in [(json!(true), true), (json!(false), false)] {
        let gmail = Gmail::scripted(move |request| match request.target.as_str() {
            "PUT settings/vacation" => broken(),
            "GET settings/vacation" => {
                ok(&json!({"enableAutoReply": found, "responseSubject": "Away"}))
            }
            _ => settings(&json!({}))(request),
        })
        .await;
        let on = AutoReply { on: true, ..AutoReply::default() };
        let done = gmail.mail.apply_settings(&SettingsChange::AutoReply(on)).await;
        assert_eq!(done.is_ok(), expected);
    }
}

#[tokio::test]
async fn settings_and_signatures_are_written() {
    let language = |language: Option<&str>, zone: Option<&str>| SettingsChange::Settings {
        language: language.map(str::to_owned),
        time_zone: zone.map(str::to_owned),
    };
    let sign = |address: Option<&str>| SettingsChange::Signature {
        address: address.map(EmailAddress::from),
        html: "<b>M</b>".to_owned(),
    };
    for (change, expected) in cases! {
        language(Some("en-GB"), None),
            Ok(("PUT settings/language", json!({"displayLanguage": "en-GB"})));
        language(Some("British English"), None),
            Err(
                "`British English` is not a language tag: give a BCP 47 tag, such as en-GB or de",
            );
        language(Some("de"), Some("Europe/Berlin")),
            Err("a Gmail mailbox has no time zone: leave out time_zone; calendars have one each");
        language(None, None), Err("there is nothing to change: give a language");
        sign(Some("MIRA@example.com")),
            Ok(("PATCH settings/sendAs/mira%40example.com", json!({"signature": "<b>M</b>"})));
        sign(None),
            Err("Gmail lets programs change only the main address's signature: change the others \
                 in Gmail's settings");
        sign(Some("bo@example.com")),
            Err(
                "the account cannot send from that address: lookup kind=aliases lists its addresses",
            );
    } {
        let gmail = Gmail::scripted(|request| match request.target.as_str() {
            "GET settings/sendAs" => ok(&json!({"sendAs": [
                {"sendAsEmail": ME, "isPrimary": true, "signature": ""},
                {"sendAsEmail": "office@lamps.example", "isDefault": true},
            ]})),
            "PATCH settings/sendAs/mira%40example.com" => ok(&json!({"sendAsEmail": ME})),
            _ => settings(&json!({"enableAutoReply": false}))(request),
        })
        .await;
        let done = gmail.mail.apply_settings(&change).await;
        let written = gmail.written();
        assert_eq!(
            done.map(|_| written[0].clone()).map_err(|error| error.to_string()),
            expected.map(|(what, body)| (what.to_owned(), body)).map_err(str::to_owned)
        );
    }
}

#[tokio::test]
async fn renaming_a_label_renames_its_children() {
    let own = |id: &str, name: &str| json!({"id": id, "name": name, "type": "user"});
    let gmail = Gmail::scripted(move |request| match request.target.as_str() {
        "GET labels" => ok(&json!({"labels": [
            own("Label_1", "Clients"), own("Label_2", "Clients/Nordlicht"),
            own("Label_3", "Clientsele"),
        ]})),
        "GET labels/Label_1" => ok(&own("Label_1", "Clients")),
        "GET labels/INBOX" => ok(&json!({"id": "INBOX", "type": "system"})),
        what if what.starts_with("PATCH ") => ok(&json!({})),
        what if what.starts_with("DELETE ") => empty(204),
        _ => None,
    })
    .await;
    let rename = |id: &str, name: &str| SettingsChange::RenameFolder {
        id: id.into(),
        name: name.to_owned(),
    };
    gmail.mail.apply_settings(&rename("Label_1", "Customers")).await.unwrap();
    assert_eq!(
        gmail.written(),
        [
            ("PATCH labels/Label_1".to_owned(), json!({"name": "Customers"})),
            ("PATCH labels/Label_2".to_owned(), json!({"name": "Customers/Nordlicht"})),
        ]
    );
    let paint = |colour: &str| SettingsChange::UpdateCategory {
        id: "Label_1".into(),
        name: None,
        look: LabelLook {
            colour: Some(colour.to_owned()),
            in_list: Some("unread".to_owned()),
            in_messages: Some("Hide".to_owned()),
        },
    };
    gmail.mail.rehearse(&paint("#FAD165")).await.unwrap();
    assert_eq!(gmail.written(), []);
    gmail.mail.apply_settings(&paint("#FAD165")).await.unwrap();
    let colour = json!({"backgroundColor": "#fad165", "textColor": "#000000"});
    let look = json!({"color": colour, "labelListVisibility": "labelShowIfUnread",
                      "messageListVisibility": "hide"});
    assert_eq!(gmail.written(), [("PATCH labels/Label_1".to_owned(), look)]);
    let delete = |id: &str| SettingsChange::DeleteFolder { id: id.into() };
    assert_eq!(gmail.mail.apply_settings(&delete("Label_1")).await, Ok(None));
    assert_eq!(gmail.written(), [("DELETE labels/Label_1".to_owned(), Value::Null)]);
    let own_alone = "name a user label; lookup kind=labels lists them";
    for (change, expected) in cases! {
        paint("red"),
            "Gmail has no colour `red`: give one of Gmail's palette, such as #16a766, #4a86e8 or \
             #fb4c2f"
                .to_owned();
        SettingsChange::UpdateCategory {
            id: "Label_1".into(), name: None,
            look: LabelLook { in_list: Some("no".to_owned()), ..LabelLook::default() },
        }, "`in_list` is `no`: use one of: show, unread, hide".to_owned();
        rename("INBOX", "x"), format!("Gmail's own labels cannot be changed: {own_alone}");
        delete("INBOX"), format!("Gmail's own labels cannot be deleted: {own_alone}");
        SettingsChange::CreateFolder { name: "clients".to_owned() },
            "a label `clients` already exists: use it, or choose another name".to_owned();
    } {
        let error = gmail.mail.apply_settings(&change).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(gmail.written(), []);
        let rehearsed = gmail.mail.rehearse(&change).await;
        assert_eq!(rehearsed, Err(error));
    }
}

#[tokio::test]
async fn contacts_are_saved() {
    let texts = |all: &[&str]| Some(all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>());
    let known = json!({
        "resourceName": "people/c1", "etag": "e1", "metadata": {"sources": [{"type": "CONTACT"}]},
        "names": [{"displayName": "Bo"}],
        "emailAddresses": [
            {"value": "bo@example.com", "type": "work"},
            {"value": "profile@example.com", "metadata": {"source": {"type": "PROFILE"}}},
        ],
        "organizations": [{"name": "Studio", "title": "Printer", "type": "work"}],
    });
    let card = ContactCard {
        emails: texts(&["BO@example.com", "new@example.com"]),
        company: Some("Press".to_owned()),
        ..ContactCard::default()
    };
    let update = SettingsChange::UpdateContact { id: "people/c1".to_owned(), card: card.clone() };
    let conflict = "the contact was changed meanwhile: look it up again, and repeat the change if \
                    it still fits";
    let mut later = known.clone();
    later["etag"] = "e2".into();
    later["emailAddresses"][1] = json!({"value": "new@example.com"});
    later["organizations"][0]["name"] = "Press".into();
    let mut theirs = known.clone();
    theirs["etag"] = "e3".into();
    for (now, patched, expected) in cases! {
        &known, ok(&later), Ok("e2");
        &later, broken(), Ok("e2");
        // Changed by somebody else.
        &theirs, broken(),
            Err(
                "the connection to Google broke; whether it was done is unknown: check before \
                 retrying",
            );
        &known, broken(),
            Err(
                "the connection to Google broke; whether it was done is unknown: check before \
                 retrying",
            );
        &later, refused(400, "failedPrecondition", "etag"), Err(conflict);
        &known, refused(400, "invalidArgument", "Invalid address"),
            Err("Google answered with status 400: `Invalid address`");
    } {
        let reads = turns(vec![ok(&known), ok(now)]);
        let gmail = Gmail::scripted(move |request| match request.target.as_str() {
            "GET /v1/people/c1" => reads(),
            "PATCH /v1/people/c1:updateContact" => patched.clone(),
            _ => None,
        })
        .await;
        let done = gmail.mail.apply_settings(&update).await;
        let etag = done.map(|found| found.unwrap()["etag"].as_str().unwrap().to_owned());
        assert_eq!(
            etag.map_err(|error| error.to_string()),
            expected.map(str::to_owned).map_err(str::to_owned)
        );
        let requests = gmail.tap.requests();
        let sent = requests.iter().find(|it| it.target.starts_with("PATCH")).unwrap();
        assert_eq!(sent.param("updatePersonFields"), "emailAddresses,organizations");
        assert_eq!(
            sent.body,
            json!({
                "resourceName": "people/c1", "etag": "e1",
                "metadata": {"sources": [{"type": "CONTACT"}]},
                "emailAddresses": [{"value": "bo@example.com", "type": "work"},
                                   {"value": "new@example.com"}],
                "organizations": [{"name": "Press", "title": "Printer", "type": "work"}],
            })
        );
    }
    let gmail = Gmail::scripted(|request| match request.target.as_str() {
        "POST /v1/people:createContact" => ok(&json!({"resourceName": "people/c2"})),
        "DELETE /v1/people/c1:deleteContact" => ok(&json!({})),
        _ => None,
    })
    .await;
    let card = ContactCard {
        name: Some("Bo Lind".to_owned()),
        phones: texts(&["+46 1"]),
        title: Some("Printer".to_owned()),
        ..card
    };
    gmail.mail.apply_settings(&SettingsChange::CreateContact(card)).await.unwrap();
    let delete = |id: &str| SettingsChange::DeleteContact { id: id.to_owned() };
    assert_eq!(gmail.mail.apply_settings(&delete("people/c1")).await, Ok(None));
    assert_eq!(
        gmail.written(),
        cases! {
            "POST /v1/people:createContact".to_owned(), json!({
                "names": [{"unstructuredName": "Bo Lind"}],
                "emailAddresses": [{"value": "BO@example.com"}, {"value": "new@example.com"}],
                "phoneNumbers": [{"value": "+46 1"}],
                "organizations": [{"name": "Press", "title": "Printer"}],
            });
            "DELETE /v1/people/c1:deleteContact".to_owned(), Value::Null;
        }
    );
    for (id, expected) in cases! {
        "otherContacts/c1",
            "this person is not a saved contact, only known from mail: save them as a new contact";
        "people/../x",
            "the id is not a Google contact's: look the contact up, and use its provider_id, such \
             as people/c123";
    } {
        let error = gmail.mail.apply_settings(&delete(id)).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}
