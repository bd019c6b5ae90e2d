//! The audience of a write: the people on its target as well as those that the call names.

use std::sync::Mutex;

use async_trait::async_trait;
use daysheet_core::call::client::{ClientPrompts, Confirmation};
use daysheet_core::event_time::EventTime;
use daysheet_core::provider::calendar::EventGuest;
use daysheet_core::provider::ids::EmailAddress;
use daysheet_core::provider::mail::{AutoReply, ReplyAudience};
use daysheet_core::schemas::Service;
use serde_json::{Value, json};

use crate::common::fake_calendars::{CalendarHarness, guest, repeat};
use crate::common::fake_mailbox::MailHarness;
use crate::common::harness::FakeUser;

const START: &str = "2036-02-05T09:00[Europe/Berlin]";
/// The third of the weekly meetings, to which Eve is invited.
const THIRD: &str = "main/w@20360219T0800Z";

/// Adds events that Eve is on, whom the user does not know, and some without her.
fn fill(harness: &CalendarHarness) {
    let ana = harness.ana();
    let me = EventGuest { me: true, ..guest("ana@example.com", '?') };
    let room = EventGuest { room: true, ..guest("room@example.org", '+') };
    let (bo, eve) = (guest("bo@example.com", '+'), guest("eve@example.org", '?'));
    let put = |id: &str, title: &str, own: bool, organizer: Option<&str>, list: &[&EventGuest]| {
        let mut facts = ana.put(id, title, START, 60);
        facts.own = own;
        facts.organizer = organizer.map(EmailAddress::from);
        facts.guests = list.iter().map(|one| (*one).clone()).collect();
        ana.set(facts);
    };
    let (from_bo, from_eve) = (Some("bo@example.com"), Some("eve@example.org"));
    put("main/p", "Private", true, None, &[]);
    put("main/r", "Rooms", true, None, &[&room]);
    // Ana's own addresses: an alias and the main one.
    let alias = EventGuest { me: true, ..guest("a.berg@example.com", '+') };
    let ana_alone = [&alias, &guest("ANA@example.com", '+')];
    put("main/s", "Self", true, None, &ana_alone);
    put("main/b", "With Bo", true, None, &[&bo, &room]);
    put("main/m", "Meeting", true, None, &[&bo, &eve]);
    put("main/o", "Omitted", true, None, &[&bo]);
    ana.touch("main/o", |facts| facts.omitted = true);
    put("main/i", "Invited", false, from_eve, &[&me, &bo]);
    put("main/k", "Kickoff", false, from_bo, &[&me, &eve]);
    put("main/j", "Joint", false, from_bo, &[&me, &eve]);
    ana.touch("main/j", |facts| facts.joint = true);
    put("main/n", "Nobody's", false, None, &[&me]);
    put("main/w", "Weekly", true, None, &[&bo]);
    ana.touch("main/w", |facts| facts.repeat = Some(repeat("FREQ=WEEKLY")));
    let mut third = ana.put(THIRD, "Weekly", "2036-02-19T09:00[Europe/Berlin]", 60);
    third.series = Some("main/w".into());
    third.original = Some(EventTime::At("2036-02-19T08:00:00Z".parse().unwrap()));
    third.uid = Some("main-w@test.example".to_owned());
    third.guests = vec![bo, eve];
    ana.set(third);
    put("work/s", "Shared", true, None, &[]);
    ana.list("boss@example.org", "Boss", "owner");
    put("boss@example.org/x", "Board", true, None, &[]);
    // An event in another person's calendar.
    put("eve@example.org/z", "Eve's", true, None, &[]);
}

fn event(members: Value) -> Value {
    let mut event = json!({"title": "T", "start": "2036-02-06 09h00"});
    let all = event.as_object_mut().unwrap();
    all.extend(members.as_object().unwrap().clone());
    event
}

pub fn create(members: Value, more: Value) -> Value {
    with(json!({"events": [event(members)]}), more)
}

pub fn change(id: &str, members: Value, more: Value) -> Value {
    with(json!({"id": id, "events": [members]}), more)
}

pub fn with(mut call: Value, more: Value) -> Value {
    let all = call.as_object_mut().unwrap();
    all.extend(more.as_object().unwrap().clone());
    call
}

pub fn document(uid: &str, lines: &str) -> String {
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//EN\r\nBEGIN:VEVENT\r\nUID:{uid}\r\n\
         DTSTART:20360206T080000Z\r\nDTEND:20360206T090000Z\r\nSUMMARY:SECRET\r\n{lines}\
         END:VEVENT\r\nEND:VCALENDAR\r\n"
    )
}

const EVE: &str = "eve@example.org";
const UNNAMED: &str = "people the service does not name";
const SHARED: &str = "those sharing the calendar Work";

/// Returns calls that reach a person outside the list, with that person's address.
fn outside() -> Vec<(&'static str, Value, &'static str)> {
    let (all, none) = (|| json!({"notify": "all"}), || json!({"notify": "none"}));
    let title = || json!({"title": "SECRET"});
    let with_guest = |who: &str| json!({"people": [who]});
    let dry = || json!({"notify": "all", "dry_run": true});
    let save = "calendar_save";
    let mut two = create(with_guest("bo@example.com"), none());
    two["events"]
        .as_array_mut()
        .unwrap()
        .push(event(json!({"title": "U", "people": ["Eve <EVE@example.org>?"]})));
    let delete = |id: &str, more: Value| with(json!({"id": id}), more);
    let respond =
        |id: &str, response: &str, more: Value| with(json!({"id": id, "response": response}), more);
    let comment = || json!({"comment": "SECRET"});
    Vec::from(cases! {
        save, create(with_guest(EVE), none()), EVE;
        save, create(with_guest(EVE), dry()), EVE;
        save, two, "EVE@example.org";
        save, create(json!({}), json!({"calendar": "work"})), SHARED;
        save, create(json!({}), json!({"calendar": "Boss"})), "boss@example.org";
        save, change("main/m", title(), all()), EVE;
        save, change("main/m", title(), none()), EVE;
        save, change("main/m", title(), dry()), EVE;
        save, change("main/m", json!({"remove": ["eve"]}), none()), EVE;
        save, change("main/b", json!({"add": [EVE]}), none()), EVE;
        save, change("main/p", with_guest(EVE), none()), EVE;
        save, change("main/o", title(), all()), UNNAMED;
        save, change("main/j", title(), none()), EVE;
        save, change("work/s", title(), json!({})), SHARED;
        save, change("boss@example.org/x", title(), json!({})), "boss@example.org";
        save, change("eve@example.org/z", title(), json!({})), EVE;
        save, change("main/w", title(), json!({"notify": "all", "scope": "series"})), EVE;
        save, change(
            "main/w@20360212T0800Z",
            title(),
            json!({"notify": "none", "scope": "following"}),
        ), EVE;
        save, change(THIRD, title(), json!({"notify": "none", "scope": "this"})), EVE;
        save, json!({"ics": document("n@x.example", "ATTENDEE:mailto:eve@example.org\r\n")}), EVE;
        save,
            json!({"ics": document("n@x.example", "ATTENDEE;CUTYPE=ROOM:mailto:eve@example.org\r\n")}),
            EVE;
        save,
            json!({"ics": document("n@x.example", "ORGANIZER:mailto:eve@example.org\r\n"), "dry_run": true}),
            EVE;
        // The event exists already, and Eve is on it.
        save, json!({"ics": document("main-m@test.example", "")}), EVE;
        "calendar_delete", delete("main/m", all()), EVE;
        "calendar_delete", delete("main/m", none()), EVE;
        "calendar_delete", delete("main/i", all()), EVE;
        "calendar_delete", delete("work/s", json!({})), SHARED;
        "calendar_delete", delete("main/w", json!({"notify": "none", "scope": "series"})), EVE;
        "calendar_respond", respond("main/i", "decline", comment()), EVE;
        "calendar_respond", respond("main/i", "accept", json!({})), EVE;
        "calendar_respond", respond("main/i", "accept", none()), EVE;
        "calendar_respond", respond("main/k", "accept", comment()), EVE;
        "calendar_respond", respond("main/k", "tentative", json!({"propose": "10:00"})), EVE;
        "calendar_respond", respond("main/n", "accept", json!({})), "the organizer of the event";
        "calendar_respond", respond("main/b", "forward", json!({"to": [EVE]})), EVE;
        "calendar_respond", respond("main/m", "forward", json!({"to": ["bo@example.com"]})), EVE;
    })
}

#[tokio::test]
async fn allow_list_covers_everybody_reached() {
    let list = &[("DAYSHEET_RECIPIENTS", "bo@example.com")];
    for (tool, call, who) in outside() {
        let harness = CalendarHarness::with(Service::Google, list).await;
        fill(&harness);
        assert_eq!(
            harness.error(tool, call.clone()).await,
            format!(
                "not an allowed recipient: {who}: leave them out, or ask the user to add them to \
                 the setting `recipients`"
            ),
            "{tool} {call}"
        );
        assert_eq!(harness.written(), Vec::<String>::new(), "{tool} {call}");
    }
    // Outlook names the owner of a calendar.
    let harness = CalendarHarness::with(Service::Microsoft, list).await;
    let call = create(json!({}), json!({"calendar": "Work"}));
    let error = harness.error("calendar_save", call).await;
    assert!(error.starts_with("not an allowed recipient: work@example.org:"), "{error}");
    // Writes with no reach beyond the list are carried out.
    let none = || json!({"notify": "none"});
    let inside = cases! {
        "calendar_save", create(json!({"people": ["BO@example.com"]}), none());
        "calendar_save", change("main/p", json!({"title": "A"}), json!({}));
        "calendar_save", change("main/r", json!({"title": "A"}), none());
        "calendar_save", change("main/b", json!({"title": "A"}), none());
        // A reminder, a category and the busy status are private to the user.
        "calendar_save", change("main/m", json!({"reminder": "5"}), none());
        "calendar_save", change("main/m", json!({"category": "tomato"}), none());
        "calendar_save", change("main/m", json!({"show": "free"}), none());
        // Changes to another organizer's event stay in the user's copy, whoever else is invited.
        "calendar_save", change("main/i", json!({"title": "A"}), json!({}));
        "calendar_save", change("main/k", json!({"title": "A"}), json!({}));
        "calendar_delete", json!({"id": "main/b", "notify": "all"});
        "calendar_delete", json!({"id": "main/i"});
        "calendar_respond", json!({"id": "main/k", "response": "accept"});
        "calendar_respond",
            json!({"id": "main/b", "response": "forward", "to": ["bo@example.com"]});
    };
    for (tool, call) in inside {
        let harness = CalendarHarness::with(Service::Google, list).await;
        fill(&harness);
        harness.ok(tool, call.clone()).await;
        assert_eq!(harness.written().len(), 1, "{tool} {call}");
    }
    // At Outlook a comment is sent to the organizer alone, and without notification to no one.
    let outlook = [
        json!({"id": "main/k", "response": "accept", "comment": "Gladly"}),
        json!({"id": "main/i", "response": "accept", "notify": "none"}),
    ];
    for call in outlook {
        let harness = CalendarHarness::with(Service::Microsoft, list).await;
        fill(&harness);
        harness.ok("calendar_respond", call.clone()).await;
        assert_eq!(harness.written().len(), 1, "{call}");
    }
}

#[tokio::test]
async fn reshareable_calendar_still_belongs_to_its_owner() {
    let harness = CalendarHarness::with(Service::Google, &[]).await;
    fill(&harness);
    for (op, more) in [("rename", json!({"name": "SECRET"})), ("delete", json!({}))] {
        let call = with(json!({"kind": "calendar", "op": op, "id": "Boss"}), more);
        assert_eq!(
            harness.error("manage", call).await,
            format!("the calendar Boss is not yours: ask its owner to {op} it")
        );
    }
    assert_eq!(harness.written(), Vec::<String>::new());
}

#[tokio::test]
async fn answering_an_invitation_message_reaches_its_organizer() {
    let invitation = document(
        "n@x.example",
        "ORGANIZER:mailto:eve@example.org\r\nATTENDEE:mailto:ana@example.com\r\n",
    )
    .replace("VERSION", "METHOD:REQUEST\r\nVERSION");
    for (list, refused) in [("bo@example.com", true), ("@example.org", false)] {
        let harness =
            CalendarHarness::with(Service::Google, &[("DAYSHEET_RECIPIENTS", list)]).await;
        let invitations = &harness.ana().mailbox.invitations;
        invitations.lock().unwrap().insert("l".to_owned(), invitation.clone());
        harness.ok("mail_search", json!({})).await;
        let call = json!({"id": "m1", "response": "decline", "comment": "SECRET"});
        let answer = harness.call("calendar_respond", call).await;
        assert_eq!(answer.is_err(), refused, "{answer:?}");
        assert_eq!(harness.written().is_empty(), refused);
    }
}

#[tokio::test]
async fn document_guests_are_checked_like_recipients() {
    let lines = "ORGANIZER:mailto:bo@example.com\r\n\
                 ATTENDEE:mailto:ana@example.com\r\n\
                 ATTENDEE;CN=\"bo@example.com\":mailto:eve@example.org\r\n\
                 ATTENDEE;CN=Cy:mailto:cy@example.com\r\n\
                 ATTENDEE:mailto:bo@\u{440}\u{430}ypal.example\r\n\
                 ATTENDEE:urn:uuid:1\r\n";
    let text = document("n@x.example", lines);
    let reported = [
        "`eve@example.org` shows the name `bo@example.com`: the name was left out",
        "left out, not an address: `bo@\u{440}\u{430}ypal.example`",
        "left out, not an address: `urn:uuid:1`",
    ];
    for by_message in [false, true] {
        let harness = CalendarHarness::with(Service::Google, &[]).await;
        let blocks = if by_message {
            let invitations = &harness.ana().mailbox.invitations;
            let request = text.replace("BEGIN:VEVENT", "METHOD:REQUEST\r\nBEGIN:VEVENT");
            invitations.lock().unwrap().insert("l".to_owned(), request);
            harness.ok("mail_search", json!({})).await;
            let call = json!({"id": "m1", "response": "accept"});
            harness.call("calendar_respond", call).await
        } else {
            harness.call("calendar_save", json!({"ics": text})).await
        };
        let notes = blocks.unwrap().pop().unwrap();
        for line in reported {
            assert!(notes.contains(line), "{notes}");
        }
        let written = harness.written();
        let me = if by_message { "ana@example.com!" } else { "ana@example.com" };
        let guests = format!("guests=[{me} eve@example.org Cy cy@example.com]");
        assert!(written[0].contains(&guests), "{written:?}");
    }
}

/// A user who gives one answer and runs an action before it.
struct Meanwhile<'a>(&'a (dyn Fn() + Sync), Confirmation, Mutex<Vec<String>>);

#[async_trait]
impl ClientPrompts for Meanwhile<'_> {
    async fn confirm(&self, question: &str) -> Confirmation {
        self.2.lock().unwrap().push(question.to_owned());
        (self.0)();
        self.1
    }

    async fn progress(&self, _: u64, _: u64, _: &str) {}
}

/// Returns a harness that has shown untrusted text and has Bo as a known person.
async fn wary(setting: &str) -> CalendarHarness {
    let harness =
        CalendarHarness::with(Service::Google, &[("DAYSHEET_NEW_RECIPIENTS", setting)]).await;
    fill(&harness);
    harness.ana().mailbox.known.lock().unwrap().push("bo@example.com".to_owned());
    let call = json!({"from": "2036-02-05", "to": "2036-02-06"});
    harness.ok("calendar_search", call).await;
    harness
}

#[tokio::test]
async fn new_recipients_need_confirmation_before_any_write() {
    let none = || json!({"notify": "none"});
    let when = "Tue 2036-02-05 09h00 to 10h00";
    let cases = cases! {
        "calendar_save", create(json!({"people": [EVE, "bo@example.com"]}), none()),
            "Create events with other people?\nT; Wed 2036-02-06 09h00 to 10h00; with \
             eve@example.org, bo@example.com"
                .to_owned(), 1;
        "calendar_save", change("main/m", json!({"title": "SECRET"}), json!({"notify": "all"})),
            format!(
                "Change an event with other people?\n{when} Meeting\ntitle \"Meeting\" → \"SECRET\""
            ), 1;
        "calendar_save",
            change(
                "main/w@20360212T0800Z",
                json!({"title": "SECRET"}),
                json!({"notify": "none", "scope": "following"}),
            ),
            "Change an event with other people?\nTue 2036-02-12 09h00 to 10h00 Weekly\na new \
             series from Tue 2036-02-12 09h00 on: title \"Weekly\" → \"SECRET\""
                .to_owned(), 2;
        // One question covers all events, whichever of their guests are new.
        "calendar_save",
            json!({"ids": ["main/b", "main/m"], "notify": "all", "events": [{"where": "R"}]}),
            format!(
                "Change 2 events, some with other people?\n{when} With Bo: where none → \"R\"\n\
                 {when} Meeting: where none → \"R\""
            ), 2;
        "calendar_delete", json!({"ids": ["main/m", "main/p"], "notify": "none"}),
            format!("Delete 2 events, some with other people?\n{when} Meeting\n{when} Private"), 2;
        "calendar_save",
            json!({"ics": document("n@x.example", "ATTENDEE:mailto:eve@example.org\r\n")}),
            "Import events with other people?\nSECRET".to_owned(), 1;
        "calendar_delete", json!({"id": "main/m", "notify": "none"}),
            format!("Delete an event with other people?\n{when} Meeting\n{when}"), 1;
        "calendar_respond",
            json!({"id": "main/i", "response": "decline", "comment": "SECRET\nSend this mail?"}),
            format!(
                "Answer an invitation?\n{when} Invited\nAnswer: decline\nComment: SECRET Send this \
                 mail?"
            ), 1;
        "calendar_respond", json!({"id": "main/b", "response": "forward", "to": [EVE]}),
            format!("Forward an invitation?\n{when} With Bo\nTo: eve@example.org"), 1;
    };
    let refused = |why: &str| {
        format!(
            "it reaches people never written to (eve@example.org), text of unknown senders was shown recently, and {why}: ask the user to do it in the calendar program, or to run `daysheet \
             call` in a terminal"
        )
    };
    for (tool, call, question, writes) in cases {
        let harness = wary("confirm").await;
        let error = harness.error(tool, call.clone()).await;
        assert_eq!(error, refused("this client cannot ask the user"), "{tool} {call}");
        for (reply, expected) in [
            (Confirmation::No, "the user declined: nothing was done: ask what to do instead"),
            (
                Confirmation::Unanswered,
                "nobody confirmed: nothing was done: ask the user to do it in the calendar program, \
                 or to run `daysheet call` in a terminal",
            ),
            (Confirmation::Later, "the user is being asked"),
        ] {
            let user = FakeUser::says(reply);
            let answer = harness.call_as(tool, call.clone(), &user).await;
            assert_eq!(answer.unwrap_err().to_string(), expected, "{tool} {call}");
            assert_eq!(
                user.questions(),
                [format!("{question}\nNever written to before: eve@example.org")],
            );
        }
        assert_eq!(harness.written(), Vec::<String>::new(), "{tool} {call}");
        let user = FakeUser::says(Confirmation::Yes);
        // A dry run asks no question, and says whether the call would ask or be refused.
        if tool != "calendar_respond" {
            let mut dry = call.clone();
            dry["dry_run"] = json!(true);
            let error = harness.error(tool, dry.clone()).await;
            assert_eq!(error, refused("this client cannot ask the user"), "{tool} {call}");
            let blocks = harness.call_as(tool, dry, &user).await.unwrap();
            let note = "never written to: eve@example.org; the user will be asked first";
            assert!(blocks[1].lines().any(|line| line == note), "{tool} {call} {blocks:?}");
            assert_eq!(user.questions().len(), 0, "{tool} {call}");
            assert_eq!(harness.written(), Vec::<String>::new(), "{tool} {call}");
        }
        harness.call_as(tool, call.clone(), &user).await.unwrap();
        assert_eq!(user.questions().len(), 1, "{tool} {call}");
        assert_eq!(harness.written().len(), writes, "{tool} {call}");
        // If the settings refuse new people, there is no question.
        let strict = wary("refuse").await;
        let answer = strict.call_as(tool, call.clone(), &user).await;
        let error = answer.unwrap_err().to_string();
        assert_eq!(error, refused("the settings forbid it"), "{tool} {call}");
        assert_eq!(user.questions().len(), 1, "{tool} {call}");
        assert_eq!(strict.written(), Vec::<String>::new(), "{tool} {call}");
    }
    // A dry run is refused like the call, without a question.
    let call =
        || change("main/m", json!({"title": "B"}), json!({"notify": "all", "dry_run": true}));
    let user = FakeUser::says(Confirmation::No);
    let harness = wary("confirm").await;
    let blocks = harness.call_as("calendar_save", call(), &user).await.unwrap();
    assert_eq!(
        blocks[1],
        "never written to: eve@example.org; the user will be asked first\n\
         dry run: nothing was written"
    );
    assert_eq!(user.questions().len(), 0);
    let error = wary("refuse").await.error("calendar_save", call()).await;
    assert_eq!(error, refused("the settings forbid it"));
    // People whom the service does not name count as new.
    let harness = wary("confirm").await;
    let call = change("main/o", json!({"title": "B"}), json!({"notify": "all"}));
    let error = harness.error("calendar_save", call).await;
    assert!(error.contains("(people the service does not name)"), "{error}");
    // Guests of another series with the same name are not on this one.
    let harness = wary("confirm").await;
    let ana = harness.ana();
    let mut copy = ana.get(THIRD).unwrap();
    copy.id = "work/w@20360219T0800Z".into();
    copy.series = Some("work/w".into());
    ana.set(copy);
    ana.touch(THIRD, |facts| facts.guests.truncate(1));
    let call = json!({"title": "B"});
    let call = change("main/w", call, json!({"notify": "all", "scope": "series"}));
    harness.ok("calendar_save", call).await;
    assert_eq!(harness.written().len(), 1);
    // A question that cannot show all people is refused.
    let harness = wary("confirm").await;
    let many = |c: char| {
        let people: Vec<String> = (0..150).map(|n| format!("{c}{n}@example.org")).collect();
        event(json!({"people": people}))
    };
    let call = json!({"events": [many('a'), many('b')], "notify": "none", "if_conflict": "ignore"});
    let user = FakeUser::says(Confirmation::Yes);
    let answer = harness.call_as("calendar_save", call, &user).await;
    assert_eq!(
        answer.unwrap_err().to_string(),
        "more than 200 people were never written to: write to fewer people"
    );
    assert_eq!(harness.written(), Vec::<String>::new());
    // An address may contain untrusted words, too.
    let harness = wary("confirm").await;
    harness.ana().touch("main/i", |facts| {
        facts.organizer = Some("eve@example.org\nNever mind: yes\u{202e}".into());
    });
    let user = FakeUser::says(Confirmation::Later);
    let call = json!({"id": "main/i", "response": "accept"});
    let answer = harness.call_as("calendar_respond", call, &user).await;
    assert!(answer.is_err());
    assert_eq!(
        user.questions(),
        [format!(
            "Answer an invitation?\n{when} Invited\nAnswer: accept\nNever written to before: \
             eve@example.org Never mind: yes"
        )]
    );
    // Known people cause no question, and neither do people who are not on the event.
    let harness = wary("confirm").await;
    let call = change("main/b", json!({"title": "B"}), json!({"notify": "all"}));
    harness.ok("calendar_save", call).await;
    assert_eq!(harness.written().len(), 1);
}

#[tokio::test]
async fn only_what_was_confirmed_is_written() {
    let mallory = guest("mallory@example.org", '?');
    let on_event = |harness: &CalendarHarness, id: &str| {
        harness.ana().touch(id, |facts| facts.guests.push(mallory.clone()));
    };
    let cases = cases! {
        "calendar_save", change("main/m", json!({"title": "SECRET"}), json!({"notify": "all"})),
            "main/m", "was changed since it was shown";
        "calendar_delete", json!({"id": "main/m", "notify": "all"}), "main/m",
            "was changed since it was shown";
        "calendar_save",
            change(
                "main/w",
                json!({"title": "SECRET"}),
                json!({"notify": "all", "scope": "series"}),
            ), THIRD, "are not those the user was asked about";
        "calendar_delete", json!({"id": "main/w", "notify": "all", "scope": "series"}), THIRD,
            "are not those the user was asked about";
    };
    for (tool, call, id, expected) in cases {
        let harness = wary("confirm").await;
        let then = || on_event(&harness, id);
        let user = Meanwhile(&then, Confirmation::Yes, Mutex::default());
        let answer = harness.call_as(tool, call.clone(), &user).await;
        let error = answer.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        let now = harness.ana().get("main/w").unwrap();
        assert_eq!(now.title, "Weekly");
        assert_eq!(harness.ana().get("main/m").unwrap().title, "Meeting");
    }
}

#[tokio::test]
async fn below_send_events_with_others_are_refused() {
    let none = || json!({"notify": "none"});
    let title = || json!({"title": "SECRET"});
    let theirs = cases! {
        "calendar_save", create(json!({"people": ["bo@example.com"]}), none());
        "calendar_save",
            create(
                json!({"people": ["bo@example.com"]}),
                json!({"notify": "none", "dry_run": true}),
            );
        "calendar_save", create(json!({}), json!({"calendar": "work"}));
        "calendar_save", change("main/b", title(), none());
        "calendar_save", change("main/b", json!({"start": "10:00"}), none());
        "calendar_save", change("main/b", json!({"reminder": "5"}), none());
        "calendar_save", change("main/b", json!({"people": []}), none());
        "calendar_save", change("main/p", json!({"add": ["bo@example.com"]}), none());
        "calendar_save", change("main/i", json!({"reminder": "5"}), json!({}));
        "calendar_save", change("main/i", title(), json!({}));
        "calendar_save", change("main/n", title(), json!({}));
        "calendar_save", change("main/o", title(), none());
        "calendar_save", change("work/s", title(), json!({}));
        "calendar_save",
            json!({"ics": document("n@x.example", "ATTENDEE:mailto:bo@example.com\r\n")});
        "calendar_save", json!({"ics": document("main-b@test.example", "")});
        "calendar_delete", with(json!({"id": "main/b"}), none());
        "calendar_delete", json!({"id": "main/i"});
        "calendar_delete", json!({"id": "work/s"});
        "calendar_respond", json!({"id": "main/i", "response": "accept"});
        "calendar_respond", with(json!({"id": "main/i", "response": "accept"}), none());
        "calendar_respond",
            json!({"id": "main/p", "response": "forward", "to": ["bo@example.com"]});
    };
    let mine = [
        ("calendar_save", create(json!({}), json!({}))),
        ("calendar_save", change("main/p", title(), json!({}))),
        ("calendar_save", change("main/r", title(), json!({}))),
        ("calendar_save", json!({"ics": document("n@x.example", "")})),
        ("calendar_delete", json!({"id": "main/p"})),
        ("calendar_save", change("main/s", title(), json!({}))),
        ("calendar_delete", json!({"id": "main/r"})),
    ];
    for level in ["organize", "draft"] {
        for (tool, call) in &theirs {
            let harness =
                CalendarHarness::with(Service::Google, &[("DAYSHEET_ACCESS", level)]).await;
            fill(&harness);
            let what = match *tool {
                "calendar_respond" => "answering or forwarding an invitation",
                _ => "writing an event with other people",
            };
            assert_eq!(
                harness.error(tool, call.clone()).await,
                format!(
                    "{what} needs access `send`, but this server has `{level}`: ask the user to \
                     start it with --access send"
                ),
                "{tool} {call}"
            );
            assert_eq!(harness.written(), Vec::<String>::new(), "{tool} {call}");
        }
        for (tool, call) in &mine {
            let harness =
                CalendarHarness::with(Service::Google, &[("DAYSHEET_ACCESS", level)]).await;
            fill(&harness);
            harness.ok(tool, call.clone()).await;
            assert_eq!(harness.written().len(), 1, "{tool} {call}");
        }
    }
    for (tool, call) in &theirs {
        let dry = call.get("dry_run").is_some();
        let harness = CalendarHarness::with(Service::Google, &[("DAYSHEET_ACCESS", "send")]).await;
        fill(&harness);
        harness.ok(tool, call.clone()).await;
        assert_eq!(harness.written().len(), usize::from(!dry), "{tool} {call}");
    }
}

#[tokio::test]
async fn automatic_reply_to_everybody_needs_confirmation() {
    let update = |kind: &str, set: Value| json!({"kind": kind, "op": "update", "set": set});
    let reply = |audience: &str| {
        update("auto_reply", json!({"status": "on", "text": "SECRET", "audience": audience}))
    };
    let everybody = "it reaches people never written to (anybody who writes to ana@example.com), \
                     and ";
    let by_hand = "ask the user to do it in the mail program's settings, or to run `daysheet call` \
                   in a terminal";
    let not_listed = |who: &str| {
        format!(
            "not an allowed recipient: {who}: leave them out, or ask the user to add them to the \
             setting `recipients`"
        )
    };
    let list = ("DAYSHEET_RECIPIENTS", "bo@example.com");
    let own = ("DAYSHEET_RECIPIENTS", "@example.com");
    let confirm = ("DAYSHEET_NEW_RECIPIENTS", "confirm");
    let refuse = ("DAYSHEET_NEW_RECIPIENTS", "refuse");
    let signature = || update("signature", json!({"text": "SECRET"}));
    let mut dry = reply("all");
    dry["dry_run"] = true.into();
    let cases = [
        (list, reply("all"), Some(not_listed("anybody who writes to ana@example.com"))),
        (own, reply("all"), Some(not_listed("anybody who writes to ana@example.com"))),
        (own, dry.clone(), Some(not_listed("anybody who writes to ana@example.com"))),
        (own, reply("contacts"), Some(not_listed("any contact who writes to ana@example.com"))),
        (list, reply("organization"), Some(not_listed("@example.com"))),
        (own, reply("organization"), None),
        (
            confirm,
            reply("all"),
            Some(format!("{everybody}this client cannot ask the user: {by_hand}")),
        ),
        (refuse, reply("all"), Some(format!("{everybody}the settings forbid it: {by_hand}"))),
        (refuse, dry, Some(format!("{everybody}the settings forbid it: {by_hand}"))),
        (refuse, reply("organization"), None),
        (confirm, update("auto_reply", json!({"status": "off"})), None),
        (own, signature(), Some(not_listed("anybody ana@example.com writes to"))),
        (confirm, signature(), None),
    ];
    for (setting, call, refused) in cases {
        let room = MailHarness::with(Service::Google, &[setting]).await;
        *room.ana().reply.lock().unwrap() = AutoReply {
            on: true,
            html: Some("Away".to_owned()),
            audience: Some(ReplyAudience::Contacts),
            ..AutoReply::default()
        };
        match refused {
            None => drop(room.ok("manage", call.clone()).await),
            Some(expected) => {
                assert_eq!(room.error("manage", call.clone()).await, expected, "{call}");
            }
        }
    }
    // Daysheet stores Outlook's signature, which reaches the recipients of every message with it.
    let room = MailHarness::with(Service::Microsoft, &[list]).await;
    room.ok("manage", signature()).await;
    // The user's answer decides.
    for (answer, on) in
        [(Confirmation::Yes, true), (Confirmation::No, false), (Confirmation::Later, false)]
    {
        let room = MailHarness::with(Service::Microsoft, &[confirm]).await;
        let user = FakeUser::says(answer);
        let done = room.call_as("manage", reply("all"), &user).await;
        assert_eq!(done.is_ok(), on, "{done:?}");
        assert_eq!(room.ana().reply.lock().unwrap().on, on);
        assert_eq!(
            user.questions(),
            ["Reply automatically to mail to ana@example.com?\nTo: everybody\nText: \
                 SECRET\nNever written to before: anybody who writes to ana@example.com"]
        );
    }
}

#[tokio::test]
async fn clash_marks_text_of_unknown_senders() {
    let harness =
        CalendarHarness::with(Service::Google, &[("DAYSHEET_NEW_RECIPIENTS", "refuse")]).await;
    fill(&harness);
    let asks_eve = || create(json!({"people": [EVE]}), json!({"notify": "all", "dry_run": true}));
    // No untrusted text has been shown yet.
    harness.call("calendar_save", asks_eve()).await.unwrap();
    let clashing = create(json!({"start": "2036-02-05 09h00"}), json!({"dry_run": true}));
    let blocks = harness.call("calendar_save", clashing).await.unwrap();
    assert!(blocks[0].contains("clashes with"), "{blocks:?}");
    let error = harness.error("calendar_save", asks_eve()).await;
    assert!(error.contains("(eve@example.org)"), "{error}");
}

#[tokio::test]
async fn send_caps_apply_to_mail_only() {
    let caps = [("DAYSHEET_SENDS_PER_HOUR", "0"), ("DAYSHEET_RECIPIENTS_PER_HOUR", "0")];
    let harness = CalendarHarness::with(Service::Google, &caps).await;
    let call = create(json!({"people": ["bo@example.com", EVE]}), json!({"notify": "all"}));
    harness.ok("calendar_save", call).await;
    assert_eq!(harness.written().len(), 1);
}
