//! Zones by the names that Outlook shows.

use daysheet_core::event::time;
use daysheet_providers::microsoft::calendar::zones::windows;
use jiff::ToSpan;
use jiff::civil::Date;

#[test]
fn zones_are_written_with_outlooks_names() {
    for (iana, expected) in [
        ("UTC", Some("UTC")),
        ("Europe/Berlin", Some("W. Europe Standard Time")),
        ("europe/stockholm", Some("W. Europe Standard Time")),
        ("Europe/Warsaw", Some("Central European Standard Time")),
        ("Europe/Kyiv", Some("FLE Standard Time")),
        ("Europe/London", Some("GMT Standard Time")),
        ("America/New_York", Some("Eastern Standard Time")),
        ("America/Toronto", Some("Eastern Standard Time")),
        ("Asia/Kolkata", Some("India Standard Time")),
        ("Asia/Calcutta", Some("India Standard Time")),
        ("Asia/Kathmandu", Some("Nepal Standard Time")),
        ("Australia/Melbourne", Some("AUS Eastern Standard Time")),
        ("W. Europe Standard Time", Some("W. Europe Standard Time")),
        ("Antarctica/Troll", None),
        ("Europe/Nowhere", None),
    ] {
        assert_eq!(windows(iana, Date::constant(2026, 2, 3)), expected, "{iana}");
    }
}

/// The chosen Windows name has the same local times as the IANA zone.
#[test]
fn every_zone_is_written_as_an_equivalent_one() {
    let day = Date::constant(2026, 2, 3);
    let mut found = 0;
    for name in jiff::tz::db().available() {
        let Some(name_there) = windows(name.as_str(), day) else {
            continue;
        };
        found += 1;
        let zone = time::find_zone(name.as_str()).unwrap();
        let other = time::find_zone(name_there).unwrap();
        for hours in (0..24 * 365 * 3).step_by(53) {
            let local = day.at(0, 30, 0, 0) + hours.hours();
            assert_eq!(
                time::resolve(local, &zone),
                time::resolve(local, &other),
                "{name} {name_there} {local}"
            );
        }
    }
    assert!(found > 500, "{found}");
}
