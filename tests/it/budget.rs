//! The budget: what items are worth, what is shown for how much, which lines.

use daysheet::budget::value::{Hint, Media, Strategy, part, pinned, resolve, share, value};
use daysheet::schemas::Level;

mod gap;
mod plan;
mod random;
mod window;

/// Values in hundredths, rounded.
fn hundredths(values: impl IntoIterator<Item = f64>) -> Vec<i64> {
    let values = values.into_iter();
    values.map(|value| (value * 100.0).round() as i64).collect()
}

fn along(strategy: Strategy, of: usize) -> Vec<i64> {
    hundredths((0..of).map(|position| {
        let hint = Hint {
            position,
            of,
            ..Hint::default()
        };
        value(strategy, &hint)
    }))
}

#[test]
fn element_count_falls_in_a_line() {
    assert_eq!(along(Strategy::ElementCount, 1), [100]);
    assert_eq!(along(Strategy::ElementCount, 2), [100, 30]);
    assert_eq!(
        along(Strategy::ElementCount, 8),
        [100, 90, 80, 70, 60, 50, 40, 30]
    );
    // A place behind the last one is the last.
    let hint = Hint {
        position: 9,
        of: 3,
        ..Hint::default()
    };
    assert_eq!(hundredths([value(Strategy::ElementCount, &hint)]), [30]);
}

#[test]
fn cascading_fades_with_age() {
    let at = |age| {
        let hint = Hint {
            age,
            ..Hint::default()
        };
        value(Strategy::Cascading, &hint)
    };
    assert_eq!(hundredths((0..6).map(at)), [100, 95, 90, 86, 81, 77]);
    assert_eq!(hundredths([at(20), at(100), at(usize::MAX)]), [36, 1, 0]);
}

#[test]
fn thread_level_asks_who_waits() {
    let found: Vec<(i64, bool)> = [Some(true), None, Some(false), Some(false)]
        .into_iter()
        .enumerate()
        .map(|(position, open)| {
            let hint = Hint {
                position,
                of: 4,
                open,
                ..Hint::default()
            };
            let strategy = Strategy::ThreadLevel;
            (
                hundredths([value(strategy, &hint)])[0],
                pinned(strategy, &hint),
            )
        })
        .collect();
    assert_eq!(
        found,
        [(100, true), (60, false), (30, false), (30, true)],
        "value, pinned"
    );
    // Nothing else is pinned.
    for strategy in Strategy::ALL {
        let first = pinned(strategy, &Hint::default());
        assert_eq!(first, strategy == Strategy::ThreadLevel, "{strategy:?}");
    }
}

#[test]
fn size_proportional_goes_by_kind_then_size() {
    let of = |media: Media| {
        hundredths(
            [0, 4 << 10, 64 << 10, 1 << 20, 16 << 20, u64::MAX].map(|bytes| {
                let hint = Hint {
                    bytes,
                    media,
                    ..Hint::default()
                };
                value(Strategy::SizeProportional, &hint)
            }),
        )
    };
    assert_eq!(of(Media::Calendar), [80, 83, 89, 94, 100, 100]);
    assert_eq!(of(Media::Text), [80, 83, 89, 94, 100, 100]);
    assert_eq!(of(Media::Document), [60, 63, 69, 74, 80, 80]);
    // An image of four kilobytes is a logo.
    assert_eq!(of(Media::Image), [35, 5, 44, 49, 55, 55]);
    for rest in [Media::Archive, Media::Video, Media::Unknown] {
        assert_eq!(of(rest), [10, 13, 19, 24, 30, 30]);
    }
}

#[test]
fn files_are_told_by_type_then_by_name() {
    use Media::{Archive, Calendar, Document, Image, Text, Unknown, Video};
    let office = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    for (media_type, name, kind) in [
        ("text/calendar; method=REQUEST", "", Calendar),
        ("application/ics", "invite.ics", Calendar),
        ("text/plain", "Invite.ICS", Calendar),
        ("text/plain; charset=utf-8", "notes.txt", Text),
        ("TEXT/HTML", "", Text),
        ("text/csv", "", Text),
        ("message/rfc822", "", Text),
        ("application/json", "", Text),
        ("application/pdf", "scan.png", Document),
        (office, "", Document),
        ("application/vnd.ms-excel", "", Document),
        ("application/vnd.oasis.opendocument.text", "", Document),
        ("image/svg+xml", "", Image),
        ("image/jpeg", "", Image),
        ("application/zip", "", Archive),
        ("application/x-7z-compressed", "", Archive),
        ("video/mp4", "", Video),
        ("audio/ogg", "", Video),
        ("application/octet-stream", "Offer.PDF", Document),
        ("application/octet-stream", "backup.tar.gz", Archive),
        ("", "photo.heic", Image),
        ("", "list.csv", Text),
        ("", "pdf", Unknown),
        ("", "", Unknown),
        ("application/pkcs7-signature", "smime.p7s", Unknown),
        ("nonsense", ".", Unknown),
    ] {
        assert_eq!(Media::of(media_type, name), kind, "{media_type} {name}");
    }
}

#[test]
fn head_tail_falls_away_from_both_ends() {
    assert_eq!(along(Strategy::HeadTail, 5), [100, 98, 95, 98, 100]);
    let long = along(Strategy::HeadTail, 1_001);
    let some = [0, 10, 20, 40, 500, 960, 980, 990, 1_000].map(|at| long[at]);
    assert_eq!(some, [100, 79, 65, 48, 30, 48, 65, 79, 100]);
}

#[test]
fn uniform_is_one() {
    assert_eq!(along(Strategy::Uniform, 4), [100; 4]);
}

#[test]
fn query_match_counts_words_and_keeps_the_order() {
    let at = |mentions, position| {
        let hint = Hint {
            position,
            of: 11,
            mentions,
            ..Hint::default()
        };
        value(Strategy::QueryMatch, &hint)
    };
    let found = [0.0, 0.25, 0.5, 1.0, 7.0, -1.0, f64::NAN].map(|share| at(share, 0));
    assert_eq!(hundredths(found), [30, 48, 65, 100, 100, 30, 30]);
    let order = (0..11).map(|position| at(1.0, position));
    assert!(order.is_sorted_by(|one, next| one > next));
    // The last that matches better is before the first that matches worse.
    assert!(at(0.5, 10) > at(0.4, 0));
}

#[test]
fn parts_of_an_item_carry_parts_of_its_value() {
    let levels = [Level::Key, Level::Core, Level::More].map(share);
    assert_eq!(hundredths(levels), [60, 85, 100]);
    let parts = [0, 1, 25, 50, 100, 200].map(|shown| part(shown, 100));
    assert_eq!(hundredths(parts), [0, 10, 50, 71, 100, 100]);
    assert_eq!(hundredths([part(0, 0), part(usize::MAX, 1)]), [100, 100]);
}

#[test]
fn strategies_have_words() {
    for strategy in Strategy::ALL {
        assert_eq!(Strategy::find(strategy.word()), Some(strategy));
    }
    let words = Strategy::ALL.map(Strategy::word).join(" ");
    assert_eq!(
        words,
        "element_count cascading thread_level size_proportional head_tail uniform query_match"
    );
    assert_eq!(Strategy::find("Uniform"), None);
    assert_eq!(Strategy::find(""), None);
}

#[test]
fn tools_have_strategies() {
    use Strategy::{
        Cascading, ElementCount, HeadTail, QueryMatch, SizeProportional, ThreadLevel, Uniform,
    };
    let none: &[(&str, Strategy)] = &[];
    let search: &[_] = &[("mail_search", QueryMatch)];
    for (tool, overrides, strategy) in [
        ("mail_search", none, ElementCount),
        ("mail_read", none, ThreadLevel),
        ("calendar_search", none, ElementCount),
        ("changes", none, ElementCount),
        ("lookup", none, Uniform),
        ("brief", none, Uniform),
        ("mail_attachment", none, SizeProportional),
        ("output_read", none, HeadTail),
        ("calendar_free", none, Uniform),
        ("", none, Uniform),
        ("mcp__daysheet__mail_read", none, ThreadLevel),
        ("daysheet.mail_read", none, ThreadLevel),
        ("daysheet_mail_read", none, ThreadLevel),
        ("mcp_daysheet_mail_read", none, ThreadLevel),
        ("work/mail_read", none, ThreadLevel),
        ("mcp__work__mail_read", none, ThreadLevel),
        ("my_mail_read", none, Uniform),
        ("mail_search", search, QueryMatch),
        ("mcp__daysheet__mail_search", search, QueryMatch),
        ("mail_read", search, ThreadLevel),
        // An override may be written as a client shows the name.
        (
            "mail_search",
            &[("mcp__daysheet__mail_search", Cascading)],
            Cascading,
        ),
        // The exact name is before the bare one, wherever it stands.
        (
            "daysheet.changes",
            &[("changes", Uniform), ("daysheet.changes", Cascading)],
            Cascading,
        ),
        (
            "daysheet_changes",
            &[("changes", Uniform), ("daysheet.changes", Cascading)],
            Uniform,
        ),
        (
            "changes",
            &[("changes", Uniform), ("changes", Cascading)],
            Uniform,
        ),
        ("search", &[("mail_search", Cascading)], Uniform),
    ] {
        let overrides: Vec<(String, Strategy)> = overrides
            .iter()
            .map(|(name, strategy)| ((*name).to_owned(), *strategy))
            .collect();
        assert_eq!(
            resolve(tool, &overrides, false),
            strategy,
            "{tool:?} {overrides:?}"
        );
    }
}

/// A search for words is in the order of its matches, unless it was set.
#[test]
fn words_make_a_list_one_of_matches() {
    let set = [("mail_search".to_owned(), Strategy::ElementCount)];
    assert_eq!(resolve("mail_search", &[], true), Strategy::QueryMatch);
    assert_eq!(resolve("mail_search", &set, true), Strategy::ElementCount);
    assert_eq!(resolve("mail_read", &[], true), Strategy::ThreadLevel);
}
