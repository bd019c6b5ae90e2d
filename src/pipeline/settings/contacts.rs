//! Contacts: created, changed and deleted, found by their address or name.

use daysheet_core::access::AccessLevel;
use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::{ApprovalRequest, ClientPrompts, Confirmation};
use daysheet_core::compose::people::ascii;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::flatten::{self, RowContext};
use daysheet_core::project::project;
use daysheet_core::provider::PeopleQuery;
use daysheet_core::provider::mail::{ContactCard, SettingsChange};
use daysheet_core::schemas::{CONTACT, CONTACT_ID, ColumnLevel, SAVED, TableColumn};
use daysheet_core::text::{MailAddress, Note, note, ours, quoted, quoted_end};

use super::target::{
    SettingFields, SettingsContext, SettingsPlan, mail_context, nothing_to_change, refuse_id,
    required_id, settable_columns, write_settings,
};
use crate::pipeline::access::erasure::no_undo;
use crate::pipeline::access::erasure::refused_erasure;
use crate::pipeline::access::untrusted::note_untrusted_quote;
use crate::pipeline::context::Context;
use crate::pipeline::known_people::look_alikes;
use crate::pipeline::titles::short;
use crate::pipeline::write::confirm::{WILL_ASK, require_access};
use crate::pipeline::write::object::ObjectWrite;
use crate::tools::manage::{ManageOp, ManageRequest};

/// A contact that was found.
struct ContactMatch {
    id: String,
    /// Its names and its addresses.
    key: [Vec<String>; 2],
    /// The columns that can be set, with their values.
    values: Vec<(&'static str, Vec<String>)>,
}

/// The maximum number of people of a name that are considered.
const MAX_PEOPLE: usize = 50;

/// Creates, changes or deletes a contact.
pub(super) async fn manage_contact(
    ctx: &Context,
    request: &ManageRequest,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let set = SettingFields::new(request, &settable_columns(&CONTACT))?;
    let card = card(&set)?;
    match request.op {
        ManageOp::Create => create_contact(ctx, request, card, caller).await,
        ManageOp::Delete => delete_contact(ctx, request, &set, caller).await,
        _ => update_contact(ctx, request, (&set, card), caller).await,
    }
}

/// Creates a contact, unless one with its address exists.
async fn create_contact(
    ctx: &Context,
    request: &ManageRequest,
    card: ContactCard,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    refuse_id(request)?;
    let emails = card.emails.clone().unwrap_or_default();
    let Some(name) = card.name.clone().or_else(|| emails.first().cloned()) else {
        return Err(Error::argument("the contact has neither a name nor an address")
            .next("give `name` or `emails` in `set`"));
    };
    let owner = mail_context(ctx, request.account.as_deref()).await?;
    refuse_known(&owner, &name, &emails).await?;
    let person = (card.name.as_deref(), emails.as_slice());
    let approved = approve_look_alikes(ctx, &owner, person, caller).await?;
    if !request.dry_run {
        // Recorded before the contact exists, so that it is never trusted without approval.
        note_unapproved(ctx, &owner, &emails, approved.as_deref()).await?;
    }
    let plan = SettingsPlan {
        about: ObjectWrite { item: &name, op: "create", detail: "" },
        planned: &format!("in {}", owner.label),
        table: Some(&CONTACT),
        id: "",
        change: SettingsChange::CreateContact(card),
        done: Some("no undo: op=delete deletes it".into()),
    };
    write_settings(ctx, &owner, request, plan).await
}

/// Refuses a new contact if a saved one has one of its addresses.
async fn refuse_known(owner: &SettingsContext, name: &str, emails: &[String]) -> Result<()> {
    if emails.is_empty() {
        return Ok(());
    }
    let people =
        PeopleQuery { emails: emails.to_vec(), limit: MAX_PEOPLE, ..PeopleQuery::default() };
    let (known, _) = matching_contacts(owner, &people, "emails", emails).await?;
    let Some(ContactMatch { key: [_, addresses], .. }) = known.first() else {
        return Ok(());
    };
    let shared = addresses.iter().find(|one| emails.iter().any(|email| is_same(email, one)));
    let shared = short(shared.map_or(name, |one| one));
    Err(Error::argument(format!("a contact with {shared} already exists"))
        .next(format!("change it with op=update id={shared}")))
}

/// Deletes a contact permanently, after the user has agreed.
async fn delete_contact(
    ctx: &Context,
    request: &ManageRequest,
    set: &SettingFields<'_>,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let id_or_name = required_id(request, "the address or name")?;
    let owner = mail_context(ctx, request.account.as_deref()).await?;
    if !set.is_empty() {
        return Err(Error::argument("op=delete takes no `name` or `set`")
            .next("name the contact by `id` alone"));
    }
    require_access(ctx, AccessLevel::Full, "permanently deleting a contact")?;
    let ContactMatch { id, .. } = one_contact(&owner, id_or_name).await?;
    let question = format!(
        "Permanently delete the contact {} of {}? This cannot be undone.",
        short(id_or_name),
        owner.account.email
    );
    if let Some(why) = refused_erasure(ctx, &question, caller).await? {
        let about = ObjectWrite { item: id_or_name, op: "delete", detail: why };
        return about.outcome(ctx, "refused", Vec::new()).await;
    }
    let plan = SettingsPlan {
        about: ObjectWrite { item: id_or_name, op: "delete", detail: "permanently" },
        planned: &format!("permanently: {}", no_undo(ctx, caller)),
        table: None,
        id: &id,
        change: SettingsChange::DeleteContact { id: id.clone() },
        done: None,
    };
    write_settings(ctx, &owner, request, plan).await
}

/// Changes the given fields of a contact; `card` has their values.
async fn update_contact(
    ctx: &Context,
    request: &ManageRequest,
    (set, card): (&SettingFields<'_>, ContactCard),
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let id_or_name = required_id(request, "the address or name")?;
    let owner = mail_context(ctx, request.account.as_deref()).await?;
    if card == ContactCard::default() {
        return Err(nothing_to_change("give name, emails, phone, company or role in `set`"));
    }
    let ContactMatch { id, key: [names, addresses], values } =
        one_contact(&owner, id_or_name).await?;
    let emails = card.emails.clone().unwrap_or_default();
    let name = card.name.as_deref().or(names.first().map(String::as_str));
    let approved = approve_look_alikes(ctx, &owner, (name, &emails), caller).await?;
    if !request.dry_run {
        let is_added = |email: &String| !addresses.iter().any(|one| is_same(one, email));
        let added = emails.into_iter().filter(is_added).collect();
        let added = in_no_contact(&owner, added).await?;
        // Recorded before the contact is changed, so that no address is trusted without approval.
        note_unapproved(ctx, &owner, &added, approved.as_deref()).await?;
    }
    let is_set =
        |name: &str| set.members.contains_key(name) || name == "name" && set.name.is_some();
    let before = earlier(values.iter().filter(|(name, _)| is_set(name)));
    let plan = SettingsPlan {
        about: ObjectWrite { item: id_or_name, op: "update", detail: "" },
        planned: "",
        table: Some(&CONTACT),
        id: &id,
        change: SettingsChange::UpdateContact { id: id.clone(), card },
        done: Some(before.clone()),
    };
    let answer = write_settings(ctx, &owner, request, plan).await?;
    // The note quotes the earlier values, which may be text of others.
    if answer.notes.contains(&before) {
        note_untrusted_quote(ctx);
    }
    Ok(answer)
}

/// Returns the addresses that no saved contact has. The others are known from the user's own
/// contacts, and stay so after a change.
async fn in_no_contact(owner: &SettingsContext, mut addresses: Vec<String>) -> Result<Vec<String>> {
    if addresses.is_empty() {
        return Ok(addresses);
    }
    let people =
        PeopleQuery { emails: addresses.clone(), limit: MAX_PEOPLE, ..PeopleQuery::default() };
    let (found, _) = matching_contacts(owner, &people, "emails", &addresses).await?;
    let saved = found.iter().flat_map(|ContactMatch { key: [_, saved], .. }| saved);
    addresses.retain(|email| !saved.clone().any(|one| is_same(one, email)));
    Ok(addresses)
}

/// Records the addresses that are about to be added to a contact: mail from them causes warnings as
/// before, until the user has written to them or approved them.
async fn note_unapproved(
    ctx: &Context,
    owner: &SettingsContext,
    added: &[String],
    approved: Option<&str>,
) -> Result<()> {
    if added.is_empty() && approved.is_none() {
        return Ok(());
    }
    let noted = ctx.store.note_unapproved(&owner.account.id, added, approved).await;
    noted.map_err(|error| error.context("the contact was not saved"))?;
    ctx.states.known.forget(&owner.account.id);
    Ok(())
}

/// Asks the user to approve an address that looks like another person's before it is saved, because
/// mail from an approved contact causes no warning. Returns the approved address.
///
/// # Errors
/// [`ErrorKind::Argument`] if the user refuses, or cannot be asked.
async fn approve_look_alikes(
    ctx: &Context,
    owner: &SettingsContext,
    (name, emails): (Option<&str>, &[String]),
    caller: &dyn ClientPrompts,
) -> Result<Option<String>> {
    let people = emails.iter().map(|email| MailAddress::new(name, email)).collect();
    let found = look_alikes(ctx, &owner.account, &*owner.mailbox, people).await;
    // A map has no order, but the same call must ask the same question.
    let first = found.into_iter().min_by(|one, other| one.0.email.cmp(&other.0.email));
    let Some((address, note)) = first else {
        return Ok(None);
    };
    note_untrusted_quote(ctx);
    let question = format!(
        "Save {} as a contact of {}? Mail from a contact is not warned of, and {note}.",
        short(&address.email),
        owner.account.email
    );
    let request = ApprovalRequest { question: &question, content: "", reason: "" };
    let why = match caller.approve(&request).await {
        Confirmation::Yes => return Ok(Some(address.email)),
        Confirmation::Planned => {
            owner.late_notes().extend([note, WILL_ASK.into()]);
            return Ok(None);
        }
        Confirmation::No => "the user declined",
        Confirmation::Unanswered => "nobody confirmed",
        Confirmation::Unavailable => "this client cannot ask the user",
        // The question ends the call, which is repeated once there is an answer.
        Confirmation::Later => return Err(Error::argument("the user is being asked")),
    };
    Err(Error::argument(format!("{note}, and {why}; nothing was done"))
        .next("ask the user to save the contact in the mail program"))
}

/// Returns the one contact with this address or name.
async fn one_contact(owner: &SettingsContext, id_or_name: &str) -> Result<ContactMatch> {
    let is_address = id_or_name.contains('@');
    let people = PeopleQuery {
        q: (!is_address).then(|| id_or_name.to_owned()),
        emails: is_address.then(|| id_or_name.to_owned()).into_iter().collect(),
        limit: MAX_PEOPLE,
    };
    let column = if is_address { "emails" } else { "name" };
    let needle = [id_or_name.to_owned()];
    let (mut found, others) = matching_contacts(owner, &people, column, &needle).await?;
    // Copies of one contact cannot be distinguished, so the first is taken.
    found.sort_by(|one, other| one.key.cmp(&other.key));
    let all = found.len();
    found.dedup_by(|one, other| one.key == other.key);
    let copies = all - found.len();
    if found.len() == 1 && copies > 0 {
        let line = note!("more contacts with this name and address, which stay: {}", copies);
        owner.late_notes().push(line);
    }
    match (found.len(), found.pop(), others) {
        (1, Some(one), _) => Ok(one),
        (0, _, 0) => Err(Error::new(
            ErrorKind::NotFound,
            format!("there is no contact {}", short(id_or_name)),
        )
        .next("see lookup kind=contacts, or use op=create")),
        (0, ..) => Err(Error::argument(format!(
            "{} is not a saved contact, only somebody mail was exchanged with",
            short(id_or_name)
        ))
        .next("use op=create to save it")),
        (count, ..) => {
            Err(Error::argument(format!("{count} contacts match {}", short(id_or_name)))
                .next("give the address or full name of one"))
        }
    }
}

/// Returns the saved contacts with one of these names or addresses, and the number of other
/// people with one.
async fn matching_contacts(
    owner: &SettingsContext,
    people: &PeopleQuery,
    column_name: &str,
    needles: &[String],
) -> Result<(Vec<ContactMatch>, usize)> {
    let api = owner.mailbox.api();
    let known = CONTACT.field("known");
    let of_set = |field: &&TableColumn| field.level == ColumnLevel::Key || field.settable;
    let mut columns: Vec<&'static TableColumn> = CONTACT.fields.iter().filter(of_set).collect();
    columns.extend(known.into_iter().chain([&CONTACT_ID]));
    let page = owner.mailbox.lookup(&CONTACT, people, &project(api, &columns)).await?;
    let context = RowContext::bare(api);
    let (mut matching, mut others) = (Vec::<ContactMatch>::new(), 0);
    for item in &page.items {
        let texts = |field: &'static TableColumn| flatten::texts(field, item, &context);
        let column = |name: &str| CONTACT.field(name).map(texts).unwrap_or_default();
        if !column(column_name).iter().any(|text| needles.iter().any(|one| is_same(one, text))) {
            continue;
        }
        match texts(&CONTACT_ID).into_iter().next() {
            Some(id) if known.is_some_and(|known| texts(known) == [SAVED]) => {
                if !matching.iter().any(|known| known.id == id) {
                    let key = [column("name"), column("emails")];
                    let values = settable_columns(&CONTACT).into_iter();
                    let values = values.map(|name| (name, column(name))).collect();
                    matching.push(ContactMatch { id, key, values });
                }
            }
            _ => others += 1,
        }
    }
    Ok((matching, others))
}

/// Returns a note on the values that a change replaced, from which the contact can be set back.
fn earlier<'v>(values: impl Iterator<Item = &'v (&'static str, Vec<String>)>) -> Note {
    let value = |(name, texts): &(&'static str, Vec<String>)| match texts.as_slice() {
        [] => format!("no {name}"),
        texts => {
            let texts = texts.iter().map(|one| match *name {
                "emails" => quoted_end(one).to_string(),
                _ => quoted(one).to_string(),
            });
            format!("{name} {}", texts.collect::<Vec<_>>().join(" "))
        }
    };
    let values: Vec<String> = values.map(value).collect();
    note!("no undo; before the change, it had {}", ours(values.join(", ")))
}

/// Returns true for the same name or address.
fn is_same(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

/// Builds the contact's fields from the arguments.
fn card(set: &SettingFields<'_>) -> Result<ContactCard> {
    let emails = set.list("emails")?;
    for email in emails.iter().flatten() {
        // An address that is shown in another form than it is saved would not be found again.
        ascii(email)?;
    }
    Ok(ContactCard {
        name: set.name()?,
        emails,
        phones: set.list("phone")?,
        company: set.text("company")?,
        title: set.text("role")?,
    })
}
