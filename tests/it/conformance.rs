//! The port's promises, tested on the mailboxes and calendars in memory that other tests use. The
//! fakes implement what those tests need; each promise they break is listed here with its reason.

use daysheet_core::schemas::Service;

use crate::common::conformance::{KnownCalendar, KnownMail, calendars, mailbox};
use crate::common::fake_calendars::{Entry, FakeCalendars};
use crate::common::fake_mailbox::FakeMailbox;

const MESSAGES: &str = "its conversations are messages";
const FOLDERS: &str = "it lists folders of both services, and only some";
const EVERYTHING: &str = "it does and lists whatever it is asked";

const GMAIL: &[(&str, &str)] = &[
    ("a_thread_contains_what_is_found_by_it", MESSAGES),
    ("a_thread_has_all_its_messages", MESSAGES),
    ("a_thread_is_oldest_first", MESSAGES),
    ("threads_come_newest_first", MESSAGES),
    ("lists_are_answered_or_refused", EVERYTHING),
    ("task_flags_are_refused", EVERYTHING),
    ("system_labels_are_there", FOLDERS),
    ("names_has_every_folder", FOLDERS),
];

const OUTLOOK: &[(&str, &str)] = &[
    ("a_thread_contains_what_is_found_by_it", MESSAGES),
    ("a_thread_has_all_its_messages", MESSAGES),
    ("a_thread_is_oldest_first", MESSAGES),
    ("threads_come_newest_first", MESSAGES),
    ("lists_are_answered_or_refused", EVERYTHING),
    ("signatures_are_refused", EVERYTHING),
    ("rehearsals_refuse_the_same", EVERYTHING),
    ("names_has_every_folder", FOLDERS),
    ("messages_have_id_date_and_sender", "its messages have no times"),
];

#[tokio::test]
async fn a_mailbox_in_memory_keeps_its_promises() {
    for (api, except) in [(Service::Google, GMAIL), (Service::Microsoft, OUTLOOK)] {
        let fake = FakeMailbox::new("ana", api);
        fake.fill(12);
        let known = KnownMail {
            messages: 12,
            words: "ana-0007",
            subject: "Letter ana-0007",
            text: "",
            folder: ("inbox", 12),
            thread: ("ana-0007", 1),
            unknown: "ana-9999",
            read_only: false,
            except,
        };
        mailbox(&fake, &known).await;
    }
}

#[tokio::test]
async fn calendars_in_memory_keep_their_promises() {
    for api in [Service::Google, Service::Microsoft] {
        let fake = FakeCalendars::empty("ana", api).calendar("main", "owner");
        for day in 3..9 {
            fake.add("main", Entry::at(&format!("2031-02-0{day}T09:00:00"), 60, "Call").uid("u1"));
        }
        fake.add("main", Entry::at("2031-02-12T09:00:00", 60, "After"));
        let known = KnownCalendar {
            range: ("2031-02-02T23:00:00Z", "2031-02-09T23:00:00Z"),
            events: 6,
            occurrences: 0,
            unknown: "ana-main/9999",
            except: &[("there_is_an_answer_for_each_calendar", EVERYTHING)],
        };
        calendars(&fake, &known).await;
    }
}
