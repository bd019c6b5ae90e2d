//! The main tasks on any day: whole calls over the samples, moved to random instants in random
//! zones.
//!
//! The tests try every weekday, the hours in which summer time begins and ends, 29 February, the
//! ends of years, midnight, and the last day of months with five Fridays. Because the rows differ
//! from day to day, they assert properties of every answer: it is valid TOON within its budget,
//! pages lose no row, dates have the right weekday, and writes are found again and undone.
//!
//! The instants come from a seed, which a failure prints; `DAYSHEET_TEST_SEED` repeats it.

use std::collections::HashSet;
use std::sync::LazyLock;

use daysheet::cli::client::ToolAnswer;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet::config::Config;
use daysheet_core::budget::count::tokens;
use daysheet_core::clock::Clock;
use daysheet_core::event::time::zone_label;
use jiff::civil::{Date, Time, Weekday, date};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, ToSpan, Zoned};
use regex::Regex;
use serde_json::{Value, json};
use tempfile::TempDir;
use toon_format::DecodeOptions;

use crate::support::{ME, Session, column, config, first_of};

/// The setting with the seed of a run to repeat, a number.
const SEED: &str = "DAYSHEET_TEST_SEED";
/// The sample's work mailbox, which is at Microsoft.
const AT_WORK: &str = "mira@lindqvist-lamps.example";
/// The default budget of an answer, in tokens.
const USUAL_BUDGET: usize = 8_000;
/// Zones with and without summer time, on both sides of the date line.
const ZONES: &[&str] = &[
    "Europe/Berlin", "UTC", "America/New_York", "Asia/Kolkata", "Pacific/Auckland",
    "Pacific/Honolulu",
];
/// Zones whose summer time begins and ends on different days, one of them by half an hour.
const CHANGING: [&str; 3] = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"];

/// A source of numbers that a seed determines: SplitMix64.
struct Random(u64);

impl Random {
    /// Takes the seed of the setting, or a new one, and mixes in the test's name.
    #[expect(clippy::print_stdout, reason = "a failure shows what its test printed")]
    fn of(test: &str) -> Self {
        let seed = std::env::var(SEED).ok().map(|seed| seed.parse().unwrap());
        let seed = seed.unwrap_or_else(|| getrandom::u64().unwrap() >> 32);
        println!("to repeat: {SEED}={seed}");
        Self(test.bytes().fold(seed, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into())))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from `from` to `to`, both inclusive.
    fn within(&mut self, from: i64, to: i64) -> i64 {
        from + i64::try_from(self.next() % u64::try_from(to - from + 1).unwrap()).unwrap()
    }

    fn choose<T: Copy>(&mut self, from: &[T]) -> T {
        let at = self.within(0, i64::try_from(from.len()).unwrap() - 1);
        from[usize::try_from(at).unwrap()]
    }

    fn year(&mut self) -> i16 {
        i16::try_from(self.within(2026, 2031)).unwrap()
    }

    fn zone(&mut self) -> TimeZone {
        TimeZone::get(self.choose(ZONES)).unwrap()
    }

    fn time(&mut self) -> Time {
        let minutes = self.within(0, 24 * 60 - 1);
        Time::midnight() + minutes.minutes()
    }
}

/// Returns an instant on each weekday, in random weeks and at random times.
fn weekdays(random: &mut Random) -> Vec<Zoned> {
    (0..7)
        .map(|weekday| {
            let monday = date(2026, 11, 16) + Span::new().weeks(random.within(0, 200));
            let day = monday + Span::new().days(weekday);
            day.to_datetime(random.time()).to_zoned(random.zone()).unwrap()
        })
        .collect()
}

/// Returns an instant for each zone, within an hour of one of the two changes of its clocks in a
/// year.
fn summer_times(random: &mut Random) -> Vec<Zoned> {
    let instant = |name| {
        let zone = TimeZone::get(name).unwrap();
        let year = date(random.year(), 1, 1).to_zoned(zone.clone()).unwrap();
        let which = usize::try_from(random.within(0, 1)).unwrap();
        let change = zone.following(year.timestamp()).nth(which).unwrap();
        let minutes = SignedDuration::from_mins(random.within(-60, 59));
        (change.timestamp() + minutes).to_zoned(zone.clone())
    };
    CHANGING.into_iter().map(instant).collect()
}

/// Returns instants on days that are prone to calendar errors.
fn corners(random: &mut Random) -> Vec<Zoned> {
    let leap_day = date(2028, 2, 29).to_datetime(random.time());
    let new_year = date(random.year(), 12, 31).at(23, 59, 59, 0);
    let new_year = new_year + Span::new().seconds(random.within(-60, 60));
    let midnight = weekdays(random).remove(0).date().at(0, 0, 0, 0);
    let five_fridays = last_of_five_fridays(random.year()).to_datetime(random.time());
    [leap_day, new_year, midnight, five_fridays]
        .map(|time| time.to_zoned(random.zone()).unwrap())
        .into()
}

/// Returns the last day of the first month of a year that has five Fridays.
fn last_of_five_fridays(year: i16) -> Date {
    let months = (1..=12).map(|month| date(year, month, 1));
    let mut last = months.map(Date::last_of_month);
    last.find(|last| {
        let fifth = last.nth_weekday(-1, Weekday::Friday).unwrap();
        // `nth_weekday` does not count the day itself.
        last.weekday() == Weekday::Friday || fifth.day() >= 29
    })
    .unwrap()
}

#[tokio::test]
async fn answers_are_sound_on_every_weekday() {
    try_days("weekdays", weekdays).await;
}

#[tokio::test]
async fn answers_are_sound_when_summer_time_begins_and_ends() {
    try_days("summer times", summer_times).await;
}

#[tokio::test]
async fn answers_are_sound_on_any_day() {
    try_days("corners", corners).await;
}

#[expect(clippy::print_stdout, reason = "a failure shows what its test printed")]
async fn try_days(test: &str, days: fn(&mut Random) -> Vec<Zoned>) {
    let mut random = Random::of(test);
    for now in days(&mut random) {
        let account = random.choose(&[ME, AT_WORK]);
        println!("at {now}, writing as {account}");
        let mut day = Day::start(&now).await;
        day.read_everything().await;
        day.page_through().await;
        day.write_events(account).await;
        day.write_mail(account).await;
    }
}

/// A session at an instant, as `daysheet serve --sandbox` runs it.
struct Day {
    session: Session,
    now: Zoned,
}

impl Day {
    async fn start(now: &Zoned) -> Self {
        let home = TempDir::new().unwrap();
        let zone = now.time_zone().iana_name().unwrap();
        let config = Config {
            clock: Clock::fixed(now.timestamp()),
            sample_day: Some(now.date()),
            ..config(home.path(), &[("DAYSHEET_ZONE", zone)])
        };
        let session = Session::start(config, home, None, SandboxUser::Usual).await;
        Self { session, now: now.clone() }
    }

    /// Returns the date this many days after today.
    fn day(&self, days: i64) -> Date {
        self.now.date() + Span::new().days(days)
    }

    /// Returns the document of a call that must succeed, after checking the invariants of all
    /// answers.
    async fn call(&mut self, tool: &str, arguments: Value) -> (Value, String) {
        let answer = self.session.call(tool, arguments.clone()).await;
        self.checked(tool, &arguments, &answer)
    }

    fn checked(&self, tool: &str, arguments: &Value, answer: &ToolAnswer) -> (Value, String) {
        let call = format!("{tool} {arguments} at {}", self.now);
        let text = answer.blocks.join("\n\n");
        assert!(!answer.is_error, "{call}: {text}");
        let budget = arguments["budget"].as_u64().map_or(USUAL_BUDGET, |it| it.try_into().unwrap());
        assert!(tokens(&text) <= budget, "{call}: {} tokens: {text}", tokens(&text));
        let document: Value = toon_format::decode(&answer.blocks[0], &DecodeOptions::new())
            .unwrap_or_else(|error| panic!("{call}: {error}: {text}"));
        if let Some(zone) = document.get("zone") {
            assert_eq!(zone, &zone_label(self.now.time_zone()), "{call}: {text}");
        }
        check_weekdays(&text);
        (document, text)
    }

    /// Tries the reading tools, also with budgets that are too small.
    async fn read_everything(&mut self) {
        for (tool, arguments) in [
            ("accounts", json!({"op": "list"})),
            ("lookup", json!({"kind": "folders"})),
            ("lookup", json!({"kind": "calendars"})),
            ("mail_search", json!({"q": "is:unread after:30d", "detail": "full"})),
            ("mail_search", json!({"by": "thread", "limit": 20})),
            ("mail_search", json!({"limit": 100, "detail": "full", "budget": 1200})),
            ("calendar_search", json!({"from": "today", "to": "+7d"})),
            (
                "calendar_search",
                json!({"from": "-30d", "to": "+30d", "detail": "full", "budget": 1500}),
            ),
            ("calendar_search", json!({"q": "is:clash", "from": "this week"})),
            ("calendar_free", json!({"who": [ME, AT_WORK], "from": "tomorrow", "to": "+3d"})),
            ("brief", json!({})),
            ("brief", json!({"from": "tomorrow", "to": "+2d"})),
        ] {
            self.call(tool, arguments).await;
        }
        for (from, budget) in [("-9d", 1500), ("today", 400)] {
            self.brief_within(from, budget).await;
        }
        let found = self.call("mail_search", json!({"limit": 3})).await.0;
        let ids = column(&found, "messages", "id");
        self.call("mail_read", json!({"ids": ids})).await;
    }

    /// A brief that exceeds the budget states the budget it needs, and fits in that.
    async fn brief_within(&mut self, from: &str, budget: u64) {
        let mut arguments = json!({"from": from, "budget": budget});
        let answer = self.session.call("brief", arguments.clone()).await;
        if !answer.is_error {
            self.checked("brief", &arguments, &answer);
            return;
        }
        let text = &answer.blocks[0];
        let (_, needed) = text.split_once("needed=").unwrap_or_else(|| panic!("{text}"));
        let needed: u64 = needed.split([' ', ':', ';']).next().unwrap().parse().unwrap();
        assert!(needed > budget, "{text}");
        arguments["budget"] = needed.into();
        self.call("brief", arguments).await;
    }

    /// Reads lists page by page; together, the pages must have the rows of the whole list.
    async fn page_through(&mut self) {
        for (tool, table, arguments) in [
            ("mail_search", "messages", json!({"q": "in:inbox"})),
            ("calendar_search", "events", json!({"from": "-10d", "to": "+10d"})),
        ] {
            let mut all = arguments.clone();
            all["limit"] = 100.into();
            all["budget"] = 100_000.into();
            let (whole, notes) = self.call(tool, all).await;
            assert_eq!(whole.get("next"), None, "more than one page: {notes}");
            let mut next = arguments;
            next["limit"] = 9.into();
            let mut paged = Vec::new();
            loop {
                let (page, text) = self.call(tool, next).await;
                paged.extend(column(&page, table, "id"));
                // Notes name the cursor if there are more rows.
                let Some((_, cursor)) = text.split_once("cursor=") else { break };
                let cursor = cursor.split([' ', ';', ',', '\n']).next().unwrap();
                next = json!({"cursor": cursor});
            }
            assert_eq!(paged, column(&whole, table, "id"), "{tool} at {}", self.now);
        }
    }

    fn check_shown(&self, text: &str, words: &str) {
        assert_eq!(first_of(text, &[words]), Some(words), "at {}: {text}", self.now);
    }

    /// Creates, changes and deletes an event of an account, and checks its time.
    async fn write_events(&mut self, account: &str) {
        let (begun, _) = self.call("changes", json!({"kinds": ["events"]})).await;
        let tomorrow = self.day(1);
        let event = json!({"title": "Zircon", "start": "tomorrow 13h15", "duration": "45m"});
        let call = json!({"account": account, "if_conflict": "ignore", "events": [event]});
        let (saved, text) = self.call("calendar_save", call).await;
        let echo = format!("start: tomorrow 13h15 = {} 13h15", weekday(tomorrow));
        self.check_shown(&text, &echo);
        let id = column(&saved, "events", "id").remove(0);
        let later = json!({"id": id, "if_conflict": "ignore", "events": [{"start": "14h30"}]});
        self.call("calendar_save", later).await;
        let day = json!({"account": account, "q": "Zircon", "from": "tomorrow", "to": "tomorrow"});
        let (found, text) = self.call("calendar_search", day.clone()).await;
        assert_eq!(column(&found, "events", "id"), [id.as_str()], "{text}");
        let start = format!("{} 14h30", weekday(tomorrow));
        assert_eq!(column(&found, "events", "start"), [start], "{text}");
        let of_day = self.call("brief", json!({"from": "tomorrow"})).await.1;
        self.check_shown(&of_day, "Zircon");
        let (_, text) = self.call("changes", json!({"cursor": begun["next"]})).await;
        self.check_shown(&text, "Zircon");
        self.call("calendar_delete", json!({"id": id})).await;
        let (found, text) = self.call("calendar_search", day).await;
        assert_eq!(column(&found, "events", "id"), Vec::<String>::new(), "{text}");
    }

    /// Sends a message of an account once, and undoes a change.
    async fn write_mail(&mut self, account: &str) {
        let subject = "Kiln log of today";
        let draft = json!({"account": account, "to": ["jonas@example.com"],
                           "subject": subject, "body": "All lit."});
        let (drafted, _) = self.call("mail_draft", draft).await;
        let send = json!({"id": drafted["draft"]});
        self.call("mail_send", send.clone()).await;
        let (again, text) = self.call("mail_send", send).await;
        assert_eq!(column(&again, "outcomes", "result"), ["already sent"], "{text}");
        let sent = json!({"account": account, "q": "in:sent \"Kiln log\" after:yesterday"});
        let (found, text) = self.call("mail_search", sent).await;
        assert_eq!(column(&found, "messages", "subject"), [subject], "{text}");
        let inbox = json!({"account": account, "q": "in:inbox", "limit": 4, "detail": "full"});
        let (before, _) = self.call("mail_search", inbox.clone()).await;
        let ids = column(&before, "messages", "id");
        let (done, _) = self.call("mail_modify", json!({"ids": ids, "do": "trash"})).await;
        let (without, _) = self.call("mail_search", inbox.clone()).await;
        let left = column(&without, "messages", "id");
        let all: HashSet<&String> = ids.iter().chain(&left).collect();
        assert_eq!(all.len(), ids.len() + left.len(), "at {}: {left:?}", self.now);
        self.call("mail_modify", json!({"undo": done["undo"]})).await;
        let (after, _) = self.call("mail_search", inbox).await;
        assert_eq!(after["messages"], before["messages"], "at {}", self.now);
    }
}

/// Formats a date with its weekday: `Tue 2026-02-03`.
fn weekday(day: Date) -> String {
    day.strftime("%a %Y-%m-%d").to_string()
}

/// Checks that every date with a weekday has the right one.
fn check_weekdays(text: &str) {
    static DATED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) (\d{4}-\d\d-\d\d)\b").unwrap()
    });
    for dated in DATED.captures_iter(text) {
        let day: Date = dated[2].parse().unwrap();
        assert_eq!(dated[0], weekday(day), "{text}");
    }
}
