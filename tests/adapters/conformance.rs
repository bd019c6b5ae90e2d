//! Conformance of the adapters to the port, over the sandbox.

use daysheet_core::event::EventPatch;
use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::time::ZonedTime;
use daysheet_core::provider::calendar::{Calendars, GuestNotice};
use daysheet_sandbox::SandboxOptions;
use jiff::civil::date;

use crate::common::clock;
use crate::common::conformance::{KnownCalendar, KnownMail, calendars, mailbox};
use crate::tap::{GMAIL, Outlook, Tapped};

/// The sample mailbox, as both providers return it.
const SAMPLE: KnownMail = KnownMail {
    messages: 56,
    words: "second reminder",
    subject: "Second reminder: invoice 88213 is overdue, 1,261.50 EUR",
    text: "1,261.50 EUR",
    folder: ("inbox", 38),
    thread: ("thick pencil", 6),
    unknown: "",
    read_only: false,
    except: &[],
};

/// The week that [`week`] fills.
const WEEK: KnownCalendar = KnownCalendar {
    range: ("2031-02-02T23:00:00Z", "2031-02-09T23:00:00Z"),
    events: 6,
    occurrences: 3,
    unknown: "",
    except: &[],
};

async fn google(options: SandboxOptions) -> Tapped {
    Tapped::over("google", GMAIL, options).await
}

/// Puts two meetings, a whole day and a daily series into a week, and one meeting
/// each before and after it.
async fn week(calendars: &dyn Calendars) {
    let at =
        |day, hour| ZonedTime::At(date(2031, 2, day).at(hour, 0, 0, 0), "Europe/Berlin".to_owned());
    let day = |day| ZonedTime::Day(date(2031, 2, day));
    let daily =
        EventRecurrence { rule: "FREQ=DAILY;COUNT=3".to_owned(), except: vec![], extra: vec![] };
    for (title, time, repeat) in [
        ("Stand-up", (at(4, 9), at(4, 10)), Some(Some(daily))),
        ("After", (at(10, 9), at(10, 10)), None),
        ("Proofs", (at(3, 18), at(3, 19)), None),
        ("Print fair", (day(6), day(7)), None),
        ("Before", (at(2, 9), at(2, 10)), None),
        ("Call", (at(9, 8), at(9, 9)), None),
    ] {
        let title = Some(title.to_owned());
        let event = EventPatch { title, time: Some(time), repeat, ..EventPatch::default() };
        calendars.create(None, &event, GuestNotice::All).await.unwrap();
    }
}

#[tokio::test]
async fn gmail_keeps_its_promises() {
    let known = KnownMail { unknown: "18f0000000000000", ..SAMPLE };
    mailbox(google(SandboxOptions::new(clock::clock())).await.mailbox().await.as_ref(), &known)
        .await;
}

#[tokio::test]
async fn outlook_keeps_its_promises() {
    let unknown = "AAkALgAAAAAAHYQDEapmEc2byACqAC/EWg0ADDDDDDDDDDDDDDDDDDDDDDDDDAA=";
    let known = KnownMail { unknown, ..SAMPLE };
    mailbox(Outlook::sample().await.mailbox().await.as_ref(), &known).await;
}

#[tokio::test]
async fn google_calendar_keeps_its_promises() {
    let empty = tempfile::tempdir().unwrap();
    let calendar = Some(empty.path().to_path_buf());
    let google = google(SandboxOptions { calendar, ..SandboxOptions::new(clock::clock()) }).await;
    let google = google.calendars().await;
    week(google.as_ref()).await;
    let known = KnownCalendar { unknown: "primary/abcdef0123456789", ..WEEK };
    calendars(google.as_ref(), &known).await;
}

#[tokio::test]
async fn outlook_calendar_keeps_its_promises() {
    let outlook = Outlook::without_events().await;
    let outlook = outlook.calendars().await;
    week(outlook.as_ref()).await;
    let unknown = "AAkALgAAAAAAHYQDEapmEc2byACqAC/EWg0ADDDDDDDDDDDDDDDDDDDDDDDDDAA=";
    calendars(outlook.as_ref(), &KnownCalendar { unknown, ..WEEK }).await;
}
