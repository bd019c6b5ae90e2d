//! Creating, changing and deleting contacts.

use super::*;

const CONTACTS: &str = "https://www.googleapis.com/auth/contacts";
const FIELDS: &str = "personFields=names,emailAddresses,phoneNumbers";

/// Returns a contact without the fields that depend on its id.
fn plain(mut person: Value) -> Value {
    let members = person.as_object_mut().unwrap();
    members.retain(|name, _| !["resourceName", "etag", "metadata"].contains(&name.as_str()));
    for field in ["names", "emailAddresses"] {
        for entry in members.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten() {
            entry.as_object_mut().unwrap().remove("metadata");
        }
    }
    person
}

#[tokio::test]
async fn contact_is_created_changed_and_deleted() {
    let sandbox = sandbox().await;
    let user = User::at_gmail(sandbox.base(), MIRA, CONTACTS).await;
    let body = json!({
        "names": [{ "givenName": "Nora", "familyName": "Feldkamp" }],
        "emailAddresses": [{ "value": "nora@cafe-siebenkrumen.example" }],
        "phoneNumbers": [{ "value": "+49 30 5550100" }],
    });
    let path = format!("/v1/people:createContact?{FIELDS}");
    let made = user.post(&path, body).await;
    let name = json!({
        "displayName": "Nora Feldkamp", "familyName": "Feldkamp", "givenName": "Nora",
        "displayNameLastFirst": "Feldkamp, Nora", "unstructuredName": "Nora Feldkamp",
    });
    let expected = json!({
        "names": [name], "emailAddresses": [{ "value": "nora@cafe-siebenkrumen.example" }],
        "phoneNumbers": [{ "value": "+49 30 5550100" }],
    });
    assert_eq!(plain(made.clone()), expected);
    let resource = format!("/v1/{}", made["resourceName"].as_str().unwrap());
    assert_eq!(user.json(&format!("{resource}?{FIELDS}")).await, made);
    let search = "/v1/people:searchContacts?query=feld&readMask=emailAddresses";
    let found = user.json(search).await;
    assert_eq!(
        plain(found["results"][0]["person"].clone()),
        json!({ "emailAddresses": [{ "value": "nora@cafe-siebenkrumen.example" }] })
    );

    let update =
        format!("{resource}:updateContact?updatePersonFields=emailAddresses,phoneNumbers&{FIELDS}");
    let mut change = json!({ "emailAddresses": [{ "value": "nora@example.org" }] });
    assert_eq!(user.refused("PATCH", &update, change.clone()).await.1, "failedPrecondition");
    change["etag"] = made["etag"].clone();
    let changed = user.ok("PATCH", &update, change.clone()).await;
    assert_eq!(
        plain(changed.clone()),
        json!({ "names": [name], "emailAddresses": [{ "value": "nora@example.org" }] })
    );
    // The tag is another one now.
    assert_ne!(changed["etag"], made["etag"]);
    assert_eq!(user.refused("PATCH", &update, change).await.0, 400);

    let delete = format!("{resource}:deleteContact");
    assert_eq!(user.ok("DELETE", &delete, Value::Null).await, json!({}));
    assert_eq!(user.call("DELETE", &delete, Value::Null).await.0, 404);
    assert_eq!(user.json(search).await, json!({}));
}

/// Contacts derived from mail can be changed as well.
#[tokio::test]
async fn contact_known_from_mail_can_be_changed() {
    let sandbox = sandbox().await;
    let user = User::at_gmail(sandbox.base(), MIRA, &format!("{CONTACTS} {MODIFY}")).await;
    let lines = ["From: mira@example.com", "To: Ada Berg <ada@example.com>"];
    user.sends(json!({ "raw": raw(&lines, "x") })).await;
    let list = format!("/v1/people/me/connections?{FIELDS}");
    let before = user.json(&list).await["connections"][0].clone();
    let resource = before["resourceName"].as_str().unwrap();
    let body = json!({
        "etag": before["etag"], "names": [{ "givenName": "Ada", "familyName": "Sund" }],
    });
    let path = format!("/v1/{resource}:updateContact?updatePersonFields=names");
    user.ok("PATCH", &path, body).await;
    let after = user.json(&list).await;
    assert_eq!(after["totalItems"], 1);
    assert_eq!(after["connections"][0]["resourceName"], resource);
    assert_eq!(after["connections"][0]["names"][0]["displayName"], "Ada Sund");
    assert_eq!(after["connections"][0]["emailAddresses"][0]["value"], "ada@example.com");
}

#[tokio::test]
async fn read_scope_does_not_write_contacts() {
    let sandbox = sandbox().await;
    let user = User::at_gmail(sandbox.base(), MIRA, &format!("{CONTACTS}.readonly")).await;
    for (method, path) in [
        ("POST", "/v1/people:createContact"),
        ("PATCH", "/v1/people/c1:updateContact?updatePersonFields=names"),
        ("DELETE", "/v1/people/c1:deleteContact"),
    ] {
        let refused = user.refused(method, path, json!({})).await;
        assert_eq!((refused.0, refused.1.as_str()), (403, "insufficientPermissions"), "{path}");
    }
}
