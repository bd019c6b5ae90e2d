//! The `contact` table: one person and how to reach them.
//!
//! Google's objects are people of the People API. Outlook has two kinds: saved
//! contacts, and the people that Graph finds relevant; both are read by the
//! same columns.

use super::CellKind::Text;
use super::ColumnLevel::{Key, More};
use super::Service::{Google, Local, Microsoft};
use super::ValueSource::{Account, Each, Either, First, Join, Oldest, Path, There};
use super::{Table, TableColumn, TableName, field, table};

/// One row per person.
pub const CONTACT: Table = table(
    "contact",
    "contacts",
    1,
    "One saved contact, or somebody known from mail or events.",
    FIELDS,
);

/// The provider's id, requested in addition to the columns before a contact is changed.
pub const CONTACT_ID: TableColumn = field("contact_id", Text, "The provider's id of a contact.")
    .ours()
    .sources(&[(Google, Path("resourceName")), (Microsoft, Path("id"))]);

/// The value of the column `known` for a saved contact.
pub const SAVED: &str = "saved";
/// The value for a person who is known only from mail.
pub const FROM_MAIL: &str = "mail";

const FIELDS: &[TableColumn] = &TableName("contact").columns([
    field("name", Text, "Name of the person.").level(Key).settable().untrusted(80).sources(&[
        (Google, Oldest("names", &Path("displayName"))),
        (Microsoft, Path("displayName")),
        (Local, Path("name")),
    ]),
    field("emails", Text, "Addresses, the first five and a count of the rest.")
        .level(Key)
        .settable()
        .untrusted(240)
        .sources(&[
            (Google, Each("emailAddresses", &Path("value"))),
            (
                Microsoft,
                Either(&[
                    Each("emailAddresses", &Path("address")),
                    Each("scoredEmailAddresses", &Path("address")),
                ]),
            ),
            (Local, Join("emails")),
        ]),
    // The Gmail adapter marks people from the list of other contacts with the key `unsaved`.
    field(
        "known",
        Text,
        "Any of: saved, mail (may be an unknown sender), event; lookalike if the address looks \
         like that of somebody known.",
    )
    .ours()
    .sources(&[
        (Google, First(&[(FROM_MAIL, There("unsaved"))], SAVED)),
        (Microsoft, First(&[(FROM_MAIL, There("scoredEmailAddresses"))], SAVED)),
        (Local, Path("known")),
    ]),
    field("asked", Text, "The name or address that it was found for, if several were given.")
        .level(More)
        .ours()
        .sparse()
        .sources(&[(Local, Path("asked"))]),
    field("company", Text, "Organization the person works for.").settable().untrusted(80).sources(
        &[
            (Google, Oldest("organizations", &Path("name"))),
            (Microsoft, Path("companyName")),
            (Local, Path("company")),
        ],
    ),
    field("role", Text, "Job title.").settable().level(More).untrusted(80).sources(&[
        (Google, Oldest("organizations", &Path("title"))),
        (Microsoft, Path("jobTitle")),
        (Local, Path("role")),
    ]),
    field("phone", Text, "First telephone number. No column if nobody has one.")
        .settable()
        .untrusted(40)
        .sparse()
        .sources(&[
            (Google, Oldest("phoneNumbers", &Path("value"))),
            (Microsoft, Either(&[Path("mobilePhone"), Oldest("phones", &Path("number"))])),
            (Local, Path("phone")),
        ]),
    field("account", Text, "Address of the account it is in.").level(More).ours().sources(&[
        (Google, Account),
        (Microsoft, Account),
        (Local, Account),
    ]),
]);
