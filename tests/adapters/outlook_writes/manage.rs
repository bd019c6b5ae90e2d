//! Folders, categories, automatic answers, settings and contacts.

use daysheet_core::provider::mail::{
    AutoReply, ContactCard, LabelLook, MailRule, ReplyAudience, SettingsChange,
};

use super::modify::folders;
use super::*;

/// A service with folders, categories, settings and contacts that takes changes.
async fn taker() -> Outlook {
    service(|line, body| {
        let mut echo = body.clone();
        match line.split(' ').next().unwrap() {
            "DELETE" => (204, Value::Null),
            "POST" => {
                echo["id"] = "AAkALgAAthingNew000001=".into();
                (201, echo)
            }
            "PATCH" => (200, Value::Null),
            _ if line == "GET /me/mailboxSettings" => (200, settings()),
            _ if line.starts_with("GET /me/contacts/") => {
                (200, json!({"id": "AAkALgAAcontact0000001=", "displayName": "read"}))
            }
            _ if line.starts_with("GET /me/outlook/masterCategories") => {
                let print = json!({"id": "c-1", "displayName": "Print", "color": "preset0"});
                (200, json!({ "value": [print] }))
            }
            _ if line.starts_with(&format!("GET /me/mailFolders/{CLIENTS}?"))
                || line.starts_with("GET /me/mailFolders/AAkALgAAthingNew") =>
            {
                (200, json!({"id": CLIENTS, "displayName": "read"}))
            }
            _ => folders(line).unwrap_or_else(missing),
        }
    })
    .await
}

fn settings() -> Value {
    let utc = |at: &str| json!({"dateTime": at, "timeZone": "UTC"});
    json!({
        "timeZone": "W. Europe Standard Time", "language": {"locale": "de-DE"},
        "automaticRepliesSetting": {
            "status": "Scheduled", "externalAudience": "contactsOnly",
            "scheduledStartDateTime": utc("2026-02-03T17:00:00.0000000"),
            "scheduledEndDateTime": utc("2026-02-10T07:00:00.0000000"),
            "internalReplyMessage": "<p>Away</p>", "externalReplyMessage": "<p>Off</p>",
        },
    })
}

fn away() -> AutoReply {
    AutoReply {
        on: true,
        from: Some("2026-02-03T17:00:00Z".parse().unwrap()),
        to: Some("2026-02-10T07:00:00Z".parse().unwrap()),
        subject: None,
        html: Some("<p>Away</p>".to_owned()),
        external: Some("<p>Off</p>".to_owned()),
        audience: Some(ReplyAudience::Contacts),
    }
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn look(colour: &str) -> LabelLook {
    LabelLook { colour: text(colour), ..LabelLook::default() }
}

#[tokio::test]
async fn automatic_reply_is_read() {
    let outlook = taker().await;
    assert_eq!(outlook.mailbox().await.auto_reply().await, Ok(away()));
}

#[tokio::test]
async fn settings_are_written_in_graphs_terms() {
    let utc = |at: &str| json!({"dateTime": at, "timeZone": "UTC"});
    let replies = |body: Value| json!({ "automaticRepliesSetting": body });
    let contact = "AAkALgAAcontact0000001=".to_owned();
    let card = ContactCard {
        name: text("Lena Okafor"),
        emails: Some(vec!["lena@studio.example".to_owned()]),
        phones: Some(vec!["+44 1".to_owned(), "+44 2".to_owned()]),
        company: text("Studio Okafor"),
        title: text("Printer"),
    };
    let no_phones = ContactCard { phones: Some(Vec::new()), ..ContactCard::default() };
    for (change, line, body, answer) in cases! {
        SettingsChange::AutoReply(away()), "PATCH /me/mailboxSettings",
            replies(json!({
                "status": "scheduled", "scheduledStartDateTime": utc("2026-02-03T17:00:00"),
                "scheduledEndDateTime": utc("2026-02-10T07:00:00"),
                "internalReplyMessage": "<p>Away</p>", "externalReplyMessage": "<p>Off</p>",
                "externalAudience": "contactsOnly",
            })), Some(settings());
        SettingsChange::AutoReply(AutoReply {
            on: true,
            audience: Some(ReplyAudience::Organization),
            ..AutoReply::default()
        }), "PATCH /me/mailboxSettings",
            replies(json!({"status": "alwaysEnabled", "externalAudience": "none"})),
            Some(settings());
        SettingsChange::AutoReply(AutoReply {
            on: true,
            external: text("<p>Gone</p>"),
            ..AutoReply::default()
        }), "PATCH /me/mailboxSettings",
            replies(json!({"status": "alwaysEnabled", "externalReplyMessage": "<p>Gone</p>"})),
            Some(settings());
        SettingsChange::AutoReply(AutoReply::default()), "PATCH /me/mailboxSettings",
            replies(json!({"status": "disabled"})), Some(settings());
        SettingsChange::Settings { language: text("en-GB"), time_zone: text("Asia/Tokyo") },
            "PATCH /me/mailboxSettings",
            json!({"language": {"locale": "en-GB"}, "timeZone": "Tokyo Standard Time"}),
            Some(settings());
        SettingsChange::CreateFolder { name: "Clients/Lamps".to_owned() },
            "POST /me/mailFolders/AAkALgAAfolderClients01=/childFolders",
            json!({"displayName": "Lamps"}), Some(json!({"id": CLIENTS, "displayName": "read", "kind": "user"}));
        SettingsChange::RenameFolder { id: CLIENTS.into(), name: "Customers".to_owned() },
            "PATCH /me/mailFolders/AAkALgAAfolderClients01=", json!({"displayName": "Customers"}),
            Some(json!({"id": CLIENTS, "displayName": "read", "kind": "user"}));
        SettingsChange::DeleteFolder { id: CLIENTS.into() },
            "DELETE /me/mailFolders/AAkALgAAfolderClients01=", Value::Null, None;
        SettingsChange::CreateCategory { name: "Urgent".to_owned(), look: look("Dark grey") },
            "POST /me/outlook/masterCategories",
            json!({"displayName": "Urgent", "color": "preset13"}),
            Some(json!({
                "id": "AAkALgAAthingNew000001=", "displayName": "Urgent", "color": "preset13",
            }));
        SettingsChange::UpdateCategory { id: "print".into(), name: None, look: look("preset7") },
            "PATCH /me/outlook/masterCategories/c-1", json!({"color": "preset7"}),
            Some(json!({"id": "c-1", "displayName": "Print", "color": "preset0"}));
        SettingsChange::DeleteCategory { id: "Print".into() }, "DELETE /me/outlook/masterCategories/c-1",
            Value::Null, None;
        SettingsChange::CreateContact(card), "POST /me/contacts",
            json!({
                "displayName": "Lena Okafor", "companyName": "Studio Okafor",
                "jobTitle": "Printer", "mobilePhone": "+44 1", "businessPhones": ["+44 2"],
                "emailAddresses": [{"address": "lena@studio.example", "name": "Lena Okafor"}],
            }),
            Some(json!({
                "id": "AAkALgAAthingNew000001=", "displayName": "Lena Okafor",
                "companyName": "Studio Okafor", "jobTitle": "Printer", "mobilePhone": "+44 1",
                "businessPhones": ["+44 2"],
                "emailAddresses": [{"address": "lena@studio.example", "name": "Lena Okafor"}],
            }));
        SettingsChange::UpdateContact { id: contact.clone(), card: no_phones },
            "PATCH /me/contacts/AAkALgAAcontact0000001=",
            json!({"mobilePhone": null, "businessPhones": []}),
            Some(json!({"id": contact, "displayName": "read"}));
        SettingsChange::DeleteContact { id: contact }, "DELETE /me/contacts/AAkALgAAcontact0000001=",
            Value::Null, None;
    } {
        let outlook = taker().await;
        assert_eq!(outlook.mailbox().await.rehearse(&change).await, Ok(()));
        assert_eq!(written(&outlook), [], "{change:?}");
        let done = outlook.mailbox().await.apply_settings(&change).await;
        assert_eq!(done, Ok(answer), "{change:?}");
        assert_eq!(written(&outlook), lines([(line, body)]), "{change:?}");
    }
}

#[tokio::test]
async fn unsupported_settings_are_refused_before_any_request() {
    let from = |from: &str| AutoReply { from: Some(from.parse().unwrap()), ..away() };
    for (change, expected) in cases! {
        SettingsChange::AutoReply(AutoReply { to: None, ..away() }),
            "Outlook's automatic replies need an end as well as a start: give the end";
        SettingsChange::AutoReply(from("2026-03-01T00:00:00Z")),
            "the automatic replies would end before they start: give an end after the start";
        SettingsChange::AutoReply(AutoReply { subject: text("Away"), ..away() }),
            "Outlook's automatic replies have no subject: leave out the subject";
        SettingsChange::Settings { language: text("<x>"), time_zone: None },
            "`<x>` is not a language tag: give one such as en-GB or de-DE";
        SettingsChange::Settings { language: None, time_zone: text("Europe/Nowhere") },
            "Outlook has no time zone `Europe/Nowhere`: use an IANA name such as Europe/Berlin, or \
             a Windows name";
        SettingsChange::Signature { address: None, html: "<p>M</p>".to_owned() },
            "Microsoft gives no access to Outlook's signatures: change it in Outlook's settings";
        SettingsChange::CreateFolder { name: "clients".to_owned() },
            "the folder `Clients` already exists: choose another name";
        SettingsChange::RenameFolder { id: CLIENTS.into(), name: "Archiv/Clients".to_owned() },
            "a folder cannot be renamed into another folder: give its new name without slashes";
        SettingsChange::DeleteFolder { id: INBOX.into() },
            "`inbox` is Outlook's own folder: name a user folder";
        SettingsChange::UpdateCategory { id: "Print".into(), name: text("Prints"), look: LabelLook::default() },
            "Outlook cannot rename a category: create one with the new name, label the messages \
             with it, and delete this one";
        SettingsChange::CreateCategory { name: "PRINT".to_owned(), look: LabelLook::default() },
            "the category `PRINT` already exists: choose another name";
        SettingsChange::UpdateCategory {
            id: "Print".into(), name: None,
            look: LabelLook { in_list: text("hide"), ..LabelLook::default() },
        },
            "Outlook shows all categories everywhere: leave out `in_list` and `in_messages`";
        SettingsChange::CreateContact(ContactCard::default()),
            "a contact needs a name or an address: give its name or its e-mail addresses";
    } {
        let outlook = taker().await;
        let done = outlook.mailbox().await.apply_settings(&change).await;
        assert_eq!(error(done), expected);
        assert_eq!(written(&outlook), []);
        let rehearsed = outlook.mailbox().await.rehearse(&change).await;
        assert_eq!(error(rehearsed), expected);
    }
}

/// Settings of the signed-in person are not available through a shared mailbox.
#[tokio::test]
async fn settings_of_a_shared_mailbox_are_refused() {
    let outlook = service(|_, _| missing()).await;
    let shared = outlook.shared("team@example.com").await;
    let id = || "AAkALgAAcontact0000001=".to_owned();
    let refused = |what: &str| {
        format!(
            "{what} are not available for a shared mailbox: name the account of the person who \
             signed in"
        )
    };
    for (change, what) in [
        (SettingsChange::AutoReply(AutoReply::default()), "settings"),
        (SettingsChange::Settings { language: text("en"), time_zone: None }, "settings"),
        (SettingsChange::CreateRule(MailRule::default()), "rules"),
        (SettingsChange::DeleteRule { id: id() }, "rules"),
        (SettingsChange::DeleteCategory { id: id().into() }, "categories"),
        (SettingsChange::DeleteContact { id: id() }, "contacts"),
    ] {
        assert_eq!(error(shared.apply_settings(&change).await), refused(what));
    }
    assert_eq!(error(shared.rules().await), refused("rules"));
    assert_eq!(error(shared.auto_reply().await), refused("settings"));
    assert_eq!(request_lines(&outlook), []);
}
