//! Folders, labels and categories.

use super::{Held, Set, id, no_id, nothing, settable};
use crate::error::{Error, Kind, Result};
use crate::flatten::{self, Context, Room};
use crate::pipeline::{Draft, Pipeline};
use crate::project::project;
use crate::provider::mail::{Place, PlaceKind, SetUp};
use crate::provider::{Ask, Lookup, Total};
use crate::query::{Query, Term};
use crate::request::outward::{Manage, ManageKind, ManageOp};
use crate::schemas::{Api, CATEGORY, FOLDER, Level, MESSAGE};
use crate::store::HandleKind;

impl Pipeline {
    pub(super) async fn place(&self, asked: &Manage) -> Result<Draft> {
        let folder = asked.kind == ManageKind::Folder;
        let (table, kind) = match folder {
            true => (&FOLDER, PlaceKind::Folder),
            false => (&CATEGORY, PlaceKind::Label),
        };
        let set = Set::of(asked, &settable(table))?;
        let (name, colour) = (set.name()?, set.text("color")?);
        if asked.op == ManageOp::Create {
            no_id(asked)?;
            let name = name.ok_or_else(|| {
                Error::argument("`name` is missing").next("say what it is called")
            })?;
            let owner = self.mail_held(asked.account.as_deref()).await?;
            match owner.mailbox.place(&name, kind, false).await {
                Ok(_) => {
                    return Err(Error::argument(format!("there is {name} already"))
                        .next("choose another name"));
                }
                Err(error) if error.kind() == Kind::NotFound => {}
                Err(error) => return Err(error),
            }
            let change = match folder {
                true => SetUp::CreateFolder { name: name.clone() },
                false => SetUp::CreateCategory {
                    name: name.clone(),
                    colour,
                },
            };
            if asked.dry_run {
                let detail = format!("in {}", owner.label);
                let about = (name.as_str(), "create", detail.as_str());
                return self.rehearsal(&owner, &change, about).await;
            }
            let answer = self.set_up(&owner, "create folder", &name, &change).await;
            return self
                .as_held(&owner, table, answer, (&name, "create", ""))
                .await;
        }
        let said = id(asked, "its name or id, from lookup kind=folders")?;
        let (owner, place) = self.named_place(asked, said, kind).await?;
        if asked.op == ManageOp::Delete {
            if !set.is_empty() {
                return Err(Error::argument(
                    "`name` and `set` are given, and op=delete takes neither",
                )
                .next("name what to delete by `id` alone"));
            }
            return self.delete_place(asked, &owner, &place, folder).await;
        }
        let name = name.filter(|name| *name != place.name);
        if name.is_none() && colour.is_none() {
            return match set.is_empty() {
                true => Err(nothing()),
                false => {
                    let detail = "it is so already";
                    self.one_outcome(&place.name, "update", "unchanged", detail)
                        .await
                }
            };
        }
        let detail = name
            .as_ref()
            .map_or_else(String::new, |name| format!("to {name}"));
        let change = match (folder, name) {
            (true, Some(name)) => SetUp::RenameFolder {
                id: place.id.clone(),
                name,
            },
            (_, name) => SetUp::UpdateCategory {
                id: place.id.clone(),
                name,
                colour,
            },
        };
        if asked.dry_run {
            let about = (place.name.as_str(), "update", detail.as_str());
            return self.rehearsal(&owner, &change, about).await;
        }
        let answer = self
            .set_up(&owner, "update folder", &place.id, &change)
            .await;
        self.as_held(&owner, table, answer, (&place.name, "update", ""))
            .await
    }

    async fn delete_place(
        &self,
        asked: &Manage,
        owner: &Held,
        place: &Place,
        folder: bool,
    ) -> Result<Draft> {
        let gmail = owner.mailbox.api() == Api::Gmail;
        let detail = match folder && !gmail {
            true => "with what is in it, into Deleted Items",
            false => "its messages stay",
        };
        let id = place.id.clone();
        let (table, change) = match folder {
            true => (&FOLDER, SetUp::DeleteFolder { id }),
            false => (&CATEGORY, SetUp::DeleteCategory { id }),
        };
        if asked.dry_run {
            let count = match self.messages_of(owner, place, folder || gmail).await? {
                Some(1) => "1 message; ".to_owned(),
                Some(count) => format!("{count} messages; "),
                None => String::new(),
            };
            let detail = format!("{count}{detail}");
            let about = (place.name.as_str(), "delete", detail.as_str());
            return self.rehearsal(owner, &change, about).await;
        }
        let answer = self
            .set_up(owner, "delete folder", &place.id, &change)
            .await;
        self.as_held(owner, table, answer, (&place.name, "delete", detail))
            .await
    }

    /// The folder or label of a handle, a name or a provider's id.
    async fn named_place(
        &self,
        asked: &Manage,
        said: &str,
        kind: PlaceKind,
    ) -> Result<(Held, Place)> {
        let account = asked.account.as_deref();
        let (owner, said) = match self.handle(HandleKind::Folder, said).await? {
            Some((owner, id)) => {
                let owner = self.owner_named(&owner, account).await?;
                (self.held_of(owner).await?, id)
            }
            None => (self.mail_held(account).await?, said.to_owned()),
        };
        let place = owner.mailbox.place(&said, kind, false).await?;
        Ok((owner, place))
    }

    /// How many messages a folder or label has, if the provider tells.
    async fn messages_of(&self, owner: &Held, place: &Place, listed: bool) -> Result<Option<u64>> {
        let api = owner.mailbox.api();
        if !listed {
            let key: Vec<_> = MESSAGE.fields.first().into_iter().collect();
            let ask = Ask {
                query: Some(Query::Term(Term::Category(place.name.clone()))),
                folder: None,
                projection: project(api, &key),
                limit: 1,
                cursor: None,
            };
            let total = owner.mailbox.messages(&ask).await?.total;
            return Ok(total.map(|(Total::Exactly(count) | Total::About(count))| count));
        }
        let columns = FOLDER.up_to(Level::Core);
        let page = owner
            .mailbox
            .lookup(&Lookup::Folders, &project(api, &columns))
            .await?;
        let context = Context {
            api,
            zone: &self.config.zone,
            account: "",
            address: "",
            names: &page.names,
            room: Room::List,
        };
        let id = Some(&place.id);
        let found = page
            .items
            .iter()
            .find(|item| flatten::key(&FOLDER, item, &context).as_ref() == id);
        let total = FOLDER.field("total").zip(found);
        let texts = total.map(|(field, item)| flatten::texts(field, item, &context));
        Ok(texts.and_then(|texts| texts.first()?.parse().ok()))
    }
}
