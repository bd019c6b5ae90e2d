//! The `contact` table: one person and how to reach them.
//!
//! Google's objects are people of the People API. Outlook has two kinds: saved
//! contacts, and the people that Graph finds relevant; both are read by the
//! same columns.

use super::Kind::Text;
use super::Level::{Key, More};
use super::Source::{Account, Each, Either, Oldest, Path};
use super::{Field, Table, field, table};

/// One row per person.
pub const CONTACT: Table = table(
    "contact",
    "contacts",
    1,
    "One person from the contacts, or somebody mail was exchanged with.",
    FIELDS,
);

const FIELDS: &[Field] = &[
    field("name", Text, "Name of the person.")
        .level(Key)
        .untrusted(80)
        .gmail(Oldest("names", &Path("displayName")))
        .outlook(Path("displayName")),
    field(
        "emails",
        Text,
        "Addresses, the first five and a count of the rest.",
    )
    .level(Key)
    .untrusted(240)
    .gmail(Each("emailAddresses", &Path("value")))
    .outlook(Either(&[
        Each("emailAddresses", &Path("address")),
        Each("scoredEmailAddresses", &Path("address")),
    ])),
    field("company", Text, "Organisation the person works for.")
        .untrusted(80)
        .gmail(Oldest("organizations", &Path("name")))
        .outlook(Path("companyName")),
    field("role", Text, "What the person does there.")
        .level(More)
        .untrusted(80)
        .gmail(Oldest("organizations", &Path("title")))
        .outlook(Path("jobTitle")),
    field("phone", Text, "First telephone number.")
        .level(More)
        .untrusted(40)
        .gmail(Oldest("phoneNumbers", &Path("value")))
        .outlook(Either(&[
            Path("mobilePhone"),
            Oldest("phones", &Path("number")),
        ])),
    field("account", Text, "Address of the account that knows them.")
        .level(More)
        .ours()
        .gmail(Account)
        .outlook(Account),
];
