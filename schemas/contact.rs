//! The `contact` table: one person and how to reach them.
//!
//! Google's objects are people of the People API. Outlook has two kinds: saved
//! contacts, and the people that Graph finds relevant; both are read by the
//! same columns.

use super::Api::{Gmail, Outlook};
use super::Kind::{Text, Words};
use super::Level::{Key, More};
use super::Source::{Account, Each, Either, Flags, Oldest, Path, There};
use super::{Field, In, Table, field, table};

/// One row per person.
pub const CONTACT: Table = table(
    "contact",
    "contacts",
    1,
    "One saved contact, or somebody mail was exchanged with.",
    FIELDS,
);

/// The provider's id, requested besides the columns before a contact is changed.
pub const CONTACT_ID: Field = field("contact_id", Text, "The provider's id of a contact.")
    .ours()
    .sources(&[(Gmail, Path("resourceName")), (Outlook, Path("id"))]);

/// Says `person` of somebody who was found and is not a saved contact. The Gmail
/// adapter marks those of the list of other contacts with the key `unsaved`.
pub const CONTACT_KIND: Field = field("contact_kind", Words, "True if it is not a saved contact.")
    .sources(&[
        (Gmail, Flags(&[("person", There("unsaved"))])),
        (Outlook, Flags(&[("person", There("scoredEmailAddresses"))])),
    ]);

const FIELDS: &[Field] = &In("contact").columns([
    field("name", Text, "Name of the person.")
        .level(Key)
        .settable()
        .untrusted(80)
        .sources(&[(Gmail, Oldest("names", &Path("displayName"))), (Outlook, Path("displayName"))]),
    field("emails", Text, "Addresses, the first five and a count of the rest.")
        .level(Key)
        .settable()
        .untrusted(240)
        .sources(&[
            (Gmail, Each("emailAddresses", &Path("value"))),
            (
                Outlook,
                Either(&[
                    Each("emailAddresses", &Path("address")),
                    Each("scoredEmailAddresses", &Path("address")),
                ]),
            ),
        ]),
    field("company", Text, "Organization the person works for.").settable().untrusted(80).sources(
        &[(Gmail, Oldest("organizations", &Path("name"))), (Outlook, Path("companyName"))],
    ),
    field("role", Text, "Job title.")
        .settable()
        .level(More)
        .untrusted(80)
        .sources(&[(Gmail, Oldest("organizations", &Path("title"))), (Outlook, Path("jobTitle"))]),
    field("phone", Text, "First telephone number.").settable().level(More).untrusted(40).sources(
        &[
            (Gmail, Oldest("phoneNumbers", &Path("value"))),
            (Outlook, Either(&[Path("mobilePhone"), Oldest("phones", &Path("number"))])),
        ],
    ),
    field("account", Text, "Address of the account it is in.")
        .level(More)
        .ours()
        .sources(&[(Gmail, Account), (Outlook, Account)]),
]);
