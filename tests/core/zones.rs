//! Names of time zones: IANA names, Windows names, and names from older programs.

use daysheet_core::event::time::{find_zone, zone_name};
use daysheet_core::time_parse;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Every CLDR name of a Windows zone, with its zone for the territory "world".
/// `tests/interop/zones.py` compares it with copies from other projects.
const WINDOWS: &str = include_str!("../fixtures/windows-zones.tsv");

#[test]
fn windows_zone_names_match_cldr() {
    let lines: Vec<(&str, &str)> =
        WINDOWS.lines().map(|line| line.split_once('\t').unwrap()).collect();
    assert_eq!(lines.len(), 142);
    // `Etc/UTC` and `UTC` name the same zone; the latter is also Windows' own name.
    let names = |name: &str| match name {
        "Etc/UTC" => "UTC".to_owned(),
        name => name.to_owned(),
    };
    let wrong: Vec<(&str, &str, Option<String>)> = lines
        .iter()
        .map(|(windows, iana)| (*windows, *iana, zone_name(windows)))
        .filter(|(_, iana, found)| *found != Some(names(iana)))
        .collect();
    assert_eq!(wrong, []);
}

#[test]
fn windows_zone_names_have_their_offsets() {
    // Offsets in January and July under the rules since 2024.
    for (name, january, july) in [
        ("W. Europe Standard Time", "+01", "+02"),
        ("Romance Standard Time", "+01", "+02"),
        ("GMT Standard Time", "+00", "+01"),
        ("Greenwich Standard Time", "+00", "+00"),
        ("Eastern Standard Time", "-05", "-04"),
        ("US Mountain Standard Time", "-07", "-07"),
        ("Mountain Standard Time (Mexico)", "-07", "-07"),
        ("Central Asia Standard Time", "+06", "+06"),
        ("Qyzylorda Standard Time", "+05", "+05"),
        ("AUS Eastern Standard Time", "+11", "+10"),
        ("E. Australia Standard Time", "+10", "+10"),
        ("India Standard Time", "+05:30", "+05:30"),
        ("Nepal Standard Time", "+05:45", "+05:45"),
        ("Newfoundland Standard Time", "-03:30", "-02:30"),
        ("Dateline Standard Time", "-12", "-12"),
        ("Line Islands Standard Time", "+14", "+14"),
        ("UTC", "+00", "+00"),
        ("UTC-02", "-02", "-02"),
        ("UTC+13", "+13", "+13"),
        // IANA names in any case, including deprecated ones.
        ("europe/berlin", "+01", "+02"),
        ("AMERICA/NEW_YORK", "-05", "-04"),
        ("US/Pacific", "-08", "-07"),
        ("Asia/Calcutta", "+05:30", "+05:30"),
        ("Etc/GMT-2", "+02", "+02"),
        (" Europe/Berlin ", "+01", "+02"),
        // Names that older programs write into iCalendar documents.
        ("Eastern", "-05", "-04"),
        ("/softwarestudio.org/Olson_20011030_5/America/Chicago", "-06", "-05"),
        ("(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna", "+01", "+02"),
    ] {
        let zone = find_zone(name).unwrap_or_else(|| panic!("{name} is not known"));
        let at = |text: &str| {
            let at: Timestamp = text.parse().unwrap();
            zone.to_offset(at).to_string()
        };
        assert_eq!(at("2026-01-15T12:00:00Z"), january, "{name} in January");
        assert_eq!(at("2026-07-15T12:00:00Z"), july, "{name} in July");
    }
}

#[test]
fn unknown_zone_is_refused_with_a_suggestion() {
    assert_eq!(time_parse::zone("europe/berlin"), Ok(TimeZone::get("Europe/Berlin").unwrap()));
    assert_eq!(
        time_parse::zone("W. Europe Standard Time"),
        Ok(TimeZone::get("Europe/Berlin").unwrap())
    );
    let forms = "use an IANA name: `Europe/Berlin`, `America/New_York`, `UTC`";
    for (name, next) in [
        ("Berlin", "did you mean `Europe/Berlin`?"),
        ("Europe/Berln", "did you mean `Europe/Berlin`?"),
        ("Germany/Berlin", "did you mean `Europe/Berlin`?"),
        ("new york", "did you mean `America/New_York`?"),
        ("America/NewYork", "did you mean `America/New_York`?"),
        ("Asia/Kolkatta", "did you mean `Asia/Kolkata`?"),
        ("Mars/Olympus", forms),
        ("+02:00", forms),
        ("PST", forms),
        ("", forms),
        ("🙂", forms),
    ] {
        assert_eq!(
            time_parse::zone(name).unwrap_err().to_string(),
            format!("there is no time zone `{name}`: {next}")
        );
    }
    let long = "x".repeat(100_000);
    assert_eq!(
        time_parse::zone(&long).unwrap_err().to_string(),
        format!("there is no time zone `{}…`: {forms}", "x".repeat(59))
    );
}
