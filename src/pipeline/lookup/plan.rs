//! The request of a lookup: its arguments, or the arguments of the first page that a cursor
//! continues.

use daysheet_core::error::Result;
use daysheet_core::ids::AccountId;
use daysheet_core::provider::{Account, ListPage, PeopleQuery};
use daysheet_core::schemas::{
    self, ACCOUNT, ColumnLevel, ListOrigin, LookupListing, Service, TableColumn,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::pipeline::access::accounts::{account_named, named_or_all};
use crate::pipeline::answer::cursor::{another_search, load_cursor};
use crate::pipeline::context::Context;
use crate::pipeline::rows::columns_of;
use crate::tools::ColumnChoice;
use crate::tools::lookup::LookupRequest;

/// The kind of its cursors.
pub(crate) const KIND: &str = "lookup";

/// The column with the name or address that a row was found for.
pub(crate) const ASKED: &str = "asked";

/// The request and the position; saved under a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LookupPlan {
    #[serde(rename = "kind", with = "by_word")]
    pub(super) listing: &'static LookupListing,
    pub(super) q: Option<String>,
    pub(super) emails: Vec<String>,
    /// The name or address that it is about, if several were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) asked: Option<String>,
    #[serde(default)]
    pub(super) fields: Vec<String>,
    pub(super) limit: usize,
    /// True if several accounts are queried.
    pub(super) merged: bool,
    /// The number of rows of the accounts that are shown completely.
    pub(super) done: usize,
    /// The requested addresses that the pages so far have found.
    #[serde(default)]
    pub(super) met: Vec<String>,
    /// The accounts that may have more, in their order.
    pub(super) places: Vec<LookupPosition>,
}

/// The position in the list of one account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LookupPosition {
    /// The account's id; `None` for our own lists.
    pub(super) account: Option<AccountId>,
    pub(super) shown: usize,
}

/// The fetched list of one account.
pub(crate) struct AccountList {
    pub(crate) api: Service,
    pub(crate) page: ListPage,
    /// People or rooms that events name, as objects of ours; they come last.
    pub(super) of_events: Vec<Value>,
}

/// Returns the plan: as requested, or from the cursor.
pub(super) async fn plan_lookup(ctx: &Context, lookup: LookupRequest) -> Result<LookupPlan> {
    let Some(cursor) = &lookup.cursor else {
        let place = |account: Option<AccountId>| LookupPosition { account, shown: 0 };
        let places = match lookup.kind.origin {
            ListOrigin::Local => vec![place(None)],
            _ => {
                let accounts = named_or_all(ctx, lookup.account.as_deref()).await?;
                accounts.into_iter().map(|one| place(Some(one.id))).collect()
            }
        };
        // All accounts form one list, which is filtered by the named one.
        let q = match &lookup.account {
            Some(name) if *lookup.kind.table == ACCOUNT => {
                Some(account_named(ctx, Some(name)).await?.email.into())
            }
            _ => lookup.q,
        };
        return Ok(LookupPlan {
            listing: lookup.kind,
            q,
            emails: lookup.emails,
            asked: None,
            fields: lookup.fields,
            limit: lookup.limit.unwrap_or(100) as usize,
            merged: places.len() > 1,
            done: 0,
            met: Vec::new(),
            places,
        });
    };
    let mut plan: LookupPlan = load_cursor(ctx, KIND, cursor).await?;
    let same_account = match &lookup.account {
        Some(name) => {
            let id = Some(account_named(ctx, Some(name)).await?.id);
            // A cursor over several accounts belongs to none of them alone.
            !plan.merged && plan.places.iter().all(|place| place.account == id)
        }
        None => true,
    };
    let same = plan.listing == lookup.kind
        && (lookup.q.is_none() || lookup.q == plan.q)
        && (lookup.emails.is_empty() || lookup.emails == plan.emails)
        && same_account;
    if !same {
        return Err(
            another_search(cursor).next("give `kind` and the cursor alone, or look up without it")
        );
    }
    plan.limit = lookup.limit.map_or(plan.limit, |limit| limit as usize);
    if !lookup.fields.is_empty() {
        plan.fields = lookup.fields;
    }
    Ok(plan)
}

impl LookupPlan {
    /// Returns the plan of the people of some accounts, up to `limit` of each.
    pub(super) fn contacts(q: Option<String>, limit: usize, accounts: &[Account]) -> Option<Self> {
        let (_, listing) = schemas::LISTINGS.iter().find(|(_, one)| one.is_people())?;
        let place =
            |account: &Account| LookupPosition { account: Some(account.id.clone()), shown: 0 };
        Some(Self {
            listing,
            q,
            emails: Vec::new(),
            asked: None,
            fields: Vec::new(),
            limit,
            merged: true,
            done: 0,
            met: Vec::new(),
            places: accounts.iter().map(place).collect(),
        })
    }

    /// Returns the columns to show: by default the core columns, or the requested ones with the
    /// name of the row. Rows of several accounts name their account.
    pub(super) fn columns(&self) -> Result<Vec<&'static TableColumn>> {
        let table = self.listing.table;
        if self.fields.is_empty() {
            let mut columns = match self.listing.origin {
                ListOrigin::Local => table.up_to(ColumnLevel::Core),
                _ => columns_of(table, ColumnLevel::Core, self.merged),
            };
            columns.extend(self.asked.as_ref().and_then(|_| table.field(ASKED)));
            return Ok(columns);
        }
        let named = ColumnChoice::Named(self.fields.clone()).columns_of(table)?;
        let always = columns_of(table, ColumnLevel::Key, self.merged);
        let shown = |field: &&'static TableColumn| {
            field.name == "name"
                || field.name == ASKED && self.asked.is_some()
                || always.contains(field)
                || named.contains(field)
        };
        Ok(table.fields.iter().filter(shown).collect())
    }

    /// Returns the people to request from a mailbox, one more than shown: it shows
    /// whether there are more.
    pub(super) fn people(&self, place: &LookupPosition) -> PeopleQuery {
        PeopleQuery {
            q: self.q.clone(),
            emails: self.emails.clone(),
            limit: place.shown.saturating_add(self.limit).saturating_add(1),
        }
    }

    /// Returns the text that filters rows here; people are filtered by the provider.
    pub(super) fn filter(&self) -> Option<&str> {
        self.q.as_deref().filter(|_| !self.listing.is_people())
    }
}

/// Returns true if a text has `q`, in capital or small letters.
pub(crate) fn contains(text: &str, q: &str) -> bool {
    text.to_lowercase().contains(&q.to_lowercase())
}

/// Stores a list by the word that requested it.
mod by_word {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use daysheet_core::choice::WordChoice;
    use daysheet_core::schemas::LookupListing;

    pub fn serialize<S: Serializer>(
        listing: &&'static LookupListing,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(listing.word())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<&'static LookupListing, D::Error> {
        let word = String::deserialize(from)?;
        <&LookupListing>::from_word(&word)
            .ok_or_else(|| de::Error::custom(format!("no list is called {word}")))
    }
}
