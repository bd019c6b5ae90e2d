//! The source of an iCalendar document: the call itself, a file or a message; and the conversion of
//! its events to changes.

use std::slice;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event::{Event, EventPatch, EventVisibility, ShowAs};
use daysheet_core::ical::{self, CalendarDocument};
use daysheet_core::ids::{EmailAddress, MessageId};
use daysheet_core::project::project;
use daysheet_core::provider::Account;
use daysheet_core::provider::BodyForm;
use daysheet_core::provider::CalendarCapabilities;
use daysheet_core::schemas::MESSAGE;
use daysheet_core::text::{Note, brief};

use crate::pipeline::calendar::guests::check_guests;
use crate::pipeline::context::Context;
use crate::pipeline::handles::resolve_handle;
use crate::pipeline::local_files::local_file;
use crate::store::HandleKind;

/// The largest file that is read, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// Reads the document that `ics` contains or names.
pub(super) async fn read_document(ctx: &Context, input: &str) -> Result<CalendarDocument> {
    // Text from a file may begin with a byte order mark.
    let input = input.trim_start_matches('\u{feff}').trim();
    let head: String = input.chars().take(15).collect();
    if head.eq_ignore_ascii_case("BEGIN:VCALENDAR") {
        return ical::read(input, &ctx.config.zone);
    }
    if let Some((account, id)) = resolve_handle(ctx, HandleKind::Message, input).await? {
        let account = ctx.accounts.by_id(&account).await?;
        let id = MessageId::from(id);
        let message = InvitationMessage { account: &account, id: &id, handle: input };
        return invitation_document(ctx, message).await;
    }
    let is_file = input.to_ascii_lowercase().ends_with(".ics") && !input.contains('\n');
    if is_file {
        let bytes = local_file(ctx, input).await?.bytes;
        if bytes.len() > MAX_BYTES {
            return Err(Error::argument(format!("{} is larger than 1 MiB", brief(input)))
                .next("split it, or give the events directly"));
        }
        let (text, doubt) = ical::decode(&bytes, None);
        let mut document = ical::read(&text, &ctx.config.zone)?;
        document.notes.extend(doubt.map(Note::from));
        Ok(document)
    } else {
        Err(Error::argument(format!("`ics` is `{}`, not iCalendar text", brief(input))).next(
            "give text beginning with BEGIN:VCALENDAR, the path of an .ics file, or the id of \
             a message with an invitation, such as m12",
        ))
    }
}

/// A message that may have an invitation.
#[derive(Clone, Copy)]
pub(crate) struct InvitationMessage<'a> {
    /// The account that the message is in.
    pub(crate) account: &'a Account,
    /// The provider's id of the message.
    pub(crate) id: &'a MessageId,
    /// The message as the call names it.
    pub(crate) handle: &'a str,
}

/// Reads the invitation in a message.
pub(crate) async fn invitation_document(
    ctx: &Context,
    InvitationMessage { account, id, handle }: InvitationMessage<'_>,
) -> Result<CalendarDocument> {
    let mailbox = ctx.connect.mailbox(account)?;
    let key: Vec<_> = MESSAGE.field("id").into_iter().collect();
    let projection = project(mailbox.api(), &key);
    let messages = mailbox.read_messages(slice::from_ref(id), &projection, BodyForm::Parts).await;
    let message = messages
        .into_iter()
        .next()
        .unwrap_or_else(|| {
            Err(Error::new(ErrorKind::NotFound, "the provider returned nothing for it"))
        })
        .map_err(|error| error.context(handle))?;
    match message.invitation {
        Some(text) => ical::read(&text, &ctx.config.zone),
        None => Err(Error::new(ErrorKind::NotFound, format!("{handle} has no invitation"))
            .next("read it with mail_read, and create the event with calendar_save")),
    }
}

/// Converts an imported event to a change that creates it. Returns the names of omitted parts, and
/// adds notes on guests that no service accepts.
pub(crate) fn change(
    entry: &Event,
    can: &CalendarCapabilities,
    own: &EmailAddress,
    notes: &mut Vec<Note>,
) -> (EventPatch, Vec<&'static str>) {
    let mut left_out = Vec::new();
    let input = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let mut about = entry.notes.as_deref().unwrap_or_default().trim().to_owned();
    // A change has no field for the link, so it becomes part of the notes.
    if let Some(link) = &entry.link
        && !about.contains(link.as_str())
        && !entry.place.contains(link.as_str())
    {
        about = format!("{about}\n{link}").trim().to_owned();
    }
    let mut guests = Some(entry.guests.clone()).filter(|guests| !guests.is_empty());
    let mut organizer = entry.organizer.clone().filter(|organizer| !organizer.address.is(own));
    // Not `||`, because both must be removed.
    if !can.foreign_meetings && (guests.take().is_some() | organizer.take().is_some()) {
        left_out.push("people");
    }
    check_guests(&mut guests, notes);
    let mut organizers = organizer.map(|one| vec![one]);
    check_guests(&mut organizers, notes);
    let category = if can.categories { input(&entry.categories.join(",")) } else { None };
    if category.is_none() && !entry.categories.is_empty() {
        left_out.push("categories");
    }
    let show = match entry.show {
        ShowAs::Busy => None,
        ShowAs::Oof | ShowAs::Focus | ShowAs::Elsewhere if can.event_kinds => None,
        ShowAs::Focus => None,
        show => Some(show),
    };
    let reminder = entry.reminder.map(|it| it.min(can.max_reminder.unwrap_or(it)));
    if reminder != entry.reminder {
        left_out.push("a reminder of over four weeks");
    }
    let change = EventPatch {
        title: input(&entry.title),
        time: Some(entry.zoned_times()),
        place: input(&entry.place),
        notes: input(&about),
        guests,
        repeat: entry.repeat.clone().map(Some),
        show,
        visibility: Some(entry.visibility).filter(|one| *one != EventVisibility::Default),
        reminder: reminder.map(Some),
        category,
        uid: entry.uid.clone(),
        organizer: organizers.and_then(|mut one| one.pop()),
        original: None,
        online: None,
    };
    (change, left_out)
}
